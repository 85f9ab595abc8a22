/* SPDX-License-Identifier: Apache-2.0 */
/* Lines that call what nets are made of: products, convolutions, pools, losses, norms. */
#include <string.h>

#include "generate.h"
#include "more.h"

int image(struct generator *g, int a)
{
    if (a >= 0 && shape_of_line(g, a).rank == 4 && program_floats(g->p->line[a].dtype) &&
        chance(g, 70))
        return a;
    const int side = 3 + below(g, 10),
              n = chance(g, 40) || g->batch > 33 ? 1 + below(g, 3) : g->batch;
    const int channels = n * side * side > 1000 ? 1 : 1 + below(g, 4);
    return new_leaf(g, TARN_SHAPE(n, channels, side, 2 + below(g, 14)), TARN_F32, FILL_SIGNED, 0);
}

static int grow_conv(struct generator *g, int a)
{
    const int x = image(g, a);
    if (x < 0)
        return -1;
    const tarn_shape s = shape_of_line(g, x);
    const int groups = s.dim[1] > 0 && chance(g, 30) ? s.dim[1] : 1;
    const int out = groups * (1 + below(g, 3));
    struct line l = { .op = OP_ID_conv2d_op, .in = { x, -1, -1 }, .ins = chance(g, 50) ? 3 : 2 };
    const bool large = chance(g, 40) && s.dim[2] >= 7 && s.dim[3] >= 5;
    const int kh = large ? 6 + below(g, 2) : 1 + below(g, s.dim[2] < 6 ? s.dim[2] : 7);
    const int kw = large ? 4 + below(g, 2) : 1 + below(g, s.dim[3] < 5 ? s.dim[3] : 5);
    for (int i = 0; i < 6; i++)
        l.arg[i] = i < 2   ? (large ? 1 + below(g, 4) : below(g, 5))
                   : i < 4 ? below(g, 3)
                           : (!large && chance(g, 25) ? 2 : 0);
    l.arg[6] = groups;
    if (tarn_shape_count(s) / (s.dim[1] > 0 ? s.dim[1] : 1) * out * (s.dim[1] / groups) * kh * kw >
        60000)
        return -1;
    l.in[1] = new_leaf(g, TARN_SHAPE(out, s.dim[1] / groups, kh, kw), TARN_F32, FILL_SIGNED, 0);
    if (l.ins == 3)
        l.in[2] = new_leaf(g, TARN_SHAPE(out), TARN_F32, FILL_SIGNED, 0);
    return l.in[1] < 0 || (l.ins == 3 && l.in[2] < 0) ? -1 : try_line(g, l);
}

int large_window(struct generator *g)
{
    const int groups = 1 + chance(g, 20), n = 1 + below(g, 2);
    const int x = new_leaf(g, TARN_SHAPE(n, groups, 10 + below(g, 4), 12 + below(g, 6)), TARN_F32,
                           FILL_SIGNED, 0);
    const int w = new_leaf(g, TARN_SHAPE(groups, 1, 5 + below(g, 3), 4 + below(g, 3)), TARN_F32,
                           FILL_SIGNED, 0);
    struct line l = { .op = OP_ID_conv2d_op,
                      .in = { x, w },
                      .ins = 2,
                      .arg = { 1 + below(g, 3), 1 + below(g, 4), below(g, 2), below(g, 2), 0, 0,
                               groups } };
    return x < 0 || w < 0 ? -1 : try_line(g, l);
}

static int matrix(struct generator *g, int a)
{
    const tarn_shape x = shape_of_line(g, a);
    if (x.rank == 2 || !program_floats(g->p->line[a].dtype))
        return x.rank == 2 && program_floats(g->p->line[a].dtype) ? a : -1;
    if (x.rank < 2)
        return new_leaf(g, TARN_SHAPE(g->batch, 1 + below(g, 9)), TARN_F32, FILL_SIGNED, 0);
    return try_line(g, (struct line){ .op = OP_ID_flatten, .in = { a }, .ins = 1, .arg = { 1 } });
}

