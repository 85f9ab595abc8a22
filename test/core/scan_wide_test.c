/* SPDX-License-Identifier: Apache-2.0 */
/* Loops of float64: against the same steps written out, bits fused and unfused, kept or not, beside carries of other
 * types; recurrent layers in double against the host's, and their gradients against differences; what is refused. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "first.h"
#include "tarn.h"
#include "tarn_nn.h"

TestSuite(scan_wide, .timeout = 900);

enum { SAMPLES = 17, WIDTH = 6, STEPS = 3, MOST = SAMPLES * STEPS * WIDTH, RESULTS = 9 };

/* Numbers from -1 to 1, which float32 does not have. */
static uint32_t state;
static const double *values(int n)
{
    static double out[MOST];
    for (int i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        out[i] = ((double)(state >> 8) * 0x1p-23 - 1) * (1 + 0x1p-40);
    }
    return out;
}

static tarn_tensor data(tarn_replica *r, tarn_shape s, tarn_dtype dtype)
{
    return tarn_cast(tarn_from(r, s, TARN_F64, values((int)tarn_shape_count(s))), dtype);
}

/* ---- a loop, and its steps written out ------------------------------------------------------- */

struct cell {
    tarn_tensor matrix, shift, table;
};

/* A carry in float64, one in a smaller type; captured: a matrix, something that is added, and a table whose rows are
 * named by int64. */
static void cell_step(const tarn_tensor *carry, const tarn_tensor *x, tarn_tensor *next,
                      tarn_tensor *y, void *user)
{
    const struct cell *c = user;
    const tarn_dtype small = tarn_dtype_get(carry[1]);
    const tarn_tensor sum = tarn_add(x[0], tarn_matmul(carry[0], c->matrix));
    const tarn_tensor rows = tarn_embedding(c->table, x[1]);
    next[0] = tarn_mul(tarn_tanh(sum), tarn_add(c->shift, tarn_add(carry[0], rows)));
    next[1] = tarn_cast(tarn_add(tarn_mul_scalar(carry[1], 0.5f), tarn_sigmoid(sum)), small);
    y[0] = next[0];
    y[1] = tarn_mul(next[1], tarn_cast(x[0], small));
}

struct run {
    tarn_dtype x, small; /* of the input, and of the second carry */
    int axis;
    bool by_hand, reversed, keep, recompute;
    double out[RESULTS][MOST];
    int count[RESULTS];
};

static tarn_shape cut(tarn_shape s, int axis)
{
    for (int d = axis; d + 1 < s.rank; d++)
        s.dim[d] = s.dim[d + 1];
    s.rank--;
    return s;
}

static tarn_tensor of_step(tarn_tensor x, int axis, int t)
{
    const tarn_shape s = cut(tarn_shape_get(x), axis);
    return tarn_reshape(tarn_slice(x, axis, t, t + 1, 1), s);
}

static void by_hand(const tarn_scan_args *a, tarn_tensor *last, tarn_tensor *y)
{
    tarn_tensor all[2][STEPS];
    tarn_shape one = tarn_shape_get(a->x[0]);
    one.dim[a->axis] = 1;
    memcpy(last, a->carry, 2 * sizeof *last);
    for (int i = 0; i < STEPS; i++) {
        const int t = a->reversed ? STEPS - 1 - i : i;
        const tarn_tensor x[2] = { of_step(a->x[0], a->axis, t), of_step(a->x[1], a->axis, t) };
        tarn_tensor next[2], out[2];
        a->body(last, x, next, out, a->user);
        memcpy(last, next, sizeof next);
        for (int k = 0; k < 2; k++)
            all[k][t] = tarn_reshape(out[k], one);
    }
    for (int k = 0; k < 2; k++)
        y[k] = tarn_concat(all[k], STEPS, a->axis);
}

static tarn_tensor indices(tarn_replica *r, tarn_shape s)
{
    int64_t at[SAMPLES * STEPS];
    for (int i = 0; i < SAMPLES * STEPS; i++)
        at[i] =
            i * 7 % 5 - 1 + (INT64_C(1) << 40) * (i % 11 == 0); /* of 4 rows: some are clamped */
    return tarn_from(r, s, TARN_I64, at);
}

