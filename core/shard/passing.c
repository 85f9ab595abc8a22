/* SPDX-License-Identifier: Apache-2.0 */
/* Linear ops, and those that only move elements. In: a form. Out: the operands that may be pending together. */
#include "shard/passing.h"

#include <string.h>

/* Other types are no sums: uint8 has too few bits, and half types are rounded after they are added up. */
static bool sums(tarn_dtype dtype)
{
    return dtype_adds(dtype);
}

enum { X = 1, Y = 2, Z = 4 };

/* Maps that add up functions that are linear in some operands. Products: in one at a time. */
static const struct {
    const struct op *op;
    uint8_t operands[2];
    bool of_floats;
} linear[] = {
    { &op_add, { X | Y }, false }, { &op_sub, { X | Y }, false }, { &op_neg, { X }, false },
    { &op_mul, { X, Y }, false },  { &op_div, { X }, true },      { &op_where, { Y | Z }, false },
};

static int of_map(const struct form *f, struct passing *out)
{
    int count = 0;
    if (!sums(f->node.dtype))
        return 0;
    for (size_t i = 0; i < sizeof linear / sizeof linear[0]; i++)
        for (int k = 0; k < 2 && linear[i].op == f->node.op; k++)
            if (linear[i].operands[k] != 0 &&
                (dtype_is_single(f->node.dtype) || !linear[i].of_floats))
                out[count++] = (struct passing){ STATE_SUM, linear[i].operands[k] };
    return count;
}

/* Elements that a view adds are 0, or it adds none. */
static bool adds_zeros(const struct form *f)
{
    struct index_map map;
    if (f->node.op->index == NULL)
        return f->node.op == &op_reshape;
    memset(&map, 0, sizeof map);
    f->node.op->index(&f->node, f->in[0], &map);
    return map.fill == 0.0;
}

static int of_view(const struct form *f, struct passing *out)
{
    int count = 0;
    if (sums(f->node.dtype) && adds_zeros(f))
        out[count++] = (struct passing){ STATE_SUM, X };
    if (f->node.op->uniform) {
        out[count++] = (struct passing){ STATE_MAX, X };
        out[count++] = (struct passing){ STATE_MIN, X };
    }
    return count;
}

int passing_list(const struct form *f, struct passing out[PASSINGS_MOST])
{
    const struct op *op = f->node.op;
    switch (op->kind) {
    case OP_LEAF: /* 0 is a sum of zeros */
        out[0] = (struct passing){ STATE_SUM, 0 };
        return node_is_zero(&f->node);
    case OP_MAP:
        return of_map(f, out);
    case OP_VIEW:
        return of_view(f, out);
    case OP_REDUCE:
        out[0] = (struct passing){ op == &op_sum   ? STATE_SUM
                                   : op == &op_min ? STATE_MIN
                                                   : STATE_MAX,
                                   X };
        return op == &op_sum || op == &op_max || op == &op_max_first || op == &op_min;
    case OP_CONTRACT:
        out[0] = (struct passing){ STATE_SUM, X };
        out[1] = (struct passing){ STATE_SUM, Y };
        return 2;
    case OP_GATHER:
        out[0] = (struct passing){ STATE_SUM, X };
        return sums(f->node.dtype);
    case OP_CONCAT:
        out[0] = (struct passing){ STATE_SUM, f->node.in_count >= 64
                                                  ? UINT64_MAX
                                                  : (UINT64_C(1) << f->node.in_count) - 1 };
        return sums(f->node.dtype);
    case OP_ROUTINE:
        out[0] = (struct passing){ STATE_SUM, X };
        return (op == &op_cumsum || op == &op_pick || op == &op_scatter) && sums(f->node.dtype);
    case OP_TRANSFORM:
    case OP_COMPOSED:
    case OP_HOST:
    case OP_EFFECT:
        break;
    }
    return 0;
}
