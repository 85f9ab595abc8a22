/* SPDX-License-Identifier: Apache-2.0 */
/* Places operands and results of host calls in memory that the host shares: those that are not needed at the same time
 * have one piece. In: lifetimes. Out: slots, and how many there are. A call may run at any time between the kernel
 * that completes its operand and the first one that reads its result, so both live all that time. */
#include <stdlib.h>

#include "compile/5_memory/memory_passes.h"

struct tenant {
    int value, first, last; /* kernels */
    size_t bytes;
    struct tenant *next; /* of the same piece */
};

/* The largest come first: so a piece never grows, and what lives long and is small takes no large piece that others
 * need meanwhile. */
static int by_size(const void *a, const void *b)
{
    const struct tenant *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
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

/* The first piece whose tenants all live at other times, or a new one. */
static uint32_t find_piece(struct tenant **pieces, uint32_t *count, struct tenant *t)
{
    uint32_t i = 0;
    for (; i < *count; i++) {
        const struct tenant *other = pieces[i];
        while (other != NULL && (other->last < t->first || other->first > t->last))
            other = other->next;
        if (other == NULL)
            break;
    }
    *count += i == *count;
    t->next = pieces[i];
    pieces[i] = t;
    return i;
}

int *share_call_memory(struct program_ir *p)
{
    int *due = first_readers(p), count = 0;
    struct tenant *t = arena_take(p->arena, ((size_t)p->shared_count + 1) * sizeof *t);
    struct tenant **pieces =
        arena_take(p->arena, ((size_t)p->shared_count + 1) * sizeof(struct tenant *));
    int *tenant_of = arena_take(p->arena, ((size_t)p->value_count + 1) * sizeof *tenant_of);
    if (due == NULL || t == NULL || pieces == NULL || tenant_of == NULL)
        return NULL;
    for (int v = 0; v < p->value_count; v++) {
        if (p->values[v].place != PLACE_SHARED)
            continue;
        tenant_of[v] = count;
        t[count++] =
            (struct tenant){ v, p->values[v].first, p->values[v].last, p->values[v].bytes, NULL };
    }
    for (int i = 0; i < p->nest_count; i++) {
        const struct nest *n = &p->nests[i];
        if (n->kind != NEST_HOST)
            continue;
        struct tenant *in = &t[tenant_of[n->call.in]];
        const int over = due[n->store[0].value];
        in->last = over > in->last ? over : in->last;
    }
    qsort(t, (size_t)count, sizeof *t, by_size);
    p->shared_count = 0;
    for (int i = 0; i < count; i++)
        p->values[t[i].value].slot = find_piece(pieces, &p->shared_count, &t[i]);
    return due;
}
