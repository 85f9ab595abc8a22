/* SPDX-License-Identifier: Apache-2.0 */
/* What the nodes do together for one collective, as a state machine over a link: rounds of blocks that go
 * and come, with sums between them. No threads, no clocks: somebody else asks it to go on.
 *
 * Sums of nodes follow the tree of pattern.h over node numbers, on each of the three schedules, so that
 * these may be chosen by size: all give the same bits. */
#ifndef TARN_ROUNDS_H
#define TARN_ROUNDS_H

#include "communicator.h"
#include "notice.h"
#include "parcel.h"

enum rounds_kind {
    ROUNDS_DIRECT,  /* chunk j of all goes to node j, which adds it up and sends the sum to all */
    ROUNDS_HALVING, /* halves, with the next node first, then the next pair ...; and back */
    ROUNDS_DOUBLING /* the whole with the next node, then the next pair ... */
};

/* The schedule that is the fastest for so many nodes and bytes. */
enum rounds_kind rounds_choose(int nodes, size_t bytes);
/* DIRECT is for any number of nodes, the others are for powers of two. */
bool rounds_fits(enum rounds_kind kind, int nodes);

enum task_kind {
    TASK_COMPARE,   /* nothing moves but the notices */
    TASK_REDUCE,    /* data[count] becomes the reduction over all nodes */
    TASK_BROADCAST, /* data[bytes] becomes that of `root` */
    TASK_EXCHANGE   /* to[i] goes to node i and comes into from[i], as many bytes as it sends */
};

struct block {
    void *at;
    size_t bytes;
};

/* All memory stays the caller's, and must not change or end before the schedule does. */
struct task {
    enum task_kind kind;
    enum rounds_kind schedule;
    tarn_dtype dtype;         /* REDUCE: one that pattern.h adds up */
    tarn_reduction reduction; /* REDUCE: any but TARN_MEAN */
    void *data;
    size_t count;  /* REDUCE: elements; BROADCAST: bytes */
    void *scratch; /* REDUCE: rounds_scratch() bytes */
    int root;
    const struct block *to, *from; /* EXCHANGE: one for each node; the own one is not looked at */
    struct notice notice;          /* what this node asks for */
};

struct rounds;

/* Bytes of `scratch` for so many elements. */
size_t rounds_scratch(int nodes, size_t count, tarn_dtype dtype);

TARN_CHECKED tarn_status rounds_new(struct link *link, struct rounds **out);
/* NULL is a no-op. The link forgets no message that is under way: after a failure memory must stay. */
void rounds_free(struct rounds *s);

TARN_CHECKED tarn_status rounds_begin(struct rounds *s, const struct task *task);
/* Goes on as far as it can without waiting; *over is set at its end. TARN_ERR_DISAGREE when another node asks
 * for something else, TARN_ERR_STALLED when the link failed: then no other may begin. */
TARN_CHECKED tarn_status rounds_poll(struct rounds *s, bool *over);
/* After its end: all notices as one. */
const struct notice *rounds_notice(const struct rounds *s);
/* Grows whenever something moved. */
unsigned long rounds_moved(const struct rounds *s);

#endif
