/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that kernels and the host use in turn, by each of its ways: on one context with kernels in
 * between, and on two contexts in two threads that read and write each other's while a third one
 * uploads. Prints how long the handing over takes. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend.h"

#define LOCAL 64
#define WORLD 2
#define ROUNDS 20
#define COUNT 22000 /* elements: 88 KB */

static int failures;
static pthread_mutex_t failure_lock = PTHREAD_MUTEX_INITIALIZER;

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, error_text()); \
            pthread_mutex_lock(&failure_lock); \
            ++failures; \
            pthread_mutex_unlock(&failure_lock); \
        } \
    } while (0)

static const char source[] =
    "__kernel void set(__global int *x, int by, uint n)\n"
    "{\n"
    "    const uint i = get_global_id(0);\n"
    "    if (i < n)\n"
    "        x[i] = (int)i * by;\n"
    "}\n"
    "__kernel void twice(__global int *to, __global const int *from, uint n)\n"
    "{\n"
    "    const uint i = get_global_id(0);\n"
    "    if (i < n)\n"
    "        to[i] = 2 * from[i];\n"
    "}\n"
    "__kernel void spin(__global uint *x, uint times)\n"
    "{\n"
    "    uint y = x[get_global_id(0)];\n"
    "    for (uint i = 0; i < times; i++)\n"
    "        y = y * 1664525u + 1013904223u;\n"
    "    x[get_global_id(0)] = y;\n"
    "}\n";

/* A context with the kernels and the memory that they use. */
struct rig {
    struct context *context;
    struct built_program *program;
    struct kernel *set, *twice, *spin;
    struct shared *shared;
    struct buffer *out, *other;
    int *got;
    size_t count;
};

static const char *const names[] = { "best", "direct", "mapped", "copied" };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool open_rig(struct rig *r, const struct device *d, size_t count, enum shared_way way)
{
    const size_t bytes = count * sizeof(int);
    *r = (struct rig){ .count = count, .got = malloc(bytes) };
    const bool good = r->got != NULL && context_open(d, &r->context) == TARN_OK &&
                      program_build(r->context, source, "shared", &r->program) == TARN_OK &&
                      kernel_new(r->program, "set", &r->set) == TARN_OK &&
                      kernel_new(r->program, "twice", &r->twice) == TARN_OK &&
                      kernel_new(r->program, "spin", &r->spin) == TARN_OK &&
                      shared_new_by(r->context, bytes, way, &r->shared) == TARN_OK &&
                      buffer_new(r->context, bytes, &r->out) == TARN_OK &&
                      buffer_new(r->context, 4 * LOCAL * sizeof(int), &r->other) == TARN_OK &&
                      buffer_fill_zero(r->other, 0, 4 * LOCAL * sizeof(int)) == TARN_OK;
    CHECK(good);
    return good;
}

static void close_rig(struct rig *r)
{
    shared_free(r->shared);
    buffer_free(r->out);
    buffer_free(r->other);
    kernel_free(r->set);
    kernel_free(r->twice);
    kernel_free(r->spin);
    program_free(r->program);
    if (r->context != NULL)
        CHECK(buffer_statistics(r->context).live == 0);
    context_close(r->context);
    free(r->got);
}

static tarn_status set(struct rig *r, int by)
{
    const struct kernel_arg args[] = { { .buffer = shared_buffer(r->shared) },
                                       { .size = sizeof by, .value.i32 = by },
                                       { .size = sizeof(uint32_t),
                                         .value.u32 = (uint32_t)r->count } };
    return kernel_launch(r->set, args, 3, (r->count + LOCAL - 1) / LOCAL, LOCAL);
}

static tarn_status spin(struct rig *r, uint32_t times)
{
    const struct kernel_arg args[] = { { .buffer = r->other },
                                       { .size = sizeof times, .value.u32 = times } };
    return kernel_launch(r->spin, args, 2, 4, LOCAL);
}

static tarn_status twice_of(struct rig *r, struct buffer *from)
{
    const struct kernel_arg args[] = { { .buffer = r->out },
                                       { .buffer = from },
                                       { .size = sizeof(uint32_t),
                                         .value.u32 = (uint32_t)r->count } };
    return kernel_launch(r->twice, args, 3, (r->count + LOCAL - 1) / LOCAL, LOCAL);
}

static tarn_status twice(struct rig *r)
{
    return twice_of(r, shared_buffer(r->shared));
}

static void check_out(struct rig *r, int factor, int plus)
{
    CHECK(buffer_read(r->out, 0, r->got, r->count * sizeof(int)) == TARN_OK);
    size_t wrong = 0;
    for (size_t i = 0; i < r->count; i++)
        wrong += r->got[i] != (int)i * factor + plus;
    CHECK(wrong == 0);
}

/* ---- one context ---------------------------------------------------------------------------- */

