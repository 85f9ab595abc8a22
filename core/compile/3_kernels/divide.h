/* SPDX-License-Identifier: Apache-2.0 */
/* Fewer groups than units: several groups, parts, share the blocks of one. */
#ifndef TARN_DIVIDE_H
#define TARN_DIVIDE_H

#include "compile/3_kernels/uses.h"

/* Cuts kernels of batch blocks into more, where parts of a block then run on units that would idle.
 * Needs the lists of each kernel's nests; changes placements, and so the lists are to be made anew.
 * False without memory. */
bool divide_blocks(struct program_ir *p, const struct uses *u);

/* ---- slices.c --------------------------------------------------------------------------------- */

/* Of a value: d of its elements (hi * extent + d) * stride + lo. */
struct digit {
    int32_t stride, extent;
};
/* With index i of an axis a nest reaches the digits from times * i + below to times * i + above. */
struct reads {
    int times, below, above;
};
/* False where an address has no such digit. `load`: the expression that loads from it, -1: none. */
bool find_reads(const struct nest *n, const struct affine *address, int load, int axis,
                struct digit d, struct reads *out);
/* Whether an address has the index of an axis as a digit of its own. */
bool axis_is_digit(const struct nest *n, const struct affine *address, int load, int axis);
/* Whether parts that divide both axes into as many equal slices read by a load of nest `to` no more than they wrote by
 * a store of nest `from`: both go through the same run of memory. */
bool slices_agree(const struct nest *from, const struct store *s, int from_axis,
                  const struct nest *to, int load, int to_axis);
/* Whether an axis tells the rows of a transform apart, or has guards that a transform unrolls it for. */
bool is_unrolled(const struct nest *n, int axis);
/* Whether parts can share a nest along an axis. */
bool can_divide(const struct nest *n, int axis);
/* Slices are whole multiples of the grain, so that tiles fit into them. */
int slice_grain(int extent, int parts);
int longest_slice(int extent, int grain, int parts);

#endif
