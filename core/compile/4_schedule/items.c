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

/* Loads from memory are to take so much less than those through local memory to be chosen: they wait, too, which is not
 * counted. */
#define FARTHER 0.7

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
    bool done[NEST_AXES] = { false };
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

/* What a load of the tile costs next to one that each lane does for itself: where it goes through local memory, several that
 * lie side by side come at once, and what lanes of two teams read is as much as two of these can take. */
static double load_price(const struct nest *n, const struct schedule *s, const struct access *x,
                         const struct unrolled *of, int count, bool staged)
{
    const int lane = nest_vector_axis(n, s);
    const bool own = x->in_block || (lane >= 0 && access_uses(x, lane));
    int side = 1;
    if (!staged)
        return own ? 1 : 0.5;
    for (int i = 0; i < count; i++)
        if (of[i].axis < n->out_axes && access_uses(x, of[i].axis) && of[i].size > side)
            side = of[i].size;
    const double wide = 1.0 / panel_load_width(side);
    return own ? fmax(wide, 0.5) : wide;
}

/* Elements of the innermost summed axis in a round: of the tile, or what a sum that adds up lanes is unrolled to later. */
static int summed_in_round(const struct nest *n, const struct schedule *s)
{
    const int last = n->axes - 1;
    if (last < n->out_axes)
        return 1;
    return n->partial && !n->by_sample && s->tile[last] == 1 && n->extent[last] % WIDE == 0
               ? WIDE
               : s->tile[last];
}

/* Loads for one multiply-add of a tile that has so much of two axes. */
static double loads_per_term(const struct nest *n, const struct schedule *s, bool staged, int a,
                             int t1, int b, int t2)
{
    const int lane = nest_vector_axis(n, s), last = n->axes - 1;
    struct unrolled of[NEST_AXES];
    int count = 0;
    double loads = 0, points = 1, terms = 1;
    for (int x = 0; x < n->axes; x++) {
        const int size = x == a                      ? t1
                         : x == b                    ? t2
                         : x == last && last != lane ? summed_in_round(n, s)
                                                     : s->tile[x];
        if (x == lane || size == 1)
            continue;
        of[count++] = (struct unrolled){ x, size };
        points *= x < n->out_axes ? size : 1;
        terms *= size;
    }
    for (int e = 0; e < n->expr_count; e++) {
        const struct access *x = &n->exprs[e].access;
        if (n->exprs[e].kind != EXPR_LOAD)
            continue;
        loads += load_price(n, s, x, of, count, staged) * distinct_addresses(x, of, count);
    }
    return loads / terms + 0.001 * points;
}

/* The outermost summed axis along which a stride leaves terms out; as many as there are axes: none. */
static int strided_sum(const struct nest *n, int guard)
{
    int axis = n->out_axes;
    while (axis < n->axes && n->guard[guard].e.k[axis] % n->guard[guard].divide == 0)
        axis++;
    return axis;
}

/* All terms from this summed axis inwards are unrolled: an axis alone whose inner ones are loops would have its terms added in
 * another order than on CPUs. Not more of them than two such axes have. */
static bool may_unroll_from(const struct program_ir *p, const struct nest *n, int axis)
{
    const int most = p->target->item.unrolled_sum;
    int64_t terms = 1;
    for (; axis < n->axes; axis++) {
        if (n->extent[axis] > most)
            return false;
        terms *= n->extent[axis];
    }
    return terms <= (int64_t)most * most;
}

/* Where a stride leaves out all but each second term, say, a tile of two elements and all of the window know at compile
 * time which those are. Returns that each so manyth term is left. */
static int unroll_strides(const struct program_ir *p, const struct nest *n, struct schedule *s)
{
    int stride = 1;
    for (int g = 0; g < n->guards; g++) {
        const int divide = n->guard[g].divide, from = strided_sum(n, g);
        bool known = divide > 1 && may_unroll_from(p, n, from);
        for (int a = 0; a < n->out_axes && known; a++)
            if (n->guard[g].e.k[a] % divide != 0)
                known = a != nest_vector_axis(n, s) && chain_slice(p, n, a) % divide == 0;
        if (!known)
            continue;
        for (int a = 0; a < n->out_axes; a++)
            if (n->guard[g].e.k[a] % divide != 0)
                s->tile[a] = divide;
        for (int a = from; a < n->axes; a++)
            s->tile[a] = n->extent[a];
        stride *= divide;
    }
    return stride;
}

/* A row's lanes are added up once a block: some accumulators after the other, where there is no room for all. */
static bool takes_turns(const struct program_ir *p, const struct nest *n)
{
    return n->partial && !n->by_sample && n->combine == COMBINE_FMA &&
           placement_of(p, n)->stage == 0;
}

/* A gradient's window, which goes along what is summed: where a tile has all of it, elements of a round are those of the next
 * one, too. */
static void unroll_window(const struct program_ir *p, const struct nest *n, struct schedule *s)
{
    const int window = n->out_axes - 1, last = n->axes - 1;
    if (!takes_turns(p, n) || window == n->batch_axis ||
        n->extent[window] > p->target->item.unrolled_sum)
        return;
    for (int e = 0; e < n->expr_count; e++) {
        const struct access *x = &n->exprs[e].access;
        if (n->exprs[e].kind == EXPR_LOAD && x->address.k[window] != 0 &&
            x->address.k[window] == x->address.k[last])
            s->tile[window] = n->extent[window];
    }
}

/* The two OUT axes, and how much of them beyond what is unrolled already, that save the most loads with `most`
 * accumulators. */
