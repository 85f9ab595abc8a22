/* SPDX-License-Identifier: Apache-2.0 */
/* A device that comes late, or whose commands fail: the caller's memory stays the caller's, only
 * commands that ended count as done, and a device that cannot be asked is refused as a device. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "opencl.h"

#include "check.h"
#include "layer.h"

#define SKIPPED 77
#define LATE "400"                                         /* ms, */
#define LIMIT "0.1"                                        /* s */
enum { BYTES = 5 << 20, FIRST = 4 << 20, QUESTIONS = 40 }; /* more than a copy moves at once */

static fault_plan_function *plan;
static fault_calls_function *calls;

static void fill(unsigned char *at, int seed)
{
    for (int i = 0; i < BYTES; i++)
        at[i] = (unsigned char)(i * 7 + i / 251 + seed);
}

static int changed(const unsigned char *at, unsigned char value)
{
    int count = 0;
    for (int i = 0; i < BYTES; i++)
        count += at[i] != value;
    return count;
}

/* Until the device has done all that it was given. */
static void catch_up(struct context *c)
{
    struct buffer *b = NULL;
    CHECK(plan("none") == 0);
    CHECK(buffer_new(c, 16, &b) == TARN_OK);
    tarn_status status = TARN_ERR_TIMEOUT;
    while (status == TARN_ERR_TIMEOUT)
        status = buffer_fill_zero(b, 0, 16) == TARN_OK ? context_finish(c) : TARN_ERR_DEVICE;
    CHECK(status == TARN_OK);
    buffer_free(b);
}

/* ---- the caller's memory -------------------------------------------------------------------- */

static void check_read(struct context *c, const char *fault, tarn_status expected)
{
    unsigned char *sent = malloc(BYTES), *got = malloc(BYTES);
    struct buffer *b;
    fill(sent, 1);
    CHECK(buffer_new(c, BYTES, &b) == TARN_OK && buffer_write(b, 0, sent, BYTES) == TARN_OK);
    CHECK(plan(fault) == 0);
    const tarn_status status = buffer_read(b, 0, got, BYTES);
    CHECK(status == expected);
    memset(got, 0xab, BYTES); /* it is the caller's again */
    catch_up(c);
    CHECK(changed(got, 0xab) == 0);
    CHECK(buffer_read(b, 0, got, BYTES) == TARN_OK && memcmp(got, sent, BYTES) == 0);
    buffer_free(b);
    free(sent);
    free(got);
}

/* What the device gets, however late, is what was in the memory at the call. */
static void check_write(struct context *c, const char *fault, tarn_status expected)
{
    unsigned char *sent = malloc(BYTES), *got = malloc(BYTES);
    struct buffer *b;
    fill(sent, 2);
    CHECK(buffer_new(c, BYTES, &b) == TARN_OK && buffer_fill_zero(b, 0, BYTES) == TARN_OK);
    CHECK(plan(fault) == 0);
    CHECK(buffer_write(b, 0, sent, BYTES) == expected);
    memset(sent, 0xab, BYTES);
    catch_up(c);
    CHECK(buffer_read(b, 0, got, BYTES) == TARN_OK);
    fill(sent, 2);
    CHECK(memcmp(got, sent, FIRST) == 0); /* the piece that was under way */
    buffer_free(b);
    free(sent);
    free(got);
}

static void check_upload(struct context *c, const char *fault, tarn_status expected)
{
    unsigned char *sent = malloc(BYTES), *got = malloc(BYTES);
    struct upload *u;
    const bool fine_grain = c->fine_grain;
    c->fine_grain = false;
    fill(sent, 3);
    CHECK(upload_new(c, BYTES, &u) == TARN_OK);
    CHECK(plan(fault) == 0);
    CHECK(upload_put(u, sent, BYTES) == expected);
    memset(sent, 0xab, BYTES);
    catch_up(c);
    CHECK(clFinish(c->copy) == CL_SUCCESS);
    CHECK(buffer_read(upload_buffer(u), 0, got, BYTES) == TARN_OK);
    fill(sent, 3);
    CHECK(memcmp(got, sent, BYTES) == 0);
    CHECK(upload_put(u, sent, BYTES) == TARN_ERR_DEVICE); /* the slot is given up */
    upload_free(u);
    c->fine_grain = fine_grain;
    free(sent);
    free(got);
}

/* ---- what counts as done -------------------------------------------------------------------- */

