/* SPDX-License-Identifier: Apache-2.0 */
/* What a product of samples' rows costs as a nest in a chain, next to a launch of its own. A nest loses time in its
 * tiles, since it copies nothing into panels; a launch of its own takes the time of a kernel more, and sends what the
 * chain passes on through memory. In: a target and a shape. Out: which of them is the cheaper one. Measures nothing:
 * alone, neither is what it is between other nests. */
#include "compile/target.h"

#include <math.h>

#include "compile/affine.h"
#include "tensor/sum_order.h"

#define MOST_REGISTERS 32 /* of which a tile makes use, as in backend/gemm_blocks.c */
#define PANEL_SHARE \
    8               /* of the first cache, which a panel of one tile's rows fills: one of so many */
#define UNASKED 1.5 /* times what a line takes, for one of a column: measured 1 to 2, */
#define UNASKED_PAGE 4       /* and 3 to 7 where each is in a page of its own */
#define PAGE_BYTES 4096      /* within which a core asks ahead */
#define NEAR_BYTES 8388608.0 /* whose pages a core finds at once, and a third cache may hold */
#define WORTHWHILE 0.9       /* of the time in its block that a product must take to leave it */
#define SECOND_WAYS 16       /* as target.c counts the second cache's sets */

/* Cycles of a unit for a multiply-add of 16 lanes in a tile of so many rows and vectors. */
static double tile_cycles(const struct vector_figures *v, double rows, double vectors)
{
    const double ports = v->port_cycles * (rows + vectors * v->width) / (rows * vectors);
    return ports > v->cycles_per_term ? ports : v->cycles_per_term;
}

/* The tile of kernels/gemm.cl, as backend/gemm_blocks.c has it: a quarter of the registers is for operands, and
 * the squarer a tile, the fewer loads it needs. */
struct panel_tile {
    double rows, vectors; /* of 16 lanes */
};

static struct panel_tile panel_tile(const struct vector_figures *v)
{
    const int sums = (v->registers < MOST_REGISTERS ? v->registers : MOST_REGISTERS) * 3 / 4;
    int vectors = 1;
    while ((vectors + 1) * (vectors + 1) <= sums)
        vectors++;
    return (struct panel_tile){ sums / vectors, (double)vectors / v->width };
}

/* Cycles for 64 bytes that are read or written in the second cache; */
static double near_cycles(const struct target *t)
{
    return t->vector.line_cycles + t->vector.port_cycles * t->vector.width;
}

/* that go from there into a panel, which stays there; */
static double panel_cycles(const struct target *t, bool far)
{
    return near_cycles(t) + (far ? t->time.read_cycles : near_cycles(t));
}

/* or that are read and written again, as sums are that go on. */
static double copy_cycles(const struct target *t, bool far)
{
    return far ? t->time.read_cycles + t->time.write_cycles : 2 * near_cycles(t);
}

/* Beside the multiply-adds, panels of b come from the second cache, once for each tile of rows. What does not fit there
 * is done in several blocks of columns, for each of which a is copied; units share the columns, too, where rows are few;
 * units that are below each other copy the same of b; and c, which may stay in their caches, goes through the registers
 * once for each panel's depth. Where rows are turned into columns, log2(16) exchanges of two registers' halves do it. */
double product_cycles(const struct target *t, const struct product_shape *s)
{
    const struct vector_figures *v = &t->vector;
    const struct panel_tile tile = panel_tile(v);
    const double m = (double)s->m, n = (double)s->n, k = (double)s->k,
                 units = v->units > 1 ? v->units : 1;
    const double depth = fmax(1, v->cache_bytes / PANEL_SHARE / sizeof(float) / tile.rows);
    const double down = fmin(units, fmax(1, sqrt(units * m / n)));
    const double over =
        fmax(units / down, ceil(n * fmin(k, depth) * sizeof(float) / v->second_cache_bytes));
    const double room = units * v->second_cache_bytes;
    const bool far = (m * k + k * n + m * n) * (double)s->batch * sizeof(float) > room;
    const double term = tile_cycles(v, tile.rows, tile.vectors) + v->line_cycles / tile.rows;
    const double turning = 2 * log2(LANES) * v->width, whole = ceil(m / tile.rows) * tile.rows / m;
    const bool c_stays = m * n * sizeof(float) <= room;
    const double passes = m * n * (ceil(k / depth) - 1) * copy_cycles(t, !c_stays);
    const double copied = m * k * over * (panel_cycles(t, far) + (s->transpose_a ? turning : 0)) +
                          k * n * down * (panel_cycles(t, far) + (s->transpose_b ? turning : 0)) +
                          m * n * copy_cycles(t, far) + passes;
    return product_work(s) / LANES * whole * term + copied * (double)s->batch / LANES;
}

/* Rows of a nest's tile, as many as it has at most. */
static int tile_rows(const struct vector_figures *v)
{
    return v->accumulators < LANES ? v->accumulators : LANES;
}

bool target_packs(const struct vector_figures *v, int64_t steps, int64_t rows)
{
    return steps <= TARGET_PACKED_STEPS && rows >= TARGET_PACKED_TILES * (int64_t)tile_rows(v);
}

/* Cycles that all units together wait for the right operand of a nest, and for the left one, if each tile of rows reads
 * the whole right operand; */
static double waits_for_tiles(const struct target *t, const struct product_shape *s, double rows)
{
    const struct vector_figures *v = &t->vector;
    const double bytes = (double)s->k * (double)s->n * sizeof(float);
    const double line = bytes <= v->second_cache_bytes ? v->line_cycles : v->second_line_cycles;
    return product_work(s) / LANES * line / rows;
}

