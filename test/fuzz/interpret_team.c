/* SPDX-License-Identifier: Apache-2.0 */
/* What goes between replicas: collectives, the gradients of an update, running statistics. */
#include <stdlib.h>
#include <string.h>

#include "interpret.h"
#include "tarn_dist.h"

/* ---- collectives ---------------------------------------------------------------------------- */

/* All replicas' x one after the other: exact, as x + 0 is x. */
static int joined(const struct interpreter *team, int line, int n)
{
    struct tape *t = team->tape;
    const int world = team->p->world;
    int *index = malloc((size_t)(world * n) * sizeof *index + 1), y = -1;
    if (index == NULL)
        abort();
    for (int k = 0; k < world; k++) {
        for (int i = 0; i < world * n; i++)
            index[i] = i / n == k ? i % n : -1;
        const int one = tape_gather(t, interpret_node(&team[k], line), world * n, index, 0);
        y = y < 0 ? one : tape_map2(t, T_ADD, y, one);
    }
    free(index);
    return y;
}

static int reduced(struct tape *t, int all, int world, tarn_reduction reduction)
{
    const int n = t->node[all].count / world;
    int *index = malloc((size_t)(world * n) * sizeof *index + 1);
    if (index == NULL)
        abort();
    for (int i = 0; i < world * n; i++)
        index[i] = i % n;
    const int y = reduction == TARN_MAX || reduction == TARN_MIN
                      ? extreme(t, all, n, index, reduction == TARN_MAX ? 1 : -1, false)
                      : tape_scatter(t, all, n, index);
    free(index);
    return reduction == TARN_MEAN ? tape_scale(t, y, 1.0 / world) : y;
}

/* Element of the joined operands, or of their reduction, that is element i of what a rank gets. */
static int source(const struct line *l, int world, int n, int rank, int i)
{
    const int part = n / world;
    switch (l->op) {
    case OP_ID_reduce_scatter:
        return rank * part + i;
    case OP_ID_broadcast:
        return l->arg[0] * n + i;
    case OP_ID_all_to_all:
        return i / part * n + rank * part + i % part;
    default:
        return i;
    }
}

/* One node for all ranks: the gradients that they leave are then summed in one go, in no order. */
static int exchanged(const struct interpreter *team, const struct line *l)
{
    struct tape *t = team->tape;
    const int world = team->p->world, n = (int)tarn_shape_count(team->p->line[l->in[0]].shape);
    const int got = (int)tarn_shape_count(l->shape);
    int all = joined(team, l->in[0], n);
    if (l->op == OP_ID_all_reduce || l->op == OP_ID_reduce_scatter)
        all = reduced(t, all, world, (tarn_reduction)l->arg[0]);
    int *index = malloc((size_t)(world * got) * sizeof *index + 1);
    if (index == NULL)
        abort();
    for (int i = 0; i < world * got; i++)
        index[i] = source(l, world, n, i / got, i % got);
    const int y = tape_gather(t, all, world * got, index, 0);
    free(index);
    return y;
}

int interpret_collective(struct interpreter *m, const struct line *l)
{
    const int n = (int)tarn_shape_count(l->shape);
    m->tape->integer = l->dtype != TARN_F32;
    if (m->rank == 0)
        m->shared = exchanged(m, l);
    int *index = malloc((size_t)n * sizeof *index + 1);
    if (index == NULL)
        abort();
    for (int i = 0; i < n; i++)
        index[i] = m->rank * n + i;
    const int y = tape_gather(m->tape, m->team->shared, n, index, 0);
    free(index);
    return y;
}

int interpret_loss(struct interpreter *m, int i)
{
    bool some = false;
    for (int k = 0; k < i; k++)
        some |= op_table[m->p->line[k].op].result == 'c';
    if (!some)
        return interpret_node(m, i);
    int y = interpret_node(&m->team[0], i);
    for (int k = 1; k < m->p->world; k++)
        y = tape_map2(m->tape, T_ADD, y, interpret_node(&m->team[k], i));
    return y;
}

/* ---- training ------------------------------------------------------------------------------- */

/* The sum of one node of each replica, as a binary tree over the ranks. */
static int tree(struct tape *t, const int node[MAX_WORLD], int count)
{
    int sum[MAX_WORLD];
    memcpy(sum, node, (size_t)count * sizeof *sum);
    for (int step = 1; step < count; step *= 2)
        for (int k = 0; k + step < count; k += 2 * step)
            sum[k] = tape_map2(t, T_ADD, sum[k], sum[k + step]);
    return sum[0];
}

