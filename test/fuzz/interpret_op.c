/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves, maps, views and reductions on the tape. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "net.h"

/* ---- positions ------------------------------------------------------------------------------ */

int64_t position_of(tarn_shape s, const int *at)
{
    int64_t n = 0;
    for (int d = 0; d < s.rank; d++)
        n = n * s.dim[d] + at[d];
    return n;
}

bool next_position(tarn_shape s, int *at)
{
    for (int d = s.rank - 1; d >= 0; d--) {
        if (++at[d] < s.dim[d])
            return true;
        at[d] = 0;
    }
    return false;
}

static int *new_index(int64_t count)
{
    int *index = malloc(((size_t)count + 1) * sizeof *index);
    if (index == NULL)
        abort();
    return index;
}

int spread_to(struct tape *t, int x, tarn_shape from, tarn_shape to)
{
    const int64_t count = tarn_shape_count(to);
    if (count == tarn_shape_count(from))
        return x;
    int *index = new_index(count), at[TARN_MAX_RANK] = { 0 };
    for (int64_t i = 0; i < count; i++, next_position(to, at)) {
        int n = 0;
        for (int d = 0; d < from.rank; d++)
            n = n * from.dim[d] + (from.dim[d] == 1 ? 0 : at[to.rank - from.rank + d]);
        index[i] = n;
    }
    const int y = tape_gather(t, x, (int)count, index, 0);
    free(index);
    return y;
}

int *reduced_index(tarn_shape from, unsigned mask, int *count)
{
    const int64_t n = tarn_shape_count(from);
    int *index = new_index(n), at[TARN_MAX_RANK] = { 0 };
    *count = 1;
    for (int d = 0; d < from.rank; d++)
        *count *= mask >> d & 1 ? 1 : from.dim[d];
    for (int64_t i = 0; i < n; i++, next_position(from, at)) {
        int k = 0;
        for (int d = 0; d < from.rank; d++)
            k = mask >> d & 1 ? k : k * from.dim[d] + at[d];
        index[i] = k;
    }
    return index;
}

int sum_axes(struct tape *t, int x, tarn_shape from, unsigned mask)
{
    int count, *index = reduced_index(from, mask, &count);
    const int y = tape_scatter(t, x, count, index);
    free(index);
    return y;
}

/* ---- what picks one of its operands --------------------------------------------------------- */

/* Is a < b (-1), a == b (0) or a > b (1)? 2: the bounds do not tell. */
static int order(double a, double ea, double b, double eb)
{
    if (fabs(a - b) > ea + eb)
        return a < b ? -1 : 1;
    return ea + eb == 0 ? 0 : 2;
}

static int compare(struct tape *t, enum op_id op, int a, int b)
{
    const int count = t->node[a].count, y = tape_full(t, count, 0, 0);
    for (int i = 0; i < count; i++) {
        const double av = t->node[a].v[i], bv = t->node[b].v[i];
        const int o = order(av, t->node[a].e[i], bv, t->node[b].e[i]);
        const bool less = av < bv, same = av == bv;
        t->node[y].v[i] = op == OP_ID_eq   ? same
                          : op == OP_ID_ne ? !same
                          : op == OP_ID_lt ? less
                          : op == OP_ID_le ? less || same
                          : op == OP_ID_gt ? !less && !same
                                           : !less;
        t->node[y].e[i] = o == 2;
    }
    return y;
}

/* By slopes: in a where sa, in b where sb; each NAN where it is undecided. */
static int pick(struct tape *t, int a, int b, const double *v, const double *e, const double *sa,
                const double *sb)
{
    const int count = t->node[a].count;
    int w[2] = { tape_full(t, count, 0, 0), tape_full(t, count, 0, 0) };
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 2; k++) {
            const double s = k == 0 ? sa[i] : sb[i];
            t->node[w[k]].v[i] = isnan(s) ? 0 : s;
            t->node[w[k]].e[i] = isnan(s) ? 2 : 0;
        }
    return tape_pick(t, count, v, e, a, w[0], b, b < 0 ? -1 : w[1], NULL);
}

