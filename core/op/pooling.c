/* SPDX-License-Identifier: Apache-2.0 */
/* Pooling: a window view and a reduction over the window. Of images; a sequence is an image of one row, and what has
 * depth is pooled in each plane, and then along depth. */
#include <math.h>

#include "op/op.h"
#include "tensor/shape.h"

/* Axes KH and KW of [N, C, OH, OW, KH, KW]. */
#define WINDOW_AXES (UINT32_C(1) << 4 | UINT32_C(1) << 5)

/* Along one axis of x; what fit() adds: its length, that of the result, and elements to add behind it. */
struct pool_axis {
    int32_t window, stride, padding, dilation, in, out, behind;
};

struct pool {
    const char *name; /* of the public function, for errors */
    bool mean, round_up, exclude_padding;
    int axes; /* 1 to 3 */
    struct pool_axis axis[3];
};

static const struct pool_axis single = { .window = 1, .stride = 1, .dilation = 1 };

/* ---- options -------------------------------------------------------------------------------- */

static void fill_defaults(struct pool *p)
{
    const struct pool_axis first = p->axis[0];
    for (int i = 0; i < p->axes; i++) {
        struct pool_axis *a = &p->axis[i];
        a->window = a->window ? a->window : first.window;
        a->stride = a->stride ? a->stride : first.stride ? first.stride : a->window;
        a->dilation = a->dilation ? a->dilation : first.dilation ? first.dilation : 1;
    }
}

/* The axis of x that has axis i of the windows is checked against it. False after recording an error. */
static bool fit(tarn_tensor x, const struct pool *p, struct pool_axis *a, int32_t in)
{
    const int32_t k = a->window, pad = a->padding;
    if (k < 1 || a->stride < 1 || pad < 0 || pad > k / 2) {
        graph_fail(x.replica, TARN_ERR_ARGUMENT,
                   "%s: window %d, stride %d, padding %d: window and stride must be from 1, "
                   "padding from 0 to half the window",
                   p->name, k, a->stride, pad);
        return false;
    }
    if (a->dilation < 1 || (p->mean && a->dilation > 1)) {
        graph_fail(x.replica, TARN_ERR_ARGUMENT, "%s: dilation %d: must be from 1%s", p->name,
                   a->dilation, p->mean ? ", and means have none" : "");
        return false;
    }
    const int64_t span = ((int64_t)k - 1) * a->dilation + 1, all = (int64_t)in + 2 * (int64_t)pad;
    const int64_t more = p->round_up ? (int64_t)a->stride - 1 : 0;
    int64_t out = all - span + more < 0 ? 0 : (all - span + more) / a->stride + 1;
    if (p->round_up && (out - 1) * a->stride >= (int64_t)in + pad)
        out--; /* it would begin in the padding behind x */
    const int64_t reach = (out - 1) * a->stride + span - in - pad;
    if (out < 1 || reach > INT32_MAX) {
        graph_fail(x.replica, TARN_ERR_SHAPE,
                   "%s: a window of %d does not fit into x %s, padding %d", p->name, k,
                   shape_text(tarn_shape_get(x)), pad);
        return false;
    }
    a->in = in;
    a->out = (int32_t)out;
    a->behind = reach > pad ? (int32_t)reach : pad;
    return true;
}

/* False after recording an error. */
static bool begin(tarn_tensor x, struct pool *p)
{
    static const char *const forms[] = { "[N, C, L]", "[N, C, H, W]", "[N, C, D, H, W]" };
    if (!graph_operand(NULL, x, p->name, 0))
        return false;
    const tarn_shape s = tarn_shape_get(x);
    if (s.rank != 2 + p->axes || !dtype_is_float(tarn_dtype_get(x))) {
        graph_fail(x.replica, s.rank != 2 + p->axes ? TARN_ERR_SHAPE : TARN_ERR_DTYPE,
                   "%s: x is %s %s, must be float32 %s", p->name,
                   tarn_dtype_name(tarn_dtype_get(x)), shape_text(s), forms[p->axes - 1]);
        return false;
    }
    fill_defaults(p);
    for (int i = 0; i < p->axes; i++)
        if (!fit(x, p, &p->axis[i], s.dim[2 + i]))
            return false;
    const int64_t planes = (int64_t)s.dim[1] * s.dim[2];
    const int64_t pixels = p->axes == 3 ? (int64_t)p->axis[1].out * p->axis[2].out : 0;
    if (p->axes < 3 || (planes <= INT32_MAX && pixels <= INT32_MAX))
        return true;
    graph_fail(x.replica, TARN_ERR_SHAPE, "%s: x %s is too large", p->name, shape_text(s));
    return false;
}

