/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions. The half types are for storage: what computes does so in float32 and is rounded to them once, by a
 * node of its own (graph_record), so that fusion changes no bit. In registers they are their bits, as integers. */
#include "op/op.h"
#include "tensor/shape.h"

const struct op op_cast = {
    .name = "cast",
    .arity = 1,
    .kind = OP_MAP,
    .code = "TARN_TO_F32(x)",
    .typed = { [TARN_I32] = "TARN_TO_I32(x)",
               [TARN_U8] = "TARN_TO_U8(x)",
               [TARN_F16] = "TARN_TO_F16(x)",
               [TARN_BF16] = "TARN_TO_BF16(x)",
               [TARN_F64] = "TARN_TO_F64(x)",
               [TARN_I64] = "TARN_TO_I64(x)" },
    .grad = op_same_grad,
};

/* The float32 of a half type: exact. */
const struct op op_from_f16 = {
    .name = "from_f16", .arity = 1, .kind = OP_MAP, .code = "TARN_FROM_F16(x)", .grad = op_same_grad
};
const struct op op_from_bf16 = { .name = "from_bf16",
                                 .arity = 1,
                                 .kind = OP_MAP,
                                 .code = "TARN_FROM_BF16(x)",
                                 .grad = op_same_grad };

static tarn_tensor record(const struct op *op, tarn_tensor x, tarn_dtype dtype)
{
    return graph_record(x.replica, op, &x, 1, tarn_shape_get(x), dtype, NULL);
}

uint32_t op_exact_of(tarn_tensor x)
{
    const struct node *n = graph_node(x);
    const uint32_t below = n->op == &op_cast ? x.replica->graph.operands[n->first_in] : 0;
    return dtype_is_half(n->dtype) && below != 0 && x.replica->graph.nodes[below].exact == n->dtype
               ? below
               : 0;
}

static tarn_tensor widen(tarn_tensor x)
{
    tarn_replica *r = x.replica;
    const struct node *n = graph_node(x);
    const uint32_t exact = op_exact_of(x);
    if (exact != 0)
        return graph_handle(r, exact);
    if (n->op != &op_permute)
        return record(n->dtype == TARN_F16 ? &op_from_f16 : &op_from_bf16, x, TARN_F32);
    /* A transposition stays outermost, where products look for it. */
    const union op_arg arg = n->arg;
    const tarn_shape shape = n->shape;
    const tarn_tensor below = tarn_cast(graph_handle(r, r->graph.operands[n->first_in]), TARN_F32);
    return graph_record(r, &op_permute, &below, 1, shape, TARN_F32, &arg);
}

/* What a float32 was widened from; 0: it was not, or from another type. */
static uint32_t widened_from(tarn_tensor x, tarn_dtype dtype)
{
    const struct node *n = graph_node(x);
    const bool same = n->op == (dtype == TARN_F16 ? &op_from_f16 : &op_from_bf16);
    return same && n->in_count == 1 ? x.replica->graph.operands[n->first_in] : 0;
}

/* Of int64 what lies below views of it: these stay views, as an index that all channels share is, and a cast of what a
 * program gave can be computed by itself. TARN_NONE: it is no such view. */
static tarn_tensor cast_below(tarn_tensor x, tarn_dtype dtype)
{
    tarn_replica *r = x.replica;
    const struct node n = *graph_node(x);
    if (n.dtype != TARN_I64 || (n.op != &op_reshape && n.op != &op_permute && n.op != &op_expand))
        return TARN_NONE;
    const tarn_tensor below = tarn_cast(graph_handle(r, r->graph.operands[n.first_in]), dtype);
    return graph_record(r, n.op, &below, 1, n.shape, dtype, &n.arg);
}

tarn_tensor tarn_cast(tarn_tensor x, tarn_dtype dtype)
{
    if (!graph_operand(NULL, x, "cast", 0))
        return graph_poison(x.replica);
    if (tarn_dtype_bytes(dtype) == 0)
        return graph_fail(x.replica, TARN_ERR_DTYPE, "cast: unknown element type %d", (int)dtype);
    const tarn_dtype from = tarn_dtype_get(x);
    if (from == dtype)
        return graph_value(x);
    if (dtype_is_half(from))
        return dtype == TARN_F32 ? widen(x) : tarn_cast(widen(x), dtype);
    if (!dtype_is_half(dtype)) {
        const tarn_tensor view = cast_below(x, dtype);
        return view.replica != NULL ? view : record(&op_cast, x, dtype);
    }
    x = tarn_cast(x, TARN_F32);
    const uint32_t before = tarn_failed(x) ? 0 : widened_from(x, dtype);
    return before != 0 ? graph_handle(x.replica, before) : record(&op_cast, x, dtype);
}

tarn_tensor op_wide(tarn_tensor x, tarn_dtype *of)
{
    *of = tarn_dtype_get(x);
    return dtype_is_half(*of) ? tarn_cast(x, TARN_F32) : x;
}

tarn_tensor op_floats(tarn_tensor x)
{
    return tarn_cast(x, dtype_single(tarn_dtype_get(x)));
}

tarn_tensor op_as(tarn_tensor y, tarn_dtype of)
{
    return dtype_is_half(of) && !tarn_failed(y) ? tarn_cast(y, of) : y;
}

static bool casts(tarn_tensor x, tarn_dtype *low)
{
    const tarn_replica *r = x.replica;
    if (r == NULL || r->status != TARN_OK || !op_autocasts(r))
        return false;
    *low = r->autocast;
    return true;
}

tarn_tensor op_low(tarn_tensor x)
{
    tarn_dtype low;
    const tarn_dtype from = tarn_dtype_get(x);
    return casts(x, &low) && dtype_is_float(from) && from != TARN_F64 ? tarn_cast(x, low) : x;
}

tarn_tensor op_high(tarn_tensor x)
{
    tarn_dtype low;
    return casts(x, &low) && dtype_is_half(tarn_dtype_get(x)) ? tarn_cast(x, TARN_F32) : x;
}

void tarn_autocast(tarn_replica *r, tarn_dtype dtype)
{
    if (r == NULL)
        graph_fail(NULL, TARN_ERR_ARGUMENT, "autocast: the replica is NULL");
    else if (dtype_is_half(dtype))
        r->autocast = dtype;
    else
        graph_fail(
            r, TARN_ERR_DTYPE,
            "autocast: %s is no half type: TARN_BF16 or TARN_F16; tarn_autocast_end() ends it",
            tarn_dtype_name(dtype));
}

void tarn_autocast_end(tarn_replica *r)
{
    if (r != NULL)
        r->autocast = TARN_F32;
}

tarn_dtype op_join_floats(tarn_dtype a, tarn_dtype b)
{
    if (!dtype_is_float(a) || a == b)
        return b;
    if (a == TARN_F64 || b == TARN_F64)
        return TARN_F64;
    return dtype_is_float(b) ? TARN_F32 : a;
}
