/* SPDX-License-Identifier: Apache-2.0 */
/* Sums are made in the order that docs/numerics.md says, to the bit, by both schedules: the same
 * additions in float on the host are the reference. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tarn.h"
#include "tensor/random.h"

enum { CHUNK = 128, BLOCK = 16, AXES = 4, MOST = 300000, MOST_RESULTS = 4096 };

TestSuite(sum_order, .timeout = 900);

/* ---- by definition -------------------------------------------------------------------------- */

/* Terms that one accumulator takes, in order: of products, pairs (a, b) that are one fma each. */
struct terms {
    const float *a, *b; /* b: NULL of sums */
};

static float of_chunk(const struct terms *t, int from, int to)
{
    float sum = 0;
    for (int i = from; i < to; i++)
        sum = t->b == NULL ? sum + t->a[i] : fmaf(t->a[i], t->b[i], sum);
    return sum;
}

/* Over axes of such extents, the last one innermost. Sums of chunks are summed likewise: over the
 * axes outside, and the chunks of the one that was cut. */
static float chain(const struct terms *t, const int *extent, int axes)
{
    int inside = 1, count = 0, all = 1, around[AXES];
    for (int a = 0; a < axes; a++)
        all *= extent[a];
    while (axes > 0 && inside * extent[axes - 1] <= CHUNK)
        inside *= extent[--axes];
    if (axes == 0)
        return of_chunk(t, 0, all);
    const int run = inside * extent[axes - 1], step = CHUNK / inside * inside;
    float *sums = malloc((size_t)all * sizeof *sums);
    cr_assert_not_null(sums);
    for (int start = 0; start < all; start += run)
        for (int at = 0; at < run; at += step)
            sums[count++] = of_chunk(t, start + at, start + (at + step < run ? at + step : run));
    memcpy(around, extent, (size_t)axes * sizeof *around);
    around[axes - 1] = (run + step - 1) / step;
    const float sum = chain(&(struct terms){ sums, NULL }, around, axes);
    free(sums);
    return sum;
}

