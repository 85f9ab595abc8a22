/* SPDX-License-Identifier: Apache-2.0 */
/* Two networks that train against each other (Goodfellow et al., 2014), each with an optimizer of its own: one
 * makes images from noise, the other tells them from real ones. */
#include "image_trainer.h"

enum { SIDE = 28, NOISE = 32, CHANNELS = 32, DRAWN = 64 };

struct gan {
    tarn_linear wide, verdict;
    tarn_batch_norm norm1, norm2;
    tarn_conv_transpose2d up1, up2;
    tarn_conv2d down1, down2;
    tarn_optimizer *maker, *judge;
};

static void make(tarn_replica *r, void *model)
{
    struct gan *n = model;
    const int inner = 2 * CHANNELS * SIDE / 4 * SIDE / 4;
    const tarn_conv2d_options half = { .stride = { 2, 2 }, .padding = { 1, 1 } };
    const tarn_conv_transpose2d_options twice = { .stride = { 2, 2 }, .padding = { 1, 1 } };
    n->wide = tarn_linear_make(r, "maker.wide", NOISE, inner);
    n->norm1 = tarn_batch_norm_make(r, "maker.norm1", 2 * CHANNELS);
    n->up1 = tarn_conv_transpose2d_make(r, "maker.up1", 2 * CHANNELS, CHANNELS, 4, twice);
    n->norm2 = tarn_batch_norm_make(r, "maker.norm2", CHANNELS);
    n->up2 = tarn_conv_transpose2d_make(r, "maker.up2", CHANNELS, 1, 4, twice);
    n->down1 = tarn_conv2d_make(r, "judge.down1", 1, CHANNELS, 4, half);
    n->down2 = tarn_conv2d_make(r, "judge.down2", CHANNELS, 2 * CHANNELS, 4, half);
    n->verdict = tarn_linear_make(r, "judge.verdict", inner, 1);
}

static void optimize(tarn_replica *r, void *model)
{
    struct gan *n = model;
    n->maker = tarn_adam(r, (tarn_adam_options){ .beta1 = 0.5f, .parameters = "maker.*" });
    n->judge = tarn_adam(r, (tarn_adam_options){ .beta1 = 0.5f, .parameters = "judge.*" });
}

static void set_lr(void *model, float lr)
{
    struct gan *n = model;
    tarn_optimizer_set_lr(n->maker, lr);
    tarn_optimizer_set_lr(n->judge, lr);
}

/* Images from 0 to 1. */
static tarn_tensor made(const struct gan *n, tarn_tensor noise)
{
    const int32_t count = tarn_shape_get(noise).dim[0];
    tarn_tensor h = tarn_linear_forward(&n->wide, noise);
    h = tarn_reshape(h, TARN_SHAPE(count, 2 * CHANNELS, SIDE / 4, SIDE / 4));
    h = tarn_relu(tarn_batch_norm_forward(&n->norm1, h));
    h = tarn_conv_transpose2d_forward(&n->up1, h);
    h = tarn_relu(tarn_batch_norm_forward(&n->norm2, h));
    return tarn_sigmoid(tarn_conv_transpose2d_forward(&n->up2, h));
}

/* How far the judge is from calling all of these real, or made. */
static tarn_tensor judged(const struct gan *n, tarn_tensor images, bool real)
{
    tarn_tensor h = tarn_leaky_relu(tarn_conv2d_forward(&n->down1, images), 0.2f);
    h = tarn_leaky_relu(tarn_conv2d_forward(&n->down2, h), 0.2f);
    const tarn_tensor logits = tarn_linear_forward(&n->verdict, tarn_flatten(h, 1));
    const tarn_tensor truth = tarn_full(images.replica, tarn_shape_get(logits), real ? 1 : 0);
    return tarn_bce_with_logits(logits, truth, TARN_NONE);
}

/* Numbers for each sample: with virtual shards the same ones on whichever device it is. */
static tarn_tensor noise_for(const tarn_batch *b)
{
    return tarn_batch_axis(tarn_randn(b->x.replica, TARN_SHAPE(b->n, NOISE)), 0);
}

static tarn_tensor train(void *model, const tarn_batch *b)
{
    const struct gan *n = model;
    const tarn_tensor images = made(n, noise_for(b));
    const tarn_tensor apart =
        tarn_add(judged(n, b->x, true), judged(n, tarn_detach(images), false));
    tarn_minimize(n->judge, apart);
    const tarn_tensor fooled = judged(n, images, true); /* by the judge as it is now */
    tarn_minimize(n->maker, fooled);
    return tarn_add(apart, fooled);
}

/* How well the judge tells them apart: 2 log 2 = 1.39 when it cannot. */
static tarn_tensor test(void *model, const tarn_batch *b)
{
    const tarn_tensor images = made(model, noise_for(b));
    return tarn_add(judged(model, b->x, true), judged(model, images, false));
}

static tarn_tensor draw(tarn_replica *r, void *model)
{
    return made(model, tarn_randn(r, TARN_SHAPE(DRAWN, NOISE)));
}

int main(int argc, char **argv)
{
    static const struct example gan = { .name = "gan",
                                        .about =
                                            "Trains two networks against each other, until one "
                                            "makes images.",
                                        .epochs = 5,
                                        .batch = 128,
                                        .lr = 2e-4,
                                        .unit_pixels = true,
                                        .bytes = sizeof(struct gan),
                                        .make = make,
                                        .optimize = optimize,
                                        .set_lr = set_lr,
                                        .train = train,
                                        .test = test,
                                        .measure = "judge's loss",
                                        .draw = draw };
    return image_main(&gan, argc, argv);
}
