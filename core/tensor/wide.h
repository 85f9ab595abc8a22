/* SPDX-License-Identifier: Apache-2.0 */
/* Where types of 64 bits may be, and which types operands are taken in. */
#ifndef TARN_WIDE_H
#define TARN_WIDE_H

#include "tensor/replica.h"

/* Whether this device has a type; false after recording an error that begins with `name`. Notes types of 64 bits in the
 * replica. */
bool wide_possible(tarn_replica *r, const char *name, tarn_dtype dtype);
/* x as an op that computes takes it for a result of this type: a half type in float32; of a float64 product, which has
 * one multiply-add for its operands, in float64. Maps and routines are given what they take. */
tarn_tensor wide_operand(const struct op *op, tarn_tensor x, tarn_dtype dtype);

#endif
