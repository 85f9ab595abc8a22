/* SPDX-License-Identifier: Apache-2.0 */
/* Transforms that are computed again. A transform's result is larger than what it is made of, and by the time that
 * another kernel reads it no cache has it: writing it to memory and reading it back takes longer than making it
 * once more, block by block, where it is read. In: nests in kernels. Out: more nests, whose results
 * live in one kernel. It changes no value. */
#include <string.h>

#include "compile/3_kernels/fuse.h"
#include "tensor/sum_order.h"

struct again {
    struct program_ir *p;
    const struct uses *u;
    int *before; /* by nest: the first of a list of copies to insert before it, + 1; 0: none */
    struct copy {
        struct nest nest;
        struct placement placement;
        int next; /* as above */
    } * copies;
    int count, capacity;
};

/* The only nest that writes a value; -1: there are others. */
static int only_writer(const struct uses *u, int value)
{
    const int first = u->writers.begin[value];
    return u->writers.begin[value + 1] == first + 1 ? u->writers.nest[first] : -1;
}

static int last_reading_kernel(const struct again *g, int value)
{
    int last = -1;
    for (int i = g->u->readers.begin[value]; i < g->u->readers.begin[value + 1]; i++) {
        const int kernel = g->p->placements[g->u->readers.nest[i]].kernel;
        last = kernel > last ? kernel : last;
    }
    return last;
}

/* Whether all that read a value do so block by block. */
static bool is_read_in_blocks(const struct again *g, int value)
{
    for (int i = g->u->readers.begin[value]; i < g->u->readers.begin[value + 1]; i++) {
        const struct nest *n = &g->p->nests[g->u->readers.nest[i]];
        for (int e = 0; e < n->expr_count; e++)
            if (n->exprs[e].kind == EXPR_LOAD && n->exprs[e].access.value == value &&
                (n->kind != NEST_LOOPS || !n->batched || !n->exprs[e].access.in_block))
                return false;
    }
    return true;
}

/* Whether a value has in kernel `kernel` what it has before. */
static bool stays(const struct again *g, int value, int kernel)
{
    const struct program_ir *p = g->p;
    const struct value *v = &p->values[value];
    if (v->place != PLACE_OWNED)
        return v->place == PLACE_ARENA || v->place == PLACE_INPUT;
    for (int i = 0; i < p->nest_count; i++)
        for (int s = 0; s < p->nests[i].stores; s++)
            if (memory_of(p, &p->values[p->nests[i].store[s].value]) == memory_of(p, v) &&
                p->placements[i].kernel <= kernel)
                return false;
    return true;
}

/* A map or a transform of blocks into one value of its own. */
static bool is_block_map(const struct again *g, const struct nest *n)
{
    const struct value *to = &g->p->values[n->store[0].value];
    return n->kind == NEST_LOOPS && n->batched && n->combine == COMBINE_NONE && !n->partial &&
           n->stores == 1 && n->store[0].in_block && to->place == PLACE_ARENA;
}

/* The map whose result only the transform's kernel reads: it is to be made again, too; -1: there is none. */
static int map_below(const struct again *g, const struct nest *transform, int kernel)
{
    for (int e = 0; e < transform->expr_count; e++) {
        const int value =
            transform->exprs[e].kind == EXPR_LOAD ? transform->exprs[e].access.value : -1;
        const int writer = value >= 0 ? only_writer(g->u, value) : -1;
        if (writer >= 0 && last_reading_kernel(g, value) < kernel &&
            is_block_map(g, &g->p->nests[writer]) && !g->p->nests[writer].transformed)
            return writer;
    }
    return -1;
}

/* ---- what it costs -------------------------------------------------------------------------- */

static double lines_of(const struct value *v)
{
    return (double)v->bytes / 64;
}

/* Cycles of a nest beside those that wait for memory. Of a map's loads only those of elements count: of what samples
 * have in common there is little. */
static double cycles_near(const struct again *g, int nest)
{
    const struct nest *n = &g->p->nests[nest];
    int accesses = n->stores;
    if (n->transformed)
        return g->p->placements[nest].work;
    for (int e = 0; e < n->expr_count; e++)
        accesses += n->exprs[e].kind == EXPR_LOAD && n->exprs[e].access.in_block;
    double cycles = n->expr_count / 4 + g->p->target->fusion.access_cycles * accesses;
    for (int a = 0; a < n->axes; a++)
        cycles *= n->extent[a];
    return cycles / LANES;
}

/* Cycles to make a nest again in a kernel; -1 where what it reads is no longer there. `made`: a value that is
 * made again, too. */
static double cycles_again(const struct again *g, int nest, int kernel, int made)
{
    const struct program_ir *p = g->p;
    const struct nest *n = &p->nests[nest];
    const double line = p->target->vector.second_line_cycles;
    double cycles = cycles_near(g, nest);
    for (int e = 0; e < n->expr_count; e++) {
        const int value = n->exprs[e].kind == EXPR_LOAD ? n->exprs[e].access.value : -1;
        if (value < 0 || value == made)
            continue;
        if (!stays(g, value, kernel))
            return -1;
        const bool kept = last_reading_kernel(g, value) >= kernel;
        cycles += (kept ? 1 : 3) * line * lines_of(&p->values[value]); /* a store reads, too */
    }
    return cycles;
}

static bool is_read_in(const struct again *g, int value, int kernel)
{
    for (int i = g->u->readers.begin[value]; i < g->u->readers.begin[value + 1]; i++)
        if (g->p->placements[g->u->readers.nest[i]].kernel == kernel)
            return true;
    return false;
}

