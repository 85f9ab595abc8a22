/* SPDX-License-Identifier: Apache-2.0 */
/* Part of winograd.c and few_winograd.c: what both make of a convolution, whatever the lanes are. In: a plan and nodes of
 * the module. Out: nodes. */
#include "compile/1_graph/winograd_nodes.h"

#include <string.h>

#include "compile/1_graph/winograd_ops.h"
#include "tensor/expand.h"
#include "tensor/sum_order.h"

/* ---- how it is cut --------------------------------------------------------------------------- */

bool winograd_applies(const union op_arg *conv, tarn_shape weight)
{
    for (int i = 0; i < 2; i++)
        if (conv->conv.stride[i] != 1 || conv->conv.dilation[i] != 1 ||
            (weight.dim[2 + i] != 3 && weight.dim[2 + i] != 5))
            return false;
    return conv->conv.groups == 1;
}

void winograd_cut(struct winograd_plan *p)
{
    for (int i = 0; i < 2; i++) {
        p->a[i] = WINOGRAD_STEP + p->w.dim[2 + i] - 1;
        p->tiles[i] = (p->y.dim[2 + i] + WINOGRAD_STEP - 1) / WINOGRAD_STEP;
    }
}

/* Odd numbers of elements, or of registers where these are channels: see winograd_ops.h. */
int64_t winograd_plane(const struct winograd_plan *p, int32_t channels)
{
    const int64_t elements = (int64_t)channels * p->tiles[0] * p->tiles[1];
    return p->last ? (((elements + LANES - 1) / LANES) | 1) * LANES : elements | 1;
}

tarn_shape winograd_points(const struct winograd_plan *p, int64_t plane)
{
    return TARN_SHAPE(p->y.dim[0], p->a[0], p->a[1], (int32_t)plane);
}

tarn_shape winograd_weight_points(const struct winograd_plan *p)
{
    return TARN_SHAPE(p->a[0], p->a[1], p->w.dim[0] * p->w.dim[1]);
}

union op_arg winograd_options(const struct winograd_plan *p)
{
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.winograd.last = p->last;
    for (int i = 0; i < 2; i++) {
        arg.winograd.window[i] = p->w.dim[2 + i];
        arg.winograd.tiles[i] = p->tiles[i];
    }
    return arg;
}

/* ---- points ----------------------------------------------------------------------------------- */

/* An image with zeros around it, so that its tiles need no conditions. */
static uint32_t padded(const struct winograd_plan *p, uint32_t x, const int32_t low[2],
                       const int32_t length[2])
{
    const int rows = p->last ? 1 : 2;
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    tarn_shape shape = expand_shape(p->b, x);
    bool any = false;
    for (int i = 0; i < 2; i++) {
        int32_t *extent = &shape.dim[rows + i];
        arg.pad.low[rows + i] = low[i];
        arg.pad.high[rows + i] = length[i] - low[i] - *extent;
        any |= *extent != length[i];
        *extent = length[i];
    }
    return any ? expand_make(p->b, &op_pad, shape, expand_dtype(p->b, x), &arg, &x, 1) : x;
}

static uint32_t transformed(const struct winograd_plan *p, const struct op *op, uint32_t image,
                            int32_t channels)
{
    const union op_arg arg = winograd_options(p);
    const tarn_shape to = winograd_points(p, winograd_plane(p, channels));
    return expand_make(p->b, op, to, TARN_F32, &arg, &image, 1);
}

uint32_t winograd_input(const struct winograd_plan *p, uint32_t x)
{
    const int32_t length[2] = { WINOGRAD_STEP * (p->tiles[0] - 1) + p->a[0],
                                WINOGRAD_STEP * (p->tiles[1] - 1) + p->a[1] };
    x = padded(p, x, p->padding, length);
    return transformed(p, &op_winograd_input, x, p->x.dim[1]);
}

uint32_t winograd_given(const struct winograd_plan *p, uint32_t y)
{
    static const int32_t none[2] = { 0, 0 };
    const int32_t length[2] = { WINOGRAD_STEP * p->tiles[0], WINOGRAD_STEP * p->tiles[1] };
    y = padded(p, y, none, length);
    return transformed(p, &op_winograd_given, y, p->y.dim[1]);
}

uint32_t winograd_product(const struct winograd_plan *p, const struct op *op, tarn_shape shape,
                          uint32_t a, uint32_t b)
{
    union op_arg arg;
    const uint32_t in[2] = { a, b };
    memset(&arg, 0, sizeof arg);
    memcpy(arg.winograd.tiles, p->tiles, sizeof arg.winograd.tiles);
    arg.winograd.last = p->last;
    arg.winograd.channels[0] = p->x.dim[1];
    arg.winograd.channels[1] = p->y.dim[1];
    return expand_make(p->b, op, shape, TARN_F32, &arg, in, 2);
}

/* ---- what they become -------------------------------------------------------------------------- */

uint32_t winograd_result(const struct winograd_plan *p, uint32_t x, uint32_t w)
{
    union op_arg arg = winograd_options(p);
    memcpy(arg.winograd.size, p->y.dim + 2, sizeof arg.winograd.size);
    const tarn_shape at = winograd_points(p, winograd_plane(p, p->y.dim[1])), y = p->y;
    const uint32_t points = winograd_product(p, &op_winograd_product, at, x, w);
    const tarn_shape to = p->last ? TARN_SHAPE(y.dim[0], y.dim[2], y.dim[3], y.dim[1]) : y;
    return expand_make(p->b, &op_winograd_result, to, TARN_F32, &arg, &points, 1);
}

uint32_t winograd_weight_gradient(const struct winograd_plan *p, uint32_t x, uint32_t y)
{
    union op_arg arg = winograd_options(p);
    memset(arg.winograd.tiles, 0, sizeof arg.winograd.tiles);
    const tarn_shape at = winograd_weight_points(p);
    const uint32_t points = winograd_product(p, &op_winograd_product_weight, at, x, y);
    const tarn_shape flat = TARN_SHAPE(p->w.dim[0] * p->w.dim[1], p->w.dim[2], p->w.dim[3]);
    const uint32_t made = expand_make(p->b, &op_winograd_window, flat, TARN_F32, &arg, &points, 1);
    return expand_make(p->b, &op_reshape, p->w, TARN_F32, NULL, &made, 1);
}
