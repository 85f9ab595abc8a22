/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients of collectives, of the sum of all replicas' losses: against differences of the whole
 * function in double, on 1 to 4 devices. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "op/op.h"
#include "tarn.h"
#include "tarn_dist.h"

#define COPIES "0,0,0,0"

TestSuite(gradient, .timeout = 600);

enum { MOST = 4, COUNT = 12 }; /* 1, 2, 3 and 4 divide it */

struct collective {
    const char *name;
    tarn_tensor (*record)(tarn_tensor x, int argument);
    int argument; /* the reduction; of a broadcast 1 for the last rank, 0 for the first */
};

static tarn_tensor all_reduce(tarn_tensor x, int reduction)
{
    return tarn_all_reduce(x, (tarn_reduction)reduction);
}

static tarn_tensor reduce_scatter(tarn_tensor x, int reduction)
{
    return tarn_reduce_scatter(x, (tarn_reduction)reduction);
}

static tarn_tensor all_gather(tarn_tensor x, int none)
{
    (void)none;
    return tarn_all_gather(x);
}

static tarn_tensor broadcast(tarn_tensor x, int last)
{
    return tarn_broadcast(x, last ? tarn_world_size(x.replica) - 1 : 0);
}

static tarn_tensor all_to_all(tarn_tensor x, int none)
{
    (void)none;
    return tarn_all_to_all(x);
}

static const struct collective cases[] = {
    { "all_reduce sum", all_reduce, TARN_SUM },
    { "all_reduce mean", all_reduce, TARN_MEAN },
    { "all_reduce max", all_reduce, TARN_MAX },
    { "all_reduce min", all_reduce, TARN_MIN },
    { "reduce_scatter sum", reduce_scatter, TARN_SUM },
    { "reduce_scatter mean", reduce_scatter, TARN_MEAN },
    { "reduce_scatter max", reduce_scatter, TARN_MAX },
    { "reduce_scatter min", reduce_scatter, TARN_MIN },
    { "all_gather", all_gather, 0 },
    { "broadcast, first", broadcast, 0 },
    { "broadcast, last", broadcast, 1 },
    { "all_to_all", all_to_all, 0 },
};
enum { CASES = sizeof cases / sizeof *cases };

/* ---- the same in double --------------------------------------------------------------------- */

/* Quarters, so few that all sums and products in float32 are exact, and at each place another on
 * every rank, so that no extreme is shared. */
static double start(int rank, int i)
{
    return (1 + (2 * rank + 3 * i) % 7) / 4.0;
}

static double factor(int rank, int i)
{
    return (5 * rank + 2 * i) % 7 - 3;
}

static double direction(int rank, int i)
{
    return (rank + 2 * i) % 3 - 1;
}

struct values {
    double at[MOST][COUNT];
};

static double inner(const struct values *x, int rank, int i)
{
    return x->at[rank][i] * (x->at[rank][i] + 1);
}

static double reduced(const struct values *x, int world, int reduction, int i)
{
    double y = inner(x, 0, i);
    for (int rank = 1; rank < world; rank++) {
        const double v = inner(x, rank, i);
        y = reduction == TARN_MAX ? fmax(y, v) : reduction == TARN_MIN ? fmin(y, v) : y + v;
    }
    return reduction == TARN_MEAN ? y / world : y;
}

/* Element i of what a rank gets, and how many there are. */
static double result(const struct collective *c, const struct values *x, int world, int rank, int i)
{
    const int part = COUNT / world;
    if (c->record == all_reduce)
        return reduced(x, world, c->argument, i);
    if (c->record == reduce_scatter)
        return reduced(x, world, c->argument, rank * part + i);
    if (c->record == all_gather)
        return inner(x, i / COUNT, i % COUNT);
    if (c->record == broadcast)
        return inner(x, c->argument ? world - 1 : 0, i);
    return inner(x, i / part, rank * part + i % part);
}

static int result_count(const struct collective *c, int world)
{
    return c->record == all_gather       ? COUNT * world
           : c->record == reduce_scatter ? COUNT / world
                                         : COUNT;
}

