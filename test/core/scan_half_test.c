/* SPDX-License-Identifier: Apache-2.0 */
/* Half types that go from step to step: a loop against the same steps written out, bits fused and unfused, kept or
 * not, recurrent layers within autocast, and what is refused. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "first.h"
#include "tarn.h"
#include "tensor/shape.h"

TestSuite(scan_half, .timeout = 900);

enum { SAMPLES = 17, WIDTH = 6, STEPS = 3, MOST = SAMPLES * STEPS * WIDTH, RESULTS = 8 };

static uint32_t state;
static const float *values(int n)
{
    static float out[MOST];
    for (int i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        out[i] = (float)(state >> 8) * 0x1p-23f - 1.0f;
    }
    return out;
}

static tarn_tensor data(tarn_replica *r, tarn_shape s)
{
    return tarn_from(r, s, TARN_F32, values((int)tarn_shape_count(s)));
}

/* ---- a loop, and its steps written out ------------------------------------------------------- */

struct cell {
    tarn_tensor matrix, shift;
};

/* A carry in a half type, one in float32; a half matrix and a half tensor from outside. */
static void cell_step(const tarn_tensor *carry, const tarn_tensor *x, tarn_tensor *next,
                      tarn_tensor *y, void *user)
{
    const struct cell *c = user;
    const tarn_tensor sum = tarn_add(x[0], tarn_matmul(carry[0], c->matrix));
    next[1] = tarn_add(tarn_mul_scalar(carry[1], 0.5f), tarn_sigmoid(sum));
    next[0] = tarn_mul(tarn_tanh(sum), tarn_add(c->shift, carry[0]));
    y[0] = next[0];
    y[1] = tarn_mul(next[1], x[0]);
}

struct run {
    tarn_dtype half;
    int axis;
    bool by_hand, reversed, keep;
    float out[RESULTS][MOST];
    int count[RESULTS];
};

static tarn_shape cut(tarn_shape s, int axis)
{
    for (int d = axis; d + 1 < s.rank; d++)
        s.dim[d] = s.dim[d + 1];
    s.rank--;
    return s;
}

static void by_hand(const tarn_scan_args *a, tarn_tensor *last, tarn_tensor *y)
{
    tarn_tensor all[2][STEPS];
    tarn_shape one = tarn_shape_get(a->x[0]);
    one.dim[a->axis] = 1;
    memcpy(last, a->carry, 2 * sizeof *last);
    for (int i = 0; i < STEPS; i++) {
        const int t = a->reversed ? STEPS - 1 - i : i;
        const tarn_tensor x =
            tarn_reshape(tarn_slice(a->x[0], a->axis, t, t + 1, 1), cut(one, a->axis));
        tarn_tensor next[2], out[2];
        a->body(last, &x, next, out, a->user);
        memcpy(last, next, sizeof next);
        for (int k = 0; k < 2; k++)
            all[k][t] = tarn_reshape(out[k], one);
    }
    for (int k = 0; k < 2; k++)
        y[k] = tarn_concat(all[k], STEPS, a->axis);
}

