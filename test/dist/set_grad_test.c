/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients of the program's own: on one device, on two, and with virtual shards. All numbers are sums of few powers of
 * two, so that each way has the same bits. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "tarn.h"
#include "tarn_dist.h"

TestSuite(set_grad, .timeout = 600);

enum { BATCH = 64, STEPS = 2, A = 2, B = 3, RUNS = 4 };

/* Again and again; the means over them are the gradient of a. */
static const float samples[4][A] = { { 1, 2 }, { 3, -4 }, { 5, 6 }, { -1, 8 } };
static const float factors[B] = { 1, 2, 4 };

/* What is set, and when. */
enum way {
    OWN_RULE,     /* half of a's, and b's plus 1 */
    WITH_EARLIER, /* the same, of what an earlier step kept as well */
    ONE_OF_EACH,  /* a's is given, a backward after it adds to it; b's stays as it was left */
    AFTER_CLIP,   /* a's is halved after clipping, which measures */
    GIVEN_ONLY,   /* no backward at all: b has none */
    AFTER_KEPT,   /* a's is given where an earlier step left both, and no backward comes */
    AND_KEPT,     /* a's is halved and kept for the next step */
    TWICE,        /* a second update in the same step */
    WAYS
};

struct job {
    enum way way;
    const tarn_dataset *data;
    float a[A], b[B], norm;
};

static tarn_tensor loss(tarn_replica *r, tarn_tensor x, tarn_tensor a, tarn_tensor b)
{
    const tarn_tensor slope = tarn_from(r, TARN_SHAPE(B), TARN_F32, factors);
    const tarn_tensor with_a = tarn_sum(tarn_mul(x, a), TARN_AXES(1), false);
    const tarn_tensor with_b = tarn_sum(tarn_mul(slope, b), TARN_ALL, false);
    const tarn_tensor first = tarn_sum(tarn_slice(x, 1, 0, 1, 1), TARN_AXES(1), false);
    return tarn_mean(tarn_add(with_a, tarn_mul(first, with_b)), TARN_ALL, false);
}

static void halve(tarn_tensor p)
{
    tarn_set_grad(p, tarn_mul_scalar(tarn_grad(p), 0.5f));
}

static void give(tarn_tensor p)
{
    const float given[A] = { 0.5f, 8 };
    tarn_set_grad(p, tarn_from(p.replica, TARN_SHAPE(A), TARN_F32, given));
}

static void train(tarn_replica *r, tarn_optimizer *o, struct job *job, tarn_loader *loader,
                  tarn_tensor a, tarn_tensor b)
{
    const enum way way = job->way;
    tarn_batch batch;
    for (int step = 0; step < STEPS && tarn_loader_next(loader, &batch); step++) {
        if (way == GIVEN_ONLY || (way == AFTER_KEPT && step > 0)) {
            give(a);
        } else {
            tarn_backward(loss(r, batch.x, a, b));
            if ((way == WITH_EARLIER || way == AFTER_KEPT) && step == 0) {
                tarn_optimizer_accumulate(o);
                (void)!tarn_step(r);
                continue;
            }
        }
        tarn_tensor norm = TARN_NONE;
        switch (way) {
        case OWN_RULE:
        case WITH_EARLIER:
            tarn_reduce_grads(r);
            halve(a);
            tarn_set_grad(b, tarn_add_scalar(tarn_grad(b), 1));
            break;
        case ONE_OF_EACH:
            give(a);
            tarn_backward(loss(r, batch.x, a, tarn_detach(b)));
            break;
        case AFTER_CLIP:
            tarn_clip_grad_norm(r, INFINITY);
            halve(a);
            norm = tarn_keep(tarn_clip_grad_norm(r, INFINITY));
            break;
        case AND_KEPT:
            tarn_reduce_grads(r);
            halve(a);
            if (step == 0)
                tarn_optimizer_accumulate(o);
            break;
        case TWICE:
            tarn_optimizer_step(o);
            give(a);
            break;
        default:
            break;
        }
        if (way != AND_KEPT || step > 0)
            tarn_optimizer_step(o);
        (void)!tarn_step(r);
        if (norm.replica != NULL) {
            job->norm = tarn_item(norm);
            tarn_drop(norm);
        }
    }
}

static tarn_status on_a_replica(tarn_replica *r, void *arg)
{
    struct job mine = *(struct job *)arg;
    const float zero[B] = { 0 };
    const tarn_tensor a = tarn_parameter(r, "a", TARN_SHAPE(A), zero);
    const tarn_tensor b = tarn_parameter(r, "b", TARN_SHAPE(B), zero);
    tarn_optimizer *o = tarn_sgd(r, (tarn_sgd_options){ .lr = 1 });
    tarn_loader *loader = tarn_loader_open(r, mine.data, (tarn_loader_options){ .batch = BATCH });
    if (loader != NULL)
        train(r, o, &mine, loader, a, b);
    if (tarn_check_weights(r) == TARN_OK && tarn_read(a, mine.a, sizeof mine.a) == TARN_OK &&
        tarn_read(b, mine.b, sizeof mine.b) == TARN_OK && tarn_rank(r) == 0)
        *(struct job *)arg = mine;
    return tarn_wait(r);
}

