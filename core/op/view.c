/* SPDX-License-Identifier: Apache-2.0 */
/* Views: the same elements under another index. Each has its index map and its gradient. */
#include <math.h>
#include <string.h>

#include "op/op.h"
#include "tensor/shape.h"

static void map_begin(const struct node *n, tarn_shape in, struct index_map *out)
{
    memset(out, 0, sizeof *out);
    out->rank_in = in.rank;
    out->rank_out = n->shape.rank;
    for (int d = 0; d < TARN_MAX_RANK; d++)
        out->dim[d].divide = 1;
}

static union op_arg no_arg(void)
{
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    return arg;
}

static tarn_tensor record(const struct op *op, tarn_tensor x, tarn_shape shape,
                          const union op_arg *arg)
{
    return graph_record(x.replica, op, &x, 1, shape, tarn_dtype_get(x), arg);
}

/* ---- checks --------------------------------------------------------------------------------- */

int op_axis(tarn_tensor x, const char *name, int axis)
{
    if (!graph_operand(NULL, x, name, 0))
        return -1;
    const int rank = tarn_shape_get(x).rank;
    if (axis < -rank || axis >= rank) {
        graph_fail(x.replica, TARN_ERR_ARGUMENT, "%s: axis %d is outside %s", name, axis,
                   shape_text(tarn_shape_get(x)));
        return -1;
    }
    return axis < 0 ? axis + rank : axis;
}

bool op_axes(tarn_tensor x, const char *name, tarn_shape axes, uint32_t *mask)
{
    *mask = 0;
    if (!graph_operand(NULL, x, name, 0))
        return false;
    if (axes.rank < 0) {
        *mask = (UINT32_C(1) << tarn_shape_get(x).rank) - 1;
        return true;
    }
    if (axes.rank > TARN_MAX_RANK) {
        graph_fail(x.replica, TARN_ERR_ARGUMENT, "%s: %d axes, at most %d are possible", name,
                   (int)axes.rank, TARN_MAX_RANK);
        return false;
    }
    for (int i = 0; i < axes.rank; i++) {
        const int axis = op_axis(x, name, axes.dim[i]);
        if (axis < 0)
            return false;
        if (*mask >> axis & 1) {
            graph_fail(x.replica, TARN_ERR_ARGUMENT, "%s: axis %d is given twice", name, axis);
            return false;
        }
        *mask |= UINT32_C(1) << axis;
    }
    return true;
}

void op_defaults(int32_t *option, int axes, int32_t first)
{
    option[0] = option[0] ? option[0] : first;
    for (int i = 1; i < axes; i++)
        option[i] = option[i] ? option[i] : option[0];
}

/* ---- reshape -------------------------------------------------------------------------------- */

static void reshape_grad(struct grad_call *c)
{
    c->gin[0] = op_reshape_to(c->g, tarn_shape_get(c->in[0]));
}

const struct op op_reshape = {
    .name = "reshape",
    .arity = 1,
    .kind = OP_VIEW,
    .grad = reshape_grad,
    .uniform = true,
};

tarn_tensor op_reshape_to(tarn_tensor x, tarn_shape shape)
{
    if (!graph_operand(NULL, x, "reshape", 0))
        return graph_poison(x.replica);
    const tarn_shape from = tarn_shape_get(x);
    if (!shape_valid(shape) || tarn_shape_count(from) != tarn_shape_count(shape))
        return graph_fail(x.replica, TARN_ERR_SHAPE, "reshape: %s has %lld elements, %s has %lld",
                          shape_text(from), (long long)tarn_shape_count(from), shape_text(shape),
                          (long long)tarn_shape_count(shape));
    return shape_equal(from, shape) ? graph_value(x) : record(&op_reshape, x, shape, NULL);
}

