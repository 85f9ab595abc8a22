/* SPDX-License-Identifier: Apache-2.0 */
/* Operands that go through local memory change no bit: products of all shapes that groups can share, and of those that
 * they cannot, and convolutions of blocks of samples with their gradients, scheduled for a CPU, for items without local
 * memory, and for GPUs with groups of several sizes. */
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

static tarn_replica *open_for(const char *schedule, const char *target)
{
    cr_assert_eq(setenv("TARN_SCHEDULE", schedule, 1), 0);
    cr_assert_eq(setenv("TARN_TARGET", target, 1), 0);
    cr_assert_eq(setenv("TARN_GEMM", "nest", 1), 0);
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    return r;
}

static tarn_tensor operand(tarn_replica *r, int rows, int columns, const float *v, bool halves)
{
    const tarn_tensor x =
        tarn_batch_axis(tarn_from(r, TARN_SHAPE(rows, columns), TARN_F32, v), TARN_NO_BATCH);
    return halves ? tarn_cast(x, TARN_BF16) : x;
}

static void multiply(const char *schedule, const char *target, const struct shape *s, float *out)
{
    tarn_replica *r = open_for(schedule, target);
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

/* Which of two targets a case is for: the next one for the other. Their kernels take a driver for CPUs minutes. */
static const char *turn_of(const char *const targets[2], size_t i)
{
    return targets[i % 2];
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
        const char *target = turn_of(targets, i);
        memset(gpu, 0, bytes);
        multiply("auto", target, s, gpu);
        cr_expect_eq(memcmp(cpu, gpu, bytes), 0, "shape %zu, %s: bits differ", i, target);
    }
}

/* ---- convolutions ---------------------------------------------------------------------------- */

struct images {
    int samples, in, height, width, out, window, stride, padding, groups;
};

/* Windows that go over borders, along both axes; strides; a last block that is not full; rows of several blocks; windows of
 * one element; groups; one channel, one row; rows shorter than windows; few tiles for a GPU of two units, and many. */
static const struct images layers[] = {
    { 32, 16, 10, 12, 24, 3, 1, 1, 1 }, { 48, 8, 9, 9, 16, 3, 2, 1, 1 },
    { 20, 16, 8, 8, 16, 5, 1, 2, 1 },   { 64, 20, 6, 6, 32, 1, 1, 0, 1 },
    { 32, 12, 8, 8, 12, 3, 1, 1, 3 },   { 32, 64, 8, 8, 64, 3, 1, 1, 1 },
    { 33, 16, 7, 7, 8, 3, 1, 1, 1 },    { 32, 16, 8, 16, 16, 4, 2, 1, 1 },
    { 272, 4, 8, 8, 8, 3, 1, 1, 1 },    { 32, 3, 16, 16, 16, 3, 1, 1, 1 },
    { 64, 1, 16, 16, 10, 5, 1, 0, 1 },  { 64, 2, 1, 12, 16, 1, 1, 0, 2 },
    { 32, 8, 12, 2, 16, 3, 1, 1, 1 },   { 64, 4, 9, 3, 8, 5, 1, 2, 1 },
};

struct volumes {
    int batch; /* the axis of samples, or TARN_NO_BATCH */
    int samples, in, size[3], out, window[3];
    tarn_conv3d_options options;
};

/* Steps of rows within planes of a window, for one sample and for many; a last block that is not full; strides along each
 * axis, in one of which the window is longer; one plane; groups; one channel in and out; planes of a weight that work-items of
 * a group share out, around loops over planes of the result that are longer for some of them. */
static const struct volumes solids[] = {
    { 0, 1, 15, { 4, 2, 17 }, 16, { 3, 5, 5 }, { .padding = { 1, 2, 2 } } },
    { 0, 1, 32, { 2, 10, 10 }, 16, { 5, 5, 5 }, { .padding = { 2, 2, 0 } } },
    { 0, 32, 8, { 4, 5, 6 }, 16, { 3, 3, 3 }, { .padding = { 1, 1, 1 } } },
    { 0, 3, 9, { 12, 6, 6 }, 9, { 3, 5, 5 }, { .stride = { 2, 1, 1 }, .padding = { 0, 2, 2 } } },
    { 0, 33, 3, { 4, 14, 13 }, 1, { 3, 3, 3 }, { .stride = { 2, 1, 1 }, .padding = { 3, 0, 1 } } },
    { 0, 17, 6, { 5, 7, 6 }, 10, { 2, 3, 3 }, { .stride = { 1, 2, 2 }, .padding = { 1, 1, 0 } } },
    { 0, 16, 12, { 1, 6, 6 }, 12, { 3, 3, 3 }, { .padding = { 1, 1, 1 }, .groups = 3 } },
    { 0, 2, 1, { 6, 9, 8 }, 8, { 4, 4, 4 }, { .stride = { 2, 2, 2 }, .padding = { 1, 1, 1 } } },
    { TARN_NO_BATCH, 32, 4, { 2, 2, 4 }, 1, { 5, 6, 4 }, { .padding = { 2, 6, 1 } } },
};

