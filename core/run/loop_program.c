/* SPDX-License-Identifier: Apache-2.0 */
/* The body of a scan as a program of its own. In: a scan and the graph that it was recorded in. Out: a
 * program, and where its tensors lie in each step. */
#include <stdlib.h>
#include <string.h>

#include "run/loop.h"
#include "tensor/part.h"
#include "tensor/spread.h"

int loop_result_slot(const struct scan *s, uint32_t k)
{
    if (k >= s->carries && scan_carry_of(s, k) >= 0)
        return -1;
    if (s->unread && k >= s->results - s->kept)
        return -1;
    return (int)(scan_operands(s) + k);
}

struct builder_of {
    tarn_replica *r;
    const struct scan *s;
    struct loop_program *p;
    struct scan_bits blocked_slots; /* of the slices */
};

static uint32_t add(struct builder_of *b, const struct node *n, const uint32_t *in)
{
    struct loop_program *p = b->p;
    struct node *copy = &p->nodes[p->program.count];
    *copy = *n;
    copy->first_in = p->program.operand_count;
    for (uint32_t k = 0; k < n->in_count; k++)
        p->operands[p->program.operand_count++] = in[k];
    return p->program.count++;
}

/* A node like another one, of another shape. */
static struct node shaped(const struct node *like, const struct op *op, tarn_shape shape)
{
    struct node n = *like;
    n.op = op;
    n.shape = shape;
    n.in_count = 1;
    memset(&n.arg, 0, sizeof n.arg);
    if (shape.dim[0] != like->shape.dim[0]) { /* no samples */
        n.spread = SPREAD_SAME;
        n.part = 0;
    }
    if (op == &op_permute) /* the lanes to the other end of a block, or back */
        memcpy(n.arg.permute.order, (int32_t[]){ 0, 2, 1 }, 3 * sizeof(int32_t));
    return n;
}

/* Views by which a value in rows is one in blocks, or the other way round: both are [N / 16, 16, the rest] between. */
static uint32_t turned(struct builder_of *b, const struct node *like, uint32_t x, bool to_blocks)
{
    const tarn_shape s = loop_blocked_shape(like->shape);
    const tarn_shape between = TARN_SHAPE(s.dim[0], s.dim[2], s.dim[1]);
    struct node first = shaped(like, to_blocks ? &op_reshape : &op_permute, between);
    struct node then =
        to_blocks ? shaped(like, &op_permute, s) : shaped(like, &op_reshape, like->shape);
    const uint32_t half = add(b, &first, &x);
    return add(b, &then, &half);
}

/* An owned tensor in the place of a node. */
static uint32_t add_leaf(struct builder_of *b, const struct node *like, uint32_t slot)
{
    const bool blocked = slot < SCAN_MOST && scan_bit(&b->blocked_slots, slot);
    struct node n =
        shaped(like, &op_owned, blocked ? loop_blocked_shape(like->shape) : like->shape);
    n.in_count = 0;
    n.arg.leaf.slot = slot;
    uint32_t leaf = add(b, &n, NULL);
    if (blocked)
        leaf = turned(b, like, leaf, false);
    n = *like;
    if (n.shape.rank == 0 || !graph_is_batch(&b->r->graph, n.shape.dim[0]))
        return leaf;
    n.op = &op_batch_axis;
    n.in_count = 1;
    memset(&n.arg, 0, sizeof n.arg);
    n.arg.batch_axis.said = BATCH_SAMPLES;
    return add(b, &n, &leaf);
}

/* A captured tensor, with the views of it that are computed in the body. */
static uint32_t add_capture(struct builder_of *b, uint32_t node, uint32_t slot)
{
    const struct graph *g = &b->r->graph;
    const uint32_t base = scan_base(g, node);
    uint32_t inside = add_leaf(b, &g->nodes[base], slot);
    for (uint32_t done = base; done != node;) {
        uint32_t next = node;
        while (g->operands[g->nodes[next].first_in] != done)
            next = g->operands[g->nodes[next].first_in];
        inside = add(b, &g->nodes[next], &inside);
        done = next;
    }
    return inside;
}

