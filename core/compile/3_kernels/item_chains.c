/* SPDX-License-Identifier: Apache-2.0 */
/* Chains of nests for work-items. Nests that wait for each other share a kernel where the group that computes some
 * elements of the one also computes all that the other reads of them: then a barrier of the group between them is
 * enough, and a launch is saved. Groups have a batch block each, or a slice of one along an axis that all nests of
 * the chain have; without the batch a slice of all, or one group has all of it. A chain has fewer work-items for a nest than
 * a kernel of its own, so it grows only while that costs less than a launch.
 *
 * A short nest of which all groups need everything, such as the sum of rows of partial sums, each group of its readers
 * does for itself where that costs less than to wait for another launch: such a nest is in their chain once more.
 *
 * In: nests, and kernels of those before. Out: chains, and what they repeat. It changes no order of a sum. */
#include <math.h>
#include <string.h>

#include "compile/3_kernels/divide.h"
#include "compile/3_kernels/fuse.h"
#include "compile/3_kernels/item_chain.h"
#include "compile/lane.h"
#include "tensor/sum_order.h"

struct item_chains {
    struct item_chain *of; /* by the first nest */
    int *first;            /* by nest: that of its chain; -1: it can have none */
};

static bool can_chain(const struct nest *n)
{
    return n->kind == NEST_LOOPS && !n->partial && !n->by_sample;
}

/* ---- slices that fit ------------------------------------------------------------------------ */

/* Goes through the loads of nest `to` from what nest `from` stores: the next one after *load, and its store. */
static bool next_link(const struct nest *from, const struct nest *to, int *load, int *store)
{
    for (++*load; *load < to->expr_count; ++*load)
        for (*store = 0; to->exprs[*load].kind == EXPR_LOAD && *store < from->stores; ++*store)
            if (to->exprs[*load].access.value == from->store[*store].value)
                return true;
    return false;
}

/* Whether all that `to` reads of `from` is of the same batch block. */
static bool reads_own_block(const struct nest *from, const struct nest *to)
{
    for (int load = -1, store; next_link(from, to, &load, &store);)
        if (to->batched && !to->exprs[load].access.in_block)
            return false;
    return true;
}

/* Whether groups that divide both nests along these axes read no more than they wrote. */
static bool slices_fit(const struct nest *from, int from_axis, const struct nest *to, int to_axis)
{
    for (int load = -1, store; next_link(from, to, &load, &store);)
        if (!slices_agree(from, &from->store[store], from_axis, to, load, to_axis))
            return false;
    return true;
}

static bool is_linked(const struct nest *from, const struct nest *to)
{
    int load = -1, store;
    return next_link(from, to, &load, &store);
}

/* The axis by which nest `t` goes with its neighbour `with`, whose axis is known; -1: none. */
static int fitting_axis(const struct program_ir *p, const struct item_chain *c, int t, int with)
{
    const struct nest *n = chain_nest(p, c, t), *other = chain_nest(p, c, with);
    for (int a = 0; a < n->out_axes; a++)
        if (can_divide(n, a) && (t < with ? slices_fit(n, a, other, c->axis[with])
                                          : slices_fit(other, c->axis[with], n, a)))
            return a;
    return -1;
}

/* The axis of a nest that is done again, where all that read it have a slice of it; -1: all of it is done. */
static int axis_again(const struct program_ir *p, const struct item_chain *c, int t)
{
    const struct nest *n = chain_nest(p, c, t);
    for (int a = 0; a < n->out_axes; a++) {
        bool fits = can_divide(n, a);
        for (int to = t + 1; fits && to < c->count; to++)
            fits = !is_linked(n, chain_nest(p, c, to)) ||
                   (c->axis[to] >= 0 && slices_fit(n, a, chain_nest(p, c, to), c->axis[to]));
        if (fits)
            return a;
    }
    return -1;
}

/* From one nest's axis those of all others. False where they do not go together. */
static bool spread_axis(const struct program_ir *p, struct item_chain *c)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (int from = 0; from < c->count; from++)
            for (int to = from + 1; to < c->count; to++) {
                if (c->again[from] || !is_linked(chain_nest(p, c, from), chain_nest(p, c, to)) ||
                    (c->axis[from] < 0 && c->axis[to] < 0))
                    continue;
                const int known = c->axis[from] >= 0 ? from : to;
                const int other = known == from ? to : from;
                if (c->axis[other] >= 0) {
                    if (!slices_fit(chain_nest(p, c, from), c->axis[from], chain_nest(p, c, to),
                                    c->axis[to]))
                        return false;
                    continue;
                }
                if ((c->axis[other] = fitting_axis(p, c, other, known)) < 0)
                    return false;
                changed = true;
            }
    }
    for (int t = c->count; t-- > 0;) {
        if (c->again[t])
            c->axis[t] = axis_again(p, c, t);
        else if (c->axis[t] < 0)
            return false;
    }
    return true;
}

