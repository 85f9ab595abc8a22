/* SPDX-License-Identifier: Apache-2.0 */
/* Loops of a step. The body of a scan is recorded once, among the step's nodes: leaves stand for what it
 * gets in each step, and nobody outside of it uses what is between its first node and its last. The scan
 * itself is one node, whose operands are the carries' first values, what is taken in slices, and what
 * the body captures. Its value is flat: of each carry all that it was, and then what each step
 * put out. Pieces of it (op_piece) are what the program sees. */
#ifndef TARN_SCAN_H
#define TARN_SCAN_H

#include "tensor/graph.h"

/* A carry has room for its first value and those after each step; or, where nobody asks for what it was
 * between, for two in turn. */
enum scan_room { ROOM_ALL, ROOM_TWO };

/* Flags of a loop's operands, or of its results. */
struct scan_bits {
    uint64_t word[SCAN_MOST / 64];
};
static inline bool scan_bit(const struct scan_bits *b, uint32_t k)
{
    return (b->word[k / 64] >> k % 64 & 1) != 0;
}
static inline void scan_set_bit(struct scan_bits *b, uint32_t k)
{
    b->word[k / 64] |= (uint64_t)1 << k % 64;
}

struct scan {
    uint32_t node;                      /* the op_scan */
    uint32_t first, end;                /* nodes of the body, and some that it leaves unused */
    uint32_t steps;                     /* in memory, slices lie in the order of these steps; */
    uint32_t reversed;                  /* a loop that begins at the last one */
    uint32_t first_serial, serials;     /* of random numbers of one step */
    uint32_t carries, slices, captures; /* operands, in this order: */
    uint32_t value[SCAN_MOST];          /* leaves of the body; of captures the operand itself */
    uint32_t offset[SCAN_MOST]; /* of slices: the element of the operand that is the first's */
    uint32_t results;           /* the carries' next values, then what is put out */
    uint32_t result[SCAN_MOST]; /* nodes: of the body, or captured */
    uint32_t place[SCAN_MOST];  /* where it begins in the flat value, in elements */
    uint32_t room[SCAN_MOST];   /* of carries: enum scan_room */
    uint32_t elements;          /* of the flat value, */
    uint32_t dtype; /* and what they are: float64 where that is carried or comes in, else float32 */
    uint32_t kept; /* the last results: what the gradient reads of a step, and would compute anew */
    uint32_t unread; /* it ran while no gradient was asked for, and stored none of these */
    struct scan_bits
        blocked; /* once it ran: results that lie in blocks of samples, each step's (loop_blocks.c) */
    uint32_t own; /* some carry does not stay what it is labelled: all is the replica's own */
    /* Under a mesh, once it ran: how results are cut, and where they begin in this rank's part of the flat value. */
    struct spec cut[SCAN_MOST];
    uint32_t pending[SCAN_MOST]; /* axes of the mesh along which they are to be added up */
    uint32_t part_place[SCAN_MOST], part_elements;
};

static inline uint32_t scan_operands(const struct scan *s)
{
    return s->carries + s->slices + s->captures;
}
/* The step in memory that is number `i` of the loop. */
static inline uint32_t scan_time(const struct scan *s, uint32_t i)
{
    return s->reversed ? s->steps - 1 - i : i;
}
/* Where in its room a carry lies after so many steps. */
static inline uint32_t scan_slot(const struct scan *s, uint32_t carry, uint32_t after)
{
    return s->room[carry] == ROOM_TWO ? after & 1 : s->reversed ? s->steps - after : after;
}
/* Whether result k is a carry's next value, which lies among the carry's: its number, or -1. */
static inline int scan_carry_of(const struct scan *s, uint32_t k)
{
    for (uint32_t j = 0; j < s->carries; j++)
        if (s->result[j] == s->result[k] && s->room[j] == ROOM_ALL)
            return (int)j;
    return -1;
}

/* What so many elements take of the flat value: results begin at multiples of 64 bytes. */
static inline uint64_t scan_room(uint64_t elements)
{
    return (elements + 15) / 16 * 16;
}

static inline size_t scan_element_bytes(const struct scan *s)
{
    return tarn_dtype_bytes((tarn_dtype)s->dtype);
}

/* Whether axis 0 of a node are steps, though it is labelled as their values are. */
bool scan_steps_lead(const struct node *n);
/* Constants and the like, which a body has itself. */
bool scan_is_cheap(const struct node *n);
/* Whether node k of s->first to s->end - 1 differs from step to step; the caller's to free. NULL without
 * memory. */
bool *scan_variant(const struct graph *g, const struct scan *s);
/* What a scan reads of a captured operand: its views are computed in the loop. */
uint32_t scan_base(const struct graph *g, uint32_t node);

#endif
