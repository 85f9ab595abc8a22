/* SPDX-License-Identifier: Apache-2.0 */
/* Networks for images: a residual one, a depthwise-separable one, and a U-Net. */
#include <string.h>

#include "networks.h"

enum { CLASSES = 10 };

static const tarn_conv2d_options same = { .padding = { 1, 1 } };

/* A convolution without bias. */
static tarn_conv2d conv(tarn_replica *r, const char *name, int in, int out, int window,
                        tarn_conv2d_options options)
{
    return tarn_conv2d_make_with(r, name, in, out,
                                 (tarn_conv2d_make_options){ .window = { window, window },
                                                             .no_bias = true,
                                                             .options = options });
}

/* A convolution and its norm. */
struct unit {
    tarn_conv2d conv;
    tarn_batch_norm norm;
};

static struct unit unit(tarn_replica *r, const char *name, const char *number, int in, int out,
                        int window, tarn_conv2d_options options)
{
    char part[16] = "conv";
    strcat(part, number);
    struct unit u = { .conv = conv(r, network_name(name, part), in, out, window, options) };
    strcpy(part, "bn");
    strcat(part, number);
    u.norm = tarn_batch_norm_make(r, network_name(name, part), out);
    return u;
}

static tarn_tensor apply(const struct unit *u, tarn_tensor x)
{
    return tarn_batch_norm_forward(&u->norm, tarn_conv2d_forward(&u->conv, x));
}

/* The mean of each channel: [N, C]. */
static tarn_tensor pooled(tarn_tensor x)
{
    return tarn_mean(x, TARN_AXES(2, 3), false);
}

/* ---- a residual network --------------------------------------------------------------------- */

enum { STAGES = 3 };

struct residual {
    struct unit stem, first[STAGES], second[STAGES], shortcut[STAGES];
    tarn_linear head;
    tarn_optimizer *optimizer;
};

static void residual_make(tarn_replica *r, void *model)
{
    struct residual *n = model;
    n->stem = unit(r, "stem", "", 3, 8, 3, same);
    for (int i = 0; i < STAGES; i++) {
        const char *const names[] = { "stage0", "stage1", "stage2" };
        const int out = 8 << i, in = i == 0 ? 8 : out / 2, stride = i == 0 ? 1 : 2;
        const tarn_conv2d_options step = { .stride = { stride, stride }, .padding = { 1, 1 } };
        n->first[i] = unit(r, names[i], "1", in, out, 3, step);
        n->second[i] = unit(r, names[i], "2", out, out, 3, same);
        if (i > 0)
            n->shortcut[i] = unit(r, names[i], "3", in, out, 1,
                                  (tarn_conv2d_options){ .stride = { stride, stride } });
    }
    n->head = tarn_linear_make(r, "head", 8 << (STAGES - 1), CLASSES);
}

static void residual_optimize(tarn_replica *r, void *model)
{
    ((struct residual *)model)->optimizer =
        tarn_sgd(r, (tarn_sgd_options){ .lr = 0.05f, .momentum = 0.9f, .weight_decay = 1e-3f });
}

static tarn_tensor residual_train(tarn_replica *r, void *model, const tarn_batch *b)
{
    const struct residual *n = model;
    (void)r;
    tarn_tensor x = tarn_relu(apply(&n->stem, b->x));
    for (int i = 0; i < STAGES; i++) {
        const tarn_tensor y = apply(&n->second[i], tarn_relu(apply(&n->first[i], x)));
        x = tarn_relu(tarn_add(y, i > 0 ? apply(&n->shortcut[i], x) : x));
    }
    const tarn_tensor logits = tarn_linear_forward(&n->head, pooled(x));
    return network_step(n->optimizer, tarn_cross_entropy(logits, b->y));
}

/* ---- depthwise-separable convolutions ------------------------------------------------------- */

enum { BLOCKS = 2 };

struct separable {
    struct unit stem, depthwise[BLOCKS], pointwise[BLOCKS];
    tarn_linear head;
    tarn_optimizer *optimizer;
};

static void separable_make(tarn_replica *r, void *model)
{
    struct separable *n = model;
    n->stem = unit(r, "stem", "", 3, 16, 3,
                   (tarn_conv2d_options){ .stride = { 2, 2 }, .padding = { 1, 1 } });
    for (int i = 0; i < BLOCKS; i++) {
        const char *const names[] = { "block0", "block1" };
        const int in = 16 << i, out = 2 * in, stride = 1 + i;
        n->depthwise[i] =
            unit(r, names[i], "1", in, in, 3,
                 (tarn_conv2d_options){
                     .stride = { stride, stride }, .padding = { 1, 1 }, .groups = in });
        n->pointwise[i] = unit(r, names[i], "2", in, out, 1, (tarn_conv2d_options){ 0 });
    }
    n->head = tarn_linear_make(r, "head", 16 << BLOCKS, CLASSES);
}

