/* SPDX-License-Identifier: Apache-2.0 */
/* Images that are reflected at their ends or whose channels become pixels, and functions of single elements and of axes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "generate.h"
#include "more.h"

static bool some_floats(const struct program *p, const struct line *l)
{
    return all_floats(p, l) && tarn_shape_count(operand_of(p, l, 0)->shape) > 0;
}

/* Element by element of the result, the operand's number; freed here. */
static int gathered(struct interpreter *m, const struct line *l, int *index)
{
    const int count = (int)tarn_shape_count(l->shape);
    const int y = tape_gather(m->tape, interpret_operand(m, l, 0), count, index, 0);
    free(index);
    return y;
}

static int *room_for(tarn_shape s)
{
    int *index = calloc((size_t)tarn_shape_count(s) + 1, sizeof *index);
    if (index == NULL)
        abort();
    return index;
}

/* ---- pads of an axis's own elements: lists are what comes before and behind -------------------- */

static bool ends_shape(const struct program *p, struct line *l)
{
    const tarn_shape x = operand_of(p, l, 0)->shape;
    l->shape = x;
    if (!some_floats(p, l) || l->list[0].rank != x.rank || l->list[1].rank != x.rank)
        return false;
    for (int d = 0; d < x.rank; d++) {
        const int low = l->list[0].dim[d], high = l->list[1].dim[d];
        const int most = l->op == OP_ID_pad_reflect    ? x.dim[d] - 1
                         : l->op == OP_ID_pad_circular ? x.dim[d]
                                                       : MAX_ELEMENTS;
        if ((low > 0 && low > most) || (high > 0 && high > most))
            return false;
        l->shape.dim[d] += low + high;
    }
    return true;
}

/* Where element k of a padded axis of so many comes from. */
static int end_place(enum op_id op, int k, int extent)
{
    const int last = extent - 1;
    if (op == OP_ID_pad_circular)
        return (k + extent) % extent;
    if (op == OP_ID_pad_replicate)
        return k < 0 ? 0 : k > last ? last : k;
    return abs(k) > last ? 2 * last - abs(k) : abs(k);
}

static int ends_value(struct interpreter *m, const struct line *l)
{
    const tarn_shape from = shape_of(m, l, 0);
    const int count = (int)tarn_shape_count(l->shape);
    int *index = room_for(l->shape), at[TARN_MAX_RANK] = { 0 };
    for (int i = 0; i < count; i++, next_position(l->shape, at))
        for (int d = 0; d < from.rank; d++)
            index[i] =
                index[i] * from.dim[d] + end_place(l->op, at[d] - l->list[0].dim[d], from.dim[d]);
    return gathered(m, l, index);
}

static tarn_tensor ends_call(const struct line *l, const tarn_tensor *in)
{
    if (l->op == OP_ID_pad_circular)
        return tarn_pad_circular(in[0], l->list[0], l->list[1]);
    return l->op == OP_ID_pad_reflect ? tarn_pad_reflect(in[0], l->list[0], l->list[1])
                                      : tarn_pad_replicate(in[0], l->list[0], l->list[1]);
}

static bool ends_grow(struct generator *g, struct line *l, int a)
{
    const tarn_shape s = shape_of_line(g, a);
    l->list[0].rank = l->list[1].rank = s.rank;
    for (int d = 0; d < s.rank; d++)
        for (int k = 0; k < 2 && s.dim[d] > 1; k++)
            l->list[k].dim[d] = chance(g, 40) ? below(g, s.dim[d] < 4 ? s.dim[d] : 4) : 0;
    return true;
}

/* ---- pixels: arg[0] is the factor ------------------------------------------------------------- */

static bool pixel_shape(const struct program *p, struct line *l)
{
    const tarn_shape x = operand_of(p, l, 0)->shape;
    const int f = l->arg[0], back = l->op == OP_ID_pixel_unshuffle;
    if (!some_floats(p, l) || x.rank != 4 || (back ? x.dim[2] % f : x.dim[1] % (f * f)) != 0 ||
        (back && x.dim[3] % f != 0))
        return false;
    l->shape = back ? TARN_SHAPE(x.dim[0], x.dim[1] * f * f, x.dim[2] / f, x.dim[3] / f)
                    : TARN_SHAPE(x.dim[0], x.dim[1] / (f * f), x.dim[2] * f, x.dim[3] * f);
    return true;
}

/* Pixel (y, x) of channel c of the large image is channel (c f + y % f) f + x % f of the small one. */
static int pixel_value(struct interpreter *m, const struct line *l)
{
    const bool back = l->op == OP_ID_pixel_unshuffle;
    const tarn_shape large = back ? shape_of(m, l, 0) : l->shape;
    const int f = l->arg[0], count = (int)tarn_shape_count(large);
    int *index = room_for(large), at[TARN_MAX_RANK] = { 0 };
    for (int i = 0; i < count; i++, next_position(large, at)) {
        const int channel = (at[1] * f + at[2] % f) * f + at[3] % f;
        const int row = at[0] * large.dim[1] * f * f + channel;
        const int small = (row * (large.dim[2] / f) + at[2] / f) * (large.dim[3] / f) + at[3] / f;
        index[back ? small : i] = back ? i : small;
    }
    return gathered(m, l, index);
}

