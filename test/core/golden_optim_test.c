/* SPDX-License-Identifier: Apache-2.0 */
/* Optimizers, gradient clipping and running statistics against stored results of PyTorch. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

#include "golden.h"

#define COUNT(a) ((int)(sizeof a / sizeof((a)[0])))

enum { STEPS = 5, SIZE = 7, MOST = 256 };

static const double UNIT = 1.0 / (1 << 24);

static struct golden_tensor get(const struct golden *g, const char *name)
{
    const struct golden_tensor t = golden_find(g, "%s", name);
    cr_assert(t.data != NULL, "%s: not in the file", name);
    return t;
}

/* Compares with an absolute limit; returns the worst error as a part of it. */
static double expect_within(const char *name, tarn_tensor t, const float *want, size_t count,
                            double limit)
{
    float got[MOST];
    double worst = 0;
    cr_assert(count <= MOST, "%s: too large for this test", name);
    const tarn_status s = tarn_read(t, got, count * sizeof(float));
    cr_expect(s == TARN_OK, "%s: %s", name, tarn_error(t.replica));
    for (size_t i = 0; s == TARN_OK && i < count; i++) {
        const double error = fabs((double)got[i] - (double)want[i]);
        cr_expect(error <= limit, "%s: element %zu is %.9g, PyTorch has %.9g (limit %.3g)", name, i,
                  (double)got[i], (double)want[i], limit);
        worst = fmax(worst, error / limit);
    }
    return worst;
}

/* ---- optimizers ----------------------------------------------------------------------------- */

enum method { SGD, ADAM, ADAMW, RMSPROP, LION, ADAFACTOR, ADAGRAD };

struct optim_case {
    const char *name;
    enum method method;
    tarn_sgd_options sgd;
    tarn_adam_options adam;
    tarn_rmsprop_options rmsprop;
    tarn_lion_options lion;
    tarn_adafactor_options adafactor;
    tarn_adagrad_options adagrad;
};

#define LR .lr = 0.0625f
#define SMALL .lr = 0.015625f
static const struct optim_case cases[] = {
    { "sgd", SGD, .sgd = { LR } },
    { "sgd_momentum", SGD, .sgd = { LR, .momentum = 0.5f } },
    { "sgd_dampening", SGD, .sgd = { LR, .momentum = 0.5f, .dampening = 0.25f } },
    { "sgd_decay", SGD, .sgd = { LR, .momentum = 0.5f, .weight_decay = 0.125f } },
    { "sgd_nesterov", SGD,
      .sgd = { LR, .momentum = 0.5f, .weight_decay = 0.125f, .nesterov = true } },
    { "adam", ADAM, .adam = { LR } },
    { "adam_decay", ADAM, .adam = { LR, .weight_decay = 0.125f } },
    { "adamw", ADAMW, .adam = { LR } },
    { "adamw_decay", ADAMW, .adam = { LR, .beta1 = 0.5f, .beta2 = 0.75f, .weight_decay = 0.125f } },
    { "adam_amsgrad", ADAM,
      .adam = { LR, .beta1 = 0.5f, .beta2 = 0.5f, .weight_decay = 0.125f, .amsgrad = true } },
    { "adamw_amsgrad", ADAMW, .adam = { LR, .beta1 = 0.5f, .beta2 = 0.5f, .amsgrad = true } },
    { "rmsprop", RMSPROP, .rmsprop = { SMALL } },
    { "rmsprop_momentum", RMSPROP,
      .rmsprop = { SMALL, .alpha = 0.75f, .momentum = 0.5f, .weight_decay = 0.125f } },
    { "rmsprop_centered", RMSPROP, .rmsprop = { SMALL, .centered = true } },
    { "rmsprop_both", RMSPROP, .rmsprop = { SMALL, .centered = true, .momentum = 0.5f } },
    { "lion", LION, .lion = { LR } },
    { "lion_decay", LION, .lion = { LR, .beta1 = 0.5f, .beta2 = 0.75f, .weight_decay = 0.125f } },
    { "adafactor", ADAFACTOR, .adafactor = { .lr = 0.25f } },
    { "adagrad", ADAGRAD, .adagrad = { LR } },
    { "adagrad_initial", ADAGRAD, .adagrad = { LR, .initial_accumulator_value = 0.5f } },
    { "adagrad_decay", ADAGRAD, .adagrad = { LR, .lr_decay = 0.25f, .weight_decay = 0.125f } },
};

