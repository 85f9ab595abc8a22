/* SPDX-License-Identifier: Apache-2.0 */
/* Data parallel in two ways: each replica records its part and the optimizer adds up gradients, or all record the
 * whole and a mesh shares it out. Launches of both in turns, so that both see the same machine. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "digits.h"
#include "network.h"
#include "now.h"
#include "tarn_dist.h"

enum { BATCH = 128, MOST_PAIRS = 200, LAYERS_MOST = 64 };

struct bench {
    tarn_dataset *data;
    const char *kind, *devices, *optimizer;
    int pairs, steps;
    bool mesh;
    double ms; /* a step, of rank 0 */
    float loss;
    tarn_metrics metrics;
};

struct model {
    struct net net;
    tarn_linear fc[LAYERS_MOST];
    int layers; /* 0: it is the network of the examples */
};

/* net: the examples'; mlp: 1.1 million weights in three layers; deep: many small layers. */
static struct model model_make(tarn_replica *r, const char *kind)
{
    struct model m = { .layers = 0 };
    const bool deep = strcmp(kind, "deep") == 0;
    const int widths[4] = { 784, deep ? 64 : 1024, deep ? 64 : 256, 10 };
    if (strcmp(kind, "net") == 0) {
        m.net = net_make(r);
        return m;
    }
    m.layers = deep ? LAYERS_MOST : 3;
    for (int i = 0; i < m.layers; i++) {
        char name[16];
        const bool last = i + 1 == m.layers;
        snprintf(name, sizeof name, "fc%d", i + 1);
        m.fc[i] = tarn_linear_make(r, name,
                                   widths[i == 0   ? 0
                                          : i == 1 ? 1
                                                   : 2],
                                   widths[last     ? 3
                                          : i == 0 ? 1
                                                   : 2]);
    }
    return m;
}

static tarn_tensor forward(const struct model *m, tarn_tensor x)
{
    if (m->layers == 0)
        return net_forward(&m->net, x);
    x = tarn_flatten(x, 1);
    for (int i = 0; i + 1 < m->layers; i++)
        x = tarn_relu(tarn_linear_forward(&m->fc[i], x));
    return tarn_log_softmax(tarn_linear_forward(&m->fc[m->layers - 1], x), 1);
}

static tarn_status steps(tarn_replica *r, const struct model *m, tarn_optimizer *o,
                         tarn_loader *loader, int count, float *loss)
{
    tarn_status s = TARN_OK;
    for (int i = 0; s == TARN_OK && i < count; i++) {
        tarn_batch b;
        while (!tarn_loader_next(loader, &b) && tarn_error_status(r) == TARN_OK)
            ;
        const tarn_tensor l = tarn_nll_loss(forward(m, b.x), b.y);
        tarn_backward(l);
        tarn_optimizer_step(o);
        if (loss != NULL)
            *loss = tarn_item(l);
        s = tarn_step(r);
    }
    return s == TARN_OK ? tarn_wait(r) : s;
}

static tarn_status train(tarn_replica *r, void *arg)
{
    struct bench *b = arg;
    tarn_seed(r, 1);
    const struct model m = model_make(r, b->kind);
    tarn_optimizer *o = strcmp(b->optimizer, "adam") == 0
                            ? tarn_adam(r, (tarn_adam_options){ .lr = 0.001f })
                            : tarn_sgd(r, (tarn_sgd_options){ .lr = 0.01f, .momentum = 0.5f });
    tarn_loader *loader = tarn_loader_open(r, b->data,
                                           (tarn_loader_options){ .batch = BATCH,
                                                                  .shuffle = true,
                                                                  .drop_last = true,
                                                                  .mean = MNIST_MEAN,
                                                                  .deviation = MNIST_DEVIATION });
    tarn_status s = steps(r, &m, o, loader, 10, NULL);
    if (s == TARN_OK)
        s = tarn_barrier(r);
    const tarn_metrics before = tarn_metrics_get(r);
    const double begin = now();
    if (s == TARN_OK)
        s = steps(r, &m, o, loader, b->steps, NULL);
    if (tarn_rank(r) == 0) {
        b->ms = 1000 * (now() - begin) / b->steps;
        b->metrics = tarn_metrics_get(r);
        b->metrics.host_seconds -= before.host_seconds;
        b->metrics.record_seconds -= before.record_seconds;
    }
    float loss = 0;
    if (s == TARN_OK)
        s = steps(r, &m, o, loader, 1, &loss);
    if (tarn_rank(r) == 0)
        b->loss = loss;
    return s;
}

