/* SPDX-License-Identifier: Apache-2.0 */
/* The lazy graph: nodes of the current step, the op records that they point to, and the replica
 * that owns both. Internal to core. */
#ifndef TARN_GRAPH_H
#define TARN_GRAPH_H

#include "backend.h"
#include "tarn.h"
#include "tarn_profile.h"

/* ---- ops: one constant record each; no op enum, no switch over ops ------------------------------
 */

#define OPERANDS_MOST 64 /* of one node */

enum op_kind {
    OP_LEAF,     /* a buffer, a constant, a number, a counter */
    OP_MAP,      /* element by element: `code` in x, y, z */
    OP_VIEW,     /* index map, or reshape when `index` is NULL */
    OP_REDUCE,   /* over op_arg.reduce.axes, which stay as length 1; combine by `code` */
    OP_CONTRACT, /* sum of products over a nest given by `contract` */
    OP_MIX,      /* sums of in[0] times small constants, given by `mix`; the compiler's own */
    OP_GATHER,   /* in[0] rows by the int32 index in[1] */
    OP_CONCAT,
    OP_COMPOSED, /* other nodes, which `expand` makes for the compiler; recorded as one */
    OP_CALL,     /* a function of the host, run between kernels on the replica's thread */
    OP_EFFECT    /* assign */
};

/* How an axis of the result indexes the operand:
 * in[d] = (sum over o of coef[d][o] * out[o] + offset[d]) / divide[d]; where a guarded in[d] is out
 * of range or not whole, the element is `fill`. */
struct index_map {
    int rank_in, rank_out;
    struct {
        int32_t coef[TARN_MAX_RANK];
        int32_t offset, divide;
        bool guarded;
    } dim[TARN_MAX_RANK];
    float fill;
};

/* A contraction as a nest: axes (the first `out_axes` are of the result, the rest are summed over),
 * and three index maps from axes to dimensions of the result, in[0] and in[1]. A term with a guard
 * that fails is left out. */
#define CONTRACT_AXES 12
struct contract_map {
    struct {
        int32_t coef[CONTRACT_AXES];
        int32_t offset, divide;
        bool guarded;
    } dim[TARN_MAX_RANK];
};
struct contract {
    int axes, out_axes;
    int32_t extent[CONTRACT_AXES];
    struct contract_map out, in[2];
};

/* Sums with factors from small tables that are known when code is made. The axes of the result come
 * first; after them, one for each mix. Element = sum over the last axes of in[0] times, for each mix,
 * table[row][its axis], where row = the axis `row` (-1: none) + step * the axis `step_axis`. A guard
 * of `in` that fails reads 0; where one of `out` fails there is no element. */
#define MIX_MOST 2
struct mix_map {
    int axes, out_axes;
    int32_t extent[CONTRACT_AXES];
    struct contract_map out, in;
    int mixes;
    struct {
        int table, row, step_axis;
        int32_t step;
    } mix[MIX_MOST]; /* number i sums over axis out_axes + i */
};

union op_arg {
    struct {
        uint32_t slot;   /* input: in graph.inputs; number: in graph.numbers; owned: in r->owned */
        uint32_t bits;   /* constant: bits of the value in the node's type */
        uint32_t axis;   /* iota: value is the index along this axis */
        uint32_t serial; /* rand: distinguishes generators of one step */
        uint32_t share;  /* rand: elements of one replica's part of the global batch; 0: no part */
    } leaf;
    struct {
        uint32_t axes;   /* bit i: axis i is reduced */
        uint32_t synced; /* norm: statistics are of all replicas' samples */
        uint32_t whole; /* sum: every sample waits for it, so few values are not added up in rows */
    } reduce;
    struct {
        int32_t order[TARN_MAX_RANK];
    } permute;
    struct {
        int32_t start[TARN_MAX_RANK], step[TARN_MAX_RANK];
    } slice;
    struct {
        int32_t low[TARN_MAX_RANK], high[TARN_MAX_RANK];
        float value;
    } pad;
    struct {
        int32_t step[TARN_MAX_RANK]; /* dilate: step[i] - 1 zeros between elements of axis i */
    } dilate;
    struct {
        int32_t window[2], stride[2],
            dilation[2]; /* window, unwindow: [N,C,H,W] <-> [N,C,OH,OW,KH,KW] */
    } window;
    struct {
        int32_t stride[2], padding[2], dilation[2], groups;
    } conv;
    struct {
        int32_t transpose[2]; /* of the last two axes of in[0], in[1] */
    } matmul;
    struct {
        int32_t window[2], tiles[2], size[2], padding[2]; /* size: of the result's image */
    } winograd;
    struct {
        int32_t axis;
    } concat;
    struct {
        uint32_t owned;
    } assign;
    struct {
        uint32_t first; /* position of the first element */
    } fingerprint;
    struct {
        uint32_t label; /* enum spread */
    } spread;
    struct {
        uint32_t reduction, witness, root;
        uint32_t purpose, origin, order, serial; /* the caller's own */
        tarn_shape shape;
    } call;
};

