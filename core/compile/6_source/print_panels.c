/* SPDX-License-Identifier: Apache-2.0 */
/* Nests in panels: loops over panels, in each the steps of the sum, in each step the tiles. A tile takes
 * its accumulators from memory, and leaves them there for the next step. In: a nest with panels. Out: its
 * loops. */

#include "compile/6_source/print.h"
#include "tensor/sum_order.h"

/* Of the step that is open, as loop_range() names it. */
#define STEP_LEVEL CHUNK_LEVELS

static bool is_split(const struct printer *pr, int axis)
{
    return axis == pr->s->split_axis && pr->s->groups > 1;
}

static int loop_count(const struct printer *pr)
{
    const int lane = nest_vector_axis(pr->n, pr->s);
    return pr->n->out_axes - (lane >= 0 && lane < pr->n->out_axes);
}

/* An axis has a loop over panels unless one panel is all of it, and one inside of it unless a panel is
 * a tile. */
static bool has_panels(const struct printer *pr, int axis)
{
    return pr->s->panels.size[axis] < pr->n->extent[axis];
}

static int open_panel_loops(struct printer *pr)
{
    const struct panels *p = &pr->s->panels;
    int loops = 0;
    for (int i = 0; i < loop_count(pr); i++) {
        const int a = pr->s->order[i];
        if (!has_panels(pr, a))
            continue;
        if (p->size[a] == pr->s->tile[a]) {
            loops += open_loop(pr, a);
            continue;
        }
        char high[16];
        text_fill(high, sizeof high, is_split(pr, a) ? "high" : "%d", pr->n->extent[a]);
        print_for(pr, "for (long p%d = %s; p%d < %s; p%d += %d) {", a,
                  is_split(pr, a) ? "low" : "0", a, high, a, p->size[a]);
        print_line(pr, "const long q%d = min(p%d + %d, (long)%s);", a, a, p->size[a], high);
        loops++;
    }
    return loops;
}

static int open_tile_loops(struct printer *pr)
{
    int loops = 0;
    for (int i = 0; i < loop_count(pr); i++) {
        const int a = pr->s->order[i];
        if (!has_panels(pr, a)) {
            loops += open_loop(pr, a);
        } else if (pr->s->panels.size[a] > pr->s->tile[a]) {
            set_loop(pr, a, pr->s->tile[a]);
            print_for(pr, "for (long i%d = p%d; i%d < q%d; i%d += %d) {", a, a, a, a, a,
                      pr->s->tile[a]);
            loops++;
        }
    }
    return loops;
}

/* Whether lanes are shares of each sum. */
static bool adds_lanes(const struct printer *pr)
{
    return !nest_has_batch_lanes(pr->n);
}

static void end_tile(struct printer *pr, int loops)
{
    print_line(pr, "at += %d;", tile_points(pr, 0, pr->n->out_axes));
    close_loops(pr, loops);
    close_loops(pr, 1);
}

/* Opens the loops over the tiles of a panel. */
static int begin_tile(struct printer *pr)
{
    print_line(pr, "{");
    pr->indent++;
    print_line(pr, "long at = 0;");
    return open_tile_loops(pr);
}

/* A tile's accumulators, which `from` keeps. */
static void take_kept(struct printer *pr, const char *from)
{
    const char *type = register_name(pr->n->acc_dtype, pr->width);
    for (int i = 0; i < tile_points(pr, 0, pr->n->out_axes); i++)
        print_line(pr, "%s acc%d = %s[at + %d];", type, i, from, i);
}

/* What their lanes add up to, in print_lane_sum()'s order. */
static void take_sums(struct printer *pr, const char *from)
{
    const int points = tile_points(pr, 0, pr->n->out_axes);
    const char *type = register_name(pr->n->acc_dtype, 1);
    for (int i = 0; i < points; i++)
        print_line(pr, "const %s sum%d = %s(%s[at + %d]);", type, i, lanes_function(pr->n).text,
                   from, i);
    pr->width = 1;
    pr->lane_axis = -1;
    declare_accumulators(pr);
    combine_lane_sums(pr);
}

