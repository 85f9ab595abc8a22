/* SPDX-License-Identifier: Apache-2.0 */
/* Gathers and uploads a replica's part of batches on a thread of its own, some batches ahead of the
 * training loop. */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph.h"
#include "nest.h"
#include "sampler.h"

#define MAX_PREFETCH 64

enum slot_state {
    SLOT_FREE,
    SLOT_READY, /* uploaded, waits for its turn */
    SLOT_HANDED /* part of the step `step`, which the device may still compute */
};

struct slot {
    struct upload *x, *y;
    enum slot_state state;
    uint64_t ticket; /* number of the batch, in order of delivery */
    uint32_t step;
    int32_t n, global;
};

/* Where in the run a batch is. */
struct place {
    uint64_t epoch, batch;
};

struct tarn_loader {
    tarn_replica *r;
    const tarn_dataset *data;
    tarn_loader_options options;
    struct sampler_cut cut;
    int rank, world;
    int32_t length; /* batches in an epoch */
    int32_t most;   /* samples in the largest part */
    uint64_t parts; /* batches in which this replica has a part: the last may have none */
    size_t sample_bytes;
    tarn_shape sample;
    struct place next; /* of the consumer */
    uint64_t next_ticket;

    pthread_t thread;
    bool started;
    /* Of the thread alone. */
    uint8_t *staging_x, *staging_y;
    int32_t *order;
    uint64_t order_epoch;
    bool ordered;

    /* Under the lock. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct slot slots[MAX_PREFETCH + 2];
    int slot_count;
    struct place ahead; /* of the thread */
    uint64_t ahead_ticket;
    uint64_t seeks; /* tells a batch begun before a seek */
    bool stop;
    tarn_status status; /* of the thread */
    char error[1024];
};

/* ---- the thread ----------------------------------------------------------------------------- */

static void put_in_order(struct tarn_loader *l, uint64_t epoch)
{
    if (l->ordered && l->order_epoch == epoch)
        return;
    if (l->options.shuffle)
        sampler_permute(l->order, l->cut.size, l->options.seed, epoch);
    else
        sampler_identity(l->order, l->cut.size);
    l->order_epoch = epoch;
    l->ordered = true;
}

/* `n` samples from place `first` of the epoch's order, which begins again at its end. */
static void gather(struct tarn_loader *l, int64_t first, int32_t n)
{
    const uint8_t *samples = tarn_dataset_samples(l->data);
    const uint8_t *labels = tarn_dataset_labels(l->data);
    for (int32_t i = 0; i < n; i++) {
        const int32_t chosen = l->order[(first + i) % l->cut.size];
        memcpy(l->staging_x + (size_t)i * l->sample_bytes,
               samples + (size_t)chosen * l->sample_bytes, l->sample_bytes);
        l->staging_y[i] = labels[chosen];
    }
}

static tarn_status produce(struct tarn_loader *l, struct slot *s, struct place at)
{
    const int32_t global = sampler_batch(&l->cut, at.batch);
    int32_t first, n;
    sampler_part(global, l->rank, l->world, &first, &n);
    put_in_order(l, at.epoch);
    gather(l, (int64_t)at.batch * l->cut.batch + first, n);
    TRY(upload_put(s->x, l->staging_x, (size_t)n * l->sample_bytes));
    TRY(upload_put(s->y, l->staging_y, (size_t)n));
    s->n = n;
    s->global = global;
    return TARN_OK;
}

static struct slot *slot_in(struct tarn_loader *l, enum slot_state state)
{
    for (int i = 0; i < l->slot_count; i++) {
        if (l->slots[i].state == state &&
            (state != SLOT_READY || l->slots[i].ticket == l->next_ticket))
            return &l->slots[i];
    }
    return NULL;
}

