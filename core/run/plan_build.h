/* SPDX-License-Identifier: Apache-2.0 */
/* A plan: what one graph compiles to. plan_build.c makes it, plan.c keeps and runs it. */
#ifndef TARN_PLAN_BUILD_H
#define TARN_PLAN_BUILD_H

#include "compile/cost.h"
#include "compile/kernel_ir.h"
#include "hash_table.h"

/* A matrix product by a provider, with the buffers it reads and writes as parameters. */
struct plan_product {
    struct product shape;
    struct param param[3]; /* a, b, c */
    size_t offset[3];      /* bytes */
};

/* A function of the host, with the shared memory that it works on. */
struct plan_call {
    const struct op *op;
    union op_arg arg;
    tarn_dtype dtype;
    size_t count; /* elements of the operand */
    struct shared *in, *out;
    int ready, due; /* kernel that completes the operand, and the first that needs the result */
    int order;      /* of recording */
};

struct plan_kernel {
    struct plan_product *products; /* to run beside the kernel */
    int product_count;
    struct kernel *kernel; /* NULL when there are only products */
    struct param *params;
    int param_count;
    int groups;
    struct cost cost;
    char about[160];
};

struct plan {
    uint64_t key[2];
    struct program *program;
    int local; /* work-items of a group */
    struct plan_kernel *kernels;
    int kernel_count;
    queue_mark *after; /* each kernel, in the run under way */
    struct shared **shared;
    int shared_count;
    struct plan_call *calls; /* in the order in which their operands are ready */
    int call_count;
    struct kernel_arg *args; /* as many as the largest kernel takes */
    size_t arena_bytes;
    size_t *output_bytes;
    UT_hash_handle hh;
};

/* Compiles the current graph into an empty plan, which is to be freed even after a failure. Large
 * matrix products need not be nests when `products`. */
TARN_CHECKED tarn_status plan_build(const tarn_replica *r, const uint32_t *outputs, int count,
                                    bool effects, bool products, struct plan *plan);
void plan_free(struct plan *plan);

#endif
