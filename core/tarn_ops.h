/* SPDX-License-Identifier: Apache-2.0 */
/** More operations, with PyTorch's definitions: functions, random numbers, extremes by index, views, losses, attention.
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
/** The angle in radians whose tangent is x, from -pi / 2 to pi / 2, float32. */
TARN_API tarn_tensor tarn_atan(tarn_tensor x);
/** The angle in radians of the point (x, y), from -pi to pi, float32: tarn_atan of y / x in the right quadrant. The operands
 *  broadcast. Zeros with their signs, infinities and NaN as C's atan2. As torch.atan2; the gradient is 0 where both are 0. */
TARN_API tarn_tensor tarn_atan2(tarn_tensor y, tarn_tensor x);
/** log(1 + x), float32, exact near 0. */
TARN_API tarn_tensor tarn_log1p(tarn_tensor x);
/** exp(x) - 1, float32, exact near 0. */
TARN_API tarn_tensor tarn_expm1(tarn_tensor x);
/** x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))), float32: nearly tarn_gelu, and GPT-2's; as
 *  torch.nn.functional.gelu(approximate="tanh"). */
TARN_API tarn_tensor tarn_gelu_tanh(tarn_tensor x);
/** x * sigmoid(x), float32; 0 at -infinity, where torch.nn.functional.silu is NaN. */
TARN_API tarn_tensor tarn_silu(tarn_tensor x);
/** log(1 + exp(beta * x)) / beta, and x itself where beta * x > threshold; float32. PyTorch's defaults
 *  are beta 1 and threshold 20. Never overflows. beta 0 is an error. */
TARN_API tarn_tensor tarn_softplus(tarn_tensor x, double beta, double threshold);
/** x > 0 ? x : slope * x, float32. PyTorch's default slope is 0.01. */
TARN_API tarn_tensor tarn_leaky_relu(tarn_tensor x, double slope);
/** x > 0 ? x : alpha * (exp(x) - 1), float32. PyTorch's default alpha is 1. */
TARN_API tarn_tensor tarn_elu(tarn_tensor x, double alpha);
/** The largest whole number not above x. Integers stay as they are. The gradient is 0, as of the two
 *  below. */
TARN_API tarn_tensor tarn_floor(tarn_tensor x);
/** The nearest whole number; of two the even one, as torch.round. Integers stay as they are. */
TARN_API tarn_tensor tarn_round(tarn_tensor x);
/** -1, 0 or 1 in x's type; 0 for NaN, as torch.sign. */
TARN_API tarn_tensor tarn_sign(tarn_tensor x);
/** a == b as uint8, 0 or 1, for a constant b, which is part of the compiled code: for one that changes take tarn_eq and
 *  tarn_number. As PyTorch's a == 0.1: b is the nearest number of a's float type; elements of integers are compared with
 *  a whole number exactly, also with one that they cannot be, and with another one in float32. */
TARN_API tarn_tensor tarn_eq_scalar(tarn_tensor a, double b);
/** a != b, likewise. */
TARN_API tarn_tensor tarn_ne_scalar(tarn_tensor a, double b);
/** a < b, likewise. */
TARN_API tarn_tensor tarn_lt_scalar(tarn_tensor a, double b);
/** a <= b, likewise. */
TARN_API tarn_tensor tarn_le_scalar(tarn_tensor a, double b);
/** a > b, likewise. */
TARN_API tarn_tensor tarn_gt_scalar(tarn_tensor a, double b);
/** a >= b, likewise. */
TARN_API tarn_tensor tarn_ge_scalar(tarn_tensor a, double b);

/* ---- reductions --------------------------------------------------------------------------- */

/** int32 index of the first minimum along one axis. NaN counts as the smallest. */
TARN_API tarn_tensor tarn_argmin(tarn_tensor x, int axis, bool keep);
/** The logarithm of the sum of exp(x) over axes, float32, from the distances to the largest element, so that nothing
 *  overflows; `axes` and `keep` as of tarn_sum(). As torch.logsumexp. */
