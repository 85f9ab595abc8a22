/* SPDX-License-Identifier: Apache-2.0 */
/* Images made larger or smaller, and reduced to one value a channel. */
#include <math.h>

#include "op/op.h"
#include "tensor/shape.h"

#define FACTOR_MOST 64
#define LENGTH_MOST 32767 /* twice its square is an int32 */

static bool image_fits(tarn_tensor x, const char *name, int high, int wide)
{
    const tarn_shape s = tarn_shape_get(x);
    if (s.rank != 4 || !dtype_is_float(tarn_dtype_get(x))) {
        graph_fail(x.replica, TARN_ERR_SHAPE, "%s: x is %s %s, must be float32 [N, C, H, W]", name,
                   tarn_dtype_name(tarn_dtype_get(x)), shape_text(s));
        return false;
    }
    if (high >= 1 && wide >= 1 && high <= FACTOR_MOST && wide <= FACTOR_MOST && s.dim[2] > 0 &&
        s.dim[3] > 0)
        return true;
    graph_fail(x.replica, TARN_ERR_ARGUMENT,
               "%s: %d and %d times %s: factors must be from 1 to %d, images not empty", name, high,
               wide, shape_text(s), FACTOR_MOST);
    return false;
}

tarn_tensor tarn_upsample_nearest2d(tarn_tensor x, int high, int wide)
{
    if (!graph_operand(NULL, x, "upsample_nearest2d", 0) ||
        !image_fits(x, "upsample_nearest2d", high, wide))
        return graph_poison(x.replica);
    const tarn_shape s = tarn_shape_get(x);
    const int32_t n = s.dim[0], c = s.dim[1], h = s.dim[2], w = s.dim[3];
    const tarn_tensor apart = tarn_reshape(x, TARN_SHAPE(n, c, h, 1, w, 1));
    if ((int64_t)h * high > INT32_MAX || (int64_t)w * wide > INT32_MAX)
        return graph_fail(x.replica, TARN_ERR_SHAPE,
                          "upsample_nearest2d: %d and %d times %s is too large", high, wide,
                          shape_text(s));
    return tarn_reshape(tarn_broadcast_to(apart, TARN_SHAPE(n, c, h, high, w, wide)),
                        TARN_SHAPE(n, c, h * high, w * wide));
}

/* Whether channels of [N, C, H, W] become squares of so many pixels, or `back`. */
static bool squares_fit(tarn_tensor x, const char *name, int factor, bool back)
{
    const tarn_shape s = tarn_shape_get(x);
    const int64_t f = factor;
    if (s.rank == 4 && f >= 1 && f <= FACTOR_MOST &&
        (back ? s.dim[2] % f == 0 && s.dim[3] % f == 0 && s.dim[1] * f * f <= INT32_MAX
              : s.dim[1] % (f * f) == 0 && s.dim[2] * f <= INT32_MAX && s.dim[3] * f <= INT32_MAX))
        return true;
    graph_fail(x.replica, TARN_ERR_SHAPE,
               "%s: %s by %d: must be [N, C, H, W] whose %s, factors from 1 to %d", name,
               shape_text(s), factor,
               back ? "height and width the factor divides"
                    : "channels the factor's square divides",
               FACTOR_MOST);
    return false;
}

tarn_tensor tarn_pixel_shuffle(tarn_tensor x, int factor)
{
    if (!graph_operand(NULL, x, "pixel_shuffle", 0) ||
        !squares_fit(x, "pixel_shuffle", factor, false))
        return graph_poison(x.replica);
    const tarn_shape s = tarn_shape_get(x);
    const int32_t n = s.dim[0], c = s.dim[1] / (factor * factor), h = s.dim[2], w = s.dim[3];
    const tarn_tensor apart = tarn_reshape(x, TARN_SHAPE(n, c, factor, factor, h, w));
    return tarn_reshape(tarn_permute(apart, TARN_AXES(0, 1, 4, 2, 5, 3)),
                        TARN_SHAPE(n, c, h * factor, w * factor));
}

tarn_tensor tarn_pixel_unshuffle(tarn_tensor x, int factor)
{
    if (!graph_operand(NULL, x, "pixel_unshuffle", 0) ||
        !squares_fit(x, "pixel_unshuffle", factor, true))
        return graph_poison(x.replica);
    const tarn_shape s = tarn_shape_get(x);
    const int32_t n = s.dim[0], c = s.dim[1], h = s.dim[2] / factor, w = s.dim[3] / factor;
    const tarn_tensor apart = tarn_reshape(x, TARN_SHAPE(n, c, h, factor, w, factor));
    return tarn_reshape(tarn_permute(apart, TARN_AXES(0, 1, 3, 5, 2, 4)),
                        TARN_SHAPE(n, c * factor * factor, h, w));
}

/* Along one axis: output s i + p lies (p + 1/2) / s - 1/2 away from input i, so it is a mean of i and of
 * the neighbour on that side; at the ends the neighbour is i itself. */
