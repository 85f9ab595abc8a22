/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic on affine and rational indices of loop axes. In: indices as sums of axes. Out: others,
 * or the index of a reshape's operand. Knows neither nests nor values. */
#include <string.h>

#include "compile/expr.h"

struct affine affine_constant(int32_t c)
{
    struct affine a = { .constant = c };
    return a;
}

struct affine affine_axis(int axis)
{
    struct affine a = { .constant = 0 };
    a.k[axis] = 1;
    return a;
}

void affine_into_runs(struct affine *e, int axis, int32_t by)
{
    memmove(&e->k[axis + 1], &e->k[axis], (size_t)(NEST_AXES - 1 - axis) * sizeof *e->k);
    e->k[axis] = e->k[axis + 1] * by;
}

void affine_move(struct affine *e, int axis, int32_t to)
{
    const int32_t k = e->k[axis];
    memmove(&e->k[axis], &e->k[axis + 1], (size_t)(to - axis) * sizeof *e->k);
    e->k[to] = k;
}

struct affine affine_add_scaled(struct affine a, struct affine b, int32_t factor)
{
    a.constant += b.constant * factor;
    for (int i = 0; i < NEST_AXES; i++)
        a.k[i] += b.k[i] * factor;
    return a;
}

bool affine_equal(const struct affine *a, const struct affine *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

struct rational rational_constant(int32_t c)
{
    return (struct rational){ .e = affine_constant(c), .divide = 1 };
}

struct rational rational_axis(int axis)
{
    return (struct rational){ .e = affine_axis(axis), .divide = 1 };
}

int64_t common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

struct rational rational_add_scaled(struct rational a, struct rational b, int32_t factor)
{
    const int32_t common = a.divide / (int32_t)common_divisor(a.divide, b.divide) * b.divide;
    struct rational out = { .divide = common };
    out.e = affine_add_scaled(out.e, a.e, common / a.divide);
    out.e = affine_add_scaled(out.e, b.e, common / b.divide * factor);
    return out;
}

struct rational rational_divide(struct rational a, int32_t divisor)
{
    a.divide *= divisor;
    return a;
}

bool rational_is_axis(const struct rational *a, int axis)
{
    const struct affine want = affine_axis(axis);
    return a->divide == 1 && affine_equal(&a->e, &want);
}

bool rational_uses(const struct rational *a, int axis)
{
    return a->e.k[axis] != 0;
}

bool reshape_index(tarn_shape in, tarn_shape out, const struct rational *out_index,
                   struct rational *in_index)
{
    int o = out.rank - 1;
    for (int i = in.rank - 1; i >= 0; i--) {
        /* The dimensions of `out` from o down that together make dimension i of `in`. */
        struct rational index = rational_constant(0);
        int32_t stride = 1;
        while (stride < in.dim[i]) {
            if (o < 0 || in.dim[i] % (stride * out.dim[o]) != 0)
                return false;
            index = rational_add_scaled(index, out_index[o], stride);
            stride *= out.dim[o];
            o--;
        }
        in_index[i] = index;
    }
    return true;
}

bool access_uses(const struct access *a, int axis)
{
    bool uses = a->address.k[axis] != 0;
    for (int i = 0; i < a->part_count; i++)
        uses |= rational_uses(&a->part[i].index, axis);
    return uses;
}
