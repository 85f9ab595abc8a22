/* SPDX-License-Identifier: Apache-2.0 */
/* What follows from a state alone: parts of shapes, steps between blocks, texts. In: a mesh and a state. Out: numbers
 * that are the same on all ranks. */
#include "shard/state.h"

#include <stdio.h>
#include <string.h>

struct state state_whole(void)
{
    struct state s;
    memset(s.at, STATE_WHOLE, sizeof s.at);
    return s;
}

bool state_equal(struct state a, struct state b)
{
    return memcmp(a.at, b.at, sizeof a.at) == 0;
}

struct state state_of_spec(const struct mesh *m, const struct spec *s)
{
    struct state out = state_whole();
    for (int d = 0; d < TARN_MAX_RANK; d++)
        for (int a = 0; a < MESH_AXES; a++)
            if (s->cut[d] >> a & 1 && m->extent[a] > 1)
                out.at[a] = (int8_t)d;
    return out;
}

struct state state_with_sums(const struct mesh *m, struct state s, uint32_t axes)
{
    for (int a = 0; a < MESH_AXES; a++)
        if (axes >> a & 1 && m->extent[a] > 1)
            s.at[a] = STATE_SUM;
    return s;
}

struct spec state_spec(const struct mesh *m, struct state s)
{
    struct spec out = { { 0 } };
    for (int a = 0; a < m->axes; a++)
        if (s.at[a] >= 0)
            out.cut[s.at[a]] |= (uint8_t)(1 << a);
    return out;
}

uint32_t state_axes_of(const struct mesh *m, struct state s, int d)
{
    uint32_t axes = 0;
    for (int a = 0; a < m->axes; a++)
        axes |= (uint32_t)(s.at[a] == d) << a;
    return axes;
}

bool state_local(const struct mesh *m, struct state s, tarn_shape shape, tarn_shape *out)
{
    for (int a = 0; a < m->axes; a++) {
        const int d = s.at[a];
        if (d < 0)
            continue;
        if (d >= shape.rank || shape.dim[d] % m->extent[a] != 0 || shape.dim[d] == 0)
            return false;
        shape.dim[d] /= m->extent[a];
    }
    *out = shape;
    return true;
}

int32_t state_step(const struct mesh *m, struct state s, int a, int32_t local)
{
    for (int minor = a + 1; minor < m->axes; minor++)
        if (s.at[minor] == s.at[a])
            local *= m->extent[minor];
    return local;
}

void state_text(const struct mesh *m, struct state s, char out[96])
{
    static const char *const word[] = { [-STATE_WHOLE] = "R",
                                        [-STATE_SUM] = "P",
                                        [-STATE_MAX] = "max",
                                        [-STATE_MIN] = "min",
                                        [-STATE_UNSET] = "-" };
    int used = 0;
    out[0] = '\0';
    for (int a = 0; a < m->axes && used < 96; a++) {
        const char *between = a == 0 ? "" : ", ";
        const size_t room = (size_t)(96 - used);
        used += s.at[a] >= 0
                    ? snprintf(out + used, room, "%s%s: S%d", between, m->name[a], s.at[a])
                    : snprintf(out + used, room, "%s%s: %s", between, m->name[a], word[-s.at[a]]);
    }
}
