/* SPDX-License-Identifier: Apache-2.0 */
#include "rule_cases.h"

#include <stdlib.h>
#include <string.h>

#include "op/op.h"

/* ---- adding them ---------------------------------------------------------------------------- */

static struct rule_case *list;
static int count;

static struct rule_case *add(const struct op *op, tarn_shape shape, tarn_dtype dtype,
                             const tarn_shape *in, uint32_t in_count)
{
    if (count == RULE_CASES_MOST)
        exit(2);
    struct rule_case *c = &list[count++];
    memset(c, 0, sizeof *c);
    c->form.node.op = op;
    c->form.node.shape = shape;
    c->form.node.dtype = dtype;
    c->form.node.in_count = in_count;
    if (in_count > 0)
        memcpy(c->form.in, in, in_count * sizeof *in);
    for (uint32_t k = 0; k < in_count && k < 3; k++)
        c->in_dtype[k] = TARN_F32;
    return c;
}

static struct rule_case *add1(const struct op *op, tarn_shape in, tarn_shape out)
{
    return add(op, out, TARN_F32, &in, 1);
}

static struct rule_case *add2(const struct op *op, tarn_shape a, tarn_shape b, tarn_shape out)
{
    return add(op, out, TARN_F32, (tarn_shape[]){ a, b }, 2);
}

/* ---- maps ----------------------------------------------------------------------------------- */

static bool compares(const struct op *op)
{
    return op == &op_eq || op == &op_ne || op == &op_lt || op == &op_le || op == &op_gt ||
           op == &op_ge;
}

static void add_map(const struct op *op)
{
    const tarn_shape s = TARN_SHAPE(4, 8), in[3] = { s, s, s };
    const bool ints = op == &op_hash_step;
    struct rule_case *c = add(op, s, TARN_F32, in, (uint32_t)op->arity);
    if (compares(op))
        c->form.node.dtype = TARN_U8;
    if (op == &op_bits || ints)
        c->form.node.dtype = TARN_I32;
    if (op == &op_from_bits || ints)
        c->in_dtype[0] = c->in_dtype[1] = TARN_I32;
    if (op == &op_where)
        c->in_dtype[0] = TARN_U8;
    if (op == &op_softplus || op == &op_leaky_relu) {
        c->form.node.arg.map.scalar[0] = 0.5f;
        c->form.node.arg.map.scalar[1] = 3;
    }
    if (op == &op_clamp) {
        c->form.node.arg.map.scalar[0] = -0.25f;
        c->form.node.arg.map.scalar[1] = 0.25f;
    }
}

static void add_integer_maps(void)
{
    static const struct op *const ops[] = { &op_add, &op_sub, &op_mul, &op_div, &op_neg, &op_cast };
    const tarn_shape s = TARN_SHAPE(4, 8), in[2] = { s, s };
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        struct rule_case *c = add(ops[i], s, TARN_I32, in, (uint32_t)ops[i]->arity);
        c->in_dtype[0] = ops[i] == &op_cast ? TARN_F32 : TARN_I32;
        c->in_dtype[1] = TARN_I32;
    }
    add(&op_cast, s, TARN_F32, in, 1)->in_dtype[0] = TARN_I32;
    add(&op_cast, s, TARN_U8, in, 1)->in_dtype[0] = TARN_I32;
}

/* ---- views ---------------------------------------------------------------------------------- */

static void add_slice(tarn_shape in, int axis, int32_t start, int32_t step, int32_t length)
{
    tarn_shape out = in;
    out.dim[axis] = length;
    struct rule_case *c = add1(&op_slice, in, out);
    for (int d = 0; d < in.rank; d++)
        c->form.node.arg.slice.step[d] = 1;
    c->form.node.arg.slice.start[axis] = start;
    c->form.node.arg.slice.step[axis] = step;
}

static void add_pad(tarn_shape in, int axis, int32_t low, int32_t high, float value)
{
    tarn_shape out = in;
    out.dim[axis] += low + high;
    struct rule_case *c = add1(&op_pad, in, out);
    c->form.node.arg.pad.low[axis] = low;
    c->form.node.arg.pad.high[axis] = high;
    c->form.node.arg.pad.value = value;
}

