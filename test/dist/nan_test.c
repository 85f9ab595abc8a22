/* SPDX-License-Identifier: Apache-2.0 */
/* TARN_DEBUG=nan names the op, the element and the step that made the first NaN or infinity, on the rank that made it,
 * and changes no bit. */
#include <criterion/criterion.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "tarn.h"
#include "tarn_dist.h"

TestSuite(nan_blame, .timeout = 600);

enum { ROWS = 2, COLUMNS = 3, STEPS = 4, BAD_STEP = 3, LINES = 8 };

struct heard {
    pthread_mutex_t lock;
    int count;
    char line[LINES][1001];
};

static void hear(tarn_log_level level, const char *text, void *user)
{
    struct heard *h = user;
    if (level != TARN_LOG_WARNING)
        return;
    pthread_mutex_lock(&h->lock);
    if (h->count < LINES)
        snprintf(h->line[h->count++], sizeof h->line[0], "%s", text);
    pthread_mutex_unlock(&h->lock);
}

static bool said(const struct heard *h, const char *text)
{
    for (int i = 0; i < h->count; i++)
        if (strstr(h->line[i], text) != NULL)
            return true;
    return false;
}

/* What each step computes of a parameter that nothing else changes. */
struct program {
    tarn_tensor (*loss)(tarn_replica *r, tarn_tensor w, int step);
    float now[2][ROWS * COLUMNS];
};

static tarn_status train(tarn_replica *r, void *arg)
{
    struct program *p = arg;
    const float start[ROWS * COLUMNS] = { 1, 2, 3, 4, 5, 6 };
    const tarn_tensor w = tarn_parameter(r, "a weight", TARN_SHAPE(ROWS, COLUMNS), start);
    tarn_optimizer *o = tarn_sgd(r, (tarn_sgd_options){ .lr = 0.01f, .momentum = 0.5f });
    for (int step = 1; step <= STEPS && tarn_error_status(r) == TARN_OK; step++) {
        tarn_backward(p->loss(r, w, step));
        tarn_optimizer_step(o);
        (void)!tarn_step(r);
    }
    (void)tarn_wait(r);
    tarn_error_clear(r);
    return tarn_read(w, p->now[tarn_rank(r)], sizeof p->now[0]);
}

static void run(struct program *p, int world, struct heard *h)
{
    cr_assert_eq(tarn_set_option("TARN_QUICK", "1"), TARN_OK);
    tarn_set_log(hear, h);
    cr_assert_eq(tarn_launch(train, p, (tarn_launch_options){ .devices = "0,0", .count = world }),
                 TARN_OK, "%s", tarn_error(NULL));
    tarn_set_log(NULL, NULL);
}

/* With blame and without. */
static void compare(tarn_tensor (*loss)(tarn_replica *r, tarn_tensor w, int step), int world,
                    struct heard *h)
{
    struct program plain = { .loss = loss }, blamed = { .loss = loss };
    struct heard nothing = { .lock = PTHREAD_MUTEX_INITIALIZER };
    *h = nothing;
    run(&plain, world, &nothing);
    cr_assert_eq(tarn_set_option("TARN_DEBUG", "nan"), TARN_OK);
    run(&blamed, world, h);
    cr_assert_eq(tarn_set_option("TARN_DEBUG", NULL), TARN_OK);
    for (int rank = 0; rank < world; rank++)
        cr_expect_eq(memcmp(plain.now[rank], blamed.now[rank], sizeof plain.now[0]), 0);
    for (int i = 0; i < h->count; i++)
        printf("%s\n", h->line[i]);
}

static tarn_tensor of_host(tarn_replica *r, float second)
{
    const float x[ROWS * COLUMNS] = { 1, 1, 1, 1, second, 1 };
    return tarn_from(r, TARN_SHAPE(ROWS, COLUMNS), TARN_F32, x);
}

static tarn_tensor log_of_zero(tarn_replica *r, tarn_tensor w, int step)
{
    /* An infinity that goes nowhere is not to blame. */
    const tarn_tensor low = tarn_full(r, TARN_SCALAR, -INFINITY);
    const tarn_tensor masked = tarn_exp(tarn_mul(tarn_abs(tarn_detach(w)), low));
    const tarn_tensor x = tarn_mul(w, of_host(r, step == BAD_STEP ? 0.0f : 1.0f));
    return tarn_sum(tarn_add(tarn_log(x), masked), TARN_ALL, false);
}

