/* SPDX-License-Identifier: Apache-2.0 */
/* Values of 64 bits among others. Whatever is computed in one plan with them is scheduled one element a work-item, which on a
 * CPU makes products and convolutions many times as slow: so labels of int64, or a loss in float64, get plans of their own
 * wherever products of narrower values are asked for with them. In: a graph. Out: a graph in which no node that is still to be computed
 * has or reads 64 bits, or the same graph. */
#include <stdlib.h>

#include "run/parts.h"
#include "run/plan_cache.h"
#include "tensor/scan.h"

/* Of nodes, in the order in which they can be computed. */
enum stage {
    NARROW, /* of no value of 64 bits */
    READY,  /* wide, of leaves and their like alone */
    WAITS,  /* wide, of narrow values that are still to be computed, too */
    LATER   /* of wide ones, narrow again; and all that comes after a loop */
};

static uint32_t operand(const struct parts *p, uint32_t node, uint32_t k)
{
    const struct graph *g = &p->r->graph;
    return g->operands[g->nodes[node].first_in + k];
}

/* Whether a node is computed with values of 64 bits. */
static bool is_wide(const struct parts *p, uint32_t node)
{
    const struct node *nodes = p->r->graph.nodes, *n = &nodes[node];
    bool wide = n->op->kind != OP_LEAF && dtype_is_wide(n->dtype);
    for (uint32_t k = 0; k < n->in_count; k++)
        wide |= dtype_is_wide(nodes[operand(p, node, k)].dtype);
    return wide;
}

/* Whether it is worth while: products of narrower values are needed, and nothing of 64 bits is asked for or assigned. */
static bool is_mixed(const struct parts *p)
{
    const struct graph *g = &p->r->graph;
    bool wide = false, products = false;
    for (int i = 0; i < p->output_count; i++)
        if (dtype_is_wide(g->nodes[p->outputs[i]].dtype))
            return false;
    for (uint32_t i = 1; i < g->count; i++) {
        const struct node *n = &g->nodes[i];
        if (!p->needed[i])
            continue;
        const bool is = is_wide(p, i);
        if (is && n->op->kind == OP_EFFECT)
            return false;
        wide |= is;
        products |= !is && (n->op->kind == OP_CONTRACT || n->op->kind == OP_COMPOSED);
    }
    return wide && products;
}

static void find_stages(const struct parts *p)
{
    const struct graph *g = &p->r->graph;
    for (uint32_t i = 1; i < g->count; i++) {
        const struct node *n = &g->nodes[i];
        const bool wide = is_wide(p, i);
        uint8_t stage = n->op == &op_scan ? LATER : wide ? READY : NARROW;
        for (uint32_t k = 0; k < n->in_count; k++) {
            const uint32_t x = operand(p, i, k);
            const uint8_t of = wide && p->stage[x] == NARROW    ? (p->light[x] ? READY : WAITS)
                               : !wide && p->stage[x] != NARROW ? LATER
                                                                : p->stage[x];
            stage = of > stage ? of : stage;
        }
        p->stage[i] = stage;
    }
}

/* What narrower nodes read of those that are ready. */
static void list_exits(struct parts *p)
{
    const struct graph *g = &p->r->graph;
    for (uint32_t i = 1; i < g->count; i++) {
        const struct node *n = &g->nodes[i];
        for (uint32_t k = 0; k < n->in_count && p->needed[i] && p->stage[i] != READY; k++) {
            const uint32_t x = operand(p, i, k);
            if (p->stage[x] == READY && !dtype_is_wide(g->nodes[x].dtype))
                parts_list(p, x);
        }
    }
    for (int i = 0; i < p->output_count; i++)
        if (p->stage[p->outputs[i]] == READY)
            parts_list(p, p->outputs[i]);
}

/* The narrow values that wide nodes wait for, and what is computed on the way and read again. */
static void list_entries(struct parts *p)
{
    const struct graph *g = &p->r->graph;
    for (uint32_t i = 1; i < g->count; i++)
        for (uint32_t k = 0; k < g->nodes[i].in_count && p->needed[i] && p->stage[i] == WAITS;
             k++) {
            const uint32_t x = operand(p, i, k);
            p->before[x] |= p->stage[x] == NARROW && !p->light[x];
        }
    parts_list_crossing(p, 0);
}

static tarn_status run_all(struct parts *p)
{
    for (;;) {
        TRY(parts_need(p));
        if (!is_mixed(p))
            return TARN_OK;
        parts_begin(p);
        find_stages(p);
        list_exits(p);
        if (p->count == 0)
            list_entries(p);
        if (p->count == 0)
            return TARN_OK;
        TRY(parts_compute(p));
    }
}

tarn_status program_has_wide(const struct program *p, bool *wide)
{
    bool *needed = calloc(p->count, sizeof *needed);
    *wide = false;
    if (needed == NULL)
        return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    for (int i = 0; i < p->output_count; i++)
        needed[p->outputs[i]] = true;
    for (uint32_t i = 1; p->effects && i < p->count; i++)
        needed[i] |= p->nodes[i].op->kind == OP_EFFECT;
    nodes_mark_operands(p->nodes, p->count, p->operands, needed);
    for (uint32_t i = 1; i < p->count; i++)
        *wide |= needed[i] && dtype_is_wide(p->nodes[i].dtype);
    free(needed);
    return TARN_OK;
}

tarn_status wide_run(tarn_replica *r, const uint32_t *outputs, int count, bool effects)
{
    if (!r->wide || r->graph.in_body)
        return TARN_OK;
    return parts_do(r, outputs, count, effects, run_all);
}