static void add_operands(struct builder_of *b)
{
    const struct scan *s = b->s;
    const struct graph *g = &b->r->graph;
    for (uint32_t k = 0; k < scan_operands(s); k++) {
        const bool leaf = k < s->carries + s->slices;
        b->p->inside[s->value[k]] =
            leaf ? add_leaf(b, &g->nodes[s->value[k]], k) : add_capture(b, s->value[k], k);
        b->p->storage[k].kept = leaf;
        b->p->storage[k].captured = !leaf;
    }
}

/* The program's node for what a node of the body reads: what is not there yet is a constant, or a view of one. */
static uint32_t inside(struct builder_of *b, uint32_t node)
{
    const struct graph *g = &b->r->graph;
    const struct node *n = &g->nodes[node];
    uint32_t *at = &b->p->inside[node];
    if (*at == 0) {
        const uint32_t of = n->in_count > 0 ? inside(b, g->operands[n->first_in]) : 0;
        *at = add(b, n, &of);
    }
    return *at;
}

static void add_body(struct builder_of *b, const bool *variant)
{
    const struct scan *s = b->s;
    const struct graph *g = &b->r->graph;
    for (uint32_t i = s->first; i < s->end; i++) {
        const struct node *n = graph_origin(g, i);
        uint32_t in[SCAN_MOST];
        if (!variant[i - s->first] || b->p->inside[i] != 0)
            continue;
        for (uint32_t k = 0; k < n->in_count; k++)
            in[k] = inside(b, g->operands[n->first_in + k]);
        b->p->inside[i] = add(b, n, in);
    }
}

static void add_results(struct builder_of *b)
{
    const struct scan *s = b->s;
    for (uint32_t k = 0; k < s->results; k++) {
        if (loop_result_slot(s, k) < 0)
            continue;
        uint32_t value = inside(b, s->result[k]);
        if (scan_bit(&s->blocked, k)) {
            const struct node like = b->p->nodes[value];
            value = turned(b, &like, value, true);
        }
        struct node n = b->p->nodes[value];
        n.op = &op_assign;
        n.in_count = 1;
        memset(&n.arg, 0, sizeof n.arg);
        n.arg.assign.owned = (uint32_t)loop_result_slot(s, k);
        (void)add(b, &n, &value);
    }
}

static bool take_memory(const tarn_replica *r, const struct scan *s, struct loop_program *p)
{
    const struct graph *g = &r->graph;
    /* A captured tensor has as many views as a rank has axes, or a few more: each of the graph's once. */
    const size_t nodes = 8 * SCAN_MOST + 2 * (size_t)g->count;
    p->nodes = calloc(nodes, sizeof *p->nodes);
    p->operands = calloc((size_t)g->operand_count + nodes, sizeof *p->operands);
    p->slots = scan_operands(s) + s->results;
    p->storage = calloc((size_t)p->slots + 1, sizeof *p->storage);
    p->inside = calloc((size_t)g->count + 1, sizeof *p->inside);
    return p->nodes != NULL && p->operands != NULL && p->storage != NULL && p->inside != NULL;
}

tarn_status loop_program_make(tarn_replica *r, const struct scan *s, struct loop_program *out)
{
    *out = (struct loop_program){ .program = { .count = 1 } };
    if (!take_memory(r, s, out))
        return error_set(TARN_ERR_MEMORY, "scan: out of host memory");
    for (uint32_t k = 0; k < out->slots; k++) {
        out->storage[k].memory = k;
        out->storage[k].carried =
            k < s->carries || (k >= scan_operands(s) && k < scan_operands(s) + s->carries);
    }
    struct builder_of b = { r, s, out, loop_blocked_slots(r, s) };
    bool *variant = scan_variant(&r->graph, s);
    if (variant == NULL)
        return error_set(TARN_ERR_MEMORY, "scan: out of host memory");
    add_operands(&b);
    add_body(&b, variant);
    add_results(&b);
    free(variant);
    out->program.nodes = out->nodes;
    out->program.operands = out->operands;
    out->program.effects = true;
    out->program.storage = out->storage;
    out->program.steps = s->steps;
    out->program.partition = (struct partition){ .world = 1 };
    if (r->peers != NULL)
        out->program.partition =
            (struct partition){ .world = r->peers->world, .shards = r->peers->shards };
    return TARN_OK;
}

