/* SPDX-License-Identifier: Apache-2.0 */
/* Every collective against a plain reference, and every way in which one can be refused or end. */
#include <criterion/criterion.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "communicator.h"

enum { MOST = 8 };

TestSuite(communicator, .timeout = 600);

/* ---- ranks on threads ----------------------------------------------------------------------- */

struct rank {
    struct communicator *communicator;
    int rank, world;
    void (*body)(struct rank *me);
    const void *arg;
    void *in, *out;
    tarn_status status;
    char line[1001];
};

static void *enter(void *argument)
{
    struct rank *me = argument;
    me->body(me);
    return NULL;
}

static void collect(struct rank *me, const struct collective *c)
{
    me->status = communicator_collect(me->communicator, me->rank, c);
    snprintf(me->line, sizeof me->line, "%s", me->status == TARN_OK ? "" : error_text());
}

/* Runs `body` on every rank of a communicator; the caller frees it. */
static struct communicator *launch(struct rank *ranks, int world, double timeout,
                                   void (*body)(struct rank *me), const void *arg)
{
    struct communicator *t;
    pthread_t threads[MOST];
    cr_assert_eq(communicator_new(world, timeout, 300, &t), TARN_OK);
    for (int i = 0; i < world; i++) {
        ranks[i].communicator = t;
        ranks[i].rank = i;
        ranks[i].world = world;
        ranks[i].body = body;
        ranks[i].arg = arg;
        cr_assert_eq(pthread_create(&threads[i], NULL, enter, &ranks[i]), 0);
    }
    for (int i = 0; i < world; i++)
        pthread_join(threads[i], NULL);
    return t;
}

static void barrier(struct rank *me)
{
    collect(me, &(struct collective){ .kind = COLLECTIVE_BARRIER, .label = "barrier" });
}

/* ---- a plain reference ---------------------------------------------------------------------- */

struct job {
    struct collective c;
    bool in_place;
};

static uint32_t bits_of(int rank, size_t i)
{
    uint32_t x = (uint32_t)i * 2654435761u + (uint32_t)rank * 40503u + 977u;
    x ^= x >> 15;
    x *= 2246822519u;
    return x ^ (x >> 13);
}

/* Element i of rank's input, as an int or a float of mixed magnitude. */
static int32_t int_in(int rank, size_t i)
{
    const uint32_t bits = bits_of(rank, i);
    int32_t value;
    memcpy(&value, &bits, 4);
    return value;
}

static float float_in(int rank, size_t i)
{
    const uint32_t bits = bits_of(rank, i);
    return ldexpf((float)(bits % 16777216) - 8388608.0f, (int)(bits >> 24) % 8 - 20);
}

static float sum_over(size_t i, int low, int high)
{
    int left = 1;
    if (high - low == 1)
        return float_in(low, i);
    while (left * 2 < high - low)
        left *= 2;
    const float a = sum_over(i, low, low + left);
    return a + sum_over(i, low + left, high);
}

static void reduced(const struct collective *c, int world, size_t i, void *out)
{
    float f = float_in(0, i);
    int32_t n = int_in(0, i);
    uint32_t sum = 0;
    for (int r = 0; r < world; r++) {
        const float g = float_in(r, i);
        const int32_t m = int_in(r, i);
        sum += (uint32_t)m;
        if (c->reduction == TARN_MAX ? g > f : g < f)
            f = g;
        if (c->reduction == TARN_MAX ? m > n : m < n)
            n = m;
    }
    if (c->reduction == TARN_SUM || c->reduction == TARN_MEAN) {
        f = sum_over(i, 0, world);
        f *= c->reduction == TARN_MEAN ? 1.0f / (float)world : 1.0f;
        memcpy(&n, &sum, 4);
    }
    memcpy(out, c->dtype == TARN_F32 ? (const void *)&f : (const void *)&n, 4);
}

static void element_in(const struct collective *c, int rank, size_t i, void *out)
{
    const float f = float_in(rank, i);
    const int32_t n = int_in(rank, i);
    const uint8_t b = (uint8_t)bits_of(rank, i);
    memcpy(out,
           c->dtype == TARN_F32   ? (const void *)&f
           : c->dtype == TARN_I32 ? (const void *)&n
                                  : (const void *)&b,
           tarn_dtype_bytes(c->dtype));
}

static size_t out_count(const struct collective *c, int world)
{
    const size_t n = (size_t)world;
    return c->kind == COLLECTIVE_ALL_GATHER       ? c->count * n
           : c->kind == COLLECTIVE_REDUCE_SCATTER ? c->count / n
                                                  : c->count;
}

