/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the host between kernels, such as collectives, as nests without loops. In: a node.
 * Out: a nest that later stages order among the others, and values in memory that the host shares.
 * */
#include "compile/2_nests/lower.h"

/* The operand goes to memory that the host shares, the host's function runs, and leaves the result
 * there or in more of such memory. */
int host_value(struct lowering *l, uint32_t node)
{
    struct program_ir *p = l->p;
    const struct node *n = &l->m->nodes[node];
    const uint32_t x = lowering_operand(l, node, 0);
    const struct node *from = &l->m->nodes[x];
    const int in =
        value_add(p, PLACE_SHARED, LAYOUT_PLAIN, p->shared_count++, from->shape, from->dtype);
    const int out = n->op->in_place ? in
                                    : value_add(p, PLACE_SHARED, LAYOUT_PLAIN, p->shared_count++,
                                                n->shape, n->dtype);
    if (in < 0 || out < 0)
        return lower_fail(l, TARN_ERR_MEMORY);
    if (lower_into(l, x, in) < 0)
        return -1;
    struct nest call = lower_nest(n->op->name);
    call.kind = NEST_HOST;
    call.call = (struct host_call){ .op = n->op, .arg = n->arg, .in = in };
    /* A load without a use: it tells the later passes what is read. */
    struct expr e = { .kind = EXPR_LOAD };
    e.access.value = in;
    e.access.gather = -1;
    if (expr_add(p, &call, &e) < 0)
        return lower_fail(l, TARN_ERR_MEMORY);
    call.store[0] = (struct store){ .value = out, .expr = -1 };
    call.stores = 1;
    if (lower_append(l, &call) < 0)
        return -1;
    l->primary[node] = out + 1;
    return out;
}
