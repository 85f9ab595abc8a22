/* SPDX-License-Identifier: Apache-2.0 */
/* Values of 64 bits among others. Whatever is computed in one plan with them is scheduled one element a work-item, which on a
 * CPU makes products and convolutions many times as slow: so labels of int64, or a loss in float64, get plans of their own
 * wherever products of narrower values are asked for with them. In: a graph. Out: a graph in which no node that is still to be computed
 * has or reads 64 bits, or the same graph. */
#include <stdlib.h>

#include "run/parts.h"
#include "run/plan_cache.h"
#include "tensor/scan.h"

#define STAGES_MOST 6 /* of a program that changes its types more often, parts would be too small */

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

/* Of each node how often its making goes to 64 bits and back: it is odd where a node is wide. Loops that are still to run
 * come last. */
static void find_stages(const struct parts *p)
{
    const struct graph *g = &p->r->graph;
    uint8_t *stage = p->stage;
    for (uint32_t i = 1; i < g->count; i++) {
        const struct node *n = &g->nodes[i];
        const uint8_t odd = is_wide(p, i);
        stage[i] = odd;
        for (uint32_t k = 0; k < n->in_count; k++) {
            const uint8_t of = stage[operand(p, i, k)];
            const uint8_t least = (uint8_t)(of + (of % 2 != odd));
            stage[i] = least > stage[i] ? least : stage[i];
        }
        if (n->op == &op_scan || stage[i] > STAGES_MOST)
            stage[i] = STAGES_MOST + 1 + odd;
    }
}

/* Whether wide nodes of the first stage read a value that is still to be computed: that is marked as before them. */
static bool mark_entries(struct parts *p)
{
    const struct graph *g = &p->r->graph;
    const uint8_t *stage = p->stage;
    bool any = false;
    for (uint32_t i = 1; i < g->count; i++) {
        const struct node *n = &g->nodes[i];
        p->mark[i] = p->needed[i] && stage[i] == 1;
        for (uint32_t k = 0; k < n->in_count && p->needed[i] && stage[i] == 1; k++) {
            const uint32_t x = operand(p, i, k);
            const bool enters = stage[x] == 0 && !p->light[x];
            p->before[x] |= enters;
            any |= enters;
            p->mark[i] &= !enters && (stage[x] == 0 || p->mark[x]);
        }
    }
    return any;
}

/* What narrower nodes read of those wide ones that are marked. */
static void list_exits(struct parts *p)
{
    const struct graph *g = &p->r->graph;
    for (uint32_t i = 1; i < g->count; i++) {
        const struct node *n = &g->nodes[i];
        for (uint32_t k = 0; k < n->in_count && p->needed[i] && !p->mark[i]; k++) {
            const uint32_t x = operand(p, i, k);
            if (p->mark[x] && !dtype_is_wide(g->nodes[x].dtype))
                parts_list(p, x);
        }
    }
    for (int i = 0; i < p->output_count; i++)
        if (p->mark[p->outputs[i]])
            parts_list(p, p->outputs[i]);
}

static tarn_status run_all(struct parts *p)
{
    for (;;) {
        TRY(parts_need(p));
        if (!is_mixed(p))
            return TARN_OK;
        find_stages(p);
        parts_begin(p);
        const bool enters = mark_entries(p);
        list_exits(p);
        if (p->count == 0 && enters)
            parts_list_crossing(p, 0);
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
    for (uint32_t i = p->count; i-- > 1;) {
        const struct node *n = &p->nodes[i];
        needed[i] |= p->effects && n->op->kind == OP_EFFECT;
        for (uint32_t k = 0; needed[i] && k < n->in_count; k++)
            needed[p->operands[n->first_in + k]] = true;
        *wide |= needed[i] && dtype_is_wide(n->dtype);
    }
    free(needed);
    return TARN_OK;
}

tarn_status wide_run(tarn_replica *r, const uint32_t *outputs, int count, bool effects)
{
    if (!r->wide || r->graph.in_body)
        return TARN_OK;
    return parts_do(r, outputs, count, effects, run_all);
}
