/* SPDX-License-Identifier: Apache-2.0 */
/* Long sums for devices of many units: each chunk becomes an element of a nest, and another nest adds
 * up what they come to; so do the lanes of a sum along them. One team would go through all terms
 * otherwise, and so would one unit with vectors, where a sum has fewer elements than there are
 * units. In: the nest of a sum. Out: nests that make it in the same order, and the last of them,
 * unfinished. */
#include <string.h>

#include "compile/2_nests/lowering.h"
#include "compile/chunk.h"
#include "tensor/sum_order.h"

#define TILE 4 /* elements of a product's result: a smaller one loads more than it multiplies */

/* The axis of the result that lies along memory, and is long enough for lanes; -1: none. */
static int lane_along(const struct nest *n)
{
    for (int a = n->out_axes - 1; a >= 0; a--)
        if (n->extent[a] >= LANES && n->store[0].address.k[a] == 1)
            return a;
    return -1;
}

/* Whether each lane has a sum of its own, of a sample or an element, and the nests that make it have such lanes, too. */
static bool has_own_lanes(const struct nest *n)
{
    return n->batched || (nest_shared_axis(n) < 0 && lane_along(n) >= 0);
}

/* Whether each element has one sum, and no lanes: of few elements, whose last summed axis is shorter than they are. */
static bool has_no_lanes(const struct nest *n)
{
    return !has_own_lanes(n) && nest_shared_axis(n) < 0;
}

/* Whether an operand of a product lies across the lanes, as weights in rows do: then it goes through local memory
 * (4_schedule/staging.c), which takes fewer rounds than there are terms. */
static bool has_turned_operand(const struct nest *n)
{
    const int along = n->batched || n->combine != COMBINE_FMA ? -1 : lane_along(n);
    for (int e = 0; along >= 0 && e < n->expr_count; e++)
        if (n->exprs[e].kind == EXPR_LOAD && n->exprs[e].access.address.k[along] != 0 &&
            n->exprs[e].access.address.k[along] != 1)
            return true;
    return false;
}

/* Terms that a lane adds up one after the other, and teams that do so. */
static int64_t terms_of(const struct lowering *l, const struct nest *n, int64_t *teams)
{
    int64_t terms = 1;
    *teams = n->partial ? l->p->groups : n->batched ? l->p->blocks : 1;
    for (int a = 0; a < n->axes; a++)
        if (!n->batched || a != n->batch_axis)
            *(a < n->out_axes ? teams : &terms) *= n->extent[a];
    if (n->partial)
        return terms * n->extent[n->batch_axis] / LANES / l->p->groups;
    if (has_own_lanes(n)) {
        *teams = n->batched ? *teams : (*teams + LANES - 1) / LANES;
        return terms;
    }
    return has_no_lanes(n) ? terms : terms / LANES;
}

/* Whether each lane would add up many terms, and units could have more teams: those of products have tiles, each of
 * several elements of the result. Where most of what units can hold lies idle, two chunks are many. */
static bool is_long_for_items(const struct item_figures *f, const struct nest *n, int64_t terms,
                              int64_t teams)
{
    const int64_t room = (int64_t)f->units * f->resident_teams;
    return terms > f->lane_sum_terms
               ? teams < (n->combine == COMBINE_FMA ? TILE * room : room)
               : terms >= 2 * SUM_CHUNK && terms / SUM_CHUNK * teams <= room / 4;
}

/* Whether some units would wait for others, which read more than they do until another kernel is launched. */
static bool is_long_for_vectors(const struct target *t, const struct nest *n, int64_t terms,
                                int64_t teams)
{
    return n->combine == COMBINE_REDUCE && !n->batched && !n->partial && teams < t->vector.units &&
           (double)(terms * teams) * t->vector.second_line_cycles > t->fusion.alone_work;
}

static bool is_long(const struct lowering *l, const struct nest *n)
{
    const struct target *t = l->p->target;
    int64_t teams;
    const int64_t terms = terms_of(l, n, &teams);
    return nest_chunks(n, false).levels > 0 && n->axes + 2 <= NEST_AXES &&
           (t->items ? is_long_for_items(&t->item, n, terms, teams)
                     : is_long_for_vectors(t, n, terms, teams));
}

bool splits_sum(const struct lowering *l, const struct nest *n)
{
    if (n->partial || n->combine == COMBINE_NONE || n->guards == 2 * TARN_MAX_RANK ||
        has_turned_operand(n))
        return false;
    const bool adds_lanes = n->combine == COMBINE_REDUCE && nest_shared_axis(n) >= 0;
    return (has_own_lanes(n) || has_no_lanes(n) || adds_lanes) && is_long(l, n);
}

