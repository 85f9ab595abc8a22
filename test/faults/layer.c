/* SPDX-License-Identifier: Apache-2.0 */
/* A layer of the OpenCL loader (OPENCL_LAYERS=PATH) that plays a failing or late driver under any
 * program. TARN_FAULT=ACTION:FUNCTION:N[:VALUE] plans one fault at call N, counted from 0, of
 * FUNCTION, or of all functions counted together ("*"; those that only poll are left out):
 *
 *   fail   the call does nothing and returns the code VALUE (-6, out of host memory)
 *   drop   a command never runs; its event ends with the code VALUE (-5), those after it run
 *   lose   a command never runs and its event never ends; those after it run
 *   delay  a command, and those after it, wait VALUE ms (1000); another call sleeps first
 *   hang   a command, and those after it, wait for ever; another call never returns
 *
 * drop and lose of a call that enqueues nothing are fail. "none", or none:FUNCTION:0, counts only.
 * TARN_FAULT_REPORT=FILE appends a line "calls N" when the process ends: so many were counted. */
#include "layer.h"

#include <CL/cl_layer.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST_WAITS 32
#define EXPORT __attribute__((visibility("default")))

enum action { NONE, FAIL, DROP, LOSE, DELAY, HANG };

static const struct {
    const char *name;
    int value;
} actions[] = { [NONE] = { "none", 0 },  [FAIL] = { "fail", -6 },     [DROP] = { "drop", -5 },
                [LOSE] = { "lose", -6 }, [DELAY] = { "delay", 1000 }, [HANG] = { "hang", 0 } };

struct fault {
    enum action action;
    int value;
};

static const cl_icd_dispatch *next; /* the loader, or the layer below */
static cl_icd_dispatch table;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct fault planned;
static char function[64] = "*";
static long calls, nth = -1;

/* ---- the plan ------------------------------------------------------------------------------- */

EXPORT int fault_plan(const char *text)
{
    char action[16] = "", name[sizeof function] = "*";
    long at = 0;
    int value = 0;
    const int got = sscanf(text, "%15[^:]:%63[^:]:%ld:%d", action, name, &at, &value);
    enum action chosen = NONE;
    for (int i = 0; i < (int)(sizeof actions / sizeof *actions); i++)
        if (strcmp(action, actions[i].name) == 0)
            chosen = (enum action)i;
    if (got < 3 && (chosen != NONE || strcmp(action, "none") != 0))
        return -1;
    pthread_mutex_lock(&lock);
    planned = (struct fault){ chosen, got == 4 ? value : actions[chosen].value };
    snprintf(function, sizeof function, "%s", name);
    nth = chosen != NONE ? at : -1;
    calls = 0;
    pthread_mutex_unlock(&lock);
    return 0;
}

EXPORT long fault_calls(void)
{
    pthread_mutex_lock(&lock);
    const long n = calls;
    pthread_mutex_unlock(&lock);
    return n;
}

static struct fault arrive(const char *name, bool polls)
{
    struct fault now = { NONE, 0 };
    pthread_mutex_lock(&lock);
    if (strcmp(function, name) == 0 || (strcmp(function, "*") == 0 && !polls))
        if (calls++ == nth)
            now = planned;
    pthread_mutex_unlock(&lock);
    return now;
}

static void sleep_ms(int ms)
{
    struct timespec t = { ms / 1000, ms % 1000 * 1000000L };
    while (nanosleep(&t, &t) != 0)
        ;
}

/* Whether a call that enqueues nothing fails here. */
static bool fails(struct fault f)
{
    while (f.action == HANG)
        sleep_ms(1000000);
    if (f.action == DELAY)
        sleep_ms(f.value);
    return f.action == FAIL || f.action == DROP || f.action == LOSE;
}

/* ---- commands ------------------------------------------------------------------------------- */

struct gate {
    cl_event event;
    int ms;
};

static void *open_gate(void *arg)
{
    struct gate *g = arg;
    sleep_ms(g->ms);
    next->clSetUserEventStatus(g->event, CL_COMPLETE);
    next->clReleaseEvent(g->event);
    free(g);
    return NULL;
}

static cl_event user_event(cl_command_queue queue)
{
    cl_context context = NULL;
    next->clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    return next->clCreateUserEvent(context, NULL);
}

/* What stands for a command that does not run. */
static cl_int instead(cl_command_queue queue, struct fault f, cl_event *event)
{
    const cl_event user = user_event(queue);
    if (f.action == DROP)
        next->clSetUserEventStatus(user, f.value);
    if (event != NULL)
        *event = user;
    return CL_SUCCESS;
}

/* Adds the event that holds a command up to what it waits for. */
static void hold_up(cl_command_queue queue, struct fault f, cl_uint *count, const cl_event **list,
                    cl_event room[MOST_WAITS])
{
    if ((f.action != DELAY && f.action != HANG) || *count + 1 > MOST_WAITS)
        return;
    const cl_event user = user_event(queue);
    for (cl_uint i = 0; i < *count; i++)
        room[i] = (*list)[i];
    room[(*count)++] = user;
    *list = room;
    pthread_t thread;
    struct gate *g = f.action == DELAY ? malloc(sizeof *g) : NULL;
    if (g == NULL)
        return;
    *g = (struct gate){ user, f.value };
    if (pthread_create(&thread, NULL, open_gate, g) == 0)
        pthread_detach(thread);
}

