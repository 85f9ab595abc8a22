/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products of batches, with either operand transposed. */
#include <string.h>

#include "op/op.h"
#include "tensor/shape.h"

/* ---- the op: operands of equal rank and equal leading axes ---------------------------------- */

static tarn_dtype product_dtype(tarn_tensor a, tarn_tensor b)
{
    return op_join_floats(tarn_dtype_get(a), tarn_dtype_get(b));
}

tarn_tensor op_matmul_of(tarn_tensor a, tarn_tensor b, bool ta, bool tb)
{
    tarn_shape shape = tarn_shape_get(a);
    const tarn_shape right = tarn_shape_get(b);
    const int rank = shape.rank;
    if (rank < 2 || right.rank != rank)
        return graph_poison(a.replica);
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.matmul.transpose[0] = ta;
    arg.matmul.transpose[1] = tb;
    shape.dim[rank - 2] = shape.dim[ta ? rank - 1 : rank - 2];
    shape.dim[rank - 1] = right.dim[tb ? rank - 2 : rank - 1];
    return graph_record(a.replica, &op_matmul, (tarn_tensor[]){ a, b }, 2, shape,
                        product_dtype(a, b), &arg);
}

static void matmul_grad(struct grad_call *c)
{
    const bool ta = c->arg.matmul.transpose[0] != 0, tb = c->arg.matmul.transpose[1] != 0;
    const tarn_tensor a = c->in[0], b = c->in[1];
    c->gin[0] = ta ? op_matmul_of(b, c->g, tb, true) : op_matmul_of(c->g, b, false, !tb);
    c->gin[1] = tb ? op_matmul_of(c->g, a, true, ta) : op_matmul_of(a, c->g, !ta, false);
}

static void map_axis(struct contract_map *m, int dim, int axis)
{
    m->dim[dim].coef[axis] = 1;
    m->dim[dim].divide = 1;
}

static void matmul_contract(const struct node *n, const tarn_shape in[2], struct contract *out)
{
    const int rank = n->shape.rank, batch = rank - 2;
    const int row = batch, column = batch + 1, inner = batch + 2;
    const int32_t *transpose = n->arg.matmul.transpose;
    memset(out, 0, sizeof *out);
    out->axes = rank + 1;
    out->out_axes = rank;
    for (int i = 0; i < rank; i++) {
        out->extent[i] = n->shape.dim[i];
        map_axis(&out->out, i, i);
        if (i < batch) {
            map_axis(&out->in[0], i, i);
            map_axis(&out->in[1], i, i);
        }
    }
    out->extent[inner] = in[0].dim[transpose[0] ? rank - 2 : rank - 1];
    map_axis(&out->in[0], rank - 2, transpose[0] ? inner : row);
    map_axis(&out->in[0], rank - 1, transpose[0] ? row : inner);
    map_axis(&out->in[1], rank - 2, transpose[1] ? column : inner);
    map_axis(&out->in[1], rank - 1, transpose[1] ? inner : column);
}

const struct op op_matmul = {
    .name = "matmul",
    .arity = 2,
    .kind = OP_CONTRACT,
    .grad = matmul_grad,
    .contract = matmul_contract,
};

/* ---- rows of samples ------------------------------------------------------------------------- */

/* With virtual shards samples must stay along axis 0, so their rows are not joined to one matrix. */

/* a [..., K] x b [K, N], or b [N, K] where it is transposed. */
static tarn_tensor record_rows(tarn_tensor a, tarn_tensor b, bool tb)
{
    tarn_shape shape = tarn_shape_get(a);
    if (shape.rank < 1 || tarn_shape_get(b).rank != 2)
        return graph_poison(a.replica);
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.matmul.transpose[1] = tb;
    shape.dim[shape.rank - 1] = tarn_shape_get(b).dim[tb ? 0 : 1];
    return graph_record(a.replica, &op_rows, (tarn_tensor[]){ a, b }, 2, shape, product_dtype(a, b),
                        &arg);
}

tarn_tensor op_rows_weight_of(tarn_tensor a, tarn_tensor b)
{
    const tarn_shape sa = tarn_shape_get(a), sb = tarn_shape_get(b);
    if (sa.rank < 1 || sb.rank != sa.rank)
        return graph_poison(a.replica);
    const tarn_shape shape = TARN_SHAPE(sa.dim[sa.rank - 1], sb.dim[sb.rank - 1]);
    return graph_record(a.replica, &op_rows_weight, (tarn_tensor[]){ a, b }, 2, shape,
                        product_dtype(a, b), NULL);
}

