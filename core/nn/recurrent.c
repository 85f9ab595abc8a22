/* SPDX-License-Identifier: Apache-2.0 */
/* LSTM, GRU and plain recurrent networks: layers of loops, of one direction or two. What all steps do alike with their
 * inputs is one product outside of the loop; the step itself adds what comes of the state. Beyond a sequence's end a step
 * leaves the state as it is, so the way back begins with the sequence's last step, however many come before that. */
#include <stdio.h>
#include <string.h>

#include "nn/layer.h"
#include "op/steps.h"
#include "tensor/shape.h"
#include "tensor/spread.h"

enum { LSTM_GATES = 4, GRU_GATES = 3, RNN_GATES = 1 };

/* ---- parameters ------------------------------------------------------------------------------ */

/* Those of one layer in one direction; biases TARN_NONE: none. */
struct weights {
    tarn_tensor ih, hh, bias_ih, bias_hh;
};

static struct weights weights_of(const tarn_recurrent *m, int layer, int direction)
{
    if (direction == 0)
        return (struct weights){ m->weight_ih[layer], m->weight_hh[layer], m->bias_ih[layer],
                                 m->bias_hh[layer] };
    return (struct weights){ m->weight_ih_reverse[layer], m->weight_hh_reverse[layer],
                             m->bias_ih_reverse[layer], m->bias_hh_reverse[layer] };
}

static void set_weights(tarn_recurrent *m, int layer, int direction, struct weights w)
{
    (direction == 0 ? m->weight_ih : m->weight_ih_reverse)[layer] = w.ih;
    (direction == 0 ? m->weight_hh : m->weight_hh_reverse)[layer] = w.hh;
    (direction == 0 ? m->bias_ih : m->bias_ih_reverse)[layer] = w.bias_ih;
    (direction == 0 ? m->bias_hh : m->bias_hh_reverse)[layer] = w.bias_hh;
}

static int directions_of(const tarn_recurrent *m)
{
    return m->options.bidirectional ? 2 : 1;
}

struct maker {
    tarn_replica *r;
    const char *name;
    int layer, direction, hidden;
};

static tarn_tensor weight(const struct maker *k, const char *part, tarn_shape shape)
{
    char full[32];
    snprintf(full, sizeof full, "%s_l%d%s", part, k->layer, k->direction == 0 ? "" : "_reverse");
    return layer_parameter(k->r, k->name, full, shape, k->hidden);
}

static struct weights make_weights(const struct maker *k, int in, int rows, bool no_bias)
{
    struct weights w = { .bias_ih = TARN_NONE, .bias_hh = TARN_NONE };
    w.ih = weight(k, "weight_ih", TARN_SHAPE(rows, in));
    w.hh = weight(k, "weight_hh", TARN_SHAPE(rows, k->hidden));
    if (no_bias)
        return w;
    w.bias_ih = weight(k, "bias_ih", TARN_SHAPE(rows));
    w.bias_hh = weight(k, "bias_hh", TARN_SHAPE(rows));
    return w;
}

static bool options_fit(tarn_replica *r, const char *kind, const char *name, int hidden, int gates,
                        const tarn_recurrent_options *o)
{
    if (o->layers < 1 || o->layers > TARN_RECURRENT_LAYERS)
        graph_fail(r, TARN_ERR_ARGUMENT, "%s %s: %d layers; 1 to %d are possible", kind, name,
                   o->layers, TARN_RECURRENT_LAYERS);
    else if (o->relu && gates != RNN_GATES)
        graph_fail(r, TARN_ERR_ARGUMENT, "%s %s: the option relu is one of rnn alone", kind, name);
    else if (hidden > INT32_MAX / (2 * gates))
        graph_fail(r, TARN_ERR_SHAPE, "%s %s: %d hidden features are too many", kind, name, hidden);
    else
        return true;
    return false;
}

