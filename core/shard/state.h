/* SPDX-License-Identifier: Apache-2.0 */
/* How a value lies over the ranks of a mesh: for each mesh axis, which of its dimensions is cut along it, or
 * that all ranks have it whole, or that what they have must still be combined. */
#ifndef TARN_STATE_H
#define TARN_STATE_H

#include "tensor/mesh.h"

enum { /* dimensions from 0 on, or */
       STATE_WHOLE = -1,
       STATE_SUM = -2, /* the value is the sum, the largest, the smallest of what the ranks have */
       STATE_MAX = -3,
       STATE_MIN = -4,
       STATE_UNSET = -5 /* of wishes alone */
};

struct state {
    int8_t at[MESH_AXES]; /* STATE_WHOLE along axes that the mesh has not */
};

static inline bool state_pending(int at)
{
    return at <= STATE_SUM && at >= STATE_MIN;
}

struct state state_whole(void);
bool state_equal(struct state a, struct state b);
struct state state_of_spec(const struct mesh *m, const struct spec *s);
/* The same with sums that are pending along some axes. */
struct state state_with_sums(const struct mesh *m, struct state s, uint32_t axes);
/* Of dimensions alone: what is pending is left out. */
struct spec state_spec(const struct mesh *m, struct state s);
/* The mesh axes that cut dimension d, as bits. */
uint32_t state_axes_of(const struct mesh *m, struct state s, int d);
/* The part of a rank; false where a dimension does not divide. */
bool state_local(const struct mesh *m, struct state s, tarn_shape shape, tarn_shape *out);
/* Elements from one block of a dimension to the next along mesh axis a, which cuts it, when `local` is the part
 * of a rank: the lower axis is the major one. */
int32_t state_step(const struct mesh *m, struct state s, int a, int32_t local);
/* "data: S0, model: P" into `out`. */
void state_text(const struct mesh *m, struct state s, char out[96]);

#endif
