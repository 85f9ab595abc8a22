/* SPDX-License-Identifier: Apache-2.0 */
/* Which nodes get a place in memory. All others are computed in the nests of their
 * readers. In: the module with its batch. Out: module.stored. */
#include "compile/1_graph/graph_passes.h"

#define MOST_READERS 4 /* that compute a value again, each by itself */

/* Whether `to`, the only consumer of `from`, can be part of the nest that computes `from`. It
 * must not delay that nest: the inputs of `from` are in the cache now and may be evicted later. */
bool joins_epilogue(const struct module *m, uint32_t from, uint32_t to)
{
    const struct node *f = &m->nodes[from], *t = &m->nodes[to];
    if (m->phase[to] > m->phase[from] + needs_all_samples(m, from) || m->lies[from] == LIES_IN_ROWS)
        return false;
    if (t->op->kind == OP_MAP)
        return m->batched[from] == m->batched[to];
    if (t->op != &op_reshape || m->batched[from] != m->batched[to])
        return false;
    struct rational index[TARN_MAX_RANK], unused[TARN_MAX_RANK];
    for (int i = 0; i < f->shape.rank; i++)
        index[i] = rational_axis(i);
    return reshape_index(t->shape, f->shape, index, unused);
}

/* What a half type is in float32: never stored for its readers, which read the half. */
static bool widens(const struct node *n)
{
    return n->op == &op_from_f16 || n->op == &op_from_bf16;
}

/* How many read a value, in its own type or widened. */
static uint32_t readers(const struct module *m, uint32_t i)
{
    const bool one = m->uses[i] == 1 && m->user[i] != UINT32_MAX;
    const bool passed_on = one && widens(&m->nodes[m->user[i]]) && !m->stored[m->user[i]];
    return passed_on ? m->uses[m->user[i]] : m->uses[i];
}

static void store_tops(struct module *m, bool *claimed)
{
    for (uint32_t i = 0; i < m->count; i++) {
        const enum op_kind kind = m->nodes[i].op->kind;
        if (m->uses[i] == 0)
            continue;
        if (kind == OP_CONCAT || kind == OP_HOST || kind == OP_ROUTINE)
            m->stored[i] = true;
        if (kind != OP_REDUCE && kind != OP_CONTRACT && kind != OP_TRANSFORM)
            continue;
        uint32_t top = i, last = i;
        while (m->uses[top] == 1 && m->user[top] != UINT32_MAX && !claimed[m->user[top]] &&
               joins_epilogue(m, top, m->user[top])) {
            top = m->user[top];
            claimed[top] = true;
            if (m->nodes[top].op->kind == OP_MAP && !widens(&m->nodes[top]))
                last = top;
        }
        m->stored[last] = true;
    }
}

bool is_cheap_leaf(const struct module *m, uint32_t i)
{
    const struct node *n = &m->nodes[i];
    return n->op->kind == OP_LEAF && !n->op->in_memory;
}

/* Which nodes depend on something in memory. */
static void find_readers(const struct module *m, bool *reads)
{
    for (uint32_t i = 0; i < m->count; i++) {
        reads[i] = m->nodes[i].op->kind == OP_LEAF && !is_cheap_leaf(m, i);
        for (uint32_t k = 0; k < m->nodes[i].in_count; k++)
            reads[i] |= reads[module_operand(m, i, k)];
    }
}

/* A weight is read many times, by vectors one element for all lanes: on a core, widening that costs as much as the
 * arithmetic. So it is stored widened, and the half is not. Activations, which are most of the memory, stay halves. */
static bool stores_widened(const struct module *m, uint32_t i)
{
    return !m->target->items && widens(&m->nodes[i]) && !m->batched[i] &&
           m->nodes[module_operand(m, i, 0)].op == &op_cast && begins_there(m, i);
}

/* Stores what is computed below views, so that its reader finds it in memory. */
static void store_below(struct module *m, const bool *reads, uint32_t i)
{
    while ((m->nodes[i].op->kind == OP_VIEW || widens(&m->nodes[i])) && !m->stored[i]) {
        m->stored[i] = stores_widened(m, i);
        if (m->stored[i])
            return;
        i = module_operand(m, i, 0);
    }
    const enum op_kind kind = m->nodes[i].op->kind;
    if (kind == OP_GATHER || (kind == OP_MAP && reads[i]))
        m->stored[i] = true;
}

