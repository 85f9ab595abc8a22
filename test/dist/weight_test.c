/* SPDX-License-Identifier: Apache-2.0 */
/* What a replica's loss weighs: the part of the batch that it depends on. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "tarn.h"
#include "digits.h"
#include "tarn_dist.h"

TestSuite(weight, .timeout = 600);

/* Of a batch of 4 each of two replicas has 2 samples; of one of 3 they have 1 and 2. */
enum { WORLD = 2, EVEN = 4, UNEVEN = 3 };

struct loaders {
    tarn_dataset *data;
    tarn_loader *even, *uneven;
};

static tarn_batch next(tarn_loader *l)
{
    tarn_batch b;
    (void)tarn_loader_next(l, &b); /* without one, whatever uses it is poison */
    return b;
}

static tarn_tensor mean(tarn_tensor x)
{
    return tarn_mean(tarn_flatten(x, 0), TARN_AXES(0), false);
}

/* The gradient of a parameter that is added to `rest` is the weight. */
static float weight_of(tarn_replica *r, tarn_tensor rest)
{
    const tarn_tensor w = tarn_find(r, "w");
    tarn_backward(tarn_add(tarn_sum(w, TARN_AXES(0), false), rest));
    const float g = tarn_item(tarn_grad(w));
    return tarn_step(r) == TARN_OK ? g : NAN;
}

static float uneven_part(const tarn_replica *r)
{
    return (float)(tarn_rank(r) + 1) / UNEVEN;
}

/* What a case found, by rank. */
struct found {
    float (*measure)(tarn_replica *r, struct loaders *l);
    float got[WORLD], uneven[WORLD];
};

static tarn_status on_a_replica(tarn_replica *r, void *arg)
{
    struct found *f = arg;
    struct loaders l = { .data = digits_open(12, 1) };
    const float one = 1;
    (void)tarn_parameter(r, "w", TARN_SHAPE(1), &one);
    l.even = tarn_loader_open(r, l.data, (tarn_loader_options){ .batch = EVEN });
    l.uneven = tarn_loader_open(r, l.data, (tarn_loader_options){ .batch = UNEVEN });
    f->got[tarn_rank(r)] = f->measure(r, &l);
    f->uneven[tarn_rank(r)] = uneven_part(r);
    tarn_loader_close(l.even);
    tarn_loader_close(l.uneven);
    digits_close(l.data);
    return tarn_error_status(r);
}

static tarn_status launch(float (*measure)(tarn_replica *r, struct loaders *l), int world,
                          struct found *f)
{
    *f = (struct found){ .measure = measure };
    return tarn_launch(on_a_replica, f,
                       (tarn_launch_options){ .devices = "0,0", .count = world, .timeout = 60 });
}

static void expect_weights(float (*measure)(tarn_replica *r, struct loaders *l), float first,
                           float second)
{
    struct found f;
    cr_assert_eq(launch(measure, WORLD, &f), TARN_OK, "%s", tarn_error(NULL));
    cr_expect_eq(f.got[0], first, "rank 0: %.9g, not %.9g", (double)f.got[0], (double)first);
    cr_expect_eq(f.got[1], second, "rank 1: %.9g, not %.9g", (double)f.got[1], (double)second);
    cr_assert_eq(launch(measure, 1, &f), TARN_OK, "%s", tarn_error(NULL));
    cr_expect_eq(f.got[0], 1.0f, "alone: %.9g", (double)f.got[0]);
}

static void expect_even(float (*measure)(tarn_replica *r, struct loaders *l))
{
    expect_weights(measure, 0.5f, 0.5f);
}

static void expect_uneven(float (*measure)(tarn_replica *r, struct loaders *l))
{
    expect_weights(measure, 1.0f / UNEVEN, 2.0f / UNEVEN);
}

/* ---- of the batch that the loss depends on, whatever another loader hands out --------------- */

static float after_another(tarn_replica *r, struct loaders *l)
{
    const tarn_batch b = next(l->even);
    (void)next(l->uneven);
    return weight_of(r, mean(b.x));
}

static float unequal_part(tarn_replica *r, struct loaders *l)
{
    const tarn_batch b = next(l->uneven);
    (void)next(l->even);
    return weight_of(r, mean(b.x));
}

