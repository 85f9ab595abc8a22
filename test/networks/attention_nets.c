/* SPDX-License-Identifier: Apache-2.0 */
/* Transformers: a GPT whose head is tied to its embedding, and a vision transformer of layers in a struct,
 * with its attention by hand. */
#include <math.h>

#include "networks.h"

enum { LAYERS = 2, WIDTH = 32, HEADS = 2, CLASSES = 10 };

/* ---- GPT ------------------------------------------------------------------------------------ */

enum { WORDS = 67, CONTEXT = 12 };

static tarn_tensor attention(tarn_tensor x)
{
    tarn_tensor part[3]; /* queries, keys and values */
    tarn_split(tarn_use_linear(x, "qkv", 3 * WIDTH), NULL, 3, 2, part);
    const tarn_shape heads = TARN_SHAPE(-1, CONTEXT, HEADS, WIDTH / HEADS);
    for (int i = 0; i < 3; i++)
        part[i] = tarn_transpose(tarn_reshape(part[i], heads), 1, 2);
    const tarn_tensor y =
        tarn_attention(part[0], part[1], part[2], (tarn_attention_options){ .causal = true });
    return tarn_use_linear(tarn_flatten(tarn_transpose(y, 1, 2), 2), "out", WIDTH);
}

static tarn_tensor gpt_block(tarn_tensor x)
{
    x = tarn_add(x, attention(tarn_use_layer_norm(x, "norm1")));
    tarn_tensor h = tarn_use_linear(tarn_use_layer_norm(x, "norm2"), "up", 4 * WIDTH);
    return tarn_add(x, tarn_use_linear(tarn_gelu(h), "down", WIDTH));
}

static tarn_tensor gpt_loss(const tarn_batch *b)
{
    tarn_replica *r = b->x.replica;
    const tarn_init init = { TARN_INIT_NORMAL, .b = 0.02f };
    const tarn_tensor words = tarn_use_parameter(r, "words", TARN_SHAPE(WORDS, WIDTH), init);
    const tarn_tensor places = tarn_use_parameter(r, "places", TARN_SHAPE(CONTEXT, WIDTH), init);
    tarn_tensor x = tarn_add(tarn_embedding(words, b->x), places);
    for (int i = 0; i < LAYERS; i++) {
        tarn_enter(r, "blocks.%d", i);
        x = gpt_block(x);
        tarn_leave(r);
    }
    x = tarn_matmul(tarn_use_layer_norm(x, "norm"), tarn_transpose(words, 0, 1));
    return tarn_cross_entropy(tarn_reshape(x, TARN_SHAPE(-1, WORDS)), tarn_flatten(b->y, 0));
}

static tarn_optimizer *gpt_optimizer(tarn_replica *r)
{
    return tarn_adamw(r, (tarn_adam_options){ .lr = 2e-3f });
}

/* ---- a vision transformer ------------------------------------------------------------------- */

enum { SIDE = 16, PATCH = 4, PATCHES = SIDE / PATCH * SIDE / PATCH };

struct block {
    tarn_layer_norm norm1, norm2;
    tarn_linear qkv, out, up, down;
};

static void blocks_make(tarn_replica *r, struct block *b)
{
    for (int i = 0; i < LAYERS; i++, b++) {
        b->norm1 = tarn_layer_norm_make(r, TARN_NAME("blocks.%d.norm1", i), WIDTH);
        b->qkv = tarn_linear_make(r, TARN_NAME("blocks.%d.qkv", i), WIDTH, 3 * WIDTH);
        b->out = tarn_linear_make(r, TARN_NAME("blocks.%d.out", i), WIDTH, WIDTH);
        b->norm2 = tarn_layer_norm_make(r, TARN_NAME("blocks.%d.norm2", i), WIDTH);
        b->up = tarn_linear_make(r, TARN_NAME("blocks.%d.up", i), WIDTH, 4 * WIDTH);
        b->down = tarn_linear_make(r, TARN_NAME("blocks.%d.down", i), 4 * WIDTH, WIDTH);
    }
}

/* Queries, keys or values of all heads: [N, heads, T, width / heads]. */
static tarn_tensor part(tarn_tensor qkv, int which)
{
    const tarn_shape s = tarn_shape_get(qkv);
    const tarn_tensor one = tarn_slice(qkv, 2, which * WIDTH, (which + 1) * WIDTH, 1);
    return tarn_permute(tarn_reshape(one, TARN_SHAPE(s.dim[0], s.dim[1], HEADS, WIDTH / HEADS)),
                        TARN_AXES(0, 2, 1, 3));
}

static tarn_tensor look(const struct block *b, tarn_tensor x)
{
    const tarn_shape shape = tarn_shape_get(x);
    const tarn_tensor qkv = tarn_linear_forward(&b->qkv, x);
    tarn_tensor s = tarn_matmul(part(qkv, 0), tarn_transpose(part(qkv, 1), 2, 3));
    s = tarn_mul_scalar(s, 1.0f / sqrtf((float)WIDTH / HEADS));
    const tarn_tensor y = tarn_matmul(tarn_softmax(s, 3), part(qkv, 2));
    return tarn_linear_forward(&b->out,
                               tarn_reshape(tarn_permute(y, TARN_AXES(0, 2, 1, 3)), shape));
}

static tarn_tensor blocks_apply(const struct block *b, tarn_tensor x)
{
    for (int i = 0; i < LAYERS; i++, b++) {
        x = tarn_add(x, look(b, tarn_layer_norm_forward(&b->norm1, x)));
        const tarn_tensor h = tarn_linear_forward(&b->up, tarn_layer_norm_forward(&b->norm2, x));
        x = tarn_add(x, tarn_linear_forward(&b->down, tarn_gelu(h)));
    }
    return x;
}

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
    x = blocks_apply(n->blocks, tarn_add(x, n->places));
    x = tarn_layer_norm_forward(&n->norm, tarn_slice(x, 1, 0, 1, 1));
    const tarn_tensor logits =
        tarn_linear_forward(&n->head, tarn_reshape(x, TARN_SHAPE(b->n, WIDTH)));
    const tarn_tensor loss = tarn_cross_entropy(logits, b->y);
    tarn_minimize(n->optimizer, loss);
    return loss;
}

const struct network attention_networks[] = {
    { .name = "gpt",
      .inputs = { { WORDS, 1, { CONTEXT } } },
      .targets = { { WORDS, 1, { CONTEXT } } },
      .loss = gpt_loss,
      .optimizer = gpt_optimizer },
    { .name = "vit",
      .inputs = { { 0, 3, { 3, SIDE, SIDE } } },
      .targets = { { CLASSES, 0, { 0 } } },
      .bytes = sizeof(struct vit),
      .make = vit_make,
      .optimize = vit_optimize,
      .train = vit_train },
    { 0 },
};
