/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes that lie apart in memory are read and written in squares (6_source/print_squares.c), and pieces of an axis that end
 * between registers as whole registers. Neither changes a bit: results are those of the schedule for GPUs, which
 * knows no registers of 16 elements. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tarn.h"
#include "tensor/random.h"

enum { MOST = 1 << 18 };

/* Soft-max would not have the same bits in registers of another width, so there is none. */
static tarn_tensor attend(tarn_tensor x, int heads)
{
    const tarn_shape s = tarn_shape_get(x);
    const int width = s.dim[2] / 3;
    tarn_tensor part[3];
    for (int i = 0; i < 3; i++) {
        const tarn_tensor one = tarn_slice(x, 2, i * width, (i + 1) * width, 1);
        const tarn_shape split = TARN_SHAPE(s.dim[0], s.dim[1], heads, width / heads);
        part[i] = tarn_permute(tarn_reshape(one, split), TARN_AXES(0, 2, 1, 3));
    }
    const tarn_tensor scores = tarn_matmul(part[0], tarn_transpose(part[1], 2, 3));
    return tarn_matmul(tarn_relu(scores), part[2]);
}

static tarn_tensor two_heads(tarn_tensor x)
{
    return attend(x, 2);
}

/* A product of all rows between norms of samples. */
static tarn_tensor rows(tarn_tensor x)
{
    const tarn_shape s = tarn_shape_get(x);
    const int width = s.dim[2];
    const tarn_tensor w = tarn_sub(tarn_rand(x.replica, TARN_SHAPE(width, width)),
                                   tarn_full(x.replica, TARN_SCALAR, 0.5f));
    const tarn_tensor scale = tarn_rand(x.replica, TARN_SHAPE(width));
    for (int i = 0; i < 2; i++) {
        const tarn_tensor all = tarn_reshape(x, TARN_SHAPE(s.dim[0] * s.dim[1], width));
        x = tarn_add(x, tarn_reshape(tarn_relu(tarn_matmul(all, w)), s));
        x = tarn_layer_norm_op(x, scale, TARN_NONE, 1e-5f);
    }
    return x;
}

/* Pieces that end between registers, one that does not though it is as long as one, and one of odd length. */
static tarn_tensor pieces(tarn_tensor x)
{
    static const int cuts[][2] = { { 0, 16 }, { 16, 48 }, { 56, 72 }, { 48, 61 } };
    tarn_tensor product = tarn_full(x.replica, TARN_SHAPE(1, 1, 1), 1e-3f);
    for (int i = 0; i < 4; i++) {
        const tarn_tensor one = tarn_slice(x, 2, cuts[i][0], cuts[i][1], 1);
        product = tarn_mul(product, tarn_sum(tarn_mul(one, one), TARN_AXES(2), true));
    }
    return product;
}

/* A sum over rows, whose lanes are features: of 28 the last register overlaps the one before. */
static tarn_tensor outer(tarn_tensor x)
{
    const tarn_shape s = tarn_shape_get(x);
    const tarn_tensor all = tarn_reshape(x, TARN_SHAPE(s.dim[0] * s.dim[1], s.dim[2]));
    return tarn_relu(tarn_matmul(tarn_transpose(all, 0, 1), all));
}

/* Rows that are written by samples: each element of a product times a sum of all. */
static tarn_tensor written(tarn_tensor x)
{
    const tarn_shape s = tarn_shape_get(x);
    const int width = s.dim[1] * s.dim[2];
    const tarn_tensor w = tarn_sub(tarn_rand(x.replica, TARN_SHAPE(width, 48)),
                                   tarn_full(x.replica, TARN_SCALAR, 0.5f));
    const tarn_tensor all = tarn_matmul(tarn_reshape(x, TARN_SHAPE(s.dim[0], width)), w);
    return tarn_mul(all, tarn_sum(tarn_mul(all, all), TARN_AXES(1), true));
}

/* Rows of images whose gradients are products with a matrix of 64 rows, of which a group of few samples has some. */
static tarn_tensor image_of(tarn_tensor x)
{
    const tarn_shape s = tarn_shape_get(x);
    const int side = s.dim[2] == 64 ? 8 : 7;
    return tarn_reshape(x, TARN_SHAPE(s.dim[0], s.dim[1], side, side));
}

static tarn_tensor resized(tarn_tensor x)
{
    return tarn_resize_bilinear2d(image_of(x), (tarn_resize_options){ .size = { 64, 64 } });
}

static tarn_tensor pooled(tarn_tensor x)
{
    return tarn_adaptive_avg_pool2d(image_of(x), 48, 64);
}

static const struct program {
    const char *name;
    tarn_tensor (*made)(tarn_tensor x);
    int n, t, c;
} programs[] = {
    { "attention", two_heads, 4, 48, 192 }, { "odd attention", two_heads, 3, 33, 96 },
    { "rows", rows, 32, 24, 64 },           { "odd rows", rows, 20, 5, 48 },
    { "pieces", pieces, 4, 9, 80 },         { "outer", outer, 3, 70, 28 },
    { "batch outer", outer, 300, 1, 28 },   { "odd outer", outer, 2, 20, 65 },
    { "odd pieces", pieces, 3, 7, 75 },     { "written", written, 32, 3, 16 },
    { "many", two_heads, 16, 48, 192 },     { "odd written", written, 20, 3, 7 },
    { "resized", resized, 8, 5, 64 },       { "resized", resized, 4, 7, 64 },
    { "pooled", pooled, 16, 3, 49 },        { "pooled", pooled, 24, 2, 49 },
};

/* What the program makes, and the gradient of the sum of its squares; returns how many numbers. */
static size_t run(const struct program *p, const char *schedule, const char *target, float *out)
{
    static float x[MOST];
    const tarn_shape s = TARN_SHAPE(p->n, p->t, p->c);
    for (int i = 0; i < tarn_shape_count(s); i++)
        x[i] = (float)(random_u32(7, (uint32_t)i) >> 8) / (1 << 22) - 2;
    cr_assert_eq(setenv("TARN_SCHEDULE", schedule, 1), 0);
    cr_assert_eq(setenv("TARN_TARGET", target, 1), 0);
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const tarn_tensor in = tarn_batch_axis(tarn_from(r, s, TARN_F32, x), 0), y = p->made(in);
    const size_t first = (size_t)tarn_shape_count(tarn_shape_get(y));
    const size_t all = first + (size_t)tarn_shape_count(s);
    tarn_tensor g;
    cr_assert_leq(all, MOST);
    tarn_gradients(tarn_sum(tarn_mul(y, y), TARN_ALL, false), &in, 1, &g);
    cr_assert_eq(tarn_read(g, out + first, (all - first) * sizeof *out), TARN_OK, "%s",
                 tarn_error(r));
    cr_assert_eq(tarn_read(y, out, first * sizeof *out), TARN_OK, "%s", tarn_error(r));
    tarn_close(r);
    return all;
}

Test(squares, bits, .timeout = 600)
{
    static const char *const kinds[] = { "avx512", "neon" };
    static float wanted[MOST], seen[MOST];
    cr_assert_eq(setenv("TARN_QUICK", "1", 1), 0);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        const struct program *p = &programs[i];
        const size_t count = run(p, "gpu", "", wanted);
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            cr_expect_eq(run(p, "cpu", kinds[k], seen), count);
            cr_expect_eq(memcmp(seen, wanted, count * sizeof *seen), 0, "%s for %s", p->name,
                         kinds[k]);
        }
    }
}
