/* SPDX-License-Identifier: Apache-2.0 */
/* Optimizers in every order of calls: against a reference in double that has PyTorch's .grad, and
 * that against PyTorch. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden.h"
#include "optim_oracle.h"

TestSuite(optim, .timeout = 600);

static const double unit = 1.0 / (1 << 24);
static char path[64];

static void save(tarn_replica *r)
{
    snprintf(path, sizeof path, "/tmp/tarn-optim-test-%ld", (long)getpid());
    cr_assert_eq(tarn_save(r, path, (tarn_progress){ 0 }), TARN_OK, "%s", tarn_error(r));
}

static void load(tarn_replica *r, const char *file)
{
    cr_assert_eq(tarn_load(r, file, NULL), TARN_OK, "%s", tarn_error(r));
}

static void step(tarn_replica *r)
{
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
}

#define LR .lr = 0.0625
#define BETAS .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8
static const struct oracle_rule sgd = { "sgd", ORACLE_SGD, LR, .momentum = 0.5 };
static const struct oracle_rule dampened = { "sgd_dampening", ORACLE_SGD, LR, .momentum = 0.5,
                                             .dampening = 0.25 };
static const struct oracle_rule adam = { "adam", ORACLE_ADAM, LR, BETAS };
static const struct oracle_rule adam_decay = { "adam_decay", ORACLE_ADAM, LR, BETAS,
                                               .decay = 0.125 };
static const struct oracle_rule adamw = { "adamw", ORACLE_ADAMW, LR, BETAS, .decay = 0.125 };

/* ---- random sequences ----------------------------------------------------------------------- */

static void check_sequences(const struct oracle_rule *rule, uint64_t count)
{
    struct oracle_replica a;
    tarn_replica *r = tarn_open(NULL);
    cr_assert(r && oracle_make(&a, r, rule), "%s", tarn_error(r));
    save(r);
    for (uint64_t seed = 0; seed < count; seed++) {
        char why[600];
        cr_assert(oracle_sequence(&a, rule, path, seed, why, sizeof why), "%s", why);
    }
    (void)unlink(path);
    printf("%s: %llu sequences, %llu plans\n", rule->name, (unsigned long long)count,
           (unsigned long long)tarn_metrics_get(r).plans_compiled);
    tarn_close(r);
}

Test(optim, sequences_of_sgd)
{
    check_sequences(&sgd, 200);
}

Test(optim, sequences_of_sgd_with_dampening)
{
    check_sequences(&dampened, 100);
}

Test(optim, sequences_of_adam)
{
    check_sequences(&adam, 100);
}

/* ---- PyTorch -------------------------------------------------------------------------------- */

/* As in test/golden/generate_calls.py. */
static const char *const calls[] = { "as",  "as",  "cs", "bs", "cu",   "as",
                                     "cks", "cks", "au", "bs", "ckas", "cs" };
enum { CALLS = sizeof calls / sizeof *calls, VALUES = 3 + 18 + 1 };

static void check_calls(const struct golden *g, const struct oracle_rule *rule)
{
    struct oracle o;
    struct oracle_replica a;
    tarn_replica *r = tarn_open(NULL);
    cr_assert(r && oracle_make(&a, r, rule), "%s", tarn_error(r));
    oracle_begin(&o, rule);
    const struct golden_tensor want = golden_find(g, "%s", rule->name);
    cr_assert_eq(want.count, (size_t)(CALLS * VALUES), "%s: not in the file", rule->name);
    const float *at = want.data;
    for (int s = 0; s < CALLS; s++) {
        for (const char *c = calls[s]; *c; c++)
            oracle_call(&a, &o, *c, ldexp(1, s % 3 - 1));
        step(r);
        for (int k = 0; k < ORACLE_PARAMETERS; k++) {
            float got[ORACLE_MOST];
            cr_assert_eq(tarn_read(a.p[k], got, (size_t)oracle_size(k) * sizeof(float)), TARN_OK);
            for (int i = 0; i < oracle_size(k); i++, at++) {
                cr_expect(fabs(o.p[k].value[i] - *at) <= fabs(*at) * unit,
                          "%s, step %d, reference: %.9g, PyTorch has %.9g", rule->name, s,
                          o.p[k].value[i], (double)*at);
                cr_expect(fabs((double)got[i] - *at) <= oracle_limit(rule, s),
                          "%s, step %d, parameter %d: %.9g, PyTorch has %.9g", rule->name, s, k,
                          (double)got[i], (double)*at);
            }
        }
    }
    tarn_close(r);
}

