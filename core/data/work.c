/* SPDX-License-Identifier: Apache-2.0 */
/* The workers of a pool: each takes samples of the current batch, or begins the next one. Who
 * ends a batch's last sample uploads it. */
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "data/pool_parts.h"
#include "trace.h"

/* ---- one sample ----------------------------------------------------------------------------- */

static uint8_t *row_of(const struct pool *p, const struct job *j, int field, int32_t place)
{
    return j->memory[field] + (size_t)place * p->plan.bytes[field];
}

static void copy_sample(const struct pool *p, const struct job *j, int32_t place)
{
    const struct source *s = &p->plan.source;
    const int32_t index = j->index[place];
    for (int k = 0; k < s->fields; k++) {
        const struct field *f = &s->field[k];
        const uint8_t *from = f->data + (size_t)(index % s->given) * f->bytes;
        if (k == 0 && p->plan.transform.any)
            transform_sample(&p->plan.transform, j->at.epoch, index, from, row_of(p, j, k, place));
        else
            memcpy(row_of(p, j, k, place), from, f->bytes);
    }
}

static tarn_status check_sample(const struct source *s, int32_t index, uint8_t *const *at)
{
    char name[24];
    int64_t bad;
    for (int k = 0; k < s->fields; k++) {
        if (!field_in_range(&s->field[k], at[k], &bad))
            return error_set(
                TARN_ERR_FORMAT,
                "loader: sample %d: the function gave %s the value %lld, but classes go "
                "from 0 to %d",
                index, field_name(s, k, name), (long long)bad, s->field[k].classes - 1);
    }
    return TARN_OK;
}

/* The function writes into the batch, but what is still to be transformed beside it. */
static tarn_status call_sample(const struct worker *w, const struct job *j, int32_t place)
{
    const struct pool *p = w->pool;
    const struct source *s = &p->plan.source;
    const int32_t index = j->index[place];
    uint8_t *at[FIELDS_MOST];
    tarn_sample out = { .inputs = { NULL } };
    for (int k = 0; k < s->fields; k++) {
        at[k] = k == 0 && w->scratch != NULL ? w->scratch : row_of(p, j, k, place);
        memset(at[k], 0, s->field[k].bytes);
        *(k < s->inputs ? &out.inputs[k] : &out.targets[k - s->inputs]) = at[k];
    }
    const int code = s->get(s->user, index, &out);
    if (code != 0)
        return error_set(TARN_ERR_IO, "loader: sample %d: the data set's function failed with %d",
                         index, code);
    TRY(check_sample(s, index, at));
    if (w->scratch != NULL)
        transform_sample(&p->plan.transform, j->at.epoch, index, w->scratch,
                         row_of(p, j, 0, place));
    return TARN_OK;
}

/* ---- a batch -------------------------------------------------------------------------------- */

/* The batch's memory and slot are free again. Locked. */
static void release_job(struct pool *p, struct job *j)
{
    if (j->slot->state == SLOT_FILLING)
        j->slot->state = SLOT_FREE;
    j->busy = false;
    pthread_cond_signal(&p->work);
    pthread_cond_signal(&p->done);
}

void work_drop_current(struct pool *p)
{
    struct job *j = p->current;
    p->current = NULL;
    if (j == NULL)
        return;
    j->left -= j->n - j->taken;
    j->taken = j->n;
    if (j->left == 0)
        release_job(p, j);
}

/* Notes the first of the batches that fail. Locked. */
static void note_failure(struct pool *p, const struct job *j, const char *line)
{
    if (p->failed && p->failed_ticket < j->ticket)
        return;
    p->failed = true;
    p->failed_ticket = j->ticket;
    p->status = j->status;
    snprintf(p->error, sizeof p->error, "%s", line);
}

static tarn_status upload_batch(const struct pool *p, const struct job *j)
{
    for (int k = 0; k < p->plan.source.fields; k++)
        TRY(upload_put(j->slot->upload[k], j->memory[k], (size_t)j->n * p->plan.bytes[k]));
    return TARN_OK;
}

/* All its samples are there, or one has failed. Locked, but while it uploads. */
static void end_batch(struct pool *p, struct job *j)
{
    if (j->status == TARN_OK && j->seeks == p->seeks) {
        pthread_mutex_unlock(&p->lock);
        trace_span(j->track, "fill a batch", j->began, seconds_now());
        trace_begin(j->track, "upload");
        const tarn_status status = upload_batch(p, j);
        trace_end(j->track);
        pthread_mutex_lock(&p->lock);
        j->status = status;
        if (status != TARN_OK)
            snprintf(j->error, sizeof j->error, "loader: %s", error_text());
    }
    if (j->seeks == p->seeks && j->status != TARN_OK)
        note_failure(p, j, j->error);
    if (j->seeks == p->seeks && j->status == TARN_OK) {
        j->slot->n = j->n;
        j->slot->global = j->global;
        j->slot->state = SLOT_READY;
    }
    release_job(p, j);
}

/* The order is a function of the epoch: it is made once for all its batches. */
static void put_in_order(struct pool *p, uint64_t epoch)
{
    if (!p->plan.shuffle || (p->ordered && p->order_epoch == epoch))
        return;
    sampler_permute(p->order, p->plan.cut.size, p->plan.seed, epoch);
    p->order_epoch = epoch;
    p->ordered = true;
}

