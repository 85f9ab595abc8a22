/* SPDX-License-Identifier: Apache-2.0 */
/* Ops: one constant record each; there is no enum of ops, and no switch over them. */
#ifndef TARN_OP_RECORD_H
#define TARN_OP_RECORD_H

#include "error.h"
#include "tensor/dtype.h"
#include "tensor/mesh.h"

#define OPERANDS_MOST 64 /* of one node, */
#define SCAN_MOST 256    /* but of a loop, which has as many results at most */

enum op_kind {
    OP_LEAF,      /* a buffer, a constant, a number, a counter */
    OP_MAP,       /* element by element: `code` in x, y, z */
    OP_VIEW,      /* index map, or reshape when `index` is NULL */
    OP_REDUCE,    /* over op_arg.reduce.axes, which stay as length 1, by `combination` */
    OP_CONTRACT,  /* sum of products over a nest given by `contract` */
    OP_TRANSFORM, /* sums of in[0] times small constants, given by `transform`; the compiler's own */
    OP_GATHER,    /* in[0] rows by the int32 index in[1] */
    OP_CONCAT,
    OP_ROUTINE, /* functions of kernels/routines.cl and sorting.cl over whole operands, given by `routine` */
    OP_COMPOSED, /* other nodes, which `expand` makes for the compiler; recorded as one */
    OP_HOST,     /* a function of the host, run between kernels on the replica's thread */
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
    double fill;
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
    int32_t phases; /* terms are one of so many that the order of sums counts; 0: all of them */
};

/* Sums with factors from small tables that are known when code is made. The axes of the result
 * come first; after them, one for each transform. Element = sum over the last axes of in[0]
 * times, for each transform, table[row][its axis], where row = the axis `row` (-1: none) + step *
 * the axis `step_axis`. A guard of `in` that fails reads 0; where one of `out` fails there is no
 * element. */
#define TRANSFORMS_MOST 2
struct transform_map {
    int axes, out_axes;
    int32_t extent[CONTRACT_AXES];
    struct contract_map out, in;
    int transforms;
    struct {
        int table, row, step_axis;
        int32_t step;
    } transform[TRANSFORMS_MOST]; /* number i sums over axis out_axes + i */
};

/* A number for each element of a leaf: base + sum over d of stride[d] * index[d] + sum over the mesh's axes
 * of step[a] * the rank's coordinate along a. Coordinates are arguments of kernels, so that all ranks have
 * one program. Modulo 2^32. */
struct position {
    uint32_t base;
    int32_t stride[TARN_MAX_RANK];
    int32_t step[MESH_AXES];
};

