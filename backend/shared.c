/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that kernels and the host use in turn, so that the compute queue never has to run empty
 * for it. A mapping or a copy is a command of the copy queue; a CPU's driver runs those on the
 * workers that run the kernels, behind all that is going on, so memory that both sides see without
 * any command (OpenCL 2.0's fine-grained buffers) comes first. */
#include <stdlib.h>

#include "opencl.h"

#define PAGE 4096

struct shared {
    struct context *context;
    struct buffer *buffer;
    enum shared_way way;
    void *memory;   /* the host's side; NULL when it is mapped */
    void *host;     /* what the host uses between begin and end, else NULL */
    cl_event ended; /* the command of the last end; NULL: none */
    bool lost;      /* a command may not have ended: the driver may use the memory for ever */
};

bool shared_is_direct(const struct context *c)
{
    return c->fine_grain;
}

static tarn_status make(struct shared *s, size_t bytes)
{
    struct context *c = s->context;
    const size_t pages = (bytes / PAGE + 1) * PAGE;
    switch (s->way) {
    case SHARED_DIRECT:
        s->memory =
            clSVMAlloc(c->context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, pages, 0);
        if (s->memory == NULL)
            return error_set(TARN_ERR_DEVICE_MEMORY, "clSVMAlloc of %zu bytes on device \"%s\"",
                             pages, c->label);
        return buffer_fresh(c, bytes, CL_MEM_USE_HOST_PTR, s->memory, &s->buffer);
    case SHARED_COPIED:
        s->memory = aligned_alloc(PAGE, pages);
        if (s->memory == NULL)
            return error_set(TARN_ERR_MEMORY, "shared memory: no %zu bytes of host memory", bytes);
        return buffer_fresh(c, bytes, 0, NULL, &s->buffer);
    default:
        return buffer_fresh(c, bytes, CL_MEM_ALLOC_HOST_PTR, NULL, &s->buffer);
    }
}

tarn_status shared_new_by(struct context *c, size_t bytes, enum shared_way way, struct shared **out)
{
    *out = NULL;
    const bool direct = shared_is_direct(c);
    if (way == SHARED_DIRECT && !direct)
        return error_set(TARN_ERR_ARGUMENT,
                         "shared memory: device \"%s\" has no fine-grained buffers", c->label);
    if (way == SHARED_BEST)
        way = direct ? SHARED_DIRECT : c->device.unified_memory ? SHARED_MAPPED : SHARED_COPIED;
    struct shared *s = calloc(1, sizeof *s);
    if (s == NULL)
        return error_set(TARN_ERR_MEMORY, "shared memory: out of host memory");
    s->context = c;
    s->way = way;
    const tarn_status status = make(s, bytes);
    if (status != TARN_OK) {
        shared_free(s);
        return status;
    }
    *out = s;
    return TARN_OK;
}

tarn_status shared_new(struct context *c, size_t bytes, struct shared **out)
{
    return shared_new_by(c, bytes, SHARED_BEST, out);
}

struct buffer *shared_buffer(struct shared *s)
{
    return s->buffer;
}

void *shared_memory(struct shared *s)
{
    return s->way == SHARED_DIRECT ? s->memory : NULL;
}

/* Waits for a command on the memory and lets go of it. */
static tarn_status settle(struct shared *s, cl_event *event, const char *label)
{
    if (*event == NULL)
        return TARN_OK;
    const tarn_status status = event_wait(s->context, *event, label);
    if (status != TARN_OK && !event_ended(*event)) {
        s->lost = true;
        s->context->lost = true;
    }
    clReleaseEvent(*event);
    *event = NULL;
    return status;
}

void shared_free(struct shared *s)
{
    if (s == NULL)
        return;
    struct context *c = s->context;
    /* Nobody is left to be told of a failure here; poll reports those of the compute queue. */
    if (s->host != NULL)
        (void)!shared_end(s, false);
    (void)!settle(s, &s->ended, "the end of shared memory");
    if (s->memory != NULL && !context_is_idle(c))
        s->lost = true;
    buffer_drop(s->buffer, s->lost);
    if (!s->lost && s->way == SHARED_DIRECT && s->memory != NULL)
        clSVMFree(c->context, s->memory);
    else if (!s->lost)
        free(s->memory);
    free(s);
}

/* Enqueues what brings the bytes to the host, behind the command that makes them. */
static cl_int enqueue_begin(struct shared *s, queue_mark after, bool read, void **host,
                            cl_event *event)
{
    struct context *c = s->context;
    const bool runs = c->first < after;
    const cl_event made = runs ? event_before(c, after) : NULL, *producer = runs ? &made : NULL;
    const size_t bytes = s->buffer->bytes > 0 ? s->buffer->bytes : 1;
    cl_int code;
    pthread_mutex_lock(&c->upload_lock);
    if (s->way == SHARED_COPIED) {
        *host = s->memory;
        code = clEnqueueReadBuffer(c->copy, s->buffer->memory, CL_FALSE, 0, bytes, s->memory, runs,
                                   producer, event);
    } else {
        const cl_map_flags how = read ? CL_MAP_READ | CL_MAP_WRITE : CL_MAP_WRITE_INVALIDATE_REGION;
        *host = clEnqueueMapBuffer(c->copy, s->buffer->memory, CL_FALSE, how, 0, bytes, runs,
                                   producer, event, &code);
    }
    if (code == CL_SUCCESS)
        code = clFlush(c->copy);
    pthread_mutex_unlock(&c->upload_lock);
    return code;
}

tarn_status shared_begin(struct shared *s, queue_mark after, bool read, void **host)
{
    struct context *c = s->context;
    *host = NULL;
    if (s->host != NULL || s->lost)
        return error_set(TARN_ERR_INTERNAL, "shared memory: begun twice");
    if (after > c->next)
        after = c->next;
    TRY(settle(s, &s->ended, "the end of shared memory"));
    if (s->way == SHARED_DIRECT || (s->way == SHARED_COPIED && !read)) {
        TRY(context_wait(c, after));
        *host = s->host = s->memory;
        return TARN_OK;
    }
    cl_event event = NULL;
    void *at = NULL;
    TRY(context_flush(c));
    const cl_int code = enqueue_begin(s, after, read, &at, &event);
    if (code != CL_SUCCESS && event == NULL)
        return cl_failed(c, "shared memory", code);
    tarn_status status = settle(s, &event, "shared memory");
    if (s->lost)
        return status;
    if (status == TARN_OK)
        s->host = at;
    /* What made the bytes says more about its failure than the command that waited for it. */
    const tarn_status earlier = context_wait(c, after);
    if (earlier != TARN_OK)
        status = earlier;
    if (status == TARN_OK)
        *host = at;
    else if (s->host != NULL)
        (void)!shared_end(s, false);
    return status;
}

tarn_status shared_end(struct shared *s, bool written)
{
    struct context *c = s->context;
    void *host = s->host;
    if (host == NULL)
        return error_set(TARN_ERR_INTERNAL, "shared memory: ended but not begun");
    s->host = NULL;
    if (s->way == SHARED_DIRECT)
        return TARN_OK; /* a command sees what the host wrote before it was enqueued */
    if (s->way == SHARED_COPIED && (!written || s->buffer->bytes == 0))
        return TARN_OK;
    cl_event event = NULL, gate = NULL;
    pthread_mutex_lock(&c->upload_lock);
    cl_int code = s->way == SHARED_COPIED
                      ? clEnqueueWriteBuffer(c->copy, s->buffer->memory, CL_FALSE, 0,
                                             s->buffer->bytes, host, 0, NULL, &event)
                      : clEnqueueUnmapMemObject(c->copy, s->buffer->memory, host, 0, NULL, &event);
    if (code == CL_SUCCESS)
        code = clFlush(c->copy);
    pthread_mutex_unlock(&c->upload_lock);
    if (event == NULL)
        return cl_failed(c, "the end of shared memory", code);
    s->ended = event;
    if (code == CL_SUCCESS)
        code = clEnqueueBarrierWithWaitList(c->compute, 1, &event, &gate);
    if (code == CL_SUCCESS)
        code = clRetainEvent(event);
    if (code != CL_SUCCESS) {
        if (gate != NULL)
            clReleaseEvent(gate);
        return cl_failed(c, "the end of shared memory", code);
    }
    TRY(event_track_cause(c, gate, event, "the end of shared memory"));
    return context_flush(c);
}
