/* SPDX-License-Identifier: Apache-2.0 */
/* Head of every generated program: what the printed expressions and sums are made of.
 * Names end in the width of their registers: _1 is a scalar, _16 a vector of 16 lanes.
 * Truth is 0 or 1 in an int register, though comparing vectors gives 0 or -1 in OpenCL C. */
#pragma OPENCL FP_CONTRACT OFF /* a * b + c is two roundings unless fma() says otherwise */

#define TARN_LANES ((int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))

/* Sixteen elements at any address, and in another type. Drivers define vload16 as functions inside of functions, and
 * inlining thousands of them took half of their compiler's time; PoCL's convert_ushort16 goes element by element. */
#ifdef __clang__
#define TARN_INLINE static inline __attribute__((always_inline))
#define TARN_APART __attribute__((noinline, visibility("hidden"), min_vector_width(512)))
typedef float16 tarn_any_float16 __attribute__((aligned(4)));
typedef int16 tarn_any_int16 __attribute__((aligned(4)));
typedef uchar16 tarn_any_uchar16 __attribute__((aligned(1)));
typedef ushort16 tarn_any_ushort16 __attribute__((aligned(2)));
#define TARN_LOAD(space, type, from) (*(const space tarn_any_##type##16 *)(from))
#define TARN_STORE(space, type, value, to) (*(space tarn_any_##type##16 *)(to) = (value))
#define TARN_SHUFFLE(a, b, order) __builtin_shufflevector(a, b, order)
#define TARN_CONVERT(type, x) __builtin_convertvector(x, type)
#else
#define TARN_INLINE static inline
#define TARN_APART static
#define TARN_LOAD(space, type, from) vload16(0, from)
#define TARN_STORE(space, type, value, to) vstore16(value, 0, to)
#define TARN_SHUFFLE(a, b, order) shuffle2(a, b, (uint16)(order))
#define TARN_CONVERT(type, x) convert_##type(x)
#endif

/* Asks the second cache for the line at an address, which may be behind a buffer's end: so it is no prefetch() of the
 * standard, but what a known processor has. In SPIR-V it has no name. */
#define TARN_AHEAD(from)
#if defined(__has_builtin) && (defined(__x86_64__) || defined(__aarch64__) || defined(__riscv) || \
                               defined(__powerpc64__) || defined(__loongarch__))
#if __has_builtin(__builtin_prefetch)
#undef TARN_AHEAD
#define TARN_AHEAD(from) __builtin_prefetch((const void *)(size_t)(from), 0, 2)
#endif
#endif
#define TARN_WIDEN(x) TARN_CONVERT(int16, x)

/* Every other element of 31, none behind the last. */
#define TARN_EVEN 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31
#define TARN_LOAD_EVEN(space, type, from) \
    TARN_SHUFFLE(TARN_LOAD(space, type, from), TARN_LOAD(space, type, (from) + 15), TARN_EVEN)

/* Transposes a tile of 16 x 16 elements in four rounds. Each round interleaves pairs of registers, which
 * rotates the index (register, lane) by one bit. An order of lanes is a macro, since macros of any number of arguments
 * are an error for NVIDIA's compiler. */
#define TARN_LOW_PAIRS 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define TARN_HIGH_PAIRS 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define TARN_ZIP(from, to, i) \
    to[2 * i] = TARN_SHUFFLE(from[i], from[i + 8], TARN_LOW_PAIRS); \
    to[2 * i + 1] = TARN_SHUFFLE(from[i], from[i + 8], TARN_HIGH_PAIRS);
#define TARN_ZIPS(from, to) \
    TARN_ZIP(from, to, 0) TARN_ZIP(from, to, 1) TARN_ZIP(from, to, 2) TARN_ZIP(from, to, 3) \
    TARN_ZIP(from, to, 4) TARN_ZIP(from, to, 5) TARN_ZIP(from, to, 6) TARN_ZIP(from, to, 7)
#define TARN_TURN_16(type, a) \
    { \
        type##16 b[16]; \
        TARN_ZIPS(a, b) TARN_ZIPS(b, a) TARN_ZIPS(a, b) TARN_ZIPS(b, a) \
    }

/* The same by quarters of 8 x 8 elements, where a register has fewer than 16 lanes: all of a tile would not be in registers,
 * and interleaving would cross from one half of 16 lanes to the other. Within a quarter rows are interleaved in runs of 4
 * lanes, which the third round brings to their places. */
