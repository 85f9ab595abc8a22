/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions of fewer samples than lanes (1_graph/few.c), or of so many that the last block would be half empty:
 * channels or columns are the lanes, and no sum changes its order. So results have the bits of the schedule for GPUs,
 * which knows nothing of it, and those that the samples have within a block of 16. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tarn.h"
#include "tensor/random.h"

enum { CHANNELS = 6, MOST = 1 << 18 };

static tarn_tensor conv(tarn_tensor x, const char *name, int out, int window,
                        tarn_conv2d_options options)
{
    return tarn_use_conv2d(x, name, out, window, options);
}

static tarn_conv2d_options padded(int by)
{
    return (tarn_conv2d_options){ .padding = { by, by } };
}

/* Channels are lanes, of maps and joins of them, too; 20 of them are no whole registers. */
static tarn_tensor channels(tarn_tensor x)
{
    const tarn_tensor a = tarn_relu(conv(x, "a", 32, 3, padded(1)));
    const tarn_tensor b = tarn_use_batch_norm(conv(a, "b", 32, 3, padded(1)), "norm");
    const tarn_tensor c = tarn_relu(tarn_add(a, b));
    const tarn_tensor both = tarn_concat((tarn_tensor[]){ c, tarn_mul(a, b) }, 2, 1);
    return conv(both, "c", 20, 5, (tarn_conv2d_options){ .stride = { 2, 1 }, .padding = { 2, 3 } });
}

/* Two groups, whose channels are lanes each by themselves, and more zeros between the window's elements. */
static tarn_tensor groups(tarn_tensor x)
{
    return conv(x, "a", 48, 3,
                (tarn_conv2d_options){ .padding = { 2, 2 }, .dilation = { 2, 2 }, .groups = 2 });
}

/* Too few channels: columns are lanes where there are as many. */
static tarn_tensor columns(tarn_tensor x)
{
    x = tarn_relu(conv(x, "a", 5, 3, padded(1)));
    x = conv(x, "b", 5, 3, (tarn_conv2d_options){ .padding = { 0, 1 }, .groups = 5 });
    return conv(x, "c", 3, 3, (tarn_conv2d_options){ .stride = { 2, 2 }, .padding = { 1, 1 } });
}

/* Each channel by itself, between convolutions of single pixels; then two channels of each, which are no lanes. */
static tarn_tensor depthwise(tarn_tensor x)
{
    x = tarn_relu(conv(x, "a", 24, 1, (tarn_conv2d_options){ 0 }));
    x = tarn_relu(
        conv(x, "b", 24, 3,
             (tarn_conv2d_options){ .stride = { 2, 2 }, .padding = { 1, 1 }, .groups = 24 }));
    x = tarn_use_batch_norm(conv(x, "c", 40, 1, (tarn_conv2d_options){ 0 }), "norm");
    return conv(x, "d", 80, 3, (tarn_conv2d_options){ .padding = { 1, 1 }, .groups = 40 });
}

/* Likewise of an image whose channels lie apart, which is turned first. */
static tarn_tensor apart(tarn_tensor x)
{
    x = tarn_concat((tarn_tensor[]){ x, tarn_relu(x), x }, 3, 1);
    return conv(x, "a", 3 * CHANNELS, 7,
                (tarn_conv2d_options){ .padding = { 3, 3 }, .groups = 3 * CHANNELS });
}

/* Transposed: from channels to channels with steps of 2, then each channel by itself, then too few channels for lanes. */
static tarn_tensor transposed(tarn_tensor x)
{
    x = tarn_relu(tarn_use_conv_transpose2d(
        x, "a", 20, 4, (tarn_conv_transpose2d_options){ .stride = { 2, 2 }, .padding = { 1, 1 } }));
    x = tarn_relu(
        tarn_use_conv_transpose2d(x, "b", 20, 3, (tarn_conv_transpose2d_options){ .groups = 20 }));
    return tarn_use_conv_transpose2d(x, "c", 3, 3,
                                     (tarn_conv_transpose2d_options){ .stride = { 1, 2 } });
}

