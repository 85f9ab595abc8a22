/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of row-major arrays that are a part of one dimension: copied and added up. */
#ifndef TARN_SLAB_H
#define TARN_SLAB_H

#include "tarn_dist.h"

/* Where a block begins in an array: at `start` along one dimension, at 0 along the others. */
struct slab {
    const tarn_shape *whole;
    int dim; /* not looked at where the array has none */
    int32_t start;
};

/* The elements of `block`, of so many bytes each, from one array to another. */
void slab_copy(void *to, struct slab at, const void *from, struct slab of, const tarn_shape *block,
               size_t bytes);
/* The reduction of the same block of all arrays in[0 .. count), as pattern_reduce_to() makes it: out is the
 * block alone. */
void slab_reduce(void *out, tarn_dtype dtype, tarn_reduction reduction, const void *const *in,
                 int count, struct slab of, const tarn_shape *block);

#endif