#ifdef __clang__
#define TARN_EACH_OF_8 _Pragma("unroll") for (int i = 0; i < 8; ++i)
#define TARN_ROWS(x, i, j, order) __builtin_shufflevector(x[i], x[j], order)
#define TARN_FIRST_PAIRS 0, 8, 1, 9, 4, 12, 5, 13
#define TARN_SECOND_PAIRS 2, 10, 3, 11, 6, 14, 7, 15
#define TARN_FIRST_TWOS 0, 1, 8, 9, 4, 5, 12, 13
#define TARN_SECOND_TWOS 2, 3, 10, 11, 6, 7, 14, 15
#define TARN_FIRST_FOURS 0, 1, 2, 3, 8, 9, 10, 11
#define TARN_SECOND_FOURS 4, 5, 6, 7, 12, 13, 14, 15
#define TARN_QUARTER_FUNCTION(type) \
    TARN_INLINE void tarn_turn_quarter_##type(type##8 * x) \
    { \
        type##8 a[8], b[8]; \
        _Pragma("unroll") for (int i = 0; i < 8; i += 2) \
        { \
            a[i] = TARN_ROWS(x, i, i + 1, TARN_FIRST_PAIRS); \
            a[i + 1] = TARN_ROWS(x, i, i + 1, TARN_SECOND_PAIRS); \
        } \
        _Pragma("unroll") for (int i = 0; i < 8; i += 4) \
        { \
            b[i] = TARN_ROWS(a, i, i + 2, TARN_FIRST_TWOS); \
            b[i + 1] = TARN_ROWS(a, i, i + 2, TARN_SECOND_TWOS); \
            b[i + 2] = TARN_ROWS(a, i + 1, i + 3, TARN_FIRST_TWOS); \
            b[i + 3] = TARN_ROWS(a, i + 1, i + 3, TARN_SECOND_TWOS); \
        } \
        _Pragma("unroll") for (int i = 0; i < 4; ++i) \
        { \
            x[i] = TARN_ROWS(b, i, i + 4, TARN_FIRST_FOURS); \
            x[i + 4] = TARN_ROWS(b, i, i + 4, TARN_SECOND_FOURS); \
        } \
    }
TARN_QUARTER_FUNCTION(float)
TARN_QUARTER_FUNCTION(int)
#define TARN_TURN_8(type, a) \
    { \
        type##8 p[8], q[8]; \
        TARN_EACH_OF_8 p[i] = a[i].lo; \
        tarn_turn_quarter_##type(p); \
        TARN_EACH_OF_8 a[i].lo = p[i]; \
        TARN_EACH_OF_8 p[i] = a[i].hi; \
        tarn_turn_quarter_##type(p); \
        TARN_EACH_OF_8 q[i] = a[i + 8].lo; \
        TARN_EACH_OF_8 a[i + 8].lo = p[i]; \
        tarn_turn_quarter_##type(q); \
        TARN_EACH_OF_8 a[i].hi = q[i]; \
        TARN_EACH_OF_8 p[i] = a[i + 8].hi; \
        tarn_turn_quarter_##type(p); \
        TARN_EACH_OF_8 a[i + 8].hi = p[i]; \
    }
#else
#define TARN_TURN_8(type, a) TARN_TURN_16(type, a)
#endif

#define TARN_BOOL_1(c) (c)
#define TARN_BOOL_16(c) (-(c))
#define TARN_SELECT_1(c, a, b) ((c) ? (a) : (b))
#define TARN_SELECT_16(c, a, b) (((c) != 0) ? (a) : (b))

/* NaN wins, wherever it stands. */
#define TARN_MAX_1(a, b) (((a) > (b) || (a) != (a)) ? (a) : (b))
#define TARN_MAX_16(a, b) ((((a) > (b)) | ((a) != (a))) ? (a) : (b))
#define TARN_MIN_1(a, b) (((a) < (b) || (a) != (a)) ? (a) : (b))
#define TARN_MIN_16(a, b) ((((a) < (b)) | ((a) != (a))) ? (a) : (b))
/* Whether a replaces b as the first maximum: larger, or the first NaN. */
#define TARN_BETTER_1(a, b) ((a) > (b) || ((a) != (a) && (b) == (b)))
#define TARN_BETTER_16(a, b) (-(((a) > (b)) | (((a) != (a)) & ((b) == (b)))))