Test(nan_blame, names_op_element_and_step)
{
    struct heard h;
    compare(log_of_zero, 1, &h);
    cr_assert_eq(h.count, 1);
    cr_expect(said(&h, "rank 0, step 3: "), "%s", h.line[0]);
    /* The loss is not part of the step; its gradient is 1 / 0. */
    cr_expect(said(&h, "makes of finite numbers inf at [1,1] of float32 [2,3]"), "%s", h.line[0]);
    cr_expect(said(&h, "(there 0)"), "%s", h.line[0]);
    cr_expect(said(&h, "so the gradient of a weight is not finite"), "%s", h.line[0]);
}

static tarn_tensor bad_input(tarn_replica *r, tarn_tensor w, int step)
{
    const tarn_tensor x = of_host(r, step == BAD_STEP ? NAN : 1.0f);
    return tarn_sum(tarn_mul(tarn_relu(w), x), TARN_ALL, false);
}

Test(nan_blame, names_a_leaf_that_is_not_finite_itself)
{
    struct heard h;
    compare(bad_input, 1, &h);
    cr_assert_eq(h.count, 1);
    cr_expect(said(&h, "step 3: input (operation "), "%s", h.line[0]);
    cr_expect(said(&h, "holds nan at [1,1]"), "%s", h.line[0]);
}

static tarn_tensor on_rank_1(tarn_replica *r, tarn_tensor w, int step)
{
    const bool bad = step == BAD_STEP && tarn_rank(r) == 1;
    return tarn_sum(tarn_div(w, of_host(r, bad ? 0.0f : 1.0f)), TARN_ALL, false);
}

Test(nan_blame, names_the_rank)
{
    struct heard h;
    compare(on_rank_1, 2, &h);
    cr_assert_eq(h.count, 2);
    cr_expect(said(&h, "rank 1, step 3: div (operation "), "rank 1");
    cr_expect(said(&h, "rank 0, step 3: another rank has a NaN or an infinity"), "rank 0");
}

/* ---- loops ---------------------------------------------------------------------------------- */

enum { LOOP = 5 };

static void body(const tarn_tensor *carry, const tarn_tensor *x, tarn_tensor *next, tarn_tensor *y,
                 void *user)
{
    (void)user;
    *next = tarn_exp(tarn_mul(carry[0], x[0]));
    *y = tarn_mul_scalar(*next, 2);
}

static tarn_tensor loop(tarn_replica *r, tarn_tensor w, int step, bool reversed)
{
    const float x[LOOP] = { 0.1f, 0.1f, 0.1f, step == BAD_STEP ? 1000.0f : 0.1f, 0.1f };
    const tarn_tensor slices = tarn_from(r, TARN_SHAPE(LOOP), TARN_F32, x);
    tarn_tensor last, y;
    const tarn_scan_args args = { .body = body,
                                  .carry = &w,
                                  .carries = 1,
                                  .x = &slices,
                                  .xs = 1,
                                  .ys = 1,
                                  .reversed = reversed };
    tarn_scan(r, &args, &last, &y);
    return tarn_add(tarn_sum(last, TARN_ALL, false), tarn_sum(y, TARN_ALL, false));
}

static tarn_tensor forwards(tarn_replica *r, tarn_tensor w, int step)
{
    return loop(r, w, step, false);
}

static tarn_tensor backwards(tarn_replica *r, tarn_tensor w, int step)
{
    return loop(r, w, step, true);
}

