/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of a launch as a communicator: they meet, compare what they are about to do, and move data
 * between each other's host memory. Knows nothing of tensors, graphs or OpenCL.
 *
 * Threads: each rank calls from one thread; everything here may be called by all ranks at once. */
#ifndef TARN_COMMUNICATOR_H
#define TARN_COMMUNICATOR_H

#include "backend.h"
#include "tensor/mesh.h"
#include "tarn.h"
#include "tarn_dist.h"

struct communicator;
struct across;
struct porter;
struct porter_user;

#define FORM_ANY UINT32_MAX
#define FORM_NAMED (UINT32_MAX - 1)

enum { COMMUNICATOR_MOST = 64 }; /* ranks of a communicator */

enum collective_kind {
    COLLECTIVE_ALL_REDUCE,     /* out[count] = reduction of all ranks' in[count] */
    COLLECTIVE_REDUCE_SCATTER, /* out[count / world]: part `rank` of it */
    COLLECTIVE_ALL_GATHER,     /* out[count * world] */
    COLLECTIVE_BROADCAST,      /* out[count] = in[count] of `root` */
    COLLECTIVE_ALL_TO_ALL,     /* out[count]: part `rank` of everybody's in[count] */
    COLLECTIVE_BARRIER,
    COLLECTIVE_PASS /* out[count] = in[count] of another place of the group; of groups alone */
};

struct collective {
    enum collective_kind kind;
    tarn_reduction reduction;
    tarn_dtype dtype; /* any for movements; of 4 or 8 bytes for reductions, MEAN: a float */
    size_t count;     /* elements of `in` */
    size_t
        checksum; /* ALL_REDUCE of 4 or 8 bytes an element: so many after `count` in `in` must be equal
                         bit for bit on all ranks, and are neither reduced nor written */
    int root;
    /* NULL: all ranks are one group. Else each has those that lie along these axes, in rank order, and ranks of
     * different groups may ask for different types, sizes and reductions. `root` is a place in the group. */
    const struct mesh *mesh;
    uint32_t axes;
    int split,
        join; /* of groups: the dimensions of `shape` that are cut into parts, and along which parts are
                        joined. REDUCE_SCATTER has a `split`, ALL_GATHER a `join`, ALL_TO_ALL both */
    int by,
        only; /* PASS: place i gets what place i - by has; only what that place has, unless -1. Zeros
                        where nobody passes anything */
    bool round; /* PASS: the last place is beside the first */
    const struct collective
        *asked;    /* of groups with ranks on other nodes: what all ranks ask for */
    int stage;     /* likewise, of an ALL_REDUCE: 0, or 1 once each place has its part of the sum */
    uint64_t step; /* of the caller's training: part of what must agree */
    tarn_shape shape;  /* likewise */
    uint32_t origin;   /* of the operand: must agree where it is not 0 */
    uint32_t order;    /* among the operands of the step: must agree where it is not FORM_ANY */
    const char *label; /* a literal or otherwise immortal text, for people; must agree */
    const void *in;    /* of BROADCAST only the root's is read */
    void *out; /* may be `in` for ALL_REDUCE, ALL_TO_ALL and BROADCAST; never a part of it */
};

/* Which ranks of a launch are those of a communicator: all, unless other nodes have some, too. */
struct ranks {
    int first, count, world;
};

/* 1 to COMMUNICATOR_MOST ranks, timeout in seconds, above 0; build_timeout: while one of them compiles. */
TARN_CHECKED tarn_status communicator_new(int world, double timeout, double build_timeout,
                                          struct communicator **out);
/* From now on collectives are of all nodes' ranks, of which `a`, which it owns from here, says which are these;
 * `porter` moves what goes between nodes, and gets what `user` is filled in with. Before the first collective. */
void communicator_join(struct communicator *t, struct across *a, struct porter *porter,
                       struct porter_user *user);
/* After all ranks left, and the porter did. NULL is a no-op. */
void communicator_free(struct communicator *t);
int communicator_world(const struct communicator *t);
/* The node that has a rank of the launch; -1 when there is but one. */
int communicator_node(const struct communicator *t, int rank);
/* The number of a rank's newest collective. */
uint64_t communicator_number(const struct communicator *t, int rank);
/* Which ranks are here. */
struct ranks communicator_ranks(const struct communicator *t);
/* If the launch ends now, then because of that rank among all: its node prints its record first. */
void communicator_blame(struct communicator *t, int rank);

/* `rank` is that in the communicator, from 0, here and below; lines have that of the launch.
 *
 * Takes part in a collective; returns when `out` is filled and nobody reads `in` any more. What the
 * ranks ask for is compared before a byte moves (TARN_ERR_DISAGREE, both sides in the line; `count`,
 * kind, dtype, reduction, shape, origin, order, root, step, checksum, label), and refused if it cannot be done
 * (TARN_ERR_ARGUMENT). Witnesses that differ: TARN_ERR_WEIGHTS. All ranks get the same of these
 * three, with the same line, nothing was written, and the communicator goes on.
 *
 * A rank that is late by more than the timeout: the communicator is aborted, and every call on any rank
 * returns TARN_ERR_STALLED, with a line that names who is missing. In a communicator that was aborted
 * otherwise every call returns TARN_ERR_REPLICA (on the rank that caused it: its own status) and
 * `out` holds nothing of use. Even then nobody reads `in` or writes `out` after the return: a
 * collective that all ranks came to is finished first, since copying ends by itself, and what goes between
 * nodes has a deadline. When ranks of different nodes ask for different things, the communicator is aborted. */
TARN_CHECKED tarn_status communicator_collect(struct communicator *t, int rank,
                                              const struct collective *c);

/* The rank comes to no further collective. Others that wait for it, or come to one later, get
 * TARN_ERR_STALLED at once, with a line that says so. */
void communicator_leave(struct communicator *t, int rank);

/* The rank compiles from now on, or does no longer: others wait for it as long as
 * TARN_BUILD_TIMEOUT says, when that is more than the timeout. */
void communicator_builds(struct communicator *t, int rank, bool begins);

/* Ends the communicator with a cause; the first call counts. Wakes everybody, and does not wait.
 * The step that is told to the others is that of the rank's last collective. `rank` may be -1: no
 * replica's fault. */
void communicator_abort(struct communicator *t, int rank, tarn_status status, const char *line);
/* The cause, TARN_OK when there is none; `line` (may be NULL) gets "rank 1, step 12: ...", `rank`
 * (may be NULL) the rank, the first of several that did not come. */
tarn_status communicator_cause(struct communicator *t, char *line, size_t capacity, int *rank);

/* Writes the last collectives of every rank, newest last, one line each, as JSON objects: rank,
 * sequence, kind, label, count, step, seconds of arrival, start and end since the communicator
 * began (null for what did not happen). `most` lines for each rank, of 1,024 that are kept. */
void communicator_record(struct communicator *t, int most,
                         void (*line)(void *user, const char *text), void *user);

#endif
