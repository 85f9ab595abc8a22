/* SPDX-License-Identifier: Apache-2.0 */
/* A ring of records for each rank, under a lock of its own that only a reader ever contends for. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lock.h"
#include "recorder.h"

enum { RECORDS = 1024 };

struct record {
    uint64_t number, step;
    size_t count;
    const char *label;
    enum collective_kind kind;
    double at[MOMENTS]; /* seconds; negative: did not happen */
};

struct log {
    pthread_mutex_t lock;
    uint64_t last; /* number of the newest record, 0 for none */
    struct record ring[RECORDS];
};

struct recorder {
    int world;
    struct timespec began;
    struct log log[];
};

const char *collective_name(enum collective_kind kind)
{
    switch (kind) {
    case COLLECTIVE_ALL_REDUCE:
        return "all_reduce";
    case COLLECTIVE_REDUCE_SCATTER:
        return "reduce_scatter";
    case COLLECTIVE_ALL_GATHER:
        return "all_gather";
    case COLLECTIVE_BROADCAST:
        return "broadcast";
    case COLLECTIVE_ALL_TO_ALL:
        return "all_to_all";
    case COLLECTIVE_PASS:
        return "pass";
    case COLLECTIVE_BARRIER:
        return "barrier";
    }
    return "unknown";
}

tarn_status recorder_new(int world, struct recorder **out)
{
    struct recorder *r = calloc(1, sizeof *r + (size_t)world * sizeof *r->log);
    if (r == NULL)
        return error_set(TARN_ERR_MEMORY, "no memory for the records of %d ranks", world);
    clock_gettime(CLOCK_MONOTONIC, &r->began);
    for (; r->world < world; r->world++) {
        const tarn_status status = lock_make(&r->log[r->world].lock, "launch");
        if (status != TARN_OK) {
            recorder_free(r);
            return status;
        }
    }
    *out = r;
    return TARN_OK;
}

void recorder_free(struct recorder *r)
{
    for (int i = 0; r != NULL && i < r->world; i++)
        pthread_mutex_destroy(&r->log[i].lock);
    free(r);
}

static double since(const struct timespec *began)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)(t.tv_sec - began->tv_sec) + 1e-9 * (double)(t.tv_nsec - began->tv_nsec);
}

void recorder_begin(struct recorder *r, int rank, uint64_t number, const struct collective *c)
{
    struct log *l = &r->log[rank];
    const struct record record = { .number = number,
                                   .step = c->step,
                                   .count = c->count,
                                   .label = c->label,
                                   .kind = c->kind,
                                   .at = { since(&r->began), -1, -1 } };
    pthread_mutex_lock(&l->lock);
    l->ring[number % RECORDS] = record;
    l->last = number;
    pthread_mutex_unlock(&l->lock);
}

void recorder_mark(struct recorder *r, int rank, enum moment moment)
{
    struct log *l = &r->log[rank];
    const double now = since(&r->began);
    pthread_mutex_lock(&l->lock);
    l->ring[l->last % RECORDS].at[moment] = now;
    pthread_mutex_unlock(&l->lock);
}

/* ---- reading -------------------------------------------------------------------------------- */

/* False when a newer one took its place. */
static bool fetch(struct log *l, uint64_t number, struct record *out)
{
    pthread_mutex_lock(&l->lock);
    *out = l->ring[number % RECORDS];
    pthread_mutex_unlock(&l->lock);
    return out->number == number;
}

/* `text` as the inside of a JSON string, cut where `out` ends. */
static void escape(const char *text, char *out, size_t capacity)
{
    size_t n = 0;
    for (const char *p = text != NULL ? text : ""; *p && n + 7 < capacity; p++) {
        const unsigned char c = (unsigned char)*p;
        if (c == '"' || c == '\\') {
            out[n++] = '\\';
            out[n++] = *p;
        } else if (c < 0x20) {
            n += (size_t)snprintf(out + n, 7, "\\u%04x", c);
        } else {
            out[n++] = *p;
        }
    }
    out[n] = '\0';
}

static void write_record(int rank, const struct record *record,
                         void (*line)(void *user, const char *text), void *user)
{
    char label[200], at[MOMENTS][32], text[600];
    escape(record->label, label, sizeof label);
    for (int i = 0; i < MOMENTS; i++) {
        if (record->at[i] < 0)
            snprintf(at[i], sizeof at[i], "null");
        else
            snprintf(at[i], sizeof at[i], "%.9f", record->at[i]);
    }
    snprintf(text, sizeof text,
             "{\"rank\": %d, \"sequence\": %" PRIu64 ", \"kind\": \"%s\", \"label\": \"%s\", "
             "\"count\": %zu, \"step\": %" PRIu64 ", \"arrival\": %s, \"start\": %s, \"end\": %s}",
             rank, record->number, collective_name(record->kind), label, record->count,
             record->step, at[MOMENT_ARRIVAL], at[MOMENT_START], at[MOMENT_END]);
    line(user, text);
}

void recorder_write(struct recorder *r, int first, int most,
                    void (*line)(void *user, const char *text), void *user)
{
    const uint64_t wanted = most < 0 ? 0 : most > RECORDS ? RECORDS : (uint64_t)most;
    for (int rank = 0; rank < r->world; rank++) {
        struct log *l = &r->log[rank];
        pthread_mutex_lock(&l->lock);
        const uint64_t last = l->last;
        pthread_mutex_unlock(&l->lock);
        struct record record;
        for (uint64_t n = last > wanted ? last - wanted + 1 : 1; n <= last && wanted; n++)
            if (fetch(l, n, &record))
                write_record(first + rank, &record, line, user);
    }
}
