/* SPDX-License-Identifier: Apache-2.0 */
/* From nests to kernels. */
#ifndef TARN_FUSE_H
#define TARN_FUSE_H

#include "compile/3_kernels/uses.h"

/* Sets placements and the lifetimes of values; may add nests that copy. */
tarn_status fuse(struct program_ir *p);

/* ---- shared by the files of this stage ---- */

static inline struct placement *at(const struct program_ir *p, const struct nest *n)
{
    return placement_of(p, n);
}
/* Whether a nest writes an owned tensor or an output. */
bool writes_out(const struct program_ir *p, const struct nest *n);
/* What is still read while it is written goes to a temporary first (hazards.c). */
tarn_status break_write_hazards(struct program_ir *p);
/* Kernels before which nothing may overwrite the memory of owned tensors that n stores to
 * (hazards.c). */
int after_readers(const struct program_ir *p, const struct nest *n);
/* Whether every group can compute the nest for itself (replicate.c). */
bool is_replicable(struct program_ir *p, const struct uses *u, const struct nest *n);
/* Replicates what batched nests read in the kernel that computes it (replicate.c). */
void replicate(struct program_ir *p, const struct uses *u);

#endif
