/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that meet twice for each collective, on one word of memory.
 *
 * A communicator goes through phases. The first of a collective is open: ranks arrive with what they ask for,
 * and the last to arrive ends it. The phase after it is for copying: each rank reads what the others ask
 * for, does its share, and arrives again; the last to arrive ends that, and the next phase is open. With
 * other nodes there is one between these two: ranks add up what this node has, the last to arrive hands the sum
 * to the porter, and the porter ends the phase when it has that of all nodes, or gives up.
 *
 * Only an open phase ends early when the communicator is aborted, and whether it was, or was complete before, is
 * decided by one change of the word: so either all ranks copy or none, and all who copy wait for one another,
 * abort or not. That wait ends, as no rank that copies waits for anything, and the porter has a deadline. Hence
 * after communicator_collect() returned, for whatever reason, nobody touches the memory of its caller; and a
 * slot, which is written in open phases and read in others, needs no second copy. */
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

#include "across.h"
#include "agree.h"
#include "communicator.h"
#include "lock.h"
#include "move.h"
#include "porter.h"
#include "recorder.h"

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
    int world, first;      /* ranks of this node, and which of the launch is their first */
    unsigned phases;       /* of a collective */
    struct across *across; /* NULL: there are no other nodes */
    struct porter *porter;
    /* What came of the collective between nodes; written before its phase ends. */
    tarn_status wire_status;
    char wire_line[1001];
    double timeout, build_timeout;
    bool spins, wire_spins; /* in waiting for ranks, and for other nodes */
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

tarn_status communicator_new(int world, double timeout, double build_timeout,
                             struct communicator **out)
{
    if (world < 1 || world > COMMUNICATOR_MOST || !(timeout > 0))
        return error_set(
            TARN_ERR_ARGUMENT,
            "a communicator of %d ranks with a timeout of %g s: it takes 1 to %d ranks and a "
            "timeout above 0",
            world, timeout, COMMUNICATOR_MOST);
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
    t->phases = 2;
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
    across_free(t->across, !(atomic_load(&t->word) & ABORTED));
    recorder_free(t->recorder);
    lock_free_waited(&t->lock, &t->moved);
    free(t);
}

int communicator_world(const struct communicator *t)
{
    return t->world;
}

int communicator_node(const struct communicator *t, int rank)
{
    return t->across != NULL ? across_node(t->across, rank) : -1;
}

uint64_t communicator_number(const struct communicator *t, int rank)
{
    return atomic_load(&t->slots[rank].number);
}

struct ranks communicator_ranks(const struct communicator *t)
{
    return t->across != NULL ? across_ranks(t->across)
                             : (struct ranks){ .count = t->world, .world = t->world };
}

void communicator_blame(struct communicator *t, int rank)
{
    if (t->porter != NULL)
        porter_blame(t->porter, across_node(t->across, rank));
}

