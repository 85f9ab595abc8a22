/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting beyond what random values meet: NaN, infinities, zeros of both signs, and lines of many lengths; cumulative
 * sums to the bit; products, searches and extremes by index; and lines that name the op and the limit. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tarn.h"

TestSuite(sorting, .timeout = 900);

/* Plans are compiled later, so the variable stays set. */
static tarn_replica *open_with(const char *name, const char *word)
{
    setenv(name, word, 1);
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    return r;
}

static void read_all(tarn_tensor t, void *out, size_t bytes)
{
    cr_assert_eq(tarn_read(t, out, bytes), TARN_OK, "%s", tarn_error(t.replica));
}

/* As torch.sort(x, stable=True) has it: -0 equals 0, and NaN of either sign is the largest. */
Test(sorting, special_values)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const float x[] = { NAN, 0.0f, INFINITY, -0.0f, -NAN, -INFINITY, -1e-45f, 1e-45f, 3.0f, -0.0f };
    const int up[] = { 5, 6, 1, 3, 9, 7, 8, 2, 0, 4 }, down[] = { 0, 4, 2, 8, 7, 1, 3, 9, 6, 5 };
    const tarn_tensor t = tarn_from(r, TARN_SHAPE(10), TARN_F32, x);
    for (int descending = 0; descending < 2; descending++) {
        int32_t at[10];
        float values[10];
        tarn_tensor order;
        const tarn_tensor sorted = tarn_sort(t, -1, descending != 0, &order);
        const tarn_tensor both = tarn_argsort(t, 0, descending != 0);
        read_all(sorted, values, sizeof values);
        read_all(order, at, sizeof at);
        for (int i = 0; i < 10; i++) {
            cr_expect_eq(at[i], descending ? down[i] : up[i], "%d: %d", i, (int)at[i]);
            cr_expect(memcmp(&values[i], &x[at[i]], sizeof *x) == 0 || isnan(values[i]), "%d", i);
        }
        read_all(both, values, sizeof values);
        cr_expect(memcmp(values, at, sizeof at) == 0);
    }
    const int32_t whole[] = { 3, INT32_MIN, 7, INT32_MAX, -1, 3 };
    const int largest[] = { 3, 2, 0 };
    int32_t at[3], values[3];
    tarn_tensor index;
    const tarn_tensor w = tarn_from(r, TARN_SHAPE(6), TARN_I32, whole);
    const tarn_tensor top = tarn_top_k(w, 3, 0, true, &index);
    read_all(top, values, sizeof values);
    read_all(index, at, sizeof at);
    for (int i = 0; i < 3; i++)
        cr_expect(at[i] == largest[i] && values[i] == whole[largest[i]], "%d: %d", i, (int)at[i]);
    tarn_close(r);
}

/* Whole numbers, of which many are equal; numbers that differ in all bits; such as differ in the last eight alone. */
enum numbers { FEW, ALL_BITS, LAST_BITS };

static float number_of(enum numbers kind, unsigned state)
{
    const float whole = (float)(int)(state >> 25) - 64;
    return kind == FEW        ? whole
           : kind == ALL_BITS ? whole + (float)(state & 0xffffff) * 0x1p-24f
                              : 1 + (float)(state >> 24) * 0x1p-23f;
}

