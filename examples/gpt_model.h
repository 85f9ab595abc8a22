/* SPDX-License-Identifier: Apache-2.0 */
/* The network of the example gpt: a GPT of any size, also GPT-2. */
#ifndef GPT_MODEL_H
#define GPT_MODEL_H

#include <tarn.h>

enum { MOST_LAYERS = 64 };

struct gpt_shape {
    int layers, width, heads, mlp_ratio;
    int32_t words, places; /* of the vocabulary, and how many of them it can see */
    float eps;             /* of norms; 0: PyTorch's */
    tarn_tensor (*activation)(tarn_tensor x);
};

struct gpt {
    tarn_embedding_layer words, places;
    tarn_transformer_block blocks[MOST_LAYERS];
    tarn_layer_norm norm;
    struct gpt_shape shape;
    bool recompute; /* the values of blocks for their gradients, instead of keeping them */
};

void gpt_make(tarn_replica *r, const struct gpt_shape *shape, float dropout, struct gpt *g);

/* Words [N, T] to logits [N, T, words] of those that follow. The last layer is the embedding's. */
tarn_tensor gpt_forward(const struct gpt *g, tarn_tensor x);

#endif
