/* SPDX-License-Identifier: Apache-2.0 */
/* Every op and its gradients against the reference, and the values where arithmetic has corners. */
#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ops_cases.h"
#include "ops_image_cases.h"
#include "ops_more_cases.h"

#define COUNT(a) ((int)(sizeof a / sizeof((a)[0])))

static void check_all(const struct op_case *cases, int count)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert(r != NULL, "%s", tarn_error(NULL));
    for (int i = 0; i < count; i++) {
        char message[512] = "";
        cr_expect(op_check(r, &cases[i], message, sizeof message), "%s", message);
    }
    tarn_close(r);
}

Test(ops, maps, .timeout = 600)
{
    check_all(map_cases, COUNT(map_cases));
}

Test(ops, views, .timeout = 600)
{
    check_all(view_cases, COUNT(view_cases));
}

Test(ops, reductions, .timeout = 600)
{
    check_all(reduce_cases, COUNT(reduce_cases));
}

Test(ops, matmul, .timeout = 600)
{
    check_all(matmul_cases, COUNT(matmul_cases));
}

Test(ops, convolution, .timeout = 600)
{
    /* The limits are those of direct sums; winograd_test.c has the others. */
    cr_assert_eq(setenv("TARN_WINOGRAD", "0", 1), 0);
    check_all(conv_cases, COUNT(conv_cases));
}

Test(ops, pools, .timeout = 600)
{
    check_all(pool_cases, COUNT(pool_cases));
}

Test(ops, gather, .timeout = 600)
{
    check_all(gather_cases, COUNT(gather_cases));
}

Test(ops, losses, .timeout = 600)
{
    check_all(loss_cases, COUNT(loss_cases));
}

Test(ops, made_of_others, .timeout = 600)
{
    check_all(more_cases, COUNT(more_cases));
}

Test(ops, images_and_attention, .timeout = 600)
{
    cr_assert_eq(setenv("TARN_WINOGRAD", "0", 1), 0);
    check_all(image_cases, COUNT(image_cases));
}

Test(ops, norms, .timeout = 600)
{
    check_all(norm_cases, COUNT(norm_cases));
}

/* ---- NaN, infinities, signed zero ----------------------------------------------------------- */

enum { SPECIALS = 8 };
static const float special[SPECIALS] = {
    NAN, INFINITY, -INFINITY, -0.0f, 0.0f, 1e-40f, 3e38f, -1.5f
};

static bool same(float a, float b)
{
    return isnan(a) ? isnan(b) : a == b;
}

static tarn_tensor specials(tarn_replica *r)
{
    return tarn_from(r, TARN_SHAPE(SPECIALS), TARN_F32, special);
}

static void expect_values(const char *name, tarn_tensor t, const float *want, int count)
{
    float got[64];
    const tarn_status s = tarn_read(t, got, (size_t)count * sizeof(float));
    cr_expect(s == TARN_OK, "%s: %s", name, tarn_error(t.replica));
    for (int i = 0; s == TARN_OK && i < count; i++)
        cr_expect(same(got[i], want[i]), "%s: element %d is %g, should be %g", name, i,
                  (double)got[i], (double)want[i]);
}

Test(values, maps_pass_nan_on, .timeout = 600)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert(r != NULL, "%s", tarn_error(NULL));
    const tarn_tensor x = specials(r), one = tarn_full(r, TARN_SCALAR, 1);
    const tarn_tensor picked = tarn_where(tarn_gt(x, tarn_zeros(r, TARN_SCALAR)), x, one);
    float relu[SPECIALS], high[SPECIALS], low[SPECIALS], where[SPECIALS], clamp[SPECIALS];
    for (int i = 0; i < SPECIALS; i++) {
        const float v = special[i];
        relu[i] = isnan(v) || v > 0 ? v : 0;
        high[i] = isnan(v) || v > 1 ? v : 1;
        low[i] = isnan(v) || v < 1 ? v : 1;
        where[i] = v > 0 ? v : 1;
        clamp[i] = isnan(v) ? v : v < -1 ? -1 : v > 1 ? 1 : v;
    }
    /* A device may flush the denormal: it is compared with 0 allowed below. */
    relu[5] = high[5] = low[5] = where[5] = clamp[5] = NAN;
    const struct {
        const char *name;
        tarn_tensor t;
        const float *want;
    } cases[] = { { "relu", tarn_relu(x), relu },
                  { "maximum(x, 1)", tarn_maximum(x, one), high },
                  { "maximum(1, x)", tarn_maximum(one, x), high },
                  { "minimum(x, 1)", tarn_minimum(x, one), low },
                  { "minimum(1, x)", tarn_minimum(one, x), low },
                  { "where(x > 0, x, 1)", picked, where },
                  { "clamp(x, -1, 1)", tarn_clamp(x, -1, 1), clamp } };
    for (int c = 0; c < COUNT(cases); c++) {
        float got[SPECIALS];
        const tarn_status s = tarn_read(cases[c].t, got, sizeof got);
        cr_expect(s == TARN_OK, "%s: %s", cases[c].name, tarn_error(r));
        for (int i = 0; s == TARN_OK && i < SPECIALS; i++)
            cr_expect(i == 5 || same(got[i], cases[c].want[i]), "%s of %g is %g, should be %g",
                      cases[c].name, (double)special[i], (double)got[i], (double)cases[c].want[i]);
    }
    tarn_close(r);
}

