/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds: each begins its parcels at once, receives before sends, and ends when all of them did. Notices
 * travel in front of the data in the first rounds, as many as it takes for every node to hear of all. */
#include <stdlib.h>
#include <string.h>

#include "pattern.h"
#include "rounds.h"

enum {
    FEW_NODES = 8,          /* up to here direct has fewer messages one after the other */
    SMALL_BYTES = 16 << 10, /* below, the number of messages costs more than their length */
};

struct rounds {
    struct link *link;
    struct task task;
    enum rounds_kind compare; /* how notices travel */
    int round, rounds, notice_rounds;
    bool begun;           /* the round's parcels are */
    struct notice mine;   /* joined with what was heard */
    struct notice sent;   /* as it was when the round began */
    struct notice *heard; /* one for each node */
    struct parcel *parcels;
    int count, done;
    struct chunk part[32]; /* HALVING: what this node holds after so many rounds */
    unsigned long moved;
};

static int log_of(int nodes)
{
    int log = 0;
    while (1 << log < nodes)
        log++;
    return log;
}

bool rounds_fits(enum rounds_kind kind, int nodes)
{
    return kind == ROUNDS_DIRECT || is_power_of_two(nodes);
}

enum rounds_kind rounds_choose(int nodes, size_t bytes)
{
    if (nodes == 2) /* as many bytes as direct, at once */
        return ROUNDS_DOUBLING;
    if (!is_power_of_two(nodes) || (nodes <= FEW_NODES && bytes >= SMALL_BYTES))
        return ROUNDS_DIRECT;
    return bytes < SMALL_BYTES ? ROUNDS_DOUBLING : ROUNDS_HALVING;
}

size_t rounds_scratch(int nodes, size_t count, tarn_dtype dtype)
{
    /* DIRECT: the node's chunk of each node; others: what one partner sends. */
    const size_t chunk = pattern_chunk(count, nodes, 0).count;
    const size_t direct = chunk * (size_t)nodes;
    return tarn_dtype_bytes(dtype) * (direct > count ? direct : count);
}

tarn_status rounds_new(struct link *link, struct rounds **out)
{
    struct rounds *s = calloc(1, sizeof *s);
    struct notice *heard = calloc((size_t)link->nodes, sizeof *heard);
    /* Of each node a notice and a block, in both directions. */
    struct parcel *parcels = calloc(4 * (size_t)link->nodes, sizeof *parcels);
    if (s == NULL || heard == NULL || parcels == NULL) {
        free(s);
        free(heard);
        free(parcels);
        return error_set(TARN_ERR_MEMORY, "no memory for a schedule of %d nodes", link->nodes);
    }
    s->link = link;
    s->heard = heard;
    s->parcels = parcels;
    *out = s;
    return TARN_OK;
}

void rounds_free(struct rounds *s)
{
    if (s == NULL)
        return;
    free(s->heard);
    free(s->parcels);
    free(s);
}

const struct notice *rounds_notice(const struct rounds *s)
{
    return &s->mine;
}

unsigned long rounds_moved(const struct rounds *s)
{
    return s->moved;
}

/* ---- rounds of notices ---------------------------------------------------------------------- */

static void add(struct rounds *s, int node, bool receives, void *at, size_t bytes)
{
    s->parcels[s->count++] =
        (struct parcel){ .node = node, .receives = receives, .at = at, .bytes = bytes };
}

/* The nodes that one hears in a round of the schedule: one, or all. */
static int partner(const struct rounds *s, int round)
{
    return s->link->node ^ 1 << round;
}

static void add_notices(struct rounds *s)
{
    const int node = s->link->node, nodes = s->link->nodes;
    s->sent = s->mine;
    const bool all = s->compare == ROUNDS_DIRECT;
    for (int sends = 0; sends < 2; sends++) {
        for (int i = 1; all && i < nodes; i++)
            add(s, (node + i) % nodes, !sends, sends ? &s->sent : &s->heard[(node + i) % nodes],
                sizeof s->sent);
        const int other = partner(s, s->round);
        if (!all)
            add(s, other, !sends, sends ? &s->sent : &s->heard[other], sizeof s->sent);
    }
}

/* In the order of the nodes, so that all who hear the same say the same. */
static tarn_status join_notices(struct rounds *s)
{
    if (s->compare != ROUNDS_DIRECT)
        return notice_join(&s->mine, &s->heard[partner(s, s->round)]);
    s->heard[s->link->node] = s->sent;
    s->mine = s->heard[0];
    for (int i = 1; i < s->link->nodes; i++)
        TRY(notice_join(&s->mine, &s->heard[i]));
    return TARN_OK;
}

