/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of elements by index, and reading by index along an axis: each is the other's gradient. The positions are
 * sorted by index, so that what makes up one element of a sum is a segment of them, in the order of positions;
 * no atomics, so always the same bits, and no more work than the positions, their logarithm, and the result. */
#include <string.h>

#include "op/lines.h"
#include "tensor/shape.h"
#include "tensor/spread_label.h"
#include "tensor/sum_order.h"

#define LEAST_LINES 16
#define PIECE 64 /* cycles are those of so many elements at a time */

tarn_tensor lines_clamped(tarn_tensor index, int32_t length)
{
    tarn_replica *r = index.replica;
    const tarn_tensor last = op_whole(r, length - 1);
    const tarn_tensor zeroth = op_whole(r, 0);
    return tarn_maximum(tarn_minimum(index, last), zeroth);
}

/* ---- sums by index -------------------------------------------------------------------------- */

int64_t lines_row_width(tarn_shape of, tarn_shape index, int axis)
{
    if (axis < 0)
        return of.dim[of.rank - 1];
    return lines_of(of, axis).inner / lines_of(index, axis).inner;
}

/* Lines that are shorter than what is summed apart (sum_order.h), or whose sums have one term at most, are as soon added up
 * in the order of their positions, which needs no sorting, where each unit has some. */
static bool adds_lines(const struct node *n, const struct lines *l,
                       const struct routine_place *where)
{
    return n->dtype == TARN_F32 && !where->items && l->count >= LEAST_LINES &&
           (l->length <= SUM_CHUNK || n->arg.routine.distinct);
}

/* in[0] the source, in[1] the index: one line of all, of rows; or lines along an axis, of rows or elements. */
static bool scatter_routine(const struct node *n, const tarn_shape *in,
                            const struct routine_place *where, int pass, struct routine_pass *out)
{
    const struct indexed of = lines_indexed(n, in);
    if (adds_lines(n, &of.index, where)) {
        *out = lines_pass(&of, false);
        out->function = "tarn_add_lines";
        out->pieces = (int32_t)of.index.count;
        out->cycles = 16.0 + 4.0 * (double)of.index.length +
                      (double)(of.width * (of.rows + 2 * of.index.length)) / PIECE;
        return true;
    }
    if (!lines_by_row(n, in, where, pass, out))
        return false;
    out->function = n->dtype == TARN_F64 ? "tarn_add_elements_double"
                    : where->items       ? "tarn_add_elements"
                                         : "tarn_add_rows";
    out->pieces = (int32_t)(of.index.count * of.rows * (where->items ? of.width : 1));
    out->cycles = lines_row_cycles(&of, where->items);
    out->number[out->numbers++] = of.index.length / where->shards;
    return true;
}

static tarn_tensor pick(tarn_tensor x, int axis, tarn_tensor index, bool distinct);

static void scatter_grad(struct grad_call *c)
{
    const int axis = c->arg.routine.axis;
    c->gin[0] = axis < 0 ? tarn_embedding(c->g, c->in[1])
                         : pick(c->g, axis, c->in[1], c->arg.routine.distinct);
}

const struct op op_scatter = { .name = "scatter",
                               .arity = 2,
                               .kind = OP_ROUTINE,
                               .grad = scatter_grad,
                               .routine = scatter_routine };

/* The index lies in the lines of the result. */
static tarn_tensor scatter(tarn_tensor source, int axis, tarn_tensor index, tarn_shape shape,
                           int32_t length, bool distinct)
{
    union op_arg arg = lines_arg(axis, length);
    arg.routine.distinct = distinct;
    const tarn_tensor in[] = { source, index };
    const tarn_dtype dtype = dtype_single(tarn_dtype_get(source));
    if (tarn_shape_count(tarn_shape_get(source)) == 0 || tarn_shape_count(shape) == 0)
        return op_constant_of(source.replica, shape, dtype, 0);
    return graph_record(source.replica, &op_scatter, in, 2, shape, dtype, &arg);
}

