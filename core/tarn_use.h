/* SPDX-License-Identifier: Apache-2.0 */
/** Layers without a declaration: made where they are first used, found by name from then on.
 *  Part of tarn.h, which includes it.
 *
 *  A network is then one function, which is run once before the optimizer is made:
 *
 *      static tarn_tensor forward(tarn_tensor x)
 *      {
 *          x = tarn_relu(tarn_use_conv2d(x, "conv", 32, 3, (tarn_conv2d_options){ 0 }));
 *          return tarn_use_linear(tarn_flatten(x, 1), "head", 10);
 *      }
 *
 *      tarn_train(r, false);                            // batch norm must not count this
 *      forward(tarn_zeros(r, TARN_SHAPE(1, 1, 28, 28))); // makes the layers, computes nothing
 *      tarn_train(r, true);
 *      tarn_optimizer *adam = tarn_adam(r, (tarn_adam_options){ 0 });
 *
 *  Parameters, their names and their initial values are those of the layer's make function in
 *  tarn_nn.h, results those of its forward function; sizes of what comes in are those of x. The same name
 *  is the same layer, wherever it is used: its kind, sizes and options must be the same, too. An
 *  optimizer does not know parameters that come after it, so a new layer is an error then. */
#ifndef TARN_USE_H
#define TARN_USE_H

#include "tarn.h"
#include "tarn_nn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- names ---------------------------------------------------------------------------------- */

