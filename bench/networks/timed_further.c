/* SPDX-License-Identifier: Apache-2.0 */
/* Networks of further kinds, timed as they were written: windows of attention, groups of channels, points, coordinates, and
 * sequences in both directions. */
#include "timed.h"

enum { SIDE = 32, WINDOW = 4, HEADS = 4, POINTS = 256, WAVES = 128, FRAMES = 64, BANDS = 40 };

static tarn_tensor conv(tarn_tensor x, const char *name, int out, int window, int stride,
                        int groups)
{
    const tarn_conv2d_make_options make = {
        .window = { window },
        .options = { { stride, stride }, { window / 2, window / 2 }, { 1, 1 }, groups },
        .no_bias = true,
    };
    return tarn_use_batch_norm(tarn_use_conv2d_with(x, name, out, make),
                               TARN_NAME("%s.norm", name));
}

/* ---- windows --------------------------------------------------------------------------------- */

/* [N, S, S, C] as [N * windows, WINDOW * WINDOW, C], and back. */
static tarn_tensor windows_of(tarn_tensor x)
{
    const tarn_shape s = tarn_shape_get(x);
    const int32_t many = s.dim[1] / WINDOW;
    x = tarn_reshape(x, TARN_SHAPE(s.dim[0], many, WINDOW, many, WINDOW, s.dim[3]));
    x = tarn_permute(x, TARN_AXES(0, 1, 3, 2, 4, 5));
    return tarn_reshape(x, TARN_SHAPE(-1, WINDOW * WINDOW, s.dim[3]));
}

static tarn_tensor from_windows(tarn_tensor x, tarn_shape to)
{
    const int32_t many = to.dim[1] / WINDOW;
    x = tarn_reshape(x, TARN_SHAPE(to.dim[0], many, many, WINDOW, WINDOW, to.dim[3]));
    return tarn_reshape(tarn_permute(x, TARN_AXES(0, 1, 3, 2, 4, 5)), to);
}

/* Attention within windows, every other time of windows that were moved by half of one. */
static tarn_tensor swin(tarn_tensor x)
{
    const tarn_conv2d_options cut = { .stride = { 2, 2 } };
    const tarn_multi_head_attention_options heads = { .heads = HEADS };
    x = tarn_permute(tarn_use_conv2d(x, "patches", 64, 2, cut), TARN_AXES(0, 2, 3, 1));
    const tarn_shape shape = tarn_shape_get(x);
    for (int i = 0; i < 4; i++) {
        const int by = i % 2 * WINDOW / 2;
        tarn_enter(x.replica, "blocks.%d", i);
        tarn_tensor h = tarn_use_layer_norm(x, "norm1");
        h = windows_of(tarn_roll(tarn_roll(h, 1, -by), 2, -by));
        h = from_windows(tarn_use_multi_head_attention(h, "attention", heads, TARN_NONE, TARN_NONE),
                         shape);
        x = tarn_add(x, tarn_roll(tarn_roll(h, 1, by), 2, by));
        h = tarn_gelu(tarn_use_linear(tarn_use_layer_norm(x, "norm2"), "up", 256));
        x = tarn_add(x, tarn_use_linear(h, "down", 64));
        tarn_leave(x.replica);
    }
    return tarn_use_linear(tarn_mean(tarn_use_layer_norm(x, "norm"), TARN_AXES(1, 2), false),
                           "head", CLASSES);
}

/* ---- groups ---------------------------------------------------------------------------------- */

static tarn_tensor resnext(tarn_tensor x)
{
    static const int widths[] = { 64, 64, 128, 128 };
    x = tarn_relu(conv(x, "stem", 32, 3, 1, 1));
    for (int i = 0; i < 4; i++) {
        const int stride = i == 0 || i == 2 ? 2 : 1;
        tarn_enter(x.replica, "blocks.%d", i);
        tarn_tensor h = tarn_relu(conv(x, "less", widths[i], 1, 1, 1));
        h = tarn_relu(conv(h, "groups", widths[i], 3, stride, 16));
        h = conv(h, "more", 2 * widths[i], 1, 1, 1);
        if (stride == 2)
            x = conv(x, "along", 2 * widths[i], 1, 2, 1);
        tarn_leave(x.replica);
        x = tarn_relu(tarn_add(x, h));
    }
    return tarn_use_linear(tarn_flatten(tarn_global_avg_pool(x), 1), "fc", CLASSES);
}

