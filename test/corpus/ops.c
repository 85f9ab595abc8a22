/* SPDX-License-Identifier: Apache-2.0 */
/* Ops one by one: maps, element types, views, reductions. A plan each, so that what differs names
 * its op; with blocks of a batch, with a ragged one, and without. */
#include <stddef.h>

#include "corpus.h"

#define COUNT(list) ((int)(sizeof list / sizeof *(list)))
static const int sizes[] = { 3, 32, 37 };

/* ---- maps ----------------------------------------------------------------------------------- */

typedef tarn_tensor unary_fn(tarn_tensor x);
typedef tarn_tensor binary_fn(tarn_tensor a, tarn_tensor b);

static unary_fn *const unaries[] = { tarn_neg,   tarn_abs,  tarn_exp,     tarn_log,   tarn_sqrt,
                                     tarn_rsqrt, tarn_tanh, tarn_sigmoid, tarn_relu,  tarn_gelu,
                                     tarn_erf,   tarn_sin,  tarn_cos,     tarn_log1p, tarn_expm1,
                                     tarn_atan,  tarn_silu, tarn_floor,   tarn_round, tarn_sign };
static binary_fn *const binaries[] = { tarn_add, tarn_sub,     tarn_mul,     tarn_div,
                                       tarn_pow, tarn_maximum, tarn_minimum, tarn_atan2 };
static binary_fn *const comparisons[] = { tarn_eq, tarn_ne, tarn_lt, tarn_le, tarn_gt, tarn_ge };

static void maps(void)
{
    static const float powers[] = { -1, 0, 0.5f, 1, 2, 3, 2.5f };
    tarn_replica *r = open_device();
#define X positive(r, TARN_SHAPE(sizes[s], 7, 5))
    for (int s = 0; s < COUNT(sizes); s++) {
        tarn_tensor x;
        for (int i = 0; i < COUNT(unaries); i++) {
            x = X;
            COMPILE(unaries[i](x), x);
        }
        for (int i = 0; i < COUNT(powers); i++) {
            x = X;
            COMPILE(tarn_pow_scalar(x, powers[i]), x);
        }
        x = X;
        COMPILE(tarn_clamp(x, -0.75f, 1.25f), x);
        x = X;
        COMPILE(tarn_mul_scalar(tarn_add_scalar(x, 0.375f), -1.7f), x);
        x = X;
        COMPILE(tarn_softplus(tarn_leaky_relu(x, 0.125f), 1, 20), x);
        x = X;
        COMPILE(tarn_mul(x, tarn_randn(r, tarn_shape_get(x))), x);
        x = X;
        const tarn_tensor rate = tarn_number(r, 0.5f);
        COMPILE(tarn_mul(x, rate), x, rate);
        x = X;
        COMPILE(tarn_mul(tarn_exp(x), tarn_detach(tarn_tanh(x))), x);
    }
#undef X
    close_device(r);
}

static void broadcasts(void)
{
    tarn_replica *r = open_device();
    for (int s = 0; s < COUNT(sizes); s++) {
        const tarn_shape whole = TARN_SHAPE(sizes[s], 7, 5);
        const tarn_shape others[] = { whole, TARN_SHAPE(7, 1), TARN_SHAPE(sizes[s], 1, 5),
                                      TARN_SCALAR };
        for (int o = 0; o < COUNT(others); o++) {
            tarn_tensor a, b;
            for (int i = 0; i < COUNT(binaries); i++) {
                a = positive(r, whole), b = positive(r, others[o]);
                COMPILE(binaries[i](a, b), a, b);
            }
            for (int i = 0; i < COUNT(comparisons); i++) {
                a = numbers(r, others[o]), b = numbers(r, whole);
                compile(comparisons[i](a, b), NULL, 0);
            }
            a = numbers(r, whole), b = numbers(r, others[o]);
            COMPILE(tarn_where(tarn_lt(a, b), tarn_exp(a), tarn_tanh(b)), a, b);
        }
    }
    close_device(r);
}

/* ---- element types -------------------------------------------------------------------------- */

static tarn_tensor typed(tarn_replica *r, tarn_shape shape, tarn_dtype dtype)
{
    return dtype == TARN_F32 ? numbers(r, shape) : integers(r, shape, 5, dtype);
}

static void dtypes(void)
{
    tarn_replica *r = open_device();
    for (int s = 0; s < COUNT(sizes); s++)
        for (tarn_dtype t = TARN_F32; t <= TARN_U8; t++) {
            const tarn_shape shape = TARN_SHAPE(sizes[s], 6);
#define X typed(r, shape, t)
            for (tarn_dtype to = TARN_F32; to <= TARN_U8; to++)
                compile(tarn_cast(X, to), NULL, 0);
            for (int i = 0; i < COUNT(comparisons); i++)
                compile(comparisons[i](X, X), NULL, 0);
            for (int i = 0; t != TARN_U8 && i < COUNT(binaries); i++)
                if (t == TARN_F32 || (binaries[i] != tarn_pow && binaries[i] != tarn_atan2))
                    compile(binaries[i](X, typed(r, TARN_SHAPE(6), t)), NULL, 0);
            compile(tarn_where(X, X, typed(r, TARN_SHAPE(6), t)), NULL, 0);
            compile(tarn_permute(X, TARN_AXES(1, 0)), NULL, 0);
            compile(tarn_pad(X, TARN_SHAPE(1, 0), TARN_SHAPE(0, 2), 3.0f), NULL, 0);
            compile(tarn_concat((tarn_tensor[]){ X, X }, 2, 1), NULL, 0);
            compile(tarn_argmax(X, 1, false), NULL, 0);
            compile(tarn_argmax(X, 0, true), NULL, 0);
#undef X
        }
    compile(tarn_neg(integers(r, TARN_SHAPE(32, 6), 5, TARN_I32)), NULL, 0);
    compile(tarn_abs(integers(r, TARN_SHAPE(32, 6), 5, TARN_I32)), NULL, 0);
    compile(tarn_sum(integers(r, TARN_SHAPE(37, 6), 5, TARN_I32), TARN_AXES(0), false), NULL, 0);
    compile(tarn_max(integers(r, TARN_SHAPE(37, 6), 5, TARN_I32), TARN_AXES(1), false), NULL, 0);
    close_device(r);
}

