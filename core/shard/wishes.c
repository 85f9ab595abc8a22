/* SPDX-License-Identifier: Apache-2.0 */
/* What specs of leaves, marks and assigned tensors suggest for the values between. In: nodes and the wishes of those
 * that have specs. Out: wishes of others. The first one stays, per mesh axis; first what computes element by
 * element is asked, then sums and products, so that a wish takes the shortest way. What nobody wishes to be cut is whole. */
#include "shard/planner.h"

#include <string.h>

enum { SWEEPS_MOST = 32 };

/* The tensors of a node: operands, and last the result. */
static uint32_t tensor_of(const struct planner *p, uint32_t node, uint32_t k)
{
    return k < p->m.nodes[node].in_count ? module_operand(&p->m, node, k) : node;
}

static int place_of(const struct planner *p, const struct placing *at, uint32_t node, uint32_t k)
{
    return k < p->m.nodes[node].in_count ? at->in[k] : at->out;
}

/* A way in which some wishes of a node's tensors agree. */
struct candidate {
    struct placing at;
    int shared; /* of the tensors; those that all have are the best, since no sum is moved */
    int64_t elements;
};

/* Whether a tensor's wish counts now: those of parameters come last, as these move sooner than samples. */
static bool is_heard(const struct planner *p, uint32_t value, int axis)
{
    return p->values[value].wish.at[axis] >= 0 &&
           (p->parameters_wish || !p->values[value].parameter);
}

static bool weigh(const struct planner *p, uint32_t node, int axis, struct candidate *c)
{
    const uint32_t count = p->m.nodes[node].in_count;
    bool met = false;
    uint32_t placed = 0;
    c->elements = 0;
    for (uint32_t k = 0; k <= count; k++) {
        const int at = place_of(p, &c->at, node, k);
        if (at < 0)
            continue;
        placed++;
        const uint32_t t = tensor_of(p, node, k);
        if (p->values[t].wish.at[axis] != at || !is_heard(p, t, axis))
            continue;
        const int64_t elements = tarn_shape_count(p->m.nodes[t].shape);
        c->elements = elements > c->elements ? elements : c->elements;
        met = true;
    }
    c->shared = c->at.out < 0 ? 0 : placed > count ? 2 : 1;
    return met;
}

/* Whether a dimension divides by all the axes that are wished to cut it, and one more. */
static bool has_room(const struct planner *p, uint32_t value, int axis, int d)
{
    struct state s = p->values[value].wish;
    tarn_shape unused;
    s.at[axis] = (int8_t)d;
    return state_local(p->mesh, s, p->m.nodes[value].shape, &unused);
}

static bool set_wish(struct planner *p, uint32_t value, int axis, int d)
{
    int8_t *wish = &p->values[value].wish.at[axis];
    if (*wish != STATE_UNSET || d < 0 || p->values[value].free || !has_room(p, value, axis, d))
        return false;
    *wish = (int8_t)d;
    return true;
}

/* Carries the best of the wishes at a node on, to its result or to its operands. */
static bool carry(struct planner *p, uint32_t node, int axis, bool forward)
{
    const uint32_t count = p->m.nodes[node].in_count;
    struct candidate best = { .shared = -1 }, now;
    struct form global, f;
    bool any = false;
    for (uint32_t k = 0; k <= count; k++)
        any |= is_heard(p, tensor_of(p, node, k), axis);
    if (!any)
        return false;
    form_of(&p->m, node, &global);
    const int ways = rule_ways(&global);
    for (int way = 1; way < ways; way++) {
        f = global;
        if (!rule_take(&f, p->mesh->extent[axis], way, &now.at) || !weigh(p, node, axis, &now))
            continue;
        if (now.shared > best.shared || (now.shared == best.shared && now.elements > best.elements))
            best = now;
    }
    if (best.shared < 0)
        return false;
    if (forward)
        return set_wish(p, node, axis, best.at.out);
    bool changed = false;
    for (uint32_t k = 0; k < count; k++)
        changed |= set_wish(p, tensor_of(p, node, k), axis, best.at.in[k]);
    return changed;
}