static void run(struct run *u)
{
    tarn_replica *r = open_first();
    state = 11;
    const tarn_shape s =
        u->axis ? TARN_SHAPE(SAMPLES, STEPS, WIDTH) : TARN_SHAPE(STEPS, SAMPLES, WIDTH);
    const tarn_shape one = TARN_SHAPE(SAMPLES, WIDTH);
    const tarn_tensor matrix = tarn_parameter(r, "matrix", TARN_SHAPE(WIDTH, WIDTH), values(36));
    const tarn_tensor first = tarn_cast(data(r, one), u->half);
    const tarn_tensor x = tarn_cast(data(r, s), u->half), weight = data(r, s);
    struct cell c = { tarn_cast(matrix, u->half), tarn_cast(data(r, one), u->half) };
    const tarn_tensor carry[2] = { first, data(r, one) };
    const tarn_scan_args args = { .body = cell_step,
                                  .user = &c,
                                  .carry = carry,
                                  .carries = 2,
                                  .x = &x,
                                  .xs = 1,
                                  .ys = 2,
                                  .axis = u->axis,
                                  .reversed = u->reversed,
                                  .keep = u->keep };
    tarn_tensor all[RESULTS];
    if (u->by_hand)
        by_hand(&args, all + 2, all);
    else
        tarn_scan(r, &args, all + 2, all);
    cr_assert_eq(tarn_dtype_get(all[0]), u->half, "%s", tarn_error(r));
    cr_expect_eq(tarn_dtype_get(all[1]), TARN_F32);
    cr_expect_eq(tarn_dtype_get(all[2]), u->half);
    cr_expect_eq(tarn_dtype_get(all[3]), TARN_F32);
    const tarn_tensor loss = tarn_add(
        tarn_sum(tarn_mul(weight, all[0]), TARN_ALL, false),
        tarn_add(tarn_sum(tarn_mul(all[1], weight), TARN_ALL, false),
                 tarn_sum(tarn_mul(all[3], tarn_cast(all[2], TARN_F32)), TARN_ALL, false)));
    const tarn_tensor of[4] = { matrix, x, first, c.shift };
    tarn_gradients(loss, of, 4, all + 4);
    for (int i = 0; i < RESULTS; i++) {
        const tarn_tensor wide = tarn_cast(all[i], TARN_F32);
        u->count[i] = (int)tarn_shape_count(tarn_shape_get(wide));
        cr_assert_eq(tarn_read(wide, u->out[i], (size_t)u->count[i] * sizeof(float)), TARN_OK, "%s",
                     tarn_error(r));
    }
    tarn_close(r);
}

static bool same_bits(const struct run *a, const struct run *b, int i)
{
    return a->count[i] == b->count[i] &&
           memcmp(a->out[i], b->out[i], (size_t)a->count[i] * sizeof(float)) == 0;
}

/* Gradients: of roundings to the half type there are six a step, of what goes back and of what it is multiplied by. The
 * loop adds up a matrix's gradient in float32, and rounds the carry's once. */
static void compare(tarn_dtype half, int axis, bool reversed)
{
    static struct run a, b;
    a = (struct run){ .half = half, .axis = axis, .reversed = reversed };
    b = a;
    b.by_hand = true;
    run(&a);
    run(&b);
    const double n = 2.0 * 6 * STEPS, unit = half == TARN_F16 ? 0x1p-11 : 0x1p-8;
    const double bound = n * unit / (1 - n * unit);
    for (int i = 0; i < RESULTS; i++) {
        double most = 0, largest = 0;
        for (int k = 0; k < a.count[i]; k++) {
            most = fmax(most, fabs((double)a.out[i][k] - (double)b.out[i][k]));
            largest = fmax(largest, fabs((double)b.out[i][k]));
        }
        cr_expect_gt(largest, 0.1);
        if (i < 4)
            cr_expect(same_bits(&a, &b, i), "%d: %g of %g", i, most, largest);
        else
            cr_expect_leq(most, bound * largest, "%d: %g of %g", i, most, largest);
    }
}

Test(scan_half, float16_has_the_bits_of_steps_written_out)
{
    compare(TARN_F16, 0, false);
    compare(TARN_F16, 1, true);
}

Test(scan_half, bfloat16_has_the_bits_of_steps_written_out)
{
    compare(TARN_BF16, 1, false);
    compare(TARN_BF16, 0, true);
}

Test(scan_half, fusion_and_keeping_change_no_bit)
{
    static struct run a, b;
    a = (struct run){ .half = TARN_BF16, .axis = 1 };
    run(&a);
    for (int k = 0; k < 2; k++) {
        b = (struct run){ .half = TARN_BF16, .axis = 1 };
        b.keep = k == 1;
        cr_assert_eq(tarn_set_option("TARN_FUSE", k == 0 ? "0" : NULL), TARN_OK);
        run(&b);
        cr_assert_eq(tarn_set_option("TARN_FUSE", NULL), TARN_OK);
        for (int i = 0; i < RESULTS; i++)
            cr_expect(same_bits(&a, &b, i), "%s: %d", k == 0 ? "unfused" : "kept", i);
    }
}

/* ---- autocast -------------------------------------------------------------------------------- */

