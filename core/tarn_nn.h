/* SPDX-License-Identifier: Apache-2.0 */
/** Parameters, buffers and layers; names as in a PyTorch state_dict.
 *  Part of tarn.h, which includes it. */
#ifndef TARN_NN_H
#define TARN_NN_H

#include "tarn.h"
#include "tarn_ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The type of parameters, and of layers' statistics, that are made from now on: TARN_F32, which it is at first, or
 *  TARN_F64, as torch.set_default_dtype before a model is made; see docs/types.md. Initial values are the same, in
 *  float32 rounded to it. Other tensors keep their types: cast inputs. TARN_ERR_DTYPE for another type, or float64 on a
 *  device without doubles. */
TARN_API void tarn_parameter_dtype(tarn_replica *r, tarn_dtype dtype);
/** A parameter (trained, gradient recorded) with initial values; `data` NULL means zeros. The name
 *  must be new. Of the type that tarn_parameter_dtype says, which holds every float. */
TARN_API tarn_tensor tarn_parameter(tarn_replica *r, const char *name, tarn_shape shape,
                                    const float *data);
/** The same of float32 or float64, whatever tarn_parameter_dtype says; data are of that type. */
TARN_API tarn_tensor tarn_parameter_as(tarn_replica *r, const char *name, tarn_shape shape,
                                       tarn_dtype dtype, const void *data);
/** A buffer (saved, not trained), such as a running mean. */
TARN_API tarn_tensor tarn_buffer(tarn_replica *r, const char *name, tarn_shape shape,
                                 tarn_dtype dtype, const void *data);
/** Uniform in [-bound, bound], bound = sqrt(6 / ((1 + a^2) * fan_in)) with a = sqrt(5): PyTorch's
 *  default for linear and convolution weights. Generator keyed by (seed, name). */
TARN_API tarn_tensor tarn_parameter_kaiming(tarn_replica *r, const char *name, tarn_shape shape,
                                            int fan_in);
/** What initial values are drawn from. Fans are PyTorch's: of a weight [out, in, window...] `in` or `out`
 *  times the window's elements. */
typedef enum tarn_init_kind {
    TARN_INIT_CONSTANT,        /* a */
    TARN_INIT_UNIFORM,         /* from a to b */
    TARN_INIT_NORMAL,          /* mean a, deviation b */
    TARN_INIT_TRUNCATED,       /* the same, of which the part from low to high */
    TARN_INIT_XAVIER_UNIFORM,  /* +-a sqrt(6 / (fan_in + fan_out)); a: the gain, 0 means 1 */
    TARN_INIT_XAVIER_NORMAL,   /* deviation a sqrt(2 / (fan_in + fan_out)) */
    TARN_INIT_KAIMING_UNIFORM, /* +-sqrt(6 / ((1 + a^2) fan_in)); a: slope below 0 of a leaky ReLU */
    TARN_INIT_KAIMING_NORMAL   /* deviation sqrt(2 / ((1 + a^2) fan_in)) */
} tarn_init_kind;
/** A distribution: (tarn_init){ TARN_INIT_NORMAL, .b = 0.02f }. */
typedef struct tarn_init {
    tarn_init_kind kind;
    float a, b, low, high;
} tarn_init;
/** A parameter with values drawn from `init`: a function of seed, name and element. As
 *  torch.nn.init's constant_, uniform_, normal_, trunc_normal_, xavier_* and kaiming_* (mode fan_in), with
 *  other random numbers. */
TARN_API tarn_tensor tarn_parameter_with(tarn_replica *r, const char *name, tarn_shape shape,
                                         tarn_init init);
/** By name; poison when there is none. */
TARN_API tarn_tensor tarn_find(tarn_replica *r, const char *name);
/** Number of parameters and buffers; optimizer state and kept tensors do not count. */
TARN_API int tarn_owned_count(const tarn_replica *r);
/** The i-th one's name, from 0 in order of creation; NULL when there is none. Belongs to the
 *  replica. */
