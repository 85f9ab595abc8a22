/* SPDX-License-Identifier: Apache-2.0 */
/* float64 and int64: every op and its gradients in double against the reference, or refused with a word; conversions,
 * arithmetic that wraps, types of results, and where they are not. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend.h"
#include "first.h"
#include "ops_cases.h"
#include "ops_image_cases.h"
#include "ops_more_cases.h"
#include "tarn_data.h"
#include "tarn_file.h"
#include "tarn_train.h"
#include "tensor/replica.h"

TestSuite(types, .timeout = 600);

#define COUNT(a) ((int)(sizeof a / sizeof((a)[0])))

/* ---- every op ------------------------------------------------------------------------------- */

static void check_all(const struct op_case *cases, int count)
{
    tarn_replica *r = open_first();
    for (int i = 0; i < count; i++) {
        char message[512] = "";
        cr_expect(op_check_as(r, &cases[i], TARN_F64, message, sizeof message), "%s", message);
    }
    tarn_close(r);
}

Test(types, maps_in_double)
{
    check_all(map_cases, COUNT(map_cases));
}

Test(types, views_in_double)
{
    check_all(view_cases, COUNT(view_cases));
}

Test(types, reductions_in_double)
{
    check_all(reduce_cases, COUNT(reduce_cases));
}

Test(types, matmul_in_double)
{
    check_all(matmul_cases, COUNT(matmul_cases));
}

Test(types, convolution_in_double)
{
    check_all(conv_cases, COUNT(conv_cases));
}

Test(types, pools_in_double)
{
    check_all(pool_cases, COUNT(pool_cases));
}

Test(types, gather_in_double)
{
    check_all(gather_cases, COUNT(gather_cases));
}

Test(types, losses_in_double)
{
    check_all(loss_cases, COUNT(loss_cases));
}

Test(types, ops_made_of_others_in_double)
{
    check_all(more_cases, COUNT(more_cases));
}

Test(types, images_and_attention_in_double)
{
    check_all(image_cases, COUNT(image_cases));
}

Test(types, norms_in_double)
{
    check_all(norm_cases, COUNT(norm_cases));
}

/* ---- conversions and types ------------------------------------------------------------------ */

static void weight_after_a_step(tarn_dtype dtype, double *out)
{
    enum { X = 16 * 2 * 4 };
    float x[X];
    for (int i = 0; i < X; i++)
        x[i] = (float)(i % 7) - 2.5f;
    tarn_replica *r = open_first();
    tarn_parameter_dtype(r, dtype);
    const tarn_init init = { .kind = TARN_INIT_UNIFORM, .a = -1, .b = 1 };
    const tarn_tensor w = tarn_parameter_with(r, "w", TARN_SHAPE(2, 1, 3, 1), init);
    const tarn_tensor scale = tarn_parameter_with(r, "scale", TARN_SHAPE(16, 2, 4, 1), init);
    const tarn_tensor in = tarn_cast(tarn_from(r, TARN_SHAPE(16, 2, 4, 1), TARN_F32, x), dtype);
    const tarn_conv_transpose2d_options o = { .stride = { 3, 3 },
                                              .padding = { 1, 0 },
                                              .output_padding = { 1, 1 } };
    const tarn_tensor y = tarn_conv_transpose2d_op(tarn_mul(scale, in), w, TARN_NONE, o);
    tarn_backward(tarn_mean(tarn_mul(y, y), TARN_ALL, false));
    tarn_optimizer_step(tarn_sgd(r, (tarn_sgd_options){ .lr = 1 }));
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    read_all(tarn_cast(w, TARN_F64), out, 6 * sizeof *out);
    tarn_close(r);
}

/* PoCL's compiler ended the process over this one's loops, whose bounds differ between work-items. */
Test(types, transposed_convolution_that_covers_part_of_a_stride)
{
    double wide[6], narrow[6];
    weight_after_a_step(TARN_F64, wide);
    weight_after_a_step(TARN_F32, narrow);
    for (int i = 0; i < 6; i++) /* some 700 products of up to 4 in float32 */
        cr_expect_float_eq(wide[i], narrow[i], 700 * 0x1p-24 * 4, "%d: %g, in float32 %g", i,
                           wide[i], narrow[i]);
}

