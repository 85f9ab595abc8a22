/* SPDX-License-Identifier: Apache-2.0 */
/* Compares what programs give with what they must, and makes failing ones small. */
#ifndef TARN_FUZZ_CHECK_H
#define TARN_FUZZ_CHECK_H

#include <stdio.h>

#include "device.h"

enum configuration {
    RUN_DEFAULT,
    RUN_UNFUSED,  /* TARN_FUSE=0: the same bits */
    RUN_GPU,      /* TARN_SCHEDULE=gpu */
    RUN_WINOGRAD, /* TARN_WINOGRAD=1: where there are convolutions */
    RUN_COUNT
};
extern const char *const configuration_names[RUN_COUNT];

struct outcome {
    bool failed;
    enum configuration in;
    char what[400];
    int results, tested;
    double margin; /* smallest bound / error over the tested results */
    bool error;    /* a call reported an error */
};

/* Runs the program in the default configuration and in `other`. */
void check_program(struct program *p, enum configuration other, struct outcome *out);
enum configuration check_other(const struct program *p);
/* Removes lines and shrinks shapes while it still fails in the same way; at most so many seconds. */
void minimise(struct program *p, struct outcome *out, int seconds);
/* A whole C program that shows what is wrong. */
void print_program(FILE *f, const struct program *p, const struct outcome *o);

/* One line of JSON: its calls, what it draws, and all results with their bounds. False: not a program. */
bool print_json(FILE *f, struct program *p);

#endif
