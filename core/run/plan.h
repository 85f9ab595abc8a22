/* SPDX-License-Identifier: Apache-2.0 */
/* A plan: a compiled program on a device, with all that it takes to run. */
#ifndef TARN_PLAN_H
#define TARN_PLAN_H

#include "backend.h"
#include "compile/kernel_plan.h"
#include "hash_table.h"

/* A function of the host, with the shared memory that it works on. */
struct plan_call {
    const struct op *op;
    union op_arg arg;
    tarn_dtype dtype;
    size_t count; /* elements of the operand */
    struct shared *in, *out;
    int ready, due; /* kernel that completes the operand, and the first that needs the result */
};

#define LOOP_SLOTS (2 * SCAN_MOST) /* operands and results of a loop's body */

/* Where the owned tensors of a loop's body lie in each step. */
struct plan_loop {
    uint32_t steps, slots;
    uint64_t *lies;               /* bytes into their buffers: [steps][slots] */
    struct spec spec[LOOP_SLOTS]; /* under a mesh: how what one step has of them is cut, */
    uint32_t pending[LOOP_SLOTS]; /* and axes along which it is to be added up */
    uint32_t place[SCAN_MOST],
        elements; /* where results begin in this rank's flat value, and its elements */
};

struct plan_kernel {
    struct planned_product *products; /* to run beside the kernel */
    int product_count;
    char name[16];
    struct kernel *kernel;  /* NULL when there are only products */
    struct buffer *offsets; /* where its values lie; NULL: it has none in the arena or owned */
    int offset_count;       /* in a loop as many for each step */
    struct param *params;
    int param_count;
    int groups;
    struct cost cost;
    struct kernel_time time;
    char about[160];
};

struct plan {
    uint64_t key[2];
    int group_size; /* work-items of a group */
    int once; /* so many kernels first are launched in the first step of a loop only; else, while what was fixed has not changed, not */
    bool repeats; /* of a loop's body: a launch of its only other kernel does several steps */
    struct plan_kernel *kernels;
    int kernel_count;
    struct replay *replay; /* of its launches; NULL: each is made anew */
    queue_mark *after;     /* each kernel, in the run under way */
    struct shared **shared;
    uint32_t shared_count;
    struct plan_call *calls; /* in the order in which their operands are ready */
    int call_count;
    struct kernel_arg *args; /* as many as the largest kernel takes */
    size_t arena_bytes;
    size_t kept_bytes;
    struct buffer *kept; /* what the first kernels made; NULL: nothing */
    uint64_t kept_of; /* a hash of which tensors, and how often they had changed; 0: of none yet */
    uint64_t exchanges,
        received_bytes;    /* under a mesh: collectives, and what a rank receives in them */
    struct plan_loop loop; /* of a loop's body, set before plan_make(); else it has no steps */
    size_t *output_bytes;
    struct spec *specs;      /* of outputs that lie as they come; NULL: they are whole */
    struct outline *outline; /* of what it was compiled of; NULL: not known */
    UT_hash_handle hh;
};

/* Builds what was compiled of a program, into an empty plan, which is to be freed even after a
 * failure. plan->key names it in errors. */
TARN_CHECKED tarn_status plan_make(struct context *c, const struct program *program,
                                   const struct kernel_plan *from, struct plan *plan);
/* Of an argument that is given by value; 0: it is a buffer. */
size_t plan_param_bytes(enum param_kind kind);
/* Gives what the plan takes of owned tensors other slots: slot s becomes slots[s]. */
void plan_renumber_owned(struct plan *plan, const uint32_t *slots);
void plan_free(struct plan *plan);

#endif
