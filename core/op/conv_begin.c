/* SPDX-License-Identifier: Apache-2.0 */
/* Options of convolutions with all defaults, and what is refused. In: operands and options as they are given. Out: the
 * result's shape. */
#include "op/conv.h"
#include "op/op.h"
#include "tensor/shape.h"

/* Larger options would overflow the 32-bit index maps. */
#define OPTION_MOST (1 << 20)

static const char *const form_of_x[] = { "[N, C, L]", "[N, C, H, W]", "[N, C, D, H, W]" };
static const char *const form_of_window[] = { "K", "KH, KW", "KD, KH, KW" };

/* Along axes that are not there 1. */
static void defaults(int32_t option[3], int axes)
{
    const int first = 3 - axes;
    for (int i = 0; i < first; i++)
        option[i] = 1;
    op_defaults(option + first, axes, 1);
}

static bool check_options(tarn_replica *r, const struct convolution *c)
{
    for (int i = 3 - c->axes; i < 3; i++) {
        const int32_t s = c->stride[i], p = c->padding[i], d = c->dilation[i];
        if (s < 1 || s > OPTION_MOST || d < 1 || d > OPTION_MOST || p < 0 || p > OPTION_MOST) {
            graph_fail(r, TARN_ERR_ARGUMENT,
                       "%s: stride %d, padding %d, dilation %d: stride and dilation must be "
                       "from 1, padding from 0, each at most %d",
                       c->name, s, p, d, OPTION_MOST);
            return false;
        }
    }
    return true;
}

/* ---- convolutions --------------------------------------------------------------------------- */

static bool check_channels(tarn_replica *r, const struct convolution *c, tarn_shape x, tarn_shape w)
{
    const int32_t groups = c->groups;
    if (x.rank != 2 + c->axes || w.rank != x.rank) {
        graph_fail(r, TARN_ERR_SHAPE, "%s: x %s and weight %s must be %s and [O, C/groups, %s]",
                   c->name, shape_text(x), shape_text(w), form_of_x[c->axes - 1],
                   form_of_window[c->axes - 1]);
        return false;
    }
    if (groups < 1 || x.dim[1] % groups != 0 || w.dim[0] % groups != 0) {
        graph_fail(r, TARN_ERR_SHAPE,
                   "%s: %d groups do not divide the %d channels of x %s and the %d of weight %s",
                   c->name, groups, x.dim[1], shape_text(x), w.dim[0], shape_text(w));
        return false;
    }
    if (x.dim[1] / groups != w.dim[1]) {
        graph_fail(r, TARN_ERR_SHAPE,
                   "%s: x %s has %d channels in each of %d groups, weight %s takes %d", c->name,
                   shape_text(x), x.dim[1] / groups, groups, shape_text(w), w.dim[1]);
        return false;
    }
    return true;
}

static bool output_shape(tarn_replica *r, struct convolution *c, tarn_shape x, tarn_shape w)
{
    c->out = tarn_shape_of(x.rank, (const int32_t[TARN_MAX_RANK]){ x.dim[0], w.dim[0] });
    for (int i = 3 - c->axes, d = 2; i < 3; i++, d++) {
        const int64_t window = w.dim[d], reach = c->dilation[i] * (window - 1) + 1;
        const int64_t room = (int64_t)x.dim[d] + 2 * (int64_t)c->padding[i] - reach;
        if (window < 1 || room < 0 || room > INT32_MAX || reach > INT32_MAX) {
            graph_fail(r, TARN_ERR_SHAPE,
                       "%s: the window of weight %s, dilation %d, does not fit into x %s with "
                       "padding %d",
                       c->name, shape_text(w), c->dilation[i], shape_text(x), c->padding[i]);
            return false;
        }
        c->out.dim[d] = (int32_t)(room / c->stride[i]) + 1;
    }
    return true;
}

/* ---- transposed: the gradient of a convolution in its input, as an operation ------------------ */

