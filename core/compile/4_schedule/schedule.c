/* SPDX-License-Identifier: Apache-2.0 */
/* The schedule of vectors: which axis is the vector, which are unrolled into register tiles
 * (tile.c), and how whole nests are divided among groups. Decides by shapes alone, so that the
 * order of every sum is a function of the problem. In: nests in kernels. Out: lanes, tiles, order
 * of loops and groups of each. */
#include "compile/4_schedule/schedule.h"
#include "compile/lane.h"
#include "tensor/sum_order.h"

#include <math.h>

struct schedule *new_schedules(const struct program_ir *p)
{
    struct schedule *list = arena_take(p->arena, ((size_t)p->nest_count + 1) * sizeof *list);
    for (int i = 0; list != NULL && i < p->nest_count; i++) {
        const struct nest *n = &p->nests[i];
        list[i].lane_axis = n->by_sample ? n->sample_lane : -1;
        list[i].split_axis = list[i].squares_axis = list[i].packed = -1;
        for (int a = 0; a < NEST_AXES; a++)
            list[i].tile[a] = 1;
    }
    return list;
}

int64_t nest_tiles(const struct nest *n, const struct schedule *s)
{
    int64_t tiles = 1;
    for (int a = 0; a < n->out_axes; a++)
        if (a != nest_vector_axis(n, s))
            tiles *= n->extent[a] / s->tile[a];
    return tiles;
}

int64_t nest_slice_tiles(const struct program_ir *p, const struct nest *n, const struct schedule *s)
{
    int64_t tiles = 1;
    for (int a = 0; a < n->out_axes; a++)
        if (a != nest_vector_axis(n, s))
            tiles *= chain_slice(p, n, a) / s->tile[a];
    return tiles;
}

int nest_points(const struct nest *n, const struct schedule *s)
{
    int points = 1;
    for (int a = 0; a < n->out_axes; a++)
        if (a != nest_vector_axis(n, s))
            points *= s->tile[a];
    return points;
}

static bool is_guarded(const struct nest *n, int axis)
{
    bool guarded = false;
    for (int i = 0; i < n->expr_count; i++)
        for (int g = 0; n->exprs[i].kind == EXPR_GUARD && g < n->exprs[i].guards; g++)
            guarded |= n->exprs[i].guard[g].e.k[axis] != 0;
    return guarded;
}

static bool is_transformed(const struct nest *n, int axis)
{
    bool transformed = false;
    for (int i = 0; i < n->expr_count; i++)
        transformed |= n->exprs[i].kind == EXPR_TRANSFORM && n->exprs[i].index.e.k[axis] != 0;
    return transformed;
}

/* Whether all axes on whose edges guards fail are short: one that is not would leave a condition for each load, of which
 * there would be as many as there are places along the others. */
static bool has_short_edges(const struct vector_figures *v, const struct nest *n)
{
    for (int a = 0; a < n->out_axes; a++)
        if (n->extent[a] > v->unrolled_edge && a != n->batch_axis && !is_transformed(n, a) &&
            is_guarded(n, a))
            return false;
    return true;
}

/* What tells the rows of a transform apart is unrolled: its tables hold at compile time alone. So
 * are short axes on whose edges guards fail, where that leaves no conditions. */
static void unroll_transform(const struct vector_figures *v, const struct nest *n,
                             struct schedule *s)
{
    const bool edges = has_short_edges(v, n);
    for (int a = 0; a < n->out_axes; a++)
        if (a != n->batch_axis && (is_transformed(n, a) ||
                                   (edges && n->extent[a] <= v->unrolled_edge && is_guarded(n, a))))
            s->tile[a] = n->extent[a];
}

/* Groups that may share a nest: two for each unit at least, so that none rests while others have all of the work. */
static int most_groups(const struct target *t, int usual)
{
    return 2 * t->vector.units > usual ? 2 * t->vector.units : usual;
}

/* Whether all second caches together do not hold what is multiplied. */
static bool comes_from_memory(const struct vector_figures *v, const struct nest *n)
{
    double bytes = 0;
    for (int e = 0; e < n->expr_count; e++)
        bytes += nest_elements_read(n, &n->exprs[e]) * (double)tarn_dtype_bytes(n->exprs[e].dtype);
    return n->combine == COMBINE_FMA &&
           bytes > v->second_cache_bytes * (v->units > 1 ? v->units : 1);
}

