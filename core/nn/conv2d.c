/* SPDX-License-Identifier: Apache-2.0 */
/* The convolution layer. */
#include "nn/layer.h"
#include "tensor/shape.h"
#include "tensor/spread.h"

tarn_conv2d tarn_conv2d_make(tarn_replica *r, const char *name, int in, int out, int window,
                             tarn_conv2d_options options)
{
    return tarn_conv2d_make_with(
        r, name, in, out, (tarn_conv2d_make_options){ .window = { window }, .options = options });
}

tarn_conv2d tarn_conv2d_make_with(tarn_replica *r, const char *name, int in, int out,
                                  tarn_conv2d_make_options make)
{
    tarn_conv2d layer = { graph_poison(r), graph_poison(r), make.options };
    if (!layer_check(r, "conv2d", name, in, out))
        return layer;
    const int32_t groups = make.options.groups ? make.options.groups : 1;
    const int32_t high = make.window[0], wide = make.window[1] ? make.window[1] : high;
    if (groups < 1 || in % groups != 0 || out % groups != 0 || high < 1 || wide < 1) {
        graph_fail(
            r, TARN_ERR_ARGUMENT,
            "conv2d %s: window %d, %d groups: the window must be from 1, and the groups must "
            "divide %d and %d channels",
            name, high < 1 ? high : wide, groups, in, out);
        return layer;
    }
    const tarn_shape shape = TARN_SHAPE(out, in / groups, high, wide);
    const int64_t fan_in = (int64_t)(in / groups) * high * wide;
    if (!shape_valid(shape) || fan_in > INT32_MAX) {
        graph_fail(r, TARN_ERR_SHAPE, "conv2d %s: weight %s is too large", name, shape_text(shape));
        return layer;
    }
    layer.weight = layer_parameter(r, name, "weight", shape, (int)fan_in);
    layer.bias =
        make.no_bias ? TARN_NONE : layer_parameter(r, name, "bias", TARN_SHAPE(out), (int)fan_in);
    return layer;
}

tarn_tensor tarn_conv2d_forward(const tarn_conv2d *layer, tarn_tensor x)
{
    if (layer == NULL)
        return graph_fail(x.replica, TARN_ERR_ARGUMENT, "conv2d: the layer is NULL");
    return tarn_conv2d_op(x, layer->weight, layer->bias, layer->options);
}
