/* SPDX-License-Identifier: Apache-2.0 */
/* Chains of nests over row-major values (3_kernels/row_chains.c): attention, norms and what shifts rows, in few launches
 * and with the bits of a kernel for each op, and of the schedule for GPUs, which has chains of its own. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile/target.h"
#include "figures.h"
#include "tarn.h"
#include "tensor/random.h"

enum { MOST = 1 << 19 };

/* x [N, T, C] by a weight of C x `to`: what comes of it lies in rows. */
static tarn_tensor project(tarn_tensor x, int to)
{
    const tarn_shape s = tarn_shape_get(x);
    const tarn_tensor w = tarn_sub(tarn_rand(x.replica, TARN_SHAPE(s.dim[2], to)),
                                   tarn_full(x.replica, TARN_SCALAR, 0.5f));
    const tarn_tensor bias = tarn_rand(x.replica, TARN_SHAPE(to));
    const tarn_tensor all = tarn_reshape(x, TARN_SHAPE(s.dim[0] * s.dim[1], s.dim[2]));
    return tarn_add(tarn_matmul(all, w), bias);
}

/* Weights by sums and maxima in place of soft-max, whose exp may have other bits in other registers. */
static tarn_tensor attend(tarn_tensor x, int heads, int size, bool causal)
{
    const tarn_shape s = tarn_shape_get(x);
    tarn_tensor part[3];
    const tarn_tensor all = project(x, 3 * heads * size);
    for (int i = 0; i < 3; i++) {
        const tarn_tensor one = tarn_slice(all, 1, i * heads * size, (i + 1) * heads * size, 1);
        const tarn_shape split = TARN_SHAPE(s.dim[0], s.dim[1], heads, size);
        part[i] = tarn_permute(tarn_reshape(one, split), TARN_AXES(0, 2, 1, 3));
    }
    tarn_tensor scores = tarn_matmul(part[0], tarn_transpose(part[1], 2, 3));
    if (causal) {
        const tarn_tensor at = tarn_arange(x.replica, s.dim[1]);
        const tarn_tensor seen = tarn_le(at, tarn_reshape(at, TARN_SHAPE(s.dim[1], 1)));
        scores = tarn_where(seen, scores, tarn_full(x.replica, TARN_SCALAR, -1000.0f));
    }
    const tarn_tensor least = tarn_sub(scores, tarn_max(scores, TARN_AXES(3), true));
    const tarn_tensor weights = tarn_relu(tarn_add_scalar(least, 4.0f));
    const tarn_tensor parts = tarn_div(weights, tarn_sum(weights, TARN_AXES(3), true));
    const tarn_tensor joined = tarn_permute(tarn_matmul(parts, part[2]), TARN_AXES(0, 2, 1, 3));
    return project(tarn_reshape(joined, TARN_SHAPE(s.dim[0], s.dim[1], heads * size)), 16);
}

static tarn_tensor causal(tarn_tensor x)
{
    return attend(x, 2, 8, true);
}

static tarn_tensor odd_heads(tarn_tensor x)
{
    return attend(x, 3, 20, false);
}

static tarn_tensor wide_head(tarn_tensor x)
{
    return attend(x, 1, 80, true);
}

/* Norms of rows between products. */
static tarn_tensor norms(tarn_tensor x)
{
    const tarn_shape s = tarn_shape_get(x);
    const tarn_tensor scale = tarn_rand(x.replica, TARN_SHAPE(s.dim[2]));
    tarn_tensor y = tarn_reshape(x, TARN_SHAPE(s.dim[0] * s.dim[1], s.dim[2]));
    for (int i = 0; i < 2; i++) {
        const tarn_tensor all = tarn_relu(project(tarn_reshape(y, s), s.dim[2]));
        y = tarn_add(y, tarn_layer_norm_op(all, scale, TARN_NONE, 1e-5f));
    }
    return y;
}