Test(types, casts_keep_what_fits_and_bound_what_does_not)
{
    tarn_replica *r = open_first();
    const double v[] = { 1.0 / 3, -2.5, 1e300, -1e300, NAN, 9007199254740993.0, -0.0, 300.75 };
    enum { N = COUNT(v) };
    const tarn_tensor x = tarn_from(r, TARN_SHAPE(N), TARN_F64, v);
    double back[N];
    float f[N];
    int32_t i[N];
    int64_t l[N];
    uint16_t h[N];
    read_all(tarn_add(x, tarn_cast(tarn_zeros(r, TARN_SCALAR), TARN_F64)), back, sizeof back);
    read_all(tarn_cast(x, TARN_F32), f, sizeof f);
    read_all(tarn_cast(x, TARN_I32), i, sizeof i);
    read_all(tarn_cast(x, TARN_I64), l, sizeof l);
    read_all(tarn_cast(x, TARN_BF16), h, sizeof h);
    for (int k = 0; k < N; k++) {
        cr_expect(isnan(v[k]) ? isnan(back[k]) : back[k] == v[k], "%d: %a", k, back[k]);
        cr_expect(isnan(v[k]) ? isnan(f[k]) : f[k] == (float)v[k], "%d: %a", k, (double)f[k]);
    }
    cr_expect_eq(i[1], -2);
    cr_expect_eq(i[2], INT32_MAX);
    cr_expect_eq(i[3], INT32_MIN);
    cr_expect_eq(l[2], INT64_MAX);
    cr_expect_eq(l[3], INT64_MIN);
    cr_expect_eq(l[5], (int64_t)v[5]);
    cr_expect_eq(h[0], 0x3eab);
    const int64_t w[] = { INT64_MAX, INT64_MIN, (INT64_C(1) << 53) + 1, -7, 300 };
    const tarn_tensor y = tarn_from(r, TARN_SHAPE(5), TARN_I64, w);
    uint8_t u[5];
    read_all(tarn_cast(y, TARN_I32), i, 5 * sizeof *i);
    read_all(tarn_cast(y, TARN_F64), back, 5 * sizeof *back);
    read_all(tarn_cast(y, TARN_U8), u, sizeof u);
    const int32_t want[] = { INT32_MAX, INT32_MIN, INT32_MAX, -7, 300 };
    for (int k = 0; k < 5; k++) {
        cr_expect_eq(i[k], want[k], "%d: %d", k, i[k]);
        cr_expect_eq(back[k], (double)w[k], "%d: %a", k, back[k]);
        cr_expect_eq(u[k], (uint8_t)(uint64_t)w[k], "%d: %d", k, u[k]);
    }
    const float small = tarn_item(tarn_from(r, TARN_SCALAR, TARN_F64, &v[1]));
    cr_expect_eq(small, -2.5f);
    cr_expect_eq(tarn_item(tarn_from(r, TARN_SCALAR, TARN_I64, &w[3])), -7.0f);
    tarn_close(r);
}

Test(types, int64_wraps_and_divides_as_int32_does)
{
    tarn_replica *r = open_first();
    const int64_t a[] = { INT64_MAX, INT64_MIN, INT64_MIN, 7, -7, 5, INT64_C(3037000500) };
    const int64_t b[] = { 1, 1, -1, -2, 2, 0, INT64_C(3037000500) };
    enum { N = COUNT(a) };
    const tarn_tensor x = tarn_from(r, TARN_SHAPE(N), TARN_I64, a);
    const tarn_tensor y = tarn_from(r, TARN_SHAPE(N), TARN_I64, b);
    const tarn_tensor all[] = { tarn_add(x, y), tarn_sub(x, y), tarn_mul(x, y), tarn_div(x, y) };
    int64_t out[4][N];
    for (int k = 0; k < 4; k++)
        read_all(all[k], out[k], sizeof out[k]);
    for (int k = 0; k < N; k++) {
        const uint64_t p = (uint64_t)a[k], q = (uint64_t)b[k];
        cr_expect_eq(out[0][k], (int64_t)(p + q));
        cr_expect_eq(out[1][k], (int64_t)(p - q));
        cr_expect_eq(out[2][k], (int64_t)(p * q));
        const int64_t want = b[k] == 0 ? 0 : b[k] == -1 ? (int64_t)(0 - p) : a[k] / b[k];
        cr_expect_eq(out[3][k], want, "%d: %lld", k, (long long)out[3][k]);
    }
    tarn_close(r);
}

