/* SPDX-License-Identifier: Apache-2.0 */
/* Making an optimizer, and its step: one update of all its parameters at once, over flat storage. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op/op.h"
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

/* The finished steps; optimizers are numbered in order of creation. */
static void add_step(tarn_optimizer *o)
{
    int number = 1;
    char name[40] = "optimizer.step";
    for (const tarn_optimizer *other = o->replica->optimizer; other; other = other->next_one)
        number++;
    if (number > 1)
        snprintf(name, sizeof name, "optimizer.%d.step", number);
    o->step = owned_add(o->replica, OWNED_STATE, name, TARN_SCALAR, TARN_I32, NULL);
}

static tarn_status set_up(tarn_optimizer *o, struct basics basics)
{
    tarn_replica *r = o->replica;
    if (basics.parameters != NULL) {
        o->pattern = strdup(basics.parameters);
        if (o->pattern == NULL)
            return replica_fail(r, TARN_ERR_MEMORY, "optimizer: out of host memory for names");
    }
    TRY(flat_collect(o));
    TRY(group_begin(o, basics.weight_decay));
    o->now.has = calloc(o->slice_count, sizeof *o->now.has);
    o->now.set = calloc(o->slice_count, sizeof *o->now.set);
    if (!record_new(o, &o->marked) || !record_new(o, &o->next) || o->now.has == NULL ||
        o->now.set == NULL)
        return replica_fail(r, TARN_ERR_MEMORY, "optimizer: out of host memory for its lists");
    TRY(flat_add_states(o));
    if (o->rule->counts)
        TRY(flat_add_counts(o));
    if (o->rule->betas != NULL)
        TRY(count_table(o));
    const int32_t zero = 0;
    add_step(o);
    o->flag = owned_add(r, OWNED_KEPT, NULL, TARN_SCALAR, TARN_I32, &zero);
    return r->status;
}

/* Where the replica's list names this optimizer, or ends. */
static tarn_optimizer **place_of(tarn_replica *r, const tarn_optimizer *o)
{
    tarn_optimizer **at = &r->optimizer;
    while (*at != NULL && *at != o)
        at = &(*at)->next_one;
    return at;
}

static void optimizer_free(void *self)
{
    tarn_optimizer *o = self;
    tarn_replica *r = o->replica;
    tarn_optimizer **at = place_of(r, o);
    if (*at != NULL)
        *at = o->next_one;
    if (r->optimizer == NULL)
        r->trainer = NULL;
    record_free(&o->marked);
    record_free(&o->next);
    free(o->now.has);
    free(o->now.set);
    free(o->slices);
    free(o->settings);
    free(o->states);
    free(o->average_of);
    free(o->kept_of);
    free(o->pattern);
    free(o);
}

