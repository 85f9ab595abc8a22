/* SPDX-License-Identifier: Apache-2.0 */
/* Eight networks more that came after all others, as those of timed_fresh.c did. */
#include "timed.h"

enum {
    WORDS = 5000,
    WIDTH = 128,
    PLACES = 64,
    CAPSULES = 64,
    CAPSULE = 16,
    STATES = 16,
    NODES = 1024,
    EDGES = 8192,
    TOKENS = 14,
    TOKEN = 96,
    BASES = 8
};

static tarn_tensor normal(tarn_replica *r, const char *name, tarn_shape shape, float deviation)
{
    return tarn_use_parameter(r, name, shape, (tarn_init){ TARN_INIT_NORMAL, .b = deviation });
}

/* The same numbers as in pytorch_later.py. */
static tarn_tensor numbers_below(tarn_replica *r, int count, int below, uint32_t step)
{
    static int32_t at[EDGES];
    for (int i = 0; i < count; i++)
        at[i] = (int32_t)(((uint32_t)i * step >> 8) % (uint32_t)below);
    return tarn_from(r, TARN_SHAPE(count), TARN_I32, at);
}

/* ---- sequences ------------------------------------------------------------------------------- */

/* Windows of several lengths over words; the largest of each channel. */
static tarn_tensor text_windows(tarn_tensor x)
{
    const tarn_tensor words = tarn_transpose(tarn_use_embedding(x, "words", WORDS, WIDTH), 1, 2);
    tarn_tensor sides[3];
    for (int i = 0; i < 3; i++) {
        const tarn_tensor h = tarn_use_conv1d(words, TARN_NAME("windows.%d", i), 100, 3 + i,
                                              (tarn_conv1d_options){ 0 });
        sides[i] = tarn_max(tarn_relu(h), TARN_AXES(2), false);
    }
    return tarn_use_linear(tarn_concat(sides, 3, 1), "head", CLASSES);
}

/* Half of the features gate the others by what a matrix makes of all places. */
static tarn_tensor gates(tarn_tensor x)
{
    tarn_replica *r = x.replica;
    for (int i = 0; i < 4; i++) {
        tarn_enter(r, "blocks.%d", i);
        tarn_tensor h = tarn_use_layer_norm(x, "norm");
        h = tarn_gelu(tarn_use_linear(h, "up", 4 * WIDTH));
        const tarn_tensor u = tarn_slice(h, 2, 0, 2 * WIDTH, 1);
        tarn_tensor v = tarn_use_layer_norm(tarn_slice(h, 2, 2 * WIDTH, 4 * WIDTH, 1), "inner");
        v = tarn_matmul(normal(r, "places", TARN_SHAPE(PLACES, PLACES), 0.01f), v);
        v = tarn_add(v, normal(r, "offset", TARN_SHAPE(PLACES, 1), 1));
        x = tarn_add(x, tarn_use_linear(tarn_mul(u, v), "down", WIDTH));
        tarn_leave(r);
    }
    return tarn_use_linear(tarn_mean(x, TARN_AXES(1), false), "head", CLASSES);
}

/* What a state space keeps from moment to moment: decays that each channel learns. */
static void remember(const tarn_tensor *carry, const tarn_tensor *x, tarn_tensor *next,
                     tarn_tensor *y, void *user)
{
    const tarn_tensor *p = user; /* decay, in, out */
    const tarn_shape s = tarn_shape_get(x[0]);
    const tarn_tensor wide = tarn_reshape(x[0], TARN_SHAPE(s.dim[0], s.dim[1], 1));
    next[0] = tarn_add(tarn_mul(carry[0], p[0]), tarn_mul(wide, p[1]));
    y[0] = tarn_sum(tarn_mul(next[0], p[2]), TARN_AXES(2), false);
}

