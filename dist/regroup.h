/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives of groups whose ranks are on several nodes. All ranks of the launch come to them together: first they
 * tell each other what they ask for, then each sends each of its group what that one needs of it. */
#ifndef TARN_REGROUP_H
#define TARN_REGROUP_H

#include "across.h"

enum { REGROUP_MOST = 1024 }; /* ranks of a group */

/* As communicator_collect(), for a collective with a mesh in a communicator that other nodes have joined. */
TARN_CHECKED tarn_status regroup_collect(struct communicator *t, int rank,
                                         const struct collective *c);

/* ---- of across.c: c->asked is what all ranks ask for, `rank` that of the launch ---- */

/* Bytes of the node's memory. */
size_t regroup_bytes(const struct across *a, const struct collective *c);
void regroup_put(struct across *a, const struct collective *c, int rank);
void regroup_task(struct across *a, const struct collective *c, uint64_t number, struct task *out);
void regroup_take(struct across *a, const struct collective *c, int rank);

#endif
