/* SPDX-License-Identifier: Apache-2.0 */
/* Attention by blocks of queries (core/op/attention_blocks.c): the bits of the products and sums that it stands for, on all
 * kinds of vectors; values and gradients next to double, with bounds of the roundings; memory that does not grow with
 * queries times keys; second gradients. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rounding.h"
#include "tarn.h"
#include "tarn_profile.h"
#include "tensor/random.h"

struct sizes {
    int samples, heads, queries, keys, features, width;
    bool causal, masked;
};

/* Fewer than 8 samples are no batch, whose sums over keys have another order; lengths that are no multiples of a block, a
 * tile or a chunk; more keys than queries, and fewer; more than 16 chunks of a lane. */
static const struct sizes cases[] = {
    { 8, 2, 128, 128, 32, 32, true, false },   { 8, 2, 130, 200, 24, 40, false, false },
    { 9, 1, 300, 260, 32, 16, true, true },    { 2, 2, 160, 144, 32, 32, true, false },
    { 2, 2, 160, 145, 20, 16, false, true },   { 1, 1, 17, 1000, 16, 33, true, true },
    { 1, 1, 1000, 20, 16, 33, true, false },   { 1, 1, 128, 2200, 16, 16, false, false },
    { 8, 1, 200, 130, 160, 130, true, false },
};

enum { RESULTS = 4, MOST = 1 << 20, WITH_TARGETS = 3 };

/* q, k, v and what the result is multiplied by, as [N, T, heads * each]. */
struct inputs {
    float *x[RESULTS];
    unsigned char *seen;
};

static tarn_shape shape_of(const struct sizes *s, int i)
{
    const int rows[RESULTS] = { s->queries, s->keys, s->keys, s->queries };
    const int each[RESULTS] = { s->features, s->features, s->width, s->width };
    return TARN_SHAPE(s->samples, rows[i], s->heads * each[i]);
}

static size_t count_of(const struct sizes *s, int i)
{
    return (size_t)tarn_shape_count(shape_of(s, i));
}

static struct inputs make_inputs(const struct sizes *s)
{
    struct inputs in;
    for (int i = 0; i < RESULTS; i++) {
        in.x[i] = malloc(count_of(s, i) * sizeof *in.x[i]);
        cr_assert_not_null(in.x[i]);
        for (size_t k = 0; k < count_of(s, i); k++)
            in.x[i][k] =
                (float)(random_u32(11, (uint32_t)k * 4 + (uint32_t)i) >> 8) / (1 << 22) - 2;
    }
    const int flags = s->samples * s->keys;
    in.seen = malloc((size_t)flags);
    cr_assert_not_null(in.seen);
    for (int k = 0; k < flags; k++) /* each query sees the first key */
        in.seen[k] = k % s->keys == 0 || random_u32(12, (uint32_t)k) % 3 != 0;
    return in;
}

static void drop_inputs(struct inputs *in)
{
    for (int i = 0; i < RESULTS; i++)
        free(in->x[i]);
    free(in->seen);
}

static tarn_tensor heads_of(tarn_tensor x, int heads)
{
    const tarn_shape s = tarn_shape_get(x);
    const tarn_shape split = TARN_SHAPE(s.dim[0], s.dim[1], heads, s.dim[2] / heads);
    return tarn_permute(tarn_reshape(x, split), TARN_AXES(0, 2, 1, 3));
}

static tarn_tensor attend(const struct sizes *s, const tarn_tensor x[3], tarn_tensor seen)
{
    const tarn_attention_options options = { .causal = s->causal, .key_mask = seen };
    const tarn_tensor y = tarn_attention(heads_of(x[0], s->heads), heads_of(x[1], s->heads),
                                         heads_of(x[2], s->heads), options);
    return tarn_reshape(tarn_permute(y, TARN_AXES(0, 2, 1, 3)), shape_of(s, 3));
}

