/* SPDX-License-Identifier: Apache-2.0 */
/* Networks of pictures that do more than tell classes apart: a class for each pixel, boxes around things, moves on a
 * board, codes, several resolutions side by side, and films. Written as their papers have them. */
#include "timed.h"

#include <math.h>

/* A convolution without bias that keeps the size of the image, but for the stride, and its norm. */
static tarn_tensor unit(tarn_tensor x, const char *name, int out, int window, int stride,
                        int dilation)
{
    const int around = window / 2 * dilation;
    const tarn_conv2d_make_options make = {
        .window = { window },
        .no_bias = true,
        .options = { { stride }, { around, around }, { dilation }, 1 },
    };
    x = tarn_use_conv2d_with(x, TARN_NAME("%s.conv", name), out, make);
    return tarn_use_batch_norm(x, TARN_NAME("%s.norm", name));
}

/* Two units beside what comes in, as of ResNet-18. */
static tarn_tensor block(tarn_tensor x, const char *name, int out, int stride, int dilation)
{
    tarn_enter(x.replica, "%s", name);
    tarn_tensor h = tarn_relu(unit(x, "first", out, 3, stride, dilation));
    h = unit(h, "second", out, 3, 1, dilation);
    if (stride > 1 || tarn_shape_get(x).dim[1] != out)
        x = unit(x, "beside", out, 1, stride, 1);
    tarn_leave(x.replica);
    return tarn_relu(tarn_add(x, h));
}

/* With bias. */
static tarn_tensor conv(tarn_tensor x, const char *name, int out, int window, int stride)
{
    const int around = (window - 1) / 2;
    const tarn_conv2d_options o = { .stride = { stride }, .padding = { around, around } };
    return tarn_use_conv2d(x, name, out, window, o);
}

static tarn_tensor resized(tarn_tensor x, tarn_shape like)
{
    return tarn_resize_bilinear2d(x, (tarn_resize_options){ .size = { like.dim[2], like.dim[3] } });
}

static tarn_tensor whole(tarn_replica *r, float value)
{
    return tarn_cast(tarn_full(r, TARN_SCALAR, value), TARN_I32);
}

/* ---- classes of pixels ----------------------------------------------------------------------- */

enum { THINGS = 21, UNKNOWN = 255 };

/* As DeepLab: windows with holes, wider and wider, over an image of a quarter of the size. */
static tarn_tensor atrous(tarn_tensor x)
{
    const tarn_shape s = tarn_shape_get(x);
    x = tarn_relu(unit(x, "stem", 32, 3, 2, 1));
    x = block(x, "layer1", 32, 1, 1);
    x = block(x, "layer2", 64, 2, 1);
    x = block(x, "layer3", 128, 1, 2);
    x = block(x, "layer4", 128, 1, 4);
    tarn_tensor sides[5] = { tarn_relu(unit(x, "sides.0", 64, 1, 1, 1)) };
    for (int i = 1; i < 4; i++)
        sides[i] = tarn_relu(unit(x, TARN_NAME("sides.%d", i), 64, 3, 1, 3 * i));
    /* Without a norm, which a single sample would not have. */
    const tarn_tensor all = tarn_relu(conv(tarn_global_avg_pool(x), "sides.4", 64, 1, 1));
    sides[4] = resized(all, tarn_shape_get(x));
    x = tarn_relu(unit(tarn_concat(sides, 5, 1), "joined", 128, 1, 1, 1));
    return resized(conv(x, "head", THINGS, 1, 1), s);
}

/* The class after the last one stands for pixels of which nobody said what they are. */
static tarn_tensor atrous_loss(tarn_tensor x, tarn_tensor y)
{
    const tarn_tensor seen = tarn_where(tarn_eq_scalar(y, THINGS), whole(y.replica, UNKNOWN), y);
    return tarn_cross_entropy_with(
        atrous(x), seen, (tarn_cross_entropy_options){ .ignore = true, .ignore_index = UNKNOWN });
}

/* ---- boxes ----------------------------------------------------------------------------------- */

/* Classes of labels: first those of things, then one that counts nothing; all others are background. */
enum { KINDS = 8, BETWEEN = KINDS, LABELS = 40, ANCHORS = 3, BOX = 4, WIDE = 64, LEVELS = 3 };
enum { PLACES = ANCHORS * (30 * 34 + 15 * 17 + 8 * 9) };

