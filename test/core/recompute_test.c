/* SPDX-License-Identifier: Apache-2.0 */
/* Values that are computed again for their gradients: the same bits as values that are kept, in less memory. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "first.h"
#include "tarn.h"

TestSuite(recompute, .timeout = 600);

enum { SAMPLES = 16, LENGTH = 16, WIDTH = 16, LAYERS = 4, STEPS = 2, MOST = 1 << 16 };
enum net { BLOCKS, IMAGES, LOOP, PLAIN };

struct run {
    enum net net;
    bool again, low, two; /* regions; bfloat16; a second walk back over the same regions */
    float *weights;       /* after the steps */
    size_t count;
    size_t budget;
    uint64_t memory; /* bytes that the steps were expected to need */
};

struct layers {
    tarn_transformer_block block[LAYERS];
    tarn_conv2d conv[LAYERS];
    tarn_batch_norm norm[LAYERS];
    tarn_lstm lstm;
    tarn_embedding_layer words;
    tarn_linear linear[2];
};

static void make(tarn_replica *r, enum net net, struct layers *n)
{
    char name[32];
    for (int i = 0; i < LAYERS && net <= IMAGES; i++) {
        snprintf(name, sizeof name, "layer.%d", i);
        if (net == BLOCKS)
            n->block[i] = tarn_transformer_block_make(
                r, name, WIDTH,
                (tarn_transformer_block_options){ .heads = 2, .causal = true, .dropout = 0.2f });
        else
            n->conv[i] = tarn_conv2d_make(r, name, i == 0 ? 1 : 4, 4, 3,
                                          (tarn_conv2d_options){ .padding = { 1, 1 } });
        if (net == IMAGES) {
            snprintf(name, sizeof name, "norm.%d", i);
            n->norm[i] = tarn_batch_norm_make(r, name, 4);
        }
    }
    if (net == LOOP)
        n->lstm = tarn_lstm_make(r, "lstm", WIDTH, WIDTH,
                                 (tarn_recurrent_options){ .batch_first = true });
    n->words = tarn_embedding_make(r, "words", 32, WIDTH);
    n->linear[0] = tarn_linear_make(r, "first", WIDTH, WIDTH);
    n->linear[1] = tarn_linear_make(r, "last", net == IMAGES ? 4 * 64 : WIDTH, 1);
}

static void begin(tarn_replica *r, const struct run *run)
{
    if (run->again)
        tarn_recompute_begin(r);
}

static void end(tarn_replica *r, const struct run *run)
{
    if (run->again)
        tarn_recompute_end(r);
}

static tarn_tensor forward(tarn_replica *r, const struct run *run, const struct layers *n)
{
    static int32_t seen[SAMPLES * LENGTH];
    for (int i = 0; i < SAMPLES * LENGTH; i++)
        seen[i] = i * 7 % 32;
    begin(r, run); /* of leaves alone */
    tarn_tensor h = tarn_embedding_forward(
        &n->words, tarn_from(r, TARN_SHAPE(SAMPLES, LENGTH), TARN_I32, seen));
    if (run->net == IMAGES)
        h = tarn_reshape(tarn_slice(tarn_concat((tarn_tensor[]){ h, h }, 2, 1), 1, 0, 4, 1),
                         TARN_SHAPE(SAMPLES, 1, 8, 8));
    end(r, run);
    for (int i = 0; i < LAYERS && run->net <= IMAGES; i++) {
        begin(r, run);
        if (run->net == BLOCKS)
            h = tarn_transformer_block_forward(&n->block[i], h, TARN_NONE);
        else
            h = tarn_dropout(tarn_relu(tarn_batch_norm_forward(
                                 &n->norm[i], tarn_conv2d_forward(&n->conv[i], h))),
                             0.25f);
        end(r, run);
    }
    begin(r, run);
    if (run->net == LOOP) {
        h = tarn_lstm_forward(&n->lstm, tarn_tanh(h), NULL, NULL).y;
        h = tarn_tanh(tarn_linear_forward(&n->linear[0], h));
    }
    for (int i = 0; i < 2 && run->net == PLAIN; i++)
        h = tarn_exp(tarn_neg(tarn_abs(tarn_linear_forward(&n->linear[0], h))));
    end(r, run);
    return tarn_mean(
        tarn_linear_forward(&n->linear[1], tarn_flatten(h, run->net == IMAGES ? 1 : 2)), TARN_ALL,
        false);
}

