/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Tarn: neural networks in C on any OpenCL device.
 *
 * Tensors are lazy. An operation records a node and computes nothing; tarn_step(), the step mark,
 * turns everything recorded since the last one into a few fused OpenCL kernels, or finds the plan
 * it made for the same graph before, and enqueues them. Training is an ordinary loop:
 *
 *     tarn_replica *r = tarn_open(NULL);
 *     tarn_linear fc = tarn_linear_make(r, "fc", 784, 10);
 *     tarn_optimizer *sgd = tarn_sgd(r, (tarn_sgd_options){ .lr = 0.1f });
 *     while (tarn_loader_next(data, &b)) {
 *         tarn_backward(tarn_cross_entropy(tarn_linear_forward(&fc, tarn_flatten(b.x, 1)), b.y));
 *         tarn_optimizer_step(sgd);
 *         if (tarn_step(r) != TARN_OK)
 *             return fprintf(stderr, "%s\n", tarn_error(r)), 1;
 *     }
 *     tarn_close(r);
 *
 * Errors: an operation that cannot work returns a poisoned tensor, and the first error sticks to
 * the replica; whatever uses poison is poison. tarn_step(), tarn_read() and tarn_save() return the
 * status, tarn_error() the line. A failed step runs nothing and leaves parameters as they were.
 *
 * Lifetimes: results of operations live until the next tarn_step(); tarn_keep() makes one outlive
 * it; parameters, buffers and optimizer state belong to the replica; loaders are closed by you, or
 * with the replica. Using a tensor of an earlier step is a named error, never stale memory.
 *
 * Threads: a replica and everything made from it belong to one thread at a time.
 */
#ifndef TARN_H
#define TARN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tarn_status.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TARN_API __attribute__((visibility("default")))
#else
#define TARN_API
#endif

#define TARN_VERSION "0.1.0"

/* ---- shapes and element types --------------------------------------------------------------- */

#define TARN_MAX_RANK 8

typedef enum tarn_dtype {
    TARN_F32, /* 32-bit IEEE float */
    TARN_I32, /* 32-bit signed integer */
    TARN_U8   /* 8-bit unsigned integer; also the result of comparisons, 0 or 1 */
} tarn_dtype;

/** Bytes of one element; 0 for an unknown type. */
TARN_API size_t tarn_dtype_bytes(tarn_dtype dtype);
/** "float32", "int32", "uint8". */
TARN_API const char *tarn_dtype_name(tarn_dtype dtype);

/** A shape by value. Rank 0 is a scalar. Dimensions may be 0. */
typedef struct tarn_shape {
    int32_t rank;
    int32_t dim[TARN_MAX_RANK];
} tarn_shape;

/** TARN_SHAPE(128, 1, 28, 28). */
#define TARN_SHAPE(...) \
    (tarn_shape_of((int)(sizeof((int32_t[]){ __VA_ARGS__ }) / sizeof(int32_t)), \
                   (const int32_t[]){ __VA_ARGS__ }))
#define TARN_SCALAR (tarn_shape_of(0, NULL))
/** A list of axes, for reductions and permutations: TARN_AXES(1, 2). Negative axes count from the
 *  end. TARN_ALL is every axis. */
#define TARN_AXES(...) TARN_SHAPE(__VA_ARGS__)
#define TARN_ALL (tarn_shape_of(-1, NULL))

/** Builds a shape; a rank above TARN_MAX_RANK is kept as given and refused where it is used. */
TARN_API tarn_shape tarn_shape_of(int rank, const int32_t *dims);
/** Number of elements; 1 for a scalar. */
TARN_API int64_t tarn_shape_count(tarn_shape shape);

/* ---- replicas: a device, its graph, its parameters ------------------------------------------ */

typedef struct tarn_replica tarn_replica;

/** A tensor: a small value, nothing to free. `node` 0 is "no tensor" (TARN_NONE). */
typedef struct tarn_tensor {
    tarn_replica *replica;
    uint32_t node;
    uint32_t step;
} tarn_tensor;

/** "No tensor", for optional operands (a layer without bias). Zero-initialised memory is this. */
#ifdef __cplusplus
#define TARN_NONE (tarn_tensor{ NULL, 0, 0 })
#else
#define TARN_NONE ((tarn_tensor){ NULL, 0, 0 })
#endif

