/* SPDX-License-Identifier: Apache-2.0 */
/* The blocks of transformers: an encoder's, and a decoder's. */
#include "generate.h"
#include "more_attention.h"

/* What a block is made of: weights without biases, of norms too. */
struct block {
    tarn_shape s; /* of x */
    int wide;
    double eps;
    bool after; /* norms after the sums */
    int linear1, linear2;
};

static int norm_of(struct tape *t, const struct block *b, int x, int norm)
{
    return layer_norm(t, x, b->s, norm, TARN_SHAPE(b->s.dim[2]), -1, b->eps);
}

/* x and what attention makes of it. Keys are of x itself where h->memory is -1. -1: a query sees no key. */
static int attended(struct tape *t, const struct block *b, int x, int norm, struct heads h)
{
    const int in = b->after ? x : norm_of(t, b, x, norm);
    if (h.memory < 0) {
        h.memory = h.values = in;
        h.keys = b->s.dim[1];
    }
    const int told = heads_value(t, in, b->s, &h);
    if (told < 0)
        return -1;
    const int y = tape_map2(t, T_ADD, x, told);
    return b->after ? norm_of(t, b, y, norm) : y;
}

static int thought(struct tape *t, const struct block *b, int x, int norm)
{
    const int rows = b->s.dim[0] * b->s.dim[1], e = b->s.dim[2];
    const int in = b->after ? x : norm_of(t, b, x, norm);
    const int hidden = gelu(t, linear(t, in, rows, e, b->linear1, 0, b->wide, -1));
    const int y = tape_map2(t, T_ADD, x, linear(t, hidden, rows, b->wide, b->linear2, 0, e, -1));
    return b->after ? norm_of(t, b, y, norm) : y;
}

static const struct heads no_heads = {
    .w = { -1, -1, -1, -1 }, .memory = -1, .values = -1, .key_mask = -1, .flags = -1, .added = -1
};

/* Operands `from` on: weights of queries, keys and values, and of what comes out. */
static struct heads heads_from(struct interpreter *m, const struct line *l, int from)
{
    struct heads h = no_heads;
    h.heads = l->arg[0];
    h.w[0] = interpret_operand(m, l, from);
    h.w[2] = interpret_operand(m, l, from + 1);
    return h;
}

/* Operands 5 and 6 are the linear layers'. */
static struct block block_of(struct interpreter *m, const struct line *l)
{
    return (struct block){ .s = shape_of(m, l, 0),
                           .wide = shape_of(m, l, 5).dim[0],
                           .eps = (double)l->f[0],
                           .after = l->arg[2] != 0,
                           .linear1 = interpret_operand(m, l, 5),
                           .linear2 = interpret_operand(m, l, 6) };
}

static bool block_fits(tarn_shape x, int heads)
{
    return x.rank == 3 && x.dim[2] > 0 && x.dim[1] > 0 && heads > 0 && x.dim[2] % heads == 0;
}

/* ---- an encoder's: arg is heads, causal, norms after; f[0] eps; operands x, norm1, in, out, norm2, linear1, linear2, and a
 * mask of keys; with inputs a mask of queries and keys ----------------------------------------------- */

static bool weights_fit(const struct program *p, const struct line *l)
{
    const tarn_shape x = operand_of(p, l, 0)->shape;
    if (!floats_to(p, l, 7) || !block_fits(x, l->arg[0]))
        return false;
    const int e = x.dim[2], wide = operand_of(p, l, 5)->shape.dim[0];
    const tarn_shape want[] = { TARN_SHAPE(e), TARN_SHAPE(3 * e, e), TARN_SHAPE(e, e),
                                TARN_SHAPE(e), TARN_SHAPE(wide, e),  TARN_SHAPE(e, wide) };
    for (int k = 0; k < 6; k++)
        if (!same_shape(operand_of(p, l, 1 + k)->shape, want[k]))
            return false;
    return true;
}

