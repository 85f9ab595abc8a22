/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of the program of one rank. In: forms, states and moves. Out: nodes. Where a rank's own place is needed, a
 * position leaf has it. */
#include "shard/emit.h"

#include <stdlib.h>
#include <string.h>

#include "tensor/shape.h"

/* ---- nodes ---------------------------------------------------------------------------------- */

static bool room(struct emitter *e, void *array, uint32_t *capacity, uint32_t count, size_t size)
{
    if (count <= *capacity)
        return true;
    uint32_t want = *capacity != 0 ? *capacity : 256;
    while (want < count)
        want *= 2;
    void *old, *larger;
    memcpy(&old, array, sizeof old);
    larger = realloc(old, want * size);
    if (larger == NULL) {
        e->failed = true;
        return false;
    }
    memcpy(array, &larger, sizeof larger);
    *capacity = want;
    return true;
}

uint32_t emit_raw(struct emitter *e, const struct node *n, const uint32_t *in)
{
    if (!room(e, &e->nodes, &e->capacity, e->count + 2, sizeof *e->nodes) ||
        !room(e, &e->operands, &e->operand_capacity, e->operand_count + n->in_count,
              sizeof *e->operands))
        return 0;
    if (e->count == 0)
        memset(&e->nodes[e->count++], 0, sizeof *e->nodes);
    struct node *copy = &e->nodes[e->count];
    *copy = *n;
    copy->first_in = e->operand_count;
    for (int d = n->shape.rank; d < TARN_MAX_RANK; d++)
        copy->shape.dim[d] = 0;
    for (uint32_t k = 0; k < n->in_count; k++)
        e->operands[e->operand_count++] = in[k];
    return e->count++;
}

static uint32_t add(struct emitter *e, const struct op *op, tarn_shape shape, tarn_dtype dtype,
                    const union op_arg *arg, const uint32_t *in, uint32_t count)
{
    const struct node n = node_of(op, shape, dtype, arg, count);
    return e->failed ? 0 : emit_raw(e, &n, in);
}

static tarn_shape shape_at(const struct emitter *e, uint32_t x)
{
    return e->failed ? TARN_SCALAR : e->nodes[x].shape;
}

static tarn_dtype dtype_at(const struct emitter *e, uint32_t x)
{
    return e->failed ? TARN_F32 : e->nodes[x].dtype;
}

static uint32_t constant(struct emitter *e, tarn_shape shape, tarn_dtype dtype, int32_t value)
{
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    const float single = (float)value;
    const double wide = (double)value;
    uint64_t bits = (uint64_t)(int64_t)value; /* of an int32 its lower half */
    if (dtype == TARN_F64)
        memcpy(&bits, &wide, sizeof bits);
    arg.leaf.bits = (uint32_t)bits;
    arg.leaf.slot = dtype_is_wide(dtype) ? (uint32_t)(bits >> 32) : 0;
    if (dtype == TARN_F32)
        memcpy(&arg.leaf.bits, &single, sizeof arg.leaf.bits);
    return add(e, &op_constant, shape, dtype, &arg, NULL, 0);
}

static uint32_t map(struct emitter *e, const struct op *op, tarn_dtype dtype, uint32_t x,
                    uint32_t y)
{
    return add(e, op, shape_at(e, x), dtype, NULL, (uint32_t[2]){ x, y }, 2);
}

static uint32_t choose(struct emitter *e, uint32_t condition, uint32_t x, uint32_t y)
{
    const uint32_t in[3] = { condition, x, y };
    return add(e, &op_where, shape_at(e, x), dtype_at(e, x), NULL, in, 3);
}

static uint32_t position(struct emitter *e, tarn_shape shape, const struct position *at)
{
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.position.at = *at;
    return add(e, &op_iota, shape, TARN_I32, &arg, NULL, 0);
}

static uint32_t permute(struct emitter *e, uint32_t x, const int32_t *order)
{
    union op_arg arg;
    const tarn_shape from = shape_at(e, x);
    tarn_shape to = from;
    bool moved = false;
    memset(&arg, 0, sizeof arg);
    for (int d = 0; d < from.rank; d++) {
        arg.permute.order[d] = order[d];
        to.dim[d] = from.dim[order[d]];
        moved |= order[d] != d;
    }
    return moved ? add(e, &op_permute, to, dtype_at(e, x), &arg, &x, 1) : x;
}