/* Each sample's rows and those of the sample before, which is another group's. */
static tarn_tensor shifted(tarn_tensor x)
{
    const tarn_shape s = tarn_shape_get(x);
    tarn_tensor y = tarn_reshape(project(x, 32), TARN_SHAPE(s.dim[0], s.dim[1], 32));
    for (int i = 0; i < 2; i++) {
        const tarn_tensor sums = tarn_sum(tarn_relu(y), TARN_AXES(2), true);
        const tarn_tensor before = tarn_slice(
            tarn_pad(sums, TARN_SHAPE(1, 0, 0), TARN_SHAPE(0, 0, 0), 0.5f), 0, 0, s.dim[0], 1);
        y = tarn_add(y, tarn_mul_scalar(before, 0.25f));
    }
    return y;
}

static const struct program {
    const char *name;
    tarn_tensor (*made)(tarn_tensor x);
    int n, t, c;
    unsigned launches; /* at most */
} programs[] = {
    { "causal", causal, 32, 70, 24, 8 },      { "odd heads", odd_heads, 18, 33, 40, 8 },
    { "wide head", wide_head, 6, 97, 64, 9 }, { "norms", norms, 40, 24, 128, 14 },
    { "shifted", shifted, 64, 48, 64, 8 },
};

/* What the program makes, with products of a type, and the gradient of the sum of its squares; returns how many numbers. */
static size_t run(const struct program *p, tarn_dtype products, const char *schedule,
                  const char *fuse, float *out, uint64_t *launches)
{
    static float x[MOST];
    const tarn_shape s = TARN_SHAPE(p->n, p->t, p->c);
    for (int i = 0; i < tarn_shape_count(s); i++)
        x[i] = (float)(random_u32(7, (uint32_t)i) >> 8) / (1 << 22) - 2;
    cr_assert_eq(setenv("TARN_SCHEDULE", schedule, 1), 0);
    cr_assert_eq(setenv("TARN_FUSE", fuse, 1), 0);
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    if (products != TARN_F32)
        tarn_autocast(r, products);
    const tarn_tensor in = tarn_batch_axis(tarn_from(r, s, TARN_F32, x), 0);
    const tarn_tensor y = tarn_cast(p->made(in), TARN_F32);
    const size_t first = (size_t)tarn_shape_count(tarn_shape_get(y));
    const size_t all = first + (size_t)tarn_shape_count(s);
    tarn_tensor g;
    cr_assert_leq(all, MOST);
    tarn_gradients(tarn_sum(tarn_mul(y, y), TARN_ALL, false), &in, 1, &g);
    const tarn_tensor kept_y = tarn_keep(y), kept_g = tarn_keep(g);
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    *launches = tarn_metrics_get(r).launches_last_step;
    cr_assert_eq(tarn_read(kept_y, out, first * sizeof *out), TARN_OK, "%s", tarn_error(r));
    cr_assert_eq(tarn_read(kept_g, out + first, (all - first) * sizeof *out), TARN_OK, "%s",
                 tarn_error(r));
    tarn_close(r);
    return all;
}

Test(rows, bits, .timeout = 600)
{
    static float wanted[MOST], seen[MOST];
    uint64_t apart, launches;
    cr_assert_eq(setenv("TARN_QUICK", "1", 1), 0);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        const struct program *p = &programs[i];
        const size_t count = run(p, TARN_F32, "gpu", "1", wanted, &apart);
        cr_expect_eq(run(p, TARN_F32, "cpu", "1", seen, &launches), count);
        cr_expect_eq(memcmp(seen, wanted, count * sizeof *seen), 0, "%s: not as for a GPU",
                     p->name);
        cr_expect_leq(launches, p->launches, "%s: %llu launches", p->name,
                      (unsigned long long)launches);
        cr_expect_eq(run(p, TARN_F32, "cpu", "0", wanted, &apart), count);
        cr_expect_eq(memcmp(seen, wanted, count * sizeof *seen), 0, "%s: not as unfused", p->name);
        printf("%s: %llu launches, %llu unfused\n", p->name, (unsigned long long)launches,
               (unsigned long long)apart);
    }
}

