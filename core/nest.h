/* SPDX-License-Identifier: Apache-2.0 */
/* The compiler's own words: module, value, expression, nest, section, kernel.
 *
 *   graph --simplify--> module --lower--> nests over values --fuse--> kernels of sections
 *         --schedule, print--> OpenCL C
 *
 * A nest computes one value (or several maps of one shape): loops over OUT axes around loops over
 * RED axes. Its body and epilogue are expressions whose loads are affine in the axes. Everything of
 * one compilation lives in one arena of host memory and is freed with it. */
#ifndef TARN_NEST_H
#define TARN_NEST_H

#include <stdarg.h>

#include "graph.h"

#define LANES 16      /* samples in a batch block = lanes of a register; fixed: it orders sums */
#define MAX_GROUPS 16 /* groups of a sharded section, so rows of partial sums; fixed likewise */
#define NEST_AXES 14
#define NEST_STORES 8

/* Host memory of a compilation: grows, is freed at once. */
struct arena_block;
struct arena {
    struct arena_block *blocks;
    bool failed;
};
void *arena_take(struct arena *a, size_t bytes); /* zeroed; NULL after failure */
void arena_free(struct arena *a);

/* ---- indices
 * -------------------------------------------------------------------------------------- */

/* constant + sum of k[axis] * axis. */
struct affine {
    int32_t constant;
    int32_t k[NEST_AXES];
};
/* numerator / denominator, whole wherever the guards around it hold. */
struct rational {
    struct affine e;
    int32_t divide;
};
/* 0 <= e / divide < extent, and the division leaves nothing. */
struct guard {
    struct affine e;
    int32_t divide, extent;
};

struct affine affine_axis(int axis);
struct affine affine_constant(int32_t c);
struct affine affine_add_scaled(struct affine a, struct affine b, int32_t factor);
bool affine_equal(const struct affine *a, const struct affine *b);
struct rational rational_axis(int axis);
struct rational rational_constant(int32_t c);
struct rational rational_add_scaled(struct rational a, struct rational b, int32_t factor);
struct rational rational_divide(struct rational a, int32_t divisor);
bool rational_is_axis(const struct rational *a, int axis);
bool rational_uses(const struct rational *a, int axis);
/* Index of each dimension of `in` for index `out_index` of a reshape in -> out; false when one
 * would need a division with rest. */
bool reshape_index(tarn_shape in, tarn_shape out, const struct rational *out_index,
                   struct rational *in_index);

/* ---- module: the simplified graph
 * --------------------------------------------------------------------- */

struct root {
    uint32_t node;
    int owned;  /* index of the assigned tensor, or -1 */
    int output; /* index of the output, or -1 */
};

struct module {
    struct arena *arena;
    struct node *nodes;
    uint32_t count;
    uint32_t *operands;
    uint32_t operand_count;
    uint32_t *uses; /* consumers of each node, roots included */
    uint32_t *user; /* one of them */
    bool *sharded;  /* axis 0 is the batch */
    int *phase;     /* sums over the batch, and calls, that must be complete before it */
    bool *stored;   /* gets a value of its own */
    struct root *roots;
    int root_count;
    int32_t batch; /* samples, 0: no batch axis */
    int shards;    /* virtual shards that they are divided into; 0: no shards */
};

/* Copies what the roots need: common sub-expressions once, constants through views. */
tarn_status simplify(const tarn_replica *r, const uint32_t *outputs, int output_count, bool effects,
                     struct arena *a, struct module *out);
/* Adds a node to the module under construction, or finds its equal. */
struct builder;
uint32_t module_add(struct builder *b, const struct node *n, const uint32_t *in);
/* The same for a node by its parts; `arg` may be NULL. */
uint32_t module_make(struct builder *b, const struct op *op, tarn_shape shape, tarn_dtype dtype,
                     const union op_arg *arg, const uint32_t *in, uint32_t count);
struct module *module_of(const struct builder *b);
/* Whether convolutions become Winograd's here, and one's value as nodes that compute it so
 * (winograd.c); false leaves it as it is. */