/* Waits for a slot; NULL when the loader is to end. */
static struct slot *await_free(struct tarn_loader *l)
{
    for (;;) {
        if (l->stop)
            return NULL;
        struct slot *s = slot_in(l, SLOT_FREE);
        if (s)
            return s;
        pthread_cond_wait(&l->changed, &l->lock);
    }
}

static void *loader_main(void *self)
{
    struct tarn_loader *l = self;
    pthread_mutex_lock(&l->lock);
    for (struct slot *s = await_free(l); s; s = await_free(l)) {
        if (l->ahead.batch >= l->parts)
            l->ahead = (struct place){ .epoch = l->ahead.epoch + 1, .batch = 0 };
        const struct place at = l->ahead;
        const uint64_t seeks = l->seeks;
        pthread_mutex_unlock(&l->lock);
        const tarn_status status = produce(l, s, at);
        pthread_mutex_lock(&l->lock);
        if (status != TARN_OK) {
            l->status = status;
            (void)snprintf(l->error, sizeof(l->error), "%s", error_text());
            pthread_cond_broadcast(&l->changed);
            break;
        }
        if (seeks != l->seeks)
            continue;
        s->ticket = l->ahead_ticket++;
        s->state = SLOT_READY;
        l->ahead.batch++;
        pthread_cond_broadcast(&l->changed);
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

/* ---- opening and closing -------------------------------------------------------------------- */

static void stop_thread(struct tarn_loader *l)
{
    if (!l->started)
        return;
    pthread_mutex_lock(&l->lock);
    l->stop = true;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
    (void)pthread_join(l->thread, NULL);
    l->started = false;
}

static void free_slot(struct slot *s)
{
    upload_free(s->x);
    upload_free(s->y);
    memset(s, 0, sizeof(*s));
}

static void forget_upload(struct graph *g, const struct upload *u)
{
    for (uint32_t i = 0; u && i < g->input_count; i++) {
        if (g->inputs[i].upload == u)
            g->inputs[i].upload = NULL;
    }
}

/* For tarn_close: nothing of the recorded step will run any more. */
static void destroy(void *self)
{
    struct tarn_loader *l = self;
    stop_thread(l);
    for (int i = 0; i < l->slot_count; i++) {
        forget_upload(&l->r->graph, l->slots[i].x);
        forget_upload(&l->r->graph, l->slots[i].y);
        free_slot(&l->slots[i]);
    }
    pthread_cond_destroy(&l->changed);
    pthread_mutex_destroy(&l->lock);
    free(l->staging_x);
    free(l->staging_y);
    free(l->order);
    free(l);
}

void tarn_loader_close(tarn_loader *l)
{
    if (!l)
        return;
    stop_thread(l);
    bool in_step = false;
    for (int i = 0; i < l->slot_count; i++) {
        struct slot *s = &l->slots[i];
        if (s->state == SLOT_HANDED && s->step == l->r->step)
            in_step = true;
        else
            free_slot(s);
    }
    /* Batches of the step being recorded are still needed: they stay until the replica closes. */
    if (in_step)
        return;
    replica_unregister(l->r, l);
    destroy(l);
}

static tarn_status check_options(tarn_replica *r, const tarn_dataset *d, tarn_loader_options *o)
{
    if (!d)
        return replica_fail(r, TARN_ERR_ARGUMENT, "tarn_loader_open: no data set");
    if (o->batch < 0 || o->prefetch < 0 || o->prefetch > MAX_PREFETCH)
        return replica_fail(r, TARN_ERR_ARGUMENT,
                            "tarn_loader_open: batch %d, prefetch %d; batch must be positive, "
                            "prefetch at most %d",
                            o->batch, o->prefetch, MAX_PREFETCH);
    if (!(o->deviation >= 0) || !isfinite(o->deviation) || !isfinite(o->mean))
        return replica_fail(r, TARN_ERR_ARGUMENT,
                            "tarn_loader_open: mean %g, deviation %g; both must be finite and the "
                            "deviation positive",
                            (double)o->mean, (double)o->deviation);
    o->batch = o->batch ? o->batch : 128;
    o->prefetch = o->prefetch ? o->prefetch : 3;
    /* With a deviation of the caller's own, a mean of 0 means 0. */
    if (o->deviation == 0 && o->mean == 0)
        o->mean = 0.1307f;
    o->deviation = o->deviation > 0 ? o->deviation : 0.3081f;
    if (o->drop_last && tarn_dataset_size(d) < o->batch)
        return replica_fail(r, TARN_ERR_ARGUMENT,
                            "tarn_loader_open: %d samples are no whole batch of %d; use a smaller "
                            "batch or keep the last one",
                            tarn_dataset_size(d), o->batch);
    if (o->drop_last && o->pad_last)
        return replica_fail(r, TARN_ERR_ARGUMENT,
                            "tarn_loader_open: drop_last and pad_last exclude each other; choose "
                            "one");
    return TARN_OK;
}

/* A batch that the replicas, or their virtual shards, cannot share is refused before training. */
static tarn_status check_parts(const struct tarn_loader *l, int shards)
{
    const int32_t batch = l->cut.batch;
    const int32_t last = sampler_batch(&l->cut, (uint64_t)l->length - 1);
    const bool whole = l->length > 1 || last == batch;
    const int64_t unit = shards > 0 ? (int64_t)LANES * shards : l->world;
    if (batch < l->world)
        return error_set(TARN_ERR_ARGUMENT,
                         "tarn_loader_open: a batch of %d is too small for %d replicas; choose "
                         "at least one sample for each",
                         batch, l->world);
    const tarn_loader_options *o = &l->options;
    const bool trains = o->shuffle || o->drop_last || o->pad_last; /* in order: evaluation */
    if (shards > 0 && whole && trains && batch % unit != 0)
        return error_set(TARN_ERR_ARGUMENT,
                         "tarn_loader_open: batch %d with %d virtual shards: each of the %d "
                         "shards needs a multiple of %d samples; choose a multiple of %lld",
                         batch, shards, shards, LANES, (long long)unit);
    if (l->options.shuffle && last < batch && last % unit != 0)
        return error_set(TARN_ERR_ARGUMENT,
                         "tarn_loader_open: the last batch has %d samples, no multiple of %lld "
                         "for %d %s; choose drop_last or pad_last",
                         last, (long long)unit, shards > 0 ? shards : l->world,
                         shards > 0 ? "virtual shards" : "replicas");
    return TARN_OK;
}

static tarn_status make_slots(struct tarn_loader *l)
{
    const size_t rows = (size_t)l->most;
    l->staging_x = malloc(rows * l->sample_bytes);
    l->staging_y = malloc(rows);
    l->order = malloc((size_t)l->cut.size * sizeof(*l->order));
    if (!l->staging_x || !l->staging_y || !l->order)
        return error_set(TARN_ERR_MEMORY, "tarn_loader_open: out of memory for batches of %zu",
                         rows);
    /* Besides those prepared ahead: one of the step being recorded, one of the step being computed. */
    const int wanted = l->options.prefetch + 2;
    while (l->slot_count < wanted) {
        struct slot *s = &l->slots[l->slot_count++];
        TRY(upload_new(l->r->context, rows * l->sample_bytes, &s->x));
        TRY(upload_new(l->r->context, rows, &s->y));
    }
    return TARN_OK;
}

/* Signals are for the program's own threads. */
static tarn_status start_thread(struct tarn_loader *l)
{
    sigset_t all, before;
    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    const int code = pthread_create(&l->thread, NULL, loader_main, l);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    l->started = code == 0;
    if (l->started)
        (void)!pthread_setname_np(l->thread, "tarn loader");
    return code == 0 ? TARN_OK
                     : error_set(TARN_ERR_MEMORY, "tarn_loader_open: cannot start a thread: %s",
                                 strerror(code));
}

/* Sets what follows from the options and the replica's place among its peers. */
static void divide(struct tarn_loader *l, const struct peers *peers)
{
    int32_t first, n;
    l->cut = (struct sampler_cut){ .size = tarn_dataset_size(l->data),
                                   .batch = l->options.batch,
                                   .drop_last = l->options.drop_last,
                                   .pad_last = l->options.pad_last };
    l->rank = peers ? peers->rank : 0;
    l->world = peers ? peers->world : 1;
    l->length = sampler_length(&l->cut);
    l->most = sampler_most(&l->cut, l->rank, l->world);
    sampler_part(sampler_batch(&l->cut, (uint64_t)l->length - 1), l->rank, l->world, &first, &n);
    l->parts = (uint64_t)l->length - (n == 0);
}

tarn_loader *tarn_loader_open(tarn_replica *r, const tarn_dataset *d, tarn_loader_options options)
{
    if (!r) {
        (void)error_set(TARN_ERR_ARGUMENT, "tarn_loader_open: no replica");
        return NULL;
    }
    if (check_options(r, d, &options) != TARN_OK)
        return NULL;
    struct tarn_loader *l = calloc(1, sizeof(*l));
    if (!l) {
        (void)replica_fail(r, TARN_ERR_MEMORY, "tarn_loader_open: out of memory");
        return NULL;
    }
    l->r = r;
    l->data = d;
    l->options = options;
    l->sample = tarn_dataset_sample_shape(d);
    l->sample_bytes = (size_t)tarn_shape_count(l->sample);
    divide(l, r->peers);
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->changed, NULL);
    tarn_status status = check_parts(l, r->peers ? r->peers->shards : 0);
    /* A replica without a part in any batch has nothing to prepare. */
    if (status == TARN_OK && l->parts > 0)
        status = make_slots(l);
    if (status == TARN_OK && l->parts > 0)
        status = start_thread(l);
    if (status == TARN_OK)
        status = replica_register(r, destroy, l);
    if (status != TARN_OK) {
        (void)replica_fail(r, status, NULL);
        destroy(l);
        return NULL;
    }
    return l;
}

/* ---- the training loop's side --------------------------------------------------------------- */

/* Records the two leaves of a batch, and the normalisation as one multiplication and addition. */
static void record(struct tarn_loader *l, const struct slot *s, tarn_batch *out)
{
    tarn_shape shape = { .rank = l->sample.rank + 1, .dim = { s->n } };
    for (int i = 0; i < l->sample.rank; i++)
        shape.dim[i + 1] = l->sample.dim[i];
    const tarn_tensor x = graph_input(l->r, upload_buffer(s->x), s->x, false, shape, TARN_U8);
    const tarn_tensor y =
        graph_input(l->r, upload_buffer(s->y), s->y, false, tarn_shape_of(1, &s->n), TARN_U8);
    graph_mark_part(x, (struct graph_part){ s->n, s->global });
    graph_mark_part(y, (struct graph_part){ s->n, s->global });
    const double deviation = (double)l->options.deviation;
    out->x =
        tarn_add_scalar(tarn_mul_scalar(tarn_cast(x, TARN_F32), (float)(1 / (255 * deviation))),
                        (float)(-(double)l->options.mean / deviation));
    out->y = tarn_cast(y, TARN_I32);
    out->n = s->n;
    out->global = s->global;
}

/* Batches of earlier steps whose commands have ended go back to the thread, which never waits for the
 * device: it would look again and again, on a core that computes. */
static void take_back(struct tarn_loader *l)
{
    for (int i = 0; i < l->slot_count; i++) {
        struct slot *s = &l->slots[i];
        if (s->state == SLOT_HANDED && s->step != l->r->step && upload_is_idle(s->x) &&
            upload_is_idle(s->y)) {
            s->state = SLOT_FREE;
            pthread_cond_broadcast(&l->changed);
        }
    }
}

/* Waits for the device to be done with the oldest batch that it has. */
static tarn_status settle_oldest(struct tarn_loader *l)
{
    struct slot *oldest = NULL;
    for (int i = 0; i < l->slot_count; i++) {
        struct slot *s = &l->slots[i];
        if (s->state == SLOT_HANDED && s->step != l->r->step &&
            (!oldest || s->ticket < oldest->ticket))
            oldest = s;
    }
    if (!oldest)
        return TARN_OK;
    TRY(upload_settle(oldest->x));
    return upload_settle(oldest->y);
}

/* Waits until the thread has something for the replica. */
static tarn_status await_thread(struct tarn_loader *l)
{
    if (l->status != TARN_OK)
        return error_set(l->status, "loader: %s", l->error);
    if (l->stop)
        return error_set(TARN_ERR_STATE, "tarn_loader_next: the loader is closed");
    if (slot_in(l, SLOT_FREE) == NULL)
        return settle_oldest(l);
    pthread_cond_wait(&l->changed, &l->lock);
    return TARN_OK;
}

/* The next batch's slot, or NULL with the replica's error set. */
static struct slot *await_batch(struct tarn_loader *l)
{
    int handed = 0;
    for (int i = 0; i < l->slot_count; i++)
        handed += l->slots[i].state == SLOT_HANDED && l->slots[i].step == l->r->step;
    tarn_status status = TARN_OK;
    if (handed > l->options.prefetch)
        status = error_set(TARN_ERR_STATE,
                           "tarn_loader_next: all %d batches of the loader are in one step; "
                           "call tarn_step, or raise prefetch to as many as a step needs",
                           handed);
    while (status == TARN_OK) {
        take_back(l);
        struct slot *s = slot_in(l, SLOT_READY);
        if (s)
            return s;
        status = await_thread(l);
    }
    (void)replica_fail(l->r, status, NULL);
    return NULL;
}

bool tarn_loader_next(tarn_loader *l, tarn_batch *out)
{
    if (out)
        memset(out, 0, sizeof(*out));
    if (!l || !out || l->r->status != TARN_OK) {
        if (l && !out)
            (void)replica_fail(l->r, TARN_ERR_ARGUMENT, "tarn_loader_next: nowhere to put a batch");
        return false;
    }
    if (l->next.batch >= l->parts) {
        l->next = (struct place){ .epoch = l->next.epoch + 1, .batch = 0 };
        return false;
    }
    pthread_mutex_lock(&l->lock);
    struct slot *s = await_batch(l);
    if (s) {
        s->state = SLOT_HANDED;
        s->step = l->r->step;
        l->next_ticket++;
    }
    pthread_mutex_unlock(&l->lock);
    if (!s)
        return false;
    record(l, s, out);
    l->next.batch++;
    return !tarn_failed(out->x) && !tarn_failed(out->y);
}

void tarn_loader_seek(tarn_loader *l, uint64_t epoch, uint64_t batches)
{
    if (!l)
        return;
    if (batches > (uint64_t)l->length) {
        (void)replica_fail(l->r, TARN_ERR_ARGUMENT,
                           "tarn_loader_seek: %llu batches, but an epoch has %d; are batch size "
                           "and data those of the first run?",
                           (unsigned long long)batches, l->length);
        return;
    }
    pthread_mutex_lock(&l->lock);
    for (int i = 0; i < l->slot_count; i++) {
        if (l->slots[i].state == SLOT_READY)
            l->slots[i].state = SLOT_FREE;
    }
    l->next = l->ahead = (struct place){ .epoch = epoch, .batch = batches };
    l->next_ticket = l->ahead_ticket = 0;
    l->seeks++;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
}

uint64_t tarn_loader_epoch(const tarn_loader *l)
{
    return l ? l->next.epoch : 0;
}

int tarn_loader_length(const tarn_loader *l)
{
    return l ? l->length : 0;
}
