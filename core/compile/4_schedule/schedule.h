/* SPDX-License-Identifier: Apache-2.0 */
/* How each nest runs: lanes, register tiles, order of loops, groups. */
#ifndef TARN_SCHEDULE_H
#define TARN_SCHEDULE_H

#include "compile/nest.h"

/* Lanes, tiles, groups. */
void schedule(struct program_ir *p);
/* The register tile and the order of loops of a nest with a sum (tile.c), one of so many in a
 * plan. */
void choose_tile(const struct target *t, struct nest *n, int nests);
/* The axis of the 16 lanes of a nest without batch, or -1. It orders sums. */
int schedule_lane(const struct nest *n);
/* For a GPU: takes nests whose lanes are added up out of the kernels of others, since their
 * barriers must not stand in a branch: PoCL 3.1 takes some of those wrong. */
void split_lane_sums(struct program_ir *p);
/* Tiles and groups for a GPU, and `local`. */
void schedule_gpu(struct program_ir *p);
/* Of a nest so scheduled: tiles of the OUT axes that are no lanes, and accumulators of one; whether
 * the lanes of a team are added up. */
int64_t nest_tiles(const struct nest *n);
int nest_points(const struct nest *n);
bool nest_sums_lanes(const struct nest *n);

#endif
