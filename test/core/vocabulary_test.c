/* SPDX-License-Identifier: Apache-2.0 */
/* Language models with many words: a small transformer whose head is its embedding, or not, learns a text by heart. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "tarn.h"

enum { WORDS = 8192, WIDTH = 32, TEXTS = 8, CONTEXT = 16, STEPS = 12 };

TestSuite(vocabulary, .timeout = 900);

struct net {
    tarn_tensor words, places, head;
    tarn_layer_norm norm[2];
    tarn_linear query, key, value, up, down;
};

static struct net make(tarn_replica *r, bool tied)
{
    struct net n = { .words = tarn_parameter_kaiming(r, "words", TARN_SHAPE(WORDS, WIDTH), WIDTH) };
    n.places = tarn_parameter_kaiming(r, "places", TARN_SHAPE(CONTEXT, WIDTH), WIDTH);
    n.head = tied ? n.words : tarn_parameter_kaiming(r, "head", TARN_SHAPE(WORDS, WIDTH), WIDTH);
    n.norm[0] = tarn_layer_norm_make(r, "norm0", WIDTH);
    n.norm[1] = tarn_layer_norm_make(r, "norm1", WIDTH);
    n.query = tarn_linear_make(r, "query", WIDTH, WIDTH);
    n.key = tarn_linear_make(r, "key", WIDTH, WIDTH);
    n.value = tarn_linear_make(r, "value", WIDTH, WIDTH);
    n.up = tarn_linear_make(r, "up", WIDTH, 4 * WIDTH);
    n.down = tarn_linear_make(r, "down", 4 * WIDTH, WIDTH);
    return n;
}

static tarn_tensor logits(const struct net *n, tarn_tensor text)
{
    tarn_replica *r = text.replica;
    tarn_tensor x = tarn_add(tarn_embedding(n->words, text), n->places);
    const tarn_tensor h = tarn_layer_norm_forward(&n->norm[0], x);
    const tarn_tensor key = tarn_transpose(tarn_linear_forward(&n->key, h), 1, 2);
    const tarn_tensor score = tarn_matmul(tarn_linear_forward(&n->query, h), key);
    const tarn_tensor at = tarn_arange(r, CONTEXT);
    const tarn_tensor past = tarn_le(at, tarn_reshape(at, TARN_SHAPE(CONTEXT, 1)));
    const tarn_tensor never = tarn_full(r, TARN_SCALAR, -1e9f);
    const tarn_tensor weight =
        tarn_softmax(tarn_where(past, tarn_mul_scalar(score, 1 / sqrtf(WIDTH)), never), 2);
    x = tarn_add(x, tarn_matmul(weight, tarn_linear_forward(&n->value, h)));
    const tarn_tensor wide =
        tarn_gelu(tarn_linear_forward(&n->up, tarn_layer_norm_forward(&n->norm[1], x)));
    x = tarn_reshape(tarn_add(x, tarn_linear_forward(&n->down, wide)),
                     TARN_SHAPE(TEXTS * CONTEXT, WIDTH));
    return tarn_matmul(x, tarn_transpose(n->head, 0, 1));
}

/* The loss begins near that of words at random, and falls to less than half. */
static void learn(bool tied)
{
    static int32_t text[TEXTS * CONTEXT], next[TEXTS * CONTEXT];
    for (int i = 0; i < TEXTS * CONTEXT; i++) {
        text[i] = i * 1009 % WORDS;
        next[i] = (i + 1) * 1009 % WORDS;
    }
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const struct net n = make(r, tied);
    tarn_optimizer *o = tarn_adamw(r, (tarn_adam_options){ .lr = 0.02f });
    float loss[STEPS];
    for (int i = 0; i < STEPS; i++) {
        const tarn_tensor t = tarn_from(r, TARN_SHAPE(TEXTS, CONTEXT), TARN_I32, text);
        const tarn_tensor wanted = tarn_from(r, TARN_SHAPE(TEXTS * CONTEXT), TARN_I32, next);
        const tarn_tensor l = tarn_keep(tarn_cross_entropy(logits(&n, t), wanted));
        tarn_backward(l);
        tarn_optimizer_step(o);
        cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
        loss[i] = tarn_item(l);
        tarn_drop(l);
    }
    cr_expect(fabs((double)loss[0] - log(WORDS)) < 1, "%g", (double)loss[0]);
    cr_expect(loss[STEPS - 1] < loss[0] / 2, "%g after %g", (double)loss[STEPS - 1],
              (double)loss[0]);
    tarn_close(r);
}

Test(vocabulary, head_of_its_own)
{
    learn(false);
}

Test(vocabulary, head_tied_to_the_embedding)
{
    learn(true);
}
