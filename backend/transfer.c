/* SPDX-License-Identifier: Apache-2.0 */
/* Copies in order with the compute queue. A device that is late may carry a command out when the
 * call that asked for it has long returned with an error, so it is never given the caller's memory:
 * bytes go through memory of the context's, which is given up when its command may still run. */
#include <stdlib.h>
#include <string.h>

#include "opencl.h"

#define LEAST_STAGED ((size_t)64 << 10)
#define MOST_STAGED ((size_t)4 << 20) /* larger copies go in pieces */

/* ---- staging -------------------------------------------------------------------------------- */

struct staging {
    struct staging *next; /* of those that are lost */
    size_t bytes;
    _Alignas(64) unsigned char data[];
};

static struct staging *lost; /* kept for the life of the process */
static pthread_mutex_t lost_lock = PTHREAD_MUTEX_INITIALIZER;

tarn_status staging_need(struct staging **s, size_t bytes)
{
    if (*s != NULL && (*s)->bytes >= bytes)
        return TARN_OK;
    const size_t room = (bytes + LEAST_STAGED - 1) / LEAST_STAGED * LEAST_STAGED;
    free(*s);
    *s = aligned_alloc(64, sizeof **s + room);
    if (*s == NULL)
        return error_set(TARN_ERR_MEMORY, "copy: no %zu bytes of host memory", room);
    **s = (struct staging){ .bytes = room };
    return TARN_OK;
}

void *staging_data(struct staging *s)
{
    return s->data;
}

void staging_settle(struct context *c, struct staging **s, cl_event event)
{
    if (!event_ended(event)) {
        pthread_mutex_lock(&lost_lock);
        (*s)->next = lost;
        lost = *s;
        pthread_mutex_unlock(&lost_lock);
        *s = NULL;
        c->lost = true;
    }
    clReleaseEvent(event);
}

/* ---- copies --------------------------------------------------------------------------------- */

static tarn_status check_range(const struct buffer *b, size_t offset, size_t bytes,
                               const char *what)
{
    if (offset > b->bytes || bytes > b->bytes - offset)
        return error_set(TARN_ERR_INTERNAL, "%s: bytes %zu to %zu of a buffer of %zu", what, offset,
                         offset + bytes, b->bytes);
    return TARN_OK;
}

/* Waits for a command on the staged memory. */
static tarn_status finish(struct context *c, cl_event event, const char *label)
{
    c->unflushed = true;
    tarn_status status = context_flush(c);
    if (status == TARN_OK)
        status = event_wait(c, event, label);
    staging_settle(c, &c->staging, event);
    return status;
}

static tarn_status read_piece(struct buffer *b, size_t offset, void *to, size_t bytes)
{
    struct context *c = b->context;
    cl_event event;
    TRY(staging_need(&c->staging, bytes));
    const cl_int code = clEnqueueReadBuffer(c->compute, b->memory, CL_FALSE, offset, bytes,
                                            c->staging->data, 0, NULL, &event);
    if (code != CL_SUCCESS)
        return cl_failed(c, "clEnqueueReadBuffer", code);
    TRY(finish(c, event, "read"));
    memcpy(to, c->staging->data, bytes);
    return TARN_OK;
}

static tarn_status write_piece(struct buffer *b, size_t offset, const void *from, size_t bytes)
{
    struct context *c = b->context;
    cl_event event;
    TRY(staging_need(&c->staging, bytes));
    memcpy(c->staging->data, from, bytes);
    const cl_int code = clEnqueueWriteBuffer(c->compute, b->memory, CL_FALSE, offset, bytes,
                                             c->staging->data, 0, NULL, &event);
    if (code != CL_SUCCESS)
        return cl_failed(c, "clEnqueueWriteBuffer", code);
    return finish(c, event, "write");
}

static size_t piece(size_t left)
{
    return left < MOST_STAGED ? left : MOST_STAGED;
}

tarn_status buffer_read(struct buffer *b, size_t offset, void *to, size_t bytes)
{
    TRY(check_range(b, offset, bytes, "read"));
    /* What came before may have failed without a trace in the queue: find that out first. */
    TRY(context_finish(b->context));
    if (b->host != NULL && bytes > 0) {
        memcpy(to, (const char *)b->host + offset, bytes);
        return TARN_OK;
    }
    for (size_t done = 0; done < bytes; done += piece(bytes - done))
        TRY(read_piece(b, offset + done, (char *)to + done, piece(bytes - done)));
    return TARN_OK;
}

tarn_status buffer_write(struct buffer *b, size_t offset, const void *from, size_t bytes)
{
    TRY(check_range(b, offset, bytes, "write"));
    if (bytes > 0)
        TRY(context_finish(b->context)); /* each command before has its own deadline */
    if (b->host != NULL && bytes > 0) {
        memcpy((char *)b->host + offset, from, bytes);
        return TARN_OK;
    }
    for (size_t done = 0; done < bytes; done += piece(bytes - done))
        TRY(write_piece(b, offset + done, (const char *)from + done, piece(bytes - done)));
    return TARN_OK;
}

tarn_status buffer_copy(struct buffer *to, size_t to_offset, struct buffer *from,
                        size_t from_offset, size_t bytes)
{
    struct context *c = to->context;
    TRY(check_range(to, to_offset, bytes, "copy to"));
    TRY(check_range(from, from_offset, bytes, "copy from"));
    if (bytes == 0)
        return TARN_OK;
    cl_event event;
    const cl_int code = clEnqueueCopyBuffer(c->compute, from->memory, to->memory, from_offset,
                                            to_offset, bytes, 0, NULL, &event);
    return code == CL_SUCCESS ? event_track(c, event, "copy")
                              : cl_failed(c, "clEnqueueCopyBuffer", code);
}

tarn_status buffer_fill_zero(struct buffer *b, size_t offset, size_t bytes)
{
    struct context *c = b->context;
    const cl_uchar zero = 0;
    TRY(check_range(b, offset, bytes, "fill"));
    if (bytes == 0)
        return TARN_OK;
    cl_event event;
    const cl_int code = clEnqueueFillBuffer(c->compute, b->memory, &zero, sizeof zero, offset,
                                            bytes, 0, NULL, &event);
    return code == CL_SUCCESS ? event_track(c, event, "fill")
                              : cl_failed(c, "clEnqueueFillBuffer", code);
}
