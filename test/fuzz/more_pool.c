/* SPDX-License-Identifier: Apache-2.0 */
/* Pools of one to three axes, and those to a size. */
#include <stdlib.h>

#include "generate.h"
#include "more.h"

/* ---- windows ----------------------------------------------------------------------------------- */

/* Where options stand in arg, of 1, 2 and 3 axes. Three axes have one padding and one dilation. */
static const struct {
    int window, stride, padding, flags, dilation;
} places[] = { { 0, 1, 2, 3, 5 }, { 0, 2, 4, 6, 8 }, { 0, 3, 6, 7, 9 } };

struct windows {
    int axes, size[3], stride[3], padding[3], dilation[3];
    bool round_up, exclude_padding, mean;
};

static bool plain(enum op_id op)
{
    return op == OP_ID_max_pool2d || op == OP_ID_avg_pool2d;
}

static int axes_of(enum op_id op)
{
    if (op == OP_ID_max_pool1d || op == OP_ID_avg_pool1d)
        return 1;
    return op == OP_ID_max_pool3d || op == OP_ID_avg_pool3d ? 3 : 2;
}

static bool is_mean(enum op_id op)
{
    return op == OP_ID_avg_pool1d || op == OP_ID_avg_pool2d || op == OP_ID_avg_pool2d_with ||
           op == OP_ID_avg_pool3d;
}

/* That of an axis, that of the first, or another one. */
static int option(const int *arg, int at, int i, int other)
{
    return arg[at + i] ? arg[at + i] : arg[at] ? arg[at] : other;
}

static struct windows windows_of(const struct line *l)
{
    struct windows w = { .axes = axes_of(l->op), .mean = is_mean(l->op) };
    const int *a = l->arg, k = w.axes - 1, one = k == 2;
    for (int i = 0; i < w.axes; i++) {
        w.size[i] = plain(l->op) ? a[0] : option(a, places[k].window, i, 0);
        w.stride[i] = plain(l->op) ? a[0] : option(a, places[k].stride, i, w.size[i]);
        w.padding[i] = plain(l->op) ? 0 : a[places[k].padding + (one ? 0 : i)];
        w.dilation[i] = plain(l->op) ? 1 : option(a, places[k].dilation, one ? 0 : i, 1);
    }
    w.round_up = !plain(l->op) && a[places[k].flags];
    w.exclude_padding = !plain(l->op) && a[places[k].flags + 1];
    return w;
}

/* How many elements of a window that begins at o count in a mean; with `own` those of x. */
static int counted(const struct windows *w, int axis, int length, int o, bool own)
{
    const int first = o * w->stride[axis] - w->padding[axis], beside = own ? 0 : w->padding[axis];
    int count = 0;
    for (int k = 0; k < w->size[axis]; k++) {
        const int at = first + k * w->dilation[axis];
        count += at >= -beside && at < length + beside;
    }
    return count;
}

bool pool_shape(const struct line *l, tarn_shape x, tarn_shape *out)
{
    const struct windows w = windows_of(l);
    if (x.rank != 2 + w.axes)
        return false;
    *out = x;
    for (int i = 0; i < w.axes; i++) {
        const int stride = w.stride[i], pad = w.padding[i], length = x.dim[2 + i];
        const int room = length + 2 * pad - (w.size[i] - 1) * w.dilation[i] - 1;
        if (w.size[i] < 1 || pad > w.size[i] / 2 || (w.mean && w.dilation[i] > 1) ||
            (w.round_up ? room + stride - 1 : room) < 0)
            return false;
        int n = (w.round_up ? room + stride - 1 : room) / stride + 1;
        if (w.round_up && (n - 1) * stride >= length + pad)
            n--;
        for (int o = 0; o < n; o++)
            if (counted(&w, i, length, o, true) == 0)
                return false;
        out->dim[2 + i] = n;
    }
    return true;
}

