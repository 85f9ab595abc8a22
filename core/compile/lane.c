/* SPDX-License-Identifier: Apache-2.0 */
/* Which axis of a nest without batch is the vector. In: shapes and roles of axes. Out: an axis.
 * It must not know the target: the lanes of a sum are added up last, so the choice orders the
 * sum. */
#include "compile/lane.h"

#include <string.h>

#include "tensor/sum_order.h"

#define EXPRS_SEEN 256 /* of a nest: with more all loads count for each term */

/* How much of what is read and written lies side by side along an axis. */
static int side_by_side(const struct nest *n, int axis)
{
    int score = 3 * (n->store[0].address.k[axis] == 1);
    for (int e = 0; e < n->expr_count; e++)
        if (n->exprs[e].kind == EXPR_LOAD) {
            const int32_t k = n->exprs[e].access.address.k[axis];
            score += k == 1 ? 2 : k == 0 ? 1 : 0;
        }
    return score;
}

/* Transforms unroll into long code: so there is no second copy of it for a remainder, and no guard
 * that holds for some lanes only. A store that is scattered costs less than lanes that lie idle. */
static bool suits_lanes(const struct nest *n, int axis)
{
    if (n->extent[axis] < LANES)
        return false;
    if (!n->transformed)
        return true;
    for (int g = 0; g < n->guards; g++)
        if (n->guard[g].e.k[axis] != 0)
            return false;
    return n->extent[axis] % LANES == 0;
}

static double access_loads(const struct affine *address, int axis)
{
    const int32_t k = address->k[axis];
    return k == 0 || k == 1 ? 1 : k == 2 ? 2 : LANES;
}

/* An expression that loads what an earlier one does not: those are one statement. */
static bool loads_anew(const struct nest *n, int e)
{
    const struct access *x = &n->exprs[e].access;
    if (n->exprs[e].kind != EXPR_LOAD)
        return false;
    for (int d = 0; d < e; d++) {
        const struct access *y = &n->exprs[d].access;
        if (n->exprs[d].kind == EXPR_LOAD && x->value == y->value && x->gather == y->gather &&
            affine_equal(&x->address, &y->address))
            return false;
    }
    return true;
}

/* Marks what a term is made of: all else is loaded once for all terms, when a result is stored. */
static void mark_terms(const struct nest *n, bool used[EXPRS_SEEN])
{
    memset(used, n->expr_count > EXPRS_SEEN, EXPRS_SEEN * sizeof *used);
    if (n->expr_count > EXPRS_SEEN)
        return;
    used[n->body[0]] = used[n->body[1]] = true;
    for (int e = n->expr_count - 1; e >= 0; e--) { /* arguments stand before what uses them */
        const struct expr *x = &n->exprs[e];
        for (int k = 0; used[e] && k < x->args; k++)
            used[x->arg[k]] = true;
        if (used[e] && x->kind == EXPR_LOAD && x->access.gather >= 0)
            used[x->access.gather] = true;
    }
}

/* Registers for the axis: the last one begins among the elements of the one before, but where a result goes through functions
 * of the driver, which may have other bits for registers than for single elements. Then these are left over. */
static double registers_along(const struct nest *n, int axis)
{
    const int whole = n->extent[axis] / LANES, rest = n->extent[axis] % LANES;
    return whole + (nest_calls_driver(n) ? rest : rest > 0);
}

/* Loads and stores for each term of 16 results, if this axis is the lanes. Lanes that lie apart in memory are read one by
 * one; under a guard that some fail it takes as long again to see which they are. What an epilogue reads, and results, are loaded
 * and stored once for all terms. */
static double contraction_cost(const struct nest *n, int axis)
{
    double loads = 0, once = n->store[0].address.k[axis] == 1 ? 1 : LANES, terms = 1;
    bool guarded = false, of_terms[EXPRS_SEEN];
    mark_terms(n, of_terms);
    for (int g = 0; g < n->guards; g++)
        guarded |= n->guard[g].e.k[axis] != 0;
    for (int e = 0; e < n->expr_count; e++)
        if (loads_anew(n, e)) {
            const double each = access_loads(&n->exprs[e].access.address, axis);
            if (e >= EXPRS_SEEN || of_terms[e])
                loads += each * (guarded ? 2 : 1);
            else
                once += each;
        }
    for (int a = n->out_axes; a < n->axes; a++)
        terms *= n->extent[a];
    loads += once / (terms < 1 ? 1 : terms);
    return loads * registers_along(n, axis) * LANES / n->extent[axis];
}

/* Of a contraction: an axis of the result, each of whose elements has an accumulator of its own, so that any of them
 * leaves the order of sums. Of equals the last. */
static int contraction_lane(const struct nest *n)
{
    int best = -1;
    for (int a = n->out_axes - 1; a >= 0; a--)
        if (n->extent[a] >= LANES &&
            (best < 0 || contraction_cost(n, a) < contraction_cost(n, best)))
            best = a;
    return best;
}

/* Sums: the last summed axis when it is what memory runs along, by the reduced operand's logical
 * shape, or that of either factor. Fusion must not change the choice, or it would change the order of the sum: hence extents
 * and roles only, never the loads that happen to be inlined. */
int nest_lane(const struct nest *n)
{
    const int last = n->axes - 1;
    if (n->combine == COMBINE_NONE) {
        int best = -1, best_score = -1;
        for (int a = n->out_axes - 1; a >= 0; a--) {
            const int score = side_by_side(n, a);
            if (score > best_score && suits_lanes(n, a)) {
                best = a;
                best_score = score;
            }
        }
        return best;
    }
    /* Those of a search are of the result: what lanes have found is not put together. */
    const bool joins = n->combine != COMBINE_REDUCE || n->by->lanes != NULL;
    if (joins && n->combine != COMBINE_FMA && n->red_last && n->extent[last] >= LANES)
        return last;
    for (int a = n->out_axes - 1; a >= 0; a--)
        if (n->extent[a] >= LANES && n->store[0].address.k[a] == 1)
            return n->combine == COMBINE_FMA ? contraction_lane(n) : a;
    const bool sums = joins && n->axes > n->out_axes && n->extent[last] >= LANES;
    if (n->combine != COMBINE_FMA || (sums && n->red_last))
        return sums ? last : -1;
    /* Along a sum that memory does not run along lanes are read one by one, and then added up. */
    const int lane = contraction_lane(n);
    return lane < 0 && sums ? last : lane;
}

bool nest_sums_lanes(const struct nest *n)
{
    return (n->partial && !n->by_sample) || (!n->batched && nest_lane(n) >= n->out_axes);
}

/* The OUT axis along which most of what is read and written lies side by side; -1: none. */
static int item_lane(const struct nest *n)
{
    int best = -1, best_score = -1;
    for (int a = n->out_axes - 1; a >= 0; a--) {
        const int score = n->extent[a] == 1 ? 0 : side_by_side(n, a);
        if (score > best_score) {
            best = a;
            best_score = score;
        }
    }
    return best;
}

int nest_item_lane(const struct nest *n)
{
    const int lane = nest_lane(n);
    return lane < n->out_axes ? item_lane(n) : lane;
}
