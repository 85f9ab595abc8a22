/* SPDX-License-Identifier: Apache-2.0 */
/* Places operands and results of host calls in memory that the host shares: those that are not needed at the same time
 * have one piece. In: lifetimes. Out: slots, and how many there are. A call may run at any time between the kernel
 * that completes its operand and the first one that reads its result, so both live all that time. */
#include <stdlib.h>

#include "compile/5_memory/memory_passes.h"

struct tenant {
    int value, first, last;
};
struct piece {
    size_t bytes;
    int last; /* the kernel that is the last to need it */
};

static int by_first(const void *a, const void *b)
{
    const struct tenant *x = a, *y = b;
    return x->first != y->first ? (x->first < y->first ? -1 : 1) : x->value - y->value;
}

/* The first kernel that reads each value, but for the calls that write it. */
static int *first_readers(const struct program_ir *p)
{
    int *first = arena_take(p->arena, ((size_t)p->value_count + 1) * sizeof *first);
    for (int v = 0; first != NULL && v < p->value_count; v++)
        first[v] = p->kernel_count;
    for (int i = 0; first != NULL && i < p->nest_count; i++) {
        const struct nest *n = &p->nests[i];
        for (int e = 0; e < n->expr_count; e++) {
            const int v = n->exprs[e].kind == EXPR_LOAD ? n->exprs[e].access.value : -1;
            if (v >= 0 && (n->kind != NEST_HOST || n->store[0].value != v) &&
                p->placements[i].kernel < first[v])
                first[v] = p->placements[i].kernel;
        }
    }
    return first;
}

/* A piece that is free by then: the smallest with room, else the largest, else a new one. */
static uint32_t find_piece(struct piece *pieces, uint32_t *count, const struct tenant *t,
                           size_t bytes)
{
    uint32_t best = *count;
    for (uint32_t i = 0; i < *count; i++) {
        if (pieces[i].last >= t->first)
            continue;
        const size_t had = best == *count ? 0 : pieces[best].bytes, has = pieces[i].bytes;
        if (best == *count || (had < bytes ? has > had : has >= bytes && has < had))
            best = i;
    }
    if (best == *count)
        pieces[(*count)++] = (struct piece){ 0, -1 };
    pieces[best].last = t->last;
    pieces[best].bytes = pieces[best].bytes < bytes ? bytes : pieces[best].bytes;
    return best;
}

int *share_call_memory(struct program_ir *p)
{
    int *due = first_readers(p), count = 0;
    struct tenant *t = arena_take(p->arena, ((size_t)p->shared_count + 1) * sizeof *t);
    struct piece *pieces = arena_take(p->arena, ((size_t)p->shared_count + 1) * sizeof *pieces);
    int *tenant_of = arena_take(p->arena, ((size_t)p->value_count + 1) * sizeof *tenant_of);
    if (due == NULL || t == NULL || pieces == NULL || tenant_of == NULL)
        return NULL;
    for (int v = 0; v < p->value_count; v++) {
        if (p->values[v].place != PLACE_SHARED)
            continue;
        tenant_of[v] = count;
        t[count++] = (struct tenant){ v, p->values[v].first, p->values[v].last };
    }
    for (int i = 0; i < p->nest_count; i++) {
        const struct nest *n = &p->nests[i];
        if (n->kind != NEST_HOST)
            continue;
        struct tenant *in = &t[tenant_of[n->call.in]];
        const int over = due[n->store[0].value];
        in->last = over > in->last ? over : in->last;
    }
    qsort(t, (size_t)count, sizeof *t, by_first);
    p->shared_count = 0;
    for (int i = 0; i < count; i++) {
        struct value *v = &p->values[t[i].value];
        v->slot = find_piece(pieces, &p->shared_count, &t[i], v->bytes);
    }
    return due;
}
