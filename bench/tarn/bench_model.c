/* SPDX-License-Identifier: Apache-2.0 */
/* tarn-bench model: holds what the compiler expects of each kernel of training steps against what it takes. In: networks.
 * Out: a table for each, and the share of its time in which the model is right within a factor of two. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tarn_profile.h>

#include "bench.h"
#include "timed.h"

/* NOTABLE: of a step, from which on a kernel that is mistaken is listed again. */
enum { MOST_RUNS = 1024, STEPS = 7, QUICK_STEPS = 3, QUICK_BATCH = 16, MOST_WORST = 5 };
#define NOTABLE 0.05

struct row {
    char name[160];
    double expected, seconds[STEPS], median;
    const char *bound;
};

struct table {
    int step, run, count;
    struct row rows[MOST_RUNS];
    double all,
        right; /* seconds of a step, and of those kernels that are expected within a factor of two */
};

static void note(const tarn_kernel_run *run, void *user)
{
    struct table *t = user;
    if (t->run == MOST_RUNS)
        return;
    struct row *row = &t->rows[t->run++];
    snprintf(row->name, sizeof row->name, "%s %s", run->name, run->about);
    row->expected = run->expected;
    row->bound = run->bound;
    row->seconds[t->step] = run->seconds;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool is_right(const struct row *row)
{
    return row->expected <= 2 * row->median && row->median <= 2 * row->expected;
}

static void add_up(struct table *t, int steps)
{
    t->count = t->run;
    for (int i = 0; i < t->count; i++) {
        struct row *row = &t->rows[i];
        qsort(row->seconds, (size_t)steps, sizeof *row->seconds, ascending);
        row->median = row->seconds[steps / 2];
        t->all += row->median;
        t->right += is_right(row) ? row->median : 0;
    }
}

/* The first step compiles, the second is as all others are. */
static tarn_status collect(const struct bench *b, const struct timed_network *n, tarn_replica *r,
                           struct table *t)
{
    const int steps = b->quick ? QUICK_STEPS : STEPS;
    struct timed_work w;
    (void)timed_prepare(r, n, b->quick ? QUICK_BATCH : 0, &w);
    tarn_train(r, true);
    w.optimizer = n->optimizer(r);
    TRY(tarn_step(r));
    for (int i = 0; i < 2; i++)
        TRY(timed_train(&w));
    TRY(tarn_profile(r, note, t));
    for (t->step = 0; t->step < steps; t->step++) {
        t->run = 0;
        TRY(timed_train(&w));
    }
    TRY(tarn_profile(r, NULL, NULL));
    add_up(t, steps);
    return tarn_wait(r);
}

/* ---- reports -------------------------------------------------------------------------------- */

static void print_row(const struct table *t, const struct row *row)
{
    printf("%12.1f %12.1f %7.2f %6.1f %%  %-10s %.64s\n", 1e6 * row->expected, 1e6 * row->median,
           row->expected / row->median, 100 * row->median / t->all, row->bound, row->name);
}

/* The kernels that take longest of those that are mistaken. */
static void print_worst(const struct table *t)
{
    double below = INFINITY;
    for (int k = 0; k < MOST_WORST; k++) {
        const struct row *worst = NULL;
        for (int i = 0; i < t->count; i++)
            if (!is_right(&t->rows[i]) && t->rows[i].median < below &&
                t->rows[i].median >= NOTABLE * t->all &&
                (worst == NULL || t->rows[i].median > worst->median))
                worst = &t->rows[i];
        if (worst == NULL)
            return;
        if (k == 0)
            printf("of these more than twice off, with %.0f %% of the step or more\n",
                   100 * NOTABLE);
        print_row(t, worst);
        below = worst->median;
    }
}

static void print_table(const struct timed_network *n, const struct table *t)
{
    printf("%s\n%12s %12s %7s %8s  %-10s kernel\n", n->name, "expected us", "measured us", "ratio",
           "of step", "bound by");
    for (int i = 0; i < t->count; i++)
        print_row(t, &t->rows[i]);
    print_worst(t);
    printf("%s: %.1f %% of %.2f ms within a factor of two\n\n", n->name, 100 * t->right / t->all,
           1e3 * t->all);
}

static void print_json(const struct timed_network *n, const struct table *t)
{
    printf("{\"network\": \"%s\", \"seconds\": %.6g, \"within\": %.4f, \"kernels\": [", n->name,
           t->all, t->right / t->all);
    for (int i = 0; i < t->count; i++)
        printf(
            "%s\n  {\"kernel\": \"%s\", \"expected\": %.6g, \"measured\": %.6g, \"bound\": \"%s\"}",
            i > 0 ? "," : "", t->rows[i].name, t->rows[i].expected, t->rows[i].median,
            t->rows[i].bound);
    printf("]}\n");
}

static bool run_one(const struct bench *b, const struct timed_network *n)
{
    static struct table t;
    tarn_replica *r = bench_open(b);
    t = (struct table){ 0 };
    const bool done = r != NULL && collect(b, n, r, &t) == TARN_OK;
    if (!done)
        fprintf(stderr, "tarn-bench: %s: %s\n", n->name, tarn_error(r));
    else if (b->json)
        print_json(n, &t);
    else
        print_table(n, &t);
    tarn_close(r);
    return done;
}

bool model_run(const struct bench *b, const char *const *names, int count)
{
    const struct timed_network *n;
    bool done = true;
    for (int i = 0; i < count; i++)
        done &= run_one(b, timed_find(names[i]));
    for (int i = 0; count == 0 && (n = timed_at(i)) != NULL; i++)
        done &= run_one(b, n);
    return done;
}
