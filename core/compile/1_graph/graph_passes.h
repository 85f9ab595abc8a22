/* SPDX-License-Identifier: Apache-2.0 */
/* Passes over the graph: what is computed, which axis is the batch, and what gets a place in
 * memory. */
#ifndef TARN_GRAPH_PASSES_H
#define TARN_GRAPH_PASSES_H

#include "compile/nest.h"

/* How convolutions are written: for samples that are lanes; for such as are none, in training, where columns are lanes, or
 * channels for Winograd's algorithm (few_columns.c, few_winograd.c); or likewise in evaluation, where channels are lanes as a
 * rule (few.c). */
enum convolutions { CONVOLVE_BLOCKS, CONVOLVE_DIRECTLY, CONVOLVE_LANES };
/* Copies what the roots need: common sub-expressions once, constants through views. */
tarn_status simplify(const struct program *g, const struct target *t, struct arena *a,
                     enum convolutions how, struct module *out);
/* What simplify() has made so far. */
struct module *simplify_module(const struct builder *b);
/* Whether convolutions may be Winograd's. */
bool simplify_winograd(const struct builder *b);
/* A node of a program of few samples as nodes that have lanes (few.c); false leaves it as it is. */
bool few_expand(struct builder *b, const struct node *n, const uint32_t *in, uint32_t *out);
/* Likewise where columns are lanes by rule, and results lie as others do: a convolution, or a gradient of one in its image,
 * whose columns are none. */
bool few_columns(struct builder *b, const struct node *n, const uint32_t in[2], uint32_t *out);
/* Whether a convolution's channels are enough to be lanes: within a group, or, where each channel is a group, from one
 * to the next. */
bool lanes_from_channels(const struct node *conv);
/* A convolution of images or volumes, or a gradient of one. */
bool is_convolution(const struct op *op);
/* Whether all convolutions of a program cut images into patches, and one of such, or a gradient, as a product of matrices
 * (patches.c); false leaves it as it is. */
bool convolves_patches(const struct program *g);
bool patches_expand(struct builder *b, const struct node *n, const uint32_t *in, uint32_t *out);
#define PATCHES_NODES 9u              /* at most, beside the node itself */
#define FEW_OPERANDS 8                /* of more a node stays as it is */
#define FEW_NODES (FEW_OPERANDS + 4u) /* at most, beside the node itself */
/* What a value is a view of; whether a leaf is computed where it is read; and whether what an operand views is small beside
 * a node: a bias is, however often it is read (stored.c). */
uint32_t below_views(const struct module *m, uint32_t i);
bool is_cheap_leaf(const struct module *m, uint32_t i);
bool is_small_beside(const struct module *m, uint32_t operand, uint32_t node);
/* A permutation that undoes those below it, with maps between; false where some large value would have to be turned over. */
bool turn_maps(struct builder *b, const struct node *n, uint32_t x, uint32_t *out);
#define TURNED_NODES 32 /* at most, with their operands */
/* Whether convolutions become Winograd's here, and one's value as nodes that compute it so
 * (winograd.c); false leaves it as it is. */
enum winograd { WINOGRAD_NONE, WINOGRAD_SAMPLES, WINOGRAD_ALL }; /* SAMPLES: no weight gradients */
enum winograd winograd_wanted(const struct program *p, const struct target *t);
bool winograd_expand(struct builder *b, const struct target *t, enum winograd wanted,
                     const struct node *n, const uint32_t in[2], uint32_t *out);
#define WINOGRAD_NODES 12 /* at most, for one convolution */
/* Finds the batch axis, and which nodes carry it. */
void find_batch_axis(struct module *m);
/* Owned tensors that hold a batch in blocks are values in blocks (blocks.c). */
void lie_in_blocks(struct module *m);
/* Lays single values of samples out in rows, or in blocks, where most lie otherwise (layout.c). */
void lay_out_otherwise(struct module *m);
/* Whether a product of samples is better off in panels, and which: if its readers can do with rows, and the target has a
 * provider for it, lay_out_otherwise() gives it to that (layout.c). */
bool may_leave_blocks(const struct module *m, uint32_t i, struct product_shape *out);
/* Whether a program computes gradients of convolutions' weights. */
bool has_gradients(const struct module *m);
/* Whether blocks of the samples that find_batch_axis() found would leave so many lanes idle that it is to
 * decide, */
bool lanes_would_idle(const struct module *m);
/* or whether a convolution's results for a block, where there are so many images, are more than a core's caches hold, which
 * those of one sample might be less than: likewise; */
bool images_outgrow_blocks(const struct module *m, int32_t images);
/* or whether large products are of samples' rows, so that what is around them would turn from one layout to the other and
 * back (products.c): not with virtual shards. */
bool multiplies_rows(const struct module *m);
/* or, since what is read and written lies in rows, whether there is no convolution and no product at all (likewise). */
bool multiplies_any(const struct module *m);
/* How many images the largest convolution has, where most of what convolutions multiply are several for each sample, such
 * as frames of a film; else 0, and with virtual shards. */
int32_t convolved_frames(const struct module *m);
/* How convolutions are better written for the samples that it found. */
enum convolutions convolutions_wanted(const struct module *m);
/* Whether all samples must have been seen before the node has its value: a kernel ends there. */
bool needs_all_samples(const struct module *m, uint32_t i);
/* Blocks of samples, and groups that share them. With virtual shards a group is a shard, so that
 * its row of sums does not depend on how many of them this replica has. */
struct program_ir;
tarn_status assign_groups(struct program_ir *p);
/* The batch axis of a contraction's nest: an OUT axis, or a RED axis (*reduced); -1: none. */
int contract_batch_axis(const struct module *m, uint32_t node, const struct contract *c,
                        bool *reduced);
/* The same for a transform: never reduced. */
int transform_batch_axis(const struct module *m, uint32_t node, const struct transform_map *c);
/* Whether `to`, the only consumer of `from`, can join the epilogue of the nest computing `from`. */
bool joins_epilogue(const struct module *m, uint32_t from, uint32_t to);
/* Whether a value is there when the step begins, or a rounded or widened one of such (products.c). */
bool begins_there(const struct module *m, uint32_t i);
/* Large products, by which shape each is chosen, and all of them in an array of the arena (products.c). */
struct product_shape product_shape_of(const struct module *m, uint32_t node);
bool is_large_product(const struct module *m, uint32_t node, struct product_shape *out);
struct product_shape *list_products(const struct module *m, int *count);
/* Stores matrices turned over that nests of rows would turn over again and again. */
void store_turned(struct module *m);
/* Decides which maps get a value of their own; all of them when nothing is fused. */
void choose_stored(struct module *m);

#endif
