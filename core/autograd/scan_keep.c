/* SPDX-License-Identifier: Apache-2.0 */
/* What a loop stores so that its gradient computes no step anew. The gradient is asked for on trial, with seeds that
 * stand for what will come; what it reads of the step, down to what costs something, is kept, always or where that
 * pays. Nobody uses the nodes of the trial. */
#include <stdlib.h>
#include <string.h>

#include "autograd/scan_parts.h"
#include "tensor/shape.h"

struct trial {
    struct scan_maker *m;
    tarn_replica *r;
    bool *variant, *costly, *seen; /* of the body's nodes, twice; of all nodes */
    tarn_tensor *result;
    int count, most;
    uint32_t of[SCAN_MOST], with[2 * SCAN_MOST];
    tarn_tensor seed[SCAN_MOST], gradient[2 * SCAN_MOST];
    int asked, captures;
};

static bool varies(const struct trial *t, uint32_t node)
{
    const struct scan *s = &t->m->s;
    return node >= s->first && node < s->end && t->variant[node - s->first];
}

/* Asks for gradients of all that may have one: leaves of the body, and floats from outside. */
static void ask(struct trial *t)
{
    const struct scan *s = &t->m->s;
    const struct graph *g = &t->r->graph;
    for (uint32_t i = 0; i < s->carries + s->slices; i++)
        if (dtype_is_float(g->nodes[s->value[i]].dtype))
            t->with[t->asked++] = s->value[i];
    for (uint32_t i = s->first; i < s->end; i++)
        for (uint32_t k = 0; varies(t, i) && k < g->nodes[i].in_count; k++) {
            const uint32_t x = g->operands[g->nodes[i].first_in + k];
            bool known = varies(t, x) || !g->nodes[x].needs_grad;
            for (int a = 0; a < t->asked; a++)
                known |= t->with[a] == x;
            if (!known && t->asked < 2 * SCAN_MOST) {
                t->with[t->asked++] = x;
                t->captures++;
            }
        }
}

/* What will come for a result: a leaf that nobody fills. */
static tarn_tensor seed_for(struct trial *t, uint32_t node, int number)
{
    const struct node of = t->r->graph.nodes[node];
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.leaf.slot = SCAN_MOST + (uint32_t)number;
    const tarn_tensor leaf = graph_record(t->r, &op_scan_value, NULL, 0, of.shape, of.dtype, &arg);
    if (!tarn_failed(leaf)) {
        struct node *n = &t->r->graph.nodes[leaf.node];
        n->part = of.part;
        n->other = of.other;
        n->spread = of.spread;
    }
    return leaf;
}

static double size_of(const struct trial *t, uint32_t node)
{
    return (double)tarn_shape_count(t->r->graph.nodes[node].shape);
}

static bool costs(const struct op *op)
{
    switch (op->kind) {
    case OP_MAP:
        return op->heavy;
    case OP_REDUCE:
    case OP_CONTRACT:
    case OP_TRANSFORM:
    case OP_ROUTINE:
    case OP_COMPOSED:
        return true;
    case OP_LEAF:
    case OP_VIEW:
    case OP_GATHER:
    case OP_CONCAT:
    case OP_HOST:
    case OP_EFFECT:
        break;
    }
    return false;
}

/* Which nodes of the body cost, or are made of what does. */
static void mark_costly(struct trial *t)
{
    const struct scan *s = &t->m->s;
    const struct graph *g = &t->r->graph;
    for (uint32_t i = s->first; i < s->end; i++) {
        const struct node *n = graph_origin(g, i);
        bool costly = costs(n->op);
        for (uint32_t k = 0; k < n->in_count; k++)
            costly |= varies(t, g->operands[n->first_in + k]) &&
                      t->costly[g->operands[n->first_in + k] - s->first];
        t->costly[i - s->first] = costly && t->variant[i - s->first];
    }
}

/* Whether a node is a piece of something that costs: one of the gates of a product. */
static bool is_costly_piece(const struct trial *t, uint32_t node)
{
    const struct graph *g = &t->r->graph;
    bool smaller = false;
    for (; varies(t, node); node = g->operands[g->nodes[node].first_in]) {
        const struct node *n = graph_origin(g, node);
        if (n->op->kind != OP_VIEW)
            return smaller && t->costly[node - t->m->s.first];
        smaller |= size_of(t, node) < size_of(t, g->operands[n->first_in]);
    }
    return false;
}

/* A value of the step that the gradient reads: it is kept, or what it is made of. */
static void need(struct trial *t, uint32_t node)
{
    const struct graph *g = &t->r->graph;
    if (!varies(t, node) || t->seen[node])
        return;
    t->seen[node] = true;
    const struct node *n = graph_origin(g, node);
    const bool keeps = costs(n->op) || is_costly_piece(t, node);
    if (!keeps || n->dtype != t->m->s.dtype) {
        for (uint32_t k = 0; k < n->in_count; k++)
            need(t, g->operands[n->first_in + k]);
        return;
    }
    if (t->count < t->most)
        t->result[t->count++] = graph_handle(t->r, node);
}

/* All that a node of the trial is computed from. */
static void follow(struct trial *t, uint32_t node)
{
    const struct graph *g = &t->r->graph;
    if (node < t->m->s.end) {
        need(t, node);
        return;
    }
    if (t->seen[node])
        return;
    t->seen[node] = true;
    const struct node *n = graph_origin(g, node);
    for (uint32_t k = 0; k < n->in_count; k++)
        follow(t, g->operands[n->first_in + k]);
}

