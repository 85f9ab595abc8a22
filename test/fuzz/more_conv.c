/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions of three axes, and transposed ones of one and three. */
#include "generate.h"
#include "more.h"

/* Of a line; arg is strides, paddings, dilations or output paddings, and groups; transposed in one axis it has both. */
struct options {
    int axes, stride[3], padding[3], dilation[3], more[3], groups;
    bool transposed;
};

static struct options options_of(const struct line *l)
{
    const int *a = l->arg;
    const bool line = l->op == OP_ID_conv_transpose1d_op || l->op == OP_ID_conv_transpose1d_forward;
    struct options o = { .axes = line ? 1 : 3,
                         .transposed = line || l->op == OP_ID_conv_transpose3d_op ||
                                       l->op == OP_ID_conv_transpose3d_forward };
    for (int i = 0; i < o.axes; i++) {
        o.stride[i] = a[i];
        o.padding[i] = a[o.axes + i];
        o.more[i] = o.transposed ? a[2 * o.axes + i] : 0;
        o.dilation[i] = line ? a[3] : o.transposed ? 1 : a[6 + i];
    }
    o.groups = a[line ? 4 : 9];
    return o;
}

static bool shape(const struct program *p, struct line *l)
{
    const struct options o = options_of(l);
    const tarn_shape x = operand_of(p, l, 0)->shape, w = operand_of(p, l, 1)->shape;
    if (!all_floats(p, l) || x.rank != 2 + o.axes || w.rank != x.rank || w.dim[0] % o.groups != 0 ||
        x.dim[1] != (o.transposed ? w.dim[0] : w.dim[1] * o.groups))
        return false;
    l->shape = x;
    l->shape.dim[1] = o.transposed ? w.dim[1] * o.groups : w.dim[0];
    for (int i = 0; i < o.axes; i++) {
        const int reach = (w.dim[2 + i] - 1) * o.dilation[i] + 1, length = x.dim[2 + i];
        const int room = length + 2 * o.padding[i] - reach;
        const int extent = (length - 1) * o.stride[i] - 2 * o.padding[i] + reach + o.more[i];
        if (o.transposed ? extent < 1 || o.more[i] >= o.stride[i] : room < 0)
            return false;
        l->shape.dim[2 + i] = o.transposed ? extent : room / o.stride[i] + 1;
    }
    const tarn_shape bias = l->ins < 3 ? TARN_SCALAR : operand_of(p, l, 2)->shape;
    return l->ins < 3 || (bias.rank == 1 && bias.dim[0] == l->shape.dim[1]);
}

/* Each element of the result, or transposed of x, meets the window where it lies on x, or on the result. */
static int value(struct interpreter *m, const struct line *l)
{
    struct tape *t = m->tape;
    const struct options o = options_of(l);
    const tarn_shape x = shape_of(m, l, 0), w = shape_of(m, l, 1);
    const tarn_shape small = o.transposed ? x : l->shape, large = o.transposed ? l->shape : x;
    const int64_t each = tarn_shape_count(w) / w.dim[0];
    const int per = small.dim[1] / o.groups;
    int at[TARN_MAX_RANK] = { 0 };
    struct products s = { 0 };
    for (int64_t i = 0; i < tarn_shape_count(small); i++, next_position(small, at))
        for (int64_t k = 0; k < each; k++) {
            int to[TARN_MAX_RANK] = { at[0] };
            int64_t rest = k;
            bool inside = true;
            for (int d = o.axes - 1; d >= 0; rest /= w.dim[2 + d--]) {
                to[2 + d] = at[2 + d] * o.stride[d] - o.padding[d] +
                            (int)(rest % w.dim[2 + d]) * o.dilation[d];
                inside &= to[2 + d] >= 0 && to[2 + d] < large.dim[2 + d];
            }
            to[1] = at[1] / per * w.dim[1] + (int)rest;
            const int64_t there = inside ? position_of(large, to) : 0;
            if (inside)
                add_product(&s, o.transposed ? i : there, at[1] * each + k,
                            o.transposed ? there : i);
        }
    const int a = interpret_operand(m, l, 0), b = interpret_operand(m, l, 1);
    const int y = sum_products(t, &s, a, b, tarn_shape_count(l->shape));
    const int high = o.axes == 3 ? w.dim[3] : 1, wide = w.dim[w.rank - 1];
    if (m->winograd && high == wide && (wide == 3 || wide == 5))
        blur(t, y, (int)each / (o.transposed ? w.dim[1] : 1) * (o.transposed ? per : 1),
             largest(t, a) * largest(t, b));
    return l->ins < 3 ? y
                      : tape_map2(t, T_ADD, y, along(t, interpret_operand(m, l, 2), l->shape, 1));
}

