/* SPDX-License-Identifier: Apache-2.0 */
/* Half values that a sum of products reads again and again, widened once for each block. In a register that costs
 * instructions of the very units that multiply; what is made of a block stays in a cache until it is read. In: nests
 * in kernels. Out: more nests, whose results live in one kernel, so that what lives longer takes 16 bits as before. It
 * changes no value: widening is exact. */
#include <math.h>
#include <string.h>

#include "compile/1_graph/graph_passes.h"
#include "compile/3_kernels/fuse.h"
#include "tensor/sum_order.h"

struct widening {
    struct program_ir *p;
    struct nest *nests; /* those of the program with the new ones between them */
    struct placement *placements;
    int count;
    int *made; /* by value: the widened one of this kernel, + 1, */
    int *in;   /* of kernel number, + 1 */
};

/* The load below a widening; -1: the expression is none. */
static int load_below(const struct nest *n, int e)
{
    const struct expr *x = &n->exprs[e];
    const bool widens =
        x->kind == EXPR_MAP && (x->code == op_from_f16.code || x->code == op_from_bf16.code);
    return widens && n->exprs[x->arg[0]].kind == EXPR_LOAD ? x->arg[0] : -1;
}

bool is_always_widened(const struct nest *n, int load)
{
    for (int e = 0; e < n->expr_count; e++)
        for (int i = 0; i < n->exprs[e].args; i++)
            if (n->exprs[e].arg[i] == load && load_below(n, e) != load)
                return false;
    for (int s = 0; s < n->stores; s++)
        if (n->store[s].expr == load)
            return false;
    return n->body[0] != load && n->body[1] != load;
}

/* Multiply-adds of a sample by elements: a tile, which is nearly square, has one load for as many of them as a side of it.
 * Making the copy takes a load, a widening and a store; so it is worth it from two loads of an element on. */
static bool is_worth_it(const struct program_ir *p, const struct nest *n, const struct value *v)
{
    double terms = 1;
    for (int a = 0; a < n->axes; a++)
        terms *= n->batched && a == n->batch_axis ? 1 : n->extent[a];
    const double elements =
        (double)tarn_shape_count(v->shape) / (v->layout == LAYOUT_BLOCKED ? v->shape.dim[0] : 1);
    return terms > 2 * sqrt(p->target->vector.accumulators) * elements;
}

static bool reads_own_samples(const struct program_ir *p, const struct nest *n, int load,
                              const struct value *v)
{
    /* Where rows are read there are samples: the remainder is not by 0. */
    return reads_own_rows(p, n, &n->exprs[load]) && v->shape.rank > 1 &&
           v->shape.dim[0] % p->module->samples == 0;
}

/* Blocks of samples, or the rows of a chain's samples. */
static bool suits(const struct program_ir *p, const struct nest *n, int load)
{
    const struct access *x = &n->exprs[load].access;
    const struct value *v = &p->values[x->value];
    const bool here = v->layout == LAYOUT_BLOCKED ? x->in_block && x->gather < 0
                                                  : reads_own_samples(p, n, load, v);
    return here && dtype_is_half(v->dtype) && is_always_widened(n, load) && is_worth_it(p, n, v);
}

/* A nest that widens all of a value, into a new one. The value itself if the nest cannot go along with the samples of a
 * chain, whose groups would read what another one has not written yet: its lanes are samples. -1 without memory. */