/* Windows as long as two steps, and as one, whose phases are channels. */
static tarn_tensor phases(tarn_tensor x)
{
    x = tarn_relu(tarn_use_conv_transpose2d(
        x, "a", 20, 6, (tarn_conv_transpose2d_options){ .stride = { 2, 3 }, .padding = { 1, 2 } }));
    return tarn_use_conv_transpose2d(x, "b", 4, 4,
                                     (tarn_conv_transpose2d_options){ .stride = { 4, 4 } });
}

/* Zeros around images and before a sequence, which the convolutions see as padding. */
static tarn_tensor margins(tarn_tensor x)
{
    x = tarn_pad(x, TARN_SHAPE(0, 0, 1, 3), TARN_SHAPE(0, 0, 2, 0), 0);
    x = tarn_relu(conv(x, "a", 20, 3, padded(1)));
    const tarn_shape s = tarn_shape_get(x);
    x = tarn_reshape(x, TARN_SHAPE(s.dim[0], 20, s.dim[2] * s.dim[3]));
    x = tarn_pad(x, TARN_SHAPE(0, 0, 4), TARN_SHAPE(0, 0, 0), 0);
    return tarn_use_conv1d(x, "b", 24, 3, (tarn_conv1d_options){ .dilation = 2 });
}

/* What is halved and widened beside a convolution, as in a residual network, then maxima and sums of its channels. */
static tarn_tensor shortcut(tarn_tensor x)
{
    tarn_tensor a = tarn_relu(conv(x, "a", 16, 3, padded(1)));
    const tarn_tensor b =
        conv(a, "b", 32, 3, (tarn_conv2d_options){ .stride = { 2, 2 }, .padding = { 1, 1 } });
    for (int axis = 2; axis < 4; axis++)
        a = tarn_slice(a, axis, 0, tarn_shape_get(a).dim[axis], 2);
    a = tarn_pad(a, TARN_SHAPE(0, 8, 0, 0), TARN_SHAPE(0, 8, 0, 0), 0);
    const tarn_tensor sum = tarn_relu(tarn_add(a, b));
    const tarn_tensor most = tarn_flatten(tarn_max_pool2d(sum, 2), 1);
    return tarn_concat((tarn_tensor[]){ most, tarn_flatten(tarn_global_avg_pool(sum), 1) }, 2, 1);
}

/* Rows and columns repeated, next to channels of the same size; and a batch that must not be taken for rows. */
static tarn_tensor enlarged(tarn_tensor x)
{
    const tarn_tensor a = tarn_relu(conv(x, "a", 16, 3, padded(1)));
    const tarn_tensor b = tarn_relu(
        conv(a, "b", 32, 3, (tarn_conv2d_options){ .stride = { 2, 3 }, .padding = { 1, 1 } }));
    const tarn_tensor both =
        tarn_concat((tarn_tensor[]){ tarn_upsample_nearest2d(b, 2, 3), a }, 2, 1);
    return tarn_upsample_nearest2d(conv(both, "c", 17, 3, padded(1)), 1, 2);
}

static const struct program {
    const char *name;
    tarn_tensor (*made)(tarn_tensor x);
    int side;
} programs[] = {
    { "channels", channels, 9 },     { "groups", groups, 8 },      { "columns", columns, 19 },
    { "shortcut", shortcut, 12 },    { "enlarged", enlarged, 12 }, { "depthwise", depthwise, 11 },
    { "transposed", transposed, 5 }, { "apart", apart, 9 },        { "phases", phases, 5 },
    { "margins", margins, 9 },
};

static void fill(float *x, tarn_shape s)
{
    for (int i = 0; i < tarn_shape_count(s); i++)
        x[i] = (float)(random_u32(7, (uint32_t)i) >> 8) / (1 << 22) - 2;
}

static tarn_replica *opened(const char *schedule, const char *target)
{
    cr_assert_eq(setenv("TARN_SCHEDULE", schedule, 1), 0);
    cr_assert_eq(setenv("TARN_TARGET", target, 1), 0);
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    return r;
}

