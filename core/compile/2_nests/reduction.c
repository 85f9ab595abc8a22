/* SPDX-License-Identifier: Apache-2.0 */
/* The nests of reductions. Over the batch they have two halves, rows of partial results
 * and their sum, with a kernel's end in between. A few values that all samples wait for are added
 * up by whoever reads them instead. In: a node that reduces. Out: axes and body of its nest. Knows
 * no target. */
#include "compile/2_nests/lowering.h"
#include "tensor/sum_order.h"

/* Whether a sum over the batch goes without rows: by shape alone. Virtual shards need theirs, since
 * their sums go on to other replicas. */
static bool is_unsplit(const struct lowering *l, const struct node *n, uint32_t x)
{
    const struct module *m = l->m;
    return n->arg.reduce.unsplit && n->arg.reduce.axes == 1 && m->batched[x] && m->shards == 0 &&
           m->batch % LANES == 0 && tarn_shape_count(m->nodes[x].shape) <= UNSPLIT_MOST;
}

/* Samples as two axes, blocks and the lanes of one: so lie those of a blocked value in memory. */
static struct rational block_index(struct nest *n, int batch)
{
    const int block = n->axes;
    n->extent[block] = batch / LANES;
    n->extent[block + 1] = LANES;
    n->axes += 2;
    return rational_add_scaled(rational_axis(block + 1), rational_axis(block), LANES);
}

/* OUT axes first, then those that are reduced; the index of an element of both sides. */
static void set_axes(const struct lowering *l, uint32_t core, struct nest *n, bool unsplit,
                     struct rational *in_index, struct rational *out_index)
{
    const struct node *node = &l->m->nodes[core];
    const uint32_t x = lowering_operand(l, core, 0);
    const tarn_shape in = l->m->nodes[x].shape;
    for (int pass = 0; pass < 2; pass++)
        for (int d = 0; d < in.rank; d++) {
            const bool reduced = (node->arg.reduce.axes >> d & 1) != 0;
            if (reduced != (pass == 1))
                continue;
            out_index[d] = reduced ? rational_constant(0) : rational_axis(n->axes);
            if (reduced && unsplit) {
                in_index[d] = block_index(n, in.dim[d]);
                continue;
            }
            n->extent[n->axes] = in.dim[d];
            in_index[d] = rational_axis(n->axes);
            if (l->m->batched[x] && d == 0 && (!reduced || n->by->lanes != NULL)) {
                n->batched = true;
                n->batch_axis = n->axes;
                n->partial = reduced;
            }
            n->axes++;
            n->out_axes += !reduced;
        }
    n->red_last = unsplit || (in.rank > 0 && (node->arg.reduce.axes >> (in.rank - 1) & 1) != 0);
}

int reduce_begin(struct lowering *l, uint32_t core, struct nest *n, struct rational *out_index)
{
    const struct node *node = &l->m->nodes[core];
    const uint32_t x = lowering_operand(l, core, 0);
    const bool unsplit = is_unsplit(l, node, x);
    struct rational in_index[TARN_MAX_RANK];
    if (node->op->combination == NULL) {
        error_set(TARN_ERR_INTERNAL, "compile: reduction %s has no combination in its record",
                  node->op->name);
        return lower_fail(l, TARN_ERR_INTERNAL);
    }
    *n = lower_nest(l, node->op->name);
    n->combine = COMBINE_REDUCE;
    n->by = node->op->combination;
    set_axes(l, core, n, unsplit, in_index, out_index);
    n->arg_index = rational_constant(0);
    for (int a = n->out_axes; a < n->axes; a++)
        n->arg_index = rational_add_scaled(
            rational_add_scaled(rational_constant(0), n->arg_index, n->extent[a]), rational_axis(a),
            1);
    n->acc_dtype = dtype_computed(node->dtype);
    const struct site s = {
        .l = l, .nest = n, .root = UINT32_MAX, .core = UINT32_MAX, .blocks = unsplit
    };
    n->body[0] = express(&s, x, in_index);
    return n->body[0] < 0 ? -1 : 0;
}
