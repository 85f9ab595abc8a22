/* SPDX-License-Identifier: Apache-2.0 */
#include "mnist_options.h"

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include <tarn.h>

#include "devices.h"
#include "parse.h"

/* argp finds it by its name, so it must be seen outside of the program. */
__attribute__((visibility("default"))) const char *argp_program_version =
    "mnist (Tarn) " TARN_VERSION;
static const char usage[] =
    "Trains conv-pool-norm twice and two linear layers on handwritten digits (or, when MNIST is "
    "not found, on Fashion-MNIST).\vExit status: 0 success, 1 --target-accuracy missed, 2 usage, "
    "3 bad input file, 4 device, 5 input or output failed (or the standard output is closed), 6 a "
    "device failed or stalled in the middle, or training met a NaN or an infinity. "
    "Weights that differ between devices: 1. Several machines (mpirun): 75 when one of them was "
    "late or "
    "lost, so that it is worth starting again with --resume.";

enum {
    KEY_LR = 256,
    KEY_MOMENTUM,
    KEY_FAKE,
    KEY_SAVE,
    KEY_EVERY,
    KEY_RESUME,
    KEY_LOG,
    KEY_TARGET,
    KEY_QUIET,
    KEY_CHECK,
    KEY_SHARDS,
    KEY_TIMEOUT,
    KEY_HEAL,
    KEY_SYNC,
    KEY_DEVICES
};

/* clang-format off */
static const struct argp_option options[] = {
    { "data",            'd',          "DIR",  0, "folder with the four IDX files, plain or .gz", 0 },
    { "fake-data",       KEY_FAKE,     NULL,   0, "train on synthetic samples", 0 },
    { "epochs",          'e',          "N",    0, "passes over the training set (3)", 0 },
    { "steps",           'n',          "N",    0, "stop after N steps, whatever --epochs says", 0 },
    { "batch-size",      'b',          "N",    0, "samples in a step (128)", 0 },
    { "lr",              KEY_LR,       "X",    0, "learning rate (0.01)", 0 },
    { "momentum",        KEY_MOMENTUM, "X",    0, "momentum (0.5)", 0 },
    { "seed",            's',          "N",    0, "seed of weights and order (0)", 0 },
    { "devices",         KEY_DEVICES,  "SPEC", 0, "how many devices (2: a lone CPU is divided), or which: gpu, cpu/2, cpu:0/2, 0,0, part of a name; default: TARN_DEVICES, else all of the best kind", 0 },
    { "device",          'D',          "SPEC", 0, "one device: a number, gpu, cpu, cpu:0/2, part of a name", 0 },
    { "check-weights",   KEY_CHECK,    "K",    0, "compare the devices' weights every K steps (1); 0: never", 0 },
    { "heal",            KEY_HEAL,     NULL,   0, "copy the first device's weights to all when they differ", 0 },
    { "virtual-shards",  KEY_SHARDS,   "V",    0, "the same bits on 1, 2, 4 ... V devices", 0 },
    { "sync-norm",       KEY_SYNC,     NULL,   0, "batch norm over the samples of all devices", 0 },
    { "timeout",         KEY_TIMEOUT,  "S",    0, "seconds that a device may be late (30)", 0 },
    { "save",            KEY_SAVE,     "FILE", 0, "write a checkpoint after each epoch", 0 },
    { "save-every",      KEY_EVERY,    "K",    0, "and after every K steps", 0 },
    { "resume",          KEY_RESUME,   "FILE", 0, "go on from a checkpoint", 0 },
    { "log",             KEY_LOG,      "FILE", 0, "write results as JSON Lines", 0 },
    { "target-accuracy", KEY_TARGET,   "X",    0, "exit with 1 when the test accuracy is below", 0 },
    { "no-progress",     KEY_QUIET,    NULL,   0, "no progress bar", 0 },
    { NULL,              0,            NULL,   0, NULL, 0 }
};
/* clang-format on */

/* Which devices train, and how they work together. */
static error_t parse_devices(int key, char *arg, const struct argp_state *state)
{
    struct config *c = state->input;
    switch (key) {
    case 'D':
        c->devices = arg;
        c->replicas = 1;
        break;
    case KEY_DEVICES:
        if (!devices_parse(arg, &c->devices, &c->replicas))
            usage_error(state, "--devices: '%s' is not a number from 1 to %d", arg, MOST_DEVICES);
        break;
    case KEY_CHECK:
        c->check = parse_whole(state, "check-weights", arg, 0, INT_MAX);
        break;
    case KEY_SHARDS:
        c->shards = parse_whole(state, "virtual-shards", arg, 1, 1024);
        break;
    case KEY_TIMEOUT:
        c->timeout = parse_real(state, "timeout", arg, 0.001, 1e6);
        break;
    case KEY_HEAL:
        c->heal = true;
        break;
    case KEY_SYNC:
        c->sync_norm = true;
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
        break;
    case 'd':
        c->data = arg;
        break;
    case 'e':
        c->epochs = parse_whole(state, "epochs", arg, 1, 1000000);
        break;
    case 'n':
        c->steps = parse_whole(state, "steps", arg, 1, INT_MAX);
        break;
    case 'b':
        c->batch = parse_whole(state, "batch-size", arg, 1, 1 << 20);
        break;
    case 's':
        c->seed = parse_seed(state, arg);
        break;
    case KEY_LR:
        c->lr = parse_real(state, "lr", arg, 0, 1e6);
        break;
    case KEY_MOMENTUM:
        c->momentum = parse_real(state, "momentum", arg, 0, 1);
        break;
    case KEY_FAKE:
        c->fake = true;
        break;
    case KEY_SAVE:
        c->save = arg;
        break;
    case KEY_EVERY:
        c->save_every = parse_whole(state, "save-every", arg, 1, INT_MAX);
        break;
    case KEY_RESUME:
        c->resume = arg;
        break;
    case KEY_LOG:
        c->log = arg;
        break;
    case KEY_TARGET:
        c->target = parse_real(state, "target-accuracy", arg, 0, 1);
        break;
    case KEY_QUIET:
        c->progress = false;
        break;
    case ARGP_KEY_ARG:
        usage_error(state, "'%s' is not an option; see --help", arg);
        break;
    case ARGP_KEY_END:
        if (c->fake && c->data != NULL)
            usage_error(state, "--data and --fake-data exclude each other");
        if (c->save_every > 0 && c->save == NULL)
            usage_error(state, "--save-every needs --save FILE");
        break;
    default:
        return parse_devices(key, arg, state);
    }
    return 0;
}

struct config config_parse(int argc, char **argv)
{
    static const struct argp parser = { options, parse_option, NULL, usage, NULL, NULL, NULL };
    struct config config = {
        .epochs = 3, .batch = 128, .lr = 0.01, .momentum = 0.5, .progress = true, .check = 1
    };
    argp_err_exit_status = EXIT_USAGE;
    argp_parse(&parser, argc, argv, 0, NULL, &config);
    return config;
}
