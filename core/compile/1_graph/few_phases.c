/* SPDX-License-Identifier: Apache-2.0 */
/* Part of simplify.c: gradients of strided convolutions in their image, transposed convolutions too, whose window is as long as
 * some strides. Columns that are a stride apart meet the same elements of a window, so those of each phase are channels of a
 * convolution without a stride; with channels last, phases before them, its columns lie in memory as the image's do. Each
 * sum has the terms that it had, in their order. In: a node of few samples. Out: nodes in its place. */
#include "compile/1_graph/few.h"
#include "compile/1_graph/graph_passes.h"
#include "tensor/expand.h"
#include "tensor/shape.h"
#include "tensor/sum_order.h"

#define LEAST_STRIDE 3 /* with a shorter one tiles of columns know what they meet */

/* [O, C, ..., K] as [O, S C, ..., K / S]: element q + S j of a window is element j of phase q. */
static uint32_t weight_of_phases(struct builder *b, uint32_t w, int32_t stride)
{
    const tarn_shape s = expand_shape(b, w);
    const int last = s.rank - 1;
    tarn_shape apart = s, to = s;
    int32_t order[TARN_MAX_RANK] = { 0, last + 1, 1 };
    apart.rank++;
    apart.dim[last] = s.dim[last] / stride;
    apart.dim[last + 1] = stride;
    for (int d = 2; d <= last; d++)
        order[d + 1] = d;
    to.dim[1] *= stride;
    to.dim[last] /= stride;
    return expand_reshape(b, permuted(b, expand_reshape(b, w, apart), order), to);
}

bool from_phases(struct builder *b, const struct node *n, const uint32_t in[2], uint32_t *out)
{
    const int32_t stride = n->arg.conv.stride[CONV_COLUMNS];
    const tarn_shape w = expand_shape(b, in[1]), s = n->shape;
    const int last = s.rank - 1;
    if (n->op != &op_conv2d_input || stride < LEAST_STRIDE || w.dim[last] % stride != 0 ||
        n->arg.conv.groups != 1 || n->arg.conv.dilation[CONV_COLUMNS] != 1 ||
        s.dim[1] * stride < LANES)
        return false;
    const int32_t padding = n->arg.conv.padding[CONV_COLUMNS], before = padding / stride;
    struct node even = *n;
    even.shape.dim[1] *= stride;
    even.shape.dim[last] = (s.dim[last] - 1 + padding) / stride - before + 1;
    even.arg.conv.stride[CONV_COLUMNS] = 1;
    even.arg.conv.padding[CONV_COLUMNS] = before;
    even.arg.conv.phases = stride;
    const uint32_t operands[2] = { in[0], weight_of_phases(b, in[1], stride) };
    const uint32_t phases = channels_last_of(b, from_channels(b, &even, operands));
    tarn_shape wide = expand_shape(b, phases);
    wide.dim[last] = s.dim[1];
    wide.dim[last - 1] *= stride;
    const uint32_t image = expand_reshape(b, phases, wide);
    *out = with_channels_second(
        b, some_of(b, image, last - 1, padding - before * stride, s.dim[last]));
    return true;
}