struct boxes {
    tarn_tensor kinds, sides; /* [N, PLACES, KINDS], [N, PLACES, BOX] */
};

/* Twice as large, or a row or column less. */
static tarn_tensor larger(tarn_tensor x, tarn_shape like)
{
    x = tarn_upsample_nearest2d(x, 2, 2);
    return tarn_slice(tarn_slice(x, 2, 0, like.dim[2], 1), 3, 0, like.dim[3], 1);
}

/* One row for each anchor of each pixel. */
static tarn_tensor rows(tarn_tensor x, int each)
{
    const tarn_shape s = tarn_shape_get(x);
    x = tarn_reshape(x, TARN_SHAPE(s.dim[0], ANCHORS, each, s.dim[2], s.dim[3]));
    return tarn_reshape(tarn_permute(x, TARN_AXES(0, 3, 4, 1, 2)), TARN_SHAPE(s.dim[0], -1, each));
}

static tarn_tensor tower(tarn_tensor x, const char *name)
{
    for (int i = 0; i < 2; i++) {
        x = conv(x, TARN_NAME("%s.convs.%d", name, i), WIDE, 3, 1);
        x = tarn_relu(tarn_use_group_norm(x, TARN_NAME("%s.norms.%d", name, i), 8));
    }
    return x;
}

/* A last convolution whose initial values matter: at first nearly everything is background. */
static tarn_tensor last(tarn_tensor x, const char *name, int out, float bias)
{
    const tarn_tensor w =
        tarn_use_parameter(x.replica, TARN_NAME("%s.weight", name), TARN_SHAPE(out, WIDE, 3, 3),
                           (tarn_init){ TARN_INIT_NORMAL, .b = 0.01f });
    const tarn_tensor b = tarn_use_parameter(x.replica, TARN_NAME("%s.bias", name), TARN_SHAPE(out),
                                             (tarn_init){ TARN_INIT_CONSTANT, .a = bias });
    return tarn_conv2d_op(x, w, b, (tarn_conv2d_options){ .padding = { 1, 1 } });
}

/* As RetinaNet: what is seen on a large scale is added to finer ones, and the same two towers look at each. */
static struct boxes find(tarn_tensor x)
{
    tarn_tensor fine[LEVELS], kinds[LEVELS], sides[LEVELS];
    x = block(tarn_relu(unit(x, "stem", 32, 3, 2, 1)), "layer1", 32, 1, 1);
    for (int i = 0; i < LEVELS; i++) {
        x = block(x, TARN_NAME("layer%d", i + 2), 64 << i, 2, 1);
        fine[i] = conv(x, TARN_NAME("across.%d", i), WIDE, 1, 1);
    }
    for (int i = LEVELS - 2; i >= 0; i--)
        fine[i] = tarn_add(fine[i], larger(fine[i + 1], tarn_shape_get(fine[i])));
    for (int i = 0; i < LEVELS; i++) {
        const tarn_tensor h = conv(fine[i], TARN_NAME("out.%d", i), WIDE, 3, 1);
        kinds[i] = rows(last(tower(h, "kinds"), "kinds.last", ANCHORS * KINDS, -4.59512f), KINDS);
        sides[i] = rows(last(tower(h, "sides"), "sides.last", ANCHORS * BOX, 0), BOX);
    }
    return (struct boxes){ tarn_concat(kinds, LEVELS, 1), tarn_concat(sides, LEVELS, 1) };
}

static tarn_tensor pyramid(tarn_tensor x)
{
    const struct boxes b = find(x);
    return tarn_concat((tarn_tensor[]){ b.kinds, b.sides }, 2, 2);
}

