/* SPDX-License-Identifier: Apache-2.0 */
/* An optimizer and its stages: flat storage, the gradient of a step, rules, counts, the guard.
 * All of it is between the files of this folder: others reach an optimizer by struct trainer of
 * tensor/replica.h. */
#ifndef TARN_OPTIMIZER_H
#define TARN_OPTIMIZER_H

#include "tensor/spread.h"

#define STATES_MOST 4 /* flat states of one rule */

/* Values of one step, flat: old and new. */
struct update {
    tarn_tensor g, old, now, state[STATES_MOST], state_now[STATES_MOST];
};

/* How a kind of optimizer computes new values: all that the rest of the folder knows of it. */
struct rule {
    const char *name;
    /* Number i is kept as "optimizer.<state[i]>.<parameter>", and is 0 at first. NULL: no more. */
    const char *state[STATES_MOST];
    bool counts; /* whether the device counts the steps of each parameter, for count_spread() */
    /* The beta1 and beta2 of count_beta1() and count_beta2(), of which count.c makes a table; NULL
     * when the rule uses neither. */
    void (*betas)(const tarn_optimizer *o, double beta[2]);
    /* Records u->now and u->state_now from the old ones and the gradient. */
    void (*update)(const tarn_optimizer *o, struct update *u);
};

/* What the host knows between two steps. A step changes a copy, which counts once the step mark has
 * succeeded: a step that fails or is dropped leaves no trace. */
struct record {
    uint64_t steps; /* optimizer steps: the host looks at the flag now and then */
    bool kept;    /* tarn_optimizer_accumulate kept gradients for the next step, in `kept` below */
    bool summed;  /* over all replicas, those */
    uint8_t *has; /* of each slice: whether a gradient of it is kept */
    /* Of each slice: parameters of one group were in the same steps, so their counts are equal. */
    uint32_t *group;
};

/* The gradients of this step that were gathered into a flat one: .grad of all parameters. */
struct gathered {
    bool any, summed; /* summed: over all replicas */
    uint32_t node;    /* 0: what earlier steps kept, as it lies in memory */
    uint8_t *has;
};

struct tarn_optimizer {
    tarn_replica *replica;
    const struct rule *rule;
    float lr;
    uint32_t *slices; /* the parameters in flat order: index + 1 */
    uint32_t slice_count;
    int32_t total;               /* elements of the flat storage */
    uint32_t flat;               /* parameters: index + 1, as the rest */
    uint32_t state[STATES_MOST]; /* flat, the rule's; 0: no more */
    uint32_t counts;     /* flat int32: finished steps of each parameter; 0: the rule needs none */
    uint32_t table;      /* of count.c; 0: the rule needs none */
    uint32_t step, flag; /* int32 scalars: finished steps; first step with a bad gradient, or 0 */
    uint32_t kept;       /* flat: gradients of steps that only accumulated; 0: never did */
    struct record marked, next; /* as of the last step mark, and as of the coming one */
    struct gathered now;
    bool gathered;  /* this step took gradients: to accumulate, clip or use them */
    bool exchanged; /* gradients of this step went to other replicas */
    _Alignas(8) unsigned char options[]; /* as the program gave them; but for lr, which is above */
};

/* ---- flat storage (flat.c) ------------------------------------------------------------------ */

/* Elements that a tensor takes of the flat storage. */
int64_t flat_extent(tarn_shape s);
/* Moves all parameters into one buffer. */
TARN_CHECKED tarn_status flat_collect(tarn_optimizer *o);
/* Adds flat state number `which`, whose slices are named "optimizer.<kind>.<parameter>". */
TARN_CHECKED tarn_status flat_add_state(tarn_optimizer *o, int which, const char *kind);
/* Adds the counts, whose slices are named "optimizer.step.<parameter>". */
TARN_CHECKED tarn_status flat_add_counts(tarn_optimizer *o);

/* ---- the gradient of a step (gradient.c) ---------------------------------------------------- */

/* Moves what backward has left since into o->now, which is summed over all replicas afterwards when
 * `sum` says so, or was before. False after recording an error: a parameter is not in flat storage,
 * or none has a gradient. */
bool gradient_gather(tarn_optimizer *o, bool sum);
/* What backward left, summed over all replicas with virtual shards (exchange.c); `first`: the first
 * exchange of the step. */
tarn_tensor gradient_of_shards(const tarn_optimizer *o, bool first);

/* ---- rules (rules.c) ------------------------------------------------------------------------ */

/* What the caller of a float meant: 0.9f is 0.9. PyTorch computes with doubles here. */
double rule_meant(float value);

/* ---- steps of each parameter (count.c) ------------------------------------------------------ */

/* Makes the table of 1 - beta^t. */
TARN_CHECKED tarn_status count_table(tarn_optimizer *o);
/* A value that depends on the finished steps (int32 scalar) of a parameter. */
typedef tarn_tensor count_rule(const tarn_optimizer *o, tarn_tensor steps);
/* That value for each element: a scalar when all that have a gradient are of one group, else
 * flat. */
tarn_tensor count_spread(const tarn_optimizer *o, count_rule *rule);
/* 1 - beta1^t and 1 - beta2^t of the step that follows `steps` finished ones. */
tarn_tensor count_beta1(const tarn_optimizer *o, tarn_tensor steps);
tarn_tensor count_beta2(const tarn_optimizer *o, tarn_tensor steps);
/* Flat: 1 in parameters that have a gradient, 0 in the others. */
tarn_tensor count_mask(const tarn_optimizer *o);
/* Counts the step where there is a gradient, unless `bad`. */
void count_step(tarn_optimizer *o, tarn_tensor bad);
/* Whether every parameter has a gradient. */
bool count_all(const tarn_optimizer *o);

/* ---- the guard (guard.c) -------------------------------------------------------------------- */

/* uint8 scalar: whether an element is NaN or infinite. */
tarn_tensor guard_not_finite(tarn_tensor g);
/* Counts the step, or remembers that its gradient is `bad`. */
void guard_count(const tarn_optimizer *o, tarn_tensor bad);

/* ---- making one (optimizer.c) --------------------------------------------------------------- */

/* For the public functions of rules.c: an optimizer of all parameters, with a copy of the options.
 * NULL after recording an error. */
tarn_optimizer *optimizer_make(tarn_replica *r, const struct rule *rule, float lr,
                               const void *options, size_t bytes);
/* False after recording that a number is out of range. */
bool optimizer_range(tarn_replica *r, const char *name, float value, float low, float below);

/* ---- struct trainer: no-ops on a replica without an optimizer ------------------------------- */

/* Waits and reports the first optimizer step whose gradient was not finite, once. */
TARN_CHECKED tarn_status optimizer_check(tarn_replica *r);
/* To be called after the optimizer's state was written from elsewhere. */
TARN_CHECKED tarn_status optimizer_reload(tarn_replica *r);
/* Drops what earlier steps kept. */
void optimizer_forget(tarn_replica *r);
/* The step mark succeeded: what the step recorded counts from now on. To be called before: */
void optimizer_commit(tarn_replica *r);
/* Whether the step took gradients. */
bool optimizer_gathered(const tarn_replica *r);
/* Begins a new step from what counts. */
void optimizer_reset(tarn_replica *r);

#endif