/** Opens a replica on one device: `device` as in TARN_DEVICES ("0", "gpu", "cpu:0/2", a part of a
 *  name), or NULL for TARN_DEVICES, else the first GPU, else the first device.
 *  Returns NULL on failure; tarn_error(NULL) has the line. */
TARN_API tarn_replica *tarn_open(const char *device);
/** Waits for the device, closes loaders and optimizers that are still open, frees everything.
 *  NULL is a no-op. */
TARN_API void tarn_close(tarn_replica *r);
/** The device's name as its driver gives it. Belongs to the replica. */
TARN_API const char *tarn_device_name(const tarn_replica *r);
/** Prints one line per OpenCL device of the machine into `out` (at most `capacity` bytes). */
TARN_API tarn_status tarn_list_devices(char *out, size_t capacity);

/** The step mark: compiles or reuses the plan of what was recorded, enqueues it, and ends the step.
 *  Assignments take effect; unkept values die. Does not wait for the device (but for its own
 *  earlier steps, of which two may be in flight). Reports failures of earlier steps too. After an
 *  error nothing runs, the recorded step is dropped, parameters stay as they were. */
TARN_API tarn_status tarn_step(tarn_replica *r);
/** Waits until the device has done everything; reports what failed. */
TARN_API tarn_status tarn_wait(tarn_replica *r);
/** Number of step marks so far at which an optimizer updated parameters (continues over tarn_load). */
TARN_API uint64_t tarn_step_count(const tarn_replica *r);

/* ---- errors ---------------------------------------------------------------------------------- */

/** The replica's first error since the last tarn_error_clear(), one line, "" for none. With NULL:
 *  the calling thread's last error (tarn_open, tarn_list_devices and readers use it). */
TARN_API const char *tarn_error(const tarn_replica *r);
/** Its status code; with NULL that of the calling thread's last error, TARN_OK for none. */
TARN_API tarn_status tarn_error_status(const tarn_replica *r);
/** Forgets the error and drops the recorded step. */
TARN_API void tarn_error_clear(tarn_replica *r);
/** "TARN_ERR_SHAPE". */
TARN_API const char *tarn_status_name(tarn_status status);
/** True when the tensor is poison. */
TARN_API bool tarn_failed(tarn_tensor t);

/* ---- creating, reading, keeping -------------------------------------------------------------- */

/** A tensor with a copy of `data` (row-major, tarn_shape_count elements). Lives for this step. */
TARN_API tarn_tensor tarn_from(tarn_replica *r, tarn_shape shape, tarn_dtype dtype,
                               const void *data);
/** A float32 tensor filled with a constant (part of the compiled code: for values that change
 *  every step use tarn_number). */
TARN_API tarn_tensor tarn_full(tarn_replica *r, tarn_shape shape, float value);
TARN_API tarn_tensor tarn_zeros(tarn_replica *r, tarn_shape shape);
TARN_API tarn_tensor tarn_ones(tarn_replica *r, tarn_shape shape);
/** A float32 scalar whose value may change every step without a new compilation. */
TARN_API tarn_tensor tarn_number(tarn_replica *r, float value);
/** int32 0, 1, 2, ... n-1. */
TARN_API tarn_tensor tarn_arange(tarn_replica *r, int32_t n);
/** Uniform float32 in [0, 1), from a counter-based generator keyed by (seed of the replica, step,
 *  position in the step): the same on every device. */
TARN_API tarn_tensor tarn_rand(tarn_replica *r, tarn_shape shape);
/** Sets the seed of tarn_rand, dropout and initialisers (default 0). */
TARN_API void tarn_seed(tarn_replica *r, uint64_t seed);

/** Known once recorded: neither computes anything. */
/** Shape and element type; rank 0 and float32 for poison. */
TARN_API tarn_shape tarn_shape_get(tarn_tensor t);
/** See tarn_shape_get. */
TARN_API tarn_dtype tarn_dtype_get(tarn_tensor t);

/** Computes `t` (and only what it needs; no assignment takes effect) and copies it, row-major, to
 *  `out` of exactly `bytes` bytes. Waits. */