static tarn_dataset *open_data(void)
{
    static float x[STEPS * BATCH][A];
    for (int i = 0; i < STEPS * BATCH; i++)
        memcpy(x[i], samples[i % 4], sizeof x[i]);
    return tarn_dataset_from((tarn_arrays){
        .inputs = { { .data = x, .dtype = TARN_F32, .shape = TARN_SHAPE(STEPS * BATCH, A) } } });
}

/* On one device, on two, and both with virtual shards. */
static void expect(enum way way, const float a[A], const float b[B], float norm)
{
    static const int counts[RUNS] = { 1, 2, 1, 2 }, shards[RUNS] = { 0, 0, 2, 2 };
    tarn_dataset *data = open_data();
    for (int i = 0; i < RUNS; i++) {
        struct job job = { .way = way, .data = data };
        cr_assert_eq(tarn_launch(on_a_replica, &job,
                                 (tarn_launch_options){ .devices = "0,0",
                                                        .count = counts[i],
                                                        .virtual_shards = shards[i] }),
                     TARN_OK, "run %d: %s", i, tarn_error(NULL));
        for (int k = 0; k < A; k++)
            cr_expect_eq(job.a[k], a[k], "run %d: a[%d] is %g, not %g", i, k, (double)job.a[k],
                         (double)a[k]);
        for (int k = 0; k < B; k++)
            cr_expect_eq(job.b[k], b[k], "run %d: b[%d] is %g, not %g", i, k, (double)job.b[k],
                         (double)b[k]);
        cr_expect(fabsf(job.norm - norm) <= 4e-7f * norm, "run %d: norm %.9g, not %.9g", i,
                  (double)job.norm, (double)norm);
    }
    tarn_dataset_close(data);
}

/* The gradients are (2, 3) and (2, 4, 8) in each step. */

Test(set_grad, takes_a_rule_of_ones_own)
{
    expect(OWN_RULE, (float[]){ -2, -3 }, (float[]){ -6, -10, -18 }, 0);
}

Test(set_grad, takes_the_place_of_what_was_accumulated_too)
{
    expect(WITH_EARLIER, (float[]){ -2, -3 }, (float[]){ -5, -9, -17 }, 0);
}

Test(set_grad, is_added_to_by_later_backwards)
{
    expect(ONE_OF_EACH, (float[]){ -5, -22 }, (float[]){ -4, -8, -16 }, 0);
}

Test(set_grad, is_what_clipping_measures)
{
    expect(AFTER_CLIP, (float[]){ -2, -3 }, (float[]){ -4, -8, -16 }, sqrtf(1 + 2.25f + 84));
}

Test(set_grad, needs_no_backward)
{
    expect(GIVEN_ONLY, (float[]){ -1, -16 }, (float[]){ 0, 0, 0 }, 0);
}

Test(set_grad, leaves_what_others_accumulated)
{
    expect(AFTER_KEPT, (float[]){ -0.5f, -8 }, (float[]){ -2, -4, -8 }, 0);
}

/* Of the second step half of all: (2, 3) and the (1, 1.5) of the first. */
Test(set_grad, is_kept_for_later_steps)
{
    expect(AND_KEPT, (float[]){ -1.5f, -2.25f }, (float[]){ -4, -8, -16 }, 0);
}

Test(set_grad, begins_anew_after_an_update)
{
    expect(TWICE, (float[]){ -5, -22 }, (float[]){ -4, -8, -16 }, 0);
}

static void refuses(tarn_replica *r, tarn_status status, const char *text)
{
    cr_expect_eq(tarn_error_status(r), status, "%s", tarn_error(r));
    cr_expect_not_null(strstr(tarn_error(r), text), "%s", tarn_error(r));
    tarn_error_clear(r);
}

Test(set_grad, refuses_what_is_no_gradient_of_a_parameter)
{
    tarn_replica *r = tarn_open(NULL);
    const tarn_tensor p = tarn_parameter(r, "p", TARN_SHAPE(2, 3), NULL);
    const tarn_tensor q = tarn_parameter(r, "q", TARN_SHAPE(2), NULL);
    const tarn_tensor buffer = tarn_buffer(r, "buffer", TARN_SHAPE(2), TARN_F32, NULL);
    tarn_set_grad(p, tarn_zeros(r, TARN_SHAPE(3, 2)));
    refuses(r, TARN_ERR_SHAPE,
            "set_grad: parameter p is float32 [2,3], the gradient float32 [3,2]");
    tarn_set_grad(q, tarn_cast(tarn_zeros(r, TARN_SHAPE(2)), TARN_I32));
    refuses(r, TARN_ERR_DTYPE, "set_grad: parameter q is float32 [2], the gradient int32 [2]");
    tarn_set_grad(buffer, tarn_zeros(r, TARN_SHAPE(2)));
    refuses(r, TARN_ERR_ARGUMENT, "set_grad: the first tensor is no parameter");
    tarn_set_grad(TARN_NONE, TARN_NONE);
    cr_expect_not_null(strstr(tarn_error(NULL), "set_grad"), "%s", tarn_error(NULL));
    tarn_set_grad(q, TARN_NONE);
    refuses(r, TARN_ERR_ARGUMENT, "set_grad");
    tarn_freeze(r, "q", true);
    tarn_set_grad(q, tarn_zeros(r, TARN_SHAPE(2)));
    refuses(r, TARN_ERR_STATE, "set_grad: parameter q is frozen (tarn_freeze)");
    tarn_close(r);
}
