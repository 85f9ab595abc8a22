/* SPDX-License-Identifier: Apache-2.0 */
/* Batch norm and layer norm. */
#include <stdlib.h>

#include "nn/layer.h"
#include "op/op.h"
#include "tensor/shape.h"

/* ---- batch norm ----------------------------------------------------------------------------- */

tarn_batch_norm tarn_batch_norm_make_with(tarn_replica *r, const char *name, int channels,
                                          tarn_norm_options o)
{
    const tarn_tensor none = graph_poison(r);
    const float eps = option_or(o.eps, 1e-5f), momentum = option_or(o.momentum, 0.1f);
    tarn_batch_norm n = { none, none, none, none, none, eps, momentum };
    if (!layer_check(r, "batch_norm", name, channels, channels))
        return n;
    if (o.no_bias) {
        graph_fail(r, TARN_ERR_ARGUMENT, "batch_norm %s: it has a bias: no_bias is for others",
                   name);
        return n;
    }
    n.weight =
        o.no_affine ? TARN_NONE : layer_filled(r, OWNED_PARAMETER, name, "weight", channels, 1.0);
    n.bias =
        o.no_affine ? TARN_NONE : layer_filled(r, OWNED_PARAMETER, name, "bias", channels, 0.0);
    n.running_mean = layer_filled(r, OWNED_BUFFER, name, "running_mean", channels, 0.0);
    n.running_var = layer_filled(r, OWNED_BUFFER, name, "running_var", channels, 1.0);
    char *full = layer_name(r, name, "num_batches_tracked");
    if (full != NULL)
        n.num_batches_tracked = tarn_buffer(r, full, TARN_SCALAR, TARN_I32, NULL);
    free(full);
    return n;
}

tarn_batch_norm tarn_batch_norm_make(tarn_replica *r, const char *name, int channels)
{
    return tarn_batch_norm_make_with(r, name, channels, (tarn_norm_options){ .eps = 0.0f });
}

/* [C] -> [1, C, 1, ...]. */
static tarn_tensor per_channel(tarn_tensor t, int32_t channels, int rank)
{
    tarn_shape shape = { .rank = rank };
    for (int i = 0; i < rank; i++)
        shape.dim[i] = i == 1 ? channels : 1;
    return op_reshape_to(t, shape);
}

static void track(tarn_tensor running, tarn_tensor now, float momentum)
{
    const tarn_tensor own = tarn_cast(now, tarn_dtype_get(running));
    const tarn_tensor flat = op_reshape_to(own, tarn_shape_get(running));
    const double own_part = op_meant(momentum);
    const double rest =
        tarn_dtype_get(running) == TARN_F64 ? 1.0 - own_part : (double)(1.0f - momentum);
    tarn_assign(running, tarn_add(tarn_mul_scalar(running, rest), tarn_mul_scalar(flat, own_part)));
}

static tarn_tensor normalise_batch(const tarn_batch_norm *n, tarn_tensor x)
{
    const tarn_shape s = tarn_shape_get(x);
    const uint32_t axes = ((UINT32_C(1) << s.rank) - 1) & ~UINT32_C(2);
    const struct peers *p = x.replica->peers;
    const bool synced = p != NULL && p->sync_norm && (p->world > 1 || p->shards > 0);
    const int64_t count = op_count_over(x, axes, synced);
    if (count < 2)
        return graph_fail(x.replica, TARN_ERR_SHAPE,
                          "batch_norm: x %s has %lld value(s) for each channel; training needs at "
                          "least 2 (a larger batch, or tarn_train(r, false))",
                          shape_text(s), (long long)count);
    tarn_tensor mean, var;
    const tarn_tensor y = op_normalise(x, axes, synced, n->eps, &mean, &var);
    const double unbiased = (double)count / (double)(count - 1);
    track(n->running_mean, mean, n->momentum);
    track(n->running_var, tarn_mul_scalar(var, unbiased), n->momentum);
    const tarn_tensor one = op_whole(x.replica, 1);
    tarn_assign(n->num_batches_tracked, tarn_add(n->num_batches_tracked, one));
    return y;
}

