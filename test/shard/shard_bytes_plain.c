/* SPDX-License-Identifier: Apache-2.0 */
/* What the textbook's plans move: the number of collectives and the bytes that a rank receives in a step are those
 * that are derived beside each case, exactly. Results are compared, too; but a plan that moves too much computes
 * nothing wrong, so that only this test sees it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "op/op.h"
#include "record.h"

enum { FLOAT = 4 };

#define SPEC(text) record_spec(text)

/* Of L bytes among n: all-reduce; reduce-scatter or all-to-all; all-gather of parts of L. */
static int64_t reduced(int64_t l, int64_t n)
{
    return 2 * l * (n - 1) / n;
}
static int64_t scattered(int64_t l, int64_t n)
{
    return l * (n - 1) / n;
}
static int64_t gathered(int64_t l, int64_t n)
{
    return l / n * (n - 1);
}

struct expected {
    int64_t bytes;
    int collectives;
};

/* ---- parts of programs ---------------------------------------------------------------------- */

/* The loss as an output, and a step of each weight against its gradient. */
static void train(struct record *t, tarn_tensor y, tarn_tensor target, const tarn_tensor *w,
                  int count)
{
    tarn_tensor g[8];
    const tarn_tensor d = tarn_sub(y, target);
    const tarn_tensor loss = tarn_mean(tarn_mul(d, d), TARN_ALL, false);
    tarn_gradients(loss, w, count, g);
    record_output(t, loss, SPEC(""));
    for (int i = 0; i < count; i++)
        record_assign(w[i], tarn_sub(w[i], tarn_mul_scalar(g[i], 0.1f)));
}

static void two_layers(struct record *t, int32_t batch, int32_t out, const char *data,
                       const char *first, const char *second)
{
    const tarn_tensor x = record_input(t, TARN_SHAPE(batch, 64), SPEC(data));
    const tarn_tensor target = record_input(t, TARN_SHAPE(batch, out), SPEC(data));
    const tarn_tensor w[2] = { record_owned(t, TARN_SHAPE(64, 128), SPEC(first)),
                               record_owned(t, TARN_SHAPE(128, out), SPEC(second)) };
    train(t, tarn_matmul(tarn_relu(tarn_matmul(x, w[0])), w[1]), target, w, 2);
}

/* ---- one axis ------------------------------------------------------------------------------- */

enum { WEIGHTS = (64 * 128 + 128 * 16) * FLOAT };

/* Each gradient and the loss are summed. */
static struct expected data_parallel(struct record *t, int64_t n)
{
    two_layers(t, 32, 16, "0a", "", "");
    return (struct expected){ reduced(WEIGHTS + FLOAT, n), 3 };
}

/* The result is summed where the second layer's inner axis was cut; the weights' gradients are local. */
static struct expected column_row(struct record *t, int64_t n)
{
    two_layers(t, 32, 64, "", "1a", "0a");
    return (struct expected){ reduced(32 * 64 * FLOAT, n), 1 };
}

/* A pending sum that two linear functions read is summed before them, and the gradients that come back are whole. */
static struct expected two_readers(struct record *t, int64_t n)
{
    const tarn_tensor x = record_input(t, TARN_SHAPE(32, 64), SPEC("1a"));
    const tarn_tensor w = record_owned(t, TARN_SHAPE(64, 16), SPEC("0a"));
    const tarn_tensor y = tarn_matmul(x, w);
    const tarn_tensor less = tarn_tanh(tarn_mul_scalar(y, 0.5f)), other = tarn_relu(tarn_neg(y));
    train(t, less, other, &w, 1);
    return (struct expected){ reduced(32 * 16 * FLOAT, n), 1 };
}

/* Weights are gathered, once, and their gradients reduced to the part of each rank. */
static struct expected fully_sharded(struct record *t, int64_t n)
{
    two_layers(t, 256, 16, "0a", "0a", "0a");
    return (struct expected){ gathered(WEIGHTS, n) + scattered(WEIGHTS, n) + reduced(FLOAT, n), 5 };
}

/* The same where weights are larger than what goes through: they move all the same. */
static struct expected fully_sharded_small(struct record *t, int64_t n)
{
    two_layers(t, 8, 16, "0a", "0a", "0a");
    return (struct expected){ gathered(WEIGHTS, n) + scattered(WEIGHTS, n) + reduced(FLOAT, n), 5 };
}

