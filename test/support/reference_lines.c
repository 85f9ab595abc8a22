/* SPDX-License-Identifier: Apache-2.0 */
/* What goes along an axis by index, or by order, by definition. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reference.h"

/* Element `i` of an array as positions, and back. */
static void positions(const struct ref *x, size_t i, int *at)
{
    for (int d = x->rank - 1; d >= 0; d--) {
        at[d] = (int)(i % (size_t)x->dim[d]);
        i /= (size_t)x->dim[d];
    }
}

static size_t element(const struct ref *x, const int *at)
{
    size_t i = 0;
    for (int d = 0; d < x->rank; d++)
        i = i * (size_t)x->dim[d] + (size_t)at[d];
    return i;
}

static int named(const struct ref *x, int axis, double index)
{
    return (int)fmax(0, fmin(x->dim[axis] - 1, index));
}

struct ref ref_gather(const struct ref *x, int axis, const struct ref *index)
{
    struct ref y = ref_new(index->rank, index->dim);
    for (size_t i = 0; i < ref_count(&y); i++) {
        int at[REF_RANK];
        positions(&y, i, at);
        at[axis] = named(x, axis, index->v[i]);
        y.v[i] = x->v[element(x, at)];
    }
    return y;
}

struct ref ref_scatter_add(const struct ref *x, int axis, const struct ref *index,
                           const struct ref *source)
{
    struct ref y = ref_new(x->rank, x->dim);
    memcpy(y.v, x->v, ref_count(x) * sizeof *y.v);
    for (size_t i = 0; i < ref_count(index); i++) {
        int at[REF_RANK];
        positions(index, i, at);
        const double term = source->v[element(source, at)];
        at[axis] = named(x, axis, index->v[i]);
        y.v[element(x, at)] += term;
    }
    return y;
}

/* An index of one axis, for all lines of `x`. */
static struct ref of_all(const struct ref *x, int axis, const struct ref *index)
{
    int dim[REF_RANK];
    memcpy(dim, x->dim, sizeof dim);
    dim[axis] = index->dim[0];
    struct ref all = ref_new(x->rank, dim);
    for (size_t i = 0; i < ref_count(&all); i++) {
        int at[REF_RANK];
        positions(&all, i, at);
        all.v[i] = index->v[at[axis]];
    }
    return all;
}

struct ref ref_index_add(const struct ref *x, int axis, const struct ref *index,
                         const struct ref *source)
{
    struct ref all = of_all(x, axis, index);
    const struct ref y = ref_scatter_add(x, axis, &all, source);
    ref_free(&all);
    return y;
}

struct ref ref_index_select(const struct ref *x, int axis, const struct ref *index)
{
    struct ref all = of_all(x, axis, index);
    const struct ref y = ref_gather(x, axis, &all);
    ref_free(&all);
    return y;
}

/* Element k of a sorted line is the one with k before it: smaller ones, and equal ones that stand before. */
static struct ref ordered(const struct ref *x, int axis, bool descending, int count,
                          bool positions_of)
{
    int dim[REF_RANK];
    memcpy(dim, x->dim, sizeof dim);
    dim[axis] = count;
    struct ref y = ref_new(x->rank, dim);
    for (size_t i = 0; i < ref_count(x); i++) {
        int at[REF_RANK], before = 0;
        positions(x, i, at);
        const int mine = at[axis];
        for (int k = 0; k < x->dim[axis]; k++) {
            at[axis] = k;
            const double other = x->v[element(x, at)];
            before += descending ? other > x->v[i] : other < x->v[i];
            before += other == x->v[i] && k < mine;
        }
        at[axis] = before;
        if (before < count)
            y.v[element(&y, at)] = positions_of ? mine : x->v[i];
    }
    return y;
}

struct ref ref_sort(const struct ref *x, int axis, bool descending)
{
    return ordered(x, axis, descending, x->dim[axis], false);
}

struct ref ref_argsort(const struct ref *x, int axis, bool descending)
{
    return ordered(x, axis, descending, x->dim[axis], true);
}

struct ref ref_top_k(const struct ref *x, int k, int axis, bool largest)
{
    return ordered(x, axis, largest, k, false);
}

struct ref ref_cumsum(const struct ref *x, int axis)
{
    struct ref y = ref_new(x->rank, x->dim);
    for (size_t i = 0; i < ref_count(x); i++) {
        int at[REF_RANK];
        positions(x, i, at);
        for (int k = at[axis]; k >= 0; k--) {
            at[axis] = k;
            y.v[i] += x->v[element(x, at)];
        }
    }
    return y;
}
