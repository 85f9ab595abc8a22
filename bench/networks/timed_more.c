/* SPDX-License-Identifier: Apache-2.0 */
/* Networks of other kinds, for which nothing was chosen: wide windows, dilated ones, mixed axes, gates of channels, joined
 * features, tables, graphs, experts and an attending loop. */
#include "timed.h"

enum { SIDE = 32, NOTES = 256, MOMENTS = 256, TABLES = 16, ROWS = 2000, FEATURES = 32, DENSE = 13 };
enum { VERTICES = 2048, EDGES_EACH = 4, WORDS = 500, SENTENCE = 16, STATE = 96 };

/* ---- images ---------------------------------------------------------------------------------- */

/* A convolution with bias that keeps the size, but for the stride. */
static tarn_tensor conv(tarn_tensor x, const char *name, int out, int window, int stride,
                        int groups)
{
    const tarn_conv2d_make_options make = {
        .window = { window },
        .options = { { stride, stride }, { window / 2, window / 2 }, { 1, 1 }, groups },
    };
    return tarn_use_conv2d_with(x, name, out, make);
}

static tarn_tensor channels_last(tarn_tensor x)
{
    return tarn_permute(x, TARN_AXES(0, 2, 3, 1));
}

/* Windows of 7 x 7 for each channel, then norms and two layers over the channels of each pixel. */
static tarn_tensor convnext(tarn_tensor x)
{
    const tarn_conv2d_options cut = { .stride = { 2, 2 } };
    x = tarn_use_conv2d(x, "stem", 48, 2, cut);
    for (int i = 0; i < 4; i++) {
        if (i == 2)
            x = tarn_use_conv2d(x, "smaller", 96, 2, cut);
        const int width = 48 << i / 2;
        tarn_enter(x.replica, "blocks.%d", i);
        tarn_tensor h = channels_last(conv(x, "each", width, 7, 1, width));
        h = tarn_gelu(tarn_use_linear(tarn_use_layer_norm(h, "norm"), "up", 4 * width));
        h = tarn_permute(tarn_use_linear(h, "down", width), TARN_AXES(0, 3, 1, 2));
        tarn_leave(x.replica);
        x = tarn_add(x, h);
    }
    return tarn_use_linear(tarn_flatten(tarn_global_avg_pool(x), 1), "fc", CLASSES);
}

/* Layers over the patches, then over the channels, of each image. */
static tarn_tensor mixer(tarn_tensor x)
{
    const tarn_conv2d_options cut = { .stride = { 4, 4 } };
    x = tarn_transpose(tarn_flatten(tarn_use_conv2d(x, "patches", 128, 4, cut), 2), 1, 2);
    for (int i = 0; i < 4; i++) {
        tarn_enter(x.replica, "blocks.%d", i);
        tarn_tensor h = tarn_transpose(tarn_use_layer_norm(x, "norm1"), 1, 2);
        h = tarn_use_linear(tarn_gelu(tarn_use_linear(h, "across1", 128)), "across2", 64);
        x = tarn_add(x, tarn_transpose(h, 1, 2));
        h = tarn_gelu(tarn_use_linear(tarn_use_layer_norm(x, "norm2"), "along1", 512));
        x = tarn_add(x, tarn_use_linear(h, "along2", 128));
        tarn_leave(x.replica);
    }
    x = tarn_use_layer_norm(x, "norm");
    return tarn_use_linear(tarn_mean(x, TARN_AXES(1), false), "head", CLASSES);
}

static tarn_tensor vgg(tarn_tensor x)
{
    static const int widths[] = { 64, 64, 0, 128, 128, 0, 256, 256, 0 };
    for (int i = 0; i < 9; i++)
        x = widths[i] == 0 ? tarn_max_pool2d(x, 2)
                           : tarn_relu(conv(x, TARN_NAME("%d", i), widths[i], 3, 1, 1));
    x = tarn_relu(tarn_use_linear(tarn_flatten(x, 1), "fc1", 512));
    return tarn_use_linear(tarn_dropout(x, 0.5f), "fc2", CLASSES);
}

/* Each layer reads what all before it put out. */
static tarn_tensor densenet(tarn_tensor x)
{
    x = conv(x, "stem", 24, 3, 1, 1);
    for (int i = 0; i < 12; i++) {
        tarn_enter(x.replica, "layers.%d", i);
        tarn_tensor h = tarn_relu(tarn_use_batch_norm(x, "norm"));
        if (i == 4 || i == 8)
            x = tarn_avg_pool2d(conv(h, "smaller", 12 * i / 4 + 24, 1, 1, 1), 2);
        else
            x = tarn_concat((tarn_tensor[]){ x, conv(h, "more", 12, 3, 1, 1) }, 2, 1);
        tarn_leave(x.replica);
    }
    x = tarn_global_avg_pool(tarn_relu(tarn_use_batch_norm(x, "norm")));
    return tarn_use_linear(tarn_flatten(x, 1), "fc", CLASSES);
}

