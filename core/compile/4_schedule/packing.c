/* SPDX-License-Identifier: Apache-2.0 */
/* Packing: a product of rows reads its right operand once for each tile of rows, from the second cache, in runs of
 * one register that lie a row apart, or turned over in registers each time. Instead, the loop over its registers of
 * lanes goes outside of that over rows, and what all of these read of the operand is copied once, side by side, into an
 * array that stays in the first cache. So it is with the many channels of one place that a convolution of 1 x 1 reads of a
 * block, once for each tile of channels of its result. The order of each sum is the same. In: a nest with its tile. Out: the operand
 * that is packed, or none, and which loops are outside of it. */
#include <string.h>

#include "compile/4_schedule/schedule.h"
#include "tensor/sum_order.h"

#define BLOCK_TILES \
    8 /* that share a copy of a block's values: a copy is two loads and two stores of a register */
#define LEAST_STRIPS 2 /* of a tile, whose rows would else need a load for each multiply-add */

int packed_axis(const struct nest *n)
{
    int axis = -1;
    for (int a = n->out_axes; a < n->axes; a++)
        if (n->extent[a] > 1) {
            if (axis >= 0)
                return -1;
            axis = a;
        }
    return axis;
}

/* Whether what a block has of a value is too much for the second cache, from which it would else be read again. */
static bool is_far(const struct vector_figures *v, const struct nest *n, const struct affine *a)
{
    double bytes = LANES * sizeof(float);
    for (int axis = 0; axis < n->axes; axis++)
        if (axis != n->batch_axis && a->k[axis] != 0)
            bytes *= n->extent[axis];
    return bytes > v->second_cache_bytes;
}

/* Whether a factor lies in strips (2_nests/strips.c) whose columns are the lanes. */
static bool lies_in_strips(const struct nest *n, const struct schedule *s, int factor)
{
    const struct affine *a = &n->exprs[n->body[factor]].access.address;
    const int lane = nest_vector_axis(n, s), axis = packed_axis(n);
    return lane > 0 && lane < n->out_axes && axis >= 0 && !n->batched && a->k[lane] == 1 &&
           n->extent[lane] == LANES && a->k[axis] == LANES &&
           a->k[lane - 1] == LANES * n->extent[axis];
}

/* Which factor has lanes, and rows that share it: -1 neither. */
static int factor_with_lanes(const struct vector_figures *v, const struct nest *n,
                             const struct schedule *s)
{
    const int axis = packed_axis(n), lane = nest_vector_axis(n, s);
    const bool block = nest_has_batch_lanes(n);
    if (n->combine != COMBINE_FMA || n->acc_dtype != TARN_F32 || n->batched != block ||
        n->partial || n->transformed || n->guards > 0 || lane < 0 || lane >= n->out_axes ||
        axis < 0)
        return -1;
    for (int f = 1; f >= 0; f--) {
        const struct expr *e = &n->exprs[n->body[f]];
        if (e->kind == EXPR_LOAD && e->dtype == TARN_F32 && e->access.gather < 0 &&
            e->access.part_count == 0 && e->access.in_block == block && !e->access.samples &&
            (block ? is_far(v, n, &e->access.address) : e->access.address.k[lane] != 0))
            return n->extent[axis] <= TARGET_PACKED_STEPS || lies_in_strips(n, s, f) ? f : -1;
    }
    return -1;
}

static const struct affine *address_of(const struct nest *n, int factor)
{
    return &n->exprs[n->body[factor]].access.address;
}

bool goes_along_factor(const struct nest *n, const struct schedule *s, int factor, int axis)
{
    return axis < n->out_axes && axis != nest_vector_axis(n, s) &&
           address_of(n, factor)->k[axis] != 0;
}

int packed_registers(const struct nest *n, const struct schedule *s, int factor)
{
    int registers = 1;
    for (int a = 0; a < n->out_axes; a++)
        registers *= goes_along_factor(n, s, factor, a) ? s->tile[a] : 1;
    return registers;
}

/* Tiles that read the same of a factor, by one group, where groups divide an axis. */
static int64_t tiles_that_share(const struct nest *n, const struct schedule *s,
                                const struct affine *address)
{
    int64_t tiles = 1;
    for (int a = 0; a < n->out_axes; a++)
        if (a != nest_vector_axis(n, s) && address->k[a] == 0)
            tiles *= n->extent[a] / (a == s->split_axis ? s->groups : 1) / s->tile[a];
    return tiles;
}

void keep_tile_packable(const struct vector_figures *v, const struct nest *n, struct schedule *s)
{
    const int factor = factor_with_lanes(v, n, s);
    if (factor < 0)
        return;
    const int64_t rows = tiles_that_share(n, s, address_of(n, factor));
    const int steps = n->extent[packed_axis(n)];
    const bool copied = !lies_in_strips(n, s, factor);
    if (!target_packs(v, copied ? steps : 1, rows) ||
        (nest_has_batch_lanes(n) && rows < (int64_t)BLOCK_TILES * v->accumulators))
        return;
    s->strips.registers = nest_has_batch_lanes(n) ? 1 : TARGET_PACKED_ROOM / steps;
    if (!copied && s->strips.registers < LEAST_STRIPS)
        s->strips.registers = LEAST_STRIPS;
    for (int a = 0; a < n->out_axes; a++)
        if (goes_along_factor(n, s, factor, a))
            s->strips.axes |= UINT32_C(1) << a;
}

/* Loops over axes of the factor go outside; the others keep their order. */
static int move_outside(const struct affine *address, int loops, int *order)
{
    int sorted[NEST_AXES], count = 0;
    for (int i = 0; i < loops; i++)
        if (address->k[order[i]] != 0)
            sorted[count++] = order[i];
    const int outside = count;
    for (int i = 0; i < loops; i++)
        if (address->k[order[i]] == 0)
            sorted[count++] = order[i];
    memcpy(order, sorted, (size_t)loops * sizeof *order);
    return outside;
}

void choose_packing(const struct vector_figures *v, const struct nest *n, struct schedule *s)
{
    const int factor = factor_with_lanes(v, n, s);
    const int least = nest_has_batch_lanes(n) ? BLOCK_TILES : TARGET_PACKED_TILES;
    if (factor < 0 || tiles_that_share(n, s, address_of(n, factor)) < least)
        return;
    s->in_strips = lies_in_strips(n, s, factor);
    if (!s->in_strips &&
        packed_registers(n, s, factor) > (s->strips.axes != 0 ? s->strips.registers : 1))
        return; /* points of a tile read different ones, and more than there is room for */
    s->packed = factor;
    s->packed_outside = move_outside(address_of(n, factor), n->out_axes - 1, s->order);
}

void drop_packing(const struct nest *n, struct schedule *s)
{
    if (s->packed >= 0 && tiles_that_share(n, s, address_of(n, s->packed)) < TARGET_PACKED_TILES)
        s->packed = -1;
}