/* Lin et al. (2017): sums over what counts. */
static tarn_tensor focal(tarn_tensor x, tarn_tensor y, tarn_tensor counts)
{
    const tarn_tensor p = tarn_sigmoid(x), not_y = tarn_add_scalar(tarn_neg(y), 1);
    const tarn_tensor each =
        tarn_bce_with_logits_with(x, y, (tarn_bce_options){ .reduction = TARN_LOSS_NONE });
    const tarn_tensor right =
        tarn_add(tarn_mul(p, y), tarn_mul(tarn_add_scalar(tarn_neg(p), 1), not_y));
    const tarn_tensor hard = tarn_pow_scalar(tarn_add_scalar(tarn_neg(right), 1), 2);
    const tarn_tensor alpha = tarn_add(tarn_mul_scalar(y, 0.25), tarn_mul_scalar(not_y, 0.75));
    const tarn_tensor loss = tarn_mul(alpha, tarn_mul(each, hard));
    return tarn_sum(tarn_mul(loss, counts), TARN_ALL, false);
}

static tarn_tensor pyramid_loss(tarn_tensor x, tarn_tensor y)
{
    const struct boxes found = find(x);
    const tarn_tensor row = tarn_reshape(y, TARN_SHAPE(-1, PLACES, 1));
    const tarn_tensor kind = tarn_slice(tarn_one_hot(y, LABELS), 2, 0, KINDS, 1);
    const tarn_tensor counts = tarn_cast(tarn_ne_scalar(row, BETWEEN), TARN_F32);
    const tarn_tensor positive = tarn_lt_scalar(row, KINDS);
    const tarn_tensor many =
        tarn_clamp(tarn_sum(tarn_cast(positive, TARN_F32), TARN_ALL, false), 1, INFINITY);
    /* Where the boxes are is made up of what is in them. */
    const tarn_tensor side = tarn_add_scalar(tarn_arange(x.replica, BOX), 1);
    const tarn_tensor place = tarn_sin(tarn_mul(row, side));
    const tarn_tensor far = tarn_smooth_l1_loss_with(found.sides, place, 1.0 / 9, TARN_LOSS_NONE);
    const tarn_tensor boxes = tarn_where(positive, far, tarn_zeros(x.replica, TARN_SCALAR));
    const tarn_tensor sum =
        tarn_add(focal(found.kinds, kind, counts), tarn_sum(boxes, TARN_ALL, false));
    return tarn_div(sum, many);
}

/* ---- moves ----------------------------------------------------------------------------------- */

enum { BOARD = 19, MOVES = BOARD * BOARD + 1 };

struct advice {
    tarn_tensor moves, worth; /* [N, MOVES], [N, 1] */
};

/* As AlphaZero. */
static struct advice play(tarn_tensor x)
{
    x = tarn_relu(unit(x, "stem", 96, 3, 1, 1));
    for (int i = 0; i < 6; i++)
        x = block(x, TARN_NAME("blocks.%d", i), 96, 1, 1);
    const tarn_tensor p = tarn_relu(unit(x, "policy.thin", 2, 1, 1, 1));
    tarn_tensor v = tarn_flatten(tarn_relu(unit(x, "value.thin", 1, 1, 1, 1)), 1);
    v = tarn_relu(tarn_use_linear(v, "value.wide", 128));
    return (struct advice){ tarn_use_linear(tarn_flatten(p, 1), "policy.head", MOVES),
                            tarn_tanh(tarn_use_linear(v, "value.head", 1)) };
}

static tarn_tensor go(tarn_tensor x)
{
    const struct advice a = play(x);
    return tarn_concat((tarn_tensor[]){ a.moves, a.worth }, 2, 1);
}

/* How often a search went into each move, and who won. */
static tarn_tensor go_loss(tarn_tensor x, tarn_tensor y)
{
    const struct advice a = play(x);
    const tarn_tensor visits = tarn_cast(tarn_slice(y, 1, 0, MOVES, 1), TARN_F32);
    const tarn_tensor often = tarn_div(visits, tarn_sum(visits, TARN_AXES(1), true));
    const tarn_tensor won = tarn_ge_scalar(tarn_slice(y, 1, MOVES, MOVES + 1, 1), 32);
    const tarn_tensor worth = tarn_add_scalar(tarn_mul_scalar(tarn_cast(won, TARN_F32), 2), -1);
    const tarn_tensor each = tarn_mul(often, tarn_log_softmax(a.moves, 1));
    const tarn_tensor policy =
        tarn_neg(tarn_mean(tarn_sum(each, TARN_AXES(1), false), TARN_ALL, false));
    return tarn_add(policy, tarn_mse_loss(a.worth, worth));
}

