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
 * status, tarn_error() the line. Operands are counted from 0 in it. TARN_NONE, or a tensor of another
 * replica, is such an error of the first operand's replica; where no operand has one, tarn_error(NULL)
 * has the line. A failed step runs nothing and leaves parameters as they were.
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

#include "tarn_log.h"
#include "tarn_status.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TARN_API __attribute__((visibility("default")))
#else
#define TARN_API
#endif

/** Before functions whose result may not be left unread: statuses, and what a program must use or close. GCC and clang
 *  warn where it is (GCC even after a cast to void: `if (f()) {}` says that it is meant). Not before those whose failure
 *  sticks to the replica, so that the next tarn_step() returns it: tarn_wait(), tarn_eval() and others. Defined empty
 *  before this file is included, it says nothing. */
#ifndef TARN_MUST_USE
#if defined(__GNUC__)
#define TARN_MUST_USE __attribute__((warn_unused_result))
#else
#define TARN_MUST_USE
#endif
#endif

#define TARN_VERSION "0.1.0"
#define TARN_VERSION_MAJOR 0
#define TARN_VERSION_MINOR 1
#define TARN_VERSION_PATCH 0
/** For comparisons: #if TARN_VERSION_NUMBER >= 1002 is "0.1.2 or later". */
#define TARN_VERSION_NUMBER \
    (TARN_VERSION_MAJOR * 1000000 + TARN_VERSION_MINOR * 1000 + TARN_VERSION_PATCH)
/** The version of the library that the program runs with: TARN_VERSION is that of the header which it was
 *  compiled with. A constant text. Any thread. */
TARN_API const char *tarn_version(void);
/** The same as a number. */
TARN_API int tarn_version_number(void);

/* ---- shapes and element types --------------------------------------------------------------- */

#define TARN_MAX_RANK 8
/** The most operations that may be recorded for one step, those of tarn_backward() and of optimizers
 *  included; one more is an error, TARN_ERR_STATE. The time to compile grows in proportion: 20,000 additions
 *  in a row took a CPU 9 s, but 800 tanh 18 s, since the driver's compiler is slow with functions. */
#define TARN_MAX_NODES 250000

typedef enum tarn_dtype {
    TARN_F32,  /* 32-bit IEEE float */
    TARN_I32,  /* 32-bit signed integer */
    TARN_U8,   /* 8-bit unsigned integer; also the result of comparisons, 0 or 1 */
    TARN_F16,  /* 16-bit IEEE float: 5 bits of exponent, 11 of precision; the largest is 65504 */
    TARN_BF16, /* bfloat16, the upper half of a float32: 8 bits of exponent and of precision */
    TARN_F64,  /* 64-bit IEEE float, on devices that have them; docs/types.md */
    TARN_I64   /* 64-bit signed integer */
} tarn_dtype;

/** Bytes of one element; 0 for an unknown type. */
TARN_API size_t tarn_dtype_bytes(tarn_dtype dtype);
/** "float32", "int32", "uint8", "float16", "bfloat16", "float64", "int64". */
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
 *  Returns NULL on failure; tarn_error(NULL) has the line.
 *  Whatever looks for devices first in a process, this function, tarn_list_devices() or tarn_launch(), sets two
 *  environment variables of PoCL where they are not set (docs/environment.md): no other thread may read or change
 *  the environment meanwhile. Later nothing is written to it. */
TARN_API TARN_MUST_USE tarn_replica *tarn_open(const char *device);
/** What one replica gets in place of what the environment says for all. Zero means that. */
typedef struct tarn_open_options {
    const char *device;   /* as tarn_open() takes it */
    double timeout;       /* seconds to wait for a command of the device; TARN_TIMEOUT */
    double build_timeout; /* seconds that a kernel's first launch may take; TARN_BUILD_TIMEOUT */
    size_t memory_limit;  /* bytes of device memory that it may have in use; TARN_MEMORY_LIMIT */
    int winograd;         /* 1: Winograd's convolutions wherever they apply; -1: nowhere;
                             TARN_WINOGRAD */
} tarn_open_options;
/** tarn_open() with options of its own: replicas of one process may differ in them. TARN_ERR_ARGUMENT for times
 *  that are no numbers from 0 on, and another `winograd` than -1, 0 and 1. */
TARN_API TARN_MUST_USE tarn_replica *tarn_open_with(tarn_open_options options);
/** Waits for the device, closes loaders and optimizers that are still open, frees everything.
 *  NULL is a no-op. */
