/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions, transposed ones and pools of one, two and three axes: networks against stored results of PyTorch in
 * float64, second gradients among them; names and first values of parameters; and what is refused. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "golden.h"
#include "refuses.h"
#include "tarn.h"

TestSuite(volume, .timeout = 600);

#define COUNT(a) ((int)(sizeof a / sizeof((a)[0])))
enum { MOST = 2600, PARTS = 6 };

/* ---- networks ------------------------------------------------------------------------------- */

/* As those of generate_volume.py. */
static tarn_tensor volume(tarn_tensor x)
{
    static const tarn_conv3d_make_options conv = {
        { 3, 2, 3 },
        false,
        { .stride = { 1, 2, 1 }, .padding = { 1, 0, 1 }, .dilation = { 1, 1, 2 }, .groups = 2 }
    };
    static const tarn_conv_transpose3d_make_options up = {
        { 2, 3, 2 },
        true,
        { .stride = { 2, 1, 2 }, .padding = { 0, 1, 1 }, .output_padding = { 1, 0, 1 } }
    };
    x = tarn_tanh(tarn_use_batch_norm(tarn_use_conv3d(x, "conv", 4, conv), "norm"));
    x = tarn_max_pool3d(x, (tarn_pool3d_options){ .window = { 2 }, .round_up = true });
    return tarn_avg_pool3d(tarn_use_conv_transpose3d(x, "up", 3, up),
                           (tarn_pool3d_options){ .window = { 3, 2, 2 },
                                                  .stride = { 2, 1, 2 },
                                                  .padding = { 1, 1, 1 },
                                                  .round_up = true,
                                                  .exclude_padding = true });
}

static tarn_tensor line(tarn_tensor x)
{
    static const tarn_conv1d_make_options conv = { 3, true, { .padding = 1 } };
    static const tarn_conv_transpose1d_make_options up = { 4, false, { 3, 1, 1, 2, 2 } };
    x = tarn_tanh(tarn_use_conv1d_with(x, "conv", 6, conv));
    x = tarn_max_pool1d(
        x, (tarn_pool1d_options){ .window = 3, .stride = 2, .padding = 1, .dilation = 2 });
    return tarn_avg_pool1d(
        tarn_use_conv_transpose1d(x, "up", 4, up),
        (tarn_pool1d_options){ .window = 3, .stride = 2, .padding = 1, .round_up = true });
}

static tarn_tensor image(tarn_tensor x)
{
    static const tarn_conv_transpose2d_make_options up = { { 3, 2 }, true, { .stride = { 2 } } };
    x = tarn_tanh(tarn_use_conv_transpose2d_with(x, "up", 3, up));
    return tarn_adaptive_avg_pool2d(tarn_adaptive_max_pool2d(x, 4, 5), 3, 7);
}

/* Parameters in PyTorch's order, x before them. */
static const struct network {
    const char *name;
    tarn_tensor (*forward)(tarn_tensor x);
    tarn_shape shape;
    const char *parts[PARTS];
    int terms; /* the longest chain of roundings to a gradient: sums of both ways, and the norm's twice */
} networks[] = {
    { "volume",
      volume,
      { 5, { 3, 4, 5, 6, 7 } },
      { "x", "conv.weight", "conv.bias", "norm.weight", "norm.bias", "up.weight" },
      1400 },
    { "line", line, { 3, { 3, 4, 9 } }, { "x", "conv.weight", "up.weight", "up.bias" }, 200 },
    { "image", image, { 4, { 3, 2, 5, 7 } }, { "x", "up.weight" }, 600 },
};

static tarn_tensor ramp(tarn_replica *r, tarn_shape shape, int k)
{
    static double v[MOST];
    const int count = (int)tarn_shape_count(shape);
    cr_assert_leq(count, (int)MOST);
    for (int i = 0; i < count; i++)
        v[i] = (double)((37 * i + 11 * k) % 101) / 50 - 1;
    return tarn_from(r, shape, TARN_F64, v);
}

