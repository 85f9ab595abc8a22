/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel costs at least, whatever the device. */
#ifndef TARN_COST_H
#define TARN_COST_H

#include "compile/nest.h"

struct cost {
    double flops; /* of arithmetic, a multiply-add as two */
    double bytes; /* that cross the kernel's boundary, each value once read and once written */
};

/* After memplan. False when there is out of host memory. */
bool kernel_cost(const struct program_ir *p, int kernel, struct cost *out);

#endif
