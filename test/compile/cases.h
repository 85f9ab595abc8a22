/* SPDX-License-Identifier: Apache-2.0 */
/* The graphs and the made-up targets that the compiler's tests compile. */
#ifndef TARN_TEST_CASES_H
#define TARN_TEST_CASES_H

#include "build.h"
#include "compile/kernel_plan.h"

struct graph_case {
    const char *name;
    void (*make)(struct build *b);
    bool is_long; /* its vector code: kept for the first target only, so that the texts stay few */
};
extern const struct graph_case graph_cases[];
extern const int graph_case_count;

/* Figures of devices that nobody here has. */
struct target_case {
    const char *name;
    struct target (*make)(void);
    bool is_kept; /* it has golden kernels of its own */
};
extern const struct target_case target_cases[];
extern const int target_case_count;

/* The target of that name; ends the program when there is none. */
struct target target_named(const char *name);

/* Compiles one for the other. On failure it prints the compiler's line and ends the program; else
 * kernel_plan_free() is the caller's. */
void compile_case(const struct graph_case *g, const struct target *t, struct kernel_plan *out);

/* All launches with their sizes and parameters, and the kernels without what is the same wherever it stands
 * (kernels/prelude.cl, random.cl, math.cl, routines.cl). The caller frees it. */
char *plan_text(const struct kernel_plan *plan);

/* Which sums there are, and what orders each: a line for each, sorted. The caller frees it. */
char *sum_order_text(const struct kernel_plan *plan);

#endif
