/* SPDX-License-Identifier: Apache-2.0 */
/* Parameter groups, frozen parameters, several optimizers and averages of weights: what they touch,
 * what they leave, what is refused, and that all of it resumes bit for bit. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tensor/replica.h"
#include "tarn.h"

TestSuite(groups, .timeout = 1200);

enum { SIZE = 20, RULES = 8 };

static const char *const names[] = { "body.weight", "body.bias", "head.weight", "head.bias" };
enum { COUNT = sizeof names / sizeof *names };

/* Four parameters, the weights being matrices. */
static tarn_replica *open_four(void)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    for (int k = 0; k < COUNT; k++) {
        float start[SIZE];
        for (int i = 0; i < SIZE; i++)
            start[i] = (float)((i * 7 + k * 3) % 11) / 11 - 0.5f;
        (void)tarn_parameter(r, names[k], k % 2 == 0 ? TARN_SHAPE(4, 5) : TARN_SHAPE(7), start);
    }
    return r;
}

static tarn_tensor distance(tarn_replica *r, const char *name, float from)
{
    const tarn_tensor d = tarn_add_scalar(tarn_find(r, name), from);
    return tarn_sum(tarn_mul(d, d), TARN_ALL, false);
}

static tarn_tensor loss_of(tarn_replica *r)
{
    tarn_tensor loss = tarn_full(r, TARN_SCALAR, 0);
    for (int k = 0; k < COUNT; k++)
        loss = tarn_add(loss, distance(r, names[k], (float)(k + 1)));
    return loss;
}

static void step(tarn_replica *r)
{
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
}

static void train(tarn_replica *r, tarn_optimizer *o)
{
    tarn_backward(loss_of(r));
    tarn_optimizer_step(o);
    step(r);
}

static void fetch(tarn_replica *r, const char *name, float out[SIZE])
{
    const tarn_tensor t = tarn_find(r, name);
    memset(out, 0, SIZE * sizeof *out);
    cr_assert_eq(tarn_read(t, out, (size_t)tarn_shape_count(tarn_shape_get(t)) * sizeof *out),
                 TARN_OK, "%s: %s", name, tarn_error(r));
}

static bool same(tarn_replica *r, const char *name, const float before[SIZE])
{
    float now[SIZE];
    fetch(r, name, now);
    return memcmp(now, before, sizeof now) == 0;
}

static void expect_refused(tarn_replica *r, tarn_status status, const char *text)
{
    cr_expect_eq(tarn_error_status(r), status, "%s: %s", text, tarn_error(r));
    cr_expect_not_null(strstr(tarn_error(r), text), "%s", tarn_error(r));
    cr_expect_null(strchr(tarn_error(r), '\n'));
    tarn_error_clear(r);
}

static tarn_optimizer *make(tarn_replica *r, int rule, const char *parameters)
{
    tarn_adam_options adam = { .weight_decay = 0.125f, .parameters = parameters };
    switch (rule) {
    case 0:
        return tarn_sgd(r, (tarn_sgd_options){ .lr = 0.0625f,
                                               .momentum = 0.5f,
                                               .dampening = 0.25f,
                                               .weight_decay = 0.125f,
                                               .parameters = parameters });
    case 1:
        return tarn_adam(r, adam);
    case 2:
        return tarn_adamw(r, adam);
    case 3:
        return tarn_rmsprop(
            r, (tarn_rmsprop_options){ .weight_decay = 0.125f, .parameters = parameters });
    case 4:
        return tarn_rmsprop(r, (tarn_rmsprop_options){
                                   .centered = true, .momentum = 0.5f, .parameters = parameters });
    case 5:
        return tarn_lion(r,
                         (tarn_lion_options){ .weight_decay = 0.125f, .parameters = parameters });
    case 6:
        adam.amsgrad = true;
        return tarn_adam(r, adam);
    default:
        return tarn_adafactor(
            r, (tarn_adafactor_options){ .weight_decay = 0.125f, .parameters = parameters });
    }
}

/* ---- frozen parameters ---------------------------------------------------------------------- */

