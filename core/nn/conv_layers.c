/* SPDX-License-Identifier: Apache-2.0 */
/* Convolution layers, and transposed ones, of one to three axes. */
#include "nn/layer.h"
#include "tensor/shape.h"
#include "tensor/spread.h"

struct form {
    const char *kind; /* of the layer, for errors */
    bool transposed;
    int axes;
    const int32_t *window; /* of each axis; a zero behind the first is the first's */
    int32_t groups;
    bool no_bias;
};

/* Bounds come from the second and later dimensions of the weight, as in PyTorch. On failure both are left as they
 * are. */
static void make(tarn_replica *r, const char *name, int in, int out, struct form f,
                 tarn_tensor *weight, tarn_tensor *bias)
{
    if (!layer_check(r, f.kind, name, in, out))
        return;
    const int32_t groups = f.groups ? f.groups : 1;
    const bool divides = groups >= 1 && in % groups == 0 && out % groups == 0;
    tarn_shape shape = { .rank = 2 + f.axes, .dim = { f.transposed ? in : out } };
    shape.dim[1] = !divides ? 0 : (f.transposed ? out : in) / groups;
    int32_t least = f.window[0];
    for (int i = 0; i < f.axes; i++) {
        shape.dim[2 + i] = f.window[i] || i == 0 ? f.window[i] : f.window[0];
        least = shape.dim[2 + i] < least ? shape.dim[2 + i] : least;
    }
    if (!divides || least < 1) {
        graph_fail(r, TARN_ERR_ARGUMENT,
                   "%s %s: window %d, %d groups: the window must be from 1, and the groups must "
                   "divide %d and %d channels",
                   f.kind, name, least, groups, in, out);
        return;
    }
    if (!shape_valid(shape)) {
        graph_fail(r, TARN_ERR_SHAPE, "%s %s: weight %s is too large", f.kind, name,
                   shape_text(shape));
        return;
    }
    const int fan_in = (int)(tarn_shape_count(shape) / shape.dim[0]);
    *weight = layer_parameter(r, name, "weight", shape, fan_in);
    *bias = f.no_bias ? TARN_NONE : layer_parameter(r, name, "bias", TARN_SHAPE(out), fan_in);
}

/* ---- convolutions --------------------------------------------------------------------------- */

tarn_conv1d tarn_conv1d_make_with(tarn_replica *r, const char *name, int in, int out,
                                  tarn_conv1d_make_options o)
{
    tarn_conv1d layer = { graph_poison(r), graph_poison(r), o.options };
    make(r, name, in, out,
         (struct form){ "conv1d", false, 1, &o.window, o.options.groups, o.no_bias }, &layer.weight,
         &layer.bias);
    return layer;
}

tarn_conv1d tarn_conv1d_make(tarn_replica *r, const char *name, int in, int out, int window,
                             tarn_conv1d_options options)
{
    return tarn_conv1d_make_with(
        r, name, in, out, (tarn_conv1d_make_options){ .window = window, .options = options });
}

tarn_tensor tarn_conv1d_forward(const tarn_conv1d *layer, tarn_tensor x)
{
    if (layer == NULL)
        return graph_fail(x.replica, TARN_ERR_ARGUMENT, "conv1d: the layer is NULL");
    return tarn_conv1d_op(x, layer->weight, layer->bias, layer->options);
}

tarn_conv2d tarn_conv2d_make_with(tarn_replica *r, const char *name, int in, int out,
                                  tarn_conv2d_make_options o)
{
    tarn_conv2d layer = { graph_poison(r), graph_poison(r), o.options };
    make(r, name, in, out,
         (struct form){ "conv2d", false, 2, o.window, o.options.groups, o.no_bias }, &layer.weight,
         &layer.bias);
    return layer;
}

tarn_conv2d tarn_conv2d_make(tarn_replica *r, const char *name, int in, int out, int window,
                             tarn_conv2d_options options)
{
    return tarn_conv2d_make_with(
        r, name, in, out, (tarn_conv2d_make_options){ .window = { window }, .options = options });
}

