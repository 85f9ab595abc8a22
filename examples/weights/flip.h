/* SPDX-License-Identifier: Apache-2.0 */
/* One bit of one element on one replica, flipped between two training steps. */
#ifndef FLIP_H
#define FLIP_H

#include <tarn.h>

struct flip {
    const char *tensor; /* NULL: no flip */
    long element, bit, rank, step;
    tarn_dtype dtype;
    uint32_t before, after; /* bits of the element, read from the device */
};

/* Whether there are such a tensor, element, bit and rank; the line says what is wrong. */
bool flip_possible(tarn_replica *r, const struct flip *f, char *line, size_t capacity);
/* Flips the bit on the replica of this thread, in a step mark of its own: replicas may differ in
 * these, since only training steps are counted and compared. */
tarn_status flip_apply(tarn_replica *r, struct flip *f);
/* The value of an element with such bits, as text. */
void flip_text(const struct flip *f, uint32_t bits, char *out, size_t capacity);

#endif
