/* SPDX-License-Identifier: Apache-2.0 */
/* What a loop keeps for its gradient lies in blocks of samples (run/loop_blocks.c): with the bits of what is computed
 * anew, whatever the schedule, also where a body has no samples as lanes, where gradients are asked for late or of
 * gradients. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tarn.h"
#include "tensor/random.h"

enum { STEPS = 5, HIDDEN = 20, MOST = 1 << 16 };

TestSuite(loop_blocks, .timeout = 900);

static int
    blocked; /* tensors of a kernel that are in blocks, and no memory of its own, as the log says */

static void count(tarn_log_level level, const char *text, void *user)
{
    (void)level, (void)user;
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *end = strchr(line, '\n'), *at = strstr(line, " blocked */");
        const char *owned = strstr(line, "(owned");
        blocked += end != NULL && at != NULL && owned != NULL && at < end && owned < end;
    }
}

struct body {
    tarn_tensor matrix, mix; /* mix: of samples with samples; none: they stay apart */
};

static void step(const tarn_tensor *carry, const tarn_tensor *x, tarn_tensor *next, tarn_tensor *y,
                 void *user)
{
    const struct body *b = user;
    tarn_tensor z = tarn_add(x[0], tarn_matmul(carry[0], b->matrix));
    if (b->mix.replica != NULL)
        z = tarn_matmul(b->mix, z);
    const tarn_tensor gate = tarn_sigmoid(tarn_slice(z, 1, 0, HIDDEN, 1)),
                      value = tarn_tanh(tarn_slice(z, 1, HIDDEN, 2 * HIDDEN, 1));
    next[0] =
        tarn_add(tarn_mul(gate, carry[0]), tarn_mul(tarn_add_scalar(tarn_neg(gate), 1), value));
    y[0] = tarn_mul(tarn_exp(next[0]), gate);
}

struct run {
    int samples;
    bool mixed, recompute, early, unsaid, twice;
    size_t count;
    float out[MOST];
};

static tarn_tensor numbers(tarn_replica *r, tarn_shape s, uint32_t serial)
{
    static float data[MOST];
    for (int i = 0; i < tarn_shape_count(s); i++)
        data[i] = (float)(random_u32(serial, (uint32_t)i) >> 8) / (1 << 22) - 2;
    return tarn_from(r, s, TARN_F32, data);
}

static void add_result(struct run *u, tarn_tensor t)
{
    const size_t n = (size_t)tarn_shape_count(tarn_shape_get(t));
    cr_assert_leq(u->count + n, MOST);
    cr_assert_eq(tarn_read(t, u->out + u->count, n * sizeof(float)), TARN_OK, "%s",
                 tarn_error(t.replica));
    u->count += n;
}

static void run(struct run *u)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    tarn_tensor x = numbers(r, TARN_SHAPE(u->samples, STEPS, 2 * HIDDEN), 1);
    if (!u->unsaid)
        x = tarn_batch_axis(x, 0);
    struct body b = { .matrix = numbers(r, TARN_SHAPE(HIDDEN, 2 * HIDDEN), 2) };
    if (u->mixed)
        b.mix = numbers(r, TARN_SHAPE(u->samples, u->samples), 3);
    const tarn_tensor first = numbers(r, TARN_SHAPE(u->samples, HIDDEN), 4);
    const tarn_scan_args args = { .body = step,
                                  .user = &b,
                                  .carry = &first,
                                  .carries = 1,
                                  .x = &x,
                                  .xs = 1,
                                  .ys = 1,
                                  .axis = 1,
                                  .keep = !u->recompute,
                                  .recompute = u->recompute };
    tarn_tensor last, y, with[3] = { x, b.matrix, first }, gradient[3];
    tarn_scan(r, &args, &last, &y);
    tarn_tensor loss =
        tarn_add(tarn_sum(tarn_mul(y, y), TARN_ALL, false), tarn_sum(last, TARN_ALL, false));
    u->count = 0;
    if (u->early)
        add_result(u, loss);
    tarn_gradients(loss, with, 3, gradient);
    if (u->twice)
        tarn_gradients(tarn_sum(tarn_mul(gradient[0], gradient[0]), TARN_ALL, false), with, 3,
                       gradient);
    if (!u->early)
        add_result(u, loss);
    add_result(u, y);
    for (int i = 0; i < 3; i++)
        add_result(u, gradient[i]);
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    tarn_close(r);
}

