/* SPDX-License-Identifier: Apache-2.0 */
/* The ranks along some axes of a mesh: a group, in rank order, that the other coordinates have in common. */
#ifndef TARN_MESH_GROUP_H
#define TARN_MESH_GROUP_H

#include "communicator.h"

/* How many ranks each group has. All of them where `c` has no mesh. */
static inline int group_count(const struct collective *c, int world)
{
    return c->mesh == NULL ? world : mesh_blocks(c->mesh, c->axes);
}
/* The place of a rank in its group, and the rank at a place of that group. */
int group_place(const struct collective *c, int rank);
int group_member(const struct collective *c, int rank, int place);
/* PASS: the place whose value comes to a place of a group of `count`; -1: none. */
int group_source(const struct collective *c, int count, int place);
/* The shape of the result for an operand of c->shape. */
tarn_shape group_result(const struct collective *c, int count);
/* What a rank receives from others of its group when each takes what it needs, in bytes; a sum by parts. */
uint64_t group_received(const struct collective *c, int rank);

/* Place `place` of the group of mine[0 .. count) does its share: it fetches what it wants. */
void group_share(const struct collective *const *mine, int count, int place);

#endif
