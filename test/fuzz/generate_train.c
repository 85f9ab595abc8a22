/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that train: layers, a loss, an optimizer over a few steps of the same form. */
#include <string.h>

#include "generate.h"

enum { MOST_EXTRA = 3 };

struct training {
    int layer[4], layers;        /* lines of make_... */
    int extra[MOST_EXTRA], many; /* parameters that only some steps use */
    int classes;
    bool image;
};

static int make(struct generator *g, struct training *n, enum op_id op, const int arg[7])
{
    struct line l = { .op = op };
    memcpy(l.arg, arg, 7 * sizeof(int));
    const int i = try_line(g, l);
    if (i >= 0)
        n->layer[n->layers++] = i;
    return i;
}

static void make_layers(struct generator *g, struct training *n, int features)
{
    const int hidden = 2 + below(g, 9);
    n->classes = 2 + below(g, 9);
    if (n->image) {
        const int out = 1 + below(g, 4);
        make(g, n, OP_ID_make_conv2d,
             (int[7]){ features, out, 1 + below(g, 3), chance(g, 30) ? 2 : 0, below(g, 2), 0, 0 });
        if (chance(g, 60))
            make(g, n, OP_ID_make_batch_norm, (int[7]){ out });
    } else {
        make(g, n, OP_ID_make_linear, (int[7]){ features, hidden });
        if (chance(g, 70))
            make(g, n, chance(g, 50) ? OP_ID_make_layer_norm : OP_ID_make_batch_norm,
                 (int[7]){ hidden });
        make(g, n, OP_ID_make_linear, (int[7]){ hidden, n->classes });
    }
    n->many = below(g, MOST_EXTRA + 1);
    for (int k = 0; k < n->many; k++) {
        const bool given = chance(g, 70);
        if (!given && chance(g, 60)) {
            const int kind = below(g, 8);
            n->extra[k] =
                try_line(g, (struct line){ .op = OP_ID_parameter_with,
                                           .list = { kind < 4 ? TARN_SHAPE(1 + below(g, 20))
                                                              : TARN_SHAPE(1 + below(g, 5), 3, 2) },
                                           .arg = { kind },
                                           .f = { 0.5f, 1.25f, -0.25f, 2 } });
            continue;
        }
        n->extra[k] =
            try_line(g, (struct line){ .op = given ? OP_ID_parameter : OP_ID_parameter_kaiming,
                                       .list = { TARN_SHAPE(1 + below(g, 20)) },
                                       .arg = { given ? (int)FILL_SIGNED : 3 } });
    }
}

/* Settings of some parameters, before anything else of a step. */
void make_settings(struct generator *g)
{
    const float factors[] = { 0.5f, 0.25f, 2, 0 }, decays[] = { 0, 0.0625f, 0.125f };
    for (int k = 1 + below(g, 3); k > 0; k--) {
        struct line l = { .op = (enum op_id)(OP_ID_scale_lr + below(g, 3)) };
        l.arg[0] = chance(g, 70);
        l.arg[1] = below(g, 5);
        l.f[0] = l.op == OP_ID_scale_lr ? factors[below(g, 4)] : decays[below(g, 3)];
        if (l.op != OP_ID_freeze || l.arg[1] != 0 || !l.arg[0]) /* not all of them */
            try_line(g, l);
    }
}

void make_optimizer(struct generator *g)
{
    const float rates[] = { 0.125f, 0.0625f, 0.5f }, parts[] = { 0, 0.5f, 0.75f };
    struct line l = { .op = (enum op_id)(OP_ID_make_sgd + below(g, 5)) };
    l.f[0] = rates[below(g, 3)];
    if (l.op == OP_ID_make_sgd) {
        l.f[1] = parts[below(g, 3)];
        l.arg[0] = l.f[1] > 0 && chance(g, 40);
        l.f[2] = l.arg[0] ? 0 : parts[below(g, 2)];
        l.f[3] = chance(g, 40) ? 0.03125f : 0;
    } else if (l.op == OP_ID_make_rmsprop) {
        l.f[1] = chance(g, 50) ? 0.5f : 0.875f;
        l.f[2] = chance(g, 70) ? 0.0625f : 0.00390625f;
        l.f[3] = chance(g, 40) ? 0.03125f : 0;
        l.f[4] = parts[below(g, 3)];
        l.arg[0] = chance(g, 40);
    } else {
        l.f[1] = chance(g, 50) ? 0.5f : 0.875f;
        l.f[2] = chance(g, 50) ? 0.75f : 0.9375f;
        l.f[3] = chance(g, 70) ? 0.0625f : 0.00390625f; /* of Lion the weight decay */
        l.f[4] = chance(g, 50) ? 0.03125f : l.op == OP_ID_make_adamw ? -1 : 0;
    }
    if (try_line(g, l) >= 0 && chance(g, 35))
        make_settings(g);
}