static void check_lines(tarn_replica *r, int outer, int length, int inner, enum numbers kind)
{
    const int count = outer * length * inner;
    float *x = malloc((size_t)count * sizeof *x);
    int32_t *at = malloc((size_t)count * sizeof *at);
    unsigned state = 3;
    cr_assert(x != NULL && at != NULL);
    for (int i = 0; i < count; i++) {
        state = state * 1664525U + 1013904223U;
        x[i] = number_of(kind, state);
    }
    const tarn_shape shape = TARN_SHAPE(outer, length, inner);
    read_all(tarn_argsort(tarn_from(r, shape, TARN_F32, x), 1, false), at,
             (size_t)count * sizeof *at);
    int wrong = 0;
    for (int o = 0; o < outer; o++)
        for (int i = 0; i < inner; i++)
            for (int k = 1; k < length;
                 k++) { /* strictly rising (value, position): a stable order */
                const int *line = at + o * length * inner + i;
                const int a = line[(k - 1) * inner], b = line[k * inner];
                const float *from = x + o * length * inner + i;
                wrong += a < 0 || b < 0 || a >= length || b >= length;
                if (wrong == 0)
                    wrong += !(from[a * inner] < from[b * inner] ||
                               (from[a * inner] == from[b * inner] && a < b));
            }
    cr_expect_eq(wrong, 0, "[%d,%d,%d]: %d wrong", outer, length, inner, wrong);
    free(x);
    free(at);
}

/* Around the lengths of runs, of pieces of merges, and of merges. */
static void check_lengths(const char *name, const char *word)
{
    tarn_replica *r = open_with(name, word);
    const int lengths[] = { 1, 2, 31, 32, 33, 64, 65, 127, 129, 4097 };
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        check_lines(r, i % 2 == 0 ? 3 : 17, lengths[i], i % 3 == 0 ? 1 : 2, FEW);
    check_lines(r, 1, 100003, 1, FEW);
    for (int kind = FEW; kind <= LAST_BITS; kind++) {
        check_lines(r, 20, 300, 1, (enum numbers)kind);
        check_lines(r, 7, 300, 3, (enum numbers)kind);
    }
    tarn_close(r);
}

/* A few of the first are found without sorting: the same ones, in the same order, also among equal elements. */
static void compare_first(tarn_replica *r, tarn_shape s, int axis)
{
    enum { MOST = 4 * 300 * 3 };
    static const int counts[] = { 1, 2, 31, 32, 33 };
    float x[MOST];
    static int32_t all[MOST], first[MOST];
    for (int i = 0; i < (int)tarn_shape_count(s); i++) {
        const unsigned word = (unsigned)i * 2654435761u >> 12;
        x[i] = word % 29 == 0   ? NAN
               : word % 31 == 0 ? -INFINITY
               : word % 37 == 0 ? -0.0f
                                : (float)(word % 13) - 6;
    }
    const int length = s.dim[axis];
    int inner = 1;
    for (int d = axis + 1; d < s.rank; d++)
        inner *= s.dim[d];
    const tarn_tensor t = tarn_from(r, s, TARN_F32, x);
    for (int largest = 0; largest < 2; largest++) {
        read_all(tarn_argsort(t, axis, largest != 0), all,
                 sizeof *all * (size_t)tarn_shape_count(s));
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            tarn_tensor index;
            const int k = counts[c], lines = (int)tarn_shape_count(s) / length;
            (void)tarn_top_k(t, k, axis, largest != 0, &index);
            read_all(index, first, sizeof *first * (size_t)(lines * k));
            for (int i = 0; i < lines * k; i++) {
                const int line = i / (k * inner), at = i / inner % k, in = i % inner;
                cr_assert_eq(first[i], all[(line * length + at) * inner + in],
                             "%d of %d along axis %d, largest %d: number %d", k, length, axis,
                             largest, at);
            }
        }
    }
}

static void compare_firsts(const char *schedule)
{
    tarn_replica *r = open_with("TARN_SCHEDULE", schedule);
    compare_first(r, TARN_SHAPE(4, 300), 1);
    compare_first(r, TARN_SHAPE(300, 4), 0);
    compare_first(r, TARN_SHAPE(2, 40, 3), 1);
    compare_first(r, TARN_SHAPE(33), 0);
    tarn_close(r);
}

Test(sorting, few_of_the_first)
{
    compare_firsts("cpu");
    compare_firsts("gpu");
}

Test(sorting, lines_of_many_lengths)
{
    check_lengths("TARN_FUSE", "1");
}

