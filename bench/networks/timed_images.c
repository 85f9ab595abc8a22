/* SPDX-License-Identifier: Apache-2.0 */
/* Networks for images: MNIST's of the examples, a ResNet, a depthwise-separable one, a U-Net and a VAE. */
#include "timed.h"

tarn_tensor timed_unit(tarn_tensor x, const char *name, int out, int window, int stride, int groups)
{
    const tarn_conv2d_make_options make = {
        .window = { window },
        .no_bias = true,
        .options = { { stride, stride }, { window / 2, window / 2 }, { 1, 1 }, groups },
    };
    x = tarn_use_conv2d_with(x, TARN_NAME("%s.conv", name), out, make);
    return tarn_use_batch_norm(x, TARN_NAME("%s.norm", name));
}

/* One with bias. */
static tarn_tensor plain(tarn_tensor x, const char *name, int out, int stride)
{
    const tarn_conv2d_options same = { .stride = { stride, stride }, .padding = { 1, 1 } };
    return tarn_use_conv2d(x, name, out, 3, same);
}

static tarn_tensor mnist(tarn_tensor x)
{
    const tarn_conv2d_options valid = { 0 };
    x = tarn_relu(tarn_max_pool2d(tarn_use_conv2d(x, "conv1", 10, 5, valid), 2));
    x = tarn_use_batch_norm(x, "bn1");
    x = tarn_relu(tarn_max_pool2d(tarn_use_conv2d(x, "conv2", 20, 5, valid), 2));
    x = tarn_flatten(tarn_use_batch_norm(x, "bn2"), 1);
    return tarn_use_linear(tarn_relu(tarn_use_linear(x, "fc1", 50)), "fc2", CLASSES);
}

/* Where a block halves the image, every second pixel goes on, with zeros for the new channels. */
static tarn_tensor resnet(tarn_tensor x)
{
    x = tarn_relu(timed_unit(x, "stem", 16, 3, 1, 1));
    for (int i = 0; i < 9; i++) {
        const int out = 16 << i / 3, halves = i > 0 && i % 3 == 0;
        tarn_tensor h = tarn_relu(timed_unit(x, TARN_NAME("%d.first", i), out, 3, 1 + halves, 1));
        h = timed_unit(h, TARN_NAME("%d.second", i), out, 3, 1, 1);
        for (int axis = 2; halves && axis < 4; axis++)
            x = tarn_slice(x, axis, 0, tarn_shape_get(x).dim[axis], 2);
        const tarn_shape more = TARN_SHAPE(0, out / 4, 0, 0);
        x = tarn_relu(tarn_add(h, halves ? tarn_pad(x, more, more, 0) : x));
    }
    return tarn_use_linear(tarn_flatten(tarn_global_avg_pool(x), 1), "fc", CLASSES);
}

static tarn_tensor depthwise(tarn_tensor x)
{
    static const struct {
        int in, out, stride;
    } blocks[] = { { 32, 64, 1 }, { 64, 128, 2 }, { 128, 128, 1 }, { 128, 256, 2 } };
    x = tarn_clamp(timed_unit(x, "stem", 32, 3, 1, 1), 0, 6);
    for (int i = 0; i < 4; i++) {
        const int in = blocks[i].in;
        x = tarn_clamp(timed_unit(x, TARN_NAME("%d.each", i), in, 3, blocks[i].stride, in), 0, 6);
        x = tarn_clamp(timed_unit(x, TARN_NAME("%d.all", i), blocks[i].out, 1, 1, 1), 0, 6);
    }
    return tarn_use_linear(tarn_flatten(tarn_global_avg_pool(x), 1), "fc", CLASSES);
}

/* Twice as large, and next to what had that size before. */
static tarn_tensor join(tarn_tensor small, tarn_tensor large)
{
    return tarn_concat((tarn_tensor[]){ tarn_upsample_nearest2d(small, 2, 2), large }, 2, 1);
}