TARN_API const char *tarn_owned_name(const tarn_replica *r, int i);
/** A parameter or buffer, as tarn_owned_at lists it. */
typedef struct tarn_owned {
    const char *name; /* belongs to the replica; NULL: there is none */
    tarn_tensor tensor;
    tarn_shape shape;
    tarn_dtype dtype;
    bool parameter; /* false for a buffer */
    bool frozen;    /* a parameter that is not trained (tarn_freeze) */
} tarn_owned;
/** The i-th one, from 0 in order of creation. */
TARN_API tarn_owned tarn_owned_at(tarn_replica *r, int i);
/** Elements of all parameters, or of those that are not frozen. */
TARN_API int64_t tarn_parameter_count(const tarn_replica *r, bool trained);
/** Training (default) or evaluation: switches dropout and batch norm. */
TARN_API void tarn_train(tarn_replica *r, bool training);
/** Whether the replica trains; false for NULL. */
TARN_API bool tarn_training(const tarn_replica *r);

/** A layer is a value that names its parameters, which belong to the replica: nothing to free, and
 *  a copy is the same layer. */
typedef struct tarn_linear {
    tarn_tensor weight, bias; /* [out, in], [out] */
} tarn_linear;
/** Parameters name.weight [out, in] and name.bias [out], both initialised as PyTorch's Linear:
 *  uniform in +-1 / sqrt(in). On failure they are poison, and so is what the layer computes. For a
 *  layer without a bias set it to TARN_NONE. */
TARN_API tarn_linear tarn_linear_make(tarn_replica *r, const char *name, int in, int out);
/** Zero means as tarn_linear_make. */
typedef struct tarn_linear_options {
    bool no_bias; /* the layer's bias is TARN_NONE */
} tarn_linear_options;
/** The same with options. */
TARN_API tarn_linear tarn_linear_make_with(tarn_replica *r, const char *name, int in, int out,
                                           tarn_linear_options options);
/** x [..., in] -> x weight^T + bias [..., out]. */
TARN_API tarn_tensor tarn_linear_forward(const tarn_linear *layer, tarn_tensor x);

/** A convolution layer, over images [N, C, H, W]. */
typedef struct tarn_conv2d {
    tarn_tensor weight, bias;
    tarn_conv2d_options options;
} tarn_conv2d;
/** Parameters name.weight [out, in/groups, window, window] and name.bias [out], initialised as
 *  PyTorch's Conv2d. On failure they are poison. */
TARN_API tarn_conv2d tarn_conv2d_make(tarn_replica *r, const char *name, int in, int out,
                                      int window, tarn_conv2d_options options);
/** Of `window` [0] is the height; a zero [1] takes the value of [0]. */
typedef struct tarn_conv2d_make_options {
    int32_t window[2];
    bool no_bias; /* the layer's bias is TARN_NONE */
    tarn_conv2d_options options;
} tarn_conv2d_make_options;
/** The same with windows of any form, and with or without bias. */
TARN_API tarn_conv2d tarn_conv2d_make_with(tarn_replica *r, const char *name, int in, int out,
                                           tarn_conv2d_make_options make);
/** tarn_conv2d_op with the layer's parameters and options. */
TARN_API tarn_tensor tarn_conv2d_forward(const tarn_conv2d *layer, tarn_tensor x);

/** What layers that normalise may be told. A member of 0 means the default; TARN_ZERO says 0. */
typedef struct tarn_norm_options {
    float eps;      /* added to the variance, or the mean square */
    float momentum; /* of a batch norm: the part of a new batch in the running statistics */
    bool no_bias;   /* of layer and group norms; a batch norm has one, and an RMS norm has none */
    bool
        no_affine; /* of a batch norm: neither weight nor bias, PyTorch's affine=False. Of the others that is the op, such as
                       tarn_layer_norm_op, with TARN_NONE for them */
} tarn_norm_options;

/** Normalises over all axes but axis 1. Training: statistics of the batch, and running statistics
 *  updated with `momentum` (unbiased variance); evaluation: running statistics. As
 *  torch.nn.BatchNorm1d/2d/3d: eps 1e-5, momentum 0.1; name.weight, .bias, .running_mean,
 *  .running_var, .num_batches_tracked (int32 here; saved as int64). */
typedef struct tarn_batch_norm {
    tarn_tensor weight, bias, running_mean, running_var, num_batches_tracked;
    float eps, momentum;
} tarn_batch_norm;
/** Over `channels` channels: weight and running variance of ones, the others of zeros, all
 *  [channels] but the scalar count. On failure they are poison. */
TARN_API tarn_batch_norm tarn_batch_norm_make(tarn_replica *r, const char *name, int channels);
/** The same with options; with no_affine its weight and its bias are TARN_NONE. */
TARN_API tarn_batch_norm tarn_batch_norm_make_with(tarn_replica *r, const char *name, int channels,
                                                   tarn_norm_options options);
