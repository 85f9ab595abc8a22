/* SPDX-License-Identifier: Apache-2.0 */
/* Sums whose results are no multiple of a tile or of a register: the last ones begin among the elements of those before, which
 * are computed twice. All numbers are small and whole, so that every order of a sum has the same value. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "tarn.h"

enum { ROWS = 83, TERMS = 40, COLUMNS = 44, MOST_TOKENS = 1000, MOST = 1 << 19 };

/* Primes around one, two and many tiles and registers, and one that has only a small divisor. */
static const int extents[] = { 17, 29, 37, 49, 101, 197, 257, 1000 };

static int left(int i, int k)
{
    return (i * 7 + k * 3) % 5 - 2;
}

static int right(int k, int j)
{
    return (k * 5 + j * 11) % 7 - 3;
}

static int dot(int i, int j)
{
    int sum = 0;
    for (int k = 0; k < TERMS; k++)
        sum += left(i, k) * right(k, j);
    return sum;
}

static tarn_tensor table(tarn_replica *r, int rows, int columns, int (*element)(int, int))
{
    float *v = calloc((size_t)rows * (size_t)columns, sizeof *v);
    cr_assert_not_null(v);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            v[i * columns + j] = (float)element(i, j);
    const tarn_tensor x = tarn_from(r, TARN_SHAPE(rows, columns), TARN_F32, v);
    free(v);
    return x;
}

static tarn_tensor plain(tarn_tensor x)
{
    return tarn_batch_axis(x, TARN_NO_BATCH);
}

static void expect(tarn_tensor y, int rows, int columns, int (*value)(int, int), const char *what)
{
    static float got[MOST];
    cr_assert_eq(tarn_read(y, got, (size_t)(rows * columns) * sizeof *got), TARN_OK);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            cr_expect_eq(got[i * columns + j], (float)value(i, j),
                         "%s of %d x %d: [%d, %d] is %g, must be %d", what, rows, columns, i, j,
                         (double)got[i * columns + j], value(i, j));
}

static int relu_of_dot(int i, int j)
{
    const int d = dot(i, j) + j % 3;
    return d > 0 ? d : 0;
}

static int column_number(int i, int j)
{
    (void)i;
    return j % 3;
}

static int dot_turned(int j, int i)
{
    return dot(i, j);
}

static int five_dots(int i, int j)
{
    return 5 * dot(i, j);
}

static int sum_over_terms(int i, int j)
{
    int sum = 0;
    for (int k = 0; k < TERMS; k++)
        sum += left(i, k) + right(k, j);
    return sum;
}

/* Lanes are samples, tiles go along the columns; then also the other way, and with what is done to a result. */
static void products(tarn_replica *r, int n)
{
    const tarn_tensor x = table(r, ROWS, TERMS, left), w = table(r, TERMS, n, right);
    expect(tarn_matmul(x, w), ROWS, n, dot, "a product of samples");
    const tarn_tensor bias = tarn_reshape(table(r, 1, n, column_number), TARN_SHAPE(n));
    expect(tarn_relu(tarn_add(tarn_matmul(x, w), bias)), ROWS, n, relu_of_dot, "an epilogue");
    expect(tarn_matmul(plain(x), plain(w)), ROWS, n, dot, "a product");
    expect(tarn_matmul(tarn_transpose(plain(w), 0, 1), tarn_transpose(plain(x), 0, 1)), n, ROWS,
           dot_turned, "a product of columns");
}

/* Few rows have several registers of columns side by side; that there are so many columns is divided among groups. */
static void few_rows(tarn_replica *r, int n)
{
    enum { FEW = 3 };
    const tarn_tensor w = plain(table(r, TERMS, n, right));
    expect(tarn_matmul(plain(table(r, FEW, TERMS, left)), w), FEW, n, dot, "a product of few rows");
    expect(tarn_matmul(plain(table(r, 1, TERMS, left)), w), 1, n, dot, "a product of one row");
}

/* What is added to in its place must be added to once. */
static void added_in_place(tarn_replica *r, int n)
{
    const tarn_tensor x = tarn_keep(plain(table(r, ROWS, TERMS, left))),
                      w = tarn_keep(plain(table(r, TERMS, n, right)));
    const tarn_tensor y = tarn_keep(tarn_zeros(r, TARN_SHAPE(ROWS, n)));
    for (int i = 0; i < 5; i++) {
        tarn_assign(y, tarn_add(y, tarn_matmul(x, w)));
        cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    }
    expect(y, ROWS, n, five_dots, "five products added in place");
}

/* Sums that are not products, along the axis in the middle. */
static void sums(tarn_replica *r, int n)
{
    const tarn_tensor x =
        tarn_reshape(plain(table(r, ROWS, TERMS, left)), TARN_SHAPE(ROWS, TERMS, 1));
    const tarn_tensor w = tarn_reshape(plain(table(r, TERMS, n, right)), TARN_SHAPE(1, TERMS, n));
    expect(tarn_sum(tarn_add(x, w), TARN_AXES(1), false), ROWS, n, sum_over_terms, "a sum");
}

static int token(int row, int j)
{
    return 2 * dot(row, j) + j % 3;
}

/* Groups have some samples each of a chain of products, and none of another's. */
static void tokens(tarn_replica *r, int n)
{
    enum { SAMPLES = 11 };
    static float once[SAMPLES * MOST_TOKENS * TERMS], twice[TERMS * TERMS];
    const int rows = SAMPLES * n;
    for (int i = 0; i < rows * TERMS; i++)
        once[i] = (float)left(i / TERMS, i % TERMS);
    for (int i = 0; i < TERMS; i++)
        twice[i * TERMS + i] = 2;
    tarn_tensor x = tarn_from(r, TARN_SHAPE(SAMPLES, n, TERMS), TARN_F32, once);
    const tarn_tensor w = tarn_from(r, TARN_SHAPE(TERMS, TERMS), TARN_F32, twice);
    const tarn_tensor bias = tarn_reshape(table(r, 1, COLUMNS, column_number), TARN_SHAPE(COLUMNS));
    x = tarn_matmul(x, w); /* exactly 2 x, read by another product */
    x = tarn_add(tarn_matmul(x, table(r, TERMS, COLUMNS, right)), bias);
    expect(tarn_reshape(x, TARN_SHAPE(rows, COLUMNS)), rows, COLUMNS, token, "a chain of tokens");
}

static void all_forms(const char *target)
{
    cr_assert_eq(setenv("TARN_TARGET", target, 1), 0);
    cr_assert_eq(setenv("TARN_GEMM", "nest", 1), 0);
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    for (size_t i = 0; i < sizeof extents / sizeof *extents; i++) {
        products(r, extents[i]);
        few_rows(r, extents[i]);
        added_in_place(r, extents[i]);
        sums(r, extents[i]);
        tokens(r, extents[i]);
    }
    tarn_close(r);
}

Test(overlap, of_any_extent_on_one_unit, .timeout = 600)
{
    all_forms("avx512:1");
}

/* Groups share an axis whose last tile overlaps. */
Test(overlap, of_any_extent_on_many_units, .timeout = 600)
{
    all_forms("avx2:64");
}