/* Whether pieces of an axis read what an expression loads alike. */
static bool is_shared(const struct expr *e, int axis)
{
    return e->kind == EXPR_LOAD && !access_uses(&e->access, axis);
}

/* Whether they read nothing alike. */
static bool shares_nothing(const struct nest *n, int axis)
{
    for (int e = 0; e < n->expr_count; e++)
        if (is_shared(&n->exprs[e], axis))
            return false;
    return true;
}

/* Whether a loop of a packed factor is one over strips of columns, which rows share. */
static bool goes_over_strips(const struct nest *n, const struct schedule *s, int axis)
{
    return s->packed >= 0 && goes_along_factor(n, s, s->packed, axis) &&
           is_shared(&n->exprs[n->body[1 - s->packed]], axis);
}

/* The longest of those axes that are long enough for all units. */
static int longer(const struct target *t, const struct nest *n, int axis, int longest)
{
    return n->extent[axis] >= 2 * t->vector.units &&
                   (longest < 0 || n->extent[axis] > n->extent[longest])
               ? axis
               : longest;
}

/* A transform's rows, and what is unrolled with them, stay together. */
static bool can_split(const struct nest *n, const struct schedule *s, int axis)
{
    return !n->transformed || s->tile[axis] == 1;
}

/* The longest OUT axis. But where one is long enough for all units, one along which rows have copies of their own, such as
 * heads, since each copy is made by one group then; or one along which groups read nothing alike, such as the points of
 * Winograd's algorithm, where each would read it from memory anew. */
static int axis_to_split(const struct target *t, const struct nest *n, const struct schedule *s)
{
    int longest = -1;
    for (int i = 0; s->packed >= 0 && i < s->packed_outside; i++)
        if (!goes_over_strips(n, s, s->order[i]))
            longest = longer(t, n, s->order[i], longest);
    const bool far = longest < 0 && comes_from_memory(&t->vector, n);
    for (int a = 0; far && a < n->out_axes; a++)
        if (a != s->lane_axis && s->tile[a] == 1 && shares_nothing(n, a))
            longest = longer(t, n, a, longest);
    if (longest >= 0)
        return longest;
    int64_t most = 0; /* elements, of a register as many as it has */
    for (int a = 0; a < n->out_axes; a++) {
        const bool one = a == s->lane_axis && n->extent[a] <= LANES; /* which nobody divides */
        const int registers = goes_over_strips(n, s, a) ? LANES : 1;
        const int64_t length = one ? 1 : (int64_t)n->extent[a] * registers;
        if (can_split(n, s, a) && length > most) {
            longest = a;
            most = length;
        }
    }
    return longest;
}

/* Whether groups that have nothing else in common share a nest, */
static bool is_shared_out(const struct nest *n, const struct placement *at)
{
    return !n->batched && !at->tiny && at->row_axis < 0;
}

/* and as many as are worth it, of so many. */
static int groups_worth(const struct target *t, const struct placement *at, int most)
{
    return (int)fmax(1, fmin(at->work / t->vector.group_work, most));
}

bool axis_overlaps(const struct nest *n, const struct schedule *s, int axis)
{
    const bool lanes = axis == nest_vector_axis(n, s), shared = axis == s->split_axis;
    const int size = lanes ? LANES : s->tile[axis];
    if (!s->overlaps || axis >= n->out_axes || n->extent[axis] < size ||
        (shared && (s->slices != NULL || s->split_step < size)) ||
        (lanes && (nest_has_batch_lanes(n) || nest_calls_driver(n))))
        return false;
    return n->extent[axis] % size != 0 || (shared && s->split_step % size != 0);
}

int nest_shares(const struct nest *n, const struct schedule *s)
{
    const int axis = s->split_axis, step = s->split_step, extent = n->extent[axis];
    const bool overlap =
        (n->over > 0 && axis == n->runs) || (extent % step != 0 && axis_overlaps(n, s, axis));
    return overlap ? (extent - 1) / step : (extent + step - 1) / step;
}