static void rows_grad(struct grad_call *c)
{
    const bool tb = c->arg.matmul.transpose[1] != 0;
    c->gin[0] = record_rows(c->g, c->in[1], !tb);
    c->gin[1] = tb ? op_rows_weight_of(c->g, c->in[0]) : op_rows_weight_of(c->in[0], c->g);
}

static void rows_weight_grad(struct grad_call *c)
{
    c->gin[0] = record_rows(c->in[1], c->g, true);
    c->gin[1] = record_rows(c->in[0], c->g, false);
}

static void rows_contract(const struct node *n, const tarn_shape in[2], struct contract *out)
{
    const int last = n->shape.rank - 1, inner = n->shape.rank;
    const bool tb = n->arg.matmul.transpose[1] != 0;
    memset(out, 0, sizeof *out);
    out->axes = n->shape.rank + 1;
    out->out_axes = n->shape.rank;
    for (int i = 0; i <= last; i++) {
        out->extent[i] = n->shape.dim[i];
        map_axis(&out->out, i, i);
        map_axis(&out->in[0], i, i < last ? i : inner);
    }
    out->extent[inner] = in[0].dim[last];
    map_axis(&out->in[1], 0, tb ? last : inner);
    map_axis(&out->in[1], 1, tb ? inner : last);
}

static void rows_weight_contract(const struct node *n, const tarn_shape in[2], struct contract *out)
{
    const int last = in[0].rank - 1;
    memset(out, 0, sizeof *out);
    out->axes = last + 2;
    out->out_axes = 2;
    for (int i = 0; i < 2; i++) {
        out->extent[i] = n->shape.dim[i];
        map_axis(&out->out, i, i);
        map_axis(&out->in[i], last, i);
    }
    for (int d = 0; d < last; d++) {
        out->extent[2 + d] = in[0].dim[d];
        map_axis(&out->in[0], d, 2 + d);
        map_axis(&out->in[1], d, 2 + d);
    }
}

const struct op op_rows = {
    .name = "rows",
    .arity = 2,
    .kind = OP_CONTRACT,
    .grad = rows_grad,
    .contract = rows_contract,
};
const struct op op_rows_weight = {
    .name = "rows_weight",
    .arity = 2,
    .kind = OP_CONTRACT,
    .grad = rows_weight_grad,
    .contract = rows_weight_contract,
};

/* ---- the public form ------------------------------------------------------------------------ */

/* Takes a swap of the last two axes off an operand, so that it is read in place. */
static tarn_tensor strip_transpose(tarn_tensor t, bool *transposed)
{
    const struct node *n = graph_node(t);
    *transposed = false;
    const int rank = n->shape.rank;
    if (n->op != &op_permute || rank < 2)
        return t;
    for (int i = 0; i < rank - 2; i++) {
        if (n->arg.permute.order[i] != i)
            return t;
    }
    if (n->arg.permute.order[rank - 1] != rank - 2)
        return t;
    *transposed = true;
    return graph_handle(t.replica, t.replica->graph.operands[n->first_in]);
}

/* Joint leading axes of two shapes of rank >= 2; false when they do not broadcast. */
static bool batch_shape(tarn_shape a, tarn_shape b, tarn_shape *out)
{
    out->rank = (a.rank > b.rank ? a.rank : b.rank) - 2;
    for (int i = 0; i < out->rank; i++) {
        const int ia = a.rank - 3 - i, ib = b.rank - 3 - i;
        const int32_t da = ia >= 0 ? a.dim[ia] : 1, db = ib >= 0 ? b.dim[ib] : 1;
        if (da != db && da != 1 && db != 1)
            return false;
        out->dim[out->rank - 1 - i] = da == 1 ? db : da;
    }
    return true;
}

static tarn_tensor with_batch(tarn_tensor t, tarn_shape batch)
{
    const tarn_shape s = tarn_shape_get(t);
    batch.dim[batch.rank] = s.dim[s.rank - 2];
    batch.dim[batch.rank + 1] = s.dim[s.rank - 1];
    batch.rank += 2;
    return tarn_broadcast_to(t, batch);
}

