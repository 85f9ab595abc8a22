/* SPDX-License-Identifier: Apache-2.0 */
/* The schedule of work-items, for GPUs: a lane is a work-item, a team of 16 of them is what a
 * vector is on a CPU, and a nest is divided into as many teams as it has register tiles and batch
 * blocks. Which axis is summed over lanes is the CPU's choice, so that no sum changes its order;
 * the rest is free. In: nests in kernels. Out: lanes, tiles and groups of each. */
#include <math.h>
#include <stdlib.h>

#include "compile/4_schedule/schedule.h"
#include "compile/chunk.h"
#include "compile/item_cost.h"
#include "compile/lane.h"
#include "compile/panel.h"
#include "tensor/sum_order.h"

bool nest_loops_over(const struct nest *n, const struct schedule *s, int axis)
{
    return axis == nest_shared_axis(n) ? n->extent[axis] != LANES : s->tile[axis] < n->extent[axis];
}

/* ---- register tiles ------------------------------------------------------------------------- */

/* An axis of a nest, and how much of it is unrolled. */
struct unrolled {
    int axis, size;
};

static bool part_uses(const struct access *x, int axis)
{
    for (int i = 0; i < x->part_count; i++)
        if (rational_uses(&x->part[i].index, axis))
            return true;
    return false;
}

/* Addresses of a load in a tile. Axes along which it goes in equal steps, as those of a window and of the columns
 * beside it, meet in the same elements. */
static int distinct_addresses(const struct access *x, const struct unrolled *of, int count)
{
    int run = 1, apart = 1, step = 0; /* so many runs of elements that are `step` apart */
    bool done[3] = { false };
    for (int left = count; left > 0; left--) {
        int next = -1;
        for (int i = 0; i < count; i++)
            if (!done[i] &&
                (next < 0 || abs(x->address.k[of[i].axis]) < abs(x->address.k[of[next].axis])))
                next = i;
        done[next] = true;
        const int k = abs(x->address.k[of[next].axis]), size = of[next].size;
        if (part_uses(x, of[next].axis)) {
            apart *= size;
        } else if (k > 0 && (step == 0 || (k % step == 0 && k / step <= run))) {
            step = step == 0 ? k : step;
            run += k / step * (size - 1);
        } else if (k > 0) {
            apart *= size;
        }
    }
    return run * apart;
}

/* What a load of the tile that all lanes read alike costs next to one that each does for itself: where it goes through
 * local memory, several that lie side by side come at once. */
static double price_alike(const struct program_ir *p, const struct nest *n,
                          const struct schedule *s, const struct access *x,
                          const struct unrolled *of, int count)
{
    int side = 1;
    if (!may_be_staged(p, n, s))
        return 0.5;
    for (int i = 0; i < count; i++)
        if (of[i].axis < n->out_axes && access_uses(x, of[i].axis) && of[i].size > side)
            side = of[i].size;
    return side % WIDE == 0 ? 1.0 / WIDE : side % 2 == 0 ? 0.5 : 1;
}

/* Loads for one multiply-add of the tile. */
static double loads_per_term(const struct program_ir *p, const struct nest *n,
                             const struct schedule *s, int a, int t1, int b, int t2)
{
    const int lane = nest_vector_axis(n, s), last = n->axes - 1;
    const int red = last >= n->out_axes ? s->tile[last] : 1;
    const struct unrolled of[] = { { a, t1 }, { last, red }, { b, t2 } };
    const int count = a == b ? 2 : 3;
    double loads = 0;
    for (int e = 0; e < n->expr_count; e++) {
        const struct access *x = &n->exprs[e].access;
        if (n->exprs[e].kind != EXPR_LOAD)
            continue;
        const bool own = x->in_block || (lane >= 0 && access_uses(x, lane));
        loads += (own ? 1 : price_alike(p, n, s, x, of, count)) * distinct_addresses(x, of, count);
    }
    return loads / (t1 * t2 * red) + 0.001 * (t1 * t2);
}

/* Where a stride leaves out all but each second term, say, a tile of two elements and all of the window know at compile
 * time which those are. Returns that each so manyth term is left. */
static int unroll_strides(const struct program_ir *p, const struct nest *n, struct schedule *s)
{
    int stride = 1;
    for (int g = 0; g < n->guards; g++) {
        const int divide = n->guard[g].divide;
        bool known = divide > 1;
        for (int a = 0; a < n->axes && known; a++) {
            const bool moves = n->guard[g].e.k[a] % divide != 0;
            if (moves && a >= n->out_axes)
                known = n->extent[a] <= p->target->item.unrolled_sum;
            else if (moves)
                known = a != nest_vector_axis(n, s) && chain_slice(p, n, a) % divide == 0;
        }
        for (int a = 0; a < n->axes && known; a++)
            if (n->guard[g].e.k[a] % divide != 0)
                s->tile[a] = a < n->out_axes ? divide : n->extent[a];
        stride *= known ? divide : 1;
    }
    return stride;
}

