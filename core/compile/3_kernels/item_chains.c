/* SPDX-License-Identifier: Apache-2.0 */
/* Chains of nests for work-items. Nests that wait for each other share a kernel where the group that computes some
 * elements of the one also computes all that the other reads of them: then a barrier of the group between them is
 * enough, and a launch is saved. Groups have a batch block each, or a slice of one along an axis that all nests of
 * the chain have; without the batch a slice of all, or one group has all of it. A chain has fewer work-items for a nest than
 * a kernel of its own, so it grows only while that costs less than a launch. In: nests, and kernels of those before.
 * Out: chains. It changes no order of a sum. */
#include <math.h>
#include <string.h>

#include "compile/3_kernels/divide.h"
#include "compile/3_kernels/fuse.h"
#include "compile/lane.h"
#include "tensor/sum_order.h"

#define LONGEST_CHAIN 16 /* nests */

struct item_chain {
    int nest[LONGEST_CHAIN],
        axis[LONGEST_CHAIN]; /* each with the axis that groups divide; -1: they have whole blocks */
    int count, parts;
    double cycles;
};

struct item_chains {
    struct item_chain *of; /* by the first nest */
    int *first;            /* by nest: that of its chain; -1: it can have none */
};

static const struct nest *nest_at(const struct program_ir *p, const struct item_chain *c, int t)
{
    return &p->nests[c->nest[t]];
}

static bool can_chain(const struct nest *n)
{
    return n->kind == NEST_LOOPS && !n->partial && !n->by_sample;
}

/* ---- cycles --------------------------------------------------------------------------------- */

static double rounds_up(double count, double at_once)
{
    return ceil(count / at_once);
}

static int teams_of_group(const struct program_ir *p)
{
    return p->target->item.group_items / LANES;
}

/* Teams that a nest has work for in each batch block, and terms that each adds up one after the other. */
static double teams_of(const struct nest *n, double *terms)
{
    const bool sums_lanes = nest_sums_lanes(n);
    double teams = 1;
    *terms = 1;
    for (int a = 0; a < n->axes; a++)
        if (a >= n->out_axes)
            *terms *= n->extent[a];
        else if (!n->batched || a != n->batch_axis)
            teams *= n->extent[a];
    if (sums_lanes)
        *terms = ceil(*terms / LANES);
    else if (!n->batched)
        teams = ceil(teams / LANES);
    return teams;
}

static double teams_at_once(const struct program_ir *p)
{
    const struct item_figures *f = &p->target->item;
    const double teams = (double)f->units * f->resident_teams;
    return teams < 1 ? 1 : teams;
}

/* Of a nest in a kernel without chains. */
static double cycles_alone(const struct program_ir *p, const struct nest *n)
{
    double terms;
    const double teams = teams_of(n, &terms) * (n->batched ? p->blocks : 1);
    return p->target->item.term_cycles * terms * rounds_up(teams, teams_at_once(p));
}

/* A tile of a by b accumulators loads a + b for as many multiply-adds; where a slice has no room for a square one there
 * are so many times as many. */
static double more_loads(const struct program_ir *p, const struct item_chain *c, int t)
{
    const struct nest *n = nest_at(p, c, t);
    const double side = sqrt(p->target->item.accumulators);
    const double slice = c->parts > 1 ? (double)n->extent[c->axis[t]] / c->parts : side;
    return n->combine != COMBINE_FMA || slice >= side ? 1 : (1 / slice + 1 / side) / (2 / side);
}

static double cycles_of(const struct program_ir *p, const struct item_chain *c)
{
    const struct item_figures *f = &p->target->item;
    double cycles = (c->count - 1) * f->barrier_cycles;
    for (int t = 0; t < c->count; t++) {
        const struct nest *n = nest_at(p, c, t);
        const double groups = (n->batched ? p->blocks : 1) * (double)c->parts;
        double terms;
        const double rounds = rounds_up(teams_of(n, &terms) / c->parts, teams_of_group(p));
        if (rounds > 1 && nest_sums_lanes(n))
            return INFINITY; /* a team adds up the lanes of one tile */
        cycles += f->term_cycles * terms * rounds * more_loads(p, c, t) *
                  rounds_up(groups * teams_of_group(p), teams_at_once(p));
    }
    return cycles;
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
    const struct nest *n = nest_at(p, c, t), *other = nest_at(p, c, with);
    for (int a = 0; a < n->out_axes; a++)
        if (can_divide(n, a) && (t < with ? slices_fit(n, a, other, c->axis[with])
                                          : slices_fit(other, c->axis[with], n, a)))
            return a;
    return -1;
}