/* Of the result, and of both gradients. */
struct results {
    float *of[3];
    size_t bytes[3];
};

/* What the texts of a GPU's kernels should have: operands in local memory, lanes that are added up in turn, and sums over
 * samples one after the other that read local memory. */
struct seen {
    bool panels, turns, samples;
};

static void look(tarn_log_level level, const char *text, void *user)
{
    struct seen *seen = user;
    (void)level;
    seen->panels |= strstr(text, "own0[") != NULL;
    seen->turns |= strstr(text, "const bool has = mine") != NULL;
    seen->samples |= strstr(text, "const bool has = b <") != NULL;
}

/* Reads relu(y), and the gradients of its squares, and closes the replica. */
static struct results results_of(tarn_replica *r, tarn_tensor y, tarn_tensor x, tarn_tensor w)
{
    tarn_tensor all[3] = { tarn_relu(y) };
    const tarn_tensor operands[2] = { x, w };
    tarn_gradients(tarn_sum(tarn_mul(all[0], all[0]), TARN_ALL, false), operands, 2, all + 1);
    struct results out;
    for (int i = 0; i < 3; i++) {
        out.bytes[i] = (size_t)tarn_shape_count(tarn_shape_get(all[i])) * sizeof(float);
        out.of[i] = malloc(out.bytes[i]);
        cr_assert_not_null(out.of[i]);
        cr_assert_eq(tarn_read(all[i], out.of[i], out.bytes[i]), TARN_OK, "%s", tarn_error(r));
    }
    tarn_close(r);
    return out;
}

static tarn_tensor filled(tarn_replica *r, tarn_shape shape, int batch, unsigned salt)
{
    float *v = numbers((int)tarn_shape_count(shape), salt);
    const tarn_tensor x = tarn_batch_axis(tarn_from(r, shape, TARN_F32, v), batch);
    free(v);
    return x;
}

static struct results convolve_images(const char *schedule, const char *target, size_t layer)
{
    const struct images *l = &layers[layer];
    tarn_replica *r = open_for(schedule, target);
    const tarn_tensor x = filled(r, TARN_SHAPE(l->samples, l->in, l->height, l->width), 0, 3);
    const tarn_tensor w =
        filled(r, TARN_SHAPE(l->out, l->in / l->groups, l->window, l->window), TARN_NO_BATCH, 4);
    const tarn_conv2d_options options = { .stride = { l->stride, l->stride },
                                          .padding = { l->padding, l->padding },
                                          .groups = l->groups };
    return results_of(r, tarn_conv2d_op(x, w, TARN_NONE, options), x, w);
}

static struct results convolve_volumes(const char *schedule, const char *target, size_t layer)
{
    const struct volumes *l = &solids[layer];
    const tarn_conv3d_options *o = &l->options;
    tarn_replica *r = open_for(schedule, target);
    const tarn_shape shape = TARN_SHAPE(l->samples, l->in, l->size[0], l->size[1], l->size[2]);
    const tarn_shape weights = TARN_SHAPE(l->out, l->in / (o->groups > 0 ? o->groups : 1),
                                          l->window[0], l->window[1], l->window[2]);
    const tarn_tensor x = filled(r, shape, l->batch, 3);
    const tarn_tensor w = filled(r, weights, TARN_NO_BATCH, 4);
    return results_of(r, tarn_conv3d_op(x, w, TARN_NONE, *o), x, w);
}

static void forget(struct results *r)
{
    for (int i = 0; i < 3; i++)
        free(r->of[i]);
}