Test(types, results_have_pytorchs_types)
{
    tarn_replica *r = open_first();
    const tarn_tensor f = tarn_ones(r, TARN_SHAPE(2, 3)), d = tarn_cast(f, TARN_F64);
    const tarn_tensor i = tarn_cast(f, TARN_I32), l = tarn_cast(f, TARN_I64);
    const tarn_tensor h = tarn_cast(f, TARN_F16), u = tarn_eq(f, f), n = tarn_number(r, 2);
    const tarn_tensor one = tarn_max(d, TARN_ALL, false);
    const struct {
        tarn_tensor x;
        tarn_dtype want;
    } of[] = { { tarn_add(d, d), TARN_F64 },
               { tarn_add(d, f), TARN_F64 },
               { tarn_add(h, d), TARN_F64 },
               { tarn_add(d, l), TARN_F64 },
               { tarn_mul(d, n), TARN_F64 },
               { tarn_mul(f, one), TARN_F32 },
               { tarn_mul(n, one), TARN_F64 },
               { tarn_add(l, i), TARN_I64 },
               { tarn_add(l, u), TARN_I64 },
               { tarn_add(l, f), TARN_F32 },
               { tarn_add(l, h), TARN_F16 },
               { tarn_exp(l), TARN_F32 },
               { tarn_exp(d), TARN_F64 },
               { tarn_sum(l, TARN_ALL, false), TARN_I64 },
               { tarn_mean(d, TARN_ALL, false), TARN_F64 },
               { tarn_lt(d, l), TARN_U8 },
               { tarn_argmax(d, 1, false), TARN_I32 },
               { tarn_mul_scalar(d, 0.1f), TARN_F64 },
               { tarn_add_scalar(l, 2), TARN_I64 },
               { tarn_matmul(d, tarn_transpose(f, 0, 1)), TARN_F64 },
               { tarn_where(u, d, f), TARN_F64 },
               { tarn_sign(l), TARN_I64 },
               { tarn_abs(l), TARN_I64 },
               { tarn_clamp(l, 0, 5), TARN_I64 } };
    for (int k = 0; k < COUNT(of); k++)
        cr_expect_eq(tarn_dtype_get(of[k].x), of[k].want, "%d: %s", k,
                     tarn_dtype_name(tarn_dtype_get(of[k].x)));
    tarn_autocast(r, TARN_BF16);
    cr_expect_eq(tarn_dtype_get(tarn_matmul(d, tarn_transpose(d, 0, 1))), TARN_F64);
    cr_expect_eq(tarn_dtype_get(tarn_exp(d)), TARN_F64);
    tarn_autocast_end(r);
    cr_expect_eq(tarn_error_status(r), TARN_OK, "%s", tarn_error(r));
    tarn_close(r);
}

/* Indices beyond 32 bits are out of range, and not another index. */
Test(types, int64_names_rows_and_classes_as_int32_does)
{
    tarn_replica *r = open_first();
    const float table[] = { 0, 1, 2, 3, 4, 5 };
    const int64_t at[] = { 2, 0, (INT64_C(1) << 32) + 1, -(INT64_C(1) << 40) };
    const tarn_tensor t = tarn_from(r, TARN_SHAPE(3, 2), TARN_F32, table);
    float rows[4][2];
    read_all(tarn_embedding(t, tarn_from(r, TARN_SHAPE(4), TARN_I64, at)), rows, sizeof rows);
    const float first[] = { 4, 0, 4, 0 };
    for (int k = 0; k < 4; k++)
        cr_expect_eq(rows[k][0], first[k], "%d: %g", k, (double)rows[k][0]);
    const int64_t classes[] = { 1, 0, 1 };
    const int32_t narrow[] = { 1, 0, 1 };
    const float a =
        tarn_item(tarn_cross_entropy(t, tarn_from(r, TARN_SHAPE(3), TARN_I64, classes)));
    const float b = tarn_item(tarn_cross_entropy(t, tarn_from(r, TARN_SHAPE(3), TARN_I32, narrow)));
    cr_expect(a > 0 && a == b, "%.9g and %.9g", (double)a, (double)b);
    const tarn_tensor index = tarn_from(r, TARN_SHAPE(3, 1), TARN_I64, classes);
    float picked[3];
    read_all(tarn_gather(t, 1, index), picked, sizeof picked);
    cr_expect(picked[0] == 1 && picked[1] == 2 && picked[2] == 5);
    const int64_t large[] = { INT64_C(1) << 40, (INT64_C(1) << 40) + 1, 3 };
    const tarn_tensor l = tarn_from(r, TARN_SHAPE(3), TARN_I64, large);
    int32_t best;
    int64_t most, sum;
    read_all(tarn_argmax(l, 0, false), &best, sizeof best);
    read_all(tarn_max(l, TARN_ALL, false), &most, sizeof most);
    read_all(tarn_sum(l, TARN_ALL, false), &sum, sizeof sum);
    cr_expect(best == 1 && most == large[1] && sum == large[0] + large[1] + 3);
    tarn_close(r);
}