/** x float32 [N, channels, ...] -> the same shape. In training it assigns the running statistics,
 *  once for each call, and needs 2 values for each channel at least: TARN_ERR_SHAPE. */
TARN_API tarn_tensor tarn_batch_norm_forward(const tarn_batch_norm *layer, tarn_tensor x);
/** A layer that gives in evaluation what `norm` makes of this one's result, but for rounding: its weights
 *  have the norm's running statistics, weight and bias in them. They are kept tensors, whose values come with the next
 *  step mark or when they are read, from parameters and statistics as they are now; whoever asked for them
 *  gives them to tarn_drop. No gradient goes through them. As torch.nn.utils.fusion.fuse_linear_bn_eval.
 *  TARN_ERR_SHAPE where the norm has other channels than the layer puts out. tarn_use_fold() does this for layers
 *  that are made at their first use. */
TARN_API tarn_linear tarn_linear_fold(const tarn_linear *layer, const tarn_batch_norm *norm);
/** The same of a convolution, as fuse_conv_bn_eval; stride, padding, dilation and groups stay. */
TARN_API tarn_conv2d tarn_conv2d_fold(const tarn_conv2d *layer, const tarn_batch_norm *norm);

/** Normalises each sample over its last axis. */
typedef struct tarn_layer_norm {
    tarn_tensor weight, bias;
    float eps;
} tarn_layer_norm;
/** Parameters name.weight (ones) and name.bias (zeros) over the last axis; eps 1e-5. */
TARN_API tarn_layer_norm tarn_layer_norm_make(tarn_replica *r, const char *name, int features);
/** The same with options: without a bias it is TARN_NONE. */
TARN_API tarn_layer_norm tarn_layer_norm_make_with(tarn_replica *r, const char *name, int features,
                                                   tarn_norm_options options);
/** tarn_layer_norm_op with the layer's parameters. */
TARN_API tarn_tensor tarn_layer_norm_forward(const tarn_layer_norm *layer, tarn_tensor x);

/** What recurrent layers have in common. */
#define TARN_RECURRENT_LAYERS 8 /* one above the other, at most */
typedef struct tarn_recurrent_options {
    int layers;       /* one above the other; 0: one */
    bool batch_first; /* x and y are [N, T, ...], not [T, N, ...]: needed for virtual shards */
    bool no_bias;
    float dropout;  /* of what a layer puts out, but for the last one's, when the replica trains */
    bool keep;      /* as in tarn_scan_args: a faster gradient, in more memory, always */
    bool recompute; /* and never */
    /* Each layer is two, one from the first step to the last and one back. What they put out lies side by side,
     * y [.., 2 hidden], the first one's first, and goes to both of the next layer. */
    bool bidirectional;
    bool relu; /* of tarn_rnn alone: relu for tanh */
} tarn_recurrent_options;
typedef struct tarn_recurrent {
    int input, hidden;
    tarn_recurrent_options options;
    /* Of each layer: [gates * hidden, input or hidden], [gates * hidden, hidden], [gates * hidden] twice. */
    tarn_tensor weight_ih[TARN_RECURRENT_LAYERS], weight_hh[TARN_RECURRENT_LAYERS],
        bias_ih[TARN_RECURRENT_LAYERS], bias_hh[TARN_RECURRENT_LAYERS];
    /* Those of the way back, if `bidirectional`; inputs of all layers but the first are 2 hidden then. */
    tarn_tensor weight_ih_reverse[TARN_RECURRENT_LAYERS], weight_hh_reverse[TARN_RECURRENT_LAYERS],
        bias_ih_reverse[TARN_RECURRENT_LAYERS], bias_hh_reverse[TARN_RECURRENT_LAYERS];
} tarn_recurrent;

/** A long short-term memory, as torch.nn.LSTM; gates i, f, g, o. */
typedef struct tarn_lstm {
    tarn_recurrent of;
} tarn_lstm;
/** Parameters name.weight_ih_l0, .weight_hh_l0, .bias_ih_l0, .bias_hh_l0, if `bidirectional` then
 *  .weight_ih_l0_reverse and so on, and the same for _l1 ..., uniform in +-1 / sqrt(hidden) as PyTorch's. On failure
 *  they are poison. */
