/* SPDX-License-Identifier: Apache-2.0 */
/* Loops under a mesh. In: the body of a loop as a program of all ranks, and how its operands lie. Out: the body of one
 * rank, in which nothing is exchanged: a carry lies after a step as before it, and what lies in another way than the
 * body needs it is moved before the first step. Axes of the mesh along which that cannot be do not cut the loop, which
 * is never wrong. */
#include <stdlib.h>
#include <string.h>

#include "env.h"
#include "log.h"
#include "run/local_program.h"
#include "run/loop.h"
#include "tensor/part.h"

/* ---- specs ----------------------------------------------------------------------------------- */

/* With another dimension before the first, or without that one. */
static struct spec shifted(struct spec s, bool in)
{
    struct spec out = { { 0 } };
    memcpy(out.cut + (in ? 1 : 0), s.cut + (in ? 0 : 1), (TARN_MAX_RANK - 1) * sizeof s.cut[0]);
    return out;
}

static struct spec masked(struct spec s, uint32_t axes)
{
    for (int d = 0; d < TARN_MAX_RANK; d++)
        s.cut[d] &= (uint8_t)axes;
    return s;
}

struct spec loop_operand_spec(const struct scan *s, uint32_t slot, struct spec spec)
{
    return slot >= s->carries && slot < s->carries + s->slices ? shifted(spec, true) : spec;
}

bool loop_lies_as(const tarn_replica *r, const struct loop_place *at, const struct spec *spec)
{
    const struct mesh *m = replica_mesh(r);
    bool same = at->pending == 0;
    for (int d = 0; m != NULL && d < TARN_MAX_RANK; d++)
        for (int i = 0; i < m->axes; i++)
            same &= m->extent[i] == 1 || ((at->spec.cut[d] ^ spec->cut[d]) >> i & 1) == 0;
    return same;
}

/* ---- pieces of what a loop left -------------------------------------------------------------- */

static const struct scan *scan_of(const struct graph *g, uint32_t node)
{
    for (uint32_t i = 0; i < g->scan_count; i++)
        if (g->scans[i].node == node)
            return &g->scans[i];
    return NULL;
}

bool loop_piece(const tarn_replica *r, const struct node *n, struct loop_place *out)
{
    const struct graph *g = &r->graph;
    const struct mesh *m = replica_mesh(r);
    if (m == NULL || n->op != &op_piece || g->nodes[g->operands[n->first_in]].op != &op_held)
        return false;
    const struct node *flat = &g->nodes[g->operands[n->first_in]];
    const struct scan *s = scan_of(g, g->operands[n->first_in]);
    for (uint32_t k = 0; s != NULL && k < s->results; k++) {
        const tarn_shape shape = g->nodes[s->result[k]].shape;
        const uint32_t size = (uint32_t)tarn_shape_count(shape);
        const uint32_t count = k >= s->carries          ? s->steps
                               : s->room[k] == ROOM_TWO ? 2
                                                        : s->steps + 1;
        const uint32_t from = n->arg.piece.first - s->place[k];
        if (loop_result_slot(s, k) < 0 || n->arg.piece.first < s->place[k] || from >= size * count)
            continue;
        const uint32_t part = size / (uint32_t)mesh_blocks(m, part_axes(m, &s->cut[k]));
        out->buffer = g->inputs[flat->arg.leaf.slot].buffer;
        out->offset = (s->part_place[k] + (uint64_t)(from / size) * part) * scan_element_bytes(s);
        out->spec = n->shape.rank > shape.rank ? shifted(s->cut[k], true) : s->cut[k];
        out->pending = s->pending[k];
        return true;
    }
    return false;
}

tarn_status loop_pieces(const tarn_replica *r, struct program *p, struct node **nodes)
{
    const struct graph *g = &r->graph;
    struct loop_place at;
    *nodes = NULL;
    if (g->scan_count == 0)
        return TARN_OK;
    *nodes = malloc(p->count * sizeof **nodes);
    if (*nodes == NULL)
        return error_set(TARN_ERR_MEMORY, "scan: out of host memory");
    memcpy(*nodes, p->nodes, p->count * sizeof **nodes);
    for (uint32_t i = 1; i < p->count; i++) {
        if (!loop_piece(r, &p->nodes[i], &at))
            continue;
        struct node *n = &(*nodes)[i];
        const uint32_t flat = p->operands[n->first_in];
        const uint32_t lead = n->arg.piece.steps_lead;
        n->op = &op_held;
        n->in_count = 0;
        memset(&n->arg, 0, sizeof n->arg);
        n->arg.leaf.slot = p->nodes[flat].arg.leaf.slot;
        n->arg.leaf.axis = lead;
        n->arg.leaf.spec = at.spec;
        n->arg.leaf.pending = at.pending;
        const struct scan *s = scan_of(g, flat);
        n->arg.leaf.first = (uint32_t)(at.offset / scan_element_bytes(s));
        n->arg.leaf.elements = s->part_elements;
    }
    p->nodes = *nodes;
    return TARN_OK;
}

