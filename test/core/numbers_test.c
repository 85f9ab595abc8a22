/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that ops are given: doubles, of which float64 takes every bit, and other types what they hold. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "first.h"
#include "tarn.h"
#include "tarn_profile.h"
#include "tarn_train.h"

enum { GIVEN = 4 };
static const double given[GIVEN] = { 1.0 / 3, -0.7, 3, 1e-9 };

static tarn_tensor given_of(tarn_replica *r)
{
    return tarn_from(r, TARN_SHAPE(GIVEN), TARN_F64, given);
}

/* Of what has at most one element more than was given. */
static void same_bits(const char *what, tarn_tensor y, const double *want)
{
    const size_t count = (size_t)tarn_shape_count(tarn_shape_get(y));
    double got[GIVEN + 1];
    cr_assert_eq(tarn_dtype_get(y), TARN_F64, "%s", what);
    read_all(y, got, count * sizeof *got);
    for (size_t i = 0; i < count; i++)
        cr_expect_eq(got[i], want[i], "%s: element %zu is %a, not %a", what, i, got[i], want[i]);
}

Test(numbers, numbers_given_to_ops_are_doubles, .timeout = 300)
{
    tarn_replica *r = open_first();
    const double c = 0.1;
    double sum[GIVEN], product[GIVEN], cut[GIVEN], leak[GIVEN], slope[GIVEN],
        wider[GIVEN + 1] = { c };
    for (int i = 0; i < GIVEN; i++) {
        sum[i] = given[i] + c;
        product[i] = given[i] * c;
        cut[i] = given[i] < -c ? -c : given[i] > c ? c : given[i];
        leak[i] = given[i] > 0 ? given[i] : product[i];
        slope[i] = given[i] > 0 ? 1 : c;
        wider[i + 1] = given[i];
    }
    same_bits("add_scalar", tarn_add_scalar(given_of(r), c), sum);
    same_bits("mul_scalar", tarn_mul_scalar(given_of(r), c), product);
    same_bits("clamp", tarn_clamp(given_of(r), -c, c), cut);
    same_bits("pad", tarn_pad(given_of(r), TARN_SHAPE(1), TARN_SHAPE(0), c), wider);
    const tarn_tensor x = given_of(r), y = tarn_leaky_relu(x, c);
    tarn_tensor g;
    tarn_gradients(tarn_sum(y, TARN_ALL, false), &x, 1, &g);
    same_bits("leaky_relu's gradient", g, slope);
    same_bits("leaky_relu", tarn_leaky_relu(given_of(r), c), leak);
    const double three = 3, far = c * (3 - c / 2), smooth = far / c;
#define FROM(v) tarn_from(r, TARN_SCALAR, TARN_F64, &(v))
#define ZERO tarn_cast(tarn_zeros(r, TARN_SCALAR), TARN_F64)
    same_bits("huber_loss", tarn_huber_loss(FROM(three), ZERO, c), &far);
    same_bits("smooth_l1_loss", tarn_smooth_l1_loss(FROM(three), ZERO, c), &smooth);
    /* The driver's functions, against the same of a tensor. */
    double want[GIVEN];
    read_all(tarn_pow(tarn_abs(given_of(r)), FROM(c)), want, sizeof want);
    same_bits("pow_scalar", tarn_pow_scalar(tarn_abs(given_of(r)), c), want);
    const tarn_tensor under = tarn_expm1(tarn_minimum(given_of(r), ZERO));
    read_all(tarn_where(tarn_gt(given_of(r), ZERO), given_of(r), tarn_mul(under, FROM(c))), want,
             sizeof want);
    same_bits("elu", tarn_elu(given_of(r), c), want);
    const float one = 1;
    const tarn_tensor w = tarn_parameter(r, "w", TARN_SCALAR, &one);
    tarn_backward_weighted(tarn_cast(w, TARN_F64), c);
    cr_expect_eq(tarn_item(tarn_grad(w)), 0.1f);
    tarn_close(r);
}

