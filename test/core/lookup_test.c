/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a table, which registers read from their first element on: behind the last whole register, between zeros, in part,
 * of several tables at once, and where an index is out of range. */
#include <criterion/criterion.h>
#include <string.h>

#include "tarn.h"

enum { ROWS = 9, MOST = 100, INDICES = 7 };

static const int32_t indices[INDICES] = { 3, 0, 8, -5, 8, 41, 1 }; /* clamped to 0 and 8 */

static float element(int row, int column)
{
    return (float)(row * 1000 + column);
}

static float looked_up(int i, int column)
{
    const int32_t row = indices[i] < 0 ? 0 : indices[i] >= ROWS ? ROWS - 1 : indices[i];
    return element((int)row, column);
}

static tarn_tensor table(tarn_replica *r, int columns)
{
    static float x[ROWS * MOST];
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < columns; j++)
            x[i * columns + j] = element(i, j);
    return tarn_batch_axis(tarn_from(r, TARN_SHAPE(ROWS, columns), TARN_F32, x), TARN_NO_BATCH);
}

static tarn_tensor index_of(tarn_replica *r, bool batched)
{
    const tarn_tensor i = tarn_from(r, TARN_SHAPE(INDICES), TARN_I32, indices);
    return tarn_batch_axis(i, batched ? 0 : TARN_NO_BATCH);
}

static void read_all(tarn_tensor t, float *out, size_t count)
{
    cr_assert_eq(tarn_read(t, out, count * sizeof *out), TARN_OK, "%s", tarn_error(t.replica));
}

/* Widths below, at and above whole registers; with the batch first and without. */
Test(lookup, reads_rows)
{
    static const int widths[] = { 1, 15, 16, 17, 40, 64, 100 };
    static float y[INDICES * MOST];
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        for (int batched = 0; batched < 2; batched++) {
            const int columns = widths[w];
            tarn_replica *r = tarn_open(NULL);
            cr_assert_not_null(r, "%s", tarn_error(NULL));
            read_all(tarn_embedding(table(r, columns), index_of(r, batched == 1)), y,
                     (size_t)(INDICES * columns));
            for (int i = 0; i < INDICES; i++)
                for (int j = 0; j < columns; j++)
                    cr_expect_eq(y[i * columns + j], looked_up(i, j), "%d columns, [%d, %d]",
                                 columns, i, j);
            tarn_close(r);
        }
}

/* Zeros before and behind rows: some lanes of a register are outside, also of the table's first and last rows. */
Test(lookup, reads_rows_between_zeros)
{
    static float y[INDICES * 2 * MOST];
    for (int columns = 16; columns <= 48; columns += 8) {
        const int before = 5, wide = columns + before + 11;
        tarn_replica *r = tarn_open(NULL);
        cr_assert_not_null(r, "%s", tarn_error(NULL));
        const tarn_tensor x = tarn_embedding(table(r, columns), index_of(r, false));
        read_all(tarn_pad(x, TARN_SHAPE(0, before), TARN_SHAPE(0, 11), 0), y,
                 (size_t)(INDICES * wide));
        for (int i = 0; i < INDICES; i++)
            for (int j = 0; j < wide; j++) {
                const int at = j - before;
                cr_expect_eq(y[i * wide + j], at < 0 || at >= columns ? 0 : looked_up(i, at),
                             "%d columns, [%d, %d]", columns, i, j);
            }
        tarn_close(r);
    }
}

/* Every other column, in the other direction, and of a row that is computed. */
Test(lookup, reads_parts_of_rows)
{
    enum { COLUMNS = 80 };
    static float y[INDICES * COLUMNS];
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const tarn_tensor x = tarn_embedding(table(r, COLUMNS), index_of(r, false));
    read_all(tarn_slice(x, 1, 1, COLUMNS, 2), y, INDICES * COLUMNS / 2);
    for (int i = 0; i < INDICES; i++)
        for (int j = 0; j < COLUMNS / 2; j++)
            cr_expect_eq(y[i * COLUMNS / 2 + j], looked_up(i, 1 + 2 * j));
    read_all(tarn_flip(x, TARN_AXES(1)), y, INDICES * COLUMNS);
    for (int i = 0; i < INDICES; i++)
        for (int j = 0; j < COLUMNS; j++)
            cr_expect_eq(y[i * COLUMNS + j], looked_up(i, COLUMNS - 1 - j));
    const tarn_tensor next =
        tarn_add(index_of(r, false), tarn_cast(tarn_ones(r, TARN_SCALAR), TARN_I32));
    read_all(tarn_add(tarn_embedding(table(r, COLUMNS), next), x), y, INDICES * COLUMNS);
    for (int i = 0; i < INDICES; i++)
        for (int j = 0; j < COLUMNS; j++) {
            const int32_t row = indices[i] + 1;
            const float other = element(row < 0 ? 0 : row >= ROWS ? ROWS - 1 : (int)row, j);
            cr_expect_eq(y[i * COLUMNS + j], other + looked_up(i, j));
        }
    tarn_close(r);
}

/* Each lane has an index of its own. */
Test(lookup, reads_columns)
{
    enum { COLUMNS = 40, TAKEN = 48 };
    static float y[ROWS * TAKEN];
    int32_t column[TAKEN];
    for (int j = 0; j < TAKEN; j++)
        column[j] = j * 7 % COLUMNS;
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const tarn_tensor index =
        tarn_batch_axis(tarn_from(r, TARN_SHAPE(TAKEN), TARN_I32, column), TARN_NO_BATCH);
    read_all(tarn_index_select(table(r, COLUMNS), 1, index), y, ROWS * TAKEN);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < TAKEN; j++)
            cr_expect_eq(y[i * TAKEN + j], element(i, column[j]), "[%d, %d]", i, j);
    tarn_close(r);
}
