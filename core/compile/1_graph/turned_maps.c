/* SPDX-License-Identifier: Apache-2.0 */
/* Part of simplify.c: permutations of permutations that cancel. Between the two there may be maps, as where
 * an activation is applied to [N, T, C] between convolutions of [N, C, T]: these are computed of what was permuted first,
 * so that nothing is turned over twice, and what reads them finds it as convolutions made it. In: a permutation and its
 * operand. Out: nodes in its place, or the word that it stays. Elements are the same, each at its own place. */
#include "compile/1_graph/few.h"
#include "compile/1_graph/graph_passes.h"
#include "tensor/expand.h"

struct turning {
    struct builder *b;
    const int32_t *order;
    int left;     /* nodes that may still be made, and operands of them */
    bool cancels; /* some permutation is left out */
};

static bool undoes(const struct node *n, const int32_t *order)
{
    bool same = n->op == &op_permute;
    for (int d = 0; same && d < n->shape.rank; d++)
        same = n->arg.permute.order[order[d]] == d;
    return same;
}

/* Whether turning it over costs nothing beside what is made of it: a number, or a few that are repeated. */
static bool is_free(const struct module *m, uint32_t x)
{
    return is_cheap_leaf(m, below_views(m, x)) || is_small_beside(m, x, x);
}

/* Whether x, turned over, can be made without turning over anything large. */
static bool can_turn(struct turning *t, uint32_t x)
{
    const struct module *m = simplify_module(t->b);
    const struct node *n = &m->nodes[x];
    if (undoes(n, t->order))
        return t->cancels = true;
    t->left -= 1 + (int)n->in_count;
    if (t->left < 0)
        return false;
    if (is_free(m, x))
        return true;
    bool can = n->op->kind == OP_MAP && n->in_count <= FEW_OPERANDS;
    for (uint32_t k = 0; can && k < n->in_count; k++)
        can = can_turn(t, module_operand(m, x, k));
    return can;
}

static uint32_t turned(struct turning *t, uint32_t x)
{
    const struct module *m = simplify_module(t->b);
    const struct node n = m->nodes[x];
    uint32_t in[FEW_OPERANDS];
    const tarn_shape shape = permuted_shape(n.shape, t->order);
    if (undoes(&n, t->order))
        return module_operand(m, x, 0);
    if (n.op == &op_constant)
        return expand_make(t->b, n.op, shape, n.dtype, &n.arg, NULL, 0);
    if (n.op->kind != OP_MAP || is_free(m, x))
        return permuted(t->b, x, t->order);
    for (uint32_t k = 0; k < n.in_count; k++)
        in[k] = turned(t, module_operand(m, x, k));
    return expand_make(t->b, n.op, shape, n.dtype, &n.arg, in, n.in_count);
}

bool turn_maps(struct builder *b, const struct node *n, uint32_t x, uint32_t *out)
{
    struct turning t = { .b = b, .order = n->arg.permute.order, .left = TURNED_NODES };
    if (n->op != &op_permute || !can_turn(&t, x) || !t.cancels)
        return false;
    *out = turned(&t, x);
    return true;
}
