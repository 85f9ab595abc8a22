/* SPDX-License-Identifier: Apache-2.0 */
/* Why a step is compiled again: what it recorded, next to what the most similar plan was compiled of. */
#ifndef TARN_OUTLINE_H
#define TARN_OUTLINE_H

#include "tensor/replica.h"

/* What a plan was compiled of. */
struct outline;

/* Of the current graph; NULL for a very large one, or without memory: then there is none. `number`: of the
 * compilation. */
struct outline *outline_of(tarn_replica *r, uint64_t number);
void outline_free(struct outline *o);
/* How many operations at the beginning are equal. */
uint32_t outline_common(const struct outline *a, const struct outline *b);
/* One line: where a new graph leaves that of the plan that is nearest, which may be NULL. */
void outline_explain(const struct outline *now, const struct outline *nearest, char *out,
                     size_t capacity);

#endif
