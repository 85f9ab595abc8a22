/* SPDX-License-Identifier: Apache-2.0 */
/* Staging: what a group of work-items reads of the operands of a contraction, it copies to local memory first, a
 * few elements of a summed axis at a time. The copy goes along memory, whatever the layout: weights that lie in rows,
 * of which work-items read columns, are turned so. What all work-items read alike lies side by side then, and comes in
 * wide loads. No sum changes its order. In: a nest with its tile. Out: its staging, where that costs less. */
#include <math.h>

#include "compile/4_schedule/schedule.h"
#include "compile/chunk.h"
#include "compile/lane.h"
#include "compile/panel.h"

#define LINE 32 /* floats of a line of memory: longer runs gain nothing */

/* ---- who does what -------------------------------------------------------------------------- */

/* Shares a group out: so many work-items along the axis of lanes, as often as there is room and tiles along another axis;
 * -1: once. False: not even that. */
static bool share_group(const struct program_ir *p, const struct nest *n, struct schedule *s,
                        int lanes, int across)
{
    struct staging *g = &s->staging;
    if (n->extent[s->lane_axis] % lanes != 0 || across == s->lane_axis)
        return false;
    g->lanes = lanes;
    g->across = across;
    g->teams = across < 0 ? 1 : p->group_size / lanes;
    while (across >= 0 && g->teams > 1 && n->extent[across] / s->tile[across] % g->teams != 0)
        g->teams--;
    return across < 0 || g->teams > 1;
}

/* ---- panels --------------------------------------------------------------------------------- */

static bool can_stage(const struct program_ir *p, const struct expr *e)
{
    const struct access *x = &e->access;
    return e->kind == EXPR_LOAD && x->gather < 0 && x->part_count == 0 && !x->in_block &&
           !dtype_is_wide(p->values[x->value].dtype);
}

/* Lays out what a group reads of a load: first the axis along which a work-item, or its neighbours, read it. */
static struct panel lay_out(const struct nest *n, const struct schedule *s, int expr, int begin)
{
    const struct access *x = &n->exprs[expr].access;
    struct panel out = { .expr = expr, .begin = begin, .first = -1 };
    out.by_lanes = access_uses(x, s->lane_axis);
    for (int a = 0; a < n->out_axes; a++)
        if (access_uses(x, a) && (out.first < 0 || s->tile[a] > s->tile[out.first]))
            out.first = a;
    if (out.by_lanes)
        out.first = s->lane_axis;
    if (out.first < 0)
        return out;
    const int32_t along = staging_box(n, s, out.first);
    /* Rows begin in other banks of local memory, since the copy may go from row to row; wide ones whole
     * registers apart. */
    int32_t pitch = out.by_lanes ? along + 1 : (along + WIDE - 1) / WIDE * WIDE + WIDE;
    out.pitch[out.first] = 1;
    for (int i = 0; i < n->axes; i++) {
        const int a = i < n->out_axes ? i : n->axes - 1 - (i - n->out_axes);
        if (a == out.first || !access_uses(x, a) || staging_box(n, s, a) == 0)
            continue;
        out.pitch[a] = pitch;
        pitch *= staging_box(n, s, a);
    }
    out.words = (pitch + WIDE - 1) / WIDE * WIDE;
    return out;
}

/* ---- costs ---------------------------------------------------------------------------------- */

/* Stages with this axis and step those loads that gain; what that saves, in cycles of a unit for a term. Work-items that only
 * copy leave their share of loads and multiply-adds to the rest. */
static double saved(const struct program_ir *p, const struct nest *n, const bool *met,
                    struct schedule *s)
{
    const struct item_figures *f = &p->target->item;
    struct staging *g = &s->staging;
    const double terms = panel_terms(n, s), warps = p->group_size / 32.0;
    const double resident = fmax(1, (double)f->resident_teams * LANES / p->group_size);
    const double share = (double)staging_items(g) / p->group_size;
    double before = p->group_size * nest_points(n, s) / p->target->time.term_rate, after = before;
    int begin = 0;
    g->panels = 0;
    for (int e = 0; e < n->expr_count; e++) {
        if (!met[e] || n->exprs[e].kind != EXPR_LOAD)
            continue;
        const double direct = direct_requests(n, s, &n->exprs[e].access);
        before += warps * direct;
        after += warps * direct;
        if (g->panels == MOST_PANELS || !can_stage(p, &n->exprs[e]))
            continue;
        const struct panel of = lay_out(n, s, e, begin);
        if (of.first < 0 || (size_t)(begin + of.words) * sizeof(float) > f->panel_bytes)
            continue;
        const double gain = direct - panel_requests(p, n, s, &of);
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
    return p->target->item.panel_bytes > 0 && n->combine == COMBINE_FMA && !n->batched &&
           n->axes > n->out_axes && !nest_sums_lanes(n) && s->lane_axis >= 0 &&
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
static void choose_step(const struct program_ir *p, const struct nest *n, const bool *met,
                        struct schedule *s, double *most, struct staging *best)
{
    const struct chunks c = nest_chunks(n, false);
    for (int axis = n->out_axes; axis < n->axes && s->tile[axis] == 1; axis++) {
        int32_t range = n->extent[axis];
        for (int l = 0; l < c.levels; l++)
            range = c.of[l].axis == axis && c.of[l].step < range ? c.of[l].step : range;
        for (int step = 1; step <= range && step <= LINE; step++) {
            if (n->extent[axis] % step != 0 || range % step != 0)
                continue;
            s->staging.axis = axis;
            s->staging.step = step;
            const double gain = saved(p, n, met, s);
            if (gain > *most) {
                *most = gain;
                *best = s->staging;
            }
        }
    }
}

static int staged_groups(const struct nest *n, const struct schedule *s)
{
    int groups = 1;
    for (int a = 0; a < n->out_axes; a++)
        groups *= n->extent[a] / staging_box(n, s, a);
    return groups;
}

void choose_staging(const struct program_ir *p, const struct nest *n, struct schedule *s)
{
    struct staging best = { 0 };
    double most = 0;
    if (!may_be_staged(p, n, s))
        return;
    bool *met = arena_take(p->arena, (size_t)n->expr_count + 1);
    if (met == NULL)
        return;
    mark(n, n->body[0], met);
    mark(n, n->body[1], met);
    for (int lanes = p->group_size; lanes >= LANES; lanes--)
        for (int across = -1; across < n->out_axes; across++)
            if (share_group(p, n, s, lanes, across))
                choose_step(p, n, met, s, &most, &best);
    s->staging = best;
    if (best.panels > 0)
        s->groups = staged_groups(n, s);
}