Test(optim, counts_and_gradients_as_pytorch)
{
    struct golden *g = golden_open("calls.safetensors");
    cr_assert_not_null(g);
    check_calls(g, &sgd);
    check_calls(g, &dampened);
    check_calls(g, &adam);
    check_calls(g, &adam_decay);
    check_calls(g, &adamw);
    golden_close(g);
}

static void expect_rate(const struct golden *g, const char *name, int i, float got)
{
    const float want = ((const float *)golden_find(g, "%s", name).data)[i];
    cr_expect(fabsf(got - want) <= 1e-7f * want, "%s, step %d: %.9g, PyTorch has %.9g", name, i,
              (double)got, (double)want);
}

Test(optim, learning_rates_as_pytorch)
{
    struct golden *g = golden_open("calls.safetensors");
    cr_assert(g && golden_find(g, "lr_step").count == 9);
    for (int i = 0; i < 9; i++) {
        const uint64_t at = (uint64_t)i;
        expect_rate(g, "lr_step", i, tarn_lr_step(0.5f, at, 3, 0.25f));
        expect_rate(g, "lr_cosine", i, tarn_lr_cosine(0.5f, at, 8, 0.125f));
        expect_rate(g, "lr_warmup", i, tarn_lr_warmup(0.5f, at, 5));
        cr_expect_eq(tarn_lr_constant(0.5f, at), 0.5f);
    }
    cr_expect_eq(tarn_lr_cosine(0.5f, 1000, 8, 0.125f), 0.125f, "after the last step");
    cr_expect_eq(tarn_lr_cosine(0.5f, 0, 0, 0.125f), 0.125f, "over no steps");
    cr_expect_eq(tarn_lr_step(0.5f, 7, 0, 0.25f), 0.5f, "every 0 steps");
    cr_expect_eq(tarn_lr_warmup(0.5f, 0, 0), 0.5f, "warm from the start");
    golden_close(g);
}

/* ---- accumulation, case by case: SGD of rate 1, gradients of 1 for each backward ------------ */

struct plain {
    tarn_replica *r;
    tarn_tensor a, b;
    tarn_optimizer *o;
};

static struct plain open_plain(void)
{
    const float one = 1;
    struct plain p = { .r = tarn_open(NULL) };
    cr_assert_not_null(p.r, "%s", tarn_error(NULL));
    p.a = tarn_parameter(p.r, "a", TARN_SHAPE(1), &one);
    p.b = tarn_parameter(p.r, "b", TARN_SHAPE(1), &one);
    p.o = tarn_sgd(p.r, (tarn_sgd_options){ .lr = 1 });
    return p;
}

static void backward(tarn_tensor p, float times)
{
    tarn_backward(tarn_sum(tarn_mul(p, tarn_number(p.replica, times)), TARN_ALL, false));
}

static void expect(tarn_tensor t, float want, const char *what)
{
    const float got = tarn_item(t);
    cr_expect(got == want, "%s: %.9g, not %.9g", what, (double)got, (double)want);
}

Test(optim, keeps_what_the_last_part_has_no_gradient_of)
{
    struct plain p = open_plain();
    backward(tarn_add(p.a, p.b), 1);
    tarn_optimizer_accumulate(p.o);
    step(p.r);
    backward(p.a, 1);
    tarn_optimizer_step(p.o);
    step(p.r);
    expect(p.a, -1, "in both parts");
    expect(p.b, 0, "in the first part alone");
    backward(p.a, 1);
    tarn_optimizer_step(p.o);
    step(p.r);
    expect(p.b, 0, "kept for one step");
    tarn_close(p.r);
}

Test(optim, uses_what_was_accumulated_without_a_backward)
{
    struct plain p = open_plain();
    backward(p.a, 1);
    tarn_optimizer_accumulate(p.o);
    step(p.r);
    step(p.r);
    tarn_optimizer_step(p.o);
    step(p.r);
    expect(p.a, 0, "one gradient");
    tarn_optimizer_step(p.o);
    cr_expect_eq(tarn_step(p.r), TARN_ERR_STATE, "no gradient is left");
    cr_expect_not_null(strstr(tarn_error(p.r), "no parameter has a gradient"));
    tarn_close(p.r);
}

