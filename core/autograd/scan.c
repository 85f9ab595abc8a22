/* SPDX-License-Identifier: Apache-2.0 */
/* tarn_scan(): checks what the program gave, has it record the body, and returns pieces of the loop's
 * value. That is float64 where a carry or an input is, else float32: what the body has in a smaller type lies in it
 * widened, and is narrowed by each reader, which rounds nothing. */
#include "autograd/scan_parts.h"
#include "op/op.h"
#include "tensor/shape.h"

#include <stdlib.h>
#include <string.h>

static uint32_t scan_expand(struct builder *b, const struct node *n, const uint32_t *in)
{
    (void)b, (void)n;
    return in[0];
}

/* Run by run/loop.c before any plan that reads it: no compiler sees it. */
const struct op op_scan = {
    .name = "scan", .arity = -1, .kind = OP_COMPOSED, .grad = scan_grad, .expand = scan_expand
};

/* What is recorded for a call. */
struct call {
    const tarn_scan_args *args;
    tarn_replica *r;
    uint32_t steps;
    struct scan_maker m;
    tarn_tensor carry[SCAN_MOST], x[SCAN_MOST], result[SCAN_MOST];
    tarn_dtype type[SCAN_MOST]; /* of results */
};

/* ---- checks ---------------------------------------------------------------------------------- */

static bool check_counts(tarn_replica *r, const tarn_scan_args *a)
{
    const char *wrong = a == NULL                                  ? "the arguments are NULL"
                        : a->body == NULL                          ? "the body is NULL"
                        : a->carries < 0 || a->xs < 0 || a->ys < 0 ? "a count is negative"
                        : a->carries > 0 && a->carry == NULL       ? "carry is NULL"
                        : a->xs > 0 && a->x == NULL                ? "x is NULL"
                        : a->carries + a->ys == 0                  ? "no carries and no outputs"
                        : a->axis != 0 && a->axis != 1             ? "axis must be 0 or 1"
                        : a->steps < 0                             ? "steps is negative"
                        : a->carries + a->xs > SCAN_MOST || a->carries + a->ys > SCAN_MOST
                            ? "more than 256 carries and inputs, or carries and outputs"
                        : r->graph.in_body ? "in the body of another scan, which is not supported"
                                           : NULL;
    if (wrong != NULL)
        graph_fail(r, TARN_ERR_ARGUMENT, "scan: %s", wrong);
    return wrong == NULL && r->status == TARN_OK;
}

static bool check_length(struct call *c, int i)
{
    const int axis = c->args->axis;
    const tarn_tensor x = c->args->x[i];
    if (!graph_operand(c->r, x, "scan: x", i))
        return false;
    const tarn_shape s = tarn_shape_get(x);
    const int32_t length = s.rank > axis ? s.dim[axis] : 0;
    if (c->steps == 0)
        c->steps = (uint32_t)length;
    if (length >= 1 && (uint32_t)length == c->steps)
        return true;
    graph_fail(c->r, TARN_ERR_SHAPE,
               "scan: x %d is %s: axis %d must be as long as there are steps, %u, and at least 1",
               i, shape_text(s), axis, (unsigned)c->steps);
    return false;
}

static bool check_inputs(struct call *c)
{
    const tarn_scan_args *a = c->args;
    c->steps = (uint32_t)a->steps;
    for (int i = 0; i < a->xs; i++)
        if (!check_length(c, i))
            return false;
    if (c->steps == 0)
        graph_fail(c->r, TARN_ERR_ARGUMENT, "scan: without x the number of steps must be given");
    for (int i = 0; i < a->carries && c->r->status == TARN_OK; i++)
        if (graph_operand(c->r, a->carry[i], "scan: carry", i) &&
            !dtype_is_float(tarn_dtype_get(a->carry[i])))
            graph_fail(c->r, TARN_ERR_DTYPE,
                       "scan: carry %d is %s, must be of a float type; use tarn_cast", i,
                       tarn_dtype_name(tarn_dtype_get(a->carry[i])));
    return c->r->status == TARN_OK;
}

/* Within autocast operations choose types, so carries go on in those that they have; but nothing becomes fewer bits
 * than float64 unasked. */
