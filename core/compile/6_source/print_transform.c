/* SPDX-License-Identifier: Apache-2.0 */
/* Sums with factors from constant tables: terms with 0 vanish, 1 and -1 need no multiplication, and
 * what rows have in common is computed once. In: a transform and its table. Out: statements. */
#include <string.h>

#include "compile/1_graph/winograd_table.h"
#include "compile/6_source/print.h"

struct term {
    double factor;
    char name[NAME];
};
struct terms {
    struct term term[TRANSFORM_LONGEST];
    int count;
};

static void terms_add(struct terms *t, double factor, const char *name)
{
    t->term[t->count].factor = factor;
    text_fill(t->term[t->count++].name, NAME, "%s", name);
}

/* The sum of terms, in their order, as one statement. */
static void sum_of(struct printer *pr, const struct terms *t, char name[NAME])
{
    const char *type = register_name(TARN_F32, pr->width);
    struct text sum = { 0 };
    for (int i = 0; i < t->count; i++) {
        const char *x = t->term[i].name;
        const double f = t->term[i].factor;
        struct text old = sum;
        const char *before = old.data != NULL ? old.data : "";
        sum = (struct text){ 0 };
        if (i == 0 && (f == 1 || f == -1))
            text_add(&sum, "%s%s", f < 0 ? "-" : "", x);
        else if (i == 0)
            text_add(&sum, "%s * (%s)(%af)", x, type, (double)(float)f);
        else if (f == 1 || f == -1)
            text_add(&sum, "(%s) %s %s", before, f < 0 ? "-" : "+", x);
        else
            text_add(&sum, "fma(%s, (%s)(%af), %s)", x, type, (double)(float)f, before);
        sum.failed |= old.failed;
        text_free(&old);
    }
    if (t->count == 1 && t->term[0].factor == 1) {
        text_fill(name, NAME, "%s", t->term[0].name);
        text_free(&sum);
        return;
    }
    print_define(pr, type, &sum, name);
}

/* The term of one operand; none where the table or the operand is zero. */
static bool operand_at(struct printer *pr, const struct expr *e, double factor, int column,
                       char name[NAME])
{
    if (factor == 0)
        return false;
    pr->axis[e->over] = (struct axis_now){ .constant = column, .step = 1 };
    print_expr(pr, e->arg[0], name);
    return !print_is_zero(pr, name);
}

/* Columns in pairs whose factors differ in sign at most: their sum or difference serves other rows
 * too. */
static void paired_terms(struct printer *pr, const struct expr *e,
                         const struct transform_table *table, int row, int columns,
                         struct terms *out)
{
    const double *f = table->entry[row];
    for (int c = 0; c < columns; c++) {
        char x[NAME], y[NAME];
        const bool pair = c % 2 == 1 && c + 2 < columns && (f[c] == f[c + 1] || f[c] == -f[c + 1]);
        const bool has_x = operand_at(pr, e, f[c], c, x);
        const bool has_y = pair && operand_at(pr, e, f[c + 1], c + 1, y);
        if (has_x && has_y) {
            struct terms two = { .count = 0 };
            terms_add(&two, 1, x);
            terms_add(&two, f[c] == f[c + 1] ? 1 : -1, y);
            sum_of(pr, &two, x);
            terms_add(out, f[c], x);
        } else {
            if (has_x)
                terms_add(out, f[c], x);
            if (has_y)
                terms_add(out, f[c + 1], y);
        }
        c += pair;
    }
}

/* Even and odd columns apart, with a positive first factor: a row that differs in the sign of one
 * of the two reuses both. */
static void split_terms(struct printer *pr, const struct expr *e,
                        const struct transform_table *table, int row, int columns,
                        struct terms *out)
{
    const double *f = table->entry[row];
    for (int odd = 0; odd < 2; odd++) {
        struct terms half = { .count = 0 };
        double sign = 1;
        for (int c = odd; c < columns; c += 2) {
            char x[NAME];
            if (!operand_at(pr, e, f[c], c, x))
                continue;
            if (half.count == 0)
                sign = f[c] < 0 ? -1 : 1;
            terms_add(&half, sign * f[c], x);
        }
        if (half.count == 0)
            continue;
        char name[NAME];
        sum_of(pr, &half, name);
        terms_add(out, sign, name);
    }
}

void print_transform(struct printer *pr, const struct expr *e, char name[NAME])
{
    const struct transform_table table = transform_table_make(e->table);
    const int columns = pr->n->extent[e->over];
    int row = e->index.e.constant;
    for (int a = 0; a < pr->n->axes; a++)
        row += e->index.e.k[a] * pr->axis[a].constant;
    struct terms terms = { .count = 0 };
    if (row < table.rows && table.paired)
        paired_terms(pr, e, &table, row, columns, &terms);
    else if (row < table.rows)
        split_terms(pr, e, &table, row, columns, &terms);
    if (terms.count == 0)
        print_zero(pr, name);
    else
        sum_of(pr, &terms, name);
}
