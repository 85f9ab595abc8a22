/* SPDX-License-Identifier: Apache-2.0 */
/* A collective of which other nodes have ranks, too: each rank of this node does its part of the work before
 * and after the node's memory goes over the wire. */
#ifndef TARN_ACROSS_H
#define TARN_ACROSS_H

#include "communicator.h"
#include "rounds.h"

struct across;

/* `firsts` has the first rank of each node, and behind them the number of ranks; it is copied. */
TARN_CHECKED tarn_status across_new(int node, int nodes, const int *firsts, struct across **out);
/* `idle`: nothing of it is under way; else its memory stays. NULL is a no-op. */
void across_free(struct across *a, bool idle);
struct ranks across_ranks(const struct across *a);
/* The node that has a rank of the launch. */
int across_node(const struct across *a, int rank);

/* Rank `rank` of this node, from 0, puts what it has into the node's memory; all[] are those of this node. All
 * ranks get the same status for a number. */
TARN_CHECKED tarn_status across_put(struct across *a, const struct collective *const *all, int rank,
                                    uint64_t number);
/* After all have put: what the wire must do. `differs`: the ranks' weights do. */
void across_task(struct across *a, const struct collective *const *all, uint64_t number,
                 bool differs, struct task *out);
/* After the wire: fills the rank's `out`. */
void across_take(struct across *a, const struct collective *const *all, int rank);

#endif