static int extreme_of_two(struct tape *t, int a, int b, int sign)
{
    const int count = t->node[a].count;
    double *v = calloc(4 * (size_t)count + 1, sizeof *v), *e = v + count, *sa = e + count,
           *sb = sa + count;
    for (int i = 0; i < count; i++) {
        const double av = t->node[a].v[i], bv = t->node[b].v[i], ea = t->node[a].e[i],
                     eb = t->node[b].e[i];
        const int o = order(av, ea, bv, eb);
        v[i] = sign > 0 ? fmax(av, bv) : fmin(av, bv);
        e[i] = o == 2 ? fmax(ea, eb) : (o * sign >= 0 ? ea : eb);
        sa[i] = o == 2 ? NAN : o == 0 ? 0.5 : o * sign > 0;
        sb[i] = o == 2 ? NAN : 1 - sa[i];
    }
    const int y = pick(t, a, b, v, e, sa, sb);
    free(v);
    return y;
}

static int where(struct tape *t, int c, int a, int b)
{
    const int count = t->node[a].count;
    double *v = calloc(4 * (size_t)count + 1, sizeof *v), *e = v + count, *sa = e + count,
           *sb = sa + count;
    for (int i = 0; i < count; i++) {
        const double av = t->node[a].v[i], bv = t->node[b].v[i], ea = t->node[a].e[i],
                     eb = t->node[b].e[i];
        const bool yes = t->node[c].v[i] != 0,
                   doubt = order(t->node[c].v[i], t->node[c].e[i], 0, 0) == 2;
        v[i] = yes ? av : bv;
        e[i] = doubt ? fabs(av - bv) + ea + eb : yes ? ea : eb;
        sa[i] = doubt ? NAN : yes;
        sb[i] = doubt ? NAN : !yes;
    }
    const int y = pick(t, a, b, v, e, sa, sb);
    free(v);
    return y;
}

/* relu, abs and clamp: pieces of slope s[0], s[1], s[2] below low, between, above high; at the ends
 * `ends`. */
static int pieces(struct tape *t, int a, double low, double high, const double s[3], double ends)
{
    const int count = t->node[a].count;
    double *v = calloc(4 * (size_t)count + 1, sizeof *v), *e = v + count, *sa = e + count,
           *sb = sa + count;
    for (int i = 0; i < count; i++) {
        const double x = t->node[a].v[i], ex = t->node[a].e[i];
        const int l = order(x, ex, low, 0), h = order(x, ex, high, 0);
        sa[i] = l == 2 || h == 2   ? NAN
                : l < 0            ? s[0]
                : h > 0            ? s[2]
                : l == 0 || h == 0 ? ends
                                   : s[1];
        v[i] = x < low    ? (s[0] == 0 ? low : s[0] * x)
               : x > high ? (s[2] == 0 ? high : s[2] * x)
                          : s[1] * x;
        e[i] = sa[i] == 0 && s[1] != 0 && l != 0 && h != 0 ? 0 : ex;
    }
    const int y = pick(t, a, -1, v, e, sa, sb);
    free(v);
    return y;
}

