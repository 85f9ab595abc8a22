/* SPDX-License-Identifier: Apache-2.0 */
/* What the user asked of gpt. */
#ifndef GPT_OPTIONS_H
#define GPT_OPTIONS_H

#include <stdbool.h>

struct config {
    const char *data, *devices, *save, *resume, *prompt;
    long layers, width, heads, context, batch, steps, every, sample, replicas, shards;
    double lr, dropout, timeout, temperature, target;
    unsigned long long seed;
};

/* Reads the command line; ends the program when it is wrong. */
struct config config_parse(int argc, char **argv);

#endif
