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
#include "compile/1_graph/winograd_nodes.h"
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

static bool suits(const struct target *t, const union op_arg *arg, tarn_shape x, tarn_shape w,
                  tarn_shape y)
{
    if (!winograd_applies(arg, w) || tarn_shape_count(x) == 0 || tarn_shape_count(w) == 0 ||
        tarn_shape_count(y) == 0)
        return false;
    if (t->winograd == WINOGRAD_ALWAYS)
        return true;
    return x.dim[1] >= t->winograd_channels && y.dim[1] >= t->winograd_channels &&
           y.dim[y.rank - 2] >= WINOGRAD_STEP && y.dim[y.rank - 1] >= WINOGRAD_STEP;
}

/* ---- nodes ---------------------------------------------------------------------------------- */

static uint32_t reshaped(const struct winograd_plan *p, uint32_t x, tarn_shape shape)
{
    return expand_make(p->b, &op_reshape, shape, TARN_F32, NULL, &x, 1);
}

static uint32_t transformed_weight(const struct winograd_plan *p, uint32_t w)
{
    union op_arg arg = winograd_options(p);
    memset(arg.winograd.tiles, 0, sizeof arg.winograd.tiles);
    const tarn_shape at = winograd_weight_points(p);
    const int rows = p->w.rank - 2;
    const uint32_t flat = reshaped(p, w, TARN_SHAPE(at.dim[2], p->w.dim[rows], p->w.dim[rows + 1]));
    return expand_make(p->b, &op_winograd_weight, at, TARN_F32, &arg, &flat, 1);
}

static uint32_t input_gradient(const struct winograd_plan *p, uint32_t y, uint32_t w)
{
    union op_arg arg = winograd_options(p);
    const tarn_shape x = p->x;
    const int first = x.rank - 2;
    const int32_t planes = winograd_planes(x), channels = x.dim[1] * planes;
    const int32_t high = x.dim[first], wide = x.dim[first + 1];
    memcpy(arg.winograd.size, x.dim + first, sizeof arg.winograd.size);
    memcpy(arg.winograd.padding, p->padding + CONV_ROWS, sizeof arg.winograd.padding);
    const tarn_shape at = winograd_points(p, planes, (int64_t)channels * p->tiles[0] * p->tiles[1]);
    const uint32_t given = winograd_given(p, y), weight = transformed_weight(p, w);
    const uint32_t points =
        winograd_product(p, &op_winograd_product_input, at, planes, given, weight);
    const uint32_t tiles = reshaped(
        p, points, TARN_SHAPE(x.dim[0], p->a[0], p->a[1], channels, p->tiles[0], p->tiles[1]));
    const uint32_t rows = expand_make(p->b, &op_winograd_row,
                                      TARN_SHAPE(x.dim[0], p->a[0], channels, p->tiles[0], wide),
                                      TARN_F32, &arg, &tiles, 1);
    const uint32_t made =
        expand_make(p->b, &op_winograd_column, TARN_SHAPE(x.dim[0], channels, high, wide), TARN_F32,
                    &arg, &rows, 1);
    return x.rank == 5 ? reshaped(p, made, x) : made;
}

bool winograd_expand(struct builder *b, const struct target *t, enum winograd wanted,
                     const struct node *n, const uint32_t in[2], uint32_t *out)
{
    struct winograd_plan p = { .b = b };
    if (!is_convolution(n->op))
        return false;
    if (n->op == &op_conv2d_weight && wanted != WINOGRAD_ALL)
        return false;
    const tarn_shape s[2] = { expand_shape(b, in[0]), expand_shape(b, in[1]) };
    p.x = n->op == &op_conv2d_input ? n->shape : s[0];
    p.w = n->op == &op_conv2d_weight ? n->shape : s[1];
    p.y = n->op == &op_conv2d ? n->shape : n->op == &op_conv2d_input ? s[0] : s[1];
    if (!suits(t, &n->arg, p.x, p.w, p.y))
        return false;
    winograd_cut(&p);
    memcpy(p.padding, n->arg.conv.padding, sizeof p.padding);
    p.above = winograd_planes(p.w) - 1 - p.padding[CONV_DEPTH];
    if (p.above < 0)
        return false;
    const double taken = (double)p.x.dim[1] * winograd_planes_taken(&p);
    const double given = (double)p.y.dim[1] * winograd_planes_given(&p);
    double most = LANES * (taken > given ? taken : given);
    for (int i = 0; i < 2; i++)
        most *= (double)p.a[i] * p.tiles[i];
    if (most > INT32_MAX) /* indices within a block have 32 bits */
        return false;
    if (n->op == &op_conv2d_input) {
        *out = input_gradient(&p, in[0], in[1]);
        return true;
    }
    const uint32_t x = winograd_input(&p, in[0]);
    if (n->op == &op_conv2d)
        *out = winograd_result(&p, x, transformed_weight(&p, in[1]));
    else
        *out = winograd_weight_gradient(&p, x, winograd_given(&p, in[1]));
    return true;
}
