/* SPDX-License-Identifier: Apache-2.0 */
/* Pools of workers: their memory, and what the training loop's thread does with them. */

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "data/pool.h"
#include "lock.h"
#include "data/pool_parts.h"
#include "trace.h"

/* ---- memory --------------------------------------------------------------------------------- */

static tarn_status make_job(const struct pool_plan *plan, struct job *j)
{
    const size_t rows = (size_t)plan->most;
    j->index = malloc(rows * sizeof *j->index);
    bool good = j->index != NULL;
    for (int k = 0; k < plan->source.fields; k++) {
        j->memory[k] = malloc(rows * plan->bytes[k]);
        good = good && j->memory[k] != NULL;
    }
    return good ? TARN_OK
                : error_set(TARN_ERR_MEMORY,
                            "tarn_loader_open: out of host memory for batches of %zu", rows);
}

/* Batches that are filled at the same time: as many as keep all threads busy while one is
 * uploaded. */
static int jobs_wanted(const struct pool_plan *plan)
{
    const int wanted = plan->threads == 1 ? 1 : 2 + (plan->threads - 1) / plan->most;
    const int slots = plan->prefetch + 2;
    return wanted < slots ? wanted : slots;
}

static tarn_status make_memory(struct pool *p, struct context *c)
{
    const struct pool_plan *plan = &p->plan;
    while (p->job_count < jobs_wanted(plan)) {
        struct job *j = &p->jobs[p->job_count++];
        TRY(make_job(plan, j));
        j->track = trace_track("rank %d: loader, batch in work %d", plan->rank, p->job_count - 1);
    }
    if (plan->shuffle) {
        p->order = malloc((size_t)plan->cut.size * sizeof *p->order);
        if (p->order == NULL)
            return error_set(TARN_ERR_MEMORY,
                             "tarn_loader_open: out of host memory for the order of %d",
                             plan->cut.size);
    }
    /* Besides those prepared ahead: one of the step being recorded, one of the step being
     * computed. */
    while (p->slot_count < plan->prefetch + 2) {
        struct slot *s = &p->slots[p->slot_count++];
        for (int k = 0; k < plan->source.fields; k++)
            TRY(upload_new(c, (size_t)plan->most * plan->bytes[k], &s->upload[k]));
    }
    return TARN_OK;
}

void pool_free_slot(struct slot *s)
{
    for (int k = 0; k < FIELDS_MOST; k++)
        upload_free(s->upload[k]);
    memset(s, 0, sizeof *s);
}

void pool_dispose(struct pool *p)
{
    for (int i = 0; i < p->job_count; i++) {
        free(p->jobs[i].index);
        for (int k = 0; k < FIELDS_MOST; k++)
            free(p->jobs[i].memory[k]);
    }
    for (int i = 0; i < MAX_THREADS; i++)
        free(p->workers[i].scratch);
    free(p->order);
    pthread_cond_destroy(&p->work);
    lock_free_waited(&p->lock, &p->done);
    free(p);
}

/* ---- starting and ending -------------------------------------------------------------------- */

static tarn_status start_worker(struct pool *p, struct worker *w)
{
    w->pool = p;
    if (p->plan.source.get != NULL && p->plan.transform.any) {
        w->scratch = malloc(p->plan.source.field[0].bytes);
        if (w->scratch == NULL)
            return error_set(TARN_ERR_MEMORY, "tarn_loader_open: out of host memory for a sample");
    }
    const int code = pthread_create(&w->thread, NULL, work_main, w);
    if (code != 0)
        return error_set(TARN_ERR_MEMORY, "tarn_loader_open: cannot start a thread: %s",
                         strerror(code));
    (void)!pthread_setname_np(w->thread, "tarn loader");
    return TARN_OK;
}

/* Signals are for the program's own threads. */
static tarn_status start_workers(struct pool *p)
{
    tarn_status status = TARN_OK;
    sigset_t all, before;
    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_mutex_lock(&p->lock);
    while (status == TARN_OK && p->started < p->plan.threads) {
        status = start_worker(p, &p->workers[p->started]);
        if (status == TARN_OK) {
            p->started++;
            p->running++;
        }
    }
    pthread_mutex_unlock(&p->lock);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}

