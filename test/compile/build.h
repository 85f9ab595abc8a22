/* SPDX-License-Identifier: Apache-2.0 */
/* Programs made by hand, as the compiler gets them: no replica, no device. Nodes are named by their
 * numbers; a mistake in a test ends the program with a line. */
#ifndef TARN_TEST_BUILD_H
#define TARN_TEST_BUILD_H

#include "compile/program.h"

struct build {
    struct node *nodes; /* nodes[0] is poison, as in every graph */
    uint32_t count;
    uint32_t *operands;
    uint32_t operand_count;
    uint32_t *outputs;
    int output_count;
    struct storage *storage;
    uint32_t owned_count;
    uint32_t input_count;
    struct partition partition;
};

/* An empty program of one replica, in *b; build_end() frees it. */
void build_begin(struct build *b);
void build_end(struct build *b);
/* The program so far; it borrows *b. Assignments are done. */
struct program build_program(const struct build *b);

/* Any node; `arg` may be NULL: all zero. */
uint32_t build_node(struct build *b, const struct op *op, tarn_shape shape, tarn_dtype dtype,
                    const union op_arg *arg, const uint32_t *in, uint32_t count);

/* ---- leaves --------------------------------------------------------------------------------- */

/* Samples of a loader, float32. */
uint32_t build_samples(struct build *b, tarn_shape shape);
/* A float32 tensor of the replica's own, in memory of its own. */
uint32_t build_owned(struct build *b, tarn_shape shape);
/* Another one that begins so many bytes into the memory of `other`. */
uint32_t build_slice_of(struct build *b, uint32_t other, size_t offset, tarn_shape shape);
uint32_t build_constant(struct build *b, tarn_shape shape, float value);

/* ---- operations, float32 -------------------------------------------------------------------- */

/* Element by element; the operands have one shape. */
uint32_t build_map(struct build *b, const struct op *op, uint32_t x);
uint32_t build_map2(struct build *b, const struct op *op, uint32_t x, uint32_t y);
/* x times a constant. */
uint32_t build_scaled(struct build *b, uint32_t x, float factor);
/* x [..] as a view of `shape`, of as many elements. */
uint32_t build_reshape(struct build *b, uint32_t x, tarn_shape shape);
/* x, whose dimensions of 1 grow to those of `shape`. */
uint32_t build_expand(struct build *b, uint32_t x, tarn_shape shape);
/* x with its last two axes in the other order. */
uint32_t build_turned(struct build *b, uint32_t x);
/* Bit i of `axes`: axis i is reduced to length 1. */
uint32_t build_reduce(struct build *b, const struct op *op, uint32_t x, uint32_t axes);
/* [M,K] x [K,N], where an operand is transposed first. */
uint32_t build_matmul(struct build *b, uint32_t x, uint32_t y, bool transpose_x, bool transpose_y);
/* [N,C,H,W] * [O,C,K,K], stride 1, so many zeros around the image. */
uint32_t build_conv(struct build *b, uint32_t x, uint32_t weight, int32_t padding);
/* The gradient of its weight by that of its result, `given`. */
uint32_t build_conv_weight(struct build *b, uint32_t x, uint32_t given, int32_t padding);

/* ---- results -------------------------------------------------------------------------------- */

void build_output(struct build *b, uint32_t node);
/* The new value of an owned tensor, by its node. */
void build_assign(struct build *b, uint32_t owned, uint32_t value);

#endif
