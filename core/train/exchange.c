/* SPDX-License-Identifier: Apache-2.0 */
/* The gradient of all replicas with virtual shards, flat. Only sums over samples are exchanged,
 * in the same buckets as without shards; what was made of several of them, or of a sum and
 * something else, is made again of the sums over all replicas (spread.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op/op.h"
#include "train/optimizer.h"

static uint32_t slice_gradient(const tarn_optimizer *o, uint32_t i)
{
    return o->replica->owned[o->slices[i] - 1].grad;
}

/* Whether a slice is exchanged as it is: a sum over samples, or zeros for a missing one. */
static bool is_exchanged(const tarn_optimizer *o, uint32_t i)
{
    const uint32_t g = slice_gradient(o, i);
    return g == 0 || o->replica->graph.nodes[g].spread == SPREAD_PARTIAL;
}

static bool check_labels(const tarn_optimizer *o)
{
    tarn_replica *r = o->replica;
    bool samples = false;
    for (uint32_t i = 0; i < o->slice_count; i++) {
        const uint32_t g = slice_gradient(o, i);
        char name[160];
        snprintf(name, sizeof name, "the gradient of %s", r->owned[o->slices[i] - 1].name);
        if (g && !spread_check(graph_handle(r, g), name, true))
            return false;
        samples |= g && (r->graph.nodes[g].spread == SPREAD_PARTIAL ||
                         r->graph.nodes[g].spread == SPREAD_LINEAR);
    }
    if (!samples)
        replica_fail(r, TARN_ERR_ARGUMENT,
                     "optimizer: with %d virtual shards the loss must depend on a batch of a "
                     "loader, which they divide",
                     r->peers->shards);
    return samples;
}

static tarn_tensor flattened(tarn_tensor x)
{
    return op_reshape_to(x, TARN_SHAPE((int32_t)tarn_shape_count(tarn_shape_get(x))));
}

/* Pieces of a bucket, joined in the end. */
struct pieces {
    tarn_tensor *list;
    uint32_t count;
    int32_t length;
};

static void add_piece(struct pieces *p, tarn_tensor x)
{
    p->list[p->count++] = x;
    p->length += tarn_shape_get(x).dim[0];
}

static tarn_tensor zeros(const tarn_optimizer *o, int32_t n)
{
    return op_constant_of(o->replica, TARN_SHAPE(n), o->dtype, 0.0);
}

static void add_slice(struct pieces *p, const tarn_optimizer *o, uint32_t i, tarn_tensor g)
{
    tarn_replica *r = o->replica;
    const tarn_shape shape = r->owned[o->slices[i] - 1].shape;
    const int32_t n = (int32_t)tarn_shape_count(shape), gap = (int32_t)flat_extent(shape) - n;
    if (n > 0)
        add_piece(p, g.node ? tarn_reshape(g, TARN_SHAPE(n)) : zeros(o, n));
    if (gap > 0)
        add_piece(p, zeros(o, gap));
}

/* One bucket being exchanged; `sources` are the partial sums behind the others of its slices. */
struct bucket {
    const tarn_optimizer *o;
    uint32_t first, last;
    struct spread_walk *walk;
    uint32_t *sources, source_count;
    struct pieces out, in;
};

static void gather_pieces(struct bucket *b)
{
    tarn_replica *r = b->o->replica;
    for (uint32_t i = b->first; i < b->last; i++) {
        if (is_exchanged(b->o, i))
            add_slice(&b->out, b->o, i, graph_handle(r, slice_gradient(b->o, i)));
        else
            b->source_count +=
                spread_walk_sources(b->walk, slice_gradient(b->o, i), b->sources + b->source_count);
    }
    for (uint32_t k = 0; k < b->source_count; k++)
        add_piece(&b->out, flattened(graph_handle(r, b->sources[k])));
}

/* The slices again, in flat order, of what came back. */
static tarn_tensor spread_pieces(struct bucket *b, tarn_tensor all)
{
    tarn_replica *r = b->o->replica;
    int32_t at = 0, end = b->out.length;
    for (uint32_t k = b->source_count; k-- > 0;) {
        const tarn_shape shape = r->graph.nodes[b->sources[k]].shape;
        const int32_t n = (int32_t)tarn_shape_count(shape);
        end -= n;
        b->walk->total[b->sources[k]] =
            op_reshape_to(tarn_slice(all, 0, end, end + n, 1), shape).node;
    }
    for (uint32_t i = b->first; i < b->last; i++) {
        if (is_exchanged(b->o, i)) {
            const int32_t n = (int32_t)flat_extent(r->owned[b->o->slices[i] - 1].shape);
            if (n > 0)
                add_piece(&b->in, tarn_slice(all, 0, at, at + n, 1));
            at += n;
        } else {
            add_slice(&b->in, b->o, i, spread_walk_total(b->walk, slice_gradient(b->o, i)));
        }
    }
    return b->in.count ? op_join(b->in.list, b->in.count) : zeros(b->o, 0);
}

