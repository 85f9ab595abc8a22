/* SPDX-License-Identifier: Apache-2.0 */
/* A training run whose replicas are compared before everybody's eyes; `inject` is the same run with
 * a bit flipped in its middle. */
#ifndef LIVE_H
#define LIVE_H

#include <stdbool.h>

#include "flip.h"

struct live_config {
    const char *data, *devices; /* data NULL: synthetic */
    long count, steps, check, batch, shards;
    unsigned long long seed;
    bool json, heal;
    struct flip flip;
};

/* Reads the command line of watch, or of inject; ends the program when it is wrong. */
struct live_config live_parse(int argc, char **argv, bool inject);

#endif
