/* SPDX-License-Identifier: Apache-2.0 */
#include "mnist_options.h"

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include <tarn.h>

#include "parse.h"

/* argp finds it by its name, so it must be seen outside of the program. */
__attribute__((visibility("default"))) const char *argp_program_version =
    "mnist (Tarn) " TARN_VERSION;
static const char usage[] =
    "Trains conv-pool-norm twice and two linear layers on handwritten digits (or, when MNIST is "
    "not found, on Fashion-MNIST). Defaults: batches of 128, learning rate 0.01.\vExit status: 0 "
    "success, 1 --target-accuracy missed, 2 usage, "
    "3 bad input file, 4 device, 5 input or output failed (or the standard output is closed), 6 a "
    "device failed or stalled in the middle, or training met a NaN or an infinity. "
    "Weights that differ between devices: 1. Several machines (mpirun): 75 when one of them was "
    "late or "
    "lost, so that it is worth starting again with --resume.";

enum {
    KEY_MOMENTUM = 256,
    KEY_FAKE,
    KEY_EVERY,
    KEY_TARGET,
    KEY_QUIET,
    KEY_CHECK,
    KEY_HEAL,
    KEY_SYNC,
};

/* clang-format off */
static const struct argp_option options[] = {
    { "data",            'd',          "DIR",  0, "folder with the four IDX files, plain or .gz", 0 },
    { "fake-data",       KEY_FAKE,     NULL,   0, "train on synthetic samples", 0 },
    { "epochs",          'e',          "N",    0, "passes over the training set (3)", 0 },
    { "momentum",        KEY_MOMENTUM, "X",    0, "momentum (0.5)", 0 },
    { "check-weights",   KEY_CHECK,    "K",    0, "compare the devices' weights every K steps (1); 0: never", 0 },
    { "heal",            KEY_HEAL,     NULL,   0, "copy the first device's weights to all when they differ", 0 },
    { "sync-norm",       KEY_SYNC,     NULL,   0, "batch norm over the samples of all devices", 0 },
    { "save-every",      KEY_EVERY,    "K",    0, "--save after every K steps, too", 0 },
    { "target-accuracy", KEY_TARGET,   "X",    0, "exit with 1 when the test accuracy is below", 0 },
    { "no-progress",     KEY_QUIET,    NULL,   0, "no progress bar", 0 },
    { NULL,              0,            NULL,   0, NULL, 0 }
};
/* clang-format on */

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
    case 'e':
        c->epochs = parse_whole(state, "epochs", arg, 1, 1000000);
        break;
    case KEY_MOMENTUM:
        c->momentum = parse_real(state, "momentum", arg, 0, 1);
        break;
    case KEY_FAKE:
        c->fake = true;
        break;
    case KEY_EVERY:
        c->save_every = parse_whole(state, "save-every", arg, 1, INT_MAX);
        break;
    case KEY_TARGET:
        c->target = parse_real(state, "target-accuracy", arg, 0, 1);
        break;
    case KEY_QUIET:
        c->progress = false;
        break;
    case KEY_CHECK:
        c->check = parse_whole(state, "check-weights", arg, 0, INT_MAX);
        break;
    case KEY_HEAL:
        c->heal = true;
        break;
    case KEY_SYNC:
        c->sync_norm = true;
        break;
    case ARGP_KEY_ARG:
        usage_error(state, "'%s' is not an option; see --help", arg);
        break;
    case ARGP_KEY_END:
        if (c->fake && c->data != NULL)
            usage_error(state, "--data and --fake-data exclude each other");
        if (c->save_every > 0 && c->run.save == NULL)
            usage_error(state, "--save-every needs --save FILE");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

struct config config_parse(int argc, char **argv)
{
    static const struct argp parser = { options,          parse_option, NULL, usage,
                                        training_options, NULL,         NULL };
    struct config config = { .epochs = 3,
                             .run = { .batch = 128, .lr = 0.01 },
                             .momentum = 0.5,
                             .progress = true,
                             .check = 1 };
    argp_err_exit_status = EXIT_USAGE;
    argp_parse(&parser, argc, argv, 0, NULL, &config);
    return config;
}
