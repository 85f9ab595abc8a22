/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions and transposed ones as they are called. All are of images: a sequence is an image of one row, and what
 * has depth is as many images as its planes. */
#include "op/conv.h"
#include "op/op.h"
#include "tensor/shape.h"

/* ---- images --------------------------------------------------------------------------------- */

static tarn_tensor of_images(struct convolution *c, tarn_tensor x, tarn_tensor weight,
                             tarn_tensor bias)
{
    tarn_replica *r;
    if (!conv_begin(c, x, weight, bias, &r))
        return graph_poison(r);
    const tarn_dtype of = conv_operands(&x, &weight);
    return conv_with_bias(conv_product(c, x, weight, c->out), bias, of);
}

tarn_tensor tarn_conv2d_op(tarn_tensor x, tarn_tensor weight, tarn_tensor bias,
                           tarn_conv2d_options o)
{
    struct convolution c = { .name = "conv2d",
                             .axes = 2,
                             .stride = { 0, o.stride[0], o.stride[1] },
                             .padding = { 0, o.padding[0], o.padding[1] },
                             .dilation = { 0, o.dilation[0], o.dilation[1] },
                             .groups = o.groups };
    return of_images(&c, x, weight, bias);
}

tarn_tensor tarn_conv_transpose2d_op(tarn_tensor x, tarn_tensor weight, tarn_tensor bias,
                                     tarn_conv_transpose2d_options o)
{
    struct convolution c = { .name = "conv_transpose2d",
                             .transposed = true,
                             .axes = 2,
                             .stride = { 0, o.stride[0], o.stride[1] },
                             .padding = { 0, o.padding[0], o.padding[1] },
                             .dilation = { 0, o.dilation[0], o.dilation[1] },
                             .output_padding = { 0, o.output_padding[0], o.output_padding[1] },
                             .groups = o.groups };
    return of_images(&c, x, weight, bias);
}

/* ---- sequences ------------------------------------------------------------------------------ */

static tarn_tensor of_sequences(struct convolution *c, tarn_tensor x, tarn_tensor weight,
                                tarn_tensor bias)
{
    tarn_replica *r;
    if (!conv_begin(c, x, weight, bias, &r))
        return graph_poison(r);
    const tarn_shape s = tarn_shape_get(x), w = tarn_shape_get(weight), out = c->out;
    x = tarn_reshape(x, TARN_SHAPE(s.dim[0], s.dim[1], 1, s.dim[2]));
    weight = tarn_reshape(weight, TARN_SHAPE(w.dim[0], w.dim[1], 1, w.dim[2]));
    const tarn_dtype of = conv_operands(&x, &weight);
    const tarn_shape row = TARN_SHAPE(out.dim[0], out.dim[1], 1, out.dim[2]);
    return op_reshape_to(conv_with_bias(conv_product(c, x, weight, row), bias, of), out);
}

tarn_tensor tarn_conv1d_op(tarn_tensor x, tarn_tensor weight, tarn_tensor bias,
                           tarn_conv1d_options o)
{
    struct convolution c = { .name = "conv1d",
                             .axes = 1,
                             .stride = { 0, 0, o.stride },
                             .padding = { 0, 0, o.padding },
                             .dilation = { 0, 0, o.dilation },
                             .groups = o.groups };
    return of_sequences(&c, x, weight, bias);
}

tarn_tensor tarn_conv_transpose1d_op(tarn_tensor x, tarn_tensor weight, tarn_tensor bias,
                                     tarn_conv_transpose1d_options o)
{
    struct convolution c = { .name = "conv_transpose1d",
                             .transposed = true,
                             .axes = 1,
                             .stride = { 0, 0, o.stride },
                             .padding = { 0, 0, o.padding },
                             .dilation = { 0, 0, o.dilation },
                             .output_padding = { 0, 0, o.output_padding },
                             .groups = o.groups };
    return of_sequences(&c, x, weight, bias);
}

/* ---- depth ---------------------------------------------------------------------------------- */

/* Of x padded along depth; or, transposed, all planes that windows lie on, with those behind that none does. */
static int64_t padded_depth(const struct convolution *c, tarn_shape x, tarn_shape w)
{
    const int64_t padding = c->padding[0], out = c->out.dim[2];
    const int64_t reach =
        ((int64_t)x.dim[2] - 1) * c->stride[0] + ((int64_t)w.dim[2] - 1) * c->dilation[0] + 1;
    return !c->transposed ? x.dim[2] + 2 * padding : padding + out > reach ? padding + out : reach;
}

/* Whether planes, channels with those of the window, and pixels are counted in 32 bits, also where there are no
 * elements. */
static bool counts_fit(tarn_replica *r, const struct convolution *c, tarn_shape x, tarn_shape w)
{
    const int64_t depth = padded_depth(c, x, w), window = w.dim[2];
    const tarn_shape image = c->transposed ? c->out : x;
    if (depth <= INT32_MAX && x.dim[0] * depth <= INT32_MAX && image.dim[1] * window <= INT32_MAX &&
        (int64_t)image.dim[3] * image.dim[4] <= INT32_MAX)
        return true;
    graph_fail(r, TARN_ERR_SHAPE, "%s: x %s and weight %s are too large", c->name, shape_text(x),
               shape_text(w));
    return false;
}

/* [N, C, D, H, W] -> [N OD, C KD, H, W]: for each place of the window along depth the planes that it lies on, side by
 * side as channels. */
