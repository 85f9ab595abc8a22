/* SPDX-License-Identifier: Apache-2.0 */
/* How values lie over the replicas of a launch with virtual shards. Each node is labelled as it is
 * recorded. From the labels follows which values have the same bits on any number of devices, and
 * what must be exchanged for others to have them; docs/numerics.md has the proof. */
#ifndef TARN_SPREAD_H
#define TARN_SPREAD_H

#include "tensor/replica.h"
#include "tensor/spread_label.h"

static inline bool has_shards(const tarn_replica *r)
{
    return r->peers != NULL && r->peers->shards > 0;
}
/* The label of a node from those of its operands. SPREAD_SAME when there are no virtual shards. */
enum spread spread_of(const tarn_replica *r, const struct node *n);
/* The label of a leaf that holds a part of a batch. */
enum spread spread_of_part(const tarn_replica *r, struct graph_part part);
/* x with another label; x itself when it has that one, or there are no virtual shards. */
tarn_tensor spread_as(tarn_tensor x, enum spread label);
/* Rows of each sample along axis 0, where that was reshaped, as in [samples * rows, ...]; else 1. */
int32_t spread_rows(tarn_tensor x);
/* [samples, rows, ...] of what spread_rows() finds rows in; else x itself. */
tarn_tensor spread_by_sample(tarn_tensor x);
/* A gradient of `node`: of samples where that holds samples. */
tarn_tensor spread_gradient(tarn_replica *r, uint32_t node, tarn_tensor g);
/* Says how a value lies that a function of dist made. */
void spread_mark(tarn_tensor x, enum spread label);
/* Whether there are virtual shards, and the sum of x over all replicas has the same bits for any
 * number. */
bool spread_can_sum(tarn_tensor x);
/* Whether x has the same bits on any number of devices, or may be summed so that it has. Else false
 * after recording an error that says that `name` has not, and why. */
bool spread_check(tarn_tensor x, const char *name, bool summed);
/* ---- sums over all replicas (spread_sum.c) -------------------------------------------------- */

typedef tarn_tensor (*spread_sum_fn)(tarn_tensor partial, void *user);

/* The sum of x over all replicas, so that it has the same bits for any number of them: a linear
 * function of partial sums is computed anew of their sums, which `sum` records. */
tarn_tensor spread_sum(tarn_tensor x, spread_sum_fn sum, void *user);

/* The same in steps, for sums that are exchanged together. */
struct spread_walk {
    tarn_replica *r;
    uint32_t *total; /* of each node below `count`: the node of its sum over all replicas, or 0 */
    uint8_t *needed;
    uint32_t count;
};
/* False after recording an error. */
bool spread_walk_begin(tarn_replica *r, struct spread_walk *w);
void spread_walk_end(struct spread_walk *w);
/* Appends the partial sums that x is a function of and that have no total yet; returns their
 * number. `list` has room for all nodes. */
uint32_t spread_walk_sources(struct spread_walk *w, uint32_t x, uint32_t *list);
/* The sum of x over all replicas, once its sources have totals. */
tarn_tensor spread_walk_total(struct spread_walk *w, uint32_t x);

#endif
