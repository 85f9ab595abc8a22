/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of weight files as elements of the model's types: exactly, or, of F64, rounded to the
 * nearest float32, from which those of half types are rounded. A float64 of the model takes every float exactly. */
#ifndef TARN_CONVERT_H
#define TARN_CONVERT_H

#include <stdbool.h>
#include <stdint.h>

#include "tarn.h"

/* How an element lies in a file: little-endian. */
struct source {
    enum { SOURCE_F16, SOURCE_BF16, SOURCE_F32, SOURCE_F64, SOURCE_SIGNED, SOURCE_UNSIGNED } kind;
    int width; /* bytes */
};

/* How tensors of a type of the format are converted; false: they are not. */
bool convert_source(const char *dtype, tarn_dtype to, struct source *out);
/* One element, to where `to` of the model lies. False when it has no such value, with a text such as
 * "1e+39, more than float32 holds". */
enum { CONVERT_WHY = 80 };
bool convert_element(struct source s, const uint8_t *from, tarn_dtype to, void *out,
                     char why[CONVERT_WHY]);

#endif
