/* SPDX-License-Identifier: Apache-2.0 */
/* Every provider of matrix products against sums in double precision: odd shapes, transpositions,
 * batches, shared operands, offsets, nothing outside of the result touched; where they read them, operands of half
 * types. Tarn's own gives the
 * bits of chunks of k, each a chain of fma, that are added in order, on whatever part of a device and
 * in the blocks of whatever figures. What the tuner prefers to the guess is faster next to it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "backend.h"
#include "check.h"
#include "gemm_blocks.h"

#define GAP 5 /* elements before and behind each operand */
#define MARK 12345.0f

struct operand {
    float *host;
    size_t count;
    struct buffer *device;
};

/* What 16 bits mean, of numbers that are finite. */
static float half_value(uint16_t bits, enum gemm_words words)
{
    const int fraction = words == GEMM_FLOAT16 ? 10 : 7, bias = words == GEMM_FLOAT16 ? 15 : 127;
    const int exponent = (bits & 0x7fff) >> fraction, rest = bits & ((1 << fraction) - 1);
    const double size = exponent > 0 ? ldexp(rest + (1 << fraction), exponent - bias - fraction)
                                     : ldexp(rest, 1 - bias - fraction);
    return (float)(bits & 0x8000 ? -size : size);
}

/* Halves of all sizes below 2, float16 also below its least normal number; beside them a large one. */
static uint16_t some_half(unsigned seed, enum gemm_words words)
{
    const unsigned below = words == GEMM_FLOAT16 ? 0x4000 : 0x4000 - 0x3800;
    const unsigned least = words == GEMM_FLOAT16 ? 0 : 0x3800;
    return (uint16_t)(((seed >> 31) << 15) + least + (seed >> 8) % below);
}

static struct operand operand_new(struct context *c, size_t elements, unsigned seed,
                                  enum gemm_words words)
{
    struct operand o = { .count = elements + 2 * (size_t)GAP };
    uint16_t *halves = malloc(o.count * sizeof *halves);
    const size_t bytes = o.count * (words == GEMM_FLOAT32 ? sizeof *o.host : sizeof *halves);
    o.host = malloc(o.count * sizeof *o.host);
    CHECK(o.host != NULL && halves != NULL && buffer_new(c, bytes, &o.device) == TARN_OK);
    if (failures > 0)
        exit(1);
    for (size_t i = 0; i < o.count; i++) {
        const bool outside = i < GAP || i >= GAP + elements;
        seed = seed * 1664525u + 1013904223u;
        halves[i] = outside ? 0x7bff : some_half(seed, words);
        o.host[i] = words != GEMM_FLOAT32 ? half_value(halves[i], words)
                    : outside             ? MARK
                                          : (float)(seed >> 8) * 0x1p-23f - 1;
    }
    const void *from = words == GEMM_FLOAT32 ? (const void *)o.host : halves;
    CHECK(buffer_write(o.device, 0, from, bytes) == TARN_OK);
    free(halves);
    return o;
}

static void operand_free(struct operand *o)
{
    buffer_free(o->device);
    free(o->host);
}

struct shape {
    size_t m, n, k, batch;
    bool shared; /* one b for the whole batch */
};

/* Edges of tiles (6 x 64 or less), of strips (24), of panels and of blocks, and beyond. */
static const struct shape shapes[] = { { 1, 1, 1, 1, false },      { 1, 1, 0, 1, false },
                                       { 5, 0, 7, 1, false },      { 33, 17, 29, 2, true },
                                       { 12, 64, 384, 3, false },  { 13, 65, 385, 1, false },
                                       { 11, 63, 383, 1, true },   { 100, 70, 900, 2, false },
                                       { 70, 1100, 40, 1, false }, { 300, 520, 70, 1, true },
                                       { 14, 40, 33000, 2, false } };
enum { CHUNK = 128 }; /* terms of a sum; of more, the sums of chunks are added up likewise */

