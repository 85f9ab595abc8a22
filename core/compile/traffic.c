/* SPDX-License-Identifier: Apache-2.0 */
/* What a sum waits for: how many bytes its loads touch while loops run, and how many of them a cache
 * no longer has. In: loads, tiles and loops. Out: bytes, and cycles. */
#include "compile/traffic.h"

#include <string.h>

#include "tensor/sum_order.h"

/* ---- loads of the body ---------------------------------------------------------------------- */

static bool is_known(const int *list, int count, int e)
{
    for (int i = 0; i < count; i++)
        if (list[i] == e)
            return true;
    return false;
}

static int32_t size_of(int32_t k)
{
    return k < 0 ? -k : k;
}

static void sort_axes(struct walk *w, int part, int axes)
{
    const int32_t *k = w->k[part];
    int8_t *list = w->axis[part];
    int count = 0;
    for (int a = 0; a < axes; a++) {
        if (k[a] == 0)
            continue;
        int at = count++;
        for (; at > 0 && size_of(k[list[at - 1]]) > size_of(k[a]); at--)
            list[at] = list[at - 1];
        list[at] = (int8_t)a;
    }
    w->axes[part] = count;
}

/* Whether lanes are turned over in squares, 16 elements along an axis at once (6_source/print_squares.c). */
static bool is_turned(const struct nest *n, int lane, const struct access *a)
{
    for (int i = 0; n->guards == 0 && i < n->axes; i++)
        if (i != lane && a->address.k[i] == 1 && n->extent[i] % LANES == 0)
            return true;
    return false;
}

/* Loads for a register of lanes that are not side by side. */
static double loads_of_lanes(const struct tiling *t, const struct access *a)
{
    const struct vector_figures *c = t->core;
    if (a->in_block || t->lane < 0)
        return 0;
    bool anywhere = a->gather >= 0 && !expr_is_alike(t->n, a->gather, t->lane);
    for (int i = 0; i < a->part_count; i++)
        anywhere |= a->part[i].index.e.k[t->lane] != 0;
    const int32_t apart = size_of(a->address.k[t->lane]);
    if (anywhere)
        return LANES * c->anywhere_loads;
    if (apart <= 1)
        return 0;
    if (apart == 2)
        return c->every_other_loads;
    if (is_turned(t->n, t->lane, a))
        return c->turned_loads;
    const bool crowded = (int64_t)apart * 4 % ((int64_t)c->sets * 64) == 0;
    return LANES * (c->apart_loads + (crowded ? c->crowded_loads : 0));
}

static void collect(struct tiling *t, int expr, int *seen, int *seen_count)
{
    const struct expr *e = &t->n->exprs[expr];
    if (is_known(seen, *seen_count, expr) || *seen_count == 4 * MOST_LOADS)
        return;
    seen[(*seen_count)++] = expr;
    for (int i = 0; i < e->args; i++)
        collect(t, e->arg[i], seen, seen_count);
    if (e->kind != EXPR_LOAD || t->load_count == MOST_LOADS)
        return;
    const struct access *a = &e->access;
    struct walk *w = &t->loads[t->load_count++];
    memset(w, 0, sizeof *w);
    w->parts = 1 + a->part_count;
    memcpy(w->k[0], a->address.k, sizeof w->k[0]);
    w->divide[0] = 1;
    for (int i = 0; i < a->part_count; i++) {
        memcpy(w->k[1 + i], a->part[i].index.e.k, sizeof w->k[0]);
        w->divide[1 + i] = a->part[i].index.divide;
    }
    w->vector = a->in_block || a->gather >= 0;
    w->step = a->in_block ? 64 : 4;
    w->vectors = 1;
    w->loads = loads_of_lanes(t, a);
    for (int i = 0; t->lane >= 0 && i < w->parts; i++) {
        w->vector |= w->k[i][t->lane] != 0;
        w->k[i][t->lane] = 0;
    }
    for (int i = 0; i < w->parts; i++)
        sort_axes(w, i, t->n->axes);
}