TARN_API tarn_status tarn_read(tarn_tensor t, void *out, size_t bytes);
/** Computes several tensors now, in one plan; later uses in this step take the values. */
TARN_API tarn_status tarn_eval(const tarn_tensor *tensors, int count);
/** First element of `t` as a float; NaN on error (see tarn_error). Waits. */
TARN_API float tarn_item(tarn_tensor t);
/** Makes the value outlive the step mark, until tarn_drop. Returns the tensor to use from now. */
TARN_API tarn_tensor tarn_keep(tarn_tensor t);
/** Ends a kept tensor's life. */
TARN_API void tarn_drop(tarn_tensor t);
/** Sets a parameter, buffer or kept tensor to a new value of the same shape and type: a node as
 *  any other; whatever reads it later in the step reads the new value. */
TARN_API void tarn_assign(tarn_tensor owned, tarn_tensor value);
/** Cuts the gradient. */
TARN_API tarn_tensor tarn_detach(tarn_tensor t);

/* ---- maps: element by element, with broadcasting as in PyTorch and NumPy ------------------------
 */

TARN_API tarn_tensor tarn_add(tarn_tensor a, tarn_tensor b);
TARN_API tarn_tensor tarn_sub(tarn_tensor a, tarn_tensor b);
TARN_API tarn_tensor tarn_mul(tarn_tensor a, tarn_tensor b);
/** a / b; int32 division truncates as in C, and x / 0 is 0. */
TARN_API tarn_tensor tarn_div(tarn_tensor a, tarn_tensor b);
/** a to the power b. Gradient in b too. */
TARN_API tarn_tensor tarn_pow(tarn_tensor a, tarn_tensor b);
/** Element-wise; NaN wins; equal operands share the gradient (as torch.maximum). */
TARN_API tarn_tensor tarn_maximum(tarn_tensor a, tarn_tensor b);
TARN_API tarn_tensor tarn_minimum(tarn_tensor a, tarn_tensor b);
/** With a constant on the right. */
TARN_API tarn_tensor tarn_add_scalar(tarn_tensor a, float b);
TARN_API tarn_tensor tarn_mul_scalar(tarn_tensor a, float b);
TARN_API tarn_tensor tarn_pow_scalar(tarn_tensor a, float b);

TARN_API tarn_tensor tarn_neg(tarn_tensor x);
TARN_API tarn_tensor tarn_abs(tarn_tensor x);
TARN_API tarn_tensor tarn_exp(tarn_tensor x);
TARN_API tarn_tensor tarn_log(tarn_tensor x);
TARN_API tarn_tensor tarn_sqrt(tarn_tensor x);
TARN_API tarn_tensor tarn_rsqrt(tarn_tensor x);
TARN_API tarn_tensor tarn_tanh(tarn_tensor x);
TARN_API tarn_tensor tarn_sigmoid(tarn_tensor x);
/** max(x, 0); NaN passes. */
TARN_API tarn_tensor tarn_relu(tarn_tensor x);
/** x * Phi(x) with erf, as torch.nn.functional.gelu. */
TARN_API tarn_tensor tarn_gelu(tarn_tensor x);
TARN_API tarn_tensor tarn_erf(tarn_tensor x);
/** Limits to [low, high]; gradient passes inside and at the limits; NaN passes. */
TARN_API tarn_tensor tarn_clamp(tarn_tensor x, float low, float high);

/** Comparisons: uint8 0 or 1. */
TARN_API tarn_tensor tarn_eq(tarn_tensor a, tarn_tensor b);
TARN_API tarn_tensor tarn_ne(tarn_tensor a, tarn_tensor b);
TARN_API tarn_tensor tarn_lt(tarn_tensor a, tarn_tensor b);
TARN_API tarn_tensor tarn_le(tarn_tensor a, tarn_tensor b);
TARN_API tarn_tensor tarn_gt(tarn_tensor a, tarn_tensor b);
TARN_API tarn_tensor tarn_ge(tarn_tensor a, tarn_tensor b);
/** condition != 0 ? a : b, element by element. */
TARN_API tarn_tensor tarn_where(tarn_tensor condition, tarn_tensor a, tarn_tensor b);
/** Converts; float to integer truncates. Gradient passes between float types only. */
TARN_API tarn_tensor tarn_cast(tarn_tensor x, tarn_dtype dtype);

/* ---- views: the same elements, indexed in another way ------------------------------------------
 */

