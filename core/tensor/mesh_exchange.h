/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives along axes of a mesh as nodes of a graph, for whoever makes them without recording: the compiler.
 *
 * The ranks whose coordinates along all other axes are equal are a group, in rank order; with n of them, and the
 * operand's own shape on each rank:
 *
 * ALL_REDUCE      the reduction of all operands, on each rank; the operand's shape
 * REDUCE_SCATTER  part `place` of that along dimension `split`, whose length n divides
 * ALL_GATHER      all operands joined along dimension `join`, in rank order
 * ALL_TO_ALL      part `place` along `split` of each operand; these joined along `join`, in rank order. So what
 *                 was cut along `join` is cut along `split`
 *
 * Reductions are of float32 or int32, by the tree of a launch's sums over n ranks in rank order; movements are
 * of any type. The node has one operand and its type, and its shape is that above. Every rank of the
 * launch must come to all of them in the same order, groups at the same time; ranks of one group with equal
 * shapes. Results are in memory of their own, but ALL_REDUCE's, which is the operand's. No gradients. */
#ifndef TARN_MESH_EXCHANGE_H
#define TARN_MESH_EXCHANGE_H

#include "tensor/op_record.h"

enum exchange_kind {
    EXCHANGE_ALL_REDUCE,
    EXCHANGE_REDUCE_SCATTER,
    EXCHANGE_ALL_GATHER,
    EXCHANGE_ALL_TO_ALL,
    EXCHANGES
};
enum exchange_reduction { EXCHANGE_SUM = 0, EXCHANGE_MAX = 2, EXCHANGE_MIN = 3 };

struct exchange {
    enum exchange_kind kind;
    enum exchange_reduction reduction; /* ALL_REDUCE, REDUCE_SCATTER */
    uint8_t axes;                      /* of peers.mesh, as bits: at least one */
    uint8_t split, join;               /* where the kind has them; else 0 */
};

/* The argument of a node whose op is peers.exchange[kind]. `serial`: nodes that differ in it are never made one;
 * the compiler may merge equal ones. */
union op_arg exchange_arg(const struct exchange *e, tarn_shape operand, uint32_t serial);

#endif
