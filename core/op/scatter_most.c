/* SPDX-License-Identifier: Apache-2.0 */
/* The largest or smallest of elements by index. Positions are sorted by index, and each element takes the extreme of
 * itself and of those of its index before it, first of one, then of two, four, ... of them: at the end of a segment it
 * is that of all. */
#include "op/lines.h"
#include "tensor/shape.h"

static tarn_tensor extreme_of(bool largest, tarn_tensor a, tarn_tensor b)
{
    return largest ? tarn_maximum(a, b) : tarn_minimum(a, b);
}

/* x with extremes, without a gradient. */
static tarn_tensor extremes(const struct scattered *s, tarn_tensor x, bool largest)
{
    tarn_replica *r = x.replica;
    const int a = s->axis;
    const int32_t length = s->part.dim[a], rows = tarn_shape_get(x).dim[a];
    const tarn_tensor index = lines_clamped(s->index, rows);
    const tarn_tensor order = tarn_argsort(index, a, false);
    const tarn_tensor sorted = tarn_gather(index, a, order);
    tarn_tensor y = tarn_gather(tarn_detach(s->source), a, op_expand_to(order, s->part));
    for (int64_t by = 1; by < length; by *= 2) {
        const tarn_tensor mate = tarn_eq(sorted, lines_shift(sorted, a, (int32_t)by, -1));
        const tarn_tensor both = extreme_of(largest, y, lines_shift(y, a, (int32_t)by, 0));
        y = tarn_where(mate, both, y);
    }
    tarn_shape one = tarn_shape_get(sorted), all = s->part;
    one.dim[a] = all.dim[a] = rows;
    const tarn_tensor row = op_iota_of(r, one, a);
    const tarn_tensor last = tarn_sub(lines_search(sorted, a, row, true), op_whole(r, 1));
    const tarn_tensor named = tarn_eq(tarn_gather(sorted, a, last), row);
    const tarn_tensor found = tarn_gather(y, a, op_expand_to(last, all));
    x = tarn_detach(x);
    return tarn_where(named, extreme_of(largest, x, found), x);
}

/* 0, whose slope in x is 1 where it hits, but for infinities, and else 0. */
static tarn_tensor slope_where(tarn_tensor hit, tarn_tensor x)
{
    const tarn_tensor none = tarn_sub(x, tarn_detach(x));
    return tarn_where(tarn_mul(hit, tarn_eq(none, none)), none, tarn_zeros_like(none));
}

static tarn_tensor scatter_most(const char *name, bool largest, tarn_tensor x, int axis,
                                tarn_tensor index, tarn_tensor source)
{
    struct scattered s;
    if (!lines_scattered(name, x, axis, index, source, &s))
        return graph_poison(x.replica);
    if (tarn_shape_count(s.part) == 0 || tarn_shape_count(tarn_shape_get(x)) == 0)
        return op_as(graph_value(s.x), s.of);
    const tarn_tensor part = lines_cut(s.x, s.part, s.axis);
    const tarn_tensor most = extremes(&s, part, largest);
    /* All that equal it share its gradient: the sum of them by their number, each 0 and of slope 1. */
    const tarn_tensor at = op_expand_to(s.index, s.part);
    const tarn_tensor own = tarn_eq(part, most);
    const tarn_tensor hit = tarn_eq(s.source, tarn_gather(most, s.axis, at));
    const tarn_dtype dtype = tarn_dtype_get(most);
    const tarn_tensor count =
        tarn_scatter_add(tarn_cast(own, dtype), s.axis, at, tarn_cast(hit, dtype));
    const tarn_tensor slopes =
        tarn_scatter_add(slope_where(own, part), s.axis, at, slope_where(hit, s.source));
    tarn_tensor y = tarn_add(most, tarn_div(slopes, count));
    const tarn_shape whole = tarn_shape_get(s.x);
    for (int d = whole.rank - 1; d >= 0; d--) {
        const tarn_shape now = tarn_shape_get(y);
        if (now.dim[d] == whole.dim[d])
            continue;
        const tarn_tensor rest = lines_cut(tarn_slice(s.x, d, now.dim[d], whole.dim[d], 1), now, d);
        y = tarn_concat((tarn_tensor[]){ y, rest }, 2, d);
    }
    return op_as(y, s.of);
}

tarn_tensor tarn_scatter_max(tarn_tensor x, int axis, tarn_tensor index, tarn_tensor source)
{
    return scatter_most("scatter_max", true, x, axis, index, source);
}

tarn_tensor tarn_scatter_min(tarn_tensor x, int axis, tarn_tensor index, tarn_tensor source)
{
    return scatter_most("scatter_min", false, x, axis, index, source);
}
