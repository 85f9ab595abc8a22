/* SPDX-License-Identifier: Apache-2.0 */
/* Values that are computed again in the backward part instead of kept. In: regions of the graph that the program
 * marked, and the gradient with which the walk back comes to one. Out: the region's nodes once more. Those that would
 * equal the first ones read what is outside through an `after` of that gradient: so the compiler keeps them apart, and
 * computes them no sooner. Random numbers are leaves that know their position, and so are the same again. */
#include "autograd/recompute.h"

#include <stdlib.h>

#include "op/op.h"
#include "tensor/scan.h"

/* ---- marks ----------------------------------------------------------------------------------- */

static bool may_mark(tarn_replica *r, const char *name, bool open)
{
    if (r == NULL) {
        error_set(TARN_ERR_ARGUMENT, "%s: the replica is NULL", name);
        return false;
    }
    if (r->status != TARN_OK)
        return false;
    if (r->graph.in_body)
        graph_fail(r, TARN_ERR_STATE,
                   "%s: in the body of a scan, whose steps are computed again unless it keeps them "
                   "(tarn_scan_args)",
                   name);
    else if (r->graph.in_region != open)
        graph_fail(r, TARN_ERR_STATE,
                   open ? "%s: there is no region: call tarn_recompute_begin() before"
                        : "%s: the last region is not over: call tarn_recompute_end() before",
                   name);
    return r->status == TARN_OK;
}

void tarn_recompute_begin(tarn_replica *r)
{
    if (!may_mark(r, "recompute_begin", false))
        return;
    r->graph.in_region = graph_begin_region(r);
}

void tarn_recompute_end(tarn_replica *r)
{
    if (!may_mark(r, "recompute_end", true))
        return;
    r->graph.in_region = false;
    r->graph.regions[r->graph.region_count - 1].end = r->graph.count;
}

void tarn_recompute_budget(tarn_replica *r, size_t bytes)
{
    if (r == NULL)
        error_set(TARN_ERR_ARGUMENT, "recompute_budget: the replica is NULL");
    else
        r->recompute_bytes = bytes;
}

/* ---- once more ------------------------------------------------------------------------------- */

bool again_begin(tarn_replica *r, uint32_t last, struct again *a)
{
    *a = (struct again){ .done = r->graph.region_count };
    if (r->graph.in_region) {
        graph_fail(r, TARN_ERR_STATE,
                   "backward: a region of tarn_recompute_begin() is not over: call "
                   "tarn_recompute_end() before");
        return false;
    }
    if (r->graph.region_count == 0)
        return true;
    a->node = calloc((size_t)last + 1, sizeof *a->node);
    a->count = a->node != NULL ? last + 1 : 0;
    if (a->node == NULL)
        graph_fail(r, TARN_ERR_MEMORY, "backward: out of host memory");
    return a->node != NULL;
}

void again_end(struct again *a)
{
    free(a->node);
}

/* What is in memory anyway, is no value, or was exchanged with others. Loops compute their steps again themselves. */
static bool stays(const struct graph *g, uint32_t node)
{
    const struct node *n = &g->nodes[node];
    if (n->op->kind == OP_LEAF || n->op->kind == OP_EFFECT || n->op->kind == OP_HOST ||
        n->op == &op_scan || n->op == &op_piece)
        return true;
    for (uint32_t i = 0; i < g->scan_count; i++)
        if (node >= g->scans[i].first && node < g->scans[i].end)
            return true;
    return false;
}

/* Whether reading it makes a difference between two nodes that are alike. Sums over samples are told from other
 * values by what they are computed of, and are small. */
static bool may_wait(const struct node *n)
{
    return !scan_is_cheap(n) && n->spread != SPREAD_PARTIAL && n->spread != SPREAD_LINEAR;
}

struct copier {
    tarn_replica *r;
    struct again *a;
    tarn_tensor gradient;
    uint32_t region; /* its number, from 1 on */
    uint32_t *apart; /* of nodes outside: behind an `after`, or 0 */
};

static uint32_t behind(struct copier *c, uint32_t node)
{
    if (c->apart[node] == 0)
        c->apart[node] = op_after_of(graph_handle(c->r, node), c->gradient, c->region).node;
    return c->apart[node];
}

/* The operands of a node, the computed ones behind the gradient; whether any is. A node of leaves alone has one of
 * them behind it, the last: of a table's rows that is their index. */
static void operands_again(struct copier *c, const struct node *n, tarn_tensor *in)
{
    const struct graph *g = &c->r->graph;
    bool apart = n->op->kind == OP_VIEW;
    for (uint32_t k = 0; k < n->in_count; k++) {
        const uint32_t x = g->operands[n->first_in + k];
        const struct node *from = &g->nodes[x];
        const bool copied = x < c->a->count && c->a->node[x] != 0;
        const bool waits = !copied && from->op->kind != OP_LEAF && may_wait(from);
        in[k] = graph_handle(c->r, copied ? c->a->node[x] : waits ? behind(c, x) : x);
        apart |= copied || waits;
    }
    for (uint32_t k = n->in_count; !apart && k-- > 0;) {
        const uint32_t x = g->operands[n->first_in + k];
        apart = may_wait(&g->nodes[x]);
        if (apart)
            in[k] = graph_handle(c->r, behind(c, x));
    }
}

static void copy(struct copier *c, uint32_t node)
{
    tarn_tensor in[SCAN_MOST];
    tarn_replica *r = c->r;
    const struct node n = r->graph.nodes[node];
    operands_again(c, &n, in);
    const tarn_tensor made = graph_record(r, n.op, in, (int)n.in_count, n.shape, n.dtype, &n.arg);
    if (tarn_failed(made))
        return;
    struct node *same = &r->graph.nodes[made.node];
    same->part = n.part;
    same->other = n.other;
    same->rounded = n.rounded;
    same->spread = n.spread;
    c->a->node[node] = made.node;
}

static void copy_region(tarn_replica *r, struct again *a, uint32_t number, uint32_t gradient)
{
    struct copier c = {
        .r = r, .a = a, .gradient = graph_handle(r, gradient), .region = number + 1
    };
    const struct graph_region region = r->graph.regions[number];
    const uint32_t end = region.end < a->count ? region.end : a->count;
    c.apart = calloc(a->count, sizeof *c.apart);
    if (c.apart == NULL)
        graph_fail(r, TARN_ERR_MEMORY, "backward: out of host memory");
    for (uint32_t i = region.first; c.apart != NULL && i < end && r->status == TARN_OK; i++)
        if (!stays(&r->graph, i))
            copy(&c, i);
    free(c.apart);
}

void again_reach(tarn_replica *r, struct again *a, uint32_t node, uint32_t gradient)
{
    while (a->done > 0 && node < r->graph.regions[a->done - 1].first)
        a->done--;
    if (a->done == 0 || a->node == NULL)
        return;
    if (node < r->graph.regions[a->done - 1].end)
        copy_region(r, a, --a->done, gradient);
}
