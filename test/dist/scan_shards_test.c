/* SPDX-License-Identifier: Apache-2.0 */
/* Loops on several devices: with virtual shards weights have the same bits on any number of them, dropout
 * within the loop's body included, and of a loss that is a loop; without, all replicas hold the same. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tarn.h"
#include "tarn_dist.h"

TestSuite(scan_shards, .timeout = 1800);

enum { SAMPLES = 256, STEPS = 5, WIDTH = 6, HIDDEN = 8, CLASSES = 3, TRAINED = 3, MOST = 1 << 16 };

struct job {
    bool gru, cell, ctc; /* else an LSTM; CTC of one with two directions */
    bool ends;           /* two directions, too, and sequences of different lengths */
    int shards;
    tarn_dataset *data;
    size_t bytes;
    unsigned char weights[MOST];
    tarn_status status;
    char line[1400];
};

struct net {
    tarn_lstm lstm;
    tarn_gru gru;
    tarn_linear out;
    tarn_tensor matrix, scale;
    tarn_optimizer *optimizer;
};

/* Uses a vector of all samples, a matrix and random numbers in each step. */
static void cell_step(const tarn_tensor *carry, const tarn_tensor *x, tarn_tensor *next,
                      tarn_tensor *y, void *user)
{
    const struct net *n = user;
    const tarn_tensor h = tarn_dropout(tarn_matmul(carry[0], n->matrix), 0.25f);
    next[0] = tarn_tanh(tarn_add(x[0], tarn_mul(h, n->scale)));
    y[0] = tarn_mul(next[0], next[0]);
}

static tarn_tensor forward(struct net *n, tarn_tensor x, tarn_tensor lengths, const struct job *job)
{
    tarn_tensor y;
    if (job->cell) {
        const tarn_tensor first =
            tarn_zeros(x.replica, TARN_SHAPE(tarn_shape_get(x).dim[0], WIDTH));
        const tarn_scan_args args = { .body = cell_step,
                                      .user = n,
                                      .carry = &first,
                                      .carries = 1,
                                      .x = &x,
                                      .xs = 1,
                                      .ys = 1,
                                      .axis = 1,
                                      .reversed = true };
        tarn_scan(x.replica, &args, NULL, &y);
        return tarn_flatten(y, 1);
    }
    if (job->ends) {
        const tarn_recurrent_inputs in = { .lengths = lengths };
        return tarn_flatten(job->gru ? tarn_gru_forward_with(&n->gru, x, in).y
                                     : tarn_lstm_forward_with(&n->lstm, x, in).y,
                            1);
    }
    y = job->gru ? tarn_gru_forward(&n->gru, x, NULL).y
                 : tarn_lstm_forward(&n->lstm, x, NULL, NULL).y;
    return tarn_flatten(y, 1);
}

static tarn_tensor loss_of(struct net *n, tarn_batch b, const struct job *job)
{
    if (!job->ctc) { /* 1, 3 and all 5 steps */
        const tarn_tensor twice = tarn_mul_scalar(tarn_cast(b.y, TARN_I32), 2);
        const tarn_tensor y = forward(n, b.x, tarn_add_scalar(twice, 1), job);
        return tarn_cross_entropy(tarn_linear_forward(&n->out, y), b.y);
    }
    const tarn_tensor y = tarn_lstm_forward(&n->lstm, b.x, NULL, NULL).y;
    const tarn_tensor logp = tarn_log_softmax(tarn_linear_forward(&n->out, y), 2);
    const tarn_tensor target = tarn_reshape(b.y, TARN_SHAPE(tarn_shape_get(b.y).dim[0], 1));
    const tarn_tensor length =
        tarn_add(tarn_cast(b.y, TARN_I32), tarn_select(tarn_arange(b.y.replica, 3), 0, 2));
    return tarn_ctc_loss(
        logp, target,
        (tarn_ctc_options){ .blank = CLASSES, .input_lengths = length, .batch_first = true });
}