/* Whether all kernels behind its own, which reads it, too, had better make a transform again. */
static bool is_better_again(const struct again *g, int nest)
{
    const struct program_ir *p = g->p;
    const int value = p->nests[nest].store[0].value, own = p->placements[nest].kernel;
    const double line = p->target->vector.second_line_cycles * lines_of(&p->values[value]);
    double kept = 2 * line, again = 0;
    if (!is_read_in(g, value, own))
        return false;
    for (int kernel = own + 1; kernel <= last_reading_kernel(g, value); kernel++) {
        if (!is_read_in(g, value, kernel))
            continue;
        const int below = map_below(g, &p->nests[nest], kernel);
        const int made = below >= 0 ? p->nests[below].store[0].value : -1;
        const double one = cycles_again(g, nest, kernel, made),
                     other = below >= 0 ? cycles_again(g, below, kernel, -1) : 0;
        if (one < 0 || other < 0)
            return false;
        kept += line;
        again += one + other;
    }
    return again > 0 && again < kept;
}

/* ---- copies --------------------------------------------------------------------------------- */

/* A nest like another that writes a value of its own, in front of nest number `before` and of what was put there
 * already. Returns its value, -1 without memory. */
static int copy_nest(struct again *g, int nest, int before, int made, int instead)
{
    struct program_ir *p = g->p;
    const struct value like = p->values[p->nests[nest].store[0].value];
    const int value = value_add(p, like.place, like.layout, like.slot, like.shape, like.dtype);
    if (g->count == g->capacity) {
        const int capacity = 2 * g->capacity + 8;
        struct copy *larger = arena_take(p->arena, (size_t)capacity * sizeof *larger);
        if (larger == NULL)
            return -1;
        if (g->count > 0)
            memcpy(larger, g->copies, (size_t)g->count * sizeof *larger);
        g->copies = larger;
        g->capacity = capacity;
    }
    struct copy *c = &g->copies[g->count];
    *c = (struct copy){ p->nests[nest], p->placements[nest], g->before[before] };
    if (value < 0 || !nest_own_exprs(p, &c->nest))
        return -1;
    c->nest.store[0].value = value;
    c->placement.kernel = p->placements[before].kernel;
    if (made >= 0)
        (void)nest_read_instead(&c->nest, made, instead);
    g->before[before] = ++g->count;
    return value;
}

/* Lets the readers of kernel `kernel` have a transform of their own, before the first of them. */
static bool make_again(struct again *g, int nest, int kernel)
{
    struct program_ir *p = g->p;
    const int value = p->nests[nest].store[0].value;
    const int below = map_below(g, &p->nests[nest], kernel);
    int first = p->nest_count, made = -1;
    for (int i = g->u->readers.begin[value]; i < g->u->readers.begin[value + 1]; i++) {
        const int reader = g->u->readers.nest[i];
        if (p->placements[reader].kernel == kernel && reader < first)
            first = reader;
    }
    if (first == p->nest_count)
        return true;
    const int values[2] = { below >= 0 ? p->nests[below].store[0].value : -1, p->value_count };
    const int own = copy_nest(g, nest, first, values[0], values[1] + 1);
    if (own >= 0 && below >= 0)
        made = copy_nest(g, below, first, -1, -1);
    if (own < 0 || (below >= 0 && made < 0))
        return false;
    for (int i = g->u->readers.begin[value]; i < g->u->readers.begin[value + 1]; i++)
        if (p->placements[g->u->readers.nest[i]].kernel == kernel)
            (void)nest_read_instead(&p->nests[g->u->readers.nest[i]], value, own);
    return true;
}

/* The copies among the nests. */
static bool insert(struct again *g)
{
    struct program_ir *p = g->p;
    const size_t count = (size_t)p->nest_count + (size_t)g->count;
    struct nest *nests = arena_take(p->arena, (count + 1) * sizeof *nests);
    struct placement *placements = arena_take(p->arena, (count + 1) * sizeof *placements);
    int next = 0;
    if (nests == NULL || placements == NULL)
        return false;
    for (int i = 0; i < p->nest_count; i++) {
        for (int c = g->before[i]; c > 0; c = g->copies[c - 1].next) {
            nests[next] = g->copies[c - 1].nest;
            placements[next++] = g->copies[c - 1].placement;
        }
        nests[next] = p->nests[i];
        placements[next++] = p->placements[i];
    }
    p->nests = nests;
    p->placements = placements;
    p->nest_count = p->nest_capacity = (int)count;
    return true;
}

bool compute_again(struct program_ir *p, struct uses *u)
{
    struct again g = { .p = p, .u = u };
    g.before = arena_take(p->arena, ((size_t)p->nest_count + 1) * sizeof *g.before);
    if (g.before == NULL)
        return false;
    if (!p->target->fuse || p->target->items)
        return true;
    for (int i = 0; i < p->nest_count; i++) {
        const struct nest *n = &p->nests[i];
        if (!n->transformed || !is_block_map(&g, n) || only_writer(u, n->store[0].value) != i ||
            !is_read_in_blocks(&g, n->store[0].value) || !is_better_again(&g, i))
            continue;
        const int last = last_reading_kernel(&g, n->store[0].value);
        for (int kernel = p->placements[i].kernel + 1; kernel <= last; kernel++)
            if (!make_again(&g, i, kernel))
                return false;
    }
    return g.count == 0 || (insert(&g) && uses_build(p, u));
}