void communicator_record(struct communicator *t, int most,
                         void (*line)(void *user, const char *text), void *user)
{
    recorder_write(t->recorder, t->first, most, line, user);
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

static void describe_cause(const struct communicator *t, char *line, size_t capacity)
{
    if (t->cause_rank < 0)
        snprintf(line, capacity, "%s", t->cause_line);
    else
        snprintf(line, capacity, "rank %d, step %" PRIu64 ": %s", t->first + t->cause_rank,
                 t->cause_step, t->cause_line);
}

/* What ended here ends everywhere. */
static void tell_nodes(struct communicator *t)
{
    char line[1100];
    if (t->porter == NULL)
        return;
    describe_cause(t, line, sizeof line);
    porter_tell(t->porter, t->cause, line);
}

void communicator_abort(struct communicator *t, int rank, tarn_status status, const char *line)
{
    pthread_mutex_lock(&t->lock);
    if (!(atomic_load(&t->word) & ABORTED)) {
        set_cause(t, rank >= 0 && rank < t->world ? rank : -1,
                  status == TARN_OK ? TARN_ERR_REPLICA : status, line != NULL ? line : "");
        atomic_fetch_or(&t->word, ABORTED);
        pthread_cond_broadcast(&t->moved);
        tell_nodes(t);
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
    if (line != NULL)
        describe_cause(t, line, capacity);
    return t->cause;
}

/* What a call in an aborted communicator returns. */
static tarn_status aborted(const struct communicator *t, int rank)
{
    if (t->stalled || rank == t->cause_rank)
        return error_set(t->cause, "%s", t->cause_line);
    if (t->cause_rank < 0)
        return error_set(TARN_ERR_REPLICA, "the launch was ended: %s", t->cause_line);
    return error_set(TARN_ERR_REPLICA, "rank %d failed at step %" PRIu64 ": %s",
                     t->first + t->cause_rank, t->cause_step, t->cause_line);
}

/* ---- meeting -------------------------------------------------------------------------------- */

static bool is_open(const struct communicator *t, uint64_t phase)
{
    return phase % t->phases == 0;
}

/* Whether it is the porter that ends it. */
static bool is_wire(const struct communicator *t, uint64_t phase)
{
    return phase % t->phases + 2 == t->phases && t->across != NULL;
}

/* An open phase is over when it is complete or aborted; another only when it is complete. */
static bool is_over(const struct communicator *t, uint64_t word, uint64_t phase)
{
    return PHASE(word) != phase || ((word & ABORTED) && is_open(t, phase));
}

/* Sequentially consistent against wait_until_over(), which counts itself and then looks. */
static void wake(struct communicator *t)
{
    if (atomic_load(&t->sleepers) == 0)
        return;
    pthread_mutex_lock(&t->lock);
    pthread_cond_broadcast(&t->moved);
    pthread_mutex_unlock(&t->lock);
}

/* Counts the caller in, as the last one or not. False when the communicator was aborted before. */
static bool arrive(struct communicator *t, uint64_t phase)
{
    uint64_t word = atomic_load(&t->word), next;
    do {
        if (is_over(t, word, phase))
            return false;
        next =
            (word & ARRIVED) + 1 == (uint64_t)t->world ? (word & ~ARRIVED) + NEXT_PHASE : word + 1;
    } while (!atomic_compare_exchange_weak(&t->word, &word, next));
    if (PHASE(next) != phase)
        wake(t);
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
    agree_list(missing, t->first, who, sizeof who);
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
    while (!is_over(t, word, phase)) {
        int count;
        const uint64_t missing = missing_ranks(t, number, &count), gone = gone_ranks(t, number);
        /* A rank shows its number before it arrives: let one that is in between do so. */
        if (gone || count == t->world - (int)(word & ARRIVED)) {
            set_stalled(t, gone ? gone : missing, gone != 0, number, c);
            if (atomic_compare_exchange_strong(&t->word, &word, word | ABORTED)) {
                pthread_cond_broadcast(&t->moved);
                tell_nodes(t);
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
    const bool spins = is_wire(t, phase) ? t->wire_spins : t->spins;
    while (spins && (now.tv_sec - began.tv_sec) * 1000000000 + now.tv_nsec - began.tv_nsec <
                        SPIN_NANOSECONDS) {
        for (int i = 0; i < 32; i++) {
            if (is_over(t, atomic_load(&t->word), phase))
                return true;
            relax();
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
    }
    return is_over(t, atomic_load(&t->word), phase);
}

/* Waits for the end of a phase: of an open one until the timeout, or until somebody who is missing
 * has left; of another without a limit, since it ends when the copying does. */
static void wait_until_over(struct communicator *t, uint64_t phase, uint64_t number,
                            const struct collective *c)
{
    if (is_over(t, atomic_load(&t->word), phase))
        return;
    struct timespec began;
    clock_gettime(CLOCK_MONOTONIC, &began);
    if (spin_until_over(t, phase, began))
        return;
    struct timespec deadline = later(began, t->timeout);
    pthread_mutex_lock(&t->lock);
    atomic_fetch_add(&t->sleepers, 1);
    while (!is_over(t, atomic_load(&t->word), phase)) {
        if (!is_open(t, phase))
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

/* ---- with other nodes ----------------------------------------------------------------------- */

/* The porter ends the phase in which ranks put what they have; here, when there is nothing for it to do. */
static void end_of_wire(struct communicator *t, tarn_status status, const char *line)
{
    t->wire_status = status;
    snprintf(t->wire_line, sizeof t->wire_line, "%s", line);
    uint64_t word = atomic_load(&t->word);
    while (!atomic_compare_exchange_weak(&t->word, &word, (word & ~ARRIVED) + NEXT_PHASE)) {
    }
    wake(t);
}

static void wire_over(void *user, tarn_status status, const char *line)
{
    end_of_wire(user, status, line);
}

static void others_failed(void *user, tarn_status status, const char *line)
{
    struct communicator *t = user;
    pthread_mutex_lock(&t->lock);
    if (!(atomic_load(&t->word) & ABORTED)) {
        set_cause(t, -1, status, line);
        t->stalled = status == TARN_ERR_STALLED;
        atomic_fetch_or(&t->word, ABORTED);
        pthread_cond_broadcast(&t->moved);
    }
    pthread_mutex_unlock(&t->lock);
}

static void where_are_we(void *user, struct whereabouts *out)
{
    struct communicator *t = user;
    const uint64_t word = atomic_load(&t->word), phase = PHASE(word);
    const uint64_t number = phase / t->phases + !is_open(t, phase);
    int count, first = 0;
    const uint64_t missing = missing_ranks(t, number + 1, &count);
    while (missing && !(missing >> first & 1))
        first++;
    *out = (struct whereabouts){ .number = number,
                                 .waits = !is_open(t, phase),
                                 .rank = t->first + first,
                                 .builds = (atomic_load(&t->builds) & missing) != 0,
                                 .returned = (atomic_load(&t->left) >> first & 1) != 0 };
}

/* On which this process may be. */
static int cores_allowed(void)
{
    cpu_set_t allowed;
    return sched_getaffinity(getpid(), sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
}

void communicator_join(struct communicator *t, struct across *a, struct porter *porter,
                       struct porter_user *user)
{
    t->across = a;
    t->porter = porter;
    t->first = across_ranks(a).first;
    t->phases = 3;
    t->wire_spins = t->world + 1 <= cores_allowed();
    *user = (struct porter_user){
        .user = t, .where = where_are_we, .failed = others_failed, .over = wire_over
    };
}

/* Like arrive(), but the last does not end the phase: it begins what does. */
static void arrive_at_wire(struct communicator *t, const struct collective *const *all,
                           uint64_t number, tarn_status status)
{
    const uint64_t before = atomic_fetch_add(&t->word, 1);
    if ((before & ARRIVED) + 1 < (uint64_t)t->world)
        return;
    if (status != TARN_OK && status != TARN_ERR_WEIGHTS) {
        end_of_wire(t, TARN_OK, "");
        return;
    }
    struct task task;
    across_task(t->across, all, number, status == TARN_ERR_WEIGHTS, &task);
    porter_start(t->porter, &task);
}

/* ---- collectives ---------------------------------------------------------------------------- */

static tarn_status share_with_nodes(struct communicator *t, const struct collective *const *all,
                                    int rank, uint64_t phase, uint64_t number)
{
    char line[1001] = "";
    tarn_status status = agree_check(all, across_ranks(t->across), number);
    snprintf(line, sizeof line, "%s", status != TARN_OK ? error_text() : "");
    if (status == TARN_OK || status == TARN_ERR_WEIGHTS) {
        const tarn_status put = across_put(t->across, all, rank, number);
        if (put != TARN_OK) {
            status = put;
            snprintf(line, sizeof line, "%s", error_text());
        }
    }
    arrive_at_wire(t, all, number, status);
    wait_until_over(t, phase, number, all[rank]);
    if (status != TARN_OK)
        return error_set(status, "%s", line);
    if (t->wire_status != TARN_OK)
        return error_set(t->wire_status, "%s", t->wire_line);
    across_take(t->across, all, rank);
    return TARN_OK;
}

/* In the phases that are not open. */
static tarn_status take_part(struct communicator *t, int rank, uint64_t phase, uint64_t number)
{
    const struct collective *all[COMMUNICATOR_MOST];
    for (int i = 0; i < t->world; i++)
        all[i] = &t->slots[i].asked;
    if (t->across != NULL)
        return share_with_nodes(t, all, rank, phase, number);
    TRY(agree_check(all, (struct ranks){ .count = t->world, .world = t->world }, number));
    move_share(all, t->world, rank);
    return TARN_OK;
}

tarn_status communicator_collect(struct communicator *t, int rank, const struct collective *c)
{
    const uint64_t word = atomic_load(&t->word), phase = PHASE(word),
                   number = phase / t->phases + 1, last = phase + t->phases - 1;
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
    const tarn_status status = take_part(t, rank, phase + 1, number);
    if (arrive(t, last))
        wait_until_over(t, last, number, c);
    recorder_mark(t->recorder, rank, MOMENT_END);
    return atomic_load(&t->word) & ABORTED ? aborted(t, rank) : status;
}
