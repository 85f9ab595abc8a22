/* SPDX-License-Identifier: Apache-2.0 */
/* The two half types on the host: the formulas of kernels/half.cl, so the same bits. */
#include <string.h>

#include "tensor/shape.h"

static uint32_t bits_of(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

static float float_of(uint32_t u)
{
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static uint32_t to_bf16(uint32_t u)
{
    const bool nan = (u & 0x7fffffffu) > 0x7f800000u;
    return nan ? (u >> 16) | 0x40u : (u + 0x7fffu + (u >> 16 & 1u)) >> 16;
}

static uint32_t to_f16(uint32_t u)
{
    const uint32_t sign = u >> 16 & 0x8000u, a = u & 0x7fffffffu;
    if (a > 0x7f800000u) /* NaN keeps the upper bits of its payload */
        return sign | 0x7e00u | (a >> 13 & 0x1ffu);
    if (a >= 0x47800000u) /* 65536; what rounds up to it gets there by the carry below */
        return sign | 0x7c00u;
    if (a < 0x38800000u) /* below 2^-14: adding 0.5 rounds to multiples of 2^-24 */
        return sign | (bits_of(float_of(a) + 0.5f) - 0x3f000000u);
    return sign | ((a - 0x38000000u + 0xfffu + (a >> 13 & 1u)) >> 13);
}

uint16_t half_from_float(float value, tarn_dtype dtype)
{
    const uint32_t u = bits_of(value);
    return (uint16_t)(dtype == TARN_BF16 ? to_bf16(u) : to_f16(u));
}

float half_to_float(uint16_t bits, tarn_dtype dtype)
{
    const uint32_t h = bits, m = h & 0x7fffu, sign = (h & 0x8000u) << 16;
    if (dtype == TARN_BF16)
        return float_of(h << 16);
    if (m < 0x400u)
        return float_of(sign | bits_of((float)m * 0x1p-24f));
    return float_of(sign | ((m << 13) + (m < 0x7c00u ? 0x38000000u : 0x70000000u)));
}
