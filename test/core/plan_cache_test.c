/* SPDX-License-Identifier: Apache-2.0 */
/* A replica keeps a bounded number of plans: many batch sizes cost no memory, and a plan that
 * left is made again. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "tarn.h"

TestSuite(plan_cache, .timeout = 600);

enum { SIZES = 200, KEPT = 24 };

static long resident_bytes(void)
{
    long pages = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    cr_assert_not_null(f);
    cr_assert_eq(fscanf(f, "%ld %ld", &pages, &resident), 2);
    fclose(f);
    return resident * sysconf(_SC_PAGESIZE);
}

/* A program that no cache has: the driver's compiler is loaded after it, which takes memory once. */
static void compile_once(tarn_replica *r)
{
    const float x[2] = { 1, 2 };
    float y[2];
    const float unique = (float)(time(NULL) % 1000000) + (float)(getpid() % 64) / 64;
    const tarn_tensor in = tarn_from(r, TARN_SHAPE(2), TARN_F32, x);
    cr_assert_eq(tarn_read(tarn_mul_scalar(in, unique), y, sizeof y), TARN_OK, "%s", tarn_error(r));
    tarn_error_clear(r);
}

static void double_batch(tarn_replica *r, int n)
{
    float x[SIZES + 1], y[SIZES + 1];
    for (int i = 0; i < n; i++)
        x[i] = (float)(i - n);
    const tarn_tensor in = tarn_from(r, TARN_SHAPE(n), TARN_F32, x);
    const tarn_tensor kept = tarn_keep(tarn_add(in, in));
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    cr_assert_eq(tarn_read(kept, y, (size_t)n * sizeof *y), TARN_OK, "%s", tarn_error(r));
    tarn_drop(kept);
    for (int i = 0; i < n; i++)
        cr_assert_eq(y[i], 2 * x[i]);
}

Test(plan_cache, many_batch_sizes_take_little_memory)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    compile_once(r);
    const long before = resident_bytes();
    for (int n = 1; n <= SIZES; n++)
        double_batch(r, n);
    const long grown = resident_bytes() - before;
    cr_expect_lt(grown, 50000000L, "resident memory grew by %ld bytes", grown);
    tarn_close(r);
}

Test(plan_cache, the_least_recently_used_plan_leaves)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    for (int n = 1; n <= KEPT; n++)
        double_batch(r, n);
    double_batch(r, 1); /* used again: 2 is the oldest now */
    uint64_t compiled = tarn_metrics_get(r).plans_compiled;
    cr_expect_eq(compiled, KEPT);
    double_batch(r, KEPT + 1);
    double_batch(r, 1);
    cr_expect_eq(tarn_metrics_get(r).plans_compiled, compiled + 1);
    double_batch(r, 2);
    cr_expect_eq(tarn_metrics_get(r).plans_compiled, compiled + 2);
    tarn_close(r);
}

/* ---- one plan for equal steps --------------------------------------------------------------- */

struct fit {
    tarn_replica *r;
    tarn_tensor w;
    tarn_optimizer *sgd;
};

static struct fit fit_make(void)
{
    const float start[4] = { 1, 2, 3, 4 };
    struct fit f = { .r = tarn_open(NULL) };
    cr_assert_not_null(f.r, "%s", tarn_error(NULL));
    f.w = tarn_parameter(f.r, "w", TARN_SHAPE(4), start);
    f.sgd = tarn_sgd(f.r, (tarn_sgd_options){ .lr = 0.25f });
    return f;
}

/* Records a step that makes w smaller by half, whose loss is the sum of w's squares / 2. */
static tarn_tensor fit_step(const struct fit *f)
{
    const tarn_tensor squares = tarn_mul(f->w, f->w);
    const tarn_tensor loss = tarn_sum(squares, TARN_ALL, false);
    tarn_backward(loss);
    tarn_optimizer_step(f->sgd);
    return tarn_keep(loss);
}

Test(plan_cache, a_loss_that_is_read_in_each_step_takes_one_plan)
{
    const struct fit f = fit_make();
    float wanted = 30;
    for (int step = 0; step < 6; step++, wanted /= 4) {
        const tarn_tensor loss = fit_step(&f);
        cr_assert_eq(tarn_step(f.r), TARN_OK, "%s", tarn_error(f.r));
        cr_expect_eq(tarn_item(loss), wanted, "step %d", step);
        tarn_drop(loss);
    }
    cr_expect_eq(tarn_metrics_get(f.r).plans_compiled, 1);
    tarn_close(f.r);
}

/* Kept tensors take turns in their slots, and their values must not. */
Test(plan_cache, kept_tensors_in_any_slot_take_one_plan)
{
    const struct fit f = fit_make();
    tarn_tensor before = TARN_NONE;
    float wanted = 30;
    for (int step = 0; step < 6; step++, wanted /= 4) {
        const tarn_tensor loss = fit_step(&f);
        cr_assert_eq(tarn_step(f.r), TARN_OK, "%s", tarn_error(f.r));
        if (step > 0) {
            cr_expect_eq(tarn_item(before), 4 * wanted, "step %d", step);
            tarn_drop(before);
        }
        before = loss;
    }
    cr_expect_eq(tarn_metrics_get(f.r).plans_compiled, 1);
    tarn_close(f.r);
}

/* Which of two kept tensors is read where is a matter of the step, not of their slots. */
Test(plan_cache, slots_change_hands)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const float one[2] = { 1, 2 }, ten[2] = { 10, 20 };
    float y[2];
    const tarn_tensor a = tarn_keep(tarn_from(r, TARN_SHAPE(2), TARN_F32, one));
    const tarn_tensor b = tarn_keep(tarn_from(r, TARN_SHAPE(2), TARN_F32, ten));
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    uint64_t compiled = 0;
    const tarn_tensor pairs[3][2] = { { a, b }, { b, a }, { a, a } };
    const float wanted[3] = { 1 - 10, 10 - 1, 0 };
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(tarn_read(tarn_sub(pairs[i][0], pairs[i][1]), y, sizeof y), TARN_OK, "%s",
                     tarn_error(r));
        cr_expect_eq(y[0], wanted[i], "pair %d", i);
        cr_expect_eq(y[1], 2 * wanted[i], "pair %d", i);
        cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
        const uint64_t now = tarn_metrics_get(r).plans_compiled;
        cr_expect(i == 1 ? now == compiled : now > compiled, "pair %d", i);
        compiled = now;
    }
    tarn_close(r);
}