static void add_window(int32_t size, int32_t stride, int32_t window, int32_t dilation)
{
    const int32_t n = (size - (window - 1) * dilation - 1) / stride + 1;
    const tarn_shape image = TARN_SHAPE(2, 4, size, size);
    const tarn_shape windows = TARN_SHAPE(2, 4, n, n, window, window);
    struct rule_case *both[] = { add1(&op_window, image, windows),
                                 add1(&op_unwindow, windows,
                                      TARN_SHAPE(2, 4, size, size, window, window)) };
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 2; i++) {
            both[k]->form.node.arg.window.window[i] = window;
            both[k]->form.node.arg.window.stride[i] = stride;
            both[k]->form.node.arg.window.dilation[i] = dilation;
        }
}

static void add_views(void)
{
    const tarn_shape s = TARN_SHAPE(4, 8);
    for (int i = 0; i < all_ops_count; i++)
        if (all_ops[i]->index == op_same_index || all_ops[i] == &op_spread)
            add1(all_ops[i], s, s);
    add1(&op_reshape, TARN_SHAPE(4, 8), TARN_SHAPE(32));
    add1(&op_reshape, TARN_SHAPE(32), TARN_SHAPE(4, 8));
    add1(&op_reshape, TARN_SHAPE(4, 6), TARN_SHAPE(6, 4));
    add1(&op_reshape, TARN_SHAPE(2, 4, 3, 4), TARN_SHAPE(8, 1, 12));
    add1(&op_reshape, TARN_SHAPE(1, 8, 4), TARN_SHAPE(2, 4, 4, 1));
    struct rule_case *c = add1(&op_permute, TARN_SHAPE(2, 4, 8), TARN_SHAPE(8, 2, 4));
    memcpy(c->form.node.arg.permute.order, (int32_t[]){ 2, 0, 1 }, 3 * sizeof(int32_t));
    add1(&op_expand, TARN_SHAPE(1, 4), TARN_SHAPE(8, 4, 4));
    add1(&op_expand, TARN_SHAPE(4, 1), TARN_SHAPE(4, 8));
    add_slice(TARN_SHAPE(8, 4), 0, 4, 1, 4);
    add_slice(TARN_SHAPE(8, 4), 0, 0, 1, 4);
    add_slice(TARN_SHAPE(8, 4), 0, 0, 2, 4);
    add_slice(TARN_SHAPE(8, 4), 0, 1, 2, 4);
    add_slice(TARN_SHAPE(4, 9), 1, 1, 2, 4);
    c = add1(&op_flip, TARN_SHAPE(4, 8), TARN_SHAPE(4, 8));
    memcpy(c->form.node.arg.slice.start, (int32_t[]){ 0, 7 }, 2 * sizeof(int32_t));
    memcpy(c->form.node.arg.slice.step, (int32_t[]){ 1, -1 }, 2 * sizeof(int32_t));
    add_pad(TARN_SHAPE(4, 8), 1, 1, 3, 0);
    add_pad(TARN_SHAPE(4, 8), 0, 4, 0, 2);
    c = add1(&op_dilate, TARN_SHAPE(4, 4), TARN_SHAPE(4, 7));
    c->form.node.arg.dilate.step[0] = 1;
    c->form.node.arg.dilate.step[1] = 2;
    add_window(8, 2, 2, 1);
    add_window(8, 1, 3, 1);
    add_window(9, 2, 3, 1);
    add_window(8, 1, 2, 2);
    add1(&op_steps, TARN_SHAPE(4, 8, 2), TARN_SHAPE(8, 4, 2));
    add1(&op_piece, TARN_SHAPE(32), TARN_SHAPE(4, 8));
    add1(&op_piece, TARN_SHAPE(48), TARN_SHAPE(4, 4))->form.node.arg.piece.first = 16;
}

/* ---- sums and products ---------------------------------------------------------------------- */

