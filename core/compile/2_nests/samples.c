/* SPDX-License-Identifier: Apache-2.0 */
/* Which sums over the batch take one sample after the other. With the samples of a block as lanes,
 * the weight gradient of a linear layer would be one multiply-add and then a sum of lanes for each
 * weight; with the weights of a row as lanes it is just multiply-adds. Decided by shapes alone. In:
 * the contraction of a nest. Out: the axis that is its lanes, or none. Knows no target. */
#include "compile/2_nests/lowering.h"
#include "tensor/sum_order.h"

/* The axis that alone, and once, indexes the last dimension and no other one; -1: none. */
static int last_axis(const struct contract_map *map, int axes, int rank)
{
    int found = -1;
    if (rank < 1 || map->dim[rank - 1].offset != 0 || map->dim[rank - 1].divide > 1 ||
        map->dim[rank - 1].guarded)
        return -1;
    for (int a = 0; a < axes; a++) {
        if (map->dim[rank - 1].coef[a] == 0)
            continue;
        if (found >= 0 || map->dim[rank - 1].coef[a] != 1)
            return -1;
        found = a;
    }
    for (int d = 0; found >= 0 && d < rank - 1; d++)
        if (map->dim[d].coef[found] != 0)
            return -1;
    return found;
}

static bool uses_axis(const struct contract_map *map, int rank, int axis)
{
    for (int d = 0; d < rank; d++)
        if (map->dim[d].coef[axis] != 0)
            return true;
    return false;
}

int choose_samples(struct nest *n, const struct contract *c, const int rank[3])
{
    if (!n->partial || c->axes != c->out_axes + 1)
        return -1;
    const int lane = last_axis(&c->out, c->axes, rank[2]);
    if (lane < 0 || lane >= c->out_axes || c->extent[lane] < LANES)
        return -1;
    for (int k = 0; k < 2; k++)
        if (last_axis(&c->in[k], c->axes, rank[k]) == lane &&
            !uses_axis(&c->in[1 - k], rank[1 - k], lane)) {
            n->by_sample = true;
            n->sample_lane = lane;
            return k;
        }
    return -1;
}
