/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of drivers differ between drivers, and between a vector and a scalar of one driver. These are made of
 * sums, products, fma, division and bits, so that an argument has the same bits everywhere, and have no branches.
 * Each part between #ifndef and #endif is a function at both widths; it stands before the kernels that call it, and
 * may call those above it (core/compile/6_source/print_math.c). docs/numerics.md has the bounds of their errors, which
 * test/core/math_plain.c measures. NaN passes through all of them: choices are written so that it does. */

/* e^x = 2^n e^r, where n is the whole number next to x / log(2), and |r| <= log(2) / 2. Adding 1.5 * 2^23 rounds to
 * whole numbers, and leaves n in the low bits. The product with 2^n is taken in two steps, since the result may be
 * denormal, and 2^128 is no float. */
#ifndef TARN_EXP_1
#define TARN_EXP_1(x) tarn_exp_float(x)
#define TARN_EXP_16(x) tarn_exp_float16(x)
#define TARN_EXP_FUNCTION(f, u) \
    TARN_INLINE f tarn_exp_##f(f x) \
    { \
        x = x < -105.0f ? (f)(-105.0f) : x; \
        x = x > 89.0f ? (f)(89.0f) : x; \
        const f k = fma(x, (f)(0x1.715476p+0f), (f)(0x1.8p+23f)), n = k - 0x1.8p+23f; \
        const f r = fma(n, (f)(0x1.05c61p-29f), fma(n, (f)(-0x1.62e43p-1f), x)); \
        f p = fma(r, (f)(0.00138145399894f), (f)(0.00836874511635f)); \
        p = fma(r, p, (f)(0.0416683907874f)); \
        p = fma(r, p, (f)(0.16666520399f)); \
        p = fma(r, p, (f)(0.499999934321f)); \
        p = fma(r, fma(r, p, (f)(1.0f)), (f)(1.0f)); \
        const u first = (as_##u(k) << 22) & 0xff800000u; \
        const u rest = (as_##u(k) << 23) - first; \
        return p * as_##f(first + 0x3f800000u) * as_##f(rest + 0x3f800000u); \
    }
TARN_EXP_FUNCTION(float, uint)
TARN_EXP_FUNCTION(float16, uint16)
#endif

/* With e^2|x| - 1 = 2 h, it is h / (h + 1), which is 1 from 9.02 on. |x| = n log(2) / 2 + r; p is (e^2r - 1) / 2. */
#ifndef TARN_TANH_1
#define TARN_TANH_1(x) tarn_tanh_float(x)
#define TARN_TANH_16(x) tarn_tanh_float16(x)
#define TARN_TANH_FUNCTION(f, u) \
    TARN_INLINE f tarn_tanh_##f(f x) \
    { \
        const u sign = as_##u(x) & 0x80000000u; \
        f a = as_##f(as_##u(x) ^ sign); \
        a = a > 9.02f ? (f)(9.02f) : a; \
        const f k = fma(a, (f)(0x1.715476p+1f), (f)(0x1.8p+23f + 127.0f)); \
        const f n = k - (0x1.8p+23f + 127.0f), two_n = as_##f(as_##u(k) << 23); \
        const f r = fma(n, (f)(0x1.05c61p-30f), fma(n, (f)(-0x1.62e43p-2f), a)); \
        f p = fma(r, (f)(0.0444240524288f), (f)(0.13386475412816f)); \
        p = fma(r, p, (f)(0.3333376057024f)); \
        p = fma(r, p, (f)(0.66666173697200f)); \
        p = fma(r, p, (f)(0.999999962992f)); \
        p = fma(r * r, p, r); \
        const f h = fma(two_n, p, fma(two_n, (f)(0.5f), (f)(-0.5f))); \
        return as_##f(as_##u(h / (h + 1.0f)) | sign); \
    }
TARN_TANH_FUNCTION(float, uint)
TARN_TANH_FUNCTION(float16, uint16)
#endif

/* x times a polynomial in x^2 for small x, else 1 - 2^q, where q is a polynomial in |x|; 1 from 3.94 on. */
#ifndef TARN_ERF_1
#define TARN_ERF_1(x) tarn_erf_float(x)
#define TARN_ERF_16(x) tarn_erf_float16(x)
#define TARN_ERF_FUNCTION(f, u) \
    TARN_INLINE f tarn_erf_##f(f x) \
    { \
        const u sign = as_##u(x) & 0x80000000u; \
        f a = as_##f(as_##u(x) ^ sign); \
        a = a > 3.94f ? (f)(3.94f) : a; \
        const f s = a * a; \
        f small = fma(s, (f)(-0.000631512903633f), (f)(0.00505109476939f)); \
        small = fma(s, small, (f)(-0.0268025477351f)); \
        small = fma(s, small, (f)(0.112827174001f)); \
        small = fma(s, small, (f)(-0.376125718366f)); \
        small = fma(s, small, (f)(0.12837916023f)); \
        f q = fma(a, (f)(0.000293843703347f), (f)(-0.00449811532277f)); \
        q = fma(a, q, (f)(0.0324881379852f)); \
        q = fma(a, q, (f)(-0.150799060536f)); \
        q = fma(a, q, (f)(-0.918302694035f)); \
        q = fma(a, q, (f)(-1.62744802678f)); \
        q = fma(a, q, (f)(-0.000150795097948f)); \
        const f k = q + (0x1.8p+23f + 127.0f), r = q - (k - (0x1.8p+23f + 127.0f)); \
        f p = fma(r, (f)(0.00132764261931f), (f)(0.00967558699127f)); \
        p = fma(r, p, (f)(0.0555071375713f)); \
        p = fma(r, p, (f)(0.240221188822f)); \
        p = fma(r, p, (f)(0.693146966553f)); \
        p = fma(r, p, (f)(1.00000007182f)); \
        const f large = fma(p, -as_##f(as_##u(k) << 23), (f)(1.0f)); \
        return as_##f(as_##u(a < 0.85f ? fma(a, small, a) : large) | sign); \
    }
TARN_ERF_FUNCTION(float, uint)
TARN_ERF_FUNCTION(float16, uint16)
#endif

/* x = 2^n (1 + t), where 1 + t lies between sqrt(1/2) and sqrt(2); log(1 + t) is t and a polynomial times t^2. */
#ifndef TARN_LOG_1
#define TARN_LOG_1(x) tarn_log_float(x)
#define TARN_LOG_16(x) tarn_log_float16(x)
#define TARN_LOG_SUM(f, n, t) \
    f p = fma(t, (f)(-0.0762109735802f), (f)(0.129042913392f)); \
    p = fma(t, p, (f)(-0.132431742235f)); \
    p = fma(t, p, (f)(0.141818558609f)); \
    p = fma(t, p, (f)(-0.166090658679f)); \
    p = fma(t, p, (f)(0.200019720791f)); \
    p = fma(t, p, (f)(-0.250015835167f)); \
    p = fma(t, p, (f)(0.333333257212f)); \
    p = fma(t, p, (f)(-0.499999883414f)); \
    const f y = fma(n, (f)(0x1.62e43p-1f), fma(n, (f)(-0x1.05c61p-29f), fma(t * t, p, t)));
#define TARN_LOG_FUNCTION(f, i, u) \
    TARN_INLINE f tarn_log_##f(f x) \
    { \
        const f a = x < 0x1p-126f ? x * 0x1p+23f : x; \
        const i e = (as_##i(a) - 0x3f3504f3) >> 23; \
        const f n = convert_##f(e) + (x < 0x1p-126f ? (f)(-23.0f) : (f)(0.0f)); \
        const f t = as_##f(as_##u(a) - (as_##u(e) << 23)) - 1.0f; \
        TARN_LOG_SUM(f, n, t) \
        return x > 0.0f ? (x < INFINITY ? y : x) : x == 0.0f ? (f)(-INFINITY) : (f)(NAN); \
    }
TARN_LOG_FUNCTION(float, int, uint)
TARN_LOG_FUNCTION(float16, int16, uint16)
#endif

/* The same, where t comes from x itself: 1 + t = (1 + x) / 2^n. The factors of 4 keep 2^-n from being denormal. */
#ifndef TARN_LOG1P_1
#define TARN_LOG1P_1(x) tarn_log1p_float(x)
#define TARN_LOG1P_16(x) tarn_log1p_float16(x)
#define TARN_LOG1P_FUNCTION(f, i, u) \
    TARN_INLINE f tarn_log1p_##f(f x) \
    { \
        const i e = (as_##i(1.0f + x) - 0x3f3504f3) >> 23; \
        const f n = convert_##f(e), scale = as_##f((129u - as_##u(e)) << 23); \
        const f t = fma(x * 0.25f, scale, fma(scale, (f)(0.25f), (f)(-1.0f))); \
        TARN_LOG_SUM(f, n, t) \
        const f z = fabs(x) < 0x1p-25f ? x : y; \
        return x > -1.0f ? (x < INFINITY ? z : x) : x == -1.0f ? (f)(-INFINITY) : (f)(NAN); \
    }
TARN_LOG1P_FUNCTION(float, int, uint)
TARN_LOG1P_FUNCTION(float16, int16, uint16)
#endif

/* 2^n e^r - 1 = 2 (2^(n-1) (e^r - 1) + 2^(n-1) - 1/2), since 2^128 is no float. */
#ifndef TARN_EXPM1_1
#define TARN_EXPM1_1(x) tarn_expm1_float(x)
#define TARN_EXPM1_16(x) tarn_expm1_float16(x)
#define TARN_EXPM1_FUNCTION(f, u) \
    TARN_INLINE f tarn_expm1_##f(f x) \
    { \
        f a = x < -18.0f ? (f)(-18.0f) : x; \
        a = a > 89.0f ? (f)(89.0f) : a; \
        const f k = fma(a, (f)(0x1.715476p+0f), (f)(0x1.8p+23f + 126.0f)); \
        const f n = k - (0x1.8p+23f + 126.0f), scale = as_##f(as_##u(k) << 23); \
        const f r = fma(n, (f)(0x1.05c61p-29f), fma(n, (f)(-0x1.62e43p-1f), a)); \
        f p = fma(r, (f)(0.0013882516384f), (f)(0.00836654713302f)); \
        p = fma(r, p, (f)(0.0416672007128f)); \
        p = fma(r, p, (f)(0.166665434243f)); \
        p = fma(r, p, (f)(0.499999981496f)); \
        p = fma(r * r, p, r); \
        return fabs(x) < 0x1p-25f ? x : 2.0f * fma(scale, p, scale - 0.5f); \
    }
TARN_EXPM1_FUNCTION(float, uint)
TARN_EXPM1_FUNCTION(float16, uint16)
#endif

/* x^y = 2^(y log2|x|). The logarithm is a sum of two floats, high and low, as in TARN_LOG but for the
 * terms -t^2 / 2 + t^3 / 3, which are also sums of two; and so is its product with y. */
#ifndef TARN_POW_1
#define TARN_POW_1(x, y) tarn_pow_float(x, y)
#define TARN_POW_16(x, y) tarn_pow_float16(x, y)
#define TARN_POW_FUNCTION(f, i, u) \
    TARN_INLINE f tarn_pow_##f(f x, f y) \
    { \
        const f size = fabs(x), a = size < 0x1p-126f ? size * 0x1p+23f : size; \
        const i e = (as_##i(a) - 0x3f3504f3) >> 23; \
        const f n = convert_##f(e) + (size < 0x1p-126f ? (f)(-23.0f) : (f)(0.0f)); \
        const f t = as_##f(as_##u(a) - (as_##u(e) << 23)) - 1.0f; \
        f p = fma(t, (f)(-0.0603213565933f), (f)(0.106383646111f)); \
        p = fma(t, p, (f)(-0.107887190023f)); \
        p = fma(t, p, (f)(0.110296708847f)); \
        p = fma(t, p, (f)(-0.124289201783f)); \
        p = fma(t, p, (f)(0.142861652349f)); \
        p = fma(t, p, (f)(-0.166691541835f)); \
        p = fma(t, p, (f)(0.200000334509f)); \
        p = t * fma(t, p, (f)(-0.249999716773f)); \
        const f c = p + 0x1.555556p-2f, c_low = p - (c - 0x1.555556p-2f) - 0x1.555556p-27f; \
        const f tc = t * c, b = tc - 0.5f; \
        const f b_low = tc - (b + 0.5f) + fma(t, c, -tc) + t * c_low; \
        const f tt = t * t, q = tt * b; \
        const f q_low = fma(tt, b, -q) + (tt * b_low + fma(t, t, -tt) * b); \
        const f s = t + q, s_low = q - (s - t) + q_low; \
        const f g = s * 0x1.715476p+0f; \
        const f g_low = fma(s, (f)(0x1.715476p+0f), -g) + fma(s, (f)(0x1.4ae0cp-26f), s_low * 0x1.715476p+0f); \
        const f l = n + g, l_low = g - (l - n) + g_low; \
        f by = y > 0x1p+60f ? (f)(0x1p+60f) : y; \
        by = by < -0x1p+60f ? (f)(-0x1p+60f) : by; \
        f z = by * l, z_low = fma(by, l, -z) + by * l_low; \
        z = z > 200.0f ? (f)(200.0f) : z; \
        z = z < -200.0f ? (f)(-200.0f) : z; \
        z_low = z_low > 1.0f ? (f)(1.0f) : z_low; \
        z_low = z_low < -1.0f ? (f)(-1.0f) : z_low; \
        const f k = z + 0x1.8p+23f, r = z - (k - 0x1.8p+23f) + z_low; \
        f v = fma(r, (f)(0.000153533411002f), (f)(0.00133989002154f)); \
        v = fma(r, v, (f)(0.00961843760618f)); \
        v = fma(r, v, (f)(0.0555033240955f)); \
        v = fma(r, v, (f)(0.240226479103f)); \
        v = fma(r, v, (f)(0.693147202881f)); \
        v = fma(r, v, (f)(1.0f)); \
        const u first = (as_##u(k) << 22) & 0xff800000u, rest = (as_##u(k) << 23) - first; \
        v = v * as_##f(first + 0x3f800000u) * as_##f(rest + 0x3f800000u); \
        const f at_end = (size == 0.0f) == (y > 0.0f) ? (f)(0.0f) : (f)(INFINITY); \
        v = ((size == 0.0f) | (size == INFINITY)) ? at_end : v; \
        const u odd = ((floor(y) == y) & (floor(y * 0.5f) != y * 0.5f)) ? (u)(0x80000000u) : (u)(0u); \
        v = as_##f(as_##u(v) | (as_##u(x) & odd)); \
        v = ((x < 0.0f) & (floor(y) != y) & (size != INFINITY)) ? (f)(NAN) : v; \
        v = ((x != x) | (y != y)) ? (f)(NAN) : v; \
        return ((x == 1.0f) | (y == 0.0f)) ? (f)(1.0f) : v; \
    }
TARN_POW_FUNCTION(float, int, uint)
TARN_POW_FUNCTION(float16, int16, uint16)
#endif

/* sin(a + q pi / 2) for a >= 0. Of a large a, m 2^k with a whole number m, the last 64 bits of a 2 / pi 2^62 are a
 * product of integers: m times the 96 bits of 2 / pi that count. Two of them are the quadrant, the others
 * what is left, r. */
#ifndef TARN_WAVE_1
#define TARN_WAVE_1(x, q) tarn_wave_float(x, q)
#define TARN_WAVE_16(x, q) tarn_wave_float16(x, q)
#define TARN_WAVE_PICK(u, at, a, b, c, d, e) \
    (at == 0u ? (u)(a) : at == 1u ? (u)(b) : at == 2u ? (u)(c) : at == 3u ? (u)(d) : (u)(e))
#define TARN_WAVE_FUNCTION(f, i, u) \
    TARN_INLINE f tarn_wave_##f(f a, uint quarter) \
    { \
        const u bits = as_##u(a), m = (bits & 0x7fffffu) | 0x800000u; \
        const u from = (bits < 0x3c000000u ? (u)(120u) : bits >> 23) - 120u, at = from >> 5, by = from & 31u; \
        const u w0 = TARN_WAVE_PICK(u, at, 0u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u); \
        const u w1 = TARN_WAVE_PICK(u, at, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u); \
        const u w2 = TARN_WAVE_PICK(u, at, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u); \
        const u w3 = TARN_WAVE_PICK(u, at, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu); \
        const u high = (w0 << by) | ((w1 >> 1) >> (31u - by)), mid = (w1 << by) | ((w2 >> 1) >> (31u - by)); \
        const u low = (w2 << by) | ((w3 >> 1) >> (31u - by)); \
        const u part = m * mid, last = part + mul_hi(m, low); \
        const u top = m * high + mul_hi(m, mid) + (last < part ? (u)(1u) : (u)(0u)); \
        const u turn = (top << 2) | (last >> 30); \
        const f left = convert_##f(as_##i(turn & 0xffffff00u)) * 0x1p-32f; \
        const f rest = convert_##f((turn << 24) | ((last << 2) >> 8)) * 0x1p-56f; \
        const f most = fma(left, (f)(-0x1.777a5cp-25f), rest * 0x1.921fb6p+0f); \
        const f far = fma(left, (f)(0x1.921fb6p+0f), most); \
        const f r = a < 0x1.921fb6p-1f ? a : far; \
        const u q = (a < 0x1.921fb6p-1f ? (u)(0u) : (top + 0x20000000u) >> 30) + quarter; \
        const f s = r * r; \
        f sine = fma(s, (f)(2.71823727402e-6f), (f)(-0.000198393271362f)); \
        sine = fma(s, sine, (f)(0.00833332936228f)); \
        sine = fma(s, sine, (f)(-0.166666666414f)); \
        sine = fma(r * s, sine, r); \
        f cosine = fma(s, (f)(2.44324129333e-5f), (f)(-0.00138873098661f)); \
        cosine = fma(s, cosine, (f)(0.0416666455545f)); \
        cosine = fma(s, fma(s, cosine, (f)(-0.5f)), (f)(1.0f)); \
        const f y = (q & 1u) == 1u ? cosine : sine; \
        return a < INFINITY ? as_##f(as_##u(y) ^ ((q & 2u) << 30)) : (f)(NAN); \
    }
TARN_WAVE_FUNCTION(float, int, uint)
TARN_WAVE_FUNCTION(float16, int16, uint16)
#endif

#ifndef TARN_SIN_1
#define TARN_SIN_1(x) tarn_sin_float(x)
#define TARN_SIN_16(x) tarn_sin_float16(x)
#define TARN_SIN_FUNCTION(f, u, width) \
    TARN_INLINE f tarn_sin_##f(f x) \
    { \
        const u sign = as_##u(x) & 0x80000000u; \
        return as_##f(as_##u(TARN_WAVE_##width(as_##f(as_##u(x) ^ sign), 0u)) ^ sign); \
    }
TARN_SIN_FUNCTION(float, uint, 1)
TARN_SIN_FUNCTION(float16, uint16, 16)
#endif

#ifndef TARN_COS_1
#define TARN_COS_1(x) TARN_WAVE_1(fabs(x), 1u)
#define TARN_COS_16(x) TARN_WAVE_16(fabs(x), 1u)
#endif

/* The angle of a point (x, y). t, the smaller of |x| and |y| by the larger, is the tangent of one up to pi / 4, which is t and
 * a polynomial in t^2 times t^3; the point's is that, or pi / 2 or pi and more or less of it. Equal ones are zeros or
 * not: 0 / 0 and infinity / infinity would be NaN. */
#ifndef TARN_ATAN2_1
#define TARN_ATAN2_1(y, x) tarn_atan2_float(y, x)
#define TARN_ATAN2_16(y, x) tarn_atan2_float16(y, x)
#define TARN_ATAN2_FUNCTION(f, u) \
    TARN_INLINE f tarn_atan2_##f(f y, f x) \
    { \
        const f a = fabs(x), b = fabs(y), low = b > a ? a : b, high = b > a ? b : a; \
        const f t = low == high ? (low > 0.0f ? (f)(1.0f) : (f)(0.0f)) : low / high, s = t * t; \
        f p = fma(s, (f)(-0.00179362310693f), (f)(0.0109146121694f)); \
        p = fma(s, p, (f)(-0.0311778581413f)); \
        p = fma(s, p, (f)(0.0579576062574f)); \
        p = fma(s, p, (f)(-0.0840345109126f)); \
        p = fma(s, p, (f)(0.109521860439f)); \
        p = fma(s, p, (f)(-0.142642417331f)); \
        p = fma(s, p, (f)(0.199985482894f)); \
        p = t * s * fma(s, p, (f)(-0.333332990893f)); \
        const u left = as_##u(x) & 0x80000000u, turn = left ^ (b > a ? (u)(0x80000000u) : (u)(0u)); \
        const f at = b > a ? (f)(0x1.921fb6p+0f) : left != 0u ? (f)(0x1.921fb6p+1f) : (f)(0.0f); \
        const f rest = at * -0x1.de12cap-26f + as_##f(as_##u(p) ^ turn); \
        const f angle = at + (as_##f(as_##u(t) ^ turn) + rest); \
        return as_##f(as_##u(angle) | (as_##u(y) & 0x80000000u)); \
    }
TARN_ATAN2_FUNCTION(float, uint)
TARN_ATAN2_FUNCTION(float16, uint16)
#endif

#ifndef TARN_ATAN_1
#define TARN_ATAN_1(x) TARN_ATAN2_1(x, 1.0f)
#define TARN_ATAN_16(x) TARN_ATAN2_16(x, (float16)(1.0f))
#endif
