/* SPDX-License-Identifier: Apache-2.0 */
/* A replica's OpenCL context and its two queues. */
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "compilers.h"
#include "env.h"
#include "lock.h"
#include "opencl.h"
#include "trace.h"

static pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER;
static int open_contexts;

/* PoCL drops its compiler with the last context of a process, frees little by that, and takes a second to load it once
 * more: its first context stays. */
static void keep_first(const struct context *c)
{
    static bool kept;
    pthread_mutex_lock(&count_lock);
    if (!kept && c->device.is_pocl)
        kept = clRetainContext(c->context) == CL_SUCCESS;
    pthread_mutex_unlock(&count_lock);
}

static tarn_status open_queues(struct context *c)
{
    cl_int code;
    c->context = clCreateContext(NULL, 1, &c->id, NULL, NULL, &code);
    if (code != CL_SUCCESS)
        return cl_failed(c, "clCreateContext", code);
    keep_first(c);
    c->compute = clCreateCommandQueue(c->context, c->id, 0, &code);
    if (code != CL_SUCCESS)
        return cl_failed(c, "clCreateCommandQueue", code);
    c->copy = clCreateCommandQueue(c->context, c->id, 0, &code);
    return code == CL_SUCCESS ? TARN_OK : cl_failed(c, "clCreateCommandQueue", code);
}

tarn_status context_profile(struct context *c, bool on)
{
    cl_int code;
    on = on || c->track != 0;
    if (on == c->profiled)
        return TARN_OK;
    TRY(context_finish(c));
    const cl_command_queue queue =
        clCreateCommandQueue(c->context, c->id, on ? CL_QUEUE_PROFILING_ENABLE : 0, &code);
    if (code != CL_SUCCESS)
        return cl_failed(c, "clCreateCommandQueue", code);
    replay_forget(c);
    clReleaseCommandQueue(c->compute);
    c->compute = queue;
    c->profiled = on;
    return TARN_OK;
}

/* The device's clock against ours: by when it says that a command was enqueued that does nothing. */
static tarn_status compare_clocks(struct context *c)
{
    cl_event event;
    cl_ulong queued;
    const double before = seconds_now();
    cl_int code = clEnqueueMarkerWithWaitList(c->compute, 0, NULL, &event);
    const double after = seconds_now();
    if (code != CL_SUCCESS)
        return cl_failed(c, "clEnqueueMarkerWithWaitList", code);
    TRY(event_track(c, event, "marker"));
    clRetainEvent(event);
    const tarn_status status = context_finish(c);
    code =
        clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_QUEUED, sizeof queued, &queued, NULL);
    clReleaseEvent(event);
    if (code != CL_SUCCESS)
        return cl_failed(c, "clGetEventProfilingInfo", code);
    c->device_zero = (before + after) / 2 - 1e-9 * (double)queued;
    return status;
}

tarn_status context_trace(struct context *c, const char *name)
{
    if (!trace_is_wanted())
        return TARN_OK;
    TRY(context_profile(c, true));
    TRY(compare_clocks(c));
    c->track = trace_track("%s", name);
    return TARN_OK;
}

void context_describe(struct context *c, const char *what)
{
    c->about = what;
}

/* Devices before OpenCL 2.0 refuse the question: they cannot. */
static tarn_status ask_memory(struct context *c)
{
    cl_device_svm_capabilities how = 0;
    const cl_int code = clGetDeviceInfo(c->id, CL_DEVICE_SVM_CAPABILITIES, sizeof how, &how, NULL);
    if (code != CL_SUCCESS && code != CL_INVALID_VALUE)
        return cl_failed(c, "clGetDeviceInfo", code);
    c->fine_grain = code == CL_SUCCESS && (how & CL_DEVICE_SVM_FINE_GRAIN_BUFFER) != 0;
    c->near_host = c->fine_grain && c->device.kind == DEVICE_CPU;
    return TARN_OK;
}

/* The standard promises it, but few programs divide one device from two threads at once. */
static pthread_mutex_t part_lock = PTHREAD_MUTEX_INITIALIZER;

