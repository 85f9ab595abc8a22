/* SPDX-License-Identifier: Apache-2.0 */
/* Networks that remember or weigh what came before, and others, written as in PyTorch. */
#include "timed.h"

#include <math.h>
#include <stdlib.h>

enum {
    WORDS = 1000,
    WIDTH = 160,
    HEADS = 4,
    SOURCE = 48,
    TARGET = 40,
    BUCKETS = 32,
    FARTHEST = 128,
    SLOTS = 40,
    SLOT = 20,
    STATE = 100,
    BITS = 8,
    SPOKEN = 144,
    KINDS = 40,
    CONTEXT = 30,
    PER_SAMPLE = 24,
    PLACES = 400,
    POINTS = 256,
    MODES = 16,
    WAVES = 48,
    TAGS = 9,
    VOCABULARY = 2000,
    READER = 100,
};

/* A buffer that is made where it is first used. */
static tarn_tensor fixed(tarn_replica *r, const char *name, tarn_shape s, tarn_dtype type,
                         void (*fill)(void *values))
{
    const tarn_tensor found = tarn_find(r, name);
    if (!tarn_failed(found))
        return found;
    void *values = malloc((size_t)tarn_shape_count(s) * tarn_dtype_bytes(type));
    if (values == NULL)
        return TARN_NONE;
    fill(values);
    const tarn_tensor made = tarn_buffer(r, name, s, type, values);
    free(values);
    return made;
}

/* ---- relative places ------------------------------------------------------------------------- */

/* Near places have a bucket each, far ones share them, the more the farther. */
static int bucket_of(int distance, int buckets)
{
    const int near = buckets / 2;
    if (distance < near)
        return distance;
    const float far = logf((float)distance / (float)near) / logf((float)FARTHEST / (float)near);
    const int bucket = near + (int)(far * (float)(buckets - near));
    return bucket < buckets ? bucket : buckets - 1;
}

static void both_ways(void *values)
{
    int32_t *index = values;
    for (int q = 0; q < SOURCE; q++)
        for (int k = 0; k < SOURCE; k++)
            *index++ = (k > q ? BUCKETS / 2 : 0) + bucket_of(abs(k - q), BUCKETS / 2);
}

static void backwards(void *values)
{
    int32_t *index = values;
    for (int q = 0; q < TARGET; q++)
        for (int k = 0; k < TARGET; k++)
            *index++ = bucket_of(k > q ? 0 : q - k, BUCKETS);
}

/* What the distance adds to scores, [HEADS, T, T]. */
static tarn_tensor distances(tarn_tensor index, const char *name)
{
    return tarn_permute(tarn_use_embedding(index, name, BUCKETS, HEADS), TARN_AXES(2, 0, 1));
}

static tarn_tensor plain(tarn_tensor x, const char *name, int out)
{
    return tarn_use_linear_with(x, name, out, (tarn_linear_options){ .no_bias = true });
}

static tarn_tensor norm(tarn_tensor x, const char *name)
{
    return tarn_use_rms_norm_with(x, name, (tarn_norm_options){ .eps = 1e-6f });
}

static tarn_tensor heads_of(tarn_tensor x, const char *name)
{
    const tarn_shape s = tarn_shape_get(x);
    x = plain(x, name, WIDTH);
    return tarn_transpose(tarn_reshape(x, TARN_SHAPE(s.dim[0], s.dim[1], HEADS, WIDTH / HEADS)), 1,
                          2);
}

/* `bias` is added to scores, unless it is TARN_NONE. */
static tarn_tensor attend(tarn_tensor x, tarn_tensor memory, const char *name, tarn_tensor bias)
{
    tarn_enter(x.replica, "%s", name);
    const tarn_tensor q = heads_of(x, "q"), k = heads_of(memory, "k"), v = heads_of(memory, "v");
    tarn_tensor scores = tarn_matmul(q, tarn_transpose(k, 2, 3));
    if (bias.replica != NULL)
        scores = tarn_add(scores, bias);
    const tarn_tensor h = tarn_transpose(tarn_matmul(tarn_softmax(scores, -1), v), 1, 2);
    x = plain(tarn_reshape(h, tarn_shape_get(x)), "out", WIDTH);
    tarn_leave(x.replica);
    return x;
}

