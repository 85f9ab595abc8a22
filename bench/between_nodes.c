/* SPDX-License-Identifier: Apache-2.0 */
/* Times the all-reduce of host memory between the nodes that mpirun started: between_nodes BYTES TIMES. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "member.h"

enum { MOST_TIMES = 10000 };

struct job {
    size_t count;
    int times;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static tarn_status exchange(tarn_replica *r, size_t count, float *data)
{
    return member_collect(r, (struct collective){ .kind = COLLECTIVE_ALL_REDUCE,
                                                  .reduction = TARN_SUM,
                                                  .dtype = TARN_F32,
                                                  .count = count,
                                                  .label = "bench",
                                                  .in = data,
                                                  .out = data });
}

static tarn_status measure(tarn_replica *r, void *arg)
{
    static double seconds[MOST_TIMES];
    const struct job *job = arg;
    float *data = calloc(job->count, sizeof *data);
    tarn_status s = data != NULL ? TARN_OK : TARN_ERR_MEMORY;
    for (int i = -2; i < job->times && s == TARN_OK; i++) {
        s = tarn_barrier(r);
        const double began = now();
        if (s == TARN_OK)
            s = exchange(r, job->count, data);
        if (i >= 0)
            seconds[i] = now() - began;
    }
    free(data);
    qsort(seconds, (size_t)job->times, sizeof *seconds, compare);
    if (s == TARN_OK)
        tarn_print0(r, "%.3f (%.3f to %.3f)\n", 1e3 * seconds[job->times / 2], 1e3 * seconds[0],
                    1e3 * seconds[job->times - 1]);
    return s;
}

int main(int argc, char **argv)
{
    struct job job = { .count = argc > 1 ? strtoul(argv[1], NULL, 10) / sizeof(float) : 1 << 20,
                       .times = argc > 2 ? atoi(argv[2]) : 9 };
    if (job.count < 1 || job.times < 1 || job.times > MOST_TIMES) {
        fprintf(stderr, "between_nodes BYTES TIMES, at most %d\n", MOST_TIMES);
        return 2;
    }
    const tarn_status s = tarn_launch(measure, &job, (tarn_launch_options){ .count = 1 });
    if (s != TARN_OK)
        fprintf(stderr, "between_nodes: %s\n", tarn_error(NULL));
    return s != TARN_OK;
}
