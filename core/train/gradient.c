/* SPDX-License-Identifier: Apache-2.0 */
/* The gradient of a step, flat, as PyTorch's .grad of all parameters: what earlier steps kept, and
 * what backward left in this one, summed over all replicas when it is to be clipped or used. */
#include <stdlib.h>
#include <string.h>

#include "op/op.h"
#include "tensor/name_match.h"
#include "train/optimizer.h"

static struct owned *slice_of(const tarn_optimizer *o, uint32_t i)
{
    return &o->replica->owned[o->slices[i] - 1];
}

/* Whether backward left one that was not gathered. */
static bool is_fresh(const tarn_optimizer *o)
{
    bool fresh = false;
    for (uint32_t i = 0; i < o->slice_count; i++)
        fresh |= slice_of(o, i)->grad != 0;
    return fresh;
}

bool gradient_is_there(const tarn_optimizer *o)
{
    return is_fresh(o) || o->now.any;
}

static bool check_parameters(const tarn_optimizer *o)
{
    tarn_replica *r = o->replica;
    for (uint32_t i = 0; i < r->owned_count; i++) {
        const struct owned *p = &r->owned[i];
        if (p->kind != OWNED_PARAMETER || p->optimizer == o->number ||
            !name_matches(o->pattern, p->name))
            continue;
        replica_fail(r, TARN_ERR_STATE,
                     "optimizer: parameter %s was made after the optimizer; make layers first",
                     p->name);
        return false;
    }
    if (gradient_is_there(o))
        return true;
    replica_fail(r, TARN_ERR_STATE,
                 "optimizer: no parameter has a gradient that no step took yet; call "
                 "tarn_backward() before tarn_optimizer_step()");
    return false;
}

static tarn_tensor zeros(const tarn_optimizer *o, int32_t n)
{
    return op_constant_of(o->replica, TARN_SHAPE(n), o->dtype, 0.0);
}

/* Slices first .. last - 1 in flat order of what `gradient` gives of each; zeros where that is TARN_NONE. */
static tarn_tensor joined(const tarn_optimizer *o, uint32_t first, uint32_t last,
                          tarn_tensor (*gradient)(const tarn_optimizer *o, uint32_t slice))
{
    tarn_replica *r = o->replica;
    tarn_tensor *pieces = calloc(2 * (size_t)(last - first) + 1, sizeof *pieces);
    if (pieces == NULL)
        return graph_fail(r, TARN_ERR_MEMORY, "optimizer: out of host memory for its list");
    uint32_t count = 0;
    for (uint32_t i = first; i < last; i++) {
        const tarn_shape shape = slice_of(o, i)->shape;
        const int32_t n = (int32_t)tarn_shape_count(shape);
        const int32_t gap = (int32_t)flat_extent(shape) - n;
        if (n == 0)
            continue;
        const tarn_tensor g = gradient(o, i);
        pieces[count++] = g.replica != NULL ? tarn_reshape(g, TARN_SHAPE(n)) : zeros(o, n);
        if (gap)
            pieces[count++] = zeros(o, gap);
    }
    const tarn_tensor g = count ? op_join(pieces, count) : zeros(o, 0);
    free(pieces);
    return g;
}

/* What backward left. */
static tarn_tensor fresh_slice(const tarn_optimizer *o, uint32_t i)
{
    const uint32_t grad = slice_of(o, i)->grad;
    return grad ? graph_handle(o->replica, grad) : TARN_NONE;
}

static tarn_tensor fresh_gradient(const tarn_optimizer *o, uint32_t first, uint32_t last)
{
    return joined(o, first, last, fresh_slice);
}

/* What was gathered before. */
static tarn_tensor gathered(const tarn_optimizer *o)
{
    tarn_replica *r = o->replica;
    return o->now.node ? graph_handle(r, o->now.node) : owned_handle(r, o->kept);
}

