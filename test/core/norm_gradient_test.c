/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients of gradients through layer norm and batch norm. The second ones: the first gradient
 * is taken for an op, whose reference is the formula in double, and op_check() differentiates
 * that. The third: derivatives along one direction, against the power series of the norm itself. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op_check.h"

TestSuite(norm_gradient, .timeout = 600);

enum { LAYER, BATCH, RUNNING };
/* arg[0] which, arg[1] eps in 1e-6. Operands are x, weight and the factors of the loss. */
static double eps_of(const struct op_case *c)
{
    return (double)((float)c->arg[1] * 1e-6f);
}

/* ---- on the device -------------------------------------------------------------------------- */

static tarn_tensor norm_of(tarn_tensor x, tarn_tensor weight, const struct op_case *c)
{
    tarn_replica *r = x.replica;
    const float eps = (float)eps_of(c);
    const tarn_shape w = tarn_shape_get(weight);
    const tarn_tensor bias = tarn_full(r, w, 0.25f);
    if (c->arg[0] == LAYER)
        return tarn_layer_norm_op(x, weight, bias, eps);
    static unsigned made;
    char name[2][40];
    snprintf(name[0], sizeof name[0], "mean.%u", made);
    snprintf(name[1], sizeof name[1], "var.%u", made++);
    float mean[64], var[64];
    for (int i = 0; i < w.dim[0]; i++) {
        mean[i] = 0.125f * (float)i;
        var[i] = 1 + 0.5f * (float)i;
    }
    tarn_batch_norm layer = { .weight = weight, .bias = bias, .eps = eps, .momentum = 0.1f };
    layer.running_mean = tarn_buffer(r, name[0], w, TARN_F32, mean);
    layer.running_var = tarn_buffer(r, name[1], w, TARN_F32, var);
    layer.num_batches_tracked = tarn_keep(tarn_cast(tarn_zeros(r, TARN_SCALAR), TARN_I32));
    tarn_train(r, c->arg[0] == BATCH);
    return tarn_batch_norm_forward(&layer, x);
}

static tarn_tensor loss_of(const tarn_tensor *in, const struct op_case *c)
{
    const tarn_tensor y = norm_of(in[0], in[1], c);
    return tarn_sum(tarn_mul(in[2], tarn_mul(y, tarn_mul(y, y))), TARN_ALL, false);
}

static tarn_tensor flat(tarn_tensor t)
{
    return tarn_reshape(t, TARN_SHAPE(-1));
}

/* The gradients in x and weight, joined. */
static tarn_tensor device_gradient(const tarn_tensor *in, const struct op_case *c)
{
    tarn_tensor g[2];
    tarn_gradients(loss_of(in, c), in, 2, g);
    return tarn_concat((tarn_tensor[]){ flat(g[0]), flat(g[1]) }, 2, 0);
}

/* ---- the same in double --------------------------------------------------------------------- */

/* Which statistics element i takes part in, and which weight it has. */
static int group_of(const struct op_case *c, const struct ref *x, const struct ref *weight, int i)
{
    const int inner = (int)ref_count(weight);
    if (c->arg[0] == LAYER)
        return i / inner;
    int after = 1;
    for (int d = 2; d < x->rank; d++)
        after *= x->dim[d];
    return i / after % inner;
}

static int weight_of(const struct op_case *c, const struct ref *x, const struct ref *weight, int i)
{
    return c->arg[0] == LAYER ? i % (int)ref_count(weight) : group_of(c, x, weight, i);
}

struct moments {
    double mean, rstd, g, gy; /* means of dloss/dy and of it times y */
    int count;
};

static void collect(const struct ref *in, const struct op_case *c, struct moments *m)
{
    const int n = (int)ref_count(&in[0]);
    for (int i = 0; i < n; i++) {
        struct moments *s = &m[group_of(c, &in[0], &in[1], i)];
        s->mean += in[0].v[i];
        s->count++;
    }
    for (int k = 0; k < n; k++)
        m[k].mean /= m[k].count > 0 ? m[k].count : 1;
    for (int i = 0; i < n; i++) {
        struct moments *s = &m[group_of(c, &in[0], &in[1], i)];
        s->rstd += pow(in[0].v[i] - s->mean, 2) / s->count;
    }
    for (int k = 0; k < n; k++) {
        if (c->arg[0] == RUNNING) {
            m[k].mean = 0.125 * k;
            m[k].rstd = 1 + 0.5 * k;
        }
        m[k].rstd = 1 / sqrt(m[k].rstd + eps_of(c));
    }
}

