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

static bool is_vector(tarn_tensor t, int32_t n)
{
    const tarn_shape s = tarn_shape_get(t);
    return s.rank == 1 && s.dim[0] == n && dtype_is_single(tarn_dtype_get(t));
}

tarn_tensor tarn_group_norm_op(tarn_tensor x, tarn_tensor weight, tarn_tensor bias, int groups,
                               float eps)
{
    tarn_replica *r;
    const bool biased = bias.replica != NULL;
    if (!graph_operands("group_norm", (tarn_tensor[]){ x, weight, bias }, 2 + biased, &r))
        return graph_poison(r);
    const tarn_shape s = tarn_shape_get(x);
    if (s.rank < 2 || groups < 1 || s.dim[1] % groups != 0 || !dtype_is_float(tarn_dtype_get(x)) ||
        !is_vector(weight, s.dim[1]) || (biased && !is_vector(bias, s.dim[1])))
        return graph_fail(r, TARN_ERR_SHAPE,
                          "group_norm: x %s, weight %s, bias %s, %d groups: must be float32 "
                          "[N, C, ...], [C] and [C], and groups divide C",
                          shape_text(s), shape_text(tarn_shape_get(weight)),
                          biased ? shape_text(tarn_shape_get(bias)) : "none", groups);
    tarn_tensor mean, var;
    const int32_t each = (int32_t)(tarn_shape_count(s) / groups / (s.dim[0] > 0 ? s.dim[0] : 1));
    tarn_dtype of;
    const tarn_tensor parts =
        op_reshape_to(op_wide(op_high(x), &of), TARN_SHAPE(s.dim[0], groups, each));
    const tarn_tensor normal =
        op_reshape_to(op_normalise(parts, UINT32_C(1) << 2, false, eps, &mean, &var), s);
    const tarn_tensor y = tarn_mul(normal, per_channel(weight, s.rank));
    return op_as(biased ? tarn_add(y, per_channel(bias, s.rank)) : y, of);
}

tarn_tensor tarn_rms_norm_op(tarn_tensor x, tarn_tensor weight, float eps)
{
    tarn_replica *r;
    if (!graph_operands("rms_norm", (tarn_tensor[]){ x, weight }, 2, &r))
        return graph_poison(r);
    const tarn_shape s = tarn_shape_get(x), w = tarn_shape_get(weight);
    const int first = s.rank - w.rank;
    tarn_shape axes = { .rank = 0 };
    bool fits = w.rank >= 1 && first >= 0 && dtype_is_float(tarn_dtype_get(x)) &&
                dtype_is_single(tarn_dtype_get(weight));
    for (int i = 0; fits && i < w.rank; i++) {
        fits = s.dim[first + i] == w.dim[i];
        axes.dim[axes.rank++] = first + i;
    }
    if (!fits)
        return graph_fail(
            r, TARN_ERR_SHAPE,
            "rms_norm: x %s, weight %s: both must be float32, weight of the last axes of x",
            shape_text(s), shape_text(w));
    tarn_dtype of;
    x = op_wide(op_high(x), &of);
    const tarn_tensor square = tarn_mean(tarn_mul(x, x), axes, true);
    const tarn_tensor y = tarn_mul(x, tarn_rsqrt(tarn_add_scalar(square, eps)));
    return op_as(tarn_mul(y, weight), of);
}
