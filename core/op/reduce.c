/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions. Nodes keep reduced axes as length 1; a reshape drops them where the caller wants. */
#include <math.h>
#include <string.h>

#include "op/op.h"
#include "tensor/shape.h"

/* autograd.c does not repeat: the gradient must have the operand's shape. */
static void sum_grad(struct grad_call *c)
{
    c->gin[0] = op_expand_to(c->g, tarn_shape_get(c->in[0]));
}

/* Equal extremes share. */
static void extreme_grad(struct grad_call *c)
{
    const tarn_tensor hit = tarn_eq(c->in[0], c->y);
    const tarn_tensor count = op_reduce(&op_sum, hit, c->arg.reduce.axes);
    /* Where the result is NaN nothing equals it: 0 / 0 passes the NaN on, as in PyTorch. */
    c->gin[0] = tarn_div(tarn_mul(c->g, tarn_cast(hit, TARN_F32)), tarn_cast(count, TARN_F32));
}

/* The first of equal maxima takes all: the one whose row-major position argmax gives. */
static void max_first_grad(struct grad_call *c)
{
    tarn_replica *r = c->g.replica;
    const tarn_shape shape = tarn_shape_get(c->in[0]);
    tarn_tensor position = op_constant_of(r, shape, TARN_I32, 0);
    int32_t stride = 1;
    bool first = true;
    for (int axis = shape.rank - 1; axis >= 0; axis--) {
        if (!(c->arg.reduce.axes >> axis & 1))
            continue;
        tarn_tensor term = op_iota_of(r, shape, axis);
        if (stride != 1)
            term = tarn_mul(term, op_whole(r, stride));
        position = first ? term : tarn_add(position, term);
        first = false;
        stride *= shape.dim[axis];
    }
    const tarn_tensor best = op_reduce(&op_argmax, c->in[0], c->arg.reduce.axes);
    const tarn_tensor zero = op_constant_of(r, TARN_SCALAR, TARN_F32, 0);
    c->gin[0] = tarn_where(tarn_eq(position, best), c->g, zero);
}

/* ---- the table ------------------------------------------------------------------------------ */

/* clang-format off */
const struct combination combination_sum = {
    .code = "x + y",          .identity = { "0.0f", "0", "0.0", "0" }, .lanes = "tarn_sum",
    .adds = true, .empty = true, .widens = true
};
static const struct combination maximum = {
    .code = "TARN_MAX(x, y)", .identity = { "-INFINITY", "INT_MIN", "-INFINITY", "LONG_MIN" }, .lanes = "tarn_max"
};
static const struct combination minimum = {
    .code = "TARN_MIN(x, y)", .identity = { "INFINITY", "INT_MAX", "INFINITY", "LONG_MAX" }, .lanes = "tarn_min"
};
static const struct combination first_maximum = {
    .code = "TARN_BETTER(x, y)", .identity = { "-INFINITY", "INT_MIN", "-INFINITY", "LONG_MIN" }, .found = &maximum
};

#define REDUCTION(id, by, gradient) \
    const struct op op_##id = { \
        .name = #id, .arity = 1, .kind = OP_REDUCE, .combination = &(by), .grad = gradient \
    };
/*        name       combination      gradient */
REDUCTION(sum,       combination_sum, sum_grad)
REDUCTION(max,       maximum,         extreme_grad)
REDUCTION(max_first, maximum,         max_first_grad)
REDUCTION(min,       minimum,         extreme_grad)
REDUCTION(argmax,    first_maximum,   op_no_grad)
/* clang-format on */

/* ---- recording ------------------------------------------------------------------------------ */

static tarn_tensor record(const struct op *op, tarn_tensor x, uint32_t axes, bool whole)
{
    if (!graph_resolve(x))
        return graph_poison(x.replica);
    if (op->combination->widens && tarn_dtype_get(x) == TARN_U8)
        x = tarn_cast(x, TARN_I32);
    tarn_shape shape = tarn_shape_get(x);
    bool empty = false;
    for (int i = 0; i < shape.rank; i++) {
        if (axes >> i & 1) {
            empty |= shape.dim[i] == 0;
            shape.dim[i] = 1;
        }
    }
    if (empty && !op->combination->empty)
        return graph_fail(x.replica, TARN_ERR_SHAPE, "%s: no element to choose from in %s",
                          op->name, shape_text(tarn_shape_get(x)));
    if (axes == 0 && op->combination->found == NULL)
        return graph_value(x);
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.reduce.axes = axes;
    arg.reduce.unsplit = whole;
    const tarn_dtype dtype = op->combination->found != NULL ? TARN_I32 : tarn_dtype_get(x);
    return graph_record(x.replica, op, &x, 1, shape, dtype, &arg);
}

tarn_tensor op_reduce(const struct op *op, tarn_tensor x, uint32_t axes)
{
    /* Samples are summed in shards, so rows of a sample become an axis of their own. */
    const tarn_tensor apart = (axes & 1) != 0 && graph_resolve(x) ? spread_by_sample(x) : x;
    const tarn_shape from = tarn_shape_get(x);
    if (tarn_shape_get(apart).rank == from.rank)
        return record(op, x, axes, false);
    tarn_shape to = from;
    for (int i = 0; i < from.rank; i++)
        to.dim[i] = axes >> i & 1 ? 1 : from.dim[i];
    return op_reshape_to(record(op, apart, axes << 1 | 1, false), to);
}

