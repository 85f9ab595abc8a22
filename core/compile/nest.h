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

#include "compile/expr.h"
#include "compile/module.h"
#include "compile/value.h"

#define NEST_STORES 8

enum combine { COMBINE_NONE, COMBINE_REDUCE, COMBINE_FMA }; /* a map, reduction, contraction */

struct store {
    int value;
    int expr;              /* over ACC and loads; -1: the accumulator itself */
    struct affine address; /* as in access */
    bool in_block;
    bool best; /* of a search: the value that was found, not its position, is the accumulator */
};

/* A matrix product left to a provider. */
struct product {
    struct product_shape shape;
    int a, b;        /* values, row-major, */
    size_t first[2]; /* and the elements of them that are the operands' first */
    int provider;    /* target_provider()'s */
};

/* A call of the host between kernels. */
struct host_call {
    const struct op *op;
    union op_arg arg;
    int in; /* value in shared memory */
};

/* A nest that copies between the plain and the blocked layout, and does nothing else: over its
 * axes from `first` on both addresses go from one element to the next, so many elements in all. */
struct copy_run {
    int first;
    int64_t elements; /* 0: the nest is no such copy */
};

/* Who does the work. */
enum nest_kind { NEST_LOOPS, NEST_ROUTINE, NEST_PRODUCT, NEST_HOST };

struct nest {
    const char *name; /* of the op at its core, for comments */
    /* But for LOOPS it has no loops at all, and writes store[0]; a ROUTINE has one OUT axis, its pieces, and
     * a load of no use for each value that it is called with. */
    enum nest_kind kind;
    struct routine_pass routine;
    struct product product;
    struct host_call call;
    int axes, out_axes;
    int32_t extent[NEST_AXES];
    bool batched;   /* axis `batch_axis` runs over the samples of a block: lanes */
    int batch_axis; /* when batched: index of the batch axis, OUT or RED */
    bool partial;   /* the batch axis is reduced: one row per group */
    bool
        by_sample; /* likewise, but a block's samples come one after the other, and not in lanes: */
    int sample_lane; /* then the OUT axis that is */
    enum combine combine;
    const struct combination *by; /* of the accumulators; NONE: NULL */
    int32_t phases;               /* of a sum: struct contract */
    tarn_dtype acc_dtype;
    bool red_last;             /* the last logical axis of the operand, or of a factor, is summed */
    int body[2];               /* combined value; FMA: both factors */
    struct rational arg_index; /* of a search: number of the element among the reduced */
    struct guard guard[2 * TARN_MAX_RANK];
    int guards; /* FMA: terms left out where one fails; NONE: elements left out */
    bool
        transformed; /* body[0] is a transform: its axes after the OUT ones are unrolled, never loops */
    struct store store[NEST_STORES];
    int stores;
    struct copy_run copy;
    /* An axis counts runs of lanes, which the axis behind it is. The last run ends so many elements behind the result: the
     * last tile begins as many earlier (split_lanes.c). over 0: there is no such axis. */
    int runs, over;
    bool part;                /* one of several nests that make a sum (split_sum.c); */
    const struct nest *whole; /* the first of them: which sum */
    struct expr *exprs;
    int expr_count, expr_capacity;
};

/* What parts do of an axis: of `extent` elements in multiples of `grain` each takes its share, from
 * element `low` to `high` - 1; of the axis these are low * times + below to (high - 1) * times + above, as
 * far as there are such elements. */
struct slices {
    int extent, grain;
    int times, below, above;
};

static inline bool slices_overlap(const struct slices *s)
{
    return s->times != 1 || s->below != 0 || s->above != 0;
}

#define SECTION_OF_ROWS 2 /* a kernel's chain of nests with rows of samples */

/* Where a nest runs: made by 3_kernels. */
struct placement {
    int kernel;
    int section; /* nests of one section run one after the other in each of its groups */
    bool tiny;   /* one group does it sooner than a kernel is launched */
    bool spread; /* so small, but of a chain that is not, whose rows groups share */
    bool
        once; /* it makes the same in all steps of a loop, or in all runs until what is fixed changes */
    bool replicable; /* every group can compute it for itself, */
    bool
        replicated; /* and does; items: every group of the chain, or of those that have the same slice */
    double work; /* cycles of one core, roughly */
    int row_axis; /* OUT axis along which groups divide all nests of a chain (row_chains.c); -1: none */
    int part_axis; /* batched: OUT axis whose slices parts do; -1: none */
    struct slices slices;
    bool first_part; /* the first part alone does it */
    int chain; /* items: the first nest of the chain that it is in, whose groups do all its nests; -1: none. Then, */
    int stage; /* after so many barriers, which what follows a replicated nest has without a chain, too, */
    int parts; /* so many groups share a batch block, each with a slice of part_axis */
};

/* Blocks of the elements of a sum's result that are computed together: so what they read stays in the
 * first cache. Their accumulators are kept in memory while the sum goes on in steps of `axis`. */
