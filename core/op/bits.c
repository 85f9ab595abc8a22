/* SPDX-License-Identifier: Apache-2.0 */
/* The bits of values, and a hash of them: what fingerprints of weights are made of. */
#include "op/op.h"

const struct op op_bits = { .name = "bits", .arity = 1, .kind = OP_MAP, .code = "TARN_BITS(x)" };
const struct op op_from_bits = {
    .name = "from_bits", .arity = 1, .kind = OP_MAP, .code = "TARN_FROM_BITS(x)"
};
/* For a fixed y, different x give different results: no single change goes unseen in a sum over
 * positions y. */
const struct op op_mix = { .name = "mix", .arity = 2, .kind = OP_MAP, .code = "TARN_MIX(x, y)" };

tarn_tensor op_bits_of(tarn_tensor x)
{
    if (!graph_resolve(x) || tarn_dtype_get(x) != TARN_F32)
        return x;
    return graph_record(x.replica, &op_bits, &x, 1, tarn_shape_get(x), TARN_I32, NULL);
}

tarn_tensor op_value_of_bits(tarn_tensor x)
{
    return graph_record(x.replica, &op_from_bits, &x, 1, tarn_shape_get(x), TARN_F32, NULL);
}

tarn_tensor op_mix_of(tarn_tensor x, tarn_tensor y)
{
    const tarn_shape shape = tarn_shape_get(x);
    const tarn_tensor in[2] = { x, op_expand_to(y, shape) };
    return graph_record(x.replica, &op_mix, in, 2, shape, TARN_I32, NULL);
}
