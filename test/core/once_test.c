/* SPDX-License-Identifier: Apache-2.0 */
/* What is made of parameters alone is made once for many evaluations, and again when they have changed, by whatever
 * means. Unfused plans make everything each time: they have the same bits. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "first.h"
#include "tarn.h"
#include "tarn_file.h"
#include "tarn_nn.h"
#include "tarn_profile.h"
#include "tarn_train.h"
#include "tarn_use.h"

TestSuite(once, .timeout = 600);

enum { CHANNELS = 192, SIDE = 8, CLASSES = 32, MOST = 40 };

/* Of both replicas: what each evaluation gave, and its launches. */
struct seen {
    float y[MOST][CLASSES];
    uint64_t launches[MOST];
    int count;
};

static tarn_tensor image(tarn_replica *r, int seed)
{
    static float x[3 * SIDE * SIDE];
    for (int i = 0; i < 3 * SIDE * SIDE; i++)
        x[i] = (float)((i * 37 + seed * 11) % 101) / 50 - 1;
    return tarn_from(r, TARN_SHAPE(1, 3, SIDE, SIDE), TARN_F32, x);
}

/* Windows of 3 by Winograd's algorithm, a norm, and a product. */
static tarn_tensor network(tarn_tensor x, const char *name)
{
    const tarn_conv2d_options same = { .padding = { 1, 1 } };
    tarn_enter(x.replica, "%s", name);
    x = tarn_use_conv2d(x, "first", CHANNELS, 3, same);
    x = tarn_relu(tarn_use_batch_norm(x, "norm"));
    x = tarn_relu(tarn_use_conv2d(x, "second", CHANNELS, 3, same));
    x = tarn_use_linear(tarn_flatten(x, 1), "head", CLASSES);
    tarn_leave(x.replica);
    return x;
}

static void evaluate(tarn_replica *r, const char *name, struct seen *s)
{
    cr_assert_lt(s->count, (int)MOST);
    tarn_train(r, false);
    const tarn_tensor y = tarn_keep(network(image(r, s->count), name));
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    s->launches[s->count] = tarn_metrics_get(r).launches_last_step;
    read_all(y, s->y[s->count], sizeof s->y[s->count]);
    s->count++;
    tarn_drop(y);
}

static void train(tarn_replica *r, tarn_optimizer *o, const char *name)
{
    tarn_train(r, true);
    const tarn_tensor y = network(image(r, 99), name);
    tarn_backward(tarn_mean(tarn_mul(y, y), TARN_ALL, false));
    tarn_optimizer_step(o);
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
}

static void twice(tarn_replica *r, const char *name, struct seen *s)
{
    evaluate(r, name, s);
    evaluate(r, name, s);
}

/* All that may change a parameter, with evaluations between. */
static void run(const char *fuse, struct seen *s)
{
    char path[] = "/tmp/tarn-once-XXXXXX";
    cr_assert(close(mkstemp(path)) == 0);
    setenv("TARN_FUSE", fuse, 1);
    tarn_replica *r = open_first();
    tarn_train(r, false);
    network(image(r, 0), "a");
    network(image(r, 0), "b");
    tarn_optimizer *o = tarn_sgd(r, (tarn_sgd_options){ .lr = 0.01f });
    cr_assert_not_null(o, "%s", tarn_error(r));
    tarn_optimizer_average(o, 0.5f);
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    twice(r, "a", s); /* 0, 1 */
    cr_assert_eq(tarn_save(r, path, (tarn_progress){ 0 }), TARN_OK, "%s", tarn_error(r));
    const tarn_tensor w = tarn_find(r, "a.second.weight");
    tarn_assign(w, tarn_mul_scalar(w, 1.5));
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    twice(r, "a", s); /* 2, 3: assigned */
    train(r, o, "a");
    twice(r, "a", s); /* 4, 5: trained, and the norm's statistics are others */
    tarn_optimizer_swap_average(o);
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    twice(r, "a", s); /* 6, 7: averaged */
    tarn_optimizer_swap_average(o);
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    for (int i = 0; i < 2; i++) { /* 8 to 11: one plan for two networks of the same form */
        evaluate(r, "a", s);
        evaluate(r, "b", s);
    }
    cr_assert_eq(tarn_load(r, path, NULL), TARN_OK, "%s", tarn_error(r));
    twice(r, "a", s); /* 12, 13: loaded */
    tarn_train(r, false);
    cr_assert_gt(tarn_use_fold(r, true), 0, "%s", tarn_error(r));
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    twice(r, "a", s); /* 14, 15: folded */
    tarn_assign(tarn_find(r, "a.first.weight"), tarn_mul_scalar(tarn_find(r, "a.first.weight"), 2));
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    cr_assert_gt(tarn_use_fold(r, true), 0, "%s", tarn_error(r));
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    twice(r, "a", s); /* 16, 17: folded anew */
    tarn_close(r);
    unlink(path);
    unsetenv("TARN_FUSE");
}

