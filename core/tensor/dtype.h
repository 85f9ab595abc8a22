/* SPDX-License-Identifier: Apache-2.0 */
/* Element types: one constant record each, which is all that the library knows of a type. */
#ifndef TARN_DTYPE_H
#define TARN_DTYPE_H

#include "tarn.h"

#define DTYPES (TARN_I64 + 1)

struct dtype_record {
    const char *name;   /* in error lines */
    const char *file;   /* in safetensors */
    const char *memory; /* OpenCL C: an element in memory, */
    const char *scalar; /* a register, */
    const char *vector; /* and one of 16 lanes; NULL: no schedule has such a vector */
    size_t bytes;
    tarn_dtype computed; /* the type that its registers and sums are of */
};

extern const struct dtype_record dtype_records[DTYPES];

/* float16 or bfloat16: they are stored so, and computed in float32. */
static inline bool dtype_is_half(tarn_dtype dtype)
{
    return dtype == TARN_F16 || dtype == TARN_BF16;
}
static inline bool dtype_is_float(tarn_dtype dtype)
{
    return dtype == TARN_F32 || dtype == TARN_F64 || dtype_is_half(dtype);
}
/* A type that functions of floats compute in. */
static inline bool dtype_is_single(tarn_dtype dtype)
{
    return dtype == TARN_F32 || dtype == TARN_F64;
}
/* Of 64 bits: programs that have such values are scheduled one element a register (run/device_target.h). */
static inline bool dtype_is_wide(tarn_dtype dtype)
{
    return dtype == TARN_F64 || dtype == TARN_I64;
}
static inline tarn_dtype dtype_computed(tarn_dtype dtype)
{
    return dtype_records[dtype].computed;
}
/* Sums are of this type itself; others are widened first, and rounded or cut afterwards. */
static inline bool dtype_adds(tarn_dtype dtype)
{
    return dtype_computed(dtype) == dtype;
}
/* The float type that a value is computed in where a function is of floats alone: float64 stays. */
static inline tarn_dtype dtype_single(tarn_dtype dtype)
{
    return dtype == TARN_F64 ? TARN_F64 : TARN_F32;
}

#endif
