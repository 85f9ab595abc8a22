/* SPDX-License-Identifier: Apache-2.0 */
/* The statistics of batch norm against two passes in double, also of values far from 0, where
 * sums of squares would lose all digits; for batches with and without whole blocks of samples. */
#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "op_check.h"
#include "rounding.h"

enum { MOST = 1 << 19 };

struct norm_case {
    int rank, dim[4];
    double offset; /* of the values, which spread by about 1 */
};
static const struct norm_case cases[] = {
    { 4, { 128, 10, 6, 6 }, 0 },   { 4, { 128, 10, 6, 6 }, 100 }, { 4, { 16, 3, 5, 7 }, 10000 },
    { 4, { 50, 20, 4, 4 }, 1000 }, { 4, { 9, 4, 3, 3 }, 1000 },   { 4, { 1024, 40, 2, 3 }, 1000 },
    { 3, { 32, 17, 9 }, 1000 },    { 4, { 64, 5, 1, 1 }, 1000 },  { 2, { 80, 12 }, 1000 },
    { 4, { 4, 3, 5, 5 }, 1000 },
};
enum { CASES = sizeof cases / sizeof *cases };

static float values[MOST];

static int count_of(const struct norm_case *c)
{
    int count = 1;
    for (int i = 0; i < c->rank; i++)
        count *= c->dim[i];
    return count;
}

static void fill(const struct norm_case *c)
{
    unsigned long long state = 11;
    const int count = count_of(c);
    cr_assert_leq(count, MOST);
    for (int i = 0; i < count; i++)
        values[i] = (float)(c->offset + 4 * check_random(&state) - 2);
}

/* Element i of a channel, of as many as the other axes have. */
static double element(const struct norm_case *c, int channel, int i)
{
    const int inner = count_of(c) / c->dim[0] / c->dim[1];
    return (double)values[(i / inner * c->dim[1] + channel) * inner + i % inner];
}

static void moments(const struct norm_case *c, int channel, double *mean, double *var)
{
    const int count = count_of(c) / c->dim[1];
    *mean = *var = 0;
    for (int i = 0; i < count; i++)
        *mean += element(c, channel, i) / count;
    for (int i = 0; i < count; i++)
        *var += pow(element(c, channel, i) - *mean, 2) / (count - 1);
}

/* Trains one step with momentum 1, so that the running statistics are those of the batch. */
static void run(const struct norm_case *c, const char *fuse, float *mean, float *var, float *y)
{
    const size_t channels = (size_t)c->dim[1] * sizeof(float);
    cr_assert_eq(setenv("TARN_FUSE", fuse, 1), 0);
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    tarn_batch_norm layer = tarn_batch_norm_make(r, "norm", c->dim[1]);
    layer.momentum = 1;
    tarn_train(r, true);
    const tarn_tensor x = tarn_from(r, tarn_shape_of(c->rank, c->dim), TARN_F32, values);
    const tarn_tensor out = tarn_batch_norm_forward(&layer, x);
    cr_assert_eq(tarn_read(out, y, (size_t)count_of(c) * sizeof(float)), TARN_OK, "%s",
                 tarn_error(r));
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    cr_assert_eq(tarn_read(layer.running_mean, mean, channels), TARN_OK);
    cr_assert_eq(tarn_read(layer.running_var, var, channels), TARN_OK);
    tarn_close(r);
}

/* A mean is off by `shift` at most, gamma of its longest chain of roundings (sums of samples, and of
 * those) times the largest
 * value. Squared distances from such means are off by twice that times the distances, and its
 * square. */
static void check(const struct norm_case *c, int number)
{
    static float mean[64], var[64], other[2][64], y[2][MOST];
    const size_t channels = (size_t)c->dim[1] * sizeof(float);
    const int inside = count_of(c) / c->dim[0] / c->dim[1];
    const double terms = sum_roundings(inside) + sum_roundings(c->dim[0]) + 8;
    const double gamma = terms * 0x1p-24 / (1 - terms * 0x1p-24);
    fill(c);
    run(c, "1", mean, var, y[0]);
    run(c, "0", other[0], other[1], y[1]);
    cr_expect_eq(memcmp(mean, other[0], channels), 0, "case %d: means fused and not", number);
    cr_expect_eq(memcmp(var, other[1], channels), 0, "case %d: variances fused and not", number);
    cr_expect_eq(memcmp(y[0], y[1], (size_t)count_of(c) * sizeof(float)), 0,
                 "case %d: results fused and not", number);
    for (int i = 0; i < c->dim[1]; i++) {
        double m, v;
        moments(c, i, &m, &v);
        const double shift = gamma * (c->offset + 2);
        const double limit = 2 * gamma * v + 2 * sqrt(v) * shift + shift * shift;
        cr_expect_leq(fabs((double)mean[i] - m), shift, "case %d, mean %d: %.9g, not %.9g", number,
                      i, (double)mean[i], m);
        cr_expect_leq(fabs((double)var[i] - v), limit, "case %d, variance %d: %.9g, not %.9g +- %g",
                      number, i, (double)var[i], v, limit);
    }
}

Test(norm, statistics_far_from_zero, .timeout = 600)
{
    for (int i = 0; i < CASES; i++)
        check(&cases[i], i);
}
