/* SPDX-License-Identifier: Apache-2.0 */
/* How many regions of a step are computed again, by the memory that it may take. */
#ifndef TARN_RECOMPUTE_FIT_H
#define TARN_RECOMPUTE_FIT_H

#include "compile/kernel_plan.h"
#include "tensor/replica.h"

/* Sets program->kept_from so that the values of as many regions are kept as fit r->recompute_bytes; of none where not
 * even that fits. */
TARN_CHECKED tarn_status recompute_fit(const tarn_replica *r, const struct target *target,
                                       size_t temporaries_now, struct program *program);

#endif
