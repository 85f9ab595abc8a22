/* SPDX-License-Identifier: Apache-2.0 */
/* Loops against the same network with its steps written out: values and gradients, for few steps and many,
 * and what is compiled for them. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tarn.h"

TestSuite(scan, .timeout = 900);

enum { SAMPLES = 20, HIDDEN = 6, GATES = 4 * HIDDEN, MOST = 1 << 16 };

/* A cell with two carries, a matrix, a vector that broadcasts, and a captured tensor with samples. */
struct cell {
    tarn_tensor matrix, bias, peek, shift;
    bool dropout;
};

static void cell_step(const tarn_tensor *carry, const tarn_tensor *x, tarn_tensor *next,
                      tarn_tensor *y, void *user)
{
    const struct cell *c = user;
    const tarn_tensor z = tarn_add(tarn_add(x[0], tarn_matmul(carry[0], c->matrix)), c->bias);
    tarn_tensor gate[4];
    for (int i = 0; i < 4; i++)
        gate[i] = tarn_slice(z, 1, i * HIDDEN, (i + 1) * HIDDEN, 1);
    tarn_tensor kept = tarn_mul(tarn_sigmoid(gate[1]), carry[1]);
    if (c->dropout)
        kept = tarn_dropout(kept, 0.25f);
    next[1] = tarn_add(tarn_add(kept, tarn_mul(tarn_sigmoid(gate[0]), tarn_tanh(gate[2]))),
                       tarn_mul(c->shift, tarn_mul(c->peek, carry[1])));
    next[0] = tarn_mul(tarn_sigmoid(gate[3]), tarn_tanh(next[1]));
    y[0] = next[0];
    y[1] = tarn_mul(next[1], x[1]);
}

struct run {
    int steps, axis;
    bool by_hand, reversed, dropout, keep, recompute;
    bool early;         /* outputs are read before gradients are asked for */
    float out[8][MOST]; /* y0, y1, last h, last c, gradients */
    int count[8];
    tarn_metrics metrics;
};

static uint32_t state;
static float uniform(void)
{
    state = state * 1664525u + 1013904223u;
    return (float)(state >> 8) * 0x1p-23f - 1.0f;
}

static tarn_tensor data(tarn_replica *r, tarn_shape s, float scale)
{
    static float values[MOST];
    for (int i = 0; i < tarn_shape_count(s); i++)
        values[i] = scale * uniform();
    return tarn_from(r, s, TARN_F32, values);
}

static tarn_tensor parameter(tarn_replica *r, const char *name, tarn_shape s, float scale)
{
    static float values[MOST];
    for (int i = 0; i < tarn_shape_count(s); i++)
        values[i] = scale * uniform();
    return tarn_parameter(r, name, s, values);
}

static tarn_tensor slice_of(tarn_tensor x, int axis, int t)
{
    tarn_shape s = tarn_shape_get(x);
    const tarn_tensor one = tarn_slice(x, axis, t, t + 1, 1);
    for (int d = axis; d + 1 < s.rank; d++)
        s.dim[d] = s.dim[d + 1];
    s.rank--;
    return tarn_reshape(one, s);
}

static tarn_tensor with_axis(tarn_tensor x, int axis)
{
    tarn_shape s = tarn_shape_get(x);
    for (int d = s.rank++; d > axis; d--)
        s.dim[d] = s.dim[d - 1];
    s.dim[axis] = 1;
    return tarn_reshape(x, s);
}

/* The loop, step by step. */
static void by_hand(const tarn_scan_args *a, int steps, tarn_tensor *last, tarn_tensor *y)
{
    tarn_tensor *all[2] = { calloc((size_t)steps, sizeof **all),
                            calloc((size_t)steps, sizeof **all) };
    tarn_tensor carry[2] = { a->carry[0], a->carry[1] };
    for (int i = 0; i < steps; i++) {
        const int t = a->reversed ? steps - 1 - i : i;
        const tarn_tensor x[2] = { slice_of(a->x[0], a->axis, t), slice_of(a->x[1], a->axis, t) };
        tarn_tensor next[2], out[2];
        a->body(carry, x, next, out, a->user);
        for (int k = 0; k < 2; k++) {
            carry[k] = next[k];
            all[k][t] = with_axis(out[k], a->axis);
        }
    }
    for (int k = 0; k < 2; k++) {
        y[k] = all[k][0];
        for (int t = 1; t < steps; t += 32) { /* as many as an op takes operands */
            tarn_tensor some[33] = { y[k] };
            const int n = steps - t < 32 ? steps - t : 32;
            memcpy(some + 1, all[k] + t, (size_t)n * sizeof *some);
            y[k] = tarn_concat(some, n + 1, a->axis);
        }
        last[k] = carry[k];
        free(all[k]);
    }
}