/* Of half types: in whichever form they lie between kernels and within one. */
Test(rows, bits_of_halves, .timeout = 600)
{
    static float wanted[MOST], seen[MOST];
    uint64_t launches;
    cr_assert_eq(setenv("TARN_QUICK", "1", 1), 0);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        const struct program *p = &programs[i];
        const tarn_dtype products = i % 2 == 0 ? TARN_BF16 : TARN_F16;
        const size_t count = run(p, products, "gpu", "1", wanted, &launches);
        cr_expect_eq(run(p, products, "cpu", "1", seen, &launches), count);
        cr_expect_eq(memcmp(seen, wanted, count * sizeof *seen), 0, "%s: not as for a GPU",
                     p->name);
        cr_expect_eq(run(p, products, "cpu", "0", wanted, &launches), count);
        cr_expect_eq(memcmp(seen, wanted, count * sizeof *seen), 0, "%s: not as unfused", p->name);
    }
}

/* ---- products in chains ------------------------------------------------------------------------ */

enum { SAMPLES = 16, ROWS = 64, WIDTH = 64, BLOCK_LAUNCHES = 12 };

/* A training step of so many transformer blocks: the launches, and a weight after it. */
static uint64_t train(int samples, int blocks, const char *gemm, float *out)
{
    static const tarn_transformer_block_options causal_block = { .heads = 2, .causal = true };
    static float x[SAMPLES * ROWS * WIDTH];
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        x[i] = (float)(random_u32(7, (uint32_t)i) >> 8) / (1 << 23) - 1;
    cr_assert_eq(setenv("TARN_GEMM", gemm, 1), 0);
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const tarn_tensor in =
        tarn_batch_axis(tarn_from(r, TARN_SHAPE(samples, ROWS, WIDTH), TARN_F32, x), 0);
    tarn_transformer_block block = { 0 };
    tarn_tensor y = in;
    for (int i = 0; i < blocks; i++) {
        char name[24];
        snprintf(name, sizeof name, "block%d", i);
        block = tarn_transformer_block_make(r, name, WIDTH, causal_block);
        y = tarn_transformer_block_forward(&block, y, TARN_NONE);
    }
    tarn_optimizer *sgd = tarn_sgd(r, (tarn_sgd_options){ .lr = 0.1f });
    tarn_backward(tarn_mean(tarn_mul(y, y), TARN_ALL, false));
    tarn_optimizer_step(sgd);
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    const uint64_t launches = tarn_metrics_get(r).launches_last_step;
    cr_assert_eq(tarn_read(block.attention.in_weight, out, 3 * WIDTH * WIDTH * sizeof *out),
                 TARN_OK, "%s", tarn_error(r));
    tarn_close(r);
    return launches;
}

/* Where products are nests of a chain, a block takes fewer launches, and no bit is another one. */
Test(rows, products, .timeout = 600)
{
    static float nests[3 * WIDTH * WIDTH], apart[3 * WIDTH * WIDTH];
    cr_assert_eq(setenv("TARN_QUICK", "1", 1), 0);
    const uint64_t one = train(SAMPLES, 1, "auto", nests), three = train(SAMPLES, 3, "auto", nests);
    const uint64_t own = train(SAMPLES, 3, "tarn", apart);
    printf("1 block %llu launches, 3 blocks %llu; %llu with products of their own\n",
           (unsigned long long)one, (unsigned long long)three, (unsigned long long)own);
    cr_expect_eq(memcmp(nests, apart, sizeof nests), 0);
    cr_expect_leq(three - one, 2 * BLOCK_LAUNCHES);
    cr_expect_geq(own - three, 3 * 5);
}

static void expect_training(int samples, const char *schedule, const char *target, const char *fuse,
                            const float *wanted)
{
    static float seen[3 * WIDTH * WIDTH];
    cr_assert_eq(setenv("TARN_SCHEDULE", schedule, 1), 0);
    cr_assert_eq(setenv("TARN_TARGET", target, 1), 0);
    cr_assert_eq(setenv("TARN_FUSE", fuse, 1), 0);
    (void)train(samples, 2, "nest", seen);
    cr_expect_eq(memcmp(seen, wanted, sizeof seen), 0, "%d samples, %s %s, fuse %s", samples,
                 schedule, target, fuse);
}

