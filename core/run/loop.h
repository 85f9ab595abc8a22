/* SPDX-License-Identifier: Apache-2.0 */
/* Loops of a step: what they need is computed first, then they run, and then they are leaves of what is
 * left. */
#ifndef TARN_LOOP_H
#define TARN_LOOP_H

#include "compile/program.h"
#include "run/plan.h"
#include "shard/shard_program.h"
#include "tensor/replica.h"
#include "tensor/scan.h"

/* The body of a scan as a program, in which operands and results are owned tensors: slot k is operand k, and those
 * after the operands are what is written. */
struct loop_program {
    struct program program;
    struct node *nodes;
    uint32_t *operands;
    struct storage *storage;
    uint32_t slots;
    uint32_t *inside; /* graph node -> the program's; 0: none */
};
TARN_CHECKED tarn_status loop_program_make(tarn_replica *r, const struct scan *s,
                                           struct loop_program *out);
void loop_program_free(struct loop_program *p);

/* ---- in blocks of samples (loop_blocks.c) ----------------------------------------------------- */

/* Which results a loop that is about to run lays out in blocks, and which of its slices lie so: bits by number. */
struct scan_bits loop_blocked_results(const tarn_replica *r, const struct scan *s);
struct scan_bits loop_blocked_slots(const tarn_replica *r, const struct scan *s);
/* Values of one step in blocks, for so many samples: [N / 16, the rest, 16]. */
tarn_shape loop_blocked_shape(tarn_shape plain);
/* Puts one step's elements of `bytes` bytes each from blocks in rows, which `out` has room for. */
void loop_rows_of_blocks(tarn_shape plain, size_t bytes, const char *blocks, char *out);
/* Whether result k is written by itself: the slot, or -1. */
int loop_result_slot(const struct scan *s, uint32_t k);

/* Where a value lies, or this rank's part of it. */
struct loop_place {
    struct buffer *buffer; /* NULL: nowhere, it is 0 */
    uint64_t offset;       /* bytes */
    struct spec spec;
    uint32_t pending; /* axes of the mesh along which it is to be added up */
};

/* A loop about to run. */
struct loop {
    const struct scan *scan;
    uint32_t node[SCAN_MOST]; /* that operands are read from */
    struct loop_place at[SCAN_MOST];
    struct buffer *flat; /* its value */
    struct buffer *buffer[LOOP_SLOTS];
    uint32_t slots;
};
/* Where everything lies in each step, for the plan, whose specs are set. */
TARN_CHECKED tarn_status loop_table(const tarn_replica *r, const struct loop *l,
                                    struct plan_loop *out);
/* Makes ready what its plan needs: operands as that wants them, memory, the carries' first values. */
TARN_CHECKED tarn_status loop_begin(tarn_replica *r, struct loop *l, const struct plan_loop *as);

/* ---- under a mesh (loop_share.c) -------------------------------------------------------------- */

/* The body of one rank, and how operands and results lie for it. */
TARN_CHECKED tarn_status loop_share(const tarn_replica *r, const struct loop *l,
                                    const struct loop_program *p, struct shard_program *out,
                                    struct plan_loop *as);
/* Of a slot's operand, when `spec` is that of what one step has of it. */
struct spec loop_operand_spec(const struct scan *s, uint32_t slot, struct spec spec);
/* Whether a value lies as a spec says. */
bool loop_lies_as(const tarn_replica *r, const struct loop_place *at, const struct spec *spec);
/* Where a piece of a loop's value that ran lies in this rank's part of it; false: it is no such piece. */
bool loop_piece(const tarn_replica *r, const struct node *n, struct loop_place *out);
/* In a program of the graph, such pieces become leaves for core/shard; the caller frees *nodes. */
TARN_CHECKED tarn_status loop_pieces(const tarn_replica *r, struct program *p, struct node **nodes);

/* Runs all loops that the outputs, and the assignments when `effects`, depend on: they become
 * leaves. */
TARN_CHECKED tarn_status loops_run(tarn_replica *r, const uint32_t *outputs, int count,
                                   bool effects);

#endif