/* Divides the nest along an OUT axis, the vector axis in multiples of its width; into so many pieces. */
static int split_along(const struct nest *n, int axis, struct schedule *s)
{
    s->split_axis = axis;
    s->split_step = axis == s->lane_axis || axis == s->squares_axis ? LANES : s->tile[axis];
    return nest_shares(n, s);
}

/* Where the axis to split leaves units without a piece, the one with most pieces is split. */
static int split_into_most(const struct target *t, const struct nest *n, int wanted,
                           struct schedule *s)
{
    int axis = axis_to_split(t, n, s);
    if (axis < 0)
        return 0;
    int most = split_along(n, axis, s);
    for (int a = 0; most < wanted && a < n->out_axes; a++) {
        const int pieces = can_split(n, s, a) ? split_along(n, a, s) : 0;
        if (pieces > most) {
            most = pieces;
            axis = a;
        }
    }
    return split_along(n, axis, s);
}

/* `groups` is how many share the nest, 0: as many as are worth it. */
static void split_among_groups(const struct target *t, const struct nest *n,
                               const struct placement *at, int groups, struct schedule *s)
{
    const int worth = groups > 0 ? groups : groups_worth(t, at, most_groups(t, MAX_GROUPS));
    const int units = t->vector.units > 1 ? t->vector.units : 1;
    const int pieces = split_into_most(t, n, worth < units ? worth : units, s);
    if (s->split_axis < 0)
        return;
    s->groups = worth;
    if (groups == 0 && s->groups > pieces)
        s->groups = pieces;
    if (s->groups < 1)
        s->groups = 1;
}

static int shortest_slice(const struct nest *n, const struct schedule *s)
{
    const struct slices *l = s->slices;
    const int64_t pieces = l->extent / l->grain;
    int shortest = n->extent[s->split_axis];
    for (int part = 0; part < s->groups; part++) {
        const int64_t from = part * pieces / s->groups, to = (part + 1) * pieces / s->groups;
        int64_t low = from * l->grain * l->times + l->below;
        int64_t high = (to * l->grain - 1) * l->times + l->above + 1;
        low = low < 0 ? 0 : low;
        high = high < n->extent[s->split_axis] ? high : n->extent[s->split_axis];
        shortest = high - low < shortest ? (int)(high - low) : shortest;
    }
    return shortest;
}

/* Turning elements over in registers is much code: not worth it for small copies in a crowd. It takes 16
 * elements side by side, of a slice, too. */
static bool turns_over(const struct program_ir *p, const struct nest *n, const struct schedule *s)
{
    const struct fusion_limits *limit = &p->target->fusion;
    int64_t run = n->copy.elements;
    if (run == 0 ||
        (p->nest_count > limit->crowd && run * n->extent[n->batch_axis] < limit->small_copy))
        return false;
    for (int a = n->copy.first; a <= s->split_axis; a++)
        run /= n->extent[a];
    return s->split_axis < n->copy.first || run * shortest_slice(n, s) >= LANES;
}

/* Parts of a group share a batched nest. */
static void split_among_parts(const struct program_ir *p, const struct placement *at,
                              struct schedule *s)
{
    if (at->part_axis < 0)
        return;
    s->split_axis = at->part_axis;
    s->slices = &at->slices;
    s->split_step = slices_overlap(s->slices) ? 1 : s->slices->grain;
    s->groups = kernel_parts(p, at->kernel);
}

/* Samples of a group that reads weights in each step of a loop: with fewer it would wait for them to come from the second
 * cache, which another unit does not shorten. */
static int least_samples(const struct vector_figures *v)
{
    const double line = v->line_cycles + v->port_cycles * v->width;
    return line > v->cycles_per_term && v->cycles_per_term > 0
               ? (int)fmin(ceil(line / v->cycles_per_term), LANES)
               : 1;
}

/* Groups of a chain: the more, the more evenly units are at work at its end. Those of a loop's launch end once for all
 * steps, so there are no more of them than units, each with equally many samples. */
