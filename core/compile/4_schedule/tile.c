/* SPDX-License-Identifier: Apache-2.0 */
/* Register tiles: which OUT axes of a sum are unrolled, how far, and the order of the loops around
 * the tile. Every candidate is weighed by a model of a core (target.h): multiply-adds and loads a
 * cycle, vector registers, caches. None of it changes the order of a sum. In: a nest with its
 * lanes. Out: its tile and order. */
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "compile/1_graph/graph_passes.h"
#include "compile/4_schedule/schedule.h"
#include "compile/chunk.h"
#include "compile/sum_cost.h"

/* What the table here has room for; target_check() refuses larger figures. */
#define ACCUMULATORS_ROOM TARGET_MOST_ACCUMULATORS

/* ---- loops --------------------------------------------------------------------------------- */

static bool is_strip(const struct tiling *t, int axis)
{
    return (t->strips.axes >> axis & 1) != 0;
}

/* Cycles that a tile waits for caches. A copy for all rows stays in the first one if there is room for it and for a tile. */
static double waiting(const struct tiling *t, struct footprints *known, const int *tile,
                      const int *order, int loops)
{
    const struct vector_figures *c = t->core;
    if (t->strips.axes == 0)
        return traffic(t, known, tile, order, loops);
    return t->slices / 64 *
           (c->line_cycles * kept_misses(t, t->slice, tile, order, loops, c->cache_bytes) +
            c->second_line_cycles *
                kept_misses(t, t->slice, tile, order, loops, c->second_cache_bytes));
}

/* Chooses the loops from the innermost one outward, each the one that waits least for caches; strips are outside. */
static double order_loops(const struct tiling *t, const int *tile, int *order)
{
    const struct nest *n = t->n;
    struct footprints known = { .set = { 0 } };
    int loops = 0, strips = 0;
    for (int strip = 1; strip >= 0; strip--)
        for (int a = 0; a < n->out_axes; a++)
            if (a != t->lane && is_strip(t, a) == (strip == 1)) {
                order[loops++] = a;
                strips += strip;
            }
    for (int place = loops - 1; place > strips; place--) {
        double best = -1;
        int chosen = place;
        for (int i = strips; i <= place; i++) {
            int tried[NEST_AXES];
            memcpy(tried, order, sizeof tried);
            tried[place] = order[i];
            tried[i] = order[place];
            const double cycles = waiting(t, &known, tile, tried, loops);
            if (best < 0 || cycles < best || (cycles == best && order[i] > order[chosen])) {
                best = cycles;
                chosen = i;
            }
        }
        const int axis = order[chosen];
        order[chosen] = order[place];
        order[place] = axis;
    }
    return waiting(t, &known, tile, order, loops);
}

/* ---- candidates ----------------------------------------------------------------------------- */

static int divisors(int extent, int most, int *out)
{
    int count = 0;
    for (int d = 1; d <= extent && d <= most; d++)
        if (extent % d == 0)
            out[count++] = d;
    return count;
}

/* Whether a tile may be no divisor of an axis: parts have slices of theirs. */
static bool may_overlap(const struct tiling *t, int axis)
{
    const struct nest *n = t->n;
    for (int g = 0; g < n->guards; g++)
        if (n->guard[g].e.k[axis] % n->guard[g].divide != 0)
            return false;
    return t->overlaps && axis != t->sliced_axis;
}

/* Whether no divisor of an axis, by itself, hides most of how long a multiply-add takes. */
static bool divides_badly(const struct tiling *t, int axis)
{
    int d[ACCUMULATORS_ROOM];
    const int count = divisors(t->n->extent[axis], t->most, d);
    return t->n->extent[axis] > t->most && d[count - 1] < t->most &&
           d[count - 1] < t->core->latency * 3 / 4;
}

/* Sizes of a tile along an axis: divisors, and of one that has none those that leave least over. */
static int sizes(const struct tiling *t, int axis, int most, int *out)
{
    const int extent = t->n->extent[axis];
    int count = divisors(extent, most, out);
    if (t->n->over > 0 && axis == t->n->runs && out[count - 1] == extent)
        count--; /* there must be a tile before the last one */
    if (!may_overlap(t, axis) || !divides_badly(t, axis))
        return count;
    for (int size = most; size > 1; size--) {
        const int pieces = (extent + size - 1) / size;
        if (extent % size != 0 && (extent + pieces - 1) / pieces == size)
            out[count++] = size;
    }
    return count;
}