/* Both sides round: twice gamma(terms), of the largest element. */
static void expect(const struct golden *g, const struct network *n, const char *what,
                   const char *part, tarn_tensor t, int terms)
{
    static double got[MOST];
    const struct golden_tensor want = golden_find(g, "%s.%s%s", n->name, what, part);
    const tarn_shape s = tarn_shape_get(t);
    cr_assert(want.data != NULL && want.count <= MOST, "%s.%s%s: not in the file", n->name, what,
              part);
    if (tarn_dtype_get(t) != TARN_F64)
        t = tarn_cast(t, TARN_F64);
    cr_assert_eq(tarn_shape_count(s), (int64_t)want.count, "%s.%s%s", n->name, what, part);
    cr_assert(s.rank == want.shape.rank &&
                  memcmp(s.dim, want.shape.dim, (size_t)s.rank * sizeof *s.dim) == 0,
              "%s.%s%s: another shape", n->name, what, part);
    cr_assert_eq(tarn_read(t, got, want.count * sizeof *got), TARN_OK, "%s.%s%s: %s", n->name, what,
                 part, tarn_error(t.replica));
    const double *y = want.data;
    double top = 1, worst = 0;
    for (size_t i = 0; i < want.count; i++)
        top = fmax(top, fabs(y[i]));
    for (size_t i = 0; i < want.count; i++)
        worst = fmax(worst, fabs(got[i] - y[i]));
    const double limit = 2 * terms * top * 0x1p-53;
    cr_expect_leq(worst, limit, "%s.%s%s: off by %.3g, limit %.3g", n->name, what, part, worst,
                  limit);
    printf("%s.%s%s: error / limit %.3f\n", n->name, what, part, worst / limit);
}

static void check(const struct golden *g, const struct network *n)
{
    static const char *const after[] = { "norm.running_mean", "norm.running_var",
                                         "norm.num_batches_tracked" };
    tarn_replica *r = tarn_open_with((tarn_open_options){ .winograd = -1 });
    cr_assert(r != NULL, "%s", tarn_error(NULL));
    tarn_parameter_dtype(r, TARN_F64);
    tarn_train(r, false);
    (void)n->forward(ramp(r, n->shape, 0)); /* makes the layers */
    tarn_train(r, true);
    int count = 1;
    for (; count < PARTS && n->parts[count] != NULL; count++) {
        const tarn_tensor p = tarn_find(r, n->parts[count]);
        tarn_assign(p, ramp(r, tarn_shape_get(p), count));
    }
    cr_assert_eq(tarn_step(r), TARN_OK, "%s: %s", n->name, tarn_error(r));

    tarn_tensor wanted[PARTS] = { ramp(r, n->shape, 0) }, first[PARTS], second[PARTS];
    for (int i = 1; i < count; i++)
        wanted[i] = tarn_find(r, n->parts[i]);
    const tarn_tensor y = n->forward(wanted[0]);
    const tarn_tensor loss =
        tarn_sum(tarn_mul(ramp(r, tarn_shape_get(y), 5), tarn_mul(y, y)), TARN_ALL, false);
    tarn_gradients(loss, wanted, count, first);
    const bool twice = n->forward != volume; /* a norm's second gradients take long to compile */
    if (twice)
        tarn_gradients(tarn_sum(tarn_mul(first[0], first[0]), TARN_ALL, false), wanted, count,
                       second);
    tarn_tensor all[1 + 2 * PARTS] = { y };
    memcpy(all + 1, first, (size_t)count * sizeof *all);
    memcpy(all + 1 + count, second, twice ? (size_t)count * sizeof *all : 0);
    cr_assert_eq(tarn_eval(all, 1 + (twice ? 2 : 1) * count), TARN_OK, "%s: %s", n->name,
                 tarn_error(r));
    expect(g, n, "y", "", y, n->terms / 2);
    for (int i = 0; i < count; i++) {
        expect(g, n, "first.", n->parts[i], first[i], n->terms);
        if (twice)
            expect(g, n, "second.", n->parts[i], second[i], 3 * n->terms);
    }
    cr_assert_eq(tarn_step(r), TARN_OK, "%s: %s", n->name, tarn_error(r));
    for (int i = 0; i < COUNT(after) && n->forward == volume; i++)
        expect(g, n, "after.", after[i], tarn_find(r, after[i]), n->terms);
    tarn_train(r, false);
    expect(g, n, "evaluated", "", n->forward(ramp(r, n->shape, 0)), n->terms / 2);
    tarn_close(r);
}

Test(volume, networks_are_pytorchs)
{
    struct golden *g = golden_open("volume.safetensors");
    cr_assert(g != NULL);
    for (int i = 0; i < COUNT(networks); i++)
        check(g, &networks[i]);
    golden_close(g);
}

/* ---- equal maxima --------------------------------------------------------------------------- */

