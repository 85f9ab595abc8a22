/* SPDX-License-Identifier: Apache-2.0 */
/* Passes from the module to nests. */
#ifndef TARN_NEST_PASSES_H
#define TARN_NEST_PASSES_H

#include "compile/nest.h"

/* Module to nests. The replica tells where owned tensors lie. */
tarn_status lower(struct program_ir *p, const tarn_replica *r);
/* Joins each maximum with its position, where the plan computes both (pair.c). */
void pair_maxima(struct program_ir *p);
/* Joins axes of the result that memory runs through as one (flatten.c). */
void flatten(struct program_ir *p);
/* Who multiplies best here (plan.c): 0 a nest, else the number of another provider. */
tarn_status choose_product(const tarn_replica *r, const struct product *shape, int *provider);

#endif
