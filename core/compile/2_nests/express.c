/* SPDX-License-Identifier: Apache-2.0 */
/* What is inside of a nest: the expression of one element of a node, inlining maps and views down
 * to what is in memory. In: a node and the index of one of its elements. Out: expressions of a
 * nest. */
#include <string.h>

#include "compile/2_nests/lowering.h"
#include "tensor/shape.h"
#include "tensor/sum_order.h"

static int add(const struct site *s, const struct expr *e)
{
    const int at = expr_add(s->l->p, s->nest, e);
    return at >= 0 ? at : lower_fail(s->l, TARN_ERR_MEMORY);
}

static void access_add(struct access *a, const struct rational *index, int32_t stride)
{
    if (index->divide == 1) {
        a->address = affine_add_scaled(a->address, index->e, stride);
    } else {
        a->part[a->part_count].index = *index;
        a->part[a->part_count++].stride = stride;
    }
}

/* Whether dimension 0 is exactly the batch axis of the nest, and no other dimension uses it. */
static bool index_is_in_block(const struct nest *n, const struct rational *index, int rank)
{
    if (!n->batched || rank == 0 || !rational_is_axis(&index[0], n->batch_axis))
        return false;
    for (int d = 1; d < rank; d++)
        if (rational_uses(&index[d], n->batch_axis))
            return false;
    return true;
}

bool crosses_by_copy(const struct lowering *l, uint32_t node)
{
    const struct node *n = &l->m->nodes[node];
    if (!l->p->target->fuse || l->p->target->items || !l->m->batched[node] ||
        tarn_dtype_bytes(n->dtype) < 2 || tarn_shape_count(n->shape) / n->shape.dim[0] < 16)
        return false;
    /* A tensor that is updated in place must be read by the nest that writes it. */
    return n->op != &op_owned || !module_assigns(l->m, n->arg.leaf.slot);
}

/* Whether an index goes through all elements of a dimension along one axis, once, though the axis may begin before
 * them and end after: a guard leaves out what is read there. */
static bool covers(const struct nest *n, const struct rational *index, int axis, int32_t extent)
{
    struct affine along = affine_axis(axis);
    along.constant = index->e.constant;
    return index->divide == 1 && affine_equal(&index->e, &along) && along.constant <= 0 &&
           along.constant + n->extent[axis] >= extent;
}

/* Whether the nest reads every element exactly once: else a copy costs more than it saves. */
static bool reads_all(const struct nest *n, const struct rational *index, tarn_shape shape)
{
    for (int d = 0; d < shape.rank; d++) {
        bool whole = false;
        for (int a = 0; a < n->axes; a++)
            whole |= covers(n, &index[d], a, shape.dim[d]);
        if (!whole)
            return false;
    }
    return true;
}

/* Whether index 0 goes through the blocks of samples, and through the lanes of each. */
static bool goes_through_blocks(const struct site *s, const struct rational *index)
{
    const int lane = s->nest->axes - 1;
    if (!s->blocks)
        return false;
    struct affine wanted = affine_axis(lane);
    wanted.k[lane - 1] = LANES;
    return index->divide == 1 && affine_equal(&index->e, &wanted);
}

/* Load of the element `index` of a node in memory, seen with `shape` (its own, or of a reshape). */
static int load(const struct site *s, uint32_t node, tarn_shape shape, const struct rational *index)
{
    struct lowering *l = s->l;
    const struct node *n = &l->m->nodes[node];
    const bool of_block = l->m->batched[node] && index_is_in_block(s->nest, index, shape.rank) &&
                          shape.dim[0] == l->m->batch;
    const bool in_block = of_block && !s->by_sample;
    const bool blocks = l->m->batched[node] && shape.rank > 0 && goes_through_blocks(s, &index[0]);
    int v = value_of(l, node);
    if (v < 0)
        return -1;
    if (in_block && l->p->values[v].layout == LAYOUT_PLAIN && shape.rank > 1 &&
        tarn_shape_count(shape) > l->m->batch &&
        (s->reuse ||
         (node != s->root && reads_all(s->nest, index, shape) && crosses_by_copy(l, node))))
        v = blocked_of(l, node);
    else if (!in_block && !blocks && l->p->values[v].layout == LAYOUT_BLOCKED)
        v = plain_of(l, node);
    if (v < 0)
        return -1;
    struct expr e = { .kind = EXPR_LOAD, .dtype = dtype_computed(n->dtype) };
    e.access.value = v;
    e.access.gather = -1;
    e.access.in_block = in_block && l->p->values[v].layout == LAYOUT_BLOCKED;
    e.access.samples = of_block && !e.access.in_block;
    int32_t stride[TARN_MAX_RANK] = { 0 };
    shape_strides(shape, stride);
    const bool split = blocks && l->p->values[v].layout == LAYOUT_BLOCKED;
    if (split) {
        const int lane = s->nest->axes - 1;
        const struct rational block = rational_axis(lane - 1), sample = rational_axis(lane);
        access_add(&e.access, &block, LANES * stride[0]);
        access_add(&e.access, &sample, 1);
    }
    for (int d = e.access.in_block || split ? 1 : 0; d < shape.rank; d++)
        access_add(&e.access, &index[d], split ? LANES * stride[d] : stride[d]);
    return add(s, &e);
}

