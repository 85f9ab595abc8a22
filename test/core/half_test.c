/* SPDX-License-Identifier: Apache-2.0 */
/* The half types: conversions bit for bit, types of results, gradients, and that fusion changes no bit. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "first.h"
#include "tarn.h"
#include "tarn_nn.h"
#include "tarn_ops.h"
#include "tarn_train.h"
#include "tensor/shape.h"

TestSuite(half, .timeout = 600);

/* The first of several elements. */
static float first_of(tarn_tensor t)
{
    return tarn_item(tarn_select(tarn_reshape(t, TARN_SHAPE(-1)), 0, 0));
}

#define ALL 65536

/* What a half type's bits mean, from the definition of the format alone. */
static double meaning(uint32_t bits, tarn_dtype dtype)
{
    const int fraction = dtype == TARN_F16 ? 10 : 7, bias = dtype == TARN_F16 ? 15 : 127;
    const int top = (1 << (15 - fraction)) - 1;
    const int exponent = (int)(bits >> fraction) & top, m = (int)bits & ((1 << fraction) - 1);
    const double sign = bits & 0x8000u ? -1 : 1;
    if (exponent == top)
        return m != 0 ? NAN : sign * INFINITY;
    if (exponent == 0)
        return sign * ldexp(m, 1 - bias - fraction);
    return sign * ldexp(m + (1 << fraction), exponent - bias - fraction);
}

Test(half, every_number_is_widened_exactly)
{
    tarn_replica *r = open_first();
    static const tarn_dtype types[] = { TARN_F16, TARN_BF16 };
    static uint16_t bits[ALL], back[ALL];
    static float wide[ALL];
    for (int k = 0; k < 2; k++)
        for (int lanes = 0; lanes < 2;
             lanes++) { /* a length that has lanes, and axes that have none */
            for (int i = 0; i < ALL; i++)
                bits[i] = (uint16_t)i;
            const tarn_shape shape = lanes ? TARN_SHAPE(ALL) : TARN_SHAPE(ALL / 2, 2);
            const tarn_tensor x = tarn_from(r, shape, types[k], bits);
            const tarn_tensor y = tarn_cast(x, TARN_F32);
            const tarn_tensor z = tarn_cast(tarn_mul(y, tarn_number(r, 1)), types[k]);
            cr_expect_eq(tarn_dtype_get(z), types[k]);
            read_all(y, wide, sizeof wide);
            read_all(z, back, sizeof back);
            for (int i = 0; i < ALL; i++) {
                const double want = meaning((uint32_t)i, types[k]);
                cr_assert(isnan(want) ? isnan(wide[i]) : (double)wide[i] == want, "%s %04x: %a",
                          tarn_dtype_name(types[k]), (unsigned)i, (double)wide[i]);
                cr_assert(isnan(want) ? isnan(meaning(back[i], types[k])) : back[i] == i,
                          "%s %04x comes back as %04x", tarn_dtype_name(types[k]), (unsigned)i,
                          back[i]);
                const float host = half_to_float((uint16_t)i, types[k]);
                cr_assert(memcmp(&host, &wide[i], sizeof host) == 0 || isnan(want));
            }
        }
    tarn_close(r);
}

/* Every number between two neighbours, their middle, and its own neighbours. */
Test(half, rounding_is_to_the_nearest_and_ties_to_even)
{
    tarn_replica *r = open_first();
    static const tarn_dtype types[] = { TARN_F16, TARN_BF16 };
    enum { EACH = 5, COUNT = 2 * 0x7fff * EACH };
    float *x = malloc(COUNT * sizeof *x);
    uint16_t *out = malloc(COUNT * sizeof *out);
    cr_assert(x != NULL && out != NULL);
    for (int k = 0; k < 2; k++) {
        const uint32_t last = types[k] == TARN_F16 ? 0x7bffu : 0x7f7fu; /* the largest number */
        int n = 0;
        for (uint32_t s = 0; s <= 0x8000u; s += 0x8000u)
            for (uint32_t i = 0; i < last; i++) {
                const double a = meaning(i | s, types[k]), b = meaning((i + 1) | s, types[k]);
                const float middle = (float)((a + b) / 2);
                x[n++] = (float)a;
                x[n++] = (float)((3 * a + b) / 4);
                x[n++] = nextafterf(middle, (float)a);
                x[n++] = middle;
                x[n++] = nextafterf(middle, (float)b);
            }
        const tarn_tensor y = tarn_cast(tarn_from(r, TARN_SHAPE(n), TARN_F32, x), types[k]);
        read_all(y, out, (size_t)n * sizeof *out);
        int at = 0;
        for (uint32_t s = 0; s <= 0x8000u; s += 0x8000u)
            for (uint32_t i = 0; i < last; i++)
                for (int e = 0; e < EACH; e++, at++) {
                    const uint32_t want = e < 3 ? i : e > 3 ? i + 1 : i + (i & 1);
                    cr_assert_eq(out[at], want | s, "%s %a: %04x, not %04x",
                                 tarn_dtype_name(types[k]), (double)x[at], out[at], want | s);
                    cr_assert_eq(half_from_float(x[at], types[k]), want | s);
                }
    }
    free(x);
    free(out);
    tarn_close(r);
}