#define TARN_NAME_BYTES 128
/** Room for a name. */
typedef struct tarn_name_room {
    char text[TARN_NAME_BYTES];
} tarn_name_room;
/** printf into `room`, for TARN_NAME. A name that is too long is "", which no layer takes. */
TARN_API const char *tarn_name_in(tarn_name_room *room, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;
/** A name by printf, valid to the end of the block: tarn_linear_make(r, TARN_NAME("fc%d", i), 8, 8). */
#define TARN_NAME(...) tarn_name_in(&(tarn_name_room){ { 0 } }, __VA_ARGS__)
/** Until tarn_leave(), tarn_use_* put this before their names, with a dot, and before what inner calls of
 *  tarn_enter() put: tarn_enter(r, "blocks.%d", i). */
TARN_API void tarn_enter(tarn_replica *r, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;
/** Ends the last tarn_enter(); an error where there is none. */
TARN_API void tarn_leave(tarn_replica *r);

/* ---- layers --------------------------------------------------------------------------------- */

/** A parameter of its own: tarn_parameter_with. */
TARN_API tarn_tensor tarn_use_parameter(tarn_replica *r, const char *name, tarn_shape shape,
                                        tarn_init init);
/** A buffer: tarn_buffer, of which `data`, or zeros where it is NULL, are the values when it is made. */
TARN_API tarn_tensor tarn_use_buffer(tarn_replica *r, const char *name, tarn_shape shape,
                                     tarn_dtype dtype, const void *data);
/** x [..., in] -> [..., out]: tarn_linear. */
TARN_API tarn_tensor tarn_use_linear(tarn_tensor x, const char *name, int out);
/** The same with options. */
TARN_API tarn_tensor tarn_use_linear_with(tarn_tensor x, const char *name, int out,
                                          tarn_linear_options options);
/** x [N, in, H, W] -> [N, out, ...]: tarn_conv2d with a square window. */
TARN_API tarn_tensor tarn_use_conv2d(tarn_tensor x, const char *name, int out, int window,
                                     tarn_conv2d_options options);
/** The same with windows of any form, and with or without bias. */
TARN_API tarn_tensor tarn_use_conv2d_with(tarn_tensor x, const char *name, int out,
                                          tarn_conv2d_make_options options);
/** x [N, in, L] -> [N, out, ...]: tarn_conv1d. */
TARN_API tarn_tensor tarn_use_conv1d(tarn_tensor x, const char *name, int out, int window,
                                     tarn_conv1d_options options);
/** The same with or without bias. */
TARN_API tarn_tensor tarn_use_conv1d_with(tarn_tensor x, const char *name, int out,
                                          tarn_conv1d_make_options options);
/** x [N, in, D, H, W] -> [N, out, ...]: tarn_conv3d. */
TARN_API tarn_tensor tarn_use_conv3d(tarn_tensor x, const char *name, int out,
                                     tarn_conv3d_make_options options);
/** x [N, in, L] -> [N, out, ...]: tarn_conv_transpose1d. */
TARN_API tarn_tensor tarn_use_conv_transpose1d(tarn_tensor x, const char *name, int out,
                                               tarn_conv_transpose1d_make_options options);
/** x [N, in, H, W] -> [N, out, ...]: tarn_conv_transpose2d with a square window. */
TARN_API tarn_tensor tarn_use_conv_transpose2d(tarn_tensor x, const char *name, int out, int window,
                                               tarn_conv_transpose2d_options options);
/** The same with windows of any form, and with or without bias. */
TARN_API tarn_tensor tarn_use_conv_transpose2d_with(tarn_tensor x, const char *name, int out,
                                                    tarn_conv_transpose2d_make_options options);
/** x [N, in, D, H, W] -> [N, out, ...]: tarn_conv_transpose3d. */
TARN_API tarn_tensor tarn_use_conv_transpose3d(tarn_tensor x, const char *name, int out,
                                               tarn_conv_transpose3d_make_options options);
/** x [N, C, ...]: tarn_batch_norm. */
TARN_API tarn_tensor tarn_use_batch_norm(tarn_tensor x, const char *name);
/** The same with options. */
TARN_API tarn_tensor tarn_use_batch_norm_with(tarn_tensor x, const char *name,
                                              tarn_norm_options options);
/** For fast evaluation. With `fold`, each tarn_use_batch_norm whose x was the very result of a tarn_use_linear,
 *  tarn_use_conv1d, 2d or 3d when it was last used, is folded into that layer, as tarn_conv2d_fold() does it,
 *  and from now on both together are computed as the folded layer while the replica evaluates. The network itself need
 *  not change, but must have been used before. Weights are folded as they are now: call again after tarn_load()
 *  or other changes. The next tarn_use_batch_norm in training ends all of it, and so does a call without
 *  `fold`. A step mark between this call and the first evaluation spares a plan. Returns how many norms are
 *  folded now; 0 after an error. */
TARN_API int tarn_use_fold(tarn_replica *r, bool fold);
/** Over the last axis: tarn_layer_norm. */
TARN_API tarn_tensor tarn_use_layer_norm(tarn_tensor x, const char *name);
/** The same with options. */
TARN_API tarn_tensor tarn_use_layer_norm_with(tarn_tensor x, const char *name,
                                              tarn_norm_options options);
/** Over the last axis: tarn_rms_norm. */
TARN_API tarn_tensor tarn_use_rms_norm(tarn_tensor x, const char *name);
/** The same with options. */
TARN_API tarn_tensor tarn_use_rms_norm_with(tarn_tensor x, const char *name,
                                            tarn_norm_options options);
/** x [N, C, ...]: tarn_group_norm. */
TARN_API tarn_tensor tarn_use_group_norm(tarn_tensor x, const char *name, int groups);
/** The same with options. */
TARN_API tarn_tensor tarn_use_group_norm_with(tarn_tensor x, const char *name, int groups,
                                              tarn_norm_options options);
/** Rows by index: tarn_embedding_layer. */
TARN_API tarn_tensor tarn_use_embedding(tarn_tensor index, const char *name, int rows, int width);
/** tarn_lstm_forward. */
TARN_API tarn_lstm_result tarn_use_lstm(tarn_tensor x, const char *name, int hidden,
                                        tarn_recurrent_options options, const tarn_tensor *h,
                                        const tarn_tensor *c);
/** tarn_lstm_forward_with: first states and lengths. */
TARN_API tarn_lstm_result tarn_use_lstm_with(tarn_tensor x, const char *name, int hidden,
                                             tarn_recurrent_options options,
                                             tarn_recurrent_inputs inputs);
/** tarn_gru_forward. */
TARN_API tarn_gru_result tarn_use_gru(tarn_tensor x, const char *name, int hidden,
                                      tarn_recurrent_options options, const tarn_tensor *h);
/** tarn_gru_forward_with: first states and lengths. */
TARN_API tarn_gru_result tarn_use_gru_with(tarn_tensor x, const char *name, int hidden,
                                           tarn_recurrent_options options,
                                           tarn_recurrent_inputs inputs);
/** tarn_rnn_forward. */
TARN_API tarn_rnn_result tarn_use_rnn(tarn_tensor x, const char *name, int hidden,
                                      tarn_recurrent_options options, const tarn_tensor *h);
/** tarn_rnn_forward_with: first states and lengths. */
TARN_API tarn_rnn_result tarn_use_rnn_with(tarn_tensor x, const char *name, int hidden,
                                           tarn_recurrent_options options,
                                           tarn_recurrent_inputs inputs);
/** tarn_multi_head_attention_forward. */
TARN_API tarn_tensor tarn_use_multi_head_attention(tarn_tensor x, const char *name,
                                                   tarn_multi_head_attention_options options,
                                                   tarn_tensor memory, tarn_tensor key_mask);
/** tarn_multi_head_attention_forward_with. */
TARN_API tarn_tensor tarn_use_multi_head_attention_with(tarn_tensor x, const char *name,
                                                        tarn_multi_head_attention_options options,
                                                        tarn_attention_inputs inputs);
/** tarn_transformer_block_forward. */
TARN_API tarn_tensor tarn_use_transformer_block(tarn_tensor x, const char *name,
                                                tarn_transformer_block_options options,
                                                tarn_tensor key_mask);
/** tarn_transformer_block_forward_with. */
TARN_API tarn_tensor tarn_use_transformer_block_with(tarn_tensor x, const char *name,
                                                     tarn_transformer_block_options options,
                                                     tarn_attention_inputs inputs);
/** tarn_transformer_decoder_forward. */
TARN_API tarn_tensor tarn_use_transformer_decoder(tarn_tensor x, const char *name,
                                                  tarn_transformer_block_options options,
                                                  tarn_attention_inputs own,
                                                  tarn_attention_inputs cross);

#ifdef __cplusplus
}
#endif

#endif
