/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes that lie apart in memory while a loop goes along it: a value in rows that is read or written by samples, or
 * the transposed operand of a product. Instead of single elements for each step of the loop, 16 steps read and write
 * squares of 16 by 16 elements as vectors along memory, turned over in registers. In: a nest, and the innermost of
 * its loops. Out: a loop over squares around it, and what the squares hold. */
#include <stdlib.h>
#include <string.h>

#include "compile/6_source/print.h"
#include "tensor/sum_order.h"

/* Whether lanes lie apart at an address that goes along memory with the axis. */
static bool address_goes_along(const struct printer *pr, int value, const struct affine *address,
                               int axis)
{
    const int k = lane_factor(pr, address);
    return k != 0 && k != 1 && address->k[axis] == 1 &&
           tarn_dtype_bytes(pr->p->values[value].dtype) == sizeof(float);
}

static bool goes_along(const struct printer *pr, const struct access *a, int axis)
{
    return !a->in_block && a->part_count == 0 && a->gather < 0 &&
           address_goes_along(pr, a->value, &a->address, axis);
}

static bool store_goes_along(const struct printer *pr, const struct store *s, int axis)
{
    return pr->n->combine == COMBINE_NONE && !s->in_block &&
           address_goes_along(pr, s->value, &s->address, axis);
}

static bool something_goes_along(const struct printer *pr, int axis)
{
    for (int e = 0; e < pr->n->expr_count; e++)
        if (pr->n->exprs[e].kind == EXPR_LOAD && goes_along(pr, &pr->n->exprs[e].access, axis))
            return true;
    for (int s = 0; s < pr->n->stores; s++)
        if (store_goes_along(pr, &pr->n->store[s], axis))
            return true;
    return false;
}

/* Whether parts of the axis, which groups share, are made of squares: others would overlap, and the last one would go
 * beyond the end. */
static bool parts_are_squares(const struct schedule *s, int axis)
{
    return axis != s->split_axis || (axis == s->squares_axis && s->split_step % LANES == 0);
}

/* Whether all rounds of the loop are of 16 elements. Guards would leave some out, and their reason is that
 * memory ends there. */
static bool goes_in_squares(const struct printer *pr, int axis)
{
    const struct nest *n = pr->n;
    const struct sum_loops *sum = pr->sum;
    const int tile = pr->s->tile[axis];
    if (pr->width != LANES || n->guards > 0 || n->transformed || axis == n->batch_axis ||
        axis == pr->lane_axis || n->extent[axis] % LANES != 0 || !parts_are_squares(pr->s, axis) ||
        LANES % tile != 0 || tile == n->extent[axis])
        return false;
    if (sum != NULL && sum->cut_axis == axis && sum->c.of[sum->cut_level].step % LANES != 0)
        return false;
    return something_goes_along(pr, axis);
}

int open_squares(struct printer *pr, struct squares *q, int axis)
{
    if (!goes_in_squares(pr, axis))
        return open_loop(pr, axis);
    const struct loop_range all = loop_range(pr, axis);
    const bool part = axis == pr->s->split_axis && pr->s->groups > 1;
    print_for(pr, "for (long at%d = %s; at%d < %s; at%d += 16) {", axis, part ? "low" : all.from,
              axis, part ? "high" : all.to, axis);
    q->axis = axis;
    q->at = pr->out->length;
    q->indent = pr->indent;
    pr->squares = q;
    set_loop(pr, axis, pr->s->tile[axis]);
    print_for(pr, "for (long i%d = at%d; i%d < at%d + 16; i%d += %d) {", axis, axis, axis, axis,
              axis, pr->s->tile[axis]);
    return 2;
}

/* What a square's first element is called, `step` elements before that of the next lane. */
static void print_square(struct printer *pr, struct squares *q, const struct access *a,
                         const char *first)
{
    const struct value *v = &pr->p->values[a->value];
    const char *type = register_name(v->dtype, LANES);
    struct text *out = pr->out;
    const int indent = pr->indent, number = q->count++;
    pr->out = &q->text;
    pr->indent = q->indent;
    print_line(pr, "%s square%d[16];", type, number);
    for (int i = 0; i < LANES; i++)
        print_line(pr, "square%d[%d] = TARN_LOAD(%s, %s, %s + %d);", number, i, value_space(v),
                   memory_type(v), first, i * lane_factor(pr, &a->address));
    print_line(pr, "%s(%s, square%d)", turning(pr, v), memory_type(v), number);
    pr->out = out;
    pr->indent = indent;
}