/* What float32 cannot tell apart is one plan in float32, and two in float64. */
Test(numbers, plans_differ_where_numbers_do, .timeout = 300)
{
    tarn_replica *r = open_first();
    const double numbers[] = { 0.1, (double)0.1f };
    const float single[GIVEN] = { 0.25f, -0.5f, 3, 7 };
    for (int type = 0; type < 2; type++)
        for (int op = 0; op < 4; op++) {
            const uint64_t before = tarn_metrics_get(r).plans_compiled;
            char got[2][(GIVEN + 1) * sizeof(double)] = { "", "" };
            for (int k = 0; k < 2; k++) {
                const double c = numbers[k];
                const tarn_tensor x =
                    type == 0 ? tarn_from(r, TARN_SHAPE(GIVEN), TARN_F32, single) : given_of(r);
                const tarn_tensor y =
                    tarn_keep(op == 0   ? tarn_mul_scalar(x, c)
                              : op == 1 ? tarn_leaky_relu(x, c)
                              : op == 2 ? tarn_clamp(x, -c, 1)
                                        : tarn_pad(x, TARN_SHAPE(1), TARN_SHAPE(0), c));
                const size_t each = tarn_dtype_bytes(tarn_dtype_get(y));
                cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
                read_all(y, got[k], (size_t)tarn_shape_count(tarn_shape_get(y)) * each);
                tarn_drop(y);
            }
            cr_expect_eq(tarn_metrics_get(r).plans_compiled - before, type == 0 ? 1u : 2u,
                         "%d %d: %llu plans", type, op,
                         (unsigned long long)(tarn_metrics_get(r).plans_compiled - before));
            cr_expect_eq(memcmp(got[0], got[1], sizeof got[0]) == 0, type == 0);
        }
    tarn_close(r);
}

/* Rounded once to float32, whose infinity is what lies beyond; whole numbers of integers are exact. */
Test(numbers, numbers_given_to_other_types, .timeout = 300)
{
    tarn_replica *r = open_first();
    const float x[] = { 1, -2 };
    const int32_t i[] = { 3, -4 };
    const int64_t l[] = { 3, -4 };
    float f[2];
    int32_t whole[2];
    int64_t wide[2];
    read_all(tarn_mul_scalar(tarn_from(r, TARN_SHAPE(2), TARN_F32, x), 1e300), f, sizeof f);
    cr_expect(isinf(f[0]) && f[1] == -f[0]);
    read_all(tarn_mul_scalar(tarn_from(r, TARN_SHAPE(2), TARN_F32, x), 0.1), f, sizeof f);
    cr_expect(f[0] == 0.1f && f[1] == -2 * 0.1f);
    read_all(tarn_clamp(tarn_from(r, TARN_SHAPE(2), TARN_F32, x), (double)NAN, 1), f, sizeof f);
    cr_expect(isnan(f[0]) && isnan(f[1]));
    /* Limits that are one number of float32. */
    read_all(tarn_clamp(tarn_from(r, TARN_SHAPE(2), TARN_F32, x), 0.1 + 1e-12, 0.1), f, sizeof f);
    cr_expect(f[0] == 0.1f && f[1] == 0.1f);
    read_all(tarn_add_scalar(tarn_from(r, TARN_SHAPE(2), TARN_I32, i), 16777217), whole,
             sizeof whole);
    cr_expect(whole[0] == 16777220 && whole[1] == 16777213);
    const tarn_tensor more = tarn_add_scalar(tarn_from(r, TARN_SHAPE(2), TARN_I64, l), 0x1p52 + 1);
    cr_assert_eq(tarn_dtype_get(more), TARN_I64);
    read_all(more, wide, sizeof wide);
    cr_expect(wide[0] == (INT64_C(1) << 52) + 4 && wide[1] == (INT64_C(1) << 52) - 3);
    cr_expect_eq(tarn_dtype_get(tarn_mul_scalar(tarn_from(r, TARN_SHAPE(2), TARN_I64, l), 0.5)),
                 TARN_F32);
    tarn_close(r);
}

/* Without a first moment a step without a gradient leaves the parameter where it is. */
/* Bits of uint8 results, the first element lowest. */
static unsigned flags(tarn_tensor y)
{
    uint8_t got[GIVEN];
    unsigned all = 0;
    cr_assert_eq(tarn_dtype_get(y), TARN_U8);
    read_all(y, got, (size_t)tarn_shape_count(tarn_shape_get(y)));
    for (int64_t i = 0; i < tarn_shape_count(tarn_shape_get(y)); i++)
        all |= (unsigned)got[i] << i;
    return all;
}