static tarn_status make_locks(struct pool *p)
{
    TRY(lock_make_waited(&p->lock, &p->done, "tarn_loader_open"));
    const tarn_status status = lock_make_condition(&p->work, "tarn_loader_open");
    if (status != TARN_OK)
        lock_free_waited(&p->lock, &p->done);
    return status;
}

tarn_status pool_open(struct context *c, const struct pool_plan *plan, struct pool **out)
{
    *out = NULL;
    struct pool *p = calloc(1, sizeof *p);
    if (p == NULL)
        return error_set(TARN_ERR_MEMORY, "tarn_loader_open: out of host memory");
    p->plan = *plan;
    tarn_status status = make_locks(p);
    if (status != TARN_OK) {
        free(p);
        return status;
    }
    status = make_memory(p, c);
    if (status == TARN_OK)
        status = start_workers(p);
    if (status == TARN_OK)
        *out = p;
    else
        pool_free(p);
    return status;
}

/* ---- callbacks that are late ---------------------------------------------------------------- */

static bool is_late(const struct worker *w, double now)
{
    return w->calling && now - w->began >= w->pool->plan.timeout;
}

static int count_late(const struct pool *p)
{
    const double now = seconds_now();
    int late = 0;
    for (int i = 0; i < p->started; i++)
        late += is_late(&p->workers[i], now);
    return late;
}

/* Whose callback batch `ticket` waits for in vain: one of its own, or any when all are late. */
static const struct worker *late_worker(const struct pool *p, uint64_t ticket)
{
    const double now = seconds_now();
    const struct worker *any = NULL;
    for (int i = 0; i < p->started; i++) {
        const struct worker *w = &p->workers[i];
        if (!is_late(w, now))
            continue;
        if (w->job->seeks == p->seeks && w->job->ticket == ticket)
            return w;
        any = w;
    }
    return any != NULL && count_late(p) == p->started ? any : NULL;
}

/* Waits for a change, not longer than until the next callback may be late; for one that begins
 * now, it looks in between. */
static void wait_for_change(struct pool *p)
{
    const double now = seconds_now();
    double soon = p->plan.timeout / 8 < 1 ? p->plan.timeout / 8 : 1;
    for (int i = 0; i < p->started; i++) {
        const struct worker *w = &p->workers[i];
        const double rest = w->began + p->plan.timeout - now;
        if (w->calling && rest > 0 && rest < soon)
            soon = rest;
    }
    const double until = now + soon + 1e-6;
    const struct timespec t = { .tv_sec = (time_t)until,
                                .tv_nsec = (long)((until - floor(until)) * 1e9) };
    (void)pthread_cond_timedwait(&p->done, &p->lock, &t);
}

void pool_stop(struct pool *p)
{
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_broadcast(&p->work);
    while (p->started > 0 && p->running > count_late(p))
        wait_for_change(p);
    for (int i = 0; i < p->started; i++) {
        const struct worker *w = &p->workers[i];
        (void)(w->ended ? pthread_join(w->thread, NULL) : pthread_detach(w->thread));
    }
    p->started = 0;
    pthread_mutex_unlock(&p->lock);
}

void pool_free(struct pool *p)
{
    if (p == NULL)
        return;
    pool_stop(p);
    for (int i = 0; i < p->slot_count; i++)
        pool_free_slot(&p->slots[i]);
    pthread_mutex_lock(&p->lock);
    p->abandoned = p->running > 0;
    const bool abandoned = p->abandoned;
    pthread_mutex_unlock(&p->lock);
    if (!abandoned)
        pool_dispose(p);
}

/* ---- the training loop's side --------------------------------------------------------------- */

struct slot *pool_slots(struct pool *p, int *count)
{
    *count = p->slot_count;
    return p->slots;
}

static bool slot_is_idle(struct slot *s)
{
    for (int k = 0; k < FIELDS_MOST && s->upload[k] != NULL; k++) {
        if (!upload_is_idle(s->upload[k]))
            return false;
    }
    return true;
}

/* Batches of earlier steps whose commands have ended go back to the workers, which never wait for
 * the device: they would look again and again, on a core that computes. */