#define MAP_SCALARS 2
enum { CONV_DEPTH, CONV_ROWS, CONV_COLUMNS, CONV_DIRECTIONS };
union op_arg {
    struct {
        uint32_t slot; /* input: in graph.inputs; number: in graph.numbers; owned: in r->owned;
                          constant: upper half of 64 bits */
        uint32_t bits; /* constant: bits of the value in the node's type */
        uint32_t axis; /* held: whether steps lead */
        /* Input, owned, held: how it is cut, when the node has the shape of the whole; and, in a loop's body or of a
         * piece of its value, along which axes of the mesh it is still to be added up. */
        struct spec spec;
        uint32_t pending;
        /* Held, for core/shard: a piece of a loop's value of so many elements; 0: it is no such. */
        uint32_t first, elements;
    } leaf;
    struct {
        struct position at; /* iota: the value, as int32; rand: the counter */
        uint32_t serial;    /* rand: distinguishes generators of one step */
    } position;
    struct {
        /* Part of the code: another value is another kernel. Of float32 a number that this has. */
        double scalar[MAP_SCALARS];
    } map;
    struct {
        uint32_t axes;   /* bit i: axis i is reduced */
        uint32_t synced; /* norm: statistics are of all replicas' samples */
        uint32_t
            unsplit; /* sum: every sample waits for it, so few values are not added up in rows */
    } reduce;
    struct {
        int32_t order[TARN_MAX_RANK];
    } permute;
    struct {
        int32_t start[TARN_MAX_RANK], step[TARN_MAX_RANK];
    } slice;
    struct {
        int32_t low[TARN_MAX_RANK], high[TARN_MAX_RANK];
        double value; /* one that the type has */
    } pad;
    struct {
        int32_t step[TARN_MAX_RANK]; /* dilate: step[i] - 1 zeros between elements of axis i */
    } dilate;
    struct {
        int32_t window[2], stride[2],
            dilation[2]; /* window, unwindow: [N,C,H,W] <-> [N,C,OH,OW,KH,KW] */
    } window;
    struct {
        /* Along depth, height and width; of images the first is 1, or 0. */
        int32_t stride[CONV_DIRECTIONS], padding[CONV_DIRECTIONS], dilation[CONV_DIRECTIONS];
        int32_t groups;
        int32_t phases; /* the compiler's own: see struct contract */
    } conv;
    struct {
        int32_t transpose[2]; /* of the last two axes of in[0], in[1] */
    } matmul;
    struct {
        int32_t axis;   /* as of a routine: 1 where axis 0 may be samples, else 0 */
        uint32_t scale; /* bits of a float */
        uint32_t causal;
        uint32_t part; /* gradient: of q, k, v */
    } attention;
    struct {
        int32_t window[2], tiles[2], size[2], padding[2]; /* size: of the result's image */
        int32_t last;                                     /* images and points have channels last */
        /* Products alone: channels of image and result. */
        int32_t channels[2];
        /* And of volumes: planes of image and result as they lie, how many the nest goes through, those of the window (0: they
         * are images), and how many of zeros lie before the result's. */
        int32_t planes[2], through, deep, above;
    } winograd;
    struct {
        int32_t axis;
    } concat;
    struct {
        int32_t axis; /* along which lines go; -1: one line of all */
        /* Of the result's lines; or whether a cumulative sum goes backwards, or an order is by int64. */
        int32_t length;
        int32_t distinct; /* no line of the index names an element twice */
    } routine;
    struct {
        uint32_t owned;
        struct spec spec; /* how that is cut */
        uint32_t pending; /* as of a leaf */
    } assign;
    struct {
        struct spec spec; /* shard: how the value is to be cut */
    } shard;
    struct {
        uint32_t first; /* position of the first element */
    } fingerprint;
    struct {
        uint32_t label; /* enum spread */
    } spread;
    struct {
        uint32_t index;     /* in graph.scans */
        uint32_t digest[2]; /* of it, since arguments are hashed */
    } scan;
    struct {
        uint32_t first;      /* element of the operand, or of the result */
        uint32_t label;      /* enum spread: of the steps' values */
        uint32_t steps_lead; /* axis 0 of the result are steps */
    } piece;
    struct {
        uint32_t region; /* after: of values that are computed again, from 1 on; 0: of none */
    } after;
    struct {
        uint32_t said; /* enum batch_word */
    } batch_axis;
    struct {
        uint32_t reduction, checksum, root;
        uint32_t purpose, origin, order, serial; /* the caller's own */
        uint8_t axes; /* of a mesh, along which the ranks are a group; 0: all ranks are one */
        uint8_t mesh, split, join; /* mesh_exchange.h */
        tarn_shape shape;
    } call;
};

/* How often the nest that reads a view asks for an element of its operand. */
enum view_reads {
    READS_BY_SIZE, /* more than once if the view has more elements */
    READS_ONCE,    /* elements that the view adds are no reads */
    READS_OFTEN
};

/* What the program said of a value's axis 0 (tarn_batch_axis). */
enum batch_word { BATCH_UNSAID, BATCH_SAMPLES, BATCH_NONE };

struct node;
struct graph;
struct builder;

/* One run of an OP_HOST. `in` holds the operand's elements, row-major; `out` takes the result's,
 * and is `in` itself when op.in_place. Both are host memory until the function returns. */
struct call_run {
    tarn_replica *replica;
    union op_arg arg;
    tarn_dtype dtype;
    size_t count; /* elements of the operand */
    void *in, *out;
};

/* What a gradient rule sees; it sets gin[i] for all operands that are wanted. Broadcasting is
 * undone by autograd.c. */
struct grad_call {
    tarn_tensor y, g;      /* the node, and the gradient of the loss with respect to it */
    const tarn_tensor *in; /* its operands */
    union op_arg arg;
    const bool *wanted; /* gin[i] is only used where wanted[i]: a rule may save the others */
    uint64_t without;   /* the rule sets bit i if it leaves out gin[i] though it is wanted, */
    bool any_without;   /* or this, if it may leave out any */
    tarn_tensor *gin;
};

