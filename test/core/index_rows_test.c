/* SPDX-License-Identifier: Apache-2.0 */
/* An index that is repeated along other axes moves rows, and is sorted once: what is read and summed by it, and the
 * gradients, have the bits that they have with the same index written out, of which nobody knows that it repeats. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tarn.h"

TestSuite(index_rows, .timeout = 900);

enum { READ, SUMMED, READ_GRAD, SUMMED_GRAD, RESULTS, MOST = 6000 };

struct results {
    float f[RESULTS][MOST];
    double d[RESULTS][MOST];
    int32_t picked[MOST];
};

/* Index [few of `at`] along an axis, which is repeated where `at` has 1 and `whole` has not. */
struct rows {
    tarn_shape x, whole, at;
    int axis;
};

static unsigned next(unsigned *state)
{
    *state = *state * 1664525U + 1013904223U;
    return *state >> 8;
}

/* The element of the short index that stands at element i of the whole one. */
static int64_t short_position(const struct rows *c, int64_t i)
{
    int64_t at = 0, pitch = 1;
    for (int d = c->at.rank - 1; d >= 0; d--) {
        at += c->at.dim[d] == 1 ? 0 : i % c->whole.dim[d] * pitch;
        pitch *= c->at.dim[d];
        i /= c->whole.dim[d];
    }
    return at;
}

static tarn_tensor numbers(tarn_replica *r, tarn_shape s, tarn_dtype dtype, unsigned state)
{
    float values[MOST];
    for (int64_t i = 0; i < tarn_shape_count(s); i++)
        values[i] = (float)next(&state) / (float)(1 << 24) - 0.5f;
    return tarn_cast(tarn_from(r, s, TARN_F32, values), dtype);
}

static void read(tarn_tensor t, void *to, size_t size)
{
    const size_t bytes = (size_t)tarn_shape_count(tarn_shape_get(t)) * size;
    cr_assert_leq(bytes, MOST * size);
    cr_assert_eq(tarn_read(t, to, bytes), TARN_OK, "%s", tarn_error(t.replica));
}

static void compute(tarn_replica *r, const struct rows *c, tarn_tensor index, tarn_dtype dtype,
                    struct results *out)
{
    const tarn_tensor x = numbers(r, c->x, dtype, 1), source = numbers(r, c->whole, dtype, 2);
    const tarn_tensor taken = tarn_gather(x, c->axis, index);
    const tarn_tensor sums = tarn_scatter_add(x, c->axis, index, source);
    const tarn_tensor loss =
        tarn_add(tarn_sum(tarn_mul(taken, numbers(r, c->whole, dtype, 3)), TARN_ALL, false),
                 tarn_sum(tarn_mul(sums, numbers(r, c->x, dtype, 4)), TARN_ALL, false));
    tarn_tensor made[RESULTS] = { [READ] = taken, [SUMMED] = sums };
    tarn_gradients(loss, (tarn_tensor[]){ x, source }, 2, &made[READ_GRAD]);
    for (int i = 0; i < RESULTS; i++)
        read(made[i], dtype == TARN_F64 ? (void *)out->d[i] : out->f[i],
             dtype == TARN_F64 ? sizeof **out->d : sizeof **out->f);
    if (dtype == TARN_F32)
        read(tarn_gather(tarn_cast(tarn_mul_scalar(x, 1e6f), TARN_I32), c->axis, index),
             out->picked, sizeof *out->picked);
}

/* Where in x, or in another tensor of its axes, element i of the whole index points to. */
static int64_t place_in(const struct rows *c, tarn_shape x, int64_t i, int32_t index)
{
    const int32_t last = x.dim[c->axis] - 1;
    int64_t at = 0, pitch = 1;
    for (int d = x.rank - 1; d >= 0; d--) {
        const int64_t along = i % c->whole.dim[d];
        at += pitch * (d != c->axis ? along : index < 0 ? 0 : index > last ? last : index);
        pitch *= x.dim[d];
        i /= c->whole.dim[d];
    }
    return at;
}

/* What is read is what is there; sums of up to 128 terms are made one after the other, and added to x. */
static void expect_true(const struct rows *c, const int32_t *all, const struct results *seen)
{
    float x[MOST], source[MOST], sums[MOST] = { 0 };
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    read(numbers(r, c->x, TARN_F32, 1), x, sizeof *x);
    read(numbers(r, c->whole, TARN_F32, 2), source, sizeof *source);
    tarn_close(r);
    for (int64_t i = 0; i < tarn_shape_count(c->whole); i++) {
        const int64_t at = place_in(c, c->x, i, all[i]);
        cr_assert_eq(seen->f[READ][i], x[at], "element %d", (int)i);
        sums[at] += source[i];
    }
    for (int64_t i = 0; i < tarn_shape_count(c->x) && c->whole.dim[c->axis] <= 128; i++)
        cr_assert_eq(seen->f[SUMMED][i], x[i] + sums[i], "sum %d", (int)i);
}

