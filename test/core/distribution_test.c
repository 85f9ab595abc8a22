/* SPDX-License-Identifier: Apache-2.0 */
/* Normal random numbers and initial values: limits, moments, and that the layout changes no bit. Each value
 * by itself is compared by the random programs (test/fuzz). */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tarn.h"

enum { COUNT = 1 << 16 };
static float value[COUNT], other[COUNT];

/* A mean of n values of deviation s lies within 5 s / sqrt(n) but for 6 of 10^7 seeds; so does, as its square
 * has the deviation of at most sqrt(2) s^2 for all distributions here, the variance within 5 sqrt(2 / n) s^2. */
static void expect_moments(const char *what, double mean, double deviation)
{
    double sum = 0, squares = 0;
    for (int i = 0; i < COUNT; i++)
        sum += (double)value[i];
    for (int i = 0; i < COUNT; i++)
        squares += ((double)value[i] - mean) * ((double)value[i] - mean);
    const double off = 5 * deviation / sqrt((double)COUNT);
    cr_expect(fabs(sum / COUNT - mean) <= off, "%s: mean %g, should be %g", what, sum / COUNT,
              mean);
    cr_expect(fabs(squares / COUNT - deviation * deviation) <= sqrt(2) * off * deviation,
              "%s: variance %g, should be %g", what, squares / COUNT, deviation * deviation);
}

static void expect_within(const char *what, float low, float high)
{
    for (int i = 0; i < COUNT; i++)
        cr_assert(value[i] >= low && value[i] <= high, "%s: %g", what, (double)value[i]);
}

/* Deviation of the normal distribution between -c and c: 1 - 2 c phi(c) / (2 Phi(c) - 1). */
static double cut_deviation(double c)
{
    const double density = exp(-c * c / 2) / sqrt(2 * acos(-1.0));
    return sqrt(1 - 2 * c * density / erf(c / sqrt(2)));
}

Test(distribution, random_numbers_are_normal, .timeout = 300)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert(r != NULL, "%s", tarn_error(NULL));
    cr_assert_eq(tarn_read(tarn_randn(r, TARN_SHAPE(COUNT)), value, sizeof value), TARN_OK);
    expect_moments("randn", 0, 1);
    expect_within("randn", -5.5f, 5.5f);
    cr_assert_eq(
        tarn_read(tarn_randn_truncated(r, TARN_SHAPE(COUNT), -1.5f, 1.5f), value, sizeof value),
        TARN_OK);
    expect_moments("truncated", 0, cut_deviation(1.5));
    expect_within("truncated", -1.5f, 1.5f);
    cr_expect(tarn_failed(tarn_randn_truncated(r, TARN_SHAPE(3), 1, 1)));
    tarn_close(r);
}

/* Of a scalar program, of one with lanes along the last axis, and of one with a batch. */
Test(distribution, the_layout_changes_no_bit, .timeout = 300)
{
    static const int lengths[][2] = { { 1024, 64 }, { 65536, 1 }, { 13, 5041 } };
    for (int i = 0; i < 3; i++) {
        tarn_replica *r = tarn_open(NULL);
        cr_assert(r != NULL, "%s", tarn_error(NULL));
        const size_t bytes = (size_t)lengths[i][0] * (size_t)lengths[i][1] * sizeof(float);
        const tarn_shape s = TARN_SHAPE(lengths[i][0], lengths[i][1]);
        tarn_tensor x = tarn_randn(r, s);
        if (i < 2)
            x = tarn_batch_axis(x, 0);
        cr_assert_eq(tarn_read(x, i == 0 ? other : value, bytes), TARN_OK, "%s", tarn_error(r));
        cr_expect(i == 0 || memcmp(value, other, bytes) == 0, "layout %d has other bits", i);
        tarn_close(r);
    }
}

Test(distribution, initial_values, .timeout = 300)
{
    const double fan = 2 / (1 + 0.25); /* of a slope of 0.5 */
    const struct {
        const char *name;
        tarn_init init;
        double mean, deviation;
        float reach;
    } cases[] = {
        { "uniform", { TARN_INIT_UNIFORM, -1, 3, 0, 0 }, 1, 4 / sqrt(12), 3 },
        { "normal", { .kind = TARN_INIT_NORMAL, .a = 0.5f, .b = 0.25f }, 0.5, 0.25, 2 },
        { "truncated", { TARN_INIT_TRUNCATED, 0, 0.5f, -1, 1 }, 0, 0.5 * cut_deviation(2), 1 },
        { "xavier", { .kind = TARN_INIT_XAVIER_UNIFORM }, 0, sqrt(2.0 / 128), 0.2166f },
        { "xavier normal", { .kind = TARN_INIT_XAVIER_NORMAL, .a = 2 }, 0, 2 * sqrt(2.0 / 128), 2 },
        { "kaiming", { .kind = TARN_INIT_KAIMING_UNIFORM, .a = 0.5f }, 0, sqrt(fan / 64), 0.274f },
        { "kaiming normal", { .kind = TARN_INIT_KAIMING_NORMAL, .a = 0.5f }, 0, sqrt(fan / 64), 2 },
    };
    tarn_replica *r = tarn_open(NULL);
    cr_assert(r != NULL, "%s", tarn_error(NULL));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        /* Both fans are 64; many small weights. */
        for (int k = 0; k < COUNT / 512; k++) {
            char name[32];
            snprintf(name, sizeof name, "%s %d", cases[i].name, k);
            const tarn_tensor w =
                tarn_parameter_with(r, name, TARN_SHAPE(8, 8, 2, 4), cases[i].init);
            cr_assert_eq(tarn_read(w, value + (ptrdiff_t)k * 512, 512 * sizeof(float)), TARN_OK,
                         "%s", tarn_error(r));
        }
        expect_moments(cases[i].name, cases[i].mean, cases[i].deviation);
        expect_within(cases[i].name, -cases[i].reach, cases[i].reach);
    }
    cr_expect(tarn_failed(tarn_parameter_with(r, "bias", TARN_SHAPE(8),
                                              (tarn_init){ .kind = TARN_INIT_KAIMING_NORMAL })));
    cr_expect(strstr(tarn_error(r), "bias: shape [8] has no initial values of kind 7") != NULL,
              "%s", tarn_error(r));
    tarn_close(r);
}
