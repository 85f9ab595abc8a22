/* SPDX-License-Identifier: Apache-2.0 */
/* Which values of samples do not lie as most do. In: the module with what carries the batch, and what the target chose
 * for products. Out: single values that are of samples and lie in rows, or are in blocks though they come from rows. Their
 * readers stay what they are, so that no sum changes its order: this may depend on the device. */
#include <string.h>

#include "compile/1_graph/graph_passes.h"
#include "tensor/sum_order.h"

#define APART_ELEMENTS 2048 /* of the matrices of one product: 128 KiB of those of a block */

/* Rows that are read turned over, by maps whose lanes are samples: along no loop of theirs lie the elements of a row side
 * by side, so each lane would be read by itself, a row apart, which in rows as long as a power of two is the same set of
 * a cache. They are turned once, in squares. */
static void turn_into_blocks(struct module *m, uint32_t *maps)
{
    memset(maps, 0, m->count * sizeof *maps);
    for (uint32_t i = 0; i < m->count; i++)
        for (uint32_t k = 0; k < m->nodes[i].in_count && m->batched[i] && m->uses[i] > 0; k++)
            maps[module_operand(m, i, k)] += m->nodes[i].op->kind == OP_MAP;
    for (uint32_t i = 0; i < m->count; i++) {
        const struct node *n = &m->nodes[i];
        const int last = n->shape.rank - 1;
        if (!m->batched[i] && n->op == &op_permute && n->arg.permute.order[last] != last &&
            n->shape.dim[0] == m->batch && maps[i] > 0 && maps[i] == m->uses[i])
            m->batched[i] = m->stored[i] = true;
    }
}

/* Whether all that read a value may find it in rows: maps, which turn squares of it over, views for such, and what
 * has no samples as lanes anyway. */
static void find_readers_of_rows(const struct module *m, bool *rows)
{
    memset(rows, true, m->count * sizeof *rows);
    for (uint32_t i = m->count; i-- > 0;) {
        const struct node *n = &m->nodes[i];
        const bool view = n->op->kind == OP_VIEW && (!m->batched[i] || rows[i]);
        for (uint32_t k = 0; k < n->in_count && m->uses[i] > 0; k++)
            rows[module_operand(m, i, k)] &= view || n->op->kind == OP_MAP;
    }
}

/* Whether a matrix would have to be turned into rows first. What is in memory lies in rows, also where it has as many as
 * there are samples, and so is taken for a batch. */
static bool lies_in_blocks(const struct module *m, uint32_t i)
{
    return m->batched[i] && !m->nodes[i].op->in_memory;
}

bool may_leave_blocks(const struct module *m, uint32_t i, struct product_shape *out)
{
    const struct node *n = &m->nodes[i];
    if (!m->batched[i] || m->shards > 0 || m->program->steps > 0 || m->uses[i] == 0 ||
        n->op != &op_matmul || n->dtype != TARN_F32 || n->shape.rank != 2 ||
        n->arg.matmul.transpose[0] != 0 || lies_in_blocks(m, module_operand(m, i, 1)))
        return false;
    *out = product_shape_of(m, i);
    return product_work(out) >= m->target->product.own_launch &&
           product_leaves_blocks(m->target, out, !lies_in_blocks(m, module_operand(m, i, 0)));
}

/* Products of which each sample has both matrices. As lanes of a block, samples would share nothing: all that 16 products
 * read goes through the caches for each tile. So matrices of more than a few elements lie in rows, in which a product shares
 * what its tile reads. By shapes alone, since the sum's lanes must be those on all devices. */
static bool multiplies_apart(const struct module *m, uint32_t i)
{
    const struct node *n = &m->nodes[i];
    if (!m->batched[i] || m->program->steps > 0 || m->uses[i] == 0 || n->op != &op_matmul ||
        n->shape.rank < 3)
        return false;
    for (uint32_t k = 0; k < 2; k++) {
        const tarn_shape in = m->nodes[module_operand(m, i, k)].shape;
        if (in.rank != n->shape.rank || in.dim[0] != n->shape.dim[0])
            return false; /* one matrix is for all */
    }
    const struct product_shape s = product_shape_of(m, i);
    return s.n >= LANES && s.m * s.k + s.k * s.n + s.m * s.n > APART_ELEMENTS;
}

/* Products of samples that a provider has sooner. Where readers of another kind want blocks, they get copies, as of what
 * the step began with in rows. */
static void leave_blocks(struct module *m, const bool *rows)
{
    struct product_shape s;
    for (uint32_t i = 0; i < m->count; i++)
        if (multiplies_apart(m, i) ||
            (may_leave_blocks(m, i, &s) && target_provider(m->target, &s) > 0)) {
            m->batched[i] = !rows[i];
            m->lies[i] = rows[i] ? LIES_BY_BATCH : LIES_IN_ROWS;
            m->stored[i] = true;
        }
}

void lay_out_otherwise(struct module *m)
{
    uint32_t *maps = arena_take(m->arena, (m->count + 1) * sizeof *maps);
    bool *rows = arena_take(m->arena, (m->count + 1) * sizeof *rows);
    if (maps == NULL || rows == NULL)
        return;
    turn_into_blocks(m, maps);
    find_readers_of_rows(m, rows);
    leave_blocks(m, rows);
}