static void run(struct run *u)
{
    tarn_replica *r = open_first();
    state = 11;
    const tarn_shape s =
        u->axis ? TARN_SHAPE(SAMPLES, STEPS, WIDTH) : TARN_SHAPE(STEPS, SAMPLES, WIDTH);
    const tarn_shape one = TARN_SHAPE(SAMPLES, WIDTH), square = TARN_SHAPE(WIDTH, WIDTH);
    struct cell c = { .matrix = tarn_parameter_as(r, "matrix", square, TARN_F64, values(36)),
                      .shift = data(r, one, TARN_F32),
                      .table = data(r, TARN_SHAPE(4, WIDTH), TARN_F64) };
    const tarn_tensor x[2] = { data(r, s, u->x), indices(r, TARN_SHAPE(s.dim[0], s.dim[1])) };
    const tarn_tensor carry[2] = { data(r, one, TARN_F64), data(r, one, u->small) };
    const tarn_tensor weight = data(r, s, TARN_F64);
    const tarn_scan_args args = { .body = cell_step,
                                  .user = &c,
                                  .carry = carry,
                                  .carries = 2,
                                  .x = x,
                                  .xs = 2,
                                  .ys = 2,
                                  .axis = u->axis,
                                  .reversed = u->reversed,
                                  .keep = u->keep,
                                  .recompute = u->recompute };
    tarn_tensor all[RESULTS];
    if (u->by_hand)
        by_hand(&args, all + 2, all);
    else
        tarn_scan(r, &args, all + 2, all);
    cr_assert_eq(tarn_dtype_get(all[0]), TARN_F64, "%s", tarn_error(r));
    cr_expect_eq(tarn_dtype_get(all[1]), u->small);
    cr_expect_eq(tarn_dtype_get(all[2]), TARN_F64);
    cr_expect_eq(tarn_dtype_get(all[3]), u->small);
    const tarn_tensor loss = tarn_add(
        tarn_sum(tarn_mul(weight, all[0]), TARN_ALL, false),
        tarn_add(tarn_sum(tarn_mul(tarn_cast(all[1], TARN_F64), weight), TARN_ALL, false),
                 tarn_sum(tarn_mul(tarn_cast(all[3], TARN_F64), all[2]), TARN_ALL, false)));
    const tarn_tensor of[5] = { c.matrix, x[0], carry[0], c.shift, c.table };
    tarn_gradients(loss, of, 5, all + 4);
    cr_expect_eq(tarn_dtype_get(all[4]), TARN_F64);
    cr_expect_eq(tarn_dtype_get(all[5]), u->x);
    cr_expect_eq(tarn_dtype_get(all[7]), TARN_F32);
    for (int i = 0; i < RESULTS; i++) {
        const tarn_tensor wide = tarn_cast(all[i], TARN_F64);
        u->count[i] = (int)tarn_shape_count(tarn_shape_get(wide));
        cr_assert_eq(tarn_read(wide, u->out[i], (size_t)u->count[i] * sizeof(double)), TARN_OK,
                     "%s", tarn_error(r));
    }
    tarn_close(r);
}

static bool same_bits(const struct run *a, const struct run *b, int i)
{
    return a->count[i] == b->count[i] &&
           memcmp(a->out[i], b->out[i], (size_t)a->count[i] * sizeof(double)) == 0;
}

/* Values have the same bits. Gradients are sums in another order: of a matrix over all rows, of what is captured over
 * the steps; a smaller type's are rounded to it in each step, and on the way back through what is of it. */