/* Of many layers: what was gathered forward is dropped and gathered again backward, but for the last layer, whose copy
 * is there still, and the first, whose operand has no gradient. At most what ZeRO-3 moves: two gathers and a
 * reduce-scatter of all. */
static struct expected fully_sharded_deep(struct record *t, int64_t n)
{
    enum { LAYERS = 6, WEIGHT = 32 * 32 * FLOAT };
    tarn_tensor w[LAYERS], x = record_input(t, TARN_SHAPE(8, 32), SPEC("0a"));
    const tarn_tensor target = record_input(t, TARN_SHAPE(8, 32), SPEC("0a"));
    for (int i = 0; i < LAYERS; i++) {
        w[i] = record_owned(t, TARN_SHAPE(32, 32), SPEC("0a"));
        x = tarn_tanh(tarn_matmul(x, w[i]));
    }
    train(t, x, target, w, LAYERS);
    const int64_t gathers = 2 * LAYERS - 2;
    return (struct expected){ gathers * gathered(WEIGHT, n) + LAYERS * scattered(WEIGHT, n) +
                                  reduced(FLOAT, n),
                              (int)gathers + LAYERS + 1 };
}

/* Momentum is cut: gradients come as parts, weights are gathered after the step. */
static struct expected zero_1(struct record *t, int64_t n)
{
    const tarn_tensor x = record_input(t, TARN_SHAPE(32, 64), SPEC("0a"));
    const tarn_tensor target = record_input(t, TARN_SHAPE(32, 16), SPEC("0a"));
    const tarn_tensor w[2] = { record_owned(t, TARN_SHAPE(64, 128), SPEC("")),
                               record_owned(t, TARN_SHAPE(128, 16), SPEC("")) };
    const tarn_tensor m[2] = { record_owned(t, TARN_SHAPE(64, 128), SPEC("0a")),
                               record_owned(t, TARN_SHAPE(128, 16), SPEC("0a")) };
    const tarn_tensor d = tarn_sub(tarn_matmul(tarn_relu(tarn_matmul(x, w[0])), w[1]), target);
    const tarn_tensor loss = tarn_mean(tarn_mul(d, d), TARN_ALL, false);
    tarn_tensor g[2];
    tarn_gradients(loss, w, 2, g);
    record_output(t, loss, SPEC(""));
    for (int i = 0; i < 2; i++) {
        const tarn_tensor now = tarn_add(tarn_mul_scalar(m[i], 0.9f), g[i]);
        record_assign(m[i], now);
        record_assign(w[i], tarn_sub(w[i], tarn_mul_scalar(now, 0.1f)));
    }
    return (struct expected){ scattered(WEIGHTS, n) + gathered(WEIGHTS, n) + reduced(FLOAT, n), 5 };
}

/* [B,T,D] -> [B,heads,T,D/heads] */
static tarn_tensor heads_of(tarn_tensor x)
{
    return tarn_transpose(tarn_reshape(x, TARN_SHAPE(2, 16, 4, 8)), 1, 2);
}

static tarn_tensor attention(tarn_tensor x, const tarn_tensor w[4])
{
    const tarn_tensor q = heads_of(tarn_matmul(x, w[0])), k = heads_of(tarn_matmul(x, w[1]));
    const tarn_tensor v = heads_of(tarn_matmul(x, w[2]));
    const tarn_tensor p = tarn_softmax(tarn_matmul(q, tarn_transpose(k, 2, 3)), 3);
    const tarn_tensor y = tarn_transpose(tarn_matmul(p, v), 1, 2);
    return tarn_add(x, tarn_matmul(tarn_reshape(y, TARN_SHAPE(2, 16, 32)), w[3]));
}

/* Forward one sum for each block, after its last product; backward one of the gradient of its operand, which of the
 * first block nobody asks for. */
static struct expected heads(struct record *t, int64_t n)
{
    const tarn_shape s = TARN_SHAPE(2, 16, 32);
    tarn_tensor x = record_input(t, s, SPEC("")), target = record_input(t, s, SPEC("")), w[8];
    for (int i = 0; i < 8; i++)
        w[i] = record_owned(t, TARN_SHAPE(32, 32), SPEC(i % 4 == 3 ? "0a" : "1a"));
    for (int block = 0; block < 2; block++)
        x = attention(x, w + block * 4);
    train(t, x, target, w, 8);
    return (struct expected){ 3 * reduced(2 * 16 * 32 * FLOAT, n), 3 };
}

