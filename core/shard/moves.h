/* SPDX-License-Identifier: Apache-2.0 */
/* From one state of a value to another: a sequence of collectives, slices and masks, the cheapest by bytes. */
#ifndef TARN_SHARD_MOVES_H
#define TARN_SHARD_MOVES_H

#include "shard/state.h"

enum move_kind {
    MOVE_ALL_GATHER,     /* `axes` no longer cut dimension `from` */
    MOVE_ALL_REDUCE,     /* what was pending along `axes` is whole */
    MOVE_REDUCE_SCATTER, /* ... is cut along `to` */
    MOVE_ALL_TO_ALL,     /* `axes` cut dimension `to`, not `from` */
    MOVE_SLICE,          /* each rank takes its own block of `to`; nothing is exchanged */
    MOVE_MASK            /* the first rank keeps what is whole, the others have 0: a pending sum */
};
struct move {
    enum move_kind kind;
    uint32_t axes;
    int8_t from, to;
    int8_t pending; /* of what */
};
#define MOVES_MOST 16

/* Costs are bytes that a rank receives; among equal ones, fewer calls. */
#define COST_BYTE ((int64_t)1 << 12)
#define COST_NEVER INT64_MAX
int64_t move_cost(const struct mesh *m, const struct move *v, int64_t local_bytes);

/* A value, as far as moving it goes. */
struct cargo {
    tarn_shape shape; /* of all ranks */
    int64_t element;  /* bytes */
    bool masks;       /* it may become a pending sum */
};
/* The cheapest way; COST_NEVER where there is none. `list` (may be NULL) gets *count moves. */
int64_t moves_find(const struct mesh *m, const struct cargo *c, struct state from, struct state to,
                   struct move *list, int *count);

#endif