enum winograd { WINOGRAD_NONE, WINOGRAD_SAMPLES, WINOGRAD_ALL }; /* SAMPLES: no weight gradients */
enum winograd winograd_wanted(const tarn_replica *r);
bool winograd_expand(struct builder *b, enum winograd wanted, const struct node *n,
                     const uint32_t in[2], uint32_t *out);
#define WINOGRAD_NODES 10 /* at most, for one convolution */
/* Finds the batch axis, and which nodes carry it. */
void shard(struct module *m, const tarn_replica *r);
/* Blocks of samples, and groups that share them. With virtual shards a group is a shard, so that its
 * row of sums does not depend on how many of them this replica has. */
struct program_ir;
tarn_status share_out(struct program_ir *p, const tarn_replica *r);
/* The batch axis of a contraction's nest: an OUT axis, or a RED axis (*reduced); -1: none. */
int contract_batch_axis(const struct module *m, uint32_t node, const struct contract *c,
                        bool *reduced);
/* The same for a mix: never reduced. */
int mix_batch_axis(const struct module *m, uint32_t node, const struct mix_map *c);
/* Whether `to`, the only consumer of `from`, can join the epilogue of the nest computing `from`. */
bool joins_epilogue(const struct module *m, uint32_t from, uint32_t to);
/* Whether a map's code calls a function, or divides: it counts as so many that do not. */
#define HEAVY_MAP 8
bool code_is_heavy(const char *code);
/* Decides which maps get a value of their own; all of them when !fuse. */
void choose_stored(struct module *m, bool fuse);

/* ---- values
 * ------------------------------------------------------------------------------------------- */

enum value_place {
    PLACE_ARENA,
    PLACE_SCRATCH, /* local memory: one batch block, of one kernel */
    PLACE_INPUT,
    PLACE_OWNED,
    PLACE_OUTPUT,
    PLACE_SHARED
};
enum layout { LAYOUT_PLAIN, LAYOUT_BLOCKED }; /* row-major; [N/16][rest][16] */

struct value {
    enum value_place place;
    enum layout layout;
    uint32_t slot; /* of input, owned tensor, output, or memory shared with the host */
    size_t offset; /* bytes into the arena or scratch, set by memplan or use_scratch */
    tarn_shape shape;
    tarn_dtype dtype;
    size_t bytes;
    int copy_stride; /* elements between the copies that each group has of it; 0: there is one */
    int first, last; /* kernels that write and read it */
};

/* ---- expressions
 * ---------------------------------------------------------------------------------------- */

enum expr_kind {
    EXPR_CONSTANT,
    EXPR_NUMBER,
    EXPR_IOTA,
    EXPR_RAND,
    EXPR_LOAD,
    EXPR_MAP,
    EXPR_GUARD,
    EXPR_MIX,
    EXPR_ACC
};

struct access {
    int value;
    struct affine address; /* elements; in blocked values without the batch part */
    int part_count;        /* further terms stride * e / divide */
    struct {
        struct rational index;
        int32_t stride;
    } part[TARN_MAX_RANK];
    int gather; /* expression whose value, clamped to [0, extent), times stride is added; -1 */
    int32_t gather_stride, gather_extent;
    bool local; /* blocked: element of this block and lane */
    bool rows;  /* row-major, of the samples of this block only */
};

bool access_uses(const struct access *a, int axis);

struct expr {
    enum expr_kind kind;
    tarn_dtype dtype; /* type in registers: U8 computes as I32 */
    const char *code; /* MAP */
    int arg[3], args;
    uint32_t bits;         /* constant; slot of number; serial of rand */
    struct rational index; /* iota, rand: the number; mix: the row */
    int table, over;       /* MIX: sum over axis `over` of table[row][over] * arg[0] */
    struct access access;
    struct guard guard[TARN_MAX_RANK];
    int guards; /* GUARD: arg[0] where all hold, else the constant `bits` */
};

/* ---- nests
 * ------------------------------------------------------------------------------------------------
 */