static tarn_tensor hard_swish(tarn_tensor x)
{
    return tarn_mul(x, tarn_mul_scalar(tarn_clamp(tarn_add_scalar(x, 3), 0, 6), 1 / 6.0f));
}

/* A gate for each channel, of the mean over its pixels, and norms over groups of channels. */
static tarn_tensor squeeze(tarn_tensor x)
{
    x = hard_swish(tarn_use_group_norm(conv(x, "stem", 16, 3, 1, 1), "norm", 4));
    for (int i = 0; i < 4; i++) {
        const int in = 16 << (i + 1) / 2, out = 16 << (i + 2) / 2, wide = 4 * in;
        tarn_enter(x.replica, "blocks.%d", i);
        tarn_tensor h = hard_swish(tarn_use_group_norm(conv(x, "up", wide, 1, 1, 1), "norm1", 8));
        h = conv(h, "each", wide, 5, out / in, wide);
        h = hard_swish(tarn_use_group_norm(h, "norm2", 8));
        tarn_tensor gate = tarn_relu(conv(tarn_global_avg_pool(h), "less", wide / 4, 1, 1, 1));
        gate = tarn_sigmoid(conv(gate, "gate", wide, 1, 1, 1));
        h = conv(tarn_mul(h, gate), "down", out, 1, 1, 1);
        h = tarn_use_group_norm(h, "norm3", 4);
        tarn_leave(x.replica);
        x = out == in ? tarn_add(x, h) : h;
    }
    return tarn_use_linear(tarn_flatten(tarn_global_avg_pool(x), 1), "fc", CLASSES);
}

/* ---- sequences ------------------------------------------------------------------------------- */

/* Gated dilated convolutions that see the past alone; a class for each moment. */
static tarn_tensor wavenet(tarn_tensor x)
{
    const tarn_conv1d_options one = { 0 };
    tarn_tensor all = TARN_NONE;
    x = tarn_transpose(tarn_use_embedding(x, "notes", NOTES, 32), 1, 2);
    for (int i = 0; i < 6; i++) {
        const int far = 1 << i;
        tarn_enter(x.replica, "layers.%d", i);
        const tarn_tensor past = tarn_pad(x, TARN_SHAPE(0, 0, far), TARN_SHAPE(0, 0, 0), 0);
        const tarn_conv1d_options wide = { .dilation = far };
        const tarn_tensor h = tarn_use_conv1d(past, "both", 64, 2, wide);
        const tarn_tensor gated = tarn_mul(tarn_tanh(tarn_slice(h, 1, 0, 32, 1)),
                                           tarn_sigmoid(tarn_slice(h, 1, 32, 64, 1)));
        const tarn_tensor skip = tarn_use_conv1d(gated, "skip", 64, 1, one);
        all = i == 0 ? skip : tarn_add(all, skip);
        x = tarn_add(x, tarn_use_conv1d(gated, "out", 32, 1, one));
        tarn_leave(x.replica);
    }
    x = tarn_relu(tarn_use_conv1d(tarn_relu(all), "head1", 64, 1, one));
    x = tarn_use_conv1d(x, "head2", NOTES, 1, one);
    return tarn_reshape(tarn_transpose(x, 1, 2), TARN_SHAPE(-1, NOTES));
}

struct attending {
    tarn_tensor keys, memory, query, energy, in, state, bias;
};

/* A step of a decoder: attends to what was read by tanh of a sum, and goes on by a gated unit. */
static void attend(const tarn_tensor *carry, const tarn_tensor *x, tarn_tensor *next,
                   tarn_tensor *y, void *user)
{
    const struct attending *a = user;
    const int32_t samples = tarn_shape_get(carry[0]).dim[0];
    const tarn_tensor query = tarn_matmul(carry[0], a->query);
    tarn_tensor score = tarn_add(a->keys, tarn_reshape(query, TARN_SHAPE(samples, 1, STATE)));
    score = tarn_sum(tarn_mul(tarn_tanh(score), a->energy), TARN_AXES(2), false);
    const tarn_tensor weight = tarn_softmax(score, 1);
    tarn_tensor seen =
        tarn_matmul(tarn_reshape(weight, TARN_SHAPE(samples, 1, SENTENCE)), a->memory);
    seen = tarn_reshape(seen, TARN_SHAPE(samples, STATE));
    const tarn_tensor in = tarn_matmul(tarn_concat((tarn_tensor[]){ x[0], seen }, 2, 1), a->in);
    const tarn_tensor h = tarn_add(tarn_add(in, tarn_matmul(carry[0], a->state)), a->bias);
    const tarn_tensor keep = tarn_sigmoid(tarn_slice(h, 1, 0, STATE, 1));
    const tarn_tensor new = tarn_tanh(tarn_slice(h, 1, STATE, 2 * STATE, 1));
    next[0] = tarn_add(tarn_mul(keep, carry[0]), tarn_mul(tarn_add_scalar(tarn_neg(keep), 1), new));
    y[0] = next[0];
}

