/* SPDX-License-Identifier: Apache-2.0 */
/* A replica: one device with its graph, owned tensors, errors and metrics; the step mark. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "run/plan_cache.h"
#include "tensor/shape.h"
#include "train/optimizer.h"

static double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- opening and closing -------------------------------------------------------------------- */

tarn_status replica_open(const struct device *device, tarn_replica **out)
{
    *out = NULL;
    tarn_replica *r = calloc(1, sizeof *r);
    if (r == NULL)
        return error_set(TARN_ERR_MEMORY, "open: out of host memory for a replica");
    r->step = 1;
    r->training = true;
    const tarn_status s = context_open(device, &r->context);
    if (s == TARN_OK)
        *out = r;
    else
        free(r);
    return s;
}

tarn_replica *tarn_open(const char *device)
{
    struct device chosen;
    tarn_replica *r = NULL;
    int count = 0;
    if (device_select(device, &chosen, 1, &count) != TARN_OK)
        return NULL;
    if (count < 1) {
        error_set(TARN_ERR_NO_DEVICE, "open: no OpenCL device was selected");
        return NULL;
    }
    return replica_open(&chosen, &r) == TARN_OK ? r : NULL;
}

void tarn_close(tarn_replica *r)
{
    if (r == NULL)
        return;
    graph_reset(r);
    while (r->resources != NULL) {
        const struct resource first = *r->resources;
        replica_unregister(r, first.self);
        first.close(first.self);
    }
    const tarn_status s = context_finish(r->context);
    if (s != TARN_OK)
        replica_fail(r, s, NULL);
    plan_cache_free(r->plans);
    owned_release(r);
    graph_release(&r->graph);
    context_close(r->context);
    free(r);
}

tarn_status replica_register(tarn_replica *r, void (*close)(void *self), void *self)
{
    struct resource *entry = malloc(sizeof *entry);
    if (entry == NULL)
        return replica_fail(r, TARN_ERR_MEMORY, "out of host memory to register a resource");
    *entry = (struct resource){ close, self, r->resources };
    r->resources = entry;
    return TARN_OK;
}

void replica_unregister(tarn_replica *r, void *self)
{
    for (struct resource **at = &r->resources; *at; at = &(*at)->next) {
        struct resource *entry = *at;
        if (entry->self == self) {
            *at = entry->next;
            free(entry);
            return;
        }
    }
}

const char *tarn_device_name(const tarn_replica *r)
{
    return r != NULL ? context_device(r->context)->name : "";
}

tarn_status tarn_list_devices(char *out, size_t capacity)
{
    static const char *const kinds[] = { "cpu", "gpu", "other" };
    const struct device *list;
    int count = 0;
    if (out == NULL || capacity == 0)
        return error_set(TARN_ERR_ARGUMENT, "list_devices: no room for the text");
    out[0] = 0;
    TRY(device_list(&list, &count));
    size_t at = 0;
    for (int i = 0; i < count && at < capacity; i++) {
        const struct device *d = &list[i];
        const int n =
            snprintf(out + at, capacity - at, "%d: %s %s (%s), %u units, %zu MiB\n", d->number,
                     kinds[d->kind], d->name, d->platform, d->compute_units, d->memory_bytes >> 20);
        at += n > 0 ? (size_t)n : 0;
    }
    return TARN_OK;
}

/* ---- the step mark -------------------------------------------------------------------------- */

/* Lets at most two steps be in flight. */
static tarn_status throttle(tarn_replica *r, double *waited)
{
    const double before = now_seconds();
    const tarn_status s = context_wait(r->context, r->in_flight[0]);
    *waited = now_seconds() - before;
    return s;
}

static tarn_status enqueue(tarn_replica *r, double *waited)
{
    TRY(context_poll(r->context));
    TRY(throttle(r, waited));
    if (r->graph.count > 1)
        TRY(plan_execute(r, NULL, 0, NULL, true));
    r->in_flight[0] = r->in_flight[1];
    TRY(context_mark(r->context, &r->in_flight[1]));
    return context_flush(r->context);
}

tarn_status tarn_step(tarn_replica *r)
{
    if (r == NULL)
        return error_set(TARN_ERR_ARGUMENT, "step: the replica is NULL");
    if (r->status != TARN_OK) {
        graph_reset(r);
        return r->status;
    }
    const double begin = now_seconds(), compiled = r->metrics.compile_seconds;
    const uint64_t launches = context_counters(r->context).launches;
    double waited = 0;
    const bool updates = r->updates, draws = r->graph.rand_count > 0;
    const tarn_status s = enqueue(r, &waited);
    if (s != TARN_OK && r->status == TARN_OK)
        replica_fail(r, s, NULL);
    if (r->status == TARN_OK)
        optimizer_commit(r);
    graph_reset(r);
    if (r->status != TARN_OK)
        return r->status;
    /* Evaluating between two training steps must not change what the second one draws. */
    r->step_count += updates;
    r->side_steps = updates ? 0 : r->side_steps + draws;
    r->metrics.steps++;
    r->metrics.launches_last_step = context_counters(r->context).launches - launches;
    r->metrics.host_seconds +=
        now_seconds() - begin - waited - (r->metrics.compile_seconds - compiled);
    return TARN_OK;
}

