/* SPDX-License-Identifier: Apache-2.0 */
/* Copies what the roots need out of the graph; equal nodes become one, constants pass
 * through views, views of views collapse where that is plain. In: a program. Out: the module. Must
 * change no value, but for Winograd's last digits. */
#include <string.h>

#include "compile/1_graph/graph_passes.h"
#include "tensor/expand.h"
#include "tensor/scan.h"
#include "tensor/shape.h"
#include "tensor/spread_label.h"

struct builder {
    const struct program *g;
    struct module *m;
    enum winograd winograd;
    enum convolutions how;
    bool cuts;         /* convolutions into patches are products */
    uint32_t *renamed; /* graph node -> module node + 1 */
    uint32_t *table;   /* hash -> module node + 1 */
    uint32_t mask;
    uint32_t operand_capacity;
};

static uint64_t hash_step(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 29);
}

static uint64_t node_hash(const struct node *n, const uint32_t *in)
{
    uint64_t h = hash_step((uint64_t)(uintptr_t)n->op, (uint64_t)n->dtype);
    for (int i = 0; i < n->shape.rank; i++)
        h = hash_step(h, (uint64_t)n->shape.dim[i]);
    for (uint32_t i = 0; i < n->in_count; i++)
        h = hash_step(h, in[i]);
    uint64_t word;
    const unsigned char *bytes = (const unsigned char *)&n->arg;
    for (size_t i = 0; i + sizeof word <= sizeof n->arg; i += sizeof word) {
        memcpy(&word, bytes + i, sizeof word);
        h = hash_step(h, word);
    }
    return h;
}

static bool node_equal(const struct node *a, const uint32_t *in_a, const struct node *b,
                       const uint32_t *in_b)
{
    return a->op == b->op && a->dtype == b->dtype && a->in_count == b->in_count &&
           (a->spread == SPREAD_SAMPLES) == (b->spread == SPREAD_SAMPLES) &&
           shape_equal(a->shape, b->shape) && memcmp(&a->arg, &b->arg, sizeof a->arg) == 0 &&
           (a->in_count == 0 || memcmp(in_a, in_b, a->in_count * sizeof *in_a) == 0);
}

static uint32_t module_add(struct builder *b, const struct node *n, const uint32_t *in)
{
    struct module *m = b->m;
    uint32_t at = (uint32_t)node_hash(n, in) & b->mask;
    for (; b->table[at] != 0; at = (at + 1) & b->mask) {
        const uint32_t i = b->table[at] - 1;
        if (node_equal(n, in, &m->nodes[i], m->operands + m->nodes[i].first_in))
            return i;
    }
    struct node *copy = &m->nodes[m->count];
    *copy = *n;
    copy->first_in = m->operand_count;
    for (uint32_t i = 0; i < n->in_count; i++)
        m->operands[m->operand_count++] = in[i];
    b->table[at] = m->count + 1;
    return m->count++;
}

tarn_shape expand_shape(const struct builder *b, uint32_t node)
{
    return b->m->nodes[node].shape;
}

tarn_dtype expand_dtype(const struct builder *b, uint32_t node)
{
    return b->m->nodes[node].dtype;
}

bool expand_by_vectors(const struct builder *b)
{
    return b->m->target->fuse && !b->m->target->items;
}

/* Which operand of a node is its value, bit for bit: x of 1 * x, with which gradients begin; or
 * -1. */
static int same_operand(const struct module *m, const struct node *n, const uint32_t *in)
{
    const float one = 1;
    uint32_t bits = 1;
    if (n->op != &op_mul || dtype_is_wide(n->dtype))
        return -1;
    if (n->dtype == TARN_F32)
        memcpy(&bits, &one, sizeof bits);
    for (int k = 0; k < 2; k++) {
        const struct node *c = &m->nodes[in[k]], *x = &m->nodes[in[1 - k]];
        if (c->op == &op_constant && c->arg.leaf.bits == bits && x->dtype == n->dtype &&
            shape_equal(x->shape, n->shape))
            return 1 - k;
    }
    return -1;
}

uint32_t expand_make(struct builder *b, const struct op *op, tarn_shape shape, tarn_dtype dtype,
                     const union op_arg *arg, const uint32_t *in, uint32_t count)
{
    const struct node n = node_of(op, shape, dtype, arg, count);
    return module_add(b, &n, in);
}

