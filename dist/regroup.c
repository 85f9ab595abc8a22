/* SPDX-License-Identifier: Apache-2.0 */
/* The node's memory has a piece from each of its ranks for each rank of that one's group, ordered by the node that
 * it is for, then by who sends and who gets it; and behind them, in the same order, what comes. Pieces for ranks of
 * the same node stay where they were put. */
#include <stdlib.h>
#include <string.h>

#include "across_parts.h"
#include "agree.h"
#include "mesh_group.h"
#include "pattern.h"
#include "regroup.h"
#include "slab.h"

/* ---- what goes from rank to rank ------------------------------------------------------------ */

/* Of a sum in a larger group each place adds up a part, and sends that to all in a second stage: fewer bytes. */
static bool has_stages(const struct collective *c)
{
    return c->kind == COLLECTIVE_ALL_REDUCE && group_count(c, 0) > 2;
}

/* The part of a sum in stages that belongs to a place, in bytes. */
static struct chunk part_of(const struct collective *c, int place)
{
    const struct chunk k = pattern_chunk(c->count, group_count(c, 0), place);
    const size_t size = tarn_dtype_bytes(c->dtype);
    return (struct chunk){ size * k.first, size * k.count };
}

static size_t piece(const struct collective *c, int from, int to)
{
    const size_t bytes = c->count * tarn_dtype_bytes(c->dtype);
    const int count = group_count(c, 0);
    switch (c->kind) {
    case COLLECTIVE_ALL_REDUCE:
        return has_stages(c) ? part_of(c, c->stage == 0 ? to : from).count : bytes;
    case COLLECTIVE_ALL_GATHER:
        return bytes;
    case COLLECTIVE_REDUCE_SCATTER:
    case COLLECTIVE_ALL_TO_ALL:
        return bytes / (size_t)count;
    case COLLECTIVE_BROADCAST:
        return from == c->root ? bytes : 0;
    case COLLECTIVE_PASS:
        return group_source(c, count, to) == from ? bytes : 0;
    case COLLECTIVE_BARRIER:
        break;
    }
    return 0;
}

/* Where the piece from one rank to another begins among those from a node to a node; all of their bytes when
 * `from` is -1. */
static size_t piece_at(const struct across *a, const struct collective *c, int from_node,
                       int to_node, int from, int to)
{
    size_t at = 0;
    for (int p = a->firsts[from_node]; p < a->firsts[from_node + 1]; p++) {
        struct collective of = c->asked[p];
        of.stage = c->stage;
        const int count = group_count(&of, 0), place = group_place(&of, p);
        for (int k = 0; k < count; k++) {
            const int q = group_member(&of, p, k);
            if (q < a->firsts[to_node] || q >= a->firsts[to_node + 1])
                continue;
            if (p == from && q == to)
                return at;
            at += piece(&of, place, k);
        }
    }
    return at;
}

static size_t bytes_between(const struct across *a, const struct collective *c, int from, int to)
{
    return piece_at(a, c, from, to, -1, -1);
}

/* Where what goes to a node begins, and what comes from it. */
static size_t going_at(const struct across *a, const struct collective *c, int node)
{
    size_t at = 0;
    for (int i = 0; i < node; i++)
        at += bytes_between(a, c, a->node, i);
    return at;
}

static size_t coming_at(const struct across *a, const struct collective *c, int node)
{
    size_t at = going_at(a, c, a->nodes);
    if (node == a->node)
        return going_at(a, c, node);
    for (int i = 0; i < node; i++)
        at += i == a->node ? 0 : bytes_between(a, c, i, a->node);
    return at;
}

size_t regroup_bytes(const struct across *a, const struct collective *c)
{
    size_t bytes = going_at(a, c, a->nodes);
    for (int i = 0; i < a->nodes; i++)
        bytes += i == a->node ? 0 : bytes_between(a, c, i, a->node);
    return bytes;
}

/* ---- a rank's share ------------------------------------------------------------------------- */

/* The piece for a place, packed. */
static void pack(const struct collective *c, int place, int to, char *at)
{
    const size_t bytes = tarn_dtype_bytes(c->dtype);
    if (c->kind == COLLECTIVE_REDUCE_SCATTER || c->kind == COLLECTIVE_ALL_TO_ALL) {
        tarn_shape block = c->shape;
        block.dim[c->split] /= group_count(c, 0);
        const struct slab of = { &c->shape, c->split, to * block.dim[c->split] };
        slab_copy(at, (struct slab){ &block, c->split, 0 }, c->in, of, &block, bytes);
        return;
    }
    const char *from = c->kind == COLLECTIVE_ALL_REDUCE && c->stage == 1 ? c->out : c->in;
    if (has_stages(c))
        from += part_of(c, c->stage == 0 ? to : place).first;
    memcpy(at, from, piece(c, place, to));
}

void regroup_put(struct across *a, const struct collective *c, int rank)
{
    const int count = group_count(c, 0), place = group_place(c, rank);
    for (int to = 0; to < count; to++) {
        const int other = group_member(c, rank, to), node = across_node(a, other);
        if (piece(c, place, to) > 0)
            pack(c, place, to,
                 a->data + going_at(a, c, node) + piece_at(a, c, a->node, node, rank, other));
    }
}

void regroup_task(struct across *a, const struct collective *c, uint64_t number, struct task *out)
{
    /* What ranks ask for was compared: here the nodes only meet. */
    const struct collective meet = {
        .kind = COLLECTIVE_BARRIER, .order = FORM_ANY, .step = c->step, .label = c->label
    };
    notice_make(&out->notice, &meet, number, a->firsts[a->node], a->node, false);
    out->kind = TASK_EXCHANGE;
    out->to = a->to;
    out->from = a->from;
    for (int i = 0; i < a->nodes; i++) {
        a->to[i] = (struct block){ a->data + going_at(a, c, i), bytes_between(a, c, a->node, i) };
        a->from[i] =
            (struct block){ a->data + coming_at(a, c, i), bytes_between(a, c, i, a->node) };
    }
}

