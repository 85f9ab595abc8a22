/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that meet twice for each collective, on one word of memory.
 *
 * A communicator goes through phases. An even phase is open: ranks arrive with what they ask for, and the
 * last to arrive ends it. The odd phase after it is for copying: each rank reads what the others ask
 * for, does its share, and arrives again; the last to arrive ends that, and the next phase is open.
 *
 * Only an open phase can be aborted, and whether it was, or was complete before, is decided by one
 * change of the word: so either all ranks copy or none, and all who copy wait for one another, abort
 * or not. That wait ends, as no rank that copies waits for anything. Hence after communicator_collect()
 * returned, for whatever reason, nobody touches the memory of its caller; and a slot, which is
 * written in open phases and read in odd ones, needs no second copy. */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agree.h"
#include "env.h"
#include "lock.h"
#include "move.h"
#include "recorder.h"
#include "communicator.h"

enum {
    CACHE_LINE = 64,
    SPIN_NANOSECONDS = 50000, /* about what it costs to sleep and be woken */
};

/* The word: ranks that arrived in this phase, the phase, and whether the communicator was
 * aborted. */
#define ARRIVED UINT64_C(0xff)
#define NEXT_PHASE UINT64_C(0x100)
#define ABORTED (UINT64_C(1) << 63)
#define PHASE(word) (((word) & ~ABORTED) / NEXT_PHASE)

/* What a rank shows to the others. */
struct slot {
    _Alignas(CACHE_LINE) struct collective asked;
    _Atomic uint64_t number; /* of its newest collective, from 1 */
    _Atomic uint64_t step;   /* of it */
};

struct communicator {
    int world;
    double timeout, build_timeout;
    bool spins;
    struct recorder *recorder;
    pthread_mutex_t lock;
    pthread_cond_t moved;
    /* Written once, under the lock, before ABORTED is set; read after that was seen. */
    tarn_status cause;
    bool stalled;
    int cause_rank;
    uint64_t cause_step;
    char cause_line[1001];
    _Alignas(CACHE_LINE) _Atomic uint64_t word;
    _Atomic int sleepers;
    _Atomic uint64_t left;   /* bit i: rank i comes to no further collective */
    _Atomic uint64_t builds; /* bit i: rank i compiles */
    struct slot slots[COMMUNICATOR_MOST];
};

tarn_status communicator_new(int world, double timeout, struct communicator **out)
{
    if (world < 1 || world > COMMUNICATOR_MOST || !(timeout > 0))
        return error_set(
            TARN_ERR_ARGUMENT,
            "a communicator of %d ranks with a timeout of %g s: it takes 1 to %d ranks and a "
            "timeout above 0",
            world, timeout, COMMUNICATOR_MOST);
    double build_timeout;
    TRY(env_seconds(ENV_BUILD_TIMEOUT, &build_timeout));
    struct communicator *t = aligned_alloc(CACHE_LINE, sizeof *t);
    if (t == NULL)
        return error_set(TARN_ERR_MEMORY, "no memory for a communicator of %d ranks", world);
    memset(t, 0, sizeof *t);
    tarn_status status = recorder_new(world, &t->recorder);
    if (status == TARN_OK)
        status = lock_make_waited(&t->lock, &t->moved, "launch");
    if (status != TARN_OK) {
        recorder_free(t->recorder);
        free(t);
        return status;
    }
    t->world = world;
    t->timeout = fmin(timeout, 1e9);
    t->build_timeout = build_timeout;
    t->spins = world <= sysconf(_SC_NPROCESSORS_ONLN);
    *out = t;
    return TARN_OK;
}

void communicator_free(struct communicator *t)
{
    if (t == NULL)
        return;
    recorder_free(t->recorder);
    lock_free_waited(&t->lock, &t->moved);
    free(t);
}

int communicator_world(const struct communicator *t)
{
    return t->world;
}

void communicator_record(struct communicator *t, int most,
                         void (*line)(void *user, const char *text), void *user)
{
    recorder_write(t->recorder, most, line, user);
}

/* ---- ending --------------------------------------------------------------------------------- */

/* The caller holds the lock. */
static void set_cause(struct communicator *t, int rank, tarn_status status, const char *line)
{
    t->cause = status;
    t->cause_rank = rank;
    t->cause_step = rank >= 0 ? atomic_load(&t->slots[rank].step) : 0;
    snprintf(t->cause_line, sizeof t->cause_line, "%s", line);
}

void communicator_abort(struct communicator *t, int rank, tarn_status status, const char *line)
{
    pthread_mutex_lock(&t->lock);
    if (!(atomic_load(&t->word) & ABORTED)) {
        set_cause(t, rank >= 0 && rank < t->world ? rank : -1,
                  status == TARN_OK ? TARN_ERR_REPLICA : status, line != NULL ? line : "");
        atomic_fetch_or(&t->word, ABORTED);
        pthread_cond_broadcast(&t->moved);
    }
    pthread_mutex_unlock(&t->lock);
}

