/* SPDX-License-Identifier: Apache-2.0 */
/* Batch norm folded into the layer before it. In: a layer and a norm with its running statistics. Out: a layer of
 * kept tensors that gives what both give in evaluation. */
#include "nn/layer.h"
#include "tensor/graph.h"
#include "tensor/shape.h"

struct folded {
    tarn_tensor weight, bias;
};

/* What does not change from one evaluation to the next, as parameters do not. */
static tarn_tensor keep_as_weight(tarn_tensor t)
{
    const tarn_tensor kept = tarn_keep(t);
    struct owned *o = owned_of(kept);
    if (o != NULL)
        o->lasting = true;
    return kept;
}

/* norm(op(x, weight) + bias) is op(x, scale weight) + (bias - mean) scale + norm's bias, for the output channels are
 * axis 0 of the weight. */
static struct folded fold(const char *kind, tarn_tensor weight, tarn_tensor bias,
                          const tarn_batch_norm *n)
{
    tarn_replica *r;
    const bool biased = bias.replica != NULL, affine = n->weight.replica != NULL;
    const tarn_tensor in[] = { weight, n->running_mean, n->running_var, bias };
    const tarn_tensor own[] = { n->weight, n->bias };
    if (!graph_operands(kind, in, 3 + biased, &r) || (affine && !graph_operands(kind, own, 2, &r)))
        return (struct folded){ graph_poison(r), graph_poison(r) };
    const tarn_shape s = tarn_shape_get(weight), c = tarn_shape_get(n->running_mean);
    if (c.rank != 1 || s.dim[0] != c.dim[0]) {
        const tarn_tensor none =
            graph_fail(r, TARN_ERR_SHAPE, "%s: weight %s has %d outputs, the batch norm is of %s",
                       kind, shape_text(s), s.dim[0], shape_text(c));
        return (struct folded){ none, none };
    }
    const tarn_tensor rstd = tarn_rsqrt(tarn_add_scalar(n->running_var, n->eps));
    const tarn_tensor scale = affine ? tarn_mul(n->weight, rstd) : rstd;
    const tarn_tensor shift = biased ? tarn_sub(bias, n->running_mean) : tarn_neg(n->running_mean);
    const tarn_tensor shifted = tarn_mul(shift, scale);
    tarn_shape each = { .rank = s.rank, .dim = { s.dim[0] } };
    for (int i = 1; i < s.rank; i++)
        each.dim[i] = 1;
    return (struct folded){ keep_as_weight(tarn_mul(weight, tarn_reshape(scale, each))),
                            keep_as_weight(affine ? tarn_add(shifted, n->bias) : shifted) };
}

tarn_linear tarn_linear_fold(const tarn_linear *layer, const tarn_batch_norm *norm)
{
    if (layer == NULL || norm == NULL) {
        const tarn_tensor none =
            graph_fail(NULL, TARN_ERR_ARGUMENT, "linear_fold: the layer or the norm is NULL");
        return (tarn_linear){ none, none };
    }
    const struct folded f = fold("linear_fold", layer->weight, layer->bias, norm);
    return (tarn_linear){ f.weight, f.bias };
}

tarn_conv1d tarn_conv1d_fold(const tarn_conv1d *layer, const tarn_batch_norm *norm)
{
    if (layer == NULL || norm == NULL) {
        const tarn_tensor none =
            graph_fail(NULL, TARN_ERR_ARGUMENT, "conv1d_fold: the layer or the norm is NULL");
        return (tarn_conv1d){ .weight = none, .bias = none };
    }
    const struct folded f = fold("conv1d_fold", layer->weight, layer->bias, norm);
    return (tarn_conv1d){ f.weight, f.bias, layer->options };
}

tarn_conv2d tarn_conv2d_fold(const tarn_conv2d *layer, const tarn_batch_norm *norm)
{
    if (layer == NULL || norm == NULL) {
        const tarn_tensor none =
            graph_fail(NULL, TARN_ERR_ARGUMENT, "conv2d_fold: the layer or the norm is NULL");
        return (tarn_conv2d){ .weight = none, .bias = none };
    }
    const struct folded f = fold("conv2d_fold", layer->weight, layer->bias, norm);
    return (tarn_conv2d){ f.weight, f.bias, layer->options };
}

tarn_conv3d tarn_conv3d_fold(const tarn_conv3d *layer, const tarn_batch_norm *norm)
{
    if (layer == NULL || norm == NULL) {
        const tarn_tensor none =
            graph_fail(NULL, TARN_ERR_ARGUMENT, "conv3d_fold: the layer or the norm is NULL");
        return (tarn_conv3d){ .weight = none, .bias = none };
    }
    const struct folded f = fold("conv3d_fold", layer->weight, layer->bias, norm);
    return (tarn_conv3d){ f.weight, f.bias, layer->options };
}
