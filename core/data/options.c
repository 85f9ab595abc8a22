/* SPDX-License-Identifier: Apache-2.0 */
/* Options of a loader: ranges, then how batches and virtual shards divide. */
#include "data/options.h"

#include <string.h>

#include "data/normal.h"
#include "log.h"
#include "tensor/sum_order.h"

static tarn_status check_ranges(const tarn_loader_options *o)
{
    if (o->batch < 0 || o->prefetch < 0 || o->prefetch > MAX_PREFETCH)
        return error_set(TARN_ERR_ARGUMENT,
                         "tarn_loader_open: batch %d, prefetch %d; batch must be positive, "
                         "prefetch at most %d",
                         o->batch, o->prefetch, MAX_PREFETCH);
    if (o->threads < 0 || o->threads > MAX_THREADS)
        return error_set(TARN_ERR_ARGUMENT,
                         "tarn_loader_open: %d threads; from 1 to %d are possible", o->threads,
                         MAX_THREADS);
    if (o->drop_last && o->pad_last)
        return error_set(TARN_ERR_ARGUMENT,
                         "tarn_loader_open: drop_last and pad_last exclude each other; choose "
                         "one");
    return TARN_OK;
}

/* A batch that the replicas, or their virtual shards, cannot share is refused before training. */
static tarn_status check_parts(const struct pool_plan *p, bool trains, int32_t length, int shards)
{
    const int32_t batch = p->cut.batch;
    const int32_t last = sampler_batch(&p->cut, (uint64_t)length - 1);
    const bool whole = length > 1 || last == batch;
    const int64_t unit = shards > 0 ? (int64_t)LANES * shards : p->world;
    if (p->cut.equal)
        return TARN_OK;
    if (batch < p->world)
        return error_set(TARN_ERR_ARGUMENT,
                         "tarn_loader_open: a batch of %d is too small for %d replicas; choose "
                         "at least one sample for each",
                         batch, p->world);
    if (shards > 0 && whole && trains && batch % unit != 0)
        return error_set(TARN_ERR_ARGUMENT,
                         "tarn_loader_open: batch %d with %d virtual shards: each of the %d "
                         "shards needs a multiple of %d samples; choose a multiple of %lld",
                         batch, shards, shards, LANES, (long long)unit);
    if (p->shuffle && last < batch && last % unit != 0)
        return error_set(TARN_ERR_ARGUMENT,
                         "tarn_loader_open: the last batch has %d samples, no multiple of %lld "
                         "for %d %s; choose drop_last or pad_last",
                         last, (long long)unit, shards > 0 ? shards : p->world,
                         shards > 0 ? "virtual shards" : "replicas");
    return TARN_OK;
}

#define BATCH_AXIS "data" /* unless the program says otherwise */

/* -1: the mesh has no axis of that name. */
static int find_axis(const struct mesh *m, const char *name)
{
    int a = 0;
    while (a < m->axes && strcmp(m->name[a], name) != 0)
        a++;
    return a < m->axes ? a : -1;
}

/* Under a mesh each place along an axis has an equal part of a batch, and without that axis all of it. */
static tarn_status share(struct pool_plan *p, const struct peers *peers, const char *name)
{
    const struct mesh *m = &peers->mesh;
    p->rank = peers->rank;
    p->world = peers->world;
    if (m->axes == 0)
        return TARN_OK;
    p->axis = find_axis(m, name != NULL ? name : BATCH_AXIS);
    if (name != NULL && p->axis < 0)
        return error_set(TARN_ERR_ARGUMENT,
                         "tarn_loader_open: the launch's mesh has no axis \"%s\"; its first one is "
                         "\"%s\"",
                         name, m->name[0]);
    p->cut.equal = true;
    p->rank = p->axis >= 0 ? mesh_coordinate(m, peers->rank, p->axis) : 0;
    p->world = p->axis >= 0 ? m->extent[p->axis] : 1;
    return TARN_OK;
}