Test(weight, is_of_the_batch_of_the_loss)
{
    expect_even(after_another);
    expect_uneven(unequal_part);
}

static float data_of_the_program(tarn_replica *r, struct loaders *l)
{
    const float x[3] = { 1, 2, 3 };
    (void)next(l->uneven);
    return weight_of(r, mean(tarn_from(r, TARN_SHAPE(3), TARN_F32, x)));
}

Test(weight, is_one_of_world_without_a_batch)
{
    expect_even(data_of_the_program);
}

static float by_labels(tarn_replica *r, struct loaders *l)
{
    const tarn_batch b = next(l->uneven);
    (void)next(l->even);
    return weight_of(r, mean(tarn_cast(b.y, TARN_F32)));
}

static float by_a_constant(tarn_replica *r, struct loaders *l)
{
    const tarn_batch b = next(l->uneven);
    (void)next(l->even);
    return weight_of(r, mean(tarn_ge(tarn_detach(b.x), tarn_zeros(r, TARN_SCALAR))));
}

Test(weight, comes_by_paths_without_a_gradient)
{
    expect_uneven(by_labels);
    expect_uneven(by_a_constant);
}

/* ---- through tarn_eval and tarn_keep -------------------------------------------------------- */

static float evaluated(tarn_replica *r, struct loaders *l)
{
    const tarn_tensor some[2] = { mean(next(l->uneven).x), next(l->even).x };
    (void)tarn_eval(some, 2);
    return weight_of(r, some[0]);
}

static float kept(tarn_replica *r, struct loaders *l)
{
    const tarn_tensor k = tarn_keep(next(l->uneven).x);
    (void)!tarn_step(r);
    (void)next(l->even);
    return weight_of(r, mean(k));
}

/* What a kept tensor holds counts: not what the next step is about to give it, nor what a step that
 * did not run was to give it. */
static float kept_anew(tarn_replica *r, struct loaders *l)
{
    const tarn_tensor k = tarn_keep(mean(next(l->uneven).x));
    (void)!tarn_step(r);
    tarn_assign(k, mean(next(l->even).x));
    tarn_error_clear(r);
    const tarn_tensor old = tarn_mul_scalar(k, 2.0f);
    tarn_assign(k, mean(next(l->even).x));
    const float before = weight_of(r, old);
    const float after = weight_of(r, k);
    cr_expect_eq(after, 1.0f / (float)tarn_world_size(r), "kept anew: %g", (double)after);
    return before;
}

Test(weight, comes_through_eval_and_keep)
{
    expect_uneven(evaluated);
    expect_uneven(kept);
    expect_uneven(kept_anew);
}

/* What was learnt from one batch is no part of it. */
static float after_an_update(tarn_replica *r, struct loaders *l)
{
    const tarn_tensor w = tarn_find(r, "w");
    tarn_assign(w, tarn_add(w, tarn_mul_scalar(mean(next(l->uneven).x), 0.0f)));
    return weight_of(r, mean(next(l->even).x));
}

Test(weight, is_not_that_of_what_was_learnt_before)
{
    expect_even(after_an_update);
}

/* ---- several batches ------------------------------------------------------------------------ */

static float equal_shares(tarn_replica *r, struct loaders *l)
{
    tarn_loader *other = tarn_loader_open(r, l->data, (tarn_loader_options){ .batch = 2 });
    const float w = weight_of(r, tarn_add(mean(next(l->even).x), mean(next(other).x)));
    tarn_loader_close(other);
    return w;
}

static float unequal_shares(tarn_replica *r, struct loaders *l)
{
    return weight_of(r, tarn_add(mean(next(l->even).x), mean(next(l->uneven).x)));
}

static float one_by_one(tarn_replica *r, struct loaders *l)
{
    const tarn_tensor w = tarn_find(r, "w"), sum = tarn_sum(w, TARN_AXES(0), false);
    tarn_backward(tarn_add(sum, mean(next(l->even).x)));
    const float part = weight_of(r, mean(next(l->uneven).x));
    return part - 1.0f / (float)tarn_world_size(r);
}

Test(weight, of_batches_of_equal_shares_is_theirs)
{
    expect_even(equal_shares);
}

