/* SPDX-License-Identifier: Apache-2.0 */
/* What chains of nests cost work-items. A group does its slice of each nest in rounds, each of which waits for memory; and
 * the loads of a contraction go through one after the other, more of them the fewer accumulators a work-item has. In:
 * nests, and how groups divide them. Out: cycles. Changes nothing. */
#include <math.h>

#include "compile/3_kernels/item_chain.h"
#include "compile/item_cost.h"
#include "compile/lane.h"
#include "compile/panel.h"
#include "tensor/sum_order.h"

#define PIECE 8          /* floats */
#define TERMS_OF_ROUND 8 /* of a sum, whose loads are under way together */

int chain_head(const struct item_chain *c)
{
    int t = 0;
    while (c->again[t])
        t++;
    return c->nest[t];
}

/* ---- waiting -------------------------------------------------------------------------------- */

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

/* Of batch blocks; rows of partial sums are so many. */
static double blocks_of(const struct program_ir *p, const struct nest *n)
{
    return !n->batched ? 1 : n->partial ? p->groups : p->blocks;
}

/* Of a work-item that adds up so many terms. */
static double cycles_of_terms(const struct program_ir *p, double terms)
{
    return p->target->item.round_cycles * rounds_up(terms, TERMS_OF_ROUND);
}

/* Memory comes in pieces of so many floats. A slice of an axis that lies along memory which is shorter uses a part of each,
 * and so there are as many times more of them. */
static double more_pieces(const struct program_ir *p, const struct item_chain *c, int t)
{
    const struct nest *n = chain_nest(p, c, t);
    const int a = c->axis[t];
    bool along = false;
    double terms;
    if (c->parts == 1 || n->batched || nest_sums_lanes(n) ||
        teams_of(n, &terms) <= teams_of_group(p)) /* so little comes from a cache */
        return 1;
    const int32_t slice = n->extent[a] / c->parts;
    for (int s = 0; s < n->stores; s++)
        along |= n->store[s].address.k[a] == 1;
    for (int e = 0; e < n->expr_count; e++)
        along |= n->exprs[e].kind == EXPR_LOAD && n->exprs[e].access.address.k[a] == 1;
    return along && slice < PIECE ? (double)PIECE / slice : 1;
}

/* ---- loads of contractions ------------------------------------------------------------------ */

/* How a nest is divided among work-items. */
struct share {
    double items;    /* so many of them share it, */
    int axis, parts; /* whose groups have a part of this axis each; -1: of none */
    bool staged;     /* operands go through local memory */
};

/* The most results of one work-item that use the same element of a load. */
static double most_uses(const struct nest *n, const struct access *x, int lane,
                        const struct share *s)
{
    double uses = 1;
    for (int a = 0; a < n->out_axes; a++)
        if (a != lane && !(n->batched && a == n->batch_axis) && !access_uses(x, a))
            uses *= (double)n->extent[a] / (a == s->axis ? s->parts : 1);
    return uses;
}

/* Requests of 32 work-items for one multiply-add of each, which have so many accumulators. A tile of them is nearly square
 * where axes are long enough. What lies apart in memory takes more of them; through local memory it does not, and what all
 * work-items read alike comes in wide loads. */
static double term_requests(const struct nest *n, double accumulators, const struct share *s)
{
    const int lane = n->batched ? n->batch_axis : nest_item_lane(n);
    double requests = 0, least = sqrt(accumulators);
    for (int e = 0; e < n->expr_count; e++)
        if (n->exprs[e].kind == EXPR_LOAD)
            least = fmin(least, most_uses(n, &n->exprs[e].access, lane, s));
    for (int e = 0; e < n->expr_count; e++) {
        const struct access *x = &n->exprs[e].access;
        if (n->exprs[e].kind != EXPR_LOAD)
            continue;
        const double uses = fmax(1, fmin(most_uses(n, x, lane, s), accumulators / least));
        const bool alike = lane >= 0 && !x->in_block && !access_uses(x, lane);
        requests += (lane < 0     ? 1
                     : s->staged  ? alike ? 1.0 / WIDE : 0.5
                     : n->batched ? 1
                                  : strided_requests(x, lane)) /
                    uses;
    }
    return requests;
}

/* Cycles in which the loads of a contraction go through. */
static double cycles_of_loads(const struct program_ir *p, const struct nest *n,
                              const struct share *s)
{
    const struct item_figures *f = &p->target->item;
    double terms;
    if (n->combine != COMBINE_FMA || nest_sums_lanes(n))
        return 0;
    const double results = teams_of(n, &terms) * blocks_of(p, n) * LANES;
    const int most = s->staged ? f->running_sums : f->accumulators;
    const double accumulators = fmin(fmax(results / s->items, 1), most);
    const double units = fmax(1, fmin(f->units, s->items / f->group_items));
    return f->request_cycles * results * terms / REQUEST_ITEMS * term_requests(n, accumulators, s) /
           units;
}

/* ---- nests and chains ----------------------------------------------------------------------- */

double nest_groups_alone(const struct program_ir *p, const struct nest *n)
{
    double terms;
    return rounds_up(teams_of(n, &terms), teams_of_group(p)) * blocks_of(p, n);
}

double nest_cycles_alone(const struct program_ir *p, const struct nest *n)
{
    const struct item_figures *f = &p->target->item;
    double terms;
    const double teams = teams_of(n, &terms) * blocks_of(p, n);
    const struct share share = {
        .items = fmin(teams, fmax(1, (double)f->units * f->teams_per_unit)) * LANES,
        .axis = -1,
        .staged = !n->by_sample && f->panel_bytes > 0,
    };
    return fmax(cycles_of_terms(p, terms) * rounds_up(teams, teams_at_once(p)),
                cycles_of_loads(p, n, &share));
}

/* What a group does again, all groups do. The loads of a term are under way together, as those of four terms are. */
double chain_cycles_again(const struct program_ir *p, const struct item_chain *c, int t,
                          double groups)
{
    const struct nest *n = chain_nest(p, c, t);
    double terms, loads = 0;
    const double slices = c->axis[t] < 0 ? 1 : c->parts;
    const double rounds = rounds_up(teams_of(n, &terms) / slices, teams_of_group(p));
    for (int e = 0; e < n->expr_count; e++)
        loads += n->exprs[e].kind == EXPR_LOAD;
    if (rounds > 1 && nest_sums_lanes(n))
        return INFINITY;
    return cycles_of_terms(p, terms * (1 + loads / 4)) * rounds *
           rounds_up(groups * teams_of_group(p), teams_at_once(p));
}

double chain_cycles(const struct program_ir *p, const struct item_chain *c)
{
    const struct item_figures *f = &p->target->item;
    const double groups = blocks_of(p, &p->nests[chain_head(c)]) * (double)c->parts;
    const double waves = rounds_up(groups * teams_of_group(p), teams_at_once(p));
    double cycles = (c->count - 1) * f->barrier_cycles;
    for (int t = 0; t < c->count; t++) {
        const struct nest *n = chain_nest(p, c, t);
        const struct share share = { groups * f->group_items, c->axis[t], c->parts, false };
        double terms;
        if (c->again[t]) {
            cycles += chain_cycles_again(p, c, t, groups);
            continue;
        }
        const double rounds = rounds_up(teams_of(n, &terms) / c->parts, teams_of_group(p));
        if (rounds > 1 && nest_sums_lanes(n))
            return INFINITY; /* a team adds up the lanes of one tile */
        cycles += fmax(cycles_of_terms(p, terms) * rounds * more_pieces(p, c, t) * waves,
                       cycles_of_loads(p, n, &share));
    }
    return cycles;
}
