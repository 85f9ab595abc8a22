/* SPDX-License-Identifier: Apache-2.0 */
/* Uploads from a loader's thread: a buffer filled on its own queue, handed over when it is there.
 */
#include <stdlib.h>

#include "opencl.h"

struct upload {
    struct context *context;
    struct buffer *buffer;
    pthread_mutex_t lock;
    cl_event reader; /* the last command that may still read the buffer; NULL: none */
};

tarn_status upload_new(struct context *c, size_t bytes, struct upload **out)
{
    *out = NULL;
    struct upload *u = calloc(1, sizeof *u);
    if (u == NULL)
        return error_set(TARN_ERR_MEMORY, "upload: out of host memory");
    u->context = c;
    pthread_mutex_init(&u->lock, NULL);
    /* Not from the pool: commands on the compute queue may still write to what was given back. */
    const tarn_status status = buffer_fresh(c, bytes, 0, NULL, &u->buffer);
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
    buffer_free(u->buffer);
    pthread_mutex_destroy(&u->lock);
    free(u);
}

tarn_status upload_put(struct upload *u, const void *from, size_t bytes)
{
    struct context *c = u->context;
    pthread_mutex_lock(&u->lock);
    const cl_event reader = u->reader;
    u->reader = NULL;
    pthread_mutex_unlock(&u->lock);
    if (reader != NULL) {
        const tarn_status status = event_wait(c, reader, "the step before an upload");
        clReleaseEvent(reader);
        TRY(status);
    }
    if (bytes > u->buffer->capacity)
        return error_set(TARN_ERR_INTERNAL, "upload of %zu bytes to a slot of %zu", bytes,
                         u->buffer->bytes);
    if (bytes == 0)
        return TARN_OK;
    cl_event event;
    pthread_mutex_lock(&c->upload_lock);
    cl_int code =
        clEnqueueWriteBuffer(c->copy, u->buffer->memory, CL_FALSE, 0, bytes, from, 0, NULL, &event);
    if (code == CL_SUCCESS)
        code = clFlush(c->copy);
    pthread_mutex_unlock(&c->upload_lock);
    if (code != CL_SUCCESS)
        return cl_failed(c, "upload", code);
    const tarn_status status = event_wait(c, event, "upload");
    clReleaseEvent(event);
    return status;
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
    const cl_event last = c->ring[(c->next - 1) % TRACKED].event;
    const cl_int code = clRetainEvent(last);
    if (code != CL_SUCCESS)
        return cl_failed(c, "clRetainEvent", code);
    pthread_mutex_lock(&u->lock);
    const cl_event old = u->reader;
    u->reader = last;
    pthread_mutex_unlock(&u->lock);
    if (old != NULL)
        clReleaseEvent(old);
    return TARN_OK;
}
