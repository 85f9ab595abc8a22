/* SPDX-License-Identifier: Apache-2.0 */
/* What goes along an axis by index, or by order: shapes, values by definition, and how such lines are drawn. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "generate.h"
#include "interpret.h"
#include "more.h"

/* ---- shapes --------------------------------------------------------------------------------- */

static bool none_longer(tarn_shape a, tarn_shape b, int but)
{
    for (int d = 0; d < a.rank; d++)
        if (d != but && a.dim[d] > b.dim[d])
            return false;
    return a.rank == b.rank;
}

static bool scatters(enum op_id op)
{
    return op == OP_ID_scatter_add || op == OP_ID_scatter_max || op == OP_ID_scatter_min;
}

/* arg[0]: the right side. Lines of the last axis, or one for all values. */
static bool search_shape(struct line *l, const struct line *x, const struct line *y)
{
    tarn_shape s = y->shape;
    l->shape = s;
    l->dtype = TARN_I32;
    if (x->shape.rank == 0 || program_half(x->dtype) || x->dtype != y->dtype)
        return false;
    if (s.rank > 0)
        s.dim[s.rank - 1] = x->shape.dim[x->shape.rank - 1];
    return x->shape.rank == 1 || same_shape(s, x->shape);
}

bool lines_shape(const struct program *p, struct line *l, const struct line *x,
                 const struct line *y)
{
    const int axis = l->arg[0];
    if (l->op == OP_ID_searchsorted)
        return search_shape(l, x, y);
    if (axis >= x->shape.rank || program_half(x->dtype))
        return false;
    const int32_t length = x->shape.dim[axis];
    l->shape = x->shape;
    l->dtype = l->op == OP_ID_argsort || (l->op == OP_ID_cumsum && x->dtype == TARN_U8) ? TARN_I32
                                                                                        : x->dtype;
    if (l->op == OP_ID_top_k) {
        l->shape.dim[axis] = l->arg[2];
        return l->arg[2] <= length;
    }
    if (l->ins == 1)
        return l->op != OP_ID_cumprod || x->dtype == TARN_F32; /* integers would wrap */
    if (program_floats(y->dtype) || length < 1)
        return false;
    if (l->op == OP_ID_index_select) {
        l->shape.dim[axis] = y->shape.dim[0];
        return y->shape.rank == 1;
    }
    if (l->op == OP_ID_index_add) {
        const struct line *source = &p->line[l->in[2]];
        tarn_shape slices = x->shape;
        slices.dim[axis] = y->shape.dim[0];
        return y->shape.rank == 1 && x->dtype == TARN_F32 && source->dtype == TARN_F32 &&
               same_shape(slices, source->shape);
    }
    if (l->op == OP_ID_gather)
        l->shape = y->shape;
    return none_longer(y->shape, x->shape, axis) &&
           (l->op == OP_ID_gather || (x->dtype == TARN_F32 && p->line[l->in[2]].dtype == TARN_F32 &&
                                      none_longer(y->shape, p->line[l->in[2]].shape, -1)));
}

/* ---- calls ---------------------------------------------------------------------------------- */

tarn_tensor lines_call(const struct line *l, const tarn_tensor *in)
{
    const int axis = l->arg[0];
    switch (l->op) {
    case OP_ID_gather:
        return tarn_gather(in[0], axis, in[1]);
    case OP_ID_scatter_add:
        return tarn_scatter_add(in[0], axis, in[1], in[2]);
    case OP_ID_scatter_max:
        return tarn_scatter_max(in[0], axis, in[1], in[2]);
    case OP_ID_scatter_min:
        return tarn_scatter_min(in[0], axis, in[1], in[2]);
    case OP_ID_searchsorted:
        return tarn_searchsorted(in[0], in[1], axis != 0);
    case OP_ID_cumprod:
        return tarn_cumprod(in[0], axis);
    case OP_ID_index_select:
        return tarn_index_select(in[0], axis, in[1]);
    case OP_ID_index_add:
        return tarn_index_add(in[0], axis, in[1], in[2]);
    case OP_ID_sort:
        return tarn_sort(in[0], axis, l->arg[1] != 0, NULL);
    case OP_ID_argsort:
        return tarn_argsort(in[0], axis, l->arg[1] != 0);
    case OP_ID_top_k:
        return tarn_top_k(in[0], l->arg[2], axis, l->arg[1] != 0, NULL);
    default:
        return tarn_cumsum(in[0], axis);
    }
}

/* ---- values --------------------------------------------------------------------------------- */