struct candidate {
    double cycles, waiting; /* the latter a part of the former */
    int tile[NEST_AXES], order[NEST_AXES];
};

/* The best of all tiles of OUT axes, the very best first. */
struct candidates {
    struct candidate list[TARGET_TILES];
    int count;
};

static bool same_out_tile(const struct nest *n, const int *a, const int *b)
{
    return memcmp(a, b, (size_t)n->out_axes * sizeof *a) == 0;
}

/* Whether one that takes at least so many cycles is kept in no case. */
static bool is_too_slow(const struct candidates *c, double least)
{
    for (int i = 0; i < TARGET_TILES; i++)
        if (i == c->count || least < c->list[i].cycles * 0.999)
            return false;
    return true;
}

/* One that is hardly better than another stays behind it, and of those that differ in what is
 * summed alone only the best is kept. */
static void offer(struct candidates *c, const struct nest *n, const struct candidate *new)
{
    int at = 0, last;
    while (at < c->count && !(new->cycles < c->list[at].cycles * 0.999))
        if (same_out_tile(n, c->list[at++].tile, new->tile))
            return;
    if (at == TARGET_TILES)
        return;
    for (last = at; last < c->count; last++)
        if (same_out_tile(n, c->list[last].tile, new->tile))
            break;
    if (last == c->count && c->count < TARGET_TILES)
        c->count++;
    last = last < TARGET_TILES ? last : TARGET_TILES - 1;
    memmove(&c->list[at + 1], &c->list[at], (size_t)(last - at) * sizeof *new);
    c->list[at] = *new;
}

/* Whether a copy has room for the registers along strips. */
static bool has_room(const struct tiling *t, const int *tile)
{
    int registers = 1;
    for (int a = 0; a < t->n->out_axes; a++)
        registers *= is_strip(t, a) ? tile[a] : 1;
    return t->strips.axes == 0 || registers <= t->strips.registers;
}

/* How many times as long the units take as if all had equally many tiles, which they share along the axis with the most. */
static double unevenness(const struct tiling *t, const int *tile)
{
    int most = 1;
    if (t->workers <= 1)
        return 1;
    for (int a = 0; a < t->n->out_axes; a++) {
        const int step = a == t->lane ? LANES : tile[a];
        const int pieces = (t->n->extent[a] + step - 1) / step;
        most = pieces > most ? pieces : most;
    }
    const int each = (most + t->workers - 1) / t->workers;
    return (double)each * t->workers / most;
}

static void try_tile(const struct tiling *t, const int *tile, struct candidates *best)
{
    const struct nest *n = t->n;
    const int outs = tiling_points(t, tile, 0, n->out_axes);
    const int reds = tiling_points(t, tile, n->out_axes, n->axes);
    if (outs > t->core->accumulators || outs * reds > t->core->points || !has_room(t, tile))
        return;
    struct candidate new = { 0 };
    bool by_loads;
    const double uneven = unevenness(t, tile);
    const double body = uneven * register_cycles(t, tile, &by_loads) * sum_vectors(t, tile);
    const double code = t->code_cycles * (double)(outs * (reds * t->size + t->rest));
    if (is_too_slow(best, body + code)) /* even if it waited for no cache */
        return;
    memcpy(new.tile, tile, sizeof new.tile);
    new.waiting = order_loops(t, tile, new.order) * uneven;
    new.cycles = new.waiting + body + code;
    offer(best, n, &new);
}

/* Whether an index counts in a guard along an axis that is summed over and not unrolled whole. */
static bool meets_loop(const struct nest *n, const struct guard *g, const int *tile)
{
    for (int a = n->out_axes; a < n->axes; a++)
        if (g->e.k[a] != 0 && tile[a] != n->extent[a])
            return true;
    return false;
}

/* Whether of a strided convolution's gradient the source could not say which points of a tile a window meets, as it can where
 * each tile begins at a multiple of the stride and the window is unrolled: each point would have a condition of its own. */
static bool hides_strides(const struct nest *n, const int *tile, int axis, int size)
{
    for (int g = 0; g < n->guards; g++) {
        const int64_t step = n->guard[g].e.k[axis];
        if (n->guard[g].divide > 1 && step != 0 &&
            (step * size % n->guard[g].divide != 0 || meets_loop(n, &n->guard[g], tile)))
            return true;
    }
    return false;
}

