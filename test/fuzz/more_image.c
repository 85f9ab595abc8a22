/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions of one dimension and transposed ones, images made larger, global pools, norms. */
#include <math.h>
#include <stdlib.h>

#include "generate.h"
#include "more.h"

static tarn_tensor optional(const struct line *l, const tarn_tensor *in, int k)
{
    return l->ins > k ? in[k] : TARN_NONE;
}

static int optional_node(const struct interpreter *m, const struct line *l, int k)
{
    return l->ins > k ? interpret_operand(m, l, k) : -1;
}

static bool is_vector(tarn_shape s, int n)
{
    return s.rank == 1 && s.dim[0] == n;
}

/* ---- conv1d: arg is stride, padding, dilation, groups ------------------------------------------ */

static tarn_shape row(tarn_shape s)
{
    return TARN_SHAPE(s.dim[0], s.dim[1], 1, s.dim[2]);
}

static bool conv1d_shape(const struct program *p, struct line *l)
{
    const tarn_shape x = operand_of(p, l, 0)->shape, w = operand_of(p, l, 1)->shape;
    const int o[7] = { 1, l->arg[0], 0, l->arg[1], 1, l->arg[2], l->arg[3] };
    tarn_shape s;
    if (!all_floats(p, l) || x.rank != 3 || w.rank != 3 || !conv_shape(row(x), row(w), o, &s))
        return false;
    l->shape = TARN_SHAPE(s.dim[0], s.dim[1], s.dim[3]);
    return l->ins < 3 || is_vector(operand_of(p, l, 2)->shape, w.dim[0]);
}

static int conv1d_value(struct interpreter *m, const struct line *l)
{
    const struct conv o = { { 1, l->arg[0] }, { 0, l->arg[1] }, { 1, l->arg[2] }, l->arg[3] };
    return conv2d(m, interpret_operand(m, l, 0), row(shape_of(m, l, 0)), interpret_operand(m, l, 1),
                  row(shape_of(m, l, 1)), optional_node(m, l, 2), &o, row(l->shape));
}

static tarn_tensor conv1d_call(const struct line *l, const tarn_tensor *in)
{
    const tarn_conv1d_options o = { l->arg[0], l->arg[1], l->arg[2], l->arg[3] };
    const tarn_conv1d layer = { in[1], optional(l, in, 2), o };
    return l->op == OP_ID_conv1d_op ? tarn_conv1d_op(in[0], in[1], optional(l, in, 2), o)
                                    : tarn_conv1d_forward(&layer, in[0]);
}

static bool conv1d_grow(struct generator *g, struct line *l, int a)
{
    const int groups = chance(g, 30) ? 2 : 1, channels = groups * (1 + below(g, 3));
    const tarn_shape s = TARN_SHAPE(g->batch, channels, 4 + below(g, 9));
    (void)a;
    l->in[0] = leaf_of(g, s);
    l->in[1] =
        leaf_of(g, TARN_SHAPE(groups * (1 + below(g, 3)), channels / groups, 1 + below(g, 4)));
    l->ins = chance(g, 50) ? 3 : 2;
    if (l->ins == 3 && l->in[1] >= 0)
        l->in[2] = leaf_of(g, TARN_SHAPE(shape_of_line(g, l->in[1]).dim[0]));
    l->arg[0] = 1 + below(g, 2);
    l->arg[1] = below(g, 3);
    l->arg[2] = 1 + chance(g, 20);
    l->arg[3] = groups;
    return true;
}

/* ---- conv_transpose2d: arg is stride, padding, output padding (two each), groups --------------- */

