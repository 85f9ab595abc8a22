/* SPDX-License-Identifier: Apache-2.0 */
/* Sums as OpenCL C: accumulators, and the terms of a tile under their guards. In: a scheduled nest, with the loops around
 * them open. Out: its code. Decides nothing. */
#include <stdlib.h>
#include <string.h>

#include "compile/6_source/print.h"

/* ---- accumulators --------------------------------------------------------------------------- */

static const char *identity_in(const struct nest *n, tarn_dtype dtype)
{
    static const int place[DTYPES] = { [TARN_I32] = 1, [TARN_F64] = 2, [TARN_I64] = 3 };
    return n->by->identity[place[dtype]];
}

const char *identity(const struct nest *n)
{
    return identity_in(n, n->acc_dtype);
}

struct short_text lanes_function(const struct nest *n)
{
    struct short_text t;
    text_fill(t.text, sizeof t.text, "%s_%s", n->by->lanes, register_name(n->acc_dtype, 1));
    return t;
}

void declare_accumulators(struct printer *pr)
{
    const struct nest *n = pr->n;
    const int points = tile_points(pr, 0, n->out_axes);
    for (int i = 0; i < points; i++) {
        if (nest_searches(n)) {
            const tarn_dtype d = n->exprs[n->body[0]].dtype;
            const char *type = register_name(d, pr->width);
            print_line(pr, "%s best%d = (%s)(%s);", type, i, type, identity_in(n, d));
        }
        const char *type = register_name(n->acc_dtype, pr->width);
        print_line(pr, "%s acc%d = (%s)(%s);", type, i, type, nest_searches(n) ? "0" : identity(n));
    }
}

/* The combination's code for a value and what came before it. */
static struct text combined(struct printer *pr, const char *v, const char *before)
{
    struct text t = { 0 };
    struct code_names names = { 0 };
    text_fill(names.of[0], NAME, "%s", v);
    text_fill(names.of[1], NAME, "%s", before);
    expand_code(pr->n->by->code, &names, pr->width, &t);
    pr->out->failed |= t.failed;
    return t;
}

/* Which of the macros of integers that wrap a nest's sums call. */
static const char *integers(const struct nest *n)
{
    return n->acc_dtype == TARN_I64 ? "LONG" : "INT";
}

void sum_text(const struct printer *pr, const char *a, const char *b, char out[SUM_TEXT])
{
    if (dtype_is_float(pr->n->acc_dtype))
        text_fill(out, SUM_TEXT, "%s + %s", a, b);
    else
        text_fill(out, SUM_TEXT, "TARN_ADD_%s_%d(%s, %s)", integers(pr->n), pr->width, a, b);
}

/* Combines value `v` into accumulator text `acc`; both of the printer's width. */
void combine_line(struct printer *pr, const char *acc, const char *v)
{
    if (pr->n->by->adds && !dtype_is_float(pr->n->acc_dtype)) {
        char both[SUM_TEXT];
        sum_text(pr, acc, v, both);
        print_line(pr, "%s = %s;", acc, both);
        return;
    }
    if (pr->n->by->adds) {
        print_line(pr, "%s += %s;", acc, v);
        return;
    }
    struct text both = combined(pr, v, acc);
    print_line(pr, "%s = %s;", acc, both.data != NULL ? both.data : "");
    text_free(&both);
}

void combine_lane_sums(struct printer *pr)
{
    for (int i = 0; i < tile_points(pr, 0, pr->n->out_axes); i++) {
        char acc[NAME], sum[NAME];
        text_fill(acc, sizeof acc, "acc%d", i);
        text_fill(sum, sizeof sum, "sum%d", i);
        combine_line(pr, acc, sum);
    }
}

/* Lanes beyond the batch count as nothing where the batch is reduced. */
static void mask_tail(struct printer *pr, char name[NAME])
{
    if (!pr->tail || !pr->n->partial || pr->n->by_sample)
        return;
    char masked[NAME];
    text_fill(masked, sizeof masked, "t%d", ++pr->temporaries);
    const char *type = register_name(pr->n->acc_dtype, pr->width);
    print_line(pr, "const %s %s = present ? %s : (%s)(%s);", type, masked, name, type,
               identity(pr->n));
    memcpy(name, masked, NAME);
}

