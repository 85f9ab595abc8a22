/* SPDX-License-Identifier: Apache-2.0 */
/* Recording a scan: leaves of its body, what it captures, and where its results go in the flat value. */
#include "autograd/scan_parts.h"

#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "tensor/shape.h"

/* ---- leaves ---------------------------------------------------------------------------------- */

void scan_begin(struct scan_maker *m, tarn_replica *r, tarn_dtype dtype, uint32_t steps,
                bool reversed)
{
    memset(m, 0, sizeof *m);
    m->r = r;
    m->s.dtype = dtype;
    m->s.steps = steps;
    m->s.reversed = reversed;
    m->s.first = r->graph.count > 0 ? r->graph.count : 1; /* node 0 is poison */
    m->s.first_serial = r->graph.rand_count;
    r->graph.in_body = true;
}

static tarn_tensor leaf(struct scan_maker *m, tarn_tensor operand, tarn_shape shape,
                        enum spread label, uint32_t offset)
{
    tarn_replica *r = m->r;
    const uint32_t number = scan_operands(&m->s), of = graph_resolve(operand);
    if (!of || r->status != TARN_OK)
        return graph_poison(r);
    if (number == SCAN_MOST)
        return graph_fail(r, TARN_ERR_ARGUMENT, "scan%s: more than %d carries and inputs",
                          r->graph.backward ? "'s gradient" : "", SCAN_MOST);
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.leaf.slot = number;
    const tarn_dtype dtype = r->graph.nodes[of].dtype;
    const tarn_tensor t = graph_record(r, &op_scan_value, NULL, 0, shape, dtype, &arg);
    if (tarn_failed(t))
        return t;
    struct node *n = &r->graph.nodes[t.node];
    n->part = r->graph.nodes[of].part;
    n->other = r->graph.nodes[of].other;
    n->needs_grad = dtype_is_float(dtype);
    n->spread = has_shards(r) ? label : SPREAD_SAME;
    m->operand[number] = operand;
    m->s.value[number] = t.node;
    m->s.offset[number] = offset;
    return t;
}

/* A carry that begins with the same for all samples, or with a row for each, meets samples later. */
static enum spread carry_label(const tarn_replica *r, tarn_tensor first)
{
    const struct node *n = graph_node(first);
    const bool rows = n->shape.rank > 0 && graph_is_batch(&r->graph, n->shape.dim[0]);
    const enum spread s = (enum spread)n->spread;
    return rows && (s == SPREAD_ALIKE || s == SPREAD_EITHER) ? SPREAD_SAMPLES
           : s == SPREAD_PARTIAL || s == SPREAD_LINEAR       ? SPREAD_OWN
                                                             : s;
}

tarn_tensor scan_carry(struct scan_maker *m, tarn_tensor first, enum scan_room room)
{
    const tarn_tensor t = leaf(m, first, tarn_shape_get(first), carry_label(m->r, first), 0);
    m->s.room[m->s.carries] = room;
    m->s.carries += !tarn_failed(t);
    return t;
}

static tarn_shape over_steps(tarn_shape shape, uint32_t steps)
{
    memmove(shape.dim + 1, shape.dim, (TARN_MAX_RANK - 1) * sizeof shape.dim[0]);
    shape.dim[0] = (int32_t)steps;
    shape.rank++;
    return shape;
}

/* Under a mesh another loop's value is not read as it lies, which only that loop knows, but by its pieces. */
static bool is_mesh_loop(const tarn_replica *r, tarn_tensor operand)
{
    return replica_mesh(r) != NULL &&
           graph_origin(&r->graph, graph_resolve(operand))->op == &op_scan;
}

tarn_tensor scan_slice(struct scan_maker *m, const struct scan_slice *slice)
{
    tarn_tensor operand = slice->operand;
    uint32_t offset = slice->offset;
    if (!tarn_failed(operand) && is_mesh_loop(m->r, operand)) {
        operand =
            op_piece_of(operand, offset, over_steps(slice->shape, m->s.steps), slice->label, true);
        offset = 0;
    }
    const tarn_tensor t = leaf(m, operand, slice->shape, slice->label, offset);
    m->s.slices += !tarn_failed(t);
    return t;
}

