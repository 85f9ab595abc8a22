/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of a graph, computed in parts, each a plan: around loops (loop.c), and where values of 64 bits are among
 * others (wide_parts.c). What a part leaves becomes leaves of the graph. */
#ifndef TARN_PARTS_H
#define TARN_PARTS_H

#include "compile/program.h"
#include "tensor/replica.h"

/* What is known of each node. */
struct parts {
    tarn_replica *r;
    const uint32_t *outputs; /* asked for, with all assignments when `effects` */
    int output_count;
    bool effects;
    bool *needed; /* by what is asked for */
    bool *before; /* the part needs it; the caller marks what for */
    bool *
        light; /* a view of leaves, or element by element of such: computed anew where it is read */
    bool *listed;
    uint8_t *stage; /* the caller's */
    uint32_t *list; /* nodes to be computed now */
    int count;
};

/* Calls `run` with room for all nodes that there are. */
TARN_CHECKED tarn_status parts_do(tarn_replica *r, const uint32_t *outputs, int count, bool effects,
                                  tarn_status (*run)(struct parts *p));
/* Marks what is needed: again after each part. */
TARN_CHECKED tarn_status parts_need(struct parts *p);
/* Begins a part: nothing is before it or listed, and what is light is known. */
void parts_begin(struct parts *p);
/* A node of which the value is to be there, unless it is in memory. */
void parts_list(struct parts *p, uint32_t node);
/* What was marked as `before`, and what it is made of, is computed now: lists what is read of it again later. Not
 * `but`, the part itself; 0: there is no such node. */
void parts_list_crossing(struct parts *p, uint32_t but);
/* Computes what is listed: leaves from now on. */
TARN_CHECKED tarn_status parts_compute(struct parts *p);

/* Computes values of 64 bits before what else is asked for, where that has products of narrower ones (wide_parts.c). */
TARN_CHECKED tarn_status wide_run(tarn_replica *r, const uint32_t *outputs, int count,
                                  bool effects);

/* Whether a program has values of 64 bits in what is asked of it. */
TARN_CHECKED tarn_status program_has_wide(const struct program *p, bool *wide);

#endif
