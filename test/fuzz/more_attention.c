/* SPDX-License-Identifier: Apache-2.0 */
/* Attention, and that of several heads; and tables of rows as a layer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "generate.h"
#include "more_attention.h"

/* ---- attention by itself: arg[0] causal, arg[1] a mask of keys, arg[2] grouped heads, f[0] scale; operands q, k, v, the mask
 * of keys, a mask of queries and keys ------------------------------------------------------------- */

/* Products of [G, L, E] and [G, S, E] to [G, L, S]. */
static int scores(struct tape *t, int q, int k, int groups, int length, int keys, int width)
{
    struct products s = { 0 };
    for (int g = 0; g < groups; g++)
        for (int i = 0; i < length; i++)
            for (int j = 0; j < keys; j++)
                for (int e = 0; e < width; e++)
                    add_product(&s, (int64_t)(g * length + i) * width + e,
                                (int64_t)(g * keys + j) * width + e,
                                (int64_t)(g * length + i) * keys + j);
    return sum_products(t, &s, q, k, (int64_t)groups * length * keys);
}

/* What hides keys: nodes of flags (-1: none), of keys of each sample, which has so many groups, and of all scores. */
struct hidden {
    bool causal;
    int keys, groups, flags;
};

/* A score far below all others where the key is not seen. -1: a query sees no key. */
static int hide(struct tape *t, int x, tarn_shape s, const struct hidden *h)
{
    int *index = malloc((size_t)tarn_shape_count(s) * sizeof *index + 1);
    bool some = true;
    if (index == NULL)
        abort();
    for (int i = 0; i < s.dim[0] * s.dim[1]; i++) {
        bool any = false;
        for (int j = 0; j < s.dim[2]; j++) {
            const int sample = i / s.dim[1] / h->groups, at = i * s.dim[2] + j;
            const bool seen = (!h->causal || j <= i % s.dim[1]) &&
                              (h->keys < 0 || t->node[h->keys].v[sample * s.dim[2] + j] != 0) &&
                              (h->flags < 0 || t->node[h->flags].v[at] != 0);
            index[at] = seen ? at : -1;
            any |= seen;
        }
        some &= any;
    }
    const int y = tape_gather(t, x, (int)tarn_shape_count(s), index, -1e9);
    free(index);
    return some ? y : -1;
}

/* q [G, L, E], k [G, S, E], v [G, S, V]; `added` to scores, -1: nothing. */
static int attention(struct tape *t, const int in[3], tarn_shape s, int width, int values,
                     double scale, const struct hidden *h, int added)
{
    const int products =
        scores(t, tape_scale(t, in[0], scale), in[1], s.dim[0], s.dim[1], s.dim[2], width);
    const int all = added < 0 ? products : tape_map2(t, T_ADD, products, added);
    const int seen = hide(t, all, s, h);
    if (seen < 0)
        return -1;
    const int weights = softmax(t, seen, s, 2, false);
    return matmul(t, weights, s, in[2], TARN_SHAPE(s.dim[0], s.dim[2], values),
                  TARN_SHAPE(s.dim[0], s.dim[1], values));
}

bool mask_fits(const struct program *p, const struct line *l, int k, int samples, int keys)
{
    if (l->ins <= k)
        return true;
    const struct line *mask = operand_of(p, l, k);
    return !program_floats(mask->dtype) && same_shape(mask->shape, TARN_SHAPE(samples, keys));
}

bool floats_to(const struct program *p, const struct line *l, int count)
{
    for (int k = 0; k < count; k++)
        if (operand_of(p, l, k)->dtype != TARN_F32)
            return false;
    return true;
}

/* [..., L, S] */
static tarn_shape scores_shape(tarn_shape q, tarn_shape k)
{
    q.dim[q.rank - 1] = k.dim[k.rank - 2];
    return q;
}

