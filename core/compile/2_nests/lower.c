/* SPDX-License-Identifier: Apache-2.0 */
/* Third pass: nodes to loop nests over values, on demand from the roots. In: the module, of which
 * it is known what is stored. Out: nests over values, in an order in which each reads what is
 * written before. */
#include <stdlib.h>
#include <string.h>

#include "compile/1_graph/graph_passes.h"
#include "compile/2_nests/lower.h"
#include "compile/2_nests/nest_passes.h"

int lower_fail(struct lowering *l, tarn_status status)
{
    if (l->status == TARN_OK)
        l->status = status;
    if (status == TARN_ERR_MEMORY)
        error_set(status, "compile: out of host memory");
    return -1;
}

int lower_append(struct lowering *l, const struct nest *n)
{
    struct nest *to = nest_add(l->p);
    if (to == NULL)
        return lower_fail(l, TARN_ERR_MEMORY);
    *to = *n;
    return 0;
}

struct nest lower_nest(const char *name)
{
    struct nest n;
    memset(&n, 0, sizeof n);
    n.name = name;
    n.batch_axis = n.sample_lane = -1;
    n.body[0] = n.body[1] = -1;
    return n;
}

struct store store_at(const struct lowering *l, const struct nest *n, int value,
                      const struct rational *index)
{
    const struct value *v = &l->p->values[value];
    struct store s = { .value = value, .expr = -1 };
    s.in_block = v->layout == LAYOUT_BLOCKED;
    (void)n;
    int32_t stride = 1;
    for (int d = v->shape.rank - 1; d >= (s.in_block ? 1 : 0); d--) {
        s.address = affine_add_scaled(s.address, index[d].e, stride);
        stride *= v->shape.dim[d];
    }
    return s;
}

/* ---- finding the core of a nest ------------------------------------------------------------- */

/* Whether a node is computed by loops with an epilogue, not by a library. */
static bool is_core(const struct lowering *l, uint32_t node)
{
    const enum op_kind kind = l->m->nodes[node].op->kind;
    return kind == OP_REDUCE || kind == OP_TRANSFORM ||
           (kind == OP_CONTRACT && l->product[node] <= 1);
}