static float lane_tree(float v[BLOCK])
{
    for (int half = BLOCK / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            v[i] += v[i + half];
    return v[0];
}

/* All of v, of such extents: the last axis along 16 lanes, then what is left over. */
static float along_lanes(const float *v, int outer, int last)
{
    static float of_lane[MOST];
    float lanes[BLOCK];
    const int whole = last / BLOCK, rest = last % BLOCK;
    for (int lane = 0; lane < BLOCK; lane++) {
        for (int i = 0; i < outer * whole; i++)
            of_lane[i] = v[i / whole * last + i % whole * BLOCK + lane];
        lanes[lane] = chain(&(struct terms){ of_lane, NULL }, (int[]){ outer, whole }, 2);
    }
    for (int i = 0; i < outer * rest; i++)
        of_lane[i] = v[i / rest * last + whole * BLOCK + i % rest];
    const float left = chain(&(struct terms){ of_lane, NULL }, (int[]){ outer, rest }, 2);
    return rest > 0 ? left + lane_tree(lanes) : lane_tree(lanes);
}

static float rows_tree(const float *row, int count)
{
    int half = 1;
    while (2 * half < count)
        half *= 2;
    return count == 1 ? row[0] : rows_tree(row, half) + rows_tree(row + half, count - half);
}

/* Over samples and the axes after them. */
static float over_batch(const float *v, int samples, const int *extent, int axes)
{
    const int blocks = (samples + BLOCK - 1) / BLOCK;
    const int rows = blocks <= 16 ? blocks : blocks <= 64 ? 16 : blocks <= 256 ? blocks / 4 : 64;
    int each = 1;
    for (int a = 0; a < axes; a++)
        each *= extent[a];
    float row[64];
    for (int r = 0; r < rows; r++)
        for (int b = r * blocks / rows, first = b; b < (r + 1) * blocks / rows; b++) {
            float lanes[BLOCK] = { 0 };
            for (int i = 0; i < BLOCK && BLOCK * b + i < samples; i++)
                lanes[i] = chain(&(struct terms){ v + (BLOCK * b + i) * each, NULL }, extent, axes);
            const float sum = lane_tree(lanes);
            row[r] = b > first ? row[r] + sum : sum;
        }
    return rows_tree(row, rows);
}

/* ---- computed ------------------------------------------------------------------------------- */

/* Of work-items the device's own units have few teams, those of the third many. */
static const struct way {
    const char *schedule, *target;
} ways[] = { { "cpu", "" }, { "gpu", "" }, { "gpu", "nvidia" } };
enum { WAYS = sizeof ways / sizeof *ways };

static tarn_replica *open_with(const struct way *w)
{
    cr_assert_eq(setenv("TARN_SCHEDULE", w->schedule, 1), 0);
    cr_assert_eq(setenv("TARN_TARGET", w->target, 1), 0);
    cr_assert_eq(setenv("TARN_WINOGRAD", "0", 1), 0);
    cr_assert_eq(setenv("TARN_GEMM", "nest", 1), 0);
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    return r;
}

static float *numbers(size_t count, uint32_t salt)
{
    float *v = malloc(count * sizeof *v);
    cr_assert_not_null(v);
    for (size_t i = 0; i < count; i++)
        v[i] = (float)(random_u32(salt, (uint32_t)i) >> 8) / (1 << 23) - 0.75f;
    return v;
}

static void compare(tarn_tensor y, const float *wanted, int count, const struct way *w,
                    const char *what)
{
    static float got[MOST_RESULTS];
    cr_assert_eq(tarn_read(y, got, (size_t)count * sizeof *got), TARN_OK, "%s",
                 tarn_error(y.replica));
    for (int i = 0; i < count; i++)
        cr_expect_eq(got[i], wanted[i], "%s, schedule %s %s: %a is not %a", what, w->schedule,
                     w->target, (double)got[i], (double)wanted[i]);
}

/* y, and nothing: what multiplies lays its samples out in blocks, of which sums over them are made. */
static tarn_tensor beside_a_product(tarn_tensor y, tarn_tensor x)
{
    const tarn_shape s = tarn_shape_get(x);
    const int32_t each = (int32_t)(tarn_shape_count(s) / s.dim[0]);
    float *zeros = calloc((size_t)each, sizeof *zeros);
    cr_assert_not_null(zeros);
    const tarn_tensor column = tarn_from(x.replica, TARN_SHAPE(each, 1), TARN_F32, zeros);
    const tarn_tensor nothing = tarn_sum(
        tarn_matmul(tarn_reshape(x, TARN_SHAPE(s.dim[0], each)), column), TARN_AXES(1), false);
    free(zeros);
    return tarn_add(y, tarn_shape_get(y).rank == 0 ? tarn_sum(nothing, TARN_ALL, false) : nothing);
}

/* A first axis of 1 is no batch. For work-items the longest of these are made in several kernels. */
Test(sum_order, along_lanes)
{
    static const int sizes[][3] = { { 1, 1, 2048 },   { 1, 1, 2063 }, { 1, 200, 17 },
                                    { 1, 3, 2100 },   { 1, 40, 100 }, { 1, 1, 266247 },
                                    { 1, 18000, 31 }, { 3, 70, 500 }, { 2, 1, 24576 },
                                    { 1, 1, 1100000 } };
    for (int s = 0; s < WAYS; s++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            tarn_replica *r = open_with(&ways[s]);
            const int rows = sizes[k][0], outer = sizes[k][1], last = sizes[k][2];
            float *v = numbers((size_t)rows * (size_t)outer * (size_t)last, 1), wanted[3];
            for (int i = 0; i < rows; i++)
                wanted[i] = along_lanes(v + i * outer * last, outer, last);
            const tarn_tensor x = tarn_from(r, TARN_SHAPE(1, rows, outer, last), TARN_F32, v);
            /* With something before the sum, and after it. */
            const tarn_tensor y = tarn_sum(tarn_neg(x), TARN_AXES(2, 3), false);
            compare(tarn_neg(y), wanted, rows, &ways[s], "along lanes");
            free(v);
            tarn_close(r);
        }
}

Test(sum_order, within_samples)
{
    static const int sizes[][3] = { { 1, 1, 128 }, { 1, 1, 129 }, { 9, 5, 5 },   { 3, 2, 300 },
                                    { 130, 1, 1 }, { 2, 64, 3 },  { 10, 30, 30 } };
    enum { SAMPLES = 45 }; /* so few lanes idle that they are a batch */
    for (int s = 0; s < WAYS; s++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            tarn_replica *r = open_with(&ways[s]);
            const int *e = sizes[k], each = e[0] * e[1] * e[2];
            float *v = numbers((size_t)(SAMPLES * each), 2), wanted[SAMPLES];
            for (int i = 0; i < SAMPLES; i++)
                wanted[i] = chain(&(struct terms){ v + i * each, NULL }, e, 3);
            const tarn_tensor x = tarn_from(r, TARN_SHAPE(SAMPLES, e[0], e[1], e[2]), TARN_F32, v);
            compare(beside_a_product(tarn_sum(x, TARN_AXES(1, 2, 3), false), x), wanted, SAMPLES,
                    &ways[s], "within samples");
            free(v);
            tarn_close(r);
        }
}

Test(sum_order, over_the_batch)
{
    static const int sizes[][3] = { { 37, 12, 12 },  { 300, 1, 5 },   { 130, 40, 40 },
                                    { 300, 24, 25 }, { 1030, 3, 50 }, { 2100, 2, 70 },
                                    { 4200, 1, 3 } };
    for (int s = 0; s < WAYS; s++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            tarn_replica *r = open_with(&ways[s]);
            const int samples = sizes[k][0], *e = sizes[k] + 1;
            float *v = numbers((size_t)(samples * e[0] * e[1]), 3);
            const float wanted = over_batch(v, samples, e, 2);
            const tarn_tensor x = tarn_from(r, TARN_SHAPE(samples, e[0], e[1]), TARN_F32, v);
            compare(beside_a_product(tarn_sum(x, TARN_ALL, false), x), &wanted, 1, &ways[s],
                    "over the batch");
            free(v);
            tarn_close(r);
        }
}

Test(sum_order, of_products)
{
    /* Of some, many rows share a copy of b, on CPUs. */
    static const struct {
        int rows, depth, columns;
    } sizes[] = { { 3, 128, 20 },  { 3, 129, 20 },  { 3, 1000, 20 }, { 3, 17000, 20 },
                  { 60, 37, 20 },  { 64, 128, 37 }, { 64, 129, 48 }, { 96, 512, 16 },
                  { 64, 513, 33 }, { 90, 2, 19 } };
    static float across[17000], wanted[MOST_RESULTS];
    for (int s = 0; s < WAYS; s++)
        for (size_t k = 0; k < 2 * sizeof sizes / sizeof *sizes; k++) {
            tarn_replica *r = open_with(&ways[s]);
            const int rows = sizes[k / 2].rows, depth = sizes[k / 2].depth,
                      columns = sizes[k / 2].columns, count = rows * columns;
            const bool turned = k % 2 != 0;
            float *a = numbers((size_t)(rows * depth), 4);
            float *b = numbers((size_t)(depth * columns), 5);
            for (int i = 0; i < count; i++) {
                for (int d = 0; d < depth; d++)
                    across[d] = turned ? b[i % columns * depth + d] : b[d * columns + i % columns];
                wanted[i] = chain(&(struct terms){ a + i / columns * depth, across }, &depth, 1);
            }
            const tarn_tensor x = tarn_from(r, TARN_SHAPE(1, rows, depth), TARN_F32, a);
            const tarn_tensor y =
                turned ? tarn_permute(tarn_from(r, TARN_SHAPE(1, columns, depth), TARN_F32, b),
                                      TARN_SHAPE(0, 2, 1))
                       : tarn_from(r, TARN_SHAPE(1, depth, columns), TARN_F32, b);
            compare(tarn_matmul(x, y), wanted, count, &ways[s],
                    turned ? "of turned products" : "of products");
            free(a);
            free(b);
            tarn_close(r);
        }
}

/* With padding, whose terms are left out: positions of an image, over the batch. */
Test(sum_order, of_weight_gradients)
{
    enum { SAMPLES = 40, SIDE = 31, OUT = 3, COUNT = OUT * 9 };
    float wanted[COUNT];
    float *v = numbers(SAMPLES * SIDE * SIDE, 6), *g = numbers(SAMPLES * OUT * SIDE * SIDE, 7);
    for (int s = 0; s < WAYS; s++) {
        tarn_replica *r = open_with(&ways[s]);
        const tarn_conv2d conv = tarn_conv2d_make(
            r, "conv", 1, OUT, 3, (tarn_conv2d_options){ .padding = { 1, 1 }, .groups = 1 });
        const tarn_tensor x = tarn_from(r, TARN_SHAPE(SAMPLES, 1, SIDE, SIDE), TARN_F32, v);
        const tarn_tensor f = tarn_from(r, TARN_SHAPE(SAMPLES, OUT, SIDE, SIDE), TARN_F32, g);
        const tarn_tensor y = tarn_conv2d_forward(&conv, x);
        tarn_backward(tarn_sum(tarn_mul(y, f), TARN_ALL, false));
        if (s == 0)
            cr_assert_eq(tarn_read(tarn_grad(conv.weight), wanted, sizeof wanted), TARN_OK, "%s",
                         tarn_error(r));
        else
            compare(tarn_grad(conv.weight), wanted, COUNT, &ways[s], "of weight gradients");
        tarn_close(r);
    }
    free(v);
    free(g);
}
