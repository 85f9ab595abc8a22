/* SPDX-License-Identifier: Apache-2.0 */
/* What a product of samples' rows costs as a nest in a chain, next to a launch of its own. A nest loses time in its
 * tiles, since it copies nothing into panels; a launch of its own takes the time of a kernel more, and sends what the
 * chain passes on through memory. In: a target and a shape. Out: which of them is the cheaper one. Measures nothing:
 * alone, neither is what it is between other nests. */
#include "compile/target.h"

#include "tensor/sum_order.h"

#define PANEL_ROWS 12 /* of the usual tile of kernels/gemm.cl, */
#define PANEL_VECTORS 2

/* Cycles of a unit for a multiply-add of 16 lanes in a tile of so many rows and vectors. */
static double panel_cycles(const struct vector_figures *v, double rows, double vectors)
{
    const double ports = v->port_cycles * (rows + vectors * v->width) / (rows * vectors);
    return ports > v->cycles_per_term ? ports : v->cycles_per_term;
}

double product_cycles(const struct target *t, const struct product_shape *s)
{
    return product_work(s) / LANES * panel_cycles(&t->vector, PANEL_ROWS, PANEL_VECTORS);
}

/* Cycles that all units together lose with a nest: each tile of rows reads the whole right operand. */
static double lost_in_tiles(const struct target *t, const struct product_shape *s)
{
    const struct vector_figures *v = &t->vector;
    const double rows = v->accumulators < LANES ? v->accumulators : LANES;
    const double bytes = (double)s->k * (double)s->n * sizeof(float);
    const double line = bytes <= v->second_cache_bytes ? v->line_cycles : v->second_line_cycles;
    return product_work(s) / LANES *
           (panel_cycles(v, rows, 1) - panel_cycles(v, PANEL_ROWS, PANEL_VECTORS) + line / rows);
}

/* Cycles that all units together gain with it. */
static double gained_in_chain(const struct target *t, const struct product_shape *s)
{
    const struct vector_figures *v = &t->vector;
    const double passed = (double)s->sample_rows * (double)(s->k + s->n) * sizeof(float);
    const double lines = (double)s->m * (double)(s->k + s->n) / LANES;
    const double kept = passed <= v->second_cache_bytes ? lines * v->second_line_cycles : 0;
    return kept + t->fusion.tiny_work * (v->units > 1 ? v->units : 1);
}

bool product_joins_chain(const struct target *t, const struct product_shape *s)
{
    return !t->items && t->fuse && s->sample_rows > 0 &&
           lost_in_tiles(t, s) < gained_in_chain(t, s);
}
