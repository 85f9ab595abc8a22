/* SPDX-License-Identifier: Apache-2.0 */
/* Which nests write each value, and which read it, so that no pass searches all nests for them. In:
 * nests. Out: lists by value. */
#include "compile/3_kernels/uses.h"

static void add(int value, int nest, int *next, int *list)
{
    if (list != NULL)
        list[next[value]] = nest;
    next[value]++;
}

/* Adds a nest to the lists of what it writes, or reads; without lists it only counts. */
static void add_nest(const struct program_ir *p, int nest, bool written, int *next, int *list)
{
    const struct nest *n = &p->nests[nest];
    for (int s = 0; written && s < n->stores; s++)
        add(n->store[s].value, nest, next, list);
    for (int e = 0; !written && e < n->expr_count; e++)
        if (n->exprs[e].kind == EXPR_LOAD)
            add(n->exprs[e].access.value, nest, next, list);
}

static bool build(const struct program_ir *p, bool written, struct nest_lists *out)
{
    const size_t values = (size_t)p->value_count + 2;
    int *next = arena_take(p->arena, values * sizeof *next);
    out->begin = arena_take(p->arena, values * sizeof *out->begin);
    if (next == NULL || out->begin == NULL)
        return false;
    for (int i = 0; i < p->nest_count; i++)
        add_nest(p, i, written, next, NULL);
    for (int v = 0; v < p->value_count; v++) {
        out->begin[v + 1] = out->begin[v] + next[v];
        next[v] = out->begin[v];
    }
    out->nest = arena_take(p->arena, (size_t)(out->begin[p->value_count] + 1) * sizeof *out->nest);
    for (int i = 0; out->nest != NULL && i < p->nest_count; i++)
        add_nest(p, i, written, next, out->nest);
    return out->nest != NULL;
}

bool uses_build(const struct program_ir *p, struct uses *out)
{
    return build(p, true, &out->writers) && build(p, false, &out->readers);
}
