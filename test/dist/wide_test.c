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

/* ---- training in float64 -------------------------------------------------------------------- */

enum {
    SAMPLES = 8,
    FEATURES = 5,
    TRAINING_STEPS = 4,
    WEIGHTS = 3 * FEATURES + 3 + 3 + 3 + 3 + 3 + 1
};

/* A third of an odd number: no float32. */
static double value_of(int i)
{
    return (double)(i * 37 % 41 - 20) / 3 * 0x1p-3;
}

struct trained {
    int rank; /* that differs by one bit, which no float32 has, before step 3; -1: none */
    double weights[WORLD][WEIGHTS];
};

static void read_weights(tarn_replica *r, double *out)
{
    for (int i = 0; i < tarn_owned_count(r); i++) {
        const tarn_owned o = tarn_owned_at(r, i);
        const size_t n = (size_t)tarn_shape_count(o.shape);
        if (o.dtype != TARN_F64)
            continue;
        if (tarn_read(o.tensor, out, n * sizeof *out) != TARN_OK)
            return;
        out += n;
    }
}

/* Each replica has its part of 8 samples; the statistics of the norm become the mean of all. */
static tarn_status trains(tarn_replica *r, void *arg)
{
    struct trained *t = arg;
    double x[SAMPLES * FEATURES];
    tarn_parameter_dtype(r, TARN_F64);
    tarn_linear fc = tarn_linear_make(r, "fc", FEATURES, 3);
    tarn_batch_norm norm = tarn_batch_norm_make(r, "norm", 3);
    const tarn_tensor scale = tarn_parameter_as(r, "scale", TARN_SCALAR, TARN_F64, &(double){ 1 });
    tarn_freeze(r, "scale", true);
    tarn_optimizer *adam = tarn_adam(r, (tarn_adam_options){ .lr = 0.1f });
    const int part = SAMPLES / tarn_world_size(r);
    tarn_status s = tarn_error_status(r);
    for (int step = 1; step <= TRAINING_STEPS && s == TARN_OK; step++) {
        for (int i = 0; i < part * FEATURES; i++)
            x[i] = value_of(i + (tarn_rank(r) * part + step) * FEATURES);
        if (step == 3 && t->rank >= 0) {
            const double one = tarn_rank(r) == t->rank ? 1 + 0x1p-52 : 1;
            tarn_assign(scale, tarn_from(r, TARN_SCALAR, TARN_F64, &one));
            if (tarn_step(r) != TARN_OK)
                break;
        }
        const tarn_tensor in = tarn_from(r, TARN_SHAPE(part, FEATURES), TARN_F64, x);
        const tarn_tensor y = tarn_batch_norm_forward(&norm, tarn_linear_forward(&fc, in));
        tarn_backward(tarn_mean(tarn_mul(tarn_sigmoid(y), tarn_mul(y, scale)), TARN_ALL, false));
        tarn_clip_grad_norm(r, 0.3f);
        tarn_optimizer_step(adam);
        s = tarn_step(r);
    }
    if (s == TARN_OK)
        read_weights(r, t->weights[tarn_rank(r)]);
    return s == TARN_OK ? tarn_wait(r) : s;
}

Test(wide, replicas_train_in_float64_with_equal_bits)
{
    struct trained two = { .rank = -1 }, again = { .rank = -1 };
    cr_assert_eq(tarn_launch(trains, &two, on(2)), TARN_OK, "%s", tarn_error(NULL));
    cr_assert_eq(tarn_launch(trains, &again, on(2)), TARN_OK, "%s", tarn_error(NULL));
    int finer = 0;
    for (int i = 0; i < WEIGHTS; i++) {
        finer += two.weights[0][i] != (double)(float)two.weights[0][i];
        cr_expect(memcmp(&two.weights[0][i], &two.weights[1][i], sizeof(double)) == 0, "%d", i);
        cr_expect(memcmp(&two.weights[0][i], &again.weights[0][i], sizeof(double)) == 0, "%d", i);
    }
    cr_expect(finer > WEIGHTS / 2, "%d", finer);
}

Test(wide, weights_of_float64_are_compared_with_their_gradients)
{
    struct trained t = { .rank = 1 };
    expect_weights(tarn_launch(trains, &t, on(2)),
                   "training step 3: scale [] element 0 is 0x3ff0000000000000 on rank 0 and "
                   "0x3ff0000000000001 on rank 1");
}
