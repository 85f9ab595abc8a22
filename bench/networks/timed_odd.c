/* SPDX-License-Identifier: Apache-2.0 */
/* Networks as people have them whose sizes nobody chose for a machine: primes, and numbers that are no multiple of a
 * register. */
#include "timed.h"

enum { KINDS = 101, WORDS = 10000, STATE = 650, LONG = 35 };

static const tarn_recurrent_options in_rows = { .batch_first = true };

/* 14 x 14 patches of a photograph. */
static tarn_tensor photo_tokens(tarn_tensor x)
{
    return timed_patches(x, 16, 192, 3, KINDS);
}

/* A language model of words. */
static tarn_tensor words_650(tarn_tensor x)
{
    tarn_tensor h = tarn_use_embedding(x, "words", WORDS, STATE);
    h = tarn_use_lstm(h, "lstm", STATE, in_rows, NULL, NULL).y;
    return tarn_reshape(tarn_use_linear(h, "head", WORDS), TARN_SHAPE(-1, WORDS));
}

static tarn_tensor filtered(tarn_tensor x, const char *name, int out, int window, int padding)
{
    const tarn_conv2d_options o = { .padding = { padding, padding } };
    return tarn_relu(tarn_use_conv2d(x, name, out, window, o));
}

static tarn_tensor thinned(tarn_tensor x)
{
    return tarn_max_pool2d_with(x, (tarn_pool_options){ .window = { 3, 3 }, .stride = { 2, 2 } });
}

/* Images of 55, 27, 13 and 6 columns. */
static tarn_tensor five_layers(tarn_tensor x)
{
    const tarn_conv2d_options far = { .stride = { 4, 4 } };
    x = thinned(tarn_relu(tarn_use_conv2d(x, "first", 48, 11, far)));
    x = thinned(filtered(x, "second", 100, 5, 2));
    x = filtered(filtered(x, "third", 150, 3, 1), "fourth", 150, 3, 1);
    x = tarn_flatten(thinned(filtered(x, "fifth", 100, 3, 1)), 1);
    x = tarn_dropout(tarn_relu(tarn_use_linear(x, "wide", 1000)), 0.5f);
    return tarn_use_linear(x, "head", KINDS);
}

static tarn_tensor table_37(tarn_tensor x)
{
    for (int i = 0; i < 4; i++) {
        x = tarn_use_linear(x, TARN_NAME("layers.%d", i), 300);
        x = tarn_relu(tarn_use_layer_norm(x, TARN_NAME("norms.%d", i)));
    }
    return tarn_use_linear(x, "head", 43);
}

/* Which language a name is of, by its letters. */
static tarn_tensor names(tarn_tensor x)
{
    const tarn_tensor h = tarn_use_gru(x, "letters", 150, in_rows, NULL).y;
    return tarn_use_linear(tarn_select(h, 1, -1), "head", 18);
}

const struct timed_network timed_odd[] = {
    { .name = "photo-tokens",
      .x = { 4, { 8, 3, 224, 224 } },
      .y = { 1, { 8 } },
      .classes = KINDS,
      .forward = photo_tokens,
      .optimizer = timed_adamw },
    { .name = "words-650",
      .x = { 2, { 20, LONG } },
      .y = { 1, { 20 * LONG } },
      .classes = WORDS,
      .words = WORDS,
      .forward = words_650,
      .optimizer = timed_adam,
      .clip = 5 },
    { .name = "five-layers",
      .x = { 4, { 16, 3, 227, 227 } },
      .y = { 1, { 16 } },
      .classes = KINDS,
      .forward = five_layers,
      .optimizer = timed_adam },
    { .name = "table-37",
      .x = { 2, { 100, 37 } },
      .y = { 1, { 100 } },
      .classes = 43,
      .forward = table_37,
      .optimizer = timed_adam },
    { .name = "names",
      .x = { 3, { 31, 19, 57 } },
      .y = { 1, { 31 } },
      .classes = 18,
      .forward = names,
      .optimizer = timed_adam },
    { 0 },
};
