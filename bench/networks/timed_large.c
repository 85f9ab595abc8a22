/* SPDX-License-Identifier: Apache-2.0 */
/* Networks whose weights and values are far larger than a core's caches, of sizes that people train. */
#include "timed.h"

enum { WIDE = 2048, DEPTH = 512, PLACES = 128, WORDS = 8192, HIDDEN = 512, MOMENTS = 32 };

/* ---- images ---------------------------------------------------------------------------------- */

static tarn_tensor residual_blocks(tarn_tensor x)
{
    for (int i = 0; i < 8; i++) {
        const int out = 64 << i / 2, stride = i > 0 && i % 2 == 0 ? 2 : 1;
        tarn_enter(x.replica, "blocks.%d", i);
        tarn_tensor h = tarn_relu(timed_unit(x, "first", out, 3, stride, 1));
        h = timed_unit(h, "second", out, 3, 1, 1);
        if (stride > 1)
            x = timed_unit(x, "short", out, 1, stride, 1);
        tarn_leave(x.replica);
        x = tarn_relu(tarn_add(h, x));
    }
    return tarn_use_linear(tarn_flatten(tarn_global_avg_pool(x), 1), "fc", CLASSES);
}

static tarn_tensor resnet18(tarn_tensor x)
{
    return residual_blocks(tarn_relu(timed_unit(x, "stem", 64, 3, 1, 1)));
}

/* The same for photographs, whose rows are 112 to 7 columns long. */
static tarn_tensor photos(tarn_tensor x)
{
    const tarn_pool_options three = { .window = { 3, 3 }, .stride = { 2, 2 }, .padding = { 1, 1 } };
    x = tarn_relu(timed_unit(x, "stem", 64, 7, 2, 1));
    return residual_blocks(tarn_max_pool2d_with(x, three));
}

/* Thin, wide for each channel, thin again, as MobileNetV2. */
static tarn_tensor inverted(tarn_tensor x)
{
    static const int out[] = { 16, 24, 24, 32, 32, 64, 64 }, stride[] = { 1, 2, 1, 2, 1, 2, 1 };
    x = tarn_clamp(timed_unit(x, "stem", 32, 3, 2, 1), 0, 6);
    for (int i = 0; i < 7; i++) {
        const int in = tarn_shape_get(x).dim[1], wide = 6 * in;
        tarn_enter(x.replica, "blocks.%d", i);
        tarn_tensor h = tarn_clamp(timed_unit(x, "up", wide, 1, 1, 1), 0, 6);
        h = tarn_clamp(timed_unit(h, "each", wide, 3, stride[i], wide), 0, 6);
        h = timed_unit(h, "down", out[i], 1, 1, 1);
        tarn_leave(x.replica);
        x = in == out[i] ? tarn_add(x, h) : h;
    }
    return tarn_use_linear(tarn_flatten(tarn_global_avg_pool(x), 1), "fc", CLASSES);
}

/* Two convolutions with norms. */
static tarn_tensor twice(tarn_tensor x, const char *name, int out)
{
    tarn_enter(x.replica, "%s", name);
    x = tarn_relu(timed_unit(x, "first", out, 3, 1, 1));
    x = tarn_relu(timed_unit(x, "second", out, 3, 1, 1));
    tarn_leave(x.replica);
    return x;
}

static tarn_tensor up(tarn_tensor small, const char *name, tarn_tensor large)
{
    const int channels = tarn_shape_get(large).dim[1];
    const tarn_conv_transpose2d_options options = { .stride = { 2, 2 } };
    small = tarn_use_conv_transpose2d(small, TARN_NAME("%s.wider", name), channels, 2, options);
    return twice(tarn_concat((tarn_tensor[]){ small, large }, 2, 1), name, channels);
}

static tarn_tensor unet_wide(tarn_tensor x)
{
    const tarn_tensor a = twice(x, "down1", 32);
    const tarn_tensor b = twice(tarn_max_pool2d(a, 2), "down2", 64);
    const tarn_tensor c = twice(tarn_max_pool2d(b, 2), "down3", 128);
    const tarn_tensor d = twice(tarn_max_pool2d(c, 2), "bottom", 256);
    const tarn_tensor e = up(up(up(d, "up3", c), "up2", b), "up1", a);
    return tarn_use_conv2d(e, "head", CLASSES, 1, (tarn_conv2d_options){ 0 });
}

/* ---- rows ------------------------------------------------------------------------------------ */

static tarn_tensor wide(tarn_tensor x)
{
    for (int i = 0; i < 3; i++)
        x = tarn_relu(tarn_use_linear(x, TARN_NAME("fc%d", i), WIDE));
    return tarn_use_linear(x, "head", CLASSES);
}

static tarn_tensor gpt_512(tarn_tensor x)
{
    return timed_text(x, WORDS, DEPTH, 8);
}

/* A model of language with two layers of recurrence. */
static tarn_tensor lstm_512(tarn_tensor x)
{
    const tarn_recurrent_options two = { .layers = 2, .batch_first = true };
    const tarn_tensor h = tarn_use_embedding(x, "words", WORDS, HIDDEN);
    const tarn_tensor y = tarn_use_lstm(h, "lstm", HIDDEN, two, NULL, NULL).y;
    return tarn_use_linear(tarn_reshape(y, TARN_SHAPE(-1, HIDDEN)), "head", WORDS);
}

const struct timed_network timed_large[] = {
    { .name = "resnet-18",
      .x = { 4, { 16, 3, 64, 64 } },
      .y = { 1, { 16 } },
      .classes = CLASSES,
      .forward = resnet18,
      .optimizer = timed_sgd },
    { .name = "photos",
      .x = { 4, { 4, 3, 224, 224 } },
      .y = { 1, { 4 } },
      .classes = CLASSES,
      .forward = photos,
      .optimizer = timed_sgd },
    { .name = "inverted",
      .x = { 4, { 32, 3, 96, 96 } },
      .y = { 1, { 32 } },
      .classes = CLASSES,
      .forward = inverted,
      .optimizer = timed_sgd },
    { .name = "unet-wide",
      .x = { 4, { 4, 3, 128, 128 } },
      .y = { 3, { 4, 128, 128 } },
      .classes = CLASSES,
      .forward = unet_wide,
      .optimizer = timed_adam },
    { .name = "wide",
      .x = { 2, { 256, WIDE } },
      .y = { 1, { 256 } },
      .classes = CLASSES,
      .forward = wide,
      .optimizer = timed_adamw },
    { .name = "gpt-512",
      .x = { 2, { 8, PLACES } },
      .y = { 1, { 8 * PLACES } },
      .classes = WORDS,
      .words = WORDS,
      .forward = gpt_512,
      .optimizer = timed_adamw },
    { .name = "lstm-512",
      .x = { 2, { 20, MOMENTS } },
      .y = { 1, { 20 * MOMENTS } },
      .classes = WORDS,
      .words = WORDS,
      .forward = lstm_512,
      .optimizer = timed_sgd,
      .clip = 1 },
    { 0 },
};