static tarn_tensor state_space(tarn_tensor x)
{
    tarn_replica *r = x.replica;
    for (int i = 0; i < 2; i++) {
        tarn_enter(r, "blocks.%d", i);
        tarn_tensor h = tarn_use_linear(x, "in", WIDTH), last;
        const tarn_shape s = tarn_shape_get(h), shape = TARN_SHAPE(WIDTH, STATES);
        tarn_tensor p[3] = { tarn_sigmoid(normal(r, "decay", shape, 1)),
                             normal(r, "write", shape, 1), normal(r, "read", shape, 1) };
        const tarn_tensor none = tarn_zeros(r, TARN_SHAPE(s.dim[0], WIDTH, STATES));
        tarn_scan(r,
                  &(tarn_scan_args){ .body = remember,
                                     .user = p,
                                     .carry = &none,
                                     .carries = 1,
                                     .x = &h,
                                     .xs = 1,
                                     .ys = 1,
                                     .axis = 1 },
                  &last, &h);
        h = tarn_mul(h, tarn_silu(tarn_use_linear(x, "gate", WIDTH)));
        x = tarn_use_linear(h, "out", 64);
        tarn_leave(r);
    }
    return tarn_use_linear(tarn_mean(x, TARN_AXES(1), false), "head", CLASSES);
}

/* Numbers of a table as tokens. */
static tarn_tensor tabular(tarn_tensor x)
{
    const tarn_transformer_block_options block = { .heads = 4 };
    const tarn_shape s = tarn_shape_get(x);
    x = tarn_mul(tarn_reshape(x, TARN_SHAPE(s.dim[0], TOKENS, 1)),
                 normal(x.replica, "scale", TARN_SHAPE(TOKENS, TOKEN), 1));
    x = tarn_add(x, normal(x.replica, "offset", TARN_SHAPE(TOKENS, TOKEN), 1));
    for (int i = 0; i < 3; i++)
        x = tarn_use_transformer_block(x, TARN_NAME("blocks.%d", i), block, TARN_NONE);
    return tarn_use_linear(tarn_select(x, 1, 0), "head", CLASSES);
}

/* ---- others ---------------------------------------------------------------------------------- */

static tarn_tensor squashed(tarn_tensor s)
{
    const tarn_tensor squares = tarn_sum(tarn_mul(s, s), TARN_AXES(-1), true);
    return tarn_mul(
        s, tarn_div(tarn_sqrt(tarn_add_scalar(squares, 1e-6)), tarn_add_scalar(squares, 1)));
}

/* What parts predict of wholes, which those follow that agree: three rounds. */
static tarn_tensor capsules(tarn_tensor x)
{
    tarn_replica *r = x.replica;
    const int n = tarn_shape_get(x).dim[0];
    x = tarn_relu(tarn_use_linear(x, "first", 8 * CAPSULES));
    x = squashed(tarn_reshape(x, TARN_SHAPE(n, CAPSULES, 8)));
    const tarn_tensor w = normal(r, "predict", TARN_SHAPE(CAPSULES, CLASSES, CAPSULE, 8), 0.1f);
    const tarn_tensor u = tarn_einsum("nid,ijkd->nijk", x, w);
    tarn_tensor b = tarn_zeros(r, TARN_SHAPE(n, CAPSULES, CLASSES)), v = TARN_NONE;
    for (int round = 0; round < 3; round++) {
        v = squashed(tarn_einsum("nij,nijk->njk", tarn_softmax(b, 2), u));
        b = tarn_add(b, tarn_einsum("nijk,njk->nij", u, v));
    }
    return tarn_mul_scalar(
        tarn_sqrt(tarn_add_scalar(tarn_sum(tarn_mul(v, v), TARN_AXES(2), false), 1e-6)), 10);
}

/* Points in no order: each is compared with the mean of all. */
static tarn_tensor sets(tarn_tensor x)
{
    for (int i = 0; i < 3; i++) {
        const tarn_tensor mean = tarn_mean(x, TARN_AXES(1), true);
        x = tarn_tanh(tarn_use_linear(tarn_sub(x, mean), TARN_NAME("layers.%d", i), WIDTH));
    }
    x = tarn_max(x, TARN_AXES(1), false);
    return tarn_use_linear(tarn_relu(tarn_use_linear(x, "first", WIDTH)), "head", CLASSES);
}

