/* SPDX-License-Identifier: Apache-2.0 */
/* One nest: from a node down to what is in memory. In: a node, and where its value goes. Out: a
 * nest, or two of a sum over the batch; or else l->need, when something that it reads has no
 * value yet. */
#include <string.h>

#include "compile/1_graph/graph_passes.h"
#include "compile/2_nests/lowering.h"

/* ---- finding the core of a nest ------------------------------------------------------------- */

/* Whether a node is computed by loops with an epilogue, not by a library. */
static bool is_core(const struct lowering *l, uint32_t node)
{
    const enum op_kind kind = l->m->nodes[node].op->kind;
    return kind == OP_REDUCE || kind == OP_TRANSFORM ||
           (kind == OP_CONTRACT && l->product[node] <= 1);
}

/* The operand of `at` that leads to a core which is computed in the nest of `at`; UINT32_MAX. A
 * node that is stored is read from memory, and so ends the search unless it is the core itself. */
static uint32_t toward_core(const struct lowering *l, uint32_t at, int depth)
{
    const struct node *n = &l->m->nodes[at];
    for (uint32_t k = 0; l->p->target->fuse && depth < PATH_MOST - 1 && k < n->in_count; k++) {
        const uint32_t x = lowering_operand(l, at, k);
        if (k > 0 && x == lowering_operand(l, at, k - 1))
            continue; /* x + x: searched already */
        if (l->m->uses[x] == 1 && l->primary[x] == 0 && joins_epilogue(l->m, x, at) &&
            (is_core(l, x) || (!l->m->stored[x] && toward_core(l, x, depth + 1) != UINT32_MAX)))
            return x;
    }
    return UINT32_MAX;
}

/* The reduction or contraction whose epilogue `root` ends, with the path down to it; UINT32_MAX
 * when `root` is a plain map. */
static uint32_t find_core(const struct lowering *l, uint32_t root, struct path *path)
{
    path->length = 0;
    for (uint32_t at = root; at != UINT32_MAX && path->length < PATH_MOST;
         at = toward_core(l, at, path->length)) {
        path->node[path->length++] = at;
        if (is_core(l, at))
            return at;
    }
    return UINT32_MAX;
}

/* Indices along the path for an index of the core. */
static void index_up(const struct module *m, struct path *path, const struct rational *core)
{
    const int last = path->length - 1;
    struct rational(*at)[TARN_MAX_RANK] = path->index->at;
    memcpy(at[last], core, sizeof at[last]);
    for (int i = last - 1; i >= 0; i--) {
        const struct node *n = &m->nodes[path->node[i]];
        if (n->op == &op_reshape)
            reshape_index(n->shape, m->nodes[path->node[i + 1]].shape, at[i + 1], at[i]);
        else
            memcpy(at[i], at[i + 1], sizeof at[i]);
    }
}

/* ---- nests ----------------------------------------------------------------------------------- */

static int finish(struct lowering *l, struct nest *n, uint32_t root, const struct path *path,
                  const struct rational *index, const struct destination *t)
{
    const uint32_t core = path == NULL ? UINT32_MAX : path->node[path->length - 1];
    const struct site s = { .l = l, .nest = n, .root = root, .core = core, .path = path };
    const int e = express(&s, root, index);
    if (e < 0)
        return -1;
    struct rational at[TARN_MAX_RANK];
    memcpy(at, index, sizeof at);
    if (t->offset != 0)
        at[t->axis].e.constant += t->offset;
    n->store[0] = store_at(l, t->value, at);
    n->store[0].expr = e;
    n->stores = 1;
    return lower_append(l, n);
}

int make_map_nest(struct lowering *l, uint32_t root, const struct destination *t)
{
    struct rational index[TARN_MAX_RANK];
    struct nest n = map_begin(l, root, index);
    n.batched |= l->p->values[t->value].layout == LAYOUT_BLOCKED;
    n.batch_axis = n.batched ? 0 : -1;
    return finish(l, &n, root, NULL, index, t);
}

/* Loads of rows [first, first + count), combined as a binary tree: [0, n) is [0, h) and [h, n), h
 * the largest power of two below n. The tree of several replicas continues it (dist/pattern.h). */
static int partials_tree(struct lowering *l, struct nest *n, const struct expr *row, int32_t stride,
                         int first, int count)
{
    if (count == 1) {
        struct expr e = *row;
        e.access.address.constant += first * stride;
        return expr_add(l->p, n, &e);
    }
    int half = 1;
    while (2 * half < count)
        half *= 2;
    struct expr e = { .kind = EXPR_MAP, .dtype = row->dtype, .code = n->by->code, .args = 2 };
    e.arg[0] = partials_tree(l, n, row, stride, first, half);
    e.arg[1] = partials_tree(l, n, row, stride, first + half, count - half);
    return e.arg[0] < 0 || e.arg[1] < 0 ? -1 : expr_add(l->p, n, &e);
}

