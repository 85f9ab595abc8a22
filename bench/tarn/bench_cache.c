/* SPDX-License-Identifier: Apache-2.0 */
/* tarn-bench cache: what lies in the compile cache, and clearing it. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "terminal.h"

static void print_age(double seconds)
{
    if (seconds < 7200)
        printf("%7.0f min", seconds / 60);
    else if (seconds < 48 * 3600)
        printf("%9.1f h", seconds / 3600);
    else
        printf("%6.1f days", seconds / 86400);
}

/* What PoCL keeps came with an entry of ours, which has the time. */
static void print_cost(double seconds)
{
    if (isfinite(seconds) && seconds >= 0)
        printf("  %7.2f s", seconds);
    else
        printf("  %9s", "-");
}

static int by_use(const void *a, const void *b)
{
    const struct cache_entry *x = a, *y = b;
    return x->idle < y->idle ? -1 : x->idle > y->idle;
}

bool cache_show(void)
{
    struct cache_entry *list;
    size_t count;
    uint64_t bytes = 0;
    double seconds = 0;
    if (!cache_list(&list, &count))
        return false;
    qsort(list, count, sizeof *list, by_use);
    if (count > 0)
        printf("%10s  %11s  %9s  %s\n", "KiB", "unused for", "made in", "entry");
    for (size_t i = 0; i < count; i++) {
        printf("%10.1f  ", (double)list[i].bytes / 1024);
        print_age(list[i].idle);
        print_cost(list[i].seconds);
        printf("  %s: %s\n", list[i].pocl ? "code of PoCL" : "Tarn's",
               terminal_name(list[i].about));
        bytes += list[i].bytes;
        seconds += isfinite(list[i].seconds) ? list[i].seconds : 0;
    }
    printf("%zu entries, %.1f MiB, made in %.1f s\n", count, (double)bytes / (1 << 20), seconds);
    free(list);
    return true;
}

bool cache_empty(double days, double mib)
{
    uint64_t bytes;
    if (!cache_clear(days * 86400, mib * (1 << 20), &bytes))
        return false;
    printf("%.1f MiB removed\n", (double)bytes / (1 << 20));
    return true;
}