/* Slices first .. last - 1 of it. */
static tarn_tensor earlier_gradient(const tarn_optimizer *o, uint32_t first, uint32_t last)
{
    const tarn_tensor all = gathered(o);
    const int32_t at = (int32_t)(slice_of(o, first)->offset / tarn_dtype_bytes(o->dtype));
    int64_t n = 0;
    for (uint32_t i = first; i < last; i++)
        n += flat_extent(slice_of(o, i)->shape);
    return tarn_slice(all, 0, at, at + (int32_t)n, 1);
}

/* Which of the two terms of the gradient are meant. */
struct terms {
    bool fresh, earlier;
};

static tarn_tensor gradient_of(const tarn_optimizer *o, struct terms t, uint32_t first,
                               uint32_t last)
{
    if (!t.earlier)
        return fresh_gradient(o, first, last);
    if (!t.fresh)
        return earlier_gradient(o, first, last);
    const tarn_tensor g = fresh_gradient(o, first, last);
    return tarn_failed(g) ? g : tarn_add(g, earlier_gradient(o, first, last));
}

uint32_t gradient_bucket(const tarn_optimizer *o, uint32_t last)
{
    size_t bytes = 0;
    uint32_t first = last;
    while (first > 0 && (bytes == 0 || bytes < o->replica->peers->bucket_bytes))
        bytes += (size_t)flat_extent(slice_of(o, --first)->shape) * tarn_dtype_bytes(o->dtype);
    return first;
}

bool gradient_frozen(const tarn_optimizer *o, uint32_t first, uint32_t last)
{
    bool all = true;
    for (uint32_t i = first; i < last; i++)
        all &= slice_of(o, i)->frozen;
    return all;
}

/* Under a mesh the program is that of all ranks, and what lies whole is the sum over them: where it is to be so is
 * where it is exchanged. */
static tarn_tensor reduced(const tarn_optimizer *o, tarn_tensor bucket)
{
    static const struct spec whole;
    if (replica_mesh(o->replica) != NULL)
        return op_shard_as(bucket, &whole);
    return o->replica->peers->reduce(bucket, !o->exchanged);
}

/* The sum over all replicas, in buckets that begin at a slice: while the first, of the last layers,
 * is on its way, the device still computes the others. */
static tarn_tensor reduced_gradient(tarn_optimizer *o, struct terms t)
{
    tarn_replica *r = o->replica;
    tarn_tensor *buckets = calloc((size_t)o->slice_count + 1, sizeof *buckets);
    if (buckets == NULL)
        return graph_fail(r, TARN_ERR_MEMORY, "optimizer: out of host memory for its buckets");
    uint32_t used = o->slice_count; /* buckets[used ..] are done, in flat order */
    for (uint32_t last = o->slice_count; last > 0;) {
        const uint32_t first = gradient_bucket(o, last);
        const tarn_tensor bucket = gradient_of(o, t, first, last);
        const bool exchanges = !gradient_frozen(o, first, last);
        buckets[--used] = exchanges ? reduced(o, bucket) : bucket;
        o->exchanged |= exchanges;
        last = first;
    }
    const tarn_tensor g = op_join(buckets + used, o->slice_count - used);
    free(buckets);
    return g;
}

/* What earlier steps kept is summed over all replicas already. */
static tarn_tensor combine_shards(tarn_optimizer *o, struct terms t)
{
    if (!t.fresh)
        return gradient_of(o, t, 0, o->slice_count);
    const tarn_tensor fresh = gradient_of_shards(o);
    if (!t.earlier || tarn_failed(fresh))
        return fresh;
    return tarn_add(fresh, gradient_of(o, (struct terms){ .earlier = true }, 0, o->slice_count));
}

