/* SPDX-License-Identifier: Apache-2.0 */
/* Batch norms folded into the layers before them: the same results within the roundings of both ways, for layers with
 * and without bias, groups, and layers made at their first use; when folding ends; what is refused. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "rounding.h"
#include "tarn.h"

enum { MOST = 4096 };

/* Sums in their plain order, so that their roundings can be counted. */
static tarn_replica *opened(void)
{
    tarn_replica *r = tarn_open_with((tarn_open_options){ .winograd = -1 });
    cr_assert(r != NULL, "%s", tarn_error(NULL));
    tarn_train(r, false);
    return r;
}

static tarn_tensor wave(tarn_replica *r, tarn_shape shape, float from, float by)
{
    const int32_t n = (int32_t)tarn_shape_count(shape);
    const tarn_tensor t = tarn_mul_scalar(tarn_cast(tarn_arange(r, n), TARN_F32), by);
    return tarn_reshape(tarn_add_scalar(tarn_sin(t), from), shape);
}

/* A norm that has seen something, with scales of both signs. */
static void set(tarn_replica *r, const tarn_batch_norm *n, int channels)
{
    const tarn_shape s = TARN_SHAPE(channels);
    tarn_assign(n->weight, wave(r, s, 0.3f, 1.3f));
    tarn_assign(n->bias, wave(r, s, -0.1f, 2.1f));
    tarn_assign(n->running_mean, wave(r, s, 0.5f, 0.7f));
    tarn_assign(n->running_var, wave(r, s, 1.25f, 1.9f));
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
}

static size_t read_all(tarn_tensor t, float *out)
{
    const size_t n = (size_t)tarn_shape_count(tarn_shape_get(t));
    cr_assert_leq(n, (size_t)MOST);
    cr_assert_eq(tarn_read(t, out, n * sizeof *out), TARN_OK, "%s", tarn_error(t.replica));
    return n;
}

/* Results of both ways, and for each the sum of all magnitudes that go into it: |x| |w scale| + (|b| + |mean|)
 * |scale| + |beta|. Each way rounds once for each term and its sum, and 8 times more at most: rsqrt counts for 3,
 * scale, product and sum with what is left. That of the sum of magnitudes itself is below its 1 %. */
static void compare(const char *what, tarn_tensor plain, tarn_tensor folded, tarn_tensor size,
                    int terms)
{
    static float a[MOST], b[MOST], m[MOST];
    const size_t n = read_all(plain, a);
    cr_expect_eq(read_all(folded, b), n);
    cr_expect_eq(read_all(size, m), n);
    const double roundings = 1 + sum_roundings(terms) + 8;
    const double gamma = roundings * 0x1p-24 / (1 - roundings * 0x1p-24);
    for (size_t i = 0; i < n; i++)
        cr_expect_leq(fabs((double)a[i] - (double)b[i]), 2 * gamma * 1.01 * (double)m[i],
                      "%s, element %zu: %.9g and %.9g", what, i, (double)a[i], (double)b[i]);
}

/* |(|b| + |mean|) scale| + |beta|, and the scale. */
static tarn_tensor shift_of(const tarn_batch_norm *n, tarn_tensor bias, tarn_tensor *scale)
{
    *scale = tarn_abs(tarn_mul(n->weight, tarn_rsqrt(tarn_add_scalar(n->running_var, n->eps))));
    tarn_tensor b = tarn_abs(n->running_mean);
    if (bias.replica != NULL)
        b = tarn_add(b, tarn_abs(bias));
    return tarn_add(tarn_mul(b, *scale), tarn_abs(n->bias));
}