static double loss(const struct collective *c, const struct values *x, int world)
{
    double sum = 0;
    for (int rank = 0; rank < world; rank++) {
        for (int i = 0; i < result_count(c, world); i++) {
            const double y = result(c, x, world, rank, i);
            sum += factor(rank, i) * y * y;
        }
    }
    return sum;
}

static struct values moved(const struct values *x, const struct values *along, double by)
{
    struct values v = *x;
    for (int k = 0; k < MOST * COUNT; k++)
        v.at[k / COUNT][k % COUNT] += by * along->at[k / COUNT][k % COUNT];
    return v;
}

#define STEP 0x1p-10

/* Differences over five points are exact for a polynomial of degree 4, which the loss is; what is
 * left is the rounding of double. */
static double slope(double (*f)(const struct collective *, const struct values *, int),
                    const struct collective *c, const struct values *x, int world,
                    const struct values *along)
{
    double v[4];
    const double by[4] = { -2, -1, 1, 2 };
    for (int k = 0; k < 4; k++) {
        const struct values at = moved(x, along, by[k] * STEP);
        v[k] = f(c, &at, world);
    }
    return (v[0] - 8 * v[1] + 8 * v[2] - v[3]) / (12 * STEP);
}

static struct values everywhere(double (*f)(int rank, int i))
{
    struct values v;
    for (int k = 0; k < MOST * COUNT; k++)
        v.at[k / COUNT][k % COUNT] = f(k / COUNT, k % COUNT);
    return v;
}

static double directional(const struct collective *c, const struct values *x, int world)
{
    const struct values along = everywhere(direction);
    return slope(loss, c, x, world, &along);
}

/* ---- on devices ----------------------------------------------------------------------------- */

struct found {
    float first[CASES][MOST][COUNT], second[CASES][MOST][COUNT];
};

static tarn_tensor tensor_of(tarn_replica *r, double (*f)(int rank, int i), int count)
{
    float data[MOST * COUNT];
    for (int i = 0; i < count; i++)
        data[i] = (float)f(tarn_rank(r), i);
    return tarn_from(r, TARN_SHAPE(count), TARN_F32, data);
}

static tarn_tensor sum_all(tarn_tensor x)
{
    return tarn_sum(x, TARN_AXES(0), false);
}

static tarn_status differentiate(tarn_replica *r, const struct collective *c, float *first,
                                 float *second)
{
    const tarn_tensor x = tensor_of(r, start, COUNT);
    const tarn_tensor y = c->record(tarn_mul(x, tarn_add_scalar(x, 1)), c->argument);
    const tarn_tensor a = tensor_of(r, factor, tarn_shape_get(y).dim[0]);
    tarn_tensor g, gg;
    tarn_gradients(sum_all(tarn_mul(a, tarn_mul(y, y))), &x, 1, &g);
    tarn_gradients(sum_all(tarn_mul(g, tensor_of(r, direction, COUNT))), &x, 1, &gg);
    const tarn_tensor both[2] = { g, gg };
    tarn_status s = tarn_eval(both, 2);
    if (s == TARN_OK)
        s = tarn_read(g, first, COUNT * sizeof *first);
    if (s == TARN_OK)
        s = tarn_read(gg, second, COUNT * sizeof *second);
    return s == TARN_OK ? tarn_step(r) : s;
}

static tarn_status all_cases(tarn_replica *r, void *arg)
{
    struct found *f = arg;
    tarn_status s = TARN_OK;
    for (int k = 0; s == TARN_OK && k < CASES; k++)
        s = differentiate(r, &cases[k], f->first[k][tarn_rank(r)], f->second[k][tarn_rank(r)]);
    return s;
}

static tarn_status launch(tarn_replica_fn fn, void *arg, int world)
{
    return tarn_launch(fn, arg,
                       (tarn_launch_options){ .devices = COPIES, .count = world, .timeout = 60 });
}