/* ---- the end --------------------------------------------------------------------------------- */

static bool same_view(const struct graph *g, uint32_t a, uint32_t b)
{
    const struct node *x = &g->nodes[a], *y = &g->nodes[b];
    return a == b || (scan_base(g, a) != a && x->op == y->op && x->dtype == y->dtype &&
                      x->spread == y->spread && shape_equal(x->shape, y->shape) &&
                      memcmp(&x->arg, &y->arg, sizeof x->arg) == 0 &&
                      same_view(g, g->operands[x->first_in], g->operands[y->first_in]));
}

/* A layer that a body uses often makes the same view of a weight each time: `*node` becomes the first one. */
static bool capture(struct scan_maker *m, uint32_t *node)
{
    struct scan *s = &m->s;
    const struct graph *g = &m->r->graph;
    const uint32_t from = s->carries + s->slices, end = scan_operands(s);
    if (scan_is_cheap(&g->nodes[scan_base(g, *node)]))
        return true;
    for (uint32_t k = from; k < end; k++)
        if (same_view(g, s->value[k], *node)) {
            *node = s->value[k];
            return true;
        }
    if (end == SCAN_MOST) {
        graph_fail(
            m->r, TARN_ERR_ARGUMENT,
            "scan%s: more than %d carries, inputs and tensors from outside of the body: "
            "parameters, and in the gradient what is kept of a step; let a loop do less, or join "
            "small tensors",
            g->backward ? "'s gradient" : "", SCAN_MOST);
        return false;
    }
    s->value[end] = *node;
    m->operand[end] = graph_handle(m->r, *node);
    s->captures++;
    return true;
}

static bool check_body(tarn_replica *r, const struct node *n, bool differs)
{
    const bool writes = n->op->kind == OP_EFFECT, calls = n->op->kind == OP_HOST && differs;
    if (writes || calls)
        graph_fail(r, TARN_ERR_STATE,
                   "scan: the body %s; it may only compute: return what is to be %s as an output",
                   writes ? "assigns to a tensor" : "exchanges values with other replicas",
                   writes ? "assigned or kept" : "exchanged");
    return !writes && !calls;
}

static bool find_captures(struct scan_maker *m)
{
    struct graph *g = &m->r->graph;
    struct scan *s = &m->s;
    bool *variant = scan_variant(g, s), ok = variant != NULL;
    if (!ok)
        graph_fail(m->r, TARN_ERR_MEMORY, "scan: out of host memory");
    for (uint32_t i = s->first; ok && i < s->end; i++) {
        const struct node *n = &g->nodes[i];
        ok = check_body(m->r, n, variant[i - s->first]);
        for (uint32_t k = 0; ok && variant[i - s->first] && k < n->in_count; k++) {
            uint32_t *x = &g->operands[n->first_in + k];
            if (*x < s->first || !variant[*x - s->first])
                ok = capture(m, x);
        }
    }
    for (uint32_t k = 0; ok && k < s->results; k++)
        if (s->result[k] < s->first || !variant[s->result[k] - s->first])
            ok = capture(m, &s->result[k]);
    free(variant);
    return ok;
}

static uint32_t elements_of(const struct scan *s, const struct graph *g, uint32_t k)
{
    const uint64_t one = (uint64_t)tarn_shape_count(g->nodes[s->result[k]].shape);
    const uint64_t count = k >= s->carries          ? s->steps
                           : s->room[k] == ROOM_TWO ? 2
                                                    : (uint64_t)s->steps + 1;
    return one * count > INT32_MAX ? UINT32_MAX : (uint32_t)(one * count);
}

/* Where results lie. What is put out and is a carry too lies among the carry's values. */
static bool place_results(struct scan_maker *m)
{
    struct scan *s = &m->s;
    const struct graph *g = &m->r->graph;
    uint64_t at = 0;
    for (uint32_t k = 0; k < s->results; k++) {
        const uint32_t size = (uint32_t)tarn_shape_count(g->nodes[s->result[k]].shape);
        const int j = k >= s->carries ? scan_carry_of(s, k) : -1;
        s->place[k] = (uint32_t)at;
        if (j >= 0)
            s->place[k] = s->place[j] + (s->reversed ? 0 : size);
        else
            at += scan_room(elements_of(s, g, k));
        if (at > INT32_MAX) {
            graph_fail(m->r, TARN_ERR_SHAPE,
                       "scan: carries and outputs of all %u steps have more than 2^31 - 1 "
                       "elements",
                       (unsigned)s->steps);
            return false;
        }
    }
    s->elements = (uint32_t)at;
    return true;
}

