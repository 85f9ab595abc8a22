/* SPDX-License-Identifier: Apache-2.0 */
/* Copies between the plain and the blocked layout, 16 elements of 16 samples at a time: as vectors
 * along the samples' own elements, turned over in registers. In: a nest that is such a copy. Out:
 * its code. */
#include "compile/6_source/print.h"
#include "tensor/sum_order.h"

struct copy {
    const struct value *from, *to;
    const struct affine *plain, *blocked; /* addresses in them */
    bool blocks;                          /* the result is the blocked one */
    int first;                            /* axis of the run */
    long long elements;                   /* of the run */
};

static struct copy copy_of(const struct printer *pr)
{
    const struct nest *n = pr->n;
    const struct store *s = &n->store[0];
    const struct access *from = &n->exprs[s->expr].access;
    return (struct copy){ .from = &pr->p->values[from->value],
                          .to = &pr->p->values[s->value],
                          .plain = s->in_block ? &from->address : &s->address,
                          .blocked = s->in_block ? &s->address : &from->address,
                          .blocks = s->in_block,
                          .first = n->copy.first,
                          .elements = (long long)n->copy.elements };
}

/* A slice of the run itself, of which `low` and `high` are the ends; else the whole run. */
static void open_run(struct printer *pr, struct copy *c)
{
    const struct schedule *s = pr->s;
    if (s->split_axis < c->first) {
        print_for(pr, "for (long e = 0; e < %lld; e += 16) {", c->elements);
        print_line(pr, "const long at = min(e, %lldL);", c->elements - LANES);
        return;
    }
    const long long each = c->elements / pr->n->extent[c->first];
    print_for(pr, "for (long e = low * %lld; e < high * %lld; e += 16) {", each, each);
    print_line(pr, "const long at = min(e, high * %lld - %d);", each, LANES);
}

/* Where vector `row` of the 16 lies: elements from `at` on of a sample, or an element of 16
 * samples. */
static void row_text(const struct printer *pr, const struct copy *c, bool plain, int value, int row,
                     struct text *t)
{
    struct affine rest = plain ? *c->plain : *c->blocked;
    const int batch = pr->n->batch_axis;
    const int32_t stride = rest.k[batch];
    struct text address = { 0 };
    rest.k[batch] = 0;
    print_affine(pr, &rest, &address);
    if (!plain)
        text_add(t, "v%d + 16 * (%s%s + at + %d)", value, block_start(&pr->p->values[value]).text,
                 address.data, row);
    else if (pr->tail && c->blocks)
        text_add(t, "v%d + %s + at + %d * min(16 * b + %d, %dL)", value, address.data, stride, row,
                 pr->p->module->batch - 1);
    else
        text_add(t, "v%d + %s + at + %d * (16 * b + %d)", value, address.data, stride, row);
    t->failed |= address.failed;
    text_free(&address);
}

static void print_rows(struct printer *pr, const struct copy *c, bool load)
{
    const struct store *s = &pr->n->store[0];
    const int value = load ? pr->n->exprs[s->expr].access.value : s->value;
    const struct value *v = load ? c->from : c->to;
    for (int i = 0; i < LANES; i++) {
        struct text where = { 0 };
        row_text(pr, c, load == c->blocks, value, i, &where);
        if (load)
            print_line(pr, "row[%d] = TARN_LOAD(%s, %s, %s);", i, value_space(v), memory_type(v),
                       where.data);
        else if (pr->tail && !c->blocks)
            print_line(pr, "if (16 * b + %d < %d) TARN_STORE(%s, %s, row[%d], %s);", i,
                       pr->p->module->batch, value_space(v), memory_type(v), i, where.data);
        else
            print_line(pr, "TARN_STORE(%s, %s, row[%d], %s);", value_space(v), memory_type(v), i,
                       where.data);
        pr->out->failed |= where.failed;
        text_free(&where);
    }
}

void print_copy(struct printer *pr)
{
    struct copy c = copy_of(pr);
    int loops = 1;
    for (; c.first < pr->s->split_axis;
         c.first++) /* the run begins with the axis that is divided */
        c.elements /= pr->n->extent[c.first];
    for (int a = 0; a < c.first; a++)
        if (a != pr->n->batch_axis)
            loops += open_loop(pr, a);
    for (int a = c.first; a < pr->n->axes; a++)
        set_constant(pr, a, 0);
    open_run(pr, &c); /* the last 16 may begin among those of the round before */
    print_line(pr, "%s16 row[16];", memory_type(c.from));
    print_rows(pr, &c, true);
    print_line(pr, "%s(%s, row)", turning(pr, c.from), memory_type(c.from));
    print_rows(pr, &c, false);
    close_loops(pr, loops);
}
