/* SPDX-License-Identifier: Apache-2.0 */
/* LSTM, GRU and RNN against stored results of PyTorch: outputs, last states and all gradients; their names; and what
 * they keep for gradients. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "golden.h"

TestSuite(recurrent, .timeout = 900);

enum { INPUT = 5, HIDDEN = 6, STEPS = 7, MOST = 1 << 12 };

enum kind { OF_LSTM, OF_GRU, OF_RNN };

struct layer {
    const char *name;
    enum kind kind;
    tarn_recurrent_options options;
};

/* Roundings one after the other: of each step sums over inputs and state, both of them again in the
 * gradient, and 40 for what functions may be off (5 ULP each) and other maps. Nothing stretches them: a
 * slope of a gate is at most 1/4, and a row of a matrix adds up to at most 6 / sqrt(6), of those of an RNN, which are a
 * fifth of that, to less than 1. */
static double tolerance(const struct layer *l)
{
    const int layers = l->options.layers > 0 ? l->options.layers : 1;
    const int inputs = l->options.bidirectional ? 2 * HIDDEN : INPUT;
    const double n = 2.0 * layers * STEPS * (inputs + HIDDEN + 40), u = n * 0x1p-24;
    return u / (1 - u);
}

static void compare(const struct golden *g, const struct layer *l, const char *name, tarn_tensor t)
{
    static float got[MOST];
    const struct golden_tensor want = golden_find(g, "%s.%s", l->name, name);
    cr_assert_not_null(want.data, "%s.%s", l->name, name);
    cr_assert_leq(want.count, MOST);
    cr_assert_eq(tarn_shape_count(tarn_shape_get(t)), (int64_t)want.count, "%s.%s: %s", l->name,
                 name, tarn_error(t.replica));
    cr_assert_eq(tarn_read(t, got, want.count * sizeof *got), TARN_OK, "%s.%s: %s", l->name, name,
                 tarn_error(t.replica));
    double most = 0, largest = 0;
    for (size_t i = 0; i < want.count; i++) {
        const double w = (double)((const float *)want.data)[i], d = fabs((double)got[i] - w);
        most = d > most ? d : most;
        largest = fabs(w) > largest ? fabs(w) : largest;
    }
    cr_expect(most <= tolerance(l) * largest, "%s.%s differs by %g of %g", l->name, name, most,
              largest);
}

static tarn_tensor stored(tarn_replica *r, const struct golden *g, const struct layer *l,
                          const char *name)
{
    const struct golden_tensor t = golden_find(g, "%s.%s", l->name, name);
    cr_assert_not_null(t.data, "%s.%s", l->name, name);
    return tarn_from(r, t.shape, TARN_F32, t.data);
}

/* Gives the layer the stored weights; lists its parameters and their names. */
static int take_weights(tarn_replica *r, const struct golden *g, const struct layer *l,
                        tarn_tensor *parameters, char names[][40])
{
    int count = 0;
    for (int i = 0; i < tarn_owned_count(r); i++) {
        const char *name = tarn_owned_name(r, i);
        snprintf(names[count], sizeof names[count], "%s", name + sizeof "net." - 1);
        parameters[count] = tarn_find(r, name);
        tarn_assign(parameters[count], stored(r, g, l, names[count]));
        count++;
    }
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    return count;
}

/* h and c; those of what has one state both h. */
static tarn_tensor run(const struct layer *l, const void *net, tarn_tensor x,
                       tarn_recurrent_inputs in, tarn_tensor *last)
{
    const bool ends = in.lengths.replica != NULL;
    if (l->kind == OF_GRU) {
        const tarn_gru_result out =
            ends ? tarn_gru_forward_with(net, x, in) : tarn_gru_forward(net, x, &in.h);
        last[0] = last[1] = out.h;
        return out.y;
    }
    if (l->kind == OF_RNN) {
        const tarn_rnn_result out =
            ends ? tarn_rnn_forward_with(net, x, in) : tarn_rnn_forward(net, x, &in.h);
        last[0] = last[1] = out.h;
        return out.y;
    }
    const tarn_lstm_result out =
        ends ? tarn_lstm_forward_with(net, x, in) : tarn_lstm_forward(net, x, &in.h, &in.c);
    last[0] = out.h;
    last[1] = out.c;
    return out.y;
}