static tarn_tensor combine(tarn_optimizer *o, struct terms t, bool sum)
{
    if (has_shards(o->replica))
        return combine_shards(o, t);
    const bool alone = o->replica->peers == NULL || o->replica->peers->world == 1;
    if (alone || (!sum && !o->now.summed))
        return gradient_of(o, t, 0, o->slice_count);
    if (!o->now.summed)
        return reduced_gradient(o, t);
    const tarn_tensor earlier =
        gradient_of(o, (struct terms){ .earlier = true }, 0, o->slice_count);
    if (!t.fresh)
        return earlier;
    const tarn_tensor fresh = reduced_gradient(o, (struct terms){ .fresh = true });
    return tarn_failed(fresh) ? fresh : tarn_add(fresh, earlier);
}

/* Each parameter's by itself: the program is that of all ranks, so backward has left the sum over them. */
static void gather_apart(tarn_optimizer *o)
{
    tarn_replica *r = o->replica;
    for (uint32_t i = 0; i < o->slice_count && r->status == TARN_OK; i++) {
        const struct owned *was = slice_of(o, i);
        const bool fresh = was->grad != 0, here = was->gathered != 0 && !was->used;
        const bool earlier = o->now.has[i] && !here; /* kept by earlier steps */
        if (!fresh && !earlier)
            continue;
        tarn_tensor g = fresh ? tarn_grad(owned_handle(r, o->slices[i])) : TARN_NONE;
        if (earlier) {
            const uint32_t kept = graph_resolve(owned_handle(r, o->kept_of[i]));
            g = fresh ? tarn_add(g, graph_handle(r, kept)) : graph_handle(r, kept);
        }
        struct owned *p = slice_of(o, i);
        p->gathered = g.node;
        p->used = false;
        p->grad = 0;
        o->now.has[i] = 1;
    }
    o->now.any = o->gathered = o->now.summed = true;
}

/* Under a mesh ranks that have the same part of a tensor have the same in it from the first update on. */
static bool begin(tarn_replica *r)
{
    if (replica_mesh(r) == NULL || r->peers->begin == NULL)
        return true;
    const tarn_status s = r->peers->begin(r);
    if (s != TARN_OK)
        replica_fail(r, s, NULL);
    return s == TARN_OK;
}

/* What was gathered, or set since. */
static tarn_tensor settled_slice(const tarn_optimizer *o, uint32_t i)
{
    const struct owned *p = slice_of(o, i);
    if (!o->now.has[i])
        return TARN_NONE;
    return o->now.set[i] ? graph_handle(o->replica, p->gathered)
                         : owned_slice(o->replica, o->slices[i] - 1, graph_resolve(gathered(o)));
}

/* Puts what tarn_set_grad left into the flat gradient: all of it at once, as each time is a pass over all. */
static void settle(tarn_optimizer *o)
{
    if (o->apart || memchr(o->now.set, 1, o->slice_count) == NULL)
        return;
    o->now.node = joined(o, 0, o->slice_count, settled_slice).node;
    memset(o->now.set, 0, o->slice_count);
}

bool gradient_gather(tarn_optimizer *o, bool sum)
{
    tarn_replica *r = o->replica;
    struct terms t = { .earlier = o->now.any };
    if (!check_parameters(o) || !begin(r))
        return false;
    if (o->apart) {
        gather_apart(o);
        return r->status == TARN_OK;
    }
    settle(o);
    t.fresh = is_fresh(o);
    sum |= replica_mesh(r) != NULL; /* what is kept for later steps lies whole on each rank */
    const tarn_tensor g = combine(o, t, sum);
    if (r->status != TARN_OK)
        return false;
    o->now.any = o->gathered = true;
    o->now.summed |= sum;
    o->now.node = graph_resolve(g); /* what was kept is a handle of an owned tensor */
    for (uint32_t i = 0; i < o->slice_count; i++) {
        if (!slice_of(o, i)->grad)
            continue;
        const uint32_t whole = tarn_grad(owned_handle(r, o->slices[i])).node;
        struct owned *p = slice_of(o, i);
        p->gathered = whole;
        p->used = false;
        p->grad = 0;
        o->now.has[i] = 1;
    }
    return r->status == TARN_OK;
}
