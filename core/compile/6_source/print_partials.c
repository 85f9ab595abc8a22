/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of partial sums: sixteen accumulators at a time become one register of their sums, which is
 * added to the group's row with as few stores as the addresses allow. In: a nest that adds up
 * samples. Out: its stores. */
#include <string.h>

#include "compile/6_source/print.h"
#include "tensor/sum_order.h"

/* Points of one register, and where each goes in the row. */
struct points {
    int first, count;
    struct affine address[LANES];
};

/* How many points from `at` on lie side by side in the row: 16, 8, 4 or 1. */
static int run_length(const struct points *p, int at)
{
    for (int length = LANES; length >= 4; length /= 2) {
        bool whole = at + length <= p->count;
        for (int i = 1; whole && i < length; i++) {
            struct affine next = p->address[at + i - 1];
            next.constant++;
            whole = affine_equal(&next, &p->address[at + i]);
        }
        if (whole)
            return length;
    }
    return 1;
}

/* Lanes [at, at + length) of a register, ".s4567" for instance. */
static void lane_names(int at, int length, char out[LANES + 3])
{
    static const char digits[] = "0123456789abcdef";
    if (length == LANES)
        out[0] = '\0';
    else
        text_fill(out, LANES + 3, ".s%.*s", length, digits + at);
}

static void store_run(struct printer *pr, const struct points *p, int at, int length)
{
    struct text address = { 0 };
    char lanes[LANES + 3];
    print_affine(pr, &p->address[at], &address);
    lane_names(at, length, lanes);
    if (length == 1) {
        print_line(pr, "row[%s] = b > first ? sums%s + row[%s] : sums%s;", address.data, lanes,
                   address.data, lanes);
    } else {
        print_line(pr, "vstore%d(b > first ? sums%s + vload%d(0, row + %s) : sums%s, 0, row + %s);",
                   length, lanes, length, address.data, lanes, address.data);
    }
    pr->out->failed |= address.failed;
    text_free(&address);
}

static void store_sums(struct printer *pr, const struct points *p)
{
    struct text list = { 0 };
    for (int i = 0; i < LANES; i++) /* what is missing is not stored */
        text_add(&list, "%sacc%d", i == 0 ? "" : ", ", p->first + (i < p->count ? i : 0));
    print_line(pr, "{");
    pr->indent++;
    print_line(pr, "const float16 sums = tarn_sums(%s);", list.data);
    print_line(pr, "__global float *row = v%d + %d * group;", pr->n->store[0].value,
               pr->p->values[pr->n->store[0].value].shape.dim[1]);
    for (int at = 0; at < p->count;) {
        const int length = run_length(p, at);
        store_run(pr, p, at, length);
        at += length;
    }
    pr->indent--;
    print_line(pr, "}");
    pr->out->failed |= list.failed;
    text_free(&list);
}

void print_own_row(struct printer *pr, int point)
{
    const struct store *s = &pr->n->store[0];
    struct text address = { 0 };
    print_affine(pr, &s->address, &address);
    print_line(pr, "{");
    pr->indent++;
    const char *type = register_name(pr->n->acc_dtype, 1);
    print_line(pr, "__global %s *row = v%d + %d * group + %s;", type, s->value,
               pr->p->values[s->value].shape.dim[1], address.data);
    if (pr->width == 1) {
        char acc[16], both[SUM_TEXT];
        text_fill(acc, sizeof acc, "acc%d", point);
        sum_text(pr, acc, "*row", both);
        print_line(pr, "*row = b > first ? %s : %s;", both, acc);
    } else {
        print_line(pr,
                   "TARN_STORE(__global, %s, b > first ? acc%d + TARN_LOAD(__global, %s, row) : "
                   "acc%d, row);",
                   type, point, type, point);
    }
    pr->indent--;
    print_line(pr, "}");
    pr->out->failed |= address.failed;
    text_free(&address);
}

/* The store's address with what is constant at this point of the tile folded in. */
static struct affine address_now(const struct printer *pr)
{
    struct affine a = pr->n->store[0].address;
    for (int i = 0; i < pr->n->axes; i++) {
        a.constant += a.k[i] * pr->axis[i].constant;
        if (pr->axis[i].variable[0] == '\0')
            a.k[i] = 0;
    }
    return a;
}

int print_sums(struct printer *pr, int points)
{
    struct points p = { 0 };
    const struct nest *n = pr->n;
    if (n->acc_dtype != TARN_F32 || !n->by->adds)
        return 0;
    for (; p.first + ROWS_LEAST <= points; p.first += LANES) {
        p.count = points - p.first < LANES ? points - p.first : LANES;
        for (int i = 0; i < p.count; i++) {
            set_tile_point(pr, 0, n->out_axes, p.first + i);
            p.address[i] = address_now(pr);
        }
        /* The variables stay, the constants of the tile are in the addresses. */
        for (int a = 0; a < n->out_axes; a++)
            pr->axis[a].constant = 0;
        store_sums(pr, &p);
    }
    return p.first < points ? p.first : points;
}
