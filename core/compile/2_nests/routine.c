/* SPDX-License-Identifier: Apache-2.0 */
/* Routines: functions of kernels/routines.cl over whole operands, which are row-major, pass by pass. In: a
 * node. Out: nests of one axis, the pieces of a pass, which name a function and what it takes. */
#include <string.h>

#include "compile/2_nests/lowering.h"
#include "tensor/spread_label.h"

/* A load without a use for each value that is read: it tells the later passes. */
static int add_load(struct lowering *l, struct nest *n, int value)
{
    struct expr e = { .kind = EXPR_LOAD, .bits = (uint32_t)n->expr_count }; /* no two are equal */
    if (value < 0)
        return -1;
    e.dtype = dtype_computed(l->p->values[value].dtype);
    e.access.value = value;
    e.access.gather = -1;
    return expr_add(l->p, n, &e) >= 0 ? 0 : lower_fail(l, TARN_ERR_MEMORY);
}

/* The values that a pass reads. */
static int values_read(struct lowering *l, uint32_t node, const struct routine_pass *pass, int last,
                       int read[OPERANDS_MOST + 1])
{
    int count = 0;
    for (uint32_t k = 0; k < l->m->nodes[node].in_count; k++)
        if (pass->reads >> k & 1)
            read[count++] = plain_of(l, lowering_operand(l, node, k));
    if (pass->reads_last)
        read[count++] = last;
    return count;
}

/* What an equal pass has made before, as where several sums have one index; -1: none has. */
static int made_before(struct lowering *l, uint32_t node, const struct routine_pass *pass, int last)
{
    int read[OPERANDS_MOST + 1];
    const int count = values_read(l, node, pass, last, read);
    for (int i = 0; i < l->p->nest_count; i++) {
        const struct nest *n = &l->p->nests[i];
        bool same = n->kind == NEST_ROUTINE && n->expr_count == count && n->stores == 1 &&
                    strcmp(n->routine.function, pass->function) == 0 &&
                    n->routine.pieces == pass->pieces && n->routine.numbers == pass->numbers;
        for (int k = 0; same && k < pass->numbers; k++)
            same = n->routine.number[k] == pass->number[k];
        for (int k = 0; same && k < count; k++)
            same = n->exprs[k].access.value == read[k];
        if (same)
            return n->store[0].value;
    }
    return -1;
}

static int add_pass(struct lowering *l, uint32_t node, const struct routine_pass *pass, int last,
                    const struct store *to)
{
    struct nest n = lower_nest(l, l->m->nodes[node].op->name);
    int read[OPERANDS_MOST + 1];
    const int count = values_read(l, node, pass, last, read);
    n.kind = NEST_ROUTINE;
    n.routine = *pass;
    n.axes = n.out_axes = 1;
    n.extent[0] = pass->pieces;
    for (int k = 0; k < count; k++)
        if (add_load(l, &n, read[k]) < 0)
            return -1;
    n.store[n.stores++] = *to;
    if (pass->own > 0) {
        struct store own = { .expr = -1 };
        own.value =
            value_add(l->p, PLACE_ARENA, LAYOUT_PLAIN, 0, TARN_SHAPE((int32_t)pass->own), TARN_F32);
        if (own.value < 0)
            return lower_fail(l, TARN_ERR_MEMORY);
        n.store[n.stores++] = own;
    }
    return lower_append(l, &n);
}

int routine_nests(struct lowering *l, uint32_t node, const struct destination *to)
{
    const struct module *m = l->m;
    const struct node *n = &m->nodes[node];
    tarn_shape in[OPERANDS_MOST];
    unsigned batched = 0;
    for (uint32_t k = 0; k < n->in_count; k++) {
        in[k] = m->nodes[lowering_operand(l, node, k)].shape;
        batched |= (unsigned)m->batched[lowering_operand(l, node, k)] << k;
        if (plain_of(l, lowering_operand(l, node, k)) < 0)
            return -1;
    }
    const struct routine_place where = { .items = l->p->target->items,
                                         .shards = n->spread == SPREAD_PARTIAL && m->shards > 0
                                                       ? m->shards
                                                       : 1,
                                         .batched = batched,
                                         .vectors = target_routine_vectors(l->p->target) };
    const struct store out = store_whole(l, to);
    bool ends = false;
    for (int pass = 0, last = -1; !ends; pass++) {
        struct routine_pass now = { 0 };
        ends = n->op->routine(n, in, &where, pass, &now);
        struct store at = out;
        const int made = ends ? -1 : made_before(l, node, &now, last);
        if (made >= 0) {
            last = made;
            continue;
        }
        if (!ends) {
            at = (struct store){ .expr = -1 };
            at.value = value_add(l->p, PLACE_ARENA, LAYOUT_PLAIN, 0, now.shape, TARN_I32);
            if (at.value < 0)
                return lower_fail(l, TARN_ERR_MEMORY);
        }
        if (add_pass(l, node, &now, last, &at) < 0)
            return -1;
        last = at.value;
    }
    return 0;
}
