/* SPDX-License-Identifier: Apache-2.0 */
/* Two networks that train against each other, by two optimizers of one program: with virtual shards
 * the same bits on one device and on two, without them replicas that stay equal. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tarn.h"
#include "tarn_dist.h"

TestSuite(two_nets, .timeout = 1800);

enum { NOISE = 6, HIDDEN = 20, WIDTH = 12, SAMPLES = 256, BATCH = 64, STEPS = 4, RULES = 3 };

struct job {
    int rule;
    bool norm, small_buckets;
    tarn_dataset *data;
    char path[64]; /* what rank 0 saves */
};

struct nets {
    tarn_linear make, made, see, seen;
    tarn_batch_norm norm, noise_norm;
    tarn_optimizer *maker, *judge;
};

static struct nets open_nets(tarn_replica *r, const struct job *job)
{
    struct nets n = { .make = tarn_linear_make(r, "maker.in", NOISE, HIDDEN),
                      .made = tarn_linear_make(r, "maker.out", HIDDEN, WIDTH),
                      .see = tarn_linear_make(r, "judge.in", WIDTH, HIDDEN),
                      .seen = tarn_linear_make(r, "judge.out", HIDDEN, 1) };
    if (job->norm) {
        n.norm = tarn_batch_norm_make(r, "judge.norm", HIDDEN);
        n.noise_norm = tarn_batch_norm_make(r, "maker.norm", HIDDEN);
    }
    const char *maker = "maker.*", *judge = "judge.*";
    n.maker = job->rule == 0 ? tarn_adam(r, (tarn_adam_options){ .lr = 0.01f, .parameters = maker })
              : job->rule == 1
                  ? tarn_rmsprop(r, (tarn_rmsprop_options){ .momentum = 0.5f, .parameters = maker })
                  : tarn_adafactor(r, (tarn_adafactor_options){ .lr = 0.1f, .parameters = maker });
    n.judge = tarn_lion(r, (tarn_lion_options){ .lr = 0.01f, .parameters = judge });
    tarn_optimizer_scale_lr(n.judge, "*.bias", 0.5f);
    tarn_optimizer_average(n.maker, 0.75f);
    tarn_freeze(r, "judge.in.*", true); /* the first layer of this one stays */
    return n;
}

static tarn_tensor judged(const struct nets *n, const struct job *job, tarn_tensor x)
{
    tarn_tensor h = tarn_linear_forward(&n->see, x);
    if (job->norm)
        h = tarn_batch_norm_forward(&n->norm, h);
    return tarn_linear_forward(&n->seen, tarn_relu(h));
}

static tarn_tensor distance(tarn_tensor x, float to)
{
    const tarn_tensor d = tarn_add_scalar(x, -to);
    return tarn_mean(tarn_mul(d, d), TARN_ALL, false);
}

/* Both in one step. The noise belongs to the samples by the program's word, since random rows alone do not. */
static tarn_status step(tarn_replica *r, const struct nets *n, const struct job *job, tarn_batch b)
{
    const tarn_tensor noise = tarn_batch_axis(tarn_randn(r, TARN_SHAPE(b.n, NOISE)), 0);
    tarn_tensor h = tarn_linear_forward(&n->make, noise);
    if (job->norm)
        h = tarn_batch_norm_forward(&n->noise_norm, h);
    const tarn_tensor fake = tarn_linear_forward(&n->made, tarn_relu(h));
    tarn_optimizer_backward(
        n->judge, tarn_add(distance(judged(n, job, b.x), 1), distance(judged(n, job, fake), 0)));
    (void)tarn_optimizer_clip_grad_norm(n->judge, 0.5f);
    tarn_optimizer_step(n->judge);
    tarn_optimizer_backward(n->maker, distance(judged(n, job, fake), 1));
    tarn_optimizer_step(n->maker);
    return tarn_step(r);
}

