/* SPDX-License-Identifier: Apache-2.0 */
/* The largest or smallest of elements by index. Positions are sorted by index, as for sums, and each row takes the extreme
 * of those that name it. */
#include "op/lines.h"
#include "tensor/shape.h"

/* in[0] the source, in[1] the index of its lines, or of rows of them: the largest of the elements that name a row. */
static bool most_routine(const struct node *n, const tarn_shape *in,
                         const struct routine_place *where, int pass, struct routine_pass *out)
{
    const struct indexed of = lines_indexed(n, in);
    if (!lines_by_row(n, in, where, pass, out))
        return false;
    out->function = n->dtype == TARN_F64 ? "tarn_most_double"
                    : where->items       ? "tarn_most"
                                         : "tarn_most_rows";
    out->pieces = (int32_t)(of.index.count * of.rows * (where->items ? of.width : 1));
    out->cycles = lines_row_cycles(&of, where->items);
    return true;
}

const struct op op_most = {
    .name = "most", .arity = 2, .kind = OP_ROUTINE, .grad = op_no_grad, .routine = most_routine
};

/* The largest of the elements that name each of so many rows, -INFINITY where none does. */
static tarn_tensor largest_of(const struct scattered *s, tarn_tensor source, int32_t rows)
{
    const union op_arg arg = lines_arg(s->axis, rows);
    tarn_shape to = s->part;
    to.dim[s->axis] = rows;
    const tarn_tensor in[] = { source, lines_expanded(s->index, s->part, s->axis, rows) };
    return graph_record(source.replica, &op_most, in, 2, to, tarn_dtype_get(source), &arg);
}

/* x with extremes, without a gradient. */
static tarn_tensor extremes(const struct scattered *s, tarn_tensor x, bool largest)
{
    const int32_t rows = tarn_shape_get(x).dim[s->axis];
    const tarn_tensor source = tarn_detach(s->source);
    x = tarn_detach(x);
    if (largest)
        return tarn_maximum(x, largest_of(s, source, rows));
    return tarn_minimum(x, tarn_neg(largest_of(s, tarn_neg(source), rows)));
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
