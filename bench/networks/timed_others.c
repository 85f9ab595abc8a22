/* SPDX-License-Identifier: Apache-2.0 */
/* Networks of still other kinds, timed as they were written: transposed convolutions, denoising, strides of four, larger
 * pictures, waves, lines of text in pictures, rotated heads that share keys, masked words, rays, and a small policy. */
#include "timed.h"

enum { SIDE = 32, LETTERS = 80, WORDS = 4096, LENGTH = 64, HEADS = 8, SHARED = 2, STATES = 256 };
enum { RAYS = 512, DEPTHS = 32, OCTAVES = 6, ACTIONS = 6 };

/* ---- images ---------------------------------------------------------------------------------- */

static tarn_tensor conv(tarn_tensor x, const char *name, int out, int window, int stride)
{
    const tarn_conv2d_options options = { .stride = { stride, stride },
                                          .padding = { (window - 1) / 2, (window - 1) / 2 } };
    return tarn_use_conv2d(x, name, out, window, options);
}

/* Made smaller by strided convolutions, and as large as before by transposed ones. */
static tarn_tensor deconv(tarn_tensor x)
{
    static const int down[] = { 32, 64, 128 }, up[] = { 64, 32, 3 };
    const tarn_conv_transpose2d_options twice = { .stride = { 2, 2 }, .padding = { 1, 1 } };
    for (int i = 0; i < 3; i++) {
        x = conv(x, TARN_NAME("down%d", i), down[i], 4, 2);
        x = tarn_leaky_relu(tarn_use_batch_norm(x, TARN_NAME("norm%d", i)), 0.2f);
    }
    for (int i = 0; i < 3; i++) {
        x = tarn_use_conv_transpose2d(x, TARN_NAME("up%d", i), up[i], 4, twice);
        if (i < 2)
            x = tarn_relu(tarn_use_batch_norm(x, TARN_NAME("wider%d", i)));
    }
    return x;
}

static tarn_tensor deconv_loss(tarn_tensor x, tarn_tensor y)
{
    (void)y;
    return tarn_mse_loss(deconv(x), x);
}

static tarn_tensor smooth(tarn_tensor x, const char *name)
{
    return tarn_silu(tarn_use_group_norm(x, name, 8));
}

/* Two convolutions, between which the time is added, beside what comes in. */
static tarn_tensor timed_block(tarn_tensor x, const char *name, tarn_tensor time, int out)
{
    tarn_enter(x.replica, "%s", name);
    const tarn_shape s = tarn_shape_get(x);
    tarn_tensor h = conv(smooth(x, "norm1"), "conv1", out, 3, 1);
    const tarn_tensor when = tarn_use_linear(time, "time", out);
    h = tarn_add(h, tarn_reshape(when, TARN_SHAPE(s.dim[0], out, 1, 1)));
    h = conv(smooth(h, "norm2"), "conv2", out, 3, 1);
    const tarn_tensor beside = s.dim[1] == out ? x : conv(x, "beside", out, 1, 1);
    tarn_leave(x.replica);
    return tarn_add(beside, h);
}

