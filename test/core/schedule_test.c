/* SPDX-License-Identifier: Apache-2.0 */
/* The schedule changes no bit: training steps scheduled for a CPU and for a GPU leave the same
 * weights. Without exp and its like, whose bits are the driver's own and may differ between scalars
 * and vectors. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tarn.h"
#include "train_trace.h"

enum { SIDE = 9, CLASSES = 3, MOST_BATCH = 300 };

struct net {
    tarn_conv2d conv1, conv2;
    tarn_batch_norm norm;
    tarn_linear hidden, out; /* wide enough for sums sample by sample, and not */
};

static struct net net_make(tarn_replica *r)
{
    struct net n;
    n.conv1 = tarn_conv2d_make(r, "conv1", 1, 6, 3,
                               (tarn_conv2d_options){ .padding = { 1, 1 }, .groups = 1 });
    n.norm = tarn_batch_norm_make(r, "norm", 6);
    n.conv2 = tarn_conv2d_make(r, "conv2", 6, 4, 3,
                               (tarn_conv2d_options){ .stride = { 2, 2 }, .groups = 1 });
    n.hidden = tarn_linear_make(r, "hidden", 4, 19);
    n.out = tarn_linear_make(r, "out", 19, CLASSES);
    return n;
}

static tarn_tensor net_loss(const void *net, tarn_tensor x, tarn_tensor y)
{
    const struct net *n = net;
    x = tarn_relu(tarn_max_pool2d(tarn_conv2d_forward(&n->conv1, x), 2));
    x = tarn_conv2d_forward(&n->conv2, tarn_batch_norm_forward(&n->norm, x));
    x = tarn_relu(tarn_linear_forward(&n->hidden, tarn_flatten(x, 1)));
    const tarn_tensor d = tarn_sub(tarn_linear_forward(&n->out, x), y);
    return tarn_mean(tarn_mul(d, d), TARN_ALL, false);
}

static struct trace *train(const char *schedule, const char *target, int batch)
{
    tarn_replica *r = trace_open(schedule, target);
    const struct net net = net_make(r);
    return trace_training(r, &net, net_loss, TARN_SHAPE(batch, 1, SIDE, SIDE),
                          TARN_SHAPE(batch, CLASSES));
}

/* 5 samples are no batch axis, 37 two blocks and a piece, 300 more blocks than rows of sums. */
Test(schedule, training, .timeout = 600)
{
    static const int batches[] = { 5, 37, MOST_BATCH };
    for (int b = 0; b < 3; b++) {
        struct trace *cpu = train("cpu", "", batches[b]), *gpu = train("gpu", "", batches[b]);
        cr_expect_eq(cpu->used, gpu->used);
        cr_expect_neq(cpu->launches, gpu->launches, "one schedule was taken twice");
        cr_expect_eq(memcmp(cpu->bytes, gpu->bytes, cpu->used), 0, "batch %d: bits differ",
                     batches[b]);
        printf("batch %d: %zu bytes, %llu launches for a CPU, %llu for a GPU\n", batches[b],
               cpu->used, (unsigned long long)cpu->launches, (unsigned long long)gpu->launches);
        free(cpu);
        free(gpu);
    }
}

/* Kernels for devices that are not here. */
Test(schedule, targets, .timeout = 600)
{
    static const char *const kinds[] = { "avx512", "avx2", "neon", "generic", "amd", "intel" };
    enum { BATCH = 37 };
    struct trace *here = train("auto", "", BATCH);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct trace *there = train("auto", kinds[i], BATCH);
        cr_expect_eq(here->used, there->used);
        cr_expect_eq(memcmp(here->bytes, there->bytes, here->used), 0, "%s: bits differ", kinds[i]);
        cr_expect(i < 4 || here->launches != there->launches, "%s: a CPU's kernels", kinds[i]);
        free(there);
    }
    free(here);
}

Test(schedule, unknown_target)
{
    cr_assert_eq(setenv("TARN_TARGET", "sse9", 1), 0);
    cr_expect_null(tarn_open(NULL));
    cr_expect_not_null(strstr(tarn_error(NULL), "TARN_TARGET=sse9"), "%s", tarn_error(NULL));
}

Test(schedule, unknown)
{
    cr_assert_eq(setenv("TARN_SCHEDULE", "fpga", 1), 0);
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    float x;
    cr_expect_eq(tarn_read(tarn_ones(r, TARN_SCALAR), &x, sizeof x), TARN_ERR_ENVIRONMENT);
    cr_expect_not_null(strstr(tarn_error(r), "TARN_SCHEDULE=fpga"), "%s", tarn_error(r));
    tarn_close(r);
}
