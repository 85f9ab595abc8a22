/* SPDX-License-Identifier: Apache-2.0 */
/* What a compiler process is to build: a program, and a launch of each of its kernels in which nothing
 * is done. One block of bytes, so that it can be sent. */
#ifndef TARN_ORDER_H
#define TARN_ORDER_H

#include "backend.h"

/* Who sends and who reads must be of one build. */
#define ORDER_VERSION "1"

struct order {
    uint64_t bytes; /* of all, this included */
    uint64_t source_bytes;
    uint32_t quick; /* without the driver's optimiser */
    uint32_t kernels;
    unsigned char rest[]; /* the source, then each kernel and its arguments */
};

/* For the kernels list[which[0 .. count - 1]]; NULL without memory. Released with free(). */
struct order *order_new(const char *source, const struct kernel_text *list, const int *which,
                        int count);
/* Whether the bytes that came are an order. */
bool order_is_whole(const struct order *o, size_t bytes);
const char *order_source(const struct order *o);

/* Goes through the kernels of an order that is whole. */
struct order_place {
    const struct order *order;
    size_t at;
};
struct order_place order_begin(const struct order *o);
/* The next kernel. Its arguments go into `args`, of which there is room for ORDER_ARGS; buffers are
 * `nothing`, and what does not fit has no launch. */
enum { ORDER_ARGS = 256 };
void order_next(struct order_place *p, struct buffer *nothing, char function[64],
                struct kernel_arg *args, struct idle_launch *idle);

#endif
