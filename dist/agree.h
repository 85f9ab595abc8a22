/* SPDX-License-Identifier: Apache-2.0 */
/* May this collective be run? Every rank asks this of the same descriptors, and as the answer is a
 * function of them alone, every rank gets the same one, line and all. No threads in here. */
#ifndef TARN_AGREE_H
#define TARN_AGREE_H

#include "communicator.h"

/* `all` has one descriptor for each rank. TARN_ERR_DISAGREE, TARN_ERR_ARGUMENT or TARN_ERR_WEIGHTS
 * when not. `number` is for the line. */
TARN_CHECKED tarn_status agree_check(const struct collective *const *all, int world,
                                     uint64_t number);

/* Writes " 1, 4 and 7" into `out`, the ranks whose bit is set. */
void agree_list(uint64_t ranks, char *out, size_t capacity);

#endif