Test(half, what_is_too_large_and_what_is_no_number)
{
    tarn_replica *r = open_first();
    const float x[] = { 65504, 65519.996f,    65520, 1e10f, -INFINITY,
                        NAN,   3.4028235e38f, -0.0f, 1e-45f };
    const uint16_t f16[] = { 0x7bff, 0x7bff, 0x7c00, 0x7c00, 0xfc00, 0x7e00, 0x7c00, 0x8000, 0 };
    uint16_t out[9];
    const tarn_tensor t = tarn_from(r, TARN_SHAPE(9), TARN_F32, x);
    read_all(tarn_cast(t, TARN_F16), out, sizeof out);
    for (int i = 0; i < 9; i++)
        cr_expect_eq(out[i] & (isnan(x[i]) ? 0x7e00 : 0xffff), f16[i], "%g: %04x", (double)x[i],
                     out[i]);
    read_all(tarn_cast(t, TARN_BF16), out, sizeof out);
    cr_expect_eq(out[6], 0x7f80);
    cr_expect_eq(out[5] & 0x7fc0, 0x7fc0);
    cr_expect_eq(out[4], 0xff80);
    tarn_close(r);
}

Test(half, types_are_promoted_as_in_pytorch)
{
    tarn_replica *r = open_first();
    const tarn_tensor f = tarn_ones(r, TARN_SHAPE(2, 3)), i = tarn_cast(f, TARN_I32);
    const tarn_tensor h = tarn_cast(f, TARN_F16), b = tarn_cast(f, TARN_BF16);
    const tarn_tensor number = tarn_number(r, 2), u = tarn_eq(f, f);
    const tarn_tensor one = tarn_max(h, TARN_ALL, false);
    const struct {
        tarn_tensor x;
        tarn_dtype want;
    } of[] = {
        { tarn_add(h, h), TARN_F16 },
        { tarn_add(b, b), TARN_BF16 },
        { tarn_add(b, f), TARN_F32 },
        { tarn_add(f, h), TARN_F32 },
        { tarn_add(h, b), TARN_F32 },
        { tarn_mul(h, i), TARN_F16 },
        { tarn_mul(u, b), TARN_BF16 },
        { tarn_mul(b, number), TARN_BF16 },
        { tarn_mul(i, number), TARN_F32 },
        { tarn_mul_scalar(h, 0.5f), TARN_F16 },
        { tarn_add_scalar(b, 1), TARN_BF16 },
        { tarn_exp(h), TARN_F16 },
        { tarn_exp(i), TARN_F32 },
        { tarn_lt(h, b), TARN_U8 },
        { tarn_sum(h, TARN_ALL, false), TARN_F16 },
        { tarn_mean(b, TARN_ALL, false), TARN_BF16 },
        { tarn_max(b, TARN_AXES(1), false), TARN_BF16 },
        { tarn_argmax(h, 1, false), TARN_I32 },
        { tarn_matmul(h, tarn_transpose(h, 0, 1)), TARN_F16 },
        { tarn_matmul(h, tarn_transpose(f, 0, 1)), TARN_F32 },
        { tarn_softmax(b, 1), TARN_BF16 },
        { tarn_gelu(h), TARN_F16 },
        { tarn_mse_loss(h, h), TARN_F32 },
        { tarn_where(u, h, number), TARN_F16 },
        { tarn_reshape(b, TARN_SHAPE(6)), TARN_BF16 },
        { tarn_clamp(h, 0, 1), TARN_F16 },
        { tarn_abs(b), TARN_BF16 },
        { tarn_sign(h), TARN_F16 },
        { tarn_pow_scalar(h, 2), TARN_F16 },
        { tarn_var(h, TARN_ALL, 1, false), TARN_F16 },
        { tarn_cumsum(b, 0), TARN_BF16 },
        { tarn_sort(h, 1, false, NULL), TARN_F16 },
        { tarn_pad(b, TARN_SHAPE(0, 1), TARN_SHAPE(0, 0), 0.1f), TARN_BF16 },
        { tarn_dropout(h, 0.5f), TARN_F16 },
        { tarn_div(i, i), TARN_I32 },
        { tarn_mul_scalar(one, 0.1f), TARN_F16 },
        { tarn_add_scalar(one, 1), TARN_F16 },
        { tarn_pow_scalar(one, 3), TARN_F16 },
        { tarn_mul(one, number), TARN_F32 },
        { tarn_concat((tarn_tensor[]){ h, f }, 2, 0), TARN_F32 },
        { tarn_concat((tarn_tensor[]){ h, b, h }, 3, 1), TARN_F32 },
        { tarn_stack((tarn_tensor[]){ b, b, f }, 3, -1), TARN_F32 },
    };
    for (size_t k = 0; k < sizeof of / sizeof of[0]; k++) {
        cr_expect_not(tarn_failed(of[k].x), "%zu: %s", k, tarn_error(r));
        cr_expect_eq(tarn_dtype_get(of[k].x), of[k].want, "%zu: %s", k,
                     tarn_dtype_name(tarn_dtype_get(of[k].x)));
    }
    cr_expect_eq(first_of(tarn_mul_scalar(h, 0.5f)), 0.5f);
    const tarn_tensor padded = tarn_pad(b, TARN_SHAPE(0, 1), TARN_SHAPE(0, 0), 0.1f);
    cr_expect_eq(first_of(padded), half_to_float(half_from_float(0.1f, TARN_BF16), TARN_BF16));
    /* Each part as it was, and its gradient in its own type; floats and integers are no parts of one. */
    const tarn_tensor third = tarn_mul_scalar(f, 1.0f / 3), low = tarn_cast(third, TARN_F16);
    const tarn_tensor both = tarn_concat((tarn_tensor[]){ low, third }, 2, 0);
    tarn_tensor g;
    tarn_gradients(tarn_sum(tarn_mul(both, both), TARN_ALL, false), &low, 1, &g);
    cr_expect_eq(tarn_dtype_get(g), TARN_F16);
    float values[12];
    read_all(both, values, sizeof values);
    cr_expect_eq(values[0], half_to_float(half_from_float(1.0f / 3, TARN_F16), TARN_F16));
    cr_expect_eq(values[6], 1.0f / 3);
    cr_expect_eq(first_of(g), 2 * values[0]);
    const tarn_tensor mixed = tarn_concat((tarn_tensor[]){ f, i }, 2, 0);
    cr_expect(tarn_failed(mixed));
    cr_expect_not_null(strstr(tarn_error(r), "concat: part 1 is int32, the first is float32"), "%s",
                       tarn_error(r));
    tarn_close(r);
}

