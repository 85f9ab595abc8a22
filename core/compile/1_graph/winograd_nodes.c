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
    const int rows = weight.rank - 2;
    for (int i = 0; i < 2; i++)
        if (weight.dim[rows + i] != 3 && weight.dim[rows + i] != 5)
            return false;
    for (int i = CONV_DIRECTIONS - rows; i < CONV_DIRECTIONS; i++)
        if (conv->conv.stride[i] != 1 || conv->conv.dilation[i] != 1)
            return false;
    return conv->conv.groups == 1;
}

void winograd_cut(struct winograd_plan *p)
{
    const int rows = p->y.rank - 2;
    for (int i = 0; i < 2; i++) {
        p->a[i] = WINOGRAD_STEP + p->w.dim[rows + i] - 1;
        p->tiles[i] = (p->y.dim[rows + i] + WINOGRAD_STEP - 1) / WINOGRAD_STEP;
    }
}

int32_t winograd_planes(tarn_shape of)
{
    return of.rank == 5 ? of.dim[2] : 1;
}

int32_t winograd_planes_taken(const struct winograd_plan *p)
{
    return winograd_planes(p->x) + 2 * p->padding[CONV_DEPTH];
}

int32_t winograd_planes_given(const struct winograd_plan *p)
{
    return winograd_planes(p->y) + 2 * p->above;
}

/* Odd numbers of elements, or of registers where these are channels: see winograd_ops.h. */
int64_t winograd_plane(const struct winograd_plan *p, int32_t channels, int32_t planes)
{
    const int64_t elements = (int64_t)channels * (p->last ? 1 : planes) * p->tiles[0] * p->tiles[1];
    return p->last ? (((elements + LANES - 1) / LANES) | 1) * LANES : elements | 1;
}

tarn_shape winograd_points(const struct winograd_plan *p, int32_t planes, int64_t plane)
{
    return TARN_SHAPE(p->y.dim[0] * (p->last ? planes : 1), p->a[0], p->a[1], (int32_t)plane);
}

tarn_shape winograd_weight_points(const struct winograd_plan *p)
{
    return TARN_SHAPE(p->a[0], p->a[1], p->w.dim[0] * p->w.dim[1] * winograd_planes(p->w));
}

union op_arg winograd_options(const struct winograd_plan *p)
{
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.winograd.last = p->last;
    for (int i = 0; i < 2; i++) {
        arg.winograd.window[i] = p->w.dim[p->w.rank - 2 + i];
        arg.winograd.tiles[i] = p->tiles[i];
    }
    return arg;
}

/* ---- points ----------------------------------------------------------------------------------- */

/* An image with zeros around it, so that its tiles need no conditions; a volume with those planes that `length` says,
 * too. */
static uint32_t padded(const struct winograd_plan *p, uint32_t x,
                       const int32_t low[CONV_DIRECTIONS], const int32_t length[CONV_DIRECTIONS])
{
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    tarn_shape shape = expand_shape(p->b, x);
    const int directions = shape.rank - 2, first = p->last ? 1 : 2;
    bool any = false;
    for (int i = 0; i < directions; i++) {
        const int of = CONV_DIRECTIONS - directions + i;
        int32_t *extent = &shape.dim[first + i];
        arg.pad.low[first + i] = low[of];
        arg.pad.high[first + i] = length[of] - low[of] - *extent;
        any |= *extent != length[of];
        *extent = length[of];
    }
    return any ? expand_make(p->b, &op_pad, shape, expand_dtype(p->b, x), &arg, &x, 1) : x;
}

/* A volume as images: its planes as channels, or as samples. */
static uint32_t as_images(const struct winograd_plan *p, uint32_t x)
{
    const tarn_shape s = expand_shape(p->b, x);
    if (s.rank == 4)
        return x;
    const tarn_shape to = p->last ? TARN_SHAPE(s.dim[0] * s.dim[1], s.dim[2], s.dim[3], s.dim[4])
                                  : TARN_SHAPE(s.dim[0], s.dim[1] * s.dim[2], s.dim[3], s.dim[4]);
    return expand_reshape(p->b, x, to);
}

static uint32_t transformed(const struct winograd_plan *p, const struct op *op, uint32_t x,
                            int32_t channels, int32_t planes)
{
    const union op_arg arg = winograd_options(p);
    const tarn_shape to = winograd_points(p, planes, winograd_plane(p, channels, planes));
    const uint32_t images = as_images(p, x);
    return expand_make(p->b, op, to, TARN_F32, &arg, &images, 1);
}