tarn_status communicator_cause(struct communicator *t, char *line, size_t capacity, int *rank)
{
    const bool over = atomic_load(&t->word) & ABORTED;
    if (line != NULL && capacity)
        *line = '\0';
    if (!over)
        return TARN_OK;
    if (rank != NULL)
        *rank = t->cause_rank;
    if (line != NULL && t->cause_rank < 0)
        snprintf(line, capacity, "%s", t->cause_line);
    else if (line != NULL)
        snprintf(line, capacity, "rank %d, step %" PRIu64 ": %s", t->cause_rank, t->cause_step,
                 t->cause_line);
    return t->cause;
}

/* What a call in an aborted communicator returns. */
static tarn_status aborted(const struct communicator *t, int rank)
{
    if (t->stalled || rank == t->cause_rank)
        return error_set(t->cause, "%s", t->cause_line);
    if (t->cause_rank < 0)
        return error_set(TARN_ERR_REPLICA, "the launch was ended: %s", t->cause_line);
    return error_set(TARN_ERR_REPLICA, "rank %d failed at step %" PRIu64 ": %s", t->cause_rank,
                     t->cause_step, t->cause_line);
}

/* ---- meeting -------------------------------------------------------------------------------- */

/* An even phase is over when it is complete or aborted; an odd one only when it is complete. */
static bool is_over(uint64_t word, uint64_t phase)
{
    return PHASE(word) != phase || ((word & ABORTED) && phase % 2 == 0);
}

/* Counts the caller in, as the last one or not. False when the communicator was aborted before. */
static bool arrive(struct communicator *t, uint64_t phase)
{
    uint64_t word = atomic_load(&t->word), next;
    do {
        if (is_over(word, phase))
            return false;
        next =
            (word & ARRIVED) + 1 == (uint64_t)t->world ? (word & ~ARRIVED) + NEXT_PHASE : word + 1;
    } while (!atomic_compare_exchange_weak(&t->word, &word, next));
    /* Sequentially consistent against sleep_until_over(), which counts itself and then looks. */
    if (PHASE(next) != phase && atomic_load(&t->sleepers) > 0) {
        pthread_mutex_lock(&t->lock);
        pthread_cond_broadcast(&t->moved);
        pthread_mutex_unlock(&t->lock);
    }
    return true;
}

static uint64_t missing_ranks(struct communicator *t, uint64_t number, int *count)
{
    uint64_t missing = 0;
    *count = 0;
    for (int i = 0; i < t->world; i++) {
        const bool absent = atomic_load(&t->slots[i].number) < number;
        missing |= (uint64_t)absent << i;
        *count += absent;
    }
    return missing;
}

/* Those among the missing ranks that will not come any more. */
static uint64_t gone_ranks(struct communicator *t, uint64_t number)
{
    int count;
    const uint64_t left = atomic_load(&t->left);
    return left ? left & missing_ranks(t, number, &count) : 0;
}

static void set_stalled(struct communicator *t, uint64_t missing, bool gone, uint64_t number,
                        const struct collective *c)
{
    char who[300], line[900], what[300];
    int first = 0;
    agree_list(missing, who, sizeof who);
    while (!(missing >> first & 1))
        first++;
    snprintf(what, sizeof what, "%s \"%.100s\" of step %" PRIu64 ", collective %" PRIu64,
             collective_name(c->kind), c->label != NULL ? c->label : "", c->step, number);
    const char *s = missing & (missing - 1) ? "s" : "";
    if (gone)
        snprintf(line, sizeof line,
                 "the function of rank%s%s has returned, while others came to %s; every "
                 "replica must record the same collectives",
                 s, who, what);
    else
        snprintf(line, sizeof line,
                 "rank%s%s did not come within %g s to %s; see whether it hangs, or raise the "
                 "timeout",
                 s, who, t->timeout, what);
    set_cause(t, first, TARN_ERR_STALLED, line);
    t->stalled = true;
}

void communicator_leave(struct communicator *t, int rank)
{
    atomic_fetch_or(&t->left, UINT64_C(1) << rank);
    pthread_mutex_lock(&t->lock);
    pthread_cond_broadcast(&t->moved);
    pthread_mutex_unlock(&t->lock);
}

void communicator_builds(struct communicator *t, int rank, bool begins)
{
    if (begins)
        atomic_fetch_or(&t->builds, UINT64_C(1) << rank);
    else
        atomic_fetch_and(&t->builds, ~(UINT64_C(1) << rank));
}