enum combine { COMBINE_NONE, COMBINE_SUM, COMBINE_MAX, COMBINE_MIN, COMBINE_ARGMAX, COMBINE_FMA };

struct store {
    int value;
    int expr;              /* over ACC and loads; -1: the accumulator itself */
    struct affine address; /* as in access */
    bool local;
    bool best; /* ARGMAX: the accumulator is the maximum, not its position */
};

/* A matrix product left to a provider: c = op(a) op(b), `batch` times. */
struct product {
    size_t m, n, k, batch;
    bool transpose_a, transpose_b;
    bool sums_batch; /* k is the batch */
    int a, b;        /* values, row-major */
    int provider;    /* choose_product()'s */
};

/* A call of the host between kernels. */
struct host_call {
    const struct op *op;
    union op_arg arg;
    int in; /* value in shared memory */
};

/* Who does the work. */
enum nest_kind { NEST_LOOPS, NEST_PRODUCT, NEST_CALL };

struct nest {
    const char *name;    /* of the op at its core, for comments */
    enum nest_kind kind; /* but for LOOPS it has no loops at all, and writes store[0] */
    struct product product;
    struct host_call call;
    int axes, out_axes;
    int32_t extent[NEST_AXES];
    bool sharded;   /* axis `batch_axis` runs over the samples of a block: lanes */
    int batch_axis; /* when sharded: index of the batch axis, OUT or RED */
    bool partial;   /* the batch axis is reduced: one row per group */
    bool by_sample; /* likewise, but a block's samples come one after the other: no lanes */
    enum combine combine;
    tarn_dtype acc_dtype;
    bool red_last;             /* the last logical axis of the operand is summed */
    int body[2];               /* combined value; FMA: both factors */
    struct rational arg_index; /* ARGMAX: number of the element among the reduced */
    struct guard guard[2 * TARN_MAX_RANK];
    int guards; /* FMA: terms left out where one fails; NONE: elements left out */
    bool mixed; /* body[0] is a mix: its axes after the OUT ones are unrolled, never loops */
    struct store store[NEST_STORES];
    int stores;
    struct expr *exprs;
    int expr_count, expr_capacity;
    /* schedule */
    int lane_axis;        /* not sharded: vectorised axis, or -1 */
    int tile[NEST_AXES];  /* unrolled; 1: a plain loop */
    int order[NEST_AXES]; /* loops over OUT axes but the lane, the outermost first */
    int split_axis;       /* not sharded: OUT axis divided among groups, or -1 */
    int groups;
    bool uniform; /* GPU: all teams of a group have the same tile */
    /* fusion */
    int kernel, section;
    bool tiny;
    bool replicable, replicated; /* may be, is computed by every group for itself */
    double work;                 /* cycles of one core, roughly */
};

struct program_ir {
    struct arena *arena;
    struct module *module;
    struct value *values;
    int value_count, value_capacity;
    struct nest *nests;
    int nest_count, nest_capacity;
    int first_root; /* nests from here on write what leaves the plan */
    int kernel_count;
    bool fuse;
    bool products;         /* large matrix products need not be nests */
    bool gpu;              /* a lane is a work-item */
    int local;             /* work-items of a group */
    uint32_t shared_count; /* values in shared memory */
    int blocks, groups;    /* of sharded sections */
    size_t arena_bytes;
};

int value_add(struct program_ir *p, enum value_place place, enum layout layout, uint32_t slot,
              tarn_shape shape, tarn_dtype dtype);
struct nest *nest_add(struct program_ir *p);
int expr_add(struct program_ir *p, struct nest *n, const struct expr *e);
/* The axis whose elements are the lanes of a register; -1: none. */
static inline bool nest_has_batch_lanes(const struct nest *n)
{
    return n->sharded && !n->by_sample;
}
static inline int nest_vector_axis(const struct nest *n)
{
    return nest_has_batch_lanes(n) ? n->batch_axis : n->lane_axis;
}
static inline int nest_red_axes(const struct nest *n)
{
    return n->axes - n->out_axes;
}

