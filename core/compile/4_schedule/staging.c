/* SPDX-License-Identifier: Apache-2.0 */
/* Staging: what a group of work-items reads of the operands of a contraction, it copies to local memory first, a
 * few elements of a summed axis at a time. The copy goes along memory, whatever the layout: weights that lie in rows,
 * of which work-items read columns, are turned so. What all work-items read alike lies side by side then, and comes in
 * wide loads. No sum changes its order. In: a nest with its tile. Out: its staging, where that costs less. */
#include <math.h>

#include "compile/4_schedule/schedule.h"
#include "compile/chunk.h"
#include "compile/item_cost.h"
#include "compile/lane.h"
#include "compile/panel.h"
#include "tensor/sum_order.h"

#define LINE 32 /* floats of a line of memory: longer runs gain nothing */

/* ---- who does what -------------------------------------------------------------------------- */

/* Shares a group out: so many work-items along the axis of lanes, as often as there is room and tiles along another axis;
 * -1: once. False: not even that. */
static bool share_group(const struct program_ir *p, const struct nest *n, struct schedule *s,
                        int lanes, int across)
{
    struct staging *g = &s->staging;
    const int lane = nest_vector_axis(n, s);
    if (staging_extent(n, s, lane) % lanes != 0 || across == lane ||
        (nest_has_batch_lanes(n) && lanes % LANES != 0))
        return false;
    g->lanes = lanes;
    g->across = across;
    g->teams = across < 0 ? 1 : p->group_size / lanes;
    while (across >= 0 && g->teams > 1 && n->extent[across] / s->tile[across] % g->teams != 0)
        g->teams--;
    return across < 0 || g->teams > 1;
}

/* ---- panels --------------------------------------------------------------------------------- */

/* Samples past the last one are read of blocks, which have room for them, alone. */
static bool can_stage(const struct program_ir *p, const struct nest *n, const struct expr *e)
{
    const struct access *x = &e->access;
    const bool tail = n->batched && n->extent[n->batch_axis] % LANES != 0;
    return e->kind == EXPR_LOAD && x->gather < 0 && x->part_count == 0 &&
           !dtype_is_wide(p->values[x->value].dtype) &&
           (x->in_block || !tail || !access_uses(x, n->batch_axis));
}

/* ---- costs ---------------------------------------------------------------------------------- */

/* Cycles of a unit for a term of all accumulators of a group whose loads come from memory. */
static double unstaged(const struct program_ir *p, const struct nest *n, const double *addresses,
                       const struct schedule *s)
{
    double cycles = p->group_size * nest_points(n, s) / p->target->time.term_rate;
    for (int e = 0; e < n->expr_count; e++)
        if (addresses[e] > 0)
            cycles +=
                p->group_size / 32.0 * direct_requests(n, s, &n->exprs[e].access, addresses[e]);
    return cycles;
}

/* Stages with this axis and step those loads that gain; what of these cycles that saves. Work-items that only copy leave
 * their share of loads and multiply-adds to the rest. */
static double saved(const struct program_ir *p, const struct nest *n, const double *addresses,
                    double before, struct schedule *s)
{
    const struct item_figures *f = &p->target->item;
    struct staging *g = &s->staging;
    const double terms = panel_terms(n, s), warps = p->group_size / 32.0;
    const double resident = fmax(1, (double)f->resident_teams * LANES / p->group_size);
    const double share = (double)staging_items(g) / p->group_size;
    double after = before;
    int begin = 0;
    g->panels = 0;
    for (int e = 0; e < n->expr_count && g->panels < MOST_PANELS; e++) {
        if (addresses[e] == 0 || !can_stage(p, n, &n->exprs[e]))
            continue;
        const struct panel of = panel_of_load(n, s, e, begin);
        if (of.first < 0 || (size_t)(begin + of.words) * sizeof(float) > f->panel_bytes)
            continue;
        const double gain = direct_requests(n, s, &n->exprs[e].access, addresses[e]) -
                            panel_requests(p, n, s, &of, addresses[e]);
        if (gain <= 0)
            continue;
        after -= warps * gain;
        g->panel[g->panels++] = of;
        begin += of.words;
    }
    return g->panels > 0 ? before - after / share - 2 * f->barrier_cycles / resident / terms : 0;
}

