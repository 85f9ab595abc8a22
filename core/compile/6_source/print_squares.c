/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes that lie apart in memory while a loop goes along it: a value in rows that is read by samples, or the
 * transposed operand of a product. Instead of single elements for each step of the loop, 16 steps read squares of
 * 16 by 16 elements as vectors along memory, turned over in registers. In: a nest, and the innermost of its loops.
 * Out: a loop over squares around it, and what the squares hold. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile/6_source/print.h"
#include "tensor/sum_order.h"

/* Whether a load is of lanes that lie apart, and goes along memory with the axis. */
static bool goes_along(const struct printer *pr, const struct access *a, int axis)
{
    const int k = lane_factor(pr, &a->address);
    return !a->in_block && a->part_count == 0 && a->gather < 0 && k != 0 && k != 1 &&
           a->address.k[axis] == 1 &&
           tarn_dtype_bytes(pr->p->values[a->value].dtype) == sizeof(float);
}

static bool some_load_goes_along(const struct printer *pr, int axis)
{
    for (int e = 0; e < pr->n->expr_count; e++)
        if (pr->n->exprs[e].kind == EXPR_LOAD && goes_along(pr, &pr->n->exprs[e].access, axis))
            return true;
    return false;
}

/* Whether all rounds of the loop are of 16 elements. Guards would leave some out, and their reason is that
 * memory ends there. */
static bool goes_in_squares(const struct printer *pr, int axis)
{
    const struct nest *n = pr->n;
    const struct sum_loops *sum = pr->sum;
    const int tile = pr->s->tile[axis];
    if (pr->width != LANES || n->guards > 0 || n->transformed || axis == n->batch_axis ||
        axis == pr->lane_axis || axis == pr->s->split_axis || n->extent[axis] % LANES != 0 ||
        LANES % tile != 0 || tile == n->extent[axis])
        return false;
    if (sum != NULL && sum->cut_axis == axis && sum->c.of[sum->cut_level].step % LANES != 0)
        return false;
    return some_load_goes_along(pr, axis);
}

int open_squares(struct printer *pr, struct squares *q, int axis)
{
    if (!goes_in_squares(pr, axis))
        return open_loop(pr, axis);
    const struct loop_range all = loop_range(pr, axis);
    print_for(pr, "for (long at%d = %s; at%d < %s; at%d += 16) {", axis, all.from, axis, all.to,
              axis);
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
    print_line(pr, "{");
    pr->indent++;
    print_line(pr, "%s other[16];", type);
    for (int i = 0; i < LANES; i++)
        print_line(pr, "square%d[%d] = TARN_LOAD(%s, %s, %s + %d);", number, i, value_space(v),
                   memory_type(v), first, i * lane_factor(pr, &a->address));
    print_line(pr, "TARN_TRANSPOSE(square%d, other)", number);
    pr->indent--;
    print_line(pr, "}");
    pr->out = out;
    pr->indent = indent;
}

bool square_text(struct printer *pr, const struct access *a, struct text *t)
{
    struct squares *q = pr->squares;
    if (q == NULL || !goes_along(pr, a, q->axis))
        return false;
    struct axis_now *now = &pr->axis[q->axis];
    const struct axis_now inside = *now;
    struct text first = { 0 };
    snprintf(now->variable, sizeof now->variable, "at%d", q->axis);
    now->constant = 0;
    text_add(&first, "v%d + ", a->value);
    struct text address = { 0 };
    print_affine(pr, &a->address, &address);
    *now = inside;
    text_add(&first, "%s", address.data != NULL ? address.data : "");
    t->failed |= first.failed || address.failed;
    text_free(&address);
    int number = 0;
    while (!t->failed && number < q->count && strcmp(q->first[number], first.data) != 0)
        number++;
    const bool room = !t->failed && number < MOST_SQUARES;
    if (room && number == q->count) {
        q->first[number] = first.data;
        print_square(pr, q, a, first.data);
    } else {
        text_free(&first);
    }
    if (room)
        text_add(t, "square%d[i%d - at%d + %d]", number, q->axis, q->axis, inside.constant);
    return room;
}

void close_squares(struct printer *pr, struct squares *q)
{
    pr->squares = NULL;
    if (q->count == 0)
        return;
    char *rest = pr->out->failed ? NULL : strdup(pr->out->data + q->at);
    if (rest != NULL) {
        pr->out->length = q->at;
        text_add(pr->out, "%s%s", q->text.data != NULL ? q->text.data : "", rest);
    }
    pr->out->failed |= rest == NULL || q->text.failed;
    free(rest);
    text_free(&q->text);
    for (int i = 0; i < q->count; i++)
        free(q->first[i]);
    q->count = 0;
}