static struct ref reference_gradient(const struct ref *in, const struct op_case *c)
{
    const int n = (int)ref_count(&in[0]), w = (int)ref_count(&in[1]);
    struct ref out = ref_new(1, (const int[]){ n + w });
    struct moments *m = calloc((size_t)n, sizeof *m);
    double *g = calloc((size_t)n, sizeof *g);
    cr_assert(m && g);
    collect(in, c, m);
    for (int i = 0; i < n; i++) {
        struct moments *s = &m[group_of(c, &in[0], &in[1], i)];
        const int k = weight_of(c, &in[0], &in[1], i);
        const double y = (in[0].v[i] - s->mean) * s->rstd, out_y = y * in[1].v[k] + 0.25;
        const double slope = 3 * in[2].v[i] * out_y * out_y;
        out.v[n + k] += slope * y;
        g[i] = slope * in[1].v[k];
        s->g += g[i] / s->count;
        s->gy += g[i] * y / s->count;
    }
    for (int i = 0; i < n; i++) {
        const struct moments *s = &m[group_of(c, &in[0], &in[1], i)];
        const double y = (in[0].v[i] - s->mean) * s->rstd;
        out.v[i] = s->rstd * (c->arg[0] == RUNNING ? g[i] : g[i] - s->g - y * s->gy);
    }
    free(m);
    free(g);
    return out;
}

#define CALLS device_gradient, reference_gradient, BOUND_COMPOSED, 0
#define X(...) \
    { \
        FILL_SIGNED, 0, __VA_ARGS__ \
    }
/* clang-format off */
static const struct op_case cases[] = {
    { "layer norm [3,5]",           CALLS, 120, false, { LAYER, 10 }, 3, { X(2, { 3, 5 }), X(1, { 5 }), X(2, { 3, 5 }) } },
    { "layer norm [2,3,7]",         CALLS, 150, false, { LAYER, 100000 }, 3, { X(3, { 2, 3, 7 }), X(1, { 7 }), X(3, { 2, 3, 7 }) } },
    { "layer norm [3,4,3] of two",  CALLS, 200, false, { LAYER, 1000 }, 3, { X(3, { 3, 4, 3 }), X(2, { 4, 3 }), X(3, { 3, 4, 3 }) } },
    { "layer norm [17,6]",          CALLS, 200, false, { LAYER, 10 }, 3, { X(2, { 17, 6 }), X(1, { 6 }), X(2, { 17, 6 }) } },
    { "batch norm [7,3]",           CALLS, 150, false, { BATCH, 10 }, 3, { X(2, { 7, 3 }), X(1, { 3 }), X(2, { 7, 3 }) } },
    { "batch norm [16,2]",          CALLS, 200, false, { BATCH, 1000 }, 3, { X(2, { 16, 2 }), X(1, { 2 }), X(2, { 16, 2 }) } },
    { "batch norm [3,2,2,3]",       CALLS, 250, false, { BATCH, 10 }, 3, { X(4, { 3, 2, 2, 3 }), X(1, { 2 }), X(4, { 3, 2, 2, 3 }) } },
    { "running statistics [5,3,2]", CALLS, 100, false, { RUNNING, 10 }, 3, { X(3, { 5, 3, 2 }), X(1, { 3 }), X(3, { 5, 3, 2 }) } },
};
/* clang-format on */
enum { CASES = sizeof cases / sizeof *cases };

Test(norm_gradient, second_gradients_are_those_of_the_first)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    for (int i = 0; i < CASES; i++) {
        char line[400];
        cr_expect(op_check(r, &cases[i], line, sizeof line), "%s", line);
    }
    tarn_close(r);
}

/* ---- third derivatives: power series in t, to the third power ------------------------------- */

struct series {
    double c[4];
};

static struct series series_add(struct series a, struct series b, double times)
{
    for (int i = 0; i < 4; i++)
        a.c[i] += times * b.c[i];
    return a;
}

static struct series series_mul(struct series a, struct series b)
{
    struct series y = { { 0 } };
    for (int i = 0; i < 4; i++)
        for (int k = 0; k <= i; k++)
            y.c[i] += a.c[k] * b.c[i - k];
    return y;
}

/* From y' a = -1/2 a' y, term by term. */
static struct series series_rsqrt(struct series a)
{
    struct series y = { { 1 / sqrt(a.c[0]) } };
    for (int i = 1; i < 4; i++) {
        for (int k = 1; k <= i; k++)
            y.c[i] += (-0.5 * k - (i - k)) * a.c[k] * y.c[i - k];
        y.c[i] /= i * a.c[0];
    }
    return y;
}

/* Magnitudes of the terms of a sum, in place of the terms. */
static struct series size_of(struct series a)
{
    for (int i = 0; i < 4; i++)
        a.c[i] = fabs(a.c[i]);
    return a;
}