/* Whether a stride leaves out elements of a summed axis, whose loop goes through the others alone if it has one at a time. */
static bool is_strided_sum(const struct nest *n, int axis)
{
    for (int g = 0; g < n->guards; g++)
        if (n->guard[g].e.k[axis] % n->guard[g].divide != 0)
            return true;
    return false;
}

/* All tiles of at most so many OUT axes, from axis `from` on. */
static void try_axes(const struct tiling *t, int *tile, int from, int axes, int most,
                     struct candidates *best)
{
    const struct nest *n = t->n;
    int d[ACCUMULATORS_ROOM];
    try_tile(t, tile, best);
    for (int a = from; a < n->out_axes && axes > 0; a++) {
        const int count = a == t->lane ? 0 : sizes(t, a, most, d);
        for (int i = 0; i < count; i++) {
            if (d[i] == 1 || hides_strides(n, tile, a, d[i]))
                continue;
            tile[a] = d[i];
            try_axes(t, tile, a + 1, axes - 1, most / d[i], best);
        }
        tile[a] = 1;
    }
}

/* In a plan of many nests code costs more: each has less to do with the time of a step, and all
 * of them together take the driver's compiler minutes. */
static void weigh_code(struct tiling *t, const struct target *target, int nests)
{
    const struct nest *n = t->n;
    const double crowd = (double)nests / target->fusion.crowd;
    t->code_cycles = target->vector.code_cycles;
    if (nests <= target->fusion.crowd)
        return;
    t->code_cycles *= crowd * crowd;
    t->rest = n->expr_count - t->size;
    for (int e = 0; e < n->expr_count; e++)
        if (n->exprs[e].heavy)
            t->rest += target->expression.heavy_map;
}

static void find_candidates(const struct target *target, const struct nest *n, int nests,
                            struct tiling *t, struct candidates *best)
{
    const struct vector_figures *c = &target->vector;
    int tile[NEST_AXES], red[ACCUMULATORS_ROOM];
    const int most = n->combine == COMBINE_FMA  ? c->accumulators
                     : t->size <= c->small_body ? (int)c->latency
                                                : 1;
    t->most = most;
    weigh_code(t, target, nests);
    const int last = n->axes - 1;
    for (int a = 0; a < NEST_AXES; a++)
        tile[a] = 1;
    /* The last summed axis is unrolled whole, or by a few. */
    const int reds =
        last == t->lane || n->by_sample ? 0 : divisors(n->extent[last], c->unrolled_sum, red);
    try_axes(t, tile, 0, c->tile_axes, most, best);
    const struct chunks chunks = nest_chunks(n, false);
    for (int i = 0; i < reds; i++) {
        if (red[i] == 1 || (red[i] != n->extent[last] && (red[i] > 4 || is_strided_sum(n, last))) ||
            (chunks.levels > 0 && chunks.of[0].axis == last && chunks.of[0].step % red[i] != 0))
            continue;
        tile[last] = red[i];
        try_axes(t, tile, 0, c->tile_axes, most, best);
        tile[last] = 1;
    }
}

/* ---- guarded nests -------------------------------------------------------------------------- */

static bool body_uses(const struct nest *n, int axis)
{
    for (int e = 0; e < n->expr_count; e++)
        if (n->exprs[e].kind == EXPR_LOAD && access_uses(&n->exprs[e].access, axis))
            return true;
    return false;
}

/* The innermost axis of the image among those with guards, which windows are unrolled along; -1: there is none. */
static int innermost_guarded(const struct nest *n, int lane, const struct schedule *s)
{
    int axis = -1;
    for (int g = 0; g < n->guards; g++)
        for (int a = axis + 1; a < n->out_axes; a++)
            if (a != lane && a != s->split_axis && n->guard[g].e.k[a] != 0)
                axis = a;
    return axis;
}

/* A guard on an out axis is decided at compile time when the whole axis is unrolled. */
static void unroll_guarded(const struct vector_figures *c, const struct nest *n, int lane,
                           struct schedule *s)
{
    const int axis = innermost_guarded(n, lane, s);
    if (axis < 0 || n->extent[axis] > c->guarded_extent)
        return;
    s->tile[axis] = n->extent[axis];
    const int red_unroll = s->tile[n->axes - 1];
    for (int a = 0; a < n->out_axes; a++) {
        int d[ACCUMULATORS_ROOM];
        bool guarded = false;
        for (int g = 0; g < n->guards; g++)
            guarded |= n->guard[g].e.k[a] != 0;
        if (a == lane || a == axis || guarded || n->extent[a] == 1 || !body_uses(n, a))
            continue;
        const int count = divisors(n->extent[a], c->accumulators, d);
        for (int i = 0; i < count; i++)
            if (d[i] * s->tile[axis] <= c->accumulators &&
                d[i] * s->tile[axis] * red_unroll <= c->guarded_points)
                s->tile[a] = d[i];
        return;
    }
}