/** One dimension may be -1: what is left over. */
TARN_API tarn_tensor tarn_reshape(tarn_tensor x, tarn_shape shape);
/** Joins axis `first` and all after it. */
TARN_API tarn_tensor tarn_flatten(tarn_tensor x, int first);
/** Axis i of the result is axis order[i] of x. */
TARN_API tarn_tensor tarn_permute(tarn_tensor x, tarn_shape order);
/** Swaps two axes. */
TARN_API tarn_tensor tarn_transpose(tarn_tensor x, int a, int b);
/** Repeats axes of length 1, and adds axes in front. */
TARN_API tarn_tensor tarn_broadcast_to(tarn_tensor x, tarn_shape shape);
/** Elements start, start + step, ... before stop, along one axis. step >= 1. Negative start and
 *  stop count from the end; they are cut to the axis. */
TARN_API tarn_tensor tarn_slice(tarn_tensor x, int axis, int start, int stop, int step);
/** Adds low[i] and high[i] elements of `value` before and after axis i. */
TARN_API tarn_tensor tarn_pad(tarn_tensor x, tarn_shape low, tarn_shape high, float value);
/** Joins 1 to 64 tensors along an axis. */
TARN_API tarn_tensor tarn_concat(const tarn_tensor *parts, int count, int axis);

/* ---- reductions; the reduced axes stay as length 1 when `keep` ----------------------------------
 */

TARN_API tarn_tensor tarn_sum(tarn_tensor x, tarn_shape axes, bool keep);
TARN_API tarn_tensor tarn_mean(tarn_tensor x, tarn_shape axes, bool keep);
/** Equal maxima share the gradient (as torch.amax). NaN wins. */
TARN_API tarn_tensor tarn_max(tarn_tensor x, tarn_shape axes, bool keep);
TARN_API tarn_tensor tarn_min(tarn_tensor x, tarn_shape axes, bool keep);
/** int32 index of the first maximum along one axis. NaN counts as the largest. */
TARN_API tarn_tensor tarn_argmax(tarn_tensor x, int axis, bool keep);
/** Mean squared distance from the mean, divided by n - correction. Two passes. */
TARN_API tarn_tensor tarn_var(tarn_tensor x, tarn_shape axes, int correction, bool keep);

/* ---- contractions ------------------------------------------------------------------------------
 */

/** [..., M, K] x [..., K, N] -> [..., M, N]; leading axes broadcast. Rank 1 operands as in
 *  torch.matmul. */
TARN_API tarn_tensor tarn_matmul(tarn_tensor a, tarn_tensor b);

/** Zero means: stride 1, no padding, dilation 1, one group. [0] is height, [1] width; a zero [1]
 *  takes the value of [0]... except for padding, which is taken as it is. */
typedef struct tarn_conv2d_options {
    int32_t stride[2], padding[2], dilation[2], groups;
} tarn_conv2d_options;
/** x [N, C, H, W], weight [O, C/groups, KH, KW], bias [O] or TARN_NONE -> [N, O, OH, OW].
 *  Same as torch.nn.functional.conv2d (cross-correlation). */
TARN_API tarn_tensor tarn_conv2d_op(tarn_tensor x, tarn_tensor weight, tarn_tensor bias,
                                    tarn_conv2d_options options);

/** Zero means: stride = window, no padding. Padding at most half the window. */
typedef struct tarn_pool_options {
    int32_t window[2], stride[2], padding[2];
} tarn_pool_options;
/** x [N, C, H, W]. The first of equal maxima takes the gradient, as in PyTorch. */
TARN_API tarn_tensor tarn_max_pool2d(tarn_tensor x, int window);
TARN_API tarn_tensor tarn_max_pool2d_with(tarn_tensor x, tarn_pool_options options);
/** Padding counts as zeros in the mean (count_include_pad). */
TARN_API tarn_tensor tarn_avg_pool2d(tarn_tensor x, int window);
TARN_API tarn_tensor tarn_avg_pool2d_with(tarn_tensor x, tarn_pool_options options);

/* ---- gather
 * -------------------------------------------------------------------------------------- */

/** Rows of table [V, D] by int32 index [...]: [..., D]. Indices outside 0..V-1 are clamped. */
TARN_API tarn_tensor tarn_embedding(tarn_tensor table, tarn_tensor index);
/** int32 or uint8 index [...] -> float32 [..., classes]. */
TARN_API tarn_tensor tarn_one_hot(tarn_tensor index, int classes);

/* ---- composed: soft-max, losses, norms, dropout
 * ---------------------------------------------------- */

