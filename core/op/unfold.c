/* SPDX-License-Identifier: Apache-2.0 */
/* Windows of images as columns, of which a product makes a convolution. */
#include "op/op.h"
#include "tensor/shape.h"

tarn_tensor tarn_unfold2d(tarn_tensor x, tarn_unfold_options options)
{
    if (!graph_operand(NULL, x, "unfold2d", 0))
        return graph_poison(x.replica);
    const tarn_shape s = tarn_shape_get(x);
    int32_t window[2], stride[2], dilation[2];
    bool fits = s.rank == 4;
    for (int i = 0; i < 2; i++) {
        window[i] = options.window[i] ? options.window[i] : options.window[0];
        stride[i] = options.stride[i] ? options.stride[i] : i > 0 ? stride[0] : 1;
        dilation[i] = options.dilation[i] ? options.dilation[i] : i > 0 ? dilation[0] : 1;
        const int64_t padding = options.padding[i], reach = dilation[i] * ((int64_t)window[i] - 1);
        fits = fits && window[i] >= 1 && stride[i] >= 1 && dilation[i] >= 1 && padding >= 0 &&
               s.dim[2 + i] + 2 * padding > reach && s.dim[2 + i] + 2 * padding <= INT32_MAX;
    }
    if (!fits)
        return graph_fail(x.replica, TARN_ERR_SHAPE,
                          "unfold2d: window %dx%d, stride %dx%d, padding %dx%d, dilation %dx%d: "
                          "must be positive, padding from 0, and fit into x %s, [N, C, H, W]",
                          window[0], window[1], stride[0], stride[1], options.padding[0],
                          options.padding[1], dilation[0], dilation[1], shape_text(s));
    const tarn_shape border = TARN_SHAPE(0, 0, options.padding[0], options.padding[1]);
    if (options.padding[0] || options.padding[1])
        x = tarn_pad(x, border, border, 0);
    const tarn_tensor view = op_window_view(x, window, stride, dilation);
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