static bool transposed_shape(const struct program *p, struct line *l)
{
    const tarn_shape x = operand_of(p, l, 0)->shape, w = operand_of(p, l, 1)->shape;
    if (!all_floats(p, l) || x.rank != 4 || w.rank != 4 || x.dim[1] != w.dim[0] ||
        w.dim[0] % l->arg[6] != 0)
        return false;
    l->shape = TARN_SHAPE(x.dim[0], w.dim[1] * l->arg[6], 0, 0);
    for (int i = 0; i < 2; i++) {
        const int extent =
            (x.dim[2 + i] - 1) * l->arg[i] - 2 * l->arg[2 + i] + w.dim[2 + i] + l->arg[4 + i];
        if (extent < 1 || l->arg[4 + i] >= l->arg[i])
            return false;
        l->shape.dim[2 + i] = extent;
    }
    return l->ins < 3 || is_vector(operand_of(p, l, 2)->shape, l->shape.dim[1]);
}

/* Each element of x times each of the window, where it falls. */
static int transposed_value(struct interpreter *m, const struct line *l)
{
    struct tape *t = m->tape;
    const tarn_shape x = shape_of(m, l, 0), w = shape_of(m, l, 1);
    const int per = x.dim[1] / l->arg[6];
    int at[TARN_MAX_RANK] = { 0 };
    struct products s = { 0 };
    for (int64_t i = 0; i < tarn_shape_count(x); i++, next_position(x, at))
        for (int o = 0; o < w.dim[1]; o++)
            for (int k = 0; k < w.dim[2] * w.dim[3]; k++) {
                const int to[] = { at[0], at[1] / per * w.dim[1] + o,
                                   at[2] * l->arg[0] + k / w.dim[3] - l->arg[2],
                                   at[3] * l->arg[1] + k % w.dim[3] - l->arg[3] };
                if (to[2] >= 0 && to[3] >= 0 && to[2] < l->shape.dim[2] && to[3] < l->shape.dim[3])
                    add_product(&s, i, ((int64_t)at[1] * w.dim[1] + o) * w.dim[2] * w.dim[3] + k,
                                position_of(l->shape, to));
            }
    const int a = interpret_operand(m, l, 0), b = interpret_operand(m, l, 1);
    const int y = sum_products(t, &s, a, b, tarn_shape_count(l->shape)),
              bias = optional_node(m, l, 2);
    if (m->winograd && w.dim[2] == w.dim[3] && (w.dim[2] == 3 || w.dim[2] == 5))
        blur(t, y, per * w.dim[2] * w.dim[3], largest(t, a) * largest(t, b));
    return bias < 0 ? y : tape_map2(t, T_ADD, y, along(t, bias, l->shape, 1));
}

static tarn_tensor transposed_call(const struct line *l, const tarn_tensor *in)
{
    const int *a = l->arg;
    const tarn_conv_transpose2d_options o = {
        { a[0], a[1] }, { a[2], a[3] }, { a[4], a[5] }, { 1, 1 }, a[6]
    };
    const tarn_conv_transpose2d layer = { in[1], optional(l, in, 2), o };
    return l->op == OP_ID_conv_transpose2d_op
               ? tarn_conv_transpose2d_op(in[0], in[1], optional(l, in, 2), o)
               : tarn_conv_transpose2d_forward(&layer, in[0]);
}

static bool transposed_grow(struct generator *g, struct line *l, int a)
{
    const int groups = chance(g, 30) ? 2 : 1;
    const int n = chance(g, 50) && g->batch <= 17 ? g->batch : 1 + below(g, 3);
    const tarn_shape s =
        TARN_SHAPE(n, groups * (1 + below(g, 2)), 2 + below(g, 4), 2 + below(g, 4));
    (void)a;
    l->in[0] = leaf_of(g, s);
    l->in[1] = leaf_of(g, TARN_SHAPE(s.dim[1], 1 + below(g, 2), 1 + below(g, 4), 1 + below(g, 4)));
    l->arg[6] = groups;
    for (int i = 0; i < 2; i++) {
        l->arg[i] = 1 + below(g, 3);
        l->arg[2 + i] = below(g, 2);
        l->arg[4 + i] = below(g, l->arg[i]);
    }
    l->ins = chance(g, 50) ? 3 : 2;
    if (l->ins == 3 && l->in[1] >= 0)
        l->in[2] = leaf_of(g, TARN_SHAPE(shape_of_line(g, l->in[1]).dim[1] * groups));
    return true;
}