Test(groups, frozen_parameters_change_no_byte)
{
    for (int rule = 0; rule < RULES; rule++) {
        tarn_replica *r = open_four();
        float before[COUNT][SIZE];
        tarn_optimizer *o = make(r, rule, NULL);
        tarn_optimizer_average(o, 0.5f);
        train(r, o); /* with state of all */
        for (int k = 0; k < COUNT; k++)
            fetch(r, names[k], before[k]);
        tarn_freeze(r, "body.*", true);
        tarn_optimizer_scale_lr(o, "*.bias", 0.5f);
        for (int i = 0; i < 3; i++) {
            tarn_backward(loss_of(r));
            cr_expect(tarn_failed(tarn_grad(tarn_find(r, names[0]))), "a gradient");
            tarn_clip_grad_norm(r, 1.0f);
            tarn_optimizer_step(o);
            step(r);
        }
        for (int k = 0; k < COUNT; k++)
            cr_expect_eq(same(r, names[k], before[k]), k < 2, "rule %d, %s", rule, names[k]);
        tarn_freeze(r, "body.bias", false);
        train(r, o);
        cr_expect(same(r, names[0], before[0]) && !same(r, names[1], before[1]), "rule %d", rule);
        tarn_close(r);
    }
}

static uint32_t nodes_of_backward(tarn_replica *r)
{
    const tarn_tensor loss = loss_of(r);
    const uint32_t before = r->graph.count;
    tarn_backward(loss);
    const uint32_t after = r->graph.count;
    step(r);
    return after - before;
}

Test(groups, frozen_parameters_cost_no_gradient)
{
    tarn_replica *r = open_four();
    const uint32_t all = nodes_of_backward(r);
    tarn_freeze(r, "body.*,head.bias", true);
    const uint32_t one = nodes_of_backward(r);
    cr_expect(one <= all / 3, "%u nodes, of all four %u", (unsigned)one, (unsigned)all);
    tarn_freeze(r, NULL, true);
    tarn_backward(loss_of(r));
    expect_refused(r, TARN_ERR_ARGUMENT, "depends on no parameter");
    tarn_close(r);
}

Test(groups, freezing_is_refused_where_it_would_come_late)
{
    tarn_replica *r = open_four();
    tarn_optimizer *o = make(r, 0, NULL);
    (void)loss_of(r);
    tarn_freeze(r, "body.*", true);
    expect_refused(r, TARN_ERR_STATE, "freeze: body.weight was used in this step");
    tarn_backward(loss_of(r));
    tarn_optimizer_accumulate(o);
    step(r);
    tarn_freeze(r, "head.bias", true);
    expect_refused(r, TARN_ERR_STATE, "freeze: head.bias has an accumulated gradient");
    tarn_freeze(r, "tail.*", true);
    expect_refused(r, TARN_ERR_ARGUMENT, "\"tail.*\"");
    tarn_close(r);
}

/* ---- settings ------------------------------------------------------------------------------- */

Test(groups, patterns)
{
    static const struct {
        const char *pattern;
        unsigned found; /* bit k: names[k] */
    } cases[] = {
        { NULL, 15 },           { "*", 15 },
        { "body.*", 3 },        { "*.bias", 10 },
        { "*.bias,body*", 11 }, { "head.weight,head.bias", 12 },
        { "*e*.*t*", 4 },       { "b*s", 2 },
        { "*d*d*", 0 },         { "", 0 },
        { "body", 0 },          { "ody.*", 0 },
        { "x,*y.b*,z", 2 },     { "**bias", 10 },
    };
    tarn_replica *r = open_four();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned found = 0;
        tarn_freeze(r, NULL, false);
        tarn_freeze(r, cases[i].pattern, true);
        tarn_error_clear(r);
        for (int k = 0; k < COUNT; k++)
            found |= owned_of(tarn_find(r, names[k]))->frozen ? 1u << k : 0;
        cr_expect_eq(found, cases[i].found, "\"%s\": %#x", cases[i].pattern ? cases[i].pattern : "",
                     found);
    }
    tarn_close(r);
}