bool splits_rows(const struct lowering *l, const struct nest *n)
{
    return n->partial && !n->by_sample && n->batch_axis == n->out_axes &&
           n->guards < 2 * TARN_MAX_RANK && is_long(l, n);
}

/* ---- axes ----------------------------------------------------------------------------------- */

/* The axis begins at element `by`. */
static void begin_at(struct affine *e, int axis, int32_t by)
{
    e->constant += e->k[axis] * by;
}

/* The last axis moves to `axis`, out of `by` axes. */
static void move_last(struct affine *e, int axis, int32_t by)
{
    const int32_t k = e->k[by - 1];
    memmove(&e->k[axis + 1], &e->k[axis], (size_t)(by - 1 - axis) * sizeof *e->k);
    e->k[axis] = k;
}

/* Cuts an axis into runs; where the last one is shorter, what it lacks adds nothing. */
static int split_axis(struct lowering *l, struct nest *n, int axis, int32_t run)
{
    const int32_t extent = n->extent[axis];
    nest_into_runs(n, axis, run);
    if (extent % run == 0)
        return 0;
    struct guard inside = { .divide = 1, .extent = extent };
    inside.e.k[axis] = run;
    inside.e.k[axis + 1] = 1;
    if (n->combine == COMBINE_FMA) {
        n->guard[n->guards++] = inside;
        return 0;
    }
    struct expr guarded = { .kind = EXPR_GUARD, .dtype = n->acc_dtype, .args = 1, .guards = 1 };
    guarded.arg[0] = n->body[0];
    guarded.guard[0] = inside;
    n->body[0] = expr_add(l->p, n, &guarded);
    return n->body[0] < 0 ? lower_fail(l, TARN_ERR_MEMORY) : 0;
}

/* Chunks and lanes become elements of the result. */
static int take_chunks(struct lowering *l, struct nest *n)
{
    const struct chunks c = nest_chunks(n, false);
    const int last = n->axes - 1, axis = c.of[0].axis;
    const int32_t step = axis == last ? c.of[0].step / LANES : c.of[0].step;
    n->extent[last] = n->extent[last] / LANES * LANES;
    if (split_axis(l, n, last, LANES) < 0 || split_axis(l, n, axis, step) < 0)
        return -1;
    nest_change_indices(n, move_last, axis + 1, n->axes);
    memmove(&n->extent[axis + 2], &n->extent[axis + 1],
            (size_t)(n->axes - axis - 2) * sizeof *n->extent);
    n->extent[axis + 1] = LANES;
    n->out_axes = axis + 2;
    n->red_last = false;
    return 0;
}

/* ---- nests ---------------------------------------------------------------------------------- */

/* Ends a nest with a value of its own, which is blocked where it has the batch. `along`: the axis along memory, or -1. */
static int store_sums(struct lowering *l, struct nest *n, int along)
{
    struct store s = { .expr = -1, .in_block = n->batched };
    int32_t count = along < 0 ? 1 : n->extent[along];
    if (along >= 0)
        s.address.k[along] = 1;
    for (int a = n->out_axes - 1; a >= 0; a--) {
        if (a == along || (n->batched && a == n->batch_axis))
            continue;
        s.address.k[a] = count;
        count *= n->extent[a];
    }
    const tarn_shape shape =
        n->batched ? TARN_SHAPE(n->extent[n->batch_axis], count) : TARN_SHAPE(count);
    s.value = value_add(l->p, PLACE_ARENA, n->batched ? LAYOUT_BLOCKED : LAYOUT_PLAIN, 0, shape,
                        n->acc_dtype);
    if (s.value < 0)
        return lower_fail(l, TARN_ERR_MEMORY);
    n->store[0] = s;
    n->stores = 1;
    n->part = true;
    return lower_append(l, n);
}

static int load_sums(struct lowering *l, struct nest *n, const struct nest *from)
{
    struct expr e = { .kind = EXPR_LOAD, .dtype = from->acc_dtype };
    e.access.value = from->store[0].value;
    e.access.address = from->store[0].address;
    e.access.in_block = from->store[0].in_block;
    e.access.gather = -1;
    const int at = expr_add(l->p, n, &e);
    return at < 0 ? lower_fail(l, TARN_ERR_MEMORY) : at;
}