static tarn_status train(tarn_replica *r, void *arg)
{
    struct job *job = arg;
    tarn_seed(r, 3);
    const struct nets n = open_nets(r, job);
    tarn_loader *loader =
        tarn_loader_open(r, job->data, (tarn_loader_options){ .batch = BATCH, .drop_last = true });
    float before[HIDDEN * WIDTH], after[HIDDEN * WIDTH];
    if (loader == NULL || tarn_read(n.see.weight, before, sizeof before) != TARN_OK)
        return tarn_error_status(r);
    for (int i = 0; i < STEPS; i++) {
        tarn_batch b;
        if (!tarn_loader_next(loader, &b) || step(r, &n, job, b) != TARN_OK)
            return tarn_error_status(r);
    }
    const tarn_status s = tarn_check_weights(r);
    if (s != TARN_OK || tarn_read(n.see.weight, after, sizeof after) != TARN_OK)
        return tarn_error_status(r);
    if (memcmp(before, after, sizeof before) != 0)
        return TARN_ERR_INTERNAL; /* a frozen layer changed */
    return tarn_rank(r) == 0 ? tarn_save(r, job->path, (tarn_progress){ 0 }) : TARN_OK;
}

static tarn_dataset *open_data(void)
{
    static float x[SAMPLES * WIDTH];
    static int32_t y[SAMPLES];
    uint32_t state = 1;
    for (int i = 0; i < SAMPLES * WIDTH; i++) {
        state = state * 1664525U + 1013904223U;
        x[i] = (float)(state >> 8) * 0x1p-23f - 1.0f;
    }
    return tarn_dataset_from((tarn_arrays){
        .inputs = { { .data = x, .dtype = TARN_F32, .shape = TARN_SHAPE(SAMPLES, WIDTH) } },
        .targets = {
            { .data = y, .dtype = TARN_I32, .shape = TARN_SHAPE(SAMPLES), .classes = 2 } } });
}

static void run(struct job *job, int count, int shards)
{
    static tarn_dataset *data;
    if (data == NULL)
        data = open_data();
    job->data = data;
    snprintf(job->path, sizeof job->path, "/tmp/tarn-two-nets-%ld-%d", (long)getpid(), count);
    const tarn_launch_options options = { .devices = "0,0",
                                          .count = count,
                                          .virtual_shards = shards,
                                          .bucket_bytes = job->small_buckets ? 1 : 0 };
    const tarn_status s = tarn_launch(train, job, options);
    cr_assert_eq(s, TARN_OK, "rule %d on %d: %s", job->rule, count, tarn_error(NULL));
}

/* The names of what a file holds, and their bytes. */
static void expect_equal(const char *a, const char *b, int rule)
{
    tarn_weight_file *f = tarn_weight_file_open(a), *g = tarn_weight_file_open(b);
    cr_assert(f != NULL && g != NULL, "%s", tarn_error(NULL));
    cr_assert_eq(tarn_weight_file_count(f), tarn_weight_file_count(g));
    for (int i = 0; i < tarn_weight_file_count(f); i++) {
        const tarn_weight x = tarn_weight_file_at(f, i), y = tarn_weight_file_at(g, i);
        cr_expect(strcmp(x.name, y.name) == 0 && x.bytes == y.bytes &&
                      memcmp(x.data, y.data, x.bytes) == 0,
                  "rule %d: %s differs", rule, x.name);
    }
    tarn_weight_file_close(f);
    tarn_weight_file_close(g);
}

Test(two_nets, the_same_bits_on_one_device_and_on_two)
{
    for (int rule = 0; rule < RULES; rule++) {
        struct job one = { .rule = rule, .norm = rule == 1 }, two = one;
        two.small_buckets = rule == 2;
        run(&one, 1, 2);
        run(&two, 2, 2);
        expect_equal(one.path, two.path, rule);
        (void)unlink(one.path);
        (void)unlink(two.path);
    }
}

/* Running statistics change before either exchange: both must bring them together. */
Test(two_nets, replicas_stay_equal)
{
    struct job job = { .rule = 0, .norm = true };
    run(&job, 2, 0);
    (void)unlink(job.path);
}