tarn_tensor op_scatter_rows(tarn_tensor source, tarn_tensor index, int32_t rows)
{
    const tarn_shape s = tarn_shape_get(source);
    return scatter(source, -1, lines_clamped(index, rows), TARN_SHAPE(rows, s.dim[s.rank - 1]),
                   rows, false);
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
    const int axis = n->arg.routine.axis;
    const struct lines l = lines_of(in[1], axis);
    const int64_t width = lines_row_width(in[0], in[1], axis), parts = where->items ? width : 1;
    (void)pass;
    *out = (struct routine_pass){ .reads = 3, .numbers = 5 };
    out->function = functions[n->dtype];
    out->pieces = (int32_t)(l.count * l.length * parts);
    out->cycles = 8.0 + (double)(width / parts) / 4;
    const int64_t number[] = { in[0].dim[axis], l.length, l.inner, width, parts };
    memcpy(out->number, number, sizeof number);
    return true;
}

static void pick_grad(struct grad_call *c)
{
    const int axis = c->arg.routine.axis;
    const tarn_shape shape = tarn_shape_get(c->in[0]);
    c->gin[0] = scatter(c->g, axis, c->in[1], shape, shape.dim[axis], c->arg.routine.distinct);
}

const struct op op_pick = {
    .name = "pick", .arity = 2, .kind = OP_ROUTINE, .grad = pick_grad, .routine = pick_routine
};

static tarn_tensor pick(tarn_tensor x, int axis, tarn_tensor index, bool distinct)
{
    union op_arg arg = lines_arg(axis, 0);
    arg.routine.distinct = distinct;
    tarn_shape s = tarn_shape_get(x);
    s.dim[axis] = tarn_shape_get(index).dim[axis];
    const tarn_tensor in[] = { x, index };
    if (tarn_shape_count(s) == 0)
        return tarn_cast(op_constant_of(x.replica, s, TARN_I32, 0), tarn_dtype_get(x));
    return graph_record(x.replica, &op_pick, in, 2, s, tarn_dtype_get(x), &arg);
}

/* ---- along an axis -------------------------------------------------------------------------- */

/* Whether elements of an index that differ along this axis alone are one for sure: it was repeated, and what was done
 * since was done to each. */
static bool repeats(const tarn_replica *r, uint32_t node, int axis)
{
    const struct graph *g = &r->graph;
    while (g->nodes[node].shape.dim[axis] != 1) {
        const struct node *n = &g->nodes[node];
        if (n->op != &op_expand && (n->op->kind != OP_MAP || n->in_count != 1))
            return n->op == &op_constant;
        node = g->operands[n->first_in];
        axis -= n->shape.rank - g->nodes[node].shape.rank;
        if (axis < 0)
            return true;
    }
    return true;
}

/* The first element along an axis: where it was repeated, what it was before. */
static tarn_tensor first_along(tarn_tensor x, int axis)
{
    const struct node *n = graph_node(x);
    tarn_shape s = n->shape;
    if (n->op == &op_expand) {
        const uint32_t from = x.replica->graph.operands[n->first_in];
        const tarn_shape before = x.replica->graph.nodes[from].shape;
        s.dim[axis] = 1;
        if (before.rank == s.rank && before.dim[axis] == 1)
            return op_expand_to(graph_handle(x.replica, from), s);
    }
    return tarn_slice(x, axis, 0, 1, 1);
}

/* An index as one line: where it was reshaped from one, that, so that all uses of an index are of one node. */
static tarn_tensor in_a_line(tarn_tensor index)
{
    const struct graph *g = &index.replica->graph;
    uint32_t node = graph_resolve(index);
    while (node != 0 && g->nodes[node].op == &op_reshape)
        node = g->operands[g->nodes[node].first_in];
    const tarn_tensor line = node == 0 ? index : graph_handle(index.replica, node);
    const tarn_shape s = tarn_shape_get(line);
    return s.rank == 1 ? line : tarn_reshape(line, TARN_SHAPE((int32_t)tarn_shape_count(s)));
}

