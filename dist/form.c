/* SPDX-License-Identifier: Apache-2.0 */
/* What tells one collective of a step from another of equal kind and size: what its operand is made
 * of, and when that was recorded. Only what replicas of one program have in common may count: not
 * values, constants, or sizes of parts, nor an operation that is left out where a size is 1. */
#include <stdlib.h>
#include <string.h>

#include "member.h"
#include "op/op.h"
#include "tensor/random.h"

void tarn_collective_name(tarn_replica *r, const char *name)
{
    struct member *m = member_of(r);
    if (m != NULL)
        m->name = name != NULL ? (uint32_t)random_key(1, name) | 1 : 0;
}

static uint32_t call_operand(const struct graph *g, const struct node *n)
{
    return g->operands[n->first_in];
}

/* A number that all replicas know, or zeros: what a replica hands in that has nothing to say. */
static bool is_constant(const struct graph *g, uint32_t node)
{
    const struct node *n = graph_origin(g, node);
    while (n->op->kind == OP_VIEW && n->in_count == 1)
        n = graph_origin(g, g->operands[n->first_in]);
    return n->op == &op_constant || n->op == &op_number || n->op == &op_iota;
}

/* Sets the order to how many of the step's collectives so far had an operand that was recorded
 * before this one. The serial number keeps the compiler from making one of two: operands that are
 * equal on one replica need not be so on another. */
static void count_earlier(const struct graph *g, uint32_t operand, union op_arg *arg)
{
    bool known = !is_constant(g, operand);
    uint32_t before = 0;
    for (uint32_t i = 1; i < g->count; i++) {
        const struct op *op = g->nodes[i].op;
        const struct node *n =
            op == &op_input || op == &op_held ? graph_origin(g, i) : &g->nodes[i];
        if (n->op->kind != OP_HOST || n->arg.call.purpose != PURPOSE_USER)
            continue;
        arg->call.serial++;
        known &= n->arg.call.order != FORM_ANY;
        before += n->arg.call.order != FORM_NAMED && call_operand(g, n) < operand;
    }
    arg->call.order = known ? before : FORM_ANY;
}

/* Whether replicas may differ in using this op though they run the same program. */
static bool tells_nothing(const struct op *op)
{
    return op->kind == OP_LEAF || op->kind == OP_VIEW || op == &op_sum || op == &op_cast;
}

static const char *name_of(const tarn_replica *r, const struct node *n)
{
    const uint32_t slot = n->op == &op_owned    ? n->arg.leaf.slot + 1
                          : n->op == &op_detach ? n->arg.leaf.slot
                                                : 0;
    return slot ? r->owned[slot - 1].name : NULL;
}

/* A hash of the sets of the operations that x is computed by and of the named tensors that it is
 * computed from; 0: there are none. */
static uint32_t origin_of(tarn_replica *r, uint32_t operand)
{
    const struct graph *g = &r->graph;
    const struct op *seen[128];
    int count = 0;
    uint64_t hash = 0;
    bool *used = calloc((size_t)operand + 1, sizeof *used);
    if (used == NULL)
        return 0;
    used[operand] = true;
    for (uint32_t i = operand; i > 0; i--) {
        if (!used[i])
            continue;
        const struct node *n = graph_origin(g, i);
        const char *name = name_of(r, n);
        if (name != NULL) {
            hash += random_key(2, name);
            continue;
        }
        for (uint32_t k = 0; k < n->in_count; k++)
            used[g->operands[n->first_in + k]] = true;
        int at = 0;
        while (at < count && seen[at] != n->op)
            at++;
        if (at < count || count == 128 || tells_nothing(n->op))
            continue;
        seen[count++] = n->op;
        hash += random_key(3, n->op->name);
    }
    free(used);
    return (uint32_t)(hash ^ hash >> 32);
}

void form_set(tarn_tensor x, enum purpose purpose, union op_arg *arg)
{
    tarn_replica *r = x.replica;
    const struct member *m = member_of(r);
    const uint32_t operand = graph_resolve(x);
    arg->call.shape = tarn_shape_get(x);
    arg->call.order = FORM_ANY;
    if (m == NULL || !operand || purpose != PURPOSE_USER)
        return;
    count_earlier(&r->graph, operand, arg);
    arg->call.origin = m->name ? m->name : origin_of(r, operand);
    if (m->name)
        arg->call.order = FORM_NAMED;
}

uint32_t form_enter(const struct grad_call *c)
{
    struct member *m = member_of(c->y.replica);
    const uint32_t before = m->name;
    m->name = c->arg.call.order == FORM_NAMED ? c->arg.call.origin : 0;
    return before;
}

void form_leave(const struct grad_call *c, uint32_t before)
{
    member_of(c->y.replica)->name = before;
}
