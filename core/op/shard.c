/* SPDX-License-Identifier: Apache-2.0 */
/* A mark: the value that it was given, to be cut over the ranks of a mesh in one way. It changes no number, and a
 * program without a mesh has none. */
#include <string.h>

#include "op/op.h"

/* A gradient is cut as its value. */
static void shard_grad(struct grad_call *c)
{
    c->gin[0] = op_shard_as(c->g, &c->arg.shard.spec);
}

const struct op op_shard = { .name = "shard",
                             .arity = 1,
                             .kind = OP_VIEW,
                             .grad = shard_grad,
                             .index = op_same_index,
                             .uniform = true };

tarn_tensor op_shard_as(tarn_tensor x, const struct spec *spec)
{
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.shard.spec = *spec;
    return graph_record(x.replica, &op_shard, &x, 1, tarn_shape_get(x), tarn_dtype_get(x), &arg);
}