static tarn_tensor gated(tarn_tensor x)
{
    const tarn_tensor h =
        tarn_mul(tarn_gelu_tanh(plain(x, "gate", 2 * WIDTH)), plain(x, "up", 2 * WIDTH));
    return plain(h, "down", WIDTH);
}

static tarn_tensor spans(tarn_tensor x)
{
    tarn_replica *r = x.replica;
    tarn_tensor memory = tarn_use_embedding(tarn_slice(x, 1, 0, SOURCE, 1), "words", WORDS, WIDTH);
    tarn_tensor bias = distances(
        fixed(r, "source_buckets", TARN_SHAPE(SOURCE, SOURCE), TARN_I32, both_ways), "source_bias");
    for (int i = 0; i < 2; i++) {
        tarn_enter(r, "encoder.%d", i);
        const tarn_tensor h = norm(memory, "norm1");
        memory = tarn_add(memory, attend(h, h, "own", bias));
        memory = tarn_add(memory, gated(norm(memory, "norm2")));
        tarn_leave(r);
    }
    memory = norm(memory, "encoder_norm");

    x = tarn_use_embedding(tarn_slice(x, 1, SOURCE, SOURCE + TARGET, 1), "words", WORDS, WIDTH);
    bias = distances(fixed(r, "target_buckets", TARN_SHAPE(TARGET, TARGET), TARN_I32, backwards),
                     "target_bias");
    const tarn_tensor place = tarn_arange(r, TARGET);
    const tarn_tensor seen = tarn_le(place, tarn_reshape(place, TARN_SHAPE(TARGET, 1)));
    bias = tarn_where(seen, bias, tarn_full(r, TARN_SCALAR, -INFINITY));
    for (int i = 0; i < 2; i++) {
        tarn_enter(r, "decoder.%d", i);
        const tarn_tensor h = norm(x, "norm1");
        x = tarn_add(x, attend(h, h, "own", bias));
        x = tarn_add(x, attend(norm(x, "norm2"), memory, "cross", TARN_NONE));
        x = tarn_add(x, gated(norm(x, "norm3")));
        tarn_leave(r);
    }
    x = tarn_mul_scalar(norm(x, "decoder_norm"), 1 / sqrt(WIDTH));
    const tarn_tensor words = tarn_find(r, "words.weight");
    return tarn_reshape(tarn_matmul(x, tarn_transpose(words, 0, 1)), TARN_SHAPE(-1, WORDS));
}

/* ---- a memory that is read and written ------------------------------------------------------- */

static tarn_tensor squares(tarn_tensor x)
{
    return tarn_sum(tarn_mul(x, x), TARN_AXES(2), false);
}

/* How much of each slot is meant, [N, SLOTS]: by the likeness of what is in it to a key. */
static tarn_tensor address(tarn_tensor key, tarn_tensor strength, tarn_tensor memory)
{
    key = tarn_reshape(tarn_tanh(key), TARN_SHAPE(-1, 1, SLOT));
    const tarn_tensor both = tarn_sum(tarn_mul(key, memory), TARN_AXES(2), false);
    const tarn_tensor lengths = tarn_mul(squares(key), squares(memory));
    const tarn_tensor like = tarn_div(both, tarn_sqrt(tarn_add_scalar(lengths, 1e-16)));
    return tarn_softmax(tarn_mul(tarn_softplus(strength, 1, 20), like), 1);
}

