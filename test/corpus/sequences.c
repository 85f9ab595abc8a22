/* SPDX-License-Identifier: Apache-2.0 */
/* Networks for sequences: a small GPT, its head tied to the embedding or not, and an LSTM. */
#include <math.h>
#include <stdio.h>

#include "corpus.h"

enum { STEPS = 2 };

/* ---- GPT ------------------------------------------------------------------------------------ */

enum { LAYERS = 4, WIDTH = 128, HEADS = 4, CONTEXT = 64, WORDS = 65, TEXTS = 32 };

struct block {
    tarn_layer_norm norm1, norm2;
    tarn_linear qkv, out, up, down;
};

struct gpt {
    tarn_tensor words, places; /* embeddings */
    struct block blocks[LAYERS];
    tarn_layer_norm norm;
    tarn_tensor head;
};

static void gpt_make(tarn_replica *r, struct gpt *n, bool tied)
{
    n->words = tarn_parameter_kaiming(r, "words", TARN_SHAPE(WORDS, WIDTH), WIDTH);
    n->places = tarn_parameter_kaiming(r, "places", TARN_SHAPE(CONTEXT, WIDTH), WIDTH);
    for (int i = 0; i < LAYERS; i++) {
        struct block *b = &n->blocks[i];
        char name[32];
#define NAMED(part) (snprintf(name, sizeof name, "%d." part, i), name)
        b->norm1 = tarn_layer_norm_make(r, NAMED("norm1"), WIDTH);
        b->qkv = tarn_linear_make(r, NAMED("qkv"), WIDTH, 3 * WIDTH);
        b->out = tarn_linear_make(r, NAMED("out"), WIDTH, WIDTH);
        b->norm2 = tarn_layer_norm_make(r, NAMED("norm2"), WIDTH);
        b->up = tarn_linear_make(r, NAMED("up"), WIDTH, 4 * WIDTH);
        b->down = tarn_linear_make(r, NAMED("down"), 4 * WIDTH, WIDTH);
#undef NAMED
    }
    n->norm = tarn_layer_norm_make(r, "norm", WIDTH);
    n->head = tied ? n->words : tarn_parameter_kaiming(r, "head", TARN_SHAPE(WORDS, WIDTH), WIDTH);
}

/* Queries, keys or values of all heads: [texts, heads, context, width / heads]. */
static tarn_tensor part(tarn_tensor qkv, int which)
{
    const tarn_tensor one = tarn_slice(qkv, 2, which * WIDTH, (which + 1) * WIDTH, 1);
    const tarn_shape heads = TARN_SHAPE(TEXTS, CONTEXT, HEADS, WIDTH / HEADS);
    return tarn_permute(tarn_reshape(one, heads), TARN_AXES(0, 2, 1, 3));
}

static tarn_tensor attention(const struct block *b, tarn_tensor x)
{
    tarn_replica *r = x.replica;
    const tarn_tensor qkv = tarn_linear_forward(&b->qkv, x);
    tarn_tensor s = tarn_matmul(part(qkv, 0), tarn_transpose(part(qkv, 1), 2, 3));
    s = tarn_mul_scalar(s, 1.0f / sqrtf((float)WIDTH / HEADS));
    const tarn_tensor at = tarn_arange(r, CONTEXT);
    const tarn_tensor past = tarn_le(at, tarn_reshape(at, TARN_SHAPE(CONTEXT, 1)));
    s = tarn_softmax(tarn_where(past, s, tarn_full(r, TARN_SCALAR, -1e9f)), 3);
    const tarn_tensor y = tarn_permute(tarn_matmul(s, part(qkv, 2)), TARN_AXES(0, 2, 1, 3));
    return tarn_linear_forward(&b->out, tarn_reshape(y, TARN_SHAPE(TEXTS, CONTEXT, WIDTH)));
}