static int forward(struct generator *g, const struct training *n, int x)
{
    static const enum op_id activations[] = { OP_ID_tanh, OP_ID_relu, OP_ID_gelu, OP_ID_sigmoid,
                                              OP_ID_dropout };
    for (int k = 0; k < n->layers && x >= 0; k++) {
        const int layer = n->layer[k];
        const enum op_id op =
            (enum op_id)(g->p->line[layer].op - OP_ID_make_linear + OP_ID_linear_forward);
        const int y = try_op(g, op, x, layer);
        x = y >= 0 ? y : x;
        if (k + 1 < n->layers || n->image) {
            struct line l = {
                .op = activations[below(g, 5)], .in = { x }, .ins = 1, .f = { 0.25f }
            };
            const int z = chance(g, 70) ? try_line(g, l) : -1;
            x = z >= 0 ? z : x;
        }
        if (n->image && chance(g, 40)) {
            struct line l = { .op = chance(g, 50) ? OP_ID_max_pool2d : OP_ID_avg_pool2d,
                              .in = { x },
                              .ins = 1,
                              .arg = { 2 } };
            const int z = try_line(g, l);
            x = z >= 0 ? z : x;
        }
    }
    return x;
}

static int loss_of(struct generator *g, const struct training *n, int y, int batch)
{
    if (y < 0)
        return -1;
    if (n->image) {
        const int flat =
            try_line(g, (struct line){ .op = OP_ID_flatten, .in = { y }, .ins = 1, .arg = { 1 } });
        y = flat >= 0 ? flat : y;
    }
    const tarn_shape s = shape_of_line(g, y);
    if (s.rank == 2 && s.dim[1] > 1 && chance(g, 70)) {
        const int target = new_leaf(g, TARN_SHAPE(batch), TARN_I32, FILL_INDEX, s.dim[1]);
        const int loss = try_op(g, OP_ID_cross_entropy, y, target);
        if (loss >= 0)
            return loss;
    }
    const int target = new_leaf(g, s, TARN_F32, FILL_SIGNED, 0);
    return target < 0 ? -1 : try_op(g, OP_ID_mse_loss, y, target);
}

int repeat_lines(struct generator *g, int from, int to, int loss)
{
    const int shift = g->p->count - from;
    for (int i = from; i < to; i++) {
        struct line l = g->p->line[i];
        l.id = 0;
        for (int k = 0; k < l.ins; k++)
            l.in[k] += l.in[k] >= from ? shift : 0;
        if (try_line(g, l) < 0)
            return -1;
    }
    return loss + shift;
}

/* Adds some of the extra parameters to the loss. */
static int with_extra(struct generator *g, const struct training *n, int loss)
{
    for (int k = 0; k < n->many; k++) {
        if (n->extra[k] < 0 || !chance(g, 55))
            continue;
        const int square = try_op(g, OP_ID_mul, n->extra[k], n->extra[k]);
        const int mean = square < 0 ? -1
                                    : try_line(g, (struct line){ .op = OP_ID_mean,
                                                                 .in = { square },
                                                                 .ins = 1,
                                                                 .list = { TARN_ALL } });
        const int sum = mean < 0 ? -1 : try_op(g, OP_ID_add, loss, mean);
        loss = sum >= 0 ? sum : loss;
    }
    return loss;
}