static void tape_step(const tarn_tensor *carry, const tarn_tensor *x, tarn_tensor *next,
                      tarn_tensor *y, void *user)
{
    (void)user;
    static const int32_t writes[] = { SLOT, 1, SLOT, SLOT }, reads[] = { SLOT, 1 };
    tarn_tensor h = carry[0], c = carry[1], memory = carry[2], read = carry[3], part[4];
    const tarn_tensor in = tarn_concat((tarn_tensor[]){ x[0], read }, 2, 1);
    const tarn_tensor gates =
        tarn_add(tarn_use_linear(in, "input", 4 * STATE), tarn_use_linear(h, "state", 4 * STATE));
    tarn_split(gates, NULL, 4, 1, part);
    c = tarn_add(tarn_mul(tarn_sigmoid(part[1]), c),
                 tarn_mul(tarn_sigmoid(part[0]), tarn_tanh(part[2])));
    h = tarn_mul(tarn_sigmoid(part[3]), tarn_tanh(c));

    tarn_split(tarn_use_linear(h, "write", 3 * SLOT + 1), writes, 4, 1, part);
    const tarn_tensor at =
        tarn_reshape(address(part[0], part[1], memory), TARN_SHAPE(-1, SLOTS, 1));
    const tarn_tensor erase = tarn_reshape(tarn_sigmoid(part[2]), TARN_SHAPE(-1, 1, SLOT));
    const tarn_tensor add = tarn_reshape(tarn_tanh(part[3]), TARN_SHAPE(-1, 1, SLOT));
    const tarn_tensor one = tarn_ones(h.replica, TARN_SCALAR);
    memory = tarn_add(tarn_mul(memory, tarn_sub(one, tarn_mul(at, erase))), tarn_mul(at, add));

    tarn_split(tarn_use_linear(h, "read", SLOT + 1), reads, 2, 1, part);
    const tarn_tensor from =
        tarn_reshape(address(part[0], part[1], memory), TARN_SHAPE(-1, 1, SLOTS));
    read = tarn_reshape(tarn_matmul(from, memory), TARN_SHAPE(-1, SLOT));
    next[0] = h;
    next[1] = c;
    next[2] = memory;
    next[3] = read;
    y[0] = tarn_use_linear(tarn_concat((tarn_tensor[]){ h, read }, 2, 1), "out", BITS);
}

static tarn_tensor head_tape(tarn_tensor x)
{
    tarn_replica *r = x.replica;
    const int n = tarn_shape_get(x).dim[0];
    const tarn_tensor memory = tarn_use_parameter(r, "memory", TARN_SHAPE(SLOTS, SLOT),
                                                  (tarn_init){ TARN_INIT_NORMAL, .b = 0.1f });
    const tarn_tensor zeros = tarn_zeros(r, TARN_SHAPE(n, STATE));
    const tarn_tensor first[] = { zeros, zeros,
                                  tarn_broadcast_to(memory, TARN_SHAPE(n, SLOTS, SLOT)),
                                  tarn_zeros(r, TARN_SHAPE(n, SLOT)) };
    const tarn_scan_args args = {
        .body = tape_step, .carry = first, .carries = 4, .x = &x, .xs = 1, .ys = 1, .axis = 1
    };
    tarn_tensor y;
    tarn_scan(r, &args, NULL, &y);
    return y;
}

static tarn_tensor head_tape_loss(tarn_tensor x, tarn_tensor y)
{
    return tarn_bce_with_logits(head_tape(x), tarn_cast(y, TARN_F32), TARN_NONE);
}

/* ---- speech ---------------------------------------------------------------------------------- */

static tarn_tensor half_step(tarn_tensor x, const char *name)
{
    tarn_enter(x.replica, "%s", name);
    tarn_tensor h = tarn_use_linear(tarn_use_layer_norm(x, "norm"), "up", 4 * SPOKEN);
    h = tarn_use_linear(tarn_silu(h), "down", SPOKEN);
    tarn_leave(x.replica);
    return tarn_add(x, tarn_mul_scalar(h, 0.5));
}

