/* SPDX-License-Identifier: Apache-2.0 */
/* What a replica recorded, as the compiler sees it. */
#ifndef TARN_SNAPSHOT_H
#define TARN_SNAPSHOT_H

#include "compile/program.h"
#include "tensor/replica.h"

struct snapshot {
    struct program program;
    struct storage *storage;
};

/* Whether later steps are likely to find owned tensors as this one does: it is none of training, and there is room. */
bool snapshot_may_fix(const tarn_replica *r);
/* And whether that holds of this one. */
bool snapshot_is_fixed(const tarn_replica *r, const struct owned *o);
/* What the current graph computes for `outputs` (nodes) and, when `effects`, for all its
 * assignments. Holds until the graph or the owned tensors change; snapshot_free() is to be called
 * even then. */
TARN_CHECKED tarn_status snapshot_take(const tarn_replica *r, const uint32_t *outputs, int count,
                                       bool effects, struct snapshot *out);
void snapshot_free(struct snapshot *s);

#endif
