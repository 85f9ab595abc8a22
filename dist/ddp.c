/* SPDX-License-Identifier: Apache-2.0 */
/* Data-parallel training: what a step exchanges besides the gradients, and in one go with them. */
#include <stdlib.h>

#include "member.h"
#include "mesh_check.h"
#include "op/op.h"

static tarn_tensor flat(tarn_tensor x)
{
    return op_reshape_to(x, TARN_SHAPE((int32_t)tarn_shape_count(tarn_shape_get(x))));
}

static tarn_tensor sum(tarn_tensor x)
{
    return collective_sum(x, PURPOSE_BATCH_NORM);
}

/* A float buffer of this type that this step, or one since the last exchange, changed by statistics of this
 * replica's samples alone. */
static bool drifts(const tarn_replica *r, uint32_t i, tarn_dtype dtype)
{
    const struct owned *o = &r->owned[i];
    return weights_may_drift(r, i) && o->dtype == dtype && !o->together &&
           (o->value != 0 || o->apart);
}

static uint32_t append_buffers(tarn_replica *r, tarn_dtype dtype, tarn_tensor *pieces,
                               uint32_t count)
{
    for (uint32_t i = 0, owned = r->owned_count; i < owned; i++)
        if (drifts(r, i, dtype))
            pieces[count++] = flat(op_over(owned_handle(r, i + 1), r->peers->world));
    return count;
}

/* Running statistics become the mean over the replicas: equal on all, and of all samples. */
static void assign_buffers(tarn_replica *r, tarn_dtype dtype, tarn_tensor all, int32_t at)
{
    for (uint32_t i = 0, owned = r->owned_count; i < owned; i++) {
        if (!drifts(r, i, dtype))
            continue;
        const tarn_shape shape = r->owned[i].shape;
        const int32_t n = (int32_t)tarn_shape_count(shape);
        tarn_assign(owned_handle(r, i + 1),
                    op_reshape_to(tarn_slice(all, 0, at, at + n, 1), shape));
        r->owned[i].together = true;
        at += n;
    }
}

/* The bucket, if there is one, and what else there is of this type to go with it; returns the bucket's sum. */
static tarn_tensor exchange(tarn_replica *r, struct member *m, tarn_dtype dtype, tarn_tensor bucket,
                            tarn_tensor *pieces)
{
    const bool of_bucket = bucket.replica != NULL;
    const int32_t length = of_bucket ? tarn_shape_get(bucket).dim[0] : 0;
    pieces[0] = bucket;
    uint32_t count = append_buffers(r, dtype, pieces, of_bucket), checksum = 0;
    if (of_bucket && m->check_weights > 0 && m->checked != r->step) {
        m->checked = r->step;
        const tarn_tensor words = weights_fingerprint(r);
        checksum = (uint32_t)tarn_shape_get(words).dim[0];
        /* A double holds each int32. */
        pieces[count++] = dtype == TARN_F64 ? tarn_cast(words, TARN_F64) : op_value_of_bits(words);
    }
    if (r->status != TARN_OK)
        return graph_poison(r);
    if (count == 0)
        return bucket;
    const tarn_tensor all = collective_bucket(op_join(pieces, count), checksum);
    assign_buffers(r, dtype, all, length);
    return count == 1 && of_bucket ? all : tarn_slice(all, 0, 0, length, 1);
}

static tarn_tensor reduce(tarn_tensor bucket, bool first)
{
    tarn_replica *r = bucket.replica;
    struct member *m = member_of(r);
    if (!graph_resolve(bucket))
        return graph_poison(r);
    if (!first)
        return collective_bucket(bucket, 0);
    if (!m->begun) {
        const tarn_status s = weights_broadcast(r);
        if (s != TARN_OK) {
            replica_fail(r, s, NULL);
            return graph_poison(r);
        }
        m->begun = true;
    }
    tarn_tensor *pieces = calloc((size_t)r->owned_count + 2, sizeof *pieces);
    if (pieces == NULL)
        return graph_fail(r, TARN_ERR_MEMORY, "optimizer: out of host memory for its pieces");
    const tarn_dtype dtype = tarn_dtype_get(bucket);
    const tarn_dtype other = dtype == TARN_F64 ? TARN_F32 : TARN_F64;
    const tarn_tensor reduced = exchange(r, m, dtype, bucket, pieces);
    exchange(r, m, other, TARN_NONE, pieces);
    free(pieces);
    return reduced;
}

static void builds(tarn_replica *r, bool begins)
{
    const struct member *m = member_of(r);
    communicator_builds(m->communicator, m->seat, begins);
}

void ddp_set_up(struct member *m)
{
    m->peers.builds = builds;
    m->peers.add_words = mark_add_words;
    m->peers.sum = sum;
    m->peers.reduce = reduce;
    m->peers.exchange = exchange_ops;
    if (m->peers.mesh.axes > 0) {
        m->peers.begin = mesh_check_begin;
        m->peers.compares = mesh_check_due;
        m->peers.compare = mesh_check_compare;
        /* In the program of all replicas batch norm has the whole batch anyway. */
        m->peers.sync_norm = false;
    }
    /* Virtual shards give the bits of one device, whose batch norm sees the whole batch. */
    m->peers.sync_norm = m->peers.sync_norm || m->peers.shards > 0;
}