static tarn_tensor stretch(tarn_tensor x, int axis, int factor)
{
    tarn_shape s = tarn_shape_get(x);
    const int32_t n = s.dim[axis];
    tarn_tensor phase[FACTOR_MOST];
    if (factor == 1)
        return x;
    const tarn_tensor before = tarn_concat(
        (tarn_tensor[]){ tarn_slice(x, axis, 0, 1, 1), tarn_slice(x, axis, 0, n - 1, 1) }, 2, axis);
    const tarn_tensor after = tarn_concat(
        (tarn_tensor[]){ tarn_slice(x, axis, 1, n, 1), tarn_slice(x, axis, n - 1, n, 1) }, 2, axis);
    for (int p = 0; p < factor; p++) {
        const double away = (p + 0.5) / factor - 0.5, part = away < 0.0 ? -away : away;
        const tarn_tensor other = away < 0.0 ? before : after;
        phase[p] = part == 0.0
                       ? x
                       : tarn_add(tarn_mul_scalar(x, 1.0 - part), tarn_mul_scalar(other, part));
    }
    const tarn_tensor all = tarn_stack(phase, factor, axis + 1);
    s.dim[axis] *= factor;
    return tarn_failed(all) ? all : tarn_reshape(all, s);
}

tarn_tensor tarn_upsample_bilinear2d(tarn_tensor x, int high, int wide)
{
    if (!graph_operand(NULL, x, "upsample_bilinear2d", 0) ||
        !image_fits(x, "upsample_bilinear2d", high, wide))
        return graph_poison(x.replica);
    tarn_dtype of;
    const tarn_tensor tall = stretch(op_wide(x, &of), 2, high);
    return tarn_failed(tall) ? tall : op_as(stretch(tall, 3, wide), of);
}

/* ---- any sizes ------------------------------------------------------------------------------ */

static tarn_tensor whole(tarn_replica *r, int32_t v)
{
    return tarn_cast(tarn_full(r, TARN_SCALAR, (float)v), TARN_I32);
}

/* Where the elements of an axis come from: between that of index *low and the next one, *part of the way, a number
 * of the type. Exact but for one rounding where sizes say it; a scale is a number of the type, as PyTorch's. */
static void places_of(tarn_replica *r, tarn_dtype dtype, int32_t in, int32_t out, float scale,
                      bool corners, tarn_tensor *low, tarn_tensor *part)
{
    const tarn_tensor o = tarn_arange(r, out), none = whole(r, 0);
    if (scale > 0.0f && !corners) {
        const tarn_tensor centre = tarn_add_scalar(tarn_cast(o, dtype), 0.5f);
        const tarn_tensor away = tarn_mul_scalar(centre, 1.0 / (double)scale);
        const tarn_tensor at =
            tarn_maximum(tarn_add_scalar(away, -0.5f), tarn_zeros(r, TARN_SCALAR));
        *low = tarn_cast(at, TARN_I32);
        *part = tarn_sub(at, tarn_cast(*low, dtype));
        return;
    }
    /* As fractions: o (in - 1) / (out - 1), or ((2 o + 1) in - out) / (2 out) and not below 0. */
    const int32_t below = !corners ? 2 * out : out > 1 ? out - 1 : 1;
    const tarn_tensor twice = tarn_add(tarn_mul(o, whole(r, 2)), whole(r, 1));
    const tarn_tensor above =
        corners ? tarn_mul(o, whole(r, in - 1))
                : tarn_maximum(tarn_sub(tarn_mul(twice, whole(r, in)), whole(r, out)), none);
    *low = tarn_div(above, whole(r, below));
    const tarn_tensor rest = tarn_sub(above, tarn_mul(*low, whole(r, below)));
    *part = tarn_div(tarn_cast(rest, dtype), tarn_cast(whole(r, below), dtype));
}

static tarn_tensor resize_axis(tarn_tensor x, int axis, int32_t out, float scale, bool corners)
{
    tarn_replica *r = x.replica;
    const int32_t in = tarn_shape_get(x).dim[axis];
    tarn_tensor low, part;
    if (out == in) /* as PyTorch, whatever the scale is */
        return x;
    places_of(r, tarn_dtype_get(x), in, out, scale, corners, &low, &part);
    if (axis == 2)
        part = tarn_reshape(part, TARN_SHAPE(out, 1));
    const tarn_tensor a = tarn_index_select(x, axis, low);
    const tarn_tensor b = tarn_index_select(x, axis, tarn_add(low, whole(r, 1))); /* clamped */
    const tarn_tensor rest = tarn_add_scalar(tarn_neg(part), 1.0f);
    return tarn_add(tarn_mul(a, rest), tarn_mul(b, part));
}

/* The size of the result; false after recording an error. */
static bool find_size(tarn_tensor x, const char *name, const tarn_resize_options *o,
                      int32_t size[2])
{
    if (!graph_operand(NULL, x, name, 0) || !image_fits(x, name, 1, 1))
        return false;
    const tarn_shape s = tarn_shape_get(x);
    for (int i = 0; i < 2; i++) {
        const double by = floor((double)s.dim[2 + i] * (double)o->scale[i]);
        size[i] = o->size[i] != 0 ? o->size[i] : by >= 1 && by <= LENGTH_MOST ? (int32_t)by : 0;
        if ((o->size[i] != 0) == (o->scale[i] != 0.0f) || size[i] < 1 || size[i] > LENGTH_MOST ||
            s.dim[2 + i] > LENGTH_MOST) {
            graph_fail(x.replica, TARN_ERR_ARGUMENT,
                       "%s: %s to size %d or by scale %g: give one of them for "
                       "each axis; lengths must be from 1 to %d",
                       name, shape_text(s), o->size[i], (double)o->scale[i], LENGTH_MOST);
            return false;
        }
    }
    return true;
}

