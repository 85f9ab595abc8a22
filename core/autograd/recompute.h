/* SPDX-License-Identifier: Apache-2.0 */
/* Regions of a step whose values are computed again for their gradients, as a walk back over the graph meets them. */
#ifndef TARN_RECOMPUTE_H
#define TARN_RECOMPUTE_H

#include "tensor/replica.h"

/* Of one walk back: which node has a node's value again; 0: nobody made one. */
struct again {
    uint32_t *node;
    uint32_t count, done; /* nodes; the regions from this one on have theirs */
};

/* For a walk over the nodes up to `last`. False after recording an error. */
bool again_begin(tarn_replica *r, uint32_t last, struct again *a);
void again_end(struct again *a);
/* Before the gradient of `node`, whose own one is `gradient`: the values of the region that it is in are recorded
 * once more, to be computed when that is there. */
void again_reach(tarn_replica *r, struct again *a, uint32_t node, uint32_t gradient);
/* The node that a gradient is to read instead of one of the region's; else the node itself. */
static inline uint32_t again_of(const struct again *a, uint32_t node)
{
    return node < a->count && a->node[node] != 0 ? a->node[node] : node;
}

#endif
