/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel costs at least, whatever the device. */
#ifndef TARN_COST_H
#define TARN_COST_H

#include "compile/nest.h"

struct cost {
    double flops;   /* of arithmetic, a multiply-add as two */
    double bytes;   /* that cross the kernel's boundary, each value once read and once written */
    double written; /* of these, those that are written */
};

/* After memplan. False when there is out of host memory. */
bool kernel_cost(const struct program_ir *p, int kernel, struct cost *out);

/* What one load of a nest meets, and one store, in bytes of the value, each once. */
double load_bytes(const struct program_ir *p, const struct nest *n, const struct access *x);
double store_bytes(const struct program_ir *p, const struct nest *n, const struct store *s);

#endif
