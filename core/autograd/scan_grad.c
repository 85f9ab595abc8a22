/* SPDX-License-Identifier: Apache-2.0 */
/* The gradient of a scan: another scan, from the last step to the first. Its body computes the step anew
 * from the carries that were kept, and goes back through it. A matrix that all steps multiply by gets its
 * gradient afterwards, as one product over all steps; what else the body captures has its gradient added
 * up in a carry. */
#include <stdlib.h>
#include <string.h>

#include "autograd/scan_parts.h"
#include "tensor/shape.h"

#define GIVEN_MOST (4 * SCAN_MOST)

/* A gradient that came to a piece of the flat value. */
struct given {
    uint32_t first;
    enum spread label;
    tarn_tensor g;
};

/* A product with a captured matrix: `node` of the body, and which capture. */
struct tap {
    uint32_t node, left;
    int capture;
    bool transposed;
    int put_node, put_left; /* results of the backward body; -1: none */
};

struct back {
    struct grad_call *c;
    tarn_replica *r;
    struct scan s;    /* the scan that is differentiated */
    tarn_dtype dtype; /* of the scan that computes the gradient */
    bool *variant;
    struct given given[GIVEN_MOST];
    int given_count;
    struct tap taps[SCAN_MOST];
    int tap_count;
    bool tapped[SCAN_MOST];
    int sum_of[SCAN_MOST]; /* of captures: the carry that adds them up, or -1 */
    uint32_t *replayed;    /* nodes of the body -> nodes of the backward body */
    tarn_tensor
        before[SCAN_MOST]; /* leaves of the backward body: carries before the step, slices */
    tarn_tensor carried[SCAN_MOST]; /* gradients that are carried */
    tarn_tensor given_leaf[GIVEN_MOST];
    tarn_tensor kept[SCAN_MOST]; /* leaves for the last results of the scan */
    tarn_tensor result[4 * SCAN_MOST];
    int results;
    int put_slice[SCAN_MOST];
    struct scan_maker m;
};

/* ---- what came ------------------------------------------------------------------------------- */

static bool add_given(struct back *b, uint32_t node)
{
    const struct graph *g = &b->r->graph;
    const struct node *n = graph_origin(g, node);
    if (n->op != &op_place || b->given_count == GIVEN_MOST) {
        graph_fail(b->r, TARN_ERR_INTERNAL, "scan: a gradient that is no piece of its value");
        return false;
    }
    b->given[b->given_count++] =
        (struct given){ n->arg.piece.first, (enum spread)n->arg.piece.label,
                        graph_handle(b->r, g->operands[n->first_in]) };
    return true;
}

/* The gradient is a sum of pieces in their places. */
static bool find_given(struct back *b)
{
    const struct graph *g = &b->r->graph;
    uint32_t node = graph_resolve(b->c->g);
    for (const struct node *n; (n = graph_origin(g, node))->op == &op_add;) {
        if (!add_given(b, g->operands[n->first_in + 1]))
            return false;
        node = g->operands[n->first_in];
    }
    return add_given(b, node);
}

static tarn_shape shape_of(const struct back *b, uint32_t node)
{
    return b->r->graph.nodes[node].shape;
}

static uint32_t size_of(const struct back *b, uint32_t node)
{
    return (uint32_t)tarn_shape_count(shape_of(b, node));
}

enum meaning { OF_OTHER, OF_RESULT, OF_BEFORE, OF_LAST };

/* What a given gradient is of, for result k: of what each step put out, of the carry before each step,
 * or of its last value. */
static enum meaning meaning_of(const struct back *b, const struct given *e, uint32_t k)
{
    const struct scan *s = &b->s;
    const uint32_t size = size_of(b, s->result[k]), place = s->place[k];
    const uint32_t count = (uint32_t)tarn_shape_count(tarn_shape_get(e->g));
    if (k >= s->carries)
        return scan_carry_of(s, k) < 0 && e->first == place ? OF_RESULT : OF_OTHER;
    if (s->room[k] == ROOM_ALL && count == s->steps * size) {
        if (e->first == place + (s->reversed ? 0 : size))
            return OF_RESULT;
        if (e->first == place + (s->reversed ? size : 0))
            return OF_BEFORE;
    }
    return e->first == place + size * scan_slot(s, k, s->steps) && count == size ? OF_LAST
                                                                                 : OF_OTHER;
}

