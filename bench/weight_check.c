/* SPDX-License-Identifier: Apache-2.0 */
/* What comparing the weights in every step costs: blocks of training steps with and without, in
 * turns in one launch, so that both see the same machine. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "digits.h"
#include "member.h"
#include "network.h"

enum { BATCH = 128, STEPS = 40, MOST_BLOCKS = 400 };

struct bench {
    tarn_dataset *data;
    int blocks;
    double off[MOST_BLOCKS], on[MOST_BLOCKS]; /* ms a step, of rank 0 */
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct model {
    tarn_replica *r;
    struct net net;
    tarn_optimizer *sgd;
    tarn_loader *loader;
};

/* Milliseconds a step. */
static tarn_status block(struct model *m, int check, double *ms)
{
    tarn_status s = tarn_wait(m->r);
    member_of(m->r)->check_weights = check;
    if (s == TARN_OK)
        s = tarn_barrier(m->r);
    const double begin = now();
    for (int i = 0; s == TARN_OK && i < STEPS; i++) {
        tarn_batch b;
        while (!tarn_loader_next(m->loader, &b) && tarn_error_status(m->r) == TARN_OK)
            ;
        tarn_backward(tarn_nll_loss(net_forward(&m->net, b.x), b.y));
        tarn_optimizer_step(m->sgd);
        s = tarn_step(m->r);
    }
    if (s == TARN_OK)
        s = tarn_wait(m->r);
    *ms = 1000 * (now() - begin) / STEPS;
    return s;
}

static tarn_status train(tarn_replica *r, void *arg)
{
    struct bench *b = arg;
    struct model m = { .r = r, .net = net_make(r) };
    m.sgd = tarn_sgd(r, (tarn_sgd_options){ .lr = 0.01f, .momentum = 0.5f });
    m.loader = tarn_loader_open(r, b->data,
                                (tarn_loader_options){ .batch = BATCH,
                                                       .shuffle = true,
                                                       .drop_last = true,
                                                       .mean = MNIST_MEAN,
                                                       .deviation = MNIST_DEVIATION });
    double ms;
    tarn_status s = block(&m, 0, &ms);
    if (s == TARN_OK)
        s = block(&m, 1, &ms);
    for (int i = 0; s == TARN_OK && i < b->blocks; i++) {
        double off = 0, on = 0;
        /* Who is first alternates, too. */
        s = block(&m, i % 2, i % 2 ? &on : &off);
        if (s == TARN_OK)
            s = block(&m, !(i % 2), i % 2 ? &off : &on);
        if (tarn_rank(r) == 0) {
            b->off[i] = off;
            b->on[i] = on;
        }
    }
    return s;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *values, int count, double q)
{
    static double sorted[MOST_BLOCKS];
    for (int i = 0; i < count; i++)
        sorted[i] = values[i];
    qsort(sorted, (size_t)count, sizeof *sorted, ascending);
    return sorted[(int)(q * (count - 1) + 0.5)];
}

int main(int argc, char **argv)
{
    (void)setenv("TARN_QUICK", "0", 0); /* measured is what has been optimised */
    static struct bench b;
    static double ratio[MOST_BLOCKS];
    b.blocks = argc > 1 ? atoi(argv[1]) : 60;
    const char *devices = argc > 2 ? argv[2] : "cpu/2";
    if (b.blocks < 1 || b.blocks > MOST_BLOCKS)
        return fprintf(stderr, "usage: bench-weight_check [PAIRS (1 to %d) [DEVICES]]\n",
                       MOST_BLOCKS),
               2;
    b.data = digits_open(BATCH * STEPS, 1);
    if (tarn_launch(train, &b, (tarn_launch_options){ .devices = devices }) != TARN_OK)
        return fprintf(stderr, "bench-weight_check: %s\n", tarn_error(NULL)), 1;
    digits_close(b.data);
    for (int i = 0; i < b.blocks; i++)
        ratio[i] = 100 * (b.on[i] / b.off[i] - 1);
    printf("%d pairs of blocks of %d steps on %s, batch %d\n", b.blocks, STEPS, devices, BATCH);
    printf("without: %.3f ms a step, with: %.3f (medians)\n", quantile(b.off, b.blocks, 0.5),
           quantile(b.on, b.blocks, 0.5));
    printf("cost of the check: %.2f %% (median of pairs; quartiles %.2f to %.2f)\n",
           quantile(ratio, b.blocks, 0.5), quantile(ratio, b.blocks, 0.25),
           quantile(ratio, b.blocks, 0.75));
    return 0;
}