/* Keeps the better of two, where all axes can be divided so. */
static void try_parts(const struct program_ir *p, struct item_chain *now, int parts,
                      struct item_chain *best)
{
    for (int t = 0; parts > 1 && t < now->count; t++)
        if (now->axis[t] >= 0 && chain_nest(p, now, t)->extent[now->axis[t]] % parts != 0)
            return;
    now->parts = parts;
    now->cycles = chain_cycles(p, now);
    if (now->cycles < best->cycles)
        *best = *now;
}

/* How groups best divide the nests of a chain, as far as these know: by blocks, or by slices of them too. */
static void divide_chain(const struct program_ir *p, struct item_chain *c)
{
    const int last = c->count - 1;
    const struct nest *n = chain_nest(p, c, last);
    struct item_chain best = *c, now = *c;
    best.cycles = INFINITY;
    for (int a = -1; a < n->out_axes; a++) {
        for (int t = 0; t < c->count; t++)
            now.axis[t] = -1;
        if (a < 0) {
            try_parts(p, &now, 1, &best);
            continue;
        }
        now.axis[last] = a;
        if (!can_divide(n, a) || !spread_axis(p, &now))
            continue;
        for (int parts = 1; parts <= n->extent[a] / parts; parts++)
            if (n->extent[a] % parts == 0) {
                try_parts(p, &now, n->extent[a] / parts, &best);
                if (parts > 1)
                    try_parts(p, &now, parts, &best);
            }
    }
    *c = best;
}

/* ---- growing -------------------------------------------------------------------------------- */

struct item_chains *item_chains_begin(const struct program_ir *p)
{
    struct item_chains *s = arena_take(p->arena, sizeof *s);
    const size_t nests = (size_t)p->nest_count + 1;
    if (s == NULL)
        return NULL;
    s->of = arena_take(p->arena, nests * sizeof *s->of);
    s->first = arena_take(p->arena, nests * sizeof *s->first);
    if (s->of == NULL || s->first == NULL)
        return NULL;
    memset(s->first, -1, nests * sizeof *s->first);
    return s;
}

void item_chains_add(const struct program_ir *p, struct item_chains *s, const struct nest *n)
{
    const int i = (int)(n - p->nests);
    if (!can_chain(n))
        return;
    s->first[i] = i;
    s->of[i] = (struct item_chain){ .nest = { i }, .axis = { -1 }, .count = 1, .parts = 1 };
    s->of[i].cycles = nest_cycles_alone(p, n);
}

/* Puts a nest into a chain, in its place. False without room. */
static bool insert(struct item_chain *c, int nest, bool again)
{
    int at = c->count;
    if (at == LONGEST_CHAIN)
        return false;
    for (c->count++; at > 0 && c->nest[at - 1] > nest; at--) {
        c->nest[at] = c->nest[at - 1];
        c->again[at] = c->again[at - 1];
    }
    c->nest[at] = nest;
    c->again[at] = again;
    return true;
}

/* The place of a nest in a chain; -1: none. */
static int place_in(const struct item_chain *c, int nest)
{
    for (int t = 0; t < c->count; t++)
        if (c->nest[t] == nest)
            return t;
    return -1;
}

/* Adds the nests of a chain to those of another. False without room, or where one repeats what the other shares out. */
static bool merge(const struct item_chain *from, struct item_chain *to)
{
    for (int t = 0; t < from->count; t++) {
        const int there = place_in(to, from->nest[t]);
        if (there < 0 ? !insert(to, from->nest[t], from->again[t])
                      : to->again[there] != from->again[t])
            return false;
    }
    to->cycles += from->cycles;
    to->weight += from->weight;
    return true;
}

/* ---- what groups do again ------------------------------------------------------------------- */

/* Whether a copy of the value can be a group's own. */
static bool can_copy(const struct program_ir *p, const struct uses *u, int value)
{
    const struct value *v = &p->values[value];
    return v->place == PLACE_ARENA && v->layout == LAYOUT_PLAIN &&
           v->dtype == dtype_computed(v->dtype) &&
           u->writers.begin[value + 1] - u->writers.begin[value] == 1;
}

