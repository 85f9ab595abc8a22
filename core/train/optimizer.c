/* SPDX-License-Identifier: Apache-2.0 */
/* Making an optimizer, and its step: one update of all parameters at once, over flat storage. */
#include <math.h>
#include <stdlib.h>

#include "train/optimizer.h"

/* Optimizer steps between two looks at the flag: a look waits for the device. */
#define CHECK_EVERY 64

/* ---- making --------------------------------------------------------------------------------- */

static bool record_new(const tarn_optimizer *o, struct record *record)
{
    record->has = calloc(o->slice_count, sizeof *record->has);
    record->group = calloc(o->slice_count, sizeof *record->group);
    return record->has != NULL && record->group != NULL;
}

static void record_free(const struct record *record)
{
    free(record->has);
    free(record->group);
}

static tarn_status set_up(tarn_optimizer *o)
{
    tarn_replica *r = o->replica;
    TRY(flat_collect(o));
    o->now.has = calloc(o->slice_count, sizeof *o->now.has);
    if (!record_new(o, &o->marked) || !record_new(o, &o->next) || o->now.has == NULL)
        return replica_fail(r, TARN_ERR_MEMORY, "optimizer: out of host memory for its lists");
    if (o->method == METHOD_SGD) {
        if (o->momentum != 0.0f)
            TRY(flat_add_state(o, 0, "momentum_buffer"));
    } else {
        TRY(flat_add_state(o, 0, "exp_avg"));
        TRY(flat_add_state(o, 1, "exp_avg_sq"));
    }
    if (rule_counts(o))
        TRY(flat_add_counts(o));
    if (o->method != METHOD_SGD)
        TRY(count_table(o));
    const int32_t zero = 0;
    o->step = owned_add(r, OWNED_STATE, "optimizer.step", TARN_SCALAR, TARN_I32, NULL);
    o->flag = owned_add(r, OWNED_KEPT, NULL, TARN_SCALAR, TARN_I32, &zero);
    return r->status;
}

static void optimizer_free(void *self)
{
    tarn_optimizer *o = self;
    if (o->replica->optimizer == o) {
        o->replica->optimizer = NULL;
        o->replica->trainer = NULL;
    }
    record_free(&o->marked);
    record_free(&o->next);
    free(o->now.has);
    free(o->slices);
    free(o);
}

static const struct trainer trainer = {
    .gathered = optimizer_gathered,
    .commit = optimizer_commit,
    .reset = optimizer_reset,
    .check = optimizer_check,
    .reload = optimizer_reload,
    .forget = optimizer_forget,
};

static tarn_optimizer *make(const tarn_optimizer *settings)
{
    tarn_replica *r = settings->replica;
    if (r->status != TARN_OK)
        return NULL;
    if (r->optimizer != NULL) {
        replica_fail(r, TARN_ERR_STATE, "optimizer: the replica has one already");
        return NULL;
    }
    tarn_optimizer *o = malloc(sizeof *o);
    if (o == NULL) {
        replica_fail(r, TARN_ERR_MEMORY, "optimizer: out of host memory");
        return NULL;
    }
    *o = *settings;
    if (set_up(o) != TARN_OK || replica_register(r, optimizer_free, o) != TARN_OK) {
        optimizer_free(o);
        return NULL;
    }
    r->optimizer = o;
    r->trainer = &trainer;
    return o;
}

bool optimizer_range(tarn_replica *r, const char *name, float value, float low, float below)
{
    if (r == NULL) {
        error_set(TARN_ERR_ARGUMENT, "optimizer: the replica is NULL");
        return false;
    }
    if (value >= low && value < below)
        return true;
    replica_fail(r, TARN_ERR_ARGUMENT, "optimizer: %s is %g, must be from %g to below %g", name,
                 (double)value, (double)low, (double)below);
    return false;
}

tarn_optimizer *tarn_sgd(tarn_replica *r, tarn_sgd_options options)
{
    if (!optimizer_range(r, "lr", options.lr, 0.0f, INFINITY) ||
        !optimizer_range(r, "momentum", options.momentum, 0.0f, INFINITY) ||
        !optimizer_range(r, "dampening", options.dampening, -INFINITY, INFINITY) ||
        !optimizer_range(r, "weight_decay", options.weight_decay, 0.0f, INFINITY))
        return NULL;
    if (options.nesterov && (options.momentum == 0.0f || options.dampening != 0.0f)) {
        replica_fail(r, TARN_ERR_ARGUMENT,
                     "sgd: nesterov needs a momentum above 0 and no dampening");
        return NULL;
    }
    return make(&(tarn_optimizer){
        .replica = r,
        .method = METHOD_SGD,
        .lr = options.lr,
        .momentum = options.momentum,
        .dampening = options.dampening,
        .weight_decay = options.weight_decay,
        .nesterov = options.nesterov,
    });
}

