/* SPDX-License-Identifier: Apache-2.0 */
/* Records the nodes of a step and hashes them as they come. Arrays keep their size over steps. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "clock.h"
#include "tensor/scan.h"
#include "tensor/shape.h"
#include "tensor/spread.h"
#include "tensor/wide.h"
#include "trace.h"

static const struct node no_node;

/* ---- memory --------------------------------------------------------------------------------- */

static bool grow(tarn_replica *r, void *array, uint32_t *capacity, uint32_t count, uint32_t more,
                 size_t size)
{
    if (count <= *capacity && more <= *capacity - count)
        return true;
    uint64_t want = *capacity ? *capacity : 64;
    while (want < (uint64_t)count + more)
        want *= 2;
    void *old, *bigger = NULL;
    memcpy(&old, array, sizeof old);
    if (want <= UINT32_MAX / 2 && want <= SIZE_MAX / size)
        bigger = realloc(old, (size_t)want * size);
    if (bigger == NULL) {
        replica_fail(r, TARN_ERR_MEMORY, "graph: no memory for %llu nodes; mark steps more often",
                     (unsigned long long)want);
        return false;
    }
    memcpy(array, &bigger, sizeof bigger);
    *capacity = (uint32_t)want;
    return true;
}

static void hash_add(struct graph *g, const void *bytes, size_t count)
{
    const XXH128_hash_t h = XXH3_128bits_withSeed(bytes, count, g->hash[0]);
    g->hash[0] = h.low64;
    g->hash[1] = h.high64 ^ (g->hash[1] * UINT64_C(0x9FB21C651E98DF25) + 1);
}

/* ---- nodes ---------------------------------------------------------------------------------- */

/* "add: operand 1", for error lines. */
static const char *who(const char *op, int number, char text[64])
{
    if (op != NULL)
        snprintf(text, 64, "%s: operand %d", op, number);
    else
        snprintf(text, 64, "an operand");
    return text;
}

uint32_t graph_operand(tarn_replica *r, tarn_tensor t, const char *op, int number)
{
    char name[64];
    if (r == NULL)
        r = t.replica;
    if (r != NULL && r->status != TARN_OK)
        return 0;
    if (t.replica == NULL) {
        graph_fail(r, TARN_ERR_ARGUMENT, "%s is no tensor: TARN_NONE or zeroed memory",
                   who(op, number, name));
        return 0;
    }
    if (t.replica != r) {
        graph_fail(r, TARN_ERR_ARGUMENT,
                   "%s is of another replica: read it there, and tarn_from() "
                   "brings it here",
                   who(op, number, name));
        return 0;
    }
    if (t.step == STEP_OWNED && owned_of(t) == NULL) {
        graph_fail(r, TARN_ERR_STALE, "%s is %s", who(op, number, name), owned_gone(t));
        return 0;
    }
    if (t.step == STEP_OWNED)
        return owned_resolve(t);
    if (t.node == 0 || (t.step == r->step && t.node >= r->graph.count)) {
        graph_fail(r, TARN_ERR_STATE,
                   "%s is poison: the result of a failed call, or of a lookup that found "
                   "nothing%s%s; check it with tarn_failed()",
                   who(op, number, name), r->missing[0] ? ", the last one " : "", r->missing);
        return 0;
    }
    if (t.step != r->step) {
        graph_fail(r, TARN_ERR_STALE,
                   "%s is tensor %u of step %u, used in step %u: results live until tarn_step(); "
                   "tarn_keep() makes one outlive it",
                   who(op, number, name), (unsigned)t.node, (unsigned)t.step, (unsigned)r->step);
        return 0;
    }
    return t.node;
}

uint32_t graph_resolve(tarn_tensor t)
{
    return graph_operand(NULL, t, NULL, 0);
}

bool graph_operands_some(const char *op, const tarn_tensor *in, int needed, int count,
                         tarn_replica **r)
{
    *r = NULL;
    for (int i = 0; i < count && *r == NULL; i++)
        *r = in[i].replica;
    for (int i = 0; i < count; i++) {
        if ((i < needed || in[i].replica != NULL) && !graph_operand(*r, in[i], op, i))
            return false;
    }
    return true;
}

bool graph_operands(const char *op, const tarn_tensor *in, int count, tarn_replica **r)
{
    return graph_operands_some(op, in, count, count, r);
}