Test(sorting, lines_of_many_lengths_for_a_gpu)
{
    check_lengths("TARN_SCHEDULE", "gpu");
}

/* Each element is the sum of chunks of 128 terms, as if it were the last one. */
static void check_cumsum(const char *name, const char *word)
{
    enum { LENGTH = 17000, LINES = 3 };
    static float x[LENGTH * LINES], y[LENGTH * LINES];
    tarn_replica *r = open_with(name, word);
    unsigned state = 5;
    for (int i = 0; i < LENGTH * LINES; i++) {
        state = state * 1664525U + 1013904223U;
        x[i] = (float)(state >> 8) / (float)(1 << 24) - 0.25f;
    }
    const tarn_tensor t = tarn_from(r, TARN_SHAPE(LENGTH, LINES), TARN_F32, x);
    read_all(tarn_cumsum(t, 0), y, sizeof y);
    int wrong = 0;
    for (int line = 0; line < LINES; line++) {
        float level[3] = { 0, 0, 0 };
        for (int i = 0; i < LENGTH; i++) {
            level[0] += x[i * LINES + line];
            const float below = level[1] + level[0], sum = level[2] + below;
            wrong += memcmp(&sum, &y[i * LINES + line], sizeof sum) != 0;
            if ((i + 1) % 128 == 0) {
                level[1] = below;
                level[0] = 0;
            }
            if ((i + 1) % (128 * 128) == 0) {
                level[2] = sum;
                level[1] = 0;
            }
        }
    }
    cr_expect_eq(wrong, 0, "%d sums differ", wrong);
    const tarn_tensor whole = tarn_cumsum(tarn_arange(r, 300), 0);
    int32_t sums[300];
    read_all(whole, sums, sizeof sums);
    for (int i = 0; i < 300; i++)
        cr_expect_eq(sums[i], i * (i + 1) / 2, "%d", i);
    tarn_close(r);
}

/* Of one line, whose elements lie `apart` elements apart, from either end. */
static int wrong_sums(const float *x, const float *y, int length, int apart, bool backwards)
{
    float low = 0, high = 0;
    int wrong = 0;
    for (int i = 0; i < length; i++) {
        const int at = (backwards ? length - 1 - i : i) * apart;
        low += x[at];
        const float sum = high + low;
        wrong += memcmp(&sum, &y[at], sizeof sum) != 0;
        if ((i + 1) % 128 == 0) {
            high = sum;
            low = 0;
        }
    }
    return wrong;
}

/* Sixteen lines at a time, and the rest, along memory and across it; gradients go backwards. */
static void check_many_lines(const char *schedule)
{
    enum { LENGTH = 307, LINES = 40 };
    static float x[LENGTH * LINES], y[LENGTH * LINES], g[LENGTH * LINES];
    tarn_replica *r = open_with("TARN_SCHEDULE", schedule);
    for (int i = 0; i < LENGTH * LINES; i++)
        x[i] = (float)((unsigned)i * 2654435761u >> 8) / (float)(1 << 24) - 0.25f;
    for (int axis = 0; axis < 2; axis++) {
        const int apart = axis == 0 ? LINES : 1, next = axis == 0 ? 1 : LENGTH;
        const tarn_shape s = axis == 0 ? TARN_SHAPE(LENGTH, LINES) : TARN_SHAPE(LINES, LENGTH);
        const tarn_tensor t = tarn_from(r, s, TARN_F32, x), w = tarn_from(r, s, TARN_F32, x);
        const tarn_tensor sums = tarn_cumsum(t, axis);
        tarn_tensor gradient;
        tarn_gradients(tarn_sum(tarn_mul(sums, w), TARN_ALL, false), &t, 1, &gradient);
        read_all(sums, y, sizeof y);
        read_all(gradient, g, sizeof g);
        int wrong = 0;
        for (int line = 0; line < LINES; line++)
            wrong += wrong_sums(x + line * next, y + line * next, LENGTH, apart, false) +
                     wrong_sums(x + line * next, g + line * next, LENGTH, apart, true);
        cr_expect_eq(wrong, 0, "axis %d for a %s: %d sums differ", axis, schedule, wrong);
    }
    tarn_close(r);
}

