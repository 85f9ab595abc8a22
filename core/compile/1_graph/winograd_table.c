/* SPDX-License-Identifier: Apache-2.0 */
/* The constant tables of Winograd's convolution, by Lagrange interpolation: a product of
 * polynomials is known from its values at as many points as it has coefficients, infinity among
 * them; the transposed computation is the convolution. All entries but those of the weight's table
 * are exact. In: the size of a window. Out: factors. Knows neither nodes nor nests. */
#include <string.h>

#include "compile/1_graph/winograd_table.h"

#define STEP 4 /* outputs of a tile along one direction */

int transform_table_number(enum transform_role role, int window)
{
    return (int)role * 16 + window;
}

/* Coefficients of the product of (x - q) over the first `count` points but number `skip`. */
static void product_of_roots(const double *point, int count, int skip,
                             double out[TRANSFORM_LONGEST])
{
    memset(out, 0, TRANSFORM_LONGEST * sizeof *out);
    out[0] = 1;
    for (int q = 0; q < count; q++) {
        if (q == skip)
            continue;
        for (int i = TRANSFORM_LONGEST - 1; i >= 0; i--)
            out[i] = (i > 0 ? out[i - 1] : 0) - point[q] * out[i];
    }
}

/* Row p: powers of point p, up to length - 1; infinity sees the last coefficient alone. */
static void powers(const double *point, int points, int length, struct transform_table *t)
{
    t->rows = points;
    t->columns = length;
    for (int p = 0; p < points - 1; p++) {
        double power = 1;
        for (int k = 0; k < length; ++k, power *= point[p])
            t->entry[p][k] = power;
    }
    t->entry[points - 1][length - 1] = 1;
}

/* All but infinity, in pairs, by which transforms share sums. Results of windows of 3 lose half as many digits as at 1 and 2,
 * of windows of 5 fewest at these; and products of few of them are exact in float32. */
static const double *points_of(int window)
{
    static const double of_3[] = { 0, 0.625, -0.625, 1.5, -1.5 };
    static const double of_5[] = { 0, 1, -1, 2, -2, 0.5, -0.5 };
    return window == 3 ? of_3 : of_5;
}

static void make_rows(enum transform_role role, int window, struct transform_table *t)
{
    const double *point = points_of(window);
    const int points = STEP + window - 1;
    if (role == TRANSFORM_OUTPUT_GRAD) {
        powers(point, points, STEP, t);
        return;
    }
    if (role == TRANSFORM_INPUT) {
        t->rows = t->columns = points;
        for (int p = 0; p < points; p++)
            product_of_roots(point, points - 1, p, t->entry[p]);
        return;
    }
    powers(point, points, window, t);
    for (int p = 0; p < points - 1; p++) {
        double scale = 1;
        for (int q = 0; q < points - 1; q++)
            scale *= q == p ? 1 : point[p] - point[q];
        for (int k = 0; k < window; k++)
            t->entry[p][k] /= scale;
    }
}

struct transform_table transform_table_make(int number)
{
    const enum transform_role role = (enum transform_role)(number / 16);
    struct transform_table t = { 0 }, flat = { 0 };
    if (role == TRANSFORM_ONES) {
        t.rows = 1;
        t.columns = TRANSFORM_LONGEST;
        for (int k = 0; k < TRANSFORM_LONGEST; k++)
            t.entry[0][k] = 1;
        return t;
    }
    const bool transposed = role >= TRANSFORM_OUTPUT;
    const enum transform_role rows = role == TRANSFORM_OUTPUT        ? TRANSFORM_OUTPUT_GRAD
                                     : role == TRANSFORM_INPUT_GRAD  ? TRANSFORM_INPUT
                                     : role == TRANSFORM_WEIGHT_GRAD ? TRANSFORM_WEIGHT
                                                                     : role;
    make_rows(rows, number % 16, &t);
    if (!transposed)
        return t;
    flat.rows = t.columns;
    flat.columns = t.rows;
    flat.paired = true;
    for (int i = 0; i < flat.rows; i++)
        for (int k = 0; k < flat.columns; k++)
            flat.entry[i][k] = t.entry[k][i];
    return flat;
}