/* Batches that do not divide are right, but each rank computes all of them. */
static void tell_of_whole(const struct pool_plan *p, const struct peers *peers, int32_t length)
{
    const int32_t n = sampler_batch(&p->cut, (uint64_t)length - 1);
    if (peers == NULL || peers->rank != 0 || p->axis < 0 || length == 0)
        return;
    const bool all = p->cut.batch % p->world != 0;
    if (all || n % p->world != 0)
        log_print(
            TARN_LOG_WARNING,
            "tarn: loader: %s %d samples, which the %d ranks along \"%s\" do not divide: every "
            "rank loads and computes all of them; choose %s",
            all && length > 1 ? "each batch has" : "the last batch has",
            all && length > 1 ? p->cut.batch : n, p->world, peers->mesh.name[p->axis],
            all ? "another batch" : "drop_last or pad_last");
}

static tarn_status divide(struct pool_plan *p, const struct peers *peers, const char *axis,
                          int32_t *length)
{
    int32_t first, n;
    p->rank = 0;
    p->world = 1;
    p->axis = -1;
    if (peers != NULL)
        TRY(share(p, peers, axis));
    *length = sampler_length(&p->cut);
    p->most = sampler_most(&p->cut, p->rank, p->world);
    sampler_share(&p->cut, sampler_batch(&p->cut, (uint64_t)*length - 1), p->rank, p->world, &first,
                  &n);
    p->parts = (uint64_t)*length - (n == 0);
    return TARN_OK;
}

static tarn_status check_sizes(const struct pool_plan *p)
{
    char name[24];
    for (int k = 0; k < p->source.fields; k++) {
        const size_t each = p->bytes[k] / tarn_dtype_bytes(p->source.field[k].dtype);
        if (each > (size_t)INT32_MAX / (size_t)(p->most > 0 ? p->most : 1))
            return error_set(TARN_ERR_SHAPE,
                             "tarn_loader_open: %s: %d samples of %zu elements are more than a "
                             "tensor's %d; choose a smaller batch",
                             field_name(&p->source, k, name), p->most, each, INT32_MAX);
    }
    return TARN_OK;
}

static void size_fields(struct pool_plan *p)
{
    struct field *first = &p->source.field[0];
    for (int k = 0; k < p->source.fields; k++)
        p->bytes[k] = p->source.field[k].bytes;
    p->bytes[0] = (size_t)tarn_shape_count(transform_shape(&p->transform, first->sample)) *
                  tarn_dtype_bytes(first->dtype);
}

tarn_status options_plan(const tarn_replica *r, const tarn_dataset *d, tarn_loader_options o,
                         struct pool_plan *plan, int32_t *length)
{
    memset(plan, 0, sizeof *plan);
    if (d == NULL)
        return error_set(TARN_ERR_ARGUMENT, "tarn_loader_open: no data set");
    TRY(check_ranges(&o));
    const struct field *first = &d->source.field[0];
    TRY(normal_check(&o, first->sample, first->dtype));
    TRY(transform_make(&o, first->sample, first->dtype, &plan->transform));
    plan->source = d->source;
    plan->shuffle = o.shuffle;
    plan->seed = o.seed;
    plan->threads = o.threads ? o.threads : 1;
    plan->prefetch = o.prefetch ? o.prefetch : 3;
    plan->timeout = context_timeout(r->context);
    plan->cut = (struct sampler_cut){ .size = d->source.size,
                                      .batch = o.batch    ? o.batch
                                               : d->batch ? d->batch
                                                          : 128,
                                      .drop_last = o.drop_last,
                                      .pad_last = o.pad_last };
    if (o.drop_last && plan->cut.size < plan->cut.batch)
        return error_set(TARN_ERR_ARGUMENT,
                         "tarn_loader_open: %d samples are no whole batch of %d; use a smaller "
                         "batch or keep the last one",
                         plan->cut.size, plan->cut.batch);
    size_fields(plan);
    TRY(divide(plan, r->peers, o.axis, length));
    /* In order, with all samples: evaluation. */
    TRY(check_parts(plan, o.shuffle || o.drop_last || o.pad_last, *length,
                    r->peers != NULL ? r->peers->shards : 0));
    TRY(check_sizes(plan));
    tell_of_whole(plan, r->peers, *length);
    return TARN_OK;
}
