/* SPDX-License-Identifier: Apache-2.0 */
/* Products, convolutions, pools, soft-max, losses, norms and layers on the tape. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "more.h"

void add_product(struct products *s, int64_t a, int64_t b, int64_t to)
{
    if (s->count == s->capacity) {
        s->capacity = 2 * s->capacity + 1024;
        s->a = realloc(s->a, (size_t)s->capacity * sizeof(int));
        s->b = realloc(s->b, (size_t)s->capacity * sizeof(int));
        s->to = realloc(s->to, (size_t)s->capacity * sizeof(int));
        if (s->a == NULL || s->b == NULL || s->to == NULL)
            abort();
    }
    s->a[s->count] = (int)a;
    s->b[s->count] = (int)b;
    s->to[s->count++] = (int)to;
}

int sum_products(struct tape *t, struct products *s, int a, int b, int64_t count)
{
    const int x = tape_gather(t, a, s->count, s->a, 0), w = tape_gather(t, b, s->count, s->b, 0);
    const int y = tape_scatter(t, tape_map2(t, T_MUL, x, w), (int)count, s->to);
    free(s->a);
    free(s->b);
    free(s->to);
    return y;
}

int matmul(struct tape *t, int a, tarn_shape as, int b, tarn_shape bs, tarn_shape out)
{
    struct products s = { 0 };
    tarn_shape x = as, y = bs, z = out;
    if (as.rank == 1) {
        x = TARN_SHAPE(1, as.dim[0]);
        z.dim[z.rank++] = bs.rank == 1 ? 1 : out.dim[out.rank - 1];
        if (out.rank > 0)
            z.dim[z.rank - 2] = 1;
    }
    if (bs.rank == 1) {
        y = TARN_SHAPE(bs.dim[0], 1);
        z.dim[z.rank++] = 1;
    }
    int at[TARN_MAX_RANK] = { 0 };
    const int depth = x.dim[x.rank - 1];
    for (int64_t i = 0; i < tarn_shape_count(z); i++, next_position(z, at)) {
        int xa[TARN_MAX_RANK], ya[TARN_MAX_RANK];
        for (int d = 0; d < x.rank - 1; d++)
            xa[d] = x.dim[d] == 1 ? 0 : at[z.rank - x.rank + d];
        for (int d = 0; d < y.rank; d++)
            ya[d] = y.dim[d] == 1 ? 0 : at[z.rank - y.rank + d];
        for (int k = 0; k < depth; k++) {
            xa[x.rank - 1] = k;
            ya[y.rank - 2] = k;
            add_product(&s, position_of(x, xa), position_of(y, ya), i);
        }
    }
    return sum_products(t, &s, a, b, tarn_shape_count(out));
}

int along(struct tape *t, int x, tarn_shape s, int axis)
{
    const int count = (int)tarn_shape_count(s);
    int *index = malloc((size_t)count * sizeof *index + 1), at[TARN_MAX_RANK] = { 0 };
    if (index == NULL)
        abort();
    for (int i = 0; i < count; i++, next_position(s, at))
        index[i] = at[axis];
    const int y = tape_gather(t, x, count, index, 0);
    free(index);
    return y;
}

void blur(struct tape *t, int y, int terms, double top)
{
    for (int i = 0; i < t->node[y].count; i++)
        t->node[y].e[i] += (54 + terms) * TAPE_UNIT * 4000 * top * terms;
}

double largest(const struct tape *t, int x)
{
    double top = 0;
    for (int i = 0; i < t->node[x].count; i++)
        top = fmax(top, fabs(t->node[x].v[i]));
    return top;
}

int conv2d(struct interpreter *m, int x, tarn_shape xs, int w, tarn_shape ws, int bias,
           const struct conv *o, tarn_shape out)
{
    struct products s = { 0 };
    struct tape *t = m->tape;
    int at[TARN_MAX_RANK] = { 0 };
    const int per = out.dim[1] / o->groups, window = ws.dim[1] * ws.dim[2] * ws.dim[3];
    for (int64_t i = 0; i < tarn_shape_count(out); i++, next_position(out, at)) {
        for (int k = 0; k < window; k++) {
            const int kw = k % ws.dim[3], kh = k / ws.dim[3] % ws.dim[2],
                      c = k / ws.dim[3] / ws.dim[2];
            const int h = at[2] * o->stride[0] - o->padding[0] + kh * o->dilation[0];
            const int v = at[3] * o->stride[1] - o->padding[1] + kw * o->dilation[1];
            if (h < 0 || v < 0 || h >= xs.dim[2] || v >= xs.dim[3])
                continue;
            const int from[] = { at[0], at[1] / per * ws.dim[1] + c, h, v };
            add_product(&s, position_of(xs, from), (int64_t)at[1] * window + k, i);
        }
    }
    int y = sum_products(t, &s, x, w, tarn_shape_count(out));
    if (m->winograd && ws.dim[2] == ws.dim[3] && (ws.dim[2] == 3 || ws.dim[2] == 5))
        blur(t, y, window, largest(t, x) * largest(t, w));
    return bias < 0 ? y : tape_map2(t, T_ADD, y, along(t, bias, out, 1));
}

int embedding(struct tape *t, int table, tarn_shape rows, int index)
{
    const int n = t->node[index].count, width = rows.dim[1];
    int *from = calloc((size_t)n * (size_t)width + 1, sizeof *from);
    bool doubt = false;
    if (from == NULL)
        abort();
    for (int i = 0; i < n; i++) {
        const double row = fmax(0, fmin(rows.dim[0] - 1, t->node[index].v[i]));
        doubt |= t->node[index].e[i] > 0;
        for (int k = 0; k < width; k++)
            from[i * width + k] = (int)row * width + k;
    }
    const int y = tape_gather(t, table, n * width, from, 0);
    free(from);
    return doubt ? -1 : y;
}

static int one_hot(struct tape *t, int index, int classes)
{
    const int n = t->node[index].count, y = tape_full(t, n * classes, 0, 0);
    for (int i = 0; i < n * classes; i++) {
        t->node[y].v[i] = t->node[index].v[i / classes] == i % classes;
        t->node[y].e[i] = t->node[index].e[i / classes] > 0;
    }
    return y;
}

/* ---- soft-max, losses, norms ---------------------------------------------------------------- */