/* ---- along lines ---------------------------------------------------------------------------- */

/* As float32 (sorting_test.c), of numbers that are one in float32 or int32: 0 equals -0, NaN of either sign is the
 * largest, equal ones stay in order. */
Test(types, they_are_sorted_by_all_their_bits)
{
    tarn_replica *r = open_first();
    const double x[] = { NAN,     0.0,    INFINITY,    -0.0, -NAN, -INFINITY,
                         -5e-324, 5e-324, 1 + 0x1p-52, 1,    -0.0 };
    const int64_t w[] = {
        7, INT64_MAX, (INT64_C(1) << 40) + 1, INT64_MIN, INT64_C(1) << 40, -1, 7
    };
    const int up[] = { 5, 6, 1, 3, 10, 7, 9, 8, 2, 0, 4 },
              down[] = { 0, 4, 2, 8, 9, 7, 1, 3, 10, 6, 5 };
    const int w_up[] = { 3, 5, 0, 6, 4, 2, 1 }, w_down[] = { 1, 2, 4, 0, 6, 5, 3 };
    for (int k = 0; k < 4; k++) {
        const int *want = k == 0 ? up : k == 1 ? down : k == 2 ? w_up : w_down;
        const int count = k < 2 ? COUNT(x) : COUNT(w);
        const void *data = k < 2 ? (const void *)x : (const void *)w;
        const tarn_tensor t = tarn_from(r, TARN_SHAPE(count), k < 2 ? TARN_F64 : TARN_I64, data);
        tarn_tensor order;
        uint64_t sorted[COUNT(x)], top[COUNT(x)];
        int32_t at[COUNT(x)];
        read_all(tarn_sort(t, 0, k % 2 == 1, &order), sorted, (size_t)count * sizeof *sorted);
        read_all(order, at, (size_t)count * sizeof *at);
        read_all(tarn_top_k(t, 3, 0, k % 2 == 1, NULL), top, 3 * sizeof *top);
        for (int i = 0; i < count; i++) {
            cr_expect_eq(at[i], want[i], "%d, %d: %d", k, i, (int)at[i]);
            cr_expect(memcmp(&sorted[i], (const char *)data + 8 * want[i], 8) == 0, "%d, %d", k, i);
            cr_expect(i >= 3 || top[i] == sorted[i], "%d, %d", k, i);
        }
    }
    tarn_close(r);
}

