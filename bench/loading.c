/* SPDX-License-Identifier: Apache-2.0 */
/* What a loader delivers when each sample takes a function some milliseconds, and what a batch
 * that is ready costs the training thread. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include <tarn.h>

enum { BATCH = 128, MOST = 1000, PIXELS = 3 * 32 * 32 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const char *what, double *ms, int count)
{
    qsort(ms, (size_t)count, sizeof *ms, by_value);
    printf("%s: median %.4f ms, quartiles %.4f to %.4f, most %.4f\n", what, ms[count / 2],
           ms[count / 4], ms[3 * count / 4], ms[count - 1]);
}

/* Of the function below: a sleep takes longer than it is asked to. */
static _Atomic long long calls, nanoseconds;

/* A file that takes its time, as far as the processor is concerned. */
static int slow(void *user, int32_t index, const tarn_sample *out)
{
    const struct timespec wait = { .tv_nsec = *(const long *)user };
    const double start = now();
    uint8_t *image = out->inputs[0];
    memset(image, index & 255, PIXELS);
    *(uint8_t *)out->targets[0] = (uint8_t)(index % 10);
    (void)prctl(PR_SET_TIMERSLACK, 1UL); /* else it sleeps 50 us longer */
    (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &wait, NULL);
    calls++;
    nanoseconds += (long long)(1e9 * (now() - start));
    return 0;
}

struct net {
    tarn_conv2d conv;
    tarn_linear fc;
    tarn_optimizer *sgd;
};

static tarn_status train(tarn_replica *r, const struct net *n, const tarn_batch *b)
{
    tarn_tensor x = tarn_relu(tarn_max_pool2d(tarn_conv2d_forward(&n->conv, b->x), 2));
    x = tarn_linear_forward(&n->fc, tarn_flatten(x, 1));
    tarn_backward(tarn_cross_entropy(x, b->y));
    tarn_optimizer_step(n->sgd);
    return tarn_step(r);
}

/* Milliseconds from one batch to the next, while the network trains. */
static bool throughput(tarn_replica *r, const struct net *n, int threads, long wait, int count,
                       double *ms)
{
    tarn_dataset *d = tarn_dataset_call(
        (tarn_arrays){
            .inputs = { { .dtype = TARN_U8, .shape = TARN_SHAPE(BATCH * (MOST + 16), 3, 32, 32) } },
            .targets = { { .dtype = TARN_U8,
                           .shape = TARN_SHAPE(BATCH * (MOST + 16)),
                           .classes = 10 } } },
        slow, &wait);
    tarn_loader *l = tarn_loader_open(
        r, d, (tarn_loader_options){ .batch = BATCH, .shuffle = true, .threads = threads });
    double before = 0;
    bool good = l != NULL;
    /* The first batches were prepared while the step was compiled. */
    for (int i = -16; good && i < count; i++) {
        tarn_batch b;
        good = tarn_loader_next(l, &b) && train(r, n, &b) == TARN_OK;
        const double at = now();
        if (i >= 0)
            ms[i] = 1000 * (at - before);
        before = at;
    }
    tarn_loader_close(l);
    good = good && tarn_wait(r) == TARN_OK;
    tarn_dataset_close(d);
    return good;
}

/* Milliseconds in tarn_loader_next when the batch has been ready for long: before each call the
 * device ends its work and the loader's thread has had time enough. */
static bool cost(tarn_replica *r, const struct net *n, int count, double *ms)
{
    static uint8_t images[BATCH][PIXELS], labels[BATCH];
    tarn_dataset *d = tarn_dataset_repeat(
        (tarn_arrays){
            .inputs = { { .data = images,
                          .dtype = TARN_U8,
                          .shape = TARN_SHAPE(BATCH, 3, 32, 32) } },
            .targets = { { .data = labels, .dtype = TARN_U8, .shape = TARN_SHAPE(BATCH) } } },
        count + 10);
    tarn_loader *l = tarn_loader_open(r, d, (tarn_loader_options){ .threads = 2 });
    bool good = l != NULL;
    for (int i = -5; good && i < count; i++) {
        const struct timespec rest = { .tv_nsec = 3000000 };
        tarn_batch b;
        good = tarn_wait(r) == TARN_OK;
        (void)nanosleep(&rest, NULL);
        const double start = now();
        good = good && tarn_loader_next(l, &b);
        if (i >= 0)
            ms[i] = 1000 * (now() - start);
        good = good && train(r, n, &b) == TARN_OK;
    }
    tarn_loader_close(l);
    good = good && tarn_wait(r) == TARN_OK;
    tarn_dataset_close(d);
    return good;
}

int main(int argc, char **argv)
{
    (void)setenv("TARN_QUICK", "0", 0); /* measured is what has been optimised */
    static double ms[MOST];
    const int count = argc > 1 ? atoi(argv[1]) : 40;
    const int threads = argc > 2 ? atoi(argv[2]) : 2;
    const double wait = argc > 3 ? atof(argv[3]) : 2;
    if (count < 4 || count > MOST || threads < 1 || wait < 0 || wait > 900)
        return fprintf(stderr, "usage: bench-loading [BATCHES (4 to %d) [THREADS [MS a sample]]]\n",
                       MOST),
               2;
    tarn_replica *r = tarn_open(NULL);
    if (r == NULL)
        return fprintf(stderr, "bench-loading: %s\n", tarn_error(NULL)), 1;
    const struct net n = { .conv = tarn_conv2d_make(r, "conv", 3, 8, 3,
                                                    (tarn_conv2d_options){ .stride = { 2 } }),
                           .fc = tarn_linear_make(r, "fc", 8 * 7 * 7, 10),
                           .sgd = tarn_sgd(r, (tarn_sgd_options){ .lr = 0.01f }) };
    bool good = throughput(r, &n, threads, (long)(wait * 1e6), count, ms);
    if (good) {
        const double took = (double)nanoseconds / (double)calls / 1e6;
        const double best = BATCH * took / threads, asked = BATCH * wait / threads;
        double sum = 0;
        for (int i = 0; i < count; i++)
            sum += ms[i];
        printf(
            "%d samples of 3x32x32, %d threads, calls of %.3f ms (asked for %g): %.1f ms a batch "
            "at best (%.1f)\n",
            BATCH, threads, took, wait, best, asked);
        report("from batch to batch, training", ms, count);
        printf("mean %.1f ms: %.1f %% of the rate that the calls allow, %.1f %% of what they ask "
               "for\n",
               sum / count, 100 * best * count / sum, 100 * asked * count / sum);
        good = cost(r, &n, 5 * count < MOST ? 5 * count : MOST, ms);
    }
    if (good)
        report("tarn_loader_next of a batch that is ready", ms,
               5 * count < MOST ? 5 * count : MOST);
    else
        fprintf(stderr, "bench-loading: %s\n", tarn_error(r));
    tarn_close(r);
    return good ? 0 : 1;
}
