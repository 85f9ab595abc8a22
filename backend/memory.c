/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory: buffers from a pool of size classes. */
#include <stdlib.h>
#include <string.h>

#include "opencl.h"

#define SMALLEST_CLASS 8 /* 256 bytes */

_Atomic long backend_fail_nth = -1, backend_refuse_nth = -1;

static bool is_planned(_Atomic long *nth)
{
    return *nth >= 0 && (*nth)-- == 0;
}

bool backend_fails_now(void)
{
    return is_planned(&backend_fail_nth);
}

/* Lists of the pool, by the power of two above; up to 1 MiB buffers have that size, larger ones
 * waste less with steps of 64 KiB. */
static int class_of(size_t bytes, size_t *capacity)
{
    int k = SMALLEST_CLASS;
    while (k < POOL_CLASSES - 1 && ((size_t)1 << k) < bytes)
        k++;
    *capacity = k > 20 ? (bytes + 65535) / 65536 * 65536 : (size_t)1 << k;
    return k;
}

void pool_release(struct context *c, bool keep)
{
    for (int k = 0; k < POOL_CLASSES; k++)
        while (c->pool[k] != NULL) {
            struct buffer *b = c->pool[k];
            c->pool[k] = b->next;
            replay_forget(c);
            if (!keep)
                clReleaseMemObject(b->memory);
            free(b);
        }
    c->stats.pooled_bytes = 0;
}

static struct buffer *take_pooled(struct context *c, int k, size_t capacity)
{
    for (struct buffer **at = &c->pool[k]; *at != NULL; at = &(*at)->next) {
        struct buffer *b = *at;
        if (b->capacity == capacity) {
            *at = b->next;
            c->stats.pooled_bytes -= capacity;
            return b;
        }
    }
    return NULL;
}

/* How a buffer that the pool does not have is made. */
struct origin {
    cl_mem_flags flags;
    void *memory; /* the host's, which it uses; NULL: the driver's */
};

static bool short_of_memory(cl_int code)
{
    return code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_RESOURCES;
}

static cl_mem allocate(struct context *c, size_t capacity, struct origin o, cl_int *code)
{
    if (is_planned(&backend_refuse_nth)) {
        *code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
        return NULL;
    }
    return clCreateBuffer(c->context, CL_MEM_READ_WRITE | o.flags, capacity, o.memory, code);
}

static tarn_status create(struct context *c, size_t bytes, size_t capacity, struct origin o,
                          struct buffer **out)
{
    struct buffer *b = calloc(1, sizeof *b);
    if (b == NULL)
        return error_set(TARN_ERR_MEMORY, "buffer: out of host memory");
    cl_int code;
    b->memory = allocate(c, capacity, o, &code);
    if (short_of_memory(code) && c->stats.pooled_bytes > 0) {
        /* Idle buffers of other sizes hold memory, once the commands that use them ended. */
        const tarn_status status = context_finish(c);
        if (status != TARN_OK) {
            free(b);
            return status;
        }
        pool_release(c, false);
        b->memory = allocate(c, capacity, o, &code);
    }
    if (code != CL_SUCCESS) {
        free(b);
        return error_set(short_of_memory(code) ? TARN_ERR_DEVICE_MEMORY : TARN_ERR_DEVICE,
                         "clCreateBuffer of %zu bytes on device \"%s\", %zu in use: %s (%d)", bytes,
                         c->label, c->stats.live_bytes, cl_error_name(code), code);
    }
    b->context = c;
    b->capacity = capacity;
    c->counters.buffers_created++;
    *out = b;
    return TARN_OK;
}

static tarn_status make(struct context *c, size_t bytes, bool pooled, struct origin o,
                        struct buffer **out)
{
    *out = NULL;
    if (c->device.max_buffer_bytes > 0 && bytes > c->device.max_buffer_bytes)
        return error_set(TARN_ERR_DEVICE_MEMORY,
                         "a buffer of %zu bytes is larger than device \"%s\" allows (%zu bytes)",
                         bytes, c->label, c->device.max_buffer_bytes);
    if (backend_fails_now())
        return error_set(TARN_ERR_DEVICE_MEMORY,
                         "clCreateBuffer of %zu bytes on device \"%s\": planned", bytes, c->label);
    size_t capacity;
    const int k = class_of(bytes, &capacity);
    if (o.memory != NULL)
        capacity = bytes > 0 ? bytes : 1;
    struct buffer *b = pooled ? take_pooled(c, k, capacity) : NULL;
    if (b == NULL)
        TRY(create(c, bytes, capacity, o, &b));
    b->bytes = bytes;
    b->next = NULL;
    c->stats.live++;
    c->stats.live_bytes += bytes;
    if (c->stats.peak_bytes < c->stats.live_bytes)
        c->stats.peak_bytes = c->stats.live_bytes;
    *out = b;
    return TARN_OK;
}

tarn_status buffer_new(struct context *c, size_t bytes, struct buffer **out)
{
    return make(c, bytes, true, (struct origin){ 0 }, out);
}

tarn_status buffer_fresh(struct context *c, size_t bytes, cl_mem_flags flags, void *memory,
                         struct buffer **out)
{
    return make(c, bytes, false, (struct origin){ flags, memory }, out);
}

void buffer_drop(struct buffer *b, bool keep)
{
    if (b == NULL)
        return;
    b->context->stats.live--;
    b->context->stats.live_bytes -= b->bytes;
    replay_forget(b->context);
    if (!keep)
        clReleaseMemObject(b->memory);
    free(b);
}

void buffer_free(struct buffer *b)
{
    if (b == NULL)
        return;
    struct context *c = b->context;
    size_t capacity;
    const int k = class_of(b->bytes, &capacity);
    c->stats.live--;
    c->stats.live_bytes -= b->bytes;
    c->stats.pooled_bytes += b->capacity;
    b->next = c->pool[k];
    c->pool[k] = b;
}

size_t buffer_bytes(const struct buffer *b)
{
    return b->bytes;
}

struct buffer_stats buffer_statistics(const struct context *c)
{
    return c->stats;
}
