/* SPDX-License-Identifier: Apache-2.0 */
/* Sums by index: the gradient of an embedding is made in the order that docs/numerics.md says, to the bit, for
 * tables of any size, by both schedules, fused and not. The same additions in float on the host are the
 * reference. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tarn.h"

enum { LEVELS = 5 };

TestSuite(scatter, .timeout = 900);

struct table {
    int rows, width, samples,
        positions; /* index [samples, positions], or [samples] when that is 0 */
    int favourite; /* every so manieth index is row 2; 0: none */
};

static unsigned next(unsigned *state)
{
    *state = *state * 1664525U + 1013904223U;
    return *state >> 8;
}

/* Indices of all rows, a favourite, and some outside of the table. */
static void fill(const struct table *t, int count, int32_t *index, float *g)
{
    unsigned state = 7;
    for (int i = 0; i < count; i++) {
        index[i] = (int32_t)(next(&state) % (unsigned)t->rows);
        if (t->favourite > 0 && i % t->favourite == 0)
            index[i] = 2;
        if (i % 50 == 5)
            index[i] = i % 100 == 5 ? -3 - i : t->rows + i;
    }
    for (int64_t i = 0; i < (int64_t)count * t->width; i++)
        g[i] = (float)next(&state) / (float)(1 << 24) - 0.5f;
}

/* Chunks of 128 positions, sums of 128 of these, and so on; positions that name other rows add nothing. */
static float *summed(const struct table *t, int count, const int32_t *index, const float *g)
{
    const size_t all = (size_t)t->rows * (size_t)t->width;
    float *sums = calloc(LEVELS * all, sizeof *sums);
    cr_assert_not_null(sums);
    for (int i = 0; i < count; i++) {
        const int low = index[i] < 0 ? 0 : index[i], row = low < t->rows ? low : t->rows - 1;
        for (int c = 0; c < t->width; c++)
            sums[(size_t)row * (size_t)t->width + (size_t)c] +=
                g[(size_t)i * (size_t)t->width + (size_t)c];
        for (int l = 1; l < LEVELS && ((i + 1) % (1 << 7 * l) == 0 || i + 1 == count); l++)
            for (size_t e = 0; e < all; e++) {
                sums[(size_t)l * all + e] += sums[(size_t)(l - 1) * all + e];
                sums[(size_t)(l - 1) * all + e] = 0;
            }
    }
    memmove(sums, sums + (LEVELS - 1) * all, all * sizeof *sums);
    return sums;
}

static void check(struct table t, const char *name, const char *word)
{
    setenv(name, word, 1);
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const int count = t.samples * (t.positions > 0 ? t.positions : 1);
    const size_t bytes = (size_t)t.rows * (size_t)t.width * sizeof(float);
    int32_t *index = calloc((size_t)count + 1, sizeof *index);
    float *g = calloc((size_t)count * (size_t)t.width + 1, sizeof *g), *out = malloc(bytes);
    cr_assert(index != NULL && g != NULL && out != NULL);
    fill(&t, count, index, g);
    const tarn_shape at =
        t.positions > 0 ? TARN_SHAPE(t.samples, t.positions) : TARN_SHAPE(t.samples);
    const tarn_tensor table = tarn_zeros(r, TARN_SHAPE(t.rows, t.width));
    const tarn_tensor rows = tarn_embedding(table, tarn_from(r, at, TARN_I32, index));
    const tarn_tensor times = tarn_from(r, tarn_shape_get(rows), TARN_F32, g);
    tarn_tensor grad;
    tarn_gradients(tarn_sum(tarn_mul(rows, times), TARN_ALL, false), &table, 1, &grad);
    cr_assert_eq(tarn_read(grad, out, bytes), TARN_OK, "%s", tarn_error(r));
    float *wanted = summed(&t, count, index, g);
    int differ = 0;
    for (int64_t i = 0; i < (int64_t)t.rows * t.width; i++)
        differ += memcmp(&wanted[i], &out[i], sizeof *out) != 0;
    cr_expect_eq(differ, 0, "%d of [%d,%d] by %d indices differ", differ, t.rows, t.width, count);
    free(wanted);
    free(index);
    free(g);
    free(out);
    tarn_close(r);
    unsetenv(name);
}

