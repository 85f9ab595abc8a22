/* SPDX-License-Identifier: Apache-2.0 */
/* The cheapest moves between two states, as a shortest path over all states (Dijkstra's). In: a mesh, a value's shape, two
 * states. Out: moves. Ties are broken by the order of states and moves, so that all ranks find the same. */
#include "shard/moves.h"

#include <string.h>

#define STATES_MOST 512
#define PLACES_MOST (TARN_MAX_RANK + 4)

int64_t move_cost(const struct mesh *m, const struct move *v, int64_t local)
{
    const int64_t n = mesh_blocks(m, v->axes);
    const int64_t part = (local * (n - 1) + n - 1) / n;
    switch (v->kind) {
    case MOVE_ALL_GATHER:
        return local * (n - 1) * COST_BYTE + 1;
    case MOVE_ALL_REDUCE:
        return (2 * local * (n - 1) + n - 1) / n * COST_BYTE + 1;
    case MOVE_REDUCE_SCATTER:
    case MOVE_ALL_TO_ALL:
        return part * COST_BYTE + 1;
    case MOVE_SLICE:
    case MOVE_MASK:
        break;
    }
    return 0;
}

/* ---- states by number ----------------------------------------------------------------------- */

struct search {
    const struct mesh *m;
    const struct cargo *c;
    int8_t place[MESH_AXES][PLACES_MOST]; /* what each axis may be */
    int places[MESH_AXES];
    int states;
    int64_t cost[STATES_MOST];
    struct move by[STATES_MOST];
    int16_t before[STATES_MOST];
    bool done[STATES_MOST];
    int now;
};

static struct state state_number(const struct search *s, int number)
{
    struct state out = state_whole();
    for (int a = 0; a < s->m->axes; a++) {
        out.at[a] = s->place[a][number % s->places[a]];
        number /= s->places[a];
    }
    return out;
}

static int number_of(const struct search *s, struct state t)
{
    int number = 0, step = 1;
    for (int a = 0; a < s->m->axes; a++) {
        int k = 0;
        while (k < s->places[a] && s->place[a][k] != t.at[a])
            k++;
        if (k == s->places[a])
            return -1;
        number += k * step;
        step *= s->places[a];
    }
    return number;
}

static void add_place(struct search *s, int a, int at)
{
    for (int k = 0; k < s->places[a]; k++)
        if (s->place[a][k] == at)
            return;
    if (s->places[a] < PLACES_MOST)
        s->place[a][s->places[a]++] = (int8_t)at;
}

/* What axes may be on the way: what they are at its ends, whole, and, if there is room, another axis' dimension. */
static void list_places(struct search *s, struct state from, struct state to)
{
    int all = 1;
    for (int a = 0; a < s->m->axes; a++) {
        add_place(s, a, STATE_WHOLE);
        if (s->m->extent[a] > 1) {
            add_place(s, a, from.at[a]);
            add_place(s, a, to.at[a]);
        }
        all *= s->places[a];
    }
    for (int a = 0; a < s->m->axes; a++)
        for (int b = 0; b < s->m->axes && s->m->extent[a] > 1; b++)
            for (int end = 0; end < 2; end++) {
                const int at = end == 0 ? from.at[b] : to.at[b], had = s->places[a];
                if (at < 0 || all / had * (had + 1) > STATES_MOST)
                    continue;
                add_place(s, a, at);
                all = all / had * s->places[a];
            }
    s->states = all;
}

/* ---- steps ---------------------------------------------------------------------------------- */

static void step(struct search *s, struct state to, const struct move *v, int64_t local_bytes)
{
    tarn_shape shape;
    const int next = number_of(s, to);
    if (next < 0 || s->done[next] || !state_local(s->m, to, s->c->shape, &shape))
        return;
    const int64_t cost = s->cost[s->now] + move_cost(s->m, v, local_bytes);
    if (cost >= s->cost[next])
        return;
    s->cost[next] = cost;
    s->by[next] = *v;
    s->before[next] = (int16_t)s->now;
}

static struct state with(struct state t, uint32_t axes, int at)
{
    for (int a = 0; a < MESH_AXES; a++)
        if (axes >> a & 1)
            t.at[a] = (int8_t)at;
    return t;
}

