/* SPDX-License-Identifier: Apache-2.0 */
/* Which rank holds which part of a tensor, for people. In: a mesh, a shape, a spec. Out: lines. */
#include "shard/shard_program.h"
#include "shard/state.h"
#include "tensor/shape.h"

enum { PARTS_SHOWN = 16 };

/* "(-, model)": what cuts each dimension. */
static void spec_text(const struct mesh *m, tarn_shape shape, struct state s, struct text *out)
{
    for (int d = 0; d < shape.rank; d++) {
        const uint32_t axes = state_axes_of(m, s, d);
        text_add(out, "%s%s", d == 0 ? "(" : ", ", axes == 0 ? "-" : "");
        for (int a = 0, met = 0; a < m->axes; a++)
            if (axes >> a & 1)
                text_add(out, "%s%s", met++ > 0 ? "+" : "", m->name[a]);
    }
    text_add(out, ")");
}

/* The first element of a rank's part along each dimension. */
static void first_of(const struct mesh *m, struct state s, tarn_shape part, int rank,
                     int32_t first[TARN_MAX_RANK])
{
    for (int d = 0; d < part.rank; d++)
        first[d] = 0;
    for (int a = 0; a < m->axes; a++)
        if (s.at[a] >= 0)
            first[s.at[a]] += mesh_coordinate(m, rank, a) * state_step(m, s, a, part.dim[s.at[a]]);
}

static bool same_part(const int32_t *x, const int32_t *y, int rank)
{
    for (int d = 0; d < rank; d++)
        if (x[d] != y[d])
            return false;
    return true;
}

void shard_picture(struct text *out, const char *name, const struct mesh *m, tarn_shape shape,
                   const struct spec *spec)
{
    const struct state s = state_of_spec(m, spec);
    const int ranks = mesh_blocks(m, (UINT32_C(1) << m->axes) - 1);
    tarn_shape part;
    int32_t first[TARN_MAX_RANK], other[TARN_MAX_RANK];
    int shown = 0;
    if (!state_local(m, s, shape, &part))
        return;
    text_add(out, "%s %s ", name, shape_text(shape));
    spec_text(m, shape, s, out);
    text_add(out, " %s a rank\n", shape_text(part));
    for (int rank = 0; rank < ranks && shown < PARTS_SHOWN; rank++) {
        bool before = false;
        first_of(m, s, part, rank, first);
        for (int k = 0; k < rank && !before; k++) {
            first_of(m, s, part, k, other);
            before = same_part(first, other, part.rank);
        }
        if (before)
            continue;
        shown++;
        text_add(out, "    [");
        for (int d = 0; d < part.rank; d++)
            text_add(out, "%s%d..%d", d == 0 ? "" : ", ", first[d], first[d] + part.dim[d] - 1);
        text_add(out, "] on rank");
        for (int k = rank; k < ranks; k++) {
            first_of(m, s, part, k, other);
            if (same_part(first, other, part.rank))
                text_add(out, " %d", k);
        }
        text_add(out, "\n");
    }
}
