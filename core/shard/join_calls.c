/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over ranks become buckets. In: the program of a rank. Out: the same with fewer calls: the operands of several lie
 * side by side in one, which is full at a number of bytes, so that it can be under way while the next is computed.
 * Joined are those for which equally many others wait, one after the other: they do not wait for each other. So
 * gradients, for which none waits, fill buckets in the order in which the backward pass makes them, and the statistics
 * that the pass itself waits for never wait for a gradient. All ranks join the same ones. */
#include <stdlib.h>
#include <string.h>

#include "shard/emit.h"

/* A call and how many nodes come one after the other before it: the fewer, the sooner its operand is there. */
struct ordered {
    uint32_t depth, node;
};

struct joining {
    struct emitter *from, *to;
    int64_t full; /* bytes of a bucket that takes no more */
    uint32_t *phase, *next, *first, *last, *renamed, *depth;
    uint32_t *call_of; /* node -> 1 + its number among e->made */
    uint32_t phases;
    struct ordered *calls;          /* of one phase */
    uint32_t member[OPERANDS_MOST]; /* calls that are being joined */
    uint32_t members;
    int64_t bytes;
};

static bool is_call(const struct node *n)
{
    return n->op->kind == OP_HOST;
}

/* ---- phases --------------------------------------------------------------------------------- */

/* How many calls one after the other still come after a node: of a call itself, those after it. Nodes of one phase are
 * listed in their order. */
static void find_phases(struct joining *j)
{
    const struct emitter *e = j->from;
    for (uint32_t i = e->count; i-- > 1;) {
        const struct node *n = &e->nodes[i];
        const uint32_t before = j->phase[i] + is_call(n);
        for (uint32_t k = 0; k < n->in_count; k++) {
            uint32_t *x = &j->phase[e->operands[n->first_in + k]];
            *x = before > *x ? before : *x;
        }
    }
    for (uint32_t i = 1; i < e->count; i++) {
        const struct node *n = &e->nodes[i];
        const uint32_t phase = j->phase[i];
        for (uint32_t k = 0; k < n->in_count; k++) {
            const uint32_t depth = j->depth[e->operands[n->first_in + k]] + 1;
            j->depth[i] = depth > j->depth[i] ? depth : j->depth[i];
        }
        *(j->first[phase] == 0 ? &j->first[phase] : &j->next[j->last[phase]]) = i;
        j->last[phase] = i;
        j->phases = phase >= j->phases ? phase + 1 : j->phases;
    }
}

/* ---- joining -------------------------------------------------------------------------------- */

/* NULL: it is no collective of ours. */
static const struct shard_group *group_of(const struct joining *j, uint32_t node)
{
    return j->call_of[node] == 0 ? NULL : &j->from->made[j->call_of[node] - 1].group;
}

static void copy(struct joining *j, uint32_t node)
{
    const struct node *n = &j->from->nodes[node];
    const struct shard_group *g = group_of(j, node);
    uint32_t in[OPERANDS_MOST];
    for (uint32_t k = 0; k < n->in_count; k++)
        in[k] = j->renamed[j->from->operands[n->first_in + k]];
    j->renamed[node] = g != NULL ? emit_call(j->to, g, in[0]) : emit_raw(j->to, n, in);
}

/* One call for all members, and their parts of its result. */
static void flush(struct joining *j)
{
    uint32_t parts[OPERANDS_MOST];
    int64_t total = 0, start = 0;
    if (j->members == 1)
        copy(j, j->member[0]);
    for (uint32_t k = 0; j->members > 1 && k < j->members; k++) {
        const struct node *n = &j->from->nodes[j->member[k]];
        const uint32_t x = j->renamed[j->from->operands[n->first_in]];
        const int64_t count = tarn_shape_count(n->shape);
        parts[k] = emit_reshape(j->to, x, TARN_SHAPE((int32_t)count));
        total += count;
    }
    if (j->members > 1) {
        const struct shard_group *g = group_of(j, j->member[0]);
        const uint32_t sum =
            emit_call(j->to, g, emit_concat(j->to, parts, j->members, (int32_t)total));
        for (uint32_t k = 0; k < j->members; k++) {
            const struct node *n = &j->from->nodes[j->member[k]];
            const int64_t count = tarn_shape_count(n->shape);
            const uint32_t own = emit_range(j->to, sum, (int32_t)start, (int32_t)count);
            j->renamed[j->member[k]] = emit_reshape(j->to, own, n->shape);
            start += count;
        }
    }
    j->members = 0;
    j->bytes = 0;
}