bool spreads_to(tarn_shape s, tarn_shape all)
{
    for (int i = 1; i <= s.rank; i++)
        if (i > all.rank || (s.dim[s.rank - i] != 1 && s.dim[s.rank - i] != all.dim[all.rank - i]))
            return false;
    return true;
}

static bool attention_shape(const struct program *p, struct line *l)
{
    const tarn_shape q = operand_of(p, l, 0)->shape, k = operand_of(p, l, 1)->shape,
                     v = operand_of(p, l, 2)->shape;
    if (!floats_to(p, l, 3) || q.rank < (l->arg[2] ? 4 : 3) || k.rank != q.rank ||
        v.rank != q.rank || k.dim[k.rank - 2] < 1)
        return false;
    const int last = q.rank - 1;
    for (int d = 0; d < last - 1; d++)
        if (k.dim[d] != v.dim[d] ||
            (l->arg[2] && d == last - 2 ? k.dim[d] < 1 || q.dim[d] % k.dim[d] != 0
                                        : q.dim[d] != k.dim[d]))
            return false;
    l->shape = q;
    l->shape.dim[last] = v.dim[last];
    const int masks = 3 + l->arg[1];
    return q.dim[last] == k.dim[last] && k.dim[last - 1] == v.dim[last - 1] && l->ins >= masks &&
           (!l->arg[1] || mask_fits(p, l, 3, q.dim[0], k.dim[last - 1])) &&
           (l->ins == masks || spreads_to(operand_of(p, l, masks)->shape, scores_shape(q, k)));
}

/* k or v: the heads of axis -3 for all of q's. */
static int for_all_heads(struct interpreter *m, const struct line *l, int k, tarn_shape q)
{
    const tarn_shape from = shape_of(m, l, k);
    const int x = interpret_operand(m, l, k), axis = from.rank - 3;
    if (!l->arg[2] || from.dim[axis] == q.dim[axis])
        return x;
    tarn_shape to = from;
    to.dim[axis] = q.dim[axis];
    const int count = (int)tarn_shape_count(to);
    int *index = malloc((size_t)count * sizeof *index + 1), at[TARN_MAX_RANK] = { 0 };
    if (index == NULL)
        abort();
    for (int i = 0; i < count; i++, next_position(to, at)) {
        int place[TARN_MAX_RANK];
        memcpy(place, at, sizeof place);
        place[axis] /= q.dim[axis] / from.dim[axis];
        index[i] = (int)position_of(from, place);
    }
    const int y = tape_gather(m->tape, x, count, index, 0);
    free(index);
    return y;
}

static int attention_value(struct interpreter *m, const struct line *l)
{
    const tarn_shape q = shape_of(m, l, 0), k = shape_of(m, l, 1), v = shape_of(m, l, 2);
    const int last = q.rank - 1, in[] = { interpret_operand(m, l, 0), for_all_heads(m, l, 1, q),
                                          for_all_heads(m, l, 2, q) };
    int groups = 1, added = -1;
    for (int d = 1; d < last - 1; d++)
        groups *= q.dim[d];
    struct hidden h = { l->arg[0] != 0, l->arg[1] ? interpret_operand(m, l, 3) : -1, groups, -1 };
    const int own = 3 + l->arg[1];
    if (l->ins > own) {
        const int mask = spread_to(m->tape, interpret_operand(m, l, own), shape_of(m, l, own),
                                   scores_shape(q, k));
        *(program_floats(operand_of(m->p, l, own)->dtype) ? &added : &h.flags) = mask;
    }
    const double scale = l->f[0] != 0 ? (double)l->f[0] : 1 / sqrt((double)q.dim[last]);
    return attention(m->tape, in, TARN_SHAPE(q.dim[0] * groups, q.dim[last - 1], k.dim[last - 1]),
                     q.dim[last], v.dim[last], scale, &h, added);
}