static void read_all(struct run *u, const tarn_tensor *t, int count)
{
    cr_assert_eq(tarn_eval(t, count), TARN_OK, "%s", tarn_error(t[0].replica));
    for (int i = 0; i < count; i++) {
        u->count[i] = (int)tarn_shape_count(tarn_shape_get(t[i]));
        cr_assert_leq(u->count[i], MOST);
        cr_assert_eq(tarn_read(t[i], u->out[i], (size_t)u->count[i] * sizeof(float)), TARN_OK);
    }
}

static void run(struct run *u)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    state = 7;
    const int T = u->steps;
    const tarn_shape xs = u->axis ? TARN_SHAPE(SAMPLES, T, GATES) : TARN_SHAPE(T, SAMPLES, GATES);
    const tarn_shape ws = u->axis ? TARN_SHAPE(SAMPLES, T, HIDDEN) : TARN_SHAPE(T, SAMPLES, HIDDEN);
    struct cell c = { .dropout = u->dropout };
    c.matrix = parameter(r, "matrix", TARN_SHAPE(HIDDEN, GATES), 0.5f);
    c.bias = parameter(r, "bias", TARN_SHAPE(GATES), 0.5f);
    c.peek = parameter(r, "peek", TARN_SHAPE(HIDDEN), 0.1f);
    const tarn_tensor first = parameter(r, "first", TARN_SHAPE(SAMPLES, HIDDEN), 0.5f);
    const tarn_tensor x[2] = { data(r, xs, 1.0f), data(r, ws, 1.0f) };
    const tarn_tensor weight = data(r, ws, 1.0f);
    c.shift = data(r, TARN_SHAPE(SAMPLES, HIDDEN), 1.0f);
    const tarn_tensor carry[2] = { tarn_tanh(first), tarn_zeros(r, TARN_SHAPE(SAMPLES, HIDDEN)) };
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
    tarn_tensor all[8], *last = all + 2, *y = all;
    if (u->by_hand)
        by_hand(&args, T, last, y);
    else
        tarn_scan(r, &args, last, y);
    if (u->early)
        cr_assert_eq(tarn_eval(y, 2), TARN_OK, "%s", tarn_error(r));
    const tarn_tensor loss =
        tarn_add(tarn_sum(tarn_mul(weight, y[0]), TARN_ALL, false),
                 tarn_add(tarn_sum(tarn_mul(y[1], y[1]), TARN_ALL, false),
                          tarn_sum(tarn_mul(last[1], last[1]), TARN_ALL, false)));
    const tarn_tensor of[4] = { c.matrix, x[0], first, c.peek };
    tarn_gradients(loss, of, 4, all + 4);
    read_all(u, all, 8);
    u->metrics = tarn_metrics_get(r);
    tarn_close(r);
}

static double largest_difference(const struct run *a, const struct run *b, int i, double *largest)
{
    double most = 0;
    *largest = 0;
    for (int k = 0; k < a->count[i]; k++) {
        const double d = fabs((double)a->out[i][k] - (double)b->out[i][k]);
        most = d > most ? d : most;
        *largest = fabs((double)b->out[i][k]) > *largest ? fabs((double)b->out[i][k]) : *largest;
    }
    return most;
}