/* Of several runs of a sort, and chunks of sums. */
Test(types, long_lines_are_sorted_and_added_up)
{
    tarn_replica *r = open_first();
    enum { N = 5000, CHUNK = 128 };
    static double x[N], sums[N], sorted[N];
    static int64_t w[N], wrapped[N];
    static int32_t at[N];
    unsigned long long state = 11;
    for (int i = 0; i < N; i++) {
        x[i] = 1 + floor(check_random(&state) * 1000) * 0x1p-52;
        w[i] = INT64_MAX - i;
    }
    const tarn_tensor t = tarn_from(r, TARN_SHAPE(N), TARN_F64, x);
    tarn_tensor order;
    read_all(tarn_sort(t, 0, false, &order), sorted, sizeof sorted);
    read_all(order, at, sizeof at);
    read_all(tarn_cumsum(t, 0), sums, sizeof sums);
    read_all(tarn_cumsum(tarn_from(r, TARN_SHAPE(N), TARN_I64, w), 0), wrapped, sizeof wrapped);
    double level[3] = { 0 };
    uint64_t all = 0;
    for (int i = 0; i < N; i++) {
        cr_assert(sorted[i] == x[at[i]] && (i == 0 || sorted[i - 1] < sorted[i] ||
                                            (sorted[i - 1] == sorted[i] && at[i - 1] < at[i])),
                  "%d", i);
        if (i > 0 && i % CHUNK == 0) {
            level[1] += level[0];
            level[0] = 0;
        }
        level[0] += x[i];
        cr_assert_eq(sums[i], level[1] + level[0], "%d: %a", i, sums[i]);
        all += (uint64_t)w[i];
        cr_assert_eq(wrapped[i], (int64_t)all, "%d", i);
    }
    tarn_close(r);
}

/* Sums by index in the order of sums, the same bits as one row by itself; and rows of int64. */
Test(types, sums_by_index_are_double_and_picks_keep_every_bit)
{
    tarn_replica *r = open_first();
    enum { N = 3000, ROWS = 7 };
    static double x[N];
    static int32_t index[N];
    unsigned long long state = 5;
    for (int i = 0; i < N; i++) {
        x[i] = check_random(&state) + check_random(&state) * 0x1p-40;
        index[i] = (int32_t)(check_random(&state) * ROWS);
    }
    const tarn_tensor t = tarn_from(r, TARN_SHAPE(N), TARN_F64, x);
    const tarn_tensor at = tarn_from(r, TARN_SHAPE(N), TARN_I32, index);
    const tarn_tensor none = tarn_cast(tarn_zeros(r, TARN_SHAPE(ROWS)), TARN_F64);
    double sums[ROWS];
    read_all(tarn_scatter_add(none, 0, at, t), sums, sizeof sums);
    for (int row = 0; row < ROWS; row++) {
        long double sum = 0;
        for (int i = 0; i < N; i++)
            sum += index[i] == row ? (long double)x[i] : 0;
        cr_expect_leq(fabs(sums[row] - (double)sum), 0x1p-53 * 300 * (double)sum, "%d", row);
    }
    const int64_t w[] = { INT64_MIN + 1, (INT64_C(1) << 53) + 1, -3 };
    const int64_t pick[] = { 1, 0, INT64_C(1) << 33 };
    int64_t got[3];
    read_all(tarn_gather(tarn_from(r, TARN_SHAPE(3), TARN_I64, w), 0,
                         tarn_from(r, TARN_SHAPE(3), TARN_I64, pick)),
             got, sizeof got);
    cr_expect(got[0] == w[1] && got[1] == w[0] && got[2] == w[2]);
    tarn_close(r);
}

/* A third of the way is a third in all digits. */
Test(types, images_are_resized_by_doubles)
{
    tarn_replica *r = open_first();
    const double x[] = { 0, 1 };
    const tarn_tensor t = tarn_from(r, TARN_SHAPE(1, 1, 1, 2), TARN_F64, x);
    double y[6], z[4];
    read_all(tarn_upsample_bilinear2d(t, 1, 3), y, sizeof y);
    cr_expect(fabs(y[2] - 1.0 / 3) < 0x1p-52 && fabs(y[3] - 2.0 / 3) < 0x1p-52, "%a", y[2]);
    read_all(
        tarn_resize_bilinear2d(t, (tarn_resize_options){ .size = { 1, 4 }, .align_corners = true }),
        z, sizeof z);
    cr_expect(fabs(z[1] - 1.0 / 3) < 0x1p-52 && fabs(z[2] - 2.0 / 3) < 0x1p-52, "%a", z[1]);
    read_all(tarn_resize_bilinear2d(t, (tarn_resize_options){ .scale = { 1, 1.7f } }), z,
             3 * sizeof *z);
    const double want = 1.5 / (double)1.7f - 0.5;
    cr_expect(fabs(z[1] - want) < 0x1p-52, "%a, not %a", z[1], want);
    tarn_close(r);
}

/* ---- sums, steps, what is owned ---------------------------------------------------------------- */

