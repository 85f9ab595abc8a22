/* SPDX-License-Identifier: Apache-2.0 */
/* Large matrix products whose result has no batch, weight gradients among them: left to a kernel of
 * their own or to a library where that is faster. In: the module, and what the target chose for
 * each shape. Out: nests without loops, which name a provider. Measures nothing. */
#include <string.h>

#include "compile/1_graph/graph_passes.h"
#include "compile/2_nests/lowering.h"
#include "compile/2_nests/nest_passes.h"

static struct product_shape shape_of(const struct module *m, uint32_t node)
{
    const struct node *n = &m->nodes[node];
    const tarn_shape a = m->nodes[module_operand(m, node, 0)].shape;
    const int last = n->shape.rank - 1;
    struct product_shape p = { .m = (size_t)n->shape.dim[last - 1],
                               .n = (size_t)n->shape.dim[last] };
    p.transpose_a = n->arg.matmul.transpose[0] != 0;
    p.transpose_b = n->arg.matmul.transpose[1] != 0;
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

/* Whether a provider may compute a node, and the shape by which it is chosen. */
static bool is_large_product(const struct module *m, uint32_t node, struct product_shape *out)
{
    const struct node *n = &m->nodes[node];
    if (n->op != &op_matmul || n->dtype != TARN_F32 || m->uses[node] == 0 || n->shape.rank < 2 ||
        tarn_shape_count(n->shape) == 0)
        return false;
    *out = shape_of(m, node);
    if (product_work(out) < m->target->product.own_launch)
        return false;
    /* Virtual shards need the sums of each shard by itself. */
    return !over_batch(m, node, &out->sums_batch) || (out->sums_batch && m->shards == 0);
}

struct product_shape *list_products(const struct module *m, int *count)
{
    struct product_shape *list = arena_take(m->arena, ((size_t)m->count + 1) * sizeof *list);
    *count = 0;
    for (uint32_t i = 0; list != NULL && i < m->count; i++)
        *count += is_large_product(m, i, &list[*count]);
    return list;
}

void product_choose_all(struct lowering *l)
{
    for (uint32_t i = 0; i < l->m->count; i++) {
        struct product_shape p;
        l->product[i] = 1;
        if (is_large_product(l->m, i, &p))
            l->product[i] = (signed char)(1 + target_provider(l->m->target, &p));
    }
}

/* What lies in memory as a node does: row-major, a reshape moves nothing. UINT32_MAX when the nest is to wait for a
 * value that is not there yet. */
static uint32_t below_reshapes(const struct site *s, uint32_t x)
{
    const struct lowering *l = s->l;
    const struct node *n = &l->m->nodes[x];
    while ((n->op == &op_reshape || n->op == &op_after) && l->primary[x] == 0 && l->plain[x] == 0 &&
           !l->m->stored[x]) {
        if (n->op == &op_after && express_wait(s, lowering_operand(l, x, 1)) < 0)
            return UINT32_MAX;
        x = lowering_operand(l, x, 0);
        n = &l->m->nodes[x];
    }
    return x;
}

/* The row-major value of an operand, and with which of its elements that begins; a view that swaps the last two axes
 * becomes a transposition. */
static int product_operand(const struct site *s, uint32_t x, bool *transpose, size_t *first)
{
    struct lowering *l = s->l;
    const struct node *n = &l->m->nodes[x];
    const int last = n->shape.rank - 1;
    bool swaps = n->op == &op_permute && l->primary[x] == 0;
    for (int d = 0; swaps && d <= last; d++)
        swaps = n->arg.permute.order[d] == (d == last ? last - 1 : d == last - 1 ? last : d);
    if (swaps) {
        *transpose = !*transpose;
        x = lowering_operand(l, x, 0);
    }
    x = below_reshapes(s, x);
    if (x == UINT32_MAX)
        return -1;
    n = &l->m->nodes[x];
    *first = 0;
    if (n->op == &op_piece && l->primary[x] == 0 &&
        l->m->nodes[lowering_operand(l, x, 0)].op->in_memory) {
        *first = n->arg.piece.first;
        x = lowering_operand(l, x, 0);
    }
    return plain_of(l, x);
}

int product_nest(struct lowering *l, uint32_t node, int value)
{
    struct nest n = lower_nest(l, "matmul by provider");
    n.kind = NEST_PRODUCT;
    n.product = (struct product){ .shape = shape_of(l->m, node), .provider = l->product[node] - 1 };
    const struct site s = { .l = l, .nest = &n, .root = node, .core = UINT32_MAX };
    n.product.a = product_operand(&s, lowering_operand(l, node, 0), &n.product.shape.transpose_a,
                                  &n.product.first[0]);
    n.product.b = product_operand(&s, lowering_operand(l, node, 1), &n.product.shape.transpose_b,
                                  &n.product.first[1]);
    if (n.product.a < 0 || n.product.b < 0)
        return -1;
    /* Loads without a use: they tell the later passes what is read. */
    for (int k = 0; k < 2; k++) {
        struct expr e = { .kind = EXPR_LOAD };
        e.access.value = k == 0 ? n.product.a : n.product.b;
        e.access.gather = -1;
        if (expr_add(l->p, &n, &e) < 0)
            return lower_fail(l, TARN_ERR_MEMORY);
    }
    n.store[0] = (struct store){ .value = value, .expr = -1 };
    n.stores = 1;
    return lower_append(l, &n);
}
