/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel of the benchmark's own, past graph and plans. */
#ifndef KERNEL_H
#define KERNEL_H

#include "bench.h"

struct own_kernel {
    struct context *context;
    struct built_program *program;
    struct kernel *kernel;
    struct kernel_arg args[8];
    int count;
    size_t groups, local;
};

/* Close it also after a failure. */
tarn_status own_kernel_open(const struct bench *b, const char *source, const char *name,
                            struct own_kernel *k);
void own_kernel_close(struct own_kernel *k);
/* For struct work. */
tarn_status own_kernel_once(void *arg);
tarn_status own_kernel_wait(void *arg);

#endif
