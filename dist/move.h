/* SPDX-License-Identifier: Apache-2.0 */
/* One rank's share of a collective's work, between memories that all ranks may touch meanwhile. */
#ifndef TARN_MOVE_H
#define TARN_MOVE_H

#include "communicator.h"

/* Does what rank has to do of the collective that all[0 .. world) agree on. When every rank's call
 * returned, every `out` is filled. No two ranks touch the same bytes, one of them writing. */
void move_share(const struct collective *const *all, int world, int rank);
/* The same of a collective of all ranks, or of all[0 .. world) that are one group. */
void move_whole(const struct collective *const *all, int world, int rank);

#endif