/* Whether a rank that the others wait for compiles, and may do so for longer. */
static bool may_still_build(struct communicator *t, uint64_t number, struct timespec began)
{
    int count;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const double waited =
        (double)(now.tv_sec - began.tv_sec) + (double)(now.tv_nsec - began.tv_nsec) * 1e-9;
    return waited < t->build_timeout &&
           (atomic_load(&t->builds) & missing_ranks(t, number, &count));
}

/* The caller holds the lock, and waited too long or for a rank that has left. Does nothing if the
 * phase is over after all. */
static void stall(struct communicator *t, uint64_t phase, uint64_t number,
                  const struct collective *c)
{
    uint64_t word = atomic_load(&t->word);
    while (!is_over(word, phase)) {
        int count;
        const uint64_t missing = missing_ranks(t, number, &count), gone = gone_ranks(t, number);
        /* A rank shows its number before it arrives: let one that is in between do so. */
        if (gone || count == t->world - (int)(word & ARRIVED)) {
            set_stalled(t, gone ? gone : missing, gone != 0, number, c);
            if (atomic_compare_exchange_strong(&t->word, &word, word | ABORTED)) {
                pthread_cond_broadcast(&t->moved);
                return;
            }
            t->stalled = false;
        }
        sched_yield();
        word = atomic_load(&t->word);
    }
}

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static struct timespec later(struct timespec t, double seconds)
{
    const double whole = floor(seconds);
    t.tv_sec += (time_t)whole;
    t.tv_nsec += (long)(1e9 * (seconds - whole));
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

static bool spin_until_over(struct communicator *t, uint64_t phase, struct timespec began)
{
    struct timespec now = began;
    while (t->spins && (now.tv_sec - began.tv_sec) * 1000000000 + now.tv_nsec - began.tv_nsec <
                           SPIN_NANOSECONDS) {
        for (int i = 0; i < 32; i++) {
            if (is_over(atomic_load(&t->word), phase))
                return true;
            relax();
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
    }
    return is_over(atomic_load(&t->word), phase);
}

/* Waits for the end of a phase: of an open one until the timeout, or until somebody who is missing
 * has left; of an odd one without a limit, since it ends when the copying does. */
static void wait_until_over(struct communicator *t, uint64_t phase, uint64_t number,
                            const struct collective *c)
{
    if (is_over(atomic_load(&t->word), phase))
        return;
    struct timespec began;
    clock_gettime(CLOCK_MONOTONIC, &began);
    if (spin_until_over(t, phase, began))
        return;
    struct timespec deadline = later(began, t->timeout);
    pthread_mutex_lock(&t->lock);
    atomic_fetch_add(&t->sleepers, 1);
    while (!is_over(atomic_load(&t->word), phase)) {
        if (phase % 2)
            pthread_cond_wait(&t->moved, &t->lock);
        else if (gone_ranks(t, number))
            stall(t, phase, number, c);
        else if (pthread_cond_timedwait(&t->moved, &t->lock, &deadline) == 0)
            continue;
        else if (may_still_build(t, number, began))
            deadline = later(deadline, t->timeout); /* from when it ends, at most this long */
        else
            stall(t, phase, number, c);
    }
    atomic_fetch_sub(&t->sleepers, 1);
    pthread_mutex_unlock(&t->lock);
}

/* ---- collectives ---------------------------------------------------------------------------- */

/* In an odd phase. */
static tarn_status take_part(struct communicator *t, int rank, uint64_t number)
{
    const struct collective *all[COMMUNICATOR_MOST];
    for (int i = 0; i < t->world; i++)
        all[i] = &t->slots[i].asked;
    TRY(agree_check(all, t->world, number));
    move_share(all, t->world, rank);
    return TARN_OK;
}

tarn_status communicator_collect(struct communicator *t, int rank, const struct collective *c)
{
    const uint64_t word = atomic_load(&t->word), phase = PHASE(word), number = phase / 2 + 1;
    if (word & ABORTED)
        return aborted(t, rank);
    struct slot *slot = &t->slots[rank];
    slot->asked = *c;
    recorder_begin(t->recorder, rank, number, c);
    atomic_store(&slot->step, c->step);
    atomic_store(&slot->number, number);
    if (!arrive(t, phase))
        return aborted(t, rank);
    wait_until_over(t, phase, number, c);
    if (PHASE(atomic_load(&t->word)) == phase)
        return aborted(t, rank);
    recorder_mark(t->recorder, rank, MOMENT_START);
    const tarn_status status = take_part(t, rank, number);
    if (arrive(t, phase + 1))
        wait_until_over(t, phase + 1, number, c);
    recorder_mark(t->recorder, rank, MOMENT_END);
    return atomic_load(&t->word) & ABORTED ? aborted(t, rank) : status;
}
