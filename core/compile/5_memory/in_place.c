/* SPDX-License-Identifier: Apache-2.0 */
/* Maps that write over what they read: where a nest reads a temporary for the last time, each element just before it
 * writes the same element of another, both may be one piece of memory. In: nests in kernels, lifetimes. Out: for
 * each value which one it takes over. It changes no order of anything. */
#include "compile/5_memory/memory_passes.h"

/* How many nests of a kernel use each value, and one of them. */
struct users {
    int *count, *nest, *kernel;
};

static void note(const struct users *u, int value, int nest, int kernel)
{
    if (u->kernel[value] != kernel + 1) {
        u->kernel[value] = kernel + 1;
        u->count[value] = 0;
    }
    if (u->count[value] == 0 || u->nest[value] != nest)
        u->count[value]++;
    u->nest[value] = nest;
}

static bool alone(const struct users *u, int value, int nest)
{
    return u->count[value] == 1 && u->nest[value] == nest;
}

/* A temporary of which there is one copy. */
static bool is_plain(const struct value *v)
{
    return v->place == PLACE_ARENA && v->first >= 0 && !v->kept && v->copy_stride == 0 &&
           v->part_stride == 0 && v->worker_stride == 0 && v->room == 0 && !v->by_part &&
           v->bytes > 0;
}

/* Whether every load of a value is of the very element that the nest stores. */
static bool reads_same(const struct nest *n, int value)
{
    const struct store *s = &n->store[0];
    for (int e = 0; e < n->expr_count; e++) {
        const struct access *x = &n->exprs[e].access;
        if (n->exprs[e].kind == EXPR_LOAD && x->value == value &&
            (x->gather >= 0 || x->part_count > 0 || x->in_block != s->in_block ||
             !affine_equal(&x->address, &s->address)))
            return false;
    }
    return true;
}

/* Whether a nest does one element after the other, each once. */
static bool is_map(const struct program_ir *p, const struct nest *n)
{
    const int kernel = placement_of(p, n)->kernel;
    return n->kind == NEST_LOOPS && n->combine == COMBINE_NONE && !n->transformed &&
           n->guards == 0 && n->stores == 1 && !placement_of(p, n)->replicated &&
           !schedule_of(p, n)->by_registers && kernel_parts(p, kernel) == 1;
}

static int taken_over(const struct program_ir *p, const struct users *u, int nest,
                      const bool *taken)
{
    const struct nest *n = &p->nests[nest];
    const int to = n->store[0].value, kernel = p->placements[nest].kernel;
    const struct value *new = &p->values[to];
    if (!is_map(p, n) || !is_plain(new) || new->first != kernel || !alone(u, to, nest))
        return -1;
    for (int e = 0; e < n->expr_count; e++) {
        const int from = n->exprs[e].kind == EXPR_LOAD ? n->exprs[e].access.value : -1;
        const struct value *old = from >= 0 ? &p->values[from] : NULL;
        if (old != NULL && is_plain(old) && old->last == kernel && old->first < kernel &&
            !taken[from] && old->bytes == new->bytes && old->layout == new->layout &&
            old->dtype == new->dtype &&alone(u, from, nest) && reads_same(n, from))
            return from;
    }
    return -1;
}

int *list_taken_over(const struct program_ir *p)
{
    const size_t values = (size_t)p->value_count + 1;
    int *over = arena_take(p->arena, values * sizeof *over);
    bool *taken = arena_take(p->arena, values * sizeof *taken);
    const struct users u = { arena_take(p->arena, values * sizeof *u.count),
                             arena_take(p->arena, values * sizeof *u.nest),
                             arena_take(p->arena, values * sizeof *u.kernel) };
    if (p->arena->failed)
        return NULL;
    for (int k = 0; k < p->kernel_count; k++) {
        for (struct nest_range r = kernel_nests(p, k); r.at < r.end; r.at++) {
            const struct nest *n = &p->nests[*r.at];
            for (int s = 0; s < n->stores; s++)
                note(&u, n->store[s].value, *r.at, k);
            for (int e = 0; e < n->expr_count; e++)
                if (n->exprs[e].kind == EXPR_LOAD)
                    note(&u, n->exprs[e].access.value, *r.at, k);
        }
        for (struct nest_range r = kernel_nests(p, k); r.at < r.end; r.at++) {
            const int from = taken_over(p, &u, *r.at, taken);
            if (from < 0)
                continue;
            taken[from] = true;
            over[p->nests[*r.at].store[0].value] = from + 1;
        }
    }
    return over;
}