static tarn_tensor convolved(tarn_tensor x)
{
    const tarn_conv1d_options one = { 0 }, each = { .padding = 7, .groups = SPOKEN };
    tarn_tensor half[2];
    tarn_enter(x.replica, "conv");
    tarn_tensor h = tarn_transpose(tarn_use_layer_norm(x, "norm"), 1, 2);
    tarn_split(tarn_use_conv1d(h, "into", 2 * SPOKEN, 1, one), NULL, 2, 1, half);
    h = tarn_mul(half[0], tarn_sigmoid(half[1]));
    h = tarn_use_batch_norm(tarn_use_conv1d(h, "each", SPOKEN, 15, each), "batch_norm");
    h = tarn_use_conv1d(tarn_silu(h), "out", SPOKEN, 1, one);
    tarn_leave(x.replica);
    return tarn_add(x, tarn_transpose(h, 1, 2));
}

static tarn_tensor conformer(tarn_tensor x)
{
    const tarn_multi_head_attention_options heads = { .heads = HEADS };
    x = tarn_use_linear(x, "start", SPOKEN);
    for (int i = 0; i < 3; i++) {
        tarn_enter(x.replica, "blocks.%d", i);
        x = half_step(x, "first");
        const tarn_tensor h = tarn_use_layer_norm(x, "norm");
        x = tarn_add(x, tarn_use_multi_head_attention(h, "attention", heads, TARN_NONE, TARN_NONE));
        x = tarn_use_layer_norm(half_step(convolved(x), "second"), "last_norm");
        tarn_leave(x.replica);
    }
    return tarn_reshape(tarn_use_linear(x, "head", KINDS), TARN_SHAPE(-1, KINDS));
}

/* ---- weights that a network makes ------------------------------------------------------------ */

/* Each sample is a context and points; each has layers of its own that are made of its context. */
static tarn_tensor hyper(tarn_tensor x)
{
    static const int32_t sizes[] = { 2 * PER_SAMPLE, PER_SAMPLE, PER_SAMPLE, 1 };
    tarn_tensor w[4];
    const tarn_tensor context = tarn_slice(x, 1, 0, CONTEXT, 1);
    tarn_tensor p = tarn_slice(x, 1, CONTEXT, CONTEXT + 2 * PLACES, 1);
    p = tarn_reshape(p, TARN_SHAPE(-1, PLACES, 2));
    tarn_tensor h = tarn_relu(tarn_use_linear(context, "first", 64));
    h = tarn_relu(tarn_use_linear(h, "second", 64));
    tarn_split(tarn_use_linear(h, "weights", 4 * PER_SAMPLE + 1), sizes, 4, 1, w);
    h = tarn_matmul(p, tarn_reshape(w[0], TARN_SHAPE(-1, 2, PER_SAMPLE)));
    h = tarn_tanh(tarn_add(h, tarn_reshape(w[1], TARN_SHAPE(-1, 1, PER_SAMPLE))));
    h = tarn_matmul(h, tarn_reshape(w[2], TARN_SHAPE(-1, PER_SAMPLE, 1)));
    return tarn_add(tarn_reshape(h, TARN_SHAPE(-1, PLACES)), w[3]);
}

static tarn_tensor hyper_loss(tarn_tensor x, tarn_tensor y)
{
    return tarn_mse_loss(hyper(x), y);
}

/* ---- waves ----------------------------------------------------------------------------------- */

static double angle(int i)
{
    return 2 * 3.14159265358979323846 * (i / POINTS) * (i % POINTS) / POINTS;
}

static void cosines(void *values)
{
    for (int i = 0; i < MODES * POINTS; i++)
        ((float *)values)[i] = (float)cos(angle(i));
}

static void sines(void *values)
{
    for (int i = 0; i < MODES * POINTS; i++)
        ((float *)values)[i] = (float)sin(angle(i));
}

