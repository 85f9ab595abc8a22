/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products, square and as a linear layer has them, by each provider. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Smaller products, and those that run over the batch, are always Tarn's own kernels
 * (core/compile/2_nests/product.c). */
#define LEAST_PRODUCT 2097152.0
#define MOST_SLOW 512 /* rows up to which CLBlast is worth waiting for on a CPU */

struct product {
    const char *name;
    int m, k, n;
    bool transpose[2], samples[2];
};

static tarn_tensor record(const tarn_tensor *in, const void *arg)
{
    const struct product *p = arg;
    tarn_tensor x[2] = { in[0], in[1] };
    for (int i = 0; i < 2; i++)
        if (p->transpose[i])
            x[i] = tarn_transpose(x[i], 0, 1);
    return tarn_matmul(x[0], x[1]);
}

static void one(struct bench *b, const struct product *p, const char *provider)
{
    const double m = p->m, k = p->k, n = p->n, flops = 2 * m * k * n;
    struct item *i = item_new(b, "GFLOP/s", flops, 4 * (m * k + k * n + m * n),
                              "gemm/%dx%dx%d%s %s", p->m, p->k, p->n, p->name, provider);
    if (i == NULL)
        return;
    struct operation o = {
        .samples = { p->samples[0], p->samples[1] }, .inputs = 2, .record = record, .arg = p
    };
    /* A training step has many small products, and one step mark. The driver compiles each. */
    o.times = flops < 2 * LEAST_PRODUCT ? (b->quick ? 2 : MOST_TIMES) : 1;
    o.in[0] = p->transpose[0] ? TARN_SHAPE(p->k, p->m) : TARN_SHAPE(p->m, p->k);
    o.in[1] = p->transpose[1] ? TARN_SHAPE(p->n, p->k) : TARN_SHAPE(p->k, p->n);
    if (setenv("TARN_GEMM", provider, 1) != 0)
        item_fail(b, i, "out of host memory for a variable of the environment");
    else
        operation_run(b, i, &o, 1e-9 * flops);
}

/* A provider that the user chose is the only one. */
static void each_provider(struct bench *b, const struct product *p, const char *user)
{
    const bool all = strcmp(user, "auto") == 0 && !b->quick && !p->samples[0];
    one(b, p, user);
    if (all && (double)p->m * p->k * p->n >= LEAST_PRODUCT) {
        one(b, p, "nest");
        if (b->device->kind == DEVICE_CPU)
            one(b, p, "tarn");
        if (b->device->kind != DEVICE_CPU || p->m <= MOST_SLOW)
            one(b, p, "clblast");
    }
}

void gemm_run(struct bench *b)
{
    static const int sizes[] = { 128, 256, 512, 1024, 2048 };
    static const int layers[][3] = { { 128, 784, 128 }, { 128, 320, 50 }, { 128, 50, 10 } };
    char user[64];
    const char *set = getenv("TARN_GEMM");
    snprintf(user, sizeof user, "%s", set != NULL && *set != '\0' ? set : "auto");
    for (int i = 0; i < (b->quick ? 2 : 5); i++)
        each_provider(
            b, &(struct product){ .name = "", .m = sizes[i], .k = sizes[i], .n = sizes[i] }, user);
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        const int batch = layers[i][0], in = layers[i][1], out = layers[i][2];
        const struct product parts[] = {
            { " forward", batch, in, out, { false, true }, { true, false } },
            { " input gradient", batch, out, in, { false, false }, { true, false } },
            { " weight gradient", out, batch, in, { true, false }, { true, true } },
        };
        for (int k = 0; k < 3; k++)
            each_provider(b, &parts[k], user);
    }
    (void)setenv("TARN_GEMM", user, 1);
}
