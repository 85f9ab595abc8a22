/* SPDX-License-Identifier: Apache-2.0 */
/* The model of a core: what a sum takes with a register tile, in multiply-adds and loads a cycle, vector registers and
 * caches. 4_schedule/tile.c chooses tiles by it, kernel_time.c adds up what was chosen. In: a sum and a tile. Out: cycles. */
#include "compile/sum_cost.h"

#include <string.h>

/* What the tables here have room for; target_check() refuses larger figures. */
#define POINTS_ROOM TARGET_MOST_POINTS
#define SEEN_CAPACITY 1024u

/* ---- registers ------------------------------------------------------------------------------ */

struct seen {
    uint64_t key;
    int first, last; /* points between which a register holds it; last 0: a free entry */
    bool vector;
};

static struct seen *find_seen(struct seen *table, uint64_t key)
{
    unsigned at = (unsigned)(key * UINT64_C(0x9e3779b97f4a7c15) >> 54) % SEEN_CAPACITY;
    while (table[at].last != 0 && table[at].key != key)
        at = (at + 1) % SEEN_CAPACITY;
    return &table[at];
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

double register_cycles(const struct tiling *t, const int *tile, bool *by_loads)
{
    const struct nest *n = t->n;
    const struct vector_figures *c = t->core;
    const int outs = tiling_points(t, tile, 0, n->out_axes);
    const int reds = tiling_points(t, tile, n->out_axes, n->axes);
    static _Thread_local struct seen table[SEEN_CAPACITY];
    memset(table, 0, sizeof table);
    int32_t index[NEST_AXES] = { 0 };
    int distinct = 0, loads = 0; /* addresses, and registers that are loaded */
    for (int p = 0; p < outs * reds; p++) {
        set_point(t, tile, n->out_axes, n->axes, p / outs, index);
        set_point(t, tile, 0, n->out_axes, p % outs, index);
        for (int l = 0; l < t->load_count; l++) {
            uint64_t key = (uint64_t)l + 1;
            for (int i = 0; i < t->loads[l].parts; i++) {
                int64_t at = 0;
                for (int a = 0; a < n->axes; a++)
                    at += (int64_t)t->loads[l].k[i][a] * index[a];
                key = key * UINT64_C(1000003) + (uint64_t)at;
            }
            struct seen *s = find_seen(table, key);
            if (s->last == 0) {
                if (++distinct > (int)SEEN_CAPACITY / 2)
                    return 1e9;
                *s = (struct seen){ .key = key, .first = p, .vector = t->loads[l].vector };
                loads += width_of(t, s->vector);
            }
            s->last = p + 1;
        }
    }
    /* Registers that are alive at a point, beside the accumulators. */
    int moves[POINTS_ROOM + 2] = { 0 }, alive = 0, most = 0;
    for (unsigned i = 0; i < SEEN_CAPACITY; i++)
        if (table[i].last != 0 && table[i].last - table[i].first > 1) {
            moves[table[i].first] += width_of(t, table[i].vector);
            moves[table[i].last] -= width_of(t, table[i].vector);
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
    return (cycles + c->loop_cycles + c->point_cycles * work) / work;
}

/* ---- whole sums ----------------------------------------------------------------------------- */

double sum_vectors(const struct tiling *t)
{
    double vectors = 1;
    for (int a = 0; a < t->n->axes; a++)
        vectors *= a == t->lane ? 1 : t->n->extent[a];
    return vectors;
}

struct sum_cycles sum_cycles(const struct target *t, const struct nest *n, const struct schedule *s)
{
    struct tiling model;
    struct sum_cycles out;
    int loops = 0;
    tiling_begin(&model, &t->vector, n, s);
    /* Not where tiles are chosen: those that read no line twice read lines one by one instead, of which it is not known
     * yet that they take longer than lines in a row. */
    model.by_sets = true;
    for (int a = 0; a < n->out_axes; a++)
        loops += a != model.lane;
    out.body = register_cycles(&model, s->tile, &out.by_loads) * sum_vectors(&model);
    out.waiting = traffic(&model, s->tile, s->order, loops);
    return out;
}
