/* SPDX-License-Identifier: Apache-2.0 */
/* Part of simplify.c: what is read of copies where the samples of training are no lanes. Convolutions whose columns are
 * lanes, and their gradients, read the image with zeros beside its columns: none of the lanes has a condition then, whose
 * masks would take registers from the sums; and with zeros between columns where a stride has an element for some lanes only.
 * Where columns are too few, channels are lanes, side by side in a copy. The
 * gradient of a weight is two sums where some columns remain behind those that fill registers: lanes are added up and then
 * the rest, which is what one nest does, too, but element by element. Where it is faster than all of this, Winograd's algorithm
 * comes first (few_winograd.c). In: a node. Out: nodes in its place, or the word that it stays. Without that no sum changes
 * its order. */
#include <string.h>

#include "compile/1_graph/few.h"
#include "tensor/expand.h"
#include "tensor/shape.h"
#include "tensor/sum_order.h"

#define LEAST_READERS \
    4 /* channels that read each element of a copy: for fewer it is not worth its time */

/* ---- zeros beside columns -------------------------------------------------------------------- */

/* Columns of zeros, so that each window finds one where it looks. */
struct margins {
    int32_t low, high, padding; /* and the padding that the convolution has of them then */
};

static int32_t not_below_0(int32_t x)
{
    return x > 0 ? x : 0;
}

static tarn_shape weight_shape(const struct builder *b, const struct node *n, const uint32_t in[2])
{
    return n->op == &op_conv2d_weight ? n->shape : expand_shape(b, in[1]);
}

static int32_t last_of(tarn_shape s)
{
    return s.dim[s.rank - 1];
}

/* Of the convolution's result, or of an image's gradient. */
static int32_t columns_of(const struct builder *b, const struct node *n, const uint32_t in[2])
{
    return last_of(n->op == &op_conv2d_weight ? expand_shape(b, in[1]) : n->shape);
}

static struct margins margins_of(const struct builder *b, const struct node *n,
                                 const uint32_t in[2])
{
    const int32_t image = last_of(expand_shape(b, in[0])), columns = columns_of(b, n, in);
    const int32_t padding = n->arg.conv.padding[CONV_COLUMNS];
    const int32_t reach =
        (last_of(weight_shape(b, n, in)) - 1) * n->arg.conv.dilation[CONV_COLUMNS];
    struct margins m = { .low = padding };
    if (n->op == &op_conv2d_input) { /* reads column x + padding - what a window is along */
        m.low = not_below_0(reach - padding);
        m.high = not_below_0(columns + padding - image);
        m.padding = padding + m.low;
        return m;
    }
    m.high =
        not_below_0((columns - 1) * n->arg.conv.stride[CONV_COLUMNS] + reach - padding + 1 - image);
    return m;
}

/* Whether a copy takes less time than it saves, and no more than twice the memory. */
static bool is_worth_a_copy(const struct builder *b, const struct node *n, const uint32_t in[2],
                            const struct margins *m)
{
    const tarn_shape weight = weight_shape(b, n, in);
    const int32_t readers =
        n->op == &op_conv2d_input ? weight.dim[1] : weight.dim[0] / n->arg.conv.groups;
    return readers >= LEAST_READERS && m->low + m->high <= last_of(expand_shape(b, in[0]));
}

/* The image itself where there are no margins. */
static uint32_t with_zeros(struct builder *b, uint32_t x, const struct margins *m, bool stored)
{
    union op_arg arg;
    if (m->low + m->high == 0)
        return x;
    memset(&arg, 0, sizeof arg);
    tarn_shape wide = expand_shape(b, x);
    const int last = wide.rank - 1;
    arg.pad.low[last] = m->low;
    arg.pad.high[last] = m->high;
    wide.dim[last] += m->low + m->high;
    const uint32_t padded = expand_make(b, &op_pad, wide, expand_dtype(b, x), &arg, &x, 1);
    simplify_module(b)->stored[padded] |= stored;
    return padded;
}

bool from_columns(struct builder *b, const struct node *n, const uint32_t in[2], uint32_t *out)
{
    const struct margins m = margins_of(b, n, in);
    if (columns_of(b, n, in) < LANES || m.low + m.high == 0 || !is_worth_a_copy(b, n, in, &m))
        return false;
    union op_arg arg = n->arg;
    arg.conv.padding[CONV_COLUMNS] = m.padding;
    const uint32_t operands[2] = { with_zeros(b, in[0], &m, true), in[1] };
    *out = expand_make(b, n->op, n->shape, n->dtype, &arg, operands, 2);
    return true;
}

/* ---- strides -------------------------------------------------------------------------------- */

static uint32_t columns_apart(struct builder *b, uint32_t x, int32_t stride)
{
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    tarn_shape wide = expand_shape(b, x);
    for (int d = 0; d < wide.rank; d++)
        arg.dilate.step[d] = 1;
    const int last = wide.rank - 1;
    arg.dilate.step[last] = stride;
    wide.dim[last] = (wide.dim[last] - 1) * stride + 1;
    return expand_make(b, &op_dilate, wide, expand_dtype(b, x), &arg, &x, 1);
}