static void run(struct trial *t)
{
    const struct scan *s = &t->m->s;
    const int results = t->count;
    for (int k = 0; k < results; k++) {
        t->of[k] = graph_resolve(t->result[k]);
        t->seed[k] = seed_for(t, t->of[k], k);
    }
    ask(t);
    /* The loop of the gradient has a leaf for each of these, and for what will come. */
    t->most = SCAN_MOST - 2 * (int)(s->carries + s->slices) - results - 2 * t->captures;
    t->most = t->most > 0 ? results + t->most / 2 : results;
    t->most = t->most < SCAN_MOST - (int)s->carries ? t->most : SCAN_MOST - (int)s->carries;
    const struct pull pull = { s->first, t->of, t->seed, results, t->with, t->gradient, t->asked };
    if (t->r->status != TARN_OK || !autograd_pull(t->r, &pull))
        return;
    t->seen = calloc(t->r->graph.count, sizeof *t->seen);
    t->costly = calloc(s->end - s->first + 1, sizeof *t->costly);
    if (t->seen == NULL || t->costly == NULL) {
        graph_fail(t->r, TARN_ERR_MEMORY, "scan: out of host memory");
        return;
    }
    mark_costly(t);
    for (int a = 0; a < t->asked; a++)
        if (t->gradient[a].replica != NULL)
            follow(t, graph_resolve(t->gradient[a]));
}

/* ---- whether it pays ------------------------------------------------------------------------- */

/* What a function of an element costs in additions, roughly. */
#define FUNCTION_WORK 32
/* Additions and multiplications in the time of a byte that is stored and read again: 8 to 20 on cores as on GPUs,
 * where the memory is that of the device. */
#define WORK_PER_BYTE 16

static double work_of(const struct trial *t, uint32_t node)
{
    const struct graph *g = &t->r->graph;
    const struct node *n = graph_origin(g, node);
    const uint32_t *in = &g->operands[n->first_in];
    struct contract c;
    double work = 2;
    if (!costs(n->op))
        return 0;
    if (n->op->kind != OP_CONTRACT)
        return size_of(t, n->in_count > 0 ? in[0] : node) *
               (n->op->kind == OP_REDUCE ? 1 : FUNCTION_WORK);
    memset(&c, 0, sizeof c);
    n->op->contract(n, (tarn_shape[2]){ g->nodes[in[0]].shape, g->nodes[in[1]].shape }, &c);
    for (int a = 0; a < c.axes; a++)
        work *= c.extent[a];
    return work;
}

/* What need not be computed anew when a node is kept, and was not counted before. */
static double work_below(struct trial *t, uint32_t node)
{
    const struct graph *g = &t->r->graph;
    const struct node *n = graph_origin(g, node);
    if (!varies(t, node) || t->seen[node])
        return 0;
    t->seen[node] = true;
    double work = work_of(t, node);
    for (uint32_t k = 0; k < n->in_count; k++)
        work += work_below(t, g->operands[n->first_in + k]);
    return work;
}

/* Whether computing takes longer than storing, which at most doubles what the loop and its gradient have of each step:
 * carries, slices, outputs, and the gradients of all these. */
static bool pays(struct trial *t, int results)
{
    const struct scan *s = &t->m->s;
    double work = 0, more = 0, there = 0;
    memset(t->seen, 0, t->r->graph.count * sizeof *t->seen);
    for (int k = results; k < t->count; k++) {
        more += size_of(t, graph_resolve(t->result[k]));
        work += work_below(t, graph_resolve(t->result[k]));
    }
    for (uint32_t i = 0; i < s->carries + s->slices; i++)
        there += 2 * size_of(t, s->value[i]);
    for (int k = (int)s->carries; k < results; k++)
        there += 2 * size_of(t, graph_resolve(t->result[k]));
    return more <= there && work >= WORK_PER_BYTE * (double)scan_element_bytes(s) * more;
}

#define LARGEST_BODY 4096u /* nodes: the trial goes through them by recursion */

/* Whether a gradient of the body can be asked for: nobody is told of an error who asks for none. */
static bool has_gradient(const struct scan_maker *m, const bool *variant)
{
    const struct graph *g = &m->r->graph;
    if (m->s.end - m->s.first > LARGEST_BODY)
        return false;
    for (uint32_t i = m->s.first; i < m->s.end; i++) {
        const struct node *n = graph_origin(g, i);
        bool fits = n->op->grad != NULL || n->op->kind == OP_LEAF;
        for (uint32_t k = 0; k < n->in_count; k++)
            fits &= !dtype_is_half(g->nodes[g->operands[n->first_in + k]].dtype);
        if (variant[i - m->s.first] && !fits)
            return false;
    }
    return true;
}

int scan_keep(struct scan_maker *m, tarn_tensor *result, int count, bool always)
{
    struct trial *t = calloc(1, sizeof *t);
    m->s.end = m->r->graph.count;
    bool *variant = scan_variant(&m->r->graph, &m->s);
    if (t == NULL || variant == NULL) {
        graph_fail(m->r, TARN_ERR_MEMORY, "scan: out of host memory");
    } else if (always || has_gradient(m, variant)) {
        *t = (struct trial){
            .m = m, .r = m->r, .variant = variant, .result = result, .count = count
        };
        run(t);
        if (always || (t->costly != NULL && t->r->status == TARN_OK && pays(t, count))) {
            m->s.kept = (uint32_t)(t->count - count);
            count = t->count;
        }
        free(t->seen);
        free(t->costly);
    }
    free(variant);
    free(t);
    return count;
}