/* ---- reductions ----------------------------------------------------------------------------- */

/* Of so many elements. */
static size_t bytes_of(const struct rounds *s, size_t elements)
{
    return tarn_dtype_bytes(s->task.dtype) * elements;
}

static char *at(const struct rounds *s, size_t element)
{
    return (char *)s->task.data + bytes_of(s, element);
}

/* data[first ..] of two nodes, the other one's in scratch, becomes their sum: the lower one is on the left. */
static void add_two(const struct rounds *s, int other, struct chunk part)
{
    const void *const mine = at(s, part.first), *const theirs = s->task.scratch;
    const void *in[2] = { other < s->link->node ? theirs : mine,
                          other < s->link->node ? mine : theirs };
    pattern_reduce_to(s->task.dtype, s->task.reduction, in, 2, 0, part.count, at(s, part.first));
}

static struct chunk half(struct chunk whole, int which)
{
    const struct chunk part = pattern_chunk(whole.count, 2, which);
    return (struct chunk){ whole.first + part.first, part.count };
}

static void direct_begin(struct rounds *s)
{
    const int node = s->link->node, nodes = s->link->nodes;
    const struct chunk own = pattern_chunk(s->task.count, nodes, node);
    for (int sends = 0; sends < 2; sends++)
        for (int i = 1; i < nodes; i++) {
            const int other = (node + i) % nodes;
            const struct chunk theirs = pattern_chunk(s->task.count, nodes, other);
            const bool last = s->round == 1;
            if (sends)
                add(s, other, false, at(s, last ? own.first : theirs.first),
                    bytes_of(s, last ? own.count : theirs.count));
            else if (last)
                add(s, other, true, at(s, theirs.first), bytes_of(s, theirs.count));
            else
                add(s, other, true,
                    (char *)s->task.scratch + bytes_of(s, own.count) * (size_t)other,
                    bytes_of(s, own.count));
        }
}

static tarn_status direct_end(const struct rounds *s)
{
    const int node = s->link->node, nodes = s->link->nodes;
    const struct chunk own = pattern_chunk(s->task.count, nodes, node);
    const void **in = calloc((size_t)nodes, sizeof *in);
    if (in == NULL)
        return error_set(TARN_ERR_MEMORY, "no memory for a sum over %d nodes", nodes);
    for (int i = 0; i < nodes; i++)
        in[i] = i == node ? at(s, own.first)
                          : (char *)s->task.scratch + bytes_of(s, own.count) * (size_t)i;
    pattern_reduce_to(s->task.dtype, s->task.reduction, in, nodes, 0, own.count, at(s, own.first));
    free(in);
    return TARN_OK;
}

/* The rounds go out to distance nodes / 2 and come back. */
static void halving_begin(struct rounds *s)
{
    const int log = log_of(s->link->nodes);
    const bool back = s->round >= log;
    const int level = back ? 2 * log - 1 - s->round : s->round;
    const int other = partner(s, level), upper = s->link->node >> level & 1;
    const struct chunk keep = half(s->part[level], upper), give = half(s->part[level], !upper);
    s->part[level + 1] = keep;
    add(s, other, true, back ? at(s, give.first) : s->task.scratch,
        bytes_of(s, back ? give.count : keep.count));
    add(s, other, false, at(s, back ? keep.first : give.first),
        bytes_of(s, back ? keep.count : give.count));
}

static void reduce_begin(struct rounds *s)
{
    if (s->task.schedule == ROUNDS_DIRECT) {
        direct_begin(s);
    } else if (s->task.schedule == ROUNDS_HALVING) {
        halving_begin(s);
    } else {
        add(s, partner(s, s->round), true, s->task.scratch, bytes_of(s, s->task.count));
        add(s, partner(s, s->round), false, s->task.data, bytes_of(s, s->task.count));
    }
}

static tarn_status reduce_end(struct rounds *s)
{
    if (s->round >= s->notice_rounds)
        return TARN_OK;
    if (s->task.schedule == ROUNDS_DIRECT)
        return direct_end(s);
    add_two(s, partner(s, s->round),
            s->task.schedule == ROUNDS_HALVING ? s->part[s->round + 1]
                                               : (struct chunk){ 0, s->task.count });
    return TARN_OK;
}

/* ---- movements ------------------------------------------------------------------------------ */

