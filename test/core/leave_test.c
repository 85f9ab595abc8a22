/* SPDX-License-Identifier: Apache-2.0 */
/* Values of samples that lie otherwise than most (1_graph/layout.c) change no bit: products that leave blocks for panels, and
 * rows that are turned into blocks, forwards and in gradients. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tarn.h"

TestSuite(leave, .timeout = 900);

enum { SAMPLES = 128, WIDTH = 1024, TOKENS = 16, MOST = 3 * WIDTH * WIDTH };

struct setting {
    const char *name, *fuse, *gemm, *schedule;
};
/* The first has each op as a kernel of its own. Nests of products that sum over samples, as gradients do, have an order
 * of their own (docs/numerics.md): with them alone only what is computed forwards is the same. */
static const struct setting settings[] = {
    { "unfused", "0", "auto", "cpu" },
    { "a nest in a chain", "1", "nest", "cpu" },
    { "panels", "1", "tarn", "cpu" },
    { "GPU schedule", "1", "auto", "gpu" },
};

struct results {
    float values[MOST];
    size_t count, first; /* the last tensor begins there */
    uint64_t launches;
};

static tarn_tensor numbers(tarn_replica *r, tarn_shape s, unsigned state)
{
    static float values[MOST];
    cr_assert_leq(tarn_shape_count(s), MOST);
    for (int64_t i = 0; i < tarn_shape_count(s); i++) {
        state = state * 1664525U + 1013904223U;
        values[i] = (float)(state >> 8) / (float)(1 << 24) - 0.5f;
    }
    return tarn_from(r, s, TARN_F32, values);
}

static void keep(tarn_tensor t, struct results *out)
{
    const size_t count = (size_t)tarn_shape_count(tarn_shape_get(t));
    cr_assert_leq(out->count + count, MOST);
    out->first = out->count;
    cr_assert_eq(tarn_read(t, out->values + out->count, count * sizeof(float)), TARN_OK, "%s",
                 tarn_error(t.replica));
    out->count += count;
}

/* Two layers with matrices that lie across, forwards and, transposed, backwards. */
static void layers(tarn_replica *r, struct results *out)
{
    const tarn_tensor x = tarn_batch_axis(numbers(r, TARN_SHAPE(SAMPLES, WIDTH), 1), 0);
    const tarn_tensor w = numbers(r, TARN_SHAPE(WIDTH, WIDTH), 2),
                      v = numbers(r, TARN_SHAPE(WIDTH, WIDTH), 3),
                      bias = numbers(r, TARN_SHAPE(WIDTH), 4);
    const tarn_tensor h = tarn_relu(tarn_add(tarn_matmul(x, w), bias));
    const tarn_tensor y = tarn_tanh(tarn_matmul(h, tarn_transpose(v, 0, 1)));
    tarn_tensor made[4];
    tarn_gradients(tarn_mean(tarn_mul(y, y), TARN_ALL, false), (tarn_tensor[]){ w, v, bias }, 3,
                   made);
    made[3] = y;
    for (int i = 0; i < 4; i++)
        keep(made[i], out);
}

/* Mixes tokens, with a residual: rows of channels are read turned over. */
static void mixing(tarn_replica *r, struct results *out)
{
    enum { CHANNELS = 64, HIDDEN = 128 };
    const tarn_tensor x = tarn_batch_axis(numbers(r, TARN_SHAPE(SAMPLES, TOKENS, CHANNELS), 5), 0);
    const tarn_tensor up = numbers(r, TARN_SHAPE(TOKENS, HIDDEN), 6),
                      down = numbers(r, TARN_SHAPE(HIDDEN, TOKENS), 7);
    const tarn_tensor h = tarn_relu(tarn_matmul(tarn_transpose(tarn_relu(x), 1, 2), up));
    const tarn_tensor y = tarn_add(x, tarn_transpose(tarn_matmul(h, down), 1, 2));
    tarn_tensor made[3];
    tarn_gradients(tarn_mean(tarn_mul(y, y), TARN_ALL, false), (tarn_tensor[]){ up, down }, 2,
                   made);
    made[2] = y;
    for (int i = 0; i < 3; i++)
        keep(made[i], out);
}

