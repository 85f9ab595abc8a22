/* SPDX-License-Identifier: Apache-2.0 */
/* Where values lie among sorted ones: all of them at once halve what is left of their line. */
#include "op/lines.h"
#include "tensor/shape.h"

/* Whether an element comes before a value: NaN is the largest, and a value that is NaN comes after all. */
static tarn_tensor before(tarn_tensor element, tarn_tensor value, bool right)
{
    const tarn_tensor less = right ? tarn_le(element, value) : tarn_lt(element, value);
    const bool whole = !dtype_is_float(tarn_dtype_get(value));
    return whole ? less : tarn_maximum(less, tarn_ne(value, value));
}

tarn_tensor lines_search(tarn_tensor sorted, int axis, tarn_tensor values, bool right)
{
    tarn_replica *r = sorted.replica;
    const int32_t length = tarn_shape_get(sorted).dim[axis];
    int32_t by = 1;
    while (by <= length / 2)
        by *= 2;
    /* `found` elements come before; whether `by` more of them do, the last one tells. */
    tarn_tensor found = op_constant_of(r, tarn_shape_get(values), TARN_I32, 0);
    for (; by > 0; by /= 2) {
        const tarn_tensor last = tarn_add(found, op_whole(r, by - 1));
        const tarn_tensor there = tarn_le(found, op_whole(r, length - by));
        const tarn_tensor more = before(tarn_gather(sorted, axis, last), values, right);
        found = tarn_add(found, tarn_mul(tarn_mul(there, more), op_whole(r, by)));
    }
    return found;
}

tarn_tensor tarn_searchsorted(tarn_tensor sorted, tarn_tensor values, bool right)
{
    tarn_replica *r;
    if (!graph_operands("searchsorted", (tarn_tensor[]){ sorted, values }, 2, &r))
        return graph_poison(r);
    const tarn_shape s = tarn_shape_get(sorted), v = tarn_shape_get(values);
    tarn_shape fits = v;
    if (s.rank > 0 && s.rank == v.rank)
        fits.dim[s.rank - 1] = s.dim[s.rank - 1];
    if (s.rank != 1 && (s.rank == 0 || !shape_equal(fits, s)))
        return graph_fail(
            r, TARN_ERR_SHAPE,
            "searchsorted: values %s among sorted %s: must have its axes but the last, "
            "or sorted be [N]",
            shape_text(v), shape_text(s));
    if (tarn_dtype_get(sorted) != tarn_dtype_get(values))
        return graph_fail(
            r, TARN_ERR_DTYPE, "searchsorted: values are %s, sorted is %s: must be of one type",
            tarn_dtype_name(tarn_dtype_get(values)), tarn_dtype_name(tarn_dtype_get(sorted)));
    if (tarn_shape_count(s) == 0 || tarn_shape_count(v) == 0)
        return op_constant_of(r, v, TARN_I32, 0);
    const tarn_tensor flat =
        s.rank == 1 ? op_reshape_to(values, TARN_SHAPE((int32_t)tarn_shape_count(v))) : values;
    const tarn_tensor found =
        lines_search(tarn_detach(sorted), s.rank - 1, tarn_detach(flat), right);
    return op_reshape_to(found, v);
}
