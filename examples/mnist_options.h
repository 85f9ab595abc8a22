/* SPDX-License-Identifier: Apache-2.0 */
/* What the user asked of mnist. */
#ifndef MNIST_OPTIONS_H
#define MNIST_OPTIONS_H

#include <stdbool.h>

#include "training_options.h"

struct config {
    struct training_options run;
    const char *data;
    long epochs, check, save_every;
    double momentum, target;
    bool fake, progress, heal, sync_norm;
};

/* Reads the command line; ends the program when it is wrong. */
struct config config_parse(int argc, char **argv);

#endif