static void check_element(const struct shape *s, const struct gemm *g, const struct operand *a,
                          const struct operand *b, size_t batch, size_t i, size_t j, float got,
                          bool serial)
{
    const float *x = a->host + g->a_offset + batch * g->a_stride;
    const float *y = b->host + g->b_offset + batch * g->b_stride;
    double sum = 0, size = 0;
    float sums[5] = { 0 };
    int level = 0;
    for (size_t q = 0; q < s->k; q++) {
        const float l = g->transpose_a ? x[q * s->m + i] : x[i * s->k + q];
        const float r = g->transpose_b ? y[j * s->k + q] : y[q * s->n + j];
        sum += (double)l * (double)r;
        size += fabs((double)l * (double)r);
        sums[0] = fmaf(l, r, sums[0]);
        level = 0;
        for (size_t span = CHUNK; span < s->k && ((q + 1) % span == 0 || q + 1 == s->k);
             span *= CHUNK) {
            sums[level + 1] += sums[level];
            sums[level++] = 0;
        }
    }
    if (serial && memcmp(&sums[level], &got, sizeof got) != 0)
        failures++;
    if (!(fabs(sum - (double)got) <= 1e-6 * size))
        failures++;
}

/* Returns the result, which the caller frees. */
static float *check_words(struct context *c, const struct gemm_provider *p, const struct shape *s,
                          bool transpose_a, bool transpose_b, enum gemm_words a_words,
                          enum gemm_words b_words)
{
    const size_t over_b = s->shared ? 1 : s->batch;
    struct operand a = operand_new(c, s->batch * s->m * s->k, 1, a_words),
                   b = operand_new(c, over_b * s->k * s->n, 2, b_words),
                   out = operand_new(c, s->batch * s->m * s->n, 3, GEMM_FLOAT32);
    const struct gemm g = { .m = s->m,
                            .n = s->n,
                            .k = s->k,
                            .batch = s->batch,
                            .transpose_a = transpose_a,
                            .transpose_b = transpose_b,
                            .a = a.device,
                            .b = b.device,
                            .c = out.device,
                            .a_offset = GAP,
                            .b_offset = GAP,
                            .c_offset = GAP,
                            .a_stride = s->m * s->k,
                            .b_stride = s->shared ? 0 : s->k * s->n,
                            .c_stride = s->m * s->n,
                            .a_words = a_words,
                            .b_words = b_words };
    const int before = failures;
    CHECK(p->run(c, &g, p->user) == TARN_OK);
    CHECK(buffer_read(out.device, 0, out.host, out.count * sizeof *out.host) == TARN_OK);
    for (size_t i = 0; i < GAP; i++)
        CHECK(out.host[i] == MARK && out.host[out.count - 1 - i] == MARK);
    const float *at = out.host + GAP;
    for (size_t batch = 0; batch < s->batch; batch++)
        for (size_t i = 0; i < s->m; i++)
            for (size_t j = 0; j < s->n; j++)
                check_element(s, &g, &a, &b, batch, i, j, *at++, p->serial);
    if (failures > before)
        fprintf(stderr,
                "%s: %zu x %zu x %zu, batch %zu, transposed %d %d, of words %d %d is wrong\n",
                p->name, s->m, s->n, s->k, s->batch, transpose_a, transpose_b, (int)a_words,
                (int)b_words);
    float *result = out.host;
    out.host = NULL;
    operand_free(&a);
    operand_free(&b);
    operand_free(&out);
    return result;
}

static float *check_product(struct context *c, const struct gemm_provider *p, const struct shape *s,
                            bool transpose_a, bool transpose_b)
{
    return check_words(c, p, s, transpose_a, transpose_b, GEMM_FLOAT32, GEMM_FLOAT32);
}

static void check_halves(struct context *c)
{
    static const struct shape some[] = { { 13, 65, 385, 1, false },
                                         { 33, 17, 29, 2, true },
                                         { 100, 70, 900, 2, false } };
    for (int w = 1; w < GEMM_WORDS * GEMM_WORDS; w++)
        for (int t = 0; t < 4; t++)
            for (size_t i = 0; i < sizeof some / sizeof *some; i++)
                free(check_words(c, &gemm_tarn, &some[i], (t & 1) != 0, (t & 2) != 0,
                                 (enum gemm_words)(w % GEMM_WORDS),
                                 (enum gemm_words)(w / GEMM_WORDS)));
}