/* 0.1 of another float type is 0.1 of that type; integers and whole numbers are compared exactly. */
Test(numbers, comparisons_with_numbers, .timeout = 300)
{
    static const tarn_dtype floats[] = { TARN_F32, TARN_F16, TARN_BF16, TARN_F64 };
    static const double x[GIVEN] = { 0.1, 0.3, -0.1, (double)NAN };
    static const int32_t w[GIVEN] = { 16777217, 16777216, -3, 300 };
    static const int64_t l[GIVEN] = { INT64_C(9007199254740993), INT64_C(9007199254740992), 2, -2 };
    static const uint8_t u[GIVEN] = { 0, 200, 44, 255 };
    tarn_replica *r = open_first();
    for (int t = 0; t < 4; t++) {
        const tarn_tensor wide = tarn_from(r, TARN_SHAPE(GIVEN), TARN_F64, x);
        const tarn_tensor a = tarn_cast(wide, floats[t]);
        cr_expect_eq(flags(tarn_eq_scalar(a, 0.1)), 1u, "%d", t);
        cr_expect_eq(flags(tarn_ne_scalar(a, 0.1)), 14u, "%d", t);
        cr_expect_eq(flags(tarn_lt_scalar(a, 0.1)), 4u, "%d", t);
        cr_expect_eq(flags(tarn_le_scalar(a, 0.1)), 5u, "%d", t);
        cr_expect_eq(flags(tarn_gt_scalar(a, 0.1)), 2u, "%d", t);
        cr_expect_eq(flags(tarn_ge_scalar(a, 0.1)), 3u, "%d", t);
        cr_expect_eq(flags(tarn_ge_scalar(a, (double)NAN)), 0u, "%d", t);
        cr_expect_eq(flags(tarn_lt_scalar(a, (double)INFINITY)), 7u, "%d", t);
    }
    const tarn_tensor i32 = tarn_from(r, TARN_SHAPE(GIVEN), TARN_I32, w);
    cr_expect_eq(flags(tarn_gt_scalar(i32, 16777216)), 1u);
    cr_expect_eq(flags(tarn_gt_scalar(i32, -2.5)), 11u);
    const tarn_tensor i64 = tarn_from(r, TARN_SHAPE(GIVEN), TARN_I64, l);
    cr_expect_eq(flags(tarn_eq_scalar(i64, 9007199254740992.0)), 2u);
    const tarn_tensor u8 = tarn_from(r, TARN_SHAPE(GIVEN), TARN_U8, u);
    cr_expect_eq(flags(tarn_eq_scalar(u8, 300)), 0u);
    cr_expect_eq(flags(tarn_ge_scalar(u8, -1)), 15u);
    cr_expect_eq(flags(tarn_ge_scalar(tarn_from(r, TARN_SCALAR, TARN_U8, &u[1]), 200)), 1u);
    cr_expect(tarn_failed(tarn_gt_scalar(TARN_NONE, 1)));
    cr_expect_not_null(strstr(tarn_error(NULL), "gt"), "%s", tarn_error(NULL));
    tarn_close(r);
}

Test(numbers, zero_can_be_said)
{
    tarn_replica *r = open_first();
    const tarn_tensor w = tarn_parameter(r, "w", TARN_SCALAR, NULL);
    tarn_optimizer *o =
        tarn_adam(r, (tarn_adam_options){ .lr = 1, .beta1 = TARN_ZERO, .beta2 = 0.9f });
    cr_assert_not_null(o, "%s", tarn_error(r));
    for (int s = 0; s < 2; s++) {
        tarn_backward(tarn_mul(w, tarn_number(r, s == 0 ? 1 : 0)));
        tarn_optimizer_step(o);
        cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
        cr_expect_float_eq(tarn_item(w), -1, 1e-6f, "step %d: %g", s, (double)tarn_item(w));
    }
    tarn_close(r);
}

/* logaddexp where one operand, both, or none is infinite, or as far apart as float32 goes. */
Test(numbers, logarithms_added_of_infinities, .timeout = 300)
{
    tarn_replica *r = open_first();
    const float big = 3e38f, inf = INFINITY;
    const float a[] = { -inf, -inf, 1, inf, inf, big, 0, NAN };
    const float b[] = { -inf, 2, -inf, -inf, inf, -big, 0, 1 };
    const float want[] = { -inf, 2, 1, inf, inf, big, 0x1.62e43p-1f, NAN };
    const float slopes[] = { 0.5f, 0, 1, 1, 0.5f, 1, 0.5f, NAN };
    enum { COUNT = sizeof a / sizeof *a };
    float y[COUNT], slope[COUNT];
    const tarn_tensor x = tarn_from(r, TARN_SHAPE(COUNT), TARN_F32, a);
    const tarn_tensor sum = tarn_logaddexp(x, tarn_from(r, TARN_SHAPE(COUNT), TARN_F32, b));
    tarn_tensor grad;
    tarn_gradients(tarn_sum(sum, TARN_ALL, false), &x, 1, &grad);
    read_all(sum, y, sizeof y);
    read_all(grad, slope, sizeof slope);
    for (int i = 0; i < COUNT; i++) {
        cr_expect(y[i] == want[i] || (isnan(y[i]) && isnan(want[i])), "%d: %a", i, (double)y[i]);
        if (!isnan(want[i]))
            cr_expect_eq(slope[i], slopes[i], "slope %d: %g", i, (double)slope[i]);
    }
    cr_expect(tarn_failed(tarn_logaddexp(x, tarn_zeros(r, TARN_SHAPE(3)))));
    cr_expect(strstr(tarn_error(r), "logaddexp: shapes [8] and [3]") != NULL, "%s", tarn_error(r));
    tarn_error_clear(r);
    tarn_close(r);
}
