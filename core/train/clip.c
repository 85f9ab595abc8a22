/* SPDX-License-Identifier: Apache-2.0 */
/* Clipping by the joint norm of gradients, of all replicas: of one optimizer, or of all; and each by itself. */
#include <math.h>

#include "op/op.h"
#include "train/optimizer.h"

/* Whose gradients are meant, and where they lie. */
struct reach {
    tarn_replica *r;
    const char *name;           /* of the function */
    const tarn_optimizer *only; /* NULL: all */
    bool
        apart; /* each parameter's gradient is all that there is: none was kept by earlier steps, or
                   is to be summed over replicas */
};

static bool reaches(const struct reach *reach, const tarn_optimizer *o)
{
    return reach->only == NULL || reach->only == o;
}

/* Where the node of a parameter's gradient stands; NULL: it has none, or is not meant. */
static uint32_t *gradient_of(const struct reach *reach, uint32_t owned)
{
    struct owned *p = &reach->r->owned[owned];
    uint32_t *node = reach->apart ? &p->grad : &p->gathered;
    const bool meant = reach->only == NULL ? p->optimizer || reach->r->optimizer == NULL
                                           : p->optimizer == reach->only->number;
    return p->kind == OWNED_PARAMETER && meant && *node && (reach->apart || !p->used) ? node : NULL;
}

static tarn_tensor sum_of_squares(const struct reach *reach)
{
    tarn_tensor squares = TARN_NONE;
    for (uint32_t i = 0; i < reach->r->owned_count; i++) {
        const uint32_t *node = gradient_of(reach, i);
        if (node == NULL)
            continue;
        const tarn_tensor g = graph_handle(reach->r, *node);
        const tarn_tensor sum = tarn_sum(tarn_mul(g, g), TARN_ALL, false);
        squares = squares.replica != NULL ? tarn_add(squares, sum) : sum;
    }
    return squares;
}

/* A gradient times `scale`; without one each element from -limit to limit. */
static tarn_tensor clipped(tarn_tensor g, tarn_tensor scale, double limit)
{
    if (scale.replica != NULL)
        return tarn_mul(g, scale);
    const tarn_tensor most = op_constant_of(g.replica, TARN_SCALAR, tarn_dtype_get(g), limit);
    return tarn_maximum(tarn_minimum(g, most), tarn_neg(most));
}

static void clip_gradients(const struct reach *reach, tarn_tensor scale, double limit)
{
    tarn_replica *r = reach->r;
    for (uint32_t i = 0; i < r->owned_count; i++) {
        const uint32_t *node = gradient_of(reach, i);
        if (node == NULL)
            continue;
        const tarn_tensor g = graph_handle(r, *node);
        const uint32_t now = tarn_cast(clipped(g, scale, limit), tarn_dtype_get(g)).node;
        *gradient_of(reach, i) = now;
    }
    for (tarn_optimizer *o = r->optimizer; o != NULL && !reach->apart; o = o->next_one)
        if (reaches(reach, o) && o->now.any && !o->apart)
            o->now.node = clipped(graph_handle(r, o->now.node), scale, limit).node;
}

/* False after recording an error. */
static bool reach_begin(struct reach *reach)
{
    reach->apart = gradient_is_complete(reach->r, reach->only);
    return reach->apart || gradient_gather_all(reach->r, reach->only, reach->name);
}

static tarn_tensor no_gradient(const struct reach *reach)
{
    return graph_fail(reach->r, TARN_ERR_STATE,
                      "%s: no parameter has a gradient; call tarn_backward() first", reach->name);
}

static tarn_tensor clip(tarn_replica *r, const tarn_optimizer *only, float max_norm)
{
    if (r == NULL || !(max_norm >= 0.0f))
        return graph_fail(
            r, TARN_ERR_ARGUMENT,
            "clip_grad_norm: max_norm is %g, must be at least 0; INFINITY measures only",
            (double)max_norm);
    if (r->status != TARN_OK)
        return graph_poison(r);
    struct reach reach = { .r = r, .name = "clip_grad_norm", .only = only };
    if (!reach_begin(&reach))
        return graph_poison(r);
    const tarn_tensor squares = sum_of_squares(&reach);
    if (squares.replica == NULL)
        return no_gradient(&reach);
    const tarn_tensor norm = tarn_sqrt(squares);
    if (isinf(max_norm))
        return norm;
    const tarn_dtype dtype = tarn_dtype_get(norm);
    const tarn_tensor most = op_constant_of(r, TARN_SCALAR, dtype, op_meant(max_norm));
    const tarn_tensor ratio =
        tarn_div(most, tarn_add(norm, op_constant_of(r, TARN_SCALAR, dtype, 1e-6)));
    const tarn_tensor scale = tarn_minimum(ratio, tarn_full(r, TARN_SCALAR, 1.0f));
    clip_gradients(&reach, scale, 0);
    return norm;
}

tarn_tensor tarn_clip_grad_norm(tarn_replica *r, float max_norm)
{
    return clip(r, NULL, max_norm);
}

tarn_tensor tarn_optimizer_clip_grad_norm(tarn_optimizer *o, float max_norm)
{
    if (o == NULL)
        return graph_fail(NULL, TARN_ERR_ARGUMENT,
                          "optimizer_clip_grad_norm: the optimizer is NULL");
    return clip(o->replica, o, max_norm);
}

static bool any_gradient(const struct reach *reach)
{
    bool any = false;
    for (uint32_t i = 0; i < reach->r->owned_count; i++)
        any |= gradient_of(reach, i) != NULL;
    return any;
}

void tarn_clip_grad_value(tarn_replica *r, float limit)
{
    struct reach reach = { .r = r, .name = "clip_grad_value" };
    if (r == NULL || !(limit >= 0.0f))
        graph_fail(r, TARN_ERR_ARGUMENT, "clip_grad_value: limit is %g, must be at least 0",
                   (double)limit);
    else if (r->status == TARN_OK && reach_begin(&reach)) {
        if (!any_gradient(&reach))
            no_gradient(&reach);
        else
            clip_gradients(&reach, TARN_NONE, op_meant(limit));
    }
}
