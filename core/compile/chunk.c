/* SPDX-License-Identifier: Apache-2.0 */
/* Where long sums are cut into chunks, so that no chain of additions is long: rounding errors grow
 * with the longest one, and a device with many units would wait for it. In: extents and roles of
 * axes. Out: axes, and how much of each is a chunk. It must not know the target, or what fusion
 * has done, since it orders the sum. */
#include "compile/chunk.h"

#include "compile/lane.h"
#include "tensor/sum_order.h"

int nest_shared_axis(const struct nest *n)
{
    const int lane = n->batched ? -1 : nest_lane(n);
    return lane >= n->out_axes ? lane : -1;
}

struct span nest_span(const struct nest *n, int axis, bool rest)
{
    const int32_t extent = n->extent[axis], whole = extent / LANES * LANES;
    if (axis != nest_shared_axis(n))
        return (struct span){ 0, extent };
    return rest ? (struct span){ whole, extent } : (struct span){ 0, whole };
}

static bool rounds(const struct nest *n)
{
    return n->combine != COMBINE_NONE && n->by->adds && dtype_is_float(n->acc_dtype) &&
           !n->by_sample;
}

struct chunks nest_chunks(const struct nest *n, bool rest)
{
    struct chunks c = { 0 };
    int64_t terms[NEST_AXES];
    int32_t unit[NEST_AXES]; /* elements of an axis for each term */
    for (int a = n->out_axes; a < n->axes; a++) {
        const struct span s = nest_span(n, a, rest);
        unit[a] = a == nest_shared_axis(n) && !rest ? LANES : 1;
        terms[a] = n->batched && a == n->batch_axis ? 1 : (s.to - s.from) / unit[a];
    }
    int64_t inside = n->phases > 0 ? n->phases : 1;
    for (int a = n->axes - 1; a >= n->out_axes && rounds(n) && c.levels < CHUNK_LEVELS;) {
        if (inside * terms[a] <= SUM_CHUNK) {
            inside *= terms[a--];
            continue;
        }
        /* Chunks are the terms of the next level. */
        const int64_t steps = SUM_CHUNK / inside;
        unit[a] *= (int32_t)steps;
        terms[a] = (terms[a] + steps - 1) / steps;
        inside = 1;
        c.of[c.levels].axis = a;
        c.of[c.levels++].step = unit[a];
    }
    return c;
}