tarn_tensor tarn_resize_bilinear2d(tarn_tensor x, tarn_resize_options o)
{
    int32_t size[2];
    if (!find_size(x, "resize_bilinear2d", &o, size))
        return graph_poison(x.replica);
    tarn_dtype of;
    x = op_wide(x, &of);
    const tarn_tensor tall = resize_axis(x, 2, size[0], o.scale[0], o.align_corners);
    if (tarn_failed(tall))
        return tall;
    return op_as(resize_axis(tall, 3, size[1], o.scale[1], o.align_corners), of);
}

/* The element that element i of a longer or shorter axis is. */
static int32_t nearest(int32_t i, float step, int32_t in)
{
    const int32_t at = (int32_t)floorf((float)i * step);
    return at < in ? at : in - 1;
}

/* Whether element i is i / up * down of the axis. */
static bool is_whole(int32_t in, int32_t out, float step, int32_t up, int32_t down)
{
    for (int32_t i = 0; i < out; i++)
        if (nearest(i, step, in) != i / up * down)
            return false;
    return true;
}

/* What views of the axis can say needs no table of indices, whose gradient would be a sum by them. */
static tarn_tensor nearest_axis(tarn_tensor x, int axis, int32_t out, float scale)
{
    tarn_replica *r = x.replica;
    tarn_shape s = tarn_shape_get(x);
    const int32_t in = s.dim[axis], up = (out + in - 1) / in, down = in / out;
    const float step = scale > 0.0f ? (float)(1.0 / (double)scale) : (float)in / (float)out;
    if (is_whole(in, out, step, up, 1)) {
        tarn_shape apart = s;
        apart.dim[axis + 1] = up;
        for (int d = axis + 1; d < s.rank; d++)
            apart.dim[d + 1] = s.dim[d];
        apart.rank = s.rank + 1;
        tarn_shape single = apart;
        single.dim[axis + 1] = 1;
        s.dim[axis] = in * up;
        x = tarn_reshape(tarn_broadcast_to(tarn_reshape(x, single), apart), s);
        return tarn_slice(x, axis, 0, out, 1);
    }
    if (down > 0 && is_whole(in, out, step, 1, down))
        return tarn_slice(x, axis, 0, (out - 1) * down + 1, down);
    const tarn_tensor at = tarn_mul_scalar(tarn_cast(tarn_arange(r, out), TARN_F32), (double)step);
    return tarn_index_select(x, axis, tarn_cast(at, TARN_I32)); /* clamped */
}

tarn_tensor tarn_resize_nearest2d(tarn_tensor x, tarn_resize_options o)
{
    int32_t size[2];
    if (!find_size(x, "resize_nearest2d", &o, size))
        return graph_poison(x.replica);
    if (o.align_corners)
        return graph_fail(x.replica, TARN_ERR_ARGUMENT,
                          "resize_nearest2d: align_corners is for means of pixels alone");
    const tarn_tensor tall = nearest_axis(x, 2, size[0], o.scale[0]);
    return tarn_failed(tall) ? tall : nearest_axis(tall, 3, size[1], o.scale[1]);
}

/* ---- pooling -------------------------------------------------------------------------------- */

/* Bits of all axes from 2 on; 0 after recording an error. */
static uint32_t inner_axes(tarn_tensor x, const char *name)
{
    const tarn_shape s = tarn_shape_get(x);
    if (s.rank >= 3 && dtype_is_float(tarn_dtype_get(x)))
        return ((UINT32_C(1) << s.rank) - 1) & ~UINT32_C(3);
    graph_fail(x.replica, TARN_ERR_SHAPE, "%s: x is %s %s, must be float32 [N, C, ...]", name,
               tarn_dtype_name(tarn_dtype_get(x)), shape_text(s));
    return 0;
}

tarn_tensor tarn_global_avg_pool(tarn_tensor x)
{
    if (!graph_operand(NULL, x, "global_avg_pool", 0))
        return graph_poison(x.replica);
    const uint32_t axes = inner_axes(x, "global_avg_pool");
    tarn_shape list = { .rank = 0 };
    for (int i = 2; axes != 0 && i < tarn_shape_get(x).rank; i++)
        list.dim[list.rank++] = i;
    return axes != 0 ? tarn_mean(x, list, true) : graph_poison(x.replica);
}

tarn_tensor tarn_global_max_pool(tarn_tensor x)
{
    if (!graph_operand(NULL, x, "global_max_pool", 0))
        return graph_poison(x.replica);
    const uint32_t axes = inner_axes(x, "global_max_pool");
    return axes != 0 ? op_reduce(&op_max_first, x, axes) : graph_poison(x.replica);
}
