/* SPDX-License-Identifier: Apache-2.0 */
/* tarn-bench target: measures figures of a device, and keeps them for all programs. */
#include <stdio.h>
#include <string.h>

#include "target_measure.h"

static void print_table(const struct device *d, const struct device_figures *measured)
{
    const struct device_figures usual = figures_default(d), used = figures_of(d);
    double m[FIGURE_COUNT], u[FIGURE_COUNT], now[FIGURE_COUNT];
    figures_values(measured, m);
    figures_values(&usual, u);
    figures_values(&used, now);
    printf("%-24s %12s %12s %12s   %s\n", "figure", "measured", "default", "used", "meaning");
    for (int i = 0; i < FIGURE_COUNT; i++)
        printf("%-24s %12.4g %12.4g %12.4g   %s\n", figure_rows[i].name, m[i], u[i], now[i],
               figure_rows[i].meaning);
}

static void print_json(const struct device *d, const struct device_figures *measured)
{
    const struct device_figures usual = figures_default(d), used = figures_of(d);
    double m[FIGURE_COUNT], u[FIGURE_COUNT], now[FIGURE_COUNT];
    figures_values(measured, m);
    figures_values(&usual, u);
    figures_values(&used, now);
    printf("{\"number\": %d, \"part\": %d, \"parts\": %d, \"figures\": {", d->number, d->part,
           d->parts);
    for (int i = 0; i < FIGURE_COUNT; i++)
        printf("%s\"%s\": {\"measured\": %.6g, \"default\": %.6g, \"used\": %.6g}",
               i > 0 ? ", " : "", figure_rows[i].name, m[i], u[i], now[i]);
    printf("}}\n");
}

/* What was measured is never kept when it cannot be true. */
bool target_run(struct bench *b, bool keep)
{
    const struct device *d = b->device;
    struct device_figures f = figures_default(d);
    const double begin = seconds_now();
    tarn_status status = figures_measure(d, &f);
    if (status == TARN_OK)
        status = figures_check(&f);
    if (status == TARN_OK && keep)
        status = figures_keep(d, &f, seconds_now() - begin);
    if (status != TARN_OK)
        return false;
    if (b->json) {
        print_json(d, &f);
        return true;
    }
    char name[256];
    device_describe(d, name, sizeof name);
    printf("device    %s, driver %s\n\n", name, d->driver);
    print_table(d, &f);
    printf("\nmeasured in %.0f s%s\n", seconds_now() - begin,
           keep ? ", kept in the compile cache for all programs" : "");
    return true;
}