static bool block_shape(const struct program *p, struct line *l)
{
    const tarn_shape x = operand_of(p, l, 0)->shape;
    l->shape = x;
    if (!weights_fit(p, l))
        return false;
    if (l->op == OP_ID_transformer_block_forward)
        return mask_fits(p, l, 7, x.dim[0], x.dim[1]);
    return l->ins == 7 || spreads_to(operand_of(p, l, 7)->shape,
                                     TARN_SHAPE(x.dim[0], l->arg[0], x.dim[1], x.dim[1]));
}

static int block_value(struct interpreter *m, const struct line *l)
{
    const tarn_shape x = shape_of(m, l, 0);
    const struct block b = block_of(m, l);
    struct heads h = heads_from(m, l, 2);
    h.causal = l->arg[1] != 0;
    if (l->ins > 7 && l->op == OP_ID_transformer_block_forward)
        h.key_mask = interpret_operand(m, l, 7);
    else if (l->ins > 7)
        heads_mask(m, l, 7, TARN_SHAPE(x.dim[0], h.heads, x.dim[1], x.dim[1]), &h);
    const int y = attended(m->tape, &b, interpret_operand(m, l, 0), interpret_operand(m, l, 1), h);
    return y < 0 ? -1 : thought(m->tape, &b, y, interpret_operand(m, l, 4));
}

static tarn_tensor block_call(const struct line *l, const tarn_tensor *in)
{
    const tarn_tensor none = TARN_NONE, mask = l->ins > 7 ? in[7] : none;
    const tarn_transformer_block block = {
        .norm1 = { in[1], none, l->f[0] },
        .norm2 = { in[4], none, l->f[0] },
        .attention = { in[2], none, in[3], none, l->arg[0], l->arg[1] != 0, 0 },
        .linear1 = { in[5], none },
        .linear2 = { in[6], none },
        .norm_after = l->arg[2] != 0,
    };
    return l->op == OP_ID_transformer_block_forward
               ? tarn_transformer_block_forward(&block, in[0], mask)
               : tarn_transformer_block_forward_with(&block, in[0],
                                                     (tarn_attention_inputs){ .mask = mask });
}

static bool block_grow(struct generator *g, struct line *l, int a)
{
    const int n = chance(g, 40) && g->batch <= 17 ? g->batch : 1 + below(g, 3),
              heads = 1 + below(g, 2);
    const int e = heads * (2 + below(g, 2)), length = 2 + below(g, 3), wide = 1 + below(g, 8);
    (void)a;
    l->in[0] = leaf_of(g, TARN_SHAPE(n, length, e));
    l->in[1] = leaf_of(g, TARN_SHAPE(e));
    l->in[2] = weight_of(g, TARN_SHAPE(3 * e, e));
    l->in[3] = weight_of(g, TARN_SHAPE(e, e));
    l->in[4] = leaf_of(g, TARN_SHAPE(e));
    l->in[5] = weight_of(g, TARN_SHAPE(wide, e));
    l->in[6] = weight_of(g, TARN_SHAPE(e, wide));
    l->ins = 7;
    l->arg[0] = heads;
    l->arg[1] = chance(g, 50);
    l->arg[2] = chance(g, 40);
    l->f[0] = 1e-3f;
    if (l->op == OP_ID_transformer_block_forward && !l->arg[1] && chance(g, 50))
        l->in[l->ins++] = key_mask(g, n, length);
    if (l->op == OP_ID_transformer_block_forward_with && chance(g, 70))
        l->in[l->ins++] = leaf_of(g, relative_shape(g, TARN_SHAPE(n, heads, length, length)));
    return true;
}

/* ---- a decoder's: arg and f as before; operands x, memory, one norm for all three, weights for both attentions (two), linear1,
 * linear2, and a mask of queries and what is in memory ------------------------------------------------ */

