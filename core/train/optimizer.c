/* SPDX-License-Identifier: Apache-2.0 */
/* Making an optimizer, and its step: one update of all parameters at once, over flat storage. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    for (int i = 0; i < STATES_MOST && o->rule->state[i] != NULL; i++)
        TRY(flat_add_state(o, i, o->rule->state[i]));
    if (o->rule->counts)
        TRY(flat_add_counts(o));
    if (o->rule->betas != NULL)
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

tarn_optimizer *optimizer_make(tarn_replica *r, const struct rule *rule, float lr,
                               const void *options, size_t bytes)
{
    if (r->status != TARN_OK)
        return NULL;
    if (r->optimizer != NULL) {
        replica_fail(r, TARN_ERR_STATE, "optimizer: the replica has one already");
        return NULL;
    }
    tarn_optimizer *o = calloc(1, sizeof *o + bytes);
    if (o == NULL) {
        replica_fail(r, TARN_ERR_MEMORY, "%s: out of host memory", rule->name);
        return NULL;
    }
    o->replica = r;
    o->rule = rule;
    o->lr = lr;
    memcpy(o->options, options, bytes);
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
    for (int i = 0; i < STATES_MOST && o->state[i]; i++)
        u.state[i] = graph_handle(r, graph_resolve(owned_handle(r, o->state[i])));
    const tarn_tensor bad = guard_not_finite(u.g);
    o->rule->update(o, &u);
    tarn_tensor stay = bad;
    if (!count_all(o))
        stay = tarn_maximum(tarn_eq(count_mask(o), tarn_full(r, TARN_SCALAR, 0.0f)), bad);
    tarn_assign(owned_handle(r, o->flat), tarn_where(stay, old, u.now));
    for (int i = 0; i < STATES_MOST && o->state[i]; i++)
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
