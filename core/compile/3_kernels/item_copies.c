/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of short nests for the chains that repeat them: each group has the result in its local memory, and nests of
 * its chain read it there. What nobody reads any more is not done at all. In: nests in kernels, and which of them
 * chains repeat. Out: more nests. It changes no value: each copy is computed alike. */
#include <string.h>

#include "compile/3_kernels/fuse.h"

#define ALIGNMENT 64u /* of a register of 16 lanes */

struct copies {
    struct program_ir *p;
    int *loads; /* by value: of nests that are left */
};

static bool reads(const struct nest *n, int value)
{
    for (int e = 0; e < n->expr_count; e++)
        if (n->exprs[e].kind == EXPR_LOAD && n->exprs[e].access.value == value)
            return true;
    return false;
}

static void mark(const struct nest *n, int root, bool *met)
{
    if (root < 0 || met[root])
        return;
    met[root] = true;
    if (n->exprs[root].kind == EXPR_LOAD)
        mark(n, n->exprs[root].access.gather, met);
    for (int i = 0; i < n->exprs[root].args; i++)
        mark(n, n->exprs[root].arg[i], met);
}

/* Expressions of a nest's own, without those that no store needs. */
static bool take_exprs(struct program_ir *p, struct nest *n)
{
    const size_t count = (size_t)n->expr_count + 1;
    struct expr *own = arena_take(p->arena, count * sizeof *own);
    bool *met = arena_take(p->arena, count);
    int *number = arena_take(p->arena, count * sizeof *number), next = 0;
    if (own == NULL || met == NULL || number == NULL)
        return false;
    mark(n, n->body[0], met);
    mark(n, n->body[1], met);
    for (int s = 0; s < n->stores; s++)
        mark(n, n->store[s].expr, met);
    for (int e = 0; e < n->expr_count; e++)
        number[e] = met[e] ? next++ : -1;
    for (int e = 0; e < n->expr_count; e++) {
        if (!met[e])
            continue;
        struct expr *to = &own[number[e]];
        *to = n->exprs[e];
        for (int i = 0; i < to->args; i++)
            to->arg[i] = number[to->arg[i]];
        if (to->kind == EXPR_LOAD && to->access.gather >= 0)
            to->access.gather = number[to->access.gather];
    }
    for (int b = 0; b < 2; b++)
        n->body[b] = n->body[b] < 0 ? -1 : number[n->body[b]];
    for (int s = 0; s < n->stores; s++)
        n->store[s].expr = n->store[s].expr < 0 ? -1 : number[n->store[s].expr];
    n->exprs = own;
    n->expr_count = n->expr_capacity = next;
    return true;
}

static void count_loads(struct copies *c, const struct nest *n, int by)
{
    for (int e = 0; e < n->expr_count; e++)
        if (n->exprs[e].kind == EXPR_LOAD)
            c->loads[n->exprs[e].access.value] += by;
}

/* Where what copies of a chain store begins, in bytes of local memory, and which they are: from `first` on, and those
 * of `chain` that read them. */
struct handing {
    size_t used;
    int first, end;
    const struct repetition *chain;
};

