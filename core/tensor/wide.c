/* SPDX-License-Identifier: Apache-2.0 */
/* Types of 64 bits where they are recorded: refused with a word where the device, an op, or what is around it does not
 * take them, so that nothing is computed in fewer bits unasked. */
#include "tensor/wide.h"

#include "backend.h"
#include "tensor/shape.h"
#include "tensor/spread.h"

bool wide_possible(tarn_replica *r, const char *name, tarn_dtype dtype)
{
    if (!dtype_is_wide(dtype))
        return true;
    if (r->status != TARN_OK)
        return false;
    r->wide = true;
    if (dtype == TARN_F64 && !context_device(r->context)->fp64) {
        replica_fail(r, TARN_ERR_DTYPE,
                     "%s: float64 on %s, which has no doubles (cl_khr_fp64): use float32, or "
                     "another device (TARN_DEVICES)",
                     name, tarn_device_name(r));
        return false;
    }
    const bool mesh = replica_mesh(r) != NULL;
    if (!mesh && !has_shards(r))
        return true;
    replica_fail(r, TARN_ERR_DTYPE,
                 "%s: %s in a launch with %s, which takes no type of 64 bits: use %s", name,
                 tarn_dtype_name(dtype), mesh ? "a mesh" : "virtual shards",
                 dtype == TARN_F64 ? "float32" : "int32");
    return false;
}

/* The first type of 64 bits among operands and result; float32: there is none. */
static tarn_dtype wide_among(const tarn_tensor *in, int count, tarn_dtype dtype)
{
    for (int i = 0; i < count && !dtype_is_wide(dtype); i++)
        dtype = tarn_dtype_get(in[i]);
    return dtype_is_wide(dtype) ? dtype : TARN_F32;
}

static bool takes_wide(const struct op *op)
{
    const bool own = op->kind == OP_ROUTINE || op->kind == OP_HOST || op->kind == OP_COMPOSED;
    return !own || op->wide;
}

bool wide_allowed(tarn_replica *r, const struct op *op, const tarn_tensor *in, int count,
                  tarn_dtype dtype)
{
    if (r == NULL || (!r->wide && !dtype_is_wide(dtype)))
        return true; /* where there is no replica, the op says so */
    const tarn_dtype wide = wide_among(in, count, dtype);
    if (wide == TARN_F32)
        return true;
    if (!wide_possible(r, op->name, wide))
        return false;
    if (takes_wide(op))
        return true;
    replica_fail(r, TARN_ERR_DTYPE, "%s: %s is not taken: use tarn_cast to %s", op->name,
                 tarn_dtype_name(wide), wide == TARN_F64 ? "float32" : "int32");
    return false;
}

tarn_tensor wide_operand(const struct op *op, tarn_tensor x, tarn_dtype dtype)
{
    if (dtype == TARN_F64 && op->kind != OP_MAP && op->kind != OP_ROUTINE)
        return tarn_cast(x, TARN_F64);
    return dtype_is_half(tarn_dtype_get(x)) ? tarn_cast(x, TARN_F32) : x;
}