TARN_API tarn_tensor tarn_logsumexp(tarn_tensor x, tarn_shape axes, bool keep);
/** log(exp(a) + exp(b)) of each pair of elements, which broadcast; nothing overflows, and two infinities of one sign are that
 *  infinity, with half of the gradient each. As torch.logaddexp, but for that gradient, which is NaN there. */
TARN_API tarn_tensor tarn_logaddexp(tarn_tensor a, tarn_tensor b);

/* ---- random numbers ------------------------------------------------------------------------- */

/** Normal float32 of mean 0 and deviation 1, from the same generator as tarn_rand: the same bits on
 *  every device. Of 2^24 different values, the largest 5.42. */
TARN_API tarn_tensor tarn_randn(tarn_replica *r, tarn_shape shape);
/** The same of which the part between low and high is taken, as torch.nn.init.trunc_normal_. The limits
 *  are part of the compiled code. For another mean and deviation take limits (low - mean) / deviation
 *  and so on, then multiply and add. */
TARN_API tarn_tensor tarn_randn_truncated(tarn_replica *r, tarn_shape shape, float low, float high);

/* ---- by index, and in order ----------------------------------------------------------------- */

/** Zeros of x's shape and type, whatever it is: what a loop's carry or a scatter begins with. */
TARN_API tarn_tensor tarn_zeros_like(tarn_tensor x);
/** x with the largest of itself and of the source's elements that the index names, as torch.scatter_reduce with "amax" and
 *  include_self; all else as of tarn_scatter_add(). NaN is the largest. All that are equal share the gradient, x's own
 *  element, too, as in PyTorch; but infinite ones have none. */
TARN_API tarn_tensor tarn_scatter_max(tarn_tensor x, int axis, tarn_tensor index,
                                      tarn_tensor source);
/** The smallest likewise, "amin"; NaN is the smallest. */
TARN_API tarn_tensor tarn_scatter_min(tarn_tensor x, int axis, tarn_tensor index,
                                      tarn_tensor source);
/** Along an axis the product of all elements up to each, of x's shape; uint8 becomes int32. That of n elements is the
 *  product of the first n - b and the last b of them, where b is the largest power of two below n, and each of these is
 *  made likewise: log2 of the length in steps, each over all of x. As torch.cumprod; the gradient is right beside zeros. */
TARN_API tarn_tensor tarn_cumprod(tarn_tensor x, int axis);
/** Where values would go into an ascending last axis: int32, for each value how many elements are less than it, or with
 *  `right` less or equal, found by halves. `sorted` [..., N] and values [..., M] with the same axes before, or `sorted`
 *  [N] and values of any shape, of one type. NaN comes after all numbers; a value that is NaN after all elements. No
 *  gradient. As torch.searchsorted. */
TARN_API tarn_tensor tarn_searchsorted(tarn_tensor sorted, tarn_tensor values, bool right);

/* ---- views ---------------------------------------------------------------------------------- */

/** Takes x apart along an axis into `count` parts of `sizes` elements, which must make up the axis; NULL
 *  means parts of one size. As torch.split with a list, and torch.chunk. On an error all parts are
 *  poison. */
TARN_API void tarn_split(tarn_tensor x, const int32_t *sizes, int count, int axis,
                         tarn_tensor *parts);
/** Adds low[i] and high[i] elements before and after axis i, those behind the first and before the last one in reverse order: fewer
 *  than the axis has. As torch.nn.functional.pad with "reflect", but for all axes, the first one first. */
TARN_API tarn_tensor tarn_pad_reflect(tarn_tensor x, tarn_shape low, tarn_shape high);
/** The same with the elements from the axis's other end, as if it went on in a circle: as many as it has at most. As
 *  "circular". */
