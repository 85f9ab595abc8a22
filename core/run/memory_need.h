/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan needs of the device's memory, known before anything of it is there. */
#ifndef TARN_MEMORY_NEED_H
#define TARN_MEMORY_NEED_H

#include "run/plan.h"
#include "tensor/replica.h"

/* Bytes while the plan runs for the first time. */
struct memory_need {
    size_t temporaries, results;
    size_t shared;  /* with the host */
    size_t offsets; /* tables of where values lie */
    size_t there;   /* in use already, but for older temporaries */
};

/* Of what was compiled, for a replica whose temporaries have so many bytes now. */
struct memory_need memory_need_of(const tarn_replica *r, const struct program *program,
                                  const struct kernel_plan *compiled, size_t steps,
                                  size_t temporaries_now);
size_t memory_need_sum(const struct memory_need *n);
/* Counts it, tells of it with TARN_DEBUG=memory, and refuses what is beyond TARN_MEMORY_LIMIT with a line that
 * names the largest values. */
TARN_CHECKED tarn_status memory_need_check(tarn_replica *r, const struct memory_need *need,
                                           const struct kernel_plan *compiled);
/* With TARN_DEBUG=memory: what was expected and what came, when a replica is closed. */
void memory_need_end(const tarn_replica *r);

#endif