/* Module to nests. The replica tells where owned tensors lie. */
tarn_status lower(struct program_ir *p, const tarn_replica *r);
/* Joins each maximum with its position, where the plan computes both (pair.c). */
void pair_maxima(struct program_ir *p);
/* Joins axes of the result that memory runs through as one (flatten.c). */
void flatten(struct program_ir *p);
/* Who multiplies best here (plan.c): 0 a nest, else the number of another provider. */
tarn_status choose_product(const tarn_replica *r, const struct product *shape, int *provider);
/* Nests to kernels: sets kernel and section. */
tarn_status fuse(struct program_ir *p, const tarn_replica *r);
/* Lanes, tiles, groups. */
void schedule(struct program_ir *p);
/* Nests of a plan from which on it counts how long the driver takes to compile each. */
#define CROWD 256
/* The register tile and the order of loops of a nest with a sum (tile.c), one of so many in a plan. */
void choose_tile(struct nest *n, int nests);
/* Moves values that live inside a kernel's batch loop to local memory, of which there are so many
 * bytes. */
void use_scratch(struct program_ir *p, size_t most_bytes);
/* The axis of the 16 lanes of a nest without batch, or -1. It orders sums. */
int schedule_lane(const struct nest *n);
/* Which schedule the environment and the device ask for. */
tarn_status schedule_kind(const tarn_replica *r, bool *gpu);
/* For a GPU: takes nests whose lanes are added up out of the kernels of others, since their barriers
 * must not stand in a branch: PoCL 3.1 takes some of those wrong. */
void part_lane_sums(struct program_ir *p);
/* Tiles and groups for a GPU, and `local`. */
void schedule_gpu(struct program_ir *p, const struct device *device);
/* Of a nest so scheduled: tiles of the OUT axes that are no lanes, and accumulators of one; whether
 * the lanes of a team are added up. */
int64_t nest_tiles(const struct nest *n);
int nest_points(const struct nest *n);
bool nest_sums_lanes(const struct nest *n);
/* Offsets of arena values. */
void memplan(struct program_ir *p);

/* ---- constant tables (mix_table.c)
 * --------------------------------------------------------------------------------------------- */

#define MIX_LONGEST 8
/* Winograd's F(4, window), window 3 or 5, over the points 0, 1, -1, 2, -2, (1/2, -1/2,) infinity. */
enum mix_role {
    MIX_TAKE,   /* input: a x a */
    MIX_GIVE,   /* gradient of the output: a x 4 */
    MIX_WEIGHT, /* a x window */
    MIX_RESULT, /* transposes of these three, in this order: a tile of the output, */
    MIX_SPREAD, /* of the gradient of the input, */
    MIX_WINDOW, /* of the weight */
    MIX_ONES
};
struct mix_table {
    int rows, columns;
    bool paired; /* columns 1 and 2, 3 and 4, ... differ in sign at most; else these rows are equal
                    in even columns, and in odd ones but for the sign */
    double entry[MIX_LONGEST][MIX_LONGEST];
};
int mix_table_number(enum mix_role role, int window);
struct mix_table mix_table_make(int number);

/* ---- printing
 * ---------------------------------------------------------------------------------------------------
 */

struct text {
    char *data;
    size_t length, capacity;
    bool failed;
};
void text_add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_add_list(struct text *t, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
void text_free(struct text *t);

/* What a kernel takes, in order. */
enum param_kind {
    PARAM_ARENA,
    PARAM_INPUT,
    PARAM_OWNED,
    PARAM_OUTPUT,
    PARAM_SHARED,
    PARAM_NUMBER,
    PARAM_KEY,
    PARAM_RANK
};
struct param {
    enum param_kind kind;
    uint32_t slot;
};
struct kernel_ir {
    char name[64];
    char about[160]; /* what it computes, for people */
    struct param *params;
    int param_count, param_capacity;
    int groups;
};
/* Appends the OpenCL C of one kernel. */
tarn_status print_kernel(struct program_ir *p, int kernel, struct text *out, struct kernel_ir *k);

#endif