TARN_API void tarn_close(tarn_replica *r);
/** The device's name as its driver gives it. Belongs to the replica. */
TARN_API const char *tarn_device_name(const tarn_replica *r);
/** Writes one line for each OpenCL device of the machine into `out`: number, kind, name, platform,
 *  compute units, MiB of memory. Cut at capacity - 1 bytes; capacity: at least 1. Any thread. */
TARN_API TARN_MUST_USE tarn_status tarn_list_devices(char *out, size_t capacity);

/** The step mark: compiles or reuses the plan of what was recorded, enqueues it, and ends the step.
 *  Assignments take effect; unkept values die. Does not wait for the device (but for its own
 *  earlier steps, of which two may be in flight). Reports failures of earlier steps too. After an
 *  error nothing runs, the recorded step is dropped, parameters stay as they were. */
TARN_API TARN_MUST_USE tarn_status tarn_step(tarn_replica *r);
/** Waits until the device has done everything; reports what failed. */
TARN_API tarn_status tarn_wait(tarn_replica *r);
/** Number of step marks so far at which an optimizer updated parameters (continues over
 *  tarn_load). */
TARN_API uint64_t tarn_step_count(const tarn_replica *r);

/* ---- errors --------------------------------------------------------------------------------- */

/** The replica's first error since the last tarn_error_clear(), one line, "" for none. With NULL:
 *  the calling thread's last error (tarn_open, tarn_list_devices and readers use it). */
TARN_API const char *tarn_error(const tarn_replica *r);
/** Its status code; with NULL that of the calling thread's last error, TARN_OK for none. */
TARN_API TARN_MUST_USE tarn_status tarn_error_status(const tarn_replica *r);
/** Forgets the error and drops the recorded step. */
TARN_API void tarn_error_clear(tarn_replica *r);
/** Copies text with each control character, and each byte that is no UTF-8, as \xNN, cut at
 *  capacity - 1 bytes: for printing names that come from elsewhere, such as those of files, to a
 *  terminal. Error lines and device names are so already. capacity: at least 1. */
TARN_API void tarn_escape(const char *text, char *out, size_t capacity);
/** From now on `each` gets what the library has to say beside errors: warnings, that compiling takes long,
 *  and what TARN_DEBUG asks for. NULL: it is printed on the standard error stream again, where nothing of the
 *  library's is printed else; only drivers may. For the whole process; any thread, best before others run. */
TARN_API void tarn_set_log(tarn_log_fn each, void *user);
/** From now on a variable of docs/environment.md has this value for the whole process, whatever the
 *  environment says: tarn_set_option("TARN_CACHE_DIR", "/srv/kernels"). With NULL the environment decides again.
 *  Nothing is written to the environment, but programs that compile for this one get the value. Before the first
 *  replica is opened; later it holds for what reads the variable later. TARN_ERR_ARGUMENT, with the line in
 *  tarn_error(NULL), for a name that Tarn does not know. Any thread. */
TARN_API TARN_MUST_USE tarn_status tarn_set_option(const char *name, const char *value);
/** "TARN_ERR_SHAPE"; "unknown status" for a number that is none. A constant text. Any thread. */
TARN_API const char *tarn_status_name(tarn_status status);
/** True when the tensor is poison. */
TARN_API bool tarn_failed(tarn_tensor t);

/* ---- creating, reading, keeping ------------------------------------------------------------- */

/** A tensor with a copy of `data` (row-major, tarn_shape_count elements; of half types their 16 bits, as
 *  uint16_t), which may be freed or
 *  changed as soon as the call returns. Lives for this step. */
TARN_API tarn_tensor tarn_from(tarn_replica *r, tarn_shape shape, tarn_dtype dtype,
                               const void *data);
/** A float32 tensor filled with a constant (part of the compiled code: for values that change
 *  every step use tarn_number). */
