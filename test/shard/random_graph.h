/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs with gradients and a step of their parameters, and random specs. */
#ifndef TARN_TEST_RANDOM_GRAPH_H
#define TARN_TEST_RANDOM_GRAPH_H

#include "record.h"

void random_graph(struct record *t, uint64_t seed, int steps);

#endif