int extreme(struct tape *t, int x, int count, const int *group, int sign, bool first)
{
    const int terms = t->node[x].count, w = tape_full(t, terms, 0, 0);
    double *v = calloc(4 * (size_t)count + 1, sizeof *v), *e = v + count, *many = e + count,
           *best = many + count;
    for (int k = 0; k < count; k++)
        v[k] = -INFINITY, best[k] = -1;
    for (int i = 0; i < terms; i++)
        if (group[i] >= 0 && sign * t->node[x].v[i] > v[group[i]]) {
            v[group[i]] = sign * t->node[x].v[i];
            best[group[i]] = i;
        }
    for (int i = 0; i < terms; i++) {
        const int k = group[i];
        if (k < 0)
            continue;
        const int top = (int)best[k];
        const int o = order(sign * t->node[x].v[i], t->node[x].e[i], v[k], t->node[x].e[top]);
        if (o == 2 && i != top)
            many[k] = NAN;
        else if (o == 0 || i == top)
            many[k] += first ? i == top : 1;
        if (o != -1 && o != 1)
            e[k] = fmax(e[k], t->node[x].e[i]);
    }
    for (int i = 0; i < terms; i++) {
        const int k = group[i];
        if (k < 0)
            continue;
        const int top = (int)best[k];
        const int o = order(sign * t->node[x].v[i], t->node[x].e[i], v[k], t->node[x].e[top]);
        const bool hit = i == top || (o == 0 && !first);
        t->node[w].v[i] = hit && !isnan(many[k]) ? 1 / many[k] : 0;
        t->node[w].e[i] = isnan(many[k]) && (o == 2 || i == top)  ? 1
                          : hit && !isnan(many[k]) && many[k] > 2 ? 5 * tape_unit(t) / many[k]
                                                                  : 0;
    }
    for (int k = 0; k < count; k++)
        v[k] *= sign;
    const int y = tape_pick(t, count, v, e, x, w, -1, -1, group);
    free(v);
    return y;
}

/* ---- maps ----------------------------------------------------------------------------------- */

static int cast(struct tape *t, int a, tarn_dtype to)
{
    const int y = tape_detach(t, a);
    for (int i = 0; i < t->node[y].count && !program_floats(to); i++) {
        double *v = &t->node[y].v[i], *e = &t->node[y].e[i];
        const double low = trunc(*v - *e), high = trunc(*v + *e);
        *v = trunc(*v);
        *e = high - low;
        if (to == TARN_U8) {
            *e = *e > 0 || fabs(*v) > 1e9 ? INFINITY : 0;
            *v = (double)((int)fmax(-1e9, fmin(1e9, *v)) & 255);
        }
    }
    return y;
}

int gelu(struct tape *t, int x)
{
    const int phi = tape_map(t, T_ERF, tape_scale(t, x, 0.70710678118654752));
    const int one = tape_full(t, t->node[x].count, 1, 0);
    return tape_map2(t, T_MUL, tape_scale(t, x, 0.5), tape_map2(t, T_ADD, phi, one));
}

static int gelu_tanh(struct tape *t, int x)
{
    const int cube = tape_map2(t, T_MUL, tape_map2(t, T_MUL, x, x), tape_scale(t, x, 0.044715));
    const int inner = tape_scale(t, tape_map2(t, T_ADD, x, cube), 0.79788456080286536);
    const int one = tape_full(t, t->node[x].count, 1, 0);
    const int part = tape_map2(t, T_ADD, tape_map(t, T_TANH, inner), one);
    return tape_map2(t, T_MUL, tape_scale(t, x, 0.5), part);
}

/* Steps, and on which one x is; where its bound reaches another one, that far off. */
static double step_of(enum op_id op, double x)
{
    return op == OP_ID_floor ? floor(x) : op == OP_ID_round ? nearbyint(x) : (x > 0) - (x < 0);
}

static int steps(struct tape *t, enum op_id op, int x)
{
    const int y = tape_detach(t, x);
    for (int i = 0; i < t->node[y].count; i++) {
        const double v = t->node[x].v[i], e = t->node[x].e[i];
        t->node[y].v[i] = step_of(op, v);
        t->node[y].e[i] = step_of(op, v + e) - step_of(op, v - e);
    }
    return y;
}

static int silu(struct tape *t, int x)
{
    const int one = tape_full(t, t->node[x].count, 1, 0);
    const int e = tape_map(t, T_EXP, tape_map(t, T_NEG, x));
    return tape_map2(t, T_DIV, x, tape_map2(t, T_ADD, one, e));
}

/* x above the threshold, `other` elsewhere. */
static int above(struct tape *t, int x, int z, double threshold, int other)
{
    const int limit = tape_full(t, t->node[x].count, threshold, 0);
    return where(t, compare(t, OP_ID_gt, z, limit), x, other);
}

