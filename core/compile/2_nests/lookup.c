/* SPDX-License-Identifier: Apache-2.0 */
/* Where a nest finds what it reads. In: nodes. Out: their values, or copies of them in another
 * layout; or else l->need, when there is none yet. Makes nothing but the values of leaves, which
 * lie in memory already. */
#include "compile/2_nests/lowering.h"

int new_value(struct lowering *l, enum value_place place, enum layout layout, uint32_t slot,
              uint32_t node)
{
    const struct node *n = &l->m->nodes[node];
    const int v = value_add(l->p, place, layout, slot, n->shape, n->dtype);
    return v >= 0 ? v : lower_fail(l, TARN_ERR_MEMORY);
}

static int leaf_value(struct lowering *l, uint32_t node)
{
    const struct node *n = &l->m->nodes[node];
    const uint32_t slot = n->arg.leaf.slot;
    const int v =
        new_value(l, n->op == &op_owned ? PLACE_OWNED : PLACE_INPUT,
                  l->m->lies[node] == LIES_IN_BLOCKS ? LAYOUT_BLOCKED : LAYOUT_PLAIN, slot, node);
    if (v < 0)
        return -1;
    if (n->op == &op_owned)
        l->p->values[v].offset = l->m->program->storage[slot].offset;
    l->primary[node] = v + 1;
    return v;
}

static int needed(struct lowering *l, enum need_kind kind, uint32_t node)
{
    l->need = (struct need){ kind, node };
    return -1;
}

int value_of(struct lowering *l, uint32_t node)
{
    if (l->need.kind != NEED_NOTHING)
        return -1;
    if (l->primary[node] > 0)
        return l->primary[node] - 1;
    return l->m->nodes[node].op->in_memory ? leaf_value(l, node) : needed(l, NEED_VALUE, node);
}

int plain_of(struct lowering *l, uint32_t node)
{
    const int v = value_of(l, node);
    if (v < 0 || l->p->values[v].layout == LAYOUT_PLAIN)
        return v;
    return l->plain[node] > 0 ? l->plain[node] - 1 : needed(l, NEED_PLAIN, node);
}

int blocked_of(struct lowering *l, uint32_t node)
{
    if (value_of(l, node) < 0)
        return -1;
    return l->blocked[node] > 0 ? l->blocked[node] - 1 : needed(l, NEED_BLOCKED, node);
}