/* Nothing overflows on the way, and limits are the right ones; 0 stands for what is as good as 0. */
Test(values, smooth_maps_have_their_limits, .timeout = 600)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert(r != NULL, "%s", tarn_error(NULL));
    static const float far[] = { -INFINITY, -1e30f, -200, 200, 1e30f, INFINITY };
    static const float rising[] = { 0, 0, 0, 200, 1e30f, INFINITY }, slope[] = { 0, 0, 0, 1, 1, 1 };
    static const float leaky[] = { -INFINITY, -2.5e29f, -50, 200, 1e30f, INFINITY };
    static const float leaks[] = { 0.25f, 0.25f, 0.25f, 1, 1, 1 };
    static const float below[] = { -1, -1, -1, INFINITY, INFINITY, INFINITY };
    static const float bent[] = { -0.5f, -0.5f, -0.5f, 200, 1e30f, INFINITY };
    const tarn_tensor x = tarn_from(r, TARN_SHAPE(6), TARN_F32, far);
    const tarn_tensor y[] = { tarn_silu(x),
                              tarn_softplus(x, 1, 20),
                              tarn_softplus(x, 1, INFINITY),
                              tarn_leaky_relu(x, 0.25f),
                              tarn_expm1(x),
                              tarn_elu(x, 0.5f) };
    const float *const values[] = { rising, rising, rising, leaky, below, bent };
    const float *const slopes[] = { slope, slope, slope, leaks, NULL, slope };
    tarn_tensor g[COUNT(y)];
    for (int i = 0; i < COUNT(y); i++)
        tarn_gradients(tarn_sum(y[i], TARN_ALL, false), &x, 1, &g[i]);
    for (int i = 0; i < COUNT(y); i++) {
        expect_values("value", y[i], values[i], 6);
        if (slopes[i] != NULL)
            expect_values("gradient", g[i], slopes[i], 6);
    }
    static const float odd[] = { -2.5f, -1.5f, -0.5f, 0.5f, 1.5f, NAN };
    static const float even[] = { -2, -2, 0, 0, 2, NAN }, floors[] = { -3, -2, -1, 0, 1, NAN };
    static const float signs[] = { -1, -1, -1, 1, 1, 0 };
    const tarn_tensor z = tarn_from(r, TARN_SHAPE(6), TARN_F32, odd);
    expect_values("round", tarn_round(z), even, 6);
    expect_values("floor", tarn_floor(z), floors, 6);
    expect_values("sign", tarn_sign(z), signs, 6);
    tarn_close(r);
}

/* As PyTorch: a mean of nothing is NaN, and so is a loss whose targets are all ignored. */
Test(values, losses_of_nothing_and_of_much, .timeout = 600)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert(r != NULL, "%s", tarn_error(NULL));
    static const float nan = NAN, zero = 0, far[] = { -1e30f, 1e30f }, sure[] = { 0, 1 };
    static const int32_t ignored[] = { 2, 2 };
    const tarn_tensor none = tarn_zeros(r, TARN_SHAPE(0, 3)), p = tarn_full(r, TARN_SHAPE(1), 3);
    const tarn_tensor x = tarn_from(r, TARN_SHAPE(2), TARN_F32, far);
    const tarn_tensor y = tarn_from(r, TARN_SHAPE(2), TARN_F32, sure);
    const tarn_tensor two = tarn_from(r, TARN_SHAPE(2), TARN_I32, ignored);
    const tarn_cross_entropy_options o = { .ignore = true, .ignore_index = 2 };
    expect_values("ignored", tarn_cross_entropy_with(tarn_ones(r, TARN_SHAPE(2, 3)), two, o), &nan,
                  1);
    expect_values("empty bce", tarn_bce_with_logits(none, none, TARN_NONE), &nan, 1);
    expect_values("empty huber", tarn_huber_loss(none, none, 1), &nan, 1);
    expect_values("empty kl_div",
                  tarn_kl_div(none, none, (tarn_kl_div_options){ .batch_mean = true }), &nan, 1);
    expect_values("bce", tarn_bce_with_logits(x, y, TARN_NONE), &zero, 1);
    expect_values("bce, weighted", tarn_bce_with_logits(x, y, p), &zero, 1);
    expect_values("kl_div of 0",
                  tarn_kl_div(y, tarn_zeros(r, TARN_SHAPE(2)), (tarn_kl_div_options){ 0 }), &zero,
                  1);
    tarn_tensor g;
    static const float slopes[] = { -0.5f, 0.5f };
    tarn_gradients(tarn_smooth_l1_loss(x, y, 1), &x, 1, &g);
    expect_values("slope of smooth_l1", g, slopes, 2);
    tarn_close(r);
}