static void check_labels(struct scan_maker *m)
{
    const struct graph *g = &m->r->graph;
    for (uint32_t j = 0; has_shards(m->r) && j < m->s.carries; j++) {
        const uint32_t before = g->nodes[m->s.value[j]].spread;
        const uint32_t after = g->nodes[m->s.result[j]].spread;
        m->s.own |= after != before && after != SPREAD_ALIKE;
    }
}

static bool list_results(struct scan_maker *m, const tarn_tensor *results, int count)
{
    if (count > SCAN_MOST) {
        graph_fail(m->r, TARN_ERR_ARGUMENT,
                   "scan%s: %d carries and outputs, at most %d are possible",
                   m->r->graph.backward ? "'s gradient" : "", count, SCAN_MOST);
        return false;
    }
    for (int k = 0; k < count; k++) {
        m->s.result[k] = graph_operand(m->r, results[k], "scan: a result", k);
        if (!m->s.result[k])
            return false;
    }
    m->s.results = (uint32_t)count;
    return true;
}

tarn_tensor scan_end(struct scan_maker *m, const tarn_tensor *results, int count)
{
    tarn_replica *r = m->r;
    struct graph *g = &r->graph;
    struct scan *s = &m->s;
    g->in_body = false;
    if (r->status != TARN_OK || !list_results(m, results, count))
        return graph_poison(r);
    if (s->end == 0)
        s->end = g->count;
    if (!find_captures(m) || !place_results(m))
        return graph_poison(r);
    check_labels(m);
    if (g->rand_count > s->first_serial) {
        s->serials = g->rand_count - s->first_serial;
        g->rand_count = s->first_serial + s->serials * s->steps;
    }
    s->node = g->count;
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    const uint64_t digest = XXH3_64bits(s, sizeof *s);
    memcpy(arg.scan.digest, &digest, sizeof digest);
    if (!graph_add_scan(r, s, &arg.scan.index))
        return graph_poison(r);
    return graph_record(r, &op_scan, m->operand, (int)scan_operands(s),
                        TARN_SHAPE((int32_t)s->elements), (tarn_dtype)s->dtype, &arg);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static enum spread result_label(const struct graph *g, const struct scan *s, uint32_t node)
{
    const enum spread label = (enum spread)g->nodes[node].spread;
    return s->own || label == SPREAD_PARTIAL || label == SPREAD_LINEAR ? SPREAD_OWN : label;
}

tarn_tensor scan_put_out(tarn_tensor flat, const struct scan *s, uint32_t k)
{
    if (tarn_failed(flat))
        return flat;
    const struct graph *g = &flat.replica->graph;
    const tarn_shape shape = g->nodes[s->result[k]].shape;
    const uint32_t size = (uint32_t)tarn_shape_count(shape);
    const uint32_t first = s->place[k] + (k < s->carries && !s->reversed ? size : 0);
    /* A carry is labelled as the leaf that stands for it. */
    const int j = k < s->carries ? (int)k : scan_carry_of(s, k);
    return op_piece_of(flat, first, over_steps(shape, s->steps),
                       result_label(g, s, j >= 0 ? s->value[j] : s->result[k]), true);
}

tarn_tensor scan_last(tarn_tensor flat, const struct scan *s, uint32_t j)
{
    if (tarn_failed(flat))
        return flat;
    const struct graph *g = &flat.replica->graph;
    const tarn_shape shape = g->nodes[s->value[j]].shape;
    const uint32_t size = (uint32_t)tarn_shape_count(shape);
    return op_piece_of(flat, s->place[j] + size * scan_slot(s, j, s->steps), shape,
                       result_label(g, s, s->value[j]), false);
}