/* The noise in a picture, found by a U-Net that attends at its bottom. The picture's mean is the time. */
static tarn_tensor denoise(tarn_tensor x)
{
    tarn_replica *r = x.replica;
    const tarn_tensor t = tarn_reshape(tarn_mean(x, TARN_AXES(1, 2, 3), false), TARN_SHAPE(-1, 1));
    const tarn_tensor step = tarn_cast(tarn_arange(r, 16), TARN_F32);
    const tarn_tensor wave = tarn_mul(t, tarn_exp(tarn_mul_scalar(step, 0.5f)));
    tarn_tensor time = tarn_concat((tarn_tensor[]){ tarn_sin(wave), tarn_cos(wave) }, 2, 1);
    time = tarn_silu(tarn_use_linear(time, "time", 128));
    tarn_tensor side[2], h = conv(x, "in", 32, 3, 1);
    for (int i = 0; i < 2; i++) {
        h = side[i] = timed_block(h, TARN_NAME("down%d", i), time, 32 << i);
        h = conv(h, TARN_NAME("smaller%d", i), 32 << i, 3, 2);
    }
    h = timed_block(h, "bottom1", time, 128);
    const tarn_shape s = tarn_shape_get(h);
    const tarn_multi_head_attention_options heads = { .heads = 4 };
    tarn_tensor rows = tarn_transpose(tarn_flatten(tarn_use_group_norm(h, "before", 8), 2), 1, 2);
    rows = tarn_use_multi_head_attention(rows, "attention", heads, TARN_NONE, TARN_NONE);
    h = tarn_add(h, tarn_reshape(tarn_transpose(rows, 1, 2), s));
    h = timed_block(h, "bottom2", time, 128);
    for (int i = 1; i >= 0; i--) {
        h = conv(tarn_upsample_nearest2d(h, 2, 2), TARN_NAME("larger%d", i), 32 << i, 3, 1);
        h = tarn_concat((tarn_tensor[]){ h, side[i] }, 2, 1);
        h = timed_block(h, TARN_NAME("up%d", i), time, 32 << i);
    }
    return conv(smooth(h, "norm"), "out", 3, 3, 1);
}

static tarn_tensor denoise_loss(tarn_tensor x, tarn_tensor y)
{
    (void)y;
    const tarn_tensor noise = tarn_randn(x.replica, tarn_shape_get(x));
    return tarn_mse_loss(denoise(tarn_add(x, noise)), noise);
}

/* What each action is worth, from four frames of a game. */
static tarn_tensor atari(tarn_tensor x)
{
    static const tarn_conv2d_options by4 = { .stride = { 4, 4 } }, by2 = { .stride = { 2, 2 } },
                                     by1 = { 0 };
    x = tarn_relu(tarn_use_conv2d(x, "conv1", 32, 8, by4));
    x = tarn_relu(tarn_use_conv2d(x, "conv2", 64, 4, by2));
    x = tarn_relu(tarn_use_conv2d(x, "conv3", 64, 3, by1));
    x = tarn_relu(tarn_use_linear(tarn_flatten(x, 1), "fc", 512));
    return tarn_use_linear(x, "head", ACTIONS);
}

static tarn_tensor atari_loss(tarn_tensor x, tarn_tensor y)
{
    const tarn_tensor index = tarn_reshape(y, TARN_SHAPE(-1, 1));
    const tarn_tensor worth = tarn_gather(atari(x), 1, index);
    return tarn_smooth_l1_loss(worth, tarn_mul_scalar(tarn_cast(index, TARN_F32), 0.1f), 1);
}

/* A picture of twice the size, whose pixels are taken from the channels. */
static tarn_tensor enlarge(tarn_tensor x)
{
    const tarn_shape s = tarn_shape_get(x);
    tarn_tensor h = conv(x, "in", 64, 3, 1);
    const tarn_tensor first = h;
    for (int i = 0; i < 4; i++) {
        const tarn_tensor more = tarn_relu(conv(h, TARN_NAME("first%d", i), 64, 3, 1));
        h = tarn_add(h, conv(more, TARN_NAME("second%d", i), 64, 3, 1));
    }
    h = conv(tarn_add(h, first), "pixels", 12, 3, 1);
    h = tarn_reshape(h, TARN_SHAPE(s.dim[0], 3, 2, 2, s.dim[2], s.dim[3]));
    h = tarn_permute(h, TARN_AXES(0, 1, 4, 2, 5, 3));
    return tarn_reshape(h, TARN_SHAPE(s.dim[0], 3, 2 * s.dim[2], 2 * s.dim[3]));
}

