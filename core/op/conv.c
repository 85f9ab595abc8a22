/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions of images and of volumes, which have depth, and their two gradients, each a nest of its own. */
#include <string.h>

#include "op/conv.h"
#include "op/op.h"
#include "tensor/shape.h"

/* ---- nests ---------------------------------------------------------------------------------- */

/* One spatial direction: extents of input, output and window, with the options along it. */
struct extents {
    int64_t in, out, window, stride, padding, dilation;
};

static int directions(tarn_shape of)
{
    return of.rank - 2;
}

static struct extents extents_of(tarn_shape x, tarn_shape y, tarn_shape w, const union op_arg *arg,
                                 int i)
{
    const int option = CONV_DIRECTIONS - directions(x) + i;
    return (struct extents){ x.dim[2 + i],
                             y.dim[2 + i],
                             w.dim[2 + i],
                             arg->conv.stride[option],
                             arg->conv.padding[option],
                             arg->conv.dilation[option] };
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
    const int ao = add_axes(out, &per_out, 1), ay = add_axes(out, y.dim + 2, directions(y));
    out->out_axes = out->axes;
    const int ac = add_axes(out, w.dim + 1, 1), ak = add_axes(out, w.dim + 2, directions(w));
    set_coef(&out->out, 0, an, 1);
    put_channel(&out->out, 1, ag, per_out, ao);
    set_coef(&out->in[0], 0, an, 1);
    put_channel(&out->in[0], 1, ag, w.dim[1], ac);
    put_channel(&out->in[1], 0, ag, per_out, ao);
    set_coef(&out->in[1], 1, ac, 1);
    for (int i = 0; i < directions(x); i++) {
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
    const int ac = add_axes(out, w.dim + 1, 1), ax = add_axes(out, x.dim + 2, directions(x));
    out->out_axes = out->axes;
    const int ao = add_axes(out, &per_out, 1), ak = add_axes(out, w.dim + 2, directions(w));
    set_coef(&out->out, 0, an, 1);
    put_channel(&out->out, 1, ag, w.dim[1], ac);
    set_coef(&out->in[0], 0, an, 1);
    put_channel(&out->in[0], 1, ag, per_out, ao);
    put_channel(&out->in[1], 0, ag, per_out, ao);
    set_coef(&out->in[1], 1, ac, 1);
    for (int i = 0; i < directions(x); i++) {
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
    const int ac = add_axes(out, w.dim + 1, 1), ak = add_axes(out, w.dim + 2, directions(w));
    out->out_axes = out->axes;
    const int an = add_axes(out, x.dim, 1), ay = add_axes(out, y.dim + 2, directions(y));
    put_channel(&out->out, 0, ag, per_out, ao);
    set_coef(&out->out, 1, ac, 1);
    set_coef(&out->in[0], 0, an, 1);
    put_channel(&out->in[0], 1, ag, w.dim[1], ac);
    set_coef(&out->in[1], 0, an, 1);
    put_channel(&out->in[1], 1, ag, per_out, ao);
    for (int i = 0; i < directions(x); i++) {
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

/* [samples, images, ...] of the images of all samples. */
static tarn_tensor apart(tarn_tensor x, int32_t images)
{
    const tarn_shape s = tarn_shape_get(x);
    tarn_shape to = { .rank = s.rank + 1, .dim = { s.dim[0] / images, images } };
    memcpy(to.dim + 2, s.dim + 1, (size_t)(s.rank - 1) * sizeof *s.dim);
    return tarn_reshape(x, to);
}

/* Of images x and what comes of them, y. With virtual shards the images of a sample that has several are summed over one
 * after the other, since axis 0 must be the samples there. */
static tarn_tensor weight_gradient(tarn_tensor x, tarn_tensor y, tarn_shape shape,
                                   const union op_arg *arg)
{
    const int32_t images = spread_rows(x);
    if (images < 2)
        return record(&op_conv2d_weight, x, y, shape, arg);
    x = apart(x, images);
    y = apart(y, images);
    tarn_tensor sum = TARN_NONE;
    for (int32_t i = 0; i < images; i++) {
        const tarn_tensor part =
            record(&op_conv2d_weight, tarn_select(x, 1, i), tarn_select(y, 1, i), shape, arg);
        sum = i == 0 ? part : tarn_add(sum, part);
    }
    return sum;
}

static void conv2d_grad(struct grad_call *c)
{
    const tarn_tensor x = c->in[0], w = c->in[1];
    c->gin[0] = record(&op_conv2d_input, c->g, w, tarn_shape_get(x), &c->arg);
    c->gin[1] = weight_gradient(x, c->g, tarn_shape_get(w), &c->arg);
}

static void conv2d_input_grad(struct grad_call *c)
{
    const tarn_tensor y = c->in[0], w = c->in[1];
    c->gin[0] = record(&op_conv2d, c->g, w, tarn_shape_get(y), &c->arg);
    c->gin[1] = weight_gradient(c->g, y, tarn_shape_get(w), &c->arg);
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

tarn_tensor conv_product(const struct convolution *c, tarn_tensor x, tarn_tensor weight,
                         tarn_shape shape)
{
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    memcpy(arg.conv.stride, c->stride, sizeof arg.conv.stride);
    memcpy(arg.conv.padding, c->padding, sizeof arg.conv.padding);
    memcpy(arg.conv.dilation, c->dilation, sizeof arg.conv.dilation);
    arg.conv.groups = c->groups;
    return record(c->transposed ? &op_conv2d_input : &op_conv2d, x, weight, shape, &arg);
}
