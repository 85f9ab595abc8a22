/* SPDX-License-Identifier: Apache-2.0 */
/* The model of a core: what a sum takes with a register tile, in multiply-adds and loads a cycle, vector registers and
 * caches. 4_schedule/tile.c chooses tiles by it, kernel_time.c adds up what was chosen. In: a sum and a tile. Out: cycles. */
#include "compile/sum_cost.h"

#include <string.h>

#include "tensor/sum_order.h"

/* What the tables here have room for; target_check() refuses larger figures. */
#define POINTS_ROOM TARGET_MOST_POINTS
#define SEEN_CAPACITY 1024u

/* ---- registers ------------------------------------------------------------------------------ */

struct seen {
    uint64_t key;
    int first, last; /* points between which a register holds it */
    bool vector;
};

/* A table of them: where each lies in the list, plus 1. */
struct seen_table {
    uint16_t at[SEEN_CAPACITY];
    struct seen list[SEEN_CAPACITY / 2];
    int count;
};

/* The entry of a key; a new one, whose key is not set yet, if there was none; NULL without room for it. */
static struct seen *find_seen(struct seen_table *t, uint64_t key, bool *is_new)
{
    unsigned at = (unsigned)(key * UINT64_C(0x9e3779b97f4a7c15) >> 54) % SEEN_CAPACITY;
    while (t->at[at] != 0 && t->list[t->at[at] - 1].key != key)
        at = (at + 1) % SEEN_CAPACITY;
    *is_new = t->at[at] == 0;
    if (!*is_new)
        return &t->list[t->at[at] - 1];
    if (t->count == (int)SEEN_CAPACITY / 2)
        return NULL;
    t->at[at] = (uint16_t)++t->count;
    return &t->list[t->count - 1];
}

/* Index of each unrolled axis in point number `point` of the tile, the last axis fastest. */
static void set_point(const struct tiling *t, const int *tile, int from, int to, int point,
                      int32_t *index)
{
    for (int a = to - 1; a >= from; a--) {
        if (a == t->lane || tile[a] == 1)
            continue;
        index[a] = point % tile[a];
        point /= tile[a];
    }
}

int tiling_points(const struct tiling *t, const int *tile, int from, int to)
{
    int points = 1;
    for (int a = from; a < to; a++)
        points *= a == t->lane ? 1 : tile[a];
    return points;
}

/* Registers of a load: those of 16 lanes, or one that has a scalar in all its lanes. */
static int width_of(const struct tiling *t, bool vector)
{
    return vector ? t->core->width : 1;
}

/* ---- lines that push each other out --------------------------------------------------------- */

/* Whether a load reads single elements, the next ones of the same line when the last axis goes on. */
static bool goes_along_lines(const struct tiling *t, const struct walk *w)
{
    const int64_t bytes = (int64_t)w->k[0][t->n->axes - 1] * w->step;
    return !w->vector && w->parts == 1 && bytes > -64 && bytes < 64 && bytes != 0;
}

static int pushed_of_load(const struct tiling *t, const struct walk *w, const int *tile)
{
    const int outs = tiling_points(t, tile, 0, t->n->out_axes);
    int64_t lines[TARGET_MOST_ACCUMULATORS];
    int32_t index[NEST_AXES] = { 0 };
    int count = 0, pushed = 0;
    for (int p = 0; p < outs && count < TARGET_MOST_ACCUMULATORS; p++) {
        int64_t at = 0;
        set_point(t, tile, 0, t->n->out_axes, p, index);
        for (int a = 0; a < t->n->out_axes; a++)
            at += (int64_t)w->k[0][a] * index[a];
        const int64_t line = at * w->step / 64;
        int same = 0, beside = 0; /* lines of the same set that are there before */
        for (int i = 0; i < count; i++) {
            same += lines[i] == line;
            beside += (lines[i] - line) % t->core->sets == 0;
        }
        if (same > 0)
            continue;
        pushed += beside >= t->core->ways;
        lines[count++] = line;
    }
    return pushed;
}

/* Lines that a body finds no longer in the first cache, though the body before read of them, too: rows of a matrix that
 * lie a power of two apart share its sets. */
static int lines_pushed_out(const struct tiling *t, const int *tile)
{
    int pushed = 0;
    for (int l = 0; l < t->load_count; l++)
        if (goes_along_lines(t, &t->loads[l]))
            pushed += pushed_of_load(t, &t->loads[l], tile);
    return pushed;
}

