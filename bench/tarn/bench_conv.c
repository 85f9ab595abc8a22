/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions of common shapes: forward, and both gradients. */
#include "bench.h"

struct shape {
    int n, c, size, o, window, stride, padding;
};

/* The first ones are those of --quick. */
static const struct shape shapes[] = {
    { 16, 3, 32, 16, 3, 1, 1 },   { 16, 16, 14, 32, 5, 1, 2 },   { 16, 32, 14, 64, 1, 1, 0 },
    { 16, 16, 16, 32, 3, 2, 1 },  { 64, 3, 32, 32, 3, 1, 1 },    { 64, 32, 32, 32, 3, 1, 1 },
    { 64, 32, 32, 64, 3, 2, 1 },  { 64, 64, 16, 64, 3, 1, 1 },   { 32, 64, 16, 128, 3, 2, 1 },
    { 32, 128, 8, 128, 3, 1, 1 }, { 32, 256, 8, 256, 3, 1, 1 },  { 16, 3, 64, 32, 5, 2, 2 },
    { 64, 32, 14, 64, 5, 1, 2 },  { 32, 128, 14, 256, 1, 1, 0 }, { 32, 256, 14, 64, 1, 1, 0 },
    { 32, 64, 28, 128, 1, 2, 0 },
};
enum { SHAPES = sizeof shapes / sizeof *shapes, QUICK_SHAPES = 2 };

static int out_size(const struct shape *s)
{
    return (s->size + 2 * s->padding - s->window) / s->stride + 1;
}

/* Along one axis, pairs of a result and a tap that meet an element and not the padding. */
static double pairs(const struct shape *s)
{
    int count = 0;
    for (int i = 0; i < out_size(s); i++)
        for (int tap = 0; tap < s->window; tap++) {
            const int at = i * s->stride + tap - s->padding;
            count += at >= 0 && at < s->size;
        }
    return count;
}

static tarn_tensor record_forward(const tarn_tensor *in, const void *arg)
{
    const struct shape *s = arg;
    return tarn_conv2d_op(in[0], in[1], TARN_NONE,
                          (tarn_conv2d_options){ .stride = { s->stride, s->stride },
                                                 .padding = { s->padding, s->padding } });
}

/* The product with a third input makes that the gradient that comes from above. */
static tarn_tensor gradient(const tarn_tensor *in, const void *arg, int which)
{
    tarn_tensor g;
    const tarn_tensor y = record_forward(in, arg);
    tarn_gradients(tarn_sum(tarn_mul(y, in[2]), TARN_ALL, false), &in[which], 1, &g);
    return g;
}

static tarn_tensor record_input(const tarn_tensor *in, const void *arg)
{
    return gradient(in, arg, 0);
}

static tarn_tensor record_weight(const tarn_tensor *in, const void *arg)
{
    return gradient(in, arg, 1);
}

static void one(struct bench *b, const struct shape *s, int part)
{
    static const struct {
        const char *name;
        tarn_tensor (*record)(const tarn_tensor *in, const void *arg);
    } parts[] = { { "forward", record_forward },
                  { "input grad", record_input },
                  { "weight grad", record_weight } };
    const int size = out_size(s);
    const struct operation o = { .in = { TARN_SHAPE(s->n, s->c, s->size, s->size),
                                         TARN_SHAPE(s->o, s->c, s->window, s->window),
                                         TARN_SHAPE(s->n, s->o, size, size) },
                                 .samples = { true, false, true },
                                 .inputs = 3,
                                 .record = parts[part].record,
                                 .arg = s };
    const double flops = 2.0 * s->n * s->c * s->o * pairs(s) * pairs(s);
    const double bytes =
        4 * ((double)tarn_shape_count(o.in[2]) + (double)tarn_shape_count(o.in[0]) +
             (double)tarn_shape_count(o.in[1]));
    struct item *i =
        item_new(b, "GFLOP/s", flops, bytes, "conv/%dx%d s%d %d-%d %dx%d b%d %s", s->window,
                 s->window, s->stride, s->c, s->o, s->size, s->size, s->n, parts[part].name);
    if (i != NULL)
        operation_run(b, i, &o, 1e-9 * flops);
}

void conv_run(struct bench *b)
{
    for (int k = 0; k < (b->quick ? QUICK_SHAPES : SHAPES); k++)
        for (int part = 0; part < 3; part++)
            one(b, &shapes[k], part);
}