/* ---- fused and unfused, values and gradients ------------------------------------------------- */

enum { BYTES = 1 << 18 };

struct outcome {
    unsigned char bytes[BYTES];
    size_t used;
};

static void take(struct outcome *o, tarn_tensor x)
{
    const size_t n =
        (size_t)tarn_shape_count(tarn_shape_get(x)) * tarn_dtype_bytes(tarn_dtype_get(x));
    cr_assert_leq(o->used + n, sizeof o->bytes);
    read_all(x, o->bytes + o->used, n);
    o->used += n;
}

static tarn_tensor numbers(tarn_replica *r, tarn_shape s, unsigned salt)
{
    const int64_t n = tarn_shape_count(s);
    float v[8192];
    cr_assert_leq(n, 8192);
    for (int64_t i = 0; i < n; i++)
        v[i] = (float)((int)((i * 7919 + salt * 104729) % 2003) - 1001) / 640.0f;
    return tarn_from(r, s, TARN_F32, v);
}

/* A network of most kinds of nests, in one half type, with all gradients. */
static void network(tarn_replica *r, tarn_dtype low, struct outcome *o)
{
    const tarn_tensor x = tarn_cast(numbers(r, TARN_SHAPE(20, 3, 9, 10), 1), low);
    const tarn_tensor w = numbers(r, TARN_SHAPE(5, 3, 3, 3), 2), b = numbers(r, TARN_SHAPE(5), 3);
    const tarn_tensor m = numbers(r, TARN_SHAPE(50, 7), 4), scale = numbers(r, TARN_SHAPE(7), 5);
    tarn_tensor y =
        tarn_conv2d_op(x, tarn_cast(w, low), b, (tarn_conv2d_options){ .padding = { 1, 1 } });
    cr_assert_eq(tarn_dtype_get(y), low);
    y = tarn_max_pool2d(tarn_relu(y), 2);
    y = tarn_matmul(tarn_flatten(y, 1), tarn_cast(tarn_concat((tarn_tensor[]){ m, m }, 2, 0), low));
    y = tarn_layer_norm_op(tarn_tanh(y), scale, TARN_NONE, 1e-5f);
    const tarn_tensor z =
        tarn_concat((tarn_tensor[]){ y, tarn_exp(tarn_mul_scalar(y, 0.3f)) }, 2, 1);
    const tarn_tensor p =
        tarn_mul(tarn_softmax(z, 1), tarn_pad(y, TARN_SHAPE(0, 7), TARN_SHAPE(0, 0), 0.25f));
    const tarn_tensor sums = tarn_sum(tarn_mul(p, p), TARN_AXES(0), false);
    const tarn_tensor loss =
        tarn_mean(tarn_sub(sums, tarn_gelu(tarn_mean(z, TARN_AXES(0), false))), TARN_ALL, false);
    tarn_tensor g[5];
    const tarn_tensor of[] = { x, w, b, m, scale };
    tarn_gradients(loss, of, 5, g);
    const tarn_tensor all[] = { g[0],
                                g[1],
                                g[2],
                                g[3],
                                g[4],
                                p,
                                sums,
                                tarn_argmax(z, 1, false),
                                tarn_cumsum(p, 1),
                                tarn_sort(y, 0, true, NULL),
                                loss };
    enum { COUNT = sizeof all / sizeof all[0] };
    for (int i = 0; i < 5; i++)
        cr_expect_eq(tarn_dtype_get(g[i]), tarn_dtype_get(of[i]), "gradient %d", i);
    cr_assert_eq(tarn_eval(all, COUNT), TARN_OK, "%s", tarn_error(r));
    for (int i = 0; i < COUNT; i++)
        take(o, all[i]);
}