static enum spread slice_label(const struct given *e)
{
    const enum spread s = (enum spread)graph_node(e->g)->spread;
    const bool plain = s == SPREAD_SAME || s == SPREAD_ALIKE;
    switch (e->label) {
    case SPREAD_SAMPLES:
    case SPREAD_EITHER:
    case SPREAD_ALIKE:
        return s == SPREAD_PARTIAL || s == SPREAD_LINEAR ? SPREAD_OWN : s;
    case SPREAD_SAME:
        return plain ? SPREAD_SAME : SPREAD_OWN;
    case SPREAD_PARTIAL:
    case SPREAD_LINEAR:
    case SPREAD_OWN:
        break;
    }
    return SPREAD_OWN;
}

/* ---- captured tensors ------------------------------------------------------------------------ */

static bool is_variant(const struct back *b, uint32_t node)
{
    return node >= b->s.first && node < b->s.end && b->variant[node - b->s.first];
}

/* Whether a node is a product of rows with the captured matrix. */
static bool multiplies(const struct back *b, const struct node *n, uint32_t matrix)
{
    const struct graph *g = &b->r->graph;
    return n->op == &op_matmul && n->shape.rank == 2 && n->arg.matmul.transpose[0] == 0 &&
           g->operands[n->first_in + 1] == matrix && is_variant(b, g->operands[n->first_in]);
}

/* Whether all uses of a capture are such products, which are appended to the taps. */
static bool tap_all(struct back *b, int capture)
{
    const struct graph *g = &b->r->graph;
    const struct scan *s = &b->s;
    const uint32_t matrix = s->value[s->carries + s->slices + (uint32_t)capture];
    const int before = b->tap_count;
    bool all = true;
    for (uint32_t k = 0; k < s->results; k++)
        all &= s->result[k] != matrix;
    for (uint32_t i = s->first; all && i < s->end; i++) {
        const struct node *n = graph_origin(g, i);
        bool uses = false;
        for (uint32_t k = 0; b->variant[i - s->first] && k < n->in_count; k++)
            uses |= g->operands[n->first_in + k] == matrix;
        if (!uses)
            continue;
        all = multiplies(b, n, matrix) && b->tap_count < SCAN_MOST;
        if (all)
            b->taps[b->tap_count++] = (struct tap){ .node = i,
                                                    .left = g->operands[n->first_in],
                                                    .capture = capture,
                                                    .transposed = n->arg.matmul.transpose[1] != 0 };
    }
    if (!all)
        b->tap_count = before;
    return all;
}

static bool wants_capture(const struct back *b, uint32_t k)
{
    return b->c->wanted[b->s.carries + b->s.slices + k];
}

/* ---- the backward body ----------------------------------------------------------------------- */

static tarn_tensor zeros(const struct back *b, tarn_shape shape)
{
    return op_constant_of(b->r, shape, b->dtype, 0);
}

/* Of float64 where the scan is, or a tensor whose gradient is added up in a carry. */
static tarn_dtype type_of(const struct back *b)
{
    tarn_dtype dtype = (tarn_dtype)b->s.dtype;
    for (uint32_t k = 0; k < b->s.captures; k++)
        if (wants_capture(b, k) &&
            b->r->graph.nodes[b->s.value[b->s.carries + b->s.slices + k]].dtype == TARN_F64)
            dtype = TARN_F64;
    return dtype;
}

/* With what the gradient of carry j begins: what came to its last value. */
static tarn_tensor last_gradient(const struct back *b, uint32_t j)
{
    tarn_tensor sum = TARN_NONE;
    for (int i = 0; i < b->given_count; i++)
        if (meaning_of(b, &b->given[i], j) == OF_LAST)
            sum = sum.replica == NULL ? b->given[i].g : tarn_add(sum, b->given[i].g);
    return sum.replica == NULL ? zeros(b, shape_of(b, b->s.value[j])) : sum;
}

static void take_carries(struct back *b)
{
    const struct scan *s = &b->s;
    const uint32_t captures = s->carries + s->slices;
    tarn_tensor first[SCAN_MOST];
    for (uint32_t j = 0; j < s->carries; j++)
        first[j] = tarn_cast(last_gradient(b, j), b->dtype);
    scan_begin(&b->m, b->r, b->dtype, s->steps, !s->reversed);
    b->m.s.serials = s->serials; /* a step draws the same numbers again */
    for (uint32_t j = 0; j < s->carries; j++)
        b->carried[j] = scan_carry(&b->m, first[j], ROOM_ALL);
    for (uint32_t k = 0; k < s->captures; k++) {
        b->sum_of[k] = wants_capture(b, k) && !b->tapped[k] ? (int)b->m.s.carries : -1;
        if (b->sum_of[k] >= 0)
            b->carried[b->m.s.carries] =
                scan_carry(&b->m, zeros(b, shape_of(b, s->value[captures + k])), ROOM_TWO);
    }
}

