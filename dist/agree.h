/* SPDX-License-Identifier: Apache-2.0 */
/* May this collective be run? Every rank asks this of the same descriptors, and as the answer is a
 * function of them alone, every rank gets the same one, line and all. No threads in here. */
#ifndef TARN_AGREE_H
#define TARN_AGREE_H

#include "communicator.h"

/* `all` has one descriptor for each rank of this node. TARN_ERR_DISAGREE, TARN_ERR_ARGUMENT or
 * TARN_ERR_WEIGHTS when not. `number` is for the line. */
TARN_CHECKED tarn_status agree_check(const struct collective *const *all, struct ranks ranks,
                                     uint64_t number);
/* The same of all ranks of a launch, which are here with the others' descriptors, but without their memory. */
TARN_CHECKED tarn_status agree_groups(const struct collective *const *all, int world,
                                      uint64_t number);
/* The same of two ranks' descriptors alone, without their memory: TARN_ERR_DISAGREE. */
TARN_CHECKED tarn_status agree_two(const struct collective *a, int rank_a,
                                   const struct collective *b, int rank_b, uint64_t number);

/* Writes " 1, 4 and 7" into `out`: for each bit that is set its number and `first`. */
void agree_list(uint64_t ranks, int first, char *out, size_t capacity);

#endif
