/* SPDX-License-Identifier: Apache-2.0 */
/* What op files share: checks of axes, and constructors that have no public name. All return poison
 * on an error, as the public ones do. */
#ifndef TARN_OP_H
#define TARN_OP_H

#include <math.h>

#include "tensor/spread.h"

/* ---- checks --------------------------------------------------------------------------------- */

/* A negative axis counts from the end. -1 after recording an error that begins with `name`. */
int op_axis(tarn_tensor x, const char *name, int axis);
/* Bit i for axis i. False after recording an error. */
bool op_axes(tarn_tensor x, const char *name, tarn_shape axes, uint32_t *mask);
/* Options of axes as a program gives them: a zero is that of the first axis, which is `first` if it is zero, too. */
void op_defaults(int32_t *option, int axes, int32_t first);

/* ---- leaves --------------------------------------------------------------------------------- */

/* Every element is `value`, which is part of the compiled code. */
tarn_tensor op_constant_of(tarn_replica *r, tarn_shape shape, tarn_dtype dtype, double value);
/* The same of one int32. */
tarn_tensor op_whole(tarn_replica *r, int32_t value);
/* int32: the index along `axis`. */
tarn_tensor op_iota_of(tarn_replica *r, tarn_shape shape, int axis);

/* x, for a region of values that are computed again; not computed before `first` is, of which nothing is read. */
tarn_tensor op_after_of(tarn_tensor x, tarn_tensor first, uint32_t region);

/* ---- half types (cast.c) -------------------------------------------------------------------- */

/* For what is composed of several ops: x, in float32 where it is of a half type; and a result in that type, so that
 * it is rounded once. Of another type both are left as they are. */
tarn_tensor op_wide(tarn_tensor x, tarn_dtype *of);
tarn_tensor op_as(tarn_tensor y, tarn_dtype of);
/* x in the type in which functions of floats compute: float64 of float64, else float32. */
tarn_tensor op_floats(tarn_tensor x);
/* x times 1 / count, all of whose digits count where x is float64. */
tarn_tensor op_over(tarn_tensor x, double count);
/* A number that a program gives an op: rounded once to float32 where the op is of float32 or a half type. */
double op_scalar_of(tarn_dtype dtype, double value);
/* What the caller of a float meant: 0.9f is 0.9, the shortest decimal that is this float. */
double op_meant(float value);
/* Whether an option is more than the default: TARN_ZERO is told from 0 by its sign. And what it says. */
static inline bool option_is_said(float option)
{
    return option != 0.0f || signbit(option);
}
static inline float option_or(float option, float otherwise)
{
    return !option_is_said(option) ? otherwise : option != 0.0f ? option : 0.0f;
}
/* A scalar of float32 or float64 whose value may change every step, as tarn_number. */
tarn_tensor op_number_of(tarn_replica *r, tarn_dtype dtype, double value);
/* The float32 that a tensor of a half type was made of without rounding (struct node's `exact`); 0: none. */
uint32_t op_exact_of(tarn_tensor x);
/* x as autocast wants it for a product, and for what is computed in float32; without autocast x itself. */
static inline bool op_autocasts(const tarn_replica *r)
{
    return r->autocast != TARN_F32;
}
tarn_tensor op_low(tarn_tensor x);
tarn_tensor op_high(tarn_tensor x);
/* The float type of a result of two operands: of two different ones float64 if it is one of them, else float32; of none that of b. */
tarn_dtype op_join_floats(tarn_dtype a, tarn_dtype b);

/* ---- bits ----------------------------------------------------------------------------------- */

/* int32 [1]: the sum of the hashes of all elements of 1 to OPERANDS_MOST tensors, each with its
 * position, from `first` on. No single change of a bit leaves it as it was. */
tarn_tensor op_fingerprint_of(const tarn_tensor *x, int count, uint32_t first);
/* The float32 that has the bits of an int32. */
tarn_tensor op_value_of_bits(tarn_tensor x);

/* int32: the bits of float32; int64: those of float64. */
tarn_tensor op_bits_of(tarn_tensor x);

/* ---- views ---------------------------------------------------------------------------------- */

