/* SPDX-License-Identifier: Apache-2.0 */
/* Where long sums are cut. It orders sums, so it is the same for all targets. */
#ifndef TARN_CHUNK_H
#define TARN_CHUNK_H

#include "compile/nest.h"

#define CHUNK_LEVELS 8 /* sums of 2^40 terms, at the least */

/* Terms that one accumulator adds up, one lane of a register for instance, in the order of loops,
 * are cut into chunks: of level 0. Their sums are cut likewise: of level 1, and so on. */
struct chunks {
    int levels; /* 0: the sum is short, or exact in any order, and is not cut */
    struct {
        int axis;     /* so many elements of this axis, and what is inside of them, are a chunk; */
        int32_t step; /* it begins anew for each step of the axes outside */
    } of[CHUNK_LEVELS];
};

/* `rest`: of the terms that a sum along lanes has after the last full 16 of its axis. */
struct chunks nest_chunks(const struct nest *n, bool rest);
/* The summed axis whose elements are shared out to the lanes of one sum; -1: none. */
int nest_shared_axis(const struct nest *n);
/* What of an axis is summed: [from, to). */
struct span {
    int32_t from, to;
};
struct span nest_span(const struct nest *n, int axis, bool rest);

#endif
