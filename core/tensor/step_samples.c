/* SPDX-License-Identifier: Apache-2.0 */
/* How many rows are samples of this step, as far as that is known while it is recorded. */
#include "tensor/graph.h"

bool graph_is_part(const struct graph *g, int32_t rows)
{
    for (uint32_t i = 0; i < g->part_count; i++)
        if (g->parts[i].samples == rows)
            return true;
    return false;
}

bool graph_is_batch(const struct graph *g, int32_t rows)
{
    return graph_is_part(g, rows) || (rows > 0 && g->batch == rows);
}

bool graph_may_be_batch(const struct graph *g, int32_t rows)
{
    const bool known = g->part_count > 0 || g->batch > 0;
    return known ? graph_is_batch(g, rows) : rows > 0 && rows == g->given.rows;
}

void graph_note_given(struct graph *g, tarn_shape shape, tarn_dtype dtype)
{
    const int64_t bytes = tarn_shape_count(shape) * (int64_t)tarn_dtype_bytes(dtype);
    if (shape.rank == 0 || bytes <= g->given.bytes)
        return;
    g->given.bytes = bytes;
    g->given.rows = shape.dim[0];
}
