/* SPDX-License-Identifier: Apache-2.0 */
/* The clock of all durations and deadlines: it is never set. */
#ifndef TARN_CLOCK_H
#define TARN_CLOCK_H

#include <time.h>

static inline double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
