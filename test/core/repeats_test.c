/* SPDX-License-Identifier: Apache-2.0 */
/* Short sums that each group of their readers does for itself change no bit: training steps of batch norms, whose sums
 * are rows of partial sums or sums along lanes, have slices as wide as a group or wider, and are read by chains and by
 * rows of other sums. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tarn.h"
#include "train_trace.h"

enum { SIDE = 6, CLASSES = 3 };

struct net {
    tarn_conv2d conv[2];
    tarn_batch_norm norm[2];
    tarn_linear out;
};

static struct net net_make(tarn_replica *r, int channels)
{
    struct net n;
    const tarn_conv2d_options padded = { .padding = { 1, 1 }, .groups = 1 };
    n.conv[0] = tarn_conv2d_make(r, "conv0", 1, channels, 3, padded);
    n.norm[0] = tarn_batch_norm_make(r, "norm0", channels);
    n.conv[1] = tarn_conv2d_make(r, "conv1", channels, 5, 3, padded);
    n.norm[1] = tarn_batch_norm_make(r, "norm1", 5);
    n.out = tarn_linear_make(r, "out", 5, CLASSES);
    return n;
}

static tarn_tensor net_loss(const void *net, tarn_tensor x, tarn_tensor y)
{
    const struct net *n = net;
    for (int i = 0; i < 2; i++)
        x = tarn_relu(tarn_batch_norm_forward(&n->norm[i], tarn_conv2d_forward(&n->conv[i], x)));
    x = tarn_mean(x, TARN_AXES(2, 3), false);
    const tarn_tensor d = tarn_sub(tarn_linear_forward(&n->out, x), y);
    return tarn_mean(tarn_mul(d, d), TARN_ALL, false);
}

static struct trace *train(const char *schedule, const char *target, int batch, int channels)
{
    tarn_replica *r = trace_open(schedule, target);
    const struct net net = net_make(r, channels);
    return trace_training(r, &net, net_loss, TARN_SHAPE(batch, 1, SIDE, SIDE),
                          TARN_SHAPE(batch, CLASSES));
}

/* 24 channels are more than the teams of a group of 256, and six times those of one of 64. 1,100 samples are too many
 * for sums of lanes that go without rows. */
Test(repeats, training, .timeout = 900)
{
    static const struct {
        int batch, channels;
        const char *target;
    } cases[] = {
        { 37, 24, "nvidia:4x64" },
        { 160, 24, "nvidia:132" },
        { 160, 6, "nvidia:8x64" },
        { 1100, 32, "nvidia:40" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trace *cpu = train("cpu", "", cases[i].batch, cases[i].channels);
        struct trace *gpu = train("auto", cases[i].target, cases[i].batch, cases[i].channels);
        cr_expect_eq(cpu->used, gpu->used);
        cr_expect_eq(memcmp(cpu->bytes, gpu->bytes, cpu->used), 0, "batch %d for %s: bits differ",
                     cases[i].batch, cases[i].target);
        printf("batch %d, %d channels, %s: %zu bytes\n", cases[i].batch, cases[i].channels,
               cases[i].target, cpu->used);
        free(cpu);
        free(gpu);
    }
}

/* A number, lines that need it, of which there are more than a group has teams, and samples that need both: what the
 * samples repeat has been another chain's own. */
static void compute(const char *schedule, const char *target, float *out)
{
    enum { LINES = 40, LENGTH = 64, SAMPLES = 160 };
    cr_assert_eq(setenv("TARN_SCHEDULE", schedule, 1), 0);
    cr_assert_eq(setenv("TARN_TARGET", target, 1), 0);
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const tarn_tensor x = tarn_batch_axis(trace_numbers(r, TARN_SHAPE(SAMPLES, LINES), 1), 0);
    const tarn_tensor lines =
        tarn_batch_axis(trace_numbers(r, TARN_SHAPE(LINES, LENGTH), 2), TARN_NO_BATCH);
    const tarn_tensor some =
        tarn_batch_axis(trace_numbers(r, TARN_SHAPE(LENGTH), 3), TARN_NO_BATCH);
    const tarn_tensor number = tarn_sum(some, TARN_ALL, false);
    const tarn_tensor d = tarn_sub(lines, number);
    const tarn_tensor sums = tarn_sum(tarn_mul(d, d), TARN_AXES(1), false);
    const tarn_tensor y = tarn_add(tarn_mul(x, sums), number);
    cr_assert_eq(tarn_read(y, out, SAMPLES * LINES * sizeof *out), TARN_OK, "%s", tarn_error(r));
    tarn_close(r);
}

Test(repeats, of_what_another_chain_has, .timeout = 300)
{
    static const char *const targets[] = { "nvidia:8x64", "nvidia:132" };
    static float cpu[160 * 40], gpu[160 * 40];
    compute("cpu", "", cpu);
    for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
        compute("auto", targets[t], gpu);
        cr_expect_eq(memcmp(cpu, gpu, sizeof cpu), 0, "%s: bits differ", targets[t]);
    }
}
