/* SPDX-License-Identifier: Apache-2.0 */
/* Clipping by the joint norm of all gradients, of all replicas. */
#include <math.h>

#include "op/op.h"
#include "train/optimizer.h"

/* Sums the gradients of all replicas now, since only their norm is the norm. */
static bool reduce_early(tarn_replica *r)
{
    const tarn_optimizer *o = r->optimizer;
    bool all;
    const bool alone = !r->peers || r->peers->world == 1;
    if (r->flat_gradient || (alone && !(o && o->accumulated)))
        return true;
    if (!o) {
        replica_fail(r, TARN_ERR_STATE,
                     "clip_grad_norm: on several devices the optimizer must be made before");
        return false;
    }
    if (!gradient_check(o, &all))
        return false;
    r->flat_gradient = gradient_flat(o).node;
    for (uint32_t i = 0; i < o->slice_count; i++) {
        const uint32_t p = o->slices[i] - 1;
        if (r->owned[p].grad)
            r->owned[p].grad = owned_slice(r, p, r->flat_gradient).node;
    }
    return r->status == TARN_OK;
}

tarn_tensor tarn_clip_grad_norm(tarn_replica *r, float max_norm)
{
    if (!optimizer_range(r, "max_norm", max_norm, 0.0f, INFINITY) || !reduce_early(r))
        return graph_poison(r);
    tarn_tensor squares = TARN_NONE;
    for (uint32_t i = 0; i < r->owned_count; i++) {
        if (r->owned[i].kind != OWNED_PARAMETER || !r->owned[i].grad)
            continue;
        const tarn_tensor g = graph_handle(r, r->owned[i].grad);
        const tarn_tensor sum = tarn_sum(tarn_mul(g, g), TARN_ALL, false);
        squares = squares.replica ? tarn_add(squares, sum) : sum;
    }
    if (!squares.replica)
        return graph_fail(
            r, TARN_ERR_STATE,
            "clip_grad_norm: no parameter has a gradient; call tarn_backward() first");
    const tarn_tensor norm = tarn_sqrt(squares);
    const tarn_tensor ratio =
        tarn_div(tarn_full(r, TARN_SCALAR, max_norm), tarn_add_scalar(norm, 1e-6f));
    const tarn_tensor scale = tarn_minimum(ratio, tarn_full(r, TARN_SCALAR, 1.0f));
    for (uint32_t i = 0; i < r->owned_count; i++) {
        if (r->owned[i].kind != OWNED_PARAMETER || !r->owned[i].grad)
            continue;
        const tarn_tensor g = tarn_mul(graph_handle(r, r->owned[i].grad), scale);
        r->owned[i].grad = g.node;
    }
    if (r->flat_gradient)
        r->flat_gradient = tarn_mul(graph_handle(r, r->flat_gradient), scale).node;
    return norm;
}