/* ---- the body of one rank -------------------------------------------------------------------- */

struct sharing {
    const tarn_replica *r;
    const struct loop *l;
    const struct loop_program *whole;
    struct node *nodes; /* of it, with specs */
    struct program program;
    struct spec spec[LOOP_SLOTS];
    uint32_t pending[LOOP_SLOTS];
    bool open[LOOP_SLOTS]; /* slots whose specs follow from others */
};

static bool is_weight(const struct sharing *h, uint32_t slot)
{
    const struct scan *s = h->l->scan;
    return slot >= s->carries + s->slices && h->r->graph.nodes[h->l->node[slot]].op == &op_owned;
}

/* Axes of the mesh that cut a loop; those along which weights stay cut; those along which what is only added up from step
 * to step stays a sum of each rank's own. */
struct cuts {
    uint32_t all, weights, sums;
};

/* What is known before: how operands lie. */
static void begin(struct sharing *h, const struct cuts *c)
{
    const struct scan *s = h->l->scan;
    const uint32_t operands = scan_operands(s);
    for (uint32_t k = 0; k < operands; k++) {
        const struct spec lies = h->l->at[k].spec;
        const bool slice = k >= s->carries && k < s->carries + s->slices;
        h->spec[k] =
            masked(slice ? shifted(lies, false) : lies, is_weight(h, k) ? c->weights : c->all);
        h->open[k] = k < s->carries && spec_is_whole(&h->spec[k]);
    }
    for (uint32_t k = 0; k < s->results; k++) {
        h->spec[operands + k] = k < s->carries ? h->spec[k] : (struct spec){ { 0 } };
        h->open[operands + k] = k < s->carries ? h->open[k] : true;
    }
    memset(h->pending, 0, sizeof h->pending);
}

static void set_leaf(const struct sharing *h, struct node *n)
{
    n->arg.leaf.spec = h->spec[n->arg.leaf.slot];
    n->arg.leaf.pending = h->pending[n->arg.leaf.slot];
}

static void set_assigned(const struct sharing *h, struct node *n)
{
    n->arg.assign.spec = h->spec[n->arg.assign.owned];
    n->arg.assign.pending = h->pending[n->arg.assign.owned];
}

static void set_specs(struct sharing *h, uint32_t axes)
{
    const struct program *p = &h->whole->program;
    for (uint32_t i = 1; i < p->count; i++) {
        struct node *n = &h->nodes[i];
        *n = p->nodes[i];
        if (n->op == &op_owned)
            set_leaf(h, n);
        else if (n->op == &op_assign)
            set_assigned(h, n);
        else if (n->op == &op_shard)
            n->arg.shard.spec = masked(n->arg.shard.spec, axes);
    }
}

static void close_slot(struct sharing *h, uint32_t slot, struct spec spec)
{
    h->spec[slot] = spec;
    h->open[slot] = false;
}

/* What the specs that are known mean for the others. */
static tarn_status ask(struct sharing *h, struct shard_input *in, uint32_t axes, struct spec *owned,
                       struct spec *assigned)
{
    memset(owned, 0, LOOP_SLOTS * sizeof *owned);
    memset(assigned, 0, LOOP_SLOTS * sizeof *assigned);
    set_specs(h, axes);
    in->open = h->open;
    const tarn_status s = shard_wishes(in, owned, assigned);
    in->open = NULL;
    return s;
}

/* Of gradients that are added up in a carry, from zero on, nobody asks what they were between. */
static void leave_sums(struct sharing *h, uint32_t axes)
{
    const struct scan *s = h->l->scan;
    for (uint32_t j = 0; j < s->carries; j++)
        if (s->room[j] == ROOM_TWO && h->l->at[j].buffer == NULL)
            h->pending[j] = h->pending[scan_operands(s) + j] =
                axes & ~part_axes(replica_mesh(h->r), &h->spec[j]);
}

