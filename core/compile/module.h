/* SPDX-License-Identifier: Apache-2.0 */
/* The module: what the roots of a plan need of the recorded graph, each value once. */
#ifndef TARN_MODULE_H
#define TARN_MODULE_H

#include "compile/arena.h"
#include "compile/program.h"
#include "compile/target.h"

struct root {
    uint32_t node;
    int owned;   /* index of the assigned tensor, or -1 */
    int output;  /* index of the output, or -1 */
    bool blocks; /* the assigned tensor is a batch in blocks */
};

/* Where the batch was found. */
struct batch_source {
    enum certainty { NO_DATA, KEPT_DATA, GIVEN_DATA, LOADED_DATA, SAID_DATA } data;
    uint32_t node;
    bool few; /* it is so short that blocks would not pay */
};

/* How a value lies in memory: as its kind does, a batch in blocks, but what is there when the step begins in rows; or
 * otherwise (layout.c, blocks.c). */
enum lies { LIES_BY_BATCH, LIES_IN_ROWS, LIES_IN_BLOCKS };

struct module {
    struct arena *arena;
    const struct program *program;
    const bool *needed; /* nodes of the program that roots are made of */
    const struct target *target;
    struct node *nodes;
    uint32_t count;
    uint32_t *operands;
    uint32_t operand_count;
    uint32_t *uses;   /* consumers of each node, roots included */
    uint32_t *user;   /* one of them */
    bool *batched;    /* axis 0 is the batch */
    const bool *made; /* leaves that images are made of, which are the batch; NULL: data are */
    uint8_t *said;    /* enum batch_word: what the program said of it */
    int *phase;       /* sums over the batch, and calls, that must be complete before it */
    bool *stored;     /* gets a value of its own */
    uint8_t *lies;    /* enum lies */
    struct root *roots;
    int root_count;
    int *assigned;      /* by owned tensor: root + 1, 0: not assigned */
    uint32_t owned_end; /* tensors from here on are not assigned */
    int32_t batch;      /* samples, 0: no batch axis */
    int32_t samples;    /* the same, also where they are so few that no value is laid out by them */
    struct batch_source source;
    int shards; /* virtual shards that they are divided into; 0: no shards */
};

/* Whether an owned tensor is assigned. */
static inline bool module_assigns(const struct module *m, uint32_t owned)
{
    return owned < m->owned_end && m->assigned[owned] > 0;
}

/* Operand number k of a node. */
static inline uint32_t module_operand(const struct module *m, uint32_t node, uint32_t k)
{
    return m->operands[m->nodes[node].first_in + k];
}

#endif