/* An empty nest that adds up what `from` leaves, to as many axes of the result as `like` has. */
static struct nest sum_of(struct lowering *l, const struct nest *from, int out_axes)
{
    struct nest n = lower_nest(l, from->name);
    n.out_axes = out_axes;
    n.axes = from->out_axes;
    memcpy(n.extent, from->extent, (size_t)n.axes * sizeof *n.extent);
    n.combine = COMBINE_REDUCE;
    n.by = from->by;
    n.acc_dtype = from->acc_dtype;
    n.part = true;
    return n;
}

/* The sum of the lanes and that of the rest, which both have values: a sum of one term. */
static int join_rest(struct lowering *l, const struct nest *lanes, const struct nest *rest,
                     struct nest *n)
{
    *n = sum_of(l, lanes, lanes->out_axes);
    n->extent[n->axes++] = 1;
    struct expr both = { .kind = EXPR_MAP, .dtype = n->acc_dtype, .code = n->by->code, .args = 2 };
    both.arg[0] = load_sums(l, n, rest);
    both.arg[1] = load_sums(l, n, lanes);
    n->body[0] = both.arg[0] < 0 || both.arg[1] < 0 ? -1 : expr_add(l->p, n, &both);
    return n->body[0] < 0 ? lower_fail(l, TARN_ERR_MEMORY) : 0;
}

/* What the nests together make. */
static const struct nest *keep_whole(struct lowering *l, const struct nest *n)
{
    struct nest *whole = arena_take(l->p->arena, sizeof *whole);
    if (whole == NULL) {
        lower_fail(l, TARN_ERR_MEMORY);
        return NULL;
    }
    *whole = *n;
    whole->part = true;
    return whole;
}

/* Chunks of the terms of each sample, or element, become elements; the lanes stay what they are. Where there were none, the
 * sum of chunks has an axis of one term behind them, or they would become its lanes. */
int split_rows(struct lowering *l, struct nest *n)
{
    const int out_axes = n->out_axes, along = n->batched ? -1 : lane_along(n);
    const bool partial = n->partial, no_lanes = has_no_lanes(n);
    const struct chunks c = nest_chunks(n, false);
    struct nest chunks = *n;
    chunks.whole = n->whole != NULL ? n->whole : keep_whole(l, n);
    chunks.partial = false;
    if (chunks.whole == NULL || split_axis(l, &chunks, c.of[0].axis, c.of[0].step) < 0)
        return -1;
    chunks.out_axes = c.of[0].axis + 1;
    if (store_sums(l, &chunks, along) < 0)
        return -1;
    *n = sum_of(l, &chunks, out_axes);
    if (no_lanes)
        n->extent[n->axes++] = 1;
    n->batched = chunks.batched;
    n->partial = partial;
    n->batch_axis = chunks.batch_axis;
    n->body[0] = load_sums(l, n, &chunks);
    return n->body[0] < 0 ? -1 : 0;
}

/* What is left of rows behind their last 16 terms. It is split likewise, which writes where new nests have their expressions. */
static int make_rest(struct lowering *l, struct nest *n, struct nest *rest)
{
    const int last = n->axes - 1;
    *rest = *n;
    if (!nest_own_exprs(l->p, rest))
        return lower_fail(l, TARN_ERR_MEMORY);
    rest->extent[last] = n->extent[last] % LANES;
    nest_change_indices(rest, begin_at, last, n->extent[last] / LANES * LANES);
    if (splits_sum(l, rest)) {
        if (!nest_own_exprs(l->p, n))
            return lower_fail(l, TARN_ERR_MEMORY);
        if (split_rows(l, rest) < 0)
            return -1;
    }
    return store_sums(l, rest, -1);
}

int split_sum(struct lowering *l, struct nest *n)
{
    if (nest_shared_axis(n) < 0 || n->batched)
        return split_rows(l, n);
    const int out_axes = n->out_axes;
    const bool has_rest = n->extent[n->axes - 1] % LANES != 0;
    struct nest rest, chunks;
    const struct nest *whole = keep_whole(l, n);
    if (whole == NULL)
        return -1;
    n->whole = whole;
    if (has_rest && make_rest(l, n, &rest) < 0)
        return -1;
    n->whole = has_rest ? NULL : whole;
    while (splits_sum(l, n)) {
        chunks = *n;
        if (take_chunks(l, &chunks) < 0 || store_sums(l, &chunks, -1) < 0)
            return -1;
        *n = sum_of(l, &chunks, out_axes);
        n->red_last = true;
        n->body[0] = load_sums(l, n, &chunks);
        if (n->body[0] < 0)
            return -1;
    }
    if (!has_rest)
        return 0;
    chunks = *n;
    return store_sums(l, &chunks, -1) < 0 ? -1 : join_rest(l, &chunks, &rest, n);
}
