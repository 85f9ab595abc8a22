/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses how each node is computed. In: the versions of its operands, and wishes. Out: a node of the rank's program.
 * Wishes come before bytes: what was marked stays where it is, and weights move, not samples. */
#include <string.h>

#include "shard/planner.h"
#include "tensor/shape.h"
#include "tensor/spread_label.h"

/* A way for each mesh axis. */
struct strategy {
    struct form local;
    struct state in[OPERANDS_MOST], out;
    int32_t ranks; /* that have work of their own */
};

/* What is compared, in this order; less is better, but of ranks. */
struct score {
    int broken;    /* wishes */
    int64_t bytes; /* now, and when what is pending is combined */
    int64_t now;
    int32_t ranks;
};

struct choice {
    struct planner *p;
    uint32_t node;
    struct form global;
    bool masks; /* operands may become pending sums */
    struct strategy best;
    struct score least, second; /* second: of those that were not taken */
    uint32_t legal,
        wanted; /* for a caller that chooses itself: number `wanted` of the legal ones */
};

void form_of(const struct module *m, uint32_t node, struct form *out)
{
    out->node = m->nodes[node];
    for (uint32_t k = 0; k < out->node.in_count; k++)
        out->in[k] = m->nodes[module_operand(m, node, k)].shape;
}

/* ---- scores --------------------------------------------------------------------------------- */

static int broken_wishes(const struct choice *c, const struct strategy *s)
{
    const struct planner *p = c->p;
    int broken = 0;
    for (int a = 0; a < p->mesh->axes; a++) {
        if (p->mesh->extent[a] == 1)
            continue;
        for (uint32_t k = 0; k < c->global.node.in_count; k++) {
            const struct value_plan *v = &p->values[module_operand(&p->m, c->node, k)];
            const int at = s->in[k].at[a], wish = v->wish.at[a];
            broken += wish >= 0 && at != wish && !state_pending(at) && !v->parameter;
        }
        const int wish = p->values[c->node].wish.at[a], at = s->out.at[a];
        broken += wish != STATE_UNSET && at != wish && !state_pending(at);
    }
    return broken;
}

/* What is pending becomes what is wished, or whole. */
struct state settled(const struct planner *p, uint32_t node, struct state s)
{
    struct state out = s;
    tarn_shape unused;
    for (int a = 0; a < p->mesh->axes; a++) {
        const int wish = p->values[node].wish.at[a];
        if (!state_pending(s.at[a]))
            continue;
        out.at[a] = STATE_WHOLE;
        struct state cut = out;
        cut.at[a] = (int8_t)wish;
        if (wish >= 0 && s.at[a] == STATE_SUM)
            out = cut;
    }
    if (state_local(p->mesh, out, p->m.nodes[node].shape, &unused))
        return out;
    for (int a = 0; a < p->mesh->axes; a++)
        out.at[a] = state_pending(s.at[a]) ? STATE_WHOLE : s.at[a];
    return out;
}

/* Elements of a row of values that are zeros between them, such as those that align parameters in flat storage: they
 * are no reason to add up each value by itself. */
static int32_t fillers(const struct choice *c)
{
    const struct node *n = &c->global.node;
    int64_t count = 0;
    for (uint32_t k = 0; n->op->kind == OP_CONCAT && n->shape.rank == 1 && k < n->in_count; k++) {
        const struct node *x = &c->p->m.nodes[module_operand(&c->p->m, c->node, k)];
        if (node_is_zero(x))
            count += tarn_shape_count(x->shape);
    }
    return (int32_t)count;
}

static int64_t pending_cost(const struct choice *c, struct state out)
{
    const struct node *n = &c->global.node;
    const struct state end = settled(c->p, c->node, out);
    struct cargo cargo = { .shape = n->shape, .element = (int64_t)tarn_dtype_bytes(n->dtype) };
    if (state_equal(end, state_whole()))
        cargo.shape.dim[0] -= fillers(c);
    return moves_find(c->p->mesh, &cargo, out, end, NULL, NULL);
}

static bool better(const struct score *x, const struct score *y)
{
    if (x->broken != y->broken)
        return x->broken < y->broken;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes;
    return x->now != y->now ? x->now < y->now : x->ranks > y->ranks;
}