/* A class for each pixel. */
static tarn_tensor unet(tarn_tensor x)
{
    const tarn_tensor a = tarn_relu(plain(x, "down1", 16, 1));
    const tarn_tensor b = tarn_relu(plain(tarn_max_pool2d(a, 2), "down2", 32, 1));
    const tarn_tensor c = tarn_relu(plain(tarn_max_pool2d(b, 2), "bottom", 64, 1));
    const tarn_tensor d = tarn_relu(plain(join(c, b), "up2", 32, 1));
    const tarn_tensor e = tarn_relu(plain(join(d, a), "up1", 16, 1));
    return tarn_use_conv2d(e, "head", CLASSES, 1, (tarn_conv2d_options){ 0 });
}

/* ---- a variational autoencoder --------------------------------------------------------------- */

struct latent {
    tarn_tensor mean, spread;
};

static struct latent encode(tarn_tensor x)
{
    const tarn_tensor h = tarn_relu(plain(x, "down1", 32, 2));
    const tarn_tensor flat = tarn_flatten(tarn_relu(plain(h, "down2", 64, 2)), 1);
    struct latent z;
    z.mean = tarn_use_linear(flat, "mean", 16);
    z.spread = tarn_use_linear(flat, "spread", 16);
    return z;
}

static tarn_tensor decode(tarn_tensor z)
{
    tarn_tensor h = tarn_relu(tarn_use_linear(z, "wide", 3136));
    h = tarn_upsample_nearest2d(tarn_reshape(h, TARN_SHAPE(-1, 64, 7, 7)), 2, 2);
    h = tarn_relu(plain(h, "up1", 32, 1));
    return plain(tarn_upsample_nearest2d(h, 2, 2), "up2", 1, 1);
}

static tarn_tensor vae(tarn_tensor x)
{
    return decode(encode(x).mean);
}

static tarn_tensor vae_loss(tarn_tensor x, tarn_tensor y)
{
    (void)y;
    const struct latent z = encode(x);
    const tarn_tensor noise = tarn_randn(x.replica, tarn_shape_get(z.mean));
    const tarn_tensor deviation = tarn_exp(tarn_mul_scalar(z.spread, 0.5f));
    const tarn_tensor back = decode(tarn_add(z.mean, tarn_mul(deviation, noise)));
    const tarn_tensor square = tarn_add(tarn_mul(z.mean, z.mean), tarn_exp(z.spread));
    const tarn_tensor far = tarn_sub(square, tarn_add_scalar(z.spread, 1));
    return tarn_add(tarn_mul_scalar(tarn_bce_with_logits(back, x, TARN_NONE), 28 * 28),
                    tarn_mul_scalar(tarn_mean(far, TARN_ALL, false), 8));
}

tarn_optimizer *timed_sgd(tarn_replica *r)
{
    return tarn_sgd(r, (tarn_sgd_options){ .lr = 0.01f, .momentum = 0.9f, .weight_decay = 5e-4f });
}

static tarn_optimizer *mnist_sgd(tarn_replica *r)
{
    return tarn_sgd(r, (tarn_sgd_options){ .lr = 0.01f, .momentum = 0.5f });
}

const struct timed_network timed_images[] = {
    { .name = "mnist",
      .x = { 4, { 128, 1, 28, 28 } },
      .y = { 1, { 128 } },
      .classes = CLASSES,
      .forward = mnist,
      .optimizer = mnist_sgd },
    { .name = "resnet",
      .x = { 4, { 128, 3, 32, 32 } },
      .y = { 1, { 128 } },
      .classes = CLASSES,
      .forward = resnet,
      .optimizer = timed_sgd },
    { .name = "depthwise",
      .x = { 4, { 128, 3, 32, 32 } },
      .y = { 1, { 128 } },
      .classes = CLASSES,
      .forward = depthwise,
      .optimizer = timed_sgd },
    { .name = "unet",
      .x = { 4, { 16, 3, 64, 64 } },
      .y = { 3, { 16, 64, 64 } },
      .classes = CLASSES,
      .forward = unet,
      .optimizer = timed_adam },
    { .name = "vae",
      .x = { 4, { 128, 1, 28, 28 } },
      .y = { 1, { 128 } },
      .classes = CLASSES,
      .forward = vae,
      .loss = vae_loss,
      .optimizer = timed_adam },
    { 0 },
};
