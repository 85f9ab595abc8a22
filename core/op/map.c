/* SPDX-License-Identifier: Apache-2.0 */
/* Maps: element by element, with broadcasting. A row of the tables is the whole op.
 *
 * Code is OpenCL C of x, y, z: float or int registers, or vectors of them of one width, or one double
 * or long each. uint8 lives in int registers. a and b are the scalars of such a map, literals of x's type. What code uses of kernels/prelude.cl, for each width:
 *     TARN_F(c)  TARN_I(c)     a float or int literal in every lane
 *     TARN_BOOL(c)             a comparison's result as 0 or 1 in an int register
 *     TARN_SELECT(c, a, b)     c != 0 ? a : b in each lane; c is an int register
 *     TARN_MAX(a, b)           float or int; NaN wins. TARN_MIN too
 *     TARN_ADD_INT(a, b)       of int registers, wrapping. TARN_SUB_INT and TARN_MUL_INT too; of long ones TARN_ADD_LONG
 *     TARN_DIV_INT(a, b)       truncating; 0 where b is 0, and wrapping for INT_MIN / -1
 *     TARN_TO_F32(x)  TARN_TO_I32(x)  TARN_TO_U8(x)  TARN_TO_F64(x)  TARN_TO_I64(x)
 *                              from either register; to integers truncates; TARN_TO_U8 keeps the
 *                              low 8 bits */
#include <math.h>
#include <string.h>

#include "op/op.h"
#include "tensor/shape.h"

/* ---- types and shapes of operands ----------------------------------------------------------- */

enum promotion {
    KEEP,  /* the larger of the operands' types: uint8, int32, int64, a float type */
    ARITH, /* at least int32 */
    FLOAT, /* a float type */
    WIDE   /* the same; within autocast float32 */
};

/* As in PyTorch: two different float types become float32 or float64, and scalars count only where no other is a float. */
static tarn_dtype promote(const tarn_tensor *in, int first, int count, enum promotion rule)
{
    tarn_dtype ranked = TARN_U8, any = TARN_U8, whole = TARN_U8;
    for (int i = first; i < count; i++) {
        const tarn_dtype d = tarn_dtype_get(in[i]);
        if (!dtype_is_float(d)) {
            whole = d == TARN_I64 || (d == TARN_I32 && whole == TARN_U8) ? d : whole;
            continue;
        }
        any = op_join_floats(any, d);
        if (tarn_shape_get(in[i]).rank > 0)
            ranked = op_join_floats(ranked, d);
    }
    const tarn_dtype floats = ranked != TARN_U8 ? ranked : any;
    if (rule == WIDE && op_autocasts(in[0].replica))
        return dtype_single(floats);
    if (floats != TARN_U8)
        return floats;
    return rule >= FLOAT ? TARN_F32 : rule == ARITH && whole == TARN_U8 ? TARN_I32 : whole;
}

/* The shape that operands broadcast to. False after recording an error. */
static bool broadcasts(const char *name, const tarn_tensor *in, int count, tarn_replica **r,
                       tarn_shape *shape)
{
    *shape = TARN_SCALAR;
    if (!graph_operands(name, in, count, r))
        return false;
    for (int i = 0; i < count; i++) {
        const tarn_shape s = tarn_shape_get(in[i]);
        if (shape_broadcast(*shape, s, shape))
            continue;
        int other = 0;
        for (tarn_shape both; shape_broadcast(tarn_shape_get(in[other]), s, &both);)
            other++;
        graph_fail(*r, TARN_ERR_SHAPE,
                   "%s: shapes %s and %s do not broadcast: a dimension must be equal or 1, counted "
                   "from the end",
                   name, shape_text(tarn_shape_get(in[other])), shape_text(s));
        return false;
    }
    if (shape_valid(*shape))
        return true;
    graph_fail(*r, TARN_ERR_SHAPE,
               "%s: its operands broadcast to %s, %lld elements, more than 2^31 - 1", name,
               shape_text(*shape), (long long)tarn_shape_count(*shape));
    return false;
}