uint32_t expand_reshape(struct builder *b, uint32_t x, tarn_shape to)
{
    return expand_make(b, &op_reshape, to, expand_dtype(b, x), NULL, &x, 1);
}

struct module *simplify_module(const struct builder *b)
{
    return b->m;
}

bool simplify_winograd(const struct builder *b)
{
    return b->winograd == WINOGRAD_ALL;
}

/* The compiler must know which rows are samples; the other labels said what to record. */
static uint32_t relabelled(struct builder *b, uint32_t x, const struct node *as)
{
    const struct module *m = b->m;
    struct node n = m->nodes[x];
    if (as->spread != SPREAD_SAMPLES || n.spread == SPREAD_SAMPLES)
        return x;
    n.spread = SPREAD_SAMPLES;
    n.part = as->part;
    return module_add(b, &n, m->operands + n.first_in);
}

/* A word on a value is kept with the value where that is computed element by element, or is there
 * already; others become a view that has it, so that sums and products stay as they are. */
static uint32_t with_word(struct builder *b, const struct node *n, uint32_t x)
{
    const enum op_kind kind = b->m->nodes[x].op->kind;
    const bool itself = kind == OP_LEAF || kind == OP_MAP || kind == OP_VIEW || kind == OP_GATHER;
    const uint32_t to = itself ? x : module_add(b, n, &x);
    b->m->said[to] = (uint8_t)n->arg.batch_axis.said;
    return to;
}

/* The right operand of a product by a view instead of a flag: so it may be stored, once for all that read it. */
static uint32_t turned(struct builder *b, struct node *n, uint32_t x)
{
    const struct node *of = &b->m->nodes[x];
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    memcpy(arg.permute.order, (int32_t[]){ 1, 0 }, 2 * sizeof(int32_t));
    n->arg.matmul.transpose[1] = 0;
    return expand_make(b, &op_permute, TARN_SHAPE(of->shape.dim[1], of->shape.dim[0]), of->dtype,
                       &arg, &x, 1);
}

/* An image that zeros were put around is read as it was, by a convolution that has so much more padding. A sequence is an
 * image of one row. */
static void read_unpadded(struct builder *b, struct node *n, uint32_t in[2])
{
    const struct module *m = b->m;
    const struct node *image = &m->nodes[in[0]], *pad = image;
    if (image->op == &op_reshape) {
        pad = &m->nodes[module_operand(m, in[0], 0)];
        const tarn_shape s = pad->shape;
        if (s.rank != 3 || !shape_equal(image->shape, TARN_SHAPE(s.dim[0], s.dim[1], 1, s.dim[2])))
            return;
    }
    bool around = pad->op == &op_pad && pad->arg.pad.value == 0;
    for (int d = 0; d < pad->shape.rank && around; d++) {
        const int32_t low = pad->arg.pad.low[d], high = pad->arg.pad.high[d];
        around = d < 2 ? low == 0 && high == 0 : low >= 0 && high >= 0;
    }
    if (!around)
        return;
    for (int d = 2; d < pad->shape.rank; d++)
        n->arg.conv.padding[CONV_DIRECTIONS - pad->shape.rank + d] += pad->arg.pad.low[d];
    const bool row = pad != image;
    in[0] = m->operands[pad->first_in];
    const tarn_shape s = m->nodes[in[0]].shape;
    if (row)
        in[0] = expand_reshape(b, in[0], TARN_SHAPE(s.dim[0], s.dim[1], 1, s.dim[2]));
}

/* Whether batches are joined, as two views of each picture. */
static bool joins_batches(const struct builder *b, const struct node *n)
{
    return b->m->target->samples == SAMPLES_FRAMES && n->op->kind == OP_CONCAT &&
           n->arg.concat.axis == 0;
}

/* What is joined lies in rows, and this view of it may be laid out as frames are. */
static uint32_t joined(struct builder *b, const struct node *n, const uint32_t *in)
{
    const uint32_t rows = module_add(b, n, in);
    return expand_make(b, &op_batch_axis, n->shape, n->dtype, NULL, &rows, 1);
}

