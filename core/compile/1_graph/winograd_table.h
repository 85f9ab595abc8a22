/* SPDX-License-Identifier: Apache-2.0 */
/* The constant matrices of Winograd's algorithm, by number. */
#ifndef TARN_WINOGRAD_TABLE_H
#define TARN_WINOGRAD_TABLE_H

#include <stdbool.h>

#define TRANSFORM_LONGEST 8
/* Winograd's F(4, window), window 3 or 5, over the points 0, 1, -1, 2, -2, (1/2, -1/2,) infinity. */
enum transform_role {
    TRANSFORM_INPUT,       /* input: a x a */
    TRANSFORM_OUTPUT_GRAD, /* gradient of the output: a x 4 */
    TRANSFORM_WEIGHT,      /* a x window */
    TRANSFORM_OUTPUT,      /* transposes of these three, in this order: a tile of the output, */
    TRANSFORM_INPUT_GRAD,  /* of the gradient of the input, */
    TRANSFORM_WEIGHT_GRAD, /* of the weight */
    TRANSFORM_ONES
};
struct transform_table {
    int rows, columns;
    bool paired; /* columns 1 and 2, 3 and 4, ... differ in sign at most. Where it is false, rows 1
                    and 2, 3 and 4, ... have equal even columns, and odd ones of opposite sign. So
                    partial sums serve two columns, or two rows. */
    double entry[TRANSFORM_LONGEST][TRANSFORM_LONGEST];
};
int transform_table_number(enum transform_role role, int window);
struct transform_table transform_table_make(int number);

#endif