static tarn_tensor pixel_call(const struct line *l, const tarn_tensor *in)
{
    return l->op == OP_ID_pixel_unshuffle ? tarn_pixel_unshuffle(in[0], l->arg[0])
                                          : tarn_pixel_shuffle(in[0], l->arg[0]);
}

static bool pixel_grow(struct generator *g, struct line *l, int a)
{
    const int f = 1 + below(g, 3), back = l->op == OP_ID_pixel_unshuffle;
    const int c = 1 + below(g, 2), h = 1 + below(g, 3), w = 1 + below(g, 3);
    (void)a;
    l->in[0] = leaf_of(g, back ? TARN_SHAPE(g->batch, c, h * f, w * f)
                               : TARN_SHAPE(g->batch, c * f * f, h, w));
    l->arg[0] = f;
    return true;
}

/* ---- elements: f[0] is alpha ------------------------------------------------------------------- */

static bool elu_shape(const struct program *p, struct line *l)
{
    l->shape = operand_of(p, l, 0)->shape;
    return some_floats(p, l);
}

/* Where bounds do not tell the sign, both pieces count. */
static int elu_value(struct interpreter *m, const struct line *l)
{
    struct tape *t = m->tape;
    const int x = interpret_operand(m, l, 0), n = t->node[x].count;
    const int above = tape_full(t, n, 0, 0), below = tape_full(t, n, 1, 0);
    for (int i = 0; i < n; i++) {
        const double v = t->node[x].v[i], e = t->node[x].e[i];
        t->node[above].v[i] = v > 0;
        t->node[below].v[i] = !(v > 0);
        t->node[above].e[i] = t->node[below].e[i] = fabs(v) <= e && e > 0;
    }
    const int curve = tape_map(t, T_EXPM1, tape_map2(t, T_MUL, below, x));
    return tape_map2(t, T_ADD, tape_map2(t, T_MUL, above, x),
                     tape_map2(t, T_MUL, below, tape_scale(t, curve, line_scalar(l, 0, t->wide))));
}

static tarn_tensor elu_call(const struct line *l, const tarn_tensor *in)
{
    return tarn_elu(in[0], line_scalar(l, 0, tarn_dtype_get(in[0]) == TARN_F64));
}

static bool elu_grow(struct generator *g, struct line *l, int a)
{
    (void)a;
    l->f[0] = chance(g, 50) ? 1 : 0.375f;
    return true;
}

/* ---- zeros of a line's shape and type --------------------------------------------------------- */

static bool zeros_shape(const struct program *p, struct line *l)
{
    l->shape = operand_of(p, l, 0)->shape;
    l->dtype = operand_of(p, l, 0)->dtype;
    return true;
}

static int zeros_value(struct interpreter *m, const struct line *l)
{
    return tape_full(m->tape, (int)tarn_shape_count(l->shape), 0, 0);
}

static tarn_tensor zeros_call(const struct line *l, const tarn_tensor *in)
{
    (void)l;
    return tarn_zeros_like(in[0]);
}

static bool zeros_grow(struct generator *g, struct line *l, int a)
{
    (void)g;
    (void)l;
    (void)a;
    return true;
}

/* ---- axes: arg[0] keeps them -------------------------------------------------------------------- */

static bool logsumexp_shape(const struct program *p, struct line *l)
{
    const tarn_shape x = operand_of(p, l, 0)->shape;
    l->shape = (tarn_shape){ .rank = 0 };
    for (int i = 0; i < l->list[0].rank; i++)
        if (l->list[0].dim[i] >= x.rank)
            return false;
    const unsigned mask = axes_mask(l->list[0], x.rank);
    for (int d = 0; d < x.rank; d++)
        if (l->arg[0] || !(mask >> d & 1))
            l->shape.dim[l->shape.rank++] = mask >> d & 1 ? 1 : x.dim[d];
    return some_floats(p, l);
}

static int logsumexp_value(struct interpreter *m, const struct line *l)
{
    struct tape *t = m->tape;
    const tarn_shape s = shape_of(m, l, 0);
    const int x = interpret_operand(m, l, 0), n = t->node[x].count;
    int count, *group = reduced_index(s, axes_mask(l->list[0], s.rank), &count);
    const int top = tape_detach(t, extreme(t, x, count, group, 1, true));
    const int z = tape_map2(t, T_SUB, x, tape_gather(t, top, n, group, 0));
    const int sum = tape_scatter(t, tape_map(t, T_EXP, z), count, group);
    free(group);
    return tape_map2(t, T_ADD, tape_map(t, T_LOG, sum), top);
}

static tarn_tensor logsumexp_call(const struct line *l, const tarn_tensor *in)
{
    return tarn_logsumexp(in[0], l->list[0], l->arg[0] != 0);
}