static void expected(const struct collective *c, int world, int rank, size_t i, void *out)
{
    const size_t part = c->count / (size_t)world;
    if (c->kind == COLLECTIVE_ALL_REDUCE)
        reduced(c, world, i, out);
    else if (c->kind == COLLECTIVE_REDUCE_SCATTER)
        reduced(c, world, i + (size_t)rank * part, out);
    else if (c->kind == COLLECTIVE_ALL_GATHER)
        element_in(c, (int)(i / c->count), i % c->count, out);
    else if (c->kind == COLLECTIVE_BROADCAST)
        element_in(c, c->root, i, out);
    else
        element_in(c, (int)(i / part), i % part + (size_t)rank * part, out);
}

static void run_job(struct rank *me)
{
    const struct job *job = me->arg;
    struct collective c = job->c;
    const size_t bytes = tarn_dtype_bytes(c.dtype), outs = out_count(&c, me->world);
    char *in = malloc(c.count * bytes + 1), *out = job->in_place ? in : malloc(outs * bytes + 1);
    for (size_t i = 0; i < c.count; i++)
        element_in(&c, me->rank, i, in + i * bytes);
    c.in = in;
    c.out = out;
    collect(me, &c);
    int wrong = 0;
    for (size_t i = 0; i < outs; i++) {
        char want[4];
        expected(&c, me->world, me->rank, i, want);
        wrong += memcmp(want, out + i * bytes, bytes) != 0;
        element_in(&c, me->rank, i, want);
        wrong += !job->in_place && i < c.count && memcmp(want, in + i * bytes, bytes) != 0;
    }
    if (wrong && me->status == TARN_OK)
        snprintf(me->line, sizeof me->line, "%d elements are wrong", wrong);
    free(in);
    if (!job->in_place)
        free(out);
}

static void check_job(const struct job *job, int world)
{
    struct rank ranks[MOST] = { 0 };
    communicator_free(launch(ranks, world, 60, run_job, job));
    for (int i = 0; i < world; i++)
        cr_assert(ranks[i].status == TARN_OK && !*ranks[i].line,
                  "kind %d, dtype %d, reduction %d, %zu elements, rank %d of %d: %s",
                  (int)job->c.kind, (int)job->c.dtype, (int)job->c.reduction, job->c.count, i,
                  world, ranks[i].line);
}

static const int worlds[] = { 1, 2, 3, 4, 5, 8 };
static const size_t counts[] = { 0, 1, 3, 17, 1001, 9999 };
#define EACH_WORLD(world) \
    for (size_t w_ = 0; w_ < sizeof worlds / sizeof *worlds; w_++) \
        for (int world = worlds[w_], once_ = 1; once_; once_ = 0)
#define EACH_COUNT(count) \
    for (size_t k_ = 0; k_ < sizeof counts / sizeof *counts; k_++) \
        for (size_t count = counts[k_], more_ = 1; more_; more_ = 0)

static void check_reductions(enum collective_kind kind, int world, size_t count, bool in_place)
{
    for (int reduction = TARN_SUM; reduction <= TARN_MIN; reduction++)
        for (int dtype = TARN_F32; dtype <= TARN_I32; dtype++) {
            struct job job = { .c = { .kind = kind, .count = count, .label = "r", .step = 3 },
                               .in_place = in_place };
            job.c.reduction = (tarn_reduction)reduction;
            job.c.dtype = (tarn_dtype)dtype;
            if (reduction != TARN_MEAN || dtype == TARN_F32)
                check_job(&job, world);
        }
}

Test(communicator, all_reduce)
{
    EACH_WORLD(world) EACH_COUNT(count)
    {
        check_reductions(COLLECTIVE_ALL_REDUCE, world, count, false);
        check_reductions(COLLECTIVE_ALL_REDUCE, world, count, true);
    }
}

Test(communicator, reduce_scatter)
{
    EACH_WORLD(world)
    EACH_COUNT(count)
    check_reductions(COLLECTIVE_REDUCE_SCATTER, world, count * (size_t)world, false);
}

Test(communicator, movements)
{
    EACH_WORLD(world) EACH_COUNT(count) for (int dtype = TARN_F32; dtype <= TARN_U8; dtype++)
    {
        struct job job = { .c = { .dtype = (tarn_dtype)dtype, .label = "m", .count = count } };
        job.c.kind = COLLECTIVE_ALL_GATHER;
        check_job(&job, world);
        job.c.kind = COLLECTIVE_BROADCAST;
        job.c.root = world / 2;
        check_job(&job, world);
        job.in_place = true;
        check_job(&job, world);
        job.c.kind = COLLECTIVE_ALL_TO_ALL;
        job.c.root = 0;
        job.c.count = count * (size_t)world;
        check_job(&job, world);
        job.in_place = false;
        check_job(&job, world);
    }
}

