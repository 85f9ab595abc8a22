/* SPDX-License-Identifier: Apache-2.0 */
/* How each nest runs: lanes, register tiles, order of loops, groups. */
#ifndef TARN_SCHEDULE_H
#define TARN_SCHEDULE_H

#include "compile/nest.h"
#include "tensor/sum_order.h"

/* Vectors: lanes, tiles, groups. */
tarn_status schedule_vectors(struct program_ir *p);
/* Work-items: tiles and groups, and how large a group is. */
tarn_status schedule_items(struct program_ir *p);
/* The register tile and the order of loops of a nest with a sum (tile.c), one of so many in a
 * plan. Its lane is chosen, how many units will share it, and its tile 1 along each axis. */
void choose_tile(const struct target *t, const struct nest *n, int nests, struct schedule *s);
/* Panels (panels.c) of a nest whose tile is chosen, where they are worth it. */
void choose_panels(const struct target *t, const struct nest *n, struct schedule *s);
/* What a product of rows, whose tile is chosen, copies for all of them (packing.c), */
void choose_packing(const struct vector_figures *v, const struct nest *n, struct schedule *s);
/* and not if too few tiles are left to a group, */
void drop_packing(const struct nest *n, struct schedule *s);
/* what its tile is to be chosen among, so that there is room for what its points read, */
void keep_tile_packable(const struct vector_figures *v, const struct nest *n, struct schedule *s);
/* and along which summed axis; -1: there is not just one. */
int packed_axis(const struct nest *n);
/* Whether a loop over an OUT axis goes along a factor, */
bool goes_along_factor(const struct nest *n, const struct schedule *s, int factor, int axis);
/* and registers of the factor that a tile reads in each step of its sum. */
int packed_registers(const struct nest *n, const struct schedule *s, int factor);
/* Items: whether a nest whose lanes are chosen is one that can read through local memory; what it reads so, when all else is
 * chosen (staging.c), and cycles of a unit for a term of the whole group then; and those without. */
bool may_be_staged(const struct program_ir *p, const struct nest *n, const struct schedule *s);
double choose_staging(const struct program_ir *p, const struct nest *n, struct schedule *s);
double unstaged_cycles(const struct program_ir *p, const struct nest *n, const struct schedule *s);
/* Whether the last tile along an axis of the result, or the last register of lanes, begins among the elements of the one
 * before, rather than that single elements are left over. Groups then have whole ones along it. */
bool axis_overlaps(const struct nest *n, const struct schedule *s, int axis);
/* Pieces of the axis that groups share. The last one may be shorter than the others; or longer, where the last tile overlaps
 * the one before, which is the same piece's then. */
int nest_shares(const struct nest *n, const struct schedule *s);
/* Schedules of all nests, in which nothing is chosen yet. NULL without memory. */
struct schedule *new_schedules(const struct program_ir *p);
/* Tiles of the OUT axes that are no lanes, and accumulators of one. */
int64_t nest_tiles(const struct nest *n, const struct schedule *s);
int nest_points(const struct nest *n, const struct schedule *s);
/* For work-items: whether a summed axis is a loop. It is none that a tile has whole, or of which each lane of a team has one
 * element. */
bool nest_loops_over(const struct nest *n, const struct schedule *s, int axis);
/* Items: tiles of what a group of a chain does of a nest, in its batch block; all without a chain. */
int64_t nest_slice_tiles(const struct program_ir *p, const struct nest *n,
                         const struct schedule *s);
/* Words between the 16 lanes of one accumulator and those of the next in local memory: from other banks. */
#define ITEM_PITCH (LANES + 1)

#endif
