/* SPDX-License-Identifier: Apache-2.0 */
/* Values that are computed again for their gradients, on several ranks: the same bits as values that are kept, with data
 * in parallel, with virtual shards, and under a mesh that cuts samples and weights. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tarn.h"
#include "tarn_dist.h"

TestSuite(recompute_ranks, .timeout = 900);

enum { SAMPLES = 64, BATCH = 32, WIDTH = 16, BLOCKS = 3, TRAINED = 2, MOST = 1 << 14 };

struct job {
    bool again, cut;
    tarn_mesh mesh; /* without an axis: each rank records its own program */
    tarn_dataset *data;
    float weights[MOST];
    size_t count;
};

struct net {
    tarn_linear wide[BLOCKS], narrow[BLOCKS], out;
};

static void make(tarn_replica *r, const struct job *job, struct net *n)
{
    char name[32];
    for (int i = 0; i < BLOCKS; i++) {
        snprintf(name, sizeof name, "wide.%d", i);
        n->wide[i] = tarn_linear_make(r, name, WIDTH, 2 * WIDTH);
        snprintf(name, sizeof name, "narrow.%d", i);
        n->narrow[i] = tarn_linear_make(r, name, 2 * WIDTH, WIDTH);
        if (!job->cut)
            continue;
        tarn_mark_sharding(n->wide[i].weight, job->mesh, TARN_SPEC("model", NULL));
        tarn_mark_sharding(n->narrow[i].weight, job->mesh, TARN_SPEC("data", "model"));
    }
    n->out = tarn_linear_make(r, "out", WIDTH, 4);
}

static tarn_tensor loss_of(tarn_replica *r, const struct job *job, const struct net *n,
                           const tarn_batch *b)
{
    tarn_tensor h = b->x;
    if (job->mesh.axis[0].name != NULL)
        h = tarn_mark_sharding(h, job->mesh, TARN_SPEC("data", NULL));
    for (int i = 0; i < BLOCKS; i++) {
        if (job->again)
            tarn_recompute_begin(r);
        const tarn_tensor y = tarn_dropout(tarn_tanh(tarn_linear_forward(&n->wide[i], h)), 0.25f);
        h = tarn_add(h, tarn_dropout(tarn_linear_forward(&n->narrow[i], y), 0.25f));
        if (job->again)
            tarn_recompute_end(r);
    }
    return tarn_cross_entropy(tarn_linear_forward(&n->out, h), b->y);
}

static tarn_status train(tarn_replica *r, void *arg)
{
    struct job *job = arg;
    struct net n;
    tarn_seed(r, 7);
    make(r, job, &n);
    tarn_optimizer *o = tarn_sgd(r, (tarn_sgd_options){ .lr = 0.5f, .momentum = 0.9f });
    tarn_loader *loader = tarn_loader_open(
        r, job->data, (tarn_loader_options){ .batch = BATCH, .drop_last = true, .seed = 5 });
    tarn_batch b;
    for (int i = 0; i < TRAINED && loader != NULL && tarn_loader_next(loader, &b); i++) {
        tarn_backward(loss_of(r, job, &n, &b));
        tarn_optimizer_step(o);
        if (tarn_step(r) != TARN_OK)
            return tarn_error_status(r);
    }
    size_t count = 0;
    static float all[4][MOST];
    float *mine = all[tarn_rank(r)];
    for (int i = 0; i < tarn_owned_count(r); i++) {
        const tarn_owned one = tarn_owned_at(r, i);
        const size_t size = (size_t)tarn_shape_count(one.shape);
        if (tarn_read(one.tensor, mine + count, size * sizeof *mine) != TARN_OK)
            return tarn_error_status(r);
        count += size;
    }
    if (tarn_rank(r) == 0) {
        memcpy(job->weights, mine, count * sizeof *mine);
        job->count = count;
    }
    return tarn_wait(r);
}

static tarn_dataset *random_data(void)
{
    static float x[SAMPLES * WIDTH];
    static unsigned char labels[SAMPLES];
    uint32_t state = 1;
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
        state = state * 1664525U + 1013904223U;
        x[i] = (float)(state >> 8) * 0x1p-23f - 1.0f;
    }
    for (int i = 0; i < SAMPLES; i++)
        labels[i] = (unsigned char)(i % 4);
    return tarn_dataset_from((tarn_arrays){
        .inputs = { { .data = x, .dtype = TARN_F32, .shape = TARN_SHAPE(SAMPLES, WIDTH) } },
        .targets = { { .data = labels, .dtype = TARN_U8, .shape = TARN_SHAPE(SAMPLES) } } });
}

static struct job kept, again;

static void compare(struct job job, tarn_launch_options o)
{
    job.data = random_data();
    cr_assert_not_null(job.data, "%s", tarn_error(NULL));
    o.mesh = job.mesh;
    kept = again = job;
    again.again = true;
    cr_assert_eq(tarn_launch(train, &kept, o), TARN_OK, "%s", tarn_error(NULL));
    cr_assert_eq(tarn_launch(train, &again, o), TARN_OK, "%s", tarn_error(NULL));
    cr_assert_gt(kept.count, 0);
    cr_expect_eq(kept.count, again.count);
    cr_expect_eq(memcmp(kept.weights, again.weights, kept.count * sizeof *kept.weights), 0,
                 "other bits");
    tarn_dataset_close(job.data);
}

Test(recompute_ranks, data_in_parallel)
{
    compare((struct job){ .cut = false }, (tarn_launch_options){ .devices = "0,0" });
}

Test(recompute_ranks, virtual_shards)
{
    const tarn_launch_options o = { .devices = "0,0", .virtual_shards = 2 };
    compare((struct job){ .cut = false }, o);
    static float two[MOST];
    memcpy(two, again.weights, sizeof two);
    compare((struct job){ .cut = false },
            (tarn_launch_options){ .devices = "0", .virtual_shards = 2 });
    cr_expect_eq(memcmp(two, again.weights, sizeof two), 0, "other bits on one device");
}

Test(recompute_ranks, samples_are_cut)
{
    compare((struct job){ .mesh = { .axis = { { "data", 2 } } } },
            (tarn_launch_options){ .devices = "0,0" });
}

Test(recompute_ranks, samples_and_weights_are_cut)
{
    compare((struct job){ .cut = true, .mesh = { .axis = { { "data", 2 }, { "model", 2 } } } },
            (tarn_launch_options){ .devices = "0,0,0,0" });
}