static bool joins(const struct joining *j, uint32_t node)
{
    const struct shard_group *x = group_of(j, j->member[0]), *y = group_of(j, node);
    const struct node *n = &j->from->nodes[node];
    return n->dtype == j->from->nodes[j->member[0]].dtype && x->axes == y->axes &&
           x->reduction == y->reduction && (int64_t)node_bytes(n) < j->full &&
           (int64_t)node_bytes(&j->from->nodes[j->member[0]]) < j->full;
}

static int by_depth(const void *a, const void *b)
{
    const struct ordered *x = a, *y = b;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* A bucket that begins with call number `at` of a phase. */
static void fill_bucket(struct joining *j, uint32_t at, uint32_t count)
{
    for (uint32_t k = at; k < count && j->members < OPERANDS_MOST && j->bytes < j->full; k++) {
        const uint32_t node = j->calls[k].node;
        const struct shard_group *g = group_of(j, node);
        if (g == NULL || g->kind != SHARD_ALL_REDUCE || j->renamed[node] != 0 ||
            (j->members > 0 && !joins(j, node)))
            continue;
        j->member[j->members++] = node;
        j->bytes += (int64_t)node_bytes(&j->from->nodes[node]);
    }
    flush(j);
}

/* All calls of a phase, as their operands come; the first that is left decides which kind is next. */
static void join_phase(struct joining *j, uint32_t phase)
{
    uint32_t count = 0;
    for (uint32_t i = j->first[phase]; i != 0; i = j->next[i])
        if (is_call(&j->from->nodes[i]))
            j->calls[count++] = (struct ordered){ j->depth[i], i };
    qsort(j->calls, count, sizeof *j->calls, by_depth);
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t node = j->calls[k].node;
        const struct shard_group *g = group_of(j, node);
        if (j->renamed[node] == 0 && g != NULL && g->kind == SHARD_ALL_REDUCE)
            fill_bucket(j, k, count);
        else if (j->renamed[node] == 0)
            copy(j, node);
    }
}

static void join_all(struct joining *j, uint32_t *outputs, int output_count)
{
    for (uint32_t k = 0; k < j->from->made_count; k++)
        j->call_of[j->from->made[k].node] = k + 1;
    find_phases(j);
    for (uint32_t phase = j->phases; phase-- > 0;) {
        join_phase(j, phase);
        for (uint32_t i = j->first[phase]; i != 0; i = j->next[i])
            if (!is_call(&j->from->nodes[i]))
                copy(j, i);
    }
    for (int i = 0; i < output_count; i++)
        outputs[i] = j->renamed[outputs[i]];
}

void join_calls(struct emitter *e, int64_t full, uint32_t *outputs, int output_count)
{
    struct emitter to = { .mesh = e->mesh, .calls = e->calls };
    struct joining j = { .from = e, .to = &to, .full = full };
    const size_t count = (size_t)e->count + 2;
    uint32_t *room = calloc(7 * count, sizeof *room);
    j.calls = calloc(count, sizeof *j.calls);
    if (room == NULL || j.calls == NULL) {
        free(room);
        free(j.calls);
        e->failed = true;
        return;
    }
    j.phase = room;
    j.next = room + count;
    j.first = room + 2 * count;
    j.last = room + 3 * count;
    j.renamed = room + 4 * count;
    j.call_of = room + 5 * count;
    j.depth = room + 6 * count;
    join_all(&j, outputs, output_count);
    free(room);
    free(j.calls);
    emit_free(e);
    *e = to;
}
