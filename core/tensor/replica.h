/* SPDX-License-Identifier: Apache-2.0 */
/* A replica: one device with its graph, owned tensors, errors and metrics. */
#ifndef TARN_REPLICA_H
#define TARN_REPLICA_H

#include "tensor/mesh_exchange.h"
#include "tensor/mesh.h"
#include "tensor/owned.h"
#include "backend.h"
#include "tarn_profile.h"

/* Something to be closed with the replica (a loader, an optimizer). */
struct resource {
    void (*close)(void *self);
    void *self;
    struct resource *next;
};

struct plan_cache;
struct known;

/* What open optimizers do when a step ends, is read back from a file, or is dropped. train/
 * sets it, so that nobody below must know optimizers. */
struct trainer {
    /* Whether the step took gradients. */
    bool (*gathered)(const tarn_replica *r);
    /* The step mark succeeded: what the step recorded counts from now on. To be called before: */
    void (*commit)(tarn_replica *r);
    /* Begins a new step from what counts. */
    void (*reset)(tarn_replica *r);
    /* Waits and reports the first step of an optimizer whose gradient was not finite, once. */
    tarn_status (*check)(tarn_replica *r);
    /* To be called after parameters were written from elsewhere, and with `state` that of the
     * optimizers, too. */
    tarn_status (*reload)(tarn_replica *r, bool state);
    /* Cuts an optimizer's states along further mesh axes; the parameters stay as they are. */
    tarn_status (*cut)(tarn_optimizer *o, uint32_t axes);
    /* Drops the gradients that earlier steps kept. */
    void (*forget)(tarn_replica *r);
};

struct word_plan;

/* Of the tensors that the same axes of a mesh cut a hash, of what this rank has of them: on their way from the device
 * while `pending` (run/part_words.h). */
enum { PART_WORDS = 1 << MESH_AXES };
struct part_words {
    struct word_plan *plan; /* what computes them; NULL: nothing yet */
    bool pending;
    struct shared *shared; /* `count` words, once `ready`; NULL when there are none */
    queue_mark ready;
    int count;
    uint8_t axes[PART_WORDS]; /* which axes those are, of each word */
};

/* The replicas that this one trains with, as far as core must know them; dist fills it in. */
struct peers {
    int rank, world;
    int shards;          /* virtual shards of the global batch: a multiple of world; 0: none */
    struct mesh mesh;    /* of replicas that record the global program; else it has no axes */
    bool sync_norm;      /* batch norm takes its statistics over all replicas */
    size_t bucket_bytes; /* of gradients that are exchanged at once */
    /* Tells the others that this replica compiles, or does not any more: they wait longer for it.
     * NULL: nobody waits. */
    void (*builds)(tarn_replica *r, bool begins);
    /* Opens a file that the first replica can read, for all of them: they load it together. NULL: each can
     * read it itself. */
    tarn_status (*fetch)(tarn_replica *r, const char *path, int *fd);
    /* Adds up words of the host over all replicas, modulo 2^32; `what`, a constant text, is their name in errors.
     * Collective. */
    tarn_status (*add_words)(tarn_replica *r, const char *what, int32_t *words, size_t count);
    /* Records the sum over all replicas. */
    tarn_tensor (*sum)(tarn_tensor x);
    /* Records the sum of a bucket of the flat gradient over all replicas, of which `first` is the
     * first of a step: what else a training step exchanges goes with it. */
    tarn_tensor (*reduce)(tarn_tensor bucket, bool first);
    /* Of nodes that move values along axes of `mesh`. */
    const struct op *const *exchange;
    /* Under a mesh, before the first update is recorded: who has the same part of a tensor has the same in it from
     * here on. Collective. */
    tarn_status (*begin)(tarn_replica *r);
    /* Likewise, of a step that updates: whether its weights are to be compared, as they are before; and comparing
     * `words`, unless that was done already: `before` its program is run, or after. Collective. */
    bool (*compares)(const tarn_replica *r);
    tarn_status (*compare)(tarn_replica *r, bool before);
    struct part_words words;
};