TARN_API tarn_tensor tarn_pad_circular(tarn_tensor x, tarn_shape low, tarn_shape high);
/** The same with copies of the axis's first and last element. As "replicate". */
TARN_API tarn_tensor tarn_pad_replicate(tarn_tensor x, tarn_shape low, tarn_shape high);
/** Joins 1 to 64 tensors of one shape along a new axis, which is `axis` of the result. */
TARN_API tarn_tensor tarn_stack(const tarn_tensor *parts, int count, int axis);
/** Element `index` of an axis, which is left out: x[:, index] for axis 1. A negative index counts from the end.
 *  As torch.select. */
TARN_API tarn_tensor tarn_select(tarn_tensor x, int axis, int index);
/** Einstein's sum of two operands of floats, as torch.einsum: "ij,jk->ik" is the matrix product,
 *  "bhqd,bhkd->bhqk" that of queries and keys; or of one of any type, where b is TARN_NONE: "ii->i" is a diagonal, "ii" its sum,
 *  "b...->..." a sum over the batch. A letter for each axis; those that the result leaves out
 *  are summed over, and lengths of 1 are repeated. Without "->" the result has the letters that stand
 *  once, in the order of the alphabet. A letter twice in an operand is its diagonal. "..." are axes without
 *  a letter, as many as there are, broadcast from the last one; without "->" they come first. Of two operands
 *  it is one product of matrices, so its order of sums is tarn_matmul's. */
TARN_API tarn_tensor tarn_einsum(const char *equation, tarn_tensor a, tarn_tensor b);

/* ---- losses, as in torch.nn.functional ------------------------------------------------------ */

/** What becomes of the losses of a batch. */
typedef enum tarn_loss_reduction {
    TARN_LOSS_MEAN, /* their mean, which tarn_backward takes a loss for */
    TARN_LOSS_SUM,
    TARN_LOSS_NONE /* nothing: each by itself */
} tarn_loss_reduction;

/** Zero means: nothing is ignored, no smoothing, all classes count alike, the mean. */
typedef struct tarn_cross_entropy_options {
    bool ignore;           /* targets equal to ignore_index count nothing */
    int32_t ignore_index;  /* PyTorch's default is -100; other than 0 it needs `ignore` */
    float label_smoothing; /* 0 to 1 */
    tarn_tensor weight;    /* float32 [C], or TARN_NONE */
    tarn_loss_reduction reduction;
} tarn_cross_entropy_options;
/** Cross entropy of logits [N, C, ...] and a target, int32, int64 or uint8 [N, ...]:
 *
 *      -sum_i ((1 - s) w[t_i] logp[i, t_i] + s / C sum_c w[c] logp[i, c]) / sum_i w[t_i]
 *
 *  over targets that are not ignored, where s is the smoothing and w the weight, or 1. With TARN_LOSS_SUM it is the first sum
 *  alone, with TARN_LOSS_NONE each term of it, in the target's shape, 0 of those that are ignored. The mean is NaN where all are
 *  ignored. On several devices each divides by what its own targets count for; with ignored targets
 *  or weights virtual shards are refused. A target that is no class and not ignored adds nothing but counts,
 *  where PyTorch fails.
 *
 *  A target of floats in the logits' shape are the classes' probabilities p:
 *  -sum_i sum_c w[c] ((1 - s) p[i, c] + s / C) logp[i, c], and the mean of it divides by their number, N times the axes
 *  behind C, whatever the weights. It has no targets to ignore, and may have a gradient. */
TARN_API tarn_tensor tarn_cross_entropy_with(tarn_tensor logits, tarn_tensor target,
                                             tarn_cross_entropy_options options);
/** The same of log-probabilities logp [N, C, ...] in place of logits, as torch.nn.functional.nll_loss; with label_smoothing, which
 *  that has not, by the formula above. */
TARN_API tarn_tensor tarn_nll_loss_with(tarn_tensor logp, tarn_tensor target,
                                        tarn_cross_entropy_options options);
/** Binary cross entropy of logits x and a target of the same shape, both float32, from 0 to 1:
 *  mean of (1 - y) x + (1 + (p - 1) y) log(1 + exp(-x)); p is pos_weight, which broadcasts to x, or 1
 *  with TARN_NONE. Never overflows. */