/* The index with one element along each axis from `from` on but `axis`, if it repeats itself along them all. */
static tarn_tensor once(tarn_tensor index, int from, int axis)
{
    const tarn_shape s = tarn_shape_get(index);
    const uint32_t node = graph_resolve(index);
    for (int d = from; d < s.rank; d++)
        if (d != axis && !repeats(index.replica, node, d))
            return index;
    for (int d = from; d < s.rank; d++)
        if (d != axis && s.dim[d] > 1)
            index = first_along(index, d);
    return index;
}

/* The int32 index along an axis of x, or poison after recording an error. Where it repeats itself along all axes but this
 * one, or all further in, it has one element for them: rows are moved, and sorted once. */
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
                          "%s: the index is %s, must be of whole numbers; use tarn_cast", name,
                          tarn_dtype_name(tarn_dtype_get(index)));
    return tarn_cast(once(once(index, axis + 1, axis), 0, axis), TARN_I32);
}

/* Whether rows of a table are moved, or summed, by this index along an axis of x. Samples stay where they are: a table
 * would have virtual shards' along its rows. */
static bool moves_rows(tarn_tensor x, int axis, tarn_tensor index)
{
    const tarn_shape s = tarn_shape_get(index);
    return tarn_shape_count(s) == s.dim[axis] && tarn_shape_count(tarn_shape_get(x)) > 0 &&
           (axis == 0 || graph_node(x)->spread != SPREAD_SAMPLES);
}

tarn_tensor lines_expanded(tarn_tensor index, tarn_shape whole, int axis, int32_t length)
{
    tarn_shape s = tarn_shape_get(index);
    for (int d = 0; d < axis; d++)
        s.dim[d] = whole.dim[d];
    return op_expand_to(lines_clamped(index, length), s);
}

/* Axes in another order, and where they go back to. */
struct turned {
    tarn_shape order, back;
    int axis; /* where the axis that is meant has gone */
};

static struct turned turned_to(tarn_shape order, int axis)
{
    struct turned t = { .order = order, .back = { .rank = order.rank } };
    for (int d = 0; d < order.rank; d++)
        t.back.dim[order.dim[d]] = d;
    t.axis = t.back.dim[axis];
    return t;
}

static struct turned in_front(int rank, int axis)
{
    tarn_shape order = { .rank = rank, .dim = { axis } };
    for (int d = 0, next = 1; d < rank; d++)
        if (d != axis)
            order.dim[next++] = d;
    return turned_to(order, axis);
}

/* The axes before this one along which the index repeats itself, but for the first, whose samples stay where they are, behind
 * all others: there they are what one index moves, and it is sorted once for them all. */
static struct turned rows_behind(tarn_tensor index, int axis)
{
    const tarn_shape s = tarn_shape_get(index);
    const uint32_t node = graph_resolve(index);
    tarn_shape order = { .rank = s.rank };
    bool moves[TARN_MAX_RANK] = { false };
    int next = 0;
    for (int d = 1; d < axis; d++)
        moves[d] = repeats(index.replica, node, d);
    for (int moved = 0; moved < 2; moved++)
        for (int d = 0; d < s.rank; d++)
            if (moves[d] == (moved == 1))
                order.dim[next++] = d;
    return turned_to(order, axis);
}

/* An index of lines of this length with its axes in this order, as `whole` has them, and one element for what it moves. */
static tarn_tensor index_turned(tarn_tensor index, const struct turned *to, tarn_shape whole,
                                int32_t length)
{
    const tarn_shape s = tarn_shape_get(index);
    for (int d = 0; d < to->order.dim[to->axis]; d++)
        if (to->back.dim[d] > to->axis && s.dim[d] > 1)
            index = first_along(index, d);
    return lines_expanded(tarn_permute(index, to->order), whole, to->axis, length);
}

