/* SPDX-License-Identifier: Apache-2.0 */
/* A maximum and its position, as pooling and its gradient want them, are one search: the nest of
 * the position stores the value that it found, or a map of it. In: nests. Out: the same without those that
 * became a second store of another. */
#include <stdint.h>
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

/* The same, or one map of it, such as rounding to a half type. */
static bool stores_map(const struct nest *n)
{
    const struct expr *e = n->store[0].expr >= 0 ? &n->exprs[n->store[0].expr] : NULL;
    return stores_result(n) || (n->stores == 1 && e->kind == EXPR_MAP && e->args == 1 &&
                                n->exprs[e->arg[0]].kind == EXPR_ACC);
}

/* Whether both search the same elements, and store just what they find. */
static bool is_pair(const struct nest *position, const struct nest *maximum)
{
    return maximum->by == position->by->found && maximum->kind == NEST_LOOPS && !maximum->partial &&
           stores_map(maximum) && stores_result(position) && maximum->axes == position->axes &&
           maximum->out_axes == position->out_axes && maximum->batched == position->batched &&
           maximum->batch_axis == position->batch_axis &&
           memcmp(maximum->extent, position->extent, sizeof position->extent) == 0 &&
           same_expr(maximum, maximum->body[0], position, position->body[0]);
}

/* ---- finding pairs -------------------------------------------------------------------------- */

/* Maxima by what they read and how much: only those of one bucket can be a position's. */
struct maxima {
    int *first, *next; /* nest + 1; 0: none */
    uint32_t mask;
};

static uint32_t bucket(const struct maxima *t, const struct nest *n)
{
    uint32_t h = (uint32_t)n->axes;
    for (int a = 0; a < n->axes; a++)
        h = h * 1000003u + (uint32_t)n->extent[a];
    for (int e = 0; e < n->expr_count; e++)
        if (n->exprs[e].kind == EXPR_LOAD)
            h = h * 1000003u + (uint32_t)n->exprs[e].access.value;
    return (h ^ h >> 15) & t->mask;
}

static bool list_maxima(const struct program_ir *p, struct maxima *t)
{
    uint32_t size = 16;
    while (size < (uint32_t)p->first_root)
        size *= 2;
    t->mask = size - 1;
    t->first = arena_take(p->arena, size * sizeof *t->first);
    t->next = arena_take(p->arena, ((size_t)p->first_root + 1) * sizeof *t->next);
    for (int i = p->first_root; t->first != NULL && t->next != NULL && i-- > 0;) {
        const struct nest *n = &p->nests[i];
        if (n->combine != COMBINE_REDUCE || nest_searches(n))
            continue;
        int *first = &t->first[bucket(t, n)];
        t->next[i] = *first;
        *first = i + 1;
    }
    return t->first != NULL && t->next != NULL;
}

/* The first maximum that goes with a position; -1. */
static int find_maximum(const struct program_ir *p, const struct maxima *t, const struct nest *n)
{
    for (int k = t->first[bucket(t, n)] - 1; k >= 0; k = t->next[k] - 1)
        if (is_pair(n, &p->nests[k]))
            return k;
    return -1;
}

/* What the maximum's nest makes of its result, as an expression of another nest; -1: it stores that itself. */
static bool move_epilogue(struct program_ir *p, const struct nest *from, struct nest *to,
                          int *moved)
{
    *moved = -1;
    if (stores_result(from))
        return true;
    struct expr e = from->exprs[from->store[0].expr];
    e.arg[0] = expr_add(p, to, &from->exprs[e.arg[0]]);
    *moved = e.arg[0] >= 0 ? expr_add(p, to, &e) : -1;
    return *moved >= 0;
}

/* The pair becomes one nest where the first of them stands; the other one is left without stores. */
static void join(struct program_ir *p, int position, int maximum)
{
    struct nest joined = p->nests[position];
    joined.store[1] = p->nests[maximum].store[0];
    if (!move_epilogue(p, &p->nests[maximum], &joined, &joined.store[1].expr))
        return; /* out of memory, as the arena knows */
    joined.store[1].best = true;
    joined.stores = 2;
    p->nests[position < maximum ? position : maximum] = joined;
    p->nests[position < maximum ? maximum : position].stores = 0;
}

static void drop_joined(struct program_ir *p)
{
    int kept = 0, kept_before_roots = 0;
    for (int i = 0; i < p->nest_count; i++) {
        kept_before_roots += i < p->first_root && p->nests[i].stores > 0;
        if (p->nests[i].stores == 0)
            continue;
        if (kept != i)
            p->nests[kept] = p->nests[i];
        kept++;
    }
    p->nest_count = kept;
    p->first_root = kept_before_roots;
}

void pair_maxima(struct program_ir *p)
{
    struct maxima t;
    int pairs = 0;
    if (!list_maxima(p, &t))
        return;
    for (int i = 0; i < p->first_root; i++) {
        const struct nest *n = &p->nests[i];
        const bool searches = nest_searches(n) && n->kind == NEST_LOOPS && n->stores == 1;
        const int maximum = searches ? find_maximum(p, &t, n) : -1;
        if (maximum < 0)
            continue;
        join(p, i, maximum);
        pairs++;
    }
    if (pairs > 0)
        drop_joined(p);
}