static uint32_t copy_node(struct builder *b, uint32_t index)
{
    const struct program *g = b->g;
    struct module *m = b->m;
    struct node n = g->nodes[index];
    uint32_t *in = arena_take(m->arena, (n.in_count + 1) * sizeof *in);
    if (in == NULL)
        return 0;
    for (uint32_t i = 0; i < n.in_count; i++)
        in[i] = b->renamed[g->operands[n.first_in + i]] - 1;
    n.needs_grad = false;
    if (scan_steps_lead(&n))
        n.spread = SPREAD_SAME; /* axis 0 are no samples */
    if (n.op == &op_spread)
        return relabelled(b, in[0], &n);
    /* Without it the region's nodes are the first ones' equals. */
    if (n.op == &op_after && g->kept_from > 0 && n.arg.after.region >= g->kept_from)
        return in[0];
    if (n.op == &op_detach)
        return in[0];
    if (n.op == &op_batch_axis)
        return with_word(b, &n, relabelled(b, in[0], &n));
    if (n.in_count == 1 && n.op->uniform) {
        const struct node *x = &m->nodes[in[0]];
        if (x->op == &op_constant) {
            n.op = &op_constant;
            n.arg = x->arg;
            n.in_count = 0;
            return module_add(b, &n, in);
        }
        if (n.op == &op_reshape && x->op == &op_reshape)
            in[0] = m->operands[x->first_in];
        if (n.op == &op_reshape &&
            x->op == &op_piece) { /* which lies together, whatever its shape */
            n.op = &op_piece;
            n.arg = x->arg;
            in[0] = m->operands[x->first_in];
        }
        if (n.op == &op_reshape && shape_equal(n.shape, m->nodes[in[0]].shape))
            return in[0];
    }
    if (n.op == &op_matmul && n.shape.rank == 2 && n.arg.matmul.transpose[1] != 0)
        in[1] = turned(b, &n, in[1]);
    if (n.op == &op_conv2d || n.op == &op_conv2d_weight)
        read_unpadded(b, &n, in);
    const int same = same_operand(m, &n, in);
    if (same >= 0)
        return in[same];
    if (n.op->kind == OP_COMPOSED)
        return n.op->expand(b, &n, in);
    uint32_t expanded;
    if (turn_maps(b, &n, in[0], &expanded))
        return expanded;
    if (b->cuts && patches_expand(b, &n, in, &expanded))
        return expanded;
    if (b->how == CONVOLVE_LANES && few_expand(b, &n, in, &expanded))
        return expanded;
    if (b->how == CONVOLVE_DIRECTLY && few_columns(b, &n, in, &expanded))
        return expanded;
    if (b->winograd != WINOGRAD_NONE && b->how != CONVOLVE_DIRECTLY &&
        !(b->how == CONVOLVE_LANES && n.op == &op_conv2d) &&
        winograd_expand(b, m->target, b->winograd, &n, in, &expanded))
        return expanded;
    return joins_batches(b, &n) ? joined(b, &n, in) : module_add(b, &n, in);
}

/* Counts consumers among the nodes that still matter: collapsing views leaves some behind. */
static void count_uses(struct module *m, bool *live)
{
    for (int i = 0; i < m->root_count; i++)
        live[m->roots[i].node] = true;
    nodes_mark_operands(m->nodes, m->count, m->operands, live);
    for (uint32_t i = 0; i < m->count; i++) {
        if (!live[i])
            continue;
        const struct node *n = &m->nodes[i];
        for (uint32_t k = 0; k < n->in_count; k++) {
            const uint32_t x = m->operands[n->first_in + k];
            if (k > 0 && x == m->operands[n->first_in + k - 1])
                continue;
            m->uses[x]++;
            m->user[x] = i;
        }
    }
    for (int i = 0; i < m->root_count; i++) {
        m->uses[m->roots[i].node] += 1;
        m->user[m->roots[i].node] = UINT32_MAX;
    }
}

