/* SPDX-License-Identifier: Apache-2.0 */
/* The node's memory has the form of the collective: the sum so far, everybody's parts in rank order, or for an
 * exchange of parts two halves, the first with a block for each node, in the order of this node's ranks and
 * then of that node's, and the second with the blocks that come. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "across_parts.h"
#include "env.h"
#include "lock.h"
#include "pattern.h"
#include "regroup.h"

static tarn_status forced_schedule(int nodes, int *out)
{
    static const char *const names[] = { "direct", "halving", "doubling" };
    const char *text = env_text(ENV_EXCHANGE);
    *out = -1;
    if (strcmp(text, "auto") == 0)
        return TARN_OK;
    for (int i = 0; i < 3; i++)
        if (strcmp(text, names[i]) == 0)
            *out = i;
    if (*out < 0 || !rounds_fits((enum rounds_kind) * out, nodes))
        return error_set(TARN_ERR_ARGUMENT,
                         "TARN_EXCHANGE=%s with %d nodes: auto, direct, or for powers of two "
                         "halving or doubling",
                         text, nodes);
    return TARN_OK;
}

tarn_status across_new(int node, int nodes, const int *firsts, struct across **out)
{
    int forced;
    TRY(forced_schedule(nodes, &forced));
    const size_t n = (size_t)nodes;
    struct across *a = calloc(1, sizeof *a);
    if (a == NULL)
        return error_set(TARN_ERR_MEMORY, "no memory for %d nodes", nodes);
    *a = (struct across){ .node = node,
                          .nodes = nodes,
                          .forced = forced,
                          .firsts = calloc(n + 1, sizeof *a->firsts),
                          .to = calloc(n, sizeof *a->to),
                          .from = calloc(n, sizeof *a->from) };
    tarn_status status = a->firsts != NULL && a->to != NULL && a->from != NULL
                             ? lock_make(&a->lock, "launch")
                             : error_set(TARN_ERR_MEMORY, "no memory for %d nodes", nodes);
    if (status != TARN_OK) {
        free(a->firsts);
        free(a->to);
        free(a->from);
        free(a);
        return status;
    }
    memcpy(a->firsts, firsts, (n + 1) * sizeof *firsts);
    *out = a;
    return TARN_OK;
}

void across_free(struct across *a, bool idle)
{
    if (a == NULL)
        return;
    if (idle) {
        free(a->data);
        free(a->scratch);
    }
    free(a->firsts);
    free(a->to);
    free(a->from);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

struct ranks across_ranks(const struct across *a)
{
    return (struct ranks){ .first = a->firsts[a->node],
                           .count = a->firsts[a->node + 1] - a->firsts[a->node],
                           .world = a->firsts[a->nodes] };
}

int across_node(const struct across *a, int rank)
{
    int node = 0;
    while (a->firsts[node + 1] <= rank)
        node++;
    return node;
}

/* ---- memory --------------------------------------------------------------------------------- */

static bool is_reduction(const struct collective *c)
{
    return c->kind == COLLECTIVE_ALL_REDUCE || c->kind == COLLECTIVE_REDUCE_SCATTER;
}

static size_t bytes_of(const struct collective *c)
{
    return c->count * tarn_dtype_bytes(c->dtype);
}

static bool reserve(char **memory, size_t *have, size_t bytes)
{
    if (bytes <= *have)
        return true;
    free(*memory);
    *memory = malloc(bytes);
    *have = *memory != NULL ? bytes : 0;
    return *memory != NULL;
}

