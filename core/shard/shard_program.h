/* SPDX-License-Identifier: Apache-2.0 */
/* Makes of a program of all ranks of a mesh the program of one of them. It is the same on all ranks: a rank's own
 * place is in no constant, but in positions (op_iota, op_rand), whose steps along mesh axes become kernel parameters.
 * Knows no replica, no device, and of collectives nothing but what they mean. */
#ifndef TARN_SHARD_PROGRAM_H
#define TARN_SHARD_PROGRAM_H

#include "compile/program.h"
#include "compile/text.h"

/* Collectives, all along axis 0 of a row-major operand, among the ranks that differ only in `axes`. A rank's number in
 * its group is the row-major one of its coordinates along them: the lower axis is the major one. */
enum shard_kind {
    SHARD_ALL_GATHER,     /* [D,..] -> [n D,..], in the order of the group */
    SHARD_ALL_REDUCE,     /* element by element */
    SHARD_REDUCE_SCATTER, /* [D,..] -> [D/n,..]: the sum of the group's, of which rank i gets part i */
    SHARD_ALL_TO_ALL,     /* [D,..] -> [D,..]: part i of D goes to rank i, and comes from it */
    SHARD_KINDS
};
enum shard_reduction { SHARD_SUM, SHARD_MAX, SHARD_MIN };
struct shard_group {
    enum shard_kind kind;
    uint32_t axes;
    enum shard_reduction reduction;
};

/* What dist has for them: nodes of OP_HOST. `fill` sets the argument, which is zeroed before. */
struct shard_calls {
    const struct op *op[SHARD_KINDS];
    void (*fill)(const struct shard_group *group, tarn_shape shape, tarn_dtype dtype,
                 union op_arg *arg);
};

struct shard_input {
    const struct program *program; /* with global shapes; specs are in arguments of its nodes */
    const struct mesh *mesh;
    const struct spec *outputs; /* by number of output; NULL: all whole */
    struct spec *
        lie; /* not NULL: outputs lie as they come, with no exchange for it, and this is set to how */
    const bool
        *open; /* by slot: owned tensors whose specs do not count in shard_wishes(); NULL: none */
    struct shard_calls calls;
    int64_t bucket; /* sums over ranks are joined until they have so many bytes; 0: each is alone */
    /* For tests: which of so many legal strategies a node takes; NULL: the best. */
    uint32_t (*choose)(void *user, uint32_t count);
    void *choose_user;
    struct text *log; /* of TARN_DEBUG=shard; NULL: nobody reads it */
};

struct shard_program {
    struct program program; /* local shapes; its outputs in the order of the input's */
    int collectives;
    int64_t bytes; /* that a rank receives in all of them */
    struct node *nodes;
    uint32_t *operands, *outputs;
};

/* The program of one rank, which borrows the input's storage. Owned tensors, inputs and outputs have the
 * parts of their specs as shapes. */
TARN_CHECKED tarn_status shard_program(const struct shard_input *in, struct shard_program *out);
void shard_free(struct shard_program *s);
/* How owned tensors would best be cut, by slot, and what is assigned to them: what follows from all other specs. */
TARN_CHECKED tarn_status shard_wishes(const struct shard_input *in, struct spec *owned,
                                      struct spec *assigned);
/* Which rank holds which part of a tensor, as lines. */
void shard_picture(struct text *out, const char *name, const struct mesh *m, tarn_shape shape,
                   const struct spec *spec);

#endif
