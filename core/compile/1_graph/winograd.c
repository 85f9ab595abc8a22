/* SPDX-License-Identifier: Apache-2.0 */
/* Part of simplify.c: rewrites a convolution and its gradients as Winograd's, F(4x4, KxK).
 *
 *   result = R' (W w W' . T x T') R,   with . the product at each point, summed over channels,
 *
 * T, W and R being constant tables (winograd_table.c). The gradients are the transposed
 * computations, so that forward and backward share the transformed input, weight and gradient.
 * Whether a convolution is rewritten depends on its own shape but for the number of samples: all
 * replicas agree, however the batch is divided among them. In: a convolution's node. Out: nodes in
 * its place, or the word that it stays. */
#include <string.h>

#include "compile/1_graph/graph_passes.h"
#include "compile/1_graph/winograd_ops.h"
#include "tensor/expand.h"
#include "tensor/sum_order.h"

/* With virtual shards the sums of each shard by itself must go on to other replicas, and the
 * transform back, which comes after the sum, would round once for each replica. */
enum winograd winograd_wanted(const struct program *p, const struct target *t)
{
    return t->winograd == WINOGRAD_NEVER ? WINOGRAD_NONE
           : p->partition.shards > 0     ? WINOGRAD_SAMPLES
                                         : WINOGRAD_ALL;
}

/* ---- what it is good for -------------------------------------------------------------------- */

static bool plain_options(const union op_arg *arg)
{
    for (int i = 0; i < 2; i++)
        if (arg->conv.stride[i] != 1 || arg->conv.dilation[i] != 1)
            return false;
    return arg->conv.groups == 1;
}

static bool suits(const struct target *t, const union op_arg *arg, tarn_shape x, tarn_shape w,
                  tarn_shape y)
{
    if (!plain_options(arg) || tarn_shape_count(x) == 0 || tarn_shape_count(w) == 0 ||
        tarn_shape_count(y) == 0)
        return false;
    for (int i = 0; i < 2; i++)
        if (w.dim[2 + i] != 3 && w.dim[2 + i] != 5)
            return false;
    if (t->winograd == WINOGRAD_ALWAYS)
        return true;
    return x.dim[1] >= t->winograd_channels && y.dim[1] >= t->winograd_channels &&
           y.dim[2] >= WINOGRAD_STEP && y.dim[3] >= WINOGRAD_STEP;
}

/* ---- nodes ---------------------------------------------------------------------------------- */

struct plan_of {
    struct builder *b;
    tarn_shape x, w, y;
    const union op_arg *arg; /* of the convolution */
    int32_t a[2], tiles[2];
};

static uint32_t add(const struct plan_of *p, const struct op *op, tarn_shape shape,
                    const union op_arg *arg, const uint32_t *in, uint32_t count)
{
    return expand_make(p->b, op, shape, TARN_F32, arg, in, count);
}

static uint32_t reshaped(const struct plan_of *p, uint32_t x, tarn_shape shape)
{
    return add(p, &op_reshape, shape, NULL, &x, 1);
}

static union op_arg options(const struct plan_of *p)
{
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    for (int i = 0; i < 2; i++) {
        arg.winograd.window[i] = p->w.dim[2 + i];
        arg.winograd.tiles[i] = p->tiles[i];
    }
    return arg;
}

static tarn_shape at_points(const struct plan_of *p, int32_t plane)
{
    return TARN_SHAPE(p->y.dim[0], p->a[0], p->a[1], plane);
}

/* The elements of a point: see winograd_ops.h. */
static int32_t plane_of(const struct plan_of *p, int32_t channels)
{
    return (channels * p->tiles[0] * p->tiles[1]) | 1;
}

static tarn_shape weight_points(const struct plan_of *p)
{
    return TARN_SHAPE(p->a[0], p->a[1], p->w.dim[0] * p->w.dim[1]);
}

/* An image with zeros around it, so that its tiles need no conditions. */
static uint32_t padded(const struct plan_of *p, uint32_t x, tarn_shape shape, const int32_t low[2],
                       const int32_t length[2])
{
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    bool any = false;
    for (int i = 0; i < 2; i++) {
        arg.pad.low[2 + i] = low[i];
        arg.pad.high[2 + i] = length[i] - low[i] - shape.dim[2 + i];
        any |= shape.dim[2 + i] != length[i];
        shape.dim[2 + i] = length[i];
    }
    return any ? add(p, &op_pad, shape, &arg, &x, 1) : x;
}

static uint32_t transformed_input(const struct plan_of *p, uint32_t x)
{
    const union op_arg arg = options(p);
    const int32_t length[2] = { WINOGRAD_STEP * (p->tiles[0] - 1) + p->a[0],
                                WINOGRAD_STEP * (p->tiles[1] - 1) + p->a[1] };
    x = padded(p, x, p->x, p->arg->conv.padding, length);
    return add(p, &op_winograd_input, at_points(p, plane_of(p, p->x.dim[1])), &arg, &x, 1);
}