static tarn_tensor gpt_forward(const struct gpt *n, tarn_tensor text)
{
    tarn_tensor x = tarn_add(tarn_embedding(n->words, text), n->places);
    for (int i = 0; i < LAYERS; i++) {
        const struct block *b = &n->blocks[i];
        x = tarn_add(x, attention(b, tarn_layer_norm_forward(&b->norm1, x)));
        const tarn_tensor h = tarn_linear_forward(&b->up, tarn_layer_norm_forward(&b->norm2, x));
        x = tarn_add(x, tarn_linear_forward(&b->down, tarn_gelu(h)));
    }
    x = tarn_reshape(tarn_layer_norm_forward(&n->norm, x), TARN_SHAPE(TEXTS * CONTEXT, WIDTH));
    return tarn_matmul(x, tarn_transpose(n->head, 0, 1));
}

static void train_gpt(bool tied)
{
    tarn_replica *r = open_device();
    struct gpt n;
    gpt_make(r, &n, tied);
    tarn_optimizer *o = tarn_adamw(r, (tarn_adam_options){ .lr = 1e-3f });
    for (int step = 0; step < STEPS; step++) {
        const tarn_tensor text = integers(r, TARN_SHAPE(TEXTS, CONTEXT), WORDS, TARN_I32);
        const tarn_tensor next = integers(r, TARN_SHAPE(TEXTS * CONTEXT), WORDS, TARN_I32);
        train(o, tarn_cross_entropy(gpt_forward(&n, text), next));
    }
    close_device(r);
}

static void gpt(void)
{
    train_gpt(false);
}

static void gpt_tied(void)
{
    train_gpt(true);
}

/* ---- LSTM over the rows of an image --------------------------------------------------------- */

enum { ROWS = 28, HIDDEN = 128, IMAGES = 128 };

struct lstm {
    tarn_linear input, state, head;
};

static tarn_tensor gate(tarn_tensor all, int which)
{
    return tarn_slice(all, 1, which * HIDDEN, (which + 1) * HIDDEN, 1);
}

static tarn_tensor lstm_forward(const struct lstm *n, tarn_tensor x)
{
    tarn_tensor h = tarn_zeros(x.replica, TARN_SHAPE(IMAGES, HIDDEN)), c = h;
    for (int t = 0; t < ROWS; t++) {
        const tarn_tensor row =
            tarn_reshape(tarn_slice(x, 1, t, t + 1, 1), TARN_SHAPE(IMAGES, ROWS));
        const tarn_tensor all =
            tarn_add(tarn_linear_forward(&n->input, row), tarn_linear_forward(&n->state, h));
        const tarn_tensor write = tarn_sigmoid(gate(all, 0)), stay = tarn_sigmoid(gate(all, 1));
        const tarn_tensor value = tarn_tanh(gate(all, 2)), show = tarn_sigmoid(gate(all, 3));
        c = tarn_add(tarn_mul(stay, c), tarn_mul(write, value));
        h = tarn_mul(show, tarn_tanh(c));
    }
    return tarn_linear_forward(&n->head, h);
}

static void lstm(void)
{
    tarn_replica *r = open_device();
    const struct lstm n = { tarn_linear_make(r, "input", ROWS, 4 * HIDDEN),
                            tarn_linear_make(r, "state", HIDDEN, 4 * HIDDEN),
                            tarn_linear_make(r, "head", HIDDEN, 10) };
    tarn_optimizer *o = tarn_adam(r, (tarn_adam_options){ .lr = 1e-3f });
    for (int step = 0; step < STEPS; step++) {
        const tarn_tensor y = lstm_forward(&n, numbers(r, TARN_SHAPE(IMAGES, ROWS, ROWS)));
        tarn_backward(tarn_cross_entropy(y, integers(r, TARN_SHAPE(IMAGES), 10, TARN_I32)));
        tarn_clip_grad_norm(r, 1.0f);
        tarn_optimizer_step(o);
        must(r, tarn_step(r));
    }
    close_device(r);
}

const struct program sequence_programs[] = {
    { "gpt", gpt },
    { "gpt-tied", gpt_tied },
    { "lstm", lstm },
    { 0 },
};
