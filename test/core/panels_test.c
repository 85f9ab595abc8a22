/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients of weights in panels (4_schedule/panels.c) have the bits that they have without: those of
 * the schedule for GPUs, which knows none. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tarn.h"
#include "tensor/random.h"

enum { MOST = 1 << 19, MOST_WEIGHTS = 1 << 13 };

static const struct shape {
    int n, c, size, o, window, stride, padding;
    bool sequence; /* of one row */
} shapes[] = {
    { 20, 32, 15, 48, 1, 1, 0, false }, /* two unequal chunks, and a block that is not full */
    { 16, 40, 14, 64, 1, 1, 0, false }, /* one block, which parts share */
    { 33, 32, 11, 64, 1, 1, 0, false }, /* no chunks; three blocks for two rows */
    { 20, 8, 40, 24, 3, 2, 1, false },  /* padding leaves terms out; many chunks */
    { 20, 32, 300, 48, 1, 1, 0, true },
    { 16, 48, 100, 32, 2, 1, 0, true },
    /* Columns are lanes: */
    { 3, 16, 64, 32, 3, 1, 1, false }, /* two chunks an image */
    { 1, 24, 96, 20, 3, 2, 1, false }, /* a last chunk that is shorter; columns lie apart */
    { 2, 40, 32, 48, 1, 1, 0, false }, /* an image is a chunk */
    { 1, 32, 16, 24, 3, 1, 1, false }, /* no chunks */
};

static void fill(float *out, int count, uint32_t salt)
{
    for (int i = 0; i < count; i++)
        out[i] = (float)(random_u32(salt, (uint32_t)i) >> 8) / (1 << 22) - 2;
}

/* The gradient of the weights; returns how many there are. */
static int gradient(const struct shape *s, const char *schedule, const char *target, float *out)
{
    static float x[MOST], y[MOST];
    const int side = (s->size + 2 * s->padding - s->window) / s->stride + 1;
    const tarn_shape in = TARN_SHAPE(s->n, s->c, s->sequence ? 1 : s->size, s->size);
    const tarn_shape given = TARN_SHAPE(s->n, s->o, s->sequence ? 1 : side, side);
    const tarn_shape window = TARN_SHAPE(s->o, s->c, s->sequence ? 1 : s->window, s->window);
    const int count = (int)tarn_shape_count(window);
    cr_assert(tarn_shape_count(in) <= MOST && tarn_shape_count(given) <= MOST &&
              count <= MOST_WEIGHTS);
    fill(x, (int)tarn_shape_count(in), 1);
    fill(y, (int)tarn_shape_count(given), 2);
    cr_assert_eq(setenv("TARN_SCHEDULE", schedule, 1), 0);
    cr_assert_eq(setenv("TARN_TARGET", target, 1), 0);
    cr_assert_eq(setenv("TARN_WINOGRAD", "0", 1), 0);
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const tarn_tensor w =
        tarn_from(r, window, TARN_F32, memset(out, 0, (size_t)count * sizeof *out));
    const tarn_conv2d_options options = { .stride = { s->stride, s->stride },
                                          .padding = { s->padding, s->padding } };
    const tarn_tensor made = tarn_conv2d_op(tarn_from(r, in, TARN_F32, x), w, TARN_NONE, options);
    tarn_tensor g;
    tarn_gradients(tarn_sum(tarn_mul(made, tarn_from(r, given, TARN_F32, y)), TARN_ALL, false), &w,
                   1, &g);
    cr_assert_eq(tarn_read(g, out, (size_t)count * sizeof *out), TARN_OK, "%s", tarn_error(r));
    tarn_close(r);
    return count;
}

Test(panels, bits, .timeout = 600)
{
    static const char *const kinds[] = { "avx512", "avx2", "neon" };
    static float wanted[MOST_WEIGHTS], seen[MOST_WEIGHTS];
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const int count = gradient(&shapes[i], "gpu", "", wanted);
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            cr_expect_eq(gradient(&shapes[i], "cpu", kinds[k], seen), count);
            cr_expect_eq(memcmp(seen, wanted, (size_t)count * sizeof *seen), 0, "shape %zu for %s",
                         i, kinds[k]);
        }
    }
}
