/* SPDX-License-Identifier: Apache-2.0 */
/* Pooling: a window view and a reduction over the window. */
#include <math.h>

#include "op/op.h"
#include "tensor/shape.h"

/* Axes KH and KW of [N, C, OH, OW, KH, KW]. */
#define WINDOW_AXES (UINT32_C(1) << 4 | UINT32_C(1) << 5)

static bool fill_options(tarn_tensor x, const char *name, tarn_pool_options *o)
{
    tarn_replica *r = x.replica;
    const tarn_shape s = tarn_shape_get(x);
    if (s.rank != 4 || !dtype_is_float(tarn_dtype_get(x))) {
        graph_fail(r, s.rank != 4 ? TARN_ERR_SHAPE : TARN_ERR_DTYPE,
                   "%s: x is %s %s, must be float32 [N, C, H, W]", name,
                   tarn_dtype_name(tarn_dtype_get(x)), shape_text(s));
        return false;
    }
    o->window[1] = o->window[1] ? o->window[1] : o->window[0];
    o->stride[1] = o->stride[1] ? o->stride[1] : o->stride[0];
    for (int i = 0; i < 2; i++) {
        o->stride[i] = o->stride[i] ? o->stride[i] : o->window[i];
        const int32_t k = o->window[i], p = o->padding[i];
        if (k < 1 || o->stride[i] < 1 || p < 0 || p > k / 2) {
            graph_fail(r, TARN_ERR_ARGUMENT,
                       "%s: window %d, stride %d, padding %d: window and stride must be from 1, "
                       "padding from 0 to half the window",
                       name, k, o->stride[i], p);
            return false;
        }
        if ((int64_t)s.dim[2 + i] + 2 * (int64_t)p < k) {
            graph_fail(r, TARN_ERR_SHAPE, "%s: a window of %d does not fit into x %s, padding %d",
                       name, k, shape_text(s), p);
            return false;
        }
    }
    return true;
}

static tarn_tensor pool(tarn_tensor x, const tarn_pool_options *o, const struct op *op, float fill)
{
    const int32_t dilation[2] = { 1, 1 };
    if (o->padding[0] || o->padding[1]) {
        const tarn_shape border = TARN_SHAPE(0, 0, o->padding[0], o->padding[1]);
        x = tarn_pad(x, border, border, fill);
    }
    const tarn_tensor y =
        op_reduce(op, op_window_view(x, o->window, o->stride, dilation), WINDOW_AXES);
    if (tarn_failed(y))
        return y;
    const tarn_shape s = tarn_shape_get(y);
    return tarn_reshape(y, TARN_SHAPE(s.dim[0], s.dim[1], s.dim[2], s.dim[3]));
}

tarn_tensor tarn_max_pool2d_with(tarn_tensor x, tarn_pool_options options)
{
    if (!graph_operand(NULL, x, "max_pool2d", 0) || !fill_options(x, "max_pool2d", &options))
        return graph_poison(x.replica);
    return pool(x, &options, &op_max_first, -INFINITY);
}

tarn_tensor tarn_avg_pool2d_with(tarn_tensor x, tarn_pool_options options)
{
    if (!graph_operand(NULL, x, "avg_pool2d", 0) || !fill_options(x, "avg_pool2d", &options))
        return graph_poison(x.replica);
    const double area = (double)options.window[0] * (double)options.window[1];
    tarn_dtype of;
    const tarn_tensor sum = pool(op_wide(x, &of), &options, &op_sum, 0.0f);
    return op_as(op_times(sum, 1.0 / area), of);
}

tarn_tensor tarn_max_pool2d(tarn_tensor x, int window)
{
    return tarn_max_pool2d_with(x, (tarn_pool_options){ .window = { window, window } });
}

tarn_tensor tarn_avg_pool2d(tarn_tensor x, int window)
{
    return tarn_avg_pool2d_with(x, (tarn_pool_options){ .window = { window, window } });
}