void tiling_begin(struct tiling *t, const struct vector_figures *core, const struct nest *n,
                  const struct schedule *s)
{
    int seen[4 * MOST_LOADS];
    *t = (struct tiling){ .n = n, .core = core, .lane = nest_vector_axis(n, s) };
    for (int i = 0; i < (n->combine == COMBINE_FMA ? 2 : 1); i++)
        collect(t, n->body[i], seen, &t->size);
}

/* Windows that slide along the lanes touch the same, but for its ends. */
void tiling_whole_lanes(struct tiling *t)
{
    for (int l = 0; l < t->load_count; l++) {
        struct walk *w = &t->loads[l];
        if (!w->vector)
            continue;
        w->vectors = t->n->extent[t->lane] / LANES;
        for (int i = 0; i < w->parts; i++) {
            for (int a = 0; a < t->n->axes; a++)
                if (size_of(w->k[i][a]) < LANES)
                    w->k[i][a] = 0;
            sort_axes(w, i, t->n->axes);
        }
    }
}

/* ---- caches --------------------------------------------------------------------------------- */

/* Elements that a load touches while the given axes run. Overlapping accesses, such as those of
 * sliding windows, count once. */
static double touched(const struct walk *w, int part, const int32_t *extent)
{
    const int32_t *k = w->k[part];
    const int8_t *axis = w->axis[part];
    double count = 1;
    int64_t step = 0, reach = 1; /* of the elements so far: every step-th of reach */
    for (int i = 0; i < w->axes[part];) {
        const int32_t size = size_of(k[axis[i]]);
        int64_t run = 1;
        bool moves = false;
        for (; i < w->axes[part] && size_of(k[axis[i]]) == size; i++) {
            run += extent[axis[i]] - 1;
            moves |= extent[axis[i]] > 1;
        }
        if (!moves)
            continue;
        if (step > 0 && size % step == 0 && size / step < reach) {
            reach += size / step * (run - 1);
        } else {
            count *= (double)reach;
            reach = run;
            step = size;
        }
    }
    return count * (double)reach;
}

static double bytes_of(const struct tiling *t, int load, const int32_t *extent)
{
    double elements = 1;
    for (int i = 0; i < t->loads[load].parts; i++) {
        const double count = touched(&t->loads[load], i, extent);
        const int32_t divide = t->in_detail ? t->loads[load].divide[i] : 1;
        elements *= count > divide ? count / divide : 1;
    }
    return elements * t->loads[load].vectors * (t->loads[load].vector ? 64 : 4);
}

static double bytes_touched(const struct tiling *t, const int32_t *extent)
{
    double bytes = 0;
    for (int l = 0; l < t->load_count; l++)
        bytes += bytes_of(t, l, extent);
    return bytes;
}

/* Sets that the lines of a load fall into while the given axes run: those of a long step come back to the same ones. */
static double sets_touched(const struct walk *w, const int32_t *extent, int axes, int sets)
{
    double run = 1, apart = 1; /* lines side by side, and such runs that meet no other */
    for (int a = 0; a < axes; a++) {
        const int64_t bytes = (int64_t)w->k[0][a] * w->step;
        const int64_t lines = (bytes < 0 ? -bytes : bytes) / 64;
        if (lines == 0 || extent[a] <= 1)
            continue;
        if (lines == 1) {
            run += extent[a] - 1;
            continue;
        }
        const double places = (double)(sets / common_divisor(lines, sets));
        apart *= extent[a] < places ? extent[a] : places;
    }
    return run * apart < sets ? run * apart : sets;
}

/* Bytes of a cache that what a load touches needs: as many ways of all its sets as of those that it falls into. */
static double bytes_held(const struct tiling *t, int load, const int32_t *extent, int sets)
{
    const double bytes = bytes_of(t, load, extent);
    if (!t->loads[load].vector || t->loads[load].parts > 1)
        return bytes;
    const double ways = bytes / 64 / sets_touched(&t->loads[load], extent, t->n->axes, sets);
    return ways > 1 ? 64 * ways * sets : bytes;
}

