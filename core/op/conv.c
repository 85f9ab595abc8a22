/* SPDX-License-Identifier: Apache-2.0 */
/* Two-dimensional convolution and its two gradients, each a nest of its own. */
#include <string.h>

#include "op/op.h"
#include "tensor/shape.h"
#include "tensor/spread.h"

/* ---- nests ---------------------------------------------------------------------------------- */

/* One spatial direction: extents of input, output and window, with the options along it. */
struct extents {
    int64_t in, out, window, stride, padding, dilation;
};

static struct extents extents_of(tarn_shape x, tarn_shape y, tarn_shape w, const union op_arg *arg,
                                 int i)
{
    return (struct extents){ x.dim[2 + i],        y.dim[2 + i],         w.dim[2 + i],
                             arg->conv.stride[i], arg->conv.padding[i], arg->conv.dilation[i] };
}

static void set_coef(struct contract_map *m, int dim, int axis, int32_t coef)
{
    m->dim[dim].coef[axis] = coef;
    m->dim[dim].divide = 1;
}

/* A channel dimension: group * per_group + channel, or the channel alone (group < 0). */
static void put_channel(struct contract_map *m, int dim, int group, int32_t per_group, int axis)
{
    set_coef(m, dim, axis, 1);
    if (group >= 0)
        set_coef(m, dim, group, per_group);
}

/* Input position of (output o, window k): o * stride + k * dilation - padding. */
static void set_input_coef(struct contract_map *m, int dim, int o, int k, const struct extents *l)
{
    set_coef(m, dim, o, (int32_t)l->stride);
    set_coef(m, dim, k, (int32_t)l->dilation);
    m->dim[dim].offset = (int32_t)-l->padding;
    const int64_t last = (l->out - 1) * l->stride + (l->window - 1) * l->dilation - l->padding;
    m->dim[dim].guarded = l->padding > 0 || last >= l->in;
}

/* Output position of (input i, window k): (i + padding - k * dilation) / stride, where whole. */
static void set_output_coef(struct contract_map *m, int dim, int i, int k, const struct extents *l)
{
    set_coef(m, dim, i, 1);
    set_coef(m, dim, k, (int32_t)-l->dilation);
    m->dim[dim].offset = (int32_t)l->padding;
    m->dim[dim].divide = (int32_t)l->stride;
    const int64_t first = l->padding - (l->window - 1) * l->dilation;
    m->dim[dim].guarded = l->stride != 1 || first < 0 || l->in - 1 + l->padding >= l->out;
}

/* Adds axes with their extents; returns the first one's number. */
static int add_axes(struct contract *c, const int32_t *extents, int count)
{
    const int first = c->axes;
    for (int i = 0; i < count; i++)
        c->extent[c->axes++] = extents[i];
    return first;
}

static int add_group(struct contract *c, int32_t groups)
{
    return groups > 1 ? add_axes(c, &groups, 1) : -1;
}

static void conv2d_contract(const struct node *n, const tarn_shape in[2], struct contract *out)
{
    const tarn_shape x = in[0], w = in[1], y = n->shape;
    const int32_t groups = n->arg.conv.groups, per_out = y.dim[1] / groups;
    memset(out, 0, sizeof *out);
    const int an = add_axes(out, y.dim, 1), ag = add_group(out, groups);
    const int ao = add_axes(out, &per_out, 1), ay = add_axes(out, y.dim + 2, 2);
    out->out_axes = out->axes;
    const int ac = add_axes(out, w.dim + 1, 1), ak = add_axes(out, w.dim + 2, 2);
    set_coef(&out->out, 0, an, 1);
    put_channel(&out->out, 1, ag, per_out, ao);
    set_coef(&out->in[0], 0, an, 1);
    put_channel(&out->in[0], 1, ag, w.dim[1], ac);
    put_channel(&out->in[1], 0, ag, per_out, ao);
    set_coef(&out->in[1], 1, ac, 1);
    for (int i = 0; i < 2; i++) {
        const struct extents l = extents_of(x, y, w, &n->arg, i);
        set_coef(&out->out, 2 + i, ay + i, 1);
        set_input_coef(&out->in[0], 2 + i, ay + i, ak + i, &l);
        set_coef(&out->in[1], 2 + i, ak + i, 1);
    }
}