TARN_API tarn_tensor tarn_bce_with_logits(tarn_tensor x, tarn_tensor target,
                                          tarn_tensor pos_weight);
/** Zero means: no weights, the mean. */
typedef struct tarn_bce_options {
    tarn_tensor weight;     /* what each loss is multiplied by, broadcast to x; or TARN_NONE */
    tarn_tensor pos_weight; /* as above */
    tarn_loss_reduction
        reduction; /* the mean, also of weighted losses, is over their number; NONE: x's shape */
} tarn_bce_options;
/** The same with options, as torch.nn.functional.binary_cross_entropy_with_logits. */
TARN_API tarn_tensor tarn_bce_with_logits_with(tarn_tensor x, tarn_tensor target,
                                               tarn_bce_options options);
/** tarn_mse_loss of which the mean, the sum or, in the shape that a and b broadcast to, each is the result. */
TARN_API tarn_tensor tarn_mse_loss_with(tarn_tensor a, tarn_tensor b,
                                        tarn_loss_reduction reduction);
/** Mean of |a - b|. */
TARN_API tarn_tensor tarn_l1_loss(tarn_tensor a, tarn_tensor b);
/** As tarn_mse_loss_with(). */
TARN_API tarn_tensor tarn_l1_loss_with(tarn_tensor a, tarn_tensor b, tarn_loss_reduction reduction);
/** Mean of d^2 / (2 beta) where d = |a - b| < beta, of d - beta / 2 elsewhere; of d with beta 0. PyTorch's
 *  default is 1. */
TARN_API tarn_tensor tarn_smooth_l1_loss(tarn_tensor a, tarn_tensor b, double beta);
/** As tarn_mse_loss_with(). */
TARN_API tarn_tensor tarn_smooth_l1_loss_with(tarn_tensor a, tarn_tensor b, double beta,
                                              tarn_loss_reduction reduction);
/** Mean of d^2 / 2 where d = |a - b| < delta, of delta (d - delta / 2) elsewhere; delta > 0. */
TARN_API tarn_tensor tarn_huber_loss(tarn_tensor a, tarn_tensor b, double delta);
/** As tarn_mse_loss_with(). */
TARN_API tarn_tensor tarn_huber_loss_with(tarn_tensor a, tarn_tensor b, double delta,
                                          tarn_loss_reduction reduction);

/** Zero means PyTorch's defaults. */
typedef struct tarn_kl_div_options {
    bool batch_mean; /* divide by axis 0, the mathematical divergence, and not by all elements */
    bool log_target; /* the target is of log-probabilities, too */
    tarn_loss_reduction reduction; /* MEAN with batch_mean */
} tarn_kl_div_options;
/** Mean of target (log target - logp), of log-probabilities logp and probabilities of the same shape;
 *  0 log 0 is 0. As torch.nn.functional.kl_div with "mean", "batchmean", "sum" or "none". */
TARN_API tarn_tensor tarn_kl_div(tarn_tensor logp, tarn_tensor target, tarn_kl_div_options options);

/** Zero means PyTorch's defaults. */
typedef struct tarn_ctc_options {
    int32_t blank;              /* the class that stands for no label */
    tarn_tensor input_lengths;  /* int32 [N], of samples in steps, at most T; TARN_NONE: all T */
    tarn_tensor target_lengths; /* int32 [N], in labels; TARN_NONE: all S */
    bool zero_infinity;         /* infinite losses, and their gradients, are 0 */
    tarn_loss_reduction
        reduction;    /* MEAN: each loss is divided by its target's length, if that is not 0 */
    bool batch_first; /* logp is [N, T, C], not [T, N, C]: needed for virtual shards */
} tarn_ctc_options;
/** Connectionist temporal classification: -log of the probability that steps of log-probabilities logp
 *  [T, N, C], as tarn_log_softmax over axis 2 gives them, spell a target, int32, int64 or uint8 [N, S]: all ways to say
 *  its labels in order, each for one step or more, with blanks before, between and behind, which equal neighbours
 *  need. As torch.nn.functional.ctc_loss; a scalar, or [N] with TARN_LOSS_NONE. A loss is infinite where
 *  there is no such way, a target longer than its sample for instance; its gradient is then 0, where PyTorch's is NaN.
 *  The gradient in logp is that of the formula: PyTorch's has exp(logp) added, of which log_softmax makes
 *  nothing, so gradients of what is before it are the same. Labels beyond a target's length may be any numbers;
 *  others are clamped to classes. A loop over T (tarn_scan). */