/* The results of the first `samples` of `n`; returns how many numbers. */
static size_t run(const struct program *p, const char *schedule, const char *target, int n,
                  int samples, float *out)
{
    static float x[20 * CHANNELS * 19 * 19], all[MOST];
    const tarn_shape s = TARN_SHAPE(n, CHANNELS, p->side, p->side);
    fill(x, s);
    tarn_replica *r = opened(schedule, target);
    tarn_train(r, false);
    const tarn_tensor y = p->made(tarn_batch_axis(tarn_from(r, s, TARN_F32, x), 0));
    const size_t count = (size_t)tarn_shape_count(tarn_shape_get(y));
    cr_assert_leq(count, MOST);
    cr_assert_eq(tarn_read(y, all, count * sizeof *all), TARN_OK, "%s", tarn_error(r));
    tarn_close(r);
    memcpy(out, all, count / (size_t)n * (size_t)samples * sizeof *out);
    return count / (size_t)n * (size_t)samples;
}

static void expect_bits(const struct program *p, const char *target, int n, const float *wanted,
                        size_t count)
{
    static float seen[MOST];
    cr_expect_eq(run(p, "cpu", target, n, n, seen), count);
    cr_expect_eq(memcmp(seen, wanted, count * sizeof *seen), 0, "%s of %d for %s", p->name, n,
                 target);
}

static void expect_unfused_bits(const struct program *p, const char *target, int n,
                                const float *wanted, size_t count)
{
    cr_expect_eq(setenv("TARN_FUSE", "0", 1), 0);
    expect_bits(p, target, n, wanted, count);
    cr_expect_eq(unsetenv("TARN_FUSE"), 0);
}

Test(few, bits, .timeout = 600)
{
    static float wanted[MOST];
    cr_assert_eq(setenv("TARN_QUICK", "1", 1), 0);
    cr_assert_eq(setenv("TARN_WINOGRAD", "0", 1), 0);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        const struct program *p = &programs[i];
        size_t count = run(p, "gpu", "", 3, 3, wanted);
        expect_bits(p, "neon", 3, wanted, count);
        count = run(p, "gpu", "", 1, 1, wanted);
        expect_bits(p, "avx512", 1, wanted, count);
        expect_unfused_bits(p, "avx512", 1, wanted, count);
    }
}

/* The last block would be half empty, so that the cost model decides (compile_place_samples()): for all targets alike. */
Test(few, bits_of_more, .timeout = 600)
{
    static float wanted[MOST];
    cr_assert_eq(setenv("TARN_QUICK", "1", 1), 0);
    cr_assert_eq(setenv("TARN_WINOGRAD", "0", 1), 0);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        const struct program *p = &programs[i];
        size_t count = run(p, "gpu", "", 9, 9, wanted);
        expect_bits(p, "avx512", 9, wanted, count);
        expect_bits(p, "neon", 9, wanted, count);
        count = run(p, "gpu", "", 20, 20, wanted);
        expect_bits(p, "avx512", 20, wanted, count);
        expect_unfused_bits(p, "avx2", 20, wanted, count);
    }
}

Test(few, as_in_a_block, .timeout = 600)
{
    static float wanted[MOST], seen[MOST];
    cr_assert_eq(setenv("TARN_QUICK", "1", 1), 0);
    cr_assert_eq(setenv("TARN_WINOGRAD", "0", 1), 0);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        const struct program *p = &programs[i];
        const size_t count = run(p, "cpu", "", 16, 2, wanted);
        cr_expect_eq(run(p, "cpu", "", 2, 2, seen), count);
        cr_expect_eq(memcmp(seen, wanted, count * sizeof *seen), 0, "%s", p->name);
    }
}