TARN_API tarn_lstm tarn_lstm_make(tarn_replica *r, const char *name, int input, int hidden,
                                  tarn_recurrent_options options);
/** y: the last layer's h after each step; h and c: all layers' after the last step, [layers, N, hidden]; if
 *  `bidirectional` [2 layers, N, hidden], each layer's after its last step in both directions, which are the last and
 *  the first of x. */
typedef struct tarn_lstm_result {
    tarn_tensor y, h, c;
} tarn_lstm_result;
/** x float32 [T, N, input], or [N, T, input] if batch_first; first states of the form of the last ones, or NULL
 *  twice for zeros. Each layer is a tarn_scan(): see there for what is kept for the gradient. */
TARN_API tarn_lstm_result tarn_lstm_forward(const tarn_lstm *layer, tarn_tensor x,
                                            const tarn_tensor *h, const tarn_tensor *c);
/** What a recurrent layer gets besides x. Zero means: states of zeros, and sequences as long as x. */
typedef struct tarn_recurrent_inputs {
    tarn_tensor h, c; /* first states or TARN_NONE; of an LSTM both or none, of others h alone */
    /* Whole numbers [N], how many steps of each sample count, or TARN_NONE: all. Of more than x has all count, of 0 or
     * less none. What comes behind them is not looked at. */
    tarn_tensor lengths;
} tarn_recurrent_inputs;
/** tarn_lstm_forward() of sequences of different lengths: y is 0 behind a sequence's end, h and c are those of its last
 *  step, and the way back, if `bidirectional`, begins there. As torch.nn.LSTM of what pack_padded_sequence makes with
 *  enforce_sorted=False, and pad_packed_sequence of its output with total_length; lengths in any order, without a copy.
 *  All steps of x are computed, those behind an end, too. */
TARN_API tarn_lstm_result tarn_lstm_forward_with(const tarn_lstm *layer, tarn_tensor x,
                                                 tarn_recurrent_inputs inputs);

/** A gated recurrent unit, as torch.nn.GRU; gates r, z, n. */
typedef struct tarn_gru {
    tarn_recurrent of;
} tarn_gru;
/** Parameters as those of tarn_lstm_make(). */
TARN_API tarn_gru tarn_gru_make(tarn_replica *r, const char *name, int input, int hidden,
                                tarn_recurrent_options options);
/** As tarn_lstm_result. */
typedef struct tarn_gru_result {
    tarn_tensor y, h;
} tarn_gru_result;
/** As tarn_lstm_forward(). */
TARN_API tarn_gru_result tarn_gru_forward(const tarn_gru *layer, tarn_tensor x,
                                          const tarn_tensor *h);
/** As tarn_lstm_forward_with(). */
TARN_API tarn_gru_result tarn_gru_forward_with(const tarn_gru *layer, tarn_tensor x,
                                               tarn_recurrent_inputs inputs);

/** Elman's recurrent network, as torch.nn.RNN: h = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu of it. */
typedef struct tarn_rnn {
    tarn_recurrent of;
} tarn_rnn;
/** Parameters as those of tarn_lstm_make(). */
TARN_API tarn_rnn tarn_rnn_make(tarn_replica *r, const char *name, int input, int hidden,
                                tarn_recurrent_options options);
/** As tarn_lstm_result. */
typedef struct tarn_rnn_result {
    tarn_tensor y, h;
} tarn_rnn_result;
/** As tarn_lstm_forward(). */
TARN_API tarn_rnn_result tarn_rnn_forward(const tarn_rnn *layer, tarn_tensor x,
                                          const tarn_tensor *h);
/** As tarn_lstm_forward_with(). */
TARN_API tarn_rnn_result tarn_rnn_forward_with(const tarn_rnn *layer, tarn_tensor x,
                                               tarn_recurrent_inputs inputs);

/** A convolution layer over sequences [N, C, L]. */
typedef struct tarn_conv1d {
    tarn_tensor weight, bias;
    tarn_conv1d_options options;
} tarn_conv1d;
/** Parameters name.weight [out, in/groups, window] and name.bias [out], as PyTorch's Conv1d. */
TARN_API tarn_conv1d tarn_conv1d_make(tarn_replica *r, const char *name, int in, int out,
                                      int window, tarn_conv1d_options options);