/* The gradient that a slot brings to the exchange; -1: none. */
static int own_gradient(const struct interpreter *m, int s)
{
    const struct slot *o = &m->slot[s];
    if (m->summed || o->accumulated < 0)
        return o->gradient;
    return o->gradient < 0 ? o->accumulated
                           : tape_map2(m->tape, T_ADD, o->accumulated, o->gradient);
}

static void sum_gradients(struct interpreter *team, int s)
{
    int own[MAX_WORLD];
    for (int k = 0; k < team->p->world; k++)
        if ((own[k] = own_gradient(&team[k], s)) < 0)
            return;
    for (int k = 0; k < team->p->world; k++) {
        struct slot *o = &team[k].slot[s];
        o->gradient = tape_detach(team->tape, tree(team->tape, own, team->p->world));
        if (!team->summed)
            o->accumulated = -1;
    }
}

static bool is_statistic(const struct interpreter *m, int s)
{
    const struct slot *o = &m->slot[s];
    return m->p->line[o->line].op == OP_ID_make_batch_norm && (o->part == 2 || o->part == 3);
}

static bool is_changed(const struct interpreter *m, int s)
{
    return m->slot[s].value != m->before[s].value;
}

/* The first exchange begins with rank 0's values of before the step, also if the step then fails. */
static void begin(struct interpreter *m)
{
    for (int k = 1; k < m->p->world; k++)
        for (int s = 0; s < m->before_slots; s++) {
            struct slot *o = &m[k].slot[s];
            const int old = tape_detach(m->tape, m->before[s].value);
            if (!is_statistic(m, s))
                continue;
            o->value = is_changed(&m[k], s)
                           ? tape_map2(m->tape, T_ADD,
                                       tape_scale(m->tape, old, (double)(1.0f - 0.1f)), o->news)
                           : old;
            m[k].before[s].value = old;
        }
    for (int k = 0; k < m->p->world; k++) {
        m[k].begun = true;
        for (int s = 0; s < m->before_slots; s++)
            m[k].slot[s].apart = m[k].before[s].apart = false;
    }
}

/* A float buffer that this step, or one since the last exchange, has changed becomes the mean
 * over the replicas. */
static void average(struct interpreter *team, int s)
{
    const struct line *l = &team->p->line[team->slot[s].line];
    const bool buffer = l->op == OP_ID_buffer && l->dtype == TARN_F32;
    int own[MAX_WORLD];
    if (!(is_statistic(team, s) || buffer) || s >= team->before_slots ||
        !(is_changed(team, s) || team->slot[s].apart))
        return;
    for (int k = 0; k < team->p->world; k++)
        own[k] = tape_scale(team->tape, team[k].slot[s].value, 1.0 / team->p->world);
    for (int k = 0; k < team->p->world; k++) {
        team[k].slot[s].value = tape_detach(team->tape, tree(team->tape, own, team->p->world));
        team[k].slot[s].together = true;
    }
}

/* What was summed already needs no exchange, if nothing came to it. */
static bool needs_exchange(const struct interpreter *m)
{
    bool fresh = !m->summed;
    for (int s = 0; s < m->slots; s++)
        fresh |= m->slot[s].parameter && m->slot[s].gradient >= 0;
    return fresh;
}

void interpret_exchange(struct interpreter *m, const struct line *l)
{
    const bool keeps = l->op == OP_ID_optimizer_accumulate && m->summed;
    const bool sums = l->op == OP_ID_clip_grad_norm || l->op == OP_ID_optimizer_clip_grad_norm ||
                      l->op == OP_ID_optimizer_step || keeps;
    if (!sums || m->optimizer < 0 || m->updates)
        return;
    const bool needed = needs_exchange(m);
    if (needed && !m->begun)
        begin(m);
    for (int s = 0; s < m->slots && needed; s++) {
        if (!m->exchanged)
            average(m, s);
        if (m->slot[s].parameter)
            sum_gradients(m, s);
    }
    for (int k = 0; k < m->p->world; k++) {
        m[k].exchanged |= needed;
        m[k].summed = l->op != OP_ID_optimizer_step;
    }
}
