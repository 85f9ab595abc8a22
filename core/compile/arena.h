/* SPDX-License-Identifier: Apache-2.0 */
/* Host memory of one compilation. */
#ifndef TARN_ARENA_H
#define TARN_ARENA_H

#include <stdbool.h>
#include <stddef.h>

/* Grows piece by piece, and is freed at once. */
struct arena_block;
struct arena {
    struct arena_block *blocks;
    bool failed;
};
void *arena_take(struct arena *a, size_t bytes); /* zeroed; NULL after failure */
void arena_free(struct arena *a);

#endif