static void convolution(bool no_bias, int groups, int stride)
{
    tarn_replica *r = opened();
    const tarn_conv2d_make_options make = {
        .window = { 3, 2 },
        .no_bias = no_bias,
        .options = { .stride = { stride, stride }, .padding = { 1, 0 }, .groups = groups }
    };
    const tarn_conv2d conv = tarn_conv2d_make_with(r, "conv", 4, 6, make);
    const tarn_batch_norm norm = tarn_batch_norm_make(r, "norm", 6);
    set(r, &norm, 6);
    const tarn_tensor x = tarn_keep(wave(r, TARN_SHAPE(3, 4, 5, 6), 0.2f, 1.1f));
    const tarn_conv2d folded = tarn_conv2d_fold(&conv, &norm);
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    tarn_tensor scale;
    const tarn_tensor shift = shift_of(&norm, conv.bias, &scale);
    const tarn_conv2d sizes = { tarn_abs(tarn_mul(conv.weight,
                                                  tarn_reshape(scale, TARN_SHAPE(6, 1, 1, 1)))),
                                shift, conv.options };
    compare(no_bias ? "conv2d" : "conv2d with bias",
            tarn_batch_norm_forward(&norm, tarn_conv2d_forward(&conv, x)),
            tarn_conv2d_forward(&folded, x), tarn_conv2d_forward(&sizes, tarn_abs(x)),
            4 / groups * 3 * 2);
    tarn_drop(folded.weight);
    tarn_drop(folded.bias);
    tarn_close(r);
}

Test(fold, convolutions, .timeout = 300)
{
    convolution(true, 1, 1);
    convolution(false, 1, 2);
    convolution(true, 2, 1);
}

Test(fold, linear_and_conv1d, .timeout = 300)
{
    tarn_replica *r = opened();
    tarn_tensor scale;
    const tarn_batch_norm norm = tarn_batch_norm_make(r, "norm", 6);
    set(r, &norm, 6);
    const tarn_linear fc = tarn_linear_make(r, "fc", 9, 6);
    const tarn_linear one = tarn_linear_fold(&fc, &norm);
    tarn_tensor x = wave(r, TARN_SHAPE(5, 9), 0.2f, 1.1f);
    const tarn_tensor shift = shift_of(&norm, fc.bias, &scale);
    const tarn_linear size = { tarn_abs(tarn_mul(fc.weight, tarn_reshape(scale, TARN_SHAPE(6, 1)))),
                               shift };
    compare("linear", tarn_batch_norm_forward(&norm, tarn_linear_forward(&fc, x)),
            tarn_linear_forward(&one, x), tarn_linear_forward(&size, tarn_abs(x)), 9);

    const tarn_conv1d line = tarn_conv1d_make(r, "line", 4, 6, 3, (tarn_conv1d_options){ 0 });
    const tarn_conv1d other = tarn_conv1d_fold(&line, &norm);
    x = wave(r, TARN_SHAPE(5, 4, 9), 0.2f, 1.1f);
    const tarn_tensor shifts = shift_of(&norm, line.bias, &scale);
    const tarn_conv1d sizes = { tarn_abs(tarn_mul(line.weight,
                                                  tarn_reshape(scale, TARN_SHAPE(6, 1, 1)))),
                                shifts, line.options };
    compare("conv1d", tarn_batch_norm_forward(&norm, tarn_conv1d_forward(&line, x)),
            tarn_conv1d_forward(&other, x), tarn_conv1d_forward(&sizes, tarn_abs(x)), 12);
    tarn_close(r);
}

/* A norm without weight and bias is one with ones and zeros: in training, in evaluation, and folded. */
Test(fold, without_weight_and_bias, .timeout = 300)
{
    tarn_replica *r = opened();
    static float a[MOST], b[MOST];
    const tarn_batch_norm with = tarn_batch_norm_make(r, "with", 6);
    const tarn_batch_norm without =
        tarn_batch_norm_make_with(r, "without", 6, (tarn_norm_options){ .no_affine = true });
    cr_expect_null(without.weight.replica);
    cr_expect(tarn_failed(tarn_find(r, "without.weight")));
    tarn_error_clear(r);
    const tarn_linear fc = tarn_linear_make(r, "fc", 9, 6);
    tarn_train(r, true);
    tarn_tensor x = wave(r, TARN_SHAPE(5, 6), 0.2f, 1.1f);
    size_t n = read_all(tarn_batch_norm_forward(&with, x), a);
    cr_expect_eq(read_all(tarn_batch_norm_forward(&without, x), b), n);
    cr_expect_arr_eq(a, b, n * sizeof *a);
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    tarn_train(r, false);
    const tarn_linear folded[] = { tarn_linear_fold(&fc, &with), tarn_linear_fold(&fc, &without) };
    x = wave(r, TARN_SHAPE(5, 9), 0.2f, 1.1f);
    n = read_all(tarn_batch_norm_forward(&with, tarn_linear_forward(&fc, x)), a);
    cr_expect_eq(read_all(tarn_batch_norm_forward(&without, tarn_linear_forward(&fc, x)), b), n);
    cr_expect_arr_eq(a, b, n * sizeof *a);
    n = read_all(tarn_linear_forward(&folded[0], x), a);
    cr_expect_eq(read_all(tarn_linear_forward(&folded[1], x), b), n);
    cr_expect_arr_eq(a, b, n * sizeof *a);
    (void)tarn_layer_norm_make_with(r, "layer", 6, (tarn_norm_options){ .no_affine = true });
    cr_expect(strstr(tarn_error(r), "no_affine is for batch norms") != NULL, "%s", tarn_error(r));
    tarn_error_clear(r);
    tarn_close(r);
}