/* ---- points and coordinates ------------------------------------------------------------------ */

/* Layers over the features of each point, of which the largest go on. x [N, POINTS, 3]. */
static tarn_tensor pointnet(tarn_tensor x)
{
    static const int widths[] = { 64, 128, 512 };
    const tarn_conv1d_options one = { 0 };
    x = tarn_transpose(x, 1, 2);
    for (int i = 0; i < 3; i++) {
        x = tarn_use_conv1d(x, TARN_NAME("each%d", i), widths[i], 1, one);
        x = tarn_relu(tarn_use_batch_norm(x, TARN_NAME("norm%d", i)));
    }
    x = tarn_max(x, TARN_AXES(2), false);
    x = tarn_relu(tarn_use_batch_norm(tarn_use_linear(x, "fc1", 256), "norm3"));
    return tarn_use_linear(tarn_dropout(x, 0.3f), "fc2", CLASSES);
}

/* A function of coordinates by sines, whose fourth layer sees them again. */
static tarn_tensor siren(tarn_tensor x)
{
    tarn_tensor h = x;
    for (int i = 0; i < 6; i++) {
        if (i == 3)
            h = tarn_concat((tarn_tensor[]){ h, x }, 2, 1);
        h = tarn_sin(tarn_use_linear(h, TARN_NAME("waves%d", i), WAVES));
    }
    return tarn_use_linear(h, "out", CLASSES);
}

/* ---- both directions ------------------------------------------------------------------------- */

/* Frames of sound, thinned out by a convolution, and read forwards and backwards. */
static tarn_tensor speech(tarn_tensor x)
{
    static const tarn_recurrent_options rows = { .batch_first = true };
    const tarn_conv1d_options thin = { .stride = 2, .padding = 1 };
    x = tarn_relu(tarn_use_conv1d(tarn_transpose(x, 1, 2), "thin", 64, 3, thin));
    x = tarn_transpose(x, 1, 2);
    for (int i = 0; i < 2; i++) {
        const tarn_tensor there = tarn_use_lstm(x, TARN_NAME("there%d", i), 64, rows, NULL, NULL).y;
        const tarn_tensor back =
            tarn_use_lstm(tarn_flip(x, TARN_AXES(1)), TARN_NAME("back%d", i), 64, rows, NULL, NULL)
                .y;
        x = tarn_concat((tarn_tensor[]){ there, tarn_flip(back, TARN_AXES(1)) }, 2, 2);
    }
    return tarn_reshape(tarn_use_linear(x, "head", CLASSES), TARN_SHAPE(-1, CLASSES));
}

const struct timed_network timed_further[] = {
    { .name = "swin",
      .x = { 4, { 32, 3, SIDE, SIDE } },
      .y = { 1, { 32 } },
      .classes = CLASSES,
      .forward = swin,
      .optimizer = timed_adamw },
    { .name = "resnext",
      .x = { 4, { 64, 3, SIDE, SIDE } },
      .y = { 1, { 64 } },
      .classes = CLASSES,
      .forward = resnext,
      .optimizer = timed_sgd },
    { .name = "pointnet",
      .x = { 3, { 32, POINTS, 3 } },
      .y = { 1, { 32 } },
      .classes = CLASSES,
      .forward = pointnet,
      .optimizer = timed_adam },
    { .name = "siren",
      .x = { 2, { 4096, 3 } },
      .y = { 1, { 4096 } },
      .classes = CLASSES,
      .forward = siren,
      .optimizer = timed_adam },
    { .name = "speech",
      .x = { 3, { 32, FRAMES, BANDS } },
      .y = { 1, { 32 * FRAMES / 2 } },
      .classes = CLASSES,
      .forward = speech,
      .optimizer = timed_adam,
      .clip = 1 },
    { 0 },
};
