/* SPDX-License-Identifier: Apache-2.0 */
/* The ways of all ops. Most follow from index maps and contractions: an axis of the nest may be cut where its
 * blocks are contiguous blocks of one dimension in every operand and in the result. What is not known here is whole.
 * In: a form. Out: the form of one rank, and how operands and value lie. */
#include "shard/ways.h"

#include <string.h>

#include "shard/passing.h"
#include "tensor/shape.h"

enum { NEVER = -128 };

/* ---- one axis of a nest --------------------------------------------------------------------- */

/* Where axis f lies in a tensor whose dimensions are functions of the axes: the dimension that its blocks
 * cut into contiguous blocks, STATE_WHOLE when it lies in none, or NEVER. */
static int axis_place(const struct contract_map *m, tarn_shape shape, const int32_t *extent,
                      int axes, int f)
{
    int d = STATE_WHOLE;
    for (int i = 0; i < shape.rank; i++) {
        if (m->dim[i].coef[f] == 0)
            continue;
        if (d >= 0)
            return NEVER;
        d = i;
    }
    if (d < 0)
        return STATE_WHOLE;
    const int64_t k = m->dim[d].coef[f];
    if (m->dim[d].divide != 1 || k <= 0 || shape.dim[d] != k * extent[f])
        return NEVER;
    int64_t low = m->dim[d].offset, high = low;
    for (int a = 0; a < axes; a++) {
        const int64_t reach = a == f ? 0 : (int64_t)m->dim[d].coef[a] * (extent[a] - 1);
        *(reach < 0 ? &low : &high) += reach;
    }
    return low >= 0 && high < k ? d : NEVER;
}

static bool divides(int32_t extent, int32_t ranks)
{
    return extent > 0 && extent % ranks == 0;
}

/* Makes the form that of one rank; false where a dimension does not divide. */
static bool cut(struct form *f, int32_t ranks, const struct placing *p)
{
    for (uint32_t k = 0; k < f->node.in_count; k++) {
        if (p->in[k] < 0)
            continue;
        if (!divides(f->in[k].dim[p->in[k]], ranks))
            return false;
        f->in[k].dim[p->in[k]] /= ranks;
    }
    if (p->out < 0)
        return true;
    if (!divides(f->node.shape.dim[p->out], ranks))
        return false;
    f->node.shape.dim[p->out] /= ranks;
    return true;
}

static void place_all(struct placing *p, int8_t at)
{
    p->out = at;
    memset(p->in, at, sizeof p->in);
}

/* ---- kinds ---------------------------------------------------------------------------------- */

static bool place_view(const struct form *f, int axis, struct placing *p)
{
    struct index_map map;
    struct contract_map as;
    memset(&map, 0, sizeof map);
    memset(&as, 0, sizeof as);
    f->node.op->index(&f->node, f->in[0], &map);
    for (int d = 0; d < map.rank_in; d++) {
        memcpy(as.dim[d].coef, map.dim[d].coef, sizeof map.dim[d].coef);
        as.dim[d].offset = map.dim[d].offset;
        as.dim[d].divide = map.dim[d].divide;
    }
    const tarn_shape out = f->node.shape;
    const int at = axis_place(&as, f->in[0], out.dim, out.rank, axis);
    p->in[0] = (int8_t)at;
    p->out = (int8_t)axis;
    return at != NEVER;
}

/* One dimension more of one side of a segment, and the first that is longer than 1. */
static void extend(tarn_shape shape, int *at, int64_t *product, int *first)
{
    if (*first < 0 && shape.dim[*at] > 1)
        *first = *at;
    *product *= shape.dim[(*at)++];
}

/* Segments of equal products; in each the first dimension that is longer than 1 on either side is cut, since its
 * blocks are contiguous in the segment. */
