/* SPDX-License-Identifier: Apache-2.0 */
/* Loaders: the replica's part of batch after batch, from a pool of threads into the recorded
 * step. */
#include <stdlib.h>
#include <string.h>

#include "tensor/replica.h"
#include "data/normal.h"
#include "data/options.h"
#include "trace.h"

struct tarn_loader {
    tarn_replica *r;
    struct pool_plan plan;
    struct pool *pool; /* NULL: the replica has no part in any batch */
    struct normal normal;
    int32_t length;    /* batches in an epoch */
    struct place next; /* batch to deliver */
    uint64_t ticket;   /* of `next`, since the last seek */
    tarn_status last;  /* of the last tarn_loader_next() */
    bool missed;       /* `next` could not be had, and is tried again when it is asked for */
};

/* ---- opening and closing -------------------------------------------------------------------- */

static void forget_slot(struct graph *g, const struct slot *s)
{
    for (uint32_t i = 0; i < g->input_count; i++) {
        for (int k = 0; k < FIELDS_MOST; k++) {
            if (s->upload[k] != NULL && g->inputs[i].upload == s->upload[k])
                g->inputs[i].upload = NULL;
        }
    }
}

/* For tarn_close: nothing of the recorded step will run any more. */
static void destroy(void *self)
{
    struct tarn_loader *l = self;
    int count = 0;
    struct slot *slots = l->pool != NULL ? pool_slots(l->pool, &count) : NULL;
    for (int i = 0; i < count; i++)
        forget_slot(&l->r->graph, &slots[i]);
    pool_free(l->pool);
    normal_free(&l->normal);
    free(l);
}

/* Frees what the step being recorded does not need; whether it needs some. */
static bool keep_for_step(struct tarn_loader *l)
{
    int count = 0;
    bool in_step = false;
    struct slot *slots = l->pool != NULL ? pool_slots(l->pool, &count) : NULL;
    if (l->pool != NULL)
        pool_stop(l->pool);
    for (int i = 0; i < count; i++) {
        if (slots[i].state == SLOT_HANDED && slots[i].step == l->r->step)
            in_step = true;
        else
            pool_free_slot(&slots[i]);
    }
    return in_step;
}

void tarn_loader_close(tarn_loader *l)
{
    if (l == NULL)
        return;
    /* Batches of the step being recorded are still needed: they stay until the replica closes. */
    if (keep_for_step(l))
        return;
    replica_unregister(l->r, l);
    destroy(l);
}

static tarn_status open_parts(struct tarn_loader *l, const tarn_loader_options *o)
{
    TRY(normal_make(l->r->context, o, l->plan.source.field[0].dtype, &l->normal));
    /* A replica without a part in any batch has nothing to prepare. */
    if (l->plan.parts > 0)
        TRY(pool_open(l->r->context, &l->plan, &l->pool));
    return replica_register(l->r, destroy, l);
}

tarn_loader *tarn_loader_open(tarn_replica *r, const tarn_dataset *d, tarn_loader_options options)
{
    if (r == NULL) {
        (void)error_set(TARN_ERR_ARGUMENT, "tarn_loader_open: no replica");
        return NULL;
    }
    struct tarn_loader *l = calloc(1, sizeof *l);
    if (l == NULL) {
        (void)replica_fail(r, TARN_ERR_MEMORY, "tarn_loader_open: out of host memory");
        return NULL;
    }
    l->r = r;
    tarn_status status = options_plan(r, d, options, &l->plan, &l->length);
    if (status == TARN_OK)
        status = open_parts(l, &options);
    if (status != TARN_OK) {
        (void)replica_fail(r, status, NULL);
        destroy(l);
        return NULL;
    }
    return l;
}

/* ---- batches -------------------------------------------------------------------------------- */

