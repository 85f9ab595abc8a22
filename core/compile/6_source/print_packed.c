/* SPDX-License-Identifier: Apache-2.0 */
/* The factor of a product that all rows read alike: copied once for a register of lanes, its summed axis side by side.
 * In: a nest whose schedule says which factor that is. Out: the copy, and what the product reads of it. */
#include "compile/6_source/print.h"
#include "compile/4_schedule/schedule.h"
#include "tensor/sum_order.h"

static bool is_packed(const struct printer *pr)
{
    return pr->s->packed >= 0 &&
           pr->width == LANES; /* what is left over by registers reads memory itself */
}

static void element_text(const struct printer *pr, char name[NAME])
{
    const struct axis_now *now = &pr->axis[packed_axis(pr->n)];
    if (now->variable[0] == '\0')
        text_fill(name, NAME, "packed[%d]", now->constant);
    else
        text_fill(name, NAME, "packed[%s + %d]", now->variable, now->constant);
}

void print_packing(struct printer *pr)
{
    const struct nest *n = pr->n;
    const int axis = packed_axis(n), steps = tile_points(pr, n->out_axes, n->axes);
    struct squares squares = { 0 };
    if (!is_packed(pr))
        return;
    print_line(pr, "float%d packed[%d];", LANES, n->extent[axis]);
    const int loops = open_squares(pr, &squares, axis), scope = pr->known_count;
    for (int i = 0; i < steps; i++) {
        char name[NAME], element[NAME];
        set_tile_point(pr, n->out_axes, n->axes, i);
        print_expr(pr, n->body[pr->s->packed], name);
        element_text(pr, element);
        print_line(pr, "%s = %s;", element, name);
    }
    known_reset(pr, scope);
    (void)close_squares(pr, &squares); /* nothing is written in squares */
    close_loops(pr, loops);
}

void print_factor(struct printer *pr, int factor, char name[NAME])
{
    if (pr->s->packed == factor && is_packed(pr))
        element_text(pr, name);
    else
        print_expr(pr, pr->n->body[factor], name);
}
