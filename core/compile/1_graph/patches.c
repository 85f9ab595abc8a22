/* SPDX-License-Identifier: Apache-2.0 */
/* Part of simplify.c: convolutions whose windows share no element, as those that cut an image into patches, transposed ones that
 * put such together, and their gradients, as products of matrices with a row for each patch. As nests they would look for each
 * element in all places of a window, of which one is its own, and have lanes in short rows of patches. Where other
 * convolutions are around them, which want channels second or last, that costs more than it gains. In: a node of a program whose
 * samples lie in rows. Out: nodes in its place, or the word that it stays. Sums go over the same elements as those of the
 * convolution, in the order of a product. */
#include <string.h>

#include "compile/1_graph/few.h"
#include "tensor/expand.h"
#include "tensor/shape.h"

struct patches {
    int directions;
    tarn_shape image, weight, result;
};

/* Of a convolution or a gradient of one, by its operands' shapes. */
static struct patches patches_of(const struct node *n, tarn_shape left, tarn_shape right)
{
    return (struct patches){
        .directions = n->shape.rank - 2,
        .image = n->op == &op_conv2d_input ? n->shape : left,
        .weight = n->op == &op_conv2d_weight ? n->shape : right,
        .result = n->op == &op_conv2d         ? n->shape
                  : n->op == &op_conv2d_input ? left
                                              : right,
    };
}

static bool are_cut(const struct patches *p, const union op_arg *arg)
{
    bool larger = false;
    for (int i = 0; i < p->directions; i++) {
        const int option = CONV_DIRECTIONS - p->directions + i;
        const int32_t window = p->weight.dim[2 + i];
        if (arg->conv.stride[option] != window || arg->conv.padding[option] != 0 ||
            (arg->conv.dilation[option] != 1 && window > 1) ||
            p->image.dim[2 + i] != p->result.dim[2 + i] * window)
            return false;
        larger |= window > 1;
    }
    return larger && arg->conv.groups == 1 && 2 + 2 * p->directions <= TARN_MAX_RANK;
}

/* Of a patch, in all its channels. */
static int32_t elements_of(const struct patches *p)
{
    return (int32_t)(tarn_shape_count(p->weight) / p->weight.dim[0]);
}

/* As many rows of so many elements as there are in a tensor. */
static tarn_shape rows_of(tarn_shape s, int32_t elements)
{
    return TARN_SHAPE((int32_t)(tarn_shape_count(s) / elements), elements);
}

/* [N, C, H, W] as [N, C, patches down, window, patches across, window]. */
static tarn_shape cut_shape(const struct patches *p)
{
    tarn_shape cut = { .rank = 2 + 2 * p->directions };
    cut.dim[0] = p->image.dim[0];
    cut.dim[1] = p->image.dim[1];
    for (int i = 0; i < p->directions; i++) {
        cut.dim[2 + 2 * i] = p->result.dim[2 + i];
        cut.dim[3 + 2 * i] = p->weight.dim[2 + i];
    }
    return cut;
}

/* Which axis of the cut image stands where in [N, patches down and across, C, windows]. */
static void patch_order(const struct patches *p, int32_t *order)
{
    order[0] = 0;
    order[1 + p->directions] = 1;
    for (int i = 0; i < p->directions; i++) {
        order[1 + i] = 2 + 2 * i;
        order[2 + p->directions + i] = 3 + 2 * i;
    }
}

/* A patch a row: [N * patches, C * window]. */
static uint32_t patch_rows(struct builder *b, const struct patches *p, uint32_t image)
{
    int32_t order[TARN_MAX_RANK];
    patch_order(p, order);
    const uint32_t turned = permuted(b, expand_reshape(b, image, cut_shape(p)), order);
    return expand_reshape(b, turned, rows_of(p->image, elements_of(p)));
}

static uint32_t image_of(struct builder *b, const struct patches *p, uint32_t rows)
{
    int32_t order[TARN_MAX_RANK], back[TARN_MAX_RANK];
    const tarn_shape cut = cut_shape(p);
    tarn_shape apart = { .rank = cut.rank };
    patch_order(p, order);
    for (int d = 0; d < cut.rank; d++) {
        back[order[d]] = d;
        apart.dim[d] = cut.dim[order[d]];
    }
    return expand_reshape(b, permuted(b, expand_reshape(b, rows, apart), back), p->image);
}

/* What a convolution puts out, with a patch a row: [N * patches, channels]. */
static uint32_t result_rows(struct builder *b, const struct patches *p, uint32_t result)
{
    const uint32_t last = permuted(b, result, channels_last(p->result.rank));
    return expand_reshape(b, last, rows_of(p->result, p->result.dim[1]));
}

static uint32_t result_of(struct builder *b, const struct patches *p, uint32_t rows)
{
    tarn_shape last = { .rank = p->result.rank };
    for (int d = 0; d < last.rank; d++)
        last.dim[d] = p->result.dim[channels_last(last.rank)[d]];
    return with_channels_second(b, expand_reshape(b, rows, last));
}

static uint32_t multiplied(struct builder *b, tarn_dtype dtype, uint32_t left, uint32_t right,
                           bool left_turned)
{
    const tarn_shape l = expand_shape(b, left);
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.matmul.transpose[0] = left_turned;
    const uint32_t in[2] = { left, right };
    return expand_make(b, &op_matmul,
                       TARN_SHAPE(l.dim[left_turned ? 1 : 0], expand_shape(b, right).dim[1]), dtype,
                       &arg, in, 2);
}

bool convolves_patches(const struct program *g)
{
    for (uint32_t i = 1; i < g->count; i++) {
        const struct node *n = &g->nodes[i];
        if (!is_convolution(n->op))
            continue;
        const uint32_t *in = g->operands + n->first_in;
        const struct patches p = patches_of(n, g->nodes[in[0]].shape, g->nodes[in[1]].shape);
        if (!are_cut(&p, &n->arg))
            return false;
    }
    return true;
}

bool patches_expand(struct builder *b, const struct node *n, const uint32_t *in, uint32_t *out)
{
    if (!is_convolution(n->op))
        return false;
    const struct patches p = patches_of(n, expand_shape(b, in[0]), expand_shape(b, in[1]));
    const int64_t images = tarn_shape_count(p.image);
    if (images == 0 || images > INT32_MAX || tarn_shape_count(p.result) == 0 ||
        tarn_shape_count(p.weight) == 0)
        return false; /* there may be more patches than a dimension counts */
    if (n->op == &op_conv2d_weight) {
        const uint32_t rows = result_rows(b, &p, in[1]);
        *out = expand_reshape(b, multiplied(b, n->dtype, rows, patch_rows(b, &p, in[0]), true),
                              n->shape);
        return true;
    }
    const uint32_t weight = expand_reshape(b, in[1], rows_of(p.weight, elements_of(&p)));
    if (n->op == &op_conv2d_input)
        *out = image_of(b, &p, multiplied(b, n->dtype, result_rows(b, &p, in[0]), weight, false));
    else
        *out = result_of(b, &p,
                         multiplied(b, n->dtype, patch_rows(b, &p, in[0]),
                                    permuted(b, weight, (const int32_t[]){ 1, 0 }), false));
    return true;
}