static int softplus(struct tape *t, int x, double beta, double threshold)
{
    const int z = tape_scale(t, x, beta), b = tape_full(t, t->node[x].count, beta, 0);
    const int soft = tape_map(t, T_LOG1P, tape_map(t, T_EXP, z));
    return above(t, x, z, threshold, tape_map2(t, T_DIV, soft, b));
}

static int map_one(struct tape *t, const struct line *l, int x, bool integer)
{
    static const double relu[] = { 0, 1, 1 }, absolute[] = { -1, 1, 1 }, inside[] = { 0, 1, 0 };
    const int n = t->node[x].count;
    const double c = line_scalar(l, 0, t->wide);
    switch (l->op) {
    case OP_ID_detach:
        return tape_detach(t, x);
    case OP_ID_add_scalar:
        return tape_map2(t, T_ADD, x, tape_full(t, n, c, 0));
    case OP_ID_mul_scalar:
        return tape_map2(t, T_MUL, x, tape_full(t, n, c, 0));
    case OP_ID_pow_scalar:
        return c == 2 ? tape_map2(t, T_MUL, x, x) : tape_map2(t, T_POW, x, tape_full(t, n, c, 0));
    case OP_ID_neg:
        return tape_map(t, T_NEG, x);
    case OP_ID_abs:
        return pieces(t, x, 0, 0, absolute, 0);
    case OP_ID_exp:
        return tape_map(t, T_EXP, x);
    case OP_ID_log:
        return tape_map(t, T_LOG, x);
    case OP_ID_sqrt:
        return tape_map(t, T_SQRT, x);
    case OP_ID_rsqrt:
        return tape_map(t, T_RSQRT, x);
    case OP_ID_tanh:
        return tape_map(t, T_TANH, x);
    case OP_ID_sigmoid:
        return tape_map(t, T_SIGMOID, x);
    case OP_ID_erf:
        return tape_map(t, T_ERF, x);
    case OP_ID_sin:
        return tape_map(t, T_SIN, x);
    case OP_ID_cos:
        return tape_map(t, T_COS, x);
    case OP_ID_atan:
        return tape_map(t, T_ATAN, x);
    case OP_ID_log1p:
        return tape_map(t, T_LOG1P, x);
    case OP_ID_expm1:
        return tape_map(t, T_EXPM1, x);
    case OP_ID_silu:
        return silu(t, x);
    case OP_ID_softplus:
        return softplus(t, x, c, line_scalar(l, 1, t->wide));
    case OP_ID_leaky_relu:
        return above(t, x, x, 0, tape_scale(t, x, c));
    case OP_ID_floor:
    case OP_ID_round:
    case OP_ID_sign:
        return steps(t, l->op, x);
    case OP_ID_relu:
        return pieces(t, x, 0, INFINITY, relu, 0);
    case OP_ID_gelu:
        return gelu(t, x);
    case OP_ID_gelu_tanh:
        return gelu_tanh(t, x);
    case OP_ID_clamp:
        return pieces(t, x, c, line_scalar(l, 1, t->wide), inside, 1);
    default:
        (void)integer;
        return -1;
    }
}