/* The result, and gradients of q, k and v of the sum of its products with x[3]; returns the most memory that was taken. */
static uint64_t run(const struct sizes *s, const struct inputs *in, float *const out[RESULTS])
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    tarn_tensor x[RESULTS], result[RESULTS];
    for (int i = 0; i < RESULTS; i++)
        x[i] = tarn_batch_axis(tarn_from(r, shape_of(s, i), TARN_F32, in->x[i]), 0);
    const tarn_tensor seen =
        s->masked ? tarn_from(r, TARN_SHAPE(s->samples, s->keys), TARN_U8, in->seen) : TARN_NONE;
    result[0] = attend(s, x, seen);
    tarn_gradients(tarn_sum(tarn_mul(result[0], x[3]), TARN_ALL, false), x, 3, result + 1);
    for (int i = 0; i < RESULTS; i++)
        result[i] = tarn_keep(result[i]);
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    for (int i = 0; i < RESULTS; i++) {
        const size_t count = count_of(s, i == 0 ? 3 : i - 1);
        cr_assert_leq(count, MOST);
        cr_assert_eq(tarn_read(result[i], out[i], count * sizeof *out[i]), TARN_OK, "%s",
                     tarn_error(r));
    }
    const uint64_t bytes = tarn_metrics_get(r).device_bytes_peak;
    tarn_close(r);
    return bytes;
}

static void make_results(float *out[RESULTS])
{
    for (int i = 0; i < RESULTS; i++) {
        out[i] = malloc(MOST * sizeof *out[i]);
        cr_assert_not_null(out[i]);
    }
}

static void set(const char *name, const char *value)
{
    cr_assert_eq(setenv(name, value, 1), 0);
}

static void build_quickly(void)
{
    set("TARN_QUICK", "1");
}

TestSuite(attention, .init = build_quickly);

Test(attention, bits, .timeout = 900)
{
    static const char *const kinds[][3] = {
        { "cpu", "1", "" }, { "gpu", "1", "" }, { "cpu", "1", "avx2" }, { "cpu", "1", "neon" }
    };
    float *wanted[RESULTS], *found[RESULTS];
    make_results(wanted);
    make_results(found);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const struct sizes *s = &cases[c];
        struct inputs in = make_inputs(s);
        set("TARN_SCHEDULE", "cpu");
        set("TARN_TARGET", "");
        set("TARN_FUSE", "0");
        run(s, &in, wanted);
        const size_t tried = c < WITH_TARGETS ? sizeof kinds / sizeof *kinds : 2;
        for (size_t k = 0; k < tried; k++) {
            set("TARN_SCHEDULE", kinds[k][0]);
            set("TARN_FUSE", kinds[k][1]);
            set("TARN_TARGET", kinds[k][2]);
            run(s, &in, found);
            for (int i = 0; i < RESULTS; i++)
                cr_expect_eq(
                    memcmp(found[i], wanted[i], count_of(s, i == 0 ? 3 : i - 1) * sizeof **found),
                    0, "case %zu, %s %s: result %d differs", c, kinds[k][0], kinds[k][2], i);
        }
        drop_inputs(&in);
    }
    for (int i = 0; i < RESULTS; i++) {
        free(wanted[i]);
        free(found[i]);
    }
}

/* ---- next to double --------------------------------------------------------------------------- */

/* Of one head of a sample: rows of x[i], as doubles; where element (t, c) lies; the results and bounds of their errors. */
struct head {
    const struct sizes *s;
    const struct inputs *in;
    int sample, head;
    double *p, *slope,
        *score_error; /* [L, S]: weights, gradients of scores; how far a score may be off */
};

static size_t place(const struct head *h, int i, int row, int c)
{
    const int rows = i == 1 || i == 2 ? h->s->keys : h->s->queries;
    const int each = i < 2 ? h->s->features : h->s->width;
    return ((size_t)(h->sample * rows + row) * (size_t)h->s->heads + (size_t)h->head) *
               (size_t)each +
           (size_t)c;
}

static double at(const struct head *h, int i, int row, int c)
{
    return (double)h->in->x[i][place(h, i, row, c)];
}

static bool sees(const struct head *h, int query, int key)
{
    return (!h->s->causal || key <= query) &&
           (!h->s->masked || h->in->seen[h->sample * h->s->keys + key] != 0);
}

/* n roundings of float32, one after the other. */
static double gamma_of(double n)
{
    const double u = ldexp(1, -24);
    return n * u / (1 - n * u);
}