struct panels {
    bool used;
    int size[NEST_AXES]; /* of the OUT axes: a multiple of the tile */
    int axis, step;      /* the summed axis, and how much of it is a step */
    double waiting;      /* cycles for caches, of the share of one group; all lanes together */
};

/* What a group of work-items has in local memory of a load, for a step of a summed axis. Where a window goes along an axis
 * both meet in the same elements, which are there once: a copy goes through those of one of the two. */
struct panel {
    int expr;
    int first; /* the axis whose elements lie side by side */
    bool
        by_lanes; /* neighbours read others of its elements: else all work-items of a team read the same */
    bool
        in_turn; /* a work-item copies a tile of `first`, which is not what memory runs along, to store it at once */
    int pitch
        [NEST_AXES]; /* words from one element of an axis to the next; 0: the panel has no such axis */
    int32_t box[NEST_AXES]; /* what a copy goes through of an axis; 0: nothing */
    int32_t low[NEST_AXES]; /* the first of that, from where the group begins */
    int begin, words;       /* in the group's local memory */
};
#define MOST_PANELS 2

/* Items: how a group reads operands through local memory (staging.c). */
struct staging {
    int panels; /* 0: it does not */
    struct panel panel[MOST_PANELS];
    int axis, step; /* the summed axis, and how much of it is there at a time */
    int lanes,
        teams;  /* so many work-items along the lanes' axis, so many times; others only copy, */
    int across; /* and the axis along which these teams have tiles, or -1 */
};

/* Work-items of a group that compute. */
static inline int staging_items(const struct staging *g)
{
    return g->lanes * g->teams;
}

/* OUT axes of a product's factor that is to be copied for all rows (packing.c): their loops go around all others, and a tile
 * has only so many registers along them. */
struct strips {
    uint32_t axes; /* a bit for each; 0: nothing is to be copied */
    int registers;
};

/* How a nest runs: made by 4_schedule. It changes no result. */
struct schedule {
    int lane_axis;        /* not batched: the axis whose elements are lanes, or -1 */
    uint64_t sum;         /* what target_tile() knows it by; 0: there are no tiles to choose from */
    int tile[NEST_AXES];  /* unrolled; 1: a plain loop */
    int order[NEST_AXES]; /* loops over OUT axes but the lane, the outermost first */
    int squares_axis; /* of a map: the loop inside that over lanes, since it goes along memory; or -1 */
    int split_axis; /* OUT axis divided among groups, or parts of one when batched; or -1 */
    int split_step; /* in multiples of so many elements */
    const struct slices *slices; /* of parts */
    int groups;                  /* that share it so */
    int workers; /* units that will, each with equally many tiles if it can be; 0: one unit alone */
    /* The last tile along an axis of the result, and the last register of lanes, may begin among the elements of the one
     * before, and compute these again: of sums, which write nothing that they read (3_kernels/hazards.c). */
    bool overlaps;
    bool uniform;      /* work-items: all teams of a group have the same tile */
    bool by_registers; /* a copy turns 16 by 16 elements over in registers */
    struct panels panels;
    int packed; /* which factor of a product is copied for all rows (packing.c); -1: neither */
    struct strips strips;
    bool
        in_strips; /* it lies in memory as its copy would (2_nests/strips.c), so that none is made */
    int packed_outside; /* loops of `order` that are outside of that over the lanes then */
    struct staging staging;
    int lanes_at_once; /* accumulators whose lanes a team adds up between two barriers; 0: all */
    bool far_sums; /* work-items: running sums are in memory, and registers left to accumulators */
};

/* Nests of kernel k, in order: nest[begin[k]] to nest[begin[k + 1] - 1]. */
struct kernel_nests {
    int *begin, *nest;
};

struct program_ir {
    struct arena *arena;
    struct module *module;
    const struct target *target;
    struct value *values;
    int value_count, value_capacity;
    struct nest *nests;
    int nest_count, nest_capacity;
    struct placement *placements; /* of each nest; NULL before 3_kernels */
    struct schedule *schedules;   /* likewise, 4_schedule */
    struct kernel_nests nests_of; /* as the placements say; made by 3_kernels, too */
    int first_root;               /* nests from here on write what leaves the plan */
    int kernel_count;
    int once; /* so many kernels first are for all steps of a loop, or for all runs until what is fixed changes: made by 3_kernels */
    bool repeats;          /* the only other kernel does all steps of a loop: likewise */
    int group_size;        /* work-items of a group */
    uint32_t shared_count; /* values in shared memory */
    int blocks, groups;    /* of batched sections */
    int *parts;            /* by kernel: groups that share the blocks of one; NULL: 1 */
    int *workers;          /* by kernel: who does the groups one after the other; NULL, 0: nobody */
    int *row_workers;      /* likewise those of its chain of rows */
    size_t arena_bytes, kept_bytes;
};

int value_add(struct program_ir *p, enum value_place place, enum layout layout, uint32_t slot,
              tarn_shape shape, tarn_dtype dtype);
