/* SPDX-License-Identifier: Apache-2.0 */
/* Second pass: finds the batch axis, which values carry it as axis 0 (they are stored batch
 * innermost in blocks), and which nodes get a value of their own. */
#include <string.h>

#include "compile/1_graph/graph_passes.h"
#include "tensor/shape.h"
#include "tensor/spread.h"
#include "tensor/sum_order.h"

#define SMALLEST_BATCH 8 /* below it most lanes of a block would idle */
#define INLINE_WEIGHT 8  /* a map with several consumers is recomputed up to this weight */
/* What one expression may come to, so that neither the driver's compiler nor the walks through it take
 * long: the weight of its maps, and how many nodes lie below each other. */
#define EXPRESSION_WEIGHT 256
#define EXPRESSION_HEIGHT 64

static uint32_t operand(const struct module *m, uint32_t node, uint32_t k)
{
    return m->operands[m->nodes[node].first_in + k];
}

/* How surely a leaf holds samples: a loader delivered it, the program gave it, or it was kept. The
 * optimizer keeps gradients. */
enum certainty { NO_DATA, KEPT_DATA, GIVEN_DATA, LOADED_DATA };

static enum certainty data_of(const struct module *m, const tarn_replica *r, uint32_t i)
{
    const struct node *n = &m->nodes[i];
    if (m->shards > 0)
        return n->op->kind != OP_LEAF || n->op == &op_rand ? NO_DATA
               : n->spread == SPREAD_SAMPLES               ? LOADED_DATA
               : n->spread == SPREAD_EITHER                ? GIVEN_DATA
                                                           : NO_DATA;
    if (n->op == &op_input)
        return n->part ? LOADED_DATA : GIVEN_DATA;
    return n->op == &op_owned && r->owned[n->arg.leaf.slot].kind == OWNED_KEPT ? KEPT_DATA
                                                                               : NO_DATA;
}

/* The first dimension of the largest of the surest. */
static int32_t find_batch(const struct module *m, const tarn_replica *r)
{
    int64_t largest = 0;
    int32_t batch = 0;
    enum certainty surest = KEPT_DATA;
    for (uint32_t i = 0; i < m->count; ++i) {
        const struct node *n = &m->nodes[i];
        const int64_t bytes = tarn_shape_count(n->shape) * (int64_t)tarn_dtype_bytes(n->dtype);
        const enum certainty data = data_of(m, r, i);
        if (n->shape.rank == 0 || m->uses[i] == 0 || data < surest ||
            (data == surest && bytes <= largest))
            continue;
        surest = data;
        largest = bytes;
        batch = n->shape.dim[0];
    }
    return batch >= SMALLEST_BATCH ? batch : 0;
}

/* The axis of a contraction that is the batch: of the result, or summed over (*reduced). */
int contract_batch_axis(const struct module *m, uint32_t node, const struct contract *c,
                        bool *reduced)
{
    const struct node *n = &m->nodes[node];
    const int out = spread_leading_axis(&c->out, c->axes, n->shape.rank);
    int summed = -1;
    *reduced = false;
    for (uint32_t k = 0; k < 2; ++k) {
        const uint32_t x = operand(m, node, k);
        if (!m->sharded[x])
            continue;
        const int axis = spread_leading_axis(&c->in[k], c->axes, m->nodes[x].shape.rank);
        if (axis >= 0 && axis == out && n->shape.dim[0] == m->batch)
            return axis;
        if (axis >= c->out_axes)
            summed = axis;
    }
    *reduced = summed >= 0;
    return summed;
}

int mix_batch_axis(const struct module *m, uint32_t node, const struct mix_map *c)
{
    const struct node *n = &m->nodes[node];
    const uint32_t x = operand(m, node, 0);
    if (!m->sharded[x] || n->shape.dim[0] != m->batch)
        return -1;
    const int axis = spread_leading_axis(&c->in, c->axes, m->nodes[x].shape.rank);
    return axis == spread_leading_axis(&c->out, c->axes, n->shape.rank) ? axis : -1;
}

