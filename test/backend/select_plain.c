/* SPDX-License-Identifier: Apache-2.0 */
/* Devices for several replicas: what a selection gives and refuses, and parts of one CPU that are
 * opened, built for and computed on from two threads at once. Expects a CPU of at least two
 * units. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend.h"

#define MOST 64
#define COUNT 100000
#define LOCAL 50
#define OPENINGS 8

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

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- what is selected ----------------------------------------------------------------------- */

static bool is_part(const struct device *d, int part, int parts)
{
    return d->part == part && d->parts == parts;
}

static void check_parts(void)
{
    struct device d[MOST];
    char a[256], b[256];
    int n = 0;
    CHECK(device_select("cpu/2", d, MOST, &n) == TARN_OK && n == 2);
    CHECK(is_part(&d[0], 0, 2) && is_part(&d[1], 1, 2) && d[0].number == d[1].number);
    CHECK(device_select("cpu/2", d, 1, &n) == TARN_OK && n == 1 && is_part(&d[0], 0, 2));
    CHECK(device_select("cpu:1/2", d, MOST, &n) == TARN_OK && n == 1 && is_part(&d[0], 1, 2));
    CHECK(device_select_many("cpu/2", 0, d, MOST, &n) == TARN_OK && n == 2);
    device_describe(&d[0], a, sizeof a);
    device_describe(&d[1], b, sizeof b);
    CHECK(strstr(a, d[0].name) != NULL && strcmp(a, b) != 0);
    CHECK(device_select_many("cpu/2", 1, d, MOST, &n) == TARN_OK && n == 1);
    static const char *const wrong[] = { "cpu/0", "cpu/99999", "/2", "cpu/2x", "cpu:2/2", "," };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(device_select(wrong[i], d, MOST, &n) == TARN_ERR_NO_DEVICE);
}

/* Refused, in one line that says how many there are and how to get more. */
static void check_refusal(const char *spec, int wanted)
{
    struct device d[MOST];
    int n = 0;
    CHECK(device_select_many(spec, wanted, d, MOST, &n) == TARN_ERR_NO_DEVICE && n == 0);
    CHECK(strstr(error_text(), "cpu/2") != NULL && strstr(error_text(), "POCL_DEVICES") != NULL);
    CHECK(strchr(error_text(), '\n') == NULL);
}

static void check_counts(int cpu)
{
    const struct device *list;
    struct device d[MOST];
    char one[16], twice[40], a[256], b[256];
    int known = 0, n = 0;
    CHECK(device_list(&list, &known) == TARN_OK);
    snprintf(one, sizeof one, "%d", cpu);
    snprintf(twice, sizeof twice, "%d,%d", cpu, cpu);
    CHECK(device_select_many(NULL, 0, d, MOST, &n) == TARN_OK && n == known);
    CHECK(device_select_many(one, 0, d, MOST, &n) == TARN_OK && n == 1 && d[0].parts == 1);
    CHECK(device_select_many(one, 2, d, MOST, &n) == TARN_OK && n == 2);
    CHECK(is_part(&d[0], 0, 2) && is_part(&d[1], 1, 2));
    CHECK(device_select_many(twice, 0, d, MOST, &n) == TARN_OK && n == 2);
    CHECK(d[0].number == d[1].number && d[0].copies == 2 && d[1].copy == 1);
    device_describe(&d[0], a, sizeof a);
    device_describe(&d[1], b, sizeof b);
    CHECK(strcmp(a, b) != 0);
    check_refusal(twice, 3);   /* only a lone device is divided */
    check_refusal("cpu/2", 3); /* parts are not divided again */
    check_refusal(one, (int)list[cpu].compute_units + 1);
    check_refusal(one, 1000000);
    CHECK(device_select_many(one, -1, d, MOST, &n) == TARN_ERR_ARGUMENT);
    CHECK(device_select_many(twice, 0, d, 1, &n) == TARN_ERR_ARGUMENT);

    setenv("TARN_DEVICES", twice, 1);
    setenv("TARN_NUM_DEVICES", "1", 1);
    CHECK(device_select_many(NULL, 0, d, MOST, &n) == TARN_OK && n == 1 && d[0].copies == 1);
    CHECK(device_select_many(NULL, 2, d, MOST, &n) == TARN_OK &&
          n == 2); /* asked for: comes first */
    setenv("TARN_NUM_DEVICES", "3", 1);
    check_refusal(NULL, 0);
    CHECK(device_select(NULL, d, MOST, &n) == TARN_OK && n == 2);
    setenv("TARN_NUM_DEVICES", "some", 1);
    CHECK(device_select_many(NULL, 0, d, MOST, &n) == TARN_ERR_ENVIRONMENT);
    unsetenv("TARN_DEVICES");
    unsetenv("TARN_NUM_DEVICES");
}