/* Records a map of operands `first`... brought to one type, and all brought to one shape. */
static tarn_tensor map(const struct op *op, const tarn_tensor *operands, int first, int count,
                       enum promotion rule, bool compares)
{
    tarn_replica *r;
    tarn_tensor in[3];
    tarn_shape shape;
    if (!broadcasts(op->name, operands, count, &r, &shape))
        return graph_poison(r);
    memcpy(in, operands, (size_t)count * sizeof *in);
    const tarn_dtype dtype = promote(in, first, count, rule);
    for (int i = 0; i < count; i++) {
        if (i >= first)
            in[i] = tarn_cast(in[i], dtype_is_half(dtype) ? TARN_F32 : dtype);
        in[i] = op_expand_to(in[i], shape);
    }
    return graph_record(r, op, in, count, shape, compares ? TARN_U8 : dtype, NULL);
}

/* Records a map of one operand and up to two scalars, of a float type. */
static tarn_tensor map_scalars(const struct op *op, tarn_tensor x, double a, double b)
{
    if (!graph_operand(NULL, x, op->name, 0))
        return graph_poison(x.replica);
    union op_arg arg;
    memset(&arg, 0, sizeof arg); /* it is hashed as bytes */
    const tarn_dtype dtype = promote(&x, 0, 1, FLOAT);
    arg.map.scalar[0] = op_scalar_of(dtype, a);
    arg.map.scalar[1] = op_scalar_of(dtype, b);
    x = op_floats(x);
    return graph_record(x.replica, op, &x, 1, tarn_shape_get(x), dtype, &arg);
}

static tarn_tensor num(tarn_tensor like, double value)
{
    const tarn_dtype dtype = dtype_single(tarn_dtype_get(like));
    return op_constant_of(like.replica, TARN_SCALAR, dtype, value);
}

tarn_tensor op_over(tarn_tensor x, double count)
{
    const bool wide = tarn_dtype_get(x) == TARN_F64;
    return tarn_mul_scalar(x, wide ? 1 / count : (double)(1.0f / (float)count));
}

/* ---- the tables ----------------------------------------------------------------------------- */

/* Whether the code calls a function or divides: such a value is computed once for several
 * readers. */
enum { LIGHT = false, HEAVY = true };

/* Short names, in which gradients read as formulas: y is the result, g the arriving gradient. */
#define add tarn_add
#define sub tarn_sub
#define mul tarn_mul
#define div tarn_div
#define minus tarn_neg
#define where tarn_where
#define times tarn_mul_scalar

#define UNARY_GRADIENT(id, gradient) \
    static void id##_grad(struct grad_call *c) \
    { \
        const tarn_tensor x = c->in[0], y = c->y, g = c->g; \
        const double *const scalar = c->arg.map.scalar; \
        (void)x, (void)y, (void)scalar; \
        c->gin[0] = gradient; \
    }

/* `whole` is the code for int32, and `wide` that for int64; NULL where it is no other. */
#define UNARY_RECORD(id, cost, text, whole, wide, gradient) \
    UNARY_GRADIENT(id, gradient) \
    const struct op op_##id = { .name = #id, \
                                .arity = 1, \
                                .kind = OP_MAP, \
                                .code = text, \
                                .typed = { [TARN_I32] = whole, [TARN_I64] = wide }, \
                                .heavy = cost, \
                                .grad = id##_grad };

#define UNARY(id, rule, cost, text, gradient) UNARY_RECORD(id, cost, text, NULL, NULL, gradient)