/* Of numbers from 1e-8 to 1: in float32 the error would be 1e-8 of the sum and more. */
Test(types, long_sums_and_products_are_double_throughout)
{
    tarn_replica *r = open_first();
    enum { ROWS = 37, N = 5000 };
    double *x = malloc(ROWS * N * sizeof *x), sums[ROWS], squares[ROWS * ROWS];
    cr_assert_not_null(x);
    unsigned long long state = 3;
    for (int i = 0; i < ROWS * N; i++)
        x[i] = check_random(&state) + check_random(&state) * 0x1p-26;
    const tarn_tensor t = tarn_from(r, TARN_SHAPE(ROWS, N), TARN_F64, x);
    read_all(tarn_sum(t, TARN_AXES(1), false), sums, sizeof sums);
    read_all(tarn_matmul(t, tarn_transpose(t, 0, 1)), squares, sizeof squares);
    for (int i = 0; i < ROWS; i++) {
        long double sum = 0, square = 0;
        for (int k = 0; k < N; k++) {
            sum += x[i * N + k];
            square += (long double)x[i * N + k] * x[(ROWS - 1 - i) * N + k];
        }
        const double u = 0x1p-53 * 300; /* chains of additions: docs/numerics.md */
        cr_expect_leq(fabs(sums[i] - (double)sum), u * (double)sum);
        cr_expect_leq(fabs(squares[i * ROWS + ROWS - 1 - i] - (double)square), u * (double)square);
    }
    free(x);
    tarn_close(r);
}

/* A step in double from float32 parameters, and one of a buffer. */
Test(types, parameters_learn_through_double_and_buffers_keep_it)
{
    tarn_replica *r = open_first();
    const float w[] = { 0.5f, -0.25f };
    const double x[] = { 1, 2, 3, 4 }, start = 1.0 / 3;
    const int64_t big = INT64_C(1) << 40;
    const tarn_tensor p = tarn_parameter(r, "w", TARN_SHAPE(2), w);
    const tarn_tensor d = tarn_buffer(r, "d", TARN_SCALAR, TARN_F64, &start);
    const tarn_tensor l = tarn_buffer(r, "l", TARN_SCALAR, TARN_I64, &big);
    tarn_optimizer *sgd = tarn_sgd(r, (tarn_sgd_options){ .lr = 0.5f });
    const tarn_tensor y = tarn_mul(tarn_from(r, TARN_SHAPE(2, 2), TARN_F64, x), p);
    tarn_minimize(sgd, tarn_sum(y, TARN_ALL, false));
    tarn_assign(d, tarn_mul(d, d));
    tarn_assign(l, tarn_add_scalar(l, 1));
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    float now[2];
    double square;
    int64_t more;
    read_all(p, now, sizeof now);
    read_all(d, &square, sizeof square);
    read_all(l, &more, sizeof more);
    cr_expect(now[0] == 0.5f - 0.5f * 4 && now[1] == -0.25f - 0.5f * 6);
    cr_expect_eq(square, start * start);
    cr_expect_eq(more, big + 1);
    tarn_close(r);
}

/* ---- files and loaders ---------------------------------------------------------------------- */

/* Buffers of both types, with what float32 and int32 cannot hold. */
Test(types, checkpoints_keep_every_bit)
{
    char path[] = "/tmp/tarn-types-test-XXXXXX";
    const int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    close(fd);
    const double d[] = { 1.0 / 3, -0.0, 1e-300, NAN };
    const int64_t l[] = { INT64_MIN, (INT64_C(1) << 53) + 1, -1 };
    tarn_replica *r = open_first();
    (void)tarn_buffer(r, "d", TARN_SHAPE(4), TARN_F64, d);
    (void)tarn_buffer(r, "l", TARN_SHAPE(3), TARN_I64, l);
    cr_assert_eq(tarn_save(r, path, (tarn_progress){ 0 }), TARN_OK, "%s", tarn_error(r));
    tarn_close(r);
    for (int k = 0; k < 2; k++) {
        r = open_first();
        const tarn_tensor at = tarn_buffer(r, "d", TARN_SHAPE(4), TARN_F64, NULL);
        const tarn_tensor to = tarn_buffer(r, "l", TARN_SHAPE(3), TARN_I64, NULL);
        double d_now[4];
        int64_t l_now[3];
        const tarn_status s =
            k == 0 ? tarn_load(r, path, NULL)
                   : tarn_load_weights(r, path, (tarn_load_options){ .from = "", .to = "" });
        cr_assert_eq(s, TARN_OK, "%s", tarn_error(r));
        read_all(at, d_now, sizeof d_now);
        read_all(to, l_now, sizeof l_now);
        cr_expect(memcmp(d, d_now, sizeof d) == 0 && memcmp(l, l_now, sizeof l) == 0, "%d", k);
        tarn_close(r);
    }
    r = open_first();
    (void)tarn_buffer(r, "d", TARN_SHAPE(4), TARN_F32, NULL);
    (void)tarn_buffer(r, "l", TARN_SHAPE(3), TARN_I64, NULL);
    cr_expect_neq(tarn_load(r, path, NULL), TARN_OK);
    cr_expect(strstr(tarn_error(r), "F64") != NULL, "%s", tarn_error(r));
    tarn_close(r);
    cr_expect_eq(unlink(path), 0);
}

