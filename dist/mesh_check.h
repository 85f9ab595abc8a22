/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the ranks of a mesh that have the same part of a tensor have the same bits in it. Collective, all of it. */
#ifndef TARN_MESH_CHECK_H
#define TARN_MESH_CHECK_H

#include "tensor/replica.h"

/* Once, before the first update: what the first rank with a part has, the others get. */
TARN_CHECKED tarn_status mesh_check_begin(tarn_replica *r);
/* Whether the step under way is one in which weights are compared. */
bool mesh_check_due(const tarn_replica *r);
/* Compares peers.words of all ranks, where these are pending: TARN_ERR_WEIGHTS with the tensor, the step and the ranks,
 * or heals. `before` the step's program is run, only where that cannot wait. */
TARN_CHECKED tarn_status mesh_check_compare(tarn_replica *r, bool before);

#endif
