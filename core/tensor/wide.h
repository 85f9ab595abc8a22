/* SPDX-License-Identifier: Apache-2.0 */
/* What may be done with types of 64 bits, and which types operands are taken in. */
#ifndef TARN_WIDE_H
#define TARN_WIDE_H

#include "tensor/replica.h"

/* Whether this device and launch have a type; false after recording an error that begins with `name`. Notes types of
 * 64 bits in the replica. */
bool wide_possible(tarn_replica *r, const char *name, tarn_dtype dtype);
/* Whether an op of these operands and this result can be recorded now; false after recording an error. */
bool wide_allowed(tarn_replica *r, const struct op *op, const tarn_tensor *in, int count,
                  tarn_dtype dtype);
/* x as an op that computes takes it for a result of this type: a half type in float32; of a float64 product, which has
 * one multiply-add for its operands, in float64. Maps and routines are given what they take. */
tarn_tensor wide_operand(const struct op *op, tarn_tensor x, tarn_dtype dtype);

#endif
