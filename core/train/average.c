/* SPDX-License-Identifier: Apache-2.0 */
/* Exponential moving averages of an optimizer's parameters: state that is saved, and part of its step; flat, or
 * one by one where the parameters are. */
#include <stdlib.h>

#include "op/op.h"
#include "train/optimizer.h"

static bool any_averages(const tarn_optimizer *o)
{
    return o->averages != 0 || o->average_of != NULL;
}

/* Pairs of parameters and averages: one where they are flat. */
static uint32_t pairs(const tarn_optimizer *o)
{
    return o->apart ? o->slice_count : 1;
}

/* The owned tensors of pair i: index + 1. */
static uint32_t parameter_of(const tarn_optimizer *o, uint32_t i)
{
    return o->apart ? o->slices[i] : o->flat;
}

static uint32_t average_of(const tarn_optimizer *o, uint32_t i)
{
    return o->apart ? o->average_of[i] : o->averages;
}

static tarn_tensor value_of(tarn_replica *r, uint32_t index_plus_one)
{
    return graph_handle(r, graph_resolve(owned_handle(r, index_plus_one)));
}

static void update_one(const tarn_optimizer *o, uint32_t average, tarn_tensor now, tarn_tensor bad)
{
    tarn_replica *r = o->replica;
    const tarn_tensor old = value_of(r, average);
    const double rest = 1.0 - op_meant(o->average_decay);
    const tarn_tensor next = tarn_add(old, tarn_mul_scalar(tarn_sub(now, old), rest));
    tarn_assign(owned_handle(r, average), tarn_where(bad, old, next));
}

void average_update(const tarn_optimizer *o, tarn_tensor now, tarn_tensor bad)
{
    if (o->averages != 0)
        update_one(o, o->averages, now, bad);
}

void average_update_each(const tarn_optimizer *o, tarn_tensor bad)
{
    for (uint32_t i = 0; o->average_of != NULL && i < o->slice_count; i++)
        update_one(o, o->average_of[i], value_of(o->replica, o->slices[i]), bad);
}

static tarn_status begin_one(tarn_replica *r, const struct owned *from, const struct owned *to)
{
    void *data = malloc(owned_bytes(from) + 1);
    if (data == NULL)
        return replica_fail(r, TARN_ERR_MEMORY, "optimizer: out of host memory for %lld averages",
                            (long long)tarn_shape_count(from->shape));
    tarn_status s = owned_read(r, from, data);
    if (s == TARN_OK)
        s = owned_write(r, to, data);
    free(data);
    return s;
}

tarn_status average_begin(const tarn_optimizer *o)
{
    tarn_replica *r = o->replica;
    for (uint32_t i = 0; any_averages(o) && i < pairs(o); i++)
        TRY(begin_one(r, &r->owned[parameter_of(o, i) - 1], &r->owned[average_of(o, i) - 1]));
    return TARN_OK;
}

static bool any_assigned(const tarn_optimizer *o)
{
    bool any = false;
    for (uint32_t i = 0; i < pairs(o); i++)
        any |= o->replica->owned[parameter_of(o, i) - 1].value != 0;
    return any;
}

void tarn_optimizer_average(tarn_optimizer *o, float decay)
{
    if (o == NULL) {
        error_set(TARN_ERR_ARGUMENT, "optimizer_average: the optimizer is NULL");
        return;
    }
    tarn_replica *r = o->replica;
    if (r->status != TARN_OK || !optimizer_range(r, "the averages' decay", decay, 0.0f, 1.0f))
        return;
    if (any_assigned(o)) {
        replica_fail(r, TARN_ERR_STATE,
                     "optimizer_average: parameters were assigned in this step; call tarn_step() "
                     "before");
        return;
    }
    o->average_decay = decay;
    if (any_averages(o))
        return;
    bool added;
    if (o->apart)
        added = flat_add_each(o, "average", &o->average_of);
    else
        added = (o->averages = flat_add_state(o, "average")) != 0;
    if (!added || average_begin(o) != TARN_OK)
        return; /* the replica has the line */
}

void tarn_optimizer_swap_average(tarn_optimizer *o)
{
    if (o == NULL || !any_averages(o)) {
        if (o == NULL)
            error_set(TARN_ERR_ARGUMENT, "optimizer_swap_average: the optimizer is NULL");
        else
            replica_fail(o->replica, TARN_ERR_STATE,
                         "optimizer_swap_average: there are no averages; call "
                         "tarn_optimizer_average() first");
        return;
    }
    tarn_replica *r = o->replica;
    if (r->status != TARN_OK)
        return;
    for (uint32_t i = 0; i < pairs(o); i++) {
        const uint32_t parameter = parameter_of(o, i), average = average_of(o, i);
        const tarn_tensor was = value_of(r, parameter);
        tarn_assign(owned_handle(r, parameter), value_of(r, average));
        tarn_assign(owned_handle(r, average), was);
    }
    o->next.swapped = !o->next.swapped;
}
