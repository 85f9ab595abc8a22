/* SPDX-License-Identifier: Apache-2.0 */
/* The order of samples in an epoch: a function of seed and epoch only. */
#ifndef TARN_SAMPLER_H
#define TARN_SAMPLER_H

#include <stdint.h>

/* Fills `order` with a uniformly random permutation of 0..n-1 keyed by (seed, epoch). */
void sampler_permute(int32_t *order, int32_t n, uint64_t seed, uint64_t epoch);
/* 0, 1, ... n-1. */
void sampler_identity(int32_t *order, int32_t n);

#endif
