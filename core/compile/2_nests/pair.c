/* SPDX-License-Identifier: Apache-2.0 */
/* A maximum and its position, as pooling and its gradient want them, are one search: the nest of
 * the position stores the value that it found, too. In: nests. Out: the same without those that
 * became a second store of another. */
#include <string.h>

#include "compile/2_nests/nest_passes.h"

static bool same_expr(const struct nest *a, int at_a, const struct nest *b, int at_b)
{
    if (at_a < 0 || at_b < 0)
        return at_a == at_b;
    struct expr x = a->exprs[at_a], y = b->exprs[at_b];
    for (int i = 0; i < 3; i++) {
        if (i < x.args && i < y.args && !same_expr(a, x.arg[i], b, y.arg[i]))
            return false;
        x.arg[i] = y.arg[i] = 0;
    }
    if (x.kind == EXPR_LOAD && y.kind == EXPR_LOAD &&
        !same_expr(a, x.access.gather, b, y.access.gather))
        return false;
    x.access.gather = y.access.gather = 0;
    return memcmp(&x, &y, sizeof x) == 0;
}

static bool stores_result(const struct nest *n)
{
    const int e = n->store[0].expr;
    return n->stores == 1 && (e < 0 || n->exprs[e].kind == EXPR_ACC);
}

/* Whether both search the same elements, and store just what they find. */
static bool is_pair(const struct nest *position, const struct nest *maximum)
{
    return maximum->by == position->by->found && maximum->kind == NEST_LOOPS && !maximum->partial &&
           stores_result(maximum) && stores_result(position) && maximum->axes == position->axes &&
           maximum->out_axes == position->out_axes && maximum->batched == position->batched &&
           maximum->batch_axis == position->batch_axis &&
           memcmp(maximum->extent, position->extent, sizeof position->extent) == 0 &&
           same_expr(maximum, maximum->body[0], position, position->body[0]);
}

static void join(struct program_ir *p, int position, int maximum)
{
    struct nest joined = p->nests[position];
    joined.store[1] = p->nests[maximum].store[0];
    joined.store[1].expr = -1;
    joined.store[1].best = true;
    joined.stores = 2;
    const int first = position < maximum ? position : maximum;
    const int last = position < maximum ? maximum : position;
    p->nests[first] = joined;
    p->nest_count--;
    p->first_root--;
    memmove(&p->nests[last], &p->nests[last + 1],
            (size_t)(p->nest_count - last) * sizeof *p->nests);
}

void pair_maxima(struct program_ir *p)
{
    for (int i = 0; i < p->first_root && !p->target->items; i++) {
        const struct nest *n = &p->nests[i];
        if (!nest_searches(n) || n->kind != NEST_LOOPS)
            continue;
        for (int k = 0; k < p->first_root; k++)
            if (is_pair(n, &p->nests[k])) {
                join(p, i, k);
                i -= k < i;
                break;
            }
    }
}