TARN_API tarn_tensor tarn_softmax(tarn_tensor x, int axis);
TARN_API tarn_tensor tarn_log_softmax(tarn_tensor x, int axis);
/** Mean negative log likelihood -mean_i logp[i, target[i]]; logp float32 [N, C], target int32 or
 *  uint8 [N]. Returns a scalar. As torch.nn.functional.nll_loss. A target outside 0..C-1 counts 0.
 */
TARN_API tarn_tensor tarn_nll_loss(tarn_tensor logp, tarn_tensor target);
/** tarn_nll_loss of tarn_log_softmax over axis 1. */
TARN_API tarn_tensor tarn_cross_entropy(tarn_tensor logits, tarn_tensor target);
/** Mean of (a - b)^2. */
TARN_API tarn_tensor tarn_mse_loss(tarn_tensor a, tarn_tensor b);
/** Normalises the last axes, those of `weight`: (x - mean) * rsqrt(var + eps) * weight + bias. */
TARN_API tarn_tensor tarn_layer_norm_op(tarn_tensor x, tarn_tensor weight, tarn_tensor bias,
                                        float eps);
/** Zeroes with probability p and scales the rest by 1 / (1 - p), when the replica trains. */
TARN_API tarn_tensor tarn_dropout(tarn_tensor x, float p);

/* ---- gradients
 * --------------------------------------------------------------------------------------- */

/** Records the gradients of a scalar with respect to all parameters that it depends on. They are
 *  added to what earlier calls of this step left. */
TARN_API void tarn_backward(tarn_tensor loss);
/** The gradient that tarn_backward left for a parameter; poison when there is none. */
TARN_API tarn_tensor tarn_grad(tarn_tensor parameter);
/** Gradients of a scalar with respect to any tensors of this step. */
TARN_API void tarn_gradients(tarn_tensor loss, const tarn_tensor *inputs, int count,
                             tarn_tensor *gradients);

/* ---- parameters and layers; names as in a PyTorch state_dict
 * ------------------------------------------ */

/** A parameter (trained, gradient recorded) with initial values; `data` NULL means zeros. The name
 *  must be new. */
TARN_API tarn_tensor tarn_parameter(tarn_replica *r, const char *name, tarn_shape shape,
                                    const float *data);
/** A buffer (saved, not trained), such as a running mean. */
TARN_API tarn_tensor tarn_buffer(tarn_replica *r, const char *name, tarn_shape shape,
                                 tarn_dtype dtype, const void *data);
/** Uniform in [-bound, bound], bound = sqrt(6 / ((1 + a^2) * fan_in)) with a = sqrt(5): PyTorch's
 *  default for linear and convolution weights. Generator keyed by (seed, name). */
TARN_API tarn_tensor tarn_parameter_kaiming(tarn_replica *r, const char *name, tarn_shape shape,
                                            int fan_in);
/** By name; poison when there is none. */
TARN_API tarn_tensor tarn_find(tarn_replica *r, const char *name);
/** Number of parameters and buffers, and the i-th one's name (in order of creation). */
TARN_API int tarn_owned_count(const tarn_replica *r);
TARN_API const char *tarn_owned_name(const tarn_replica *r, int i);
/** Training (default) or evaluation: switches dropout and batch norm. */
TARN_API void tarn_train(tarn_replica *r, bool training);
TARN_API bool tarn_training(const tarn_replica *r);

typedef struct tarn_linear {
    tarn_tensor weight, bias; /* [out, in], [out] */
} tarn_linear;
TARN_API tarn_linear tarn_linear_make(tarn_replica *r, const char *name, int in, int out);
/** x [..., in] -> x weight^T + bias [..., out]. */
TARN_API tarn_tensor tarn_linear_forward(const tarn_linear *layer, tarn_tensor x);

typedef struct tarn_conv2d {
    tarn_tensor weight, bias;
    tarn_conv2d_options options;
} tarn_conv2d;
/** Parameters name.weight [out, in / groups, window, window] and name.bias [out]. */
/** Parameters name.weight [out, in/groups, window, window] and name.bias [out]. */
TARN_API tarn_conv2d tarn_conv2d_make(tarn_replica *r, const char *name, int in, int out,
                                      int window, tarn_conv2d_options options);
/** tarn_conv2d_op with the layer's parameters and options. */
TARN_API tarn_tensor tarn_conv2d_forward(const tarn_conv2d *layer, tarn_tensor x);

