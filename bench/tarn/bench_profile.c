/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of the training step, one by one: the median of their runs in several steps. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tarn_profile.h>

#include "model.h"

enum { MOST_KERNELS = 192, STEPS = 25, QUICK_STEPS = 5, WIDE = 44, BATCH = 128 };

struct kernel_times {
    char name[64];
    double flops, bytes, seconds[STEPS];
};

struct profile {
    int step, kernel; /* the one that runs now */
    int count;        /* kernels of a step */
    struct kernel_times kernels[MOST_KERNELS];
};

static void note(const tarn_kernel_run *run, void *user)
{
    struct profile *p = user;
    if (p->kernel == MOST_KERNELS)
        return;
    struct kernel_times *k = &p->kernels[p->kernel++];
    const int length = snprintf(k->name, sizeof k->name, "kernel/%s %s", run->name, run->about);
    if (length > WIDE)
        memcpy(k->name + WIDE - 3, "...", 4);
    k->flops = run->flops;
    k->bytes = run->bytes;
    k->seconds[p->step] = run->seconds;
}

/* The second step, for the first compiles; then those that count. */
static tarn_status collect(struct model *m, int steps, struct profile *p)
{
    TRY(model_make(m, BATCH));
    TRY(model_step(m));
    TRY(model_step(m));
    TRY(tarn_profile(m->replica, note, p));
    for (p->step = 0; p->step < steps; p->step++) {
        p->kernel = 0;
        TRY(model_step(m));
    }
    p->count = p->kernel;
    return tarn_wait(m->replica);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(struct bench *b, struct kernel_times *k, int steps)
{
    struct item *i = item_new(b, "us", k->flops, k->bytes, "%s", k->name);
    if (i == NULL)
        return;
    qsort(k->seconds, (size_t)steps, sizeof *k->seconds, ascending);
    item_time(b, i, 1e6,
              &(struct times){ k->seconds[steps / 2], k->seconds[0], k->seconds[steps - 1] });
}

void kernel_run(struct bench *b)
{
    static struct profile p;
    const int steps = b->quick ? QUICK_STEPS : STEPS;
    struct model m = { .replica = bench_open(b) };
    p = (struct profile){ 0 };
    if (m.replica != NULL && collect(&m, steps, &p) == TARN_OK) {
        for (int k = 0; k < p.count; k++)
            report(b, &p.kernels[k], steps);
    } else {
        struct item *i = item_new(b, "us", 0, 0, "kernel/");
        if (i != NULL)
            item_fail(b, i, tarn_error(m.replica));
    }
    tarn_close(m.replica);
}