/* Through a product of joined rows. */
static bool carry_rows(struct planner *p, uint32_t node, int axis)
{
    uint32_t source;
    if (!rows_source(p, node, &source))
        return false;
    bool changed = p->values[source].wish.at[axis] == 1 && set_wish(p, node, axis, 1);
    changed |= p->values[node].wish.at[axis] == 1 && set_wish(p, source, axis, 1);
    return changed;
}

static bool is_plain(const struct op *op)
{
    return op->kind == OP_MAP || op->kind == OP_VIEW || op->kind == OP_CONCAT;
}

static bool sweep(struct planner *p, bool forward, bool all)
{
    bool changed = false;
    for (uint32_t i = 0; i < p->m.count; i++) {
        const uint32_t node = forward ? i : p->m.count - 1 - i;
        const struct node *n = &p->m.nodes[node];
        if (p->m.uses[node] == 0 || n->in_count == 0 || (!all && !is_plain(n->op)))
            continue;
        for (int a = 0; a < p->mesh->axes; a++)
            if (p->mesh->extent[a] > 1)
                changed |= carry(p, node, a, forward) || (all && carry_rows(p, node, a));
    }
    return changed;
}

/* Whether a value is computed of nothing: where equal ones are one node, it would carry the wishes of one of its
 * users to another. */
static bool is_free(const struct planner *p, uint32_t node)
{
    const struct node *n = &p->m.nodes[node];
    if (n->op->kind == OP_LEAF)
        return !n->op->in_memory;
    bool free = n->op->kind == OP_MAP || n->op->kind == OP_VIEW;
    for (uint32_t k = 0; k < n->in_count; k++)
        free &= p->values[module_operand(&p->m, node, k)].free;
    return free;
}

static bool is_open(const struct planner *p, uint32_t slot)
{
    return p->in->open != NULL && p->in->open[slot];
}

static bool is_parameter(const struct planner *p, uint32_t node)
{
    const struct node *n = &p->m.nodes[node];
    return n->op->kind == OP_VIEW ? p->values[module_operand(&p->m, node, 0)].parameter
                                  : n->op == &op_owned || n->op == &op_constant;
}

/* What specs say: they are never changed. */
static void wish_specs(struct planner *p)
{
    for (uint32_t i = 0; i < p->m.count; i++) {
        const struct node *n = &p->m.nodes[i];
        struct value_plan *v = &p->values[i];
        memset(v->wish.at, STATE_UNSET, sizeof v->wish.at);
        v->free = is_free(p, i);
        v->parameter = is_parameter(p, i);
        const bool open = n->op == &op_owned && is_open(p, n->arg.leaf.slot);
        if (has_spec(n->op) && !open)
            v->wish = leaf_state(p->mesh, n);
        else if (n->op == &op_shard)
            v->wish = state_of_spec(p->mesh, &n->arg.shard.spec);
    }
    for (int i = 0; i < p->m.root_count; i++) {
        const struct root *r = &p->m.roots[i];
        struct value_plan *v = &p->values[r->node];
        const bool asked = r->owned >= 0 ? !is_open(p, (uint32_t)r->owned) : p->in->outputs != NULL;
        if (asked && v->wish.at[0] == STATE_UNSET)
            v->wish = root_state(p, r);
    }
}

void find_wishes(struct planner *p)
{
    wish_specs(p);
    for (int stage = 0; stage < 4; stage++) {
        const bool all = stage % 2 == 1;
        bool changed = true;
        p->parameters_wish = stage >= 2;
        for (int i = 0; i < SWEEPS_MOST && changed; i++) {
            changed = sweep(p, true, all);
            changed |= sweep(p, false, all);
        }
    }
    for (uint32_t i = 0; i < p->m.count; i++)
        for (int a = 0; a < p->mesh->axes; a++)
            if (p->values[i].wish.at[a] == STATE_UNSET)
                p->values[i].wish.at[a] = STATE_WHOLE;
}