tarn_tensor tarn_reshape(tarn_tensor x, tarn_shape shape)
{
    if (!graph_operand(NULL, x, "reshape", 0))
        return graph_poison(x.replica);
    int open = -1;
    for (int i = 0; i < shape.rank && i < TARN_MAX_RANK; i++) {
        if (shape.dim[i] != -1)
            continue;
        if (open >= 0)
            return graph_fail(x.replica, TARN_ERR_SHAPE, "reshape: only one dimension may be -1");
        open = i;
    }
    if (open >= 0) {
        shape.dim[open] = 1;
        const int64_t rest = tarn_shape_count(shape), all = tarn_shape_count(tarn_shape_get(x));
        if (!shape_valid(shape) || rest == 0 || all % rest)
            return graph_fail(x.replica, TARN_ERR_SHAPE,
                              "reshape: %s cannot be divided to fill the -1 at dimension %d",
                              shape_text(tarn_shape_get(x)), open);
        shape.dim[open] = (int32_t)(all / rest);
    }
    return op_reshape_to(x, shape);
}

tarn_tensor tarn_flatten(tarn_tensor x, int first)
{
    const int axis = op_axis(x, "flatten", first);
    if (axis < 0)
        return graph_poison(x.replica);
    const tarn_shape from = tarn_shape_get(x);
    tarn_shape to = tarn_shape_of(axis + 1, from.dim);
    for (int i = axis + 1; i < from.rank; i++)
        to.dim[axis] *= from.dim[i];
    return op_reshape_to(x, to);
}

/* ---- permute -------------------------------------------------------------------------------- */

static void permute_grad(struct grad_call *c)
{
    tarn_shape inverse = { .rank = tarn_shape_get(c->in[0]).rank };
    for (int i = 0; i < inverse.rank; i++)
        inverse.dim[c->arg.permute.order[i]] = i;
    c->gin[0] = tarn_permute(c->g, inverse);
}

static void permute_index(const struct node *n, tarn_shape in, struct index_map *out)
{
    map_begin(n, in, out);
    for (int i = 0; i < in.rank; i++)
        out->dim[n->arg.permute.order[i]].coef[i] = 1;
}

const struct op op_permute = {
    .name = "permute",
    .arity = 1,
    .kind = OP_VIEW,
    .grad = permute_grad,
    .index = permute_index,
    .uniform = true,
};

tarn_tensor tarn_permute(tarn_tensor x, tarn_shape order)
{
    uint32_t mask;
    if (!op_axes(x, "permute", order, &mask))
        return graph_poison(x.replica);
    const tarn_shape from = tarn_shape_get(x);
    if (order.rank != from.rank)
        return graph_fail(x.replica, TARN_ERR_ARGUMENT, "permute: %d axes are given for %s",
                          (int)order.rank, shape_text(from));
    union op_arg arg = no_arg();
    tarn_shape to = { .rank = from.rank };
    bool moved = false;
    for (int i = 0; i < from.rank; i++) {
        const int32_t axis = order.dim[i] < 0 ? order.dim[i] + from.rank : order.dim[i];
        arg.permute.order[i] = axis;
        to.dim[i] = from.dim[axis];
        moved |= axis != i;
    }
    return moved ? record(&op_permute, x, to, &arg) : graph_value(x);
}

tarn_tensor tarn_transpose(tarn_tensor x, int a, int b)
{
    const int first = op_axis(x, "transpose", a), second = op_axis(x, "transpose", b);
    if (first < 0 || second < 0)
        return graph_poison(x.replica);
    tarn_shape order = { .rank = tarn_shape_get(x).rank };
    for (int i = 0; i < order.rank; i++)
        order.dim[i] = i == first ? second : i == second ? first : i;
    return tarn_permute(x, order);
}

/* ---- expand --------------------------------------------------------------------------------- */

static void expand_index(const struct node *n, tarn_shape in, struct index_map *out)
{
    map_begin(n, in, out);
    for (int d = 0; d < in.rank; d++)
        out->dim[d].coef[d + n->shape.rank - in.rank] = in.dim[d] == 1 ? 0 : 1;
}

const struct op op_expand = {
    .name = "expand",
    .arity = 1,
    .kind = OP_VIEW,
    .grad = op_same_grad, /* autograd.c sums over what was broadcast */
    .index = expand_index,
    .uniform = true,
};