#define UNARY_INT(id, rule, cost, text, whole, wide, gradient) \
    UNARY_RECORD(id, cost, text, whole, wide, gradient) \
    tarn_tensor tarn_##id(tarn_tensor x) \
    { \
        return map(&op_##id, &x, 0, 1, rule, false); \
    }

#define UNARY_API(id, rule, cost, text, gradient) \
    UNARY_INT(id, rule, cost, text, NULL, NULL, gradient)

/* With `count` scalars, which are `a` and `b` in the code, and scalar[0] and [1] in the gradient. */
#define UNARY_SCALARS(id, count, cost, text, gradient) \
    UNARY_GRADIENT(id, gradient) \
    const struct op op_##id = { .name = #id, \
                                .arity = 1, \
                                .kind = OP_MAP, \
                                .code = text, \
                                .scalars = count, \
                                .heavy = cost, \
                                .grad = id##_grad };

#define BINARY(id, rule, cost, text, gradient_a, gradient_b) \
    BINARY_INT(id, rule, cost, text, NULL, NULL, gradient_a, gradient_b)

#define BINARY_INT(id, rule, cost, text, whole, wide, gradient_a, gradient_b) \
    static void id##_grad(struct grad_call *c) \
    { \
        const tarn_tensor a = c->in[0], b = c->in[1], y = c->y, g = c->g; \
        (void)a, (void)b, (void)y; \
        if (c->wanted[0]) \
            c->gin[0] = gradient_a; \
        if (c->wanted[1]) \
            c->gin[1] = gradient_b; \
    } \
    const struct op op_##id = { .name = #id, \
                                .arity = 2, \
                                .kind = OP_MAP, \
                                .code = text, \
                                .heavy = cost, \
                                .grad = id##_grad, \
                                .typed = { [TARN_I32] = whole, [TARN_I64] = wide } }; \
    tarn_tensor tarn_##id(tarn_tensor a, tarn_tensor b) \
    { \
        return map(&op_##id, (const tarn_tensor[]){ a, b }, 0, 2, rule, false); \
    }

#define COMPARISON(id, text) \
    const struct op op_##id = { \
        .name = #id, .arity = 2, .kind = OP_MAP, .code = text, .grad = op_no_grad \
    }; \
    tarn_tensor tarn_##id(tarn_tensor a, tarn_tensor b) \
    { \
        return map(&op_##id, (const tarn_tensor[]){ a, b }, 0, 2, KEEP, true); \
    }

/* The operand that lost takes nothing, equal ones half each; where a NaN is, nobody lost, and both
 * take it all, as in PyTorch: a zero would hide the NaN. */
static tarn_tensor unless_lost(tarn_tensor lost, tarn_tensor a, tarn_tensor b, tarn_tensor g)
{
    return where(tarn_eq(a, b), times(g, 0.5), where(lost, num(g, 0), g));
}

static tarn_tensor pow_in_b(tarn_tensor a, tarn_tensor b, tarn_tensor y, tarn_tensor g)
{
    const tarn_tensor zero = mul(tarn_eq(a, num(a, 0)), tarn_ge(b, num(b, 0)));
    return where(zero, num(g, 0), mul(g, mul(y, tarn_log(a))));
}

static tarn_tensor pow_in_a(tarn_tensor a, tarn_tensor b, tarn_tensor g)
{
    const tarn_tensor slope = mul(b, tarn_pow(a, tarn_add_scalar(b, -1)));
    return where(tarn_eq(b, num(b, 0)), num(g, 0), mul(g, slope));
}

static tarn_tensor sign_times(tarn_tensor x, tarn_tensor g)
{
    const tarn_tensor zero = num(g, 0);
    return where(tarn_lt(x, zero), minus(g), where(tarn_gt(x, zero), g, mul(g, x)));
}

/* 1 where x lies in [low, high], 0 elsewhere, and where it is NaN. */
static tarn_tensor between(tarn_tensor x, double low, double high)
{
    return mul(tarn_ge(x, num(x, low)), tarn_le(x, num(x, high)));
}

/* clang-format off */
/*     name     types  cost   OpenCL C               of int32;            of int64;             gradient in a;  gradient in b */
BINARY_INT(add, ARITH, LIGHT, "x + y",               "TARN_ADD_INT(x, y)", "TARN_ADD_LONG(x, y)", g,              g)
BINARY_INT(sub, ARITH, LIGHT, "x - y",               "TARN_SUB_INT(x, y)", "TARN_SUB_LONG(x, y)", g,              minus(g))
BINARY_INT(mul, ARITH, LIGHT, "x * y",               "TARN_MUL_INT(x, y)", "TARN_MUL_LONG(x, y)", mul(g, b),      mul(g, a))
/*     name     types  cost   OpenCL C               gradient in a;  gradient in b */
BINARY(pow,     WIDE,  HEAVY, "TARN_POW(x, y)",      pow_in_a(a, b, g), pow_in_b(a, b, y, g))
BINARY(maximum, ARITH, LIGHT, "TARN_MAX(x, y)",      unless_lost(tarn_lt(a, b), a, b, g), unless_lost(tarn_lt(b, a), a, b, g))
BINARY(minimum, ARITH, LIGHT, "TARN_MIN(x, y)",      unless_lost(tarn_gt(a, b), a, b, g), unless_lost(tarn_gt(b, a), a, b, g))

/*        name     types  cost   OpenCL C            gradient in x */
UNARY_INT(neg,     ARITH, LIGHT, "-x",               "TARN_SUB_INT(TARN_I(0), x)", "TARN_SUB_LONG(0, x)", minus(g))
UNARY    (abs,     FLOAT, LIGHT, "fabs(x)",          sign_times(x, g))
UNARY_API(exp,     WIDE,  HEAVY, "TARN_EXP(x)",      mul(g, y))
UNARY_API(log,     WIDE,  HEAVY, "TARN_LOG(x)",      div(g, x))
UNARY_API(sqrt,    FLOAT, HEAVY, "sqrt(x)",          div(times(g, 0.5), y))
UNARY_API(rsqrt,   WIDE,  HEAVY, "TARN_F(1.0f) / sqrt(x)", mul(times(g, -0.5), mul(y, mul(y, y))))
UNARY_API(tanh,    FLOAT, HEAVY, "TARN_TANH(x)",     mul(g, sub(num(g, 1), mul(y, y))))
UNARY_API(sigmoid, FLOAT, HEAVY, "TARN_F(1.0f) / (TARN_F(1.0f) + TARN_EXP(-x))",
                                                     mul(g, mul(y, sub(num(g, 1), y))))
UNARY_API(erf,     FLOAT, HEAVY, "TARN_ERF(x)",      mul(g, times(tarn_exp(minus(mul(x, x))), 1.12837916709551257)))
UNARY_API(sin,     FLOAT, HEAVY, "TARN_SIN(x)",      mul(g, tarn_cos(x)))
UNARY_API(cos,     FLOAT, HEAVY, "TARN_COS(x)",      minus(mul(g, tarn_sin(x))))
UNARY_API(atan,    FLOAT, HEAVY, "TARN_ATAN(x)",     div(g, tarn_add_scalar(mul(x, x), 1)))
UNARY_API(log1p,   WIDE,  HEAVY, "TARN_LOG1P(x)",    div(g, tarn_add_scalar(x, 1)))
UNARY_API(expm1,   WIDE,  HEAVY, "TARN_EXPM1(x)",    mul(g, tarn_add_scalar(y, 1)))
UNARY_API(relu,    FLOAT, LIGHT, "TARN_SELECT(TARN_BOOL(x < TARN_F(0.0f)), TARN_F(0.0f), x)",
                                                     where(tarn_le(x, num(x, 0)), num(g, 0), g))

COMPARISON(eq, "TARN_BOOL(x == y)")
COMPARISON(ne, "TARN_BOOL(x != y)")
COMPARISON(lt, "TARN_BOOL(x < y)")
COMPARISON(le, "TARN_BOOL(x <= y)")
COMPARISON(gt, "TARN_BOOL(x > y)")
COMPARISON(ge, "TARN_BOOL(x >= y)")

/*            name  scalars  cost   OpenCL C, gradient in x */
/* Inside comes first, though two choices would do: LLVM takes those for min() and max(), which
 * may give the wrong one of two zeros. */
UNARY_SCALARS(clamp, 2,     LIGHT, "TARN_SELECT(TARN_BOOL((x >= a) & (x <= b)), x, "
                                   "TARN_SELECT(TARN_BOOL(x < a), a, TARN_SELECT(TARN_BOOL(x > b), b, x)))",
              where(between(x, scalar[0], scalar[1]), g, num(g, 0)))
UNARY_SCALARS(leaky_relu, 1, LIGHT, "TARN_SELECT(TARN_BOOL(x > TARN_F(0.0f)), x, x * a)",
              where(tarn_gt(x, num(x, 0)), g, times(g, scalar[0])))
/* By exp of what is negative, so that nothing overflows. */
UNARY_SCALARS(softplus, 2,  HEAVY, "TARN_SELECT(TARN_BOOL(x * a > b), x, "
                                   "(TARN_MAX(x * a, TARN_F(0.0f)) + TARN_LOG1P(TARN_EXP(-fabs(x * a)))) / a)",
              where(tarn_gt(times(x, scalar[0]), num(x, scalar[1])), g, mul(g, tarn_sigmoid(times(x, scalar[0])))))
/* clang-format on */

/* The limits at the infinities, where y * sigmoid(-x) would be infinity * 0. */
static tarn_tensor silu_slope(tarn_tensor x, tarn_tensor y)
{
    const tarn_tensor inner = add(tarn_sigmoid(x), mul(y, tarn_sigmoid(minus(x))));
    return where(tarn_ge(x, num(x, (double)INFINITY)), num(x, 1), inner);
}

/* exp overflows to infinity, and the quotient is 0; only -infinity needs a word. */
UNARY_API(silu, FLOAT, HEAVY,
          "TARN_SELECT(TARN_BOOL(x < TARN_F(-3.0e38f)), TARN_F(0.0f), "
          "x / (TARN_F(1.0f) + TARN_EXP(-x)))",
          mul(g, silu_slope(x, y)))

/* Steps, whose slope is 0 wherever they have one. */
const struct op op_floor = {
    .name = "floor", .arity = 1, .kind = OP_MAP, .code = "floor(x)", .grad = op_no_grad
};
const struct op op_round = {
    .name = "round", .arity = 1, .kind = OP_MAP, .code = "rint(x)", .grad = op_no_grad
};

#undef add
#undef sub
#undef mul
#undef div
#undef minus
#undef where
#undef times

/* ---- what no row can say -------------------------------------------------------------------- */

static void div_grad(struct grad_call *c)
{
    const tarn_tensor b = c->in[1];
    if (c->wanted[0])
        c->gin[0] = tarn_div(c->g, b);
    if (c->wanted[1])
        c->gin[1] = tarn_neg(tarn_mul(c->g, tarn_div(c->y, b)));
}

const struct op op_div = {
    .name = "div",
    .arity = 2,
    .kind = OP_MAP,
    .code = "x / y",
    .typed = { [TARN_I32] = "TARN_DIV_INT(x, y)",
               [TARN_U8] = "TARN_DIV_INT(x, y)",
               [TARN_I64] = "TARN_DIV_LONG(x, y)" },
    .heavy = HEAVY,
    .grad = div_grad,
};

tarn_tensor tarn_div(tarn_tensor a, tarn_tensor b)
{
    return map(&op_div, (const tarn_tensor[]){ a, b }, 0, 2, ARITH, false);
}

/* x / (x^2 + y^2) and y / (x^2 + y^2) by their quotient, so that no square overflows or vanishes; 0 where both are 0, as in
 * PyTorch. */
static void atan2_grad(struct grad_call *c)
{
    const tarn_tensor y = c->in[0], x = c->in[1], g = c->g;
    const tarn_tensor steep = tarn_gt(tarn_abs(y), tarn_abs(x));
    const tarn_tensor large = tarn_where(steep, y, x), small = tarn_where(steep, x, y);
    const tarn_tensor zero = tarn_eq(large, num(large, 0));
    const tarn_tensor by = tarn_where(zero, num(large, 1), large), q = tarn_div(small, by);
    const tarn_tensor below = tarn_mul(by, tarn_add_scalar(tarn_mul(q, q), 1));
    const tarn_tensor more = tarn_where(zero, num(g, 0), tarn_div(g, below));
    const tarn_tensor less = tarn_mul(more, q);
    if (c->wanted[0])
        c->gin[0] = tarn_where(steep, less, more);
    if (c->wanted[1])
        c->gin[1] = tarn_neg(tarn_where(steep, more, less));
}

const struct op op_atan2 = {
    .name = "atan2",
    .arity = 2,
    .kind = OP_MAP,
    .code = "TARN_ATAN2(x, y)",
    .heavy = HEAVY,
    .grad = atan2_grad,
};

tarn_tensor tarn_atan2(tarn_tensor y, tarn_tensor x)
{
    return map(&op_atan2, (const tarn_tensor[]){ y, x }, 0, 2, FLOAT, false);
}

static void where_grad(struct grad_call *c)
{
    const tarn_tensor zero = num(c->g, 0);
    if (c->wanted[1])
        c->gin[1] = tarn_where(c->in[0], c->g, zero);
    if (c->wanted[2])
        c->gin[2] = tarn_where(c->in[0], zero, c->g);
}

const struct op op_where = {
    .name = "where", .arity = 3, .kind = OP_MAP, .code = "TARN_SELECT(x, y, z)", .grad = where_grad
};

tarn_tensor tarn_where(tarn_tensor condition, tarn_tensor a, tarn_tensor b)
{
    tarn_replica *r;
    if (!graph_operands("where", (tarn_tensor[]){ condition, a, b }, 3, &r))
        return graph_poison(r);
    if (dtype_is_float(tarn_dtype_get(condition)))
        condition = tarn_ne(condition, num(condition, 0));
    return map(&op_where, (const tarn_tensor[]){ condition, a, b }, 1, 3, KEEP, false);
}

tarn_tensor tarn_abs(tarn_tensor x)
{
    if (!graph_operand(NULL, x, "abs", 0))
        return graph_poison(x.replica);
    if (!dtype_is_float(tarn_dtype_get(x)))
        return tarn_maximum(x, tarn_neg(x));
    return map(&op_abs, &x, 0, 1, FLOAT, false);
}

/* Whole numbers keep integer tensors integer. A half type stays one, also of rank 0: the callers see to that. */
static tarn_tensor constant_for(tarn_tensor a, double b)
{
    const tarn_dtype dtype = tarn_dtype_get(a);
    const bool whole = floor(b) == b && !dtype_is_float(dtype);
    if (whole && fabs(b) < 0x1p31)
        return op_constant_of(a.replica, TARN_SCALAR, TARN_I32, b);
    if (whole && fabs(b) < 0x1p63 && dtype == TARN_I64)
        return op_constant_of(a.replica, TARN_SCALAR, TARN_I64, b);
    return num(a, b);
}

tarn_tensor tarn_add_scalar(tarn_tensor a, double b)
{
    if (!graph_operand(NULL, a, "add_scalar", 0))
        return graph_poison(a.replica);
    return op_as(tarn_add(a, constant_for(a, b)), tarn_dtype_get(a));
}

tarn_tensor tarn_mul_scalar(tarn_tensor a, double b)
{
    if (!graph_operand(NULL, a, "mul_scalar", 0))
        return graph_poison(a.replica);
    return op_as(tarn_mul(a, constant_for(a, b)), tarn_dtype_get(a));
}

tarn_tensor tarn_pow_scalar(tarn_tensor a, double b)
{
    if (!graph_operand(NULL, a, "pow_scalar", 0))
        return graph_poison(a.replica);
    const tarn_dtype dtype = promote(&a, 0, 1, WIDE);
    b = op_scalar_of(dtype, b);
    if (b == 2.0) {
        const tarn_tensor x = tarn_cast(a, dtype);
        return tarn_mul(x, x);
    }
    return op_as(tarn_pow(a, num(a, b)), dtype);
}

/* A half type's number is one that it holds, as in PyTorch: 0.1 equals what 0.1 became. */
static tarn_tensor compared(const struct op *op, tarn_tensor a, double b)
{
    if (!graph_operand(NULL, a, op->name, 0))
        return graph_poison(a.replica);
    const tarn_dtype dtype = tarn_dtype_get(a);
    if (dtype_is_half(dtype))
        b = (double)half_to_float(half_from_float((float)b, dtype), dtype);
    return map(op, (const tarn_tensor[]){ a, constant_for(a, b) }, 0, 2, KEEP, true);
}

#define COMPARISON_SCALAR(id) \
    tarn_tensor tarn_##id##_scalar(tarn_tensor a, double b) \
    { \
        return compared(&op_##id, a, b); \
    }
COMPARISON_SCALAR(eq)
COMPARISON_SCALAR(ne)
COMPARISON_SCALAR(lt)
COMPARISON_SCALAR(le)
COMPARISON_SCALAR(gt)
COMPARISON_SCALAR(ge)

tarn_tensor tarn_gelu(tarn_tensor x)
{
    if (!graph_operand(NULL, x, "gelu", 0))
        return graph_poison(x.replica);
    tarn_dtype of;
    x = op_wide(x, &of);
    const tarn_tensor phi = tarn_add_scalar(tarn_erf(tarn_mul_scalar(x, 0.707106781186547524)), 1);
    return op_as(tarn_mul(tarn_mul_scalar(x, 0.5f), phi), of);
}

tarn_tensor tarn_gelu_tanh(tarn_tensor x)
{
    if (!graph_operand(NULL, x, "gelu_tanh", 0))
        return graph_poison(x.replica);
    tarn_dtype of;
    x = op_wide(x, &of);
    const tarn_tensor cube = tarn_mul(tarn_mul(x, x), tarn_mul_scalar(x, 0.044715));
    const tarn_tensor inner = tarn_mul_scalar(tarn_add(x, cube), 0.797884560802865356);
    const tarn_tensor y = tarn_mul(tarn_mul_scalar(x, 0.5f), tarn_add_scalar(tarn_tanh(inner), 1));
    return op_as(y, of);
}

tarn_tensor tarn_clamp(tarn_tensor x, double low, double high)
{
    if (!graph_operand(NULL, x, "clamp", 0))
        return graph_poison(x.replica);
    low = op_scalar_of(tarn_dtype_get(x), low);
    high = op_scalar_of(tarn_dtype_get(x), high);
    const tarn_tensor lowest = constant_for(x, low), highest = constant_for(x, high);
    if (!(low <= high)) {
        const tarn_tensor limit = isnan(low) ? lowest : highest;
        return tarn_where(tarn_eq(x, x), limit, tarn_detach(x));
    }
    if (dtype_is_float(tarn_dtype_get(x)))
        return map_scalars(&op_clamp, x, low, high);
    const tarn_tensor inside = tarn_mul(tarn_ge(x, lowest), tarn_le(x, highest));
    const tarn_tensor limit = tarn_where(tarn_gt(x, highest), highest, x);
    const tarn_tensor outside = tarn_where(tarn_lt(x, lowest), lowest, limit);
    return tarn_where(inside, x, outside);
}

/* Integers are whole. */
static tarn_tensor whole(const struct op *op, tarn_tensor x)
{
    if (!graph_operand(NULL, x, op->name, 0))
        return graph_poison(x.replica);
    return dtype_is_float(tarn_dtype_get(x)) ? map(op, &x, 0, 1, FLOAT, false) : graph_value(x);
}

tarn_tensor tarn_floor(tarn_tensor x)
{
    return whole(&op_floor, x);
}

tarn_tensor tarn_round(tarn_tensor x)
{
    return whole(&op_round, x);
}

tarn_tensor tarn_sign(tarn_tensor x)
{
    if (!graph_operand(NULL, x, "sign", 0))
        return graph_poison(x.replica);
    const tarn_tensor zero = constant_for(x, 0.0);
    return tarn_cast(tarn_sub(tarn_gt(x, zero), tarn_lt(x, zero)), tarn_dtype_get(x));
}

tarn_tensor tarn_leaky_relu(tarn_tensor x, double slope)
{
    return map_scalars(&op_leaky_relu, x, slope, 0.0);
}

/* What is not chosen is computed, too, and must neither overflow nor have a slope. */
tarn_tensor tarn_elu(tarn_tensor x, double alpha)
{
    if (!graph_operand(NULL, x, "elu", 0))
        return graph_poison(x.replica);
    x = op_high(x);
    const tarn_tensor zero = constant_for(x, 0.0), positive = tarn_gt(x, zero);
    const tarn_tensor below = tarn_expm1(tarn_where(positive, zero, x));
    return tarn_where(positive, x, tarn_mul_scalar(below, alpha));
}

tarn_tensor tarn_softplus(tarn_tensor x, double beta, double threshold)
{
    if (!graph_operand(NULL, x, "softplus", 0))
        return graph_poison(x.replica);
    beta = op_scalar_of(promote(&x, 0, 1, FLOAT), beta);
    if (beta == 0.0 || !isfinite(beta))
        return graph_fail(x.replica, TARN_ERR_ARGUMENT,
                          "softplus: beta is %g, must be finite and not 0 (PyTorch's default is 1)",
                          beta);
    return map_scalars(&op_softplus, op_high(x), beta, threshold);
}

/* The larger one, and what the other adds to it: as far apart as they may be, nothing overflows. Of equal infinities the
 * difference would be no number. */
tarn_tensor tarn_logaddexp(tarn_tensor a, tarn_tensor b)
{
    tarn_replica *r;
    tarn_shape shape;
    const tarn_tensor in[] = { a, b };
    if (!broadcasts("logaddexp", in, 2, &r, &shape))
        return graph_poison(r);
    const tarn_dtype of = promote(in, 0, 2, WIDE);
    a = tarn_cast(a, dtype_single(of));
    b = tarn_cast(b, dtype_single(of));
    const tarn_tensor zero = num(a, 0);
    const tarn_tensor apart = tarn_where(tarn_eq(a, b), zero, tarn_sub(a, b));
    const tarn_tensor more = tarn_log1p(tarn_exp(tarn_neg(tarn_abs(apart))));
    return op_as(tarn_add(tarn_maximum(a, b), more), of);
}
