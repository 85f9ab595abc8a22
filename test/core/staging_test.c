/* SPDX-License-Identifier: Apache-2.0 */
/* Operands that go through local memory change no bit: products of all shapes that groups can share, and of those that
 * they cannot, scheduled for a CPU, for items without local memory, and for GPUs with groups of several sizes. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tarn.h"
#include "tensor/random.h"

enum { MOST = 1 << 17 };

struct shape {
    int rows, depth, columns;
    bool turned; /* weights in rows: [columns, depth] */
    bool halves;
};

/* Lanes of 32 to 256 with several tiles in a group, steps that are not the longest, sums of several chunks; columns that leave
 * work-items of a group idle; columns in several runs; a last chunk that is shorter, whose copy would go beyond its value. */
static const struct shape shapes[] = {
    { 64, 40, 64, true, false },   { 16, 256, 256, true, false },  { 48, 130, 96, true, false },
    { 32, 320, 384, true, false }, { 64, 320, 128, false, false }, { 32, 37, 64, true, false },
    { 40, 64, 100, true, false },  { 32, 96, 128, true, true },    { 8, 700, 512, false, true },
    { 60, 64, 48, true, false },   { 65, 65, 65, true, false },    { 26, 91, 130, false, true },
    { 256, 128, 512, true, true }, { 64, 2090, 128, true, false }, { 48, 1350, 80, false, false },
};

static float *numbers(int count, unsigned salt)
{
    float *v = calloc((size_t)count, sizeof *v);
    cr_assert_not_null(v);
    for (int i = 0; i < count; i++)
        v[i] = (float)(random_u32(11, (uint32_t)i * 4 + salt) >> 8) / (1 << 22) - 2;
    return v;
}

static tarn_tensor operand(tarn_replica *r, int rows, int columns, const float *v, bool halves)
{
    const tarn_tensor x =
        tarn_batch_axis(tarn_from(r, TARN_SHAPE(rows, columns), TARN_F32, v), TARN_NO_BATCH);
    return halves ? tarn_cast(x, TARN_BF16) : x;
}

static void multiply(const char *schedule, const char *target, const struct shape *s, float *out)
{
    cr_assert_eq(setenv("TARN_SCHEDULE", schedule, 1), 0);
    cr_assert_eq(setenv("TARN_TARGET", target, 1), 0);
    cr_assert_eq(setenv("TARN_GEMM", "nest", 1), 0);
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    float *a = numbers(s->rows * s->depth, 1), *b = numbers(s->depth * s->columns, 2);
    const tarn_tensor x = operand(r, s->rows, s->depth, a, s->halves);
    const tarn_tensor w = s->turned
                              ? tarn_transpose(operand(r, s->columns, s->depth, b, s->halves), 0, 1)
                              : operand(r, s->depth, s->columns, b, s->halves);
    const tarn_tensor y = tarn_cast(tarn_matmul(x, w), TARN_F32);
    cr_assert_eq(tarn_read(y, out, (size_t)(s->rows * s->columns) * sizeof *out), TARN_OK, "%s",
                 tarn_error(r));
    tarn_close(r);
    free(a);
    free(b);
}

Test(staging, products_keep_their_bits, .timeout = 600)
{
    static const char *const targets[] = { "nvidia:4x64", "nvidia:1x256" };
    static float cpu[MOST], items[MOST], gpu[MOST];
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const struct shape *s = &shapes[i];
        const size_t bytes = (size_t)(s->rows * s->columns) * sizeof *cpu;
        cr_assert_leq(bytes, sizeof cpu);
        multiply("cpu", "", s, cpu);
        multiply("gpu", "", s, items);
        cr_expect_eq(memcmp(cpu, items, bytes), 0, "shape %zu: bits differ without panels", i);
        for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
            memset(gpu, 0, bytes);
            multiply("auto", targets[t], s, gpu);
            cr_expect_eq(memcmp(cpu, gpu, bytes), 0, "shape %zu, %s: bits differ", i, targets[t]);
        }
    }
}
