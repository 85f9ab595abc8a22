/* SPDX-License-Identifier: Apache-2.0 */
/* In which ways a node can be computed by parts, along one mesh axis at a time: with each way goes how its
 * operands must lie for it and how its value lies then. */
#ifndef TARN_WAYS_H
#define TARN_WAYS_H

#include "shard/state.h"
#include "tensor/graph.h"

/* A node with the shapes of its operands: of all ranks, or of one when mesh axes have been taken. */
struct form {
    struct node node;
    tarn_shape in[OPERANDS_MOST];
};

/* A dimension, STATE_WHOLE, or pending. */
struct placing {
    int8_t out;
    int8_t in[OPERANDS_MOST];
};

/* Way 0: all is whole. After it those that cut something, and last those in which a sum (or an extreme) that is
 * pending goes through. */
int rule_ways(const struct form *f);
/* Takes a mesh axis of so many ranks in one way: *f becomes the form of one of them. False, and *f is
 * spoilt, where that is not possible. */
bool rule_take(struct form *f, int32_t ranks, int way, struct placing *out);
/* Whether the value of the node is computed from nothing, or is another view of its operand, so that it is
 * computed anew rather than moved. */
bool rule_renews(const struct node *n);
/* Whether a way sums over an axis that is cut, or passes something pending on. */
bool rule_is_sum(const struct placing *p);

#endif