static struct outcome *outcome_of(const char *option, const char *value, tarn_dtype low)
{
    struct outcome *o = calloc(1, sizeof *o);
    cr_assert_not_null(o);
    cr_assert_eq(tarn_set_option(option, value), TARN_OK);
    tarn_replica *r = open_first();
    network(r, low, o);
    tarn_close(r);
    cr_assert_eq(tarn_set_option(option, NULL), TARN_OK);
    return o;
}

Test(half, fusion_changes_no_bit)
{
    static const tarn_dtype types[] = { TARN_F16, TARN_BF16 };
    for (int k = 0; k < 2; k++) {
        struct outcome *fused = outcome_of("TARN_FUSE", "1", types[k]);
        struct outcome *split = outcome_of("TARN_FUSE", "0", types[k]);
        cr_expect_eq(fused->used, split->used);
        for (size_t i = 0; i < fused->used; i++)
            cr_assert_eq(fused->bytes[i], split->bytes[i], "%s: byte %zu of %zu",
                         tarn_dtype_name(types[k]), i, fused->used);
        free(fused);
        free(split);
    }
}

/* The same numbers in float32 and in double's place: a half result is within its unit of the float32 one. */
Test(half, results_are_those_of_float32_rounded_once)
{
    tarn_replica *r = open_first();
    static const tarn_dtype types[] = { TARN_F16, TARN_BF16 };
    for (int k = 0; k < 2; k++) {
        const tarn_tensor a = tarn_cast(numbers(r, TARN_SHAPE(33, 17), 1), types[k]);
        const tarn_tensor b = tarn_cast(numbers(r, TARN_SHAPE(33, 17), 2), types[k]);
        const tarn_tensor fa = tarn_cast(a, TARN_F32), fb = tarn_cast(b, TARN_F32);
        const tarn_tensor t = tarn_transpose(b, 0, 1), ft = tarn_transpose(fb, 0, 1);
        const tarn_tensor of[][2] = {
            { tarn_add(a, b), tarn_add(fa, fb) },
            { tarn_div(a, b), tarn_div(fa, fb) },
            { tarn_exp(a), tarn_exp(fa) },
            { tarn_gelu(a), tarn_gelu(fa) },
            { tarn_softmax(a, 1), tarn_softmax(fa, 1) },
            { tarn_sum(a, TARN_AXES(0), false), tarn_sum(fa, TARN_AXES(0), false) },
            { tarn_mean(a, TARN_ALL, false), tarn_mean(fa, TARN_ALL, false) },
            { tarn_var(a, TARN_AXES(1), 1, false), tarn_var(fa, TARN_AXES(1), 1, false) },
            { tarn_matmul(a, t), tarn_matmul(fa, ft) },
            { tarn_einsum("ij,ij->i", a, b), tarn_einsum("ij,ij->i", fa, fb) },
            { tarn_min(a, TARN_AXES(1), true), tarn_min(fa, TARN_AXES(1), true) },
            { tarn_clamp(a, -0.5f, 0.3f), tarn_clamp(fa, -0.5f, 0.3f) },
            { tarn_silu(a), tarn_silu(fa) },
            { tarn_mul_scalar(a, 0.1f), tarn_mul_scalar(fa, 0.1f) },
        };
        enum { COUNT = sizeof of / sizeof of[0] };
        static uint16_t got[33 * 33], want[33 * 33];
        tarn_tensor all[2 * COUNT]; /* one plan for all */
        for (int i = 0; i < COUNT; i++) {
            all[i] = of[i][0];
            all[COUNT + i] = tarn_cast(of[i][1], types[k]);
        }
        cr_assert_eq(tarn_eval(all, 2 * COUNT), TARN_OK, "%s", tarn_error(r));
        for (int i = 0; i < COUNT; i++) {
            const size_t n = (size_t)tarn_shape_count(tarn_shape_get(of[i][0])) * sizeof *got;
            cr_assert_eq(tarn_dtype_get(of[i][0]), types[k]);
            read_all(of[i][0], got, n);
            read_all(all[COUNT + i], want, n);
            cr_expect_eq(memcmp(got, want, n), 0, "%d of %s", i, tarn_dtype_name(types[k]));
        }
    }
    tarn_close(r);
}

