/* SPDX-License-Identifier: Apache-2.0 */
/* The bits of values, and a fingerprint of all of them. */
#include <string.h>

#include "op/op.h"
#include "tensor/expand.h"

const struct op op_bits = {
    .name = "bits", .arity = 1, .kind = OP_MAP, .code = "TARN_BITS(x)", .grad = op_no_grad
};
const struct op op_from_bits = {
    .name = "from_bits", .arity = 1, .kind = OP_MAP, .code = "TARN_FROM_BITS(x)", .grad = op_no_grad
};
/* For a fixed y, different x give different results: no single change goes unseen in a sum over
 * positions y. */
const struct op op_hash_step = {
    .name = "mix", .arity = 2, .kind = OP_MAP, .code = "TARN_MIX(x, y)", .grad = op_no_grad
};

tarn_tensor op_bits_of(tarn_tensor x)
{
    const tarn_dtype dtype = tarn_dtype_get(x) == TARN_F64 ? TARN_I64 : TARN_I32;
    return graph_record(x.replica, &op_bits, &x, 1, tarn_shape_get(x), dtype, NULL);
}

tarn_tensor op_value_of_bits(tarn_tensor x)
{
    return graph_record(x.replica, &op_from_bits, &x, 1, tarn_shape_get(x), TARN_F32, NULL);
}

/* Of 64 bits, the lower and the upper half. */
static const struct op low_word = {
    .name = "low_word", .arity = 1, .kind = OP_MAP, .code = "TARN_LOW(x)", .grad = op_no_grad
};
static const struct op high_word = {
    .name = "high_word", .arity = 1, .kind = OP_MAP, .code = "TARN_HIGH(x)", .grad = op_no_grad
};

/* ---- fingerprints --------------------------------------------------------------------------- */

/* Words of 32 bits that an element is hashed as. */
static uint32_t words_of(tarn_dtype dtype)
{
    return dtype_is_wide(dtype) ? 2 : 1;
}

/* What makes one of these an int32; NULL: it is one. */
static const struct op *to_word(tarn_dtype dtype, uint32_t word)
{
    return dtype_is_wide(dtype) ? (word == 0 ? &low_word : &high_word)
           : dtype == TARN_F32  ? &op_bits
           : dtype == TARN_I32  ? NULL
                                : &op_cast;
}

/* The sum of the hashes of one word of a tensor's elements, each with its position. */
static uint32_t sum_of_hashes(struct builder *b, uint32_t x, uint32_t word, uint32_t first)
{
    const tarn_dtype dtype = expand_dtype(b, x);
    const struct op *const convert = to_word(dtype, word);
    const tarn_shape flat = TARN_SHAPE((int32_t)tarn_shape_count(expand_shape(b, x)));
    union op_arg iota, base, axes;
    memset(&iota, 0, sizeof iota);
    memset(&base, 0, sizeof base);
    memset(&axes, 0, sizeof axes);
    base.leaf.bits = first;
    axes.reduce.axes = 1;
    uint32_t in[2] = { x };
    if (expand_shape(b, x).rank != 1)
        in[0] = expand_make(b, &op_reshape, flat, dtype, NULL, in, 1);
    if (convert != NULL)
        in[0] = expand_make(b, convert, flat, TARN_I32, NULL, in, 1);
    const uint32_t at[2] = { expand_make(b, &op_iota, flat, TARN_I32, &iota, NULL, 0),
                             expand_make(b, &op_constant, flat, TARN_I32, &base, NULL, 0) };
    in[1] = expand_make(b, &op_add, flat, TARN_I32, NULL, at, 2);
    const uint32_t hashes = expand_make(b, &op_hash_step, flat, TARN_I32, NULL, in, 2);
    return expand_make(b, &op_sum, TARN_SHAPE(1), TARN_I32, &axes, &hashes, 1);
}

/* Integer sums know no order. */
static uint32_t fingerprint_expand(struct builder *b, const struct node *n, const uint32_t *in)
{
    uint32_t first = n->arg.fingerprint.first, total = 0;
    for (uint32_t i = 0; i < n->in_count; i++)
        for (uint32_t word = 0; word < words_of(expand_dtype(b, in[i])); word++) {
            const uint32_t sum[2] = { total, sum_of_hashes(b, in[i], word, first) };
            total = i + word == 0 ? sum[1]
                                  : expand_make(b, &op_add, TARN_SHAPE(1), TARN_I32, NULL, sum, 2);
            first += (uint32_t)tarn_shape_count(expand_shape(b, in[i]));
        }
    return total;
}

const struct op op_fingerprint = { .name = "fingerprint",
                                   .arity = -1,
                                   .kind = OP_COMPOSED,
                                   .expand = fingerprint_expand,
                                   .grad = op_no_grad };

tarn_tensor op_fingerprint_of(const tarn_tensor *x, int count, uint32_t first)
{
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.fingerprint.first = first;
    return graph_record(x[0].replica, &op_fingerprint, x, count, TARN_SHAPE(1), TARN_I32, &arg);
}
