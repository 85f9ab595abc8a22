/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of plans that keep something from one to the next. */
#ifndef TARN_KEPT_VALUES_H
#define TARN_KEPT_VALUES_H

#include "run/execute.h"

/* Enqueues one of a replica's plans, of which the first in the table ran longest ago. What is made of fixed tensors alone
 * is made again when one of these has changed, or when the plan is meant for others. */
TARN_CHECKED tarn_status kept_values_run(tarn_replica *r, struct plan *plans, struct plan *plan,
                                         const struct binding *b);

#endif