/** Zero means a bias. */
typedef struct tarn_conv1d_make_options {
    int32_t window;
    bool no_bias; /* the layer's bias is TARN_NONE */
    tarn_conv1d_options options;
} tarn_conv1d_make_options;
/** The same with or without bias. */
TARN_API tarn_conv1d tarn_conv1d_make_with(tarn_replica *r, const char *name, int in, int out,
                                           tarn_conv1d_make_options make);
/** tarn_conv1d_op with the layer's parameters and options. */
TARN_API tarn_tensor tarn_conv1d_forward(const tarn_conv1d *layer, tarn_tensor x);
/** As tarn_conv2d_fold(). */
TARN_API tarn_conv1d tarn_conv1d_fold(const tarn_conv1d *layer, const tarn_batch_norm *norm);

/** A convolution layer over what has depth, [N, C, D, H, W]. */
typedef struct tarn_conv3d {
    tarn_tensor weight, bias;
    tarn_conv3d_options options;
} tarn_conv3d;
/** Of `window` [0] is the depth, [1] the height; a zero [1] or [2] takes the value of [0]. */
typedef struct tarn_conv3d_make_options {
    int32_t window[3];
    bool no_bias; /* the layer's bias is TARN_NONE */
    tarn_conv3d_options options;
} tarn_conv3d_make_options;
/** Parameters name.weight [out, in/groups, window...] and name.bias [out], initialised as PyTorch's Conv3d. On failure
 *  they are poison. */
TARN_API tarn_conv3d tarn_conv3d_make(tarn_replica *r, const char *name, int in, int out,
                                      tarn_conv3d_make_options make);
/** tarn_conv3d_op with the layer's parameters and options. */
TARN_API tarn_tensor tarn_conv3d_forward(const tarn_conv3d *layer, tarn_tensor x);
/** As tarn_conv2d_fold(). */
TARN_API tarn_conv3d tarn_conv3d_fold(const tarn_conv3d *layer, const tarn_batch_norm *norm);

/** A transposed convolution layer over sequences [N, C, L]. */
typedef struct tarn_conv_transpose1d {
    tarn_tensor weight, bias;
    tarn_conv_transpose1d_options options;
} tarn_conv_transpose1d;
/** As tarn_conv1d_make_options. */
typedef struct tarn_conv_transpose1d_make_options {
    int32_t window;
    bool no_bias;
    tarn_conv_transpose1d_options options;
} tarn_conv_transpose1d_make_options;
/** Parameters name.weight [in, out/groups, window] and name.bias [out], initialised as PyTorch's ConvTranspose1d. */
TARN_API tarn_conv_transpose1d tarn_conv_transpose1d_make(tarn_replica *r, const char *name, int in,
                                                          int out,
                                                          tarn_conv_transpose1d_make_options make);
/** tarn_conv_transpose1d_op with the layer's parameters and options. */
TARN_API tarn_tensor tarn_conv_transpose1d_forward(const tarn_conv_transpose1d *layer,
                                                   tarn_tensor x);

/** A transposed convolution layer over images [N, C, H, W]. */
typedef struct tarn_conv_transpose2d {
    tarn_tensor weight, bias;
    tarn_conv_transpose2d_options options;
} tarn_conv_transpose2d;
/** Parameters name.weight [in, out/groups, window, window] and name.bias [out], initialised as PyTorch's
 *  ConvTranspose2d. */
TARN_API tarn_conv_transpose2d tarn_conv_transpose2d_make(tarn_replica *r, const char *name, int in,
                                                          int out, int window,
                                                          tarn_conv_transpose2d_options options);
/** As tarn_conv2d_make_options. */
typedef struct tarn_conv_transpose2d_make_options {
    int32_t window[2];
    bool no_bias;
    tarn_conv_transpose2d_options options;
} tarn_conv_transpose2d_make_options;
/** The same with windows of any form, and with or without bias. */
TARN_API tarn_conv_transpose2d tarn_conv_transpose2d_make_with(
    tarn_replica *r, const char *name, int in, int out, tarn_conv_transpose2d_make_options make);
/** tarn_conv_transpose2d_op with the layer's parameters and options. */
TARN_API tarn_tensor tarn_conv_transpose2d_forward(const tarn_conv_transpose2d *layer,
                                                   tarn_tensor x);

