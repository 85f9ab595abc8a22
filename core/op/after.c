/* SPDX-License-Identifier: Apache-2.0 */
/* A value that is not computed before another one is there: core/shard has it where memory is to be free before it is
 * filled again, core/autograd where values are computed again. Nodes behind it are no others' equals, so that what is
 * computed twice stays so. In: the value, and what it waits for, of which nothing is read. */
#include <string.h>

#include "op/op.h"

static void after_grad(struct grad_call *c)
{
    c->gin[0] = c->g;
    c->without |= 2;
}

const struct op op_after = {
    .name = "after", .arity = 2, .kind = OP_VIEW, .grad = after_grad, .index = op_same_index
};

tarn_tensor op_after_of(tarn_tensor x, tarn_tensor first, uint32_t region)
{
    const tarn_tensor in[2] = { x, first };
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.after.region = region;
    return graph_record(x.replica, &op_after, in, 2, tarn_shape_get(x), tarn_dtype_get(x), &arg);
}