Test(sorting, cumulative_sums_of_many_lines)
{
    check_many_lines("cpu");
    check_many_lines("gpu");
}

Test(sorting, cumulative_sums)
{
    check_cumsum("TARN_FUSE", "1");
    check_cumsum("TARN_SCHEDULE", "gpu");
}

/* Elements before a value as torch.searchsorted counts them, which has no order of NaN among sorted elements: there
 * they come after numbers, as tarn_sort has them. */
Test(sorting, search)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const float line[] = { -INFINITY, -1, 0, 0, 2, 2, 2, 5, INFINITY, NAN };
    const float value[] = { -INFINITY, -2, -0.0f, 1, 2, 5, 9, INFINITY, NAN };
    const int left[] = { 0, 1, 2, 4, 4, 7, 8, 8, 10 }, right[] = { 1, 1, 4, 4, 7, 8, 8, 9, 10 };
    const tarn_tensor values = tarn_from(r, TARN_SHAPE(3, 3), TARN_F32, value);
    for (int length = 0; length <= 10; length++) { /* of lines, whose halves are powers of two */
        const tarn_tensor sorted = tarn_from(r, TARN_SHAPE(length), TARN_F32, line);
        for (int side = 0; side < 2; side++) {
            const int *whole = side ? right : left;
            int32_t at[9];
            read_all(tarn_searchsorted(sorted, values, side != 0), at, sizeof at);
            for (int i = 0; i < 9; i++)
                cr_expect_eq(at[i], whole[i] < length ? whole[i] : length, "%d, %d: %d", length, i,
                             (int)at[i]);
        }
    }
    const int64_t far[] = { INT64_MIN, -5, INT64_C(1) << 40, INT64_C(1) << 40, INT64_MAX, 0 };
    int32_t at[3];
    const tarn_tensor t = tarn_from(r, TARN_SHAPE(1, 6), TARN_I64, far);
    read_all(tarn_searchsorted(tarn_slice(t, 1, 0, 5, 2), tarn_slice(t, 1, 1, 6, 2), true), at,
             sizeof at);
    cr_expect(at[0] == 1 && at[1] == 2 && at[2] == 1, "%d %d %d", at[0], at[1], at[2]);
    read_all(
        tarn_searchsorted(tarn_from(r, TARN_SHAPE(10), TARN_F32, line), tarn_number(r, 2), true),
        at, sizeof *at);
    cr_expect_eq(at[0], 7, "of a scalar %d", (int)at[0]);
    tarn_close(r);
}

/* Zeros, and whole numbers, which random programs have no products of. */
Test(sorting, cumulative_products)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const float x[] = { 1, 2, 0, 3, -1, 0, 2, 2 }, slopes[] = { 3, 1, 2, 0, 0, 0, 0, 0 };
    const uint8_t w[] = { 3, 200, 200, 0 };
    const int32_t products[] = { 3, 600, 120000, 0 };
    float y[8];
    int32_t whole[4];
    const tarn_tensor t = tarn_from(r, TARN_SHAPE(8), TARN_F32, x);
    tarn_tensor slope;
    tarn_gradients(tarn_sum(tarn_cumprod(t, -1), TARN_ALL, false), &t, 1, &slope);
    read_all(slope, y, sizeof y);
    for (int i = 0; i < 8; i++)
        cr_expect_eq(y[i], slopes[i], "slope %d: %g", i, (double)y[i]);
    read_all(tarn_cumprod(tarn_from(r, TARN_SHAPE(4), TARN_U8, w), 0), whole, sizeof whole);
    cr_expect_arr_eq(whole, products, sizeof whole);
    const tarn_tensor half = tarn_cast(tarn_full(r, TARN_SHAPE(8), 1.0234375f), TARN_BF16);
    read_all(tarn_cast(tarn_cumprod(half, 0), TARN_F32), y, sizeof y);
    cr_expect_eq(y[7], 1.203125f, "rounded once %g", (double)y[7]); /* of 1.2036; else 1.195 */
    cr_expect_eq(tarn_dtype_get(tarn_cumprod(tarn_cast(t, TARN_F16), 0)), TARN_F16);
    cr_expect_eq(tarn_dtype_get(tarn_zeros_like(tarn_cast(t, TARN_F16))), TARN_F16);
    tarn_close(r);
}

