/* SPDX-License-Identifier: Apache-2.0 */
/* The host's own idea of every op: plain loops in double, written without a look at the library,
 * so that a wrong op cannot prove itself. */
#ifndef TARN_TEST_REFERENCE_H
#define TARN_TEST_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>

#define REF_RANK 8

/* A row-major array. Owned by whoever made it; inputs of a function stay their owner's. */
struct ref {
    int rank;
    int dim[REF_RANK];
    double *v;
};

/* Makes an array of zeros; ends the program when memory is short. */
struct ref ref_new(int rank, const int *dim);
struct ref ref_copy(const struct ref *x);
void ref_free(struct ref *x);
size_t ref_count(const struct ref *x);

/* ---- maps (broadcasting) -------------------------------------------------------------------- */
struct ref ref_unary(double (*f)(double), const struct ref *x);
struct ref ref_binary(double (*f)(double, double), const struct ref *a, const struct ref *b);
struct ref ref_where(const struct ref *condition, const struct ref *a, const struct ref *b);
double ref_relu(double x);
double ref_gelu(double x);
double ref_sigmoid(double x);
double ref_rsqrt(double x);
double ref_maximum(double a, double b);
double ref_minimum(double a, double b);

/* ---- views ---------------------------------------------------------------------------------- */
struct ref ref_reshape(const struct ref *x, int rank, const int *dim);
struct ref ref_permute(const struct ref *x, const int *order);
struct ref ref_broadcast(const struct ref *x, int rank, const int *dim);
struct ref ref_flip(const struct ref *x, int count, const int *axes);
struct ref ref_roll(const struct ref *x, int axis, int by);
struct ref ref_slice(const struct ref *x, int axis, int start, int stop, int step);
struct ref ref_pad(const struct ref *x, const int *low, const int *high, double value);
struct ref ref_concat(const struct ref *parts, int count, int axis);

/* ---- reductions; bit i of `axes` means axis i ----------------------------------------------- */
struct ref ref_sum(const struct ref *x, unsigned axes, bool keep);
struct ref ref_mean(const struct ref *x, unsigned axes, bool keep);
struct ref ref_max(const struct ref *x, unsigned axes, bool keep);
struct ref ref_min(const struct ref *x, unsigned axes, bool keep);
struct ref ref_argmax(const struct ref *x, int axis, bool keep);
struct ref ref_var(const struct ref *x, unsigned axes, int correction, bool keep);

/* ---- contractions and windows --------------------------------------------------------------- */
struct ref ref_matmul(const struct ref *a, const struct ref *b);
struct ref_conv {
    int stride[2], padding[2], dilation[2], groups;
};
struct ref ref_conv2d(const struct ref *x, const struct ref *w, const struct ref *bias,
                      const struct ref_conv *c);
struct ref_pool {
    int window[2], stride[2], padding[2];
};
struct ref ref_max_pool(const struct ref *x, const struct ref_pool *p);
struct ref ref_avg_pool(const struct ref *x, const struct ref_pool *p);

/* ---- gather, soft-max, losses, norms -------------------------------------------------------- */
struct ref ref_embedding(const struct ref *table, const struct ref *index);
struct ref ref_gather(const struct ref *x, int axis, const struct ref *index);
struct ref ref_scatter_add(const struct ref *x, int axis, const struct ref *index,
                           const struct ref *source);
/* Of slices: the index has one axis. */
struct ref ref_index_add(const struct ref *x, int axis, const struct ref *index,
                         const struct ref *source);
struct ref ref_index_select(const struct ref *x, int axis, const struct ref *index);
struct ref ref_sort(const struct ref *x, int axis, bool descending);
struct ref ref_argsort(const struct ref *x, int axis, bool descending);
struct ref ref_top_k(const struct ref *x, int k, int axis, bool largest);
struct ref ref_cumsum(const struct ref *x, int axis);
struct ref ref_one_hot(const struct ref *index, int classes);
struct ref ref_log_softmax(const struct ref *x, int axis);
struct ref ref_softmax(const struct ref *x, int axis);
struct ref ref_nll(const struct ref *logp, const struct ref *target);
struct ref ref_mse(const struct ref *a, const struct ref *b);
/* Over the last axes, those of weight and bias. */
struct ref ref_layer_norm(const struct ref *x, const struct ref *weight, const struct ref *bias,
                          double eps);
/* Over all axes but axis 1, with statistics of the batch. */
struct ref ref_batch_norm(const struct ref *x, const struct ref *weight, const struct ref *bias,
                          double eps);

#endif