static void compare(int steps, int axis, bool reversed)
{
    static struct run a, b;
    a = (struct run){ .steps = steps, .axis = axis, .reversed = reversed };
    b = a;
    b.by_hand = true;
    run(&a);
    run(&b);
    /* Roundings one after the other, in both: of each step's sums and functions, back and forth, and of sums
     * over samples and steps. Gates stretch nothing here. */
    const double n = 2.0 * steps * (HIDDEN + 40) + SAMPLES * steps;
    const double bound = 2 * n * 0x1p-24 / (1 - n * 0x1p-24);
    static const char *const names[8] = { "y0", "y1", "h", "c", "matrix", "x", "first", "peek" };
    for (int i = 0; i < 8; i++) {
        double largest;
        const double d = largest_difference(&a, &b, i, &largest);
        printf("T %d axis %d: %s differs by %g of %g\n", steps, axis, names[i], d, largest);
        cr_assert_eq(a.count[i], b.count[i]);
        if (i < 4)
            cr_expect_eq(memcmp(a.out[i], b.out[i], (size_t)a.count[i] * sizeof(float)), 0,
                         "T %d axis %d: %s differs by %g of %g", steps, axis, names[i], d, largest);
        else
            cr_expect_leq(d, bound * largest, "T %d axis %d: %s differs by %g of %g", steps, axis,
                          names[i], d, largest);
    }
}

Test(scan, one_step)
{
    compare(1, 1, false);
}
Test(scan, two_steps)
{
    compare(2, 0, false);
}
Test(scan, seven_steps)
{
    compare(7, 1, false);
    compare(7, 0, true);
}

/* What is kept is what would be computed anew. */
static void compare_kept(int steps, int axis, bool reversed, bool dropout)
{
    static struct run a, b, c;
    a = (struct run){ .steps = steps, .axis = axis, .reversed = reversed, .dropout = dropout };
    b = c = a;
    a.recompute = true;
    b.keep = c.keep = c.early = true;
    run(&a);
    run(&b);
    run(&c);
    for (int i = 0; i < 8; i++) {
        cr_assert_eq(a.count[i], b.count[i]);
        cr_expect_eq(memcmp(a.out[i], b.out[i], (size_t)a.count[i] * sizeof(float)), 0,
                     "T %d axis %d: result %d of a loop that keeps differs", steps, axis, i);
        cr_expect_eq(memcmp(a.out[i], c.out[i], (size_t)a.count[i] * sizeof(float)), 0,
                     "T %d axis %d: result %d of one that ran before differs", steps, axis, i);
    }
    /* Five values of [SAMPLES, HIDDEN] a step: three sigmoids, two tanh. */
    const size_t more = (size_t)(steps * 5 * SAMPLES * HIDDEN) * sizeof(float);
    cr_expect_geq(b.metrics.device_bytes, a.metrics.device_bytes + more / 2, "%llu and %llu bytes",
                  (unsigned long long)b.metrics.device_bytes,
                  (unsigned long long)a.metrics.device_bytes);
}

Test(scan, keeping_has_the_same_bits)
{
    compare_kept(7, 1, false, false);
    compare_kept(40, 0, true, false);
    compare_kept(40, 1, false, true);
}

/* ---- training -------------------------------------------------------------------------------- */

struct trained {
    tarn_metrics metrics;
    float loss[4], matrix[HIDDEN * GATES];
};

/* Three steps of training and one of evaluation, with random numbers in the body. The loss is read before
 * the gradient is taken, or after the step. */
static void train(struct trained *t, int steps, bool read_before, const char *load,
                  const char *save)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    state = 11;
    tarn_seed(r, 3);
    struct cell c = { .dropout = true };
    c.matrix = parameter(r, "matrix", TARN_SHAPE(HIDDEN, GATES), 0.5f);
    c.bias = parameter(r, "bias", TARN_SHAPE(GATES), 0.5f);
    c.peek = parameter(r, "peek", TARN_SHAPE(HIDDEN), 0.1f);
    tarn_optimizer *o = tarn_adam(r, (tarn_adam_options){ .lr = 0.01f });
    if (load != NULL)
        cr_assert_eq(tarn_load(r, load, NULL), TARN_OK, "%s", tarn_error(r));
    for (int i = (int)tarn_step_count(r); i < 4; i++) {
        state = 100 + (uint32_t)i;
        const tarn_tensor x[2] = { data(r, TARN_SHAPE(SAMPLES, steps, GATES), 1.0f),
                                   data(r, TARN_SHAPE(SAMPLES, steps, HIDDEN), 1.0f) };
        c.shift = data(r, TARN_SHAPE(SAMPLES, HIDDEN), 1.0f);
        const tarn_tensor carry[2] = { tarn_zeros(r, TARN_SHAPE(SAMPLES, HIDDEN)),
                                       tarn_zeros(r, TARN_SHAPE(SAMPLES, HIDDEN)) };
        const tarn_scan_args args = { .body = cell_step,
                                      .user = &c,
                                      .carry = carry,
                                      .carries = 2,
                                      .x = x,
                                      .xs = 2,
                                      .ys = 2,
                                      .axis = 1 };
        tarn_tensor y[2];
        tarn_train(r, i < 3);
        tarn_scan(r, &args, NULL, y);
        const tarn_tensor loss = tarn_mean(tarn_mul(tarn_add(y[0], y[1]), y[0]), TARN_ALL, false);
        if (read_before || i == 3)
            t->loss[i] = tarn_item(loss);
        if (i == 3)
            break;
        tarn_backward(loss);
        tarn_optimizer_step(o);
        cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
        if (save != NULL && i == 1) {
            cr_assert_eq(tarn_save(r, save, (tarn_progress){ 0 }), TARN_OK, "%s", tarn_error(r));
            break;
        }
    }
    cr_assert_eq(tarn_read(c.matrix, t->matrix, sizeof t->matrix), TARN_OK, "%s", tarn_error(r));
    cr_assert_eq(tarn_wait(r), TARN_OK, "%s", tarn_error(r));
    t->metrics = tarn_metrics_get(r);
    tarn_close(r);
}