static void compare(tarn_dtype x, tarn_dtype small, int axis, bool reversed)
{
    static struct run a, b;
    a = (struct run){ .x = x, .small = small, .axis = axis, .reversed = reversed };
    b = a;
    b.by_hand = true;
    run(&a);
    run(&b);
    const bool narrow = small != TARN_F64;
    const double unit = small == TARN_BF16 ? 0x1p-8 : narrow ? 0x1p-24 : 0x1p-53;
    for (int i = 0; i < RESULTS; i++) {
        const double of = i == 7 || (i == 5 && x == TARN_F32) ? fmax(unit, 0x1p-24) : unit;
        const double n = 2.0 * (6 * STEPS + SAMPLES * STEPS), bound = n * of / (1 - n * of);
        double most = 0, largest = 0;
        for (int k = 0; k < a.count[i]; k++) {
            most = fmax(most, fabs(a.out[i][k] - b.out[i][k]));
            largest = fmax(largest, fabs(b.out[i][k]));
        }
        cr_expect_gt(largest, 0.1);
        if (i < 4)
            cr_expect(same_bits(&a, &b, i), "%d: %g of %g", i, most, largest);
        else
            cr_expect_leq(most, bound * largest, "%d: %g of %g", i, most, largest);
    }
}

Test(scan_wide, float64_has_the_bits_of_steps_written_out)
{
    compare(TARN_F64, TARN_F64, 0, false);
    compare(TARN_F64, TARN_F64, 1, true);
}

Test(scan_wide, smaller_types_go_beside_float64)
{
    compare(TARN_F32, TARN_F32, 1, false);
    compare(TARN_F64, TARN_BF16, 0, true);
}

Test(scan_wide, fusion_and_keeping_change_no_bit)
{
    static struct run a, b;
    a = (struct run){ .x = TARN_F64, .small = TARN_F32, .axis = 1 };
    run(&a);
    for (int k = 0; k < 3; k++) {
        b = (struct run){ .x = TARN_F64, .small = TARN_F32, .axis = 1 };
        b.keep = k == 1;
        b.recompute = k == 2;
        cr_assert_eq(tarn_set_option("TARN_FUSE", k == 0 ? "0" : NULL), TARN_OK);
        run(&b);
        cr_assert_eq(tarn_set_option("TARN_FUSE", NULL), TARN_OK);
        for (int i = 0; i < RESULTS; i++)
            cr_expect(same_bits(&a, &b, i), "%d: %d", k, i);
    }
}

/* ---- tensors from outside, constants ---------------------------------------------------------- */

static void growing_step(const tarn_tensor *carry, const tarn_tensor *x, tarn_tensor *next,
                         tarn_tensor *y, void *user)
{
    const tarn_tensor *factor = user;
    (void)x;
    next[0] = y[0] = tarn_mul(carry[0], *factor);
}

/* A step computes in float64 with a tensor from outside, and goes on in float32. */
static void rounding_step(const tarn_tensor *carry, const tarn_tensor *x, tarn_tensor *next,
                          tarn_tensor *y, void *user)
{
    const tarn_tensor *factor = user;
    (void)x;
    next[0] = tarn_cast(tarn_mul(carry[0], *factor), TARN_F32);
    y[0] = next[0];
}

Test(scan_wide, a_float32_loop_gives_a_float64_tensor_its_gradient)
{
    tarn_replica *r = open_first();
    const double by[] = { 1.0 / 3, -0.7 };
    const float from[] = { 2, 3 };
    const tarn_tensor first = tarn_from(r, TARN_SHAPE(2), TARN_F32, from);
    tarn_tensor factor = tarn_from(r, TARN_SHAPE(2), TARN_F64, by), last, y, slope;
    const tarn_scan_args args = {
        .body = rounding_step, .user = &factor, .carry = &first, .carries = 1, .ys = 1, .steps = 2
    };
    tarn_scan(r, &args, &last, &y);
    cr_assert_eq(tarn_dtype_get(last), TARN_F32, "%s", tarn_error(r));
    tarn_gradients(tarn_sum(last, TARN_ALL, false), &factor, 1, &slope);
    cr_assert_eq(tarn_dtype_get(slope), TARN_F64, "%s", tarn_error(r));
    double got[2];
    float end[2];
    cr_assert_eq(tarn_read(slope, got, sizeof got), TARN_OK, "%s", tarn_error(r));
    cr_assert_eq(tarn_read(last, end, sizeof end), TARN_OK, "%s", tarn_error(r));
    for (int i = 0; i < 2; i++) {
        const float once = (float)((double)from[i] * by[i]);
        cr_expect_eq(end[i], (float)((double)once * by[i]));
        const double want = 2 * (double)from[i] * by[i]; /* one of both terms was rounded */
        cr_expect_leq(fabs(got[i] - want), 2 * 0x1p-24 * fabs(want), "%a, not %a", got[i], want);
    }
    tarn_close(r);
}