Test(weight, of_batches_of_unequal_shares_is_refused)
{
    struct found f;
    cr_expect_eq(launch(unequal_shares, WORLD, &f), TARN_ERR_ARGUMENT, "%s", tarn_error(NULL));
    cr_expect_not_null(strstr(tarn_error(NULL), "tarn_backward_weighted"), "%s", tarn_error(NULL));
    cr_expect_eq(launch(unequal_shares, 1, &f), TARN_OK, "%s", tarn_error(NULL));
    cr_expect_eq(f.got[0], 1.0f);
    cr_expect_eq(launch(one_by_one, WORLD, &f), TARN_OK, "%s", tarn_error(NULL));
    for (int rank = 0; rank < WORLD; rank++)
        cr_expect_float_eq((double)f.got[rank], (double)f.uneven[rank], 0x1p-23, "rank %d", rank);
}

/* ---- a weight of one's own, and none -------------------------------------------------------- */

static float own(tarn_replica *r, struct loaders *l)
{
    const tarn_tensor w = tarn_find(r, "w");
    const tarn_batch a = next(l->even), b = next(l->uneven);
    const tarn_tensor both = tarn_add(mean(a.x), mean(b.x));
    tarn_backward_weighted(tarn_add(tarn_sum(w, TARN_AXES(0), false), both),
                           (float)b.n / (float)b.global);
    return tarn_item(tarn_grad(w));
}

Test(weight, can_be_given)
{
    expect_uneven(own);
}

static float bad(tarn_replica *r, struct loaders *l)
{
    (void)l;
    const float weights[] = { NAN, INFINITY, -0.5f };
    int refused = 0;
    for (int i = 0; i < 3; i++) {
        tarn_backward_weighted(tarn_sum(tarn_find(r, "w"), TARN_AXES(0), false), weights[i]);
        refused += tarn_error_status(r) == TARN_ERR_ARGUMENT &&
                   strstr(tarn_error(r), "backward_weighted") != NULL;
        tarn_error_clear(r);
    }
    return (float)refused;
}

Test(weight, must_be_a_number)
{
    struct found f;
    cr_assert_eq(launch(bad, 1, &f), TARN_OK, "%s", tarn_error(NULL));
    cr_expect_eq(f.got[0], 3.0f);
}

static float gradients(tarn_replica *r, struct loaders *l)
{
    const tarn_tensor w = tarn_find(r, "w");
    tarn_tensor g;
    const tarn_tensor loss = tarn_add(tarn_sum(w, TARN_AXES(0), false), mean(next(l->uneven).x));
    tarn_gradients(loss, &w, 1, &g);
    return tarn_item(g);
}

Test(weight, does_not_reach_tarn_gradients)
{
    expect_weights(gradients, 1, 1);
}

/* ---- synced statistics count the samples of their batch ------------------------------------- */

static float statistics(tarn_replica *r, struct loaders *l)
{
    float mean_of[1];
    const tarn_batch_norm bn = tarn_batch_norm_make(r, "bn", 1);
    const tarn_batch b = next(l->even);
    (void)next(l->uneven);
    (void)tarn_batch_norm_forward(&bn, tarn_add_scalar(b.x, 3.0f));
    (void)!tarn_step(r);
    return tarn_read(bn.running_mean, mean_of, sizeof mean_of) == TARN_OK ? mean_of[0] : NAN;
}

Test(weight, synced_statistics_count_their_own_batch)
{
    struct found one, two = { .measure = statistics };
    cr_assert_eq(launch(statistics, 1, &one), TARN_OK, "%s", tarn_error(NULL));
    cr_assert_eq(
        tarn_launch(on_a_replica, &two,
                    (tarn_launch_options){
                        .devices = "0,0", .count = WORLD, .timeout = 60, .sync_norm = true }),
        TARN_OK, "%s", tarn_error(NULL));
    /* 0.1 times a mean of 3136 values between 2 and 6: sums of them round by less than 3136 *
     * 2^-24 of themselves, on either side. */
    const double most = 2 * 3136 * 0x1p-24 * 0.6;
    cr_expect_float_eq((double)two.got[0], (double)one.got[0], most, "%g on two devices, %g on one",
                       (double)two.got[0], (double)one.got[0]);
}
