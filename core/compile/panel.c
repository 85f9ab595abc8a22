/* SPDX-License-Identifier: Apache-2.0 */
/* What a panel of local memory holds, and what it costs to read an operand through it or without. The schedule chooses
 * by it, source is printed by it, and item_cost.c judges by it. In: a nest with staging. Out: sizes, and requests of 32
 * work-items. It must not know the target. */
#include "compile/panel.h"

#include <stdlib.h>

#define WORST_STRIDE 8 /* requests that one of scattered floats takes: a sector for each of 32 */

int32_t staging_box(const struct nest *n, const struct schedule *s, int a)
{
    const struct staging *g = &s->staging;
    if (a >= n->out_axes)
        return a < g->axis ? 0 : a == g->axis ? g->step : n->extent[a];
    return a == s->lane_axis ? g->lanes : a == g->across ? s->tile[a] * g->teams : s->tile[a];
}

int panel_axes(const struct nest *n, const struct panel *of, int axes[NEST_AXES])
{
    const struct affine *e = &n->exprs[of->expr].access.address;
    int count = 0;
    for (int a = 0; a < n->axes; a++) {
        int at = count;
        if (of->pitch[a] == 0)
            continue;
        for (; at > 0 && abs(e->k[axes[at - 1]]) > abs(e->k[a]); at--)
            axes[at] = axes[at - 1];
        axes[at] = a;
        count++;
    }
    return count;
}

bool panel_in_range(const struct program_ir *p, const struct nest *n, const struct access *x)
{
    const struct value *v = &p->values[x->value];
    int64_t low = x->address.constant, high = low;
    for (int a = 0; a < n->axes; a++) {
        const int64_t span = (int64_t)x->address.k[a] * (n->extent[a] - 1);
        *(span < 0 ? &low : &high) += span;
    }
    return low >= 0 && high < tarn_shape_count(v->shape);
}

/* Elements of a panel. */
static double elements(const struct nest *n, const struct schedule *s, const struct panel *of)
{
    double all = 1;
    for (int a = 0; a < n->axes; a++)
        all *= of->pitch[a] != 0 ? staging_box(n, s, a) : 1;
    return all;
}

static double points_using(const struct nest *n, const struct schedule *s, const struct access *x)
{
    double points = 1;
    for (int a = 0; a < n->out_axes; a++)
        points *= a != s->lane_axis && access_uses(x, a) ? s->tile[a] : 1;
    return points;
}

double strided_requests(const struct access *x, int lane)
{
    const int stride = abs(x->address.k[lane]);
    return stride > WORST_STRIDE ? WORST_STRIDE : stride > 1 ? stride : 1;
}

double direct_requests(const struct nest *n, const struct schedule *s, const struct access *x)
{
    return points_using(n, s, x) * strided_requests(x, s->lane_axis);
}

double panel_terms(const struct nest *n, const struct schedule *s)
{
    double terms = s->staging.step;
    for (int a = s->staging.axis + 1; a < n->axes; a++)
        terms *= n->extent[a];
    return terms;
}

/* Elements that one load takes, of those that lie side by side in a tile. */
static int load_width(const struct schedule *s, const struct panel *of)
{
    const int size = s->tile[of->first];
    return of->by_lanes ? 1 : size % WIDE == 0 ? WIDE : size % 2 == 0 ? 2 : 1;
}

/* From a panel, which is filled by one load and one store for each element: it goes along memory in runs of a step. */
double panel_requests(const struct program_ir *p, const struct nest *n, const struct schedule *s,
                      const struct panel *of)
{
    const struct access *x = &n->exprs[of->expr].access;
    const double run = (double)staging_box(n, s, s->staging.axis);
    const double broken = of->by_lanes && run < WORST_STRIDE ? WORST_STRIDE / run : 1;
    return points_using(n, s, x) / load_width(s, of) +
           (1 + broken) * elements(n, s, of) / p->group_size / panel_terms(n, s);
}