static void take_slices(struct back *b)
{
    const struct scan *s = &b->s;
    const struct graph *g = &b->r->graph;
    for (uint32_t i = 0; i < s->carries + s->slices; i++) {
        const tarn_shape shape = shape_of(b, s->value[i]);
        const bool carry = i < s->carries;
        const uint32_t size = size_of(b, s->value[i]);
        struct scan_slice slice = { .operand = carry ? b->c->y : b->c->in[i],
                                    .offset = carry ? s->place[i] + (s->reversed ? size : 0)
                                                    : s->offset[i],
                                    .shape = shape,
                                    .label = (enum spread)g->nodes[s->value[i]].spread };
        if (carry && s->own)
            slice.label = SPREAD_OWN;
        /* Of a sum that is carried nobody asks what it was. */
        b->before[i] = carry && s->room[i] == ROOM_TWO
                           ? op_constant_of(b->r, shape, (tarn_dtype)s->dtype, 0)
                           : scan_slice(&b->m, &slice);
    }
    for (int i = 0; i < b->given_count; i++)
        for (uint32_t k = 0; k < s->results; k++) {
            const enum meaning means = meaning_of(b, &b->given[i], k);
            if (means != OF_RESULT && means != OF_BEFORE)
                continue;
            const struct scan_slice slice = { .operand = b->given[i].g,
                                              .shape = shape_of(b, s->result[k]),
                                              .label = slice_label(&b->given[i]) };
            b->given_leaf[i] = scan_slice(&b->m, &slice);
            break;
        }
}

/* What the scan kept of a step. */
static void take_kept(struct back *b)
{
    const struct scan *s = &b->s;
    for (uint32_t k = s->results - s->kept; k < s->results; k++) {
        const uint32_t label = b->r->graph.nodes[s->result[k]].spread;
        const struct scan_slice slice = { .operand = b->c->y,
                                          .offset = s->place[k],
                                          .shape = shape_of(b, s->result[k]),
                                          .label = s->own ? SPREAD_OWN : (enum spread)label };
        b->kept[k] = scan_slice(&b->m, &slice);
    }
}

static uint32_t replayed(const struct back *b, uint32_t node)
{
    return is_variant(b, node) ? b->replayed[node - b->s.first] : node;
}

/* Records the body again, on the leaves of the backward body. */
static bool replay(struct back *b)
{
    const struct scan *s = &b->s;
    for (uint32_t i = 0; i < s->carries + s->slices; i++) {
        const uint32_t leaf = graph_resolve(b->before[i]);
        b->replayed[s->value[i] - s->first] = leaf;
        b->r->graph.nodes[leaf].exact = b->r->graph.nodes[s->value[i]].exact;
    }
    for (uint32_t i = s->first; i < s->end && b->r->status == TARN_OK; i++) {
        const struct node n = *graph_origin(&b->r->graph, i);
        tarn_tensor in[SCAN_MOST];
        if (!b->variant[i - s->first] || n.op == &op_scan_value)
            continue;
        for (uint32_t k = 0; k < n.in_count; k++)
            in[k] = graph_handle(b->r, replayed(b, b->r->graph.operands[n.first_in + k]));
        const tarn_tensor again =
            graph_record(b->r, n.op, in, (int)n.in_count, n.shape, n.dtype, &n.arg);
        b->replayed[i - s->first] = again.node;
        b->r->graph.nodes[again.node].rounded = n.rounded;
    }
    return b->r->status == TARN_OK;
}

/* Gradients were taken of the step as it was recorded again; from now on what was kept is read in place of what
 * would be computed, by them and by what is left to compute. */
static void read_kept(struct back *b)
{
    const struct scan *s = &b->s;
    struct graph *g = &b->r->graph;
    for (uint32_t i = b->m.s.first; s->kept > 0 && i < g->count; i++)
        for (uint32_t x = 0; x < g->nodes[i].in_count; x++) {
            uint32_t *operand = &g->operands[g->nodes[i].first_in + x];
            for (uint32_t k = s->results - s->kept; k < s->results; k++)
                if (*operand == replayed(b, s->result[k]))
                    *operand = graph_resolve(b->kept[k]);
        }
}

/* What the gradients of one step begin with, and what they are asked for. */
struct pulled {
    uint32_t of[GIVEN_MOST + SCAN_MOST], with[4 * SCAN_MOST];
    tarn_tensor seed[GIVEN_MOST + SCAN_MOST], gradient[4 * SCAN_MOST];
};