static int row_groups(const struct program_ir *p)
{
    const int samples = p->module->samples, units = p->target->vector.units;
    const int most = most_groups(p->target, MOST_ROWS);
    int groups = samples < most ? samples : most;
    if (!p->repeats)
        return groups;
    groups = units < groups ? units : groups;
    while (groups > 1 &&
           (samples % groups != 0 || samples / groups < least_samples(&p->target->vector)))
        groups--;
    return groups < 1 ? 1 : groups;
}

/* Groups share a chain of nests, each of which has the same samples of all. */
static void split_by_rows(const struct program_ir *p, const struct nest *n,
                          const struct placement *at, struct schedule *s)
{
    if (at->row_axis < 0)
        return;
    s->split_axis = at->row_axis;
    s->groups = row_groups(p);
    s->split_step = n->extent[at->row_axis] / (p->repeats ? s->groups : p->module->samples);
}

/* The tile of the whole nest, if parts' slices are multiples of it; else that of the least slice. */
static void choose_fitting_tile(const struct program_ir *p, const struct nest *n,
                                struct schedule *s)
{
    keep_tile_packable(&p->target->vector, n, s);
    const struct placement *at = placement_of(p, n);
    s->workers = is_shared_out(n, at) ? groups_worth(p->target, at, p->target->vector.units) : 1;
    const struct schedule before = *s;
    choose_tile(p->target, n, p->nest_count, s);
    if (s->split_axis < 0 || s->split_step % s->tile[s->split_axis] == 0)
        return;
    struct nest piece = *n;
    piece.extent[s->split_axis] = s->split_step;
    *s = before;
    choose_tile(p->target, &piece, p->nest_count, s);
}

/* A map whose lanes lie apart in memory, while the innermost loop goes along it, reads squares. */
static int squares_axis(const struct program_ir *p, const struct nest *n, const struct schedule *s)
{
    const int lane = s->lane_axis, loops = n->out_axes - 1;
    if (n->batched || n->combine != COMBINE_NONE || n->transformed || n->guards > 0 || lane < 0 ||
        loops == 0 || n->extent[s->order[loops - 1]] % LANES != 0)
        return -1;
    for (int e = 0; e < n->expr_count; e++) {
        const struct access *a = &n->exprs[e].access;
        if (n->exprs[e].kind == EXPR_LOAD && a->gather < 0 && a->part_count == 0 &&
            a->address.k[lane] > 1 && a->address.k[s->order[loops - 1]] == 1 &&
            tarn_dtype_bytes(p->values[a->value].dtype) == sizeof(float))
            return s->order[loops - 1];
    }
    return -1;
}

static void schedule_nest(const struct program_ir *p, const struct nest *n)
{
    const struct placement *at = placement_of(p, n);
    struct schedule *s = schedule_of(p, n);
    if (!n->batched && n->kind == NEST_LOOPS)
        s->lane_axis = nest_lane(n);
    if (n->transformed)
        unroll_transform(&p->target->vector, n, s);
    const int lane = nest_vector_axis(n, s);
    for (int a = 0, next = 0; a < n->out_axes; a++)
        if (a != lane)
            s->order[next++] = a;
    s->squares_axis = squares_axis(p, n, s);
    s->groups = 1;
    s->overlaps =
        n->kind == NEST_LOOPS && n->combine != COMBINE_NONE && !n->partial && !n->transformed;
    split_among_parts(p, at, s);
    split_by_rows(p, n, at, s);
    if (n->combine != COMBINE_NONE && n->axes > n->out_axes)
        choose_fitting_tile(p, n, s);
    if (n->batched)
        choose_panels(p->target, n, s);
    choose_packing(&p->target->vector, n, s);
    s->by_registers = turns_over(p, n, s);
    if (is_shared_out(n, at))
        split_among_groups(p->target, n, at,
                           at->section == 0 ? p->groups * kernel_parts(p, at->kernel) : 0, s);
    if (!n->batched)
        choose_panels(p->target, n, s);
    drop_packing(n, s);
}

tarn_status schedule_vectors(struct program_ir *p)
{
    p->schedules = new_schedules(p);
    if (p->schedules == NULL)
        return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    for (int i = 0; i < p->nest_count; i++)
        if (nest_is_code(&p->nests[i]))
            schedule_nest(p, &p->nests[i]);
    return TARN_OK;
}
