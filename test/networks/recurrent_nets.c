/* SPDX-License-Identifier: Apache-2.0 */
/* Recurrent networks: an LSTM over the rows of an image, and a GRU by hand that translates. */
#include "networks.h"

/* ---- an LSTM -------------------------------------------------------------------------------- */

enum { ROWS = 7, COLUMNS = 12, HIDDEN = 24, CLASSES = 10 };

static tarn_tensor lstm_loss(const tarn_batch *b)
{
    const tarn_recurrent_options rows = { .batch_first = true };
    const tarn_lstm_result out = tarn_use_lstm(b->x, "lstm", HIDDEN, rows, NULL, NULL);
    const tarn_tensor last = tarn_select(out.y, 1, -1);
    return tarn_cross_entropy(tarn_use_linear(last, "head", CLASSES), b->y);
}

static tarn_optimizer *lstm_optimizer(tarn_replica *r)
{
    return tarn_adam(r, (tarn_adam_options){ .lr = 4e-3f });
}

/* ---- a GRU that reads a text and writes another --------------------------------------------- */

enum { WORDS = 19, WIDTH = 12, STATE = 20, SOURCE = 6, RESULT = 5 };

struct cell {
    tarn_linear input, state;
};

static struct cell cell(tarn_replica *r, const char *name, int gates, int in, int hidden)
{
    struct cell c;
    c.input.weight = tarn_parameter_kaiming(r, TARN_NAME("%s.weight_ih_l0", name),
                                            TARN_SHAPE(gates * hidden, in), hidden);
    c.state.weight = tarn_parameter_kaiming(r, TARN_NAME("%s.weight_hh_l0", name),
                                            TARN_SHAPE(gates * hidden, hidden), hidden);
    c.input.bias =
        tarn_parameter(r, TARN_NAME("%s.bias_ih_l0", name), TARN_SHAPE(gates * hidden), NULL);
    c.state.bias =
        tarn_parameter(r, TARN_NAME("%s.bias_hh_l0", name), TARN_SHAPE(gates * hidden), NULL);
    return c;
}

static tarn_tensor gate(tarn_tensor all, int which, int hidden)
{
    return tarn_slice(all, 1, which * hidden, (which + 1) * hidden, 1);
}

struct translator {
    tarn_tensor words;
    struct cell encoder, decoder;
    tarn_linear head;
    tarn_optimizer *optimizer;
};

static void translator_make(tarn_replica *r, void *model)
{
    struct translator *n = model;
    n->words = tarn_parameter_kaiming(r, "words", TARN_SHAPE(WORDS, WIDTH), WIDTH);
    n->encoder = cell(r, "encoder", 3, WIDTH, STATE);
    n->decoder = cell(r, "decoder", 3, WIDTH, STATE);
    n->head = tarn_linear_make(r, "head", STATE, WORDS);
}

static void translator_optimize(tarn_replica *r, void *model)
{
    ((struct translator *)model)->optimizer = tarn_adam(r, (tarn_adam_options){ .lr = 4e-3f });
}

static tarn_tensor gru(const struct cell *c, tarn_tensor x, tarn_tensor h)
{
    const tarn_tensor in = tarn_linear_forward(&c->input, x);
    const tarn_tensor state = tarn_linear_forward(&c->state, h);
    const tarn_tensor reset = tarn_sigmoid(tarn_add(gate(in, 0, STATE), gate(state, 0, STATE)));
    const tarn_tensor stay = tarn_sigmoid(tarn_add(gate(in, 1, STATE), gate(state, 1, STATE)));
    const tarn_tensor value =
        tarn_tanh(tarn_add(gate(in, 2, STATE), tarn_mul(reset, gate(state, 2, STATE))));
    return tarn_add(value, tarn_mul(stay, tarn_sub(h, value)));
}

/* The writer is told the words so far, beginning with word 0. */
static tarn_tensor translator_train(tarn_replica *r, void *model, const tarn_batch *b)
{
    const struct translator *n = model;
    const tarn_tensor source = tarn_embedding(n->words, b->inputs[0]);
    const tarn_tensor told = tarn_embedding(n->words, b->inputs[1]);
    tarn_tensor h = tarn_zeros(r, TARN_SHAPE(b->n, STATE)), out[RESULT];
    for (int32_t t = 0; t < SOURCE; t++)
        h = gru(&n->encoder, tarn_select(source, 1, t), h);
    for (int32_t t = 0; t < RESULT; t++) {
        h = gru(&n->decoder, tarn_select(told, 1, t), h);
        out[t] = tarn_reshape(tarn_linear_forward(&n->head, h), TARN_SHAPE(b->n, 1, WORDS));
    }
    const int32_t rows = b->n * RESULT;
    const tarn_tensor logits = tarn_reshape(tarn_concat(out, RESULT, 1), TARN_SHAPE(rows, WORDS));
    const tarn_tensor loss = tarn_cross_entropy(logits, tarn_reshape(b->y, TARN_SHAPE(rows)));
    tarn_minimize(n->optimizer, loss);
    return loss;
}

const struct network recurrent_networks[] = {
    { .name = "lstm",
      .inputs = { { 0, 2, { ROWS, COLUMNS } } },
      .targets = { { CLASSES, 0, { 0 } } },
      .loss = lstm_loss,
      .optimizer = lstm_optimizer,
      .clip = 0.5f },
    { .name = "translator",
      .inputs = { { WORDS, 1, { SOURCE } }, { WORDS, 1, { RESULT } } },
      .targets = { { WORDS, 1, { RESULT } } },
      .bytes = sizeof(struct translator),
      .make = translator_make,
      .optimize = translator_optimize,
      .train = translator_train },
    { 0 },
};