/* ---- layers at their first use -------------------------------------------------------------- */

static const tarn_conv2d_options same = { .padding = { 1, 1 } };

/* Of its four norms the third is behind a ReLU, and the fourth behind another layer than the first time. */
static tarn_tensor network(tarn_tensor x)
{
    x = tarn_relu(tarn_use_batch_norm(tarn_use_conv2d(x, "a", 3, 3, same), "norm_a"));
    x = tarn_flatten(x, 1);
    x = tarn_use_batch_norm(tarn_use_linear(x, "b", 5), "norm_b");
    x = tarn_use_batch_norm(tarn_relu(tarn_use_linear(x, "c", 5)), "norm_c");
    x = tarn_use_batch_norm(tarn_use_linear(x, "d", 5), "shared");
    return tarn_use_batch_norm(tarn_use_linear(x, "e", 5), "shared");
}

static void evaluate(tarn_replica *r, float *y)
{
    (void)read_all(network(wave(r, TARN_SHAPE(2, 2, 4, 4), 0.1f, 0.9f)), y);
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
}

/* What the network gives when it is folded by hand. */
static void by_hand(tarn_replica *r, float *y)
{
    const tarn_batch_norm n[] = { tarn_batch_norm_make(r, "norm_a", 3),
                                  tarn_batch_norm_make(r, "norm_b", 5),
                                  tarn_batch_norm_make(r, "norm_c", 5),
                                  tarn_batch_norm_make(r, "shared", 5) };
    const tarn_conv2d a = tarn_conv2d_make(r, "a", 2, 3, 3, same);
    const tarn_linear b = tarn_linear_make(r, "b", 48, 5), c = tarn_linear_make(r, "c", 5, 5),
                      d = tarn_linear_make(r, "d", 5, 5), e = tarn_linear_make(r, "e", 5, 5);
    for (int i = 0; i < 4; i++)
        set(r, &n[i], i == 0 ? 3 : 5);
    const tarn_conv2d fa = tarn_conv2d_fold(&a, &n[0]);
    const tarn_linear fb = tarn_linear_fold(&b, &n[1]), fe = tarn_linear_fold(&e, &n[3]);
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    tarn_tensor x = wave(r, TARN_SHAPE(2, 2, 4, 4), 0.1f, 0.9f);
    x = tarn_flatten(tarn_relu(tarn_conv2d_forward(&fa, x)), 1);
    x = tarn_linear_forward(&fb, x);
    x = tarn_batch_norm_forward(&n[2], tarn_relu(tarn_linear_forward(&c, x)));
    x = tarn_batch_norm_forward(&n[3], tarn_linear_forward(&d, x));
    (void)read_all(tarn_linear_forward(&fe, x), y);
}

static void set_used(tarn_replica *r)
{
    static const char *const names[] = { "norm_a", "norm_b", "norm_c", "shared" };
    for (int i = 0; i < 4; i++) {
        const tarn_batch_norm n = { .weight = tarn_find(r, TARN_NAME("%s.weight", names[i])),
                                    .bias = tarn_find(r, TARN_NAME("%s.bias", names[i])),
                                    .running_mean =
                                        tarn_find(r, TARN_NAME("%s.running_mean", names[i])),
                                    .running_var =
                                        tarn_find(r, TARN_NAME("%s.running_var", names[i])) };
        set(r, &n, i == 0 ? 3 : 5);
    }
}