static void add_reductions(void)
{
    static const struct op *const ops[] = { &op_sum, &op_max, &op_max_first, &op_min, &op_argmax };
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        struct rule_case *c = add1(ops[i], TARN_SHAPE(4, 8), TARN_SHAPE(1, 8));
        c->form.node.arg.reduce.axes = 1;
        struct rule_case *d = add1(ops[i], TARN_SHAPE(4, 4, 2), TARN_SHAPE(1, 4, 1));
        d->form.node.arg.reduce.axes = 5;
        if (ops[i] == &op_argmax)
            c->form.node.dtype = d->form.node.dtype = TARN_I32;
    }
    struct rule_case *c = add1(&op_sum, TARN_SHAPE(8, 4), TARN_SHAPE(8, 1));
    c->form.node.arg.reduce.axes = 2;
    c->form.node.dtype = c->in_dtype[0] = TARN_I32;
}

static void add_matmul(bool ta, bool tb)
{
    struct rule_case *c = add2(&op_matmul, ta ? TARN_SHAPE(4, 4, 8) : TARN_SHAPE(4, 8, 4),
                               tb ? TARN_SHAPE(4, 2, 4) : TARN_SHAPE(4, 4, 2), TARN_SHAPE(4, 8, 2));
    c->form.node.arg.matmul.transpose[0] = ta;
    c->form.node.arg.matmul.transpose[1] = tb;
}

static void add_conv(tarn_shape x, int32_t out, int32_t window, int32_t groups, int32_t stride,
                     int32_t padding)
{
    tarn_shape w = { x.rank, { out, x.dim[1] / groups } }, y = { x.rank, { x.dim[0], out } };
    for (int d = 2; d < x.rank; d++) {
        w.dim[d] = window;
        y.dim[d] = (x.dim[d] + 2 * padding - window) / stride + 1;
    }
    struct rule_case *c[3] = { add2(&op_conv2d, x, w, y), add2(&op_conv2d_input, y, w, x),
                               add2(&op_conv2d_weight, x, y, w) };
    for (int k = 0; k < 3; k++) {
        c[k]->form.node.arg.conv.groups = groups;
        for (int i = CONV_ROWS; i < CONV_DIRECTIONS; i++) {
            c[k]->form.node.arg.conv.stride[i] = stride;
            c[k]->form.node.arg.conv.padding[i] = padding;
            c[k]->form.node.arg.conv.dilation[i] = 1;
        }
    }
}

static void add_contractions(void)
{
    for (int k = 0; k < 4; k++)
        add_matmul(k & 1, k >> 1);
    add2(&op_rows, TARN_SHAPE(4, 2, 8), TARN_SHAPE(8, 4), TARN_SHAPE(4, 2, 4));
    add2(&op_rows, TARN_SHAPE(4, 2, 8), TARN_SHAPE(4, 8), TARN_SHAPE(4, 2, 4))
        ->form.node.arg.matmul.transpose[1] = 1;
    add2(&op_rows_weight, TARN_SHAPE(4, 2, 8), TARN_SHAPE(4, 2, 4), TARN_SHAPE(8, 4));
    add_conv(TARN_SHAPE(4, 4, 4, 4), 8, 3, 1, 1, 1);
    add_conv(TARN_SHAPE(4, 4, 4, 4), 8, 1, 1, 1, 0);
    add_conv(TARN_SHAPE(4, 4, 4, 4, 4), 8, 3, 1, 1, 1);
    add_conv(TARN_SHAPE(4, 4, 4, 4, 4), 8, 2, 4, 2, 0);
    add_conv(TARN_SHAPE(4, 4, 4, 4), 8, 2, 1, 2, 0);
    add_conv(TARN_SHAPE(2, 8, 4, 4), 8, 3, 4, 1, 1);
    add_conv(TARN_SHAPE(2, 8, 4, 4), 8, 3, 8, 2, 1);
}

/* ---- rows, lines, leaves -------------------------------------------------------------------- */

static void add_indexed(const struct op *op, tarn_shape x, tarn_shape index, tarn_shape out,
                        int axis, int32_t rows, bool clamped)
{
    struct rule_case *c = add2(op, x, index, out);
    c->in_dtype[1] = TARN_I32;
    c->in_data[1] = INDICES;
    c->rows = rows;
    c->clamped = clamped;
    if (op != &op_gather) {
        c->form.node.arg.routine.axis = axis;
        c->form.node.arg.routine.length = op == &op_pick ? 0 : rows;
    }
}

