/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of the program of one rank. */
#ifndef TARN_EMIT_H
#define TARN_EMIT_H

#include "shard/moves.h"
#include "shard/ways.h"
#include "shard/shard_program.h"

/* A collective, which may be joined with others. */
struct made_call {
    uint32_t node;
    struct shard_group group;
};
struct emitter {
    const struct mesh *mesh;
    const struct shard_calls *calls;
    struct node *nodes; /* nodes[0] is poison */
    uint32_t count, capacity;
    uint32_t *operands;
    uint32_t operand_count, operand_capacity;
    struct made_call *made;
    uint32_t made_count, made_capacity;
    int64_t bytes; /* that they receive */
    bool failed;   /* no memory */
};

/* 0 without memory, which is remembered. */
uint32_t emit_raw(struct emitter *e, const struct node *n, const uint32_t *in);
/* A node whose form is that of one rank; `global` has the shapes of all, `in_state` says how operands lie, `out` the
 * value. `in` are nodes of this program. */
uint32_t emit_node(struct emitter *e, const struct form *global, const struct form *local,
                   const struct state *in_state, struct state out, const uint32_t *in);
/* A leaf that is a piece of a loop's value. */
uint32_t emit_piece(struct emitter *e, const struct node *n);
/* x after one move. */
uint32_t emit_move(struct emitter *e, uint32_t x, const struct move *v);

/* What moves are made of. */
uint32_t emit_reshape(struct emitter *e, uint32_t x, tarn_shape shape);
uint32_t emit_concat(struct emitter *e, const uint32_t *parts, uint32_t count, int32_t total);
uint32_t emit_range(struct emitter *e, uint32_t x, int32_t start, int32_t count);
/* x, not before `first` is there. */
uint32_t emit_after(struct emitter *e, uint32_t x, uint32_t first, uint32_t region);
/* A collective of x. */
uint32_t emit_call(struct emitter *e, const struct shard_group *group, uint32_t x);
void emit_free(struct emitter *e);

/* Joins sums over ranks to buckets, each full at so many bytes (join_calls.c). */
void join_calls(struct emitter *e, int64_t full, uint32_t *outputs, int output_count);

#endif