static tarn_tensor to_rows(tarn_tensor x, int axis)
{
    const tarn_shape s = tarn_shape_get(x);
    const int32_t width = (int32_t)(tarn_shape_count(s) / s.dim[axis]);
    return op_reshape_to(tarn_permute(x, in_front(s.rank, axis).order),
                         TARN_SHAPE(s.dim[axis], width));
}

static tarn_tensor from_rows(tarn_tensor rows, tarn_shape to, int axis)
{
    const struct turned f = in_front(to.rank, axis);
    tarn_shape moved = to;
    for (int d = 0; d < to.rank; d++)
        moved.dim[d] = to.dim[f.order.dim[d]];
    return tarn_permute(op_reshape_to(rows, moved), f.back);
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
    if (tarn_failed(at))
        return at;
    x = lines_cut(x, tarn_shape_get(index), a);
    if (!moves_rows(x, a, at)) {
        const struct turned to = rows_behind(at, a);
        x = tarn_permute(x, to.order);
        const tarn_shape whole = tarn_shape_get(x);
        const tarn_tensor each = index_turned(at, &to, whole, whole.dim[to.axis]);
        return tarn_permute(pick(x, to.axis, each, false), to.back);
    }
    const tarn_tensor rows = tarn_embedding(to_rows(x, a), in_a_line(at));
    return from_rows(rows, tarn_shape_get(index), a);
}

tarn_tensor lines_in_order(tarn_tensor x, int axis, tarn_tensor order)
{
    if (tarn_failed(x) || tarn_failed(order) || moves_rows(x, axis, order))
        return tarn_gather(x, axis, order);
    return pick(x, axis, order, true);
}

/* The sums of a source that is as long as its index, along an axis that becomes so long. */
static tarn_tensor summed(tarn_tensor source, int axis, tarn_tensor index, int32_t length)
{
    tarn_shape to = tarn_shape_get(source);
    to.dim[axis] = length;
    if (!moves_rows(source, axis, index)) {
        const struct turned as = rows_behind(index, axis);
        source = tarn_permute(source, as.order);
        tarn_shape sums = tarn_shape_get(source);
        const tarn_tensor each = index_turned(index, &as, sums, length);
        sums.dim[as.axis] = length;
        return tarn_permute(scatter(source, as.axis, each, sums, length, false), as.back);
    }
    const tarn_tensor rows = to_rows(source, axis);
    return from_rows(op_scatter_rows(rows, in_a_line(index), length), to, axis);
}

bool lines_scattered(const char *name, tarn_tensor x, int axis, tarn_tensor index,
                     tarn_tensor source, struct scattered *s)
{
    tarn_replica *r;
    if (!graph_operands(name, (tarn_tensor[]){ x, index, source }, 3, &r))
        return false;
    s->axis = op_axis(x, name, axis);
    if (s->axis < 0)
        return false;
    s->index = index_along(name, x, s->axis, index);
    if (tarn_failed(s->index))
        return false;
    const tarn_shape from = tarn_shape_get(source);
    s->part = tarn_shape_get(index);
    bool fits = from.rank == s->part.rank;
    for (int d = 0; fits && d < s->part.rank; d++)
        fits = s->part.dim[d] <= from.dim[d];
    if (!fits) {
        graph_fail(r, TARN_ERR_SHAPE,
                   "%s: source %s of index %s: must have as many axes, none shorter", name,
                   shape_text(from), shape_text(s->part));
        return false;
    }
    if (!dtype_is_float(tarn_dtype_get(x)) || !dtype_is_float(tarn_dtype_get(source))) {
        graph_fail(r, TARN_ERR_DTYPE,
                   "%s: x is %s, the source %s: must be of a float type; use tarn_cast", name,
                   tarn_dtype_name(tarn_dtype_get(x)), tarn_dtype_name(tarn_dtype_get(source)));
        return false;
    }
    tarn_dtype of, with;
    s->x = op_wide(x, &of);
    s->source = lines_cut(op_wide(source, &with), s->part, -1);
    s->of = op_join_floats(of, with);
    if (s->of == TARN_F64) {
        s->x = tarn_cast(s->x, TARN_F64);
        s->source = tarn_cast(s->source, TARN_F64);
    }
    return true;
}

