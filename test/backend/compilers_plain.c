/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that compile: they do what they are asked for, once; what they cannot do, and what they leave
 * undone when they are killed, is said; none is left behind; kernels that were built quickly are replaced
 * by better ones that compute the same bits. */
#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "clock.h"
#include "compilers.h"

#define LINES 400
#define KERNELS 8
#define SLOW_LINES 40000 /* of a kernel that takes the driver seconds */
#define PATIENCE 120.0

static const char *const head[2] = { "/* a head */\n", "" };

/* A kernel of so many lines, long enough to be worth a quick build; from one `number` to the next another
 * one. */
static char *make_text(int number, int lines)
{
    char *text = malloc((size_t)lines * 160 + 256), *at = text;
    if (text == NULL)
        exit(EXIT_FAILURE);
    at += sprintf(at,
                  "__kernel void f%d(__global float *p, int skip)\n{\n"
                  "    if (skip != 0)\n        return;\n"
                  "    float x = p[get_global_id(0)];\n",
                  number);
    for (int i = 0; i < lines; i++)
        at += sprintf(at, "    x = fma(x, 0.%d%df, 0.%df); /* %090d */\n", number + 1, i, i + 3, i);
    sprintf(at, "    p[get_global_id(0)] = x;\n}\n");
    return text;
}

/* How many processes this one has started that are still there. */
static int children(pid_t *last)
{
    char path[300], state;
    int count = 0;
    DIR *all = opendir("/proc");
    for (struct dirent *d; all != NULL && (d = readdir(all)) != NULL;) {
        int pid, parent;
        snprintf(path, sizeof path, "/proc/%s/stat", d->d_name);
        FILE *f = fopen(path, "r");
        if (f == NULL)
            continue;
        /* "PID (NAME) STATE PARENT ..." */
        if (fscanf(f, "%d (%*[^)]) %c %d", &pid, &state, &parent) == 3 && parent == getpid()) {
            *last = pid;
            count++;
        }
        fclose(f);
    }
    if (all != NULL)
        closedir(all);
    return count;
}

static enum job_state end_of(struct compile_job *job)
{
    const double begin = seconds_now();
    while (job != NULL && compile_job_state(job) != JOB_DONE &&
           compile_job_state(job) != JOB_FAILED && seconds_now() - begin < PATIENCE)
        compile_job_wait(job);
    return job != NULL ? compile_job_state(job) : JOB_FAILED;
}

static struct order *make_order(const char *text, int number, struct buffer *nothing)
{
    char function[32];
    const int which = 0;
    const struct kernel_arg args[2] = { { .buffer = nothing }, { .size = 4, .value.i32 = 1 } };
    snprintf(function, sizeof function, "f%d", number);
    const struct kernel_text k = {
        .function = function,
        .text = text,
        .idle = { .args = args, .count = 2, .groups = 1, .local = 16 },
    };
    struct order *o = order_new(text, &k, &which, 1);
    CHECK(o != NULL && order_is_whole(o, (size_t)o->bytes));
    return o;
}

/* One order, asked for twice, is carried out once, and known to all processes afterwards. */
static void test_one(struct context *c, struct buffer *nothing)
{
    pid_t pid = 0;
    char *text = make_text(100, 20);
    struct order *o = make_order(text, 100, nothing);
    CHECK(!program_is_finished(context_device(c), text, false));
    struct compile_job *first = compilers_ask(context_device(c), o, true);
    struct compile_job *second = compilers_ask(context_device(c), o, false);
    CHECK(first != NULL && first == second);
    CHECK(end_of(first) == JOB_DONE);
    CHECK(children(&pid) == 1);
    CHECK(program_is_finished(context_device(c), text, false));
    CHECK(!program_is_finished(context_device(c), text, true));
    compile_job_drop(first);
    compile_job_drop(second);
    free(o);
    free(text);
}

/* Kills the process that works on a job, as soon as it does. */
static void kill_worker(const struct compile_job *job, pid_t *last)
{
    pid_t pid = *last;
    while (job != NULL && compile_job_state(job) == JOB_WAITS)
        compile_job_wait(job);
    for (int i = 0; i < 500 && (children(&pid) == 0 || pid == *last); i++)
        usleep(10000);
    CHECK(pid != *last && kill(pid, SIGKILL) == 0);
    *last = pid;
}

/* What a process that is killed at work leaves is done by another one; when that is killed, too, the job has failed, and the
 * next one has not. */
static void test_killed(struct context *c, struct buffer *nothing)
{
    pid_t pid = 0;
    char *slow = make_text(101, SLOW_LINES), *text = make_text(102, SLOW_LINES / 20);
    struct order *o = make_order(slow, 101, nothing), *next = make_order(text, 102, nothing);
    CHECK(children(&pid) <= 1);
    struct compile_job *job = compilers_ask(context_device(c), o, true);
    pid = 0;
    kill_worker(job, &pid);
    kill_worker(job, &pid);
    CHECK(end_of(job) == JOB_FAILED);
    compile_job_drop(job);
    job = compilers_ask(context_device(c), next, true);
    kill_worker(job, &pid);
    CHECK(end_of(job) == JOB_DONE);
    compile_job_drop(job);
    CHECK(!program_is_finished(context_device(c), slow, false));
    CHECK(program_is_finished(context_device(c), text, false));
    free(o);
    free(next);
    free(slow);
    free(text);
}