TARN_API tarn_tensor tarn_ctc_loss(tarn_tensor logp, tarn_tensor target, tarn_ctc_options options);

/* ---- convolutions, images, norms, attention ------------------------------------------------- */

/** Zero means: stride 1, no padding, dilation 1, one group. */
typedef struct tarn_conv1d_options {
    int32_t stride, padding, dilation, groups;
} tarn_conv1d_options;
/** x [N, C, L], weight [O, C/groups, K], bias [O] or TARN_NONE -> [N, O, OL]. As
 *  torch.nn.functional.conv1d. */
TARN_API tarn_tensor tarn_conv1d_op(tarn_tensor x, tarn_tensor weight, tarn_tensor bias,
                                    tarn_conv1d_options options);

/** Zero means as in tarn_conv2d_options; [0] is depth, [1] height, [2] width, and a zero [1] or [2] takes the value
 *  of [0], except for padding, where it is 0: { 1 } is { 1, 0, 0 }, and PyTorch's padding=1 is { 1, 1, 1 }. */
typedef struct tarn_conv3d_options {
    int32_t stride[3], padding[3], dilation[3], groups;
} tarn_conv3d_options;
/** x [N, C, D, H, W], weight [O, C/groups, KD, KH, KW], bias [O] or TARN_NONE -> [N, O, OD, OH, OW]. As
 *  torch.nn.functional.conv3d. */
TARN_API tarn_tensor tarn_conv3d_op(tarn_tensor x, tarn_tensor weight, tarn_tensor bias,
                                    tarn_conv3d_options options);

/** As tarn_conv1d_options; output_padding adds elements at the end of the result. */
typedef struct tarn_conv_transpose1d_options {
    int32_t stride, padding, output_padding, dilation, groups;
} tarn_conv_transpose1d_options;
/** x [N, C, L], weight [C, O/groups, K], bias [O] or TARN_NONE -> [N, O, OL]. As
 *  torch.nn.functional.conv_transpose1d; see tarn_conv_transpose2d_op(). */
TARN_API tarn_tensor tarn_conv_transpose1d_op(tarn_tensor x, tarn_tensor weight, tarn_tensor bias,
                                              tarn_conv_transpose1d_options options);

/** As tarn_conv2d_options; output_padding adds rows and columns at one end of the result, and { 1 } of it, too, is { 1, 0 }. */
typedef struct tarn_conv_transpose2d_options {
    int32_t stride[2], padding[2], output_padding[2], dilation[2], groups;
} tarn_conv_transpose2d_options;
/** x [N, C, H, W], weight [C, O/groups, KH, KW], bias [O] or TARN_NONE -> [N, O, OH, OW], where
 *  OH = (H - 1) stride - 2 padding + dilation (KH - 1) + output_padding + 1. The gradient of a
 *  convolution in its input. As torch.nn.functional.conv_transpose2d. */
TARN_API tarn_tensor tarn_conv_transpose2d_op(tarn_tensor x, tarn_tensor weight, tarn_tensor bias,
                                              tarn_conv_transpose2d_options options);

/** As tarn_conv3d_options; output_padding adds planes, rows and columns at one end of the result, { 1 } planes alone. */
typedef struct tarn_conv_transpose3d_options {
    int32_t stride[3], padding[3], output_padding[3], dilation[3], groups;
} tarn_conv_transpose3d_options;
/** x [N, C, D, H, W], weight [C, O/groups, KD, KH, KW], bias [O] or TARN_NONE -> [N, O, OD, OH, OW]. As
 *  torch.nn.functional.conv_transpose3d; see tarn_conv_transpose2d_op(). */
