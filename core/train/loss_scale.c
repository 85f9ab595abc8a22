/* SPDX-License-Identifier: Apache-2.0 */
/* A scale of the loss that follows what float16 holds. autograd.c multiplies and divides by it; here it is made and
 * changed, by the device: no step waits for it. */
#include <math.h>
#include <string.h>

#include "op/op.h"
#include "train/optimizer.h"

#define LARGEST 0x1p64f /* float32 holds it times what a gradient comes to */

static bool options_fit(tarn_replica *r, const tarn_loss_scale_options *o)
{
    const bool fits = isfinite(o->initial) && o->initial > 0.0f && o->initial <= LARGEST &&
                      isfinite(o->growth) && o->growth >= 1.0f && o->backoff > 0.0f &&
                      o->backoff < 1.0f && o->interval > 0;
    if (!fits)
        replica_fail(r, TARN_ERR_ARGUMENT,
                     "loss_scale: initial %g, growth %g, backoff %g, interval %d: must be above 0 "
                     "and at most "
                     "2^64, at least 1, between 0 and 1, and at least 1",
                     (double)o->initial, (double)o->growth, (double)o->backoff, o->interval);
    return fits;
}

tarn_status tarn_loss_scale(tarn_replica *r, tarn_loss_scale_options o)
{
    if (r == NULL)
        return error_set(TARN_ERR_ARGUMENT, "loss_scale: the replica is NULL");
    if (r->status != TARN_OK)
        return r->status;
    o.initial = o.initial != 0.0f ? o.initial : 65536.0f;
    o.growth = o.growth != 0.0f ? o.growth : 2.0f;
    o.backoff = o.backoff != 0.0f ? o.backoff : 0.5f;
    o.interval = o.interval != 0 ? o.interval : 2000;
    if (r->loss_scale.scale)
        return replica_fail(r, TARN_ERR_STATE, "loss_scale: the loss has a scale already");
    if (!options_fit(r, &o))
        return r->status;
    const int32_t zero = 0;
    r->loss_scale.scale =
        owned_add(r, OWNED_STATE, "optimizer.loss_scale", TARN_SCALAR, TARN_F32, &o.initial);
    r->loss_scale.good =
        owned_add(r, OWNED_STATE, "optimizer.loss_scale.good_steps", TARN_SCALAR, TARN_I32, &zero);
    r->loss_scale.skipped = owned_add(r, OWNED_STATE, "optimizer.loss_scale.skipped_steps",
                                      TARN_SCALAR, TARN_I32, &zero);
    r->loss_scale.growth = o.growth;
    r->loss_scale.backoff = o.backoff;
    r->loss_scale.interval = o.interval;
    if (r->status != TARN_OK)
        r->loss_scale.scale = 0;
    return r->status;
}

tarn_tensor loss_scale_update(tarn_replica *r, tarn_tensor bad)
{
    if (!r->loss_scale.scale)
        return bad;
    const tarn_tensor scale = owned_handle(r, r->loss_scale.scale);
    const tarn_tensor good = owned_handle(r, r->loss_scale.good);
    const tarn_tensor skipped = owned_handle(r, r->loss_scale.skipped);
    const tarn_tensor zero = op_whole(r, 0);
    const tarn_tensor every = op_whole(r, r->loss_scale.interval);
    const tarn_tensor now = graph_value(scale);
    const tarn_tensor more = tarn_add_scalar(good, 1.0f), grows = tarn_ge(more, every);
    const tarn_tensor larger = tarn_minimum(tarn_mul_scalar(now, r->loss_scale.growth),
                                            tarn_full(r, TARN_SCALAR, LARGEST));
    const tarn_tensor stays = tarn_where(grows, larger, now);
    tarn_assign(scale, tarn_where(bad, tarn_mul_scalar(now, r->loss_scale.backoff), stays));
    tarn_assign(good, tarn_where(bad, zero, tarn_where(grows, zero, more)));
    tarn_assign(skipped, tarn_add(skipped, tarn_cast(bad, TARN_I32)));
    /* What no smaller scale mends. */
    return tarn_mul(bad, tarn_le(now, tarn_full(r, TARN_SCALAR, 1.0f)));
}

tarn_status loss_scale_look(tarn_replica *r)
{
    int32_t skipped = 0;
    if (!r->loss_scale.skipped)
        return TARN_OK;
    TRY(owned_read(r, &r->owned[r->loss_scale.skipped - 1], &skipped));
    r->metrics.skipped_steps = (uint64_t)(skipped > 0 ? skipped : 0);
    return TARN_OK;
}

float tarn_loss_scale_now(tarn_replica *r)
{
    float scale = 1.0f;
    if (r == NULL || r->status != TARN_OK)
        return NAN;
    if (!r->loss_scale.scale)
        return scale;
    const tarn_status s = owned_read(r, &r->owned[r->loss_scale.scale - 1], &scale);
    return s == TARN_OK ? scale : (replica_fail(r, s, NULL), NAN);
}
