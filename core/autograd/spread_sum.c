/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over all replicas with virtual shards: partial sums are exchanged first, and what is a
 * linear function of them is computed afterwards, of the sums, so that it rounds alike on any
 * number of devices. */
#include <stdlib.h>
#include <string.h>

#include "op/op.h"

#define LISTED 2 /* of `needed` */

bool spread_walk_begin(tarn_replica *r, struct spread_walk *w)
{
    const size_t n = (size_t)r->graph.count + 1;
    *w = (struct spread_walk){ .r = r,
                               .total = calloc(n, sizeof *w->total),
                               .needed = calloc(n, 1),
                               .count = r->graph.count };
    if (w->total != NULL && w->needed != NULL)
        return true;
    spread_walk_end(w);
    graph_fail(r, TARN_ERR_MEMORY, "all_reduce: out of host memory");
    return false;
}

void spread_walk_end(struct spread_walk *w)
{
    free(w->total);
    free(w->needed);
}

static enum spread label(const struct spread_walk *w, uint32_t node)
{
    return (enum spread)w->r->graph.nodes[node].spread;
}

static uint32_t operand(const struct graph *g, const struct node *n, uint32_t k)
{
    return g->operands[n->first_in + k];
}

/* Operands come before their node: one pass down finds all that a node is made of. */
uint32_t spread_walk_sources(struct spread_walk *w, uint32_t x, uint32_t *list)
{
    const struct graph *g = &w->r->graph;
    uint32_t found = 0;
    if (!w->needed[x])
        w->needed[x] = 1;
    for (uint32_t i = x; i > 0; i--) {
        if (!w->needed[i] || w->total[i])
            continue;
        const struct node *n = graph_origin(g, i);
        if (label(w, i) == SPREAD_PARTIAL && !(w->needed[i] & LISTED)) {
            w->needed[i] |= LISTED;
            list[found++] = i;
        }
        for (uint32_t k = 0; label(w, i) == SPREAD_LINEAR && k < n->in_count; k++) {
            const enum spread s = label(w, operand(g, n, k));
            if (s == SPREAD_PARTIAL || s == SPREAD_LINEAR)
                w->needed[operand(g, n, k)] |= 1;
        }
    }
    return found;
}

/* What each replica has of its own: as often as there are replicas. */
static tarn_tensor from_each(tarn_tensor x)
{
    const struct node *n = graph_node(x);
    if (node_is_zero(n))
        return x;
    return tarn_mul(x, op_constant_of(x.replica, TARN_SCALAR, n->dtype, x.replica->peers->world));
}

/* The node of a linear op again, over the sums of its operands. */
static tarn_tensor again(struct spread_walk *w, uint32_t node)
{
    const struct graph *g = &w->r->graph;
    const struct node n = *graph_origin(g, node);
    const unsigned adds = spread_adds(n.op);
    tarn_tensor in[SCAN_MOST];
    for (uint32_t k = 0; k < n.in_count; k++) {
        const uint32_t x = operand(g, &n, k);
        in[k] = graph_handle(w->r, w->total[x] ? w->total[x] : x);
        if (!w->total[x] && adds >> (k < 31 ? k : 31) & 1)
            in[k] = from_each(in[k]);
    }
    return graph_record(w->r, n.op, in, (int)n.in_count, n.shape, n.dtype, &n.arg);
}

tarn_tensor spread_walk_total(struct spread_walk *w, uint32_t x)
{
    for (uint32_t i = 1; i <= x; i++)
        if (w->needed[i] && !w->total[i] && label(w, i) == SPREAD_LINEAR)
            w->total[i] = again(w, i).node;
    return w->total[x] ? graph_handle(w->r, w->total[x]) : from_each(graph_handle(w->r, x));
}

tarn_tensor spread_sum(tarn_tensor x, spread_sum_fn sum, void *user)
{
    tarn_replica *r = x.replica;
    struct spread_walk w;
    const uint32_t node = graph_resolve(x);
    if (!node)
        return graph_poison(r);
    const enum spread s = (enum spread)r->graph.nodes[node].spread;
    if (r->peers->world == 1)
        return spread_as(x, s == SPREAD_PARTIAL || s == SPREAD_LINEAR ? SPREAD_SAME : s);
    if (s == SPREAD_SAMPLES || s == SPREAD_EITHER || s == SPREAD_OWN)
        return spread_as(sum(x, user), SPREAD_OWN);
    uint32_t *list = calloc((size_t)node + 1, sizeof *list);
    if (list == NULL)
        return graph_fail(r, TARN_ERR_MEMORY, "all_reduce: out of host memory");
    tarn_tensor total = graph_poison(r);
    if (spread_walk_begin(r, &w)) {
        const uint32_t count = spread_walk_sources(&w, node, list);
        for (uint32_t i = 0; i < count; i++)
            w.total[list[i]] = sum(graph_handle(r, list[i]), user).node;
        total = spread_walk_total(&w, node);
        spread_walk_end(&w);
    }
    free(list);
    return total;
}
