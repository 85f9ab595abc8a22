/* SPDX-License-Identifier: Apache-2.0 */
/* Part of simplify.c: convolutions, transposed ones too, of so few samples that these are no lanes. Where there are
 * channels enough these are, side by side in memory: of the result, of maps, joins and enlargements of such results, and
 * of a copy of the weight. Of fewer channels columns are lanes (few_columns.c). Such a copy costs an element for each of many
 * multiply-adds. Where there are tiles enough for what a transformed weight costs, Winograd's algorithm is faster
 * (few_winograd.c). In: a node. Out: nodes in its place, or the word that it stays. Without it no sum changes its order. */
#include <string.h>

#include "compile/1_graph/few.h"
#include "compile/1_graph/graph_passes.h"
#include "tensor/expand.h"
#include "tensor/shape.h"
#include "tensor/sum_order.h"

#define COLUMNS 4    /* of a tile, for each element of a stride */
#define MOST_MORE 16 /* in so many columns one may be added */

const int32_t *channels_last(int rank)
{
    static const int32_t image[] = { 0, 2, 3, 1 }, volume[] = { 0, 2, 3, 4, 1 };
    return rank == 5 ? volume : image;
}

const int32_t *channels_second(int rank)
{
    static const int32_t image[] = { 0, 3, 1, 2 }, volume[] = { 0, 4, 1, 2, 3 };
    return rank == 5 ? volume : image;
}

tarn_shape permuted_shape(tarn_shape from, const int32_t *order)
{
    tarn_shape to = { .rank = from.rank };
    for (int i = 0; i < from.rank; i++)
        to.dim[i] = from.dim[order[i]];
    return to;
}

/* ---- the convolution with channels last ----------------------------------------------------- */

/* Axis `a` of the nest of a convolution whose image has so many axes, where these go before groups and channels. */
static int moved_axis(const struct contract *c, int directions, int a)
{
    const int first = c->out_axes - directions;
    return a == 0 || a >= c->out_axes ? a : a >= first ? a - first + 1 : a + directions;
}

static struct contract_map moved_map(const struct contract *c, int directions,
                                     const struct contract_map *m)
{
    struct contract_map to = *m;
    for (int d = 0; d < TARN_MAX_RANK; d++)
        for (int a = 0; a < c->axes; a++)
            to.dim[d].coef[moved_axis(c, directions, a)] = m->dim[d].coef[a];
    return to;
}

static void whole_contract(const struct op *op, const struct node *n, const tarn_shape in[2],
                           struct contract *out)
{
    struct node plain = *n;
    struct contract c;
    const int rank = n->shape.rank, directions = rank - 2;
    memset(&c, 0, sizeof c);
    plain.shape = permuted_shape(n->shape, channels_second(rank));
    op->contract(&plain, in, &c);
    *out = c;
    out->phases = n->arg.conv.phases;
    for (int a = 0; a < c.axes; a++)
        out->extent[moved_axis(&c, directions, a)] = c.extent[a];
    const struct contract_map moved = moved_map(&c, directions, &c.out);
    out->out = moved;
    for (int d = 0; d < rank; d++)
        out->out.dim[d] = moved.dim[channels_last(rank)[d]];
    for (int k = 0; k < 2; k++)
        out->in[k] = moved_map(&c, directions, &c.in[k]);
}

/* The axis of the result's channels becomes two, panels and lanes. */
static void into_panels(struct contract_map *m, int panel)
{
    for (int d = 0; d < TARN_MAX_RANK; d++) {
        int32_t *coef = &m->dim[d].coef[panel];
        memmove(coef + 1, coef, (size_t)(CONTRACT_AXES - 1 - panel) * sizeof *coef);
        *coef *= LANES;
    }
}

