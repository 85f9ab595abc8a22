/* SPDX-License-Identifier: Apache-2.0 */
/* What an op's `expand` may call: it adds nodes to the module that the compiler builds. The
 * compiler implements it (compile/1_graph/simplify.c), and no op has to know the compiler for it.
 * Nodes are named by their numbers in the module. */
#ifndef TARN_EXPAND_H
#define TARN_EXPAND_H

#include "tensor/op_record.h"

/* Adds a node by its parts, or finds its equal; `arg` may be NULL: all zero. Returns its number. */
uint32_t expand_make(struct builder *b, const struct op *op, tarn_shape shape, tarn_dtype dtype,
                     const union op_arg *arg, const uint32_t *in, uint32_t count);
/* x in another shape. */
uint32_t expand_reshape(struct builder *b, uint32_t x, tarn_shape to);
tarn_shape expand_shape(const struct builder *b, uint32_t node);
tarn_dtype expand_dtype(const struct builder *b, uint32_t node);
/* Whether the device computes with vectors, and ops are fused: not work-items, nor a kernel for each op. */
bool expand_by_vectors(const struct builder *b);

#endif