tarn_tensor tarn_conv2d_forward(const tarn_conv2d *layer, tarn_tensor x)
{
    if (layer == NULL)
        return graph_fail(x.replica, TARN_ERR_ARGUMENT, "conv2d: the layer is NULL");
    return tarn_conv2d_op(x, layer->weight, layer->bias, layer->options);
}

tarn_conv3d tarn_conv3d_make(tarn_replica *r, const char *name, int in, int out,
                             tarn_conv3d_make_options o)
{
    tarn_conv3d layer = { graph_poison(r), graph_poison(r), o.options };
    make(r, name, in, out,
         (struct form){ "conv3d", false, 3, o.window, o.options.groups, o.no_bias }, &layer.weight,
         &layer.bias);
    return layer;
}

tarn_tensor tarn_conv3d_forward(const tarn_conv3d *layer, tarn_tensor x)
{
    if (layer == NULL)
        return graph_fail(x.replica, TARN_ERR_ARGUMENT, "conv3d: the layer is NULL");
    return tarn_conv3d_op(x, layer->weight, layer->bias, layer->options);
}

/* ---- transposed ----------------------------------------------------------------------------- */

tarn_conv_transpose1d tarn_conv_transpose1d_make(tarn_replica *r, const char *name, int in, int out,
                                                 tarn_conv_transpose1d_make_options o)
{
    tarn_conv_transpose1d layer = { graph_poison(r), graph_poison(r), o.options };
    make(r, name, in, out,
         (struct form){ "conv_transpose1d", true, 1, &o.window, o.options.groups, o.no_bias },
         &layer.weight, &layer.bias);
    return layer;
}

tarn_tensor tarn_conv_transpose1d_forward(const tarn_conv_transpose1d *layer, tarn_tensor x)
{
    if (layer == NULL)
        return graph_fail(x.replica, TARN_ERR_ARGUMENT, "conv_transpose1d: the layer is NULL");
    return tarn_conv_transpose1d_op(x, layer->weight, layer->bias, layer->options);
}

tarn_conv_transpose2d tarn_conv_transpose2d_make_with(tarn_replica *r, const char *name, int in,
                                                      int out, tarn_conv_transpose2d_make_options o)
{
    tarn_conv_transpose2d layer = { graph_poison(r), graph_poison(r), o.options };
    make(r, name, in, out,
         (struct form){ "conv_transpose2d", true, 2, o.window, o.options.groups, o.no_bias },
         &layer.weight, &layer.bias);
    return layer;
}

tarn_conv_transpose2d tarn_conv_transpose2d_make(tarn_replica *r, const char *name, int in, int out,
                                                 int window, tarn_conv_transpose2d_options options)
{
    return tarn_conv_transpose2d_make_with(
        r, name, in, out,
        (tarn_conv_transpose2d_make_options){ .window = { window }, .options = options });
}

tarn_tensor tarn_conv_transpose2d_forward(const tarn_conv_transpose2d *layer, tarn_tensor x)
{
    if (layer == NULL)
        return graph_fail(x.replica, TARN_ERR_ARGUMENT, "conv_transpose2d: the layer is NULL");
    return tarn_conv_transpose2d_op(x, layer->weight, layer->bias, layer->options);
}

tarn_conv_transpose3d tarn_conv_transpose3d_make(tarn_replica *r, const char *name, int in, int out,
                                                 tarn_conv_transpose3d_make_options o)
{
    tarn_conv_transpose3d layer = { graph_poison(r), graph_poison(r), o.options };
    make(r, name, in, out,
         (struct form){ "conv_transpose3d", true, 3, o.window, o.options.groups, o.no_bias },
         &layer.weight, &layer.bias);
    return layer;
}

tarn_tensor tarn_conv_transpose3d_forward(const tarn_conv_transpose3d *layer, tarn_tensor x)
{
    if (layer == NULL)
        return graph_fail(x.replica, TARN_ERR_ARGUMENT, "conv_transpose3d: the layer is NULL");
    return tarn_conv_transpose3d_op(x, layer->weight, layer->bias, layer->options);
}