/* Its samples' numbers; the epoch's order begins again at its end. */
static void choose_samples(struct pool *p, struct job *j)
{
    int32_t first;
    j->global = sampler_batch(&p->plan.cut, j->at.batch);
    sampler_share(&p->plan.cut, j->global, p->plan.rank, p->plan.world, &first, &j->n);
    put_in_order(p, j->at.epoch);
    const int64_t from = (int64_t)j->at.batch * p->plan.cut.batch + first;
    for (int32_t i = 0; i < j->n; i++) {
        const int32_t place = (int32_t)((from + i) % p->plan.cut.size);
        j->index[i] = p->plan.shuffle ? p->order[place] : place;
    }
    j->taken = 0;
    j->left = j->failed = j->n;
    j->status = TARN_OK;
}

static struct slot *free_slot(struct pool *p)
{
    for (int i = 0; i < p->slot_count; i++) {
        if (p->slots[i].state == SLOT_FREE)
            return &p->slots[i];
    }
    return NULL;
}

static struct job *free_job(struct pool *p)
{
    for (int i = 0; i < p->job_count; i++) {
        if (!p->jobs[i].busy)
            return &p->jobs[i];
    }
    return NULL;
}

/* Begins the next batch, when there is room for one. Locked, but while it looks up its samples. */
static bool begin_batch(struct pool *p)
{
    struct slot *s = free_slot(p);
    struct job *j = free_job(p);
    if (p->beginning || p->failed || s == NULL || j == NULL)
        return false;
    if (p->ahead.batch >= p->plan.parts)
        p->ahead = (struct place){ .epoch = p->ahead.epoch + 1, .batch = 0 };
    p->beginning = j->busy = true;
    j->slot = s;
    j->at = p->ahead;
    j->seeks = p->seeks;
    s->state = SLOT_FILLING;
    s->ticket = j->ticket = p->ahead_ticket++;
    p->ahead.batch++;
    pthread_mutex_unlock(&p->lock);
    j->began = seconds_now();
    choose_samples(p, j);
    pthread_mutex_lock(&p->lock);
    p->beginning = false;
    if (j->seeks == p->seeks)
        p->current = j;
    else
        release_job(p, j);
    pthread_cond_broadcast(&p->work);
    return true;
}

/* ---- a worker ------------------------------------------------------------------------------- */

/* Copies are quick: some at a time, so that all threads have their share. */
static int32_t portion(const struct pool *p, const struct job *j)
{
    const int32_t part = p->plan.source.get != NULL ? 1 : 1 + (j->n - 1) / (p->plan.threads * 4);
    const int32_t rest = j->n - j->taken;
    return p->plan.threads == 1 && p->plan.source.get == NULL ? rest : part < rest ? part : rest;
}

static tarn_status fill(const struct worker *w, const struct job *j, int32_t first, int32_t count)
{
    if (w->pool->plan.source.get != NULL)
        return call_sample(w, j, first);
    for (int32_t i = first; i < first + count; i++)
        copy_sample(w->pool, j, i);
    return TARN_OK;
}

/* A batch fails with the first of its samples that does, whatever the threads' pace: those before
 * it have all been taken. */
static void note_sample(struct pool *p, struct job *j, int32_t place, tarn_status status)
{
    if (status == TARN_OK || place >= j->failed)
        return;
    j->failed = place;
    j->status = status;
    snprintf(j->error, sizeof j->error, "%s", error_text());
    if (p->current == j)
        work_drop_current(p);
}

/* Locked, but while it fills. */
static void take_samples(struct worker *w)
{
    struct pool *p = w->pool;
    struct job *j = p->current;
    const int32_t first = j->taken, count = portion(p, j);
    j->taken += count;
    if (j->taken == j->n)
        p->current = NULL;
    w->calling = p->plan.source.get != NULL;
    w->began = w->calling ? seconds_now() : 0;
    w->index = j->index[first];
    w->job = j;
    pthread_mutex_unlock(&p->lock);
    const tarn_status status = fill(w, j, first, count);
    pthread_mutex_lock(&p->lock);
    w->calling = false;
    if (p->stop)
        return; /* the slots may be gone */
    note_sample(p, j, first, status);
    j->left -= count;
    if (j->left == 0)
        end_batch(p, j);
}

void *work_main(void *worker)
{
    struct worker *w = worker;
    struct pool *p = w->pool;
    static const struct sched_param none;
    /* So that waking one up takes no core from the thread that trains. */
    (void)pthread_setschedparam(pthread_self(), SCHED_BATCH, &none);
    pthread_mutex_lock(&p->lock);
    while (!p->stop) {
        if (p->current != NULL)
            take_samples(w);
        else if (!begin_batch(p))
            pthread_cond_wait(&p->work, &p->lock);
    }
    w->ended = true;
    p->running--;
    const bool last = p->abandoned && p->running == 0;
    pthread_cond_signal(&p->done);
    pthread_mutex_unlock(&p->lock);
    if (last)
        pool_dispose(p);
    return NULL;
}