/* Carries, which lie after a step as before it, take what follows from the rest until nothing more does; others are
 * whole. Outputs follow from the carries. */
static tarn_status settle(struct sharing *h, struct shard_input *in, const struct cuts *c)
{
    const uint32_t axes = c->all;
    const struct scan *s = h->l->scan;
    const uint32_t operands = scan_operands(s);
    struct spec owned[LOOP_SLOTS], assigned[LOOP_SLOTS];
    for (bool changed = true; changed;) {
        changed = false;
        TRY(ask(h, in, axes, owned, assigned));
        for (uint32_t j = 0; j < s->carries; j++) {
            const struct spec w = spec_is_whole(&owned[j]) ? assigned[operands + j] : owned[j];
            if (!h->open[j] || spec_is_whole(&w))
                continue;
            close_slot(h, j, w);
            close_slot(h, operands + j, w);
            changed = true;
        }
    }
    for (uint32_t j = 0; j < s->carries; j++)
        h->open[j] = h->open[operands + j] = false;
    TRY(ask(h, in, axes, owned, assigned));
    for (uint32_t k = operands; k < operands + s->results; k++)
        if (h->open[k])
            close_slot(h, k, assigned[k]);
    leave_sums(h, c->sums);
    set_specs(h, axes);
    return TARN_OK;
}

static tarn_status share(struct sharing *h, const struct cuts *c, struct text *log,
                         struct shard_program *out)
{
    struct shard_input in = local_program_input(h->r, &h->program);
    begin(h, c);
    TRY(settle(h, &in, c));
    in.log = log;
    return shard_program(&in, out);
}

/* Takes these cuts where the body exchanges nothing then. */
static tarn_status try_cuts(struct sharing *h, struct cuts next, struct cuts *c, bool *fits)
{
    struct shard_program made;
    if (*fits)
        return TARN_OK;
    TRY(share(h, &next, NULL, &made));
    *fits = made.collectives == 0;
    if (*fits)
        *c = next;
    shard_free(&made);
    return TARN_OK;
}

static tarn_status choose(struct sharing *h, struct cuts *c)
{
    const struct mesh *m = replica_mesh(h->r);
    *c = (struct cuts){ 0 };
    for (int a = 0; a < m->axes; a++) {
        const uint32_t axis = m->extent[a] > 1 ? UINT32_C(1) << a : 0;
        const uint32_t all = c->all | axis, weights = c->weights | axis, sums = c->sums | axis;
        bool fits = axis == 0;
        TRY(try_cuts(h, (struct cuts){ all, weights, c->sums }, c, &fits));
        TRY(try_cuts(h, (struct cuts){ all, c->weights, c->sums }, c, &fits));
        TRY(try_cuts(h, (struct cuts){ all, weights, sums }, c, &fits));
        TRY(try_cuts(h, (struct cuts){ all, c->weights, sums }, c, &fits));
    }
    return TARN_OK;
}

tarn_status loop_share(const tarn_replica *r, const struct loop *l, const struct loop_program *p,
                       struct shard_program *out, struct plan_loop *as)
{
    struct sharing *h = calloc(1, sizeof *h);
    struct node *nodes = calloc((size_t)p->program.count + 1, sizeof *nodes);
    struct text log = { 0 };
    const bool told = env_debug("shard") && r->peers->rank == 0;
    struct cuts cuts;
    tarn_status s = TARN_ERR_MEMORY;
    if (h == NULL || nodes == NULL) {
        s = error_set(s, "scan: out of host memory");
    } else {
        *h = (struct sharing){ .r = r, .l = l, .whole = p, .nodes = nodes, .program = p->program };
        h->program.nodes = nodes;
        s = choose(h, &cuts);
        text_add(&log, "tarn: the body of a loop of %u steps\n", l->scan->steps);
        if (s == TARN_OK)
            s = share(h, &cuts, told ? &log : NULL, out);
    }
    if (s == TARN_OK) {
        memcpy(as->spec, h->spec, sizeof as->spec);
        memcpy(as->pending, h->pending, sizeof as->pending);
    }
    if (s == TARN_OK && told)
        log_text(TARN_LOG_DEBUG, log.data);
    text_free(&log);
    free(nodes);
    free(h);
    return s;
}