tarn_tensor op_expand_to(tarn_tensor x, tarn_shape shape)
{
    if (!graph_operand(NULL, x, "broadcast", 0))
        return graph_poison(x.replica);
    const tarn_shape from = tarn_shape_get(x);
    tarn_shape common;
    if (shape.rank >= 0 && shape.rank <= TARN_MAX_RANK && tarn_shape_count(shape) > INT32_MAX)
        return graph_fail(x.replica, TARN_ERR_SHAPE,
                          "broadcast: %s to %s is %lld elements, more than 2^31 - 1",
                          shape_text(from), shape_text(shape), (long long)tarn_shape_count(shape));
    if (!shape_valid(shape) || !shape_broadcast(from, shape, &common) ||
        !shape_equal(common, shape))
        return graph_fail(x.replica, TARN_ERR_SHAPE,
                          "broadcast: %s does not extend to %s: only dimensions of 1 repeat",
                          shape_text(from), shape_text(shape));
    return shape_equal(from, shape) ? graph_value(x) : record(&op_expand, x, shape, NULL);
}

tarn_tensor tarn_broadcast_to(tarn_tensor x, tarn_shape shape)
{
    return op_expand_to(x, shape);
}

/* ---- slice, pad, dilate --------------------------------------------------------------------- */

static void slice_grad(struct grad_call *c)
{
    const tarn_shape from = tarn_shape_get(c->in[0]), to = tarn_shape_get(c->g);
    tarn_shape step = { .rank = from.rank }, low = step, high = step;
    for (int i = 0; i < from.rank; i++) {
        step.dim[i] = c->arg.slice.step[i];
        low.dim[i] = c->arg.slice.start[i];
        const int32_t span = to.dim[i] ? (to.dim[i] - 1) * step.dim[i] + 1 : 0;
        high.dim[i] = from.dim[i] - low.dim[i] - span;
    }
    c->gin[0] = tarn_pad(op_dilate_view(c->g, step), low, high, 0.0f);
}

static void slice_index(const struct node *n, tarn_shape in, struct index_map *out)
{
    map_begin(n, in, out);
    for (int d = 0; d < in.rank; d++) {
        out->dim[d].coef[d] = n->arg.slice.step[d];
        out->dim[d].offset = n->arg.slice.start[d];
    }
}

const struct op op_slice = {
    .name = "slice",
    .arity = 1,
    .kind = OP_VIEW,
    .grad = slice_grad,
    .index = slice_index,
    .uniform = true,
};

static int32_t cut(int32_t at, int32_t extent)
{
    if (at < 0)
        at = at < -extent ? 0 : at + extent;
    return at > extent ? extent : at;
}

tarn_tensor tarn_slice(tarn_tensor x, int axis, int start, int stop, int step)
{
    const int at = op_axis(x, "slice", axis);
    if (at < 0)
        return graph_poison(x.replica);
    if (step < 1)
        return graph_fail(x.replica, TARN_ERR_ARGUMENT, "slice: step %d, must be at least 1", step);
    union op_arg arg = no_arg();
    tarn_shape shape = tarn_shape_get(x);
    for (int i = 0; i < shape.rank; i++)
        arg.slice.step[i] = 1;
    const int32_t extent = shape.dim[at];
    const int32_t from = cut(start, extent), to = cut(stop, extent);
    shape.dim[at] = to > from ? (to - from - 1) / step + 1 : 0;
    if (shape.dim[at] == extent)
        return graph_value(x);
    arg.slice.start[at] = from;
    arg.slice.step[at] = shape.dim[at] > 1 ? step : 1;
    return record(&op_slice, x, shape, &arg);
}

static void flip_grad(struct grad_call *c)
{
    c->gin[0] = record(&op_flip, c->g, tarn_shape_get(c->g), &c->arg);
}

const struct op op_flip = {
    .name = "flip",
    .arity = 1,
    .kind = OP_VIEW,
    .grad = flip_grad,
    .index = slice_index, /* backwards, from the last element */
    .uniform = true,
};

