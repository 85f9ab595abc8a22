/* SPDX-License-Identifier: Apache-2.0 */
/* Networks for images: a perceptron, a residual network, a variational autoencoder. */
#include <stdio.h>

#include "corpus.h"

enum { BATCH = 128, STEPS = 2 };

/* ---- a perceptron of 784, 1024, 1024 and 10 ------------------------------------------------- */

static void mlp(void)
{
    tarn_replica *r = open_device();
    const tarn_linear a = tarn_linear_make(r, "a", 784, 1024);
    const tarn_linear b = tarn_linear_make(r, "b", 1024, 1024);
    const tarn_linear c = tarn_linear_make(r, "c", 1024, 10);
    tarn_optimizer *o = tarn_adamw(r, (tarn_adam_options){ .lr = 1e-3f });
    for (int step = 0; step < STEPS; step++) {
        tarn_tensor x = numbers(r, TARN_SHAPE(BATCH, 784));
        x = tarn_relu(tarn_linear_forward(&a, x));
        x = tarn_relu(tarn_linear_forward(&b, x));
        x = tarn_linear_forward(&c, x);
        train(o, tarn_cross_entropy(x, integers(r, TARN_SHAPE(BATCH), 10, TARN_I32)));
    }
    close_device(r);
}

/* ---- ResNet-20 on images of 3 by 32 by 32 --------------------------------------------------- */

enum { STAGES = 3, BLOCKS = 3 };

/* A convolution of 3 by 3 without bias, and its norm. */
struct unit {
    tarn_conv2d conv;
    tarn_batch_norm norm;
};

static struct unit unit_make(tarn_replica *r, const char *name, int in, int out, int stride)
{
    char full[64];
    struct unit u = { .conv = {
                          .options = { .stride = { stride, stride }, .padding = { 1, 1 } } } };
    snprintf(full, sizeof full, "%s.conv.weight", name);
    u.conv.weight = tarn_parameter_kaiming(r, full, TARN_SHAPE(out, in, 3, 3), 9 * in);
    u.conv.bias = TARN_NONE;
    snprintf(full, sizeof full, "%s.norm", name);
    u.norm = tarn_batch_norm_make(r, full, out);
    return u;
}

static tarn_tensor unit_forward(const struct unit *u, tarn_tensor x)
{
    return tarn_batch_norm_forward(&u->norm, tarn_conv2d_forward(&u->conv, x));
}

/* What goes around a block that halves the image and doubles the channels: every other pixel, and
 * zeros for the new channels. */
static tarn_tensor narrowed(tarn_tensor x)
{
    const int channels = tarn_shape_get(x).dim[1], side = tarn_shape_get(x).dim[2];
    x = tarn_slice(tarn_slice(x, 2, 0, side, 2), 3, 0, side, 2);
    const tarn_shape more = TARN_SHAPE(0, channels / 2, 0, 0);
    return tarn_pad(x, more, more, 0.0f);
}

struct resnet {
    struct unit stem, first[STAGES][BLOCKS], second[STAGES][BLOCKS];
    tarn_linear head;
};

static void resnet_make(tarn_replica *r, struct resnet *n)
{
    n->stem = unit_make(r, "stem", 3, 16, 1);
    for (int s = 0; s < STAGES; s++)
        for (int b = 0; b < BLOCKS; b++) {
            const bool halves = s > 0 && b == 0;
            const int width = 16 << s;
            char name[32];
            snprintf(name, sizeof name, "%d.%d.first", s, b);
            n->first[s][b] = unit_make(r, name, halves ? width / 2 : width, width, 1 + halves);
            snprintf(name, sizeof name, "%d.%d.second", s, b);
            n->second[s][b] = unit_make(r, name, width, width, 1);
        }
    n->head = tarn_linear_make(r, "head", 64, 10);
}

static tarn_tensor resnet_forward(const struct resnet *n, tarn_tensor x)
{
    x = tarn_relu(unit_forward(&n->stem, x));
    for (int s = 0; s < STAGES; s++)
        for (int b = 0; b < BLOCKS; b++) {
            const tarn_tensor inner = tarn_relu(unit_forward(&n->first[s][b], x));
            const tarn_tensor around = s > 0 && b == 0 ? narrowed(x) : x;
            x = tarn_relu(tarn_add(unit_forward(&n->second[s][b], inner), around));
        }
    return tarn_linear_forward(&n->head, tarn_mean(x, TARN_AXES(2, 3), false));
}

static void resnet(void)
{
    tarn_replica *r = open_device();
    struct resnet n;
    resnet_make(r, &n);
    tarn_optimizer *o =
        tarn_sgd(r, (tarn_sgd_options){ .lr = 0.1f, .momentum = 0.9f, .weight_decay = 1e-4f });
    for (int step = 0; step < STEPS; step++) {
        const tarn_tensor y = resnet_forward(&n, numbers(r, TARN_SHAPE(BATCH, 3, 32, 32)));
        train(o, tarn_cross_entropy(y, integers(r, TARN_SHAPE(BATCH), 10, TARN_I32)));
    }
    close_device(r);
}

