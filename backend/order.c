/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of an order. */
#include "order.h"

#include <stdlib.h>
#include <string.h>

/* A kernel, as it stands after the source. */
struct sent_kernel {
    char function[64];
    uint64_t groups, local, args; /* no arguments: no launch */
};

struct sent_arg {
    uint64_t size; /* 0: a buffer */
    uint64_t value;
};

static size_t arg_count(const struct kernel_text *k)
{
    return k->idle.args != NULL ? (size_t)k->idle.count : 0;
}

static unsigned char *put(unsigned char *at, const void *from, size_t bytes)
{
    memcpy(at, from, bytes);
    return at + bytes;
}

static unsigned char *put_kernel(unsigned char *at, const struct kernel_text *k)
{
    struct sent_kernel sent = { .groups = k->idle.groups,
                                .local = k->idle.local,
                                .args = arg_count(k) };
    const size_t length = strnlen(k->function, sizeof sent.function - 1);
    memcpy(sent.function, k->function, length);
    at = put(at, &sent, sizeof sent);
    for (size_t i = 0; i < sent.args; i++) {
        const struct kernel_arg *a = &k->idle.args[i];
        const bool is_buffer = a->buffer != NULL;
        const struct sent_arg arg = { .size = is_buffer ? 0 : a->size,
                                      .value = is_buffer ? 0 : a->value.u64 };
        at = put(at, &arg, sizeof arg);
    }
    return at;
}

struct order *order_new(const char *source, const struct kernel_text *list, const int *which,
                        int count)
{
    const size_t source_bytes = strlen(source) + 1;
    size_t bytes = sizeof(struct order) + source_bytes;
    for (int i = 0; i < count; i++)
        bytes += sizeof(struct sent_kernel) + arg_count(&list[which[i]]) * sizeof(struct sent_arg);
    struct order *o = calloc(1, bytes);
    if (o == NULL)
        return NULL;
    o->bytes = bytes;
    o->source_bytes = source_bytes;
    o->kernels = (uint32_t)count;
    unsigned char *at = put(o->rest, source, source_bytes);
    for (int i = 0; i < count; i++)
        at = put_kernel(at, &list[which[i]]);
    return o;
}

/* Copies what is at a place; false: there are not so many bytes. */
static bool take(struct order_place *p, void *to, size_t bytes)
{
    if (p->order->bytes - sizeof *p->order - p->at < bytes)
        return false;
    memcpy(to, p->order->rest + p->at, bytes);
    p->at += bytes;
    return true;
}

bool order_is_whole(const struct order *o, size_t bytes)
{
    if (bytes < sizeof *o || o->bytes != bytes || o->source_bytes == 0 ||
        o->source_bytes > bytes - sizeof *o || o->rest[o->source_bytes - 1] != '\0')
        return false;
    struct order_place p = order_begin(o);
    for (uint32_t i = 0; i < o->kernels; i++) {
        struct sent_kernel k;
        struct sent_arg arg;
        if (!take(&p, &k, sizeof k) || k.function[sizeof k.function - 1] != '\0')
            return false;
        for (uint64_t j = 0; j < k.args; j++)
            if (!take(&p, &arg, sizeof arg) || arg.size > sizeof arg.value)
                return false;
    }
    return p.at == bytes - sizeof *o;
}

const char *order_source(const struct order *o)
{
    return (const char *)o->rest;
}

struct order_place order_begin(const struct order *o)
{
    return (struct order_place){ .order = o, .at = (size_t)o->source_bytes };
}

void order_next(struct order_place *p, struct buffer *nothing, char function[64],
                struct kernel_arg *args, struct idle_launch *idle)
{
    struct sent_kernel k = { .args = 0 };
    (void)take(p, &k, sizeof k); /* there: the order is whole */
    memcpy(function, k.function, sizeof k.function);
    for (uint64_t i = 0; i < k.args; i++) {
        struct sent_arg arg = { .size = 0 };
        (void)take(p, &arg, sizeof arg);
        if (i < ORDER_ARGS)
            args[i] = (struct kernel_arg){ .buffer = arg.size == 0 ? nothing : NULL,
                                           .size = (size_t)arg.size,
                                           .value = { .u64 = arg.value } };
    }
    *idle = (struct idle_launch){ .args = k.args > 0 && k.args <= ORDER_ARGS ? args : NULL,
                                  .count = (int)k.args,
                                  .groups = (size_t)k.groups,
                                  .local = (size_t)k.local };
}
