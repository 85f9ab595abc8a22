/* SPDX-License-Identifier: Apache-2.0 */
/* Transformers: a GPT whose head is tied to its embedding, and a vision transformer. */
#include <math.h>
#include <stdio.h>

#include "networks.h"

enum { LAYERS = 2, WIDTH = 32, HEADS = 2, CLASSES = 10 };

struct block {
    tarn_layer_norm norm1, norm2;
    tarn_linear qkv, out, up, down;
};

static void blocks_make(tarn_replica *r, struct block *b)
{
    for (int i = 0; i < LAYERS; i++, b++) {
        char prefix[32];
        snprintf(prefix, sizeof prefix, "blocks.%d", i);
        b->norm1 = tarn_layer_norm_make(r, network_name(prefix, "norm1"), WIDTH);
        b->qkv = tarn_linear_make(r, network_name(prefix, "qkv"), WIDTH, 3 * WIDTH);
        b->out = tarn_linear_make(r, network_name(prefix, "out"), WIDTH, WIDTH);
        b->norm2 = tarn_layer_norm_make(r, network_name(prefix, "norm2"), WIDTH);
        b->up = tarn_linear_make(r, network_name(prefix, "up"), WIDTH, 4 * WIDTH);
        b->down = tarn_linear_make(r, network_name(prefix, "down"), 4 * WIDTH, WIDTH);
    }
}

/* Queries, keys or values of all heads: [N, heads, T, width / heads]. */
static tarn_tensor part(tarn_tensor qkv, int which)
{
    const int32_t *d = tarn_shape_get(qkv).dim;
    const tarn_tensor one = tarn_slice(qkv, 2, which * WIDTH, (which + 1) * WIDTH, 1);
    return tarn_permute(tarn_reshape(one, TARN_SHAPE(d[0], d[1], HEADS, WIDTH / HEADS)),
                        TARN_AXES(0, 2, 1, 3));
}

static tarn_tensor attention(const struct block *b, tarn_tensor x, bool causal)
{
    const tarn_shape shape = tarn_shape_get(x);
    const int32_t t = shape.dim[1];
    const tarn_tensor qkv = tarn_linear_forward(&b->qkv, x);
    tarn_tensor s = tarn_matmul(part(qkv, 0), tarn_transpose(part(qkv, 1), 2, 3));
    s = tarn_mul_scalar(s, 1.0f / sqrtf((float)WIDTH / HEADS));
    if (causal) {
        const tarn_tensor at = tarn_arange(x.replica, t);
        const tarn_tensor past = tarn_le(at, tarn_reshape(at, TARN_SHAPE(t, 1)));
        s = tarn_where(past, s, tarn_full(x.replica, TARN_SCALAR, -1e9f));
    }
    const tarn_tensor y = tarn_matmul(tarn_softmax(s, 3), part(qkv, 2));
    return tarn_linear_forward(&b->out,
                               tarn_reshape(tarn_permute(y, TARN_AXES(0, 2, 1, 3)), shape));
}

static tarn_tensor blocks_apply(const struct block *b, tarn_tensor x, bool causal)
{
    for (int i = 0; i < LAYERS; i++, b++) {
        x = tarn_add(x, attention(b, tarn_layer_norm_forward(&b->norm1, x), causal));
        const tarn_tensor h = tarn_linear_forward(&b->up, tarn_layer_norm_forward(&b->norm2, x));
        x = tarn_add(x, tarn_linear_forward(&b->down, tarn_gelu(h)));
    }
    return x;
}

/* ---- GPT ------------------------------------------------------------------------------------ */

enum { WORDS = 67, CONTEXT = 12 };

struct gpt {
    tarn_tensor words, places;
    struct block blocks[LAYERS];
    tarn_layer_norm norm;
    tarn_optimizer *optimizer;
};

static void gpt_make(tarn_replica *r, void *model)
{
    struct gpt *n = model;
    n->words = tarn_parameter_kaiming(r, "words", TARN_SHAPE(WORDS, WIDTH), WIDTH);
    n->places = tarn_parameter_kaiming(r, "places", TARN_SHAPE(CONTEXT, WIDTH), WIDTH);
    blocks_make(r, n->blocks);
    n->norm = tarn_layer_norm_make(r, "norm", WIDTH);
}