/* ---- the choice ----------------------------------------------------------------------------- */

bool may_be_staged(const struct program_ir *p, const struct nest *n, const struct schedule *s)
{
    const bool whole =
        !n->by_sample || (n->extent[n->batch_axis] % LANES == 0 && n->axes == n->out_axes + 1 &&
                          placement_of(p, n)->stage == 0);
    return p->target->item.panel_bytes > 0 && n->combine == COMBINE_FMA && whole &&
           n->axes > n->out_axes && !nest_sums_lanes(n) && nest_vector_axis(n, s) >= 0 &&
           placement_of(p, n)->chain < 0;
}

/* The expressions that a body is made of. */
static void mark(const struct nest *n, int root, bool *met)
{
    if (root < 0 || met[root])
        return;
    met[root] = true;
    for (int i = 0; i < n->exprs[root].args; i++)
        mark(n, n->exprs[root].arg[i], met);
}

/* The step of a summed axis that saves the most, for a group that is shared out. */
static void choose_step(const struct program_ir *p, const struct nest *n, const double *addresses,
                        double before, struct schedule *s, double *most, struct staging *best)
{
    const struct chunks c = nest_chunks(n, false);
    for (int axis = n->out_axes; axis < n->axes && s->tile[axis] == 1; axis++) {
        int32_t range = n->extent[axis];
        for (int l = 0; l < c.levels; l++)
            range = c.of[l].axis == axis && c.of[l].step < range ? c.of[l].step : range;
        for (int step = 1; step <= range && step <= LINE; step++) {
            if (n->extent[axis] % step != 0 || range % step != 0 ||
                (n->by_sample && step != LANES)) /* a block */
                continue;
            s->staging.axis = axis;
            s->staging.step = step;
            const double gain = saved(p, n, addresses, before, s);
            if (gain > *most) {
                *most = gain;
                *best = s->staging;
            }
        }
    }
}

static int staged_groups(const struct program_ir *p, const struct nest *n, const struct schedule *s)
{
    int groups = n->partial ? p->groups : 1;
    for (int a = 0; a < n->out_axes; a++)
        groups *= staging_extent(n, s, a) / staging_box(n, s, a);
    return groups;
}

/* Of each load, for a term of all accumulators; 0 of what is no term's. NULL without memory. */
static double *count_addresses(const struct program_ir *p, const struct nest *n,
                               const struct schedule *s)
{
    bool *met = arena_take(p->arena, (size_t)n->expr_count + 1);
    double *addresses = arena_take(p->arena, ((size_t)n->expr_count + 1) * sizeof *addresses);
    if (met == NULL || addresses == NULL)
        return NULL;
    mark(n, n->body[0], met);
    mark(n, n->body[1], met);
    for (int e = 0; e < n->expr_count; e++)
        if (met[e] && n->exprs[e].kind == EXPR_LOAD)
            addresses[e] = nest_points(n, s) * nest_item_addresses(p, n, &n->exprs[e].access);
    return addresses;
}

double choose_staging(const struct program_ir *p, const struct nest *n, struct schedule *s)
{
    struct staging best = { 0 };
    double most = 0;
    const double *addresses = count_addresses(p, n, s);
    if (addresses == NULL)
        return 0;
    const double before = unstaged(p, n, addresses, s);
    for (int lanes = p->group_size; lanes >= LANES; lanes--)
        for (int across = -1; across < n->out_axes; across++)
            if (share_group(p, n, s, lanes, across))
                choose_step(p, n, addresses, before, s, &most, &best);
    s->staging = best;
    if (best.panels > 0)
        s->groups = staged_groups(p, n, s);
    return (before - most) / nest_points(n, s);
}

double unstaged_cycles(const struct program_ir *p, const struct nest *n, const struct schedule *s)
{
    const double *addresses = count_addresses(p, n, s);
    return addresses == NULL ? 0 : unstaged(p, n, addresses, s) / nest_points(n, s);
}