static tarn_tensor wave_weight(tarn_replica *r, const char *name)
{
    const tarn_init init = { TARN_INIT_UNIFORM, .b = 1.0f / (WAVES * WAVES) };
    return tarn_use_parameter(r, name, TARN_SHAPE(MODES, WAVES, WAVES), init);
}

/* The waves that a function is made of, the longest ones, are mixed. */
static tarn_tensor mixed(tarn_tensor x, tarn_tensor c, tarn_tensor s)
{
    const tarn_tensor a = wave_weight(x.replica, "real"), b = wave_weight(x.replica, "imaginary");
    const tarn_tensor re = tarn_einsum("kp,npc->nkc", c, x),
                      im = tarn_neg(tarn_einsum("kp,npc->nkc", s, x));
    const tarn_tensor real =
        tarn_sub(tarn_einsum("nkc,kcd->nkd", re, a), tarn_einsum("nkc,kcd->nkd", im, b));
    const tarn_tensor imaginary =
        tarn_add(tarn_einsum("nkc,kcd->nkd", re, b), tarn_einsum("nkc,kcd->nkd", im, a));
    /* All waves but the constant one stand for two. */
    const tarn_tensor wave = tarn_gt_scalar(tarn_arange(x.replica, MODES), 0);
    const tarn_tensor times =
        tarn_reshape(tarn_mul_scalar(tarn_add_scalar(tarn_cast(wave, TARN_F32), 1), 1.0 / POINTS),
                     TARN_SHAPE(MODES, 1));
    return tarn_sub(tarn_einsum("kp,nkd->npd", c, tarn_mul(real, times)),
                    tarn_einsum("kp,nkd->npd", s, tarn_mul(imaginary, times)));
}

static tarn_tensor spectra(tarn_tensor x)
{
    const tarn_tensor c = fixed(x.replica, "cos", TARN_SHAPE(MODES, POINTS), TARN_F32, cosines),
                      s = fixed(x.replica, "sin", TARN_SHAPE(MODES, POINTS), TARN_F32, sines);
    x = tarn_use_linear(x, "lift", WAVES);
    for (int i = 0; i < 3; i++) {
        tarn_enter(x.replica, "layers.%d", i);
        x = tarn_gelu(tarn_add(mixed(x, c, s), tarn_use_linear(x, "skip", WAVES)));
        tarn_leave(x.replica);
    }
    x = tarn_use_linear(tarn_gelu(tarn_use_linear(x, "wide", 128)), "head", 1);
    return tarn_reshape(x, TARN_SHAPE(-1, POINTS));
}

static tarn_tensor spectra_loss(tarn_tensor x, tarn_tensor y)
{
    return tarn_mse_loss(spectra(x), y);
}

/* ---- tags, of which some follow others ------------------------------------------------------- */

struct field {
    tarn_tensor first, last, follows; /* [TAGS], [TAGS], [TAGS, TAGS] */
};

static struct field field(tarn_replica *r)
{
    const tarn_init init = { TARN_INIT_UNIFORM, .a = -0.1f, .b = 0.1f };
    return (struct field){ tarn_use_parameter(r, "first", TARN_SHAPE(TAGS), init),
                           tarn_use_parameter(r, "last", TARN_SHAPE(TAGS), init),
                           tarn_use_parameter(r, "follows", TARN_SHAPE(TAGS, TAGS), init) };
}

/* Scores of tags, [N, T, TAGS]. */
static tarn_tensor tagger(tarn_tensor x)
{
    const tarn_recurrent_options both = { .batch_first = true, .bidirectional = true };
    (void)field(x.replica); /* made before the optimizer, though only the loss has them */
    x = tarn_use_embedding(x, "words", VOCABULARY, 64);
    return tarn_use_linear(tarn_use_lstm(x, "lstm", READER, both, NULL, NULL).y, "head", TAGS);
}