/* ---- windows -------------------------------------------------------------------------------- */

/* Of x [N, C, H, W]; the height may be depth, and the width all pixels of a plane. */
static tarn_tensor over_windows(tarn_tensor x, const struct pool_axis *high,
                                const struct pool_axis *wide, const struct op *op)
{
    const float fill = op == &op_sum ? 0.0f : -INFINITY;
    if (high->padding || wide->padding || high->behind || wide->behind)
        x = tarn_pad(x, TARN_SHAPE(0, 0, high->padding, wide->padding),
                     TARN_SHAPE(0, 0, high->behind, wide->behind), fill);
    const tarn_tensor windows = op_window_view(x, (int32_t[]){ high->window, wide->window },
                                               (int32_t[]){ high->stride, wide->stride },
                                               (int32_t[]){ high->dilation, wide->dilation });
    const tarn_tensor y = op_reduce(op, windows, WINDOW_AXES);
    if (tarn_failed(y))
        return y;
    const tarn_shape s = tarn_shape_get(y);
    return tarn_reshape(y, TARN_SHAPE(s.dim[0], s.dim[1], s.dim[2], s.dim[3]));
}

/* Planes first: so the first of equal maxima is the first of them in row-major order. */
static tarn_tensor over_all(tarn_tensor x, const struct pool *p, const struct op *op)
{
    const struct pool_axis *a = p->axis;
    const tarn_shape s = tarn_shape_get(x);
    tarn_shape out = s;
    for (int i = 0; i < p->axes; i++)
        out.dim[2 + i] = a[i].out;
    if (p->axes == 2)
        return over_windows(x, &a[0], &a[1], op);
    if (p->axes == 1) {
        const tarn_tensor row = tarn_reshape(x, TARN_SHAPE(s.dim[0], s.dim[1], 1, s.dim[2]));
        return tarn_reshape(over_windows(row, &single, &a[0], op), out);
    }
    x = tarn_reshape(x, TARN_SHAPE(s.dim[0], s.dim[1] * s.dim[2], s.dim[3], s.dim[4]));
    x = over_windows(x, &a[1], &a[2], op);
    x = tarn_reshape(x, TARN_SHAPE(s.dim[0], s.dim[1], s.dim[2], a[1].out * a[2].out));
    return tarn_reshape(over_windows(x, &a[0], &single, op), out);
}

/* ---- means ---------------------------------------------------------------------------------- */

/* Whether some of the axis' windows have fewer elements that count than others. */
static bool uneven(const struct pool *p, const struct pool_axis *a)
{
    return (p->exclude_padding && a->padding > 0) || a->behind > a->padding;
}

/* How many elements of each window of an axis count, [out]: those of x, and of its padding unless that is excluded. */
static tarn_tensor counted(tarn_replica *r, const struct pool *p, const struct pool_axis *a)
{
    const int32_t beside = p->exclude_padding ? 0 : a->padding;
    const tarn_tensor stride = op_whole(r, a->stride);
    const tarn_tensor low = op_whole(r, -beside);
    const tarn_tensor high = op_constant_of(r, TARN_SCALAR, TARN_I32, (double)a->in + beside);
    const tarn_tensor padding = op_whole(r, a->padding);
    const tarn_tensor window = op_whole(r, a->window);
    const tarn_tensor first = tarn_sub(tarn_mul(tarn_arange(r, a->out), stride), padding);
    return tarn_sub(tarn_minimum(tarn_add(first, window), high), tarn_maximum(first, low));
}

