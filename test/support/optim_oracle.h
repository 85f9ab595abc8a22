/* SPDX-License-Identifier: Apache-2.0 */
/* Optimizers in double, written after PyTorch's: each parameter has a .grad, or none, and its own
 * count of steps. And random sequences of calls, which a replica and the reference both follow. */
#ifndef TARN_TEST_OPTIM_ORACLE_H
#define TARN_TEST_OPTIM_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

#include "tarn.h"

enum { ORACLE_PARAMETERS = 3, ORACLE_MOST = 18 };

enum oracle_method { ORACLE_SGD, ORACLE_ADAM, ORACLE_ADAMW };

struct oracle_rule {
    const char *name;
    enum oracle_method method;
    double lr, momentum, dampening, decay, beta1, beta2, eps;
    bool nesterov;
};

struct oracle_parameter {
    double value[ORACLE_MOST], grad[ORACLE_MOST], state[2][ORACLE_MOST];
    bool has_grad;
    int steps;
};

struct oracle {
    const struct oracle_rule *rule;
    struct oracle_parameter p[ORACLE_PARAMETERS];
    int skipped; /* steps whose gradient was not finite */
};

int oracle_size(int parameter);
void oracle_begin(struct oracle *o, const struct oracle_rule *rule);
/* backward of scale * sum of (w p + q p p / 2) over the parameters of the mask. */
void oracle_backward(struct oracle *o, unsigned mask, double scale);
/* clip_grad_norm_: scales .grad in place; returns the norm. */
double oracle_clip(struct oracle *o, double max_norm);
/* optimizer.step() and zero_grad(). */
void oracle_step(struct oracle *o);
bool oracle_has_grad(const struct oracle *o);

/* ---- the same on a replica ------------------------------------------------------------------ */

struct oracle_replica {
    tarn_replica *r;
    tarn_tensor p[ORACLE_PARAMETERS];
    tarn_optimizer *optimizer;
};

/* Makes the parameters and the optimizer; false: tarn_error(r). */
bool oracle_make(struct oracle_replica *a, tarn_replica *r, const struct oracle_rule *rule);
/* tarn_backward_weighted with weight 1. */
void oracle_replica_backward(const struct oracle_replica *a, unsigned mask, float scale);

/* One call on both: a, b, c: backward of parameter 0, of parameter 1, of all; k: clip at 1; m:
 * clip at infinity; u: accumulate; s: optimizer step. What would be refused is left out. */
void oracle_call(const struct oracle_replica *a, struct oracle *o, char call, double scale);
/* The most by which float32 differs after some optimizer steps. */
double oracle_limit(const struct oracle_rule *rule, int steps);

/* Follows one random sequence of steps from the start, which is loaded from `start`, and compares
 * after each. Of several replicas all get the same seed, and each a part of every gradient. False,
 * with the sequence and the first difference in `why`, when they differ. */
bool oracle_sequence(const struct oracle_replica *a, const struct oracle_rule *rule,
                     const char *start, uint64_t seed, char *why, size_t capacity);

#endif