/* ---- upsampling: arg is the factors ------------------------------------------------------------ */

static bool upsample_shape(const struct program *p, struct line *l)
{
    const struct line *x = operand_of(p, l, 0);
    l->shape = x->shape;
    if (x->dtype != TARN_F32 || x->shape.rank != 4 || x->shape.dim[2] < 1 || x->shape.dim[3] < 1)
        return false;
    l->shape.dim[2] *= l->arg[0];
    l->shape.dim[3] *= l->arg[1];
    return true;
}

/* Where an element o of an axis comes from: position first + o * slope, and how exactly the library knows it. */
struct places {
    int out;
    bool linear, from_0; /* not from before the first element */
    double first, slope, error;
};

/* Along one axis, in a shape whose axis is as long as before. */
static int stretch(struct tape *t, int x, tarn_shape from, int axis, struct places how)
{
    tarn_shape to = from;
    to.dim[axis] = how.out;
    const int count = (int)tarn_shape_count(to), part = tape_full(t, count, 0, 0);
    int *index = malloc(2 * (size_t)count * sizeof *index + 1), at[TARN_MAX_RANK] = { 0 };
    if (index == NULL)
        abort();
    for (int i = 0; i < count; i++, next_position(to, at)) {
        const int o = at[axis], last = from.dim[axis] - 1;
        const double there = how.first + o * how.slope;
        const double place = how.from_0 && there < 0 ? 0 : there;
        const int low = (int)floor(place);
        t->node[part].v[i] = place - low;
        t->node[part].e[i] = how.linear ? how.error * (1 + fabs(place)) : 0;
        for (int k = 0; k < 2; k++) {
            at[axis] = low + k < 0 ? 0 : low + k > last ? last : low + k;
            index[i + k * count] = (int)position_of(from, at);
        }
        at[axis] = o;
    }
    const int a = tape_gather(t, x, count, index, 0),
              b = tape_gather(t, x, count, index + count, 0);
    free(index);
    if (!how.linear)
        return a;
    const int rest = tape_map2(t, T_SUB, tape_full(t, count, 1, 0), part);
    return tape_map2(t, T_ADD, tape_map2(t, T_MUL, a, rest), tape_map2(t, T_MUL, b, part));
}

static int upsample_value(struct interpreter *m, const struct line *l)
{
    const bool linear = l->op == OP_ID_upsample_bilinear2d;
    tarn_shape s = shape_of(m, l, 0);
    int y = interpret_operand(m, l, 0);
    for (int i = 0; i < 2; i++) {
        const int factor = l->arg[i], to = s.dim[2 + i] * factor;
        const double slope = 1.0 / factor;
        y = stretch(m->tape, y, s, 2 + i,
                    (struct places){ to, linear, false, linear ? slope / 2 - 0.5 : 0.5 * slope,
                                     slope, tape_unit(m->tape) });
        s.dim[2 + i] = to;
    }
    return y;
}

static tarn_tensor upsample_call(const struct line *l, const tarn_tensor *in)
{
    return l->op == OP_ID_upsample_bilinear2d
               ? tarn_upsample_bilinear2d(in[0], l->arg[0], l->arg[1])
               : tarn_upsample_nearest2d(in[0], l->arg[0], l->arg[1]);
}

static bool upsample_grow(struct generator *g, struct line *l, int a)
{
    l->in[0] = image(g, a);
    l->arg[0] = 1 + below(g, 3);
    l->arg[1] = 1 + below(g, 3);
    return true;
}

/* ---- any sizes: arg is the size, or f the scale, and arg[2] align_corners ----------------------- */

static int resized(const struct line *l, int length, int i)
{
    return l->f[i] != 0 ? (int)floor(length * (double)l->f[i]) : l->arg[i];
}

