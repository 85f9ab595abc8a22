/* SPDX-License-Identifier: Apache-2.0 */
/* Scaled dot-product attention. */
#include <math.h>
#include <string.h>

#include "op/attention.h"
#include "tensor/shape.h"

/* [..., L, E], [..., S, E], [..., S, V], of one rank and the same leading axes; of grouped heads, axis -3, k and v have a
 * part of q's. */
static bool operands_fit(tarn_shape q, tarn_shape k, tarn_shape v, bool grouped)
{
    const int last = q.rank - 1, heads = grouped ? last - 2 : -1;
    bool fits = q.rank >= (grouped ? 4 : 2) && q.rank <= TARN_MAX_RANK - grouped &&
                k.rank == q.rank && v.rank == q.rank;
    for (int i = 0; fits && i < last - 1; i++)
        fits = k.dim[i] == v.dim[i] &&
               (i == heads ? k.dim[i] > 0 && q.dim[i] % k.dim[i] == 0 : q.dim[i] == k.dim[i]);
    return fits && q.dim[last] == k.dim[last] && k.dim[last - 1] == v.dim[last - 1];
}

/* The axis of heads, -3, as [groups, heads of each]; of what has one head for each group that is repeated for all of its
 * `each`. */
static tarn_tensor in_groups(tarn_tensor x, int32_t groups, int32_t each)
{
    tarn_shape s = tarn_shape_get(x);
    const int axis = s.rank - 3;
    const int32_t own = s.dim[axis] / groups;
    memmove(&s.dim[axis + 1], &s.dim[axis], 3 * sizeof s.dim[0]);
    s.rank++;
    s.dim[axis] = groups;
    s.dim[axis + 1] = own;
    x = tarn_reshape(x, s);
    s.dim[axis + 1] = each;
    return own == each ? x : tarn_broadcast_to(x, s);
}

static tarn_tensor flags_of(tarn_tensor mask)
{
    const tarn_tensor zero = op_whole(mask.replica, 0);
    return tarn_cast(tarn_ne(mask, zero), TARN_I32);
}

/* int32 [N, S], of the program's own mask; TARN_NONE: it has none. */
static tarn_tensor seen_keys(tarn_tensor q, tarn_tensor k, tarn_tensor mask)
{
    tarn_replica *r = q.replica;
    const tarn_shape sq = tarn_shape_get(q), sk = tarn_shape_get(k);
    const int32_t keys = sk.dim[sk.rank - 2];
    if (mask.replica == NULL)
        return TARN_NONE;
    const tarn_shape s = tarn_shape_get(mask);
    if (sq.rank < 3 || s.rank != 2 || s.dim[0] != sq.dim[0] || s.dim[1] != keys ||
        dtype_is_float(tarn_dtype_get(mask)))
        return graph_fail(
            r, TARN_ERR_SHAPE,
            "attention: key_mask is %s %s, must be uint8 or int32 [%d, %d], and q [N, ..., L, E]",
            tarn_dtype_name(tarn_dtype_get(mask)), shape_text(s), sq.dim[0], keys);
    return flags_of(mask);
}

/* What the program says of queries and keys, checked: a float type as it is, of flags int32; TARN_NONE: nothing. */
static tarn_tensor checked_mask(tarn_tensor q, tarn_tensor k, tarn_tensor mask)
{
    if (mask.replica == NULL)
        return mask;
    const tarn_shape sk = tarn_shape_get(k), s = tarn_shape_get(mask);
    tarn_shape all = tarn_shape_get(q);
    all.dim[all.rank - 1] = sk.dim[sk.rank - 2];
    bool fits = s.rank <= all.rank;
    for (int i = 1; fits && i <= s.rank; i++)
        fits = s.dim[s.rank - i] == 1 || s.dim[s.rank - i] == all.dim[all.rank - i];
    if (!fits)
        return graph_fail(q.replica, TARN_ERR_SHAPE, "attention: mask %s must broadcast to %s",
                          shape_text(s), shape_text(all));
    tarn_dtype of;
    return dtype_is_float(tarn_dtype_get(mask)) ? op_wide(mask, &of) : flags_of(mask);
}

/* For q in groups of heads: the axis of heads, if the mask has one, is split likewise. */
static tarn_tensor mask_in_groups(tarn_tensor mask, int32_t groups, int32_t each)
{
    if (mask.replica == NULL || tarn_shape_get(mask).rank < 3)
        return mask;
    const tarn_shape s = tarn_shape_get(mask);
    return s.dim[s.rank - 3] == 1 ? in_groups(mask, 1, 1) : in_groups(mask, groups, each);
}

tarn_tensor attention_mask(const struct attention *a)
{
    tarn_replica *r = a->q.replica;
    const tarn_shape sq = tarn_shape_get(a->q), sk = tarn_shape_get(a->k);
    const int32_t length = sq.dim[sq.rank - 2], keys = sk.dim[sk.rank - 2];
    tarn_tensor mask = TARN_NONE;
    if (a->causal) {
        const tarn_shape square = TARN_SHAPE(length, keys);
        mask = tarn_le(op_iota_of(r, square, 1), op_iota_of(r, square, 0));
    }
    if (a->mask.replica != NULL && tarn_dtype_get(a->mask) == TARN_I32)
        mask = mask.replica == NULL ? a->mask : tarn_mul(a->mask, mask);
    if (a->seen.replica == NULL)
        return mask;
    tarn_shape wide = { .rank = sq.rank };
    for (int i = 0; i < sq.rank; i++)
        wide.dim[i] = i == 0 ? sq.dim[0] : i == sq.rank - 1 ? keys : 1;
    const tarn_tensor here = tarn_reshape(a->seen, wide);
    return mask.replica == NULL ? here : tarn_mul(here, mask);
}