Test(groups, settings_compile_once_and_are_checked)
{
    tarn_replica *r = open_four();
    tarn_optimizer *o = make(r, 0, NULL);
    tarn_optimizer_scale_lr(o, "body.*", 0.5f);
    train(r, o);
    train(r, o);
    const uint64_t plans = tarn_metrics_get(r).plans_compiled;
    tarn_optimizer_scale_lr(o, "head.*", 0.25f);
    tarn_optimizer_set_lr(o, 0.125f);
    train(r, o);
    cr_expect_eq(tarn_metrics_get(r).plans_compiled, plans);
    tarn_optimizer_scale_lr(o, "tail.*", 1);
    expect_refused(r, TARN_ERR_ARGUMENT,
                   "none of its parameters has a name that matches \"tail.*\"");
    tarn_optimizer_set_weight_decay(o, "*", -1);
    expect_refused(r, TARN_ERR_ARGUMENT, "weight_decay is -1");
    tarn_backward(loss_of(r));
    tarn_optimizer_step(o);
    tarn_optimizer_scale_lr(o, "*", 1);
    expect_refused(r, TARN_ERR_STATE, "call tarn_step() before");
    tarn_optimizer_scale_lr(NULL, "*", 1);
    tarn_optimizer_set_weight_decay(NULL, "*", 1);
    tarn_close(r);
}

/* A factor of 0 is no step at all, and no decay. */
Test(groups, a_factor_of_zero_moves_nothing)
{
    for (int rule = 0; rule < RULES; rule++) {
        tarn_replica *r = open_four();
        float before[SIZE];
        tarn_optimizer *o = make(r, rule, NULL);
        tarn_optimizer_scale_lr(o, "head.*", 0);
        fetch(r, names[2], before);
        train(r, o);
        cr_expect(same(r, names[2], before), "rule %d", rule);
        tarn_close(r);
    }
}

/* ---- several optimizers --------------------------------------------------------------------- */

Test(groups, a_parameter_has_one_optimizer)
{
    tarn_replica *r = open_four();
    tarn_optimizer *body = make(r, 1, "body.*");
    cr_assert_not_null(body);
    cr_expect_null(make(r, 0, "*.bias"));
    expect_refused(r, TARN_ERR_STATE, "sgd: parameter body.bias has an optimizer already (adam)");
    cr_expect_null(make(r, 0, "tail.*"));
    expect_refused(r, TARN_ERR_ARGUMENT, "\"tail.*\"");
    cr_expect_not_null(make(r, 3, "head.*"));
    train(r, body); /* a gradient that nobody takes is dropped */
    (void)tarn_parameter(r, "body.late", TARN_SHAPE(3), NULL);
    tarn_backward(loss_of(r));
    tarn_optimizer_step(body);
    expect_refused(r, TARN_ERR_STATE, "body.late was made after the optimizer");
    tarn_close(r);
}

/* Each loss has both networks in it. What one optimizer does is what it does alone, with the other
 * network held fast. */
Test(groups, losses_of_two_optimizers_do_not_meet)
{
    float together[COUNT][SIZE], apart[SIZE];
    for (int only = -1; only < 2; only++) {
        tarn_replica *r = open_four();
        tarn_optimizer *o[2] = { make(r, 1, "body.*"), make(r, 6, "head.*") };
        const tarn_tensor product = tarn_mul(tarn_find(r, names[0]), tarn_find(r, names[2]));
        const tarn_tensor sum = tarn_sum(product, TARN_ALL, false);
        for (int k = 0; k < 2; k++) {
            if (only >= 0 && only != k)
                continue;
            const tarn_tensor own = distance(r, names[2 * k], 1),
                              other = tarn_find(r, names[2 - 2 * k]);
            tarn_optimizer_backward(o[k], tarn_add(sum, own));
            cr_expect(k > 0 || tarn_failed(tarn_grad(other)), "the other's gradient");
            tarn_optimizer_step(o[k]);
        }
        step(r);
        for (int k = 0; k < COUNT; k++) {
            fetch(r, names[k], only < 0 ? together[k] : apart);
            if (only == k / 2)
                cr_expect_eq(memcmp(apart, together[k], sizeof apart), 0, "%s", names[k]);
        }
        tarn_optimizer_backward(o[0], distance(r, names[2], 1));
        expect_refused(r, TARN_ERR_ARGUMENT, "depends on no parameter of this optimizer");
        tarn_close(r);
    }
}