static void gpt_optimize(tarn_replica *r, void *model)
{
    ((struct gpt *)model)->optimizer = tarn_adamw(r, (tarn_adam_options){ .lr = 2e-3f });
}

static tarn_tensor gpt_train(tarn_replica *r, void *model, const tarn_batch *b)
{
    const struct gpt *n = model;
    (void)r;
    tarn_tensor x = tarn_add(tarn_embedding(n->words, b->x), n->places);
    x = tarn_layer_norm_forward(&n->norm, blocks_apply(n->blocks, x, true));
    const tarn_tensor logits = tarn_matmul(x, tarn_transpose(n->words, 0, 1));
    const int32_t rows = b->n * CONTEXT;
    return network_step(n->optimizer,
                        tarn_cross_entropy(tarn_reshape(logits, TARN_SHAPE(rows, WORDS)),
                                           tarn_reshape(b->y, TARN_SHAPE(rows))));
}

/* ---- a vision transformer ------------------------------------------------------------------- */

enum { SIDE = 16, PATCH = 4, PATCHES = SIDE / PATCH * SIDE / PATCH };

struct vit {
    tarn_conv2d patches;
    tarn_tensor first, places;
    struct block blocks[LAYERS];
    tarn_layer_norm norm;
    tarn_linear head;
    tarn_optimizer *optimizer;
};

static void vit_make(tarn_replica *r, void *model)
{
    struct vit *n = model;
    n->patches = tarn_conv2d_make(r, "patches", 3, WIDTH, PATCH,
                                  (tarn_conv2d_options){ .stride = { PATCH, PATCH } });
    n->first = tarn_parameter_kaiming(r, "first", TARN_SHAPE(1, WIDTH), WIDTH);
    n->places = tarn_parameter_kaiming(r, "places", TARN_SHAPE(1 + PATCHES, WIDTH), WIDTH);
    blocks_make(r, n->blocks);
    n->norm = tarn_layer_norm_make(r, "norm", WIDTH);
    n->head = tarn_linear_make(r, "head", WIDTH, CLASSES);
}

static void vit_optimize(tarn_replica *r, void *model)
{
    ((struct vit *)model)->optimizer =
        tarn_adamw(r, (tarn_adam_options){ .lr = 2e-3f, .weight_decay = 0.05f });
}

static tarn_tensor vit_train(tarn_replica *r, void *model, const tarn_batch *b)
{
    const struct vit *n = model;
    (void)r;
    const tarn_tensor cut = tarn_flatten(tarn_conv2d_forward(&n->patches, b->x), 2);
    const tarn_tensor first = tarn_broadcast_to(n->first, TARN_SHAPE(b->n, 1, WIDTH));
    tarn_tensor x = tarn_concat((tarn_tensor[]){ first, tarn_transpose(cut, 1, 2) }, 2, 1);
    x = blocks_apply(n->blocks, tarn_add(x, n->places), false);
    x = tarn_layer_norm_forward(&n->norm, tarn_slice(x, 1, 0, 1, 1));
    const tarn_tensor logits =
        tarn_linear_forward(&n->head, tarn_reshape(x, TARN_SHAPE(b->n, WIDTH)));
    return network_step(n->optimizer, tarn_cross_entropy(logits, b->y));
}

const struct network attention_networks[] = {
    { .name = "gpt",
      .inputs = { { WORDS, 1, { CONTEXT } } },
      .targets = { { WORDS, 1, { CONTEXT } } },
      .bytes = sizeof(struct gpt),
      .make = gpt_make,
      .optimize = gpt_optimize,
      .train = gpt_train },
    { .name = "vit",
      .inputs = { { 0, 3, { 3, SIDE, SIDE } } },
      .targets = { { CLASSES, 0, { 0 } } },
      .bytes = sizeof(struct vit),
      .make = vit_make,
      .optimize = vit_optimize,
      .train = vit_train },
    { 0 },
};