/* A mean over 3 is not exact: fewer than 16 roundings of values below 1024. */
static void expect(double got, double want, bool inexact, const char *name, const char *what,
                   int world, int rank, int i)
{
    const double most = 1e-6 + (inexact ? 16 * 0x1p-24 * 1024 : 0);
    cr_expect(fabs(got - want) <= most,
              "%s, %s gradient, rank %d of %d, element %d: %.9g, not %.9g", name, what, rank, world,
              i, got, want);
}

static void check(int world)
{
    static struct found f;
    const struct values x = everywhere(start);
    cr_assert_eq(launch(all_cases, &f, world), TARN_OK, "%s", tarn_error(NULL));
    for (int k = 0; k < CASES; k++) {
        const struct collective *c = &cases[k];
        const bool inexact = world == 3 && c->argument == TARN_MEAN;
        for (int e = 0; e < world * COUNT; e++) {
            const int rank = e / COUNT, i = e % COUNT;
            struct values one = { { { 0 } } };
            one.at[rank][i] = 1;
            expect((double)f.first[k][rank][i], slope(loss, c, &x, world, &one), inexact, c->name,
                   "first", world, rank, i);
            expect((double)f.second[k][rank][i], slope(directional, c, &x, world, &one), inexact,
                   c->name, "second", world, rank, i);
        }
    }
}

Test(gradient, of_collectives_on_1_device)
{
    check(1);
}

Test(gradient, of_collectives_on_2_devices)
{
    check(2);
}

Test(gradient, of_collectives_on_3_devices)
{
    check(3);
}

Test(gradient, of_collectives_on_4_devices)
{
    check(4);
}

/* ---- equal extremes, and NaN ---------------------------------------------------------------- */

struct ties {
    float reduce[3][4], scatter[3][3];
};

static tarn_status share(tarn_replica *r, void *arg)
{
    static const float values[3][4] = { { 1, 1, 1, 1 }, { 1, 0, 2, NAN }, { 0, 0, 2, 0 } };
    struct ties *t = arg;
    const int rank = tarn_rank(r);
    const tarn_tensor x = tarn_from(r, TARN_SHAPE(4), TARN_F32, values[rank]);
    const tarn_tensor part = tarn_slice(x, 0, 0, 3, 1);
    tarn_tensor g[2];
    tarn_gradients(sum_all(tarn_all_reduce(x, TARN_MAX)), &x, 1, &g[0]);
    tarn_gradients(sum_all(tarn_reduce_scatter(part, TARN_MAX)), &part, 1, &g[1]);
    tarn_status s = tarn_eval(g, 2);
    if (s == TARN_OK)
        s = tarn_read(g[0], t->reduce[rank], sizeof t->reduce[rank]);
    return s == TARN_OK ? tarn_read(g[1], t->scatter[rank], sizeof t->scatter[rank]) : s;
}

Test(gradient, equal_extremes_share_over_replicas)
{
    static const float three[3][3] = { { 1.5f, 3, 0 }, { 1.5f, 0, 1.5f }, { 0, 0, 1.5f } };
    struct ties t;
    cr_assert_eq(launch(share, &t, 3), TARN_OK, "%s", tarn_error(NULL));
    for (int rank = 0; rank < 3; rank++) {
        for (int i = 0; i < 3; i++) {
            cr_expect_eq(t.reduce[rank][i], three[rank][i], "all_reduce, rank %d, %d: %g", rank, i,
                         (double)t.reduce[rank][i]);
            cr_expect_eq(t.scatter[rank][i], three[rank][i] / 3, "scatter, rank %d, %d: %g", rank,
                         i, (double)t.scatter[rank][i]);
        }
        cr_expect(isnan(t.reduce[rank][3]), "rank %d: %g", rank, (double)t.reduce[rank][3]);
    }
}

/* ---- parameters ----------------------------------------------------------------------------- */

/* The mean over replicas of a loss that each computes of all. */
static tarn_status through_a_parameter(tarn_replica *r, void *arg)
{
    static const float start_at[4] = { 1, 2, 3, 4 };
    float(*got)[4] = arg;
    const tarn_tensor w = tarn_parameter(r, "w", TARN_SHAPE(4), start_at);
    tarn_backward(sum_all(tarn_all_gather(tarn_mul(w, w))));
    return tarn_read(tarn_grad(w), got[tarn_rank(r)], sizeof *got);
}

