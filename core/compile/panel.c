/* SPDX-License-Identifier: Apache-2.0 */
/* What a panel of local memory holds, how it lies there, and what it costs to read an operand through it or without. The
 * schedule chooses by it, source is printed by it, and item_cost.c judges by it. In: a nest with staging. Out: panels,
 * sizes, and requests of 32 work-items. It must not know the target. */
#include "compile/panel.h"

#include <math.h>
#include <stdlib.h>

#include "tensor/sum_order.h"

#define WORST_STRIDE 8 /* requests that one of scattered floats takes: a sector for each of 32 */
#define REQUEST 32     /* work-items */

/* ---- boxes ---------------------------------------------------------------------------------- */

int32_t staging_extent(const struct nest *n, const struct schedule *s, int a)
{
    const bool samples = nest_has_batch_lanes(n) && a == nest_vector_axis(n, s);
    return samples ? (n->extent[a] + LANES - 1) / LANES * LANES : n->extent[a];
}

int32_t staging_box(const struct nest *n, const struct schedule *s, int a)
{
    const struct staging *g = &s->staging;
    if (a >= n->out_axes)
        return a < g->axis ? 0 : a == g->axis ? g->step : n->extent[a];
    return a == nest_vector_axis(n, s) ? g->lanes
           : a == g->across            ? s->tile[a] * g->teams
                                       : s->tile[a];
}

static bool uses(const struct nest *n, const struct access *x, int a)
{
    return access_uses(x, a) || (x->in_block && a == n->batch_axis);
}

/* Where an axis and a window along it meet in the same elements, one of them takes in those of the other, whose steps are
 * as long or a multiple; one that has others' is not left out itself, which they are counted by. Returns the axis that is
 * left out, or -1. */
static int join_window(const struct nest *n, const struct schedule *s, struct panel *of, int a,
                       int r, bool *taken, int *ratio)
{
    const struct affine *e = &n->exprs[of->expr].access.address;
    const int ka = e->k[a], kr = e->k[r];
    if (of->box[a] < 2 || of->box[r] < 2 || ka == 0 || kr == 0 ||
        (n->batched && a == n->batch_axis))
        return -1;
    const bool by_axis = kr % ka == 0;
    const int base = by_axis ? a : r, other = by_axis ? r : a;
    if (e->k[other] % e->k[base] != 0 || (!by_axis && a == nest_vector_axis(n, s)))
        return -1;
    *ratio = e->k[other] / e->k[base];
    const int32_t span = *ratio * (of->box[other] - 1), both = of->box[base] + abs(span);
    if (both >= of->box[base] * of->box[other] || of->low[base] != 0 || taken[other])
        return -1;
    taken[base] = true;
    of->box[base] = both;
    of->low[base] = span < 0 ? span : 0;
    of->box[other] = 0;
    return other;
}

/* ---- layout --------------------------------------------------------------------------------- */

/* The axis of which a work-item reads what lies side by side in wide loads: that of the largest tile. */
static int widest_axis(const struct nest *n, const struct schedule *s, const struct panel *of)
{
    int best = -1;
    for (int a = 0; a < n->out_axes; a++)
        if (of->box[a] > 0 && a != nest_vector_axis(n, s) &&
            (best < 0 || s->tile[a] > s->tile[best]))
            best = a;
    return best;
}

int panel_load_width(int side)
{
    return side % WIDE == 0 ? WIDE : side % 2 == 0 ? 2 : 1;
}

static int load_width(const struct schedule *s, const struct panel *of, int lane)
{
    return of->first == lane ? 1 : panel_load_width(s->tile[of->first]);
}

/* Rows that neighbours read in loads of such a width begin at multiples of it, of which the multiple is odd: so that they
 * lie in other banks of local memory. */
static int odd_multiple(int words, int width)
{
    const int loads = (words + width - 1) / width;
    return (loads + (loads % 2 == 0)) * width;
}

/* Whether memory runs along another axis than the first, and tiles of that are copied whole. */
static bool copies_in_turn(const struct nest *n, const struct schedule *s, const struct panel *of)
{
    int axes[NEST_AXES];
    const int count = panel_axes(n, of, axes), tile = s->tile[of->first];
    return count > 0 && axes[0] != of->first && of->first != nest_vector_axis(n, s) &&
           of->first < n->out_axes && tile > 1 && tile <= 2 * WIDE && tile % 2 == 0 &&
           of->box[of->first] % tile == 0;
}

