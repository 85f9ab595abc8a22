/* SPDX-License-Identifier: Apache-2.0 */
/* The fully connected layer. */
#include "nn/layer.h"
#include "op/op.h"
#include "tensor/owned.h"
#include "tensor/shape.h"
#include "tensor/spread.h"

tarn_linear tarn_linear_make(tarn_replica *r, const char *name, int in, int out)
{
    return tarn_linear_make_with(r, name, in, out, (tarn_linear_options){ .no_bias = false });
}

tarn_linear tarn_linear_make_with(tarn_replica *r, const char *name, int in, int out,
                                  tarn_linear_options options)
{
    tarn_linear layer = { .weight = graph_poison(r), .bias = graph_poison(r) };
    if (!layer_check(r, "linear", name, in, out))
        return layer;
    layer.weight = layer_parameter(r, name, "weight", TARN_SHAPE(out, in), in);
    layer.bias =
        options.no_bias ? TARN_NONE : layer_parameter(r, name, "bias", TARN_SHAPE(out), in);
    return layer;
}

static tarn_tensor misfit(tarn_replica *r, tarn_tensor weight, tarn_shape x, tarn_shape w)
{
    const struct owned *o = weight.step == STEP_OWNED ? owned_of(weight) : NULL;
    const char *name = o != NULL && o->name != NULL ? o->name : NULL;
    return graph_fail(r, TARN_ERR_SHAPE,
                      "linear: x %s does not fit the weight %s%s%s: their last axes must be equal",
                      shape_text(x), name != NULL ? name : "", name != NULL ? " " : "",
                      shape_text(w));
}

tarn_tensor tarn_linear_forward(const tarn_linear *layer, tarn_tensor x)
{
    tarn_replica *r;
    if (layer == NULL)
        return graph_fail(x.replica, TARN_ERR_ARGUMENT, "linear: the layer is NULL");
    const tarn_tensor in[] = { x, layer->weight, layer->bias };
    if (!graph_operands("linear", in, 2 + (layer->bias.replica != NULL), &r))
        return graph_poison(r);
    const tarn_shape s = tarn_shape_get(x), w = tarn_shape_get(layer->weight);
    if (w.rank != 2 || s.rank < 1 || s.dim[s.rank - 1] != w.dim[1])
        return misfit(r, layer->weight, s, w);
    /* Of a half type it is rounded once, with the bias. */
    tarn_dtype of, with, also;
    x = op_wide(op_low(x), &of);
    const tarn_tensor weight = op_wide(op_low(layer->weight), &with);
    tarn_tensor y = op_product_of(x, tarn_transpose(weight, 0, 1));
    if (layer->bias.replica != NULL)
        y = tarn_add(y, op_wide(op_low(layer->bias), &also));
    return op_as(y, op_join_floats(of, with));
}
