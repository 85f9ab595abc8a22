/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of maps, views and reductions: for each op what the library and the reference call. */
#ifndef TARN_TEST_OPS_CASES_H
#define TARN_TEST_OPS_CASES_H

#include <math.h>

#include "op_check.h"
#include "ulp.h"

#define DEVICE(name, ...) \
    static tarn_tensor dev_##name(const tarn_tensor *in, const struct op_case *c) \
    { \
        (void)in, (void)c; \
        return __VA_ARGS__; \
    }
#define REFERENCE(name, ...) \
    static struct ref ref_of_##name(const struct ref *in, const struct op_case *c) \
    { \
        (void)in, (void)c; \
        return __VA_ARGS__; \
    }
#define UNARY(name, f) \
    DEVICE(name, tarn_##name(in[0])) \
    REFERENCE(name, ref_unary(f, &in[0]))
#define BINARY(name, f) \
    DEVICE(name, tarn_##name(in[0], in[1])) \
    REFERENCE(name, ref_binary(f, &in[0], &in[1]))
#define FUNCTION2(name, formula) \
    static double f_##name(double a, double b) \
    { \
        return formula; \
    }
#define FUNCTION1(name, formula) \
    static double f_##name(double x) \
    { \
        return formula; \
    }
#define CALLS(name) dev_##name, ref_of_##name

/* ---- maps ----------------------------------------------------------------------------------- */

FUNCTION1(neg, -x)
FUNCTION1(clamp, x<-0.75 ? -0.75 : x> 1.25 ? 1.25 : x)
FUNCTION1(plus_constant, x + 0.375)
FUNCTION1(times_constant, x * -1.7f)
FUNCTION1(cube, x *x *x)
FUNCTION1(truncate, trunc(x))
FUNCTION2(add, a + b)
FUNCTION2(sub, a - b)
FUNCTION2(mul, a *b)
FUNCTION2(div, a / b)
FUNCTION2(eq, a == b)
FUNCTION2(ne, a != b)
FUNCTION2(lt, a < b)
FUNCTION2(le, a <= b)
FUNCTION2(gt, a > b)
FUNCTION2(ge, a >= b)

UNARY(neg, f_neg)
UNARY(abs, fabs)
UNARY(exp, exp)
UNARY(log, log)
UNARY(sqrt, sqrt)
UNARY(rsqrt, ref_rsqrt)
UNARY(tanh, tanh)
UNARY(sigmoid, ref_sigmoid)
UNARY(relu, ref_relu)
UNARY(gelu, ref_gelu)
UNARY(erf, erf)
FUNCTION1(silu, x / (1 + exp(-x)))
FUNCTION1(gelu_tanh, x / 2 * (1 + tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x))))
FUNCTION1(softplus, 2 * x > 1.25 ? x : log1p(exp(2 * x)) / 2)
FUNCTION1(leaky_relu, x > 0 ? x : x * 0.125)
FUNCTION1(sign, (x > 0) - (x < 0))
UNARY(sin, sin)
UNARY(cos, cos)
UNARY(atan, atan)
UNARY(log1p, log1p)
UNARY(expm1, expm1)
UNARY(silu, f_silu)
UNARY(gelu_tanh, f_gelu_tanh)
UNARY(floor, floor)
UNARY(round, nearbyint)
UNARY(sign, f_sign)
DEVICE(softplus, tarn_softplus(in[0], 2.0f, 1.25f))
REFERENCE(softplus, ref_unary(f_softplus, &in[0]))
DEVICE(leaky_relu, tarn_leaky_relu(in[0], 0.125f))
REFERENCE(leaky_relu, ref_unary(f_leaky_relu, &in[0]))
BINARY(add, f_add)
BINARY(sub, f_sub)
BINARY(mul, f_mul)
BINARY(div, f_div)
BINARY(pow, pow)
BINARY(atan2, atan2)
BINARY(maximum, ref_maximum)
BINARY(minimum, ref_minimum)
BINARY(eq, f_eq)
BINARY(ne, f_ne)
BINARY(lt, f_lt)
BINARY(le, f_le)
BINARY(gt, f_gt)
BINARY(ge, f_ge)
#define WITH_ONE(name) \
    static double one_##name(double x) \
    { \
        return f_##name(x, 1); \
    } \
    DEVICE(name##_scalar, tarn_##name##_scalar(in[0], 1)) \
    REFERENCE(name##_scalar, ref_unary(one_##name, &in[0]))
WITH_ONE(eq)
WITH_ONE(ne)
WITH_ONE(lt)
WITH_ONE(le)
WITH_ONE(gt)
WITH_ONE(ge)
DEVICE(clamp, tarn_clamp(in[0], -0.75f, 1.25f))
REFERENCE(clamp, ref_unary(f_clamp, &in[0]))
DEVICE(add_scalar, tarn_add_scalar(in[0], 0.375f))
REFERENCE(add_scalar, ref_unary(f_plus_constant, &in[0]))
DEVICE(mul_scalar, tarn_mul_scalar(in[0], -1.7f))
REFERENCE(mul_scalar, ref_unary(f_times_constant, &in[0]))
DEVICE(pow_scalar, tarn_pow_scalar(in[0], 3.0f))
REFERENCE(pow_scalar, ref_unary(f_cube, &in[0]))
DEVICE(where, tarn_where(in[0], in[1], in[2]))
REFERENCE(where, ref_where(&in[0], &in[1], &in[2]))
DEVICE(truncate, tarn_cast(in[0], TARN_I32))
REFERENCE(truncate, ref_unary(f_truncate, &in[0]))

/* clang-format off */
#define S1(...) 1, { { FILL_SIGNED, 0, __VA_ARGS__ } }
#define P1(...) 1, { { FILL_POSITIVE, 0, __VA_ARGS__ } }
#define D(...) { __VA_ARGS__ }
#define IN(kind, rank, ...) { FILL_##kind, 0, rank, { __VA_ARGS__ } }
static const struct op_case map_cases[] = {
    /* name                     functions            bound        ulps terms no_grad arg  inputs */
    { "neg [33]",               CALLS(neg),          BOUND_EXACT,    0, 0, false, { 0 }, S1(1, D(33)) },
    { "abs [7,5]",              CALLS(abs),          BOUND_EXACT,    0, 0, false, { 0 }, S1(2, D(7, 5)) },
    { "exp [16,3]",             CALLS(exp),          BOUND_MAP, ULP_EXP, 0, false, { 0 }, S1(2, D(16, 3)) },
    { "exp scalar",             CALLS(exp),          BOUND_MAP, ULP_EXP, 0, false, { 0 }, S1(0, D(0)) },
    { "exp [0,3]",              CALLS(exp),          BOUND_MAP, ULP_EXP, 0, false, { 0 }, S1(2, D(0, 3)) },
    { "exp [1]",                CALLS(exp),          BOUND_MAP, ULP_EXP, 0, false, { 0 }, S1(1, D(1)) },
    { "exp [128,17]",           CALLS(exp),          BOUND_MAP, ULP_EXP, 0, false, { 0 }, S1(2, D(128, 17)) },
    { "exp [2,1,3,2,5,7]",      CALLS(exp),          BOUND_MAP, ULP_EXP, 0, false, { 0 }, S1(6, D(2, 1, 3, 2, 5, 7)) },
    { "log [17,7]",             CALLS(log),          BOUND_COMPOSED, ULP_LOG, 3, false, { 0 }, P1(2, D(17, 7)) },
    { "sqrt [33]",              CALLS(sqrt),         BOUND_MAP,      3, 0, false, { 0 }, P1(1, D(33)) },
    { "rsqrt [33,3]",           CALLS(rsqrt),        BOUND_MAP, ULP_RSQRT, 0, false, { 0 }, P1(2, D(33, 3)) },
    { "tanh [5,33]",            CALLS(tanh),         BOUND_COMPOSED, 0, 8, false, { 0 }, S1(2, D(5, 33)) },
    { "sigmoid [16,33]",        CALLS(sigmoid),      BOUND_COMPOSED, 0, 8, false, { 0 }, S1(2, D(16, 33)) },
    { "relu [128,3]",           CALLS(relu),         BOUND_EXACT,    0, 0, false, { 0 }, S1(2, D(128, 3)) },
    { "gelu [17,16]",           CALLS(gelu),         BOUND_COMPOSED, 0, 40, false, { 0 }, S1(2, D(17, 16)) },
    { "gelu_tanh [17,16]",      CALLS(gelu_tanh),    BOUND_COMPOSED, 0, 40, false, { 0 }, S1(2, D(17, 16)) },
    { "erf [7,7]",              CALLS(erf),          BOUND_MAP, ULP_ERF, 0, false, { 0 }, S1(2, D(7, 7)) },
    { "sin [16,7]",             CALLS(sin),          BOUND_COMPOSED, ULP_SIN, 10, false, { 0 }, S1(2, D(16, 7)) },
    { "cos [33]",               CALLS(cos),          BOUND_COMPOSED, ULP_COS, 10, false, { 0 }, S1(1, D(33)) },
    { "atan [33,3]",            CALLS(atan),         BOUND_COMPOSED, ULP_ATAN, 10, false, { 0 }, S1(2, D(33, 3)) },
    { "log1p [17,3]",           CALLS(log1p),        BOUND_COMPOSED, ULP_LOG1P, 8, false, { 0 }, P1(2, D(17, 3)) },
    { "expm1 [16,5]",           CALLS(expm1),        BOUND_COMPOSED, ULP_EXPM1, 10, false, { 0 }, S1(2, D(16, 5)) },
    { "silu [33,3]",            CALLS(silu),         BOUND_COMPOSED, 0, 40, false, { 0 }, S1(2, D(33, 3)) },
    { "softplus [17,5]",        CALLS(softplus),     BOUND_COMPOSED, 0, 20, false, { 0 }, S1(2, D(17, 5)) },
    { "leaky_relu [16,3]",      CALLS(leaky_relu),   BOUND_EXACT,    0, 0, false, { 0 }, S1(2, D(16, 3)) },
    { "floor [33]",             CALLS(floor),        BOUND_EXACT,    0, 0, true,  { 0 }, S1(1, D(33)) },
    { "round [16,3]",           CALLS(round),        BOUND_EXACT,    0, 0, true,  { 0 }, S1(2, D(16, 3)) },
    { "sign [17]",              CALLS(sign),         BOUND_EXACT,    0, 0, true,  { 0 }, 1, { IN(COARSE, 1, 17) } },
    { "clamp [3,33]",           CALLS(clamp),        BOUND_EXACT,    0, 0, false, { 0 }, S1(2, D(3, 33)) },
    { "add_scalar [5]",         CALLS(add_scalar),   BOUND_MAP,    0.5, 0, false, { 0 }, S1(1, D(5)) },
    { "mul_scalar [5]",         CALLS(mul_scalar),   BOUND_MAP,    0.5, 0, false, { 0 }, S1(1, D(5)) },
    { "pow_scalar [17]",        CALLS(pow_scalar),   BOUND_MAP,     17, 0, false, { 0 }, S1(1, D(17)) },
    { "cast to int [33]",       CALLS(truncate),     BOUND_EXACT,    0, 0, true,  { 0 }, S1(1, D(33)) },
    { "add [5,7]",              CALLS(add),          BOUND_MAP,    0.5, 0, false, { 0 }, 2, { IN(SIGNED, 2, 5, 7), IN(SIGNED, 2, 5, 7) } },
    { "add [16,1,3] [2,1]",     CALLS(add),          BOUND_MAP,    0.5, 0, false, { 0 }, 2, { IN(SIGNED, 3, 16, 1, 3), IN(SIGNED, 2, 2, 1) } },
    { "add [33] scalar",        CALLS(add),          BOUND_MAP,    0.5, 0, false, { 0 }, 2, { IN(SIGNED, 1, 33), IN(SIGNED, 0, 0) } },
    { "sub [1] [17,5]",         CALLS(sub),          BOUND_MAP,    0.5, 0, false, { 0 }, 2, { IN(SIGNED, 1, 1), IN(SIGNED, 2, 17, 5) } },
    { "mul [2,3,1] [1,7]",      CALLS(mul),          BOUND_MAP,    0.5, 0, false, { 0 }, 2, { IN(SIGNED, 3, 2, 3, 1), IN(SIGNED, 2, 1, 7) } },
    { "mul [128,33] [33]",      CALLS(mul),          BOUND_MAP,    0.5, 0, false, { 0 }, 2, { IN(SIGNED, 2, 128, 33), IN(SIGNED, 1, 33) } },
    { "mul [0,3] [3]",          CALLS(mul),          BOUND_MAP,    0.5, 0, false, { 0 }, 2, { IN(SIGNED, 2, 0, 3), IN(SIGNED, 1, 3) } },
    { "div [16,5] [16,1]",      CALLS(div),          BOUND_MAP,    2.5, 0, false, { 0 }, 2, { IN(SIGNED, 2, 16, 5), IN(POSITIVE, 2, 16, 1) } },
    { "pow [7,3] [3]",          CALLS(pow),          BOUND_MAP, ULP_POW, 0, true,  { 0 }, 2, { IN(POSITIVE, 2, 7, 3), IN(SIGNED, 1, 3) } },
    { "pow gradient",           CALLS(pow),          BOUND_COMPOSED, 0, 40, false, { 0 }, 2, { IN(POSITIVE, 2, 7, 3), IN(SIGNED, 1, 3) } },
    { "atan2 [17,3] [3]",       CALLS(atan2),        BOUND_MAP, ULP_ATAN2, 0, true, { 0 }, 2, { IN(SIGNED, 2, 17, 3), IN(SIGNED, 1, 3) } },
    { "atan2 gradient",         CALLS(atan2),        BOUND_COMPOSED, 0, 16, false, { 0 }, 2, { IN(SIGNED, 2, 17, 1), IN(SIGNED, 2, 1, 5) } },
    { "maximum [17,3] [3]",     CALLS(maximum),      BOUND_EXACT,    0, 0, false, { 0 }, 2, { IN(SIGNED, 2, 17, 3), IN(SIGNED, 1, 3) } },
    { "minimum [5,2] [5,2]",    CALLS(minimum),      BOUND_EXACT,    0, 0, false, { 0 }, 2, { IN(SIGNED, 2, 5, 2), IN(SIGNED, 2, 5, 2) } },
    { "eq [33,2] [2]",          CALLS(eq),           BOUND_EXACT,    0, 0, true,  { 0 }, 2, { IN(COARSE, 2, 33, 2), IN(COARSE, 1, 2) } },
    { "ne [33]",                CALLS(ne),           BOUND_EXACT,    0, 0, true,  { 0 }, 2, { IN(COARSE, 1, 33), IN(COARSE, 1, 33) } },
    { "lt [17,2]",              CALLS(lt),           BOUND_EXACT,    0, 0, true,  { 0 }, 2, { IN(COARSE, 2, 17, 2), IN(COARSE, 1, 2) } },
    { "le [17,2]",              CALLS(le),           BOUND_EXACT,    0, 0, true,  { 0 }, 2, { IN(COARSE, 2, 17, 2), IN(COARSE, 1, 2) } },
    { "gt [17,2]",              CALLS(gt),           BOUND_EXACT,    0, 0, true,  { 0 }, 2, { IN(COARSE, 2, 17, 2), IN(COARSE, 1, 2) } },
    { "ge [17,2]",              CALLS(ge),           BOUND_EXACT,    0, 0, true,  { 0 }, 2, { IN(COARSE, 2, 17, 2), IN(COARSE, 1, 2) } },
    { "eq_scalar [17,2]",       CALLS(eq_scalar),    BOUND_EXACT,    0, 0, true,  { 0 }, 1, { IN(COARSE, 2, 17, 2) } },
    { "ne_scalar [17,2]",       CALLS(ne_scalar),    BOUND_EXACT,    0, 0, true,  { 0 }, 1, { IN(COARSE, 2, 17, 2) } },
    { "lt_scalar [17,2]",       CALLS(lt_scalar),    BOUND_EXACT,    0, 0, true,  { 0 }, 1, { IN(COARSE, 2, 17, 2) } },
    { "le_scalar [17,2]",       CALLS(le_scalar),    BOUND_EXACT,    0, 0, true,  { 0 }, 1, { IN(COARSE, 2, 17, 2) } },
    { "gt_scalar [17,2]",       CALLS(gt_scalar),    BOUND_EXACT,    0, 0, true,  { 0 }, 1, { IN(COARSE, 2, 17, 2) } },
    { "ge_scalar [17,2]",       CALLS(ge_scalar),    BOUND_EXACT,    0, 0, true,  { 0 }, 1, { IN(COARSE, 2, 17, 2) } },
    { "where [16,5]",           CALLS(where),        BOUND_EXACT,    0, 0, false, { 0 }, 3, { IN(BOOL, 2, 16, 5), IN(SIGNED, 2, 16, 5), IN(SIGNED, 1, 5) } },
};
/* clang-format on */

/* ---- views; arg[0] is a rank where a list follows ------------------------------------------- */

#define ARG_SHAPE(c) tarn_shape_of((c)->arg[0], (const int32_t *)&(c)->arg[1])
DEVICE(reshape, tarn_reshape(in[0], ARG_SHAPE(c)))
DEVICE(flatten, tarn_flatten(in[0], 1))
DEVICE(permute, tarn_permute(in[0], ARG_SHAPE(c)))
DEVICE(transpose, tarn_transpose(in[0], 0, 2))
DEVICE(broadcast, tarn_broadcast_to(in[0], ARG_SHAPE(c)))
DEVICE(slice, tarn_slice(in[0], c->arg[0], c->arg[1], c->arg[2], c->arg[3]))
DEVICE(flip, tarn_flip(in[0], ARG_SHAPE(c)))
DEVICE(roll, tarn_roll(in[0], c->arg[0], c->arg[1]))
DEVICE(pad, tarn_pad(in[0], tarn_shape_of(c->in[0].rank, c->arg),
                     tarn_shape_of(c->in[0].rank, c->arg + 4), 1.5f))
DEVICE(concat, tarn_concat(in, c->inputs, c->arg[0]))
REFERENCE(reshape, ref_reshape(&in[0], c->arg[0], &c->arg[1]))
REFERENCE(flatten,
          ref_reshape(&in[0], 2, (const int[]){ in[0].dim[0], in[0].dim[1] * in[0].dim[2] }))
REFERENCE(permute, ref_permute(&in[0], &c->arg[1]))
REFERENCE(transpose, ref_permute(&in[0], (const int[]){ 2, 1, 0 }))
REFERENCE(broadcast, ref_broadcast(&in[0], c->arg[0], &c->arg[1]))
REFERENCE(slice, ref_slice(&in[0], c->arg[0], c->arg[1], c->arg[2], c->arg[3]))
REFERENCE(flip, ref_flip(&in[0], c->arg[0], &c->arg[1]))
REFERENCE(roll, ref_roll(&in[0], c->arg[0], c->arg[1]))
REFERENCE(pad, ref_pad(&in[0], c->arg, c->arg + 4, 1.5))
REFERENCE(concat, ref_concat(in, c->inputs, c->arg[0]))

/* clang-format off */
#define VIEW(name, op, args, ...) { name, CALLS(op), BOUND_EXACT, 0, 0, false, args, __VA_ARGS__ }
static const struct op_case view_cases[] = {
    VIEW("reshape [6,4] to [3,8]",      reshape,   D(2, 3, 8),        S1(2, D(6, 4))),
    VIEW("reshape [] to [1,1]",         reshape,   D(2, 1, 1),        S1(0, D(0))),
    VIEW("flatten [5,3,7]",             flatten,   D(0),              S1(3, D(5, 3, 7))),
    VIEW("permute [2,3,5,7]",           permute,   D(4, 2, 0, 3, 1),  S1(4, D(2, 3, 5, 7))),
    VIEW("permute [33,17]",             permute,   D(2, 1, 0),        S1(2, D(33, 17))),
    VIEW("transpose [16,3,5]",          transpose, D(0),              S1(3, D(16, 3, 5))),
    VIEW("broadcast [3,1] to [2,3,5]",  broadcast, D(3, 2, 3, 5),     S1(2, D(3, 1))),
    VIEW("broadcast [] to [17]",        broadcast, D(1, 17),          S1(0, D(0))),
    VIEW("slice [17,5] 2:15:3",         slice,     D(0, 2, 15, 3),    S1(2, D(17, 5))),
    VIEW("slice [3,33] -5:-1",          slice,     D(1, -5, -1, 1),   S1(2, D(3, 33))),
    VIEW("slice [7] beyond the end",    slice,     D(0, 3, 100, 2),   S1(1, D(7))),
    VIEW("slice [7] empty",             slice,     D(0, 5, 2, 1),     S1(1, D(7))),
    VIEW("flip [33,17] axis 1",         flip,      D(1, 1),           S1(2, D(33, 17))),
    VIEW("flip [2,3,5,7] axes 0, 2",    flip,      D(2, 0, 2),        S1(4, D(2, 3, 5, 7))),
    VIEW("flip [1,5] of one",           flip,      D(1, 0),           S1(2, D(1, 5))),
    VIEW("flip [0,3] empty",            flip,      D(2, 0, 1),        S1(2, D(0, 3))),
    VIEW("roll [5,17] by 3",            roll,      D(1, 3),           S1(2, D(5, 17))),
    VIEW("roll [33,3] by -40",          roll,      D(0, -40),         S1(2, D(33, 3))),
    VIEW("roll [4] around",             roll,      D(0, 8),           S1(1, D(4))),
    VIEW("roll [0] empty",              roll,      D(0, 2),           S1(1, D(0))),
    VIEW("pad [3,5]",                   pad,       D(1, 0, 0, 0, 2, 3), S1(2, D(3, 5))),
    VIEW("pad [2,3,2,2]",               pad,       D(0, 1, 2, 0, 1, 0, 1, 3), S1(4, D(2, 3, 2, 2))),
    VIEW("concat axis 0",               concat,    D(0), 2, { IN(SIGNED, 2, 3, 5), IN(SIGNED, 2, 2, 5) }),
    VIEW("concat axis 1",               concat,    D(1), 3, { IN(SIGNED, 2, 16, 1), IN(SIGNED, 2, 16, 7), IN(SIGNED, 2, 16, 3) }),
    VIEW("concat one part",             concat,    D(0), 1, { IN(SIGNED, 1, 5) }),
    VIEW("concat an empty part",        concat,    D(0), 2, { IN(SIGNED, 2, 0, 3), IN(SIGNED, 2, 2, 3) }),
};

/* ---- reductions: arg[0] axes as bits, arg[1] keep, arg[2] correction ------------------------ */

static tarn_shape axes_of(unsigned bits)
{
    int32_t axis[TARN_MAX_RANK];
    int count = 0;
    for (int d = 0; d < TARN_MAX_RANK; d++)
        if (bits >> d & 1)
            axis[count++] = d;
    return tarn_shape_of(count, axis);
}

#define REDUCTION(name) \
    DEVICE(name, tarn_##name(in[0], axes_of((unsigned)c->arg[0]), c->arg[1] != 0)) \
    REFERENCE(name, ref_##name(&in[0], (unsigned)c->arg[0], c->arg[1] != 0))
REDUCTION(sum)
REDUCTION(mean)
REDUCTION(max)
REDUCTION(min)
DEVICE(sum_all, tarn_sum(in[0], TARN_ALL, false))
REFERENCE(sum_all, ref_sum(&in[0], 0xff, false))
DEVICE(argmax, tarn_argmax(in[0], c->arg[0], c->arg[1] != 0))
REFERENCE(argmax, ref_argmax(&in[0], c->arg[0], c->arg[1] != 0))
DEVICE(var, tarn_var(in[0], axes_of((unsigned)c->arg[0]), c->arg[2], c->arg[1] != 0))
REFERENCE(var, ref_var(&in[0], (unsigned)c->arg[0], c->arg[2], c->arg[1] != 0))

static const struct op_case reduce_cases[] = {
    { "sum [33] all",            CALLS(sum_all), BOUND_LINEAR,   0, 33,   false, { 0 },       S1(1, D(33)) },
    { "sum [128,33] all",        CALLS(sum_all), BOUND_LINEAR,   0, 4224, false, { 0 },       S1(2, D(128, 33)) },
    { "sum [] all",              CALLS(sum_all), BOUND_LINEAR,   0, 1,    false, { 0 },       S1(0, D(0)) },
    { "sum [0,5] axis 0",        CALLS(sum),     BOUND_LINEAR,   0, 1,    false, { 1 },       S1(2, D(0, 5)) },
    { "sum [17,5] axis 0",       CALLS(sum),     BOUND_LINEAR,   0, 17,   false, { 1 },       S1(2, D(17, 5)) },
    { "sum [5,33] axis 1 keep",  CALLS(sum),     BOUND_LINEAR,   0, 33,   false, { 2, 1 },    S1(2, D(5, 33)) },
    { "sum [2,3,5,7] axes 0 2",  CALLS(sum),     BOUND_LINEAR,   0, 10,   false, { 5 },       S1(4, D(2, 3, 5, 7)) },
    { "sum [16,3,7,7] 0 2 3",    CALLS(sum),     BOUND_LINEAR,   0, 784,  false, { 13, 1 },   S1(4, D(16, 3, 7, 7)) },
    { "mean [7,16] axis 1",      CALLS(mean),    BOUND_LINEAR,   0, 18,   false, { 2 },       S1(2, D(7, 16)) },
    { "mean [3,2,5] axes 0 1",   CALLS(mean),    BOUND_LINEAR,   0, 8,    false, { 3, 1 },    S1(3, D(3, 2, 5)) },
    { "max [17,7] axis 1",       CALLS(max),     BOUND_EXACT,    0, 0,    false, { 2 },       S1(2, D(17, 7)) },
    { "max [33,3] axis 0 keep",  CALLS(max),     BOUND_EXACT,    0, 0,    false, { 1, 1 },    S1(2, D(33, 3)) },
    { "min [2,3,5] axes 0 2",    CALLS(min),     BOUND_EXACT,    0, 0,    false, { 5 },       S1(3, D(2, 3, 5)) },
    { "argmax [17,7] axis 1",    CALLS(argmax),  BOUND_EXACT,    0, 0,    true,  { 1 },       S1(2, D(17, 7)) },
    { "argmax [5,33] axis 0",    CALLS(argmax),  BOUND_EXACT,    0, 0,    true,  { 0, 1 },    S1(2, D(5, 33)) },
    { "argmax ties [16,33]",     CALLS(argmax),  BOUND_EXACT,    0, 0,    true,  { 1 }, 1, { IN(COARSE, 2, 16, 33) } },
    { "var [7,17] axis 1",       CALLS(var),     BOUND_COMPOSED, 0, 40,   false, { 2, 0, 0 }, S1(2, D(7, 17)) },
    { "var [16,3,5] 0 2 unbiased", CALLS(var),   BOUND_COMPOSED, 0, 170,  false, { 5, 1, 1 }, S1(3, D(16, 3, 5)) },
};
/* clang-format on */

#endif
