/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of branches that are joined: convolutions of one picture, or of each other, and windows that overlap over all of
 * them, so that what one part of a block makes is read by others in several ways. */
#include "generate.h"

static int convolved(struct generator *g, int x, int out)
{
    const tarn_shape s = shape_of_line(g, x);
    const int window = s.dim[2] > 2 && s.dim[3] > 2 && chance(g, 40) ? 3 : 1;
    const int w = new_leaf(g, TARN_SHAPE(out, s.dim[1], window, window), TARN_F32, FILL_SIGNED, 0);
    const struct line l = { .op = OP_ID_conv2d_op,
                            .in = { x, w, -1 },
                            .ins = 2,
                            .arg = { 1, 1, window / 2, window / 2, 0, 0, 1 } };
    return w < 0 ? -1 : try_line(g, l);
}

/* As large as the picture. */
static int branch(struct generator *g, int x, int before)
{
    static const enum op_id then[] = { OP_ID_relu, OP_ID_relu, OP_ID_tanh };
    const int from = before >= 0 && chance(g, 30) ? before : x;
    if (chance(g, 15))
        return from;
    const int y = convolved(g, from, 1 + below(g, 6));
    return y >= 0 && chance(g, 70) ? try_op(g, then[below(g, 3)], y, -1) : y;
}

static int tail(struct generator *g, int y)
{
    static const enum op_id pools[] = { OP_ID_max_pool2d_with, OP_ID_avg_pool2d_with };
    if (chance(g, 40))
        return convolved(g, y, 1 + below(g, 4));
    return try_line(g, (struct line){ .op = pools[below(g, 2)],
                                      .in = { y },
                                      .ins = 1,
                                      .arg = { 2 + below(g, 2), 2 + below(g, 2), 1 + below(g, 2),
                                               1 + below(g, 2), below(g, 2), below(g, 2) } });
}

void generate_branches(struct generator *g)
{
    static const int batches[] = { 1, 2, 3, 5, 8, 9, 16, 17 };
    const int n = batches[below(g, 8)], height = 3 + below(g, 6), width = 3 + below(g, 9);
    const int most = LEAF_ELEMENTS / (n * height * width);
    const int channels = 1 + below(g, most < 1 ? 1 : most < 4 ? most : 4);
    int x = new_leaf(g, TARN_SHAPE(n, channels, height, width), TARN_F32, FILL_SIGNED, 0);
    if (x >= 0 && chance(g, 60))
        x = try_line(g, (struct line){ .op = OP_ID_batch_axis, .in = { x }, .ins = 1 });
    struct line all = { .op = OP_ID_concat, .arg = { 1 } };
    const int branches = 2 + chance(g, 30);
    for (int before = -1; x >= 0 && all.ins < branches; all.ins++) {
        before = branch(g, x, before);
        if (before < 0)
            break;
        all.in[all.ins] = before;
    }
    const int y = all.ins < 2 ? -1 : try_line(g, all), end = y < 0 ? -1 : tail(g, y);
    const int last = end >= 0 ? end : y >= 0 ? y : random_leaf(g, random_shape(g));
    try_op(g, OP_ID_output, last, -1);
    for (int k = 0; k < 2 && last >= 0; k++)
        add_gradient(g, last);
    try_line(g, (struct line){ .op = OP_ID_step });
}