static void expect_slope(tarn_tensor y, tarn_tensor x, int count, int first)
{
    float g[27];
    tarn_tensor gradient;
    tarn_gradients(tarn_sum(y, TARN_ALL, false), &x, 1, &gradient);
    cr_assert_eq(tarn_read(gradient, g, (size_t)count * sizeof *g), TARN_OK, "%s",
                 tarn_error(x.replica));
    for (int i = 0; i < count; i++)
        cr_expect(g[i] == (float)(i == first), "element %d has %g", i, (double)g[i]);
}

/* The first in row-major order has the gradient, whatever is pooled first. */
Test(volume, the_first_maximum_has_the_gradient)
{
    static const float cube[] = { 0, 0, 0, 1, 1, 0, 0, 0 },
                       square[] = { 0, 2, 0, 2, 0, 0, 0, 0, 0 };
    tarn_replica *r = tarn_open(NULL);
    cr_assert(r != NULL, "%s", tarn_error(NULL));
    tarn_tensor x = tarn_from(r, TARN_SHAPE(1, 1, 2, 2, 2), TARN_F32, cube);
    expect_slope(tarn_max_pool3d(x, (tarn_pool3d_options){ .window = { 2 } }), x, 8, 3);
    x = tarn_from(r, TARN_SHAPE(1, 1, 3, 3), TARN_F32, square);
    const tarn_tensor y = tarn_adaptive_max_pool2d(x, 2, 2);
    expect_slope(tarn_slice(tarn_slice(y, 2, 0, 1, 1), 3, 0, 1, 1), x, 9, 1);
    tarn_close(r);
}

/* ---- folding -------------------------------------------------------------------------------- */

static tarn_tensor normed(tarn_tensor x)
{
    static const tarn_conv3d_make_options conv = { .window = { 2, 3, 1 }, .no_bias = true };
    return tarn_use_batch_norm(tarn_use_conv3d(x, "conv", 5, conv), "norm");
}

/* In float64, where both ways differ by less than a float's last digit. */
Test(volume, a_norm_is_folded)
{
    static double plain[MOST], folded[MOST];
    tarn_replica *r = tarn_open(NULL);
    cr_assert(r != NULL, "%s", tarn_error(NULL));
    tarn_parameter_dtype(r, TARN_F64);
    const tarn_shape shape = TARN_SHAPE(2, 3, 3, 4, 5);
    (void)normed(ramp(r, shape, 0)); /* statistics of a batch */
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    tarn_train(r, false);
    tarn_tensor y = normed(ramp(r, shape, 0));
    const size_t bytes = (size_t)tarn_shape_count(tarn_shape_get(y)) * sizeof *plain;
    cr_assert_eq(tarn_read(y, plain, bytes), TARN_OK, "%s", tarn_error(r));
    cr_expect_eq(tarn_use_fold(r, true), 1, "%s", tarn_error(r));
    y = normed(ramp(r, shape, 0));
    cr_assert_eq(tarn_read(y, folded, bytes), TARN_OK, "%s", tarn_error(r));
    cr_expect(memcmp(plain, folded, bytes) != 0); /* roundings tell them apart */
    for (size_t i = 0; i < bytes / sizeof *plain; i++)
        cr_expect_leq(fabs(plain[i] - folded[i]), 1e-12);
    cr_expect_eq(tarn_use_fold(r, false), 0);
    tarn_close(r);
}

/* ---- parameters ----------------------------------------------------------------------------- */

static void expect_parameter(tarn_replica *r, const char *name, tarn_shape shape, double reach)
{
    static float v[MOST];
    const tarn_tensor t = tarn_find(r, name);
    const tarn_shape s = tarn_shape_get(t);
    cr_assert(s.rank == shape.rank && memcmp(s.dim, shape.dim, (size_t)s.rank * sizeof *s.dim) == 0,
              "%s has another shape: %s", name, tarn_error(r));
    const size_t count = (size_t)tarn_shape_count(shape);
    double most = 0;
    cr_assert_eq(tarn_read(t, v, count * sizeof *v), TARN_OK, "%s: %s", name, tarn_error(r));
    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs((double)v[i]));
    cr_expect(most <= reach && most > reach / 2, "%s: %g of %g", name, most, reach);
}

