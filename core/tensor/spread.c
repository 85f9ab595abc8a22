/* SPDX-License-Identifier: Apache-2.0 */
/* The label of each node, by the kind of its op. */
#include "tensor/shape.h"
#include "tensor/spread.h"
#include "tensor/sum_order.h"

#include <string.h>

/* ---- index maps ----------------------------------------------------------------------------- */

int spread_leading_axis(const struct contract_map *map, int axes, int rank)
{
    if (rank == 0 || map->dim[0].offset != 0 || map->dim[0].divide > 1 || map->dim[0].guarded)
        return -1;
    int found = -1;
    for (int a = 0; a < axes; a++) {
        if (map->dim[0].coef[a] == 0)
            continue;
        if (found >= 0 || map->dim[0].coef[a] != 1)
            return -1;
        found = a;
    }
    for (int d = 1; found >= 0 && d < rank; d++)
        if (map->dim[d].coef[found] != 0)
            return -1;
    return found;
}

bool spread_view_keeps(const struct node *n, tarn_shape in)
{
    if (n->shape.rank == 0 || in.rank == 0 || n->shape.dim[0] != in.dim[0])
        return false;
    if (n->op->index == NULL)
        return true;
    struct index_map map;
    memset(&map, 0, sizeof map);
    n->op->index(n, in, &map);
    for (int o = 0; o < n->shape.rank; o++)
        if (map.dim[0].coef[o] != (o == 0))
            return false;
    for (int d = 1; d < in.rank; d++)
        if (map.dim[d].coef[0] != 0)
            return false;
    return map.dim[0].offset == 0 && map.dim[0].divide <= 1 && !map.dim[0].guarded;
}

/* Whether no dimension of the operand depends on axis 0 of the view. */
static bool view_repeats(const struct node *n, tarn_shape in)
{
    struct index_map map;
    if (n->shape.rank == 0 || n->op->index == NULL)
        return false;
    memset(&map, 0, sizeof map);
    n->op->index(n, in, &map);
    for (int d = 0; d < in.rank; d++)
        if (map.dim[d].coef[0] != 0 || map.dim[d].guarded)
            return false;
    return true;
}

static bool uses_axis(const struct contract_map *map, int rank, int axis)
{
    for (int d = 0; d < rank; d++)
        if (map->dim[d].coef[axis] != 0)
            return true;
    return false;
}

/* ---- linear ops ----------------------------------------------------------------------------- */

struct linear {
    const struct op *op;
    unsigned operands; /* bit i: operand i */
    bool jointly;      /* in all of these at once, rather than in any one of them */
};

static bool adds(const struct op *op)
{
    return op->combination != NULL && op->combination->adds;
}

static struct linear linear_of(const struct op *op)
{
    static const struct linear maps[] = {
        { &op_add, 3, true }, { &op_sub, 3, true },   { &op_neg, 1, true },
        { &op_div, 1, true }, { &op_where, 6, true }, { &op_mul, 3, false },
    };
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        if (maps[i].op == op)
            return maps[i];
    switch (op->kind) {
    case OP_VIEW:
        return (struct linear){ op, 1, true };
    case OP_REDUCE:
        return (struct linear){ op, adds(op), true };
    case OP_GATHER:
    case OP_ROUTINE:
        return (struct linear){ op, 1, true };
    case OP_CONTRACT:
        return (struct linear){ op, 3, false };
    case OP_CONCAT:
        return (struct linear){ op, ~0U, true };
    case OP_LEAF:
    case OP_MAP:
    case OP_TRANSFORM:
    case OP_COMPOSED:
    case OP_HOST:
    case OP_EFFECT:
        break;
    }
    return (struct linear){ op, 0, true };
}

unsigned spread_adds(const struct op *op)
{
    const struct linear l = linear_of(op);
    return l.jointly ? l.operands : 0;
}

/* ---- rules ---------------------------------------------------------------------------------- */

/* A node with its operands, and how many of them have which label. */
struct view_of {
    const tarn_replica *r;
    const struct node *n;
    int with[SPREAD_OWN + 1];
};

static const struct node *operand(const struct view_of *v, uint32_t k)
{
    const struct graph *g = &v->r->graph;
    return &g->nodes[g->operands[v->n->first_in + k]];
}

static bool is_sum(const struct node *n)
{
    return n->spread == SPREAD_PARTIAL || n->spread == SPREAD_LINEAR;
}

