/* SPDX-License-Identifier: Apache-2.0 */
/* A variational autoencoder (Kingma and Welling, 2013): images through 16 numbers and back, and new ones from
 * numbers at random. */
#include "image_trainer.h"

enum { SIDE = 28, LATENT = 16, CHANNELS = 32, DRAWN = 64 };

struct vae {
    tarn_conv2d down1, down2, up1, up2;
    tarn_linear mean, spread, wide;
    tarn_optimizer *adam;
};

static void make(tarn_replica *r, void *model)
{
    struct vae *n = model;
    const tarn_conv2d_options half = { .stride = { 2, 2 }, .padding = { 1, 1 } };
    const tarn_conv2d_options same = { .padding = { 1, 1 } };
    const int inner = 2 * CHANNELS * SIDE / 4 * SIDE / 4;
    n->down1 = tarn_conv2d_make(r, "down1", 1, CHANNELS, 3, half);
    n->down2 = tarn_conv2d_make(r, "down2", CHANNELS, 2 * CHANNELS, 3, half);
    n->mean = tarn_linear_make(r, "mean", inner, LATENT);
    n->spread = tarn_linear_make(r, "spread", inner, LATENT);
    n->wide = tarn_linear_make(r, "wide", LATENT, inner);
    n->up1 = tarn_conv2d_make(r, "up1", 2 * CHANNELS, CHANNELS, 3, same);
    n->up2 = tarn_conv2d_make(r, "up2", CHANNELS, 1, 3, same);
}

static void optimize(tarn_replica *r, void *model)
{
    ((struct vae *)model)->adam = tarn_adam(r, (tarn_adam_options){ 0 });
}

static void set_lr(void *model, float lr)
{
    tarn_optimizer_set_lr(((struct vae *)model)->adam, lr);
}

/* Logits of pixels. */
static tarn_tensor decode(const struct vae *n, tarn_tensor z)
{
    const int32_t count = tarn_shape_get(z).dim[0];
    tarn_tensor h = tarn_relu(tarn_linear_forward(&n->wide, z));
    h = tarn_reshape(h, TARN_SHAPE(count, 2 * CHANNELS, SIDE / 4, SIDE / 4));
    h = tarn_relu(tarn_conv2d_forward(&n->up1, tarn_upsample_nearest2d(h, 2, 2)));
    return tarn_conv2d_forward(&n->up2, tarn_upsample_nearest2d(h, 2, 2));
}

/* The bound of a sample's likelihood, in nats: how well it comes back, and how far its numbers lie from normal
 * ones. */
static tarn_tensor loss_of(const struct vae *n, tarn_tensor x, bool noisy)
{
    tarn_tensor h = tarn_relu(tarn_conv2d_forward(&n->down1, x));
    h = tarn_flatten(tarn_relu(tarn_conv2d_forward(&n->down2, h)), 1);
    const tarn_tensor mean = tarn_linear_forward(&n->mean, h);
    const tarn_tensor spread = tarn_linear_forward(&n->spread, h); /* log of the variance */
    tarn_tensor z = mean;
    if (noisy)
        z = tarn_add(z, tarn_mul(tarn_exp(tarn_mul_scalar(spread, 0.5f)),
                                 tarn_randn(x.replica, tarn_shape_get(mean))));
    const tarn_tensor back = tarn_bce_with_logits(decode(n, z), x, TARN_NONE);
    const tarn_tensor square = tarn_add(tarn_mul(mean, mean), tarn_exp(spread));
    const tarn_tensor far =
        tarn_mean(tarn_sub(square, tarn_add_scalar(spread, 1)), TARN_ALL, false);
    return tarn_add(tarn_mul_scalar(back, SIDE * SIDE), tarn_mul_scalar(far, 0.5f * LATENT));
}

static tarn_tensor train(void *model, const tarn_batch *b)
{
    const struct vae *n = model;
    const tarn_tensor loss = loss_of(n, b->x, true);
    tarn_backward(loss);
    tarn_optimizer_step(n->adam);
    return loss;
}

static tarn_tensor test(void *model, const tarn_batch *b)
{
    return loss_of(model, b->x, false);
}

static tarn_tensor draw(tarn_replica *r, void *model)
{
    return tarn_sigmoid(decode(model, tarn_randn(r, TARN_SHAPE(DRAWN, LATENT))));
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