/* Dimension d comes first, or, `back`, the first one goes there. */
static uint32_t lead(struct emitter *e, uint32_t x, int d, bool back)
{
    int32_t order[TARN_MAX_RANK];
    const int rank = shape_at(e, x).rank;
    for (int i = 0; i < rank; i++)
        order[i] = back ? (i < d ? i + 1 : i == d ? 0 : i) : i == 0 ? d : i <= d ? i - 1 : i;
    return permute(e, x, order);
}

uint32_t emit_reshape(struct emitter *e, uint32_t x, tarn_shape shape)
{
    return add(e, &op_reshape, shape, dtype_at(e, x), NULL, &x, 1);
}

uint32_t emit_concat(struct emitter *e, const uint32_t *parts, uint32_t count, int32_t total)
{
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    return add(e, &op_concat, TARN_SHAPE(total), dtype_at(e, parts[0]), &arg, parts, count);
}

uint32_t emit_range(struct emitter *e, uint32_t x, int32_t start, int32_t count)
{
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.slice.start[0] = start;
    arg.slice.step[0] = 1;
    return add(e, &op_slice, TARN_SHAPE(count), dtype_at(e, x), &arg, &x, 1);
}

uint32_t emit_piece(struct emitter *e, const struct node *n)
{
    union op_arg flat, arg;
    memset(&flat, 0, sizeof flat);
    memset(&arg, 0, sizeof arg);
    flat.leaf.slot = n->arg.leaf.slot;
    arg.piece.first = n->arg.leaf.first;
    arg.piece.steps_lead = n->arg.leaf.axis;
    const uint32_t all =
        add(e, &op_held, TARN_SHAPE((int32_t)n->arg.leaf.elements), n->dtype, &flat, NULL, 0);
    return add(e, &op_piece, n->shape, n->dtype, &arg, &all, 1);
}

uint32_t emit_after(struct emitter *e, uint32_t x, uint32_t first, uint32_t region)
{
    const uint32_t in[2] = { x, first };
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.after.region = region;
    return add(e, &op_after, shape_at(e, x), dtype_at(e, x), &arg, in, 2);
}

void emit_free(struct emitter *e)
{
    free(e->nodes);
    free(e->operands);
    free(e->made);
}

/* ---- leaves and gathers --------------------------------------------------------------------- */

/* A position that is numbered over all ranks. */
static uint32_t emit_position(struct emitter *e, const struct form *local, struct state out)
{
    struct node n = local->node;
    struct position *at = &n.arg.position.at;
    for (int a = 0; a < e->mesh->axes; a++) {
        const int d = out.at[a];
        if (d < 0)
            continue;
        at->step[a] += at->stride[d] * state_step(e->mesh, out, a, n.shape.dim[d]);
    }
    return emit_raw(e, &n, NULL);
}

/* A condition of the index as one of whole rows of the result. */
static uint32_t over_rows(struct emitter *e, uint32_t condition, tarn_shape shape)
{
    tarn_shape thin = shape_at(e, condition);
    while (thin.rank < shape.rank)
        thin.dim[thin.rank++] = 1;
    const uint32_t column = add(e, &op_reshape, thin, TARN_U8, NULL, &condition, 1);
    return add(e, &op_expand, shape, TARN_U8, NULL, &column, 1);
}

/* An index into rows of which each rank has a part, as one into its own, and which lie there: conditions. The
 * index is clamped as that of all rows before. */
struct own_rows {
    uint32_t row, low, high;
};
static struct own_rows find_own_rows(struct emitter *e, uint32_t index, int32_t all, int32_t rows,
                                     struct state state)
{
    const tarn_shape at = shape_at(e, index);
    struct position own;
    memset(&own, 0, sizeof own);
    for (int a = 0; a < e->mesh->axes; a++)
        if (state.at[a] == 0)
            own.step[a] = state_step(e->mesh, state, a, rows);
    const uint32_t zero = constant(e, at, TARN_I32, 0);
    const uint32_t last = constant(e, at, TARN_I32, all - 1);
    const uint32_t inside =
        map(e, &op_maximum, TARN_I32, map(e, &op_minimum, TARN_I32, index, last), zero);
    const uint32_t row = map(e, &op_sub, TARN_I32, inside, position(e, at, &own));
    return (struct own_rows){ .row = row,
                              .low = map(e, &op_ge, TARN_U8, row, zero),
                              .high =
                                  map(e, &op_lt, TARN_U8, row, constant(e, at, TARN_I32, rows)) };
}