/** Normalises over all axes but axis 1. Training: statistics of the batch, and running statistics
 *  updated with `momentum` (unbiased variance); evaluation: running statistics. As
 *  torch.nn.BatchNorm1d/2d: eps 1e-5, momentum 0.1; name.weight, .bias, .running_mean,
 *  .running_var, .num_batches_tracked (int32 here; saved as int64). */
typedef struct tarn_batch_norm {
    tarn_tensor weight, bias, running_mean, running_var, num_batches_tracked;
    float eps, momentum;
} tarn_batch_norm;
TARN_API tarn_batch_norm tarn_batch_norm_make(tarn_replica *r, const char *name, int channels);
TARN_API tarn_tensor tarn_batch_norm_forward(const tarn_batch_norm *layer, tarn_tensor x);

typedef struct tarn_layer_norm {
    tarn_tensor weight, bias;
    float eps;
} tarn_layer_norm;
/** Over the last axis, of length `features`; parameters name.weight (ones), name.bias (zeros). */
/** Parameters name.weight (ones) and name.bias (zeros) over the last axis; eps 1e-5. */
TARN_API tarn_layer_norm tarn_layer_norm_make(tarn_replica *r, const char *name, int features);
/** tarn_layer_norm_op with the layer's parameters. */
TARN_API tarn_tensor tarn_layer_norm_forward(const tarn_layer_norm *layer, tarn_tensor x);

/* ---- optimizers
 * --------------------------------------------------------------------------------------- */

typedef struct tarn_optimizer tarn_optimizer;

/** As torch.optim.SGD. */
typedef struct tarn_sgd_options {
    float lr, momentum, dampening, weight_decay;
    bool nesterov;
} tarn_sgd_options;
TARN_API tarn_optimizer *tarn_sgd(tarn_replica *r, tarn_sgd_options options);

/** As torch.optim.Adam and AdamW. Zero means lr 1e-3, beta 0.9 and 0.999, eps 1e-8; weight decay 0
 *  (AdamW: 0.01 unless weight_decay is negative, which means 0). */
typedef struct tarn_adam_options {
    float lr, beta1, beta2, eps, weight_decay;
} tarn_adam_options;
TARN_API tarn_optimizer *tarn_adam(tarn_replica *r, tarn_adam_options options);
TARN_API tarn_optimizer *tarn_adamw(tarn_replica *r, tarn_adam_options options);

/** Records the update of all parameters that have a gradient in this step. A step whose gradient
 *  holds a NaN or an infinity changes no parameter; a later tarn_step or tarn_wait reports it. */
TARN_API void tarn_optimizer_step(tarn_optimizer *o);
/** Adds the gradients of this step to those that the next tarn_optimizer_step takes, and updates
 *  nothing: for batches that are larger than memory. On several devices nothing is exchanged before
 *  that step (no_sync). Divide the loss by the number of parts yourself. */
TARN_API void tarn_optimizer_accumulate(tarn_optimizer *o);
/** Scales all gradients of this step so that their joint 2-norm is at most `max_norm`, as
 *  torch.nn.utils.clip_grad_norm_. Returns the norm before. Call between backward and step. */
TARN_API tarn_tensor tarn_clip_grad_norm(tarn_replica *r, float max_norm);
/** Takes effect at the next tarn_optimizer_step, without a new compilation. */
TARN_API void tarn_optimizer_set_lr(tarn_optimizer *o, float lr);
TARN_API float tarn_optimizer_lr(const tarn_optimizer *o);

/** Learning rates over steps: pure functions of the step number, for tarn_optimizer_set_lr. */
TARN_API float tarn_lr_constant(float lr, uint64_t step);
TARN_API float tarn_lr_step(float lr, uint64_t step, uint64_t every, float factor);
TARN_API float tarn_lr_cosine(float lr, uint64_t step, uint64_t total, float lowest);
/** Linear from lr / warm to lr over the first `warm` steps, then lr. */
TARN_API float tarn_lr_warmup(float lr, uint64_t step, uint64_t warm);

/* ---- data
 * ------------------------------------------------------------------------------------------------
 */

/** A data set in host memory: N samples of `bytes` uint8 values each, labels 0..classes-1. */
typedef struct tarn_dataset tarn_dataset;