/* A summed axis around the chunks. */
static bool is_outside(const struct printer *pr, int axis)
{
    return adds_lanes(pr) && axis >= pr->n->out_axes && axis < pr->s->panels.axis;
}

/* The terms of one step, for all tiles. */
static void print_step(struct printer *pr)
{
    const struct nest *n = pr->n;
    const struct sum_loops l = { .index = "long",
                                 .cut_axis = pr->s->panels.axis,
                                 .cut_level = STEP_LEVEL };
    const int tiles = begin_tile(pr);
    take_kept(pr, "kept");
    int loops = 0;
    pr->sum = &l;
    for (int a = n->out_axes; a < n->axes; a++)
        if (a == pr->lane_axis && adds_lanes(pr))
            loops += open_lanes(pr, a, false);
        else if (!is_outside(pr, a) && (!n->batched || a != n->batch_axis))
            loops += open_loop(pr, a);
    print_body(pr);
    close_loops(pr, loops);
    pr->guards_met = 0;
    pr->sum = NULL;
    for (int i = 0; i < tile_points(pr, 0, n->out_axes); i++)
        print_line(pr, "kept[at + %d] = acc%d;", i, i);
    end_tile(pr, tiles);
}

static void print_steps(struct printer *pr, const char *from, const char *to)
{
    const int step = pr->s->panels.step;
    print_for(pr, "for (long cut%d = %s; cut%d < %s; cut%d += %d) {", STEP_LEVEL, from, STEP_LEVEL,
              to, STEP_LEVEL, step);
    print_line(pr, "const long end%d = min(cut%d + %d, (long)%s);", STEP_LEVEL, STEP_LEVEL, step,
               to);
    print_step(pr);
    close_loops(pr, 1);
}

static int panel_points(const struct printer *pr)
{
    int points = 1;
    for (int i = 0; i < loop_count(pr); i++)
        points *= pr->s->panels.size[pr->s->order[i]];
    return points;
}

/* All steps of a panel; returns where the sums are. */
static const char *print_sum_in_steps(struct printer *pr)
{
    const struct nest *n = pr->n;
    const struct chunks c = nest_chunks(n, false);
    const char *type = register_name(n->acc_dtype, pr->width), *zero = identity(n);
    const int points = panel_points(pr), extent = n->extent[pr->s->panels.axis];
    char all[16];
    text_fill(all, sizeof all, "%d", extent);
    print_line(pr, "%s kept[%d];", type, points);
    if (c.levels == 0) {
        print_line(pr, "for (int k = 0; k < %d; k++) kept[k] = (%s)(%s);", points, type, zero);
        print_steps(pr, "0", all);
        return "kept";
    }
    print_line(pr, "%s sums[%d];", type, points);
    print_line(pr, "for (int k = 0; k < %d; k++) kept[k] = sums[k] = (%s)(%s);", points, type,
               zero);
    int outside = 0;
    for (int a = n->out_axes; a < n->axes; a++)
        outside += is_outside(pr, a) ? open_loop(pr, a) : 0;
    print_for(pr, "for (long cut0 = 0; cut0 < %d; cut0 += %d) {", extent, c.of[0].step);
    print_line(pr, "const long end0 = min(cut0 + %d, (long)%d);", c.of[0].step, extent);
    print_steps(pr, "cut0", "end0");
    print_line(pr, "for (int k = 0; k < %d; k++) {", points);
    print_line(pr, "    sums[k] += kept[k];");
    print_line(pr, "    kept[k] = (%s)(%s);", type, zero);
    print_line(pr, "}");
    close_loops(pr, 1 + outside);
    return "sums";
}

void print_panels(struct printer *pr)
{
    if (adds_lanes(pr)) {
        pr->width = LANES;
        pr->lane_axis = pr->s->lane_axis;
    }
    const int panels = open_panel_loops(pr);
    const char *sums = print_sum_in_steps(pr);
    const int tiles = begin_tile(pr);
    (adds_lanes(pr) ? take_sums : take_kept)(pr, sums);
    print_tile_results(pr);
    end_tile(pr, tiles);
    close_loops(pr, panels);
}
