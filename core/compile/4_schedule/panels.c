/* SPDX-License-Identifier: Apache-2.0 */
/* Panels: blocks of a sum's result whose operands stay in the first cache. A weight gradient reads
 * whole images for each of its tiles; for a panel of tiles it reads a few rows of them, goes on with
 * all accumulators of the panel, which lie in memory meanwhile, and then reads the next rows. The
 * order of each sum is the same. In: a nest with its tile. Out: its panels, or none. */
#include <string.h>

#include "compile/4_schedule/schedule.h"
#include "compile/traffic.h"
#include "compile/chunk.h"
#include "tensor/sum_order.h"

#define WORTH 0.95 /* of the time without: the model is no better than that */
/* Drivers keep what is private on a thread's stack; some have few kilobytes to spare. */
#define MOST_KEPT (32 << 10)

struct search {
    struct tiling t;
    const struct schedule *s;
    int32_t whole[NEST_AXES]; /* extents, of one part's slice */
    int loops;                /* over OUT axes */
};

/* The first summed axis with steps to go, but the batch: a sequence is an image of one row. */
static int step_axis(const struct nest *n)
{
    for (int axis = n->out_axes; axis < n->axes; axis++)
        if (axis != n->batch_axis && n->extent[axis] > 1)
            return axis;
    return -1;
}

/* Of images whose columns are lanes: rows, the axis whose steps are chunks. Whole images go around it. */
static int row_axis(const struct nest *n, const struct schedule *s, const struct chunks *c)
{
    const int lane = s->lane_axis;
    if (n->batched || lane < n->out_axes || n->extent[lane] % LANES != 0)
        return -1;
    const int axis = c->levels > 0 ? c->of[0].axis : step_axis(n);
    return axis < lane ? axis : -1;
}

/* Panels are for sums over a block of samples, or with lanes along a summed axis, whose chunks, if any, are steps of the
 * same axis. Returns this, or -1. */
static int axis_of_panels(const struct nest *n, const struct schedule *s)
{
    const struct chunks c = nest_chunks(n, false);
    if (n->combine != COMBINE_FMA || c.levels > 1)
        return -1;
    if (!n->partial || !nest_has_batch_lanes(n))
        return row_axis(n, s, &c);
    const int axis = step_axis(n);
    const bool meets = c.levels == 0 || c.of[0].axis == axis;
    return meets && (s->split_axis < 0 || !slices_overlap(s->slices)) ? axis : -1;
}

static double product(const int *size, const struct search *f)
{
    double all = 1;
    for (int i = 0; i < f->loops; i++)
        all *= size[f->s->order[i]];
    return all;
}

/* Cycles that wait for caches without panels. Images are read in long runs, which cores ask for ahead: so
 * a line from behind the second cache costs no more than one from it. */
static double cycles_without(const struct search *f)
{
    const struct vector_figures *c = f->t.core;
    const int *tile = f->s->tile, *order = f->s->order;
    return c->line_cycles / 64 *
           (kept_misses(&f->t, f->whole, tile, order, f->loops, c->cache_bytes) +
            kept_misses(&f->t, f->whole, tile, order, f->loops, c->second_cache_bytes));
}

/* Cycles beside the multiply-adds: waiting for caches, and keeping accumulators. */
static double cycles_of(const struct search *f, const struct panels *p)
{
    const struct nest *n = f->t.n;
    const struct vector_figures *c = f->t.core;
    int32_t inside[NEST_AXES];
    double rounds = 1;
    const double kept = 64 * product(p->size, f);
    const bool fits =
        kept < c->cache_bytes / 2; /* else it comes from the second cache, and goes there */
    for (int a = 0; a < n->axes; a++) {
        inside[a] = a < n->out_axes ? p->size[a] : n->extent[a];
        if (a < n->out_axes && a != f->t.lane)
            rounds *= (double)f->whole[a] / p->size[a];
        if (a >= n->out_axes && a < p->axis && a != n->batch_axis) {
            rounds *= n->extent[a];
            inside[a] = 1;
        }
    }
    inside[p->axis] = p->step;
    rounds *= (n->extent[p->axis] + p->step - 1) / p->step;
    const double first = fits ? c->cache_bytes - kept : c->cache_bytes;
    const double second = c->second_cache_bytes - 2 * kept;
    const double keeping = 2 * (c->port_cycles * c->width + (fits ? 0 : c->line_cycles));
    return keeping * rounds * kept / 64 +
           c->line_cycles / 64 *
               (rounds * kept_misses(&f->t, inside, f->s->tile, f->s->order, f->loops, first) +
                kept_misses(&f->t, f->whole, p->size, f->s->order, f->loops, second));
}

/* Tries larger panels, one axis at a time, while that helps. */
static double grow(const struct search *f, struct panels *p)
{
    double best = cycles_of(f, p);
    for (;;) {
        struct panels found = *p;
        double least = best;
        for (int i = 0; i < f->loops; i++) {
            const int axis = f->s->order[i];
            for (int next = 2 * p->size[axis]; next <= f->whole[axis]; next += p->size[axis]) {
                if (f->whole[axis] % next != 0)
                    continue;
                struct panels tried = *p;
                tried.size[axis] = next;
                const double cycles =
                    64 * product(tried.size, f) > MOST_KEPT ? least : cycles_of(f, &tried);
                if (cycles < least) {
                    least = cycles;
                    found = tried;
                }
                break;
            }
        }
        if (least >= best)
            return best;
        best = least;
        *p = found;
    }
}

void choose_panels(const struct target *t, const struct nest *n, struct schedule *s)
{
    const struct vector_figures *c = &t->vector;
    struct search f = { .s = s };
    const int axis = axis_of_panels(n, s);
    if (axis < 0)
        return;
    for (int a = 0; a < n->out_axes; a++)
        if (axis_overlaps(n, s, a))
            return; /* panels are whole tiles */
    tiling_begin(&f.t, c, n, s);
    if (f.t.lane >= n->out_axes && !n->batched)
        tiling_whole_lanes(&f.t);
    memcpy(f.whole, n->extent, sizeof f.whole);
    if (s->split_axis >= 0)
        f.whole[s->split_axis] =
            s->split_step * (n->extent[s->split_axis] / s->split_step / s->groups);
    double vectors = 1;
    for (int a = 0; a < n->axes; a++) {
        f.loops += a < n->out_axes && a != f.t.lane;
        vectors *= a != f.t.lane ? f.whole[a] : n->batched ? 1 : (double)f.whole[a] / LANES;
    }
    const struct chunks chunks = nest_chunks(n, false);
    const int most = chunks.levels > 0 ? chunks.of[0].step : n->extent[axis] - 1;
    const double arithmetic = c->cycles_per_term * vectors;
    double best = WORTH * (arithmetic + cycles_without(&f)) - arithmetic;
    for (int step = s->tile[axis]; step <= most; step *= 2) {
        struct panels p = { .used = true, .axis = axis, .step = step };
        memcpy(p.size, s->tile, sizeof p.size);
        p.waiting = grow(&f, &p);
        if (p.waiting < best) {
            best = p.waiting;
            s->panels = p;
        }
    }
}
