/* SPDX-License-Identifier: Apache-2.0 */
/* Every provider of matrix products against sums in double precision: odd shapes, transpositions,
 * batches, shared operands, offsets, nothing outside of the result touched. Tarn's own gives the
 * bits of chunks of k, each a chain of fma, that are added in order, on whatever part of a device. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "check.h"

#define GAP 5 /* elements before and behind each operand */
#define MARK 12345.0f

struct operand {
    float *host;
    size_t count;
    struct buffer *device;
};

static struct operand operand_new(struct context *c, size_t elements, unsigned seed)
{
    struct operand o = { .count = elements + 2 * (size_t)GAP };
    o.host = malloc(o.count * sizeof *o.host);
    CHECK(o.host != NULL && buffer_new(c, o.count * sizeof *o.host, &o.device) == TARN_OK);
    if (failures > 0)
        exit(1);
    for (size_t i = 0; i < o.count; i++) {
        seed = seed * 1664525u + 1013904223u;
        o.host[i] = i < GAP || i >= GAP + elements ? MARK : (float)(seed >> 8) * 0x1p-23f - 1;
    }
    CHECK(buffer_write(o.device, 0, o.host, o.count * sizeof *o.host) == TARN_OK);
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

/* Edges of tiles (12 x 32 or less), of panels (384) and of blocks (512), and beyond. */
static const struct shape shapes[] = { { 1, 1, 1, 1, false },      { 1, 1, 0, 1, false },
                                       { 5, 0, 7, 1, false },      { 33, 17, 29, 2, true },
                                       { 12, 32, 384, 3, false },  { 13, 33, 385, 1, false },
                                       { 11, 31, 383, 1, true },   { 100, 70, 900, 2, false },
                                       { 70, 1100, 40, 1, false }, { 300, 520, 70, 1, true },
                                       { 14, 40, 33000, 2, false } };
enum { CHUNK = 128, SPAN = CHUNK * CHUNK }; /* beyond, sums of chunks are added up likewise */

static void check_element(const struct shape *s, const struct gemm *g, const struct operand *a,
                          const struct operand *b, size_t batch, size_t i, size_t j, float got,
                          bool serial)
{
    const float *x = a->host + g->a_offset + batch * g->a_stride;
    const float *y = b->host + g->b_offset + batch * g->b_stride;
    double sum = 0, size = 0;
    float chain = 0, chunks = 0, spans = 0;
    for (size_t q = 0; q < s->k; q++) {
        const float l = g->transpose_a ? x[q * s->m + i] : x[i * s->k + q];
        const float r = g->transpose_b ? y[j * s->k + q] : y[q * s->n + j];
        sum += (double)l * (double)r;
        size += fabs((double)l * (double)r);
        chain = fmaf(l, r, chain);
        if ((q + 1) % CHUNK == 0 || q + 1 == s->k) {
            chunks += chain;
            chain = 0;
        }
        if ((q + 1) % SPAN == 0 || q + 1 == s->k) {
            spans += chunks;
            chunks = 0;
        }
    }
    if (serial && memcmp(&spans, &got, sizeof got) != 0)
        failures++;
    if (!(fabs(sum - (double)got) <= 1e-6 * size))
        failures++;
}

/* Returns the result, which the caller frees. */
static float *check_product(struct context *c, const struct gemm_provider *p, const struct shape *s,
                            bool transpose_a, bool transpose_b)
{
    const size_t over_b = s->shared ? 1 : s->batch;
    struct operand a = operand_new(c, s->batch * s->m * s->k, 1),
                   b = operand_new(c, over_b * s->k * s->n, 2),
                   out = operand_new(c, s->batch * s->m * s->n, 3);
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
                            .c_stride = s->m * s->n };
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
        fprintf(stderr, "%s: %zu x %zu x %zu, batch %zu, transposed %d %d is wrong\n", p->name,
                s->m, s->n, s->k, s->batch, transpose_a, transpose_b);
    float *result = out.host;
    out.host = NULL;
    operand_free(&a);
    operand_free(&b);
    operand_free(&out);
    return result;
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

static void check_refused(struct context *c)
{
    const struct gemm g = { .m = 16, .n = 16, .k = 16, .batch = 1 };
    CHECK(gemm_tarn.run(c, &g, NULL) == TARN_ERR_ARGUMENT);
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
    const bool cpu = device.kind == DEVICE_CPU;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int t = 0; t < 4; t++) {
            const bool ta = (t & 1) != 0, tb = (t & 2) != 0;
            free(check_product(c, &gemm_clblast, &shapes[i], ta, tb));
            if (cpu)
                free(check_product(c, &gemm_tarn, &shapes[i], ta, tb));
        }
    if (cpu)
        check_part(c, &gemm_tarn);
    else
        check_refused(c);
    check_guess(c);
    CHECK(buffer_statistics(c).live == 0);
    context_close(c);
    printf("gemm: %d failures\n", failures);
    return failures > 0;
}
