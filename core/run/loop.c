/* SPDX-License-Identifier: Apache-2.0 */
/* Steps with loops. A loop needs whole values, and others need all of it: so what is asked of the graph is
 * computed in parts, each a plan: what a loop needs, and what besides is needed again later; the loop; and so
 * on, and then the rest. What a part leaves becomes leaves of the graph. In: a graph with scans. Out: a
 * graph whose scans are leaves. */
#include "run/loop.h"

#include <stdlib.h>
#include <string.h>

#include "run/plan_cache.h"
#include "tensor/part.h"

/* What is known of each node, while one loop is looked at. */
struct part {
    tarn_replica *r;
    const struct scan *scan;
    bool *needed; /* by what is asked for */
    bool *before; /* the loop needs it */
    bool *
        light; /* a view of leaves, or element by element of such: computed anew where it is read */
    bool *listed;
    uint32_t *list; /* nodes to be computed now */
    int count;
};

static void mark_operands(const struct graph *g, bool *marked)
{
    for (uint32_t i = g->count; i-- > 1;) {
        const struct node *n = &g->nodes[i];
        for (uint32_t k = 0; marked[i] && k < n->in_count; k++)
            marked[g->operands[n->first_in + k]] = true;
    }
}

/* All that is asked for, and what that is made of. */
static tarn_status mark_needed(struct part *p, const uint32_t *outputs, int count, bool effects)
{
    const struct graph *g = &p->r->graph;
    memset(p->needed, 0, g->count * sizeof *p->needed);
    for (int i = 0; i < count; i++)
        p->needed[outputs[i]] = true;
    for (uint32_t i = 1; effects && i < g->count; i++)
        p->needed[i] = g->nodes[i].op->kind == OP_EFFECT;
    mark_operands(g, p->needed);
    for (uint32_t i = 1; i < g->count; i++)
        if (p->needed[i] && g->nodes[i].op == &op_scan_value)
            return error_set(TARN_ERR_STATE,
                             "scan: a tensor that the body of a scan made is used outside of it: "
                             "return it as an output");
    return TARN_OK;
}

static const struct scan *first_scan(const struct part *p)
{
    const struct graph *g = &p->r->graph;
    for (uint32_t i = 1; i < g->count; i++)
        if (p->needed[i] && g->nodes[i].op == &op_scan)
            return &g->scans[g->nodes[i].arg.scan.index];
    return NULL;
}

/* ---- what comes before a loop ---------------------------------------------------------------- */

static void find_light(struct part *p)
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

static void list_node(struct part *p, uint32_t node)
{
    const struct node *n = &p->r->graph.nodes[node];
    struct loop_place unused;
    if (!p->listed[node] && !n->op->in_memory && !loop_piece(p->r, n, &unused))
        p->list[p->count++] = node;
    p->listed[node] = true;
}

/* Something that is computed for the loop and is read again: kept, but not as a view, unless the loop reads that. */
static void list_crossing(struct part *p, uint32_t node)
{
    const struct graph *g = &p->r->graph;
    while (g->nodes[node].op->kind == OP_VIEW && !p->light[node] && !p->listed[node])
        node = g->operands[g->nodes[node].first_in];
    if (node != p->scan->node && !p->light[node])
        list_node(p, node);
}

/* The node in memory that operand k is read from. */
static uint32_t operand_node(const struct part *p, uint32_t k)
{
    const struct graph *g = &p->r->graph;
    const uint32_t node = g->operands[g->nodes[p->scan->node].first_in + k];
    return k < p->scan->carries + p->scan->slices ? node : scan_base(g, node);
}

