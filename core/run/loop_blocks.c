/* SPDX-License-Identifier: Apache-2.0 */
/* What a loop keeps of its steps for its gradient alone lies as both compute with it: in blocks, in which samples are
 * the lanes of vectors. In rows the loop would turn each value over to store it, and its gradient once more to read it.
 * In: a scan. Out: which results and slices lie so. The program of the body says it by views of what lies in memory
 * (loop_program.c), so it is right for a body without lanes, too. */
#include <string.h>

#include "run/loop.h"
#include "tensor/sum_order.h"

/* Lanes that would idle are not stored, and parts of a mesh or of virtual shards are not known here. */
static bool may_lie_in_blocks(const tarn_replica *r, const struct node *n)
{
    return replica_mesh(r) == NULL && (r->peers == NULL || r->peers->shards == 0) &&
           n->shape.rank >= 2 && n->shape.dim[0] % LANES == 0 &&
           tarn_shape_count(n->shape) > n->shape.dim[0] &&
           graph_is_batch(&r->graph, n->shape.dim[0]);
}

struct scan_bits loop_blocked_results(const tarn_replica *r, const struct scan *s)
{
    struct scan_bits bits = { { 0 } };
    for (uint32_t k = s->results - s->kept; k < s->results; k++)
        if (loop_result_slot(s, k) >= 0 && may_lie_in_blocks(r, &r->graph.nodes[s->result[k]]))
            scan_set_bit(&bits, k);
    return bits;
}

static const struct scan *scan_that_made(const struct graph *g, uint32_t node)
{
    for (uint32_t i = 0; i < g->scan_count; i++)
        if (g->scans[i].node == node)
            return &g->scans[i];
    return NULL;
}

struct scan_bits loop_blocked_slots(const tarn_replica *r, const struct scan *s)
{
    const struct graph *g = &r->graph;
    struct scan_bits bits = { { 0 } };
    for (uint32_t slot = s->carries; slot < s->carries + s->slices; slot++) {
        const uint32_t node = g->operands[graph_origin(g, s->node)->first_in + slot];
        const struct scan *of = scan_that_made(g, node);
        for (uint32_t k = 0; of != NULL && k < of->results; k++)
            if (scan_bit(&of->blocked, k) && of->place[k] == s->offset[slot])
                scan_set_bit(&bits, slot);
    }
    return bits;
}

tarn_shape loop_blocked_shape(tarn_shape plain)
{
    return TARN_SHAPE(plain.dim[0] / LANES, (int32_t)(tarn_shape_count(plain) / plain.dim[0]),
                      LANES);
}

void loop_rows_of_blocks(tarn_shape plain, size_t bytes, const char *blocks, char *out)
{
    const size_t samples = (size_t)plain.dim[0], row = (size_t)tarn_shape_count(plain) / samples;
    for (size_t n = 0; n < samples; n++)
        for (size_t i = 0; i < row; i++, out += bytes)
            memcpy(out, blocks + ((n / LANES * row + i) * LANES + n % LANES) * bytes, bytes);
}
