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
    if (tarn_failed(x))
        return x;
    const int32_t e = tarn_shape_get(a->out_weight).dim[0];
    const tarn_shape s = tarn_shape_get(x);
    const tarn_tensor part = s.dim[2] == e ? x : tarn_slice(x, 2, i * e, (i + 1) * e, 1);
    const tarn_tensor apart =
        tarn_reshape(part, TARN_SHAPE(s.dim[0], s.dim[1], a->heads, e / a->heads));
    return tarn_permute(apart, TARN_AXES(0, 2, 1, 3));
}

static bool layer_fits(tarn_replica *r, const tarn_multi_head_attention *a, tarn_tensor x,
                       tarn_tensor memory, tarn_tensor values)
{
    const tarn_shape s = tarn_shape_get(x), m = tarn_shape_get(memory), v = tarn_shape_get(values);
    const tarn_shape in = tarn_shape_get(a->in_weight), out = tarn_shape_get(a->out_weight);
    const int32_t e = out.dim[0];
    const bool weights = in.rank == 2 && out.rank == 2 && out.dim[1] == e && in.dim[1] == e &&
                         in.dim[0] == 3 * e && a->heads >= 1 && e % a->heads == 0;
    if (!weights || s.rank != 3 || m.rank != 3 || s.dim[2] != e || m.dim[2] != e ||
        m.dim[0] != s.dim[0]) {
        graph_fail(r, TARN_ERR_SHAPE,
                   "multi_head_attention: x %s and memory %s must be [N, T, %d] and [N, S, %d], of "
                   "%d heads",
                   shape_text(s), shape_text(m), e, e, a->heads);
        return false;
    }
    if (!shape_equal(m, v)) {
        graph_fail(r, TARN_ERR_SHAPE,
                   "multi_head_attention: values %s must be of the keys' shape %s", shape_text(v),
                   shape_text(m));
        return false;
    }
    return true;
}

tarn_tensor tarn_multi_head_attention_forward_with(const tarn_multi_head_attention *layer,
                                                   tarn_tensor x, tarn_attention_inputs inputs)
{
    tarn_replica *r;
    if (layer == NULL)
        return graph_fail(x.replica, TARN_ERR_ARGUMENT, "multi_head_attention: the layer is NULL");
    const bool self = inputs.memory.replica == NULL, alike = inputs.values.replica == NULL;
    const tarn_tensor keys = self ? x : inputs.memory, values = alike ? keys : inputs.values;
    const tarn_tensor in[] = { x, layer->in_weight, layer->out_weight, keys, values };
    if (!graph_operands("multi_head_attention", in, 5, &r) ||
        !layer_fits(r, layer, x, keys, values))
        return graph_poison(r);
    /* Whatever one tensor is projected to is one product. */
    const int of_x = !self ? 1 : alike ? 3 : 2;
    tarn_tensor part[3];
    const tarn_tensor all = project(layer, x, 0, of_x);
    for (int i = 0; i < of_x; i++)
        part[i] = heads_of(layer, all, i);
    if (!self) {
        const tarn_tensor told = project(layer, keys, 1, alike ? 2 : 1);
        for (int i = 1; i < (alike ? 3 : 2); i++)
            part[i] = heads_of(layer, told, i - 1);
    }
    if (!alike)
        part[2] = heads_of(layer, project(layer, values, 2, 1), 0);
    const tarn_attention_options options = { .causal = layer->causal,
                                             .dropout = layer->dropout,
                                             .key_mask = inputs.key_mask,
                                             .mask = inputs.mask };
    const tarn_tensor y = tarn_attention(part[0], part[1], part[2], options);
    if (tarn_failed(y))
        return y;
    const tarn_linear out = { layer->out_weight, layer->out_bias };
    const tarn_tensor joined = tarn_permute(y, TARN_AXES(0, 2, 1, 3));
    return tarn_linear_forward(&out, tarn_reshape(joined, tarn_shape_get(x)));
}

tarn_tensor tarn_multi_head_attention_forward(const tarn_multi_head_attention *layer, tarn_tensor x,
                                              tarn_tensor memory, tarn_tensor key_mask)
{
    return tarn_multi_head_attention_forward_with(
        layer, x, (tarn_attention_inputs){ .memory = memory, .key_mask = key_mask });
}

/* ---- blocks --------------------------------------------------------------------------------- */

/* Names "name.part" until the layer is made. */
#define NAMED(part, member, make) \
    do { \
        char *full = layer_name(r, name, part); \
        if (full != NULL) \
            member = make; \
        free(full); \
    } while (0)

static tarn_transformer_block poisoned_block(tarn_replica *r,
                                             tarn_transformer_block_options options)
{
    const tarn_tensor none = graph_poison(r);
    return (tarn_transformer_block){
        .norm1 = { none, none, 1e-5f },
        .norm2 = { none, none, 1e-5f },
        .attention = { none, none, none, none, 1, false, 0.0f },
        .linear1 = { none, none },
        .linear2 = { none, none },
        .dropout = options.dropout,
        .activation = options.activation,
        .norm_after = options.norm_after,
    };
}

static bool block_check(tarn_replica *r, const char *kind, const char *name, int features,
                        int ratio)
{
    if (!layer_check(r, kind, name, features, ratio))
        return false;
    if (features <= INT32_MAX / ratio)
        return true;
    graph_fail(r, TARN_ERR_ARGUMENT, "%s %s: %d times %d features are too many", kind, name, ratio,
               features);
    return false;
}