static void search_lines(struct printer *pr, int point, const char *v)
{
    struct text index = { 0 };
    char best[NAME];
    text_fill(best, sizeof best, "best%d", point);
    struct text better = combined(pr, v, best);
    print_affine(pr, &pr->n->arg_index.e, &index);
    const int w = pr->width;
    const char *type = register_name(TARN_I32, w);
    print_line(pr, "{");
    print_line(pr, "    const %s better = %s;", type, better.data != NULL ? better.data : "");
    print_line(pr, "    acc%d = TARN_SELECT_%d(better, (%s)((int)(%s)), acc%d);", point, w, type,
               index.data, point);
    print_line(pr, "    %s = TARN_SELECT_%d(better, %s, %s);", best, w, v, best);
    print_line(pr, "}");
    pr->out->failed |= index.failed;
    text_free(&better);
    text_free(&index);
}

/* One unrolled point of the body: combine, or multiply-add. */
static void body_point(struct printer *pr, int point, const char *lanes_mask)
{
    const struct nest *n = pr->n;
    char a[NAME], b[NAME], acc[NAME];
    text_fill(acc, sizeof acc, "acc%d", point);
    print_factor(pr, 0, a);
    if (n->combine != COMBINE_FMA) {
        if (nest_searches(n)) {
            search_lines(pr, point, a);
            return;
        }
        mask_tail(pr, a);
        combine_line(pr, acc, a);
        return;
    }
    print_factor(pr, 1, b);
    mask_tail(pr, a);
    char term[5 * NAME];
    if (dtype_is_float(n->acc_dtype))
        text_fill(term, sizeof term, "fma(%s, %s, %s)", a, b, acc);
    else
        text_fill(term, sizeof term, "TARN_ADD_%s_%d(TARN_MUL_%s_%d(%s, %s), %s)", integers(n),
                  pr->width, integers(n), pr->width, a, b, acc);
    if (lanes_mask[0] != '\0')
        print_line(pr, "%s = %s ? %s : %s;", acc, lanes_mask, term, acc);
    else
        print_line(pr, "%s = %s;", acc, term);
}

enum verdict guards_here(struct printer *pr, struct text *t, bool *lanes)
{
    enum verdict all = ALWAYS;
    const struct nest *n = pr->n;
    for (int g = 0; g < n->guards; g++)
        *lanes |= guard_divides_lanes(pr, &n->guard[g]);
    for (int g = 0; g < n->guards; g++) {
        struct text one = { 0 };
        bool vector = false;
        if ((pr->guards_met >> g & 1) != 0)
            continue;
        const enum verdict v = print_guard(pr, &n->guard[g], &one, &vector);
        if (v == DEPENDS)
            text_add(t, *lanes && !vector ? "%s(int16)(-%s)" : "%s%s",
                     t->length == 0 ? ""
                     : *lanes       ? " & "
                                    : " && ",
                     one.data);
        t->failed |= one.failed;
        text_free(&one);
        if (v == NEVER)
            return NEVER;
        all = v == DEPENDS ? DEPENDS : all;
    }
    return all;
}

/* What a point multiplies or adds, as names that are known from here on. */
static void load_point(struct printer *pr)
{
    char name[NAME];
    print_factor(pr, 0, name);
    if (pr->n->combine == COMBINE_FMA)
        print_factor(pr, 1, name);
}

/* When a point of a round counts. */
struct condition {
    struct text text; /* if it depends */
    enum verdict verdict;
    bool lanes; /* a condition of lanes: they are left out, and not the point */
};

static struct condition condition_here(struct printer *pr, const char *enclosing)
{
    struct condition c = { .lanes = false };
    c.verdict = guards_here(pr, &c.text, &c.lanes);
    pr->out->failed |= c.text.failed;
    if (c.text.failed)
        c.verdict = NEVER; /* so that the others have a text */
    else if (c.verdict == DEPENDS &&
             (pr->inside || (enclosing != NULL && !c.lanes && strcmp(enclosing, c.text.data) == 0)))
        c.verdict = ALWAYS;
    return c;
}

static bool branches(const struct condition *c)
{
    return c->verdict == DEPENDS && !c->lanes;
}

static void point_of_lanes(struct printer *pr, int point, struct condition *c)
{
    char mask[NAME];
    /* One name for equal ones: what they load is equal, too. */
    print_define(pr, "int16", &c->text, mask);
    c->text = (struct text){ 0 };
    memcpy(pr->mask, mask, NAME);
    body_point(pr, point, mask);
    pr->mask[0] = '\0';
}

/* One branch for all points that count when point `first` does: a branch for each would be a load for each, too, and the
 * driver's compiler takes a time that grows with the square of their number. */