/* Where a square begins: the address at the first of its rounds. */
static struct text first_text(struct printer *pr, const struct squares *q, int value,
                              const struct affine *address)
{
    struct axis_now *now = &pr->axis[q->axis];
    const struct axis_now inside = *now;
    struct text first = { 0 }, rest = { 0 };
    text_fill(now->variable, sizeof now->variable, "at%d", q->axis);
    now->constant = 0;
    text_add(&first, "v%d + ", value);
    print_affine(pr, address, &rest);
    *now = inside;
    text_add(&first, "%s", rest.data != NULL ? rest.data : "");
    first.failed |= rest.failed;
    text_free(&rest);
    return first;
}

bool square_text(struct printer *pr, const struct access *a, struct text *t)
{
    struct squares *q = pr->squares;
    if (q == NULL || !goes_along(pr, a, q->axis))
        return false;
    struct text first = first_text(pr, q, a->value, &a->address);
    t->failed |= first.failed;
    int number = 0;
    while (!t->failed && number < q->count && strcmp(q->first[number], first.data) != 0)
        number++;
    const bool room = !t->failed && number + q->written_count < MOST_SQUARES;
    if (room && number == q->count) {
        q->first[number] = first.data;
        print_square(pr, q, a, first.data);
    } else {
        text_free(&first);
    }
    if (room)
        text_add(t, "square%d[i%d - at%d + %d]", number, q->axis, q->axis,
                 pr->axis[q->axis].constant);
    return room;
}

bool square_store(struct printer *pr, const struct store *s, const char *value)
{
    struct squares *q = pr->squares;
    const int number = (int)(s - pr->n->store);
    if (q == NULL || !store_goes_along(pr, s, q->axis) ||
        (!q->written[number] && q->count + q->written_count == MOST_SQUARES))
        return false;
    q->written_count += !q->written[number];
    q->written[number] = true;
    print_line(pr, "turned%d[i%d - at%d + %d] = %s;", number, q->axis, q->axis,
               pr->axis[q->axis].constant, value);
    return true;
}

/* A row of the square for each sample that there is. */
static void write_square(struct printer *pr, const struct squares *q, int number)
{
    const struct store *s = &pr->n->store[number];
    const struct value *v = &pr->p->values[s->value];
    const int k = lane_factor(pr, &s->address);
    const bool tail = nest_has_batch_lanes(pr->n) && pr->tail;
    struct text first = first_text(pr, q, s->value, &s->address);
    print_line(pr, "%s(%s, turned%d)", turning(pr, v), memory_type(v), number);
    for (int i = 0; i < LANES && first.data != NULL; i++) {
        const char *space = value_space(v), *type = memory_type(v);
        if (tail)
            print_line(
                pr,
                "if (16 * b + %d < %d) TARN_STORE(%s, %s, turned%d[%d], %s + %d * (16 * b + %d));",
                i, pr->n->extent[pr->n->batch_axis], space, type, number, i, first.data, k, i);
        else
            print_line(pr, "TARN_STORE(%s, %s, turned%d[%d], %s + %d);", space, type, number, i,
                       first.data, i * k);
    }
    pr->out->failed |= first.failed;
    text_free(&first);
}

/* Declares the squares that are written, before those that are read. */
static void add_before(struct printer *pr, const struct squares *q)
{
    char *rest = pr->out->failed ? NULL : strdup(pr->out->data + q->at);
    pr->out->failed |= rest == NULL || q->text.failed;
    if (rest == NULL)
        return;
    pr->out->length = q->at;
    for (int s = 0; s < pr->n->stores; s++)
        if (q->written[s])
            text_add(pr->out, "%*s%s turned%d[16];\n", 4 * q->indent, "",
                     register_name(pr->p->values[pr->n->store[s].value].dtype, LANES), s);
    text_add(pr->out, "%s%s", q->text.data != NULL ? q->text.data : "", rest);
    free(rest);
}

int close_squares(struct printer *pr, struct squares *q)
{
    const bool writes = q->written_count > 0;
    pr->squares = NULL;
    if (q->count > 0 || writes)
        add_before(pr, q);
    if (writes)
        close_loops(pr, 1);
    for (int s = 0; writes && s < pr->n->stores; s++)
        if (q->written[s])
            write_square(pr, q, s);
    text_free(&q->text);
    for (int i = 0; i < q->count; i++)
        free(q->first[i]);
    q->count = 0;
    return writes;
}