static void train(struct run *run)
{
    tarn_replica *r = open_first();
    struct layers n;
    memset(&n, 0, sizeof n);
    tarn_seed(r, 3);
    make(r, run->net, &n);
    tarn_recompute_budget(r, run->budget);
    tarn_optimizer *adam = tarn_adam(r, (tarn_adam_options){ .lr = 0.01f });
    for (int s = 0; s < STEPS; s++) {
        if (run->low)
            tarn_autocast(r, TARN_BF16);
        const tarn_tensor loss = forward(r, run, &n);
        if (run->low)
            tarn_autocast_end(r);
        tarn_backward(loss);
        if (run->two)
            tarn_backward(tarn_mul(loss, loss));
        tarn_optimizer_step(adam);
        cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    }
    run->memory = tarn_metrics_get(r).device_bytes_expected;
    run->weights = calloc(MOST, sizeof *run->weights);
    for (int i = 0; i < tarn_owned_count(r); i++) {
        const tarn_owned o = tarn_owned_at(r, i);
        const size_t count = (size_t)tarn_shape_count(o.shape);
        cr_assert_leq(run->count + count, (size_t)MOST);
        cr_assert_eq(tarn_read(o.tensor, run->weights + run->count, count * sizeof(float)), TARN_OK,
                     "%s", tarn_error(r));
        run->count += count;
    }
    tarn_close(r);
}

/* How much of the memory without regions those with them need. */
static double compare(struct run kept)
{
    struct run again = kept;
    again.again = true;
    train(&kept);
    train(&again);
    cr_assert_gt(kept.count, 0);
    cr_assert_eq(kept.count, again.count);
    cr_expect_eq(memcmp(kept.weights, again.weights, kept.count * sizeof *kept.weights), 0,
                 "other bits");
    free(kept.weights);
    free(again.weights);
    return (double)again.memory / (double)kept.memory;
}

Test(recompute, blocks_with_dropout_have_the_same_bits_in_less_memory)
{
    const double part = compare((struct run){ .net = BLOCKS });
    cr_expect_lt(part, 0.7, "%g of the memory", part);
}

Test(recompute, convolutions_norms_and_pictures)
{
    compare((struct run){ .net = IMAGES });
}

Test(recompute, half_types)
{
    compare((struct run){ .net = BLOCKS, .low = true });
}

Test(recompute, what_a_loop_puts_out_is_kept)
{
    compare((struct run){ .net = LOOP });
}

enum { COUNT = 24, CHANNELS = 12, TAPS = CHANNELS * 3 * 3 * 3 };

/* The gradient of the first weights of convolutions whose results are a loop's steps. */
static void gradient_before_loop(bool again, bool said, float out[TAPS])
{
    static float pixels[COUNT * 3 * 9 * 7];
    const struct run run = { .again = again };
    tarn_replica *r = open_first();
    for (size_t i = 0; i < sizeof pixels / sizeof *pixels; i++)
        pixels[i] = (float)(i * 37 % 101) / 50 - 1;
    tarn_seed(r, 3);
    tarn_tensor x = tarn_from(r, TARN_SHAPE(COUNT, 3, 9, 7), TARN_F32, pixels);
    if (said)
        x = tarn_batch_axis(x, 0);
    begin(r, &run);
    x = tarn_use_conv2d(x, "first", CHANNELS, 3, (tarn_conv2d_options){ .padding = { 1, 1 } });
    x = tarn_silu(tarn_use_group_norm(x, "norm", 3));
    end(r, &run);
    begin(r, &run);
    x = tarn_relu(tarn_use_conv2d(x, "second", 8, 3, (tarn_conv2d_options){ .stride = { 2, 2 } }));
    x = tarn_permute(tarn_reshape(x, TARN_SHAPE(COUNT, 8, 12)), TARN_AXES(0, 2, 1));
    x = tarn_use_linear(x, "third", 16);
    end(r, &run);
    x = tarn_use_gru(x, "loop", 13, (tarn_recurrent_options){ .batch_first = true }, NULL).y;
    const tarn_tensor loss = tarn_mean(tarn_mul(x, x), TARN_ALL, false);
    tarn_tensor weight = TARN_NONE, g;
    for (int i = 0; i < tarn_owned_count(r); i++)
        if (strcmp(tarn_owned_name(r, i), "first.weight") == 0)
            weight = tarn_owned_at(r, i).tensor;
    tarn_gradients(loss, &weight, 1, &g);
    cr_assert_eq(tarn_read(g, out, TAPS * sizeof *out), TARN_OK, "%s", tarn_error(r));
    tarn_close(r);
}

/* What a graph leaves to the one behind the loop are samples to both, whether the program says which axis they are or not:
 * else sums over them have another order, and convolutions none of their lanes. */
Test(recompute, samples_before_a_loop_are_samples_behind_it)
{
    static float wanted[TAPS], seen[TAPS];
    gradient_before_loop(false, true, wanted);
    for (int i = 0; i < 3; i++) {
        gradient_before_loop(i % 2 == 1, i / 2 == 1, seen);
        cr_expect_eq(memcmp(seen, wanted, sizeof seen), 0, "%d", i);
    }
}