struct panel panel_of_load(const struct nest *n, const struct schedule *s, int expr, int begin)
{
    const struct access *x = &n->exprs[expr].access;
    const int lane = nest_vector_axis(n, s);
    struct panel out = { .expr = expr, .begin = begin, .first = -1 };
    int ratio[NEST_AXES] = { 0 }, base[NEST_AXES];
    bool taken[NEST_AXES] = { false };
    for (int a = 0; a < n->axes; a++)
        out.box[a] = uses(n, x, a) ? staging_box(n, s, a) : 0;
    for (int a = 0; a < n->out_axes; a++)
        for (int r = n->out_axes; r < n->axes; r++) {
            int by;
            const int other = join_window(n, s, &out, a, r, taken, &by);
            if (other >= 0) {
                ratio[other] = by;
                base[other] = other == a ? r : a;
            }
        }
    out.by_lanes = uses(n, x, lane);
    out.first = widest_axis(n, s, &out);
    if (out.by_lanes && (out.first < 0 || s->tile[out.first] % 2 != 0))
        out.first = lane;
    if (out.first < 0)
        return out;
    const int width = load_width(s, &out, lane);
    int32_t along = out.box[out.first], pitch;
    out.pitch[out.first] = 1;
    if (out.by_lanes && out.first != lane) {
        out.pitch[lane] = odd_multiple(along, width);
        along = out.pitch[lane] * out.box[lane];
    }
    /* Rows begin in other banks, since the copy may go from row to row; wide ones whole loads apart. */
    pitch = out.by_lanes && out.first == lane ? along + 1 : (along + WIDE - 1) / WIDE * WIDE + WIDE;
    for (int i = 0; i < n->axes; i++) {
        const int a = i < n->out_axes ? i : n->axes - 1 - (i - n->out_axes);
        if (out.box[a] == 0 || out.pitch[a] != 0)
            continue;
        out.pitch[a] = pitch;
        pitch *= out.box[a];
    }
    for (int a = 0; a < n->axes; a++)
        if (ratio[a] != 0)
            out.pitch[a] = ratio[a] * out.pitch[base[a]];
    out.in_turn = copies_in_turn(n, s, &out);
    out.words = (pitch + WIDE - 1) / WIDE * WIDE;
    return out;
}

/* ---- copies --------------------------------------------------------------------------------- */

/* Elements of memory from one element of an axis to the next: samples of a block lie side by side. */
static int memory_step(const struct nest *n, const struct access *x, int a)
{
    return !x->in_block         ? abs(x->address.k[a])
           : a == n->batch_axis ? 1
                                : LANES * abs(x->address.k[a]);
}

int panel_axes(const struct nest *n, const struct panel *of, int axes[NEST_AXES])
{
    const struct access *x = &n->exprs[of->expr].access;
    int count = 0;
    for (int a = 0; a < n->axes; a++) {
        int at = count;
        if (of->box[a] == 0)
            continue;
        for (; at > 0 && memory_step(n, x, axes[at - 1]) > memory_step(n, x, a); at--)
            axes[at] = axes[at - 1];
        axes[at] = a;
        count++;
    }
    return count;
}

static double elements(const struct nest *n, const struct panel *of)
{
    double all = 1;
    for (int a = 0; a < n->axes; a++)
        all *= of->box[a] > 0 ? of->box[a] : 1;
    return all;
}

/* ---- costs ---------------------------------------------------------------------------------- */

double strided_requests(const struct access *x, int lane)
{
    const int stride = abs(x->address.k[lane]);
    return stride > WORST_STRIDE ? WORST_STRIDE : stride > 1 ? stride : 1;
}

double direct_requests(const struct nest *n, const struct schedule *s, const struct access *x,
                       double addresses)
{
    /* Lanes that are no samples lie a block's samples apart. */
    const double apart = !x->in_block ? strided_requests(x, nest_vector_axis(n, s))
                         : n->by_sample && access_uses(x, s->lane_axis) ? WORST_STRIDE
                                                                        : 1;
    return addresses * apart;
}

double panel_terms(const struct nest *n, const struct schedule *s)
{
    double terms = s->staging.step;
    for (int a = s->staging.axis + 1; a < n->axes; a++)
        terms *= n->extent[a];
    return terms;
}

/* Memory is read in pieces, of which a shorter run uses a part. */
static double pieces_of_copy(const struct nest *n, const struct panel *of)
{
    int axes[NEST_AXES];
    const int count = panel_axes(n, of, axes);
    const struct access *x = &n->exprs[of->expr].access;
    const int step = count > 0 ? memory_step(n, x, axes[0]) : 1;
    const double run = step > 1 ? 1 : count > 0 ? of->box[axes[0]] : WORST_STRIDE;
    return run < WORST_STRIDE ? WORST_STRIDE / run : 1;
}

/* A request of 32 work-items takes as long as 32 words of local memory: that of a wide load more than one, unless several
 * read the same. */
double panel_requests(const struct program_ir *p, const struct nest *n, const struct schedule *s,
                      const struct panel *of, double addresses)
{
    const int width = load_width(s, of, nest_vector_axis(n, s));
    const double others = of->by_lanes ? fmin(s->staging.lanes, REQUEST) / REQUEST : 1.0 / REQUEST;
    return addresses / width * fmax(1, width * others) +
           (1 + pieces_of_copy(n, of)) * elements(n, of) / p->group_size / panel_terms(n, s);
}