/* or if all rows of a group are done with a register of columns after the other, for each of which it reads the rows
 * again. Whole registers lie in strips (2_nests/strips.c); others each group copies for itself. A matrix that is to be
 * turned over was so once for all of them (1_graph/products.c). */
static double waits_for_panels(const struct target *t, const struct product_shape *s)
{
    const struct vector_figures *v = &t->vector;
    const double group = (double)s->sample_rows, k = (double)s->k;
    const double copied = s->n % LANES == 0 ? 0 : k * (double)s->n / LANES * copy_cycles(t, false);
    const double bytes = (group + LANES) * k * sizeof(float);
    const double line = bytes <= v->cache_bytes          ? 0
                        : bytes <= v->second_cache_bytes ? v->line_cycles
                                                         : v->second_line_cycles;
    return (double)s->m / group * copied + product_work(s) / LANES * line / LANES;
}

/* Cycles that all units together lose with a nest. */
static double lost_in_tiles(const struct target *t, const struct product_shape *s)
{
    const struct vector_figures *v = &t->vector;
    const double rows = tile_rows(v);
    const struct panel_tile panel = panel_tile(v);
    const bool packed = target_packs(v, (int64_t)s->k, (int64_t)s->sample_rows);
    return product_work(s) / LANES *
               (tile_cycles(v, rows, 1) - tile_cycles(v, panel.rows, panel.vectors)) +
           (packed ? waits_for_panels(t, s) : waits_for_tiles(t, s, rows));
}

/* Cycles that all units together gain with it: what a group has in its second cache is neither written nor read again. */
static double gained_in_chain(const struct target *t, const struct product_shape *s)
{
    const struct vector_figures *v = &t->vector;
    const double passed = (double)s->sample_rows * (double)(s->k + s->n) * sizeof(float);
    const double lines = (double)s->m * (double)(s->k + s->n) / LANES;
    const double kept = passed <= v->second_cache_bytes ? lines * copy_cycles(t, true) : 0;
    return kept + t->fusion.tiny_work * (v->units > 1 ? v->units : 1);
}

double product_copies(const struct target *t, int64_t steps, int64_t columns, int groups)
{
    const double units = t->vector.units > 1 ? t->vector.units : 1;
    const double registers = (double)steps * (double)columns / LANES;
    return registers * copy_cycles(t, false) * (ceil(groups / units) - 1 / units);
}

bool product_joins_chain(const struct target *t, const struct product_shape *s)
{
    return !t->items && t->fuse && s->sample_rows > 0 &&
           lost_in_tiles(t, s) < gained_in_chain(t, s);
}

/* Whether a column of lines, `pitch` bytes apart, stays in a cache while other columns of the same lines are read. Lines
 * that lie a multiple of all sets apart share one. */
static bool column_stays(double lines, size_t pitch, int sets, int ways)
{
    const int64_t common = common_divisor((int64_t)pitch, (int64_t)sets * 64);
    const double distinct = fmin(sets, sets * 64.0 / (double)common);
    return lines <= distinct * ways;
}

/* Cycles that a block of samples, as lanes, waits for the right operand, of which it reads single elements: along its
 * rows, which a core asks for ahead, so that they come as fast as memory gives them to all units at once; or a few columns
 * after the other, so that each line is touched several times. No core asks ahead for the lines of a column that the second
 * cache does not hold either; beyond what is near, each takes its latency, however fast a stream is. */
static double waits_in_block(const struct target *t, const struct product_shape *s)
{
    const struct vector_figures *v = &t->vector;
    const double k = (double)s->k, bytes = k * (double)s->n * sizeof(float), lines = bytes / 64;
    const bool far = bytes > v->second_cache_bytes;
    const double line = far ? v->second_line_cycles : v->line_cycles;
    const size_t pitch = s->n * sizeof(float);
    const double again = fmax(1, LANES / tile_rows(v)) - 1;
    const double unasked = far && pitch > PAGE_BYTES ? UNASKED_PAGE : UNASKED;
    const double alone = fmax(unasked * line, bytes > NEAR_BYTES ? v->pushed_cycles : 0);
    if (s->transpose_b)
        return lines * (far ? t->time.read_cycles : line);
    if (column_stays(k, pitch, v->sets, v->ways))
        return lines * line;
    if (column_stays(k, pitch, v->second_sets, SECOND_WAYS))
        return lines * ((far ? alone : line) + again * UNASKED * v->line_cycles);
    return lines * (alone + again * unasked * v->second_line_cycles);
}

/* Blocks are dealt to the units; panels are cut for as many as there are. What leaves its block is turned over on the way
 * there, unless it lies in rows as yet, and then would be for its block; and on the way back. */
bool product_leaves_blocks(const struct target *t, const struct product_shape *s, bool in_rows)
{
    const struct vector_figures *v = &t->vector;
    const double units = v->units > 1 ? v->units : 1, blocks = ceil((double)s->m / LANES);
    const double idle = ceil(blocks / units) * units / blocks;
    const double term = tile_cycles(v, tile_rows(v), 1);
    const double turn = (double)s->m / LANES * copy_cycles(t, true);
    const double inside =
        blocks * idle * ((double)s->n * (double)s->k * term + waits_in_block(t, s)) +
        (in_rows ? turn * (double)s->k : 0);
    const double turned = turn * (double)(in_rows ? s->n : s->k + s->n);
    const double outside = product_cycles(t, s) + turned + 2 * t->fusion.tiny_work * units;
    return !t->items && t->fuse && outside < WORTHWHILE * inside;
}
