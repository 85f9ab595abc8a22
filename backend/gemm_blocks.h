/* SPDX-License-Identifier: Apache-2.0 */
/* How the kernel of matrix products (kernels/gemm.cl) is cut for a device: formulas of its figures.
 * Knows no device; no sum depends on it. */
#ifndef TARN_GEMM_BLOCKS_H
#define TARN_GEMM_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>

#include "figures.h"

#define GEMM_CHUNK 128 /* terms of one chain, as in core's order of sums */

/* A tile is rows x vectors registers of `lanes` floats. */
struct gemm_blocks {
    int lanes, rows, vectors;
    int depth;   /* most steps of k in a panel */
    int columns; /* most columns of a block, whose panels of b are kept */
};

/* What the tuner tries besides the usual blocks. */
struct gemm_form {
    bool deep;                            /* panels of twice the depth: c is passed through less */
    bool coarse;                          /* a group for each unit, not two: less is copied twice */
    const struct device_figures *figures; /* NULL: those of the device (others are for tests) */
};

/* False: so many bytes of local memory are too few. */
bool gemm_blocks(const struct device_figures *f, size_t local_bytes, const struct gemm_form *form,
                 struct gemm_blocks *out);

/* How m x n elements of c, `batch` times, become groups. */
struct gemm_cut {
    size_t down, over; /* how many blocks */
    size_t rows, cols; /* of one, but for the last */
};
struct gemm_cut gemm_cut(const struct gemm_blocks *b, const struct gemm_form *form, size_t units,
                         const size_t size[3], size_t batch);

#endif
