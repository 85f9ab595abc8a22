/* SPDX-License-Identifier: Apache-2.0 */
/* Networks for images: fully connected layers, a residual network, a depthwise-separable one, and a U-Net. */
#include "networks.h"

enum { CLASSES = 10 };

/* ---- fully connected layers ----------------------------------------------------------------- */

static tarn_tensor mlp_loss(const tarn_batch *b)
{
    tarn_tensor x = tarn_relu(tarn_use_linear(tarn_flatten(b->x, 1), "a", 64));
    x = tarn_relu(tarn_use_linear(x, "b", 32));
    return tarn_cross_entropy(tarn_use_linear(x, "c", CLASSES), b->y);
}

static tarn_optimizer *mlp_optimizer(tarn_replica *r)
{
    return tarn_adamw(r, (tarn_adam_options){ .lr = 2e-3f });
}

/* ---- a residual network --------------------------------------------------------------------- */

enum { STAGES = 3 };

/* A convolution without bias, and its norm. */
static tarn_tensor unit(tarn_tensor x, const char *number, int out, int window, int stride)
{
    const tarn_conv2d_make_options conv = {
        .window = { window },
        .no_bias = true,
        .options = { .stride = { stride, stride }, .padding = { window / 2, window / 2 } },
    };
    x = tarn_use_conv2d_with(x, TARN_NAME("conv%s", number), out, conv);
    return tarn_use_batch_norm(x, TARN_NAME("bn%s", number));
}

static tarn_tensor residual_loss(const tarn_batch *b)
{
    tarn_replica *r = b->x.replica;
    tarn_enter(r, "stem");
    tarn_tensor x = tarn_relu(unit(b->x, "", 8, 3, 1));
    tarn_leave(r);
    for (int i = 0; i < STAGES; i++) {
        const int out = 8 << i, stride = i == 0 ? 1 : 2;
        tarn_enter(r, "stage%d", i);
        const tarn_tensor y = unit(tarn_relu(unit(x, "1", out, 3, stride)), "2", out, 3, 1);
        x = tarn_relu(tarn_add(y, i > 0 ? unit(x, "3", out, 1, stride) : x));
        tarn_leave(r);
    }
    const tarn_tensor pooled = tarn_mean(x, TARN_AXES(2, 3), false);
    return tarn_cross_entropy(tarn_use_linear(pooled, "head", CLASSES), b->y);
}

static tarn_optimizer *residual_optimizer(tarn_replica *r)
{
    return tarn_sgd(r, (tarn_sgd_options){ .lr = 0.05f, .momentum = 0.9f, .weight_decay = 1e-3f });
}

/* ---- depthwise-separable convolutions ------------------------------------------------------- */

/* `groups` is 1, or the channels of x for one filter to each of them. */
static tarn_tensor clamped(tarn_tensor x, const char *number, int out, int window, int stride,
                           int groups)
{
    const tarn_conv2d_make_options conv = {
        .window = { window },
        .no_bias = true,
        .options = { { stride, stride }, { window / 2, window / 2 }, { 1, 1 }, groups },
    };
    x = tarn_use_conv2d_with(x, TARN_NAME("conv%s", number), out, conv);
    return tarn_clamp(tarn_use_batch_norm(x, TARN_NAME("bn%s", number)), 0, 6);
}

static tarn_tensor separable_loss(const tarn_batch *b)
{
    tarn_replica *r = b->x.replica;
    tarn_enter(r, "stem");
    tarn_tensor x = clamped(b->x, "", 16, 3, 2, 1);
    tarn_leave(r);
    for (int i = 0; i < 2; i++) {
        const int in = 16 << i;
        tarn_enter(r, "block%d", i);
        x = clamped(clamped(x, "1", in, 3, 1 + i, in), "2", 2 * in, 1, 1, 1);
        tarn_leave(r);
    }
    const tarn_tensor pooled = tarn_mean(x, TARN_AXES(2, 3), false);
    return tarn_cross_entropy(tarn_use_linear(pooled, "head", CLASSES), b->y);
}

static tarn_optimizer *separable_optimizer(tarn_replica *r)
{
    return tarn_sgd(r, (tarn_sgd_options){ .lr = 0.05f, .momentum = 0.9f, .nesterov = true });
}

/* ---- a U-Net: a class for each pixel -------------------------------------------------------- */

enum { SIDE = 16, PIXEL_CLASSES = 3 };

static tarn_tensor same(tarn_tensor x, const char *name, int out)
{
    return tarn_relu(
        tarn_use_conv2d(x, name, out, 3, (tarn_conv2d_options){ .padding = { 1, 1 } }));
}

/* Twice as large, and next to what had that size before. */
static tarn_tensor join(tarn_tensor small, tarn_tensor large)
{
    return tarn_concat((tarn_tensor[]){ tarn_upsample_nearest2d(small, 2, 2), large }, 2, 1);
}

static tarn_tensor unet_loss(const tarn_batch *b)
{
    const tarn_tensor a = same(b->x, "down1", 8);
    const tarn_tensor c = same(tarn_max_pool2d(a, 2), "down2", 16);
    const tarn_tensor d = same(tarn_max_pool2d(c, 2), "bottom", 32);
    const tarn_tensor e = same(join(d, c), "up2", 16);
    const tarn_tensor f = same(join(e, a), "up1", 8);
    const tarn_conv2d_options plain = { 0 };
    return tarn_cross_entropy(tarn_use_conv2d(f, "head", PIXEL_CLASSES, 1, plain), b->y);
}

static tarn_optimizer *unet_optimizer(tarn_replica *r)
{
    return tarn_adam(r, (tarn_adam_options){ .lr = 3e-3f });
}

const struct network image_networks[] = {
    { .name = "mlp",
      .inputs = { { 0, 3, { 1, 16, 16 } } },
      .targets = { { CLASSES, 0, { 0 } } },
      .loss = mlp_loss,
      .optimizer = mlp_optimizer },
    { .name = "residual",
      .inputs = { { 0, 3, { 3, 16, 16 } } },
      .targets = { { CLASSES, 0, { 0 } } },
      .loss = residual_loss,
      .optimizer = residual_optimizer },
    { .name = "separable",
      .inputs = { { 0, 3, { 3, 16, 16 } } },
      .targets = { { CLASSES, 0, { 0 } } },
      .loss = separable_loss,
      .optimizer = separable_optimizer },
    { .name = "unet",
      .inputs = { { 0, 3, { 1, SIDE, SIDE } } },
      .targets = { { PIXEL_CLASSES, 2, { SIDE, SIDE } } },
      .loss = unet_loss,
      .optimizer = unet_optimizer },
    { 0 },
};