/* A step rounds the value once (u |p|, |p| <= 4) and adds lr times a direction: of SGD at most
 * |g| / (1 - momentum) <= 2 (12 + 0.5), each after at most 8 roundings of its terms; of Adam at
 * most 2, after at most 40, where a relative error of g counts |p| + |t| over |g|, below 4. Errors
 * of earlier steps grow by at most 1 + 2 lr c < 1.2 a step, 2.5 in all; PyTorch errs as much, so
 * twice. RMSprop goes at most g / sqrt((1 - alpha) g^2) = 10, with momentum 20, after at most 20
 * roundings (centered: a mean square from which less than a half is subtracted, so 40); Lion lr
 * exactly, rounded twice. Adafactor's direction has a root mean square of at most 1, so no element
 * above sqrt(24) < 5, times that of a parameter below 2; sums of 24 squares, a power within 16
 * ULP, and 30 roundings more. Adagrad's is at most 1, as the root holds the gradient, after at most 10 + STEPS. */
static double limit_after(enum method method, int steps)
{
    const double way[] = { [SGD] = 0.0625 * 25 * 8,
                           [ADAM] = 0.0625 * 2 * 40 * 4,
                           [ADAMW] = 0.0625 * 2 * 40 * 4,
                           [RMSPROP] = 0.015625 * 20 * 40 * 4,
                           [LION] = 0.0625 * 2,
                           [ADAFACTOR] = 0.25 * 5 * 2 * 70 * 4,
                           [ADAGRAD] = 0.0625 * (10 + STEPS) * 4 };
    return 2 * 2.5 * steps * (4 + way[method]) * UNIT;
}

static tarn_optimizer *make_optimizer(tarn_replica *r, const struct optim_case *c)
{
    switch (c->method) {
    case SGD:
        return tarn_sgd(r, c->sgd);
    case ADAM:
        return tarn_adam(r, c->adam);
    case ADAMW:
        return tarn_adamw(r, c->adam);
    case RMSPROP:
        return tarn_rmsprop(r, c->rmsprop);
    case LION:
        return tarn_lion(r, c->lion);
    case ADAGRAD:
        return tarn_adagrad(r, c->adagrad);
    case ADAFACTOR:
        break;
    }
    return tarn_adafactor(r, c->adafactor);
}

static tarn_tensor squared_distance(tarn_replica *r, const struct golden *g, tarn_tensor p,
                                    int step)
{
    const float *target = get(g, "target").data;
    const tarn_tensor c = tarn_from(r, TARN_SHAPE(SIZE), TARN_F32, get(g, "curvature").data);
    const tarn_tensor t = tarn_from(r, TARN_SHAPE(SIZE), TARN_F32, target + SIZE * step);
    const tarn_tensor d = tarn_sub(p, t);
    return tarn_sum(tarn_mul(c, tarn_mul(d, d)), TARN_ALL, false);
}

static void check_optimizer(const struct golden *g, const struct optim_case *c)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert(r != NULL, "%s", tarn_error(NULL));
    const tarn_tensor p = tarn_parameter(r, "p", TARN_SHAPE(SIZE), get(g, "start").data);
    tarn_optimizer *o = make_optimizer(r, c);
    cr_assert(o != NULL, "%s: %s", c->name, tarn_error(r));
    const struct golden_tensor path = golden_find(g, "%s.path", c->name);
    cr_assert(path.count == STEPS * SIZE, "%s: not in the file", c->name);
    double worst = 0;
    for (int s = 0; s < STEPS; s++) {
        char name[64];
        snprintf(name, sizeof name, "%s, step %d", c->name, s + 1);
        tarn_backward(squared_distance(r, g, p, s));
        tarn_optimizer_step(o);
        cr_assert(tarn_step(r) == TARN_OK, "%s: %s", name, tarn_error(r));
        worst = fmax(worst, expect_within(name, p, (const float *)path.data + SIZE * s, SIZE,
                                          limit_after(c->method, s + 1)));
    }
    printf("%s: worst error / limit %.3f\n", c->name, worst);
    tarn_close(r);
}

Test(golden_optim, trajectories, .timeout = 600)
{
    struct golden *g = golden_open("optim.safetensors");
    cr_assert(g != NULL);
    for (int i = 0; i < COUNT(cases); i++)
        check_optimizer(g, &cases[i]);
    golden_close(g);
}

