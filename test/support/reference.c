/* SPDX-License-Identifier: Apache-2.0 */
/* Maps, views and reductions in double, element by element over coordinates. */
#include "reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t ref_count(const struct ref *x)
{
    size_t n = 1;
    for (int i = 0; i < x->rank; i++)
        n *= (size_t)x->dim[i];
    return n;
}

struct ref ref_new(int rank, const int *dim)
{
    struct ref x = { .rank = rank };
    for (int i = 0; i < rank; i++)
        x.dim[i] = dim[i];
    x.v = calloc(ref_count(&x) + 1, sizeof(double));
    if (x.v == NULL) {
        fputs("reference: out of memory\n", stderr);
        exit(EXIT_FAILURE);
    }
    return x;
}

struct ref ref_copy(const struct ref *x)
{
    struct ref y = ref_new(x->rank, x->dim);
    memcpy(y.v, x->v, ref_count(x) * sizeof(double));
    return y;
}

void ref_free(struct ref *x)
{
    free(x->v);
    x->v = NULL;
}

/* Coordinates of element `i`. */
static void unravel(const struct ref *x, size_t i, int *at)
{
    for (int d = x->rank - 1; d >= 0; d--) {
        at[d] = (int)(i % (size_t)x->dim[d]);
        i /= (size_t)x->dim[d];
    }
}

static size_t ravel(const struct ref *x, const int *at)
{
    size_t i = 0;
    for (int d = 0; d < x->rank; d++)
        i = i * (size_t)x->dim[d] + (size_t)at[d];
    return i;
}

/* The element of x that position `at` of a result of rank `rank` reads under broadcasting. */
static double pick(const struct ref *x, int rank, const int *at)
{
    int own[REF_RANK];
    for (int d = 0; d < x->rank; d++)
        own[d] = x->dim[d] == 1 ? 0 : at[rank - x->rank + d];
    return x->v[ravel(x, own)];
}

static void broadcast_dims(const struct ref *x, int rank, int *dim)
{
    for (int d = 0; d < x->rank; d++)
        if (x->dim[d] != 1)
            dim[rank - x->rank + d] = x->dim[d];
}

/* ---- maps ----------------------------------------------------------------------------------- */

struct ref ref_unary(double (*f)(double), const struct ref *x)
{
    struct ref y = ref_new(x->rank, x->dim);
    for (size_t i = 0; i < ref_count(x); i++)
        y.v[i] = f(x->v[i]);
    return y;
}

struct ref ref_binary(double (*f)(double, double), const struct ref *a, const struct ref *b)
{
    const int rank = a->rank > b->rank ? a->rank : b->rank;
    int dim[REF_RANK] = { 1, 1, 1, 1, 1, 1, 1, 1 }, at[REF_RANK] = { 0 };
    broadcast_dims(a, rank, dim);
    broadcast_dims(b, rank, dim);
    struct ref y = ref_new(rank, dim);
    for (size_t i = 0; i < ref_count(&y); i++) {
        unravel(&y, i, at);
        y.v[i] = f(pick(a, rank, at), pick(b, rank, at));
    }
    return y;
}

struct ref ref_where(const struct ref *condition, const struct ref *a, const struct ref *b)
{
    int rank = condition->rank > a->rank ? condition->rank : a->rank;
    rank = rank > b->rank ? rank : b->rank;
    int dim[REF_RANK] = { 1, 1, 1, 1, 1, 1, 1, 1 }, at[REF_RANK] = { 0 };
    broadcast_dims(condition, rank, dim);
    broadcast_dims(a, rank, dim);
    broadcast_dims(b, rank, dim);
    struct ref y = ref_new(rank, dim);
    for (size_t i = 0; i < ref_count(&y); i++) {
        unravel(&y, i, at);
        y.v[i] = pick(pick(condition, rank, at) != 0 ? a : b, rank, at);
    }
    return y;
}

double ref_relu(double x)
{
    return isnan(x) || x > 0 ? x : 0;
}

double ref_gelu(double x)
{
    return x / 2 * erfc(-x / sqrt(2.0));
}

double ref_sigmoid(double x)
{
    return x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x));
}

double ref_rsqrt(double x)
{
    return pow(x, -0.5);
}