/* [..., M, K] x [K, N] is one product of all rows: no copies of the right side, and its gradient is
 * one product too. */
static tarn_tensor rows_product(tarn_tensor a, tarn_tensor b, bool tb)
{
    tarn_shape shape = tarn_shape_get(a);
    const int32_t k = shape.dim[shape.rank - 1];
    int64_t rows = 1;
    for (int i = 0; i < shape.rank - 1; i++)
        rows *= shape.dim[i];
    const tarn_tensor flat = tarn_reshape(a, TARN_SHAPE((int32_t)rows, k));
    shape.dim[shape.rank - 1] = tarn_shape_get(b).dim[tb ? 0 : 1];
    return tarn_reshape(op_matmul_of(flat, b, false, tb), shape);
}

static tarn_tensor product(tarn_tensor a, tarn_tensor b)
{
    bool ta, tb;
    const tarn_tensor left = strip_transpose(a, &ta), right = strip_transpose(b, &tb);
    const tarn_shape sa = tarn_shape_get(a), sb = tarn_shape_get(b);
    tarn_shape batch;
    if (sa.dim[sa.rank - 1] != sb.dim[sb.rank - 2] || !batch_shape(sa, sb, &batch))
        return graph_fail(a.replica, TARN_ERR_SHAPE,
                          "matmul: %s x %s do not fit: the left one's last axis must be as long as "
                          "the right one's last but one, and leading axes must broadcast",
                          shape_text(sa), shape_text(sb));
    if (batch.rank == 0 && !ta && spread_rows(left) > 1) {
        const tarn_tensor y = record_rows(spread_by_sample(left), right, tb);
        return tarn_reshape(y, TARN_SHAPE(sa.dim[0], sb.dim[1]));
    }
    if (batch.rank == 0)
        return op_matmul_of(left, right, ta, tb);
    if (sb.rank == 2 && !ta)
        return has_shards(a.replica) ? record_rows(left, right, tb) : rows_product(left, right, tb);
    return op_matmul_of(with_batch(left, batch), with_batch(right, batch), ta, tb);
}

tarn_tensor tarn_matmul(tarn_tensor a, tarn_tensor b)
{
    tarn_replica *r;
    if (!graph_operands("matmul", (tarn_tensor[]){ a, b }, 2, &r))
        return graph_poison(r);
    return op_product_of(op_low(a), op_low(b));
}

tarn_tensor op_product_of(tarn_tensor a, tarn_tensor b)
{
    tarn_replica *r;
    if (!graph_operands("matmul", (tarn_tensor[]){ a, b }, 2, &r))
        return graph_poison(r);
    if (!dtype_is_float(tarn_dtype_get(a)) || !dtype_is_float(tarn_dtype_get(b)))
        return graph_fail(a.replica, TARN_ERR_DTYPE,
                          "matmul: %s x %s: both must be float32; use tarn_cast",
                          tarn_dtype_name(tarn_dtype_get(a)), tarn_dtype_name(tarn_dtype_get(b)));
    const tarn_shape sa = tarn_shape_get(a), sb = tarn_shape_get(b);
    if (sa.rank < 1 || sb.rank < 1)
        return graph_fail(a.replica, TARN_ERR_SHAPE,
                          "matmul: %s x %s: scalars have no product of matrices; use tarn_mul",
                          shape_text(sa), shape_text(sb));
    if (sa.rank == 1)
        a = tarn_reshape(a, TARN_SHAPE(1, sa.dim[0]));
    if (sb.rank == 1)
        b = tarn_reshape(b, TARN_SHAPE(sb.dim[0], 1));
    const tarn_tensor y = product(a, b);
    if ((sa.rank > 1 && sb.rank > 1) || tarn_failed(y))
        return y;
    const tarn_shape full = tarn_shape_get(y);
    tarn_shape shape = { .rank = 0 };
    for (int i = 0; i < full.rank; i++) {
        const bool added =
            (sa.rank == 1 && i == full.rank - 2) || (sb.rank == 1 && i == full.rank - 1);
        if (!added)
            shape.dim[shape.rank++] = full.dim[i];
    }
    return tarn_reshape(y, shape);
}
