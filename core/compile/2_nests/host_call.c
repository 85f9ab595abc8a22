/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the host between kernels, such as collectives, as nests without loops. In: a node.
 * Out: a nest that later stages order among the others, and values in memory that the host shares.
 * */
#include "compile/2_nests/lowering.h"

int host_nest(struct lowering *l, uint32_t node, int in, int out)
{
    const struct node *n = &l->m->nodes[node];
    struct nest call = lower_nest(l, n->op->name);
    call.kind = NEST_HOST;
    call.call = (struct host_call){ .op = n->op, .arg = n->arg, .in = in };
    /* A load without a use: it tells the later passes what is read. */
    struct expr e = { .kind = EXPR_LOAD };
    e.access.value = in;
    e.access.gather = -1;
    if (expr_add(l->p, &call, &e) < 0)
        return lower_fail(l, TARN_ERR_MEMORY);
    call.store[0] = (struct store){ .value = out, .expr = -1 };
    call.stores = 1;
    return lower_append(l, &call);
}
