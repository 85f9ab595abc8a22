/* SPDX-License-Identifier: Apache-2.0 */
/* The last stage: OpenCL C. */
#ifndef TARN_SOURCE_H
#define TARN_SOURCE_H

#include "compile/kernel_plan.h"

/* The parameter by which a kernel, or a provider, gets a value that is not in scratch. */
struct param param_of(const struct value *v);
/* Prints one kernel: sets its text, function, params, offsets and groups. */
tarn_status print_kernel(struct program_ir *p, int kernel, struct planned_kernel *k);
/* The same text with names numbered by order of appearance: values v7, v31 become v0, v1, and so do
 * input5, owned3, number8, ... */
void number_names(const struct text *from, struct text *to);

#endif