/* A GRU reads a sentence, and a loop that attends to it writes another of the same words. */
static tarn_tensor translate(tarn_tensor x)
{
    tarn_replica *r = x.replica;
    const int32_t samples = tarn_shape_get(x).dim[0];
    const tarn_init init = { TARN_INIT_NORMAL, .b = 0.1f };
    const tarn_recurrent_options batch_first = { .batch_first = true };
    const tarn_tensor words = tarn_use_embedding(x, "words", WORDS, STATE);
    const tarn_tensor memory = tarn_use_gru(words, "reader", STATE, batch_first, NULL).y;
    const tarn_linear_options no_bias = { .no_bias = true };
    struct attending a = {
        .keys = tarn_use_linear_with(memory, "keys", STATE, no_bias),
        .memory = memory,
        .query = tarn_use_parameter(r, "query", TARN_SHAPE(STATE, STATE), init),
        .energy = tarn_use_parameter(r, "energy", TARN_SHAPE(STATE), init),
        .in = tarn_use_parameter(r, "in", TARN_SHAPE(2 * STATE, 2 * STATE), init),
        .state = tarn_use_parameter(r, "state", TARN_SHAPE(STATE, 2 * STATE), init),
        .bias = tarn_use_parameter(r, "bias", TARN_SHAPE(2 * STATE), init),
    };
    const tarn_tensor first = tarn_select(memory, 1, -1);
    tarn_tensor y;
    tarn_scan(r,
              &(tarn_scan_args){ .body = attend,
                                 .user = &a,
                                 .carry = &first,
                                 .carries = 1,
                                 .x = &words,
                                 .xs = 1,
                                 .ys = 1,
                                 .axis = 1 },
              NULL, &y);
    y = tarn_reshape(y, TARN_SHAPE(samples * SENTENCE, STATE));
    return tarn_use_linear(y, "head", WORDS);
}

/* ---- tables, graphs and experts -------------------------------------------------------------- */

/* Rows of tables, and the products of every two of them: a recommender. x holds a row's number for each table. */
static tarn_tensor recommend(tarn_tensor x)
{
    const int32_t samples = tarn_shape_get(x).dim[0];
    tarn_tensor parts[TABLES + 1];
    tarn_tensor dense = tarn_slice(tarn_cast(x, TARN_F32), 1, 0, DENSE, 1);
    dense = tarn_relu(tarn_use_linear(tarn_mul_scalar(dense, 1.0f / ROWS), "low1", 64));
    parts[TABLES] = tarn_relu(tarn_use_linear(dense, "low2", FEATURES));
    for (int i = 0; i < TABLES; i++)
        parts[i] =
            tarn_use_embedding(tarn_select(x, 1, i), TARN_NAME("tables.%d", i), ROWS, FEATURES);
    const tarn_tensor all = tarn_stack(parts, TABLES + 1, 1);
    tarn_tensor h = tarn_matmul(all, tarn_transpose(all, 1, 2));
    h = tarn_reshape(h, TARN_SHAPE(samples, (TABLES + 1) * (TABLES + 1)));
    h = tarn_concat((tarn_tensor[]){ h, parts[TABLES] }, 2, 1);
    h = tarn_relu(tarn_use_linear(h, "high1", 256));
    return tarn_use_linear(tarn_relu(tarn_use_linear(h, "high2", 64)), "high3", 2);
}

static tarn_tensor number(tarn_replica *r, int32_t value)
{
    return tarn_from(r, TARN_SCALAR, TARN_I32, &value);
}

static tarn_tensor modulo(tarn_tensor x, tarn_tensor y)
{
    return tarn_sub(x, tarn_mul(tarn_div(x, y), y));
}

