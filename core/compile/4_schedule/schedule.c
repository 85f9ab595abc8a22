/* SPDX-License-Identifier: Apache-2.0 */
/* Fifth pass: which axis is the vector, which are unrolled into register tiles (tile.c), and how
 * whole nests are divided among groups. Decides by shapes alone, so that the order of every sum is
 * a function of the problem. In: nests in kernels. Out: lanes, tiles, order of loops and groups of
 * each. */
#include "compile/4_schedule/schedule.h"
#include "tensor/sum_order.h"

/* ---- the vector axis of nests that do not carry the batch ----------------------------------- */

static int unit_strides(const struct nest *n, int axis)
{
    int score = 0;
    for (int e = 0; e < n->expr_count; e++)
        if (n->exprs[e].kind == EXPR_LOAD) {
            const int32_t k = n->exprs[e].access.address.k[axis];
            score += k == 1 ? 2 : k == 0 ? 1 : 0;
        }
    return score;
}

/* A transform has much code: it is not printed twice for the sake of a rest, nor with its stores
 * spread over the lanes. It leaves elements out as a whole, not lane by lane. */
static bool suits_lanes(const struct nest *n, int axis)
{
    if (n->extent[axis] < LANES)
        return false;
    if (!n->transformed)
        return true;
    for (int g = 0; g < n->guards; g++)
        if (n->guard[g].e.k[axis] != 0)
            return false;
    return n->extent[axis] % LANES == 0 && n->store[0].address.k[axis] == 1;
}

/* Sums: the last summed axis when it is what memory runs along, by the reduced operand's logical
 * shape. Fusion must not change the choice, or it would change the order of the sum: hence extents
 * and roles only, never the loads that happen to be inlined. */
int schedule_lane(const struct nest *n)
{
    const int last = n->axes - 1;
    if (n->combine == COMBINE_NONE) {
        int best = -1, best_score = -1;
        for (int a = n->out_axes - 1; a >= 0; a--) {
            const int score = unit_strides(n, a) + 3 * (n->store[0].address.k[a] == 1);
            if (score > best_score && suits_lanes(n, a)) {
                best = a;
                best_score = score;
            }
        }
        return best;
    }
    if (n->combine == COMBINE_ARGMAX)
        return -1;
    if (n->combine != COMBINE_FMA && n->red_last && n->extent[last] >= LANES)
        return last;
    for (int a = n->out_axes - 1; a >= 0; a--)
        if (n->extent[a] >= LANES && n->store[0].address.k[a] == 1)
            return a;
    if (n->axes > n->out_axes && n->extent[last] >= LANES)
        return last;
    return -1;
}

/* What tells the rows of a transform apart is unrolled: its tables hold at compile time alone. So
 * is a short axis on whose edge a guard fails, which leaves no conditions. */
static void unroll_transform(const struct vector_figures *v, struct nest *n)
{
    for (int i = 0; i < n->expr_count; i++) {
        const struct expr *e = &n->exprs[i];
        for (int a = 0; a < n->out_axes; a++) {
            bool unroll = e->kind == EXPR_TRANSFORM && e->index.e.k[a] != 0;
            for (int g = 0; e->kind == EXPR_GUARD && g < e->guards; g++)
                unroll |= e->guard[g].e.k[a] != 0 && n->extent[a] <= v->unrolled_edge;
            if (unroll && a != n->batch_axis)
                n->tile[a] = n->extent[a];
        }
    }
}

/* `groups` is how many share a nest, 0: as many as are worth it; the plan has so many `nests`. */
static void schedule_nest(const struct target *t, struct nest *n, int groups, int nests)
{
    for (int a = 0; a < NEST_AXES; a++)
        n->tile[a] = 1;
    if (!n->batched)
        n->lane_axis = schedule_lane(n);
    if (n->transformed)
        unroll_transform(&t->vector, n);
    const int lane = nest_vector_axis(n);
    for (int a = 0, at = 0; a < n->out_axes; a++)
        if (a != lane)
            n->order[at++] = a;
    if (n->combine != COMBINE_NONE && n->axes > n->out_axes)
        choose_tile(t, n, nests);
    n->groups = 1;
    if (n->batched || n->tiny)
        return;
    /* Divide the longest OUT axis; the vector axis in multiples of its width. */
    for (int a = 0; a < n->out_axes; a++)
        if ((!n->transformed || n->tile[a] == 1) &&
            (n->split_axis < 0 || n->extent[a] > n->extent[n->split_axis]))
            n->split_axis = a;
    if (n->split_axis < 0)
        return;
    const int step = n->split_axis == n->lane_axis ? LANES : n->tile[n->split_axis];
    const int pieces = (n->extent[n->split_axis] + step - 1) / step;
    const double worth = n->work / t->vector.group_work;
    n->groups = groups > 0 ? groups : worth < 1 ? 1 : worth > MAX_GROUPS ? MAX_GROUPS : (int)worth;
    if (groups == 0 && n->groups > pieces)
        n->groups = pieces;
    if (n->groups < 1)
        n->groups = 1;
}

void schedule(struct program_ir *p)
{
    for (int i = 0; i < p->nest_count; i++)
        if (p->nests[i].kind == NEST_LOOPS)
            schedule_nest(p->target, &p->nests[i], p->nests[i].section == 0 ? p->groups : 0,
                          p->nest_count);
}