static void check_all(struct table t)
{
    check(t, "TARN_FUSE", "1");
    check(t, "TARN_SCHEDULE", "gpu");
    check(t, "TARN_FUSE", "0");
    check(t, "TARN_TARGET", "neon");
}

Test(scatter, few_indices)
{
    check_all((struct table){ .rows = 7, .width = 5, .samples = 20 });
    check_all((struct table){ .rows = 300, .width = 16, .samples = 1 });
    check_all((struct table){ .rows = 1, .width = 1, .samples = 33 });
}

Test(scatter, a_row_of_many_positions)
{
    check_all((struct table){
        .rows = 50, .width = 33, .samples = 16, .positions = 1100, .favourite = 2 });
}

/* Rows of 64 lanes, 16, 4 and 1. */
Test(scatter, rows_of_all_widths)
{
    check_all((struct table){
        .rows = 50, .width = 85, .samples = 16, .positions = 1100, .favourite = 2 });
}

Test(scatter, every_position_names_one_row)
{
    check_all((struct table){ .rows = 3, .width = 17, .samples = 17000, .favourite = 1 });
}

Test(scatter, a_vocabulary)
{
    check_all((struct table){
        .rows = 8192, .width = 128, .samples = 32, .positions = 64, .favourite = 3 });
}

/* V * D of 51 million, where all products with all rows would be 10^11. */
Test(scatter, a_large_vocabulary)
{
    check(
        (struct table){
            .rows = 50257, .width = 64, .samples = 32, .positions = 64, .favourite = 3 },
        "TARN_FUSE", "1");
}

/* Rows of three digits, of which the first and the last are named, too. */
Test(scatter, a_table_of_many_rows)
{
    check_all((struct table){ .rows = 70000, .width = 1, .samples = 40000 });
}

/* Each line along axis 0 of [rows, 5] with an index of its own, of integers, so in any order the same sums. */
static void check_lines(const char *schedule, int rows, int count)
{
    enum { LINES = 5 };
    setenv("TARN_SCHEDULE", schedule, 1);
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const size_t bytes = (size_t)rows * LINES * sizeof(float);
    int32_t *index = calloc((size_t)count * LINES, sizeof *index);
    float *source = calloc((size_t)count * LINES, sizeof *source);
    float *wanted = calloc((size_t)rows * LINES, sizeof *wanted), *out = malloc(bytes);
    cr_assert(index != NULL && source != NULL && wanted != NULL && out != NULL);
    unsigned state = 3;
    for (int i = 0; i < count * LINES; i++) {
        index[i] = (int32_t)(next(&state) % (unsigned)rows);
        source[i] = (float)(next(&state) % 17) - 8;
        wanted[index[i] * LINES + i % LINES] += source[i];
    }
    const tarn_shape at = TARN_SHAPE(count, LINES);
    const tarn_tensor sums =
        tarn_scatter_add(tarn_zeros(r, TARN_SHAPE(rows, LINES)), 0,
                         tarn_from(r, at, TARN_I32, index), tarn_from(r, at, TARN_F32, source));
    cr_assert_eq(tarn_read(sums, out, bytes), TARN_OK, "%s", tarn_error(r));
    cr_expect_eq(memcmp(wanted, out, bytes), 0, "%s: %d rows, %d positions", schedule, rows, count);
    free(index);
    free(source);
    free(wanted);
    free(out);
    tarn_close(r);
    unsetenv("TARN_SCHEDULE");
}

Test(scatter, lines_of_their_own)
{
    const char *const schedules[] = { "cpu", "gpu" };
    for (int i = 0; i < 2; i++) {
        check_lines(schedules[i], 6, 3000);
        check_lines(schedules[i], 300, 5000);
        check_lines(schedules[i], 70000, 33000);
    }
}

/* [N, C, L, B] by an index [N, P, B] that all channels share, along axis 2, and what that gives as a source: the sum of each
 * element in the order of positions, in chunks of 128, to the bit. */