const struct node *graph_node(tarn_tensor t)
{
    const uint32_t i = graph_resolve(t);
    return i ? &t.replica->graph.nodes[i] : &no_node;
}

size_t node_bytes(const struct node *n)
{
    return shape_bytes(n->shape, n->dtype);
}

size_t tensor_bytes(tarn_tensor t)
{
    return shape_bytes(tarn_shape_get(t), tarn_dtype_get(t));
}

const struct node *graph_origin(const struct graph *g, uint32_t node)
{
    for (uint32_t i = 0; i < g->evaluated_count; i++) {
        if (g->evaluated[i].node == node)
            return &g->evaluated[i].before;
    }
    return &g->nodes[node];
}

tarn_tensor graph_handle(tarn_replica *r, uint32_t node)
{
    return (tarn_tensor){ r, node, r->step };
}

tarn_tensor graph_value(tarn_tensor x)
{
    const uint32_t node = graph_resolve(x);
    return node ? graph_handle(x.replica, node) : graph_poison(x.replica);
}

/* ---- parts of batches ----------------------------------------------------------------------- */

static bool same_share(struct graph_part a, struct graph_part b)
{
    return (int64_t)a.samples * b.global == (int64_t)b.samples * a.global;
}

static uint32_t part_add(tarn_replica *r, struct graph_part part)
{
    struct graph *g = &r->graph;
    for (uint32_t i = 0; i < g->part_count; i++) {
        if (g->parts[i].samples == part.samples && g->parts[i].global == part.global)
            return i + 1;
    }
    if (part.global == 0 ||
        !grow(r, &g->parts, &g->part_capacity, g->part_count, 1, sizeof *g->parts))
        return 0;
    g->parts[g->part_count++] = part;
    return g->part_count;
}

/* What depends on two batches depends on the first, and on the other if that is another share. */
static void join_part(const struct graph *g, struct node *n, uint32_t part)
{
    if (!n->part)
        n->part = part;
    else if (part && !n->other && !same_share(g->parts[n->part - 1], g->parts[part - 1]))
        n->other = part;
}

void graph_mark_part(tarn_tensor leaf, struct graph_part part)
{
    tarn_replica *r = leaf.replica;
    const uint32_t node = graph_resolve(leaf), added = node ? part_add(r, part) : 0;
    if (!added)
        return;
    struct node *n = &r->graph.nodes[node];
    join_part(&r->graph, n, added);
    /* Plans depend on which inputs are batches. Of owned tensors it does not matter, and may change
     * from the first step to the second. */
    if (n->op != &op_input)
        return;
    if (has_shards(r))
        n->spread = spread_of_part(r, part);
    const uint32_t key[2] = { node, n->spread };
    hash_add(&r->graph, key, sizeof key);
}

bool graph_part_of(tarn_tensor t, const char *name, const char *advice, struct graph_part *out)
{
    const tarn_replica *r = t.replica;
    const struct node *n = graph_node(t);
    const bool divided = r != NULL && r->peers != NULL && replica_mesh(r) == NULL;
    *out = (struct graph_part){ 1, divided ? r->peers->world : 1 };
    if (r == NULL || r->status != TARN_OK)
        return false;
    if (n->part)
        *out = r->graph.parts[n->part - 1];
    if (!n->other || out->global == out->samples)
        return true;
    const struct graph_part other = r->graph.parts[n->other - 1];
    graph_fail(t.replica, TARN_ERR_ARGUMENT,
               "%s depends on %d of the %d samples of one batch and on %d of the %d of another, "
               "which are different shares: %s",
               name, (int)out->samples, (int)out->global, (int)other.samples, (int)other.global,
               advice);
    return false;
}

uint32_t graph_owned_order(tarn_replica *r, uint32_t slot)
{
    struct graph *g = &r->graph;
    struct owned *o = &r->owned[slot];
    if (o->order == 0 && grow(r, &g->owned_slots, &g->owned_slot_capacity, g->owned_slot_count, 1,
                              sizeof *g->owned_slots)) {
        g->owned_slots[g->owned_slot_count++] = slot;
        o->order = g->owned_slot_count;
    }
    return o->order == 0 ? 0 : o->order - 1;
}

