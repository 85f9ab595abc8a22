/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of all that comes before along an axis, each in the order in which it would be made by itself; and products. */
#include "op/lines.h"

static bool cumsum_routine(const struct node *n, const tarn_shape *in,
                           const struct routine_place *where, int pass, struct routine_pass *out)
{
    static const char *const functions[DTYPES] = { [TARN_F32] = "tarn_cumsum_float",
                                                   [TARN_I32] = "tarn_cumsum_int",
                                                   [TARN_F64] = "tarn_cumsum_double",
                                                   [TARN_I64] = "tarn_cumsum_long" };
    const struct lines l = lines_of(in[0], n->arg.routine.axis);
    (void)pass;
    *out = (struct routine_pass){ .reads = 1, .numbers = 3 };
    out->function =
        n->dtype == TARN_F32 && !where->items ? "tarn_cumsum_lanes" : functions[n->dtype];
    out->pieces = (int32_t)l.count;
    out->cycles = 8.0 * (double)l.length;
    out->number[0] = l.length;
    out->number[1] = l.inner;
    out->number[2] = n->arg.routine.length;
    return true;
}

static tarn_tensor cumulate(tarn_tensor x, int axis, bool backwards)
{
    const union op_arg arg = lines_arg(axis, backwards);
    return graph_record(x.replica, &op_cumsum, &x, 1, tarn_shape_get(x), tarn_dtype_get(x), &arg);
}

static void cumsum_grad(struct grad_call *c)
{
    c->gin[0] = cumulate(c->g, c->arg.routine.axis, !c->arg.routine.length);
}

const struct op op_cumsum = {
    .name = "cumsum", .arity = 1, .kind = OP_ROUTINE, .grad = cumsum_grad, .routine = cumsum_routine
};

tarn_tensor tarn_cumsum(tarn_tensor x, int axis)
{
    if (!graph_operand(NULL, x, "cumsum", 0))
        return graph_poison(x.replica);
    const int a = op_axis(x, "cumsum", axis);
    if (a < 0)
        return graph_poison(x.replica);
    x = op_high(x);
    if (tarn_dtype_get(x) == TARN_U8)
        x = tarn_cast(x, TARN_I32);
    return tarn_shape_count(tarn_shape_get(x)) == 0 ? graph_value(x) : cumulate(x, a, false);
}

tarn_tensor tarn_cumprod(tarn_tensor x, int axis)
{
    if (!graph_operand(NULL, x, "cumprod", 0))
        return graph_poison(x.replica);
    const int a = op_axis(x, "cumprod", axis);
    if (a < 0)
        return graph_poison(x.replica);
    tarn_dtype of;
    x = op_wide(op_high(x), &of);
    if (tarn_dtype_get(x) == TARN_U8)
        x = tarn_cast(x, TARN_I32);
    const int64_t length = tarn_shape_get(x).dim[a];
    /* Products of the last `by` elements become those of twice as many. */
    for (int64_t by = 1; by < length; by *= 2)
        x = tarn_mul(lines_shift(x, a, (int32_t)by, 1), x);
    return op_as(graph_value(x), of);
}
