/* SPDX-License-Identifier: Apache-2.0 */
/* Small sums over ranks that do not wait for each other become one. In: the program of a rank. Out: the same with fewer
 * calls: their operands lie side by side in one, up to a number of bytes. Larger ones stay alone, so that one can be
 * under way while the next is computed. All ranks join the same ones. */
#include <stdlib.h>
#include <string.h>

#include "shard/emit.h"

struct joining {
    struct emitter *from, *to;
    int64_t most; /* bytes of one call */
    uint32_t *phase, *next, *first, *last, *renamed;
    uint32_t *call_of; /* node -> 1 + its number among e->made */
    uint32_t phases;
    uint32_t member[OPERANDS_MOST]; /* calls that are being joined */
    uint32_t members;
    int64_t bytes;
};

static bool is_call(const struct node *n)
{
    return n->op->kind == OP_HOST;
}

static int64_t bytes_of(const struct node *n)
{
    return tarn_shape_count(n->shape) * (int64_t)tarn_dtype_bytes(n->dtype);
}

/* ---- phases --------------------------------------------------------------------------------- */

/* How many calls must be over before a node can be computed, and, of a call, it too. Nodes of one phase are listed
 * in their order. */
static void find_phases(struct joining *j)
{
    const struct emitter *e = j->from;
    for (uint32_t i = 1; i < e->count; i++) {
        const struct node *n = &e->nodes[i];
        uint32_t phase = 0;
        for (uint32_t k = 0; k < n->in_count; k++) {
            const uint32_t x = e->operands[n->first_in + k];
            phase = j->phase[x] > phase ? j->phase[x] : phase;
        }
        phase += is_call(n);
        j->phase[i] = phase;
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
    return j->members < OPERANDS_MOST && n->dtype == j->from->nodes[j->member[0]].dtype &&
           x->axes == y->axes && x->reduction == y->reduction && j->bytes + bytes_of(n) <= j->most;
}

/* All calls of a phase, those that can be joined by kind; the first that is left decides which kind is next. */
static void join_phase(struct joining *j, uint32_t phase)
{
    for (uint32_t i = j->first[phase]; i != 0; i = j->next[i]) {
        const struct shard_group *g = group_of(j, i);
        if (!is_call(&j->from->nodes[i]) || j->renamed[i] != 0)
            continue;
        if (g == NULL || g->kind != SHARD_ALL_REDUCE) {
            copy(j, i);
            continue;
        }
        for (uint32_t k = i; k != 0; k = j->next[k]) {
            const struct shard_group *other = group_of(j, k);
            if (other == NULL || other->kind != SHARD_ALL_REDUCE || j->renamed[k] != 0 ||
                (j->members > 0 && !joins(j, k)))
                continue;
            j->member[j->members++] = k;
            j->bytes += bytes_of(&j->from->nodes[k]);
        }
        flush(j);
    }
}

static void join_all(struct joining *j, uint32_t *outputs, int output_count)
{
    for (uint32_t k = 0; k < j->from->made_count; k++)
        j->call_of[j->from->made[k].node] = k + 1;
    find_phases(j);
    for (uint32_t phase = 0; phase < j->phases; phase++) {
        if (phase > 0)
            join_phase(j, phase);
        for (uint32_t i = j->first[phase]; i != 0; i = j->next[i])
            if (!is_call(&j->from->nodes[i]))
                copy(j, i);
    }
    for (int i = 0; i < output_count; i++)
        outputs[i] = j->renamed[outputs[i]];
}

void join_calls(struct emitter *e, int64_t most, uint32_t *outputs, int output_count)
{
    struct emitter to = { .mesh = e->mesh, .calls = e->calls };
    struct joining j = { .from = e, .to = &to, .most = most };
    const size_t count = (size_t)e->count + 2;
    uint32_t *room = calloc(6 * count, sizeof *room);
    if (room == NULL) {
        e->failed = true;
        return;
    }
    j.phase = room;
    j.next = room + count;
    j.first = room + 2 * count;
    j.last = room + 3 * count;
    j.renamed = room + 4 * count;
    j.call_of = room + 5 * count;
    join_all(&j, outputs, output_count);
    free(room);
    emit_free(e);
    *e = to;
}
