/* SPDX-License-Identifier: Apache-2.0 */
/* Rows by index, one-hot codes, and joining along an axis. */
#include <string.h>

#include "op/op.h"
#include "tensor/shape.h"

#define MOST_PARTS 64 /* of a concat */

static void gather_grad(struct grad_call *c)
{
    c->gin[0] = op_scatter_rows(c->g, c->in[1], tarn_shape_get(c->in[0]).dim[0]);
}

const struct op op_gather = {
    .name = "gather", .arity = 2, .kind = OP_GATHER, .grad = gather_grad
};

tarn_tensor tarn_embedding(tarn_tensor table, tarn_tensor index)
{
    tarn_replica *r;
    if (!graph_operands("embedding", (tarn_tensor[]){ table, index }, 2, &r))
        return graph_poison(r);
    const tarn_shape rows = tarn_shape_get(table), at = tarn_shape_get(index);
    if (rows.rank != 2 || rows.dim[0] < 1 || at.rank == TARN_MAX_RANK)
        return graph_fail(r, TARN_ERR_SHAPE,
                          "embedding: table %s and index %s: the table must be [rows, width]",
                          shape_text(rows), shape_text(at));
    if (dtype_is_float(tarn_dtype_get(index)))
        return graph_fail(r, TARN_ERR_DTYPE, "embedding: the index is %s, must be of whole numbers",
                          tarn_dtype_name(tarn_dtype_get(index)));
    tarn_shape shape = at;
    shape.dim[shape.rank++] = rows.dim[1];
    const tarn_tensor in[] = { table, tarn_cast(index, TARN_I32) };
    return graph_record(r, &op_gather, in, 2, shape, tarn_dtype_get(table), NULL);
}

tarn_tensor tarn_one_hot(tarn_tensor index, int classes)
{
    tarn_replica *r = index.replica;
    if (!graph_operand(NULL, index, "one_hot", 0))
        return graph_poison(r);
    tarn_shape shape = tarn_shape_get(index);
    if (classes < 1 || shape.rank == TARN_MAX_RANK || dtype_is_float(tarn_dtype_get(index)))
        return graph_fail(r, TARN_ERR_ARGUMENT,
                          "one_hot: %d classes of a %s index %s: whole numbers, at least 1 class",
                          classes, tarn_dtype_name(tarn_dtype_get(index)), shape_text(shape));
    shape.dim[shape.rank++] = 1;
    const tarn_tensor column = op_reshape_to(index, shape);
    shape.dim[shape.rank - 1] = classes;
    return tarn_cast(tarn_eq(column, op_iota_of(r, shape, shape.rank - 1)), TARN_F32);
}

static void concat_grad(struct grad_call *c)
{
    const int axis = c->arg.concat.axis;
    const int32_t all = tarn_shape_get(c->y).dim[axis];
    int32_t start = 0;
    for (int i = 0; start <= all && i < MOST_PARTS && c->in[i].node; i++) {
        const int32_t extent = tarn_shape_get(c->in[i]).dim[axis];
        if (c->wanted[i])
            c->gin[i] = tarn_slice(c->g, axis, start, start + extent, 1);
        start += extent;
    }
}

const struct op op_concat = {
    .name = "concat", .arity = -1, .kind = OP_CONCAT, .grad = concat_grad
};

/* The type of all parts: what floats of several types join to. Else the first's, and *odd is a part of another. */
static tarn_dtype type_of_parts(const tarn_tensor *parts, int count, int *odd)
{
    tarn_dtype all = tarn_dtype_get(parts[0]);
    *odd = -1;
    for (int i = 1; i < count; i++) {
        const tarn_dtype one = tarn_dtype_get(parts[i]);
        if (dtype_is_float(one) && dtype_is_float(all))
            all = op_join_floats(all, one);
        else if (one != all)
            *odd = i;
    }
    return all;
}

tarn_tensor tarn_concat(const tarn_tensor *parts, int count, int axis)
{
    if (count < 1 || count > MOST_PARTS || parts == NULL)
        return graph_fail(parts != NULL && count > 0 ? parts[0].replica : NULL, TARN_ERR_ARGUMENT,
                          "concat: %d parts%s, must be 1 to %d", count,
                          parts != NULL ? "" : " of a list that is NULL", MOST_PARTS);
    tarn_replica *r;
    if (!graph_operands("concat", parts, count, &r))
        return graph_poison(r);
    const int at = op_axis(parts[0], "concat", axis);
    if (at < 0)
        return graph_poison(r);
    tarn_shape shape = tarn_shape_get(parts[0]);
    tarn_tensor joined[MOST_PARTS];
    int odd;
    const tarn_dtype dtype = type_of_parts(parts, count, &odd);
    int64_t total = 0;
    for (int i = 0; i < count; i++) {
        tarn_shape s = tarn_shape_get(parts[i]);
        const tarn_shape part = s;
        if (s.rank == shape.rank) {
            total += s.dim[at];
            s.dim[at] = shape.dim[at];
        }
        if (!shape_equal(s, shape) || total > INT32_MAX)
            return graph_fail(r, TARN_ERR_SHAPE,
                              "concat: part %d is %s, the first is %s: all but axis %d must agree",
                              i, shape_text(part), shape_text(shape), at);
    }
    if (odd >= 0)
        return graph_fail(r, TARN_ERR_DTYPE, "concat: part %d is %s, the first is %s", odd,
                          tarn_dtype_name(tarn_dtype_get(parts[odd])),
                          tarn_dtype_name(tarn_dtype_get(parts[0])));
    if (count == 1)
        return graph_value(parts[0]);
    shape.dim[at] = (int32_t)total;
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.concat.axis = at;
    for (int i = 0; i < count; i++)
        joined[i] = tarn_dtype_get(parts[i]) == dtype ? parts[i] : tarn_cast(parts[i], dtype);
    return graph_record(r, &op_concat, joined, count, shape, dtype, &arg);
}

tarn_tensor tarn_roll(tarn_tensor x, int axis, int by)
{
    const int at = op_axis(x, "roll", axis);
    if (at < 0)
        return graph_poison(x.replica);
    const int extent = tarn_shape_get(x).dim[at], last = extent > 0 ? by % extent : 0;
    if (last == 0)
        return graph_value(x);
    const int first = last > 0 ? extent - last : -last;
    return tarn_concat(
        (tarn_tensor[]){ tarn_slice(x, at, first, extent, 1), tarn_slice(x, at, 0, first, 1) }, 2,
        at);
}

tarn_tensor op_join(tarn_tensor *pieces, uint32_t count)
{
    while (count > 1) {
        uint32_t joined = 0;
        for (uint32_t i = 0; i < count; i += MOST_PARTS) {
            const uint32_t n = count - i < MOST_PARTS ? count - i : MOST_PARTS;
            pieces[joined++] = n == 1 ? pieces[i] : tarn_concat(pieces + i, (int)n, 0);
        }
        count = joined;
    }
    return pieces[0];
}