Test(groups, clipping_of_one_and_of_all)
{
    tarn_replica *r = open_four();
    tarn_optimizer *body = make(r, 0, "body.*"), *head = make(r, 0, "head.*");
    for (int kept = 0; kept < 2; kept++) {
        for (int k = 0; k < COUNT && kept; k++)
            tarn_backward(tarn_mul_scalar(tarn_sum(tarn_find(r, names[k]), TARN_ALL, false), 1));
        if (kept) {
            tarn_optimizer_accumulate(body);
            step(r);
        }
        tarn_backward(tarn_mul_scalar(tarn_sum(tarn_find(r, names[1]), TARN_ALL, false), 3));
        tarn_backward(tarn_mul_scalar(tarn_sum(tarn_find(r, names[3]), TARN_ALL, false), 4));
        /* body.bias has 7 gradients of 3, or 4 of which 1 was kept, and then body.weight 20 of 1 */
        const double b = kept ? 7 * 16 + 20 : 7 * 9, h = 7 * 16;
        const float all = tarn_item(tarn_clip_grad_norm(r, INFINITY));
        const float one = tarn_item(tarn_optimizer_clip_grad_norm(head, 1.0f));
        const float rest = tarn_item(tarn_optimizer_clip_grad_norm(body, INFINITY));
        cr_expect_float_eq(all, sqrt(b + h), 1e-5, "all: %g", (double)all);
        cr_expect_float_eq(one, sqrt(h), 1e-5, "one: %g", (double)one);
        cr_expect_float_eq(rest, sqrt(b), 1e-5, "the other is not scaled: %g", (double)rest);
        tarn_optimizer_step(body);
        tarn_optimizer_step(head);
        step(r);
    }
    cr_expect(tarn_failed(tarn_optimizer_clip_grad_norm(NULL, 1)));
    tarn_close(r);
}

Test(groups, a_nan_stops_one_of_two)
{
    tarn_replica *r = open_four();
    tarn_optimizer *body = make(r, 1, "body.*"), *head = make(r, 1, "head.*");
    float before[COUNT][SIZE], mean[SIZE];
    tarn_optimizer_average(body, 0.5f);
    tarn_optimizer_average(head, 0.5f);
    tarn_backward(loss_of(r));
    tarn_optimizer_step(body);
    step(r);
    for (int k = 0; k < COUNT; k++)
        fetch(r, names[k], before[k]);
    fetch(r, "optimizer.average.body.bias", mean);
    tarn_backward(tarn_mul(loss_of(r), tarn_number(r, 1)));
    tarn_backward(tarn_mul(distance(r, names[0], 1), tarn_number(r, NAN)));
    tarn_optimizer_step(body);
    tarn_optimizer_step(head);
    step(r);
    cr_expect_eq(tarn_wait(r), TARN_ERR_NOT_FINITE);
    tarn_error_clear(r);
    for (int k = 0; k < COUNT; k++)
        cr_expect_eq(same(r, names[k], before[k]), k < 2, "%s", names[k]);
    cr_expect(same(r, "optimizer.average.body.bias", mean));
    tarn_close(r);
}

/* ---- averages ------------------------------------------------------------------------------- */

Test(groups, averages_are_swapped_in_and_out)
{
    tarn_replica *r = open_four();
    tarn_optimizer *o = make(r, 2, NULL);
    tarn_optimizer_swap_average(o);
    expect_refused(r, TARN_ERR_STATE, "there are no averages");
    tarn_optimizer_average(o, 1.0f);
    expect_refused(r, TARN_ERR_ARGUMENT, "the averages' decay is 1");
    tarn_optimizer_average(o, 0.75f);
    train(r, o);
    train(r, o);
    float weight[SIZE], mean[SIZE];
    fetch(r, names[0], weight);
    fetch(r, "optimizer.average.body.weight", mean);
    cr_expect_neq(memcmp(weight, mean, sizeof mean), 0);
    for (int twice = 0; twice < 2; twice++) {
        tarn_optimizer_swap_average(o);
        cr_expect(same(r, names[0], twice ? weight : mean), "in the same step");
        tarn_backward(loss_of(r));
        if (!twice) {
            tarn_optimizer_step(o);
            expect_refused(r, TARN_ERR_STATE, "the averages stand where the parameters do");
            cr_expect(same(r, names[0], weight), "of a step that failed nothing is left");
            tarn_optimizer_swap_average(o);
        }
        step(r);
        cr_expect(same(r, names[0], twice ? weight : mean), "after it");
    }
    train(r, o);
    tarn_close(r);
}