#define TARN_F_1(c) (c)
#define TARN_F_16(c) ((float16)(c))
#define TARN_I_1(c) (c)
#define TARN_I_16(c) ((int16)(c))
#define TARN_TO_F32_1(x) convert_float(x)
#define TARN_TO_F32_16(x) TARN_CONVERT(float16, x)
#define TARN_TO_I32_1(x) convert_int_sat_rtz(x)
#define TARN_TO_I32_16(x) convert_int16_sat_rtz(x)
#define TARN_TO_U8_1(x) (convert_int(x) & 255)
#define TARN_TO_U8_16(x) (convert_int16(x) & 255)
#define TARN_BITS_1(x) as_int(x)
#define TARN_BITS_16(x) as_int16(x)
#define TARN_FROM_BITS_1(x) as_float(x)
#define TARN_FROM_BITS_16(x) as_float16(x)
#define TARN_MIX_1(x, y) as_int(tarn_mix_uint(as_uint(x), as_uint(y)))
#define TARN_MIX_16(x, y) as_int16(tarn_mix_uint16(as_uint16(x), as_uint16(y)))
/* int32 wraps, but a compiler may take it that scalars of a signed type never do. It knows of vectors that they may. */
#define TARN_ADD_INT_1(a, b) as_int(as_uint(a) + as_uint(b))
#define TARN_ADD_INT_16(a, b) ((a) + (b))
#define TARN_SUB_INT_1(a, b) as_int(as_uint(a) - as_uint(b))
#define TARN_SUB_INT_16(a, b) ((a) - (b))
#define TARN_MUL_INT_1(a, b) as_int(as_uint(a) * as_uint(b))
#define TARN_MUL_INT_16(a, b) ((a) * (b))
/* Truncates as C does; x / 0 is 0, and INT_MIN / -1 wraps: dividing by -1 is negating. */
#define TARN_DIV_INT_1(a, b) \
    ((b) == -1 ? (int)(0u - (uint)(a)) : (b) == 0 ? 0 : (a) / ((b) == 0 || (b) == -1 ? 1 : (b)))
#define TARN_DIV_INT_16(a, b) \
    (((b) == -1) ? as_int16((uint16)(0) - as_uint16(a)) \
                 : (((b) == 0) ? (int16)(0) \
                               : (a) / ((((b) == 0) | ((b) == -1)) ? (int16)(1) : (b))))

/* Every line is one to one in x. The folds carry changes of high bits down: without them, changes of
 * two signs would cancel in a sum. The constants are MurmurHash3's. */
#define TARN_MIX_FUNCTION(type) \
    type tarn_mix_##type(type x, type y) \
    { \
        x ^= y * 0x9E3779B1u; \
        x = (x ^ (x >> 16)) * 0x85EBCA6Bu; \
        return x ^ (x >> 13); \
    }
TARN_MIX_FUNCTION(uint)
TARN_MIX_FUNCTION(uint16)

/* The lanes of a register in one fixed tree. */
float tarn_sum_float(float16 v)
{
    const float8 a = v.lo + v.hi;
    const float4 b = a.lo + a.hi;
    const float2 c = b.lo + b.hi;
    return c.x + c.y;
}

/* Sixteen of these sums at once, the same bits: each step adds the halves of two registers. */
#define TARN_HALVES(a, b) ((float16)((a).lo, (b).lo) + (float16)((a).hi, (b).hi))
#define TARN_QUARTERS(a, b) \
    ((float16)((a).s0123, (a).s89ab, (b).s0123, (b).s89ab) + \
     (float16)((a).s4567, (a).scdef, (b).s4567, (b).scdef))
#define TARN_EIGHTHS(a, b) \
    ((float16)((a).s014589cd, (b).s014589cd) + (float16)((a).s2367abef, (b).s2367abef))
#define TARN_SIXTEENTHS(a, b) ((float16)((a).even, (b).even) + (float16)((a).odd, (b).odd))
float16 tarn_sums(float16 a, float16 b, float16 c, float16 d, float16 e, float16 f, float16 g,
                  float16 h, float16 i, float16 j, float16 k, float16 l, float16 m, float16 n,
                  float16 o, float16 p)
{
    const float16 a4 = TARN_QUARTERS(TARN_HALVES(a, b), TARN_HALVES(c, d));
    const float16 e4 = TARN_QUARTERS(TARN_HALVES(e, f), TARN_HALVES(g, h));
    const float16 i4 = TARN_QUARTERS(TARN_HALVES(i, j), TARN_HALVES(k, l));
    const float16 m4 = TARN_QUARTERS(TARN_HALVES(m, n), TARN_HALVES(o, p));
    return TARN_SIXTEENTHS(TARN_EIGHTHS(a4, e4), TARN_EIGHTHS(i4, m4));
}

int tarn_sum_int(int16 v)
{
    const int8 a = v.lo + v.hi;
    const int4 b = a.lo + a.hi;
    const int2 c = b.lo + b.hi;
    return TARN_ADD_INT_1(c.x, c.y);
}

#define TARN_LANE_REDUCTION(name, type, macro) \
    type name(type##16 v) \
    { \
        const type##8 a = macro##_16(v.lo, v.hi); \
        const type##4 b = macro##_16(a.lo, a.hi); \
        const type##2 c = macro##_16(b.lo, b.hi); \
        return macro##_1(c.x, c.y); \
    }
TARN_LANE_REDUCTION(tarn_max_float, float, TARN_MAX)
TARN_LANE_REDUCTION(tarn_min_float, float, TARN_MIN)
TARN_LANE_REDUCTION(tarn_max_int, int, TARN_MAX)
TARN_LANE_REDUCTION(tarn_min_int, int, TARN_MIN)

