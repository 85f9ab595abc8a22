/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions are stored to everybody by who owns the chunk, gathers are fetched by who wants them,
 * and exchanges are made by one of the two ranks, for both. */
#include <string.h>

#include "mesh_group.h"
#include "move.h"
#include "pattern.h"

static void copy(void *to, const void *from, size_t bytes)
{
    if (bytes && to != from)
        memcpy(to, from, bytes);
}

static void all_reduce(const struct collective *const *all, int world, int rank)
{
    const struct chunk mine = pattern_chunk(all[0]->count, world, rank);
    const void *in[COMMUNICATOR_MOST];
    void *out[COMMUNICATOR_MOST];
    for (int i = 0; i < world; i++) {
        in[i] = all[i]->in;
        out[i] = all[i]->out;
    }
    pattern_reduce(all[0]->dtype, all[0]->reduction, in, out, world, rank, mine.first, mine.count);
}

static void reduce_scatter(const struct collective *const *all, int world, int rank)
{
    const size_t part = all[0]->count / (size_t)world;
    const void *in[COMMUNICATOR_MOST];
    for (int i = 0; i < world; i++)
        in[i] = all[i]->in;
    pattern_reduce_to(all[0]->dtype, all[0]->reduction, in, world, (size_t)rank * part, part,
                      all[rank]->out);
}

static void all_gather(const struct collective *const *all, int world, int rank)
{
    const size_t bytes = all[0]->count * tarn_dtype_bytes(all[0]->dtype);
    for (int step = 0; step < world; step++) {
        const int from = pattern_target(world, rank, step);
        copy((char *)all[rank]->out + (size_t)from * bytes, all[from]->in, bytes);
    }
}

/* a_out = b_in and b_out = a_in, where each `out` may be the `in` of the same letter. */
static void exchange(void *a_out, const void *a_in, void *b_out, const void *b_in, size_t bytes)
{
    char a[4096], b[4096];
    for (size_t i = 0; i < bytes; i += sizeof a) {
        const size_t n = bytes - i < sizeof a ? bytes - i : sizeof a;
        memcpy(a, (const char *)a_in + i, n);
        memcpy(b, (const char *)b_in + i, n);
        memcpy((char *)a_out + i, b, n);
        memcpy((char *)b_out + i, a, n);
    }
}

/* The parts that two ranks send to each other lie at the mirrored places, so that in place both are
 * free once both are read. Which of the two does it alternates, to share the work. */
static void all_to_all(const struct collective *const *all, int world, int rank)
{
    const size_t part = all[0]->count / (size_t)world * tarn_dtype_bytes(all[0]->dtype);
    const size_t here = (size_t)rank * part;
    copy((char *)all[rank]->out + here, (const char *)all[rank]->in + here, part);
    for (int other = 0; other < world; other++) {
        const int lower = rank < other ? rank : other, upper = rank < other ? other : rank;
        if (other == rank || rank != ((lower + upper) % 2 ? lower : upper))
            continue;
        const size_t there = (size_t)other * part;
        exchange((char *)all[rank]->out + there, (const char *)all[rank]->in + there,
                 (char *)all[other]->out + here, (const char *)all[other]->in + here, part);
    }
}

void move_whole(const struct collective *const *all, int world, int rank)
{
    const struct collective *c = all[0];
    if (c->kind == COLLECTIVE_BARRIER || c->count == 0)
        return;
    if (c->kind == COLLECTIVE_ALL_REDUCE)
        all_reduce(all, world, rank);
    else if (c->kind == COLLECTIVE_REDUCE_SCATTER)
        reduce_scatter(all, world, rank);
    else if (c->kind == COLLECTIVE_ALL_GATHER)
        all_gather(all, world, rank);
    else if (c->kind == COLLECTIVE_ALL_TO_ALL)
        all_to_all(all, world, rank);
    else
        copy(all[rank]->out, all[c->root]->in, c->count * tarn_dtype_bytes(c->dtype));
}

/* Its group's all, in rank order. */
static void share_of_group(const struct collective *const *all, int rank)
{
    const struct collective *c = all[rank], *mine[COMMUNICATOR_MOST];
    const int count = group_count(c, 0);
    for (int i = 0; i < count; i++)
        mine[i] = all[group_member(c, rank, i)];
    group_share(mine, count, group_place(c, rank));
}

void move_share(const struct collective *const *all, int world, int rank)
{
    if (all[rank]->mesh != NULL)
        share_of_group(all, rank);
    else
        move_whole(all, world, rank);
}
