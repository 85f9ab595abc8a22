/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting along an axis, and what follows from it. Elements are turned into integers of the same order, and their
 * positions are sorted by these: runs by insertion, which are then merged. */
#include <string.h>

#include "op/lines.h"
#include "tensor/shape.h"

#define RUN 32          /* positions that are sorted by insertion */
#define PIECE 64        /* of a merge: TARN_MERGE of kernels/sorting.cl */
#define LEAST_MOST 32   /* found in one pass over a line: TARN_LEAST_MOST of kernels/sorting.cl */
#define LEAST_LINES 16  /* that are sorted by digits, one a piece, */
#define LEAST_DIGITS 96 /* of so many elements, which pay for the counters */
#define LONG_LINE 65536 /* one work-item goes through a line: of longer ones there must be */
#define MANY_LINES 64   /* so many */

/* ---- lines ---------------------------------------------------------------------------------- */

struct lines lines_of(tarn_shape s, int axis)
{
    struct lines l = { .count = 1, .length = 1, .inner = 1 };
    for (int d = 0; d < s.rank; d++) {
        *(d == axis || axis < 0 ? &l.length : &l.count) *= s.dim[d];
        l.inner *= d > axis && axis >= 0 ? s.dim[d] : 1;
    }
    return l;
}

union op_arg lines_arg(int axis, int32_t length)
{
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.routine.axis = axis;
    arg.routine.length = length;
    return arg;
}

tarn_tensor lines_cut(tarn_tensor x, tarn_shape to, int axis)
{
    const tarn_shape s = tarn_shape_get(x);
    for (int d = 0; d < s.rank; d++)
        if (d != axis && s.dim[d] != to.dim[d])
            x = tarn_slice(x, d, 0, to.dim[d], 1);
    return x;
}

tarn_tensor lines_shift(tarn_tensor x, int axis, int32_t by, double fill)
{
    const tarn_shape s = tarn_shape_get(x);
    tarn_shape low = { .rank = s.rank }, high = low;
    low.dim[axis] = by;
    return tarn_pad(tarn_slice(x, axis, 0, s.dim[axis] - by, 1), low, high, fill);
}

static int32_t pieces(int64_t length, int64_t size)
{
    return (int32_t)((length + size - 1) / size);
}

bool lines_sort_pass(tarn_shape shape, tarn_dtype dtype, int axis, int keys, int pass,
                     struct routine_pass *out)
{
    static const char *const functions[2][2] = {
        { "tarn_sort_runs", "tarn_merge_runs" }, { "tarn_sort_runs_long", "tarn_merge_runs_long" }
    };
    const struct lines l = lines_of(shape, axis);
    const int64_t sorted = (int64_t)RUN << pass; /* positions in a run after this pass */
    *out = (struct routine_pass){ .reads = 1U << keys, .shape = shape, .numbers = 3 };
    out->function = functions[dtype == TARN_I64][pass > 0];
    out->pieces = (int32_t)l.count * pieces(l.length, pass == 0 ? RUN : PIECE);
    out->cycles = pass == 0 ? RUN * RUN : 16 * PIECE;
    out->reads_last = pass > 0;
    out->number[0] = l.length;
    out->number[1] = l.inner;
    out->number[2] = pass == 0 ? RUN : sorted / 2;
    return sorted >= l.length;
}

/* ---- order ---------------------------------------------------------------------------------- */

/* Many lines are sorted by digits, each in one go; merging lets several groups share one. */
static bool goes_by_digits(const struct lines *l, tarn_dtype keys, bool items)
{
    return !items && keys == TARN_I32 && l->count >= LEAST_LINES && l->length >= LEAST_DIGITS &&
           l->length <= LONG_LINE;
}

static bool order_routine(const struct node *n, const tarn_shape *in,
                          const struct routine_place *where, int pass, struct routine_pass *out)
{
    const tarn_dtype keys = n->arg.routine.length != 0 ? TARN_I64 : TARN_I32;
    const struct lines l = lines_of(in[0], n->arg.routine.axis);
    if (goes_by_digits(&l, keys, where->items)) {
        *out = (struct routine_pass){ .reads = 1, .function = "tarn_sort_digits", .numbers = 2 };
        out->pieces = (int32_t)l.count;
        out->own = l.length;
        out->cycles = 4 * 256 * 2 + 64.0 * (double)l.length;
        out->number[0] = l.length;
        out->number[1] = l.inner;
        return true;
    }
    return lines_sort_pass(in[0], keys, n->arg.routine.axis, 0, pass, out);
}

const struct op op_order = {
    .name = "order", .arity = 1, .kind = OP_ROUTINE, .grad = op_no_grad, .routine = order_routine
};