struct node;
struct graph;
struct builder;

/* One run of an OP_CALL. `in` holds the operand's elements, row-major; `out` takes the result's, and
 * is `in` itself when op.in_place. Both are host memory until the function returns. */
struct call_run {
    tarn_replica *replica;
    union op_arg arg;
    tarn_dtype dtype;
    size_t count; /* elements of the operand */
    void *in, *out;
};

/* What a gradient rule sees; it sets gin[i] for all operands that are wanted. Broadcasting is undone
 * by autograd.c. */
struct grad_call {
    tarn_tensor y, g;      /* the node, and the gradient of the loss with respect to it */
    const tarn_tensor *in; /* its operands */
    union op_arg arg;
    const bool *wanted; /* gin[i] is only used where wanted[i]: a rule may save the others */
    uint64_t without;   /* the rule sets bit i if it leaves out gin[i] though it is wanted */
    tarn_tensor *gin;
};

struct op {
    const char *name; /* stable: part of the plan hash */
    int arity;        /* -1: any */
    enum op_kind kind;
    /* MAP: OpenCL C of the operands x, y, z (registers of float, int, or vectors of them).
     * REDUCE: name of the combination: "sum", "max", "min", "argmax". */
    const char *code;
    void (*grad)(struct grad_call *c); /* op_no_grad: the result is a constant; NULL: unknown */
    void (*index)(const struct node *n, tarn_shape in, struct index_map *out);
    void (*contract)(const struct node *n, const tarn_shape in[2], struct contract *out);
    void (*mix)(const struct node *n, tarn_shape in, struct mix_map *out);
    tarn_status (*call)(const struct call_run *c);
    bool in_place; /* CALL */
    /* COMPOSED: adds nodes (nest.h, module_make()), of at most COMPOSED_NODES for each operand and one
     * more, and returns the one that is the node's value. */
    uint32_t (*expand)(struct builder *b, const struct node *n, const uint32_t *in);
};
#define COMPOSED_NODES 8

/* The rule of ops whose result does not change with small changes of the operands: comparisons, bits,
 * indices. No rule at all is an error as soon as somebody asks for a gradient through the op. */
void op_no_grad(struct grad_call *c);

#define OP_DECLARE(name) extern const struct op op_##name;
#define OP(name) OP_DECLARE(name)
#include "ops.def"
#undef OP
extern const struct op *const all_ops[];
extern const int all_ops_count;

/* ---- the graph of a step ------------------------------------------------------------------------
 */

struct node {
    const struct op *op;
    tarn_shape shape;
    tarn_dtype dtype;
    uint32_t first_in, in_count; /* operands: graph.operands[first_in ...] */
    bool needs_grad;             /* depends on a parameter, or on a tensor asked for */
    uint32_t part;    /* graph.parts[part - 1] is of the batch that it depends on; 0: on none */
    uint32_t other;   /* the same of one that is another share of its batch than `part` is */
    uint32_t spread;  /* enum spread (spread.h): how the value lies over the replicas */
    union op_arg arg; /* zeroed before it is set: hashed as bytes */
};

/* What a replica has of a batch: so many samples of all that the replicas have. */
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
    uint32_t rand_count;
    uint64_t hash[2]; /* of everything recorded, in order */
};

/* ---- owned tensors: parameters, buffers, optimizer state; kept tensors --------------------------
 */

