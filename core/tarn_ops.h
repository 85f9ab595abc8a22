/* SPDX-License-Identifier: Apache-2.0 */
/** More operations, with PyTorch's definitions: functions, random numbers, views, losses, attention.
 *  Part of tarn.h, which includes it and says what holds for all of them. */
#ifndef TARN_OPS_H
#define TARN_OPS_H

#include "tarn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- maps ----------------------------------------------------------------------------------- */

/** Sine of x in radians, float32; NaN of infinities. */
TARN_API tarn_tensor tarn_sin(tarn_tensor x);
/** Cosine, likewise. */
TARN_API tarn_tensor tarn_cos(tarn_tensor x);
/** log(1 + x), float32, exact near 0. */
TARN_API tarn_tensor tarn_log1p(tarn_tensor x);
/** exp(x) - 1, float32, exact near 0. */
TARN_API tarn_tensor tarn_expm1(tarn_tensor x);
/** x * sigmoid(x), float32; 0 at -infinity, where torch.nn.functional.silu is NaN. */
TARN_API tarn_tensor tarn_silu(tarn_tensor x);
/** log(1 + exp(beta * x)) / beta, and x itself where beta * x > threshold; float32. PyTorch's defaults
 *  are beta 1 and threshold 20. Never overflows. beta 0 is an error. */
TARN_API tarn_tensor tarn_softplus(tarn_tensor x, float beta, float threshold);
/** x > 0 ? x : slope * x, float32. PyTorch's default slope is 0.01. */
TARN_API tarn_tensor tarn_leaky_relu(tarn_tensor x, float slope);
/** The largest whole number not above x. Integers stay as they are. The gradient is 0, as of the two
 *  below. */
TARN_API tarn_tensor tarn_floor(tarn_tensor x);
/** The nearest whole number; of two the even one, as torch.round. Integers stay as they are. */
TARN_API tarn_tensor tarn_round(tarn_tensor x);
/** -1, 0 or 1 in x's type; 0 for NaN, as torch.sign. */
TARN_API tarn_tensor tarn_sign(tarn_tensor x);

/* ---- random numbers ------------------------------------------------------------------------- */

/** Normal float32 of mean 0 and deviation 1, from the same generator as tarn_rand: the same bits on
 *  every device. Of 2^24 different values, the largest 5.42. */
TARN_API tarn_tensor tarn_randn(tarn_replica *r, tarn_shape shape);
/** The same of which the part between low and high is taken, as torch.nn.init.trunc_normal_. The limits
 *  are part of the compiled code. For another mean and deviation take limits (low - mean) / deviation
 *  and so on, then multiply and add. */
TARN_API tarn_tensor tarn_randn_truncated(tarn_replica *r, tarn_shape shape, float low, float high);

#ifdef __cplusplus
}
#endif

#endif