Test(scan, plans_do_not_grow_with_steps)
{
    static struct trained few, many;
    train(&few, 7, false, NULL, NULL);
    train(&many, 100, false, NULL, NULL);
    cr_expect_eq(few.metrics.plans_compiled, many.metrics.plans_compiled);
    cr_expect_gt(few.metrics.plan_hits, 0);
    cr_expect_eq(few.metrics.plan_hits, many.metrics.plan_hits);
    cr_expect(isfinite(many.loss[3]));
    const double body = (double)(many.metrics.launches - few.metrics.launches) / 93;
    cr_expect_eq(body, floor(body), "%g launches a step", body);
}

Test(scan, reading_early_and_resuming_change_nothing)
{
    static struct trained whole, early, part;
    char file[] = "/tmp/tarn-scan-XXXXXX";
    const int fd = mkstemp(file);
    cr_assert_geq(fd, 0);
    train(&whole, 7, false, NULL, NULL);
    train(&early, 7, true, NULL, NULL);
    cr_expect_arr_eq(whole.matrix, early.matrix, sizeof whole.matrix);
    cr_expect_eq(whole.loss[3], early.loss[3]);
    cr_expect_neq(early.loss[0], early.loss[1]);
    train(&part, 7, false, NULL, file);
    train(&part, 7, false, file, NULL);
    cr_expect_arr_eq(whole.matrix, part.matrix, sizeof whole.matrix);
    (void)remove(file);
}

/* ---- loops of loops' outputs, and gradients of gradients ------------------------------------- */

static void chain(struct run *u)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    state = 5;
    struct cell c = { 0 };
    c.matrix = parameter(r, "matrix", TARN_SHAPE(HIDDEN, GATES), 0.5f);
    c.bias = parameter(r, "bias", TARN_SHAPE(GATES), 0.5f);
    c.peek = parameter(r, "peek", TARN_SHAPE(HIDDEN), 0.1f);
    c.shift = data(r, TARN_SHAPE(SAMPLES, HIDDEN), 1.0f);
    tarn_tensor x[2] = { data(r, TARN_SHAPE(SAMPLES, u->steps, GATES), 1.0f),
                         data(r, TARN_SHAPE(SAMPLES, u->steps, HIDDEN), 1.0f) };
    const tarn_tensor in = x[0];
    tarn_tensor carry[2] = { tarn_tanh(c.shift), tarn_zeros(r, TARN_SHAPE(SAMPLES, HIDDEN)) };
    tarn_tensor last[2], y[2], all[8], g[2];
    for (int i = 0; i < 2; i++) {
        const tarn_scan_args args = { .body = cell_step,
                                      .user = &c,
                                      .carry = carry,
                                      .carries = 2,
                                      .x = x,
                                      .xs = 2,
                                      .ys = 2,
                                      .axis = 1,
                                      .reversed = i == 1,
                                      .keep = u->keep };
        if (u->by_hand)
            by_hand(&args, u->steps, last, y);
        else
            tarn_scan(r, &args, last, y);
        memcpy(carry, last, sizeof carry);
        x[1] = y[0];
    }
    const tarn_tensor loss = tarn_sum(tarn_mul(y[1], y[0]), TARN_ALL, false);
    tarn_gradients(loss, (tarn_tensor[]){ c.matrix, in }, 2, g);
    const tarn_tensor steep = tarn_add(tarn_sum(tarn_mul(g[0], g[0]), TARN_ALL, false),
                                       tarn_sum(tarn_mul(g[1], g[1]), TARN_ALL, false));
    const tarn_tensor of[3] = { c.matrix, in, c.peek };
    all[0] = y[0];
    all[1] = y[1];
    memcpy(all + 2, g, sizeof g);
    tarn_gradients(steep, of, 3, all + 4);
    read_all(u, all, 7);
    tarn_close(r);
}