TARN_API tarn_tensor tarn_full(tarn_replica *r, tarn_shape shape, float value);
/** tarn_full of 0. */
TARN_API tarn_tensor tarn_zeros(tarn_replica *r, tarn_shape shape);
/** tarn_full of 1. */
TARN_API tarn_tensor tarn_ones(tarn_replica *r, tarn_shape shape);
/** A float32 scalar whose value may change every step without a new compilation. */
TARN_API tarn_tensor tarn_number(tarn_replica *r, float value);
/** int32 0, 1, 2, ... n-1. */
TARN_API tarn_tensor tarn_arange(tarn_replica *r, int32_t n);
/** Uniform float32 in [0, 1), from a counter-based generator keyed by (seed of the replica, step,
 *  position in the step): the same on every device. With virtual shards, values of as many rows as the
 *  batch has here are numbered by sample; where no sample meets them, as in the noise that images are
 *  made of, tarn_batch_axis(x, 0) says that they belong to the samples. */
TARN_API tarn_tensor tarn_rand(tarn_replica *r, tarn_shape shape);
/** Sets the seed of tarn_rand, dropout and initialisers (default 0). */
TARN_API void tarn_seed(tarn_replica *r, uint64_t seed);

/** Known once recorded: neither computes anything. */
/** Shape and element type; rank 0 and float32 for poison. */
TARN_API tarn_shape tarn_shape_get(tarn_tensor t);
/** See tarn_shape_get. */
TARN_API tarn_dtype tarn_dtype_get(tarn_tensor t);

/** Computes `t` (and only what it needs; no assignment takes effect) and copies it, row-major, to
 *  `out` of exactly `bytes` bytes. Waits. What tarn_eval computed, what came from the host, and owned
 *  tensors are copied only. */
TARN_API TARN_MUST_USE tarn_status tarn_read(tarn_tensor t, void *out, size_t bytes);
/** Computes several tensors now, in one plan; later uses in this step take the values. */
TARN_API tarn_status tarn_eval(const tarn_tensor *tensors, int count);
/** The element of `t`, which has one, of whatever rank, as a float; NaN on error (see tarn_error). Waits. */
TARN_API float tarn_item(tarn_tensor t);
/** Gets a value: row-major elements that are there until the function returns. `step` counts from 1, as
 *  tarn_metrics.steps does. NULL and 0 bytes where the step failed. */
typedef void (*tarn_value_fn)(tarn_replica *r, uint64_t step, const void *data, size_t bytes,
                              void *user);
/** Calls `each` once with the value of `t` when the device has it, without anything waiting for it: in
 *  a later tarn_step, in tarn_wait or in tarn_close, on the thread that calls these, in the order of asking. For
 *  losses that are printed: tarn_item would wait for the device. `each` may use the replica, except in tarn_close,
 *  and finds a new step, in which nothing is recorded yet. As torch_xla's add_step_closure. */
TARN_API tarn_status tarn_when_known(tarn_tensor t, tarn_value_fn each, void *user);
/** Makes the value outlive the step mark, until tarn_drop. Returns the tensor to use from now. Of a
 *  kept tensor or a parameter it is a copy, with a life of its own. */
TARN_API tarn_tensor tarn_keep(tarn_tensor t);
/** Ends a kept tensor's life. One that was kept in a step that failed or was cleared has none: dropping
 *  it does nothing, using it is an error. */
TARN_API void tarn_drop(tarn_tensor t);
/** Sets a parameter, buffer or kept tensor to a new value of the same shape and type: a node as
 *  any other; whatever reads it later in the step reads the new value. */
TARN_API void tarn_assign(tarn_tensor owned, tarn_tensor value);
/** Cuts the gradient. */
TARN_API tarn_tensor tarn_detach(tarn_tensor t);

/** Axis 0 goes through no samples. */
#define TARN_NO_BATCH (-2147483647 - 1)
/** x, of which is now known whether its axis 0 goes through samples (`axis` 0) or not
 *  (TARN_NO_BATCH), as in_axes says it to the vmap of JAX and in_dims to PyTorch's. It changes what
 *  is fast, and no more than last digits of sums: operations on a batch compute 16 samples at once.
 *  It is said anew in each step, and of an input, parameter or kept tensor holds for all uses in it.
 *  What a loader delivered is a batch without a word. Where neither a loader nor this function says
 *  anything, the batch is axis 0 of the largest tarn_from() of the step, else of the largest kept
 *  tensor; where one does, kept tensors are no batches unless they are named. TARN_DEBUG=graph
 *  prints what was taken. Another axis is refused, since tarn_transpose() can bring it to the
 *  front, and so are two lengths in one step. With virtual shards (tarn_dist.h) it also says whose
 *  random values and host arrays are that have a row for each sample of a batch that a loader
 *  delivered before in this step: that sample's, so that sums over them are sums over samples, and a
 *  loss of them alone counts as one of that batch. */