/* Whether the nest that computes through a view would compute elements of its operand again. */
static bool rereads(const struct module *m, uint32_t view)
{
    const struct node *n = &m->nodes[view];
    if (n->op->reads != READS_BY_SIZE)
        return n->op->reads == READS_OFTEN;
    return tarn_shape_count(n->shape) >
           tarn_shape_count(m->nodes[module_operand(m, view, 0)].shape);
}

static void store_operands(struct module *m, const bool *reads)
{
    for (uint32_t i = m->count; i-- > 0;) {
        const struct node *n = &m->nodes[i];
        if (m->uses[i] == 0)
            continue;
        for (uint32_t k = 0;
             (n->op->kind == OP_CONTRACT || n->op->kind == OP_TRANSFORM) && k < n->in_count; k++)
            store_below(m, reads, module_operand(m, i, k));
        if (n->op->kind == OP_GATHER && m->nodes[module_operand(m, i, 0)].op->kind != OP_LEAF)
            m->stored[module_operand(m, i, 0)] = true;
        for (uint32_t k = 0; n->op->kind == OP_ROUTINE && k < n->in_count; k++)
            m->stored[module_operand(m, i, k)] = true;
        if (n->op->kind == OP_VIEW && n->in_count == 1 && rereads(m, i))
            store_below(m, reads, module_operand(m, i, 0));
    }
}

static int own_weight(const struct expression_limits *limit, const struct node *n)
{
    if (widens(n))
        return 0;
    if (n->op->kind == OP_MAP)
        return n->op->heavy ? limit->heavy_map : 1;
    return n->op->kind == OP_GATHER ? limit->gather : 0;
}

/* What an expression has come to at a node. */
struct extent {
    int weight, height;
    uint32_t loads; /* the only large value that it loads, + 1; 0: none; UINT32_MAX: several */
};

static bool loads_one(const struct extent *e)
{
    return e->loads != 0 && e->loads != UINT32_MAX;
}

/* The first and the last node that reads each, be it viewed or after maps that are computed in their readers. */
struct span {
    uint32_t first, last;
};

uint32_t below_views(const struct module *m, uint32_t i)
{
    while (m->nodes[i].op->kind == OP_VIEW && m->nodes[i].in_count == 1)
        i = module_operand(m, i, 0);
    return i;
}

bool is_small_beside(const struct module *m, uint32_t operand, uint32_t node)
{
    const struct node *n = &m->nodes[below_views(m, operand)];
    return tarn_shape_count(n->shape) * 2 <= tarn_shape_count(m->nodes[node].shape);
}

/* A view, or a cheap map of one large operand. */
static bool passes_on(const struct module *m, uint32_t i)
{
    const struct node *n = &m->nodes[i];
    uint32_t large = 0;
    for (uint32_t k = 0; k < n->in_count; k++) {
        const uint32_t x = module_operand(m, i, k);
        large += !is_cheap_leaf(m, x) && !is_small_beside(m, x, i);
    }
    return n->op->kind == OP_VIEW || (n->op->kind == OP_MAP && !n->op->heavy && large == 1);
}

static void find_first_and_last(const struct module *m, struct span *list)
{
    for (uint32_t i = 0; i < m->count; i++)
        list[i] = (struct span){ UINT32_MAX, 0 };
    for (uint32_t i = m->count; i-- > 0;) {
        const struct node *n = &m->nodes[i];
        if (m->uses[i] == 0)
            continue;
        const struct span seen = passes_on(m, i) ? list[i] : (struct span){ i, i };
        for (uint32_t k = 0; k < n->in_count; k++) {
            struct span *x = &list[module_operand(m, i, k)];
            x->first = seen.first < x->first ? seen.first : x->first;
            x->last = seen.last > x->last ? seen.last : x->last;
        }
    }
}

/* What an operand adds to the loads of a node. */
static void add_loads(const struct module *m, uint32_t node, uint32_t operand, uint32_t loads,
                      struct extent *e)
{
    if (loads == 0 || is_small_beside(m, operand, node))
        return;
    e->loads = e->loads == 0 || e->loads == loads ? loads : UINT32_MAX;
}

static bool is_rounding(const struct node *n)
{
    return n->op == &op_cast && dtype_is_half(n->dtype);
}

/* Whether a node rounds what would have to be kept in float32 for its readers. */
static bool halves(const struct module *m, const struct extent *e, uint32_t i)
{
    return is_rounding(&m->nodes[i]) && e->loads != 0 &&
           !(loads_one(e) && dtype_is_half(m->nodes[e->loads - 1].dtype));
}

/* A value whose only operand in memory is there anyway when it is read at last, as the gradient of an activation reads both:
 * computed again it needs no memory of its own all that time. */