static void run_experts(struct record *t, const char *tokens, bool marked)
{
    tarn_tensor x = record_input(t, TARN_SHAPE(4, 32, 16), SPEC(tokens));
    const tarn_tensor target = record_input(t, TARN_SHAPE(4, 32, 16), SPEC(tokens));
    const tarn_tensor w[2] = { record_owned(t, TARN_SHAPE(4, 16, 64), SPEC("0a")),
                               record_owned(t, TARN_SHAPE(4, 64, 16), SPEC("0a")) };
    if (marked)
        x = record_mark(x, SPEC("0a"));
    tarn_tensor y = tarn_matmul(tarn_relu(tarn_matmul(x, w[0])), w[1]);
    if (marked)
        y = record_mark(record_mark(y, SPEC("0a")), SPEC(tokens));
    train(t, y, target, w, 2);
}

/* Tokens are where their experts are: only the loss is summed. */
static struct expected experts(struct record *t, int64_t n)
{
    run_experts(t, "0a", false);
    return (struct expected){ reduced(FLOAT, n), 1 };
}

/* Tokens come to their experts, go back, and their gradients come. */
static struct expected experts_marked(struct record *t, int64_t n)
{
    run_experts(t, "1a", true);
    return (struct expected){ 3 * scattered(4 * 32 * 16 * FLOAT / n, n) + reduced(FLOAT, n), 4 };
}

/* Rows of the table are cut: what was found is summed. */
static struct expected embedding_rows(struct record *t, int64_t n)
{
    const tarn_tensor table = record_owned(t, TARN_SHAPE(64, 16), SPEC("0a"));
    const tarn_tensor at = record_index(t, TARN_SHAPE(32), 64, SPEC(""));
    const tarn_tensor target = record_input(t, TARN_SHAPE(32, 16), SPEC(""));
    train(t, tarn_embedding(table, at), target, &table, 1);
    return (struct expected){ reduced(32 * 16 * FLOAT, n), 1 };
}

/* Of x [N,C,H,W], over samples and image. */
static tarn_tensor normalised(tarn_tensor x)
{
    const tarn_tensor mean = tarn_mean(x, TARN_AXES(0, 2, 3), true), d = tarn_sub(x, mean);
    const tarn_tensor var = tarn_mean(tarn_mul(d, d), TARN_AXES(0, 2, 3), true);
    return tarn_mul(d, tarn_rsqrt(tarn_add_scalar(var, 0.1f)));
}

static void convolutions(struct record *t, const char *data, const char *out, const char *in)
{
    const tarn_conv2d_options padded = { .padding = { 1, 1 } };
    const tarn_tensor x = record_input(t, TARN_SHAPE(8, 4, 8, 8), SPEC(data));
    const tarn_tensor target = record_input(t, TARN_SHAPE(8, 4, 8, 8), SPEC(data));
    const tarn_tensor w[2] = { record_owned(t, TARN_SHAPE(16, 4, 3, 3), SPEC(out)),
                               record_owned(t, TARN_SHAPE(4, 16, 3, 3), SPEC(in)) };
    const tarn_tensor h = tarn_relu(normalised(tarn_conv2d_op(x, w[0], TARN_NONE, padded)));
    train(t, tarn_conv2d_op(h, w[1], TARN_NONE, padded), target, w, 2);
}

/* Two gradients and the loss; of the norm, over the samples, mean and variance, and backward three sums: of the
 * variance's gradient, of the squares', and of the mean's. */
static struct expected convolutions_batch(struct record *t, int64_t n)
{
    convolutions(t, "0a", "", "");
    const int64_t weights = 2 * 16 * 4 * 9 * FLOAT, channels = 16 * FLOAT;
    return (struct expected){ reduced(weights + FLOAT + 4 * channels, n), 7 };
}

/* Channels of the hidden image are cut, with their norms: the result is summed. */
static struct expected convolutions_channels(struct record *t, int64_t n)
{
    convolutions(t, "", "0a", "1a");
    return (struct expected){ reduced(8 * 4 * 8 * 8 * FLOAT, n), 1 };
}

/* ---- two axes of two ------------------------------------------------------------------------ */

