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
    if (l->kind == OF_GRU) {
        const tarn_gru_result out = tarn_gru_forward(&gru, of[0], &of[1]);
        y = out.y;
        last[0] = out.h;
    } else if (l->kind == OF_RNN) {
        const tarn_rnn_result out = tarn_rnn_forward(&rnn, of[0], &of[1]);
        y = out.y;
        last[0] = out.h;
    } else {
        const tarn_lstm_result out = tarn_lstm_forward(&lstm, of[0], &of[1], &of[2]);
        y = out.y;
        last[0] = out.h;
        last[1] = out.c;
    }
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