/* The two OUT axes, and how much of them beyond what is unrolled already, that save the most loads with `most`
 * accumulators. */
static void choose_team_tile(const struct program_ir *p, const struct nest *n,
                             const struct schedule *before, int stride, int most,
                             struct schedule *s)
{
    const int points = p->target->item.points, lane = nest_vector_axis(n, s);
    const int32_t *tile = before->tile;
    int axis[2] = { -1, -1 }, size[2] = { 1, 1 }, out = 1, red = 1;
    for (int a = 0; a < n->axes; a++)
        *(a < n->out_axes ? &out : &red) *= a == lane ? 1 : tile[a];
    red = red > stride ? red / stride : 1;
    double best = loads_per_term(p, n, before, 0, 0 == lane ? 1 : tile[0], 0, 1);
    for (int a = 0; a < n->out_axes; a++)
        for (int b = a; b < n->out_axes && a != lane; b++)
            for (int i = 1; b != lane && i * out <= most && i <= n->extent[a]; i++)
                for (int k = 1; k <= (a == b ? 1 : most / i / out) && k <= n->extent[b]; k++) {
                    const int32_t ti = i * tile[a], tk = a == b ? 1 : k * tile[b];
                    if (chain_slice(p, n, a) % ti != 0 || chain_slice(p, n, b) % tk != 0 ||
                        i * k * out * red > points)
                        continue;
                    const double cost = loads_per_term(p, n, before, a, ti, b, tk);
                    if (cost < best) {
                        best = cost;
                        axis[0] = a;
                        axis[1] = b;
                        size[0] = i;
                        size[1] = k;
                    }
                }
    for (int a = 0; a < n->out_axes; a++)
        s->tile[a] = tile[a] * (a == axis[0] ? size[0] : a == axis[1] ? size[1] : 1);
}

static int64_t teams(const struct program_ir *p, const struct nest *n, const struct schedule *s)
{
    const int64_t tiles = nest_tiles(n, s);
    if (n->by_sample)
        return tiles * p->groups * n->extent[s->lane_axis] / LANES;
    if (n->batched)
        return tiles * (n->partial ? p->groups : p->blocks);
    return nest_sums_lanes(n) || s->lane_axis < 0 ? tiles : tiles * n->extent[s->lane_axis] / LANES;
}

/* Accumulators of a work-item. Where sums are cut into chunks, or into the blocks of a row, each has running sums beside
 * it. Those whose lanes are added up all lie in local memory then, of which two groups of a unit should have a part. */
static int most_points(const struct program_ir *p, const struct nest *n)
{
    const struct item_figures *f = &p->target->item;
    const int sums = f->running_sums / (1 + n->by_sample + nest_chunks(n, false).levels);
    const int each = sums < f->accumulators ? sums : f->accumulators;
    const int most = !n->batched && nest_sums_lanes(n) ? f->lane_sum_points : each;
    const size_t words = (size_t)(p->group_size / LANES * ITEM_PITCH);
    const size_t of_point = words * tarn_dtype_bytes(n->acc_dtype);
    const int room = (int)(p->target->local_bytes / 2 / of_point);
    const int points = !nest_sums_lanes(n) || room > most ? most : room;
    return points > 1 ? points : 1;
}

/* Teams that keep a unit busy. Where groups wait at barriers there are two, of which one computes meanwhile. */
static int teams_of_unit(const struct program_ir *p, const struct nest *n, const struct schedule *s)
{
    const int two = 2 * p->group_size / LANES, fill = p->target->item.teams_per_unit;
    return may_be_staged(p, n, s) && two > fill ? two : fill;
}

/* The largest tile that leaves teams enough for all compute units but a tenth, or for the group of a chain. */
static void choose_filling_tile(const struct program_ir *p, const struct nest *n,
                                struct schedule *s)
{
    const struct item_figures *f = &p->target->item;
    const bool chained = placement_of(p, n)->chain >= 0;
    const int64_t wanted =
        chained ? p->group_size / LANES : (int64_t)f->units * teams_of_unit(p, n, s) * 9 / 10;
    const int stride = unroll_strides(p, n, s);
    const struct schedule before = *s;
    for (int most = most_points(p, n); most >= 1; most -= (most + 3) / 4) {
        choose_team_tile(p, n, &before, stride, most, s);
        if ((chained ? nest_slice_tiles(p, n, s) : teams(p, n, s)) >= wanted)
            break;
    }
}