/* Two convolutions, joined, each in parts of which a part reads the neighbours' rows, too; writes what is read of them. */
static size_t joined(const char *schedule, const char *target, int n, int step, float *out)
{
    enum { A = 9 * CHANNELS, B = 11 * CHANNELS, HEIGHT = 13, WIDTH = 15 };
    static float v[20 * CHANNELS * HEIGHT * WIDTH];
    const tarn_shape s = TARN_SHAPE(n, CHANNELS, HEIGHT, WIDTH);
    fill(v, s);
    tarn_replica *r = opened(schedule, target);
    const tarn_tensor w[] = { tarn_parameter(r, "a", TARN_SHAPE(9, CHANNELS, 1, 1), v),
                              tarn_parameter(r, "b", TARN_SHAPE(11, CHANNELS, 1, 1), v + A) };
    const tarn_tensor x = tarn_batch_axis(tarn_from(r, s, TARN_F32, v), 0);
    tarn_tensor of[2], all[3];
    for (int i = 0; i < 2; i++)
        of[i] = tarn_relu(tarn_conv2d_op(x, w[i], TARN_NONE, (tarn_conv2d_options){ 0 }));
    const tarn_tensor y = tarn_max_pool2d_with(
        tarn_concat(of, 2, 1), (tarn_pool_options){ .window = { 3, 3 }, .stride = { step, step } });
    all[2] = tarn_mean(tarn_mul(y, y), TARN_ALL, false);
    tarn_gradients(all[2], w, 2, all);
    cr_assert_eq(tarn_eval(all, 3), TARN_OK, "%s", tarn_error(r));
    cr_assert_eq(tarn_read(all[0], out, A * sizeof *out), TARN_OK);
    cr_assert_eq(tarn_read(all[1], out + A, B * sizeof *out), TARN_OK);
    cr_assert_eq(tarn_read(all[2], out + A + B, sizeof *out), TARN_OK);
    tarn_close(r);
    return A + B + 1;
}

/* Parts of a block make of a nest what they read of it, but the first one all where it does a reader alone. */
Test(few, parts_read_neighbours, .timeout = 600)
{
    static const char *const targets[] = { "avx512:2", "avx2:3", "neon:8" };
    static float wanted[MOST], seen[MOST];
    cr_assert_eq(setenv("TARN_QUICK", "1", 1), 0);
    cr_assert_eq(setenv("TARN_WINOGRAD", "0", 1), 0);
    for (int n = 5; n <= 16; n += 11)
        for (int step = 1; step <= 2; step++) {
            const size_t count = joined("gpu", "", n, step, wanted);
            for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
                cr_expect_eq(joined("cpu", targets[t], n, step, seen), count);
                cr_expect_eq(memcmp(seen, wanted, count * sizeof *seen), 0,
                             "%d samples, step %d, for %s", n, step, targets[t]);
            }
        }
}

/* Writes the gradients of the mean of y * y, closes the replica, and returns how many numbers. */
static size_t read_gradients(tarn_replica *r, tarn_tensor y, const tarn_tensor *of, int n,
                             float *out)
{
    tarn_tensor g[4];
    size_t count = 0;
    cr_assert_leq(n, 4);
    tarn_gradients(tarn_mean(tarn_mul(y, y), TARN_ALL, false), of, n, g);
    cr_assert_eq(tarn_eval(g, n), TARN_OK, "%s", tarn_error(r));
    for (int i = 0; i < n; i++) {
        const size_t some = (size_t)tarn_shape_count(tarn_shape_get(g[i]));
        cr_assert_leq(count + some, MOST);
        cr_assert_eq(tarn_read(g[i], out + count, some * sizeof *out), TARN_OK);
        count += some;
    }
    tarn_close(r);
    return count;
}

/* Steps of 2 forward, and of 2 and 3 back, whose gradients skip columns, by groups, too; writes those of all weights. */
static size_t strided(const char *schedule, const char *target, int n, float *out)
{
    enum { SIDE = 21 };
    static const char *const names[] = { "a.weight", "b.weight", "c.weight", "d.weight" };
    static float v[4 * CHANNELS * SIDE * SIDE];
    const tarn_shape s = TARN_SHAPE(n, CHANNELS, SIDE, SIDE);
    fill(v, s);
    tarn_replica *r = opened(schedule, target);
    tarn_tensor x = tarn_batch_axis(tarn_from(r, s, TARN_F32, v), 0), of[4];
    x = tarn_relu(conv(x, "a", 40, 3, padded(1)));
    x = tarn_relu(
        conv(x, "b", 20, 3, (tarn_conv2d_options){ .stride = { 2, 2 }, .padding = { 1, 1 } }));
    x = tarn_use_conv_transpose2d(x, "c", 24, 4,
                                  (tarn_conv_transpose2d_options){ .stride = { 2, 3 } });
    x = conv(x, "d", 24, 3, (tarn_conv2d_options){ .stride = { 1, 2 }, .groups = 24 });
    for (int i = 0; i < 4; i++)
        of[i] = tarn_find(r, names[i]);
    return read_gradients(r, x, of, 4, out);
}

