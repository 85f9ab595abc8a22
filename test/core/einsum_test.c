/* SPDX-License-Identifier: Apache-2.0 */
/* Einstein's sums of one operand (op/einsum.c): diagonals, sums and permutations by letters, next to loops on the host over
 * small whole numbers, whose sums are exact, and their gradients. Those of two operands are the fuzzer's. */
#include <criterion/criterion.h>

#include "tarn.h"

enum { A = 3, B = 5, C = 2, MOST = A * B * C * A };

static tarn_replica *opened(void)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    return r;
}

static float element(int i)
{
    return (float)(i * 7 % 23 - 11);
}

static tarn_tensor numbers(tarn_replica *r, tarn_shape s)
{
    float v[MOST];
    for (int i = 0; i < tarn_shape_count(s); i++)
        v[i] = element(i);
    return tarn_from(r, s, TARN_F32, v);
}

static void expect(const char *equation, tarn_tensor x, tarn_shape shape, const float *wanted)
{
    float seen[MOST];
    const tarn_tensor y = tarn_einsum(equation, x, TARN_NONE);
    const tarn_shape s = tarn_shape_get(y);
    const size_t count = (size_t)tarn_shape_count(shape);
    cr_assert_eq(s.rank, shape.rank, "%s", equation);
    for (int d = 0; d < s.rank; d++)
        cr_assert_eq(s.dim[d], shape.dim[d], "%s: axis %d", equation, d);
    cr_assert_eq(tarn_read(y, seen, count * sizeof *seen), TARN_OK, "%s", tarn_error(x.replica));
    for (size_t i = 0; i < count; i++)
        cr_expect_eq(seen[i], wanted[i], "%s: element %zu is %g, not %g", equation, i,
                     (double)seen[i], (double)wanted[i]);
}

Test(einsum, of_one_operand)
{
    tarn_replica *r = opened();
    float want[MOST] = { 0 }, trace = 0;
    const tarn_tensor square = numbers(r, TARN_SHAPE(A, A)), x = numbers(r, TARN_SHAPE(A, B, C, A));
    for (int i = 0; i < A; i++)
        trace += want[i] = element(i * A + i);
    expect("ii->i", square, TARN_SHAPE(A), want);
    expect("ii", square, TARN_SCALAR, &trace);
    expect("ii->", square, TARN_SCALAR, &trace);

    for (int i = 0; i < A; i++)
        for (int j = 0; j < A; j++)
            want[j * A + i] = element(i * A + j);
    expect("ij->ji", square, TARN_SHAPE(A, A), want);
    expect("ba", square, TARN_SHAPE(A, A), want); /* the alphabet's order */

    /* Of "iji" with an axis without a letter: sums over the diagonal of the first and last axis. */
    for (int c = 0; c < C; c++)
        for (int b = 0; b < B; b++) {
            want[c * B + b] = 0;
            for (int a = 0; a < A; a++)
                want[c * B + b] += element(((a * B + b) * C + c) * A + a);
        }
    expect("ijki->kj", x, TARN_SHAPE(C, B), want);
    expect("ij...i->...j", x, TARN_SHAPE(C, B), want);
    tarn_close(r);
}

/* Whole numbers stay what they are. */
Test(einsum, of_whole_numbers)
{
    static const int32_t v[A * A] = { 1, 2, 3, 1 << 30, 5, 6, 7, 8, (1 << 24) + 1 };
    int32_t seen = 0;
    tarn_replica *r = opened();
    const tarn_tensor y = tarn_einsum("ii", tarn_from(r, TARN_SHAPE(A, A), TARN_I32, v), TARN_NONE);
    cr_expect_eq(tarn_dtype_get(y), TARN_I32);
    cr_assert_eq(tarn_read(y, &seen, sizeof seen), TARN_OK, "%s", tarn_error(r));
    cr_expect_eq(seen, 1 + 5 + (1 << 24) + 1);
    tarn_close(r);
}

/* A diagonal's gradient is there alone, and a sum's everywhere. */
Test(einsum, gradients_of_one_operand)
{
    tarn_replica *r = opened();
    float seen[A * A];
    const tarn_tensor x = numbers(r, TARN_SHAPE(A, A));
    const tarn_tensor y = tarn_einsum("ii->i", x, TARN_NONE), all = tarn_einsum("ij", x, TARN_NONE);
    const tarn_tensor loss =
        tarn_add(tarn_sum(tarn_mul(y, y), TARN_ALL, false), tarn_einsum("ij->", all, TARN_NONE));
    tarn_tensor g;
    tarn_gradients(loss, &x, 1, &g);
    cr_assert_eq(tarn_read(g, seen, sizeof seen), TARN_OK, "%s", tarn_error(r));
    for (int i = 0; i < A * A; i++)
        cr_expect_eq(seen[i], 1 + (i / A == i % A ? 2 * element(i) : 0), "element %d", i);
    tarn_close(r);
}
