/* SPDX-License-Identifier: Apache-2.0 */
/* A block of memory on its way to or from another node, in pieces, of which a few are under way at a time:
 * whole blocks would need the receiver's answer to be sent, which waits behind the blocks of the other
 * direction. */
#ifndef TARN_PARCEL_H
#define TARN_PARCEL_H

#include "link.h"

enum {
    PARCEL_PIECE =
        (64 << 10) - 512, /* with a head of the engine's still one that needs no answer */
    PARCEL_WINDOW = 16,
};

struct parcel {
    int node;
    bool receives;
    char *at;
    size_t bytes;
    size_t begun;         /* bytes of pieces that were begun */
    unsigned first, next; /* pieces that ended, and that were begun */
    int tickets[PARCEL_WINDOW];
};

/* Goes on as far as it can without waiting. 1: done, 0: not yet, negative: failed (link->problem).
 * `moved` counts pieces that ended. */
int parcel_poll(struct parcel *t, struct link *link, unsigned long *moved);

#endif
