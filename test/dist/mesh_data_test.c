/* SPDX-License-Identifier: Apache-2.0 */
/* Data parallel under a mesh against replicas that record their parts: with a batch and parts of powers of two the
 * weights are equal bit for bit, in one bucket and in several. So they stay where the state is cut later, in flat storage
 * until then; and a rank's gradient alone gives others. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "digits.h"
#include "tarn.h"
#include "tarn_dist.h"

TestSuite(mesh_data, .timeout = 900);

enum { BATCH = 32, STEPS = 4, LAYERS = 3, WIDTH = 18, MOST = 1 << 15, NEVER = -1 };

struct job {
    bool mesh, average;
    int cut; /* the step before which the state is cut */
    float weights[MOST];
    int count;
};

static const tarn_mesh mesh = { .axis = { { "data", 2 } } };
static tarn_dataset *data;

static tarn_tensor loss_of(const tarn_linear *layers, const tarn_batch *b)
{
    tarn_tensor x = tarn_flatten(b->x, 1);
    for (int i = 0; i < LAYERS; i++)
        x = tarn_linear_forward(&layers[i], i > 0 ? tarn_relu(x) : x);
    return tarn_cross_entropy(x, b->y);
}

static void read_all(tarn_replica *r, struct job *job)
{
    for (int i = 0; i < tarn_owned_count(r); i++) {
        const tarn_owned o = tarn_owned_at(r, i);
        const int n = (int)tarn_shape_count(o.shape);
        float values[MOST];
        if (o.dtype != TARN_F32 ||
            tarn_read(o.tensor, values, (size_t)n * sizeof *values) != TARN_OK)
            continue;
        if (tarn_rank(r) == 0 && job->count + n <= MOST) {
            memcpy(job->weights + job->count, values, (size_t)n * sizeof *values);
            job->count += n;
        }
    }
}

static tarn_status train(tarn_replica *r, void *arg)
{
    struct job *job = arg;
    tarn_linear layers[LAYERS];
    tarn_seed(r, 3);
    for (int i = 0; i < LAYERS; i++) {
        const char *const names[LAYERS] = { "a", "b", "c" };
        layers[i] = tarn_linear_make(r, names[i], i > 0 ? WIDTH : 784, i + 1 < LAYERS ? WIDTH : 10);
    }
    tarn_optimizer *adam = tarn_adam(r, (tarn_adam_options){ .lr = 0.01f });
    if (job->average)
        tarn_optimizer_average(adam, 0.5f);
    tarn_loader *loader = tarn_loader_open(
        r, data, (tarn_loader_options){ .batch = BATCH, .shuffle = true, .drop_last = true });
    for (int step = 0; step < STEPS; step++) {
        tarn_batch b;
        if (step == job->cut)
            tarn_mark_state_sharding(r, adam, mesh, "data");
        if (!tarn_loader_next(loader, &b))
            break;
        tarn_backward(loss_of(layers, &b));
        tarn_optimizer_step(adam);
        if (tarn_step(r) != TARN_OK)
            break;
    }
    read_all(r, job);
    return tarn_error_status(r);
}

static void run(struct job *job, size_t bucket)
{
    tarn_launch_options options = { .devices = "0,0", .bucket_bytes = bucket };
    if (job->mesh)
        options.mesh = mesh;
    job->count = 0;
    cr_assert(tarn_launch(train, job, options) == TARN_OK, "%s", tarn_error(NULL));
    cr_assert(job->count > 784 * WIDTH, "%d", job->count);
}

static int differing(const struct job *x, const struct job *y)
{
    int differ = 0;
    cr_assert(x->count == y->count, "%d and %d values", x->count, y->count);
    for (int i = 0; i < x->count; i++)
        differ += memcmp(&x->weights[i], &y->weights[i], sizeof x->weights[i]) != 0;
    return differ;
}

static struct job parts, all;

static void compare(size_t bucket, bool average)
{
    data = digits_open(BATCH * STEPS, 1);
    parts = (struct job){ .average = average, .cut = NEVER };
    all = (struct job){ .mesh = true, .average = average, .cut = NEVER };
    run(&parts, bucket);
    run(&all, bucket);
    cr_expect(differing(&parts, &all) == 0, "%d of %d", differing(&parts, &all), all.count);
    digits_close(data);
}

Test(mesh_data, has_the_bits_of_parts)
{
    compare(0, false);
}

Test(mesh_data, in_several_buckets_with_averages)
{
    compare(2000, true);
}

Test(mesh_data, keeps_its_bits_when_the_state_is_cut_later)
{
    data = digits_open(BATCH * STEPS, 1);
    all = (struct job){ .mesh = true, .average = true, .cut = NEVER };
    parts = (struct job){ .mesh = true, .average = true, .cut = 2 };
    run(&all, 0);
    run(&parts, 0);
    cr_expect(differing(&parts, &all) == 0, "%d of %d", differing(&parts, &all), all.count);
    digits_close(data);
}

static tarn_status late(tarn_replica *r, void *arg)
{
    (void)arg;
    tarn_tensor w = tarn_parameter(r, "w", TARN_SHAPE(4), NULL);
    tarn_optimizer *sgd = tarn_sgd(r, (tarn_sgd_options){ .lr = 1.0f, .momentum = 0.5f });
    tarn_backward(tarn_sum(tarn_mul(w, w), TARN_ALL, false));
    tarn_mark_state_sharding(r, sgd, mesh, "data");
    return tarn_step(r);
}

Test(mesh_data, refuses_to_cut_the_state_within_a_step)
{
    const tarn_launch_options options = { .devices = "0,0", .mesh = mesh };
    cr_expect(tarn_launch(late, NULL, options) != TARN_OK);
    cr_expect(strstr(tarn_error(NULL), "mark_state_sharding: parameters were used in this step "
                                       "already; call it before, or after tarn_step()") != NULL,
              "%s", tarn_error(NULL));
}