static bool resize_shape(const struct program *p, struct line *l)
{
    const struct line *x = operand_of(p, l, 0);
    l->shape = x->shape;
    if (x->dtype != TARN_F32 || x->shape.rank != 4)
        return false;
    for (int i = 0; i < 2; i++) {
        l->shape.dim[2 + i] = resized(l, x->shape.dim[2 + i], i);
        if (x->shape.dim[2 + i] < 1 || l->shape.dim[2 + i] < 1)
            return false;
    }
    return true;
}

static int resize_value(struct interpreter *m, const struct line *l)
{
    tarn_shape s = shape_of(m, l, 0);
    int y = interpret_operand(m, l, 0);
    for (int i = 0; i < 2; i++) {
        const int in = s.dim[2 + i], out = resized(l, in, i);
        struct places how = { out, true, true, 0, 0, 4 * tape_unit(m->tape) };
        if (l->arg[2] != 0)
            how.slope = out > 1 ? (in - 1.0) / (out - 1) : 0;
        else
            how.slope = l->f[i] != 0 ? 1 / (double)l->f[i] : (double)in / out;
        how.first = l->arg[2] != 0 ? 0 : how.slope / 2 - 0.5;
        if (in != out) /* else it is copied, as in PyTorch, whatever the scale is */
            y = stretch(m->tape, y, s, 2 + i, how);
        s.dim[2 + i] = out;
    }
    return y;
}

static int nearest_value(struct interpreter *m, const struct line *l)
{
    tarn_shape s = shape_of(m, l, 0);
    int y = interpret_operand(m, l, 0);
    for (int i = 0; i < 2; i++) {
        const int axis = 2 + i, in = s.dim[axis], out = resized(l, in, i);
        const float step = l->f[i] != 0 ? 1 / l->f[i] : (float)in / (float)out;
        tarn_shape to = s;
        to.dim[axis] = out;
        const int count = (int)tarn_shape_count(to);
        int *index = malloc((size_t)count * sizeof *index + 1), at[TARN_MAX_RANK] = { 0 };
        if (index == NULL)
            abort();
        for (int k = 0; k < count; k++, next_position(to, at)) {
            const int o = at[axis], from = (int)floorf((float)o * step);
            at[axis] = from < in ? from : in - 1;
            index[k] = (int)position_of(s, at);
            at[axis] = o;
        }
        y = tape_gather(m->tape, y, count, index, 0);
        free(index);
        s = to;
    }
    return y;
}

static tarn_tensor resize_call(const struct line *l, const tarn_tensor *in)
{
    const tarn_resize_options o = { { l->arg[0], l->arg[1] },
                                    { l->f[0], l->f[1] },
                                    l->arg[2] != 0 };
    return l->op == OP_ID_resize_nearest2d ? tarn_resize_nearest2d(in[0], o)
                                           : tarn_resize_bilinear2d(in[0], o);
}

static bool resize_grow(struct generator *g, struct line *l, int a)
{
    static const float scales[] = { 0.5f, 0.75f, 1.0f, 1.25f, 2.0f, 3.0f };
    l->in[0] = image(g, a);
    const bool scaled = chance(g, 50);
    for (int i = 0; i < 2; i++) {
        l->arg[i] = scaled          ? 0
                    : chance(g, 25) ? 16 * (1 + below(g, 3)) /* squares of a register's lanes */
                                    : 1 + below(g, 9);
        l->f[i] = scaled ? scales[below(g, 6)] : 0;
    }
    l->arg[2] = l->op != OP_ID_resize_nearest2d && chance(g, 50);
    return true;
}

/* ---- global pools ------------------------------------------------------------------------------ */

static bool global_shape(const struct program *p, struct line *l)
{
    const struct line *x = operand_of(p, l, 0);
    l->shape = x->shape;
    for (int d = 2; d < x->shape.rank; d++)
        l->shape.dim[d] = 1;
    return x->dtype == TARN_F32 && x->shape.rank >= 3 && tarn_shape_count(x->shape) > 0;
}