/** A transposed convolution layer over what has depth, [N, C, D, H, W]. */
typedef struct tarn_conv_transpose3d {
    tarn_tensor weight, bias;
    tarn_conv_transpose3d_options options;
} tarn_conv_transpose3d;
/** As tarn_conv3d_make_options. */
typedef struct tarn_conv_transpose3d_make_options {
    int32_t window[3];
    bool no_bias;
    tarn_conv_transpose3d_options options;
} tarn_conv_transpose3d_make_options;
/** Parameters name.weight [in, out/groups, window...] and name.bias [out], initialised as PyTorch's ConvTranspose3d. */
TARN_API tarn_conv_transpose3d tarn_conv_transpose3d_make(tarn_replica *r, const char *name, int in,
                                                          int out,
                                                          tarn_conv_transpose3d_make_options make);
/** tarn_conv_transpose3d_op with the layer's parameters and options. */
TARN_API tarn_tensor tarn_conv_transpose3d_forward(const tarn_conv_transpose3d *layer,
                                                   tarn_tensor x);

/** A table of rows by index. */
typedef struct tarn_embedding_layer {
    tarn_tensor weight;
} tarn_embedding_layer;
/** A parameter name.weight [rows, width], normal of deviation 1 as PyTorch's Embedding. */
TARN_API tarn_embedding_layer tarn_embedding_make(tarn_replica *r, const char *name, int rows,
                                                  int width);
/** tarn_embedding of the layer's table. */
TARN_API tarn_tensor tarn_embedding_forward(const tarn_embedding_layer *layer, tarn_tensor index);

/** Normalises groups of channels of each sample. */
typedef struct tarn_group_norm {
    tarn_tensor weight, bias;
    int groups;
    float eps;
} tarn_group_norm;
/** Parameters name.weight (ones) and name.bias (zeros), both [channels]; eps 1e-5. */
TARN_API tarn_group_norm tarn_group_norm_make(tarn_replica *r, const char *name, int groups,
                                              int channels);
/** The same with options: without a bias it is TARN_NONE. */
TARN_API tarn_group_norm tarn_group_norm_make_with(tarn_replica *r, const char *name, int groups,
                                                   int channels, tarn_norm_options options);
/** tarn_group_norm_op with the layer's parameters. */
TARN_API tarn_tensor tarn_group_norm_forward(const tarn_group_norm *layer, tarn_tensor x);

/** Normalises the last axis by its root mean square. */
typedef struct tarn_rms_norm {
    tarn_tensor weight;
    float eps;
} tarn_rms_norm;
/** A parameter name.weight [features] of ones; eps 2^-23, as PyTorch's RMSNorm of float32. */
TARN_API tarn_rms_norm tarn_rms_norm_make(tarn_replica *r, const char *name, int features);
/** The same with options. */
TARN_API tarn_rms_norm tarn_rms_norm_make_with(tarn_replica *r, const char *name, int features,
                                               tarn_norm_options options);
/** tarn_rms_norm_op with the layer's parameter. */
TARN_API tarn_tensor tarn_rms_norm_forward(const tarn_rms_norm *layer, tarn_tensor x);

/** Attention of several heads, each over a part of the features; biases may be TARN_NONE. */
typedef struct tarn_multi_head_attention {
    tarn_tensor in_weight, in_bias;   /* [3 E, E], [3 E]: of queries, keys and values */
    tarn_tensor out_weight, out_bias; /* [E, E], [E] */
    int heads;
    bool causal;
    float dropout; /* of attention weights */
} tarn_multi_head_attention;
/** Zero means: one head, no mask, no dropout, biases. */
typedef struct tarn_multi_head_attention_options {
    int heads; /* divides the features */
    bool causal, no_bias;
    float dropout;
} tarn_multi_head_attention_options;
/** Parameters name.in_proj_weight, name.in_proj_bias, name.out_proj.weight, name.out_proj.bias,
 *  initialised as PyTorch's MultiheadAttention. */
TARN_API tarn_multi_head_attention tarn_multi_head_attention_make(
    tarn_replica *r, const char *name, int features, tarn_multi_head_attention_options options);
/** Queries x float32 [N, T, E], keys and values of memory [N, S, E], or of x where it is TARN_NONE ->
 *  [N, T, E]. key_mask is that of tarn_attention, 1 for keys that are seen: the opposite of PyTorch's
 *  key_padding_mask. As torch.nn.MultiheadAttention with batch_first. */