Test(recompute, two_walks_back_compute_it_twice)
{
    compare((struct run){ .net = PLAIN, .two = true });
}

/* Between all values and none of the regions', with the bits of both. */
Test(recompute, a_budget_keeps_what_fits)
{
    struct run kept = { .net = BLOCKS }, again = { .net = BLOCKS, .again = true };
    train(&kept);
    train(&again);
    const size_t most = kept.memory, least = again.memory;
    const size_t budgets[] = { 2 * most, least + 3 * (most - least) / 4, least + (most - least) / 2,
                               1 };
    size_t before = SIZE_MAX;
    for (int i = 0; i < 4; i++) {
        struct run some = { .net = BLOCKS, .again = true, .budget = budgets[i] };
        train(&some);
        cr_expect(some.memory <= budgets[i] || i == 3, "%zu of %zu", (size_t)some.memory,
                  budgets[i]);
        cr_expect_lt(some.memory, before, "%zu", (size_t)some.memory);
        cr_expect_eq(memcmp(kept.weights, some.weights, kept.count * sizeof *kept.weights), 0);
        before = some.memory;
        free(some.weights);
        if (i == 0)
            cr_expect_eq(some.memory, most);
        if (i == 3)
            cr_expect_eq(some.memory, least);
    }
    free(kept.weights);
    free(again.weights);
}

/* ---- gradients of gradients ------------------------------------------------------------------ */

/* The gradient of a sum of squares of a gradient of sin(sin(w)). */
static void second(bool again, float out[4])
{
    tarn_replica *r = open_first();
    const tarn_tensor w = tarn_parameter(r, "w", TARN_SHAPE(4), (const float[]){ 1, 2, 3, 4 });
    if (again)
        tarn_recompute_begin(r);
    const tarn_tensor y = tarn_sin(tarn_sin(tarn_mul(w, w)));
    if (again)
        tarn_recompute_end(r);
    tarn_tensor g, h;
    tarn_gradients(tarn_sum(y, TARN_ALL, false), &w, 1, &g);
    tarn_gradients(tarn_sum(tarn_mul(g, g), TARN_ALL, false), &w, 1, &h);
    cr_assert_eq(tarn_read(h, out, 4 * sizeof *out), TARN_OK, "%s", tarn_error(r));
    tarn_close(r);
}

Test(recompute, gradients_of_gradients)
{
    float kept[4], again[4];
    second(false, kept);
    second(true, again);
    for (int i = 0; i < 4; i++) {
        cr_expect_neq(kept[i], 0.0f);
        cr_expect_float_eq(kept[i], again[i], 1e-4f, "%d: %g, %g", i, (double)kept[i],
                           (double)again[i]);
    }
}

/* ---- errors ---------------------------------------------------------------------------------- */

static void expect_error(tarn_replica *r, const char *text)
{
    cr_expect_eq(tarn_error_status(r), TARN_ERR_STATE);
    cr_expect_not_null(strstr(tarn_error(r), text), "%s", tarn_error(r));
    tarn_error_clear(r);
}

static void mark_in_body(const tarn_tensor *carry, const tarn_tensor *x, tarn_tensor *next,
                         tarn_tensor *y, void *user)
{
    (void)y;
    tarn_recompute_begin(user);
    next[0] = tarn_add(carry[0], x[0]);
}

Test(recompute, marks_that_do_not_match_are_errors)
{
    tarn_replica *r = open_first();
    tarn_recompute_end(r);
    expect_error(r, "recompute_end: there is no region");
    tarn_recompute_begin(r);
    tarn_recompute_begin(r);
    expect_error(r, "recompute_begin: the last region is not over");
    const tarn_tensor w = tarn_parameter(r, "w", TARN_SHAPE(4), NULL);
    tarn_recompute_begin(r);
    tarn_backward(tarn_sum(w, TARN_ALL, false));
    expect_error(r, "backward: a region of tarn_recompute_begin() is not over");
    const tarn_tensor zero = tarn_zeros(r, TARN_SHAPE(2));
    const tarn_tensor x = tarn_ones(r, TARN_SHAPE(3, 2));
    tarn_tensor last;
    tarn_scan(r,
              &(tarn_scan_args){
                  .body = mark_in_body, .user = r, .carry = &zero, .carries = 1, .x = &x, .xs = 1 },
              &last, NULL);
    expect_error(r, "recompute_begin: in the body of a scan");
    tarn_recompute_budget(NULL, 1);
    cr_expect_not_null(strstr(tarn_error(NULL), "recompute_budget: the replica is NULL"));
    tarn_recompute_begin(NULL);
    cr_expect_not_null(strstr(tarn_error(NULL), "the replica is NULL"));
    cr_expect_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    tarn_close(r);
}
