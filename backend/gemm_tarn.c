/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products by kernels/gemm.cl: for CPUs, where a group is a thread's loop and local memory
 * is its cache. Here is how the work is cut; the sums do not depend on it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"
#include "opencl.h"

#define DEPTH 384            /* a panel of 12 rows takes 18 KiB of the first cache */
#define MOST_COLS 512        /* of a block: 768 KiB of the second cache */
#define LEAST_PANELS 2       /* of b that a block must have room for */
#define CHUNK 128            /* terms of one chain: the order of core's sums, */
#define SPAN 16384           /* and chunks that are added up before they are added to others */
#define GROUP_WORK 1048576.0 /* multiply-adds worth a group of their own, */
#define UNIT_WORK 4194304.0  /* and so many of a unit worth two groups, which balance better */

struct gemm_tarn {
    struct built_program *program;
    struct kernel *kernel;
};

struct tiling {
    int width, rows, vectors, cols, block_cols;
};

/* 24 accumulators for 32 registers of 512 bits, else 12 for 16 registers. */
static struct tiling tiling_of(const struct device *d)
{
    struct tiling t = { .width = 4, .rows = 4, .vectors = 3 };
    if (d->native_float_width >= 16)
        t = (struct tiling){ .width = 16, .rows = 12, .vectors = 2 };
    else if (d->native_float_width >= 8)
        t.width = 8;
    t.cols = t.width * t.vectors;
    const size_t fits = d->local_bytes / 2 / (DEPTH * sizeof(float));
    t.block_cols = (int)(fits < MOST_COLS ? fits : MOST_COLS) / t.cols * t.cols;
    return t;
}

static bool possible(const struct device *d)
{
    const struct tiling t = tiling_of(d);
    return d->kind == DEVICE_CPU && t.block_cols >= LEAST_PANELS * t.cols;
}

static tarn_status build(struct context *c, struct gemm_tarn *g)
{
    const struct tiling t = tiling_of(&c->device);
    const size_t capacity = kernel_text_gemm_size + 256;
    char *source = malloc(capacity);
    if (source == NULL)
        return error_set(TARN_ERR_MEMORY, "gemm: out of host memory");
    snprintf(source, capacity,
             "#define WIDTH %d\n#define ROWS %d\n#define VECTORS %d\n#define DEPTH %d\n"
             "#define BLOCK_COLS %d\n#define CHUNK %d\n#define SPAN %d\n%s",
             t.width, t.rows, t.vectors, DEPTH, t.block_cols, CHUNK, SPAN,
             (const char *)kernel_text_gemm);
    tarn_status status = program_build(c, source, "gemm", &g->program);
    free(source);
    if (status == TARN_OK)
        status = kernel_new(g->program, "tarn_gemm", &g->kernel);
    return status;
}

void gemm_tarn_free(struct context *c)
{
    if (c->gemm == NULL)
        return;
    kernel_free(c->gemm->kernel);
    program_free(c->gemm->program);
    free(c->gemm);
    c->gemm = NULL;
}

static tarn_status need_kernel(struct context *c)
{
    if (c->gemm != NULL)
        return TARN_OK;
    if (!possible(&c->device))
        return error_set(TARN_ERR_ARGUMENT,
                         "TARN_GEMM=tarn: device \"%s\" is no CPU with 100 KiB of local memory; "
                         "use auto",
                         c->label);
    c->gemm = calloc(1, sizeof *c->gemm);
    if (c->gemm == NULL)
        return error_set(TARN_ERR_MEMORY, "gemm: out of host memory");
    const tarn_status status = build(c, c->gemm);
    if (status != TARN_OK)
        gemm_tarn_free(c);
    return status;
}

/* ---- cutting -------------------------------------------------------------------------------- */

struct blocks {
    size_t down, over; /* how many */
    size_t rows, cols; /* of one, but for the last */
};

static size_t divide_up(size_t a, size_t b)
{
    return (a + b - 1) / b;
}

/* Nearly square blocks, since they copy least, in whole tiles. */
static struct blocks cut(const struct context *c, const struct gemm *g)
{
    const struct tiling t = tiling_of(&c->device);
    const size_t rows = (size_t)t.rows, cols = (size_t)t.cols, units = c->device.compute_units;
    const double work = (double)g->m * (double)g->n * (double)g->k * (double)g->batch;
    struct blocks b = { 1, divide_up(g->n, (size_t)t.block_cols), 0, 0 };
    double wanted = work / GROUP_WORK;
    const double most = (double)units * (work >= (double)units * UNIT_WORK ? 2 : 1);
    wanted = wanted < most ? wanted : most;
    while ((double)(b.down * b.over * g->batch) < wanted) {
        if (g->m * b.over >= g->n * b.down && g->m >= 2 * b.down * rows)
            b.down++;
        else if (g->n >= 2 * b.over * cols)
            b.over++;
        else
            break;
    }
    b.rows = divide_up(divide_up(g->m, b.down), rows) * rows;
    b.cols = divide_up(divide_up(g->n, b.over), cols) * cols;
    b.down = divide_up(g->m, b.rows);
    b.over = divide_up(g->n, b.cols);
    return b;
}

static struct kernel_arg wide(size_t value)
{
    struct kernel_arg a = { .size = sizeof(uint64_t) };
    a.value.u64 = value;
    return a;
}

static struct kernel_arg narrow(size_t value)
{
    struct kernel_arg a = { .size = sizeof(int32_t) };
    a.value.i32 = (int32_t)value;
    return a;
}

static tarn_status launch(struct context *c, const struct gemm *g, struct buffer *low)
{
    const struct blocks b = cut(c, g);
    const struct kernel_arg args[] = {
        { .buffer = g->a }, { .buffer = g->b },
        { .buffer = g->c }, { .buffer = low },
        wide(g->a_offset),  wide(g->b_offset),
        wide(g->c_offset),  wide(g->a_stride),
        wide(g->b_stride),  wide(g->c_stride),
        narrow(g->m),       narrow(g->n),
        narrow(g->k),       narrow((g->transpose_a ? 1u : 0u) + (g->transpose_b ? 2u : 0u)),
        narrow(b.rows),     narrow(b.cols),
    };
    return kernel_launch(c->gemm->kernel, args, sizeof args / sizeof *args,
                         b.down * b.over * g->batch, 1);
}

static tarn_status run_tarn(struct context *c, const struct gemm *g, void *user)
{
    (void)user;
    if (g->m == 0 || g->n == 0 || g->batch == 0)
        return TARN_OK;
    if (g->k == 0)
        return gemm_nothing(g);
    TRY(need_kernel(c));
    if (g->k <= SPAN)
        return launch(c, g, g->c);
    struct buffer *low;
    TRY(buffer_new(c, g->batch * g->m * g->n * sizeof(float), &low));
    const tarn_status status = launch(c, g, low);
    buffer_free(low); /* the pool gives it to later commands of the queue only */
    return status;
}

bool gemm_tarn_possible(const struct context *c)
{
    return possible(&c->device);
}

const struct gemm_provider gemm_tarn = { .name = "tarn", .run = run_tarn, .serial = true };