/* x where a row is the rank's own, else 0. */
static uint32_t only_own(struct emitter *e, const struct own_rows *own, uint32_t x)
{
    const tarn_shape shape = shape_at(e, x);
    const uint32_t none = constant(e, shape, dtype_at(e, x), 0);
    const uint32_t upper = choose(e, over_rows(e, own->high, shape), x, none);
    return choose(e, over_rows(e, own->low, shape), upper, none);
}

/* Rows of a table whose rows are cut: each rank gives those that it has, and 0 for the others. */
static uint32_t emit_rows(struct emitter *e, const struct form *global, const struct form *local,
                          struct state table, const uint32_t *in)
{
    const struct own_rows own =
        find_own_rows(e, in[1], global->in[0].dim[0], local->in[0].dim[0], table);
    const uint32_t with[2] = { in[0], own.row };
    return e->failed ? 0 : only_own(e, &own, emit_raw(e, &local->node, with));
}

/* Sums of rows of which each rank has a part: it adds 0 to some row of its own for the others. */
static uint32_t emit_sums(struct emitter *e, const struct form *global, const struct form *local,
                          struct state out, const uint32_t *in)
{
    const int32_t rows = local->node.shape.dim[0];
    const struct own_rows own = find_own_rows(e, in[1], global->node.shape.dim[0], rows, out);
    const tarn_shape at = shape_at(e, in[1]);
    const uint32_t row =
        map(e, &op_minimum, TARN_I32, own.row, constant(e, at, TARN_I32, rows - 1));
    const uint32_t with[2] = { only_own(e, &own, in[0]),
                               map(e, &op_maximum, TARN_I32, row, constant(e, at, TARN_I32, 0)) };
    return e->failed ? 0 : emit_raw(e, &local->node, with);
}

uint32_t emit_node(struct emitter *e, const struct form *global, const struct form *local,
                   const struct state *in_state, struct state out, const uint32_t *in)
{
    const struct op *op = local->node.op;
    if (e->failed)
        return 0;
    if (op == &op_iota || op == &op_rand)
        return emit_position(e, local, out);
    if (op == &op_gather && state_axes_of(e->mesh, in_state[0], 0) != 0)
        return emit_rows(e, global, local, in_state[0], in);
    if (op == &op_scatter && local->node.arg.routine.axis < 0 &&
        state_axes_of(e->mesh, out, 0) != 0)
        return emit_sums(e, global, local, out, in);
    return emit_raw(e, &local->node, in);
}

/* ---- moves ---------------------------------------------------------------------------------- */

static tarn_shape shape_after(const struct emitter *e, const struct shard_group *g,
                              tarn_shape shape)
{
    const int32_t n = mesh_blocks(e->mesh, g->axes);
    if (g->kind == SHARD_ALL_GATHER)
        shape.dim[0] *= n;
    if (g->kind == SHARD_REDUCE_SCATTER)
        shape.dim[0] /= n;
    return shape;
}

uint32_t emit_call(struct emitter *e, const struct shard_group *group, uint32_t x)
{
    static const enum move_kind kinds[] = { [SHARD_ALL_GATHER] = MOVE_ALL_GATHER,
                                            [SHARD_ALL_REDUCE] = MOVE_ALL_REDUCE,
                                            [SHARD_REDUCE_SCATTER] = MOVE_REDUCE_SCATTER,
                                            [SHARD_ALL_TO_ALL] = MOVE_ALL_TO_ALL };
    const struct move v = { .kind = kinds[group->kind], .axes = group->axes };
    const tarn_shape shape = shape_at(e, x);
    const tarn_dtype dtype = dtype_at(e, x);
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    if (e->failed || !room(e, &e->made, &e->made_capacity, e->made_count + 1, sizeof *e->made))
        return 0;
    e->calls->fill(group, shape, dtype, &arg);
    e->bytes += move_cost(e->mesh, &v, (int64_t)shape_bytes(shape, dtype)) / COST_BYTE;
    const uint32_t node =
        add(e, e->calls->op[group->kind], shape_after(e, group, shape), dtype, &arg, &x, 1);
    e->made[e->made_count++] = (struct made_call){ node, *group };
    return node;
}