enum { LARGE = (64 * 128 + 128 * 64) * FLOAT };

/* Samples on the first axis, columns and rows on the second. */
static struct expected data_tensor(struct record *t, int64_t n)
{
    two_layers(t, 128, 64, "0a", "1b", "0b");
    return (struct expected){ reduced(128 / n * 64 * FLOAT, n) + reduced(LARGE / n + FLOAT, n), 4 };
}

static struct expected sharded_tensor(struct record *t, int64_t n)
{
    two_layers(t, 128, 64, "0a", "0a 1b", "0b 1a");
    return (struct expected){ reduced(128 / n * 64 * FLOAT + FLOAT, n) + gathered(LARGE / n, n) +
                                  scattered(LARGE / n, n),
                              6 };
}

/* ---- all ------------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    struct expected (*make)(struct record *t, int64_t n);
    int axes;
    int fewest; /* collectives, when sums are joined */
} cases[] = {
    { "data parallel", data_parallel, 1, 1 },
    { "column, then row", column_row, 1, 1 },
    { "two readers of a sum", two_readers, 1, 1 },
    { "attention by heads", heads, 1, 3 },
    { "experts", experts, 1, 1 },
    { "experts, tokens come", experts_marked, 1, 4 },
    { "ZeRO-1", zero_1, 1, 5 },
    { "fully sharded", fully_sharded, 1, 5 },
    { "fully sharded, few samples", fully_sharded_small, 1, 5 },
    { "fully sharded, many layers", fully_sharded_deep, 1, 17 },
    { "rows of a table", embedding_rows, 1, 1 },
    { "convolutions, samples", convolutions_batch, 1, 5 },
    { "convolutions, channels", convolutions_channels, 1, 1 },
    { "data x tensor", data_tensor, 2, 2 },
    { "fully sharded x tensor", sharded_tensor, 2, 6 },
};

/* Joined, sums that do not wait for each other are one call of as many bytes: the fewest are those that do. */
static bool run_joined(struct record *t, struct shard_input in, struct expected e, int fewest,
                       const char *name)
{
    struct shard_program s;
    in.bucket = 1 << 20;
    in.log = NULL;
    if (shard_program(&in, &s) != TARN_OK)
        return false;
    const bool fits = s.bytes == e.bytes && s.collectives == fewest;
    if (!fits)
        fprintf(stderr, "%s, joined: %lld B in %d collectives instead of %lld B in %d\n", name,
                (long long)s.bytes, s.collectives, (long long)e.bytes, fewest);
    const bool right = record_agrees(t, &in, &s, 1, name);
    shard_free(&s);
    return fits && right;
}

static bool run(int which, int32_t n, bool shown)
{
    const struct mesh m = { .axes = cases[which].axes, .extent = { n, n }, .name = { "a", "b" } };
    struct record t;
    struct shard_program s;
    struct text log = { 0 };
    record_begin(&t, &m);
    const struct expected e = cases[which].make(&t, n);
    struct shard_input in = record_done(&t);
    in.log = &log;
    if (shard_program(&in, &s) != TARN_OK) {
        fprintf(stderr, "%s: %s\n", cases[which].name, error_text());
        return false;
    }
    bool fits = s.bytes == e.bytes && s.collectives == e.collectives;
    if (!fits)
        fprintf(stderr, "%s: %lld B in %d collectives instead of %lld B in %d\n", cases[which].name,
                (long long)s.bytes, s.collectives, (long long)e.bytes, e.collectives);
    if (shown || !fits)
        fputs(log.data, stderr);
    fits &= record_agrees(&t, &in, &s, 1, cases[which].name);
    fits &= run_joined(&t, in, e, cases[which].fewest, cases[which].name);
    text_free(&log);
    shard_free(&s);
    record_end(&t);
    return fits;
}

int main(int argc, char **argv)
{
    const char *shown = argc > 1 ? argv[1] : "";
    int wrong = 0, count = 0;
    for (int i = 0; i < (int)(sizeof cases / sizeof cases[0]); i++)
        for (int32_t n = 2; n <= (cases[i].axes == 1 ? 4 : 2); n += 2, count++)
            wrong += !run(i, n, strcmp(shown, cases[i].name) == 0);
    printf("shard bytes: %d plans, %d wrong\n", count, wrong);
    return wrong > 0;
}