/* Samples of the step's batches; 0 when there is none, or they are of several sizes. */
static int32_t samples_of(const struct graph *g)
{
    for (uint32_t i = 1; i < g->part_count; i++)
        if (g->parts[i].samples != g->parts[0].samples)
            return 0;
    return g->part_count > 0 ? g->parts[0].samples : 0;
}

/* Whether a reshape leaves each sample's elements together: as so many rows of axis 0. */
static bool keeps_samples(const struct graph *g, const struct node *n, tarn_shape in)
{
    const int32_t samples = samples_of(g);
    return n->op == &op_reshape && samples > 0 && in.rank > 0 && n->shape.rank > 0 &&
           in.dim[0] % samples == 0 && n->shape.dim[0] % samples == 0;
}

int32_t spread_rows(tarn_tensor x)
{
    const uint32_t node = has_shards(x.replica) ? graph_resolve(x) : 0;
    const struct node *n = node ? &x.replica->graph.nodes[node] : NULL;
    const int32_t samples = node ? samples_of(&x.replica->graph) : 0;
    return samples > 0 && n->spread == SPREAD_SAMPLES && n->shape.rank > 0
               ? n->shape.dim[0] / samples
               : 1;
}

tarn_tensor spread_by_sample(tarn_tensor x)
{
    tarn_shape shape = tarn_shape_get(x);
    const int32_t rows = spread_rows(x);
    if (rows < 2 || shape.rank == TARN_MAX_RANK)
        return x;
    memmove(&shape.dim[1], &shape.dim[0], (size_t)shape.rank++ * sizeof *shape.dim);
    shape.dim[0] = shape.dim[1] / rows;
    shape.dim[1] = rows;
    return tarn_reshape(x, shape);
}

static enum spread of_leaf(const tarn_replica *r, const struct node *n)
{
    const bool rows = n->shape.rank > 0 && graph_is_part(&r->graph, n->shape.dim[0]);
    if (n->op == &op_constant || (n->op == &op_iota && n->arg.position.at.stride[0] == 0))
        return n->shape.rank > 0 ? SPREAD_ALIKE : SPREAD_SAME;
    if (n->op == &op_owned)
        return (enum spread)r->owned[n->arg.leaf.slot].spread;
    return rows && (n->op == &op_rand || n->op == &op_input) ? SPREAD_EITHER : SPREAD_SAME;
}

/* A function of partial sums: linear, or nothing that a sum over replicas could make good. */
static enum spread of_sums(const struct view_of *v)
{
    const struct linear l = linear_of(v->n->op);
    int sums = 0;
    if (v->with[SPREAD_SAMPLES] + v->with[SPREAD_EITHER] > 0 || !dtype_is_single(v->n->dtype))
        return SPREAD_OWN;
    for (uint32_t k = 0; k < v->n->in_count; k++) {
        if (!is_sum(operand(v, k)))
            continue;
        if (!(l.operands >> (k < 31 ? k : 31) & 1) || !dtype_is_single(operand(v, k)->dtype))
            return SPREAD_OWN;
        sums++;
    }
    return l.jointly || sums == 1 ? SPREAD_LINEAR : SPREAD_OWN;
}

/* Operands side by side: one has samples along axis 0, so the others must have the same, or be
 * alike for all of them. */
static enum spread side_by_side(const struct view_of *v)
{
    if (v->with[SPREAD_SAMPLES] > 0)
        return v->with[SPREAD_SAME] == 0 ? SPREAD_SAMPLES : SPREAD_OWN;
    if (v->with[SPREAD_EITHER] > 0)
        return v->with[SPREAD_SAME] == 0 ? SPREAD_EITHER : SPREAD_OWN;
    return v->with[SPREAD_SAME] == 0 && v->n->shape.rank > 0 ? SPREAD_ALIKE : SPREAD_SAME;
}

static enum spread of_view(const struct view_of *v)
{
    const struct node *n = v->n, *x = operand(v, 0);
    const enum spread s = (enum spread)x->spread;
    const bool filled = n->op == &op_pad && n->arg.pad.value != 0.0f;
    if (is_sum(x))
        return filled ? SPREAD_OWN
               : s == SPREAD_PARTIAL && tarn_shape_count(n->shape) <= tarn_shape_count(x->shape)
                   ? SPREAD_PARTIAL
                   : SPREAD_LINEAR;
    if (s == SPREAD_SAMPLES && keeps_samples(&v->r->graph, n, x->shape))
        return s;
    if (s == SPREAD_SAMPLES || s == SPREAD_EITHER)
        return spread_view_keeps(n, x->shape) ? s : SPREAD_OWN;
    const bool alike = s == SPREAD_ALIKE && spread_view_keeps(n, x->shape);
    return alike || view_repeats(n, x->shape) ? SPREAD_ALIKE : SPREAD_SAME;
}