static tarn_tensor attention_call(const struct line *l, const tarn_tensor *in)
{
    const int own = 3 + l->arg[1];
    return tarn_attention(in[0], in[1], in[2],
                          (tarn_attention_options){ .causal = l->arg[0] != 0,
                                                    .scale = l->f[0],
                                                    .key_mask = l->arg[1] ? in[3] : TARN_NONE,
                                                    .mask = l->ins > own ? in[own] : TARN_NONE,
                                                    .grouped_heads = l->arg[2] != 0 });
}

int key_mask(struct generator *g, int samples, int keys)
{
    return new_leaf(g, TARN_SHAPE(samples, keys), chance(g, 50) ? TARN_U8 : TARN_I32, FILL_INDEX,
                    4);
}

static bool attention_grow(struct generator *g, struct line *l, int a)
{
    const int n = chance(g, 50) && g->batch <= 17 ? g->batch : 1 + below(g, 3),
              heads = 1 + below(g, 2);
    const int length = 1 + below(g, 5), keys = 4 + below(g, 3), width = 1 + below(g, 4);
    (void)a;
    l->arg[2] = chance(g, 30);
    const int each = l->arg[2] ? 1 + below(g, 3) : 1;
    l->in[0] = leaf_of(g, l->arg[2] || chance(g, 50) ? TARN_SHAPE(n, heads * each, length, width)
                                                     : TARN_SHAPE(n, length, width));
    if (l->in[0] < 0)
        return false;
    tarn_shape s = shape_of_line(g, l->in[0]), all = s;
    all.dim[s.rank - 1] = keys;
    if (l->arg[2])
        s.dim[1] = heads;
    s.dim[s.rank - 2] = keys;
    l->in[1] = leaf_of(g, s);
    s.dim[s.rank - 1] = 1 + below(g, 4);
    l->in[2] = leaf_of(g, s);
    l->arg[0] = chance(g, 50);
    l->f[0] = chance(g, 50) ? 0.5f : 0;
    l->ins = 3;
    l->arg[1] = !l->arg[0] && chance(g, 50);
    if (l->arg[1])
        l->in[l->ins++] = key_mask(g, n, keys);
    if (chance(g, 30))
        l->in[l->ins++] = leaf_of(g, relative_shape(g, all));
    else if (!l->arg[0] && !l->arg[1] && chance(g, 50))
        l->in[l->ins++] = new_leaf(g, relative_shape(g, all), TARN_I32, FILL_INDEX, 4);
    return true;
}

/* ---- several heads: arg is heads, causal ------------------------------------------------------- */

int linear(struct tape *t, int x, int rows, int in, int w, int first, int count, int bias)
{
    int *index = malloc(((size_t)in + (size_t)rows) * (size_t)count * sizeof *index + 1);
    if (index == NULL)
        abort();
    for (int i = 0; i < in * count; i++)
        index[i] = (first + i % count) * in + i / count;
    const int turned = tape_gather(t, w, in * count, index, 0);
    for (int i = 0; i < rows * count; i++)
        index[i] = first + i % count;
    const int y =
        matmul(t, x, TARN_SHAPE(rows, in), turned, TARN_SHAPE(in, count), TARN_SHAPE(rows, count));
    const int all =
        bias < 0 ? y : tape_map2(t, T_ADD, y, tape_gather(t, bias, rows * count, index, 0));
    free(index);
    return all;
}

/* [N, T, H, D] to [N, H, T, D]. */
static int turn(struct tape *t, int x, int n, int length, int heads, int each)
{
    const tarn_shape to = TARN_SHAPE(n, heads, length, each);
    int *index = malloc((size_t)tarn_shape_count(to) * sizeof *index + 1),
        at[TARN_MAX_RANK] = { 0 };
    if (index == NULL)
        abort();
    for (int i = 0; i < tarn_shape_count(to); i++, next_position(to, at))
        index[i] = ((at[0] * length + at[2]) * heads + at[1]) * each + at[3];
    const int y = tape_gather(t, x, (int)tarn_shape_count(to), index, 0);
    free(index);
    return y;
}