static int map(struct interpreter *m, const struct line *l)
{
    struct tape *t = m->tape;
    int in[3] = { -1, -1, -1 };
    for (int k = 0; k < l->ins; k++)
        in[k] = spread_to(t, interpret_operand(m, l, k), m->p->line[l->in[k]].shape, l->shape);
    t->integer = !program_floats(l->dtype);
    switch (l->op) {
    case OP_ID_cast: {
        const bool passes = program_floats(l->dtype) && program_floats(m->p->line[l->in[0]].dtype);
        return passes ? tape_map(t, T_NEG, tape_map(t, T_NEG, in[0])) : cast(t, in[0], l->dtype);
    }
    case OP_ID_add:
        return tape_map2(t, T_ADD, in[0], in[1]);
    case OP_ID_sub:
        return tape_map2(t, T_SUB, in[0], in[1]);
    case OP_ID_mul:
        return tape_map2(t, T_MUL, in[0], in[1]);
    case OP_ID_div:
        return tape_map2(t, T_DIV, in[0], in[1]);
    case OP_ID_pow:
        return tape_map2(t, T_POW, in[0], in[1]);
    case OP_ID_atan2:
        return tape_map2(t, T_ATAN2, in[0], in[1]);
    case OP_ID_maximum:
        return extreme_of_two(t, in[0], in[1], 1);
    case OP_ID_minimum:
        return extreme_of_two(t, in[0], in[1], -1);
    case OP_ID_where:
        return where(t, in[0], in[1], in[2]);
    default:
        if (l->op >= OP_ID_eq_scalar && l->op <= OP_ID_ge_scalar)
            return compare(t, (enum op_id)(OP_ID_eq + (l->op - OP_ID_eq_scalar)), in[0],
                           tape_full(t, t->node[in[0]].count, line_scalar(l, 0, t->wide), 0));
        if (l->op >= OP_ID_eq && l->op <= OP_ID_ge)
            return compare(t, l->op, in[0], in[1]);
        return map_one(t, l, in[0], t->integer);
    }
}

/* ---- views ---------------------------------------------------------------------------------- */

static int view_source(const struct line *l, tarn_shape from, const int *to)
{
    int at[TARN_MAX_RANK] = { 0 };
    for (int d = 0; d < from.rank; d++) {
        at[d] = to[d];
        if (l->op == OP_ID_slice && d == l->arg[0])
            at[d] = l->arg[1] + to[d] * l->arg[3];
        if (l->op == OP_ID_roll && d == l->arg[0])
            at[d] = (to[d] - l->arg[1] % from.dim[d] + from.dim[d]) % from.dim[d];
        if (l->op == OP_ID_pad)
            at[d] = to[d] - l->list[0].dim[d];
        if (at[d] < 0 || (l->op == OP_ID_pad && at[d] >= from.dim[d]))
            return -1;
    }
    for (int i = 0; l->op == OP_ID_flip && i < l->list[0].rank; i++)
        at[l->list[0].dim[i]] = from.dim[l->list[0].dim[i]] - 1 - to[l->list[0].dim[i]];
    if (l->op == OP_ID_permute)
        for (int d = 0; d < from.rank; d++)
            at[l->list[0].dim[d]] = to[d];
    if (l->op == OP_ID_transpose) {
        at[l->arg[0]] = to[l->arg[1]];
        at[l->arg[1]] = to[l->arg[0]];
    }
    return (int)position_of(from, at);
}

static int view(struct interpreter *m, const struct line *l)
{
    const int x = interpret_operand(m, l, 0), count = (int)tarn_shape_count(l->shape);
    const tarn_shape from = m->p->line[l->in[0]].shape;
    if (l->op == OP_ID_broadcast_to && count != tarn_shape_count(from))
        return spread_to(m->tape, x, from, l->shape);
    const bool same = l->op == OP_ID_reshape || l->op == OP_ID_flatten ||
                      l->op == OP_ID_broadcast_to || l->op == OP_ID_batch_axis ||
                      l->op == OP_ID_mark_sharding;
    int *index = new_index(count), at[TARN_MAX_RANK] = { 0 };
    for (int i = 0; i < count; i++, next_position(l->shape, at))
        index[i] = same ? i : view_source(l, from, at);
    const int y = tape_gather(m->tape, x, count, index, line_scalar(l, 0, m->p->wide));
    free(index);
    return y;
}

/* The parts, each padded with zeros to the whole, added up: exact, as x + 0 is x. */
static int concat(struct interpreter *m, const struct line *l)
{
    const int count = (int)tarn_shape_count(l->shape), axis = l->arg[0];
    int *index = new_index(count), start = 0, y = -1;
    for (int k = 0; k < l->ins; k++) {
        const tarn_shape part = m->p->line[l->in[k]].shape;
        int at[TARN_MAX_RANK] = { 0 };
        for (int i = 0; i < count; i++, next_position(l->shape, at)) {
            int from[TARN_MAX_RANK];
            memcpy(from, at, sizeof from);
            from[axis] -= start;
            const bool in = from[axis] >= 0 && from[axis] < part.dim[axis];
            index[i] = in ? (int)position_of(part, from) : -1;
        }
        const int one = tape_gather(m->tape, interpret_operand(m, l, k), count, index, 0);
        y = y < 0 ? one : tape_map2(m->tape, T_ADD, y, one);
        start += part.dim[axis];
    }
    free(index);
    return y;
}