/* The innermost loop of a sum takes so many elements a round that the loads of one are under way together. That no driver's
 * compiler is asked to unroll it: some do not where a bound is known at run time alone. */
static void unroll_sum(const struct program_ir *p, const struct nest *n, struct schedule *s)
{
    const struct item_figures *f = &p->target->item;
    const struct chunks c = nest_chunks(n, false);
    int axis = n->axes - 1, terms = nest_points(n, s);
    while (axis >= n->out_axes &&
           (!nest_loops_over(n, s, axis) || (n->batched && axis == n->batch_axis && !n->by_sample)))
        axis--;
    if (axis < n->out_axes || axis == nest_shared_axis(n) ||
        (n->by_sample && n->extent[axis] % LANES != 0)) /* the last block has fewer samples */
        return;
    for (int a = n->out_axes; a < n->axes; a++)
        terms *= s->tile[a];
    const double loads = fmax(1, terms * nest_item_loads(p, n));
    /* The sums of the samples before are in registers, too. */
    const double room = f->loads_under_way - (n->by_sample ? nest_points(n, s) : 0);
    const int most = (int)fmin(room / loads, f->points / terms);
    for (int size = 2; size <= most && size < n->extent[axis]; size++) {
        bool divides = n->extent[axis] % size == 0;
        if (s->staging.panels > 0 && axis == s->staging.axis)
            divides &= s->staging.step % size == 0;
        if (n->by_sample)
            divides &= LANES % size == 0;
        for (int l = 0; l < c.levels; l++)
            divides &= c.of[l].axis != axis || c.of[l].step % size == 0;
        s->tile[axis] = divides ? size : s->tile[axis];
    }
}

/* ---- groups --------------------------------------------------------------------------------- */

static int64_t pieces(int64_t count, int64_t size)
{
    return (count + size - 1) / size;
}

static void divide(const struct program_ir *p, const struct nest *n, struct schedule *s)
{
    const int team_count = p->group_size / LANES;
    const int64_t tiles = nest_tiles(n, s), per_tile = pieces(p->blocks, team_count);
    if (placement_of(p, n)->chain >= 0) {
        s->groups = placement_of(p, n)->parts * (n->batched ? p->blocks : 1);
        return;
    }
    s->uniform = n->batched && !n->partial && n->combine == COMBINE_FMA &&
                 (double)(per_tile * team_count) <= p->target->item.waste * p->blocks;
    if (n->by_sample)
        s->groups = (int)pieces(p->groups * tiles * n->extent[s->lane_axis], p->group_size);
    else if (n->partial)
        s->groups = (int)(p->groups * pieces(tiles, team_count));
    else if (s->uniform)
        s->groups = (int)(tiles * per_tile);
    else if (n->batched)
        s->groups = (int)pieces(tiles * p->blocks, team_count);
    else if (nest_sums_lanes(n))
        s->groups = (int)pieces(tiles, team_count);
    else
        s->groups =
            (int)pieces(tiles * (s->lane_axis < 0 ? 1 : n->extent[s->lane_axis]), p->group_size);
}

static void schedule_nest(const struct program_ir *p, const struct nest *n, struct schedule *s)
{
    const int last = n->axes - 1;
    if (n->kind == NEST_ROUTINE) {
        s->groups = (int)pieces(n->routine.pieces, p->group_size);
        return;
    }
    if (!n->batched)
        s->lane_axis = nest_item_lane(n);
    if (n->axes > n->out_axes && last != nest_vector_axis(n, s) && !n->by_sample &&
        n->extent[last] <= p->target->item.unrolled_sum)
        s->tile[last] = n->extent[last];
    if (n->combine == COMBINE_FMA)
        choose_filling_tile(p, n, s);
    divide(p, n, s);
    choose_staging(p, n, s);
    unroll_sum(p, n, s);
}

tarn_status schedule_items(struct program_ir *p)
{
    p->group_size = p->target->item.group_items;
    p->schedules = new_schedules(p);
    if (p->schedules == NULL)
        return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    for (int i = 0; i < p->nest_count; i++)
        if (nest_is_code(&p->nests[i]))
            schedule_nest(p, &p->nests[i], &p->schedules[i]);
    for (int i = 0; i < p->nest_count; i++)
        if (p->placements[i].replicated) /* by all groups of its chain */
            p->schedules[i].groups = p->schedules[p->placements[i].chain].groups;
    return TARN_OK;
}
