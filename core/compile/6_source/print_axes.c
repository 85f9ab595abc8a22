/* SPDX-License-Identifier: Apache-2.0 */
/* Axes of a nest as loops: whole, in steps of a tile, or over what guards leave of them. In: axes
 * and tile of a nest. Out: heads of loops, and what each axis is at this point. */

#include "compile/4_schedule/schedule.h"
#include "compile/6_source/print.h"
#include "tensor/sum_order.h"

#define UNROLL_LANES 8 /* rounds of a sum along the lanes of a team, under way together */

/* Loop variables are 64 bits wide: proving that 32-bit ones do not overflow took the driver's
 * compiler three quarters of its time. */

void set_loop(struct printer *pr, int axis, int32_t step)
{
    struct axis_now *now = &pr->axis[axis];
    text_fill(now->variable, sizeof now->variable, "i%d", axis);
    now->constant = 0;
    now->step = step;
    now->high = pr->n->extent[axis] - step;
}

void set_constant(struct printer *pr, int axis, int32_t value)
{
    pr->axis[axis] = (struct axis_now){ .constant = value, .step = 1 };
}

static bool is_lane(const struct printer *pr, int axis)
{
    return axis == nest_vector_axis(pr->n, pr->s);
}

/* Loops of a sum of scalars. Some drivers for CPUs would make vectors of them, and so add in another order. */
static bool adds_scalars(const struct printer *pr)
{
    return pr->width == 1 && pr->n != NULL && dtype_is_float(pr->n->acc_dtype) &&
           (pr->sum != NULL || (pr->items && pr->n->by_sample));
}

void print_hints(struct printer *pr, int unroll)
{
    if (!adds_scalars(pr)) {
        print_line(pr, "#pragma unroll %d", unroll);
        return;
    }
    /* Beside the second pragma clang takes "unroll 1" for a wish without force, and unrolls by 8 with a loop for the
     * rest: PoCL 3.1 ended the process over such a loop whose bounds differ between work-items. */
    if (unroll == 1)
        print_line(pr, "#pragma nounroll");
    else
        print_line(pr, "#pragma unroll %d", unroll);
    print_line(pr, "#pragma clang loop vectorize(disable)");
}

/* Sets the unrolled OUT axes to point number `point` of the tile; false when there is none. */
bool set_tile_point(struct printer *pr, int from, int to, int point)
{
    for (int a = to - 1; a >= from; a--) {
        if (is_lane(pr, a) || pr->s->tile[a] == 1)
            continue;
        pr->axis[a].constant = point % pr->s->tile[a];
        point /= pr->s->tile[a];
    }
    return point == 0;
}

int tile_points(const struct printer *pr, int from, int to)
{
    int points = 1;
    for (int a = from; a < to; a++)
        if (!is_lane(pr, a))
            points *= pr->s->tile[a];
    return points;
}

/* Whether the work-items of a group, whose barriers lie in the loop of this axis, would each go through it so often: they have
 * tiles of their own along an axis that the guard looks at. */
static bool parts_group(const struct printer *pr, const struct guard *g, int axis)
{
    const struct staging *s = &pr->s->staging;
    return s->panels > 0 && s->across >= 0 && axis < s->axis && g->e.k[s->across] != 0;
}

/* Whether a guard limits just the loop of this axis, which is about to open: what else it depends
 * on is known, and the same for all points of the tile. */
static bool bounds_loop(const struct printer *pr, const struct guard *g, int axis)
{
    const struct nest *n = pr->n;
    if ((g->e.k[axis] != 1 && g->e.k[axis] != -1) || parts_group(pr, g, axis))
        return false;
    for (int a = 0; a < n->axes; a++)
        if (a != axis && g->e.k[a] != 0 && (is_lane(pr, a) || pr->s->tile[a] > 1 || a > axis))
            return false;
    return true;
}

/* A loop over what guards leave of an axis. */
struct bounds {
    const char *index; /* the variable's type */
    struct text from, to;
    int32_t step;
};

/* Leaves out what a guard does. Of a stride's guard the loop goes through the elements that the stride divides alone: it
 * begins at the first of them, and is the last to be narrowed. */
static void narrow(struct printer *pr, int axis, const struct guard *g, struct bounds *b)
{
    struct affine rest = g->e;
    struct text at = { 0 }, first = { 0 }, from = { 0 }, to = { 0 };
    const bool down = rest.k[axis] < 0;
    const int reach = (g->extent - 1) * g->divide;
    rest.k[axis] = 0;
    print_affine(pr, &rest, &at);
    if (g->divide > 1)
        text_add(&first, "%s + ((%s(%s) - %s) %% %d + %d) %% %d", b->from.data, down ? "" : "-",
                 at.data, b->from.data, g->divide, g->divide, g->divide);
    else
        text_add(&first, "%s", b->from.data);
    if (down) {
        text_add(&from, "max(%s, (%s)(%s - %d))", first.data, b->index, at.data, reach);
        text_add(&to, "min(%s, (%s)(%s + 1))", b->to.data, b->index, at.data);
    } else {
        text_add(&from, "max(%s, -(%s)(%s))", first.data, b->index, at.data);
        text_add(&to, "min(%s, %d - (%s)(%s))", b->to.data, reach + 1, b->index, at.data);
    }
    text_free(&first);
    text_free(&at);
    text_free(&b->from);
    text_free(&b->to);
    b->from = from;
    b->to = to;
    b->step = g->divide;
}

