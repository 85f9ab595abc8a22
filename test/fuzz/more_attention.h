/* SPDX-License-Identifier: Apache-2.0 */
/* What layers with attention are made of. */
#ifndef TARN_FUZZ_MORE_ATTENTION_H
#define TARN_FUZZ_MORE_ATTENTION_H

#include "more.h"

/* Attention of several heads. Nodes: weights and biases as PyTorch's (biases -1: none), what keys and values are made of,
 * [N, keys, E], and masks (-1: none) of keys, of all scores, and what is added to these. */
struct heads {
    int heads;
    bool causal;
    int w[4], memory, values, keys;
    int key_mask, flags, added;
};
/* Of x [N, T, E]. -1: a query sees no key. */
int heads_value(struct tape *t, int x, tarn_shape s, const struct heads *h);
/* Operand k is a mask of scores [N, H, T, S]. */
void heads_mask(struct interpreter *m, const struct line *l, int k, tarn_shape scores,
                struct heads *h);

/* x [R, in] times the transpose of `count` rows of w [.., in] from `first` on, plus bias (-1: none). */
int linear(struct tape *t, int x, int rows, int in, int w, int first, int count, int bias);
/* Whether operand k, where there is one, is a mask of keys; the first `count` are float32; a shape broadcasts to another. */
bool mask_fits(const struct program *p, const struct line *l, int k, int samples, int keys);
bool floats_to(const struct program *p, const struct line *l, int count);
bool spreads_to(tarn_shape s, tarn_shape all);
/* Few masks hide all keys, which would be NaN. */
int key_mask(struct generator *g, int samples, int keys);
/* Small, so that values stay small. */
int weight_of(struct generator *g, tarn_shape s);

#endif