Test(types, loaders_deliver_them_and_check_classes)
{
    const double x[] = { 1.0 / 3, 2.0 / 3, 4.0 / 3, 5.0 / 3 };
    int64_t y[] = { 1, 0, 2, 1 };
    tarn_arrays a = {
        .inputs = { { .data = x, .dtype = TARN_F64, .shape = TARN_SHAPE(4) } },
        .targets = { { .data = y, .dtype = TARN_I64, .shape = TARN_SHAPE(4), .classes = 3 } }
    };
    tarn_dataset *set = tarn_dataset_from(a);
    cr_assert_not_null(set, "%s", tarn_error(NULL));
    tarn_replica *r = open_first();
    tarn_loader *loader = tarn_loader_open(r, set, (tarn_loader_options){ .batch = 4 });
    cr_assert_not_null(loader, "%s", tarn_error(r));
    tarn_batch b;
    cr_assert(tarn_loader_next(loader, &b), "%s", tarn_error(r));
    double x_now[4];
    int64_t y_now[4];
    read_all(b.x, x_now, sizeof x_now);
    read_all(b.y, y_now, sizeof y_now);
    for (int i = 0; i < 4; i++) {
        int at = 0;
        while (at < 3 && x[at] != x_now[i])
            at++;
        cr_expect(x[at] == x_now[i] && y[at] == y_now[i], "%d: %a", i, x_now[i]);
    }
    tarn_close(r);
    tarn_dataset_close(set);
    y[2] = (INT64_C(1) << 32) + 1;
    cr_expect_null(tarn_dataset_from(a));
    cr_expect(strstr(tarn_error(NULL), "4294967297") != NULL, "%s", tarn_error(NULL));
}

/* ---- where they are refused ----------------------------------------------------------------- */

static void expect_refused(tarn_replica *r, tarn_tensor t, const char *word)
{
    cr_expect(tarn_failed(t), "%s", word);
    cr_expect_eq(tarn_error_status(r), TARN_ERR_DTYPE, "%s: %s", word, tarn_error(r));
    cr_expect(strstr(tarn_error(r), word) != NULL, "%s: %s", word, tarn_error(r));
    cr_expect(strchr(tarn_error(r), '\n') == NULL);
    tarn_error_clear(r);
}

/* Any device may be one without doubles, as far as the library knows. */
Test(types, a_device_without_doubles_is_told_at_once)
{
    tarn_replica *r = open_first();
    struct device *d = (struct device *)(uintptr_t)context_device(r->context);
    const double v = 1;
    const int64_t w = 1;
    d->fp64 = false;
    expect_refused(r, tarn_from(r, TARN_SCALAR, TARN_F64, &v), "from: float64 on ");
    expect_refused(r, tarn_cast(tarn_ones(r, TARN_SCALAR), TARN_F64), "cast: float64 on ");
    expect_refused(r, tarn_buffer(r, "d", TARN_SCALAR, TARN_F64, &v), "d: float64 on ");
    cr_expect_eq(tarn_item(tarn_from(r, TARN_SCALAR, TARN_I64, &w)), 1.0f);
    d->fp64 = true;
    cr_expect_eq(tarn_item(tarn_from(r, TARN_SCALAR, TARN_F64, &v)), 1.0f);
    tarn_close(r);
}
