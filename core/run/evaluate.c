/* SPDX-License-Identifier: Apache-2.0 */
/* Values before the step mark: reading them, and evaluating nodes whose step goes on. In: handles
 * of tensors. Out: bytes in the caller's memory, or nodes that became leaves. */
#include <math.h>
#include <stdlib.h>

#include "clock.h"
#include "run/plan_cache.h"
#include "tensor/part.h"
#include "tensor/shape.h"
#include "trace.h"

static tarn_status execute(tarn_replica *r, const uint32_t *nodes, int count, struct buffer **out)
{
    const tarn_status s = plan_execute(r, nodes, count, out, false);
    if (s != TARN_OK && r->status == TARN_OK)
        replica_fail(r, s, NULL);
    return s;
}

static tarn_status read_back(tarn_replica *r, struct buffer *b, void *out, size_t bytes)
{
    if (bytes == 0)
        return TARN_OK;
    const double before = seconds_now();
    trace_begin(r->track, "read");
    const tarn_status s = buffer_read(b, 0, out, bytes);
    trace_end(r->track);
    r->metrics.wait_seconds += seconds_now() - before;
    return s;
}

/* The buffer that a node is, of what came from the host or was evaluated; NULL: none, or a loader
 * still fills it, or this rank has but a part of it. */
static const struct graph_input *input_of(const tarn_replica *r, uint32_t node)
{
    const struct graph *g = &r->graph;
    const struct node *n = &g->nodes[node];
    if (replica_mesh(r) != NULL && part_axes(replica_mesh(r), &n->arg.leaf.spec) != 0)
        return NULL;
    const bool ready =
        (n->op == &op_input || n->op == &op_held) && g->inputs[n->arg.leaf.slot].upload == NULL;
    return ready ? &g->inputs[n->arg.leaf.slot] : NULL;
}

tarn_status tarn_read(tarn_tensor t, void *out, size_t bytes)
{
    tarn_replica *r = t.replica;
    const struct owned *o = owned_of(t);
    if (o != NULL && r->status == TARN_OK && bytes == tensor_bytes(t) && !owned_is_assigned(r, o) &&
        !o->fresh && (out != NULL || bytes == 0))
        return owned_read(r, o, out);
    const uint32_t node = graph_operand(NULL, t, "read", 0);
    if (!node)
        return r != NULL ? r->status : TARN_ERR_ARGUMENT;
    if (bytes != tensor_bytes(t) || (out == NULL && bytes))
        return replica_fail(
            r, TARN_ERR_ARGUMENT, "read: %zu bytes are asked of %s %s, which has %zu", bytes,
            tarn_dtype_name(tarn_dtype_get(t)), shape_text(tarn_shape_get(t)), tensor_bytes(t));
    const struct graph_input *in = input_of(r, node);
    if (in != NULL) {
        const tarn_status s = read_back(r, in->buffer, out, bytes);
        return s == TARN_OK ? s : replica_fail(r, s, NULL);
    }
    struct buffer *b = NULL;
    TRY(execute(r, &node, 1, &b));
    const tarn_status s = read_back(r, b, out, bytes);
    buffer_free(b);
    return s == TARN_OK ? s : replica_fail(r, s, NULL);
}

static bool has_node(const uint32_t *nodes, int count, uint32_t node)
{
    for (int i = 0; i < count; i++) {
        if (nodes[i] == node)
            return true;
    }
    return false;
}

tarn_status tarn_eval(const tarn_tensor *tensors, int count)
{
    if (tensors == NULL || count < 1)
        return count == 0 ? TARN_OK : error_set(TARN_ERR_ARGUMENT, "eval: no tensors");
    tarn_replica *r = NULL;
    for (int i = 0; i < count && r == NULL; i++)
        r = tensors[i].replica;
    uint32_t *nodes = calloc((size_t)count, sizeof *nodes);
    struct buffer **buffers = calloc((size_t)count, sizeof *buffers);
    tarn_status s = nodes != NULL && buffers != NULL ? TARN_OK : TARN_ERR_MEMORY;
    int used = 0;
    if (s != TARN_OK)
        s = r != NULL ? replica_fail(r, s, "eval: out of host memory")
                      : error_set(s, "eval: out of host memory");
    for (int i = 0; s == TARN_OK && i < count; i++) {
        const uint32_t node = graph_operand(r, tensors[i], "eval", i);
        if (!node) {
            s = r != NULL ? r->status : error_last();
            break;
        }
        const struct op *op = r->graph.nodes[node].op;
        if (op != &op_input && op != &op_held && op != &op_owned && !has_node(nodes, used, node))
            nodes[used++] = node;
    }
    if (s == TARN_OK && used)
        s = execute(r, nodes, used, buffers);
    for (int i = 0; s == TARN_OK && i < used; i++) {
        struct buffer *b = buffers[i];
        buffers[i] = NULL;
        s = graph_evaluate(r, nodes[i], b);
    }
    for (int i = 0; buffers != NULL && i < used; i++)
        buffer_free(buffers[i]);
    free(nodes);
    free(buffers);
    return s;
}

float tarn_item(tarn_tensor t)
{
    tarn_replica *r = t.replica;
    /* An owned tensor is read as it is: as an operand it would be part of the step. */
    if (owned_of(t) == NULL && !graph_operand(NULL, t, "item", 0))
        return NAN;
    const tarn_shape shape = tarn_shape_get(t);
    if (tarn_shape_count(shape) != 1) {
        replica_fail(r, TARN_ERR_SHAPE,
                     "item: the tensor is %s, must have one element: reduce it (tarn_sum, "
                     "tarn_mean), take one "
                     "(tarn_select), or read all (tarn_read)",
                     shape_text(shape));
        return NAN;
    }
    union {
        float f32;
        double f64;
        int64_t i64;
        int32_t i32;
        uint8_t u8;
        uint16_t half;
    } data;
    if (tarn_read(t, &data, tensor_bytes(t)) != TARN_OK)
        return NAN;
    const tarn_dtype dtype = tarn_dtype_get(t);
    return dtype == TARN_F32      ? data.f32
           : dtype == TARN_I32    ? (float)data.i32
           : dtype == TARN_F64    ? (float)data.f64
           : dtype == TARN_I64    ? (float)data.i64
           : dtype_is_half(dtype) ? half_to_float(data.half, dtype)
                                  : (float)data.u8;
}