int pool_value(struct interpreter *m, const struct line *l)
{
    const struct windows w = windows_of(l);
    const tarn_shape from = shape_of(m, l, 0);
    struct tape *t = m->tape;
    int area = 1, at[TARN_MAX_RANK] = { 0 }, n = 0;
    for (int i = 0; i < w.axes; i++)
        area *= w.size[i];
    const int count = (int)tarn_shape_count(l->shape), part = tape_full(t, count, 1, 0);
    int *index = malloc(2 * (size_t)count * (size_t)area * sizeof *index + 1);
    int *group = index + (size_t)count * (size_t)area;
    bool even = true;
    if (index == NULL)
        abort();
    for (int i = 0; i < count; i++, next_position(l->shape, at)) {
        for (int e = 0; e < area; e++) {
            int source[TARN_MAX_RANK] = { at[0], at[1] }, rest = e;
            bool inside = true;
            for (int d = w.axes - 1; d >= 0; rest /= w.size[d--]) {
                source[2 + d] =
                    at[2 + d] * w.stride[d] - w.padding[d] + rest % w.size[d] * w.dilation[d];
                inside &= source[2 + d] >= 0 && source[2 + d] < from.dim[2 + d];
            }
            if (!inside)
                continue;
            index[n] = (int)position_of(from, source);
            group[n++] = i;
        }
        for (int d = 0; d < w.axes; d++)
            t->node[part].v[i] *=
                (double)counted(&w, d, from.dim[2 + d], at[2 + d], w.exclude_padding) / w.size[d];
        even &= t->node[part].v[i] == 1;
        t->node[part].e[i] = tape_unit(t) * t->node[part].v[i];
    }
    const int taken = tape_gather(t, interpret_operand(m, l, 0), n, index, 0);
    int y = w.mean ? tape_scale(t, tape_scatter(t, taken, count, group), 1.0 / area)
                   : extreme(t, taken, count, group, 1, true);
    free(index);
    if (w.mean && !even)
        y = tape_map2(t, T_DIV, y, part);
    return y;
}

static bool shape(const struct program *p, struct line *l)
{
    return all_floats(p, l) && pool_shape(l, operand_of(p, l, 0)->shape, &l->shape);
}

tarn_tensor pool_call(const struct line *l, const tarn_tensor *in)
{
    const int *a = l->arg;
    const tarn_pool1d_options line = { a[0], a[1], a[2], a[3] != 0, a[4] != 0, a[5] };
    const tarn_pool_options image = { { a[0], a[1] }, { a[2], a[3] }, { a[4], a[5] },
                                      a[6] != 0,      a[7] != 0,      { a[8], a[9] } };
    const tarn_pool3d_options depth = { { a[0], a[1], a[2] },
                                        { a[3], a[4], a[5] },
                                        { a[6], a[6], a[6] },
                                        a[7] != 0,
                                        a[8] != 0,
                                        { a[9] } };
    switch (l->op) {
    case OP_ID_max_pool1d:
        return tarn_max_pool1d(in[0], line);
    case OP_ID_avg_pool1d:
        return tarn_avg_pool1d(in[0], line);
    case OP_ID_max_pool2d:
        return tarn_max_pool2d(in[0], a[0]);
    case OP_ID_avg_pool2d:
        return tarn_avg_pool2d(in[0], a[0]);
    case OP_ID_max_pool2d_with:
        return tarn_max_pool2d_with(in[0], image);
    case OP_ID_avg_pool2d_with:
        return tarn_avg_pool2d_with(in[0], image);
    case OP_ID_max_pool3d:
        return tarn_max_pool3d(in[0], depth);
    default:
        return tarn_avg_pool3d(in[0], depth);
    }
}

/* A batch of what has one axis or three: line a if it is one, or a leaf. */
static int batch_of(struct generator *g, int a, int axes)
{
    const int n = chance(g, 50) && g->batch <= 17 ? g->batch : 1 + below(g, 3);
    tarn_shape s = TARN_SHAPE(n, 1 + below(g, axes == 1 ? 4 : 2));
    if (axes == 2)
        return image(g, a);
    if (shape_of_line(g, a).rank == 2 + axes && chance(g, 70))
        return a;
    for (s.rank = 2; s.rank < 2 + axes; s.rank++)
        s.dim[s.rank] = axes == 1 ? 3 + below(g, 12) : 2 + below(g, 3);
    return new_leaf(g, s, TARN_F32, chance(g, 30) ? FILL_COARSE : FILL_SIGNED, 0);
}

bool pool_grow(struct generator *g, struct line *l, int a)
{
    const int axes = axes_of(l->op), k = axes - 1;
    int least = 3;
    l->in[0] = batch_of(g, a, axes);
    l->arg[0] = 1 + below(g, 3);
    if (plain(l->op))
        return true;
    for (int i = 0; i < axes; i++) {
        if (i > 0)
            l->arg[i] = chance(g, 50) ? 1 + below(g, 3) : 0;
        l->arg[places[k].stride + i] = below(g, 3);
        const int size = option(l->arg, places[k].window, i, 1);
        least = size < least ? size : least;
        if (axes < 3)
            l->arg[places[k].padding + i] = below(g, size / 2 + 1);
        if (axes < 3 && !is_mean(l->op))
            l->arg[places[k].dilation + i] = chance(g, 25) ? 2 : 0;
    }
    if (axes == 3) {
        l->arg[places[k].padding] = below(g, least / 2 + 1);
        l->arg[places[k].dilation] = !is_mean(l->op) && chance(g, 25) ? 2 : 0;
    }
    for (int i = 0; i < 2; i++)
        l->arg[places[k].flags + i] = chance(g, 40);
    return true;
}

