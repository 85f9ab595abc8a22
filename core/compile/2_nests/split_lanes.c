/* SPDX-License-Identifier: Apache-2.0 */
/* Sums whose lanes have several elements of the result each. The axis of the lanes becomes two, one of which is theirs,
 * and the schedule unrolls the other. In: flattened nests. Out: such nests with an axis more. No sum changes its order:
 * each element of the result has an accumulator of its own before and after.
 *
 * Vectors: sums that read nothing twice, and products of few rows. A register of lanes is one accumulator, and each addition
 * waits for the one before it: so there must be several, and registers side by side are read in longer runs of memory than
 * others. And products of many rows or long sums, whose tiles need fewer loads for each multiply-add if they are about as wide
 * as high.
 *
 * Work-items: of a product, a tile along other axes alone loads all of the operand that these do not share for each column.
 * Columns of a work-item are a run of the axis apart, so that those of neighbours still lie side by side. */
#include "compile/2_nests/nest_passes.h"
#include "compile/lane.h"
#include "tensor/sum_order.h"

#define MOST_COLUMNS 4 /* of a work-item: with as many rows, half a load for a multiply-add */

/* Elements of the other operands lie apart where lanes are turned over, in squares that fill the registers. */
static bool lies_apart(const struct nest *n, int lane)
{
    for (int e = 0; e < n->expr_count; e++)
        if (n->exprs[e].kind == EXPR_LOAD && n->exprs[e].access.address.k[lane] > 1)
            return true;
    return n->store[0].address.k[lane] != 1;
}

/* The axis becomes runs of so many elements. */
static void split_axis(struct nest *n, int axis, int32_t run)
{
    n->runs = axis;
    n->over = (run - n->extent[axis] % run) % run;
    nest_split_axis(n, axis, run);
    n->sample_lane += n->by_sample; /* the lanes are within a run */
    n->batch_axis += n->batched && n->batch_axis > axis;
}

static bool has_guard_along(const struct nest *n, int axis)
{
    for (int g = 0; g < n->guards; g++)
        if (n->guard[g].e.k[axis] != 0)
            return true;
    return false;
}

/* Whether the last run of lanes may end behind the result, so that the last tile of runs begins earlier by less than one: there
 * is another tile before it, and nothing is asked about where a register begins. */
static bool may_end_behind(const struct nest *n, int lane)
{
    for (int e = 0; e < n->expr_count; e++) {
        const struct expr *x = &n->exprs[e];
        for (int i = 0; x->kind == EXPR_LOAD && i < x->access.part_count; i++)
            if (x->access.part[i].index.e.k[lane] != 0)
                return false;
        for (int g = 0; x->kind == EXPR_GUARD && g < x->guards; g++)
            if (x->guard[g].e.k[lane] != 0)
                return false;
    }
    return n->extent[lane] > 2 * LANES && !nest_calls_driver(n);
}

/* Whether an operand is the same for all elements along the axis. */
static bool shares_operand(const struct nest *n, int axis)
{
    for (int e = 0; e < n->expr_count; e++)
        if (n->exprs[e].kind == EXPR_LOAD && !access_uses(&n->exprs[e].access, axis))
            return true;
    return false;
}

/* What is read of the factor that goes along the lanes, if the other one does not: NULL there is none. */
static const struct access *access_along(const struct nest *n, int axis)
{
    for (int f = 0; f < 2; f++) {
        const struct expr *e = &n->exprs[n->body[f]], *other = &n->exprs[n->body[1 - f]];
        if (e->kind == EXPR_LOAD && access_uses(&e->access, axis) &&
            !(other->kind == EXPR_LOAD && access_uses(&other->access, axis)))
            return &e->access;
    }
    return NULL;
}

/* Whether several registers side by side are read in longer runs of memory, and are accumulators enough; or take fewer loads for
 * each multiply-add: where so many rows read them alike that they are copied for all of them (4_schedule/packing.c), and where
 * sums are so long that rows are few next to what each reads. */
static bool gains_by_tiles(const struct program_ir *p, const struct nest *n, int lane)
{
    const struct vector_figures *v = &p->target->vector;
    const struct access *along = n->combine == COMBINE_FMA ? access_along(n, lane) : NULL;
    int64_t rows = 1, steps = 1;
    for (int a = 0; a < n->axes; a++)
        if (a >= n->out_axes)
            steps *= n->extent[a];
        else if (along != NULL && !access_uses(along, a))
            rows *= n->extent[a];
    if (along == NULL) /* no two rows read the same; of short sums several are under way at once */
        return steps > v->unrolled_sum;
    return rows < v->accumulators || steps > TARGET_PACKED_STEPS || target_packs(v, steps, rows);
}

static void split_for_vectors(const struct program_ir *p, struct nest *n)
{
    const int lane = nest_lane(n);
    if (!n->batched && n->guards == 0 && lane >= 0 && lane < n->out_axes &&
        n->extent[lane] > LANES && !lies_apart(n, lane) &&
        (n->extent[lane] % LANES == 0 || may_end_behind(n, lane)) && gains_by_tiles(p, n, lane))
        split_axis(n, lane, LANES);
}

static void split_for_items(struct nest *n)
{
    const int lane = n->by_sample ? n->sample_lane : nest_item_lane(n);
    if ((n->batched && !n->by_sample) || lane < 0 || lane >= n->out_axes ||
        has_guard_along(n, lane) || !shares_operand(n, lane))
        return;
    for (int columns = MOST_COLUMNS; columns > 1; columns /= 2)
        if (n->extent[lane] % (columns * 2 * LANES) == 0) {
            split_axis(n, lane, n->extent[lane] / columns);
            return;
        }
}

void split_lanes(struct program_ir *p)
{
    for (int i = 0; i < p->nest_count; i++) {
        struct nest *n = &p->nests[i];
        if (n->kind != NEST_LOOPS || n->transformed || n->axes == NEST_AXES ||
            !(n->combine == COMBINE_FMA || (n->combine == COMBINE_REDUCE && !p->target->items)))
            continue;
        if (p->target->items)
            split_for_items(n);
        else
            split_for_vectors(p, n);
    }
}
