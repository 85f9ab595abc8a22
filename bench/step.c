/* SPDX-License-Identifier: Apache-2.0 */
/* Times the MNIST training step on data that is already on the device. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <tarn.h>

#include "parse.h"

enum { MAX_BLOCKS = 1000, PIXELS = 28 * 28 };

struct config {
    int batch, steps, blocks;
    const char *device;
    bool json, once;
};

struct net {
    tarn_conv2d conv1, conv2;
    tarn_batch_norm bn1, bn2;
    tarn_linear fc1, fc2;
};

/* Seconds of the blocks, per step, sorted; and what the metrics say of all of them. */
struct timing {
    double seconds[MAX_BLOCKS], host, compile;
    uint64_t launches;
    float first_loss, loss;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct net net_make(tarn_replica *r)
{
    const tarn_conv2d_options plain = { .groups = 1 };
    struct net n;
    n.conv1 = tarn_conv2d_make(r, "conv1", 1, 10, 5, plain);
    n.bn1 = tarn_batch_norm_make(r, "bn1", 10);
    n.conv2 = tarn_conv2d_make(r, "conv2", 10, 20, 5, plain);
    n.bn2 = tarn_batch_norm_make(r, "bn2", 20);
    n.fc1 = tarn_linear_make(r, "fc1", 320, 50);
    n.fc2 = tarn_linear_make(r, "fc2", 50, 10);
    return n;
}

static tarn_tensor net_loss(const struct net *n, tarn_tensor x, tarn_tensor y)
{
    x = tarn_relu(tarn_max_pool2d(tarn_conv2d_forward(&n->conv1, x), 2));
    x = tarn_batch_norm_forward(&n->bn1, x);
    x = tarn_relu(tarn_max_pool2d(tarn_conv2d_forward(&n->conv2, x), 2));
    x = tarn_batch_norm_forward(&n->bn2, x);
    x = tarn_relu(tarn_linear_forward(&n->fc1, tarn_flatten(x, 1)));
    return tarn_nll_loss(tarn_log_softmax(tarn_linear_forward(&n->fc2, x), 1), y);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A batch of random images and labels, kept on the device. */
static bool make_batch(tarn_replica *r, int n, tarn_tensor *x, tarn_tensor *y)
{
    int32_t *labels = malloc((size_t)n * sizeof *labels);
    if (labels == NULL)
        return false;
    for (int i = 0; i < n; i++)
        labels[i] = (int32_t)((uint32_t)i * 2654435761u >> 16) % 10;
    *x = tarn_keep(tarn_rand(r, TARN_SHAPE(n, 1, 28, 28)));
    *y = tarn_keep(tarn_from(r, TARN_SHAPE(n), TARN_I32, labels));
    free(labels);
    return tarn_step(r) == TARN_OK;
}

static tarn_status run_block(tarn_replica *r, const struct net *net, tarn_optimizer *sgd,
                             const tarn_tensor batch[2], tarn_tensor sum, int steps)
{
    for (int i = 0; i < steps; i++) {
        const tarn_tensor loss = net_loss(net, batch[0], batch[1]);
        tarn_backward(loss);
        tarn_optimizer_step(sgd);
        tarn_assign(sum, tarn_detach(loss));
        const tarn_status s = tarn_step(r);
        if (s != TARN_OK)
            return s;
    }
    return tarn_wait(r);
}

static tarn_status measure(tarn_replica *r, const struct config *c, struct timing *t)
{
    const struct net net = net_make(r);
    tarn_optimizer *sgd = tarn_sgd(r, (tarn_sgd_options){ .lr = 0.01f, .momentum = 0.5f });
    tarn_tensor batch[2];
    const tarn_tensor last = tarn_keep(tarn_zeros(r, TARN_SCALAR));
    if (!make_batch(r, c->batch, &batch[0], &batch[1]))
        return tarn_error_status(r) != TARN_OK ? tarn_error_status(r) : TARN_ERR_MEMORY;
    tarn_status s = run_block(r, &net, sgd, batch, last, 1);
    if (c->once)
        return s;
    t->first_loss = tarn_item(last);
    if (s == TARN_OK)
        s = run_block(r, &net, sgd, batch, last, c->steps);
    const tarn_metrics before = tarn_metrics_get(r);
    for (int b = 0; b < c->blocks && s == TARN_OK; b++) {
        const double start = now();
        s = run_block(r, &net, sgd, batch, last, c->steps);
        t->seconds[b] = (now() - start) / c->steps;
    }
    const tarn_metrics after = tarn_metrics_get(r);
    t->host = (after.host_seconds - before.host_seconds) / (c->blocks * c->steps);
    t->compile = before.compile_seconds;
    t->launches = after.launches_last_step;
    t->loss = tarn_item(last);
    qsort(t->seconds, (size_t)c->blocks, sizeof(double), by_value);
    return s;
}

static void report(const tarn_replica *r, const struct config *c, const struct timing *t)
{
    const double median = t->seconds[c->blocks / 2], low = t->seconds[0];
    const double high = t->seconds[c->blocks - 1];
    if (c->json) {
        printf("{\"batch\": %d, \"median_ms\": %.4f, \"min_ms\": %.4f, \"max_ms\": %.4f, "
               "\"samples_per_second\": %.1f, \"host_ms\": %.4f, \"launches\": %llu, "
               "\"compile_seconds\": %.3f, \"first_loss\": %.6g, \"loss\": %.6g}\n",
               c->batch, 1e3 * median, 1e3 * low, 1e3 * high, c->batch / median, 1e3 * t->host,
               (unsigned long long)t->launches, t->compile, (double)t->first_loss, (double)t->loss);
        return;
    }
    printf("%s, batch %d: %.3f ms a step (%.3f to %.3f, %d blocks of %d), %.0f samples/s\n"
           "  host %.3f ms a step, %llu launches, %.2f s to compile, loss %.4f\n",
           tarn_device_name(r), c->batch, 1e3 * median, 1e3 * low, 1e3 * high, c->blocks, c->steps,
           c->batch / median, 1e3 * t->host, (unsigned long long)t->launches, t->compile,
           (double)t->loss);
}

static const struct argp_option options[] = {
    { "batch-size", 'b', "N", 0, "samples in a step (default: 128, then 1024)", 0 },
    { "steps", 'n', "N", 0, "steps in a block (20)", 0 },
    { "blocks", 'k', "N", 0, "blocks; their median, least and most are shown (9)", 0 },
    { "device", 'D', "SPEC", 0, "device: a number, gpu, cpu, part of a name", 0 },
    { "once", '1', NULL, 0, "make one step only, and show nothing: for timing the process", 0 },
    { "json", 'j', NULL, 0, "one JSON object for each batch size", 0 },
    { NULL, 0, NULL, 0, NULL, 0 }
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct config *c = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        usage_init(state);
        break;
    case 'b':
        c->batch = (int)parse_whole(state, "batch-size", arg, 1, 1 << 20);
        break;
    case 'n':
        c->steps = (int)parse_whole(state, "steps", arg, 1, 1000000);
        break;
    case 'k':
        c->blocks = (int)parse_whole(state, "blocks", arg, 1, MAX_BLOCKS);
        break;
    case 'D':
        c->device = arg;
        break;
    case '1':
        c->once = true;
        break;
    case 'j':
        c->json = true;
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

int main(int argc, char **argv)
{
    (void)setenv("TARN_QUICK", "0", 0); /* measured is what has been optimised */
    static const struct argp parser = { options, parse_option, NULL, "Times a training step.",
                                        NULL,    NULL,         NULL };
    static struct timing timing;
    struct config config = { .steps = 20, .blocks = 9 };
    argp_err_exit_status = EXIT_USAGE;
    argp_parse(&parser, argc, argv, 0, NULL, &config);
    const bool both = config.batch == 0;
    for (int i = 0; i < (both ? 2 : 1); i++) {
        if (both)
            config.batch = i == 0 ? 128 : 1024;
        tarn_replica *r = tarn_open(config.device);
        if (r == NULL || measure(r, &config, &timing) != TARN_OK) {
            fprintf(stderr, "step: %s\n", tarn_error(r));
            tarn_close(r);
            return EXIT_FAILURE;
        }
        if (!config.once)
            report(r, &config, &timing);
        fflush(stdout);
        tarn_close(r);
    }
    return EXIT_SUCCESS;
}
