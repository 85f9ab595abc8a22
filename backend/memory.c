/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory: buffers from a pool of size classes. Where the device is the host's processor they lie in memory
 * that both see, so that a copy to or from them is no command, whose way to a worker and back takes longer than the
 * smallest networks compute. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "opencl.h"

#define SMALLEST_CLASS 8 /* 256 bytes */
#define LARGE_PAGE ((uintptr_t)2 << 20)

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

/* `keep`: all but the device's memory. */
static void release(struct buffer *b, bool keep)
{
    replay_forget(b->context);
    if (!keep)
        clReleaseMemObject(b->memory);
    if (!keep && b->host != NULL)
        clSVMFree(b->context->context, b->host);
    free(b);
}

void pool_release(struct context *c, bool keep)
{
    for (int k = 0; k < POOL_CLASSES; k++)
        while (c->pool[k] != NULL) {
            struct buffer *b = c->pool[k];
            c->pool[k] = b->next;
            release(b, keep);
        }
    c->stats.pooled_bytes = 0;
}

/* `idle`: only one that no command in flight uses. */
static struct buffer *take_pooled(struct context *c, int k, size_t capacity, bool idle)
{
    for (struct buffer **at = &c->pool[k]; *at != NULL; at = &(*at)->next) {
        struct buffer *b = *at;
        if (b->capacity == capacity && (!idle || context_is_past(c, b->used))) {
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

/* Kernels go through large buffers along all axes, and in pages of 4 KiB each step of a long stride is another entry of
 * the processor's tables, which it fetches from memory, on a virtual machine through those of two systems. No more than a wish: an
 * older kernel, or one without large pages, does without. */
static void wish_for_large_pages(void *memory, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    const uintptr_t from = ((uintptr_t)memory + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
    const uintptr_t to = ((uintptr_t)memory + bytes) / LARGE_PAGE * LARGE_PAGE;
    if (from < to)
        (void)madvise((void *)from, to - from, MADV_HUGEPAGE);
#else
    (void)memory, (void)bytes;
#endif
}

static cl_int allocate(struct buffer *b, struct origin o)
{
    const struct context *c = b->context;
    cl_int code;
    if (is_planned(&backend_refuse_nth))
        return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    if (c->near_host && o.flags == 0) {
        const cl_svm_mem_flags how = CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER;
        b->host = clSVMAlloc(c->context, how, b->capacity, 0);
        if (b->host == NULL)
            return CL_MEM_OBJECT_ALLOCATION_FAILURE;
        wish_for_large_pages(b->host, b->capacity);
        o = (struct origin){ CL_MEM_USE_HOST_PTR, b->host };
    }
    b->memory =
        clCreateBuffer(c->context, CL_MEM_READ_WRITE | o.flags, b->capacity, o.memory, &code);
    if (code != CL_SUCCESS && b->host != NULL) {
        clSVMFree(c->context, b->host);
        b->host = NULL;
    }
    return code;
}

static tarn_status create(struct context *c, size_t bytes, size_t capacity, struct origin o,
                          struct buffer **out)
{
    struct buffer *b = calloc(1, sizeof *b);
    if (b == NULL)
        return error_set(TARN_ERR_MEMORY, "buffer: out of host memory");
    b->context = c;
    b->capacity = capacity;
    cl_int code = allocate(b, o);
    if (short_of_memory(code) && c->stats.pooled_bytes > 0) {
        /* Idle buffers of other sizes hold memory, once the commands that use them ended. */
        const tarn_status status = context_finish(c);
        if (status != TARN_OK) {
            free(b);
            return status;
        }
        pool_release(c, false);
        code = allocate(b, o);
    }
    if (code != CL_SUCCESS) {
        free(b);
        return error_set(short_of_memory(code) ? TARN_ERR_DEVICE_MEMORY : TARN_ERR_DEVICE,
                         "clCreateBuffer of %zu bytes on device \"%s\", %zu in use: %s (%d)", bytes,
                         c->label, c->stats.live_bytes, cl_error_name(code), code);
    }
    c->counters.buffers_created++;
    *out = b;
    return TARN_OK;
}

/* From where a buffer is: the pool, of it one that no command in flight uses, or the driver. */
enum source { POOL, POOL_IDLE, FRESH };

static tarn_status make(struct context *c, size_t bytes, enum source source, struct origin o,
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
    struct buffer *b = source != FRESH ? take_pooled(c, k, capacity, source == POOL_IDLE) : NULL;
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
    return make(c, bytes, POOL, (struct origin){ 0 }, out);
}

tarn_status buffer_new_of(struct context *c, size_t bytes, const void *data, struct buffer **out)
{
    *out = NULL;
    TRY(context_poll(c));
    TRY(make(c, bytes, c->near_host ? POOL_IDLE : POOL, (struct origin){ 0 }, out));
    struct buffer *b = *out;
    if (b->host != NULL) {
        if (bytes > 0)
            memcpy(b->host, data, bytes);
        return TARN_OK;
    }
    const tarn_status status = buffer_write(b, 0, data, bytes);
    if (status != TARN_OK) {
        buffer_free(b);
        *out = NULL;
    }
    return status;
}

tarn_status buffer_fresh(struct context *c, size_t bytes, cl_mem_flags flags, void *memory,
                         struct buffer **out)
{
    return make(c, bytes, FRESH, (struct origin){ flags, memory }, out);
}

void buffer_drop(struct buffer *b, bool keep)
{
    if (b == NULL)
        return;
    b->context->stats.live--;
    b->context->stats.live_bytes -= b->bytes;
    release(b, keep);
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
    b->used = c->next;
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