static void branch(struct printer *pr, struct condition *point, int first, int points)
{
    const int scope = pr->known_count;
    const char *when = point[first].text.data;
    print_line(pr, "if (%s) {", when);
    pr->indent++;
    for (int i = first; i < points; i++)
        if (branches(&point[i]) && strcmp(point[i].text.data, when) == 0) {
            set_tile_point(pr, 0, pr->n->out_axes, i);
            body_point(pr, i, "");
            point[i].verdict = NEVER;
        }
    known_reset(pr, scope);
    pr->indent--;
    print_line(pr, "}");
}

/* The points of a tile at one point of the summed axes, in any order: each has a sum of its own. With `loads` only what
 * those load that always count. */
static void print_round(struct printer *pr, struct condition *point, int points,
                        const char *enclosing, bool loads)
{
    const int out_axes = pr->n->out_axes;
    for (int i = 0; i < points; i++) {
        set_tile_point(pr, 0, out_axes, i);
        point[i] = condition_here(pr, enclosing);
    }
    for (int i = 0; i < points; i++) {
        set_tile_point(pr, 0, out_axes, i);
        if (point[i].verdict == ALWAYS)
            loads ? load_point(pr) : body_point(pr, i, "");
        else if (!loads && branches(&point[i]))
            branch(pr, point, i, points);
        else if (!loads && point[i].verdict == DEPENDS)
            point_of_lanes(pr, i, &point[i]);
    }
    for (int i = 0; i < points; i++)
        text_free(&point[i].text);
}

/* What the guards of the body's points come to. */
struct conditions {
    struct text all;    /* every different condition, joined by && */
    bool differ;        /* there are two */
    bool always, lanes; /* some point has none; some condition is one of lanes */
};

static void see_condition(struct printer *pr, struct conditions *c)
{
    struct text t = { 0 };
    const enum verdict v = guards_here(pr, &t, &c->lanes);
    c->always |= v == ALWAYS;
    const bool depends = v == DEPENDS && t.data != NULL;
    if (depends && c->all.data == NULL) {
        text_add(&c->all, "%s", t.data);
    } else if (depends && strcmp(c->all.data, t.data) != 0) {
        c->differ = true; /* also from one that implies it, which stands in the text already */
        if (strstr(c->all.data, t.data) == NULL)
            text_add(&c->all, " && %s", t.data);
    }
    pr->out->failed |= t.failed || c->all.failed;
    text_free(&t);
}

static void print_points(struct printer *pr, const char *enclosing)
{
    const struct nest *n = pr->n;
    const int red_points = tile_points(pr, n->out_axes, n->axes);
    const int out_points = tile_points(pr, 0, n->out_axes);
    const int scope = pr->known_count;
    struct condition *point = calloc((size_t)out_points, sizeof *point);
    if (point == NULL) {
        pr->out->failed = true;
        return;
    }
    pr->indent++;
    /* A GPU waits for all loads of a round together if they stand side by side. */
    for (int pass = pr->items ? 0 : 1; pass < 2; pass++)
        for (int k = 0; k < red_points; k++) {
            set_tile_point(pr, n->out_axes, n->axes, k);
            print_round(pr, point, out_points, enclosing, pass == 0);
        }
    pr->indent--;
    known_reset(pr, scope);
    free(point);
}

void print_body(struct printer *pr)
{
    const struct nest *n = pr->n;
    struct conditions c = { 0 };
    for (int k = tile_points(pr, n->out_axes, n->axes) - 1; k >= 0; k--) {
        set_tile_point(pr, n->out_axes, n->axes, k);
        for (int i = tile_points(pr, 0, n->out_axes) - 1; i >= 0; i--) {
            set_tile_point(pr, 0, n->out_axes, i);
            see_condition(pr, &c);
        }
    }
    const bool shared = c.all.data != NULL && !c.differ && !c.always && !c.lanes;
    /* Inside of an image no point is left out: one branch there instead of one for each point. */
    const bool inside = c.all.data != NULL && !shared && !c.lanes;
    if (shared || inside)
        print_line(pr, "if (%s) {", c.all.data);
    if (inside) {
        pr->inside = true;
        print_points(pr, NULL);
        pr->inside = false;
        print_line(pr, "} else {");
    }
    pr->indent -= !shared && !inside;
    print_points(pr, shared ? c.all.data : NULL);
    pr->indent += !shared && !inside;
    if (shared || inside)
        print_line(pr, "}");
    text_free(&c.all);
}