/* ---- what is kept, saved and refused ---------------------------------------------------------- */

Test(half, checkpoints_have_half_types)
{
    char path[] = "/tmp/half-XXXXXX";
    const int file = mkstemp(path);
    cr_assert_geq(file, 0);
    close(file);
    const uint16_t bits[2][3] = { { 0x3c00, 0x0001, 0xfbff }, { 0x3f80, 0x0001, 0xff7f } };
    uint16_t out[3];
    tarn_replica *r = open_first();
    tarn_buffer(r, "h", TARN_SHAPE(3), TARN_F16, bits[0]);
    tarn_buffer(r, "b", TARN_SHAPE(3), TARN_BF16, bits[1]);
    cr_assert_eq(tarn_save(r, path, (tarn_progress){ 0 }), TARN_OK, "%s", tarn_error(r));
    tarn_close(r);
    r = open_first();
    const tarn_tensor h = tarn_buffer(r, "h", TARN_SHAPE(3), TARN_F16, NULL);
    const tarn_tensor b = tarn_buffer(r, "b", TARN_SHAPE(3), TARN_BF16, NULL);
    cr_assert_eq(tarn_load(r, path, NULL), TARN_OK, "%s", tarn_error(r));
    read_all(h, out, sizeof out);
    cr_expect_eq(memcmp(out, bits[0], sizeof out), 0);
    read_all(b, out, sizeof out);
    cr_expect_eq(memcmp(out, bits[1], sizeof out), 0);
    tarn_assign(b, tarn_mul_scalar(b, 0.5f));
    const tarn_tensor kept = tarn_keep(tarn_add(h, h));
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    cr_expect_eq(tarn_dtype_get(kept), TARN_F16);
    cr_expect_eq(first_of(b), 0.5f);
    cr_expect_eq(first_of(kept), 2.0f);
    tarn_close(r);
    unlink(path);
}

Test(half, activations_are_stored_in_half_the_bytes)
{
    double bytes[2];
    for (int k = 0; k < 2; k++) {
        tarn_replica *r = open_first();
        const tarn_dtype low = k == 0 ? TARN_F32 : TARN_BF16;
        tarn_tensor y = tarn_cast(tarn_rand(r, TARN_SHAPE(256, 64)), low);
        const tarn_tensor x = y, w = tarn_cast(tarn_rand(r, TARN_SHAPE(64, 64)), low);
        for (int i = 0; i < 12; i++)
            y = tarn_tanh(tarn_matmul(y, w));
        tarn_tensor g;
        tarn_gradients(tarn_mean(tarn_mul(y, y), TARN_ALL, false), &x, 1, &g);
        tarn_keep(g);
        cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
        bytes[k] = (double)tarn_metrics_get(r).device_bytes;
        tarn_close(r);
    }
    printf("%.0f bytes in float32, %.0f in bfloat16\n", bytes[0], bytes[1]);
    cr_expect_lt(bytes[1], 0.6 * bytes[0]);
}