static tarn_tensor planes_under(const struct convolution *c, tarn_tensor x, int32_t window)
{
    const tarn_shape s = tarn_shape_get(x), border = TARN_SHAPE(0, 0, c->padding[0], 0, 0);
    const int32_t depth = s.dim[2] + 2 * c->padding[0];
    x = tarn_pad(x, border, border, 0.0f);
    if (window == 1) {
        x = tarn_permute(tarn_slice(x, 2, 0, depth, c->stride[0]), TARN_AXES(0, 2, 1, 3, 4));
    } else {
        x = tarn_reshape(x, TARN_SHAPE(s.dim[0], s.dim[1], depth, s.dim[3] * s.dim[4]));
        x = op_window_view(x, (int32_t[]){ window, 1 }, (int32_t[]){ c->stride[0], 1 },
                           (int32_t[]){ c->dilation[0], 1 });
        x = tarn_permute(x, TARN_AXES(0, 2, 1, 4, 3, 5));
    }
    return tarn_reshape(
        x, TARN_SHAPE(s.dim[0] * c->out.dim[2], s.dim[1] * window, s.dim[3], s.dim[4]));
}

tarn_tensor tarn_conv3d_op(tarn_tensor x, tarn_tensor weight, tarn_tensor bias,
                           tarn_conv3d_options o)
{
    struct convolution c = { .name = "conv3d",
                             .axes = 3,
                             .stride = { o.stride[0], o.stride[1], o.stride[2] },
                             .padding = { o.padding[0], o.padding[1], o.padding[2] },
                             .dilation = { o.dilation[0], o.dilation[1], o.dilation[2] },
                             .groups = o.groups };
    tarn_replica *r;
    if (!conv_begin(&c, x, weight, bias, &r))
        return graph_poison(r);
    const tarn_shape s = tarn_shape_get(x), w = tarn_shape_get(weight), out = c.out;
    if (!counts_fit(r, &c, s, w))
        return graph_poison(r);
    const tarn_dtype of = conv_operands(&x, &weight);
    x = planes_under(&c, x, w.dim[2]);
    weight = tarn_reshape(weight, TARN_SHAPE(w.dim[0], w.dim[1] * w.dim[2], w.dim[3], w.dim[4]));
    const tarn_shape planes =
        TARN_SHAPE(out.dim[0] * out.dim[2], out.dim[1], out.dim[3], out.dim[4]);
    const tarn_tensor y = conv_with_bias(conv_product(&c, x, weight, planes), bias, of);
    const tarn_tensor apart =
        tarn_reshape(y, TARN_SHAPE(out.dim[0], out.dim[2], out.dim[1], out.dim[3], out.dim[4]));
    return tarn_failed(apart) ? apart : tarn_permute(apart, TARN_AXES(0, 2, 1, 3, 4));
}

/* Each plane makes as many as the window has; those that lie on one another are added up. */
tarn_tensor tarn_conv_transpose3d_op(tarn_tensor x, tarn_tensor weight, tarn_tensor bias,
                                     tarn_conv_transpose3d_options o)
{
    struct convolution c = { .name = "conv_transpose3d",
                             .transposed = true,
                             .axes = 3,
                             .stride = { o.stride[0], o.stride[1], o.stride[2] },
                             .padding = { o.padding[0], o.padding[1], o.padding[2] },
                             .dilation = { o.dilation[0], o.dilation[1], o.dilation[2] },
                             .output_padding = { o.output_padding[0], o.output_padding[1],
                                                 o.output_padding[2] },
                             .groups = o.groups };
    tarn_replica *r;
    if (!conv_begin(&c, x, weight, bias, &r))
        return graph_poison(r);
    const tarn_shape s = tarn_shape_get(x), w = tarn_shape_get(weight), out = c.out;
    if (!counts_fit(r, &c, s, w))
        return graph_poison(r);
    const int32_t n = s.dim[0], depth = s.dim[2], window = w.dim[2], channels = out.dim[1];
    const int32_t high = out.dim[3], wide = out.dim[4], first = c.padding[0];
    const tarn_dtype of = conv_operands(&x, &weight);
    x = tarn_reshape(tarn_permute(x, TARN_AXES(0, 2, 1, 3, 4)),
                     TARN_SHAPE(n * depth, s.dim[1], s.dim[3], s.dim[4]));
    weight = tarn_reshape(weight, TARN_SHAPE(w.dim[0], w.dim[1] * window, w.dim[3], w.dim[4]));
    tarn_tensor y =
        conv_product(&c, x, weight, TARN_SHAPE(n * depth, channels * window, high, wide));
    y = tarn_reshape(y, TARN_SHAPE(n, depth, channels, window, high * wide, 1));
    y = tarn_permute(y, TARN_AXES(0, 2, 1, 4, 3, 5));
    const int32_t all = (int32_t)padded_depth(&c, s, w);
    y = op_unwindow_view(y, all, high * wide, (int32_t[]){ c.stride[0], 1 },
                         (int32_t[]){ c.dilation[0], 1 });
    y = op_reduce(&op_sum, y, 3u << 4);
    if (tarn_failed(y))
        return y;
    y = tarn_reshape(y, TARN_SHAPE(n, channels, all, high, wide));
    return conv_with_bias(tarn_slice(y, 2, first, first + out.dim[2], 1), bias, of);
}
