/* SPDX-License-Identifier: Apache-2.0 */
/* Training in float64, of optimizers alone and of a network, against stored results of PyTorch in float64; a checkpoint
 * that goes on bit for bit; and what is refused. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "golden.h"
#include "tarn_file.h"
#include "tarn_nn.h"
#include "tarn_train.h"

TestSuite(golden_double, .timeout = 600);

#define COUNT(a) ((int)(sizeof a / sizeof((a)[0])))

enum { OPTIMIZER_STEPS = 5, SIZE = 7, STEPS = 6, BATCH = 8, MOST = 256 };

static const double UNIT = 0x1p-53;

static struct golden_tensor get(const struct golden *g, const char *name)
{
    const struct golden_tensor t = golden_find(g, "%s", name);
    cr_assert(t.data != NULL && (t.dtype == TARN_F64 || t.dtype == TARN_I64), "%s", name);
    return t;
}

/* The worst error as a part of an absolute limit. */
static double expect_within(const char *name, tarn_tensor t, const double *want, size_t count,
                            double limit)
{
    double got[MOST], worst = 0;
    cr_assert(count <= MOST, "%s: too large for this test", name);
    cr_expect_eq(tarn_dtype_get(t), TARN_F64, "%s", name);
    const tarn_status s = tarn_read(t, got, count * sizeof *got);
    cr_expect(s == TARN_OK, "%s: %s", name, tarn_error(t.replica));
    for (size_t i = 0; s == TARN_OK && i < count; i++) {
        const double error = fabs(got[i] - want[i]);
        cr_expect(error <= limit, "%s: element %zu is %.17g, PyTorch has %.17g (limit %.3g)", name,
                  i, got[i], want[i], limit);
        worst = fmax(worst, error / limit);
    }
    return worst;
}

/* ---- optimizers ----------------------------------------------------------------------------- */

static tarn_optimizer *make(tarn_replica *r, int which)
{
    switch (which) {
    case 0:
        return tarn_sgd(r,
                        (tarn_sgd_options){ .lr = 0.1f, .momentum = 0.9f, .weight_decay = 0.01f });
    case 1:
        return tarn_sgd(r, (tarn_sgd_options){ .lr = 0.1f, .momentum = 0.7f, .dampening = 0.3f });
    case 2:
        return tarn_adam(r, (tarn_adam_options){ .lr = 0.1f, .weight_decay = 0.01f });
    case 3:
        return tarn_adamw(
            r, (tarn_adam_options){
                   .lr = 0.1f, .beta1 = 0.8f, .beta2 = 0.9f, .eps = 1e-6f, .weight_decay = 0.3f });
    case 4:
        return tarn_rmsprop(r,
                            (tarn_rmsprop_options){
                                .lr = 0.01f, .alpha = 0.9f, .momentum = 0.3f, .centered = true });
    case 5:
        return tarn_lion(r, (tarn_lion_options){ .lr = 0.1f, .weight_decay = 0.3f });
    default:
        return tarn_adafactor(r, (tarn_adafactor_options){ .lr = 0.3f });
    }
}

/* As in golden_optim_test.c, whose counts of roundings these are: lr times the largest direction times its relative
 * error. 1 - beta^t is here a table of full precision, in PyTorch a difference: 1 / (1 - beta2) = 1000 units more. */
static const struct {
    const char *name;
    double way;
} rules[] = { { "sgd", 0.1 * 130 * 8 },
              { "dampened", 0.1 * 45 * 8 },
              { "adam", 0.1 * 2 * (40 * 4 + 1000) },
              { "adamw", 0.1 * 2 * (40 * 4 + 10) },
              { "rmsprop", 0.01 * 20 * 40 * 4 },
              { "lion", 0.1 * 2 },
              { "adafactor", 0.3 * 5 * 2 * 70 * 4 } };

static tarn_tensor squared_distance(tarn_replica *r, const struct golden *g, tarn_tensor p,
                                    int step)
{
    const double *target = get(g, "target").data;
    const tarn_tensor c = tarn_from(r, TARN_SHAPE(SIZE), TARN_F64, get(g, "curvature").data);
    const tarn_tensor t = tarn_from(r, TARN_SHAPE(SIZE), TARN_F64, target + SIZE * step);
    const tarn_tensor d = tarn_sub(p, t);
    return tarn_sum(tarn_mul(c, tarn_mul(d, d)), TARN_ALL, false);
}

