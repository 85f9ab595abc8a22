/* SPDX-License-Identifier: Apache-2.0 */
/* Values: what lies in memory while a plan runs. */
#ifndef TARN_VALUE_H
#define TARN_VALUE_H

#include "tarn.h"

enum value_place {
    PLACE_ARENA,
    PLACE_SCRATCH, /* local memory: one batch block, of one kernel */
    PLACE_INPUT,
    PLACE_OWNED,
    PLACE_LEFT, /* an owned tensor that is written once, before it is read: what a loop leaves for its gradient */
    PLACE_OUTPUT,
    PLACE_SHARED
};
enum layout { LAYOUT_PLAIN, LAYOUT_BLOCKED }; /* row-major; [N/16][rest][16] */

struct value {
    enum value_place place;
    enum layout layout;
    uint32_t slot; /* of input, owned tensor, output, or memory shared with the host */
    size_t offset; /* bytes into the arena or scratch, set by memplan or use_scratch */
    tarn_shape shape;
    tarn_dtype dtype;
    size_t bytes;
    int copy_stride; /* elements between the copies that each group has of it; 0: there is one */
    bool kept;    /* from one run to the next, in memory of the plan's own and not in the arena */
    bool by_part; /* each part of a group makes it for itself, */
    int part_stride; /* in copies so many elements apart; 0: there is one */
    int64_t
        worker_stride; /* likewise: one block for each worker of its kernel; 0: room for all blocks */
    int room; /* value + 1, of all workers of its chain, in which it lies for the samples at hand (rooms.c); 0: in none */
    int first, last; /* kernels that write and read it */
    int window_of;   /* value + 1 that this is a piece of (windows.c); 0: none; */
    int window_from; /* then its first element */
    int named_in;    /* the kernel + 1 that named it last (print_kernel.c); 0: none */
};

#endif
