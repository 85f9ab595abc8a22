/* SPDX-License-Identifier: Apache-2.0 */
/* The vector axis of a nest without batch, where it is an axis of the result. In: a nest. Out: its loop, and what is
 * left over where the axis is no multiple of a register. */

#include "compile/4_schedule/schedule.h"
#include "compile/6_source/print.h"
#include "tensor/sum_order.h"

void print_lane_body(struct printer *pr)
{
    struct squares squares = { 0 };
    const int axis = pr->s->squares_axis;
    int loops = axis >= 0 ? open_squares(pr, &squares, axis) : 0;
    if (pr->s->packed >= 0) {
        print_packing(pr);
        for (int i = pr->s->packed_outside; i < pr->n->out_axes - 1; i++)
            loops += open_loop(pr, pr->s->order[i]);
    }
    print_tile(pr);
    loops -= close_squares(pr, &squares);
    close_loops(pr, loops);
}

/* What is inside of the loop over registers. */
static void print_register(struct printer *pr, int lane)
{
    pr->width = LANES;
    pr->lane_axis = lane;
    print_lane_body(pr);
    close_loops(pr, 1);
    pr->width = 1;
    pr->lane_axis = -1;
}

static void print_overlapping(struct printer *pr, int lane, const char *low, const char *high)
{
    set_loop(pr, lane, 1);
    print_for(pr, "for (long lane = %s; lane < %s; lane += 16) {", low, high);
    print_line(pr, "const long i%d = min(lane, %s - %dL);", lane, high, LANES);
    print_register(pr, lane);
}

/* One register, of runs whose last tile begins earlier. */
static void print_run(struct printer *pr, int lane)
{
    const struct nest *n = pr->n;
    const int last = n->extent[n->runs] - pr->s->tile[n->runs];
    print_line(pr, "{");
    pr->indent++;
    set_loop(pr, lane, 1);
    print_line(pr, "const long i%d = i%d < %d ? 0 : -%dL;", lane, n->runs, last, n->over);
    print_register(pr, lane);
}

/* The OUT vector axis of a nest without batch: full vectors, then single elements. */
void print_out_lanes(struct printer *pr)
{
    const struct nest *n = pr->n;
    const int lane = pr->s->lane_axis;
    const bool split = lane == pr->s->split_axis && pr->s->groups > 1;
    char low[16], high[16];
    text_fill(low, sizeof low, split ? "low" : "0");
    text_fill(high, sizeof high, split ? "high" : "%d", n->extent[lane]);
    if (n->over > 0 && lane == n->runs + 1) {
        print_run(pr, lane);
        return;
    }
    if (axis_overlaps(n, pr->s, lane)) {
        print_overlapping(pr, lane, low, high);
        return;
    }
    set_loop(pr, lane, 1);
    print_line(pr, "long i%d = %s;", lane, low);
    print_for(pr, "for (; i%d + 16 <= %s; i%d += 16) {", lane, high, lane);
    print_register(pr, lane);
    if (n->extent[lane] % LANES == 0)
        return;
    print_for(pr, "for (; i%d < %s; ++i%d) {", lane, high, lane);
    print_lane_body(pr);
    pr->indent--;
    print_line(pr, "}");
}
