/* SPDX-License-Identifier: Apache-2.0 */
/* Large matrix products whose result has no batch, weight gradients among them: left to a kernel of
 * their own or to a library where that is faster. In: the module, and what the target chose for
 * each shape. Out: nests without loops, which name a provider. Measures nothing. */
#include <string.h>

#include "compile/1_graph/graph_passes.h"
#include "compile/2_nests/lowering.h"
#include "compile/2_nests/nest_passes.h"

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

/* An owned tensor is no place for it: a kernel's products run before its nests, which may read what was there. */
bool product_fits(const struct lowering *l, uint32_t node, int value)
{
    const struct value *v = &l->p->values[value];
    return l->product[node] > 1 && v->dtype == l->m->nodes[node].dtype &&
           (v->place == PLACE_ARENA || v->place == PLACE_OUTPUT || v->place == PLACE_SHARED);
}

int product_nest(struct lowering *l, uint32_t node, const struct destination *to)
{
    struct nest n = lower_nest(l, "matmul by provider");
    n.kind = NEST_PRODUCT;
    n.product =
        (struct product){ .shape = product_shape_of(l->m, node), .provider = l->product[node] - 1 };
    n.product.shape.transpose_b = l->m->nodes[node].arg.matmul.transpose[1] != 0;
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
    n.store[0] = store_whole(l, to);
    n.stores = 1;
    return lower_append(l, &n);
}
