/* SPDX-License-Identifier: Apache-2.0 */
/* Passes from the module to nests. */
#ifndef TARN_NEST_PASSES_H
#define TARN_NEST_PASSES_H

#include "compile/nest.h"

/* Module to nests. */
tarn_status lower(struct program_ir *p);
/* Joins each maximum with its position, where the plan computes both (pair.c). */
void pair_maxima(struct program_ir *p);
/* Maps become stores of the nests that they follow, for work-items (join_maps.c). */
void join_maps(struct program_ir *p);
/* Merges OUT axes that are contiguous in every access (flatten.c). */
void flatten(struct program_ir *p);
/* Makes an axis of registers and one of lanes where a product has too few rows for its accumulators (split_lanes.c). */
void split_lanes(struct program_ir *p);
/* Right operands of products whose columns are such runs lie in strips (strips.c). */
void lie_in_strips(struct program_ir *p);
/* Marks nests that only copy between layouts (copies.c). */
void find_copies(struct program_ir *p);

#endif
