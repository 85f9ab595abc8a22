/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel is called and takes, and its printing. */
#ifndef TARN_KERNEL_IR_H
#define TARN_KERNEL_IR_H

#include "compile/nest.h"
#include "compile/text.h"

/* What a kernel takes, in order. */
enum param_kind {
    PARAM_ARENA,
    PARAM_INPUT,
    PARAM_OWNED,
    PARAM_OUTPUT,
    PARAM_SHARED,
    PARAM_NUMBER,
    PARAM_KEY,
    PARAM_RANK
};
struct param {
    enum param_kind kind;
    uint32_t slot;
};
struct kernel_ir {
    char name[64];
    char about[160]; /* what it computes, for people */
    struct param *params;
    int param_count, param_capacity;
    int groups;
};
/* Appends the OpenCL C of one kernel. */
tarn_status print_kernel(struct program_ir *p, int kernel, struct text *out, struct kernel_ir *k);

#endif
