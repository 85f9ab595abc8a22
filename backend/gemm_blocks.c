/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles, panels and groups of matrix products, from figures of a device. */
#include "gemm_blocks.h"

#define MOST_REGISTERS 32    /* of which a tile makes use */
#define STRIP_TILES 4        /* whose rows of a are copied at once, as the kernel's STRIP says */
#define LEAST_PANELS 4       /* of b that a block has, or a is copied too often */
#define MOST_DEPTH 1024      /* beyond, c is passed through seldom enough */
#define MOST_COLUMNS 16384   /* likewise for a */
#define GROUP_WORK 1048576.0 /* multiply-adds worth a group of their own, */
#define UNIT_WORK 4194304.0  /* and so many of a unit worth two groups, which balance better */

static int at_most(int a, int b)
{
    return a < b ? a : b;
}

static int tile_columns(const struct gemm_blocks *b)
{
    return b->vectors * b->lanes;
}

/* Of local memory, as the kernel declares it. */
static size_t local_need(const struct gemm_blocks *b)
{
    const int cols = tile_columns(b);
    return sizeof(float) *
           (size_t)(b->columns / cols * (cols * b->depth + 32) +
                    STRIP_TILES * b->rows * (b->depth + 16) + b->rows * cols + 3 * 32);
}

/* The panels of b that fill half of the second cache. */
static int kept_columns(const struct gemm_blocks *b, const struct device_figures *f)
{
    const size_t fit = f->l2_bytes / 2 / sizeof(float) / (size_t)b->depth;
    const int cols = tile_columns(b);
    return (int)(fit < MOST_COLUMNS ? fit : MOST_COLUMNS) / cols * cols;
}

bool gemm_blocks(const struct device_figures *f, size_t local_bytes, const struct gemm_form *form,
                 struct gemm_blocks *out)
{
    struct gemm_blocks b = { .lanes = f->lanes >= 16 ? 16 : f->lanes >= 8 ? 8 : 4 };
    /* A quarter of the registers is for operands; the squarer a tile, the fewer loads it needs. */
    const int sums = at_most(f->registers, MOST_REGISTERS) * 3 / 4;
    for (b.vectors = 1; (b.vectors + 1) * (b.vectors + 1) <= sums;)
        b.vectors++;
    b.rows = sums / b.vectors;
    const int cols = tile_columns(&b), least = LEAST_PANELS * cols;
    /* A panel of a stays in the first cache while one of b after the other passes through it. */
    const size_t deep = f->l1_bytes / 8 / sizeof(float) / (size_t)b.rows;
    b.depth = (int)(deep < MOST_DEPTH ? deep : MOST_DEPTH) / GEMM_CHUNK * GEMM_CHUNK;
    b.depth = (b.depth > GEMM_CHUNK ? b.depth : GEMM_CHUNK) * (form->deep ? 2 : 1);
    while (b.depth > GEMM_CHUNK && kept_columns(&b, f) < least)
        b.depth -= GEMM_CHUNK;
    b.columns = kept_columns(&b, f);
    b.columns = b.columns > least ? b.columns : least;
    while (b.columns > 0 && local_need(&b) > local_bytes)
        b.columns -= cols;
    *out = b;
    return b.columns > 0;
}

static size_t divide_up(size_t a, size_t b)
{
    return (a + b - 1) / b;
}

/* Nearly square blocks, since they copy least, in whole tiles. */
struct gemm_cut gemm_cut(const struct gemm_blocks *b, const struct gemm_form *form, size_t units,
                         const size_t size[3], size_t batch)
{
    const size_t m = size[0], n = size[1], rows = (size_t)b->rows, cols = (size_t)tile_columns(b);
    const double work = (double)m * (double)n * (double)size[2] * (double)batch;
    const double each = !form->coarse && work >= (double)units * UNIT_WORK ? 2 : 1;
    const double most = (double)units * each;
    const double wanted = work / GROUP_WORK < most ? work / GROUP_WORK : most;
    struct gemm_cut c = { .down = 1, .over = divide_up(n, (size_t)b->columns) };
    while ((double)(c.down * c.over * batch) < wanted) {
        if (m * c.over >= n * c.down && m >= 2 * c.down * rows)
            c.down++;
        else if (n >= 2 * c.over * cols)
            c.over++;
        else if (m >= 2 * c.down * rows)
            c.down++;
        else
            break;
    }
    c.rows = divide_up(divide_up(m, c.down), rows) * rows;
    c.cols = divide_up(divide_up(n, c.over), cols) * cols;
    c.down = divide_up(m, c.rows);
    c.over = divide_up(n, c.cols);
    return c;
}
