/* SPDX-License-Identifier: Apache-2.0 */
/* Loops under a mesh against one device, with their gradients and an optimizer: an LSTM, a GRU of two layers with
 * dropout, weights that are cut, sequences of different lengths in both directions, a loop of the test's own. What a rank receives tells whether samples were cut in the
 * loops, too: gathering them would be more than the gradients of the weights. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "mesh_pair.h"
#include "tarn.h"

TestSuite(mesh_loops, .timeout = 1200);

enum { BATCH = 16, LENGTH = 5, IN = 4, HIDDEN = 6, CLASSES = 4, STEPS = 2, MOST = 2048, RANKS = 4 };
enum net { LSTM, GRU, CUT, ENDS, OWN, KERNEL, HEADS, ATTEND };

struct job {
    enum net net;
    tarn_mesh mesh;
    tarn_dtype dtype; /* of parameters, and of all that is computed */
    double values[MOST], outputs[BATCH * LENGTH * HIDDEN], losses[STEPS];
    int count;
    uint64_t received; /* bytes, by a rank in the last step */
};

struct layers {
    tarn_lstm lstm;
    tarn_gru gru;
    tarn_tensor weight, kernel, scale;
    tarn_linear out;
    bool second; /* carry of the test's own loop */
};

static tarn_tensor parameter(tarn_replica *r, const char *name, tarn_shape shape)
{
    float data[MOST];
    for (int i = 0; i < MOST; i++)
        data[i] = (float)((i * 37) % 64 - 32) / 96.0f;
    return tarn_parameter(r, name, shape, data);
}

static void make(tarn_replica *r, const struct job *job, struct layers *n)
{
    const tarn_recurrent_options samples_first = { .batch_first = true };
    if (job->net == LSTM || job->net == CUT)
        n->lstm = tarn_lstm_make(r, "lstm", IN, HIDDEN, samples_first);
    if (job->net == ATTEND)
        n->gru = tarn_gru_make(r, "gru", IN, HIDDEN, samples_first);
    if (job->net == GRU)
        n->gru =
            tarn_gru_make(r, "gru", IN, HIDDEN,
                          (tarn_recurrent_options){ .layers = 2, .dropout = 0.25f, .keep = true });
    if (job->net == ENDS)
        n->gru =
            tarn_gru_make(r, "gru", IN, HIDDEN / 2,
                          (tarn_recurrent_options){ .batch_first = true, .bidirectional = true });
    n->second = job->net == OWN;
    if (job->net >= OWN) {
        n->weight = parameter(r, "weight", TARN_SHAPE(IN, HIDDEN));
        n->scale = parameter(r, "scale", TARN_SHAPE(HIDDEN));
    }
    if (job->net == OWN || job->net == KERNEL)
        n->kernel = parameter(r, "kernel", TARN_SHAPE(1, 1, 3));
    if (job->net == HEADS)
        n->kernel = parameter(r, "kernel", TARN_SHAPE(2, HIDDEN / 2, HIDDEN / 2));
    n->out = tarn_linear_make(r, "out", HIDDEN, CLASSES);
}

/* The largest weights along one axis, so that they must be gathered for the loop, or may not be cut there. */
static void mark(const struct job *job, const struct layers *n)
{
    const char *axis = job->mesh.axis[1].name != NULL ? "model" : "data";
    if (job->net == CUT) {
        tarn_mark_sharding(n->lstm.of.weight_ih[0], job->mesh, TARN_SPEC(axis, NULL));
        tarn_mark_sharding(n->lstm.of.weight_hh[0], job->mesh, TARN_SPEC(NULL, "data"));
        tarn_mark_sharding(n->lstm.of.bias_hh[0], job->mesh, TARN_SPEC(axis));
    } else if (job->net == HEADS) {
        tarn_mark_sharding(n->kernel, job->mesh, TARN_SPEC("model", NULL, NULL));
    }
}

/* ---- loops of the test's own ----------------------------------------------------------------- */

/* A convolution over the features, the gradient of whose weight is a sum over samples in each step; noise of each step;
 * and, of OWN, a carry that no sample is part of, so that its gradient would be exchanged in each step. */