TARN_API tarn_tensor tarn_batch_axis(tarn_tensor x, int axis);

/* ---- maps: element by element, with broadcasting as in PyTorch and NumPy -------------------- */

/* Shapes are aligned at their last axes, and axes of length 1 or missing ones are repeated; others
 * that differ are TARN_ERR_SHAPE. "The common type" of operands is their float type; of two different ones
 * it is float64 if that is one of them, else float32, and scalars (rank 0) count only when no other operand is a float.
 * Without floats it is int64 if an operand is, else int32; integers wrap around. Functions that say float32 convert
 * integers first, and of a half type or float64 give that. Half types are computed in float32 and the result is rounded once. Every map returns
 * poison after an error, which sticks to the replica, as at the top of this file. Numbers given are exact in float64, else rounded to float32. */

/** a + b in the common type. */
TARN_API tarn_tensor tarn_add(tarn_tensor a, tarn_tensor b);
/** a - b in the common type. */
TARN_API tarn_tensor tarn_sub(tarn_tensor a, tarn_tensor b);
/** a * b in the common type. */
TARN_API tarn_tensor tarn_mul(tarn_tensor a, tarn_tensor b);
/** a / b in the common type; int32 division truncates as in C, and x / 0 is 0. */
TARN_API tarn_tensor tarn_div(tarn_tensor a, tarn_tensor b);
/** a to the power b, float32. Gradient in b too. */
TARN_API tarn_tensor tarn_pow(tarn_tensor a, tarn_tensor b);
/** The larger of a and b in the common type; NaN wins; equal operands share the gradient (as
 *  torch.maximum). */
TARN_API tarn_tensor tarn_maximum(tarn_tensor a, tarn_tensor b);
/** The smaller one, likewise. */
TARN_API tarn_tensor tarn_minimum(tarn_tensor a, tarn_tensor b);
/** a + b for a constant b, which is part of the compiled code: one that changes every step compiles
 *  every step (use tarn_number). Integer tensors stay integers when b is a whole number, exact, of their range. */
TARN_API tarn_tensor tarn_add_scalar(tarn_tensor a, double b);
/** a * b, likewise. */
TARN_API tarn_tensor tarn_mul_scalar(tarn_tensor a, double b);
/** a to the power b, float32, for a constant b; the square is a product. */
TARN_API tarn_tensor tarn_pow_scalar(tarn_tensor a, double b);

/** -x; uint8 becomes int32. */
TARN_API tarn_tensor tarn_neg(tarn_tensor x);
/** |x|; uint8 becomes int32. The gradient at 0 is 0. */
TARN_API tarn_tensor tarn_abs(tarn_tensor x);
/** e to the power x, float32. */
TARN_API tarn_tensor tarn_exp(tarn_tensor x);
/** Natural logarithm, float32; -infinity at 0, NaN below. */
TARN_API tarn_tensor tarn_log(tarn_tensor x);
/** Square root, float32; NaN below 0. */
TARN_API tarn_tensor tarn_sqrt(tarn_tensor x);
/** 1 / sqrt(x), float32; infinity at 0. */
TARN_API tarn_tensor tarn_rsqrt(tarn_tensor x);
/** Hyperbolic tangent, float32. */
TARN_API tarn_tensor tarn_tanh(tarn_tensor x);
/** 1 / (1 + exp(-x)), float32. */
TARN_API tarn_tensor tarn_sigmoid(tarn_tensor x);
/** max(x, 0), float32; NaN passes. The gradient at 0 is 0. */
TARN_API tarn_tensor tarn_relu(tarn_tensor x);
/** x * Phi(x) with erf, float32, as torch.nn.functional.gelu. */
TARN_API tarn_tensor tarn_gelu(tarn_tensor x);
/** The error function, float32. */
TARN_API tarn_tensor tarn_erf(tarn_tensor x);
/** Limits to [low, high]; gradient passes inside and at the limits; NaN passes. As in torch.clamp,
 *  all others are `high` where low > high, and all are NaN when a limit is. */
TARN_API tarn_tensor tarn_clamp(tarn_tensor x, double low, double high);

/** a == b in the common type: uint8, 1 where it holds and 0 elsewhere. A constant for gradients, as
 *  all comparisons. NaN is equal to nothing. */
