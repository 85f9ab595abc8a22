/* SPDX-License-Identifier: Apache-2.0 */
/* The plain network of ddp_run.h in double, each value with a bound on what float arithmetic, in
 * any order of summation, may differ from it. */
#ifndef TARN_TEST_DDP_BOUND_H
#define TARN_TEST_DDP_BOUND_H

#include "ddp_run.h"

struct approx {
    double v, e; /* |float result - v| <= e */
};

struct ddp_bound {
    struct approx w1[DDP_HIDDEN][DDP_INPUTS], b1[DDP_HIDDEN];
    struct approx w2[DDP_CLASSES][DDP_HIDDEN], b2[DDP_CLASSES];
};

/* Begins at exact parameters. */
void ddp_bound_start(struct ddp_bound *b, const struct ddp_tensors *initial);
/* One step of SGD without momentum over the samples of one batch. */
void ddp_bound_step(struct ddp_bound *b, const tarn_dataset *d, const int32_t *samples, int count,
                    float lr);
/* The largest |value - v| / e over all parameters. */
double ddp_bound_compare(const struct ddp_bound *b, const struct ddp_tensors *got);
/* The mean e over the mean |change| since `initial`: small, or the bound says nothing. */
double ddp_bound_width(const struct ddp_bound *b, const struct ddp_tensors *initial);

#endif