tarn_status tarn_wait(tarn_replica *r)
{
    if (r == NULL)
        return error_set(TARN_ERR_ARGUMENT, "wait: the replica is NULL");
    tarn_status s = context_finish(r->context);
    if (s == TARN_OK && r->status == TARN_OK)
        s = optimizer_check(r);
    if (s != TARN_OK && r->status == TARN_OK)
        replica_fail(r, s, NULL);
    return r->status;
}

uint64_t tarn_step_count(const tarn_replica *r)
{
    return r != NULL ? r->step_count : 0;
}

/* ---- errors --------------------------------------------------------------------------------- */

const char *tarn_error(const tarn_replica *r)
{
    return r != NULL ? r->error : error_text();
}

void tarn_escape(const char *text, char *out, size_t capacity)
{
    text_escape(text, out, capacity);
}

tarn_status tarn_error_status(const tarn_replica *r)
{
    return r != NULL ? r->status : error_last();
}

void tarn_error_clear(tarn_replica *r)
{
    if (r == NULL)
        return;
    /* The step is dropped as a failed one, so that kept tensors without a value go. */
    if (r->status == TARN_OK)
        r->status = TARN_ERR_STATE;
    graph_reset(r);
    r->status = TARN_OK;
    r->errors = 0;
    r->error[0] = 0;
}

const char *tarn_status_name(tarn_status status)
{
    return status_name(status);
}

/* ---- reading -------------------------------------------------------------------------------- */

static size_t tensor_bytes(tarn_tensor t)
{
    return (size_t)tarn_shape_count(tarn_shape_get(t)) * tarn_dtype_bytes(tarn_dtype_get(t));
}

static tarn_status execute(tarn_replica *r, const uint32_t *nodes, int count, struct buffer **out)
{
    const tarn_status s = plan_execute(r, nodes, count, out, false);
    if (s != TARN_OK && r->status == TARN_OK)
        replica_fail(r, s, NULL);
    return s;
}

/* The buffer that a node is, of what came from the host or was evaluated; NULL: none, or a loader
 * still fills it. */
static const struct graph_input *input_of(const struct graph *g, uint32_t node)
{
    const struct node *n = &g->nodes[node];
    const bool ready = n->op == &op_input && g->inputs[n->arg.leaf.slot].upload == NULL;
    return ready ? &g->inputs[n->arg.leaf.slot] : NULL;
}

tarn_status tarn_read(tarn_tensor t, void *out, size_t bytes)
{
    tarn_replica *r = t.replica;
    const struct owned *o = owned_of(t);
    if (o != NULL && r->status == TARN_OK && bytes == tensor_bytes(t) && !o->value &&
        !(o->flat && r->owned[o->flat - 1].value) && !o->fresh && (out != NULL || bytes == 0))
        return owned_read(r, o, out);
    const uint32_t node = graph_operand(NULL, t, "read", 0);
    if (!node)
        return r != NULL ? r->status : TARN_ERR_ARGUMENT;
    if (bytes != tensor_bytes(t) || (out == NULL && bytes))
        return replica_fail(
            r, TARN_ERR_ARGUMENT, "read: %zu bytes are asked of %s %s, which has %zu", bytes,
            tarn_dtype_name(tarn_dtype_get(t)), shape_text(tarn_shape_get(t)), tensor_bytes(t));
    const struct graph_input *in = input_of(&r->graph, node);
    if (in != NULL) {
        const tarn_status s = bytes ? buffer_read(in->buffer, 0, out, bytes) : TARN_OK;
        return s == TARN_OK ? s : replica_fail(r, s, NULL);
    }
    struct buffer *b = NULL;
    TRY(execute(r, &node, 1, &b));
    const tarn_status s = bytes ? buffer_read(b, 0, out, bytes) : TARN_OK;
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
        if (op != &op_input && op != &op_owned && !has_node(nodes, used, node))
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
    if (!graph_operand(NULL, t, "item", 0))
        return NAN;
    const size_t bytes = tensor_bytes(t);
    union {
        float f32;
        int32_t i32;
        uint8_t u8;
    } *data = bytes ? malloc(bytes < sizeof *data ? sizeof *data : bytes) : NULL;
    if (data == NULL) {
        replica_fail(r, bytes ? TARN_ERR_MEMORY : TARN_ERR_SHAPE, "item: %s",
                     bytes ? "out of host memory" : "the tensor has no element");
        return NAN;
    }
    float value = NAN;
    if (tarn_read(t, data, bytes) == TARN_OK) {
        const tarn_dtype dtype = tarn_dtype_get(t);
        value = dtype == TARN_F32   ? data->f32
                : dtype == TARN_I32 ? (float)data->i32
                                    : (float)data->u8;
    }
    free(data);
    return value;
}

/* ---- settings and numbers ------------------------------------------------------------------- */

void tarn_seed(tarn_replica *r, uint64_t seed)
{
    if (r != NULL)
        r->seed = seed;
}

void tarn_train(tarn_replica *r, bool training)
{
    if (r != NULL)
        r->training = training;
}

bool tarn_training(const tarn_replica *r)
{
    return r != NULL && r->training;
}

tarn_metrics tarn_metrics_get(const tarn_replica *r)
{
    tarn_metrics m;
    memset(&m, 0, sizeof m);
    if (r == NULL)
        return m;
    m = r->metrics;
    m.launches = context_counters(r->context).launches;
    m.device_bytes = buffer_statistics(r->context).live_bytes;
    return m;
}
