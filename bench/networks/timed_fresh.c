/* SPDX-License-Identifier: Apache-2.0 */
/* Networks that were written after all others and timed before anything was changed for them: what a user may come with. */
#include "timed.h"

enum { STATE = 32, HALF = 32, PLACES = 128, WIDTH = 128, HEADS = 4, CENTERS = 128, PAIRS = 256 };

/* ---- images ---------------------------------------------------------------------------------- */

/* Channels of all groups in turn. */
static tarn_tensor shuffled(tarn_tensor x, int groups)
{
    const tarn_shape s = tarn_shape_get(x);
    x = tarn_reshape(x, TARN_SHAPE(s.dim[0], groups, s.dim[1] / groups, s.dim[2], s.dim[3]));
    return tarn_reshape(tarn_transpose(x, 1, 2), s);
}

/* Convolutions of single pixels in groups, whose channels change places, around one of each channel. */
static tarn_tensor shuffle(tarn_tensor x)
{
    x = tarn_relu(timed_unit(x, "stem", 64, 3, 2, 1));
    for (int i = 0; i < 6; i++) {
        tarn_enter(x.replica, "blocks.%d", i);
        tarn_tensor h = shuffled(tarn_relu(timed_unit(x, "into", 64, 1, 1, 4)), 4);
        h = timed_unit(timed_unit(h, "each", 64, 3, 1, 64), "out", 64, 1, 1, 4);
        x = tarn_relu(tarn_add(x, h));
        tarn_leave(x.replica);
    }
    return tarn_use_linear(tarn_flatten(tarn_global_avg_pool(x), 1), "head", CLASSES);
}

static tarn_tensor active(tarn_tensor x, const char *name, int out, int window)
{
    return tarn_relu(timed_unit(x, name, out, window, 1, 1));
}

/* Windows of several sizes side by side. */
static tarn_tensor inception(tarn_tensor x)
{
    const tarn_pool_options around = { .window = { 3, 3 },
                                       .stride = { 1, 1 },
                                       .padding = { 1, 1 } };
    x = active(x, "stem", 48, 3);
    for (int i = 0; i < 4; i++) {
        tarn_enter(x.replica, "blocks.%d", i);
        const tarn_tensor sides[4] = {
            active(x, "one", 24, 1),
            active(active(x, "three.into", 16, 1), "three", 32, 3),
            active(active(x, "five.into", 8, 1), "five", 16, 5),
            active(tarn_max_pool2d_with(x, around), "pool", 16, 1),
        };
        x = tarn_concat(sides, 4, 1);
        if (i == 1)
            x = tarn_max_pool2d(x, 2);
        tarn_leave(x.replica);
    }
    return tarn_use_linear(tarn_flatten(tarn_global_avg_pool(x), 1), "head", CLASSES);
}

static tarn_tensor part(tarn_tensor gates, int i)
{
    return tarn_slice(gates, 1, i * STATE, (i + 1) * STATE, 1);
}