/* ---- files ---------------------------------------------------------------------------------- */

static void save(tarn_replica *r, char path[64], const char *name)
{
    snprintf(path, 64, "/tmp/tarn-groups-test-%ld-%s", (long)getpid(), name);
    cr_assert_eq(tarn_save(r, path, (tarn_progress){ 0 }), TARN_OK, "%s", tarn_error(r));
}

static bool equal_files(const char *a, const char *b)
{
    FILE *f = fopen(a, "rb"), *g = fopen(b, "rb");
    cr_assert(f != NULL && g != NULL);
    int x, y;
    do {
        x = fgetc(f);
        y = fgetc(g);
    } while (x == y && x != EOF);
    (void)fclose(f);
    (void)fclose(g);
    return x == y;
}

/* Two optimizers of different kinds with groups and averages, from a file or from the start. */
static void run(int rule, const char *from, int first, int last, char path[64], const char *name)
{
    tarn_replica *r = open_four();
    tarn_optimizer *o[2] = { make(r, rule, "body.*"), make(r, (rule + 1) % RULES, "head.*") };
    for (int k = 0; k < 2; k++) {
        cr_assert_not_null(o[k], "%s", tarn_error(r));
        tarn_optimizer_scale_lr(o[k], "*.weight", 0.5f);
        tarn_optimizer_set_weight_decay(o[k], "*.bias", 0);
        tarn_optimizer_average(o[k], 0.75f);
    }
    if (from != NULL)
        cr_assert_eq(tarn_load(r, from, NULL), TARN_OK, "%s", tarn_error(r));
    for (int s = first; s < last; s++) {
        tarn_optimizer_backward(o[s % 2], loss_of(r));
        tarn_optimizer_backward(o[0], distance(r, names[s % 3 ? 0 : 1], 1));
        tarn_optimizer_step(o[0]);
        if (s % 2)
            tarn_optimizer_step(o[1]);
        step(r);
    }
    save(r, path, name);
    tarn_close(r);
}

Test(groups, all_of_it_resumes_byte_for_byte)
{
    for (int rule = 0; rule < RULES; rule++) {
        char whole[64], half[64], rest[64];
        run(rule, NULL, 0, 6, whole, "whole");
        run(rule, NULL, 0, 3, half, "half");
        run(rule, half, 3, 6, rest, "rest");
        cr_expect(equal_files(whole, rest), "rule %d", rule);
        cr_expect(!equal_files(whole, half), "rule %d", rule);
        (void)unlink(whole);
        (void)unlink(half);
        (void)unlink(rest);
    }
}

Test(groups, files_of_other_optimizers_are_refused)
{
    char path[64];
    tarn_replica *r = open_four();
    train(r, make(r, 1, NULL));
    save(r, path, "adam");
    tarn_close(r);
    r = open_four();
    (void)make(r, RULES - 1, NULL); /* Adafactor */
    cr_expect_eq(tarn_load(r, path, NULL), TARN_ERR_MISMATCH);
    expect_refused(r, TARN_ERR_MISMATCH, "optimizer.row_var.body.weight is missing");
    tarn_close(r);
    /* Weights alone make averages begin anew. */
    r = open_four();
    save(r, path, "plain");
    tarn_close(r);
    r = open_four();
    tarn_optimizer *o = make(r, 1, NULL);
    tarn_optimizer_average(o, 0.5f);
    train(r, o);
    cr_expect_eq(tarn_load(r, path, NULL), TARN_OK, "%s", tarn_error(r));
    float weight[SIZE];
    fetch(r, names[0], weight);
    cr_expect(same(r, "optimizer.average.body.weight", weight));
    (void)unlink(path);
    snprintf(path, sizeof path, "/tmp/tarn-groups-test-%ld-adam", (long)getpid());
    (void)unlink(path);
    tarn_close(r);
}