static tarn_tensor call(const struct line *l, const tarn_tensor *in)
{
    const int *a = l->arg;
    const tarn_tensor x = in[0], w = in[1], b = l->ins > 2 ? in[2] : TARN_NONE;
    const tarn_conv3d_options plain = {
        { a[0], a[1], a[2] }, { a[3], a[4], a[5] }, { a[6], a[7], a[8] }, a[9]
    };
    const tarn_conv_transpose1d_options line = { a[0], a[1], a[2], a[3], a[4] };
    const tarn_conv_transpose3d_options turned = {
        { a[0], a[1], a[2] }, { a[3], a[4], a[5] }, { a[6], a[7], a[8] }, { 1, 1, 1 }, a[9]
    };
    switch (l->op) {
    case OP_ID_conv3d_op:
        return tarn_conv3d_op(x, w, b, plain);
    case OP_ID_conv3d_forward:
        return tarn_conv3d_forward(&(tarn_conv3d){ w, b, plain }, x);
    case OP_ID_conv_transpose1d_op:
        return tarn_conv_transpose1d_op(x, w, b, line);
    case OP_ID_conv_transpose1d_forward:
        return tarn_conv_transpose1d_forward(&(tarn_conv_transpose1d){ w, b, line }, x);
    case OP_ID_conv_transpose3d_op:
        return tarn_conv_transpose3d_op(x, w, b, turned);
    default:
        return tarn_conv_transpose3d_forward(&(tarn_conv_transpose3d){ w, b, turned }, x);
    }
}

static bool grow_conv(struct generator *g, struct line *l, int a)
{
    const struct options o = options_of(l);
    const int groups = chance(g, 30) ? 2 : 1;
    const int in = groups * (1 + below(g, 2)), out = groups * (1 + below(g, 2));
    const int n = chance(g, 50) && g->batch <= 17 ? g->batch : 1 + below(g, 3);
    tarn_shape x = TARN_SHAPE(n, in),
               w = TARN_SHAPE(o.transposed ? in : out, (o.transposed ? out : in) / groups);
    (void)a;
    for (int i = 0; i < o.axes; i++) {
        x.dim[x.rank++] = o.axes == 1 ? 2 + below(g, 9) : 2 + below(g, 3);
        w.dim[w.rank++] = 1 + below(g, o.axes == 1 ? 4 : 3);
        l->arg[i] = 1 + below(g, o.transposed ? 3 : 2);
        l->arg[o.axes + i] = below(g, 2);
        l->arg[2 * o.axes + i] = o.transposed ? below(g, l->arg[i]) : 1 + chance(g, 20);
    }
    if (o.axes == 1)
        l->arg[3] = 1 + chance(g, 20);
    l->arg[o.axes == 1 ? 4 : 9] = groups;
    l->in[0] = leaf_of(g, x);
    l->in[1] = leaf_of(g, w);
    l->ins = chance(g, 50) ? 3 : 2;
    if (l->ins == 3)
        l->in[2] = leaf_of(g, TARN_SHAPE(out));
    return true;
}

const struct more more_convs[] = {
    { OP_ID_conv3d_op, shape, value, call, grow_conv },
    { OP_ID_conv3d_forward, shape, value, call, grow_conv },
    { OP_ID_conv_transpose1d_op, shape, value, call, grow_conv },
    { OP_ID_conv_transpose1d_forward, shape, value, call, grow_conv },
    { OP_ID_conv_transpose3d_op, shape, value, call, grow_conv },
    { OP_ID_conv_transpose3d_forward, shape, value, call, grow_conv },
};
const int more_conv_count = sizeof more_convs / sizeof *more_convs;
