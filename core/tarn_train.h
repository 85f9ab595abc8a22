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
 *  steps accumulated is there as before. A replica has one optimizer, which is made after the layers
 *  and closed with the replica. Steps are counted for each parameter: those in which it had a
 *  gradient, as PyTorch does. */
typedef struct tarn_optimizer tarn_optimizer;

/** As torch.optim.SGD: the first gradient of a parameter comes to its momentum undamped. NULL on
 *  failure. */
typedef struct tarn_sgd_options {
    float lr, momentum, dampening, weight_decay;
    bool nesterov;
} tarn_sgd_options;
/** Makes the replica's optimizer, which closes with it; its state (momentum, where that is not 0)
 *  is owned by the replica and saved by tarn_save. All parameters move into one piece of memory.
 *  TARN_ERR_STATE when there is an optimizer already, TARN_ERR_ARGUMENT for options out of range.
 *  */
TARN_API tarn_optimizer *tarn_sgd(tarn_replica *r, tarn_sgd_options options);

/** As torch.optim.Adam and AdamW: moments are corrected for the steps that the parameter had. Zero
 *  means lr 1e-3, beta 0.9 and 0.999, eps 1e-8; weight decay 0 (AdamW: 0.01 unless weight_decay is
 *  negative, which means 0). NULL on failure. */
typedef struct tarn_adam_options {
    float lr, beta1, beta2, eps, weight_decay;
} tarn_adam_options;
/** Makes the replica's optimizer as tarn_sgd does, with two moments of each parameter as its state.
 *  The weight decay is added to the gradient. */
TARN_API tarn_optimizer *tarn_adam(tarn_replica *r, tarn_adam_options options);
/** The same, but the weight decay scales the parameter, apart from the gradient. */
TARN_API tarn_optimizer *tarn_adamw(tarn_replica *r, tarn_adam_options options);

/** Records the update of all parameters that have a gradient, of this step or accumulated; the others
 *  and their state stay as they are. The gradients are used up, as by PyTorch's step() and
 *  zero_grad(): a later backward of the same step begins anew, and a second call needs one. A step
 *  whose gradient holds a NaN or an infinity changes no parameter, state or count; a later tarn_step
 *  or tarn_wait reports it. An error when no parameter has a gradient. */
TARN_API void tarn_optimizer_step(tarn_optimizer *o);
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
/** From the next tarn_optimizer_step on, without a new compilation. `lr` must be finite and not
 *  negative. */
TARN_API void tarn_optimizer_set_lr(tarn_optimizer *o, float lr);
/** The learning rate as it is now; 0 for NULL. */
TARN_API float tarn_optimizer_lr(const tarn_optimizer *o);

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