tarn_tensor tarn_flip(tarn_tensor x, tarn_shape axes)
{
    uint32_t mask;
    if (!op_axes(x, "flip", axes, &mask))
        return graph_poison(x.replica);
    const tarn_shape shape = tarn_shape_get(x);
    union op_arg arg = no_arg();
    bool moved = false;
    for (int i = 0; i < shape.rank; i++) {
        const bool flips = (mask >> i & 1) != 0 && shape.dim[i] > 1;
        arg.slice.start[i] = flips ? shape.dim[i] - 1 : 0;
        arg.slice.step[i] = flips ? -1 : 1;
        moved |= flips;
    }
    return moved ? record(&op_flip, x, shape, &arg) : graph_value(x);
}

static void pad_grad(struct grad_call *c)
{
    const tarn_shape from = tarn_shape_get(c->in[0]);
    tarn_tensor g = c->g;
    for (int i = 0; i < from.rank; i++)
        g = tarn_slice(g, i, c->arg.pad.low[i], c->arg.pad.low[i] + from.dim[i], 1);
    c->gin[0] = g;
}

static void pad_index(const struct node *n, tarn_shape in, struct index_map *out)
{
    map_begin(n, in, out);
    for (int d = 0; d < in.rank; d++) {
        out->dim[d].coef[d] = 1;
        out->dim[d].offset = -n->arg.pad.low[d];
        out->dim[d].guarded = n->arg.pad.low[d] || n->arg.pad.high[d];
    }
    out->fill = n->arg.pad.value;
}

const struct op op_pad = {
    .name = "pad",
    .arity = 1,
    .kind = OP_VIEW,
    .grad = pad_grad,
    .index = pad_index,
    .reads = READS_ONCE,
};

/* Whether an element can have this value. */
static bool holds(tarn_dtype dtype, double value)
{
    const double most = dtype == TARN_I64 ? 0x1p63 : 0x1p31;
    const double low = dtype == TARN_U8 ? 0.0 : -most, end = dtype == TARN_U8 ? 256.0 : most;
    return dtype_is_float(dtype) || (value >= low && value < end && value == trunc(value));
}

tarn_tensor tarn_pad(tarn_tensor x, tarn_shape low, tarn_shape high, double value)
{
    if (!graph_operand(NULL, x, "pad", 0))
        return graph_poison(x.replica);
    tarn_shape shape = tarn_shape_get(x);
    if (!holds(tarn_dtype_get(x), value))
        return graph_fail(x.replica, TARN_ERR_ARGUMENT,
                          "pad: %s %s cannot hold the value %.9g: whole numbers of its range only",
                          tarn_dtype_name(tarn_dtype_get(x)), shape_text(shape), value);
    if (low.rank != shape.rank || high.rank != shape.rank)
        return graph_fail(x.replica, TARN_ERR_ARGUMENT,
                          "pad: %d low and %d high values are given for %s", (int)low.rank,
                          (int)high.rank, shape_text(shape));
    union op_arg arg = no_arg();
    bool any = false;
    for (int i = 0; i < shape.rank; i++) {
        const int64_t sum = (int64_t)shape.dim[i] + low.dim[i] + high.dim[i];
        if (low.dim[i] < 0 || high.dim[i] < 0 || sum > INT32_MAX)
            return graph_fail(x.replica, TARN_ERR_ARGUMENT,
                              "pad: %d before and %d after axis %d of %s: must be 0 or more, and "
                              "the sum below 2^31",
                              (int)low.dim[i], (int)high.dim[i], i, shape_text(tarn_shape_get(x)));
        any |= low.dim[i] || high.dim[i];
        shape.dim[i] = (int32_t)sum;
        arg.pad.low[i] = low.dim[i];
        arg.pad.high[i] = high.dim[i];
    }
    arg.pad.value = op_scalar_of(tarn_dtype_get(x), value);
    return any ? record(&op_pad, x, shape, &arg) : graph_value(x);
}

static void dilate_grad(struct grad_call *c)
{
    const tarn_shape from = tarn_shape_get(c->in[0]), to = tarn_shape_get(c->g);
    tarn_tensor g = c->g;
    for (int i = 0; i < from.rank; i++)
        g = tarn_slice(g, i, 0, to.dim[i], c->arg.dilate.step[i]);
    c->gin[0] = g;
}