TARN_API tarn_tensor tarn_eq(tarn_tensor a, tarn_tensor b);
/** a != b, likewise; 1 for NaN. */
TARN_API tarn_tensor tarn_ne(tarn_tensor a, tarn_tensor b);
/** a < b, likewise; 0 for NaN, as the three below. */
TARN_API tarn_tensor tarn_lt(tarn_tensor a, tarn_tensor b);
/** a <= b. */
TARN_API tarn_tensor tarn_le(tarn_tensor a, tarn_tensor b);
/** a > b. */
TARN_API tarn_tensor tarn_gt(tarn_tensor a, tarn_tensor b);
/** a >= b. */
TARN_API tarn_tensor tarn_ge(tarn_tensor a, tarn_tensor b);
/** condition != 0 ? a : b, element by element. */
TARN_API tarn_tensor tarn_where(tarn_tensor condition, tarn_tensor a, tarn_tensor b);
/** Converts; float to integer truncates, and float32 to a half type rounds to the nearest, of two the even
 *  one. Gradient passes between float types only, and has the type of its tensor; but the gradient of a
 *  parameter that is cast is not rounded. */
TARN_API tarn_tensor tarn_cast(tarn_tensor x, tarn_dtype dtype);
/** From now on, until tarn_autocast_end(), over step marks too, operations choose their types as under PyTorch's autocast:
 *  products (tarn_matmul, tarn_einsum, linear layers, convolutions, attention's) take float operands in this half
 *  type, to which each is cast, parameters once a step; exponentials, logarithms, powers, soft-maxima, sums, means,
 *  losses, layer, group and RMS norms take half types in float32; others take what they are given. Recurrent layers
 *  take x, states and weights in the half type, compute a step in float32, and round what it puts out; in the body of
 *  another tarn_scan operations choose as elsewhere, and a carry keeps its type. Gradients follow the types;
 *  parameters, their gradients and optimizers stay float32. With TARN_F16 see tarn_loss_scale(). TARN_ERR_DTYPE
 *  for a type that is no half type. */
TARN_API void tarn_autocast(tarn_replica *r, tarn_dtype dtype);
/** Ends it. */
TARN_API void tarn_autocast_end(tarn_replica *r);

/* ---- views: the same elements, indexed in another way --------------------------------------- */

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
/** The elements along these axes in reverse order, the last one first. As torch.flip. */
TARN_API tarn_tensor tarn_flip(tarn_tensor x, tarn_shape axes);
/** Element i goes to i + by along an axis; what leaves it on one side comes in on the other. As torch.roll of one axis. */
TARN_API tarn_tensor tarn_roll(tarn_tensor x, int axis, int by);
/** Adds low[i] and high[i] elements of `value` before and after axis i. Integer tensors refuse a value
 *  that is no whole number of their range. */
TARN_API tarn_tensor tarn_pad(tarn_tensor x, tarn_shape low, tarn_shape high, double value);
/** Joins 1 to 64 tensors along an axis. Floats of several types become one that holds them all, as in arithmetic. */
TARN_API tarn_tensor tarn_concat(const tarn_tensor *parts, int count, int axis);

/* ---- reductions; the reduced axes stay as length 1 when `keep` ------------------------------ */

/* `axes` is TARN_AXES(...) or TARN_ALL. Sums have a fixed order, whatever the device
 * (docs/numerics.md). An axis of length 0 is an error but for tarn_sum, tarn_mean and tarn_var. */

/** The sum over axes, of float32 or int32 (uint8 becomes int32; integers wrap around); 0 of no
 *  elements. */
TARN_API tarn_tensor tarn_sum(tarn_tensor x, tarn_shape axes, bool keep);
/** The sum over axes by their number of elements, float32; NaN of no elements. */
TARN_API tarn_tensor tarn_mean(tarn_tensor x, tarn_shape axes, bool keep);
/** The largest element over axes, in x's type. Equal maxima share the gradient (as torch.amax). NaN
 *  wins. */
TARN_API tarn_tensor tarn_max(tarn_tensor x, tarn_shape axes, bool keep);
/** The smallest one, likewise. */
TARN_API tarn_tensor tarn_min(tarn_tensor x, tarn_shape axes, bool keep);
/** int32 index of the first maximum along one axis. NaN counts as the largest. */
TARN_API tarn_tensor tarn_argmax(tarn_tensor x, int axis, bool keep);
/** Squared distances from the mean, added up over axes and divided by their n - correction, float32; 1: unbiased. */
TARN_API tarn_tensor tarn_var(tarn_tensor x, tarn_shape axes, int correction, bool keep);