/* The program's word makes random values and host arrays of as many rows as a batch has here its samples'. */
static enum spread of_word(const struct view_of *v)
{
    const struct graph *g = &v->r->graph;
    const struct node *n = v->n;
    if (n->arg.batch_axis.said == BATCH_SAMPLES && operand(v, 0)->spread == SPREAD_EITHER)
        for (uint32_t i = 0; i < g->part_count; i++)
            if (g->parts[i].samples == n->shape.dim[0])
                return spread_of_part(v->r, g->parts[i]);
    return of_view(v);
}

static enum spread of_reduce(const struct view_of *v)
{
    const struct node *n = v->n, *x = operand(v, 0);
    const enum spread s = (enum spread)x->spread;
    if (is_sum(x))
        return of_sums(v);
    if (!(n->arg.reduce.axes & 1) || s == SPREAD_SAME)
        return s;
    if (s == SPREAD_ALIKE) /* as many equal terms as there are samples round as their number does */
        return graph_is_part(&v->r->graph, x->shape.dim[0]) ? SPREAD_OWN : SPREAD_SAME;
    return s == SPREAD_SAMPLES && adds(n->op) && graph_is_part(&v->r->graph, x->shape.dim[0])
               ? SPREAD_PARTIAL
               : SPREAD_OWN; /* rows of samples are taken apart before they are summed */
}

/* Whether an operand of a contraction has along `axis` what another has samples along. */
static bool fits_axis(const struct node *x, const struct contract *c, int k, int axis)
{
    if (!uses_axis(&c->in[k], x->shape.rank, axis))
        return x->spread == SPREAD_SAME || x->spread == SPREAD_ALIKE;
    return x->spread != SPREAD_SAME &&
           spread_leading_axis(&c->in[k], c->axes, x->shape.rank) == axis;
}

static enum spread of_contract(const struct view_of *v)
{
    const struct node *n = v->n;
    const struct node *const x[2] = { operand(v, 0), operand(v, 1) };
    if (v->with[SPREAD_PARTIAL] + v->with[SPREAD_LINEAR] > 0)
        return of_sums(v);
    struct contract c;
    memset(&c, 0, sizeof c);
    n->op->contract(n, (tarn_shape[2]){ x[0]->shape, x[1]->shape }, &c);
    const int out = spread_leading_axis(&c.out, c.axes, n->shape.rank);
    const bool samples = v->with[SPREAD_SAMPLES] > 0, either = v->with[SPREAD_EITHER] > 0;
    const enum spread label = samples ? SPREAD_SAMPLES : SPREAD_EITHER;
    for (int k = 0; k < 2; k++) {
        const int axis = spread_leading_axis(&c.in[k], c.axes, x[k]->shape.rank);
        if (x[k]->spread == SPREAD_ALIKE && axis >= c.out_axes && !samples &&
            graph_is_part(&v->r->graph, x[k]->shape.dim[0]))
            return SPREAD_OWN;
    }
    if (!samples && !either) {
        const bool alike = out >= 0 && fits_axis(x[0], &c, 0, out) && fits_axis(x[1], &c, 1, out);
        return alike ? SPREAD_ALIKE : SPREAD_SAME;
    }
    const int k = x[0]->spread != label;
    const int axis = spread_leading_axis(&c.in[k], c.axes, x[k]->shape.rank);
    if (axis < 0 || !fits_axis(x[1 - k], &c, 1 - k, axis))
        return SPREAD_OWN;
    const bool sums = samples && axis >= c.out_axes;
    return axis == out                                               ? label
           : sums && graph_is_part(&v->r->graph, x[k]->shape.dim[0]) ? SPREAD_PARTIAL
                                                                     : SPREAD_OWN;
}

