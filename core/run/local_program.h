/* SPDX-License-Identifier: Apache-2.0 */
/* The program of one rank, of a launch whose replicas record that of all. */
#ifndef TARN_LOCAL_PROGRAM_H
#define TARN_LOCAL_PROGRAM_H

#include "shard/shard_program.h"
#include "tensor/replica.h"

struct local_program {
    struct shard_program sharded;
};

/* `outputs` and `lie` are those of struct shard_input.
 * Of a replica with a mesh, whose program has the shapes of the whole. Collective where something is exchanged: then
 * TARN_ERR_DISAGREE when the ranks recorded different graphs. */
TARN_CHECKED tarn_status local_program_make(tarn_replica *r, const struct program *whole,
                                            const struct spec *outputs, struct spec *lie,
                                            struct local_program *out);
/* What core/shard is given of a program of the replica's, beside its outputs' specs. */
struct shard_input local_program_input(const tarn_replica *r, const struct program *whole);
void local_program_free(struct local_program *p);

#endif
