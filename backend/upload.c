/* SPDX-License-Identifier: Apache-2.0 */
/* Uploads from a loader's thread: into memory that the device sees, where there is such memory;
 * else a buffer filled on a queue of its own, handed over when it is there. */
#include <stdlib.h>
#include <string.h>

#include "lock.h"
#include "opencl.h"

struct upload {
    struct context *context;
    struct buffer *buffer;
    struct shared *shared;   /* where the buffer's memory is the host's too; else NULL */
    struct staging *staging; /* what else the bytes go through */
    bool lost;               /* a copy may still run */
    pthread_mutex_t lock;
    cl_event reader; /* the last command that may still read the buffer; NULL: none */
};

/* Not from the pool: commands on the compute queue may still write to what was given back. */
static tarn_status make(struct upload *u, size_t bytes)
{
    if (!shared_is_direct(u->context))
        return buffer_fresh(u->context, bytes, 0, NULL, &u->buffer);
    TRY(shared_new_by(u->context, bytes, SHARED_DIRECT, &u->shared));
    u->buffer = shared_buffer(u->shared);
    return TARN_OK;
}

tarn_status upload_new(struct context *c, size_t bytes, struct upload **out)
{
    *out = NULL;
    struct upload *u = calloc(1, sizeof *u);
    if (u == NULL)
        return error_set(TARN_ERR_MEMORY, "upload: out of host memory");
    u->context = c;
    tarn_status status = lock_make(&u->lock, "upload");
    if (status != TARN_OK) {
        free(u);
        return status;
    }
    status = make(u, bytes);
    if (status != TARN_OK) {
        upload_free(u);
        return status;
    }
    *out = u;
    return TARN_OK;
}

void upload_free(struct upload *u)
{
    if (u == NULL)
        return;
    if (u->reader != NULL)
        clReleaseEvent(u->reader);
    if (u->shared != NULL)
        shared_free(u->shared);
    else if (u->lost)
        buffer_drop(u->buffer, true);
    else
        buffer_free(u->buffer);
    free(u->staging);
    pthread_mutex_destroy(&u->lock);
    free(u);
}

/* The caller releases it, or gives it back. */
static cl_event take_reader(struct upload *u)
{
    pthread_mutex_lock(&u->lock);
    const cl_event reader = u->reader;
    u->reader = NULL;
    pthread_mutex_unlock(&u->lock);
    return reader;
}

static void set_reader(struct upload *u, cl_event reader)
{
    pthread_mutex_lock(&u->lock);
    const cl_event old = u->reader;
    u->reader = reader;
    pthread_mutex_unlock(&u->lock);
    if (old != NULL)
        clReleaseEvent(old);
}

tarn_status upload_settle(struct upload *u)
{
    const cl_event reader = take_reader(u);
    if (reader == NULL)
        return TARN_OK;
    const tarn_status status = event_wait(u->context, reader, "the step before an upload");
    clReleaseEvent(reader);
    return status;
}

bool upload_is_idle(struct upload *u)
{
    cl_int status;
    const cl_event reader = take_reader(u);
    if (reader == NULL)
        return true;
    /* What cannot be asked is waited for, and that says why. */
    const bool ended =
        event_status(u->context, reader, &status) == TARN_OK && status <= CL_COMPLETE;
    if (ended)
        clReleaseEvent(reader);
    else
        set_reader(u, reader);
    return ended;
}

static tarn_status copy(struct upload *u, const void *from, size_t bytes)
{
    struct context *c = u->context;
    TRY(staging_need(&u->staging, bytes));
    void *staged = staging_data(u->staging);
    memcpy(staged, from, bytes);
    cl_event event = NULL;
    pthread_mutex_lock(&c->upload_lock);
    cl_int code = clEnqueueWriteBuffer(c->copy, u->buffer->memory, CL_FALSE, 0, bytes, staged, 0,
                                       NULL, &event);
    if (code == CL_SUCCESS)
        code = clFlush(c->copy);
    pthread_mutex_unlock(&c->upload_lock);
    const tarn_status status =
        code == CL_SUCCESS ? event_wait(c, event, "upload") : cl_failed(c, "upload", code);
    if (event != NULL) {
        staging_settle(c, &u->staging, event);
        u->lost = u->staging == NULL;
    }
    return status;
}

tarn_status upload_put(struct upload *u, const void *from, size_t bytes)
{
    TRY(upload_settle(u));
    if (u->lost)
        return error_set(TARN_ERR_DEVICE, "upload: the one before did not end on device \"%s\"",
                         u->context->label);
    if (bytes > u->buffer->capacity)
        return error_set(TARN_ERR_INTERNAL, "upload of %zu bytes to a slot of %zu", bytes,
                         u->buffer->bytes);
    if (bytes == 0)
        return TARN_OK;
    if (u->shared != NULL) {
        memcpy(shared_memory(u->shared), from, bytes);
        return TARN_OK;
    }
    return copy(u, from, bytes);
}

struct buffer *upload_buffer(struct upload *u)
{
    return u->buffer;
}

tarn_status upload_release(struct upload *u)
{
    struct context *c = u->context;
    if (c->next == c->first)
        return TARN_OK;    /* nothing runs that could read it */
    TRY(context_flush(c)); /* the loader's thread waits for it and cannot flush this queue */
    const cl_event last = event_before(c, c->next);
    const cl_int code = clRetainEvent(last);
    if (code != CL_SUCCESS)
        return cl_failed(c, "clRetainEvent", code);
    set_reader(u, last);
    return TARN_OK;
}
