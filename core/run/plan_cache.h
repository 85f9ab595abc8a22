/* SPDX-License-Identifier: Apache-2.0 */
/* From a recorded graph to enqueued kernels. */
#ifndef TARN_PLAN_CACHE_H
#define TARN_PLAN_CACHE_H

#include "tensor/replica.h"

/* Compiles what the current graph needs for `outputs` (nodes) and, when `effects`, for all its
 * assignments; or finds the plan made before for the same graph; and enqueues it. buffers[i]
 * becomes a new buffer with the row-major elements of outputs[i], owned by the caller. Assigned
 * tensors are written in place after everything that reads their old value. Does not wait.
 * The graph stays as it is: the caller resets it. */
TARN_CHECKED tarn_status plan_execute(tarn_replica *r, const uint32_t *outputs, int count,
                                      struct buffer **buffers, bool effects);
/* The same of a graph whose loops ran. */
TARN_CHECKED tarn_status plan_execute_part(tarn_replica *r, const uint32_t *outputs, int count,
                                           struct buffer **buffers, bool effects);
struct loop;
/* Compiles the body of a loop, or finds its plan, and enqueues it for each step. */
TARN_CHECKED tarn_status plan_execute_loop(tarn_replica *r, const struct loop *loop);
void plan_cache_free(struct plan_cache *cache);

#endif
