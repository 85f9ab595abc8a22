/* SPDX-License-Identifier: Apache-2.0 */
/* Networks of rows: fully connected layers, transformers and recurrences. */
#include "timed.h"

enum { WIDTH = 128, LAYERS = 4, HEADS = 4, CONTEXT = 64, HIDDEN = 128 };

static tarn_tensor mlp(tarn_tensor x)
{
    x = tarn_relu(tarn_use_linear(x, "fc1", 1024));
    x = tarn_relu(tarn_use_linear(x, "fc2", 1024));
    return tarn_use_linear(x, "fc3", CLASSES);
}

/* ---- transformers --------------------------------------------------------------------------- */

static tarn_tensor blocks(tarn_tensor x, int heads, bool causal)
{
    const tarn_transformer_block_options options = { .heads = heads, .causal = causal };
    for (int i = 0; i < LAYERS; i++)
        x = tarn_use_transformer_block(x, TARN_NAME("blocks.%d", i), options, TARN_NONE);
    return tarn_use_layer_norm(x, "norm");
}

tarn_tensor timed_text(tarn_tensor x, int words, int width, int heads)
{
    const int32_t context = tarn_shape_get(x).dim[1];
    const tarn_tensor places = tarn_arange(x.replica, context);
    tarn_tensor h = tarn_use_embedding(x, "words", words, width);
    h = blocks(tarn_add(h, tarn_use_embedding(places, "places", context, width)), heads, true);
    const tarn_linear_options no_bias = { .no_bias = true };
    return tarn_use_linear_with(tarn_reshape(h, TARN_SHAPE(-1, width)), "head", words, no_bias);
}

static tarn_tensor gpt_65(tarn_tensor x)
{
    return timed_text(x, 65, WIDTH, HEADS);
}

static tarn_tensor gpt_8192(tarn_tensor x)
{
    return timed_text(x, 8192, WIDTH, HEADS);
}

tarn_tensor timed_patches(tarn_tensor x, int patch, int width, int heads, int classes)
{
    tarn_replica *r = x.replica;
    const tarn_init init = { TARN_INIT_NORMAL, .b = 0.02f };
    const tarn_conv2d_options cut = { .stride = { patch, patch } };
    tarn_tensor h = tarn_flatten(tarn_use_conv2d(x, "patches", width, patch, cut), 2);
    const tarn_shape s = tarn_shape_get(h); /* samples, width, patches */
    tarn_tensor first = tarn_use_parameter(r, "first", TARN_SHAPE(1, width), init);
    first = tarn_broadcast_to(first, TARN_SHAPE(s.dim[0], 1, width));
    h = tarn_concat((tarn_tensor[]){ first, tarn_transpose(h, 1, 2) }, 2, 1);
    h = tarn_add(h, tarn_use_parameter(r, "places", TARN_SHAPE(1 + s.dim[2], width), init));
    return tarn_use_linear(tarn_select(blocks(h, heads, false), 1, 0), "head", classes);
}

static tarn_tensor vit(tarn_tensor x)
{
    return timed_patches(x, 4, WIDTH, HEADS, CLASSES);
}

/* ---- recurrences, over the rows of an image -------------------------------------------------- */

static const tarn_recurrent_options rows = { .batch_first = true };

static tarn_tensor lstm(tarn_tensor x)
{
    const tarn_tensor h = tarn_use_lstm(x, "lstm", HIDDEN, rows, NULL, NULL).y;
    return tarn_use_linear(tarn_select(h, 1, -1), "head", CLASSES);
}

static tarn_tensor gru(tarn_tensor x)
{
    const tarn_tensor h = tarn_use_gru(x, "gru", HIDDEN, rows, NULL).y;
    return tarn_use_linear(tarn_select(h, 1, -1), "head", CLASSES);
}

tarn_optimizer *timed_adam(tarn_replica *r)
{
    return tarn_adam(r, (tarn_adam_options){ .lr = 1e-3f });
}

tarn_optimizer *timed_adamw(tarn_replica *r)
{
    return tarn_adamw(r, (tarn_adam_options){ .lr = 1e-3f });
}

const struct timed_network timed_rows[] = {
    { .name = "mlp",
      .x = { 2, { 128, 784 } },
      .y = { 1, { 128 } },
      .classes = CLASSES,
      .forward = mlp,
      .optimizer = timed_adamw },
    { .name = "gpt",
      .x = { 2, { 32, CONTEXT } },
      .y = { 1, { 32 * CONTEXT } },
      .classes = 65,
      .words = 65,
      .forward = gpt_65,
      .optimizer = timed_adamw },
    { .name = "gpt-8192",
      .x = { 2, { 32, CONTEXT } },
      .y = { 1, { 32 * CONTEXT } },
      .classes = 8192,
      .words = 8192,
      .forward = gpt_8192,
      .optimizer = timed_adamw },
    { .name = "vit",
      .x = { 4, { 64, 3, 32, 32 } },
      .y = { 1, { 64 } },
      .classes = CLASSES,
      .forward = vit,
      .optimizer = timed_adamw },
    { .name = "lstm",
      .x = { 3, { 128, 28, 28 } },
      .y = { 1, { 128 } },
      .classes = CLASSES,
      .forward = lstm,
      .optimizer = timed_adam,
      .clip = 1 },
    { .name = "gru",
      .x = { 3, { 128, 28, 28 } },
      .y = { 1, { 128 } },
      .classes = CLASSES,
      .forward = gru,
      .optimizer = timed_adam,
      .clip = 1 },
    { 0 },
};
