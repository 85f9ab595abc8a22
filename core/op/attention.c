/* SPDX-License-Identifier: Apache-2.0 */
/* Scaled dot-product attention. */
#include <math.h>

#include "op/op.h"
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

/* 1 where a query may see a key, in a shape that broadcasts to [..., L, S]; TARN_NONE: everywhere. */
static tarn_tensor seen(tarn_tensor q, tarn_tensor k, const tarn_attention_options *o)
{
    tarn_replica *r = q.replica;
    const tarn_shape sq = tarn_shape_get(q), sk = tarn_shape_get(k);
    const int32_t length = sq.dim[sq.rank - 2], keys = sk.dim[sk.rank - 2];
    tarn_tensor mask = TARN_NONE;
    if (o->causal) {
        const tarn_shape square = TARN_SHAPE(length, keys);
        mask = tarn_le(op_iota_of(r, square, 1), op_iota_of(r, square, 0));
    }
    if (o->key_mask.replica == NULL)
        return mask;
    const tarn_shape s = tarn_shape_get(o->key_mask);
    if (sq.rank < 3 || s.rank != 2 || s.dim[0] != sq.dim[0] || s.dim[1] != keys ||
        dtype_is_float(tarn_dtype_get(o->key_mask)))
        return graph_fail(
            r, TARN_ERR_SHAPE,
            "attention: key_mask is %s %s, must be uint8 or int32 [%d, %d], and q [N, ..., L, E]",
            tarn_dtype_name(tarn_dtype_get(o->key_mask)), shape_text(s), sq.dim[0], keys);
    tarn_shape wide = { .rank = sq.rank };
    for (int i = 0; i < sq.rank; i++)
        wide.dim[i] = i == 0 ? s.dim[0] : i == sq.rank - 1 ? keys : 1;
    const tarn_tensor here =
        tarn_ne(tarn_reshape(o->key_mask, wide), op_constant_of(r, TARN_SCALAR, TARN_I32, 0.0));
    return mask.replica == NULL ? here : tarn_mul(here, mask);
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
    tarn_tensor scores = tarn_matmul(op_times(q, scale), tarn_transpose(k, -1, -2));
    const tarn_tensor mask = seen(q, k, &options);
    if (mask.replica != NULL)
        scores = tarn_where(mask, scores, tarn_full(r, TARN_SCALAR, -INFINITY));
    tarn_tensor weights = tarn_softmax(scores, -1);
    if (options.dropout != 0.0f)
        weights = tarn_dropout(weights, options.dropout);
    return tarn_matmul(weights, v);
}
