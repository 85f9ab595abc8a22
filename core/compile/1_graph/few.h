/* SPDX-License-Identifier: Apache-2.0 */
/* What few.c and few_columns.c make convolutions of few samples of. */
#ifndef TARN_FEW_H
#define TARN_FEW_H

#include "compile/1_graph/graph_passes.h"

/* Of an image or of a volume, by its rank: dimensions of it with channels last by those of [N, C, ...], and the way back. */
const int32_t *channels_last(int rank);
const int32_t *channels_second(int rank);

/* `order` has as many as x, or the shape, has dimensions. */
tarn_shape permuted_shape(tarn_shape from, const int32_t *order);
uint32_t permuted(struct builder *b, uint32_t x, const int32_t *order);
uint32_t with_channels_second(struct builder *b, uint32_t x);
/* So many elements along an axis. */
uint32_t some_of(struct builder *b, uint32_t x, int axis, int32_t first, int32_t count);
/* Winograd's algorithm with channels for lanes, for a convolution or a gradient of one; false where it is not faster.
 * `turns`: images have their channels second elsewhere. */
bool few_winograd(struct builder *b, const struct node *conv, const uint32_t in[2], bool turns,
                  uint32_t *out);
/* The same image with channels last: what it is turned from, or a copy. */
uint32_t channels_last_of(struct builder *b, uint32_t x);
/* A convolution, or a transposed one, whose result lies with its channels last. */
uint32_t from_channels(struct builder *b, const struct node *conv, const uint32_t in[2]);
/* A gradient in the image of a convolution whose window is as long as some of its strides, or such a transposed convolution, as
 * one without a stride (few_phases.c). False for others. */
bool from_phases(struct builder *b, const struct node *conv, const uint32_t in[2], uint32_t *out);
/* A convolution whose columns are lanes, or its gradient in the image, of a copy of the image with zeros beside its
 * columns; false where it has no need of one, or it is not worth its time. */
bool from_columns(struct builder *b, const struct node *conv, const uint32_t in[2], uint32_t *out);
/* A gradient in the image of a convolution with a stride along columns, or a transposed convolution, of a copy with zeros
 * between columns and beside them: lanes would look one by one else whether there is an element, and load it. False for
 * others. */
bool from_columns_apart(struct builder *b, const struct node *conv, const uint32_t in[2],
                        uint32_t *out);

#endif