static void check_shared(const char *schedule, int samples, int channels, int length, int picks,
                         int beside)
{
    setenv("TARN_SCHEDULE", schedule, 1);
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const int lines = samples * channels, named = picks * beside, there = length * beside;
    int32_t *index = calloc((size_t)(samples * named), sizeof *index);
    float *x = calloc((size_t)(lines * there), sizeof *x);
    float *g = calloc((size_t)(lines * named), sizeof *g);
    float *found = calloc((size_t)(lines * named), sizeof *found);
    float *sums = calloc((size_t)(lines * there), sizeof *sums);
    cr_assert(index != NULL && x != NULL && g != NULL && found != NULL && sums != NULL);
    unsigned state = 5;
    for (int i = 0; i < samples * named; i++)
        index[i] = (int32_t)(next(&state) % (unsigned)length);
    for (int i = 0; i < lines * there; i++)
        x[i] = (float)next(&state) / (1 << 24) - 0.5f;
    for (int i = 0; i < lines * named; i++)
        g[i] = (float)next(&state) / (1 << 24) - 0.5f;
    const tarn_shape s = TARN_SHAPE(samples, channels, length, beside),
                     p = TARN_SHAPE(samples, channels, picks, beside);
    const tarn_tensor values = tarn_from(r, s, TARN_F32, x), given = tarn_from(r, p, TARN_F32, g);
    const tarn_tensor at =
        tarn_broadcast_to(tarn_from(r, TARN_SHAPE(samples, 1, picks, beside), TARN_I32, index), p);
    tarn_tensor out[2] = { tarn_gather(values, 2, at) };
    tarn_gradients(tarn_sum(tarn_mul(out[0], given), TARN_ALL, false), &values, 1, &out[1]);
    cr_assert_eq(tarn_eval(out, 2), TARN_OK, "%s", tarn_error(r));
    cr_assert_eq(tarn_read(out[0], found, (size_t)(lines * named) * sizeof *found), TARN_OK);
    cr_assert_eq(tarn_read(out[1], sums, (size_t)(lines * there) * sizeof *sums), TARN_OK);
    int differ = 0;
    for (int i = 0; i < lines * beside; i++) {
        const int line = i / beside, b = i % beside;
        const int32_t *of = index + line / channels * named + b;
        const float *terms = g + line * named + b;
        for (int k = 0; k < picks; k++)
            differ += found[line * named + k * beside + b] !=
                      x[line * there + of[k * beside] * beside + b];
        for (int row = 0; row < length; row++) {
            float sum = 0, chunk = 0;
            for (int k = 0; k < picks; k++) {
                chunk += of[k * beside] == row ? terms[k * beside] : 0;
                if (k % 128 == 127 || k + 1 == picks) {
                    sum += chunk;
                    chunk = 0;
                }
            }
            differ += sums[line * there + row * beside + b] != sum;
        }
    }
    cr_expect_eq(differ, 0, "%s: %d of %d x %d x %d x %d by %d differ", schedule, differ, samples,
                 channels, length, beside, picks);
    free(index);
    free(x);
    free(g);
    free(found);
    free(sums);
    tarn_close(r);
    unsetenv("TARN_SCHEDULE");
}

Test(scatter, lines_that_channels_share)
{
    const char *const schedules[] = { "cpu", "gpu" };
    for (int i = 0; i < 2; i++) {
        check_shared(schedules[i], 17, 5, 30, 40, 1);
        check_shared(schedules[i], 20, 19, 11, 128, 1);
        check_shared(schedules[i], 3, 33, 20, 300, 1);
        check_shared(schedules[i], 40, 1, 7, 250, 1);
        check_shared(schedules[i], 9, 17, 8, 60, 5);
    }
}

static void count_nests(tarn_log_level level, const char *text, void *user)
{
    (void)level;
    for (const char *at = text; (at = strstr(at, " scatter ")) != NULL; at++)
        ++*(int *)user;
}

