/* SPDX-License-Identifier: Apache-2.0 */
/* Layers of the library under a mesh against one device: convolutions with batch norm, whose statistics are those of
 * the whole batch, on the batch; a transformer on batch and hidden features, and fully sharded. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mesh_pair.h"
#include "tarn.h"

TestSuite(mesh_nets, .timeout = 1200);

enum {
    BATCH = 8,
    CLASSES = 4,
    SIZE = 8,
    WORDS = 12,
    LENGTH = 6,
    WIDTH = 8,
    STEPS = 3,
    MOST = 1 << 13
};
enum net { IMAGES, TEXT, TEXT_FULLY };

struct job {
    enum net net;
    tarn_mesh mesh;
    tarn_dtype dtype; /* of parameters */
    double values[MOST], losses[STEPS];
    int count;
};

struct layers {
    tarn_conv2d conv;
    tarn_batch_norm norm;
    tarn_embedding_layer words;
    tarn_transformer_block block;
    tarn_linear out;
};

static void make(tarn_replica *r, const struct job *job, struct layers *n)
{
    if (job->net == IMAGES) {
        n->conv =
            tarn_conv2d_make(r, "conv", 3, 4, 3, (tarn_conv2d_options){ .padding = { 1, 1 } });
        n->norm = tarn_batch_norm_make(r, "norm", 4);
        n->out = tarn_linear_make(r, "out", 4 * SIZE / 2 * SIZE / 2, CLASSES);
        return;
    }
    n->words = tarn_embedding_make(r, "words", WORDS, WIDTH);
    n->block = tarn_transformer_block_make(
        r, "block", WIDTH,
        (tarn_transformer_block_options){ .heads = 2, .causal = true, .dropout = 0.1f });
    n->out = tarn_linear_make(r, "out", WIDTH, WORDS);
}

/* Every parameter whose first dimension divides, as a program would do it. */
static void cut_all(tarn_replica *r, const struct job *job)
{
    for (int i = 0; i < tarn_owned_count(r); i++) {
        const tarn_owned o = tarn_owned_at(r, i);
        tarn_spec spec = { .rank = o.shape.rank, .axes = { "data" } };
        if (o.parameter && o.shape.dim[0] % 2 == 0)
            tarn_mark_sharding(o.tensor, job->mesh, spec);
    }
}

static void mark(tarn_replica *r, const struct job *job, const struct layers *n)
{
    if (job->net == TEXT_FULLY)
        cut_all(r, job);
    if (job->net != TEXT)
        return;
    tarn_mark_sharding(n->block.linear1.weight, job->mesh, TARN_SPEC("model", NULL));
    tarn_mark_sharding(n->block.linear1.bias, job->mesh, TARN_SPEC("model"));
    tarn_mark_sharding(n->block.linear2.weight, job->mesh, TARN_SPEC(NULL, "model"));
    tarn_mark_sharding(n->out.weight, job->mesh, TARN_SPEC("model", NULL));
}

static tarn_tensor forward(const struct job *job, const struct layers *n, tarn_tensor x)
{
    if (job->net == IMAGES) {
        const tarn_tensor y =
            tarn_relu(tarn_batch_norm_forward(&n->norm, tarn_conv2d_forward(&n->conv, x)));
        return tarn_linear_forward(&n->out, tarn_flatten(tarn_max_pool2d(y, 2), 1));
    }
    const tarn_tensor y = tarn_embedding_forward(&n->words, x);
    const tarn_tensor z = tarn_transformer_block_forward(&n->block, y, TARN_NONE);
    return tarn_linear_forward(&n->out, tarn_reshape(z, TARN_SHAPE(BATCH * LENGTH, WIDTH)));
}

