/* SPDX-License-Identifier: Apache-2.0 */
/** Optimizers and learning rates.
 *  Part of tarn.h, which includes it. */
#ifndef TARN_TRAIN_H
#define TARN_TRAIN_H

#include "tarn.h"

#ifdef __cplusplus
extern "C" {
#endif

/** All calls record what they do, as operations do: it counts once tarn_step() succeeds. Of a step that
 *  fails, or is dropped by tarn_error_clear(), nothing is left: no gradient, no count, and what earlier
 *  steps accumulated is there as before. An optimizer is made after the layers and closes with the
 *  replica. A replica may have several, each of parameters of its own, which `parameters` in their
 *  options names: a parameter in two of them is refused. Steps are counted for each parameter: those in
 *  which it had a gradient, as PyTorch does.
 *
 *  Parameters are named by patterns: in "encoder.*" or "*.bias,*norm*" a * stands for any text, and a
 *  comma is between several patterns; NULL means all. A pattern that no name matches is an error. */
typedef struct tarn_optimizer tarn_optimizer;

/** 0 itself, for a member of these options whose 0 means a default: (tarn_adam_options){ .beta1 = TARN_ZERO }. */
#define TARN_ZERO (-0.0f)

/** As torch.optim.SGD: the first gradient of a parameter comes to its momentum undamped. NULL on
 *  failure. */
typedef struct tarn_sgd_options {
    float lr, momentum, dampening, weight_decay;
    bool nesterov;
    const char *parameters; /* which, by a pattern; NULL: all */
} tarn_sgd_options;
/** Makes an optimizer, which closes with the replica; its state (momentum, where that is not 0)
 *  is owned by the replica and saved by tarn_save. Its parameters move into one piece of memory.
 *  TARN_ERR_STATE when one of them has an optimizer already, TARN_ERR_ARGUMENT for options out of
 *  range. */
TARN_API TARN_MUST_USE tarn_optimizer *tarn_sgd(tarn_replica *r, tarn_sgd_options options);

/** As torch.optim.Adam and AdamW: moments are corrected for the steps that the parameter had. Zero
 *  means lr 1e-3, beta 0.9 and 0.999, eps 1e-8; weight decay 0 (AdamW: 0.01 unless weight_decay is
 *  negative, which means 0). A beta1 of 0, as GANs have it, is TARN_ZERO. NULL on failure. */
typedef struct tarn_adam_options {
    float lr, beta1, beta2, eps, weight_decay;
    const char *parameters; /* which, by a pattern; NULL: all */
    bool amsgrad;           /* divides by the largest second moment so far: a third state */
} tarn_adam_options;
/** Makes an optimizer as tarn_sgd does, with two moments of each parameter as its state.
 *  The weight decay is added to the gradient. */
TARN_API TARN_MUST_USE tarn_optimizer *tarn_adam(tarn_replica *r, tarn_adam_options options);
/** The same, but the weight decay scales the parameter, apart from the gradient. */
TARN_API TARN_MUST_USE tarn_optimizer *tarn_adamw(tarn_replica *r, tarn_adam_options options);

/** As torch.optim.RMSprop. Zero means lr 0.01, alpha 0.99, eps 1e-8. Where rounding makes the centered
 *  mean square negative it counts as 0; PyTorch's root is a NaN there. NULL on failure. */
typedef struct tarn_rmsprop_options {
    float lr, alpha, eps, weight_decay, momentum;
    bool centered;
    const char *parameters; /* which, by a pattern; NULL: all */
} tarn_rmsprop_options;
/** Makes an optimizer as tarn_sgd does. */
TARN_API TARN_MUST_USE tarn_optimizer *tarn_rmsprop(tarn_replica *r, tarn_rmsprop_options options);

/** As torch.optim.Adagrad. Zero means lr 0.01, eps 1e-10, and sums of squares that begin at 0. NULL on failure. */
typedef struct tarn_adagrad_options {
    float lr, lr_decay, eps, weight_decay, initial_accumulator_value;
    const char *parameters; /* which, by a pattern; NULL: all */
} tarn_adagrad_options;
/** Makes an optimizer as tarn_sgd does, with one sum of each parameter as its state. */
TARN_API TARN_MUST_USE tarn_optimizer *tarn_adagrad(tarn_replica *r, tarn_adagrad_options options);

/** Lion, as its authors' lion_pytorch.py (Chen et al., 2023): the sign of a mean of gradients. Zero means
 *  lr 1e-4, beta 0.9 and 0.99. The weight decay scales the parameter, as AdamW's. NULL on failure. */
typedef struct tarn_lion_options {
    float lr, beta1, beta2, weight_decay;
    const char *parameters; /* which, by a pattern; NULL: all */
} tarn_lion_options;
/** Makes an optimizer as tarn_sgd does, with one moment of each parameter as its state. */
TARN_API TARN_MUST_USE tarn_optimizer *tarn_lion(tarn_replica *r, tarn_lion_options options);

/** As torch.optim.Adafactor of PyTorch 2.5: the second moment of a parameter of two dimensions or more is
 *  kept as its means over rows and over columns. Zero means lr 0.01, beta2_decay -0.8, d 1, eps1
 *  2^-23, of float64 parameters 2^-52 as PyTorch's None, eps2 1e-3, and no weight decay. NULL on failure. */
typedef struct tarn_adafactor_options {
    float lr, beta2_decay, eps1, eps2, d, weight_decay;
    const char *parameters; /* which, by a pattern; NULL: all */
} tarn_adafactor_options;
/** Makes an optimizer as tarn_sgd does. Each parameter is updated by itself, so a step has more kernels
 *  than with the others. */
TARN_API TARN_MUST_USE tarn_optimizer *tarn_adafactor(tarn_replica *r,
                                                      tarn_adafactor_options options);

/** As tarn_backward, for this optimizer's parameters alone: gradients of others are neither computed nor
 *  touched, as by PyTorch's backward(inputs=...). For two networks that train against each other. */
TARN_API void tarn_optimizer_backward(tarn_optimizer *o, tarn_tensor loss);
/** Records the update of all parameters that have a gradient, of this step or accumulated; the others
 *  and their state stay as they are. The gradients are used up, as by PyTorch's step() and
 *  zero_grad(): a later backward of the same step begins anew, and a second call needs one. A step
 *  whose gradient holds a NaN or an infinity changes no parameter, state or count; a later tarn_step
 *  or tarn_wait reports it. An error when no parameter has a gradient. */
TARN_API void tarn_optimizer_step(tarn_optimizer *o);
/** tarn_optimizer_backward and tarn_optimizer_step: the usual training step, up to tarn_step. */
TARN_API void tarn_minimize(tarn_optimizer *o, tarn_tensor loss);
/** Keeps the gradients over the step mark, which would drop them: for batches that are larger than
 *  memory. The next tarn_optimizer_step takes their sum with what later backwards add, in this step
 *  or in others; each is counted once, however often this is called. Divide the loss by the number
 *  of parts yourself. On several devices nothing is exchanged before that step (no_sync), unless
 *  they were clipped or there are virtual shards. tarn_save() leaves them out and tarn_load() drops
 *  them: save after a tarn_optimizer_step. */
TARN_API void tarn_optimizer_accumulate(tarn_optimizer *o);
/** Scales all gradients, those of this step and accumulated ones, so that their joint 2-norm is at most
 *  `max_norm`, as torch.nn.utils.clip_grad_norm_: what a later backward adds is not scaled. Returns
 *  the norm before. INFINITY only measures. An error when `max_norm` is a NaN or negative, or when no
 *  parameter has a gradient. */
TARN_API tarn_tensor tarn_clip_grad_norm(tarn_replica *r, float max_norm);
/** The same of this optimizer's parameters alone. With several optimizers tarn_clip_grad_norm takes the
 *  norm of all of them, and of no parameter that has none. */
TARN_API tarn_tensor tarn_optimizer_clip_grad_norm(tarn_optimizer *o, float max_norm);
/** Every element of all gradients, likewise, becomes `limit` where it is larger, and -limit where it is smaller, as by
 *  torch.nn.utils.clip_grad_value_; NaN stays. An error when `limit` is a NaN or negative, or when no parameter has a
 *  gradient. */
TARN_API void tarn_clip_grad_value(tarn_replica *r, float limit);
/** Sums what the backwards left over all replicas now, where tarn_optimizer_step would, and adds what earlier steps
 *  accumulated: from here on tarn_grad is that, as PyTorch's .grad after DDP's backward and xm.reduce_gradients(). */
TARN_API void tarn_reduce_grads(tarn_replica *r);
/** The gradient of a parameter is this from here on, in place of what backwards of this step and accumulated ones left, as
 *  by `p.grad = g`: for clipping by layer, noise, several losses of which each has its say. It is that of all
 *  replicas, has the parameter's shape and type, and must be the same on all of them: on several devices make it of
 *  tarn_grad after tarn_reduce_grads, of parameters and of buffers. What a later backward leaves is added to it. TARN_ERR_ARGUMENT when the first tensor is no
 *  parameter, TARN_ERR_STATE when it is frozen. */
TARN_API void tarn_set_grad(tarn_tensor parameter, tarn_tensor gradient);
/** From the next tarn_optimizer_step on, without a new compilation. `lr` must be finite and not
 *  negative. */
TARN_API void tarn_optimizer_set_lr(tarn_optimizer *o, float lr);
/** The learning rate as it is now; 0 for NULL. */
TARN_API float tarn_optimizer_lr(const tarn_optimizer *o);

/** As torch.amp.GradScaler, for float16, below whose smallest numbers gradients fall. Zero means 65536, 2, 0.5 and
 *  2000. */
typedef struct tarn_loss_scale_options {
    float initial, growth, backoff;
    int interval;
} tarn_loss_scale_options;
/** From now on tarn_backward, and what calls it, multiply the gradient that they begin with by a scale, and divide by it
 *  what reaches the parameters, so that all that follows sees gradients as they are. A step of an optimizer whose
 *  gradient is not finite changes nothing, is counted (tarn_metrics.skipped_steps), and multiplies the scale by
 *  `backoff`; `interval` others in a row multiply it by `growth`. A gradient that is not finite though the scale is
 *  1 or less is an error as ever. Powers of two change no digit. The scale is one for all optimizers, and saved with
 *  their state. Once, before training. */
TARN_API tarn_status tarn_loss_scale(tarn_replica *r, tarn_loss_scale_options options);
/** The scale as it is now, 1 without tarn_loss_scale(); NaN on error. Waits. */
TARN_API float tarn_loss_scale_now(tarn_replica *r);

/** Settings of some parameters, as PyTorch's parameter groups: the last call that names a parameter
 *  holds. They hold from the next step on, belong to the program and are not saved, and only the
 *  first one that differs between parameters compiles anew. An error between tarn_optimizer_step and
 *  tarn_step.
 *
 *  The learning rate of these parameters is `factor` times the optimizer's, whatever
 *  tarn_optimizer_set_lr makes of that: 0.1 for a network that was trained before. */
TARN_API void tarn_optimizer_scale_lr(tarn_optimizer *o, const char *parameters, float factor);
/** Their weight decay, in place of that of the options: 0 for "*.bias,*norm*". */
TARN_API void tarn_optimizer_set_weight_decay(tarn_optimizer *o, const char *parameters,
                                              float weight_decay);
/** Frozen parameters get no gradient, none is computed for them, and no optimizer changes a byte of
 *  them, as after requires_grad_(False); false makes them trained again. With or without an optimizer,
 *  from the next tarn_step on: an error when one was used in this step, or has a gradient that was
 *  accumulated. Not saved. On several devices all replicas must freeze the same. */
TARN_API void tarn_freeze(tarn_replica *r, const char *parameters, bool frozen);

/** From now on each step of the optimizer also keeps an average of its parameters, average = decay *
 *  average + (1 - decay) * parameter, beginning with what they are now; a step that changes nothing
 *  for a NaN leaves it. Averages are saved as "optimizer.average.*"; a file without optimizer state
 *  makes them begin anew. Call it again for another decay. */
TARN_API void tarn_optimizer_average(tarn_optimizer *o, float decay);
/** Exchanges parameters and averages, for evaluation, and by a second call back; takes effect in this
 *  step, as tarn_assign. tarn_optimizer_step is refused meanwhile, and tarn_save then writes the
 *  averages as parameters. */
TARN_API void tarn_optimizer_swap_average(tarn_optimizer *o);

/** Learning rates over steps: pure functions of the step number, from 0, for tarn_optimizer_set_lr.
 *  This one is lr at every step. */
TARN_API float tarn_lr_constant(float lr, uint64_t step);
/** lr, times `factor` after every `every` steps; as torch's StepLR. */
TARN_API float tarn_lr_step(float lr, uint64_t step, uint64_t every, float factor);
/** From lr to `lowest` along half a cosine of `total` steps, then `lowest`; as torch's
 *  CosineAnnealingLR. */
TARN_API float tarn_lr_cosine(float lr, uint64_t step, uint64_t total, float lowest);
/** Linear from lr / warm to lr over the first `warm` steps, then lr. */
TARN_API float tarn_lr_warmup(float lr, uint64_t step, uint64_t warm);

#ifdef __cplusplus
}
#endif

#endif
