/* SPDX-License-Identifier: Apache-2.0 */
/* An optimizer and its stages: flat storage, the gradient of a step, rules, settings, counts, the
 * guard, averages. All of it is between the files of this folder: others reach an optimizer by struct trainer of
 * tensor/replica.h. */
#ifndef TARN_OPTIMIZER_H
#define TARN_OPTIMIZER_H

#include "tensor/spread.h"

#define STATES_MOST 4 /* flat states of one rule */

/* Values of one step, old and new: flat, or of one parameter where the rule says so. */
struct update {
    const tarn_optimizer *o;
    int slice; /* the parameter; -1: all of them */
    tarn_tensor g, old, now, state[STATES_MOST], state_now[STATES_MOST];
};

/* How a kind of optimizer computes new values: all that the rest of the folder knows of it. */
struct rule {
    const char *name;
    /* Number i is kept as "optimizer.<state[i]>.<parameter>", and is 0 at first. NULL: no more. */
    const char *state[STATES_MOST];
    bool counts; /* whether the device counts the steps of each parameter, for count_spread() */
    /* The shape of a parameter's state, false when it has none; then update sees one parameter at a
     * time, in its own shape. NULL: states have a parameter's shape, and update sees all, flat. */
    bool (*state_shape)(int which, tarn_shape parameter, tarn_shape *out);
    /* The beta1 and beta2 of count_beta1() and count_beta2(), of which count.c makes a table; NULL
     * when the rule uses neither. */
    void (*betas)(const tarn_optimizer *o, double beta[2]);
    /* Records u->now and u->state_now from the old ones and the gradient. */
    void (*update)(struct update *u);
};

/* What the host knows between two steps. A step changes a copy, which counts once the step mark has
 * succeeded: a step that fails or is dropped leaves no trace. */
struct record {
    uint64_t steps; /* optimizer steps: the host looks at the flag now and then */
    bool kept;    /* tarn_optimizer_accumulate kept gradients for the next step, in `kept` below */
    bool summed;  /* over all replicas, those */
    bool swapped; /* the averages stand where the parameters do, and the other way round */
    uint8_t *has; /* of each slice: whether a gradient of it is kept */
    /* Of each slice: parameters of one group were in the same steps, so their counts are equal. */
    uint32_t *group;
};

/* The gradients of this step that were gathered into a flat one: .grad of all parameters. */
struct gathered {
    bool any, summed; /* summed: over all replicas */
    uint32_t node;    /* 0: what earlier steps kept, as it lies in memory */
    uint8_t *has;
    uint8_t *
        set; /* of each slice: whether tarn_set_grad left another in its .gathered than `node` has */
};

/* What is set for each parameter. */
struct setting {
    float factor, decay; /* of the learning rate; weight decay */
};