static void batch(tarn_replica *r, const struct job *job, int step, tarn_tensor *x, tarn_tensor *y)
{
    float pixels[BATCH * 3 * SIZE * SIZE];
    int32_t words[BATCH * LENGTH], targets[BATCH * LENGTH];
    const bool images = job->net == IMAGES;
    for (int i = 0; i < BATCH * 3 * SIZE * SIZE; i++)
        pixels[i] = (float)((i * 29 + step * 7) % 61) / 30.0f - 1.0f;
    for (int i = 0; i < BATCH * LENGTH; i++) {
        words[i] = (i * 5 + step) % WORDS;
        targets[i] = (i * 7 + 3 * step) % (images ? CLASSES : WORDS);
    }
    if (images) {
        *x = tarn_from(r, TARN_SHAPE(BATCH, 3, SIZE, SIZE), TARN_F32, pixels);
        *x = tarn_mark_sharding(*x, job->mesh, TARN_SPEC("data", NULL, NULL, NULL));
        *y = tarn_from(r, TARN_SHAPE(BATCH), TARN_I32, targets);
    } else {
        *x = tarn_from(r, TARN_SHAPE(BATCH, LENGTH), TARN_I32, words);
        *x = tarn_mark_sharding(*x, job->mesh, TARN_SPEC("data", NULL));
        *y = tarn_from(r, TARN_SHAPE(BATCH * LENGTH), TARN_I32, targets);
    }
    *y = tarn_mark_sharding(*y, job->mesh, TARN_SPEC("data"));
}

static tarn_status train(tarn_replica *r, void *arg)
{
    struct job *job = arg;
    struct layers n;
    tarn_tensor x, y;
    double *all = calloc(MOST, sizeof *all), losses[STEPS] = { 0 };
    int count = 0;
    tarn_seed(r, 4);
    tarn_parameter_dtype(r, job->dtype);
    make(r, job, &n);
    mark(r, job, &n);
    tarn_optimizer *o = tarn_sgd(r, (tarn_sgd_options){ .lr = 0.1f, .momentum = 0.9f });
    for (int step = 0; step < STEPS; step++) {
        batch(r, job, step, &x, &y);
        const tarn_tensor loss = tarn_cross_entropy(forward(job, &n, x), y);
        tarn_backward(loss);
        tarn_optimizer_step(o);
        (void)!pair_read(loss, &losses[step]);
        if (tarn_step(r) != TARN_OK)
            break;
    }
    for (int i = 0; tarn_error_status(r) == TARN_OK && i < tarn_owned_count(r); i++) {
        const tarn_owned one = tarn_owned_at(r, i);
        const int size = (int)tarn_shape_count(one.shape);
        if (one.dtype == job->dtype && pair_read(one.tensor, all + count))
            count += size;
    }
    if (tarn_rank(r) == 0) {
        memcpy(job->values, all, sizeof job->values);
        memcpy(job->losses, losses, sizeof losses);
        job->count = count;
    }
    free(all);
    return tarn_wait(r);
}

static struct job one, many;

/* Sums of BATCH * SIZE^2 terms at most, in another order; steps of lr 0.1 and momentum add three of them. */
static void compare_as(tarn_dtype dtype, enum net net, tarn_mesh mesh, const char *devices)
{
    const double most = 3.0 * BATCH * SIZE * SIZE * (dtype == TARN_F64 ? 0x1p-53 : 0x1p-24);
    memset(&one, 0, sizeof one);
    memset(&many, 0, sizeof many);
    one.net = many.net = net;
    one.mesh = many.mesh = mesh;
    one.dtype = many.dtype = dtype;
    pair_run(train, &one, &many, devices, mesh);
    cr_assert(one.count == many.count && one.count > 0);
    const double worst = pair_difference(one.values, many.values, one.count);
    printf("net %d: %d values, greatest difference %g, losses %.7f and %.7f\n", net, one.count,
           worst, one.losses[STEPS - 1], many.losses[STEPS - 1]);
    cr_assert(worst <= most, "%g", worst);
    cr_assert(pair_difference(one.losses, many.losses, STEPS) <= most);
}

static void compare(enum net net, tarn_mesh mesh, const char *devices)
{
    compare_as(TARN_F32, net, mesh, devices);
}

Test(mesh_nets, of_float64)
{
    const tarn_mesh data = { .axis = { { "data", 2 } } };
    const tarn_mesh both = { .axis = { { "data", 2 }, { "model", 2 } } };
    compare_as(TARN_F64, IMAGES, data, "0,0");
    compare_as(TARN_F64, TEXT, both, "0,0,0,0");
    compare_as(TARN_F64, TEXT_FULLY, data, "0,0");
}

Test(mesh_nets, images)
{
    compare(IMAGES, (tarn_mesh){ .axis = { { "data", 2 } } }, "0,0");
}

Test(mesh_nets, text)
{
    compare(TEXT, (tarn_mesh){ .axis = { { "data", 2 }, { "model", 2 } } }, "0,0,0,0");
}

Test(mesh_nets, text_fully_sharded)
{
    compare(TEXT_FULLY, (tarn_mesh){ .axis = { { "data", 2 } } }, "0,0");
}