int softmax(struct tape *t, int x, tarn_shape s, int axis, bool log)
{
    int count, *group = reduced_index(s, 1u << axis, &count);
    const int n = t->node[x].count;
    const int top = tape_detach(t, extreme(t, x, count, group, 1, true));
    const int z = tape_map2(t, T_SUB, x, tape_gather(t, top, n, group, 0));
    const int e = tape_map(t, T_EXP, z);
    int total = tape_scatter(t, e, count, group);
    if (log)
        total = tape_map(t, T_LOG, total);
    const int y =
        tape_map2(t, log ? T_SUB : T_DIV, log ? z : e, tape_gather(t, total, n, group, 0));
    free(group);
    return y;
}

static int nll(struct tape *t, int x, tarn_shape s, int target)
{
    const int n = s.dim[0], classes = s.dim[1];
    int *index = calloc((size_t)n + 1, sizeof(int)), *zero = calloc((size_t)n + 1, sizeof(int));
    bool doubt = false;
    if (index == NULL || zero == NULL)
        abort();
    for (int i = 0; i < n; i++) {
        const double k = t->node[target].v[i];
        doubt |= t->node[target].e[i] > 0;
        index[i] = k < 0 || k >= classes ? -1 : i * classes + (int)k;
    }
    const int picked = tape_gather(t, x, n, index, 0);
    const int y = tape_scale(t, tape_scatter(t, picked, 1, zero), -1.0 / n);
    free(index);
    free(zero);
    return doubt ? -1 : y;
}

int normalise(struct tape *t, int x, int count, const int *group, double eps, int *mean, int *var)
{
    const int n = t->node[x].count;
    const double share = (double)count / n;
    *mean = tape_scale(t, tape_scatter(t, x, count, group), share);
    const int d = tape_map2(t, T_SUB, x, tape_gather(t, *mean, n, group, 0));
    *var = tape_scale(t, tape_scatter(t, tape_map2(t, T_MUL, d, d), count, group), share);
    const int shifted = tape_map2(t, T_ADD, *var, tape_full(t, count, eps, 0));
    const int rstd = tape_map(t, T_RSQRT, shifted);
    return tape_map2(t, T_MUL, d, tape_gather(t, rstd, n, group, 0));
}

