/* SPDX-License-Identifier: Apache-2.0 */
/* Products of few rows. A register of lanes is one accumulator, and each multiply-add waits for the one before it: so
 * there must be several. Where the other axes of the result are too short for that, the axis of the lanes becomes two, of
 * registers and of lanes in one, and the schedule unrolls the first: registers side by side, whose operand is read in
 * longer runs of memory, too. In: flattened nests. Out: such nests with an axis more. No sum changes its order: each
 * element of the result has an accumulator of its own before and after. */
#include <string.h>

#include "compile/2_nests/nest_passes.h"
#include "compile/lane.h"
#include "tensor/sum_order.h"

/* Elements of the other operands lie apart where lanes are turned over, in squares that fill the registers. */
static bool lies_apart(const struct nest *n, int lane)
{
    for (int e = 0; e < n->expr_count; e++)
        if (n->exprs[e].kind == EXPR_LOAD && n->exprs[e].access.address.k[lane] > 1)
            return true;
    return n->store[0].address.k[lane] != 1;
}

static bool has_few_rows(const struct program_ir *p, const struct nest *n, int lane)
{
    double rows = 1;
    for (int a = 0; a < n->out_axes; a++)
        rows *= a == lane ? 1 : n->extent[a];
    return rows < p->target->vector.latency;
}

static void split_axis(struct nest *n, int axis)
{
    memmove(&n->extent[axis + 1], &n->extent[axis],
            (size_t)(NEST_AXES - 1 - axis) * sizeof *n->extent);
    n->extent[axis] /= LANES;
    n->extent[axis + 1] = LANES;
    for (int s = 0; s < n->stores; s++)
        affine_into_runs(&n->store[s].address, axis, LANES);
    nest_change_indices(n, affine_into_runs, axis, LANES);
    n->axes++;
    n->out_axes++;
}

void split_lanes(struct program_ir *p)
{
    for (int i = 0; !p->target->items && i < p->nest_count; i++) {
        struct nest *n = &p->nests[i];
        if (n->kind != NEST_LOOPS || n->combine != COMBINE_FMA || n->batched || n->transformed ||
            n->guards > 0 || n->axes == NEST_AXES)
            continue;
        const int lane = nest_lane(n);
        if (lane >= 0 && lane < n->out_axes && n->extent[lane] % LANES == 0 &&
            n->extent[lane] > LANES && !lies_apart(n, lane) && has_few_rows(p, n, lane))
            split_axis(n, lane);
    }
}