static int ratio_of(tarn_transformer_block_options options)
{
    return options.mlp_ratio ? options.mlp_ratio : 4;
}

static void make_block(tarn_replica *r, const char *name, int features,
                       tarn_transformer_block_options options, tarn_transformer_block *b)
{
    const int wide = features * ratio_of(options);
    const tarn_multi_head_attention_options heads = { options.heads, options.causal,
                                                      options.no_bias, options.dropout };
    const tarn_linear_options linear = { .no_bias = options.no_bias };
    NAMED("self_attn", b->attention, tarn_multi_head_attention_make(r, full, features, heads));
    NAMED("linear1", b->linear1, tarn_linear_make_with(r, full, features, wide, linear));
    NAMED("linear2", b->linear2, tarn_linear_make_with(r, full, wide, features, linear));
    NAMED("norm1", b->norm1, tarn_layer_norm_make(r, full, features));
    NAMED("norm2", b->norm2, tarn_layer_norm_make(r, full, features));
}

tarn_transformer_block tarn_transformer_block_make(tarn_replica *r, const char *name, int features,
                                                   tarn_transformer_block_options options)
{
    tarn_transformer_block b = poisoned_block(r, options);
    if (block_check(r, "transformer_block", name, features, ratio_of(options)))
        make_block(r, name, features, options, &b);
    return b;
}

tarn_transformer_decoder tarn_transformer_decoder_make(tarn_replica *r, const char *name,
                                                       int features,
                                                       tarn_transformer_block_options options)
{
    const tarn_tensor none = graph_poison(r);
    tarn_transformer_decoder d = { .block = poisoned_block(r, options),
                                   .cross = { none, none, none, none, 1, false, 0.0f },
                                   .norm3 = { none, none, 1e-5f } };
    if (!block_check(r, "transformer_decoder", name, features, ratio_of(options)))
        return d;
    const tarn_multi_head_attention_options heads = { .heads = options.heads,
                                                      .no_bias = options.no_bias,
                                                      .dropout = options.dropout };
    make_block(r, name, features, options, &d.block);
    NAMED("multihead_attn", d.cross, tarn_multi_head_attention_make(r, full, features, heads));
    NAMED("norm3", d.norm3, tarn_layer_norm_make(r, full, features));
    return d;
}

static tarn_tensor dropped(const tarn_transformer_block *b, tarn_tensor x)
{
    return b->dropout != 0.0f ? tarn_dropout(x, b->dropout) : x;
}

/* x and what a layer makes of it, with the norm before the layer or after the sum. */
static tarn_tensor before(const tarn_transformer_block *b, const tarn_layer_norm *norm,
                          tarn_tensor x)
{
    return b->norm_after ? x : tarn_layer_norm_forward(norm, x);
}

static tarn_tensor joined(const tarn_transformer_block *b, const tarn_layer_norm *norm,
                          tarn_tensor x, tarn_tensor made)
{
    const tarn_tensor sum = tarn_add(x, dropped(b, made));
    return b->norm_after ? tarn_layer_norm_forward(norm, sum) : sum;
}

static tarn_tensor attended(const tarn_transformer_block *b, const tarn_layer_norm *norm,
                            const tarn_multi_head_attention *attention, tarn_tensor x,
                            tarn_attention_inputs inputs)
{
    const tarn_tensor in = before(b, norm, x);
    return joined(b, norm, x, tarn_multi_head_attention_forward_with(attention, in, inputs));
}

static tarn_tensor thought(const tarn_transformer_block *b, const tarn_layer_norm *norm,
                           tarn_tensor x)
{
    const tarn_tensor wide = tarn_linear_forward(&b->linear1, before(b, norm, x));
    const tarn_tensor hidden = b->activation != NULL ? b->activation(wide) : tarn_gelu(wide);
    return joined(b, norm, x, tarn_linear_forward(&b->linear2, dropped(b, hidden)));
}

tarn_tensor tarn_transformer_block_forward_with(const tarn_transformer_block *block, tarn_tensor x,
                                                tarn_attention_inputs inputs)
{
    if (block == NULL)
        return graph_fail(x.replica, TARN_ERR_ARGUMENT, "transformer_block: the block is NULL");
    return thought(block, &block->norm2,
                   attended(block, &block->norm1, &block->attention, x, inputs));
}

tarn_tensor tarn_transformer_block_forward(const tarn_transformer_block *block, tarn_tensor x,
                                           tarn_tensor key_mask)
{
    return tarn_transformer_block_forward_with(block, x,
                                               (tarn_attention_inputs){ .key_mask = key_mask });
}

tarn_tensor tarn_transformer_decoder_forward(const tarn_transformer_decoder *decoder, tarn_tensor x,
                                             tarn_attention_inputs own, tarn_attention_inputs cross)
{
    if (decoder == NULL)
        return graph_fail(x.replica, TARN_ERR_ARGUMENT, "transformer_decoder: the decoder is NULL");
    if (cross.memory.replica == NULL)
        return graph_fail(
            x.replica, TARN_ERR_ARGUMENT,
            "transformer_decoder: the second inputs need memory, what the encoder made");
    const tarn_transformer_block *b = &decoder->block;
    const tarn_tensor y = attended(b, &b->norm1, &b->attention, x, own);
    return thought(b, &decoder->norm3, attended(b, &b->norm2, &decoder->cross, y, cross));
}
