/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers by counter: a function of a key and a number, with no state. */
#ifndef TARN_RANDOM_H
#define TARN_RANDOM_H

#include <stdint.h>

#include "tarn.h"

/* 32 random bits from (key, counter); the counter-based generator used on the host (random.c). The
 * same function, in OpenCL C, is kernels/random.cl. */
uint32_t random_u32(uint64_t key, uint64_t counter);
/* A key from a seed and a text, or a number. */
uint64_t random_key(uint64_t seed, const char *text);
uint64_t random_key_number(uint64_t seed, uint64_t number);
/* The key of the step under way: of seed, training steps, steps since that drew, and replica. */
uint64_t random_key_now(const tarn_replica *r);

#endif
