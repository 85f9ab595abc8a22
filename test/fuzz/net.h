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
struct conv {
    int stride[2], padding[2], dilation[2], groups;
};
/* bias -1: none. */
int conv2d(struct interpreter *m, int x, tarn_shape xs, int w, tarn_shape ws, int bias,
           const struct conv *o, tarn_shape out);
/* Winograd's algorithm may take windows of 3 and 5; it loses digits (docs/numerics.md): the sum of
 * magnitudes grows by at most the product of the row sums of its matrices. */
void blur(struct tape *t, int y, int terms, double top);
double largest(const struct tape *t, int x);
/* -1 where an index is in doubt. */
int embedding(struct tape *t, int table, tarn_shape rows, int index);
int gelu(struct tape *t, int x);
/* bias -1: none. */
int layer_norm(struct tape *t, int x, tarn_shape s, int weight, tarn_shape w, int bias, double eps);

#endif
