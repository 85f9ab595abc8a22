/* SPDX-License-Identifier: Apache-2.0 */
/* tarn_atan and tarn_atan2 where a case of ops_test.c does not look: signs of zeros, infinities and NaN, gradients of points
 * whose squares are no numbers, and other types. */
#include <math.h>
#include <string.h>

#include "first.h"
#include "tensor/shape.h"
#include "ulp.h"

TestSuite(angles, .timeout = 600);

enum { ENDS = 11 };
static const float ends[ENDS] = { NAN,   INFINITY, -INFINITY, 0.0f,   -0.0f,  1.5f,
                                  -1.5f, 3e38f,    -3e38f,    2e-38f, -2e-38f };

/* Of one sign, both NaN, or within the bound; `least` is the smallest normal number. */
static void expect_angle(double got, double want, double y, double x, double ulps, int digits,
                         double least)
{
    int exponent;
    frexp(want, &exponent);
    const double unit = ldexp(1, exponent - digits);
    const double limit = fabs(want) < least ? least : ulps * unit;
    cr_expect(isnan(want) ? isnan(got)
                          : fabs(got - want) <= limit && !signbit(got) == !signbit(want),
              "atan2(%g, %g) is %.17g, not %.17g", y, x, got, want);
}

/* Annex F of C99, of which the host's functions are the reference. */
Test(angles, signs_of_zeros_infinities_and_nan)
{
    tarn_replica *r = open_first();
    const tarn_tensor y = tarn_from(r, TARN_SHAPE(ENDS, 1), TARN_F32, ends);
    const tarn_tensor x = tarn_from(r, TARN_SHAPE(ENDS), TARN_F32, ends);
    float of_two[ENDS][ENDS], of_one[ENDS];
    read_all(tarn_atan2(y, x), of_two, sizeof of_two);
    read_all(tarn_atan(x), of_one, sizeof of_one);
    for (int i = 0; i < ENDS; i++) {
        const double v = (double)ends[i];
        expect_angle((double)of_one[i], atan(v), v, 1, ULP_ATAN, 24, 0x1p-126);
        for (int k = 0; k < ENDS; k++)
            expect_angle((double)of_two[i][k], atan2(v, (double)ends[k]), v, (double)ends[k],
                         ULP_ATAN2, 24, 0x1p-126);
    }
    tarn_close(r);
}

/* A quotient, its square, a sum, a product, a quotient and a product, each half a unit, of which the second to the fourth
 * count once more where the quotient is about 1: 6 units. */
Test(angles, gradients_far_away_and_near)
{
    static const float points[][2] = { { 3, 4 },
                                       { -4, 3 },
                                       { 1e30f, 2e30f },
                                       { 2e-30f, 1e-30f },
                                       { -1e-30f, -3e-30f },
                                       { 1, 1e20f },
                                       { 1e20f, -1 },
                                       { 0, 2 },
                                       { 2, 0 },
                                       { 0, 0 },
                                       { -0.0f, -0.0f },
                                       { INFINITY, 2 },
                                       { 2, INFINITY } };
    enum { POINTS = sizeof points / sizeof *points };
    tarn_replica *r = open_first();
    float in[2][POINTS], got[2][POINTS];
    tarn_tensor of[2], g[2];
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < POINTS; i++)
            in[k][i] = points[i][k];
        of[k] = tarn_from(r, TARN_SHAPE(POINTS), TARN_F32, in[k]);
    }
    tarn_gradients(tarn_sum(tarn_atan2(of[0], of[1]), TARN_ALL, false), of, 2, g);
    for (int k = 0; k < 2; k++)
        read_all(g[k], got[k], sizeof got[k]);
    for (int i = 0; i < POINTS; i++) {
        const double y = (double)in[0][i], x = (double)in[1][i], square = y * y + x * x;
        const bool none = square == 0 || isinf(square);
        const double want[2] = { none ? 0 : x / square, none ? 0 : -y / square };
        for (int k = 0; k < 2; k++)
            cr_expect(fabs((double)got[k][i] - want[k]) <= 6 * 0x1p-23 * fabs(want[k]) + 0x1p-126,
                      "(%g, %g): gradient %d is %g, not %g", y, x, k, (double)got[k][i], want[k]);
    }
    tarn_close(r);
}

/* Half types are float32 rounded once; whole numbers become float32; the driver's functions of float64 are within 6 ULP, and
 * 5, by OpenCL's table, and the host's within 1. */
Test(angles, other_types)
{
    tarn_replica *r = open_first();
    static const tarn_dtype halves[] = { TARN_F16, TARN_BF16 };
    const float y[5] = { 0.3f, -1.75f, 2.5f, -0.01f, 100 }, x[3] = { -2.25f, 0.7f, 3 };
    const tarn_tensor column = tarn_from(r, TARN_SHAPE(5, 1), TARN_F32, y);
    const tarn_tensor row = tarn_from(r, TARN_SHAPE(3), TARN_F32, x);
    for (int t = 0; t < 2; t++) {
        const tarn_tensor a = tarn_cast(column, halves[t]), b = tarn_cast(row, halves[t]);
        const tarn_tensor both = tarn_atan2(a, b), one = tarn_atan(a);
        cr_expect_eq(tarn_dtype_get(both), halves[t]);
        cr_expect_eq(tarn_dtype_get(one), halves[t]);
        uint16_t got[15], alone[5];
        float wide[15], wide_alone[5];
        read_all(both, got, sizeof got);
        read_all(one, alone, sizeof alone);
        read_all(tarn_atan2(tarn_cast(a, TARN_F32), tarn_cast(b, TARN_F32)), wide, sizeof wide);
        read_all(tarn_atan(tarn_cast(a, TARN_F32)), wide_alone, sizeof wide_alone);
        for (int i = 0; i < 15; i++)
            cr_expect_eq(got[i], half_from_float(wide[i], halves[t]));
        for (int i = 0; i < 5; i++)
            cr_expect_eq(alone[i], half_from_float(wide_alone[i], halves[t]));
    }
    double doubles[15], singles[5];
    const tarn_tensor a = tarn_cast(column, TARN_F64), b = tarn_cast(row, TARN_F64);
    read_all(tarn_atan2(a, b), doubles, sizeof doubles);
    read_all(tarn_atan(a), singles, sizeof singles);
    for (int i = 0; i < 5; i++) {
        const double v = (double)y[i];
        expect_angle(singles[i], atan(v), v, 1, 6, 53, 0x1p-1022);
        for (int k = 0; k < 3; k++)
            expect_angle(doubles[i * 3 + k], atan2(v, (double)x[k]), v, (double)x[k], 7, 53,
                         0x1p-1022);
    }
    const tarn_tensor whole = tarn_atan2(tarn_arange(r, 4), tarn_full(r, TARN_SCALAR, -1));
    float got[4];
    cr_assert_eq(tarn_dtype_get(tarn_atan(tarn_arange(r, 4))), TARN_F32);
    read_all(whole, got, sizeof got);
    for (int i = 0; i < 4; i++)
        expect_angle((double)got[i], atan2(i, -1), i, -1, ULP_ATAN2, 24, 0x1p-126);
    tarn_close(r);
}
