/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes: texts, comparisons, broadcasting. */
#ifndef TARN_SHAPE_H
#define TARN_SHAPE_H

#include "tensor/dtype.h"

/* "[128,10]" into a rotating thread-local text, for error lines. */
const char *shape_text(tarn_shape s);
bool shape_equal(tarn_shape a, tarn_shape b);
/* The common shape of a and b as in NumPy; false when they do not broadcast. */
bool shape_broadcast(tarn_shape a, tarn_shape b, tarn_shape *out);
/* False when rank, a dimension or the element count (2^31 - 1) is out of range. */
bool shape_valid(tarn_shape s);
/* Bytes of so many elements. */
size_t shape_bytes(tarn_shape s, tarn_dtype dtype);
/* Elements from one index of each dimension to the next, row-major. */
void shape_strides(tarn_shape s, int32_t stride[TARN_MAX_RANK]);

/* The bits of the nearest number of that type, ties to even, as the kernels round; and back. */
uint16_t half_from_float(float value, tarn_dtype dtype);
float half_to_float(uint16_t bits, tarn_dtype dtype);

#endif
