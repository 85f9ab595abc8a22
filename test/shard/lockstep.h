/* SPDX-License-Identifier: Apache-2.0 */
/* The ranks of a mesh in lockstep, on the host, in double: each node is evaluated on all of them before the next. From
 * the definitions of the ops, not from the compiler's code. A mistake in a test ends the program with a line. */
#ifndef TARN_TEST_LOCKSTEP_H
#define TARN_TEST_LOCKSTEP_H

#include "shard/shard_program.h"

/* The elements of a leaf in memory, on one rank. */
typedef void (*lockstep_leaf)(void *user, int rank, const struct node *n, double *out);

struct lockstep {
    const struct mesh *mesh;
    const struct program *program;
    int ranks;
    double **value;                /* by node * ranks + rank */
    int32_t coordinate[MESH_AXES]; /* of the rank that is being evaluated */
};

/* Collectives for shard_input.calls, which a lockstep knows. */
extern const struct shard_calls lockstep_calls;

int mesh_ranks(const struct mesh *m);
void lockstep_run(struct lockstep *l, const struct mesh *m, const struct program *p,
                  lockstep_leaf leaf, void *user);
void lockstep_free(struct lockstep *l);
const double *lockstep_value(const struct lockstep *l, uint32_t node, int rank);

/* One node of one rank; `in` are its operands (lockstep_op.c). */
void lockstep_node(const struct lockstep *l, const struct node *n,
                   const struct node *const *in_node, const double *const *in, double *out);
int64_t lockstep_count(tarn_shape s);
/* The digits of a row-major number. */
void lockstep_index(tarn_shape s, int64_t number, int32_t *index);

#endif