/* Extents inside of all loops, or of some. */
struct inside {
    int32_t extent[NEST_AXES];
    uint32_t set; /* a bit for each axis that is longer than in the tile */
};

static double footprint(const struct tiling *t, struct footprints *known, const struct inside *in)
{
    const unsigned at = in->set % FOOTPRINTS;
    if (known->set[at] != in->set + 1) {
        known->set[at] = in->set + 1;
        known->bytes[at] = bytes_touched(t, in->extent);
    }
    return known->bytes[at];
}

/* `sets`: of the cache; 0: any line may lie anywhere. */
static bool fits(const struct tiling *t, struct footprints *known, const struct inside *in,
                 double capacity, int sets)
{
    double bytes = 0;
    if (sets == 0)
        return footprint(t, known, in) <= capacity;
    for (int l = 0; l < t->load_count; l++)
        bytes += bytes_held(t, l, in->extent, sets);
    return bytes <= capacity;
}

/* What the loops from the innermost on touch, as many of them as a cache holds; returns how many are
 * outside of these. */
static int loops_outside(const struct tiling *t, struct footprints *known, const int32_t *whole,
                         const int *tile, const int *order, int loops, double capacity, int sets,
                         struct inside *in)
{
    const struct nest *n = t->n;
    in->set = 0;
    for (int a = 0; a < n->axes; a++)
        in->extent[a] = a == t->lane ? 1 : a >= n->out_axes ? whole[a] : tile[a];
    for (; loops > 0; loops--) {
        const struct inside before = *in;
        const int axis = order[loops - 1];
        if (in->extent[axis] != whole[axis])
            in->set |= 1u << axis;
        in->extent[axis] = whole[axis];
        if (!fits(t, known, in, capacity, sets)) {
            *in = before;
            break;
        }
    }
    return loops;
}

static double misses(const struct tiling *t, struct footprints *known, const int *tile,
                     const int *order, int loops, double capacity, int sets)
{
    const int32_t *whole = t->n->extent;
    struct inside in;
    double rounds = 1;
    for (int level = loops_outside(t, known, whole, tile, order, loops, capacity, sets, &in);
         level > 0; level--)
        rounds *= (double)whole[order[level - 1]] / tile[order[level - 1]];
    return footprint(t, known, &in) * rounds;
}

static bool uses(const struct walk *w, int axis)
{
    for (int i = 0; i < w->parts; i++)
        if (w->k[i][axis] != 0)
            return true;
    return false;
}

double kept_misses(const struct tiling *t, const int32_t *whole, const int *tile, const int *order,
                   int loops, double capacity)
{
    struct footprints known = { .set = { 0 } };
    struct inside in;
    const int outside = loops_outside(t, &known, whole, tile, order, loops, capacity, 0, &in);
    const bool held = fits(t, &known, &in, capacity, 0);
    double bytes = 0;
    for (int l = 0; l < t->load_count; l++) {
        double rounds = 1;
        bool stays = held;
        for (int level = outside; level > 0; level--) {
            stays &= !uses(&t->loads[l], order[level - 1]);
            if (!stays)
                rounds *= (double)whole[order[level - 1]] / tile[order[level - 1]];
        }
        bytes += bytes_of(t, l, in.extent) * rounds;
    }
    return bytes;
}

double traffic(const struct tiling *t, struct footprints *known, const int *tile, const int *order,
               int loops)
{
    const struct vector_figures *c = t->core;
    const int first = t->in_detail ? c->sets : 0, second = t->in_detail ? c->second_sets : 0;
    const double near = t->in_detail ? c->whole_line_cycles : c->line_cycles;
    const double far = t->in_runs     ? c->line_cycles
                       : t->in_detail ? (c->line_cycles + c->second_line_cycles) / 2
                                      : c->second_line_cycles;
    return near / 64 * misses(t, known, tile, order, loops, c->cache_bytes, first) +
           far / 64 * misses(t, known, tile, order, loops, c->second_cache_bytes, second);
}
