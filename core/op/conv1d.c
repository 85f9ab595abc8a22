/* SPDX-License-Identifier: Apache-2.0 */
/* Convolution in one dimension: of images of one row. */
#include "tensor/shape.h"
#include "tensor/spread.h"

tarn_tensor tarn_conv1d_op(tarn_tensor x, tarn_tensor weight, tarn_tensor bias,
                           tarn_conv1d_options options)
{
    tarn_replica *r;
    const bool biased = bias.replica != NULL;
    if (!graph_operands("conv1d", (tarn_tensor[]){ x, weight, bias }, 2 + biased, &r))
        return graph_poison(r);
    const tarn_shape s = tarn_shape_get(x), w = tarn_shape_get(weight);
    if (s.rank != 3 || w.rank != 3)
        return graph_fail(r, TARN_ERR_SHAPE,
                          "conv1d: x %s and weight %s must be [N, C, L] and [O, C/groups, K]",
                          shape_text(s), shape_text(w));
    const tarn_conv2d_options wide = { .stride = { 1, options.stride ? options.stride : 1 },
                                       .padding = { 0, options.padding },
                                       .dilation = { 1, options.dilation ? options.dilation : 1 },
                                       .groups = options.groups };
    const tarn_tensor y = tarn_conv2d_op(
        tarn_reshape(x, TARN_SHAPE(s.dim[0], s.dim[1], 1, s.dim[2])),
        tarn_reshape(weight, TARN_SHAPE(w.dim[0], w.dim[1], 1, w.dim[2])), bias, wide);
    if (tarn_failed(y))
        return y;
    const tarn_shape out = tarn_shape_get(y);
    return tarn_reshape(y, TARN_SHAPE(out.dim[0], out.dim[1], out.dim[3]));
}
