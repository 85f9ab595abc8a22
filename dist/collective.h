/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives as operations, for those who checked what they ask for. */
#ifndef TARN_COLLECTIVE_H
#define TARN_COLLECTIVE_H

#include "mesh_group.h"
#include "member.h"

/* Over which ranks: all, when `axes` is 0; else groups along these axes, of member.meshes[mesh - 1], or of
 * peers.mesh when `mesh` is 0. */
struct reach {
    uint8_t mesh, axes;
};
static const struct reach whole = { 0, 0 };

/* How many ranks are in a group, and which of its places is this replica's. */
int reach_count(const tarn_replica *r, struct reach over);
int reach_place(const tarn_replica *r, struct reach over);

/* Who passes something on to whom: as in struct collective. */
struct route {
    int by, only;
    bool round;
};
#define ROUTE_MOST 4096 /* places */

/* As the one number of a node's argument. */
static inline uint32_t route_bits(struct route t)
{
    return (uint32_t)(t.by + ROUTE_MOST) | (uint32_t)(t.only + 1) << 16 | (uint32_t)t.round << 31;
}
static inline struct route route_of(uint32_t bits)
{
    return (struct route){ .by = (int)(bits & 0xffff) - ROUTE_MOST,
                           .only = (int)(bits >> 16 & 0x7fff) - 1,
                           .round = bits >> 31 };
}
/* The place whose value comes to a place; -1: none. */
static inline int route_source(struct route t, int count, int place)
{
    const struct collective c = { .by = t.by, .only = t.only, .round = t.round };
    return group_source(&c, count, place);
}

tarn_tensor collective_reduce(tarn_tensor x, tarn_reduction reduction, struct reach over);
tarn_tensor collective_scatter(tarn_tensor x, tarn_reduction reduction, struct reach over, int dim);
tarn_tensor collective_gather(tarn_tensor x, struct reach over, int dim);
tarn_tensor collective_broadcast(tarn_tensor x, struct reach over, int root);
tarn_tensor collective_exchange(tarn_tensor x, struct reach over, int split, int join);
tarn_tensor collective_pass(tarn_tensor x, struct reach over, struct route route);

#endif
