/* SPDX-License-Identifier: Apache-2.0 */
#include "parse.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "terminal.h"

/* getopt() prints its line itself; argp would add a second one. */
void usage_init(struct argp_state *state)
{
    FILE *nowhere = fopen("/dev/null", "w");
    if (nowhere != NULL)
        state->err_stream = nowhere;
}

void usage_error(const struct argp_state *state, const char *format, ...)
{
    char line[1000];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    terminal_line(state->name, "%s", line);
    exit(EXIT_USAGE);
}

long parse_whole(const struct argp_state *state, const char *name, const char *text, long low,
                 long high)
{
    char *end;
    errno = 0;
    const long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < low || value > high)
        usage_error(state, "--%s: '%s' is not a whole number from %ld to %ld", name, text, low,
                    high);
    return value;
}

double parse_real(const struct argp_state *state, const char *name, const char *text, double low,
                  double high)
{
    char *end;
    const double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value >= low && value <= high))
        usage_error(state, "--%s: '%s' is not a number from %g to %g", name, text, low, high);
    return value;
}

unsigned long long parse_seed(const struct argp_state *state, const char *text)
{
    char *end;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0)
        usage_error(state, "--seed: '%s' is not a whole number from 0 to 2^64-1", text);
    return value;
}
