/* SPDX-License-Identifier: Apache-2.0 */
/* A value that is not computed before another one is there. Programs of a rank have it (core/shard), where memory is to be
 * free before it is filled again; nobody records it, so that it has no gradient and is in no list of ops. In: the
 * value, and what it waits for, of which nothing is read. */
#include "op/op.h"

const struct op op_after = {
    .name = "after", .arity = 2, .kind = OP_VIEW, .grad = op_no_grad, .index = op_same_index
};