static bool place_reshape(const struct form *f, int segment, struct placing *p)
{
    const tarn_shape from = f->in[0], to = f->node.shape;
    int i = 0, j = 0;
    if (tarn_shape_count(from) == 0)
        return false;
    for (int s = 0; i < from.rank && j < to.rank; s++) {
        int first_in = STATE_WHOLE, first_out = STATE_WHOLE;
        int64_t a = 1, b = 1;
        extend(from, &i, &a, &first_in);
        extend(to, &j, &b, &first_out);
        while (a != b && (a < b ? i < from.rank : j < to.rank)) {
            if (a < b)
                extend(from, &i, &a, &first_in);
            else
                extend(to, &j, &b, &first_out);
        }
        p->in[0] = (int8_t)first_in;
        p->out = (int8_t)first_out;
        if (s == segment)
            return a == b && first_in >= 0 && first_out >= 0;
    }
    return false;
}

static bool place_reduce(const struct form *f, int axis, struct placing *p)
{
    const struct op *op = f->node.op;
    p->in[0] = (int8_t)axis;
    p->out = (int8_t)axis;
    if (!(f->node.arg.reduce.axes >> axis & 1))
        return true;
    p->out = op->combination->adds                  ? STATE_SUM
             : op == &op_max || op == &op_max_first ? STATE_MAX
             : op == &op_min                        ? STATE_MIN
                                                    : (int8_t)NEVER;
    return p->out != NEVER && (!op->combination->adds || f->node.dtype != TARN_U8);
}

/* The axis of groups of a convolution with several of them; -1: it has none. */
static int group_axis(const struct node *n)
{
    const bool is_conv =
        n->op == &op_conv2d || n->op == &op_conv2d_input || n->op == &op_conv2d_weight;
    if (!is_conv || n->arg.conv.groups <= 1)
        return -1;
    return n->op == &op_conv2d_weight ? 0 : 1;
}

static bool place_contract(struct form *f, int32_t ranks, int axis, struct placing *p)
{
    struct contract c;
    memset(&c, 0, sizeof c);
    f->node.op->contract(&f->node, f->in, &c);
    if (axis >= c.axes || !divides(c.extent[axis], ranks))
        return false;
    const int at[3] = { axis_place(&c.in[0], f->in[0], c.extent, c.axes, axis),
                        axis_place(&c.in[1], f->in[1], c.extent, c.axes, axis),
                        axis_place(&c.out, f->node.shape, c.extent, c.axes, axis) };
    if (at[0] == NEVER || at[1] == NEVER || at[2] == NEVER)
        return false;
    if (axis >= c.out_axes && (at[0] < 0 && at[1] < 0))
        return false;
    p->in[0] = (int8_t)at[0];
    p->in[1] = (int8_t)at[1];
    p->out = (int8_t)(axis < c.out_axes ? at[2] : STATE_SUM);
    if (axis == group_axis(&f->node))
        f->node.arg.conv.groups /= ranks;
    return axis >= c.out_axes || at[2] >= 0;
}

/* Dimensions of the index, then those of the table but its rows; and last the rows, of which each rank gives
 * those that it has. */
static bool place_gather(const struct form *f, int axis, struct placing *p)
{
    const int rows_rank = f->in[1].rank;
    if (axis < rows_rank) {
        p->in[1] = p->out = (int8_t)axis;
        return true;
    }
    if (axis < f->node.shape.rank) {
        p->in[0] = (int8_t)(1 + axis - rows_rank);
        p->out = (int8_t)axis;
        return true;
    }
    p->in[0] = 0;
    p->out = STATE_SUM; /* of whole registers */
    return dtype_adds(f->node.dtype);
}

/* Lines are kept together. Where all is one line of rows, these are summed in parts, or cut in their width, or each rank
 * adds up those of its part of the result. */
