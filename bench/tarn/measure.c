/* SPDX-License-Identifier: Apache-2.0 */
/* Items and their timing: the median of blocks, each long enough for the clock. */
#include "bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCKS = 9, LEAST_BLOCKS = 3, MOST_RUNS = 2000 };

double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- items ---------------------------------------------------------------------------------- */

/* Whether one of the names of --only is the beginning of `name`, or (for a group) goes on from
 * it. */
static bool chosen(const struct bench *b, const char *name, bool group)
{
    if (b->only == NULL)
        return true;
    for (const char *at = b->only; *at != '\0'; at += *at == ',') {
        const size_t length = strcspn(at, ","), whole = strlen(name);
        const size_t compared = group && whole < length ? whole : length;
        if (length > 0 && strncmp(at, name, compared) == 0)
            return true;
        at += length;
    }
    return false;
}

bool bench_wants(const struct bench *b, const char *prefix)
{
    return chosen(b, prefix, true);
}

struct item *item_new(struct bench *b, const char *unit, double flops, double bytes,
                      const char *name, ...)
{
    struct item *i = &b->items[b->count];
    if (b->count == MOST_ITEMS)
        return NULL;
    *i = (struct item){ .unit = unit, .flops = flops, .bytes = bytes };
    va_list arguments;
    va_start(arguments, name);
    (void)vsnprintf(i->name, sizeof i->name, name, arguments);
    va_end(arguments);
    if (!chosen(b, i->name, false))
        return NULL;
    b->count++;
    return i;
}

static void done(const struct bench *b, const struct item *i)
{
    if (!b->json)
        report_item(i);
}

void item_rate(struct bench *b, struct item *i, double amount, const struct times *t)
{
    i->seconds = t->median;
    i->value = amount / t->median;
    i->least = amount / t->most;
    i->most = amount / t->least;
    done(b, i);
}

void item_time(struct bench *b, struct item *i, double scale, const struct times *t)
{
    i->seconds = t->median;
    i->value = scale * t->median;
    i->least = scale * t->least;
    i->most = scale * t->most;
    done(b, i);
}

void item_number(struct bench *b, struct item *i, double value)
{
    i->value = i->least = i->most = value;
    done(b, i);
}

void item_fail(struct bench *b, struct item *i, const char *line)
{
    snprintf(i->error, sizeof i->error, "%s", *line != '\0' ? line : "failed without a line");
    b->failed++;
    done(b, i);
}

/* ---- timing --------------------------------------------------------------------------------- */

static tarn_status block(const struct work *w, int runs, double *seconds)
{
    const double begin = seconds_now();
    for (int i = 0; i < runs; i++)
        TRY(w->once(w->arg));
    TRY(w->wait(w->arg));
    *seconds = (seconds_now() - begin) / runs;
    return TARN_OK;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The second run decides, since the first may compile; then a whole block, which is not counted. */
static tarn_status warm_up(const struct work *w, double budget, int *runs)
{
    double seconds;
    TRY(block(w, 1, &seconds));
    TRY(block(w, 1, &seconds));
    TRY(block(w, seconds * 10 < budget ? 5 : 1, &seconds));
    const double wanted = budget / BLOCKS / (seconds > 1e-7 ? seconds : 1e-7);
    *runs = wanted < 1 ? 1 : wanted > MOST_RUNS ? MOST_RUNS : (int)wanted;
    return TARN_OK;
}

tarn_status measure(const struct bench *b, const struct work *w, struct times *out)
{
    const double budget = b->quick ? 0.02 : 0.2;
    double seconds[BLOCKS], sum = 0;
    int runs, blocks = 0;
    TRY(warm_up(w, budget, &runs));
    while (blocks < BLOCKS && (blocks < LEAST_BLOCKS || sum < budget)) {
        TRY(block(w, runs, &seconds[blocks]));
        sum += seconds[blocks++] * runs;
    }
    qsort(seconds, (size_t)blocks, sizeof *seconds, ascending);
    *out = (struct times){ seconds[blocks / 2], seconds[0], seconds[blocks - 1] };
    return TARN_OK;
}