static void one_round(struct rig *r, int by)
{
    queue_mark after = 0;
    void *host, *second;
    CHECK(set(r, by) == TARN_OK && context_mark(r->context, &after) == TARN_OK);
    CHECK(spin(r, 1000) == TARN_OK);
    if (by == 1)
        CHECK(shared_end(r->shared, true) == TARN_ERR_INTERNAL); /* not begun */
    CHECK(shared_begin(r->shared, after, true, &host) == TARN_OK);
    if (host == NULL)
        return;
    CHECK(shared_begin(r->shared, after, true, &second) == TARN_ERR_INTERNAL && second == NULL);
    CHECK(spin(r, 1000) == TARN_OK);
    int *x = host;
    size_t wrong = 0;
    for (size_t i = 0; i < r->count; i++) {
        wrong += x[i] != (int)i * by;
        x[i] += 5;
    }
    CHECK(wrong == 0);
    CHECK(shared_end(r->shared, true) == TARN_OK);
    CHECK(twice(r) == TARN_OK && spin(r, 10) == TARN_OK);
    check_out(r, 2 * by, 10);
}

/* The host only writes, and only reads. */
static void check_one_way(struct rig *r)
{
    void *host;
    CHECK(shared_begin(r->shared, 0, false, &host) == TARN_OK);
    for (size_t i = 0; host != NULL && i < r->count; i++)
        ((int *)host)[i] = (int)i * 7;
    CHECK(shared_end(r->shared, true) == TARN_OK && twice(r) == TARN_OK);
    /* At once again: the first writing may still be on its way. */
    CHECK(shared_begin(r->shared, UINT64_MAX, false, &host) == TARN_OK);
    for (size_t i = 0; host != NULL && i < r->count; i++)
        ((int *)host)[i] = (int)i * 9;
    CHECK(shared_end(r->shared, true) == TARN_OK);
    check_out(r, 14, 0);
    CHECK(shared_begin(r->shared, 0, true, &host) == TARN_OK);
    CHECK(host != NULL && ((int *)host)[r->count - 1] == (int)(r->count - 1) * 9);
    CHECK(shared_end(r->shared, false) == TARN_OK && twice(r) == TARN_OK);
    check_out(r, 18, 0);
}

/* ---- contents while commands are in flight -------------------------------------------------- */

/* What was given back while commands read it is not written to before they ended. */
static void check_contents(const struct device *d)
{
    struct rig r;
    if (!open_rig(&r, d, COUNT, SHARED_BEST))
        return;
    const size_t bytes = r.count * sizeof(int);
    for (int round = 1; round <= ROUNDS; round++) {
        struct buffer *first = NULL, *second = NULL;
        for (size_t i = 0; i < r.count; i++)
            r.got[i] = (int)i * round;
        CHECK(buffer_new_of(r.context, bytes, r.got, &first) == TARN_OK);
        CHECK(spin(&r, 1000000) == TARN_OK && twice_of(&r, first) == TARN_OK);
        CHECK(context_flush(r.context) == TARN_OK);
        buffer_free(first);
        memset(r.got, 0xab, bytes);
        CHECK(buffer_new_of(r.context, bytes, r.got, &second) == TARN_OK);
        check_out(&r, 2 * round, 0);
        CHECK(buffer_read(second, 0, r.got, bytes) == TARN_OK);
        CHECK(r.got[0] == (int)0xabababab && r.got[r.count - 1] == (int)0xabababab);
        buffer_free(second);
    }
    close_rig(&r);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const struct device *d, size_t count, enum shared_way way)
{
    struct rig r;
    double begin[ROUNDS], end[ROUNDS], busy[ROUNDS];
    if (!open_rig(&r, d, count, way))
        return;
    for (int i = 0; i < 2 * ROUNDS; i++) {
        const bool with_work = i >= ROUNDS;
        queue_mark after = 0;
        void *host;
        CHECK(set(&r, i) == TARN_OK && context_mark(r.context, &after) == TARN_OK);
        CHECK(context_finish(r.context) == TARN_OK);
        if (with_work)
            CHECK(spin(&r, 20000) == TARN_OK && context_flush(r.context) == TARN_OK);
        const double a = now();
        CHECK(shared_begin(r.shared, after, true, &host) == TARN_OK);
        const double b = now();
        CHECK(shared_end(r.shared, true) == TARN_OK);
        CHECK(context_finish(r.context) == TARN_OK);
        if (with_work) {
            busy[i - ROUNDS] = b - a;
            continue;
        }
        begin[i] = b - a;
        end[i] = now() - b;
    }
    qsort(begin, ROUNDS, sizeof *begin, by_size);
    qsort(end, ROUNDS, sizeof *end, by_size);
    qsort(busy, ROUNDS, sizeof *busy, by_size);
    printf("%8zu bytes %s: begin %.0f us, end until the device may go on %.0f us, begin while a "
           "later kernel runs %.0f us\n",
           count * sizeof(int), names[way], begin[ROUNDS / 2] * 1e6, end[ROUNDS / 2] * 1e6,
           busy[ROUNDS / 2] * 1e6);
    close_rig(&r);
}