/* ---- refusals ------------------------------------------------------------------------------- */

struct refusal {
    struct collective usual, odd; /* of rank 1 */
    tarn_status status;
    const char *word;
};

static void ask(struct rank *me)
{
    const struct refusal *job = me->arg;
    struct collective c = me->rank == 1 ? job->odd : job->usual;
    float in[40], out[400];
    for (int i = 0; i < 40; i++)
        in[i] = (float)(100 * me->rank + (i < 12 ? i : 0));
    memset(out, 0x5a, sizeof out);
    c.in = c.in != NULL ? c.in == c.out ? out : in : NULL;
    c.out = out;
    for (int i = 12; c.checksum && i < 40; i++)
        in[i] = 7;
    collect(me, &c);
    const struct rank refused = *me;
    for (size_t i = 0; i < sizeof out; i++)
        if (((unsigned char *)out)[i] != 0x5a)
            snprintf(me->line, sizeof me->line, "out was written");
    barrier(me);
    if (me->status == TARN_OK) {
        me->status = refused.status;
        snprintf(me->line, sizeof me->line, "%s", refused.line);
    }
}

static char something;

static struct collective usual(void)
{
    return (struct collective){ .kind = COLLECTIVE_ALL_REDUCE,
                                .count = 12,
                                .checksum = 2,
                                .step = 9,
                                .label = "gradients",
                                .in = &something };
}

static void check_refused(const struct refusal *job)
{
    struct rank ranks[MOST] = { 0 };
    communicator_free(launch(ranks, 3, 60, ask, job));
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(ranks[i].status, job->status, "%s: %s", job->word, ranks[i].line);
        cr_assert_str_eq(ranks[i].line, ranks[0].line);
        cr_assert(strstr(ranks[i].line, job->word), "no \"%s\" in: %s", job->word, ranks[i].line);
    }
}

Test(communicator, whatever_differs_is_refused_on_all_ranks)
{
    struct refusal jobs[11];
    for (int i = 0; i < 11; i++)
        jobs[i] = (struct refusal){ .usual = usual(), .odd = usual(), .status = TARN_ERR_DISAGREE };
    jobs[0].odd.kind = COLLECTIVE_BROADCAST, jobs[0].word = "the kind differs";
    jobs[1].odd.dtype = TARN_I32, jobs[1].word = "the element type differs";
    jobs[2].odd.reduction = TARN_MEAN, jobs[2].word = "the reduction differs";
    jobs[3].odd.count = 11, jobs[3].word = "the count differs";
    jobs[4].odd.checksum = 1, jobs[4].word = "the checksum differs";
    jobs[5].odd.root = 1, jobs[5].word = "the root differs";
    jobs[6].odd.step = 10, jobs[6].word = "the step differs";
    jobs[7].odd.label = "others", jobs[7].word = "the label differs";
    jobs[8].odd.shape = (tarn_shape){ .rank = 1, .dim = { 12 } },
    jobs[8].word = "the shape differs";
    jobs[9].usual.origin = 1, jobs[9].odd.origin = 2, jobs[9].word = "computation of the operand";
    jobs[10].odd.order = 1, jobs[10].word = "the order in which operands were recorded differs";
    for (int i = 0; i < 11; i++)
        check_refused(&jobs[i]);
}

static void check_argument(struct collective c, bool one_rank, const char *word)
{
    c.label = "bad";
    struct refusal job = { .usual = c, .odd = c, .status = TARN_ERR_ARGUMENT, .word = word };
    if (one_rank)
        job.usual.in = &something, job.usual.out = NULL;
    check_refused(&job);
}

Test(communicator, what_cannot_be_done_is_refused_on_all_ranks)
{
    const struct collective base = { .count = 12, .in = &something };
    struct collective c = base;
    c.kind = COLLECTIVE_REDUCE_SCATTER;
    c.count = 13;
    check_argument(c, false, "must divide the count");
    c.kind = COLLECTIVE_ALL_TO_ALL;
    check_argument(c, false, "must divide the count");
    c = base;
    c.dtype = TARN_U8;
    check_argument(c, false, "reductions take float32");
    c.dtype = TARN_I32;
    c.reduction = TARN_MEAN;
    check_argument(c, false, "unless it is a mean");
    c = base;
    c.kind = COLLECTIVE_BROADCAST;
    c.root = 3;
    check_argument(c, false, "the root is no rank");
    c.root = 0;
    c.checksum = 1;
    check_argument(c, false, "checksum");
    c = base;
    c.count = SIZE_MAX / 5;
    check_argument(c, false, "more elements than memory has");
    c = base;
    c.in = NULL;
    check_argument(c, true, "no memory was given");
    c.kind = COLLECTIVE_ALL_GATHER;
    c.in = c.out = &something;
    check_argument(c, true, "overlap");
    struct communicator *t;
    cr_assert_eq(communicator_new(0, 1, 300, &t), TARN_ERR_ARGUMENT);
    cr_assert_eq(communicator_new(65, 1, 300, &t), TARN_ERR_ARGUMENT);
    cr_assert_eq(communicator_new(2, 0, 300, &t), TARN_ERR_ARGUMENT);
    cr_assert_eq(communicator_new(2, NAN, 300, &t), TARN_ERR_ARGUMENT);
}

