/* SPDX-License-Identifier: Apache-2.0 */
/* LSTM and GRU: layers of loops. What all steps do alike with their inputs is one product outside of the
 * loop; the step itself adds what comes of the state. */
#include <stdio.h>
#include <string.h>

#include "nn/layer.h"
#include "op/steps.h"
#include "tensor/shape.h"
#include "tensor/spread.h"

enum { LSTM_GATES = 4, GRU_GATES = 3 };

/* ---- parameters ------------------------------------------------------------------------------ */

static tarn_tensor weight(tarn_replica *r, const char *name, const char *part, int layer,
                          tarn_shape shape, int hidden)
{
    char full[32];
    snprintf(full, sizeof full, "%s_l%d", part, layer);
    return layer_parameter(r, name, full, shape, hidden);
}

/* PyTorch's names and order: of each layer weight_ih, weight_hh, bias_ih, bias_hh. */
static tarn_recurrent make(tarn_replica *r, const char *kind, const char *name, int input,
                           int hidden, int gates, tarn_recurrent_options options)
{
    tarn_recurrent m = { .input = input, .hidden = hidden, .options = options };
    const tarn_tensor poison = graph_poison(r);
    if (m.options.layers == 0)
        m.options.layers = 1;
    for (int l = 0; l < TARN_RECURRENT_LAYERS; l++)
        m.weight_ih[l] = m.weight_hh[l] = m.bias_ih[l] = m.bias_hh[l] = poison;
    if (!layer_check(r, kind, name, input, hidden))
        return m;
    if (m.options.layers < 1 || m.options.layers > TARN_RECURRENT_LAYERS) {
        graph_fail(r, TARN_ERR_ARGUMENT, "%s %s: %d layers; 1 to %d are possible", kind, name,
                   m.options.layers, TARN_RECURRENT_LAYERS);
        return m;
    }
    const int rows = gates * hidden;
    for (int l = 0; l < m.options.layers; l++) {
        const int in = l == 0 ? input : hidden;
        m.weight_ih[l] = weight(r, name, "weight_ih", l, TARN_SHAPE(rows, in), hidden);
        m.weight_hh[l] = weight(r, name, "weight_hh", l, TARN_SHAPE(rows, hidden), hidden);
        m.bias_ih[l] = m.bias_hh[l] = TARN_NONE;
        if (options.no_bias)
            continue;
        m.bias_ih[l] = weight(r, name, "bias_ih", l, TARN_SHAPE(rows), hidden);
        m.bias_hh[l] = weight(r, name, "bias_hh", l, TARN_SHAPE(rows), hidden);
    }
    return m;
}

tarn_lstm tarn_lstm_make(tarn_replica *r, const char *name, int input, int hidden,
                         tarn_recurrent_options options)
{
    return (tarn_lstm){ make(r, "lstm", name, input, hidden, LSTM_GATES, options) };
}

