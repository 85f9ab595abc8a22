/* SPDX-License-Identifier: Apache-2.0 */
/* Brings a value into a state. In: the versions that were made of it. Out: another one, by the cheapest of moving one
 * of them and computing it anew: views of what their operand can be, leaves that are computed anyway, and what is
 * computed of these alone, such as the mask of a dropout: cut out of the whole, that would have to be stored. */
#include <stdarg.h>
#include <string.h>

#include "shard/planner.h"
#include "tensor/shape.h"

enum { RENEW_DEPTH = 6, FREE_DEPTH = 64 }; /* views on views; maps of what is computed of nothing */

static struct cargo cargo_of(const struct planner *p, uint32_t value, bool masks)
{
    const struct node *n = &p->m.nodes[value];
    return (struct cargo){ .shape = n->shape,
                           .element = (int64_t)tarn_dtype_bytes(n->dtype),
                           .masks = masks && dtype_adds(n->dtype) };
}

void log_line(struct planner *p, const char *format, ...)
{
    va_list args;
    if (p->in->log == NULL)
        return;
    va_start(args, format);
    text_add_list(p->in->log, format, args);
    va_end(args);
}

void keep_version(struct planner *p, uint32_t value, struct state state, uint32_t node)
{
    struct version *v = arena_take(&p->arena, sizeof *v);
    if (v == NULL)
        return;
    *v = (struct version){ state, node, p->values[value].versions, p->pass, p->gathers };
    p->values[value].versions = v;
}

/* How a view or a leaf is computed in a state. */
struct renewal {
    struct form global, local;
    struct state in[OPERANDS_MOST];
};

static bool renews(const struct planner *p, uint32_t value)
{
    const struct node *n = &p->m.nodes[value];
    return (rule_renews(n) && n->op != &op_shard) ||
           (n->op->kind == OP_MAP && p->values[value].free);
}

static bool find_renewal(const struct planner *p, uint32_t value, struct state want,
                         struct renewal *out)
{
    if (!renews(p, value))
        return false;
    form_of(&p->m, value, &out->global);
    const uint32_t count = out->global.node.in_count;
    out->local = out->global;
    for (uint32_t k = 0; k < count; k++)
        out->in[k] = state_whole();
    for (int a = 0; a < p->mesh->axes; a++) {
        if (want.at[a] == STATE_WHOLE)
            continue;
        const int ways = rule_ways(&out->local);
        int way = 1;
        for (; way < ways; way++) {
            struct form next = out->local;
            struct placing at;
            if (!rule_take(&next, p->mesh->extent[a], way, &at) || at.out != want.at[a])
                continue;
            out->local = next;
            for (uint32_t k = 0; k < count; k++)
                out->in[k].at[a] = at.in[k];
            break;
        }
        if (way == ways)
            return false;
    }
    return true;
}

static int64_t cost_at(struct planner *p, uint32_t value, struct state want, bool masks, int depth);

static int64_t renewal_cost(struct planner *p, uint32_t value, struct state want, int depth)
{
    struct renewal r;
    int64_t sum = 0;
    if (depth >= (p->values[value].free ? FREE_DEPTH : RENEW_DEPTH) ||
        !find_renewal(p, value, want, &r))
        return COST_NEVER;
    for (uint32_t k = 0; k < r.global.node.in_count; k++) {
        const int64_t cost = cost_at(p, module_operand(&p->m, value, k), r.in[k], false, depth + 1);
        if (cost == COST_NEVER)
            return COST_NEVER;
        sum += cost;
    }
    return sum;
}

static int64_t cost_at(struct planner *p, uint32_t value, struct state want, bool masks, int depth)
{
    const struct cargo c = cargo_of(p, value, masks);
    int64_t best = COST_NEVER;
    bool any = false;
    for (const struct version *v = p->values[value].versions; v != NULL && best > 0; v = v->next) {
        if (!is_there(p, value, v))
            continue;
        any = true;
        const int64_t cost = moves_find(p->mesh, &c, v->state, want, NULL, NULL);
        best = cost < best ? cost : best;
    }
    if (best == 0 || !renews(p, value))
        return best;
    int64_t anew = renewal_cost(p, value, want, depth);
    if (anew == COST_NEVER && !any) {
        const int64_t whole = renewal_cost(p, value, state_whole(), depth);
        const int64_t cost = moves_find(p->mesh, &c, state_whole(), want, NULL, NULL);
        anew = whole == COST_NEVER || cost == COST_NEVER ? COST_NEVER : whole + cost;
    }
    return anew < best ? anew : best;
}