static void own_step(const tarn_tensor *carry, const tarn_tensor *x, tarn_tensor *next,
                     tarn_tensor *y, void *user)
{
    const struct layers *n = user;
    const tarn_tensor h = tarn_reshape(carry[0], TARN_SHAPE(BATCH, 1, HIDDEN));
    const tarn_tensor c =
        tarn_conv1d_op(h, n->kernel, TARN_NONE, (tarn_conv1d_options){ .padding = 1 });
    const tarn_tensor mixed = tarn_reshape(c, TARN_SHAPE(BATCH, HIDDEN));
    next[0] = tarn_dropout(tarn_tanh(tarn_add(x[0], tarn_mul(mixed, n->scale))), 0.25f);
    y[0] = next[0];
    if (!n->second)
        return;
    next[1] = tarn_mul(carry[1], n->scale);
    y[0] = tarn_add(next[0], carry[1]);
}

/* Each head has a matrix of its own. */
static void head_step(const tarn_tensor *carry, const tarn_tensor *x, tarn_tensor *next,
                      tarn_tensor *y, void *user)
{
    const struct layers *n = user;
    next[0] = tarn_tanh(tarn_add(x[0], tarn_matmul(carry[0], n->kernel)));
    y[0] = next[0];
}

/* What another loop left: its last state is the carry, all of its states are looked at in each step. */
struct attention {
    const struct layers *n;
    tarn_tensor states; /* [N, T, H] */
};

static void attend_step(const tarn_tensor *carry, const tarn_tensor *x, tarn_tensor *next,
                        tarn_tensor *y, void *user)
{
    const struct attention *a = user;
    const tarn_tensor question = tarn_reshape(carry[0], TARN_SHAPE(BATCH, HIDDEN, 1));
    const tarn_tensor weights = tarn_softmax(tarn_matmul(a->states, question), 1);
    const tarn_tensor seen = tarn_sum(tarn_mul(a->states, weights), TARN_AXES(1), false);
    next[0] = tarn_tanh(tarn_add(tarn_mul(tarn_add(seen, carry[0]), a->n->scale), x[0]));
    y[0] = tarn_add(seen, next[0]);
}

static tarn_tensor attend(tarn_replica *r, const struct layers *n, tarn_tensor x, tarn_tensor *all)
{
    const tarn_gru_result g = tarn_gru_forward(&n->gru, x, NULL);
    struct attention a = { .n = n, .states = g.y };
    const tarn_tensor first = tarn_reshape(g.h, TARN_SHAPE(BATCH, HIDDEN));
    const tarn_tensor in = tarn_matmul(x, n->weight);
    const tarn_scan_args args = { .body = attend_step,
                                  .user = &a,
                                  .carry = &first,
                                  .carries = 1,
                                  .x = &in,
                                  .xs = 1,
                                  .ys = 1,
                                  .axis = 1,
                                  .keep = true };
    tarn_tensor last;
    tarn_scan(r, &args, &last, all);
    return last;
}

static tarn_tensor own_loop(tarn_replica *r, const struct job *job, const struct layers *n,
                            tarn_tensor x, tarn_tensor *all)
{
    const bool heads = job->net == HEADS;
    tarn_tensor in = tarn_matmul(tarn_reshape(x, TARN_SHAPE(LENGTH * BATCH, IN)), n->weight);
    in = tarn_reshape(in, TARN_SHAPE(LENGTH, BATCH, HIDDEN));
    const tarn_dtype dtype = tarn_dtype_get(n->scale);
    tarn_tensor carry[2] = { tarn_cast(tarn_zeros(r, TARN_SHAPE(BATCH, HIDDEN)), dtype), n->scale },
                last[2];
    if (heads) { /* [T, heads, samples, features] */
        in = tarn_reshape(in, TARN_SHAPE(LENGTH, BATCH, 2, HIDDEN / 2));
        in = tarn_permute(in, TARN_SHAPE(0, 2, 1, 3));
        carry[0] = tarn_cast(tarn_zeros(r, TARN_SHAPE(2, BATCH, HIDDEN / 2)), dtype);
    }
    const tarn_scan_args args = { .body = heads ? head_step : own_step,
                                  .user = (void *)(uintptr_t)n,
                                  .carry = carry,
                                  .carries = n->second ? 2 : 1,
                                  .x = &in,
                                  .xs = 1,
                                  .ys = 1,
                                  .reversed = !heads };
    tarn_scan(r, &args, last, all);
    if (!heads)
        return n->second ? tarn_add(last[0], last[1]) : last[0];
    const tarn_tensor joined = tarn_permute(last[0], TARN_SHAPE(1, 0, 2));
    *all = tarn_reshape(*all, TARN_SHAPE(LENGTH, BATCH, HIDDEN));
    return tarn_reshape(joined, TARN_SHAPE(BATCH, HIDDEN));
}

