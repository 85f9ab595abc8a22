/* SPDX-License-Identifier: Apache-2.0 */
/* Scaled dot-product attention. */
#include <math.h>

#include "op/attention.h"
#include "tensor/shape.h"

/* [..., L, E], [..., S, E], [..., S, V], of one rank and the same leading axes. */
static bool operands_fit(tarn_shape q, tarn_shape k, tarn_shape v)
{
    bool fits = q.rank >= 2 && k.rank == q.rank && v.rank == q.rank;
    for (int i = 0; fits && i < q.rank - 2; i++)
        fits = q.dim[i] == k.dim[i] && q.dim[i] == v.dim[i];
    const int last = q.rank - 1;
    return fits && q.dim[last] == k.dim[last] && k.dim[last - 1] == v.dim[last - 1];
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
    return tarn_cast(tarn_ne(mask, op_constant_of(r, TARN_SCALAR, TARN_I32, 0.0)), TARN_I32);
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
    const tarn_tensor all = op_product_of(op_times(a->q, a->scale), tarn_transpose(a->k, -1, -2));
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
    if (dropout != 0.0f || tarn_dtype_get(product) != TARN_F32 || !attention_suits_blocks(a))
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

tarn_tensor tarn_attention(tarn_tensor q, tarn_tensor k, tarn_tensor v,
                           tarn_attention_options options)
{
    tarn_replica *r;
    const tarn_tensor in[] = { q, k, v, options.key_mask };
    if (!graph_operands("attention", in, 3 + (options.key_mask.replica != NULL), &r))
        return graph_poison(r);
    const tarn_shape sq = tarn_shape_get(q), sk = tarn_shape_get(k), sv = tarn_shape_get(v);
    if (!operands_fit(sq, sk, sv))
        return graph_fail(
            r, TARN_ERR_SHAPE,
            "attention: q %s, k %s, v %s must be [..., L, E], [..., S, E] and [..., S, V]",
            shape_text(sq), shape_text(sk), shape_text(sv));
    if (!dtype_is_float(tarn_dtype_get(q)) || !dtype_is_float(tarn_dtype_get(k)) ||
        !dtype_is_float(tarn_dtype_get(v)))
        return graph_fail(r, TARN_ERR_DTYPE,
                          "attention: q, k and v must be float32; use tarn_cast");
    const double scale =
        options.scale != 0.0f ? (double)options.scale : 1.0 / sqrt((double)sq.dim[sq.rank - 1]);
    struct attention a = { q, k, v, seen_keys(q, k, options.key_mask), scale, options.causal };
    if (r->status != TARN_OK)
        return graph_poison(r);
    const tarn_dtype of = widen(&a); /* rounded once, as one operation: weights are not */
    return op_as(attention(&a, options.dropout), of);
}
