/* SPDX-License-Identifier: Apache-2.0 */
/* Before kernels that have values of the half types, and before gemm.cl where it reads some: float16 and bfloat16 are their
 * bits in an int register, and halfwords in memory. */
#define TARN_TO_F16_1(x) tarn_to_f16_float(x)
#define TARN_TO_F16_16(x) tarn_to_f16_float16(x)
#define TARN_TO_BF16_1(x) tarn_to_bf16_float(x)
#define TARN_TO_BF16_16(x) tarn_to_bf16_float16(x)
#define TARN_FROM_F16_1(x) tarn_from_f16_int(x)
#define TARN_FROM_F16_4(x) tarn_from_f16_int4(x)
#define TARN_FROM_F16_8(x) tarn_from_f16_int8(x)
#define TARN_FROM_F16_16(x) tarn_from_f16_int16(x)
#define TARN_FROM_BF16_1(x) as_float((x) << 16)
#define TARN_FROM_BF16_4(x) as_float4((x) << 16)
#define TARN_FROM_BF16_8(x) as_float8((x) << 16)
#define TARN_FROM_BF16_16(x) as_float16((x) << 16)

/* Rounds to the nearest, ties to even, in integers: so every device and every width gives the same bits,
 * and no device needs half arithmetic. NaN stays NaN. core/tensor/half.c is the same on the host. */
#define TARN_BF16_FUNCTIONS(f, i, u) \
    i tarn_to_bf16_##f(f x) \
    { \
        const u b = as_##u(x); \
        return as_##i(x != x ? (b >> 16) | 0x40u : (b + 0x7fffu + ((b >> 16) & 1u)) >> 16); \
    }
TARN_BF16_FUNCTIONS(float, int, uint)
TARN_BF16_FUNCTIONS(float16, int16, uint16)

/* Where the compiler says that the device is an x86 that has instructions for it, those, which round so, too. Never as
 * conversions of _Float16: clang would compare such numbers as they are, one at a time. With AVX-512 the 8, "no
 * exceptions", keeps it from that; what the builtin of AVX widens by is such a conversion, so there the result passes
 * through an exclusive or with a 0 that no compiler can know of (a launch has at most 3 dimensions). */
#if defined(__clang__) && defined(__x86_64__) && defined(__F16C__)
int tarn_to_f16_float(float x)
{
    return (ushort)__builtin_ia32_vcvtps2ph((float4)(x), 0)[0];
}
float8 tarn_from_f16_int8(int8 h)
{
    return as_float8(as_uint8(__builtin_ia32_vcvtph2ps256(TARN_CONVERT(short8, h))) ^
                     (get_work_dim() >> 2));
}
float4 tarn_from_f16_int4(int4 h)
{
    return tarn_from_f16_int8((int8)(h, h)).lo;
}
float tarn_from_f16_int(int h)
{
    return tarn_from_f16_int8((int8)(h)).s0;
}
#if defined(__AVX512F__)
int16 tarn_to_f16_float16(float16 x)
{
    return TARN_CONVERT(int16, as_ushort16(__builtin_ia32_vcvtps2ph512_mask(
                                   x, 8, (short16)(0), (ushort)0xffff)));
}
float16 tarn_from_f16_int16(int16 h)
{
    return __builtin_ia32_vcvtph2ps512_mask(TARN_CONVERT(short16, h), (float16)(0.0f),
                                            (ushort)0xffff, 8);
}
#else
int16 tarn_to_f16_float16(float16 x)
{
    const short16 h = (short16)(__builtin_ia32_vcvtps2ph256(x.lo, 0),
                                __builtin_ia32_vcvtps2ph256(x.hi, 0));
    return TARN_CONVERT(int16, as_ushort16(h));
}
float16 tarn_from_f16_int16(int16 h)
{
    return (float16)(tarn_from_f16_int8(h.lo), tarn_from_f16_int8(h.hi));
}
#endif
#else
#define TARN_TO_F16_FUNCTIONS(f, i, u) \
    i tarn_to_f16_##f(f x) \
    { \
        const u b = as_##u(x), a = b & 0x7fffffffu; \
        const u normal = (a - 0x38000000u + 0xfffu + ((a >> 13) & 1u)) >> 13; \
        const u small = as_##u(as_##f(a) + 0.5f) - 0x3f000000u; \
        const u large = a > 0x7f800000u ? 0x7e00u | ((a >> 13) & 0x1ffu) : (u)(0x7c00u); \
        const u m = a < 0x38800000u ? small : a >= 0x47800000u ? large : normal; \
        return as_##i(m | ((b >> 16) & 0x8000u)); \
    }
TARN_TO_F16_FUNCTIONS(float, int, uint)
TARN_TO_F16_FUNCTIONS(float16, int16, uint16)
#define TARN_FROM_F16_FUNCTIONS(f, i, u) \
    f tarn_from_f16_##i(i h) \
    { \
        const u m = as_##u(h) & 0x7fffu, sign = (as_##u(h) & 0x8000u) << 16; \
        const u small = as_##u(convert_##f(m) * 0x1p-24f); \
        const u rest = (m << 13) + (m < 0x7c00u ? (u)(0x38000000u) : (u)(0x70000000u)); \
        return as_##f(sign | (m < 0x400u ? small : rest)); \
    }
TARN_FROM_F16_FUNCTIONS(float, int, uint)
TARN_FROM_F16_FUNCTIONS(float4, int4, uint4)
TARN_FROM_F16_FUNCTIONS(float8, int8, uint8)
TARN_FROM_F16_FUNCTIONS(float16, int16, uint16)
#endif