/* ---- contractions --------------------------------------------------------------------------- */

/** [..., M, K] x [..., K, N] -> [..., M, N]; leading axes broadcast. Rank 1 operands as in
 *  torch.matmul. */
TARN_API tarn_tensor tarn_matmul(tarn_tensor a, tarn_tensor b);

/** Zero means: stride 1, no padding, dilation 1, one group. [0] is height, [1] width. A zero [1] of stride and dilation takes
 *  the value of [0]; of padding it is 0, which may be meant: { 1 } is { 1, 0 }, and PyTorch's padding=1 is { 1, 1 }. */
typedef struct tarn_conv2d_options {
    int32_t stride[2], padding[2], dilation[2], groups;
} tarn_conv2d_options;
/** x [N, C, H, W], weight [O, C/groups, KH, KW], bias [O] or TARN_NONE -> [N, O, OH, OW].
 *  Same as torch.nn.functional.conv2d (cross-correlation). */
TARN_API tarn_tensor tarn_conv2d_op(tarn_tensor x, tarn_tensor weight, tarn_tensor bias,
                                    tarn_conv2d_options options);

/** Zero means: stride = window, no padding, dilation 1; [1] as of a convolution, of padding, too. Padding at most half the window. */
typedef struct tarn_pool_options {
    int32_t window[2], stride[2], padding[2];
    bool round_up, exclude_padding; /* PyTorch's ceil_mode, and the opposite of count_include_pad */
    int32_t dilation[2];            /* of maxima; means have none */
} tarn_pool_options;
/** The largest element of each square window: x float32 [N, C, H, W] -> [N, C, OH, OW], the stride
 *  being the window. The first of equal maxima takes the gradient, as in PyTorch. */
TARN_API tarn_tensor tarn_max_pool2d(tarn_tensor x, int window);
/** The same with options; OH = (H + 2 * padding - dilation * (window - 1) - 1) / stride + 1, rounded down, or up but for
 *  a window that would begin in the padding behind x. Padding is never the maximum. */
TARN_API tarn_tensor tarn_max_pool2d_with(tarn_tensor x, tarn_pool_options options);
/** The mean of each square window, shapes as tarn_max_pool2d. */
TARN_API tarn_tensor tarn_avg_pool2d(tarn_tensor x, int window);
/** The same with options. Padding counts as zeros in the mean unless excluded; what a last window has beyond it never. */
TARN_API tarn_tensor tarn_avg_pool2d_with(tarn_tensor x, tarn_pool_options options);

/* ---- gather --------------------------------------------------------------------------------- */

/** Rows of table [V, D] by an index of whole numbers [...]: [..., D]. Indices outside 0..V-1 are clamped. */
TARN_API tarn_tensor tarn_embedding(tarn_tensor table, tarn_tensor index);
/** Elements of lines along one axis by index, as torch.gather: result[i][j][k] = x[i][index[i][j][k]][k] for axis 1. The
 *  result has the index's shape, which may be of any length along the axis, and along all others is as long as x or shorter.
 *  Indices outside of the axis are clamped. x of any type; a negative axis counts from the end. */
TARN_API tarn_tensor tarn_gather(tarn_tensor x, int axis, tarn_tensor index);
/** x with the source's elements added to those that the index names, as torch.scatter_add: for axis 1
 *  result[i][index[i][j][k]][k] += source[i][j][k], for all of the index. x and source are float32; the index is
 *  as long as the source or shorter, and as x along all other axes. Each element's sum is made in the order of j
 *  (docs/numerics.md), always the same, and then added to x. Indices outside of the axis are clamped. */
TARN_API tarn_tensor tarn_scatter_add(tarn_tensor x, int axis, tarn_tensor index,
                                      tarn_tensor source);
/** x with the source's slices along an axis added to those that an index of whole numbers [N] names; the source has N of them, and else
 *  x's shape. As torch.index_add; else as tarn_scatter_add() with that index for all lines. */
TARN_API tarn_tensor tarn_index_add(tarn_tensor x, int axis, tarn_tensor index, tarn_tensor source);
/** Slices of x along an axis, by an index of whole numbers [N]: its length becomes N. Clamps. As torch.index_select. */
TARN_API tarn_tensor tarn_index_select(tarn_tensor x, int axis, tarn_tensor index);
/** Index of whole numbers [...] -> float32 [..., classes]. */
TARN_API tarn_tensor tarn_one_hot(tarn_tensor index, int classes);

