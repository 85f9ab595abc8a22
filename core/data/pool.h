/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of a loader: they fill the batches that come next, several samples at a time, and bring
 * them to the device, some batches ahead of the training loop.
 *
 * A callback may be late, or never come back. Nothing that it may still write to or read is freed
 * before it has: the pool's memory then stays, and the last of its threads frees it. */
#ifndef TARN_POOL_H
#define TARN_POOL_H

#include <pthread.h>

#include "data/dataset.h"
#include "data/sampler.h"
#include "data/transform.h"

#define MAX_PREFETCH 64
#define MAX_THREADS 64

enum slot_state {
    SLOT_FREE,
    SLOT_FILLING,
    SLOT_READY, /* uploaded, waits for its turn */
    SLOT_HANDED /* part of the step `step`, which the device may still compute */
};

/* A batch on the device. */
struct slot {
    struct upload *upload[FIELDS_MOST];
    enum slot_state state;
    uint64_t ticket; /* number of the batch, in order of delivery */
    uint32_t step;
    int32_t n, global;
};

/* Where in the run a batch is. */
struct place {
    uint64_t epoch, batch;
};

/* What a pool is made for. */
struct pool_plan {
    struct source source;
    struct transform transform; /* of the first input */
    struct sampler_cut cut;
    bool shuffle;
    uint64_t seed;
    int rank, world, threads, prefetch;
    int axis;                  /* of a mesh, along which batches are cut; -1: none */
    int32_t most;              /* samples in the largest part */
    uint64_t parts;            /* batches of an epoch in which this replica has a part */
    double timeout;            /* seconds that a callback may take */
    size_t bytes[FIELDS_MOST]; /* of a sample as it is delivered */
};

struct pool;

/* Takes all memory and starts the threads. */
TARN_CHECKED tarn_status pool_open(struct context *c, const struct pool_plan *plan,
                                   struct pool **out);
/* Ends the threads; waits for callbacks no longer than they may take. */
void pool_stop(struct pool *p);
/* Stops, and frees the slots and, as soon as no thread uses it, the rest. NULL is a no-op. */
void pool_free(struct pool *p);
/* Frees one slot, which nobody uses any more. After pool_stop(). */
void pool_free_slot(struct slot *s);

/* The training loop's side; `step` is that under way. */
struct slot *pool_slots(struct pool *p, int *count);
/* Waits for batch number `ticket` since the last seek, and marks it as handed out. */
TARN_CHECKED tarn_status pool_take(struct pool *p, uint64_t ticket, uint32_t step,
                                   struct slot **out);
/* Forgets what was prepared; ticket 0 is the batch at `to`. */
void pool_seek(struct pool *p, struct place to);

#endif
