/* SPDX-License-Identifier: Apache-2.0 */
#include "build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void need(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "build: %s\n", what);
    exit(2);
}

/* Room for one element more in a list that had `count`; those behind it are zero. */
static void *grown(void *list, size_t count, size_t size)
{
    if (count > 0 && (count & (count - 1)) != 0)
        return list; /* it was doubled at the last power of two */
    char *larger = realloc(list, (2 * count + 1) * size);
    need(larger != NULL, "out of memory");
    memset(larger + count * size, 0, (count + 1) * size);
    return larger;
}

void build_begin(struct build *b)
{
    memset(b, 0, sizeof *b);
    b->nodes = grown(NULL, 0, sizeof *b->nodes);
    b->count = 1;
    b->partition.world = 1;
}

void build_end(struct build *b)
{
    free(b->nodes);
    free(b->operands);
    free(b->outputs);
    free(b->storage);
    memset(b, 0, sizeof *b);
}

struct program build_program(const struct build *b)
{
    return (struct program){ .nodes = b->nodes,
                             .count = b->count,
                             .operands = b->operands,
                             .operand_count = b->operand_count,
                             .outputs = b->outputs,
                             .output_count = b->output_count,
                             .effects = true,
                             .storage = b->storage,
                             .partition = b->partition };
}

uint32_t build_node(struct build *b, const struct op *op, tarn_shape shape, tarn_dtype dtype,
                    const union op_arg *arg, const uint32_t *in, uint32_t count)
{
    b->nodes = grown(b->nodes, b->count, sizeof *b->nodes);
    struct node *n = &b->nodes[b->count];
    n->op = op;
    n->shape = shape;
    n->dtype = dtype;
    n->first_in = b->operand_count;
    n->in_count = count;
    if (arg != NULL)
        n->arg = *arg;
    for (uint32_t i = 0; i < count; i++) {
        need(in[i] > 0 && in[i] < b->count, "an operand that is no node yet");
        b->operands = grown(b->operands, b->operand_count, sizeof *b->operands);
        b->operands[b->operand_count++] = in[i];
    }
    return b->count++;
}

static const struct node *at(const struct build *b, uint32_t node)
{
    need(node > 0 && node < b->count, "no such node");
    return &b->nodes[node];
}

static union op_arg no_arg(void)
{
    union op_arg arg;
    memset(&arg, 0, sizeof arg); /* compared as bytes */
    return arg;
}

/* ---- leaves --------------------------------------------------------------------------------- */

uint32_t build_samples(struct build *b, tarn_shape shape)
{
    union op_arg arg = no_arg();
    arg.leaf.slot = b->input_count++;
    const uint32_t node = build_node(b, &op_input, shape, TARN_F32, &arg, NULL, 0);
    b->nodes[node].part = 1; /* of a batch */
    return node;
}

static uint32_t owned(struct build *b, struct storage place, tarn_shape shape)
{
    union op_arg arg = no_arg();
    b->storage = grown(b->storage, b->owned_count, sizeof *b->storage);
    arg.leaf.slot = b->owned_count;
    b->storage[b->owned_count++] = place;
    return build_node(b, &op_owned, shape, TARN_F32, &arg, NULL, 0);
}

uint32_t build_owned(struct build *b, tarn_shape shape)
{
    return owned(b, (struct storage){ .memory = b->owned_count }, shape);
}

uint32_t build_slice_of(struct build *b, uint32_t other, size_t offset, tarn_shape shape)
{
    struct storage place = b->storage[at(b, other)->arg.leaf.slot];
    place.offset += offset;
    return owned(b, place, shape);
}

uint32_t build_constant(struct build *b, tarn_shape shape, float value)
{
    union op_arg arg = no_arg();
    memcpy(&arg.leaf.bits, &value, sizeof value);
    return build_node(b, &op_constant, shape, TARN_F32, &arg, NULL, 0);
}

/* ---- operations ----------------------------------------------------------------------------- */

uint32_t build_map(struct build *b, const struct op *op, uint32_t x)
{
    return build_node(b, op, at(b, x)->shape, TARN_F32, NULL, &x, 1);
}

uint32_t build_map2(struct build *b, const struct op *op, uint32_t x, uint32_t y)
{
    need(memcmp(&at(b, x)->shape, &at(b, y)->shape, sizeof(tarn_shape)) == 0,
         "a map of two shapes: expand one");
    return build_node(b, op, at(b, x)->shape, TARN_F32, NULL, (uint32_t[2]){ x, y }, 2);
}