/* COST_NEVER where an operand cannot be brought there, or it already costs `most`. */
static int64_t operands_cost(struct choice *c, const struct strategy *s, int64_t most)
{
    int64_t sum = 0;
    for (uint32_t k = 0; k < c->global.node.in_count && sum <= most; k++) {
        const uint32_t x = module_operand(&c->p->m, c->node, k);
        bool had = false;
        for (uint32_t j = 0; j < k && !had; j++)
            had = module_operand(&c->p->m, c->node, j) == x && state_equal(s->in[j], s->in[k]);
        const int64_t cost = had ? 0 : reach_cost(c->p, x, s->in[k], c->masks);
        if (cost == COST_NEVER)
            return COST_NEVER;
        sum += cost;
    }
    return sum;
}

static void judge(struct choice *c, const struct strategy *s)
{
    struct score now = { .broken = broken_wishes(c, s), .ranks = s->ranks };
    const bool chosen = c->p->in->choose != NULL;
    if (!chosen && c->legal > 0 && now.broken > c->least.broken)
        return;
    const bool bound = !chosen && c->legal > 0 && now.broken == c->least.broken;
    now.now = operands_cost(c, s, bound ? c->least.bytes : INT64_MAX - 1);
    if (now.now == COST_NEVER)
        return;
    const int64_t later = pending_cost(c, s->out);
    if (later == COST_NEVER)
        return;
    now.bytes = now.now + later;
    const bool takes = chosen ? c->legal == c->wanted : c->legal == 0 || better(&now, &c->least);
    c->legal++;
    const struct score left = takes ? c->least : now;
    if (c->legal == 2 || (c->legal > 2 && better(&left, &c->second)))
        c->second = left;
    if (!takes)
        return;
    c->least = now;
    c->best = *s;
}

static void try_axes(struct choice *c, const struct strategy *s, int axis)
{
    const struct mesh *m = c->p->mesh;
    while (axis < m->axes && m->extent[axis] == 1)
        axis++;
    if (axis == m->axes) {
        judge(c, s);
        return;
    }
    const int ways = rule_ways(&s->local);
    for (int way = 0; way < ways; way++) {
        struct strategy next = *s;
        struct placing at;
        if (!rule_take(&next.local, m->extent[axis], way, &at))
            continue;
        for (uint32_t k = 0; k < c->global.node.in_count; k++)
            next.in[k].at[axis] = at.in[k];
        next.out.at[axis] = at.out;
        next.ranks *= next.local.node.in_count > 0 && way > 0 ? m->extent[axis] : 1;
        try_axes(c, &next, axis + 1);
    }
}

/* ---- nodes ---------------------------------------------------------------------------------- */

static bool is_addition(const struct op *op)
{
    return op == &op_add || op == &op_sub;
}

/* A whole operand becomes part of a pending sum only where that goes into another addition: else what
 * is added to a sum, such as a step to weights, would itself be a pending sum. */
static bool may_mask(const struct planner *p, uint32_t node)
{
    const uint32_t user = p->m.user[node];
    if (p->in->choose != NULL)
        return true;
    return is_addition(p->m.nodes[node].op) && p->m.uses[node] == 1 && user != UINT32_MAX &&
           is_addition(p->m.nodes[user].op);
}

static uint32_t with_word(struct planner *p, uint32_t node, uint32_t made)
{
    struct node n;
    const uint8_t said = p->m.said[node];
    if (said == BATCH_UNSAID || p->e.failed)
        return made;
    memset(&n, 0, sizeof n);
    n.op = &op_batch_axis;
    n.shape = p->e.nodes[made].shape;
    n.dtype = p->e.nodes[made].dtype;
    n.in_count = 1;
    n.arg.batch_axis.said = said;
    return emit_raw(&p->e, &n, &made);
}

static void lower_leaf(struct planner *p, uint32_t node)
{
    struct node n = p->m.nodes[node];
    struct value_plan *v = &p->values[node];
    struct state s = state_whole();
    if (rule_renews(&n))
        return; /* in the states that are asked for */
    if (has_spec(n.op) && !state_local(p->mesh, v->wish, n.shape, &n.shape))
        return;
    if (has_spec(n.op))
        s = v->wish;
    const bool piece = n.op == &op_held && n.arg.leaf.elements != 0;
    keep_version(p, node, s,
                 with_word(p, node, piece ? emit_piece(&p->e, &n) : emit_raw(&p->e, &n, NULL)));
}