/* The gradient begins with 1, of whose double the lower half is 0. */
Test(scan_wide, a_gradient_that_begins_with_a_constant)
{
    tarn_replica *r = open_first();
    const double one = 1.5, by = 0.75;
    const tarn_tensor first = tarn_from(r, TARN_SCALAR, TARN_F64, &one);
    tarn_tensor factor = tarn_from(r, TARN_SCALAR, TARN_F64, &by), last, y, slope;
    const tarn_scan_args args = {
        .body = growing_step, .user = &factor, .carry = &first, .carries = 1, .ys = 1, .steps = 2
    };
    tarn_scan(r, &args, &last, &y);
    tarn_gradients(last, &first, 1, &slope);
    double got = 0;
    cr_assert_eq(tarn_read(slope, &got, sizeof got), TARN_OK, "%s", tarn_error(r));
    cr_expect_eq(got, by * by, "%a", got);
    tarn_close(r);
}

/* ---- recurrent layers ------------------------------------------------------------------------- */

enum { INPUT = 4, HIDDEN = 5, ROWS = 3, LONG = 4, GATES_MOST = 4 };

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

struct net {
    bool gru;
    double ih[GATES_MOST * HIDDEN * INPUT], hh[GATES_MOST * HIDDEN * HIDDEN];
    double bias[2][GATES_MOST * HIDDEN];
    double x[LONG * ROWS * INPUT];
};

/* The sum of all outputs, and the outputs [LONG, ROWS, HIDDEN]. */
static double on_host(const struct net *n, double *y)
{
    const int gates = n->gru ? 3 : 4;
    double h[ROWS][HIDDEN] = { { 0 } }, c[ROWS][HIDDEN] = { { 0 } }, sum = 0;
    for (int t = 0; t < LONG; t++)
        for (int row = 0; row < ROWS; row++) {
            double in[GATES_MOST * HIDDEN], of[GATES_MOST * HIDDEN], old[HIDDEN];
            memcpy(old, h[row], sizeof old);
            for (int g = 0; g < gates * HIDDEN; g++) {
                in[g] = n->bias[0][g];
                of[g] = n->bias[1][g];
                for (int k = 0; k < INPUT; k++)
                    in[g] += n->ih[g * INPUT + k] * n->x[(t * ROWS + row) * INPUT + k];
                for (int k = 0; k < HIDDEN; k++)
                    of[g] += n->hh[g * HIDDEN + k] * old[k];
            }
            for (int j = 0; j < HIDDEN; j++) {
                const int a = j, b = j + HIDDEN, d = j + 2 * HIDDEN, e = j + 3 * HIDDEN;
                if (n->gru) {
                    const double reset = sigmoid(in[a] + of[a]), keep = sigmoid(in[b] + of[b]);
                    const double fresh = tanh(in[d] + reset * of[d]);
                    h[row][j] = (old[j] - fresh) * keep + fresh;
                } else {
                    c[row][j] = sigmoid(in[b] + of[b]) * c[row][j] +
                                sigmoid(in[a] + of[a]) * tanh(in[d] + of[d]);
                    h[row][j] = sigmoid(in[e] + of[e]) * tanh(c[row][j]);
                }
                y[(t * ROWS + row) * HIDDEN + j] = h[row][j];
                sum += h[row][j];
            }
        }
    return sum;
}

static void draw(double *to, int count)
{
    const double *from = values(count);
    for (int i = 0; i < count; i++)
        to[i] = from[i] / 2;
}