enum { LAYERS = 2, HIDDEN = 5 };

struct layer {
    tarn_tensor y, h, weight, gradient;
};

static struct layer recurrent(const tarn_lstm *lstm, const tarn_gru *gru, tarn_tensor x)
{
    struct layer out;
    if (lstm != NULL) {
        const tarn_lstm_result y = tarn_lstm_forward(lstm, x, NULL, NULL);
        out = (struct layer){ .y = y.y, .h = y.c, .weight = lstm->of.weight_hh[0] };
    } else {
        const tarn_gru_result y = tarn_gru_forward(gru, x, NULL);
        out = (struct layer){ .y = y.y, .h = y.h, .weight = gru->of.weight_hh[0] };
    }
    const tarn_tensor loss = tarn_mean(tarn_mul(out.y, out.y), TARN_ALL, false);
    tarn_gradients(loss, &out.weight, 1, &out.gradient);
    return out;
}

static double apart(tarn_tensor a, tarn_tensor b, double *largest)
{
    static float v[2][MOST];
    const tarn_tensor t[2] = { tarn_cast(a, TARN_F32), tarn_cast(b, TARN_F32) };
    const int n = (int)tarn_shape_count(tarn_shape_get(a));
    double most = 0;
    *largest = 0;
    for (int k = 0; k < 2; k++)
        cr_assert_eq(tarn_read(t[k], v[k], (size_t)n * sizeof(float)), TARN_OK, "%s",
                     tarn_error(a.replica));
    for (int i = 0; i < n; i++) {
        most = fmax(most, fabs((double)v[0][i] - (double)v[1][i]));
        *largest = fmax(*largest, fabs((double)v[1][i]));
    }
    return most;
}

/* Of x, weights and biases each, and of gates and states in each layer and step, one rounding. */
static void check_layer(bool is_lstm, tarn_dtype half)
{
    const tarn_recurrent_options options = { .layers = LAYERS, .batch_first = true };
    tarn_replica *r = open_first();
    state = 5;
    const tarn_lstm lstm = tarn_lstm_make(r, "a", WIDTH, HIDDEN, options);
    const tarn_gru gru = tarn_gru_make(r, "b", WIDTH, HIDDEN, options);
    const tarn_tensor x = data(r, TARN_SHAPE(SAMPLES, STEPS, WIDTH));
    const struct layer full = recurrent(is_lstm ? &lstm : NULL, &gru, x);
    tarn_autocast(r, half);
    const struct layer low = recurrent(is_lstm ? &lstm : NULL, &gru, x);
    tarn_autocast_end(r);
    cr_assert_not(tarn_failed(low.y), "%s", tarn_error(r));
    cr_expect_eq(tarn_dtype_get(low.y), half);
    cr_expect_eq(tarn_dtype_get(low.h), half);
    cr_expect_eq(tarn_dtype_get(low.gradient), TARN_F32);
    const double unit = half == TARN_F16 ? 0x1p-11 : 0x1p-8;
    const double n = LAYERS * (3 + 2 * STEPS), bound = n * unit / (1 - n * unit);
    const tarn_tensor pairs[3][2] = { { low.y, full.y },
                                      { low.h, full.h },
                                      { low.gradient, full.gradient } };
    for (int i = 0; i < 3; i++) {
        double largest;
        const double most = apart(pairs[i][0], pairs[i][1], &largest);
        cr_expect_leq(most, (i == 2 ? 2 : 1) * bound * largest, "%d: %g of %g", i, most, largest);
        cr_expect_gt(most, 0);
        cr_expect_gt(largest, 0);
    }
    tarn_close(r);
}

Test(scan_half, recurrent_layers_within_autocast)
{
    check_layer(true, TARN_F16);
    check_layer(false, TARN_BF16);
}

/* Within autocast a power is float32, and a carry that began in a half type is rounded to it. */
static void power_step(const tarn_tensor *carry, const tarn_tensor *x, tarn_tensor *next,
                       tarn_tensor *y, void *user)
{
    (void)x, (void)user;
    next[0] = y[0] = tarn_exp(tarn_mul_scalar(carry[0], -0.5f));
}