/* Weights of a query, and by how much a score of it may be off at most. */
static double weigh(const struct head *h, int query)
{
    const struct sizes *s = h->s;
    const double scale = 1 / sqrt((double)s->features);
    double most = -INFINITY, sum = 0, error = 0;
    double *p = h->p + (size_t)query * (size_t)s->keys;
    for (int j = 0; j < s->keys; j++) {
        double magnitude = 0;
        p[j] = 0;
        for (int e = 0; e < s->features; e++) {
            p[j] += at(h, 0, query, e) * at(h, 1, j, e) * scale;
            magnitude += fabs(at(h, 0, query, e) * at(h, 1, j, e)) * scale;
        }
        if (!sees(h, query, j))
            p[j] = -INFINITY;
        else
            error = fmax(error, gamma_of(s->features + 3) * magnitude);
        most = fmax(most, p[j]);
    }
    for (int j = 0; j < s->keys; j++)
        sum += p[j] = exp(p[j] - most);
    for (int j = 0; j < s->keys; j++)
        p[j] /= sum;
    /* e of a score that is off by so much, and whose maximum is, too, and whose difference is rounded. */
    return expm1(2 * error + gamma_of(2) * 64);
}

static void expect_near(double is, double wanted, double bound, const char *what, int row, int c)
{
    cr_expect_leq(fabs(is - wanted), bound, "%s (%d, %d): %.9g, wanted %.9g, bound %.3g", what, row,
                  c, is, wanted, bound);
}

/* Roundings on the way to a result besides those of scores: exp, sums over keys or queries, products, quotients. */
static double roundings(const struct sizes *s)
{
    const int longest = s->keys > s->queries ? s->keys : s->queries;
    return longest + s->width + 32;
}

static void check_head(const struct head *h, float *const found[RESULTS])
{
    const struct sizes *s = h->s;
    double worst = 0;
    for (int l = 0; l < s->queries; l++) {
        double *p = h->p + (size_t)l * (size_t)s->keys,
               *slope = h->slope + (size_t)l * (size_t)s->keys;
        double *size = h->score_error + (size_t)l * (size_t)s->keys;
        worst = fmax(worst, weigh(h, l));
        const double relative = gamma_of(roundings(s)) + 2 * worst;
        double mean = 0, mean_size = 0;
        for (int c = 0; c < s->width; c++) {
            double y = 0, magnitude = 0;
            for (int j = 0; j < s->keys; j++) {
                y += p[j] * at(h, 2, j, c);
                magnitude += p[j] * fabs(at(h, 2, j, c));
            }
            expect_near((double)found[0][place(h, 3, l, c)], y, relative * magnitude, "y", l, c);
            mean += y * at(h, 3, l, c);
            mean_size += magnitude * fabs(at(h, 3, l, c));
        }
        for (int j = 0; j < s->keys; j++) {
            double of = 0, of_size = 0;
            for (int c = 0; c < s->width; c++) {
                of += at(h, 3, l, c) * at(h, 2, j, c);
                of_size += fabs(at(h, 3, l, c) * at(h, 2, j, c));
            }
            slope[j] = p[j] * (of - mean);
            size[j] = p[j] * (of_size + mean_size);
        }
    }
    const double scale = 1 / sqrt((double)s->features);
    const double relative = gamma_of(2 * roundings(s)) + 4 * worst;
    for (int l = 0; l < s->queries; l++)
        for (int e = 0; e < s->features; e++) {
            double g = 0, magnitude = 0;
            for (int j = 0; j < s->keys; j++) {
                const size_t i = (size_t)l * (size_t)s->keys + (size_t)j;
                g += h->slope[i] * at(h, 1, j, e) * scale;
                magnitude += h->score_error[i] * fabs(at(h, 1, j, e)) * scale;
            }
            expect_near((double)found[1][place(h, 0, l, e)], g, relative * magnitude, "dq", l, e);
        }
    for (int j = 0; j < s->keys; j++) {
        for (int e = 0; e < s->features; e++) {
            double g = 0, magnitude = 0;
            for (int l = 0; l < s->queries; l++) {
                const size_t i = (size_t)l * (size_t)s->keys + (size_t)j;
                g += h->slope[i] * at(h, 0, l, e) * scale;
                magnitude += h->score_error[i] * fabs(at(h, 0, l, e)) * scale;
            }
            expect_near((double)found[2][place(h, 1, j, e)], g, relative * magnitude, "dk", j, e);
        }
        for (int c = 0; c < s->width; c++) {
            double g = 0, magnitude = 0;
            for (int l = 0; l < s->queries; l++) {
                const double p = h->p[(size_t)l * (size_t)s->keys + (size_t)j];
                g += p * at(h, 3, l, c);
                magnitude += p * fabs(at(h, 3, l, c));
            }
            expect_near((double)found[3][place(h, 2, j, c)], g, relative * magnitude, "dv", j, c);
        }
    }
}