void loop_program_free(struct loop_program *p)
{
    free(p->nodes);
    free(p->operands);
    free(p->storage);
    free(p->inside);
    *p = (struct loop_program){ 0 };
}

/* ---- where it lies --------------------------------------------------------------------------- */

/* Of what one step has of a slot, on this rank. */
static uint64_t bytes_of(const tarn_replica *r, const struct scan *s, uint32_t slot,
                         const struct spec *spec)
{
    const uint32_t operands = scan_operands(s);
    const struct mesh *m = replica_mesh(r);
    const struct node *n =
        &r->graph.nodes[slot >= operands ? s->result[slot - operands] : s->value[slot]];
    const uint64_t whole = (uint64_t)tarn_shape_count(n->shape) * tarn_dtype_bytes(n->dtype);
    return m == NULL ? whole : whole / (uint64_t)mesh_blocks(m, part_axes(m, spec));
}

/* Bytes into the buffer of a slot, in step i of the loop. */
static uint64_t lies(const tarn_replica *r, const struct loop *l, const struct plan_loop *p,
                     uint32_t slot, uint32_t i)
{
    const struct scan *s = l->scan;
    const uint32_t operands = scan_operands(s);
    const bool result = slot >= operands;
    const uint32_t k = result ? slot - operands : slot;
    const uint64_t size = bytes_of(r, s, slot, &p->spec[slot]);
    if (k < s->carries && (result || slot < s->carries))
        return p->place[k] * scan_element_bytes(s) + size * scan_slot(s, k, result ? i + 1 : i);
    if (result)
        return p->place[k] * scan_element_bytes(s) + size * scan_time(s, i);
    const struct spec now = loop_operand_spec(s, slot, p->spec[slot]);
    const uint64_t begin = loop_lies_as(r, &l->at[slot], &now) ? l->at[slot].offset : 0;
    if (slot < s->carries + s->slices) {
        const tarn_dtype dtype = r->graph.nodes[s->value[slot]].dtype;
        return begin + (uint64_t)s->offset[slot] * tarn_dtype_bytes(dtype) + size * scan_time(s, i);
    }
    return begin;
}

/* Where results begin in the flat value, as scan_end() lays them out: there of the whole. */
static void place_results(const tarn_replica *r, const struct scan *s, struct plan_loop *out)
{
    uint64_t at = 0;
    for (uint32_t k = 0; k < s->results; k++) {
        const uint32_t slot = scan_operands(s) + k;
        const uint64_t size = bytes_of(r, s, slot, &out->spec[slot]) / scan_element_bytes(s);
        const uint64_t count = k >= s->carries          ? s->steps
                               : s->room[k] == ROOM_TWO ? 2
                                                        : (uint64_t)s->steps + 1;
        out->place[k] = (uint32_t)at;
        if (loop_result_slot(s, k) >= 0)
            at += scan_room(size * count);
    }
    out->elements = (uint32_t)at;
}

tarn_status loop_table(const tarn_replica *r, const struct loop *l, struct plan_loop *out)
{
    const struct scan *s = l->scan;
    out->steps = s->steps;
    out->slots = scan_operands(s) + s->results;
    place_results(r, s, out);
    out->lies = calloc((size_t)out->steps * out->slots + 1, sizeof *out->lies);
    if (out->lies == NULL)
        return error_set(TARN_ERR_MEMORY, "scan: out of host memory");
    for (uint32_t i = 0; i < out->steps; i++)
        for (uint32_t k = 0; k < out->slots; k++)
            out->lies[(size_t)i * out->slots + k] = lies(r, l, out, k, i);
    return TARN_OK;
}
