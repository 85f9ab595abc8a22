/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of elements by index: the gradient of reading by index. The positions are sorted by index, so that what
 * makes up one element of the result is a segment of them, in the order of positions; no atomics, so always
 * the same bits, and no more work than the positions, their logarithm, and the result. */
#include <string.h>

#include "op/op.h"

#define RUN 32   /* positions that are sorted by insertion */
#define PIECE 64 /* of a merge: TARN_MERGE of kernels/routines.cl */

/* Of lines along an axis of a shape, or one of all elements: how many there are, how long, and how far apart
 * neighbours are. */
struct lines {
    int64_t count, length, inner;
};

static struct lines lines_of(tarn_shape s, int axis)
{
    struct lines l = { .count = 1, .length = 1, .inner = 1 };
    for (int d = 0; d < s.rank; d++) {
        *(d == axis || axis < 0 ? &l.length : &l.count) *= s.dim[d];
        l.inner *= d > axis && axis >= 0 ? s.dim[d] : 1;
    }
    return l;
}

static int32_t pieces(int64_t length, int64_t size)
{
    return (int32_t)((length + size - 1) / size);
}

/* Pass number `pass` of sorting keys, operand `keys`; after it there are no more when it returns true. */
static bool sort_pass(tarn_shape shape, int axis, int keys, int pass, struct routine_pass *out)
{
    const struct lines l = lines_of(shape, axis);
    const int64_t sorted = (int64_t)RUN << pass; /* positions in a run after this pass */
    *out = (struct routine_pass){ .reads = 1U << keys, .shape = shape, .numbers = 3 };
    out->function = pass == 0 ? "tarn_sort_runs" : "tarn_merge_runs";
    out->pieces = (int32_t)l.count * pieces(l.length, pass == 0 ? RUN : PIECE);
    out->cycles = pass == 0 ? RUN * RUN : 16 * PIECE;
    out->reads_last = pass > 0;
    out->number[0] = l.length;
    out->number[1] = l.inner;
    out->number[2] = pass == 0 ? RUN : sorted / 2;
    return sorted >= l.length;
}

/* ---- scatter -------------------------------------------------------------------------------- */

static int sort_passes(tarn_shape shape, int axis)
{
    struct routine_pass unused;
    int passes = 1;
    while (!sort_pass(shape, axis, 1, passes - 1, &unused))
        passes++;
    return passes;
}

/* in[0] the source, in[1] the index: one line of all, of rows; or lines along an axis, of elements. */
static bool scatter_routine(const struct node *n, const tarn_shape *in,
                            const struct routine_place *where, int pass, struct routine_pass *out)
{
    const int axis = n->arg.routine.axis;
    if (pass < sort_passes(in[1], axis)) {
        sort_pass(in[1], axis, 1, pass, out);
        return false;
    }
    const struct lines l = lines_of(in[1], axis);
    const int64_t rows = n->arg.routine.length;
    const int64_t width = axis < 0 ? in[0].dim[in[0].rank - 1] : 1;
    *out = (struct routine_pass){ .reads = 3, .reads_last = true, .numbers = 5 };
    out->function = where->items ? "tarn_add_elements" : "tarn_add_rows";
    out->pieces = (int32_t)(l.count * rows * (where->items ? width : 1));
    out->cycles = 16.0 + 2.0 * (double)width * (1.0 + (double)l.length / (double)rows) / PIECE;
    const int64_t number[] = { l.length, rows, width, l.inner, l.length / where->shards };
    memcpy(out->number, number, sizeof number);
    return true;
}

static void scatter_grad(struct grad_call *c)
{
    c->gin[0] = tarn_embedding(c->g, c->in[1]);
}

const struct op op_scatter = { .name = "scatter",
                               .arity = 2,
                               .kind = OP_ROUTINE,
                               .grad = scatter_grad,
                               .routine = scatter_routine };

/* Indices that lie in the table. */
static tarn_tensor clamped(tarn_tensor index, int32_t rows)
{
    tarn_replica *r = index.replica;
    const tarn_tensor last = op_constant_of(r, TARN_SCALAR, TARN_I32, rows - 1);
    const tarn_tensor zeroth = op_constant_of(r, TARN_SCALAR, TARN_I32, 0);
    return tarn_maximum(tarn_minimum(index, last), zeroth);
}

tarn_tensor op_scatter_rows(tarn_tensor source, tarn_tensor index, int32_t rows)
{
    const tarn_shape s = tarn_shape_get(source);
    const tarn_shape shape = TARN_SHAPE(rows, s.dim[s.rank - 1]);
    if (tarn_shape_count(s) == 0)
        return op_constant_of(source.replica, shape, TARN_F32, 0);
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.routine.axis = -1;
    arg.routine.length = rows;
    const tarn_tensor in[] = { source, clamped(index, rows) };
    return graph_record(source.replica, &op_scatter, in, 2, shape, TARN_F32, &arg);
}