/* ---- choosing ------------------------------------------------------------------------------- */

/* What the model knows of a sum, and what it made of it: the same for equal sums of equal plans. */
static uint64_t sum_key(const struct tiling *t, const struct candidates *c)
{
    const struct nest *n = t->n;
    const int32_t shape[] = { n->axes,      n->out_axes,     n->batched,        n->partial,
                              n->by_sample, (int)n->combine, (int)n->acc_dtype, n->guards,
                              t->lane,      t->size };
    uint64_t h = XXH3_64bits_withSeed(shape, sizeof shape, 1);
    h = XXH3_64bits_withSeed(n->extent, (size_t)n->axes * sizeof *n->extent, h);
    for (int l = 0; l < t->load_count; l++) {
        const int32_t kind[] = { t->loads[l].vector, t->loads[l].parts };
        h = XXH3_64bits_withSeed(kind, sizeof kind, h);
        h = XXH3_64bits_withSeed(t->loads[l].k, (size_t)kind[1] * sizeof t->loads[l].k[0], h);
    }
    for (int i = 0; i < c->count; i++)
        h = XXH3_64bits_withSeed(c->list[i].tile, sizeof c->list[i].tile, h);
    return h | 1;
}

static void take(const struct candidate *c, struct schedule *s)
{
    memcpy(s->tile, c->tile, sizeof s->tile);
    memcpy(s->order, c->order, sizeof s->order);
}

/* Panels change what a tile waits for (panels.c): puts the candidates in the order of what they take with theirs. */
static void rank_with_panels(const struct target *t, const struct nest *n, const struct schedule *s,
                             struct candidates *c)
{
    for (int i = 0; i < c->count; i++) {
        struct schedule tried = *s;
        struct candidate now = c->list[i];
        take(&now, &tried);
        choose_panels(t, n, &tried);
        if (tried.panels.used)
            now.cycles += tried.panels.waiting - now.waiting;
        int at = i;
        for (; at > 0 && now.cycles < c->list[at - 1].cycles * 0.999; at--)
            c->list[at] = c->list[at - 1];
        c->list[at] = now;
    }
}

/* A tile by rule comes before those by the model, if there is one. */
static bool tile_by_rule(const struct target *t, const struct nest *n, int lane, struct schedule *s)
{
    const int last = n->axes - 1;
    if (n->combine == COMBINE_FMA) {
        if (last != lane && !n->by_sample && n->extent[last] <= t->vector.unrolled_sum)
            s->tile[last] = n->extent[last];
        unroll_guarded(&t->vector, n, lane, s);
    }
    for (int a = 0; a < n->out_axes; a++)
        if (s->tile[a] > 1)
            return true;
    return false;
}

/* Steps of parts are no slices, but what these are multiples of. */
static void begin_search(struct tiling *t, const struct schedule *s)
{
    t->strips = s->strips;
    t->overlaps = s->overlaps;
    t->sliced_axis = s->slices != NULL ? s->split_axis : -1;
    t->workers = s->workers;
    memcpy(t->slice, t->n->extent, sizeof t->slice);
    t->slices = 1;
    if (s->split_axis >= 0 && s->slices == NULL) {
        t->slice[s->split_axis] = s->split_step;
        t->slices = (double)t->n->extent[s->split_axis] / s->split_step;
    }
}

void choose_tile(const struct target *t, const struct nest *n, int nests, struct schedule *s)
{
    struct tiling model;
    struct candidates best = { 0 };
    tiling_begin(&model, &t->vector, n, s);
    begin_search(&model, s);
    const bool by_rule = tile_by_rule(t, n, model.lane, s);
    find_candidates(t, n, nests, &model, &best);
    rank_with_panels(t, n, s, &best);
    s->sum = sum_key(&model, &best);
    int number = target_tile(t, s->sum) - (by_rule ? 1 : 0);
    if (number >= best.count)
        number = best.count - 1;
    if (number >= 0)
        take(&best.list[number], s);
}
