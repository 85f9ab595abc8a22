/* SPDX-License-Identifier: Apache-2.0 */
/* Sums with constant factors: their nests have no loops for what is summed; tables and
 * axes are in the expression, and all of it is unrolled where it is printed. In: a transform's
 * node. Out: its nest. */
#include <string.h>

#include "compile/1_graph/graph_passes.h"
#include "compile/2_nests/lowering.h"

/* The element of the operand, and around it the sums, the last one innermost. */
static int transform_body(struct lowering *l, struct nest *n, uint32_t core,
                          const struct transform_map *c)
{
    const uint32_t x = lowering_operand(l, core, 0);
    const tarn_shape in = l->m->nodes[x].shape;
    const struct site s = {
        .l = l, .nest = n, .root = UINT32_MAX, .core = UINT32_MAX, .reuse = true
    };
    struct rational index[TARN_MAX_RANK];
    struct expr guarded = { .kind = EXPR_GUARD, .dtype = TARN_F32, .args = 1 };
    for (int d = 0; d < in.rank; d++) {
        index[d] = lower_mapped(&c->in, c->axes, d);
        if (c->in.dim[d].guarded)
            guarded.guards = guard_add(n, guarded.guard, guarded.guards, &index[d], in.dim[d]);
    }
    int at = express(&s, x, index);
    if (at < 0)
        return -1;
    if (guarded.guards > 0) {
        guarded.arg[0] = at;
        at = expr_add(l->p, n, &guarded);
    }
    for (int i = c->transforms - 1; at >= 0 && i >= 0; i--) {
        struct expr e = { .kind = EXPR_TRANSFORM, .dtype = TARN_F32, .args = 1, .arg = { at } };
        e.table = c->transform[i].table;
        e.over = c->out_axes + i;
        e.index = rational_constant(0);
        if (c->transform[i].row >= 0)
            e.index = rational_axis(c->transform[i].row);
        if (c->transform[i].step != 0)
            e.index = rational_add_scaled(e.index, rational_axis(c->transform[i].step_axis),
                                          c->transform[i].step);
        at = expr_add(l->p, n, &e);
    }
    return at >= 0 ? at : lower_fail(l, TARN_ERR_MEMORY);
}

int transform_begin(struct lowering *l, uint32_t core, struct nest *n, struct rational *out_index)
{
    const struct node *node = &l->m->nodes[core];
    struct transform_map c;
    memset(&c, 0, sizeof c);
    node->op->transform(node, l->m->nodes[lowering_operand(l, core, 0)].shape, &c);
    *n = lower_nest(l, node->op->name);
    n->axes = c.axes;
    n->out_axes = c.out_axes;
    n->transformed = true;
    memcpy(n->extent, c.extent, sizeof c.extent);
    if (l->m->batch > 0)
        n->batch_axis = transform_batch_axis(l->m, core, &c);
    n->batched = n->batch_axis >= 0;
    n->body[0] = transform_body(l, n, core, &c);
    if (n->body[0] < 0)
        return -1;
    for (int d = 0; d < node->shape.rank; d++) {
        out_index[d] = lower_mapped(&c.out, c.axes, d);
        if (c.out.dim[d].guarded)
            n->guards = guard_add(n, n->guard, n->guards, &out_index[d], node->shape.dim[d]);
    }
    return 0;
}
