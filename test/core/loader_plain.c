/* SPDX-License-Identifier: Apache-2.0 */
/* Loaders with threads, and functions that fail, are late or never return: for ThreadSanitizer and
 * LeakSanitizer, which cannot look into Criterion's processes. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tarn_dist.h"

enum { SIZE = 40, BATCH = 8, EPOCHS = 2 };

static int failures;

static void check(int good, const char *what, const char *line)
{
    if (good)
        return;
    fprintf(stderr, "loader_plain: %s: %s\n", what, line);
    failures++;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- a function that does what it is told --------------------------------------------------- */

struct script {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int32_t fails[2], odd, hangs; /* samples; -1: none */
    bool open;                    /* lets those go that hang */
    bool ordered;                 /* the second that fails does so after the first */
    bool failed;                  /* the first one has */
    int hanging, returned;
};

#define SCRIPT \
    { \
        .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, \
        .fails = { -1, -1 }, .odd = -1, .hangs = -1 \
    }

static void hang(struct script *s)
{
    pthread_mutex_lock(&s->lock);
    s->hanging++;
    pthread_cond_broadcast(&s->changed);
    while (!s->open)
        pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

static int get(void *user, int32_t index, const tarn_sample *out)
{
    struct script *s = user;
    int32_t *value = out->inputs[0], *label = out->targets[0];
    pthread_mutex_lock(&s->lock);
    const bool fails = index == s->fails[0] || index == s->fails[1];
    const bool hangs = index == s->hangs;
    *label = index == s->odd ? 99 : index % 10;
    s->failed = s->failed || (fails && index == s->fails[0]);
    while (s->ordered && fails && !s->failed)
        pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
    if (hangs)
        hang(s);
    for (int i = 0; i < 3; i++)
        value[i] = 3 * index + i;
    pthread_mutex_lock(&s->lock);
    s->returned += hangs;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return fails ? 5 : 0;
}

static void let_go(struct script *s)
{
    pthread_mutex_lock(&s->lock);
    s->open = true;
    pthread_cond_broadcast(&s->changed);
    while (s->returned < s->hanging)
        pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

static void await_hanging(struct script *s)
{
    pthread_mutex_lock(&s->lock);
    while (s->hanging == 0)
        pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

static tarn_dataset *scripted(struct script *s)
{
    return tarn_dataset_call(
        (tarn_arrays){
            .inputs = { { .dtype = TARN_I32, .shape = TARN_SHAPE(SIZE, 3) } },
            .targets = { { .dtype = TARN_I32, .shape = TARN_SHAPE(SIZE), .classes = 10 } } },
        get, s);
}

/* ---- the same batches with any number of threads -------------------------------------------- */

static int32_t numbers[SIZE][3], labels[SIZE];

static void collect(tarn_replica *r, tarn_loader *l, int32_t seen[EPOCHS][SIZE])
{
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        int32_t at = 0, x[BATCH][3], y[BATCH];
        for (tarn_batch b; tarn_loader_next(l, &b); at += b.n) {
            check(tarn_read(b.x, x, (size_t)b.n * sizeof x[0]) == TARN_OK &&
                      tarn_read(b.y, y, (size_t)b.n * sizeof y[0]) == TARN_OK,
                  "read", tarn_error(r));
            for (int i = 0; i < b.n; i++) {
                seen[epoch][at + i] = x[i][0] / 3;
                check(x[i][2] == x[i][0] + 2 && y[i] == x[i][0] / 3 % 10, "a sample",
                      "is mixed up");
            }
            check(tarn_step(r) == TARN_OK, "step", tarn_error(r));
        }
        check(tarn_loader_status(l) == TARN_OK && at == SIZE, "an epoch", tarn_error(r));
    }
}

static void same_with_threads(tarn_replica *r)
{
    static int32_t first[EPOCHS][SIZE], seen[EPOCHS][SIZE];
    struct script s = SCRIPT;
    for (int i = 0; i < SIZE; i++) {
        labels[i] = i % 10;
        for (int k = 0; k < 3; k++)
            numbers[i][k] = 3 * i + k;
    }
    tarn_dataset *sets[2] = {
        tarn_dataset_from((tarn_arrays){
            .inputs = { { .data = numbers, .dtype = TARN_I32, .shape = TARN_SHAPE(SIZE, 3) } },
            .targets = { { .data = labels, .dtype = TARN_I32, .shape = TARN_SHAPE(SIZE) } } }),
        scripted(&s)
    };
    for (int turn = 0; turn < 6; turn++) {
        tarn_loader *l = tarn_loader_open(
            r, sets[turn % 2],
            (tarn_loader_options){
                .batch = BATCH, .shuffle = true, .seed = 3, .threads = 1 + turn / 2 * 2 });
        check(l != NULL, "open", tarn_error(r));
        for (int i = 0; i < turn; i++) { /* forget what has been begun */
            tarn_batch b;
            tarn_loader_seek(l, 5, (uint64_t)i);
            if (i % 2)
                (void)tarn_loader_next(l, &b);
        }
        tarn_loader_seek(l, 0, 0);
        collect(r, l, turn == 0 ? first : seen);
        check(turn == 0 || memcmp(first, seen, sizeof seen) == 0, "threads", "give other batches");
        tarn_loader_close(l);
    }
    tarn_dataset_close(sets[0]);
    tarn_dataset_close(sets[1]);
}

/* ---- failures ------------------------------------------------------------------------------- */

/* Batches before the one that fails come; the error names the first sample, and the batch comes
 * when the function has been mended. */
static void names_what_fails(tarn_replica *r, int threads, tarn_status code, const char *line,
                             struct script *s)
{
    tarn_dataset *d = scripted(s);
    tarn_loader *l =
        tarn_loader_open(r, d, (tarn_loader_options){ .batch = BATCH, .threads = threads });
    tarn_batch b;
    for (int i = 0; i < 2; i++) {
        check(tarn_loader_next(l, &b), "batches before", tarn_error(r));
        (void)!tarn_step(r);
    }
    check(!tarn_loader_next(l, &b), "a failure", "was not seen");
    check(tarn_loader_status(l) == code && strstr(tarn_error(r), line) != NULL, line,
          tarn_error(r));
    check(!tarn_loader_next(l, &b) && tarn_loader_status(l) == code, "it", "does not stick");
    pthread_mutex_lock(&s->lock);
    s->fails[0] = s->fails[1] = s->odd = -1;
    pthread_mutex_unlock(&s->lock);
    tarn_error_clear(r);
    int more = 0;
    for (; tarn_loader_next(l, &b); more++)
        (void)!tarn_step(r);
    check(more == SIZE / BATCH - 2 && tarn_loader_status(l) == TARN_OK, "the rest", tarn_error(r));
    tarn_loader_close(l);
    tarn_dataset_close(d);
}

static void failures_have_names(tarn_replica *r)
{
    for (int threads = 1; threads <= 3; threads++) {
        struct script s = SCRIPT, odd = SCRIPT;
        s.fails[0] = 21;
        s.fails[1] = 17;
        s.ordered = threads > 1;
        odd.odd = 19;
        names_what_fails(r, threads, TARN_ERR_IO,
                         "sample 17: the data set's function failed with 5", &s);
        names_what_fails(r, threads, TARN_ERR_FORMAT,
                         "sample 19: the function gave targets[0] the value 99", &odd);
    }
}

/* ---- functions that do not return ----------------------------------------------------------- */

enum { ASKED, UNASKED, REPLICA_ONLY, WAYS };

static void gives_up(int threads, int way)
{
    struct script s = SCRIPT;
    s.hangs = way == ASKED ? 12 : 0;
    setenv("TARN_TIMEOUT", "1", 1);
    tarn_replica *r = tarn_open(NULL);
    tarn_dataset *d = scripted(&s);
    tarn_loader *l = tarn_loader_open(
        r, d, (tarn_loader_options){ .batch = BATCH, .threads = threads, .prefetch = 1 });
    tarn_batch b;
    check(r != NULL && l != NULL, "open", tarn_error(r));
    const double start = now();
    if (way == ASKED) {
        check(tarn_loader_next(l, &b), "the batch before", tarn_error(r));
        check(!tarn_loader_next(l, &b), "a function that hangs", "was not seen");
        check(tarn_loader_status(l) == TARN_ERR_TIMEOUT &&
                  strstr(tarn_error(r), "sample 12: the data set's function has not returned") !=
                      NULL,
              "hangs", tarn_error(r));
        check(now() - start >= 0.9, "hangs", "given up too early");
    }
    await_hanging(&s);
    if (way != REPLICA_ONLY)
        tarn_loader_close(l);
    tarn_close(r);
    tarn_dataset_close(d);
    check(now() - start < 20, "closing", "waits for ever");
    let_go(&s); /* it writes to its sample now */
    unsetenv("TARN_TIMEOUT");
}

/* ---- launches ------------------------------------------------------------------------------- */

struct shared {
    tarn_dataset *data;
    int32_t sum[2];
};

static tarn_status add_up(tarn_replica *r, void *arg)
{
    struct shared *s = arg;
    tarn_loader *l =
        tarn_loader_open(r, s->data, (tarn_loader_options){ .batch = BATCH, .threads = 2 });
    for (tarn_batch b; tarn_loader_next(l, &b);) {
        int32_t x[BATCH][3];
        if (tarn_read(b.x, x, (size_t)b.n * sizeof x[0]) != TARN_OK || b.n > BATCH)
            return tarn_error_status(r);
        for (int i = 0; i < b.n; i++)
            s->sum[tarn_rank(r)] += x[i][0];
        if (tarn_step(r) != TARN_OK)
            break;
    }
    return tarn_loader_status(l);
}

static void launches(void)
{
    struct shared s = { .data = tarn_dataset_repeat(
                            (tarn_arrays){ .inputs = { { .data = numbers,
                                                         .dtype = TARN_I32,
                                                         .shape = TARN_SHAPE(BATCH, 3) } } },
                            5) };
    check(tarn_launch(add_up, &s, (tarn_launch_options){ .devices = "0,0" }) == TARN_OK, "repeat",
          tarn_error(NULL));
    /* 5 times 0 + 3 + 6 + 9, and 12 + 15 + 18 + 21. */
    check(s.sum[0] == 5 * 18 && s.sum[1] == 5 * 66, "repeat", "other samples");
    tarn_dataset_close(s.data);

    struct script hangs = SCRIPT;
    hangs.hangs = 3;
    s.data = scripted(&hangs);
    const double start = now();
    check(tarn_launch(add_up, &s, (tarn_launch_options){ .devices = "0,0", .timeout = 2 }) ==
              TARN_ERR_TIMEOUT,
          "a launch", "goes on without a sample");
    check(strstr(tarn_error(NULL), "sample 3") != NULL, "a launch", tarn_error(NULL));
    check(now() - start < 30, "a launch", "waits for ever");
    let_go(&hangs);
    tarn_dataset_close(s.data);
}

int main(void)
{
    tarn_replica *r = tarn_open(NULL);
    check(r != NULL, "open", tarn_error(NULL));
    same_with_threads(r);
    failures_have_names(r);
    tarn_close(r);
    for (int way = 0; way < WAYS; way++)
        for (int threads = 1; threads <= 2; threads++)
            gives_up(threads, way);
    launches();
    if (failures == 0)
        puts("loader_plain: ok");
    return failures != 0;
}
