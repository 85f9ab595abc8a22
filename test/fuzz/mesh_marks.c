/* SPDX-License-Identifier: Apache-2.0 */
/* Which tensors of a program are marked, and how, follows from its seed and the line that made them, so that all ranks
 * set equal marks: nearly all leaves, some of the values between, half of the optimizers' states. */
#include "mesh_marks.h"

#include <string.h>

static const tarn_mesh meshes[] = {
    { .axis = { { "a", 1 }, { "b", 2 } } }, { .axis = { { "a", 2 }, { "b", 1 } } },
    { .axis = { { "a", 2 }, { "b", 2 } } }, { .axis = { { "a", 1 }, { "b", 4 } } },
    { .axis = { { "a", 4 }, { "b", 1 } } }, { .axis = { { "a", 2 }, { "b", 4 } } },
    { .axis = { { "a", 8 }, { "b", 1 } } },
};
enum { MESHES = sizeof meshes / sizeof meshes[0] };

tarn_mesh marks_mesh(const struct program *p)
{
    return meshes[p->seed % MESHES];
}

int marks_ranks(const struct program *p)
{
    const tarn_mesh m = marks_mesh(p);
    return m.axis[0].ranks * m.axis[1].ranks;
}

static unsigned long long state_of(const struct program *p, int i, int part)
{
    return p->seed * 15485863u + p->line[i].id * 8u + (unsigned long long)part;
}

static int drawn(unsigned long long *state, int n)
{
    return (int)(fuzz_random(state) * n);
}

/* Axes cut dimensions that they divide, or none. */
static tarn_spec random_spec(const tarn_mesh *m, tarn_shape s, unsigned long long *state)
{
    static const char *const names[] = { NULL, "a", "b", "a,b" };
    int cut[TARN_MAX_RANK] = { 0 };
    tarn_spec spec = { .rank = s.rank };
    for (int a = 0; a < 2; a++) {
        const int d = drawn(state, s.rank + 1), n = m->axis[a].ranks;
        if (d == s.rank || s.dim[d] == 0 || s.dim[d] % n != 0)
            continue;
        s.dim[d] /= n;
        cut[d] |= 1 << a;
    }
    for (int d = 0; d < s.rank; d++)
        spec.axes[d] = names[cut[d]];
    return spec;
}

static tarn_tensor mark(const struct program *p, tarn_tensor x, unsigned long long *state)
{
    const tarn_mesh m = marks_mesh(p);
    const tarn_shape s = tarn_shape_get(x);
    return s.rank == 0 ? x : tarn_mark_sharding(x, m, random_spec(&m, s, state));
}

tarn_tensor marks_value(const struct program *p, int i, tarn_tensor made)
{
    unsigned long long state = state_of(p, i, 0);
    const enum op_id op = p->line[i].op;
    const bool leaf = op == OP_ID_from || op == OP_ID_parameter || op == OP_ID_parameter_kaiming ||
                      op == OP_ID_parameter_with || op == OP_ID_buffer;
    const bool between = strchr("mvrnx", op_table[op].result) != NULL;
    const int percent = leaf ? 80 : between && !p->line[i].owned ? 10 : 0;
    return drawn(&state, 100) < percent ? mark(p, made, &state) : made;
}

void marks_layer(tarn_replica *r, const struct program *p, int i)
{
    for (int part = 0; part < 2; part++) {
        unsigned long long state = state_of(p, i, 1 + part);
        const struct line find = { .op = OP_ID_find, .in = { i }, .arg = { part } };
        char name[48];
        program_find_name(p, &find, name);
        if (drawn(&state, 100) < 80)
            mark(p, tarn_find(r, name), &state);
    }
}

void marks_states(tarn_replica *r, const struct program *p, int i, tarn_optimizer *o)
{
    static const char *const axes[] = { "a", "b", "a,b" };
    unsigned long long state = state_of(p, i, 0);
    if (drawn(&state, 2) == 0)
        tarn_mark_state_sharding(r, o, marks_mesh(p), axes[drawn(&state, 3)]);
}