static bool transposed_shape(tarn_replica *r, struct convolution *c, tarn_shape x, tarn_shape w)
{
    if (x.rank != 2 + c->axes || w.rank != x.rank || c->groups < 1 || x.dim[1] != w.dim[0] ||
        w.dim[0] % c->groups != 0 || (int64_t)w.dim[1] * c->groups > INT32_MAX) {
        graph_fail(r, TARN_ERR_SHAPE,
                   "%s: x %s, weight %s, %d groups: must be %s and [C, O/groups, %s], and groups "
                   "divide C",
                   c->name, shape_text(x), shape_text(w), c->groups, form_of_x[c->axes - 1],
                   form_of_window[c->axes - 1]);
        return false;
    }
    c->out =
        tarn_shape_of(x.rank, (const int32_t[TARN_MAX_RANK]){ x.dim[0], w.dim[1] * c->groups });
    for (int i = 3 - c->axes, d = 2; i < 3; i++, d++) {
        const int32_t stride = c->stride[i], dilation = c->dilation[i], more = c->output_padding[i];
        const int64_t extent = ((int64_t)x.dim[d] - 1) * stride - 2 * (int64_t)c->padding[i] +
                               (int64_t)dilation * (w.dim[d] - 1) + more + 1;
        if (more < 0 || more >= (stride > dilation ? stride : dilation) || w.dim[d] < 1 ||
            extent < 1 || extent > INT32_MAX) {
            graph_fail(r, TARN_ERR_SHAPE,
                       "%s: x %s, weight %s, padding %d and output_padding %d leave %lld "
                       "elements: at least 1, and output_padding below stride or dilation",
                       c->name, shape_text(x), shape_text(w), c->padding[i], more,
                       (long long)extent);
            return false;
        }
        c->out.dim[d] = (int32_t)extent;
    }
    return true;
}

/* ---- both ----------------------------------------------------------------------------------- */

bool conv_begin(struct convolution *c, tarn_tensor x, tarn_tensor weight, tarn_tensor bias,
                tarn_replica **r)
{
    const bool biased = bias.replica != NULL;
    if (!graph_operands(c->name, (tarn_tensor[]){ x, weight, bias }, 2 + biased, r))
        return false;
    if (!dtype_is_float(tarn_dtype_get(x)) || !dtype_is_float(tarn_dtype_get(weight))) {
        graph_fail(*r, TARN_ERR_DTYPE,
                   "%s: x is %s, weight %s: both must be float32; use tarn_cast", c->name,
                   tarn_dtype_name(tarn_dtype_get(x)), tarn_dtype_name(tarn_dtype_get(weight)));
        return false;
    }
    defaults(c->stride, c->axes);
    defaults(c->dilation, c->axes);
    c->groups = c->groups ? c->groups : 1;
    const tarn_shape sx = tarn_shape_get(x), sw = tarn_shape_get(weight), sb = tarn_shape_get(bias);
    if (!check_options(*r, c))
        return false;
    if (c->transposed ? !transposed_shape(*r, c, sx, sw)
                      : !check_channels(*r, c, sx, sw) || !output_shape(*r, c, sx, sw))
        return false;
    if (!biased || (sb.rank == 1 && sb.dim[0] == c->out.dim[1]))
        return true;
    graph_fail(*r, TARN_ERR_SHAPE, "%s: bias %s must be [%d] for weight %s", c->name,
               shape_text(sb), c->out.dim[1], shape_text(sw));
    return false;
}

tarn_dtype conv_operands(tarn_tensor *x, tarn_tensor *weight)
{
    tarn_dtype of, with;
    *x = op_wide(op_low(*x), &of);
    *weight = op_wide(op_low(*weight), &with);
    return op_join_floats(of, with);
}

tarn_tensor conv_with_bias(tarn_tensor y, tarn_tensor bias, tarn_dtype of)
{
    if (bias.replica == NULL || tarn_failed(y))
        return op_as(y, of);
    tarn_dtype own;
    tarn_shape s = { .rank = tarn_shape_get(y).rank };
    for (int i = 0; i < s.rank; i++)
        s.dim[i] = i == 1 ? tarn_shape_get(bias).dim[0] : 1;
    return op_as(tarn_add(y, tarn_reshape(op_wide(op_low(bias), &own), s)), of);
}
