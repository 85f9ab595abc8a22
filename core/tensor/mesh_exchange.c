/* SPDX-License-Identifier: Apache-2.0 */
/* What a collective along axes of a mesh is as a node. */
#include <string.h>

#include "tensor/mesh_exchange.h"

union op_arg exchange_arg(const struct exchange *e, tarn_shape operand, uint32_t serial)
{
    union op_arg arg;
    memset(&arg, 0, sizeof arg); /* it is hashed */
    arg.call.reduction = (uint32_t)e->reduction;
    arg.call.order = UINT32_MAX; /* any: the plan is the same on all ranks */
    arg.call.serial = serial;
    arg.call.axes = e->axes;
    arg.call.split = e->split;
    arg.call.join = e->join;
    arg.call.shape = operand;
    return arg;
}