/* Outputs: of each step at most so many roundings of what is below 1 as sums and functions of 16 ULP have, which gates
 * do not stretch. Gradients: central differences of the host's, whose own error is the smaller one of 1e-9. */
static void check_layer(bool gru)
{
    static struct net n;
    static double y[LONG * ROWS * HIDDEN], got[LONG * ROWS * HIDDEN], slope[400], unused[400];
    tarn_replica *r = open_first();
    state = 7;
    n.gru = gru;
    const int gates = (gru ? 3 : 4) * HIDDEN;
    draw(n.ih, gates * INPUT);
    draw(n.hh, gates * HIDDEN);
    draw(n.bias[0], gates);
    draw(n.bias[1], gates);
    draw(n.x, LONG * ROWS * INPUT);
    on_host(&n, y);
    tarn_parameter_dtype(r, TARN_F64);
    const tarn_lstm lstm = tarn_lstm_make(r, "a", INPUT, HIDDEN, (tarn_recurrent_options){ 0 });
    const tarn_gru other = tarn_gru_make(r, "b", INPUT, HIDDEN, (tarn_recurrent_options){ 0 });
    const tarn_recurrent *of = gru ? &other.of : &lstm.of;
    const tarn_tensor w[4] = { of->weight_ih[0], of->weight_hh[0], of->bias_ih[0], of->bias_hh[0] };
    double *const host[5] = { n.ih, n.hh, n.bias[0], n.bias[1], n.x };
    for (int i = 0; i < 4; i++)
        tarn_assign(w[i], tarn_from(r, tarn_shape_get(w[i]), TARN_F64, host[i]));
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    const tarn_tensor x = tarn_from(r, TARN_SHAPE(LONG, ROWS, INPUT), TARN_F64, n.x);
    const tarn_tensor out =
        gru ? tarn_gru_forward(&other, x, NULL).y : tarn_lstm_forward(&lstm, x, NULL, NULL).y;
    cr_assert_eq(tarn_dtype_get(out), TARN_F64, "%s", tarn_error(r));
    cr_assert_eq(tarn_read(out, got, sizeof got), TARN_OK, "%s", tarn_error(r));
    const double bound = 2 * LONG * (INPUT + HIDDEN + 4 * 16 + 8) * 0x1p-53;
    for (int i = 0; i < LONG * ROWS * HIDDEN; i++)
        cr_expect_leq(fabs(got[i] - y[i]), bound, "%d: %a, not %a", i, got[i], y[i]);
    const tarn_tensor with[5] = { w[0], w[1], w[2], w[3], x };
    tarn_tensor gradient[5];
    tarn_gradients(tarn_sum(out, TARN_ALL, false), with, 5, gradient);
    for (int i = 0; i < 5; i++) {
        const int count = (int)tarn_shape_count(tarn_shape_get(with[i]));
        cr_assert_eq(tarn_read(gradient[i], slope, (size_t)count * sizeof *slope), TARN_OK, "%s",
                     tarn_error(r));
        for (int k = 0; k < count; k++) {
            const double middle = host[i][k], step = 1e-5;
            host[i][k] = middle + step;
            const double high = on_host(&n, unused);
            host[i][k] = middle - step;
            const double low = on_host(&n, unused), want = (high - low) / (2 * step);
            host[i][k] = middle;
            cr_expect_leq(fabs(slope[k] - want), 2e-9 * (1 + fabs(want)),
                          "%d, %d: %.12g, not %.12g", i, k, slope[k], want);
        }
    }
    tarn_close(r);
}

Test(scan_wide, lstm_in_double)
{
    check_layer(false);
}

Test(scan_wide, gru_in_double)
{
    check_layer(true);
}