static bool carries_batch(const struct module *m, const tarn_replica *r, uint32_t i)
{
    const struct node *n = &m->nodes[i];
    if (n->shape.rank == 0 || n->shape.dim[0] != m->batch || tarn_shape_count(n->shape) == 0)
        return false;
    bool reduced;
    struct contract c;
    struct mix_map mix;
    switch (n->op->kind) {
    case OP_LEAF:
        return data_of(m, r, i) != NO_DATA;
    case OP_VIEW:
        return m->sharded[operand(m, i, 0)] &&
               spread_view_keeps(n, m->nodes[operand(m, i, 0)].shape);
    case OP_REDUCE:
        return m->sharded[operand(m, i, 0)] && (n->arg.reduce.axes & 1) == 0;
    case OP_CONTRACT:
        memset(&c, 0, sizeof c);
        n->op->contract(
            n,
            (tarn_shape[2]){ m->nodes[operand(m, i, 0)].shape, m->nodes[operand(m, i, 1)].shape },
            &c);
        return contract_batch_axis(m, i, &c, &reduced) >= 0 && !reduced;
    case OP_MIX:
        memset(&mix, 0, sizeof mix);
        n->op->mix(n, m->nodes[operand(m, i, 0)].shape, &mix);
        return mix_batch_axis(m, i, &mix) >= 0;
    case OP_GATHER:
        return m->sharded[operand(m, i, 1)];
    case OP_MAP:
    case OP_CONCAT:
        if (n->op->kind == OP_CONCAT && n->arg.concat.axis == 0)
            return false;
        for (uint32_t k = 0; k < n->in_count; ++k)
            if (m->sharded[operand(m, i, k)])
                return true;
        return false;
    case OP_CALL:
    case OP_COMPOSED:
    case OP_EFFECT:
        break;
    }
    return false;
}

/* Whether all samples must have been seen before the node has its value: a kernel ends there. */
static bool gathers(const struct module *m, uint32_t i)
{
    const struct node *n = &m->nodes[i];
    if (n->op->kind == OP_CALL)
        return true;
    for (uint32_t k = 0; k < n->in_count && !m->sharded[i]; ++k)
        if ((n->op->kind == OP_REDUCE || n->op->kind == OP_CONTRACT) &&
            m->sharded[operand(m, i, k)])
            return true;
    return false;
}

/* This replica's virtual shards, where the plan has samples that they divide. */
static int count_shards(const struct module *m, const tarn_replica *r)
{
    for (uint32_t i = 0; i < m->count; ++i)
        if (m->uses[i] > 0 && m->nodes[i].op->kind == OP_LEAF &&
            m->nodes[i].spread == SPREAD_SAMPLES)
            return r->peers->shards / r->peers->world;
    return 0;
}

void shard(struct module *m, const tarn_replica *r)
{
    m->shards = count_shards(m, r);
    m->batch = find_batch(m, r);
    for (uint32_t i = 0; i < m->count; ++i) {
        m->sharded[i] = m->batch > 0 && carries_batch(m, r, i);
        /* A gradient that all samples have alike is a constant to this pass. */
        if (m->shards > 0 && m->nodes[i].spread == SPREAD_SAMPLES)
            m->sharded[i] |= m->nodes[i].shape.rank > 0 && m->nodes[i].shape.dim[0] == m->batch;
        for (uint32_t k = 0; k < m->nodes[i].in_count; ++k) {
            const uint32_t x = operand(m, i, k);
            const int after = m->phase[x] + gathers(m, x);
            m->phase[i] = after > m->phase[i] ? after : m->phase[i];
        }
    }
}

/* ---- groups --------------------------------------------------------------------------------- */

/* Whether the compiler sums what was recorded as a sum over samples in rows, one for each shard. */
static bool sums_in_rows(const struct module *m, uint32_t i)
{
    const struct node *n = &m->nodes[i];
    if (n->spread != SPREAD_PARTIAL || (n->op->kind != OP_REDUCE && n->op->kind != OP_CONTRACT) ||
        m->uses[i] == 0)
        return true;
    return gathers(m, i);
}