/* All of a device against its half: other blocks, the same bits. */
static void check_part(struct context *whole, const struct gemm_provider *p)
{
    const struct shape s = { 300, 200, 500, 1, false };
    struct device part;
    struct context *c;
    int count;
    if (context_device(whole)->compute_units < 2 || context_device(whole)->most_parts < 2)
        return;
    char text[32];
    snprintf(text, sizeof text, "%d:0/2", context_device(whole)->number);
    CHECK(device_select(text, &part, 1, &count) == TARN_OK);
    CHECK(context_open(&part, &c) == TARN_OK);
    float *x = check_product(whole, p, &s, false, true), *y = check_product(c, p, &s, false, true);
    CHECK(memcmp(x, y, (s.m * s.n + 2 * (size_t)GAP) * sizeof *x) == 0);
    free(x);
    free(y);
    context_close(c);
}

/* ---- blocks --------------------------------------------------------------------------------- */

struct expected {
    const char *kind;
    size_t l1_bytes, l2_bytes; /* 0: those of the kind */
    struct gemm_blocks blocks;
};

/* A quarter of the registers for operands, a panel of a in an eighth of the first cache, those of b in
 * half of the second one. */
static const struct expected expected[] = {
    { "avx512", 48 << 10, 2 << 20, { 16, 6, 4, 256, 1024 } },
    { "avx512", 0, 0, { 16, 6, 4, 128, 1024 } },
    { "avx512", 24 << 10, 1 << 20, { 16, 6, 4, 128, 1024 } },  /* half of the first one's caches */
    { "avx512", 12 << 10, 512 << 10, { 16, 6, 4, 128, 512 } }, /* a quarter */
    { "avx512", 96 << 10, 128 << 10, { 16, 6, 4, 128, 256 } }, /* depth gives way to columns */
    { "avx2", 0, 0, { 8, 4, 3, 256, 120 } },
    { "neon", 0, 0, { 4, 6, 4, 128, 256 } },
    { "neon", 128 << 10, 4 << 20, { 4, 6, 4, 640, 816 } },
    { "generic", 0, 0, { 4, 4, 3, 256, 120 } },
    { "nvidia", 0, 0, { 16, 6, 4, 128, 256 } }, /* on a CPU that is to be like one */
};

static struct device_figures figures_like(const struct expected *e)
{
    struct device_figures f;
    CHECK(figures_kind(e->kind, &f));
    f.l1_bytes = e->l1_bytes > 0 ? e->l1_bytes : f.l1_bytes;
    f.l2_bytes = e->l2_bytes > 0 ? e->l2_bytes : f.l2_bytes;
    return f;
}

static void check_blocks(void)
{
    struct gemm_form form = { .coarse = false };
    struct gemm_blocks b;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const struct expected *e = &expected[i];
        const struct device_figures f = figures_like(e);
        CHECK(gemm_blocks(&f, 64 << 20, &form, &b));
        printf("gemm: %-8s first cache %4zu KiB, second %5zu: tile %d x %d of %d, depth %d, "
               "columns %d\n",
               e->kind, f.l1_bytes >> 10, f.l2_bytes >> 10, b.rows, b.vectors, b.lanes, b.depth,
               b.columns);
        CHECK(memcmp(&b, &e->blocks, sizeof b) == 0);
    }
    const struct device_figures f = figures_like(&expected[0]);
    /* Local memory is not exceeded: the driver would end the process. */
    CHECK(gemm_blocks(&f, 256 << 10, &form, &b) && b.depth == 256 && b.columns == 192);
    CHECK(!gemm_blocks(&f, 64 << 10, &form, &b));
    form.deep = true;
    CHECK(gemm_blocks(&f, 64 << 20, &form, &b) && b.depth == 512 && b.columns == 512);
}

/* How much longer the unit with most blocks takes than if all shared c evenly. */
static double unevenness(const struct gemm_cut *c, size_t units, size_t m, size_t n)
{
    const size_t rounds = (c->down * c->over + units - 1) / units;
    return (double)(rounds * units * c->rows * c->cols) / (double)(m * n);
}