Test(few, gradients_skip_columns, .timeout = 600)
{
    static float wanted[MOST], seen[MOST];
    cr_assert_eq(setenv("TARN_QUICK", "1", 1), 0);
    cr_assert_eq(setenv("TARN_WINOGRAD", "0", 1), 0);
    for (int n = 1; n <= 4; n += 3) {
        const size_t count = strided("gpu", "", n, wanted);
        cr_expect_eq(strided("cpu", "avx512", n, seen), count);
        cr_expect_eq(memcmp(seen, wanted, count * sizeof *seen), 0, "%d samples", n);
        cr_expect_eq(setenv("TARN_FUSE", "0", 1), 0);
        cr_expect_eq(strided("cpu", "neon", n, seen), count);
        cr_expect_eq(memcmp(seen, wanted, count * sizeof *seen), 0, "%d samples, unfused", n);
        cr_expect_eq(unsetenv("TARN_FUSE"), 0);
    }
}

/* ---- zeros around images ---------------------------------------------------------------------- */

/* Results, and the gradient of the weight, by the convolution's own padding, or by zeros put around, or halves. */
static size_t surrounded(int n, int how, float *out)
{
    static float v[20 * CHANNELS * 13 * 13];
    const tarn_shape s = TARN_SHAPE(n, CHANNELS, 13, 13), by = TARN_SHAPE(0, 0, 1, 2);
    tarn_conv2d_options options = { .padding = { 1, 2 } };
    fill(v, s);
    tarn_replica *r = opened("cpu", "");
    tarn_tensor x = tarn_batch_axis(tarn_from(r, s, TARN_F32, v), 0);
    if (how > 0) {
        x = tarn_pad(x, by, by, how == 2 ? 0.5f : 0);
        options = (tarn_conv2d_options){ 0 };
    }
    const tarn_tensor y = conv(x, "layer", 20, 3, options);
    const size_t count = (size_t)tarn_shape_count(tarn_shape_get(y));
    cr_assert_leq(count, MOST / 2);
    cr_assert_eq(tarn_read(y, out, count * sizeof *out), TARN_OK, "%s", tarn_error(r));
    const tarn_tensor weight = tarn_find(r, "layer.weight");
    return count + read_gradients(r, y, &weight, 1, out + count);
}

/* Zeros before an image alone: the first results of as much padding on both sides. */
Test(few, zeros_before_images_are_padding, .timeout = 600)
{
    static float v[CHANNELS * 13 * 13], out[2][20 * 12 * 13];
    const tarn_shape s = TARN_SHAPE(1, CHANNELS, 13, 13);
    fill(v, s);
    cr_assert_eq(setenv("TARN_QUICK", "1", 1), 0);
    tarn_replica *r = opened("cpu", "");
    const tarn_tensor x = tarn_from(r, s, TARN_F32, v);
    const tarn_tensor before = tarn_pad(x, TARN_SHAPE(0, 0, 1, 2), TARN_SHAPE(0, 0, 0, 0), 0);
    tarn_tensor y = conv(x, "layer", 20, 3, (tarn_conv2d_options){ .padding = { 1, 2 } });
    y = tarn_slice(tarn_slice(y, 2, 0, 12, 1), 3, 0, 13, 1);
    cr_assert_eq(tarn_read(y, out[0], sizeof out[0]), TARN_OK, "%s", tarn_error(r));
    y = tarn_conv2d_op(before, tarn_find(r, "layer.weight"), tarn_find(r, "layer.bias"),
                       (tarn_conv2d_options){ 0 });
    cr_assert_eq(tarn_read(y, out[1], sizeof out[1]), TARN_OK, "%s", tarn_error(r));
    cr_expect_arr_eq(out[0], out[1], sizeof out[0]);
    tarn_close(r);
}