static tarn_tensor scores(const struct attention *a)
{
    tarn_tensor all = op_product_of(tarn_mul_scalar(a->q, a->scale), tarn_transpose(a->k, -1, -2));
    if (a->mask.replica != NULL && dtype_is_float(tarn_dtype_get(a->mask)))
        all = tarn_add(all, a->mask);
    const tarn_tensor mask = attention_mask(a);
    return mask.replica == NULL
               ? all
               : tarn_where(mask, all, tarn_full(a->q.replica, TARN_SCALAR, -INFINITY));
}

/* The maximum cancels out of value and gradient. */
tarn_tensor attention_exponents(const struct attention *a)
{
    const tarn_tensor s = scores(a);
    const int last = tarn_shape_get(a->q).rank - 1;
    return tarn_exp(tarn_sub(s, op_reduce(&op_max, tarn_detach(s), UINT32_C(1) << last)));
}

/* e v over the sum of e: [L, V] is divided, and not [L, S], here and in the gradient. */
static tarn_tensor attention(const struct attention *a, float dropout)
{
    const int last = tarn_shape_get(a->q).rank - 1;
    tarn_tensor e = attention_exponents(a);
    const tarn_tensor sum = op_reduce(&op_sum, e, UINT32_C(1) << last);
    if (dropout != 0.0f)
        e = tarn_dropout(e, dropout);
    const tarn_tensor product = op_product_of(e, a->v);
    if (dropout != 0.0f || a->mask.replica != NULL || tarn_dtype_get(product) != TARN_F32 ||
        !attention_suits_blocks(a))
        return tarn_div(product, sum);
    const int32_t width = tarn_shape_get(a->v).dim[last];
    const tarn_tensor plain = tarn_concat((tarn_tensor[]){ product, sum }, 2, last);
    const tarn_tensor both = attention_by_blocks(a, plain);
    return tarn_div(tarn_slice(both, last, 0, width, 1),
                    tarn_slice(both, last, width, width + 1, 1));
}

/* Operands as products would round them, in float32, and which half type all three were rounded to; float32: not one. */
static tarn_dtype widen(struct attention *a)
{
    tarn_dtype of[3];
    a->q = op_wide(op_low(a->q), &of[0]);
    a->k = op_wide(op_low(a->k), &of[1]);
    a->v = op_wide(op_low(a->v), &of[2]);
    return dtype_is_half(of[0]) && of[0] == of[1] && of[0] == of[2] ? of[0] : TARN_F32;
}

/* k and v have one head for several of q's: these are an axis of their own. Returns the result's shape. */
static tarn_shape group_heads(struct attention *a)
{
    tarn_shape s = tarn_shape_get(a->q);
    const int axis = s.rank - 3;
    const int32_t groups = tarn_shape_get(a->k).dim[axis], each = s.dim[axis] / groups;
    s.dim[s.rank - 1] = tarn_shape_get(a->v).dim[s.rank - 1];
    a->q = in_groups(a->q, groups, each);
    a->k = in_groups(a->k, groups, each);
    a->v = in_groups(a->v, groups, each);
    a->mask = mask_in_groups(a->mask, groups, each);
    return s;
}

tarn_tensor tarn_attention(tarn_tensor q, tarn_tensor k, tarn_tensor v,
                           tarn_attention_options options)
{
    tarn_replica *r;
    const tarn_tensor in[] = { q, k, v, options.key_mask, options.mask };
    if (!graph_operands_some("attention", in, 3, 5, &r))
        return graph_poison(r);
    const tarn_shape sq = tarn_shape_get(q), sk = tarn_shape_get(k), sv = tarn_shape_get(v);
    if (!operands_fit(sq, sk, sv, options.grouped_heads))
        return graph_fail(
            r, TARN_ERR_SHAPE,
            "attention: q %s, k %s, v %s must be [..., L, E], [..., S, E] and [..., S, V]%s",
            shape_text(sq), shape_text(sk), shape_text(sv),
            options.grouped_heads
                ? ", of 4 to 7 axes; the heads of k and v, axis -3, must divide those of q"
                : "");
    if (!dtype_is_float(tarn_dtype_get(q)) || !dtype_is_float(tarn_dtype_get(k)) ||
        !dtype_is_float(tarn_dtype_get(v)))
        return graph_fail(r, TARN_ERR_DTYPE,
                          "attention: q, k and v must be float32; use tarn_cast");
    const double scale =
        options.scale != 0.0f ? (double)options.scale : 1.0 / sqrt((double)sq.dim[sq.rank - 1]);
    struct attention a = { .q = q,
                           .k = k,
                           .v = v,
                           .seen = seen_keys(q, k, options.key_mask),
                           .mask = checked_mask(q, k, options.mask),
                           .scale = scale,
                           .causal = options.causal };
    if (r->status != TARN_OK)
        return graph_poison(r);
    const bool grouped = options.grouped_heads && sq.dim[sq.rank - 3] != sk.dim[sq.rank - 3];
    const tarn_dtype of = widen(&a); /* rounded once, as one operation: weights are not */
    const tarn_shape shape = grouped ? group_heads(&a) : sq;
    const tarn_tensor y = op_as(attention(&a, options.dropout), of);
    return grouped ? tarn_reshape(y, shape) : y;
}