static void check_layer(const struct layer *l)
{
    struct golden *g = golden_open("recurrent.safetensors");
    tarn_replica *r = tarn_open(NULL);
    cr_assert(g != NULL && r != NULL, "%s", tarn_error(NULL));
    tarn_lstm lstm;
    tarn_gru gru;
    tarn_rnn rnn;
    if (l->kind == OF_GRU)
        gru = tarn_gru_make(r, "net", INPUT, HIDDEN, l->options);
    else if (l->kind == OF_RNN)
        rnn = tarn_rnn_make(r, "net", INPUT, HIDDEN, l->options);
    else
        lstm = tarn_lstm_make(r, "net", INPUT, HIDDEN, l->options);
    tarn_tensor of[3 + 16], gradient[3 + 16], y, last[2];
    char names[16][40], name[48];
    const int count = take_weights(r, g, l, of + 3, names), states = l->kind == OF_LSTM ? 2 : 1;
    of[0] = stored(r, g, l, "x");
    of[1] = stored(r, g, l, "first0");
    of[2] = states == 1 ? of[1] : stored(r, g, l, "first1");
    tarn_recurrent_inputs in = { .h = of[1], .c = states == 1 ? TARN_NONE : of[2] };
    const struct golden_tensor lengths = golden_find(g, "%s.lengths", l->name);
    if (lengths.data != NULL)
        in.lengths = tarn_from(r, lengths.shape, lengths.dtype, lengths.data);
    const void *net = l->kind == OF_GRU   ? (const void *)&gru
                      : l->kind == OF_RNN ? (const void *)&rnn
                                          : (const void *)&lstm;
    y = run(l, net, of[0], in, last);
    tarn_tensor loss = tarn_sum(tarn_mul(stored(r, g, l, "w"), y), TARN_ALL, false);
    for (int i = 0; i < states; i++)
        loss = tarn_add(loss, tarn_sum(tarn_mul(last[i], last[i]), TARN_ALL, false));
    tarn_gradients(loss, of, 3 + count, gradient);
    tarn_tensor all[3 + 3 + 16] = { y, last[0], last[states - 1] };
    for (int i = 0; i < 3 + count; i++)
        all[3 + i] = gradient[i];
    cr_assert_eq(tarn_eval(all, 6 + count), TARN_OK, "%s", tarn_error(r));
    compare(g, l, "y", y);
    compare(g, l, "gx", gradient[0]);
    for (int i = 0; i < states; i++) {
        snprintf(name, sizeof name, "last%d", i);
        compare(g, l, name, last[i]);
        snprintf(name, sizeof name, "gfirst%d", i);
        compare(g, l, name, gradient[1 + i]);
    }
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "g.%.40s", names[i]);
        compare(g, l, name, gradient[3 + i]);
    }
    golden_close(g);
    tarn_close(r);
}

Test(recurrent, lstm_of_two_layers)
{
    check_layer(&(struct layer){ "lstm", OF_LSTM, { .layers = 2, .batch_first = true } });
}

Test(recurrent, gru_of_two_layers)
{
    check_layer(&(struct layer){ "gru", OF_GRU, { .layers = 2 } });
}

Test(recurrent, lstm_without_bias)
{
    check_layer(&(struct layer){ "lstm_plain", OF_LSTM, { .no_bias = true } });
}

Test(recurrent, lstm_of_two_directions)
{
    check_layer(&(struct layer){
        "lstm_both", OF_LSTM, { .layers = 2, .batch_first = true, .bidirectional = true } });
}

Test(recurrent, gru_of_two_directions)
{
    check_layer(&(struct layer){ "gru_both", OF_GRU, { .bidirectional = true } });
}

Test(recurrent, rnn_of_two_layers)
{
    check_layer(&(struct layer){ "rnn", OF_RNN, { .layers = 2 } });
}

Test(recurrent, rnn_of_two_directions)
{
    check_layer(
        &(struct layer){ "rnn_both",
                         OF_RNN,
                         { .layers = 2, .no_bias = true, .bidirectional = true, .relu = true } });
}

/* What PyTorch packs, in any order of lengths: the way back begins at each sequence's last step. */
Test(recurrent, lstm_of_different_lengths)
{
    check_layer(&(struct layer){
        "lstm_lengths", OF_LSTM, { .layers = 2, .batch_first = true, .bidirectional = true } });
    check_layer(&(struct layer){ "lstm_lengths_one", OF_LSTM, { .layers = 2 } });
}

Test(recurrent, gru_of_different_lengths)
{
    check_layer(&(struct layer){ "gru_lengths", OF_GRU, { .layers = 2, .bidirectional = true } });
    check_layer(&(struct layer){
        "gru_lengths_short", OF_GRU, { .batch_first = true, .bidirectional = true } });
}

Test(recurrent, rnn_of_different_lengths)
{
    check_layer(&(struct layer){ "rnn_lengths", OF_RNN, { .layers = 2, .bidirectional = true } });
}

enum { ENDING = 6, ENDING_ALL = 2 * ENDING * STEPS * HIDDEN };

