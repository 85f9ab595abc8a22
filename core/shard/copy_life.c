/* SPDX-License-Identifier: Apache-2.0 */
/* How long a parameter that was gathered lives. A parameter is cut since it is not to be whole everywhere, so a copy is
 * dropped when the forward part is over, and gathered again where the backward part needs it. It stays where that saves
 * nothing: when nothing was gathered since, and when it is so small that all of its kind together are no larger than
 * the largest, which must have room anyway. In: the module and specs. Out: which versions are there. */
#include "shard/planner.h"
#include "tensor/shape.h"

static bool is_cut(const struct planner *p, uint32_t node)
{
    const struct node *n = &p->m.nodes[node];
    return n->op == &op_owned && p->m.uses[node] > 0 &&
           !state_equal(state_of_spec(p->mesh, &n->arg.leaf.spec), state_whole());
}

void find_copies_to_drop(struct planner *p)
{
    int64_t largest = 0, count = 0;
    for (uint32_t i = 0; i < p->m.count; i++) {
        if (!is_cut(p, i))
            continue;
        const int64_t bytes = (int64_t)node_bytes(&p->m.nodes[i]);
        largest = bytes > largest ? bytes : largest;
        count++;
    }
    for (uint32_t i = 0; i < p->m.count; i++) {
        const struct node *n = &p->m.nodes[i];
        p->values[i].drops = n->op->kind == OP_VIEW && n->op != &op_shard
                                 ? p->values[module_operand(&p->m, i, 0)].drops
                                 : is_cut(p, i) && (int64_t)node_bytes(n) * count > largest;
    }
}

void begin_pass(struct planner *p, uint32_t node)
{
    const bool backward = p->m.nodes[node].backward;
    p->pass += backward != p->backward;
    p->backward = backward;
}

/* Whether a node of the rank's program is, or shows, what was gathered. */
static bool is_copy(const struct planner *p, uint32_t node)
{
    const struct emitter *e = &p->e;
    while (node != 0 &&
           (e->nodes[node].op->kind == OP_VIEW || e->nodes[node].op->kind == OP_GATHER))
        node = e->operands[e->nodes[node].first_in];
    return node != 0 && e->nodes[node].op->kind == OP_HOST;
}

bool is_there(const struct planner *p, uint32_t value, const struct version *v)
{
    return !p->values[value].drops || p->e.failed || v->pass == p->pass ||
           v->gathers == p->gathers || !is_copy(p, v->node);
}
