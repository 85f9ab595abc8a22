/* SPDX-License-Identifier: Apache-2.0 */
/* Contractions, windows, gather, soft-max, losses and norms in double. */
#include "reference.h"

#include <math.h>
#include <string.h>

/* ---- contractions --------------------------------------------------------------------------- */

/* Rank 1 operands lose their axis in the result, as in torch.matmul. */
struct ref ref_matmul(const struct ref *a, const struct ref *b)
{
    const int m = a->rank > 1 ? a->dim[a->rank - 2] : 1, k = a->dim[a->rank - 1];
    const int n = b->rank > 1 ? b->dim[b->rank - 1] : 1;
    const int lead_a = a->rank > 2 ? a->rank - 2 : 0, lead_b = b->rank > 2 ? b->rank - 2 : 0;
    const int lead = lead_a > lead_b ? lead_a : lead_b;
    int dim[REF_RANK] = { 1, 1, 1, 1, 1, 1, 1, 1 }, rank = lead;
    size_t batches = 1;
    for (int d = 0; d < lead; d++) {
        const int da = d - lead + lead_a, db = d - lead + lead_b;
        const int la = da >= 0 ? a->dim[da] : 1, lb = db >= 0 ? b->dim[db] : 1;
        dim[d] = la != 1 ? la : lb;
        batches *= (size_t)dim[d];
    }
    if (a->rank > 1)
        dim[rank++] = m;
    if (b->rank > 1)
        dim[rank++] = n;
    struct ref y = ref_new(rank, dim);
    for (size_t i = 0; i < batches; i++) {
        size_t rest = i, at_a = 0, at_b = 0, unit_a = 1, unit_b = 1;
        for (int d = lead - 1; d >= 0; d--) {
            const size_t at = rest % (size_t)dim[d];
            rest /= (size_t)dim[d];
            const int da = d - lead + lead_a, db = d - lead + lead_b;
            if (da >= 0) {
                at_a += a->dim[da] == 1 ? 0 : at * unit_a;
                unit_a *= (size_t)a->dim[da];
            }
            if (db >= 0) {
                at_b += b->dim[db] == 1 ? 0 : at * unit_b;
                unit_b *= (size_t)b->dim[db];
            }
        }
        const double *pa = a->v + at_a * (size_t)m * (size_t)k;
        const double *pb = b->v + at_b * (size_t)k * (size_t)n;
        double *py = y.v + i * (size_t)m * (size_t)n;
        for (int row = 0; row < m; row++)
            for (int col = 0; col < n; col++)
                for (int j = 0; j < k; j++)
                    py[row * n + col] += pa[row * k + j] * pb[j * n + col];
    }
    return y;
}

static double *at4(const struct ref *x, int a, int b, int c, int d)
{
    const size_t row = ((size_t)a * (size_t)x->dim[1] + (size_t)b) * (size_t)x->dim[2] + (size_t)c;
    return &x->v[row * (size_t)x->dim[3] + (size_t)d];
}

static double conv_at(const struct ref *x, const struct ref *w, const struct ref_conv *c, int n,
                      int o, int h, int v)
{
    const int per_group = w->dim[0] / c->groups, first = o / per_group * w->dim[1];
    double sum = 0;
    for (int i = 0; i < w->dim[1]; i++)
        for (int kh = 0; kh < w->dim[2]; kh++)
            for (int kw = 0; kw < w->dim[3]; kw++) {
                const int y0 = h * c->stride[0] + kh * c->dilation[0] - c->padding[0];
                const int x0 = v * c->stride[1] + kw * c->dilation[1] - c->padding[1];
                if (y0 >= 0 && y0 < x->dim[2] && x0 >= 0 && x0 < x->dim[3])
                    sum += *at4(x, n, first + i, y0, x0) * *at4(w, o, i, kh, kw);
            }
    return sum;
}

struct ref ref_conv2d(const struct ref *x, const struct ref *w, const struct ref *bias,
                      const struct ref_conv *c)
{
    int dim[4] = { x->dim[0], w->dim[0], 0, 0 };
    for (int d = 0; d < 2; d++) {
        const int reach = c->dilation[d] * (w->dim[2 + d] - 1) + 1;
        dim[2 + d] = (x->dim[2 + d] + 2 * c->padding[d] - reach) / c->stride[d] + 1;
    }
    struct ref y = ref_new(4, dim);
    for (int n = 0; n < dim[0]; n++)
        for (int o = 0; o < dim[1]; o++)
            for (int h = 0; h < dim[2]; h++)
                for (int v = 0; v < dim[3]; v++)
                    *at4(&y, n, o, h, v) =
                        conv_at(x, w, c, n, o, h, v) + (bias != NULL ? bias->v[o] : 0);
    return y;
}

/* ---- pools ---------------------------------------------------------------------------------- */

static double pool_at(const struct ref *x, const struct ref_pool *p, int n, int c, int h, int v,
                      bool mean)
{
    double best = -INFINITY, sum = 0;
    for (int kh = 0; kh < p->window[0]; kh++)
        for (int kw = 0; kw < p->window[1]; kw++) {
            const int y0 = h * p->stride[0] + kh - p->padding[0];
            const int x0 = v * p->stride[1] + kw - p->padding[1];
            if (y0 < 0 || y0 >= x->dim[2] || x0 < 0 || x0 >= x->dim[3])
                continue;
            sum += *at4(x, n, c, y0, x0);
            best = ref_maximum(best, *at4(x, n, c, y0, x0));
        }
    return mean ? sum / (p->window[0] * p->window[1]) : best;
}

