/* SPDX-License-Identifier: Apache-2.0 */
/* Images made larger by whole factors, and reduced to one value a channel. */
#include "op/op.h"
#include "tensor/shape.h"

#define FACTOR_MOST 64

static bool image_fits(tarn_tensor x, const char *name, int high, int wide)
{
    const tarn_shape s = tarn_shape_get(x);
    if (s.rank != 4 || tarn_dtype_get(x) != TARN_F32) {
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
        phase[p] = part == 0.0 ? x
                               : tarn_add(tarn_mul_scalar(x, (float)(1.0 - part)),
                                          tarn_mul_scalar(other, (float)part));
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
    const tarn_tensor tall = stretch(x, 2, high);
    return tarn_failed(tall) ? tall : stretch(tall, 3, wide);
}

/* Bits of all axes from 2 on; 0 after recording an error. */
static uint32_t inner_axes(tarn_tensor x, const char *name)
{
    const tarn_shape s = tarn_shape_get(x);
    if (s.rank >= 3 && tarn_dtype_get(x) == TARN_F32)
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
