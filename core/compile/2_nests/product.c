/* SPDX-License-Identifier: Apache-2.0 */
/* Large matrix products whose result has no batch, weight gradients among them: left to a kernel of their own
 * or to a library where that is faster. */
#include <string.h>

#include "compile/1_graph/graph_passes.h"
#include "compile/2_nests/lower.h"
#include "compile/2_nests/nest_passes.h"

#define PRODUCT_WORK 2097152.0 /* multiply-adds from which a launch of its own can pay */

static struct product product_shape(const struct lowering *l, uint32_t node)
{
    const struct node *n = &l->m->nodes[node];
    const tarn_shape a = l->m->nodes[lowering_operand(l, node, 0)].shape;
    const int last = n->shape.rank - 1;
    struct product p = { .m = (size_t)n->shape.dim[last - 1], .n = (size_t)n->shape.dim[last] };
    p.transpose_a = n->arg.matmul.transpose[0] != 0;
    p.transpose_b = n->arg.matmul.transpose[1] != 0;
    p.k = (size_t)a.dim[p.transpose_a ? last - 1 : last];
    p.batch = (size_t)tarn_shape_count(n->shape) / (p.m * p.n);
    return p;
}

/* Whether the product runs over the batch, and whether it sums over it. */
static bool over_batch(const struct lowering *l, uint32_t node, bool *summed)
{
    const struct node *n = &l->m->nodes[node];
    const tarn_shape in[2] = { l->m->nodes[lowering_operand(l, node, 0)].shape,
                               l->m->nodes[lowering_operand(l, node, 1)].shape };
    struct contract c;
    memset(&c, 0, sizeof c);
    n->op->contract(n, in, &c);
    *summed = false;
    return l->m->batch > 0 && contract_batch_axis(l->m, node, &c, summed) >= 0;
}

/* Decides for every large matrix product whose result has no batch. */
tarn_status product_choose_all(struct lowering *l)
{
    for (uint32_t i = 0; i < l->m->count; ++i) {
        const struct node *n = &l->m->nodes[i];
        int provider = 0;
        l->product[i] = 1;
        if (!l->p->products || n->op != &op_matmul || n->dtype != TARN_F32 || l->m->uses[i] == 0 ||
            n->shape.rank < 2 || tarn_shape_count(n->shape) == 0)
            continue;
        struct product p = product_shape(l, i);
        if ((double)p.m * (double)p.n * (double)p.k * (double)p.batch < PRODUCT_WORK)
            continue;
        /* Virtual shards need the sums of each shard by itself. */
        if (over_batch(l, i, &p.sums_batch) && (!p.sums_batch || l->m->shards > 0))
            continue;
        TRY(choose_product(l->r, &p, &provider));
        l->product[i] = (signed char)(1 + provider);
    }
    return TARN_OK;
}

/* The row-major value of an operand; a view that swaps the last two axes becomes a transposition.
 */
static int product_operand(struct lowering *l, uint32_t x, bool *transpose)
{
    const struct node *n = &l->m->nodes[x];
    const int last = n->shape.rank - 1;
    bool swaps = n->op == &op_permute && l->primary[x] == 0;
    for (int d = 0; swaps && d <= last; ++d)
        swaps = n->arg.permute.order[d] == (d == last ? last - 1 : d == last - 1 ? last : d);
    if (swaps) {
        *transpose = !*transpose;
        x = lowering_operand(l, x, 0);
    }
    return plain_of(l, x);
}

int product_nest(struct lowering *l, uint32_t node, int value)
{
    struct nest n = lower_nest("matmul by provider");
    n.kind = NEST_PRODUCT;
    n.product = product_shape(l, node);
    n.product.provider = l->product[node] - 1;
    n.product.a = product_operand(l, lowering_operand(l, node, 0), &n.product.transpose_a);
    n.product.b = product_operand(l, lowering_operand(l, node, 1), &n.product.transpose_b);
    if (n.product.a < 0 || n.product.b < 0)
        return -1;
    /* Loads without a use: they tell the later passes what is read. */
    for (int k = 0; k < 2; ++k) {
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