static tarn_tensor enlarge_loss(tarn_tensor x, tarn_tensor y)
{
    (void)y;
    const tarn_tensor far = tarn_abs(tarn_sub(enlarge(x), tarn_upsample_nearest2d(x, 2, 2)));
    return tarn_mean(far, TARN_ALL, false);
}

/* ---- waves and lines ------------------------------------------------------------------------- */

static tarn_tensor wave_unit(tarn_tensor x, const char *name, int out, int window, int stride)
{
    const tarn_conv1d_options options = { .stride = stride, .padding = window / 2 };
    return tarn_use_batch_norm(tarn_use_conv1d(x, name, out, window, options),
                               TARN_NAME("%s.norm", name));
}

/* A residual network of one dimension, as for a heart's beat. */
static tarn_tensor heartbeat(tarn_tensor x)
{
    x = tarn_relu(wave_unit(x, "stem", 32, 15, 2));
    for (int i = 0; i < 4; i++) {
        const int out = 32 << i / 2, stride = i % 2 + 1;
        tarn_enter(x.replica, "blocks.%d", i);
        tarn_tensor h = tarn_relu(wave_unit(x, "first", out, 7, stride));
        h = wave_unit(h, "second", out, 7, 1);
        if (stride == 2 || tarn_shape_get(x).dim[1] != out)
            x = wave_unit(x, "beside", out, 1, stride);
        tarn_leave(x.replica);
        x = tarn_relu(tarn_add(x, h));
    }
    return tarn_use_linear(tarn_mean(x, TARN_AXES(2), false), "fc", CLASSES);
}

