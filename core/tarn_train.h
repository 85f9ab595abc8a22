/* SPDX-License-Identifier: Apache-2.0 */
/** Optimizers and learning rates.
 *  Part of tarn.h, which includes it. */
#ifndef TARN_TRAIN_H
#define TARN_TRAIN_H

#include "tarn.h"

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif

#endif