static void dilate_index(const struct node *n, tarn_shape in, struct index_map *out)
{
    map_begin(n, in, out);
    for (int d = 0; d < in.rank; d++) {
        out->dim[d].coef[d] = 1;
        out->dim[d].divide = n->arg.dilate.step[d];
        out->dim[d].guarded = n->arg.dilate.step[d] > 1;
    }
}

const struct op op_dilate = {
    .name = "dilate", .arity = 1, .kind = OP_VIEW, .grad = dilate_grad, .index = dilate_index
};

tarn_tensor op_dilate_view(tarn_tensor x, tarn_shape step)
{
    if (!graph_resolve(x))
        return graph_poison(x.replica);
    tarn_shape shape = tarn_shape_get(x);
    union op_arg arg = no_arg();
    bool any = false;
    for (int i = 0; i < shape.rank; i++) {
        const int64_t span = shape.dim[i] ? (int64_t)(shape.dim[i] - 1) * step.dim[i] + 1 : 0;
        if (step.rank != shape.rank || step.dim[i] < 1 || span > INT32_MAX)
            return graph_fail(x.replica, TARN_ERR_ARGUMENT,
                              "dilate: %s by steps %s is not possible",
                              shape_text(tarn_shape_get(x)), shape_text(step));
        any |= step.dim[i] > 1;
        shape.dim[i] = (int32_t)span;
        arg.dilate.step[i] = step.dim[i];
    }
    return any ? record(&op_dilate, x, shape, &arg) : graph_value(x);
}

/* ---- windows -------------------------------------------------------------------------------- */

/* Windows side by side: each element of the image is in one at most, so nothing is added up. */
static tarn_tensor unwindow_tiles(tarn_tensor g, tarn_shape image)
{
    const tarn_shape s = tarn_shape_get(g);
    const tarn_shape order = TARN_SHAPE(0, 1, 2, 4, 3, 5);
    const int32_t h = s.dim[2] * s.dim[4], w = s.dim[3] * s.dim[5];
    g = tarn_reshape(tarn_permute(g, order), TARN_SHAPE(s.dim[0], s.dim[1], h, w));
    return h == image.dim[2] && w == image.dim[3]
               ? g
               : tarn_pad(g, TARN_SHAPE(0, 0, 0, 0),
                          TARN_SHAPE(0, 0, image.dim[2] - h, image.dim[3] - w), 0.0f);
}

/* Of an image, or of an unwindowed one (unwindow_grad). */
static void window_grad(struct grad_call *c)
{
    const tarn_shape from = tarn_shape_get(c->in[0]);
    const int32_t *k = c->arg.window.window, *step = c->arg.window.stride;
    const int32_t *dilation = c->arg.window.dilation;
    if (from.rank == 4 && step[0] == k[0] && step[1] == k[1] && (k[0] == 1 || dilation[0] == 1) &&
        (k[1] == 1 || dilation[1] == 1)) {
        c->gin[0] = unwindow_tiles(c->g, from);
        return;
    }
    const tarn_tensor spread = op_unwindow_view(c->g, from.dim[2], from.dim[3],
                                                c->arg.window.stride, c->arg.window.dilation);
    c->gin[0] = from.rank == 6 ? spread : op_reshape_to(op_reduce(&op_sum, spread, 3u << 4), from);
}

static void window_index(const struct node *n, tarn_shape in, struct index_map *out)
{
    map_begin(n, in, out);
    out->dim[0].coef[0] = out->dim[1].coef[1] = 1;
    for (int i = 0; i < 2; i++) {
        out->dim[2 + i].coef[2 + i] = n->arg.window.stride[i];
        out->dim[2 + i].coef[4 + i] = n->arg.window.dilation[i];
        if (in.rank == 6)
            out->dim[4 + i].coef[4 + i] = 1;
    }
}

const struct op op_window = {
    .name = "window",
    .arity = 1,
    .kind = OP_VIEW,
    .grad = window_grad,
    .index = window_index,
    .uniform = true,
    .reads = READS_OFTEN,
};