/* ---- codes ----------------------------------------------------------------------------------- */

enum { CODES = 256, CODE = 64 };

static tarn_tensor residual(tarn_tensor x, const char *name)
{
    for (int i = 0; i < 2; i++) {
        tarn_enter(x.replica, "%s.%d", name, i);
        tarn_tensor h = tarn_relu(conv(tarn_relu(x), "first", 32, 3, 1));
        x = tarn_add(x, conv(h, "second", 128, 1, 1));
        tarn_leave(x.replica);
    }
    return tarn_relu(x);
}

static tarn_tensor encode(tarn_tensor x)
{
    x = tarn_relu(conv(x, "down1", 64, 4, 2));
    x = tarn_relu(conv(x, "down2", 128, 4, 2));
    x = residual(conv(x, "before", 128, 3, 1), "encoder");
    return tarn_permute(conv(x, "thin", CODE, 1, 1), TARN_AXES(0, 2, 3, 1));
}

/* The nearest code of each place, by squares of distances. */
static tarn_tensor nearest(tarn_tensor z)
{
    const tarn_tensor codes =
        tarn_use_parameter(z.replica, "codes.weight", TARN_SHAPE(CODES, CODE),
                           (tarn_init){ TARN_INIT_UNIFORM, .a = -1.0f / CODES, .b = 1.0f / CODES });
    const tarn_tensor flat = tarn_reshape(z, TARN_SHAPE(-1, CODE));
    const tarn_tensor product = tarn_matmul(flat, tarn_transpose(codes, 0, 1));
    const tarn_tensor squares = tarn_add(tarn_sum(tarn_pow_scalar(flat, 2), TARN_AXES(1), true),
                                         tarn_sum(tarn_pow_scalar(codes, 2), TARN_AXES(1), false));
    const tarn_tensor far = tarn_sub(squares, tarn_mul_scalar(product, 2));
    return tarn_reshape(tarn_embedding(codes, tarn_argmin(far, 1, false)), tarn_shape_get(z));
}

static tarn_tensor decode(tarn_tensor q)
{
    const tarn_conv_transpose2d_options twice = { .stride = { 2 }, .padding = { 1, 1 } };
    q = conv(tarn_permute(q, TARN_AXES(0, 3, 1, 2)), "after", 128, 3, 1);
    q = residual(q, "decoder");
    q = tarn_relu(tarn_use_conv_transpose2d(q, "up1", 64, 4, twice));
    return tarn_use_conv_transpose2d(q, "up2", 3, 4, twice);
}

static tarn_tensor codes(tarn_tensor x)
{
    return decode(nearest(encode(x)));
}

/* The gradient goes past the codes, as if they were what they stand for. */
static tarn_tensor codes_loss(tarn_tensor x, tarn_tensor y)
{
    (void)y;
    const tarn_tensor z = encode(x), q = nearest(z);
    const tarn_tensor back = decode(tarn_add(z, tarn_detach(tarn_sub(q, z))));
    const tarn_tensor codebook = tarn_mse_loss(q, tarn_detach(z));
    const tarn_tensor commitment = tarn_mul_scalar(tarn_mse_loss(tarn_detach(q), z), 0.25);
    return tarn_add(tarn_mse_loss(back, x), tarn_add(codebook, commitment));
}

/* ---- resolutions side by side ---------------------------------------------------------------- */

enum { BRANCHES = 3, NARROW = 18 };

/* Branch j as branch i has it. */
static tarn_tensor moved(tarn_tensor x, int i, int j)
{
    if (j > i) {
        x = unit(x, TARN_NAME("fuse.%d.%d", i, j), NARROW << i, 1, 1, 1);
        return tarn_upsample_nearest2d(x, 1 << (j - i), 1 << (j - i));
    }
    for (int k = j; k < i; k++) {
        const int out = k + 1 < i ? NARROW << j : NARROW << i;
        x = unit(x, TARN_NAME("fuse.%d.%d.%d", i, j, k - j), out, 3, 2, 1);
        x = k + 1 < i ? tarn_relu(x) : x;
    }
    return x;
}