static int express_leaf(const struct site *s, const struct node *n, const struct rational *index)
{
    struct expr e = { .dtype = dtype_computed(n->dtype) };
    if (n->op == &op_constant) {
        e.kind = EXPR_CONSTANT;
        e.bits = n->arg.leaf.bits;
        e.high = dtype_is_wide(n->dtype) ? n->arg.leaf.slot : 0;
    } else if (n->op == &op_number) {
        e.kind = EXPR_NUMBER;
        e.bits = n->arg.leaf.slot;
    } else {
        const struct position *at = &n->arg.position.at;
        e.kind = n->op == &op_iota ? EXPR_IOTA : EXPR_RAND;
        e.bits = n->arg.position.serial;
        e.index = rational_constant((int32_t)at->base);
        for (int d = 0; d < n->shape.rank; d++)
            if (at->stride[d] != 0)
                e.index = rational_add_scaled(e.index, index[d], at->stride[d]);
        memcpy(e.step, at->step, sizeof e.step);
    }
    return add(s, &e);
}

/* Range of an affine index over the nest's axes. */
static void affine_range(const struct nest *n, const struct affine *e, int64_t *low, int64_t *high)
{
    *low = *high = e->constant;
    for (int a = 0; a < n->axes; a++) {
        const int64_t reach = (int64_t)e->k[a] * (n->extent[a] - 1);
        *(reach < 0 ? low : high) += reach;
    }
}

int guard_add(const struct nest *n, struct guard *guards, int count, const struct rational *index,
              int32_t extent)
{
    int64_t low, high;
    affine_range(n, &index->e, &low, &high);
    if (index->divide == 1 && low >= 0 && high < extent)
        return count;
    guards[count] = (struct guard){ .e = index->e, .divide = index->divide, .extent = extent };
    return count + 1;
}

static void set_wide(struct expr *e, double number)
{
    const int64_t whole = e->dtype == TARN_I64 ? (int64_t)number : 0;
    uint64_t bits;
    memcpy(&bits, e->dtype == TARN_F64 ? (const void *)&number : (const void *)&whole, sizeof bits);
    e->bits = (uint32_t)bits;
    e->high = (uint32_t)(bits >> 32);
}

static int express_view(const struct site *s, const struct node *n, uint32_t x,
                        const struct rational *index)
{
    const tarn_shape in = s->l->m->nodes[x].shape;
    struct index_map map;
    memset(&map, 0, sizeof map);
    n->op->index(n, in, &map);
    struct rational inner[TARN_MAX_RANK];
    struct expr e = { .kind = EXPR_GUARD, .dtype = dtype_computed(n->dtype), .args = 1 };
    for (int d = 0; d < in.rank; d++) {
        inner[d] = rational_constant(map.dim[d].offset);
        for (int o = 0; o < n->shape.rank; o++)
            if (map.dim[d].coef[o] != 0)
                inner[d] = rational_add_scaled(inner[d], index[o], map.dim[d].coef[o]);
        if (map.dim[d].divide > 1)
            inner[d] = rational_divide(inner[d], map.dim[d].divide);
        if (map.dim[d].guarded || map.dim[d].divide > 1)
            e.guards = guard_add(s->nest, e.guard, e.guards, &inner[d], in.dim[d]);
    }
    const int below = express(s, x, inner);
    if (below < 0 || e.guards == 0)
        return below;
    e.arg[0] = below;
    const float single = (float)map.fill;
    if (dtype_is_wide(e.dtype))
        set_wide(&e, map.fill);
    else if (e.dtype == TARN_F32)
        memcpy(&e.bits, &single, sizeof e.bits);
    else
        e.bits = dtype_is_half(n->dtype) ? half_from_float(single, n->dtype)
                                         : (uint32_t)(int32_t)map.fill;
    return add(s, &e);
}

static int express_gather(const struct site *s, uint32_t node, const struct rational *index)
{
    struct lowering *l = s->l;
    const struct node *n = &l->m->nodes[node];
    const uint32_t table = lowering_operand(l, node, 0), rows = lowering_operand(l, node, 1);
    const tarn_shape shape = l->m->nodes[table].shape;
    const int rows_rank = l->m->nodes[rows].shape.rank;
    struct expr e = { .kind = EXPR_LOAD, .dtype = dtype_computed(n->dtype) };
    e.access.gather = express(s, rows, index);
    const int v = plain_of(l, table);
    if (e.access.gather < 0 || v < 0)
        return -1;
    int32_t stride[TARN_MAX_RANK] = { 0 };
    shape_strides(shape, stride);
    e.access.value = v;
    e.access.gather_stride = stride[0];
    e.access.gather_extent = shape.dim[0];
    for (int d = 1; d < shape.rank; d++)
        access_add(&e.access, &index[rows_rank + d - 1], stride[d]);
    return add(s, &e);
}

