/* SPDX-License-Identifier: Apache-2.0 */
/* Merges adjacent OUT axes that are contiguous in every access. No axis of [8, 8, 20, 10] fills the
 * registers, but one axis of 12,800 elements does. In: finished nests. Out: nests with fewer axes.
 * Sums of more than one term stay as they are, since the choice of their lanes orders the sum; but where the lanes are
 * summed whatever the other axes are, work-items' chains (3_kernels/item_chains.c) go by rows better than by two axes. */
#include <string.h>

#include "compile/2_nests/nest_passes.h"
#include "tensor/sum_order.h"

/* Whether an index goes from the end of the axis below, of `extent` elements, on as within it. */
static bool runs_on(const struct affine *e, int axis, int32_t extent)
{
    return e->k[axis] == e->k[axis + 1] * extent;
}

static bool is_free(const struct affine *e, int axis)
{
    return e->k[axis] == 0 && e->k[axis + 1] == 0;
}

static bool guards_are_free(const struct guard *g, int count, int axis)
{
    for (int i = 0; i < count; i++)
        if (!is_free(&g[i].e, axis))
            return false;
    return true;
}

static bool expr_runs_on(const struct expr *e, int axis, int32_t extent)
{
    const struct access *x = &e->access;
    switch (e->kind) {
    case EXPR_IOTA:
    case EXPR_RAND:
        return e->index.divide == 1 ? runs_on(&e->index.e, axis, extent)
                                    : is_free(&e->index.e, axis);
    case EXPR_LOAD:
        for (int i = 0; i < x->part_count; i++)
            if (!is_free(&x->part[i].index.e, axis))
                return false;
        return runs_on(&x->address, axis, extent);
    case EXPR_GUARD:
        return guards_are_free(e->guard, e->guards, axis);
    case EXPR_TRANSFORM:
        return false;
    case EXPR_CONSTANT:
    case EXPR_NUMBER:
    case EXPR_MAP:
    case EXPR_ACC:
        break;
    }
    return true;
}

static bool can_join(const struct nest *n, int axis)
{
    const int32_t extent = n->extent[axis + 1];
    if (n->extent[axis] == 1)
        return true;
    if ((int64_t)n->extent[axis] * extent > INT32_MAX ||
        !guards_are_free(n->guard, n->guards, axis))
        return false;
    for (int s = 0; s < n->stores; s++)
        if (!runs_on(&n->store[s].address, axis, extent))
            return false;
    for (int e = 0; e < n->expr_count; e++)
        if (!expr_runs_on(&n->exprs[e], axis, extent))
            return false;
    return true;
}

/* Takes the axis out; those after it move up. */
static void drop(struct affine *e, int axis, int32_t unused)
{
    (void)unused;
    memmove(&e->k[axis], &e->k[axis + 1], (size_t)(NEST_AXES - 1 - axis) * sizeof *e->k);
    e->k[NEST_AXES - 1] = 0;
}

/* The joined axis goes as the lower one did, whose factor moves up into its place. */
static void join(struct nest *n, int axis)
{
    n->extent[axis + 1] *= n->extent[axis];
    memmove(&n->extent[axis], &n->extent[axis + 1],
            (size_t)(NEST_AXES - 1 - axis) * sizeof *n->extent);
    n->extent[NEST_AXES - 1] = 0;
    for (int s = 0; s < n->stores; s++)
        drop(&n->store[s].address, axis, 0);
    nest_change_indices(n, drop, axis, 0);
    n->axes--;
    n->out_axes--;
}

/* Whether joining an axis with the next one leaves the order of sums as it is: products are added up one after the other
 * in each element, and lanes stay those of the last axis. */
static bool keeps_order(const struct program_ir *p, const struct nest *n, int axis)
{
    int64_t terms = 1;
    if (!p->target->items && n->combine == COMBINE_FMA && axis + 2 < n->out_axes)
        return true;
    for (int a = n->out_axes; a < n->axes; a++)
        terms *= n->extent[a];
    return terms <= 1 || (p->target->items && n->combine == COMBINE_REDUCE &&
                          n->by->lanes != NULL && n->red_last && n->extent[n->axes - 1] >= LANES);
}

void flatten(struct program_ir *p)
{
    for (int i = 0; i < p->nest_count; i++) {
        struct nest *n = &p->nests[i];
        if (n->kind != NEST_LOOPS || n->batched || n->transformed || nest_searches(n))
            continue;
        for (int a = n->out_axes - 2; a >= 0; a--)
            if (keeps_order(p, n, a) && can_join(n, a))
                join(n, a);
    }
}
