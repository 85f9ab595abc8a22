/* SPDX-License-Identifier: Apache-2.0 */
/* What one rank has of a tensor that a spec cuts: its shape, and which elements. */
#ifndef TARN_PART_H
#define TARN_PART_H

#include <stddef.h>

#include "tensor/mesh.h"

/* The mesh axes that cut something. */
uint32_t part_axes(const struct mesh *m, const struct spec *s);
/* Its shape: of every rank the same. The dimensions divide. */
tarn_shape part_shape(const struct mesh *m, const struct spec *s, tarn_shape whole);
/* Whether the rank is the first of those that have the same part. */
bool part_is_first(const struct mesh *m, const struct spec *s, int rank);
/* Copies the rank's elements, of so many bytes each, out of the whole tensor or into it; both are row-major. */
void part_take(const struct mesh *m, const struct spec *s, int rank, tarn_shape whole, size_t each,
               const void *from, void *part);
void part_put(const struct mesh *m, const struct spec *s, int rank, tarn_shape whole, size_t each,
              const void *part, void *to);

#endif