static bool logsumexp_grow(struct generator *g, struct line *l, int a)
{
    const int rank = shape_of_line(g, a).rank;
    l->arg[0] = chance(g, 50);
    for (int d = 0; d < rank; d++)
        if (chance(g, 50))
            l->list[0].dim[l->list[0].rank++] = d;
    return true;
}

/* ---- pairs of elements -------------------------------------------------------------------------- */

static bool logaddexp_shape(const struct program *p, struct line *l)
{
    l->shape = operand_of(p, l, 0)->shape;
    return all_floats(p, l) && same_shape(l->shape, operand_of(p, l, 1)->shape);
}

static int logaddexp_value(struct interpreter *m, const struct line *l)
{
    struct tape *t = m->tape;
    const int a = interpret_operand(m, l, 0), b = interpret_operand(m, l, 1);
    const int more = tape_map(t, T_LOG1P, tape_map(t, T_EXP, tape_map2(t, T_SUB, a, b)));
    return tape_map2(t, T_ADD, b, more);
}

static tarn_tensor logaddexp_call(const struct line *l, const tarn_tensor *in)
{
    (void)l;
    return tarn_logaddexp(in[0], in[1]);
}

static bool logaddexp_grow(struct generator *g, struct line *l, int a)
{
    l->in[1] = leaf_of(g, shape_of_line(g, a));
    l->ins = 2;
    return true;
}

/* ---- windows as columns: arg is window, stride, padding, dilation, two each -------------------- */

/* Windows along axis 2 + i; below 1: none. */
static int windows_of(const struct line *l, tarn_shape x, int i)
{
    const int reach = l->arg[6 + i] * (l->arg[i] - 1) + 1;
    const int room = x.dim[2 + i] + 2 * l->arg[4 + i] - reach;
    return room < 0 ? 0 : room / l->arg[2 + i] + 1;
}

static bool unfold_shape(const struct program *p, struct line *l)
{
    const tarn_shape x = operand_of(p, l, 0)->shape;
    if (!some_floats(p, l) || x.rank != 4 || windows_of(l, x, 0) < 1 || windows_of(l, x, 1) < 1)
        return false;
    l->shape = TARN_SHAPE(x.dim[0], x.dim[1] * l->arg[0] * l->arg[1],
                          windows_of(l, x, 0) * windows_of(l, x, 1));
    return true;
}

static int unfold_value(struct interpreter *m, const struct line *l)
{
    const tarn_shape x = shape_of(m, l, 0);
    const int *a = l->arg, count = (int)tarn_shape_count(l->shape), wide = windows_of(l, x, 1);
    int *index = room_for(l->shape), at[TARN_MAX_RANK] = { 0 };
    for (int i = 0; i < count; i++, next_position(l->shape, at)) {
        const int window = at[1] % (a[0] * a[1]), channel = at[1] / (a[0] * a[1]);
        const int row = at[2] / wide * a[2] + window / a[1] * a[6] - a[4];
        const int column = at[2] % wide * a[3] + window % a[1] * a[7] - a[5];
        const bool inside = row >= 0 && row < x.dim[2] && column >= 0 && column < x.dim[3];
        index[i] = inside ? (int)position_of(x, (int[]){ at[0], channel, row, column }) : -1;
    }
    return gathered(m, l, index);
}

static tarn_tensor unfold_call(const struct line *l, const tarn_tensor *in)
{
    const int *a = l->arg;
    return tarn_unfold2d(
        in[0],
        (tarn_unfold_options){ { a[0], a[1] }, { a[2], a[3] }, { a[4], a[5] }, { a[6], a[7] } });
}

static bool unfold_grow(struct generator *g, struct line *l, int a)
{
    l->in[0] = image(g, a);
    for (int i = 0; i < 2; i++) {
        l->arg[i] = 1 + below(g, 3);
        l->arg[2 + i] = 1 + below(g, 2);
        l->arg[4 + i] = below(g, 2);
        l->arg[6 + i] = 1 + chance(g, 20);
    }
    return true;
}

const struct more more_further[] = {
    { OP_ID_pad_reflect, ends_shape, ends_value, ends_call, ends_grow },
    { OP_ID_pad_circular, ends_shape, ends_value, ends_call, ends_grow },
    { OP_ID_pad_replicate, ends_shape, ends_value, ends_call, ends_grow },
    { OP_ID_unfold2d, unfold_shape, unfold_value, unfold_call, unfold_grow },
    { OP_ID_pixel_shuffle, pixel_shape, pixel_value, pixel_call, pixel_grow },
    { OP_ID_pixel_unshuffle, pixel_shape, pixel_value, pixel_call, pixel_grow },
    { OP_ID_zeros_like, zeros_shape, zeros_value, zeros_call, zeros_grow },
    { OP_ID_elu, elu_shape, elu_value, elu_call, elu_grow },
    { OP_ID_logaddexp, logaddexp_shape, logaddexp_value, logaddexp_call, logaddexp_grow },
    { OP_ID_logsumexp, logsumexp_shape, logsumexp_value, logsumexp_call, logsumexp_grow },
};
const int more_further_count = sizeof more_further / sizeof *more_further;