int heads_value(struct tape *t, int x, tarn_shape s, const struct heads *h)
{
    const int n = s.dim[0], length = s.dim[1], e = s.dim[2], each = e / h->heads;
    const int of[] = { x, h->memory, h->values };
    int in[3];
    for (int k = 0; k < 3; k++) {
        const int rows = k == 0 ? length : h->keys;
        in[k] = turn(t, linear(t, of[k], n * rows, e, h->w[0], k * e, e, h->w[1]), n, rows,
                     h->heads, each);
    }
    const struct hidden hidden = { h->causal, h->key_mask, h->heads, h->flags };
    const int y = attention(t, in, TARN_SHAPE(n * h->heads, length, h->keys), each, each,
                            1 / sqrt((double)each), &hidden, h->added);
    return y < 0 ? -1
                 : linear(t, turn(t, y, n, h->heads, length, each), n * length, e, h->w[2], 0, e,
                          h->w[3]);
}

void heads_mask(struct interpreter *m, const struct line *l, int k, tarn_shape scores,
                struct heads *h)
{
    const int mask = spread_to(m->tape, interpret_operand(m, l, k), shape_of(m, l, k), scores);
    *(program_floats(operand_of(m->p, l, k)->dtype) ? &h->added : &h->flags) = mask;
}

/* Operands 1 to 4: weights and biases of all heads. */
static bool weights_fit(const struct program *p, const struct line *l, int e)
{
    return same_shape(operand_of(p, l, 1)->shape, TARN_SHAPE(3 * e, e)) &&
           same_shape(operand_of(p, l, 2)->shape, TARN_SHAPE(3 * e)) &&
           same_shape(operand_of(p, l, 3)->shape, TARN_SHAPE(e, e)) &&
           same_shape(operand_of(p, l, 4)->shape, TARN_SHAPE(e));
}

static bool heads_shape(const struct program *p, struct line *l)
{
    const tarn_shape x = operand_of(p, l, 0)->shape;
    const tarn_shape memory = l->ins > 5 ? operand_of(p, l, 5)->shape : x;
    l->shape = x;
    if (!floats_to(p, l, l->ins > 5 ? 6 : 5) || x.rank != 3 || memory.rank != 3 || l->arg[0] < 1)
        return false;
    const int e = x.dim[2];
    return e % l->arg[0] == 0 && memory.dim[0] == x.dim[0] && memory.dim[2] == e &&
           memory.dim[1] > 0 && weights_fit(p, l, e) && mask_fits(p, l, 6, x.dim[0], memory.dim[1]);
}

static int heads_line_value(struct interpreter *m, const struct line *l)
{
    const int x = interpret_operand(m, l, 0), memory = l->ins > 5 ? interpret_operand(m, l, 5) : x;
    const int w[] = { interpret_operand(m, l, 1), interpret_operand(m, l, 2),
                      interpret_operand(m, l, 3), interpret_operand(m, l, 4) };
    const struct heads h = { .heads = l->arg[0],
                             .causal = l->arg[1] != 0,
                             .memory = memory,
                             .values = memory,
                             .keys = shape_of(m, l, l->ins > 5 ? 5 : 0).dim[1],
                             .w = { w[0], w[1], w[2], w[3] },
                             .key_mask = l->ins > 6 ? interpret_operand(m, l, 6) : -1,
                             .flags = -1,
                             .added = -1 };
    return heads_value(m->tape, x, shape_of(m, l, 0), &h);
}

static tarn_tensor heads_call(const struct line *l, const tarn_tensor *in)
{
    const tarn_multi_head_attention layer = { in[1],     in[2],          in[3], in[4],
                                              l->arg[0], l->arg[1] != 0, 0 };
    return tarn_multi_head_attention_forward(&layer, in[0], l->ins > 5 ? in[5] : TARN_NONE,
                                             l->ins > 6 ? in[6] : TARN_NONE);
}