/* x itself when the shape is the same. */
tarn_tensor op_reshape_to(tarn_tensor x, tarn_shape shape);
tarn_tensor op_expand_to(tarn_tensor x, tarn_shape shape);
/* [N,C,H,W] -> [N,C,OH,OW,KH,KW], element (n,c,oh*stride+kh*dilation,ow*stride+kw*dilation);
 * OH = (H - (KH - 1) * dilation - 1) / stride + 1: pad before. */
tarn_tensor op_window_view(tarn_tensor x, const int32_t window[2], const int32_t stride[2],
                           const int32_t dilation[2]);
/* [N,C,OH,OW,KH,KW] -> [N,C,H,W,KH,KW]: at (h,w,kh,kw) the element of the window whose (kh,kw) lies
 * on (h,w), or 0. Summed over the last two axes it is the gradient of the window view. */
tarn_tensor op_unwindow_view(tarn_tensor x, int32_t h, int32_t w, const int32_t stride[2],
                             const int32_t dilation[2]);
/* The index rule of a view that moves nothing. */
void op_same_index(const struct node *n, tarn_shape in, struct index_map *out);
/* Puts step.dim[i] - 1 zeros between neighbours of axis i. */
tarn_tensor op_dilate_view(tarn_tensor x, tarn_shape step);

/* x, to be cut in this way (shard.c). */
tarn_tensor op_shard_as(tarn_tensor x, const struct spec *spec);

/* ---- sums by index (scatter.c) -------------------------------------------------------------- */

/* source [..., D] and int32 index [...] -> [rows, D]: row r is the sum of the source's rows that index r names,
 * 0 where there are none. Indices outside of the table are clamped. */
tarn_tensor op_scatter_rows(tarn_tensor source, tarn_tensor index, int32_t rows);

/* ---- joining -------------------------------------------------------------------------------- */

/* Joins any number of pieces (at least one) along axis 0, overwriting the list. */
tarn_tensor op_join(tarn_tensor *pieces, uint32_t count);

/* ---- reductions: reduced axes stay as length 1 ---------------------------------------------- */

/* Over the axes of the mask; op_argmax counts them in row-major order, result int32. */
tarn_tensor op_reduce(const struct op *op, tarn_tensor x, uint32_t axes);
/* The sum over axis 0 of a few values that each sample has, where all samples wait for the
 * result. */
tarn_tensor op_sum_unsplit(tarn_tensor x);

/* ---- gradients (autograd.c) ----------------------------------------------------------------- */

/* As tarn_backward, for the parameters alone of the optimizer with this number; 0: of all. */
void op_backward_into(tarn_tensor loss, uint32_t number);

/* ---- products (contract.c) ------------------------------------------------------------------ */

/* tarn_matmul in the types of the operands. */
tarn_tensor op_product_of(tarn_tensor a, tarn_tensor b);
/* op(a) op(b) of the last two axes, of operands of one rank and equal leading axes. */
tarn_tensor op_matmul_of(tarn_tensor a, tarn_tensor b, bool ta, bool tb);
/* a [..., K] and b [..., N] of equal leading axes -> [K, N], the sum of products over all of these: with
 * virtual shards, where axis 0 must stay what it is. */
tarn_tensor op_rows_weight_of(tarn_tensor a, tarn_tensor b);

/* ---- normalisation (composed.c) ------------------------------------------------------------- */

/* How many values a sum over these axes adds up: of all replicas when `synced`. 0: an error. */
int64_t op_count_over(tarn_tensor x, uint32_t axes, bool synced);
/* The axes that a norm goes over: the last ones, those of `weight`, or of TARN_NONE the last one; `bias` is like the weight, or
 * TARN_NONE. False, without an error: they do not fit. */
bool op_norm_axes(tarn_tensor x, tarn_tensor weight, tarn_tensor bias, tarn_shape *axes);
/* The shape of a tensor, "none" of TARN_NONE. */
const char *op_shape_text(tarn_tensor t);
/* (x - mean) * rsqrt(var + eps) over the axes of the mask, with the biased variance in two
 * passes. The sums go over all replicas when `synced`. The gradient is that of the whole; `mean`
 * and `var` (reduced axes of length 1) carry none. */
tarn_tensor op_normalise(tarn_tensor x, uint32_t axes, bool synced, float eps, tarn_tensor *mean,
                         tarn_tensor *var);

#endif
