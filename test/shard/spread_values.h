/* SPDX-License-Identifier: Apache-2.0 */
/* Values of all ranks and what each of them has, in any state. */
#ifndef TARN_TEST_SPREAD_VALUES_H
#define TARN_TEST_SPREAD_VALUES_H

#include "lockstep.h"
#include "shard/state.h"

/* A generator of random numbers; the same everywhere. */
uint32_t draw(uint64_t *state, uint32_t below);
double draw_signed(uint64_t *state);

/* The element of the whole that is number `local` of a rank's part. */
int64_t spread_element(const struct mesh *m, struct state s, tarn_shape whole, int rank,
                       int64_t local);
/* A rank's part of a value: blocks of it; of pending sums a random share, of either sign, of extremes something
 * not beyond it. `integer`: shares are whole. */
void spread_part(const struct mesh *m, struct state s, tarn_shape whole, const double *value,
                 bool integer, int rank, double *out);
/* Whether what the ranks of a lockstep have of a node is the value: NaN equals NaN. Prints the first that is not. */
bool spread_agrees(const struct lockstep *l, uint32_t node, struct state s, tarn_shape whole,
                   const double *value, bool integer, const char *what);

#endif