/* From one nest's axis those of all others. False where they do not go together. */
static bool spread_axis(const struct program_ir *p, struct item_chain *c)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (int from = 0; from < c->count; from++)
            for (int to = from + 1; to < c->count; to++) {
                if (!is_linked(nest_at(p, c, from), nest_at(p, c, to)) ||
                    (c->axis[from] < 0 && c->axis[to] < 0))
                    continue;
                const int known = c->axis[from] >= 0 ? from : to;
                const int other = known == from ? to : from;
                if (c->axis[other] >= 0) {
                    if (!slices_fit(nest_at(p, c, from), c->axis[from], nest_at(p, c, to),
                                    c->axis[to]))
                        return false;
                    continue;
                }
                if ((c->axis[other] = fitting_axis(p, c, other, known)) < 0)
                    return false;
                changed = true;
            }
    }
    for (int t = 0; t < c->count; t++)
        if (c->axis[t] < 0)
            return false;
    return true;
}

/* Keeps the better of two, where all axes can be divided so. */
static void try_parts(const struct program_ir *p, struct item_chain *now, int parts,
                      struct item_chain *best)
{
    for (int t = 0; parts > 1 && t < now->count; t++)
        if (nest_at(p, now, t)->extent[now->axis[t]] % parts != 0)
            return;
    now->parts = parts;
    now->cycles = cycles_of(p, now);
    if (now->cycles < best->cycles)
        *best = *now;
}

/* How groups best divide the nests of a chain, as far as these know: by blocks, or by slices of them too. */
static void divide_chain(const struct program_ir *p, struct item_chain *c)
{
    const int last = c->count - 1;
    const struct nest *n = nest_at(p, c, last);
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
    s->of[i].cycles = cycles_alone(p, n);
}

/* Adds the nests of a chain to those of another, in their order. False without room. */
static bool merge(const struct item_chain *from, struct item_chain *to)
{
    if (from->count + to->count > LONGEST_CHAIN)
        return false;
    for (int t = 0; t < from->count; t++) {
        int at = to->count++;
        for (; at > 0 && to->nest[at - 1] > from->nest[t]; at--)
            to->nest[at] = to->nest[at - 1];
        to->nest[at] = from->nest[t];
    }
    to->cycles += from->cycles;
    return true;
}

static bool has_nest(const struct item_chain *c, int nest)
{
    for (int t = 0; t < c->count; t++)
        if (c->nest[t] == nest)
            return true;
    return false;
}

/* One chain of all those of a kernel that write what nest `n` reads. False where there is none. */
static bool chain_before(const struct program_ir *p, const struct uses *u,
                         const struct item_chains *s, const struct nest *n, int kernel,
                         struct item_chain *c)
{
    *c = (struct item_chain){ 0 };
    for (int e = 0; e < n->expr_count; e++) {
        const int v = n->exprs[e].kind == EXPR_LOAD ? n->exprs[e].access.value : -1;
        for (int i = v < 0 ? 0 : u->writers.begin[v]; v >= 0 && i < u->writers.begin[v + 1]; i++) {
            const struct nest *from = &p->nests[u->writers.nest[i]];
            const int of = s->first[u->writers.nest[i]];
            if (placement_of(p, from)->kernel > kernel)
                return false; /* a product, which runs before its kernel */
            if (from->kind == NEST_PRODUCT || placement_of(p, from)->kernel < kernel)
                continue;
            if (of < 0 || from->batched != n->batched || !reads_own_block(from, n) ||
                (!has_nest(c, u->writers.nest[i]) && !merge(&s->of[of], c)))
                return false;
        }
    }
    return c->count > 0 && c->count < LONGEST_CHAIN;
}

bool item_chains_join(const struct program_ir *p, const struct uses *u, struct item_chains *s,
                      const struct nest *n, int kernel)
{
    struct item_chain c;
    if (!can_chain(n) || !chain_before(p, u, s, n, kernel, &c))
        return false;
    const double apart = c.cycles + cycles_alone(p, n) + p->target->fusion.cut_work;
    c.nest[c.count++] = (int)(n - p->nests);
    divide_chain(p, &c);
    if (c.cycles > apart)
        return false;
    s->of[c.nest[0]] = c;
    for (int t = 0; t < c.count; t++)
        s->first[c.nest[t]] = c.nest[0];
    return true;
}

/* Whether a barrier stands between two nests of a chain: for what one writes, or since both lay their lanes into the
 * same local memory. */
static bool waits(const struct nest *from, const struct nest *to)
{
    return is_linked(from, to) || (nest_sums_lanes(from) && nest_sums_lanes(to));
}

void item_chains_end(struct program_ir *p, const struct item_chains *s)
{
    for (int i = 0; i < p->nest_count; i++) {
        const struct item_chain *c = s->first[i] == i ? &s->of[i] : NULL;
        for (int t = 0; c != NULL && c->count > 1 && t < c->count; t++) {
            struct placement *here = &p->placements[c->nest[t]];
            here->chain = i;
            here->parts = c->parts;
            here->part_axis = c->axis[t];
            here->stage = 0;
            for (int before = 0; before < t; before++)
                if (waits(nest_at(p, c, before), nest_at(p, c, t)) &&
                    p->placements[c->nest[before]].stage >= here->stage)
                    here->stage = p->placements[c->nest[before]].stage + 1;
        }
    }
}