static uint32_t call(struct emitter *e, const struct move *v, uint32_t x)
{
    static const enum shard_kind kinds[] = { [MOVE_ALL_GATHER] = SHARD_ALL_GATHER,
                                             [MOVE_ALL_REDUCE] = SHARD_ALL_REDUCE,
                                             [MOVE_REDUCE_SCATTER] = SHARD_REDUCE_SCATTER,
                                             [MOVE_ALL_TO_ALL] = SHARD_ALL_TO_ALL };
    const struct shard_group group = { .kind = kinds[v->kind],
                                       .axes = v->axes,
                                       .reduction = v->pending == STATE_MAX   ? SHARD_MAX
                                                    : v->pending == STATE_MIN ? SHARD_MIN
                                                                              : SHARD_SUM };
    return emit_call(e, &group, x);
}

/* Along dimension d, which comes first for it. */
static uint32_t call_along(struct emitter *e, const struct move *v, uint32_t x, int d)
{
    return lead(e, call(e, v, lead(e, x, d, false)), d, true);
}

/* Blocks of `to` go to the ranks, and blocks of `from` come: side by side along an axis of their own, which is
 * then joined to `from`. */
static uint32_t emit_all_to_all(struct emitter *e, const struct move *v, uint32_t x)
{
    const int32_t n = mesh_blocks(e->mesh, v->axes);
    const uint32_t first = lead(e, x, v->to, false);
    const tarn_shape shape = shape_at(e, first);
    const uint32_t got = call(e, v, first);
    tarn_shape apart = { .rank = shape.rank + 1, .dim = { n, shape.dim[0] / n } };
    for (int d = 1; d < shape.rank; d++)
        apart.dim[d + 1] = shape.dim[d];
    const uint32_t blocks = add(e, &op_reshape, apart, dtype_at(e, x), NULL, &got, 1);
    /* Of `apart`, dimension 1 is `to`, and then come the others in order; the blocks go before `from`. */
    int32_t order[TARN_MAX_RANK];
    tarn_shape joined = shape_at(e, x);
    int at = 0;
    for (int d = 0; d < joined.rank; d++) {
        if (d == v->from)
            order[at++] = 0;
        order[at++] = d == v->to ? 1 : d < v->to ? d + 2 : d + 1;
    }
    joined.dim[v->to] /= n;
    joined.dim[v->from] *= n;
    const uint32_t together = permute(e, blocks, order);
    return add(e, &op_reshape, joined, dtype_at(e, x), NULL, &together, 1);
}

/* The rank's own block of dimension `to`. */
static uint32_t emit_slice(struct emitter *e, const struct move *v, uint32_t x)
{
    const uint32_t table = lead(e, x, v->to, false);
    tarn_shape shape = shape_at(e, table);
    struct position own;
    memset(&own, 0, sizeof own);
    own.stride[0] = 1;
    for (int a = 0; a < e->mesh->axes; a++) {
        if (!(v->axes >> a & 1))
            continue;
        shape.dim[0] /= e->mesh->extent[a];
        own.step[a] = shape.dim[0];
    }
    const uint32_t rows = position(e, TARN_SHAPE(shape.dim[0]), &own);
    const uint32_t in[2] = { table, rows };
    const uint32_t block = add(e, &op_gather, shape, dtype_at(e, x), NULL, in, 2);
    return lead(e, block, v->to, true);
}

/* x on the first rank along an axis, 0 on the others. */
static uint32_t emit_mask(struct emitter *e, const struct move *v, uint32_t x)
{
    const tarn_shape shape = shape_at(e, x);
    struct position own;
    memset(&own, 0, sizeof own);
    for (int a = 0; a < e->mesh->axes; a++)
        own.step[a] = v->axes >> a & 1;
    const uint32_t first =
        map(e, &op_eq, TARN_U8, position(e, shape, &own), constant(e, shape, TARN_I32, 0));
    return choose(e, first, x, constant(e, shape, dtype_at(e, x), 0));
}

uint32_t emit_move(struct emitter *e, uint32_t x, const struct move *v)
{
    if (e->failed)
        return 0;
    switch (v->kind) {
    case MOVE_ALL_GATHER:
        return call_along(e, v, x, v->from);
    case MOVE_REDUCE_SCATTER:
        return call_along(e, v, x, v->to);
    case MOVE_ALL_REDUCE:
        return call(e, v, x);
    case MOVE_ALL_TO_ALL:
        return emit_all_to_all(e, v, x);
    case MOVE_SLICE:
        return emit_slice(e, v, x);
    case MOVE_MASK:
        return emit_mask(e, v, x);
    }
    return 0;
}