/* ---- views ---------------------------------------------------------------------------------- */

static void views(void)
{
    static const int slices[][4] = {
        { 0, 1, 3, 1 }, { 1, 0, 6, 2 }, { 1, -5, -1, 3 }, { 2, 3, 100, 2 }, { 0, 0, 100, 3 }
    };
    tarn_replica *r = open_device();
    for (int s = 0; s < COUNT(sizes); s++) {
        const int n = sizes[s];
        tarn_tensor x;
        static unary_fn *const before[] = { NULL, tarn_exp };
        for (int b = 0; b < COUNT(before); b++) {
#define VIEW(...) \
    do { \
        const tarn_tensor in = numbers(r, TARN_SHAPE(n, 6, 4)); \
        x = before[b] != NULL ? before[b](in) : in; \
        COMPILE(__VA_ARGS__, in); \
    } while (0)
            VIEW(tarn_reshape(x, TARN_SHAPE(-1, 8)));
            VIEW(tarn_reshape(x, TARN_SHAPE(n, 3, 8)));
            VIEW(tarn_flatten(x, 1));
            VIEW(tarn_flatten(x, 0));
            VIEW(tarn_permute(x, TARN_AXES(2, 0, 1)));
            VIEW(tarn_transpose(x, 0, 2));
            VIEW(tarn_transpose(x, 1, 2));
            VIEW(tarn_broadcast_to(x, TARN_SHAPE(2, n, 6, 4)));
            VIEW(
                tarn_broadcast_to(tarn_reshape(x, TARN_SHAPE(n, 6, 1, 4)), TARN_SHAPE(n, 6, 3, 4)));
            for (int i = 0; i < COUNT(slices); i++)
                VIEW(tarn_slice(x, slices[i][0], slices[i][1], slices[i][2], slices[i][3]));
            for (int axis = 0; axis < 3; axis++)
                VIEW(tarn_flip(x, TARN_AXES(axis)));
            VIEW(tarn_flip(x, TARN_AXES(0, 2)));
            VIEW(tarn_pad(x, TARN_SHAPE(0, 1, 2), TARN_SHAPE(0, 0, 3), 1.5f));
            VIEW(tarn_pad(x, TARN_SHAPE(2, 0, 0), TARN_SHAPE(1, 0, 0), 0.0f));
            for (int axis = 0; axis < 3; axis++)
                VIEW(tarn_concat((tarn_tensor[]){ x, tarn_tanh(x), x }, 3, axis));
#undef VIEW
        }
    }
    close_device(r);
}

/* ---- reductions ----------------------------------------------------------------------------- */

typedef tarn_tensor reduce_fn(tarn_tensor x, tarn_shape axes, bool keep);

static tarn_tensor variance(tarn_tensor x, tarn_shape axes, bool keep)
{
    return tarn_var(x, axes, keep, keep);
}

static void reductions(void)
{
    static reduce_fn *const all[] = { tarn_sum, tarn_mean, tarn_max, tarn_min, variance };
    tarn_replica *r = open_device();
    for (int s = 0; s < COUNT(sizes); s++) {
        const tarn_shape shape = TARN_SHAPE(sizes[s], 3, 5, 7);
        const tarn_shape axes[] = { TARN_ALL,           TARN_AXES(0),      TARN_AXES(1),
                                    TARN_AXES(-1),      TARN_AXES(2, 3),   TARN_AXES(0, 2),
                                    TARN_AXES(0, 2, 3), TARN_AXES(1, 2, 3) };
        for (int a = 0; a < COUNT(axes); a++)
            for (int i = 0; i < COUNT(all); i++) {
                const tarn_tensor x = numbers(r, shape);
                COMPILE(all[i](x, axes[a], i % 2 == 0), x);
                const tarn_tensor y = numbers(r, shape);
                COMPILE(tarn_tanh(all[i](tarn_exp(y), axes[a], true)), y);
            }
        for (int axis = 0; axis < 4; axis++) {
            compile(tarn_argmax(numbers(r, shape), axis, axis % 2 == 0), NULL, 0);
            const tarn_tensor lowest = tarn_argmax(tarn_neg(numbers(r, shape)), axis, false);
            compile(tarn_add(lowest, lowest), NULL, 0);
        }
    }
    close_device(r);
}

const struct program op_programs[] = {
    { "ops-maps", maps },   { "ops-broadcasts", broadcasts }, { "ops-dtypes", dtypes },
    { "ops-views", views }, { "ops-reductions", reductions }, { 0 },
};