Test(optim, clips_every_part_once)
{
    struct plain p = open_plain();
    for (int i = 0; i < 3; i++) {
        backward(p.a, 1);
        expect(tarn_clip_grad_norm(p.r, 1000), (float)(i + 1), "norm of all parts so far");
        if (i < 2)
            tarn_optimizer_accumulate(p.o);
        else
            tarn_optimizer_step(p.o);
        step(p.r);
    }
    expect(p.a, -2, "three parts");
    tarn_close(p.r);
}

Test(optim, backward_after_clip_adds)
{
    struct plain p = open_plain();
    for (int kept = 0; kept < 2; kept++) {
        if (kept) {
            backward(p.a, 2);
            tarn_optimizer_accumulate(p.o);
            step(p.r);
        }
        const float before = tarn_item(p.a);
        backward(p.a, kept ? 2 : 4);
        expect(tarn_clip_grad_norm(p.r, 2), 4, "norm");
        const float clipped = tarn_item(tarn_grad(p.a));
        cr_expect(fabsf(clipped - 2) < 1e-6f, "%.9g after clipping", (double)clipped);
        backward(p.a, 5);
        expect(tarn_grad(p.a), clipped + 5, "gradient after both");
        tarn_optimizer_step(p.o);
        step(p.r);
        expect(p.a, before - (clipped + 5), "after the step");
    }
    tarn_close(p.r);
}

static void drop(tarn_replica *r, bool fails)
{
    if (fails) {
        (void)tarn_add(tarn_zeros(r, TARN_SHAPE(2)), tarn_zeros(r, TARN_SHAPE(3)));
        cr_expect_eq(tarn_step(r), TARN_ERR_SHAPE);
    }
    tarn_error_clear(r);
}

Test(optim, dropped_steps_leave_no_gradient)
{
    for (int fails = 0; fails < 2; fails++) {
        struct plain p = open_plain();
        backward(p.a, 1);
        tarn_optimizer_accumulate(p.o);
        step(p.r);
        backward(p.a, 1);
        tarn_optimizer_step(p.o);
        step(p.r);
        backward(p.a, 1);
        tarn_optimizer_accumulate(p.o);
        drop(p.r, fails);
        backward(p.a, 1);
        tarn_optimizer_step(p.o);
        step(p.r);
        expect(p.a, -2, fails ? "after a failure" : "after tarn_error_clear");
        tarn_close(p.r);
    }
}

Test(optim, dropped_steps_keep_what_was_accumulated)
{
    for (int fails = 0; fails < 2; fails++) {
        struct plain p = open_plain();
        backward(p.a, 1);
        tarn_optimizer_accumulate(p.o);
        step(p.r);
        for (int again = 0; again < 2; again++) {
            backward(p.a, 1);
            tarn_optimizer_step(p.o);
            if (!again)
                drop(p.r, fails);
        }
        step(p.r);
        expect(p.a, -1, fails ? "after a failure" : "after tarn_error_clear");
        tarn_close(p.r);
    }
}

Test(optim, counts_no_gradient_twice_in_a_step)
{
    struct plain p = open_plain();
    backward(p.a, 1);
    tarn_optimizer_accumulate(p.o);
    tarn_optimizer_step(p.o);
    step(p.r);
    expect(p.a, 0, "accumulated, and used in the same step");
    for (int i = 0; i < 2; i++) {
        backward(p.a, 1);
        tarn_optimizer_accumulate(p.o);
    }
    step(p.r);
    tarn_optimizer_step(p.o);
    step(p.r);
    expect(p.a, -2, "accumulated after each of two backwards");
    for (int i = 0; i < 2; i++) {
        backward(p.a, 1);
        tarn_optimizer_step(p.o);
    }
    expect(tarn_grad(p.a), 1, "gradient of the second");
    step(p.r);
    expect(p.a, -4, "two updates in a step");
    tarn_close(p.r);
}

Test(optim, loading_drops_what_was_accumulated)
{
    struct plain p = open_plain();
    save(p.r);
    backward(p.a, 1);
    tarn_optimizer_accumulate(p.o);
    step(p.r);
    load(p.r, path);
    backward(p.a, 1);
    tarn_optimizer_step(p.o);
    step(p.r);
    expect(p.a, 0, "one gradient");
    (void)unlink(path);
    tarn_close(p.r);
}