static void conv2d_input_contract(const struct node *n, const tarn_shape in[2],
                                  struct contract *out)
{
    const tarn_shape y = in[0], w = in[1], x = n->shape;
    const int32_t groups = n->arg.conv.groups, per_out = y.dim[1] / groups;
    memset(out, 0, sizeof *out);
    const int an = add_axes(out, x.dim, 1), ag = add_group(out, groups);
    const int ac = add_axes(out, w.dim + 1, 1), ax = add_axes(out, x.dim + 2, 2);
    out->out_axes = out->axes;
    const int ao = add_axes(out, &per_out, 1), ak = add_axes(out, w.dim + 2, 2);
    set_coef(&out->out, 0, an, 1);
    put_channel(&out->out, 1, ag, w.dim[1], ac);
    set_coef(&out->in[0], 0, an, 1);
    put_channel(&out->in[0], 1, ag, per_out, ao);
    put_channel(&out->in[1], 0, ag, per_out, ao);
    set_coef(&out->in[1], 1, ac, 1);
    for (int i = 0; i < 2; i++) {
        const struct extents l = extents_of(x, y, w, &n->arg, i);
        set_coef(&out->out, 2 + i, ax + i, 1);
        set_output_coef(&out->in[0], 2 + i, ax + i, ak + i, &l);
        set_coef(&out->in[1], 2 + i, ak + i, 1);
    }
}

static void conv2d_weight_contract(const struct node *n, const tarn_shape in[2],
                                   struct contract *out)
{
    const tarn_shape x = in[0], y = in[1], w = n->shape;
    const int32_t groups = n->arg.conv.groups, per_out = w.dim[0] / groups;
    memset(out, 0, sizeof *out);
    const int ag = add_group(out, groups), ao = add_axes(out, &per_out, 1);
    const int ac = add_axes(out, w.dim + 1, 1), ak = add_axes(out, w.dim + 2, 2);
    out->out_axes = out->axes;
    const int an = add_axes(out, x.dim, 1), ay = add_axes(out, y.dim + 2, 2);
    put_channel(&out->out, 0, ag, per_out, ao);
    set_coef(&out->out, 1, ac, 1);
    set_coef(&out->in[0], 0, an, 1);
    put_channel(&out->in[0], 1, ag, w.dim[1], ac);
    set_coef(&out->in[1], 0, an, 1);
    put_channel(&out->in[1], 1, ag, per_out, ao);
    for (int i = 0; i < 2; i++) {
        const struct extents l = extents_of(x, y, w, &n->arg, i);
        set_coef(&out->out, 2 + i, ak + i, 1);
        set_input_coef(&out->in[0], 2 + i, ay + i, ak + i, &l);
        set_coef(&out->in[1], 2 + i, ay + i, 1);
    }
}

/* ---- ops; the three are each other's gradients ---------------------------------------------- */

static tarn_tensor record(const struct op *op, tarn_tensor a, tarn_tensor b, tarn_shape shape,
                          const union op_arg *arg)
{
    const tarn_dtype dtype = op_join_floats(tarn_dtype_get(a), tarn_dtype_get(b));
    return graph_record(a.replica, op, (tarn_tensor[]){ a, b }, 2, shape, dtype, arg);
}

static void conv2d_grad(struct grad_call *c)
{
    const tarn_tensor x = c->in[0], w = c->in[1];
    c->gin[0] = record(&op_conv2d_input, c->g, w, tarn_shape_get(x), &c->arg);
    c->gin[1] = record(&op_conv2d_weight, x, c->g, tarn_shape_get(w), &c->arg);
}

static void conv2d_input_grad(struct grad_call *c)
{
    const tarn_tensor y = c->in[0], w = c->in[1];
    c->gin[0] = record(&op_conv2d, c->g, w, tarn_shape_get(y), &c->arg);
    c->gin[1] = record(&op_conv2d_weight, c->g, y, tarn_shape_get(w), &c->arg);
}

static void conv2d_weight_grad(struct grad_call *c)
{
    const tarn_tensor x = c->in[0], y = c->in[1];
    c->gin[0] = record(&op_conv2d_input, y, c->g, tarn_shape_get(x), &c->arg);
    c->gin[1] = record(&op_conv2d, x, c->g, tarn_shape_get(y), &c->arg);
}

const struct op op_conv2d = {
    .name = "conv2d",
    .arity = 2,
    .kind = OP_CONTRACT,
    .grad = conv2d_grad,
    .contract = conv2d_contract,
};
const struct op op_conv2d_input = {
    .name = "conv2d_input",
    .arity = 2,
    .kind = OP_CONTRACT,
    .grad = conv2d_input_grad,
    .contract = conv2d_input_contract,
};
const struct op op_conv2d_weight = {
    .name = "conv2d_weight",
    .arity = 2,
    .kind = OP_CONTRACT,
    .grad = conv2d_weight_grad,
    .contract = conv2d_weight_contract,
};

/* ---- the public form ------------------------------------------------------------------------ */

