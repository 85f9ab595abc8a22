/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients that are accumulated over steps, and averages of weights, under a mesh against one device: parameters whole,
 * their state cut, and themselves cut. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mesh_pair.h"
#include "tarn.h"

TestSuite(mesh_accumulate, .timeout = 900);

enum { BATCH = 8, IN = 6, OUT = 4, UPDATES = 2, TENSORS = 3, MOST = 64, RANKS = 2 };
enum way { DATA, STATES, FULLY };

struct job {
    enum way way;
    double weights[TENSORS][MOST], averages[TENSORS][MOST];
    float norms[UPDATES];
};

static const tarn_mesh mesh = { .axis = { { "data", RANKS } } };

static void fill(float *out, int count, int seed)
{
    for (int i = 0; i < count; i++)
        out[i] = (float)((i * 37 + seed * 101) % 64 - 32) / 32.0f;
}

static tarn_tensor parameter(tarn_replica *r, const char *name, tarn_shape shape, int seed)
{
    float data[MOST];
    fill(data, MOST, seed);
    return tarn_parameter(r, name, shape, data);
}

/* The third parameter is in the loss of every second step alone, so that what was kept goes on without more. */
static void backward(tarn_replica *r, const tarn_tensor p[TENSORS], int step)
{
    float in[BATCH * IN];
    fill(in, BATCH * IN, 10 + step);
    tarn_tensor x = tarn_from(r, TARN_SHAPE(BATCH, IN), TARN_F32, in);
    x = tarn_mark_sharding(x, mesh, TARN_SPEC("data", NULL));
    tarn_tensor y = tarn_add(tarn_matmul(x, p[0]), p[1]);
    if (step % 2 == 0)
        y = tarn_mul(y, p[2]);
    tarn_backward(tarn_mean(tarn_mul(y, y), TARN_ALL, false));
}

static bool read_all(const tarn_tensor p[TENSORS], double out[TENSORS][MOST])
{
    bool all = true;
    for (int i = 0; i < TENSORS; i++)
        all = all && pair_read(p[i], out[i]);
    return all;
}

/* In the last update the first two of three gradients are kept, and clipped with the third. */
static float train(tarn_replica *r, const struct job *job, const tarn_tensor p[TENSORS],
                   tarn_optimizer *o, int update)
{
    for (int i = 0; i < 2; i++) {
        backward(r, p, 3 * update + i);
        tarn_optimizer_accumulate(o);
        if (i == 0)
            (void)!tarn_step(r);
    }
    if (job->way == FULLY)
        (void)!tarn_step(r);
    backward(r, p, 3 * update + 3);
    const tarn_tensor norm = tarn_clip_grad_norm(r, 1.0f);
    if (update % 2 == 1) /* of a parameter that is cut, where any is */
        tarn_set_grad(p[0], tarn_mul_scalar(tarn_grad(p[0]), 0.5f));
    tarn_optimizer_step(o);
    const float measured = tarn_item(norm);
    (void)!tarn_step(r);
    return measured;
}

static tarn_status run(tarn_replica *r, void *arg)
{
    struct job *job = arg;
    static struct job mine[RANKS];
    struct job *out = &mine[tarn_rank(r)];
    *out = *job;
    const tarn_tensor p[TENSORS] = { parameter(r, "w", TARN_SHAPE(IN, OUT), 1),
                                     parameter(r, "b", TARN_SHAPE(OUT), 2),
                                     parameter(r, "s", TARN_SHAPE(OUT), 3) };
    if (job->way == FULLY) {
        tarn_mark_sharding(p[0], mesh, TARN_SPEC("data", NULL));
        tarn_mark_sharding(p[2], mesh, TARN_SPEC("data"));
    }
    tarn_optimizer *o = tarn_adam(r, (tarn_adam_options){ .lr = 0.01f });
    tarn_optimizer_average(o, 0.5f);
    if (job->way == STATES)
        tarn_mark_state_sharding(r, o, mesh, "data");
    for (int i = 0; i < UPDATES; i++)
        out->norms[i] = train(r, job, p, o, i);
    if (!read_all(p, out->weights))
        return tarn_wait(r);
    tarn_optimizer_swap_average(o);
    (void)!tarn_step(r);
    if (read_all(p, out->averages) && tarn_rank(r) == 0)
        *job = *out;
    return tarn_wait(r);
}

/* Sums of up to BATCH * OUT terms of about 1 in another order, of three gradients, and steps of lr from there. */
static void compare(enum way way)
{
    static struct job one, many;
    const double most = 3.0 * UPDATES * BATCH * OUT * 0x1p-24;
    one = (struct job){ .way = way };
    many = (struct job){ .way = way };
    pair_run(run, &one, &many, "0,0", mesh);
    const double weights = pair_difference(one.weights[0], many.weights[0], TENSORS * MOST),
                 averages = pair_difference(one.averages[0], many.averages[0], TENSORS * MOST);
    printf("way %d: weights %g, averages %g, norms %.9g and %.9g\n", way, weights, averages,
           (double)one.norms[1], (double)many.norms[1]);
    cr_assert(weights <= most && averages <= most, "%g and %g", weights, averages);
    for (int i = 0; i < UPDATES; i++)
        cr_assert(one.norms[i] > 0 && fabs((double)one.norms[i] - (double)many.norms[i]) <=
                                          most * (double)one.norms[i]);
    cr_assert(pair_difference(one.weights[0], one.averages[0], TENSORS * MOST) > 1e-3);
}

/* ---- kept values ----------------------------------------------------------------------------- */

struct keeping {
    float last[BATCH * IN];
    uint64_t bytes, received; /* that keeping took, and what was exchanged until it was read */
};

static tarn_status keep_on(tarn_replica *r, void *arg)
{
    static struct keeping mine[RANKS];
    struct keeping *out = &mine[tarn_rank(r)];
    float in[BATCH * IN];
    fill(in, BATCH * IN, 3);
    tarn_tensor state = tarn_from(r, TARN_SHAPE(BATCH, IN), TARN_F32, in);
    for (int step = 0; step < 3; step++) {
        const uint64_t before = tarn_metrics_get(r).device_bytes;
        const tarn_tensor next = tarn_keep(
            tarn_mark_sharding(tarn_tanh(tarn_add(state, state)), mesh, TARN_SPEC("data", NULL)));
        out->bytes = tarn_metrics_get(r).device_bytes - before;
        if (step > 0)
            tarn_drop(state);
        state = next;
        (void)!tarn_step(r);
    }
    out->received = tarn_metrics_get(r).received_bytes;
    (void)!tarn_read(state, out->last, sizeof out->last);
    if (tarn_rank(r) == 0)
        *(struct keeping *)arg = *out;
    return tarn_wait(r);
}

Test(mesh_accumulate, kept_values_lie_as_marked)
{
    static struct keeping alone, shared;
    pair_run(keep_on, &alone, &shared, "0,0", mesh);
    cr_assert(memcmp(alone.last, shared.last, sizeof alone.last) == 0 && alone.last[0] != 0.0f);
    cr_assert(shared.bytes == alone.bytes / 2 && shared.received == 0, "%llu of %llu B, %llu B",
              (unsigned long long)shared.bytes, (unsigned long long)alone.bytes,
              (unsigned long long)shared.received);
}

Test(mesh_accumulate, data_parallel)
{
    compare(DATA);
}

Test(mesh_accumulate, states_are_cut)
{
    compare(STATES);
}

Test(mesh_accumulate, fully_sharded)
{
    compare(FULLY);
}
