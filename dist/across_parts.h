/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that bring collectives over the wire share. */
#ifndef TARN_ACROSS_PARTS_H
#define TARN_ACROSS_PARTS_H

#include <pthread.h>

#include "across.h"

struct across {
    int node, nodes;
    int *firsts;
    int forced; /* a schedule, or -1 */
    pthread_mutex_t lock;
    uint64_t failed; /* the collective for which there was no memory */
    char *data, *scratch;
    size_t data_bytes, scratch_bytes;
    struct block *to, *from;
};

#endif
