/* SPDX-License-Identifier: Apache-2.0 */
/* The step of a loop that first made a NaN or infinity (TARN_DEBUG=nan). */
#ifndef TARN_NAN_LOOP_H
#define TARN_NAN_LOOP_H

#include "tensor/scan.h"

/* A step of a loop's body among the nodes of the graph. */
struct nan_step {
    uint32_t number, steps;     /* from 0 on, in the order in which they run */
    uint32_t count;             /* results of the body in that step, not all of them finite: */
    uint32_t result[SCAN_MOST]; /* nodes, that say how each was made */
};

/* Looks for the first step of a scan that made something not finite, and records that step's body once more, with the
 * values that it began with as leaves. `out->count` is 0 when the step is not known, because the loop does
 * not keep what it was between. */
TARN_CHECKED tarn_status nan_step_of(tarn_replica *r, const struct scan *s, struct nan_step *out);

#endif
