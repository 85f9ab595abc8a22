/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes to loop nests over values, from the roots. In: the module, of which it is known what is
 * stored. Out: nests over values, in an order in which each reads what is written before. */
#include <string.h>

#include "compile/1_graph/graph_passes.h"
#include "compile/2_nests/lowering.h"
#include "compile/2_nests/nest_passes.h"

/* Adds a root that is a plain map to the last nest when that is loops over the same elements: of a routine, whose axis
 * counts pieces, a function makes the only result. */
static bool join_last(struct lowering *l, int first, uint32_t root, const struct destination *t)
{
    struct program_ir *p = l->p;
    const struct node *node = &l->m->nodes[root];
    if (!p->target->fuse || l->m->batched[root] || p->nest_count <= first)
        return false;
    struct nest *n = &p->nests[p->nest_count - 1];
    const enum value_place place = p->values[n->store[0].value].place;
    if (n->kind != NEST_LOOPS || n->combine != COMBINE_NONE || n->batched ||
        n->stores == NEST_STORES || n->axes != node->shape.rank ||
        (place != PLACE_OWNED && place != PLACE_OUTPUT) ||
        memcmp(n->extent, node->shape.dim, (size_t)n->axes * sizeof *n->extent) != 0)
        return false;
    struct rational index[TARN_MAX_RANK];
    for (int d = 0; d < node->shape.rank; d++)
        index[d] = rational_axis(d);
    struct nest copy = *n;
    const struct site s = { .l = l, .nest = &copy, .root = root, .core = UINT32_MAX };
    const int e = express(&s, root, index);
    if (e < 0) {
        l->need = (struct need){ 0 }; /* made for the root's own nest */
        return false;
    }
    copy.store[copy.stores] = store_at(l, t->value, index);
    copy.store[copy.stores++].expr = e;
    p->nests[p->nest_count - 1] = copy;
    return true;
}

/* Whether everything that a map root reads has its value, so that roots can share a nest; else
 * -1. */
static int inputs_are_there(struct lowering *l, uint32_t root)
{
    struct rational index[TARN_MAX_RANK];
    struct nest n = map_begin(l, root, index);
    const struct site s = { .l = l, .nest = &n, .root = root, .core = UINT32_MAX };
    return express(&s, root, index);
}

static int make_inputs(struct lowering *l, uint32_t root)
{
    while (inputs_are_there(l, root) < 0)
        if (make_needed(l) < 0)
            return -1;
    return 0;
}

/* One nest for a root that is a plain map. */
static int make_map(struct lowering *l, uint32_t root, const struct destination *t)
{
    while (make_map_nest(l, root, t) < 0)
        if (make_needed(l) < 0)
            return -1;
    return 0;
}

/* Whether a node comes with nests of its own, and is no expression of others. */
static bool makes_itself(const struct node *n)
{
    return n->op->kind == OP_CONCAT || n->op->kind == OP_ROUTINE;
}

/* Whether a value was made in the tensor that it is to be in. */
static bool is_made_there(const struct lowering *l, const struct root *root)
{
    const int v = l->primary[root->node] - 1;
    return v >= 0 && l->p->values[v].place == PLACE_LEFT &&
           l->p->values[v].slot == (uint32_t)root->owned;
}

static int build_root(struct lowering *l, const struct root *root, int first)
{
    if (root->blocks && is_made_there(l, root))
        return 0;
    const struct node *n = &l->m->nodes[root->node];
    const enum value_place place = root->blocks       ? PLACE_LEFT
                                   : root->owned >= 0 ? PLACE_OWNED
                                                      : PLACE_OUTPUT;
    const uint32_t slot = (uint32_t)(root->owned >= 0 ? root->owned : root->output);
    const enum layout layout = root->blocks ? LAYOUT_BLOCKED : LAYOUT_PLAIN;
    const struct destination t = { .value =
                                       value_add(l->p, place, layout, slot, n->shape, n->dtype) };
    if (t.value < 0)
        return lower_fail(l, TARN_ERR_MEMORY);
    if (root->owned >= 0)
        l->p->values[t.value].offset = l->m->program->storage[root->owned].offset;
    if (tarn_shape_count(n->shape) == 0)
        return 0;
    if (l->m->uses[root->node] == 1 && l->primary[root->node] == 0 &&
        (makes_itself(n) || reaches_core(l, root->node)))
        return make_into(l, root->node, &t);
    if (join_last(l, first, root->node, &t))
        return 0;
    return l->status == TARN_OK ? make_map(l, root->node, &t) : -1;
}

/* What is under way is some KB a value, and in a deep graph thousands of values would wait for
 * each other. So what lies at every so many nodes is made first, in the graph's order. */
#define DEMANDED_HEIGHT 512

static tarn_status make_deep(struct lowering *l)
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
        if (make_value(l, i) < 0)
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
    l.exprs = arena_take(p->arena, EXPRS_ROOM * sizeof *l.exprs);
    l.path_index = arena_take(p->arena, sizeof *l.path_index);
    if (p->arena->failed)
        return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    TRY(assign_groups(p));
    product_choose_all(&l);
    TRY(make_deep(&l));
    for (int i = 0; i < m->root_count; i++) {
        const struct root *root = &m->roots[i];
        const uint32_t node = root->node;
        if (tarn_shape_count(m->nodes[node].shape) == 0)
            continue;
        const bool core = reaches_core(&l, node);
        const bool map = !core && !makes_itself(&m->nodes[node]);
        if (m->lies[node] == LIES_IN_BLOCKS && make_value(&l, node) < 0)
            return l.status;
        if ((core && !root->blocks && crosses_by_copy(&l, node) && make_value(&l, node) < 0) ||
            ((m->uses[node] > 1 || map) && make_inputs(&l, node) < 0))
            return l.status;
    }
    const int first = p->nest_count;
    p->first_root = first;
    for (int i = 0; i < m->root_count; i++)
        if (build_root(&l, &m->roots[i], first) < 0)
            return l.status;
    return l.status;
}