/* A body that was written for float32: its product is of the half type, its carry stays what it was. */
static void plain_step(const tarn_tensor *carry, const tarn_tensor *x, tarn_tensor *next,
                       tarn_tensor *y, void *user)
{
    const tarn_tensor *matrix = user;
    (void)x;
    y[0] = tarn_matmul(carry[0], *matrix);
    next[0] = tarn_tanh(y[0]);
}

static void expect_refused(tarn_dtype first_type, const char *text)
{
    tarn_replica *r = open_first();
    const tarn_tensor matrix = data(r, TARN_SHAPE(WIDTH, WIDTH));
    const tarn_tensor first = tarn_cast(tarn_ones(r, TARN_SHAPE(SAMPLES, WIDTH)), first_type);
    const tarn_scan_args args = { .body = plain_step,
                                  .user = (void *)(uintptr_t)&matrix,
                                  .carry = &first,
                                  .carries = 1,
                                  .ys = 1,
                                  .steps = STEPS };
    tarn_tensor last, y;
    tarn_scan(r, &args, &last, &y);
    cr_expect_eq(tarn_error_status(r), TARN_ERR_DTYPE);
    cr_expect(tarn_failed(last) && tarn_failed(y));
    cr_expect_not_null(strstr(tarn_error(r), text), "%s", tarn_error(r));
    tarn_close(r);
}

Test(scan_half, types_that_are_refused)
{
    expect_refused(TARN_F16, "carry 0 is float32, but its first value is float16");
    expect_refused(TARN_I32, "carry 0 is int32, must be of a float type");
}

Test(scan_half, bodies_within_autocast)
{
    tarn_replica *r = open_first();
    state = 3;
    const tarn_tensor first = data(r, TARN_SHAPE(SAMPLES, WIDTH));
    tarn_tensor matrix = data(r, TARN_SHAPE(WIDTH, WIDTH)), last, y;
    const tarn_scan_args args = {
        .body = plain_step, .user = &matrix, .carry = &first, .carries = 1, .ys = 1, .steps = STEPS
    };
    float some[SAMPLES * WIDTH];
    tarn_autocast(r, TARN_BF16);
    tarn_scan(r, &args, &last, &y);
    tarn_autocast_end(r);
    cr_assert_not(tarn_failed(last), "%s", tarn_error(r));
    cr_expect_eq(tarn_dtype_get(last), TARN_F32);
    cr_expect_eq(tarn_dtype_get(y), TARN_BF16);
    cr_expect_eq(tarn_read(last, some, sizeof some), TARN_OK, "%s", tarn_error(r));
    tarn_close(r);
}

Test(scan_half, carries_keep_their_type_within_autocast)
{
    tarn_replica *r = open_first();
    state = 3;
    const tarn_shape s = TARN_SHAPE(SAMPLES, WIDTH);
    const tarn_tensor first = tarn_cast(data(r, s), TARN_BF16);
    const tarn_scan_args args = {
        .body = power_step, .carry = &first, .carries = 1, .ys = 1, .steps = STEPS
    };
    tarn_tensor last, y;
    tarn_autocast(r, TARN_BF16);
    tarn_scan(r, &args, &last, &y);
    tarn_autocast_end(r);
    cr_assert_eq(tarn_dtype_get(last), TARN_BF16, "%s", tarn_error(r));
    cr_assert_eq(tarn_dtype_get(y), TARN_F32);
    static float wide[SAMPLES * WIDTH], all[MOST];
    const tarn_tensor read = tarn_cast(last, TARN_F32);
    cr_assert_eq(tarn_read(read, wide, sizeof wide), TARN_OK, "%s", tarn_error(r));
    cr_assert_eq(tarn_read(y, all, sizeof all), TARN_OK, "%s", tarn_error(r));
    const float *put_out = all + (STEPS - 1) * SAMPLES * WIDTH;
    for (int i = 0; i < SAMPLES * WIDTH; i++) {
        const float want = half_to_float(half_from_float(put_out[i], TARN_BF16), TARN_BF16);
        cr_expect_eq(wide[i], want, "%d: %a, not %a", i, (double)wide[i], (double)want);
    }
    tarn_close(r);
}