Test(nan_blame, names_the_op_and_the_step_inside_of_a_loop)
{
    struct heard h;
    compare(forwards, 1, &h);
    cr_assert_eq(h.count, 1);
    cr_expect(said(&h, "step 3: in step 4 of 5 of a loop, scan (operation "), "%s", h.line[0]);
    cr_expect(said(&h, "), exp (operation "), "%s", h.line[0]);
    cr_expect(said(&h, "makes of finite numbers inf at [0,0] of float32 [2,3]"), "%s", h.line[0]);
    cr_expect(said(&h, "its operands: mul float32 [2,3] (there "), "%s", h.line[0]);
    cr_expect(said(&h, "so the gradient of a weight is not finite"), "%s", h.line[0]);
    compare(backwards, 1, &h);
    cr_assert_eq(h.count, 1);
    cr_expect(said(&h, "in step 2 of 5 of a loop"), "%s", h.line[0]);
}

/* ---- float64 -------------------------------------------------------------------------------- */

/* 1e60 is no infinity. */
static tarn_tensor large_and_wrong(tarn_replica *r, tarn_tensor w, int step)
{
    const tarn_tensor wide = tarn_cast(w, TARN_F64),
                      large = tarn_cast(tarn_full(r, TARN_SCALAR, 1e30f), TARN_F64);
    const tarn_tensor x =
        tarn_mul(wide, tarn_cast(of_host(r, step == BAD_STEP ? 0.0f : 1.0f), TARN_F64));
    const tarn_tensor there = tarn_mul(tarn_mul(x, large), large);
    return tarn_sum(tarn_log(there), TARN_ALL, false);
}

static tarn_tensor wide_loop(tarn_replica *r, tarn_tensor w, int step)
{
    return loop(r, tarn_cast(w, TARN_F64), step, false);
}

Test(nan_blame, sees_float64)
{
    struct heard h;
    compare(large_and_wrong, 1, &h);
    cr_assert_eq(h.count, 1);
    cr_expect(said(&h, "step 3: div (operation "), "%s", h.line[0]);
    cr_expect(said(&h, "makes of finite numbers inf at [1,1] of float64 [2,3]"), "%s", h.line[0]);
    cr_expect(said(&h, "mul float64 [2,3] (there 0)"), "%s", h.line[0]);
    compare(wide_loop, 1, &h);
    cr_assert_eq(h.count, 1);
    cr_expect(said(&h, "step 3: in step 4 of 5 of a loop, scan (operation "), "%s", h.line[0]);
    cr_expect(said(&h, "makes of finite numbers inf at [0,0] of float64 [2,3]"), "%s", h.line[0]);
}

/* Whose gradients are of float64. */
static tarn_status train_doubles(tarn_replica *r, void *arg)
{
    const double start[] = { 1, -1e200 };
    (void)arg;
    const tarn_tensor w = tarn_parameter_as(r, "w", TARN_SHAPE(2), TARN_F64, start);
    tarn_optimizer *o = tarn_sgd(r, (tarn_sgd_options){ .lr = 0.01f });
    tarn_backward(tarn_sum(tarn_mul(w, tarn_mul(w, w)), TARN_ALL, false));
    tarn_optimizer_step(o);
    (void)!tarn_step(r);
    return tarn_wait(r);
}

Test(nan_blame, sees_gradients_of_float64_parameters)
{
    struct heard h = { .lock = PTHREAD_MUTEX_INITIALIZER };
    cr_assert_eq(tarn_set_option("TARN_DEBUG", "nan"), TARN_OK);
    tarn_set_log(hear, &h);
    (void)!tarn_launch(train_doubles, NULL, (tarn_launch_options){ .devices = "0", .count = 1 });
    tarn_set_log(NULL, NULL);
    cr_assert_eq(tarn_set_option("TARN_DEBUG", NULL), TARN_OK);
    cr_assert_eq(h.count, 1);
    cr_expect(said(&h, "inf at [1] of float64 [2]"), "%s", h.line[0]);
    cr_expect(said(&h, "so the gradient of w is not finite"), "%s", h.line[0]);
}

static tarn_tensor fine(tarn_replica *r, tarn_tensor w, int step)
{
    return tarn_sum(tarn_mul(tarn_dropout(w, 0.5f), of_host(r, (float)step)), TARN_ALL, false);
}

Test(nan_blame, says_nothing_of_finite_steps)
{
    struct heard h;
    compare(fine, 1, &h);
    cr_expect_eq(h.count, 0);
    compare(fine, 2, &h);
    cr_expect_eq(h.count, 0);
}
