/* SPDX-License-Identifier: Apache-2.0 */
/* Times the all-reduce between host memories of threads, next to memcpy of as many bytes by as many
 * threads at the same time. Bus bandwidth is 2 (N - 1) / N times the bytes of one rank, by time. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "communicator.h"

enum { MOST_RANKS = 4, MOST_TIMES = 2000 };

struct job {
    struct communicator *communicator;
    size_t count;
    int times;
    bool in_place, copies;
};

struct rank {
    const struct job *job;
    int rank;
    tarn_status status;
    double seconds[MOST_TIMES];
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static tarn_status barrier(const struct rank *me)
{
    return communicator_collect(
        me->job->communicator, me->rank,
        &(struct collective){ .kind = COLLECTIVE_BARRIER, .label = "start" });
}

/* Both kinds of round begin and end together on all ranks. */
static tarn_status once(const struct rank *me, void *in, void *out)
{
    const struct job *job = me->job;
    if (!job->copies)
        return communicator_collect(
            job->communicator, me->rank,
            &(struct collective){ .count = job->count, .label = "bench", .in = in, .out = out });
    memcpy(out, in, 4 * job->count);
    return barrier(me);
}

static void *run_rank(void *argument)
{
    struct rank *me = argument;
    const struct job *job = me->job;
    float *in = malloc(4 * job->count), *out = malloc(4 * job->count);
    for (size_t i = 0; in != NULL && out != NULL && i < job->count; i++)
        in[i] = out[i] = 0;
    if (in == NULL || out == NULL)
        communicator_abort(job->communicator, me->rank, TARN_ERR_MEMORY, "no memory");
    for (int i = -2; i < job->times && me->status == TARN_OK; i++) {
        me->status = barrier(me);
        const double began = now();
        if (me->status == TARN_OK)
            me->status = once(me, in, job->in_place && !job->copies ? in : out);
        if (i >= 0)
            me->seconds[i] = now() - began;
    }
    if (me->status != TARN_OK)
        fprintf(stderr, "rank %d: %s\n", me->rank, error_text());
    free(in);
    free(out);
    return NULL;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median over rounds of the slowest rank's seconds; negative on failure. */
static double measure(struct job job, int world)
{
    static struct rank ranks[MOST_RANKS];
    pthread_t threads[MOST_RANKS];
    double slowest[MOST_TIMES] = { 0 };
    bool failed = false;
    if (communicator_new(world, 60, 300, &job.communicator) != TARN_OK)
        return -1;
    for (int i = 0; i < world; i++) {
        ranks[i] = (struct rank){ .job = &job, .rank = i };
        if (pthread_create(&threads[i], NULL, run_rank, &ranks[i]) != 0) {
            fprintf(stderr, "no thread for rank %d\n", i);
            exit(1);
        }
    }
    for (int i = 0; i < world; i++) {
        pthread_join(threads[i], NULL);
        failed |= ranks[i].status != TARN_OK;
        for (int k = 0; k < job.times; k++)
            slowest[k] = ranks[i].seconds[k] > slowest[k] ? ranks[i].seconds[k] : slowest[k];
    }
    communicator_free(job.communicator);
    qsort(slowest, (size_t)job.times, sizeof *slowest, compare);
    return failed ? -1 : slowest[job.times / 2];
}

int main(void)
{
    (void)setenv("TARN_QUICK", "0", 0); /* measured is what has been optimised */
    static const size_t counts[] = { 21840, 1000000, 25000000 };
    static const int times[] = { MOST_TIMES, 200, 15 };
    printf("ranks     floats  in place  all-reduce us  bus GB/s  memcpy us  memcpy GB/s  ratio\n");
    for (int world = 2; world <= MOST_RANKS; world += 2)
        for (int i = 0; i < 3; i++)
            for (int in_place = 0; in_place < 2; in_place++) {
                struct job job = { .count = counts[i], .times = times[i], .in_place = in_place };
                const double sum = measure(job, world);
                job.copies = true;
                const double copy = measure(job, world), bytes = 4 * (double)counts[i];
                if (sum < 0 || copy < 0)
                    return 1;
                const double bus = 2.0 * (world - 1) / world * bytes / sum, plain = bytes / copy;
                printf("%5d %10zu  %8s  %13.1f  %8.2f  %9.1f  %11.2f  %5.2f\n", world, counts[i],
                       in_place ? "yes" : "no", 1e6 * sum, 1e-9 * bus, 1e6 * copy, 1e-9 * plain,
                       bus / plain);
                (void)fflush(stdout);
            }
    return 0;
}