enum owned_kind { OWNED_PARAMETER, OWNED_BUFFER, OWNED_STATE, OWNED_KEPT, OWNED_FLAT, OWNED_FREE };

struct owned {
    char *name; /* NULL for kept tensors and flat storage */
    enum owned_kind kind;
    tarn_shape shape;
    tarn_dtype dtype;
    struct buffer *buffer;
    size_t offset;       /* bytes into buffer */
    uint32_t flat;       /* index + 1 of the OWNED_FLAT entry that this is a slice of, or 0 */
    uint32_t node;       /* its current value in this step's graph, or 0 when not used yet */
    uint32_t grad;       /* node of the gradient that backward left, and nobody gathered; or 0 */
    uint32_t gathered;   /* node of what the optimizer gathered of it, or clipped; or 0 */
    bool used;           /* an update was recorded with `gathered` */
    bool assigned;       /* in this step */
    uint32_t value;      /* node that was assigned in this step, or 0 */
    bool together;       /* what was assigned is the same on all replicas */
    bool apart;          /* a buffer: a training step left another value on each replica */
    bool fresh;          /* kept in this step: has no contents when the step fails */
    bool dropped;        /* to be freed at the step mark */
    uint32_t generation; /* tells a dropped kept tensor from its slot's next tenant */
    struct graph_part part, other; /* kept: of the batch that it came from, as those of a node */
    uint32_t spread;               /* kept: as that of a node */
    uint32_t lost; /* generation + 1 of the last tenant whose step failed; 0: none */
};

/* Something to be closed with the replica (a loader, an optimizer). */
struct resource {
    void (*close)(void *self);
    void *self;
    struct resource *next;
};

struct plan_cache;

/* The replicas that this one trains with, as far as core must know them; dist fills it in. */
struct peers {
    int rank, world;
    int shards;          /* virtual shards of the global batch: a multiple of world; 0: none */
    bool sync_norm;      /* batch norm takes its statistics over all replicas */
    size_t bucket_bytes; /* of gradients that are exchanged at once */
    /* Tells the others that this replica compiles, or does not any more: they wait longer for it. NULL:
     * nobody waits. */
    void (*builds)(tarn_replica *r, bool begins);
    /* Records the sum over all replicas. */
    tarn_tensor (*sum)(tarn_tensor x);
    /* Records the sum of a bucket of the flat gradient over all replicas, of which `first` is the
     * first of a step: what else a training step exchanges goes with it. */
    tarn_tensor (*reduce)(tarn_tensor bucket, bool first);
};

struct tarn_replica {
    struct context *context;
    struct graph graph;
    struct owned *owned;
    uint32_t owned_count, owned_capacity;
    struct resource *resources;
    struct plan_cache *plans;
    uint32_t step;       /* of handles: starts at 1, grows with every mark */
    uint64_t step_count; /* of marks that updated parameters; saved in checkpoints */
    uint64_t side_steps; /* marks since then that drew random numbers */
    bool updates;        /* an optimizer steps in the current step */
    uint64_t seed;
    bool training;
    tarn_status status;
    uint32_t errors; /* since the first */
    char error[1024];
    tarn_metrics metrics;
    tarn_optimizer *optimizer; /* the one whose state is saved; NULL when none is open */
    queue_mark in_flight[2];
    struct peers *peers;     /* NULL: it trains alone */
    tarn_profile_fn profile; /* NULL: nobody asks */
    void *profile_user;
};

/* Handles of owned tensors carry this step: they never go stale. node = index + 1. */
#define STEP_OWNED UINT32_MAX

/* ---- recording (graph.c)
 * ------------------------------------------------------------------------- */

