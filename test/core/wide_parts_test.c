/* SPDX-License-Identifier: Apache-2.0 */
/* Values of 64 bits beside products of narrower ones: the same bits as with values of 32 bits, in few launches more; one
 * element a work-item they would be many times as many. */
#include <criterion/criterion.h>
#include <string.h>

#include "tarn.h"

TestSuite(wide_parts, .timeout = 900);

enum { SAMPLES = 32, SIDE = 8, PLANES = 6, CLASSES = 5, STEPS = 3, MOST = 4096, PICKS = 3 };

enum way { GIVEN, KEPT, COMPARED, PICKED, TOKENS, WAYS };

struct found {
    float values[MOST];
    int count;
    uint64_t launches;
};

static void fill(float *out, int count, uint32_t seed)
{
    for (int i = 0; i < count; i++) {
        seed = seed * 1664525U + 1013904223U;
        out[i] = (float)(seed >> 8) * 0x1p-23f - 1;
    }
}

/* Whole numbers from 0 to below `end`, of this type. */
static tarn_tensor numbers(tarn_replica *r, tarn_shape shape, tarn_dtype dtype, int end,
                           uint32_t seed)
{
    float noise[MOST];
    int64_t wide[MOST];
    int32_t narrow[MOST];
    const int count = (int)tarn_shape_count(shape);
    fill(noise, count, seed);
    for (int i = 0; i < count; i++)
        wide[i] = narrow[i] = (int32_t)((noise[i] + 1) * 0.499f * (float)end);
    return tarn_from(r, shape, dtype, dtype == TARN_I64 ? (const void *)wide : narrow);
}

static tarn_tensor images(tarn_replica *r, int step)
{
    float x[SAMPLES * SIDE * SIDE];
    fill(x, SAMPLES * SIDE * SIDE, 40U + (uint32_t)step);
    return tarn_from(r, TARN_SHAPE(SAMPLES, 1, SIDE, SIDE), TARN_F32, x);
}

static tarn_tensor scores(tarn_tensor x, tarn_tensor *planes)
{
    const tarn_conv2d_options around = { .padding = { 1, 1 } };
    x = tarn_relu(tarn_use_conv2d(x, "conv1", PLANES, 3, around));
    *planes = x = tarn_relu(tarn_use_conv2d(x, "conv2", PLANES, 3, around));
    return tarn_use_linear(tarn_flatten(tarn_max_pool2d(x, 2), 1), "head", CLASSES);
}

/* Each sample's planes at some places, as a detector picks them. */
static tarn_tensor picked(tarn_tensor planes, tarn_tensor index)
{
    const tarn_tensor rows = tarn_reshape(tarn_permute(planes, TARN_AXES(0, 2, 3, 1)),
                                          TARN_SHAPE(SAMPLES, SIDE * SIDE, PLANES));
    const tarn_tensor column = tarn_reshape(index, TARN_SHAPE(SAMPLES, PICKS, 1));
    return tarn_gather(rows, 1, tarn_broadcast_to(column, TARN_SHAPE(SAMPLES, PICKS, PLANES)));
}

static tarn_tensor words(tarn_tensor tokens)
{
    const tarn_tensor x = tarn_use_embedding(tokens, "words", 20, 8);
    const tarn_tensor h =
        tarn_use_lstm(x, "lstm", 16, (tarn_recurrent_options){ .batch_first = true }, NULL, NULL).h;
    return tarn_use_linear(tarn_reshape(h, TARN_SHAPE(SAMPLES, 16)), "head", CLASSES);
}

static tarn_tensor loss_of(tarn_replica *r, enum way way, tarn_dtype dtype, tarn_tensor kept,
                           int step)
{
    const tarn_shape labels = TARN_SHAPE(SAMPLES);
    const tarn_tensor target =
        way == KEPT ? kept : numbers(r, labels, dtype, CLASSES, 7U + (uint32_t)step);
    if (way == TOKENS)
        return tarn_cross_entropy(
            words(numbers(r, TARN_SHAPE(SAMPLES, 6), dtype, 20, 70U + (uint32_t)step)), target);
    tarn_tensor planes;
    const tarn_tensor loss = tarn_cross_entropy(scores(images(r, step), &planes), target);
    if (way != PICKED)
        return loss;
    const tarn_tensor index = numbers(r, TARN_SHAPE(SAMPLES, PICKS), dtype, SIDE * SIDE, 90);
    return tarn_add(loss, tarn_mean(picked(planes, index), TARN_ALL, false));
}

static void keep(struct found *f, tarn_tensor x)
{
    const int count = (int)tarn_shape_count(tarn_shape_get(x));
    cr_assert(f->count + count <= MOST);
    cr_assert_eq(tarn_read(x, f->values + f->count, (size_t)count * sizeof(float)), TARN_OK, "%s",
                 tarn_error(x.replica));
    f->count += count;
}

static void make(tarn_replica *r, enum way way)
{
    tarn_tensor planes;
    if (way == TOKENS)
        (void)words(tarn_cast(tarn_zeros(r, TARN_SHAPE(SAMPLES, 6)), TARN_I32));
    else
        (void)scores(tarn_zeros(r, TARN_SHAPE(SAMPLES, 1, SIDE, SIDE)), &planes);
}

