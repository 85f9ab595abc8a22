/* SPDX-License-Identifier: Apache-2.0 */
/* Attention of several heads, and the block of a transformer that has its norms in front. */
#include <stdlib.h>

#include "nn/layer.h"
#include "tensor/shape.h"
#include "tensor/spread.h"

/* ---- multi-head attention ------------------------------------------------------------------- */

tarn_multi_head_attention tarn_multi_head_attention_make(tarn_replica *r, const char *name,
                                                         int features,
                                                         tarn_multi_head_attention_options options)
{
    const tarn_tensor none = graph_poison(r);
    const int heads = options.heads ? options.heads : 1;
    tarn_multi_head_attention a = {
        none, none, none, none, heads, options.causal, options.dropout
    };
    if (!layer_check(r, "multi_head_attention", name, features, heads))
        return a;
    if (features % heads != 0 || features > INT32_MAX / 3) {
        graph_fail(r, TARN_ERR_ARGUMENT,
                   "multi_head_attention %s: %d heads do not divide %d features", name, heads,
                   features);
        return a;
    }
    a.in_weight = layer_drawn(r, name, "in_proj_weight", TARN_SHAPE(3 * features, features),
                              (tarn_init){ .kind = TARN_INIT_XAVIER_UNIFORM });
    a.out_weight =
        layer_parameter(r, name, "out_proj.weight", TARN_SHAPE(features, features), features);
    a.in_bias = a.out_bias = TARN_NONE;
    if (options.no_bias)
        return a;
    a.in_bias = layer_filled(r, OWNED_PARAMETER, name, "in_proj_bias", 3 * features, 0.0);
    a.out_bias = layer_filled(r, OWNED_PARAMETER, name, "out_proj.bias", features, 0.0);
    return a;
}

/* x [N, T, E] by rows `first` to `first + count - 1` of the layer's weight, in units of E. */
static tarn_tensor project(const tarn_multi_head_attention *a, tarn_tensor x, int first, int count)
{
    const int32_t e = tarn_shape_get(a->out_weight).dim[0];
    tarn_linear part = { a->in_weight, a->in_bias };
    if (count < 3) {
        part.weight = tarn_slice(part.weight, 0, first * e, (first + count) * e, 1);
        if (part.bias.replica != NULL)
            part.bias = tarn_slice(part.bias, 0, first * e, (first + count) * e, 1);
    }
    return tarn_linear_forward(&part, x);
}

/* The i-th E features of x [N, T, k E] as heads: [N, H, T, E / H]. */
static tarn_tensor heads_of(const tarn_multi_head_attention *a, tarn_tensor x, int i)
{
    const int32_t e = tarn_shape_get(a->out_weight).dim[0];
    const tarn_shape s = tarn_shape_get(x);
    const tarn_tensor part = s.dim[2] == e ? x : tarn_slice(x, 2, i * e, (i + 1) * e, 1);
    const tarn_tensor apart =
        tarn_reshape(part, TARN_SHAPE(s.dim[0], s.dim[1], a->heads, e / a->heads));
    return tarn_permute(apart, TARN_AXES(0, 2, 1, 3));
}

static bool layer_fits(tarn_replica *r, const tarn_multi_head_attention *a, tarn_tensor x,
                       tarn_tensor memory)
{
    const tarn_shape s = tarn_shape_get(x), m = tarn_shape_get(memory);
    const tarn_shape in = tarn_shape_get(a->in_weight), out = tarn_shape_get(a->out_weight);
    const int32_t e = out.dim[0];
    const bool weights = in.rank == 2 && out.rank == 2 && out.dim[1] == e && in.dim[1] == e &&
                         in.dim[0] == 3 * e && a->heads >= 1 && e % a->heads == 0;
    if (weights && s.rank == 3 && m.rank == 3 && s.dim[2] == e && m.dim[2] == e &&
        m.dim[0] == s.dim[0])
        return true;
    graph_fail(
        r, TARN_ERR_SHAPE,
        "multi_head_attention: x %s and memory %s must be [N, T, %d] and [N, S, %d], of %d heads",
        shape_text(s), shape_text(m), e, e, a->heads);
    return false;
}