Test(gradient, reaches_parameters)
{
    for (int world = 1; world <= 2; world++) {
        float got[2][4];
        cr_assert_eq(launch(through_a_parameter, got, world), TARN_OK, "%s", tarn_error(NULL));
        for (int i = 0; i < 4 * world; i++)
            cr_expect_eq(got[i / 4][i % 4], (float)(2 * (i % 4 + 1)), "%d devices, %d: %g", world,
                         i, (double)got[i / 4][i % 4]);
    }
}

/* What the root's graph alone needs a gradient of still has its collective on all ranks, and what
 * comes from others cannot spoil it. */
static tarn_status zero_elsewhere(tarn_replica *r, void *arg)
{
    float(*got)[2] = arg;
    const float mine[2] = { (float)tarn_rank(r), NAN };
    const tarn_tensor x = tarn_from(r, TARN_SHAPE(2), TARN_F32, mine);
    tarn_tensor g;
    tarn_gradients(sum_all(tarn_sqrt(tarn_broadcast(x, 1))), &x, 1, &g);
    return tarn_read(g, got[tarn_rank(r)], sizeof *got);
}

Test(gradient, of_a_broadcast_is_zero_elsewhere)
{
    float got[2][2];
    cr_assert_eq(launch(zero_elsewhere, got, 2), TARN_OK, "%s", tarn_error(NULL));
    cr_expect(got[0][0] == 0 && got[0][1] == 0, "%g %g", (double)got[0][0], (double)got[0][1]);
    cr_expect(got[1][0] == 1 && isnan(got[1][1]), "%g %g", (double)got[1][0], (double)got[1][1]);
}

/* ---- ops without a rule --------------------------------------------------------------------- */

Test(gradient, every_op_has_a_rule_or_is_a_constant)
{
    for (int i = 0; i < all_ops_count; i++) {
        const struct op *op = all_ops[i];
        cr_expect(op->grad || op->kind == OP_LEAF, "%s has neither a gradient nor op_no_grad",
                  op->name);
    }
}

static void half_a_rule(struct grad_call *c)
{
    c->gin[0] = c->g;
}

static void expect_refused(tarn_replica *r, const struct op *op, const char *operand)
{
    const tarn_tensor w = tarn_find(r, "w"), in[2] = { tarn_exp(w), w };
    const tarn_tensor y = graph_record(r, op, in, 2, tarn_shape_get(w), TARN_F32, NULL);
    /* With another path beside it. */
    tarn_backward(sum_all(tarn_add(w, y)));
    cr_expect_eq(tarn_error_status(r), TARN_ERR_ARGUMENT, "%s: %s", op->name, tarn_error(r));
    cr_expect(strstr(tarn_error(r), op->name) && strstr(tarn_error(r), operand), "%s",
              tarn_error(r));
    tarn_error_clear(r);
    tarn_tensor g;
    const tarn_tensor again = graph_record(r, op, in + 1, 1, tarn_shape_get(w), TARN_F32, NULL);
    tarn_gradients(sum_all(tarn_detach(again)), &w, 1, &g);
    cr_expect_eq(tarn_error_status(r), TARN_OK, "detached: %s", tarn_error(r));
    tarn_error_clear(r);
}

Test(gradient, through_an_op_without_a_rule_is_refused)
{
    static const struct op no_rule = { .name = "odd", .arity = 2, .kind = OP_MAP, .code = "x + y" };
    static const struct op half = {
        .name = "half", .arity = 2, .kind = OP_MAP, .code = "x + y", .grad = half_a_rule
    };
    tarn_replica *r = tarn_open("0");
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const float one[2] = { 1, 2 };
    (void)tarn_parameter(r, "w", TARN_SHAPE(2), one);
    expect_refused(r, &no_rule, "operand 0");
    expect_refused(r, &half, "operand 1");
    tarn_close(r);
}