static void separable_optimize(tarn_replica *r, void *model)
{
    ((struct separable *)model)->optimizer =
        tarn_sgd(r, (tarn_sgd_options){ .lr = 0.05f, .momentum = 0.9f, .nesterov = true });
}

static tarn_tensor separable_train(tarn_replica *r, void *model, const tarn_batch *b)
{
    const struct separable *n = model;
    (void)r;
    tarn_tensor x = tarn_clamp(apply(&n->stem, b->x), 0, 6);
    for (int i = 0; i < BLOCKS; i++) {
        x = tarn_clamp(apply(&n->depthwise[i], x), 0, 6);
        x = tarn_clamp(apply(&n->pointwise[i], x), 0, 6);
    }
    const tarn_tensor logits = tarn_linear_forward(&n->head, pooled(x));
    return network_step(n->optimizer, tarn_cross_entropy(logits, b->y));
}

/* ---- a U-Net: a class for each pixel -------------------------------------------------------- */

enum { SIDE = 16, PIXEL_CLASSES = 3 };

struct unet {
    tarn_conv2d down1, down2, bottom, up2, up1, head;
    tarn_optimizer *optimizer;
};

static void unet_make(tarn_replica *r, void *model)
{
    struct unet *n = model;
    n->down1 = tarn_conv2d_make(r, "down1", 1, 8, 3, same);
    n->down2 = tarn_conv2d_make(r, "down2", 8, 16, 3, same);
    n->bottom = tarn_conv2d_make(r, "bottom", 16, 32, 3, same);
    n->up2 = tarn_conv2d_make(r, "up2", 32 + 16, 16, 3, same);
    n->up1 = tarn_conv2d_make(r, "up1", 16 + 8, 8, 3, same);
    n->head = tarn_conv2d_make(r, "head", 8, PIXEL_CLASSES, 1, (tarn_conv2d_options){ 0 });
}

static void unet_optimize(tarn_replica *r, void *model)
{
    ((struct unet *)model)->optimizer = tarn_adam(r, (tarn_adam_options){ .lr = 3e-3f });
}

static tarn_tensor join(tarn_tensor a, tarn_tensor b)
{
    return tarn_concat((tarn_tensor[]){ a, b }, 2, 1);
}

static tarn_tensor unet_train(tarn_replica *r, void *model, const tarn_batch *b)
{
    const struct unet *n = model;
    (void)r;
    const tarn_tensor a = tarn_relu(tarn_conv2d_forward(&n->down1, b->x));
    const tarn_tensor c = tarn_relu(tarn_conv2d_forward(&n->down2, tarn_max_pool2d(a, 2)));
    const tarn_tensor d = tarn_relu(tarn_conv2d_forward(&n->bottom, tarn_max_pool2d(c, 2)));
    const tarn_tensor e =
        tarn_relu(tarn_conv2d_forward(&n->up2, join(tarn_upsample_nearest2d(d, 2, 2), c)));
    const tarn_tensor f =
        tarn_relu(tarn_conv2d_forward(&n->up1, join(tarn_upsample_nearest2d(e, 2, 2), a)));
    const tarn_tensor logits = tarn_conv2d_forward(&n->head, f);
    const tarn_cross_entropy_options plain = { 0 };
    return network_step(n->optimizer, tarn_cross_entropy_with(logits, b->y, plain));
}

const struct network image_networks[] = {
    { .name = "residual",
      .inputs = { { 0, 3, { 3, 16, 16 } } },
      .targets = { { CLASSES, 0, { 0 } } },
      .bytes = sizeof(struct residual),
      .make = residual_make,
      .optimize = residual_optimize,
      .train = residual_train },
    { .name = "separable",
      .inputs = { { 0, 3, { 3, 16, 16 } } },
      .targets = { { CLASSES, 0, { 0 } } },
      .bytes = sizeof(struct separable),
      .make = separable_make,
      .optimize = separable_optimize,
      .train = separable_train },
    { .name = "unet",
      .inputs = { { 0, 3, { 1, SIDE, SIDE } } },
      .targets = { { PIXEL_CLASSES, 2, { SIDE, SIDE } } },
      .bytes = sizeof(struct unet),
      .make = unet_make,
      .optimize = unet_optimize,
      .train = unet_train },
    { 0 },
};