/* Of a weight in panels (weight_panels()), which has its channels of the result first and last. */
static void panels_contract(const struct op *op, const struct node *n, const tarn_shape in[2],
                            struct contract *out)
{
    const int last = in[1].rank - 1, channels = op == &op_conv2d_input;
    tarn_shape whole[2] = { in[0], { .rank = last } };
    for (int d = 0; d < last; d++)
        whole[1].dim[d] = d == channels ? in[1].dim[0] * LANES : in[1].dim[d + (d < channels)];
    whole_contract(op, n, whole, out);
    const int panel = out->out_axes - 1, lane = panel + 1;
    memmove(&out->extent[lane], &out->extent[panel],
            (size_t)(out->axes - panel) * sizeof *out->extent);
    out->axes++;
    out->out_axes++;
    out->extent[panel] = in[1].dim[0];
    out->extent[lane] = LANES;
    into_panels(&out->out, panel);
    into_panels(&out->in[0], panel);
    into_panels(&out->in[1], panel);
    const struct contract_map weight = out->in[1];
    for (int d = 0; d < last; d++)
        if (d != channels)
            out->in[1].dim[d + (d < channels)] = weight.dim[d];
    out->in[1].dim[0] = out->in[1].dim[last] = weight.dim[channels];
    out->in[1].dim[0].coef[panel] = 1;
    out->in[1].dim[0].coef[lane] = out->in[1].dim[last].coef[panel] = 0;
}

static void last_contract(const struct op *op, const struct node *n, const tarn_shape in[2],
                          struct contract *out)
{
    if (in[1].rank > n->shape.rank)
        panels_contract(op, n, in, out);
    else
        whole_contract(op, n, in, out);
}

static void conv2d_last_contract(const struct node *n, const tarn_shape in[2], struct contract *out)
{
    last_contract(&op_conv2d, n, in, out);
}

static void conv2d_input_last_contract(const struct node *n, const tarn_shape in[2],
                                       struct contract *out)
{
    last_contract(&op_conv2d_input, n, in, out);
}

static const struct op conv2d_last = {
    .name = "conv2d",
    .arity = 2,
    .kind = OP_CONTRACT,
    .contract = conv2d_last_contract,
};
static const struct op conv2d_input_last = {
    .name = "conv2d_input",
    .arity = 2,
    .kind = OP_CONTRACT,
    .contract = conv2d_input_last_contract,
};

/* ---- nodes ---------------------------------------------------------------------------------- */

/* Whether it is an image or a volume, turned so. */
static bool has_order(const struct node *n, const int32_t *(*order)(int rank))
{
    const int rank = n->shape.rank;
    return n->op == &op_permute && (rank == 4 || rank == 5) &&
           memcmp(n->arg.permute.order, order(rank), (size_t)rank * sizeof(int32_t)) == 0;
}

uint32_t permuted(struct builder *b, uint32_t x, const int32_t *order)
{
    const tarn_shape s = expand_shape(b, x);
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    memcpy(arg.permute.order, order, (size_t)s.rank * sizeof *order);
    return expand_make(b, &op_permute, permuted_shape(s, order), expand_dtype(b, x), &arg, &x, 1);
}

uint32_t some_of(struct builder *b, uint32_t x, int axis, int32_t first, int32_t count)
{
    union op_arg arg;
    tarn_shape s = expand_shape(b, x);
    if (s.dim[axis] == count)
        return x;
    memset(&arg, 0, sizeof arg);
    for (int d = 0; d < s.rank; d++)
        arg.slice.step[d] = 1;
    arg.slice.start[axis] = first;
    s.dim[axis] = count;
    return expand_make(b, &op_slice, s, expand_dtype(b, x), &arg, &x, 1);
}

uint32_t with_channels_second(struct builder *b, uint32_t x)
{
    return permuted(b, x, channels_second(expand_shape(b, x).rank));
}

static uint32_t with_channels_last(struct builder *b, uint32_t x)
{
    const struct module *m = simplify_module(b);
    const struct node *n = &m->nodes[x];
    if (has_order(n, channels_second))
        return module_operand(m, x, 0);
    if (n->op == &op_constant) {
        const union op_arg arg = n->arg;
        return expand_make(b, n->op, permuted_shape(n->shape, channels_last(n->shape.rank)),
                           n->dtype, &arg, NULL, 0);
    }
    return permuted(b, x, channels_last(n->shape.rank));
}

