/* SPDX-License-Identifier: Apache-2.0 */
/* A block is a number of runs, which lie together in each array: they reach from the last dimension that is cut
 * in any of the arrays to the end. */
#include <string.h>

#include "pattern.h"
#include "slab.h"

/* How many runs there are, of so many elements each, when dimensions up to `last` are cut. */
static size_t runs_of(const tarn_shape *block, int last, size_t *run)
{
    size_t runs = 1;
    *run = 1;
    for (int d = 0; d < block->rank; d++)
        *(d < last ? &runs : run) *= (size_t)block->dim[d];
    return *run > 0 ? runs : 0;
}

/* The element of the array at which a run begins. */
static size_t run_at(size_t number, struct slab s, const tarn_shape *block, int last)
{
    size_t at = 0, stride = 1;
    for (int d = s.whole->rank - 1; d >= 0; d--) {
        size_t index = d == s.dim ? (size_t)s.start : 0;
        if (d < last) {
            index += number % (size_t)block->dim[d];
            number /= (size_t)block->dim[d];
        }
        at += index * stride;
        stride *= (size_t)s.whole->dim[d];
    }
    return at;
}

void slab_copy(void *to, struct slab at, const void *from, struct slab of, const tarn_shape *block,
               size_t bytes)
{
    const int last = at.dim > of.dim ? at.dim : of.dim;
    size_t run;
    const size_t runs = runs_of(block, last, &run);
    for (size_t i = 0; i < runs; i++)
        memcpy((char *)to + bytes * run_at(i, at, block, last),
               (const char *)from + bytes * run_at(i, of, block, last), bytes * run);
}

void slab_reduce(void *out, tarn_dtype dtype, tarn_reduction reduction, const void *const *in,
                 int count, struct slab of, const tarn_shape *block)
{
    size_t run;
    const size_t runs = runs_of(block, of.dim, &run);
    for (size_t i = 0; i < runs; i++)
        pattern_reduce_to(dtype, reduction, in, count, run_at(i, of, block, of.dim), run,
                          (char *)out + tarn_dtype_bytes(dtype) * i * run);
}
