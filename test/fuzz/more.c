/* SPDX-License-Identifier: Apache-2.0 */
#include "generate.h"
#include "more.h"

#include <stdlib.h>
#include <string.h>

const struct more *more_of(enum op_id op)
{
    const struct more *const list[] = { more_views,      more_losses,  more_images,
                                        more_attentions, more_further, more_ctcs,
                                        more_convs,      more_pools,   more_blocks };
    const int count[] = { more_view_count,      more_loss_count,    more_image_count,
                          more_attention_count, more_further_count, more_ctc_count,
                          more_conv_count,      more_pool_count,    more_block_count };
    for (size_t k = 0; k < sizeof list / sizeof *list; k++)
        for (int i = 0; i < count[k]; i++)
            if (list[k][i].op == op)
                return &list[k][i];
    return op == OP_ID_scan ? &more_scan : NULL;
}

int more_grow(struct generator *g, enum op_id op, int a)
{
    struct line l = { .op = op, .in = { a }, .ins = 1 };
    if (!more_of(op)->grow(g, &l, a))
        return -1;
    for (int k = 0; k < l.ins; k++)
        if (l.in[k] < 0)
            return -1;
    return try_line(g, l);
}

const struct line *operand_of(const struct program *p, const struct line *l, int k)
{
    return &p->line[l->in[k]];
}

bool all_floats(const struct program *p, const struct line *l)
{
    for (int k = 0; k < l->ins; k++)
        if (operand_of(p, l, k)->dtype != TARN_F32)
            return false;
    return true;
}

bool same_shape(tarn_shape a, tarn_shape b)
{
    return a.rank == b.rank && memcmp(a.dim, b.dim, (size_t)a.rank * sizeof a.dim[0]) == 0;
}

tarn_shape shape_of(const struct interpreter *m, const struct line *l, int k)
{
    return operand_of(m->p, l, k)->shape;
}

int scaled_sum(struct tape *t, int x, double scale)
{
    int *zero = calloc((size_t)t->node[x].count + 1, sizeof *zero);
    if (zero == NULL)
        abort();
    const int sum = tape_scatter(t, x, 1, zero);
    free(zero);
    return tape_scale(t, sum, scale);
}

int mean_of(struct tape *t, int x)
{
    return scaled_sum(t, x, 1.0 / t->node[x].count);
}

int leaf_of(struct generator *g, tarn_shape s)
{
    return new_leaf(g, s, TARN_F32, FILL_SIGNED, 0);
}