/* The argument without what differs between equal steps: a kept tensor has any slot that is free. */
static union op_arg arg_to_hash(tarn_replica *r, const struct node *n)
{
    union op_arg arg = n->arg;
    if (n->op == &op_owned)
        arg.leaf.slot = graph_owned_order(r, arg.leaf.slot);
    else if (n->op == &op_assign)
        arg.assign.owned = graph_owned_order(r, arg.assign.owned);
    else if (n->op == &op_detach && arg.leaf.slot != 0)
        arg.leaf.slot = 1 + graph_owned_order(r, arg.leaf.slot - 1);
    return arg;
}

struct node_key {
    char name[24];
    tarn_shape shape;
    int32_t dtype;
    uint32_t count;
    uint32_t has_samples;
    union op_arg arg;
    uint32_t in[SCAN_MOST];
};

/* All that a node is hashed by; returns its bytes. */
static size_t make_key(tarn_replica *r, const struct node *n, const uint32_t *in,
                       struct node_key *key)
{
    memset(key, 0, sizeof *key - sizeof key->in); /* gaps, too */
    memcpy(key->name, n->op->name, strnlen(n->op->name, sizeof key->name));
    key->shape = n->shape;
    key->dtype = (int32_t)n->dtype;
    key->count = n->in_count;
    key->has_samples = n->spread == SPREAD_SAMPLES;
    key->arg = arg_to_hash(r, n);
    /* A graph of leaves alone has no operands, and memcpy takes no null pointer. */
    if (n->in_count > 0)
        memcpy(key->in, in, n->in_count * sizeof in[0]);
    return sizeof *key - sizeof key->in + n->in_count * sizeof in[0];
}

static void hash_node(tarn_replica *r, const struct node *n, const uint32_t *in)
{
    struct node_key key;
    const size_t bytes = make_key(r, n, in, &key);
    hash_add(&r->graph, &key, bytes);
}

uint64_t graph_node_hash(tarn_replica *r, uint32_t node)
{
    const struct graph *g = &r->graph;
    const struct node *n = &g->nodes[node];
    struct node_key key;
    const size_t bytes = make_key(r, n, g->operands + n->first_in, &key);
    return XXH3_64bits(&key, bytes);
}

static bool resolve_all(tarn_replica *r, const struct op *op, const tarn_tensor *in, int count,
                        uint32_t *out)
{
    const int most = op == &op_scan ? SCAN_MOST : OPERANDS_MOST;
    if (count < 0 || count > most) {
        replica_fail(r, TARN_ERR_ARGUMENT, "%s: %d operands, not 0 to %d", op->name, count, most);
        return false;
    }
    for (int i = 0; i < count; i++) {
        out[i] = graph_operand(r, in[i], op->name, i);
        if (!out[i])
            return false;
    }
    return true;
}

/* Seconds that no recording is to be blamed for. */
static double aside(const tarn_replica *r)
{
    return r->metrics.compile_seconds + r->metrics.wait_seconds;
}

static void begin_recording(tarn_replica *r)
{
    replica_trace(r);
    r->aside = aside(r);
    r->began = seconds_now();
    trace_begin(r->track, "record");
}

void graph_recorded(tarn_replica *r)
{
    if (r->began == 0)
        return;
    r->metrics.record_seconds += seconds_now() - r->began - (aside(r) - r->aside);
    r->began = 0;
    trace_end(r->track);
}

static tarn_tensor record(tarn_replica *r, const struct op *op, const tarn_tensor *in, int count,
                          tarn_shape shape, tarn_dtype dtype, const union op_arg *arg)
{
    uint32_t operands[SCAN_MOST];
    if (r == NULL)
        return graph_fail(NULL, TARN_ERR_ARGUMENT, "%s: the operand is no tensor", op->name);
    if (r->status != TARN_OK || !resolve_all(r, op, in, count, operands))
        return graph_poison(r);
    if (!shape_valid(shape))
        return graph_fail(r, TARN_ERR_SHAPE,
                          "%s: the result %s is not a legal shape: rank 0 to %d, "
                          "dimensions from 0, at most 2^31 - 1 elements",
                          op->name, shape_text(shape), TARN_MAX_RANK);
    struct graph *g = &r->graph;
    if (g->count > TARN_MAX_NODES)
        return graph_fail(
            r, TARN_ERR_STATE,
            "%s: this step has %d operations already, the most that it may have: call "
            "tarn_step() more often, as after each batch",
            op->name, TARN_MAX_NODES);
    if (!grow(r, &g->nodes, &g->capacity, g->count, 2, sizeof *g->nodes) ||
        !grow(r, &g->operands, &g->operand_capacity, g->operand_count, (uint32_t)count,
              sizeof *g->operands))
        return graph_poison(r);
    if (g->count == 0) {
        g->nodes[g->count++] = no_node;
        begin_recording(r);
    }
    struct node *n = &g->nodes[g->count];
    memset(n, 0, sizeof *n);
    n->op = op;
    n->shape.rank = shape.rank;
    memcpy(n->shape.dim, shape.dim, (size_t)shape.rank * sizeof shape.dim[0]);
    n->dtype = dtype;
    n->first_in = g->operand_count;
    n->in_count = (uint32_t)count;
    if (arg != NULL)
        n->arg = *arg;
    for (int i = 0; i < count; i++) {
        g->operands[g->operand_count++] = operands[i];
        n->needs_grad |=
            op->grad != op_no_grad && dtype_is_float(dtype) && g->nodes[operands[i]].needs_grad;
        join_part(g, n, g->nodes[operands[i]].part);
        join_part(g, n, g->nodes[operands[i]].other);
    }
    n->backward = g->backward;
    n->spread = spread_of(r, n);
    hash_node(r, n, operands);
    return graph_handle(r, g->count++);
}