static bool is_there_again(const struct module *m, const struct extent *e, const struct span *seen,
                           uint32_t i)
{
    return loads_one(e) && e->weight <= m->target->expression.recomputed_later &&
           readers(m, i) <= MOST_READERS && seen[e->loads - 1].last > seen[i].first;
}

static void store_shared(struct module *m, struct extent *below, struct span *seen)
{
    const struct expression_limits *limit = &m->target->expression;
    find_first_and_last(m, seen);
    for (uint32_t i = 0; i < m->count; i++) {
        const struct node *n = &m->nodes[i];
        struct extent *e = &below[i];
        if (n->op->kind == OP_LEAF || m->stored[i]) {
            const bool cheap = n->op->kind == OP_LEAF && is_cheap_leaf(m, i);
            *e = (struct extent){ .weight = cheap ? 0 : 1, .loads = cheap ? 0 : i + 1 };
            continue;
        }
        e->weight = own_weight(limit, n);
        for (uint32_t k = 0; k < n->in_count; k++) {
            const uint32_t x = module_operand(m, i, k);
            e->weight += below[x].weight;
            e->height = below[x].height >= e->height ? below[x].height + 1 : e->height;
            add_loads(m, i, x, below[x].loads, e);
        }
        const bool costs = e->weight > limit->recomputed && !is_there_again(m, e, seen, i);
        const bool shared =
            readers(m, i) > 1 && n->op->kind != OP_VIEW && (costs || halves(m, e, i));
        if (shared || e->weight > limit->most_weight || e->height > limit->most_height) {
            m->stored[i] = true;
            *e = (struct extent){ .weight = 1, .loads = i + 1 };
        }
    }
}

/* A reshape that splits an axis can only read memory. */
static void store_reshaped(struct module *m)
{
    for (uint32_t i = 0; i < m->count; i++) {
        const struct node *n = &m->nodes[i];
        if (n->op != &op_reshape || m->uses[i] == 0)
            continue;
        const uint32_t x = module_operand(m, i, 0);
        struct rational index[TARN_MAX_RANK], unused[TARN_MAX_RANK];
        for (int d = 0; d < n->shape.rank; d++)
            index[d] = rational_axis(d);
        if (m->nodes[x].op->kind != OP_LEAF &&
            !reshape_index(m->nodes[x].shape, n->shape, index, unused))
            m->stored[x] = true;
        if (m->nodes[x].op->kind == OP_LEAF && is_cheap_leaf(m, x))
            m->stored[x] = true;
    }
}

/* A transform reads each element many times, and conditions would multiply in its unrolled code. */
static void store_padded(struct module *m)
{
    for (uint32_t i = 0; i < m->count; i++)
        if (m->nodes[i].op->kind == OP_TRANSFORM && m->uses[i] > 0 &&
            m->nodes[module_operand(m, i, 0)].op == &op_pad)
            m->stored[module_operand(m, i, 0)] = true;
}

/* What leaves the plan lies row by row, whatever its shape: of a reshape its operand is written. */
static void write_below_reshapes(struct module *m)
{
    for (int i = 0; i < m->root_count; i++) {
        const uint32_t root = m->roots[i].node;
        if (m->nodes[root].op != &op_reshape || m->uses[root] != 1 || m->batched[root])
            continue;
        const uint32_t x = module_operand(m, root, 0);
        if (m->nodes[x].op->kind == OP_LEAF || m->batched[x] || m->uses[x] != 1)
            continue;
        m->roots[i].node = x;
        m->uses[root] = 0;
        m->user[x] = UINT32_MAX;
    }
}

void choose_stored(struct module *m)
{
    bool *claimed = arena_take(m->arena, (m->count + 1) * sizeof *claimed);
    bool *reads = arena_take(m->arena, (m->count + 1) * sizeof *reads);
    struct extent *below = arena_take(m->arena, (m->count + 1) * sizeof *below);
    struct span *seen = arena_take(m->arena, (m->count + 1) * sizeof *seen);
    if (claimed == NULL || reads == NULL || below == NULL || seen == NULL)
        return;
    write_below_reshapes(m);
    store_reshaped(m); /* first: what is stored above a map serves the map's readers, too */
    store_padded(m);
    if (m->target->fuse) {
        store_tops(m, claimed);
        find_readers(m, reads);
        store_operands(m, reads);
        store_shared(m, below, seen);
    } else {
        for (uint32_t i = 0; i < m->count; i++) {
            const enum op_kind kind = m->nodes[i].op->kind;
            m->stored[i] |= kind != OP_LEAF && kind != OP_VIEW && m->uses[i] > 0;
        }
    }
}
