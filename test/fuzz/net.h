/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of nets on the tape, which others are made of (interpret_net.c). */
#ifndef TARN_FUZZ_NET_H
#define TARN_FUZZ_NET_H

#include "interpret.h"

/* A sum of products: pairs (a[i], b[i]) go to result to[i]. All zero at first. */
struct products {
    int *a, *b, *to;
    int count, capacity;
};
void add_product(struct products *s, int64_t a, int64_t b, int64_t to);
/* The sums, `count` of them; frees the lists. */
int sum_products(struct tape *t, struct products *s, int a, int b, int64_t count);

int matmul(struct tape *t, int a, tarn_shape as, int b, tarn_shape bs, tarn_shape out);
/* [C] along an axis of a shape. */
int along(struct tape *t, int x, tarn_shape s, int axis);
int softmax(struct tape *t, int x, tarn_shape s, int axis, bool log);
/* (x - mean) * rsqrt(var + eps); mean and variance of each group also as nodes of their own. */
int normalise(struct tape *t, int x, int count, const int *group, double eps, int *mean, int *var);
/* bias -1: none. */
int layer_norm(struct tape *t, int x, tarn_shape s, int weight, tarn_shape w, int bias, double eps);

#endif