/* y, h, c and gradients in all weights, one after the other, where what lies behind the ends is `beyond`. */
static size_t ending_bits(tarn_replica *r, const tarn_lstm *net, float beyond, float *out)
{
    static const uint8_t lengths[ENDING] = { 4, 0, 1, 200, 7, 6 };
    float x[ENDING][STEPS][INPUT];
    for (int n = 0; n < ENDING; n++)
        for (int t = 0; t < STEPS; t++)
            for (int i = 0; i < INPUT; i++)
                x[n][t][i] =
                    t < lengths[n] ? (float)((n * 31 + t * 7 + i * 3) % 17) / 8 - 1 : beyond;
    const tarn_lstm_result y = tarn_lstm_forward_with(
        net, tarn_from(r, TARN_SHAPE(ENDING, STEPS, INPUT), TARN_F32, x),
        (tarn_recurrent_inputs){ .lengths = tarn_from(r, TARN_SHAPE(ENDING), TARN_U8, lengths) });
    tarn_tensor of[3 + 16] = { y.y, y.h, y.c }, weights[16];
    for (int i = 0; i < 16; i++)
        weights[i] = tarn_find(r, tarn_owned_name(r, i));
    tarn_gradients(tarn_sum(tarn_mul(y.y, y.y), TARN_ALL, false), weights, 16, of + 3);
    cr_assert_eq(tarn_eval(of, 19), TARN_OK, "%s", tarn_error(r));
    size_t count = 0;
    for (int i = 0; i < 19; i++) {
        const size_t elements = (size_t)tarn_shape_count(tarn_shape_get(of[i]));
        cr_assert_leq(count + elements, (size_t)MOST);
        cr_assert_eq(tarn_read(of[i], out + count, elements * sizeof *out), TARN_OK, "%s",
                     tarn_error(r));
        count += elements;
    }
    return count;
}

/* Neither values nor gradients see what lies behind an end, be it NaN; of no step, and of more than there are. */
Test(recurrent, nothing_behind_an_end_is_seen)
{
    static float got[2][MOST];
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const tarn_lstm net = tarn_lstm_make(
        r, "net", INPUT, HIDDEN,
        (tarn_recurrent_options){ .layers = 2, .batch_first = true, .bidirectional = true });
    const size_t count = ending_bits(r, &net, 0, got[0]);
    cr_assert_eq(ending_bits(r, &net, NAN, got[1]), count);
    cr_expect_eq(memcmp(got[0], got[1], count * sizeof(float)), 0);
    const float *y = got[0], *h = y + ENDING_ALL;
    for (int t = 0; t < STEPS; t++)
        for (int k = 0; k < 2 * HIDDEN; k++) {
            cr_expect(t < 4 ? y[t * 2 * HIDDEN + k] != 0 : y[t * 2 * HIDDEN + k] == 0);
            cr_expect_eq(y[(STEPS + t) * 2 * HIDDEN + k], 0); /* of no step */
            cr_expect_neq(y[(3 * STEPS + t) * 2 * HIDDEN + k], 0);
        }
    for (int l = 0; l < 4; l++)
        for (int k = 0; k < HIDDEN; k++)
            cr_expect_eq(h[(l * ENDING + 1) * HIDDEN + k], 0);
    for (size_t i = 0; i < count; i++)
        cr_assert(isfinite(got[1][i]));
    tarn_close(r);
}

/* Of each layer, and each direction in it, PyTorch's four names, in its order. */
Test(recurrent, names_are_pytorchs)
{
    static const char *const part[] = { "weight_ih", "weight_hh", "bias_ih", "bias_hh" };
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    (void)tarn_lstm_make(r, "net", INPUT, HIDDEN,
                         (tarn_recurrent_options){ .layers = 2, .bidirectional = true });
    cr_assert_eq(tarn_owned_count(r), 16, "%s", tarn_error(r));
    for (int i = 0; i < 16; i++) {
        char want[48];
        snprintf(want, sizeof want, "net.%s_l%d%s", part[i % 4], i / 8,
                 i / 4 % 2 == 0 ? "" : "_reverse");
        cr_expect_str_eq(tarn_owned_name(r, i), want);
        const int inputs = i % 4 == 1 ? HIDDEN : i < 8 ? INPUT : 2 * HIDDEN;
        const tarn_shape s = tarn_owned_at(r, i).shape;
        cr_expect(s.dim[0] == 4 * HIDDEN && s.rank == (i % 4 < 2 ? 2 : 1) &&
                      (s.rank == 1 || s.dim[1] == inputs),
                  "%s", want);
    }
    tarn_close(r);
}