/* Blocks that lie in c and cover it, equal work for each unit, and not more copies than that needs. */
static void check_cut(void)
{
    struct gemm_form form = { .coarse = false };
    struct gemm_blocks b;
    const size_t sizes[][3] = { { 1024, 1024, 1024 }, { 2048, 2048, 2048 }, { 4000, 64, 1000 },
                                { 64, 4000, 1000 },   { 513, 511, 2000 },   { 5, 3, 2 } };
    const size_t small_caches[] = { 0, 3 }; /* of `expected`: blocks of 1024 columns, and of 512 */
    for (size_t e = 0; e < 2; e++)
        for (size_t units = 1; units <= 64; units = 2 * units + 1) {
            const struct device_figures f = figures_like(&expected[small_caches[e]]);
            CHECK(gemm_blocks(&f, 64 << 20, &form, &b));
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
                const size_t m = sizes[i][0], n = sizes[i][1];
                const struct gemm_cut c = gemm_cut(&b, &form, units, sizes[i], 1);
                CHECK(c.cols <= (size_t)b.columns && c.rows % 6 == 0 && c.cols % 64 == 0);
                CHECK(c.down * c.rows >= m && (c.down - 1) * c.rows < m);
                CHECK(c.over * c.cols >= n && (c.over - 1) * c.cols < n);
                /* Whole tiles may leave some of many units without one. */
                const size_t blocks = c.down * c.over;
                CHECK(i == 5 ? blocks == 1 : units > 3 ? 3 * blocks > 2 * units : blocks >= units);
                /* Tiles are the least that there is to share, here of 511 columns to 512. */
                CHECK(i == 5 || units > 3 || unevenness(&c, units, m, n) < 1.1);
                CHECK(i > 1 || unevenness(&c, units, m, n) < 1.25);
            }
        }
    /* Panels of which five fill c: two units are not left with three and two. */
    const struct device_figures f = figures_like(&expected[5]);
    CHECK(gemm_blocks(&f, 64 << 20, &form, &b) && b.columns < 1024 / 4);
    const struct gemm_cut c = gemm_cut(&b, &form, 2, sizes[0], 1);
    CHECK(c.down * c.over % 2 == 0 && unevenness(&c, 2, 1024, 1024) < 1.1);
    /* A group for each unit copies least. */
    form.coarse = true;
    const struct device_figures wide = figures_like(&expected[0]);
    CHECK(gemm_blocks(&wide, 64 << 20, &form, &b));
    const struct gemm_cut coarse = gemm_cut(&b, &form, 2, sizes[0], 1);
    CHECK(coarse.down * coarse.over == 2);
}

/* The same bits from the blocks of every kind, as far as local memory allows them. */
static void check_kinds(struct context *c)
{
    static struct device_figures figures[sizeof expected / sizeof *expected];
    static struct gemm_form forms[sizeof expected / sizeof *expected];
    const struct shape list[] = { { 61, 140, 700, 1, false }, { 50, 1100, 260, 1, false } };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct gemm_provider p = gemm_tarn;
        struct gemm_blocks b;
        figures[i] = figures_like(&expected[i]);
        forms[i].figures = &figures[i];
        p.user = &forms[i];
        if (!gemm_blocks(&figures[i], context_device(c)->local_bytes, &forms[i], &b))
            continue;
        for (int t = 0; t < 8; t++)
            free(check_product(c, &p, &list[t / 4], (t & 1) != 0, (t & 2) != 0));
    }
    for (int t = 0; t < 4; t++) {
        free(check_product(c, &gemm_tarn_deep, &list[0], (t & 1) != 0, (t & 2) != 0));
        free(check_product(c, &gemm_tarn_coarse, &list[0], (t & 1) != 0, (t & 2) != 0));
    }
}

/* ---- choosing ------------------------------------------------------------------------------- */

/* A provider that takes one time until it was asked so often, then another. */
struct clockwork {
    int runs, change;
    long before, after; /* microseconds */
};

static tarn_status run_clockwork(struct context *c, const struct gemm *g, void *user)
{
    struct clockwork *w = user;
    const struct timespec t = { .tv_nsec = 1000 * (w->runs++ < w->change ? w->before : w->after) };
    (void)c;
    (void)g;
    nanosleep(&t, NULL);
    return TARN_OK;
}

