/* SPDX-License-Identifier: Apache-2.0 */
/* The command lines of watch and inject: inject has all of watch's options and its own. */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "commands.h"
#include "devices.h"
#include "live.h"

enum { KEY_SHARDS = 256, KEY_TENSOR, KEY_ELEMENT, KEY_BIT, KEY_RANK, KEY_STEP, KEY_HEAL };

#define STATUS_TEXT \
    "2 usage, 3 the data cannot be read or the output not written, 4 device, 5 weights differ " \
    "and " \
    "the library did not say so, 6 a replica failed or stalled."

static const char watch_usage[] =
    "Trains a small network on several devices and compares their weights while it does: the "
    "library in every step, and every --check-weights steps with one hash of all tensors of each "
    "replica.\vExit status: 0 equal, 1 different, " STATUS_TEXT;

static const char inject_usage[] =
    "The run of `tarn-weights watch`, but one bit of one replica's tensor is flipped before a "
    "step.\vExit status: 1 the flip was found, 0 it was found and undone (--heal), " STATUS_TEXT;

/* clang-format off */
static const struct argp_option options[] = {
    { "devices",        'D',        "N|SPEC", 0, "how many devices (2: a lone CPU is divided), or which: gpu, cpu/2, 0,0, part of a name (2)", 0 },
    { "steps",          'n',        "N",   0, "training steps (100)", 0 },
    { "check-weights",  'k',        "K",   0, "show the hashes every K steps, and after the last (10)", 0 },
    { "batch-size",     'b',        "N",   0, "samples of all devices in a step (128)", 0 },
    { "virtual-shards", KEY_SHARDS, "V",   0, "the same bits on 1, 2, 4 ... V devices", 0 },
    { "seed",           's',        "N",   0, "seed of weights, order and synthetic data (0)", 0 },
    { "data",           'd',        "DIR", 0, "folder with MNIST's IDX files; default: synthetic data", 0 },
    { "json",           'j',        NULL,  0, "one JSON object a line", 0 },
    { NULL,             0,          NULL,  0, NULL, 0 }
};

static const struct argp_option flip_options[] = {
    { "tensor",  KEY_TENSOR,  "NAME", 0, "parameter, buffer or optimizer state", 0 },
    { "element", KEY_ELEMENT, "I",    0, "in row-major order, from 0", 0 },
    { "bit",     KEY_BIT,     "B",    0, "0 is the lowest, 31 the sign of a float", 0 },
    { "rank",    KEY_RANK,    "R",    0, "replica", 0 },
    { "step",    KEY_STEP,    "S",    0, "flip before this step; from 2, since the first begins with rank 0's weights everywhere", 0 },
    { "heal",    KEY_HEAL,    NULL,   0, "let the library copy rank 0's weights to all, and go on", 0 },
    { NULL,      0,           NULL,   0, NULL, 0 }
};
/* clang-format on */

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct live_config *c = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        usage_init(state);
        break;
    case 'D':
        if (!devices_parse(arg, &c->devices, &c->count))
            usage_error(state, "--devices: '%s' is not a number from 1 to %d", arg, MOST_DEVICES);
        break;
    case 'n':
        c->steps = parse_whole(state, "steps", arg, 1, INT_MAX);
        break;
    case 'k':
        c->check = parse_whole(state, "check-weights", arg, 1, INT_MAX);
        break;
    case 'b':
        c->batch = parse_whole(state, "batch-size", arg, 1, 1 << 20);
        break;
    case KEY_SHARDS:
        c->shards = parse_whole(state, "virtual-shards", arg, 1, 1024);
        break;
    case 's':
        c->seed = parse_seed(state, arg);
        break;
    case 'd':
        c->data = arg;
        break;
    case 'j':
        c->json = true;
        break;
    case ARGP_KEY_ARG:
        usage_error(state, "'%s' is not an option; see --help", arg);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static void check_flip(const struct argp_state *state, const struct live_config *c)
{
    const struct flip *f = &c->flip;
    if (f->tensor == NULL || f->element < 0 || f->bit < 0 || f->rank < 0 || f->step < 0)
        usage_error(state,
                    "--tensor, --element, --bit, --rank and --step are all needed; see --help");
    if (f->step < 2 || f->step > c->steps)
        usage_error(state, "--step: %ld is not a step from 2 to %ld", f->step, c->steps);
}

static error_t parse_flip(int key, char *arg, struct argp_state *state)
{
    struct live_config *c = state->input;
    struct flip *f = &c->flip;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = c;
        break;
    case KEY_TENSOR:
        f->tensor = arg;
        break;
    case KEY_ELEMENT:
        f->element = parse_whole(state, "element", arg, 0, INT_MAX);
        break;
    case KEY_BIT:
        f->bit = parse_whole(state, "bit", arg, 0, 31);
        break;
    case KEY_RANK:
        f->rank = parse_whole(state, "rank", arg, 0, 65535);
        break;
    case KEY_STEP:
        f->step = parse_whole(state, "step", arg, 0, INT_MAX);
        break;
    case KEY_HEAL:
        c->heal = true;
        break;
    case ARGP_KEY_END:
        check_flip(state, c);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

struct live_config live_parse(int argc, char **argv, bool inject)
{
    static const struct argp watch = { options, parse_option, NULL, watch_usage, NULL, NULL, NULL };
    static const struct argp run = { options, parse_option, NULL, NULL, NULL, NULL, NULL };
    static const struct argp_child shared[] = { { &run, 0, "Of the run:", 1 },
                                                { NULL, 0, NULL, 0 } };
    static const struct argp flip = { flip_options, parse_flip, NULL, inject_usage,
                                      shared,       NULL,       NULL };
    struct live_config c = { .steps = 100,
                             .check = 10,
                             .batch = 128,
                             .flip = { .element = -1, .bit = -1, .rank = -1, .step = -1 } };
    argp_parse(inject ? &flip : &watch, argc, argv, 0, NULL, &c);
    if (c.devices == NULL && c.count == 0)
        c.count = 2;
    return c;
}