/* A pile of two matrices: means over rows and columns of each. */
Test(golden_optim, adafactor_of_matrices, .timeout = 600)
{
    struct golden *g = golden_open("optim.safetensors");
    cr_assert(g != NULL);
    tarn_replica *r = tarn_open(NULL);
    cr_assert(r != NULL, "%s", tarn_error(NULL));
    const tarn_shape shape = TARN_SHAPE(2, 3, 4);
    const tarn_tensor p = tarn_parameter(r, "p", shape, get(g, "matrices.start").data);
    tarn_optimizer *o = tarn_adafactor(
        r, (tarn_adafactor_options){ .lr = 0.25f, .d = 1.25f, .weight_decay = 0.125f });
    cr_assert(o != NULL, "%s", tarn_error(r));
    const float *target = get(g, "matrices.target").data;
    const float *path = get(g, "adafactor_matrices.path").data;
    for (int s = 0; s < STEPS; s++) {
        const tarn_tensor d = tarn_sub(p, tarn_from(r, shape, TARN_F32, target + 24 * s));
        tarn_backward(tarn_sum(tarn_mul(d, d), TARN_ALL, false));
        tarn_optimizer_step(o);
        cr_assert(tarn_step(r) == TARN_OK, "%s", tarn_error(r));
        printf("adafactor of matrices: worst error / limit %.3f\n",
               expect_within("matrices", p, path + 24 * s, 24, limit_after(ADAFACTOR, s + 1)));
    }
    tarn_close(r);
    golden_close(g);
}

/* The norm: a sum of 7 squares of values after 3 roundings, halved by the root: below 16 u of
 * itself, which is at most 12 sqrt(7) < 32. The clipped gradient is at most 1, after that division
 * and its own roundings. */
Test(golden_optim, clipping, .timeout = 600)
{
    struct golden *g = golden_open("optim.safetensors");
    cr_assert(g != NULL);
    tarn_replica *r = tarn_open(NULL);
    cr_assert(r != NULL, "%s", tarn_error(NULL));
    const tarn_tensor p = tarn_parameter(r, "p", TARN_SHAPE(SIZE), get(g, "start").data);
    tarn_backward(squared_distance(r, g, p, 0));
    const tarn_tensor norm = tarn_clip_grad_norm(r, 1);
    expect_within("norm", norm, get(g, "clip.norm").data, 1, 2 * 16 * 32 * UNIT);
    expect_within("clipped", tarn_grad(p), get(g, "clip.grad").data, SIZE, 2 * 32 * UNIT);
    tarn_close(r);
    golden_close(g);
}

/* ---- running statistics --------------------------------------------------------------------- */

/* Means of 80 values below 2, and of squares of deviations below 4: gamma(84) of 2 and of 16, in
 * both libraries; the evaluation divides by a deviation above 0.9 and subtracts at most 4. */
Test(golden_optim, running_statistics, .timeout = 600)
{
    enum { ELEMENTS = 5 * 3 * 4 * 4 };
    struct golden *g = golden_open("optim.safetensors");
    cr_assert(g != NULL);
    tarn_replica *r = tarn_open(NULL);
    cr_assert(r != NULL, "%s", tarn_error(NULL));
    const tarn_batch_norm bn = tarn_batch_norm_make(r, "bn", 3);
    const float *x = get(g, "bn.x").data;
    for (int s = 0; s < 3; s++) {
        const tarn_tensor in = tarn_from(r, TARN_SHAPE(5, 3, 4, 4), TARN_F32, x + ELEMENTS * s);
        const tarn_tensor y = tarn_keep(tarn_batch_norm_forward(&bn, in));
        cr_assert(tarn_step(r) == TARN_OK, "%s", tarn_error(r));
        tarn_drop(y);
    }
    const double sum = 2 * 84 * UNIT;
    expect_within("running mean", bn.running_mean, get(g, "bn.mean").data, 3, 2 * sum);
    expect_within("running variance", bn.running_var, get(g, "bn.var").data, 3, 16 * sum);
    int32_t tracked = 0;
    cr_assert(tarn_read(bn.num_batches_tracked, &tracked, sizeof tracked) == TARN_OK);
    cr_expect(tracked == 3, "%d batches tracked, should be 3", tracked);
    tarn_train(r, false);
    const tarn_tensor last = tarn_from(r, TARN_SHAPE(5, 3, 4, 4), TARN_F32, x + ELEMENTS * 3);
    expect_within("evaluation", tarn_batch_norm_forward(&bn, last), get(g, "bn.y").data, ELEMENTS,
                  4 * 16 * sum);
    tarn_close(r);
    golden_close(g);
}
