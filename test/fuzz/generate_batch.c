/* SPDX-License-Identifier: Apache-2.0 */
/* Programs whose samples look at other samples: what is cut off the batch axis and padded again. */
#include "generate.h"

int shifted(struct generator *g, int a)
{
    if (a < 0)
        return -1;
    const tarn_shape s = shape_of_line(g, a);
    const float values[] = { 0, 0, 3, 0.5f };
    struct line pad = { .op = OP_ID_pad,
                        .ins = 1,
                        .list = { { .rank = s.rank }, { .rank = s.rank } },
                        .f = { values[below(g, 4)] } };
    int x = a;
    for (int d = 0; d < s.rank && d < 3 && x >= 0; d++) {
        if (s.dim[d] < 2 || !chance(g, d == 0 ? 90 : 30))
            continue;
        const int cut = 1 + (chance(g, 40) ? below(g, s.dim[d] < 4 ? s.dim[d] - 1 : 3) : 0);
        const int front = chance(g, 40) ? 0 : below(g, cut + 1);
        pad.list[0].dim[d] = chance(g, 60) ? cut : below(g, cut + 1);
        pad.list[1].dim[d] = cut - pad.list[0].dim[d];
        x = try_line(g, (struct line){ .op = OP_ID_slice,
                                       .in = { x },
                                       .ins = 1,
                                       .arg = { d, front, s.dim[d] - cut + front, 1 } });
    }
    pad.in[0] = x;
    return x < 0 || x == a ? -1 : try_line(g, pad);
}

static int signed_leaf(struct generator *g, tarn_shape s)
{
    return new_leaf(g, s, TARN_F32, FILL_SIGNED, 0);
}

static int sum_over(struct generator *g, int a, tarn_shape axes)
{
    return try_line(g, (struct line){ .op = OP_ID_sum, .in = { a }, .ins = 1, .list = { axes } });
}

/* A value of all samples: data, a function of it, or a sum, which is stored when it is used
 * twice. */
static int samples(struct generator *g, int batch, int width)
{
    const int x = signed_leaf(g, TARN_SHAPE(batch, width)), kind = below(g, 5);
    if (x < 0 || kind < 2)
        return x;
    if (kind == 2)
        return try_op(g, OP_ID_tanh, x, -1);
    const int terms = signed_leaf(g, TARN_SHAPE(batch, width, 2 + below(g, 5)));
    const int wide = try_line(g, (struct line){ .op = OP_ID_reshape,
                                                .in = { x },
                                                .ins = 1,
                                                .list = { TARN_SHAPE(batch, width, 1) } });
    const int product = terms < 0 || wide < 0 ? -1 : try_op(g, OP_ID_mul, terms, wide);
    return sum_over(g, product, TARN_AXES(2));
}

/* [batch, width] times a product of two matrices without the batch. */
static int with_product(struct generator *g, int y, int batch, int width)
{
    const int inner = 2 + below(g, 8), columns = 1 + below(g, 8);
    const int u = signed_leaf(g, TARN_SHAPE(width, inner));
    const int v = signed_leaf(g, TARN_SHAPE(inner, columns));
    const int product = u < 0 || v < 0 ? -1 : try_op(g, OP_ID_matmul, u, v);
    const int wide = try_line(g, (struct line){ .op = OP_ID_reshape,
                                                .in = { y },
                                                .ins = 1,
                                                .list = { TARN_SHAPE(batch, width, 1) } });
    return product < 0 || wide < 0 ? -1 : try_op(g, OP_ID_mul, wide, product);
}

void generate_batch(struct generator *g)
{
    static const int batches[] = { 15, 17, 31, 31, 33, 47 };
    static const enum op_id joins[] = { OP_ID_mul, OP_ID_mul, OP_ID_add, OP_ID_sub, OP_ID_maximum };
    const tarn_shape axes[] = { TARN_AXES(1), TARN_AXES(0),    TARN_AXES(1, 2), TARN_AXES(1, 2),
                                TARN_AXES(2), TARN_AXES(0, 2), TARN_ALL };
    const int batch = batches[below(g, 6)], parts = 1 + chance(g, 30);
    for (int k = 0; k < parts; k++) {
        const int width = 2 + below(g, 8), x = samples(g, batch, width);
        const int other = chance(g, 60) ? x : samples(g, batch, width);
        const int moved = shifted(g, x);
        if (moved < 0 || other < 0)
            continue;
        const int joined = try_op(g, joins[below(g, 5)], moved, other);
        const bool product = chance(g, 60);
        const int y = product ? with_product(g, joined, batch, width) : joined;
        const int sum =
            chance(g, 85) ? sum_over(g, y, axes[product ? 2 + below(g, 5) : below(g, 2)]) : y;
        if (sum < 0)
            continue;
        try_op(g, OP_ID_output, sum, -1);
        if (chance(g, 10))
            try_op(g, OP_ID_output, moved, -1);
        if (chance(g, 45))
            add_gradient(g, sum);
    }
    if (g->p->count == 0 || g->p->line[g->p->count - 1].op != OP_ID_output)
        try_op(g, OP_ID_output, random_leaf(g, random_shape(g)), -1);
    try_line(g, (struct line){ .op = OP_ID_step });
}
