/* SPDX-License-Identifier: Apache-2.0 */
/* Tuning: a step's bits, and what a replica owns, are those without it; what was measured once is
 * remembered, in the process and on disk. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tarn.h"

TestSuite(tune, .timeout = 600);

enum { SAMPLES = 16, CLASSES = 7, STEPS = 2 };

struct trained {
    float conv[8 * 3 * 3 * 3], head[CLASSES * 8 * 10 * 10], loss[STEPS];
    uint64_t launches;
};

static float noise(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 8) / (float)(1 << 24) - 0.5f;
}

static void train(struct trained *out)
{
    static float x[SAMPLES * 3 * 10 * 10], conv[8 * 3 * 3 * 3], head[CLASSES * 8 * 10 * 10];
    static uint8_t label[SAMPLES];
    unsigned state = 7;
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        x[i] = noise(&state);
    for (size_t i = 0; i < sizeof conv / sizeof *conv; i++)
        conv[i] = noise(&state);
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        head[i] = noise(&state);
    for (int i = 0; i < SAMPLES; i++)
        label[i] = (uint8_t)(i % CLASSES);
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const tarn_tensor w = tarn_parameter(r, "conv", TARN_SHAPE(8, 3, 3, 3), conv);
    const tarn_tensor h = tarn_parameter(r, "head", TARN_SHAPE(CLASSES, 8 * 10 * 10), head);
    const tarn_tensor none = tarn_parameter(r, "bias", TARN_SHAPE(8), NULL);
    tarn_optimizer *o = tarn_sgd(r, (tarn_sgd_options){ .lr = 0.01f, .momentum = 0.9f });
    for (int i = 0; i < STEPS; i++) {
        const tarn_tensor in = tarn_from(r, TARN_SHAPE(SAMPLES, 3, 10, 10), TARN_F32, x);
        const tarn_tensor y = tarn_from(r, TARN_SHAPE(SAMPLES), TARN_U8, label);
        const tarn_tensor c = tarn_relu(tarn_conv2d_op(
            in, w, none, (tarn_conv2d_options){ .stride = { 1, 1 }, .padding = { 1, 1 } }));
        const tarn_tensor logits = tarn_matmul(tarn_flatten(c, 1), tarn_transpose(h, 0, 1));
        const tarn_tensor loss = tarn_keep(tarn_cross_entropy(logits, y));
        tarn_backward(loss);
        tarn_optimizer_step(o);
        cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
        cr_assert_eq(tarn_read(loss, &out->loss[i], sizeof out->loss[i]), TARN_OK);
        tarn_drop(loss);
    }
    cr_assert_eq(tarn_read(w, out->conv, sizeof out->conv), TARN_OK, "%s", tarn_error(r));
    cr_assert_eq(tarn_read(h, out->head, sizeof out->head), TARN_OK, "%s", tarn_error(r));
    out->launches = tarn_metrics_get(r).launches;
    tarn_close(r);
}

static void expect_equal(const struct trained *a, const struct trained *b)
{
    cr_expect_arr_eq(a->loss, b->loss, sizeof a->loss);
    cr_expect_arr_eq(a->conv, b->conv, sizeof a->conv);
    cr_expect_arr_eq(a->head, b->head, sizeof a->head);
}

static void set_cache(const char *folder)
{
    cr_assert_eq(setenv("TARN_CACHE_DIR", folder, 1), 0);
    cr_assert_eq(setenv("TARN_WINOGRAD", "0", 1), 0); /* so that there are heavy sums */
}

Test(tune, bits_stay_and_what_was_measured_is_remembered)
{
    char folder[] = "/tmp/tarn-tune-test-XXXXXX", command[64];
    static struct trained plain, tuned, again, later;
    cr_assert_not_null(mkdtemp(folder));
    set_cache(folder);
    train(&plain);
    cr_assert_eq(setenv("TARN_TUNE", "1", 1), 0);
    train(&tuned);
    cr_expect_gt(tuned.launches, 10 * plain.launches, "%llu launches: nothing was measured",
                 (unsigned long long)tuned.launches);
    train(&again);
    cr_expect_lt(again.launches, 2 * plain.launches, "%llu launches: measured twice",
                 (unsigned long long)again.launches);
    /* Without a cache nothing is read from disk: this is the process's own memory. */
    set_cache("off");
    train(&later);
    cr_expect_lt(later.launches, 2 * plain.launches, "%llu launches: the process forgot",
                 (unsigned long long)later.launches);
    expect_equal(&plain, &tuned);
    expect_equal(&plain, &again);
    expect_equal(&plain, &later);
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_expect_eq(system(command), 0);
}

Test(tune, every_tile_has_the_same_bits)
{
    static struct trained wanted, seen;
    set_cache("off");
    train(&wanted);
    for (int tile = 1; tile < 4; tile++) {
        const char name[] = { (char)('0' + tile), '\0' };
        cr_assert_eq(setenv("TARN_TILE", name, 1), 0);
        train(&seen);
        expect_equal(&wanted, &seen);
    }
}

enum { READERS = 32, WORDS = 6, WIDTH = 16 };

static void train_loop(float *weight, size_t bytes)
{
    static float x[READERS * WORDS * WIDTH];
    unsigned state = 11;
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        x[i] = noise(&state);
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const tarn_gru gru =
        tarn_gru_make(r, "gru", WIDTH, WIDTH, (tarn_recurrent_options){ .batch_first = true });
    tarn_optimizer *o = tarn_sgd(r, (tarn_sgd_options){ .lr = 0.1f });
    for (int i = 0; i < STEPS; i++) {
        const tarn_tensor in = tarn_from(r, TARN_SHAPE(READERS, WORDS, WIDTH), TARN_F32, x);
        const tarn_tensor y = tarn_gru_forward(&gru, in, NULL).y;
        tarn_backward(tarn_mean(tarn_mul(y, y), TARN_ALL, false));
        tarn_optimizer_step(o);
        cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    }
    cr_assert_eq(tarn_read(tarn_find(r, "gru.weight_hh_l0"), weight, bytes), TARN_OK, "%s",
                 tarn_error(r));
    tarn_close(r);
}

Test(tune, loops_are_left_as_they_are)
{
    static float plain[3 * WIDTH * WIDTH], tuned[3 * WIDTH * WIDTH];
    set_cache("off");
    train_loop(plain, sizeof plain);
    cr_assert_eq(setenv("TARN_TUNE", "1", 1), 0);
    train_loop(tuned, sizeof tuned);
    cr_expect_arr_eq(plain, tuned, sizeof plain);
}