static bool check_type(struct call *c, int i, const char *name, int number)
{
    const bool carry = i < c->args->carries;
    tarn_tensor *result = &c->result[i];
    const tarn_dtype dtype = tarn_dtype_get(*result);
    const tarn_dtype want = carry ? tarn_dtype_get(c->args->carry[i]) : dtype;
    if (!dtype_is_float(dtype)) {
        graph_fail(c->r, TARN_ERR_DTYPE, "%s %d is %s, must be of a float type; use tarn_cast",
                   name, number, tarn_dtype_name(dtype));
    } else if (dtype != want && (dtype == TARN_F64 || !op_autocasts(c->r))) {
        graph_fail(c->r, TARN_ERR_DTYPE, "%s %d is %s, but its first value is %s; use tarn_cast",
                   name, number, tarn_dtype_name(dtype), tarn_dtype_name(want));
    } else if (want == TARN_F64 && c->m.s.dtype != TARN_F64) {
        graph_fail(c->r, TARN_ERR_DTYPE,
                   "%s %d is float64, and no carry or input is: use tarn_cast on one of them", name,
                   number);
    } else {
        *result = tarn_cast(*result, want);
        c->type[i] = want;
    }
    return c->r->status == TARN_OK;
}

static bool check_results(struct call *c)
{
    const tarn_scan_args *a = c->args;
    for (int i = 0; i < a->carries + a->ys && c->r->status == TARN_OK; i++) {
        const bool carry = i < a->carries;
        const char *name = carry ? "scan: the next value of carry" : "scan: output";
        const int number = carry ? i : i - a->carries;
        if (c->result[i].replica == NULL)
            graph_fail(c->r, TARN_ERR_ARGUMENT, "%s %d: the body has not set it", name, number);
        if (!graph_operand(c->r, c->result[i], name, number))
            return false;
        if (!check_type(c, i, name, number))
            return false;
        const tarn_shape s = tarn_shape_get(c->result[i]);
        if (carry && !shape_equal(s, tarn_shape_get(a->carry[i])))
            graph_fail(c->r, TARN_ERR_SHAPE, "%s %d is %s, but its first value is %s", name, number,
                       shape_text(s), shape_text(tarn_shape_get(a->carry[i])));
        else if (!carry && s.rank < a->axis)
            graph_fail(c->r, TARN_ERR_SHAPE,
                       "%s %d is a scalar, which has no axis before that of "
                       "steps: use axis 0",
                       name, number);
    }
    return c->r->status == TARN_OK;
}

/* ---- recording ------------------------------------------------------------------------------- */

static enum spread label_of_step(const struct node *n, int axis)
{
    const enum spread s = (enum spread)n->spread;
    if (s == SPREAD_PARTIAL || s == SPREAD_LINEAR)
        return SPREAD_OWN;
    if (axis == 1)
        return s;
    return s == SPREAD_SAME || s == SPREAD_ALIKE ? SPREAD_SAME : SPREAD_OWN;
}

/* A tensor whose numbers a smaller type holds, in that type. */
static tarn_tensor narrow(tarn_tensor wide, tarn_dtype dtype)
{
    if (tarn_failed(wide))
        return wide;
    if (dtype_is_half(dtype) && tarn_dtype_get(wide) == TARN_F32)
        wide.replica->graph.nodes[graph_resolve(wide)].exact = dtype;
    return tarn_cast(wide, dtype);
}

/* Results in the loop's type; what is two of them stays one node. */
static void widen_results(struct call *c, int count)
{
    tarn_tensor wide[SCAN_MOST];
    for (int i = 0; i < count; i++) {
        int same = 0;
        while (graph_resolve(c->result[same]) != graph_resolve(c->result[i]))
            same++;
        wide[i] = same < i ? wide[same] : tarn_cast(c->result[i], (tarn_dtype)c->m.s.dtype);
    }
    memcpy(c->result, wide, (size_t)count * sizeof wide[0]);
}

/* What another scan put out lies in memory as slices do, of a half type, too. */
static struct scan_slice slice_of(tarn_tensor x, int axis)
{
    const uint32_t exact = op_exact_of(x);
    if (exact != 0)
        x = graph_handle(x.replica, exact);
    const struct graph *g = &x.replica->graph;
    const struct node *n = graph_origin(g, graph_resolve(x));
    struct scan_slice slice = { .operand = x, .shape = n->shape, .label = label_of_step(n, axis) };
    for (int d = axis; d + 1 < n->shape.rank; d++)
        slice.shape.dim[d] = n->shape.dim[d + 1];
    slice.shape.rank--;
    const struct node *steps = n;
    if (axis == 1 && n->op == &op_steps)
        steps = graph_origin(g, g->operands[n->first_in]);
    if (steps->op == &op_piece && (axis == 0 || n->op == &op_steps)) {
        slice.operand = graph_handle(x.replica, g->operands[steps->first_in]);
        slice.offset = steps->arg.piece.first;
    } else if (axis == 1) {
        slice.operand = op_steps_of(x, true);
    }
    return slice;
}

