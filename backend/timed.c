/* SPDX-License-Identifier: Apache-2.0 */
/* What takes how long, for choices by measuring. In: something that enqueues. Out: seconds, or a
 * ratio of two. */
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "env.h"
#include "opencl.h"

enum { MOST_TURNS = 15 };

bool tuning_wanted(const struct context *c)
{
    const char *tune = env_text(ENV_TUNE);
    return *tune != '\0' ? strcmp(tune, "0") != 0 : c->device.kind != DEVICE_CPU;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double median_of(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, by_value);
    return values[count / 2];
}

tarn_status time_once(struct context *c, const struct timed *what, double *seconds)
{
    const double begin = seconds_now();
    TRY(what->run(c, what->user));
    TRY(context_finish(c));
    *seconds = seconds_now() - begin;
    return TARN_OK;
}

tarn_status time_ratio(struct context *c, const struct timed *a, const struct timed *b, int turns,
                       double *ratio)
{
    double list[MOST_TURNS];
    turns = turns < MOST_TURNS ? turns : MOST_TURNS;
    for (int i = 0; i < turns; i++) {
        double x, y;
        TRY(time_once(c, b, &y));
        TRY(time_once(c, a, &x));
        list[i] = x / y;
    }
    *ratio = median_of(list, turns);
    return TARN_OK;
}