/* The second half of a reduction over the batch: adds up the rows of partial results. */
static int partials_nest(struct lowering *l, const struct nest *partial, const struct path *path,
                         const struct destination *t)
{
    const int rows = partial->store[0].value;
    struct nest n = lower_nest(l, partial->name);
    n.out_axes = partial->out_axes;
    n.axes = n.out_axes + 1;
    memcpy(n.extent, partial->extent, sizeof n.extent);
    for (int a = n.axes; a < NEST_AXES; a++)
        n.extent[a] = 0;
    n.extent[n.out_axes] = 1;
    n.combine = COMBINE_REDUCE;
    n.by = partial->by;
    n.acc_dtype = partial->acc_dtype;
    struct expr e = { .kind = EXPR_LOAD, .dtype = n.acc_dtype };
    e.access.value = rows;
    e.access.gather = -1;
    e.access.address = partial->store[0].address;
    const int32_t stride = (int32_t)(tarn_shape_count(l->p->values[rows].shape) / l->p->groups);
    n.body[0] = partials_tree(l, &n, &e, stride, 0, l->p->groups);
    return n.body[0] < 0 ? lower_fail(l, TARN_ERR_MEMORY)
                         : finish(l, &n, path->node[0], path, path->index->at[0], t);
}

/* The first half of a reduction over the batch: each group's sums go to a row of its own. */
static int rows_of(struct lowering *l, struct nest *n, uint32_t core, struct halfway *half)
{
    const tarn_shape shape = l->m->nodes[core].shape;
    const tarn_shape rows = { .rank = 2,
                              .dim = { l->p->groups, (int32_t)tarn_shape_count(shape) } };
    const int value = value_add(l->p, PLACE_ARENA, LAYOUT_PLAIN, 0, rows, n->acc_dtype);
    if (value < 0)
        return lower_fail(l, TARN_ERR_MEMORY);
    struct store s = { .value = value, .expr = -1 };
    int32_t stride = 1;
    for (int d = shape.rank - 1; d >= 0; d--) {
        s.address = affine_add_scaled(s.address, half->index[d].e, stride);
        stride *= shape.dim[d];
    }
    n->store[0] = s;
    n->stores = 1;
    half->done = true;
    half->core = core;
    half->nest = *n;
    return lower_append(l, n);
}

/* The last nest of a sum that is split. */
static int last_nest(struct lowering *l, const struct halfway *half, const struct path *path,
                     const struct destination *t)
{
    struct nest n = half->nest;
    n.exprs = l->exprs;
    n.expr_capacity = EXPRS_ROOM;
    memcpy(n.exprs, half->nest.exprs, (size_t)n.expr_count * sizeof *n.exprs);
    return finish(l, &n, path->node[0], path, path->index->at[0], t);
}

/* All nests but the last. */
static int split_nests(struct lowering *l, struct nest *n, uint32_t core, struct halfway *half)
{
    if (split_sum(l, n) < 0)
        return -1;
    half->done = true;
    half->core = core;
    half->nest = *n;
    return nest_own_exprs(l->p, &half->nest) ? 0 : lower_fail(l, TARN_ERR_MEMORY);
}

/* Ends a nest with a core: directly, or through rows of partial sums over the batch. half->index
 * is the core's own index over the OUT axes. */
static int core_nest(struct lowering *l, struct nest *n, struct path *path,
                     const struct destination *t, struct halfway *half)
{
    index_up(l->m, path, half->index);
    /* Which axis the lanes are, and so the order of the sum, depends on where the result goes. */
    n->store[0] = store_at(l, t->value, path->index->at[0]);
    if (splits_sum(l, n))
        return split_nests(l, n, path->node[path->length - 1], half) < 0
                   ? -1
                   : last_nest(l, half, path, t);
    if (!n->partial)
        return finish(l, n, path->node[0], path, path->index->at[0], t);
    if (splits_rows(l, n) && split_rows(l, n) < 0)
        return -1;
    return rows_of(l, n, path->node[path->length - 1], half) < 0
               ? -1
               : partials_nest(l, &half->nest, path, t);
}

static int reduce_nest(struct lowering *l, struct path *path, const struct destination *t,
                       struct halfway *half)
{
    struct nest n;
    return reduce_begin(l, path->node[path->length - 1], &n, half->index) < 0
               ? -1
               : core_nest(l, &n, path, t, half);
}