/** Reads IDX files, plain or gzip. Refuses damaged, oversized and mismatched files, and labels
 *  outside 0..classes-1, before memory is taken for them. NULL on failure: tarn_error(NULL). */
TARN_API tarn_dataset *tarn_idx_open(const char *images, const char *labels, int classes);
/** MNIST's four file names in one folder (with or without .gz): the training or the test pair. */
TARN_API tarn_dataset *tarn_mnist_open(const char *folder, bool train);
/** `count` reproducible synthetic samples of MNIST's form, whose labels can be learnt. */
TARN_API tarn_dataset *tarn_dataset_fake(int count, uint64_t seed);
TARN_API void tarn_dataset_close(tarn_dataset *d);
TARN_API int tarn_dataset_size(const tarn_dataset *d);
TARN_API int tarn_dataset_classes(const tarn_dataset *d);
/** Shape of one sample, [1, 28, 28] for MNIST. */
TARN_API tarn_shape tarn_dataset_sample_shape(const tarn_dataset *d);
/** Borrowed pointers to all samples and labels. */
TARN_API const uint8_t *tarn_dataset_samples(const tarn_dataset *d);
TARN_API const uint8_t *tarn_dataset_labels(const tarn_dataset *d);

/** Zero means: batch 128, in order, seed 0, last smaller batch delivered, 3 batches ahead, MNIST's
 *  mean 0.1307 and deviation 0.3081.
 *
 *  `batch` is that of all replicas together (tarn_dist.h). Of a batch of n samples, replica `rank`
 *  of `world` gets those from n * rank / world to n * (rank + 1) / world, rounded down, in the order
 *  that one device would see, so that any number of devices sees the same batches. Open it with the
 *  same options on every replica.
 *
 *  With several replicas: `batch` is at least one sample for each. Shuffled, for training, `world`
 *  must divide a last, smaller batch, or choose drop_last or pad_last. In order, for evaluation, its
 *  parts may differ by one sample, so that every sample counts once; a replica whose part would be
 *  empty ends its epoch one batch before the others, so add up over replicas after the loop.
 *  With V virtual shards: whole batches, and shuffled a last smaller one, are multiples of 16 * V.
 *  tarn_loader_open refuses what differs. */
typedef struct tarn_loader_options {
    int32_t batch;
    bool shuffle;   /* permutation by a counter-based generator keyed by (seed, epoch) */
    bool drop_last; /* leave out a last, smaller batch */
    bool pad_last;  /* fill it with the epoch's first samples, which are seen again */
    uint64_t seed;
    int32_t prefetch;
    float mean, deviation;
} tarn_loader_options;

typedef struct tarn_loader tarn_loader;
typedef struct tarn_batch {
    tarn_tensor
        x; /* float32 [n, 1, 28, 28], normalised on the device: (v / 255 - mean) / deviation */
    tarn_tensor y;  /* int32 [n] */
    int32_t n;      /* samples in x and y: this replica's part */
    int32_t global; /* samples in the parts of all replicas: n / global is the part's weight */
} tarn_batch;

/** Opens a loader that prepares and uploads batches on a thread of its own. Starts at epoch 0.
 *  `d` must outlive it. NULL on failure (the error sticks to the replica). */
TARN_API tarn_loader *tarn_loader_open(tarn_replica *r, const tarn_dataset *d,
                                       tarn_loader_options options);
/** The next batch, for this step only. False at the epoch's end or on error; the call after that
 *  begins the next epoch. */
TARN_API bool tarn_loader_next(tarn_loader *l, tarn_batch *out);
/** Jumps to the start of an epoch, or into its middle (after `batches` batches), for a resume, also
 *  with another number of replicas. */
TARN_API void tarn_loader_seek(tarn_loader *l, uint64_t epoch, uint64_t batches);
TARN_API uint64_t tarn_loader_epoch(const tarn_loader *l);
/** Batches in an epoch: the same on all replicas. */
TARN_API int tarn_loader_length(const tarn_loader *l);
TARN_API void tarn_loader_close(tarn_loader *l);

/* ---- checkpoints: safetensors
 * ------------------------------------------------------------------------------ */

/** What a run needs besides tensors to go on bit for bit. */
typedef struct tarn_progress {
    uint64_t epoch;   /* epochs finished */
    uint64_t batches; /* batches done in the current epoch */
} tarn_progress;