/* ---- order ---------------------------------------------------------------------------------- */

/** x sorted along an axis. Equal elements keep their order, as 0 and -0 do; NaN counts as the largest, so it is
 *  last, or first when descending, as in torch.sort. `order` (may be NULL) becomes the int32 positions from which the
 *  elements came. The gradient goes back to them. */
TARN_API tarn_tensor tarn_sort(tarn_tensor x, int axis, bool descending, tarn_tensor *order);
/** The positions alone. */
TARN_API tarn_tensor tarn_argsort(tarn_tensor x, int axis, bool descending);
/** The k largest elements along an axis, the largest first, or the k smallest, the smallest first; `index` (may be
 *  NULL) becomes their int32 positions. Of equal elements the first ones. NaN counts as the largest. */
TARN_API tarn_tensor tarn_top_k(tarn_tensor x, int k, int axis, bool largest, tarn_tensor *index);
/** Along an axis the sum of all elements up to each, of x's shape; uint8 becomes int32. Each sum has the bits that
 *  it would have by itself: chunks of 128 terms are added up (docs/numerics.md). */
TARN_API tarn_tensor tarn_cumsum(tarn_tensor x, int axis);

/* ---- composed: soft-max, losses, norms, dropout --------------------------------------------- */

/** exp(x) by its sum along one axis, float32 of x's shape, computed from the distances to the
 *  largest element so that nothing overflows. A negative axis counts from the end. */
TARN_API tarn_tensor tarn_softmax(tarn_tensor x, int axis);
/** Its logarithm, without computing it first: large distances keep their digits. */
TARN_API tarn_tensor tarn_log_softmax(tarn_tensor x, int axis);
/** Mean negative log likelihood -mean_i logp[i, target[i]]; logp float32 [N, C, ...], target int32 or
 *  uint8 [N, ...]. Returns a scalar. As torch.nn.functional.nll_loss. A target outside 0..C-1 counts 0.
 */
TARN_API tarn_tensor tarn_nll_loss(tarn_tensor logp, tarn_tensor target);
/** tarn_nll_loss of tarn_log_softmax over axis 1. */
TARN_API tarn_tensor tarn_cross_entropy(tarn_tensor logits, tarn_tensor target);
/** Mean of (a - b)^2. */
TARN_API tarn_tensor tarn_mse_loss(tarn_tensor a, tarn_tensor b);
/** Normalises the last axes, those of `weight`: (x - mean) * rsqrt(var + eps) * weight + bias. The bias may be TARN_NONE, and
 *  both, as with PyTorch's elementwise_affine=False: then it is the last axis. */
TARN_API tarn_tensor tarn_layer_norm_op(tarn_tensor x, tarn_tensor weight, tarn_tensor bias,
                                        float eps);
/** Zeroes with probability p and scales the rest by 1 / (1 - p), when the replica trains. */
TARN_API tarn_tensor tarn_dropout(tarn_tensor x, float p);

/* ---- gradients ------------------------------------------------------------------------------ */

/** Records the gradients of a scalar with respect to all parameters that it depends on. They are
 *  added to what earlier calls of this step left.
 *
 *  On several devices (tarn_dist.h) the optimizer adds up the gradients of all replicas. The loss is
 *  taken for the mean over this replica's samples, and its gradients are weighted so that the sum is
 *  that of the mean over all: by n / global of the batch (tarn_batch) that the loss depends on, by
 *  whatever path, tarn_eval and tarn_keep included; by 1 / world when it depends on no batch of a
 *  loader (tarn_from, tarn_rand, a tarn_buffer of an earlier step). A loss of several batches of
 *  which the replica has unequal shares is an error: call tarn_backward for the loss of each, or
 *  tarn_backward_weighted. */
TARN_API void tarn_backward(tarn_tensor loss);
/** The same with a weight of your own, finite and not negative: n / N for the mean over n of the N
 *  samples that all replicas have together, 1 for a loss that is to be summed over replicas. */
TARN_API void tarn_backward_weighted(tarn_tensor loss, double weight);
/** The gradient that the backwards of this step left for a parameter; after tarn_reduce_grads and tarn_clip_grad_norm
 *  that of all replicas, with what was accumulated, and scaled. Poison when there is none. */