/* Larger options would overflow the 32-bit index maps. */
#define OPTION_MOST (1 << 20)

static void defaults(const int32_t given[2], int32_t out[2])
{
    out[0] = given[0] ? given[0] : 1;
    out[1] = given[1] ? given[1] : out[0];
}

static bool check_options(tarn_replica *r, const union op_arg *arg)
{
    for (int i = 0; i < 2; i++) {
        const int32_t s = arg->conv.stride[i], p = arg->conv.padding[i], d = arg->conv.dilation[i];
        if (s < 1 || s > OPTION_MOST || d < 1 || d > OPTION_MOST || p < 0 || p > OPTION_MOST) {
            graph_fail(r, TARN_ERR_ARGUMENT,
                       "conv2d: stride %d, padding %d, dilation %d: stride and dilation must be "
                       "from 1, padding from 0, each at most %d",
                       s, p, d, OPTION_MOST);
            return false;
        }
    }
    return true;
}

static bool check_channels(tarn_replica *r, tarn_shape x, tarn_shape w, int32_t groups)
{
    if (x.rank != 4 || w.rank != 4) {
        graph_fail(r, TARN_ERR_SHAPE,
                   "conv2d: x %s and weight %s must be [N, C, H, W] and [O, C/groups, KH, KW]",
                   shape_text(x), shape_text(w));
        return false;
    }
    if (groups < 1 || x.dim[1] % groups != 0 || w.dim[0] % groups != 0) {
        graph_fail(
            r, TARN_ERR_SHAPE,
            "conv2d: %d groups do not divide the %d channels of x %s and the %d of weight %s",
            groups, x.dim[1], shape_text(x), w.dim[0], shape_text(w));
        return false;
    }
    if (x.dim[1] / groups != w.dim[1]) {
        graph_fail(r, TARN_ERR_SHAPE,
                   "conv2d: x %s has %d channels in each of %d groups, weight %s takes %d",
                   shape_text(x), x.dim[1] / groups, groups, shape_text(w), w.dim[1]);
        return false;
    }
    return true;
}

static bool output_shape(tarn_replica *r, tarn_shape x, tarn_shape w, const union op_arg *arg,
                         tarn_shape *out)
{
    *out = tarn_shape_of(4, (const int32_t[]){ x.dim[0], w.dim[0], 0, 0 });
    for (int i = 0; i < 2; i++) {
        const int64_t window = w.dim[2 + i], dilation = arg->conv.dilation[i];
        const int64_t reach = dilation * (window - 1) + 1;
        const int64_t room = (int64_t)x.dim[2 + i] + 2 * (int64_t)arg->conv.padding[i] - reach;
        if (window < 1 || room < 0 || room > INT32_MAX || reach > INT32_MAX) {
            graph_fail(r, TARN_ERR_SHAPE,
                       "conv2d: the window of weight %s, dilation %d, does not fit into x %s with "
                       "padding %d",
                       shape_text(w), arg->conv.dilation[i], shape_text(x), arg->conv.padding[i]);
            return false;
        }
        out->dim[2 + i] = (int32_t)(room / arg->conv.stride[i]) + 1;
    }
    return true;
}

/* y + bias as type `of`, rounded once; without a bias y alone. The bias is of [channels of y], as was checked. */
static tarn_tensor with_bias(tarn_tensor y, tarn_tensor bias, tarn_dtype of)
{
    if (bias.replica == NULL)
        return op_as(y, of);
    tarn_dtype own;
    const tarn_shape s = TARN_SHAPE(1, tarn_shape_get(bias).dim[0], 1, 1);
    return op_as(tarn_add(y, tarn_reshape(op_wide(op_low(bias), &own), s)), of);
}

tarn_tensor tarn_conv2d_op(tarn_tensor x, tarn_tensor weight, tarn_tensor bias,
                           tarn_conv2d_options options)
{
    tarn_replica *r;
    const bool biased = bias.replica != NULL;
    if (!graph_operands("conv2d", (tarn_tensor[]){ x, weight, bias }, 2 + biased, &r))
        return graph_poison(r);
    if (!dtype_is_float(tarn_dtype_get(x)) || !dtype_is_float(tarn_dtype_get(weight)))
        return graph_fail(
            r, TARN_ERR_DTYPE, "conv2d: x is %s, weight %s: both must be float32; use tarn_cast",
            tarn_dtype_name(tarn_dtype_get(x)), tarn_dtype_name(tarn_dtype_get(weight)));
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    defaults(options.stride, arg.conv.stride);
    defaults(options.dilation, arg.conv.dilation);
    memcpy(arg.conv.padding, options.padding, sizeof arg.conv.padding);
    arg.conv.groups = options.groups ? options.groups : 1;
    const tarn_shape sx = tarn_shape_get(x), sw = tarn_shape_get(weight);
    tarn_shape shape;
    if (!check_options(r, &arg) || !check_channels(r, sx, sw, arg.conv.groups) ||
        !output_shape(r, sx, sw, &arg, &shape))
        return graph_poison(r);
    tarn_dtype of, with;
    x = op_wide(op_low(x), &of);
    const tarn_tensor y = record(&op_conv2d, x, op_wide(op_low(weight), &with), shape, &arg);
    const tarn_shape sb = tarn_shape_get(bias);
    if (biased && (sb.rank != 1 || sb.dim[0] != sw.dim[0]))
        return graph_fail(r, TARN_ERR_SHAPE, "conv2d: bias %s must be [%d] for weight %s",
                          shape_text(sb), sw.dim[0], shape_text(sw));
    return with_bias(y, bias, op_join_floats(of, with));
}