static uint32_t transformed_gradient(const struct plan_of *p, uint32_t y)
{
    static const int32_t none[2] = { 0, 0 };
    const union op_arg arg = options(p);
    const int32_t length[2] = { WINOGRAD_STEP * p->tiles[0], WINOGRAD_STEP * p->tiles[1] };
    y = padded(p, y, p->y, none, length);
    return add(p, &op_winograd_given, at_points(p, plane_of(p, p->y.dim[1])), &arg, &y, 1);
}

static uint32_t transformed_weight(const struct plan_of *p, uint32_t w)
{
    union op_arg arg = options(p);
    memset(arg.winograd.tiles, 0, sizeof arg.winograd.tiles);
    const uint32_t flat =
        reshaped(p, w, TARN_SHAPE(p->w.dim[0] * p->w.dim[1], p->w.dim[2], p->w.dim[3]));
    return add(p, &op_winograd_weight, weight_points(p), &arg, &flat, 1);
}

static uint32_t product(const struct plan_of *p, const struct op *op, tarn_shape shape,
                        const uint32_t in[2])
{
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    memcpy(arg.winograd.tiles, p->tiles, sizeof arg.winograd.tiles);
    arg.winograd.channels[0] = p->x.dim[1];
    arg.winograd.channels[1] = p->y.dim[1];
    return add(p, op, shape, &arg, in, 2);
}

static uint32_t forward(const struct plan_of *p, uint32_t x, uint32_t w)
{
    union op_arg arg = options(p);
    memcpy(arg.winograd.size, p->y.dim + 2, sizeof arg.winograd.size);
    const uint32_t in[2] = { transformed_input(p, x), transformed_weight(p, w) };
    const uint32_t points =
        product(p, &op_winograd_product, at_points(p, plane_of(p, p->y.dim[1])), in);
    return add(p, &op_winograd_result, p->y, &arg, &points, 1);
}

static uint32_t input_gradient(const struct plan_of *p, uint32_t y, uint32_t w)
{
    union op_arg arg = options(p);
    memcpy(arg.winograd.size, p->x.dim + 2, sizeof arg.winograd.size);
    memcpy(arg.winograd.padding, p->arg->conv.padding, sizeof arg.winograd.padding);
    const uint32_t in[2] = { transformed_gradient(p, y), transformed_weight(p, w) };
    const int32_t plane = p->x.dim[1] * p->tiles[0] * p->tiles[1];
    const uint32_t points = product(p, &op_winograd_product_input, at_points(p, plane), in);
    const uint32_t tiles =
        reshaped(p, points,
                 TARN_SHAPE(p->y.dim[0], p->a[0], p->a[1], p->x.dim[1], p->tiles[0], p->tiles[1]));
    const uint32_t rows = add(
        p, &op_winograd_row,
        TARN_SHAPE(p->y.dim[0], p->a[0], p->x.dim[1], p->tiles[0], p->x.dim[3]), &arg, &tiles, 1);
    return add(p, &op_winograd_column, p->x, &arg, &rows, 1);
}

static uint32_t weight_gradient(const struct plan_of *p, uint32_t x, uint32_t y)
{
    union op_arg arg = options(p);
    memset(arg.winograd.tiles, 0, sizeof arg.winograd.tiles);
    const uint32_t in[2] = { transformed_input(p, x), transformed_gradient(p, y) };
    const uint32_t points = product(p, &op_winograd_product_weight, weight_points(p), in);
    const tarn_shape flat = TARN_SHAPE(p->w.dim[0] * p->w.dim[1], p->w.dim[2], p->w.dim[3]);
    return reshaped(p, add(p, &op_winograd_window, flat, &arg, &points, 1), p->w);
}

bool winograd_expand(struct builder *b, const struct target *t, enum winograd wanted,
                     const struct node *n, const uint32_t in[2], uint32_t *out)
{
    struct plan_of p = { .b = b, .arg = &n->arg };
    if (n->op != &op_conv2d && n->op != &op_conv2d_input && n->op != &op_conv2d_weight)
        return false;
    if (n->op == &op_conv2d_weight && wanted != WINOGRAD_ALL)
        return false;
    const tarn_shape s[2] = { expand_shape(b, in[0]), expand_shape(b, in[1]) };
    p.x = n->op == &op_conv2d_input ? n->shape : s[0];
    p.w = n->op == &op_conv2d_weight ? n->shape : s[1];
    p.y = n->op == &op_conv2d ? n->shape : n->op == &op_conv2d_input ? s[0] : s[1];
    if (!suits(t, &n->arg, p.x, p.w, p.y))
        return false;
    double most = LANES * (double)(p.x.dim[1] > p.y.dim[1] ? p.x.dim[1] : p.y.dim[1]);
    for (int i = 0; i < 2; i++) {
        p.a[i] = WINOGRAD_STEP + p.w.dim[2 + i] - 1;
        p.tiles[i] = (p.y.dim[2 + i] + WINOGRAD_STEP - 1) / WINOGRAD_STEP;
        most *= (double)p.a[i] * p.tiles[i];
    }
    if (most > INT32_MAX) /* indices within a block have 32 bits */
        return false;
    *out = n->op == &op_conv2d         ? forward(&p, in[0], in[1])
           : n->op == &op_conv2d_input ? input_gradient(&p, in[0], in[1])
                                       : weight_gradient(&p, in[0], in[1]);
    return true;
}