int weight_of(struct generator *g, tarn_shape s)
{
    const int w = leaf_of(g, s);
    return w < 0 ? -1
                 : try_line(g, (struct line){
                                   .op = OP_ID_mul_scalar, .in = { w }, .ins = 1, .f = { 0.25f } });
}

static bool heads_grow(struct generator *g, struct line *l, int a)
{
    const int n = chance(g, 40) && g->batch <= 17 ? g->batch : 1 + below(g, 3),
              heads = 1 + below(g, 2);
    const int e = heads * (1 + below(g, 3)), keys = 4 + below(g, 2);
    (void)a;
    l->in[0] = leaf_of(g, TARN_SHAPE(n, 1 + below(g, 4), e));
    l->in[1] = weight_of(g, TARN_SHAPE(3 * e, e));
    l->in[2] = leaf_of(g, TARN_SHAPE(3 * e));
    l->in[3] = weight_of(g, TARN_SHAPE(e, e));
    l->in[4] = leaf_of(g, TARN_SHAPE(e));
    l->ins = 5;
    l->arg[0] = heads;
    l->arg[1] = chance(g, 50);
    if (chance(g, 50))
        l->in[l->ins++] = leaf_of(g, TARN_SHAPE(n, keys, e));
    if (l->ins == 6 && !l->arg[1] && chance(g, 60))
        l->in[l->ins++] = key_mask(g, n, keys);
    return true;
}

/* ---- the same with inputs: arg is heads, causal, whether memory is given, values, and which mask: 1 of keys, 2 of
 * queries and keys; operands x, four weights, memory, values, the mask ------------------------------ */

enum { MEMORY = 5, VALUES, MASK };

/* The operand that keys or values are made of. */
static int keys_of(const struct line *l)
{
    return l->arg[2] ? MEMORY : 0;
}

static int values_of(const struct line *l)
{
    return l->arg[3] ? VALUES : keys_of(l);
}

static bool inputs_shape(const struct program *p, struct line *l)
{
    const tarn_shape x = operand_of(p, l, 0)->shape, keys = operand_of(p, l, keys_of(l))->shape;
    l->shape = x;
    if (!floats_to(p, l, MASK) || x.rank != 3 || keys.rank != 3 || l->arg[0] < 1 ||
        !same_shape(keys, operand_of(p, l, values_of(l))->shape))
        return false;
    const int e = x.dim[2];
    if (e % l->arg[0] != 0 || keys.dim[0] != x.dim[0] || keys.dim[2] != e || keys.dim[1] < 1 ||
        !weights_fit(p, l, e))
        return false;
    if (l->arg[4] == 0)
        return true;
    return l->arg[4] == 1 ? l->ins > MASK && mask_fits(p, l, MASK, x.dim[0], keys.dim[1])
                          : l->ins > MASK &&
                                spreads_to(operand_of(p, l, MASK)->shape,
                                           TARN_SHAPE(x.dim[0], l->arg[0], x.dim[1], keys.dim[1]));
}

static int inputs_value(struct interpreter *m, const struct line *l)
{
    const tarn_shape x = shape_of(m, l, 0);
    struct heads h = { .heads = l->arg[0],
                       .causal = l->arg[1] != 0,
                       .memory = interpret_operand(m, l, keys_of(l)),
                       .values = interpret_operand(m, l, values_of(l)),
                       .keys = shape_of(m, l, keys_of(l)).dim[1],
                       .key_mask = l->arg[4] == 1 ? interpret_operand(m, l, MASK) : -1,
                       .flags = -1,
                       .added = -1 };
    for (int k = 0; k < 4; k++)
        h.w[k] = interpret_operand(m, l, 1 + k);
    if (l->arg[4] == 2)
        heads_mask(m, l, MASK, TARN_SHAPE(x.dim[0], h.heads, x.dim[1], h.keys), &h);
    return heads_value(m->tape, interpret_operand(m, l, 0), x, &h);
}