static void expect_error(tarn_replica *r, tarn_tensor y, const char *text)
{
    cr_expect(tarn_failed(y));
    cr_expect_not_null(strstr(tarn_error(r), text), "no \"%s\" in: %s", text, tarn_error(r));
    tarn_error_clear(r);
}

Test(recurrent, what_does_not_fit_is_refused)
{
    const tarn_recurrent_options both = { .layers = 2, .bidirectional = true };
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const tarn_tensor x = tarn_zeros(r, TARN_SHAPE(STEPS, 3, INPUT));
    const tarn_rnn rnn = tarn_rnn_make(r, "rnn", INPUT, HIDDEN, both);
    const tarn_tensor few = tarn_zeros(r, TARN_SHAPE(2, 3, HIDDEN));
    expect_error(r, tarn_rnn_forward(&rnn, x, &few).y,
                 "rnn: the first state is [2,3,6], must be [4,3,6]");
    expect_error(r, tarn_rnn_forward(NULL, x, NULL).h, "rnn: the layer is NULL");
    /* An error drops the step, x included. */
    const tarn_lstm lstm = tarn_lstm_make(r, "lstm", INPUT, HIDDEN, both);
#define X tarn_zeros(r, TARN_SHAPE(STEPS, 3, INPUT))
#define STATE tarn_zeros(r, TARN_SHAPE(4, 3, HIDDEN))
#define WITH(...) (tarn_recurrent_inputs){ __VA_ARGS__ }
    expect_error(r, tarn_rnn_forward_with(&rnn, X, WITH(.lengths = tarn_arange(r, 4))).y,
                 "rnn: lengths are int32 [4], must be of whole numbers, [3], one for each sample");
    expect_error(r, tarn_rnn_forward_with(&rnn, X, WITH(.lengths = tarn_zeros(r, TARN_SHAPE(3)))).h,
                 "rnn: lengths are float32 [3]");
    expect_error(r, tarn_rnn_forward_with(&rnn, X, WITH(.c = STATE)).y,
                 "rnn: the first state c is one of lstm alone");
    expect_error(r, tarn_lstm_forward_with(&lstm, X, WITH(.c = STATE)).c, "give both or none");
    expect_error(r, tarn_gru_forward_with(NULL, X, WITH(.h = STATE)).h, "gru: the layer is NULL");
    const tarn_recurrent_options relu = { .relu = true }, many = { .layers = 9 };
    expect_error(r, tarn_gru_make(r, "gru", INPUT, HIDDEN, relu).of.weight_hh[0], "relu");
    expect_error(r, tarn_rnn_make(r, "m", INPUT, HIDDEN, many).of.weight_hh_reverse[0],
                 "rnn m: 9 layers; 1 to 8 are possible");
    expect_error(r, tarn_lstm_make(r, "w", INPUT, INT32_MAX / 8 + 1, both).of.weight_ih_reverse[0],
                 "lstm w: 268435456 hidden features are too many");
    tarn_close(r);
}

/* Bytes that a training step of an LSTM takes, or the forward part alone. */
static size_t lstm_bytes(int hidden, bool keep, bool recompute, bool gradient)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const tarn_lstm layer = tarn_lstm_make(
        r, "lstm", 8, hidden, (tarn_recurrent_options){ .keep = keep, .recompute = recompute });
    const tarn_tensor x = tarn_rand(r, TARN_SHAPE(30, 20, 8));
    const tarn_tensor y = tarn_lstm_forward(&layer, x, NULL, NULL).y;
    tarn_tensor out = tarn_sum(tarn_mul(y, y), TARN_ALL, false);
    if (gradient)
        tarn_gradients(out, &layer.of.weight_hh[0], 1, &out);
    cr_assert_eq(tarn_eval(&out, 1), TARN_OK, "%s", tarn_error(r));
    const size_t bytes = tarn_metrics_get(r).device_bytes;
    tarn_close(r);
    return bytes;
}

/* The product of a wide state takes longer than storing its gates, that of a narrow one does not; and what asks for no
 * gradient stores nothing for it. */
Test(recurrent, keeps_where_that_pays)
{
    const size_t wide = lstm_bytes(64, false, false, true);
    const size_t narrow = lstm_bytes(4, false, false, true);
    cr_expect_eq(wide, lstm_bytes(64, true, false, true));
    cr_expect_gt(wide, lstm_bytes(64, false, true, true));
    cr_expect_lt(narrow, lstm_bytes(4, true, false, true));
    cr_expect_eq(narrow, lstm_bytes(4, false, true, true));
    cr_expect_eq(lstm_bytes(64, true, false, false), lstm_bytes(64, false, true, false));
}
