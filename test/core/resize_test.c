/* SPDX-License-Identifier: Apache-2.0 */
/* Images resized to the nearest pixels: which ones are those of PyTorch 2.15, by views or by indices; and gradients. */
#include <criterion/criterion.h>

#include "first.h"
#include "refuses.h"
#include "tarn.h"
#include "tarn_ops.h"

TestSuite(resize, .timeout = 300);

enum { IMAGES = 3, CHANNELS = 2 };

struct length {
    int in, out;
    float scale; /* 0: the size is asked for */
    int pixel
        [16]; /* torch.nn.functional.interpolate(mode="nearest") of 0, 1, ...: the first ones */
};

static const struct length lengths[] = {
    { 5, 13, 0, { 0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 3, 4, 4 } },       { 13, 5, 0, { 0, 2, 5, 7, 10 } },
    { 8, 15, 0, { 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7 } }, { 12, 4, 0, { 0, 3, 6, 9 } },
    { 4, 12, 3, { 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3 } },          { 3, 3, 0, { 0, 1, 2 } },
    { 7, 11, 1.7f, { 0, 0, 1, 1, 2, 2, 3, 4, 4, 5, 5 } },          { 9, 4, 0.45f, { 0, 2, 4, 6 } },
};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static tarn_resize_options options_of(const struct length *high, const struct length *wide)
{
    tarn_resize_options o = { .scale = { high->scale, wide->scale } };
    o.size[0] = high->scale == 0 ? high->out : 0;
    o.size[1] = wide->scale == 0 ? wide->out : 0;
    return o;
}

/* Values and gradients are small integers. */
static void check(tarn_replica *r, const struct length *high, const struct length *wide)
{
    const tarn_shape in = TARN_SHAPE(IMAGES, CHANNELS, high->in, wide->in);
    const tarn_shape out = TARN_SHAPE(IMAGES, CHANNELS, high->out, wide->out);
    float x[IMAGES * CHANNELS * 13 * 13], w[IMAGES * CHANNELS * 15 * 15];
    float y[IMAGES * CHANNELS * 15 * 15], g[IMAGES * CHANNELS * 13 * 13],
        g_expected[IMAGES * CHANNELS * 13 * 13] = { 0 };
    const int pixels = (int)tarn_shape_count(in), results = (int)tarn_shape_count(out);
    for (int i = 0; i < pixels; i++)
        x[i] = (float)i;
    for (int i = 0; i < results; i++)
        w[i] = (float)(i * 7 % 11 - 5);
    const tarn_tensor image = tarn_from(r, in, TARN_F32, x);
    tarn_tensor resized = tarn_resize_nearest2d(image, options_of(high, wide));
    tarn_tensor gradient = TARN_NONE;
    const tarn_tensor sum =
        tarn_sum(tarn_mul(resized, tarn_from(r, out, TARN_F32, w)), TARN_ALL, false);
    tarn_gradients(sum, &image, 1, &gradient);
    resized = tarn_keep(resized);
    gradient = tarn_keep(gradient);
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    read_all(resized, y, (size_t)results * sizeof *y);
    read_all(gradient, g, (size_t)pixels * sizeof *g);
    for (int i = 0; i < results; i++) {
        const int image_of = i / (high->out * wide->out);
        const int row = high->pixel[i / wide->out % high->out], column = wide->pixel[i % wide->out];
        const int at = (image_of * high->in + row) * wide->in + column;
        cr_expect_eq(y[i], x[at], "%d x %d to %d x %d, element %d", high->in, wide->in, high->out,
                     wide->out, i);
        g_expected[at] += w[i];
    }
    for (int i = 0; i < pixels; i++)
        cr_expect_eq(g[i], g_expected[i], "%d x %d to %d x %d, gradient %d", high->in, wide->in,
                     high->out, wide->out, i);
}

Test(resize, pixels_are_those_of_pytorch)
{
    tarn_replica *r = open_first();
    for (int i = 0; i < LENGTHS; i++)
        check(r, &lengths[i], &lengths[(i + 3) % LENGTHS]);
    tarn_close(r);
}

/* 41 * (2 / 82) is less than 1 in float32: there are 42 pixels of the first kind, in PyTorch, too. */
Test(resize, ratios_are_of_float32)
{
    tarn_replica *r = open_first();
    float y[82];
    const tarn_tensor x = tarn_from(r, TARN_SHAPE(1, 1, 1, 2), TARN_F32, (const float[]){ 3, 4 });
    read_all(tarn_resize_nearest2d(x, (tarn_resize_options){ .size = { 1, 82 } }), y, sizeof y);
    for (int i = 0; i < 82; i++)
        cr_expect_eq(y[i], i < 42 ? 3 : 4, "%d", i);
    tarn_close(r);
}

Test(resize, misuse_is_refused)
{
    tarn_replica *r = open_first();
    REFUSES("resize_nearest2d: x is float32 [2], must be",
            tarn_resize_nearest2d(tarn_zeros(r, TARN_SHAPE(2)),
                                  (tarn_resize_options){ .size = { 2, 2 } }));
    REFUSES("resize_nearest2d: [1,1,2,2] to size 0",
            tarn_resize_nearest2d(tarn_zeros(r, TARN_SHAPE(1, 1, 2, 2)),
                                  (tarn_resize_options){ .size = { 0, 2 } }));
    REFUSES(
        "resize_nearest2d: align_corners is for means",
        tarn_resize_nearest2d(tarn_zeros(r, TARN_SHAPE(1, 1, 2, 2)),
                              (tarn_resize_options){ .size = { 3, 2 }, .align_corners = true }));
    tarn_close(r);
}
