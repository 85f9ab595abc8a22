/* SPDX-License-Identifier: Apache-2.0 */
/* What a loader is asked for, checked before memory is taken. */
#ifndef TARN_OPTIONS_H
#define TARN_OPTIONS_H

#include "data/pool.h"
#include "tensor/replica.h"

/* Puts defaults in place of zeros, and makes the plan of a loader: with the replica's share, when
 * it has peers. `length` is the number of batches in an epoch, `shape` that of the samples
 * delivered. */
TARN_CHECKED tarn_status options_plan(const tarn_replica *r, const tarn_dataset *d,
                                      tarn_loader_options o, struct pool_plan *plan,
                                      int32_t *length);

#endif
