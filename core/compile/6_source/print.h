/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by print_kernel.c (kernels), print_nest.c and print_items.c (nests), print_body.c (sums), and print_expr.c
 * (expressions). */
#ifndef TARN_PRINT_H
#define TARN_PRINT_H

#include "compile/chunk.h"
#include "compile/kernel_plan.h"

#define NAME 64

/* An axis as the code at this point sees it: variable + constant. */
struct axis_now {
    char variable[64]; /* "": none */
    int32_t constant;
    int32_t step; /* the variable is a multiple of this */
    int32_t high; /* and lies in [0, high] */
};

/* Statements seen before in this scope: the same right side is printed once. */
struct known {
    uint64_t hash;
    int before; /* of the same bucket, as in the printer */
    char *text;
    size_t length;
    char name[NAME];
};
#define KNOWN_BUCKETS 256

/* Squares of 16 by 16 elements that the rounds of a loop read or write (print_squares.c). */
#define MOST_SQUARES 16 /* a KiB each: together half of a small first cache */
struct squares {
    int axis;                  /* of the loop */
    size_t at;                 /* where the output gets what fills them */
    int indent;                /* there */
    struct text text;          /* what fills them */
    char *first[MOST_SQUARES]; /* where each begins in memory */
    int count;
    bool written[NEST_STORES]; /* whether a store of the nest has a square */
    int written_count;
};

struct printer {
    struct program_ir *p;
    int kernel;
    const int *nests; /* of the kernel, in order */
    int nest_count;
    int *values; /* of the kernel, in the order in which its nests name them */
    int value_count;
    struct nest *n;
    const struct schedule *s;     /* of the nest */
    struct text *out, *functions; /* a kernel, and what it calls */
    int parts; /* of a block of samples, in the section whose nests are printed */
    int indent, width, temporaries;
    struct axis_now axis[NEST_AXES];
    bool items; /* a lane is a work-item: width is 1, and the batch axis an axis like others */
    int turns;  /* items: how often a group goes through the kernel, a block of a row each time */
    int lane_axis; /* -1 when width is 1 */
    bool inside;   /* all guards of the body's points hold, but for those that never do */
    const struct sum_loops *sum; /* whose loops are open; else NULL */
    struct squares *squares;     /* of the innermost loop; NULL: it reads none */
    uint32_t guards_met;         /* guards that the bounds of the open loops imply, one bit each */
    bool tail;                   /* the last batch block is not full */
    char mask[NAME];             /* lanes that may be read; "": all */
    char acc[NAME];
    struct known *known;
    int known_count, known_capacity;
    int newest[KNOWN_BUCKETS]; /* by hash: 1 + the one that was remembered last; 0: none */
};