static void log_choice(const struct choice *c)
{
    struct planner *p = c->p;
    const struct node *n = &c->global.node;
    char text[96];
    if (p->in->log == NULL || state_equal(c->best.out, state_whole()))
        return;
    state_text(p->mesh, c->best.out, text);
    log_line(p, "  %%%u %s %s  %s", c->node, n->op->name, shape_text(n->shape), text);
    state_text(p->mesh, p->values[c->node].wish, text);
    log_line(p, "; wished %s", text);
    if (c->least.bytes > 0)
        log_line(p, "; %lld B", (long long)(c->least.bytes / COST_BYTE));
    if (c->least.bytes > 0 && c->legal > 1)
        log_line(p, ", next best %lld B", (long long)(c->second.bytes / COST_BYTE));
    if (c->least.bytes > 0 && c->legal > 1 && c->second.broken > c->least.broken)
        log_line(p, " against %d wishes", c->second.broken - c->least.broken);
    log_line(p, "\n");
}

static void find_strategy(struct choice *c)
{
    struct strategy first;
    memset(&first.in, STATE_WHOLE, sizeof first.in);
    first.out = state_whole();
    first.local = c->global;
    first.ranks = 1;
    try_axes(c, &first, 0);
    const struct shard_input *in = c->p->in;
    if (in->choose == NULL || c->legal == 0)
        return;
    c->wanted = in->choose(in->choose_user, c->legal);
    c->legal = 0;
    try_axes(c, &first, 0);
}

/* Parameters come last: what is gathered waits for the other operands, so that it lives no longer than it must. */
static void reach_operands(const struct choice *c, uint32_t *in)
{
    struct planner *p = c->p;
    for (int gathered = 0; gathered < 2; gathered++)
        for (uint32_t k = 0; k < c->global.node.in_count; k++) {
            const uint32_t x = module_operand(&p->m, c->node, k);
            if (p->values[x].drops != (gathered != 0))
                continue;
            in[k] = reach(p, x, c->best.in[k], c->masks);
            if (!gathered && !p->e.failed && in[k] != 0 && p->e.nodes[in[k]].op->kind != OP_LEAF)
                p->after = in[k];
        }
    p->after = 0;
}

/* Stays where its value is wished to be; what it waits for is not moved for it. */
static void lower_after(struct planner *p, uint32_t node)
{
    const struct value_plan *v = &p->values[node];
    const uint32_t first = module_operand(&p->m, node, 1);
    const struct version *there = p->values[first].versions;
    const uint32_t made = reach(p, module_operand(&p->m, node, 0), v->wish, false);
    const uint32_t after = there != NULL ? there->node : reach(p, first, state_whole(), false);
    if (!p->e.failed)
        keep_version(p, node, v->wish,
                     emit_after(&p->e, made, after, p->m.nodes[node].arg.after.region));
}

void lower_node(struct planner *p, uint32_t node)
{
    const struct node *n = &p->m.nodes[node];
    struct value_plan *v = &p->values[node];
    uint32_t in[OPERANDS_MOST];
    p->reader = node;
    begin_pass(p, node);
    if (n->op->kind == OP_LEAF) {
        lower_leaf(p, node);
        return;
    }
    const uint32_t first = module_operand(&p->m, node, 0);
    if (lower_rows(p, node))
        return;
    if (n->op == &op_shard) {
        keep_version(p, node, v->wish, reach(p, first, v->wish, false));
        return;
    }
    if (n->op == &op_after) {
        lower_after(p, node);
        return;
    }
    struct choice c = { .p = p, .node = node, .masks = may_mask(p, node), .wanted = UINT32_MAX };
    form_of(&p->m, node, &c.global);
    find_strategy(&c);
    log_choice(&c);
    reach_operands(&c, in);
    const uint32_t made = emit_node(&p->e, &c.global, &c.best.local, c.best.in, c.best.out, in);
    keep_version(p, node, c.best.out, with_word(p, node, made));
    const struct state s = settled(p, node, c.best.out);
    if (p->m.uses[node] > 1 && !state_equal(s, c.best.out))
        reach(p, node, s, false);
}