static int *new_list(int64_t count)
{
    int *list = malloc((size_t)count * sizeof *list + sizeof *list);
    if (list == NULL)
        abort();
    return list;
}

/* The element of x that position `at` of the index names; false where rounding may change the index. */
static bool named(const struct tape_node *index, int64_t i, tarn_shape from, int axis,
                  const int *at, int *element)
{
    int place[TARN_MAX_RANK];
    memcpy(place, at, sizeof place);
    place[axis] = (int)fmax(0, fmin(from.dim[axis] - 1, index->v[i]));
    *element = (int)position_of(from, place);
    return index->e[i] == 0;
}

static int by_index(struct tape *t, const struct line *l, int x, tarn_shape from, int index,
                    tarn_shape shape)
{
    const int axis = l->arg[0], count = (int)tarn_shape_count(l->shape);
    int *list = new_list(count), at[TARN_MAX_RANK] = { 0 };
    bool sure = true;
    for (int i = 0; i < count; i++, next_position(l->shape, at)) {
        const int64_t which = l->op == OP_ID_index_select ? at[axis] : position_of(shape, at);
        sure &= named(&t->node[index], which, from, axis, at, &list[i]);
    }
    const int y = sure ? tape_gather(t, x, count, list, 0) : -1;
    free(list);
    return y;
}

/* The extreme of x's elements and those added to them, `count` of them that go to `list`. */
static int extremes(struct tape *t, int x, int terms, int count, const int *list, int sign)
{
    const int own = t->node[x].count, all = own + count;
    int *group = new_list(all), *first = new_list(all), *second = new_list(all);
    for (int i = 0; i < all; i++) {
        group[i] = i < own ? i : list[i - own];
        first[i] = i < own ? i : -1;
        second[i] = i - own < 0 ? -1 : i - own;
    }
    const int both = tape_map2(t, T_ADD, tape_gather(t, x, all, first, 0),
                               tape_gather(t, terms, all, second, 0));
    const int y = extreme(t, both, own, group, sign, false);
    free(group);
    free(first);
    free(second);
    return y;
}

/* The index has this shape, or is of slices along the axis. */
static int scatter(struct tape *t, const struct line *l, int x, tarn_shape to, int index,
                   tarn_shape shape, int source, tarn_shape from)
{
    const int axis = l->arg[0], count = (int)tarn_shape_count(shape);
    int *taken = new_list(count), *list = new_list(count), at[TARN_MAX_RANK] = { 0 };
    bool sure = true;
    for (int i = 0; i < count; i++, next_position(shape, at)) {
        const int which = l->op == OP_ID_index_add ? at[axis] : i;
        taken[i] = (int)position_of(from, at);
        sure &= named(&t->node[index], which, to, axis, at, &list[i]);
    }
    const int terms = tape_gather(t, source, count, taken, 0);
    int y = -1;
    if (sure && (l->op == OP_ID_scatter_max || l->op == OP_ID_scatter_min))
        y = extremes(t, x, terms, count, list, l->op == OP_ID_scatter_max ? 1 : -1);
    else if (sure)
        y = tape_map2(t, T_ADD, x, tape_scatter(t, terms, (int)tarn_shape_count(to), list));
    free(taken);
    free(list);
    return y;
}

/* Whether a comes after b: NaN after all. */
static bool after(double a, double b, bool descending)
{
    const bool more = a > b || (isnan(a) && !isnan(b)), less = a < b || (isnan(b) && !isnan(a));
    return descending ? less : more;
}