/* ---- pairs ---------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The largest k so that values k .. n - 1 - k of the sorted ones hold the median with 95 %: a sign test. */
static int interval(int n)
{
    double below = 0, term = pow(0.5, n);
    int k = 0;
    while (k < n / 2 && below + term <= 0.025) {
        below += term;
        term *= (double)(n - k) / (k + 1);
        k++;
    }
    return k > 0 ? k - 1 : 0;
}

static double median(const double *sorted, int n)
{
    return n % 2 ? sorted[n / 2] : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]);
}

static bool run(struct bench *b, bool mesh)
{
    tarn_launch_options options = { .devices = b->devices, .sync_norm = true, .check_weights = -1 };
    if (mesh)
        options.mesh = (tarn_mesh){ .axis = { { "data", 2 } } };
    if (tarn_launch(train, b, options) == TARN_OK)
        return true;
    fprintf(stderr, "bench-data_parallel: %s\n", tarn_error(NULL));
    return false;
}

static void print_one(const struct bench *b, const char *name, double ms)
{
    printf(
        "%s: %.3f ms a step; %d launches, %d nodes, recording %.3f ms, host %.3f ms, loss %.6f\n",
        name, ms, (int)b->metrics.launches_last_step, (int)b->metrics.nodes_last_step,
        1000 * b->metrics.record_seconds / b->steps, 1000 * b->metrics.host_seconds / b->steps,
        (double)b->loss);
}

int main(int argc, char **argv)
{
    static double ms[2][MOST_PAIRS], ratio[MOST_PAIRS];
    struct bench b[2];
    (void)setenv("TARN_QUICK", "0", 0); /* measured is what has been optimised */
    memset(b, 0, sizeof b);
    b[0].pairs = argc > 1 ? atoi(argv[1]) : 10;
    b[0].devices = argc > 2 ? argv[2] : "cpu/2";
    b[0].kind = argc > 3 ? argv[3] : "net";
    b[0].optimizer = argc > 4 ? argv[4] : "sgd";
    b[0].steps = argc > 5 ? atoi(argv[5]) : 200;
    if (b[0].pairs < 1 || b[0].pairs > MOST_PAIRS || b[0].steps < 1)
        return fprintf(stderr,
                       "usage: bench-data_parallel [PAIRS (1 to %d) [DEVICES [net|mlp|deep "
                       "[sgd|adam [STEPS]]]]]\n",
                       MOST_PAIRS),
               2;
    const int n = b[0].pairs;
    b[0].data = digits_open(BATCH * 100, 1);
    b[1] = b[0];
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 2; k++) {
            const int which = (i + k) % 2;
            if (!run(&b[which], which == 1))
                return 1;
            ms[which][i] = b[which].ms;
        }
        ratio[i] = ms[1][i] / ms[0][i];
    }
    digits_close(b[0].data);
    for (int k = 0; k < 2; k++)
        qsort(ms[k], (size_t)n, sizeof *ms[k], ascending);
    qsort(ratio, (size_t)n, sizeof *ratio, ascending);
    print_one(&b[0], "parts  ", median(ms[0], n));
    print_one(&b[1], "mesh   ", median(ms[1], n));
    const int k = interval(n);
    printf("mesh / parts: %.3f (median of %d pairs in turns; interval of 95 %%: %.3f to %.3f)\n",
           median(ratio, n), n, ratio[k], ratio[n - 1 - k]);
    return 0;
}
