/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of elements by index, and reading by index along an axis: each is the other's gradient. The positions are
 * sorted by index, so that what makes up one element of a sum is a segment of them, in the order of positions;
 * no atomics, so always the same bits, and no more work than the positions, their logarithm, and the result. */
#include <string.h>

#include "op/lines.h"
#include "tensor/shape.h"
#include "tensor/spread_label.h"

#define PIECE 64 /* cycles are those of so many elements at a time */

/* Indices that lie in lines of this length. */
static tarn_tensor clamped(tarn_tensor index, int32_t length)
{
    tarn_replica *r = index.replica;
    const tarn_tensor last = op_constant_of(r, TARN_SCALAR, TARN_I32, length - 1);
    const tarn_tensor zeroth = op_constant_of(r, TARN_SCALAR, TARN_I32, 0);
    return tarn_maximum(tarn_minimum(index, last), zeroth);
}

/* ---- sums by index -------------------------------------------------------------------------- */

static int sort_passes(tarn_shape shape, int axis)
{
    struct routine_pass unused;
    int passes = 1;
    while (!lines_sort_pass(shape, TARN_I32, axis, 1, passes - 1, &unused))
        passes++;
    return passes;
}

/* in[0] the source, in[1] the index: one line of all, of rows; or lines along an axis, of elements. */
static bool scatter_routine(const struct node *n, const tarn_shape *in,
                            const struct routine_place *where, int pass, struct routine_pass *out)
{
    const int axis = n->arg.routine.axis;
    if (pass < sort_passes(in[1], axis)) {
        lines_sort_pass(in[1], TARN_I32, axis, 1, pass, out);
        return false;
    }
    const struct lines l = lines_of(in[1], axis);
    const int64_t rows = n->arg.routine.length;
    const int64_t width = axis < 0 ? in[0].dim[in[0].rank - 1] : 1;
    *out = (struct routine_pass){ .reads = 3, .reads_last = true, .numbers = 5 };
    out->function = n->dtype == TARN_F64 ? "tarn_add_elements_double"
                    : where->items       ? "tarn_add_elements"
                                         : "tarn_add_rows";
    out->pieces = (int32_t)(l.count * rows * (where->items ? width : 1));
    out->cycles = 16.0 + 2.0 * (double)width * (1.0 + (double)l.length / (double)rows) / PIECE;
    const int64_t number[] = { l.length, rows, width, l.inner, l.length / where->shards };
    memcpy(out->number, number, sizeof number);
    return true;
}

static tarn_tensor pick(tarn_tensor x, int axis, tarn_tensor index);

static void scatter_grad(struct grad_call *c)
{
    const int axis = c->arg.routine.axis;
    c->gin[0] = axis < 0 ? tarn_embedding(c->g, c->in[1]) : pick(c->g, axis, c->in[1]);
}

const struct op op_scatter = { .name = "scatter",
                               .arity = 2,
                               .kind = OP_ROUTINE,
                               .grad = scatter_grad,
                               .routine = scatter_routine };

/* The index lies in the lines of the result. */
static tarn_tensor scatter(tarn_tensor source, int axis, tarn_tensor index, tarn_shape shape,
                           int32_t length)
{
    const union op_arg arg = lines_arg(axis, length);
    const tarn_tensor in[] = { source, index };
    const tarn_dtype dtype = dtype_single(tarn_dtype_get(source));
    if (tarn_shape_count(tarn_shape_get(source)) == 0 || tarn_shape_count(shape) == 0)
        return op_constant_of(source.replica, shape, dtype, 0);
    return graph_record(source.replica, &op_scatter, in, 2, shape, dtype, &arg);
}

tarn_tensor op_scatter_rows(tarn_tensor source, tarn_tensor index, int32_t rows)
{
    const tarn_shape s = tarn_shape_get(source);
    return scatter(source, -1, clamped(index, rows), TARN_SHAPE(rows, s.dim[s.rank - 1]), rows);
}

/* ---- reading by index ----------------------------------------------------------------------- */

