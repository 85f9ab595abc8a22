/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that train with virtual shards: samples from a loader go through layers, and through
 * parameters in other ways, of which some make the sums over samples depend on the number of
 * devices. */
#include <string.h>

#include "generate.h"
#include "tarn_dist.h"

enum { LAYERS = 2, MOST_OPS = 6 };

struct net {
    int batch, width;
    int linear[LAYERS], batch_norm, layer_norm; /* lines of make_... */
    int vector, left, right;                    /* parameters [width], [width, k], [k, width] */
    bool odd;                                   /* with what must be refused, or may be */
};

static int make_layer(struct generator *g, enum op_id op, int in, int out)
{
    return try_line(g, (struct line){ .op = op, .arg = { in, out } });
}

static int parameter(struct generator *g, tarn_shape s)
{
    return try_line(g, (struct line){ .op = OP_ID_parameter, .list = { s } });
}

static void make_net(struct generator *g, struct net *n)
{
    const int k = 1 + below(g, 5);
    for (int i = 0; i < LAYERS; i++)
        n->linear[i] = make_layer(g, OP_ID_make_linear, n->width, n->width);
    n->batch_norm = chance(g, 50) ? make_layer(g, OP_ID_make_batch_norm, n->width, 0) : -1;
    n->layer_norm = chance(g, 40) ? make_layer(g, OP_ID_make_layer_norm, n->width, 0) : -1;
    n->vector = chance(g, 60) ? parameter(g, TARN_SHAPE(n->width)) : -1;
    n->left = chance(g, 40) ? parameter(g, TARN_SHAPE(n->width, k)) : -1;
    n->right = n->left < 0 ? -1 : parameter(g, TARN_SHAPE(k, n->width));
}

static int over_samples(struct generator *g, int x)
{
    return try_line(
        g, (struct line){
               .op = OP_ID_mean, .in = { x }, .ins = 1, .list = { TARN_AXES(0) }, .arg = { 1 } });
}

/* Takes columns off one side and pads the other. */
static int moved_columns(struct generator *g, const struct net *n, int x)
{
    const int cut = 1 + below(g, n->width - 1);
    const int part = try_line(
        g,
        (struct line){ .op = OP_ID_slice, .in = { x }, .ins = 1, .arg = { 1, cut, n->width, 1 } });
    return try_line(g, (struct line){ .op = OP_ID_pad,
                                      .in = { part },
                                      .ins = 1,
                                      .list = { TARN_SHAPE(0, 0), TARN_SHAPE(0, cut) },
                                      .f = { chance(g, 50) ? 0 : 0.5f } });
}

/* What two numbers of devices compute differently, and one device refuses as well. */
static int odd_op(struct generator *g, int x)
{
    if (chance(g, 50)) {
        const int mean = over_samples(g, x);
        return mean < 0 ? -1 : try_op(g, OP_ID_sub, x, mean);
    }
    const int turned =
        try_line(g, (struct line){ .op = OP_ID_transpose, .in = { x }, .ins = 1, .arg = { 0, 1 } });
    const int all = turned < 0 ? -1 : try_op(g, OP_ID_matmul, x, turned);
    const int transformed = all < 0 ? -1 : try_op(g, OP_ID_matmul, all, x);
    return transformed < 0 ? -1 : try_op(g, OP_ID_tanh, transformed, -1);
}

/* [batch, width] to the same; -1: it does not go. */
static int one_op(struct generator *g, const struct net *n, int x)
{
    static const enum op_id maps[] = { OP_ID_tanh, OP_ID_gelu, OP_ID_relu, OP_ID_sigmoid };
    switch (below(g, n->odd ? 12 : 11)) {
    case 0:
    case 1:
        return try_op(g, OP_ID_linear_forward, x, n->linear[below(g, LAYERS)]);
    case 2:
        return n->batch_norm < 0 ? -1 : try_op(g, OP_ID_batch_norm_forward, x, n->batch_norm);
    case 3:
        return n->layer_norm < 0 ? -1 : try_op(g, OP_ID_layer_norm_forward, x, n->layer_norm);
    case 4:
        return n->vector < 0 ? -1 : try_op(g, chance(g, 60) ? OP_ID_mul : OP_ID_add, x, n->vector);
    case 5: {
        const int product = n->right < 0 ? -1 : try_op(g, OP_ID_matmul, n->left, n->right);
        return product < 0 ? -1 : try_op(g, OP_ID_matmul, x, product);
    }
    case 6:
        return try_line(
            g, (struct line){ .op = OP_ID_dropout, .in = { x }, .ins = 1, .f = { 0.25f } });
    case 7:
        return try_line(g,
                        (struct line){ .op = OP_ID_softmax, .in = { x }, .ins = 1, .arg = { 1 } });
    case 8:
        return moved_columns(g, n, x);
    case 9: { /* minus the mean over all samples */
        const int mean = over_samples(g, x);
        const int all = mean < 0 ? -1
                                 : try_line(g, (struct line){ .op = OP_ID_all_reduce,
                                                              .in = { mean },
                                                              .ins = 1,
                                                              .arg = { TARN_MEAN } });
        return all < 0 ? -1 : try_op(g, OP_ID_sub, x, all);
    }
    case 10:
        return try_op(g, maps[below(g, 4)], x, -1);
    default:
        return odd_op(g, x);
    }
}

