/* SPDX-License-Identifier: Apache-2.0 */
/* The guard: a step whose gradient is not finite changes nothing, and is reported later. */
#include <float.h>

#include "op/op.h"
#include "train/optimizer.h"

static tarn_tensor count_not_finite(tarn_tensor g)
{
    tarn_replica *r = g.replica;
    const tarn_dtype dtype = dtype_single(tarn_dtype_get(g));
    const double most = dtype == TARN_F64 ? DBL_MAX : (double)FLT_MAX;
    const tarn_tensor fine = tarn_le(tarn_abs(g), op_constant_of(r, TARN_SCALAR, dtype, most));
    const tarn_tensor ones =
        tarn_where(fine, tarn_full(r, TARN_SCALAR, 0.0f), tarn_full(r, TARN_SCALAR, 1.0f));
    return tarn_sum(ones, TARN_ALL, false);
}

tarn_tensor guard_not_finite(tarn_tensor g)
{
    return tarn_gt(count_not_finite(g), tarn_full(g.replica, TARN_SCALAR, 0.0f));
}

tarn_tensor guard_any_not_finite(const tarn_optimizer *o)
{
    tarn_replica *r = o->replica;
    tarn_tensor count = TARN_NONE;
    for (uint32_t i = 0; i < o->slice_count; i++) {
        if (!o->now.has[i])
            continue;
        const tarn_tensor more =
            count_not_finite(graph_handle(r, r->owned[o->slices[i] - 1].gathered));
        count = count.replica != NULL ? tarn_add(count, more) : more;
    }
    return tarn_gt(count, tarn_full(r, TARN_SCALAR, 0.0f));
}

void guard_count(const tarn_optimizer *o, tarn_tensor bad)
{
    tarn_replica *r = o->replica;
    const tarn_tensor zero = op_whole(r, 0);
    const tarn_tensor one = op_whole(r, 1);
    const tarn_tensor step = owned_handle(r, o->step), flag = owned_handle(r, o->flag);
    const tarn_tensor next = tarn_add(step, one);
    const tarn_tensor first = tarn_where(loss_scale_update(r, bad), next, zero);
    tarn_assign(flag, tarn_where(tarn_ne(flag, zero), flag, first));
    tarn_assign(step, tarn_where(bad, step, next));
}

tarn_status guard_check(const tarn_optimizer *o)
{
    tarn_replica *r = o->replica;
    int32_t step = 0;
    TRY(owned_read(r, &r->owned[o->flag - 1], &step));
    if (step == 0)
        return TARN_OK;
    const int32_t zero = 0;
    TRY(owned_write(r, &r->owned[o->flag - 1], &zero));
    return replica_fail(
        r, TARN_ERR_NOT_FINITE,
        "optimizer: the gradient of optimizer step %d holds a NaN or an infinity; "
        "such steps changed no parameter; lower the learning rate, or use "
        "tarn_clip_grad_norm(); TARN_DEBUG=nan names the operation that it began in",
        step);
}