/* Whether axes can become the minor ones of those that cut a dimension. */
static bool comes_last(const struct mesh *m, struct state t, int d, uint32_t axes)
{
    return (state_axes_of(m, t, d) & ~axes) < (axes & (~axes + 1));
}

/* To every dimension that the axes may cut; `v` without its aim. */
static void step_to_cut(struct search *s, struct state t, struct move v, int64_t bytes)
{
    for (int d = 0; d < s->c->shape.rank; d++) {
        if (d == v.from || !comes_last(s->m, with(t, v.axes, STATE_WHOLE), d, v.axes))
            continue;
        v.to = (int8_t)d;
        step(s, with(t, v.axes, d), &v, bytes);
    }
}

/* Groups of axes that are all in the same state. */
static void step_group(struct search *s, struct state t, uint32_t axes, int at, int64_t bytes)
{
    struct move v = { .axes = axes, .from = (int8_t)at, .to = STATE_WHOLE, .pending = (int8_t)at };
    if (state_pending(at)) {
        v.kind = MOVE_ALL_REDUCE;
        v.from = STATE_WHOLE;
        step(s, with(t, axes, STATE_WHOLE), &v, bytes);
        v.kind = MOVE_REDUCE_SCATTER;
        if (at == STATE_SUM)
            step_to_cut(s, t, v, bytes);
        return;
    }
    if (at >= 0) {
        if (!comes_last(s->m, t, at, axes))
            return;
        v.kind = MOVE_ALL_GATHER;
        step(s, with(t, axes, STATE_WHOLE), &v, bytes);
        v.kind = MOVE_ALL_TO_ALL;
        if (s->c->shape.rank < TARN_MAX_RANK)
            step_to_cut(s, t, v, bytes);
        return;
    }
    if ((axes & (axes - 1)) != 0)
        return; /* nothing is exchanged, so one after the other is as good */
    v.kind = MOVE_SLICE;
    step_to_cut(s, t, v, bytes);
    v.kind = MOVE_MASK;
    v.to = v.pending = STATE_SUM;
    if (s->c->masks)
        step(s, with(t, axes, STATE_SUM), &v, bytes);
}

static void steps_from(struct search *s)
{
    const struct state t = state_number(s, s->now);
    tarn_shape local;
    if (!state_local(s->m, t, s->c->shape, &local))
        return;
    const int64_t bytes = tarn_shape_count(local) * s->c->element;
    for (uint32_t axes = 1; axes < UINT32_C(1) << s->m->axes; axes++) {
        int at = STATE_UNSET;
        bool same = true;
        for (int a = 0; a < s->m->axes && same; a++) {
            if (!(axes >> a & 1))
                continue;
            same = s->m->extent[a] > 1 && (at == STATE_UNSET || at == t.at[a]);
            at = t.at[a];
        }
        if (same)
            step_group(s, t, axes, at, bytes);
    }
}

int64_t moves_find(const struct mesh *m, const struct cargo *c, struct state from, struct state to,
                   struct move *list, int *count)
{
    struct search s;
    tarn_shape unused;
    if (list != NULL)
        *count = 0;
    if (state_equal(from, to))
        return 0;
    if (!state_local(m, to, c->shape, &unused))
        return COST_NEVER;
    s.m = m;
    s.c = c;
    memset(s.places, 0, sizeof s.places);
    list_places(&s, from, to);
    for (int i = 0; i < s.states; i++) {
        s.cost[i] = COST_NEVER;
        s.done[i] = false;
    }
    const int first = number_of(&s, from), last = number_of(&s, to);
    s.cost[first] = 0;
    s.before[first] = -1;
    for (;;) {
        s.now = -1;
        for (int i = 0; i < s.states; i++)
            if (!s.done[i] && s.cost[i] != COST_NEVER && (s.now < 0 || s.cost[i] < s.cost[s.now]))
                s.now = i;
        if (s.now < 0 || s.now == last)
            break;
        s.done[s.now] = true;
        steps_from(&s);
    }
    int steps = 0;
    for (int i = last; s.now >= 0 && s.before[i] >= 0; i = s.before[i])
        steps++;
    if (s.now < 0 || steps > MOVES_MOST)
        return COST_NEVER;
    for (int i = last, k = steps; list != NULL && s.before[i] >= 0; i = s.before[i])
        list[--k] = s.by[i];
    if (list != NULL)
        *count = steps;
    return s.cost[last];
}