static void clip(struct generator *g)
{
    const float norms[] = { 1000, 0.5f, 0.125f };
    const int norm =
        try_line(g, (struct line){ .op = chance(g, 50) ? OP_ID_clip_grad_norm
                                                       : OP_ID_optimizer_clip_grad_norm,
                                   .f = { norms[below(g, 3)] } });
    if (norm >= 0)
        try_op(g, OP_ID_output, norm, -1);
}

/* What follows the loss: backward, and what is done with it. True: the step goes wrong. */
static bool finish(struct generator *g, const struct training *n, int loss, bool clips,
                   bool accumulates, bool fails)
{
    loss = with_extra(g, n, loss);
    /* A forward pass alone would leave running statistics apart on several devices, which is
     * reported. */
    fails |= try_op(g, OP_ID_backward, loss, -1) < 0 && g->p->world > 1;
    if (!fails)
        try_op(g, OP_ID_output, loss, -1);
    if (clips && !fails)
        clip(g);
    if (clips && chance(g, 15))
        try_op(g, OP_ID_backward, loss, -1);
    if (!clips && n->many > 0 && n->extra[0] >= 0 && chance(g, 20) && !fails) {
        const int d = try_op(g, OP_ID_grad, n->extra[0], -1);
        if (d >= 0)
            try_op(g, OP_ID_output, d, -1);
    }
    try_line(
        g, (struct line){ .op = accumulates ? OP_ID_optimizer_accumulate : OP_ID_optimizer_step });
    if (fails)
        try_line(g, (struct line){ .op = OP_ID_fail, .arg = { chance(g, 50) } });
    else
        try_line(g, (struct line){ .op = OP_ID_step });
    g->first = g->p->count;
    if (chance(g, 10))
        make_settings(g);
    return fails;
}

/* The same forward pass, lines from .. to - 1 with the loss last, in evaluation mode. */
static void evaluate(struct generator *g, int from, int to)
{
    g->first = g->p->count;
    if (try_line(g, (struct line){ .op = OP_ID_train }) < 0)
        return;
    const int shift = g->p->count - from, loss = repeat_lines(g, from, to, to - 1);
    if (loss >= 0)
        try_op(g, OP_ID_output, chance(g, 50) ? loss : g->p->line[to - 1].in[0] + shift, -1);
    try_line(g, (struct line){ .op = OP_ID_step });
}

void generate_training(struct generator *g)
{
    struct training n = { .image = chance(g, 40) };
    if (g->batch == 1)
        g->batch = 7;
    const int channels = 1 + below(g, 3), features = 1 + below(g, 12);
    make_layers(g, &n, n.image ? channels : features);
    try_line(g, (struct line){ .op = OP_ID_step });
    g->first = g->p->count;
    make_optimizer(g);
    if (program_half(g->p->half))
        some_autocast(g);
    const int batch = n.image && g->batch > 33 ? 17 : g->batch;
    const int from = g->p->count, side = 4 + below(g, 4);
    const int x =
        new_leaf(g, n.image ? TARN_SHAPE(batch, channels, side, side) : TARN_SHAPE(batch, features),
                 TARN_F32, FILL_SIGNED, 0);
    const int first = loss_of(g, &n, forward(g, &n, x), batch);
    if (first < 0 || n.layers == 0) {
        try_line(g, (struct line){ .op = OP_ID_step });
        return;
    }
    const int to = g->p->count, steps = 2 + below(g, 3);
    const bool accumulates = chance(g, 35), clips = chance(g, 40);
    for (int k = 0; k < steps; k++) {
        const int loss = k == 0 ? first : repeat_lines(g, from, to, first);
        if (loss < 0) {
            if (g->p->world > 1)
                try_line(g, (struct line){ .op = OP_ID_fail });
            break;
        }
        const bool keeps = accumulates && k + 1 < steps && chance(g, 70);
        if (finish(g, &n, loss, clips, keeps, chance(g, 15)) && k + 1 < steps)
            continue;
    }
    try_line(g, (struct line){ .op = OP_ID_step });
    if (chance(g, 35))
        evaluate(g, from, to);
}