static tarn_tensor normalise_running(const tarn_batch_norm *n, tarn_tensor x)
{
    const tarn_shape s = tarn_shape_get(x);
    const tarn_tensor rstd = tarn_rsqrt(tarn_add_scalar(n->running_var, n->eps));
    const tarn_tensor d = tarn_sub(x, per_channel(n->running_mean, s.dim[1], s.rank));
    return tarn_mul(d, per_channel(rstd, s.dim[1], s.rank));
}

tarn_tensor tarn_batch_norm_forward(const tarn_batch_norm *layer, tarn_tensor x)
{
    tarn_replica *r;
    if (layer == NULL)
        return graph_fail(x.replica, TARN_ERR_ARGUMENT, "batch_norm: the layer is NULL");
    const bool affine = layer->weight.replica != NULL || layer->bias.replica != NULL;
    const tarn_tensor in[] = { x,
                               affine ? layer->weight : layer->running_mean,
                               affine ? layer->bias : layer->running_var,
                               layer->running_mean,
                               layer->running_var,
                               layer->num_batches_tracked };
    const tarn_tensor any = x.replica != NULL ? x : layer->running_mean;
    if (!graph_operands("batch_norm", in, tarn_training(any.replica) ? 6 : 5, &r))
        return graph_poison(r);
    const tarn_shape s = tarn_shape_get(x), w = tarn_shape_get(layer->running_mean);
    if (s.rank < 2 || s.dim[1] != w.dim[0] || !dtype_is_float(tarn_dtype_get(x)))
        return graph_fail(r, TARN_ERR_SHAPE, "batch_norm: x is %s %s, must be float32 [N, %d, ...]",
                          tarn_dtype_name(tarn_dtype_get(x)), shape_text(s), w.dim[0]);
    tarn_dtype of;
    x = op_wide(x, &of);
    const tarn_tensor y = r->training ? normalise_batch(layer, x) : normalise_running(layer, x);
    if (tarn_failed(y))
        return y;
    if (!affine)
        return op_as(y, of);
    const tarn_tensor scaled = tarn_mul(y, per_channel(layer->weight, s.dim[1], s.rank));
    return op_as(tarn_add(scaled, per_channel(layer->bias, s.dim[1], s.rank)), of);
}

/* ---- layer norm ----------------------------------------------------------------------------- */

tarn_layer_norm tarn_layer_norm_make_with(tarn_replica *r, const char *name, int features,
                                          tarn_norm_options o)
{
    tarn_layer_norm n = { graph_poison(r), graph_poison(r), option_or(o.eps, 1e-5f) };
    if (!layer_check(r, "layer_norm", name, features, features) ||
        !layer_is_affine(r, "layer_norm", name, &o))
        return n;
    n.weight = layer_filled(r, OWNED_PARAMETER, name, "weight", features, 1.0);
    n.bias = o.no_bias ? TARN_NONE : layer_filled(r, OWNED_PARAMETER, name, "bias", features, 0.0);
    return n;
}

tarn_layer_norm tarn_layer_norm_make(tarn_replica *r, const char *name, int features)
{
    return tarn_layer_norm_make_with(r, name, features, (tarn_norm_options){ .eps = 0.0f });
}

tarn_tensor tarn_layer_norm_forward(const tarn_layer_norm *layer, tarn_tensor x)
{
    if (layer == NULL)
        return graph_fail(x.replica, TARN_ERR_ARGUMENT, "layer_norm: the layer is NULL");
    if (!layer_has_weight("layer_norm", x, layer->weight))
        return graph_poison(x.replica);
    return tarn_layer_norm_op(x, layer->weight, layer->bias, layer->eps);
}