/* Whether memory runs along an axis in operand k, by the shape that it has below a change of its axes' order. */
static bool runs_along(const struct lowering *l, uint32_t core, uint32_t k,
                       const struct contract_map *map, int axis)
{
    const struct node *x = &l->m->nodes[lowering_operand(l, core, k)];
    int last = x->shape.rank - 1;
    for (int d = 0; d < x->shape.rank && x->op == &op_permute; d++)
        if (x->arg.permute.order[d] == x->shape.rank - 1)
            last = d;
    return last >= 0 && map->dim[last].coef[axis] != 0;
}

static int contract_nest(struct lowering *l, struct path *path, const struct destination *t,
                         struct halfway *half)
{
    const uint32_t core = path->node[path->length - 1];
    const struct node *node = &l->m->nodes[core];
    struct contract c;
    memset(&c, 0, sizeof c);
    tarn_shape in[2];
    for (uint32_t k = 0; k < 2; k++)
        in[k] = l->m->nodes[lowering_operand(l, core, k)].shape;
    node->op->contract(node, in, &c);
    struct nest n = lower_nest(l, node->op->name);
    n.axes = c.axes;
    n.out_axes = c.out_axes;
    memcpy(n.extent, c.extent, sizeof c.extent);
    if (l->m->batch > 0)
        n.batch_axis = contract_batch_axis(l->m, core, &c, &n.partial);
    if ((!l->m->batched[core] || l->m->lies[core] == LIES_IN_ROWS) && !n.partial)
        n.batch_axis = -1; /* of samples, and in rows (1_graph/layout.c) */
    n.batched = n.batch_axis >= 0;
    n.combine = COMBINE_FMA;
    n.phases = c.phases;
    for (uint32_t k = 0; k < 2; k++)
        n.red_last |= runs_along(l, core, k, &c.in[k], c.axes - 1);
    n.by = &combination_sum;
    n.acc_dtype = dtype_computed(node->dtype);
    struct site s = { .l = l, .nest = &n, .root = UINT32_MAX, .core = UINT32_MAX, .reuse = true };
    const int rows = choose_samples(&n, &c, (int[3]){ in[0].rank, in[1].rank, node->shape.rank });
    for (int k = 0; k < 2; k++) {
        s.by_sample = k == rows;
        struct rational index[TARN_MAX_RANK];
        for (int d = 0; d < in[k].rank; d++) {
            index[d] = lower_mapped(&c.in[k], c.axes, d);
            if (c.in[k].dim[d].guarded || c.in[k].dim[d].divide > 1)
                n.guards = guard_add(&n, n.guard, n.guards, &index[d], in[k].dim[d]);
        }
        n.body[k] = express(&s, lowering_operand(l, core, (uint32_t)k), index);
        if (n.body[k] < 0)
            return -1;
    }
    for (int d = 0; d < node->shape.rank; d++)
        half->index[d] = lower_mapped(&c.out, c.axes, d);
    return core_nest(l, &n, path, t, half);
}

static int transform_nest(struct lowering *l, struct path *path, const struct destination *t,
                          struct halfway *half)
{
    struct nest n;
    return transform_begin(l, path->node[path->length - 1], &n, half->index) < 0
               ? -1
               : core_nest(l, &n, path, t, half);
}

/* A nest with a core, from where it was left. */
static int make_core_nest(struct lowering *l, struct path *path, const struct destination *t,
                          struct halfway *half)
{
    const enum op_kind kind = l->m->nodes[path->node[path->length - 1]].op->kind;
    if (half->done && half->core != path->node[path->length - 1]) {
        error_set(TARN_ERR_INTERNAL, "compile: a sum of %s was begun with another one",
                  l->m->nodes[path->node[0]].op->name);
        return lower_fail(l, TARN_ERR_INTERNAL);
    }
    if (half->done) {
        index_up(l->m, path, half->index);
        return half->nest.partial ? partials_nest(l, &half->nest, path, t)
                                  : last_nest(l, half, path, t);
    }
    return kind == OP_REDUCE      ? reduce_nest(l, path, t, half)
           : kind == OP_TRANSFORM ? transform_nest(l, path, t, half)
                                  : contract_nest(l, path, t, half);
}

bool reaches_core(const struct lowering *l, uint32_t root)
{
    struct path path;
    return find_core(l, root, &path) != UINT32_MAX;
}

int make_nest(struct lowering *l, uint32_t root, const struct destination *t, struct halfway *half)
{
    struct path path;
    if (tarn_shape_count(l->m->nodes[root].shape) == 0)
        return 0;
    if (find_core(l, root, &path) == UINT32_MAX && !half->done)
        return make_map_nest(l, root, t);
    path.index = l->path_index;
    return make_core_nest(l, &path, t, half);
}
