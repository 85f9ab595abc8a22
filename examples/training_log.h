/* SPDX-License-Identifier: Apache-2.0 */
/* --log FILE: what training came to, as JSON Lines, an object for each report. */
#ifndef TRAINING_LOG_H
#define TRAINING_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct training_log {
    FILE *file; /* NULL: there is none */
    const char *path;
};

/* What is known at a report; NAN becomes null. */
struct training_point {
    const char *event; /* "epoch", "step", "done" */
    uint64_t epoch, step;
    long steps; /* since the last report, which took `seconds` */
    double seconds, samples, train_loss, lr, tested;
    const char *measure; /* what was tested: "accuracy" */
    int world_size;
};

/* These return false with a line in `problem`. No path: nothing is opened, and nothing written. */
bool training_log_open(struct training_log *log, const char *path, char *problem, size_t capacity);
bool training_log_write(struct training_log *log, const struct training_point *p, char *problem,
                        size_t capacity);
bool training_log_close(struct training_log *log, char *problem, size_t capacity);

#endif
