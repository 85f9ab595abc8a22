/* SPDX-License-Identifier: Apache-2.0 */
/* A variational autoencoder (Kingma and Welling, 2013): images through 16 numbers and back, and new ones from
 * numbers at random. */
#include "image_trainer.h"

enum { SIDE = 28, LATENT = 16, CHANNELS = 32, DRAWN = 64 };

struct vae {
    tarn_optimizer *adam;
};

static const tarn_conv2d_options half = { .stride = { 2, 2 }, .padding = { 1, 1 } };
static const tarn_conv2d_options same = { .padding = { 1, 1 } };

/* Logits of pixels. */
static tarn_tensor decode(tarn_tensor z)
{
    tarn_tensor h = tarn_relu(tarn_use_linear(z, "wide", 2 * CHANNELS * SIDE / 4 * SIDE / 4));
    h = tarn_reshape(h, TARN_SHAPE(-1, 2 * CHANNELS, SIDE / 4, SIDE / 4));
    h = tarn_upsample_nearest2d(h, 2, 2);
    h = tarn_relu(tarn_use_conv2d(h, "up1", CHANNELS, 3, same));
    return tarn_use_conv2d(tarn_upsample_nearest2d(h, 2, 2), "up2", 1, 3, same);
}

/* The bound of a sample's likelihood, in nats: how well it comes back, and how far its numbers lie from normal
 * ones. */
static tarn_tensor loss_of(tarn_tensor x, bool noisy)
{
    tarn_tensor h = tarn_relu(tarn_use_conv2d(x, "down1", CHANNELS, 3, half));
    h = tarn_flatten(tarn_relu(tarn_use_conv2d(h, "down2", 2 * CHANNELS, 3, half)), 1);
    const tarn_tensor mean = tarn_use_linear(h, "mean", LATENT);
    const tarn_tensor spread = tarn_use_linear(h, "spread", LATENT); /* log of the variance */
    tarn_tensor z = mean;
    if (noisy)
        z = tarn_add(z, tarn_mul(tarn_exp(tarn_mul_scalar(spread, 0.5f)),
                                 tarn_randn(x.replica, tarn_shape_get(mean))));
    const tarn_tensor back = tarn_bce_with_logits(decode(z), x, TARN_NONE);
    const tarn_tensor square = tarn_add(tarn_mul(mean, mean), tarn_exp(spread));
    const tarn_tensor far =
        tarn_mean(tarn_sub(square, tarn_add_scalar(spread, 1)), TARN_ALL, false);
    return tarn_add(tarn_mul_scalar(back, SIDE * SIDE), tarn_mul_scalar(far, 0.5f * LATENT));
}

/* Layers come to be when the network sees an image. */
static void make(tarn_replica *r, void *model)
{
    (void)model;
    (void)loss_of(tarn_zeros(r, TARN_SHAPE(1, 1, SIDE, SIDE)), false);
}

static void optimize(tarn_replica *r, void *model)
{
    ((struct vae *)model)->adam = tarn_adam(r, (tarn_adam_options){ 0 });
}

static void set_lr(void *model, float lr)
{
    tarn_optimizer_set_lr(((struct vae *)model)->adam, lr);
}

static tarn_tensor train(void *model, const tarn_batch *b)
{
    const struct vae *n = model;
    const tarn_tensor loss = loss_of(b->x, true);
    tarn_minimize(n->adam, loss);
    return loss;
}

static tarn_tensor test(void *model, const tarn_batch *b)
{
    (void)model;
    return loss_of(b->x, false);
}

static tarn_tensor draw(tarn_replica *r, void *model)
{
    (void)model;
    return tarn_sigmoid(decode(tarn_randn(r, TARN_SHAPE(DRAWN, LATENT))));
}

int main(int argc, char **argv)
{
    static const struct example vae = { .name = "vae",
                                        .about = "Trains a variational autoencoder of images.",
                                        .epochs = 5,
                                        .batch = 128,
                                        .lr = 1e-3,
                                        .unit_pixels = true,
                                        .bytes = sizeof(struct vae),
                                        .make = make,
                                        .optimize = optimize,
                                        .set_lr = set_lr,
                                        .train = train,
                                        .test = test,
                                        .measure = "loss",
                                        .draw = draw };
    return image_main(&vae, argc, argv);
}
