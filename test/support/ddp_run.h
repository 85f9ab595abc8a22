/* SPDX-License-Identifier: Apache-2.0 */
/* Trains a small network by tarn_launch(), and brings home what every replica then holds. */
#ifndef TARN_TEST_DDP_RUN_H
#define TARN_TEST_DDP_RUN_H

#include "tarn.h"
#include "tarn_dist.h"

enum {
    DDP_INPUTS = 784,
    DDP_HIDDEN = 16,
    DDP_CLASSES = 10,
    DDP_SAMPLES = 640, /* of the data set */
    DDP_BATCH = 128,
    DDP_STEPS = 32,  /* at most */
    DDP_RANKS = 8,   /* at most */
    DDP_TENSORS = 32 /* at most */
};

/* All tensors of one replica at the end: parameters, buffers, optimizer state. */
struct ddp_tensors {
    int count;
    char name[DDP_TENSORS][64];
    size_t at[DDP_TENSORS + 1]; /* bytes of tensor i: data + at[i] to data + at[i + 1] */
    unsigned char *data;
    float loss[DDP_STEPS]; /* mean over the replicas */
};

struct ddp_run {
    /* What to do. */
    tarn_launch_options launch;
    int first, last; /* steps first .. last - 1 of the run: more than 0 needs `load` */
    uint64_t seed;
    bool norm, dropout, adamw;
    bool plain; /* SGD without momentum */
    float clip; /* 0: no clipping */
    const char *load, *save;
    /* Called before each step, and with `last` after the last; may be NULL. */
    tarn_status (*hook)(tarn_replica *r, int step);
    /* What came of it. */
    tarn_status status;
    char line[1600];
    int world;
    struct ddp_tensors ranks[DDP_RANKS];
};

/* Fills in the second half. */
void ddp_run(struct ddp_run *run);
void ddp_free(struct ddp_run *run);
/* Whether two replicas hold the same bits and saw the same losses; `why` names the first tensor in
 * which they differ. */
bool ddp_equal(const struct ddp_tensors *a, const struct ddp_tensors *b, char *why,
               size_t capacity);
/* One tensor's bytes; NULL when there is none of the name. */
const void *ddp_find(const struct ddp_tensors *t, const char *name, size_t *bytes);

#endif