int layer_norm(struct tape *t, int x, tarn_shape s, int weight, tarn_shape w, int bias, double eps)
{
    unsigned mask = 0;
    for (int d = s.rank - w.rank; d < s.rank; d++)
        mask |= 1u << d;
    int count, mean, var, *group = reduced_index(s, mask, &count);
    const int y = normalise(t, x, count, group, eps, &mean, &var);
    free(group);
    const int scaled = tape_map2(t, T_MUL, y, spread_to(t, weight, w, s));
    return bias < 0 ? scaled : tape_map2(t, T_ADD, scaled, spread_to(t, bias, w, s));
}

static void track(struct interpreter *m, int slot, int now)
{
    struct tape *t = m->tape;
    const int old = tape_scale(t, m->slot[slot].value, (double)(1.0f - 0.1f));
    m->slot[slot].news = tape_scale(t, now, (double)0.1f);
    m->slot[slot].value = tape_map2(t, T_ADD, old, m->slot[slot].news);
}

static int batch_norm(struct interpreter *m, int x, tarn_shape s, int first)
{
    struct tape *t = m->tape;
    const struct slot *o = &m->slot[first];
    int count, mean, var, y, *group = reduced_index(s, ((1u << s.rank) - 1) & ~2u, &count);
    const double terms = (double)tarn_shape_count(s) / count, eps = (double)1e-5f;
    if (m->training) {
        y = normalise(t, x, count, group, eps, &mean, &var);
        track(m, first + 2, tape_detach(t, mean));
        track(m, first + 3, tape_scale(t, tape_detach(t, var), terms / (terms - 1)));
        t->integer = true;
        m->slot[first + 4].value = tape_map2(t, T_ADD, o[4].value, tape_full(t, 1, 1, 0));
        t->integer = false;
    } else {
        const int shifted = tape_map2(t, T_ADD, o[3].value, tape_full(t, count, eps, 0));
        const int d = tape_map2(t, T_SUB, x, along(t, o[2].value, s, 1));
        y = tape_map2(t, T_MUL, d, along(t, tape_map(t, T_RSQRT, shifted), s, 1));
    }
    free(group);
    const int scaled = tape_map2(t, T_MUL, y, along(t, o[0].value, s, 1));
    return tape_map2(t, T_ADD, scaled, along(t, o[1].value, s, 1));
}

static int dropout(struct interpreter *m, const struct line *l, int x)
{
    struct tape *t = m->tape;
    const int n = t->node[x].count;
    const double p = (double)l->f[0];
    if (!m->training || p == 0)
        return tape_map(t, T_NEG, tape_map(t, T_NEG, x));
    const int mask = uniform(m, n);
    for (int i = 0; i < n; i++) {
        double *v = &t->node[mask].v[i];
        *v = *v >= p ? 1 / (1 - p) : 0;
        t->node[mask].e[i] = 4 * tape_unit(t) * *v;
    }
    return tape_map2(t, T_MUL, x, mask);
}

/* ---- layers --------------------------------------------------------------------------------- */

static int layer(struct interpreter *m, const struct line *l, int x, tarn_shape s)
{
    struct tape *t = m->tape;
    const struct line *made = &m->p->line[l->in[1]];
    const int first = m->value[l->in[1]], *a = made->arg;
    int weight = m->slot[first].value, bias = m->slot[first + 1].value;
    if (l->op == OP_ID_batch_norm_forward)
        return batch_norm(m, x, s, first);
    if (l->op == OP_ID_layer_norm_forward)
        return layer_norm(t, x, s, weight, TARN_SHAPE(a[0]), bias, (double)1e-5f);
    x = interpret_half(t, x, l->amp);
    weight = interpret_half(t, weight, l->amp);
    bias = interpret_half(t, bias, l->amp);
    if (l->op == OP_ID_conv2d_forward) {
        const int stride = a[3] ? a[3] : 1, dilation = a[5] ? a[5] : 1, groups = a[6] ? a[6] : 1;
        const struct conv o = {
            { stride, stride }, { a[4], a[4] }, { dilation, dilation }, groups
        };
        return conv2d(m, x, s, weight, TARN_SHAPE(a[1], a[0] / groups, a[2], a[2]), bias, &o,
                      l->shape);
    }
    int *turned = malloc((size_t)a[0] * (size_t)a[1] * sizeof(int) + 1);
    if (turned == NULL)
        abort();
    for (int i = 0; i < a[0] * a[1]; i++)
        turned[i] = i % a[1] * a[0] + i / a[1];
    const int w = tape_gather(t, weight, a[0] * a[1], turned, 0);
    free(turned);
    const int y = matmul(t, x, s, w, TARN_SHAPE(a[0], a[1]), l->shape);
    return tape_map2(t, T_ADD, y, along(t, bias, l->shape, l->shape.rank - 1));
}