enum { OUT = 2 * 5 };

Test(fold, layers_at_their_first_use, .timeout = 300)
{
    float plain[OUT], folded[OUT], hand[OUT], again[OUT];
    tarn_replica *r = opened(), *other = opened();
    cr_expect_eq(tarn_use_fold(r, true), 0); /* nothing has been used */
    evaluate(r, plain);
    set_used(r);
    evaluate(r, plain);
    cr_expect_eq(tarn_use_fold(r, true), 3, "%s", tarn_error(r));
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    evaluate(r, folded);
    by_hand(other, hand);
    cr_expect(memcmp(folded, hand, sizeof hand) == 0);
    cr_expect(memcmp(folded, plain, sizeof hand) != 0); /* roundings tell them apart */

    /* As they were folded, whatever the parameters are now, until it is said again. */
    const tarn_tensor bias = tarn_find(r, "shared.bias");
    tarn_assign(bias, tarn_add_scalar(bias, 1));
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    cr_expect_eq(tarn_use_fold(r, true), 3);
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    evaluate(r, again);
    cr_expect(memcmp(folded, again, sizeof again) != 0);

    tarn_assign(bias, tarn_add_scalar(bias, -1));
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    cr_expect_eq(tarn_use_fold(r, false), 0);
    evaluate(r, again);
    cr_expect_eq(tarn_error_status(r), TARN_OK, "%s", tarn_error(r));
    tarn_close(r);
    tarn_close(other);
}

Test(fold, ends_with_training, .timeout = 300)
{
    float plain[OUT], after[OUT];
    tarn_replica *r = opened();
    evaluate(r, plain);
    set_used(r);
    cr_expect_eq(tarn_use_fold(r, true), 3);
    tarn_train(r, true);
    (void)network(wave(r, TARN_SHAPE(2, 2, 4, 4), 0.1f, 0.9f));
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    tarn_train(r, false);
    evaluate(r, after);
    cr_expect_eq(tarn_use_fold(r, false), 0);
    evaluate(r, plain); /* what would differ, were the old weights still in it */
    cr_expect(memcmp(plain, after, sizeof plain) == 0);
    tarn_close(r);
}

/* ---- what is refused ------------------------------------------------------------------------ */

Test(fold, refuses, .timeout = 300)
{
    tarn_replica *r = opened();
    const tarn_linear fc = tarn_linear_make(r, "fc", 4, 6);
    const tarn_batch_norm norm = tarn_batch_norm_make(r, "norm", 5);
    cr_expect(tarn_failed(tarn_linear_fold(&fc, &norm).weight));
    cr_expect_eq(tarn_error_status(r), TARN_ERR_SHAPE);
    cr_expect(strstr(tarn_error(r), "linear_fold: weight [6,4] has 6 outputs") != NULL, "%s",
              tarn_error(r));
    tarn_error_clear(r);
    (void)tarn_linear_fold(NULL, &norm);
    cr_expect(strstr(tarn_error(NULL), "linear_fold: the layer") != NULL, "%s", tarn_error(NULL));
    (void)tarn_conv1d_fold(NULL, &norm);
    cr_expect(strstr(tarn_error(NULL), "conv1d_fold: the layer") != NULL, "%s", tarn_error(NULL));
    (void)tarn_conv3d_fold(NULL, &norm);
    cr_expect(strstr(tarn_error(NULL), "conv3d_fold: the layer") != NULL, "%s", tarn_error(NULL));
    (void)tarn_conv2d_fold(NULL, NULL);
    cr_expect(strstr(tarn_error(NULL), "conv2d_fold: the layer") != NULL, "%s", tarn_error(NULL));
    cr_expect_eq(tarn_use_fold(NULL, true), 0);
    cr_expect(strstr(tarn_error(NULL), "use_fold: the replica") != NULL, "%s", tarn_error(NULL));
    tarn_close(r);
}
