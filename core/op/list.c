/* SPDX-License-Identifier: Apache-2.0 */
/* All ops in one list, for tests and tools that walk them. */
#include "tensor/op_record.h"

const struct op *const all_ops[] = {
#define OP(name) &op_##name,
#include "tensor/ops.def"
#undef OP
};
const int all_ops_count = (int)(sizeof all_ops / sizeof all_ops[0]);
