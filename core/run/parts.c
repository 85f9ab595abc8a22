/* SPDX-License-Identifier: Apache-2.0 */
/* A graph in parts. In: a graph, and what of it is asked for. Out: plans that ran, and nodes that became leaves. */
#include "run/parts.h"

#include <stdlib.h>
#include <string.h>

#include "run/loop.h"
#include "run/plan_cache.h"

tarn_status parts_need(struct parts *p)
{
    const struct graph *g = &p->r->graph;
    memset(p->needed, 0, g->count * sizeof *p->needed);
    for (int i = 0; i < p->output_count; i++)
        p->needed[p->outputs[i]] = true;
    for (uint32_t i = 1; p->effects && i < g->count; i++)
        p->needed[i] |= g->nodes[i].op->kind == OP_EFFECT;
    nodes_mark_operands(g->nodes, g->count, g->operands, p->needed);
    for (uint32_t i = 1; i < g->count; i++)
        if (p->needed[i] && g->nodes[i].op == &op_scan_value)
            return error_set(TARN_ERR_STATE,
                             "scan: a tensor that the body of a scan made is used outside of it: "
                             "return it as an output");
    return TARN_OK;
}

static void find_light(struct parts *p)
{
    const struct graph *g = &p->r->graph;
    for (uint32_t i = 1; i < g->count; i++) {
        const struct node *n = &g->nodes[i];
        const enum op_kind kind = n->op->kind;
        p->light[i] = kind == OP_LEAF || kind == OP_MAP || kind == OP_VIEW;
        for (uint32_t k = 0; k < n->in_count; k++)
            p->light[i] &= p->light[g->operands[n->first_in + k]];
    }
}

void parts_begin(struct parts *p)
{
    const struct graph *g = &p->r->graph;
    memset(p->before, 0, g->count * sizeof *p->before);
    memset(p->listed, 0, g->count * sizeof *p->listed);
    p->count = 0;
    find_light(p);
}

void parts_list(struct parts *p, uint32_t node)
{
    const struct node *n = &p->r->graph.nodes[node];
    struct loop_place unused;
    if (!p->listed[node] && !n->op->in_memory && !loop_piece(p->r, n, &unused))
        p->list[p->count++] = node;
    p->listed[node] = true;
}

/* Something that is computed now and is read again: kept, but not as a view, unless that is listed itself. */
static void list_crossing(struct parts *p, uint32_t node, uint32_t but)
{
    const struct graph *g = &p->r->graph;
    while (g->nodes[node].op->kind == OP_VIEW && !p->light[node] && !p->listed[node])
        node = g->operands[g->nodes[node].first_in];
    if (node != but && !p->light[node])
        parts_list(p, node);
}

void parts_list_crossing(struct parts *p, uint32_t but)
{
    const struct graph *g = &p->r->graph;
    nodes_mark_operands(g->nodes, g->count, g->operands, p->before);
    for (uint32_t i = 1; i < g->count; i++) {
        const struct node *n = &g->nodes[i];
        for (uint32_t k = 0; p->needed[i] && !p->before[i] && k < n->in_count; k++)
            if (p->before[g->operands[n->first_in + k]])
                list_crossing(p, g->operands[n->first_in + k], but);
    }
    for (int i = 0; i < p->output_count; i++)
        if (p->before[p->outputs[i]])
            list_crossing(p, p->outputs[i], but);
}

tarn_status parts_compute(struct parts *p)
{
    if (p->count == 0)
        return TARN_OK;
    struct buffer **buffers = calloc((size_t)p->count, sizeof *buffers);
    struct spec *specs = calloc((size_t)p->count, sizeof *specs);
    if (buffers == NULL || specs == NULL) {
        free(buffers);
        free(specs);
        return error_set(TARN_ERR_MEMORY, "parts: out of host memory");
    }
    tarn_status s = plan_execute_cut(p->r, p->list, p->count, buffers, specs, false);
    for (int i = 0; s == TARN_OK && i < p->count; i++) {
        struct buffer *b = buffers[i];
        buffers[i] = NULL;
        s = graph_hold_cut(p->r, p->list[i], b, &specs[i]);
    }
    for (int i = 0; i < p->count; i++)
        buffer_free(buffers[i]);
    free(buffers);
    free(specs);
    return s;
}

tarn_status parts_do(tarn_replica *r, const uint32_t *outputs, int count, bool effects,
                     tarn_status (*run)(struct parts *p))
{
    const size_t n = r->graph.count;
    bool *marks = calloc(4 * n + 1, sizeof *marks);
    struct parts p = { .r = r,
                       .outputs = outputs,
                       .output_count = count,
                       .effects = effects,
                       .list = calloc(n + 1, sizeof *p.list),
                       .stage = calloc(n + 1, sizeof *p.stage) };
    tarn_status s = TARN_OK;
    if (marks == NULL || p.list == NULL || p.stage == NULL) {
        s = error_set(TARN_ERR_MEMORY, "parts: out of host memory");
    } else {
        p.needed = marks;
        p.before = marks + n;
        p.light = marks + 2 * n;
        p.listed = marks + 3 * n;
        s = run(&p);
    }
    free(marks);
    free(p.list);
    free(p.stage);
    return s;
}
