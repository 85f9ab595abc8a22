/* SPDX-License-Identifier: Apache-2.0 */
/* How far a long compilation is, for people. */
#ifndef TARN_PROGRESS_H
#define TARN_PROGRESS_H

#include <stdbool.h>

/* A line on the standard error stream while compiling takes long (TARN_PROGRESS). */
struct progress {
    double begin, told; /* seconds of a clock; 0: nothing was told */
    bool wanted, terminal;
};
struct progress progress_begin(void);
void progress_tell(struct progress *p, int done, int all);
void progress_end(const struct progress *p);

#endif