/* ---- witnesses ------------------------------------------------------------------------------ */

struct witnesses {
    unsigned odd; /* ranks whose word 2 is another one */
};

static void testify(struct rank *me)
{
    const struct witnesses *job = me->arg;
    float memory[9];
    uint32_t words[4] = { 10, 11, 12, 13 };
    words[2] += job->odd >> me->rank & 1;
    for (int i = 0; i < 5; i++)
        memory[i] = 1;
    memcpy(memory + 5, words, sizeof words);
    collect(me, &(struct collective){ .count = 5,
                                      .checksum = 4,
                                      .step = 77,
                                      .label = "gradients",
                                      .in = memory,
                                      .out = memory });
    const float want = job->odd ? 1 : (float)me->world;
    if (memory[0] != want || memory[4] != want || memcmp(memory + 5, words, sizeof words) != 0)
        snprintf(me->line, sizeof me->line, "memory is %g", (double)memory[0]);
    if (me->status == TARN_ERR_WEIGHTS) {
        const struct rank refused = *me;
        barrier(me);
        me->status = me->status == TARN_OK ? refused.status : me->status;
        snprintf(me->line, sizeof me->line, "%s", refused.line);
    }
}

static void check_witnesses(int world, unsigned odd, const char *who, const char *side)
{
    struct rank ranks[MOST] = { 0 };
    communicator_free(launch(ranks, world, 60, testify, &(struct witnesses){ odd }));
    for (int i = 0; i < world; i++) {
        cr_assert_eq(ranks[i].status, odd ? TARN_ERR_WEIGHTS : TARN_OK, "%s", ranks[i].line);
        cr_assert_str_eq(ranks[i].line, ranks[0].line);
        cr_assert(strstr(ranks[i].line, who), "%s", ranks[i].line);
        cr_assert(strstr(ranks[i].line, side), "%s", ranks[i].line);
    }
    if (odd && !(odd & 1))
        cr_assert(strstr(ranks[0].line, "word 2 of the checksum, 0x0000000d on rank"), "%s",
                  ranks[0].line);
}

Test(communicator, witnesses_that_differ_are_named)
{
    check_witnesses(3, 0, "", "");
    check_witnesses(2, 2, "step 77, \"gradients\": the weights of rank 1 differ", "no majority");
    check_witnesses(3, 2, "rank 1 differ", "0x0000000c on rank 0; the minority is 1");
    check_witnesses(3, 1, "ranks 1 and 2 differ", "the minority is 0");
    check_witnesses(4, 12, "ranks 2 and 3 differ", "no majority");
    check_witnesses(8, 0x8a, "ranks 1, 3 and 7 differ", "the minority is 1, 3 and 7");
}

/* ---- late ranks and aborts ------------------------------------------------------------------ */

static void come_late(struct rank *me)
{
    barrier(me);
    const struct collective c = { .kind = COLLECTIVE_BARRIER, .step = 12, .label = "end of epoch" };
    while (me->rank % 2 && communicator_cause(me->communicator, NULL, 0, NULL) == TARN_OK)
        usleep(1000);
    collect(me, &c);
}

Test(communicator, a_late_rank_ends_the_team)
{
    for (int world = 2; world <= 5; world++) {
        struct rank ranks[MOST] = { 0 };
        struct communicator *t = launch(ranks, world, 0.2, come_late, NULL);
        const char *want = world < 4 ? "rank 1 did not come within 0.2 s to barrier"
                                     : "ranks 1 and 3 did not come within 0.2 s to barrier";
        for (int i = 0; i < world; i++) {
            cr_assert_eq(ranks[i].status, TARN_ERR_STALLED, "%s", ranks[i].line);
            cr_assert(strstr(ranks[i].line, want), "%s", ranks[i].line);
            cr_assert(strstr(ranks[i].line, "\"end of epoch\" of step 12, collective 2"), "%s",
                      ranks[i].line);
        }
        char line[300];
        int rank = -2;
        cr_assert_eq(communicator_cause(t, line, sizeof line, &rank), TARN_ERR_STALLED);
        cr_assert_eq(rank, 1);
        cr_assert_eq(strncmp(line, "rank 1, step 0: rank", 20), 0, "%s", line);
        communicator_free(t);
    }
}

