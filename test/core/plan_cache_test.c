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