tarn_optimizer *optimizer_make(tarn_replica *r, const struct rule *rule, struct basics basics,
                               const void *options, size_t bytes)
{
    if (r->status != TARN_OK)
        return NULL;
    tarn_optimizer *o = calloc(1, sizeof *o + bytes);
    if (o == NULL) {
        replica_fail(r, TARN_ERR_MEMORY, "%s: out of host memory", rule->name);
        return NULL;
    }
    o->replica = r;
    o->rule = rule;
    o->lr = basics.lr;
    memcpy(o->options, options, bytes);
    if (set_up(o, basics) != TARN_OK || replica_register(r, optimizer_free, o) != TARN_OK) {
        optimizer_free(o);
        return NULL;
    }
    *place_of(r, o) = o;
    r->trainer = &optimizer_trainer;
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

static tarn_tensor before(tarn_replica *r, uint32_t index_plus_one)
{
    return graph_handle(r, graph_resolve(owned_handle(r, index_plus_one)));
}

/* New values of parameters and states of all that have a gradient, unless it is `bad`: assigned, and
 * the parameters returned. */
static tarn_tensor update_all(const tarn_optimizer *o, tarn_tensor old, tarn_tensor *bad)
{
    tarn_replica *r = o->replica;
    struct update u = { .o = o, .slice = -1, .old = old };
    u.g = graph_handle(r, o->now.node);
    for (int i = 0; i < STATES_MOST && o->state[i]; i++)
        u.state[i] = before(r, o->state[i]);
    *bad = guard_not_finite(u.g);
    o->rule->update(&u);
    tarn_tensor stay = *bad;
    if (!count_all(o))
        stay = tarn_maximum(tarn_eq(count_mask(o), tarn_full(r, TARN_SCALAR, 0.0f)), *bad);
    const tarn_tensor now = tarn_where(stay, u.old, u.now);
    tarn_assign(owned_handle(r, o->flat), now);
    for (int i = 0; i < STATES_MOST && o->state[i]; i++)
        tarn_assign(owned_handle(r, o->state[i]), tarn_where(stay, u.state[i], u.state_now[i]));
    return now;
}

/* The same of one parameter, in its shape. */
static tarn_tensor update_one(const tarn_optimizer *o, uint32_t i, tarn_tensor old, tarn_tensor bad)
{
    tarn_replica *r = o->replica;
    const uint32_t p = o->slices[i] - 1, *states = o->states + STATES_MOST * i;
    struct update u = { .o = o, .slice = (int)i, .old = owned_slice(r, p, old.node) };
    u.g = owned_slice(r, p, o->now.node);
    for (int k = 0; k < STATES_MOST; k++)
        if (states[k])
            u.state[k] = before(r, states[k]);
    o->rule->update(&u);
    for (int k = 0; k < STATES_MOST; k++)
        if (states[k])
            tarn_assign(owned_handle(r, states[k]), tarn_where(bad, u.state[k], u.state_now[k]));
    return tarn_where(bad, u.old, u.now);
}

/* As update_all, parameter by parameter. */
static tarn_tensor update_each(const tarn_optimizer *o, tarn_tensor old, tarn_tensor *bad)
{
    tarn_replica *r = o->replica;
    *bad = guard_not_finite(graph_handle(r, o->now.node));
    tarn_tensor *pieces = calloc(2 * (size_t)o->slice_count + 1, sizeof *pieces);
    if (pieces == NULL)
        return graph_fail(r, TARN_ERR_MEMORY, "optimizer: out of host memory for its list");
    uint32_t count = 0;
    for (uint32_t i = 0; i < o->slice_count; i++) {
        const uint32_t p = o->slices[i] - 1;
        const tarn_shape shape = r->owned[p].shape;
        const int32_t n = (int32_t)tarn_shape_count(shape), gap = (int32_t)flat_extent(shape) - n;
        if (n == 0)
            continue;
        const tarn_tensor now =
            o->now.has[i] ? update_one(o, i, old, *bad) : owned_slice(r, p, old.node);
        pieces[count++] = op_reshape_to(now, TARN_SHAPE(n));
        if (gap)
            pieces[count++] = op_constant_of(r, TARN_SHAPE(gap), o->dtype, 0.0);
    }
    const tarn_tensor all = count ? op_join(pieces, count) : old;
    free(pieces);
    tarn_assign(owned_handle(r, o->flat), all);
    return all;
}

/* As update_all, of parameters that are apart: each where its state is, as that may be cut further. */
static tarn_tensor update_apart(const tarn_optimizer *o)
{
    tarn_replica *r = o->replica;
    const tarn_tensor bad = guard_any_not_finite(o);
    for (uint32_t i = 0; i < o->slice_count && r->status == TARN_OK; i++) {
        const uint32_t p = o->slices[i] - 1, *states = o->states + STATES_MOST * i;
        if (!o->now.has[i])
            continue;
        struct update u = { .o = o, .slice = (int)i, .old = before(r, p + 1) };
        u.g = graph_handle(r, r->owned[p].gathered);
        for (int k = 0; k < STATES_MOST; k++)
            if (states[k])
                u.state[k] = before(r, states[k]);
        const struct spec spec = flat_state_spec(o, i);
        if (memcmp(&spec, &r->owned[p].spec, sizeof spec) != 0) {
            u.g = op_shard_as(u.g, &spec);
            u.old = op_shard_as(u.old, &spec);
        }
        o->rule->update(&u);
        for (int k = 0; k < STATES_MOST; k++)
            if (states[k])
                tarn_assign(owned_handle(r, states[k]),
                            tarn_where(bad, u.state[k], u.state_now[k]));
        tarn_assign(owned_handle(r, p + 1), tarn_where(bad, u.old, u.now));
    }
    return bad;
}

static void record_update(tarn_optimizer *o)
{
    tarn_replica *r = o->replica;
    tarn_tensor bad;
    if (o->apart) {
        bad = update_apart(o);
        average_update_each(o, bad);
        count_step(o, bad);
        guard_count(o, bad);
        return;
    }
    const tarn_tensor old = before(r, o->flat);
    average_update(o, (o->states != NULL ? update_each : update_all)(o, old, &bad), bad);
    count_step(o, bad);
    guard_count(o, bad);
}

/* No gradient is left for another step. */
static void gradients_used(tarn_optimizer *o)
{
    tarn_replica *r = o->replica;
    o->now.any = o->now.summed = o->next.kept = o->next.summed = false;
    for (uint32_t i = 0; i < o->slice_count; i++) {
        o->now.has[i] = o->now.set[i] = o->next.has[i] = 0;
        r->owned[o->slices[i] - 1].used = true;
    }
}

void tarn_optimizer_backward(tarn_optimizer *o, tarn_tensor loss)
{
    if (o == NULL || (loss.replica != NULL && loss.replica != o->replica))
        graph_fail(loss.replica, TARN_ERR_ARGUMENT, "optimizer_backward: the optimizer is %s",
                   o == NULL ? "NULL" : "of another replica");
    else
        op_backward_into(loss, o->number);
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
    if (o->next.swapped) {
        replica_fail(r, TARN_ERR_STATE,
                     "optimizer_step: the averages stand where the parameters do; call "
                     "tarn_optimizer_swap_average() before");
        return;
    }
    if (!gradient_gather(o, true))
        return;
    record_update(o);
    gradients_used(o);
    o->next.steps++;
    r->updates = true;
}

void tarn_minimize(tarn_optimizer *o, tarn_tensor loss)
{
    tarn_optimizer_backward(o, loss);
    if (o != NULL)
        tarn_optimizer_step(o);
}