/* A net in float64 takes float32 inputs, and two layers go on in float64. */
Test(scan_wide, float32_inputs_meet_float64_weights)
{
    tarn_replica *r = open_first();
    tarn_parameter_dtype(r, TARN_F64);
    const tarn_lstm lstm = tarn_lstm_make(
        r, "a", WIDTH, HIDDEN, (tarn_recurrent_options){ .layers = 2, .batch_first = true });
    const tarn_tensor x = data(r, TARN_SHAPE(SAMPLES, STEPS, WIDTH), TARN_F32);
    const tarn_lstm_result a = tarn_lstm_forward(&lstm, x, NULL, NULL);
    const tarn_lstm_result b = tarn_lstm_forward(&lstm, tarn_cast(x, TARN_F64), NULL, NULL);
    double one[SAMPLES * STEPS * HIDDEN], two[SAMPLES * STEPS * HIDDEN];
    cr_assert_eq(tarn_dtype_get(a.c), TARN_F64, "%s", tarn_error(r));
    cr_assert_eq(tarn_read(a.y, one, sizeof one), TARN_OK, "%s", tarn_error(r));
    cr_assert_eq(tarn_read(b.y, two, sizeof two), TARN_OK, "%s", tarn_error(r));
    cr_expect(memcmp(one, two, sizeof one) == 0);
    tarn_close(r);
}

/* ---- what is refused -------------------------------------------------------------------------- */

static void output_step(const tarn_tensor *carry, const tarn_tensor *x, tarn_tensor *next,
                        tarn_tensor *y, void *user)
{
    const tarn_tensor *factor = user;
    (void)x;
    next[0] = tarn_mul_scalar(carry[0], 0.5f);
    y[0] = tarn_mul(carry[0], *factor);
}

static void expect_refused(tarn_scan_fn body, bool autocast, const char *text)
{
    tarn_replica *r = open_first();
    const tarn_tensor first = tarn_ones(r, TARN_SHAPE(SAMPLES, WIDTH));
    tarn_tensor factor = data(r, TARN_SHAPE(SAMPLES, WIDTH), TARN_F64), last, y;
    const tarn_scan_args args = {
        .body = body, .user = &factor, .carry = &first, .carries = 1, .ys = 1, .steps = STEPS
    };
    if (autocast)
        tarn_autocast(r, TARN_BF16);
    tarn_scan(r, &args, &last, &y);
    cr_expect_eq(tarn_error_status(r), TARN_ERR_DTYPE);
    cr_expect(tarn_failed(last) && tarn_failed(y));
    cr_expect_not_null(strstr(tarn_error(r), text), "%s", tarn_error(r));
    tarn_close(r);
}

/* Nothing is computed in fewer bits unasked. */
Test(scan_wide, types_that_are_refused)
{
    expect_refused(output_step, false, "output 0 is float64, and no carry or input is");
    expect_refused(growing_step, false, "carry 0 is float64, but its first value is float32");
    expect_refused(growing_step, true, "carry 0 is float64, but its first value is float32");
}

/* ---- arrays of the caller -------------------------------------------------------------------- */

static void add_up(const tarn_tensor *carry, const tarn_tensor *x, tarn_tensor *next,
                   tarn_tensor *y, void *user)
{
    (void)user;
    y[0] = next[0] = tarn_add(carry[0], x[0]);
}

/* Callers need no names of their own for what loops leave. */
Test(scan, results_may_take_the_place_of_arguments)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    tarn_tensor sum = tarn_full(r, TARN_SCALAR, 10), x = tarn_ones(r, TARN_SHAPE(4));
    float out[5];
    for (int times = 0; times < 2; times++) {
        const tarn_scan_args args = {
            .body = add_up, .carry = &sum, .carries = 1, .x = &x, .xs = 1, .ys = 1
        };
        tarn_scan(r, &args, &sum, &x);
    }
    const tarn_tensor all =
        tarn_concat((tarn_tensor[]){ x, tarn_reshape(sum, TARN_SHAPE(1)) }, 2, 0);
    cr_assert_eq(tarn_read(all, out, sizeof out), TARN_OK, "%s", tarn_error(r));
    static const float expected[] = { 25, 37, 50, 64, 64 }; /* of 11, 12, 13, 14, which are 14 */
    for (int i = 0; i < 5; i++)
        cr_expect_eq(out[i], expected[i], "%d: %g", i, (double)out[i]);
    tarn_close(r);
}