tarn_tensor tarn_multi_head_attention_forward(const tarn_multi_head_attention *layer, tarn_tensor x,
                                              tarn_tensor memory, tarn_tensor key_mask)
{
    tarn_replica *r;
    if (layer == NULL)
        return graph_fail(x.replica, TARN_ERR_ARGUMENT, "multi_head_attention: the layer is NULL");
    const bool self = memory.replica == NULL;
    const tarn_tensor in[] = { x, layer->in_weight, layer->out_weight, memory };
    if (!graph_operands("multi_head_attention", in, self ? 3 : 4, &r) ||
        !layer_fits(r, layer, x, self ? x : memory))
        return graph_poison(r);
    const tarn_tensor all = project(layer, x, 0, self ? 3 : 1);
    const tarn_tensor rest = self ? all : project(layer, memory, 1, 2);
    if (tarn_failed(all) || tarn_failed(rest))
        return graph_poison(r);
    const tarn_tensor q = heads_of(layer, all, 0), k = heads_of(layer, rest, self ? 1 : 0),
                      v = heads_of(layer, rest, self ? 2 : 1);
    const tarn_attention_options options = { .causal = layer->causal,
                                             .dropout = layer->dropout,
                                             .key_mask = key_mask };
    const tarn_tensor y = tarn_attention(q, k, v, options);
    if (tarn_failed(y))
        return y;
    const tarn_linear out = { layer->out_weight, layer->out_bias };
    const tarn_tensor joined = tarn_permute(y, TARN_AXES(0, 2, 1, 3));
    return tarn_linear_forward(&out, tarn_reshape(joined, tarn_shape_get(x)));
}

/* ---- the block ------------------------------------------------------------------------------ */

/* Names "name.part" until the layer is made. */
#define NAMED(part, member, make) \
    do { \
        char *full = layer_name(r, name, part); \
        if (full != NULL) \
            member = make; \
        free(full); \
    } while (0)

tarn_transformer_block tarn_transformer_block_make(tarn_replica *r, const char *name, int features,
                                                   tarn_transformer_block_options options)
{
    const tarn_tensor none = graph_poison(r);
    const int ratio = options.mlp_ratio ? options.mlp_ratio : 4;
    tarn_transformer_block b = { .norm1 = { none, none, 1e-5f }, .norm2 = { none, none, 1e-5f } };
    b.attention = (tarn_multi_head_attention){ none, none, none, none, 1, false, 0.0f };
    b.linear1 = b.linear2 = (tarn_linear){ none, none };
    b.dropout = options.dropout;
    b.activation = options.activation;
    if (!layer_check(r, "transformer_block", name, features, ratio))
        return b;
    if (features > INT32_MAX / ratio) {
        graph_fail(r, TARN_ERR_ARGUMENT, "transformer_block %s: %d times %d features are too many",
                   name, ratio, features);
        return b;
    }
    const tarn_multi_head_attention_options heads = { options.heads, options.causal,
                                                      options.no_bias, options.dropout };
    const tarn_linear_options linear = { .no_bias = options.no_bias };
    NAMED("self_attn", b.attention, tarn_multi_head_attention_make(r, full, features, heads));
    NAMED("linear1", b.linear1, tarn_linear_make_with(r, full, features, ratio * features, linear));
    NAMED("linear2", b.linear2, tarn_linear_make_with(r, full, ratio * features, features, linear));
    NAMED("norm1", b.norm1, tarn_layer_norm_make(r, full, features));
    NAMED("norm2", b.norm2, tarn_layer_norm_make(r, full, features));
    return b;
}

static tarn_tensor dropped(const tarn_transformer_block *b, tarn_tensor x)
{
    return b->dropout != 0.0f ? tarn_dropout(x, b->dropout) : x;
}

tarn_tensor tarn_transformer_block_forward(const tarn_transformer_block *block, tarn_tensor x,
                                           tarn_tensor key_mask)
{
    if (block == NULL)
        return graph_fail(x.replica, TARN_ERR_ARGUMENT, "transformer_block: the block is NULL");
    const tarn_tensor seen = tarn_layer_norm_forward(&block->norm1, x);
    const tarn_tensor told =
        tarn_multi_head_attention_forward(&block->attention, seen, TARN_NONE, key_mask);
    const tarn_tensor y = tarn_add(x, dropped(block, told));
    const tarn_tensor normal = tarn_layer_norm_forward(&block->norm2, y);
    const tarn_tensor wide = tarn_linear_forward(&block->linear1, normal);
    const tarn_tensor hidden =
        block->activation != NULL ? block->activation(wide) : tarn_gelu(wide);
    const tarn_tensor out = tarn_linear_forward(&block->linear2, dropped(block, hidden));
    return tarn_add(y, dropped(block, out));
}
