/* SPDX-License-Identifier: Apache-2.0 */
/* A residual network of 20 layers (He et al., 2015, section 4.2) on MNIST's kind of images, padded to three
 * channels of 32x32, or on any folder of images. */
#include <stdio.h>

#include "image_trainer.h"

enum { STAGES = 3, BLOCKS = 3 };

struct unit {
    tarn_conv2d conv;
    tarn_batch_norm norm;
};

struct block {
    struct unit first, second;
};

struct resnet {
    struct unit stem;
    struct block blocks[STAGES * BLOCKS];
    tarn_linear head;
    tarn_optimizer *sgd;
    int classes;
    bool grey; /* images are [1, 28, 28] */
};

static struct unit unit(tarn_replica *r, const char *prefix, int number, int in, int out,
                        int stride)
{
    const tarn_conv2d_make_options window = {
        .window = { 3, 3 },
        .options = { .stride = { stride, stride }, .padding = { 1, 1 } },
        .no_bias = true,
    };
    char name[64];
    struct unit u;
    snprintf(name, sizeof name, "%sconv%d", prefix, number);
    u.conv = tarn_conv2d_make_with(r, name, in, out, window);
    snprintf(name, sizeof name, "%sbn%d", prefix, number);
    u.norm = tarn_batch_norm_make(r, name, out);
    return u;
}

static tarn_tensor apply(const struct unit *u, tarn_tensor x)
{
    return tarn_batch_norm_forward(&u->norm, tarn_conv2d_forward(&u->conv, x));
}

static void fit(void *model, tarn_shape sample, int classes)
{
    struct resnet *n = model;
    n->classes = classes;
    n->grey = sample.dim[0] == 1;
}

static void make(tarn_replica *r, void *model)
{
    struct resnet *n = model;
    n->stem = unit(r, "", 1, 3, 16, 1);
    for (int i = 0; i < STAGES * BLOCKS; i++) {
        const int stage = i / BLOCKS, out = 16 << stage;
        const bool halves = stage > 0 && i % BLOCKS == 0;
        char prefix[32];
        snprintf(prefix, sizeof prefix, "layer%d.%d.", stage + 1, i % BLOCKS);
        n->blocks[i].first = unit(r, prefix, 1, halves ? out / 2 : out, out, halves ? 2 : 1);
        n->blocks[i].second = unit(r, prefix, 2, out, out, 1);
    }
    n->head = tarn_linear_make(r, "fc", 16 << (STAGES - 1), n->classes);
}

static void optimize(tarn_replica *r, void *model)
{
    ((struct resnet *)model)->sgd = tarn_sgd(
        r, (tarn_sgd_options){ .momentum = 0.9f, .weight_decay = 5e-4f, .nesterov = true });
}

static void set_lr(void *model, float lr)
{
    tarn_optimizer_set_lr(((struct resnet *)model)->sgd, lr);
}

/* Where a block halves the image, every second pixel goes on, with zeros for the new channels. */
static tarn_tensor shortcut(tarn_tensor x, tarn_shape to)
{
    const int32_t more = (to.dim[1] - tarn_shape_get(x).dim[1]) / 2;
    if (more == 0)
        return x;
    for (int axis = 2; axis < 4; axis++)
        x = tarn_slice(x, axis, 0, tarn_shape_get(x).dim[axis], 2);
    return tarn_pad(x, TARN_SHAPE(0, more, 0, 0), TARN_SHAPE(0, more, 0, 0), 0);
}

static tarn_tensor forward(const struct resnet *n, tarn_tensor x)
{
    if (n->grey) {
        x = tarn_pad(x, TARN_SHAPE(0, 0, 2, 2), TARN_SHAPE(0, 0, 2, 2), 0);
        x = tarn_concat((tarn_tensor[]){ x, x, x }, 3, 1);
    }
    x = tarn_relu(apply(&n->stem, x));
    for (int i = 0; i < STAGES * BLOCKS; i++) {
        const struct block *b = &n->blocks[i];
        const tarn_tensor y = apply(&b->second, tarn_relu(apply(&b->first, x)));
        x = tarn_relu(tarn_add(y, shortcut(x, tarn_shape_get(y))));
    }
    return tarn_linear_forward(&n->head, tarn_flatten(tarn_global_avg_pool(x), 1));
}

static tarn_tensor train(void *model, const tarn_batch *b)
{
    const struct resnet *n = model;
    const tarn_tensor loss = tarn_cross_entropy(forward(n, b->x), b->y);
    tarn_backward(loss);
    tarn_optimizer_step(n->sgd);
    return loss;
}

static tarn_tensor test(void *model, const tarn_batch *b)
{
    return image_accuracy(forward(model, b->x), b->y);
}

int main(int argc, char **argv)
{
    static const struct example resnet = { .name = "resnet",
                                           .about = "Trains a residual network of 20 layers.",
                                           .epochs = 5,
                                           .batch = 128,
                                           .lr = 0.1,
                                           .cosine = true,
                                           .bytes = sizeof(struct resnet),
                                           .fit = fit,
                                           .make = make,
                                           .optimize = optimize,
                                           .set_lr = set_lr,
                                           .train = train,
                                           .test = test,
                                           .measure = "accuracy",
                                           .higher = true };
    return image_main(&resnet, argc, argv);
}