static bool decoder_shape(const struct program *p, struct line *l)
{
    const tarn_shape x = operand_of(p, l, 0)->shape, memory = operand_of(p, l, 1)->shape;
    l->shape = x;
    if (!floats_to(p, l, 7) || !block_fits(x, l->arg[0]) || memory.rank != 3)
        return false;
    const int e = x.dim[2], wide = operand_of(p, l, 5)->shape.dim[0];
    return memory.dim[0] == x.dim[0] && memory.dim[2] == e && memory.dim[1] > 0 &&
           same_shape(operand_of(p, l, 2)->shape, TARN_SHAPE(e)) &&
           same_shape(operand_of(p, l, 3)->shape, TARN_SHAPE(3 * e, e)) &&
           same_shape(operand_of(p, l, 4)->shape, TARN_SHAPE(e, e)) &&
           same_shape(operand_of(p, l, 5)->shape, TARN_SHAPE(wide, e)) &&
           same_shape(operand_of(p, l, 6)->shape, TARN_SHAPE(e, wide)) &&
           (l->ins == 7 || spreads_to(operand_of(p, l, 7)->shape,
                                      TARN_SHAPE(x.dim[0], l->arg[0], x.dim[1], memory.dim[1])));
}

static int decoder_value(struct interpreter *m, const struct line *l)
{
    const tarn_shape x = shape_of(m, l, 0);
    const struct block b = block_of(m, l);
    const int norm = interpret_operand(m, l, 2);
    struct heads own = heads_from(m, l, 3), cross = own;
    own.causal = l->arg[1] != 0;
    cross.memory = cross.values = interpret_operand(m, l, 1);
    cross.keys = shape_of(m, l, 1).dim[1];
    if (l->ins > 7)
        heads_mask(m, l, 7, TARN_SHAPE(x.dim[0], cross.heads, x.dim[1], cross.keys), &cross);
    const int y = attended(m->tape, &b, interpret_operand(m, l, 0), norm, own);
    const int z = y < 0 ? -1 : attended(m->tape, &b, y, norm, cross);
    return z < 0 ? -1 : thought(m->tape, &b, z, norm);
}

static tarn_tensor decoder_call(const struct line *l, const tarn_tensor *in)
{
    const tarn_tensor none = TARN_NONE;
    const tarn_layer_norm norm = { in[2], none, l->f[0] };
    const tarn_transformer_decoder decoder = {
        .block = { .norm1 = norm,
                   .norm2 = norm,
                   .attention = { in[3], none, in[4], none, l->arg[0], l->arg[1] != 0, 0 },
                   .linear1 = { in[5], none },
                   .linear2 = { in[6], none },
                   .norm_after = l->arg[2] != 0 },
        .cross = { in[3], none, in[4], none, l->arg[0], false, 0 },
        .norm3 = norm,
    };
    return tarn_transformer_decoder_forward(
        &decoder, in[0], (tarn_attention_inputs){ .memory = none },
        (tarn_attention_inputs){ .memory = in[1], .mask = l->ins > 7 ? in[7] : none });
}

static bool decoder_grow(struct generator *g, struct line *l, int a)
{
    if (!block_grow(g, l, a) || l->in[0] < 0)
        return false;
    const tarn_shape x = shape_of_line(g, l->in[0]);
    const int keys = 1 + below(g, 4), norm = l->in[1], in = l->in[2], out = l->in[3];
    l->in[1] = leaf_of(g, TARN_SHAPE(x.dim[0], keys, x.dim[2]));
    l->in[2] = norm;
    l->in[3] = in;
    l->in[4] = out;
    if (chance(g, 50))
        l->in[l->ins++] =
            leaf_of(g, relative_shape(g, TARN_SHAPE(x.dim[0], l->arg[0], x.dim[1], keys)));
    return true;
}

const struct more more_blocks[] = {
    { OP_ID_transformer_block_forward, block_shape, block_value, block_call, block_grow },
    { OP_ID_transformer_block_forward_with, block_shape, block_value, block_call, block_grow },
    { OP_ID_transformer_decoder_forward, decoder_shape, decoder_value, decoder_call, decoder_grow },
};
const int more_block_count = sizeof more_blocks / sizeof *more_blocks;
