/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes of what a rank of a mesh has of the weights. */
#ifndef TARN_PART_WORDS_H
#define TARN_PART_WORDS_H

#include "tensor/replica.h"

/* Enqueues them, of parameters, buffers and optimizer state as they are now: peers.words has them then. Under a mesh
 * alone. Their plan is kept until the tensors change their shapes or places, and ends with the replica. */
TARN_CHECKED tarn_status part_words_enqueue(tarn_replica *r);

#endif