/* Records the first error of a replica with its line; returns poison, for `return`. */
tarn_tensor graph_fail(tarn_replica *r, tarn_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for functions that return a status. Takes the line of error_text() when format is NULL.
 */
tarn_status replica_fail(tarn_replica *r, tarn_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
tarn_tensor graph_poison(tarn_replica *r);

/* Checks that a handle is usable now and returns its node index in this step's graph, resolving
 * owned tensors to their current value; 0 means poison (the error is recorded). */
uint32_t graph_resolve(tarn_tensor t);
/* The same for operand `number` of an op of a replica, both of which the error names; it sticks to `r`,
 * or to the operand's replica when `r` is NULL. */
uint32_t graph_operand(tarn_replica *r, tarn_tensor t, const char *op, int number);
/* The same for all operands of an op, none of which may be missing. `*r` becomes the replica of the
 * first that has one. */
bool graph_operands(const char *op, const tarn_tensor *in, int count, tarn_replica **r);
const struct node *graph_node(tarn_tensor t);

/* Appends a node. Operands must be of the same replica. Any poisoned operand: returns poison. */
tarn_tensor graph_record(tarn_replica *r, const struct op *op, const tarn_tensor *in, int count,
                         tarn_shape shape, tarn_dtype dtype, const union op_arg *arg);
/* The handle of a node of this step. */
tarn_tensor graph_handle(tarn_replica *r, uint32_t node);
/* What x is now, for an operation that changes nothing: the handle of an owned tensor itself would stand
 * for whatever is assigned to it later. */
tarn_tensor graph_value(tarn_tensor x);

/* A leaf for a buffer that stays valid until the step's commands ended. `upload` (may be NULL) is
 * released at the step mark; `free_after` gives the buffer to the graph. */
tarn_tensor graph_input(tarn_replica *r, struct buffer *b, struct upload *upload, bool free_after,
                        tarn_shape shape, tarn_dtype dtype);
/* Says that a leaf holds this replica's part of a batch: what depends on it is part of a mean over
 * the whole batch. */
void graph_mark_part(tarn_tensor leaf, struct graph_part part);
/* The part that t's share of all replicas' values is that of: of a batch that t depends on, else 1 of
 * world. False after recording an error that begins with `name`, when it depends on batches of which
 * this replica has unequal shares; `advice` says what to do. */
bool graph_part_of(tarn_tensor t, const char *name, const char *advice, struct graph_part *out);
/* The node as recorded, also when tarn_eval has made it a leaf since. */
const struct node *graph_origin(const struct graph *g, uint32_t node);
/* Makes a computed node a leaf with the buffer `b`, which the graph then owns. */
tarn_status graph_evaluate(tarn_replica *r, uint32_t node, struct buffer *b);
/* Drops what was recorded and begins a new step. */
void graph_reset(tarn_replica *r);
void graph_release(struct graph *g);

/* "[128,10]" into a rotating thread-local text, for error lines. */
const char *shape_text(tarn_shape s);
bool shape_equal(tarn_shape a, tarn_shape b);
/* The common shape of a and b as in NumPy; false when they do not broadcast. */
bool shape_broadcast(tarn_shape a, tarn_shape b, tarn_shape *out);
/* False when rank, a dimension or the element count (2^31 - 1) is out of range. */
bool shape_valid(tarn_shape s);

/* ---- owned tensors (owned.c)
 * ----------------------------------------------------------------------- */

/* Adds an owned tensor with contents `data` (NULL: zeros) in a buffer of its own. 0 on failure,
 * else index + 1. Kept tensors and flat storage have no name. */
uint32_t owned_add(tarn_replica *r, enum owned_kind kind, const char *name, tarn_shape shape,
                   tarn_dtype dtype, const void *data);
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
/* Host copies, in order with the queue, waiting. Bytes = all of the tensor. */
TARN_CHECKED tarn_status owned_read(tarn_replica *r, const struct owned *o, void *out);
TARN_CHECKED tarn_status owned_write(tarn_replica *r, const struct owned *o, const void *data);

/* A replica on a device; tarn_close() ends it. */
TARN_CHECKED tarn_status replica_open(const struct device *device, tarn_replica **out);
/* Registers something to be closed by tarn_close; unregister when it is closed before. */
tarn_status replica_register(tarn_replica *r, void (*close)(void *self), void *self);
void replica_unregister(tarn_replica *r, void *self);

/* 32 random bits from (key, counter); the counter-based generator used on the host (random.c). The
 * same function, in OpenCL C, is kernels/random.cl. */
uint32_t random_u32(uint64_t key, uint64_t counter);
/* A key from a seed and a text, or a number. */
uint64_t random_key(uint64_t seed, const char *text);
uint64_t random_key_number(uint64_t seed, uint64_t number);
/* The key of the step under way: of seed, training steps, steps since that drew, and replica. */
uint64_t random_key_now(const tarn_replica *r);

#endif