/* The last hidden values, [N, H]; all of them in *all. */
static tarn_tensor forward(tarn_replica *r, const struct job *job, const struct layers *n,
                           tarn_tensor x, tarn_tensor y, tarn_tensor *all)
{
    if (job->net == ENDS) { /* from 1 step to all but one */
        const tarn_gru_result g = tarn_gru_forward_with(
            &n->gru, x, (tarn_recurrent_inputs){ .lengths = tarn_add_scalar(y, 1) });
        *all = g.y;
        return tarn_reshape(tarn_transpose(g.h, 0, 1), TARN_SHAPE(BATCH, HIDDEN));
    }
    if (job->net == OWN || job->net == KERNEL || job->net == HEADS)
        return own_loop(r, job, n, x, all);
    if (job->net == ATTEND)
        return attend(r, n, x, all);
    if (job->net == GRU) {
        const tarn_gru_result g = tarn_gru_forward(&n->gru, x, NULL);
        *all = g.y;
        return tarn_reshape(tarn_slice(g.h, 0, 1, 2, 1), TARN_SHAPE(BATCH, HIDDEN));
    }
    const tarn_lstm_result l = tarn_lstm_forward(&n->lstm, x, NULL, NULL);
    *all = l.y;
    return tarn_reshape(l.h, TARN_SHAPE(BATCH, HIDDEN));
}

/* ---- training -------------------------------------------------------------------------------- */

static void batch(tarn_replica *r, const struct job *job, int step, tarn_tensor *x, tarn_tensor *y)
{
    float in[BATCH * LENGTH * IN];
    int32_t targets[BATCH];
    for (int i = 0; i < BATCH * LENGTH * IN; i++)
        in[i] = (float)((i * 29 + step * 7) % 61) / 30.0f - 1.0f;
    for (int i = 0; i < BATCH; i++)
        targets[i] = (i * 7 + 3 * step) % CLASSES;
    const bool samples_first =
        job->net == LSTM || job->net == CUT || job->net == ENDS || job->net == ATTEND;
    *x = tarn_from(r, samples_first ? TARN_SHAPE(BATCH, LENGTH, IN) : TARN_SHAPE(LENGTH, BATCH, IN),
                   TARN_F32, in);
    *y = tarn_from(r, TARN_SHAPE(BATCH), TARN_I32, targets);
    *x = tarn_mark_sharding(*x, job->mesh,
                            samples_first ? TARN_SPEC("data", NULL, NULL)
                                          : TARN_SPEC(NULL, "data", NULL));
    *y = tarn_mark_sharding(*y, job->mesh, TARN_SPEC("data"));
}

static int read_all(tarn_replica *r, double *all)
{
    int count = 0;
    for (int i = 0; tarn_error_status(r) == TARN_OK && i < tarn_owned_count(r); i++) {
        const tarn_owned one = tarn_owned_at(r, i);
        const size_t size = (size_t)tarn_shape_count(one.shape);
        if (one.parameter && pair_read(one.tensor, all + count))
            count += (int)size;
    }
    return count;
}

static tarn_status train(tarn_replica *r, void *arg)
{
    struct job *job = arg;
    static struct job mine[RANKS];
    struct job *out = &mine[tarn_rank(r)];
    struct layers n = { 0 };
    tarn_tensor x, y, all;
    *out = *job;
    tarn_seed(r, 4);
    tarn_parameter_dtype(r, job->dtype);
    make(r, job, &n);
    mark(job, &n);
    tarn_optimizer *o = tarn_sgd(r, (tarn_sgd_options){ .lr = 0.1f, .momentum = 0.9f });
    for (int step = 0; step < STEPS && tarn_error_status(r) == TARN_OK; step++) {
        const uint64_t before = tarn_metrics_get(r).received_bytes;
        batch(r, job, step, &x, &y);
        const tarn_tensor h = forward(r, job, &n, x, y, &all);
        const tarn_tensor loss = tarn_cross_entropy(tarn_linear_forward(&n.out, h), y);
        if (step == 0)
            (void)!pair_read(all, out->outputs);
        tarn_backward(loss);
        tarn_optimizer_step(o);
        (void)!pair_read(loss, &out->losses[step]);
        (void)!tarn_step(r);
        out->received = tarn_metrics_get(r).received_bytes - before;
    }
    out->count = read_all(r, out->values);
    if (tarn_rank(r) == 0)
        *job = *out;
    return tarn_wait(r);
}

