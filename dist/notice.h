/* SPDX-License-Identifier: Apache-2.0 */
/* What nodes tell each other about the collective that they are about to do, in front of its data: what they
 * ask for, and a hash of what must be equal on all. */
#ifndef TARN_NOTICE_H
#define TARN_NOTICE_H

#include "communicator.h"

/* What one node asks for, or, joined, several nodes with consecutive numbers. Sent as it is. */
struct notice {
    char version[16];      /* of Tarn */
    uint64_t number;       /* of the collective */
    struct collective ask; /* its pointers mean nothing elsewhere */
    uint64_t witness;      /* hash of the words of the checksum */
    int32_t rank;          /* the lowest one that this is of */
    int32_t node;          /* likewise */
    int32_t differs; /* the lowest node whose weights are others than rank 0's here; -1: none */
    char label[64];
};

/* Of a node whose ranks agree on `c`, of which `rank` is the first. `differs`: its ranks' weights do. */
void notice_make(struct notice *n, const struct collective *c, uint64_t number, int rank, int node,
                 bool differs);
/* a becomes a and b together. TARN_ERR_DISAGREE when they ask for different things. */
TARN_CHECKED tarn_status notice_join(struct notice *a, const struct notice *b);

#endif