/* ---- to a size: arg is height and width --------------------------------------------------------- */

static bool adaptive_shape(const struct program *p, struct line *l)
{
    const tarn_shape x = operand_of(p, l, 0)->shape;
    l->shape = x;
    if (!all_floats(p, l) || x.rank != 4)
        return false;
    for (int i = 0; i < 2; i++) {
        l->shape.dim[2 + i] = l->arg[i];
        if (x.dim[2 + i] < 1 || l->arg[i] < 1)
            return false;
    }
    return true;
}

static int window_begin(int o, int in, int out)
{
    return o * in / out;
}

static int window_end(int o, int in, int out)
{
    return ((o + 1) * in + out - 1) / out;
}

/* Over windows of x [N, C, from...] that make [N, C, to...]. */
static int over_windows(struct tape *t, int x, tarn_shape from, tarn_shape to, bool mean)
{
    const int count = (int)tarn_shape_count(to), counts = tape_full(t, count, 0, 0);
    int at[TARN_MAX_RANK] = { 0 }, most = 1, n = 0;
    for (int d = 2; d < 4; d++)
        most *= from.dim[d] / to.dim[d] + 2;
    int *index = malloc(2 * (size_t)count * (size_t)most * sizeof *index + 1);
    int *group = index + (size_t)count * (size_t)most;
    if (index == NULL)
        abort();
    for (int i = 0; i < count; i++, next_position(to, at))
        for (int h = window_begin(at[2], from.dim[2], to.dim[2]);
             h < window_end(at[2], from.dim[2], to.dim[2]); h++)
            for (int v = window_begin(at[3], from.dim[3], to.dim[3]);
                 v < window_end(at[3], from.dim[3], to.dim[3]); v++) {
                const int source[] = { at[0], at[1], h, v };
                index[n] = (int)position_of(from, source);
                group[n++] = i;
                t->node[counts].v[i]++;
            }
    const int taken = tape_gather(t, x, n, index, 0);
    const int y = mean ? tape_map2(t, T_DIV, tape_scatter(t, taken, count, group), counts)
                       : extreme(t, taken, count, group, 1, true);
    free(index);
    return y;
}

/* A mean of windows that are no equal pieces is one of means along columns. */
static int adaptive_value(struct interpreter *m, const struct line *l)
{
    const tarn_shape s = shape_of(m, l, 0);
    const bool mean = l->op == OP_ID_adaptive_avg_pool2d;
    const int x = interpret_operand(m, l, 0);
    tarn_shape half = s;
    half.dim[3] = l->arg[1];
    if (!mean || (s.dim[2] % l->arg[0] == 0 && s.dim[3] % l->arg[1] == 0))
        return over_windows(m->tape, x, s, l->shape, mean);
    return over_windows(m->tape, over_windows(m->tape, x, s, half, true), half, l->shape, true);
}

static tarn_tensor adaptive_call(const struct line *l, const tarn_tensor *in)
{
    return l->op == OP_ID_adaptive_avg_pool2d
               ? tarn_adaptive_avg_pool2d(in[0], l->arg[0], l->arg[1])
               : tarn_adaptive_max_pool2d(in[0], l->arg[0], l->arg[1]);
}

static bool adaptive_grow(struct generator *g, struct line *l, int a)
{
    l->in[0] = image(g, a);
    for (int i = 0; i < 2; i++)
        l->arg[i] = chance(g, 15) ? 16 * (1 + below(g, 3)) : 1 + below(g, chance(g, 30) ? 9 : 4);
    return true;
}

const struct more more_pools[] = {
    { OP_ID_max_pool1d, shape, pool_value, pool_call, pool_grow },
    { OP_ID_avg_pool1d, shape, pool_value, pool_call, pool_grow },
    { OP_ID_max_pool3d, shape, pool_value, pool_call, pool_grow },
    { OP_ID_avg_pool3d, shape, pool_value, pool_call, pool_grow },
    { OP_ID_adaptive_avg_pool2d, adaptive_shape, adaptive_value, adaptive_call, adaptive_grow },
    { OP_ID_adaptive_max_pool2d, adaptive_shape, adaptive_value, adaptive_call, adaptive_grow },
};
const int more_pool_count = sizeof more_pools / sizeof *more_pools;
