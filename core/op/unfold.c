/* SPDX-License-Identifier: Apache-2.0 */
/* Windows of images as columns, of which a product makes a convolution. */
#include "op/op.h"
#include "tensor/shape.h"

tarn_tensor tarn_unfold2d(tarn_tensor x, tarn_unfold_options o)
{
    if (!graph_operand(NULL, x, "unfold2d", 0))
        return graph_poison(x.replica);
    const tarn_shape s = tarn_shape_get(x);
    bool fits = s.rank == 4;
    op_defaults(o.window, 2, 0);
    op_defaults(o.stride, 2, 1);
    op_defaults(o.dilation, 2, 1);
    for (int i = 0; i < 2; i++) {
        const int64_t padding = o.padding[i], reach = o.dilation[i] * ((int64_t)o.window[i] - 1);
        fits = fits && o.window[i] >= 1 && o.stride[i] >= 1 && o.dilation[i] >= 1 && padding >= 0 &&
               s.dim[2 + i] + 2 * padding > reach && s.dim[2 + i] + 2 * padding <= INT32_MAX;
    }
    if (!fits)
        return graph_fail(x.replica, TARN_ERR_SHAPE,
                          "unfold2d: window %dx%d, stride %dx%d, padding %dx%d, dilation %dx%d: "
                          "must be positive, padding from 0, and fit into x %s, [N, C, H, W]",
                          o.window[0], o.window[1], o.stride[0], o.stride[1], o.padding[0],
                          o.padding[1], o.dilation[0], o.dilation[1], shape_text(s));
    const tarn_shape border = TARN_SHAPE(0, 0, o.padding[0], o.padding[1]);
    if (o.padding[0] || o.padding[1])
        x = tarn_pad(x, border, border, 0);
    const tarn_tensor view = op_window_view(x, o.window, o.stride, o.dilation);
    const tarn_tensor columns = tarn_permute(view, TARN_AXES(0, 1, 4, 5, 2, 3));
    if (tarn_failed(columns))
        return columns;
    const tarn_shape c = tarn_shape_get(columns);
    const int64_t rows = (int64_t)c.dim[1] * c.dim[2] * c.dim[3],
                  places = (int64_t)c.dim[4] * c.dim[5];
    if (rows > INT32_MAX || places > INT32_MAX)
        return graph_fail(x.replica, TARN_ERR_SHAPE, "unfold2d: of x %s there are too many windows",
                          shape_text(s));
    return tarn_reshape(columns, TARN_SHAPE(c.dim[0], (int32_t)rows, (int32_t)places));
}