/* One that was faster only while it was measured by itself is not taken; one that stays so is. */
static void check_tuner(struct context *c)
{
    const size_t new = ((size_t)time(NULL) * 1000 + (size_t)getpid()) % 4000000 + 1;
    struct clockwork usual = { 0, 0, 4000, 4000 }, lucky = { 0, 4, 1000, 4000 },
                     better = { 0, 0, 1000, 1000 };
    struct gemm_provider list[] = {
        { .name = "usual", .run = run_clockwork, .user = &usual, .serial = true },
        { .name = "other", .run = run_clockwork, .user = &lucky, .serial = true, .unlikely = true },
    };
    struct gemm g = { .m = new, .n = 11, .k = 1, .batch = 1 };
    int chosen = -1;
    CHECK(setenv("TARN_TUNE", "1", 1) == 0);
    CHECK(gemm_choose(c, &g, list, 2, false, &chosen) == TARN_OK && chosen == 0 && lucky.runs > 4);
    g.n = 12;
    list[1].user = &better;
    CHECK(gemm_choose(c, &g, list, 2, false, &chosen) == TARN_OK && chosen == 1);
    CHECK(unsetenv("TARN_TUNE") == 0);
}

static void check_refused(struct context *c)
{
    const struct gemm g = { .m = 16, .n = 16, .k = 16, .batch = 1 };
    CHECK(gemm_tarn.run(c, &g, gemm_tarn.user) == TARN_ERR_ARGUMENT);
    CHECK(strstr(error_text(), "TARN_GEMM=tarn") != NULL);
}

/* What is chosen without measuring: the last that is likely, or what TARN_GEMM names, even if it
 * is refused. */
static void check_guess(struct context *c)
{
    struct gemm_provider list[] = { { .name = "nest", .run = gemm_tarn.run, .serial = true },
                                    gemm_tarn,
                                    gemm_clblast };
    const struct gemm g = { .m = 1001, .n = 1002, .k = 1003, .batch = 1 };
    int chosen = -1;
    CHECK(setenv("TARN_TUNE", "0", 1) == 0);
    CHECK(gemm_choose(c, &g, list, 3, false, &chosen) == TARN_OK && chosen == 2);
    CHECK(gemm_choose(c, &g, list, 3, true, &chosen) == TARN_OK && chosen == 1);
    list[2].refused = true;
    CHECK(gemm_choose(c, &g, list, 3, false, &chosen) == TARN_OK && chosen == 1);
    list[1].unlikely = true;
    CHECK(gemm_choose(c, &g, list, 3, false, &chosen) == TARN_OK && chosen == 0);
    CHECK(setenv("TARN_GEMM", "clblast", 1) == 0);
    CHECK(gemm_choose(c, &g, list, 3, false, &chosen) == TARN_OK && chosen == 2);
    CHECK(gemm_choose(c, &g, list, 3, true, &chosen) == TARN_OK && chosen == 0);
    CHECK(setenv("TARN_GEMM", "none", 1) == 0);
    CHECK(gemm_choose(c, &g, list, 3, false, &chosen) == TARN_ERR_ENVIRONMENT);
    CHECK(unsetenv("TARN_GEMM") == 0 && unsetenv("TARN_TUNE") == 0);
}

int main(void)
{
    struct device device;
    struct context *c;
    int count;
    if (device_select(NULL, &device, 1, &count) != TARN_OK ||
        context_open(&device, &c) != TARN_OK) {
        fprintf(stderr, "gemm: %s\n", error_text());
        return 1;
    }
    const bool cpu = gemm_tarn_possible(c); /* of a driver with vectors */
    const struct shape long_sum = { 2, 3, CHUNK * CHUNK * CHUNK + 300, 2, false };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int t = 0; t < 4; t++) {
            const bool ta = (t & 1) != 0, tb = (t & 2) != 0;
            free(check_product(c, &gemm_clblast, &shapes[i], ta, tb));
            if (cpu)
                free(check_product(c, &gemm_tarn, &shapes[i], ta, tb));
        }
    if (cpu) {
        check_part(c, &gemm_tarn);
        check_halves(c);
        free(check_product(c, &gemm_tarn, &long_sum, true, false));
        check_kinds(c);
    } else {
        check_refused(c);
    }
    check_blocks();
    check_cut();
    check_guess(c);
    check_tuner(c);
    CHECK(buffer_statistics(c).live == 0);
    context_close(c);
    printf("gemm: %d failures\n", failures);
    return failures > 0;
}
