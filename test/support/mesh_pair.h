/* SPDX-License-Identifier: Apache-2.0 */
/* The same training on one device and on the ranks of a mesh: both runs, and how far apart their results are. */
#ifndef MESH_PAIR_H
#define MESH_PAIR_H

#include <criterion/criterion.h>
#include <math.h>

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

/* The greatest; a NaN is more than any other. */
static inline double pair_difference(const float *a, const float *b, int count)
{
    double most = 0;
    for (int i = 0; i < count; i++) {
        const double apart = fabs((double)a[i] - (double)b[i]);
        if (!(apart <= most))
            most = isnan(apart) ? INFINITY : apart;
    }
    return most;
}

#endif
