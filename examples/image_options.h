/* SPDX-License-Identifier: Apache-2.0 */
/* What the user asked of an example that image_trainer.h runs. */
#ifndef IMAGE_OPTIONS_H
#define IMAGE_OPTIONS_H

#include "image_folder.h"
#include "image_trainer.h"
#include "training_options.h"

struct config {
    struct training_options run;
    const char *data, *sheet;
    long epochs;
    double target;
    bool fake, has_target;
    struct image_folder_options folder; /* its path is NULL where none was asked for */
};

/* Reads the command line; ends the program when it is wrong. */
struct config image_parse(const struct example *e, int argc, char **argv);

#endif