/* Adds a nest to those that a chain of a kernel repeats, and nests of this kernel that it reads. */
static bool add_again(const struct program_ir *p, const struct uses *u, int nest, int kernel,
                      struct item_chain *c)
{
    const struct nest *n = &p->nests[nest];
    const int there = place_in(c, nest);
    if (there >= 0)
        return c->again[there];
    if (!can_chain(n) || n->batched || n->combine == COMBINE_FMA || !insert(c, nest, true))
        return false;
    for (int e = 0; e < n->expr_count; e++) {
        const int v = n->exprs[e].kind == EXPR_LOAD ? n->exprs[e].access.value : -1;
        for (int i = v < 0 ? 0 : u->writers.begin[v]; v >= 0 && i < u->writers.begin[v + 1]; i++) {
            const struct nest *from = &p->nests[u->writers.nest[i]];
            const int written = placement_of(p, from)->kernel;
            if (written > kernel ||
                (written == kernel && from->kind != NEST_PRODUCT &&
                 (!can_copy(p, u, v) || !add_again(p, u, u->writers.nest[i], kernel, c))))
                return false;
        }
    }
    return true;
}

/* Whether all copies have room in an eighth of local memory, of which lanes and panels have the rest. */
static bool fits_locally(const struct program_ir *p, const struct uses *u,
                         const struct item_chain *c)
{
    size_t bytes = 0;
    for (int t = 0; t < c->count; t++)
        for (int s = 0; c->again[t] && s < chain_nest(p, c, t)->stores; s++) {
            const int value = chain_nest(p, c, t)->store[s].value;
            bytes += can_copy(p, u, value) ? p->values[value].bytes + 64 : 0;
        }
    return bytes <= p->target->local_bytes / 8;
}

/* What the copies add to the code of the kernel. */
static int weight_again(const struct program_ir *p, const struct item_chain *c)
{
    int weight = 0;
    for (int t = 0; t < c->count; t++)
        weight += c->again[t] ? chain_nest(p, c, t)->expr_count : 0;
    return weight;
}

/* ---- joining -------------------------------------------------------------------------------- */

/* Whether nest `n` may follow another one in a chain. */
static bool can_follow(const struct program_ir *p, const struct item_chains *s,
                       const struct nest *from, const struct nest *n)
{
    return can_chain(n) && can_chain(from) && s->first[from - p->nests] >= 0 &&
           from->batched == n->batched && reads_own_block(from, n);
}

/* Adds what writes a value that nest `n` reads to its chain: with the chain of the writer, or to be repeated. */
static bool join_writer(const struct program_ir *p, const struct uses *u,
                        const struct item_chains *s, const struct nest *n, int value, int writer,
                        int kernel, bool again, struct item_chain *c)
{
    const int there = place_in(c, writer);
    const bool follows = can_follow(p, s, &p->nests[writer], n), copied = can_copy(p, u, value);
    if (there >= 0)
        return c->again[there] ? copied : follows;
    const struct item_chain before = *c;
    if (copied && (again || !follows) && add_again(p, u, writer, kernel, c))
        return true;
    *c = before;
    return follows && merge(&s->of[s->first[writer]], c);
}

/* One chain of all those of a kernel that write what nest `n` reads. False where there is none. `again`: what can be
 * repeated is. */
static bool chain_before(const struct program_ir *p, const struct uses *u,
                         const struct item_chains *s, const struct nest *n, int kernel, bool again,
                         struct item_chain *c)
{
    *c = (struct item_chain){ 0 };
    for (int e = 0; e < n->expr_count; e++) {
        const int v = n->exprs[e].kind == EXPR_LOAD ? n->exprs[e].access.value : -1;
        for (int i = v < 0 ? 0 : u->writers.begin[v]; v >= 0 && i < u->writers.begin[v + 1]; i++) {
            const int writer = u->writers.nest[i];
            const struct nest *from = &p->nests[writer];
            if (placement_of(p, from)->kernel > kernel)
                return false; /* a product, which runs before its kernel */
            if (from->kind == NEST_PRODUCT || placement_of(p, from)->kernel < kernel)
                continue;
            if (!join_writer(p, u, s, n, v, writer, kernel, again, c))
                return false;
        }
    }
    return c->count > 0 && c->count < LONGEST_CHAIN;
}

