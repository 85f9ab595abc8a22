/* SPDX-License-Identifier: Apache-2.0 */
/* Trains with marks on a mesh "data" 2 x "model" 2: samples, columns and rows of weights, and momentum are cut, and
 * dropout draws. In one process against one device; and of several processes that a launcher started together, alone:
 * their checkpoint must be that of one process.
 *
 *     mesh_train_plain [CHECKPOINT]
 *
 * Sums over the ranks are of two parts each, in their order wherever the ranks are; one device adds up in another. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "tarn.h"
#include "tarn_dist.h"

enum { BATCH = 16, IN = 24, HIDDEN = 32, OUT = 8, STEPS = 6, TENSORS = 4, MOST = IN * HIDDEN };
static const tarn_mesh mesh = { .axis = { { "data", 2 }, { "model", 2 } } };
static const char *const names[TENSORS] = { "w1", "b1", "w2", "b2" };
static const int sizes[TENSORS] = { IN * HIDDEN, HIDDEN, HIDDEN *OUT, OUT };

struct job {
    bool meshed;
    const char *save;
    float value[TENSORS][MOST], loss; /* of rank 0 */
};

static void fill(float *out, int count, float scale, int seed)
{
    for (int i = 0; i < count; i++)
        out[i] = scale * (float)((i * 37 + seed * 101) % 64 - 32) / 32.0f;
}

static tarn_tensor parameter(tarn_replica *r, int i, tarn_shape shape)
{
    float data[MOST];
    fill(data, MOST, 0.3f, i + 1);
    return tarn_parameter(r, names[i], shape, data);
}

static tarn_tensor batch(tarn_replica *r, const struct job *job, int columns, int seed)
{
    float data[BATCH * IN];
    fill(data, BATCH * columns, 1.0f, seed);
    const tarn_tensor x = tarn_from(r, TARN_SHAPE(BATCH, columns), TARN_F32, data);
    return job->meshed ? tarn_mark_sharding(x, mesh, TARN_SPEC("data", NULL)) : x;
}

static void step(tarn_replica *r, const struct job *job, const tarn_tensor *p, int number,
                 tarn_optimizer *o, tarn_tensor mean)
{
    const tarn_tensor x = batch(r, job, IN, 10 + number), y = batch(r, job, OUT, 90 + number);
    const tarn_tensor h = tarn_gelu(tarn_add(tarn_matmul(x, p[0]), p[1]));
    const tarn_tensor out = tarn_add(tarn_matmul(tarn_dropout(h, 0.25f), p[2]), p[3]);
    const tarn_tensor loss = tarn_mse_loss(out, y);
    tarn_backward(loss);
    tarn_clip_grad_norm(r, 1.0f);
    tarn_optimizer_step(o);
    tarn_assign(mean, tarn_add(tarn_mul_scalar(mean, 0.5f), tarn_mul_scalar(loss, 0.5f)));
}

static tarn_status train(tarn_replica *r, void *arg)
{
    struct job *job = arg;
    tarn_seed(r, 7);
    const tarn_tensor p[TENSORS] = { parameter(r, 0, TARN_SHAPE(IN, HIDDEN)),
                                     parameter(r, 1, TARN_SHAPE(HIDDEN)),
                                     parameter(r, 2, TARN_SHAPE(HIDDEN, OUT)),
                                     parameter(r, 3, TARN_SHAPE(OUT)) };
    const tarn_tensor mean = tarn_buffer(r, "loss", TARN_SCALAR, TARN_F32, NULL);
    if (job->meshed) {
        tarn_mark_sharding(p[0], mesh, TARN_SPEC(NULL, "model"));
        tarn_mark_sharding(p[1], mesh, TARN_SPEC("model"));
        tarn_mark_sharding(p[2], mesh, TARN_SPEC("model", NULL));
    }
    tarn_optimizer *o = tarn_sgd(r, (tarn_sgd_options){ .lr = 0.1f, .momentum = 0.9f });
    if (job->meshed)
        tarn_mark_state_sharding(r, o, mesh, "data");
    for (int i = 0; i < STEPS && tarn_error_status(r) == TARN_OK; i++) {
        step(r, job, p, i, o, mean);
        (void)!tarn_step(r);
    }
    for (int i = 0; i < TENSORS; i++) {
        float all[MOST];
        const size_t bytes = (size_t)sizes[i] * sizeof *all;
        if (tarn_read(p[i], all, bytes) != TARN_OK)
            break;
        if (tarn_rank(r) == 0)
            memcpy(job->value[i], all, bytes);
    }
    const float loss = tarn_item(mean);
    if (tarn_rank(r) == 0)
        job->loss = loss;
    if (tarn_error_status(r) == TARN_OK && job->save != NULL)
        (void)!tarn_save(r, job->save, (tarn_progress){ 0 });
    return tarn_wait(r);
}

/* SGD moves a weight by what its gradient is wrong by: a few roundings of numbers below 1 in each step. */
static void compare(const struct job *one, const struct job *many)
{
    const double bound = 8 * STEPS * 0x1p-24;
    double most = fabs((double)one->loss - (double)many->loss), moved = 0;
    for (int i = 0; i < TENSORS; i++) {
        float first[MOST];
        fill(first, MOST, 0.3f, i + 1);
        for (int k = 0; k < sizes[i]; k++) {
            most = fmax(most, fabs((double)one->value[i][k] - (double)many->value[i][k]));
            moved = fmax(moved, fabs((double)one->value[i][k] - (double)first[k]));
        }
    }
    printf("difference %.3g, at most %.3g; loss %.7f; weights moved by %.3g\n", most, bound,
           (double)many->loss, moved);
    CHECK(most <= bound && moved > 1000 * bound);
}

static void run(struct job *job, tarn_launch_options options)
{
    options.timeout = 60;
    const tarn_status s = tarn_launch(train, job, options);
    CHECK(s == TARN_OK);
    if (s != TARN_OK)
        printf("%s: %s\n", tarn_status_name(s), tarn_error(NULL));
}

int main(int argc, char **argv)
{
    static struct job one, many = { .meshed = true };
    const int nodes = tarn_node_count();
    many.save = argc > 1 ? argv[1] : NULL;
    run(&many, (tarn_launch_options){ .devices = "0,0,0,0", .count = 4 / nodes, .mesh = mesh });
    if (nodes == 1) {
        run(&one, (tarn_launch_options){ .devices = "0", .count = 1 });
        compare(&one, &many);
    }
    if (tarn_node() == 0)
        printf("%d failures\n", failures);
    return failures != 0;
}
