/* SPDX-License-Identifier: Apache-2.0 */
/* Convolution layers of one dimension, and transposed ones. */
#include "nn/layer.h"
#include "tensor/shape.h"
#include "tensor/spread.h"

/* Whether groups divide channels and the window is one; else an error is recorded. */
static bool sizes_fit(tarn_replica *r, const char *kind, const char *name, int in, int out,
                      int window, int32_t groups)
{
    if (!layer_check(r, kind, name, in, out))
        return false;
    if (groups >= 1 && in % groups == 0 && out % groups == 0 && window >= 1)
        return true;
    graph_fail(
        r, TARN_ERR_ARGUMENT,
        "%s %s: window %d, %d groups: the window must be from 1, and the groups must divide %d "
        "and %d channels",
        kind, name, window, groups, in, out);
    return false;
}

/* Both parameters: bounds come from the second and later dimensions of the weight, as in PyTorch. */
static bool make_parameters(tarn_replica *r, const char *kind, const char *name, tarn_shape shape,
                            int out, tarn_tensor *weight, tarn_tensor *bias)
{
    int64_t fan_in = 1;
    for (int i = 1; i < shape.rank; i++)
        fan_in *= shape.dim[i];
    if (!shape_valid(shape)) {
        graph_fail(r, TARN_ERR_SHAPE, "%s %s: weight %s is too large", kind, name,
                   shape_text(shape));
        return false;
    }
    *weight = layer_parameter(r, name, "weight", shape, (int)fan_in);
    *bias = layer_parameter(r, name, "bias", TARN_SHAPE(out), (int)fan_in);
    return true;
}

tarn_conv1d tarn_conv1d_make(tarn_replica *r, const char *name, int in, int out, int window,
                             tarn_conv1d_options options)
{
    tarn_conv1d layer = { graph_poison(r), graph_poison(r), options };
    const int32_t groups = options.groups ? options.groups : 1;
    if (sizes_fit(r, "conv1d", name, in, out, window, groups))
        make_parameters(r, "conv1d", name, TARN_SHAPE(out, in / groups, window), out, &layer.weight,
                        &layer.bias);
    return layer;
}

tarn_tensor tarn_conv1d_forward(const tarn_conv1d *layer, tarn_tensor x)
{
    if (layer == NULL)
        return graph_fail(x.replica, TARN_ERR_ARGUMENT, "conv1d: the layer is NULL");
    return tarn_conv1d_op(x, layer->weight, layer->bias, layer->options);
}

tarn_conv_transpose2d tarn_conv_transpose2d_make(tarn_replica *r, const char *name, int in, int out,
                                                 int window, tarn_conv_transpose2d_options options)
{
    tarn_conv_transpose2d layer = { graph_poison(r), graph_poison(r), options };
    const int32_t groups = options.groups ? options.groups : 1;
    if (sizes_fit(r, "conv_transpose2d", name, in, out, window, groups))
        make_parameters(r, "conv_transpose2d", name, TARN_SHAPE(in, out / groups, window, window),
                        out, &layer.weight, &layer.bias);
    return layer;
}

tarn_tensor tarn_conv_transpose2d_forward(const tarn_conv_transpose2d *layer, tarn_tensor x)
{
    if (layer == NULL)
        return graph_fail(x.replica, TARN_ERR_ARGUMENT, "conv_transpose2d: the layer is NULL");
    return tarn_conv_transpose2d_op(x, layer->weight, layer->bias, layer->options);
}