/* Extremes of numbers that random programs have not: NaN, infinities, a float64 source and half ones. */
Test(sorting, scattered_extremes)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const float x[] = { -INFINITY, 1, 2, -INFINITY, 0 }, from[] = { 3, NAN, 2, 2, -7, INFINITY };
    const int32_t at[] = { 0, 1, 2, 2, 0, 9 }; /* 9 is 4 */
    const float most[] = { 3, NAN, 2, -INFINITY, INFINITY },
                least[] = { -INFINITY, NAN, 2, -INFINITY, 0 };
    const float slopes[] = { 1, 0, 1 / 3.0f, 1 / 3.0f, 0, 0 };
    const tarn_tensor base = tarn_from(r, TARN_SHAPE(5), TARN_F32, x);
    const tarn_tensor index = tarn_from(r, TARN_SHAPE(6), TARN_I32, at);
    const tarn_tensor source = tarn_from(r, TARN_SHAPE(6), TARN_F32, from);
    float y[6];
    tarn_tensor largest = tarn_scatter_max(base, 0, index, source), slope;
    for (int k = 0; k < 2; k++) {
        const float *want = k ? least : most;
        read_all(k ? tarn_scatter_min(base, 0, index, source) : largest, y, sizeof *y * 5);
        for (int i = 0; i < 5; i++)
            cr_expect(y[i] == want[i] || (isnan(y[i]) && isnan(want[i])), "%d, %d: %g", k, i,
                      (double)y[i]);
    }
    tarn_gradients(tarn_sum(tarn_slice(largest, 0, 2, 3, 1), TARN_ALL, false), &source, 1, &slope);
    read_all(slope, y, sizeof y);
    for (int i = 2; i < 4; i++)
        cr_expect(fabsf(y[i] - slopes[i]) <= 0x1p-25f, "slope %d: %g", i, (double)y[i]);
    largest = tarn_scatter_max(tarn_cast(base, TARN_F16), 0, index, tarn_cast(source, TARN_F16));
    cr_expect_eq(tarn_dtype_get(largest), TARN_F16);
    largest = tarn_scatter_max(base, 0, tarn_slice(index, 0, 0, 0, 1), source);
    read_all(largest, y, sizeof *y * 5);
    cr_expect(memcmp(y, x, sizeof x) == 0);
    tarn_close(r);
}

