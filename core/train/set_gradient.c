/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients of the program's own, in place of those that backward left. */
#include "op/op.h"
#include "tensor/shape.h"
#include "tensor/spread.h"
#include "train/optimizer.h"

/* Whether what backward leaves is the gradient of all replicas already. */
static bool is_whole(const tarn_replica *r)
{
    const struct peers *peers = r->peers;
    return replica_mesh(r) != NULL || peers == NULL || (peers->world == 1 && peers->shards == 0);
}

bool gradient_is_complete(const tarn_replica *r, const tarn_optimizer *only)
{
    bool earlier = false;
    for (const tarn_optimizer *o = r->optimizer; o != NULL; o = o->next_one)
        earlier |= (only == NULL || only == o) && o->now.any;
    return is_whole(r) && !earlier;
}

/* Each parameter's gradient is the slice of it that the flat one has. */
static void point_at_slices(const tarn_optimizer *o)
{
    tarn_replica *r = o->replica;
    for (uint32_t i = 0; i < o->slice_count && !o->apart; i++) {
        const uint32_t p = o->slices[i] - 1;
        r->owned[p].gathered = o->now.has[i] ? owned_slice(r, p, o->now.node).node : 0;
        r->owned[p].used = false;
    }
}

bool gradient_gather_all(tarn_replica *r, const tarn_optimizer *only, const char *name)
{
    if (r->optimizer == NULL)
        replica_fail(r, TARN_ERR_STATE, "%s: on several devices the optimizer must be made before",
                     name);
    for (tarn_optimizer *o = r->optimizer; o != NULL && r->status == TARN_OK; o = o->next_one)
        if ((only == NULL || only == o) && gradient_is_there(o) && gradient_gather(o, true))
            point_at_slices(o);
    return r->status == TARN_OK;
}

void tarn_reduce_grads(tarn_replica *r)
{
    if (r == NULL)
        graph_fail(NULL, TARN_ERR_ARGUMENT, "reduce_grads: the replica is NULL");
    else if (r->status == TARN_OK && !gradient_is_complete(r, NULL))
        (void)gradient_gather_all(r, NULL, "reduce_grads");
}

/* Whether `gradient` may be that of a parameter; false after recording an error. */
static bool check(tarn_replica *r, const struct owned *p, tarn_tensor gradient)
{
    if (p == NULL || p->kind != OWNED_PARAMETER) {
        graph_fail(r, TARN_ERR_ARGUMENT, "set_grad: the first tensor is no parameter");
        return false;
    }
    if (!graph_operand(r, gradient, "set_grad", 1))
        return false;
    const tarn_shape shape = tarn_shape_get(gradient);
    const tarn_dtype dtype = tarn_dtype_get(gradient);
    if (!shape_equal(shape, p->shape) || dtype != p->dtype)
        graph_fail(r, dtype == p->dtype ? TARN_ERR_SHAPE : TARN_ERR_DTYPE,
                   "set_grad: parameter %s is %s %s, the gradient %s %s", p->name,
                   tarn_dtype_name(p->dtype), shape_text(p->shape), tarn_dtype_name(dtype),
                   shape_text(shape));
    else if (p->frozen)
        graph_fail(r, TARN_ERR_STATE, "set_grad: parameter %s is frozen (tarn_freeze)", p->name);
    else if (!is_whole(r) && p->optimizer == 0)
        graph_fail(
            r, TARN_ERR_STATE,
            "set_grad: parameter %s has no optimizer; on several devices it must be made before",
            p->name);
    else
        return spread_check(gradient, "the gradient that is set", false);
    return false;
}

/* In place of what was gathered of it. */
static void set_gathered(tarn_optimizer *o, uint32_t parameter, uint32_t node)
{
    tarn_replica *r = o->replica;
    struct owned *p = &r->owned[parameter];
    p->gathered = node;
    p->grad = 0;
    p->used = false;
    for (uint32_t i = 0; i < o->slice_count; i++)
        if (o->slices[i] == parameter + 1)
            o->now.has[i] = o->now.set[i] = 1;
    o->now.any = o->gathered = true;
    o->now.summed |= !is_whole(r);
}

void tarn_set_grad(tarn_tensor parameter, tarn_tensor gradient)
{
    tarn_replica *r = parameter.replica != NULL ? parameter.replica : gradient.replica;
    const struct owned *p = owned_of(parameter);
    if ((r != NULL && r->status != TARN_OK) || !check(r, p, gradient))
        return;
    const uint32_t index = (uint32_t)(p - r->owned), node = graph_resolve(gradient);
    tarn_optimizer *o = optimizer_of(r, p);
    /* What earlier steps kept of the others is still to be summed, this one is not. */
    const bool kept = o != NULL && o->now.any && !o->now.summed;
    if (kept && !is_whole(r) && !gradient_gather(o, true))
        return;
    if (o != NULL && (o->now.any || !is_whole(r))) {
        set_gathered(o, index, node);
        return;
    }
    r->owned[index].grad = node;
}