uint32_t winograd_input(const struct winograd_plan *p, uint32_t x)
{
    const int32_t planes = winograd_planes_taken(p);
    const int32_t length[] = { planes, WINOGRAD_STEP * (p->tiles[0] - 1) + p->a[0],
                               WINOGRAD_STEP * (p->tiles[1] - 1) + p->a[1] };
    x = padded(p, x, p->padding, length);
    return transformed(p, &op_winograd_input, x, p->x.dim[1], planes);
}

uint32_t winograd_given(const struct winograd_plan *p, uint32_t y)
{
    const int32_t planes = winograd_planes_given(p), low[CONV_DIRECTIONS] = { p->above };
    const int32_t length[] = { planes, WINOGRAD_STEP * p->tiles[0], WINOGRAD_STEP * p->tiles[1] };
    y = padded(p, y, low, length);
    return transformed(p, &op_winograd_given, y, p->y.dim[1], planes);
}

uint32_t winograd_product(const struct winograd_plan *p, const struct op *op, tarn_shape shape,
                          int32_t through, uint32_t a, uint32_t b)
{
    union op_arg arg;
    const uint32_t in[2] = { a, b };
    memset(&arg, 0, sizeof arg);
    memcpy(arg.winograd.tiles, p->tiles, sizeof arg.winograd.tiles);
    arg.winograd.last = p->last;
    arg.winograd.channels[0] = p->x.dim[1];
    arg.winograd.channels[1] = p->y.dim[1];
    if (p->x.rank == 5) {
        arg.winograd.planes[0] = winograd_planes_taken(p);
        arg.winograd.planes[1] = winograd_planes_given(p);
        arg.winograd.through = through;
        arg.winograd.deep = winograd_planes(p->w);
        arg.winograd.above = p->above;
    }
    return expand_make(p->b, op, shape, TARN_F32, &arg, in, 2);
}

/* ---- what they become -------------------------------------------------------------------------- */

uint32_t winograd_result(const struct winograd_plan *p, uint32_t x, uint32_t w)
{
    union op_arg arg = winograd_options(p);
    const tarn_shape y = p->y;
    const int rows = y.rank - 2;
    const int32_t planes = winograd_planes(y), high = y.dim[rows], wide = y.dim[rows + 1];
    memcpy(arg.winograd.size, y.dim + rows, sizeof arg.winograd.size);
    const tarn_shape at = winograd_points(p, planes, winograd_plane(p, y.dim[1], planes));
    const uint32_t points = winograd_product(p, &op_winograd_product, at, planes, x, w);
    const tarn_shape images = p->last ? TARN_SHAPE(y.dim[0] * planes, high, wide, y.dim[1])
                                      : TARN_SHAPE(y.dim[0], y.dim[1] * planes, high, wide);
    const uint32_t made =
        expand_make(p->b, &op_winograd_result, images, TARN_F32, &arg, &points, 1);
    if (y.rank == 4)
        return made;
    const tarn_shape to = p->last ? TARN_SHAPE(y.dim[0], planes, high, wide, y.dim[1]) : y;
    return expand_make(p->b, &op_reshape, to, TARN_F32, NULL, &made, 1);
}

uint32_t winograd_weight_gradient(const struct winograd_plan *p, uint32_t x, uint32_t y)
{
    union op_arg arg = winograd_options(p);
    memset(arg.winograd.tiles, 0, sizeof arg.winograd.tiles);
    const tarn_shape at = winograd_weight_points(p);
    const uint32_t points =
        winograd_product(p, &op_winograd_product_weight, at, winograd_planes(p->y), x, y);
    const tarn_shape w = p->w;
    const int rows = w.rank - 2;
    const tarn_shape flat = TARN_SHAPE(at.dim[2], w.dim[rows], w.dim[rows + 1]);
    const uint32_t made = expand_make(p->b, &op_winograd_window, flat, TARN_F32, &arg, &points, 1);
    if (w.rank == 4)
        return expand_make(p->b, &op_reshape, w, TARN_F32, NULL, &made, 1);
    const tarn_shape to = TARN_SHAPE(w.dim[0], w.dim[2], w.dim[1], w.dim[3], w.dim[4]);
    const uint32_t apart = expand_make(p->b, &op_reshape, to, TARN_F32, NULL, &made, 1);
    memset(&arg, 0, sizeof arg);
    memcpy(arg.permute.order, (int32_t[]){ 0, 2, 1, 3, 4 }, 5 * sizeof(int32_t));
    return expand_make(p->b, &op_permute, w, TARN_F32, &arg, &apart, 1);
}
