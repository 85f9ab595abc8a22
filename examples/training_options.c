/* SPDX-License-Identifier: Apache-2.0 */
#include "training_options.h"

#include <limits.h>
#include <string.h>

#include "devices.h"
#include "parse.h"

enum { KEY_LR = 256, KEY_DEVICES, KEY_SHARDS, KEY_TIMEOUT, KEY_SAVE, KEY_RESUME, KEY_AMP, KEY_LOG };

/* clang-format off */
static const struct argp_option options[] = {
    { "steps",          'n',         "N",    0, "stop after N steps", 0 },
    { "batch-size",     'b',         "N",    0, "samples in a step", 0 },
    { "lr",             KEY_LR,      "X",    0, "learning rate; the highest where it changes", 0 },
    { "seed",           's',         "N",    0, "seed of weights, order and all that is drawn (0)", 0 },
    { "devices",        KEY_DEVICES, "SPEC", 0, "how many devices (2: a lone CPU is divided), or which: gpu, cpu/2, cpu:0/2, 0,0, part of a name; default: TARN_DEVICES, else all of the best kind", 0 },
    { "device",         'D',         "SPEC", 0, "one device: a number, gpu, cpu, cpu:0/2, part of a name", 0 },
    { "virtual-shards", KEY_SHARDS,  "V",    0, "the same bits on 1, 2, 4 ... V devices", 0 },
    { "timeout",        KEY_TIMEOUT, "S",    0, "seconds that a device may be late (30)", 0 },
    { "amp",            KEY_AMP,     "TYPE", 0, "mixed precision: bf16, or fp16 with a scaled loss", 0 },
    { "save",           KEY_SAVE,    "FILE", 0, "write checkpoints", 0 },
    { "resume",         KEY_RESUME,  "FILE", 0, "go on from a checkpoint", 0 },
    { "log",            KEY_LOG,     "FILE", 0, "write results as JSON Lines (scripts/to-tensorboard)", 0 },
    { NULL,             0,           NULL,   0, NULL, 0 }
};
/* clang-format on */

/* Where it trains. */
static error_t parse_launch(int key, char *arg, const struct argp_state *state)
{
    struct training_options *o = state->input;
    switch (key) {
    case 'D':
        o->devices = arg;
        o->replicas = 1;
        break;
    case KEY_DEVICES:
        if (!devices_parse(arg, &o->devices, &o->replicas))
            usage_error(state, "--devices: '%s' is not a number from 1 to %d", arg, MOST_DEVICES);
        break;
    case KEY_SHARDS:
        o->shards = parse_whole(state, "virtual-shards", arg, 1, 1024);
        break;
    case KEY_TIMEOUT:
        o->timeout = parse_real(state, "timeout", arg, 0.001, 1e6);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct training_options *o = state->input;
    switch (key) {
    case 'n':
        o->steps = parse_whole(state, "steps", arg, 1, INT_MAX);
        break;
    case 'b':
        o->batch = parse_whole(state, "batch-size", arg, 1, 1 << 20);
        break;
    case 's':
        o->seed = parse_seed(state, arg);
        break;
    case KEY_LR:
        o->lr = parse_real(state, "lr", arg, 0, 1e6);
        break;
    case KEY_AMP:
        if (strcmp(arg, "bf16") != 0 && strcmp(arg, "fp16") != 0)
            usage_error(state, "--amp: '%s' is not bf16 or fp16", arg);
        o->amp = arg[0] == 'b' ? TARN_BF16 : TARN_F16;
        break;
    case KEY_SAVE:
        o->save = arg;
        break;
    case KEY_RESUME:
        o->resume = arg;
        break;
    case KEY_LOG:
        o->log = arg;
        break;
    default:
        return parse_launch(key, arg, state);
    }
    return 0;
}

static const struct argp parser = { options, parse_option, NULL, NULL, NULL, NULL, NULL };
const struct argp_child training_options[2] = { { &parser, 0, NULL, 0 }, { NULL, 0, NULL, 0 } };

tarn_launch_options training_launch(const struct training_options *o)
{
    return (tarn_launch_options){ .devices = o->devices,
                                  .count = (int)o->replicas,
                                  .virtual_shards = (int)o->shards,
                                  .timeout = o->timeout };
}

void training_precision(tarn_replica *r, const struct training_options *o)
{
    if (o->amp != TARN_F32)
        tarn_autocast(r, o->amp);
    if (o->amp == TARN_F16)
        (void)tarn_loss_scale(r,
                              (tarn_loss_scale_options){ 0 }); /* a failure sticks to the replica */
}