/* ---- settings ------------------------------------------------------------------------------- */

Test(optim, clip_at_infinity_measures)
{
    struct plain p = open_plain();
    backward(p.a, 3);
    backward(p.b, -4);
    expect(tarn_clip_grad_norm(p.r, INFINITY), 5, "norm");
    expect(tarn_grad(p.b), -4, "gradient");
    tarn_error_clear(p.r);
    static const float bad[] = { NAN, -1, -INFINITY };
    for (int i = 0; i < 3; i++) {
        backward(p.a, 3);
        cr_expect(tarn_failed(tarn_clip_grad_norm(p.r, bad[i])));
        cr_expect_eq(tarn_step(p.r), TARN_ERR_ARGUMENT, "%g", (double)bad[i]);
        cr_expect_not_null(strstr(tarn_error(p.r), "max_norm"));
        tarn_error_clear(p.r);
    }
    cr_expect(tarn_failed(tarn_clip_grad_norm(NULL, 1)));
    tarn_close(p.r);
}

/* Of all parts so far, to the bit; a NaN stays. */
Test(optim, clips_values)
{
    struct plain p = open_plain();
    backward(p.a, 3);
    tarn_optimizer_accumulate(p.o);
    step(p.r);
    backward(p.a, -0.5f);
    backward(p.b, -4);
    tarn_clip_grad_value(p.r, 2.25f);
    expect(tarn_grad(p.b), -2.25f, "limit");
    backward(p.a, 1);
    tarn_optimizer_step(p.o);
    step(p.r);
    expect(p.a, 1 - 3.25f, "the parts, and what came after");
    expect(p.b, 1 + 2.25f, "its step");
    backward(p.a, NAN);
    tarn_clip_grad_value(p.r, 1);
    cr_expect(isnan(tarn_item(tarn_grad(p.a))));
    step(p.r);
    static const float bad[] = { NAN, -1 };
    for (int i = 0; i < 3; i++) { /* the last time without a gradient */
        if (i < 2)
            backward(p.a, 3);
        tarn_clip_grad_value(p.r, i < 2 ? bad[i] : 1);
        cr_expect_eq(tarn_step(p.r), i < 2 ? TARN_ERR_ARGUMENT : TARN_ERR_STATE);
        cr_expect_not_null(strstr(tarn_error(p.r), "clip_grad_value: "), "%s", tarn_error(p.r));
        tarn_error_clear(p.r);
    }
    tarn_clip_grad_value(NULL, 1);
    tarn_close(p.r);
}

Test(optim, learning_rate_of_the_next_step)
{
    struct plain p = open_plain();
    cr_expect_eq(tarn_optimizer_lr(p.o), 1);
    cr_expect_eq(tarn_optimizer_lr(NULL), 0);
    uint64_t plans = 0;
    for (int i = 0; i < 3; i++) {
        const float before = tarn_item(p.a), lr = ldexpf(1, -i);
        tarn_optimizer_set_lr(p.o, lr);
        cr_expect_eq(tarn_optimizer_lr(p.o), lr);
        backward(p.a, 1);
        tarn_optimizer_step(p.o);
        step(p.r);
        expect(p.a, before - lr, "after the step");
        if (i > 0)
            cr_expect_eq(tarn_metrics_get(p.r).plans_compiled, plans, "compiled again");
        plans = tarn_metrics_get(p.r).plans_compiled;
    }
    static const float bad[] = { NAN, -1, INFINITY };
    for (int i = 0; i < 3; i++) {
        tarn_optimizer_set_lr(p.o, bad[i]);
        cr_expect_eq(tarn_error_status(p.r), TARN_ERR_ARGUMENT, "%g", (double)bad[i]);
        tarn_error_clear(p.r);
        cr_expect_eq(tarn_optimizer_lr(p.o), 0.25f);
    }
    tarn_close(p.r);
}

/* ---- counts --------------------------------------------------------------------------------- */

