/* SPDX-License-Identifier: Apache-2.0 */
/* The last stage: OpenCL C. */
#ifndef TARN_SOURCE_H
#define TARN_SOURCE_H

#include "compile/kernel_plan.h"

/* The parameter by which a kernel, or a provider, gets a value that is not in scratch. */
struct param param_of(const struct value *v);
/* Appends one kernel to the text, and sets its params and groups. */
tarn_status print_kernel(struct program_ir *p, int kernel, struct text *out,
                         struct planned_kernel *k);

#endif