/* Images of many sizes, which are as many plans: more than may keep something. */
static void evaluate_sizes(const char *fuse, float y[][CHANNELS])
{
    enum { SIZES = 20, ROUNDS = 2 };
    setenv("TARN_FUSE", fuse, 1);
    tarn_replica *r = open_first();
    tarn_train(r, false);
    for (int k = 0; k < ROUNDS * SIZES; k++) {
        const tarn_shape s = TARN_SHAPE(1, 16, 5, 5 + k % SIZES);
        tarn_tensor x = tarn_sin(tarn_cast(tarn_arange(r, (int32_t)tarn_shape_count(s)), TARN_F32));
        x = tarn_use_conv2d(tarn_reshape(x, s), "wide", CHANNELS, 3, (tarn_conv2d_options){ 0 });
        x = tarn_use_conv2d(x, "next", CHANNELS, 3, (tarn_conv2d_options){ 0 });
        const tarn_tensor mean = tarn_keep(tarn_mean(x, TARN_AXES(2, 3), false));
        cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
        read_all(mean, y[k], sizeof y[k]);
        tarn_drop(mean);
    }
    tarn_close(r);
    unsetenv("TARN_FUSE");
}

Test(once, more_plans_than_keep_something)
{
    static float fused[MOST][CHANNELS], plain[MOST][CHANNELS];
    evaluate_sizes("1", fused);
    evaluate_sizes("0", plain);
    for (int k = 0; k < MOST; k++)
        cr_expect_arr_eq(fused[k], plain[k], sizeof fused[k], "evaluation %d", k);
}

static void compare(const char *schedule, struct seen *fused)
{
    static struct seen plain;
    setenv("TARN_SCHEDULE", schedule, 1);
    run("1", fused);
    run("0", &plain);
    cr_assert_eq(fused->count, plain.count);
    for (int i = 0; i < fused->count; i++)
        cr_expect_arr_eq(fused->y[i], plain.y[i], sizeof fused->y[i], "evaluation %d", i);
    unsetenv("TARN_SCHEDULE");
}

Test(once, as_if_made_each_time_for_a_gpu)
{
    static struct seen fused;
    compare("gpu", &fused);
}

Test(once, as_if_made_each_time)
{
    static struct seen fused;
    compare("cpu", &fused);
    static const int steady[] = { 1, 3, 5, 7, 13, 15, 17 };
    for (size_t i = 0; i < sizeof steady / sizeof *steady; i++)
        cr_expect_lt(fused.launches[steady[i]], fused.launches[steady[i] - 1],
                     "evaluation %d: %llu launches after %llu", steady[i],
                     (unsigned long long)fused.launches[steady[i]],
                     (unsigned long long)fused.launches[steady[i] - 1]);
}

/* Kernels that are measured on memory of their own have room for what they keep, too. */
Test(once, with_measured_tiles)
{
    static struct seen s;
    setenv("TARN_TUNE", "1", 1);
    tarn_replica *r = open_first();
    for (int i = 0; i < 3; i++) {
        s.count = 0; /* the same image */
        evaluate(r, "a", &s);
        memcpy(s.y[MOST - 1 - i], s.y[0], sizeof s.y[0]);
    }
    cr_expect_arr_eq(s.y[MOST - 1], s.y[MOST - 2], sizeof s.y[0]);
    cr_expect_arr_eq(s.y[MOST - 1], s.y[MOST - 3], sizeof s.y[0]);
    tarn_close(r);
    unsetenv("TARN_TUNE");
}
