/* SPDX-License-Identifier: Apache-2.0 */
/* Lines: what lies along one axis of a tensor, or all of it as one; routines go over them. */
#ifndef TARN_LINES_H
#define TARN_LINES_H

#include "op/op.h"

/* How many there are, how many elements each has, and how far apart neighbours are. */
struct lines {
    int64_t count, length, inner;
};

/* Along `axis`; -1: one line. */
struct lines lines_of(tarn_shape s, int axis);
/* Pass number `pass` of sorting int32 or int64 keys of this shape, which are operand `keys`: it makes positions along
 * the lines, sorted by key, equal ones in order. Returns whether it is the last. */
bool lines_sort_pass(tarn_shape shape, tarn_dtype dtype, int axis, int keys, int pass,
                     struct routine_pass *out);
/* Lines of an index, int32, of so many rows, and the elements that one index moves: a row of a table; along an axis 1, or all
 * that lies further in, where the index has one for them. */
struct indexed {
    struct lines index;
    int64_t rows, width;
};
struct indexed lines_indexed(const struct node *n, const tarn_shape *in);
/* A pass that reads source and index, and the positions if they are sorted, and has as numbers a line's length, rows, width,
 * and the index's elements between neighbours. */
struct routine_pass lines_pass(const struct indexed *of, bool sorted);
/* Passes of a routine with operands source and index, and the rows as its argument's length. First positions along the lines
 * are sorted by row (others come before or behind, in any order): false. Then what is made of them, of lines_indexed():
 * true, and `out` is lines_pass(). */
bool lines_by_row(const struct node *n, const tarn_shape *in, const struct routine_place *where,
                  int pass, struct routine_pass *out);
/* Cycles of a piece of what lines_by_row() ends with: of a row, for work-items of an element of one. */
double lines_row_cycles(const struct indexed *of, bool items);
int64_t lines_row_width(tarn_shape of, tarn_shape index, int axis);
/* The argument of a routine. */
union op_arg lines_arg(int axis, int32_t length);
/* Elements of lines of x by an order of theirs, or a part of one, in which none comes twice. */
tarn_tensor lines_in_order(tarn_tensor x, int axis, tarn_tensor order);
/* x with axes but `axis` cut down to those of `to`. */
tarn_tensor lines_cut(tarn_tensor x, tarn_shape to, int axis);
/* Indices that lie in lines of this length. */
tarn_tensor lines_clamped(tarn_tensor index, int32_t length);
/* An index of lines of this length, for as many lines as `whole` has further out. */
tarn_tensor lines_expanded(tarn_tensor index, tarn_shape whole, int axis, int32_t length);
/* Each element moved on along an axis by so many, less than its length; `fill` at the beginning. */
tarn_tensor lines_shift(tarn_tensor x, int axis, int32_t by, double fill);
/* int32: how many elements of ascending lines of at least one are less than each of the values, or with `right` less
 * or equal; shapes agree but along the axis, or lines are 1 where values are not. */
tarn_tensor lines_search(tarn_tensor sorted, int axis, tarn_tensor values, bool right);

/* The operands of a scatter along an axis, of a float type, in the one in which it is computed. */
struct scattered {
    tarn_tensor x, source; /* the source is as long as the index */
    tarn_tensor index;     /* one element for axes along which it repeats itself */
    tarn_shape part;       /* of x, where the index may name elements */
    int axis;
    tarn_dtype of; /* of the result */
};
/* False after recording an error that begins with `name`. */
bool lines_scattered(const char *name, tarn_tensor x, int axis, tarn_tensor index,
                     tarn_tensor source, struct scattered *s);

#endif