/* Two layers that add up, for each vertex, what the vertices at the far ends of its edges hold. */
static tarn_tensor graph(tarn_tensor x)
{
    tarn_replica *r = x.replica;
    const int32_t count = tarn_shape_get(x).dim[0];
    const tarn_tensor edge = tarn_arange(r, EDGES_EACH * count), vertices = number(r, count);
    const tarn_tensor from = modulo(tarn_mul(edge, number(r, 7919)), vertices);
    const tarn_tensor to = modulo(tarn_add(tarn_mul(edge, number(r, 31)), number(r, 17)), vertices);
    for (int i = 0; i < 2; i++) {
        tarn_enter(r, "layers.%d", i);
        const tarn_tensor sent = tarn_index_select(tarn_use_linear(x, "far", 128), 0, from);
        const tarn_tensor own = tarn_use_linear(x, "own", 128);
        x = tarn_relu(tarn_index_add(own, 0, to, sent));
        tarn_leave(r);
    }
    return tarn_use_linear(x, "head", CLASSES);
}

/* Layers of which each row uses the two of eight that a third one finds best, all computed and weighted. */
static tarn_tensor experts(tarn_tensor x)
{
    enum { EXPERTS = 8, WIDTH = 128, WIDER = 256 };
    tarn_replica *r = x.replica;
    const tarn_init init = { TARN_INIT_NORMAL, .b = 0.05f };
    x = tarn_use_linear(x, "in", WIDTH);
    for (int i = 0; i < 2; i++) {
        tarn_enter(r, "layers.%d", i);
        const tarn_tensor h = tarn_use_rms_norm(x, "norm");
        const tarn_tensor score = tarn_use_linear(h, "gate", EXPERTS);
        const tarn_tensor least = tarn_slice(tarn_top_k(score, 2, 1, true, NULL), 1, 1, 2, 1);
        tarn_tensor weight =
            tarn_where(tarn_ge(score, least), score, tarn_full(r, TARN_SCALAR, -1e9f));
        weight = tarn_softmax(weight, 1);
        const tarn_tensor up = tarn_use_parameter(r, "up", TARN_SHAPE(EXPERTS, WIDTH, WIDER), init);
        const tarn_tensor down =
            tarn_use_parameter(r, "down", TARN_SHAPE(EXPERTS, WIDER, WIDTH), init);
        const tarn_tensor wide = tarn_silu(tarn_einsum("nd,edh->enh", h, up));
        const tarn_tensor out = tarn_einsum("enh,ehd->end", wide, down);
        x = tarn_add(x, tarn_einsum("ne,end->nd", weight, out));
        tarn_leave(r);
    }
    return tarn_use_linear(x, "head", CLASSES);
}

const struct timed_network timed_more[] = {
    { .name = "convnext",
      .x = { 4, { 64, 3, SIDE, SIDE } },
      .y = { 1, { 64 } },
      .classes = CLASSES,
      .forward = convnext,
      .optimizer = timed_adamw },
    { .name = "mixer",
      .x = { 4, { 64, 3, SIDE, SIDE } },
      .y = { 1, { 64 } },
      .classes = CLASSES,
      .forward = mixer,
      .optimizer = timed_adamw },
    { .name = "vgg",
      .x = { 4, { 64, 3, SIDE, SIDE } },
      .y = { 1, { 64 } },
      .classes = CLASSES,
      .forward = vgg,
      .optimizer = timed_sgd },
    { .name = "densenet",
      .x = { 4, { 64, 3, SIDE, SIDE } },
      .y = { 1, { 64 } },
      .classes = CLASSES,
      .forward = densenet,
      .optimizer = timed_sgd },
    { .name = "squeeze",
      .x = { 4, { 64, 3, SIDE, SIDE } },
      .y = { 1, { 64 } },
      .classes = CLASSES,
      .forward = squeeze,
      .optimizer = timed_sgd },
    { .name = "wavenet",
      .x = { 2, { 16, MOMENTS } },
      .y = { 1, { 16 * MOMENTS } },
      .classes = NOTES,
      .words = NOTES,
      .forward = wavenet,
      .optimizer = timed_adam },
    { .name = "translate",
      .x = { 2, { 64, SENTENCE } },
      .y = { 1, { 64 * SENTENCE } },
      .classes = WORDS,
      .words = WORDS,
      .forward = translate,
      .optimizer = timed_adam,
      .clip = 1 },
    { .name = "recommend",
      .x = { 2, { 512, TABLES } },
      .y = { 1, { 512 } },
      .classes = 2,
      .words = ROWS,
      .forward = recommend,
      .optimizer = timed_sgd },
    { .name = "graph",
      .x = { 2, { VERTICES, 64 } },
      .y = { 1, { VERTICES } },
      .classes = CLASSES,
      .forward = graph,
      .optimizer = timed_adam },
    { .name = "experts",
      .x = { 2, { 512, 64 } },
      .y = { 1, { 512 } },
      .classes = CLASSES,
      .forward = experts,
      .optimizer = timed_adamw },
    { 0 },
};