static int global_value(struct interpreter *m, const struct line *l)
{
    struct tape *t = m->tape;
    const tarn_shape s = shape_of(m, l, 0);
    const int x = interpret_operand(m, l, 0);
    int count, *group = reduced_index(s, ((1u << s.rank) - 1) & ~3u, &count);
    const double share = (double)count / (double)tarn_shape_count(s);
    const int y = l->op == OP_ID_global_max_pool
                      ? extreme(t, x, count, group, 1, true)
                      : tape_scale(t, tape_scatter(t, x, count, group), share);
    free(group);
    return y;
}

static tarn_tensor global_call(const struct line *l, const tarn_tensor *in)
{
    return l->op == OP_ID_global_max_pool ? tarn_global_max_pool(in[0])
                                          : tarn_global_avg_pool(in[0]);
}

static bool global_grow(struct generator *g, struct line *l, int a)
{
    l->in[0] = shape_of_line(g, a).rank >= 3 ? a : image(g, a);
    return true;
}

/* ---- norms: arg[0] groups, f[0] eps ------------------------------------------------------------ */

static bool group_norm_shape(const struct program *p, struct line *l)
{
    const tarn_shape x = operand_of(p, l, 0)->shape;
    l->shape = x;
    if (!all_floats(p, l) || x.rank < 2 || x.dim[1] % l->arg[0] != 0 || tarn_shape_count(x) == 0)
        return false;
    for (int k = 1; k < l->ins; k++)
        if (!is_vector(operand_of(p, l, k)->shape, x.dim[1]))
            return false;
    return l->op != OP_ID_group_norm_forward || l->ins > 1;
}

static int group_norm_value(struct interpreter *m, const struct line *l)
{
    struct tape *t = m->tape;
    const tarn_shape s = shape_of(m, l, 0);
    const int groups = s.dim[0] * (l->op == OP_ID_instance_norm_op ? s.dim[1] : l->arg[0]),
              each = (int)(tarn_shape_count(s) / groups);
    int *group = malloc((size_t)tarn_shape_count(s) * sizeof *group + 1), mean, var;
    if (group == NULL)
        abort();
    for (int i = 0; i < groups * each; i++)
        group[i] = i / each;
    int y = normalise(t, interpret_operand(m, l, 0), groups, group, (double)l->f[0], &mean, &var);
    free(group);
    if (l->ins > 1)
        y = tape_map2(t, T_MUL, y, along(t, interpret_operand(m, l, 1), s, 1));
    return l->ins < 3 ? y : tape_map2(t, T_ADD, y, along(t, interpret_operand(m, l, 2), s, 1));
}

static tarn_tensor group_norm_call(const struct line *l, const tarn_tensor *in)
{
    const tarn_tensor weight = optional(l, in, 1), bias = optional(l, in, 2);
    const tarn_group_norm layer = { weight, bias, l->arg[0], l->f[0] };
    if (l->op == OP_ID_instance_norm_op)
        return tarn_instance_norm_op(in[0], weight, bias, l->f[0]);
    return l->op == OP_ID_group_norm_op
               ? tarn_group_norm_op(in[0], weight, bias, l->arg[0], l->f[0])
               : tarn_group_norm_forward(&layer, in[0]);
}

static bool group_norm_grow(struct generator *g, struct line *l, int a)
{
    const int groups = 1 + below(g, 3), channels = groups * (1 + below(g, 3));
    (void)a;
    l->in[0] = leaf_of(g, chance(g, 50) ? TARN_SHAPE(g->batch, channels, 3 + below(g, 5))
                                        : TARN_SHAPE(g->batch, channels, 2 + below(g, 2), 2));
    l->ins = chance(g, 70) ? 3 : l->op == OP_ID_group_norm_forward ? 2 : 1 + below(g, 2);
    for (int k = 1; k < l->ins; k++)
        l->in[k] = leaf_of(g, TARN_SHAPE(channels));
    l->arg[0] = groups;
    l->f[0] = 1e-3f;
    return true;
}