/* Products of each sample's own matrices lie in rows; here they are joined to what lies in blocks, for a convolution. */
static void joined(tarn_replica *r, struct results *out)
{
    enum { CHANNELS = 16, SIDE = 16 };
    const tarn_conv2d_options same = { .padding = { 1, 1 } };
    const tarn_tensor x = tarn_batch_axis(numbers(r, TARN_SHAPE(32, 4, SIDE, SIDE), 8), 0);
    const tarn_tensor first = numbers(r, TARN_SHAPE(CHANNELS, 4, 3, 3), 9),
                      second = numbers(r, TARN_SHAPE(8, 2, 3, 3), 10);
    const tarn_tensor h = tarn_relu(tarn_conv2d_op(x, first, TARN_NONE, same));
    const tarn_tensor rows = tarn_reshape(h, TARN_SHAPE(32, CHANNELS, SIDE * SIDE));
    const tarn_tensor likeness = tarn_matmul(rows, tarn_transpose(rows, 1, 2));
    const tarn_tensor beside = tarn_relu(tarn_slice(rows, 2, 0, CHANNELS, 1));
    const tarn_tensor both = tarn_concat((tarn_tensor[]){ likeness, beside }, 2, 1);
    const tarn_tensor image = tarn_reshape(both, TARN_SHAPE(32, 2, CHANNELS, CHANNELS));
    keep(tarn_conv2d_op(image, second, TARN_NONE, same), out);
}

static void run(const struct setting *s, void (*record)(tarn_replica *r, struct results *out),
                struct results *out)
{
    const char *const set[][2] = { { "TARN_FUSE", s->fuse },
                                   { "TARN_GEMM", s->gemm },
                                   { "TARN_SCHEDULE", s->schedule },
                                   { "TARN_TARGET", "avx2" },
                                   { "TARN_QUICK", "1" } };
    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        cr_assert_eq(setenv(set[i][0], set[i][1], 1), 0);
    if (strcmp(s->schedule, "gpu") == 0)
        cr_assert_eq(unsetenv("TARN_TARGET"), 0);
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    out->count = 0;
    record(r, out);
    out->launches = tarn_metrics_get(r).launches;
    tarn_close(r);
}

static void expect_equal(const char *what, void (*record)(tarn_replica *r, struct results *out))
{
    static struct results wanted, seen[4];
    run(&settings[0], record, &wanted);
    for (int i = 1; i < 4; i++) {
        run(&settings[i], record, &seen[i]);
        cr_expect_eq(seen[i].count, wanted.count);
        const size_t from = strcmp(settings[i].gemm, "nest") == 0 ? wanted.first : 0;
        cr_expect_eq(memcmp(seen[i].values + from, wanted.values + from,
                            (wanted.count - from) * sizeof(float)),
                     0, "%s: %s differs from unfused", what, settings[i].name);
        printf("%s: %zu values, %s %llu launches\n", what, seen[i].count, settings[i].name,
               (unsigned long long)seen[i].launches);
    }
    /* A chain may be cut where its matrices outgrow the third cache. */
    cr_expect_gt(seen[2].launches, seen[1].launches + 3,
                 "%s: only gradients have products in panels", what);
}

Test(leave, layers)
{
    expect_equal("layers", layers);
}

Test(leave, mixing)
{
    expect_equal("mixing", mixing);
}

Test(leave, joined)
{
    static struct results wanted, seen;
    run(&settings[0], joined, &wanted);
    for (size_t i = 1; i < sizeof settings / sizeof *settings; i++) {
        run(&settings[i], joined, &seen);
        cr_expect_eq(memcmp(seen.values, wanted.values, wanted.count * sizeof(float)), 0,
                     "%s differs from unfused", settings[i].name);
    }
}