/* The positions of a line in order. False where rounding may change it. */
static bool sort_line(const struct tape_node *x, int start, int inner, int length, bool descending,
                      int *order)
{
    bool sure = true;
    for (int i = 0; i < length; i++) {
        int k = i;
        for (; k > 0 &&
               after(x->v[start + order[k - 1] * inner], x->v[start + i * inner], descending);
             k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
    for (int i = 1; i < length; i++) {
        const int a = start + order[i - 1] * inner, b = start + order[i] * inner;
        sure &= x->e[a] + x->e[b] == 0 || fabs(x->v[a] - x->v[b]) > x->e[a] + x->e[b];
    }
    return sure;
}

/* Sorted elements or their positions, as many as the result has. */
static int sorted(struct tape *t, const struct line *l, int x, tarn_shape s)
{
    const int axis = l->arg[0], length = s.dim[axis], count = (int)tarn_shape_count(l->shape);
    int *order = new_list(length), *list = new_list(count), inner = 1, at[TARN_MAX_RANK] = { 0 };
    const int positions = tape_full(t, count, 0, 0);
    bool sure = true;
    for (int d = axis + 1; d < s.rank; d++)
        inner *= s.dim[d];
    for (int i = 0; i < count; i++, next_position(l->shape, at)) {
        int start[TARN_MAX_RANK];
        memcpy(start, at, sizeof start);
        start[axis] = 0;
        const int from = (int)position_of(s, start);
        sure &= sort_line(&t->node[x], from, inner, length, l->arg[1] != 0, order);
        list[i] = from + order[at[axis]] * inner;
        t->node[positions].v[i] = order[at[axis]];
    }
    const int y = !sure                    ? -1
                  : l->op == OP_ID_argsort ? positions
                                           : tape_gather(t, x, count, list, 0);
    free(order);
    free(list);
    return y;
}

static int cumulated(struct tape *t, int axis, int x, tarn_shape s)
{
    const int count = (int)tarn_shape_count(s), length = s.dim[axis];
    int *from = new_list((int64_t)count * length), *to = new_list((int64_t)count * length), n = 0;
    int at[TARN_MAX_RANK] = { 0 };
    for (int i = 0; i < count; i++, next_position(s, at))
        for (int k = 0; k <= at[axis]; k++) {
            int place[TARN_MAX_RANK];
            memcpy(place, at, sizeof place);
            place[axis] = k;
            from[n] = (int)position_of(s, place);
            to[n++] = i;
        }
    const int terms = tape_gather(t, x, n, from, 0);
    const int y = tape_scatter(t, terms, count, to);
    free(from);
    free(to);
    return y;
}

/* One product after the other, each with the next element. */
static int multiplied(struct tape *t, int axis, int x, tarn_shape s)
{
    const int count = (int)tarn_shape_count(s), length = s.dim[axis];
    int *from = new_list(count), *to = new_list(count), y = tape_full(t, count, 0, 0), product = -1;
    for (int k = 0; k < length; k++) {
        int at[TARN_MAX_RANK] = { 0 }, n = 0;
        for (int i = 0; i < count; i++, next_position(s, at)) {
            to[i] = at[axis] == k ? n : -1;
            if (at[axis] == k)
                from[n++] = i;
        }
        const int next = tape_gather(t, x, n, from, 0);
        product = k == 0 ? next : tape_map2(t, T_MUL, product, next);
        y = tape_map2(t, T_ADD, y, tape_gather(t, product, count, to, 0));
    }
    free(from);
    free(to);
    return y;
}

/* How many elements of its line come before a value. -1: rounding may change it, or lines are not ascending. */
static int searched(struct tape *t, const struct line *l, int x, tarn_shape s, int values)
{
    const int count = (int)tarn_shape_count(l->shape), length = s.dim[s.rank - 1];
    const int y = tape_full(t, count, 0, 0), rank = l->shape.rank;
    const struct tape_node *line = &t->node[x], *value = &t->node[values];
    for (int i = 0; i < count; i++) {
        const int start = s.rank == 1 ? 0 : i / l->shape.dim[rank - 1] * length;
        for (int k = start; k < start + length; k++) {
            const double d = value->v[i] - line->v[k], e = value->e[i] + line->e[k];
            if ((e > 0 && !(fabs(d) > e)) || (k > start && line->v[k] < line->v[k - 1]))
                return -1;
            t->node[y].v[i] += d > 0 || (d == 0 && l->arg[0] != 0);
        }
    }
    return y;
}

int interpret_lines(struct interpreter *m, const struct line *l)
{
    struct tape *t = m->tape;
    const struct line *lines = m->p->line;
    const int x = interpret_operand(m, l, 0), y = l->ins > 1 ? interpret_operand(m, l, 1) : -1;
    const tarn_shape s = lines[l->in[0]].shape;
    t->integer = !program_floats(l->dtype);
    switch (l->op) {
    case OP_ID_gather:
    case OP_ID_index_select:
        return by_index(t, l, x, s, y, lines[l->in[1]].shape);
    case OP_ID_scatter_add:
    case OP_ID_scatter_max:
    case OP_ID_scatter_min:
    case OP_ID_index_add:
        return scatter(t, l, x, s, y, lines[l->in[l->op == OP_ID_index_add ? 2 : 1]].shape,
                       interpret_operand(m, l, 2), lines[l->in[2]].shape);
    case OP_ID_searchsorted:
        return searched(t, l, x, s, y);
    case OP_ID_cumprod:
        return multiplied(t, l->arg[0], x, s);
    case OP_ID_cumsum:
        return cumulated(t, l->arg[0], x, s);
    default:
        return sorted(t, l, x, s);
    }
}

/* ---- drawn ---------------------------------------------------------------------------------- */

/* An index of this shape; some repeat themselves along other axes. */
static int new_index(struct generator *g, tarn_shape s, int axis, int32_t length)
{
    const bool repeats = chance(g, 40), all = chance(g, 50);
    struct line l = { .op = OP_ID_broadcast_to, .in = { -1, -1, -1 }, .ins = 1, .list = { s } };
    for (int d = 0; d < s.rank && repeats; d++)
        s.dim[d] = d == axis || (d < axis && !all) ? s.dim[d] : 1;
    const int leaf = new_leaf(g, s, chance(g, 80) ? TARN_I32 : TARN_U8, FILL_INDEX, length + 2);
    l.in[0] = leaf;
    return leaf < 0 || !repeats ? leaf : try_line(g, l);
}

/* Values of a few numbers, among which some are equal to sorted ones. */
static int grow_search(struct generator *g, tarn_shape s)
{
    const tarn_dtype dtype = chance(g, 80) ? TARN_F32 : TARN_I32;
    const enum fill fill = dtype == TARN_I32 || chance(g, 50) ? FILL_COARSE : FILL_SIGNED;
    const bool one = chance(g, 50);
    struct line l = { .op = OP_ID_searchsorted, .in = { -1, -1, -1 }, .ins = 2 };
    struct line sort = { .op = OP_ID_sort, .in = { -1, -1, -1 }, .ins = 1 };
    tarn_shape from = one ? TARN_SHAPE(some_length(g)) : s;
    sort.in[0] = new_leaf(g, from, dtype, fill, 0);
    sort.arg[0] = from.rank - 1;
    s.dim[s.rank - 1] = some_length(g);
    l.in[1] = new_leaf(g, s, dtype, fill, 0);
    l.in[0] = sort.in[0] < 0 ? -1 : try_line(g, sort);
    l.arg[0] = chance(g, 50);
    return l.in[0] < 0 || l.in[1] < 0 ? -1 : try_line(g, l);
}

int grow_lines(struct generator *g, enum op_id op, int a)
{
    struct line l = { .op = op, .in = { a, -1, -1 }, .ins = 1 };
    const bool sorts = op == OP_ID_sort || op == OP_ID_argsort || op == OP_ID_top_k;
    tarn_shape s = shape_of_line(g, a);
    if (s.rank == 0)
        return -1;
    if (op == OP_ID_searchsorted)
        return grow_search(g, s);
    if (scatters(op) && op != OP_ID_scatter_add && chance(g, 60)) /* equal extremes */
        l.in[0] = new_leaf(g, s, TARN_F32, FILL_COARSE, 0);
    if (sorts && chance(g, 60)) /* equal elements */
        l.in[0] = new_leaf(g, s, chance(g, 80) ? TARN_F32 : TARN_I32, FILL_COARSE, 0);
    const int axis = below(g, s.rank);
    l.arg[0] = axis;
    l.arg[1] = sorts && chance(g, 50);
    if (op == OP_ID_top_k)
        l.arg[2] = below(g, s.dim[axis] + 1);
    if (op == OP_ID_index_select) {
        l.in[1] = new_leaf(g, TARN_SHAPE(some_length(g)), TARN_I32, FILL_INDEX, s.dim[axis] + 2);
        l.ins = 2;
    }
    if (op == OP_ID_index_add) {
        const int32_t length = s.dim[axis];
        s.dim[axis] = some_length(g);
        l.in[1] = new_leaf(g, TARN_SHAPE(s.dim[axis]), TARN_I32, FILL_INDEX, length + 2);
        l.in[2] = new_leaf(g, s, TARN_F32, FILL_SIGNED, 0);
        l.ins = 3;
    }
    if (op == OP_ID_gather || scatters(op)) {
        const int32_t length = s.dim[axis];
        for (int d = 0; d < s.rank; d++)
            if (d == axis)
                s.dim[d] = some_length(g);
            else if (chance(g, 10))
                s.dim[d] = s.dim[d] > 1 ? s.dim[d] - 1 : s.dim[d];
        l.in[1] = new_index(g, s, axis, length);
        l.ins = 2;
    }
    if (scatters(op)) {
        s.dim[axis] += chance(g, 20);
        l.in[2] = new_leaf(g, s, TARN_F32, chance(g, 50) ? FILL_COARSE : FILL_SIGNED, 0);
        l.ins = 3;
    }
    for (int k = 0; k < l.ins; k++)
        if (l.in[k] < 0)
            return -1;
    return try_line(g, l);
}