/* Sums of rows of two ranks, by an index as it is, repeated, and reshaped: three passes that sort it, and three that sum. */
Test(scatter, uses_of_an_index_sort_it_once)
{
    enum { COUNT = 5000 };
    static int32_t index[COUNT];
    static float values[COUNT * 6];
    for (int i = 0; i < COUNT; i++)
        index[i] = i * 7 % 10;
    setenv("TARN_DEBUG", "fuse", 1);
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const tarn_tensor at = tarn_from(r, TARN_SHAPE(COUNT), TARN_I32, index);
    const tarn_tensor x = tarn_from(r, TARN_SHAPE(COUNT, 6), TARN_F32, values);
    const tarn_tensor y = tarn_from(r, TARN_SHAPE(COUNT, 2, 3), TARN_F32, values);
    const tarn_tensor table = tarn_zeros(r, TARN_SHAPE(10, 6));
    const tarn_tensor cubes = tarn_zeros(r, TARN_SHAPE(10, 2, 3));
    tarn_tensor all[3] = { tarn_index_add(cubes, 0, at, tarn_mul(y, y)) };
    const tarn_tensor repeated =
        tarn_broadcast_to(tarn_reshape(at, TARN_SHAPE(COUNT, 1)), TARN_SHAPE(COUNT, 6));
    all[1] = tarn_scatter_add(table, 0, repeated, tarn_exp(x));
    tarn_gradients(tarn_sum(tarn_mul(tarn_embedding(table, at), x), TARN_ALL, false), &table, 1,
                   &all[2]);
    int nests = 0;
    tarn_set_log(count_nests, &nests);
    cr_expect_eq(tarn_eval(all, 3), TARN_OK, "%s", tarn_error(r));
    tarn_set_log(NULL, NULL);
    cr_expect_eq(nests, 6, "%d passes", nests);
    tarn_close(r);
    unsetenv("TARN_DEBUG");
}

Test(scatter, no_index_at_all)
{
    check((struct table){ .rows = 4, .width = 20, .samples = 0 }, "TARN_FUSE", "1");
}

/* A position that the device counts is a scalar, which a reshape makes an index of one element. */
Test(scatter, a_scalar_made_an_index)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const float values[] = { 1, 2, 3, 4, 5, 6 }, more[] = { 10, 20 };
    const int32_t at = 2;
    const tarn_tensor x = tarn_from(r, TARN_SHAPE(3, 2), TARN_F32, values);
    const tarn_tensor row = tarn_from(r, TARN_SHAPE(1, 2), TARN_F32, more);
    const tarn_tensor index = tarn_reshape(tarn_from(r, TARN_SCALAR, TARN_I32, &at), TARN_SHAPE(1));
    const tarn_tensor wide =
        tarn_broadcast_to(tarn_reshape(index, TARN_SHAPE(1, 1)), TARN_SHAPE(1, 2));
    const tarn_tensor found[] = { tarn_index_select(x, 0, index), tarn_gather(x, 0, wide),
                                  tarn_index_add(x, 0, index, row),
                                  tarn_scatter_add(x, 0, wide, row) };
    const float expected[][6] = {
        { 5, 6 }, { 5, 6 }, { 1, 2, 3, 4, 15, 26 }, { 1, 2, 3, 4, 15, 26 }
    };
    for (size_t i = 0; i < sizeof found / sizeof *found; i++) {
        float out[6] = { 0 };
        const size_t bytes = (size_t)tarn_shape_count(tarn_shape_get(found[i])) * sizeof *out;
        cr_assert_eq(tarn_read(found[i], out, bytes), TARN_OK, "%zu: %s", i, tarn_error(r));
        cr_expect_arr_eq(out, expected[i], bytes, "%zu", i);
    }
    tarn_close(r);
}

/* Gradients of the gradient: reading by index again. */
Test(scatter, second_order)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const float values[] = { 1, 2, 3, 4, 5, 6 };
    const int32_t at[] = { 2, 0, 2, 2 };
    const tarn_tensor table = tarn_from(r, TARN_SHAPE(3, 2), TARN_F32, values);
    const tarn_tensor rows = tarn_embedding(table, tarn_from(r, TARN_SHAPE(4), TARN_I32, at));
    const tarn_tensor cubes = tarn_mul(tarn_mul(rows, rows), rows);
    tarn_tensor first, second;
    tarn_gradients(tarn_sum(cubes, TARN_ALL, false), &table, 1, &first);
    tarn_gradients(tarn_sum(tarn_mul(first, first), TARN_ALL, false), &table, 1, &second);
    float out[6];
    cr_assert_eq(tarn_read(second, out, sizeof out), TARN_OK, "%s", tarn_error(r));
    const float count[] = { 1, 0, 3 };
    for (int i = 0; i < 6; i++) { /* d (3 n x^2)^2 / dx = 36 n^2 x^3 */
        const float n = count[i / 2], x = values[i];
        cr_expect_eq(out[i], 36 * n * n * x * x * x, "%d: %g", i, (double)out[i]);
    }
    tarn_close(r);
}
