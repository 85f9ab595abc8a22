/* SPDX-License-Identifier: Apache-2.0 */
/* The data of a program's leaves, and the names of what it makes. */
#include "program.h"

#include <stdio.h>

double fuzz_random(unsigned long long *state)
{
    unsigned long long z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 42) / (1 << 22);
}

static double draw(enum fill fill, int limit, unsigned long long *state)
{
    const double t = fuzz_random(state);
    if (fill == FILL_POSITIVE)
        return 0.5 + 1.5 * t;
    if (fill == FILL_COARSE)
        return (double)(int)(t * 5) - 2;
    if (fill == FILL_INDEX)
        return (double)(int)(t * limit);
    const double x = 4 * t - 2;
    return x < 0.01 && x > -0.01 ? x + 0.25 : x;
}

void program_data(const struct program *p, const struct line *l, int rank, double *out)
{
    unsigned long long state = p->seed * 1000003u + l->id;
    if (p->by_rank && l->op == OP_ID_from)
        state += (unsigned long long)rank << 40;
    const int64_t n = tarn_shape_count(l->shape);
    for (int64_t i = 0; i < n; i++) {
        const bool finer = p->wide && l->arg[0] <= FILL_POSITIVE; /* than float32 */
        const double v = (double)(float)draw((enum fill)l->arg[0], l->arg[1], &state) *
                         (finer ? 1 + 0x1p-32 : 1);
        out[i] = l->dtype == TARN_U8 ? (double)((int)v & 255) : program_rounded(v, l->dtype);
    }
}

void program_name(const struct line *l, char out[24])
{
    snprintf(out, 24, "t%u", l->id);
}

static const char *const part_names[][5] = { { "weight", "bias" },
                                             { "weight", "bias" },
                                             { "weight", "bias", "running_mean", "running_var",
                                               "num_batches_tracked" },
                                             { "weight", "bias" } };

const char *program_pattern(const struct line *l)
{
    static const char *const parts[] = { "", "weight", "bias", "1", "3" };
    return parts[l->arg[1] % 5];
}

bool program_is_setting(enum op_id op)
{
    return op >= OP_ID_make_sgd && op <= OP_ID_freeze;
}

void program_find_name(const struct program *p, const struct line *l, char out[48])
{
    const struct line *made = &p->line[l->in[0]];
    char name[24];
    program_name(made, name);
    if (program_is_layer(made->op))
        snprintf(out, 48, "%s.%s", name, part_names[made->op - OP_ID_make_linear][l->arg[0]]);
    else
        snprintf(out, 48, "%s", name);
}