/* The operand of `at` that leads to a core which is computed in the nest of `at`; UINT32_MAX. */
static uint32_t toward_core(const struct lowering *l, uint32_t at, int depth)
{
    const struct node *n = &l->m->nodes[at];
    for (uint32_t k = 0; l->p->target->fuse && depth < PATH_MOST - 1 && k < n->in_count; k++) {
        const uint32_t x = lowering_operand(l, at, k);
        if (k > 0 && x == lowering_operand(l, at, k - 1))
            continue; /* x + x: searched already */
        if (l->m->uses[x] == 1 && l->primary[x] == 0 && joins_epilogue(l->m, x, at) &&
            (is_core(l, x) ||
             (!l->m->stored[x] && toward_core(l, x, depth + 1) != UINT32_MAX)))
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

/* ---- nests ---------------------------------------------------------------------------------- */

/* Where a finished nest writes: to a value, with an offset along one axis (for concat). */
struct destination {
    int value;
    int axis;
    int32_t offset;
};

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
    n->store[0] = store_at(l, n, t->value, at);
    n->store[0].expr = e;
    n->stores = 1;
    return lower_append(l, n);
}

static int map_nest(struct lowering *l, uint32_t root, const struct destination *t)
{
    const struct node *node = &l->m->nodes[root];
    struct nest n = lower_nest(node->op->name);
    struct rational index[TARN_MAX_RANK];
    n.axes = n.out_axes = node->shape.rank;
    for (int d = 0; d < node->shape.rank; d++) {
        n.extent[d] = node->shape.dim[d];
        index[d] = rational_axis(d);
    }
    n.batched = l->m->batched[root] || l->p->values[t->value].layout == LAYOUT_BLOCKED;
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
static int partials_nest(struct lowering *l, const struct nest *partial, int rows,
                         const struct path *path, const struct destination *t)
{
    struct nest n = lower_nest(partial->name);
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

/* Ends a nest with a core: directly, or through rows of partial sums over the batch. `index` is the
 * core's own index over the OUT axes. */
static int core_nest(struct lowering *l, struct nest *n, const struct rational *core_index,
                     struct path *path, const struct destination *t)
{
    const uint32_t core = path->node[path->length - 1];
    index_up(l->m, path, core_index);
    if (!n->partial)
        return finish(l, n, path->node[0], path, path->index->at[0], t);
    tarn_shape partials_shape = { .rank = 2, .dim = { l->p->groups, 1 } };
    partials_shape.dim[1] = (int32_t)tarn_shape_count(l->m->nodes[core].shape);
    const int rows = value_add(l->p, PLACE_ARENA, LAYOUT_PLAIN, 0, partials_shape, n->acc_dtype);
    if (rows < 0)
        return lower_fail(l, TARN_ERR_MEMORY);
    struct store s = { .value = rows, .expr = -1 };
    int32_t stride = 1;
    const tarn_shape shape = l->m->nodes[core].shape;
    for (int d = shape.rank - 1; d >= 0; d--) {
        s.address = affine_add_scaled(s.address, core_index[d].e, stride);
        stride *= shape.dim[d];
    }
    n->store[0] = s;
    n->stores = 1;
    if (lower_append(l, n) < 0)
        return -1;
    return partials_nest(l, n, rows, path, t);
}

static int reduce_nest(struct lowering *l, struct path *path, const struct destination *t)
{
    struct nest n;
    struct rational out_index[TARN_MAX_RANK];
    return reduce_begin(l, path->node[path->length - 1], &n, out_index) < 0
               ? -1
               : core_nest(l, &n, out_index, path, t);
}

struct rational lower_mapped(const struct contract_map *map, int axes, int d)
{
    struct rational at = rational_constant(map->dim[d].offset);
    for (int a = 0; a < axes; a++)
        if (map->dim[d].coef[a] != 0)
            at = rational_add_scaled(at, rational_axis(a), map->dim[d].coef[a]);
    return map->dim[d].divide > 1 ? rational_divide(at, map->dim[d].divide) : at;
}

static int contract_nest(struct lowering *l, struct path *path, const struct destination *t)
{
    const uint32_t core = path->node[path->length - 1];
    const struct node *node = &l->m->nodes[core];
    struct contract c;
    memset(&c, 0, sizeof c);
    tarn_shape in[2];
    for (uint32_t k = 0; k < 2; k++)
        in[k] = l->m->nodes[lowering_operand(l, core, k)].shape;
    node->op->contract(node, in, &c);
    struct nest n = lower_nest(node->op->name);
    n.axes = c.axes;
    n.out_axes = c.out_axes;
    memcpy(n.extent, c.extent, sizeof c.extent);
    if (l->m->batch > 0)
        n.batch_axis = contract_batch_axis(l->m, core, &c, &n.partial);
    n.batched = n.batch_axis >= 0;
    n.combine = COMBINE_FMA;
    n.by = &combination_sum;
    n.acc_dtype = node->dtype == TARN_F32 ? TARN_F32 : TARN_I32;
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
    struct rational out_index[TARN_MAX_RANK];
    for (int d = 0; d < node->shape.rank; d++)
        out_index[d] = lower_mapped(&c.out, c.axes, d);
    return core_nest(l, &n, out_index, path, t);
}

static int transform_nest(struct lowering *l, struct path *path, const struct destination *t)
{
    struct nest n;
    struct rational out_index[TARN_MAX_RANK];
    return transform_begin(l, path->node[path->length - 1], &n, out_index) < 0
               ? -1
               : core_nest(l, &n, out_index, path, t);
}

static struct path_index *index_take(struct lowering *l)
{
    struct path_index *index = l->spare;
    if (index == NULL)
        return arena_take(l->p->arena, sizeof *index);
    l->spare = index->next;
    return index;
}

static void index_give(struct lowering *l, struct path_index *index)
{
    index->next = l->spare;
    l->spare = index;
}

/* Builds the nest that writes a node to a target. */
static int build(struct lowering *l, uint32_t root, const struct destination *t)
{
    struct path path;
    if (tarn_shape_count(l->m->nodes[root].shape) == 0)
        return 0;
    const uint32_t core = find_core(l, root, &path);
    if (core == UINT32_MAX)
        return map_nest(l, root, t);
    path.index = index_take(l);
    if (path.index == NULL)
        return lower_fail(l, TARN_ERR_MEMORY);
    const enum op_kind kind = l->m->nodes[core].op->kind;
    const int built = kind == OP_REDUCE      ? reduce_nest(l, &path, t)
                      : kind == OP_TRANSFORM ? transform_nest(l, &path, t)
                                             : contract_nest(l, &path, t);
    index_give(l, path.index);
    return built;
}

/* A part that is itself joined along the axis, for nobody else. */
static bool is_joined_part(const struct lowering *l, uint32_t x, int axis)
{
    const struct node *n = &l->m->nodes[x];
    return n->op->kind == OP_CONCAT && n->arg.concat.axis == axis && l->m->uses[x] == 1 &&
           l->primary[x] == 0 && l->p->target->fuse;
}

static int concat_parts(struct lowering *l, uint32_t node, int value, int32_t offset)
{
    const struct node *n = &l->m->nodes[node];
    struct destination t = { .value = value, .axis = n->arg.concat.axis, .offset = offset };
    for (uint32_t k = 0; k < n->in_count; k++) {
        const uint32_t x = lowering_operand(l, node, k);
        /* A part without the batch, such as a constant, is spread over the samples' blocks. */
        const bool spread = l->p->values[value].layout == LAYOUT_BLOCKED && !l->m->batched[x];
        const int built = spread                         ? map_nest(l, x, &t)
                          : is_joined_part(l, x, t.axis) ? concat_parts(l, x, value, t.offset)
                                                         : build(l, x, &t);
        if (built < 0)
            return -1;
        t.offset += l->m->nodes[x].shape.dim[t.axis];
    }
    return 0;
}

int lower_into(struct lowering *l, uint32_t node, int value)
{
    const struct destination t = { .value = value };
    struct path path;
    if (tarn_shape_count(l->m->nodes[node].shape) == 0)
        return 0;
    if (l->m->uses[node] > 1 && l->m->nodes[node].op->kind != OP_LEAF && value_of(l, node) < 0)
        return -1;
    if (l->primary[node] > 0 || l->m->nodes[node].op->kind == OP_HOST)
        return map_nest(l, node, &t);
    if (l->m->nodes[node].op->kind == OP_CONCAT)
        return concat_parts(l, node, value, 0);
    return find_core(l, node, &path) != UINT32_MAX ? build(l, node, &t) : map_nest(l, node, &t);
}

static int build_value(struct lowering *l, uint32_t node, int value)
{
    const struct destination t = { .value = value };
    if (l->m->nodes[node].op->kind == OP_CONCAT)
        return concat_parts(l, node, value, 0);
    return l->product[node] > 1 ? product_nest(l, node, value) : build(l, node, &t);
}

int value_of(struct lowering *l, uint32_t node)
{
    if (l->primary[node] > 0)
        return l->primary[node] - 1;
    const struct node *n = &l->m->nodes[node];
    if (n->op->kind == OP_HOST)
        return host_value(l, node);
    const bool leaf = n->op->in_memory;
    const enum value_place place = n->op == &op_input   ? PLACE_INPUT
                                   : n->op == &op_owned ? PLACE_OWNED
                                                        : PLACE_ARENA;
    const enum layout layout = !leaf && l->m->batched[node] ? LAYOUT_BLOCKED : LAYOUT_PLAIN;
    const int v = value_add(l->p, place, layout, leaf ? n->arg.leaf.slot : 0, n->shape, n->dtype);
    if (v < 0)
        return lower_fail(l, TARN_ERR_MEMORY);
    if (n->op == &op_owned)
        l->p->values[v].offset = l->m->program->storage[n->arg.leaf.slot].offset;
    if (!leaf && build_value(l, node, v) < 0)
        return -1;
    l->primary[node] = v + 1;
    return v;
}

/* A copy of a node's value in another layout. */
static int copy_of(struct lowering *l, uint32_t node, int *cache, enum layout layout)
{
    if (cache[node] > 0)
        return cache[node] - 1;
    const struct node *n = &l->m->nodes[node];
    if (value_of(l, node) < 0)
        return -1;
    const struct destination t = { .value = value_add(l->p, PLACE_ARENA, layout, 0, n->shape,
                                                      n->dtype) };
    if (t.value < 0)
        return lower_fail(l, TARN_ERR_MEMORY);
    if (map_nest(l, node, &t) < 0)
        return -1;
    cache[node] = t.value + 1;
    return t.value;
}

int plain_of(struct lowering *l, uint32_t node)
{
    const int v = value_of(l, node);
    return v < 0 || l->p->values[v].layout == LAYOUT_PLAIN
               ? v
               : copy_of(l, node, l->plain, LAYOUT_PLAIN);
}

int blocked_of(struct lowering *l, uint32_t node)
{
    return copy_of(l, node, l->blocked, LAYOUT_BLOCKED);
}

/* ---- roots ---------------------------------------------------------------------------------- */

/* Adds a root that is a plain map to the last nest when both run over the same elements. */
static bool join_last(struct lowering *l, int first, uint32_t root, const struct destination *t)
{
    struct program_ir *p = l->p;
    const struct node *node = &l->m->nodes[root];
    if (!p->target->fuse || l->m->batched[root] || p->nest_count <= first)
        return false;
    struct nest *n = &p->nests[p->nest_count - 1];
    const enum value_place place = p->values[n->store[0].value].place;
    if (n->combine != COMBINE_NONE || n->batched || n->stores == NEST_STORES ||
        n->axes != node->shape.rank || (place != PLACE_OWNED && place != PLACE_OUTPUT) ||
        memcmp(n->extent, node->shape.dim, (size_t)n->axes * sizeof *n->extent) != 0)
        return false;
    struct rational index[TARN_MAX_RANK];
    for (int d = 0; d < node->shape.rank; d++)
        index[d] = rational_axis(d);
    const int nests = p->nest_count;
    struct nest copy = *n;
    const struct site s = { .l = l, .nest = &copy, .root = root, .core = UINT32_MAX };
    const int e = express(&s, root, index);
    if (e < 0 || p->nest_count != nests)
        return false;
    copy.store[copy.stores] = store_at(l, &copy, t->value, index);
    copy.store[copy.stores++].expr = e;
    p->nests[p->nest_count - 1] = copy;
    return true;
}

/* Makes sure that everything a map root reads has its nest, so that roots can share one. */
static int materialise_inputs(struct lowering *l, uint32_t root)
{
    const struct node *node = &l->m->nodes[root];
    struct nest n = lower_nest("materialise_inputs");
    struct rational index[TARN_MAX_RANK];
    n.axes = n.out_axes = node->shape.rank;
    for (int d = 0; d < node->shape.rank; d++) {
        n.extent[d] = node->shape.dim[d];
        index[d] = rational_axis(d);
    }
    n.batched = l->m->batched[root];
    n.batch_axis = n.batched ? 0 : -1;
    const struct site s = { .l = l, .nest = &n, .root = root, .core = UINT32_MAX };
    return express(&s, root, index);
}

static int build_root(struct lowering *l, const struct root *root, int first)
{
    const struct node *n = &l->m->nodes[root->node];
    const enum value_place place = root->owned >= 0 ? PLACE_OWNED : PLACE_OUTPUT;
    const uint32_t slot = (uint32_t)(root->owned >= 0 ? root->owned : root->output);
    const struct destination t = { .value = value_add(l->p, place, LAYOUT_PLAIN, slot, n->shape,
                                                      n->dtype) };
    if (t.value < 0)
        return lower_fail(l, TARN_ERR_MEMORY);
    if (root->owned >= 0)
        l->p->values[t.value].offset = l->m->program->storage[root->owned].offset;
    if (tarn_shape_count(n->shape) == 0)
        return 0;
    if (l->m->uses[root->node] == 1 && l->primary[root->node] == 0) {
        if (n->op->kind == OP_CONCAT)
            return concat_parts(l, root->node, t.value, 0);
        struct path path;
        if (find_core(l, root->node, &path) != UINT32_MAX)
            return build(l, root->node, &t);
    }
    if (join_last(l, first, root->node, &t))
        return 0;
    return l->status == TARN_OK ? map_nest(l, root->node, &t) : -1;
}

/* Building on demand goes down from a root, value below value. In a deep graph it would go down
 * thousands of them, so what lies at every so many nodes is built first, in the graph's order. */
#define DEMANDED_HEIGHT 512

static tarn_status build_deep(struct lowering *l)
{
    const struct module *m = l->m;
    int *height = arena_take(l->p->arena, (m->count + 1) * sizeof *height);
    if (height == NULL)
        return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    for (uint32_t i = 0; i < m->count; i++) {
        const struct node *n = &m->nodes[i];
        for (uint32_t k = 0; k < n->in_count; k++) {
            const int below = height[lowering_operand(l, i, k)] + 1;
            height[i] = below > height[i] ? below : height[i];
        }
        if (height[i] < DEMANDED_HEIGHT || !m->stored[i] || m->uses[i] == 0 ||
            n->op->kind == OP_LEAF || tarn_shape_count(n->shape) == 0)
            continue;
        if (value_of(l, i) < 0)
            return l->status;
        height[i] = 0;
    }
    return TARN_OK;
}

tarn_status lower(struct program_ir *p)
{
    struct module *m = p->module;
    const size_t n = (m->count + 1) * sizeof(int);
    struct lowering l = { .p = p, .m = m };
    l.primary = arena_take(p->arena, n);
    l.plain = arena_take(p->arena, n);
    l.blocked = arena_take(p->arena, n);
    l.product = arena_take(p->arena, m->count + 1);
    if (p->arena->failed)
        return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    TRY(assign_groups(p));
    product_choose_all(&l);
    TRY(build_deep(&l));
    for (int i = 0; i < m->root_count; i++) {
        const struct root *root = &m->roots[i];
        const uint32_t node = root->node;
        struct path path;
        if (tarn_shape_count(m->nodes[node].shape) == 0)
            continue;
        const bool core = find_core(&l, node, &path) != UINT32_MAX;
        const bool map = !core && m->nodes[node].op->kind != OP_CONCAT;
        if ((core && crosses_by_copy(&l, node) && value_of(&l, node) < 0) ||
            ((m->uses[node] > 1 || map) && materialise_inputs(&l, node) < 0))
            return l.status;
    }
    const int first = p->nest_count;
    p->first_root = first;
    for (int i = 0; i < m->root_count; i++)
        if (build_root(&l, &m->roots[i], first) < 0)
            return l.status;
    return l.status;
}
