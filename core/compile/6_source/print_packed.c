/* SPDX-License-Identifier: Apache-2.0 */
/* The factor of a product that all rows read alike: copied once for a register of lanes, its summed axis side by side; or
 * what of it is asked for ahead, if it lies so in memory. In: a nest whose schedule says which factor that is. Out: the copy,
 * and what the product reads of it. */
#include "compile/6_source/print.h"
#include "compile/4_schedule/schedule.h"
#include "tensor/sum_order.h"

static bool is_packed(const struct printer *pr)
{
    return pr->s->packed >= 0 && !pr->s->in_strips &&
           pr->width == LANES; /* what is left over by registers reads memory itself */
}

/* Number of the register that the point at hand reads, of those of its tile. */
static int register_here(const struct printer *pr)
{
    int number = 0;
    for (int a = 0; a < pr->n->out_axes; a++)
        if (goes_along_factor(pr->n, pr->s, pr->s->packed, a))
            number = number * pr->s->tile[a] + pr->axis[a].constant;
    return number;
}

static void element_text(const struct printer *pr, char name[NAME])
{
    const struct axis_now *now = &pr->axis[packed_axis(pr->n)];
    const int registers = packed_registers(pr->n, pr->s, pr->s->packed);
    const int at = registers * now->constant + register_here(pr);
    if (now->variable[0] == '\0')
        text_fill(name, NAME, "packed[%d]", at);
    else
        text_fill(name, NAME, "packed[%d * %s + %d]", registers, now->variable, at);
}

/* Sets the OUT axes of the first point that reads register number `number`. */
static void set_register(struct printer *pr, int number)
{
    for (int a = pr->n->out_axes - 1; a >= 0; a--)
        if (goes_along_factor(pr->n, pr->s, pr->s->packed, a)) {
            pr->axis[a].constant = number % pr->s->tile[a];
            number /= pr->s->tile[a];
        }
}

void print_packing(struct printer *pr)
{
    const struct nest *n = pr->n;
    if (!is_packed(pr))
        return;
    const int axis = packed_axis(n), steps = tile_points(pr, n->out_axes, n->axes);
    const int registers = packed_registers(n, pr->s, pr->s->packed);
    struct squares squares = { 0 };
    print_line(pr, "float%d packed[%d];", LANES, registers * n->extent[axis]);
    const int loops = open_squares(pr, &squares, axis), scope = pr->known_count;
    for (int i = 0; i < steps * registers; i++) {
        char name[NAME], element[NAME];
        set_tile_point(pr, n->out_axes, n->axes, i / registers);
        set_register(pr, i % registers);
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

/* The only axis of rows; -1: there is another, or none. */
static int row_axis(const struct printer *pr)
{
    const int lane = nest_vector_axis(pr->n, pr->s);
    int row = -1;
    for (int a = 0; a < pr->n->out_axes; a++) {
        if (a == lane || pr->n->extent[a] == 1 || goes_along_factor(pr->n, pr->s, pr->s->packed, a))
            continue;
        if (row >= 0)
            return -1;
        row = a;
    }
    return row;
}

/* A line of the strips of the next tile in each round of the sum. Asked for all at once they would be waited for; and so far ahead
 * nothing else asks for them: to a core the next strips are another run of memory. */
void print_ahead(struct printer *pr)
{
    const struct nest *n = pr->n;
    const struct schedule *s = pr->s;
    if (s->packed < 0 || pr->width != LANES || !s->in_strips)
        return;
    const int step = packed_axis(n), run = nest_vector_axis(n, s) - 1, row = row_axis(pr);
    const int rounds = n->extent[step] / s->tile[step];
    const int lines = n->extent[step] * packed_registers(n, s, s->packed);
    if (row < 0 || LANES % s->tile[step] != 0 || pr->axis[row].variable[0] == '\0')
        return;
    const struct access *x = &n->exprs[n->body[s->packed]].access;
    struct affine next = x->address;
    struct text address = { 0 };
    next.constant += next.k[run] * s->tile[run];
    next.k[step] = LANES / s->tile[step];
    set_tile_point(pr, 0, n->out_axes, 0);
    print_affine(pr, &next, &address);
    print_line(pr, "TARN_AHEAD(v%d + %s + min(%dL * (%s - %s), %dL));", x->value, address.data,
               LANES * rounds / s->tile[row], pr->axis[row].variable,
               row == s->split_axis && s->groups > 1 ? "low" : "0", LANES * (lines - rounds));
    pr->out->failed |= address.failed;
    text_free(&address);
}