/* ---- a variational autoencoder of digits ---------------------------------------------------- */

enum { LATENT = 20 };

struct vae {
    tarn_conv2d down1, down2, up1, up2;
    tarn_linear mean, log_var, join;
};

static struct vae vae_make(tarn_replica *r)
{
    const tarn_conv2d_options halve = { .stride = { 2, 2 }, .padding = { 1, 1 } };
    const tarn_conv2d_options same = { .padding = { 1, 1 } };
    struct vae n;
    n.down1 = tarn_conv2d_make(r, "down1", 1, 32, 3, halve);
    n.down2 = tarn_conv2d_make(r, "down2", 32, 64, 3, halve);
    n.mean = tarn_linear_make(r, "mean", 64 * 7 * 7, LATENT);
    n.log_var = tarn_linear_make(r, "log_var", 64 * 7 * 7, LATENT);
    n.join = tarn_linear_make(r, "join", LATENT, 64 * 7 * 7);
    n.up1 = tarn_conv2d_make(r, "up1", 64, 32, 3, same);
    n.up2 = tarn_conv2d_make(r, "up2", 32, 1, 3, same);
    return n;
}

/* Each pixel four times. */
static tarn_tensor upsampled(tarn_tensor x)
{
    const int32_t *d = tarn_shape_get(x).dim, n = d[0], c = d[1], h = d[2], w = d[3];
    x = tarn_reshape(x, TARN_SHAPE(n, c, h, 1, w, 1));
    x = tarn_broadcast_to(x, TARN_SHAPE(n, c, h, 2, w, 2));
    return tarn_reshape(x, TARN_SHAPE(n, c, 2 * h, 2 * w));
}

/* Nearly normal: 12 uniform numbers have a variance of 1. */
static tarn_tensor noise(tarn_replica *r)
{
    const tarn_tensor u = tarn_rand(r, TARN_SHAPE(BATCH, LATENT, 12));
    return tarn_add_scalar(tarn_sum(u, TARN_AXES(2), false), -6.0f);
}

/* The cross entropy of the picture, and how far the latent numbers are from normal ones. */
static tarn_tensor vae_loss(const struct vae *n, tarn_tensor x)
{
    tarn_tensor h = tarn_relu(tarn_conv2d_forward(&n->down1, x));
    h = tarn_flatten(tarn_relu(tarn_conv2d_forward(&n->down2, h)), 1);
    const tarn_tensor mean = tarn_linear_forward(&n->mean, h);
    const tarn_tensor log_var = tarn_linear_forward(&n->log_var, h);
    const tarn_tensor deviation = tarn_exp(tarn_mul_scalar(log_var, 0.5f));
    const tarn_tensor z = tarn_add(mean, tarn_mul(deviation, noise(x.replica)));

    h = tarn_relu(tarn_linear_forward(&n->join, z));
    h = upsampled(tarn_reshape(h, TARN_SHAPE(-1, 64, 7, 7)));
    h = upsampled(tarn_relu(tarn_conv2d_forward(&n->up1, h)));
    const tarn_tensor p = tarn_sigmoid(tarn_conv2d_forward(&n->up2, h));
    const tarn_tensor q = tarn_add_scalar(tarn_neg(p), 1.0f);
    const tarn_tensor not_x = tarn_add_scalar(tarn_neg(x), 1.0f);
    const tarn_tensor right = tarn_add(tarn_mul(x, tarn_log(p)), tarn_mul(not_x, tarn_log(q)));
    const tarn_tensor normal =
        tarn_sub(tarn_add_scalar(log_var, 1.0f), tarn_add(tarn_mul(mean, mean), tarn_exp(log_var)));
    const tarn_tensor sum = tarn_add(tarn_sum(right, TARN_ALL, false),
                                     tarn_mul_scalar(tarn_sum(normal, TARN_ALL, false), 0.5f));
    return tarn_mul_scalar(sum, -1.0f / BATCH);
}

static void vae(void)
{
    tarn_replica *r = open_device();
    const struct vae n = vae_make(r);
    tarn_optimizer *o = tarn_adam(r, (tarn_adam_options){ .lr = 1e-3f });
    for (int step = 0; step < STEPS; step++)
        train(o, vae_loss(&n, positive(r, TARN_SHAPE(BATCH, 1, 28, 28))));
    close_device(r);
}

const struct program image_programs[] = {
    { "mlp", mlp },
    { "resnet", resnet },
    { "vae", vae },
    { 0 },
};