static int express_map(const struct site *s, uint32_t node, const struct rational *index)
{
    const struct node *n = &s->l->m->nodes[node];
    const char *typed = n->op->typed[n->dtype];
    struct expr e = { .kind = EXPR_MAP, .dtype = dtype_computed(n->dtype), .heavy = n->op->heavy };
    e.code = typed != NULL ? typed : n->op->code;
    e.scalars = n->op->scalars;
    for (int k = 0; k < e.scalars; k++)
        e.scalar[k] = n->arg.map.scalar[k];
    e.args = (int)n->in_count;
    for (int k = 0; k < e.args; k++) {
        e.arg[k] = express(s, lowering_operand(s->l, node, (uint32_t)k), index);
        if (e.arg[k] < 0)
            return -1;
    }
    return add(s, &e);
}

static bool is_cheap(const struct node *n)
{
    return n->op->kind == OP_LEAF && !n->op->in_memory;
}

static bool in_memory(const struct lowering *l, uint32_t node)
{
    const struct node *n = &l->m->nodes[node];
    return l->m->stored[node] || l->primary[node] > 0 || n->op->in_memory ||
           n->op->kind == OP_REDUCE || n->op->kind == OP_CONTRACT || n->op->kind == OP_CONCAT ||
           n->op->kind == OP_HOST || n->op->kind == OP_TRANSFORM || n->op->kind == OP_ROUTINE;
}

/* The index of a node on the path; NULL for others. */
static const struct rational *path_index(const struct site *s, uint32_t node)
{
    for (int i = 0; s->path != NULL && i < s->path->length; i++)
        if (s->path->node[i] == node)
            return s->path->index->at[i];
    return NULL;
}

int express_wait(const struct site *s, uint32_t node)
{
    struct lowering *l = s->l;
    if (is_cheap(&l->m->nodes[node]))
        return 0;
    if (in_memory(l, node)) {
        struct expr e = { .kind = EXPR_LOAD, .dtype = dtype_computed(l->m->nodes[node].dtype) };
        e.access.value = value_of(l, node);
        e.access.gather = -1;
        return e.access.value < 0 ? -1 : add(s, &e);
    }
    for (uint32_t k = 0; k < l->m->nodes[node].in_count; k++)
        if (express_wait(s, lowering_operand(l, node, k)) < 0)
            return -1;
    return 0;
}

int express(const struct site *s, uint32_t node, const struct rational *index)
{
    struct lowering *l = s->l;
    const struct node *n = &l->m->nodes[node];
    if (l->status != TARN_OK || l->need.kind != NEED_NOTHING)
        return -1;
    if (node == s->core && s->nest->transformed)
        return s->nest->body[0];
    if (node == s->core) {
        const struct expr acc = { .kind = EXPR_ACC, .dtype = dtype_computed(n->dtype) };
        return add(s, &acc);
    }
    const struct rational *known = path_index(s, node);
    index = known != NULL ? known : index;
    const bool building = node == s->root && l->primary[node] == 0 &&
                          (n->op->kind == OP_MAP || n->op->kind == OP_VIEW ||
                           n->op->kind == OP_GATHER || is_cheap(n));
    if (!building && in_memory(l, node))
        return load(s, node, n->shape, index);
    switch (n->op->kind) {
    case OP_LEAF:
        return express_leaf(s, n, index);
    case OP_GATHER:
        return express_gather(s, node, index);
    case OP_MAP:
        return express_map(s, node, index);
    case OP_VIEW: {
        const uint32_t x = lowering_operand(l, node, 0);
        if (n->op == &op_after && express_wait(s, lowering_operand(l, node, 1)) < 0)
            return -1;
        if (n->op->index != NULL)
            return express_view(s, n, x, index);
        struct rational inner[TARN_MAX_RANK];
        if (path_index(s, x) != NULL)
            return express(s, x, index);
        if (reshape_index(l->m->nodes[x].shape, n->shape, index, inner))
            return express(s, x, inner);
        if (in_memory(l, x) && x != s->core)
            return load(s, x, n->shape, index);
        break;
    }
    case OP_REDUCE:
    case OP_CONTRACT:
    case OP_TRANSFORM:
    case OP_CONCAT:
    case OP_ROUTINE:
    case OP_HOST:
    case OP_COMPOSED:
    case OP_EFFECT:
        break;
    }
    error_set(TARN_ERR_INTERNAL, "compile: cannot place %s %s; please report it", n->op->name,
              shape_text(n->shape));
    return lower_fail(l, TARN_ERR_INTERNAL);
}
