/* SPDX-License-Identifier: Apache-2.0 */
/* The constant matrices of Winograd's algorithm, by number. */
#ifndef TARN_WINOGRAD_TABLE_H
#define TARN_WINOGRAD_TABLE_H

#include <stdbool.h>

#define MIX_LONGEST 8
/* Winograd's F(4, window), window 3 or 5, over the points 0, 1, -1, 2, -2, (1/2, -1/2,) infinity. */
enum mix_role {
    MIX_TAKE,   /* input: a x a */
    MIX_GIVE,   /* gradient of the output: a x 4 */
    MIX_WEIGHT, /* a x window */
    MIX_RESULT, /* transposes of these three, in this order: a tile of the output, */
    MIX_SPREAD, /* of the gradient of the input, */
    MIX_WINDOW, /* of the weight */
    MIX_ONES
};
struct mix_table {
    int rows, columns;
    bool paired; /* columns 1 and 2, 3 and 4, ... differ in sign at most; else these rows are equal
                    in even columns, and in odd ones but for the sign */
    double entry[MIX_LONGEST][MIX_LONGEST];
};
int mix_table_number(enum mix_role role, int window);
struct mix_table mix_table_make(int number);

#endif
