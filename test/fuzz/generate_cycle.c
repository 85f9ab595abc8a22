/* SPDX-License-Identifier: Apache-2.0 */
/* Programs about the order of backward, clip, accumulate, step and failure, on a few parameters
 * that only some steps use. */
#include "generate.h"

enum { MOST_PARAMETERS = 3 };

struct cycle {
    int parameter[MOST_PARAMETERS], many;
    bool clips, fails, repeats; /* repeats: several accumulations in a step */
};

static int make_term(struct generator *g, int parameter)
{
    const int weight = chance(g, 60)
                           ? new_leaf(g, shape_of_line(g, parameter), TARN_F32, FILL_SIGNED, 0)
                           : parameter;
    const int product = weight < 0 ? -1 : try_op(g, OP_ID_mul, parameter, weight);
    return try_line(
        g, (struct line){ .op = OP_ID_sum, .in = { product }, .ins = 1, .list = { TARN_ALL } });
}

/* Backward from some of the parameters. False: no loss came of it. */
static bool differentiate(struct generator *g, const struct cycle *c)
{
    int loss = -1;
    const int always = below(g, c->many);
    for (int k = 0; k < c->many; k++) {
        const int term = k == always || chance(g, 40) ? make_term(g, c->parameter[k]) : -1;
        const int sum = loss < 0 || term < 0 ? term : try_op(g, OP_ID_add, loss, term);
        loss = sum >= 0 ? sum : loss;
    }
    return loss >= 0 && try_op(g, OP_ID_backward, loss, -1) >= 0;
}

static void clip_some(struct generator *g, bool fails)
{
    const float norms[] = { 1000, 1000, 0.5f };
    const int norm =
        try_line(g, (struct line){ .op = chance(g, 50) ? OP_ID_clip_grad_norm
                                                       : OP_ID_optimizer_clip_grad_norm,
                                   .f = { norms[below(g, 3)] } });
    if (norm >= 0 && !fails)
        try_op(g, OP_ID_output, norm, -1);
}

static bool one_step(struct generator *g, const struct cycle *c, bool last)
{
    const bool fails = c->fails && !last && chance(g, 40), updates = last || chance(g, 45);
    const int rounds = 1 + (c->repeats && chance(g, 50));
    for (int k = 0; k < rounds; k++) {
        if (!differentiate(g, c))
            return false;
        if (c->clips && chance(g, 50)) {
            clip_some(g, fails);
            if (chance(g, 40))
                differentiate(g, c);
        }
        if (c->repeats && chance(g, k + 1 < rounds ? 60 : 30))
            try_line(g, (struct line){ .op = OP_ID_optimizer_accumulate });
    }
    const enum op_id end = updates ? OP_ID_optimizer_step : OP_ID_optimizer_accumulate;
    try_line(g, (struct line){ .op = end });
    const enum op_id mark = fails ? OP_ID_fail : OP_ID_step;
    try_line(g, (struct line){ .op = mark, .arg = { chance(g, 50) } });
    g->first = g->p->count;
    return true;
}

void generate_cycle(struct generator *g)
{
    struct cycle c = { .many = 1 + below(g, MOST_PARAMETERS),
                       .clips = chance(g, 40),
                       .fails = chance(g, 50),
                       .repeats = chance(g, 30) };
    for (int k = 0; k < c.many; k++)
        c.parameter[k] = try_line(
            g, (struct line){ .op = OP_ID_parameter, .list = { TARN_SHAPE(1 + below(g, 4)) } });
    try_line(g, (struct line){ .op = OP_ID_step });
    g->first = g->p->count;
    make_optimizer(g);
    const int steps = 4 + below(g, 4);
    for (int k = 0; k < steps; k++)
        if (!one_step(g, &c, k + 1 == steps))
            break;
    if (g->p->line[g->p->count - 1].op != OP_ID_step)
        try_line(g, (struct line){ .op = OP_ID_step });
}