static void check_rule(const struct golden *g, int which)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert(r != NULL, "%s", tarn_error(NULL));
    const tarn_tensor p =
        tarn_parameter_as(r, "p", TARN_SHAPE(SIZE), TARN_F64, get(g, "start").data);
    tarn_optimizer *o = make(r, which);
    cr_assert(o != NULL, "%s: %s", rules[which].name, tarn_error(r));
    char name[64];
    snprintf(name, sizeof name, "%s.path", rules[which].name);
    const double *path = get(g, name).data;
    double worst = 0;
    for (int s = 0; s < OPTIMIZER_STEPS; s++) {
        tarn_backward(squared_distance(r, g, p, s));
        tarn_optimizer_step(o);
        cr_assert(tarn_step(r) == TARN_OK, "%s: %s", name, tarn_error(r));
        const double limit = 2 * 2.5 * (s + 1) * (4 + rules[which].way) * UNIT;
        worst = fmax(worst, expect_within(name, p, path + SIZE * s, SIZE, limit));
    }
    printf("%s: worst error / limit %.3f\n", name, worst);
    tarn_close(r);
}

Test(golden_double, trajectories)
{
    struct golden *g = golden_open("double.safetensors");
    cr_assert(g != NULL);
    for (int i = 0; i < COUNT(rules); i++)
        check_rule(g, i);
    golden_close(g);
}

/* ---- a network ------------------------------------------------------------------------------ */

struct net {
    tarn_replica *r;
    tarn_conv2d conv;
    tarn_batch_norm norm;
    tarn_linear fc;
    tarn_optimizer *sgd;
};

static const char *const names[] = { "conv.weight",       "conv.bias",
                                     "norm.weight",       "norm.bias",
                                     "norm.running_mean", "norm.running_var",
                                     "fc.weight",         "fc.bias" };

static void net_open(struct net *n, const struct golden *g)
{
    n->r = tarn_open(NULL);
    cr_assert(n->r != NULL, "%s", tarn_error(NULL));
    tarn_parameter_dtype(n->r, TARN_F64);
    n->conv = tarn_conv2d_make(n->r, "conv", 1, 3, 3, (tarn_conv2d_options){ .padding = { 1, 1 } });
    n->norm = tarn_batch_norm_make(n->r, "norm", 3);
    n->fc = tarn_linear_make(n->r, "fc", 27, 4);
    for (int i = 0; i < COUNT(names); i++) {
        char first[64];
        snprintf(first, sizeof first, "first.%s", names[i]);
        const struct golden_tensor t = get(g, first);
        tarn_assign(tarn_find(n->r, names[i]), tarn_from(n->r, t.shape, TARN_F64, t.data));
    }
    cr_assert_eq(tarn_step(n->r), TARN_OK, "%s", tarn_error(n->r));
    n->sgd =
        tarn_sgd(n->r, (tarn_sgd_options){
                           .lr = 0.1f, .momentum = 0.9f, .weight_decay = 0.01f, .nesterov = true });
    cr_assert_not_null(n->sgd, "%s", tarn_error(n->r));
}

static void net_step(struct net *n, const struct golden *g, int step, double *loss, double *norm)
{
    const double *x = get(g, "x").data;
    const int64_t *labels = get(g, "labels").data;
    const tarn_tensor in =
        tarn_from(n->r, TARN_SHAPE(BATCH, 1, 6, 6), TARN_F64, x + BATCH * 36 * step);
    const tarn_tensor y = tarn_from(n->r, TARN_SHAPE(BATCH), TARN_I64, labels + BATCH * step);
    const tarn_tensor h =
        tarn_relu(tarn_batch_norm_forward(&n->norm, tarn_conv2d_forward(&n->conv, in)));
    const tarn_tensor out = tarn_linear_forward(&n->fc, tarn_flatten(tarn_max_pool2d(h, 2), 1));
    const tarn_tensor l = tarn_keep(tarn_cross_entropy(out, y));
    tarn_backward(l);
    const tarn_tensor size = tarn_keep(tarn_clip_grad_norm(n->r, 0.7f));
    tarn_optimizer_step(n->sgd);
    cr_assert_eq(tarn_step(n->r), TARN_OK, "%s", tarn_error(n->r));
    cr_assert_eq(tarn_read(l, loss, sizeof *loss), TARN_OK, "%s", tarn_error(n->r));
    cr_assert_eq(tarn_read(size, norm, sizeof *norm), TARN_OK, "%s", tarn_error(n->r));
    tarn_drop(l);
    tarn_drop(size);
}