static void fail_later(struct rank *me)
{
    collect(me, &(struct collective){ .kind = COLLECTIVE_BARRIER, .step = 12, .label = "first" });
    if (me->rank == 2) {
        usleep(*(const unsigned *)me->arg);
        communicator_abort(me->communicator, 2, TARN_ERR_DEVICE, "the device is gone");
        communicator_abort(me->communicator, 1, TARN_ERR_SHAPE, "too late to count");
    }
    barrier(me);
}

Test(communicator, an_abort_wakes_everybody)
{
    static const unsigned delays[] = { 0, 30000 };
    for (int i = 0; i < 2; i++) {
        struct rank ranks[MOST] = { 0 };
        struct communicator *t = launch(ranks, 3, 60, fail_later, &delays[i]);
        for (int r = 0; r < 2; r++) {
            cr_assert_eq(ranks[r].status, TARN_ERR_REPLICA);
            cr_assert_str_eq(ranks[r].line, "rank 2 failed at step 12: the device is gone");
        }
        cr_assert_eq(ranks[2].status, TARN_ERR_DEVICE);
        cr_assert_str_eq(ranks[2].line, "the device is gone");
        char line[100];
        cr_assert_eq(communicator_cause(t, line, sizeof line, NULL), TARN_ERR_DEVICE);
        cr_assert_str_eq(line, "rank 2, step 12: the device is gone");
        communicator_free(t);
    }
}

struct cut {
    atomic_int running;
};

/* Reductions without end, cut from outside; memory is written again right after the return. */
static void go_on(struct rank *me)
{
    struct cut *cut = (struct cut *)(size_t)me->arg;
    enum { COUNT = 50000 };
    float *in = malloc(COUNT * sizeof *in), *out = malloc(COUNT * sizeof *out);
    int wrong = 0;
    do {
        for (int i = 0; i < COUNT; i++)
            in[i] = (float)(i % 100 + me->rank);
        collect(me, &(struct collective){
                        .count = COUNT, .label = "on", .in = in, .out = out, .step = 1 });
        for (int i = 0; i < COUNT && me->status == TARN_OK; i++)
            wrong += out[i] != (float)(3 * (i % 100) + 3);
        memset(out, 0x5a, COUNT * sizeof *out);
        atomic_fetch_add(&cut->running, 1);
        for (int i = 0; i < COUNT; i++)
            wrong += ((unsigned char *)out)[i] != 0x5a;
    } while (me->status == TARN_OK);
    free(in);
    free(out);
    if (wrong)
        snprintf(me->line, sizeof me->line, "%d wrong", wrong);
}

struct cutter {
    struct communicator *communicator;
    struct cut *cut;
    int delay;
};

static void *cut_off(void *argument)
{
    const struct cutter *c = argument;
    while (atomic_load(&c->cut->running) < 3)
        usleep(100);
    usleep((unsigned)c->delay);
    communicator_abort(c->communicator, -1, TARN_ERR_DEVICE, "cut");
    return NULL;
}

Test(communicator, an_abort_in_the_middle_of_copying)
{
    for (int round = 0; round < 30; round++) {
        struct rank ranks[3] = { 0 };
        struct cut cut = { 0 };
        struct communicator *t;
        pthread_t threads[3], outside;
        cr_assert_eq(communicator_new(3, 60, 300, &t), TARN_OK);
        struct cutter cutter = { t, &cut, round * 17 };
        for (int i = 0; i < 3; i++) {
            ranks[i] = (struct rank){
                .communicator = t, .rank = i, .world = 3, .body = go_on, .arg = &cut
            };
            cr_assert_eq(pthread_create(&threads[i], NULL, enter, &ranks[i]), 0);
        }
        cr_assert_eq(pthread_create(&outside, NULL, cut_off, &cutter), 0);
        for (int i = 0; i < 3; i++)
            pthread_join(threads[i], NULL);
        pthread_join(outside, NULL);
        for (int i = 0; i < 3; i++) {
            cr_assert_eq(ranks[i].status, TARN_ERR_REPLICA);
            cr_assert_str_eq(ranks[i].line, "the launch was ended: cut");
        }
        communicator_free(t);
    }
}