static void check(const struct rows *c, const char *name, const char *word)
{
    static struct results repeated, written;
    memset(&repeated, 0, sizeof repeated);
    memset(&written, 0, sizeof written);
    int32_t few[MOST], all[MOST];
    unsigned state = 5;
    for (int64_t i = 0; i < tarn_shape_count(c->at); i++) /* some outside */
        few[i] = (int32_t)(next(&state) % (unsigned)(c->x.dim[c->axis] + 2)) - 1;
    for (int64_t i = 0; i < tarn_shape_count(c->whole); i++)
        all[i] = few[short_position(c, i)];
    setenv(name, word, 1);
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    for (int wide = 0; wide < 2; wide++) {
        const tarn_dtype dtype = wide ? TARN_F64 : TARN_F32;
        const tarn_tensor short_one = tarn_from(r, c->at, TARN_I32, few);
        const tarn_tensor as_long = tarn_cast(tarn_broadcast_to(short_one, c->whole), TARN_I64);
        compute(r, c, wide ? as_long : tarn_broadcast_to(short_one, c->whole), dtype, &repeated);
        compute(r, c, tarn_from(r, c->whole, TARN_I32, all), dtype, &written);
    }
    cr_expect_arr_eq(&repeated, &written, sizeof repeated, "%s=%s, axis %d", name, word, c->axis);
    tarn_close(r);
    unsetenv(name);
    expect_true(c, all, &written);
}

static void check_all(struct rows c)
{
    check(&c, "TARN_FUSE", "1");
    check(&c, "TARN_SCHEDULE", "gpu");
    check(&c, "TARN_FUSE", "0");
}

Test(index_rows, vertices_of_a_graph)
{
    check_all((struct rows){ { 2, { 70, 20 } }, { 2, { 300, 20 } }, { 2, { 300, 1 } }, 0 });
}

Test(index_rows, patches_of_each_image)
{
    check_all((struct rows){ { 3, { 3, 40, 18 } }, { 3, { 3, 25, 18 } }, { 3, { 3, 25, 1 } }, 1 });
}

Test(index_rows, the_same_for_all_images)
{
    check_all((struct rows){ { 3, { 3, 40, 18 } }, { 3, { 3, 60, 18 } }, { 3, { 1, 60, 1 } }, 1 });
    check_all((struct rows){ { 3, { 5, 4, 30 } }, { 3, { 5, 4, 50 } }, { 3, { 1, 1, 50 } }, 2 });
}

/* Another index for each of some axes further in, so no rows. */
Test(index_rows, partly_repeated)
{
    check_all((struct rows){
        { 4, { 2, 9, 3, 16 } }, { 4, { 2, 14, 3, 16 } }, { 4, { 2, 14, 3, 1 } }, 1 });
    check_all((struct rows){ { 3, { 6, 9, 16 } }, { 3, { 6, 14, 16 } }, { 3, { 1, 14, 16 } }, 1 });
}

/* x is longer than the index along other axes, and only its first elements take part. */
Test(index_rows, part_of_x)
{
    check_all((struct rows){ { 3, { 4, 40, 18 } }, { 3, { 3, 25, 7 } }, { 3, { 3, 25, 1 } }, 1 });
    check_all((struct rows){ { 2, { 40, 18 } }, { 2, { 25, 5 } }, { 2, { 25, 1 } }, 0 });
}

/* Other names for the same: by index [N]. */
Test(index_rows, index_add_and_index_select)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const tarn_shape s = TARN_SHAPE(4, 6, 3), from = TARN_SHAPE(4, 9, 3);
    const int32_t at[9] = { 5, 0, 0, 3, 5, 5, 1, 9, -1 };
    const tarn_tensor x = numbers(r, s, TARN_F32, 1), source = numbers(r, from, TARN_F32, 2);
    float xs[72], sources[108], sums[72], taken[108];
    read(x, xs, sizeof *xs);
    read(source, sources, sizeof *sources);
    const tarn_tensor index = tarn_from(r, TARN_SHAPE(9), TARN_I32, at);
    read(tarn_index_add(x, -2, index, source), sums, sizeof *sums);
    read(tarn_index_select(x, 1, index), taken, sizeof *taken);
    for (int i = 0; i < 108; i++) {
        const int place = at[i / 3 % 9], row = place < 0 ? 0 : place > 5 ? 5 : place;
        cr_expect_eq(taken[i], xs[i / 27 * 18 + row * 3 + i % 3]);
    }
    for (int i = 0; i < 72; i++) {
        float sum = 0;
        for (int k = 0; k < 9; k++)
            if ((at[k] < 0 ? 0 : at[k] > 5 ? 5 : at[k]) == i / 3 % 6)
                sum += sources[i / 18 * 27 + k * 3 + i % 3];
        cr_expect_eq(sums[i], xs[i] + sum);
    }
    cr_expect(tarn_failed(tarn_index_add(x, 1, index, x)));
    cr_expect_not_null(strstr(tarn_error(r), "index_add: source [4,6,3] of index [9] along axis 1 "
                                             "of [4,6,3]: must be [4,9,3]"),
                       "%s", tarn_error(r));
    tarn_close(r);
}