static void list_all(struct part *p, const uint32_t *outputs, int count)
{
    const struct graph *g = &p->r->graph;
    const struct scan *s = p->scan;
    memset(p->before, 0, g->count * sizeof *p->before);
    memset(p->listed, 0, g->count * sizeof *p->listed);
    p->before[s->node] = true;
    p->count = 0;
    mark_operands(g, p->before);
    find_light(p);
    for (uint32_t k = 0; k < scan_operands(s); k++)
        if (k >= s->carries || !node_is_zero(&g->nodes[operand_node(p, k)]))
            list_node(p, operand_node(p, k));
    for (uint32_t i = 1; i < g->count; i++) {
        const struct node *n = &g->nodes[i];
        for (uint32_t k = 0; p->needed[i] && !p->before[i] && k < n->in_count; k++)
            if (p->before[g->operands[n->first_in + k]])
                list_crossing(p, g->operands[n->first_in + k]);
    }
    for (int i = 0; i < count; i++)
        if (p->before[outputs[i]])
            list_crossing(p, outputs[i]);
}

static tarn_status compute(struct part *p)
{
    if (p->count == 0)
        return TARN_OK;
    struct buffer **buffers = calloc((size_t)p->count, sizeof *buffers);
    struct spec *specs = calloc((size_t)p->count, sizeof *specs);
    if (buffers == NULL || specs == NULL) {
        free(buffers);
        free(specs);
        return error_set(TARN_ERR_MEMORY, "scan: out of host memory");
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

/* ---- the loop -------------------------------------------------------------------------------- */

static struct loop_place place_of(const tarn_replica *r, uint32_t node)
{
    const struct node *n = &r->graph.nodes[node];
    struct loop_place at = { 0 };
    if (loop_piece(r, n, &at))
        return at;
    at.spec = n->arg.leaf.spec;
    if (n->op == &op_owned) {
        at.buffer = r->owned[n->arg.leaf.slot].buffer;
        at.offset = r->owned[n->arg.leaf.slot].offset;
    } else {
        at.buffer = r->graph.inputs[n->arg.leaf.slot].buffer;
    }
    return at;
}

static void find_operands(const struct part *p, struct loop *l)
{
    for (uint32_t k = 0; k < scan_operands(l->scan); k++) {
        l->node[k] = operand_node(p, k);
        if (k >= l->scan->carries || !node_is_zero(&p->r->graph.nodes[l->node[k]]))
            l->at[k] = place_of(p->r, l->node[k]);
    }
}

/* What lies in another way than the plan wants is exchanged once, before the first step. */
static tarn_status move_operands(tarn_replica *r, struct loop *l, const struct plan_loop *as)
{
    uint32_t node[SCAN_MOST], slot[SCAN_MOST];
    struct spec spec[SCAN_MOST];
    struct buffer *moved[SCAN_MOST];
    int count = 0;
    for (uint32_t k = 0; replica_mesh(r) != NULL && k < scan_operands(l->scan); k++) {
        spec[count] = loop_operand_spec(l->scan, k, as->spec[k]);
        if (l->at[k].buffer == NULL || loop_lies_as(r, &l->at[k], &spec[count]))
            continue;
        node[count] = l->node[k];
        slot[count++] = k;
    }
    if (count == 0)
        return TARN_OK;
    TRY(plan_execute_cut(r, node, count, moved, spec, true));
    tarn_status s = TARN_OK;
    for (int i = 0; i < count; i++) {
        l->at[slot[i]] = (struct loop_place){ .buffer = moved[i], .spec = spec[i] };
        if (s == TARN_OK)
            s = graph_keep_buffer(r, moved[i]);
        else
            buffer_free(moved[i]);
    }
    return s;
}

/* Carries begin with their first values. */
static tarn_status begin_carry(const tarn_replica *r, const struct loop *l,
                               const struct plan_loop *as, uint32_t j)
{
    const struct scan *s = l->scan;
    const struct mesh *m = replica_mesh(r);
    size_t bytes = node_bytes(&r->graph.nodes[s->value[j]]);
    if (m != NULL)
        bytes /= (size_t)mesh_blocks(m, part_axes(m, &as->spec[j]));
    const size_t to = as->place[j] * scan_element_bytes(s) + bytes * scan_slot(s, j, 0);
    if (bytes == 0)
        return TARN_OK;
    return l->at[j].buffer == NULL
               ? buffer_fill_zero(l->flat, to, bytes)
               : buffer_copy(l->flat, to, l->at[j].buffer, l->at[j].offset, bytes);
}

tarn_status loop_begin(tarn_replica *r, struct loop *l, const struct plan_loop *as)
{
    const struct scan *s = l->scan;
    TRY(move_operands(r, l, as));
    TRY(buffer_new(r->context, as->elements * scan_element_bytes(s), &l->flat));
    l->slots = as->slots;
    for (uint32_t k = 0; k < l->slots; k++)
        l->buffer[k] = k >= s->carries && k < scan_operands(s) ? l->at[k].buffer : l->flat;
    for (uint32_t j = 0; j < s->carries; j++)
        TRY(begin_carry(r, l, as, j));
    struct scan *ran = &r->graph.scans[s - r->graph.scans];
    memcpy(ran->cut, as->spec + scan_operands(s), s->results * sizeof *ran->cut);
    memcpy(ran->pending, as->pending + scan_operands(s), s->results * sizeof *ran->pending);
    memcpy(ran->part_place, as->place, sizeof ran->part_place);
    ran->part_elements = as->elements;
    return TARN_OK;
}

/* Whether a loop may read what this one stores for its gradient: any that was recorded after it. That this computation
 * asks for none of these says nothing: a later one may, and reads the value that this one made. */
static bool is_read_back(const struct part *p)
{
    const struct graph *g = &p->r->graph;
    for (uint32_t i = 0; p->scan->kept > 0 && i < g->scan_count; i++)
        if (g->scans[i].node > p->scan->node)
            return true;
    return false;
}

static tarn_status run_scan(struct part *p, const uint32_t *outputs, int count)
{
    list_all(p, outputs, count);
    TRY(compute(p));
    struct scan *now = &p->r->graph.scans[p->scan - p->r->graph.scans];
    now->unread = !is_read_back(p);
    now->blocked = loop_blocked_results(p->r, now);
    struct loop *l = calloc(1, sizeof *l);
    if (l == NULL)
        return error_set(TARN_ERR_MEMORY, "scan: out of host memory");
    l->scan = p->scan;
    find_operands(p, l);
    tarn_status s = plan_execute_loop(p->r, l);
    if (s == TARN_OK)
        s = graph_hold(p->r, p->scan->node, l->flat);
    else
        buffer_free(l->flat);
    free(l);
    return s;
}

/* ---- all ------------------------------------------------------------------------------------- */

static tarn_status run_all(struct part *p, const uint32_t *outputs, int count, bool effects)
{
    for (;;) {
        TRY(mark_needed(p, outputs, count, effects));
        p->scan = first_scan(p);
        if (p->scan == NULL)
            return TARN_OK;
        TRY(run_scan(p, outputs, count));
    }
}

tarn_status loops_run(tarn_replica *r, const uint32_t *outputs, int count, bool effects)
{
    const size_t n = r->graph.count;
    if (r->graph.in_body)
        return error_set(TARN_ERR_STATE, "scan: its body only records what one step computes: "
                                         "nothing can be read, evaluated or ended there");
    if (r->graph.scan_count == 0)
        return TARN_OK;
    bool *marks = calloc(4 * n + 1, sizeof *marks);
    struct part p = { .r = r, .list = calloc(n + 1, sizeof *p.list) };
    tarn_status s = TARN_OK;
    if (marks == NULL || p.list == NULL) {
        s = error_set(TARN_ERR_MEMORY, "scan: out of host memory");
    } else {
        p.needed = marks;
        p.before = marks + n;
        p.light = marks + 2 * n;
        p.listed = marks + 3 * n;
        s = run_all(&p, outputs, count, effects);
    }
    free(marks);
    free(p.list);
    return s;
}

tarn_status plan_execute(tarn_replica *r, const uint32_t *outputs, int count,
                         struct buffer **buffers, bool effects)
{
    for (int i = 0; i < count; i++)
        buffers[i] = NULL;
    TRY(loops_run(r, outputs, count, effects));
    return plan_execute_part(r, outputs, count, buffers, effects);
}