static bool place_routine(struct form *f, int32_t ranks, int axis, struct placing *p)
{
    const struct node *n = &f->node;
    const bool known = n->op == &op_order || n->op == &op_least || n->op == &op_cumsum ||
                       n->op == &op_pick || n->op == &op_scatter || n->op == &op_most;
    if (!known)
        return false;
    if (n->arg.routine.axis >= 0) {
        if (axis >= n->shape.rank || axis == n->arg.routine.axis)
            return false;
        place_all(p, (int8_t)axis);
        for (uint32_t k = 0; k < n->in_count; k++) {
            if (f->in[k].rank != n->shape.rank)
                return false;
            if (f->in[k].dim[axis] == n->shape.dim[axis])
                continue;
            if (f->in[k].dim[axis] != 1) /* an index of rows */
                return false;
            p->in[k] = STATE_WHOLE;
        }
        return true;
    }
    const int width = f->in[0].rank - 1;
    if (n->op != &op_scatter)
        return false;
    if (axis > width) { /* rows of the result */
        p->out = 0;
        f->node.arg.routine.length /= ranks;
        return n->shape.rank == 2;
    }
    p->in[0] = (int8_t)axis;
    p->in[1] = axis < width ? (int8_t)axis : STATE_WHOLE;
    p->out = axis < width ? STATE_SUM : 1;
    return n->shape.rank == 2;
}

static int axes_of(const struct form *f)
{
    const struct node *n = &f->node;
    switch (n->op->kind) {
    case OP_LEAF:
        return n->op == &op_constant || n->op == &op_iota || n->op == &op_rand ? n->shape.rank : 0;
    case OP_MAP:
    case OP_VIEW:
    case OP_CONCAT:
        return n->shape.rank;
    case OP_REDUCE:
        return f->in[0].rank;
    case OP_CONTRACT:
        return CONTRACT_AXES;
    case OP_GATHER:
        return n->shape.rank + 1;
    case OP_ROUTINE:
        return f->in[0].rank + 1;
    case OP_TRANSFORM:
    case OP_COMPOSED:
    case OP_HOST:
    case OP_EFFECT:
        break;
    }
    return 0;
}

static bool place(struct form *f, int32_t ranks, int axis, struct placing *p)
{
    const struct node *n = &f->node;
    switch (n->op->kind) {
    case OP_LEAF:
        place_all(p, (int8_t)axis);
        return true;
    case OP_MAP:
        place_all(p, (int8_t)axis);
        for (uint32_t k = 0; k < n->in_count; k++)
            if (!shape_equal(f->in[k], n->shape))
                return false;
        return true;
    case OP_VIEW:
        return n->op->index != NULL ? place_view(f, axis, p)
                                    : n->op == &op_reshape && place_reshape(f, axis, p);
    case OP_CONCAT:
        place_all(p, (int8_t)axis);
        return axis != n->arg.concat.axis;
    case OP_REDUCE:
        return place_reduce(f, axis, p);
    case OP_CONTRACT:
        return place_contract(f, ranks, axis, p);
    case OP_GATHER:
        return place_gather(f, axis, p);
    case OP_ROUTINE:
        return place_routine(f, ranks, axis, p);
    case OP_TRANSFORM:
    case OP_COMPOSED:
    case OP_HOST:
    case OP_EFFECT:
        break;
    }
    return false;
}

/* ---- ways ----------------------------------------------------------------------------------- */

int rule_ways(const struct form *f)
{
    struct passing list[PASSINGS_MOST];
    return 1 + axes_of(f) + passing_list(f, list);
}

bool rule_take(struct form *f, int32_t ranks, int way, struct placing *out)
{
    struct passing list[PASSINGS_MOST];
    const int axes = axes_of(f);
    place_all(out, STATE_WHOLE);
    if (way == 0)
        return true;
    if (way <= axes)
        return place(f, ranks, way - 1, out) && cut(f, ranks, out);
    if (way - 1 - axes >= passing_list(f, list))
        return false;
    const struct passing *p = &list[way - 1 - axes];
    out->out = p->pending;
    for (uint32_t k = 0; k < f->node.in_count; k++)
        out->in[k] = p->operands >> k & 1 ? p->pending : (int8_t)STATE_WHOLE;
    return true;
}

bool rule_renews(const struct node *n)
{
    return (n->op->kind == OP_VIEW && n->op != &op_after) || n->op == &op_constant ||
           n->op == &op_iota || n->op == &op_rand;
}

bool rule_is_sum(const struct placing *p)
{
    return state_pending(p->out);
}
