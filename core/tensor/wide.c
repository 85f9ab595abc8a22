/* SPDX-License-Identifier: Apache-2.0 */
/* Types of 64 bits where they are recorded: refused with a word where the device does not have them, so that nothing is
 * computed in fewer bits unasked. */
#include "tensor/wide.h"

#include "backend.h"
#include "tensor/shape.h"

bool wide_possible(tarn_replica *r, const char *name, tarn_dtype dtype)
{
    if (r == NULL || !dtype_is_wide(dtype))
        return true; /* where there is no replica, the op says so */
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
    return true;
}

tarn_tensor wide_operand(const struct op *op, tarn_tensor x, tarn_dtype dtype)
{
    if (dtype == TARN_F64 && op->kind != OP_MAP && op->kind != OP_ROUTINE)
        return tarn_cast(x, TARN_F64);
    return dtype_is_half(tarn_dtype_get(x)) ? tarn_cast(x, TARN_F32) : x;
}