static void fuse(tarn_tensor *x, int count)
{
    tarn_tensor fused[BRANCHES];
    for (int i = 0; i < count; i++) {
        fused[i] = moved(x[0], i, 0);
        for (int j = 1; j < count; j++)
            fused[i] = tarn_add(fused[i], moved(x[j], i, j));
    }
    for (int i = 0; i < count; i++)
        x[i] = tarn_relu(fused[i]);
}

/* As HRNet. */
static tarn_tensor branches(tarn_tensor x)
{
    tarn_replica *r = x.replica;
    tarn_tensor b[BRANCHES];
    x = tarn_relu(unit(x, "stem", 32, 3, 2, 1));
    b[0] = tarn_relu(unit(x, "down.0", NARROW, 3, 1, 1));
    for (int round = 0, count = 1; round < 3; round++) {
        if (count < BRANCHES) {
            b[count] = tarn_relu(
                unit(b[count - 1], TARN_NAME("down.%d", count), NARROW << count, 3, 2, 1));
            count++;
        }
        tarn_enter(r, "rounds.%d", round);
        for (int i = 0; i < count; i++)
            for (int k = 0; k < 2; k++)
                b[i] = block(b[i], TARN_NAME("branches.%d.%d", i, k), NARROW << i, 1, 1);
        fuse(b, count);
        tarn_leave(r);
    }
    for (int i = 1; i < BRANCHES; i++)
        b[i] = resized(b[i], tarn_shape_get(b[0]));
    x = tarn_relu(unit(tarn_concat(b, BRANCHES, 1), "joined", 7 * NARROW, 1, 1, 1));
    return tarn_use_linear(tarn_flatten(tarn_global_avg_pool(x), 1), "fc", CLASSES);
}

/* ---- films ----------------------------------------------------------------------------------- */

enum { FRAMES = 12, SEEN = 128 };

/* Each frame by itself, and then what they are one after the other. */
static tarn_tensor clips(tarn_tensor x)
{
    const tarn_shape s = tarn_shape_get(x);
    x = tarn_reshape(x, TARN_SHAPE(s.dim[0] * s.dim[1], s.dim[2], s.dim[3], s.dim[4]));
    x = tarn_relu(unit(x, "stem", 32, 3, 2, 1));
    x = block(x, "layer1", 32, 1, 1);
    x = block(x, "layer2", 64, 2, 1);
    x = block(x, "layer3", SEEN, 2, 1);
    x = tarn_reshape(tarn_global_avg_pool(x), TARN_SHAPE(s.dim[0], s.dim[1], SEEN));
    x = tarn_use_gru(x, "gru", SEEN, (tarn_recurrent_options){ .batch_first = true }, NULL).y;
    return tarn_use_linear(tarn_select(x, 1, -1), "fc", CLASSES);
}

const struct timed_network timed_scenes[] = {
    { .name = "atrous",
      .x = { 4, { 4, 3, 97, 97 } },
      .y = { 3, { 4, 97, 97 } },
      .classes = THINGS + 1,
      .forward = atrous,
      .loss = atrous_loss,
      .optimizer = timed_sgd },
    { .name = "pyramid",
      .x = { 4, { 4, 3, 120, 136 } },
      .y = { 2, { 4, PLACES } },
      .classes = LABELS,
      .forward = pyramid,
      .loss = pyramid_loss,
      .optimizer = timed_sgd },
    { .name = "go",
      .x = { 4, { 32, 17, BOARD, BOARD } },
      .y = { 2, { 32, MOVES + 1 } },
      .classes = 64,
      .forward = go,
      .loss = go_loss,
      .optimizer = timed_sgd },
    { .name = "codes",
      .x = { 4, { 32, 3, 32, 32 } },
      .y = { 1, { 32 } },
      .classes = CLASSES,
      .forward = codes,
      .loss = codes_loss,
      .optimizer = timed_adam },
    { .name = "branches",
      .x = { 4, { 8, 3, 64, 64 } },
      .y = { 1, { 8 } },
      .classes = CLASSES,
      .forward = branches,
      .optimizer = timed_sgd },
    { .name = "clips",
      .x = { 5, { 3, FRAMES, 3, 64, 64 } },
      .y = { 1, { 3 } },
      .classes = CLASSES,
      .forward = clips,
      .optimizer = timed_sgd },
    { 0 },
};