/* The longest chain of a step is of sums of at most 8 * 36 terms in 6 layers, there and back: below 4000 roundings, of
 * values below 4; and the 1e-5 of the norm is a float, off by 3e-13, as much again. A step of momentum at most doubles
 * what was off before. One rounding to float32 anywhere is 6e-8. */
static double limit_of(int steps)
{
    return ldexp(2 * 4000 * 4 * UNIT, steps);
}

Test(golden_double, network)
{
    struct golden *g = golden_open("double.safetensors");
    cr_assert(g != NULL);
    struct net n;
    net_open(&n, g);
    const double *losses = get(g, "losses").data, *norms = get(g, "norms").data;
    for (int s = 0; s < STEPS; s++) {
        double loss, norm;
        net_step(&n, g, s, &loss, &norm);
        cr_expect_float_eq(loss, losses[s], limit_of(s), "%d: %.17g %.17g", s, loss, losses[s]);
        cr_expect_float_eq(norm, norms[s], limit_of(s), "%d: %.17g %.17g", s, norm, norms[s]);
    }
    for (int i = 0; i < COUNT(names); i++) {
        char last[64];
        snprintf(last, sizeof last, "last.%s", names[i]);
        const struct golden_tensor t = get(g, last);
        printf("%s: worst error / limit %.3g\n", last,
               expect_within(last, tarn_find(n.r, names[i]), t.data, t.count, limit_of(STEPS)));
    }
    tarn_close(n.r);
    golden_close(g);
}

static void expect_same_bits(struct net *a, struct net *b)
{
    cr_assert_eq(tarn_owned_count(a->r), tarn_owned_count(b->r));
    for (int i = 0; i < tarn_owned_count(a->r); i++) {
        const tarn_owned one = tarn_owned_at(a->r, i), other = tarn_owned_at(b->r, i);
        double x[MOST] = { 0 }, y[MOST] = { 0 };
        const size_t bytes = (size_t)tarn_shape_count(one.shape) * tarn_dtype_bytes(one.dtype);
        cr_assert(bytes <= sizeof x);
        cr_assert_eq(tarn_read(one.tensor, x, bytes), TARN_OK, "%s", tarn_error(a->r));
        cr_assert_eq(tarn_read(other.tensor, y, bytes), TARN_OK, "%s", tarn_error(b->r));
        cr_expect(memcmp(x, y, bytes) == 0, "%s differs", one.name);
    }
}

Test(golden_double, a_checkpoint_goes_on_bit_for_bit)
{
    struct golden *g = golden_open("double.safetensors");
    cr_assert(g != NULL);
    char path[64];
    snprintf(path, sizeof path, "/tmp/tarn-double-%d.safetensors", (int)getpid());
    struct net n, again;
    double first[STEPS], norm, loss;
    net_open(&n, g);
    for (int s = 0; s < STEPS; s++) {
        if (s == STEPS / 2)
            cr_assert_eq(tarn_save(n.r, path, (tarn_progress){ .epoch = 3 }), TARN_OK, "%s",
                         tarn_error(n.r));
        net_step(&n, g, s, &first[s], &norm);
    }
    net_open(&again, g);
    tarn_progress at;
    cr_assert_eq(tarn_load(again.r, path, &at), TARN_OK, "%s", tarn_error(again.r));
    cr_expect_eq(at.epoch, 3);
    for (int s = STEPS / 2; s < STEPS; s++) {
        net_step(&again, g, s, &loss, &norm);
        cr_expect(memcmp(&loss, &first[s], sizeof loss) == 0, "%d: %a %a", s, loss, first[s]);
    }
    expect_same_bits(&n, &again);
    unlink(path);
    tarn_close(n.r);
    tarn_close(again.r);
    golden_close(g);
}

/* ---- what else there is --------------------------------------------------------------------- */

