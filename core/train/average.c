/* SPDX-License-Identifier: Apache-2.0 */
/* Exponential moving averages of an optimizer's parameters: flat, as state that is saved, and part of
 * its step. */
#include <stdlib.h>

#include "train/optimizer.h"

void average_update(const tarn_optimizer *o, tarn_tensor now, tarn_tensor bad)
{
    tarn_replica *r = o->replica;
    if (o->averages == 0)
        return;
    const tarn_tensor whole = owned_handle(r, o->averages);
    const tarn_tensor old = graph_handle(r, graph_resolve(whole));
    const float rest = (float)(1.0 - rule_meant(o->average_decay));
    const tarn_tensor next = tarn_add(old, tarn_mul_scalar(tarn_sub(now, old), rest));
    tarn_assign(whole, tarn_where(bad, old, next));
}

tarn_status average_begin(const tarn_optimizer *o)
{
    tarn_replica *r = o->replica;
    if (o->averages == 0)
        return TARN_OK;
    float *data = malloc(((size_t)o->total + 1) * sizeof *data);
    if (data == NULL)
        return replica_fail(r, TARN_ERR_MEMORY, "optimizer: out of host memory for %d averages",
                            o->total);
    tarn_status s = owned_read(r, &r->owned[o->flat - 1], data);
    if (s == TARN_OK)
        s = owned_write(r, &r->owned[o->averages - 1], data);
    free(data);
    return s;
}

void tarn_optimizer_average(tarn_optimizer *o, float decay)
{
    if (o == NULL) {
        error_set(TARN_ERR_ARGUMENT, "optimizer_average: the optimizer is NULL");
        return;
    }
    tarn_replica *r = o->replica;
    if (r->status != TARN_OK || !optimizer_range(r, "the averages' decay", decay, 0.0f, 1.0f) ||
        !flat_is_there(o, "optimizer_average"))
        return;
    if (r->owned[o->flat - 1].value != 0) {
        replica_fail(r, TARN_ERR_STATE,
                     "optimizer_average: parameters were assigned in this step; call tarn_step() "
                     "before");
        return;
    }
    o->average_decay = decay;
    if (o->averages != 0)
        return;
    o->averages = flat_add_state(o, "average");
    if (o->averages == 0 || average_begin(o) != TARN_OK)
        return; /* the replica has the line */
}

void tarn_optimizer_swap_average(tarn_optimizer *o)
{
    if (o == NULL || o->averages == 0) {
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
    const tarn_tensor parameters = owned_handle(r, o->flat),
                      averages = owned_handle(r, o->averages);
    const tarn_tensor was = graph_handle(r, graph_resolve(parameters));
    tarn_assign(parameters, graph_handle(r, graph_resolve(averages)));
    tarn_assign(averages, was);
    o->next.swapped = !o->next.swapped;
}
