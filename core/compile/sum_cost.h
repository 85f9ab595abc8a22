/* SPDX-License-Identifier: Apache-2.0 */
/* What a sum takes on a core with vectors, by its tile. */
#ifndef TARN_SUM_COST_H
#define TARN_SUM_COST_H

#include "compile/traffic.h"

/* Points of the unrolled axes from `from` to `to` - 1, but for lanes. */
int tiling_points(const struct tiling *t, const int *tile, int from, int to);
/* Multiply-adds of 16 lanes of the whole sum, those that tiles compute again among them. */
double sum_vectors(const struct tiling *t, const int *tile);
/* Cycles of one of them in the unrolled body, printed in order; *by_loads: whether ports for loads are what it takes
 * longest of. */
double register_cycles(const struct tiling *t, const int *tile, bool *by_loads);

/* What a sum with its tile takes in cycles, over 16 lanes: its multiply-adds, and waiting for caches. */
struct sum_cycles {
    double body, waiting;
    bool by_loads; /* as above */
};
struct sum_cycles sum_cycles(const struct target *t, const struct nest *n,
                             const struct schedule *s);

#endif
