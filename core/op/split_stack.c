/* SPDX-License-Identifier: Apache-2.0 */
/* Taking a tensor apart along an axis, or one element of it, and stacking tensors along a new one. */
#include "op/op.h"
#include "tensor/shape.h"

#define STACK_MOST 64 /* as of a concat */

void tarn_split(tarn_tensor x, const int32_t *sizes, int count, int axis, tarn_tensor *parts)
{
    for (int i = 0; parts != NULL && i < count; i++)
        parts[i] = graph_poison(x.replica);
    if (!graph_operand(NULL, x, "split", 0))
        return;
    const int at = op_axis(x, "split", axis);
    if (at < 0)
        return;
    const int32_t extent = tarn_shape_get(x).dim[at];
    int64_t total = 0;
    bool fits = parts != NULL && count >= 1 && (sizes != NULL || extent % count == 0);
    for (int i = 0; fits && i < count; i++) {
        const int32_t size = sizes != NULL ? sizes[i] : extent / count;
        fits = size >= 0;
        total += size;
    }
    if (!fits || total != extent) {
        graph_fail(x.replica, TARN_ERR_SHAPE,
                   "split: axis %d of %s has %d elements, which %d parts%s do not make up", at,
                   shape_text(tarn_shape_get(x)), extent, count,
                   sizes != NULL ? " of the given sizes" : " of one size");
        return;
    }
    int32_t start = 0;
    for (int i = 0; i < count; i++) {
        const int32_t size = sizes != NULL ? sizes[i] : extent / count;
        parts[i] = tarn_slice(x, at, start, start + size, 1);
        start += size;
    }
}

tarn_tensor tarn_stack(const tarn_tensor *parts, int count, int axis)
{
    if (count < 1 || count > STACK_MOST || parts == NULL)
        return graph_fail(parts != NULL && count > 0 ? parts[0].replica : NULL, TARN_ERR_ARGUMENT,
                          "stack: %d parts%s, must be 1 to %d", count,
                          parts != NULL ? "" : " of a list that is NULL", STACK_MOST);
    tarn_replica *r;
    if (!graph_operands("stack", parts, count, &r))
        return graph_poison(r);
    const tarn_shape s = tarn_shape_get(parts[0]);
    const int at = axis < 0 ? axis + s.rank + 1 : axis;
    if (at < 0 || at > s.rank || s.rank == TARN_MAX_RANK)
        return graph_fail(r, TARN_ERR_SHAPE,
                          "stack: axis %d of parts %s: must be from %d to %d, of at most %d axes",
                          axis, shape_text(s), -s.rank - 1, s.rank, TARN_MAX_RANK);
    tarn_shape wide = { .rank = s.rank + 1 };
    for (int i = 0; i <= s.rank; i++)
        wide.dim[i] = i < at ? s.dim[i] : i == at ? 1 : s.dim[i - 1];
    tarn_tensor wider[STACK_MOST];
    for (int i = 0; i < count; i++) {
        if (!shape_equal(tarn_shape_get(parts[i]), s))
            return graph_fail(r, TARN_ERR_SHAPE, "stack: part %d is %s, the first is %s", i,
                              shape_text(tarn_shape_get(parts[i])), shape_text(s));
        wider[i] = tarn_reshape(parts[i], wide);
    }
    return tarn_concat(wider, count, at);
}

tarn_tensor tarn_select(tarn_tensor x, int axis, int index)
{
    if (!graph_operand(NULL, x, "select", 0))
        return graph_poison(x.replica);
    const int at = op_axis(x, "select", axis);
    if (at < 0)
        return graph_poison(x.replica);
    const tarn_shape s = tarn_shape_get(x);
    const int64_t i = index < 0 ? (int64_t)index + s.dim[at] : index;
    if (i < 0 || i >= s.dim[at])
        return graph_fail(x.replica, TARN_ERR_ARGUMENT,
                          "select: element %d of axis %d of %s: there are %d", index, at,
                          shape_text(s), s.dim[at]);
    tarn_shape rest = { .rank = s.rank - 1 };
    for (int d = 0; d < rest.rank; d++)
        rest.dim[d] = s.dim[d < at ? d : d + 1];
    return tarn_reshape(tarn_slice(x, at, (int)i, (int)i + 1, 1), rest);
}
