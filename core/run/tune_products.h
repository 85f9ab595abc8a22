/* SPDX-License-Identifier: Apache-2.0 */
/* Who computes large matrix products: chosen before a program is compiled. */
#ifndef TARN_TUNE_PRODUCTS_H
#define TARN_TUNE_PRODUCTS_H

#include "backend.h"
#include "compile/kernel_plan.h"

/* Sets target->choices for all large products of a program: as TARN_GEMM says, else as
 * remembered, measured, or guessed (TARN_TUNE). With `serial` only by providers that give the
 * bits of a nest, so that replicas compute alike, whatever each would measure as faster.
 * tune_free() is to be called even after a failure. */
TARN_CHECKED tarn_status tune_products(struct context *c, const struct program *program,
                                       bool serial, struct target *target);
void tune_free(struct target *target);

#endif
