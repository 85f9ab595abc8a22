/* SPDX-License-Identifier: Apache-2.0 */
/* Attention by blocks of queries (attention_blocks.c), for attention.c. */
#ifndef TARN_ATTENTION_H
#define TARN_ATTENTION_H

#include "op/op.h"

/* q [..., L, E], k [..., S, E], v [..., S, V] of float32, of one rank and the same leading axes. */
struct attention {
    tarn_tensor q, k, v;
    tarn_tensor
        seen; /* int32 [N, S], N the first axis: 0 for keys that no query sees; or TARN_NONE */
    tarn_tensor
        mask; /* broadcasts to [..., L, S]: of int32 0 for keys that a query does not see, of floats what is added to
                         scores; or TARN_NONE, as blocks have it */
    double scale;
    bool causal;
};

/* 1 where a query may see a key, in a shape that broadcasts to [..., L, S]; TARN_NONE: everywhere. */
tarn_tensor attention_mask(const struct attention *a);
/* e = exp(scale q k^T - its maximum) [..., L, S], which is 0 where a key is not seen. */
tarn_tensor attention_exponents(const struct attention *a);

/* Whether so large an attention is worth blocks, if it is of float32: by shapes alone. */
bool attention_suits_blocks(const struct attention *a);
/* [e v, sum of e] of shape [..., L, V + 1], of which `plain` is the value made of other ops: the compiler takes that, or
 * blocks of queries, whose e need no memory; the bits are the same. */
tarn_tensor attention_by_blocks(const struct attention *a, tarn_tensor plain);

#endif