Test(volume, layers_own_what_pytorch_names)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert(r != NULL, "%s", tarn_error(NULL));
    tarn_conv3d_make(r, "a", 4, 6,
                     (tarn_conv3d_make_options){ .window = { 3, 1 }, .options.groups = 2 });
    tarn_conv_transpose3d_make(
        r, "b", 4, 6, (tarn_conv_transpose3d_make_options){ .window = { 2 }, .no_bias = true });
    tarn_conv_transpose1d_make(r, "c", 4, 6, (tarn_conv_transpose1d_make_options){ .window = 5 });
    tarn_conv1d_make_with(r, "d", 4, 6, (tarn_conv1d_make_options){ .window = 3, .no_bias = true });
    tarn_conv_transpose2d_make_with(
        r, "e", 4, 6,
        (tarn_conv_transpose2d_make_options){ .window = { 3, 2 }, .options.groups = 2 });
    cr_assert_eq(tarn_owned_count(r), 8, "%s", tarn_error(r));
    expect_parameter(r, "a.weight", TARN_SHAPE(6, 2, 3, 1, 3), 1 / sqrt(18));
    expect_parameter(r, "a.bias", TARN_SHAPE(6), 1 / sqrt(18));
    expect_parameter(r, "b.weight", TARN_SHAPE(4, 6, 2, 2, 2), 1 / sqrt(48));
    expect_parameter(r, "c.weight", TARN_SHAPE(4, 6, 5), 1 / sqrt(30));
    expect_parameter(r, "c.bias", TARN_SHAPE(6), 1 / sqrt(30));
    expect_parameter(r, "d.weight", TARN_SHAPE(6, 4, 3), 1 / sqrt(12));
    expect_parameter(r, "e.weight", TARN_SHAPE(4, 3, 3, 2), 1 / sqrt(18));
    expect_parameter(r, "e.bias", TARN_SHAPE(6), 1 / sqrt(18));
    tarn_close(r);
}

/* ---- what is refused ------------------------------------------------------------------------ */

Test(volume, refuses_what_does_not_fit)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert(r != NULL, "%s", tarn_error(NULL));
#define X(...) tarn_zeros(r, TARN_SHAPE(__VA_ARGS__))
    const tarn_conv3d_options plain = { .groups = 1 };
    const tarn_tensor none = TARN_NONE;
    REFUSES("conv3d: x [1,2,3,3] and weight [2,2,1,1,1] must be [N, C, D, H, W]",
            tarn_conv3d_op(X(1, 2, 3, 3), X(2, 2, 1, 1, 1), none, plain));
    REFUSES("conv3d: the window of weight [2,2,4,1,1]",
            tarn_conv3d_op(X(1, 2, 3, 3, 3), X(2, 2, 4, 1, 1), none, plain));
    REFUSES("conv3d: x [1,4,3,3,3] has 4 channels",
            tarn_conv3d_op(X(1, 4, 3, 3, 3), X(2, 2, 1, 1, 1), none, plain));
    REFUSES("conv3d: stride 1, padding -1",
            tarn_conv3d_op(X(1, 2, 3, 3, 3), X(2, 2, 1, 1, 1), none,
                           (tarn_conv3d_options){ .padding = { 0, 0, -1 } }));
    REFUSES("conv3d: bias [3] must be [2]",
            tarn_conv3d_op(X(1, 2, 3, 3, 3), X(2, 2, 1, 1, 1), X(3), plain));
    REFUSES("conv3d: x is int32",
            tarn_conv3d_op(tarn_cast(X(1, 2, 3, 3, 3), TARN_I32), X(2, 2, 1, 1, 1), none, plain));
    REFUSES("conv1d: x [1,2,3,3] and weight [2,2,1] must be [N, C, L]",
            tarn_conv1d_op(X(1, 2, 3, 3), X(2, 2, 1), none, (tarn_conv1d_options){ .groups = 1 }));
    REFUSES("conv_transpose1d: x [1,2,3], weight [3,2,1], 1 groups",
            tarn_conv_transpose1d_op(X(1, 2, 3), X(3, 2, 1), none,
                                     (tarn_conv_transpose1d_options){ .groups = 1 }));
    REFUSES(
        "conv_transpose3d: x [1,2,3,3,3], weight [2,2,1,1,1], padding 0 and output_padding 1",
        tarn_conv_transpose3d_op(X(1, 2, 3, 3, 3), X(2, 2, 1, 1, 1), none,
                                 (tarn_conv_transpose3d_options){ .output_padding = { 0, 1, 0 } }));
    REFUSES("conv3d c: window 0",
            tarn_conv3d_make(r, "c", 2, 2, (tarn_conv3d_make_options){ .no_bias = true }));
    REFUSES("conv_transpose1d c: window 2, 3 groups",
            tarn_conv_transpose1d_make(
                r, "c", 2, 2,
                (tarn_conv_transpose1d_make_options){ .window = 2, .options.groups = 3 }));
    REFUSES("max_pool1d: x is float32 [2,2]",
            tarn_max_pool1d(X(2, 2), (tarn_pool1d_options){ .window = 2 }));
    REFUSES("max_pool3d: window 3, stride 3, padding 2",
            tarn_max_pool3d(X(1, 1, 4, 4, 4),
                            (tarn_pool3d_options){ .window = { 3 }, .padding = { 0, 0, 2 } }));
    REFUSES("avg_pool2d: dilation 2: must be from 1, and means have none",
            tarn_avg_pool2d_with(X(1, 1, 4, 4),
                                 (tarn_pool_options){ .window = { 2 }, .dilation = { 2 } }));
    REFUSES("max_pool2d: a window of 3 does not fit",
            tarn_max_pool2d_with(X(1, 1, 4, 4),
                                 (tarn_pool_options){ .window = { 3 }, .dilation = { 2 } }));
    REFUSES("max_pool3d: a window of 2 does not fit into x [1,1,1,4,4]",
            tarn_max_pool3d(X(1, 1, 1, 4, 4), (tarn_pool3d_options){ .window = { 2 } }));
    REFUSES("adaptive_avg_pool2d: [1,1,4,4] to 0 x 2",
            tarn_adaptive_avg_pool2d(X(1, 1, 4, 4), 0, 2));
    REFUSES("adaptive_max_pool2d: x is float32 [4,4]", tarn_adaptive_max_pool2d(X(4, 4), 1, 1));
    REFUSES("adaptive_max_pool2d: [1,1,4,4] to 3 x 40000",
            tarn_adaptive_max_pool2d(X(1, 1, 4, 4), 3, 40000));
    REFUSES("all windows have less than 2^31",
            tarn_adaptive_max_pool2d(X(1000, 1000, 4, 4), 300, 300));
    tarn_close(r);
}

