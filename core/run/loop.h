/* SPDX-License-Identifier: Apache-2.0 */
/* Loops of a step: what they need is computed first, then they run, and then they are leaves of what is
 * left. */
#ifndef TARN_LOOP_H
#define TARN_LOOP_H

#include "compile/program.h"
#include "run/plan.h"
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
/* Whether result k is written by itself: the slot, or -1. */
int loop_result_slot(const struct scan *s, uint32_t k);

#define LOOP_SLOTS (2 * OPERANDS_MOST) /* operands and results */

/* A loop about to run: the buffers of its slots. */
struct loop {
    const struct scan *scan;
    struct buffer *flat;
    struct buffer *buffer[LOOP_SLOTS];
    uint64_t offset[LOOP_SLOTS]; /* bytes, of the operand */
    uint32_t slots;
};
/* Where everything lies in each step. */
TARN_CHECKED tarn_status loop_table(const tarn_replica *r, const struct loop *l,
                                    struct plan_loop *out);

/* Runs all loops that the outputs, and the assignments when `effects`, depend on: they become
 * leaves. */
TARN_CHECKED tarn_status loops_run(tarn_replica *r, const uint32_t *outputs, int count,
                                   bool effects);

#endif