static enum spread of_gather(const struct view_of *v)
{
    const struct node *table = operand(v, 0), *index = operand(v, 1);
    const bool rows = index->spread == SPREAD_SAMPLES || index->spread == SPREAD_EITHER ||
                      index->spread == SPREAD_ALIKE;
    if (is_sum(table))
        return of_sums(v);
    if (is_sum(index) || table->spread == SPREAD_SAMPLES || table->spread == SPREAD_EITHER)
        return SPREAD_OWN;
    return rows ? (enum spread)index->spread : SPREAD_SAME;
}

/* Lines within samples are theirs. One line of all is a sum over samples, each shard's by itself. */
static enum spread of_routine(const struct view_of *v)
{
    const struct node *n = v->n, *x = operand(v, 0);
    if (v->with[SPREAD_PARTIAL] + v->with[SPREAD_LINEAR] > 0)
        return of_sums(v);
    const bool samples = v->with[SPREAD_SAMPLES] + v->with[SPREAD_EITHER] > 0;
    if (n->arg.routine.axis > 0)
        return side_by_side(v);
    const bool alike = v->with[SPREAD_ALIKE] > 0 && graph_is_part(&v->r->graph, x->shape.dim[0]);
    if (!samples)
        return alike ? SPREAD_OWN : SPREAD_SAME;
    return n->arg.routine.axis < 0 && v->with[SPREAD_SAMPLES] > 0 && v->with[SPREAD_SAME] == 0
               ? SPREAD_PARTIAL
               : SPREAD_OWN;
}

static enum spread of_concat(const struct view_of *v)
{
    const int rows = v->with[SPREAD_SAMPLES] + v->with[SPREAD_EITHER];
    if (v->n->arg.concat.axis == 0)
        return rows > 0 ? SPREAD_OWN : SPREAD_SAME;
    return side_by_side(v);
}

enum spread spread_of(const tarn_replica *r, const struct node *n)
{
    if (!has_shards(r))
        return SPREAD_SAME;
    /* What a loop leaves is labelled piece by piece, and so is what goes back into it. */
    if (n->op == &op_scan || n->op == &op_place)
        return SPREAD_SAME;
    if (n->op == &op_piece)
        return (enum spread)n->arg.piece.label;
    struct view_of v = { .r = r, .n = n };
    if (n->op == &op_after)
        return (enum spread)operand(&v, 0)->spread;
    for (uint32_t k = 0; k < n->in_count; k++)
        v.with[operand(&v, k)->spread]++;
    if (v.with[SPREAD_OWN] > 0)
        return SPREAD_OWN;
    const bool sums = v.with[SPREAD_PARTIAL] + v.with[SPREAD_LINEAR] > 0;
    switch (n->op->kind) {
    case OP_LEAF:
        return of_leaf(r, n);
    case OP_MAP:
    case OP_COMPOSED:
        return sums ? of_sums(&v) : side_by_side(&v);
    case OP_VIEW:
        return n->op == &op_spread       ? (enum spread)n->arg.spread.label
               : n->op == &op_steps      ? (enum spread)operand(&v, 0)->spread
               : n->op == &op_batch_axis ? of_word(&v)
                                         : of_view(&v);
    case OP_REDUCE:
        return of_reduce(&v);
    case OP_CONTRACT:
        return of_contract(&v);
    case OP_GATHER:
        return of_gather(&v);
    case OP_ROUTINE:
        return of_routine(&v);
    case OP_CONCAT:
        return sums ? of_sums(&v) : of_concat(&v);
    case OP_EFFECT:
        return (enum spread)operand(&v, 0)->spread;
    case OP_HOST: /* dist marks those that are sums over all replicas */
    case OP_TRANSFORM:
        break;
    }
    return SPREAD_OWN;
}

enum spread spread_of_part(const tarn_replica *r, struct graph_part part)
{
    const struct peers *p = r->peers;
    return part.global % (LANES * p->shards) == 0 && (int64_t)part.samples * p->world == part.global
               ? SPREAD_SAMPLES
               : SPREAD_OWN;
}

/* ---- labels by hand ------------------------------------------------------------------------- */

/* A sum over replicas on one device, where nothing is to be done: so is its gradient. */
static void spread_grad(struct grad_call *c)
{
    c->gin[0] = c->arg.spread.label == SPREAD_SAME ? spread_as(c->g, SPREAD_SAME) : c->g;
}

static void spread_index(const struct node *n, tarn_shape in, struct index_map *out)
{
    (void)n;
    out->rank_in = out->rank_out = in.rank;
    for (int d = 0; d < in.rank; d++)
        out->dim[d].coef[d] = out->dim[d].divide = 1;
}

