/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products by kernels/gemm.cl: for CPUs, where a group is a thread's loop and local memory
 * is its cache. gemm_blocks.c cuts the work; the sums do not depend on it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gemm_blocks.h"
#include "kernels.h"
#include "opencl.h"

static struct gemm_form usual, deep = { .deep = true }, coarse = { .coarse = true };

/* The kernel of a form, made when it was needed first. */
struct gemm_tarn {
    const struct gemm_form *form;
    bool a_across; /* k: a is transposed */
    enum gemm_words a_words, b_words;
    struct gemm_blocks blocks;
    struct built_program *program;
    struct kernel *kernel;
    struct gemm_tarn *next;
};

static bool possible(const struct device *d, const struct gemm_form *form, struct gemm_blocks *out)
{
    struct device_figures f = form->figures != NULL ? *form->figures : figures_of(d);
    /* The figures may be another device's (TARN_TARGET). Tiles of vectors twice as wide as the registers that there
     * are end the process in PoCL's compiler. */
    if (f.lanes > (int)d->native_float_width)
        f.lanes = (int)d->native_float_width;
    return d->kind == DEVICE_CPU && d->native_float_width > 1 &&
           gemm_blocks(&f, d->local_bytes, form, out);
}

static tarn_status build(struct context *c, struct gemm_tarn *g)
{
    const struct gemm_blocks *b = &g->blocks;
    const bool half = g->a_words != GEMM_FLOAT32 || g->b_words != GEMM_FLOAT32;
    const size_t capacity =
        kernel_text_prelude_size + kernel_text_half_size + kernel_text_gemm_size + 256;
    char *source = malloc(capacity);
    if (source == NULL)
        return error_set(TARN_ERR_MEMORY, "gemm: out of host memory");
    snprintf(source, capacity,
             "#define WIDTH %d\n#define ROWS %d\n#define VECTORS %d\n#define DEPTH %d\n"
             "#define BLOCK_COLS %d\n#define CHUNK %d\n#define A_ACROSS %d\n#define A_WORDS %d\n"
             "#define B_WORDS %d\n%s%s%s",
             b->lanes, b->rows, b->vectors, b->depth, b->columns, GEMM_CHUNK, g->a_across,
             (int)g->a_words, (int)g->b_words, half ? (const char *)kernel_text_prelude : "",
             half ? (const char *)kernel_text_half : "", (const char *)kernel_text_gemm);
    tarn_status status = program_build(c, source, "gemm", &g->program);
    free(source);
    if (status == TARN_OK)
        status = kernel_new(g->program, "tarn_gemm", &g->kernel);
    return status;
}

static void free_one(struct gemm_tarn *g)
{
    kernel_free(g->kernel);
    program_free(g->program);
    free(g);
}

void gemm_tarn_free(struct context *c)
{
    while (c->gemm != NULL) {
        struct gemm_tarn *next = c->gemm->next;
        free_one(c->gemm);
        c->gemm = next;
    }
}

static tarn_status need_kernel(struct context *c, const struct gemm_form *form,
                               const struct gemm *what, struct gemm_tarn **out)
{
    struct gemm_blocks blocks;
    for (*out = c->gemm; *out != NULL; *out = (*out)->next)
        if ((*out)->form == form && (*out)->a_across == what->transpose_a &&
            (*out)->a_words == what->a_words && (*out)->b_words == what->b_words)
            return TARN_OK;
    if (!possible(&c->device, form, &blocks))
        return error_set(
            TARN_ERR_ARGUMENT,
            "TARN_GEMM=tarn: device \"%s\" is no CPU with vectors and local memory for panels; "
            "use auto",
            c->label);
    struct gemm_tarn *g = calloc(1, sizeof *g);
    if (g == NULL)
        return error_set(TARN_ERR_MEMORY, "gemm: out of host memory");
    g->form = form;
    g->a_across = what->transpose_a;
    g->a_words = what->a_words;
    g->b_words = what->b_words;
    g->blocks = blocks;
    const tarn_status status = build(c, g);
    if (status != TARN_OK) {
        free_one(g);
        return status;
    }
    g->next = c->gemm;
    c->gemm = *out = g;
    return TARN_OK;
}

/* ---- launching ------------------------------------------------------------------------------- */

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

/* Sums of chunks, of those, ... that are not c itself. */
static size_t levels_of(size_t k)
{
    size_t levels = 0;
    for (size_t span = (size_t)GEMM_CHUNK * GEMM_CHUNK; k > span; span *= GEMM_CHUNK)
        levels++;
    return levels;
}

static tarn_status launch(struct context *c, const struct gemm_tarn *t, const struct gemm *g,
                          struct buffer *low, size_t levels)
{
    const size_t size[3] = { g->m, g->n, g->k };
    const struct gemm_cut cut =
        gemm_cut(&t->blocks, t->form, c->device.compute_units, size, g->batch);
    const struct kernel_arg args[] = {
        { .buffer = g->a }, { .buffer = g->b },
        { .buffer = g->c }, { .buffer = low },
        wide(g->a_offset),  wide(g->b_offset),
        wide(g->c_offset),  wide(g->a_stride),
        wide(g->b_stride),  wide(g->c_stride),
        narrow(g->m),       narrow(g->n),
        narrow(g->k),       narrow(g->transpose_b ? 1 : 0),
        narrow(cut.rows),   narrow(cut.cols),
        narrow(levels),
    };
    return kernel_launch(t->kernel, args, sizeof args / sizeof *args,
                         cut.down * cut.over * g->batch, 1);
}

static tarn_status run_tarn(struct context *c, const struct gemm *g, void *user)
{
    if (g->m == 0 || g->n == 0 || g->batch == 0)
        return TARN_OK;
    if (g->k == 0)
        return gemm_nothing(g);
    struct gemm_tarn *t;
    TRY(need_kernel(c, user, g, &t));
    const size_t levels = levels_of(g->k);
    if (levels == 0)
        return launch(c, t, g, g->c, 0);
    struct buffer *low;
    TRY(buffer_new(c, levels * g->batch * g->m * g->n * sizeof(float), &low));
    const tarn_status status = launch(c, t, g, low, levels);
    buffer_free(low); /* the pool gives it to later commands of the queue only */
    return status;
}

bool gemm_tarn_possible(const struct context *c)
{
    struct gemm_blocks blocks;
    return possible(&c->device, &usual, &blocks);
}

const struct gemm_provider gemm_tarn = {
    .name = "tarn", .run = run_tarn, .user = &usual, .serial = true
};
const struct gemm_provider gemm_tarn_deep = {
    .name = "tarn deep", .run = run_tarn, .user = &deep, .serial = true
};
const struct gemm_provider gemm_tarn_coarse = {
    .name = "tarn coarse", .run = run_tarn, .user = &coarse, .serial = true
};
