/* SPDX-License-Identifier: Apache-2.0 */
/* Owned tensors that are a batch in blocks, as a loop keeps values for its gradient. In: the module, with views that
 * turn such a tensor into rows, or rows into such a tensor, and with what carries the batch. Out: where those rows are in
 * blocks anyway, the views are gone: the tensor is the value. */
#include "compile/1_graph/graph_passes.h"
#include "tensor/sum_order.h"

/* [N / 16, the rest, 16] for [N, ...]. */
static bool is_blocks_of(tarn_shape blocks, tarn_shape rows)
{
    return blocks.rank == 3 && blocks.dim[2] == LANES && blocks.dim[0] * LANES == rows.dim[0] &&
           tarn_shape_count(blocks) == tarn_shape_count(rows);
}

/* Whether a node is a view that moves lanes to the other end of a block. */
static bool turns_blocks(const struct node *n)
{
    const int32_t *order = n->arg.permute.order;
    return n->op == &op_permute && n->shape.rank == 3 && order[0] == 0 && order[1] == 2 &&
           order[2] == 1;
}

/* The tensor that these rows are in memory; UINT32_MAX: none. */
static uint32_t blocks_below(const struct module *m, uint32_t rows)
{
    if (!m->batched[rows] || m->nodes[rows].op != &op_reshape)
        return UINT32_MAX;
    const uint32_t between = module_operand(m, rows, 0);
    if (!turns_blocks(&m->nodes[between]))
        return UINT32_MAX;
    const uint32_t x = module_operand(m, between, 0);
    const bool owned = m->nodes[x].op == &op_owned;
    return owned && is_blocks_of(m->nodes[x].shape, m->nodes[rows].shape) ? x : UINT32_MAX;
}

/* The rows that a root writes in blocks; UINT32_MAX: none. */
static uint32_t rows_below(const struct module *m, const struct root *root)
{
    if (root->owned < 0 || m->uses[root->node] != 1 || !turns_blocks(&m->nodes[root->node]))
        return UINT32_MAX;
    const uint32_t between = module_operand(m, root->node, 0);
    if (m->nodes[between].op != &op_reshape || m->uses[between] != 1)
        return UINT32_MAX;
    const uint32_t x = module_operand(m, between, 0);
    return m->batched[x] && is_blocks_of(m->nodes[root->node].shape, m->nodes[x].shape)
               ? x
               : UINT32_MAX;
}

static void drop_use(struct module *m, uint32_t node)
{
    if (--m->uses[node] == 0 && m->nodes[node].in_count == 1)
        drop_use(m, module_operand(m, node, 0));
}

void lie_in_blocks(struct module *m)
{
    for (uint32_t i = 0; i < m->count && m->batch % LANES == 0; i++) {
        const uint32_t x = m->uses[i] > 0 ? blocks_below(m, i) : UINT32_MAX;
        if (x == UINT32_MAX)
            continue;
        drop_use(m, module_operand(m, i, 0));
        m->nodes[i].op = &op_owned;
        m->nodes[i].in_count = 0;
        m->nodes[i].arg = m->nodes[x].arg;
        m->stored[i] = false;
        m->lies[i] = LIES_IN_BLOCKS;
    }
    for (int i = 0; i < m->root_count && m->batch % LANES == 0; i++) {
        struct root *root = &m->roots[i];
        const uint32_t x = rows_below(m, root);
        if (x == UINT32_MAX)
            continue;
        m->uses[module_operand(m, root->node, 0)] = m->uses[root->node] = 0;
        m->user[x] = m->uses[x] == 1 ? UINT32_MAX : m->user[x];
        root->node = x; /* whose use by the view is the root's now */
        root->blocks = true;
        if (m->lies[x] == LIES_BY_BATCH && m->nodes[x].op->kind != OP_LEAF && m->uses[x] > 1) {
            m->lies[x] = LIES_IN_BLOCKS;
            m->stored[x] = true;
        }
    }
}