static tarn_status train(tarn_replica *r, void *arg)
{
    struct job *job = arg;
    struct net n;
    tarn_seed(r, 7);
    const tarn_recurrent_options options = {
        .layers = 2, .batch_first = true, .dropout = 0.25f, .bidirectional = job->ctc || job->ends
    };
    if (job->cell) {
        n.matrix = tarn_parameter_kaiming(r, "matrix", TARN_SHAPE(WIDTH, WIDTH), WIDTH);
        n.scale = tarn_parameter_kaiming(r, "scale", TARN_SHAPE(WIDTH), 1);
    } else if (job->gru)
        n.gru = tarn_gru_make(r, "gru", WIDTH, HIDDEN, options);
    else
        n.lstm = tarn_lstm_make(r, "lstm", WIDTH, HIDDEN, options);
    const int features = job->ctc ? 2 * HIDDEN
                                  : STEPS * (job->cell   ? WIDTH
                                             : job->ends ? 2 * HIDDEN
                                                         : HIDDEN);
    n.out = tarn_linear_make(r, "out", features, CLASSES + job->ctc);
    n.optimizer = tarn_sgd(r, (tarn_sgd_options){ .lr = 0.5f, .momentum = 0.9f });
    tarn_loader *loader = tarn_loader_open(
        r, job->data,
        (tarn_loader_options){ .batch = 64, .shuffle = true, .drop_last = true, .seed = 5 });
    if (loader == NULL)
        return tarn_error_status(r);
    for (int i = 0; i < TRAINED; i++) {
        tarn_batch b;
        if (!tarn_loader_next(loader, &b))
            return tarn_error_status(r);
        tarn_backward(loss_of(&n, b, job));
        tarn_optimizer_step(n.optimizer);
        if (tarn_step(r) != TARN_OK)
            return tarn_error_status(r);
    }
    for (int i = 0; tarn_rank(r) == 0 && i < tarn_owned_count(r); i++) {
        const tarn_tensor t = tarn_find(r, tarn_owned_name(r, i));
        const size_t bytes = (size_t)tarn_shape_count(tarn_shape_get(t)) * sizeof(float);
        if (tarn_read(t, job->weights + job->bytes, bytes) != TARN_OK)
            return tarn_error_status(r);
        job->bytes += bytes;
    }
    return tarn_wait(r);
}

static tarn_dataset *random_data(void)
{
    static float x[SAMPLES * STEPS * WIDTH];
    static unsigned char labels[SAMPLES];
    uint32_t state = 1;
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
        state = state * 1664525U + 1013904223U;
        x[i] = (float)(state >> 8) * 0x1p-23f - 1.0f;
    }
    for (size_t i = 0; i < sizeof labels; i++)
        labels[i] = (unsigned char)((i * 7 + i / 9) % CLASSES);
    return tarn_dataset_from((tarn_arrays){
        .inputs = { { .data = x, .dtype = TARN_F32, .shape = TARN_SHAPE(SAMPLES, STEPS, WIDTH) } },
        .targets = { { .data = labels,
                       .dtype = TARN_U8,
                       .shape = TARN_SHAPE(SAMPLES),
                       .classes = CLASSES } } });
}

static void run(struct job *job, int devices)
{
    static tarn_dataset *data;
    if (data == NULL)
        data = random_data();
    job->data = data;
    job->bytes = 0;
    const tarn_launch_options options = { .devices = "0,0,0,0",
                                          .count = devices,
                                          .virtual_shards = job->shards };
    job->status = data != NULL ? tarn_launch(train, job, options) : TARN_ERR_MEMORY;
    snprintf(job->line, sizeof job->line, "%s", job->status == TARN_OK ? "" : tarn_error(NULL));
}

static void expect_equal(struct job job, int most)
{
    static struct job one, many;
    one = many = job;
    run(&one, 1);
    cr_assert_eq(one.status, TARN_OK, "%s", one.line);
    cr_assert_gt(one.bytes, 0);
    for (int devices = 2; devices <= most; devices *= 2) {
        run(&many, devices);
        cr_assert_eq(many.status, TARN_OK, "%s", many.line);
        cr_assert_eq(one.bytes, many.bytes);
        size_t differ = 0;
        for (size_t i = 0; i < one.bytes; i++)
            differ += one.weights[i] != many.weights[i];
        cr_expect_eq(differ, 0, "%zu of %zu bytes differ on %d", differ, one.bytes, devices);
    }
}

Test(scan_shards, lstm)
{
    expect_equal((struct job){ .shards = 4 }, 2);
}
Test(scan_shards, gru)
{
    expect_equal((struct job){ .gru = true, .shards = 4 }, 2);
}
Test(scan_shards, cell_with_random_numbers)
{
    expect_equal((struct job){ .cell = true, .shards = 4 }, 4);
}
Test(scan_shards, ctc_of_two_directions)
{
    expect_equal((struct job){ .ctc = true, .shards = 4 }, 2);
}

Test(scan_shards, lstm_of_different_lengths)
{
    expect_equal((struct job){ .ends = true, .shards = 4 }, 2);
}
Test(scan_shards, gru_of_different_lengths)
{
    expect_equal((struct job){ .gru = true, .ends = true, .shards = 2 }, 2);
}

Test(scan_shards, without_shards)
{
    static struct job one;
    one = (struct job){ .gru = true };
    run(&one, 2);
    cr_expect_eq(one.status, TARN_OK, "%s", one.line);
}
