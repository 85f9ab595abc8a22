/* SPDX-License-Identifier: Apache-2.0 */
/* Steps with loops. A loop needs whole values, and others need all of it: so what is asked of the graph is
 * computed in parts, each a plan: what a loop needs, and what besides is needed again later; the loop; and so
 * on, and then the rest. What a part leaves becomes leaves of the graph. In: a graph with scans. Out: a
 * graph whose scans are leaves. */
#include "run/loop.h"

#include <stdlib.h>
#include <string.h>

#include "run/parts.h"
#include "run/plan_cache.h"
#include "tensor/part.h"

/* NULL: there is none among what is asked for. */
static const struct scan *first_scan(const struct parts *p)
{
    const struct graph *g = &p->r->graph;
    for (uint32_t i = 1; i < g->count; i++)
        if (p->needed[i] && g->nodes[i].op == &op_scan)
            return &g->scans[g->nodes[i].arg.scan.index];
    return NULL;
}

/* ---- what comes before a loop ---------------------------------------------------------------- */

/* The node in memory that operand k is read from. */
static uint32_t operand_node(const tarn_replica *r, const struct scan *s, uint32_t k)
{
    const struct graph *g = &r->graph;
    const uint32_t node = g->operands[g->nodes[s->node].first_in + k];
    return k < s->carries + s->slices ? node : scan_base(g, node);
}

static void list_all(struct parts *p, const struct scan *s)
{
    const struct graph *g = &p->r->graph;
    parts_begin(p);
    for (uint32_t k = 0; k < scan_operands(s); k++) {
        const uint32_t node = operand_node(p->r, s, k);
        if (k >= s->carries || !node_is_zero(&g->nodes[node]))
            parts_list(p, node);
    }
    p->before[s->node] = true;
    parts_list_crossing(p, s->node);
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

static void find_operands(tarn_replica *r, struct loop *l)
{
    for (uint32_t k = 0; k < scan_operands(l->scan); k++) {
        l->node[k] = operand_node(r, l->scan, k);
        if (k >= l->scan->carries || !node_is_zero(&r->graph.nodes[l->node[k]]))
            l->at[k] = place_of(r, l->node[k]);
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
static bool is_read_back(const struct graph *g, const struct scan *s)
{
    for (uint32_t i = 0; s->kept > 0 && i < g->scan_count; i++)
        if (g->scans[i].node > s->node)
            return true;
    return false;
}

static tarn_status run_scan(struct parts *p, const struct scan *s)
{
    tarn_replica *r = p->r;
    list_all(p, s);
    TRY(parts_compute(p));
    struct scan *now = &r->graph.scans[s - r->graph.scans];
    now->unread = !is_read_back(&r->graph, now);
    now->blocked = loop_blocked_results(r, now);
    struct loop *l = calloc(1, sizeof *l);
    if (l == NULL)
        return error_set(TARN_ERR_MEMORY, "scan: out of host memory");
    l->scan = s;
    find_operands(r, l);
    tarn_status status = plan_execute_loop(r, l);
    if (status == TARN_OK)
        status = graph_hold(r, s->node, l->flat);
    else
        buffer_free(l->flat);
    free(l);
    return status;
}

/* ---- all ------------------------------------------------------------------------------------- */

static tarn_status run_all(struct parts *p)
{
    for (;;) {
        TRY(parts_need(p));
        const struct scan *s = first_scan(p);
        if (s == NULL)
            return TARN_OK;
        TRY(run_scan(p, s));
    }
}

tarn_status loops_run(tarn_replica *r, const uint32_t *outputs, int count, bool effects)
{
    if (r->graph.in_body)
        return error_set(TARN_ERR_STATE, "scan: its body only records what one step computes: "
                                         "nothing can be read, evaluated or ended there");
    if (r->graph.scan_count == 0)
        return TARN_OK;
    return parts_do(r, outputs, count, effects, run_all);
}

tarn_status plan_execute(tarn_replica *r, const uint32_t *outputs, int count,
                         struct buffer **buffers, bool effects)
{
    for (int i = 0; i < count; i++)
        buffers[i] = NULL;
    TRY(wide_run(r, outputs, count, effects));
    TRY(loops_run(r, outputs, count, effects));
    if (r->graph.scan_count > 0)
        TRY(wide_run(r, outputs, count, effects));
    return plan_execute_part(r, outputs, count, buffers, effects);
}
