/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices in strips (2_nests/strips.c): products of samples' rows that read them have the bits of a kernel for each op, whether
 * a matrix is copied, turned over, made in the step itself, or read by others, too; and so has what is done to it after them. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tarn.h"
#include "tensor/random.h"

enum { MOST = 1 << 18 };

static const struct shape {
    int n, t, in, hidden;
} shapes[] = {
    { 8, 24, 16, 32 },   /* two strips, and back a single one */
    { 3, 65, 100, 208 }, /* sums that are no multiple of a chunk; strips that no tile divides */
    { 40, 5, 48, 176 },  /* many samples of few rows */
    { 6, 50, 640, 64 },  /* longer sums than what is copied for a group */
    { 5, 37, 64, 200 },  /* columns that are no strips */
};

static tarn_tensor numbers(tarn_replica *r, int rows, int columns, uint32_t salt)
{
    static float v[MOST];
    cr_assert_leq(rows * columns, MOST);
    for (int i = 0; i < rows * columns; i++)
        v[i] = (float)(random_u32(salt, (uint32_t)i) >> 8) / (1 << 23) - 1;
    return tarn_keep(tarn_from(r, TARN_SHAPE(rows, columns), TARN_F32, v));
}

/* A perceptron on rows of samples, by matrices as `kind` says, in two steps of training. Returns how many numbers are left: the last
 * result, and the matrices. */
enum kind { AS_THEY_LIE, TURNED, MADE, READ_BY_OTHERS, KINDS };

static size_t run(const struct shape *s, enum kind kind, const char *fuse, float *out)
{
    cr_assert_eq(setenv("TARN_FUSE", fuse, 1), 0);
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const bool turned = kind == TURNED;
    tarn_tensor w[2] = { turned ? numbers(r, s->hidden, s->in, 1) : numbers(r, s->in, s->hidden, 1),
                         turned ? numbers(r, s->in, s->hidden, 2)
                                : numbers(r, s->hidden, s->in, 2) };
    tarn_tensor y = TARN_NONE;
    for (int step = 0; step < 2; step++) {
        const tarn_tensor x =
            tarn_batch_axis(tarn_reshape(numbers(r, s->n, s->t * s->in, 3 + (uint32_t)step),
                                         TARN_SHAPE(s->n, s->t, s->in)),
                            0);
        tarn_tensor use[2], g[2];
        for (int i = 0; i < 2; i++)
            use[i] = turned         ? tarn_transpose(w[i], 0, 1)
                     : kind == MADE ? tarn_mul(w[i], w[i])
                                    : w[i];
        const tarn_tensor rows = tarn_reshape(x, TARN_SHAPE(s->n * s->t, s->in));
        const tarn_tensor hidden = tarn_relu(tarn_matmul(rows, use[0]));
        tarn_drop(y);
        y = tarn_relu(tarn_matmul(hidden, use[1]));
        if (kind == READ_BY_OTHERS)
            y = tarn_add(y, tarn_sum(use[1], TARN_AXES(0), true));
        tarn_gradients(tarn_mean(tarn_mul(y, y), TARN_ALL, false), w, 2, g);
        y = tarn_keep(y);
        for (int i = 0; i < 2; i++) {
            const tarn_tensor next = tarn_keep(tarn_sub(w[i], tarn_mul_scalar(g[i], 0.01f)));
            tarn_drop(w[i]);
            w[i] = next;
        }
        cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    }
    const size_t size = (size_t)s->in * (size_t)s->hidden, results = (size_t)(s->n * s->t * s->in);
    cr_assert_leq(results + 2 * size, 4 * MOST);
    cr_assert_eq(tarn_read(y, out, results * sizeof *out), TARN_OK, "%s", tarn_error(r));
    for (size_t i = 0; i < 2; i++)
        cr_assert_eq(tarn_read(w[i], out + results + i * size, size * sizeof *out), TARN_OK);
    tarn_close(r);
    return results + 2 * size;
}

Test(strips, bits, .timeout = 600)
{
    static float wanted[4 * MOST], seen[4 * MOST];
    cr_assert_eq(setenv("TARN_QUICK", "1", 1), 0);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int kind = 0; kind < KINDS; kind++) {
            const size_t count = run(&shapes[i], (enum kind)kind, "0", wanted);
            cr_assert_eq(run(&shapes[i], (enum kind)kind, "1", seen), count);
            cr_expect_eq(memcmp(wanted, seen, count * sizeof *seen), 0, "shape %zu, kind %d", i,
                         kind);
        }
}
