/* SPDX-License-Identifier: Apache-2.0 */
/* Lines: what lies along one axis of a tensor, or all of it as one; routines go over them. */
#ifndef TARN_LINES_H
#define TARN_LINES_H

#include "op/op.h"

/* How many there are, how many elements each has, and how far apart neighbours are. */
struct lines {
    int64_t count, length, inner;
};

/* Along `axis`; -1: one line. */
struct lines lines_of(tarn_shape s, int axis);
/* Pass number `pass` of sorting int32 or int64 keys of this shape, which are operand `keys`: it makes positions along
 * the lines, sorted by key, equal ones in order. Returns whether it is the last. */
bool lines_sort_pass(tarn_shape shape, tarn_dtype dtype, int axis, int keys, int pass,
                     struct routine_pass *out);
/* The argument of a routine. */
union op_arg lines_arg(int axis, int32_t length);
/* x with axes but `axis` cut down to those of `to`. */
tarn_tensor lines_cut(tarn_tensor x, tarn_shape to, int axis);

#endif