tarn_tensor op_window_view(tarn_tensor x, const int32_t window[2], const int32_t stride[2],
                           const int32_t dilation[2])
{
    if (!graph_resolve(x))
        return graph_poison(x.replica);
    const tarn_shape from = tarn_shape_get(x);
    tarn_shape to = { .rank = 6, .dim = { from.dim[0], from.dim[1] } };
    union op_arg arg = no_arg();
    for (int i = 0; i < 2; i++) {
        const int64_t span = ((int64_t)window[i] - 1) * dilation[i] + 1;
        if (from.rank != 4 || window[i] < 1 || stride[i] < 1 || dilation[i] < 1 ||
            span > from.dim[2 + i])
            return graph_fail(x.replica, TARN_ERR_SHAPE,
                              "window: %dx%d with stride %dx%d, dilation %dx%d does not fit in %s",
                              (int)window[0], (int)window[1], (int)stride[0], (int)stride[1],
                              (int)dilation[0], (int)dilation[1], shape_text(from));
        to.dim[2 + i] = (int32_t)((from.dim[2 + i] - span) / stride[i] + 1);
        to.dim[4 + i] = window[i];
        arg.window.window[i] = window[i];
        arg.window.stride[i] = stride[i];
        arg.window.dilation[i] = dilation[i];
    }
    return record(&op_window, x, to, &arg);
}

/* A window view of [N,C,H,W,KH,KW]: (kh,kw) of each window is that of the element, too. */
static void unwindow_grad(struct grad_call *c)
{
    c->gin[0] = record(&op_window, c->g, tarn_shape_get(c->in[0]), &c->arg);
}

static void unwindow_index(const struct node *n, tarn_shape in, struct index_map *out)
{
    map_begin(n, in, out);
    out->dim[0].coef[0] = out->dim[1].coef[1] = out->dim[4].coef[4] = out->dim[5].coef[5] = 1;
    for (int i = 0; i < 2; i++) {
        out->dim[2 + i].coef[2 + i] = 1;
        out->dim[2 + i].coef[4 + i] = -n->arg.window.dilation[i];
        out->dim[2 + i].divide = n->arg.window.stride[i];
        out->dim[2 + i].guarded = true;
    }
}

const struct op op_unwindow = {
    .name = "unwindow",
    .arity = 1,
    .kind = OP_VIEW,
    .grad = unwindow_grad,
    .index = unwindow_index,
    .reads = READS_OFTEN,
};

tarn_tensor op_unwindow_view(tarn_tensor x, int32_t h, int32_t w, const int32_t stride[2],
                             const int32_t dilation[2])
{
    if (!graph_resolve(x))
        return graph_poison(x.replica);
    tarn_shape shape = tarn_shape_get(x);
    if (shape.rank != 6)
        return graph_fail(x.replica, TARN_ERR_INTERNAL, "unwindow: %s is no window view",
                          shape_text(shape));
    union op_arg arg = no_arg();
    for (int i = 0; i < 2; i++) {
        arg.window.window[i] = shape.dim[4 + i];
        arg.window.stride[i] = stride[i];
        arg.window.dilation[i] = dilation[i];
    }
    shape.dim[2] = h;
    shape.dim[3] = w;
    return record(&op_unwindow, x, shape, &arg);
}

/* ---- detach --------------------------------------------------------------------------------- */

void op_same_index(const struct node *n, tarn_shape in, struct index_map *out)
{
    map_begin(n, in, out);
    for (int d = 0; d < in.rank; d++)
        out->dim[d].coef[d] = 1;
}

/* arg.leaf.slot is 0, or 1 + the owned parameter whose new value this is. */
const struct op op_detach = {
    .name = "detach", .arity = 1, .kind = OP_VIEW, .grad = op_no_grad, .index = op_same_index
};

tarn_tensor tarn_detach(tarn_tensor t)
{
    if (!graph_operand(NULL, t, "detach", 0))
        return graph_poison(t.replica);
    return record(&op_detach, t, tarn_shape_get(t), NULL);
}
