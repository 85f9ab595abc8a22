/* SPDX-License-Identifier: Apache-2.0 */
/* Ops around loops: the leaves of a body, what a step of the graph holds for a loop, and views of what a
 * loop leaves. A loop itself is autograd/scan.c. */
#include "op/steps.h"

#include <string.h>

#include "tensor/scan.h"
#include "tensor/shape.h"

/* Computed before a loop that needs it, or by the loop. Its bits: axis 0 is the batch. */
const struct op op_held = { .name = "held", .kind = OP_LEAF, .in_memory = true };
/* What the body of a scan gets. */
const struct op op_scan_value = { .name = "scan_value", .kind = OP_LEAF, .in_memory = true };

static union op_arg piece_arg(uint32_t first, enum spread label, bool steps_lead)
{
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.piece.first = first;
    arg.piece.label = label;
    arg.piece.steps_lead = steps_lead;
    return arg;
}

/* ---- steps: [B,T,...] <-> [T,B,...] ---------------------------------------------------------- */

static void steps_grad(struct grad_call *c)
{
    c->gin[0] = op_steps_of(c->g, c->arg.piece.steps_lead == 0);
}

static void steps_index(const struct node *n, tarn_shape in, struct index_map *out)
{
    (void)n;
    memset(out, 0, sizeof *out);
    out->rank_in = out->rank_out = in.rank;
    for (int d = 0; d < in.rank; d++) {
        out->dim[d].coef[d < 2 ? 1 - d : d] = 1;
        out->dim[d].divide = 1;
    }
}

const struct op op_steps = { .name = "steps",
                             .arity = 1,
                             .kind = OP_VIEW,
                             .grad = steps_grad,
                             .index = steps_index,
                             .uniform = true,
                             .reads = READS_BY_SIZE };

tarn_tensor op_steps_of(tarn_tensor x, bool steps_lead)
{
    tarn_shape shape = tarn_shape_get(x);
    if (shape.rank < 2)
        return graph_poison(x.replica);
    const int32_t first = shape.dim[0];
    shape.dim[0] = shape.dim[1];
    shape.dim[1] = first;
    const union op_arg arg = piece_arg(0, SPREAD_SAME, steps_lead);
    return graph_record(x.replica, &op_steps, &x, 1, shape, tarn_dtype_get(x), &arg);
}

/* ---- pieces of a flat value ------------------------------------------------------------------ */

static void piece_grad(struct grad_call *c)
{
    c->gin[0] = op_place_in(c->g, tarn_shape_get(c->in[0]).dim[0], c->arg.piece.first,
                            (enum spread)c->arg.piece.label, c->arg.piece.steps_lead != 0);
}

static void piece_index(const struct node *n, tarn_shape in, struct index_map *out)
{
    (void)in;
    memset(out, 0, sizeof *out);
    out->rank_in = 1;
    out->rank_out = n->shape.rank;
    out->dim[0].offset = (int32_t)n->arg.piece.first;
    out->dim[0].divide = 1;
    int32_t step = 1;
    for (int d = n->shape.rank; d-- > 0; step *= n->shape.dim[d])
        out->dim[0].coef[d] = step;
}

const struct op op_piece = {
    .name = "piece", .arity = 1, .kind = OP_VIEW, .grad = piece_grad, .index = piece_index
};

tarn_tensor op_piece_of(tarn_tensor flat, uint32_t first, tarn_shape shape, enum spread label,
                        bool steps_lead)
{
    const union op_arg arg = piece_arg(first, label, steps_lead);
    return graph_record(flat.replica, &op_piece, &flat, 1, shape, tarn_dtype_get(flat), &arg);
}

static void place_grad(struct grad_call *c)
{
    c->gin[0] = op_piece_of(c->g, c->arg.piece.first, tarn_shape_get(c->in[0]),
                            (enum spread)c->arg.piece.label, c->arg.piece.steps_lead != 0);
}

/* For the compiler: the operand in a row, with zeros around. */
static uint32_t place_expand(struct builder *b, const struct node *n, const uint32_t *in)
{
    const int32_t count = (int32_t)tarn_shape_count(expand_shape(b, in[0]));
    const uint32_t row = expand_make(b, &op_reshape, TARN_SHAPE(count), n->dtype, NULL, in, 1);
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.pad.low[0] = (int32_t)n->arg.piece.first;
    arg.pad.high[0] = n->shape.dim[0] - arg.pad.low[0] - count;
    return expand_make(b, &op_pad, n->shape, n->dtype, &arg, &row, 1);
}

/* The gradient of a piece. A loop's gradient looks through it and through sums of such, so that it is
 * computed only where somebody asks for the flat gradient itself. */
const struct op op_place = {
    .name = "place", .arity = 1, .kind = OP_COMPOSED, .grad = place_grad, .expand = place_expand
};

tarn_tensor op_place_in(tarn_tensor x, int32_t elements, uint32_t first, enum spread label,
                        bool steps_lead)
{
    const union op_arg arg = piece_arg(first, label, steps_lead);
    return graph_record(x.replica, &op_place, &x, 1, TARN_SHAPE(elements), tarn_dtype_get(x), &arg);
}