/* ---- transposed: the gradient of a convolution in its input, as an operation ------------------ */

static bool transposed_shape(tarn_replica *r, tarn_shape x, tarn_shape w, const union op_arg *arg,
                             const int32_t more[2], tarn_shape *out)
{
    if (x.rank != 4 || w.rank != 4 || arg->conv.groups < 1 || x.dim[1] != w.dim[0] ||
        w.dim[0] % arg->conv.groups != 0) {
        graph_fail(r, TARN_ERR_SHAPE,
                   "conv_transpose2d: x %s, weight %s, %d groups: must be [N, C, H, W] and "
                   "[C, O/groups, KH, KW], and groups divide C",
                   shape_text(x), shape_text(w), arg->conv.groups);
        return false;
    }
    *out = TARN_SHAPE(x.dim[0], w.dim[1] * arg->conv.groups, 0, 0);
    for (int i = 0; i < 2; i++) {
        const int32_t stride = arg->conv.stride[i], dilation = arg->conv.dilation[i];
        const int64_t extent = ((int64_t)x.dim[2 + i] - 1) * stride -
                               2 * (int64_t)arg->conv.padding[i] +
                               (int64_t)dilation * (w.dim[2 + i] - 1) + more[i] + 1;
        if (more[i] < 0 || more[i] >= (stride > dilation ? stride : dilation) || w.dim[2 + i] < 1 ||
            extent < 1 || extent > INT32_MAX) {
            graph_fail(
                r, TARN_ERR_SHAPE,
                "conv_transpose2d: x %s, weight %s, padding %d and output_padding %d leave %lld "
                "elements: at least 1, and output_padding below stride or dilation",
                shape_text(x), shape_text(w), arg->conv.padding[i], more[i], (long long)extent);
            return false;
        }
        out->dim[2 + i] = (int32_t)extent;
    }
    return true;
}

tarn_tensor tarn_conv_transpose2d_op(tarn_tensor x, tarn_tensor weight, tarn_tensor bias,
                                     tarn_conv_transpose2d_options options)
{
    tarn_replica *r;
    const bool biased = bias.replica != NULL;
    if (!graph_operands("conv_transpose2d", (tarn_tensor[]){ x, weight, bias }, 2 + biased, &r))
        return graph_poison(r);
    if (!dtype_is_float(tarn_dtype_get(x)) || !dtype_is_float(tarn_dtype_get(weight)))
        return graph_fail(
            r, TARN_ERR_DTYPE, "conv_transpose2d: x is %s, weight %s: must be float32",
            tarn_dtype_name(tarn_dtype_get(x)), tarn_dtype_name(tarn_dtype_get(weight)));
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    defaults(options.stride, arg.conv.stride);
    defaults(options.dilation, arg.conv.dilation);
    memcpy(arg.conv.padding, options.padding, sizeof arg.conv.padding);
    arg.conv.groups = options.groups ? options.groups : 1;
    tarn_shape shape;
    if (!check_options(r, &arg) || !transposed_shape(r, tarn_shape_get(x), tarn_shape_get(weight),
                                                     &arg, options.output_padding, &shape))
        return graph_poison(r);
    tarn_dtype of, with;
    x = op_wide(op_low(x), &of);
    const tarn_tensor y = record(&op_conv2d_input, x, op_wide(op_low(weight), &with), shape, &arg);
    const tarn_shape sb = tarn_shape_get(bias);
    if (biased && (sb.rank != 1 || sb.dim[0] != shape.dim[1]))
        return graph_fail(r, TARN_ERR_SHAPE, "conv_transpose2d: bias %s must be [%d]",
                          shape_text(sb), shape.dim[1]);
    return with_bias(y, bias, op_join_floats(of, with));
}
