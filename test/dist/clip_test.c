/* SPDX-License-Identifier: Apache-2.0 */
/* Clipping on several devices takes the norm, or the elements, of the mean of all replicas' gradients. */
#include <criterion/criterion.h>
#include <math.h>

#include "tarn.h"
#include "tarn_dist.h"

TestSuite(clip, .timeout = 600);

enum { WORLD = 2, LENGTH = 2 };

/* Their mean is (3, 4) times a rank's share; each alone has another norm. */
static const float slopes[WORLD][LENGTH] = { { 6, 0 }, { 0, 8 } };

struct found {
    float most;
    bool parts; /* clip each of two halves of the batch, and accumulate them */
    bool values;
    float norm[WORLD], now[WORLD][LENGTH];
};

static tarn_tensor loss(tarn_replica *r, float share)
{
    float x[LENGTH];
    for (int i = 0; i < LENGTH; i++)
        x[i] = share * slopes[tarn_rank(r)][i];
    const tarn_tensor slope = tarn_from(r, TARN_SHAPE(LENGTH), TARN_F32, x);
    return tarn_sum(tarn_mul(tarn_find(r, "w"), slope), TARN_ALL, false);
}

static tarn_status on_a_replica(tarn_replica *r, void *arg)
{
    struct found *f = arg;
    const int rank = tarn_rank(r);
    const float zero[LENGTH] = { 0 };
    const tarn_tensor w = tarn_parameter(r, "w", TARN_SHAPE(LENGTH), zero);
    tarn_optimizer *o = tarn_sgd(r, (tarn_sgd_options){ .lr = 1 });
    if (f->parts) {
        tarn_backward(loss(r, 0.5f));
        tarn_optimizer_accumulate(o);
    }
    tarn_backward(loss(r, f->parts ? 0.5f : 1));
    const tarn_tensor norm = tarn_keep(tarn_clip_grad_norm(r, f->values ? INFINITY : f->most));
    if (f->values)
        tarn_clip_grad_value(r, f->most);
    tarn_optimizer_step(o);
    if (tarn_step(r) == TARN_OK) {
        f->norm[rank] = tarn_item(norm);
        (void)!tarn_read(w, f->now[rank], sizeof f->now[rank]);
    }
    tarn_drop(norm);
    return tarn_error_status(r);
}

static void launch(struct found *f)
{
    cr_assert_eq(
        tarn_launch(on_a_replica, f, (tarn_launch_options){ .devices = "0,0", .count = WORLD }),
        TARN_OK, "%s", tarn_error(NULL));
}

static void expect(float most, bool parts, float scale)
{
    struct found f = { .most = most, .parts = parts };
    launch(&f);
    for (int rank = 0; rank < WORLD; rank++) {
        cr_expect_eq(f.norm[rank], 5.0f, "rank %d: norm %.9g", rank, (double)f.norm[rank]);
        for (int i = 0; i < LENGTH; i++) {
            /* The scale is most / (norm + 1e-6), rounded four times on its way into the weight. */
            const float want = -scale * (float)(3 + i), got = f.now[rank][i];
            cr_expect(fabsf(got - want) <= fabsf(want) * (2e-7f + 4 * 0x1p-24f) || got == want,
                      "rank %d: weight %d is %.9g, not %.9g", rank, i, (double)got, (double)want);
        }
    }
}

Test(clip, takes_the_norm_of_the_mean)
{
    expect(2.5f, false, 0.5f);
}

Test(clip, takes_the_norm_of_what_was_accumulated)
{
    expect(2.5f, true, 0.5f);
}

Test(clip, leaves_short_gradients_alone)
{
    expect(5.5f, false, 1);
}

Test(clip, limits_the_mean_and_what_was_accumulated)
{
    for (int parts = 0; parts < 2; parts++) {
        struct found f = { .most = 3.5f, .parts = parts != 0, .values = true };
        launch(&f);
        for (int rank = 0; rank < WORLD; rank++)
            cr_expect(f.now[rank][0] == -3 && f.now[rank][1] == -3.5f, "rank %d: %g and %g", rank,
                      (double)f.now[rank][0], (double)f.now[rank][1]);
    }
}