bool from_columns_apart(struct builder *b, const struct node *n, const uint32_t in[2],
                        uint32_t *out)
{
    const int32_t stride = n->arg.conv.stride[CONV_COLUMNS];
    if (n->op != &op_conv2d_input || stride == 1 || last_of(n->shape) < LANES ||
        tarn_shape_count(expand_shape(b, in[0])) == 0)
        return false;
    struct node even = *n;
    even.arg.conv.stride[CONV_COLUMNS] = 1;
    uint32_t operands[2] = { columns_apart(b, in[0], stride), in[1] };
    const struct margins m = margins_of(b, &even, operands);
    even.arg.conv.padding[CONV_COLUMNS] = m.padding;
    operands[0] = with_zeros(b, operands[0], &m, false);
    simplify_module(b)->stored[operands[0]] = true;
    *out = expand_make(b, n->op, n->shape, n->dtype, &even.arg, operands, 2);
    return true;
}

/* ---- gradients of weights -------------------------------------------------------------------- */

/* Whether nest_lane() takes columns for lanes: no elements of the weight lie side by side in sixteens. */
static bool adds_columns(const struct node *n, int32_t columns)
{
    int inner = n->shape.rank - 1;
    while (inner > 1 && n->shape.dim[inner] == 1)
        inner--;
    return columns >= LANES && n->shape.dim[inner] < LANES;
}

static bool has_channels(const struct node *n)
{
    return n->shape.dim[1] >= LANES || n->shape.dim[0] / n->arg.conv.groups >= LANES;
}

/* Lanes are channels of the image, or else those of the result. */
static uint32_t of_channels(struct builder *b, const struct node *n, uint32_t x, uint32_t y,
                            const union op_arg *arg)
{
    uint32_t operands[2] = { x, y };
    uint32_t *turned = &operands[n->shape.dim[1] < LANES];
    const uint32_t copy = permuted(b, *turned, channels_last(n->shape.rank));
    simplify_module(b)->stored[copy] = true;
    *turned = with_channels_second(b, copy);
    return expand_make(b, &op_conv2d_weight, n->shape, n->dtype, arg, operands, 2);
}

/* The sum over columns that fill registers, and that over the rest. */
static uint32_t in_two(struct builder *b, const struct node *n, uint32_t x, uint32_t y,
                       const union op_arg *arg)
{
    const int32_t columns = last_of(expand_shape(b, y)), whole = columns / LANES * LANES;
    const int32_t stride = arg->conv.stride[CONV_COLUMNS];
    const int last = n->shape.rank - 1;
    const int32_t window = (last_of(n->shape) - 1) * arg->conv.dilation[CONV_COLUMNS] + 1;
    const uint32_t first[2] = { some_of(b, x, last, 0, (whole - 1) * stride + window),
                                some_of(b, y, last, 0, whole) };
    const uint32_t rest[2] = { some_of(b, x, last, whole * stride,
                                       (columns - whole - 1) * stride + window),
                               some_of(b, y, last, whole, columns - whole) };
    const uint32_t both[2] = { of_channels(b, n, rest[0], rest[1], arg),
                               expand_make(b, &op_conv2d_weight, n->shape, n->dtype, arg, first,
                                           2) };
    union op_arg none;
    memset(&none, 0, sizeof none);
    return expand_make(b, &op_add, n->shape, n->dtype, &none, both, 2);
}

static bool weight_gradient(struct builder *b, const struct node *n, const uint32_t in[2],
                            uint32_t *out)
{
    const struct margins m = margins_of(b, n, in);
    const int32_t columns = columns_of(b, n, in);
    const bool adds = adds_columns(n, columns);
    if (!is_worth_a_copy(b, n, in, &m))
        return false;
    if (!has_channels(n) || (adds && columns % LANES == 0))
        return from_columns(b, n, in, out);
    union op_arg arg = n->arg;
    arg.conv.padding[CONV_COLUMNS] = m.padding;
    const uint32_t x = with_zeros(b, in[0], &m, adds);
    *out = adds ? in_two(b, n, x, in[1], &arg) : of_channels(b, n, x, in[1], &arg);
    return true;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* Whether columns are no lanes: too few, or each with a condition of its own, which all but one of `stride` columns
 * fail. */
static bool lacks_columns(const struct node *n)
{
    return last_of(n->shape) < LANES ||
           (n->op == &op_conv2d_input && n->arg.conv.stride[CONV_COLUMNS] > 1);
}

bool few_columns(struct builder *b, const struct node *n, const uint32_t in[2], uint32_t *out)
{
    const bool of_weight = n->op == &op_conv2d_weight;
    if (!is_convolution(n->op) || tarn_shape_count(n->shape) == 0)
        return false;
    if (few_winograd(b, n, in, true, out)) {
        simplify_module(b)->stored[*out] |= !of_weight;
        return true;
    }
    if (of_weight)
        return tarn_shape_count(expand_shape(b, in[1])) > 0 && weight_gradient(b, n, in, out);
    if (!lacks_columns(n))
        return from_columns(b, n, in, out);
    if (!from_phases(b, n, in, out)) {
        if (n->shape.dim[1] / n->arg.conv.groups < LANES) /* each by itself they would lie apart */
            return from_columns_apart(b, n, in, out);
        *out = from_channels(b, n, in);
    }
    simplify_module(b)->stored[*out] = true;
    return true;
}
