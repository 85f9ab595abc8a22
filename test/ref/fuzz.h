/* SPDX-License-Identifier: Apache-2.0 */
/* Random graphs, run three ways: reference, one kernel per op, fused. */
#ifndef TARN_TEST_FUZZ_H
#define TARN_TEST_FUZZ_H

#include <stdbool.h>
#include <stddef.h>

#include "tarn.h"

/* Makes the graph of this seed and runs it on both replicas. Fused and unfused results must have
 * the same bits, also when the plan is used again, and be near the reference. False: `message`
 * names the seed, the instruction and the difference. */
bool fuzz_graph(tarn_replica *fused, tarn_replica *plain, unsigned long long seed, char *message,
                size_t capacity);

#endif