static void add_lines(void)
{
    const tarn_shape s = TARN_SHAPE(4, 8, 2);
    struct rule_case *c = add1(&op_order, s, s);
    c->form.node.dtype = c->in_dtype[0] = TARN_I32;
    c->form.node.arg.routine.axis = 1;
    c = add1(&op_least, s, TARN_SHAPE(4, 3, 2));
    c->form.node.dtype = c->in_dtype[0] = TARN_I32;
    c->form.node.arg.routine.axis = 1;
    c->form.node.arg.routine.length = 3;
    for (int back = 0; back < 2; back++) {
        c = add1(&op_cumsum, s, s);
        c->form.node.arg.routine.axis = back;
        c->form.node.arg.routine.length = back;
    }
    add_indexed(&op_gather, TARN_SHAPE(8, 4), TARN_SHAPE(4, 2), TARN_SHAPE(4, 2, 4), 0, 8, false);
    add_indexed(&op_gather, TARN_SHAPE(4, 2, 4), TARN_SHAPE(8), TARN_SHAPE(8, 2, 4), 0, 4, false);
    add_indexed(&op_scatter, TARN_SHAPE(4, 2, 8), TARN_SHAPE(4, 2), TARN_SHAPE(6, 8), -1, 6, true);
    add_indexed(&op_scatter, TARN_SHAPE(4, 8), TARN_SHAPE(4, 8), TARN_SHAPE(4, 4), 1, 4, true);
    add_indexed(&op_most, TARN_SHAPE(4, 8), TARN_SHAPE(4, 8), TARN_SHAPE(4, 4), 1, 4, true);
    add_indexed(&op_most, TARN_SHAPE(6, 4, 2), TARN_SHAPE(6, 4, 1), TARN_SHAPE(4, 4, 2), 0, 4,
                true);
    add_indexed(&op_pick, TARN_SHAPE(4, 8), TARN_SHAPE(4, 2), TARN_SHAPE(4, 2), 1, 8, true);
    add_indexed(&op_pick, TARN_SHAPE(6, 8), TARN_SHAPE(4, 8), TARN_SHAPE(4, 8), 0, 6, true);
    const tarn_shape parts[3] = { TARN_SHAPE(4, 4), TARN_SHAPE(4, 8), TARN_SHAPE(4, 4) };
    add(&op_concat, TARN_SHAPE(4, 16), TARN_F32, parts, 3)->form.node.arg.concat.axis = 1;
    const tarn_shape rows[2] = { TARN_SHAPE(8, 4), TARN_SHAPE(4, 4) };
    add(&op_concat, TARN_SHAPE(12, 4), TARN_F32, rows, 2)->form.node.arg.concat.axis = 0;
}

static void add_leaves(void)
{
    const tarn_shape s = TARN_SHAPE(4, 8);
    const float one = 1;
    add(&op_constant, s, TARN_F32, NULL, 0);
    struct rule_case *c = add(&op_constant, s, TARN_F32, NULL, 0);
    memcpy(&c->form.node.arg.leaf.bits, &one, sizeof one);
    for (int axis = 0; axis < 2; axis++)
        add(&op_iota, s, TARN_I32, NULL, 0)->form.node.arg.position.at.stride[axis] = 1;
    c = add(&op_rand, s, TARN_F32, NULL, 0);
    c->form.node.arg.position.at.stride[0] = 8;
    c->form.node.arg.position.at.stride[1] = 1;
    c->form.node.arg.position.serial = 3;
}

bool rule_is_asked(const struct op *op)
{
    const enum op_kind kind = op->kind;
    return !op->in_memory && op != &op_number && kind != OP_COMPOSED && kind != OP_EFFECT &&
           kind != OP_HOST && kind != OP_TRANSFORM;
}

int rule_cases(struct rule_case *out)
{
    list = out;
    count = 0;
    for (int i = 0; i < all_ops_count; i++)
        if (all_ops[i]->kind == OP_MAP)
            add_map(all_ops[i]);
    add_integer_maps();
    add_views();
    add_reductions();
    add_contractions();
    add_lines();
    add_leaves();
    return count;
}