/* Each node weighs what comes along its edges, by a soft-max over them. */
static tarn_tensor graph_attention(tarn_tensor x)
{
    tarn_replica *r = x.replica;
    const int nodes = tarn_shape_get(x).dim[0];
    const tarn_tensor from = numbers_below(r, EDGES, nodes, 2654435761u),
                      to = numbers_below(r, EDGES, nodes, 2246822519u);
    for (int i = 0; i < 2; i++) {
        tarn_enter(r, "layers.%d", i);
        const tarn_tensor h = tarn_use_linear(x, "in", 64);
        tarn_tensor score = tarn_add(tarn_index_select(tarn_use_linear(h, "source", 4), 0, from),
                                     tarn_index_select(tarn_use_linear(h, "target", 4), 0, to));
        score = tarn_exp(tarn_leaky_relu(score, 0.2f));
        const tarn_tensor all =
            tarn_index_add(tarn_full(r, TARN_SHAPE(nodes, 4), 1e-6f), 0, to, score);
        score = tarn_div(score, tarn_index_select(all, 0, to));
        tarn_tensor sent = tarn_reshape(tarn_index_select(h, 0, from), TARN_SHAPE(EDGES, 4, 16));
        sent = tarn_mul(sent, tarn_reshape(score, TARN_SHAPE(EDGES, 4, 1)));
        sent = tarn_reshape(sent, TARN_SHAPE(EDGES, 64));
        x = tarn_elu(tarn_index_add(tarn_zeros(r, TARN_SHAPE(nodes, 64)), 0, to, sent), 1);
        tarn_leave(r);
    }
    return tarn_use_linear(x, "head", CLASSES);
}

/* Functions of each input that are sums of bumps. */
static tarn_tensor splines(tarn_tensor x)
{
    for (int i = 0; i < 3; i++) {
        tarn_enter(x.replica, "layers.%d", i);
        const tarn_shape s = tarn_shape_get(x);
        const tarn_tensor places = tarn_cast(tarn_arange(x.replica, BASES), TARN_F32);
        const tarn_tensor at = tarn_add_scalar(tarn_mul_scalar(places, 4.0 / (BASES - 1)), -2);
        tarn_tensor d = tarn_sub(tarn_reshape(x, TARN_SHAPE(s.dim[0], s.dim[1], 1)), at);
        d = tarn_exp(tarn_neg(tarn_mul(d, d)));
        d = tarn_reshape(d, TARN_SHAPE(s.dim[0], s.dim[1] * BASES));
        x = tarn_add(tarn_use_linear(d, "bumps", 64), tarn_use_linear(tarn_silu(x), "base", 64));
        tarn_leave(x.replica);
    }
    return tarn_use_linear(x, "head", CLASSES);
}

const struct timed_network timed_later[] = {
    { .name = "text-windows",
      .x = { 2, { 64, PLACES } },
      .y = { 1, { 64 } },
      .classes = CLASSES,
      .words = WORDS,
      .forward = text_windows,
      .optimizer = timed_adam },
    { .name = "gates",
      .x = { 3, { 32, PLACES, WIDTH } },
      .y = { 1, { 32 } },
      .classes = CLASSES,
      .forward = gates,
      .optimizer = timed_adam },
    { .name = "state-space",
      .x = { 3, { 32, PLACES, 64 } },
      .y = { 1, { 32 } },
      .classes = CLASSES,
      .forward = state_space,
      .optimizer = timed_adam },
    { .name = "tabular",
      .x = { 2, { 256, TOKENS } },
      .y = { 1, { 256 } },
      .classes = CLASSES,
      .forward = tabular,
      .optimizer = timed_adam },
    { .name = "capsules",
      .x = { 2, { 128, 784 } },
      .y = { 1, { 128 } },
      .classes = CLASSES,
      .forward = capsules,
      .optimizer = timed_adam },
    { .name = "sets",
      .x = { 3, { 64, 200, 3 } },
      .y = { 1, { 64 } },
      .classes = CLASSES,
      .forward = sets,
      .optimizer = timed_adam },
    { .name = "graph-attention",
      .x = { 2, { NODES, 64 } },
      .y = { 1, { NODES } },
      .classes = CLASSES,
      .forward = graph_attention,
      .optimizer = timed_adam },
    { .name = "splines",
      .x = { 2, { 256, 64 } },
      .y = { 1, { 256 } },
      .classes = CLASSES,
      .forward = splines,
      .optimizer = timed_adam },
    { 0 },
};