static void check_lost_command(struct context *c)
{
    struct buffer *b;
    CHECK(buffer_new(c, 64, &b) == TARN_OK);
    CHECK(plan("lose:clEnqueueFillBuffer:0") == 0);
    CHECK(buffer_fill_zero(b, 0, 64) == TARN_OK && buffer_fill_zero(b, 0, 64) == TARN_OK);
    CHECK(context_finish(c) == TARN_ERR_TIMEOUT);
    CHECK(strncmp(error_text(), "fill did not end", 16) == 0);
    buffer_free(b);
}

/* The second command has failed while the first one runs, which the wait must not end before. */
static void check_failed_early(struct context *c)
{
    struct buffer *b;
    CHECK(buffer_new(c, 64, &b) == TARN_OK);
    CHECK(plan("delay:clEnqueueFillBuffer:0:50") == 0);
    CHECK(buffer_fill_zero(b, 0, 64) == TARN_OK);
    const cl_event first = c->ring[(c->next - 1) % TRACKED].event;
    CHECK(clRetainEvent(first) == CL_SUCCESS && plan("drop:clEnqueueFillBuffer:0") == 0);
    CHECK(buffer_fill_zero(b, 0, 64) == TARN_OK);
    CHECK(context_finish(c) == TARN_ERR_DEVICE);
    CHECK(strncmp(error_text(), "fill failed", 11) == 0 && event_ended(first));
    CHECK(clReleaseEvent(first) == CL_SUCCESS);
    buffer_free(b);
}

/* ---- questions ------------------------------------------------------------------------------ */

static tarn_status open_first(struct context **c)
{
    struct device d;
    int count;
    *c = NULL;
    const tarn_status status = device_select(NULL, &d, 1, &count);
    return status == TARN_OK ? context_open(&d, c) : status;
}

/* In a process of its own, since devices are listed once. */
static int open_failing(int question)
{
    char fault[64];
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        struct context *c;
        struct shared *s = NULL;
        snprintf(fault, sizeof fault, "fail:clGetDeviceInfo:%d", question);
        setenv("TARN_FAULT", fault, 1);
        tarn_status told = open_first(&c);
        if (told == TARN_OK)
            told = shared_new(c, 64, &s);
        _exit((int)told / 100);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void check_questions(void)
{
    int refused = 0;
    for (int i = 0; i < QUESTIONS; i++) {
        const int hundreds = open_failing(i);
        CHECK(hundreds == 0 || hundreds == TARN_ERR_DEVICE / 100);
        refused += hundreds != 0;
    }
    printf("%d of %d questions refuse a device\n", refused, QUESTIONS);
    CHECK(refused > 0 && refused < QUESTIONS);
}

static void check_asked_once(struct context *c)
{
    struct shared *s;
    CHECK(plan("fail:clGetDeviceInfo:0") == 0);
    CHECK(shared_new(c, 64, &s) == TARN_OK && calls() == 0);
    shared_free(s);
    CHECK(plan("none") == 0);
}

int main(void)
{
    struct context *c;
    setenv("TARN_TIMEOUT", LIMIT, 1);
    check_questions();
    if (open_first(&c) != TARN_OK) {
        fprintf(stderr, "late: %s\n", error_text());
        return 1;
    }
    const char *path = getenv("OPENCL_LAYERS");
    void *layer = path != NULL ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
    if (layer == NULL) {
        printf("late: this OpenCL loader takes no layers\n");
        return SKIPPED;
    }
    *(void **)&plan = dlsym(layer, "fault_plan");
    *(void **)&calls = dlsym(layer, "fault_calls");
    check_asked_once(c);
    c->near_host = false; /* else nothing is copied by a command */
    check_read(c, "delay:clEnqueueReadBuffer:0:" LATE, TARN_ERR_TIMEOUT);
    check_read(c, "delay:clEnqueueReadBuffer:1:" LATE, TARN_ERR_TIMEOUT);
    check_read(c, "fail:clFlush:0", TARN_ERR_DEVICE_MEMORY);
    check_read(c, "fail:clEnqueueReadBuffer:1", TARN_ERR_DEVICE_MEMORY);
    check_write(c, "delay:clEnqueueWriteBuffer:0:" LATE, TARN_ERR_TIMEOUT);
    check_upload(c, "delay:clEnqueueWriteBuffer:0:" LATE, TARN_ERR_TIMEOUT);
    check_failed_early(c);
    check_lost_command(c);
    context_close(c);
    printf("late: %d failures\n", failures);
    return failures > 0;
}
