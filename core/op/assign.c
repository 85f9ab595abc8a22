/* SPDX-License-Identifier: Apache-2.0 */
/* Assignment to an owned tensor: a node as any other; what reads later in the step, reads the new
 * value. */
#include <string.h>

#include "tensor/shape.h"
#include "tensor/spread.h"

const struct op op_assign = { .name = "assign", .arity = 1, .kind = OP_EFFECT, .grad = op_no_grad };

/* Storage that is assigned both as a whole and in part has no single new value. */
static bool overlaps(const tarn_replica *r, const struct owned *o)
{
    if (o->flat && r->owned[o->flat - 1].assigned)
        return true;
    const uint32_t self = (uint32_t)(o - r->owned) + 1;
    for (uint32_t i = 0; o->kind == OWNED_FLAT && i < r->owned_count; i++) {
        if (r->owned[i].flat == self && r->owned[i].assigned)
            return true;
    }
    return false;
}

void tarn_assign(tarn_tensor owned, tarn_tensor value)
{
    tarn_replica *r = owned.replica != NULL ? owned.replica : value.replica;
    struct owned *o = owned_of(owned);
    if (r != NULL && r->status != TARN_OK)
        return;
    if (o == NULL) {
        const bool gone = owned.replica != NULL && owned.step == STEP_OWNED;
        graph_fail(r, gone ? TARN_ERR_STALE : TARN_ERR_ARGUMENT, "assign: the target is %s",
                   gone ? owned_gone(owned) : "no parameter, buffer or kept tensor");
        return;
    }
    const char *name = o->name != NULL ? o->name : "a kept tensor";
    if (!graph_operand(r, value, "assign", 1))
        return;
    const tarn_shape shape = tarn_shape_get(value);
    const tarn_dtype dtype = tarn_dtype_get(value);
    if (!shape_equal(shape, o->shape) || dtype != o->dtype) {
        graph_fail(r, dtype == o->dtype ? TARN_ERR_SHAPE : TARN_ERR_DTYPE,
                   "assign: %s is %s %s, the value %s %s", name, tarn_dtype_name(o->dtype),
                   shape_text(o->shape), tarn_dtype_name(dtype), shape_text(shape));
        return;
    }
    if (o->kind != OWNED_KEPT && !spread_check(value, name, false))
        return;
    if (overlaps(r, o)) {
        graph_fail(r, TARN_ERR_STATE,
                   "assign: %s was assigned in this step together with all parameters (by an "
                   "optimizer, say), or the other way round: call tarn_step() between",
                   name);
        return;
    }
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.assign.owned = (uint32_t)(o - r->owned);
    arg.assign.spec = o->spec;
    const uint32_t node = graph_resolve(value);
    const tarn_tensor done = graph_record(r, &op_assign, &value, 1, shape, dtype, &arg);
    if (tarn_failed(done))
        return;
    o->value = node;
    o->together = false;
    o->assigned = true;
    o->node = 0;
    const uint32_t self = (uint32_t)(o - r->owned) + 1;
    for (uint32_t i = 0; o->kind == OWNED_FLAT && i < r->owned_count; i++) {
        if (r->owned[i].flat == self)
            r->owned[i].node = 0;
    }
}
