/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives of groups: every place fetches its own result, along any dimension, but for reductions and copies of
 * the whole, which are those of all ranks, with fewer of them. */
#include <string.h>

#include "mesh_group.h"
#include "move.h"
#include "pattern.h"
#include "slab.h"

int group_place(const struct collective *c, int rank)
{
    return c->mesh == NULL ? rank : mesh_place(c->mesh, rank, c->axes);
}

int group_member(const struct collective *c, int rank, int place)
{
    if (c->mesh == NULL)
        return place;
    int member = rank, stride = 1;
    for (int a = c->mesh->axes - 1; a >= 0; a--) {
        const int extent = c->mesh->extent[a];
        if (c->axes >> a & 1) {
            member += (place % extent - rank / stride % extent) * stride;
            place /= extent;
        }
        stride *= extent;
    }
    return member;
}

int group_source(const struct collective *c, int count, int place)
{
    int from = place - c->by;
    if (c->round)
        from = (from % count + count) % count;
    return from < 0 || from >= count || (c->only >= 0 && from != c->only) ? -1 : from;
}

tarn_shape group_result(const struct collective *c, int count)
{
    tarn_shape s = c->shape;
    if (c->kind == COLLECTIVE_REDUCE_SCATTER || c->kind == COLLECTIVE_ALL_TO_ALL)
        s.dim[c->split] /= count;
    if (c->kind == COLLECTIVE_ALL_GATHER || c->kind == COLLECTIVE_ALL_TO_ALL)
        s.dim[c->join] *= count;
    return s;
}

uint64_t group_received(const struct collective *c, int rank)
{
    const uint64_t bytes = (uint64_t)c->count * tarn_dtype_bytes(c->dtype);
    const int count = mesh_blocks(c->mesh, c->axes), place = group_place(c, rank);
    const uint64_t n = (uint64_t)count;
    switch (c->kind) {
    case COLLECTIVE_ALL_REDUCE:
        return 2 * bytes * (n - 1) / n;
    case COLLECTIVE_REDUCE_SCATTER:
    case COLLECTIVE_ALL_TO_ALL:
        return bytes * (n - 1) / n;
    case COLLECTIVE_ALL_GATHER:
        return bytes * (n - 1);
    case COLLECTIVE_BROADCAST:
        return place == c->root ? 0 : bytes;
    case COLLECTIVE_PASS: {
        const int from = group_source(c, count, place);
        return from < 0 || from == place ? 0 : bytes;
    }
    case COLLECTIVE_BARRIER:
        break;
    }
    return 0;
}

/* ---- each place's share --------------------------------------------------------------------- */

static void join(const struct collective *const *mine, int count, int place)
{
    const struct collective *c = mine[place];
    const tarn_shape out = group_result(c, count);
    const bool cuts = c->kind == COLLECTIVE_ALL_TO_ALL;
    tarn_shape block = c->shape;
    if (cuts)
        block.dim[c->split] /= count;
    for (int step = 0; step < count; step++) {
        const int from = pattern_target(count, place, step);
        const struct slab to = { &out, c->join, from * block.dim[c->join] };
        const struct slab of = { &c->shape, c->split, cuts ? place * block.dim[c->split] : 0 };
        slab_copy(c->out, to, mine[from]->in, of, &block, tarn_dtype_bytes(c->dtype));
    }
}

static void reduce_scatter(const struct collective *const *mine, int count, int place)
{
    const struct collective *c = mine[place];
    const tarn_shape block = group_result(c, count);
    const struct slab of = { &c->shape, c->split, place * block.dim[c->split] };
    const void *in[COMMUNICATOR_MOST];
    for (int i = 0; i < count; i++)
        in[i] = mine[i]->in;
    slab_reduce(c->out, c->dtype, c->reduction, in, count, of, &block);
}

static void pass(const struct collective *const *mine, int count, int place)
{
    const struct collective *c = mine[place];
    const size_t bytes = c->count * tarn_dtype_bytes(c->dtype);
    const int from = group_source(c, count, place);
    if (from >= 0)
        memcpy(c->out, mine[from]->in, bytes);
    else
        memset(c->out, 0, bytes);
}

void group_share(const struct collective *const *mine, int count, int place)
{
    const enum collective_kind kind = mine[place]->kind;
    if (kind == COLLECTIVE_BARRIER || mine[place]->count == 0)
        return;
    if (kind == COLLECTIVE_ALL_GATHER || kind == COLLECTIVE_ALL_TO_ALL)
        join(mine, count, place);
    else if (kind == COLLECTIVE_REDUCE_SCATTER)
        reduce_scatter(mine, count, place);
    else if (kind == COLLECTIVE_PASS)
        pass(mine, count, place);
    else
        move_whole(mine, count, place);
}
