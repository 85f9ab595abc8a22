/* SPDX-License-Identifier: Apache-2.0 */
/* The options that all programs have which train: a child of their argp parsers. */
#ifndef TRAINING_OPTIONS_H
#define TRAINING_OPTIONS_H

#include <argp.h>

#include <tarn.h>
#include <tarn_dist.h>

struct training_options {
    const char *devices, *save, *resume, *log; /* NULL where nothing was asked for */
    long batch, steps, replicas, shards;       /* 0 where nothing was asked for */
    double lr, timeout;
    unsigned long long seed;
    tarn_dtype amp; /* float32 where nothing was asked for */
};

/* The parser sets state->child_inputs[0] to its struct training_options, with the defaults, at ARGP_KEY_INIT. */
extern const struct argp_child training_options[2];

/* Mixed precision, if it was asked for: after the optimizers are made, before a checkpoint is loaded. */
void training_precision(tarn_replica *r, const struct training_options *o);
/* How the launch was asked to be. */
tarn_launch_options training_launch(const struct training_options *o);

#endif