/* How many of the samples the network knows. */
static tarn_tensor right(tarn_replica *r, tarn_dtype dtype)
{
    tarn_tensor planes;
    const tarn_tensor found = tarn_argmax(scores(images(r, 1), &planes), 1, false);
    const tarn_tensor same = tarn_eq(found, numbers(r, TARN_SHAPE(SAMPLES), dtype, CLASSES, 7));
    return tarn_keep(tarn_sum(tarn_cast(same, TARN_F32), TARN_ALL, false));
}

static void train(enum way way, tarn_dtype dtype, struct found *f)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    *f = (struct found){ 0 };
    make(r, way);
    tarn_optimizer *o = tarn_adam(r, (tarn_adam_options){ .lr = 0.01f });
    const tarn_tensor kept = tarn_keep(numbers(r, TARN_SHAPE(SAMPLES), dtype, CLASSES, 5));
    for (int step = 0; step < STEPS; step++) {
        tarn_minimize(o, loss_of(r, way, dtype, kept, step));
        cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    }
    f->launches = tarn_metrics_get(r).launches_last_step;
    keep(f, tarn_find(r, "head.weight"));
    keep(f, tarn_find(r, way == TOKENS ? "words.weight" : "conv1.weight"));
    if (way == COMPARED) {
        const tarn_tensor count = right(r, dtype);
        cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
        f->launches = tarn_metrics_get(r).launches_last_step;
        keep(f, count);
    }
    tarn_close(r);
}

static void compare(enum way way)
{
    static struct found narrow, wide;
    train(way, TARN_I32, &narrow);
    train(way, TARN_I64, &wide);
    cr_expect_eq(narrow.count, wide.count);
    cr_expect_eq(memcmp(narrow.values, wide.values, (size_t)narrow.count * sizeof(float)), 0);
    cr_expect(wide.launches <= narrow.launches + 2, "%llu launches in place of %llu",
              (unsigned long long)wide.launches, (unsigned long long)narrow.launches);
}

Test(wide_parts, labels_of_int64)
{
    compare(GIVEN);
}

Test(wide_parts, kept_labels_of_int64)
{
    compare(KEPT);
}

/* What is compared with them is computed before. */
Test(wide_parts, comparisons_with_labels_of_int64)
{
    compare(COMPARED);
}

Test(wide_parts, indices_of_int64)
{
    compare(PICKED);
}

Test(wide_parts, words_of_int64_before_a_loop)
{
    compare(TOKENS);
}

/* A number that int32 does not hold is no class and no row: it stays as far out as int32 goes. */
Test(wide_parts, large_numbers_stay_large)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const int64_t at[] = { INT64_C(1) << 32, -(INT64_C(1) << 40), 1 };
    const float rows[] = { 1, 2, 3, 4 }, other[] = { 1, 0, 0, 1 };
    const tarn_tensor index = tarn_from(r, TARN_SHAPE(3), TARN_I64, at);
    const tarn_tensor table = tarn_matmul(tarn_from(r, TARN_SHAPE(2, 2), TARN_F32, rows),
                                          tarn_from(r, TARN_SHAPE(2, 2), TARN_F32, other));
    float out[6];
    cr_assert_eq(tarn_read(tarn_index_select(table, 0, index), out, sizeof out), TARN_OK, "%s",
                 tarn_error(r));
    cr_expect_eq(memcmp(out, (float[]){ 3, 4, 1, 2, 3, 4 }, sizeof out), 0, "%g %g %g",
                 (double)out[0], (double)out[2], (double)out[4]);
    tarn_close(r);
}

/* A loss in float64, its gradient, and a counter of int64 that is assigned. */
Test(wide_parts, losses_of_float64)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    float found[2][PLANES * 9];
    tarn_tensor planes;
    make(r, GIVEN);
    for (int wide = 0; wide < 2; wide++) {
        tarn_tensor y = scores(images(r, 0), &planes);
        if (wide)
            y = tarn_cast(y, TARN_F64);
        tarn_backward(tarn_mean(tarn_mul(y, y), TARN_ALL, false));
        const tarn_tensor grad = tarn_keep(tarn_grad(tarn_find(r, "conv1.weight")));
        cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
        const uint64_t launches = tarn_metrics_get(r).launches_last_step;
        cr_expect(launches < 30, "%llu launches", (unsigned long long)launches);
        cr_assert_eq(tarn_read(grad, found[wide], sizeof found[wide]), TARN_OK, "%s",
                     tarn_error(r));
        tarn_drop(grad);
    }
    float most = 0;
    for (int i = 0; i < PLANES * 9; i++)
        most = found[1][i] > most ? found[1][i] : -found[1][i] > most ? -found[1][i] : most;
    for (int i = 0; i < PLANES * 9; i++) {
        const float d = found[0][i] - found[1][i];
        cr_expect(d < 1e-5f * most && -d < 1e-5f * most, "%d: %.9g and %.9g", i,
                  (double)found[0][i], (double)found[1][i]);
    }
    tarn_close(r);
}