/* Integers in the order of x, of as many bits: 0 and -0 are one, and NaN is the largest, whatever its bits. */
static tarn_tensor keys_of(tarn_tensor x, bool descending)
{
    tarn_replica *r = x.replica;
    tarn_dtype dtype;
    x = op_wide(x, &dtype);
    const tarn_dtype whole = dtype_is_wide(dtype) ? TARN_I64 : TARN_I32;
    const tarn_tensor last = op_constant_of(r, TARN_SCALAR, whole, -1);
    const tarn_tensor zero = op_constant_of(r, TARN_SCALAR, whole, 0);
    tarn_tensor key = tarn_detach(x);
    if (dtype_is_float(dtype)) {
        /* The largest number of 64 bits is no double, but the smallest one is. */
        const tarn_tensor most =
            whole == TARN_I32 ? op_constant_of(r, TARN_SCALAR, TARN_I32, INT32_MAX)
                              : tarn_sub(last, op_constant_of(r, TARN_SCALAR, TARN_I64, -0x1p63));
        const tarn_tensor nothing = op_constant_of(r, TARN_SCALAR, dtype_single(dtype), 0);
        const tarn_tensor bits = op_bits_of(key);
        /* Of negative numbers larger bits are smaller numbers. */
        const tarn_tensor ordered = tarn_where(tarn_lt(bits, zero), tarn_sub(most, bits), bits);
        const tarn_tensor number = tarn_where(tarn_eq(key, nothing), zero, ordered);
        key = tarn_where(tarn_ne(key, key), most, number);
    } else if (dtype == TARN_U8) {
        key = tarn_cast(key, TARN_I32);
    }
    return descending ? tarn_sub(last, key) : key;
}

static bool least_routine(const struct node *n, const tarn_shape *in,
                          const struct routine_place *where, int pass, struct routine_pass *out)
{
    const struct lines l = lines_of(in[0], n->arg.routine.axis);
    (void)where;
    (void)pass;
    *out = (struct routine_pass){ .reads = 1, .numbers = 3, .function = "tarn_least" };
    out->pieces = (int32_t)l.count;
    out->cycles = 4.0 * (double)l.length;
    out->number[0] = l.length;
    out->number[1] = l.inner;
    out->number[2] = n->arg.routine.length;
    return true;
}

const struct op op_least = {
    .name = "least", .arity = 1, .kind = OP_ROUTINE, .grad = op_no_grad, .routine = least_routine
};

static tarn_tensor order_of(tarn_tensor x, int axis, bool descending)
{
    const tarn_shape s = tarn_shape_get(x);
    if (tarn_shape_count(s) == 0)
        return op_constant_of(x.replica, s, TARN_I32, 0);
    const tarn_tensor keys = keys_of(x, descending);
    const union op_arg arg = lines_arg(axis, tarn_dtype_get(keys) == TARN_I64);
    return graph_record(x.replica, &op_order, &keys, 1, s, TARN_I32, &arg);
}

tarn_tensor tarn_argsort(tarn_tensor x, int axis, bool descending)
{
    if (!graph_operand(NULL, x, "argsort", 0))
        return graph_poison(x.replica);
    const int a = op_axis(x, "argsort", axis);
    return a < 0 ? graph_poison(x.replica) : order_of(x, a, descending);
}

tarn_tensor tarn_sort(tarn_tensor x, int axis, bool descending, tarn_tensor *order)
{
    const tarn_tensor nothing = graph_poison(x.replica);
    if (order != NULL)
        *order = nothing;
    if (!graph_operand(NULL, x, "sort", 0))
        return nothing;
    const int a = op_axis(x, "sort", axis);
    if (a < 0)
        return nothing;
    const tarn_tensor at = order_of(x, a, descending);
    if (order != NULL)
        *order = at;
    return lines_in_order(x, a, at);
}

/* The first k of an order: few of them are sooner found than all are sorted. */
static tarn_tensor first_of_order(tarn_tensor x, int k, int axis, bool descending)
{
    tarn_shape s = tarn_shape_get(x);
    const struct lines l = lines_of(s, axis);
    if (k < 1 || k > LEAST_MOST || (l.length > LONG_LINE && l.count < MANY_LINES) ||
        tarn_shape_count(s) == 0 || tarn_failed(x))
        return tarn_slice(order_of(x, axis, descending), axis, 0, k, 1);
    const tarn_tensor keys = keys_of(x, descending);
    if (tarn_dtype_get(keys) != TARN_I32)
        return tarn_slice(order_of(x, axis, descending), axis, 0, k, 1);
    const union op_arg arg = lines_arg(axis, k);
    s.dim[axis] = k;
    return graph_record(x.replica, &op_least, &keys, 1, s, TARN_I32, &arg);
}

tarn_tensor tarn_top_k(tarn_tensor x, int k, int axis, bool largest, tarn_tensor *index)
{
    const tarn_tensor nothing = graph_poison(x.replica);
    if (index != NULL)
        *index = nothing;
    if (!graph_operand(NULL, x, "top_k", 0))
        return nothing;
    const int a = op_axis(x, "top_k", axis);
    if (a < 0)
        return nothing;
    const tarn_shape s = tarn_shape_get(x);
    if (k < 0 || k > s.dim[a])
        return graph_fail(x.replica, TARN_ERR_ARGUMENT,
                          "top_k: %d elements of axis %d of %s, must be 0 to %d", k, a,
                          shape_text(s), (int)s.dim[a]);
    const tarn_tensor at = first_of_order(x, k, a, largest);
    if (index != NULL)
        *index = at;
    return lines_in_order(x, a, at);
}