const struct op op_spread = {
    .name = "spread", .arity = 1, .kind = OP_VIEW, .grad = spread_grad, .index = spread_index
};

tarn_tensor spread_as(tarn_tensor x, enum spread label)
{
    tarn_replica *r = x.replica;
    const uint32_t node = graph_resolve(x);
    if (!node || !has_shards(r) || r->graph.nodes[node].spread == label)
        return x;
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.spread.label = label;
    return graph_record(r, &op_spread, &x, 1, tarn_shape_get(x), tarn_dtype_get(x), &arg);
}

void spread_mark(tarn_tensor x, enum spread label)
{
    const uint32_t node = graph_resolve(x);
    if (node && has_shards(x.replica))
        x.replica->graph.nodes[node].spread = label;
}

tarn_tensor spread_gradient(tarn_replica *r, uint32_t node, tarn_tensor g)
{
    const uint32_t x = has_shards(r) ? graph_resolve(g) : 0;
    if (!x || r->graph.nodes[node].spread != SPREAD_SAMPLES)
        return g;
    const enum spread s = (enum spread)r->graph.nodes[x].spread;
    return s == SPREAD_SAMPLES ? g : spread_as(g, s == SPREAD_ALIKE ? SPREAD_SAMPLES : SPREAD_OWN);
}

/* ---- errors --------------------------------------------------------------------------------- */

/* Where along the operands of a node the bits were lost. */
static uint32_t culprit(const struct graph *g, uint32_t node)
{
    for (;;) {
        const struct node *n = graph_origin(g, node);
        uint32_t k = 0;
        while (k < n->in_count && g->nodes[g->operands[n->first_in + k]].spread != SPREAD_OWN)
            k++;
        if (k == n->in_count)
            return node;
        node = g->operands[n->first_in + k];
    }
}

static bool takes_either(const struct graph *g, const struct node *n)
{
    bool either = n->spread == SPREAD_EITHER;
    for (uint32_t k = 0; k < n->in_count; k++)
        either |= g->nodes[g->operands[n->first_in + k]].spread == SPREAD_EITHER;
    return either;
}

static void refuse(tarn_replica *r, uint32_t node, const char *name)
{
    const uint32_t at = culprit(&r->graph, node);
    const struct node *n = graph_origin(&r->graph, at);
    if (n->op == &op_spread)
        n = graph_origin(&r->graph, r->graph.operands[n->first_in]);
    const int shards = r->peers->shards;
    if (n->op == &op_input && n->part) {
        const struct graph_part part = r->graph.parts[n->part - 1];
        graph_fail(
            r, TARN_ERR_SHAPE,
            "%s: a batch of %d samples, of which this replica has %d, for %d virtual shards: "
            "each needs a multiple of %d samples, so the batch over all replicas one of %d",
            name, (int)part.global, (int)part.samples, shards, LANES, LANES * shards);
        return;
    }
    graph_fail(
        r, TARN_ERR_ARGUMENT,
        "%s would depend on the number of devices, which %d virtual shards must not: %s %s %s",
        name, shards, n->op->name, shape_text(n->shape),
        n->op == &op_owned ? "was kept from one replica's samples; use a tarn_buffer"
        : takes_either(&r->graph, n)
            ? "takes as many rows as there are samples, but no loader delivered them; "
              "tarn_batch_axis(x, 0) says that they are samples"
            : "mixes this replica's samples, or uses a sum over them alone; use "
              "tarn_all_reduce for a sum before anything but linear operations uses it, and "
              "keep axis 0 of samples as it is");
}

bool spread_can_sum(tarn_tensor x)
{
    const uint32_t s = graph_node(x)->spread;
    return has_shards(x.replica) && s != SPREAD_SAMPLES && s != SPREAD_EITHER && s != SPREAD_OWN;
}

bool spread_check(tarn_tensor x, const char *name, bool summed)
{
    tarn_replica *r = x.replica;
    const uint32_t node = graph_resolve(x);
    if (!node || !has_shards(r))
        return node != 0;
    const enum spread s = (enum spread)r->graph.nodes[node].spread;
    if (s == SPREAD_SAME || s == SPREAD_ALIKE || (summed && is_sum(&r->graph.nodes[node])))
        return true;
    refuse(r, node, name);
    return false;
}