static void compare(struct run how, const char *what)
{
    static struct run seen, wanted;
    seen = how;
    run(&seen);
    wanted = how;
    wanted.early = false;
    wanted.recompute = !how.twice; /* whose terms come in another order */
    wanted.unsaid = how.twice;     /* in rows */
    run(&wanted);
    cr_expect_eq(seen.count, wanted.count);
    cr_expect_eq(memcmp(seen.out, wanted.out, seen.count * sizeof(float)), 0,
                 "%s, %d samples: not as without blocks", what, how.samples);
    cr_expect(isfinite(seen.out[seen.count - 1]));
    static const char *const schedule[] = { "cpu", "gpu" }, *const fuse[] = { "0", "1" };
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(setenv("TARN_SCHEDULE", schedule[i], 1), 0);
        cr_assert_eq(setenv("TARN_FUSE", fuse[i], 1), 0);
        wanted = how;
        run(&wanted);
        cr_expect_eq(memcmp(seen.out, wanted.out, seen.count * sizeof(float)), 0,
                     "%s, %d samples: not as by the schedule for a %s%s", what, how.samples,
                     schedule[i], i == 0 ? ", unfused" : "");
        cr_assert_eq(unsetenv("TARN_SCHEDULE"), 0);
        cr_assert_eq(unsetenv("TARN_FUSE"), 0);
    }
}

Test(loop_blocks, bits)
{
    static const int samples[] = { 16, 48, 24, 8 };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        compare((struct run){ .samples = samples[i] }, "apart");
        compare((struct run){ .samples = samples[i], .mixed = true }, "mixed");
    }
    compare((struct run){ .samples = 32, .early = true }, "read before");
    compare((struct run){ .samples = 32, .unsaid = true }, "no batch was named");
    compare((struct run){ .samples = 32, .twice = true }, "gradients of gradients");
}

static int blocked_with(struct run how)
{
    blocked = 0;
    run(&how);
    return blocked;
}

/* Each of three functions is kept: the loop writes it once, its gradient reads it. */
Test(loop_blocks, lies_in_blocks)
{
    cr_assert_eq(setenv("TARN_DEBUG", "kernels", 1), 0);
    cr_assert_eq(setenv("TARN_TARGET", "avx512:2", 1), 0);
    tarn_set_log(count, NULL);
    cr_expect_eq(blocked_with((struct run){ .samples = 32 }), 6, "%d", blocked);
    cr_expect_eq(blocked_with((struct run){ .samples = 24 }), 0, "lanes that would idle");
    cr_expect_eq(blocked_with((struct run){ .samples = 32, .unsaid = true }), 0, "no batch");
    cr_expect_eq(blocked_with((struct run){ .samples = 32, .early = true }), 0, "nothing was kept");
    tarn_set_log(NULL, NULL);
}

/* ---- looking into a gradient's loop ---------------------------------------------------------- */

static char said[4096];

static void hear(tarn_log_level level, const char *line, void *user)
{
    (void)level, (void)user;
    snprintf(said + strlen(said), sizeof said - strlen(said), "%s\n", line);
}

/* The square root of 0, whose gradient is none. */
static void root_step(const tarn_tensor *carry, const tarn_tensor *x, tarn_tensor *next,
                      tarn_tensor *y, void *user)
{
    (void)user;
    y[0] = tarn_sqrt(tarn_mul(x[0], x[0]));
    next[0] = tarn_add(carry[0], y[0]);
}

Test(loop_blocks, a_nan_is_found_where_it_is)
{
    static float data[32 * STEPS * HIDDEN];
    for (int i = 0; i < 32 * STEPS * HIDDEN; i++)
        data[i] = 1;
    data[(17 * STEPS + 3) * HIDDEN + 6] = 0;
    cr_assert_eq(setenv("TARN_DEBUG", "nan", 1), 0);
    tarn_set_log(hear, NULL);
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const tarn_tensor w = tarn_parameter(r, "w", TARN_SHAPE(HIDDEN), data);
    tarn_tensor last, y;
    tarn_optimizer *o = tarn_sgd(r, (tarn_sgd_options){ .lr = 0.1f });
    const tarn_tensor x = tarn_mul(
        tarn_batch_axis(tarn_from(r, TARN_SHAPE(32, STEPS, HIDDEN), TARN_F32, data), 0), w);
    const tarn_tensor first = tarn_zeros(r, TARN_SHAPE(32, HIDDEN));
    const tarn_scan_args args = { .body = root_step,
                                  .carry = &first,
                                  .carries = 1,
                                  .x = &x,
                                  .xs = 1,
                                  .ys = 1,
                                  .axis = 1,
                                  .keep = true };
    tarn_scan(r, &args, &last, &y);
    tarn_backward(tarn_add(tarn_sum(y, TARN_ALL, false), tarn_sum(last, TARN_ALL, false)));
    tarn_optimizer_step(o);
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    (void)tarn_wait(r);
    tarn_set_log(NULL, NULL);
    cr_expect_not_null(strstr(said, "in step 2 of 5 of a loop"), "%s", said);
    cr_expect_not_null(strstr(said, " at [17,6] of float32 [32,20]"), "%s", said);
    tarn_close(r);
}
