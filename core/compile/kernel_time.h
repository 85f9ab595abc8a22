/* SPDX-License-Identifier: Apache-2.0 */
/* How long a kernel takes on its target, by the model that the schedule's choices reckon with. */
#ifndef TARN_KERNEL_TIME_H
#define TARN_KERNEL_TIME_H

#include "compile/cost.h"

/* What a kernel takes longest of. */
enum kernel_bound {
    BOUND_ARITHMETIC,
    BOUND_LOADS,  /* of registers, from the first cache */
    BOUND_CACHES, /* lines of the second */
    BOUND_MEMORY,
    BOUND_LAUNCH
};
enum { KERNEL_BOUNDS = BOUND_LAUNCH + 1 };

struct kernel_time {
    double seconds;
    enum kernel_bound bound;
};

/* After memplan, of a kernel with its kernel_cost(). */
struct kernel_time kernel_time(const struct program_ir *p, int kernel, const struct cost *cost);
const char *kernel_bound_name(enum kernel_bound bound);

#endif
