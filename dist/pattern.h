/* SPDX-License-Identifier: Apache-2.0 */
/* Who owns which chunk, and in which order sums are added: pure arithmetic, no threads, no devices.
 *
 * The elements of an all-reduce are cut into as many chunks as there are ranks. Rank r owns chunk r:
 * it adds up everybody's chunk r, and stores the sum to everybody, beginning with itself and going
 * round the ring, so that no two ranks write to the same replica at the same time. Each element is
 * thus added once, by one rank, and all replicas hold the same bits. */
#ifndef TARN_PATTERN_H
#define TARN_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "tarn_dist.h"

struct chunk {
    size_t first, count;
};

/* Whether the tree of sums over n is whole: each subtree is that of n / 2, n / 4 and so on. */
static inline bool is_power_of_two(int n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

/* Chunk `rank` of `count` elements: whole cache lines of 16 elements but for the last; chunks cover
 * all elements, without overlap, in rank order. May be empty. */
struct chunk pattern_chunk(size_t count, int world, int rank);
/* The replica that rank stores to at a step, 0 <= step < world. */
int pattern_target(int world, int rank, int step);

/* out[j][first..] = the reduction of in[0..world-1][first..] for all j < world in ring order from
 * `rank`, `count` elements. Sums follow one binary tree over ranks: [0, n) is [0, h) + [h, n), h
 * the largest power of two below n; so do means, scaled by 1 / world at the end. NaN wins in max
 * and min. in[j] may be out[j]. float32 and float64, int32 and int64 (whose sums wrap). Works in blocks that stay in
 * the cache. */
void pattern_reduce(tarn_dtype dtype, tarn_reduction reduction, const void *const *in,
                    void *const *out, int world, int rank, size_t first, size_t count);
/* The same bits, stored to out[0 .. count) alone, which overlaps no `in`. */
void pattern_reduce_to(tarn_dtype dtype, tarn_reduction reduction, const void *const *in, int world,
                       size_t first, size_t count, void *out);

#endif