/* The leaf of an input or target: [n, a sample's shape]. */
static tarn_tensor record_field(struct tarn_loader *l, const struct slot *s, int field)
{
    const struct field *f = &l->plan.source.field[field];
    tarn_shape sample = f->sample;
    if (field == 0)
        sample = transform_shape(&l->plan.transform, sample);
    const struct mesh *m = replica_mesh(l->r);
    struct spec spec = { { 0 } };
    if (m != NULL && s->n < s->global)
        spec.cut[0] = (uint8_t)(1 << l->plan.axis);
    /* Under a mesh a tensor is what all ranks have of it together. */
    const int32_t n = m != NULL ? s->global : s->n;
    tarn_shape shape = { .rank = sample.rank + 1, .dim = { n } };
    memcpy(shape.dim + 1, sample.dim, (size_t)sample.rank * sizeof *sample.dim);
    const tarn_tensor leaf = graph_input_cut(l->r, upload_buffer(s->upload[field]),
                                             s->upload[field], false, shape, f->dtype, &spec);
    graph_mark_part(leaf, (struct graph_part){ n, s->global });
    return leaf;
}

static bool record(struct tarn_loader *l, const struct slot *s, tarn_batch *out)
{
    const struct source *source = &l->plan.source;
    for (int k = 0; k < source->fields; k++) {
        const tarn_tensor leaf = record_field(l, s, k);
        if (k < source->inputs)
            out->inputs[out->input_count++] = normal_record(k == 0 ? &l->normal : NULL, leaf);
        else
            out->targets[out->target_count++] =
                source->field[k].dtype == TARN_U8 ? tarn_cast(leaf, TARN_I32) : leaf;
    }
    out->x = out->inputs[0];
    out->y = out->targets[0];
    out->n = replica_mesh(l->r) != NULL ? s->global : s->n;
    out->global = s->global;
    return l->r->status == TARN_OK;
}

static void go_to(struct tarn_loader *l, struct place to)
{
    l->next = to;
    l->ticket = 0;
    l->missed = false;
    if (l->pool != NULL)
        pool_seek(l->pool, to);
}

static tarn_status next_batch(struct tarn_loader *l, struct slot **out)
{
    if (l->missed)
        go_to(l, l->next);
    const tarn_status status = pool_take(l->pool, l->ticket, l->r->step, out);
    l->missed = status != TARN_OK;
    l->ticket++;
    return l->missed ? replica_fail(l->r, status, NULL) : TARN_OK;
}

bool tarn_loader_next(tarn_loader *l, tarn_batch *out)
{
    if (out != NULL)
        memset(out, 0, sizeof *out);
    if (l == NULL)
        return false;
    l->last =
        out != NULL || l->r->status != TARN_OK
            ? l->r->status
            : replica_fail(l->r, TARN_ERR_ARGUMENT, "tarn_loader_next: nowhere to put a batch");
    if (l->last != TARN_OK)
        return false;
    if (l->next.batch >= l->plan.parts) {
        l->next = (struct place){ .epoch = l->next.epoch + 1, .batch = 0 };
        return false;
    }
    struct slot *s;
    replica_trace(l->r);
    trace_begin(l->r->track, "next batch");
    l->last = next_batch(l, &s);
    trace_end(l->r->track);
    if (l->last != TARN_OK)
        return false;
    l->next.batch++;
    const bool good = record(l, s, out);
    l->last = l->r->status;
    return good;
}

tarn_status tarn_loader_status(const tarn_loader *l)
{
    return l != NULL ? l->last : TARN_ERR_ARGUMENT;
}

void tarn_loader_seek(tarn_loader *l, uint64_t epoch, uint64_t batches)
{
    if (l == NULL)
        return;
    if (batches > (uint64_t)l->length) {
        (void)replica_fail(l->r, TARN_ERR_ARGUMENT,
                           "tarn_loader_seek: %llu batches, but an epoch has %d; are batch size "
                           "and data those of the first run?",
                           (unsigned long long)batches, l->length);
        return;
    }
    go_to(l, (struct place){ .epoch = epoch, .batch = batches });
}

uint64_t tarn_loader_epoch(const tarn_loader *l)
{
    return l != NULL ? l->next.epoch : 0;
}

int tarn_loader_length(const tarn_loader *l)
{
    return l != NULL ? l->length : 0;
}