/** Writes parameters and buffers under their names, optimizer state under "optimizer.*", and step,
 *  seed and progress as metadata, to a temporary file in the same folder; syncs; renames it to
 *  `path`. The same state gives the same bytes. On failure an older file is untouched. Waits. */
TARN_API tarn_status tarn_save(tarn_replica *r, const char *path, tarn_progress progress);
/** Loads all or nothing: every difference in name, shape or type is listed in the error. Optimizer
 *  state is restored when the file has it and an optimizer is open. `progress` may be NULL. */
TARN_API tarn_status tarn_load(tarn_replica *r, const char *path, tarn_progress *progress);

/* ---- weight files: safetensors of any framework, read without a replica ----------------------- */

typedef struct tarn_weight_file tarn_weight_file;

typedef enum tarn_weight_kind {
    TARN_WEIGHT_FLOAT,   /* F16, BF16, F32, F64 */
    TARN_WEIGHT_INTEGER, /* I8 to I64, U8 to U64 */
    TARN_WEIGHT_BITS     /* all other types, taken as bits: BOOL, C64, F8_*, F6_*, F4 */
} tarn_weight_kind;

/** One tensor of a file. All pointers end with the file. */
typedef struct tarn_weight {
    const char *name;
    const char *dtype; /* as in the file: "F32", "BF16", "I64", ... */
    tarn_weight_kind kind;
    int32_t rank;
    uint64_t dim[TARN_MAX_RANK];
    size_t width, count; /* bytes of an element, elements; F4 and F6_* are taken byte by byte */
    size_t bytes;
    const void *data; /* row-major, little-endian, with no alignment */
} tarn_weight;

/** Reads a file into memory once its size and header are checked; all types of the format, at most
 *  TARN_MAX_RANK dimensions. NULL on failure: tarn_error(NULL). */
TARN_API tarn_weight_file *tarn_weight_file_open(const char *path);
/** NULL is a no-op. */
TARN_API void tarn_weight_file_close(tarn_weight_file *f);
TARN_API int tarn_weight_file_count(const tarn_weight_file *f);
/** The i-th tensor, in the byte order of names, or one by name; its name is NULL for none. */
TARN_API tarn_weight tarn_weight_file_at(const tarn_weight_file *f, int i);
TARN_API tarn_weight tarn_weight_file_find(const tarn_weight_file *f, const char *name);
/** The text that the file's metadata have under a key; NULL for none. */
TARN_API const char *tarn_weight_file_metadata(const tarn_weight_file *f, const char *key);

/** How the elements of two tensors differ. NaNs take no part in the largest differences. */
typedef struct tarn_weight_difference {
    uint64_t different;      /* elements with different bits */
    uint64_t beyond;         /* of these, the ones that the tolerance does not excuse */
    uint64_t first;          /* index of the first of `different` */
    uint64_t nan_a, nan_b;   /* NaNs of each side */
    uint64_t max_steps;      /* floats: ULP, -0 being 0; integers: largest absolute difference */
    double max_abs, max_rel; /* floats; relative to the larger of both magnitudes */
} tarn_weight_difference;

/** Compares bit by bit; `tolerance` excuses floats of up to so many ULP, but no NaN. An error when
 *  type or shape differ. */
TARN_API tarn_status tarn_weight_compare(const tarn_weight *a, const tarn_weight *b,
                                         uint64_t tolerance, tarn_weight_difference *out);
/** An element's bits, and its value as text that reads back exactly (hexadecimal for
 *  TARN_WEIGHT_BITS, "nan" for any NaN). */
TARN_API uint64_t tarn_weight_bits(const tarn_weight *w, size_t element);
TARN_API void tarn_weight_text(const tarn_weight *w, size_t element, char *out, size_t capacity);

/* ---- looking inside
 * ------------------------------------------------------------------------------------------ */

typedef struct tarn_metrics {
    uint64_t steps, plans_compiled, plan_hits;
    uint64_t launches;           /* kernels launched so far */
    uint64_t launches_last_step; /* of the last tarn_step */
    double compile_seconds;      /* graph to built programs, summed */
    double host_seconds;         /* tarn_step without compilation and waiting, summed */
    double record_seconds;       /* reserved */
    uint64_t device_bytes;       /* device memory in use */
} tarn_metrics;
TARN_API tarn_metrics tarn_metrics_get(const tarn_replica *r);

#ifdef __cplusplus
}
#endif

#endif