/* sum(f * y^3), y = layer norm of x + t v with weight w + t u and bias 0.25; `size`: what its terms
 * amount to without their signs. */
static struct series loss_series(const float *x, const float *v, const float *w, const float *u,
                                 const float *f, int rows, int n, double eps, struct series *size)
{
    struct series sum = { { 0 } };
    *size = sum;
    for (int row = 0; row < rows; row++) {
        const float *xr = x + row * n, *vr = v + row * n;
        struct series mean = { { 0 } }, mean_size = mean, var = { { eps } };
        for (int i = 0; i < n; i++) {
            const struct series s = { { (double)xr[i], (double)vr[i] } };
            mean = series_add(mean, s, 1.0 / n);
            mean_size = series_add(mean_size, size_of(s), 1.0 / n);
        }
        for (int i = 0; i < n; i++) {
            const struct series d =
                series_add((struct series){ { (double)xr[i], (double)vr[i] } }, mean, -1);
            var = series_add(var, series_mul(d, d), 1.0 / n);
        }
        const struct series rstd = series_rsqrt(var);
        for (int i = 0; i < n; i++) {
            const struct series s = { { (double)xr[i], (double)vr[i] } };
            const struct series weight = { { (double)w[i], (double)u[i] } };
            const struct series factor = { { (double)f[row * n + i] } };
            struct series y = series_mul(series_mul(series_add(s, mean, -1), rstd), weight);
            struct series big = series_mul(series_add(size_of(s), mean_size, 1), size_of(rstd));
            big = series_mul(big, size_of(weight));
            y.c[0] += 0.25;
            big.c[0] += 0.25;
            sum = series_add(sum, series_mul(factor, series_mul(y, series_mul(y, y))), 1);
            big = series_mul(size_of(factor), series_mul(big, series_mul(big, big)));
            *size = series_add(*size, big, 1);
        }
    }
    return sum;
}

enum { ROWS = 3, WIDTH = 6, ELEMENTS = ROWS * WIDTH };

Test(norm_gradient, third_derivative_along_a_line)
{
    unsigned long long state = 5;
    float x[ELEMENTS], v[ELEMENTS], f[ELEMENTS], w[WIDTH], u[WIDTH];
    for (int i = 0; i < ELEMENTS; i++) {
        x[i] = (float)(4 * check_random(&state) - 2);
        v[i] = (float)(2 * check_random(&state) - 1);
        f[i] = (float)(2 * check_random(&state) - 1);
        w[i % WIDTH] = (float)(2 * check_random(&state));
        u[i % WIDTH] = (float)(2 * check_random(&state) - 1);
    }
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const struct op_case c = { .arg = { LAYER, 1000 } };
    const tarn_shape rows = TARN_SHAPE(ROWS, WIDTH), row = TARN_SHAPE(WIDTH);
    const tarn_tensor in[3] = { tarn_from(r, rows, TARN_F32, x), tarn_from(r, row, TARN_F32, w),
                                tarn_from(r, rows, TARN_F32, f) };
    const tarn_tensor along[2] = { tarn_from(r, rows, TARN_F32, v),
                                   tarn_from(r, row, TARN_F32, u) };
    struct series size;
    const struct series want = loss_series(x, v, w, u, f, ROWS, WIDTH, eps_of(&c), &size);
    tarn_tensor d[4] = { loss_of(in, &c) };
    double factorial = 1;
    for (int order = 1; order < 4; order++) {
        tarn_tensor g[2];
        tarn_gradients(d[order - 1], in, 2, g);
        d[order] = tarn_add(tarn_sum(tarn_mul(g[0], along[0]), TARN_ALL, false),
                            tarn_sum(tarn_mul(g[1], along[1]), TARN_ALL, false));
    }
    cr_assert_eq(tarn_eval(d, 4), TARN_OK, "%s", tarn_error(r));
    for (int order = 0; order < 4; order++) {
        factorial *= order > 0 ? order : 1;
        /* Roundings of one term: sums over a row and over all, and 16 operations for each order. */
        const double terms = ELEMENTS + (order + 1) * (WIDTH + 16);
        const double limit = terms * 0x1p-24 * size.c[order] * factorial;
        const double got = (double)tarn_item(d[order]), wanted = want.c[order] * factorial;
        cr_expect_leq(fabs(got - wanted), limit, "derivative %d is %.9g, not %.9g +- %.2g", order,
                      got, wanted, limit);
        cr_expect_leq(limit, 0.05 * (1 + fabs(wanted)), "derivative %d: too wide to tell", order);
    }
    tarn_close(r);
}