TARN_API tarn_tensor tarn_multi_head_attention_forward(const tarn_multi_head_attention *layer,
                                                       tarn_tensor x, tarn_tensor memory,
                                                       tarn_tensor key_mask);
/** What a layer with attention gets besides the queries x. Zero means: keys and values of x, all of them seen. */
typedef struct tarn_attention_inputs {
    tarn_tensor memory; /* [N, S, E], what keys and values are made of; or TARN_NONE: x */
    tarn_tensor
        values; /* of the same shape, what values are made of in place of that; or TARN_NONE */
    tarn_tensor key_mask; /* as of tarn_attention_options */
    tarn_tensor
        mask; /* likewise: broadcasts to [N, heads, T, S], PyTorch's attn_mask with 1 for what is seen */
} tarn_attention_inputs;
/** tarn_multi_head_attention_forward with more to say. */
TARN_API tarn_tensor tarn_multi_head_attention_forward_with(const tarn_multi_head_attention *layer,
                                                            tarn_tensor x,
                                                            tarn_attention_inputs inputs);

/** A block of a transformer, with norms in front: y = x + attention(norm1(x)), then
 *  y + linear2(activation(linear1(norm2(y)))); or with norm_after y = norm1(x + attention(x)), then
 *  norm2(y + linear2(activation(linear1(y)))). */
typedef struct tarn_transformer_block {
    tarn_layer_norm norm1, norm2;
    tarn_multi_head_attention attention;
    tarn_linear linear1, linear2;
    float dropout;                            /* of both sums and after the activation */
    tarn_tensor (*activation)(tarn_tensor x); /* NULL: tarn_gelu */
    bool norm_after;
} tarn_transformer_block;
/** Zero means: one head, hidden features 4 times as many, no mask, no dropout, biases, tarn_gelu, norms in front. */
typedef struct tarn_transformer_block_options {
    int heads, mlp_ratio;
    bool causal, no_bias;                     /* of linear layers; norms have theirs */
    float dropout;                            /* of attention weights, too */
    tarn_tensor (*activation)(tarn_tensor x); /* tarn_gelu_tanh is GPT-2's */
    bool norm_after;                          /* PyTorch's norm_first=False, its default */
} tarn_transformer_block_options;
/** Layers name.norm1, .norm2, .self_attn, .linear1, .linear2, as PyTorch's
 *  TransformerEncoderLayer(norm_first=True, activation="gelu", batch_first=True), or with norm_first=False. */
TARN_API tarn_transformer_block tarn_transformer_block_make(tarn_replica *r, const char *name,
                                                            int features,
                                                            tarn_transformer_block_options options);
/** x float32 [N, T, E] -> the same shape; key_mask as of tarn_attention, or TARN_NONE. */
TARN_API tarn_tensor tarn_transformer_block_forward(const tarn_transformer_block *block,
                                                    tarn_tensor x, tarn_tensor key_mask);
/** The same with more to say: keys and values of `inputs.memory` are not normalised. */
TARN_API tarn_tensor tarn_transformer_block_forward_with(const tarn_transformer_block *block,
                                                         tarn_tensor x,
                                                         tarn_attention_inputs inputs);

/** A decoder's block: between its attention to itself and its linear layers it attends to what an encoder made. Norm 2
 *  is that of this second attention, norm 3 that of the linear layers. */
typedef struct tarn_transformer_decoder {
    tarn_transformer_block block;
    tarn_multi_head_attention cross;
    tarn_layer_norm norm3;
} tarn_transformer_decoder;
/** Layers name.norm1, .norm2, .norm3, .self_attn, .multihead_attn, .linear1, .linear2, as PyTorch's
 *  TransformerDecoderLayer(norm_first=True, activation="gelu", batch_first=True), or with norm_first=False; `causal` is
 *  of the first attention. */
TARN_API tarn_transformer_decoder tarn_transformer_decoder_make(
    tarn_replica *r, const char *name, int features, tarn_transformer_block_options options);
/** x float32 [N, T, E] -> the same shape. `own` is of the attention to x itself, `cross` of the other, whose memory
 *  [N, S, E] must be given. */
TARN_API tarn_tensor tarn_transformer_decoder_forward(const tarn_transformer_decoder *decoder,
                                                      tarn_tensor x, tarn_attention_inputs own,
                                                      tarn_attention_inputs cross);

#ifdef __cplusplus
}
#endif

#endif