/* ---- calls: their parameters, then the same without types ----------------------------------- */

#define CALL(name, parameters, ...) \
    static cl_int CL_API_CALL do_##name parameters \
    { \
        const struct fault f = arrive(#name, false); \
        return fails(f) ? f.value : next->name(__VA_ARGS__); \
    }
#define POLL(name, parameters, ...) \
    static cl_int CL_API_CALL do_##name parameters \
    { \
        const struct fault f = arrive(#name, true); \
        return fails(f) ? f.value : next->name(__VA_ARGS__); \
    }
#define MAKE(type, name, parameters, ...) \
    static type CL_API_CALL do_##name parameters \
    { \
        const struct fault f = arrive(#name, false); \
        if (!fails(f)) \
            return next->name(__VA_ARGS__); \
        if (code != NULL) \
            *code = f.value; \
        return NULL; \
    }
#define COMMAND(name, parameters, ...) \
    static cl_int CL_API_CALL do_##name parameters \
    { \
        cl_event room[MOST_WAITS]; \
        const struct fault f = arrive(#name, false); \
        if (f.action == FAIL) \
            return f.value; \
        if (f.action == DROP || f.action == LOSE) \
            return instead(q, f, event); \
        hold_up(q, f, &n, &waits, room); \
        return next->name(__VA_ARGS__, n, waits, event); \
    }
#define WAITS cl_uint n, const cl_event *waits, cl_event *event

CALL(clGetPlatformIDs, (cl_uint n, cl_platform_id *p, cl_uint *count), n, p, count)
CALL(clGetPlatformInfo, (cl_platform_id p, cl_platform_info i, size_t n, void *to, size_t *size), p,
     i, n, to, size)
CALL(clGetDeviceIDs,
     (cl_platform_id p, cl_device_type t, cl_uint n, cl_device_id *d, cl_uint *count), p, t, n, d,
     count)
CALL(clGetDeviceInfo, (cl_device_id d, cl_device_info i, size_t n, void *to, size_t *size), d, i, n,
     to, size)
CALL(clCreateSubDevices,
     (cl_device_id d, const cl_device_partition_property *p, cl_uint n, cl_device_id *to,
      cl_uint *count),
     d, p, n, to, count)
MAKE(cl_context, clCreateContext,
     (const cl_context_properties *p, cl_uint n, const cl_device_id *d,
      void(CL_CALLBACK *call)(const char *, const void *, size_t, void *), void *user,
      cl_int *code),
     p, n, d, call, user, code)
MAKE(cl_command_queue, clCreateCommandQueue,
     (cl_context c, cl_device_id d, cl_command_queue_properties p, cl_int *code), c, d, p, code)
MAKE(cl_mem, clCreateBuffer, (cl_context c, cl_mem_flags f2, size_t n, void *at, cl_int *code), c,
     f2, n, at, code)
MAKE(cl_program, clCreateProgramWithSource,
     (cl_context c, cl_uint n, const char **text, const size_t *size, cl_int *code), c, n, text,
     size, code)
MAKE(cl_program, clCreateProgramWithBinary,
     (cl_context c, cl_uint n, const cl_device_id *d, const size_t *size,
      const unsigned char **binary, cl_int *status, cl_int *code),
     c, n, d, size, binary, status, code)
CALL(clBuildProgram,
     (cl_program p, cl_uint n, const cl_device_id *d, const char *options,
      void(CL_CALLBACK *call)(cl_program, void *), void *user),
     p, n, d, options, call, user)
CALL(clCompileProgram,
     (cl_program p, cl_uint n, const cl_device_id *d, const char *options, cl_uint headers,
      const cl_program *header, const char **name, void(CL_CALLBACK *call)(cl_program, void *),
      void *user),
     p, n, d, options, headers, header, name, call, user)
CALL(clGetProgramInfo, (cl_program p, cl_program_info i, size_t n, void *to, size_t *size), p, i, n,
     to, size)
CALL(clGetProgramBuildInfo,
     (cl_program p, cl_device_id d, cl_program_build_info i, size_t n, void *to, size_t *size), p,
     d, i, n, to, size)
MAKE(cl_kernel, clCreateKernel, (cl_program p, const char *name, cl_int *code), p, name, code)
CALL(clSetKernelArg, (cl_kernel k, cl_uint i, size_t n, const void *value), k, i, n, value)
CALL(clFlush, (cl_command_queue q), q)
CALL(clRetainEvent, (cl_event e), e)
POLL(clGetEventInfo, (cl_event e, cl_event_info i, size_t n, void *to, size_t *size), e, i, n, to,
     size)
COMMAND(clEnqueueReadBuffer,
        (cl_command_queue q, cl_mem m, cl_bool block, size_t at, size_t size, void *to, WAITS), q,
        m, block, at, size, to)
COMMAND(clEnqueueWriteBuffer,
        (cl_command_queue q, cl_mem m, cl_bool block, size_t at, size_t size, const void *from,
         WAITS),
        q, m, block, at, size, from)
COMMAND(clEnqueueCopyBuffer,
        (cl_command_queue q, cl_mem from, cl_mem to, size_t from_at, size_t to_at, size_t size,
         WAITS),
        q, from, to, from_at, to_at, size)
COMMAND(clEnqueueFillBuffer,
        (cl_command_queue q, cl_mem m, const void *pattern, size_t one, size_t at, size_t size,
         WAITS),
        q, m, pattern, one, at, size)
COMMAND(clEnqueueUnmapMemObject, (cl_command_queue q, cl_mem m, void *at, WAITS), q, m, at)
COMMAND(clEnqueueNDRangeKernel,
        (cl_command_queue q, cl_kernel k, cl_uint dimensions, const size_t *offset,
         const size_t *global, const size_t *local, WAITS),
        q, k, dimensions, offset, global, local)

/* Without any command: only the barrier's own parameters are those of waiting. */
static cl_int CL_API_CALL do_clEnqueueBarrierWithWaitList(cl_command_queue q, WAITS)
{
    cl_event room[MOST_WAITS];
    const struct fault f = arrive("clEnqueueBarrierWithWaitList", false);
    if (f.action == FAIL)
        return f.value;
    if (f.action == DROP || f.action == LOSE)
        return instead(q, f, event);
    hold_up(q, f, &n, &waits, room);
    return next->clEnqueueBarrierWithWaitList(q, n, waits, event);
}

static void *CL_API_CALL do_clEnqueueMapBuffer(cl_command_queue q, cl_mem m, cl_bool block,
                                               cl_map_flags how, size_t at, size_t size, WAITS,
                                               cl_int *code)
{
    cl_event room[MOST_WAITS];
    const struct fault f = arrive("clEnqueueMapBuffer", false);
    if (f.action == FAIL || f.action == DROP || f.action == LOSE) {
        *code = f.action == FAIL ? f.value : -6;
        return NULL;
    }
    hold_up(q, f, &n, &waits, room);
    return next->clEnqueueMapBuffer(q, m, block, how, at, size, n, waits, event, code);
}

static void *CL_API_CALL do_clSVMAlloc(cl_context c, cl_svm_mem_flags how, size_t size,
                                       cl_uint alignment)
{
    return fails(arrive("clSVMAlloc", false)) ? NULL : next->clSVMAlloc(c, how, size, alignment);
}

/* ---- the loader's side ---------------------------------------------------------------------- */

static void report(void)
{
    const char *path = getenv("TARN_FAULT_REPORT");
    FILE *file = path != NULL ? fopen(path, "a") : NULL;
    if (file != NULL) {
        fprintf(file, "calls %ld\n", fault_calls());
        fclose(file);
    }
}

EXPORT CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t n, void *to,
                                                      size_t *size)
{
    const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    static const char name[] = "faults of Tarn's tests";
    const void *from = what == CL_LAYER_API_VERSION ? (const void *)&version : name;
    const size_t bytes = what == CL_LAYER_API_VERSION ? sizeof version : sizeof name;
    if ((what != CL_LAYER_API_VERSION && what != CL_LAYER_NAME) || (to != NULL && n < bytes))
        return CL_INVALID_VALUE;
    if (to != NULL)
        memcpy(to, from, bytes);
    if (size != NULL)
        *size = bytes;
    return CL_SUCCESS;
}

/* clang-format off */
#define FUNCTIONS(X) \
    X(clGetPlatformIDs) X(clGetPlatformInfo) X(clGetDeviceIDs) \
    X(clGetDeviceInfo) X(clCreateSubDevices) X(clCreateContext) \
    X(clCreateCommandQueue) X(clCreateBuffer) X(clCreateProgramWithSource) \
    X(clCreateProgramWithBinary) X(clBuildProgram) X(clGetProgramInfo) \
    X(clCompileProgram) X(clGetProgramBuildInfo) X(clCreateKernel) X(clSetKernelArg) \
    X(clFlush) X(clRetainEvent) X(clGetEventInfo) \
    X(clEnqueueReadBuffer) X(clEnqueueWriteBuffer) X(clEnqueueCopyBuffer) \
    X(clEnqueueFillBuffer) X(clEnqueueUnmapMemObject) X(clEnqueueNDRangeKernel) \
    X(clEnqueueBarrierWithWaitList) X(clEnqueueMapBuffer) X(clSVMAlloc)
/* clang-format on */

EXPORT CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint entries, const cl_icd_dispatch *target,
                                                   cl_uint *count, const cl_icd_dispatch **out)
{
    const char *plan = getenv("TARN_FAULT");
    const cl_uint all = sizeof table / sizeof(void *);
    if (entries < all || (plan != NULL && fault_plan(plan) != 0))
        return CL_INVALID_VALUE;
    next = target;
    table = *target;
#define PUT(name) table.name = do_##name;
    FUNCTIONS(PUT)
#undef PUT
    atexit(report);
    *count = all;
    *out = &table;
    return CL_SUCCESS;
}