/* A batch that is repeated is so before it is multiplied, so that gradients of a half type are rounded sample by
 * sample. */
static int repeated(struct tape *t, int x, tarn_shape s, tarn_dtype dtype, tarn_shape *to)
{
    const int batch = to->rank - 2;
    if (!program_half(dtype) || s.rank < 2 || batch < 1) {
        *to = s;
        return x;
    }
    to->dim[batch] = s.dim[s.rank - 2];
    to->dim[batch + 1] = s.dim[s.rank - 1];
    return interpret_half(t, spread_to(t, x, s, *to), dtype);
}

static int matmul_line(struct interpreter *m, const struct line *l, int x, int y)
{
    const struct line *a = &m->p->line[l->in[0]], *b = &m->p->line[l->in[1]];
    tarn_shape as = l->shape, bs = l->shape;
    const bool both = a->shape.rank > 1 && b->shape.rank > 1, amp = program_half(l->amp);
    x = repeated(m->tape, x, a->shape, !both ? TARN_F32 : amp ? l->amp : a->dtype, &as);
    y = repeated(m->tape, y, b->shape, !both ? TARN_F32 : amp ? l->amp : b->dtype, &bs);
    return matmul(m->tape, x, as, y, bs, l->shape);
}

static int gradient(struct interpreter *m, const struct line *l)
{
    int in[MAX_OPERANDS], out[MAX_OPERANDS];
    for (int k = 1; k < l->ins; k++)
        in[k - 1] = interpret_operand(m, l, k);
    tape_gradients(m->tape, interpret_loss(m, l->in[0]), 1, in, l->ins - 1, out);
    const int g = out[l->arg[0]];
    return g >= 0 ? g : tape_full(m->tape, (int)tarn_shape_count(l->shape), 0, 0);
}

int interpret_net(struct interpreter *m, const struct line *l)
{
    struct tape *t = m->tape;
    const int x = interpret_operand(m, l, 0);
    const tarn_shape s = m->p->line[l->in[0]].shape;
    if (along_lines(l->op))
        return interpret_lines(m, l);
    if (l->op >= OP_ID_linear_forward && l->op <= OP_ID_layer_norm_forward)
        return layer(m, l, x, s);
    const int y = l->ins > 1 ? interpret_operand(m, l, 1) : -1,
              z = l->ins > 2 ? interpret_operand(m, l, 2) : -1;
    const tarn_shape ys = l->ins > 1 ? m->p->line[l->in[1]].shape : TARN_SCALAR;
    switch (l->op) {
    case OP_ID_matmul:
        return matmul_line(m, l, interpret_half(t, x, l->amp), interpret_half(t, y, l->amp));
    case OP_ID_conv2d_op: {
        const int *a = l->arg, height = a[0] ? a[0] : 1, tall = a[4] ? a[4] : 1;
        const struct conv o = { { height, a[1] ? a[1] : height },
                                { a[2], a[3] },
                                { tall, a[5] ? a[5] : tall },
                                a[6] ? a[6] : 1 };
        return conv2d(m, interpret_half(t, x, l->amp), s, interpret_half(t, y, l->amp), ys,
                      interpret_half(t, z, l->amp), &o, l->shape);
    }
    case OP_ID_embedding:
        return embedding(t, x, s, y);
    case OP_ID_one_hot:
        return one_hot(t, x, l->arg[0]);
    case OP_ID_softmax:
    case OP_ID_log_softmax:
        return softmax(t, x, s, l->arg[0], l->op == OP_ID_log_softmax);
    case OP_ID_nll_loss:
        return nll(t, x, s, y);
    case OP_ID_cross_entropy:
        return nll(t, softmax(t, x, s, 1, true), s, y);
    case OP_ID_mse_loss: {
        const int d = tape_map2(t, T_SUB, x, y);
        const int sum = sum_axes(t, tape_map2(t, T_MUL, d, d), s, (1u << s.rank) - 1);
        return tape_scale(t, sum, 1 / (double)tarn_shape_count(s));
    }
    case OP_ID_layer_norm_op:
        return layer_norm(t, x, s, y, ys, z, (double)l->f[0]);
    case OP_ID_dropout:
        return dropout(m, l, x);
    case OP_ID_gradients:
        return gradient(m, l);
    default:
        return pool_value(m, l);
    }
}
