/* SPDX-License-Identifier: Apache-2.0 */
/* The same training on one device and on the ranks of a mesh: both runs, and how far apart their results are. */
#ifndef MESH_PAIR_H
#define MESH_PAIR_H

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "tarn_dist.h"

/* Runs fn(one) on device 0, then fn(many) on `devices`, whose ranks `mesh` lays out. */
static inline void pair_run(tarn_replica_fn fn, void *one, void *many, const char *devices,
                            tarn_mesh mesh)
{
    cr_assert(tarn_launch(fn, one, (tarn_launch_options){ .devices = "0" }) == TARN_OK, "%s",
              tarn_error(NULL));
    const tarn_launch_options several = { .devices = devices, .mesh = mesh };
    cr_assert(tarn_launch(fn, many, several) == TARN_OK, "%s", tarn_error(NULL));
}

/* Of float32 or float64; false after an error. */
static inline bool pair_read(tarn_tensor t, double *out)
{
    const size_t n = (size_t)tarn_shape_count(tarn_shape_get(t));
    const bool narrow = tarn_dtype_get(t) == TARN_F32;
    const bool read = tarn_read(t, out, n * (narrow ? sizeof(float) : sizeof *out)) == TARN_OK;
    for (size_t i = n; read && narrow && i-- > 0;) { /* the last one first: they grow */
        float value;
        memcpy(&value, (const char *)out + i * sizeof value, sizeof value);
        out[i] = (double)value;
    }
    return read;
}

/* The greatest; a NaN is more than any other. */
static inline double pair_difference(const double *a, const double *b, int count)
{
    double most = 0;
    for (int i = 0; i < count; i++) {
        const double apart = fabs(a[i] - b[i]);
        if (!(apart <= most))
            most = isnan(apart) ? INFINITY : apart;
    }
    return most;
}

#endif