struct tarn_optimizer {
    tarn_replica *replica;
    tarn_optimizer *next_one; /* of the replica, in order of creation */
    const struct rule *rule;
    uint32_t number; /* of it among all that the replica made */
    bool
        apart; /* a mesh cuts some parameters or states: each lies by itself, as it is cut in its own way */
    char *pattern; /* of its parameters' names; NULL: all */
    float lr;
    struct setting *settings;             /* of each slice */
    uint32_t factors, decays;             /* the same on the device, flat; 0: never differed */
    bool various_factors, various_decays; /* whether they differ between parameters */
    uint32_t *slices;                     /* the parameters in flat order: index + 1 */
    uint32_t slice_count;
    tarn_dtype dtype;            /* of its parameters, their gradients and states */
    int32_t total;               /* elements of the flat storage */
    uint32_t flat;               /* parameters: index + 1, as the rest; 0: they are apart */
    uint32_t state[STATES_MOST]; /* flat, the rule's; 0: no more */
    uint32_t *states;  /* of one parameter at a time: STATES_MOST of each slice, 0: none */
    uint32_t averages; /* flat: of the parameters; 0: nobody asked */
    uint32_t *average_of, *kept_of; /* of parameters that are apart: of each slice; NULL, 0: none */
    float average_decay;            /* what an average keeps of itself in a step */
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

/* The optimizer that a parameter is in; NULL: none. */
tarn_optimizer *optimizer_of(const tarn_replica *r, const struct owned *p);
/* Elements that a tensor takes of the flat storage. */
int64_t flat_extent(tarn_shape s);
/* Finds the parameters, and moves all into one buffer, unless they are to be apart. */
TARN_CHECKED tarn_status flat_collect(tarn_optimizer *o);
/* Adds flat state of zeros, whose slices are named "optimizer.<kind>.<parameter>". Index + 1, or 0
 * after recording an error. */
uint32_t flat_add_state(tarn_optimizer *o, const char *kind);
/* The rule's states, flat or one by one. */
TARN_CHECKED tarn_status flat_add_states(tarn_optimizer *o);
/* Of parameters that are apart: adds "optimizer.<kind>.<parameter>" of each, cut as its states are. False after
 * recording an error. */
bool flat_add_each(tarn_optimizer *o, const char *kind, uint32_t **each);
/* How the state of a parameter that is apart is cut, and its average. */
struct spec flat_state_spec(const tarn_optimizer *o, uint32_t slice);
/* Gives each parameter and each of its states a buffer of its own (apart.c). */
TARN_CHECKED tarn_status flat_divide(tarn_optimizer *o);
/* Cuts what is kept of parameters, which are apart then, along further axes of the mesh, each in the first dimension
 * that divides. */
TARN_CHECKED tarn_status flat_cut_states(tarn_optimizer *o, uint32_t axes);
/* Adds the counts, whose slices are named "optimizer.step.<parameter>". */
TARN_CHECKED tarn_status flat_add_counts(tarn_optimizer *o);

/* ---- the gradient of a step (gradient.c) ---------------------------------------------------- */

/* Moves what backward has left since into o->now, which is summed over all replicas afterwards when
 * `sum` says so, or was before. False after recording an error: a parameter is not in flat storage,
 * or none has a gradient. */
bool gradient_gather(tarn_optimizer *o, bool sum);
/* Whether each parameter's .grad is all that there is, of one optimizer's or of all (NULL): none was kept by earlier
 * steps, or is to be summed over replicas. */
bool gradient_is_complete(const tarn_replica *r, const tarn_optimizer *only);
/* Else: gathers what all optimizers of r have, or that one, for the function `name`. It is summed over all replicas, and
 * each parameter's .gathered is what it has of that. False after recording an error. */
bool gradient_gather_all(tarn_replica *r, const tarn_optimizer *only, const char *name);
/* Whether backward left one, or earlier calls of the step or earlier steps did. */
bool gradient_is_there(const tarn_optimizer *o);
/* The slice from which a bucket of what is exchanged begins that ends before slice `last`. */
uint32_t gradient_bucket(const tarn_optimizer *o, uint32_t last);
/* Whether all of these slices are frozen: there is nothing to exchange. */
bool gradient_frozen(const tarn_optimizer *o, uint32_t first, uint32_t last);
/* What backward left, summed over all replicas with virtual shards (exchange.c). */
tarn_tensor gradient_of_shards(tarn_optimizer *o);

/* ---- rules (rules.c) ------------------------------------------------------------------------ */

/* ---- settings of each parameter (group.c) --------------------------------------------------- */

/* Settings of all slices, all of them 1 and `decay`. */
TARN_CHECKED tarn_status group_begin(tarn_optimizer *o, float decay);
/* The learning rate: a scalar, or what stands beside the values of u. */
tarn_tensor group_lr(const struct update *u);
/* The gradient with the weight decay in it, as in Adam. */
tarn_tensor group_gradient(const struct update *u);
/* The old value without what weight decay takes from it directly, as in AdamW. */
tarn_tensor group_decayed(const struct update *u);

/* ---- steps of each parameter (count.c) ------------------------------------------------------ */

/* Makes the table of 1 - beta^t. */
TARN_CHECKED tarn_status count_table(tarn_optimizer *o);
/* A value that depends on the finished steps (int32 scalar) of a parameter. */
typedef tarn_tensor count_rule(const tarn_optimizer *o, tarn_tensor steps);
/* That value for each element: a scalar when all that have a gradient are of one group, or for one
 * parameter, else as u's values. */
tarn_tensor count_spread(const struct update *u, count_rule *rule);
/* 1 - beta1^t and 1 - beta2^t of the step that follows `steps` finished ones. */
tarn_tensor count_beta1(const tarn_optimizer *o, tarn_tensor steps);
tarn_tensor count_beta2(const tarn_optimizer *o, tarn_tensor steps);
/* Flat: 1 in parameters that have a gradient, 0 in the others. */
tarn_tensor count_mask(const tarn_optimizer *o);
/* Counts the step where there is a gradient, unless `bad`. */
void count_step(tarn_optimizer *o, tarn_tensor bad);
/* Whether every parameter has a gradient. */
bool count_all(const tarn_optimizer *o);
/* Takes the counts from the device. */
TARN_CHECKED tarn_status count_reload(tarn_optimizer *o);

/* ---- the guard (guard.c) -------------------------------------------------------------------- */

/* uint8 scalar: whether an element is NaN or infinite. */
tarn_tensor guard_not_finite(tarn_tensor g);
/* The same of all gradients that were gathered apart. */
tarn_tensor guard_any_not_finite(const tarn_optimizer *o);
/* Counts the step, or remembers that its gradient is `bad`. */
void guard_count(const tarn_optimizer *o, tarn_tensor bad);
/* Waits and reports the first step whose gradient was not finite, once. */
TARN_CHECKED tarn_status guard_check(const tarn_optimizer *o);

/* ---- the scale of the loss (loss_scale.c) ---------------------------------------------------- */

/* Records what a step does to the scale; returns whether the step is to be reported: `bad` without a scale. */
tarn_tensor loss_scale_update(tarn_replica *r, tarn_tensor bad);
/* Waits, and notes in the metrics how many steps were left out. */
TARN_CHECKED tarn_status loss_scale_look(tarn_replica *r);

/* ---- averages of weights (average.c) -------------------------------------------------------- */

/* Averages, where there are any, go towards the new values, unless `bad`. */
void average_update(const tarn_optimizer *o, tarn_tensor now, tarn_tensor bad);
/* The same of parameters that are apart, once they are assigned. */
void average_update_each(const tarn_optimizer *o, tarn_tensor bad);
/* They begin anew from the parameters. */
TARN_CHECKED tarn_status average_begin(const tarn_optimizer *o);

/* ---- what holds after a step (accumulate.c) ------------------------------------------------- */

void record_copy(const tarn_optimizer *o, struct record *to, const struct record *from);

/* ---- making one (optimizer.c) --------------------------------------------------------------- */

/* What all kinds are given. */
struct basics {
    float lr, weight_decay;
    const char *parameters;
};
/* For the public functions of rules.c: an optimizer with a copy of the options. NULL after recording
 * an error. */
tarn_optimizer *optimizer_make(tarn_replica *r, const struct rule *rule, struct basics basics,
                               const void *options, size_t bytes);
/* False after recording that a number is out of range. */
bool optimizer_range(tarn_replica *r, const char *name, float value, float low, float below);

/* ---- struct trainer (trainer.c), of all optimizers of a replica ----------------------------- */

extern const struct trainer optimizer_trainer;
/* Waits and reports the first optimizer step whose gradient was not finite, once. */
TARN_CHECKED tarn_status optimizer_check(tarn_replica *r);

#endif
