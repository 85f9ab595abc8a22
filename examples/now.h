/* SPDX-License-Identifier: Apache-2.0 */
/* The clock of the example programs. */
#ifndef NOW_H
#define NOW_H

#include <time.h>

/* Seconds, by a clock that is never set. */
static inline double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
