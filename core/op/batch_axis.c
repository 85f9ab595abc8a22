/* SPDX-License-Identifier: Apache-2.0 */
/* What the program says of a value's axis 0: that it goes through samples, or that it does not. */
#include <string.h>

#include "op/op.h"
#include "tensor/shape.h"
#include "tensor/spread_label.h"

const struct op op_batch_axis = { .name = "batch_axis",
                                  .arity = 1,
                                  .kind = OP_VIEW,
                                  .grad = op_same_grad,
                                  .index = op_same_index,
                                  .uniform = true };

/* Whether axis 0 of x may be the batch of this step; else false after recording why not. */
static bool may_be_batch(tarn_tensor x, int axis)
{
    struct graph *g = &x.replica->graph;
    const tarn_shape shape = tarn_shape_get(x);
    if (shape.rank == 0) {
        graph_fail(x.replica, TARN_ERR_ARGUMENT, "batch_axis: a scalar has no axis of samples");
        return false;
    }
    axis = op_axis(x, "batch_axis", axis);
    if (axis > 0)
        graph_fail(x.replica, TARN_ERR_ARGUMENT,
                   "batch_axis: axis %d of %s: samples must lie along axis 0; "
                   "tarn_transpose(x, 0, %d) brings them there",
                   axis, shape_text(shape), axis);
    else if (axis == 0 && g->batch > 0 && g->batch != shape.dim[0])
        graph_fail(x.replica, TARN_ERR_SHAPE,
                   "batch_axis: %d samples in %s, but %d were said before in this step: call "
                   "tarn_step() between, or name one batch only",
                   (int)shape.dim[0], shape_text(shape), (int)g->batch);
    else if (axis == 0)
        g->batch = shape.dim[0];
    return x.replica->status == TARN_OK;
}

/* With virtual shards these are now samples of a batch that a loader delivered. */
static void join_batch(tarn_tensor y)
{
    const struct graph *g = &y.replica->graph;
    const uint32_t node = graph_resolve(y);
    if (!node || g->nodes[node].spread != SPREAD_SAMPLES || g->nodes[node].part)
        return;
    for (uint32_t i = 0; i < g->part_count; i++)
        if (g->parts[i].samples == g->nodes[node].shape.dim[0])
            graph_mark_part(y, g->parts[i]);
}

tarn_tensor tarn_batch_axis(tarn_tensor x, int axis)
{
    union op_arg arg;
    if (!graph_operand(NULL, x, "batch_axis", 0) ||
        (axis != TARN_NO_BATCH && !may_be_batch(x, axis)))
        return graph_poison(x.replica);
    memset(&arg, 0, sizeof arg);
    arg.batch_axis.said = axis == TARN_NO_BATCH ? BATCH_NONE : BATCH_SAMPLES;
    const tarn_tensor y =
        graph_record(x.replica, &op_batch_axis, &x, 1, tarn_shape_get(x), tarn_dtype_get(x), &arg);
    join_batch(y);
    return y;
}