static bool rms_shape(const struct program *p, struct line *l)
{
    const tarn_shape x = operand_of(p, l, 0)->shape, w = operand_of(p, l, 1)->shape;
    l->shape = x;
    return all_floats(p, l) && x.rank >= 1 && is_vector(w, x.dim[x.rank - 1]) &&
           tarn_shape_count(x) > 0;
}

static int rms_value(struct interpreter *m, const struct line *l)
{
    struct tape *t = m->tape;
    const tarn_shape s = shape_of(m, l, 0);
    const int x = interpret_operand(m, l, 0), last = s.rank - 1;
    int count, *group = reduced_index(s, 1u << last, &count);
    const int sum = tape_scatter(t, tape_map2(t, T_MUL, x, x), count, group);
    const int mean = tape_scale(t, sum, 1.0 / s.dim[last]);
    const int eps = tape_full(t, count, (double)l->f[0], 0);
    const int root = tape_map(t, T_RSQRT, tape_map2(t, T_ADD, mean, eps));
    const int y = tape_map2(t, T_MUL, x, tape_gather(t, root, t->node[x].count, group, 0));
    free(group);
    return tape_map2(t, T_MUL, y, along(t, interpret_operand(m, l, 1), s, last));
}

static tarn_tensor rms_call(const struct line *l, const tarn_tensor *in)
{
    const tarn_rms_norm layer = { in[1], l->f[0] };
    return l->op == OP_ID_rms_norm_op ? tarn_rms_norm_op(in[0], in[1], l->f[0])
                                      : tarn_rms_norm_forward(&layer, in[0]);
}

static bool rms_grow(struct generator *g, struct line *l, int a)
{
    const tarn_shape s = shape_of_line(g, a);
    l->ins = 2;
    l->f[0] = 1e-3f;
    l->in[1] = s.rank > 0 ? leaf_of(g, TARN_SHAPE(s.dim[s.rank - 1])) : -1;
    return true;
}

const struct more more_images[] = {
    { OP_ID_conv1d_op, conv1d_shape, conv1d_value, conv1d_call, conv1d_grow },
    { OP_ID_conv1d_forward, conv1d_shape, conv1d_value, conv1d_call, conv1d_grow },
    { OP_ID_conv_transpose2d_op, transposed_shape, transposed_value, transposed_call,
      transposed_grow },
    { OP_ID_conv_transpose2d_forward, transposed_shape, transposed_value, transposed_call,
      transposed_grow },
    { OP_ID_upsample_nearest2d, upsample_shape, upsample_value, upsample_call, upsample_grow },
    { OP_ID_upsample_bilinear2d, upsample_shape, upsample_value, upsample_call, upsample_grow },
    { OP_ID_resize_bilinear2d, resize_shape, resize_value, resize_call, resize_grow },
    { OP_ID_resize_nearest2d, resize_shape, nearest_value, resize_call, resize_grow },
    { OP_ID_global_avg_pool, global_shape, global_value, global_call, global_grow },
    { OP_ID_global_max_pool, global_shape, global_value, global_call, global_grow },
    { OP_ID_group_norm_op, group_norm_shape, group_norm_value, group_norm_call, group_norm_grow },
    { OP_ID_instance_norm_op, group_norm_shape, group_norm_value, group_norm_call,
      group_norm_grow },
    { OP_ID_group_norm_forward, group_norm_shape, group_norm_value, group_norm_call,
      group_norm_grow },
    { OP_ID_rms_norm_op, rms_shape, rms_value, rms_call, rms_grow },
    { OP_ID_rms_norm_forward, rms_shape, rms_value, rms_call, rms_grow },
};
const int more_image_count = sizeof more_images / sizeof *more_images;