void print_line(struct printer *pr, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "float", "int16", ... of a register. */
const char *register_name(tarn_dtype dtype, int width);
/* "float", "int" or "uchar": what a value's elements are in memory, which is in value_space(). */
const char *memory_type(const struct value *v);
const char *value_space(const struct value *v);
/* Scalar part of an affine index (without the lane), and the lane's factor. */
void print_affine(const struct printer *pr, const struct affine *e, struct text *t);
int lane_factor(const struct printer *pr, const struct affine *e);
/* An index as a register of int lanes (a plain int at width 1). */
void lanes_of(const struct printer *pr, const struct affine *e, struct text *t);

/* "36 * b + ": where batch block b begins in a blocked value, in vectors; "" where one block is all
 * that there is of it. */
struct short_text {
    char text[32];
};
struct short_text block_start(const struct value *v);

/* Whether a guard may hold for some lanes of a register and not for others. */
bool guard_divides_lanes(const struct printer *pr, const struct guard *g);
enum verdict { NEVER, ALWAYS, DEPENDS };
/* Whether a guard holds here; when it depends, `t` gets the condition (scalar, or of lanes). */
enum verdict print_guard(struct printer *pr, const struct guard *g, struct text *t, bool *lanes);

/* Adds to `t` what is read (print_load.c), and prints what that takes. */
void load_text(struct printer *pr, const struct expr *e, struct text *t);
/* Prints what computes an expression; `name` gets what to call it. */
void print_expr(struct printer *pr, int expr, char name[NAME]);
/* The same for a transform (print_transform.c), whose row and column must be constants here. */
void print_transform(struct printer *pr, const struct expr *e, char name[NAME]);
/* Names a right side, which it takes: an earlier name when the same was computed before in this
 * scope. */
void print_define(struct printer *pr, const char *type, struct text *right, char name[NAME]);
/* The float constant 0 as the name of a value, and whether a name is it. */
void print_zero(const struct printer *pr, char name[NAME]);
bool print_is_zero(const struct printer *pr, const char *name);
/* What the letters x, y, z of an op's code stand for, then a and b. */
struct code_names {
    char of[3 + MAP_SCALARS][NAME];
    bool doubles; /* registers are double: TARN_ macros get F64 for their width */
};
/* The bits of a constant, the upper half of 64 in `high`, as a register of this width. */
void constant_text(tarn_dtype dtype, uint32_t bits, uint32_t high, int width, struct text *t);
/* The same of a number, of float32 or float64. */
void scalar_text(tarn_dtype dtype, double value, int width, struct text *t);
/* Applies OpenCL C to registers: TARN_ macros get the width. */
void expand_code(const char *code, const struct code_names *names, int width, struct text *t);
void known_reset(struct printer *pr, int count);

/* The variable that counts all groups of a section: with parts `group` counts those of blocks. */
static inline const char *group_name(const struct printer *pr)
{
    return pr->parts > 1 ? "share" : "group";
}

/* What the driver may make of the loop that follows. */
void print_hints(struct printer *pr, int unroll);
/* The driver must not unroll what the schedule left as a loop: code would grow manyfold. */
#define print_for(pr, ...) \
    do { \
        print_hints(pr, 1); \
        print_line(pr, __VA_ARGS__); \
        ++(pr)->indent; \
    } while (0)
void close_loops(struct printer *pr, int count);
/* Adds accumulators of a partial sum to the group's row, many at once; returns how many of the
 * `points` are done. */
#define ROWS_LEAST 4 /* of fewer accumulators each is summed for itself */
int print_sums(struct printer *pr, int points);
/* Adds one accumulator whose lanes lie side by side in the row. */
void print_own_row(struct printer *pr, int point);
/* What turns over 16 by 16 elements of a value in registers. */
static inline const char *turning(const struct printer *pr, const struct value *v)
{
    return pr->p->target->vector.width > 1 && tarn_dtype_bytes(v->dtype) == sizeof(float)
               ? "TARN_TURN_8"
               : "TARN_TURN_16";
}
/* Prints a nest that only copies between layouts (nest.copy). */
void print_copy(struct printer *pr);
/* Prints a routine's call for the pieces from `low` to `high` - 1. */
void print_routine(struct printer *pr, const char *low, const char *high);
/* Makes nest number `index` the one that is printed. */
static inline void take_nest(struct printer *pr, int index)
{
    pr->n = &pr->p->nests[index];
    pr->s = &pr->p->schedules[index];
}
/* Prints the printer's nest as a block of statements; and for a CPU as a function, and what calls it (print_function.c). */
void print_nest(struct printer *pr);
void print_call(struct printer *pr);

/* The parts of a nest that are alike for all schedules. An axis becomes the variable i0, i1, ... in
 * steps, or a constant; then come the OUT axes' unrolled points (false: there is none). */
void set_loop(struct printer *pr, int axis, int32_t step);
void set_constant(struct printer *pr, int axis, int32_t value);
/* Sets the unrolled OUT axes to point number `point` of the tile; false when there is none. */
bool set_tile_point(struct printer *pr, int from, int to, int point);
/* How many points there are. */
int tile_points(const struct printer *pr, int from, int to);
/* Opens the loop of an axis, and returns 1; 0 where it is unrolled altogether. */
int open_loop(struct printer *pr, int axis);
/* The loop of a summed axis over what guards leave of it, which are met inside; false, and nothing printed: none is about
 * this axis alone. */
bool open_inside_guards(struct printer *pr, int axis, const char *index);
/* Opens the loop of an axis, which has no other in it: around it one over squares, where there are some. Returns
 * how many loops it opened. */
int open_squares(struct printer *pr, struct squares *q, int axis);
/* Adds to `t` what a load is called in a square; false where it is in none. */
bool square_text(struct printer *pr, const struct access *a, struct text *t);
/* Puts a result into a square, which is written after the loop; false where it is in none. */
bool square_store(struct printer *pr, const struct store *s, const char *value);
/* After what is in the loop. Returns how many loops it closed. */
int close_squares(struct printer *pr, struct squares *q);
/* Copies the factor of a product that its rows share (print_packed.c), */
void print_packing(struct printer *pr);
/* and prints one of the nest's body, or what it is called in the copy. */
void print_factor(struct printer *pr, int factor, char name[NAME]);
/* Within the loops of the sum, asks for what the next tile reads of a factor in strips. */
void print_ahead(struct printer *pr);
/* What changes no accumulator, and the prelude's function that combines the lanes of one. */
const char *identity(const struct nest *n);
struct short_text lanes_function(const struct nest *n);
void declare_accumulators(struct printer *pr);
/* The sum of two registers of the accumulators' type, of the printer's width; integers wrap. */
#define SUM_TEXT 256
void sum_text(const struct printer *pr, const char *a, const char *b, char out[SUM_TEXT]);
/* Combines value `v` into accumulator `acc`; both of the printer's width. */
void combine_line(struct printer *pr, const char *acc, const char *v);
/* The accumulators have the sums of what was left over by the lanes: combines these, sum0, ... */
void combine_lane_sums(struct printer *pr);
/* The loop of a summed axis whose lanes are added up: full vectors, or the rest. */
int open_lanes(struct printer *pr, int lane, bool rest);
/* What is combined or multiplied, for all unrolled points. */
void print_body(struct printer *pr);
/* The condition of all guards of a sum at the current point of its tile; *lanes: it is one of lanes. */
enum verdict guards_here(struct printer *pr, struct text *t, bool *lanes);
void describe_nest(struct printer *pr);
/* Accumulators, loops of the sum and results of one tile. */
void print_tile(struct printer *pr);
/* The loop of the vector axis, an OUT axis, and print_tile() in it. */
void print_out_lanes(struct printer *pr);
/* What is inside the loop over lanes, or around all samples of a block: a tile, or the loop of those that read squares, or
 * those over rows that share a copy. */
void print_lane_body(struct printer *pr);
/* What becomes of the accumulators of a tile. */
void print_tile_results(struct printer *pr);
/* All loops of a nest whose schedule has panels. */
void print_panels(struct printer *pr);

/* The loops of a sum, and around them those over its chunks; `index` is the type of their
 * variables. First sum_begin(); for each summed axis sum_cut(), then its own loop, of which
 * sum_opened() is told; after the body sum_end(), which leaves the sums in the accumulators. */
struct sum_loops {
    struct chunks c;
    const char *index;
    bool rest;                               /* as of nest_chunks() */
    int level[NEST_AXES + CHUNK_LEVELS + 2]; /* of open loops: of chunks, of panels, or -1 */
    int loops;
    int cut_axis, cut_level; /* of the chunk opened last, from cut0 to end0, cut1 to end1, ... */
};
void sum_begin(struct printer *pr, struct sum_loops *l, bool rest, const char *index);
void sum_cut(struct printer *pr, struct sum_loops *l, int axis);
void sum_opened(struct sum_loops *l, int loops);
void sum_end(struct printer *pr, struct sum_loops *l);
/* Where the loop of an axis begins and ends. */
struct loop_range {
    char from[24], to[24];
};
struct loop_range loop_range(const struct printer *pr, int axis);

/* The functions of kernels/math.cl that a kernel calls, to stand before it. */
void print_math(const char *kernel, struct text *out);

/* For GPUs (print_items.c). The type of indices of a nest; whether groups do it in a chain; what depends on the batch block
 * b; the tile with number `from`; the loops over summed axes, of a sum along lanes those after the last full 16, with the
 * body; the results of a tile, each store under a condition. */
const char *item_index_type(const struct printer *pr);
bool item_in_chain(const struct printer *pr);
void print_block(struct printer *pr);
void print_tile_axes(struct printer *pr, const char *from);
void print_item_sum(struct printer *pr, bool rest);
int open_red(struct printer *pr, int axis, bool rest, int unroll);
void print_item_results(struct printer *pr, const char *condition);
/* Of a nest with barriers of its own, whose groups begin with number `start`: whether this group is one (`mine`), whether the
 * work-item is one of so many that compute, where others only copy (`busy`), and the group's number. */
void print_mine(struct printer *pr, int start, int items, const char *group);
/* Sums over the lanes of a team (print_team_sums.c): what comes before a barrier, and after it, of rows of samples and of
 * others; rows that have barriers of their own, of groups from number `start` on; rows without lanes, which need none. */
int team_lanes_at_once(const struct nest *n, const struct schedule *s);
void print_row_terms(struct printer *pr);
void print_row_sums(struct printer *pr);
void print_lane_terms(struct printer *pr);
void print_lane_sums(struct printer *pr);
void print_rows_in_turn(struct printer *pr, int start);
void print_sample_rows(struct printer *pr);
/* Rows that a work-item adds up sample by sample: `begun` says that one has a block already. */
void declare_rows(struct printer *pr);
void add_to_rows(struct printer *pr, const char *begun);
void store_rows(struct printer *pr);
/* Prints a nest that reads through local memory, whose groups begin with number `start`. */
void print_staged_nest(struct printer *pr, int start);
/* Adds to `t` what a load is called in local memory; false where it is not there. */
bool panel_text(struct printer *pr, const struct expr *e, struct text *t);
/* For a GPU: who a work-item is, and local memory; then all nests of a kernel, with their groups. */
void print_team(const struct program_ir *p, int kernel, struct text *out);
void print_nests_gpu(struct printer *pr, struct planned_kernel *k);

#endif