static void keep_its_bits(struct results (*convolve)(const char *, const char *, size_t), size_t i,
                          const char *target, const struct results *cpu, struct seen *seen)
{
    static const char *const names[] = { "result", "image's gradient", "weight's gradient" };
    cr_assert_eq(setenv("TARN_DEBUG", "kernels", 1), 0);
    tarn_set_log(look, seen);
    struct results gpu = convolve("auto", target, i);
    tarn_set_log(NULL, NULL);
    cr_assert_eq(unsetenv("TARN_DEBUG"), 0);
    for (int k = 0; k < 3; k++)
        cr_expect_eq(memcmp(cpu->of[k], gpu.of[k], cpu->bytes[k]), 0,
                     "layer %zu, %s: the %s has other bits", i, target, names[k]);
    forget(&gpu);
}

/* Each for all targets, or for one of them in turn. */
static void keep_their_bits(struct results (*convolve)(const char *, const char *, size_t),
                            size_t count, bool all, struct seen *seen)
{
    static const char *const targets[] = { "nvidia:4x64", "nvidia:2x256" };
    cr_assert_eq(setenv("TARN_WINOGRAD", "0", 1), 0);
    for (size_t i = 0; i < count; i++) {
        struct results cpu = convolve("cpu", "", i);
        for (size_t t = 0; t < sizeof targets / sizeof *targets; t++)
            if (all || targets[t] == turn_of(targets, i))
                keep_its_bits(convolve, i, targets[t], &cpu, seen);
        forget(&cpu);
    }
}

Test(staging, convolutions_keep_their_bits, .timeout = 900)
{
    struct seen seen = { false, false, false };
    keep_their_bits(convolve_images, sizeof layers / sizeof *layers, false, &seen);
    cr_expect(seen.panels, "no convolution reads local memory");
    cr_expect(seen.turns, "no lanes are added up in turn");
}

Test(staging, convolutions_of_volumes_keep_their_bits, .timeout = 900)
{
    struct seen seen = { false, false, false };
    keep_their_bits(convolve_volumes, sizeof solids / sizeof *solids, true, &seen);
    cr_expect(seen.panels, "no convolution reads local memory");
}

/* ---- layers of many samples ------------------------------------------------------------------ */

struct layer {
    int samples, in, out;
};

/* Rows of one block, and of several, some of which have one less; columns that leave work-items idle. */
static const struct layer dense[] = {
    { 64, 128, 96 }, { 320, 64, 256 }, { 272, 160, 48 }, { 1040, 32, 64 }, { 48, 80, 320 },
};

static float *weight_gradient(const char *schedule, const char *target, const struct layer *l,
                              size_t *bytes)
{
    tarn_replica *r = open_for(schedule, target);
    float *a = numbers(l->samples * l->in, 5), *b = numbers(l->out * l->in, 6);
    const tarn_tensor x =
        tarn_batch_axis(tarn_from(r, TARN_SHAPE(l->samples, l->in), TARN_F32, a), 0);
    const tarn_tensor w =
        tarn_batch_axis(tarn_from(r, TARN_SHAPE(l->out, l->in), TARN_F32, b), TARN_NO_BATCH);
    const tarn_tensor y = tarn_relu(tarn_matmul(tarn_relu(x), tarn_transpose(w, 0, 1)));
    tarn_tensor g;
    tarn_gradients(tarn_sum(tarn_mul(y, y), TARN_ALL, false), &w, 1, &g);
    *bytes = (size_t)(l->out * l->in) * sizeof(float);
    float *out = malloc(*bytes);
    cr_assert_not_null(out);
    cr_assert_eq(tarn_read(g, out, *bytes), TARN_OK, "%s", tarn_error(r));
    tarn_close(r);
    free(a);
    free(b);
    return out;
}

Test(staging, sums_over_samples_keep_their_bits, .timeout = 600)
{
    static const char *const targets[] = { "nvidia:4x64", "nvidia:2x256" };
    struct seen seen = { false, false, false };
    size_t bytes;
    for (size_t i = 0; i < sizeof dense / sizeof *dense; i++) {
        float *cpu = weight_gradient("cpu", "", &dense[i], &bytes);
        for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
            cr_assert_eq(setenv("TARN_DEBUG", "kernels", 1), 0);
            tarn_set_log(look, &seen);
            float *gpu = weight_gradient("auto", targets[t], &dense[i], &bytes);
            tarn_set_log(NULL, NULL);
            cr_assert_eq(unsetenv("TARN_DEBUG"), 0);
            cr_expect_eq(memcmp(cpu, gpu, bytes), 0, "layer %zu, %s: bits differ", i, targets[t]);
            free(gpu);
        }
        free(cpu);
    }
    cr_expect(seen.samples, "no sum over samples reads local memory");
}