/* How a reduction combines values: all that the compiler knows of it. Two reductions that differ in
 * their gradients only share one. */
struct combination {
    /* OpenCL C of a value x and what came before it, y: both combined; or, of a search, whether x
     * takes the place of y. Values meet in an order that depends on shapes, so the order must not
     * matter, but for roundings. */
    const char *code;
    const char *identity[4]; /* changes nothing: of float, int, double, long registers */
    /* "tarn_sum": tarn_sum_float() and tarn_sum_int() of kernels/prelude.cl combine the lanes of a
     * register, and so may rows, one for each group of samples. NULL: each result is computed in
     * one lane of one group. */
    const char *lanes;
    bool adds;   /* a sum, which is linear, and which contractions and virtual shards add up to */
    bool empty;  /* of no values it is the identity; otherwise that is an error */
    bool widens; /* uint8 becomes int32 */
    /* A search: the result is the position of the value that `found` would give, as int32. */
    const struct combination *found;
};
extern const struct combination combination_sum;

/* Who runs a routine. */
struct routine_place {
    bool items; /* one work-item does one piece; else each group has many, one after the other */
    int shards; /* virtual shards of this replica that the operands' samples are divided into, or 1 */
    unsigned batched; /* operands that carry the batch, as bits */
    int vectors;      /* registers of 16 lanes that a row of its tiles has */
};

/* One pass of a routine: `function` of kernels/routines.cl is called with the pieces to do, the result,
 * those operands that it reads, what the pass before made if it reads that, and numbers. */
#define ROUTINE_NUMBERS 8
struct routine_pass {
    const char *function;
    int32_t pieces;
    double cycles;  /* of a piece, roughly */
    unsigned reads; /* bit i: operand i */
    bool reads_last;
    int64_t number[ROUTINE_NUMBERS];
    int numbers;
    tarn_shape shape; /* of what a pass makes that is not the last; int32 */
    int64_t own; /* floats in memory of each group's own, which come behind the result; 0: none */
};

struct op {
    const char *name; /* stable: part of the plan hash */
    int arity;        /* -1: any */
    enum op_kind kind;
    /* MAP: OpenCL C of the operands x, y, z (registers of float, int, or vectors of them), and of
     * the scalars a and b, which are literals of the same type and width. */
    const char *code;
    const char *typed[DTYPES]; /* the same for a result of this tarn_dtype; NULL: `code` */
    int scalars;               /* how many of op_arg.map.scalar it has: such a map is of floats */
    bool heavy; /* calls a function or divides: computed once for several readers, not for each */
    const struct combination *combination; /* REDUCE */
    void (*grad)(struct grad_call *c);     /* op_no_grad: the result is a constant; NULL: unknown */
    void (*index)(const struct node *n, tarn_shape in, struct index_map *out);
    bool
        uniform; /* VIEW: has no elements but the operand's, so of a constant it is that constant */
    enum view_reads reads; /* VIEW */
    bool in_memory;        /* LEAF: others are computed where they are read */
    void (*contract)(const struct node *n, const tarn_shape in[2], struct contract *out);
    void (*transform)(const struct node *n, tarn_shape in, struct transform_map *out);
    /* ROUTINE: describes pass number `pass`; returns whether it is the last one. */
    bool (*routine)(const struct node *n, const tarn_shape *in, const struct routine_place *where,
                    int pass, struct routine_pass *out);
    tarn_status (*call)(const struct call_run *c);
    bool in_place; /* CALL */
    /* COMPOSED: adds nodes (expand.h), of at most COMPOSED_NODES for each operand
     * and one more, and returns the one that is the node's value. */
    uint32_t (*expand)(struct builder *b, const struct node *n, const uint32_t *in);
};
#define COMPOSED_NODES 16

/* The rule of ops whose result does not change with small changes of the operands: comparisons,
 * bits, indices. No rule at all is an error as soon as somebody asks for a gradient through the
 * op. */
void op_no_grad(struct grad_call *c);
/* The gradient of the operand is that of the result. */
void op_same_grad(struct grad_call *c);

#define OP_DECLARE(name) extern const struct op op_##name;
#define OP(name) OP_DECLARE(name)
#include "tensor/ops.def"
#undef OP
/* No op of a program's own, in no list (after.c). */
extern const struct op op_after;

extern const struct op *const all_ops[];
extern const int all_ops_count;

#endif
