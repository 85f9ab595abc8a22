/* SPDX-License-Identifier: Apache-2.0 */
/* Teams under stress, without a test framework, so that sanitizers of threads and leaks see all of
 * it: random collectives, while a random rank stops, aborts, asks for something else, or the communicator is
 * ended from outside. Each rank writes to its memory as soon as a call returned, and then frees it:
 * whoever still read or wrote there would be seen.
 *
 * Takes the number of rounds, 200 unless told. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "communicator.h"

enum { MOST = 5, CALLS = 12 };

/* What happens in a round. */
enum trouble { NOTHING, STOPS, ABORTS, DISAGREES, BAD_WITNESS, ENDED_OUTSIDE, TROUBLES };

struct round {
    struct communicator *communicator;
    enum trouble trouble;
    int world, culprit, when;
    uint32_t seed;
    atomic_int calls; /* finished, by all ranks */
};

struct rank {
    struct round *round;
    int rank;
    tarn_status last;
    int wrong; /* elements and verdicts */
};

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* The same on all ranks. */
static struct collective random_collective(uint32_t *seed, int world, int call)
{
    static const size_t counts[] = { 0, 1, 5, 37, 1000, 20000 };
    struct collective c = { .label = "random", .step = (uint64_t)call / 3 };
    c.kind = (enum collective_kind)(next(seed) % 6);
    c.dtype = next(seed) % 2 ? TARN_I32 : TARN_F32;
    c.reduction = next(seed) % 2 ? TARN_MAX : TARN_SUM;
    c.count = counts[next(seed) % 6] * (size_t)world;
    c.root = (int)(next(seed) % (unsigned)world);
    c.checksum = c.kind == COLLECTIVE_ALL_REDUCE ? next(seed) % 3 : 0;
    return c;
}

/* Small integers, which both types add exactly. */
static int value(int rank, size_t i)
{
    return (int)(i % 1000) + 7 * rank;
}

static void put(const struct collective *c, void *memory, size_t i, int v)
{
    if (c->dtype == TARN_F32)
        ((float *)memory)[i] = (float)v;
    else
        ((int32_t *)memory)[i] = v;
}

static int get(const struct collective *c, const void *memory, size_t i)
{
    return c->dtype == TARN_F32 ? (int)((const float *)memory)[i] : ((const int32_t *)memory)[i];
}

static int reduced(const struct collective *c, int world, size_t i)
{
    const int most = value(world - 1, i);
    return c->reduction == TARN_MAX ? most : (value(0, i) + most) * world / 2;
}

static int expected(const struct collective *c, int world, int rank, size_t i)
{
    const size_t part = c->count / (size_t)world, here = (size_t)rank * part;
    switch (c->kind) {
    case COLLECTIVE_ALL_REDUCE:
        return reduced(c, world, i);
    case COLLECTIVE_REDUCE_SCATTER:
        return reduced(c, world, i + here);
    case COLLECTIVE_ALL_GATHER:
        return value((int)(i / c->count), i % c->count);
    case COLLECTIVE_BROADCAST:
        return value(c->root, i);
    default:
        return value((int)(i / part), i % part + here);
    }
}

static int count_wrong(const struct collective *c, int world, int rank)
{
    const size_t n = c->kind == COLLECTIVE_ALL_GATHER       ? c->count * (size_t)world
                     : c->kind == COLLECTIVE_REDUCE_SCATTER ? c->count / (size_t)world
                     : c->kind == COLLECTIVE_BARRIER        ? 0
                                                            : c->count;
    int wrong = 0;
    for (size_t i = 0; i < n; i++)
        wrong += get(c, c->out, i) != expected(c, world, rank, i);
    return wrong;
}

/* One collective in memory of its own. */
static tarn_status call(struct rank *me, struct collective c, bool in_place, bool lie)
{
    const struct round *r = me->round;
    const size_t in_bytes = 4 * (c.count + c.checksum), out_bytes = 4 * c.count * (size_t)r->world;
    void *in = malloc(in_bytes + 4), *out = malloc(out_bytes + 4);
    for (size_t i = 0; i < c.count; i++)
        put(&c, in, i, value(me->rank, i));
    for (size_t i = c.count; i < c.count + c.checksum; i++)
        put(&c, in, i, lie ? 2 : 1);
    in_place = in_place && (c.kind == COLLECTIVE_ALL_REDUCE || c.kind == COLLECTIVE_BROADCAST ||
                            c.kind == COLLECTIVE_ALL_TO_ALL);
    c.in = in;
    c.out = in_place ? in : out;
    const tarn_status status = communicator_collect(r->communicator, me->rank, &c);
    if (status == TARN_OK)
        me->wrong += count_wrong(&c, r->world, me->rank);
    memset(in, 1, in_bytes);
    memset(out, 2, out_bytes);
    free(in);
    free(out);
    return status;
}

