/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles, panels and groups of matrix products, from figures of a device. */
#include "gemm_blocks.h"

#define MOST_REGISTERS 32    /* of which a tile makes use */
#define STRIP_TILES 4        /* whose rows of a are copied at once, as the kernel's STRIP says */
#define LEAST_PANELS 4       /* of b that a block has, or a is copied too often */
#define MOST_DEPTH 1024      /* beyond, c is passed through seldom enough */
#define MOST_COLUMNS 16384   /* likewise for a */
#define GROUP_WORK 1048576.0 /* multiply-adds worth a group of their own */
#define MOST_ROUNDS 4        /* in which all units take a block, if the panels allow it */
#define LATE 0.25            /* of a block, by which a unit may be late that is not alone */
#define COPY_CYCLES 1.0      /* to copy an element into a panel */
#define FMAS 2               /* of vectors in a cycle */

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

/* Multiply-adds that take as long as a block of c: those of its tiles, and what copying its rows of a and
 * its columns of b costs. */
static double block_work(const struct gemm_blocks *b, const struct gemm_cut *c, size_t k)
{
    const double rows = (double)c->rows, cols = (double)c->cols;
    return (double)k * (rows * cols + COPY_CYCLES * FMAS * b->lanes * (rows + cols));
}

static struct gemm_cut whole_tiles(const struct gemm_blocks *b, size_t m, size_t n, size_t down,
                                   size_t over)
{
    const size_t rows = (size_t)b->rows, cols = (size_t)tile_columns(b);
    struct gemm_cut c = { .rows = divide_up(divide_up(m, down), rows) * rows,
                          .cols = divide_up(divide_up(n, over), cols) * cols };
    c.down = divide_up(m, c.rows);
    c.over = divide_up(n, c.cols);
    return c;
}

/* The unit with most blocks is the last to end. Tried are, for each number of blocks across, few down, and
 * as many as fill a round of all units more, and one more again. */
struct gemm_cut gemm_cut(const struct gemm_blocks *b, const struct gemm_form *form, size_t units,
                         const size_t size[3], size_t batch)
{
    const size_t m = size[0], n = size[1], most_down = divide_up(m, (size_t)b->rows),
                 most_over = divide_up(n, (size_t)tile_columns(b)),
                 least_over = divide_up(n, (size_t)b->columns);
    const double work = (double)m * (double)n * (double)size[2] * (double)batch;
    const double worth = work / GROUP_WORK, late = form->coarse ? 0 : LATE;
    struct gemm_cut best = whole_tiles(b, m, n, 1, least_over);
    double least = 0;
    for (size_t over = least_over; over <= most_over; over++) {
        const size_t across = over * batch, first = divide_up(across, units);
        if (over > least_over && ((double)across > worth || first > MOST_ROUNDS))
            break;
        for (size_t i = 0; i < 2 * MOST_ROUNDS; i++) {
            const size_t down =
                i < MOST_ROUNDS ? 1 + i : (first + i - MOST_ROUNDS) * units / across;
            if (down == 0 || down > most_down || (down > 1 && (double)(down * across) > worth))
                continue;
            const struct gemm_cut c = whole_tiles(b, m, n, down, over);
            const size_t rounds = divide_up(c.down * c.over * batch, units);
            const double time = ((double)rounds + late) * block_work(b, &c, size[2]);
            if (least == 0 || time < least) {
                least = time;
                best = c;
            }
        }
    }
    return best;
}