static int grow_matmul(struct generator *g, int a)
{
    const tarn_shape x = shape_of_line(g, a);
    if (x.rank == 0 || !program_floats(g->p->line[a].dtype))
        return -1;
    const int k = x.dim[x.rank - 1], n = some_length(g);
    if (tarn_shape_count(x) * n > 40000)
        return -1;
    tarn_shape s = TARN_SHAPE(k, n);
    if (chance(g, 20))
        s = TARN_SHAPE(k);
    else if (chance(g, 30) && x.rank > 2)
        s = TARN_SHAPE(x.dim[x.rank - 3], k, n);
    const int b = new_leaf(g, s, TARN_F32, FILL_SIGNED, 0);
    const int y = b < 0 ? -1 : try_op(g, OP_ID_matmul, a, b);
    return y < 0 ? -1
                 : try_line(g, (struct line){
                                   .op = OP_ID_mul_scalar, .in = { y }, .ins = 1, .f = { 0.25f } });
}

int grow_net(struct generator *g, enum op_id op, int a)
{
    struct line l = { .op = op, .in = { a, -1, -1 }, .ins = 1 };
    const tarn_shape x = shape_of_line(g, a);
    if (along_lines(op))
        return grow_lines(g, op, a);
    switch (op) {
    case OP_ID_matmul:
        return grow_matmul(g, a);
    case OP_ID_conv2d_op:
        return grow_conv(g, a);
    case OP_ID_max_pool2d:
    case OP_ID_avg_pool2d:
    case OP_ID_max_pool2d_with:
    case OP_ID_avg_pool2d_with:
        return pool_grow(g, &l, a) && l.in[0] >= 0 ? try_line(g, l) : -1;
    case OP_ID_embedding:
        l.in[0] = x.rank == 2 && chance(g, 40)
                      ? a
                      : new_leaf(g, TARN_SHAPE(3 + below(g, 9), 1 + below(g, 17)), TARN_F32,
                                 FILL_SIGNED, 0);
        l.in[1] = new_leaf(g, chance(g, 50) ? TARN_SHAPE(g->batch) : TARN_SHAPE(3, 5), TARN_I32,
                           FILL_INDEX, 13);
        l.ins = 2;
        break;
    case OP_ID_one_hot:
        l.in[0] = new_leaf(g, relative_shape(g, TARN_SHAPE(g->batch, 1 + below(g, 5))), TARN_I32,
                           FILL_INDEX, 7);
        l.arg[0] = 1 + below(g, 8);
        break;
    case OP_ID_softmax:
    case OP_ID_log_softmax:
        l.arg[0] = below(g, x.rank);
        break;
    case OP_ID_nll_loss:
    case OP_ID_cross_entropy:
        l.in[0] = matrix(g, a);
        if (l.in[0] >= 0)
            l.in[1] = new_leaf(g, TARN_SHAPE(shape_of_line(g, l.in[0]).dim[0]),
                               chance(g, 70) ? TARN_I32 : TARN_U8, FILL_INDEX,
                               shape_of_line(g, l.in[0]).dim[1] + chance(g, 10));
        l.ins = 2;
        break;
    case OP_ID_mse_loss:
        l.in[1] = new_leaf(g, x, TARN_F32, FILL_SIGNED, 0);
        l.ins = 2;
        break;
    case OP_ID_layer_norm_op: {
        tarn_shape w = x;
        const int keep = 1 + below(g, x.rank < 3 ? x.rank : 3);
        if (x.rank == 0)
            return -1;
        w.rank = keep;
        memmove(w.dim, x.dim + x.rank - keep, (size_t)keep * sizeof w.dim[0]);
        l.in[1] = new_leaf(g, w, TARN_F32, FILL_SIGNED, 0);
        l.ins = chance(g, 70) ? 3 : 2;
        if (l.ins == 3)
            l.in[2] = new_leaf(g, w, TARN_F32, FILL_SIGNED, 0);
        l.f[0] = 1e-3f;
        break;
    }
    case OP_ID_dropout:
        l.f[0] = 0.25f * (float)below(g, 4);
        break;
    default:
        return -1;
    }
    for (int k = 0; k < l.ins; k++)
        if (l.in[k] < 0)
            return -1;
    return try_line(g, l);
}
