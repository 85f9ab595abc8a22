/* SPDX-License-Identifier: Apache-2.0 */
/* Group norm and RMS norm as layers. */
#include "nn/layer.h"
#include "op/op.h"
#include "tensor/spread.h"

tarn_group_norm tarn_group_norm_make_with(tarn_replica *r, const char *name, int groups,
                                          int channels, tarn_norm_options o)
{
    tarn_group_norm n = { graph_poison(r), graph_poison(r), groups, option_or(o.eps, 1e-5f) };
    if (!layer_check(r, "group_norm", name, groups, channels) ||
        !layer_is_affine(r, "group_norm", name, &o))
        return n;
    if (channels % groups != 0) {
        graph_fail(r, TARN_ERR_ARGUMENT, "group_norm %s: %d groups do not divide %d channels", name,
                   groups, channels);
        return n;
    }
    n.weight = layer_filled(r, OWNED_PARAMETER, name, "weight", channels, 1.0);
    n.bias = o.no_bias ? TARN_NONE : layer_filled(r, OWNED_PARAMETER, name, "bias", channels, 0.0);
    return n;
}

tarn_group_norm tarn_group_norm_make(tarn_replica *r, const char *name, int groups, int channels)
{
    return tarn_group_norm_make_with(r, name, groups, channels, (tarn_norm_options){ .eps = 0.0f });
}

tarn_tensor tarn_group_norm_forward(const tarn_group_norm *layer, tarn_tensor x)
{
    if (layer == NULL)
        return graph_fail(x.replica, TARN_ERR_ARGUMENT, "group_norm: the layer is NULL");
    if (!layer_has_weight("group_norm", x, layer->weight))
        return graph_poison(x.replica);
    return tarn_group_norm_op(x, layer->weight, layer->bias, layer->groups, layer->eps);
}

tarn_rms_norm tarn_rms_norm_make_with(tarn_replica *r, const char *name, int features,
                                      tarn_norm_options o)
{
    tarn_rms_norm n = { graph_poison(r), option_or(o.eps, 0x1p-23f) };
    if (layer_check(r, "rms_norm", name, features, features) &&
        layer_is_affine(r, "rms_norm", name, &o))
        n.weight = layer_filled(r, OWNED_PARAMETER, name, "weight", features, 1.0);
    return n;
}

tarn_rms_norm tarn_rms_norm_make(tarn_replica *r, const char *name, int features)
{
    return tarn_rms_norm_make_with(r, name, features, (tarn_norm_options){ .eps = 0.0f });
}

tarn_tensor tarn_rms_norm_forward(const tarn_rms_norm *layer, tarn_tensor x)
{
    if (layer == NULL)
        return graph_fail(x.replica, TARN_ERR_ARGUMENT, "rms_norm: the layer is NULL");
    if (!layer_has_weight("rms_norm", x, layer->weight))
        return graph_poison(x.replica);
    return tarn_rms_norm_op(x, layer->weight, layer->eps);
}