/* ---- two at once ---------------------------------------------------------------------------- */

struct member {
    struct device device;
    char source[256];
    pthread_t thread;
    double began, ended; /* of the computation */
    struct backend_counters counters;
};

static tarn_status compute(struct member *m, struct context *c)
{
    struct built_program *p = NULL;
    struct kernel *k = NULL;
    struct buffer *b = NULL;
    float *x = calloc(COUNT, sizeof *x);
    tarn_status s = x != NULL ? program_build(c, m->source, "select", &p) : TARN_ERR_MEMORY;
    if (s == TARN_OK)
        s = kernel_new(p, "f", &k);
    if (s == TARN_OK)
        s = buffer_new(c, COUNT * sizeof *x, &b);
    const struct kernel_arg arg = { .buffer = b };
    m->began = now();
    for (int i = 0; s == TARN_OK && i < 20; i++)
        s = kernel_launch(k, &arg, 1, COUNT / LOCAL, LOCAL);
    if (s == TARN_OK)
        s = buffer_read(b, 0, x, COUNT * sizeof *x);
    m->ended = now();
    int wrong = 0;
    for (int i = 0; s == TARN_OK && i < COUNT; i++)
        wrong += x[i] != (float)i + 1000;
    CHECK(wrong == 0);
    kernel_free(k);
    program_free(p);
    buffer_free(b);
    free(x);
    return s;
}

static void *run_member(void *arg)
{
    struct member *m = arg;
    struct context *c;
    for (int i = 0; i < OPENINGS; i++) {
        CHECK(context_open(&m->device, &c) == TARN_OK);
        if (i < OPENINGS - 1)
            context_close(c);
    }
    if (c == NULL)
        return NULL;
    CHECK(compute(m, c) == TARN_OK);
    m->counters = context_counters(c);
    context_close(c);
    return NULL;
}

/* The program is new in every run, so that both build it at the same time. */
static void check_at_once(const char *spec)
{
    struct device d[2];
    struct member m[2];
    int n = 0;
    const double start = now();
    CHECK(device_select_many(spec, 2, d, 2, &n) == TARN_OK && n == 2);
    for (int i = 0; i < n; i++) {
        m[i] = (struct member){ .device = d[i] };
        snprintf(m[i].source, sizeof m->source,
                 "/* %.6f */ __kernel void f(__global float *x)\n"
                 "{\n"
                 "    float y = 0;\n"
                 "    for (int i = 0; i < 1000; i++)\n"
                 "        y += 1;\n"
                 "    x[get_global_id(0)] = (float)get_global_id(0) + y;\n"
                 "}\n",
                 start);
    }
    for (int i = 0; i < n; i++)
        CHECK(pthread_create(&m[i].thread, NULL, run_member, &m[i]) == 0);
    for (int i = 0; i < n; i++)
        pthread_join(m[i].thread, NULL);
    for (int i = 0; i < n; i++) {
        char name[256];
        device_describe(&d[i], name, sizeof name);
        printf("%s: computed from %.1f to %.1f ms, builds %d in %.0f ms, cache hits %d\n", name,
               (m[i].began - start) * 1e3, (m[i].ended - start) * 1e3, (int)m[i].counters.builds,
               m[i].counters.build_seconds * 1e3, (int)m[i].counters.cache_hits);
        CHECK(m[i].counters.builds + m[i].counters.cache_hits == 1);
    }
}

int main(void)
{
    const struct device *list;
    int known = 0, cpu = -1;
    if (device_list(&list, &known) != TARN_OK) {
        fprintf(stderr, "select: %s\n", error_text());
        return 1;
    }
    for (int i = known; i-- > 0;)
        cpu = list[i].kind == DEVICE_CPU && list[i].compute_units > 1 ? i : cpu;
    CHECK(cpu >= 0);
    if (cpu >= 0) {
        char one[16], twice[40];
        snprintf(one, sizeof one, "%d", cpu);
        snprintf(twice, sizeof twice, "%d,%d", cpu, cpu);
        check_parts();
        check_counts(cpu);
        check_at_once(one);
        check_at_once(twice);
    }
    printf("select: %d failures\n", failures);
    return failures > 0;
}
