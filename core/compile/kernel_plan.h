/* SPDX-License-Identifier: Apache-2.0 */
/* What the compiler makes: OpenCL C, what each kernel takes, and what runs beside the kernels. No
 * device has seen it yet. */
#ifndef TARN_KERNEL_PLAN_H
#define TARN_KERNEL_PLAN_H

#include "compile/cost.h"
#include "compile/kernel_time.h"
#include "compile/text.h"

/* What a kernel takes, in order. */
enum param_kind {
    PARAM_SKIP, /* 0; or SKIP_ALL, and no group has anything to do */
    PARAM_ARENA,
    PARAM_KEPT,    /* the plan's own memory, of values that are kept from run to run */
    PARAM_OFFSETS, /* of values in the arena, kept ones, and in owned memory: planned_kernel.offsets */
    PARAM_INPUT,
    PARAM_OWNED,
    PARAM_OUTPUT,
    PARAM_SHARED,
    PARAM_NUMBER,
    PARAM_SERIAL, /* of random numbers: the slot itself */
    PARAM_KEY,
    PARAM_COORDINATE, /* of this rank along mesh axis `slot`; without a mesh 0 is the axis of all ranks */
    PARAM_STEP,       /* of a looped program: which of the offsets is the step's first */
    PARAM_STEPS,  /* of a kernel that does several steps: how many, */
    PARAM_SERIALS /* and how much random numbers' serials grow from one to the next */
};
enum { SKIP_ALL = 1 << 30 };
struct param {
    enum param_kind kind;
    uint32_t slot;
};

/* A matrix product by a provider. */
struct planned_product {
    struct product_shape shape;
    int provider;
    struct param param[3]; /* a, b, c */
    tarn_dtype dtype[3];
    size_t offset[3]; /* bytes */
};

/* A function of the host between kernels. */
struct planned_call {
    const struct op *op;
    union op_arg arg;
    tarn_dtype dtype;
    size_t count;     /* elements of the operand */
    uint32_t in, out; /* slots of shared memory */
    int ready, due;   /* kernel that completes the operand, and the first that needs the result */
    int order;        /* of recording */
};

/* Its text depends on what is computed and on nothing else of the plan: which tensors these are,
 * and where they lie, are arguments. Equal texts are one kernel, and their functions have one name. */
struct planned_kernel {
    char name[16];   /* "k3": its number in the plan */
    char about[160]; /* what it computes, for people */
    char function[24];
    struct text source; /* to be compiled after kernel_head */
    struct param *params;
    int param_count, param_capacity;
    size_t *offsets; /* bytes, where its values lie */
    int *offset_of;  /* and in which owned tensor; -1: in the arena, or kept */
    int offset_count;
    int groups; /* 0: there are only products */
    struct planned_product *products;
    int product_count;
    struct cost cost;
    struct kernel_time time;
};

struct kernel_plan {
    struct arena arena; /* holds all of it but the kernels' texts */
    struct planned_kernel *kernels;
    int kernel_count;
    struct planned_call *calls; /* in the order in which their operands are ready */
    int call_count;
    size_t *shared_bytes; /* of memory that device and host share, by slot */
    uint32_t shared_count;
    int group_size; /* work-items of a group */
    int once; /* so many kernels first are for all steps of a looped program, or for all runs until what is fixed changes */
    bool
        repeats; /* of a looped program: a launch of its only other kernel does as many steps as it is told */
    size_t arena_bytes, kept_bytes;
    const struct program_ir *ir; /* what it was made of, for debug.h */
};

/* What stands before every kernel: kernels/prelude.cl and random.cl. */
extern const char *const kernel_head[2];
/* What stands before those that call routines: kernels/sorting.cl and routines.cl, what more there is of int64 and float64, and
 * kernels/attention.cl. */
extern const char *const kernel_sorting, *const kernel_routines, *const kernel_routines_long,
                                                                     *const kernel_routines_double,
                                                                         *const kernel_attention;
/* What stands before those with values of the half types, int64 and float64: kernels/half.cl, long.cl and double.cl. */
extern const char *const kernel_half, *const kernel_long, *const kernel_double;
/* Functions, of which those that a kernel calls stand before it: kernels/math.cl. */
extern const char *const kernel_math;

/* Where a program's samples lie, for target->samples: the cheaper place by the cost model, if lanes would idle in
 * blocks. The order of sums hangs on it, so it is asked of one made-up CPU: all devices have the same answer. */
TARN_CHECKED tarn_status compile_place_samples(const struct program *program,
                                               enum samples_place *out);

/* Compiles a program for a target. The same program and target give the same plan, byte for byte.
 * A target that target_check() refuses is TARN_ERR_ARGUMENT. The plan is all zero before, and to be freed even after
 * an error, whose line is in error_text(). Needs a deep stack for deep programs (deep.h of
 * backend). */
TARN_CHECKED tarn_status compile_program(const struct program *program, const struct target *target,
                                         struct kernel_plan *out);
void kernel_plan_free(struct kernel_plan *plan);

/* The large matrix products of a program, which a provider may compute: their shapes, each as
 * often as it comes, in *list, which is the caller's to free. */
TARN_CHECKED tarn_status compile_list_products(const struct program *program,
                                               const struct target *target,
                                               struct product_shape **list, int *count);

#endif
