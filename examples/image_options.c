/* SPDX-License-Identifier: Apache-2.0 */
#include "image_options.h"

#include <argp.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parse.h"

enum { KEY_FAKE = 256, KEY_SHEET, KEY_TARGET, KEY_IMAGES, KEY_SIZE, KEY_FIT, KEY_SHARE };

/* clang-format off */
static const struct argp_option options[] = {
    { "data",           'd',         "DIR",  0, "folder with MNIST's four IDX files, plain or .gz (Debian's Fashion-MNIST)", 0 },
    { "images",         KEY_IMAGES,  "DIR",  0, "folder of PNG and JPEG files, with a folder in it for each class; or of train/ and test/ with such", 0 },
    { "size",           KEY_SIZE,    "N",    0, "height and width that --images become (32)", 0 },
    { "fit",            KEY_FIT,     "HOW",  0, "of --images that are not square: crop, the middle of them (the default); stretch; pad with black", 0 },
    { "test-share",     KEY_SHARE,   "X",    0, "part of each class of --images that is for tests (0.2)", 0 },
    { "fake-data",      KEY_FAKE,    NULL,   0, "train on synthetic digits", 0 },
    { "epochs",         'e',         "N",    0, "passes over the training set", 0 },
    { "sheet",          KEY_SHEET,   "FILE", 0, "write a sheet of images (PGM) after each epoch, where the model makes some", 0 },
    { "target",         KEY_TARGET,  "X",    0, "exit with 1 when the test's result is worse", 0 },
    { NULL,             0,           NULL,   0, NULL, 0 }
};
/* clang-format on */

static enum picture_fit parse_fit(const struct argp_state *state, const char *text)
{
    static const char *const names[] = {
        [PICTURE_CROP] = "crop",
        [PICTURE_STRETCH] = "stretch",
        [PICTURE_PAD] = "pad",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i]) == 0)
            return (enum picture_fit)i;
    usage_error(state, "--fit: '%s' is not crop, stretch or pad", text);
}

static error_t parse_folder(int key, char *arg, const struct argp_state *state)
{
    struct config *c = state->input;
    switch (key) {
    case KEY_IMAGES:
        c->folder.path = arg;
        break;
    case KEY_SIZE:
        c->folder.size = (int)parse_whole(state, "size", arg, 8, 1024);
        break;
    case KEY_FIT:
        c->folder.fit = parse_fit(state, arg);
        break;
    case KEY_SHARE:
        c->folder.test_share = parse_real(state, "test-share", arg, 0.001, 0.999);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct config *c = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        usage_init(state);
        state->child_inputs[0] = &c->run;
        break;
    case 'd':
        c->data = arg;
        break;
    case KEY_FAKE:
        c->fake = true;
        break;
    case 'e':
        c->epochs = parse_whole(state, "epochs", arg, 1, 1000000);
        break;
    case KEY_SHEET:
        c->sheet = arg;
        break;
    case KEY_TARGET:
        c->target = parse_real(state, "target", arg, -1e9, 1e9);
        c->has_target = true;
        break;
    case ARGP_KEY_ARG:
        usage_error(state, "'%s' is not an option; see --help", arg);
        break;
    case ARGP_KEY_END:
        if (c->fake + (c->data != NULL) + (c->folder.path != NULL) > 1)
            usage_error(state, "--data, --images and --fake-data exclude each other");
        break;
    default:
        return parse_folder(key, arg, state);
    }
    return 0;
}

struct config image_parse(const struct example *e, int argc, char **argv)
{
    char about[1200];
    const struct argp parser = { options, parse_option, NULL, about, training_options, NULL, NULL };
    struct config config = { .epochs = e->epochs,
                             .run = { .batch = e->batch, .lr = e->lr },
                             .folder = { .size = 32, .test_share = 0.2 } };
    snprintf(
        about, sizeof about,
        "%s Defaults: %ld epochs, batches of %ld, learning rate %g.\vExit status: 0 success, 1 "
        "--target missed, 2 usage, 3 bad input file, 4 device, 5 input or output failed, 6 a "
        "device failed or stalled in the middle, or training met a NaN or an infinity. Several "
        "machines (mpirun): 75 when one of them was late or lost, so that it is worth starting "
        "again with --resume.",
        e->about, e->epochs, e->batch, e->lr);
    argp_err_exit_status = EXIT_USAGE;
    argp_parse(&parser, argc, argv, 0, NULL, &config);
    return config;
}