static struct ref pool(const struct ref *x, const struct ref_pool *p, bool mean)
{
    int dim[4] = { x->dim[0], x->dim[1], 0, 0 };
    for (int d = 0; d < 2; d++)
        dim[2 + d] = (x->dim[2 + d] + 2 * p->padding[d] - p->window[d]) / p->stride[d] + 1;
    struct ref y = ref_new(4, dim);
    for (int n = 0; n < dim[0]; n++)
        for (int c = 0; c < dim[1]; c++)
            for (int h = 0; h < dim[2]; h++)
                for (int v = 0; v < dim[3]; v++)
                    *at4(&y, n, c, h, v) = pool_at(x, p, n, c, h, v, mean);
    return y;
}

struct ref ref_max_pool(const struct ref *x, const struct ref_pool *p)
{
    return pool(x, p, false);
}

struct ref ref_avg_pool(const struct ref *x, const struct ref_pool *p)
{
    return pool(x, p, true);
}

/* ---- gather --------------------------------------------------------------------------------- */

struct ref ref_embedding(const struct ref *table, const struct ref *index)
{
    int dim[REF_RANK];
    memcpy(dim, index->dim, sizeof dim);
    dim[index->rank] = table->dim[1];
    struct ref y = ref_new(index->rank + 1, dim);
    const size_t width = (size_t)table->dim[1];
    for (size_t i = 0; i < ref_count(index); i++) {
        const double row = fmin(fmax(index->v[i], 0), table->dim[0] - 1);
        memcpy(y.v + i * width, table->v + (size_t)row * width, width * sizeof(double));
    }
    return y;
}

struct ref ref_one_hot(const struct ref *index, int classes)
{
    int dim[REF_RANK];
    memcpy(dim, index->dim, sizeof dim);
    dim[index->rank] = classes;
    struct ref y = ref_new(index->rank + 1, dim);
    for (size_t i = 0; i < ref_count(index); i++)
        if (index->v[i] >= 0 && index->v[i] < classes)
            y.v[i * (size_t)classes + (size_t)index->v[i]] = 1;
    return y;
}

/* ---- soft-max and losses -------------------------------------------------------------------- */

static double minus(double a, double b)
{
    return a - b;
}

struct ref ref_log_softmax(const struct ref *x, int axis)
{
    struct ref top = ref_max(x, 1u << axis, true);
    struct ref low = ref_binary(minus, x, &top);
    struct ref powers = ref_unary(exp, &low);
    struct ref sum = ref_sum(&powers, 1u << axis, true);
    struct ref log_sum = ref_unary(log, &sum);
    struct ref y = ref_binary(minus, &low, &log_sum);
    ref_free(&top);
    ref_free(&low);
    ref_free(&powers);
    ref_free(&sum);
    ref_free(&log_sum);
    return y;
}

struct ref ref_softmax(const struct ref *x, int axis)
{
    struct ref logs = ref_log_softmax(x, axis);
    struct ref y = ref_unary(exp, &logs);
    ref_free(&logs);
    return y;
}

struct ref ref_nll(const struct ref *logp, const struct ref *target)
{
    struct ref y = ref_new(0, NULL);
    const int classes = logp->dim[1];
    for (int i = 0; i < logp->dim[0]; i++)
        if (target->v[i] >= 0 && target->v[i] < classes)
            y.v[0] -= logp->v[i * classes + (int)target->v[i]] / logp->dim[0];
    return y;
}

struct ref ref_mse(const struct ref *a, const struct ref *b)
{
    struct ref y = ref_new(0, NULL);
    const size_t n = ref_count(a);
    for (size_t i = 0; i < n; i++)
        y.v[0] += (a->v[i] - b->v[i]) * (a->v[i] - b->v[i]) / (double)n;
    return y;
}

/* ---- norms ---------------------------------------------------------------------------------- */

static double plus(double a, double b)
{
    return a + b;
}

static double times(double a, double b)
{
    return a * b;
}

static struct ref normalize(const struct ref *x, unsigned axes, const struct ref *weight,
                            const struct ref *bias, double eps)
{
    struct ref mean = ref_mean(x, axes, true), var = ref_var(x, axes, 0, true);
    for (size_t i = 0; i < ref_count(&var); i++)
        var.v[i] = 1 / sqrt(var.v[i] + eps);
    struct ref centred = ref_binary(minus, x, &mean);
    struct ref scaled = ref_binary(times, &centred, &var);
    struct ref weighted = ref_binary(times, &scaled, weight);
    struct ref y = ref_binary(plus, &weighted, bias);
    ref_free(&mean);
    ref_free(&var);
    ref_free(&centred);
    ref_free(&scaled);
    ref_free(&weighted);
    return y;
}

struct ref ref_layer_norm(const struct ref *x, const struct ref *weight, const struct ref *bias,
                          double eps)
{
    unsigned axes = 0;
    for (int d = x->rank - weight->rank; d < x->rank; d++)
        axes |= 1u << d;
    return normalize(x, axes, weight, bias, eps);
}

struct ref ref_batch_norm(const struct ref *x, const struct ref *weight, const struct ref *bias,
                          double eps)
{
    unsigned axes = 0;
    int dim[REF_RANK] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    for (int d = 0; d < x->rank; d++)
        if (d != 1)
            axes |= 1u << d;
    dim[1] = x->dim[1];
    struct ref w = ref_reshape(weight, x->rank, dim), b = ref_reshape(bias, x->rank, dim);
    struct ref y = normalize(x, axes, &w, &b, eps);
    ref_free(&w);
    ref_free(&b);
    return y;
}