static bool pull_step(struct back *b, struct pulled *p, int *count)
{
    const struct scan *s = &b->s;
    int seeds = 0, with = 0;
    for (uint32_t j = 0; j < s->carries; j++, seeds++) {
        p->of[seeds] = replayed(b, s->result[j]);
        p->seed[seeds] = b->carried[j];
    }
    for (int i = 0; i < b->given_count; i++)
        for (uint32_t k = 0; k < s->results; k++)
            if (meaning_of(b, &b->given[i], k) == OF_RESULT) {
                p->of[seeds] = replayed(b, s->result[k]);
                p->seed[seeds++] = b->given_leaf[i];
                break;
            }
    for (uint32_t i = 0; i < s->carries + s->slices; i++)
        p->with[with++] = i < s->carries || b->c->wanted[i] ? graph_resolve(b->before[i]) : 0;
    for (uint32_t k = 0; k < s->captures; k++)
        p->with[with++] = b->sum_of[k] >= 0 ? s->value[s->carries + s->slices + k] : 0;
    for (int i = 0; i < b->tap_count; i++)
        p->with[with++] = replayed(b, b->taps[i].node);
    const struct pull pull = { .first = b->m.s.first,
                               .of = p->of,
                               .seed = p->seed,
                               .seeds = seeds,
                               .with = p->with,
                               .gradient = p->gradient,
                               .count = with };
    *count = with;
    return autograd_pull(b->r, &pull);
}

static int put(struct back *b, tarn_tensor x)
{
    b->result[b->results] = tarn_cast(x, b->dtype);
    return b->results++;
}

/* What is no carry: a gradient that is of several values is put out once. */
static int put_once(struct back *b, tarn_tensor x)
{
    x = tarn_cast(x, b->dtype);
    for (int k = (int)b->m.s.carries; k < b->results; k++)
        if (graph_resolve(b->result[k]) == graph_resolve(x))
            return k;
    return put(b, x);
}

static void put_gradients(struct back *b, const struct pulled *p)
{
    const struct scan *s = &b->s;
    const uint32_t leaves = s->carries + s->slices;
    for (uint32_t j = 0; j < s->carries; j++) {
        tarn_tensor g = p->gradient[j];
        for (int i = 0; i < b->given_count; i++)
            if (meaning_of(b, &b->given[i], j) == OF_BEFORE)
                g = g.replica == NULL ? b->given_leaf[i] : tarn_add(g, b->given_leaf[i]);
        put(b, g.replica == NULL ? zeros(b, shape_of(b, s->value[j])) : g);
    }
    for (uint32_t k = 0; k < s->captures; k++)
        if (b->sum_of[k] >= 0) {
            const tarn_tensor g = p->gradient[leaves + k], sum = b->carried[b->sum_of[k]];
            put(b, g.replica == NULL ? sum : tarn_add(sum, g));
        }
    for (uint32_t i = s->carries; i < leaves; i++)
        b->put_slice[i] = p->gradient[i].replica == NULL ? -1 : put_once(b, p->gradient[i]);
    for (int i = 0; i < b->tap_count; i++) {
        struct tap *t = &b->taps[i];
        const tarn_tensor g = p->gradient[leaves + s->captures + (uint32_t)i];
        t->put_node = g.replica == NULL ? -1 : put_once(b, g);
        t->put_left = -1;
        bool leaf = false;
        for (uint32_t k = 0; k < s->carries; k++)
            leaf |= t->left == s->value[k];
        if (t->put_node >= 0 && !leaf)
            t->put_left = put_once(b, graph_handle(b->r, replayed(b, t->left)));
    }
}

/* ---- what goes on ---------------------------------------------------------------------------- */

/* What was put out of a node, of all steps, in the node's type. */
static tarn_tensor put_of(const struct back *b, tarn_tensor flat, int k, uint32_t node)
{
    const tarn_dtype dtype = dtype_single(b->r->graph.nodes[node].dtype);
    return tarn_cast(scan_put_out(flat, &b->m.s, (uint32_t)k), dtype);
}

/* The left operand of a product, of all steps. */
static tarn_tensor all_left(const struct back *b, const struct tap *t, tarn_tensor flat)
{
    const struct scan *s = &b->s;
    if (t->put_left >= 0)
        return put_of(b, flat, t->put_left, t->left);
    for (uint32_t j = 0; j < s->carries; j++)
        if (t->left == s->value[j]) {
            const tarn_shape one = shape_of(b, s->value[j]);
            const uint32_t first = s->place[j] + (s->reversed ? size_of(b, s->value[j]) : 0);
            const enum spread label = (enum spread)b->r->graph.nodes[s->value[j]].spread;
            return op_piece_of(b->c->y, first,
                               TARN_SHAPE((int32_t)s->steps, one.dim[0], one.dim[1]),
                               s->own ? SPREAD_OWN : label, true);
        }
    return graph_poison(b->r);
}