/* Rows of 64 lanes, 16 and single elements, some of which no index names. */
static void check_wide_extremes(const char *schedule)
{
    enum { ROWS = 40, TERMS = 300, WIDTH = 83 };
    setenv("TARN_SCHEDULE", schedule, 1);
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    static int32_t index[TERMS];
    static float from[TERMS][WIDTH], want[ROWS][WIDTH], got[ROWS][WIDTH];
    for (int k = 0; k < ROWS; k++)
        for (int c = 0; c < WIDTH; c++)
            want[k][c] = -2;
    for (int i = 0; i < TERMS; i++) {
        index[i] = i * i % 37;
        for (int c = 0; c < WIDTH; c++) {
            from[i][c] = (float)((i * 131 + c * 17) % 1009) / 256 - 3;
            if (i == 50 && c % 20 == 2)
                from[i][c] = NAN;
            float *w = &want[index[i]][c];
            *w = isnan(from[i][c]) || from[i][c] > *w ? from[i][c] : *w;
        }
    }
    const tarn_tensor rows =
        tarn_reshape(tarn_from(r, TARN_SHAPE(TERMS), TARN_I32, index), TARN_SHAPE(TERMS, 1));
    const tarn_tensor y = tarn_scatter_max(tarn_full(r, TARN_SHAPE(ROWS, WIDTH), -2), 0,
                                           tarn_broadcast_to(rows, TARN_SHAPE(TERMS, WIDTH)),
                                           tarn_from(r, TARN_SHAPE(TERMS, WIDTH), TARN_F32, from));
    read_all(y, got, sizeof got);
    for (int k = 0; k < ROWS; k++)
        for (int c = 0; c < WIDTH; c++)
            cr_expect(got[k][c] == want[k][c] || (isnan(got[k][c]) && isnan(want[k][c])),
                      "%s [%d,%d]: %g, not %g", schedule, k, c, (double)got[k][c],
                      (double)want[k][c]);
    tarn_close(r);
    unsetenv("TARN_SCHEDULE");
}

/* A sorted line's gradient goes back to where each element was, and of the first few of a line the others' is 0. */
Test(sorting, gradients_of_orders)
{
    enum { LINES = 20, LENGTH = 200, FIRST = 40 };
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    static float x[LINES][LENGTH], g[LINES][LENGTH], got[LINES][LENGTH];
    static int32_t at[LINES * LENGTH];
    for (int i = 0; i < LINES * LENGTH; i++) {
        x[i / LENGTH][i % LENGTH] = (float)(i * 7919 % 611) - 300;
        g[i / LENGTH][i % LENGTH] = (float)(i % 97) - 48.5f;
    }
    const tarn_shape all = TARN_SHAPE(LINES, LENGTH), some = TARN_SHAPE(LINES, FIRST);
    for (int k = 0; k < 2; k++) {
        const tarn_tensor t = tarn_from(r, all, TARN_F32, x);
        tarn_tensor order, slope;
        const tarn_tensor y =
            k ? tarn_top_k(t, FIRST, 1, true, &order) : tarn_sort(t, 1, false, &order);
        const tarn_tensor times = tarn_from(r, k ? some : all, TARN_F32, g);
        tarn_gradients(tarn_sum(tarn_mul(y, times), TARN_ALL, false), &t, 1, &slope);
        read_all(order, at, (size_t)tarn_shape_count(k ? some : all) * sizeof *at);
        read_all(slope, got, sizeof got);
        const int length = k ? FIRST : LENGTH;
        for (int l = 0; l < LINES; l++)
            for (int i = 0; i < LENGTH; i++) {
                float want = 0;
                for (int j = 0; j < length; j++)
                    if (at[l * length + j] == i)
                        want = g[(l * length + j) / LENGTH][(l * length + j) % LENGTH];
                cr_expect_eq(got[l][i], want, "%d [%d,%d]: %g, not %g", k, l, i, (double)got[l][i],
                             (double)want);
            }
    }
    tarn_close(r);
}

Test(sorting, scattered_extremes_of_rows)
{
    check_wide_extremes("cpu");
    check_wide_extremes("gpu");
}