static bool take_back(struct pool *p, uint32_t step)
{
    bool some = false;
    for (int i = 0; i < p->slot_count; i++) {
        struct slot *s = &p->slots[i];
        if (s->state == SLOT_HANDED && s->step != step && slot_is_idle(s)) {
            s->state = SLOT_FREE;
            some = true;
        }
    }
    return some;
}

/* Waits for the device to be done with the oldest batch that it has; NULL when it has none. */
static struct slot *oldest_handed(struct pool *p, uint32_t step)
{
    struct slot *oldest = NULL;
    for (int i = 0; i < p->slot_count; i++) {
        struct slot *s = &p->slots[i];
        if (s->state == SLOT_HANDED && s->step != step &&
            (oldest == NULL || s->step < oldest->step))
            oldest = s;
    }
    return oldest;
}

static tarn_status settle(struct slot *s)
{
    for (int k = 0; k < FIELDS_MOST && s->upload[k] != NULL; k++)
        TRY(upload_settle(s->upload[k]));
    return TARN_OK;
}

static struct slot *ready_slot(struct pool *p, uint64_t ticket)
{
    for (int i = 0; i < p->slot_count; i++) {
        if (p->slots[i].state == SLOT_READY && p->slots[i].ticket == ticket)
            return &p->slots[i];
    }
    return NULL;
}

/* Whether the workers can do something, or do it already. */
static bool has_work(const struct pool *p)
{
    for (int i = 0; i < p->slot_count; i++) {
        if (p->slots[i].state == SLOT_FREE)
            return true;
    }
    for (int i = 0; i < p->job_count; i++) {
        if (p->jobs[i].busy && p->jobs[i].seeks == p->seeks)
            return true;
    }
    return false;
}

static tarn_status await_change(struct pool *p, uint64_t ticket, uint32_t step)
{
    if (p->stop)
        return error_set(TARN_ERR_STATE, "tarn_loader_next: the loader is closed");
    if (p->failed && p->failed_ticket == ticket)
        return error_set(p->status, "%s", p->error);
    struct slot *oldest = has_work(p) ? NULL : oldest_handed(p, step);
    if (oldest != NULL)
        return settle(oldest);
    const struct worker *late = late_worker(p, ticket);
    if (late != NULL)
        return error_set(TARN_ERR_TIMEOUT,
                         "loader: sample %d: the data set's function has not returned within %g s; "
                         "TARN_TIMEOUT, or the timeout of the launch, sets the limit",
                         late->index, p->plan.timeout);
    wait_for_change(p);
    return TARN_OK;
}

static tarn_status check_step(const struct pool *p, uint32_t step)
{
    int handed = 0;
    for (int i = 0; i < p->slot_count; i++)
        handed += p->slots[i].state == SLOT_HANDED && p->slots[i].step == step;
    if (handed <= p->plan.prefetch)
        return TARN_OK;
    return error_set(TARN_ERR_STATE,
                     "tarn_loader_next: all %d batches of the loader are in one step; "
                     "call tarn_step, or raise prefetch to as many as a step needs",
                     handed);
}

tarn_status pool_take(struct pool *p, uint64_t ticket, uint32_t step, struct slot **out)
{
    pthread_mutex_lock(&p->lock);
    tarn_status status = check_step(p, step);
    bool freed = false;
    *out = NULL;
    while (status == TARN_OK && *out == NULL) {
        freed = take_back(p, step) || freed;
        *out = ready_slot(p, ticket);
        if (*out != NULL)
            break;
        if (freed)
            pthread_cond_signal(&p->work);
        status = await_change(p, ticket, step);
    }
    if (*out != NULL) {
        (*out)->state = SLOT_HANDED;
        (*out)->step = step;
    }
    pthread_mutex_unlock(&p->lock);
    if (freed)
        pthread_cond_signal(&p->work); /* who wakes up finds the lock free */
    return status;
}

void pool_seek(struct pool *p, struct place to)
{
    pthread_mutex_lock(&p->lock);
    for (int i = 0; i < p->slot_count; i++) {
        if (p->slots[i].state == SLOT_READY)
            p->slots[i].state = SLOT_FREE;
    }
    work_drop_current(p);
    p->ahead = to;
    p->ahead_ticket = 0;
    p->failed = false;
    p->seeks++;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
}