/* PyTorch's names and order: of each layer, and of each direction in it, weight_ih, weight_hh, bias_ih, bias_hh. */
static tarn_recurrent make(tarn_replica *r, const char *kind, const char *name, int input,
                           int hidden, int gates, tarn_recurrent_options options)
{
    tarn_recurrent m = { .input = input, .hidden = hidden, .options = options };
    const tarn_tensor poison = graph_poison(r);
    if (m.options.layers == 0)
        m.options.layers = 1;
    for (int l = 0; l < TARN_RECURRENT_LAYERS; l++)
        for (int d = 0; d < 2; d++)
            set_weights(&m, l, d, (struct weights){ poison, poison, poison, poison });
    if (!layer_check(r, kind, name, input, hidden) ||
        !options_fit(r, kind, name, hidden, gates, &m.options))
        return m;
    for (int l = 0; l < m.options.layers; l++)
        for (int d = 0; d < directions_of(&m); d++) {
            const struct maker k = { r, name, l, d, hidden };
            const int in = l == 0 ? input : hidden * directions_of(&m);
            set_weights(&m, l, d, make_weights(&k, in, gates * hidden, options.no_bias));
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

tarn_rnn tarn_rnn_make(tarn_replica *r, const char *name, int input, int hidden,
                       tarn_recurrent_options options)
{
    return (tarn_rnn){ make(r, "rnn", name, input, hidden, RNN_GATES, options) };
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* What a step uses from outside. Of a half type are what comes in and what goes on. */
struct cell {
    tarn_scan_fn step; /* what sequences with an end do before it */
    int states;
    tarn_tensor weight, bias; /* [gates * H, H]; TARN_NONE: no bias */
    int hidden;
    bool relu;
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

/* Carries h. */
static void rnn_step(const tarn_tensor *carry, const tarn_tensor *x, tarn_tensor *next,
                     tarn_tensor *y, void *user)
{
    const struct cell *c = user;
    const tarn_tensor sum = tarn_add(wide(c, x[0]), product(c, carry[0]));
    next[0] = tarn_cast(c->relu ? tarn_relu(sum) : tarn_tanh(sum), c->type);
    y[0] = next[0];
}

/* One of these where x[1] says that the sequence goes on; else nothing changes, and 0 is put out. */
static void step_before_end(const tarn_tensor *carry, const tarn_tensor *x, tarn_tensor *next,
                            tarn_tensor *y, void *user)
{
    const struct cell *c = user;
    c->step(carry, x, next, y, user);
    y[0] = tarn_where(x[1], y[0], tarn_zeros_like(y[0]));
    for (int i = 0; i < c->states; i++)
        next[i] = tarn_where(x[1], next[i], carry[i]);
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
static const struct kind rnn_kind = { "rnn", RNN_GATES, 1, rnn_step, true };

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
    const tarn_shape want =
        TARN_SHAPE(m->options.layers * directions_of(m), s.dim[samples], m->hidden);
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

/* Checks how long sequences of x are, or that nothing says it; false after recording an error. */
static bool lengths_fit(const struct kind *k, const tarn_recurrent *m, tarn_tensor x,
                        tarn_tensor lengths)
{
    if (lengths.replica == NULL)
        return true;
    if (!graph_operand(x.replica, lengths, k->name, 1 + k->states))
        return false;
    const tarn_shape s = tarn_shape_get(lengths);
    const int32_t samples = tarn_shape_get(x).dim[m->options.batch_first ? 0 : 1];
    if (s.rank == 1 && s.dim[0] == samples && !dtype_is_float(tarn_dtype_get(lengths)))
        return true;
    graph_fail(x.replica, TARN_ERR_SHAPE,
               "%s: lengths are %s %s, must be of whole numbers, [%d], one for each sample of x %s",
               k->name, tarn_dtype_name(tarn_dtype_get(lengths)), shape_text(s), samples,
               shape_text(tarn_shape_get(x)));
    return false;
}

/* Whether a step of x is before its sequence's end: uint8 of x's shape, but for one feature. */
static tarn_tensor steps_before_end(tarn_tensor x, tarn_tensor lengths, int axis)
{
    tarn_shape step = TARN_SHAPE(1, 1, 1), sample = step;
    step.dim[axis] = tarn_shape_get(x).dim[axis];
    sample.dim[1 - axis] = tarn_shape_get(x).dim[1 - axis];
    return tarn_lt(op_iota_of(x.replica, step, axis), tarn_reshape(lengths, sample));
}

/* Whether anything that a layer's gates are made of is of float64. */
static bool is_double(const struct weights *w, tarn_tensor x, const tarn_tensor *states, int count)
{
    bool is = tarn_dtype_get(x) == TARN_F64;
    const tarn_tensor of[] = { w->ih, w->hh, w->bias_ih, w->bias_hh };
    for (int i = 0; i < 4; i++)
        is |= of[i].replica != NULL && tarn_dtype_get(of[i]) == TARN_F64;
    for (int i = 0; states != NULL && i < count; i++)
        is |= tarn_dtype_get(states[i]) == TARN_F64;
    return is;
}

/* The first state of a layer in one direction: of all [count, N, H] its own [N, H], or zeros. */
static tarn_tensor state_of(const tarn_recurrent *m, tarn_replica *r, const tarn_tensor *states,
                            int i, int number, int samples, tarn_dtype dtype)
{
    const tarn_shape shape = TARN_SHAPE(samples, m->hidden);
    const tarn_tensor of =
        states == NULL ? op_constant_of(r, shape, dtype_single(dtype), 0)
                       : tarn_reshape(tarn_slice(states[i], 0, number, number + 1, 1), shape);
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

/* What runs: layers of a kind over samples whose steps lie along `axis`. */
struct run {
    const struct kind *k;
    const tarn_recurrent *m;
    const tarn_tensor *states; /* first ones; NULL: zeros */
    int samples, axis;
    tarn_tensor before_end; /* uint8, one for each step of each sample; or TARN_NONE: all are */
};

/* Runs one layer over all steps in one direction; `last` gets its states. */
static tarn_tensor run_direction(const struct run *n, int layer, int direction, tarn_tensor x,
                                 tarn_tensor *last)
{
    const struct kind *k = n->k;
    const tarn_recurrent *m = n->m;
    tarn_replica *r = x.replica;
    const struct weights w = weights_of(m, layer, direction);
    const tarn_dtype type = is_double(&w, x, n->states, k->states) ? TARN_F64 : r->autocast;
    tarn_tensor first[2], y;
    const int number = layer * directions_of(m) + direction;
    for (int i = 0; i < k->states; i++)
        first[i] = state_of(m, r, n->states, i, number, n->samples, type);
    const bool biased = w.bias_ih.replica != NULL;
    const bool ends = n->before_end.replica != NULL;
    struct cell cell = { .step = k->step,
                         .states = k->states,
                         .weight = TARN_NONE,
                         .bias = TARN_NONE,
                         .hidden = m->hidden,
                         .relu = m->options.relu,
                         .type = type,
                         .computed = dtype_single(type) };
    cell.weight = wide(&cell, op_low(w.hh));
    if (biased && !k->bias_outside)
        cell.bias = wide(&cell, op_low(w.bias_hh));
    const tarn_tensor both = biased && k->bias_outside ? tarn_add(w.bias_ih, w.bias_hh) : w.bias_ih;
    const tarn_tensor in[] = { gates_of(x, w.ih, both), n->before_end };
    const tarn_scan_args args = { .body = ends ? step_before_end : k->step,
                                  .user = &cell,
                                  .carry = first,
                                  .carries = k->states,
                                  .x = in,
                                  .xs = 1 + ends,
                                  .ys = 1,
                                  .keep = m->options.keep,
                                  .recompute = m->options.recompute,
                                  .axis = n->axis,
                                  .reversed = direction == 1 };
    tarn_scan(r, &args, last, &y);
    return y;
}

static void forward(const struct kind *k, const tarn_recurrent *m, tarn_tensor x,
                    const tarn_tensor *states, tarn_tensor lengths, tarn_tensor *y,
                    tarn_tensor *out)
{
    tarn_replica *r = x.replica;
    *y = out[0] = out[1] = graph_poison(r);
    if (!check(k, m, x, states) || !lengths_fit(k, m, x, lengths))
        return;
    const int samples = tarn_shape_get(x).dim[m->options.batch_first ? 0 : 1];
    /* Loops read steps that lie together, and what comes in is narrower than the gates that are made of it. */
    const bool turned = m->options.batch_first && !has_shards(r);
    struct run run = { k, m, states, samples, m->options.batch_first && !turned, TARN_NONE };
    if (turned)
        x = op_steps_of(x, true);
    if (lengths.replica !=
        NULL) { /* what is beyond the end may be NaN, of which a gradient of 0 makes NaN */
        run.before_end = steps_before_end(x, lengths, run.axis);
        x = tarn_where(run.before_end, x, tarn_zeros_like(x));
    }
    tarn_tensor last[2][2 * TARN_RECURRENT_LAYERS];
    int count = 0; /* of states, of one kind */
    for (int l = 0; l < m->options.layers; l++) {
        tarn_tensor after[2], part[2];
        for (int d = 0; d < directions_of(m); d++, count++) {
            part[d] = run_direction(&run, l, d, x, after);
            for (int i = 0; i < k->states; i++)
                last[i][count] = tarn_reshape(after[i], TARN_SHAPE(1, samples, m->hidden));
        }
        x = tarn_concat(part, directions_of(m), 2);
        if (l + 1 < m->options.layers && m->options.dropout > 0)
            x = tarn_dropout(x, m->options.dropout);
    }
    *y = turned ? op_steps_of(x, false) : x;
    for (int i = 0; i < k->states; i++)
        out[i] = tarn_concat(last[i], count, 0);
}

/* Of a kind with one state. */
static void forward_one(const struct kind *k, const tarn_recurrent *m, tarn_tensor x,
                        const tarn_tensor *first, tarn_tensor lengths, tarn_tensor *y,
                        tarn_tensor *h)
{
    tarn_tensor out[2];
    if (m == NULL)
        *y = out[0] = graph_fail(x.replica, TARN_ERR_ARGUMENT, "%s: the layer is NULL", k->name);
    else
        forward(k, m, x, first, lengths, y, out);
    *h = out[0];
}

static const tarn_tensor *given(const tarn_tensor *state)
{
    return state->replica != NULL ? state : NULL;
}

/* ---- LSTM ------------------------------------------------------------------------------------ */

static tarn_lstm_result lstm_forward(const tarn_lstm *layer, tarn_tensor x, const tarn_tensor *h,
                                     const tarn_tensor *c, tarn_tensor lengths)
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
    forward(&lstm_kind, &layer->of, x, h != NULL ? first : NULL, lengths, &result.y, out);
    result.h = out[0];
    result.c = out[1];
    return result;
}

tarn_lstm_result tarn_lstm_forward(const tarn_lstm *layer, tarn_tensor x, const tarn_tensor *h,
                                   const tarn_tensor *c)
{
    return lstm_forward(layer, x, h, c, TARN_NONE);
}

tarn_lstm_result tarn_lstm_forward_with(const tarn_lstm *layer, tarn_tensor x,
                                        tarn_recurrent_inputs inputs)
{
    return lstm_forward(layer, x, given(&inputs.h), given(&inputs.c), inputs.lengths);
}

/* ---- GRU and RNN ----------------------------------------------------------------------------- */

/* What only an LSTM has, is refused of others. */
static bool has_no_cell(const struct kind *k, tarn_tensor x, tarn_recurrent_inputs inputs)
{
    if (inputs.c.replica == NULL)
        return true;
    graph_fail(x.replica, TARN_ERR_ARGUMENT,
               "%s: the first state c is one of lstm alone: leave it out", k->name);
    return false;
}

tarn_gru_result tarn_gru_forward(const tarn_gru *layer, tarn_tensor x, const tarn_tensor *h)
{
    tarn_gru_result result = { TARN_NONE, TARN_NONE };
    forward_one(&gru_kind, layer != NULL ? &layer->of : NULL, x, h, TARN_NONE, &result.y,
                &result.h);
    return result;
}

tarn_gru_result tarn_gru_forward_with(const tarn_gru *layer, tarn_tensor x,
                                      tarn_recurrent_inputs inputs)
{
    tarn_gru_result result = { graph_poison(x.replica), graph_poison(x.replica) };
    if (has_no_cell(&gru_kind, x, inputs))
        forward_one(&gru_kind, layer != NULL ? &layer->of : NULL, x, given(&inputs.h),
                    inputs.lengths, &result.y, &result.h);
    return result;
}

tarn_rnn_result tarn_rnn_forward(const tarn_rnn *layer, tarn_tensor x, const tarn_tensor *h)
{
    tarn_rnn_result result = { TARN_NONE, TARN_NONE };
    forward_one(&rnn_kind, layer != NULL ? &layer->of : NULL, x, h, TARN_NONE, &result.y,
                &result.h);
    return result;
}

tarn_rnn_result tarn_rnn_forward_with(const tarn_rnn *layer, tarn_tensor x,
                                      tarn_recurrent_inputs inputs)
{
    tarn_rnn_result result = { graph_poison(x.replica), graph_poison(x.replica) };
    if (has_no_cell(&rnn_kind, x, inputs))
        forward_one(&rnn_kind, layer != NULL ? &layer->of : NULL, x, given(&inputs.h),
                    inputs.lengths, &result.y, &result.h);
    return result;
}