/* What is kept right behind a routine's result, and has as many elements as the routine has pieces. */
static void keep_behind_routines(const char *name, const char *word)
{
    tarn_replica *r = open_with(name, word);
    const float x[] = { 3, 1, 2, 7, 5 };
    const int32_t at[] = { 4, 0, 4 };
    const float want[][5] = { { 7 }, { 3 }, { 1, 0, 0, 0, 2 }, { 3, 1, 2, 7, 5 } };
    const int sizes[] = { 1, 1, 5, 5 };
    const tarn_tensor whole = tarn_from(r, TARN_SHAPE(5), TARN_F32, x);
    const tarn_tensor table = tarn_reshape(whole, TARN_SHAPE(5, 1));
    const tarn_tensor rows = tarn_embedding(table, tarn_from(r, TARN_SHAPE(3), TARN_I32, at));
    tarn_tensor kept[4], slope;
    tarn_gradients(tarn_sum(rows, TARN_ALL, false), &table, 1, &slope);
    kept[0] = tarn_keep(tarn_sort(tarn_from(r, TARN_SHAPE(1), TARN_F32, x + 3), 0, false, NULL));
    kept[1] = tarn_keep(tarn_from(r, TARN_SHAPE(1), TARN_F32, x));
    kept[2] = tarn_keep(slope);
    kept[3] = tarn_keep(whole);
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    for (int k = 0; k < 4; k++) {
        float got[5];
        const size_t bytes = (size_t)sizes[k] * sizeof *got;
        read_all(kept[k], got, bytes);
        cr_expect(memcmp(got, want[k], bytes) == 0, "%s=%s: result %d", name, word, k);
    }
    tarn_close(r);
}

Test(sorting, results_beside_routines)
{
    keep_behind_routines("TARN_SCHEDULE", "cpu");
    keep_behind_routines("TARN_SCHEDULE", "gpu");
}

static void refused(tarn_tensor t, const char *text)
{
    cr_expect(tarn_failed(t));
    cr_expect_not_null(strstr(tarn_error(t.replica), text), "no \"%s\" in: %s", text,
                       tarn_error(t.replica));
    tarn_error_clear(t.replica);
}

Test(sorting, lines_of_error)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const tarn_tensor x = tarn_buffer(r, "x", TARN_SHAPE(4, 5), TARN_F32, NULL);
    const tarn_tensor n = tarn_buffer(r, "n", TARN_SHAPE(3), TARN_I32, NULL);
    const tarn_tensor wide = tarn_buffer(r, "wide", TARN_SHAPE(2, 6), TARN_I32, NULL);
    const tarn_tensor none = tarn_buffer(r, "none", TARN_SHAPE(2, 0), TARN_F32, NULL);
    refused(tarn_gather(x, 0, n), "gather: index [3] along axis 0 of [4,5]");
    refused(tarn_gather(x, 0, wide), "none but axis 0 longer");
    refused(tarn_gather(none, 1, wide), "elements to name");
    refused(tarn_gather(x, 1, x), "gather: the index is float32");
    refused(tarn_gather(x, 2, wide), "gather: axis 2");
    refused(tarn_scatter_add(x, 1, wide, tarn_ones(r, TARN_SHAPE(2, 5))),
            "scatter_add: source [2,5] of index [2,6]");
    refused(tarn_scatter_add(wide, 1, wide, tarn_ones(r, TARN_SHAPE(2, 6))),
            "scatter_add: x is int32");
    refused(tarn_index_select(x, 1, wide), "index_select: int32 index [2,6]");
    refused(tarn_top_k(x, 6, 1, true, NULL),
            "top_k: 6 elements of axis 1 of [4,5], must be 0 to 5");
    refused(tarn_sort(tarn_ones(r, TARN_SCALAR), 0, false, NULL), "sort: axis 0");
    refused(tarn_cumsum(x, -3), "cumsum: axis -3");
    refused(tarn_cumprod(x, 2), "cumprod: axis 2");
    refused(tarn_scatter_max(x, 1, wide, tarn_ones(r, TARN_SHAPE(2, 5))),
            "scatter_max: source [2,5] of index [2,6]");
    refused(tarn_scatter_min(wide, 1, wide, wide), "scatter_min: x is int32");
    refused(tarn_searchsorted(x, tarn_ones(r, TARN_SHAPE(3, 5)), true),
            "searchsorted: values [3,5] among sorted [4,5]");
    refused(tarn_searchsorted(n, x, true), "searchsorted: values are float32, sorted is int32");
    refused(tarn_searchsorted(tarn_ones(r, TARN_SCALAR), x, true), "among sorted []");
    tarn_close(r);
}
