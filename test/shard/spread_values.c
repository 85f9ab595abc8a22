/* SPDX-License-Identifier: Apache-2.0 */
#include "spread_values.h"

#include <math.h>
#include <stdio.h>

#include "lockstep.h"

uint32_t draw(uint64_t *state, uint32_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return below == 0 ? 0 : (uint32_t)(*state >> 33) % below;
}

double draw_signed(uint64_t *state)
{
    return (double)draw(state, 1U << 20) / 0x1p19 - 1;
}

int64_t spread_element(const struct mesh *m, struct state s, tarn_shape whole, int rank,
                       int64_t local)
{
    tarn_shape part = whole;
    int32_t index[TARN_MAX_RANK];
    int64_t at = 0;
    if (!state_local(m, s, whole, &part))
        return -1;
    lockstep_index(part, local, index);
    for (int a = 0; a < m->axes; a++)
        if (s.at[a] >= 0)
            index[s.at[a]] += mesh_coordinate(m, rank, a) * state_step(m, s, a, part.dim[s.at[a]]);
    for (int d = 0; d < whole.rank; d++)
        at = at * whole.dim[d] + index[d];
    return at;
}

/* A rank's number along the axes along which it is pending, and what it is pending for. */
static int pending_number(const struct mesh *m, struct state s, int rank, int *size, int *kind)
{
    int number = 0;
    *size = 1;
    *kind = STATE_WHOLE;
    for (int a = 0; a < m->axes; a++) {
        if (!state_pending(s.at[a]))
            continue;
        number = number * m->extent[a] + mesh_coordinate(m, rank, a);
        *size *= m->extent[a];
        *kind = s.at[a];
    }
    return number;
}

static double share(double value, int64_t element, int number, int size, int kind, bool integer)
{
    double sum = 0, share = 0;
    uint64_t seed = (uint64_t)element * 977 + 13;
    for (int i = 0; i < 4; i++)
        draw(&seed, 2);
    if (kind != STATE_SUM) {
        const int holder = (int)draw(&seed, (uint32_t)size);
        const double less = integer ? 1 + draw(&seed, 5) : 0.5;
        return number == holder ? value : kind == STATE_MAX ? value - less : value + less;
    }
    for (int i = 0; i < size; i++) {
        share = i == size - 1 ? value - sum
                : integer     ? (double)(int)draw(&seed, 9) - 4
                              : 3 * draw_signed(&seed);
        if (i == number)
            return share;
        sum += share;
    }
    return share;
}

void spread_part(const struct mesh *m, struct state s, tarn_shape whole, const double *value,
                 bool integer, int rank, double *out)
{
    tarn_shape part;
    int size, kind;
    const int number = pending_number(m, s, rank, &size, &kind);
    if (!state_local(m, s, whole, &part))
        return;
    for (int64_t i = 0; i < lockstep_count(part); i++) {
        const int64_t at = spread_element(m, s, whole, rank, i);
        out[i] = size == 1 ? value[at] : share(value[at], at, number, size, kind, integer);
    }
}

/* What all ranks together have for an element of one of them. */
static double together(const struct lockstep *l, uint32_t node, struct state s, int rank,
                       int64_t element, bool integer)
{
    const struct mesh *m = l->mesh;
    double all = 0;
    bool first = true;
    for (int other = 0; other < mesh_ranks(m); other++) {
        bool in = true;
        int kind = STATE_WHOLE;
        for (int a = 0; a < m->axes; a++) {
            if (state_pending(s.at[a]))
                kind = s.at[a];
            else
                in &= mesh_coordinate(m, other, a) == mesh_coordinate(m, rank, a);
        }
        if (!in)
            continue;
        const double x = lockstep_value(l, node, other)[element];
        all = first || (kind == STATE_MAX && x > all) || (kind == STATE_MIN && x < all) ? x
              : kind == STATE_SUM                                                       ? all + x
                                                                                        : all;
        first = false;
    }
    return integer ? (double)(int32_t)(uint32_t)(int64_t)all : all;
}

bool spread_agrees(const struct lockstep *l, uint32_t node, struct state s, tarn_shape whole,
                   const double *value, bool integer, const char *what)
{
    const struct mesh *m = l->mesh;
    tarn_shape local;
    if (!state_local(m, s, whole, &local))
        return false;
    for (int rank = 0; rank < mesh_ranks(m); rank++)
        for (int64_t i = 0; i < lockstep_count(local); i++) {
            const int64_t at = spread_element(m, s, whole, rank, i);
            const double got = together(l, node, s, rank, i, integer), want = value[at];
            if ((isnan(got) && isnan(want)) || got == want ||
                fabs(got - want) <= 1e-9 * (1 + fabs(want)))
                continue;
            fprintf(stderr, "%s: rank %d, element %lld: %.12g instead of %.12g\n", what, rank,
                    (long long)at, got, want);
            return false;
        }
    return true;
}