TARN_API tarn_tensor tarn_conv_transpose3d_op(tarn_tensor x, tarn_tensor weight, tarn_tensor bias,
                                              tarn_conv_transpose3d_options options);

/** x float32 [N, C, H, W] -> [N, C, high H, wide W], each element repeated; factors from 1 to 64. As
 *  torch.nn.functional.interpolate with "nearest". */
TARN_API tarn_tensor tarn_upsample_nearest2d(tarn_tensor x, int high, int wide);
/** The same with means of neighbours: "bilinear", align_corners false. */
TARN_API tarn_tensor tarn_upsample_bilinear2d(tarn_tensor x, int high, int wide);
/** Height and width of the result: `size`, or where that is 0 `scale` times the image's, rounded down. */
typedef struct tarn_resize_options {
    int32_t size[2];
    float scale[2];
    bool align_corners; /* the outer pixels' centres stay where they are, not the image's border */
} tarn_resize_options;
/** x float32 [N, C, H, W] to any size, of at most 32,767 pixels along an axis: row y is row floor(y H / H') of x, columns
 *  alike, with the ratio in float32 as PyTorch has it. As torch.nn.functional.interpolate with "nearest"; align_corners is
 *  an error. */
TARN_API tarn_tensor tarn_resize_nearest2d(tarn_tensor x, tarn_resize_options options);
/** x float32 [N, C, H, W] to any size, of at most 32,767 pixels along an axis, each a mean of four neighbours. As
 *  torch.nn.functional.interpolate with "bilinear", of `size` or of `scale_factor`, without antialias. */
TARN_API tarn_tensor tarn_resize_bilinear2d(tarn_tensor x, tarn_resize_options options);
/** x [N, C factor^2, H, W] -> [N, C, H factor, W factor]: each pixel's channels become a square of pixels; factors from 1
 *  to 64. As torch.nn.functional.pixel_shuffle. */
TARN_API tarn_tensor tarn_pixel_shuffle(tarn_tensor x, int factor);
/** The way back: x [N, C, H factor, W factor] -> [N, C factor^2, H, W]. */
TARN_API tarn_tensor tarn_pixel_unshuffle(tarn_tensor x, int factor);
/** Zero means: stride 1, no padding, dilation 1. [0] is the height; a zero [1] takes the value of [0], but of padding, where it
 *  is 0: { 1 } is { 1, 0 }. */
typedef struct tarn_unfold_options {
    int32_t window[2], stride[2], padding[2], dilation[2];
} tarn_unfold_options;
/** Windows of x [N, C, H, W] as columns: [N, C KH KW, L], L windows row by row, zeros beside the image. As
 *  torch.nn.functional.unfold. Memory of all windows is taken where a product reads them. */
TARN_API tarn_tensor tarn_unfold2d(tarn_tensor x, tarn_unfold_options options);
/** As tarn_pool_options, of one axis. */
typedef struct tarn_pool1d_options {
    int32_t window, stride, padding;
    bool round_up, exclude_padding;
    int32_t dilation;
} tarn_pool1d_options;
/** x float32 [N, C, L] -> [N, C, OL], as tarn_max_pool2d_with(); torch.nn.functional.max_pool1d. */
TARN_API tarn_tensor tarn_max_pool1d(tarn_tensor x, tarn_pool1d_options options);
/** As tarn_avg_pool2d_with(); torch.nn.functional.avg_pool1d. */
TARN_API tarn_tensor tarn_avg_pool1d(tarn_tensor x, tarn_pool1d_options options);
/** As tarn_pool_options; [0] is depth, [1] height, [2] width: a padding of { 1 } is { 1, 0, 0 }. */
typedef struct tarn_pool3d_options {
    int32_t window[3], stride[3], padding[3];
    bool round_up, exclude_padding;
    int32_t dilation[3];
} tarn_pool3d_options;
/** x float32 [N, C, D, H, W] -> [N, C, OD, OH, OW], as tarn_max_pool2d_with(); torch.nn.functional.max_pool3d. */
TARN_API tarn_tensor tarn_max_pool3d(tarn_tensor x, tarn_pool3d_options options);
/** As tarn_avg_pool2d_with(); torch.nn.functional.avg_pool3d. */
TARN_API tarn_tensor tarn_avg_pool3d(tarn_tensor x, tarn_pool3d_options options);
/** x float32 [N, C, H, W] -> [N, C, high, wide], from 1 to 32,767, also larger than x: row i is the mean of rows from
 *  i H / high, rounded down, to before (i + 1) H / high, rounded up; columns likewise. As
 *  torch.nn.functional.adaptive_avg_pool2d. Where sizes divide those of x it is tarn_avg_pool2d_with(), which is faster. */
