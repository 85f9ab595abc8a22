/* SPDX-License-Identifier: Apache-2.0 */
/* The lazy graph: the nodes of the current step, and how they are recorded. */
#ifndef TARN_GRAPH_H
#define TARN_GRAPH_H

#include <string.h>

#include "tensor/op_record.h"

struct buffer;
struct upload;

struct node {
    const struct op *op;
    tarn_shape shape;
    tarn_dtype dtype;
    uint32_t first_in, in_count; /* operands: graph.operands[first_in ...] */
    bool needs_grad;             /* depends on a parameter, or on a tensor asked for */
    bool backward;               /* recorded by a walk back from a loss */
    uint32_t part;  /* graph.parts[part - 1] is of the batch that it depends on; 0: on none */
    uint32_t other; /* the same of one that is another share of its batch than `part` is */
    bool rounded;   /* the next node is this value in a half type, which is all that is asked for */
    tarn_dtype
        exact; /* of float32: a half type that has each of its numbers; float32: none is known */
    uint32_t spread;  /* enum spread (spread.h): how the value lies over the replicas */
    union op_arg arg; /* zeroed before it is set: hashed as bytes */
};

/* A node without operands, for whoever adds it to something: all that it is hashed and compared by is set. `arg` may
 * be NULL. */
static inline struct node node_of(const struct op *op, tarn_shape shape, tarn_dtype dtype,
                                  const union op_arg *arg, uint32_t in_count)
{
    struct node n;
    memset(&n, 0, sizeof n);
    n.op = op;
    n.shape = shape;
    n.dtype = dtype;
    n.in_count = in_count;
    if (arg != NULL)
        n.arg = *arg;
    return n;
}

/* Marks what nodes that are marked are made of. */
static inline void nodes_mark_operands(const struct node *nodes, uint32_t count,
                                       const uint32_t *operands, bool *marked)
{
    for (uint32_t i = count; i-- > 0;)
        for (uint32_t k = 0; marked[i] && k < nodes[i].in_count; k++)
            marked[operands[nodes[i].first_in + k]] = true;
}

/* A constant whose elements are 0. */
static inline bool node_is_zero(const struct node *n)
{
    const bool upper = dtype_is_wide(n->dtype) && n->arg.leaf.slot != 0;
    return n->op == &op_constant && n->arg.leaf.bits == 0 && !upper;
}

/* Sample counts of a batch: this replica's, and those of all replicas. */
struct graph_part {
    int32_t samples, global;
};

/* A leaf buffer of the step: a batch, a host array, a kept or evaluated tensor. */
struct graph_input {
    struct buffer *buffer;
    struct upload *upload; /* to be released at the step mark */
    bool free_after;       /* the graph owns the buffer */
};

/* A node that became a leaf because tarn_eval computed it, as it was before: for gradients. */
struct graph_evaluated {
    uint32_t node;
    struct node before;
};

/* Nodes whose values are computed again for their gradients (tarn_recompute_begin). */
struct graph_region {
    uint32_t first, end;
};

struct scan;

struct graph {
    struct node *nodes; /* nodes[0] is poison */
    uint32_t count, capacity;
    uint32_t *operands;
    uint32_t operand_count, operand_capacity;
    struct graph_input *inputs;
    uint32_t input_count, input_capacity;
    struct graph_part *parts; /* of the step's batches, each once */
    uint32_t part_count, part_capacity;
    float *numbers;
    uint32_t number_count, number_capacity;
    struct graph_evaluated *evaluated;
    uint32_t evaluated_count, evaluated_capacity;
    uint32_t *owned_slots; /* of the step's owned tensors, in the order of their first use */
    uint32_t owned_slot_count, owned_slot_capacity;
    struct scan *scans; /* loops of the step (scan.h) */
    uint32_t scan_count, scan_capacity;
    struct graph_region *regions; /* in their order */
    uint32_t region_count, region_capacity;
    bool in_region; /* the last one has no end yet */
    bool in_body;   /* what is recorded is the body of a scan */
    bool backward;  /* what is recorded are gradients */
    uint32_t rand_count;
    int32_t batch; /* samples, as the program said (tarn_batch_axis); 0: it said nothing */
    struct {
        int64_t bytes;
        int32_t rows;
    } given;          /* the largest array that the program gave */
    uint64_t hash[2]; /* of everything recorded, in order; owned tensors by their order of use */
};

/* ---- recording */

/* Checks that a handle is usable now and returns its node index in this step's graph, resolving
 * owned tensors to their current value; 0 means poison (the error is recorded). */
uint32_t graph_resolve(tarn_tensor t);
/* The same for operand `number` of an op of a replica, both of which the error names; it sticks
 * to `r`, or to the operand's replica when `r` is NULL. */
