/* SPDX-License-Identifier: Apache-2.0 */
/* What is compiled: a snapshot of the recorded step, which borrows the replica's arrays. Beside its
 * target it is all that the compiler sees: two equal programs become the same kernels. */
#ifndef TARN_PROGRAM_H
#define TARN_PROGRAM_H

#include "tensor/graph.h"

/* Where an owned tensor lies. */
struct storage {
    uint32_t memory; /* equal for tensors that share one piece of device memory */
    size_t offset;   /* bytes into it */
    bool kept;       /* by the program for a later step: it may hold samples */
    bool carried;    /* of a looped program: what a step writes here the next one reads */
    bool captured;   /* of a looped program: the same in all steps */
    bool
        fixed; /* the program does not write it, and is likely to find it unchanged when it runs again */
};

/* How the batch is divided. */
struct partition {
    int world;  /* replicas */
    int shards; /* virtual shards of the whole batch: a multiple of world; 0: none */
};

struct program {
    const struct node *nodes; /* nodes[0] is poison */
    uint32_t count;
    const uint32_t *operands;
    uint32_t operand_count;
    const uint32_t *outputs; /* nodes whose values are asked for */
    int output_count;
    bool effects;                  /* all assignments are done, too */
    const struct storage *storage; /* of owned tensors, by slot */
    struct partition partition;
    uint32_t
        kept_from; /* values of the regions from this number on are kept, not computed again; 0: of none */
    uint32_t
        steps; /* of a loop whose body it is: in each owned tensors lie elsewhere; 0: no loop */
};

#endif