Test(attention, values, .timeout = 600)
{
    float *found[RESULTS];
    make_results(found);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const struct sizes *s = &cases[c];
        struct inputs in = make_inputs(s);
        const size_t square = (size_t)s->queries * (size_t)s->keys;
        double *room = calloc(3 * square, sizeof *room);
        cr_assert_not_null(room);
        run(s, &in, found);
        for (int i = 0; i<s->samples * s->heads; i += s->samples * s->heads - 1> 0
                            ? s->samples * s->heads - 1
                            : 1) { /* the first and the last */
            const struct head h = { s,    &in,           i / s->heads,     i % s->heads,
                                    room, room + square, room + 2 * square };
            check_head(&h, found);
        }
        free(room);
        drop_inputs(&in);
    }
    for (int i = 0; i < RESULTS; i++)
        free(found[i]);
}

enum { LONG = 128, EACH = 16 };

/* ---- half types, memory, and gradients of gradients ---------------------------------------------------------- */

/* Which operands carry the batch decides how exponents are added up: here one of q, k, v and the flags of keys, while the
 * others are kept tensors. */
static void attend_to(const char *fuse, int batched, float *out)
{
    enum { N = 16, L = 137, F = 16, COUNT = N * L * F };
    static float data[COUNT];
    int32_t length[N];
    tarn_tensor x[3];
    for (int i = 0; i < COUNT; i++)
        data[i] = (float)(random_u32(9, (uint32_t)i) >> 8) / (1 << 23) - 1;
    for (int i = 0; i < N; i++)
        length[i] = 20 + 7 * i;
    set("TARN_FUSE", fuse);
    tarn_replica *r = tarn_open("cpu");
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    for (int i = 0; i < 3; i++)
        x[i] = tarn_keep(tarn_from(r, TARN_SHAPE(N, L, F), TARN_F32, data));
    const tarn_tensor flags = tarn_keep(tarn_from(r, TARN_SHAPE(N, 1), TARN_I32, length));
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    for (int i = 0; i < 3; i++)
        x[i] = tarn_batch_axis(x[i], i == batched ? 0 : TARN_NO_BATCH);
    const tarn_tensor keys = tarn_broadcast_to(tarn_arange(r, L), TARN_SHAPE(N, L));
    const tarn_tensor last = tarn_batch_axis(flags, batched == 3 ? 0 : TARN_NO_BATCH);
    const tarn_tensor y = tarn_attention(
        x[0], x[1], x[2], (tarn_attention_options){ .key_mask = tarn_le(keys, last) });
    cr_assert_eq(tarn_read(y, out, COUNT * sizeof *out), TARN_OK, "%s", tarn_error(r));
    tarn_close(r);
}

Test(attention, bits_of_one_batched_operand, .timeout = 300)
{
    static float wanted[1 << 16], seen[1 << 16];
    for (int i = 0; i < 4; i++) {
        attend_to("0", i, wanted);
        attend_to("1", i, seen);
        cr_expect_eq(memcmp(wanted, seen, sizeof wanted), 0, "operand %d", i);
    }
}

