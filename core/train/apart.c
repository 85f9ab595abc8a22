/* SPDX-License-Identifier: Apache-2.0 */
/* From flat storage to parameters and states that lie by themselves, where the states of some are to be cut. */
#include <stdlib.h>

#include "train/optimizer.h"

static bool is_flat(const tarn_optimizer *o, uint32_t index_plus_one)
{
    bool is = index_plus_one == o->flat || index_plus_one == o->averages;
    for (int k = 0; k < STATES_MOST; k++)
        is |= index_plus_one == o->state[k];
    return is && index_plus_one != 0;
}

/* What would keep a slice of flat storage: a value of this step, or what is kept for later ones. */
static tarn_status check(const tarn_optimizer *o)
{
    tarn_replica *r = o->replica;
    if (o->next.kept)
        return replica_fail(r, TARN_ERR_STATE,
                            "mark_state_sharding: gradients of earlier steps wait for a step; call "
                            "it where the optimizer is made");
    bool used = false;
    for (uint32_t i = 0; i < r->owned_count; i++)
        used |= r->owned[i].node != 0 && (is_flat(o, i + 1) || is_flat(o, r->owned[i].flat));
    return used ? replica_fail(r, TARN_ERR_STATE,
                               "mark_state_sharding: parameters were used in this step already; "
                               "call it before, or after tarn_step()")
                : TARN_OK;
}

/* The slices of what is flat, in order, go to every STATES_MOST-th or every place of a list. */
static tarn_status divide_one(tarn_replica *r, uint32_t *flat, uint32_t *list, uint32_t stride)
{
    uint32_t slice = 0;
    for (uint32_t i = 0; i < r->owned_count; i++) {
        if (r->owned[i].flat != *flat)
            continue;
        TRY(owned_cut(r, &r->owned[i], &r->owned[i].spec));
        list[stride * slice++] = i + 1;
    }
    owned_free_flat(r, *flat);
    *flat = 0;
    return TARN_OK;
}

/* False after recording an error: no memory. */
static bool has_lists(tarn_optimizer *o)
{
    if (o->states == NULL)
        o->states = calloc((size_t)o->slice_count * STATES_MOST, sizeof *o->states);
    if (o->averages != 0)
        o->average_of = calloc(o->slice_count, sizeof *o->average_of);
    if (o->states != NULL && (o->averages == 0 || o->average_of != NULL))
        return true;
    replica_fail(o->replica, TARN_ERR_MEMORY, "optimizer: out of host memory for its states");
    return false;
}

tarn_status flat_divide(tarn_optimizer *o)
{
    tarn_replica *r = o->replica;
    if (o->apart)
        return TARN_OK;
    TRY(check(o));
    if (!has_lists(o))
        return r->status;
    for (int k = 0; k < STATES_MOST; k++)
        if (o->state[k] != 0)
            TRY(divide_one(r, &o->state[k], o->states + k, STATES_MOST));
    if (o->averages != 0)
        TRY(divide_one(r, &o->averages, o->average_of, 1));
    for (uint32_t i = 0; i < o->slice_count; i++) {
        struct owned *p = &r->owned[o->slices[i] - 1];
        TRY(owned_cut(r, p, &p->spec));
    }
    uint32_t *const flat[] = { &o->flat, &o->kept, &o->factors, &o->decays };
    for (size_t i = 0; i < sizeof flat / sizeof flat[0]; i++) {
        owned_free_flat(r, *flat[i]);
        *flat[i] = 0;
    }
    o->various_factors = o->various_decays = false;
    o->apart = true;
    return TARN_OK;
}
