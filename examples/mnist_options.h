/* SPDX-License-Identifier: Apache-2.0 */
/* What the user asked of mnist. */
#ifndef MNIST_OPTIONS_H
#define MNIST_OPTIONS_H

#include <stdbool.h>

struct config {
    const char *data, *devices, *save, *resume, *log;
    long epochs, steps, batch, replicas, shards, check, save_every;
    double lr, momentum, target, timeout;
    unsigned long long seed;
    bool fake, progress, heal, sync_norm;
};

/* Reads the command line; ends the program when it is wrong. */
struct config config_parse(int argc, char **argv);

#endif