/* A recurrence whose states are images, written out moment by moment: [N, T, C, H, W]. */
static tarn_tensor convlstm(tarn_tensor x)
{
    const tarn_conv2d_options same = { .padding = { 1, 1 } };
    const tarn_shape s = tarn_shape_get(x);
    tarn_tensor h = tarn_zeros(x.replica, TARN_SHAPE(s.dim[0], STATE, s.dim[3], s.dim[4])), c = h;
    for (int t = 0; t < s.dim[1]; t++) {
        const tarn_tensor both = tarn_concat((tarn_tensor[]){ tarn_select(x, 1, t), h }, 2, 1);
        const tarn_tensor gates = tarn_use_conv2d(both, "cell", 4 * STATE, 3, same);
        const tarn_tensor in = tarn_mul(tarn_sigmoid(part(gates, 0)), tarn_tanh(part(gates, 3)));
        c = tarn_add(tarn_mul(tarn_sigmoid(part(gates, 1)), c), in);
        h = tarn_mul(tarn_sigmoid(part(gates, 2)), tarn_tanh(c));
    }
    return tarn_use_linear(tarn_flatten(tarn_global_avg_pool(h), 1), "head", CLASSES);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* One half is scaled and moved by what a network makes of the other, in turns. */
static tarn_tensor flow(tarn_tensor x)
{
    for (int i = 0; i < 6; i++) {
        tarn_enter(x.replica, "steps.%d", i);
        const tarn_tensor a = tarn_slice(x, 1, 0, HALF, 1), b = tarn_slice(x, 1, HALF, 2 * HALF, 1);
        tarn_tensor h = tarn_relu(tarn_use_linear(a, "first", 128));
        h = tarn_relu(tarn_use_linear(h, "second", 128));
        const tarn_tensor scale = tarn_exp(tarn_tanh(tarn_use_linear(h, "scale", HALF)));
        const tarn_tensor moved = tarn_add(tarn_mul(b, scale), tarn_use_linear(h, "move", HALF));
        x = tarn_concat((tarn_tensor[]){ moved, a }, 2, 1);
        tarn_leave(x.replica);
    }
    return tarn_use_linear(x, "head", CLASSES);
}

static tarn_tensor head_of(tarn_tensor x, const char *name)
{
    const tarn_shape s = tarn_shape_get(x);
    x = tarn_use_linear(x, name, WIDTH);
    return tarn_transpose(tarn_reshape(x, TARN_SHAPE(s.dim[0], s.dim[1], HEADS, WIDTH / HEADS)), 1,
                          2);
}

static tarn_tensor positive(tarn_tensor x)
{
    return tarn_add_scalar(tarn_elu(x, 1), 1);
}

/* Attention without a soft-max, whose products are of keys and values first. */
static tarn_tensor linear_attention(tarn_tensor x)
{
    const tarn_shape shape = tarn_shape_get(x);
    for (int i = 0; i < 3; i++) {
        tarn_enter(x.replica, "blocks.%d", i);
        tarn_tensor h = tarn_use_layer_norm(x, "norm1");
        const tarn_tensor q = positive(head_of(h, "queries")), k = positive(head_of(h, "keys")),
                          v = head_of(h, "values");
        const tarn_tensor sum = tarn_transpose(tarn_sum(k, TARN_AXES(2), true), 2, 3);
        h = tarn_matmul(q, tarn_matmul(tarn_transpose(k, 2, 3), v));
        h = tarn_reshape(tarn_transpose(tarn_div(h, tarn_matmul(q, sum)), 1, 2), shape);
        x = tarn_add(x, tarn_use_linear(h, "out", WIDTH));
        h = tarn_gelu(tarn_use_linear(tarn_use_layer_norm(x, "norm2"), "up", 2 * WIDTH));
        x = tarn_add(x, tarn_use_linear(h, "down", WIDTH));
        tarn_leave(x.replica);
    }
    return tarn_use_linear(tarn_mean(x, TARN_AXES(1), false), "head", CLASSES);
}

/* Distances from centres that are learnt. */
static tarn_tensor radial(tarn_tensor x)
{
    const tarn_init init = { TARN_INIT_NORMAL, .b = 1 };
    for (int i = 0; i < 2; i++) {
        tarn_enter(x.replica, "layers.%d", i);
        const tarn_shape s = tarn_shape_get(x);
        const tarn_tensor centers =
            tarn_use_parameter(x.replica, "centers", TARN_SHAPE(1, CENTERS, s.dim[1]), init);
        tarn_tensor d = tarn_sub(tarn_reshape(x, TARN_SHAPE(s.dim[0], 1, s.dim[1])), centers);
        d = tarn_sum(tarn_mul(d, d), TARN_AXES(2), false);
        x = tarn_use_linear(tarn_exp(tarn_mul_scalar(d, -0.01)), "out", 64);
        tarn_leave(x.replica);
    }
    return tarn_use_linear(x, "head", CLASSES);
}

/* Each sample's likeness to all samples, of which one is the right one. */
static tarn_tensor contrast(tarn_tensor x)
{
    x = tarn_relu(tarn_use_linear(x, "first", 512));
    x = tarn_use_linear(tarn_relu(tarn_use_linear(x, "second", 512)), "third", WIDTH);
    const tarn_tensor squares = tarn_sum(tarn_mul(x, x), TARN_AXES(1), true);
    x = tarn_div(x, tarn_sqrt(tarn_add_scalar(squares, 1e-6)));
    return tarn_mul_scalar(tarn_matmul(x, tarn_transpose(x, 0, 1)), 10);
}

const struct timed_network timed_fresh[] = {
    { .name = "shuffle",
      .x = { 4, { 64, 3, 32, 32 } },
      .y = { 1, { 64 } },
      .classes = CLASSES,
      .forward = shuffle,
      .optimizer = timed_adam },
    { .name = "inception",
      .x = { 4, { 64, 3, 32, 32 } },
      .y = { 1, { 64 } },
      .classes = CLASSES,
      .forward = inception,
      .optimizer = timed_adam },
    { .name = "convlstm",
      .x = { 5, { 16, 8, 1, 32, 32 } },
      .y = { 1, { 16 } },
      .classes = CLASSES,
      .forward = convlstm,
      .optimizer = timed_adam },
    { .name = "flow",
      .x = { 2, { 512, 2 * HALF } },
      .y = { 1, { 512 } },
      .classes = CLASSES,
      .forward = flow,
      .optimizer = timed_adam },
    { .name = "linear-attention",
      .x = { 3, { 32, PLACES, WIDTH } },
      .y = { 1, { 32 } },
      .classes = CLASSES,
      .forward = linear_attention,
      .optimizer = timed_adam },
    { .name = "radial",
      .x = { 2, { 256, 64 } },
      .y = { 1, { 256 } },
      .classes = CLASSES,
      .forward = radial,
      .optimizer = timed_adam },
    { .name = "contrast",
      .x = { 2, { PAIRS, 784 } },
      .y = { 1, { PAIRS } },
      .classes = CLASSES, /* numbers of the first samples: there are always enough */
      .forward = contrast,
      .optimizer = timed_adam },
    { 0 },
};
