/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of the program of one rank. */
#ifndef TARN_EMIT_H
#define TARN_EMIT_H

#include "shard/moves.h"
#include "shard/ways.h"
#include "shard/shard_program.h"

struct emitter {
    const struct mesh *mesh;
    const struct shard_calls *calls;
    struct node *nodes; /* nodes[0] is poison */
    uint32_t count, capacity;
    uint32_t *operands;
    uint32_t operand_count, operand_capacity;
    int collectives;
    int64_t bytes;
    bool failed; /* no memory */
};

/* 0 without memory, which is remembered. */
uint32_t emit_raw(struct emitter *e, const struct node *n, const uint32_t *in);
/* A node whose form is that of one rank; `global` has the shapes of all, `in_state` says how operands lie, `out` the
 * value. `in` are nodes of this program. */
uint32_t emit_node(struct emitter *e, const struct form *global, const struct form *local,
                   const struct state *in_state, struct state out, const uint32_t *in);
/* x after one move. */
uint32_t emit_move(struct emitter *e, uint32_t x, const struct move *v);

#endif
