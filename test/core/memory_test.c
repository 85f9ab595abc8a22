/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory of a plan is known before it runs, and a limit refuses it with the names of who holds most. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tarn.h"

static tarn_replica *open_device(void)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    return r;
}

/* Two large temporaries at once: a product, and its rows in another order. */
static void record(tarn_replica *r, tarn_tensor w, int rows)
{
    const tarn_tensor x = tarn_randn(r, TARN_SHAPE(rows, 64));
    const tarn_tensor y = tarn_matmul(x, w);
    const tarn_tensor z = tarn_matmul(tarn_transpose(y, 0, 1), y);
    tarn_assign(w, tarn_sub(w, z));
}

Test(memory, is_what_was_expected)
{
    tarn_replica *r = open_device();
    const tarn_tensor w = tarn_parameter(r, "w", TARN_SHAPE(64, 64), NULL);
    for (int rows = 512; rows <= 2048; rows *= 2) {
        record(r, w, rows);
        cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
        const tarn_metrics m = tarn_metrics_get(r);
        cr_expect_geq(m.device_bytes_expected, (uint64_t)rows * 64 * 4);
        cr_expect_eq(m.device_bytes_expected, m.device_bytes_peak, "%llu and %llu",
                     (unsigned long long)m.device_bytes_expected,
                     (unsigned long long)m.device_bytes_peak);
    }
    tarn_close(r);
}

Test(memory, counts_steady_steps)
{
    tarn_replica *r = open_device();
    const tarn_tensor w = tarn_parameter(r, "w", TARN_SHAPE(64, 64), NULL);
    for (int i = 0; i < 5; i++) {
        record(r, w, 256);
        cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
        cr_expect_eq(tarn_metrics_get(r).steady_steps, (uint64_t)i);
    }
    const tarn_tensor more = tarn_parameter(r, "more", TARN_SHAPE(333, 1001), NULL);
    (void)more;
    record(r, w, 256);
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    cr_expect_eq(tarn_metrics_get(r).steady_steps, 0, "memory was allocated");
    cr_expect_gt(tarn_metrics_get(r).allocations, 1);
    tarn_close(r);
}

Test(memory, a_limit_refuses_and_names_the_largest)
{
    tarn_replica *r = open_device();
    const tarn_tensor w = tarn_parameter(r, "a weight", TARN_SHAPE(64, 64), NULL);
    float before[64 * 64], after[64 * 64];
    cr_assert_eq(tarn_read(w, before, sizeof before), TARN_OK);
    cr_assert_eq(tarn_set_option("TARN_MEMORY_LIMIT", "1000000"), TARN_OK);
    record(r, w, 256);
    cr_expect_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    record(r, w, 8192);
    cr_expect_eq(tarn_step(r), TARN_ERR_DEVICE_MEMORY);
    cr_expect_not_null(strstr(tarn_error(r), "TARN_MEMORY_LIMIT allows 0.95"), "%s", tarn_error(r));
    cr_expect_not_null(strstr(tarn_error(r), "matmul float32 [8192,64] 2.00 MiB"), "%s",
                       tarn_error(r));
    cr_expect_not_null(strstr(tarn_error(r), "a weight float32 [64,64] 0.02 MiB"), "%s",
                       tarn_error(r));
    cr_expect_lt(tarn_metrics_get(r).device_bytes_peak, 1000000);

    /* Nothing is lost: what fits goes on, and so does the rest without the limit. */
    tarn_error_clear(r);
    record(r, w, 256);
    cr_expect_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    cr_assert_eq(tarn_set_option("TARN_MEMORY_LIMIT", NULL), TARN_OK);
    record(r, w, 8192);
    cr_expect_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    cr_expect_eq(tarn_read(w, after, sizeof after), TARN_OK);
    cr_expect_gt(tarn_metrics_get(r).device_bytes_peak, 1000000);
    tarn_close(r);
}