/* Four times as long chains of roundings as in compare(), and the same again for products of gradients. */
static void compare_chains(const struct run *a, const struct run *b)
{
    for (int i = 0; i < 7; i++) {
        double largest;
        const double d = largest_difference(a, b, i, &largest);
        printf("%d differs by %g of %g\n", i, d, largest);
        const double n = 8 * (2.0 * 8 * (HIDDEN + 40) + SAMPLES * 4), u = n * 0x1p-24;
        cr_expect_gt(largest, 0, "%d is %g", i, largest);
        cr_expect_leq(d, 2 * u / (1 - u) * largest, "%d differs by %g of %g", i, d, largest);
    }
}

Test(scan, gradients_of_gradients_through_two_loops)
{
    static struct run a, b;
    b = (struct run){ .steps = 4, .by_hand = true };
    chain(&b);
    for (int keep = 0; keep < 2; keep++) {
        a = (struct run){ .steps = 4, .keep = keep };
        chain(&a);
        compare_chains(&a, &b);
    }
}

/* ---- random numbers -------------------------------------------------------------------------- */

static void draw(const tarn_tensor *carry, const tarn_tensor *x, tarn_tensor *next, tarn_tensor *y,
                 void *user)
{
    tarn_replica *r = user;
    (void)carry, (void)x, (void)next;
    y[0] = tarn_add(tarn_rand(r, TARN_SHAPE(4)), tarn_mul_scalar(tarn_rand(r, TARN_SHAPE(4)), 2));
}

Test(scan, steps_draw_other_numbers)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const tarn_scan_args args = { .body = draw, .user = r, .ys = 1, .steps = 50 };
    tarn_tensor y;
    float out[204];
    tarn_scan(r, &args, NULL, &y);
    const tarn_tensor after = tarn_add(tarn_rand(r, TARN_SHAPE(4)), tarn_full(r, TARN_SCALAR, 0));
    const tarn_tensor all =
        tarn_concat((tarn_tensor[]){ tarn_reshape(y, TARN_SHAPE(200)), after }, 2, 0);
    cr_assert_eq(tarn_read(all, out, sizeof out), TARN_OK, "%s", tarn_error(r));
    int equal = 0;
    for (int i = 0; i < 204; i++)
        for (int k = 0; k < i; k++)
            equal += out[i] == out[k];
    cr_expect_eq(equal, 0);
    tarn_close(r);
}

/* ---- steps that wait for each other ---------------------------------------------------------- */

enum { ROWS = 64, LONG = 60 };

/* Each half of the samples gets what the other one had. */
static void change_places(const tarn_tensor *carry, const tarn_tensor *x, tarn_tensor *next,
                          tarn_tensor *y, void *user)
{
    const tarn_tensor *from = user;
    (void)y;
    next[0] = tarn_add(tarn_index_select(carry[0], 0, *from), x[0]);
}

/* No group of samples may go on to its next step before the others have done this one. */
Test(scan, samples_that_change_places)
{
    static float x[ROWS][LONG], want[ROWS], got[ROWS];
    static int32_t other[ROWS];
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    for (int n = 0; n < ROWS; n++)
        for (int t = 0; t < LONG; t++)
            x[n][t] = (float)((7 * n + 3 * t) % 101); /* sums of which are exact */
    for (int n = 0; n < ROWS; n++)
        other[n] = (n + ROWS / 2) % ROWS;
    for (int t = 0; t < LONG; t++) {
        float before[ROWS];
        memcpy(before, want, sizeof before);
        for (int n = 0; n < ROWS; n++)
            want[n] = before[other[n]] + x[n][t];
    }
    const tarn_tensor in = tarn_from(r, TARN_SHAPE(ROWS, LONG, 1), TARN_F32, x);
    const tarn_tensor first = tarn_zeros(r, TARN_SHAPE(ROWS, 1));
    tarn_tensor from = tarn_from(r, TARN_SHAPE(ROWS), TARN_I32, other);
    const tarn_scan_args args = { .body = change_places,
                                  .user = &from,
                                  .carry = &first,
                                  .carries = 1,
                                  .x = &in,
                                  .xs = 1,
                                  .axis = 1 };
    tarn_tensor last;
    tarn_scan(r, &args, &last, NULL);
    cr_assert_eq(tarn_read(last, got, sizeof got), TARN_OK, "%s", tarn_error(r));
    cr_expect_arr_eq(got, want, sizeof want);
    tarn_close(r);
}

