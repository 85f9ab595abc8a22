/* SPDX-License-Identifier: Apache-2.0 */
/* A profile tells of every kernel that runs, and counts operations and bytes as by hand. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tarn_profile.h"

struct seen {
    int runs;
    double flops, bytes;
    char names[512];
};

static void note(const tarn_kernel_run *run, void *user)
{
    struct seen *s = user;
    cr_expect_gt(run->seconds, 0, "%s took no time", run->name);
    cr_expect_neq(run->about[0], '\0', "%s does nothing", run->name);
    cr_expect(run->expected > 0 && run->expected < 1, "%s is expected to take %g s", run->name,
              run->expected);
    cr_expect_not_null(run->bound);
    s->runs++;
    s->flops += run->flops;
    s->bytes += run->bytes;
    strncat(s->names, run->name, 7);
    strncat(s->names, " ", 2);
}

static tarn_replica *open_device(void)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    return r;
}

static tarn_tensor kept(tarn_replica *r, tarn_shape shape)
{
    return tarn_keep(tarn_rand(r, shape));
}

static void step(tarn_replica *r)
{
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
}

/* Profiles a step that stores `value`; its shape must be that of `out`. */
static struct seen profile(tarn_replica *r, tarn_tensor out, tarn_tensor value)
{
    struct seen s = { 0 };
    tarn_assign(out, value);
    cr_assert_eq(tarn_profile(r, note, &s), TARN_OK, "%s", tarn_error(r));
    step(r);
    cr_assert_eq(tarn_profile(r, NULL, NULL), TARN_OK, "%s", tarn_error(r));
    cr_expect_eq((uint64_t)s.runs, tarn_metrics_get(r).launches_last_step);
    return s;
}

static void expect_near(const char *what, double got, double wanted, double most)
{
    cr_expect(got >= wanted && got <= most * wanted, "%s: %g instead of %g", what, got, wanted);
}

Test(profile, counts_a_map)
{
    tarn_replica *r = open_device();
    const tarn_tensor a = kept(r, TARN_SHAPE(128, 30)), b = kept(r, TARN_SHAPE(128, 30));
    const tarn_tensor out = kept(r, TARN_SHAPE(128, 30));
    step(r);
    const struct seen s = profile(r, out, tarn_add(a, b));
    cr_expect_eq(s.runs, 1);
    cr_expect_str_eq(s.names, "k0 ");
    cr_expect_eq(s.flops, 128 * 30, "%g operations", s.flops);
    cr_expect_eq(s.bytes, 3 * 4 * 128 * 30, "%g bytes", s.bytes);
    tarn_close(r);
}

Test(profile, counts_a_part_that_is_read_as_a_part)
{
    tarn_replica *r = open_device();
    const tarn_tensor a = kept(r, TARN_SHAPE(128, 300));
    const tarn_tensor out = kept(r, TARN_SHAPE(128, 20));
    step(r);
    const struct seen s = profile(r, out, tarn_relu(tarn_slice(a, 1, 30, 50, 1)));
    expect_near("bytes", s.bytes, 2 * 4 * 128 * 20, 1);
    tarn_close(r);
}

Test(profile, counts_a_product)
{
    tarn_replica *r = open_device();
    const double m = 128, n = 50, k = 320;
    const tarn_tensor x = kept(r, TARN_SHAPE(128, 320)), out = kept(r, TARN_SHAPE(128, 50));
    const tarn_tensor w = tarn_buffer(r, "w", TARN_SHAPE(320, 50), TARN_F32, NULL);
    step(r);
    const struct seen s = profile(r, out, tarn_matmul(x, w));
    expect_near("operations", s.flops, 2 * m * n * k, 1);
    /* Some schedules first copy the samples into blocks: written, and read once more. */
    const double operands = m * n + m * k + k * n;
    expect_near("bytes", s.bytes, 4 * operands, (operands + 2 * m * k) / operands);
    tarn_close(r);
}

/* Along one axis, pairs of a result and a tap that meet an element. */
static double pairs(int size, int window, int stride, int padding)
{
    int count = 0;
    for (int i = 0; i * stride + window <= size + 2 * padding; i++)
        for (int tap = 0; tap < window; tap++) {
            const int at = i * stride + tap - padding;
            count += at >= 0 && at < size;
        }
    return count;
}

Test(profile, leaves_out_the_padding_of_a_convolution)
{
    tarn_replica *r = open_device();
    const tarn_tensor x = kept(r, TARN_SHAPE(32, 3, 9, 9)), out = kept(r, TARN_SHAPE(32, 4, 5, 5));
    const tarn_tensor w = tarn_buffer(r, "w", TARN_SHAPE(4, 3, 5, 5), TARN_F32, NULL);
    const tarn_conv2d_options o = { .stride = { 2, 2 }, .padding = { 2, 2 } };
    step(r);
    const struct seen s = profile(r, out, tarn_conv2d_op(x, w, TARN_NONE, o));
    const double p = pairs(9, 5, 2, 2);
    expect_near("operations", s.flops, 2.0 * 32 * 3 * 4 * p * p, 1);
    tarn_close(r);
}

static float train(tarn_replica *r, const tarn_linear *fc, tarn_tensor x, tarn_optimizer *sgd)
{
    const tarn_tensor y = tarn_linear_forward(fc, x);
    const tarn_tensor loss = tarn_mean(tarn_mul(y, y), TARN_ALL, false);
    tarn_backward(loss);
    tarn_optimizer_step(sgd);
    const float value = tarn_item(loss);
    step(r);
    return value;
}

/* Losses of four training steps, of which the middle two are profiled or not. */
static void losses(bool profiled, float out[4])
{
    struct seen s = { 0 };
    tarn_replica *r = open_device();
    const tarn_tensor x = kept(r, TARN_SHAPE(64, 20));
    const tarn_linear fc = tarn_linear_make(r, "fc", 20, 10);
    tarn_optimizer *sgd = tarn_sgd(r, (tarn_sgd_options){ .lr = 0.1f });
    step(r);
    for (int i = 0; i < 4; i++) {
        if (profiled && (i == 1 || i == 3))
            cr_assert_eq(tarn_profile(r, i == 1 ? note : NULL, &s), TARN_OK, "%s", tarn_error(r));
        const int before = s.runs;
        out[i] = train(r, &fc, x, sgd);
        cr_expect_eq(s.runs > before, profiled && i > 0 && i < 3, "step %d: %d runs", i, s.runs);
    }
    tarn_close(r);
}

Test(profile, changes_no_result)
{
    float plain[4], profiled[4];
    losses(false, plain);
    losses(true, profiled);
    cr_expect_arr_eq(plain, profiled, sizeof plain);
    cr_expect_neq(plain[0], plain[3], "nothing was trained");
}