static bool only_again(const struct item_chain *c)
{
    for (int t = 0; t < c->count; t++)
        if (!c->again[t])
            return false;
    return true;
}

/* The chain of a kernel that nest `n` makes longer, where that costs less than to wait for the kernel. */
static bool find_chain(const struct program_ir *p, const struct uses *u,
                       const struct item_chains *s, const struct nest *n, int kernel, bool again,
                       struct item_chain *c)
{
    if (!chain_before(p, u, s, n, kernel, again, c))
        return false;
    const double alone = nest_cycles_alone(p, n), launch = p->target->fusion.cut_work;
    const double apart = c->cycles + alone + launch;
    if (!can_chain(n)) {
        /* Its groups go on as they would, after what they repeat. */
        const double groups = nest_groups_alone(p, n);
        if (n->kind != NEST_LOOPS || !only_again(c))
            return false;
        c->cycles = alone + c->count * p->target->item.barrier_cycles;
        for (int t = 0; t < c->count; t++) {
            c->axis[t] = -1;
            c->cycles += chain_cycles_again(p, c, t, groups);
        }
        c->parts = 1;
    }
    c->again[c->count] = false;
    c->nest[c->count++] = (int)(n - p->nests);
    if (can_chain(n))
        divide_chain(p, c);
    return c->cycles <= apart;
}

bool item_chains_join(const struct program_ir *p, const struct uses *u, struct item_chains *s,
                      const struct nest *n, int kernel, int room, int *weight)
{
    struct item_chain c;
    if (!find_chain(p, u, s, n, kernel, false, &c) && !find_chain(p, u, s, n, kernel, true, &c))
        return false;
    const int repeated = weight_again(p, &c);
    *weight = repeated > c.weight ? repeated - c.weight : 0;
    c.weight = repeated;
    if (*weight > room || !fits_locally(p, u, &c))
        return false;
    const int head = chain_head(&c);
    s->of[head] = c;
    for (int t = 0; t < c.count; t++)
        if (!c.again[t])
            s->first[c.nest[t]] = head;
    return true;
}

/* ---- the end -------------------------------------------------------------------------------- */

/* Whether a barrier stands between two nests of a chain: for what one writes, or since both lay their lanes into the
 * same local memory. */
static bool waits(const struct nest *from, const struct nest *to)
{
    return is_linked(from, to) || (nest_sums_lanes(from) && nest_sums_lanes(to));
}

/* Notes a chain in the placements of its nests; returns how many it repeats, whose copies' placements go to `list`. */
static int note_chain(struct program_ir *p, const struct item_chain *c, int *readers,
                      struct repetition *list)
{
    const int head = chain_head(c);
    int stage[LONGEST_CHAIN], repeated = 0, reader_count = 0;
    for (int t = 0; t < c->count; t++) {
        stage[t] = 0;
        for (int before = 0; before < t; before++)
            if (waits(chain_nest(p, c, before), chain_nest(p, c, t)) && stage[before] >= stage[t])
                stage[t] = stage[before] + 1;
        struct placement *here = &p->placements[c->nest[t]];
        if (c->again[t]) {
            here = &list[repeated].placement;
            *here = p->placements[c->nest[t]];
            here->kernel = p->placements[head].kernel;
            here->replicated = true;
            list[repeated].readers = readers;
            list[repeated++].nest = c->nest[t];
        } else {
            readers[reader_count++] = c->nest[t];
        }
        here->stage = stage[t];
        if (!can_chain(chain_nest(p, c, t)))
            continue;
        here->chain = head;
        here->parts = c->axis[t] < 0 && c->again[t] ? 1 : c->parts;
        here->part_axis = c->axis[t];
    }
    for (int i = 0; i < repeated; i++)
        list[i].reader_count = reader_count;
    return repeated;
}

bool item_chains_end(struct program_ir *p, const struct item_chains *s)
{
    int repeated = 0;
    size_t most = 1;
    for (int i = 0; i < p->nest_count; i++)
        most += s->first[i] == i ? (size_t)s->of[i].count : 0;
    struct repetition *list = arena_take(p->arena, most * sizeof *list);
    int *readers = arena_take(p->arena, most * sizeof *readers);
    if (list == NULL || readers == NULL)
        return false;
    for (int i = 0; i < p->nest_count; i++)
        if (s->first[i] == i && s->of[i].count > 1) {
            repeated += note_chain(p, &s->of[i], readers, list + repeated);
            readers += s->of[i].count;
        }
    return repeat_nests(p, list, repeated);
}
