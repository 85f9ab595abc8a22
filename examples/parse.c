/* SPDX-License-Identifier: Apache-2.0 */
#include "parse.h"

#include <errno.h>
#include <stdlib.h>

long parse_whole(const struct argp_state *state, const char *name, const char *text, long low,
                 long high)
{
    char *end;
    errno = 0;
    const long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < low || value > high)
        argp_failure(state, EXIT_USAGE, 0, "--%s: '%s' is not a whole number from %ld to %ld", name,
                     text, low, high);
    return value;
}

unsigned long long parse_seed(const struct argp_state *state, const char *text)
{
    char *end;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0)
        argp_failure(state, EXIT_USAGE, 0, "--seed: '%s' is not a whole number from 0 to 2^64-1",
                     text);
    return value;
}