/* ---- reductions ----------------------------------------------------------------------------- */

static int argmax(struct tape *t, int x, tarn_shape from, int axis)
{
    int count, *group = reduced_index(from, 1u << axis, &count);
    const int y = tape_full(t, count, -1, 0), n = t->node[x].count;
    int inner = 1;
    for (int d = axis + 1; d < from.rank; d++)
        inner *= from.dim[d];
    double *top = calloc(2 * (size_t)count + 1, sizeof *top), *e = top + count;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < n; i++) {
            double *v = &t->node[y].v[group[i]];
            const int k = group[i], at = i / inner % from.dim[axis];
            if (pass == 0 && (*v < 0 || t->node[x].v[i] > top[k])) {
                *v = at;
                top[k] = t->node[x].v[i];
                e[k] = t->node[x].e[i];
            }
            if (pass == 1 && at != (int)*v &&
                order(t->node[x].v[i], t->node[x].e[i], top[k], e[k]) == 2)
                t->node[y].e[k] = INFINITY;
        }
    free(top);
    free(group);
    return y;
}

int interpret_reduce(struct interpreter *m, const struct line *l, int x, tarn_shape from)
{
    struct tape *t = m->tape;
    const unsigned mask = axes_mask(l->list[0], from.rank);
    int count, *group = reduced_index(from, mask, &count);
    const double terms = count > 0 ? (double)tarn_shape_count(from) / count : 1;
    int y = -1;
    switch (l->op) {
    case OP_ID_max:
    case OP_ID_min:
        y = extreme(t, x, count, group, l->op == OP_ID_max ? 1 : -1, false);
        break;
    case OP_ID_argmax:
    case OP_ID_argmin:
        y = argmax(t, l->op == OP_ID_argmin ? tape_map(t, T_NEG, x) : x, from, l->arg[1]);
        break;
    case OP_ID_var: {
        const int mean = tape_scale(t, tape_scatter(t, x, count, group), 1 / terms);
        const int d = tape_map2(t, T_SUB, x, tape_gather(t, mean, t->node[x].count, group, 0));
        y = terms <= l->arg[1]
                ? -1
                : tape_scale(t, tape_scatter(t, tape_map2(t, T_MUL, d, d), count, group),
                             1 / (terms - l->arg[1]));
        break;
    }
    default:
        t->integer = !program_floats(l->dtype);
        y = tape_scatter(t, x, count, group);
        if (l->op == OP_ID_mean)
            y = terms > 0 ? tape_scale(t, y, 1 / terms) : -1;
    }
    free(group);
    return y;
}

int interpret_op(struct interpreter *m, const struct line *l)
{
    struct tape *t = m->tape;
    const int count = (int)tarn_shape_count(l->shape);
    switch (op_table[l->op].result) {
    case 'm':
        return map(m, l);
    case 'v':
        return l->op == OP_ID_concat ? concat(m, l) : view(m, l);
    case 'r':
        return interpret_reduce(m, l, interpret_operand(m, l, 0), m->p->line[l->in[0]].shape);
    default:
        break;
    }
    if (l->op == OP_ID_rand)
        return uniform(m, count);
    if (l->op == OP_ID_randn || l->op == OP_ID_randn_truncated)
        return normal(m, l);
    const int y = tape_full(t, count,
                            l->op == OP_ID_ones    ? 1
                            : l->op == OP_ID_zeros ? 0
                                                   : (double)l->f[0],
                            0);
    for (int i = 0; i < count && l->op == OP_ID_arange; i++)
        t->node[y].v[i] = i;
    return y;
}