Test(values, reductions_pass_nan_on, .timeout = 600)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert(r != NULL, "%s", tarn_error(NULL));
    static const float rows[] = { 1, NAN, 3, -INFINITY, -INFINITY, -INFINITY, 2, INFINITY, -1 };
    const tarn_tensor x = tarn_from(r, TARN_SHAPE(3, 3), TARN_F32, rows);
    const float top[] = { NAN, -INFINITY, INFINITY }, low[] = { NAN, -INFINITY, -1 };
    const float sum[] = { NAN, -INFINITY, INFINITY }, at[] = { 1, 0, 1 };
    expect_values("max", tarn_max(x, TARN_AXES(1), false), top, 3);
    expect_values("min", tarn_min(x, TARN_AXES(1), false), low, 3);
    expect_values("sum", tarn_sum(x, TARN_AXES(1), false), sum, 3);
    expect_values("logsumexp", tarn_logsumexp(x, TARN_AXES(1), false), sum, 3);
    const float far[] = { 1000, -1e30f, 1e30f, -1000 }, most[] = { 1000, 1e30f };
    const tarn_tensor wide = tarn_from(r, TARN_SHAPE(2, 2), TARN_F32, far);
    expect_values("logsumexp of much", tarn_logsumexp(wide, TARN_AXES(1), false), most, 2);
    expect_values("argmax", tarn_cast(tarn_argmax(x, 1, false), TARN_F32), at, 3);
    const float pooled[] = { NAN };
    expect_values("max_pool", tarn_max_pool2d(tarn_reshape(x, TARN_SHAPE(1, 1, 3, 3)), 2), pooled,
                  1);
    tarn_close(r);
}

Test(values, signed_zero_stays, .timeout = 600)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert(r != NULL, "%s", tarn_error(NULL));
    static const float zeros[] = { -0.0f, 0.0f };
    const tarn_tensor x = tarn_from(r, TARN_SHAPE(2), TARN_F32, zeros);
    float got[2];
    cr_assert(tarn_read(tarn_neg(x), got, sizeof got) == TARN_OK, "%s", tarn_error(r));
    cr_expect(!signbit(got[0]) && signbit(got[1]), "neg loses the sign of zero");
    cr_assert(tarn_read(tarn_reshape(x, TARN_SHAPE(2, 1)), got, sizeof got) == TARN_OK);
    cr_expect(signbit(got[0]) && !signbit(got[1]), "reshape loses the sign of zero");
    tarn_close(r);
}

/* clamp as it was when it was made of other ops: the one op must give the same bits. */
static tarn_tensor composed_clamp(tarn_tensor x, float low, float high)
{
    const tarn_tensor lowest = tarn_full(x.replica, TARN_SCALAR, low);
    const tarn_tensor highest = tarn_full(x.replica, TARN_SCALAR, high);
    const tarn_tensor inside = tarn_mul(tarn_ge(x, lowest), tarn_le(x, highest));
    const tarn_tensor limit = tarn_where(tarn_gt(x, highest), highest, tarn_detach(x));
    const tarn_tensor outside = tarn_where(tarn_lt(x, lowest), lowest, limit);
    return tarn_where(inside, x, outside);
}

static const float clamp_limits[][2] = { { -1, 1 },        { 0, 0 },         { -0.0f, 0.0f },
                                         { 0.0f, -0.0f },  { 0, 1 },         { -1, -0.0f },
                                         { 1e-40f, 1.5f }, { -INFINITY, 1 }, { -1, INFINITY } };
enum { LIMITS = COUNT(clamp_limits), CLAMP_MOST = 40 };

