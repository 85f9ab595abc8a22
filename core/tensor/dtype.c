/* SPDX-License-Identifier: Apache-2.0 */
/* The records of element types. */
#include "tensor/dtype.h"

/* clang-format off */
/* Bytes and halves are ints in registers: halves are their bits (op/cast.c). */
const struct dtype_record dtype_records[DTYPES] = {
    /*              name        file    memory    scalar    vector     bytes computed */
    [TARN_F32]  = { "float32",  "F32",  "float",  "float",  "float16", 4,    TARN_F32 },
    [TARN_I32]  = { "int32",    "I32",  "int",    "int",    "int16",   4,    TARN_I32 },
    [TARN_U8]   = { "uint8",    "U8",   "uchar",  "int",    "int16",   1,    TARN_I32 },
    [TARN_F16]  = { "float16",  "F16",  "ushort", "int",    "int16",   2,    TARN_I32 },
    [TARN_BF16] = { "bfloat16", "BF16", "ushort", "int",    "int16",   2,    TARN_I32 },
    [TARN_F64]  = { "float64",  "F64",  "double", "double", NULL,      8,    TARN_F64 },
    [TARN_I64]  = { "int64",    "I64",  "long",   "long",   NULL,      8,    TARN_I64 },
};
/* clang-format on */

static const struct dtype_record *record_of(tarn_dtype dtype)
{
    const size_t i = (size_t)dtype;
    return i < DTYPES ? &dtype_records[i] : NULL;
}

size_t tarn_dtype_bytes(tarn_dtype dtype)
{
    const struct dtype_record *d = record_of(dtype);
    return d != NULL ? d->bytes : 0;
}

const char *tarn_dtype_name(tarn_dtype dtype)
{
    const struct dtype_record *d = record_of(dtype);
    return d != NULL ? d->name : "unknown type";
}