static void *run_rank(void *argument)
{
    struct rank *me = argument;
    struct round *r = me->round;
    uint32_t seed = r->seed;
    for (int i = 0; i < CALLS && (me->last == TARN_OK || me->last == TARN_ERR_DISAGREE ||
                                  me->last == TARN_ERR_WEIGHTS);
         i++) {
        const bool now = me->rank == r->culprit && i == r->when;
        struct collective c = random_collective(&seed, r->world, i);
        const bool in_place = next(&seed) % 2;
        if (r->trouble == BAD_WITNESS && i == r->when) {
            c.kind = COLLECTIVE_ALL_REDUCE;
            c.checksum = 3;
        }
        if (now && r->trouble == DISAGREES)
            c.step += 100;
        if (now && r->trouble == ABORTS)
            communicator_abort(r->communicator, me->rank, TARN_ERR_DEVICE, "no more");
        if (now && r->trouble == STOPS)
            return NULL;
        me->last = call(me, c, in_place, now && r->trouble == BAD_WITNESS);
        const tarn_status due = i != r->when || r->world == 1 ? TARN_OK
                                : r->trouble == DISAGREES     ? TARN_ERR_DISAGREE
                                : r->trouble == BAD_WITNESS   ? TARN_ERR_WEIGHTS
                                                              : TARN_OK;
        if (r->trouble == NOTHING || r->trouble == DISAGREES || r->trouble == BAD_WITNESS)
            me->wrong += me->last != due;
        atomic_fetch_add(&r->calls, 1);
    }
    return NULL;
}

static void *end_from_outside(void *argument)
{
    struct round *r = argument;
    const struct timespec nap = { 0, (long)(r->seed % 50000) };
    while (r->trouble == ENDED_OUTSIDE && atomic_load(&r->calls) < r->when * r->world)
        nanosleep(&nap, NULL);
    if (r->trouble == ENDED_OUTSIDE)
        communicator_abort(r->communicator, -1, TARN_ERR_DEVICE, "ended");
    return NULL;
}

static void count_line(void *user, const char *text)
{
    *(int *)user += text[0] == '{';
}

/* What a rank may end with. */
static bool fits(const struct round *r, const struct rank *rank)
{
    const tarn_status s = rank->last;
    const bool culprit = rank->rank == r->culprit;
    if (rank->wrong)
        return false;
    if (r->trouble == STOPS)
        return s == (culprit ? TARN_OK : TARN_ERR_STALLED) || s == TARN_ERR_STALLED;
    if (r->trouble == ABORTS)
        return s == (culprit ? TARN_ERR_DEVICE : TARN_ERR_REPLICA);
    if (r->trouble == ENDED_OUTSIDE)
        return s == TARN_OK || s == TARN_ERR_REPLICA;
    return s == TARN_OK || (r->when == CALLS - 1 && r->trouble != NOTHING && r->world > 1);
}

static int run_round(int number, uint32_t *seed)
{
    struct round r = { .trouble = (enum trouble)(number % TROUBLES),
                       .world = 1 + (int)(next(seed) % MOST) };
    r.culprit = (int)(next(seed) % (unsigned)r.world);
    r.when = (int)(next(seed) % CALLS);
    r.seed = next(seed);
    if (communicator_new(r.world, r.trouble == STOPS ? 0.05 : 60, 300, &r.communicator) != TARN_OK)
        return 1;
    struct rank ranks[MOST] = { 0 };
    pthread_t threads[MOST + 1];
    pthread_create(&threads[MOST], NULL, end_from_outside, &r);
    for (int i = 0; i < r.world; i++) {
        ranks[i] = (struct rank){ .round = &r, .rank = i };
        pthread_create(&threads[i], NULL, run_rank, &ranks[i]);
    }
    int lines = 0, bad = 0;
    communicator_record(r.communicator, 5, count_line, &lines);
    for (int i = 0; i < r.world; i++)
        pthread_join(threads[i], NULL);
    pthread_join(threads[MOST], NULL);
    for (int i = 0; i < r.world; i++) {
        if (fits(&r, &ranks[i]))
            continue;
        bad++;
        printf("round %d, trouble %d by rank %d of %d at %d: rank %d ended with %s, %d wrong\n",
               number, (int)r.trouble, r.culprit, r.world, r.when, i, status_name(ranks[i].last),
               ranks[i].wrong);
    }
    communicator_free(r.communicator);
    return bad;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 200;
    uint32_t seed = 1;
    int bad = 0;
    for (int i = 0; i < rounds; i++)
        bad += run_round(i, &seed);
    printf("%d rounds, %d ranks ended wrongly\n", rounds, bad);
    return bad != 0;
}
