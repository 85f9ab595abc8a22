/* SPDX-License-Identifier: Apache-2.0 */
/* Recurrent networks: an LSTM over the rows of an image, and a GRU that translates. */
#include "networks.h"

/* ---- an LSTM -------------------------------------------------------------------------------- */

enum { ROWS = 7, COLUMNS = 12, HIDDEN = 24, CLASSES = 10 };

struct cell {
    tarn_linear input, state;
};

static struct cell cell(tarn_replica *r, const char *name, int gates, int in, int hidden)
{
    struct cell c;
    c.input.weight = tarn_parameter_kaiming(r, network_name(name, "weight_ih_l0"),
                                            TARN_SHAPE(gates * hidden, in), hidden);
    c.state.weight = tarn_parameter_kaiming(r, network_name(name, "weight_hh_l0"),
                                            TARN_SHAPE(gates * hidden, hidden), hidden);
    c.input.bias =
        tarn_parameter(r, network_name(name, "bias_ih_l0"), TARN_SHAPE(gates * hidden), NULL);
    c.state.bias =
        tarn_parameter(r, network_name(name, "bias_hh_l0"), TARN_SHAPE(gates * hidden), NULL);
    return c;
}

static tarn_tensor gate(tarn_tensor all, int which, int hidden)
{
    return tarn_slice(all, 1, which * hidden, (which + 1) * hidden, 1);
}

/* Step t of [N, T, C]: [N, C]. */
static tarn_tensor at_step(tarn_tensor x, int32_t t)
{
    const int32_t *d = tarn_shape_get(x).dim;
    return tarn_reshape(tarn_slice(x, 1, t, t + 1, 1), TARN_SHAPE(d[0], d[2]));
}

struct lstm {
    struct cell cell;
    tarn_linear head;
    tarn_optimizer *optimizer;
};

static void lstm_make(tarn_replica *r, void *model)
{
    struct lstm *n = model;
    n->cell = cell(r, "lstm", 4, COLUMNS, HIDDEN);
    n->head = tarn_linear_make(r, "head", HIDDEN, CLASSES);
}

static void lstm_optimize(tarn_replica *r, void *model)
{
    ((struct lstm *)model)->optimizer = tarn_adam(r, (tarn_adam_options){ .lr = 4e-3f });
}

static tarn_tensor lstm_train(tarn_replica *r, void *model, const tarn_batch *b)
{
    const struct lstm *n = model;
    tarn_tensor h = tarn_zeros(r, TARN_SHAPE(b->n, HIDDEN)), c = h;
    for (int32_t t = 0; t < ROWS; t++) {
        const tarn_tensor all = tarn_add(tarn_linear_forward(&n->cell.input, at_step(b->x, t)),
                                         tarn_linear_forward(&n->cell.state, h));
        const tarn_tensor write = tarn_sigmoid(gate(all, 0, HIDDEN));
        const tarn_tensor stay = tarn_sigmoid(gate(all, 1, HIDDEN));
        const tarn_tensor value = tarn_tanh(gate(all, 2, HIDDEN));
        c = tarn_add(tarn_mul(stay, c), tarn_mul(write, value));
        h = tarn_mul(tarn_sigmoid(gate(all, 3, HIDDEN)), tarn_tanh(c));
    }
    const tarn_tensor loss = tarn_cross_entropy(tarn_linear_forward(&n->head, h), b->y);
    tarn_backward(loss);
    tarn_clip_grad_norm(r, 0.5f);
    tarn_optimizer_step(n->optimizer);
    return loss;
}

/* ---- a GRU that reads a text and writes another --------------------------------------------- */

enum { WORDS = 19, WIDTH = 12, STATE = 20, SOURCE = 6, RESULT = 5 };

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
        h = gru(&n->encoder, at_step(source, t), h);
    for (int32_t t = 0; t < RESULT; t++) {
        h = gru(&n->decoder, at_step(told, t), h);
        out[t] = tarn_reshape(tarn_linear_forward(&n->head, h), TARN_SHAPE(b->n, 1, WORDS));
    }
    const int32_t rows = b->n * RESULT;
    const tarn_tensor logits = tarn_reshape(tarn_concat(out, RESULT, 1), TARN_SHAPE(rows, WORDS));
    return network_step(n->optimizer,
                        tarn_cross_entropy(logits, tarn_reshape(b->y, TARN_SHAPE(rows))));
}

const struct network recurrent_networks[] = {
    { .name = "lstm",
      .inputs = { { 0, 2, { ROWS, COLUMNS } } },
      .targets = { { CLASSES, 0, { 0 } } },
      .bytes = sizeof(struct lstm),
      .make = lstm_make,
      .optimize = lstm_optimize,
      .train = lstm_train },
    { .name = "translator",
      .inputs = { { WORDS, 1, { SOURCE } }, { WORDS, 1, { RESULT } } },
      .targets = { { WORDS, 1, { RESULT } } },
      .bytes = sizeof(struct translator),
      .make = translator_make,
      .optimize = translator_optimize,
      .train = translator_train },
    { 0 },
};
