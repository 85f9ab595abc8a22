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
/* The same, where under a mesh a buffer has this rank's part of its output. specs[i], `wanted`: how it is to be cut;
 * else it is cut as it comes, and specs[i] becomes how. */
TARN_CHECKED tarn_status plan_execute_cut(tarn_replica *r, const uint32_t *outputs, int count,
                                          struct buffer **buffers, struct spec *specs, bool wanted);
struct loop;
/* Compiles the body of a loop, or finds its plan, and enqueues it for each step. The loop's value is in loop->flat
 * then, which the caller frees also after an error. */
TARN_CHECKED tarn_status plan_execute_loop(tarn_replica *r, struct loop *loop);
void plan_cache_free(struct plan_cache *cache);

#endif
