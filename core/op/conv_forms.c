/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions and transposed ones as they are called. A sequence is an image of one row. */
#include "op/conv.h"
#include "op/op.h"
#include "tensor/shape.h"

/* ---- images --------------------------------------------------------------------------------- */

static tarn_tensor as_it_is(struct convolution *c, tarn_tensor x, tarn_tensor weight,
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
    return as_it_is(&c, x, weight, bias);
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
    return as_it_is(&c, x, weight, bias);
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

/* ---- volumes -------------------------------------------------------------------------------- */

tarn_tensor tarn_conv3d_op(tarn_tensor x, tarn_tensor weight, tarn_tensor bias,
                           tarn_conv3d_options o)
{
    struct convolution c = { .name = "conv3d",
                             .axes = 3,
                             .stride = { o.stride[0], o.stride[1], o.stride[2] },
                             .padding = { o.padding[0], o.padding[1], o.padding[2] },
                             .dilation = { o.dilation[0], o.dilation[1], o.dilation[2] },
                             .groups = o.groups };
    return as_it_is(&c, x, weight, bias);
}

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
    return as_it_is(&c, x, weight, bias);
}