double ref_maximum(double a, double b)
{
    return isnan(a) || isnan(b) ? (double)NAN : fmax(a, b);
}

double ref_minimum(double a, double b)
{
    return isnan(a) || isnan(b) ? (double)NAN : fmin(a, b);
}

/* ---- views ---------------------------------------------------------------------------------- */

struct ref ref_reshape(const struct ref *x, int rank, const int *dim)
{
    struct ref y = ref_new(rank, dim);
    memcpy(y.v, x->v, ref_count(&y) * sizeof(double));
    return y;
}

struct ref ref_permute(const struct ref *x, const int *order)
{
    int dim[REF_RANK] = { 0 }, at[REF_RANK] = { 0 }, from[REF_RANK] = { 0 };
    for (int d = 0; d < x->rank; d++)
        dim[d] = x->dim[order[d]];
    struct ref y = ref_new(x->rank, dim);
    for (size_t i = 0; i < ref_count(&y); i++) {
        unravel(&y, i, at);
        for (int d = 0; d < x->rank; d++)
            from[order[d]] = at[d];
        y.v[i] = x->v[ravel(x, from)];
    }
    return y;
}

struct ref ref_broadcast(const struct ref *x, int rank, const int *dim)
{
    int at[REF_RANK] = { 0 };
    struct ref y = ref_new(rank, dim);
    for (size_t i = 0; i < ref_count(&y); i++) {
        unravel(&y, i, at);
        y.v[i] = pick(x, rank, at);
    }
    return y;
}

static int clip(int i, int length)
{
    if (i < 0)
        i += length;
    return i < 0 ? 0 : i > length ? length : i;
}

struct ref ref_flip(const struct ref *x, int count, const int *axes)
{
    int at[REF_RANK] = { 0 };
    struct ref y = ref_new(x->rank, x->dim);
    for (size_t i = 0; i < ref_count(&y); i++) {
        unravel(&y, i, at);
        for (int k = 0; k < count; k++)
            at[axes[k]] = x->dim[axes[k]] - 1 - at[axes[k]];
        y.v[i] = x->v[ravel(x, at)];
    }
    return y;
}

struct ref ref_roll(const struct ref *x, int axis, int by)
{
    const int extent = x->dim[axis];
    int at[REF_RANK] = { 0 };
    struct ref y = ref_new(x->rank, x->dim);
    for (size_t i = 0; i < ref_count(x); i++) {
        unravel(x, i, at);
        at[axis] = ((at[axis] + by) % extent + extent) % extent;
        y.v[ravel(&y, at)] = x->v[i];
    }
    return y;
}

struct ref ref_slice(const struct ref *x, int axis, int start, int stop, int step)
{
    int dim[REF_RANK], at[REF_RANK] = { 0 };
    memcpy(dim, x->dim, sizeof dim);
    start = clip(start, x->dim[axis]);
    stop = clip(stop, x->dim[axis]);
    dim[axis] = 0;
    for (int i = start; i < stop; i += step)
        dim[axis]++;
    struct ref y = ref_new(x->rank, dim);
    for (size_t i = 0; i < ref_count(&y); i++) {
        unravel(&y, i, at);
        at[axis] = start + at[axis] * step;
        y.v[i] = x->v[ravel(x, at)];
    }
    return y;
}

struct ref ref_pad(const struct ref *x, const int *low, const int *high, double value)
{
    int dim[REF_RANK] = { 0 }, at[REF_RANK] = { 0 };
    for (int d = 0; d < x->rank; d++)
        dim[d] = low[d] + x->dim[d] + high[d];
    struct ref y = ref_new(x->rank, dim);
    for (size_t i = 0; i < ref_count(&y); i++)
        y.v[i] = value;
    for (size_t i = 0; i < ref_count(x); i++) {
        unravel(x, i, at);
        for (int d = 0; d < x->rank; d++)
            at[d] += low[d];
        y.v[ravel(&y, at)] = x->v[i];
    }
    return y;
}

