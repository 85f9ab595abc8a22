/* SPDX-License-Identifier: Apache-2.0 */
/* What a replica of a launch has beyond one that trains alone. */
#ifndef TARN_MEMBER_H
#define TARN_MEMBER_H

#include "tarn_dist.h"
#include "communicator.h"
#include "tensor/replica.h"

struct member {
    struct peers peers;                /* first: core sees this part alone */
    struct communicator *communicator; /* of this node */
    int seat;                          /* in it, from 0; peers has the rank of the launch */
    int check_weights; /* training steps from one comparison to the next; 0: never */
    bool heal;
    bool begun;            /* the replicas' weights were made equal */
    uint32_t checked;      /* the last step in which the weights' fingerprint was exchanged */
    uint64_t exchanges;    /* of its plans until weights were compared last, under a mesh */
    struct mesh meshes[8]; /* that collectives by hand were over, from number 1 */
    int mesh_count;
    tarn_tensor passed; /* the latest from place to place */
    uint32_t name;      /* hash of the name of the collectives that are recorded now; 0: none */
};

/* NULL for a replica that trains alone. */
static inline struct member *member_of(const tarn_replica *r)
{
    return r && r->peers ? (struct member *)r->peers : NULL;
}

/* What a collective is for: its name in messages. */
enum purpose { PURPOSE_USER, PURPOSE_GRADIENTS, PURPOSE_BATCH_NORM };

/* Fills in what tells a collective of x from others of its kind (form.c). */
void form_set(tarn_tensor x, enum purpose purpose, union op_arg *arg);
/* Around a gradient rule: what it records has the name of the collective. */
uint32_t form_enter(const struct grad_call *c);
void form_leave(const struct grad_call *c, uint32_t before);

/* peers.exchange (collective.c). */
extern const struct op *const exchange_ops[EXCHANGES];

/* The sum of a bucket of gradients. The last `checksum` elements of x are not summed but must be
 * equal, bit for bit, on all replicas (collective.c). */
tarn_tensor collective_bucket(tarn_tensor x, uint32_t checksum);
/* The sum over all replicas under a name of its own; with virtual shards of the same bits for any
 * number of them. */
tarn_tensor collective_sum(tarn_tensor x, enum purpose purpose);
/* Takes part in a collective of host memory, with the replica's rank and step. */
TARN_CHECKED tarn_status member_collect(tarn_replica *r, struct collective c);

/* Opens, for reading, a copy in memory of what `path` is for rank 0. Collective. */
TARN_CHECKED tarn_status file_fetch(tarn_replica *r, const char *path, int *fd);

/* Adds up words of the host over all ranks (mark.c). Collective. */
TARN_CHECKED tarn_status mark_add_words(tarn_replica *r, const char *what, int32_t *words,
                                        size_t count);
/* Fills in what core asks of a launch (ddp.c). */
void ddp_set_up(struct member *m);

/* int32 [1]: a hash of all that must stay equal, as it was before this step (weights.c). */
tarn_tensor weights_fingerprint(tarn_replica *r);
/* Whether steps without an update may leave another value of it on each replica. */
bool weights_may_drift(const tarn_replica *r, uint32_t owned);
/* Copies rank 0's tensors to all replicas; refuses replicas that own other tensors. Collective. */
TARN_CHECKED tarn_status weights_broadcast(tarn_replica *r);
/* TARN_ERR_WEIGHTS with the first difference, the same line on all replicas, or TARN_OK. */
TARN_CHECKED tarn_status weights_compare(tarn_replica *r);
/* After fingerprints that differ: that line, or, where replicas are to be healed, prints it and copies. */
TARN_CHECKED tarn_status weights_settle(tarn_replica *r);

#endif