/* Gradients are kept over two steps; settings differ between parameters; averages follow. */
Test(golden_double, accumulation_settings_and_averages)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert(r != NULL, "%s", tarn_error(NULL));
    const double a[] = { 1.0 / 3, 2.0 / 3 }, b[] = { 1.0 / 7 };
    const tarn_tensor p = tarn_parameter_as(r, "a", TARN_SHAPE(2), TARN_F64, a);
    const tarn_tensor q = tarn_parameter_as(r, "b", TARN_SCALAR, TARN_F64, b);
    tarn_optimizer *o = tarn_sgd(r, (tarn_sgd_options){ .lr = 0.1f, .weight_decay = 0.01f });
    tarn_optimizer_scale_lr(o, "b", 0.3f);
    tarn_optimizer_set_weight_decay(o, "a", 0.7f);
    tarn_optimizer_average(o, 0.9f);
    for (int i = 0; i < 2; i++) {
        tarn_backward(tarn_add(tarn_sum(tarn_mul(p, p), TARN_ALL, false), tarn_mul(q, q)));
        if (i == 0)
            tarn_optimizer_accumulate(o);
        else
            tarn_optimizer_step(o);
        cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    }
    const double after[] = { a[0] - 0.1 * (4 * a[0] + 0.7 * a[0]),
                             a[1] - 0.1 * (4 * a[1] + 0.7 * a[1]) };
    const double scalar = b[0] - 0.1 * 0.3 * (4 * b[0] + 0.01 * b[0]);
    const double mean[] = { 0.9 * a[0] + 0.1 * after[0], 0.9 * a[1] + 0.1 * after[1] };
    expect_within("a", p, after, 2, 8 * UNIT); /* at most 8 roundings of values below 1 */
    expect_within("b", q, &scalar, 1, 8 * UNIT);
    tarn_optimizer_swap_average(o);
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    expect_within("average of a", p, mean, 2, 16 * UNIT);
    tarn_close(r);
}

static void expect_error(tarn_replica *r, tarn_status s, const char *text)
{
    cr_expect_eq(tarn_error_status(r), s, "%s", tarn_error(r));
    cr_expect_not_null(strstr(tarn_error(r), text), "no \"%s\" in: %s", text, tarn_error(r));
    tarn_close(r);
}

Test(golden_double, types_that_do_not_train)
{
    const float one = 1;
    tarn_replica *r = tarn_open(NULL);
    tarn_parameter_dtype(r, TARN_BF16);
    expect_error(r, TARN_ERR_DTYPE, "parameters are float32 or float64, not bfloat16");
    r = tarn_open(NULL);
    tarn_parameter_as(r, "p", TARN_SHAPE(1), TARN_I64, NULL);
    expect_error(r, TARN_ERR_DTYPE, "p: parameters are float32 or float64, not int64");
    r = tarn_open(NULL);
    tarn_parameter(r, "p", TARN_SHAPE(1), &one);
    tarn_parameter_as(r, "q", TARN_SHAPE(1), TARN_F64, NULL);
    cr_expect_null(tarn_sgd(r, (tarn_sgd_options){ .lr = 1 }));
    expect_error(r, TARN_ERR_DTYPE,
                 "sgd: parameter q is float64, p is float32: an optimizer for each type");
}

/* The values are those of float32, before they are rounded. */
Test(golden_double, initial_values_round_to_those_of_float32)
{
    tarn_replica *r = tarn_open(NULL), *wide = tarn_open(NULL);
    cr_assert(r != NULL && wide != NULL, "%s", tarn_error(NULL));
    tarn_parameter_dtype(wide, TARN_F64);
    tarn_linear_make(r, "fc", 5, 3);
    tarn_linear_make(wide, "fc", 5, 3);
    tarn_embedding_make(r, "table", 4, 3);
    tarn_embedding_make(wide, "table", 4, 3);
    int finer = 0;
    for (int i = 0; i < tarn_owned_count(r); i++) {
        const tarn_owned single = tarn_owned_at(r, i), twice = tarn_owned_at(wide, i);
        const size_t n = (size_t)tarn_shape_count(single.shape);
        float x[MOST];
        double y[MOST];
        cr_assert_eq(tarn_read(single.tensor, x, n * sizeof *x), TARN_OK);
        cr_assert_eq(tarn_read(twice.tensor, y, n * sizeof *y), TARN_OK);
        for (size_t k = 0; k < n; k++) {
            cr_expect_eq((float)y[k], x[k], "%s %zu", single.name, k);
            finer += (double)x[k] != y[k];
        }
    }
    cr_expect(finer > 0);
    tarn_close(r);
    tarn_close(wide);
}