tarn_tensor tarn_scatter_add(tarn_tensor x, int axis, tarn_tensor index, tarn_tensor source)
{
    struct scattered s;
    if (!lines_scattered("scatter_add", x, axis, index, source, &s))
        return graph_poison(x.replica);
    const tarn_shape whole = tarn_shape_get(x);
    const tarn_tensor sums = summed(s.source, s.axis, s.index, whole.dim[s.axis]);
    tarn_shape part = s.part, none = whole, rest = whole;
    part.dim[s.axis] = whole.dim[s.axis];
    for (int d = 0; d < whole.rank; d++) {
        none.dim[d] = 0;
        rest.dim[d] = whole.dim[d] - part.dim[d];
    }
    const tarn_tensor more = shape_equal(whole, part) ? sums : tarn_pad(sums, none, rest, 0);
    return op_as(tarn_add(s.x, more), s.of);
}

/* An index [N] of an axis, for all lines of a shape; or poison after recording an error. */
static tarn_tensor index_of_all(const char *name, tarn_tensor x, int axis, tarn_tensor index,
                                tarn_shape shape)
{
    const tarn_shape s = tarn_shape_get(x), at = tarn_shape_get(index);
    if (at.rank != 1 || s.dim[axis] < 1 || dtype_is_float(tarn_dtype_get(index)))
        return graph_fail(x.replica, TARN_ERR_SHAPE,
                          "%s: %s index %s along axis %d of %s: must be whole numbers [N], and the "
                          "axis have elements",
                          name, tarn_dtype_name(tarn_dtype_get(index)), shape_text(at), axis,
                          shape_text(s));
    tarn_shape one = { .rank = s.rank };
    for (int d = 0; d < s.rank; d++)
        one.dim[d] = 1;
    shape.dim[axis] = one.dim[axis] = at.dim[0];
    return op_expand_to(op_reshape_to(index, one), shape);
}

tarn_tensor tarn_index_select(tarn_tensor x, int axis, tarn_tensor index)
{
    tarn_replica *r;
    if (!graph_operands("index_select", (tarn_tensor[]){ x, index }, 2, &r))
        return graph_poison(r);
    const int a = op_axis(x, "index_select", axis);
    if (a < 0)
        return graph_poison(r);
    const tarn_tensor all = index_of_all("index_select", x, a, index, tarn_shape_get(x));
    return tarn_failed(all) ? all : tarn_gather(x, a, all);
}

tarn_tensor tarn_index_add(tarn_tensor x, int axis, tarn_tensor index, tarn_tensor source)
{
    tarn_replica *r;
    if (!graph_operands("index_add", (tarn_tensor[]){ x, index, source }, 3, &r))
        return graph_poison(r);
    const int a = op_axis(x, "index_add", axis);
    if (a < 0)
        return graph_poison(r);
    const tarn_shape s = tarn_shape_get(x), from = tarn_shape_get(source);
    tarn_shape fits = s;
    if (tarn_shape_get(index).rank == 1)
        fits.dim[a] = tarn_shape_get(index).dim[0];
    if (!shape_equal(fits, from))
        return graph_fail(r, TARN_ERR_SHAPE,
                          "index_add: source %s of index %s along axis %d of %s: must be %s",
                          shape_text(from), shape_text(tarn_shape_get(index)), a, shape_text(s),
                          shape_text(fits));
    const tarn_tensor all = index_of_all("index_add", x, a, index, from);
    return tarn_failed(all) ? all : tarn_scatter_add(x, a, all, source);
}
