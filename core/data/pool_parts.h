/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of a pool: shared by its threads' side (work.c) and the training loop's (pool.c). */
#ifndef TARN_POOL_PARTS_H
#define TARN_POOL_PARTS_H

#include "data/pool.h"

/* A batch being filled. The samples at places 0 .. taken - 1 have been handed to workers. */
struct job {
    bool busy;
    int track;    /* in a trace; 0: none */
    double began; /* to be filled, by seconds_now() */
    struct slot *slot;
    struct place at;
    uint64_t ticket, seeks;
    int32_t n, global, taken, left; /* left: not done yet */
    int32_t failed;                 /* first place that failed; n: none */
    tarn_status status;
    char error[1024];
    int32_t *index; /* numbers of the samples */
    uint8_t *memory[FIELDS_MOST];
};

struct worker {
    struct pool *pool;
    pthread_t thread;
    uint8_t *scratch; /* a sample before its transform, when a callback writes it */
    /* Under the lock. */
    bool ended;
    bool calling; /* a callback, since `began`, for sample `index` of `job` */
    double began;
    int32_t index;
    struct job *job;
};

struct pool {
    struct pool_plan plan;
    struct worker workers[MAX_THREADS];
    int started;
    int32_t *order; /* of epoch `order_epoch`; by whoever begins a batch */
    uint64_t order_epoch;
    bool ordered;

    /* Under the lock. */
    pthread_mutex_t lock;
    pthread_cond_t work; /* there is something to do for workers */
    pthread_cond_t done; /* they have done something */
    struct slot slots[MAX_PREFETCH + 2];
    int slot_count;
    struct job jobs[MAX_THREADS + 1];
    int job_count;
    struct job *current; /* has samples that no worker has taken; NULL: none */
    bool beginning;      /* a worker begins a batch */
    struct place ahead;  /* the batch to begin next */
    uint64_t ahead_ticket;
    uint64_t seeks; /* tells a batch begun before a seek */
    bool failed;    /* batch `failed_ticket` has; none is begun after it */
    uint64_t failed_ticket;
    tarn_status status; /* of the batch that failed */
    char error[1024];
    bool stop, abandoned;
    int running; /* workers that have not ended */
};

/* A worker's life; its argument is the worker. */
void *work_main(void *worker);
/* Takes back the samples of the current batch that nobody has begun. Locked. */
void work_drop_current(struct pool *p);
/* Frees what no thread uses any more, and the pool. */
void pool_dispose(struct pool *p);

#endif