uint32_t build_scaled(struct build *b, uint32_t x, float factor)
{
    return build_map2(b, &op_mul, x, build_constant(b, at(b, x)->shape, factor));
}

uint32_t build_reshape(struct build *b, uint32_t x, tarn_shape shape)
{
    return build_node(b, &op_reshape, shape, TARN_F32, NULL, &x, 1);
}

uint32_t build_expand(struct build *b, uint32_t x, tarn_shape shape)
{
    need(at(b, x)->shape.rank == shape.rank, "expand keeps the rank");
    return build_node(b, &op_expand, shape, TARN_F32, NULL, &x, 1);
}

uint32_t build_turned(struct build *b, uint32_t x)
{
    union op_arg arg = no_arg();
    tarn_shape shape = at(b, x)->shape;
    const int last = shape.rank - 1;
    need(last > 0, "turned values have two axes");
    for (int i = 0; i <= last; i++)
        arg.permute.order[i] = i == last ? last - 1 : i == last - 1 ? last : i;
    shape.dim[last] = at(b, x)->shape.dim[last - 1];
    shape.dim[last - 1] = at(b, x)->shape.dim[last];
    return build_node(b, &op_permute, shape, TARN_F32, &arg, &x, 1);
}

uint32_t build_reduce(struct build *b, const struct op *op, uint32_t x, uint32_t axes)
{
    union op_arg arg = no_arg();
    tarn_shape shape = at(b, x)->shape;
    arg.reduce.axes = axes;
    for (int i = 0; i < shape.rank; i++)
        if (axes >> i & 1)
            shape.dim[i] = 1;
    return build_node(b, op, shape, TARN_F32, &arg, &x, 1);
}

uint32_t build_matmul(struct build *b, uint32_t x, uint32_t y, bool transpose_x, bool transpose_y)
{
    const tarn_shape left = at(b, x)->shape, right = at(b, y)->shape;
    union op_arg arg = no_arg();
    arg.matmul.transpose[0] = transpose_x;
    arg.matmul.transpose[1] = transpose_y;
    need(left.dim[transpose_x ? 0 : 1] == right.dim[transpose_y ? 1 : 0], "inner dimensions");
    return build_node(b, &op_matmul, TARN_SHAPE(left.dim[transpose_x], right.dim[!transpose_y]),
                      TARN_F32, &arg, (uint32_t[2]){ x, y }, 2);
}

static union op_arg conv_arg(int32_t padding)
{
    union op_arg arg = no_arg();
    for (int i = CONV_ROWS; i < CONV_DIRECTIONS; i++) {
        arg.conv.stride[i] = arg.conv.dilation[i] = 1;
        arg.conv.padding[i] = padding;
    }
    arg.conv.groups = 1;
    return arg;
}

uint32_t build_conv(struct build *b, uint32_t x, uint32_t weight, int32_t padding)
{
    const tarn_shape image = at(b, x)->shape, window = at(b, weight)->shape;
    const union op_arg arg = conv_arg(padding);
    tarn_shape shape = TARN_SHAPE(image.dim[0], window.dim[0], 0, 0);
    for (int i = 0; i < 2; i++)
        shape.dim[2 + i] = image.dim[2 + i] + 2 * padding - window.dim[2 + i] + 1;
    return build_node(b, &op_conv2d, shape, TARN_F32, &arg, (uint32_t[2]){ x, weight }, 2);
}

uint32_t build_conv_weight(struct build *b, uint32_t x, uint32_t given, int32_t padding)
{
    const tarn_shape image = at(b, x)->shape, out = at(b, given)->shape;
    const union op_arg arg = conv_arg(padding);
    tarn_shape shape = TARN_SHAPE(out.dim[1], image.dim[1], 0, 0);
    for (int i = 0; i < 2; i++)
        shape.dim[2 + i] = image.dim[2 + i] + 2 * padding - out.dim[2 + i] + 1;
    return build_node(b, &op_conv2d_weight, shape, TARN_F32, &arg, (uint32_t[2]){ x, given }, 2);
}

/* ---- results -------------------------------------------------------------------------------- */

void build_output(struct build *b, uint32_t node)
{
    b->outputs = grown(b->outputs, (size_t)b->output_count, sizeof *b->outputs);
    b->outputs[b->output_count++] = node;
}

void build_assign(struct build *b, uint32_t node, uint32_t value)
{
    union op_arg arg = no_arg();
    need(at(b, node)->op == &op_owned, "assigned to what is not owned");
    arg.assign.owned = at(b, node)->arg.leaf.slot;
    build_node(b, &op_assign, at(b, value)->shape, TARN_F32, &arg, &value, 1);
}
