/* SPDX-License-Identifier: Apache-2.0 */
/* An optimizer and its stages: flat storage, the gradient of a step, rules, the guard. The replica and
 * checkpoints use the last two functions; the rest is between the files of this folder. */
#ifndef TARN_OPTIMIZER_H
#define TARN_OPTIMIZER_H

#include "graph.h"

enum method { METHOD_SGD, METHOD_ADAM, METHOD_ADAMW };

struct tarn_optimizer {
    tarn_replica *replica;
    enum method method;
    float lr, momentum, dampening, weight_decay, beta1, beta2, eps;
    bool nesterov;
    uint32_t *slices; /* the parameters in flat order: index + 1 */
    uint32_t slice_count;
    int32_t total;       /* elements of the flat storage */
    uint32_t flat;       /* parameters: index + 1, as the rest */
    uint32_t state[2];   /* flat: momentum; or first and second moment; 0: none */
    uint32_t step, flag; /* int32 scalars: finished steps; first step with a bad gradient, or 0 */
    uint64_t steps;      /* as `step`, on the host */
    uint32_t kept;       /* flat: gradients of steps that only accumulated; 0: never did */
    bool accumulated;    /* `kept` holds some */
};

/* Values of one step, flat: old and new. */
struct update {
    tarn_tensor g, old, now, state[2], state_now[2];
};

/* ---- flat storage (flat.c) ---- */

/* Elements that a tensor takes of the flat storage. */
int64_t flat_extent(tarn_shape s);
/* Moves all parameters into one buffer. */
TARN_CHECKED tarn_status flat_collect(tarn_optimizer *o);
/* Adds flat state number `which`, whose slices are named "optimizer.<kind>.<parameter>". */
TARN_CHECKED tarn_status flat_add_state(tarn_optimizer *o, int which, const char *kind);

/* ---- the gradient of a step (gradient.c) ---- */

/* False after recording an error: a parameter is not in flat storage, or none has a gradient.
 * `all`: every parameter has one. */
bool gradient_check(const tarn_optimizer *o, bool *all);
/* Gradients of slices first .. last - 1 in flat order (zeros for a missing one), or with `mask` 1
 * where there is one. */
tarn_tensor gradient_of(const tarn_optimizer *o, uint32_t first, uint32_t last, bool mask);
/* The same with what earlier steps accumulated. */
tarn_tensor gradient_whole(const tarn_optimizer *o, uint32_t first, uint32_t last);
/* All gradients of this step, of all replicas, in flat order. */
tarn_tensor gradient_flat(const tarn_optimizer *o);

/* ---- rules (rules.c) ---- */

/* Records the new values from the old ones and the gradient. */
void rule_update(const tarn_optimizer *o, struct update *u);

/* ---- the guard (guard.c) ---- */

/* uint8 scalar: whether an element is NaN or infinite. */
tarn_tensor guard_not_finite(tarn_tensor g);
/* Counts the step, or remembers that its gradient is `bad`. */
void guard_count(const tarn_optimizer *o, tarn_tensor bad);

/* Waits and reports the first optimizer step whose gradient was not finite, once. */
TARN_CHECKED tarn_status optimizer_check(tarn_replica *r);
/* To be called after the optimizer's state was written from a checkpoint. */
TARN_CHECKED tarn_status optimizer_reload(tarn_replica *r);

/* False after recording that a number is out of range (optimizer.c). */
bool optimizer_range(tarn_replica *r, const char *name, float value, float low, float below);

#endif
