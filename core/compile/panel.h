/* SPDX-License-Identifier: Apache-2.0 */
/* Panels: operands of a contraction in the local memory of a group. */
#ifndef TARN_PANEL_H
#define TARN_PANEL_H

#include "compile/nest.h"

#define WIDE 4 /* elements of a wide load: 16 bytes of float */

/* What a group has of an axis at a time; 0 of summed axes outside of the staged one, which stand still. */
int32_t staging_box(const struct nest *n, const struct schedule *s, int a);
/* The axes of a panel, the one along which memory is read in the smallest steps first; how many there are. */
int panel_axes(const struct nest *n, const struct panel *of, int axes[NEST_AXES]);
/* Whether all that a load's axes come to lies within its value. Guards leave out the rest, and a copy takes some other
 * element for it. */
bool panel_in_range(const struct program_ir *p, const struct nest *n, const struct access *x);
/* Terms of each accumulator in a step. */
double panel_terms(const struct nest *n, const struct schedule *s);
/* Requests that one of 32 work-items becomes which are neighbours along an axis: what lies apart comes in pieces of its own. */
double strided_requests(const struct access *x, int lane);
/* Requests of 32 work-items for an operand, by each of these terms of all accumulators: from memory, */
double direct_requests(const struct nest *n, const struct schedule *s, const struct access *x);
/* and from a panel, with those that fill it. */
double panel_requests(const struct program_ir *p, const struct nest *n, const struct schedule *s,
                      const struct panel *of);

#endif
