/* SPDX-License-Identifier: Apache-2.0 */
/* Loops over fewer samples than a register has lanes (3_kernels/repeat.c): what is the same in all steps is made once,
 * one launch does all steps of the rest, and no bit is another one than unfused or by the schedule for GPUs. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tarn.h"
#include "tensor/random.h"

enum { STEPS = 12, INPUT = 8, HIDDEN = 128, MOST = 1 << 18 };

static void quickly(void)
{
    (void)setenv("TARN_QUICK", "1", 1);
}

TestSuite(loop_few, .init = quickly, .timeout = 900);

static int once, whole; /* kernels of loops, as the log says */

static void count(tarn_log_level level, const char *line, void *user)
{
    (void)level, (void)user;
    for (const char *at = line; (at = strstr(at, "all steps of a loop")) != NULL; at++) {
        const bool first = at - line >= 9 && strncmp(at - 9, "once for ", 9) == 0;
        once += first;
        whole += !first;
    }
}

/* Each sample's state comes from those of all. */
static void mix_samples(const tarn_tensor *carry, const tarn_tensor *x, tarn_tensor *next,
                        tarn_tensor *y, void *user)
{
    const tarn_tensor *with = user; /* samples, and features */
    const tarn_tensor mixed = tarn_matmul(with[0], carry[0]);
    next[0] = tarn_tanh(tarn_add(x[0], tarn_matmul(mixed, with[1])));
    y[0] = next[0];
}

static tarn_tensor lstm(tarn_replica *r, tarn_tensor x)
{
    const tarn_lstm layer =
        tarn_lstm_make(r, "lstm", INPUT, HIDDEN, (tarn_recurrent_options){ .batch_first = true });
    return tarn_lstm_forward(&layer, x, NULL, NULL).y;
}

static tarn_tensor gru(tarn_replica *r, tarn_tensor x)
{
    const tarn_gru layer =
        tarn_gru_make(r, "gru", INPUT, HIDDEN, (tarn_recurrent_options){ .batch_first = true });
    return tarn_gru_forward(&layer, x, NULL).y;
}

/* Groups of samples would have to wait for each other. */
static tarn_tensor mixing(tarn_replica *r, tarn_tensor x)
{
    const tarn_linear in = tarn_linear_make(r, "in", INPUT, HIDDEN);
    const tarn_linear next = tarn_linear_make(r, "next", HIDDEN, HIDDEN);
    const int n = tarn_shape_get(x).dim[0];
    const tarn_tensor first = tarn_zeros(r, TARN_SHAPE(n, HIDDEN)),
                      all = tarn_linear_forward(&in, x);
    tarn_tensor last, y,
        with[2] = { tarn_parameter_kaiming(r, "mix", TARN_SHAPE(n, n), 1),
                    tarn_transpose(next.weight, 0, 1) };
    const tarn_scan_args args = { .body = mix_samples,
                                  .user = with,
                                  .carry = &first,
                                  .carries = 1,
                                  .x = &all,
                                  .xs = 1,
                                  .ys = 1,
                                  .axis = 1 };
    tarn_scan(r, &args, &last, &y);
    return y;
}

static const struct program {
    const char *name;
    tarn_tensor (*made)(tarn_replica *r, tarn_tensor x);
    bool apart; /* each sample by itself */
} programs[] = { { "lstm", lstm, true }, { "gru", gru, true }, { "mixing", mixing, false } };

struct result {
    size_t count;
    uint64_t launches;
    float number[MOST];
};

/* What the program makes; trained, the gradient of the sum of its squares, too. */
static void run(const struct program *p, int samples, bool trained, const char *schedule,
                const char *fuse, struct result *out)
{
    static float data[16 * STEPS * INPUT];
    const tarn_shape s = TARN_SHAPE(samples, STEPS, INPUT);
    for (int i = 0; i < tarn_shape_count(s); i++)
        data[i] = (float)(random_u32(3, (uint32_t)i) >> 8) / (1 << 22) - 2;
    cr_assert_eq(setenv("TARN_SCHEDULE", schedule, 1), 0);
    cr_assert_eq(setenv("TARN_FUSE", fuse, 1), 0);
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    tarn_train(r, trained);
    const tarn_tensor x = tarn_batch_axis(tarn_from(r, s, TARN_F32, data), 0), y = p->made(r, x);
    tarn_tensor keep[2] = { y };
    if (trained)
        tarn_gradients(tarn_sum(tarn_mul(y, y), TARN_ALL, false), &x, 1, &keep[1]);
    for (int i = 0; i <= trained; i++)
        keep[i] = tarn_keep(keep[i]);
    cr_assert_eq(tarn_step(r), TARN_OK, "%s: %s", p->name, tarn_error(r));
    out->launches = tarn_metrics_get(r).launches_last_step;
    out->count = 0;
    for (int i = 0; i <= trained; i++) {
        const size_t n = (size_t)tarn_shape_count(tarn_shape_get(keep[i]));
        cr_assert_leq(out->count + n, MOST);
        cr_assert_eq(tarn_read(keep[i], out->number + out->count, n * sizeof(float)), TARN_OK, "%s",
                     tarn_error(r));
        out->count += n;
    }
    tarn_close(r);
}

static void compare(const struct program *p, int samples, bool trained)
{
    static struct result seen, wanted;
    run(p, samples, trained, "cpu", "1", &seen);
    const uint64_t launches = seen.launches;
    run(p, samples, trained, "gpu", "1", &wanted);
    cr_expect_eq(seen.count, wanted.count);
    cr_expect_eq(memcmp(seen.number, wanted.number, seen.count * sizeof(float)), 0,
                 "%s, %d samples: not as for a GPU", p->name, samples);
    run(p, samples, trained, "cpu", "0", &wanted);
    cr_expect_eq(memcmp(seen.number, wanted.number, seen.count * sizeof(float)), 0,
                 "%s, %d samples: not as unfused", p->name, samples);
    printf("%s, %d samples: %llu launches, %llu unfused\n", p->name, samples,
           (unsigned long long)launches, (unsigned long long)wanted.launches);
}

Test(loop_few, bits)
{
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        compare(&programs[i], 1, false);
        compare(&programs[i], 6, false);
        compare(&programs[i], 8, true);
        compare(&programs[i], 15, false);
    }
}

/* A weight is turned over once, not in each step, where it is large enough to be worth a launch; and steps of samples that
 * stay apart are one launch. */
Test(loop_few, once_for_all_steps)
{
    static struct result seen;
    static const int samples[] = { 1, 2, 8, 15 };
    cr_assert_eq(setenv("TARN_DEBUG", "fuse", 1), 0);
    cr_assert_eq(setenv("TARN_TARGET", "avx512:2", 1), 0);
    tarn_set_log(count, NULL);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        for (size_t k = 0; k < sizeof samples / sizeof *samples; k++) {
            once = whole = 0;
            run(&programs[i], samples[k], false, "cpu", "1", &seen);
            cr_expect_eq(once, programs[i].apart, "%s, %d samples: %d kernels for all steps",
                         programs[i].name, samples[k], once);
            cr_expect(whole == 1 || !programs[i].apart, "%s, %d samples: launches for each step",
                      programs[i].name, samples[k]);
        }
    tarn_set_log(NULL, NULL);
}
