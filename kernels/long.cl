/* SPDX-License-Identifier: Apache-2.0 */
/* Before kernels that have values of int64, each in a register of its own. */
#define TARN_TO_I64_1(x) convert_long_sat_rtz(x)
#define TARN_LOW_1(x) as_int((uint)as_ulong(x))
#define TARN_HIGH_1(x) as_int((uint)(as_ulong(x) >> 32))
#define TARN_ADD_LONG_1(a, b) as_long((ulong)(a) + (ulong)(b))
#define TARN_SUB_LONG_1(a, b) as_long((ulong)(a) - (ulong)(b))
#define TARN_MUL_LONG_1(a, b) as_long((ulong)(a) * (ulong)(b))
/* Truncates as C does; x / 0 is 0, and LONG_MIN / -1 wraps. */
#define TARN_DIV_LONG_1(a, b) \
    ((b) == -1 ? (long)(0ul - (ulong)(a)) : (b) == 0 ? 0 : (a) / ((b) == 0 || (b) == -1 ? 1 : (b)))

/* The lanes of a team, in the order of tarn_sum_int. */
long tarn_sum_long(long16 v)
{
    const long8 a = v.lo + v.hi;
    const long4 b = a.lo + a.hi;
    const long2 c = b.lo + b.hi;
    return TARN_ADD_LONG_1(c.x, c.y);
}
TARN_LANE_REDUCTION(tarn_max_long, long, TARN_MAX)
TARN_LANE_REDUCTION(tarn_min_long, long, TARN_MIN)