/* Both ways, all limits, in one step: the value, and gradients of two orders. */
static void expect_same_clamp(tarn_replica *r, const float *data, int count)
{
    static tarn_tensor kept[LIMITS][3][2];
    const tarn_tensor x = tarn_from(r, TARN_SHAPE(count), TARN_F32, data);
    for (int l = 0; l < LIMITS; l++)
        for (int way = 0; way < 2; way++) {
            const float low = clamp_limits[l][0], high = clamp_limits[l][1];
            tarn_tensor t[3] = { way ? composed_clamp(x, low, high) : tarn_clamp(x, low, high) };
            tarn_gradients(tarn_sum(tarn_mul(t[0], t[0]), TARN_ALL, false), &x, 1, &t[1]);
            tarn_gradients(tarn_sum(tarn_mul(t[1], x), TARN_ALL, false), &x, 1, &t[2]);
            for (int i = 0; i < 3; i++)
                kept[l][i][way] = tarn_keep(t[i]);
        }
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    for (int l = 0; l < LIMITS; l++)
        for (int i = 0; i < 3; i++) {
            float got[2][CLAMP_MOST];
            for (int way = 0; way < 2; way++)
                cr_assert_eq(tarn_read(kept[l][i][way], got[way], (size_t)count * sizeof(float)),
                             TARN_OK, "%s", tarn_error(r));
            for (int k = 0; k < count; k++)
                cr_expect((isnan(got[0][k]) && isnan(got[1][k])) ||
                              memcmp(&got[0][k], &got[1][k], sizeof(float)) == 0,
                          "order %d: clamp(%a, %a, %a) is %a, was %a", i, (double)data[k],
                          (double)clamp_limits[l][0], (double)clamp_limits[l][1], (double)got[0][k],
                          (double)got[1][k]);
        }
}

Test(values, clamp_has_the_bits_of_its_parts, .timeout = 600)
{
    const float corners[] = { NAN,   -NAN,   INFINITY, -INFINITY, 0.0f,       -0.0f,
                              1.0f,  -1.0f,  1e-40f,   -1e-40f,   0x1p-149f,  1.5f,
                              1e38f, -1e38f, FLT_MAX,  FLT_MIN,   1.0000001f, -1.0000001f };
    float data[CLAMP_MOST];
    for (int i = 0; i < CLAMP_MOST; i++)
        data[i] = i < COUNT(corners) ? corners[i] : (float)(i - 29) / 7.0f;
    for (int gpu = 0; gpu < 2; gpu++) {
        cr_assert_eq(setenv("TARN_SCHEDULE", gpu ? "gpu" : "cpu", 1), 0);
        tarn_replica *r = tarn_open(NULL);
        cr_assert(r != NULL, "%s", tarn_error(NULL));
        for (int count = 7; count <= CLAMP_MOST; count += 33) /* a rest; vectors and a rest */
            expect_same_clamp(r, data, count);
        tarn_close(r);
    }
}

/* ---- where gradients have a choice ---------------------------------------------------------- */

static tarn_tensor gradient_of_sum(tarn_tensor y, tarn_tensor x)
{
    tarn_tensor g = TARN_NONE;
    tarn_gradients(tarn_sum(y, TARN_ALL, false), &x, 1, &g);
    return g;
}

Test(values, ties_as_in_pytorch, .timeout = 600)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert(r != NULL, "%s", tarn_error(NULL));
    static const float flat[] = { 2, 2, 1, 2 };
    const tarn_tensor x = tarn_from(r, TARN_SHAPE(1, 1, 2, 2), TARN_F32, flat);
    const float first[] = { 1, 0, 0, 0 };
    expect_values("max_pool: the first maximum", gradient_of_sum(tarn_max_pool2d(x, 2), x), first,
                  4);
    const float third = 1.0f / 3;
    const float shared[] = { third, third, 0, third };
    expect_values("max: all maxima", gradient_of_sum(tarn_max(x, TARN_ALL, false), x), shared, 4);
    const float half[] = { 0.5f, 0.5f, 0, 0.5f };
    expect_values("maximum(x, 2)",
                  gradient_of_sum(tarn_maximum(x, tarn_full(r, TARN_SCALAR, 2)), x), half, 4);
    const float inside[] = { 1, 1, 1, 1 };
    expect_values("clamp at its limits", gradient_of_sum(tarn_clamp(x, 1, 2), x), inside, 4);
    static const float zeros[] = { 0, -1, 0, 1 };
    const tarn_tensor z = tarn_from(r, TARN_SHAPE(4), TARN_F32, zeros);
    const float step[] = { 0, 0, 0, 1 };
    expect_values("relu at 0", gradient_of_sum(tarn_relu(z), z), step, 4);
    tarn_close(r);
}