TARN_API tarn_tensor tarn_grad(tarn_tensor parameter);
/** Gradients of a scalar with respect to any tensors of this step, of this replica's loss as it is:
 *  without the weight of tarn_backward. */
TARN_API void tarn_gradients(tarn_tensor loss, const tarn_tensor *inputs, int count,
                             tarn_tensor *gradients);

/** Between these two calls: values are computed again for their gradients instead of kept for them, as by
 *  torch.utils.checkpoint around a layer. Of such a region only what is used outside of it stays in memory; the backward
 *  part takes about as much longer as the region's forward part takes. Gradients have the same bits, of dropout, too;
 *  assignments are made once; what loops of the region (tarn_scan) put out, and what replicas exchanged, is kept. Regions do
 *  not overlap, are over before tarn_backward, and are an error in the body of a scan. docs/memory.md has a program. */
TARN_API void tarn_recompute_begin(tarn_replica *r);
/** Ends the region. */
TARN_API void tarn_recompute_end(tarn_replica *r);
/** From the next plan on regions are computed again only as far as it takes for a step to need at most so many bytes of device
 *  memory (tarn_metrics.device_bytes_expected): values of as many as fit are kept, those near the loss first; of none if
 *  not even that fits. 0, as at first: all are computed again. The same bits; compiling takes longer. */
TARN_API void tarn_recompute_budget(tarn_replica *r, size_t bytes);

/* ---- loops ---------------------------------------------------------------------------------- */

/** What one step of a loop computes: from the carries and from what the step takes of x, the carries'
 *  next values and what it puts out. All are tensors as any others; the function records what it
 *  computes, once, whatever the number of steps. It may use tensors from outside, parameters for instance.
 *  What it leaves TARN_NONE is an error. */
typedef void (*tarn_scan_fn)(const tarn_tensor *carry, const tarn_tensor *x, tarn_tensor *next,
                             tarn_tensor *y, void *user);
typedef struct tarn_scan_args {
    tarn_scan_fn body;
    void *user; /* handed to the body */
    const tarn_tensor
        *carry; /* first values of what goes from step to step: of a float type, which it keeps */
    int carries;
    const tarn_tensor *x; /* each step takes a slice of each */
    int xs;
    int ys;        /* what each step puts out: of float types; float64 where a carry or an x is */
    int axis;      /* of the steps in x and y: 0, or 1 for samples along axis 0 */
    int steps;     /* 0: as many as x has */
    bool reversed; /* from the last slice to the first */
    /* While the replica trains, a loop may store of each step what its gradient reads, and which costs more than a
     * few elementwise operations; else the gradient computes each step anew from the carries. The same bits, mostly
     * faster, in memory of all steps. By itself it does so where that saves time and at most doubles what the loop and
     * its gradient have of all steps (docs/loops.md). */
    bool keep;      /* always */
    bool recompute; /* never, whatever `keep` says */
} tarn_scan_args;
/** A loop: last[i] becomes carry i after the last step, y[i] what all steps put out, joined along `axis`:
 *  [T, ...], or [N, T, ...] of what is [N, ...] in each step. Either may be NULL, and is poison after an
 *  error; they may be the arrays of the first carries and of x. As torch's and JAX's scan.
 *
 *  The body is recorded, compiled and built once, and launched for each step: 1000 steps cost no
 *  more to compile than one. Random numbers of a body are others in each step. The gradient is a loop from the last
 *  step to the first, which reads what was stored of a step, and computes the rest anew from the carries before
 *  it. The gradient of a matrix from outside that rows [N, K] are multiplied by is one product over all steps; that
 *  of other tensors from outside is added up from step to step.
 *
 *  In a body nothing can be read, evaluated, assigned or kept, tarn_backward and tarn_step are errors, and so are loops and
 *  sums over replicas. What it makes must leave it as a carry or an output. Operands are at most 256 (docs/loops.md). */
TARN_API void tarn_scan(tarn_replica *r, const tarn_scan_args *args, tarn_tensor *last,
                        tarn_tensor *y);

#ifdef __cplusplus
}
#endif

#include "tarn_data.h"
#include "tarn_file.h"
#include "tarn_nn.h"
#include "tarn_ops.h"
#include "tarn_profile.h"
#include "tarn_train.h"
#include "tarn_use.h"

#endif