static tarn_tensor inputs_call(const struct line *l, const tarn_tensor *in)
{
    const tarn_tensor none = TARN_NONE;
    const tarn_multi_head_attention layer = { in[1],     in[2],          in[3], in[4],
                                              l->arg[0], l->arg[1] != 0, 0 };
    return tarn_multi_head_attention_forward_with(
        &layer, in[0],
        (tarn_attention_inputs){ l->arg[2] ? in[MEMORY] : none, l->arg[3] ? in[VALUES] : none,
                                 l->arg[4] == 1 ? in[MASK] : none,
                                 l->arg[4] == 2 ? in[MASK] : none });
}

static bool inputs_grow(struct generator *g, struct line *l, int a)
{
    if (!heads_grow(g, l, a) || l->in[0] < 0)
        return false;
    const tarn_shape x = shape_of_line(g, l->in[0]);
    tarn_shape s = x;
    l->arg[2] = chance(g, 50);
    s.dim[1] = l->arg[2] ? 4 + below(g, 2) : x.dim[1];
    l->in[MEMORY] = l->arg[2] ? leaf_of(g, s) : l->in[0];
    l->arg[3] = chance(g, 50);
    l->in[VALUES] = l->arg[3] ? leaf_of(g, s) : l->in[0];
    l->ins = MASK;
    l->arg[4] = below(g, 3);
    const tarn_shape all = TARN_SHAPE(x.dim[0], l->arg[0], x.dim[1], s.dim[1]);
    if (l->arg[4] == 1)
        l->in[l->ins++] = key_mask(g, x.dim[0], s.dim[1]);
    else if (l->arg[4] == 2)
        l->in[l->ins++] = l->arg[1] || chance(g, 50)
                              ? leaf_of(g, relative_shape(g, all))
                              : new_leaf(g, relative_shape(g, all), TARN_I32, FILL_INDEX, 4);
    return true;
}

/* ---- a table of rows --------------------------------------------------------------------------- */

static bool table_shape(const struct program *p, struct line *l)
{
    const struct line *table = operand_of(p, l, 0), *index = operand_of(p, l, 1);
    l->shape = index->shape;
    if (table->dtype != TARN_F32 || table->shape.rank != 2 || table->shape.dim[0] < 1 ||
        program_floats(index->dtype) || index->shape.rank == TARN_MAX_RANK)
        return false;
    l->shape.dim[l->shape.rank++] = table->shape.dim[1];
    return true;
}

static int table_value(struct interpreter *m, const struct line *l)
{
    return embedding(m->tape, interpret_operand(m, l, 0), shape_of(m, l, 0),
                     interpret_operand(m, l, 1));
}

static tarn_tensor table_call(const struct line *l, const tarn_tensor *in)
{
    (void)l;
    return tarn_embedding_forward(&(tarn_embedding_layer){ in[0] }, in[1]);
}

static bool table_grow(struct generator *g, struct line *l, int a)
{
    (void)a;
    l->in[0] = leaf_of(g, TARN_SHAPE(3 + below(g, 9), 1 + below(g, 17)));
    l->in[1] = new_leaf(g, TARN_SHAPE(g->batch), TARN_I32, FILL_INDEX, 13);
    l->ins = 2;
    return true;
}

const struct more more_attentions[] = {
    { OP_ID_attention, attention_shape, attention_value, attention_call, attention_grow },
    { OP_ID_multi_head_attention_forward, heads_shape, heads_line_value, heads_call, heads_grow },
    { OP_ID_multi_head_attention_forward_with, inputs_shape, inputs_value, inputs_call,
      inputs_grow },
    { OP_ID_embedding_forward, table_shape, table_value, table_call, table_grow },
};
const int more_attention_count = sizeof more_attentions / sizeof *more_attentions;
