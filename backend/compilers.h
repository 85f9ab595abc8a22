/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that compile. A driver such as PoCL compiles one kernel at a time in a process, however many
 * cores there are; what several processes compile is in the driver's cache, from where this one takes it.
 * They start when there is something to do, end soon after, and what they cannot do is done here: nothing
 * depends on them but time. Any thread may call these functions. */
#ifndef TARN_COMPILERS_H
#define TARN_COMPILERS_H

#include "order.h"

struct compile_job;

enum job_state { JOB_WAITS, JOB_RUNS, JOB_DONE, JOB_FAILED };

/* Whether there may be processes for a device; how many. */
int compilers_for(const struct device *d);
/* Has an order carried out, once for all who ask the same of the same device at this time; those that are
 * urgent before the others. NULL: it cannot be. */
struct compile_job *compilers_ask(const struct device *d, const struct order *o, bool urgent);
enum job_state compile_job_state(const struct compile_job *job);
/* The caller needs it no more. NULL is a no-op. */
void compile_job_drop(struct compile_job *job);
/* Waits until it ended, well or not, or some of a second has passed. */
void compile_job_wait(const struct compile_job *job);
/* Ends the processes, also those at work. */
void compilers_end(void);

/* Whether a driver with a cache of its own has all kernels of a program in it, as far as is known; and what
 * makes it known, to all processes. */
bool program_is_finished(const struct device *d, const char *source, bool quick);
void program_tell_finished(const struct device *d, const char *source, bool quick, double seconds);

#endif