struct tarn_replica {
    struct context *context;
    struct graph graph;
    struct owned *owned;
    uint32_t owned_count, owned_capacity;
    uint64_t owned_writes; /* how often the host wrote any of them */
    struct resource *resources;
    struct plan_cache *plans;
    struct known *known; /* values that the program waits for; NULL: it never did */
    uint32_t step;       /* of handles: starts at 1, grows with every mark */
    uint64_t step_count; /* of marks that updated parameters; saved in checkpoints */
    uint64_t side_steps; /* marks since then that drew random numbers */
    bool updates;        /* an optimizer steps in the current step */
    uint64_t seed;
    bool training;
    bool wide;                  /* there has been a value of 64 bits */
    tarn_dtype autocast;        /* float32: none */
    tarn_dtype parameter_dtype; /* of parameters made from now on: float32 or float64 */
    size_t
        recompute_bytes; /* of a step; regions are computed again as far as that takes it; 0: all are */
    struct {
        uint32_t scale, good,
            skipped; /* owned tensors + 1: the scale, steps since it changed, steps left out; 0: none */
        float growth, backoff;
        int32_t interval;
    } loss_scale;
    tarn_status status;
    uint32_t errors; /* since the first */
    char error[1024];
    char missing[160]; /* what was looked for last, and not found; "": nothing */
    tarn_metrics metrics;
    tarn_optimizer *optimizer;     /* the first one; NULL when none is open */
    uint32_t optimizers;           /* that were made, which have these numbers from 1 on */
    const struct trainer *trainer; /* what they do; NULL when none is open */
    queue_mark in_flight[2];
    uint64_t plans_before, allocations_before; /* of the metrics, at the last step mark */
    uint64_t steady_most;                      /* of metrics.steady_steps */
    int track;                                 /* of the host's work for it in a trace; 0: none */
    bool traced;                               /* or there is nothing to trace */
    size_t memory_limit;                       /* of tarn_open_options; 0: TARN_MEMORY_LIMIT */
    int winograd;                              /* of tarn_open_options; 0: TARN_WINOGRAD */
    bool blamed;                               /* the first NaN was told of (TARN_DEBUG=nan) */
    double began; /* when the step's first node was recorded, by seconds_now(); 0: none was */
    double aside; /* of compiling and waiting until then */
    struct peers *peers;     /* NULL: it trains alone */
    tarn_profile_fn profile; /* NULL: nobody asks */
    void *profile_user;
};

/* The mesh of a replica that records the global program; NULL: it records its own. */
static inline const struct mesh *replica_mesh(const tarn_replica *r)
{
    return r->peers != NULL && r->peers->mesh.axes > 0 ? &r->peers->mesh : NULL;
}

/* Records the first error of a replica with its line; returns poison, for `return`. */
tarn_tensor graph_fail(tarn_replica *r, tarn_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for functions that return a status. Takes the line of error_text() when format is NULL.
 */
tarn_status replica_fail(tarn_replica *r, tarn_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
tarn_tensor graph_poison(tarn_replica *r);
/* Tells of what is allowed and seldom meant. */
void graph_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same where something was looked for and is not there, which is no error until it is used: says then what it was. */
tarn_tensor graph_missing(tarn_replica *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A replica on a device; tarn_close() ends it. */
TARN_CHECKED tarn_status replica_open(const struct device *device, const tarn_open_options *options,
                                      tarn_replica **out);
/* Whether options are legal; `caller` is named where they are not. */
TARN_CHECKED tarn_status replica_check_options(const char *caller, const tarn_open_options *o);
/* Opens the replica's tracks, once, if a trace is wanted: when its rank is known. */
void replica_trace(tarn_replica *r);
/* Registers something to be closed by tarn_close; unregister when it is closed before. */
tarn_status replica_register(tarn_replica *r, void (*close)(void *self), void *self);
void replica_unregister(tarn_replica *r, void *self);

#endif