Test(few, zeros_around_images_are_padding, .timeout = 600)
{
    static float wanted[2 * MOST], seen[2 * MOST];
    cr_assert_eq(setenv("TARN_QUICK", "1", 1), 0);
    for (int n = 2; n <= 18; n += 16) {
        const size_t count = surrounded(n, 0, wanted);
        cr_expect_eq(surrounded(n, 1, seen), count);
        cr_expect_eq(memcmp(seen, wanted, count * sizeof *seen), 0, "%d samples", n);
        cr_expect_eq(surrounded(n, 2, seen), count);
        cr_expect_neq(memcmp(seen, wanted, count * sizeof *seen), 0, "%d samples", n);
    }
}

/* ---- gradients by columns and by channels ---------------------------------------------------- */

static const struct layer {
    int in, out, window, height, width;
    tarn_conv2d_options options;
} layers[] = {
    { 16, 24, 3, 5, 28, { .padding = { 1, 1 } } },
    { 5, 32, 3, 4, 37, { .padding = { 1, 1 } } }, /* channels of the result are lanes */
    { 6, 7, 3, 4, 37, { .padding = { 1, 1 } } },  /* neither are */
    { 32, 16, 3, 6, 56, { .padding = { 2, 2 }, .dilation = { 2, 2 } } },
    { 16, 16, 5, 9, 67, { .stride = { 2, 2 }, .padding = { 2, 2 } } },
    { 16, 16, 3, 6, 32, { .padding = { 1, 1 } } },
    { 32, 32, 1, 3, 28, { .groups = 1 } },
    { 32, 48, 3, 7, 7, { .padding = { 1, 1 } } },
    { 32, 34, 3, 5, 45, { .padding = { 0, 3 }, .groups = 2 } },
    { 32, 32, 3, 5, 20, { .padding = { 1, 1 }, .groups = 32 } },
    { 16, 16, 3, 3, 18, { .padding = { 1, 19 } } }, /* more zeros than columns */
    { 16, 16, 4, 6, 36, { .stride = { 1, 3 } } },   /* a last column that no window sees */
    { 32, 48, 3, 3, 67, { .padding = { 1, 1 } } },  /* tiles of columns overlap */
    { 32, 24, 3, 3, 61, { .stride = { 1, 2 } } },   /* some columns more than there are */
    { 5, 16, 8, 9, 63, { .stride = { 1, 4 }, .padding = { 3, 2 } } }, /* phases are channels */
    { 6, 20, 6, 7, 44, { .stride = { 2, 3 }, .padding = { 1, 5 } } },
};

/* Writes the gradients of a layer's weight and image. */
static size_t layer_gradients(const struct layer *l, const char *schedule, const char *target,
                              float *out)
{
    static float v[2 * 32 * 9 * 67];
    const tarn_shape s = TARN_SHAPE(2, l->in, l->height, l->width);
    cr_assert_leq((size_t)tarn_shape_count(s), sizeof v / sizeof *v);
    fill(v, s);
    tarn_replica *r = opened(schedule, target);
    const tarn_tensor x = tarn_batch_axis(tarn_from(r, s, TARN_F32, v), 0);
    const tarn_tensor y = conv(x, "layer", l->out, l->window, l->options);
    const tarn_tensor of[2] = { tarn_find(r, "layer.weight"), x };
    return read_gradients(r, y, of, 2, out);
}

Test(few, gradients_of_columns_and_channels, .timeout = 600)
{
    static const char *const targets[] = { "avx512:2", "avx2:3", "neon:8" };
    static float wanted[MOST], seen[MOST];
    cr_assert_eq(setenv("TARN_QUICK", "1", 1), 0);
    cr_assert_eq(setenv("TARN_WINOGRAD", "0", 1), 0);
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        const size_t count = layer_gradients(&layers[i], "gpu", "", wanted);
        for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
            cr_expect_eq(setenv("TARN_FUSE", t == 2 ? "0" : "1", 1), 0);
            cr_expect_eq(layer_gradients(&layers[i], "cpu", targets[t], seen), count);
            cr_expect_eq(memcmp(seen, wanted, count * sizeof *seen), 0, "layer %zu for %s", i,
                         targets[t]);
        }
        cr_expect_eq(unsetenv("TARN_FUSE"), 0);
    }
}
