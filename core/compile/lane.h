/* SPDX-License-Identifier: Apache-2.0 */
/* The axis of the 16 lanes of a nest without batch. It orders sums, so it is the same for all
 * targets. */
#ifndef TARN_LANE_H
#define TARN_LANE_H

#include "compile/nest.h"

/* The axis, or -1. For a sum it may be the one that is summed over: then the lanes are added up
 * at the end. A schedule may take another OUT axis than this one, which changes no sum. */
int nest_lane(const struct nest *n);
/* The axis of consecutive work-items, or -1: which axis is summed over lanes is settled; of the others any will do. */
int nest_item_lane(const struct nest *n);
/* Whether the lanes of a nest are added up. */
bool nest_sums_lanes(const struct nest *n);

#endif