/* Values of [samples, rows, features] are rows all the way, whether or not samples fill blocks of 16, and all devices agree
 * about it. */
Test(rows, all_the_way, .timeout = 1800)
{
    static float wanted[3 * WIDTH * WIDTH];
    static const int samples[] = { 10, SAMPLES };
    uint64_t seen[2];
    cr_assert_eq(setenv("TARN_QUICK", "1", 1), 0);
    for (int i = 0; i < 2; i++) {
        seen[i] = train(samples[i], 2, "nest", wanted);
        cr_expect_leq(seen[i], 2 * BLOCK_LAUNCHES, "%d samples: %llu launches", samples[i],
                      (unsigned long long)seen[i]);
        expect_training(samples[i], "cpu", "avx512", "1", wanted);
        if (i == 0)
            expect_training(samples[i], "cpu", "neon", "1", wanted);
        else
            expect_training(samples[i], "cpu", "avx2", "0", wanted);
        expect_training(samples[i], "gpu", "", "1", wanted);
        cr_assert_eq(setenv("TARN_SCHEDULE", "", 1), 0);
        cr_assert_eq(setenv("TARN_TARGET", "", 1), 0);
        cr_assert_eq(setenv("TARN_FUSE", "1", 1), 0);
    }
    cr_expect_eq(seen[0], seen[1], "blocks of samples take more launches");
}

enum { WIDE = 512, INNER = 2048, FEW = 8 };

/* The gradient of a layer of INNER features for rows that the program keeps. */
static void train_wide(const char *fuse, float *gradient)
{
    cr_assert_eq(setenv("TARN_FUSE", fuse, 1), 0);
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const tarn_tensor kept = tarn_keep(tarn_randn(r, TARN_SHAPE(FEW, ROWS, WIDE)));
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    const tarn_linear in = tarn_linear_make(r, "in", WIDE, INNER),
                      out = tarn_linear_make(r, "out", INNER, WIDE);
    const tarn_tensor x = tarn_batch_axis(kept, 0);
    const tarn_tensor inner = tarn_gelu(tarn_linear_forward(&in, x));
    const tarn_tensor y = tarn_add(x, tarn_linear_forward(&out, inner));
    const tarn_tensor to[2] = { x, in.weight };
    tarn_tensor g[2];
    tarn_gradients(tarn_mean(tarn_mul(y, y), TARN_ALL, false), to, 2, g);
    const tarn_tensor of_x = tarn_keep(g[0]), of_weight = tarn_keep(g[1]);
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    cr_assert_eq(tarn_read(of_weight, gradient, (size_t)INNER * WIDE * sizeof *gradient), TARN_OK,
                 "%s", tarn_error(r));
    tarn_drop(of_x);
    tarn_close(r);
}

/* One kernel copies a block of samples in parts and has nests that groups share by rows. */
Test(rows, beside_a_block_in_parts, .timeout = 300)
{
    static float fused[INNER * WIDE], single[INNER * WIDE];
    cr_assert_eq(setenv("TARN_QUICK", "1", 1), 0);
    train_wide("1", fused);
    train_wide("0", single);
    cr_expect_eq(memcmp(fused, single, sizeof fused), 0);
}

/* What decides it: a launch and what goes through memory, against panels that a nest does not have. */
Test(rows, product_cost)
{
    struct device_figures f;
    cr_assert(figures_kind("avx512", &f));
    struct target t = target_of(&f);
    t.fuse = true;
    struct product_shape s = { .m = 2048, .n = 512, .k = 128, .batch = 1, .sample_rows = 64 };
    cr_expect(product_joins_chain(&t, &s));
    s.sample_rows = 0;
    cr_expect_not(product_joins_chain(&t, &s), "no samples");
    s.sample_rows = 64;
    t.fuse = false;
    cr_expect_not(product_joins_chain(&t, &s), "nothing is fused");
    t.fuse = true;
    s.n = s.k = 4096;
    cr_expect_not(product_joins_chain(&t, &s), "a matrix that no second cache holds");
}