/* A letter for every fourth column of a line of text: convolutions, and what a recurrence makes of their columns. */
static tarn_tensor line(tarn_tensor x)
{
    static const tarn_pool_options high = { .window = { 2, 1 } };
    static const tarn_recurrent_options rows = { .batch_first = true };
    x = tarn_max_pool2d(tarn_relu(conv(x, "conv1", 32, 3, 1)), 2);
    x = tarn_max_pool2d(tarn_relu(conv(x, "conv2", 64, 3, 1)), 2);
    x = tarn_max_pool2d_with(tarn_relu(tarn_use_batch_norm(conv(x, "conv3", 128, 3, 1), "norm")),
                             high);
    const tarn_shape s = tarn_shape_get(x);
    x = tarn_reshape(tarn_permute(x, TARN_AXES(0, 3, 1, 2)),
                     TARN_SHAPE(s.dim[0], s.dim[3], s.dim[1] * s.dim[2]));
    x = tarn_use_gru(x, "gru", 128, rows, NULL).y;
    return tarn_reshape(tarn_use_linear(x, "head", LETTERS), TARN_SHAPE(-1, LETTERS));
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* [N, T, heads * E] as [N, heads, T, E] with the halves of each E turned by angles that grow with the place. */
static tarn_tensor turned(tarn_tensor x, int heads)
{
    const tarn_shape s = tarn_shape_get(x);
    const int32_t places = s.dim[1], each = s.dim[2] / heads, half = each / 2;
    x = tarn_transpose(tarn_reshape(x, TARN_SHAPE(s.dim[0], places, heads, each)), 1, 2);
    tarn_tensor slow = tarn_cast(tarn_arange(x.replica, half), TARN_F32);
    slow = tarn_exp(tarn_mul_scalar(slow, -9.2103404f / (float)half));
    tarn_tensor angle = tarn_cast(tarn_arange(x.replica, places), TARN_F32);
    angle = tarn_mul(tarn_reshape(angle, TARN_SHAPE(places, 1)), slow);
    const tarn_tensor c = tarn_cos(angle), n = tarn_sin(angle);
    const tarn_tensor a = tarn_slice(x, 3, 0, half, 1), b = tarn_slice(x, 3, half, each, 1);
    return tarn_concat((tarn_tensor[]){ tarn_sub(tarn_mul(a, c), tarn_mul(b, n)),
                                        tarn_add(tarn_mul(b, c), tarn_mul(a, n)) },
                       2, 3);
}

static tarn_tensor no_bias(tarn_tensor x, const char *name, int out)
{
    return tarn_use_linear_with(x, name, out, (tarn_linear_options){ .no_bias = true });
}

/* Each head of keys and values [N, SHARED, T, E] for several of queries. */
static tarn_tensor for_all(tarn_tensor x)
{
    const tarn_shape s = tarn_shape_get(x);
    const int32_t each = HEADS / SHARED;
    x = tarn_reshape(x, TARN_SHAPE(s.dim[0], SHARED, 1, s.dim[2], s.dim[3]));
    x = tarn_broadcast_to(x, TARN_SHAPE(s.dim[0], SHARED, each, s.dim[2], s.dim[3]));
    return tarn_reshape(x, TARN_SHAPE(s.dim[0], HEADS, s.dim[2], s.dim[3]));
}

/* A model of language with rotated places, shared keys, gated layers and norms without means. */
static tarn_tensor llama(tarn_tensor x)
{
    const tarn_shape s = tarn_shape_get(x);
    const int each = STATES / HEADS;
    x = tarn_use_embedding(x, "words", WORDS, STATES);
    for (int i = 0; i < 4; i++) {
        tarn_enter(x.replica, "blocks.%d", i);
        tarn_tensor h = tarn_use_rms_norm(x, "norm1");
        const tarn_tensor q = turned(no_bias(h, "q", STATES), HEADS);
        const tarn_tensor k = turned(no_bias(h, "k", SHARED * each), SHARED);
        tarn_tensor v = no_bias(h, "v", SHARED * each);
        v = tarn_transpose(tarn_reshape(v, TARN_SHAPE(s.dim[0], s.dim[1], SHARED, each)), 1, 2);
        h = tarn_attention(q, for_all(k), for_all(v), (tarn_attention_options){ .causal = true });
        h = tarn_reshape(tarn_transpose(h, 1, 2), TARN_SHAPE(s.dim[0], s.dim[1], STATES));
        x = tarn_add(x, no_bias(h, "out", STATES));
        h = tarn_use_rms_norm(x, "norm2");
        h = tarn_mul(tarn_silu(no_bias(h, "gate", 688)), no_bias(h, "up", 688));
        x = tarn_add(x, no_bias(h, "down", STATES));
        tarn_leave(x.replica);
    }
    x = no_bias(tarn_use_rms_norm(x, "norm"), "head", WORDS);
    return tarn_reshape(x, TARN_SHAPE(-1, WORDS));
}

/* Words of texts of unequal lengths, which see each other in both directions; a text's class by its first word. */
static tarn_tensor masked(tarn_tensor x)
{
    tarn_replica *r = x.replica;
    const int32_t limit = WORDS / 8;
    const tarn_tensor seen = tarn_ge(x, tarn_from(r, TARN_SCALAR, TARN_I32, &limit));
    const tarn_transformer_block_options block = { .heads = 4 };
    const tarn_tensor place = tarn_use_parameter(r, "places", TARN_SHAPE(LENGTH, 128),
                                                 (tarn_init){ TARN_INIT_NORMAL, .b = 0.02f });
    x = tarn_use_layer_norm(tarn_add(tarn_use_embedding(x, "words", WORDS, 128), place), "norm");
    for (int i = 0; i < 4; i++)
        x = tarn_use_transformer_block(x, TARN_NAME("blocks.%d", i), block, seen);
    x = tarn_tanh(tarn_use_linear(tarn_select(x, 1, 0), "pool", 128));
    return tarn_use_linear(x, "head", CLASSES);
}

/* The strongest answer in a text to windows of three, four and five words. */
static tarn_tensor sentence(tarn_tensor x)
{
    tarn_tensor parts[3];
    x = tarn_transpose(tarn_use_embedding(x, "words", WORDS, 64), 1, 2);
    for (int i = 0; i < 3; i++) {
        parts[i] =
            tarn_use_conv1d(x, TARN_NAME("windows%d", i), 100, 3 + i, (tarn_conv1d_options){ 0 });
        parts[i] = tarn_max(tarn_relu(parts[i]), TARN_AXES(2), false);
    }
    return tarn_use_linear(tarn_dropout(tarn_concat(parts, 3, 1), 0.5f), "head", CLASSES);
}

/* ---- rays and policies ----------------------------------------------------------------------- */

/* What a ray [origin, direction] sees: colours and densities of points along it, by sines of their places. */
static tarn_tensor rays(tarn_tensor x)
{
    tarn_replica *r = x.replica;
    const int32_t count = tarn_shape_get(x).dim[0];
    tarn_tensor far = tarn_cast(tarn_arange(r, DEPTHS), TARN_F32);
    far = tarn_reshape(tarn_mul_scalar(far, 1.0f / DEPTHS), TARN_SHAPE(DEPTHS, 1));
    const tarn_tensor origin = tarn_reshape(tarn_slice(x, 1, 0, 3, 1), TARN_SHAPE(count, 1, 3));
    const tarn_tensor toward = tarn_reshape(tarn_slice(x, 1, 3, 6, 1), TARN_SHAPE(count, 1, 3));
    const tarn_tensor point = tarn_add(origin, tarn_mul(toward, far));
    tarn_tensor parts[2 * OCTAVES + 1] = { point };
    for (int i = 0; i < OCTAVES; i++) {
        const tarn_tensor wave = tarn_mul_scalar(point, (float)(1 << i));
        parts[1 + 2 * i] = tarn_sin(wave);
        parts[2 + 2 * i] = tarn_cos(wave);
    }
    tarn_tensor h = tarn_concat(parts, 2 * OCTAVES + 1, 2);
    for (int i = 0; i < 4; i++)
        h = tarn_relu(tarn_use_linear(h, TARN_NAME("fc%d", i), 128));
    h = tarn_use_linear(h, "out", 4);
    tarn_tensor dense =
        tarn_relu(tarn_reshape(tarn_slice(h, 2, 3, 4, 1), TARN_SHAPE(count, DEPTHS)));
    dense = tarn_mul_scalar(dense, 1.0f / DEPTHS);
    const tarn_tensor before = tarn_exp(tarn_sub(dense, tarn_cumsum(dense, 1)));
    const tarn_tensor weight = tarn_mul(before, tarn_neg(tarn_expm1(tarn_neg(dense))));
    const tarn_tensor colour = tarn_sigmoid(tarn_slice(h, 2, 0, 3, 1));
    return tarn_sum(tarn_mul(tarn_reshape(weight, TARN_SHAPE(count, DEPTHS, 1)), colour),
                    TARN_AXES(1), false);
}

static tarn_tensor rays_loss(tarn_tensor x, tarn_tensor y)
{
    (void)y;
    return tarn_mse_loss(rays(x), tarn_slice(x, 1, 0, 3, 1));
}

static tarn_tensor two_tanh(tarn_tensor x, const char *name, int out)
{
    for (int i = 0; i < 2; i++)
        x = tarn_tanh(tarn_use_linear(x, TARN_NAME("%s%d", name, i), 64));
    return tarn_use_linear(x, TARN_NAME("%s.out", name), out);
}

static tarn_tensor policy(tarn_tensor x)
{
    const tarn_tensor worth = two_tanh(x, "critic", 1);
    return tarn_concat((tarn_tensor[]){ two_tanh(x, "actor", ACTIONS), worth }, 2, 1);
}

/* A proximal policy's: what the chosen actions bring, within limits of how far the policy may move. */
static tarn_tensor policy_loss(tarn_tensor x, tarn_tensor y)
{
    const tarn_tensor both = policy(x);
    const tarn_tensor all = tarn_log_softmax(tarn_slice(both, 1, 0, ACTIONS, 1), 1);
    const tarn_tensor taken = tarn_gather(all, 1, tarn_reshape(y, TARN_SHAPE(-1, 1)));
    const tarn_tensor ratio = tarn_exp(tarn_add_scalar(taken, 1.8f));
    const tarn_tensor gain = tarn_add_scalar(tarn_slice(x, 1, 0, 1, 1), -0.5f);
    const tarn_tensor least =
        tarn_minimum(tarn_mul(ratio, gain), tarn_mul(tarn_clamp(ratio, 0.8f, 1.2f), gain));
    const tarn_tensor worth = tarn_slice(both, 1, ACTIONS, ACTIONS + 1, 1);
    const tarn_tensor miss = tarn_mse_loss(worth, tarn_slice(x, 1, 1, 2, 1));
    const tarn_tensor certain =
        tarn_mean(tarn_sum(tarn_mul(tarn_exp(all), all), TARN_AXES(1), false), TARN_ALL, false);
    return tarn_add(tarn_sub(tarn_mul_scalar(miss, 0.5f), tarn_mean(least, TARN_ALL, false)),
                    tarn_mul_scalar(certain, 0.01f));
}

const struct timed_network timed_others[] = {
    { .name = "deconv",
      .x = { 4, { 32, 3, SIDE, SIDE } },
      .y = { 1, { 32 } },
      .classes = CLASSES,
      .forward = deconv,
      .loss = deconv_loss,
      .optimizer = timed_adam },
    { .name = "denoise",
      .x = { 4, { 8, 3, SIDE, SIDE } },
      .y = { 1, { 8 } },
      .classes = CLASSES,
      .forward = denoise,
      .loss = denoise_loss,
      .optimizer = timed_adamw },
    { .name = "atari",
      .x = { 4, { 32, 4, 84, 84 } },
      .y = { 1, { 32 } },
      .classes = ACTIONS,
      .forward = atari,
      .loss = atari_loss,
      .optimizer = timed_adam },
    { .name = "enlarge",
      .x = { 4, { 8, 3, 24, 24 } },
      .y = { 1, { 8 } },
      .classes = CLASSES,
      .forward = enlarge,
      .loss = enlarge_loss,
      .optimizer = timed_adam },
    { .name = "heartbeat",
      .x = { 3, { 32, 1, 1000 } },
      .y = { 1, { 32 } },
      .classes = CLASSES,
      .forward = heartbeat,
      .optimizer = timed_adam },
    { .name = "line",
      .x = { 4, { 16, 1, 32, 128 } },
      .y = { 1, { 16 * 32 } },
      .classes = LETTERS,
      .forward = line,
      .optimizer = timed_adam,
      .clip = 1 },
    { .name = "llama",
      .x = { 2, { 8, 128 } },
      .y = { 1, { 8 * 128 } },
      .classes = WORDS,
      .words = WORDS,
      .forward = llama,
      .optimizer = timed_adamw,
      .clip = 1 },
    { .name = "masked",
      .x = { 2, { 16, LENGTH } },
      .y = { 1, { 16 } },
      .classes = CLASSES,
      .words = WORDS,
      .forward = masked,
      .optimizer = timed_adamw },
    { .name = "sentence",
      .x = { 2, { 64, LENGTH } },
      .y = { 1, { 64 } },
      .classes = CLASSES,
      .words = WORDS,
      .forward = sentence,
      .optimizer = timed_adam },
    { .name = "rays",
      .x = { 2, { RAYS, 6 } },
      .y = { 1, { RAYS } },
      .classes = CLASSES,
      .forward = rays,
      .loss = rays_loss,
      .optimizer = timed_adam },
    { .name = "policy",
      .x = { 2, { 64, 8 } },
      .y = { 1, { 64 } },
      .classes = ACTIONS,
      .forward = policy,
      .loss = policy_loss,
      .optimizer = timed_adam,
      .clip = 0.5f },
    { 0 },
};
