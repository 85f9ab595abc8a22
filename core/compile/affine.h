/* SPDX-License-Identifier: Apache-2.0 */
/* Indices as functions of the axes of a nest: sums with constant factors, and quotients of them. */
#ifndef TARN_AFFINE_H
#define TARN_AFFINE_H

#include <stdbool.h>
#include <stdint.h>

#include "tarn.h"

#define NEST_AXES 14

/* constant + sum of k[axis] * axis. */
struct affine {
    int32_t constant;
    int32_t k[NEST_AXES];
};
/* numerator / denominator, whole wherever the guards around it hold. */
struct rational {
    struct affine e;
    int32_t divide;
};
/* 0 <= e / divide < extent, and the division leaves nothing. */
struct guard {
    struct affine e;
    int32_t divide, extent;
};

struct affine affine_axis(int axis);
struct affine affine_constant(int32_t c);
/* Axis `axis` becomes two: runs of `by` elements, and one run. Those after it move down. */
void affine_into_runs(struct affine *e, int axis, int32_t by);
/* Axis `axis` becomes the one at `to`, further down; those between move up. */
void affine_move(struct affine *e, int axis, int32_t to);
struct affine affine_add_scaled(struct affine a, struct affine b, int32_t factor);
bool affine_equal(const struct affine *a, const struct affine *b);
/* The greatest that divides both. */
int64_t common_divisor(int64_t a, int64_t b);
struct rational rational_axis(int axis);
struct rational rational_constant(int32_t c);
struct rational rational_add_scaled(struct rational a, struct rational b, int32_t factor);
struct rational rational_divide(struct rational a, int32_t divisor);
bool rational_is_axis(const struct rational *a, int axis);
bool rational_uses(const struct rational *a, int axis);
/* Index of each dimension of `in` for index `out_index` of a reshape in -> out; false when one
 * would need a division with rest. */
bool reshape_index(tarn_shape in, tarn_shape out, const struct rational *out_index,
                   struct rational *in_index);

#endif