/* A step from no moments with a gradient of 1: all that is left is the correction for t. */
static double change_at(tarn_replica *r, tarn_optimizer *o, int32_t steps)
{
    const tarn_tensor p = tarn_find(r, "p"), count = tarn_find(r, "optimizer.step.p");
    const tarn_tensor zero = tarn_zeros(r, TARN_SHAPE(1));
    tarn_assign(count, tarn_reshape(tarn_from(r, TARN_SHAPE(1), TARN_I32, &steps), TARN_SCALAR));
    tarn_assign(p, zero);
    tarn_assign(tarn_find(r, "optimizer.exp_avg.p"), zero);
    tarn_assign(tarn_find(r, "optimizer.exp_avg_sq.p"), zero);
    step(r);
    tarn_backward(tarn_sum(p, TARN_ALL, false));
    tarn_optimizer_step(o);
    step(r);
    int32_t now = 0;
    cr_assert_eq(tarn_read(tarn_find(r, "optimizer.step.p"), &now, sizeof now), TARN_OK);
    cr_expect_eq(now, steps + 1);
    return -(double)tarn_item(p);
}

/* At most 14 roundings: three of each table's sum, the root, and 7 of the update. */
static void check_corrections(double beta1, double beta2)
{
    static const int32_t counts[] = { 0,       1,       2,         9,
                                      99,      1022,    1023,      1024,
                                      1025,    5000,    99999,     1048574,
                                      1048575, 1048576, 123456789, INT32_MAX - 1 };
    const float zero = 0;
    tarn_replica *r = tarn_open(NULL);
    (void)tarn_parameter(r, "p", TARN_SHAPE(1), &zero);
    tarn_optimizer *o =
        tarn_adam(r, (tarn_adam_options){
                         .lr = 0.5f, .beta1 = (float)beta1, .beta2 = (float)beta2, .eps = 1e-30f });
    cr_assert_not_null(o, "%s", tarn_error(r));
    double worst = 0;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const double t = (double)counts[i] + 1;
        const double c1 = -expm1(t * log(beta1)), c2 = -expm1(t * log(beta2));
        const double want = 0.5 / c1 * (1 - beta1) / (sqrt(1 - beta2) / sqrt(c2));
        const double error = fabs(change_at(r, o, counts[i]) / want - 1) / unit;
        cr_expect(error <= 14, "betas %g and %g, step %.0f: off by %.1f units", beta1, beta2, t,
                  error);
        worst = fmax(worst, error);
    }
    printf("betas %g and %g: at most %.2f units of 2^-24\n", beta1, beta2, worst);
    tarn_close(r);
}

Test(optim, corrections_of_any_step)
{
    check_corrections(0.9, 0.999);
    check_corrections(0.5, 0.9999999);
    check_corrections(0.999, 0.99999);
}

Test(optim, loads_files_with_one_count)
{
    /* Of version 0.1.0 after 5 steps; then what it computed in the next three. */
    static const float want[3][5] = {
        { 0.27159211f, 2.7284081f, 2.2715919f, -0.399309099f, -0.100690886f },
        { 0.148215339f, 2.85178494f, 2.14821506f, -0.278077543f, -0.221922457f },
        { 0.0234090015f, 2.97659135f, 2.02340865f, -0.155699879f, -0.344300121f },
    };
    tarn_replica *r = tarn_open(NULL);
    const tarn_tensor p = tarn_parameter(r, "p", TARN_SHAPE(3), NULL);
    const tarn_tensor q = tarn_parameter(r, "q", TARN_SHAPE(2), NULL);
    tarn_optimizer *o = tarn_adam(r, (tarn_adam_options){ .lr = 0.125f });
    load(r, TARN_GOLDEN_DIR "/adam_one_count.safetensors");
    for (int s = 0; s < 3; s++) {
        const float k = (float)(s + 6), g[3] = { k, -2 * k, 0.5f * k }, h[2] = { -1, 3 };
        const tarn_tensor a = tarn_mul(p, tarn_from(r, TARN_SHAPE(3), TARN_F32, g));
        const tarn_tensor b = tarn_mul(q, tarn_from(r, TARN_SHAPE(2), TARN_F32, h));
        tarn_backward(tarn_add(tarn_sum(a, TARN_ALL, false), tarn_sum(b, TARN_ALL, false)));
        tarn_optimizer_step(o);
        step(r);
        float got[5];
        cr_assert_eq(tarn_read(p, got, 3 * sizeof(float)), TARN_OK);
        cr_assert_eq(tarn_read(q, got + 3, 2 * sizeof(float)), TARN_OK);
        for (int i = 0; i < 5; i++)
            cr_expect(fabsf(got[i] - want[s][i]) <= 1e-6f, "step %d, value %d: %.9g, not %.9g", s,
                      i, (double)got[i], (double)want[s][i]);
    }
    tarn_close(r);
}