struct ref ref_concat(const struct ref *parts, int count, int axis)
{
    int dim[REF_RANK], at[REF_RANK] = { 0 };
    memcpy(dim, parts[0].dim, sizeof dim);
    dim[axis] = 0;
    for (int p = 0; p < count; p++)
        dim[axis] += parts[p].dim[axis];
    struct ref y = ref_new(parts[0].rank, dim);
    int base = 0;
    for (int p = 0; p < count; p++) {
        for (size_t i = 0; i < ref_count(&parts[p]); i++) {
            unravel(&parts[p], i, at);
            at[axis] += base;
            y.v[ravel(&y, at)] = parts[p].v[i];
        }
        base += parts[p].dim[axis];
    }
    return y;
}

/* ---- reductions ----------------------------------------------------------------------------- */

static double combine_add(double a, double b)
{
    return a + b;
}

/* Folds x over `axes`, which stay as length 1. */
static struct ref fold(const struct ref *x, unsigned axes, double start,
                       double (*combine)(double, double))
{
    int dim[REF_RANK] = { 0 }, at[REF_RANK] = { 0 };
    for (int d = 0; d < x->rank; d++)
        dim[d] = axes >> d & 1 ? 1 : x->dim[d];
    struct ref y = ref_new(x->rank, dim);
    for (size_t i = 0; i < ref_count(&y); i++)
        y.v[i] = start;
    for (size_t i = 0; i < ref_count(x); i++) {
        unravel(x, i, at);
        for (int d = 0; d < x->rank; d++)
            at[d] = axes >> d & 1 ? 0 : at[d];
        double *to = &y.v[ravel(&y, at)];
        *to = combine(*to, x->v[i]);
    }
    return y;
}

/* Of what was folded over `axes` of x: without these, unless they are to be kept. */
static struct ref drop_axes(const struct ref *x, struct ref y, unsigned axes, bool keep)
{
    if (keep)
        return y;
    struct ref out = { .v = y.v };
    for (int d = 0; d < x->rank; d++)
        if (!(axes >> d & 1))
            out.dim[out.rank++] = x->dim[d];
    return out;
}

static double reduced_count(const struct ref *x, unsigned axes)
{
    double n = 1;
    for (int d = 0; d < x->rank; d++)
        if (axes >> d & 1)
            n *= x->dim[d];
    return n;
}

struct ref ref_sum(const struct ref *x, unsigned axes, bool keep)
{
    return drop_axes(x, fold(x, axes, 0, combine_add), axes, keep);
}

struct ref ref_mean(const struct ref *x, unsigned axes, bool keep)
{
    struct ref y = ref_sum(x, axes, keep);
    for (size_t i = 0; i < ref_count(&y); i++)
        y.v[i] /= reduced_count(x, axes);
    return y;
}

struct ref ref_max(const struct ref *x, unsigned axes, bool keep)
{
    return drop_axes(x, fold(x, axes, -INFINITY, ref_maximum), axes, keep);
}

struct ref ref_min(const struct ref *x, unsigned axes, bool keep)
{
    return drop_axes(x, fold(x, axes, INFINITY, ref_minimum), axes, keep);
}

struct ref ref_argmax(const struct ref *x, int axis, bool keep)
{
    struct ref best = fold(x, 1u << axis, -INFINITY, ref_maximum);
    struct ref y = ref_new(best.rank, best.dim);
    int at[REF_RANK] = { 0 };
    for (size_t i = 0; i < ref_count(&y); i++) {
        unravel(&y, i, at);
        for (at[axis] = 0; at[axis] < x->dim[axis]; at[axis]++) {
            const double v = x->v[ravel(x, at)];
            if (v == best.v[i] || (isnan(v) && isnan(best.v[i])))
                break;
        }
        y.v[i] = at[axis];
    }
    ref_free(&best);
    return drop_axes(x, y, 1u << axis, keep);
}

static double square_of_difference(double a, double b)
{
    return (a - b) * (a - b);
}

struct ref ref_var(const struct ref *x, unsigned axes, int correction, bool keep)
{
    struct ref mean = ref_mean(x, axes, true);
    struct ref square = ref_binary(square_of_difference, x, &mean);
    struct ref y = ref_sum(&square, axes, keep);
    for (size_t i = 0; i < ref_count(&y); i++)
        y.v[i] /= reduced_count(x, axes) - correction;
    ref_free(&mean);
    ref_free(&square);
    return y;
}
