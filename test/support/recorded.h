/* SPDX-License-Identifier: Apache-2.0 */
/* Whole training steps of the networks whose steps are timed (bench/networks), recorded and compiled for a device that need
 * not be here; nothing is built or run. */
#ifndef TARN_TEST_RECORDED_H
#define TARN_TEST_RECORDED_H

#include "compile/kernel_plan.h"
#include "timed.h"

/* Records a step of zeros with its backward pass and its update. */
void recorded_step(tarn_replica *r, const struct timed_network *n, int batch);
/* Records a forward pass in evaluation. */
void recorded_evaluation(tarn_replica *r, const struct timed_network *n, int batch);
/* Compiles what was recorded; kernel_plan_free() is the caller's. */
void recorded_compile(const tarn_replica *r, const struct target *target, struct kernel_plan *out);

#endif
