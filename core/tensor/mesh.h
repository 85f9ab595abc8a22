/* SPDX-License-Identifier: Apache-2.0 */
/* A mesh names the axes along which the ranks of a launch are laid out, and a spec says which of them cut the
 * dimensions of a tensor. Both are plain values: no rank's own place is in them, so that all ranks compile
 * the same program. */
#ifndef TARN_MESH_H
#define TARN_MESH_H

#include "tarn.h"

#define MESH_AXES 4
#define MESH_NAME 16 /* bytes of an axis' name, with its end */

/* rank = row-major number of the coordinates: the last axis is the fastest. An axis of extent 1 is legal. */
struct mesh {
    int axes; /* 0: no mesh */
    int32_t extent[MESH_AXES];
    char name[MESH_AXES][MESH_NAME];
};

/* Bit a of cut[d]: mesh axis a cuts dimension d into extent[a] equal blocks. Of several, the lower axis is the
 * major one. An axis cuts one dimension at most. All zero: every rank has the whole tensor. */
struct spec {
    uint8_t cut[TARN_MAX_RANK];
};

/* The coordinate of `rank` along an axis. */
static inline int32_t mesh_coordinate(const struct mesh *m, int rank, int axis)
{
    for (int a = m->axes - 1; a > axis; a--)
        rank /= m->extent[a];
    return rank % m->extent[axis];
}
/* Which of the places along the axes of a mask is the rank's: the lower axis is the major one. */
static inline int32_t mesh_place(const struct mesh *m, int rank, uint32_t axes)
{
    int32_t place = 0;
    for (int a = 0; a < m->axes; a++)
        if (axes >> a & 1)
            place = place * m->extent[a] + mesh_coordinate(m, rank, a);
    return place;
}
/* How many blocks the axes of a mask make. */
static inline int32_t mesh_blocks(const struct mesh *m, uint32_t axes)
{
    int32_t blocks = 1;
    for (int a = 0; a < m->axes; a++)
        blocks *= axes >> a & 1 ? m->extent[a] : 1;
    return blocks;
}
/* Whether nothing is cut. */
static inline bool spec_is_whole(const struct spec *s)
{
    uint32_t axes = 0;
    for (int d = 0; d < TARN_MAX_RANK; d++)
        axes |= s->cut[d];
    return axes == 0;
}

#endif