static tarn_optimizer *make_adam(tarn_replica *r, tarn_adam_options o, enum method method)
{
    o.lr = o.lr != 0.0f ? o.lr : 1e-3f;
    o.beta1 = o.beta1 != 0.0f ? o.beta1 : 0.9f;
    o.beta2 = o.beta2 != 0.0f ? o.beta2 : 0.999f;
    o.eps = o.eps != 0.0f ? o.eps : 1e-8f;
    if (method == METHOD_ADAMW) {
        o.weight_decay = o.weight_decay != 0.0f ? o.weight_decay : 0.01f;
        o.weight_decay = o.weight_decay < 0.0f ? 0.0f : o.weight_decay;
    }
    if (!optimizer_range(r, "lr", o.lr, 0.0f, INFINITY) ||
        !optimizer_range(r, "beta1", o.beta1, 0.0f, 1.0f) ||
        !optimizer_range(r, "beta2", o.beta2, 0.0f, 1.0f) ||
        !optimizer_range(r, "eps", o.eps, 0.0f, INFINITY) ||
        !optimizer_range(r, "weight_decay", o.weight_decay, 0.0f, INFINITY))
        return NULL;
    return make(&(tarn_optimizer){
        .replica = r,
        .method = method,
        .lr = o.lr,
        .beta1 = o.beta1,
        .beta2 = o.beta2,
        .eps = o.eps,
        .weight_decay = o.weight_decay,
    });
}

tarn_optimizer *tarn_adam(tarn_replica *r, tarn_adam_options options)
{
    return make_adam(r, options, METHOD_ADAM);
}

tarn_optimizer *tarn_adamw(tarn_replica *r, tarn_adam_options options)
{
    return make_adam(r, options, METHOD_ADAMW);
}

void tarn_optimizer_set_lr(tarn_optimizer *o, float lr)
{
    if (o != NULL && optimizer_range(o->replica, "lr", lr, 0.0f, INFINITY))
        o->lr = lr;
}

float tarn_optimizer_lr(const tarn_optimizer *o)
{
    return o != NULL ? o->lr : 0.0f;
}

/* ---- the step ------------------------------------------------------------------------------- */

static void record_update(tarn_optimizer *o)
{
    tarn_replica *r = o->replica;
    struct update u = { .g = graph_handle(r, o->now.node), .old = owned_handle(r, o->flat) };
    const tarn_tensor old = graph_handle(r, graph_resolve(u.old));
    u.old = old;
    for (int i = 0; i < 2 && o->state[i]; i++)
        u.state[i] = graph_handle(r, graph_resolve(owned_handle(r, o->state[i])));
    const tarn_tensor bad = guard_not_finite(u.g);
    rule_update(o, &u);
    tarn_tensor stay = bad;
    if (!count_all(o))
        stay = tarn_maximum(tarn_eq(count_mask(o), tarn_full(r, TARN_SCALAR, 0.0f)), bad);
    tarn_assign(owned_handle(r, o->flat), tarn_where(stay, old, u.now));
    for (int i = 0; i < 2 && o->state[i]; i++)
        tarn_assign(owned_handle(r, o->state[i]), tarn_where(stay, u.state[i], u.state_now[i]));
    count_step(o, bad);
    guard_count(o, bad);
}

/* No gradient is left for another step. */
static void gradients_used(tarn_optimizer *o)
{
    tarn_replica *r = o->replica;
    o->now.any = o->now.summed = o->next.kept = o->next.summed = false;
    for (uint32_t i = 0; i < o->slice_count; i++) {
        o->now.has[i] = o->next.has[i] = 0;
        r->owned[o->slices[i] - 1].used = true;
    }
}

void tarn_optimizer_step(tarn_optimizer *o)
{
    if (o == NULL) {
        error_set(TARN_ERR_ARGUMENT, "optimizer_step: the optimizer is NULL");
        return;
    }
    tarn_replica *r = o->replica;
    if (r->status != TARN_OK)
        return;
    if (o->next.steps % CHECK_EVERY == CHECK_EVERY - 1 && optimizer_check(r) != TARN_OK)
        return;
    if (!gradient_gather(o, true))
        return;
    record_update(o);
    gradients_used(o);
    o->next.steps++;
    r->updates = true;
}