static bool pick_routine(const struct node *n, const tarn_shape *in,
                         const struct routine_place *where, int pass, struct routine_pass *out)
{
    static const char *const functions[] = { [TARN_F32] = "tarn_pick_float",
                                             [TARN_I32] = "tarn_pick_int",
                                             [TARN_U8] = "tarn_pick_uchar",
                                             [TARN_F64] = "tarn_pick_double",
                                             [TARN_I64] = "tarn_pick_long" };
    const struct lines l = lines_of(in[1], n->arg.routine.axis);
    (void)where;
    (void)pass;
    *out = (struct routine_pass){ .reads = 3, .numbers = 3, .cycles = 8 };
    out->function = functions[n->dtype];
    out->pieces = (int32_t)(l.count * l.length);
    out->number[0] = in[0].dim[n->arg.routine.axis];
    out->number[1] = l.length;
    out->number[2] = l.inner;
    return true;
}

static void pick_grad(struct grad_call *c)
{
    const int axis = c->arg.routine.axis;
    const tarn_shape shape = tarn_shape_get(c->in[0]);
    c->gin[0] = scatter(c->g, axis, c->in[1], shape, shape.dim[axis]);
}

const struct op op_pick = {
    .name = "pick", .arity = 2, .kind = OP_ROUTINE, .grad = pick_grad, .routine = pick_routine
};

static tarn_tensor pick(tarn_tensor x, int axis, tarn_tensor index)
{
    const union op_arg arg = lines_arg(axis, 0);
    const tarn_shape s = tarn_shape_get(index);
    const tarn_tensor in[] = { x, index };
    if (tarn_shape_count(s) == 0)
        return tarn_cast(op_constant_of(x.replica, s, TARN_I32, 0), tarn_dtype_get(x));
    return graph_record(x.replica, &op_pick, in, 2, s, tarn_dtype_get(x), &arg);
}

/* ---- along an axis -------------------------------------------------------------------------- */

/* The int32 index along an axis of x, or poison after recording an error. */
static tarn_tensor index_along(const char *name, tarn_tensor x, int axis, tarn_tensor index)
{
    const tarn_shape s = tarn_shape_get(x), at = tarn_shape_get(index);
    bool fits = at.rank == s.rank;
    for (int d = 0; fits && d < s.rank; d++)
        fits = d == axis || at.dim[d] <= s.dim[d];
    if (!fits || (s.dim[axis] == 0 && tarn_shape_count(at) > 0))
        return graph_fail(x.replica, TARN_ERR_SHAPE,
                          "%s: index %s along axis %d of %s: must have as many axes, none but axis "
                          "%d longer, and elements to name",
                          name, shape_text(at), axis, shape_text(s), axis);
    if (dtype_is_float(tarn_dtype_get(index)))
        return graph_fail(x.replica, TARN_ERR_DTYPE,
                          "%s: the index is %s, must be int32; use tarn_cast", name,
                          tarn_dtype_name(tarn_dtype_get(index)));
    return clamped(tarn_cast(index, TARN_I32), s.dim[axis]);
}

tarn_tensor tarn_gather(tarn_tensor x, int axis, tarn_tensor index)
{
    tarn_replica *r;
    if (!graph_operands("gather", (tarn_tensor[]){ x, index }, 2, &r))
        return graph_poison(r);
    const int a = op_axis(x, "gather", axis);
    if (a < 0)
        return graph_poison(r);
    const tarn_tensor at = index_along("gather", x, a, index);
    return tarn_failed(at) ? at : pick(lines_cut(x, tarn_shape_get(at), a), a, at);
}