/* 0.25 times the sum of the squares of a parameter. */
static int decay(struct generator *g, int loss, int w)
{
    const int square = try_op(g, OP_ID_mul, w, w);
    const int sum = try_line(
        g, (struct line){ .op = OP_ID_sum, .in = { square }, .ins = 1, .list = { TARN_ALL } });
    const int part = try_line(
        g, (struct line){ .op = OP_ID_mul_scalar, .in = { sum }, .ins = 1, .f = { 0.25f } });
    const int y = part < 0 ? -1 : try_op(g, OP_ID_add, loss, part);
    return y < 0 ? loss : y;
}

static int forward(struct generator *g, const struct net *n)
{
    int x = new_leaf(g, TARN_SHAPE(n->batch, n->width), TARN_F32, FILL_SIGNED, 0);
    const int ops = 2 + below(g, MOST_OPS - 1);
    const bool classes = chance(g, 60);
    for (int k = 0; k < ops && x >= 0; k++) {
        const int y = one_op(g, n, x);
        x = y >= 0 ? y : x;
    }
    const int last = x < 0 ? -1 : try_op(g, OP_ID_linear_forward, x, n->linear[0]);
    const int target = classes
                           ? new_leaf(g, TARN_SHAPE(n->batch), TARN_I32, FILL_INDEX, n->width)
                           : new_leaf(g, TARN_SHAPE(n->batch, n->width), TARN_F32, FILL_SIGNED, 0);
    int loss = last < 0 || target < 0
                   ? -1
                   : try_op(g, classes ? OP_ID_cross_entropy : OP_ID_mse_loss, last, target);
    if (loss >= 0 && n->vector >= 0 && chance(g, 40))
        loss = decay(g, loss, n->vector);
    return loss >= 0 && n->odd && chance(g, 15) ? try_op(g, OP_ID_mul, loss, loss) : loss;
}

static void finish(struct generator *g, int loss, bool clips, bool last)
{
    const bool fails = !last && chance(g, 10);
    if (!fails)
        try_op(g, OP_ID_output, loss, -1);
    try_op(g, OP_ID_backward, loss, -1);
    if (clips)
        try_line(g, (struct line){ .op = OP_ID_clip_grad_norm, .f = { 0.5f } });
    try_line(g, (struct line){ .op = !last && chance(g, 35) ? OP_ID_optimizer_accumulate
                                                            : OP_ID_optimizer_step });
    try_line(g, (struct line){ .op = fails ? OP_ID_fail : OP_ID_step, .arg = { chance(g, 50) } });
    g->first = g->p->count;
}

void generate_shards(struct generator *g)
{
    struct net n = { .batch = 16 * g->p->shards * (1 + chance(g, 30)),
                     .width = 2 + below(g, 9),
                     .odd = chance(g, 25) };
    make_net(g, &n);
    try_line(g, (struct line){ .op = OP_ID_step });
    g->first = g->p->count;
    make_optimizer(g);
    const int from = g->p->count, steps = 2 + below(g, 2);
    const int first = forward(g, &n), to = g->p->count;
    const bool clips = chance(g, 30);
    for (int k = 0; k < steps; k++) {
        const int loss = k == 0 || first < 0 ? first : repeat_lines(g, from, to, first);
        if (loss < 0)
            break;
        finish(g, loss, clips, k + 1 == steps);
    }
    if (g->p->line[g->p->count - 1].op != OP_ID_step)
        try_line(g, (struct line){ .op = OP_ID_step });
}