static tarn_tensor exchange_bucket(struct bucket *b, bool first)
{
    tarn_replica *r = b->o->replica;
    gather_pieces(b);
    bool whole = true;
    for (uint32_t i = b->first; i < b->last; i++)
        whole &= is_exchanged(b->o, i);
    if (b->out.count == 0) /* the first bucket goes on its way with whatever goes with it */
        add_piece(&b->out, zeros(b->o, first ? 1 : 0));
    const tarn_tensor joined = op_join(b->out.list, b->out.count);
    const tarn_tensor all = b->out.length > 0 ? r->peers->reduce(joined, first) : joined;
    return whole ? all : spread_pieces(b, all);
}

/* Room for the lists of one bucket, and for the buckets. */
struct room {
    tarn_tensor *out, *in, *buckets;
    uint32_t *sources;
    struct spread_walk walk;
};

static bool room_make(const tarn_optimizer *o, struct room *m)
{
    const size_t most = (size_t)o->replica->graph.count + 2 * (size_t)o->slice_count + 2;
    if (!spread_walk_begin(o->replica, &m->walk))
        return false;
    m->out = calloc(most, sizeof *m->out);
    m->in = calloc(most, sizeof *m->in);
    m->buckets = calloc(most, sizeof *m->buckets);
    m->sources = calloc(most, sizeof *m->sources);
    if (m->out != NULL && m->in != NULL && m->buckets != NULL && m->sources != NULL)
        return true;
    graph_fail(o->replica, TARN_ERR_MEMORY, "optimizer: out of host memory for its buckets");
    return false;
}

static void room_free(struct room *m)
{
    free(m->out);
    free(m->in);
    free(m->buckets);
    free(m->sources);
    spread_walk_end(&m->walk);
}

/* Frozen slices have nothing to exchange. */
static tarn_tensor zeros_of(const tarn_optimizer *o, uint32_t first, uint32_t last)
{
    int64_t n = 0;
    for (uint32_t i = first; i < last; i++)
        n += flat_extent(o->replica->owned[o->slices[i] - 1].shape);
    return zeros(o, (int32_t)n);
}

static tarn_tensor exchange_all(tarn_optimizer *o, struct room *m)
{
    tarn_replica *r = o->replica;
    uint32_t used = o->slice_count; /* buckets[used ..] are done, in flat order */
    for (uint32_t last = o->slice_count; last > 0 && r->status == TARN_OK;) {
        const uint32_t first = gradient_bucket(o, last);
        struct bucket b = { .o = o,
                            .first = first,
                            .last = last,
                            .walk = &m->walk,
                            .sources = m->sources,
                            .out = { .list = m->out },
                            .in = { .list = m->in } };
        const bool exchanges = !gradient_frozen(o, first, last);
        m->buckets[--used] =
            exchanges ? exchange_bucket(&b, !o->exchanged) : zeros_of(o, first, last);
        o->exchanged |= exchanges;
        last = first;
    }
    return r->status == TARN_OK ? op_join(m->buckets + used, o->slice_count - used)
                                : graph_poison(r);
}

/* On one device there is nothing to exchange, and the same to refuse. */
static tarn_tensor join_all(const tarn_optimizer *o, struct room *m)
{
    struct pieces p = { .list = m->out };
    for (uint32_t i = 0; i < o->slice_count; i++)
        add_slice(&p, o, i, graph_handle(o->replica, slice_gradient(o, i)));
    const tarn_tensor g = p.count ? op_join(p.list, p.count) : zeros(o, 0);
    return spread_as(g, SPREAD_SAME);
}

tarn_tensor gradient_of_shards(tarn_optimizer *o)
{
    tarn_replica *r = o->replica;
    struct room m = { 0 };
    tarn_tensor g = graph_poison(r);
    if (!check_labels(o))
        return g;
    if (room_make(o, &m))
        g = r->peers->world == 1 ? join_all(o, &m) : exchange_all(o, &m);
    room_free(&m);
    return g;
}