static void train(const struct oracle_replica *a, int first, int last)
{
    for (int s = first; s < last; s++) {
        oracle_replica_backward(a, s % 3 == 1 ? 1 : s % 3 == 2 ? 2 : 7, 1);
        tarn_optimizer_step(a->optimizer);
        step(a->r);
    }
}

static void read_all(const struct oracle_replica *a, float *out)
{
    for (int k = 0; k < ORACLE_PARAMETERS; k++, out += ORACLE_MOST)
        cr_assert_eq(tarn_read(a->p[k], out, (size_t)oracle_size(k) * sizeof(float)), TARN_OK);
}

/* What is saved after `first` steps by one rule goes on for `last` steps with another. */
static void resume(const struct oracle_rule *by, const struct oracle_rule *with, int first,
                   int last, float *out)
{
    struct oracle_replica a;
    tarn_replica *r = tarn_open(NULL);
    cr_assert(r && oracle_make(&a, r, by), "%s", tarn_error(r));
    train(&a, 0, first);
    save(r);
    tarn_close(r);
    r = tarn_open(NULL);
    cr_assert(r && oracle_make(&a, r, with), "%s", tarn_error(r));
    load(r, path);
    train(&a, first, last);
    read_all(&a, out);
    (void)unlink(path);
    tarn_close(r);
}

Test(optim, counts_are_saved)
{
    enum { ALL = ORACLE_PARAMETERS * ORACLE_MOST };
    static const struct oracle_rule *const rules[] = { &adam, &dampened };
    for (int i = 0; i < 2; i++) {
        float whole[ALL] = { 0 };
        resume(rules[i], rules[i], 0, 7, whole);
        for (int first = 5; first < 7; first++) { /* a part of the parameters comes next, or all */
            float resumed[ALL] = { 0 };
            resume(rules[i], rules[i], first, 7, resumed);
            cr_expect_eq(memcmp(whole, resumed, sizeof whole), 0, "%s", rules[i]->name);
        }
    }
    float ignored[ALL];
    resume(&dampened, &sgd, 2, 3, ignored); /* a rule that needs no counts */
    resume(&sgd, &dampened, 2, 3, ignored); /* a file that has one */
}

/* ---- layers --------------------------------------------------------------------------------- */

Test(optim, layers_use_their_options)
{
    tarn_replica *r = tarn_open(NULL);
    float x[2 * 4 * 7 * 6], got[2][2 * 6 * 3 * 4];
    for (int i = 0; i < 2 * 4 * 7 * 6; i++)
        x[i] = (float)(i * 37 % 64) / 64;
    const tarn_conv2d_options options = {
        .stride = { 3, 2 }, .padding = { 2, 1 }, .dilation = { 2, 1 }, .groups = 2
    };
    const tarn_conv2d layer = tarn_conv2d_make(r, "conv", 4, 6, 2, options);
    const tarn_tensor in = tarn_from(r, TARN_SHAPE(2, 4, 7, 6), TARN_F32, x);
    const tarn_tensor by_layer = tarn_conv2d_forward(&layer, in);
    const tarn_shape weight = tarn_shape_get(layer.weight), shape = tarn_shape_get(by_layer);
    cr_expect(weight.dim[0] == 6 && weight.dim[1] == 2 && weight.dim[2] == 2);
    /* (7 + 2 * 2 - 2 * (2 - 1) - 1) / 3 + 1 and (6 + 2 - 1 - 1) / 2 + 1 */
    cr_assert(shape.dim[2] == 3 && shape.dim[3] == 4, "%d x %d", shape.dim[2], shape.dim[3]);
    cr_assert_eq(tarn_read(by_layer, got[0], sizeof(got[0])), TARN_OK, "%s", tarn_error(r));
    const tarn_tensor by_op = tarn_conv2d_op(in, layer.weight, layer.bias, options);
    cr_assert_eq(tarn_read(by_op, got[1], sizeof(got[1])), TARN_OK, "%s", tarn_error(r));
    cr_expect_eq(memcmp(got[0], got[1], sizeof(got[0])), 0);
    tarn_close(r);
}
