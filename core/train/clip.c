/* SPDX-License-Identifier: Apache-2.0 */
/* Clipping by the joint norm of all gradients, of all replicas. */
#include <math.h>

#include "train/optimizer.h"

/* Whether each parameter's gradient is all that there is: none was kept by earlier steps, or is
 * to be summed over replicas. */
static bool is_apart(const tarn_replica *r)
{
    const tarn_optimizer *o = r->optimizer;
    const bool alone = r->peers == NULL || (r->peers->world == 1 && r->peers->shards == 0);
    return alone && !(o != NULL && o->now.any);
}

/* Gathers the gradients of all replicas now, since only their norm is the norm. */
static bool gather_early(tarn_replica *r)
{
    tarn_optimizer *o = r->optimizer;
    if (o == NULL) {
        replica_fail(r, TARN_ERR_STATE,
                     "clip_grad_norm: on several devices the optimizer must be made before");
        return false;
    }
    if (!gradient_gather(o, true))
        return false;
    for (uint32_t i = 0; i < o->slice_count; i++) {
        const uint32_t p = o->slices[i] - 1;
        r->owned[p].gathered = o->now.has[i] ? owned_slice(r, p, o->now.node).node : 0;
        r->owned[p].used = false;
    }
    return r->status == TARN_OK;
}

/* Where the node of a parameter's gradient stands; NULL: it has none. */
static uint32_t *gradient_of(tarn_replica *r, uint32_t owned, bool apart)
{
    struct owned *p = &r->owned[owned];
    uint32_t *node = apart ? &p->grad : &p->gathered;
    return p->kind == OWNED_PARAMETER && *node ? node : NULL;
}

static tarn_tensor sum_of_squares(tarn_replica *r, bool apart)
{
    tarn_tensor squares = TARN_NONE;
    for (uint32_t i = 0; i < r->owned_count; i++) {
        const uint32_t *node = gradient_of(r, i, apart);
        if (node == NULL)
            continue;
        const tarn_tensor g = graph_handle(r, *node);
        const tarn_tensor sum = tarn_sum(tarn_mul(g, g), TARN_ALL, false);
        squares = squares.replica != NULL ? tarn_add(squares, sum) : sum;
    }
    return squares;
}

static void scale_gradients(tarn_replica *r, tarn_tensor scale, bool apart)
{
    for (uint32_t i = 0; i < r->owned_count; i++) {
        const uint32_t *node = gradient_of(r, i, apart);
        if (node == NULL)
            continue;
        const uint32_t scaled = tarn_mul(graph_handle(r, *node), scale).node;
        *gradient_of(r, i, apart) = scaled;
    }
    if (!apart)
        r->optimizer->now.node = tarn_mul(graph_handle(r, r->optimizer->now.node), scale).node;
}

tarn_tensor tarn_clip_grad_norm(tarn_replica *r, float max_norm)
{
    if (r == NULL || !(max_norm >= 0.0f))
        return graph_fail(
            r, TARN_ERR_ARGUMENT,
            "clip_grad_norm: max_norm is %g, must be at least 0; INFINITY measures only",
            (double)max_norm);
    if (r->status != TARN_OK)
        return graph_poison(r);
    const bool apart = is_apart(r);
    if (!apart && !gather_early(r))
        return graph_poison(r);
    const tarn_tensor squares = sum_of_squares(r, apart);
    if (squares.replica == NULL)
        return graph_fail(
            r, TARN_ERR_STATE,
            "clip_grad_norm: no parameter has a gradient; call tarn_backward() first");
    const tarn_tensor norm = tarn_sqrt(squares);
    if (isinf(max_norm))
        return norm;
    const tarn_tensor ratio =
        tarn_div(tarn_full(r, TARN_SCALAR, max_norm), tarn_add_scalar(norm, 1e-6f));
    const tarn_tensor scale = tarn_minimum(ratio, tarn_full(r, TARN_SCALAR, 1.0f));
    scale_gradients(r, scale, apart);
    return norm;
}