tarn_status share_out(struct program_ir *p, const tarn_replica *r)
{
    const struct module *m = p->module;
    p->blocks = (m->batch + LANES - 1) / LANES;
    p->groups = p->blocks < MAX_GROUPS ? p->blocks : MAX_GROUPS;
    if (m->shards == 0)
        return TARN_OK;
    p->groups = m->shards;
    for (uint32_t i = 0; i < m->count; ++i) {
        const struct node *n = &m->nodes[i];
        if (n->spread == SPREAD_SAMPLES && n->shape.dim[0] != m->batch)
            return error_set(TARN_ERR_SHAPE,
                             "compile: batches of %d and %d samples in one step with %d virtual "
                             "shards: call tarn_step() between",
                             (int)m->batch, (int)n->shape.dim[0], r->peers->shards);
        if (!sums_in_rows(m, i))
            return error_set(TARN_ERR_INTERNAL,
                             "compile: %s %s is a sum over samples without a row for each of the "
                             "%d virtual shards",
                             n->op->name, shape_text(n->shape), r->peers->shards);
    }
    return TARN_OK;
}

/* ---- which nodes are stored ---------------------------------------------------------------------
 */

/* Whether `to`, the only consumer of `from`, can be part of the nest that computes `from`. It must not
 * make that wait: what `from` reads may be at hand now, and far away later. */
bool joins_epilogue(const struct module *m, uint32_t from, uint32_t to)
{
    const struct node *f = &m->nodes[from], *t = &m->nodes[to];
    if (m->phase[to] > m->phase[from] + gathers(m, from))
        return false;
    if (t->op->kind == OP_MAP)
        return m->sharded[from] == m->sharded[to];
    if (t->op != &op_reshape || m->sharded[from] != m->sharded[to])
        return false;
    struct rational index[TARN_MAX_RANK], unused[TARN_MAX_RANK];
    for (int i = 0; i < f->shape.rank; ++i)
        index[i] = rational_axis(i);
    return reshape_index(t->shape, f->shape, index, unused);
}

static void store_tops(struct module *m, bool *claimed)
{
    for (uint32_t i = 0; i < m->count; ++i) {
        const enum op_kind kind = m->nodes[i].op->kind;
        if (m->uses[i] == 0)
            continue;
        if (kind == OP_CONCAT || kind == OP_CALL)
            m->stored[i] = true;
        if (kind != OP_REDUCE && kind != OP_CONTRACT && kind != OP_MIX)
            continue;
        uint32_t top = i, last = i;
        while (m->uses[top] == 1 && m->user[top] != UINT32_MAX && !claimed[m->user[top]] &&
               joins_epilogue(m, top, m->user[top])) {
            top = m->user[top];
            claimed[top] = true;
            if (m->nodes[top].op->kind == OP_MAP)
                last = top;
        }
        m->stored[last] = true;
    }
}

static bool is_cheap_leaf(const struct module *m, uint32_t i)
{
    const struct node *n = &m->nodes[i];
    return n->op->kind == OP_LEAF && n->op != &op_input && n->op != &op_owned;
}

/* Which nodes depend on something in memory. */
static void find_readers(const struct module *m, bool *reads)
{
    for (uint32_t i = 0; i < m->count; ++i) {
        reads[i] = m->nodes[i].op->kind == OP_LEAF && !is_cheap_leaf(m, i);
        for (uint32_t k = 0; k < m->nodes[i].in_count; ++k)
            reads[i] |= reads[operand(m, i, k)];
    }
}

/* Stores what is computed below views, so that its reader finds it in memory. */
static void store_below(struct module *m, const bool *reads, uint32_t i)
{
    while (m->nodes[i].op->kind == OP_VIEW && !m->stored[i])
        i = operand(m, i, 0);
    const enum op_kind kind = m->nodes[i].op->kind;
    if (kind == OP_GATHER || (kind == OP_MAP && reads[i]))
        m->stored[i] = true;
}

static void store_operands(struct module *m, const bool *reads)
{
    for (uint32_t i = m->count; i-- > 0;) {
        const struct node *n = &m->nodes[i];
        if (m->uses[i] == 0)
            continue;
        for (uint32_t k = 0;
             (n->op->kind == OP_CONTRACT || n->op->kind == OP_MIX) && k < n->in_count; ++k)
            store_below(m, reads, operand(m, i, k));
        if (n->op->kind == OP_GATHER && m->nodes[operand(m, i, 0)].op->kind != OP_LEAF)
            m->stored[operand(m, i, 0)] = true;
        if (n->op->kind == OP_VIEW && n->in_count == 1 &&
            (tarn_shape_count(n->shape) > tarn_shape_count(m->nodes[operand(m, i, 0)].shape) ||
             n->op == &op_window || n->op == &op_unwindow) &&
            n->op != &op_pad)
            store_below(m, reads, operand(m, i, 0));
    }
}