static void choose_team_tile(const struct program_ir *p, const struct nest *n,
                             const struct schedule *before, bool staged, int stride, int most,
                             struct schedule *s)
{
    const int points = p->target->item.points, lane = nest_vector_axis(n, s);
    const int32_t *tile = before->tile;
    int axis[2] = { -1, -1 }, size[2] = { 1, 1 }, out = 1, red = 1;
    for (int a = 0; a < n->axes; a++)
        *(a < n->out_axes ? &out : &red) *= a == lane ? 1 : tile[a];
    red = red > stride ? red / stride : 1;
    double best = loads_per_term(n, before, staged, 0, 0 == lane ? 1 : tile[0], 0, 1);
    for (int a = 0; a < n->out_axes; a++)
        for (int b = a; b < n->out_axes && a != lane; b++)
            for (int i = 1; b != lane && i * out <= most && i <= n->extent[a]; i++)
                for (int k = 1; k <= (a == b ? 1 : most / i / out) && k <= n->extent[b]; k++) {
                    const int32_t ti = i * tile[a], tk = a == b ? 1 : k * tile[b];
                    if (chain_slice(p, n, a) % ti != 0 || chain_slice(p, n, b) % tk != 0 ||
                        i * k * out * red > points)
                        continue;
                    const double cost = loads_per_term(n, before, staged, a, ti, b, tk);
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

/* Sums that a work-item has for each point: running ones, too, where it is cut into chunks or into the blocks of a row. */
static int sums_of_point(const struct nest *n)
{
    return 1 + n->by_sample + nest_chunks(n, false).levels;
}

/* Accumulators of teams whose lanes local memory has room for, next to those of another group of the unit. */
static int room_for_lanes(const struct program_ir *p, const struct nest *n)
{
    const size_t words = (size_t)(p->group_size / LANES * ITEM_PITCH);
    const size_t room = p->target->local_bytes / 2 / words / tarn_dtype_bytes(n->acc_dtype);
    return room > 1 ? (int)room : 1;
}

/* Accumulators of a work-item. */
static int most_points(const struct program_ir *p, const struct nest *n, bool staged)
{
    const struct item_figures *f = &p->target->item;
    const int sums = f->running_sums / sums_of_point(n), room = room_for_lanes(p, n);
    if (takes_turns(p, n) || (staged && !n->by_sample))
        return f->running_sums;
    if (staged) /* the row's sums are not far: they are touched once in 16 terms */
        return f->accumulators;
    const int each = sums < f->accumulators ? sums : f->accumulators;
    const int most = !n->batched && nest_sums_lanes(n) ? f->lane_sum_points : each;
    const int points = !nest_sums_lanes(n) || room > most ? most : room;
    return points > 1 ? points : 1;
}

/* Teams that keep a unit busy. Where groups wait at barriers there are two, of which one computes meanwhile. */
static int teams_of_unit(const struct program_ir *p, bool staged)
{
    const int two = 2 * p->group_size / LANES, fill = p->target->item.teams_per_unit;
    return staged && two > fill ? two : fill;
}

/* The largest tile that leaves teams enough for all compute units but a tenth, or for the group of a chain. */
static void choose_filling_tile(const struct program_ir *p, const struct nest *n, bool staged,
                                struct schedule *s)
{
    const struct item_figures *f = &p->target->item;
    const bool chained = placement_of(p, n)->chain >= 0;
    const int64_t wanted =
        chained ? p->group_size / LANES : (int64_t)f->units * teams_of_unit(p, staged) * 9 / 10;
    const int stride = unroll_strides(p, n, s);
    unroll_window(p, n, s);
    const struct schedule before = *s;
    for (int most = most_points(p, n, staged); most >= 1; most -= (most + 3) / 4) {
        choose_team_tile(p, n, &before, staged, stride, most, s);
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
    const bool crowded = n->by_sample && s->staging.panels == 0;
    const double room = f->loads_under_way - (crowded ? nest_points(n, s) : 0);
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

/* Where running sums are, and of how many accumulators lanes are added up at a time. */
static void choose_sums(const struct program_ir *p, const struct nest *n, struct schedule *s)
{
    const int sums = sums_of_point(n), points = nest_points(n, s), room = room_for_lanes(p, n);
    s->far_sums = n->combine == COMBINE_FMA && sums > 1 && !n->by_sample &&
                  points * sums > p->target->item.running_sums;
    if (takes_turns(p, n) && points > room)
        s->lanes_at_once = room >= LANES ? room / LANES * LANES : room;
}

static void tile_nest(const struct program_ir *p, const struct nest *n, bool staged,
                      struct schedule *s)
{
    if (n->combine == COMBINE_FMA)
        choose_filling_tile(p, n, staged, s);
    divide(p, n, s);
}

/* A tile for local memory, or the one that is best without it: whichever takes less time. */
static void tile_by_cycles(const struct program_ir *p, const struct nest *n, struct schedule *s)
{
    const struct schedule before = *s;
    tile_nest(p, n, true, s);
    const double cycles = choose_staging(p, n, s);
    const struct schedule staged = *s;
    *s = before;
    tile_nest(p, n, false, s);
    if (staged.staging.panels > 0 && FARTHER * cycles < unstaged_cycles(p, n, s))
        *s = staged;
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
    if (may_be_staged(p, n, s))
        tile_by_cycles(p, n, s);
    else
        tile_nest(p, n, false, s);
    choose_sums(p, n, s);
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