static void place_blocks(const struct collective *c, int count, const void *const *in)
{
    const tarn_shape out = group_result(c, count);
    tarn_shape block = c->shape;
    if (c->kind == COLLECTIVE_ALL_TO_ALL)
        block.dim[c->split] /= count;
    for (int from = 0; from < count; from++) {
        const struct slab to = { &out, c->join, from * block.dim[c->join] };
        slab_copy(c->out, to, in[from], (struct slab){ &block, 0, 0 }, &block,
                  tarn_dtype_bytes(c->dtype));
    }
}

static void add_up(const struct collective *c, int count, int place, const void *const *in)
{
    const size_t each = c->kind == COLLECTIVE_REDUCE_SCATTER ? c->count / (size_t)count
                        : has_stages(c) ? part_of(c, place).count / tarn_dtype_bytes(c->dtype)
                                        : c->count;
    char *out = c->out;
    out += has_stages(c) ? part_of(c, place).first : 0;
    if (each > 0)
        pattern_reduce_to(c->dtype, c->reduction, in, count, 0, each, out);
}

static void copy_parts(const struct collective *c, int count, int place, const void *const *in)
{
    const int source = c->kind == COLLECTIVE_BROADCAST ? c->root : group_source(c, count, place);
    const size_t bytes = c->count * tarn_dtype_bytes(c->dtype);
    for (int i = 0; i < count && c->kind == COLLECTIVE_ALL_REDUCE; i++)
        memcpy((char *)c->out + part_of(c, i).first, in[i], part_of(c, i).count);
    if (c->kind == COLLECTIVE_ALL_REDUCE)
        return;
    if (source >= 0)
        memcpy(c->out, in[source], bytes);
    else
        memset(c->out, 0, bytes);
}

void regroup_take(struct across *a, const struct collective *c, int rank)
{
    const int count = group_count(c, 0), place = group_place(c, rank);
    const void *in[REGROUP_MOST];
    if (c->count == 0)
        return;
    for (int i = 0; i < count; i++) {
        const int other = group_member(c, rank, i), node = across_node(a, other);
        in[i] = a->data + coming_at(a, c, node) + piece_at(a, c, node, a->node, other, rank);
    }
    if (c->kind == COLLECTIVE_ALL_GATHER || c->kind == COLLECTIVE_ALL_TO_ALL)
        place_blocks(c, count, in);
    else if (c->kind == COLLECTIVE_REDUCE_SCATTER ||
             (c->kind == COLLECTIVE_ALL_REDUCE && c->stage == 0))
        add_up(c, count, place, in);
    else
        copy_parts(c, count, place, in);
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* What a rank asks for, as it is sent: its pointers mean nothing elsewhere. */
struct message {
    struct collective ask;
    struct mesh mesh;
    char label[64];
};

static tarn_status compare(struct communicator *t, int rank, const struct collective *c,
                           struct message *all, struct collective *asked)
{
    const struct ranks ranks = communicator_ranks(t);
    struct message mine;
    memset(&mine, 0, sizeof mine);
    mine.ask = *c;
    mine.ask.in = mine.ask.out = NULL;
    mine.mesh = *c->mesh;
    strncpy(mine.label, c->label != NULL ? c->label : "", sizeof mine.label - 1);
    const struct collective tell = { .kind = COLLECTIVE_ALL_GATHER,
                                     .dtype = TARN_U8,
                                     .count = sizeof mine,
                                     .order = FORM_ANY,
                                     .step = c->step,
                                     .label = "groups",
                                     .in = &mine,
                                     .out = all };
    TRY(communicator_collect(t, rank, &tell));
    const struct collective **list = calloc((size_t)ranks.world, sizeof *list);
    if (list == NULL)
        return error_set(TARN_ERR_MEMORY, "no memory for what %d ranks ask for", ranks.world);
    for (int i = 0; i < ranks.world; i++) {
        asked[i] = all[i].ask;
        asked[i].mesh = &all[i].mesh;
        asked[i].label = all[i].label;
        list[i] = &asked[i];
    }
    const tarn_status status = agree_groups(list, ranks.world, communicator_number(t, rank));
    free(list);
    return status;
}

static tarn_status collect(struct communicator *t, int rank, const struct collective *c,
                           struct message *all, struct collective *asked)
{
    TRY(compare(t, rank, c, all, asked));
    struct collective k = *c;
    k.asked = asked;
    for (k.stage = 0; k.stage <= has_stages(c); k.stage++)
        TRY(communicator_collect(t, rank, &k));
    return TARN_OK;
}

tarn_status regroup_collect(struct communicator *t, int rank, const struct collective *c)
{
    const struct ranks ranks = communicator_ranks(t);
    if (group_count(c, 0) > REGROUP_MOST)
        return error_set(TARN_ERR_ARGUMENT, "a group of %d ranks, at most %d are possible",
                         group_count(c, 0), REGROUP_MOST);
    struct message *all = calloc((size_t)ranks.world, sizeof *all);
    struct collective *asked = calloc((size_t)ranks.world, sizeof *asked);
    const tarn_status status =
        all != NULL && asked != NULL
            ? collect(t, rank, c, all, asked)
            : error_set(TARN_ERR_MEMORY, "no memory for what %d ranks ask for", ranks.world);
    free(all);
    free(asked);
    return status;
}