static tarn_status divide(struct context *c, cl_device_id whole)
{
    const cl_device_partition_property equally[] = {
        CL_DEVICE_PARTITION_EQUALLY, (cl_device_partition_property)c->device.compute_units, 0
    };
    cl_uint count = 0;
    cl_int code = clCreateSubDevices(whole, equally, 0, NULL, &count);
    if (code != CL_SUCCESS || (cl_uint)c->device.part >= count)
        return cl_failed(c, "clCreateSubDevices", code);
    cl_device_id *parts = calloc(count, sizeof *parts);
    if (parts == NULL)
        return error_set(TARN_ERR_MEMORY, "open: out of host memory");
    code = clCreateSubDevices(whole, equally, count, parts, NULL);
    for (cl_uint i = 0; code == CL_SUCCESS && i < count; i++) {
        if (i == (cl_uint)c->device.part)
            c->id = parts[i];
        else
            clReleaseDevice(parts[i]);
    }
    free(parts);
    return code == CL_SUCCESS ? TARN_OK : cl_failed(c, "clCreateSubDevices", code);
}

static tarn_status open_part(struct context *c)
{
    const cl_device_id whole = device_id(c->device.number);
    c->id = whole;
    if (c->device.parts <= 1)
        return TARN_OK;
    pthread_mutex_lock(&part_lock);
    const tarn_status status = divide(c, whole);
    pthread_mutex_unlock(&part_lock);
    return status;
}

static void release_part(struct context *c)
{
    if (c->device.parts <= 1 || c->id == NULL || c->id == device_id(c->device.number))
        return;
    pthread_mutex_lock(&part_lock);
    clReleaseDevice(c->id);
    pthread_mutex_unlock(&part_lock);
}

tarn_status context_open(const struct device *device, struct context **out)
{
    *out = NULL;
    struct context *c = calloc(1, sizeof *c);
    if (c == NULL)
        return error_set(TARN_ERR_MEMORY, "open: out of host memory");
    c->device = *device;
    c->event_every = device->kind == DEVICE_CPU ? 1 : EVENT_EVERY;
    device_describe(device, c->label, sizeof c->label);
    const tarn_status made = lock_make(&c->upload_lock, "open");
    if (made != TARN_OK) {
        free(c);
        return made;
    }
    pthread_mutex_lock(&count_lock);
    open_contexts++;
    pthread_mutex_unlock(&count_lock);
    awake_join(device);
    tarn_status status = env_seconds(ENV_TIMEOUT, &c->timeout);
    if (status == TARN_OK)
        status = env_seconds(ENV_BUILD_TIMEOUT, &c->build_timeout);
    if (status == TARN_OK)
        status = gemm_check();
    if (status == TARN_OK)
        status = target_check_name();
    if (status == TARN_OK)
        status = open_part(c);
    if (status == TARN_OK && device->failure != CL_SUCCESS)
        status = cl_failed(c, "clGetDeviceInfo", device->failure);
    if (status == TARN_OK)
        status = ask_memory(c);
    if (status == TARN_OK)
        status = open_queues(c);
    if (status == TARN_OK)
        status = command_recorder_open(c);
    if (status == TARN_OK)
        lend_open(c);
    if (status != TARN_OK) {
        context_close(c);
        return status;
    }
    *out = c;
    return TARN_OK;
}

void context_close(struct context *c)
{
    if (c == NULL)
        return;
    /* A device that does not answer keeps its memory: releasing it would wait without an end. */
    const bool idle = c->compute != NULL && context_is_idle(c) && !c->lost;
    lend_close(c, idle);
    command_recorder_close(c);
    gemm_tarn_free(c);
    pool_release(c, !idle);
    if (idle) {
        program_flush(c);
        if (c->copy != NULL)
            clReleaseCommandQueue(c->copy);
        clReleaseCommandQueue(c->compute);
    }
    pthread_mutex_lock(&count_lock);
    const bool last = --open_contexts == 0;
    pthread_mutex_unlock(&count_lock);
    awake_leave(&c->device);
    if (last) {
        compilers_end();
        gemm_release();
    }
    if (c->context != NULL)
        clReleaseContext(c->context);
    release_part(c);
    pthread_mutex_destroy(&c->upload_lock);
    free(c->staging);
    free(c);
}

const struct device *context_device(const struct context *c)
{
    return &c->device;
}

struct backend_counters context_counters(const struct context *c)
{
    return c->counters;
}

tarn_status context_flush(struct context *c)
{
    if (!c->unflushed)
        return TARN_OK;
    TRY(event_close(c));
    const cl_int code = clFlush(c->compute);
    if (code != CL_SUCCESS)
        return cl_failed(c, "clFlush", code);
    c->unflushed = false;
    lend_newest(c);
    return TARN_OK;
}