/* Others move elements of any type, or convert them. */
static bool computes(const struct op *op)
{
    if (op->kind == OP_MAP)
        return op != &op_cast && op != &op_from_f16 && op != &op_from_bf16;
    return op->kind == OP_REDUCE || op->kind == OP_CONTRACT || op->kind == OP_ROUTINE;
}

tarn_tensor graph_record(tarn_replica *r, const struct op *op, const tarn_tensor *in, int count,
                         tarn_shape shape, tarn_dtype dtype, const union op_arg *arg)
{
    tarn_tensor wide[OPERANDS_MOST];
    if (!wide_possible(r, op->name, dtype))
        return graph_poison(r);
    if (!computes(op) || count > OPERANDS_MOST)
        return record(r, op, in, count, shape, dtype, arg);
    for (int i = 0; i < count; i++)
        wide[i] = wide_operand(op, in[i], dtype);
    if (!dtype_is_half(dtype))
        return record(r, op, wide, count, shape, dtype, arg);
    const tarn_tensor y = record(r, op, wide, count, shape, TARN_F32, arg);
    if (!tarn_failed(y))
        r->graph.nodes[y.node].rounded = true;
    return tarn_cast(y, dtype);
}

/* ---- leaves with a buffer ------------------------------------------------------------------- */

static bool input_add(tarn_replica *r, struct graph_input input, uint32_t *slot)
{
    struct graph *g = &r->graph;
    if (!grow(r, &g->inputs, &g->input_capacity, g->input_count, 1, sizeof *g->inputs))
        return false;
    *slot = g->input_count;
    g->inputs[g->input_count++] = input;
    return true;
}

static tarn_status input_release(const struct graph_input *in)
{
    if (in->free_after)
        buffer_free(in->buffer);
    return in->upload != NULL ? upload_release(in->upload) : TARN_OK;
}

tarn_tensor graph_input(tarn_replica *r, struct buffer *b, struct upload *upload, bool free_after,
                        tarn_shape shape, tarn_dtype dtype)
{
    const struct spec whole = { { 0 } };
    return graph_input_cut(r, b, upload, free_after, shape, dtype, &whole);
}

tarn_tensor graph_input_cut(tarn_replica *r, struct buffer *b, struct upload *upload,
                            bool free_after, tarn_shape shape, tarn_dtype dtype,
                            const struct spec *spec)
{
    const struct graph_input input = { b, upload, free_after };
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.leaf.spec = *spec;
    if (r->status != TARN_OK || !input_add(r, input, &arg.leaf.slot)) {
        const tarn_status s = input_release(&input);
        if (s != TARN_OK)
            replica_fail(r, s, NULL);
        return graph_poison(r);
    }
    graph_note_given(&r->graph, shape, dtype);
    return graph_record(r, &op_input, NULL, 0, shape, dtype, &arg);
}