uint32_t channels_last_of(struct builder *b, uint32_t x)
{
    const uint32_t last = with_channels_last(b, x);
    const struct module *m = simplify_module(b);
    if (has_order(&m->nodes[last], channels_last))
        m->stored[last] = true;
    return last;
}

/* The weight as it was, read from a copy in which its dimension `d`, channels of the result, lie side by side. */
static uint32_t turned_weight(struct builder *b, uint32_t w, int d)
{
    const int last = expand_shape(b, w).rank - 1;
    int32_t there[TARN_MAX_RANK], again[TARN_MAX_RANK];
    for (int i = 0; i <= last; i++) {
        there[i] = i == 0 ? 1 - d : i == last ? d : i + 1;
        again[there[i]] = i;
    }
    const uint32_t copy = permuted(b, w, there);
    simplify_module(b)->stored[copy] = true;
    return permuted(b, copy, again);
}

/* A copy of the weight, of whose dimension `d`, channels of the result, those of each register have all that they are
 * multiplied with together: with all channels side by side it would lie a row of them apart for each. */
static uint32_t weight_panels(struct builder *b, uint32_t w, int d)
{
    const tarn_shape s = expand_shape(b, w);
    tarn_shape apart = { .rank = s.rank + 1 };
    int32_t order[TARN_MAX_RANK] = { d };
    for (int i = 0; i < s.rank; i++)
        apart.dim[i + (i > d)] = s.dim[i];
    apart.dim[d] /= LANES;
    apart.dim[d + 1] = LANES;
    for (int i = 0, next = 1; i <= s.rank; i++)
        if (i != d && i != d + 1)
            order[next++] = i;
    order[s.rank] = d + 1;
    const uint32_t copy = permuted(b, expand_reshape(b, w, apart), order);
    simplify_module(b)->stored[copy] = true;
    return copy;
}

bool lanes_from_channels(const struct node *n)
{
    const int32_t channels = n->shape.dim[1], each = channels / n->arg.conv.groups;
    return each >= LANES || (each == 1 && channels >= LANES);
}

/* As many columns as a strided convolution's gradient has, or some more, so that tiles of registers begin where the same elements
 * of a window meet it. */
static int32_t columns_in_tiles(const struct node *n)
{
    const int32_t columns = n->shape.dim[n->shape.rank - 1];
    const int32_t stride = n->arg.conv.stride[CONV_COLUMNS];
    const int32_t more = (COLUMNS * stride - columns % (COLUMNS * stride)) % (COLUMNS * stride);
    if (n->op != &op_conv2d_input || stride == 1 || more * MOST_MORE > columns)
        return columns;
    for (int32_t size = COLUMNS; size <= LANES; size++)
        if (columns % size == 0 && size % stride == 0)
            return columns;
    return columns + more;
}

uint32_t from_channels(struct builder *b, const struct node *n, const uint32_t in[2])
{
    const bool transposed = n->op == &op_conv2d_input;
    tarn_shape whole = n->shape;
    whole.dim[whole.rank - 1] = columns_in_tiles(n);
    const int32_t channels = n->shape.dim[1];
    const bool panels = n->arg.conv.groups == 1 && channels > LANES && channels % LANES == 0;
    const bool by_groups = channels == n->arg.conv.groups;
    /* Where each channel is a group, lanes go along the image's channels, too. */
    const uint32_t operands[2] = { by_groups ? with_channels_second(b, channels_last_of(b, in[0]))
                                             : in[0],
                                   panels ? weight_panels(b, in[1], transposed)
                                          : turned_weight(b, in[1], transposed && !by_groups) };
    const uint32_t made = expand_make(b, transposed ? &conv2d_input_last : &conv2d_last,
                                      permuted_shape(whole, channels_last(whole.rank)), n->dtype,
                                      &n->arg, operands, 2);
    const int columns = n->shape.rank - 2; /* which stand before channels */
    return with_channels_second(b, some_of(b, made, columns, 0, n->shape.dim[columns + 1]));
}

