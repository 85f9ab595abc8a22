/* SPDX-License-Identifier: Apache-2.0 */
/* What the optimizers of a replica do together, for those below that know none: struct trainer. */
#include <string.h>

#include "train/optimizer.h"

static void commit(tarn_replica *r)
{
    for (tarn_optimizer *o = r->optimizer; o != NULL; o = o->next_one)
        record_copy(o, &o->marked, &o->next);
}

static bool gathered(const tarn_replica *r)
{
    bool any = false;
    for (const tarn_optimizer *o = r->optimizer; o != NULL; o = o->next_one)
        any |= o->gathered;
    return any;
}

static void reset(tarn_replica *r)
{
    for (tarn_optimizer *o = r->optimizer; o != NULL; o = o->next_one) {
        record_copy(o, &o->next, &o->marked);
        o->now.any = o->marked.kept;
        o->now.summed = o->marked.summed;
        o->now.node = 0;
        memcpy(o->now.has, o->marked.has, o->slice_count * sizeof *o->now.has);
        memset(o->now.set, 0, o->slice_count);
        o->exchanged = o->gathered = false;
    }
}

static void forget(tarn_replica *r)
{
    for (tarn_optimizer *o = r->optimizer; o != NULL; o = o->next_one) {
        o->marked.kept = o->marked.summed = o->marked.swapped = false;
        memset(o->marked.has, 0, o->slice_count * sizeof *o->marked.has);
    }
    reset(r);
}

tarn_status optimizer_check(tarn_replica *r)
{
    for (const tarn_optimizer *o = r->optimizer; o != NULL; o = o->next_one)
        TRY(guard_check(o));
    return loss_scale_look(r);
}

static tarn_status reload(tarn_replica *r, bool state)
{
    for (tarn_optimizer *o = r->optimizer; o != NULL; o = o->next_one)
        TRY(state ? count_reload(o) : average_begin(o));
    return TARN_OK;
}

const struct trainer optimizer_trainer = {
    .gathered = gathered,
    .commit = commit,
    .reset = reset,
    .check = optimizer_check,
    .reload = reload,
    .cut = flat_cut_states,
    .forget = forget,
};