static tarn_dtype type_of(const tarn_scan_args *a)
{
    tarn_dtype dtype = TARN_F32;
    for (int i = 0; i < a->carries; i++)
        dtype = tarn_dtype_get(a->carry[i]) == TARN_F64 ? TARN_F64 : dtype;
    for (int i = 0; i < a->xs; i++)
        dtype = tarn_dtype_get(a->x[i]) == TARN_F64 ? TARN_F64 : dtype;
    return dtype;
}

static void make_leaves(struct call *c)
{
    const tarn_scan_args *a = c->args;
    const tarn_dtype dtype = type_of(a);
    struct scan_slice slices[SCAN_MOST];
    tarn_tensor first[SCAN_MOST];
    for (int i = 0; i < a->xs; i++)
        slices[i] = slice_of(a->x[i], a->axis);
    for (int i = 0; i < a->carries; i++)
        first[i] = tarn_cast(a->carry[i], dtype);
    scan_begin(&c->m, c->r, dtype, c->steps, a->reversed);
    for (int i = 0; i < a->carries; i++)
        c->carry[i] = scan_carry(&c->m, first[i], ROOM_ALL);
    for (int i = 0; i < a->xs; i++)
        c->x[i] = scan_slice(&c->m, &slices[i]);
    for (int i = 0; i < a->carries; i++)
        c->carry[i] = narrow(c->carry[i], tarn_dtype_get(a->carry[i]));
    for (int i = 0; i < a->xs; i++)
        if (tarn_dtype_get(c->x[i]) != tarn_dtype_get(a->x[i]))
            c->x[i] = narrow(c->x[i], tarn_dtype_get(a->x[i]));
}

static void take_results(const struct call *c, tarn_tensor flat, tarn_tensor *last, tarn_tensor *y)
{
    const tarn_scan_args *a = c->args;
    for (int i = 0; last != NULL && i < a->carries; i++)
        last[i] = narrow(scan_last(flat, &c->m.s, (uint32_t)i), c->type[i]);
    for (int i = 0; y != NULL && i < a->ys; i++) {
        y[i] = scan_put_out(flat, &c->m.s, (uint32_t)(a->carries + i));
        if (tarn_failed(y[i]))
            continue;
        if (a->axis == 1)
            y[i] = op_steps_of(y[i], false);
        else if (has_shards(c->r)) /* axis 0 are steps now */
            y[i] = spread_as(y[i], label_of_step(graph_node(y[i]), 0));
        y[i] = narrow(y[i], c->type[a->carries + i]);
    }
}

/* Whether there are results. */
static bool record(struct call *c, tarn_tensor *last, tarn_tensor *y)
{
    const tarn_scan_args *a = c->args;
    make_leaves(c);
    for (int i = 0; i < SCAN_MOST; i++)
        c->result[i] = TARN_NONE;
    if (c->r->status == TARN_OK)
        a->body(c->carry, c->x, c->result, c->result + a->carries, a->user);
    const uint32_t step = c->r->step;
    int results = a->carries + a->ys;
    if (c->r->status == TARN_OK && check_results(c))
        widen_results(c, results);
    if (!a->recompute && c->r->training && c->r->status == TARN_OK && c->r->step == step)
        results = scan_keep(&c->m, c->result, results, a->keep);
    const tarn_tensor flat = scan_end(&c->m, c->result, results);
    if (c->r->status != TARN_OK || c->r->step != step)
        return false;
    take_results(c, flat, last, y);
    return true;
}

void tarn_scan(tarn_replica *r, const tarn_scan_args *args, tarn_tensor *last, tarn_tensor *y)
{
    if (r == NULL) {
        graph_fail(NULL, TARN_ERR_ARGUMENT, "scan: the replica is NULL");
        return;
    }
    struct call *c = calloc(1, sizeof *c); /* too large for a small thread's stack */
    if (c == NULL) {
        graph_fail(r, TARN_ERR_MEMORY, "scan: out of host memory");
    } else {
        c->args = args;
        c->r = r;
    }
    const bool done = c != NULL && r->status == TARN_OK && check_counts(r, args) &&
                      check_inputs(c) && record(c, last, y);
    free(c);
    if (done)
        return;
    for (int i = 0; args != NULL && last != NULL && i < args->carries; i++)
        last[i] = graph_poison(r);
    for (int i = 0; args != NULL && y != NULL && i < args->ys; i++)
        y[i] = graph_poison(r);
}
