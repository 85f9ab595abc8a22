/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients that are added up over steps before an update, and what of a step counts after it. */
#include <stdlib.h>
#include <string.h>

#include "train/optimizer.h"

void record_copy(const tarn_optimizer *o, struct record *to, const struct record *from)
{
    to->steps = from->steps;
    to->kept = from->kept;
    to->summed = from->summed;
    to->swapped = from->swapped;
    memcpy(to->has, from->has, o->slice_count * sizeof *to->has);
    memcpy(to->group, from->group, o->slice_count * sizeof *to->group);
}

static bool has_storage(tarn_optimizer *o)
{
    tarn_replica *r = o->replica;
    if (o->kept)
        return true;
    void *zeros = calloc((size_t)o->total + 1, tarn_dtype_bytes(o->dtype));
    if (zeros != NULL)
        o->kept = owned_add(r, OWNED_KEPT, NULL, TARN_SHAPE(o->total), o->dtype, zeros);
    else
        replica_fail(r, TARN_ERR_MEMORY, "optimizer_accumulate: out of host memory");
    free(zeros);
    return o->kept != 0;
}

/* The same of a parameter that is apart. */
static bool has_storage_of(tarn_optimizer *o, uint32_t i)
{
    tarn_replica *r = o->replica;
    if (o->kept_of == NULL)
        o->kept_of = calloc(o->slice_count, sizeof *o->kept_of);
    if (o->kept_of != NULL && o->kept_of[i] != 0)
        return true;
    const tarn_shape shape = r->owned[o->slices[i] - 1].shape;
    const struct spec spec = flat_state_spec(o, i);
    void *zeros = calloc((size_t)tarn_shape_count(shape) + 1, tarn_dtype_bytes(o->dtype));
    if (o->kept_of != NULL && zeros != NULL)
        o->kept_of[i] = owned_add_cut(r, OWNED_KEPT, NULL, shape, o->dtype, zeros, &spec);
    else
        replica_fail(r, TARN_ERR_MEMORY, "optimizer_accumulate: out of host memory");
    free(zeros);
    return o->kept_of != NULL && o->kept_of[i] != 0;
}

static bool keep(tarn_optimizer *o)
{
    tarn_replica *r = o->replica;
    if (!o->apart) {
        if (has_storage(o))
            tarn_assign(owned_handle(r, o->kept), graph_handle(r, o->now.node));
        return r->status == TARN_OK;
    }
    for (uint32_t i = 0; i < o->slice_count && r->status == TARN_OK; i++)
        if (o->now.has[i] && has_storage_of(o, i))
            tarn_assign(owned_handle(r, o->kept_of[i]),
                        graph_handle(r, r->owned[o->slices[i] - 1].gathered));
    return r->status == TARN_OK;
}

void tarn_optimizer_accumulate(tarn_optimizer *o)
{
    if (o == NULL) {
        error_set(TARN_ERR_ARGUMENT, "optimizer_accumulate: the optimizer is NULL");
        return;
    }
    tarn_replica *r = o->replica;
    /* Virtual shards: sums of one step and of several would else meet in an order that depends on
     * the number of devices. */
    const bool sum = r->peers != NULL && r->peers->shards > 0;
    if (r->status != TARN_OK || !gradient_gather(o, sum) || !keep(o))
        return;
    o->next.kept = true;
    o->next.summed = o->now.summed;
    memcpy(o->next.has, o->now.has, o->slice_count * sizeof *o->next.has);
}
