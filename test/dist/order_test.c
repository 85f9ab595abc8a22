/* SPDX-License-Identifier: Apache-2.0 */
/* Replicas that record other collectives are refused, and programs in which replicas differ as they
 * may are not. */
#include <criterion/criterion.h>
#include <string.h>

#include "tarn.h"
#include "tarn_dist.h"

TestSuite(order, .timeout = 600);

static tarn_status launch(tarn_replica_fn fn, int world)
{
    return tarn_launch(fn, NULL,
                       (tarn_launch_options){ .devices = "0,0,0", .count = world, .timeout = 60 });
}

static void expect_refused(tarn_replica_fn fn, const char *text)
{
    for (int world = 2; world <= 3; world++) {
        const tarn_status s = launch(fn, world);
        cr_expect_eq(s, TARN_ERR_DISAGREE, "%s: %s", tarn_status_name(s), tarn_error(NULL));
        cr_expect_not_null(strstr(tarn_error(NULL), text), "no \"%s\" in: %s", text,
                           tarn_error(NULL));
    }
}

static void expect_ok(tarn_replica_fn fn)
{
    for (int world = 2; world <= 3; world++)
        cr_expect_eq(launch(fn, world), TARN_OK, "%d replicas: %s", world, tarn_error(NULL));
}

static tarn_tensor from(tarn_replica *r, float value)
{
    const float data[4] = { value, value, value, value };
    return tarn_from(r, TARN_SHAPE(4), TARN_F32, data);
}

static tarn_tensor sum(tarn_tensor x)
{
    return tarn_all_reduce(x, TARN_SUM);
}

/* Sums two operands, on the last rank in the other order, at the step mark. */
static tarn_status sum_both(tarn_replica *r, tarn_tensor a, tarn_tensor b)
{
    const bool last = tarn_rank(r) == tarn_world_size(r) - 1;
    (void)tarn_keep(sum(last ? b : a));
    (void)tarn_keep(sum(last ? a : b));
    return tarn_step(r);
}

/* ---- refused -------------------------------------------------------------------------------- */

static tarn_status data(tarn_replica *r, void *arg)
{
    (void)arg;
    const tarn_tensor a = from(r, 1);
    return sum_both(r, a, from(r, 10));
}

static tarn_status operations(tarn_replica *r, void *arg)
{
    (void)arg;
    const tarn_tensor x = from(r, 1);
    (void)tarn_keep(sum(tarn_rank(r) ? tarn_exp(x) : tarn_tanh(x)));
    (void)tarn_keep(sum(tarn_rank(r) ? tarn_tanh(x) : tarn_exp(x)));
    return tarn_step(r);
}

static tarn_status parameters(tarn_replica *r, void *arg)
{
    (void)arg;
    const float w[4] = { 1, 2, 3, 4 };
    const tarn_tensor a = tarn_parameter(r, "a", TARN_SHAPE(4), w),
                      b = tarn_parameter(r, "b", TARN_SHAPE(4), w);
    (void)tarn_keep(sum(tarn_exp(tarn_rank(r) ? a : b)));
    (void)tarn_keep(sum(tarn_exp(tarn_rank(r) ? b : a)));
    return tarn_step(r);
}

static tarn_status shapes(tarn_replica *r, void *arg)
{
    (void)arg;
    float out[4];
    const tarn_tensor x = from(r, 1);
    return tarn_read(sum(tarn_rank(r) == 1 ? tarn_reshape(x, TARN_SHAPE(2, 2)) : x), out,
                     sizeof out);
}

static tarn_status names(tarn_replica *r, void *arg)
{
    (void)arg;
    float out[4];
    tarn_collective_name(r, tarn_rank(r) == 1 ? "left" : "right");
    return tarn_read(sum(from(r, 1)), out, sizeof out);
}

/* Rank 0 has nothing to compare by; the others differ. */
static tarn_status others(tarn_replica *r, void *arg)
{
    (void)arg;
    float out[4];
    const tarn_tensor x = from(r, 1);
    return tarn_read(sum(tarn_rank(r) == 0   ? tarn_zeros(r, TARN_SHAPE(4))
                         : tarn_rank(r) == 1 ? tarn_exp(x)
                                             : tarn_tanh(x)),
                     out, sizeof out);
}

