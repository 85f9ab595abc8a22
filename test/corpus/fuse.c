/* SPDX-License-Identifier: Apache-2.0 */
/* The graphs of test/core/fuse_test.c: what kernels can share, in whole and ragged blocks. */
#include <stddef.h>

#include "corpus.h"

enum { MOST = 5 };

/* Records results, gradients among them, and gives their number. */
typedef int record_fn(tarn_replica *r, int batch, tarn_tensor out[MOST]);

static void at_all_sizes(record_fn *record)
{
    static const int sizes[] = { 1, 7, 16, 33, 128 };
    for (int i = 0; i < 5; i++) {
        tarn_replica *r = open_device();
        tarn_tensor out[MOST];
        must(r, tarn_eval(out, record(r, sizes[i], out)));
        close_device(r);
    }
}

/* A long chain of maps, broadcast in the middle. */
static int record_maps(tarn_replica *r, int batch, tarn_tensor out[MOST])
{
    const tarn_tensor x = numbers(r, TARN_SHAPE(batch, 7, 5)), y = numbers(r, TARN_SHAPE(7, 1));
    const tarn_tensor a = tarn_tanh(tarn_add(tarn_mul(x, y), tarn_sigmoid(x)));
    out[0] = tarn_gelu(tarn_sub(tarn_exp(a), tarn_div(y, tarn_add_scalar(tarn_abs(x), 0.5f))));
    out[1] = tarn_where(tarn_gt(a, y), tarn_mul_scalar(a, 3.1f), tarn_relu(x));
    tarn_gradients(tarn_sum(tarn_mul(out[0], out[1]), TARN_ALL, false), (tarn_tensor[]){ x, y }, 2,
                   &out[2]);
    return 4;
}

/* Over the batch and over features, one feeding the other. */
static int record_reductions(tarn_replica *r, int batch, tarn_tensor out[MOST])
{
    const tarn_tensor x = numbers(r, TARN_SHAPE(batch, 33));
    const tarn_tensor d = tarn_sub(x, tarn_mean(x, TARN_AXES(0), true));
    out[0] = tarn_softmax(d, 1);
    out[1] = tarn_var(tarn_mul(d, out[0]), TARN_AXES(0), 1, false);
    out[2] = tarn_max(tarn_sum(tarn_mul(d, d), TARN_AXES(1), true), TARN_ALL, false);
    const tarn_tensor loss = tarn_add(tarn_sum(out[1], TARN_ALL, false), out[2]);
    tarn_gradients(loss, &x, 1, &out[3]);
    return 4;
}

/* Views between maps, with reuse. */
static int record_views(tarn_replica *r, int batch, tarn_tensor out[MOST])
{
    const tarn_tensor x = numbers(r, TARN_SHAPE(batch, 6, 4));
    const tarn_tensor e = tarn_exp(x), p = tarn_permute(e, TARN_AXES(0, 2, 1));
    const tarn_tensor s = tarn_slice(p, 2, 1, 6, 2);
    const tarn_tensor d = tarn_pad(s, TARN_SHAPE(0, 1, 2), TARN_SHAPE(0, 0, 1), 0.25f);
    out[0] = tarn_concat((tarn_tensor[]){ tarn_flatten(d, 1), tarn_flatten(e, 1) }, 2, 1);
    out[1] = tarn_sum(tarn_mul(out[0], out[0]), TARN_AXES(0), false);
    out[2] = tarn_reshape(tarn_mul(p, tarn_transpose(x, 1, 2)), TARN_SHAPE(batch, -1));
    tarn_gradients(tarn_mean(tarn_add(tarn_sum(out[1], TARN_ALL, false), out[2]), TARN_ALL, false),
                   &x, 1, &out[3]);
    return 4;
}

/* A perceptron: products of matrices with maps before and after. */
static int record_matmul(tarn_replica *r, int batch, tarn_tensor out[MOST])
{
    const tarn_tensor x = numbers(r, TARN_SHAPE(batch, 17));
    const tarn_tensor w = numbers(r, TARN_SHAPE(17, 9)), v = numbers(r, TARN_SHAPE(9, 3));
    const tarn_tensor h = tarn_relu(tarn_matmul(tarn_mul_scalar(x, 0.3f), w));
    out[0] = tarn_log_softmax(tarn_matmul(tarn_tanh(h), v), 1);
    out[1] = tarn_argmax(out[0], 1, false);
    tarn_gradients(tarn_mean(tarn_mul(out[0], out[0]), TARN_ALL, false), (tarn_tensor[]){ x, w, v },
                   3, &out[2]);
    return 5;
}

/* A convolution and two kinds of pools. */
static int record_windows(tarn_replica *r, int batch, tarn_tensor out[MOST])
{
    const tarn_tensor x = numbers(r, TARN_SHAPE(batch, 2, 9, 9));
    const tarn_tensor w = numbers(r, TARN_SHAPE(4, 2, 3, 3)), b = numbers(r, TARN_SHAPE(4));
    const tarn_tensor c =
        tarn_conv2d_op(x, w, b, (tarn_conv2d_options){ .padding = { 1, 1 }, .groups = 1 });
    const tarn_tensor m = tarn_max_pool2d_with(
        c, (tarn_pool_options){ .window = { 3, 3 }, .stride = { 2, 2 }, .padding = { 1, 1 } });
    out[0] = tarn_avg_pool2d(tarn_gelu(m), 2);
    tarn_gradients(squares(out[0]), (tarn_tensor[]){ x, w, b }, 3, &out[1]);
    return 4;
}

#define AT_ALL_SIZES(name) \
    static void name(void) \
    { \
        at_all_sizes(record_##name); \
    }
AT_ALL_SIZES(maps)
AT_ALL_SIZES(reductions)
AT_ALL_SIZES(views)
AT_ALL_SIZES(matmul)
AT_ALL_SIZES(windows)

const struct program fuse_programs[] = {
    { "fuse-maps", maps },     { "fuse-reductions", reductions }, { "fuse-views", views },
    { "fuse-matmul", matmul }, { "fuse-windows", windows },       { 0 },
};
