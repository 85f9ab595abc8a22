/* SPDX-License-Identifier: Apache-2.0 */
/* Compares what programs give with what they must, and makes failing ones small. */
#ifndef TARN_FUZZ_CHECK_H
#define TARN_FUZZ_CHECK_H

#include <stdio.h>

#include "device.h"

enum configuration {
    RUN_DEFAULT,
    RUN_UNFUSED, /* TARN_FUSE=0: the same bits */
    RUN_GPU,     /* TARN_SCHEDULE=gpu */
    RUN_AVX512,  /* TARN_TARGET=avx512, and so on: the same bits for all CPUs, and for GPUs where */
    RUN_AVX2,    /* nothing is convolved */
    RUN_NEON,
    RUN_GENERIC,
    RUN_NVIDIA,
    RUN_AMD,
    RUN_INTEL,
    RUN_TILE_1, /* TARN_TILE=1, and so on: the same bits */
    RUN_TILE_2,
    RUN_TILE_3,
    RUN_WINOGRAD, /* TARN_WINOGRAD=1: where there are convolutions */
    RUN_ALONE,    /* what several replicas run without exchanges, on one: rank 0's bits */
    RUN_MESH,     /* in a launch with a mesh: the same bits where no sum is split */
    RUN_SHARDS,   /* on 1, 2, 4, ... devices with virtual shards: the same bits */
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
    int rank;      /* of the replica that is wrong */
    bool refused;  /* by virtual shards, on each number of devices, or by a mesh */
    bool whole;    /* no sum is split over the ranks of the mesh */
};

/* Runs the program in the default configuration and in `other`. */
void check_program(struct program *p, enum configuration other, struct outcome *out);
enum configuration check_other(const struct program *p);
/* One program, and what it must give. */
struct check {
    struct program *p;
    const struct interpreter *m;
    const struct results *want;
    struct outcome *o;
};
/* Compares what a replica read with the reference. */
void check_values(const struct check *c, int rank, const struct readings *got,
                  enum configuration in);
/* Compares the bits of two runs, for the results that `matters`, or for all (NULL); `other` names
 * the second. */
void check_bits(const struct check *c, int rank, const struct readings *got,
                const struct readings *other, const char *name, enum configuration in,
                bool (*matters)(const struct check *c, int rank, int result));
/* Runs the program, sets the configuration's variable meanwhile. False: the outcome has the
 * error. */
bool check_run(const struct check *c, enum configuration in, struct readings *out);
/* team.c: the same with several replicas, of which each has its readings. */
bool team_run(const struct check *c, int count, struct readings *out);
/* shards.c: a program with virtual shards on 1, 2, 4, ... replicas. */
void shards_check(const struct check *c);
/* mesh_check.c: a program on one device, and in a launch with a mesh. */
void mesh_check(const struct check *c);
/* Whether a result's bits are the same for vectors and single floats. */
bool check_without_driver(const struct check *c, int rank, int result);
/* What replicas compute alike has the same bits on all. */
void team_compare(const struct check *c, const struct readings *got, enum configuration in);
/* Removes lines and shrinks shapes while it still fails in the same way; at most so many seconds. */
void minimise(struct program *p, struct outcome *out, int seconds);
/* A whole C program that shows what is wrong. */
void print_program(FILE *f, const struct program *p, const struct outcome *o);

/* With the digits that tell all doubles apart; what is no number by the words given. */
void print_number(FILE *f, double v, const char *nan_word, const char *infinity_word);
/* One line of JSON: its calls, what it draws, and all results with their bounds. False: not a
 * program. */
bool print_json(FILE *f, struct program *p);

#endif