/* ---- two contexts, two threads, each with a loader ------------------------------------------ */

struct member {
    struct rig rig;
    struct device device;
    enum shared_way way;
    int rank;
    int *host; /* between begin and end */
    struct upload *upload;
    pthread_t thread, loader;
};
static struct member members[WORLD];
static pthread_barrier_t meeting;

static void *load(void *arg)
{
    struct member *m = arg;
    int data[256];
    for (int i = 0; i < 256; i++)
        data[i] = i;
    for (int i = 0; i < ROUNDS; i++)
        CHECK(upload_put(m->upload, data, sizeof data) == TARN_OK);
    return NULL;
}

/* Adds up one half for everybody, as an all-reduce does. */
static void add_half(int rank)
{
    const size_t half = COUNT / WORLD;
    for (size_t i = (size_t)rank * half; i < (size_t)(rank + 1) * half; i++) {
        int sum = 0;
        for (int j = 0; j < WORLD; j++)
            sum += members[j].host[i];
        for (int j = 0; j < WORLD; j++)
            members[j].host[i] = sum;
    }
}

static void *run_member(void *arg)
{
    struct member *m = arg;
    struct rig *r = &m->rig;
    const bool open = open_rig(r, &m->device, COUNT, m->way) &&
                      upload_new(r->context, 1024, &m->upload) == TARN_OK;
    CHECK(open);
    pthread_barrier_wait(&meeting);
    if (failures > 0)
        return NULL;
    CHECK(pthread_create(&m->loader, NULL, load, m) == 0);
    for (int round = 1; round <= ROUNDS; round++) {
        queue_mark after = 0;
        void *host;
        CHECK(set(r, round * (m->rank + 1)) == TARN_OK);
        CHECK(context_mark(r->context, &after) == TARN_OK && spin(r, 1000) == TARN_OK);
        CHECK(shared_begin(r->shared, after, true, &host) == TARN_OK);
        if (host == NULL)
            exit(1); /* the other one would wait for ever */
        m->host = host;
        pthread_barrier_wait(&meeting);
        add_half(m->rank);
        pthread_barrier_wait(&meeting);
        CHECK(shared_end(r->shared, true) == TARN_OK && twice(r) == TARN_OK);
        check_out(r, 2 * 3 * round, 0);
    }
    pthread_join(m->loader, NULL);
    upload_free(m->upload);
    close_rig(r);
    return NULL;
}

static void check_two(const struct device *d, enum shared_way way)
{
    pthread_barrier_init(&meeting, NULL, WORLD);
    for (int i = 0; i < WORLD; i++) {
        members[i] = (struct member){ .device = d[i], .way = way, .rank = i };
        CHECK(pthread_create(&members[i].thread, NULL, run_member, &members[i]) == 0);
    }
    for (int i = 0; i < WORLD; i++)
        pthread_join(members[i].thread, NULL);
    pthread_barrier_destroy(&meeting);
}

static void check_way(const struct device *whole, const struct device *pair, enum shared_way way)
{
    struct rig r;
    struct context *c;
    struct shared *s = NULL;
    CHECK(context_open(whole, &c) == TARN_OK);
    const tarn_status status = shared_new_by(c, 0, way, &s);
    shared_free(s);
    context_close(c);
    if (way == SHARED_DIRECT && status == TARN_ERR_ARGUMENT) {
        printf("no fine-grained buffers: %s\n", error_text());
        return;
    }
    CHECK(status == TARN_OK);
    if (open_rig(&r, whole, 1000, way))
        for (int round = 1; round <= ROUNDS; round++)
            one_round(&r, round);
    if (failures == 0)
        check_one_way(&r);
    close_rig(&r);
    measure(whole, COUNT, way);
    measure(whole, (size_t)4 << 20, way);
    check_two(pair, way);
}

int main(void)
{
    struct device whole, pair[WORLD];
    int count;
    if (device_select(NULL, &whole, 1, &count) != TARN_OK) {
        fprintf(stderr, "shared: %s\n", error_text());
        return 1;
    }
    /* Halves where there are any, else the same device twice. */
    if (device_select("cpu:0/2,cpu:1/2", pair, WORLD, &count) != TARN_OK)
        pair[0] = pair[1] = whole;
    for (int way = 0; way <= SHARED_COPIED; way++)
        check_way(&whole, pair, (enum shared_way)way);
    check_contents(&whole);
    printf("shared: %d failures\n", failures);
    return failures > 0;
}
