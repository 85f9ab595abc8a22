/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors that the replica owns and that outlive steps: parameters, buffers, optimizer state,
 * kept tensors. */
#ifndef TARN_OWNED_H
#define TARN_OWNED_H

#include "tensor/graph.h"

enum owned_kind { OWNED_PARAMETER, OWNED_BUFFER, OWNED_STATE, OWNED_KEPT, OWNED_FLAT, OWNED_FREE };

struct owned {
    char *name; /* NULL for kept tensors and flat storage */
    enum owned_kind kind;
    tarn_shape shape;
    tarn_dtype dtype;
    struct spec
        spec; /* how it is cut: `shape` is that of the whole, `buffer` has this rank's part */
    struct buffer *buffer;
    size_t offset;       /* bytes into buffer */
    uint32_t flat;       /* index + 1 of the OWNED_FLAT entry that this is a slice of, or 0 */
    uint32_t optimizer;  /* a parameter: the number of the one that it was given to; 0: none yet */
    uint32_t node;       /* its current value in this step's graph, or 0 when not used yet */
    uint32_t grad;       /* node of the gradient that backward left, and nobody gathered; or 0 */
    uint32_t gathered;   /* node of what the optimizer gathered of it, or clipped; or 0 */
    bool used;           /* an update was recorded with `gathered` */
    bool frozen;         /* a parameter that gets no gradient, and so stays as it is */
    bool assigned;       /* in this step */
    uint32_t value;      /* node that was assigned in this step, or 0 */
    uint64_t writes;     /* steps that assigned it */
    bool lasting;        /* kept, and meant to stay as it is, as what a norm is folded into */
    bool together;       /* what was assigned is the same on all replicas */
    bool apart;          /* a buffer: a training step left another value on each replica */
    bool fresh;          /* kept in this step: has no contents when the step fails */
    bool dropped;        /* to be freed at the step mark */
    uint32_t generation; /* tells a dropped kept tensor from its slot's next tenant */
    struct graph_part part, other; /* kept: of the batch that it came from, as those of a node */
    uint32_t spread;               /* kept: as that of a node */
    uint32_t order; /* 1 + its number among the step's owned tensors; 0: not used yet */
    uint32_t lost;  /* generation + 1 of the last tenant whose step failed; 0: none */
};

/* Handles of owned tensors carry this step: they never go stale. node = index + 1. */
#define STEP_OWNED UINT32_MAX

/* Adds an owned tensor with contents `data` (NULL: zeros) in a buffer of its own. 0 on failure,
 * else index + 1. Kept tensors and flat storage have no name. */
uint32_t owned_add(tarn_replica *r, enum owned_kind kind, const char *name, tarn_shape shape,
                   tarn_dtype dtype, const void *data);
/* The same of one that is cut, with the contents of the whole. */
uint32_t owned_add_cut(tarn_replica *r, enum owned_kind kind, const char *name, tarn_shape shape,
                       tarn_dtype dtype, const void *data, const struct spec *spec);
/* Adds one of the type of parameters, with values that are rounded to it. */
tarn_tensor owned_of_values(tarn_replica *r, enum owned_kind kind, const char *name,
                            tarn_shape shape, const double *values);
/* Adds a slice of flat storage under a name. */
uint32_t owned_add_slice(tarn_replica *r, enum owned_kind kind, const char *name, tarn_shape shape,
                         uint32_t flat, size_t offset);
tarn_tensor owned_handle(tarn_replica *r, uint32_t index_plus_one);
/* A slice's part of a flat value, in the slice's shape. By index. */
tarn_tensor owned_slice(tarn_replica *r, uint32_t index, uint32_t value);
/* Its value before this step, whatever was assigned since. */
tarn_tensor owned_before(tarn_replica *r, uint32_t index_plus_one);
/* Node of an owned tensor's current value, recording it at its first use in a step; 0: failed. The
 * handle must have an entry. */
uint32_t owned_resolve(tarn_tensor t);
/* Why a handle has no entry. */
const char *owned_gone(tarn_tensor t);
/* Ends the step for all owned tensors. */
void owned_reset(tarn_replica *r);
void owned_release(tarn_replica *r);
/* The entry behind a handle; NULL when the handle is not an owned tensor. */
struct owned *owned_of(tarn_tensor t);
struct owned *owned_find(tarn_replica *r, const char *name);
/* Whether each rank has a part of it only. */
bool owned_is_cut(const tarn_replica *r, const struct owned *o);
/* Bytes of the whole, and of what this rank has of it. */
size_t owned_bytes(const struct owned *o);
/* Whether the step gives it, or the flat storage that it is a slice of, another value. */
bool owned_is_assigned(const tarn_replica *r, const struct owned *o);
size_t owned_bytes_here(const tarn_replica *r, const struct owned *o);
/* Keeps it in another way from now on: each rank takes its part of the whole. A slice gets a buffer of its own.
 * Collective where it is cut now. */
TARN_CHECKED tarn_status owned_cut(tarn_replica *r, struct owned *o, const struct spec *spec);
/* Frees flat storage that has no slices any more. */
void owned_free_flat(tarn_replica *r, uint32_t index_plus_one);
/* Host copies, in order with the queue, waiting. Bytes = all of the tensor, also where it is cut: then reading is
 * collective, and writing keeps this rank's part. */
TARN_CHECKED tarn_status owned_read(tarn_replica *r, const struct owned *o, void *out);
/* Puts this rank's part into the whole. */
TARN_CHECKED tarn_status owned_read_part(const tarn_replica *r, const struct owned *o, void *whole);
TARN_CHECKED tarn_status owned_write(tarn_replica *r, const struct owned *o, const void *data);

#endif