/* ---- a body ---------------------------------------------------------------------------------- */

double register_cycles(const struct tiling *t, const int *tile, bool *by_loads)
{
    const struct nest *n = t->n;
    const struct vector_figures *c = t->core;
    const int outs = tiling_points(t, tile, 0, n->out_axes);
    const int reds = tiling_points(t, tile, n->out_axes, n->axes);
    struct seen_table seen;
    memset(seen.at, 0, sizeof seen.at);
    seen.count = 0;
    int32_t index[NEST_AXES] = { 0 };
    double loads = 0; /* registers that are loaded */
    for (int p = 0; p < outs * reds; p++) {
        set_point(t, tile, n->out_axes, n->axes, p / outs, index);
        set_point(t, tile, 0, n->out_axes, p % outs, index);
        for (int l = 0; l < t->load_count; l++) {
            const struct walk *w = &t->loads[l];
            uint64_t key = (uint64_t)l + 1;
            for (int i = 0; i < w->parts; i++) {
                int64_t at = 0;
                for (int a = 0; a < w->axes[i]; a++)
                    at += (int64_t)w->k[i][w->axis[i][a]] * index[w->axis[i][a]];
                key = key * UINT64_C(1000003) + (uint64_t)at;
            }
            bool is_new;
            struct seen *s = find_seen(&seen, key, &is_new);
            if (s == NULL) {
                *by_loads = true;
                return 1e9;
            }
            if (is_new) {
                *s = (struct seen){ .key = key, .first = p, .vector = w->vector };
                loads += t->in_detail && w->loads > 0 ? w->loads : width_of(t, s->vector);
            }
            s->last = p + 1;
        }
    }
    /* Registers that are alive at a point, beside the accumulators. */
    int moves[POINTS_ROOM + 2] = { 0 }, alive = 0, most = 0;
    for (int i = 0; i < seen.count; i++) {
        const struct seen *s = &seen.list[i];
        if (s->last - s->first <= 1)
            continue;
        moves[s->first] += width_of(t, s->vector);
        moves[s->last] -= width_of(t, s->vector);
    }
    for (int p = 0; p < outs * reds; p++) {
        alive += moves[p];
        most = alive > most ? alive : most;
    }
    const int missing = outs * c->width + most + c->width - c->registers;
    const double spills = missing > 0 ? c->spill_loads * missing * (reds > 1 ? 2 : 1) : 0;
    const double work = outs * reds, arithmetic = c->cycles_per_term * work;
    const double ports = c->port_cycles * (loads + spills);
    double cycles = (arithmetic > ports ? arithmetic : ports) + c->spare_load * ports;
    *by_loads = ports > arithmetic;
    if (outs < c->latency && cycles < c->cycles_per_term * c->latency * reds)
        cycles = c->cycles_per_term * c->latency * reds;
    cycles += c->pushed_cycles * lines_pushed_out(t, tile);
    return (cycles + c->loop_cycles + c->point_cycles * work) / work;
}

/* ---- whole sums ----------------------------------------------------------------------------- */

double sum_vectors(const struct tiling *t, const int *tile)
{
    double vectors = 1;
    for (int a = 0; a < t->n->axes; a++) {
        const int extent = t->n->extent[a];
        const int tiles = (extent + tile[a] - 1) / tile[a];
        vectors *= a == t->lane ? 1 : a < t->n->out_axes ? tiles * tile[a] : extent;
    }
    return vectors;
}

struct sum_cycles sum_cycles(const struct target *t, const struct nest *n, const struct schedule *s)
{
    struct tiling model;
    struct footprints known = { .set = { 0 } };
    struct sum_cycles out;
    int loops = 0;
    tiling_begin(&model, &t->vector, n, s);
    /* Not where tiles are chosen: those that read no line twice read lines one by one instead, of which it is not known
     * yet that they take longer than lines in a row. */
    model.in_detail = true;
    model.in_runs =
        n->batched || model.lane >= n->out_axes; /* lines of blocks, or rows of images */
    for (int a = 0; a < n->out_axes; a++)
        loops += a != model.lane;
    out.body = register_cycles(&model, s->tile, &out.by_loads) * sum_vectors(&model, s->tile);
    if (s->panels.used && !n->batched)
        out.waiting = s->panels.waiting * s->groups * LANES / n->extent[model.lane];
    else
        out.waiting = traffic(&model, &known, s->tile, s->order, loops);
    return out;
}