static tarn_tensor mean_of(tarn_tensor sum, const struct pool *p)
{
    tarn_tensor counts = TARN_NONE;
    double area = 1.0;
    for (int i = 0; i < p->axes; i++) {
        tarn_shape s = { .rank = p->axes };
        for (int d = 0; d < p->axes; d++)
            s.dim[d] = d == i ? p->axis[i].out : 1;
        if (!uneven(p, &p->axis[i])) {
            area *= (double)p->axis[i].window;
            continue;
        }
        const tarn_tensor own =
            tarn_cast(tarn_reshape(counted(sum.replica, p, &p->axis[i]), s), tarn_dtype_get(sum));
        counts = counts.replica == NULL ? own : tarn_mul(counts, own);
    }
    if (area != 1.0 || counts.replica == NULL)
        sum = tarn_mul_scalar(sum, 1.0 / area);
    return counts.replica == NULL ? sum : tarn_div(sum, counts);
}

/* ---- the public forms ----------------------------------------------------------------------- */

static tarn_tensor pooled(tarn_tensor x, struct pool *p)
{
    if (!begin(x, p))
        return graph_poison(x.replica);
    if (!p->mean)
        return over_all(x, p, &op_max_first);
    tarn_dtype of;
    const tarn_tensor sum = over_all(op_wide(x, &of), p, &op_sum);
    return tarn_failed(sum) ? sum : op_as(mean_of(sum, p), of);
}

/* By options of `axes` numbers each. */
static tarn_tensor pool_by(tarn_tensor x, struct pool p, const int32_t *window,
                           const int32_t *stride, const int32_t *padding, const int32_t *dilation)
{
    for (int i = 0; i < p.axes; i++)
        p.axis[i] = (struct pool_axis){
            .window = window[i], .stride = stride[i], .padding = padding[i], .dilation = dilation[i]
        };
    return pooled(x, &p);
}

static tarn_tensor pool1d(tarn_tensor x, const char *name, bool mean, tarn_pool1d_options o)
{
    const struct pool p = { name, mean, o.round_up, o.exclude_padding, 1, { { .window = 0 } } };
    return pool_by(x, p, &o.window, &o.stride, &o.padding, &o.dilation);
}

static tarn_tensor pool2d(tarn_tensor x, const char *name, bool mean, tarn_pool_options o)
{
    const struct pool p = { name, mean, o.round_up, o.exclude_padding, 2, { { .window = 0 } } };
    return pool_by(x, p, o.window, o.stride, o.padding, o.dilation);
}

static tarn_tensor pool3d(tarn_tensor x, const char *name, bool mean, tarn_pool3d_options o)
{
    const struct pool p = { name, mean, o.round_up, o.exclude_padding, 3, { { .window = 0 } } };
    return pool_by(x, p, o.window, o.stride, o.padding, o.dilation);
}

tarn_tensor tarn_max_pool1d(tarn_tensor x, tarn_pool1d_options options)
{
    return pool1d(x, "max_pool1d", false, options);
}

tarn_tensor tarn_avg_pool1d(tarn_tensor x, tarn_pool1d_options options)
{
    return pool1d(x, "avg_pool1d", true, options);
}

tarn_tensor tarn_max_pool2d_with(tarn_tensor x, tarn_pool_options options)
{
    return pool2d(x, "max_pool2d", false, options);
}

tarn_tensor tarn_avg_pool2d_with(tarn_tensor x, tarn_pool_options options)
{
    return pool2d(x, "avg_pool2d", true, options);
}

tarn_tensor tarn_max_pool2d(tarn_tensor x, int window)
{
    return tarn_max_pool2d_with(x, (tarn_pool_options){ .window = { window, window } });
}

tarn_tensor tarn_avg_pool2d(tarn_tensor x, int window)
{
    return tarn_avg_pool2d_with(x, (tarn_pool_options){ .window = { window, window } });
}

tarn_tensor tarn_max_pool3d(tarn_tensor x, tarn_pool3d_options options)
{
    return pool3d(x, "max_pool3d", false, options);
}

tarn_tensor tarn_avg_pool3d(tarn_tensor x, tarn_pool3d_options options)
{
    return pool3d(x, "avg_pool3d", true, options);
}
