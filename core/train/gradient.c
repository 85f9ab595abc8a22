/* SPDX-License-Identifier: Apache-2.0 */
/* The gradient of a step, flat: of all parameters, and with what was accumulated, of all replicas. */
#include <stdlib.h>

#include "op/op.h"
#include "train/optimizer.h"

bool gradient_check(const tarn_optimizer *o, bool *all)
{
    tarn_replica *r = o->replica;
    uint32_t with = 0, owned = 0;
    for (uint32_t i = 0; i < o->slice_count; i++)
        with += r->owned[o->slices[i] - 1].grad != 0;
    for (uint32_t i = 0; i < r->owned_count; i++) {
        owned += r->owned[i].kind == OWNED_PARAMETER;
        if (r->owned[i].kind == OWNED_PARAMETER && r->owned[i].flat != o->flat) {
            replica_fail(r, TARN_ERR_STATE,
                         "optimizer: parameter %s was made after the optimizer; make layers first",
                         r->owned[i].name);
            return false;
        }
    }
    *all = with == owned;
    if (with == 0)
        replica_fail(r, TARN_ERR_STATE,
                     "optimizer: no parameter has a gradient; call tarn_backward() before "
                     "tarn_optimizer_step()");
    return with != 0;
}

tarn_tensor gradient_of(const tarn_optimizer *o, uint32_t first, uint32_t last, bool mask)
{
    tarn_replica *r = o->replica;
    tarn_tensor *pieces = calloc(2 * (size_t)(last - first) + 1, sizeof *pieces);
    if (!pieces)
        return graph_fail(r, TARN_ERR_MEMORY, "optimizer: no host memory for its list");
    uint32_t count = 0;
    for (uint32_t i = first; i < last; i++) {
        const struct owned p = r->owned[o->slices[i] - 1];
        const int32_t n = (int32_t)tarn_shape_count(p.shape),
                      gap = (int32_t)flat_extent(p.shape) - n;
        if (n == 0)
            continue;
        if (p.grad && !mask)
            pieces[count++] = tarn_reshape(graph_handle(r, p.grad), TARN_SHAPE(n));
        else
            pieces[count++] = tarn_full(r, TARN_SHAPE(n), p.grad ? 1.0f : 0.0f);
        if (gap)
            pieces[count++] = tarn_zeros(r, TARN_SHAPE(gap));
    }
    const tarn_tensor g = count ? op_join(pieces, count) : tarn_zeros(r, TARN_SHAPE(0));
    free(pieces);
    return g;
}

tarn_tensor gradient_whole(const tarn_optimizer *o, uint32_t first, uint32_t last)
{
    tarn_replica *r = o->replica;
    const tarn_tensor g = gradient_of(o, first, last, false);
    if (!o->accumulated || tarn_failed(g))
        return g;
    const int32_t at = (int32_t)(r->owned[o->slices[first] - 1].offset / sizeof(float));
    const int32_t n = tarn_shape_get(g).dim[0];
    return tarn_add(g, tarn_slice(owned_handle(r, o->kept), 0, at, at + n, 1));
}

/* The sum over all replicas, in buckets that begin at a slice: while the first, of the last layers,
 * is on its way, the device still computes the others. */
static tarn_tensor reduced_gradient(const tarn_optimizer *o)
{
    tarn_replica *r = o->replica;
    tarn_tensor *buckets = calloc((size_t)o->slice_count + 1, sizeof *buckets);
    if (!buckets)
        return graph_fail(r, TARN_ERR_MEMORY, "optimizer: no host memory for its buckets");
    uint32_t used = o->slice_count; /* buckets[used ..] are done, in flat order */
    for (uint32_t last = o->slice_count; last > 0;) {
        uint32_t first = last;
        size_t bytes = 0;
        while (first > 0 && (bytes == 0 || bytes < r->peers->bucket_bytes))
            bytes += (size_t)flat_extent(r->owned[o->slices[--first] - 1].shape) * sizeof(float);
        const tarn_tensor bucket = gradient_whole(o, first, last);
        buckets[--used] = r->peers->reduce(bucket, last == o->slice_count);
        last = first;
    }
    const tarn_tensor g = op_join(buckets + used, o->slice_count - used);
    free(buckets);
    return g;
}

tarn_tensor gradient_flat(const tarn_optimizer *o)
{
    tarn_replica *r = o->replica;
    if (r->flat_gradient)
        return graph_handle(r, r->flat_gradient);
    return r->peers && r->peers->world > 1 ? reduced_gradient(o)
                                           : gradient_whole(o, 0, o->slice_count);
}