/* Of half types all is float32 but operands and result, under autocast, too. */
Test(attention, halves, .timeout = 300)
{
    enum { COUNT = LONG * EACH };
    static float x[COUNT], wanted[COUNT], found[COUNT];
    for (int i = 0; i < COUNT; i++)
        x[i] = (float)(random_u32(14, (uint32_t)i) >> 8) / (1 << 22) - 2;
    for (int i = 0; i < 4; i++) {
        const tarn_dtype half = i % 2 == 0 ? TARN_BF16 : TARN_F16;
        tarn_replica *r = tarn_open(NULL);
        cr_assert_not_null(r, "%s", tarn_error(NULL));
        const tarn_attention_options options = { .causal = true };
        const tarn_tensor in = tarn_from(r, TARN_SHAPE(1, LONG, EACH), TARN_F32, x);
        const tarn_tensor low = tarn_cast(in, half), high = tarn_cast(low, TARN_F32);
        const tarn_tensor y = tarn_cast(tarn_attention(high, high, high, options), half);
        if (i >= 2)
            tarn_autocast(r, half);
        const tarn_tensor z =
            i >= 2 ? tarn_attention(in, in, in, options) : tarn_attention(low, low, low, options);
        if (i >= 2)
            tarn_autocast_end(r);
        cr_expect_eq(tarn_dtype_get(z), half);
        cr_assert_eq(tarn_read(tarn_cast(y, TARN_F32), wanted, sizeof wanted), TARN_OK, "%s",
                     tarn_error(r));
        cr_assert_eq(tarn_read(tarn_cast(z, TARN_F32), found, sizeof found), TARN_OK, "%s",
                     tarn_error(r));
        cr_expect_eq(memcmp(wanted, found, sizeof found), 0, "%s", tarn_dtype_name(half));
        tarn_close(r);
    }
}

/* Scores of all queries would be 32 MiB. */
Test(attention, memory, .timeout = 300)
{
    static const struct sizes s = { 1, 2, 2048, 2048, 32, 32, true, false };
    float *found[RESULTS];
    struct inputs in = make_inputs(&s);
    make_results(found);
    const uint64_t bytes = run(&s, &in, found);
    const uint64_t scores = (uint64_t)s.heads * (uint64_t)s.queries * (uint64_t)s.keys * 4;
    printf("%.1f MiB at most, all scores are %.1f\n", (double)bytes / 1048576,
           (double)scores / 1048576);
    cr_expect_lt(bytes, scores);
    drop_inputs(&in);
    for (int i = 0; i < RESULTS; i++)
        free(found[i]);
}

/* d/dx of the sum of squares of the gradient of attention with q = k = v = x, of so wide a type. */
static void second(tarn_dtype dtype, const float *x, double *out)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    const tarn_shape shape = TARN_SHAPE(1, LONG, EACH);
    const tarn_tensor in = tarn_cast(tarn_from(r, shape, TARN_F32, x), dtype);
    const tarn_tensor y = tarn_attention(in, in, in, (tarn_attention_options){ .causal = true });
    tarn_tensor g, again;
    tarn_gradients(tarn_sum(tarn_mul(y, y), TARN_ALL, false), &in, 1, &g);
    tarn_gradients(tarn_sum(tarn_mul(g, g), TARN_ALL, false), &in, 1, &again);
    cr_assert_eq(tarn_read(tarn_cast(again, TARN_F64), out, LONG * EACH * sizeof *out), TARN_OK,
                 "%s", tarn_error(r));
    tarn_close(r);
}

/* Float64 has no blocks. Gradients of gradients are sums of some thousand terms, each of a few hundred roundings. */
Test(attention, second_gradients, .timeout = 300)
{
    static float x[LONG * EACH];
    static double wanted[LONG * EACH], found[LONG * EACH];
    for (int i = 0; i < LONG * EACH; i++)
        x[i] = (float)(random_u32(13, (uint32_t)i) >> 8) / (1 << 23) - 1;
    second(TARN_F64, x, wanted);
    second(TARN_F32, x, found);
    double size = 0, away = 0;
    for (int i = 0; i < LONG * EACH; i++) {
        size += wanted[i] * wanted[i];
        away += (found[i] - wanted[i]) * (found[i] - wanted[i]);
    }
    printf("second gradients off by %.3g of their size\n", sqrt(away / size));
    cr_expect_leq(sqrt(away), gamma_of(1000) * sqrt(size));
    cr_expect_gt(size, 0);
}
