/* SPDX-License-Identifier: Apache-2.0 */
/* Which matrix products may be left to a provider, by which shape it is chosen, and what they read turned over. In: the
 * module, and what the target chose for each shape. Out: a list of shapes; views that are stored. Measures nothing. */
#include <string.h>

#include "compile/1_graph/graph_passes.h"
#include "tensor/sum_order.h"

/* What the product reads of an operand: a view that swaps the last two axes counts as a transposition. */
static bool swaps_last(const struct node *n)
{
    const int last = n->shape.rank - 1;
    bool swaps = n->op == &op_permute && last > 0;
    for (int d = 0; swaps && d <= last; d++)
        swaps = n->arg.permute.order[d] == (d == last ? last - 1 : d == last - 1 ? last : d);
    return swaps;
}

bool begins_there(const struct module *m, uint32_t i)
{
    const struct node *n = &m->nodes[i];
    while (n->op == &op_cast || n->op == &op_from_f16 || n->op == &op_from_bf16) {
        i = module_operand(m, i, 0);
        n = &m->nodes[i];
    }
    return n->op->in_memory;
}

/* How many rows of the result are of one sample, where samples' rows lie together, and one matrix is for all; else 0.
 * A transposed matrix must be there when the step begins, to be turned over. */
static size_t sample_rows(const struct module *m, uint32_t node)
{
    const struct node *n = &m->nodes[node];
    if (n->op != &op_matmul || n->shape.rank != 2 || n->arg.matmul.transpose[0] != 0 ||
        m->samples < 2 || m->shards > 0 || n->shape.dim[0] <= m->samples ||
        n->shape.dim[0] % m->samples != 0 || m->batched[node])
        return 0;
    const uint32_t b = module_operand(m, node, 1);
    return !swaps_last(&m->nodes[b]) || begins_there(m, module_operand(m, b, 0))
               ? (size_t)(n->shape.dim[0] / m->samples)
               : 0;
}

struct product_shape product_shape_of(const struct module *m, uint32_t node)
{
    const struct node *n = &m->nodes[node];
    const tarn_shape a = m->nodes[module_operand(m, node, 0)].shape;
    const int last = n->shape.rank - 1;
    struct product_shape p = { .m = (size_t)n->shape.dim[last - 1],
                               .n = (size_t)n->shape.dim[last],
                               .sample_rows = sample_rows(m, node) };
    p.transpose_a = n->arg.matmul.transpose[0] != 0;
    p.transpose_b =
        (n->arg.matmul.transpose[1] != 0) != swaps_last(&m->nodes[module_operand(m, node, 1)]);
    p.k = (size_t)a.dim[p.transpose_a ? last - 1 : last];
    p.batch = (size_t)tarn_shape_count(n->shape) / (p.m * p.n);
    return p;
}

/* Whether the product runs over the batch, and whether it sums over it. */
static bool over_batch(const struct module *m, uint32_t node, bool *summed)
{
    const struct node *n = &m->nodes[node];
    const tarn_shape in[2] = { m->nodes[module_operand(m, node, 0)].shape,
                               m->nodes[module_operand(m, node, 1)].shape };
    struct contract c;
    memset(&c, 0, sizeof c);
    n->op->contract(n, in, &c);
    *summed = false;
    return m->batch > 0 && contract_batch_axis(m, node, &c, summed) >= 0;
}

bool is_large_product(const struct module *m, uint32_t node, struct product_shape *out)
{
    const struct node *n = &m->nodes[node];
    if (n->op != &op_matmul || n->dtype != TARN_F32 || m->uses[node] == 0 || n->shape.rank < 2 ||
        tarn_shape_count(n->shape) == 0)
        return false;
    *out = product_shape_of(m, node);
    if (product_work(out) < m->target->product.own_launch)
        return false;
    /* Virtual shards need the sums of each shard by itself. */
    return !over_batch(m, node, &out->sums_batch) ||
           ((out->sums_batch || !m->batched[node] || m->lies[node] == LIES_IN_ROWS) &&
            m->shards == 0);
}

bool multiplies_rows(const struct module *m)
{
    struct product_shape shape;
    for (uint32_t i = 0; i < m->count; i++)
        if (is_large_product(m, i, &shape) && shape.sample_rows > 0)
            return true;
    return false;
}

bool multiplies_any(const struct module *m)
{
    for (uint32_t i = 0; i < m->count; i++) {
        const enum op_kind kind = m->nodes[i].op->kind;
        if (m->uses[i] > 0 && (kind == OP_CONTRACT || kind == OP_TRANSFORM))
            return true;
    }
    return false;
}

struct product_shape *list_products(const struct module *m, int *count)
{
    struct product_shape *list = arena_take(m->arena, ((size_t)m->count + 1) * sizeof *list);
    *count = 0;
    for (uint32_t i = 0; list != NULL && i < m->count; i++)
        *count += is_large_product(m, i, &list[*count]) || may_leave_blocks(m, i, &list[*count]);
    return list;
}

/* Whether turning a matrix over, a load and a store of each register, takes more in all later steps of a loop than the
 * launch that does it once (find_once()). */
static bool pays_once(const struct module *m, tarn_shape matrix)
{
    const struct fusion_limits *f = &m->target->fusion;
    const double registers = (double)tarn_shape_count(matrix) / LANES;
    return (m->program->steps - 1.0) * registers * (1 + 2 * f->access_cycles) > f->tiny_work;
}

/* Whether each step of a loop reads the whole right operand, which is the same in all. Lanes of a batch read single
 * elements of it, in any order. */
static bool reads_each_step(const struct module *m, uint32_t node)
{
    const struct node *n = &m->nodes[node];
    if (m->program->steps < 2 || m->uses[node] == 0 || n->op != &op_matmul || n->shape.rank != 2 ||
        m->batched[node] || n->shape.dim[1] < LANES)
        return false;
    const uint32_t b = module_operand(m, node, 1);
    const struct node *of = &m->nodes[m->nodes[b].in_count > 0 ? module_operand(m, b, 0) : b];
    return of->op == &op_owned && m->program->storage[of->arg.leaf.slot].captured &&
           pays_once(m, of->shape);
}

/* Whether a nest computes the product, tile of rows after tile, each of which reads the whole right operand. */
static bool reads_often(const struct module *m, uint32_t node)
{
    struct product_shape shape;
    return m->uses[node] > 0 && sample_rows(m, node) > 0 &&
           m->nodes[node].shape.dim[0] >= m->target->product.turned_rows &&
           (!is_large_product(m, node, &shape) || target_provider(m->target, &shape) == 0);
}

void store_turned(struct module *m)
{
    for (uint32_t i = 0; m->target->fuse && !m->target->items && i < m->count; i++) {
        const uint32_t b =
            reads_often(m, i) || reads_each_step(m, i) ? module_operand(m, i, 1) : UINT32_MAX;
        if (b != UINT32_MAX && swaps_last(&m->nodes[b]))
            m->stored[b] = true;
    }
}