uint32_t graph_operand(tarn_replica *r, tarn_tensor t, const char *op, int number);
/* The same for all operands of an op, none of which may be missing. `*r` becomes the replica of the
 * first that has one. */
bool graph_operands(const char *op, const tarn_tensor *in, int count, tarn_replica **r);
/* The same where those behind the first `needed` may be TARN_NONE. */
bool graph_operands_some(const char *op, const tarn_tensor *in, int needed, int count,
                         tarn_replica **r);
const struct node *graph_node(tarn_tensor t);
/* Bytes of all elements. */
size_t node_bytes(const struct node *n);
size_t tensor_bytes(tarn_tensor t);

/* Appends a node. Operands must be of the same replica. Any poisoned operand: returns poison. */
tarn_tensor graph_record(tarn_replica *r, const struct op *op, const tarn_tensor *in, int count,
                         tarn_shape shape, tarn_dtype dtype, const union op_arg *arg);
/* The handle of a node of this step. */
tarn_tensor graph_handle(tarn_replica *r, uint32_t node);
/* What x is now, for an operation that changes nothing: the handle of an owned tensor itself
 * would stand for whatever is assigned to it later. */
tarn_tensor graph_value(tarn_tensor x);

/* A leaf for a buffer that stays valid until the step's commands ended. `upload` (may be NULL) is
 * released at the step mark; `free_after` gives the buffer to the graph. */
tarn_tensor graph_input(tarn_replica *r, struct buffer *b, struct upload *upload, bool free_after,
                        tarn_shape shape, tarn_dtype dtype);
/* The same of one that is cut: `b` has this rank's part of it, `shape` is that of the whole. */
tarn_tensor graph_input_cut(tarn_replica *r, struct buffer *b, struct upload *upload,
                            bool free_after, tarn_shape shape, tarn_dtype dtype,
                            const struct spec *spec);
/* Says that a leaf holds this replica's part of a batch: what depends on it is part of a mean over
 * the whole batch. */
void graph_mark_part(tarn_tensor leaf, struct graph_part part);
/* The part that t's share of all replicas' values is that of: of a batch that t depends on, else
 * 1 of world. False after recording an error that begins with `name`, when it depends on batches
 * of which this replica has unequal shares; `advice` says what to do. */
bool graph_part_of(tarn_tensor t, const char *name, const char *advice, struct graph_part *out);
/* The node as recorded, also when tarn_eval has made it a leaf since. */
const struct node *graph_origin(const struct graph *g, uint32_t node);
/* Makes a computed node a leaf with the buffer `b`, which the graph then owns. */
tarn_status graph_evaluate(tarn_replica *r, uint32_t node, struct buffer *b);
/* The number of an owned tensor's slot in this step: its place in graph.owned_slots, where it is put
 * at its first use. 0 also when there is no memory, which is recorded. */
uint32_t graph_owned_order(tarn_replica *r, uint32_t slot);
/* The same with a node that a loop needs: its axis 0 is the batch's if it is as long. */
tarn_status graph_hold(tarn_replica *r, uint32_t node, struct buffer *b);
/* The same of a value that is cut: `b` has this rank's part of it. */
tarn_status graph_hold_cut(tarn_replica *r, uint32_t node, struct buffer *b,
                           const struct spec *spec);
/* The graph owns the buffer from now on, and keeps it to the end of the step. */
tarn_status graph_keep_buffer(tarn_replica *r, struct buffer *b);
/* Whether so many rows are a part of one of the step's batches, which loaders delivered. */
bool graph_is_part(const struct graph *g, int32_t rows);
/* Whether so many rows are a batch's of this step: of a loader, or by the program's word. */
bool graph_is_batch(const struct graph *g, int32_t rows);
/* Whether the compiler takes so many rows for samples: where no batch is known, those of the largest array given
 * (1_graph/batch.c). What one graph of a step leaves to the next must be the same to both. */
bool graph_may_be_batch(const struct graph *g, int32_t rows);
/* Notes an array that the program gives. */
void graph_note_given(struct graph *g, tarn_shape shape, tarn_dtype dtype);
/* Of one node, by what graph.hash takes of it: equal for equal nodes of other steps and replicas. */
uint64_t graph_node_hash(tarn_replica *r, uint32_t node);
/* Appends to graph.scans; its place in *index. False after recording an error. */
bool graph_add_scan(tarn_replica *r, const struct scan *scan, uint32_t *index);
/* Appends a region that begins with the next node. False after recording an error. */
bool graph_begin_region(tarn_replica *r);
/* All of the step is recorded: ends the time that this takes. */
void graph_recorded(tarn_replica *r);
/* Drops what was recorded and begins a new step. */
void graph_reset(tarn_replica *r);
void graph_release(struct graph *g);

#endif
