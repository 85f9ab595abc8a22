/* SPDX-License-Identifier: Apache-2.0 */
/* Types of 64 bits on several replicas: that a comparison of weights sees both halves of an element, and means of
 * doubles with their gradients. */
#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

#include "tarn.h"
#include "tarn_dist.h"
#include "tarn_train.h"

TestSuite(wide, .timeout = 600);

enum { WORLD = 3 };

static tarn_launch_options on(int count)
{
    return (tarn_launch_options){ .devices = "0,0,0", .count = count, .timeout = 20 };
}

/* A buffer that differs in one bit of one replica, in either half of the element. */
static tarn_status differs_in_a_bit(tarn_replica *r, void *arg)
{
    const int64_t *bit = arg;
    const float w = 1;
    const tarn_tensor p = tarn_parameter(r, "w", TARN_SHAPE(1), &w);
    const tarn_tensor wide = tarn_buffer(r, "wide", TARN_SHAPE(3), TARN_I64, NULL);
    tarn_optimizer *sgd = tarn_sgd(r, (tarn_sgd_options){ .lr = 0.1f });
    tarn_status s = TARN_OK;
    for (int step = 1; step <= 3 && s == TARN_OK; step++) {
        const int64_t now[] = { 5, step == 2 && tarn_rank(r) == 1 ? *bit : 0, 7 };
        if (step <= 2) /* what differs stays for whoever looks again */
            tarn_assign(wide, tarn_from(r, TARN_SHAPE(3), TARN_I64, now));
        tarn_minimize(sgd, tarn_sum(tarn_mul(p, p), TARN_ALL, false));
        s = tarn_step(r);
    }
    return s == TARN_OK ? tarn_wait(r) : s;
}

static void expect_weights(tarn_status s, const char *text)
{
    cr_expect_eq(s, TARN_ERR_WEIGHTS, "%s", tarn_status_name(s));
    cr_expect_not_null(strstr(tarn_error(NULL), text), "no \"%s\" in: %s", text, tarn_error(NULL));
}

Test(wide, weights_of_64_bits_are_compared_in_both_halves)
{
    for (int k = 0; k < 2; k++) {
        int64_t bit = k == 0 ? 1 : INT64_C(1) << 62;
        expect_weights(tarn_launch(differs_in_a_bit, &bit, on(2)),
                       k == 0 ? "step 3: wide [3] element 1 is 0x0000000000000000 on rank 0 and "
                                "0x0000000000000001 on rank 1"
                              : "step 3: wide [3] element 1 is 0x0000000000000000 on rank 0 and "
                                "0x4000000000000000 on rank 1");
    }
}

/* Of the sum of all replicas' losses. */
static tarn_status mean_of_doubles(tarn_replica *r, void *arg)
{
    double *out = (double *)arg + 2 * tarn_rank(r);
    const double x = 1.0 / 3 + tarn_rank(r);
    const tarn_tensor t = tarn_from(r, TARN_SHAPE(1), TARN_F64, &x);
    const tarn_tensor mean = tarn_all_reduce(t, TARN_MEAN);
    tarn_tensor slope;
    tarn_gradients(tarn_sum(tarn_mul(mean, mean), TARN_ALL, false), &t, 1, &slope);
    if (tarn_read(mean, out, sizeof *out) != TARN_OK)
        return tarn_error_status(r);
    return tarn_read(slope, out + 1, sizeof *out);
}

Test(wide, means_of_doubles_and_their_gradients)
{
    double got[2 * WORLD];
    cr_assert_eq(tarn_launch(mean_of_doubles, got, on(WORLD)), TARN_OK, "%s", tarn_error(NULL));
    const double x[] = { 1.0 / 3, 1.0 / 3 + 1, 1.0 / 3 + 2 };
    const double mean = (x[0] + x[1] + x[2]) * (1.0 / WORLD);
    for (int rank = 0; rank < WORLD; rank++) {
        cr_expect_eq(got[2 * rank], mean, "%a", got[2 * rank]);
        cr_expect_float_eq(got[2 * rank + 1], 2 * mean, 4 * 0x1p-52, "%a", got[2 * rank + 1]);
    }
}
