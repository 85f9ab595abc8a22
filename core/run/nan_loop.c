/* SPDX-License-Identifier: Apache-2.0 */
/* Into a loop. In: a scan that ran, and whose flat value is not finite: in it lie carries and outputs of all steps.
 * Out: the first step of which something is not finite, and its body as nodes of the graph, that read what it began
 * with; so that they can be computed op by op like any others. */
#include "run/nan_loop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run/loop.h"
#include "tensor/replica.h"

struct looker {
    tarn_replica *r;
    const struct scan *s;
    char *flat;
    uint32_t step,
        *copy; /* of the body's nodes, from s->first on: what stands for them; 0: themselves */
};

static size_t elements_of(const struct looker *l, uint32_t node)
{
    return (size_t)tarn_shape_count(l->r->graph.nodes[node].shape);
}

/* ---- which step ------------------------------------------------------------------------------- */

/* Where result k of the current step lies in the flat value; false where it lies no more, or with a carry. */
static bool place_of_result(const struct looker *l, uint32_t k, size_t *at)
{
    const struct scan *s = l->s;
    const size_t count = elements_of(l, s->result[k]);
    if (k < s->carries) {
        *at = s->place[k] + count * scan_slot(s, k, l->step + 1);
        return s->room[k] == ROOM_ALL;
    }
    *at = s->place[k] + count * scan_time(s, l->step);
    return scan_carry_of(s, k) < 0;
}

static const char *element(const struct looker *l, size_t at)
{
    return l->flat + at * scan_element_bytes(l->s);
}

static bool is_finite(const struct looker *l, size_t at)
{
    float value;
    double wide;
    memcpy(&value, element(l, at), sizeof value);
    if (l->s->dtype != TARN_F64)
        return isfinite(value);
    memcpy(&wide, element(l, at), sizeof wide);
    return isfinite(wide);
}

static bool is_wrong(const struct looker *l)
{
    for (uint32_t k = 0; k < l->s->results; k++) {
        size_t at;
        const size_t count = elements_of(l, l->s->result[k]);
        for (size_t i = 0; place_of_result(l, k, &at) && i < count; i++)
            if (!is_finite(l, at + i))
                return true;
    }
    return false;
}

/* What the loop was between is needed for all carries. */
static bool find_step(struct looker *l)
{
    for (uint32_t k = 0; k < l->s->carries; k++)
        if (l->s->room[k] != ROOM_ALL)
            return false;
    for (l->step = 0; l->step < l->s->steps; l->step++)
        if (is_wrong(l))
            return true;
    return false;
}

/* ---- its body once more ----------------------------------------------------------------------- */

static void stand_in(struct looker *l, uint32_t leaf, const void *data)
{
    const struct node n = l->r->graph.nodes[leaf];
    l->copy[leaf - l->s->first] = tarn_from(l->r, n.shape, (tarn_dtype)n.dtype, data).node;
}

static tarn_status stand_in_slice(struct looker *l, uint32_t slot, const char *data)
{
    const struct node *n = &l->r->graph.nodes[l->s->value[slot]];
    const struct scan_bits blocked = loop_blocked_slots(l->r, l->s);
    if (!scan_bit(&blocked, slot)) {
        stand_in(l, l->s->value[slot], data);
        return TARN_OK;
    }
    char *rows = malloc(node_bytes(n) + 1);
    if (rows == NULL)
        return error_set(TARN_ERR_MEMORY, "TARN_DEBUG=nan: out of host memory");
    loop_rows_of_blocks(n->shape, tarn_dtype_bytes((tarn_dtype)n->dtype), data, rows);
    stand_in(l, l->s->value[slot], rows);
    free(rows);
    return TARN_OK;
}

/* Leaves for carries and slices; captured operands are themselves. */
static tarn_status begin_step(struct looker *l)
{
    const struct scan *s = l->s;
    for (uint32_t k = 0; k < s->carries; k++)
        stand_in(l, s->value[k],
                 element(l, s->place[k] + elements_of(l, s->value[k]) * scan_slot(s, k, l->step)));
    for (uint32_t k = s->carries; k < s->carries + s->slices; k++) {
        const struct graph *g = &l->r->graph;
        const uint32_t from = g->operands[graph_origin(g, s->node)->first_in + k];
        const size_t bytes = node_bytes(&g->nodes[from]), each = node_bytes(&g->nodes[s->value[k]]);
        const size_t begin = s->offset[k] * tarn_dtype_bytes((tarn_dtype)g->nodes[from].dtype);
        char *all = malloc(bytes + 1);
        if (all == NULL)
            return error_set(TARN_ERR_MEMORY, "TARN_DEBUG=nan: out of host memory");
        tarn_status status = tarn_read(graph_handle(l->r, from), all, bytes);
        if (status == TARN_OK)
            status = stand_in_slice(l, k, all + begin + each * scan_time(s, l->step));
        free(all);
        TRY(status);
    }
    return TARN_OK;
}

static uint32_t stands_for(const struct looker *l, uint32_t node)
{
    const bool copied = node >= l->s->first && node < l->s->end && l->copy[node - l->s->first] != 0;
    return copied ? l->copy[node - l->s->first] : node;
}

static void copy_node(struct looker *l, uint32_t node)
{
    tarn_tensor in[SCAN_MOST];
    struct node n = *graph_origin(&l->r->graph, node);
    for (uint32_t k = 0; k < n.in_count; k++)
        in[k] = graph_handle(l->r, stands_for(l, l->r->graph.operands[n.first_in + k]));
    if (n.op == &op_rand)
        n.arg.position.serial += l->s->serials * scan_time(l->s, l->step);
    l->copy[node - l->s->first] =
        graph_record(l->r, n.op, in, (int)n.in_count, n.shape, (tarn_dtype)n.dtype, &n.arg).node;
}

static tarn_status copy_body(struct looker *l, const bool *variant, struct nan_step *out)
{
    TRY(begin_step(l));
    for (uint32_t i = l->s->first; i < l->s->end; i++)
        if (variant[i - l->s->first] && l->copy[i - l->s->first] == 0)
            copy_node(l, i);
    TRY(l->r->status);
    out->number = l->step;
    out->steps = l->s->steps;
    for (uint32_t k = 0; k < l->s->results; k++)
        out->result[out->count++] = stands_for(l, l->s->result[k]);
    return TARN_OK;
}

tarn_status nan_step_of(tarn_replica *r, const struct scan *s, struct nan_step *out)
{
    struct looker l = { .r = r, .s = s };
    const size_t bytes = node_bytes(&r->graph.nodes[s->node]);
    bool *variant = scan_variant(&r->graph, s);
    l.flat = malloc(bytes + 1);
    l.copy = calloc((size_t)(s->end - s->first) + 1, sizeof *l.copy);
    *out = (struct nan_step){ .count = 0 };
    tarn_status status = l.flat != NULL && l.copy != NULL && variant != NULL
                             ? tarn_read(graph_handle(r, s->node), l.flat, bytes)
                             : error_set(TARN_ERR_MEMORY, "TARN_DEBUG=nan: out of host memory");
    if (status == TARN_OK && find_step(&l))
        status = copy_body(&l, variant, out);
    free(variant);
    free(l.copy);
    free(l.flat);
    return status;
}
