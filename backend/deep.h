/* SPDX-License-Identifier: Apache-2.0 */
/* Compilers, Tarn's and the driver's, need more stack than a thread of the program may have. */
#ifndef TARN_DEEP_H
#define TARN_DEEP_H

#include "error.h"

/* Calls fn(arg) on a thread with a large stack and waits for it; the error line goes to the calling
 * thread. Where no thread can be had, it is called right here. */
TARN_CHECKED tarn_status run_deep(tarn_status (*fn)(void *arg), void *arg);

/* Calls fn(), and lets threads that start meanwhile without a size of their own have as much
 * stack as a compiler needs, where the program's limit (`ulimit -s`) is lower. */
void run_for_deep_threads(void (*fn)(void));

#endif