/* Opens the loop of a summed axis over what the guards leave of it; `index` is the type of its variable. */
static void open_bounded(struct printer *pr, int axis, const char *index)
{
    const struct nest *n = pr->n;
    struct bounds b = { .index = index, .step = 1 };
    const struct loop_range whole = loop_range(pr, axis);
    text_add(&b.from, "(%s)%s", index, whole.from);
    text_add(&b.to, "(%s)%s", index, whole.to);
    for (int strided = 0; strided < 2; strided++)
        for (int g = 0; g < n->guards; g++) {
            const struct guard *by = &n->guard[g];
            if ((by->divide > 1) != (strided == 1) || b.step > 1 || !bounds_loop(pr, by, axis))
                continue;
            narrow(pr, axis, by, &b);
            pr->guards_met |= UINT32_C(1) << g;
        }
    set_loop(pr, axis, 1);
    if (b.step > 1)
        print_for(pr, "for (%s i%d = %s; i%d < %s; i%d += %d) {", index, axis, b.from.data, axis,
                  b.to.data, axis, b.step);
    else
        print_for(pr, "for (%s i%d = %s; i%d < %s; ++i%d) {", index, axis, b.from.data, axis,
                  b.to.data, axis);
    pr->out->failed |= b.from.failed || b.to.failed;
    text_free(&b.from);
    text_free(&b.to);
}

bool open_inside_guards(struct printer *pr, int axis, const char *index)
{
    const struct nest *n = pr->n;
    for (int g = 0; axis >= n->out_axes && pr->s->tile[axis] == 1 && g < n->guards; g++)
        if (bounds_loop(pr, &n->guard[g], axis)) {
            open_bounded(pr, axis, index);
            return true;
        }
    return false;
}

/* Opens the loop of an axis; nothing is printed for one that is unrolled altogether. */
int open_loop(struct printer *pr, int axis)
{
    const struct nest *n = pr->n;
    const int32_t tile = pr->s->tile[axis];
    if (n->by_sample && axis == n->batch_axis) {
        set_loop(pr, axis, 1);
        if (pr->tail)
            print_for(pr, "for (long i%d = 16 * b; i%d < min(16 * b + 16, %dL); ++i%d) {", axis,
                      axis, n->extent[axis], axis);
        else
            print_for(pr, "for (long i%d = 16 * b; i%d < 16 * b + 16; ++i%d) {", axis, axis, axis);
        return 1;
    }
    if (open_inside_guards(pr, axis, "long"))
        return 1;
    if (tile == n->extent[axis] && axis != pr->s->split_axis) {
        set_constant(pr, axis, 0);
        return 0;
    }
    set_loop(pr, axis, tile);
    const struct loop_range all = loop_range(pr, axis);
    const bool part = axis == pr->s->split_axis && pr->s->groups > 1;
    const char *from = part ? "low" : all.from, *to = part ? "high" : all.to;
    if (axis_overlaps(n, pr->s, axis)) {
        pr->axis[axis].step = part ? 1 : (int32_t)common_divisor(tile, n->extent[axis]);
        print_for(pr, "for (long at%d = %s; at%d < %s; at%d += %d) {", axis, from, axis, to, axis,
                  tile);
        print_line(pr, "const long i%d = min(at%d, %s - %dL);", axis, axis, to, tile);
        return 1;
    }
    print_for(pr, "for (long i%d = %s; i%d < %s; i%d += %d) {", axis, from, axis, to, axis, tile);
    return 1;
}

void close_loops(struct printer *pr, int count)
{
    for (; count > 0; count--) {
        pr->indent--;
        print_line(pr, "}");
    }
}

/* For work-items: the loop of a summed axis. Along the lanes of a team each begins at its own element; `rest`: the
 * elements after the last full 16, which all lanes add up alike. */
int open_red(struct printer *pr, int axis, bool rest, int unroll)
{
    const bool shared = axis == nest_shared_axis(pr->n);
    const int32_t step = pr->s->tile[axis];
    const struct loop_range r = loop_range(pr, axis);
    if (!shared && step == pr->n->extent[axis]) {
        set_constant(pr, axis, 0);
        return 0;
    }
    if (!shared && open_inside_guards(pr, axis, item_index_type(pr)))
        return 1;
    set_loop(pr, axis, step);
    if (shared && pr->n->extent[axis] == LANES) {
        print_line(pr, "const %s i%d = lane;", item_index_type(pr), axis);
        return 0;
    }
    if (shared && !rest) {
        /* From the same number for all lanes, or a compiler does not know how many rounds there are, and unrolls none. */
        print_hints(pr, unroll > 1 ? UNROLL_LANES : 1);
        print_line(pr, "for (%s first%d = %s; first%d < %s; first%d += %d) {", item_index_type(pr),
                   axis, r.from, axis, r.to, axis, LANES);
        pr->indent++;
        print_line(pr, "const %s i%d = first%d + lane;", item_index_type(pr), axis, axis);
        return 1;
    }
    print_hints(pr, unroll);
    print_line(pr, "for (%s i%d = %s; i%d < %s; i%d += %d) {", item_index_type(pr), axis, r.from,
               axis, r.to, axis, step);
    pr->indent++;
    return 1;
}