struct nest *nest_add(struct program_ir *p);
int expr_add(struct program_ir *p, struct nest *n, const struct expr *e);
/* Gives a nest that is a copy of another one expressions of its own. False without memory. */
bool nest_own_exprs(struct program_ir *p, struct nest *n);
/* For people: the op at the core of the nest that makes a value, or a piece of it. */
const char *value_maker(const struct program_ir *p, int value);
/* The elements that there are of a load's value, or in blocks of a sample of it, as its address counts them: [from, to); and
 * whether it stays among these wherever the axes are. */
struct elements {
    int64_t from, to;
};
struct elements access_elements(const struct program_ir *p, const struct access *x);
bool access_stays_inside(const struct program_ir *p, const struct nest *n, const struct access *x);
/* Whether an expression is the same for all elements along an axis, as far as can be told. */
bool expr_is_alike(const struct nest *n, int expr, int axis);
/* Lets loads of one value read another; returns how many. */
int nest_read_instead(struct nest *n, int value, int instead);
/* Changes each index in a nest, but the addresses of its stores. */
typedef void affine_change(struct affine *e, int axis, int32_t by);
void nest_change_indices(struct nest *n, affine_change *change, int axis, int32_t by);
/* Makes an axis two: runs of so many elements, of which the last may be shorter, and the elements of one; but not in the
 * addresses of its stores, and OUT axes are as many as before. */
void nest_into_runs(struct nest *n, int axis, int32_t run);
/* The same of an OUT axis, with the addresses of its stores, which is one OUT axis more. */
void nest_split_axis(struct nest *n, int axis, int32_t run);
/* How many elements of a value a nest reads by an expression; 0: it is no load. */
double nest_elements_read(const struct nest *n, const struct expr *e);
/* The axis whose elements are the lanes of a register; -1: none. */
static inline bool nest_has_batch_lanes(const struct nest *n)
{
    return n->batched && !n->by_sample;
}
/* The nests of a kernel, for loops from `at` to `end`. */
struct nest_range {
    const int *at, *end;
};
static inline struct nest_range kernel_nests(const struct program_ir *p, int kernel)
{
    return (struct nest_range){ p->nests_of.nest + p->nests_of.begin[kernel],
                                p->nests_of.nest + p->nests_of.begin[kernel + 1] };
}
static inline int kernel_parts(const struct program_ir *p, int kernel)
{
    return p->parts != NULL ? p->parts[kernel] : 1;
}
static inline bool kernel_repeats(const struct program_ir *p, int kernel)
{
    return p->repeats && kernel >= p->once;
}
static inline int kernel_workers(const struct program_ir *p, int kernel)
{
    return p->workers != NULL ? p->workers[kernel] : 0;
}
static inline int kernel_row_workers(const struct program_ir *p, int kernel)
{
    return p->row_workers != NULL ? p->row_workers[kernel] : 0;
}
/* Elements of one sample of a value in a room, and of what each worker has of that. */
static inline int64_t value_run(const struct program_ir *p, const struct value *v)
{
    return tarn_shape_count(v->shape) / p->module->samples;
}
static inline int64_t value_room(const struct program_ir *p, const struct value *v, int kernel)
{
    return (int64_t)(p->values[v->room - 1].bytes / (size_t)p->row_workers[kernel] /
                     tarn_dtype_bytes(v->dtype));
}
/* Groups of the device that share the batch blocks of a kernel. */
static inline int kernel_shares(const struct program_ir *p, int kernel)
{
    const int workers = kernel_workers(p, kernel);
    return workers > 0 ? workers : p->groups * kernel_parts(p, kernel);
}
static inline int nest_vector_axis(const struct nest *n, const struct schedule *s)
{
    return nest_has_batch_lanes(n) ? n->batch_axis : s->lane_axis;
}
static inline struct placement *placement_of(const struct program_ir *p, const struct nest *n)
{
    return &p->placements[n - p->nests];
}
static inline struct schedule *schedule_of(const struct program_ir *p, const struct nest *n)
{
    return &p->schedules[n - p->nests];
}
/* What a group of a chain does of an OUT axis; all of it without a chain. */
static inline int32_t chain_slice(const struct program_ir *p, const struct nest *n, int axis)
{
    const struct placement *at = placement_of(p, n);
    return at->chain >= 0 && axis == at->part_axis ? n->extent[axis] / at->parts : n->extent[axis];
}
/* Whether it is code of its kernel. */
static inline bool nest_is_code(const struct nest *n)
{
    return n->kind == NEST_LOOPS || n->kind == NEST_ROUTINE;
}
/* Whether the result is the position of the value that the nest looks for. */
static inline bool nest_searches(const struct nest *n)
{
    return n->combine == COMBINE_REDUCE && n->by->found != NULL;
}
/* Whether functions of the driver are called, which may have other bits for registers than for single elements: those of
 * float64. All others are Tarn's own (kernels/math.cl). */
static inline bool nest_calls_driver(const struct nest *n)
{
    for (int e = 0; e < n->expr_count; e++)
        if (n->exprs[e].kind == EXPR_MAP && n->exprs[e].heavy && n->exprs[e].dtype == TARN_F64)
            return true;
    return false;
}
static inline int nest_red_axes(const struct nest *n)
{
    return n->axes - n->out_axes;
}

#endif
