/* SPDX-License-Identifier: Apache-2.0 */
/* Panels: operands of a contraction in the local memory of a group. */
#ifndef TARN_PANEL_H
#define TARN_PANEL_H

#include "compile/nest.h"

#define WIDE 4 /* elements of a wide load: 16 bytes of float */
/* Of a tile's elements that lie side by side, those that one load takes. */
int panel_load_width(int side);

/* What a group has of an axis at a time; 0 of summed axes outside of the staged one, which stand still. */
int32_t staging_box(const struct nest *n, const struct schedule *s, int a);
/* Elements of an OUT axis: samples in whole blocks where they are the lanes. */
int32_t staging_extent(const struct nest *n, const struct schedule *s, int a);
/* What a group copies of a load, for staging that is chosen but for its panels. */
struct panel panel_of_load(const struct nest *n, const struct schedule *s, int expr, int begin);
/* The axes that a copy goes through, the one along which memory is read in the smallest steps first; how many there are. */
int panel_axes(const struct nest *n, const struct panel *of, int axes[NEST_AXES]);
/* Terms of each accumulator in a step. */
double panel_terms(const struct nest *n, const struct schedule *s);
/* Requests that one of 32 work-items becomes which are neighbours along an axis: what lies apart comes in pieces of its own. */
double strided_requests(const struct access *x, int lane);
/* Requests of 32 work-items for an operand, of which a tile has so many addresses, by each of the terms of all
 * accumulators: from memory, */
double direct_requests(const struct nest *n, const struct schedule *s, const struct access *x,
                       double addresses);
/* and from a panel, with those that fill it. */
double panel_requests(const struct program_ir *p, const struct nest *n, const struct schedule *s,
                      const struct panel *of, double addresses);

#endif