int64_t reach_cost(struct planner *p, uint32_t value, struct state want, bool masks)
{
    return cost_at(p, value, want, masks, 0);
}

/* ---- doing it ------------------------------------------------------------------------------- */

static void log_move(struct planner *p, uint32_t value, const struct move *v, int64_t bytes,
                     bool again)
{
    static const char *const word[] = { [MOVE_ALL_GATHER] = "all-gather",
                                        [MOVE_ALL_REDUCE] = "all-reduce",
                                        [MOVE_REDUCE_SCATTER] = "reduce-scatter",
                                        [MOVE_ALL_TO_ALL] = "all-to-all",
                                        [MOVE_SLICE] = "slice",
                                        [MOVE_MASK] = "mask" };
    if (p->in->log == NULL)
        return;
    log_line(p, "      %s %%%u %s over", word[v->kind], value, shape_text(p->m.nodes[value].shape));
    for (int a = 0; a < p->mesh->axes; a++)
        if (v->axes >> a & 1)
            log_line(p, " %s", p->mesh->name[a]);
    log_line(p, ", %lld B received, for ", (long long)bytes);
    if (p->reader == UINT32_MAX)
        log_line(p, "what is asked of it");
    else
        log_line(p, "%%%u %s", p->reader, p->m.nodes[p->reader].op->name);
    log_line(p, again ? ", again: the copy was dropped after the forward part\n" : "\n");
}

static uint32_t run_moves(struct planner *p, uint32_t value, struct version from, struct state want,
                          const struct cargo *c)
{
    struct move list[MOVES_MOST];
    int count;
    struct state now = from.state;
    uint32_t node = from.node;
    if (moves_find(p->mesh, c, from.state, want, list, &count) == COST_NEVER)
        return 0;
    for (int i = 0; i < count; i++) {
        const struct move *v = &list[i];
        const int64_t before = p->e.bytes;
        bool again = false;
        if (v->kind == MOVE_ALL_GATHER && p->values[value].drops) {
            again = p->values[value].gathered;
            p->values[value].gathered = true;
            p->gathers++;
            node = p->after != 0 ? emit_after(&p->e, node, p->after, 0) : node;
        }
        node = emit_move(&p->e, node, v);
        for (int a = 0; a < p->mesh->axes; a++)
            if (v->axes >> a & 1)
                now.at[a] = v->to;
        keep_version(p, value, now, node);
        log_move(p, value, v, p->e.bytes - before, again);
    }
    return node;
}

static uint32_t reach_at(struct planner *p, uint32_t value, struct state want, bool masks,
                         int depth);

static uint32_t renew(struct planner *p, uint32_t value, struct state want, int depth)
{
    struct renewal r;
    uint32_t in[OPERANDS_MOST];
    if (!find_renewal(p, value, want, &r))
        return 0;
    for (uint32_t k = 0; k < r.global.node.in_count; k++)
        in[k] = reach_at(p, module_operand(&p->m, value, k), r.in[k], false, depth + 1);
    const uint32_t node = emit_node(&p->e, &r.global, &r.local, r.in, want, in);
    keep_version(p, value, want, node);
    return node;
}

static uint32_t reach_at(struct planner *p, uint32_t value, struct state want, bool masks,
                         int depth)
{
    const struct cargo c = cargo_of(p, value, masks);
    struct version *best = NULL;
    int64_t least = COST_NEVER;
    for (struct version *v = p->values[value].versions; v != NULL; v = v->next) {
        if (!is_there(p, value, v))
            continue;
        if (state_equal(v->state, want)) {
            v->pass = p->pass;
            return v->node;
        }
        const int64_t cost = moves_find(p->mesh, &c, v->state, want, NULL, NULL);
        if (cost < least) {
            least = cost;
            best = v;
        }
    }
    const int64_t anew = renewal_cost(p, value, want, depth);
    if (anew != COST_NEVER && anew <= least)
        return renew(p, value, want, depth);
    if (best != NULL)
        return run_moves(p, value, *best, want, &c);
    const uint32_t whole = renew(p, value, state_whole(), depth);
    return whole == 0
               ? 0
               : run_moves(p, value, (struct version){ .state = state_whole(), .node = whole },
                           want, &c);
}

uint32_t reach(struct planner *p, uint32_t value, struct state want, bool masks)
{
    return reach_at(p, value, want, masks, 0);
}