static bool convolution(struct builder *b, const struct node *n, const uint32_t in[2],
                        uint32_t *out)
{
    if (few_winograd(b, n, in, false, out))
        return true;
    if (from_phases(b, n, in, out))
        return true;
    if (lanes_from_channels(n)) {
        *out = from_channels(b, n, in);
        return true;
    }
    return n->op == &op_conv2d
               ? n->arg.conv.stride[CONV_COLUMNS] == 1 && from_columns(b, n, in, out)
               : from_columns_apart(b, n, in, out);
}

/* A map or a join of values that have their channels last, all or some of them, has them last, too. */
static bool elementwise(struct builder *b, const struct node *n, const uint32_t *in, uint32_t *out)
{
    const struct module *m = simplify_module(b);
    uint32_t operands[FEW_OPERANDS], turned = 0;
    for (uint32_t k = 0; k < n->in_count; k++)
        turned += has_order(&m->nodes[in[k]], channels_second);
    if (turned == 0 || n->in_count > FEW_OPERANDS ||
        (n->op->kind == OP_CONCAT && turned < n->in_count))
        return false;
    for (uint32_t k = 0; k < n->in_count; k++)
        operands[k] = with_channels_last(b, in[k]);
    union op_arg arg = n->arg;
    if (n->op->kind == OP_CONCAT)
        arg.concat.axis = channels_second(n->shape.rank)[n->arg.concat.axis];
    const uint32_t made =
        expand_make(b, n->op, permuted_shape(n->shape, channels_last(n->shape.rank)), n->dtype,
                    &arg, operands, n->in_count);
    *out = with_channels_second(b, made);
    return true;
}

/* The node that makes `x`, and what that is made of, if it is such a view; else NULL. */
static const struct node *view_of(const struct module *m, const struct op *op, uint32_t *x)
{
    const struct node *n = &m->nodes[*x];
    if (n->op != op)
        return NULL;
    *x = module_operand(m, *x, 0);
    return n;
}

/* An image with channels last whose rows and columns are repeated, a reshape of [N, C, H, h, W, w], has them last,
 * too. */
static bool enlarged(struct builder *b, const struct node *n, uint32_t x, uint32_t *out)
{
    const struct module *m = simplify_module(b);
    const struct node *repeated = view_of(m, &op_expand, &x);
    const struct node *apart = repeated != NULL ? view_of(m, &op_reshape, &x) : NULL;
    if (apart == NULL || apart->shape.rank != 6 || !has_order(&m->nodes[x], channels_second))
        return false;
    const tarn_shape e = repeated->shape, from = apart->shape, s = m->nodes[x].shape, to = n->shape;
    if (from.dim[0] != s.dim[0] || from.dim[1] != s.dim[1] || from.dim[2] != s.dim[2] ||
        from.dim[3] != 1 || from.dim[4] != s.dim[3] || e.dim[0] != to.dim[0] ||
        e.dim[1] != to.dim[1] || e.dim[2] * e.dim[3] != to.dim[2])
        return false;
    x = module_operand(m, x, 0);
    x = expand_reshape(b, x, TARN_SHAPE(s.dim[0], s.dim[2], 1, s.dim[3], 1, s.dim[1]));
    x = expand_make(b, &op_expand,
                    TARN_SHAPE(e.dim[0], e.dim[2], e.dim[3], e.dim[4], e.dim[5], e.dim[1]),
                    expand_dtype(b, x), NULL, &x, 1);
    *out = with_channels_second(b, expand_reshape(b, x, permuted_shape(to, channels_last(4))));
    return true;
}

bool few_expand(struct builder *b, const struct node *n, const uint32_t *in, uint32_t *out)
{
    if ((n->shape.rank != 4 && n->shape.rank != 5) || tarn_shape_count(n->shape) == 0)
        return false;
    if (n->op == &op_conv2d || n->op == &op_conv2d_input)
        return convolution(b, n, in, out);
    if (n->op == &op_reshape && n->shape.rank == 4)
        return enlarged(b, n, in[0], out);
    return (n->op->kind == OP_MAP || n->op->kind == OP_CONCAT) && elementwise(b, n, in, out);
}