/* All ranks ask for the same; the first makes room. */
static tarn_status make_room(struct across *a, const struct collective *c, uint64_t number)
{
    const struct ranks ranks = across_ranks(a);
    const size_t bytes = bytes_of(c);
    const size_t data = c->mesh != NULL                    ? regroup_bytes(a, c)
                        : c->kind == COLLECTIVE_BARRIER    ? 0
                        : c->kind == COLLECTIVE_ALL_GATHER ? bytes * (size_t)ranks.world
                        : c->kind == COLLECTIVE_ALL_TO_ALL ? 2 * bytes * (size_t)ranks.count
                                                           : bytes;
    const size_t scratch =
        is_reduction(c) && c->mesh == NULL ? rounds_scratch(a->nodes, c->count, c->dtype) : 0;
    pthread_mutex_lock(&a->lock);
    if (a->failed != number && !(reserve(&a->data, &a->data_bytes, data) &&
                                 reserve(&a->scratch, &a->scratch_bytes, scratch)))
        a->failed = number;
    const bool failed = a->failed == number;
    pthread_mutex_unlock(&a->lock);
    return failed ? error_set(TARN_ERR_MEMORY, "no %zu bytes for an exchange with other nodes",
                              data + scratch)
                  : TARN_OK;
}

/* ---- a rank's share ------------------------------------------------------------------------- */

static void copy(void *to, const void *from, size_t bytes)
{
    if (bytes > 0)
        memcpy(to, from, bytes);
}

/* In the first half of the memory: where the block of a node begins. */
static size_t block_at(const struct across *a, int node, size_t part)
{
    return (size_t)across_ranks(a).count * (size_t)a->firsts[node] * part;
}

static size_t ranks_of(const struct across *a, int node)
{
    return (size_t)(a->firsts[node + 1] - a->firsts[node]);
}

static tarn_reduction without_scale(tarn_reduction reduction)
{
    return reduction == TARN_MEAN ? TARN_SUM : reduction;
}

static void put_sum(struct across *a, const struct collective *const *all, int rank)
{
    const int count = across_ranks(a).count;
    const struct collective *c = all[0];
    const struct chunk mine = pattern_chunk(c->count, count, rank);
    const void *in[COMMUNICATOR_MOST];
    for (int i = 0; i < count; i++)
        in[i] = all[i]->in;
    if (mine.count > 0)
        pattern_reduce_to(c->dtype, without_scale(c->reduction), in, count, mine.first, mine.count,
                          a->data + tarn_dtype_bytes(c->dtype) * mine.first);
}

tarn_status across_put(struct across *a, const struct collective *const *all, int rank,
                       uint64_t number)
{
    const struct collective *c = all[rank];
    const struct ranks ranks = across_ranks(a);
    TRY(make_room(a, c, number));
    if (c->mesh != NULL) {
        regroup_put(a, c, ranks.first + rank);
        return TARN_OK;
    }
    const size_t bytes = bytes_of(c);
    if (c->kind == COLLECTIVE_BARRIER)
        return TARN_OK;
    if (is_reduction(c)) {
        put_sum(a, all, rank);
    } else if (c->kind == COLLECTIVE_ALL_GATHER) {
        copy(a->data + (size_t)(ranks.first + rank) * bytes, c->in, bytes);
    } else if (c->kind == COLLECTIVE_BROADCAST) {
        if (c->root == ranks.first + rank)
            copy(a->data, c->in, bytes);
    } else {
        const size_t part = bytes / (size_t)ranks.world;
        for (int node = 0; node < a->nodes; node++) {
            const size_t row = ranks_of(a, node) * part;
            copy(a->data + block_at(a, node, part) + (size_t)rank * row,
                 (const char *)c->in + (size_t)a->firsts[node] * part, row);
        }
    }
    return TARN_OK;
}