/* ---- what is refused ------------------------------------------------------------------------- */

enum wrong { EVALUATES, ASSIGNS, STEPS, NESTED, BACKWARD, LEAKS, SHAPE, NOTHING, TYPE };

struct bad {
    enum wrong wrong;
    tarn_replica *r;
    tarn_tensor buffer, leaked;
};

static void bad_step(const tarn_tensor *carry, const tarn_tensor *x, tarn_tensor *next,
                     tarn_tensor *y, void *user)
{
    struct bad *b = user;
    (void)x;
    next[0] = tarn_mul_scalar(carry[0], 0.5f);
    y[0] = carry[0];
    const tarn_scan_args args = { .body = draw, .user = b->r, .ys = 1, .steps = 2 };
    switch (b->wrong) {
    case EVALUATES:
        (void)tarn_item(tarn_sum(next[0], TARN_ALL, false));
        break;
    case ASSIGNS:
        tarn_assign(b->buffer, next[0]);
        break;
    case STEPS:
        (void)!tarn_step(b->r);
        break;
    case NESTED:
        tarn_scan(b->r, &args, NULL, y);
        break;
    case BACKWARD:
        tarn_backward(tarn_sum(next[0], TARN_ALL, false));
        break;
    case LEAKS:
        b->leaked = next[0];
        break;
    case SHAPE:
        next[0] = tarn_sum(next[0], TARN_ALL, true);
        break;
    case NOTHING:
        y[0] = TARN_NONE;
        break;
    case TYPE:
        y[0] = tarn_cast(y[0], TARN_I32);
        break;
    }
}

static void expect_refused(enum wrong wrong, const char *text)
{
    struct bad b = { .wrong = wrong, .r = tarn_open(NULL) };
    cr_assert_not_null(b.r, "%s", tarn_error(NULL));
    b.buffer = tarn_buffer(b.r, "buffer", TARN_SHAPE(3), TARN_F32, NULL);
    const tarn_tensor first = tarn_ones(b.r, TARN_SHAPE(3));
    const tarn_scan_args args = {
        .body = bad_step, .user = &b, .carry = &first, .carries = 1, .ys = 1, .steps = 3
    };
    tarn_tensor last, y;
    tarn_scan(b.r, &args, &last, &y);
    float out[3];
    if (wrong == LEAKS)
        (void)!tarn_read(b.leaked, out, sizeof out);
    cr_expect_neq(tarn_error_status(b.r), TARN_OK);
    cr_expect(wrong == LEAKS || tarn_failed(y));
    cr_expect_not_null(strstr(tarn_error(b.r), text), "%s: no '%s'", tarn_error(b.r), text);
    cr_expect_null(strchr(tarn_error(b.r), '\n'));
    tarn_error_clear(b.r);
    const tarn_tensor good = tarn_mul_scalar(tarn_ones(b.r, TARN_SHAPE(3)), 3);
    cr_expect_eq(tarn_read(good, out, sizeof out), TARN_OK, "%s", tarn_error(b.r));
    tarn_close(b.r);
}

Test(scan, refusals)
{
    expect_refused(EVALUATES, "scan: its body only records");
    expect_refused(ASSIGNS, "scan: the body assigns");
    expect_refused(STEPS, "scan: its body only records");
    expect_refused(NESTED, "scan: in the body of another scan");
    expect_refused(BACKWARD, "in the body of a scan");
    expect_refused(LEAKS, "outside of it");
    expect_refused(SHAPE, "scan: the next value of carry 0 is [1]");
    expect_refused(NOTHING, "scan: output");
    expect_refused(TYPE, "must be of a float type");
}
