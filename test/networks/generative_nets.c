/* SPDX-License-Identifier: Apache-2.0 */
/* Networks that make images: a variational autoencoder, and two that train against each other. */
#include "networks.h"

enum { SIDE = 16, LATENT = 6 };

static tarn_tensor halved(tarn_tensor x, const char *name, int channels)
{
    const tarn_conv2d_options half = { .stride = { 2, 2 }, .padding = { 1, 1 } };
    return tarn_relu(tarn_use_conv2d(x, name, channels, 3, half));
}

static tarn_tensor doubled(tarn_tensor x, const char *name, int channels)
{
    const tarn_conv2d_options same = { .padding = { 1, 1 } };
    return tarn_use_conv2d(tarn_upsample_nearest2d(x, 2, 2), name, channels, 3, same);
}

/* Noise is an input, so that PyTorch has the same. Pixels are probabilities after a shift. */
static tarn_tensor vae_loss(const tarn_batch *b)
{
    tarn_tensor h = halved(halved(b->inputs[0], "down1", 8), "down2", 16);
    const tarn_tensor mean = tarn_use_linear(tarn_flatten(h, 1), "mean", LATENT);
    const tarn_tensor spread = tarn_use_linear(tarn_flatten(h, 1), "spread", LATENT);
    const tarn_tensor deviation = tarn_exp(tarn_mul_scalar(spread, 0.5f));
    const tarn_tensor z = tarn_add(mean, tarn_mul(deviation, b->inputs[1]));
    h = tarn_relu(tarn_use_linear(z, "wide", SIDE * SIDE));
    h = tarn_relu(doubled(tarn_reshape(h, TARN_SHAPE(-1, 16, SIDE / 4, SIDE / 4)), "up1", 8));
    const tarn_tensor logits = doubled(h, "up2", 1);
    const tarn_tensor pixels = tarn_add_scalar(b->inputs[0], 0.5f);
    const tarn_tensor each = tarn_sub(tarn_softplus(logits, 1, 20), tarn_mul(logits, pixels));
    const tarn_tensor seen = tarn_mean(tarn_sum(each, TARN_AXES(1, 2, 3), false), TARN_ALL, false);
    const tarn_tensor apart =
        tarn_sub(tarn_add(tarn_mul(mean, mean), tarn_exp(spread)), tarn_add_scalar(spread, 1));
    const tarn_tensor far = tarn_mean(tarn_sum(apart, TARN_AXES(1), false), TARN_ALL, false);
    return tarn_add(seen, tarn_mul_scalar(far, 0.5f));
}

static tarn_optimizer *vae_optimizer(tarn_replica *r)
{
    return tarn_adam(r, (tarn_adam_options){ .lr = 2e-3f });
}

/* ---- two networks that train against each other --------------------------------------------- */

struct gan {
    tarn_linear wide, verdict;
    tarn_conv2d up1, up2, down1, down2;
    tarn_optimizer *maker, *judge;
};

static void gan_make(tarn_replica *r, void *model)
{
    struct gan *n = model;
    const tarn_conv2d_options half = { .stride = { 2, 2 }, .padding = { 1, 1 } };
    const tarn_conv2d_options same = { .padding = { 1, 1 } };
    n->wide = tarn_linear_make(r, "maker.wide", LATENT, SIDE * SIDE);
    n->up1 = tarn_conv2d_make(r, "maker.up1", 16, 8, 3, same);
    n->up2 = tarn_conv2d_make(r, "maker.up2", 8, 1, 3, same);
    n->down1 = tarn_conv2d_make(r, "judge.down1", 1, 8, 3, half);
    n->down2 = tarn_conv2d_make(r, "judge.down2", 8, 16, 3, half);
    n->verdict = tarn_linear_make(r, "judge.verdict", SIDE * SIDE, 1);
}

static void gan_optimize(tarn_replica *r, void *model)
{
    struct gan *n = model;
    n->judge =
        tarn_adam(r, (tarn_adam_options){ .lr = 1e-3f, .beta1 = 0.5f, .parameters = "judge.*" });
    n->maker =
        tarn_adam(r, (tarn_adam_options){ .lr = 2e-3f, .beta1 = 0.5f, .parameters = "maker.*" });
}

static tarn_tensor gan_made(const struct gan *n, tarn_tensor noise)
{
    tarn_tensor h = tarn_relu(tarn_linear_forward(&n->wide, noise));
    const int32_t samples = tarn_shape_get(noise).dim[0];
    h = tarn_upsample_nearest2d(tarn_reshape(h, TARN_SHAPE(samples, 16, SIDE / 4, SIDE / 4)), 2, 2);
    h = tarn_upsample_nearest2d(tarn_relu(tarn_conv2d_forward(&n->up1, h)), 2, 2);
    return tarn_tanh(tarn_conv2d_forward(&n->up2, h));
}

/* How far the judge is from calling all of them what they are said to be: 1 real, 0 made. */
static tarn_tensor gan_judged(const struct gan *n, tarn_tensor images, float real)
{
    tarn_tensor h = tarn_leaky_relu(tarn_conv2d_forward(&n->down1, images), 0.2f);
    h = tarn_leaky_relu(tarn_conv2d_forward(&n->down2, h), 0.2f);
    const tarn_tensor logits = tarn_linear_forward(&n->verdict, tarn_flatten(h, 1));
    const tarn_tensor said = tarn_full(images.replica, tarn_shape_get(logits), real);
    return tarn_bce_with_logits(logits, said, TARN_NONE);
}

static tarn_tensor gan_train(tarn_replica *r, void *model, const tarn_batch *b)
{
    const struct gan *n = model;
    (void)r;
    const tarn_tensor made = gan_made(n, b->inputs[1]);
    const tarn_tensor apart =
        tarn_add(gan_judged(n, b->inputs[0], 1), gan_judged(n, tarn_detach(made), 0));
    tarn_minimize(n->judge, apart);
    const tarn_tensor fooled = gan_judged(n, made, 1); /* by the judge as it is now */
    tarn_minimize(n->maker, fooled);
    return tarn_add(apart, fooled);
}

const struct network generative_networks[] = {
    { .name = "vae",
      .inputs = { { 0, 3, { 1, SIDE, SIDE } }, { 0, 1, { LATENT } } },
      .loss = vae_loss,
      .optimizer = vae_optimizer },
    { .name = "gan",
      .inputs = { { 0, 3, { 1, SIDE, SIDE } }, { 0, 1, { LATENT } } },
      .bytes = sizeof(struct gan),
      .make = gan_make,
      .optimize = gan_optimize,
      .train = gan_train },
    { 0 },
};
