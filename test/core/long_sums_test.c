/* SPDX-License-Identifier: Apache-2.0 */
/* Sums so long that their chunks become elements of nests of their own, on a GPU or a CPU with units that would rest, keep their
 * bits: over columns, where lanes are elements of the result, over rows, over the terms of each sample, and sums of products. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tarn.h"
#include "tensor/random.h"

enum { MOST = 1 << 17 };

static tarn_tensor numbers(tarn_replica *r, tarn_shape s, unsigned salt)
{
    const size_t count = (size_t)tarn_shape_count(s);
    float *v = calloc(count, sizeof *v);
    cr_assert_not_null(v);
    for (size_t i = 0; i < count; i++)
        v[i] = (float)(random_u32(5, (uint32_t)i * 4 + salt) >> 8) / (1 << 22) - 2;
    const tarn_tensor x = tarn_from(r, s, TARN_F32, v);
    free(v);
    return x;
}

static tarn_tensor table(tarn_replica *r, int rows, int columns, unsigned salt)
{
    return tarn_batch_axis(numbers(r, TARN_SHAPE(rows, columns), salt), TARN_NO_BATCH);
}

/* 20 columns are a team and a piece, 7 less than one: their lanes are summed along. */
static tarn_tensor sum_of_columns(tarn_replica *r)
{
    return tarn_add(tarn_sum(table(r, 40001, 20, 1), TARN_AXES(0), false),
                    tarn_ones(r, TARN_SCALAR));
}

static tarn_tensor sum_of_few_columns(tarn_replica *r)
{
    return tarn_sum(table(r, 40001, 7, 1), TARN_AXES(0), false);
}

static tarn_tensor sum_of_rows(tarn_replica *r)
{
    return tarn_sum(table(r, 5, 40001, 1), TARN_AXES(1), false);
}

/* Several axes are summed, of which a chunk has the last and pieces of the one before. */
static tarn_tensor sum_of_planes(tarn_replica *r)
{
    const tarn_tensor x = tarn_reshape(table(r, 9 * 31, 50 * 36, 1), TARN_SHAPE(9, 31, 50, 36));
    return tarn_sum(x, TARN_AXES(0, 1, 2), false);
}

static tarn_tensor sum_of_table(tarn_replica *r)
{
    return tarn_sum(table(r, 1501, 1000, 1), TARN_ALL, false);
}

/* Of each row of 28 lanes leave 12 elements. */
static tarn_tensor sum_of_rows_with_rests(tarn_replica *r)
{
    const tarn_tensor x = table(r, 512, 28, 1);
    return tarn_sum(tarn_mul(x, x), TARN_ALL, false);
}

/* Neither 7 nor 9 elements make lanes: each result has one sum. */
static tarn_tensor sum_of_short_rows(tarn_replica *r)
{
    const tarn_tensor x = tarn_reshape(table(r, 9 * 901, 9, 1), TARN_SHAPE(9, 901, 9));
    return tarn_sum(tarn_slice(x, 2, 1, 8, 1), TARN_AXES(1, 2), false);
}

static tarn_tensor product(tarn_replica *r)
{
    const tarn_tensor a = tarn_transpose(table(r, 2500, 24, 1), 0, 1);
    return tarn_relu(tarn_matmul(a, table(r, 2500, 40, 2)));
}

static tarn_tensor narrow_product(tarn_replica *r)
{
    return tarn_matmul(table(r, 3, 2500, 1), table(r, 2500, 5, 2));
}

/* Two chunks and a piece; 10 divides 300, but no chunk. So many rows that a small GPU has no idle units for chunks. */
static tarn_tensor short_product(tarn_replica *r)
{
    return tarn_relu(
        tarn_matmul(numbers(r, TARN_SHAPE(2003, 300), 1), numbers(r, TARN_SHAPE(300, 2), 2)));
}

/* 37 samples are two blocks and a piece. */
static tarn_tensor sum_of_samples(tarn_replica *r)
{
    const tarn_tensor x = numbers(r, TARN_SHAPE(37, 3, 33, 40), 1);
    return tarn_mul(tarn_sum(tarn_mul(x, x), TARN_AXES(2, 3), false),
                    tarn_full(r, TARN_SCALAR, 0.5f));
}

static tarn_tensor product_of_samples(tarn_replica *r)
{
    const tarn_tensor x = numbers(r, TARN_SHAPE(37, 1900), 1);
    return tarn_relu(tarn_matmul(x, numbers(r, TARN_SHAPE(1900, 6), 2)));
}

static const struct {
    const char *name;
    tarn_tensor (*make)(tarn_replica *r);
} sums[] = {
    { "columns", sum_of_columns },
    { "few columns", sum_of_few_columns },
    { "rows", sum_of_rows },
    { "planes", sum_of_planes },
    { "table", sum_of_table },
    { "rows with rests", sum_of_rows_with_rests },
    { "short rows", sum_of_short_rows },
    { "product", product },
    { "narrow product", narrow_product },
    { "short product", short_product },
    { "samples", sum_of_samples },
    { "product of samples", product_of_samples },
};

static size_t compute(const char *schedule, const char *target, size_t i, float *out)
{
    cr_assert_eq(setenv("TARN_SCHEDULE", schedule, 1), 0);
    cr_assert_eq(setenv("TARN_TARGET", target, 1), 0);
    cr_assert_eq(setenv("TARN_GEMM", "nest", 1), 0);
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const tarn_tensor y = sums[i].make(r);
    const size_t bytes = (size_t)tarn_shape_count(tarn_shape_get(y)) * sizeof *out;
    cr_assert_leq(bytes, MOST * sizeof *out);
    cr_assert_eq(tarn_read(y, out, bytes), TARN_OK, "%s", tarn_error(r));
    tarn_close(r);
    return bytes;
}

Test(long_sums, keep_their_bits, .timeout = 600)
{
    static const char *const targets[] = { "nvidia:132", "nvidia:8x64", "avx512:2", "avx2:64" };
    static float one[MOST], many[MOST];
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        const size_t bytes = compute("cpu", "avx512:1", i, one);
        for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
            memset(many, 0, bytes);
            cr_expect_eq(compute("auto", targets[t], i, many), bytes);
            cr_expect_eq(memcmp(one, many, bytes), 0, "%s, %s: bits differ", sums[i].name,
                         targets[t]);
        }
    }
}