/* What a copy stores goes to local memory for those nests of the chain that read it. 0: none does; -1: no memory. */
static int hand_out(struct copies *c, struct handing *h, struct store *s)
{
    struct program_ir *p = c->p;
    const struct value of = p->values[s->value];
    int own = -1;
    for (int i = 0; i < h->chain->reader_count + h->end - h->first; i++) {
        const int reader = i < h->chain->reader_count ? h->chain->readers[i]
                                                      : h->first + i - h->chain->reader_count;
        if (!reads(&p->nests[reader], s->value))
            continue;
        if (own < 0)
            own = value_add(p, PLACE_SCRATCH, LAYOUT_PLAIN, 0, of.shape, of.dtype);
        if (own < 0 || !nest_own_exprs(p, &p->nests[reader]))
            return -1;
        c->loads[s->value] -= nest_read_instead(&p->nests[reader], s->value, own);
    }
    if (own < 0)
        return 0;
    p->values[own].offset = h->used;
    h->used += (p->values[own].bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    s->value = own;
    return 1;
}

static bool hand_out_all(struct copies *c, struct handing *h, struct nest *n)
{
    int kept = 0;
    for (int s = 0; s < n->stores; s++) {
        struct store to = n->store[s];
        const int read = hand_out(c, h, &to);
        if (read < 0)
            return false;
        n->store[kept] = to;
        kept += read;
    }
    n->stores = kept;
    if (!take_exprs(c->p, n))
        return false;
    count_loads(c, n, 1);
    return true;
}

/* The copies of one chain, from nest `first` on: those that others read come first, and are the last to know who needs
 * them. */
static bool hand_out_chain(struct copies *c, const struct repetition *list, int count, int first)
{
    struct handing h = { .first = first, .end = first + count, .chain = list };
    for (int i = h.end; i-- > h.first;)
        if (!hand_out_all(c, &h, &c->p->nests[i]))
            return false;
    return true;
}

/* Whether a nest is done for nobody but copies. */
static bool is_unread(const struct copies *c, int nest)
{
    const struct program_ir *p = c->p;
    const struct nest *n = &p->nests[nest];
    for (int s = 0; s < n->stores; s++) {
        const int v = n->store[s].value;
        if (p->values[v].place != PLACE_ARENA || c->loads[v] > 0)
            return false;
    }
    return !p->placements[nest].replicated && p->placements[nest].chain != nest;
}

/* A copy that is all that is left of a nest takes its place; one that no other needs goes. */
static void move_copies(struct copies *c, const struct repetition *list, int count)
{
    struct program_ir *p = c->p;
    const int first = p->nest_count - count;
    for (int i = count; i-- > 0;) {
        const bool needed = p->nests[first + i].stores > 0;
        if (needed && !is_unread(c, list[i].nest))
            continue;
        if (needed) {
            count_loads(c, &p->nests[list[i].nest], -1);
            p->nests[list[i].nest] = p->nests[first + i];
            p->placements[list[i].nest] = p->placements[first + i];
        }
        p->nest_count--;
        p->nests[first + i] = p->nests[p->nest_count];
        p->placements[first + i] = p->placements[p->nest_count];
    }
}

bool repeat_nests(struct program_ir *p, const struct repetition *list, int count)
{
    const size_t nests = (size_t)p->nest_count + (size_t)count + 1;
    /* Each copy may have a value for each store. */
    const size_t values = (size_t)p->value_count + (size_t)count * NEST_STORES + 1;
    struct copies c = { .p = p, .loads = arena_take(p->arena, values * sizeof *c.loads) };
    struct nest *all = arena_take(p->arena, nests * sizeof *all);
    struct placement *placements = arena_take(p->arena, nests * sizeof *placements);
    const int first = p->nest_count;
    if (c.loads == NULL || all == NULL || placements == NULL)
        return false;
    if (count == 0)
        return true;
    memcpy(all, p->nests, (size_t)first * sizeof *all);
    memcpy(placements, p->placements, (size_t)first * sizeof *placements);
    p->nests = all;
    p->placements = placements;
    p->nest_capacity = (int)nests;
    for (int i = 0; i < first; i++)
        count_loads(&c, &p->nests[i], 1);
    /* All of them before any nest reads another value: one chain may repeat what is another's own. */
    for (int i = 0; i < count; i++) {
        p->nests[p->nest_count] = p->nests[list[i].nest];
        p->placements[p->nest_count++] = list[i].placement;
    }
    for (int i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && list[next].readers == list[i].readers;)
            next++;
        if (!hand_out_chain(&c, list + i, next - i, first + i))
            return false;
    }
    move_copies(&c, list, count);
    return true;
}
