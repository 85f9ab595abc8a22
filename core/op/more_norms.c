/* SPDX-License-Identifier: Apache-2.0 */
/* Group norm and RMS norm. */
#include "op/op.h"
#include "tensor/shape.h"

/* [C] as [1, C, 1, ...]. */
static tarn_tensor per_channel(tarn_tensor t, int rank)
{
    tarn_shape shape = { .rank = rank };
    for (int i = 0; i < rank; i++)
        shape.dim[i] = i == 1 ? tarn_shape_get(t).dim[0] : 1;
    return tarn_reshape(t, shape);
}

/* [n] of float32 or float64, or nothing. */
static bool is_vector(tarn_tensor t, int32_t n)
{
    if (t.replica == NULL)
        return true;
    const tarn_shape s = tarn_shape_get(t);
    return s.rank == 1 && s.dim[0] == n && dtype_is_single(tarn_dtype_get(t));
}

/* Of the op that the error names. */
static tarn_tensor group_norm(const char *name, tarn_tensor x, tarn_tensor weight, tarn_tensor bias,
                              int groups, float eps)
{
    tarn_replica *r = x.replica;
    const tarn_shape s = tarn_shape_get(x);
    if (s.rank < 2 || groups < 1 || s.dim[1] % groups != 0 || !dtype_is_float(tarn_dtype_get(x)) ||
        !is_vector(weight, s.dim[1]) || !is_vector(bias, s.dim[1]))
        return graph_fail(r, TARN_ERR_SHAPE,
                          "%s: x %s, weight %s, bias %s, %d groups: must be float32 "
                          "[N, C, ...], [C] and [C], and groups divide C",
                          name, shape_text(s), op_shape_text(weight), op_shape_text(bias), groups);
    tarn_tensor mean, var;
    const int32_t each = (int32_t)(tarn_shape_count(s) / groups / (s.dim[0] > 0 ? s.dim[0] : 1));
    tarn_dtype of;
    const tarn_tensor parts =
        op_reshape_to(op_wide(op_high(x), &of), TARN_SHAPE(s.dim[0], groups, each));
    tarn_tensor y =
        op_reshape_to(op_normalise(parts, UINT32_C(1) << 2, false, eps, &mean, &var), s);
    if (weight.replica != NULL)
        y = tarn_mul(y, per_channel(weight, s.rank));
    return op_as(bias.replica != NULL ? tarn_add(y, per_channel(bias, s.rank)) : y, of);
}

tarn_tensor tarn_group_norm_op(tarn_tensor x, tarn_tensor weight, tarn_tensor bias, int groups,
                               float eps)
{
    tarn_replica *r;
    if (!graph_operands_some("group_norm", (tarn_tensor[]){ x, weight, bias }, 1, 3, &r))
        return graph_poison(r);
    return group_norm("group_norm", x, weight, bias, groups, eps);
}

tarn_tensor tarn_instance_norm_op(tarn_tensor x, tarn_tensor weight, tarn_tensor bias, float eps)
{
    tarn_replica *r;
    if (!graph_operands_some("instance_norm", (tarn_tensor[]){ x, weight, bias }, 1, 3, &r))
        return graph_poison(r);
    const tarn_shape s = tarn_shape_get(x);
    return group_norm("instance_norm", x, weight, bias, s.rank > 2 ? s.dim[1] : 0, eps);
}

tarn_tensor tarn_rms_norm_op(tarn_tensor x, tarn_tensor weight, float eps)
{
    tarn_replica *r;
    if (!graph_operands_some("rms_norm", (tarn_tensor[]){ x, weight }, 1, 2, &r))
        return graph_poison(r);
    tarn_shape axes;
    if (!op_norm_axes(x, weight, TARN_NONE, &axes))
        return graph_fail(
            r, TARN_ERR_SHAPE,
            "rms_norm: x %s, weight %s: both must be float32, weight of the last axes of x",
            shape_text(tarn_shape_get(x)), op_shape_text(weight));
    tarn_dtype of;
    x = op_wide(op_high(x), &of);
    const tarn_tensor square = tarn_mean(tarn_mul(x, x), axes, true);
    const tarn_tensor y = tarn_mul(x, tarn_rsqrt(tarn_add_scalar(square, eps)));
    return op_as(weight.replica != NULL ? tarn_mul(y, weight) : y, of);
}