static tarn_status make_leaf(tarn_replica *r, uint32_t node, struct buffer *b, const struct op *op)
{
    struct graph *g = &r->graph;
    uint32_t slot;
    if (!grow(r, &g->evaluated, &g->evaluated_capacity, g->evaluated_count, 1,
              sizeof *g->evaluated) ||
        !input_add(r, (struct graph_input){ .buffer = b, .free_after = true }, &slot)) {
        buffer_free(b);
        return r->status;
    }
    struct node *n = &g->nodes[node];
    g->evaluated[g->evaluated_count++] = (struct graph_evaluated){ node, *n };
    const bool steps_lead = scan_steps_lead(n);
    n->op = op;
    n->in_count = 0;
    memset(&n->arg, 0, sizeof n->arg);
    n->arg.leaf.slot = slot;
    n->arg.leaf.axis = op == &op_held && steps_lead;
    n->arg.leaf.bits =
        op == &op_held && n->shape.rank > 0 && graph_may_be_batch(g, n->shape.dim[0]);
    const uint32_t key[4] = { UINT32_MAX, node, slot, n->arg.leaf.bits };
    hash_add(g, key, sizeof key);
    return TARN_OK;
}

tarn_status graph_evaluate(tarn_replica *r, uint32_t node, struct buffer *b)
{
    return make_leaf(r, node, b, &op_input);
}

/* ---- loops ---------------------------------------------------------------------------------- */

tarn_status graph_hold(tarn_replica *r, uint32_t node, struct buffer *b)
{
    return make_leaf(r, node, b, &op_held);
}

tarn_status graph_hold_cut(tarn_replica *r, uint32_t node, struct buffer *b,
                           const struct spec *spec)
{
    TRY(make_leaf(r, node, b, &op_held));
    r->graph.nodes[node].arg.leaf.spec = *spec;
    return TARN_OK;
}

tarn_status graph_keep_buffer(tarn_replica *r, struct buffer *b)
{
    uint32_t slot;
    if (input_add(r, (struct graph_input){ .buffer = b, .free_after = true }, &slot))
        return TARN_OK;
    buffer_free(b);
    return r->status;
}

bool graph_add_scan(tarn_replica *r, const struct scan *scan, uint32_t *index)
{
    struct graph *g = &r->graph;
    if (!grow(r, &g->scans, &g->scan_capacity, g->scan_count, 1, sizeof *g->scans))
        return false;
    *index = g->scan_count;
    g->scans[g->scan_count++] = *scan;
    return true;
}

bool graph_begin_region(tarn_replica *r)
{
    struct graph *g = &r->graph;
    if (!grow(r, &g->regions, &g->region_capacity, g->region_count, 1, sizeof *g->regions))
        return false;
    const uint32_t first = g->count > 0 ? g->count : 1; /* node 0 is poison */
    g->regions[g->region_count++] = (struct graph_region){ first, first };
    return true;
}

/* ---- the end of a step ---------------------------------------------------------------------- */

void graph_reset(tarn_replica *r)
{
    struct graph *g = &r->graph;
    graph_recorded(r);
    for (uint32_t i = 0; i < g->input_count; i++) {
        const tarn_status s = input_release(&g->inputs[i]);
        if (s != TARN_OK)
            replica_fail(r, s, NULL);
    }
    owned_reset(r);
    if (r->trainer != NULL)
        r->trainer->reset(r);
    g->count = g->operand_count = g->input_count = g->number_count = 0;
    g->evaluated_count = g->rand_count = g->part_count = g->owned_slot_count = 0;
    g->hash[0] = g->hash[1] = 0;
    g->scan_count = 0;
    g->region_count = 0;
    g->in_body = g->in_region = false;
    g->batch = g->given.rows = 0;
    g->given.bytes = 0;
    r->updates = false;
    if (++r->step == STEP_OWNED)
        r->step = 1;
}

void graph_release(struct graph *g)
{
    free(g->nodes);
    free(g->operands);
    free(g->inputs);
    free(g->parts);
    free(g->numbers);
    free(g->evaluated);
    free(g->owned_slots);
    free(g->scans);
    free(g->regions);
    memset(g, 0, sizeof *g);
}

/* ---- what users may ask of a tensor --------------------------------------------------------- */

tarn_shape tarn_shape_get(tarn_tensor t)
{
    if (t.replica != NULL && t.step == STEP_OWNED) {
        const struct owned *o = owned_of(t);
        if (o != NULL)
            return o->shape;
    }
    return graph_node(t)->shape;
}

tarn_dtype tarn_dtype_get(tarn_tensor t)
{
    if (t.replica != NULL && t.step == STEP_OWNED) {
        const struct owned *o = owned_of(t);
        if (o != NULL)
            return o->dtype;
    }
    return graph_node(t)->dtype;
}

bool tarn_failed(tarn_tensor t)
{
    return t.replica == NULL || t.node == 0;
}