void across_task(struct across *a, const struct collective *const *all, uint64_t number,
                 bool differs, struct task *out)
{
    const struct collective *c = all[0];
    const struct ranks ranks = across_ranks(a);
    const size_t bytes = bytes_of(c);
    *out = (struct task){ .kind = TASK_COMPARE, .data = a->data, .scratch = a->scratch };
    if (c->mesh != NULL) {
        regroup_task(a, c, number, out);
        return;
    }
    /* Ranks may differ in whether they say where an operand is from: those that do speak for the node. */
    struct collective ask = *c;
    for (int i = 1; i < ranks.count; i++) {
        ask.origin = ask.origin == 0 ? all[i]->origin : ask.origin;
        ask.order = ask.order == FORM_ANY ? all[i]->order : ask.order;
    }
    notice_make(&out->notice, &ask, number, ranks.first, a->node, differs);
    out->schedule = a->forced >= 0 ? (enum rounds_kind)a->forced : rounds_choose(a->nodes, bytes);
    if (is_reduction(c)) {
        out->kind = TASK_REDUCE;
        out->dtype = c->dtype;
        out->reduction = without_scale(c->reduction);
        out->count = c->count;
    } else if (c->kind == COLLECTIVE_BROADCAST) {
        out->kind = TASK_BROADCAST;
        out->root = across_node(a, c->root);
        out->count = bytes;
    } else if (c->kind != COLLECTIVE_BARRIER) {
        const bool gathers = c->kind == COLLECTIVE_ALL_GATHER;
        const size_t part = gathers ? bytes : bytes / (size_t)ranks.world;
        out->kind = TASK_EXCHANGE;
        out->to = a->to;
        out->from = a->from;
        for (int i = 0; i < a->nodes; i++) {
            const size_t theirs = ranks_of(a, i) * part;
            const size_t block = theirs * (size_t)ranks.count;
            a->from[i] =
                gathers
                    ? (struct block){ a->data + (size_t)a->firsts[i] * part, theirs }
                    : (struct block){ a->data + bytes * (size_t)ranks.count + block_at(a, i, part),
                                      block };
            a->to[i] = gathers ? (struct block){ a->data + (size_t)ranks.first * part,
                                                 (size_t)ranks.count * part }
                               : (struct block){ a->data + block_at(a, i, part), block };
        }
    }
}

static void take_sum(const struct across *a, const struct collective *c, size_t first, size_t count)
{
    const size_t size = tarn_dtype_bytes(c->dtype);
    const int world = across_ranks(a).world;
    copy(c->out, a->data + size * first, size * count);
    float *single = c->out;
    double *wide = c->out;
    for (size_t i = 0; c->reduction == TARN_MEAN && i < count; i++)
        if (c->dtype == TARN_F64)
            wide[i] *= 1.0 / world;
        else
            single[i] *= 1.0f / (float)world;
}

/* The rows that the nodes' ranks have for this one. */
static void take_parts(const struct across *a, const struct collective *c, int rank)
{
    const struct ranks ranks = across_ranks(a);
    const size_t part = bytes_of(c) / (size_t)ranks.world;
    const size_t second = bytes_of(c) * (size_t)ranks.count;
    for (int node = 0; node < a->nodes; node++)
        for (int i = a->firsts[node]; i < a->firsts[node + 1]; i++) {
            const size_t row = (size_t)(i - a->firsts[node]) * (size_t)ranks.count + (size_t)rank;
            const char *from = a->data + block_at(a, node, part) + row * part;
            copy((char *)c->out + (size_t)i * part, node == a->node ? from : from + second, part);
        }
}

void across_take(struct across *a, const struct collective *const *all, int rank)
{
    const struct collective *c = all[rank];
    const struct ranks ranks = across_ranks(a);
    const size_t part = c->count / (size_t)ranks.world;
    if (c->mesh != NULL) {
        regroup_take(a, c, ranks.first + rank);
        return;
    }
    switch (c->kind) {
    case COLLECTIVE_ALL_REDUCE:
        take_sum(a, c, 0, c->count);
        break;
    case COLLECTIVE_REDUCE_SCATTER:
        take_sum(a, c, (size_t)(ranks.first + rank) * part, part);
        break;
    case COLLECTIVE_ALL_GATHER:
        copy(c->out, a->data, bytes_of(c) * (size_t)ranks.world);
        break;
    case COLLECTIVE_BROADCAST:
        copy(c->out, a->data, bytes_of(c));
        break;
    case COLLECTIVE_ALL_TO_ALL:
        take_parts(a, c, rank);
        break;
    case COLLECTIVE_PASS:
    case COLLECTIVE_BARRIER:
        break;
    }
}