tarn_gru tarn_gru_make(tarn_replica *r, const char *name, int input, int hidden,
                       tarn_recurrent_options options)
{
    return (tarn_gru){ make(r, "gru", name, input, hidden, GRU_GATES, options) };
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* What a step uses from outside. Of a half type are what comes in and what goes on. */
struct cell {
    tarn_tensor weight, bias; /* [gates * H, H]; TARN_NONE: no bias */
    int hidden;
    tarn_dtype type;     /* of states */
    tarn_dtype computed; /* what a step computes in: float64 where anything is, else float32 */
};

static tarn_tensor wide(const struct cell *c, tarn_tensor x)
{
    return tarn_cast(x, c->computed);
}

static tarn_tensor product(const struct cell *c, tarn_tensor state)
{
    return op_product_of(wide(c, state), tarn_transpose(c->weight, 0, 1));
}

static tarn_tensor gate(const struct cell *c, tarn_tensor gates, int i)
{
    return tarn_slice(gates, 1, i * c->hidden, (i + 1) * c->hidden, 1);
}

/* Carries h and c; gates i, f, g, o. */
static void lstm_step(const tarn_tensor *carry, const tarn_tensor *x, tarn_tensor *next,
                      tarn_tensor *y, void *user)
{
    const struct cell *c = user;
    const tarn_tensor gates = tarn_add(wide(c, x[0]), product(c, carry[0]));
    const tarn_tensor kept = tarn_mul(tarn_sigmoid(gate(c, gates, 1)), wide(c, carry[1]));
    const tarn_tensor added =
        tarn_mul(tarn_sigmoid(gate(c, gates, 0)), tarn_tanh(gate(c, gates, 2)));
    const tarn_tensor sum = tarn_add(kept, added);
    next[1] = tarn_cast(sum, c->type);
    next[0] = tarn_cast(tarn_mul(tarn_sigmoid(gate(c, gates, 3)), tarn_tanh(sum)), c->type);
    y[0] = next[0];
}

/* Carry h; gates r, z, n. */
static void gru_step(const tarn_tensor *carry, const tarn_tensor *x, tarn_tensor *next,
                     tarn_tensor *y, void *user)
{
    const struct cell *c = user;
    const tarn_tensor old = wide(c, carry[0]), in = wide(c, x[0]);
    tarn_tensor of_state = product(c, old);
    if (c->bias.replica != NULL)
        of_state = tarn_add(of_state, c->bias);
    const tarn_tensor reset = tarn_sigmoid(tarn_add(gate(c, in, 0), gate(c, of_state, 0)));
    const tarn_tensor keep = tarn_sigmoid(tarn_add(gate(c, in, 1), gate(c, of_state, 1)));
    const tarn_tensor fresh =
        tarn_tanh(tarn_add(gate(c, in, 2), tarn_mul(reset, gate(c, of_state, 2))));
    next[0] = tarn_cast(tarn_add(tarn_mul(tarn_sub(old, fresh), keep), fresh), c->type);
    y[0] = next[0];
}

/* ---- layers ---------------------------------------------------------------------------------- */

struct kind {
    const char *name;
    int gates, states;
    tarn_scan_fn step;
    bool bias_outside; /* both biases are added outside of the loop */
};
static const struct kind lstm_kind = { "lstm", LSTM_GATES, 2, lstm_step, true };
static const struct kind gru_kind = { "gru", GRU_GATES, 1, gru_step, false };

/* Checks x and the states; false after recording an error. */
static bool check(const struct kind *k, const tarn_recurrent *m, tarn_tensor x,
                  const tarn_tensor *states)
{
    tarn_replica *r = x.replica;
    if (!graph_operand(NULL, x, k->name, 0))
        return false;
    const tarn_shape s = tarn_shape_get(x);
    const int samples = m->options.batch_first ? 0 : 1;
    if (s.rank != 3 || s.dim[2] != m->input || s.dim[0] < 1 || s.dim[1] < 1 ||
        !dtype_is_float(tarn_dtype_get(x))) {
        graph_fail(r, TARN_ERR_SHAPE, "%s: x is %s %s, must be of a float type, [%s, %d]", k->name,
                   tarn_dtype_name(tarn_dtype_get(x)), shape_text(s),
                   samples == 0 ? "samples, steps" : "steps, samples", m->input);
        return false;
    }
    const tarn_shape want = TARN_SHAPE(m->options.layers, s.dim[samples], m->hidden);
    for (int i = 0; states != NULL && i < k->states; i++) {
        if (!graph_operand(r, states[i], k->name, 1 + i))
            return false;
        if (!shape_equal(tarn_shape_get(states[i]), want)) {
            graph_fail(r, TARN_ERR_SHAPE, "%s: the first state is %s, must be %s", k->name,
                       shape_text(tarn_shape_get(states[i])), shape_text(want));
            return false;
        }
    }
    return true;
}

/* Whether anything that a layer's gates are made of is of float64. */
static bool is_double(const tarn_recurrent *m, int layer, tarn_tensor x, const tarn_tensor *states,
                      int count)
{
    bool is = tarn_dtype_get(x) == TARN_F64;
    const tarn_tensor of[] = { m->weight_ih[layer], m->weight_hh[layer], m->bias_ih[layer],
                               m->bias_hh[layer] };
    for (int i = 0; i < 4; i++)
        is |= of[i].replica != NULL && tarn_dtype_get(of[i]) == TARN_F64;
    for (int i = 0; states != NULL && i < count; i++)
        is |= tarn_dtype_get(states[i]) == TARN_F64;
    return is;
}

/* One layer's state: of all layers' [layers, N, H] its own [N, H], or zeros. */
static tarn_tensor state_of(const tarn_recurrent *m, tarn_replica *r, const tarn_tensor *states,
                            int i, int layer, int samples, tarn_dtype dtype)
{
    const tarn_shape shape = TARN_SHAPE(samples, m->hidden);
    const tarn_tensor of = states == NULL
                               ? op_constant_of(r, shape, dtype_single(dtype), 0)
                               : tarn_reshape(tarn_slice(states[i], 0, layer, layer + 1, 1), shape);
    return tarn_cast(of, dtype);
}

/* What comes of the inputs of all steps. On one device it is a product of rows, which its bias joins; a mesh may cut
 * either axis of them, so there they stay apart. */
static tarn_tensor gates_of(tarn_tensor x, tarn_tensor weight, tarn_tensor bias)
{
    const tarn_replica *r = x.replica;
    const tarn_shape s = tarn_shape_get(x), w = tarn_shape_get(weight);
    const bool rows = !has_shards(r) && replica_mesh(r) == NULL && !tarn_failed(x);
    tarn_dtype of, with, also;
    x = op_wide(op_low(x), &of);
    weight = op_wide(op_low(weight), &with);
    if (rows)
        x = tarn_reshape(x, TARN_SHAPE(s.dim[0] * s.dim[1], s.dim[2]));
    x = op_product_of(x, tarn_transpose(weight, 0, 1));
    if (bias.replica != NULL)
        x = tarn_add(x, op_wide(op_low(bias), &also));
    x = op_as(x, op_join_floats(of, with));
    return rows ? tarn_reshape(x, TARN_SHAPE(s.dim[0], s.dim[1], w.dim[0])) : x;
}

/* Runs one layer over all steps, along `axis`; `last` gets its states. */
static tarn_tensor run_layer(const struct kind *k, const tarn_recurrent *m, int layer,
                             tarn_tensor x, int axis, const tarn_tensor *first, tarn_tensor *last)
{
    const bool biased = m->bias_ih[layer].replica != NULL;
    struct cell cell = { .weight = TARN_NONE,
                         .bias = TARN_NONE,
                         .hidden = m->hidden,
                         .type = tarn_dtype_get(first[0]),
                         .computed = dtype_single(tarn_dtype_get(first[0])) };
    cell.weight = wide(&cell, op_low(m->weight_hh[layer]));
    if (biased && !k->bias_outside)
        cell.bias = wide(&cell, op_low(m->bias_hh[layer]));
    const tarn_tensor both = biased && k->bias_outside
                                 ? tarn_add(m->bias_ih[layer], m->bias_hh[layer])
                                 : m->bias_ih[layer];
    const tarn_tensor gates = gates_of(x, m->weight_ih[layer], both);
    tarn_tensor y;
    const tarn_scan_args args = { .body = k->step,
                                  .user = &cell,
                                  .carry = first,
                                  .carries = k->states,
                                  .x = &gates,
                                  .xs = 1,
                                  .ys = 1,
                                  .keep = m->options.keep,
                                  .recompute = m->options.recompute,
                                  .axis = axis };
    tarn_scan(x.replica, &args, last, &y);
    return y;
}

static void forward(const struct kind *k, const tarn_recurrent *m, tarn_tensor x,
                    const tarn_tensor *states, tarn_tensor *y, tarn_tensor *out)
{
    tarn_replica *r = x.replica;
    *y = out[0] = out[1] = graph_poison(r);
    if (!check(k, m, x, states))
        return;
    const int samples = tarn_shape_get(x).dim[m->options.batch_first ? 0 : 1];
    /* Loops read steps that lie together, and what comes in is narrower than the gates that are made of it. */
    const bool turned = m->options.batch_first && !has_shards(r);
    const int axis = m->options.batch_first && !turned;
    if (turned)
        x = op_steps_of(x, true);
    tarn_tensor last[2][TARN_RECURRENT_LAYERS];
    for (int l = 0; l < m->options.layers; l++) {
        tarn_tensor first[2], after[2];
        const tarn_dtype type = is_double(m, l, x, states, k->states) ? TARN_F64 : r->autocast;
        for (int i = 0; i < k->states; i++)
            first[i] = state_of(m, r, states, i, l, samples, type);
        x = run_layer(k, m, l, x, axis, first, after);
        for (int i = 0; i < k->states; i++)
            last[i][l] = tarn_reshape(after[i], TARN_SHAPE(1, samples, m->hidden));
        if (l + 1 < m->options.layers && m->options.dropout > 0)
            x = tarn_dropout(x, m->options.dropout);
    }
    *y = turned ? op_steps_of(x, false) : x;
    for (int i = 0; i < k->states; i++)
        out[i] = m->options.layers == 1 ? last[i][0] : tarn_concat(last[i], m->options.layers, 0);
}

tarn_lstm_result tarn_lstm_forward(const tarn_lstm *layer, tarn_tensor x, const tarn_tensor *h,
                                   const tarn_tensor *c)
{
    tarn_lstm_result result = { TARN_NONE, TARN_NONE, TARN_NONE };
    tarn_tensor out[2], first[2];
    if (layer == NULL || (h == NULL) != (c == NULL)) {
        result.y = result.h = result.c =
            graph_fail(x.replica, TARN_ERR_ARGUMENT, "lstm: %s",
                       layer == NULL ? "the layer is NULL"
                                     : "one of the first states is NULL: give both or none");
        return result;
    }
    if (h != NULL) {
        first[0] = *h;
        first[1] = *c;
    }
    forward(&lstm_kind, &layer->of, x, h != NULL ? first : NULL, &result.y, out);
    result.h = out[0];
    result.c = out[1];
    return result;
}

tarn_gru_result tarn_gru_forward(const tarn_gru *layer, tarn_tensor x, const tarn_tensor *h)
{
    tarn_gru_result result = { TARN_NONE, TARN_NONE };
    tarn_tensor out[2];
    if (layer == NULL) {
        result.y = result.h = graph_fail(x.replica, TARN_ERR_ARGUMENT, "gru: the layer is NULL");
        return result;
    }
    forward(&gru_kind, &layer->of, x, h, &result.y, out);
    result.h = out[0];
    return result;
}