static void tag_step(const tarn_tensor *carry, const tarn_tensor *x, tarn_tensor *next,
                     tarn_tensor *y, void *user)
{
    (void)y;
    const struct field *f = user;
    const tarn_tensor ways = tarn_add(tarn_reshape(carry[0], TARN_SHAPE(-1, TAGS, 1)), f->follows);
    next[0] = tarn_add(tarn_logsumexp(ways, TARN_AXES(1), false), x[0]);
}

static tarn_tensor tagger_loss(tarn_tensor x, tarn_tensor y)
{
    tarn_replica *r = x.replica;
    struct field f = field(r);
    const tarn_tensor scores = tagger(x);
    const tarn_shape s = tarn_shape_get(y);
    const int n = s.dim[0], steps = s.dim[1];
    const tarn_tensor later = tarn_slice(scores, 1, 1, steps, 1);
    tarn_tensor all = tarn_add(f.first, tarn_select(scores, 1, 0));
    const tarn_scan_args args = {
        .body = tag_step, .user = &f, .carry = &all, .carries = 1, .x = &later, .xs = 1, .axis = 1
    };
    tarn_scan(r, &args, &all, NULL);
    all = tarn_logsumexp(tarn_add(all, f.last), TARN_AXES(1), false);

    const tarn_tensor from = tarn_slice(y, 1, 0, steps - 1, 1), to = tarn_slice(y, 1, 1, steps, 1);
    const tarn_tensor pair = tarn_add(tarn_mul_scalar(from, TAGS), to);
    const tarn_tensor follows =
        tarn_index_select(tarn_flatten(f.follows, 0), 0, tarn_flatten(pair, 0));
    const tarn_tensor own = tarn_gather(scores, 2, tarn_reshape(y, TARN_SHAPE(n, steps, 1)));
    tarn_tensor gold = tarn_sum(own, TARN_AXES(1, 2), false);
    gold = tarn_add(gold,
                    tarn_sum(tarn_reshape(follows, TARN_SHAPE(n, steps - 1)), TARN_AXES(1), false));
    gold = tarn_add(gold, tarn_index_select(f.first, 0, tarn_select(y, 1, 0)));
    gold = tarn_add(gold, tarn_index_select(f.last, 0, tarn_select(y, 1, -1)));
    return tarn_mean(tarn_sub(all, gold), TARN_ALL, false);
}

const struct timed_network timed_memory[] = {
    { .name = "spans",
      .x = { 2, { 16, SOURCE + TARGET } },
      .y = { 1, { 16 * TARGET } },
      .classes = WORDS,
      .words = WORDS,
      .forward = spans,
      .optimizer = timed_adamw },
    { .name = "head-tape",
      .x = { 3, { 50, 20, BITS } },
      .y = { 3, { 50, 20, BITS } },
      .classes = 2,
      .forward = head_tape,
      .loss = head_tape_loss,
      .optimizer = timed_adam,
      .clip = 10 },
    { .name = "conformer",
      .x = { 3, { 12, 150, 80 } },
      .y = { 1, { 12 * 150 } },
      .classes = KINDS,
      .forward = conformer,
      .optimizer = timed_adamw },
    { .name = "hyper",
      .x = { 2, { 256, CONTEXT + 2 * PLACES } },
      .y = { 2, { 256, PLACES } },
      .forward = hyper,
      .loss = hyper_loss,
      .optimizer = timed_adam },
    { .name = "spectra",
      .x = { 3, { 20, POINTS, 2 } },
      .y = { 2, { 20, POINTS } },
      .forward = spectra,
      .loss = spectra_loss,
      .optimizer = timed_adam },
    { .name = "tagger",
      .x = { 2, { 24, 30 } },
      .y = { 2, { 24, 30 } },
      .classes = TAGS,
      .words = VOCABULARY,
      .forward = tagger,
      .loss = tagger_loss,
      .optimizer = timed_adam },
    { 0 },
};
