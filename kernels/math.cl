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