/* Without a replica the thread has the error. */
#define REFUSES_NULL(...) \
    do { \
        cr_expect(tarn_failed(__VA_ARGS__), "%s", #__VA_ARGS__); \
        cr_expect_neq(tarn_error_status(NULL), TARN_OK, "%s", #__VA_ARGS__); \
    } while (0)

Test(volume, refuses_what_is_null)
{
    const tarn_tensor none = TARN_NONE;
    REFUSES_NULL(tarn_conv3d_op(none, none, none, (tarn_conv3d_options){ .groups = 1 }));
    REFUSES_NULL(
        tarn_conv_transpose1d_op(none, none, none, (tarn_conv_transpose1d_options){ .groups = 1 }));
    REFUSES_NULL(
        tarn_conv_transpose3d_op(none, none, none, (tarn_conv_transpose3d_options){ .groups = 1 }));
    REFUSES_NULL(tarn_conv3d_forward(NULL, none));
    REFUSES_NULL(tarn_conv_transpose1d_forward(NULL, none));
    REFUSES_NULL(tarn_conv_transpose3d_forward(NULL, none));
    REFUSES_NULL(tarn_max_pool1d(none, (tarn_pool1d_options){ .window = 2 }));
    REFUSES_NULL(tarn_avg_pool3d(none, (tarn_pool3d_options){ .window = { 2 } }));
    REFUSES_NULL(tarn_adaptive_avg_pool2d(none, 2, 2));
    REFUSES_NULL(tarn_adaptive_max_pool2d(none, 2, 2));
    REFUSES_NULL(
        tarn_conv1d_make_with(NULL, "l", 2, 2, (tarn_conv1d_make_options){ .window = 3 }).weight);
    REFUSES_NULL(
        tarn_conv3d_make(NULL, "l", 2, 2, (tarn_conv3d_make_options){ .window = { 3 } }).weight);
    REFUSES_NULL(tarn_conv_transpose1d_make(NULL, "l", 2, 2,
                                            (tarn_conv_transpose1d_make_options){ .window = 3 })
                     .weight);
    REFUSES_NULL(tarn_conv_transpose2d_make_with(
                     NULL, "l", 2, 2, (tarn_conv_transpose2d_make_options){ .window = { 3 } })
                     .weight);
    REFUSES_NULL(tarn_conv_transpose3d_make(NULL, "l", 2, 2,
                                            (tarn_conv_transpose3d_make_options){ .window = { 3 } })
                     .weight);
}