/* Processes end at once, also those at work, and their jobs are not called done. */
static void test_end(struct context *c, struct buffer *nothing)
{
    pid_t pid = 0;
    char *slow = make_text(103, SLOW_LINES);
    struct order *o = make_order(slow, 103, nothing);
    struct compile_job *job = compilers_ask(context_device(c), o, true);
    for (int i = 0; i < 100 && children(&pid) == 0; i++)
        usleep(10000);
    usleep(300000);
    const double begin = seconds_now();
    compilers_end();
    CHECK(seconds_now() - begin < 3); /* a sanitizer takes one of them */
    CHECK(children(&pid) == 0);
    CHECK(job != NULL && compile_job_state(job) != JOB_DONE);
    compile_job_drop(job);
    free(o);
    free(slow);
}

/* After failures in a row no more is asked: this process does what is to be done. */
static void test_refused(struct context *c, struct buffer *nothing)
{
    for (int i = 0; i < 3; i++) {
        char text[] = "__kernel void f0(__global float *p, int skip)\n{\n    nonsense0;\n}\n";
        *strchr(text, '0') = (char)('0' + i);
        struct order *o = make_order(text, i, nothing);
        struct compile_job *job = compilers_ask(context_device(c), o, true);
        CHECK(end_of(job) == JOB_FAILED);
        compile_job_drop(job);
        free(o);
    }
    char *text = make_text(104, 20);
    struct order *o = make_order(text, 104, nothing);
    CHECK(compilers_ask(context_device(c), o, true) == NULL);
    free(o);
    free(text);
    compilers_end(); /* and begins anew */
}

static void launch(struct kernel *const *kernels, struct buffer *b, float *out)
{
    for (int i = 0; i < 16; i++)
        out[i] = 0.01f * (float)i;
    CHECK(buffer_write(b, 0, out, 64) == TARN_OK);
    for (int i = 0; i < KERNELS; i++) {
        const struct kernel_arg args[2] = { { .buffer = b }, { .size = 4, .value.i32 = 0 } };
        CHECK(kernel_launch(kernels[i], args, 2, 1, 16) == TARN_OK);
    }
    CHECK(buffer_read(b, 0, out, 64) == TARN_OK);
}

/* Of source, or of what a compiler process left in the cache. */
static uint64_t programs_of(const struct context *c)
{
    const struct backend_counters n = context_counters(c);
    return n.builds + n.cache_hits;
}

/* Whether all kernels are replaced by better ones in the second step that launches them, with the same bits. */
static void test_better(struct context *c, struct buffer *nothing)
{
    struct kernel_text list[KERNELS];
    struct kernel *kernels[KERNELS];
    char function[KERNELS][16];
    const struct kernel_arg args[2] = { { .buffer = nothing }, { .size = 4, .value.i32 = 1 } };
    float quick[16], now[16];
    for (int i = 0; i < KERNELS; i++) {
        snprintf(function[i], sizeof *function, "f%d", i);
        list[i] = (struct kernel_text){
            .function = function[i],
            .text = make_text(i, LINES),
            .idle = { .args = args, .count = 2, .groups = 1, .local = 16 },
        };
    }
    const uint64_t others = programs_of(c);
    CHECK(kernels_take(c, head, list, KERNELS, "test", kernels) == TARN_OK);
    if (failures == 0)
        launch(kernels, nothing, quick);
    const uint64_t programs = programs_of(c) - others;
    CHECK(programs > 1 && context_counters(c).quick_launches == KERNELS);
    launch(kernels, nothing, now); /* such as steps of a loop */
    CHECK(context_counters(c).quick_launches == 2 * KERNELS);
    CHECK(memcmp(now, quick, sizeof now) == 0);
    context_step(c);
    launch(kernels, nothing, now);
    CHECK(programs_of(c) - others == 2 * programs);
    CHECK(context_counters(c).quick_launches == 2 * KERNELS);
    CHECK(memcmp(now, quick, sizeof now) == 0);
    for (int i = 0; i < KERNELS; i++) {
        if (failures == 0)
            kernel_free(kernels[i]);
        free((char *)list[i].text);
    }
}

int main(void)
{
    char folder[] = "/tmp/tarn-compilers-XXXXXX", command[64];
    struct device d;
    struct context *c = NULL;
    struct buffer *nothing = NULL;
    pid_t pid;
    int count;
    if (mkdtemp(folder) == NULL || setenv("TARN_CACHE_DIR", folder, 1) != 0 ||
        setenv("TARN_COMPILERS", "1", 1) != 0)
        return perror("compilers_plain"), 1;
    CHECK(device_select(NULL, &d, 1, &count) == TARN_OK);
    if (failures == 0 && compilers_for(&d) == 0) {
        printf("compilers_plain: skipped: the driver of %s needs no processes\n", d.name);
        return 77;
    }
    CHECK(context_open(&d, &c) == TARN_OK && buffer_new(c, 64, &nothing) == TARN_OK);
    if (failures == 0) {
        test_one(c, nothing);
        test_killed(c, nothing);
        test_end(c, nothing);
        test_refused(c, nothing);
        test_better(c, nothing);
    }
    buffer_free(nothing);
    context_close(c);
    CHECK(children(&pid) == 0);
    printf("compilers_plain: %d failures\n", failures);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0 || failures > 0;
}
