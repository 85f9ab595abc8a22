/* SPDX-License-Identifier: Apache-2.0 */
/* A map may write over what it reads for the last time, and only where it reads the very element that it writes. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tarn.h"

enum { SIDE = 300, COUNT = SIDE * SIDE };

TestSuite(in_place, .timeout = 600);

static float x[COUNT], out[COUNT];
static double e[COUNT], y[COUNT];

/* exp(x) is read by the sum, and for the last time by what waits for the sum and is stored for the product. */
static void compute(bool turned, const char *name, const char *word)
{
    double sum = 0;
    for (int i = 0; i < COUNT; i++) {
        x[i] = (float)(i * 37 % 101) / 101.0f - 0.5f;
        e[i] = exp((double)x[i]);
        sum += e[i];
    }
    for (int i = 0; i < COUNT; i++)
        y[i] = (e[i] + (turned ? e[i % SIDE * SIDE + i / SIDE] : e[i] * e[i])) / sum;
    setenv(name, word, 1);
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const tarn_tensor given = tarn_from(r, TARN_SHAPE(SIDE, SIDE), TARN_F32, x);
    const tarn_tensor a = tarn_exp(tarn_batch_axis(given, TARN_NO_BATCH));
    const tarn_tensor b = turned ? tarn_transpose(a, 0, 1) : tarn_mul(a, a);
    const tarn_tensor all = tarn_sum(a, TARN_ALL, true);
    const tarn_tensor part = tarn_add(tarn_div(a, all), tarn_div(b, all));
    const tarn_tensor product = tarn_matmul(part, part);
    cr_assert_eq(tarn_read(product, out, sizeof out), TARN_OK, "%s", tarn_error(r));
    int wrong = 0;
    for (int i = 0; i < COUNT; i++) {
        double want = 0;
        for (int k = 0; k < SIDE; k++)
            want += y[i / SIDE * SIDE + k] * y[k * SIDE + i % SIDE];
        wrong += !(fabs((double)out[i] - want) <= 600 * 0x1p-24 * want);
    }
    cr_expect_eq(wrong, 0, "%s, %s=%s: %d elements are wrong", turned ? "turned" : "straight", name,
                 word, wrong);
    tarn_close(r);
    unsetenv(name);
}

static void compute_all(bool turned)
{
    compute(turned, "TARN_FUSE", "1");
    compute(turned, "TARN_FUSE", "0");
    compute(turned, "TARN_SCHEDULE", "gpu");
    compute(turned, "TARN_TARGET", "neon");
}

Test(in_place, the_same_element)
{
    compute_all(false);
}

Test(in_place, another_element)
{
    compute_all(true);
}