static struct job one, many;

/* Sums of BATCH * LENGTH terms at most, in another order; steps of lr 0.1 and momentum add two of them. */
static void compare_as(tarn_dtype dtype, enum net net, tarn_mesh mesh, const char *devices)
{
    const double most = 3.0 * BATCH * LENGTH * (dtype == TARN_F64 ? 0x1p-53 : 0x1p-24);
    one = (struct job){ .net = net, .mesh = mesh, .dtype = dtype };
    many = one;
    pair_run(train, &one, &many, devices, mesh);
    cr_assert(one.count == many.count && one.count > 0);
    const double worst = pair_difference(one.values, many.values, one.count);
    printf("net %d: %d values, greatest difference %g, losses %.7f and %.7f, %llu B received\n",
           net, one.count, worst, one.losses[STEPS - 1], many.losses[STEPS - 1],
           (unsigned long long)many.received);
    cr_assert(worst <= most, "%g", worst);
    cr_assert(pair_difference(one.losses, many.losses, STEPS) <= most);
    cr_assert(memcmp(one.outputs, many.outputs, sizeof one.outputs) == 0,
              "nothing is summed before the loss");
}

static void compare(enum net net, tarn_mesh mesh, const char *devices)
{
    compare_as(TARN_F32, net, mesh, devices);
}

/* On two ranks: an all-reduce of what all parameters have, and of the loss. Flat storage aligns each parameter to 64
 * bytes, and such gaps travel with it. */
static void expect_little(void)
{
    const uint64_t most = 4 * (uint64_t)many.count + 16 + 60 * 10;
    cr_assert(many.received > 0 && many.received <= most, "%llu B",
              (unsigned long long)many.received);
}

Test(mesh_loops, lstm)
{
    compare(LSTM, (tarn_mesh){ .axis = { { "data", 2 } } }, "0,0");
    expect_little();
}

Test(mesh_loops, gru_of_two_layers)
{
    compare(GRU, (tarn_mesh){ .axis = { { "data", 2 } } }, "0,0");
    expect_little();
}

Test(mesh_loops, sequences_of_different_lengths)
{
    compare(ENDS, (tarn_mesh){ .axis = { { "data", 2 } } }, "0,0");
    expect_little();
}

Test(mesh_loops, weights_are_cut)
{
    compare(CUT, (tarn_mesh){ .axis = { { "data", 2 }, { "model", 2 } } }, "0,0,0,0");
}

Test(mesh_loops, own)
{
    compare(OWN, (tarn_mesh){ .axis = { { "data", 2 } } }, "0,0");
}

Test(mesh_loops, sums_over_samples)
{
    compare(KERNEL, (tarn_mesh){ .axis = { { "data", 2 } } }, "0,0");
    expect_little();
}

Test(mesh_loops, heads)
{
    compare(HEADS, (tarn_mesh){ .axis = { { "data", 2 }, { "model", 2 } } }, "0,0,0,0");
}

Test(mesh_loops, attention_over_another_loop)
{
    compare(ATTEND, (tarn_mesh){ .axis = { { "data", 2 } } }, "0,0");
    expect_little();
}

Test(mesh_loops, of_float64)
{
    const tarn_mesh data = { .axis = { { "data", 2 } } };
    const tarn_mesh both = { .axis = { { "data", 2 }, { "model", 2 } } };
    compare_as(TARN_F64, CUT, both, "0,0,0,0");
    compare_as(TARN_F64, GRU, data, "0,0");
    compare_as(TARN_F64, OWN, data, "0,0");
    compare_as(TARN_F64, ATTEND, data, "0,0");
}