static tarn_tensor joined_rows(tarn_tensor x)
{
    const tarn_shape s = tarn_shape_get(x);
    return op_reshape_to(x, TARN_SHAPE(s.dim[0] * s.dim[1], s.dim[2]));
}

/* The gradient of a matrix: one product over the rows of all steps. */
static tarn_tensor matrix_gradient(const struct back *b, const struct tap *t, tarn_tensor flat)
{
    const tarn_tensor left = all_left(b, t, flat);
    const tarn_tensor g = put_of(b, flat, t->put_node, t->node);
    if (tarn_failed(left) || tarn_failed(g))
        return graph_poison(b->r);
    if (has_shards(b->r)) {
        const tarn_tensor x = op_steps_of(left, false), y = op_steps_of(g, false);
        return t->transposed ? op_rows_weight_of(y, x) : op_rows_weight_of(x, y);
    }
    const tarn_tensor x = joined_rows(left), y = joined_rows(g);
    return t->transposed ? op_matmul_of(y, x, true, false) : op_matmul_of(x, y, true, false);
}

static void give(const struct back *b, tarn_tensor flat)
{
    const struct scan *s = &b->s;
    struct grad_call *c = b->c;
    const uint32_t leaves = s->carries + s->slices;
    c->any_without = true;
    for (uint32_t j = 0; j < s->carries; j++)
        c->gin[j] = scan_last(flat, &b->m.s, j);
    for (uint32_t i = s->carries; i < leaves; i++) {
        if (!c->wanted[i] || b->put_slice[i] < 0)
            continue;
        c->gin[i] = scan_put_out(flat, &b->m.s, (uint32_t)b->put_slice[i]);
        const struct node x = *graph_origin(&b->r->graph, graph_resolve(c->in[i]));
        if (x.op != &op_scan)
            continue;
        const enum spread label = (enum spread)graph_node(c->gin[i])->spread;
        c->gin[i] =
            op_place_in(tarn_cast(c->gin[i], x.dtype), x.shape.dim[0], s->offset[i], label, true);
    }
    for (uint32_t k = 0; k < s->captures; k++)
        if (b->sum_of[k] >= 0)
            c->gin[leaves + k] = scan_last(flat, &b->m.s, (uint32_t)b->sum_of[k]);
    for (int i = 0; i < b->tap_count; i++) {
        if (b->taps[i].put_node < 0)
            continue;
        tarn_tensor *gin = &c->gin[leaves + (uint32_t)b->taps[i].capture];
        const tarn_tensor g = matrix_gradient(b, &b->taps[i], flat);
        *gin = gin->replica == NULL ? g : tarn_add(*gin, g);
    }
}

static void go_back(struct back *b)
{
    const struct scan *s = &b->s;
    struct pulled *p = calloc(1, sizeof *p);
    b->variant = scan_variant(&b->r->graph, s);
    b->replayed = calloc((size_t)(s->end - s->first) + 1, sizeof *b->replayed);
    int count = 0;
    if (p == NULL || b->replayed == NULL || b->variant == NULL) {
        graph_fail(b->r, TARN_ERR_MEMORY, "scan: out of host memory");
    } else if (find_given(b)) {
        for (uint32_t k = 0; k < s->captures; k++)
            b->tapped[k] = wants_capture(b, k) && tap_all(b, (int)k);
        take_carries(b);
        take_slices(b);
        take_kept(b);
        if (replay(b) && pull_step(b, p, &count)) {
            read_kept(b);
            put_gradients(b, p);
        }
        tarn_tensor flat = scan_end(&b->m, b->result, b->results);
        if (!tarn_failed(flat))
            give(b, flat);
    }
    free(p);
    free(b->variant);
    free(b->replayed);
}

void scan_grad(struct grad_call *c)
{
    tarn_replica *r = c->y.replica;
    struct back *b = calloc(1, sizeof *b);
    if (b == NULL) {
        graph_fail(r, TARN_ERR_MEMORY, "scan: out of host memory");
        return;
    }
    b->c = c;
    b->r = r;
    b->s = r->graph.scans[c->arg.scan.index];
    b->s.kept = b->s.unread ? 0 : b->s.kept; /* it ran before anybody asked */
    b->dtype = type_of(b);
    go_back(b);
    free(b);
}
