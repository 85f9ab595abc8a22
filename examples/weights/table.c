/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison as a table: a first pass measures the columns, a second one prints. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "compare.h"
#include "terminal.h"

enum column { NAME, TYPE, SHAPE, VERDICT, DIFFERENT, NANS, ABS, REL, ULP, FIRST, COLUMNS };
enum { CELL = 512 };

static const char *const titles[COLUMNS] = { "tensor",          "type",    "shape",
                                             "verdict",         "differ",  "NaN",
                                             "max abs",         "max rel", "max ULP",
                                             "first difference" };

static const char *const states[] = {
    [ROW_EQUAL] = "equal",
    [ROW_WITHIN] = "within",
    [ROW_DIFFERENT] = "different",
    [ROW_ONLY_FIRST] = "only in first",
    [ROW_ONLY_SECOND] = "only in second",
    [ROW_OTHER_TYPE] = "other type",
    [ROW_OTHER_SHAPE] = "other shape",
};

static void shape_cell(const tarn_weight *w, char *out, size_t capacity)
{
    size_t n = (size_t)snprintf(out, capacity, "[");
    for (int i = 0; i < w->rank; i++)
        n += (size_t)snprintf(out + n, capacity - n, "%s%" PRIu64, i ? "," : "", w->dim[i]);
    snprintf(out + n, capacity - n, "]");
}

/* Both sides where they may differ, one where they cannot. */
static void side_cell(const struct row *r, enum column column, char *out)
{
    char a[CELL / 2 - 2] = "", b[CELL / 2 - 2] = "";
    const tarn_weight *sides[] = { &r->a, &r->b };
    char *texts[] = { a, b };
    for (int i = 0; i < 2; i++) {
        if (sides[i]->name != NULL && column == TYPE)
            snprintf(texts[i], sizeof a, "%s", sides[i]->dtype);
        else if (sides[i]->name != NULL)
            shape_cell(sides[i], texts[i], sizeof a);
    }
    const bool both = *a && *b && strcmp(a, b) != 0;
    snprintf(out, CELL, "%s%s%s", *a ? a : b, both ? " / " : "", both ? b : "");
}

static void first_cell(const struct row *r, char *out)
{
    char a[64], b[64];
    const size_t at = (size_t)r->d.first;
    const int digits = (int)(2 * r->a.width);
    tarn_weight_text(&r->a, at, a, sizeof a);
    tarn_weight_text(&r->b, at, b, sizeof b);
    if (r->a.kind == TARN_WEIGHT_BITS)
        snprintf(out, CELL, "at %zu: %s, %s", at, a, b);
    else
        snprintf(out, CELL, "at %zu: %s (0x%0*" PRIx64 "), %s (0x%0*" PRIx64 ")", at, a, digits,
                 tarn_weight_bits(&r->a, at), b, digits, tarn_weight_bits(&r->b, at));
}

/* "-" where a column says nothing about a row. */
static bool applies(const struct row *r, enum column column)
{
    if (!row_compared(r))
        return false;
    const bool differs = r->d.different > 0;
    switch (column) {
    case NANS:
        return r->a.kind == TARN_WEIGHT_FLOAT && (r->d.nan_a || r->d.nan_b);
    case ABS:
        return differs && r->a.kind != TARN_WEIGHT_BITS;
    case REL:
    case ULP:
        return differs && r->a.kind == TARN_WEIGHT_FLOAT;
    default:
        return differs;
    }
}

static void number_cell(const struct row *r, enum column column, char *out)
{
    const tarn_weight_difference *d = &r->d;
    if (column == DIFFERENT)
        snprintf(out, CELL, "%" PRIu64, d->different);
    else if (column == NANS)
        snprintf(out, CELL, "%" PRIu64 " / %" PRIu64, d->nan_a, d->nan_b);
    else if (column == ABS && r->a.kind == TARN_WEIGHT_FLOAT)
        snprintf(out, CELL, "%.3g", d->max_abs);
    else if (column == REL)
        snprintf(out, CELL, "%.3g", d->max_rel);
    else
        snprintf(out, CELL, "%" PRIu64, d->max_steps);
}

static const char *cell(const struct row *r, enum column column, char out[CELL])
{
    if (column == NAME)
        return row_name(r);
    if (column == VERDICT)
        return states[r->state];
    if (column == TYPE || column == SHAPE)
        side_cell(r, column, out);
    else if (!applies(r, column))
        return "-";
    else if (column == FIRST)
        first_cell(r, out);
    else
        number_cell(r, column, out);
    return out;
}

/* Characters of UTF-8, which is as much as aligning needs here. */
static int width_of(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

static void print_cell(const char *text, enum column column, int width)
{
    const int space = width - width_of(text);
    const bool right = column >= DIFFERENT && column <= ULP;
    if (column == FIRST)
        puts(text);
    else
        printf("%*s%s%*s  ", right ? space : 0, "", text, right ? 0 : space, "");
}

void table_print(const struct comparison *c)
{
    char text[CELL];
    int width[COLUMNS];
    for (int k = 0; k < COLUMNS; k++) {
        width[k] = width_of(titles[k]);
        for (size_t i = 0; i < c->count; i++) {
            const int w = width_of(cell(&c->rows[i], (enum column)k, text));
            width[k] = w > width[k] ? w : width[k];
        }
    }
    printf("first:  %s\nsecond: %s\n", terminal_name(c->first), terminal_name(c->second));
    for (int k = 0; k < COLUMNS; k++)
        print_cell(titles[k], (enum column)k, width[k]);
    for (size_t i = 0; i < c->count; i++) {
        for (int k = 0; k < COLUMNS; k++)
            print_cell(cell(&c->rows[i], (enum column)k, text), (enum column)k, width[k]);
    }
    putchar('\n');
}