TARN_API tarn_tensor tarn_adaptive_avg_pool2d(tarn_tensor x, int high, int wide);
/** The largest element likewise; the first of equal ones takes the gradient. */
TARN_API tarn_tensor tarn_adaptive_max_pool2d(tarn_tensor x, int high, int wide);
/** Mean over all axes from 2 on, which stay as length 1: [N, C, 1, 1] of images. As
 *  torch.nn.functional.adaptive_avg_pool2d(x, 1). */
TARN_API tarn_tensor tarn_global_avg_pool(tarn_tensor x);
/** The largest element likewise; the first of equal ones takes the gradient. */
TARN_API tarn_tensor tarn_global_max_pool(tarn_tensor x);

/** Normalises x float32 [N, C, ...] over each of `groups` groups of channels of a sample:
 *  (x - mean) * rsqrt(var + eps) * weight + bias; weight and bias [C] or TARN_NONE. */
TARN_API tarn_tensor tarn_group_norm_op(tarn_tensor x, tarn_tensor weight, tarn_tensor bias,
                                        int groups, float eps);
/** The same of x [N, C, L, ...] over each channel of a sample. As torch.nn.functional.instance_norm without running
 *  statistics, and nn.InstanceNorm1d to 3d, whose eps is 1e-5. */
TARN_API tarn_tensor tarn_instance_norm_op(tarn_tensor x, tarn_tensor weight, tarn_tensor bias,
                                           float eps);
/** x * rsqrt(mean(x^2) + eps) * weight over the last axes, those of `weight`, or the last one where that is TARN_NONE;
 *  float32. As torch.nn.functional.rms_norm. */
TARN_API tarn_tensor tarn_rms_norm_op(tarn_tensor x, tarn_tensor weight, float eps);

/** Zero means: every query sees every key, scale 1 / sqrt(E), no dropout. */
typedef struct tarn_attention_options {
    bool causal;          /* query i sees keys 0 to i */
    float scale, dropout; /* dropout of weights, while the replica trains */
    tarn_tensor key_mask; /* uint8 or int32 [N, S]: keys with 0 are not seen; or TARN_NONE */
    /* Broadcasts to [..., L, S]: of whole numbers 0 for keys that a query does not see; of a float type what is added to
     * its scores, such as biases of relative positions, which get their gradient; or TARN_NONE. As PyTorch's attn_mask.
     * With it memory of L x S is taken. */
    tarn_tensor mask;
    bool
        grouped_heads; /* k and v [N, ..., H, S, E] may have fewer heads H than q, each for as many of q's in a row: PyTorch's
                           enable_gqa */
} tarn_attention_options;
/** softmax(scale q k^T) v of float32 q [..., L, E], k [..., S, E], v [..., S, V] -> [..., L, V]. A query
 *  that sees no key gives NaN, as in torch.nn.functional.scaled_dot_product_attention. */
TARN_API tarn_tensor tarn_attention(tarn_tensor q, tarn_tensor k, tarn_tensor v,
                                    tarn_attention_options options);

#ifdef __cplusplus
}
#endif

#endif