static int make_nest(struct widening *w, const struct placement *like, int from, const char *code)
{
    struct program_ir *p = w->p;
    const tarn_shape shape = p->values[from].shape;
    const bool blocked = p->values[from].layout == LAYOUT_BLOCKED;
    struct nest n = {
        .name = "widen", .axes = shape.rank, .out_axes = shape.rank, .batched = blocked, .stores = 1
    };
    struct expr load = { .kind = EXPR_LOAD,
                         .dtype = dtype_computed(p->values[from].dtype),
                         .access = { .value = from, .gather = -1, .in_block = blocked } };
    int32_t stride = 1;
    for (int d = shape.rank - 1; d >= 0; d--) {
        n.extent[d] = shape.dim[d];
        load.access.address.k[d] = d > 0 || !blocked ? stride : 0;
        stride *= shape.dim[d];
    }
    const int loaded = expr_add(p, &n, &load);
    const struct expr wide = {
        .kind = EXPR_MAP, .dtype = TARN_F32, .code = code, .arg = { loaded }, .args = 1
    };
    const int made = loaded < 0 ? -1 : expr_add(p, &n, &wide);
    if (made < 0)
        return -1;
    n.store[0] = (struct store){
        .value = from, .expr = made, .address = load.access.address, .in_block = blocked
    };
    const int axis = blocked ? -1 : row_axis(p, &n);
    if (!blocked && axis < 0)
        return from;
    const int to = value_add(p, PLACE_ARENA, p->values[from].layout, 0, shape, TARN_F32);
    if (to < 0)
        return -1;
    n.store[0].value = to;
    w->placements[w->count] = (struct placement){ .kernel = like->kernel,
                                                  .row_axis = axis,
                                                  .part_axis = -1,
                                                  .chain = -1,
                                                  .work = 2.0 * p->target->fusion.access_cycles *
                                                          (double)tarn_shape_count(shape) / LANES };
    w->nests[w->count++] = n;
    return to;
}

/* The widened value in the kernel of a nest, made before it if there is none yet. */
static int widened(struct widening *w, int nest, int value, const char *code)
{
    const struct placement *here = &w->p->placements[nest];
    if (w->in[value] != here->kernel + 1) {
        w->made[value] = make_nest(w, here, value, code) + 1;
        w->in[value] = here->kernel + 1;
    }
    return w->made[value] - 1;
}

static bool widen_operands(struct widening *w, int nest)
{
    struct nest *n = &w->p->nests[nest];
    for (int e = 0; e < n->expr_count; e++) {
        const int load = load_below(n, e);
        if (load < 0 || !suits(w->p, n, load))
            continue;
        const int to = widened(w, nest, n->exprs[load].access.value, n->exprs[e].code);
        if (to < 0)
            return false;
        if (to == n->exprs[load].access.value)
            continue;
        struct expr wide = n->exprs[load];
        wide.dtype = TARN_F32;
        wide.access.value = to;
        for (int i = e; i < n->expr_count; i++)
            if (load_below(n, i) == load)
                n->exprs[i] = wide;
        n->exprs[load] = wide;
    }
    return true;
}

static bool has_operands(const struct nest *n)
{
    return n->kind == NEST_LOOPS && n->combine == COMBINE_FMA &&
           (nest_has_batch_lanes(n) || (!n->batched && !n->partial));
}

bool widen_blocks(struct program_ir *p, struct uses *u)
{
    if (!p->target->fuse || p->target->items)
        return true;
    struct widening w = { .p = p };
    size_t most = (size_t)p->nest_count + 1;
    for (int i = 0; i < p->nest_count; i++)
        for (int e = 0; has_operands(&p->nests[i]) && e < p->nests[i].expr_count; e++)
            most += load_below(&p->nests[i], e) >= 0;
    w.nests = arena_take(p->arena, most * sizeof *w.nests);
    w.placements = arena_take(p->arena, most * sizeof *w.placements);
    w.made = arena_take(p->arena, ((size_t)p->value_count + 1) * sizeof *w.made);
    w.in = arena_take(p->arena, ((size_t)p->value_count + 1) * sizeof *w.in);
    if (w.nests == NULL || w.placements == NULL || w.made == NULL || w.in == NULL)
        return false;
    for (int i = 0; i < p->nest_count; i++) {
        if (has_operands(&p->nests[i]) && !widen_operands(&w, i))
            return false;
        w.nests[w.count] = p->nests[i];
        w.placements[w.count++] = p->placements[i];
    }
    if (w.count == p->nest_count)
        return true;
    p->nests = w.nests;
    p->placements = w.placements;
    p->nest_count = p->nest_capacity = w.count;
    return uses_build(p, u);
}