/* From the root on, those who have it pass it on: 1, 2, 4 ... nodes do. */
static void broadcast_begin(struct rounds *s)
{
    const int nodes = s->link->nodes, near = 1 << (s->round - s->notice_rounds);
    const int place = (s->link->node - s->task.root + nodes) % nodes;
    if (place >= near && place < 2 * near)
        add(s, (s->link->node - near + nodes) % nodes, true, s->task.data, s->task.count);
    if (place < near && place + near < nodes)
        add(s, (s->link->node + near) % nodes, false, s->task.data, s->task.count);
}

static void exchange_begin(struct rounds *s)
{
    const int node = s->link->node, nodes = s->link->nodes;
    for (int i = 1; i < nodes; i++) {
        const int other = (node - i + nodes) % nodes;
        add(s, other, true, s->task.from[other].at, s->task.from[other].bytes);
    }
    for (int i = 1; i < nodes; i++) {
        const int other = (node + i) % nodes;
        add(s, other, false, s->task.to[other].at, s->task.to[other].bytes);
    }
}

/* ---- all of them ---------------------------------------------------------------------------- */

tarn_status rounds_begin(struct rounds *s, const struct task *task)
{
    const int nodes = s->link->nodes, log = log_of(nodes);
    if (!rounds_fits(task->schedule, nodes))
        return error_set(TARN_ERR_ARGUMENT, "a schedule for powers of two of %d nodes", nodes);
    s->task = *task;
    s->mine = task->notice;
    const bool reduces = task->kind == TASK_REDUCE;
    s->compare = reduces                  ? task->schedule
                 : is_power_of_two(nodes) ? ROUNDS_DOUBLING
                                          : ROUNDS_DIRECT;
    s->notice_rounds = nodes == 1 ? 0 : s->compare == ROUNDS_DIRECT ? 1 : log;
    s->rounds = s->notice_rounds;
    if (reduces && task->schedule != ROUNDS_DOUBLING)
        s->rounds *= 2;
    else if (task->kind == TASK_BROADCAST)
        s->rounds += log;
    else if (task->kind == TASK_EXCHANGE)
        s->rounds++;
    s->round = 0;
    s->begun = false;
    s->part[0] = (struct chunk){ 0, task->count };
    return TARN_OK;
}

static void round_begin(struct rounds *s)
{
    s->count = s->done = 0;
    s->begun = true;
    if (s->round < s->notice_rounds)
        add_notices(s);
    if (s->task.kind == TASK_REDUCE)
        reduce_begin(s);
    else if (s->round >= s->notice_rounds && s->task.kind == TASK_BROADCAST)
        broadcast_begin(s);
    else if (s->round >= s->notice_rounds && s->task.kind == TASK_EXCHANGE)
        exchange_begin(s);
}

static bool is_heard(const struct rounds *s, const struct parcel *t)
{
    return t->receives && t->at >= (char *)s->heard && t->at < (char *)(s->heard + s->link->nodes);
}

/* Notices come before the data that they are about: sizes that differ are found there. */
static tarn_status hear(struct rounds *s, const struct parcel *t)
{
    if (!is_heard(s, t))
        return TARN_OK;
    struct notice both = s->sent;
    return notice_join(&both, (const struct notice *)(const void *)t->at);
}

/* Data of another size may have come between two looks, behind a notice that says why. */
static tarn_status link_failed(struct rounds *s)
{
    char problem[sizeof s->link->problem];
    memcpy(problem, s->link->problem, sizeof problem);
    for (int i = 0; i < s->count; i++) {
        struct parcel *t = &s->parcels[i];
        if (t->node >= 0 && is_heard(s, t) && parcel_poll(t, s->link, &s->moved) == 1)
            TRY(hear(s, t));
    }
    return error_set(TARN_ERR_STALLED, "the link to other nodes failed: %s", problem);
}

static tarn_status round_poll(struct rounds *s)
{
    for (int i = 0; i < s->count; i++) {
        struct parcel *t = &s->parcels[i];
        if (t->node < 0)
            continue;
        const int code = parcel_poll(t, s->link, &s->moved);
        if (code < 0)
            return link_failed(s);
        if (code == 0)
            continue;
        TRY(hear(s, t));
        t->node = -1;
        s->done++;
    }
    return TARN_OK;
}

tarn_status rounds_poll(struct rounds *s, bool *over)
{
    for (; s->round < s->rounds; s->round++) {
        if (!s->begun)
            round_begin(s);
        TRY(round_poll(s));
        if (s->done < s->count)
            return TARN_OK;
        if (s->round < s->notice_rounds)
            TRY(join_notices(s));
        if (s->task.kind == TASK_REDUCE)
            TRY(reduce_end(s));
        s->begun = false;
    }
    *over = true;
    return TARN_OK;
}
