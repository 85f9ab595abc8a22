/* SPDX-License-Identifier: Apache-2.0 */
/* What the user asked of mnist. */
#ifndef MNIST_OPTIONS_H
#define MNIST_OPTIONS_H

#include "parse.h" /* EXIT_USAGE */

#include <stdbool.h>

enum exit_code {
    EXIT_OK = 0,
    EXIT_TARGET = 1, /* accuracy missed, or weights that differ between devices */
    EXIT_FILE = 3,
    EXIT_DEVICE = 4,
    EXIT_IO = 5,
    EXIT_REPLICA = 6, /* a device failed in the middle, or did not come back; NaN or infinity */
    EXIT_AGAIN = 75   /* several machines: one was late or lost */
};

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