bool code_is_heavy(const char *code)
{
    static const struct op *const heavy[] = { &op_exp,  &op_log,     &op_tanh,  &op_erf, &op_pow,
                                              &op_sqrt, &op_sigmoid, &op_rsqrt, &op_div };
    for (size_t k = 0; k < sizeof heavy / sizeof *heavy; ++k)
        if (code == heavy[k]->code)
            return true;
    return false;
}

static int own_weight(const struct node *n)
{
    if (n->op->kind == OP_MAP)
        return code_is_heavy(n->op->code) ? HEAVY_MAP : 1;
    return n->op->kind == OP_GATHER ? 4 : 0;
}

/* What an expression has come to at a node. */
struct extent {
    int weight, height;
};

static void store_shared(struct module *m, struct extent *below)
{
    for (uint32_t i = 0; i < m->count; ++i) {
        const struct node *n = &m->nodes[i];
        struct extent *e = &below[i];
        if (n->op->kind == OP_LEAF || m->stored[i]) {
            e->weight = n->op->kind == OP_LEAF && is_cheap_leaf(m, i) ? 0 : 1;
            continue;
        }
        e->weight = own_weight(n);
        for (uint32_t k = 0; k < n->in_count; ++k) {
            const struct extent *x = &below[operand(m, i, k)];
            e->weight += x->weight;
            e->height = x->height >= e->height ? x->height + 1 : e->height;
        }
        const bool shared = m->uses[i] > 1 && e->weight > INLINE_WEIGHT && n->op->kind != OP_VIEW;
        if (shared || e->weight > EXPRESSION_WEIGHT || e->height > EXPRESSION_HEIGHT) {
            m->stored[i] = true;
            *e = (struct extent){ .weight = 1 };
        }
    }
}

/* A reshape that splits an axis can only read memory. */
static void store_reshaped(struct module *m)
{
    for (uint32_t i = 0; i < m->count; ++i) {
        const struct node *n = &m->nodes[i];
        if (n->op != &op_reshape || m->uses[i] == 0)
            continue;
        const uint32_t x = operand(m, i, 0);
        struct rational index[TARN_MAX_RANK], unused[TARN_MAX_RANK];
        for (int d = 0; d < n->shape.rank; ++d)
            index[d] = rational_axis(d);
        if (m->nodes[x].op->kind != OP_LEAF &&
            !reshape_index(m->nodes[x].shape, n->shape, index, unused))
            m->stored[x] = true;
        if (m->nodes[x].op->kind == OP_LEAF && is_cheap_leaf(m, x))
            m->stored[x] = true;
    }
}

/* A mix reads each element many times, and conditions would multiply in its unrolled code. */
static void store_padded(struct module *m)
{
    for (uint32_t i = 0; i < m->count; ++i)
        if (m->nodes[i].op->kind == OP_MIX && m->uses[i] > 0 &&
            m->nodes[operand(m, i, 0)].op == &op_pad)
            m->stored[operand(m, i, 0)] = true;
}

void choose_stored(struct module *m, bool fuse)
{
    bool *claimed = arena_take(m->arena, (m->count + 1) * sizeof *claimed);
    bool *reads = arena_take(m->arena, (m->count + 1) * sizeof *reads);
    struct extent *below = arena_take(m->arena, (m->count + 1) * sizeof *below);
    if (claimed == NULL || reads == NULL || below == NULL)
        return;
    store_reshaped(m); /* first: what is stored above a map serves the map's readers, too */
    store_padded(m);
    if (fuse) {
        store_tops(m, claimed);
        find_readers(m, reads);
        store_operands(m, reads);
        store_shared(m, below);
    } else {
        for (uint32_t i = 0; i < m->count; ++i) {
            const enum op_kind kind = m->nodes[i].op->kind;
            m->stored[i] |= kind != OP_LEAF && kind != OP_VIEW && m->uses[i] > 0;
        }
    }
}
