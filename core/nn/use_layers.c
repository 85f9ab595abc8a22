/* SPDX-License-Identifier: Apache-2.0 */
/* Layers at their first use: make and forward of each kind in one. */
#include "nn/use.h"

#include <string.h>

#include "tensor/shape.h"
#include "tensor/spread.h"

_Static_assert(sizeof((tarn_transformer_block_options){ 0 }.activation) <= 2 * sizeof(int32_t),
               "a function does not fit into two numbers");
_Static_assert(1 + TARN_MAX_RANK + sizeof(tarn_init) / sizeof(int32_t) <= USE_SIZES,
               "a parameter has more numbers than there is room for");
_Static_assert(6 + sizeof(tarn_conv_transpose3d_options) / sizeof(int32_t) <= USE_SIZES,
               "a convolution has more numbers than there is room for");

static int32_t bits_of(float f)
{
    int32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

/* The length of an axis of x, which must have that many axes (0: one or more); an axis of -1 is the last
 * one. 0 after recording an error. */
static int32_t length_of(tarn_tensor x, const char *kind, const char *name, int rank, int axis)
{
    if (!graph_operand(NULL, x, kind, 0))
        return 0;
    const tarn_shape s = tarn_shape_get(x);
    if (s.rank > axis && s.rank > 0 && (rank == 0 || s.rank == rank))
        return s.dim[axis < 0 ? s.rank - 1 : axis];
    graph_fail(x.replica, TARN_ERR_SHAPE, "use_%s %s: x %s must have %d axes%s", kind,
               name != NULL ? name : "", shape_text(s),
               rank > 0   ? rank
               : axis < 0 ? 1
                          : axis + 1,
               rank > 0 ? "" : " or more");
    return 0;
}

/* Finds a layer, or makes it with `make`, and is the layer or NULL. */
#define USE(r, kind, field, name, sizes, make) \
    do { \
        struct used *used_ = use_find((r), (kind), (name), (sizes)); \
        if (used_ == NULL) \
            break; \
        if (!used_->made) { \
            const char *full = used_->name; \
            used_->layer.field = (make); \
            if (!use_made((r), used_)) \
                break; \
        } \
        layer = &used_->layer.field; \
    } while (0)

static void sizes_of(tarn_shape shape, int32_t sizes[USE_SIZES])
{
    sizes[0] = shape.rank;
    for (int i = 0; i < shape.rank && i < TARN_MAX_RANK; i++)
        sizes[1 + i] = shape.dim[i];
}

tarn_tensor tarn_use_parameter(tarn_replica *r, const char *name, tarn_shape shape, tarn_init init)
{
    if (r == NULL)
        return graph_fail(NULL, TARN_ERR_ARGUMENT, "use_parameter: the replica is NULL");
    int32_t sizes[USE_SIZES] = { 0 };
    sizes_of(shape, sizes);
    const int32_t drawn[] = { (int32_t)init.kind, bits_of(init.a), bits_of(init.b),
                              bits_of(init.low), bits_of(init.high) };
    memcpy(sizes + 1 + TARN_MAX_RANK, drawn, sizeof drawn);
    const tarn_tensor *layer = NULL;
    USE(r, "parameter", parameter, name, sizes, tarn_parameter_with(r, full, shape, init));
    return layer != NULL ? *layer : graph_poison(r);
}

tarn_tensor tarn_use_buffer(tarn_replica *r, const char *name, tarn_shape shape, tarn_dtype dtype,
                            const void *data)
{
    if (r == NULL)
        return graph_fail(NULL, TARN_ERR_ARGUMENT, "use_buffer: the replica is NULL");
    int32_t sizes[USE_SIZES] = { 0 };
    sizes_of(shape, sizes);
    sizes[1 + TARN_MAX_RANK] = (int32_t)dtype;
    const tarn_tensor *layer = NULL;
    USE(r, "buffer", parameter, name, sizes, tarn_buffer(r, full, shape, dtype, data));
    return layer != NULL ? *layer : graph_poison(r);
}

/* ---- linear and convolutions ---------------------------------------------------------------- */

tarn_tensor tarn_use_linear_with(tarn_tensor x, const char *name, int out,
                                 tarn_linear_options options)
{
    const int32_t in = length_of(x, "linear", name, 0, -1);
    const int32_t sizes[USE_SIZES] = { in, out, options.no_bias };
    const tarn_linear *layer = NULL;
    if (in > 0)
        USE(x.replica, "linear", linear, name, sizes,
            tarn_linear_make_with(x.replica, full, in, out, options));
    return layer != NULL ? use_note(layer, x, tarn_linear_forward(layer, x))
                         : graph_poison(x.replica);
}

tarn_tensor tarn_use_linear(tarn_tensor x, const char *name, int out)
{
    return tarn_use_linear_with(x, name, out, (tarn_linear_options){ .no_bias = false });
}

/* The window, and options that are nothing but numbers, behind three sizes. */
static void add_sizes(int32_t sizes[USE_SIZES], const int32_t *window, int axes,
                      const void *options, size_t bytes)
{
    memcpy(sizes + 3, window, (size_t)axes * sizeof *window);
    memcpy(sizes + 3 + axes, options, bytes);
}

tarn_tensor tarn_use_conv2d_with(tarn_tensor x, const char *name, int out,
                                 tarn_conv2d_make_options o)
{
    const int32_t in = length_of(x, "conv2d", name, 4, 1);
    int32_t sizes[USE_SIZES] = { in, out, o.no_bias };
    add_sizes(sizes, o.window, 2, &o.options, sizeof o.options);
    const tarn_conv2d *layer = NULL;
    if (in > 0)
        USE(x.replica, "conv2d", conv2d, name, sizes,
            tarn_conv2d_make_with(x.replica, full, in, out, o));
    return layer != NULL ? use_note(layer, x, tarn_conv2d_forward(layer, x))
                         : graph_poison(x.replica);
}

tarn_tensor tarn_use_conv2d(tarn_tensor x, const char *name, int out, int window,
                            tarn_conv2d_options options)
{
    return tarn_use_conv2d_with(
        x, name, out, (tarn_conv2d_make_options){ .window = { window }, .options = options });
}

tarn_tensor tarn_use_conv1d_with(tarn_tensor x, const char *name, int out,
                                 tarn_conv1d_make_options o)
{
    const int32_t in = length_of(x, "conv1d", name, 3, 1);
    int32_t sizes[USE_SIZES] = { in, out, o.no_bias };
    add_sizes(sizes, &o.window, 1, &o.options, sizeof o.options);
    const tarn_conv1d *layer = NULL;
    if (in > 0)
        USE(x.replica, "conv1d", conv1d, name, sizes,
            tarn_conv1d_make_with(x.replica, full, in, out, o));
    return layer != NULL ? use_note(layer, x, tarn_conv1d_forward(layer, x))
                         : graph_poison(x.replica);
}

tarn_tensor tarn_use_conv1d(tarn_tensor x, const char *name, int out, int window,
                            tarn_conv1d_options options)
{
    return tarn_use_conv1d_with(x, name, out,
                                (tarn_conv1d_make_options){ .window = window, .options = options });
}

tarn_tensor tarn_use_conv3d(tarn_tensor x, const char *name, int out, tarn_conv3d_make_options o)
{
    const int32_t in = length_of(x, "conv3d", name, 5, 1);
    int32_t sizes[USE_SIZES] = { in, out, o.no_bias };
    add_sizes(sizes, o.window, 3, &o.options, sizeof o.options);
    const tarn_conv3d *layer = NULL;
    if (in > 0)
        USE(x.replica, "conv3d", conv3d, name, sizes,
            tarn_conv3d_make(x.replica, full, in, out, o));
    return layer != NULL ? use_note(layer, x, tarn_conv3d_forward(layer, x))
                         : graph_poison(x.replica);
}

tarn_tensor tarn_use_conv_transpose1d(tarn_tensor x, const char *name, int out,
                                      tarn_conv_transpose1d_make_options o)
{
    const int32_t in = length_of(x, "conv_transpose1d", name, 3, 1);
    int32_t sizes[USE_SIZES] = { in, out, o.no_bias };
    add_sizes(sizes, &o.window, 1, &o.options, sizeof o.options);
    const tarn_conv_transpose1d *layer = NULL;
    if (in > 0)
        USE(x.replica, "conv_transpose1d", conv_transpose1d, name, sizes,
            tarn_conv_transpose1d_make(x.replica, full, in, out, o));
    return layer != NULL ? tarn_conv_transpose1d_forward(layer, x) : graph_poison(x.replica);
}

tarn_tensor tarn_use_conv_transpose2d_with(tarn_tensor x, const char *name, int out,
                                           tarn_conv_transpose2d_make_options o)
{
    const int32_t in = length_of(x, "conv_transpose2d", name, 4, 1);
    int32_t sizes[USE_SIZES] = { in, out, o.no_bias };
    add_sizes(sizes, o.window, 2, &o.options, sizeof o.options);
    const tarn_conv_transpose2d *layer = NULL;
    if (in > 0)
        USE(x.replica, "conv_transpose2d", conv_transpose2d, name, sizes,
            tarn_conv_transpose2d_make_with(x.replica, full, in, out, o));
    return layer != NULL ? tarn_conv_transpose2d_forward(layer, x) : graph_poison(x.replica);
}

tarn_tensor tarn_use_conv_transpose2d(tarn_tensor x, const char *name, int out, int window,
                                      tarn_conv_transpose2d_options options)
{
    return tarn_use_conv_transpose2d_with(
        x, name, out,
        (tarn_conv_transpose2d_make_options){ .window = { window }, .options = options });
}

tarn_tensor tarn_use_conv_transpose3d(tarn_tensor x, const char *name, int out,
                                      tarn_conv_transpose3d_make_options o)
{
    const int32_t in = length_of(x, "conv_transpose3d", name, 5, 1);
    int32_t sizes[USE_SIZES] = { in, out, o.no_bias };
    add_sizes(sizes, o.window, 3, &o.options, sizeof o.options);
    const tarn_conv_transpose3d *layer = NULL;
    if (in > 0)
        USE(x.replica, "conv_transpose3d", conv_transpose3d, name, sizes,
            tarn_conv_transpose3d_make(x.replica, full, in, out, o));
    return layer != NULL ? tarn_conv_transpose3d_forward(layer, x) : graph_poison(x.replica);
}

/* ---- norms ---------------------------------------------------------------------------------- */

/* All that tells norms of a kind apart. */
#define NORM_SIZES(channels, groups, o) \
    { \
        (channels), (groups), bits_of((o).eps), bits_of((o).momentum), (o).no_bias, (o).no_affine \
    }

tarn_tensor tarn_use_batch_norm_with(tarn_tensor x, const char *name, tarn_norm_options o)
{
    const int32_t channels = length_of(x, "batch_norm", name, 0, 1);
    const int32_t sizes[USE_SIZES] = NORM_SIZES(channels, 0, o);
    const tarn_batch_norm *layer = NULL;
    if (channels > 0)
        USE(x.replica, "batch_norm", batch_norm, name, sizes,
            tarn_batch_norm_make_with(x.replica, full, channels, o));
    tarn_tensor y;
    if (layer == NULL)
        return graph_poison(x.replica);
    return use_folded(layer, x, &y) ? y : tarn_batch_norm_forward(layer, x);
}

tarn_tensor tarn_use_batch_norm(tarn_tensor x, const char *name)
{
    return tarn_use_batch_norm_with(x, name, (tarn_norm_options){ .eps = 0.0f });
}

tarn_tensor tarn_use_layer_norm_with(tarn_tensor x, const char *name, tarn_norm_options o)
{
    const int32_t features = length_of(x, "layer_norm", name, 0, -1);
    const int32_t sizes[USE_SIZES] = NORM_SIZES(features, 0, o);
    const tarn_layer_norm *layer = NULL;
    if (features > 0)
        USE(x.replica, "layer_norm", layer_norm, name, sizes,
            tarn_layer_norm_make_with(x.replica, full, features, o));
    return layer != NULL ? tarn_layer_norm_forward(layer, x) : graph_poison(x.replica);
}

tarn_tensor tarn_use_layer_norm(tarn_tensor x, const char *name)
{
    return tarn_use_layer_norm_with(x, name, (tarn_norm_options){ .eps = 0.0f });
}

tarn_tensor tarn_use_rms_norm_with(tarn_tensor x, const char *name, tarn_norm_options o)
{
    const int32_t features = length_of(x, "rms_norm", name, 0, -1);
    const int32_t sizes[USE_SIZES] = NORM_SIZES(features, 0, o);
    const tarn_rms_norm *layer = NULL;
    if (features > 0)
        USE(x.replica, "rms_norm", rms_norm, name, sizes,
            tarn_rms_norm_make_with(x.replica, full, features, o));
    return layer != NULL ? tarn_rms_norm_forward(layer, x) : graph_poison(x.replica);
}

tarn_tensor tarn_use_rms_norm(tarn_tensor x, const char *name)
{
    return tarn_use_rms_norm_with(x, name, (tarn_norm_options){ .eps = 0.0f });
}

tarn_tensor tarn_use_group_norm_with(tarn_tensor x, const char *name, int groups,
                                     tarn_norm_options o)
{
    const int32_t channels = length_of(x, "group_norm", name, 0, 1);
    const int32_t sizes[USE_SIZES] = NORM_SIZES(channels, groups, o);
    const tarn_group_norm *layer = NULL;
    if (channels > 0)
        USE(x.replica, "group_norm", group_norm, name, sizes,
            tarn_group_norm_make_with(x.replica, full, groups, channels, o));
    return layer != NULL ? tarn_group_norm_forward(layer, x) : graph_poison(x.replica);
}

tarn_tensor tarn_use_group_norm(tarn_tensor x, const char *name, int groups)
{
    return tarn_use_group_norm_with(x, name, groups, (tarn_norm_options){ .eps = 0.0f });
}

/* ---- sequences ------------------------------------------------------------------------------ */

tarn_tensor tarn_use_embedding(tarn_tensor index, const char *name, int rows, int width)
{
    const int32_t sizes[USE_SIZES] = { rows, width };
    const tarn_embedding_layer *layer = NULL;
    if (graph_operand(NULL, index, "use_embedding", 0))
        USE(index.replica, "embedding", embedding, name, sizes,
            tarn_embedding_make(index.replica, full, rows, width));
    return layer != NULL ? tarn_embedding_forward(layer, index) : graph_poison(index.replica);
}

/* All that tells recurrent layers of a kind apart. */
#define RECURRENT_SIZES(in, hidden, o) \
    { \
        (in), (hidden), (o).layers, (o).batch_first, (o).no_bias, bits_of((o).dropout), (o).keep, \
            (o).bidirectional, (o).relu \
    }

/* NULL after an error. */
static const tarn_lstm *lstm_of(tarn_tensor x, const char *name, int hidden,
                                tarn_recurrent_options o)
{
    const int32_t in = length_of(x, "lstm", name, 3, 2);
    const int32_t sizes[USE_SIZES] = RECURRENT_SIZES(in, hidden, o);
    const tarn_lstm *layer = NULL;
    if (in > 0)
        USE(x.replica, "lstm", lstm, name, sizes, tarn_lstm_make(x.replica, full, in, hidden, o));
    return layer;
}

tarn_lstm_result tarn_use_lstm(tarn_tensor x, const char *name, int hidden,
                               tarn_recurrent_options o, const tarn_tensor *h, const tarn_tensor *c)
{
    const tarn_lstm *layer = lstm_of(x, name, hidden, o);
    const tarn_tensor none = graph_poison(x.replica);
    return layer != NULL ? tarn_lstm_forward(layer, x, h, c)
                         : (tarn_lstm_result){ none, none, none };
}

tarn_lstm_result tarn_use_lstm_with(tarn_tensor x, const char *name, int hidden,
                                    tarn_recurrent_options o, tarn_recurrent_inputs inputs)
{
    const tarn_lstm *layer = lstm_of(x, name, hidden, o);
    const tarn_tensor none = graph_poison(x.replica);
    return layer != NULL ? tarn_lstm_forward_with(layer, x, inputs)
                         : (tarn_lstm_result){ none, none, none };
}

/* NULL after an error. */
static const tarn_gru *gru_of(tarn_tensor x, const char *name, int hidden, tarn_recurrent_options o)
{
    const int32_t in = length_of(x, "gru", name, 3, 2);
    const int32_t sizes[USE_SIZES] = RECURRENT_SIZES(in, hidden, o);
    const tarn_gru *layer = NULL;
    if (in > 0)
        USE(x.replica, "gru", gru, name, sizes, tarn_gru_make(x.replica, full, in, hidden, o));
    return layer;
}

tarn_gru_result tarn_use_gru(tarn_tensor x, const char *name, int hidden, tarn_recurrent_options o,
                             const tarn_tensor *h)
{
    const tarn_gru *layer = gru_of(x, name, hidden, o);
    const tarn_tensor none = graph_poison(x.replica);
    return layer != NULL ? tarn_gru_forward(layer, x, h) : (tarn_gru_result){ none, none };
}

tarn_gru_result tarn_use_gru_with(tarn_tensor x, const char *name, int hidden,
                                  tarn_recurrent_options o, tarn_recurrent_inputs inputs)
{
    const tarn_gru *layer = gru_of(x, name, hidden, o);
    const tarn_tensor none = graph_poison(x.replica);
    return layer != NULL ? tarn_gru_forward_with(layer, x, inputs)
                         : (tarn_gru_result){ none, none };
}

/* NULL after an error. */
static const tarn_rnn *rnn_of(tarn_tensor x, const char *name, int hidden, tarn_recurrent_options o)
{
    const int32_t in = length_of(x, "rnn", name, 3, 2);
    const int32_t sizes[USE_SIZES] = RECURRENT_SIZES(in, hidden, o);
    const tarn_rnn *layer = NULL;
    if (in > 0)
        USE(x.replica, "rnn", rnn, name, sizes, tarn_rnn_make(x.replica, full, in, hidden, o));
    return layer;
}

tarn_rnn_result tarn_use_rnn(tarn_tensor x, const char *name, int hidden, tarn_recurrent_options o,
                             const tarn_tensor *h)
{
    const tarn_rnn *layer = rnn_of(x, name, hidden, o);
    const tarn_tensor none = graph_poison(x.replica);
    return layer != NULL ? tarn_rnn_forward(layer, x, h) : (tarn_rnn_result){ none, none };
}

tarn_rnn_result tarn_use_rnn_with(tarn_tensor x, const char *name, int hidden,
                                  tarn_recurrent_options o, tarn_recurrent_inputs inputs)
{
    const tarn_rnn *layer = rnn_of(x, name, hidden, o);
    const tarn_tensor none = graph_poison(x.replica);
    return layer != NULL ? tarn_rnn_forward_with(layer, x, inputs)
                         : (tarn_rnn_result){ none, none };
}

tarn_tensor tarn_use_multi_head_attention_with(tarn_tensor x, const char *name,
                                               tarn_multi_head_attention_options o,
                                               tarn_attention_inputs inputs)
{
    const int32_t features = length_of(x, "multi_head_attention", name, 3, 2);
    const int32_t sizes[USE_SIZES] = { features, o.heads, o.causal, o.no_bias, bits_of(o.dropout) };
    const tarn_multi_head_attention *layer = NULL;
    if (features > 0)
        USE(x.replica, "multi_head_attention", attention, name, sizes,
            tarn_multi_head_attention_make(x.replica, full, features, o));
    return layer != NULL ? tarn_multi_head_attention_forward_with(layer, x, inputs)
                         : graph_poison(x.replica);
}

tarn_tensor tarn_use_multi_head_attention(tarn_tensor x, const char *name,
                                          tarn_multi_head_attention_options o, tarn_tensor memory,
                                          tarn_tensor key_mask)
{
    return tarn_use_multi_head_attention_with(
        x, name, o, (tarn_attention_inputs){ .memory = memory, .key_mask = key_mask });
}

/* All that tells blocks of a kind apart. */
static void sizes_of_block(int32_t features, tarn_transformer_block_options o,
                           int32_t sizes[USE_SIZES])
{
    const int32_t numbers[] = { features,           o.heads,     o.mlp_ratio, o.causal, o.no_bias,
                                bits_of(o.dropout), o.norm_after };
    enum { NUMBERS = sizeof numbers / sizeof *numbers };
    memset(sizes, 0, USE_SIZES * sizeof *sizes);
    memcpy(sizes, numbers, sizeof numbers);
    memcpy(&sizes[NUMBERS], &o.activation, sizeof o.activation);
}

tarn_tensor tarn_use_transformer_block_with(tarn_tensor x, const char *name,
                                            tarn_transformer_block_options o,
                                            tarn_attention_inputs inputs)
{
    const int32_t features = length_of(x, "transformer_block", name, 3, 2);
    int32_t sizes[USE_SIZES];
    sizes_of_block(features, o, sizes);
    const tarn_transformer_block *layer = NULL;
    if (features > 0)
        USE(x.replica, "transformer_block", block, name, sizes,
            tarn_transformer_block_make(x.replica, full, features, o));
    return layer != NULL ? tarn_transformer_block_forward_with(layer, x, inputs)
                         : graph_poison(x.replica);
}

tarn_tensor tarn_use_transformer_block(tarn_tensor x, const char *name,
                                       tarn_transformer_block_options o, tarn_tensor key_mask)
{
    return tarn_use_transformer_block_with(x, name, o,
                                           (tarn_attention_inputs){ .key_mask = key_mask });
}

tarn_tensor tarn_use_transformer_decoder(tarn_tensor x, const char *name,
                                         tarn_transformer_block_options o,
                                         tarn_attention_inputs own, tarn_attention_inputs cross)
{
    const int32_t features = length_of(x, "transformer_decoder", name, 3, 2);
    int32_t sizes[USE_SIZES];
    sizes_of_block(features, o, sizes);
    const tarn_transformer_decoder *layer = NULL;
    if (features > 0)
        USE(x.replica, "transformer_decoder", decoder, name, sizes,
            tarn_transformer_decoder_make(x.replica, full, features, o));
    return layer != NULL ? tarn_transformer_decoder_forward(layer, x, own, cross)
                         : graph_poison(x.replica);
}