tarn_tensor tarn_scatter_add(tarn_tensor x, int axis, tarn_tensor index, tarn_tensor source)
{
    tarn_replica *r;
    if (!graph_operands("scatter_add", (tarn_tensor[]){ x, index, source }, 3, &r))
        return graph_poison(r);
    const int a = op_axis(x, "scatter_add", axis);
    if (a < 0)
        return graph_poison(r);
    const tarn_shape s = tarn_shape_get(x), from = tarn_shape_get(source);
    const tarn_tensor at = index_along("scatter_add", x, a, index);
    if (tarn_failed(at))
        return at;
    tarn_shape part = tarn_shape_get(at);
    bool fits = from.rank == part.rank;
    for (int d = 0; fits && d < part.rank; d++)
        fits = part.dim[d] <= from.dim[d];
    if (!fits)
        return graph_fail(
            r, TARN_ERR_SHAPE,
            "scatter_add: source %s of index %s: must have as many axes, none shorter",
            shape_text(from), shape_text(part));
    if (!dtype_is_float(tarn_dtype_get(x)) || !dtype_is_float(tarn_dtype_get(source)))
        return graph_fail(
            r, TARN_ERR_DTYPE,
            "scatter_add: x is %s, the source %s: must be of a float type; use tarn_cast",
            tarn_dtype_name(tarn_dtype_get(x)), tarn_dtype_name(tarn_dtype_get(source)));
    tarn_dtype of, with;
    x = op_wide(x, &of);
    source = lines_cut(op_wide(source, &with), part, -1);
    if (of == TARN_F64)
        source = tarn_cast(source, TARN_F64);
    part.dim[a] = s.dim[a];
    const tarn_tensor sums = scatter(source, a, at, part, s.dim[a]);
    tarn_shape none = s, rest = s;
    for (int d = 0; d < s.rank; d++) {
        none.dim[d] = 0;
        rest.dim[d] = s.dim[d] - part.dim[d];
    }
    const tarn_tensor more = shape_equal(s, part) ? sums : tarn_pad(sums, none, rest, 0);
    return op_as(tarn_add(x, more), op_join_floats(of, with));
}

/* The same index for all lines, which leaves axis 0 where it is. */
static tarn_tensor select_in_lines(tarn_tensor x, int axis, tarn_tensor index)
{
    tarn_shape all = tarn_shape_get(x), one = { .rank = all.rank };
    for (int d = 0; d < all.rank; d++)
        one.dim[d] = 1;
    all.dim[axis] = one.dim[axis] = tarn_shape_get(index).dim[0];
    return tarn_gather(x, axis, tarn_broadcast_to(tarn_reshape(index, one), all));
}

/* By rows of a table: the index is sorted once for the gradient, not for each line. */
tarn_tensor tarn_index_select(tarn_tensor x, int axis, tarn_tensor index)
{
    tarn_replica *r;
    if (!graph_operands("index_select", (tarn_tensor[]){ x, index }, 2, &r))
        return graph_poison(r);
    const int a = op_axis(x, "index_select", axis);
    if (a < 0)
        return graph_poison(r);
    const tarn_shape s = tarn_shape_get(x), at = tarn_shape_get(index);
    if (at.rank != 1 || s.dim[a] < 1 || dtype_is_float(tarn_dtype_get(index)))
        return graph_fail(
            r, TARN_ERR_SHAPE,
            "index_select: %s index %s along axis %d of %s: must be int32 [N], and the "
            "axis have elements",
            tarn_dtype_name(tarn_dtype_get(index)), shape_text(at), a, shape_text(s));
    /* A table would have virtual shards' samples along its rows. The order of sums is the same. */
    if (a > 0 && graph_node(x)->spread == SPREAD_SAMPLES)
        return select_in_lines(x, a, index);
    tarn_shape order = s, back = s, moved = s;
    order.dim[0] = a;
    moved.dim[0] = at.dim[0];
    for (int d = 0, next = 1; d < s.rank; d++)
        if (d != a) {
            moved.dim[next] = s.dim[d];
            order.dim[next++] = d;
        }
    for (int d = 0; d < s.rank; d++)
        back.dim[order.dim[d]] = d;
    const int32_t rest = (int32_t)(tarn_shape_count(s) / s.dim[a]);
    const tarn_tensor table = op_reshape_to(tarn_permute(x, order), TARN_SHAPE(s.dim[a], rest));
    return tarn_permute(op_reshape_to(tarn_embedding(table, index), moved), back);
}