static tarn_status collect_roots(const struct program *g, struct builder *b, bool *needed)
{
    struct module *m = b->m;
    for (uint32_t i = 1; g->effects && i < g->count; i++)
        if (g->nodes[i].op->kind == OP_EFFECT && g->nodes[i].arg.assign.owned >= m->owned_end)
            m->owned_end = g->nodes[i].arg.assign.owned + 1;
    m->assigned = arena_take(m->arena, (m->owned_end + 1) * sizeof *m->assigned);
    m->roots = arena_take(m->arena, (g->count + (uint32_t)g->output_count) * sizeof *m->roots);
    if (m->roots == NULL || m->assigned == NULL)
        return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    for (int i = 0; i < g->output_count; i++) {
        m->roots[m->root_count++] =
            (struct root){ .node = g->outputs[i], .owned = -1, .output = i };
        needed[g->outputs[i]] = true;
    }
    for (uint32_t i = 1; g->effects && i < g->count; i++) {
        const struct node *n = &g->nodes[i];
        if (n->op->kind != OP_EFFECT)
            continue;
        const uint32_t value = g->operands[n->first_in], owned = n->arg.assign.owned;
        if (m->assigned[owned] == 0)
            m->assigned[owned] = ++m->root_count;
        /* A later assignment to the same tensor replaces the earlier one. */
        m->roots[m->assigned[owned] - 1] =
            (struct root){ .node = value, .owned = (int)owned, .output = -1 };
    }
    for (int i = 0; i < m->root_count; i++)
        needed[m->roots[i].node] = true;
    return TARN_OK;
}

/* How many nodes may be made of one, besides itself. */
static size_t added_nodes(const struct builder *b, const struct node *n)
{
    if (n->op->kind == OP_COMPOSED)
        return (size_t)n->in_count * COMPOSED_NODES;
    if (n->op == &op_batch_axis)
        return 1; /* the value with another label, and the word */
    const bool is_contract = n->op->kind == OP_CONTRACT;
    return (n->op == &op_matmul ? 1u : 0u) /* turned() */ + joins_batches(b, n) +
           (n->op == &op_permute ? TURNED_NODES : 0u) +
           is_convolution(n->op) /* read_unpadded() */ +
           (b->how != CONVOLVE_BLOCKS ? FEW_NODES : 0u) +
           (is_contract && b->cuts ? PATCHES_NODES : 0u) +
           (is_contract && b->winograd != WINOGRAD_NONE ? WINOGRAD_NODES : 0u);
}

tarn_status simplify(const struct program *g, const struct target *t, struct arena *a,
                     enum convolutions how, struct module *m)
{
    *m = (struct module){ .arena = a, .program = g, .target = t };
    struct builder b = { .g = g, .m = m, .how = how };
    b.winograd = winograd_wanted(g, t);
    b.cuts = t->samples == SAMPLES_ALONE && convolves_patches(g);
    size_t n = g->count + 1;
    for (uint32_t i = 1; i < g->count; i++)
        n += added_nodes(&b, &g->nodes[i]);
    uint32_t table_size = 64;
    while (table_size < 4 * n)
        table_size *= 2;
    b.mask = table_size - 1;
    m->nodes = arena_take(a, n * sizeof *m->nodes);
    m->operands = arena_take(a, (g->operand_count + 2 * n) * sizeof *m->operands);
    m->uses = arena_take(a, n * sizeof *m->uses);
    m->user = arena_take(a, n * sizeof *m->user);
    m->said = arena_take(a, n * sizeof *m->said);
    m->batched = arena_take(a, n * sizeof *m->batched);
    m->phase = arena_take(a, n * sizeof *m->phase);
    m->stored = arena_take(a, n * sizeof *m->stored);
    m->lies = arena_take(a, n * sizeof *m->lies);
    b.renamed = arena_take(a, n * sizeof *b.renamed);
    b.table = arena_take(a, table_size * sizeof *b.table);
    bool *needed = arena_take(a, n * sizeof *needed), *live = arena_take(a, n * sizeof *live);
    if (a->failed)
        return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    TRY(collect_roots(g, &b, needed));
    nodes_mark_operands(g->nodes, g->count, g->operands, needed);
    m->needed = needed;
    for (uint32_t i = 1; i < g->count; i++)
        if (needed[i] && g->nodes[i].op->kind != OP_EFFECT)
            b.renamed[i] = copy_node(&b, i) + 1;
    for (int i = 0; i < m->root_count; i++)
        m->roots[i].node = b.renamed[m->roots[i].node] - 1;
    count_uses(m, live);
    return a->failed ? error_set(TARN_ERR_MEMORY, "compile: out of host memory") : TARN_OK;
}
