/* SPDX-License-Identifier: Apache-2.0 */
/* What each op computes, from its definition. Nests come from the ops' own index maps, which other tests
 * hold to references; here they are only asked for other shapes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lockstep.h"
#include "tensor/shape.h"

/* ---- maps ----------------------------------------------------------------------------------- */

static double wrap(double x)
{
    return (double)(int32_t)(uint32_t)(int64_t)x;
}

static int32_t bits_of(double x)
{
    const float f = (float)x;
    int32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static double of_bits(double x)
{
    const int32_t bits = (int32_t)x;
    float f;
    memcpy(&f, &bits, sizeof f);
    return (double)f;
}

/* Any mixture of two integers will do. */
static double mix(double x, double y)
{
    uint32_t h = ((uint32_t)(int32_t)x * 2654435761U) ^ ((uint32_t)(int32_t)y * 2246822519U + 7);
    h ^= h >> 15;
    return (double)(int32_t)(h * 3266489917U);
}

static double softplus(double x, double a, double b)
{
    return x * a > b ? x : (fmax(x * a, 0) + log1p(exp(-fabs(x * a)))) / a;
}

static double clamped(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

static double quotient(tarn_dtype t, double x, double y)
{
    return t == TARN_F32 ? x / y : y == 0 ? 0 : trunc(x / y);
}

/* Half types are the numbers that they can hold, not their bits. */
static double converted(tarn_dtype t, double x)
{
    if (dtype_is_half(t))
        return (double)half_to_float(half_from_float((float)x, t), t);
    return t == TARN_F32 ? x : t == TARN_U8 ? (double)(uint8_t)(int64_t)x : wrap(trunc(x));
}

static double product(tarn_dtype t, double x, double y)
{
    return t == TARN_F32 ? x * y : (double)(int32_t)((uint32_t)(int32_t)x * (uint32_t)(int32_t)y);
}

static double map_value(const struct node *n, double x, double y, double z)
{
    const double a = (double)n->arg.map.scalar[0], b = (double)n->arg.map.scalar[1];
    const tarn_dtype t = n->dtype;
    /* clang-format off */
#define IS(id, value) if (n->op == &op_##id) return value;
    IS(add, t == TARN_F32 ? x + y : wrap(x + y))
    IS(sub, t == TARN_F32 ? x - y : wrap(x - y))
    IS(mul, product(t, x, y)) IS(div, quotient(t, x, y)) IS(pow, pow(x, y))
    IS(maximum, x > y ? x : y) IS(minimum, x < y ? x : y) IS(neg, t == TARN_F32 ? -x : wrap(-x))
    IS(abs, fabs(x)) IS(exp, exp(x)) IS(log, log(x)) IS(sqrt, sqrt(x)) IS(rsqrt, 1 / sqrt(x))
    IS(tanh, tanh(x)) IS(sigmoid, 1 / (1 + exp(-x))) IS(erf, erf(x)) IS(relu, x < 0 ? 0 : x)
    IS(eq, x == y) IS(ne, x != y) IS(lt, x < y) IS(le, x <= y) IS(gt, x > y) IS(ge, x >= y)
    IS(where, x != 0 ? y : z) IS(cast, converted(t, x)) IS(clamp, clamped(x, a, b))
    IS(sin, sin(x)) IS(cos, cos(x)) IS(log1p, log1p(x)) IS(expm1, expm1(x))
    IS(atan, atan(x)) IS(atan2, atan2(x, y))
    IS(silu, x / (1 + exp(-x))) IS(softplus, softplus(x, a, b))
    IS(leaky_relu, x > 0 ? x : x * a) IS(floor, floor(x)) IS(round, rint(x))
    IS(bits, bits_of(x)) IS(from_bits, of_bits(x)) IS(hash_step, mix(x, y))
    IS(from_f16, x) IS(from_bf16, x)
    IS(minus_log, -log(fabs(x))) IS(normal, x * (y + 2)) IS(norm, (x - y) * z)
#undef IS
        /* clang-format on */
        fprintf(stderr, "lockstep: the map %s has no value here\n", n->op->name);
    exit(2);
}

/* ---- leaves --------------------------------------------------------------------------------- */

static double constant_of(const struct node *n)
{
    return n->dtype == TARN_F32 ? of_bits((int32_t)n->arg.leaf.bits)
                                : (double)(int32_t)n->arg.leaf.bits;
}

static double position_of(const struct lockstep *l, const struct node *n, const int32_t *index)
{
    const struct position *at = &n->arg.position.at;
    uint32_t number = at->base;
    for (int d = 0; d < n->shape.rank; d++)
        number += (uint32_t)at->stride[d] * (uint32_t)index[d];
    for (int a = 0; a < l->mesh->axes; a++)
        number += (uint32_t)at->step[a] * (uint32_t)l->coordinate[a];
    if (n->op == &op_iota)
        return (double)(int32_t)number;
    return fabs(mix((double)number, n->arg.position.serial)) / 0x1p31;
}

/* ---- nests ---------------------------------------------------------------------------------- */

/* Where in a tensor an element of a nest lies; -1 where a guard fails. */
static int64_t place_at(const struct contract_map *m, tarn_shape s, const int32_t *index, int axes)
{
    int64_t at = 0;
    for (int d = 0; d < s.rank; d++) {
        int64_t i = m->dim[d].offset;
        for (int a = 0; a < axes; a++)
            i += (int64_t)m->dim[d].coef[a] * index[a];
        const int64_t divide = m->dim[d].divide != 0 ? m->dim[d].divide : 1;
        if (i % divide != 0 || i / divide < 0 || i / divide >= s.dim[d])
            return -1;
        at = at * s.dim[d] + i / divide;
    }
    return at;
}

static double view_value(const struct node *n, tarn_shape from, const double *in,
                         const struct index_map *map, const int32_t *index)
{
    struct contract_map as;
    memset(&as, 0, sizeof as);
    for (int d = 0; d < map->rank_in; d++) {
        memcpy(as.dim[d].coef, map->dim[d].coef, sizeof map->dim[d].coef);
        as.dim[d].offset = map->dim[d].offset;
        as.dim[d].divide = map->dim[d].divide;
    }
    const int64_t at = place_at(&as, from, index, n->shape.rank);
    return at < 0 ? (double)map->fill : in[at];
}

static void run_view(const struct node *n, tarn_shape from, const double *in, double *out)
{
    struct index_map map;
    int32_t index[TARN_MAX_RANK];
    memset(&map, 0, sizeof map);
    if (n->op->index != NULL)
        n->op->index(n, from, &map);
    for (int64_t i = 0; i < lockstep_count(n->shape); i++) {
        lockstep_index(n->shape, i, index);
        out[i] = n->op->index == NULL ? in[i] : view_value(n, from, in, &map, index);
    }
}

static void run_reduce(const struct node *n, tarn_shape from, const double *in, double *out)
{
    const int64_t made = lockstep_count(n->shape), count = lockstep_count(from);
    double *best = calloc((size_t)made + 1, sizeof *best);
    bool *met = calloc((size_t)made + 1, sizeof *met);
    int32_t index[TARN_MAX_RANK];
    if (best == NULL || met == NULL)
        exit(2);
    for (int64_t k = 0; k < made; k++)
        out[k] = 0;
    for (int64_t i = 0; i < count; i++) {
        lockstep_index(from, i, index);
        int64_t to = 0, within = 0;
        for (int d = 0; d < from.rank; d++) {
            const bool reduced = n->arg.reduce.axes >> d & 1;
            to = to * n->shape.dim[d] + (reduced ? 0 : index[d]);
            within = reduced ? within * from.dim[d] + index[d] : within;
        }
        const double x = in[i];
        if (n->op == &op_sum)
            out[to] = n->dtype == TARN_F32 ? out[to] + x : wrap(out[to] + x);
        else if (!met[to] || (n->op == &op_min ? x < best[to] : x > best[to])) {
            best[to] = x;
            out[to] = n->op == &op_argmax ? (double)within : x;
        }
        met[to] = true;
    }
    free(best);
    free(met);
}

static void run_contract(const struct node *n, const struct node *const *in_node,
                         const double *const *in, double *out)
{
    struct contract c;
    memset(&c, 0, sizeof c);
    n->op->contract(n, (tarn_shape[2]){ in_node[0]->shape, in_node[1]->shape }, &c);
    int32_t index[CONTRACT_AXES] = { 0 };
    int64_t points = 1;
    for (int a = 0; a < c.axes; a++)
        points *= c.extent[a];
    for (int64_t i = 0; i < lockstep_count(n->shape); i++)
        out[i] = 0;
    for (int64_t p = 0; p < points; p++) {
        int64_t rest = p;
        for (int a = c.axes - 1; a >= 0; a--) {
            index[a] = (int32_t)(rest % c.extent[a]);
            rest /= c.extent[a];
        }
        const int64_t to = place_at(&c.out, n->shape, index, c.axes);
        const int64_t x = place_at(&c.in[0], in_node[0]->shape, index, c.axes);
        const int64_t y = place_at(&c.in[1], in_node[1]->shape, index, c.axes);
        if (to >= 0 && x >= 0 && y >= 0)
            out[to] += in[0][x] * in[1][y];
    }
}

/* ---- rows and lines ------------------------------------------------------------------------- */

static int64_t row_of(double index, int32_t rows)
{
    return index < 0 ? 0 : index >= rows ? rows - 1 : (int64_t)index;
}

static void run_gather(const struct node *n, const struct node *const *in_node,
                       const double *const *in, double *out)
{
    const tarn_shape table = in_node[0]->shape;
    const int64_t width = table.dim[0] > 0 ? lockstep_count(table) / table.dim[0] : 0;
    (void)n;
    for (int64_t i = 0; i < lockstep_count(in_node[1]->shape); i++)
        memcpy(out + i * width, in[0] + row_of(in[1][i], table.dim[0]) * width,
               (size_t)width * sizeof *out);
}

static void run_concat(const struct node *n, const struct node *const *in_node,
                       const double *const *in, double *out)
{
    int32_t index[TARN_MAX_RANK];
    for (int64_t i = 0; i < lockstep_count(n->shape); i++) {
        lockstep_index(n->shape, i, index);
        uint32_t k = 0;
        int32_t *along = &index[n->arg.concat.axis];
        while (*along >= in_node[k]->shape.dim[n->arg.concat.axis])
            *along -= in_node[k++]->shape.dim[n->arg.concat.axis];
        int64_t at = 0;
        for (int d = 0; d < n->shape.rank; d++)
            at = at * in_node[k]->shape.dim[d] + index[d];
        out[i] = in[k][at];
    }
}

/* An element of another tensor with the same place but along an axis. */
static int64_t along(tarn_shape s, const int32_t *index, int axis, int64_t at)
{
    int64_t to = 0;
    for (int d = 0; d < s.rank; d++)
        to = to * s.dim[d] + (d == axis ? at : index[d]);
    return to;
}

static double order_at(const double *in, tarn_shape s, const int32_t *index, int axis)
{
    for (int32_t e = 0; e < s.dim[axis]; e++) {
        const double x = in[along(s, index, axis, e)];
        int32_t before = 0;
        for (int32_t o = 0; o < s.dim[axis]; o++) {
            const double y = in[along(s, index, axis, o)];
            before += y < x || (y == x && o < e);
        }
        if (before == index[axis])
            return e;
    }
    return -1;
}

static double cumulated(const struct node *n, const double *in, const int32_t *index)
{
    const int axis = n->arg.routine.axis;
    double sum = 0;
    for (int32_t e = 0; e < n->shape.dim[axis]; e++)
        if (n->arg.routine.length != 0 ? e >= index[axis] : e <= index[axis])
            sum += in[along(n->shape, index, axis, e)];
    return n->dtype == TARN_F32 ? sum : wrap(sum);
}

/* Where an index names the row of a source's element: it has one element for axes along which it repeats. */
static double named(tarn_shape at, const double *in, const int32_t *index)
{
    int64_t from = 0;
    for (int d = 0; d < at.rank; d++)
        from = from * at.dim[d] + (at.dim[d] > 1 ? index[d] : 0);
    return in[from];
}

/* Sums of elements by index, or the largest of them. */
static void run_scatter(const struct node *n, const struct node *const *in_node,
                        const double *const *in, double *out)
{
    const int axis = n->arg.routine.axis;
    const bool most = n->op == &op_most;
    const tarn_shape from = in_node[0]->shape;
    const int64_t width = axis < 0 ? n->shape.dim[n->shape.rank - 1] : 1;
    int32_t index[TARN_MAX_RANK];
    for (int64_t i = 0; i < lockstep_count(n->shape); i++)
        out[i] = most ? -INFINITY : 0;
    for (int64_t i = 0; i < lockstep_count(from); i++) {
        lockstep_index(from, i, index);
        const int64_t row =
            (int64_t)(axis < 0 ? in[1][i / width] : named(in_node[1]->shape, in[1], index));
        double *to = &out[axis < 0 ? row * width + i % width : along(n->shape, index, axis, row)];
        *to = most ? fmax(*to, in[0][i]) : *to + in[0][i];
    }
}

static void run_routine(const struct node *n, const struct node *const *in_node,
                        const double *const *in, double *out)
{
    int32_t index[TARN_MAX_RANK];
    if (n->op == &op_scatter || n->op == &op_most) {
        run_scatter(n, in_node, in, out);
        return;
    }
    for (int64_t i = 0; i < lockstep_count(n->shape); i++) {
        lockstep_index(n->shape, i, index);
        const int axis = n->arg.routine.axis;
        out[i] = n->op == &op_order || n->op == &op_least
                     ? order_at(in[0], in_node[0]->shape, index, axis)
                 : n->op == &op_cumsum
                     ? cumulated(n, in[0], index)
                     : in[0][along(in_node[0]->shape, index, axis, (int64_t)in[1][i])];
    }
}

/* ---- recorded as one ------------------------------------------------------------------------ */

static void run_composed(const struct node *n, const struct node *const *in_node,
                         const double *const *in, double *out)
{
    const int64_t count = lockstep_count(n->shape);
    uint32_t at = n->arg.fingerprint.first, sum = 0;
    for (int64_t i = 0; i < count; i++)
        out[i] = n->op == &op_norm_scale ? in[0][i] : 0;
    if (n->op == &op_place)
        memcpy(out + n->arg.piece.first, in[0],
               (size_t)lockstep_count(in_node[0]->shape) * sizeof *out);
    if (n->op != &op_fingerprint)
        return;
    for (uint32_t k = 0; k < n->in_count; k++)
        for (int64_t i = 0; i < lockstep_count(in_node[k]->shape); i++, at++)
            sum += (uint32_t)(int32_t)mix(
                in_node[k]->dtype == TARN_F32 ? bits_of(in[k][i]) : in[k][i], (double)(int32_t)at);
    out[0] = (double)(int32_t)sum;
}

void lockstep_node(const struct lockstep *l, const struct node *n,
                   const struct node *const *in_node, const double *const *in, double *out)
{
    int32_t index[TARN_MAX_RANK];
    switch (n->op->kind) {
    case OP_LEAF:
        for (int64_t i = 0; i < lockstep_count(n->shape); i++) {
            lockstep_index(n->shape, i, index);
            out[i] = n->op == &op_constant ? constant_of(n) : position_of(l, n, index);
        }
        break;
    case OP_MAP:
        for (int64_t i = 0; i < lockstep_count(n->shape); i++)
            out[i] = map_value(n, in[0][i], n->in_count > 1 ? in[1][i] : 0,
                               n->in_count > 2 ? in[2][i] : 0);
        break;
    case OP_VIEW:
        run_view(n, in_node[0]->shape, in[0], out);
        break;
    case OP_REDUCE:
        run_reduce(n, in_node[0]->shape, in[0], out);
        break;
    case OP_CONTRACT:
        run_contract(n, in_node, in, out);
        break;
    case OP_GATHER:
        run_gather(n, in_node, in, out);
        break;
    case OP_CONCAT:
        run_concat(n, in_node, in, out);
        break;
    case OP_ROUTINE:
        run_routine(n, in_node, in, out);
        break;
    case OP_COMPOSED:
        run_composed(n, in_node, in, out);
        break;
    case OP_EFFECT:
        memcpy(out, in[0], (size_t)lockstep_count(n->shape) * sizeof *out);
        break;
    case OP_HOST:
    case OP_TRANSFORM:
        exit(2);
    }
}