Test(order, another_order_is_refused)
{
    expect_refused(data, "order in which operands were recorded");
    expect_refused(operations, "computation of the operand");
    expect_refused(parameters, "computation of the operand");
}

Test(order, another_shape_is_refused)
{
    expect_refused(shapes, "[2,2]");
}

Test(order, another_name_is_refused)
{
    expect_refused(names, "name");
}

Test(order, ranks_are_compared_with_one_that_can_be)
{
    cr_expect_eq(launch(others, 2), TARN_OK, "%s", tarn_error(NULL));
    cr_expect_eq(launch(others, 3), TARN_ERR_DISAGREE);
    cr_expect_not_null(strstr(tarn_error(NULL), "rank 1 for"), "%s", tarn_error(NULL));
}

/* ---- what replicas may do ------------------------------------------------------------------- */

/* Other slices, constants, data on the root alone, and looks at results in between. */
static tarn_status by_rank(tarn_replica *r, void *arg)
{
    (void)arg;
    const int rank = tarn_rank(r);
    const tarn_tensor zero = tarn_zeros(r, TARN_SHAPE(4)), x = tarn_exp(from(r, 1));
    if (rank == 0) {
        const tarn_tensor extra[2] = { from(r, 5), tarn_tanh(x) };
        (void)tarn_eval(extra, 2);
    }
    const tarn_tensor part = tarn_slice(x, 0, rank, rank + 1, 1);
    (void)tarn_keep(tarn_all_gather(tarn_mul(part, part)));
    (void)tarn_keep(tarn_broadcast(rank == 0 ? from(r, 2) : zero, 0));
    (void)tarn_keep(sum(tarn_full(r, TARN_SHAPE(4), (float)rank)));
    (void)tarn_keep(sum(rank == 1 ? tarn_mul_scalar(x, 3) : zero));
    (void)tarn_keep(sum(tarn_mul_scalar(x, (float)rank)));
    return tarn_step(r);
}

/* Each replica has a part of its own to compute, and gradients go back to it. */
static tarn_status experts(tarn_replica *r, void *arg)
{
    (void)arg;
    float got[4];
    const float w[4] = { 1, 2, 3, 4 };
    const tarn_tensor a = tarn_parameter(r, "a", TARN_SHAPE(4), w),
                      b = tarn_parameter(r, "b", TARN_SHAPE(4), w);
    tarn_collective_name(r, "experts");
    const tarn_tensor all = tarn_all_gather(tarn_rank(r) ? tarn_exp(a) : tarn_tanh(b));
    tarn_collective_name(r, NULL);
    tarn_backward(tarn_sum(tarn_mul(all, all), TARN_AXES(0), false));
    return tarn_read(tarn_grad(tarn_rank(r) ? a : b), got, sizeof got);
}

/* An odd number of samples: one replica has a single one, where some operations fall away. */
static tarn_status uneven(tarn_replica *r, void *arg)
{
    (void)arg;
    const int32_t n = tarn_rank(r) + 1;
    const float w[4] = { 1, 2, 3, 4 };
    const tarn_tensor bias = tarn_parameter(r, "bias", TARN_SHAPE(1, 4), w);
    const tarn_tensor y = tarn_exp(tarn_add(tarn_rand(r, TARN_SHAPE(n, 4)), bias));
    tarn_tensor g;
    tarn_gradients(tarn_mean(tarn_flatten(y, 0), TARN_AXES(0), false), &bias, 1, &g);
    (void)tarn_keep(sum(g));
    (void)tarn_keep(sum(tarn_mean(y, TARN_AXES(0), false)));
    return tarn_step(r);
}

Test(order, replicas_may_differ_in_values_slices_and_sizes)
{
    expect_ok(by_rank);
    expect_ok(uneven);
}

Test(order, named_collectives_may_differ_in_what_they_are_computed_from)
{
    expect_ok(experts);
}