tarn_tensor op_sum_unsplit(tarn_tensor x)
{
    return record(&op_sum, x, 1, true);
}

static tarn_tensor drop_axes(tarn_tensor x, uint32_t axes)
{
    const tarn_shape from = tarn_shape_get(x);
    tarn_shape to = { .rank = 0 };
    for (int i = 0; i < from.rank; i++) {
        if (!(axes >> i & 1))
            to.dim[to.rank++] = from.dim[i];
    }
    return op_reshape_to(x, to);
}

static tarn_tensor reduce(const struct op *op, tarn_tensor x, tarn_shape axes, bool keep)
{
    uint32_t mask;
    if (!op_axes(x, op->name, axes, &mask))
        return graph_poison(x.replica);
    const tarn_tensor y = op_reduce(op, x, mask);
    return keep ? y : drop_axes(y, mask);
}

tarn_tensor tarn_sum(tarn_tensor x, tarn_shape axes, bool keep)
{
    return reduce(&op_sum, op_high(x), axes, keep);
}

tarn_tensor tarn_max(tarn_tensor x, tarn_shape axes, bool keep)
{
    return reduce(&op_max, x, axes, keep);
}

tarn_tensor tarn_min(tarn_tensor x, tarn_shape axes, bool keep)
{
    return reduce(&op_min, x, axes, keep);
}

tarn_tensor tarn_argmax(tarn_tensor x, int axis, bool keep)
{
    return reduce(&op_argmax, x, TARN_AXES(axis), keep);
}

tarn_tensor tarn_argmin(tarn_tensor x, int axis, bool keep)
{
    if (!graph_operand(NULL, x, "argmin", 0))
        return graph_poison(x.replica);
    if (dtype_is_float(tarn_dtype_get(x)))
        return tarn_argmax(tarn_neg(x), axis, keep);
    /* -1 - x, which the least integer has, too; unsigned ones are widened first. */
    return tarn_argmax(tarn_sub(op_whole(x.replica, -1), x), axis, keep);
}

/* How many elements go into one of the result. */
static int64_t reduced_count(tarn_tensor x, uint32_t mask)
{
    const tarn_shape shape = tarn_shape_get(x);
    int64_t count = 1;
    for (int i = 0; i < shape.rank; i++)
        count *= mask >> i & 1 ? shape.dim[i] : 1;
    return count;
}

static tarn_tensor mean_of(tarn_tensor x, uint32_t mask, double divisor)
{
    const tarn_tensor scale =
        op_constant_of(x.replica, TARN_SCALAR, tarn_dtype_get(x), 1.0 / divisor);
    return tarn_mul(op_reduce(&op_sum, x, mask), scale);
}

tarn_tensor tarn_mean(tarn_tensor x, tarn_shape axes, bool keep)
{
    uint32_t mask;
    if (!op_axes(x, "mean", axes, &mask))
        return graph_poison(x.replica);
    const double count = (double)reduced_count(x, mask);
    const tarn_dtype of = tarn_dtype_get(op_high(x));
    const tarn_tensor y = op_as(mean_of(op_floats(x), mask, count), of);
    return keep ? y : drop_axes(y, mask);
}

tarn_tensor tarn_logsumexp(tarn_tensor x, tarn_shape axes, bool keep)
{
    uint32_t mask;
    if (!op_axes(x, "logsumexp", axes, &mask))
        return graph_poison(x.replica);
    tarn_dtype of;
    x = op_wide(op_high(x), &of);
    const tarn_tensor most = tarn_detach(op_reduce(&op_max, x, mask));
    /* Nothing is subtracted where that would be infinity from infinity. */
    const tarn_tensor finite = tarn_lt(
        tarn_abs(most), op_constant_of(x.replica, TARN_SCALAR, tarn_dtype_get(most), INFINITY));
    const tarn_tensor zero = op_constant_of(x.replica, TARN_SCALAR, tarn_dtype_get(most), 0);
    const tarn_tensor away = tarn_where(finite, most, zero);
    const tarn_tensor sum = op_reduce(&op_sum, tarn_exp(tarn_sub(x, away)), mask);
    const tarn_tensor y = op_as(tarn_add(tarn_log(sum), away), of);
    return keep ? y : drop_axes(y, mask);
}

tarn_tensor tarn_var(tarn_tensor x, tarn_shape axes, int correction, bool keep)
{
    uint32_t mask;
    if (!op_axes(x, "var", axes, &mask))
        return graph_poison(x.replica);
    const double count = (double)reduced_count(x, mask);
    const tarn_dtype of = tarn_dtype_get(op_high(x));
    x = op_floats(x);
    const tarn_tensor d = tarn_sub(x, mean_of(x, mask, count));
    const double divisor = count > correction ? count - correction : 0.0;
    const tarn_tensor y = op_as(mean_of(tarn_mul(d, d), mask, divisor), of);
    return keep ? y : drop_axes(y, mask);
}
