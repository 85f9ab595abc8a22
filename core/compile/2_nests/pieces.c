/* SPDX-License-Identifier: Apache-2.0 */
/* What nests are begun and ended with. In: names, indices, values. Out: parts of nests, and
 * finished nests in the list of the plan. */
#include <string.h>

#include "compile/2_nests/lowering.h"

int lower_fail(struct lowering *l, tarn_status status)
{
    if (l->status == TARN_OK)
        l->status = status;
    if (status == TARN_ERR_MEMORY)
        error_set(status, "compile: out of host memory");
    return -1;
}

int lower_append(struct lowering *l, const struct nest *n)
{
    struct nest *to = nest_add(l->p);
    if (to == NULL)
        return lower_fail(l, TARN_ERR_MEMORY);
    *to = *n;
    return nest_own_exprs(l->p, to) ? 0 : lower_fail(l, TARN_ERR_MEMORY);
}

struct nest lower_nest(const struct lowering *l, const char *name)
{
    struct nest n;
    memset(&n, 0, sizeof n);
    n.name = name;
    n.exprs = l->exprs;
    n.expr_capacity = EXPRS_ROOM;
    n.batch_axis = n.sample_lane = -1;
    n.body[0] = n.body[1] = -1;
    return n;
}

struct nest map_begin(const struct lowering *l, uint32_t root, struct rational *index)
{
    const struct node *node = &l->m->nodes[root];
    struct nest n = lower_nest(l, node->op->name);
    n.axes = n.out_axes = node->shape.rank;
    for (int d = 0; d < node->shape.rank; d++) {
        n.extent[d] = node->shape.dim[d];
        index[d] = rational_axis(d);
    }
    n.batched = l->m->batched[root];
    n.batch_axis = n.batched ? 0 : -1;
    return n;
}

struct store store_at(const struct lowering *l, int value, const struct rational *index)
{
    const struct value *v = &l->p->values[value];
    struct store s = { .value = value, .expr = -1 };
    s.in_block = v->layout == LAYOUT_BLOCKED;
    int32_t stride = 1;
    for (int d = v->shape.rank - 1; d >= (s.in_block ? 1 : 0); d--) {
        s.address = affine_add_scaled(s.address, index[d].e, stride);
        stride *= v->shape.dim[d];
    }
    return s;
}

struct store store_whole(const struct lowering *l, const struct destination *to)
{
    const tarn_shape whole = l->p->values[to->value].shape;
    struct store s = { .value = to->value, .expr = -1 };
    s.address.constant = to->offset;
    for (int d = 1; d < whole.rank; d++)
        s.address.constant *= whole.dim[d];
    return s;
}

struct rational lower_mapped(const struct contract_map *map, int axes, int d)
{
    struct rational at = rational_constant(map->dim[d].offset);
    for (int a = 0; a < axes; a++)
        if (map->dim[d].coef[a] != 0)
            at = rational_add_scaled(at, rational_axis(a), map->dim[d].coef[a]);
    return map->dim[d].divide > 1 ? rational_divide(at, map->dim[d].divide) : at;
}
